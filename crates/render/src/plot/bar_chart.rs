//! Charts of grouped vertical bars.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, GREY, INK, Lettering, PALETTE};
use super::font::Fonts;
use super::frame::{Area, BELOW, Entry, Sample, head, left_margin, legend, legend_width, shorten, vertical_axis};

/// A value and the ends of its confidence interval, if it has one.
pub type Bar = (f64, Option<(f64, f64)>);

/// Bars of one colour, one in every group.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// Name in the legend.
    pub name: String,
    /// The bar of every group; `None` if nothing was measured.
    pub values: Vec<Option<Bar>>,
}

/// A chart of grouped bars.
#[derive(Clone, Debug, PartialEq)]
pub struct BarChart {
    /// Title.
    pub title: String,
    /// Subtitle, such as the parameters of the plot; may be empty.
    pub subtitle: String,
    /// Label of the groups; may be empty.
    pub along: String,
    /// Names of the groups, from left to right.
    pub groups: Vec<String>,
    /// The vertical axis.
    pub y: Axis,
    /// The bars.
    pub bars: Vec<Bars>,
    /// Width in points.
    pub width: f64,
    /// Height in points.
    pub height: f64,
}

impl BarChart {
    /// Creates a chart without bars.
    #[must_use]
    pub fn new(title: &str, along: &str, y: Axis) -> BarChart {
        let (groups, bars) = (Vec::new(), Vec::new());
        let (title, along, subtitle) = (title.to_owned(), along.to_owned(), String::new());
        BarChart { title, subtitle, along, groups, y, bars, width: 900.0, height: 460.0 }
    }

    /// Draws the chart.
    #[must_use]
    pub fn draw(&self) -> Canvas {
        let fonts = Fonts::new();
        let mut canvas = Canvas::new(self.width, self.height, &self.title);
        let colour = |number: usize| PALETTE[number % PALETTE.len()];
        // Beyond the palette the same colours come again, paler.
        let opacity = |number: usize| if number < PALETTE.len() { 1.0 } else { 0.5 };
        let mut entries: Vec<Entry> = Vec::new();
        for (number, bars) in self.bars.iter().enumerate().filter(|_| self.bars.len() > 1) {
            entries.push(Entry { name: bars.name.clone(), sample: Sample::Box(colour(number), opacity(number)) });
        }
        shorten(&mut entries, 0);
        let top = head(&mut canvas, &fonts, &self.title, &self.subtitle) + 20.0;
        let bottom = (self.height - BELOW).max(top + 20.0);
        let wanted = ((bottom - top) / 55.0).max(2.0) as usize;
        let extent = self.extent();
        let (low, high) = self.y.span(extent.0, extent.1, wanted);
        let ticks = self.y.ticks(low, high, wanted);
        let widest = ticks.iter().map(|(_, text)| fonts.width(text, Lettering::TICK.size, false)).fold(0.0, f64::max);
        let left = left_margin(widest);
        let right = (self.width - legend_width(&canvas, &fonts, &entries)).max(left + 20.0);
        let area = Area { left, top, right, bottom, across: (0.0, self.groups.len().max(1) as f64) };
        let y = |value: f64| bottom - (value.clamp(low, high) - low) / (high - low) * (bottom - top);
        vertical_axis(&mut canvas, &fonts, (&self.y, &ticks, high.abs().max(low.abs())), &area, y);
        let group = (right - left) / self.groups.len().max(1) as f64;
        let bar = (group * 0.8 / self.bars.len().max(1) as f64).min(90.0);
        for (place, name) in self.groups.iter().enumerate() {
            let middle = area.x(place as f64 + 0.5);
            let first = middle - bar * self.bars.len() as f64 / 2.0;
            for (number, bars) in self.bars.iter().enumerate() {
                let Some((value, interval)) = bars.values.get(place).copied().flatten() else { continue };
                if !value.is_finite() {
                    continue;
                }
                let x = first + bar * number as f64;
                let (up, down) = (y(value.max(0.0)), y(value.min(0.0)));
                canvas.rectangle((x + bar * 0.05, up), (bar * 0.9, down - up), colour(number), opacity(number));
                if let Some((low, high)) = interval.filter(|(low, high)| low < high && (high - low).is_finite()) {
                    let (x, low, high) = (x + bar / 2.0, y(low), y(high));
                    let foot = (bar / 4.0).min(4.0);
                    canvas.line(vec![(x, low), (x, high)], INK, 1.0, None);
                    canvas.line(vec![(x - foot, low), (x + foot, low)], INK, 1.0, None);
                    canvas.line(vec![(x - foot, high), (x + foot, high)], INK, 1.0, None);
                }
            }
            let name = fonts.fit(name, Lettering::TICK.size, false, group - 4.0);
            canvas.text((middle, bottom + 18.0), &name, Anchor::Middle, Lettering { colour: INK, ..Lettering::TICK });
        }
        canvas.line(vec![(left, bottom), (right, bottom)], GREY, 1.0, None);
        let label = fonts.fit(&self.along, Lettering::LABEL.size, false, right - left);
        canvas.text(((left + right) / 2.0, bottom + 38.0), &label, Anchor::Middle, Lettering::LABEL);
        legend(&mut canvas, &fonts, &entries, (right + 14.0, top));
        canvas
    }

    fn extent(&self) -> (f64, f64) {
        let values = self.bars.iter().flat_map(|bars| bars.values.iter().flatten());
        let ends = values.flat_map(|&(value, interval)| {
            let (low, high) = interval.unwrap_or((value, value));
            [value, low, high]
        });
        let ends = ends.filter(|end| end.is_finite());
        ends.fold((0.0, 0.0), |(low, high): (f64, f64), end| (low.min(end), high.max(end)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::canvas::Item;
    use super::super::svg::to_svg;
    use super::*;
    use results::Quantity;

    #[test]
    fn bars_stand_on_the_axis_beside_each_other() {
        let mut chart = BarChart::new("Rates", "variant", Axis::new("rate", Quantity::Rate));
        chart.groups = vec!["naive".into(), "occupancy".into()];
        chart
            .bars
            .push(Bars { name: "f1".into(), values: vec![Some((2.5e9, Some((2.4e9, 2.6e9)))), Some((5e9, None))] });
        chart.bars.push(Bars { name: "f2".into(), values: vec![Some((2e9, None)), None] });
        chart.bars.push(Bars { name: "odd".into(), values: vec![Some((f64::NAN, None))] });
        let canvas = chart.draw();
        let heights: Vec<f64> = (canvas.items.iter())
            .filter_map(|item| match item {
                Item::Rectangle { y, height, width, .. } if *width > 30.0 => Some((y + height).round()),
                _ => None,
            })
            .collect();
        assert_eq!(heights, [408.0; 3], "three bars, all down to the axis");
        let svg = to_svg(&canvas);
        for text in ["naive", "occupancy", ">f1<", ">f2<", "rate (Gb/s)", ">variant<"] {
            assert!(svg.contains(text), "{text}");
        }
        assert!(!svg.contains("NaN"));
        assert!(!to_svg(&BarChart::new("", "", Axis::new("", Quantity::Fraction)).draw()).contains("NaN"));
    }
}
