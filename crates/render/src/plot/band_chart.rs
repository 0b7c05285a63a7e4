//! Rows of bands over time, such as the pauses of each port.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Colour, FAINT, INK, Lettering};
use super::font::Fonts;
use super::frame::{Area, BELOW, Entry, Sample, head, horizontal_axis, left_margin, legend, legend_width};

/// A row of bands.
#[derive(Clone, Debug, PartialEq)]
pub struct BandRow {
    /// Name, shown at the left.
    pub name: String,
    /// Text at the right, such as a sum; may be empty.
    pub note: String,
    /// Start and end of each band, in the base unit of the axis.
    pub spans: Vec<(f64, f64)>,
}

/// A chart of bands. Its height depends on the number of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct BandChart {
    /// Title.
    pub title: String,
    /// Subtitle, such as the parameters of the plot; may be empty.
    pub subtitle: String,
    /// The horizontal axis, with its range.
    pub x: Axis,
    /// Meaning of a band, for the legend; may be empty.
    pub meaning: String,
    /// The rows, from top to bottom.
    pub rows: Vec<BandRow>,
    /// Number of rows omitted for readability.
    pub more: usize,
    /// Width in points.
    pub width: f64,
}

const BAND: Colour = Colour(213, 94, 0);
const ROW: f64 = 24.0;
/// Number of shades between an empty and a fully covered column.
const SHADES: f64 = 16.0;

impl BandChart {
    /// Creates a chart without rows.
    #[must_use]
    pub fn new(title: &str, x: Axis) -> BandChart {
        let (title, subtitle, meaning) = (title.to_owned(), String::new(), String::new());
        BandChart { title, subtitle, x, meaning, rows: Vec::new(), more: 0, width: 900.0 }
    }

    /// Draws the chart.
    #[must_use]
    pub fn draw(&self) -> Canvas {
        let fonts = Fonts::new();
        let mut canvas = Canvas::new(self.width, 0.0, &self.title);
        let top = head(&mut canvas, &fonts, &self.title, &self.subtitle) + 4.0;
        let bottom = top + ROW * self.rows.len().max(1) as f64;
        canvas.height = bottom + BELOW;
        let width = |text: &str| fonts.width(text, Lettering::TICK.size, false);
        let widest = self.rows.iter().map(|row| width(&row.name)).fold(0.0, f64::max).min(self.width / 4.0);
        let left = left_margin(widest);
        let mut entries = Vec::new();
        if !self.meaning.is_empty() {
            entries.push(Entry { name: self.meaning.clone(), sample: Sample::Box(BAND, 0.85) });
        }
        let notes = self.rows.iter().map(|row| width(&row.note)).fold(0.0, f64::max);
        let beside = if notes > 0.0 { notes + 26.0 } else { legend_width(&canvas, &fonts, &entries) };
        let right = (self.width - beside).max(left + 20.0);
        let area = Area { left, top, right, bottom, across: self.across() };
        for (number, row) in self.rows.iter().enumerate() {
            let y = top + ROW * number as f64;
            canvas.rectangle((left, y + 4.0), (right - left, ROW - 8.0), FAINT, 0.55);
            for (from, to, part) in shades(&row.spans, &area) {
                canvas.rectangle((from, y + 4.0), (to - from, ROW - 8.0), BAND, 0.15 + 0.7 * part);
            }
            let name = fonts.fit(&row.name, Lettering::TICK.size, false, left - 28.0);
            let ink = Lettering { colour: INK, ..Lettering::TICK };
            canvas.text((left - 8.0, y + ROW / 2.0 + 4.0), &name, Anchor::End, ink);
            canvas.text((right + 8.0, y + ROW / 2.0 + 4.0), &row.note, Anchor::Start, Lettering::TICK);
        }
        horizontal_axis(&mut canvas, &fonts, &self.x, &area);
        if notes == 0.0 {
            legend(&mut canvas, &fonts, &entries, (right + 14.0, top + 4.0));
        }
        if self.more > 0 {
            let text = format!("… and {} more, not drawn", self.more);
            canvas.text((18.0, bottom + 38.0), &text, Anchor::Start, Lettering::TICK);
        }
        canvas
    }

