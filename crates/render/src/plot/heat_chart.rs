//! Rows of colours over time: a quantity of many things, such as the queues of all ports.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Colour, INK, Lettering};
use super::font::Fonts;
use super::frame::{Area, BELOW, head, horizontal_axis, left_margin};
use results::Quantity;

/// A row of a heat chart.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatRow {
    /// Name, shown at the left.
    pub name: String,
    /// Times and values, ascending; a value holds until the next one.
    pub points: Vec<(f64, f64)>,
}

/// A chart with a row for each thing and a colour for each value. Its height depends on the number of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatChart {
    /// Title.
    pub title: String,
    /// Subtitle, such as the parameters of the plot; may be empty.
    pub subtitle: String,
    /// The horizontal axis, with its range.
    pub x: Axis,
    /// Quantity of the values.
    pub quantity: Quantity,
    /// Upper end of the scale of colours; the highest value if absent.
    pub most: Option<f64>,
    /// The rows, from top to bottom.
    pub rows: Vec<HeatRow>,
    /// Number of rows omitted for readability.
    pub more: usize,
    /// Width in points.
    pub width: f64,
}

const ROW: f64 = 18.0;
/// Number of colours.
const LEVELS: usize = 64;
/// By how much rectangles overlap.
const OVERLAP: f64 = 0.5;
/// Room at the right for the scale.
const SCALE: f64 = 96.0;

/// Viridis, from low to high.
const STOPS: [Colour; 5] =
    [Colour(68, 1, 84), Colour(59, 82, 139), Colour(33, 145, 140), Colour(94, 201, 98), Colour(253, 231, 37)];

