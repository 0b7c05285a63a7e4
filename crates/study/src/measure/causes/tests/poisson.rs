//! Poisson arrivals at one output: every wait is that of a queue computed without a simulator, to the picosecond and by flow, and
//! the means of that queue are those of theory within their confidence intervals.
//!
//! The two steps are apart because they need different things. What is charged is exact, so few frames show it. A mean over
//! random arrivals is not: successive waits depend on each other, and in heavy traffic the mean of n waits in M/D/1 has a relative
//! standard error of about sqrt(2 / n) / (1 - rho) (reflected Brownian motion with the variance 1 of Poisson arrivals: Whitt,
//! Management Science 35, 1989). At a load of 0.8 that is 3.5 % for 40,000 frames, more than half of a tolerance of 7 %; so
//! the means are taken over many seeds, and their spread gives the interval.

use super::queue::{Frame, serve, waits};
use super::*;

/// The time of a frame on the output's wire in picoseconds, and on the source's, which is a thousand times faster.
const SERVICE: u64 = 800_000;
const SOURCE: u64 = 800;
/// From the start of a frame at its source to its arrival at the output.
const WAY: u64 = SOURCE + 100_000;
/// Frames at the beginning, when the queue is still short, that do not count in a mean: many relaxation times.
const WARM_UP: usize = 4000;
const SEEDS: u64 = 20;
/// Student's t for 19 degrees of freedom and a two-sided confidence of 99.9 %.
const STUDENT: f64 = 3.883;

/// Frames of single-frame flows that arrive at random for one output, by class.
fn network(loads: &[f64], frames: usize, seed: u64) -> Plan {
    let mut text = String::from(
        "schema_version = 1\n[network]\noverhead = \"0B\"\nlink = { rate = \"10Gb/s\", latency = \"100ns\" }\n[[network.nodes]]\nnames = [\"a\", \"b\"]\nrole = \"host\"\n\
         [[network.nodes]]\nnames = [\"s\"]\nrole = \"switch\"\n[[network.links]]\nbetween = [\"a\", \"s\"]\n\
         rate = \"10Tb/s\"\n[[network.links]]\nbetween = [\"s\", \"b\"]\n[[switches]]\nflow_control = \"none\"\nbuffers = { capacity = \"100MB\" }\n",
    );
    for class in 0..loads.len() {
        text.push_str(&format!("[[classes]]\nname = \"c{class}\"\nlossless = false\n"));
    }
    for (class, load) in loads.iter().enumerate() {
        let gap = gap(*load);
        text.push_str(&format!(
            "[[workloads]]\nname = \"c{class}\"\nkind = \"poisson-flows\"\nfrom = \"a\"\nto = \"b\"\nclass = \"c{class}\"\n\
             frame = \"1000B\"\nflow_size = \"1000B\"\nmean_gap = \"{gap}ns\"\n"
        ));
    }
    let duration = SERVICE as f64 * frames as f64 / loads.iter().sum::<f64>() / 1e6;
    text.push_str(&format!("[run]\nseed = {seed}\nduration = \"{duration:.0}us\"\n"));
    plan(&text)
}

/// The mean gap between frames of a load in nanoseconds, and the load that this gap is.
fn gap(load: f64) -> u64 {
    (SERVICE as f64 / load / 1e3).round() as u64
}

fn load_of(load: f64) -> f64 {
    SERVICE as f64 / 1e3 / gap(load) as f64
}

/// The frames of a plan in order of arrivals at the output, with their flows. Those that start at about the same time follow each
/// other at the source.
fn arrivals(plan: &Plan) -> (Vec<u32>, Vec<Frame>) {
    let flows = &plan.spec.flows;
    let mut order: Vec<u32> = (0..flows.len() as u32).collect();
    order.sort_by_key(|&flow| (flows[flow as usize].start, flow));
    let mut free = 0;
    let mut frame = |&flow: &u32| {
        let flow = &flows[flow as usize];
        let sent = flow.start.as_picos().max(free);
        free = sent + SOURCE;
        Frame { arrival: sent + WAY, class: flow.class, start: 0 }
    };
    let frames = order.iter().map(&mut frame).collect();
    (order, frames)
}

