//! Plots of the tables of a result, as they are common in papers.

use super::axis::Axis;
use super::band_chart::{BandChart, BandRow};
use super::bar_chart::BarChart;
use super::canvas::Canvas;
use super::flows;
use super::gather::{Coverage, Entities, Entity, View, flow_names, port_names, round_span};
use super::heat_chart::{HeatChart, HeatRow};
use super::line_chart::{LineChart, Series};
use super::output::Drawn;
use fabric::record::Selection;
use results::{Picture, Quantity, Results, ResultsError};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use units::{Span, Time};

/// Options for drawing plots.
#[derive(Clone, Debug, PartialEq)]
pub struct PlotOptions {
    /// Length of the sliding window; by default a hundredth of the displayed time, and at least five samples.
    pub window: Option<Span>,
    /// Maximum number of lines or rows in a plot; the most significant ones are drawn.
    pub most: usize,
    /// The flows to draw.
    pub flows: Selection,
    /// The ports to draw.
    pub ports: Selection,
    /// Start of the time axis.
    pub from: Time,
    /// End of the time axis; the end of the run if absent.
    pub to: Option<Time>,
    /// Whether to replace files that Tailback did not write.
    pub overwrite: bool,
    /// Pixels per point in PNG files.
    pub scale: f64,
}

impl Default for PlotOptions {
    fn default() -> PlotOptions {
        let (flows, ports) = (Selection::All, Selection::All);
        PlotOptions { window: None, most: 10, flows, ports, from: Time::ZERO, to: None, overwrite: false, scale: 2.0 }
    }
}

/// A chart of any kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Chart {
    /// A line chart.
    Lines(LineChart),
    /// A band chart.
    Bands(BandChart),
    /// A bar chart.
    Bars(BarChart),
    /// A heat chart.
    Heat(HeatChart),
}

impl Chart {
    /// Draws the chart.
    #[must_use]
    pub fn draw(&self) -> Canvas {
        match self {
            Chart::Lines(chart) => chart.draw(),
            Chart::Bands(chart) => chart.draw(),
            Chart::Bars(chart) => chart.draw(),
            Chart::Heat(chart) => chart.draw(),
        }
    }
}

/// Draws one plot of a result; `None` if the table was not recorded or has nothing to show.
///
/// # Errors
/// Returns an error if a table cannot be read.
pub fn picture(results: &Results, kind: Picture, options: &PlotOptions) -> Result<Option<Chart>, ResultsError> {
    if !results.has(kind.table()) {
        return Ok(None);
    }
    let view = view(results, options);
    let drawing = Drawing { results, kind, options, view };
    match kind {
        Picture::Pauses => drawing.pauses(),
        Picture::QueueMap => drawing.queue_map(),
        Picture::Ranks => drawing.ranks(),
        Picture::CompletionTimes => {
            flows::completion_times(results, options, &drawing.title("Completion times of flows"))
        }
        Picture::Slowdowns => flows::slowdowns(results, options, &drawing.title("Slowdown of flows")),
        Picture::Throughput => drawing.lines("Throughput of flows", ("throughput", Quantity::Rate), ("bytes", 8.0)),
        Picture::Utilisation => drawing.utilisation(),
        Picture::Queues => drawing.lines("Output queues", ("queue length", Quantity::Size), ("output_bytes", 1.0)),
        Picture::Buffers => drawing.lines("Input buffers", ("occupancy", Quantity::Size), ("input_held", 1.0)),
        Picture::Occupancy => drawing.lines("Input buffers by flow", ("occupancy", Quantity::Size), ("bytes", 1.0)),
        Picture::Notices => {
            let axis = ("cumulative notices", Quantity::Plain(String::new()));
            drawing.lines("Congestion notices", axis, ("feedback", 1.0))
        }
        Picture::Rates => drawing.lines("Rate limits of flows", ("rate", Quantity::Rate), ("rate", 1.0)),
        Picture::Windows => drawing.lines("Windows of flows", ("window", Quantity::Size), ("window", 1.0)),
    }
}

/// Returns the displayed part of the time axis.
pub(super) fn view(results: &Results, options: &PlotOptions) -> View {
    let manifest = &results.manifest;
    let to = options.to.unwrap_or(Time::from_picos(manifest.simulated));
    View { from: options.from, to, sample: Span::from_picos(manifest.sample_every.unwrap_or(manifest.simulated)) }
}

