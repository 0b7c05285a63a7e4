//! Charts of lines over a common axis.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Colour, GREY, INK, Lettering, PALETTE};
use super::font::Fonts;
use super::frame::{
    Area, BELOW, Entry, Sample, head, horizontal_axis, left_margin, legend, legend_width, shorten, vertical_axis,
};
use super::thin::Thinner;

/// Interpolation between points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Straight lines between points.
    Straight,
    /// Steps: a value holds until the next point.
    Steps,
}

/// A line of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Points in the base units of the axes, in the order of x.
    pub points: Vec<(f64, f64)>,
    /// Interpolation between the points.
    pub manner: Manner,
    /// Error bars: position, lower end, upper end.
    pub whiskers: Vec<(f64, f64, f64)>,
    /// Whether each point is marked, because values between the points were not measured.
    pub marked: bool,
}

impl Series {
    /// Creates a line with straight segments.
    #[must_use]
    pub fn straight(name: &str, points: Vec<(f64, f64)>) -> Series {
        Series { name: name.to_owned(), points, manner: Manner::Straight, whiskers: Vec::new(), marked: false }
    }

    /// Creates a line with steps.
    #[must_use]
    pub fn steps(name: &str, points: Vec<(f64, f64)>) -> Series {
        Series { manner: Manner::Steps, ..Series::straight(name, points) }
    }
}

/// A shaded range of the horizontal axis; bands of the same name share an entry in the legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// Name in the legend.
    pub name: String,
    /// Start.
    pub from: f64,
    /// End.
    pub to: f64,
}

/// A dashed horizontal line, such as a threshold or a paper's number.
#[derive(Clone, Debug, PartialEq)]
pub struct HorizontalLine {
    /// Label of the line.
    pub name: String,
    /// Value on the vertical axis.
    pub at: f64,
}

/// A chart of lines.
#[derive(Clone, Debug, PartialEq)]
pub struct LineChart {
    /// Title.
    pub title: String,
    /// Subtitle, such as the parameters of the plot; may be empty.
    pub subtitle: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines, the most important first.
    pub series: Vec<Series>,
    /// Number of lines omitted for readability.
    pub more: usize,
    /// Shaded ranges.
    pub bands: Vec<Band>,
    /// Horizontal lines.
    pub lines: Vec<HorizontalLine>,
    /// Width in points.
    pub width: f64,
    /// Height in points.
    pub height: f64,
}

/// Dash patterns of the lines after the palette has been used once, twice, ...
const DASHES: [Option<(f64, f64)>; 4] = [None, Some((6.0, 3.0)), Some((2.0, 2.0)), Some((10.0, 3.0))];
const BAND: Colour = Colour(204, 121, 167);

fn look(number: usize) -> (Colour, Option<(f64, f64)>) {
    (PALETTE[number % PALETTE.len()], DASHES[number / PALETTE.len() % DASHES.len()])
}

impl LineChart {
    /// Creates a chart without lines.
    #[must_use]
    pub fn new(title: &str, x: Axis, y: Axis) -> LineChart {
        LineChart {
            title: title.to_owned(),
            subtitle: String::new(),
            x,
            y,
            series: Vec::new(),
            more: 0,
            bands: Vec::new(),
            lines: Vec::new(),
            width: 900.0,
            height: 460.0,
        }
    }

    /// Draws the chart.
    #[must_use]
    pub fn draw(&self) -> Canvas {
        if !self.x.logarithmic && !self.y.logarithmic {
            return self.draw_positions();
        }
        let mut positions = self.clone();
        let (x, y) = (&self.x, &self.y);
        for series in &mut positions.series {
            series.points.iter_mut().for_each(|point| *point = (x.position(point.0), y.position(point.1)));
            series.points.retain(|point| point.0.is_finite() && point.1.is_finite());
            series.whiskers.iter_mut().for_each(|(at, low, high)| {
                (*at, *low, *high) = (x.position(*at), y.position(*low), y.position(*high));
            });
        }
        positions.bands.iter_mut().for_each(|band| (band.from, band.to) = (x.position(band.from), x.position(band.to)));
        positions.lines.iter_mut().for_each(|line| line.at = y.position(line.at));
        positions.draw_positions()
    }

