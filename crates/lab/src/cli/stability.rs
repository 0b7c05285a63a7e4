//! `stability`: what theory says of the fluid of a scenario.

use super::arguments::Stability;
use super::check::load_or_say;
use super::console;
use super::exit::Exit;
use super::overlay::Overlay;
use super::picture::write;
use super::report;
use super::run::{cores, slug};
use lab::plot::{Axis, Colour, HorizontalLine, LineChart, MapBand, MapChart, MapLine, Quantity, Series};
use lab::report::packed_integers;
use lab::stability::{
    Analysis, BcnAnalysis, FluidPlan, Kind, Map, MapAxis, Model, Origin, Trajectory, analyse, trajectory,
};
use serde_json::{Value, json};
use std::path::Path;
use theory::stability::switched::Cycle;
use theory::stability::{Condition, Theorem3};

/// `tailback stability`
pub fn stability(arguments: &Stability) -> Exit {
    if let Err(exit) = report::possible(arguments.report) {
        return exit;
    }
    let plan = match load_or_say(&arguments.scenario) {
        Ok(plan) => plan,
        Err(exit) => return exit,
    };
    let fluid = match plan.fluid.clone().unwrap_or_else(|| FluidPlan::of(&plan)) {
        Ok(fluid) => fluid,
        Err(no) => {
            console::error(&format!("{}: {no}", arguments.scenario.file.display()));
            return Exit::BadInput;
        }
    };
    let fluid = &fluid;
    let axes: Result<Vec<MapAxis>, _> = arguments.map.iter().map(|text| MapAxis::parse(&fluid.model, text)).collect();
    let axes = match axes.map(<[MapAxis; 2]>::try_from) {
        Ok(Ok(axes)) => Some(axes),
        Ok(Err(axes)) if axes.is_empty() => None,
        Ok(Err(axes)) => {
            console::error(&format!(
                "a map has two axes, not {}\n  give --map twice, such as --map sources=1..400 --map delay=50us..300us",
                axes.len()
            ));
            return Exit::BadInput;
        }
        Err(error) => {
            console::error(&error.to_string());
            return Exit::BadInput;
        }
    };
    let analysis = match analyse(fluid) {
        Ok(analysis) => analysis,
        Err(error) => {
            console::error(&error.to_string());
            return Exit::BadInput;
        }
    };
    let threads = arguments.threads.unwrap_or_else(cores);
    let computed = axes.map(|axes| Map::compute(&fluid.model, axes, arguments.points, threads));
    let map = match computed.transpose() {
        Ok(map) => map,
        Err(error) => {
            console::error(&error.to_string());
            return Exit::BadInput;
        }
    };
    let mut pictures = Vec::new();
    let mut course = None;
    if let Some(map) = &map {
        pictures.push(("map", map_chart(fluid, map).draw()));
    }
    if arguments.trajectory {
        match trajectory(fluid, 4e3) {
            Ok(drawn) => {
                let charts = trajectory_charts(&plan.name, fluid, &analysis, &drawn);
                pictures.extend(charts.map(|(name, chart)| (name, chart.draw())));
                course = Some(drawn);
            }
            Err(error) => {
                console::error(&error.to_string());
                return Exit::BadInput;
            }
        }
    }
    let mut overlay = None;
    if arguments.packets {
        match Overlay::run(&plan, fluid, &analysis, arguments.threads.unwrap_or(1), arguments.json) {
            Ok(both) => overlay = Some(both),
            Err(message) => {
                console::error(&message);
                return Exit::BadInput;
            }
        }
    }
    if let Some(both) = &overlay {
        let charts = both.charts(&plan.name, fluid, &analysis);
        pictures.extend(charts.into_iter().map(|(name, chart)| (name, chart.draw())));
    }
    if arguments.json {
        let mut value = as_json(fluid, &analysis, map.as_ref());
        if let Some(both) = &overlay {
            value["packets"] = both.json();
        }
        console::print(&format!("{value:#}\n"));
    } else {
        console::print(&as_text(fluid, &analysis, map.as_ref()));
        console::print(&overlay.map_or_else(String::new, |both| both.text(&analysis)));
    }
    let place = Path::new("results").join(format!("{}-stability", slug(&plan.name)));
    let out = arguments.out.clone().unwrap_or(place);
    if let Err(message) = pictures.iter().try_for_each(|(name, canvas)| write(canvas, &out, name)) {
        console::error(&message);
        return Exit::Failure;
    }
    if !pictures.is_empty() {
        console::note(&format!("pictures in {}", out.display()));
    }
    if !pictures.is_empty() || arguments.report {
        let told = told(&plan.name, fluid, &analysis, map.as_ref(), course.as_ref());
        if let Err(message) = keep(&out, &told) {
            console::error(&message);
            return Exit::Failure;
        }
    }
    report::also(arguments.report, &out, Exit::Success)
}