/// Returns the length of the sliding window.
pub(super) fn window(view: View, options: &PlotOptions) -> Span {
    let hundredth = Span::from_picos(view.to.saturating_since(view.from).as_picos() / 100);
    let least = Span::from_picos(view.sample.as_picos().saturating_mul(5));
    options.window.unwrap_or_else(|| if hundredth > least { round_span(hundredth) } else { least })
}

/// Formats a span for a sentence: "50 µs".
pub(super) fn spoken(span: Span) -> String {
    let text = span.to_string().replace("us", "µs");
    match text.find(|letter: char| letter.is_alphabetic()) {
        Some(unit) => format!("{} {}", &text[..unit], &text[unit..]),
        None => text,
    }
}

struct Drawing<'a> {
    results: &'a Results,
    kind: Picture,
    options: &'a PlotOptions,
    view: View,
}

impl Drawing<'_> {
    fn title(&self, what: &str) -> String {
        match self.results.manifest.name.as_str() {
            "" => what.to_owned(),
            name => format!("{what} · {name}"),
        }
    }

    fn time_axis(&self) -> Axis {
        let (from, to) = self.view.seconds();
        Axis::within("time", Quantity::Time, from, to)
    }

    fn window(&self) -> Span {
        window(self.view, self.options)
    }

    fn entities(&self) -> Entities<'_> {
        let table = self.kind.table();
        let (number, class, wanted) = match self.kind {
            Picture::Occupancy => ("flow", Some("port"), &self.options.flows),
            Picture::Utilisation => ("port", None, &self.options.ports),
            Picture::Queues | Picture::QueueMap | Picture::Buffers | Picture::Pauses => {
                ("port", Some("class"), &self.options.ports)
            }
            _ => ("flow", None, &self.options.flows),
        };
        Entities { table, number, class, wanted }
    }

    /// Returns the display names of entities; the class is named if there is more than one.
    fn names(&self, chosen: &[Entity]) -> Result<Vec<String>, ResultsError> {
        let entities = self.entities();
        let names = if entities.number == "flow" { flow_names(self.results)? } else { port_names(self.results)? };
        let several = chosen.iter().any(|entity| entity.1 != chosen[0].1);
        let ports = if self.kind == Picture::Occupancy { port_names(self.results)? } else { Vec::new() };
        let name = |&(number, class): &Entity| {
            let name = usize::try_from(number).ok().and_then(|number| names.get(number).cloned());
            let name = name.unwrap_or_else(|| format!("{} {number}", entities.number));
            let name = if self.kind == Picture::Buffers { name.replacen(" to ", " from ", 1) } else { name };
            match (several, self.kind) {
                (true, Picture::Occupancy) => {
                    let port = usize::try_from(class).ok().and_then(|class| ports.get(class).cloned());
                    format!(
                        "{name} at {}",
                        port.unwrap_or_else(|| format!("port {class}")).replacen(" to ", " from ", 1)
                    )
                }
                (true, _) => format!("{name}, class {class}"),
                (false, _) => name,
            }
        };
        Ok(chosen.iter().map(name).collect())
    }

    /// One line per entity: the values of a column, times a factor.
    fn lines(
        &self,
        title: &str,
        (label, quantity): (&str, Quantity),
        (column, factor): (&str, f64),
    ) -> Result<Option<Chart>, ResultsError> {
        let entities = self.entities();
        let windowed = self.kind == Picture::Throughput;
        let weigh = if windowed { |sum: i64, value: i64| sum.saturating_add(value) } else { i64::max };
        let (chosen, more) = entities.foremost(self.results, column, self.options.most, weigh)?;
        if chosen.is_empty() {
            return Ok(None);
        }
        let counted = self.kind == Picture::Notices;
        let gathered = if counted {
            let groups: Vec<[u32; 1]> = chosen.iter().map(|entity| [entity.0 as u32]).collect();
            let groups: Vec<&[u32]> = groups.iter().map(<[u32; 1]>::as_slice).collect();
            entities.count_sums(self.results, column, (&groups, self.view))?
        } else if windowed {
            entities.windowed(self.results, column, (&chosen, self.view), self.window())?
        } else {
            // A queue is empty before its first row; a limit is not there before its own.
            let empty = matches!(self.kind, Picture::Queues | Picture::Buffers | Picture::Occupancy);
            let before = empty.then_some(0.0);
            entities.levels(self.results, column, (&chosen, self.view), before)?
        };
        let mut chart = LineChart::new(&self.title(title), self.time_axis(), Axis::new(label, quantity));
        chart.more = more;
        chart.subtitle = match windowed {
            true => format!("mean over a sliding window of {}", spoken(self.window())),
            false if counted => "counted on arrival at the source".into(),
            false => format!("sampled every {}", spoken(self.view.sample)),
        };
        for (name, mut points) in self.names(&chosen)?.into_iter().zip(gathered) {
            points.iter_mut().for_each(|point| point.1 *= factor);
            chart.series.push(if windowed { Series::straight(&name, points) } else { Series::steps(&name, points) });
        }
        Ok(Some(Chart::Lines(chart)))
    }

    /// The busiest links, one row each: lines of many links would cover each other.
    fn utilisation(&self) -> Result<Option<Chart>, ResultsError> {
        let entities = self.entities();
        let rows = self.options.most.saturating_mul(3);
        let (chosen, more) = entities.foremost(self.results, "busy", rows, |sum, value| sum.saturating_add(value))?;
        if chosen.is_empty() {
            return Ok(None);
        }
        let means = entities.windowed(self.results, "busy", (&chosen, self.view), self.window())?;
        let mut chart = HeatChart::new(&self.title("Link utilisation"), self.time_axis(), Quantity::Fraction);
        chart.subtitle = format!("mean over a sliding window of {}", spoken(self.window()));
        chart.most = Some(1.0);
        chart.more = more;
        for (name, mut points) in self.names(&chosen)?.into_iter().zip(means) {
            points.iter_mut().for_each(|point| point.1 *= 1e-12);
            chart.rows.push(HeatRow { name, points });
        }
        Ok(Some(Chart::Heat(chart)))
    }

    /// The longest queues, one row each.
    fn queue_map(&self) -> Result<Option<Chart>, ResultsError> {
        let entities = self.entities();
        let rows = self.options.most.saturating_mul(3);
        let (chosen, more) = entities.foremost(self.results, "output_bytes", rows, i64::max)?;
        if chosen.is_empty() {
            return Ok(None);
        }
        let levels = entities.levels(self.results, "output_bytes", (&chosen, self.view), Some(0.0))?;
        let mut chart = HeatChart::new(&self.title("Output queues by port"), self.time_axis(), Quantity::Size);
        chart.subtitle = format!("sampled every {}", spoken(self.view.sample));
        chart.more = more;
        let rows = self.names(&chosen)?.into_iter().zip(levels);
        chart.rows = rows.map(|(name, points)| HeatRow { name, points }).collect();
        Ok(Some(Chart::Heat(chart)))
    }

    /// When the ranks of collective operations were at work, iteration by iteration.
    fn ranks(&self) -> Result<Option<Chart>, ResultsError> {
        let batch = self.results.read(self.kind.table())?;
        let (collectives, groups, ranks) =
            (batch.integers("collective"), batch.integers("group"), batch.integers("rank"));
        let (hosts, starts, ends) = (batch.texts("host"), batch.integers("start"), batch.integers("end"));
        let several = collectives.iter().any(|&number| number != collectives[0]);
        let (low, high) = self.view.seconds();
        let mut rows: BTreeMap<(i64, i64, i64), BandRow> = BTreeMap::new();
        for row in (0..batch.len()).filter(|&row| batch.is_present(row, "start")) {
            let end = if batch.is_present(row, "end") { ends[row] as f64 * 1e-12 } else { high };
            let name = match several {
                true => format!("{} {} {}", collectives[row], ranks[row], hosts[row]),
                false => format!("{} {}", ranks[row], hosts[row]),
            };
            let rank = rows.entry((collectives[row], groups[row], ranks[row]));
            let rank = rank.or_insert_with(|| BandRow { name, note: String::new(), spans: Vec::new() });
            let (start, end) = ((starts[row] as f64 * 1e-12).max(low), end.min(high));
            if end > start {
                rank.spans.push((start, end));
            }
        }
        if rows.is_empty() {
            return Ok(None);
        }
        let mut chart = BandChart::new(&self.title("Ranks of collective operations"), self.time_axis());
        chart.subtitle = "from the first transfer of a rank to its last byte, for each iteration".into();
        let most = self.options.most.saturating_mul(4);
        chart.more = rows.len().saturating_sub(most);
        chart.rows = rows.into_values().take(most).collect();
        Ok(Some(Chart::Bands(chart)))
    }

    fn pauses(&self) -> Result<Option<Chart>, ResultsError> {
        let mut covered: BTreeMap<Entity, u64> = BTreeMap::new();
        self.each_pause(|entity, start, end| {
            *covered.entry(entity).or_insert(0) += u64::try_from(end - start).unwrap_or(0);
        })?;
        let mut ranked: Vec<(Entity, u64)> = covered.into_iter().collect();
        ranked.sort_by_key(|(_, total)| std::cmp::Reverse(*total));
        let rows = self.options.most.saturating_mul(2);
        let more = ranked.len().saturating_sub(rows);
        ranked.truncate(rows);
        let mut chosen: Vec<Entity> = ranked.into_iter().map(|(entity, _)| entity).collect();
        chosen.sort_unstable();
        if chosen.is_empty() {
            return Ok(None);
        }
        let mut bands: Vec<Coverage> = chosen.iter().map(|_| Coverage::new(self.view)).collect();
        self.each_pause(|entity, start, end| {
            if let Ok(place) = chosen.binary_search(&entity) {
                bands[place].add(start, end);
            }
        })?;
        let mut chart = BandChart::new(&self.title("Paused ports"), self.time_axis());
        chart.subtitle = "darker: paused for more of the time; right: paused part of the whole time".into();
        chart.more = more;
        let shown = self.view.to.saturating_since(self.view.from).as_picos().max(1);
        for (name, coverage) in self.names(&chosen)?.into_iter().zip(&bands) {
            let part = coverage.total as f64 / shown as f64 * 100.0;
            let note = if part < 9.95 { format!("{part:.1} %") } else { format!("{part:.0} %") };
            chart.rows.push(BandRow { name, note, spans: coverage.spans() });
        }
        Ok(Some(Chart::Bands(chart)))
    }

    fn each_pause(&self, mut take: impl FnMut(Entity, i64, i64)) -> Result<(), ResultsError> {
        // The table's time is the end of a pause.
        self.entities().visit(self.results, "start", |entity, end, start| take(entity, start, end))
    }
}