    /// Draws the chart, whose values are positions along its axes.
    fn draw_positions(&self) -> Canvas {
        let fonts = Fonts::new();
        let mut canvas = Canvas::new(self.width, self.height, &self.title);
        let entries = self.entries();
        let top = head(&mut canvas, &fonts, &self.title, &self.subtitle) + 20.0;
        let (across, extent) = (self.across(), self.extent());
        let bottom = (self.height - BELOW).max(top + 20.0);
        let wanted = ((bottom - top) / 55.0).max(2.0) as usize;
        let (low, high) = self.y.span(extent.0, extent.1, wanted);
        let ticks = self.y.ticks(low, high, wanted);
        let widest = ticks.iter().map(|(_, text)| fonts.width(text, Lettering::TICK.size, false)).fold(0.0, f64::max);
        let left = left_margin(widest);
        let right = (self.width - legend_width(&canvas, &fonts, &entries)).max(left + 20.0);
        let area = Area { left, top, right, bottom, across };
        let y = |value: f64| bottom - (value - low) / (high - low) * (bottom - top);
        for band in &self.bands {
            let (from, to) = (area.x(band.from).clamp(left, right), area.x(band.to).clamp(left, right));
            canvas.rectangle((from, top), ((to - from).max(0.3), bottom - top), BAND, 0.25);
        }
        vertical_axis(&mut canvas, &fonts, (&self.y, &ticks, high.abs().max(low.abs())), &area, y);
        horizontal_axis(&mut canvas, &fonts, &self.x, &area);
        // The first line is the most important one and lies on top.
        let width = if self.series.len() > 6 { 1.3 } else { 1.7 };
        for (number, series) in self.series.iter().enumerate().rev() {
            let (colour, dash) = look(number);
            for piece in self.pieces(series, &area, y) {
                canvas.line(piece, colour, width, dash);
            }
            self.details(&mut canvas, series, colour, &area, y);
        }
        for line in self.lines.iter().filter(|line| line.at >= low && line.at <= high) {
            let at = y(line.at);
            canvas.line(vec![(left, at), (right, at)], GREY, 1.2, Some((5.0, 4.0)));
            let name = fonts.fit(&line.name, Lettering::TICK.size, false, right - left);
            // On a pale ground, so that it can be read over lines.
            let width = fonts.width(&name, Lettering::TICK.size, false);
            canvas.rectangle((right - 8.0 - width, at - 16.0), (width + 8.0, 14.0), Colour(255, 255, 255), 0.8);
            canvas.text((right - 4.0, at - 5.0), &name, Anchor::End, Lettering { colour: INK, ..Lettering::TICK });
        }
        legend(&mut canvas, &fonts, &entries, (right + 14.0, top));
        canvas
    }

    /// Draws the marks and error bars that lie in the area.
    fn details(&self, canvas: &mut Canvas, series: &Series, colour: Colour, area: &Area, y: impl Fn(f64) -> f64) {
        let inside = |x: f64, y: f64| {
            (area.left..=area.right).contains(&x) && (area.top - 1e-6..=area.bottom + 1e-6).contains(&y)
        };
        for &(at, low, high) in &series.whiskers {
            let (x, low, high) = (area.x(at), y(low), y(high));
            if inside(x - 3.0, low) && inside(x + 3.0, high) {
                canvas.line(vec![(x, low), (x, high)], colour, 1.0, None);
                canvas.line(vec![(x - 3.0, low), (x + 3.0, low)], colour, 1.0, None);
                canvas.line(vec![(x - 3.0, high), (x + 3.0, high)], colour, 1.0, None);
            }
        }
        for &(at, value) in series.points.iter().filter(|_| series.marked) {
            let (x, y) = (area.x(at), y(value));
            if inside(x, y) {
                canvas.rectangle((x - 2.5, y - 2.5), (5.0, 5.0), colour, 1.0);
            }
        }
    }

