//! Plots of one run over time with flows or links summed by group.

use super::axis::Axis;
use super::gather::Entities;
use super::line_chart::{LineChart, Series};
use super::pictures::{Chart, PlotOptions, spoken, view, window};
use fabric::record::schema::{self, Table};
use results::{Picture, Quantity, Results, ResultsError};

/// Flows or ports that are shown as one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineGroup {
    /// Name in the legend.
    pub name: String,
    /// Whether the members are ports instead of flows.
    pub links: bool,
    /// Numbers of the members in the results, in ascending order.
    pub members: Vec<u32>,
}

/// Location of the values of a group: table, key column, value column, and factor.
type Place = (&'static Table, &'static str, &'static str, f64);

fn place(kind: Picture, links: bool) -> Option<Place> {
    Some(match (kind, links) {
        (Picture::Throughput, false) => (&schema::FLOW_SAMPLES, "flow", "bytes", 8.0),
        (Picture::Throughput, true) => (&schema::LINKS, "port", "bytes", 8.0),
        (Picture::Utilisation, true) => (&schema::LINKS, "port", "busy", 1e-12),
        (Picture::Occupancy, false) => (&schema::OCCUPANCY, "flow", "bytes", 1.0),
        (Picture::Notices, false) => (&schema::NOTICES, "flow", "feedback", 1.0),
        (Picture::Rates, false) => (&schema::RATES, "flow", "rate", 1.0),
        (Picture::Windows, false) => (&schema::RATES, "flow", "window", 1.0),
        (Picture::Queues, true) => (&schema::QUEUES, "port", "output_bytes", 1.0),
        (Picture::Buffers, true) => (&schema::QUEUES, "port", "input_held", 1.0),
        _ => return None,
    })
}

/// Draws groups of flows and links, each as the sum of its members, or as their mean for utilisation. Returns `None` if
/// nothing was recorded or the plot has no such groups.
///
/// # Errors
/// Returns an error if a table cannot be read.
pub fn grouped(
    results: &Results,
    kind: Picture,
    (title, label): (&str, &str),
    groups: &[LineGroup],
    options: &PlotOptions,
) -> Result<Option<Chart>, ResultsError> {
    let view = view(results, options);
    let quantity = match kind {
        Picture::Throughput | Picture::Rates => Quantity::Rate,
        Picture::Utilisation => Quantity::Fraction,
        Picture::Notices => Quantity::Plain(String::new()),
        // Neither has lines over time to group.
        Picture::CompletionTimes | Picture::Slowdowns | Picture::QueueMap | Picture::Ranks => return Ok(None),
        Picture::Queues | Picture::Buffers | Picture::Occupancy | Picture::Windows | Picture::Pauses => Quantity::Size,
    };
    let windowed = matches!(kind, Picture::Throughput | Picture::Utilisation);
    let (from, to) = view.seconds();
    let mut chart = LineChart::new(title, Axis::within("time", Quantity::Time, from, to), Axis::new(label, quantity));
    chart.subtitle = match windowed {
        true => format!("mean over a sliding window of {}", spoken(window(view, options))),
        false if kind == Picture::Notices => "counted on arrival at the source".into(),
        false => format!("sampled every {}", spoken(view.sample)),
    };
    for links in [false, true] {
        let chosen: Vec<&LineGroup> = groups.iter().filter(|group| group.links == links).collect();
        let members: Vec<&[u32]> = chosen.iter().map(|group| group.members.as_slice()).collect();
        let Some((table, number, column, factor)) = place(kind, links) else { continue };
        if chosen.is_empty() || !results.has(table) {
            continue;
        }
        let class = match kind {
            Picture::Queues | Picture::Buffers => Some("class"),
            Picture::Occupancy => Some("port"),
            _ => None,
        };
        let wanted = fabric::record::Selection::only(members.concat());
        let entities = Entities { table, number, class, wanted: &wanted };
        let lines = if kind == Picture::Notices {
            entities.count_sums(results, column, (&members, view))?
        } else if windowed {
            entities.windowed_sums(results, column, (&members, view), window(view, options))?
        } else {
            let before = matches!(kind, Picture::Queues | Picture::Buffers | Picture::Occupancy).then_some(0.0);
            entities.level_sums(results, column, (&members, view), before)?
        };
        for (group, mut points) in chosen.into_iter().zip(lines) {
            let share = if kind == Picture::Utilisation { group.members.len().max(1) as f64 } else { 1.0 };
            points.iter_mut().for_each(|point| point.1 *= factor / share);
            let line = if windowed { Series::straight } else { Series::steps };
            chart.series.push(line(&group.name, points));
        }
    }
    let empty = chart.series.iter().all(|series| series.points.is_empty());
    Ok((!empty).then_some(Chart::Lines(chart)))
}
