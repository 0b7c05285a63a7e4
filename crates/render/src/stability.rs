//! Charts of a stability analysis: its map, its trajectory, and packets beside the fluid.

use crate::plot::{Axis, Band, Colour, HorizontalLine, LineChart, MapBand, MapChart, MapLine, Series};
use results::Quantity;
use scenario::fluid::{FluidPlan, Kind};
use study::stability::{Analysis, BesideFluid, Map, MapAxis, Trajectory};
use units::{grouped, text};

/// Returns the bands of a map: phase margins in radians, unstable ones in orange and stable ones in blue.
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

/// Returns the chart of a map.
#[must_use]
pub fn map_chart(fluid: &FluidPlan, map: &Map) -> MapChart {
    let axis = |axis: &MapAxis| Axis::within(axis.name, axis.quantity(), axis.from, axis.to);
    let name = fluid.model.name().to_uppercase();
    let mut chart = MapChart::new(&format!("Phase margin of {name}"), axis(&map.x), axis(&map.y));
    let others = ["sources", "capacity", "delay"].into_iter().filter(|name| *name != map.x.name && *name != map.y.name);
    let value = |name: &str| fluid.model.get(name).unwrap_or(f64::NAN);
    let others: Vec<String> = others
        .map(|name| match Kind::of(name) {
            Kind::Number => format!("{name} {}", value(name)),
            Kind::Time => format!("{name} {}", text::seconds(value(name))),
            Kind::Rate => format!("{name} {}", text::rate(value(name))),
            Kind::Size => format!("{name} {} B", grouped(value(name).round() as u64)),
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

/// Returns the charts of a trajectory, with their file names.
#[must_use]
pub fn trajectory_charts(
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

/// Returns the charts of packets beside the fluid, with their file names.
#[must_use]
pub fn beside_charts(
    name: &str,
    fluid: &FluidPlan,
    analysis: &Analysis,
    both: &BesideFluid,
) -> Vec<(&'static str, LineChart)> {
    let duration = both.window.1;
    let (_, frequency) = analysis.prediction();
    let measured =
        both.oscillation().map_or_else(|| "no oscillation".into(), |peak| format!("{:.1} Hz", peak.frequency));
    let subtitle = format!(
        "{}, loop delay {}; {frequency:.1} Hz predicted, {measured} measured",
        fluid.model.name(),
        text::seconds(fluid.model.delay())
    );
    let chart = |title: &str, quantity: Quantity, samples: &[f64], drawn: Vec<(f64, f64)>, (line, at): (&str, f64)| {
        let x = Axis::within("time", Quantity::Time, 0.0, duration);
        let mut chart = LineChart::new(&format!("{name}: {title}"), x, Axis::new(title, quantity));
        chart.subtitle = subtitle.clone();
        let points = (0..).zip(samples).map(|(at, &value)| (f64::from(at) * both.packets.spacing, value));
        chart.series.push(Series::steps("packets", points.collect()));
        chart.series.push(Series::straight("fluid", drawn));
        chart.lines.push(HorizontalLine { name: line.to_owned(), at });
        chart
    };
    let sources = fluid.model.get("sources").unwrap_or(1.0);
    let capacity = fluid.model.get("capacity").unwrap_or(f64::NAN);
    let total = both.fluid.rate.iter().map(|&(time, rate)| (time, rate * sources)).collect();
    let aim = fluid.model.get("set_point").map_or(("equilibrium", analysis.queue), |queue| ("set point", queue));
    let mut charts = vec![
        ("overlay-queue", chart("queue", Quantity::Size, &both.packets.queue, both.fluid.queue.clone(), aim)),
        ("overlay-rate", chart("total rate", Quantity::Rate, &both.packets.rate, total, ("capacity", capacity))),
    ];
    charts.extend(spectra(both, name, &subtitle, frequency).map(|chart| ("overlay-spectrum", chart)));
    charts
}

/// Returns the spectra of both queues, as deviation per root of a hertz.
fn spectra(both: &BesideFluid, name: &str, subtitle: &str, predicted: f64) -> Option<LineChart> {
    let most = (4.0 * predicted.max(both.queue[0].as_ref()?.peak.map_or(0.0, |peak| peak.frequency))).max(1.0);
    let x = Axis::within("frequency", Quantity::Plain("Hz".into()), 0.0, most);
    let y = Axis::new("queue, B per sqrt(Hz)", Quantity::Plain(String::new()));
    let mut chart = LineChart::new(&format!("{name}: spectrum of the queue"), x, y);
    chart.subtitle = subtitle.to_owned();
    for (of, seen) in ["packets", "fluid"].into_iter().zip(&both.queue) {
        let Some(spectrum) = seen.as_ref().and_then(|seen| seen.spectrum.as_ref()) else { continue };
        let lines =
            (0..spectrum.lines.len()).map(|line| (line as f64 * spectrum.spacing, spectrum.density(line).sqrt()));
        chart.series.push(Series::straight(of, lines.take_while(|(at, _)| *at <= most).collect()));
    }
    let half = 0.004 * most;
    chart.bands.push(Band { name: "predicted".into(), from: predicted - half, to: predicted + half });
    Some(chart)
}