/// Draws all plots of a result as `NAME.svg` and `NAME.png` for a directory.
///
/// # Errors
/// Returns an error if a table cannot be read.
pub fn draw_plots(results: &Results, directory: &Path, options: &PlotOptions) -> Result<Drawn, ResultsError> {
    let mut drawn = Drawn::default();
    for kind in Picture::ALL {
        if let Some(chart) = picture(results, kind, options)? {
            drawn.add(&chart.draw(), (directory, kind.name()), options.scale);
        }
    }
    Ok(drawn)
}

/// Draws all plots of a result into a directory. Returns the files written.
///
/// # Errors
/// Returns an error if a table cannot be read, if a file cannot be written, or if a file exists that Tailback did not
/// write and overwriting is not permitted; nothing is written in the last case.
pub fn write_plots(results: &Results, directory: &Path, options: &PlotOptions) -> Result<Vec<PathBuf>, ResultsError> {
    let drawn = draw_plots(results, directory, options)?;
    std::fs::create_dir_all(directory).map_err(|source| ResultsError::io("create", directory, source))?;
    drawn.write(options.overwrite)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_spoken_with_their_unit() {
        assert_eq!(spoken(Span::from_micros(50)), "50 µs");
        assert_eq!(spoken(Span::from_nanos(1500)), "1.5 µs");
        assert_eq!(spoken(Span::from_millis(2)), "2 ms");
    }

    #[test]
    fn every_picture_has_a_name_of_its_own() {
        for (place, kind) in Picture::ALL.iter().enumerate() {
            assert!(Picture::ALL[..place].iter().all(|other| other.name() != kind.name()));
        }
    }
}
