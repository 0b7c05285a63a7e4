//! The charts of a figure as data, for its report.

use render::plot::{GridChart, GridLine, GridPoint};
use results::Quantity;
use scenario::{ChartKind, Group, Plan};
use serde_json::{Value, json};

fn quantity(of: &Quantity) -> &'static str {
    match of {
        Quantity::Time => "time",
        Quantity::Rate => "rate",
        Quantity::Size => "size",
        Quantity::Fraction => "fraction",
        Quantity::Plain(_) => "plain",
    }
}

/// A chart of the grid.
pub fn of_grid(chart: &GridChart) -> Value {
    let point = |point: &GridPoint| json!({ "at": point.at, "value": point.value, "interval": point.interval });
    let line =
        |line: &GridLine| json!({ "name": line.name, "points": line.points.iter().map(point).collect::<Vec<_>>() });
    json!({
        "kind": "grid",
        "title": chart.title,
        "along": chart.along,
        "x": chart.x,
        "legend": chart.legend,
        "y": chart.y.label,
        "quantity": quantity(&chart.y.quantity),
        "bars": chart.bars,
        "lines": chart.lines.iter().map(line).collect::<Vec<_>>(),
    })
}

/// The charts over time: their groups as each variant has them, given with its plan.
pub fn over_time(plans: &[(String, Plan)]) -> Vec<Value> {
    let mut charts: Vec<Value> = Vec::new();
    for (variant, plan) in plans {
        let wishes = plan.figure.charts.iter().filter(|wish| matches!(wish.kind, ChartKind::Time { .. }));
        for (place, wish) in wishes.enumerate() {
            let ChartKind::Time { picture, flows, links, window } = &wish.kind else { continue };
            if charts.len() == place {
                let window = window.unwrap_or(plan.probes.throughput_window).as_picos();
                charts.push(json!({
                    "kind": "time",
                    "title": wish.title,
                    "y": wish.y,
                    "picture": picture,
                    "window_ps": window,
                    "variants": [],
                }));
            }
            let group = |links: bool| move |group: &Group| json!({ "name": group.name, "links": links, "members": group.members });
            let groups: Vec<Value> = flows.iter().map(group(false)).chain(links.iter().map(group(true))).collect();
            let of = json!({ "variant": variant, "groups": groups });
            if let Some(variants) = charts.get_mut(place).and_then(|chart| chart["variants"].as_array_mut()) {
                variants.push(of);
            }
        }
    }
    charts
}
