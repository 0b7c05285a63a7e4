//! A drawing of lines, rectangles and text, before it is text or pixels.

/// Red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub u8, pub u8, pub u8);

/// Colours that people with the common kinds of colour blindness tell apart (Okabe and Ito 2008), without its yellow,
/// which is too pale for a line on white.
pub const PALETTE: [Colour; 7] = [
    Colour(0, 114, 178),
    Colour(213, 94, 0),
    Colour(0, 158, 115),
    Colour(204, 121, 167),
    Colour(230, 159, 0),
    Colour(86, 180, 233),
    Colour(0, 0, 0),
];

/// Which end of a text is at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The left one.
    Start,
    /// Neither: the middle.
    Middle,
    /// The right one.
    End,
}

/// One thing on a canvas. Places are in points from the top left.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    Rectangle {
        x: f64,
        y: f64,
        width: f64,
        height: f64,
        colour: Colour,
        opacity: f64,
    },
    Line {
        points: Vec<(f64, f64)>,
        colour: Colour,
        width: f64,
        dash: Option<(f64, f64)>,
    },
    /// A grid of colours, row by row from the top left.
    Image {
        x: f64,
        y: f64,
        width: f64,
        height: f64,
        columns: u32,
        pixels: Vec<Colour>,
    },
    Text {
        x: f64,
        y: f64,
        text: String,
        size: f64,
        bold: bool,
        anchor: Anchor,
        colour: Colour,
    },
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Canvas {
    /// In points.
    pub width: f64,
    /// In points.
    pub height: f64,
    /// Said by screen readers and shown as a tooltip.
    pub title: String,
    pub(super) items: Vec<Item>,
}

/// How a text looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lettering {
    pub(super) size: f64,
    pub(super) bold: bool,
    pub(super) colour: Colour,
}

/// Ink of titles and numbers.
pub(super) const INK: Colour = Colour(34, 34, 34);
/// Ink of what is less important.
pub(super) const GREY: Colour = Colour(110, 110, 110);
/// Grid lines.
pub(super) const FAINT: Colour = Colour(225, 225, 225);

impl Lettering {
    pub(super) const TITLE: Lettering = Lettering { size: 15.0, bold: true, colour: INK };
    pub(super) const SUBTITLE: Lettering = Lettering { size: 11.5, bold: false, colour: GREY };
    pub(super) const LABEL: Lettering = Lettering { size: 12.0, bold: false, colour: INK };
    pub(super) const TICK: Lettering = Lettering { size: 11.0, bold: false, colour: GREY };
}

impl Canvas {
    /// An empty white canvas.
    #[must_use]
    pub fn new(width: f64, height: f64, title: &str) -> Canvas {
        Canvas { width, height, title: title.to_owned(), items: Vec::new() }
    }

    pub(super) fn rectangle(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), colour: Colour, opacity: f64) {
        self.items.push(Item::Rectangle { x, y, width, height, colour, opacity });
    }

    /// A grid of colours with so many columns, row by row from the top left, stretched over a rectangle.
    pub(super) fn image(
        &mut self,
        (x, y): (f64, f64),
        (width, height): (f64, f64),
        (columns, pixels): (u32, Vec<Colour>),
    ) {
        if columns > 0 && !pixels.is_empty() && pixels.len().is_multiple_of(columns as usize) {
            self.items.push(Item::Image { x, y, width, height, columns, pixels });
        }
    }

    pub(super) fn line(&mut self, points: Vec<(f64, f64)>, colour: Colour, width: f64, dash: Option<(f64, f64)>) {
        if points.len() > 1 {
            self.items.push(Item::Line { points, colour, width, dash });
        }
    }

    pub(super) fn text(&mut self, (x, y): (f64, f64), text: &str, anchor: Anchor, look: Lettering) {
        if !text.is_empty() {
            let Lettering { size, bold, colour } = look;
            self.items.push(Item::Text { x, y, text: text.to_owned(), size, bold, anchor, colour });
        }
    }
}
