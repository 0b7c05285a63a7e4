//! Output of a canvas as SVG, byte-identical on every machine.

use super::canvas::{Anchor, Canvas, Colour, Item};
use super::png::grid_png;
use results::SVG_LOOK;
use results::base64;
use std::fmt::Write;

/// Formats a number with at most two decimals.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn colour(Colour(red, green, blue): Colour) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Escapes text for XML. Characters that XML 1.0 does not allow become the replacement character.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {
                escaped.push('\u{fffd}');
            }
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// Renders the canvas as an SVG document.
#[must_use]
pub fn to_svg(canvas: &Canvas) -> String {
    let (width, height) = (number(canvas.width), number(canvas.height));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         {SVG_LOOK}\n\
         <title>{}</title>\n<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n",
        escaped(&canvas.title)
    );
    for item in &canvas.items {
        match item {
            Item::Rectangle { x, y, width, height, colour: fill, opacity } => {
                let (x, y, width, height) = (number(*x), number(*y), number(*width), number(*height));
                let fill = colour(*fill);
                let _ = write!(svg, "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\"");
                if *opacity < 1.0 {
                    let _ = write!(svg, " fill-opacity=\"{}\"", number(*opacity));
                }
                svg.push_str("/>\n");
            }
            Item::Line { points, colour: stroke, width, dash } => {
                svg.push_str("<polyline points=\"");
                for (place, (x, y)) in points.iter().enumerate() {
                    let space = if place == 0 { "" } else { " " };
                    let _ = write!(svg, "{space}{},{}", number(*x), number(*y));
                }
                let (stroke, width) = (colour(*stroke), number(*width));
                let _ = write!(svg, "\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"{width}\"");
                if let Some((on, off)) = dash {
                    let _ = write!(svg, " stroke-dasharray=\"{} {}\"", number(*on), number(*off));
                }
                svg.push_str(" stroke-linejoin=\"round\"/>\n");
            }
            Item::Image { x, y, width, height, columns, pixels } => {
                let Some(png) = grid_png(*columns, pixels) else { continue };
                let (x, y, width, height) = (number(*x), number(*y), number(*width), number(*height));
                let _ = writeln!(
                    svg,
                    "<image x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" preserveAspectRatio=\"none\" \
                     image-rendering=\"pixelated\" href=\"data:image/png;base64,{}\"/>",
                    base64(&png)
                );
            }
            Item::Text { x, y, text, size, bold, anchor, colour: fill } => {
                let (x, y, size, fill) = (number(*x), number(*y), number(*size), colour(*fill));
                let _ = write!(svg, "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{fill}\"");
                if *bold {
                    svg.push_str(" font-weight=\"bold\"");
                }
                match anchor {
                    Anchor::Start => {}
                    Anchor::Middle => svg.push_str(" text-anchor=\"middle\""),
                    Anchor::End => svg.push_str(" text-anchor=\"end\""),
                }
                let _ = writeln!(svg, ">{}</text>", escaped(text));
            }
        }
    }
    svg.push_str("</svg>\n");
    svg
}

#[cfg(test)]
mod tests {
    use super::super::canvas::Lettering;
    use super::*;

    #[test]
    fn numbers_are_short() {
        let texts: Vec<String> = [0.0, -0.001, 1.0, 1.5, 2.346, 100.0].into_iter().map(number).collect();
        assert_eq!(texts, ["0", "0", "1", "1.5", "2.35", "100"]);
    }

    #[test]
    fn names_cannot_break_the_document() {
        let mut canvas = Canvas::new(10.0, 10.0, "a<b>&\u{1}");
        canvas.text((1.0, 2.0), "</svg>", Anchor::End, Lettering::LABEL);
        let svg = to_svg(&canvas);
        assert!(
            svg.contains("<title>a&lt;b&gt;&amp;\u{fffd}</title>") && svg.contains(">&lt;/svg&gt;</text>"),
            "{svg}"
        );
        assert_eq!(svg.matches("</svg>").count(), 1);
    }
}