    fn entries(&self) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::new();
        let alone = self.series.len() == 1 && self.more == 0 && self.bands.is_empty();
        for (number, series) in self.series.iter().enumerate().filter(|(_, series)| !alone || !series.name.is_empty()) {
            let (colour, dash) = look(number);
            entries.push(Entry { name: series.name.clone(), sample: Sample::Line(colour, dash) });
        }
        shorten(&mut entries, self.more);
        let mut names: Vec<&str> = Vec::new();
        for band in self.bands.iter().filter(|band| !band.name.is_empty()) {
            if !names.contains(&band.name.as_str()) && names.len() < 3 {
                names.push(&band.name);
                entries.push(Entry { name: band.name.clone(), sample: Sample::Box(BAND, 0.25) });
            }
        }
        entries
    }

    fn across(&self) -> (f64, f64) {
        if let Some((from, to)) = self.x.range
            && to > from
        {
            return (from, to);
        }
        let ends = self.series.iter().flat_map(|series| series.points.first().into_iter().chain(series.points.last()));
        let (low, high) = bounds(ends.map(|point| point.0));
        if high > low { (low, high) } else { (low, low + self.x.quantity.unit(0.0).1) }
    }

    /// Returns the lowest and highest displayed values.
    fn extent(&self) -> (f64, f64) {
        let (from, to) = self.across();
        let points = self.series.iter().flat_map(|series| &series.points);
        let seen = points.filter(|point| point.0 >= from && point.0 <= to).map(|point| point.1);
        let whiskers = self.series.iter().flat_map(|series| &series.whiskers).flat_map(|&(_, low, high)| [low, high]);
        bounds(seen.chain(self.lines.iter().map(|line| line.at)).chain(whiskers))
    }

    /// Returns the segments of a line, clipped to the area.
    fn pieces(&self, series: &Series, area: &Area, y: impl Fn(f64) -> f64) -> Vec<Vec<(f64, f64)>> {
        let (from, to) = area.across;
        let mut thinner = Thinner::new(from, to, (area.right - area.left).max(1.0) as usize * 2);
        series.points.iter().for_each(|&point| thinner.push(point));
        let mut path: Vec<(f64, f64)> = Vec::new();
        for (x, value) in thinner.finish() {
            let here = (area.x(x), y(value));
            if series.manner == Manner::Steps
                && let Some(&(_, before)) = path.last()
            {
                path.push((here.0, before));
            }
            path.push(here);
        }
        clip(&path, area)
    }
}

fn bounds(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let finite = values.filter(|value| value.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    if low <= high { (low, high) } else { (0.0, 0.0) }
}

/// Clips a line to the area.
fn clip(path: &[(f64, f64)], area: &Area) -> Vec<Vec<(f64, f64)>> {
    let mut pieces: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut end = None;
    for pair in path.windows(2) {
        let Some((from, to)) = clip_segment(pair[0], pair[1], area) else { continue };
        match pieces.last_mut() {
            Some(piece) if end == Some(from) => piece.push(to),
            _ => pieces.push(vec![from, to]),
        }
        end = Some(to);
    }
    pieces
}

/// Clips a segment by the algorithm of Liang and Barsky.
fn clip_segment(from: (f64, f64), to: (f64, f64), area: &Area) -> Option<((f64, f64), (f64, f64))> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let (mut enter, mut leave) = (0.0f64, 1.0f64);
    let edges =
        [(-dx, from.0 - area.left), (dx, area.right - from.0), (-dy, from.1 - area.top), (dy, area.bottom - from.1)];
    for (towards, room) in edges {
        if towards == 0.0 {
            // Rounding must not push a line along an edge out of the area.
            if room < -1e-6 {
                return None;
            }
        } else if towards < 0.0 {
            enter = enter.max(room / towards);
        } else {
            leave = leave.min(room / towards);
        }
    }
    if enter > leave {
        return None;
    }
    let at = |part: f64| match part {
        0.0 => from,
        1.0 => to,
        part => (from.0 + part * dx, from.1 + part * dy),
    };
    Some((at(enter), at(leave)))
}

