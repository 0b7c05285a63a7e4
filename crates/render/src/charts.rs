//! The charts of a figure as data, for its document and its report.

use crate::plot::{GridChart, GridLine, GridPoint};
use results::Quantity;
use results::document::{Chart, ChartGroup, ChartLine, ChartPoint, ChartVariant};
use scenario::{ChartKind, Group, Plan};

fn quantity(of: &Quantity) -> &'static str {
    match of {
        Quantity::Time => "time",
        Quantity::Rate => "rate",
        Quantity::Size => "size",
        Quantity::Fraction => "fraction",
        Quantity::Plain(_) => "plain",
    }
}

/// Converts a chart of the grid.
#[must_use]
pub fn of_grid(chart: &GridChart) -> Chart {
    let point = |point: &GridPoint| ChartPoint { at: point.at.clone(), value: point.value, interval: point.interval };
    let line = |line: &GridLine| ChartLine { name: line.name.clone(), points: line.points.iter().map(point).collect() };
    Chart::Grid {
        title: chart.title.clone(),
        along: chart.along.clone(),
        x: chart.x.clone(),
        legend: chart.legend.clone(),
        y: chart.y.label.clone(),
        quantity: quantity(&chart.y.quantity).to_owned(),
        bars: chart.bars,
        lines: chart.lines.iter().map(line).collect(),
    }
}

/// Returns the charts over time, with the groups of each variant, which is given with its plan.
#[must_use]
pub fn over_time(plans: &[(String, Plan)]) -> Vec<Chart> {
    let mut charts: Vec<Chart> = Vec::new();
    for (variant, plan) in plans {
        let wishes = plan.figure.charts.iter().filter(|wish| matches!(wish.kind, ChartKind::Time { .. }));
        for (place, wish) in wishes.enumerate() {
            let ChartKind::Time { picture, flows, links, window } = &wish.kind else { continue };
            if charts.len() == place {
                charts.push(Chart::Time {
                    title: wish.title.clone(),
                    y: wish.y.clone(),
                    picture: picture.clone(),
                    window_ps: window.unwrap_or(plan.probes.throughput_window).as_picos(),
                    variants: Vec::new(),
                });
            }
            let group = |links: bool| {
                move |group: &Group| ChartGroup { name: group.name.clone(), links, members: group.members.clone() }
            };
            let groups = flows.iter().map(group(false)).chain(links.iter().map(group(true))).collect();
            if let Some(Chart::Time { variants, .. }) = charts.get_mut(place) {
                variants.push(ChartVariant { variant: variant.clone(), groups });
            }
        }
    }
    charts
}
