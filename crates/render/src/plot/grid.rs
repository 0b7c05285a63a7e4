//! Charts of a grid of runs along one of its axes: lines over numbers, bars otherwise.

use super::axis::Axis;
use super::bar_chart::{Bar, BarChart, Bars};
use super::line_chart::{LineChart, Series};
use super::pictures::Chart;
use results::document::{self, ChartLine, ChartPoint};
use results::{Quantity, axis_value};

/// The measured value of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct GridPoint {
    /// Value of the axis, as text.
    pub at: String,
    /// Mean over the seeds, in the base unit.
    pub value: f64,
    /// Ends of its confidence interval, if it has one.
    pub interval: Option<(f64, f64)>,
}

/// A line, or the bars of one colour.
#[derive(Clone, Debug, PartialEq)]
pub struct GridLine {
    /// Name in the legend.
    pub name: String,
    /// Points, in the order of the axis.
    pub points: Vec<GridPoint>,
}

/// A chart of quantities along an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct GridChart {
    /// Title.
    pub title: String,
    /// Key of the axis.
    pub along: String,
    /// Label of the horizontal axis.
    pub x: String,
    /// Title of the legend.
    pub legend: Option<String>,
    /// The vertical axis.
    pub y: Axis,
    /// Whether to draw bars even over numbers.
    pub bars: bool,
    /// The lines or bars.
    pub lines: Vec<GridLine>,
}

impl GridChart {
    /// Returns a chart of a figure's document; `None` if it is over time.
    #[must_use]
    pub fn of(chart: &document::Chart) -> Option<GridChart> {
        let document::Chart::Grid { title, along, x, legend, y, quantity, bars, lines } = chart else { return None };
        let point =
            |point: &ChartPoint| GridPoint { at: point.at.clone(), value: point.value, interval: point.interval };
        let line =
            |line: &ChartLine| GridLine { name: line.name.clone(), points: line.points.iter().map(point).collect() };
        Some(GridChart {
            title: title.clone(),
            along: along.clone(),
            x: x.clone(),
            legend: legend.clone(),
            y: Axis::new(y, Quantity::named(quantity)),
            bars: *bars,
            lines: lines.iter().map(line).collect(),
        })
    }

    /// Returns a bar chart if `bars` is set, or if the axis has fewer than two values or values that are not numbers of
    /// one kind; otherwise a line chart.
    #[must_use]
    pub fn chart(&self) -> Chart {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let several = self.lines.iter().any(|line| line.points.len() > 1);
        let interval = if points().any(|point| point.interval.is_some_and(|(low, high)| low < high)) {
            " with its 95 % confidence interval"
        } else {
            ""
        };
        let subtitle = format!("mean over the seeds{interval}");
        let first = points().next().and_then(|point| axis_value(&point.at)).map(|(quantity, _)| quantity);
        let alike = points().all(|point| axis_value(&point.at).map(|(quantity, _)| quantity) == first);
        match first {
            Some(quantity) if alike && several && !self.bars => Chart::Lines(self.line_chart(quantity, subtitle)),
            _ => Chart::Bars(self.bar_chart(subtitle)),
        }
    }

    fn line_chart(&self, quantity: Quantity, subtitle: String) -> LineChart {
        let number = |point: &GridPoint| axis_value(&point.at).map_or(f64::NAN, |(_, number)| number);
        let all = || self.lines.iter().flat_map(|line| &line.points).map(number);
        let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
        // A little room, so that no mark lies on the frame.
        let room = (high - low) * 0.03;
        let x = Axis::within(&self.x, quantity, low - room, high + room);
        let mut chart = LineChart::new(&self.title, x, self.y.clone());
        chart.subtitle = subtitle;
        for line in &self.lines {
            let mut points: Vec<(f64, Bar)> =
                line.points.iter().map(|point| (number(point), (point.value, point.interval))).collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut series = Series::straight(&line.name, points.iter().map(|&(at, (value, _))| (at, value)).collect());
            series.marked = true;
            let ends = points.iter().filter_map(|&(at, (_, interval))| interval.map(|(low, high)| (at, low, high)));
            series.whiskers = ends.filter(|(_, low, high)| low < high).collect();
            chart.series.push(series);
        }
        chart
    }

    fn bar_chart(&self, subtitle: String) -> BarChart {
        let mut chart = BarChart::new(&self.title, &self.x, self.y.clone());
        chart.subtitle = subtitle;
        for point in self.lines.iter().flat_map(|line| &line.points) {
            if !chart.groups.contains(&point.at) {
                chart.groups.push(point.at.clone());
            }
        }
        for line in &self.lines {
            let value = |group: &String| {
                line.points.iter().find(|point| point.at == *group).map(|point| (point.value, point.interval))
            };
            let values = chart.groups.iter().map(value).collect();
            chart.bars.push(Bars { name: line.name.clone(), values });
        }
        chart
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(values: &[&str]) -> Chart {
        let point = |(at, value): (&&str, f64)| GridPoint {
            at: (*at).to_owned(),
            value,
            interval: Some((value - 0.5, value + 0.5)),
        };
        let points = values.iter().zip([2.0, 1.0, 3.0]).map(point).collect();
        let y = Axis::new("frames", Quantity::Plain(String::new()));
        let lines = vec![GridLine { name: "a".into(), points }];
        let (title, along, x) = ("t".into(), "network.k".into(), "k".into());
        GridChart { title, along, x, legend: None, y, bars: false, lines }.chart()
    }

    #[test]
    fn axis_values_are_numbers_with_or_without_units() {
        assert_eq!(axis_value("4"), Some((Quantity::Plain(String::new()), 4.0)));
        assert_eq!(axis_value("10Gb/s"), Some((Quantity::Rate, 10e9)));
        assert_eq!(axis_value("\"2us\""), Some((Quantity::Time, 2e-6)));
        assert_eq!(axis_value("150KB"), Some((Quantity::Size, 150e3)));
        assert_eq!((axis_value("pfc"), axis_value("nan"), axis_value("inf")), (None, None, None));
    }

    #[test]
    fn numbers_make_lines_in_their_order_and_words_make_bars() {
        let Chart::Lines(lines) = chart(&["20us", "1ms", "3us"]) else { panic!("lines") };
        let order: Vec<f64> = lines.series[0].points.iter().map(|point| point.1).collect();
        assert_eq!((order, lines.series[0].whiskers.len()), (vec![3.0, 2.0, 1.0], 3));
        let Chart::Bars(bars) = chart(&["naive", "qcn"]) else { panic!("bars") };
        assert_eq!((bars.groups.len(), bars.bars[0].values[1]), (2, Some((1.0, Some((0.5, 1.5))))));
        assert!(matches!(chart(&["1ms", "1KB"]), Chart::Bars(_)) && matches!(chart(&["1ms"]), Chart::Bars(_)));
    }
}
