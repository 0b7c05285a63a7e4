//! Coloured maps of a quantity over two parameters, with contour lines.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Colour, INK, Lettering};
use super::font::Fonts;
use super::frame::{
    Area, BELOW, Entry, Sample, head, horizontal_axis, left_margin, legend, legend_width, vertical_axis,
};

/// A range of values with its own colour.
#[derive(Clone, Debug, PartialEq)]
pub struct MapBand {
    /// Name in the legend.
    pub name: String,
    /// Lower end of the range, which extends to the next one.
    pub from: f64,
    /// Colour of the range.
    pub colour: Colour,
}

/// Lines with the same meaning.
#[derive(Clone, Debug, PartialEq)]
pub struct MapLine {
    /// Name in the legend.
    pub name: String,
    /// The lines, in the base units of the axes.
    pub paths: Vec<Vec<(f64, f64)>>,
    /// Whether the lines are dashed.
    pub dashed: bool,
}

/// A map. Both axes have ranges.
#[derive(Clone, Debug, PartialEq)]
pub struct MapChart {
    /// Title.
    pub title: String,
    /// Subtitle, such as the parameters of the plot; may be empty.
    pub subtitle: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// Number of values along each axis.
    pub columns: usize,
    /// The values, row by row from the bottom; NaN belongs to no range.
    pub values: Vec<f64>,
    /// The ranges, in ascending order.
    pub bands: Vec<MapBand>,
    /// Meaning of a missing value, for the legend.
    pub missing: String,
    /// Lines on the map.
    pub lines: Vec<MapLine>,
    /// A marked point and its name.
    pub point: Option<(String, f64, f64)>,
    /// Width in points.
    pub width: f64,
    /// Height in points.
    pub height: f64,
}

const MISSING: Colour = Colour(205, 205, 205);
const MARK: Colour = Colour(0, 158, 115);

impl MapChart {
    /// Creates a map without values.
    #[must_use]
    pub fn new(title: &str, x: Axis, y: Axis) -> MapChart {
        MapChart {
            title: title.to_owned(),
            subtitle: String::new(),
            x,
            y,
            columns: 0,
            values: Vec::new(),
            bands: Vec::new(),
            missing: String::new(),
            lines: Vec::new(),
            point: None,
            width: 900.0,
            height: 560.0,
        }
    }

    fn colour(&self, value: f64) -> Colour {
        let band = self.bands.iter().rev().find(|band| value >= band.from);
        band.map_or(MISSING, |band| band.colour)
    }

    fn entries(&self) -> Vec<Entry> {
        let band = |band: &MapBand| Entry { name: band.name.clone(), sample: Sample::Box(band.colour, 1.0) };
        let mut entries: Vec<Entry> = self.bands.iter().rev().map(band).collect();
        if self.values.iter().any(|value| value.is_nan()) {
            entries.push(Entry { name: self.missing.clone(), sample: Sample::Box(MISSING, 1.0) });
        }
        for line in self.lines.iter().filter(|line| !line.paths.is_empty()) {
            let dash = line.dashed.then_some((5.0, 4.0));
            entries.push(Entry { name: line.name.clone(), sample: Sample::Line(INK, dash) });
        }
        if let Some((name, ..)) = &self.point {
            entries.push(Entry { name: name.clone(), sample: Sample::Box(MARK, 1.0) });
        }
        entries
    }

