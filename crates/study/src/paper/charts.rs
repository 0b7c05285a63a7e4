//! The charts of a figure as data, for its document, its pictures and its report.

use super::figure::CellSummary;
use super::judged_figure::short_cell;
use results::document::{Chart, ChartGroup, ChartLine, ChartPoint, ChartVariant};
use results::{Quantity, axis_value};
use scenario::{ChartKind, ChartWish, Group, Metric, Plan, Unit};

/// Returns the index of the axis along which to draw: the first numeric axis with several values, or else the first axis.
#[must_use]
pub fn axis_to_draw(axes: &[(String, Vec<String>)]) -> Option<usize> {
    let numbers = |(_, values): &(String, Vec<String>)| {
        values.len() > 1 && values.iter().all(|value| axis_value(value).is_some())
    };
    axes.iter().position(numbers).or((!axes.is_empty()).then_some(0))
}

/// Returns the quantity in which a unit is drawn.
fn drawn_in(unit: Unit) -> Quantity {
    match unit {
        Unit::Rate => Quantity::Rate,
        Unit::Time => Quantity::Time,
        Unit::Size => Quantity::Size,
        Unit::Count | Unit::Number | Unit::Outcome => Quantity::Plain(String::new()),
    }
}

/// Returns the charts that a figure requests for its grid or, if it requests none, one of every quantity along its
/// axis. A figure of one cell has none.
pub(super) fn grid_charts(plan: &Plan, cells: &[CellSummary]) -> Vec<Chart> {
    if cells.len() < 2 {
        return Vec::new();
    }
    let wished = plan.figure.charts.iter().filter(|wish| matches!(wish.kind, ChartKind::Grid { .. }));
    let mut wishes: Vec<ChartWish> = wished.cloned().collect();
    if wishes.is_empty() {
        let numbers = plan.expectations.iter().enumerate().filter(|(_, e)| e.metric != Metric::Outcome);
        wishes.extend(numbers.map(|(place, expectation)| {
            let (quantities, along, within) = (vec![place], None, plan.figure.judged_in[place].clone());
            let kind = ChartKind::Grid { bars: false, quantities, along, within };
            ChartWish { title: expectation.name.clone(), y: None, x: None, legend: None, kind }
        }));
    }
    wishes.iter().filter_map(|wish| grid_chart(plan, cells, wish)).collect()
}

/// Returns one chart of a grid; `None` if none of its quantities was measured.
fn grid_chart(plan: &Plan, cells: &[CellSummary], wish: &ChartWish) -> Option<Chart> {
    let ChartKind::Grid { bars, quantities, along: axis, within } = &wish.kind else { return None };
    let axes = plan.axes();
    let axis = axis.clone().or_else(|| axis_to_draw(&axes).map(|place| axes[place].0.clone()))?;
    let unit = plan.expectations.get(*quantities.first()?)?.unit();
    let mut lines: Vec<ChartLine> = Vec::new();
    for &quantity in quantities {
        let called = &plan.expectations.get(quantity)?.name;
        for row in cells.iter().filter(|row| within.holds(&row.cell)) {
            let Some(summary) = row.quantities.get(quantity).copied().flatten() else { continue };
            let (on, off): (Vec<_>, Vec<_>) = row.cell.iter().cloned().partition(|(name, _)| *name == axis);
            let Some((_, at)) = on.into_iter().next() else { continue };
            // An axis of one value needs no name.
            let varies = |(name, value): &(String, String)| {
                cells
                    .iter()
                    .any(|row| within.holds(&row.cell) && row.cell.iter().any(|(other, v)| other == name && v != value))
            };
            let held: Vec<_> = off.into_iter().filter(varies).collect();
            let name = match (quantities.len(), held.is_empty()) {
                (1, false) => short_cell(&held),
                (_, true) => called.clone(),
                (_, false) => format!("{called}, {}", short_cell(&held)),
            };
            let interval = summary.interval.map(|interval| (interval.low, interval.high));
            let point = ChartPoint { at, value: summary.mean, interval };
            match lines.iter_mut().find(|line| line.name == name) {
                Some(line) => line.points.push(point),
                None => lines.push(ChartLine { name, points: vec![point] }),
            }
        }
    }
    if let Some(order) = within.of(&axis) {
        for line in &mut lines {
            line.points.sort_by_key(|point| order.iter().position(|value| *value == point.at));
        }
    }
    let first = &plan.expectations[quantities[0]].name;
    (!lines.is_empty()).then(|| Chart::Grid {
        title: wish.title.clone(),
        x: wish.x.clone().unwrap_or_else(|| axis.clone()),
        along: axis,
        legend: wish.legend.clone(),
        y: wish.y.clone().unwrap_or_else(|| first.clone()),
        quantity: drawn_in(unit).word().to_owned(),
        bars: *bars,
        lines,
    })
}

/// Returns the charts over time, with the groups of each variant, which is given with its plan.
pub(super) fn time_charts(plans: &[(String, Plan)]) -> Vec<Chart> {
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
