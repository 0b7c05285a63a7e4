//! An analysis as its document.

use super::{Analysis, BcnAnalysis, BesideFluid, Criterion, LoopAnalysis, Map, MapAxis, StabilityVerdict, Trajectory};
use results::Packed;
use results::document::{
    self, ConditionRecord, CycleRecord, Equilibrium, MapAxisRecord, SampledLoops, SharesRecord, Stability,
    StabilityLoop, StabilityMap, StatedNumber, Theorem2, Theorem3At, TrajectoryRecord,
};
use scenario::fluid::FluidPlan;
use theory::stability::stated::Claim;
use theory::stability::switched::Cycle;
use theory::stability::{Complex, Condition, GainMargin, Mode, Roots, Theorem3};

/// Parts of an analysis that are computed on request.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parts<'a> {
    /// A map over two parameters.
    pub map: Option<&'a Map>,
    /// The fluid over time.
    pub trajectory: Option<&'a Trajectory>,
    /// The packet simulation beside the fluid.
    pub packets: Option<&'a BesideFluid>,
}

impl Analysis {
    /// Converts the analysis of a scenario's fluid model to its document.
    #[must_use]
    pub fn document(&self, name: &str, fluid: &FluidPlan, parts: &Parts<'_>) -> Stability {
        let model = &fluid.model;
        let parameter = |name: &&str| ((*name).to_owned(), model.get(name).and_then(finite));
        let (settling, frequency) = self.prediction();
        let (stable_by, unstable_by): (Vec<_>, Vec<_>) = self.criteria().into_iter().partition(|of| of.stable);
        let names = |of: Vec<Criterion>| of.into_iter().map(|of| of.name).collect::<Vec<String>>();
        let bcn = self.bcn.as_ref();
        Stability {
            files: None,
            name: name.to_owned(),
            model: model.name().to_owned(),
            parameters: model.names().iter().map(parameter).collect(),
            origins: fluid.origins.iter().map(|origin| (origin.name.to_owned(), origin.from.clone())).collect(),
            left_out: fluid.left_out.clone(),
            link: fluid.bottleneck.as_ref().map(|bottleneck| bottleneck.link.clone()),
            equilibrium: Equilibrium {
                queue_bytes: self.queue,
                rate_bps: self.rate,
                longest_queue_bytes: self.continuum,
                marking_probability: self.marking,
            },
            shares: self.shares.map(|of| SharesRecord { start: of.start, end: of.end, after_s: of.after }),
            loops: self.loops.iter().map(loop_record).collect(),
            stable: self.verdict() == StabilityVerdict::Stable,
            verdict: self.verdict().word().to_owned(),
            decided_by: self.decisive().name,
            unstable_by: names(unstable_by),
            stable_by: names(stable_by),
            settling_s: finite(settling),
            frequency_hz: finite(frequency),
            theorem_2: bcn.map(theorem_2),
            sampled: bcn.map(sampled),
            theorem_3: bcn.map(theorem_3),
            stated: bcn.map(|bcn| bcn.claims.iter().map(claim).collect()),
            map: parts.map.map(map_record),
            packets: parts.packets.map(BesideFluid::document),
            trajectory: parts
                .trajectory
                .map(|course| TrajectoryRecord { queue: course.queue.clone(), rate: course.rate.clone() }),
        }
    }
}

fn finite(value: f64) -> Option<f64> {
    Some(value).filter(|value| value.is_finite())
}

fn pairs(numbers: &[Complex]) -> Vec<(f64, f64)> {
    numbers.iter().map(|number| (number.re, number.im)).collect()
}

fn loop_record(of: &LoopAnalysis) -> StabilityLoop {
    let mode = of.roots.dominant();
    let gain_margin_is = match of.margins.gain {
        GainMargin::Factor(_) => "a factor",
        GainMargin::Unlimited => "unlimited",
        GainMargin::None => "none",
    };
    StabilityLoop {
        name: of.name.to_owned(),
        pole: of.pole,
        open_loop_poles: pairs(&of.open_poles),
        crossover_rad_s: of.margins.crossover,
        phase_margin_deg: finite(of.margins.phase.to_degrees()),
        gain_margin: of.margins.gain.factor(),
        gain_margin_is: gain_margin_is.to_owned(),
        critical_delay_s: finite(of.margins.critical_delay),
        unstable_roots: of.margins.unstable_roots,
        roots: pairs(&of.roots.found),
        roots_complete: of.roots.complete,
        settling_s: settling(mode),
        frequency_hz: oscillation(mode),
        stable: of.margins.stable,
    }
}

fn settling(mode: Option<Mode>) -> Option<f64> {
    mode.and_then(|mode| finite(mode.settling))
}

fn oscillation(mode: Option<Mode>) -> Option<f64> {
    mode.and_then(|mode| finite(mode.frequency))
}

