//! Output of a canvas as PNG, with the embedded font.

use super::canvas::{Anchor, Canvas, Colour, Item};
use super::font::{Fonts, Pen};
use results::PNG_SOFTWARE;
use tiny_skia::{
    Color, FillRule, FilterQuality, LineCap, LineJoin, Paint, PathBuilder, Pixmap, PixmapPaint, Rect, Shader, Stroke,
    StrokeDash, Transform,
};

/// Renders the canvas as a PNG file with `scale` pixels per point. Returns `None` if the resulting size is invalid.
#[must_use]
pub fn to_png(canvas: &Canvas, scale: f64) -> Option<Vec<u8>> {
    let size = |points: f64| {
        let pixels = (points * scale).round();
        (1.0..=32_768.0).contains(&pixels).then_some(pixels as u32)
    };
    let mut pixels = Pixmap::new(size(canvas.width)?, size(canvas.height)?)?;
    pixels.fill(Color::WHITE);
    let fonts = Fonts::new();
    let transform = Transform::from_scale(scale as f32, scale as f32);
    for item in &canvas.items {
        match item {
            Item::Rectangle { x, y, width, height, colour, opacity } => {
                if let Some(place) = Rect::from_xywh(*x as f32, *y as f32, *width as f32, *height as f32) {
                    pixels.fill_rect(place, &paint(*colour, *opacity), transform, None);
                }
            }
            Item::Line { points, colour, width, dash } => {
                let mut path = PathBuilder::new();
                for (place, &(x, y)) in points.iter().enumerate() {
                    match place {
                        0 => path.move_to(x as f32, y as f32),
                        _ => path.line_to(x as f32, y as f32),
                    }
                }
                let dash = dash.and_then(|(on, off)| StrokeDash::new(vec![on as f32, off as f32], 0.0));
                let (line_cap, line_join) = (LineCap::Butt, LineJoin::Round);
                let stroke = Stroke { width: *width as f32, line_cap, line_join, dash, ..Stroke::default() };
                if let Some(path) = path.finish() {
                    pixels.stroke_path(&path, &paint(*colour, 1.0), &stroke, transform, None);
                }
            }
            Item::Image { x, y, width, height, columns, pixels: grid } => {
                if let Some(picture) = picture(*columns, grid) {
                    let across = (*width / f64::from(picture.width())) as f32;
                    let down = (*height / f64::from(picture.height())) as f32;
                    let place = transform.pre_translate(*x as f32, *y as f32).pre_scale(across, down);
                    let look = PixmapPaint { quality: FilterQuality::Nearest, ..PixmapPaint::default() };
                    pixels.draw_pixmap(0, 0, picture.as_ref(), &look, place, None);
                }
            }
            Item::Text { x, y, text, size, bold, anchor, colour } => {
                let width = fonts.width(text, *size, *bold);
                let start = match anchor {
                    Anchor::Start => *x,
                    Anchor::Middle => x - width / 2.0,
                    Anchor::End => x - width,
                };
                let mut path = Outline(PathBuilder::new());
                fonts.outline(text, *size, *bold, (start, *y), &mut path);
                if let Some(path) = path.0.finish() {
                    pixels.fill_path(&path, &paint(*colour, 1.0), FillRule::Winding, transform, None);
                }
            }
        }
    }
    pixels.encode_png().ok().map(signed)
}

/// Adds a text chunk that identifies the program to a PNG file.
fn signed(mut png: Vec<u8>) -> Vec<u8> {
    // After the signature and the first chunk, the header.
    const AT: usize = 33;
    let mut check = flate2::Crc::new();
    check.update(PNG_SOFTWARE);
    let length = PNG_SOFTWARE.len() as u32 - 4;
    let chunk = [&length.to_be_bytes()[..], PNG_SOFTWARE, &check.sum().to_be_bytes()[..]].concat();
    png.splice(AT..AT, chunk);
    png
}

/// Converts a grid of colours to pixels.
fn picture(columns: u32, grid: &[Colour]) -> Option<Pixmap> {
    let mut picture = Pixmap::new(columns, u32::try_from(grid.len()).ok()?.checked_div(columns)?)?;
    for (pixel, &Colour(red, green, blue)) in picture.pixels_mut().iter_mut().zip(grid) {
        *pixel = Color::from_rgba8(red, green, blue, 255).premultiply().to_color_u8();
    }
    Some(picture)
}

/// Encodes a grid of colours as a PNG file with one pixel each.
pub(super) fn grid_png(columns: u32, grid: &[Colour]) -> Option<Vec<u8>> {
    picture(columns, grid)?.encode_png().ok()
}

fn paint(Colour(red, green, blue): Colour, opacity: f64) -> Paint<'static> {
    let alpha = (opacity.clamp(0.0, 1.0) * 255.0).round() as u8;
    Paint {
        shader: Shader::SolidColor(Color::from_rgba8(red, green, blue, alpha)),
        anti_alias: true,
        ..Paint::default()
    }
}

struct Outline(PathBuilder);

impl Pen for Outline {
    fn move_to(&mut self, (x, y): (f64, f64)) {
        self.0.move_to(x as f32, y as f32);
    }
    fn line_to(&mut self, (x, y): (f64, f64)) {
        self.0.line_to(x as f32, y as f32);
    }
    fn quad_to(&mut self, by: (f64, f64), to: (f64, f64)) {
        self.0.quad_to(by.0 as f32, by.1 as f32, to.0 as f32, to.1 as f32);
    }
    fn cubic_to(&mut self, first: (f64, f64), second: (f64, f64), to: (f64, f64)) {
        self.0.cubic_to(first.0 as f32, first.1 as f32, second.0 as f32, second.1 as f32, to.0 as f32, to.1 as f32);
    }
    fn close(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests {
    use super::super::canvas::Lettering;
    use super::*;

    #[test]
    fn a_canvas_becomes_pixels() {
        let mut canvas = Canvas::new(40.0, 20.0, "test");
        canvas.rectangle((0.0, 0.0), (40.0, 10.0), Colour(255, 0, 0), 1.0);
        canvas.line(vec![(0.0, 15.0), (40.0, 15.0)], Colour(0, 0, 255), 2.0, Some((4.0, 2.0)));
        canvas.text((2.0, 9.0), "µs", Anchor::Start, Lettering::LABEL);
        let png = to_png(&canvas, 2.0).expect("it has a size");
        let pixels = Pixmap::decode_png(&png).expect("it is a PNG");
        assert_eq!((pixels.width(), pixels.height()), (80, 40));
        let red = pixels.pixel(78, 2).expect("inside");
        assert_eq!((red.red(), red.green(), red.blue()), (255, 0, 0));
        let inked = pixels.pixels().iter().filter(|pixel| pixel.red() < 100 && pixel.blue() < 100).count();
        assert!(inked > 20, "the text is drawn");
        assert!(
            to_png(&canvas, 0.0).is_none() && to_png(&canvas, f64::NAN).is_none() && to_png(&canvas, 1e9).is_none()
        );
    }
}