#[cfg(test)]
mod tests {
    use super::super::canvas::Item;
    use super::super::svg::to_svg;
    use super::*;
    use results::Quantity;

    fn chart() -> LineChart {
        let x = Axis::within("time", Quantity::Time, 0.0, 1e-3);
        let mut chart = LineChart::new("Throughput", x, Axis::new("throughput", Quantity::Rate));
        let points = (0..=100).map(|n| (f64::from(n) * 1e-5, f64::from(n % 10) * 1e9)).collect();
        chart.series.push(Series::straight("one", points));
        chart.series[0].whiskers = vec![(5e-4, 1e9, 1.2e10), (5e-3, 0.0, 1.0)];
        chart.series[0].marked = true;
        chart.series.push(Series::steps("two", vec![(0.0, 2e9), (5e-4, 8e9), (2e-3, 1e9)]));
        chart.bands.push(Band { name: "paused".into(), from: 1e-4, to: 2e-4 });
        chart.lines.push(HorizontalLine { name: "link rate".into(), at: 10e9 });
        chart
    }

    #[test]
    fn the_same_chart_is_the_same_bytes() {
        assert_eq!(to_svg(&chart().draw()), to_svg(&chart().draw()));
    }

    #[test]
    fn everything_is_on_the_canvas() {
        let canvas = chart().draw();
        let fonts = Fonts::new();
        for item in &canvas.items {
            let inside = |x: f64, y: f64| x >= 0.0 && x <= canvas.width && y >= 0.0 && y <= canvas.height;
            match item {
                Item::Line { points, .. } => assert!(points.iter().all(|&(x, y)| inside(x, y)), "{item:?}"),
                Item::Rectangle { x, y, width, height, .. } | Item::Image { x, y, width, height, .. } => {
                    assert!(inside(*x, *y) && inside(x + width, y + height))
                }
                Item::Text { x, y, text, size, bold, anchor, .. } => {
                    let width = fonts.width(text, *size, *bold);
                    let start = match anchor {
                        Anchor::Start => *x,
                        Anchor::Middle => x - width / 2.0,
                        Anchor::End => x - width,
                    };
                    assert!(inside(start, y - size) && inside(start + width, y + 0.3 * size), "{text}");
                }
            }
        }
    }

    #[test]
    fn what_is_drawn_is_named_with_units() {
        let svg = to_svg(&chart().draw());
        for text in ["throughput (Gb/s)", "time (ms)", ">one<", ">two<", ">paused<", ">link rate<", ">Throughput<"] {
            assert!(svg.contains(text), "{text}");
        }
    }

    #[test]
    fn nothing_and_nonsense_can_be_drawn() {
        let empty = LineChart::new("", Axis::new("", Quantity::Time), Axis::new("", Quantity::Rate));
        assert!(to_svg(&empty.draw()).ends_with("</svg>\n"));
        let mut odd = chart();
        odd.series.push(Series::straight("odd", vec![(f64::NAN, 1.0), (1.0, f64::INFINITY)]));
        odd.series.push(Series::straight("lone", vec![(1e-4, 1.0)]));
        (odd.width, odd.height) = (60.0, 40.0);
        assert!(!to_svg(&odd.draw()).contains("NaN"));
    }

    #[test]
    fn lines_are_cut_at_the_edges() {
        let area = Area { left: 0.0, top: 0.0, right: 10.0, bottom: 10.0, across: (0.0, 1.0) };
        assert_eq!(clip(&[(-5.0, 5.0), (15.0, 5.0)], &area), [[(0.0, 5.0), (10.0, 5.0)]]);
        assert_eq!(clip(&[(2.0, 2.0), (2.0, 20.0), (4.0, 20.0), (4.0, 4.0)], &area).len(), 2);
        assert!(clip(&[(11.0, 0.0), (12.0, 5.0)], &area).is_empty());
    }
}