    fn across(&self) -> (f64, f64) {
        let (low, high) = self.x.range.unwrap_or_else(|| {
            let last = self.rows.iter().flat_map(|row| &row.spans).map(|span| span.1).fold(0.0, f64::max);
            (0.0, last)
        });
        if high > low { (low, high) } else { (low, low + self.x.quantity.unit(0.0).1) }
    }
}

/// Returns the bands of a row as rectangles. Each column of half a point is shaded by its covered fraction, so that
/// many short bands appear as their sum, and a single short band remains visible.
fn shades(spans: &[(f64, f64)], area: &Area) -> Vec<(f64, f64, f64)> {
    let columns = ((area.right - area.left) * 2.0).max(1.0) as usize;
    let step = (area.right - area.left) / columns as f64;
    let mut covered = vec![0.0f64; columns];
    for &(from, to) in spans {
        let place = |value: f64| ((area.x(value) - area.left) / step).clamp(0.0, columns as f64);
        let (from, to) = (place(from), place(to));
        if from.is_nan() || to.is_nan() || to <= from {
            continue;
        }
        let (first, last) = (from as usize, (to as usize).min(columns - 1));
        for (column, part) in covered.iter_mut().enumerate().take(last + 1).skip(first) {
            *part += (to.min(column as f64 + 1.0) - from.max(column as f64)).max(0.0);
        }
    }
    let shade = |part: f64| (part.min(1.0) * SHADES).ceil();
    let mut rectangles: Vec<(f64, f64, f64)> = Vec::new();
    let mut start = 0;
    for column in 1..=columns {
        if column == columns || shade(covered[column]) != shade(covered[start]) {
            if shade(covered[start]) > 0.0 {
                let (from, to) = (area.left + start as f64 * step, area.left + column as f64 * step);
                rectangles.push((from, to, shade(covered[start]) / SHADES));
            }
            start = column;
        }
    }
    rectangles
}

#[cfg(test)]
mod tests {
    use super::super::svg::to_svg;
    use super::*;
    use results::Quantity;

    const AREA: Area = Area { left: 0.0, top: 0.0, right: 100.0, bottom: 10.0, across: (0.0, 1.0) };

    #[test]
    fn a_long_band_is_one_rectangle_and_a_short_one_is_seen() {
        assert_eq!(shades(&[(0.25, 0.5)], &AREA), [(25.0, 50.0, 1.0)]);
        let speck = shades(&[(0.501, 0.5011)], &AREA);
        assert_eq!(speck.len(), 1);
        assert!(speck[0].2 > 0.0 && speck[0].2 < 0.2);
        assert!(shades(&[(0.5, 0.5), (0.7, 0.2), (f64::NAN, 1.0)], &AREA).is_empty());
    }

    #[test]
    fn many_short_bands_are_as_dark_as_their_sum() {
        let half: Vec<(f64, f64)> = (0..100_000).map(|n| (f64::from(n) * 1e-5, f64::from(n) * 1e-5 + 5e-6)).collect();
        let shades = shades(&half, &AREA);
        assert!(shades.iter().all(|&(_, _, part)| (part - 0.5).abs() < 0.07), "{shades:?}");
    }

    #[test]
    fn rows_have_names_and_notes() {
        let mut chart = BandChart::new("Pauses", Axis::within("time", Quantity::Time, 0.0, 1e-3));
        let row = |name: &str| BandRow { name: name.into(), note: "12 %".into(), spans: vec![(1e-4, 2e-4)] };
        chart.rows = vec![row("sw0:1"), row("sw1:0")];
        chart.more = 3;
        let svg = to_svg(&chart.draw());
        for text in ["sw0:1", "sw1:0", "12 %", "… and 3 more", "time (ms)"] {
            assert!(svg.contains(text), "{text}");
        }
        let empty = BandChart::new("", Axis::new("", Quantity::Time));
        assert!(!to_svg(&empty.draw()).contains("NaN"));
    }
}