/// Everything `--json` prints, and the map and the course themselves.
fn told(name: &str, fluid: &FluidPlan, analysis: &Analysis, map: Option<&Map>, course: Option<&Trajectory>) -> Value {
    let mut value = as_json(fluid, analysis, map);
    value["name"] = json!(name);
    if let Some(map) = map {
        // In thousandths of a degree; what is none is beyond any angle.
        let margin = |margin: &f64| {
            if margin.is_nan() { i64::from(i32::MAX) } else { (margin.to_degrees() * 1e3).round() as i64 }
        };
        value["map"]["margins_millidegrees"] = packed_integers(&map.margins.iter().map(margin).collect::<Vec<_>>());
        value["map"]["edge_of_theorem_3"] = json!(map.edge_of_theorem());
    }
    if let Some(course) = course {
        value["trajectory"] = json!({ "queue": course.queue, "rate": course.rate });
    }
    value
}

/// Writes it beside the pictures.
fn keep(out: &Path, told: &Value) -> Result<(), String> {
    let path = out.join("stability.json");
    std::fs::create_dir_all(out)
        .and_then(|()| std::fs::write(&path, format!("{told}\n")))
        .map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// A number for people: four digits that matter.
fn short(value: f64) -> String {
    if value.is_infinite() && value > 0.0 {
        return "no limit".into();
    }
    if value != 0.0 && !(1e-4..1e6).contains(&value.abs()) {
        return format!("{value:.3e}");
    }
    let before = if value.abs() >= 1.0 { value.abs().log10().floor() as i32 + 1 } else { 0 };
    let zeros = if value.abs() < 1.0 && value != 0.0 { (-value.abs().log10()).floor() as i32 } else { 0 };
    let digits = (4 - before + zeros).max(0) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn time(seconds: f64) -> String {
    if seconds.is_infinite() { "never".into() } else { console::seconds(seconds) }
}

fn verdict(stable: bool) -> &'static str {
    if stable { "stable" } else { "unstable" }
}

fn in_unit(name: &str, value: f64) -> String {
    match Kind::of(name) {
        Kind::Time => console::seconds(value),
        Kind::Rate => console::rate(value),
        Kind::Size => format!("{} B", value.round()),
        Kind::Number if value < 0.1 && value > 0.0 => format!("{} (1/{})", short(value), short(1.0 / value)),
        Kind::Number => short(value),
    }
}

fn as_text(fluid: &FluidPlan, analysis: &Analysis, map: Option<&Map>) -> String {
    let model = &fluid.model;
    let value = |name: &str| in_unit(name, model.get(name).unwrap_or(f64::NAN));
    let mut text = format!(
        "{}: {} sources on {}, loop delay {}, set point {}\n",
        model.name(),
        model.get("sources").unwrap_or(f64::NAN),
        value("capacity"),
        value("delay"),
        value("set_point")
    );
    text.push_str(&format!(
        "at rest: queue {:.0} B, {} for each source\n",
        analysis.queue,
        console::rate(analysis.rate)
    ));
    text.push_str("\nwhere the numbers come from:\n");
    let origin =
        |origin: &Origin| vec![origin.name.to_owned(), in_unit(origin.name, origin.value), origin.from.clone()];
    let rows: Vec<Vec<String>> = fluid.origins.iter().map(origin).collect();
    text.push_str(&console::table(&["", "value", "from"], &rows));
    for left in &fluid.left_out {
        text.push_str(&format!("left out: {left}\n"));
    }
    if matches!(model, Model::Bcn(_)) {
        text.push_str("\ntheorem 1: all rates that fill the link are at rest; the equal share is taken\n");
    }
    text.push_str("\nexact, with the delay:\n");
    let head = [
        "loop",
        "pole",
        "crossover",
        "phase margin",
        "gain margin",
        "critical delay",
        "root",
        "settles",
        "swings",
        "verdict",
    ];
    let row = |of: &lab::stability::LoopAnalysis| {
        let mode = of.roots.dominant();
        let pole = of.pole.map_or_else(
            || of.open_poles.iter().map(|pole| short(pole.re)).collect::<Vec<_>>().join(", "),
            |pole| format!("{pole:.1} rad/s"),
        );
        let root = mode.map_or_else(String::new, |mode| format!("{:.2} +- {:.2}j", mode.root.re, mode.root.im));
        vec![
            of.name.to_owned(),
            pole,
            of.margins.crossover.map_or_else(|| "none".into(), |crossover| format!("{crossover:.1} rad/s")),
            format!("{:.3} deg", of.margins.phase.to_degrees()),
            short(of.margins.gain),
            if of.margins.critical_delay.is_infinite() { "no limit".into() } else { time(of.margins.critical_delay) },
            match (of.roots.complete, root.is_empty()) {
                (true, _) => root,
                (false, true) => "not found".into(),
                (false, false) => format!("{root} (not proven)"),
            },
            mode.map_or_else(String::new, |mode| time(mode.settling)),
            mode.map_or_else(String::new, |mode| format!("{:.1} Hz", mode.frequency)),
            verdict(of.margins.stable).to_owned(),
        ]
    };
    text.push_str(&console::table(&head, &analysis.loops.iter().map(row).collect::<Vec<_>>()));
    if let Some(bcn) = &analysis.bcn {
        text.push_str(&bcn_text(bcn, analysis));
    }
    let (settling, frequency) = analysis.prediction();
    text.push_str(&format!("\nverdict: {} by the exact loops", verdict(analysis.stable())));
    let settles = if settling.is_finite() {
        format!("settles in {} (to 2 %)", time(settling))
    } else {
        "does not settle".to_owned()
    };
    text.push_str(&format!("; predicted: {settles}, swings at {frequency:.1} Hz\n"));
    if let Some(map) = map {
        let points = map.points * map.points;
        let part = map.stable_part() * 100.0;
        text.push_str(&format!("map of {} and {}: {points} points, {part:.1} % stable\n", map.x.name, map.y.name));
    }
    text
}

fn bcn_text(bcn: &BcnAnalysis, analysis: &Analysis) -> String {
    let mut text = String::new();
    let mut theorem = |title: String, of: &Theorem3| {
        let row = |condition: &Condition| {
            let word = if condition.holds { "holds" } else { "fails" };
            vec![
                condition.name.into(),
                condition.formula.into(),
                short(condition.left),
                short(condition.right),
                word.into(),
            ]
        };
        text.push_str(&format!("\n{title}: {}\n", if of.holds() { "holds" } else { "does not hold" }));
        let rows: Vec<Vec<String>> = of.conditions.iter().map(row).collect();
        text.push_str(&console::table(&["", "condition", "left", "right", ""], &rows));
    };
    let [a, _] = bcn.at_stated.a;
    theorem(format!("theorem 3 at a = {}, b = {:.4}", short(a), bcn.at_stated.b[0]), &bcn.at_stated);
    let (own, b) = (bcn.at_own.a, bcn.at_own.b);
    let title = format!(
        "theorem 3 at each pole's own a = {} and {}, b = {:.4} and {:.4}",
        short(own[0]),
        short(own[1]),
        b[0],
        b[1]
    );
    theorem(title, &bcn.at_own);
    match &bcn.at_common {
        Some(common) => {
            let failing: Vec<&str> = common.conditions.iter().filter(|c| !c.holds).map(|c| c.name).collect();
            let word = if failing.is_empty() { "all hold".into() } else { format!("{} fails", failing.join(", ")) };
            text.push_str(&format!("with one a for both, at most {}: {word}\n", short(common.a[0])));
        }
        None => text.push_str("no a of at least 1 is small enough for both poles\n"),
    }
    text.push_str(&format!(
        "the theorem drops the delay of the inner pole: on its edge at a = {} the exact phase margin is {:.3} deg\n",
        short(a),
        bcn.edge_phase.to_degrees()
    ));
    if bcn.at_own.holds() != analysis.stable() {
        text.push_str(&format!(
            "the theorem and the exact loops disagree here: the loops are {}\n",
            verdict(analysis.stable())
        ));
    }
    text.push_str("\ntheorem 2, the loops in turn:\n");
    let row = |name: &str, cycle: &Cycle, critical: Option<f64>| {
        let left = format!("{:.1} %", cycle.contraction * 100.0);
        vec![
            name.to_owned(),
            left,
            time(cycle.settling()),
            format!("{:.1} Hz", cycle.frequency),
            critical.map_or_else(String::new, time),
            verdict(cycle.is_stable()).into(),
        ]
    };
    let sampled = &bcn.sampled;
    let mut rows = vec![row("the theorem, without delay", &bcn.undelayed, None)];
    rows.extend(bcn.estimate.as_ref().map(|cycle| row("by the dominant roots", cycle, None)));
    rows.extend(bcn.measured.as_ref().map(|cycle| row("measured on the delayed loops", cycle, bcn.in_turn)));
    let lagging = sampled.measured.as_ref();
    rows.extend(lagging.map(|cycle| row("the same with the lag of sampling", cycle, sampled.in_turn)));
    let head = ["", "left after a cycle", "settles", "swings", "critical delay", "verdict"];
    text.push_str(&console::table(&head, &rows));
    if lagging.is_none() {
        text.push_str("with the lag of sampling there is no cycle to measure\n");
    }
    text.push_str(&format!(
        "growth is told by samples {} apart on average: with that lag the loops alone stand {} (increase) and {} \
         (decrease)\n",
        time(sampled.gap),
        time(sampled.margins[0].critical_delay),
        time(sampled.margins[1].critical_delay)
    ));
    if bcn.measured.is_none() {
        text.push_str("no swing of the delayed loops to measure\n");
    }
    if let Some(cycle) = bcn.measured.as_ref().filter(|cycle| cycle.is_stable() != analysis.stable()) {
        let (alone, together) =
            if cycle.is_stable() { ("not all stable", "settle") } else { ("stable", "do not settle") };
        text.push_str(&format!("the loops are {alone} one by one, but in turn they {together}\n"));
    }
    if !bcn.claims.is_empty() {
        text.push_str("\nwhat is stated:\n");
    }
    for claim in &bcn.claims {
        let (stated, follows) = (short(claim.stated), short(claim.follows));
        let word = if claim.agrees { "agrees" } else { "does not follow" };
        text.push_str(&format!("{}: {stated} stated, {follows} follows: {word}\n", claim.what));
        let ways: Vec<String> =
            claim.would_follow.iter().map(|(name, value)| format!("{name} = {}", in_unit(name, *value))).collect();
        if !ways.is_empty() {
            text.push_str(&format!("    {stated} would follow from {}\n", ways.join(", or ")));
        }
    }
    text
}

/// What is no number in JSON is null.
fn finite(value: f64) -> Value {
    if value.is_finite() { json!(value) } else { Value::Null }
}

fn cycle_json(cycle: &Cycle) -> Value {
    json!({
        "contraction": finite(cycle.contraction),
        "settling_s": finite(cycle.settling()),
        "frequency_hz": finite(cycle.frequency),
        "stable": cycle.is_stable(),
    })
}

fn theorem_json(of: &Theorem3) -> Value {
    let each = |condition: &Condition| {
        json!({
            "name": condition.name,
            "formula": condition.formula,
            "left": finite(condition.left),
            "right": finite(condition.right),
            "holds": condition.holds,
        })
    };
    json!({
        "a": of.a.map(finite),
        "b": of.b.map(finite),
        "holds": of.holds(),
        "conditions": of.conditions.iter().map(each).collect::<Vec<_>>(),
    })
}

fn as_json(fluid: &FluidPlan, analysis: &Analysis, map: Option<&Map>) -> Value {
    let model = &fluid.model;
    let parameters: serde_json::Map<String, Value> =
        model.names().iter().map(|name| ((*name).to_owned(), finite(model.get(name).unwrap_or(f64::NAN)))).collect();
    let origins: serde_json::Map<String, Value> =
        fluid.origins.iter().map(|origin| (origin.name.to_owned(), json!(origin.from))).collect();
    let each = |of: &lab::stability::LoopAnalysis| {
        let mode = of.roots.dominant();
        let pair = |root: theory::stability::Complex| json!([root.re, root.im]);
        json!({
            "name": of.name,
            "pole": of.pole,
            "open_loop_poles": of.open_poles.iter().map(|&pole| pair(pole)).collect::<Vec<_>>(),
            "crossover_rad_s": of.margins.crossover,
            "phase_margin_deg": finite(of.margins.phase.to_degrees()),
            "gain_margin": finite(of.margins.gain),
            "critical_delay_s": finite(of.margins.critical_delay),
            "unstable_roots": of.margins.unstable_roots,
            "roots": of.roots.found.iter().map(|&root| pair(root)).collect::<Vec<_>>(),
            "roots_complete": of.roots.complete,
            "settling_s": mode.map_or(Value::Null, |mode| finite(mode.settling)),
            "frequency_hz": mode.map_or(Value::Null, |mode| finite(mode.frequency)),
            "stable": of.margins.stable,
        })
    };
    let (settling, frequency) = analysis.prediction();
    let mut value = json!({
        "model": model.name(),
        "parameters": parameters,
        "origins": origins,
        "left_out": fluid.left_out,
        "link": fluid.bottleneck.as_ref().map(|bottleneck| bottleneck.link.clone()),
        "equilibrium": { "queue_bytes": analysis.queue, "rate_bps": analysis.rate },
        "loops": analysis.loops.iter().map(each).collect::<Vec<_>>(),
        "stable": analysis.stable(),
        "settling_s": finite(settling),
        "frequency_hz": finite(frequency),
    });
    if let Some(bcn) = &analysis.bcn {
        let claim = |claim: &theory::stability::stated::Claim| {
            let ways: serde_json::Map<String, Value> =
                claim.would_follow.iter().map(|(name, value)| ((*name).to_owned(), finite(*value))).collect();
            json!({
                "what": claim.what,
                "stated": claim.stated,
                "follows": finite(claim.follows),
                "agrees": claim.agrees,
                "would_follow_from": ways,
            })
        };
        value["theorem_2"] = json!({
            "without_delay": cycle_json(&bcn.undelayed),
            "by_dominant_roots": bcn.estimate.as_ref().map(cycle_json),
            "measured": bcn.measured.as_ref().map(cycle_json),
            "critical_delay_s": bcn.in_turn,
        });
        let sampled = &bcn.sampled;
        value["sampled"] = json!({
            "gap_s": finite(sampled.gap),
            "critical_delays_s": sampled.margins.map(|margins| finite(margins.critical_delay)),
            "phase_margins_deg": sampled.margins.map(|margins| finite(margins.phase.to_degrees())),
            "in_turn": sampled.measured.as_ref().map(cycle_json),
            "in_turn_critical_delay_s": sampled.in_turn,
        });
        value["theorem_3"] = json!({
            "at_a": theorem_json(&bcn.at_stated),
            "at_common_a": bcn.at_common.as_ref().map(theorem_json),
            "at_own_a": theorem_json(&bcn.at_own),
            "exact_phase_margin_on_the_edge_deg": finite(bcn.edge_phase.to_degrees()),
        });
        value["stated"] = json!(bcn.claims.iter().map(claim).collect::<Vec<_>>());
    }
    if let Some(map) = map {
        let axis = |axis: &MapAxis| json!({ "name": axis.name, "from": axis.from, "to": axis.to });
        value["map"] = json!({
            "x": axis(&map.x),
            "y": axis(&map.y),
            "points": map.points,
            "stable_part": map.stable_part(),
            "boundary": map.boundary(),
        });
    }
    value
}

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

fn map_chart(fluid: &FluidPlan, map: &Map) -> MapChart {
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
    chart.subtitle = format!("least of all loops, exact with the delay · {}", others.join(", "));
    (chart.columns, chart.values, chart.bands) = (map.points, map.margins.clone(), bands());
    chart.missing = "no equilibrium".into();
    chart.lines.push(MapLine { name: "edge of stability".into(), paths: map.boundary(), dashed: false });
    let edge = MapLine { name: "theorem 3, own a".into(), paths: map.edge_of_theorem(), dashed: true };
    chart.lines.push(edge);
    chart.point = Some(("this scenario".into(), value(map.x.name), value(map.y.name)));
    chart
}

/// The pictures of a trajectory, with their file names.
fn trajectory_charts(
    name: &str,
    fluid: &FluidPlan,
    analysis: &Analysis,
    drawn: &Trajectory,
) -> [(&'static str, LineChart); 2] {
    let (_, frequency) = analysis.prediction();
    let subtitle = format!(
        "{} as a fluid, {}; predicted to swing at {frequency:.1} Hz",
        fluid.model.name(),
        verdict(analysis.stable())
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
        ("fluid-queue", chart("queue", Quantity::Size, drawn.queue.clone(), ("at rest", analysis.queue))),
        ("fluid-rate", chart("rate of a source", Quantity::Rate, drawn.rate.clone(), ("fair share", analysis.rate))),
    ]
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn four_digits_matter() {
        let texts: Vec<String> =
            [0.0, 5.0, 0.015_625, 666.666_67, 1734.61, 19.2, 1.6e7, 24.992, -0.5, 99_999.6, f64::INFINITY]
                .into_iter()
                .map(short)
                .collect();
        assert_eq!(
            texts,
            ["0", "5", "0.01562", "666.7", "1735", "19.2", "1.600e7", "24.99", "-0.5", "100000", "no limit"]
        );
    }
}
