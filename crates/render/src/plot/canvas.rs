//! A drawing of lines, rectangles and text, independent of the output format.

/// A colour: red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub u8, pub u8, pub u8);

/// Colours that are distinguishable with the common kinds of colour blindness (Okabe and Ito 2008), without the yellow,
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

/// Alignment of a text relative to its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The text begins at its position.
    Start,
    /// The text is centred at its position.
    Middle,
    /// The text ends at its position.
    End,
}

/// An element of a canvas. Positions are in points from the top left.
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

/// A drawing of lines, rectangles and text.
#[derive(Clone, Debug, PartialEq)]
pub struct Canvas {
    /// Width in points.
    pub width: f64,
    /// Height in points.
    pub height: f64,
    /// Title for screen readers and tooltips.
    pub title: String,
    pub(super) items: Vec<Item>,
}

/// Text style.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lettering {
    pub(super) size: f64,
    pub(super) bold: bool,
    pub(super) colour: Colour,
}

/// Colour of titles and numbers.
pub(super) const INK: Colour = Colour(34, 34, 34);
/// Colour of secondary text.
pub(super) const GREY: Colour = Colour(110, 110, 110);
/// Colour of grid lines.
pub(super) const FAINT: Colour = Colour(225, 225, 225);

impl Lettering {
    pub(super) const TITLE: Lettering = Lettering { size: 15.0, bold: true, colour: INK };
    pub(super) const SUBTITLE: Lettering = Lettering { size: 11.5, bold: false, colour: GREY };
    pub(super) const LABEL: Lettering = Lettering { size: 12.0, bold: false, colour: INK };
    pub(super) const TICK: Lettering = Lettering { size: 11.0, bold: false, colour: GREY };
}

impl Canvas {
    /// Creates an empty white canvas.
    #[must_use]
    pub fn new(width: f64, height: f64, title: &str) -> Canvas {
        Canvas { width, height, title: title.to_owned(), items: Vec::new() }
    }

    pub(super) fn rectangle(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), colour: Colour, opacity: f64) {
        self.items.push(Item::Rectangle { x, y, width, height, colour, opacity });
    }

    /// Adds a grid of colours with that number of columns, row by row from the top left, scaled to a rectangle.
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