    /// Draws the map.
    #[must_use]
    pub fn draw(&self) -> Canvas {
        let fonts = Fonts::new();
        let mut canvas = Canvas::new(self.width, self.height, &self.title);
        let entries = self.entries();
        let top = head(&mut canvas, &fonts, &self.title, &self.subtitle) + 20.0;
        let bottom = (self.height - BELOW).max(top + 20.0);
        let wanted = ((bottom - top) / 55.0).max(2.0) as usize;
        let range = |axis: &Axis| axis.range.filter(|(low, high)| high > low).unwrap_or((0.0, 1.0));
        let (across, (low, high)) = (range(&self.x), range(&self.y));
        let ticks = self.y.ticks(low, high, wanted);
        let widest = ticks.iter().map(|(_, text)| fonts.width(text, Lettering::TICK.size, false)).fold(0.0, f64::max);
        let left = left_margin(widest);
        let right = (self.width - legend_width(&canvas, &fonts, &entries)).max(left + 20.0);
        let area = Area { left, top, right, bottom, across };
        let y = |value: f64| bottom - (value - low) / (high - low) * (bottom - top);
        vertical_axis(&mut canvas, &fonts, (&self.y, &ticks, high.abs().max(low.abs())), &area, y);
        if self.columns > 0 {
            let rows = self.values.chunks(self.columns).rev();
            let pixels: Vec<Colour> = rows.flatten().map(|&value| self.colour(value)).collect();
            canvas.image((left, top), (right - left, bottom - top), (self.columns as u32, pixels));
        }
        horizontal_axis(&mut canvas, &fonts, &self.x, &area);
        for line in &self.lines {
            let dash = line.dashed.then_some((5.0, 4.0));
            for path in &line.paths {
                let inside = |&(at, value): &(f64, f64)| (area.x(at).clamp(left, right), y(value).clamp(top, bottom));
                canvas.line(path.iter().map(inside).collect(), INK, 1.8, dash);
            }
        }
        if let Some((_, at, value)) = self.point
            && (across.0..=across.1).contains(&at)
            && (low..=high).contains(&value)
        {
            let (x, y) = (area.x(at), y(value));
            canvas.rectangle((x - 5.0, y - 5.0), (10.0, 10.0), Colour(255, 255, 255), 1.0);
            canvas.rectangle((x - 3.5, y - 3.5), (7.0, 7.0), MARK, 1.0);
        }
        legend(&mut canvas, &fonts, &entries, (right + 14.0, top));
        if self.columns == 0 {
            canvas.text((left + 8.0, top + 18.0), "no data", Anchor::Start, Lettering::TICK);
        }
        canvas
    }
}

#[cfg(test)]
mod tests {
    use super::super::png::to_png;
    use super::super::svg::to_svg;
    use super::*;
    use results::Quantity;
    use tiny_skia::Pixmap;

    fn chart() -> MapChart {
        let plain = || Quantity::Plain(String::new());
        let mut chart =
            MapChart::new("map", Axis::within("x", plain(), 0.0, 1.0), Axis::within("y", plain(), 0.0, 1.0));
        chart.columns = 2;
        chart.values = vec![-1.0, 1.0, 1.0, f64::NAN];
        let band = |name: &str, from, colour| MapBand { name: name.into(), from, colour };
        chart.bands = vec![band("low", f64::NEG_INFINITY, Colour(255, 0, 0)), band("high", 0.0, Colour(0, 0, 255))];
        chart.missing = "nothing".into();
        chart.lines.push(MapLine { name: "edge".into(), paths: vec![vec![(0.5, 0.0), (0.5, 1.0)]], dashed: true });
        chart.point = Some(("here".into(), 0.25, 0.75));
        chart
    }

    #[test]
    fn the_plane_is_drawn_the_right_way_up_in_both_forms() {
        let canvas = chart().draw();
        let svg = to_svg(&canvas);
        for text in ["<image ", "data:image/png;base64,", ">low<", ">high<", ">nothing<", ">edge<", ">here<"] {
            assert!(svg.contains(text), "{text}");
        }
        assert_eq!(svg, to_svg(&chart().draw()));
        let png = to_png(&canvas, 1.0).and_then(|png| Pixmap::decode_png(&png).ok()).expect("a picture");
        let at = |x: u32, y: u32| png.pixel(x, y).map(|pixel| (pixel.red(), pixel.green(), pixel.blue()));
        // The first row of values is the lower one.
        assert_eq!(at(100, 480), Some((255, 0, 0)));
        assert_eq!((at(600, 480), at(100, 90)), (Some((0, 0, 255)), Some((0, 0, 255))));
        assert_eq!(at(600, 90), Some((205, 205, 205)));
    }

    #[test]
    fn nothing_can_be_drawn() {
        let empty = MapChart::new("", Axis::new("", Quantity::Time), Axis::new("", Quantity::Rate));
        assert!(to_svg(&empty.draw()).ends_with("</svg>\n"));
    }
}
