//! `[fluid]`.

use crate::scenario::resolve::{Gathered, Node};
use crate::stability::{FluidPlan, Model};
use theory::Error;
use theory::fluid::{Bcn, Qcn};
use theory::stability::stated::Stated;

/// The fluid of a scenario, if it has one; what is wrong with it is told.
pub(crate) fn fluid(gathered: &mut Gathered<'_>, root: &Node) -> Option<FluidPlan> {
    let node = root.table("fluid")?;
    let rate = |key: &str| node.rate(key).map(|rate| rate.as_bits_per_sec() as f64);
    let size = |key: &str| node.size(key).map(|size| size.get() as f64);
    let time = |key: &str| node.time(key).map(|time| time.as_secs_f64());
    let (sources, capacity, delay) = (node.count("sources")? as f64, rate("capacity")?, time("delay")?);
    let max_rate = rate("max_rate").unwrap_or(capacity);
    if let (Some(capacity), false) = (node.rate("capacity"), node.given("max_rate")) {
        gathered.computed(&node.path, "max_rate", format!("\"{capacity}\""));
    }
    let (set_point, weight, frame, buffer) =
        (size("set_point")?, node.number("weight")?, size("frame")?, size("buffer")?);
    let (min_rate, min_dec_factor) = (rate("min_rate")?, node.number("min_dec_factor")?);
    let model = match node.text("model")?.as_str() {
        "bcn" => Model::Bcn(Bcn {
            sources,
            capacity,
            delay,
            set_point,
            weight,
            probability: node.number("probability")?,
            increase_gain: node.number("increase_gain")?,
            decrease_gain: node.number("decrease_gain")?,
            rate_unit: rate("rate_unit")?,
            frame,
            buffer,
            min_rate,
            max_rate,
            min_dec_factor,
        }),
        _ => Model::Qcn(Qcn {
            sources,
            capacity,
            delay,
            set_point,
            weight,
            sample_base: size("sample_base")?,
            gd: node.number("gd")?,
            byte_reset: size("byte_reset")?,
            time_reset: time("time_reset")?,
            threshold: node.count("threshold")? as f64,
            ai_rate: rate("ai_rate")?,
            frame,
            buffer,
            min_rate,
            max_rate,
            min_dec_factor,
            noise: node.number("noise")?,
        }),
    };
    if let Err(error) = model.check() {
        let (place, message) = match &error {
            Error::BadParameter { name, rule, .. } => (node.place_of(name), (*rule).to_owned()),
            other => (node.place, other.to_string()),
        };
        let about = if let Error::BadParameter { name, .. } = &error { *name } else { "fluid" };
        gathered.refuse(place, format!("`{about}` makes no fluid model"), message);
        return None;
    }
    let stated = node.table("stated").map_or_else(Stated::default, |stated| Stated {
        increase_pole: stated.number("increase_pole"),
        decrease_pole: stated.number("decrease_pole"),
        b: stated.number("b"),
    });
    let start_rate = rate("start_rate").unwrap_or_else(|| {
        let factor = if matches!(model, Model::Bcn(_)) { 0.5 } else { 2.0 };
        let start = units::Rate::from_bits_per_sec((factor * capacity / sources) as u64);
        gathered.computed(&node.path, "start_rate", format!("\"{start}\""));
        start.as_bits_per_sec() as f64
    });
    let (start_queue, duration) = (size("start_queue")?, time("duration")?);
    if duration == 0.0 {
        gathered.refuse(node.place_of("duration"), "a trajectory of no time", "give a duration above zero");
        return None;
    }
    Some(FluidPlan { model, a: node.number("a").unwrap_or(5.0), stated, start_rate, start_queue, duration })
}
