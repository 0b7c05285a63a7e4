//! Conversion of `[fluid]`.

use crate::fluid::{Derived, FluidPlan, Kind, Model, NoFluid, Origin, derive, whence};
use crate::plan::{Plan, Source};
use crate::resolve::{Gathered, Node};
use theory::Error;
use theory::stability::stated::{Printed, Stated};

/// Replaces the source of a default that is derived from the scenario.
const SAID: Source = Source::Default("the scenario's own protocol, congestion point and network");

/// Reads the fluid model of a section, with missing values derived from the rest of the plan. Problems of the section
/// itself are reported. A mismatch with the rest of the plan does not concern packets; it is kept for users of the
/// fluid model.
pub(crate) fn fluid(gathered: &mut Gathered<'_>, node: &Node, plan: &mut Plan) -> Option<Result<FluidPlan, NoFluid>> {
    let named = node.text("model")?;
    let derived = derive(plan).and_then(|derived| match derived.model == named {
        true => Ok(derived),
        false => Err(NoFluid {
            message: format!("the fluid model of the scenario's protocol is `{}`, not `{named}`", derived.model),
            help: "choose that model, or remove `model`".into(),
        }),
    });
    let mut model = Model::of_the_paper(&named)?;
    let mut origins = Vec::new();
    for &name in model.names() {
        let origin = if node.given(name) {
            let value = value(node, name)?;
            let entry = plan.entries.iter().find(|entry| entry.path == format!("fluid.{name}"));
            Origin { name, value, from: entry.map_or_else(String::new, whence) }
        } else if let Some(origin) = derived.as_ref().ok().and_then(|derived| derived.get(name)) {
            note(plan, name, written(name, origin.value), true);
            origin.clone()
        } else if let Some(value) = value(node, name) {
            Origin { name, value, from: format!("fluid.{name} (default)") }
        } else if let Some((value, from)) = computed(&model, name) {
            note(plan, name, written(name, value), false);
            Origin { name, value, from: from.into() }
        } else {
            return Some(Err(missing(gathered, node, name, &derived)));
        };
        model.set(name, origin.value);
        origins.push(origin);
    }
    if let Err(error) = model.check() {
        let (place, message) = match &error {
            Error::BadParameter { name, rule, .. } => (node.place_of(name), (*rule).to_owned()),
            other => (node.place, other.to_string()),
        };
        let about = if let Error::BadParameter { name, .. } = &error { *name } else { "fluid" };
        let wrong = |origin: &&Origin| origin.name == about && !node.given(about);
        if let (Some(origin), Ok(_)) = (origins.iter().find(wrong), &derived) {
            let message = format!("the fluid model is not valid: {error}; it comes from {}", origin.from);
            return Some(Err(NoFluid { message, help: format!("change it, or set another `{about}` in [fluid]") }));
        }
        gathered.refuse(place, format!("`{about}` is not valid in the fluid model"), message);
        return None;
    }
    let stated = node.table("stated").map_or_else(Stated::default, |stated| {
        let [increase_pole, decrease_pole, b] =
            ["increase_pole", "decrease_pole", "b"].map(|key| printed(gathered, stated, key));
        Stated { increase_pole, decrease_pole, b }
    });
    let start_rate = value(node, "start_rate").unwrap_or_else(|| {
        let share = model.get("capacity").unwrap_or(0.0) / model.get("sources").unwrap_or(1.0);
        let factor = match model {
            Model::Bcn(_) => 0.5,
            Model::Timely(_) => 1.0,
            Model::Qcn(_) | Model::Dcqcn(_) => 2.0,
        };
        let start = derived.as_ref().map_or(factor * share, |derived| derived.start_rate.value);
        note(plan, "start_rate", written("start_rate", start), derived.is_ok());
        start
    });
    let duration = match (node.given("duration"), &derived) {
        (false, Ok(_)) => {
            let duration = plan.run.duration;
            note(plan, "duration", format!("\"{duration}\""), true);
            duration.as_secs_f64()
        }
        _ => node.time("duration")?.as_secs_f64(),
    };
    if duration == 0.0 {
        gathered.refuse(
            node.place_of("duration"),
            "the duration of the trajectory is zero",
            "give a duration above zero",
        );
        return None;
    }
    let (left_out, bottleneck) = match derived {
        Ok(Derived { left_out, bottleneck, .. }) => (left_out, Some(bottleneck)),
        Err(_) => (Vec::new(), None),
    };
    let (a, start_queue) = (node.number("a").unwrap_or(5.0), node.size("start_queue")?.get() as f64);
    Some(Ok(FluidPlan { model, a, stated, start_rate, start_queue, duration, origins, left_out, bottleneck }))
}

/// Returns the default of a parameter that follows from others, which come before it.
fn computed(model: &Model, name: &str) -> Option<(f64, &'static str)> {
    match name {
        "max_rate" => model.get("capacity").map(|value| (value, "as capacity")),
        "reference_rtt" => model.get("t_low").map(|value| (value, "as t_low")),
        "ai_rate" if matches!(model, Model::Timely(_)) => {
            model.get("capacity").map(|rate| (rate / 1000.0, "a thousandth of capacity"))
        }
        _ => None,
    }
}

/// Returns a number with the digits given in the file.
fn printed(gathered: &Gathered<'_>, node: &Node, key: &str) -> Option<Printed> {
    let (value, place) = (node.number(key)?, node.place_of(key));
    let text = gathered.sources.get(place.source)?.text.get(place.start as usize..place.end as usize);
    text.and_then(Printed::read).or_else(|| Printed::read(&value.to_string()))
}

/// Returns a number of the section in its base unit.
fn value(node: &Node, name: &str) -> Option<f64> {
    match Kind::of(name) {
        Kind::Time => node.time(name).map(|time| time.as_secs_f64()),
        Kind::Rate => node.rate(name).map(|rate| rate.as_bits_per_sec() as f64),
        Kind::Size => node.size(name).map(|size| size.get() as f64),
        Kind::Number => node.number(name).or_else(|| node.count(name).map(|count| count as f64)),
    }
}

/// Formats a number as in a scenario.
fn written(name: &str, value: f64) -> String {
    match Kind::of(name) {
        Kind::Time => format!("\"{}\"", units::Span::from_picos((value * 1e12).round() as u64)),
        Kind::Rate => format!("\"{}\"", units::Rate::from_bits_per_sec(value.round() as u64)),
        Kind::Size => format!("\"{}\"", units::Bytes::new(value.round() as u64)),
        Kind::Number => format!("{value}"),
    }
}

/// Replaces a default by a derived value; `said` if it is derived from the rest of the scenario.
fn note(plan: &mut Plan, name: &str, text: String, said: bool) {
    let path = format!("fluid.{name}");
    if let Some(entry) = plan.entries.iter_mut().find(|entry| entry.path == path) {
        entry.value = text;
        if said {
            entry.source = SAID;
        }
    }
}

/// Reports a parameter that is neither given nor derivable.
fn missing(gathered: &Gathered<'_>, node: &Node, name: &str, derived: &Result<Derived, NoFluid>) -> NoFluid {
    let why = match derived {
        Ok(derived) => {
            let unknown = derived.unknown.iter().find(|(unknown, _)| *unknown == name);
            unknown.map_or_else(String::new, |(_, reason)| reason.clone())
        }
        Err(no) => no.message.clone(),
    };
    let (line, _) = gathered.sources.position(node.place);
    let message = format!("[fluid] in line {line} has no `{name}`, and it does not follow from the scenario: {why}");
    NoFluid { message, help: format!("add `{name} = ...` there") }
}
