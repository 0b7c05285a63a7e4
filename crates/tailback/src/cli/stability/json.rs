//! An analysis of stability for programs.

use scenario::fluid::FluidPlan;
use serde_json::{Value, json};
use study::stability::{Analysis, Criterion, LoopAnalysis, Map, MapAxis, Verdict};
use theory::stability::switched::Cycle;
use theory::stability::{Condition, GainMargin, Theorem3};

/// What is no number in JSON is null.
fn finite(value: f64) -> Value {
    if value.is_finite() { json!(value) } else { Value::Null }
}

/// Whether there is a gain margin.
fn gain_word(margin: GainMargin) -> &'static str {
    match margin {
        GainMargin::Factor(_) => "a factor",
        GainMargin::Unlimited => "unlimited",
        GainMargin::None => "none",
    }
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

pub(super) fn as_json(fluid: &FluidPlan, analysis: &Analysis, map: Option<&Map>) -> Value {
    let model = &fluid.model;
    let parameters: serde_json::Map<String, Value> =
        model.names().iter().map(|name| ((*name).to_owned(), finite(model.get(name).unwrap_or(f64::NAN)))).collect();
    let origins: serde_json::Map<String, Value> =
        fluid.origins.iter().map(|origin| (origin.name.to_owned(), json!(origin.from))).collect();
    let each = |of: &LoopAnalysis| {
        let mode = of.roots.dominant();
        let pair = |root: theory::stability::Complex| json!([root.re, root.im]);
        json!({
            "name": of.name,
            "pole": of.pole,
            "open_loop_poles": of.open_poles.iter().map(|&pole| pair(pole)).collect::<Vec<_>>(),
            "crossover_rad_s": of.margins.crossover,
            "phase_margin_deg": finite(of.margins.phase.to_degrees()),
            "gain_margin": of.margins.gain.factor(),
            "gain_margin_is": gain_word(of.margins.gain),
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
    let (stable_by, unstable_by): (Vec<_>, Vec<_>) = analysis.criteria().into_iter().partition(|of| of.stable);
    let names = |of: Vec<Criterion>| of.into_iter().map(|of| of.name).collect::<Vec<String>>();
    let mut value = json!({
        "model": model.name(),
        "parameters": parameters,
        "origins": origins,
        "left_out": fluid.left_out,
        "link": fluid.bottleneck.as_ref().map(|bottleneck| bottleneck.link.clone()),
        "equilibrium": { "queue_bytes": analysis.queue, "rate_bps": analysis.rate },
        "loops": analysis.loops.iter().map(each).collect::<Vec<_>>(),
        "stable": analysis.verdict() == Verdict::Stable,
        "verdict": analysis.verdict().word(),
        "decided_by": analysis.decisive().name,
        "unstable_by": names(unstable_by),
        "stable_by": names(stable_by),
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
        let modes = sampled.roots.each_ref().map(|roots| roots.dominant());
        value["sampled"] = json!({
            "gap_s": finite(sampled.gap),
            "critical_delays_s": sampled.margins.map(|margins| finite(margins.critical_delay)),
            "stable": sampled.margins.map(|margins| margins.stable),
            "phase_margins_deg": sampled.margins.map(|margins| finite(margins.phase.to_degrees())),
            "settling_s": modes.map(|mode| mode.map_or(Value::Null, |mode| finite(mode.settling))),
            "frequency_hz": modes.map(|mode| mode.map_or(Value::Null, |mode| finite(mode.frequency))),
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