/// The colour of a level.
fn colour(level: usize) -> Colour {
    let at = level as f64 / (LEVELS - 1) as f64 * (STOPS.len() - 1) as f64;
    let low = (at as usize).min(STOPS.len() - 2);
    let part = at - low as f64;
    let mix = |from: u8, to: u8| (f64::from(from) + (f64::from(to) - f64::from(from)) * part).round() as u8;
    let (from, to) = (STOPS[low], STOPS[low + 1]);
    Colour(mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}

impl HeatChart {
    /// Creates a chart without rows.
    #[must_use]
    pub fn new(title: &str, x: Axis, quantity: Quantity) -> HeatChart {
        let (title, subtitle) = (title.to_owned(), String::new());
        HeatChart { title, subtitle, x, quantity, most: None, rows: Vec::new(), more: 0, width: 900.0 }
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
        let right = (self.width - SCALE).max(left + 20.0);
        let across = self.x.range.unwrap_or((0.0, 1.0));
        let across = if across.1 > across.0 { across } else { (across.0, across.0 + 1.0) };
        let area = Area { left, top, right, bottom, across };
        let seen = self.rows.iter().flat_map(|row| &row.points).map(|point| point.1);
        let most = self.most.unwrap_or_else(|| seen.filter(|value| value.is_finite()).fold(0.0, f64::max));
        for (number, row) in self.rows.iter().enumerate() {
            let y = top + ROW * number as f64;
            canvas.rectangle((left, y + 1.0), (right - left, ROW - 2.0), colour(0), 1.0);
            for (from, to, level) in levels(&row.points, &area, most).into_iter().filter(|it| it.2 > 0) {
                // They overlap a little, so that nothing shines through between them.
                let to = (to + OVERLAP).min(right);
                canvas.rectangle((from, y + 1.0), (to - from, ROW - 2.0), colour(level), 1.0);
            }
            let name = fonts.fit(&row.name, Lettering::TICK.size, false, left - 28.0);
            let ink = Lettering { colour: INK, ..Lettering::TICK };
            canvas.text((left - 8.0, y + ROW / 2.0 + 4.0), &name, Anchor::End, ink);
        }
        horizontal_axis(&mut canvas, &fonts, &self.x, &area);
        self.scale(&mut canvas, (right + 14.0, top + 2.0), most);
        if self.more > 0 {
            let text = format!("… and {} more, not drawn", self.more);
            canvas.text((18.0, bottom + 38.0), &text, Anchor::Start, Lettering::TICK);
        }
        canvas
    }

    /// Draws the colours from the highest value at the top to zero.
    fn scale(&self, canvas: &mut Canvas, (x, top): (f64, f64), most: f64) {
        let height = (ROW * self.rows.len() as f64 - 4.0).clamp(40.0, 160.0);
        let step = height / LEVELS as f64;
        for level in (0..LEVELS).rev() {
            let y = top + height - step * (level + 1) as f64;
            let overlap = if level == 0 { 0.0 } else { OVERLAP };
            canvas.rectangle((x, y), (12.0, step + overlap), colour(level), 1.0);
        }
        let (unit, factor) = self.quantity.unit(most);
        let value = most / factor;
        let digits = usize::from(value < 100.0) + usize::from(value < 10.0);
        canvas.text((x + 18.0, top + 9.0), format!("{value:.digits$} {unit}").trim(), Anchor::Start, Lettering::TICK);
        canvas.text((x + 18.0, top + height), "0", Anchor::Start, Lettering::TICK);
    }
}

/// Returns a row as rectangles with their levels. Each column of half a point has the level of the highest value in it.
fn levels(points: &[(f64, f64)], area: &Area, most: f64) -> Vec<(f64, f64, usize)> {
    let columns = ((area.right - area.left) * 2.0).max(1.0) as usize;
    let step = (area.right - area.left) / columns as f64;
    let mut highest = vec![0.0f64; columns];
    for (place, &(from, value)) in points.iter().enumerate() {
        let to = points.get(place + 1).map_or(area.across.1, |next| next.0);
        let column = |time: f64| (((area.x(time) - area.left) / step).clamp(0.0, columns as f64)) as usize;
        if !value.is_finite() || to < area.across.0 || from > area.across.1 {
            continue;
        }
        let first = column(from).min(columns - 1);
        for highest in &mut highest[first..=column(to).clamp(first, columns - 1)] {
            *highest = highest.max(value);
        }
    }
    let level = |value: f64| match most > 0.0 {
        true => ((value / most).clamp(0.0, 1.0) * (LEVELS - 1) as f64).round() as usize,
        false => 0,
    };
    let mut rectangles = Vec::new();
    let mut start = 0;
    for column in 1..=columns {
        if column == columns || level(highest[column]) != level(highest[start]) {
            let (from, to) = (area.left + start as f64 * step, area.left + column as f64 * step);
            rectangles.push((from, to, level(highest[start])));
            start = column;
        }
    }
    rectangles
}

#[cfg(test)]
mod tests {
    use super::super::svg::to_svg;
    use super::*;

    const AREA: Area = Area { left: 0.0, top: 0.0, right: 100.0, bottom: 10.0, across: (0.0, 1.0) };

    #[test]
    fn the_highest_value_of_a_column_counts() {
        // A spike that is shorter than a column is seen.
        let found = levels(&[(0.0, 0.0), (0.5, 8.0), (0.5001, 2.0), (0.75, 0.0)], &AREA, 8.0);
        let shown: Vec<(f64, f64, usize)> = found.into_iter().filter(|it| it.2 > 0).collect();
        assert_eq!(shown, [(50.0, 50.5, 63), (50.5, 75.5, 16)]);
        assert_eq!(levels(&[], &AREA, 0.0), [(0.0, 100.0, 0)]);
        assert_eq!(levels(&[(0.0, f64::NAN)], &AREA, 1.0), [(0.0, 100.0, 0)]);
    }

    #[test]
    fn a_scale_with_an_end_colours_low_values_as_low() {
        let mut chart = HeatChart::new("Links", Axis::within("time", Quantity::Time, 0.0, 1e-3), Quantity::Fraction);
        chart.rows = vec![HeatRow { name: "sw0 to h1".into(), points: vec![(0.0, 0.5)] }];
        let drawn = |chart: &HeatChart, level: usize| {
            let Colour(red, green, blue) = colour(level);
            to_svg(&chart.draw()).matches(&format!("#{red:02x}{green:02x}{blue:02x}")).count()
        };
        let last = LEVELS - 1;
        // Each colour is once in the scale; the row has the colour of its value.
        assert_eq!((drawn(&chart, last), drawn(&chart, last.div_ceil(2))), (2, 1));
        chart.most = Some(1.0);
        assert_eq!((drawn(&chart, last), drawn(&chart, last.div_ceil(2))), (1, 2));
        assert!(to_svg(&chart.draw()).contains("100 %"));
    }

    #[test]
    fn rows_have_names_and_the_scale_its_ends() {
        let mut chart = HeatChart::new("Queues", Axis::within("time", Quantity::Time, 0.0, 1e-3), Quantity::Size);
        let row = |name: &str| HeatRow { name: name.into(), points: vec![(0.0, 0.0), (2e-4, 40_000.0), (6e-4, 0.0)] };
        chart.rows = vec![row("sw0 to h1"), row("sw1 to h2")];
        chart.more = 3;
        let svg = to_svg(&chart.draw());
        for text in ["sw0 to h1", "sw1 to h2", "40.0 KB", "… and 3 more", "time (ms)"] {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        let empty = HeatChart::new("", Axis::new("", Quantity::Time), Quantity::Size);
        assert!(!to_svg(&empty.draw()).contains("NaN"));
    }
}
