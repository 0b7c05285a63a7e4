//! The embedded font: text widths and glyph outlines.

use crate::kept::kept;
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// Noto Sans in two weights. Licence: SIL Open Font License 1.1 (`fonts/LICENSE_OFL.txt`).
pub(super) struct Fonts {
    regular: Option<Face<'static>>,
    bold: Option<Face<'static>>,
}

impl Fonts {
    pub(super) fn new() -> Fonts {
        let regular = Face::parse(kept!("../../fonts/NotoSans-Regular.ttf.z"), 0).ok();
        let bold = Face::parse(kept!("../../fonts/NotoSans-Bold.ttf.z"), 0).ok();
        Fonts { regular, bold }
    }

    fn face(&self, bold: bool) -> Option<&Face<'static>> {
        if bold { self.bold.as_ref() } else { self.regular.as_ref() }
    }

    /// Returns the width of a text in points.
    pub(super) fn width(&self, text: &str, size: f64, bold: bool) -> f64 {
        let Some(face) = self.face(bold) else { return text.chars().count() as f64 * size * 0.6 };
        let advance = |letter: char| f64::from(face.glyph_hor_advance(glyph(face, letter)).unwrap_or(0));
        text.chars().map(advance).sum::<f64>() * size / f64::from(face.units_per_em())
    }

    /// Draws the outline of each glyph of a text that begins at `x` on the baseline `y` with `pen`.
    pub(super) fn outline(&self, text: &str, size: f64, bold: bool, (x, y): (f64, f64), pen: &mut impl Pen) {
        let Some(face) = self.face(bold) else { return };
        let scale = size / f64::from(face.units_per_em());
        let mut at = x;
        for letter in text.chars() {
            let glyph = glyph(face, letter);
            face.outline_glyph(glyph, &mut Placed { pen, x: at, y, scale });
            at += f64::from(face.glyph_hor_advance(glyph).unwrap_or(0)) * scale;
        }
    }

    /// Returns the text, truncated with an ellipsis if it is wider than `width`.
    pub(super) fn fit(&self, text: &str, size: f64, bold: bool, width: f64) -> String {
        if self.width(text, size, bold) <= width {
            return text.to_owned();
        }
        let mut kept: Vec<char> = text.chars().collect();
        while kept.pop().is_some() {
            let shorter: String = kept.iter().collect::<String>().trim_end().to_owned() + "…";
            if self.width(&shorter, size, bold) <= width {
                return shorter;
            }
        }
        String::new()
    }
}

/// Returns the glyph of a character; characters missing from the font are shown as a box.
fn glyph(face: &Face<'_>, letter: char) -> GlyphId {
    face.glyph_index(letter).unwrap_or(GlyphId(0))
}

/// Receives outlines, with y pointing down.
pub(super) trait Pen {
    fn move_to(&mut self, to: (f64, f64));
    fn line_to(&mut self, to: (f64, f64));
    fn quad_to(&mut self, by: (f64, f64), to: (f64, f64));
    fn cubic_to(&mut self, first: (f64, f64), second: (f64, f64), to: (f64, f64));
    fn close(&mut self);
}

/// Converts font units, with y pointing up, to canvas positions.
struct Placed<'a, P> {
    pen: &'a mut P,
    x: f64,
    y: f64,
    scale: f64,
}

impl<P> Placed<'_, P> {
    fn place(&self, x: f32, y: f32) -> (f64, f64) {
        (self.x + f64::from(x) * self.scale, self.y - f64::from(y) * self.scale)
    }
}

impl<P: Pen> OutlineBuilder for Placed<'_, P> {
    fn move_to(&mut self, x: f32, y: f32) {
        self.pen.move_to(self.place(x, y));
    }
    fn line_to(&mut self, x: f32, y: f32) {
        self.pen.line_to(self.place(x, y));
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.pen.quad_to(self.place(x1, y1), self.place(x, y));
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.pen.cubic_to(self.place(x1, y1), self.place(x2, y2), self.place(x, y));
    }
    fn close(&mut self) {
        self.pen.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_grow_with_text_size_and_weight() {
        let fonts = Fonts::new();
        let width = fonts.width("Gb/s", 12.0, false);
        assert!(width > 20.0 && width < 32.0, "{width}");
        assert!((fonts.width("Gb/s", 24.0, false) - 2.0 * width).abs() < 1e-9);
        assert!(fonts.width("Gb/s", 12.0, true) > width);
        assert_eq!(fonts.width("", 12.0, false), 0.0);
    }

    #[test]
    fn letters_used_in_charts_are_in_the_font() {
        let fonts = Fonts::new();
        for face in [&fonts.regular, &fonts.bold] {
            let face = face.as_ref().expect("the font is sound");
            for letter in "0123456789 GMkbBsµ%…·–()/:>-".chars() {
                assert!(face.glyph_index(letter).is_some(), "{letter}");
            }
        }
    }

    #[test]
    fn long_texts_are_cut_with_dots() {
        let fonts = Fonts::new();
        let cut = fonts.fit("a very long name of a flow", 12.0, false, 60.0);
        assert!(cut.ends_with('…') && fonts.width(&cut, 12.0, false) <= 60.0, "{cut}");
        assert_eq!(fonts.fit("short", 12.0, false, 60.0), "short");
        assert_eq!(fonts.fit("short", 12.0, false, 1.0), "");
    }
}