/// Every flow is charged the waits of the reference, flow by flow.
fn assert_charges(loads: &[f64], frames: usize) {
    let run = run(network(loads, frames, 7));
    run.assert_conserved();
    let (flows, mut frames) = arrivals(&run.plan);
    let order = serve(&mut frames, SERVICE);
    let output = run.port("s -> b");
    let mut complete = 0;
    for (place, &frame) in order.iter().enumerate() {
        let Some(causes) = run.causes.iter().find(|causes| causes.flow == flows[frame] && causes.complete) else {
            continue;
        };
        let mut expected: Vec<(u32, u64)> =
            waits(&frames, &order, place, SERVICE).map(|(other, span)| (flows[other], span)).collect();
        expected.sort_unstable();
        let at_output = |key: &super::super::ledger::Key| key.cause == Cause::Contention && key.port == output;
        let mut charged: Vec<(u32, u64)> =
            causes.ledger.iter().filter(|(key, _)| at_output(key)).map(|(key, span)| (key.by, span)).collect();
        charged.sort_unstable();
        assert_eq!(charged, expected, "{} at loads {loads:?}", run.name(causes.flow));
        complete += 1;
    }
    assert!(complete + 200 > order.len(), "{complete} of {}", order.len());
    // Nothing else delays a flow.
    let other = |flow: &&FlowCauses| {
        flow.complete && flow.share(|key| !matches!(key.cause, Cause::Path | Cause::Contention)) > 0.0
    };
    assert_eq!(run.causes.iter().filter(other).count(), 0);
}

#[test]
fn waits_of_poisson_arrivals_are_charged_to_the_flows_in_front_to_the_picosecond() {
    for load in [0.3, 0.5, 0.7, 0.8, 0.9] {
        assert_charges(&[load], 12_000);
    }
    assert_charges(&[0.4, 0.35], 12_000);
}

/// The mean waits of a class for frames of a class, in services, over all frames of the class: for each pair of classes a mean
/// for each seed.
fn means(loads: &[f64], frames: usize) -> BTreeMap<(u8, u8), Vec<f64>> {
    let mut means: BTreeMap<(u8, u8), Vec<f64>> = BTreeMap::new();
    for seed in 0..SEEDS {
        let (_, mut frames) = arrivals(&network(loads, frames, seed));
        let order = serve(&mut frames, SERVICE);
        let (mut sums, mut counts) = ([[0u64; 2]; 2], [0u64; 2]);
        for place in (0..order.len()).filter(|&place| order[place] >= WARM_UP) {
            let class = frames[order[place]].class;
            counts[usize::from(class)] += 1;
            for (other, span) in waits(&frames, &order, place, SERVICE) {
                sums[usize::from(class)][usize::from(frames[other].class)] += span;
            }
        }
        for (of, by) in (0..loads.len()).flat_map(|of| (0..loads.len()).map(move |by| (of, by))) {
            let mean = sums[of][by] as f64 / SERVICE as f64 / counts[of] as f64;
            means.entry((of as u8, by as u8)).or_default().push(mean);
        }
    }
    means
}

/// Theory lies within the confidence interval of the mean over the seeds, and the interval is narrow.
fn assert_theory(what: &str, means: &[f64], theory: f64) {
    let count = means.len() as f64;
    let mean = means.iter().sum::<f64>() / count;
    let variance = means.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let half = STUDENT * (variance / count).sqrt();
    assert!((mean - theory).abs() <= half, "{what}: {mean} +- {half}, in theory {theory}");
    assert!(half < 0.06 * theory, "{what}: {mean} +- {half} proves little of {theory}");
}

/// M/D/1: rho / 2(1 - rho) services on average (Pollaczek and Khinchine).
#[test]
fn the_mean_wait_of_poisson_arrivals_is_that_of_m_d_1_at_loads_up_to_nine_tenths() {
    for load in [0.3, 0.5, 0.7, 0.8, 0.9] {
        let rho = load_of(load);
        assert_theory(&format!("load {load}"), &means(&[load], 40_000)[&(0, 0)], rho / (2.0 * (1.0 - rho)));
    }
}

/// Strict priority (Cobham 1954): of N classes, class k waits R / (1 - s(k - 1))(1 - s(k)), where R is the mean rest of the frame
/// on the wire, rho / 2 services, and s(k) the load of classes up to k. By Little's law and PASTA, the part of this wait that
/// is due to each class is known, too: the rest of its frame on the wire, its frames in front, and those that overtake.
#[test]
fn mean_waits_with_strict_priority_are_those_of_cobham_for_each_pair_of_classes() {
    // The last class is the most urgent.
    let loads = [0.4, 0.35];
    let [low, high] = loads.map(load_of);
    let means = means(&loads, 40_000);
    let rest = (low + high) / 2.0;
    let of_high = rest / (1.0 - high);
    let of_low = rest / ((1.0 - high) * (1.0 - high - low));
    // A frame of the higher class waits for one of the lower only if that is on the wire.
    assert_theory("high by low", &means[&(1, 0)], low / 2.0);
    assert_theory("high by high", &means[&(1, 1)], of_high - low / 2.0);
    // One of the lower waits for the rest of its own class and for those of it in front.
    let by_low = low / 2.0 + low * of_low;
    assert_theory("low by low", &means[&(0, 0)], by_low);
    assert_theory("low by high", &means[&(0, 1)], of_low - by_low);
}