fn cycle(of: &Cycle) -> CycleRecord {
    CycleRecord {
        contraction: finite(of.contraction),
        settling_s: finite(of.settling()),
        frequency_hz: finite(of.frequency),
        stable: of.is_stable(),
    }
}

fn theorem_2(bcn: &BcnAnalysis) -> Theorem2 {
    Theorem2 {
        without_delay: cycle(&bcn.undelayed),
        by_dominant_roots: bcn.estimate.as_ref().map(cycle),
        measured: bcn.measured.as_ref().map(cycle),
        critical_delay_s: bcn.in_turn,
    }
}

fn sampled(bcn: &BcnAnalysis) -> SampledLoops {
    let sampled = &bcn.sampled;
    let modes = sampled.roots.each_ref().map(Roots::dominant);
    SampledLoops {
        gap_s: finite(sampled.gap),
        critical_delays_s: sampled.margins.map(|margins| finite(margins.critical_delay)),
        stable: sampled.margins.map(|margins| margins.stable),
        phase_margins_deg: sampled.margins.map(|margins| finite(margins.phase.to_degrees())),
        settling_s: modes.map(settling),
        frequency_hz: modes.map(oscillation),
        in_turn: sampled.measured.as_ref().map(cycle),
        in_turn_critical_delay_s: sampled.in_turn,
    }
}

fn theorem_3(bcn: &BcnAnalysis) -> document::Theorem3 {
    document::Theorem3 {
        at_a: theorem_3_at(&bcn.at_stated),
        at_common_a: bcn.at_common.as_ref().map(theorem_3_at),
        at_own_a: theorem_3_at(&bcn.at_own),
        exact_phase_margin_on_the_edge_deg: finite(bcn.edge_phase.to_degrees()),
    }
}

fn theorem_3_at(of: &Theorem3) -> Theorem3At {
    let condition = |of: &Condition| ConditionRecord {
        name: of.name.to_owned(),
        formula: of.formula.to_owned(),
        left: finite(of.left),
        right: finite(of.right),
        holds: of.holds,
    };
    Theorem3At {
        a: of.a.map(finite),
        b: of.b.map(finite),
        holds: of.holds(),
        conditions: of.conditions.iter().map(condition).collect(),
    }
}

fn claim(of: &Claim) -> StatedNumber {
    StatedNumber {
        what: of.what.to_owned(),
        stated: of.stated,
        follows: finite(of.follows),
        agrees: of.agrees,
        would_follow_from: of.would_follow.iter().map(|(name, value)| ((*name).to_owned(), finite(*value))).collect(),
    }
}

fn map_record(map: &Map) -> StabilityMap {
    let axis = |axis: &MapAxis| MapAxisRecord { name: axis.name.to_owned(), from: axis.from, to: axis.to };
    let margin = |margin: &f64| {
        if margin.is_nan() { i64::from(i32::MAX) } else { (margin.to_degrees() * 1e3).round() as i64 }
    };
    StabilityMap {
        x: axis(&map.x),
        y: axis(&map.y),
        points: map.points,
        stable_part: map.stable_part(),
        boundary: map.boundary(),
        edge_of_theorem_3: Some(map.edge_of_theorem()),
        margins_millidegrees: Some(Packed::integers(&map.margins.iter().map(margin).collect::<Vec<_>>())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{analyse, trajectory};
    use super::*;
    use results::document::Document;
    use scenario::fluid::Model;

    #[test]
    fn an_analysis_reads_back_as_it_was_written() {
        let names = ["bcn", "qcn", "dcqcn", "timely", "patched-timely"];
        for model in names.map(|name| Model::of_the_paper(name).expect("a model")) {
            let fluid = FluidPlan::new(model);
            let analysis = analyse(&fluid).expect("an analysis");
            let axes = ["delay=50us..300us", "sources=1..100"].map(|text| MapAxis::parse(&fluid.model, text).unwrap());
            let map = Map::compute(&fluid.model, axes, 4, 1).expect("a map");
            let course = trajectory(&fluid, 20.0).expect("a course");
            let parts = Parts { map: Some(&map), trajectory: Some(&course), packets: None };
            let document = analysis.document("test", &fluid, &parts);
            let read = Stability::from_text(&document.to_text(), std::path::Path::new("stability.json"));
            assert_eq!(read.expect("as it was written"), document);
            let map = document.map.as_ref().expect("a map");
            assert_eq!(map.margins_millidegrees.as_ref().map(|packed| packed.columns[0].count), Some(16));
            // Absent parts have no key; an unlimited number is null.
            let short = document.without_points().to_json();
            assert!(short.get("packets").is_none() && short["map"].get("margins_millidegrees").is_none(), "{short:#}");
            assert_eq!(short.get("theorem_3").is_some(), analysis.bcn.is_some());
        }
    }
}
