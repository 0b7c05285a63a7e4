//! The pictures of an analysis of stability.

use super::text::in_unit;
use render::plot::{Axis, Colour, HorizontalLine, LineChart, MapBand, MapChart, MapLine, Series};
use results::Quantity;
use scenario::fluid::{FluidPlan, Kind};
use study::stability::{Analysis, Map, MapAxis, Trajectory};

/// The bands of a map: phase margins in radians, unstable ones in orange and stable ones in blue.
fn bands() -> Vec<MapBand> {
    let band = |name: &str, degrees: f64, colour| MapBand { name: name.into(), from: degrees.to_radians(), colour };
    vec![
        band("unstable, below -30°", f64::NEG_INFINITY, Colour(166, 54, 3)),
        band("unstable, -30° to -10°", -30.0, Colour(230, 107, 25)),
        band("unstable, -10° to 0°", -10.0, Colour(253, 190, 133)),
        band("stable, 0° to 5°", 0.0, Colour(222, 235, 247)),
        band("stable, 5° to 15°", 5.0, Colour(158, 202, 225)),
        band("stable, 15° to 30°", 15.0, Colour(107, 174, 214)),
        band("stable, 30° to 60°", 30.0, Colour(49, 130, 189)),
        band("stable, 60° and more", 60.0, Colour(8, 81, 156)),
    ]
}

pub(super) fn map_chart(fluid: &FluidPlan, map: &Map) -> MapChart {
    let axis = |axis: &MapAxis| Axis::within(axis.name, axis.quantity(), axis.from, axis.to);
    let name = fluid.model.name().to_uppercase();
    let mut chart = MapChart::new(&format!("Phase margin of {name}"), axis(&map.x), axis(&map.y));
    let others = ["sources", "capacity", "delay"].into_iter().filter(|name| *name != map.x.name && *name != map.y.name);
    let value = |name: &str| fluid.model.get(name).unwrap_or(f64::NAN);
    let others: Vec<String> = others
        .map(|name| match Kind::of(name) {
            Kind::Number => format!("{name} {}", value(name)),
            _ => format!("{name} {}", in_unit(name, value(name))),
        })
        .collect();
    chart.subtitle = format!("minimum over all loops, delay included exactly · {}", others.join(", "));
    (chart.columns, chart.values, chart.bands) = (map.points, map.margins.clone(), bands());
    chart.missing = "no equilibrium".into();
    chart.lines.push(MapLine { name: "stability boundary".into(), paths: map.boundary(), dashed: false });
    let edge = MapLine { name: "theorem 3, own a".into(), paths: map.edge_of_theorem(), dashed: true };
    chart.lines.push(edge);
    chart.point = Some(("this scenario".into(), value(map.x.name), value(map.y.name)));
    chart
}

/// The pictures of a trajectory, with their file names.
pub(super) fn trajectory_charts(
    name: &str,
    fluid: &FluidPlan,
    analysis: &Analysis,
    drawn: &Trajectory,
) -> [(&'static str, LineChart); 2] {
    let (_, frequency) = analysis.prediction();
    let subtitle = format!(
        "fluid model {}, {}; predicted oscillation frequency {frequency:.1} Hz",
        fluid.model.name(),
        analysis.verdict().word()
    );
    let chart = |title: &str, quantity: Quantity, points, (line, at): (&str, f64)| {
        let x = Axis::within("time", Quantity::Time, 0.0, fluid.duration);
        let mut chart = LineChart::new(&format!("{name}: {title}"), x, Axis::new(title, quantity));
        chart.subtitle = subtitle.clone();
        chart.series.push(Series::straight("", points));
        chart.lines.push(HorizontalLine { name: line.to_owned(), at });
        chart
    };
    [
        ("fluid-queue", chart("queue", Quantity::Size, drawn.queue.clone(), ("equilibrium", analysis.queue))),
        ("fluid-rate", chart("rate of a source", Quantity::Rate, drawn.rate.clone(), ("fair share", analysis.rate))),
    ]
}
