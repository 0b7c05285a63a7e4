//! Simulations that are saved and go on elsewhere end like those that were not.

use crate::kit::at;
use crate::stress;
use fabric::spec::NetworkSpec;
use fabric::{BuildOptions, FlowSummary, Outcome, Partition, RunLimits, RunSummary, Simulation, Totals};
use units::{Span, Stream, Time};

const END: Span = Span::from_micros(350);

fn limits(until: Span, threads: usize) -> RunLimits<'static> {
    RunLimits { threads, inspect_every: Span::from_micros(20), ..RunLimits::until(at(until)) }
}

fn build(spec: &NetworkSpec, partition: Partition, shards: usize) -> Simulation {
    Simulation::build(spec, &BuildOptions { partition, shards, shuffle: None }).expect("it was built before")
}

/// What must not change: the outcome, when it came, the fingerprint, all sums, the events and every flow.
type End = (Outcome, Time, u64, Totals, u64, Vec<FlowSummary>);

fn end(report: RunSummary, simulation: &Simulation) -> End {
    let RunSummary { outcome, now, fingerprint, totals, events, .. } = report;
    (outcome, now, fingerprint, totals, events, simulation.flows())
}

/// Runs in so many steps, each by a simulation that was built from the description and loaded from the one before.
fn in_steps(spec: &NetworkSpec, stops: &[Span], stream: &mut Stream) -> End {
    let partition = match stream.below(3) {
        0 => Partition::One,
        1 => Partition::PerNode,
        _ => Partition::Natural,
    };
    let mut simulation = build(spec, partition, 3);
    for &stop in stops {
        simulation.run(&limits(stop, 1 + stream.below(3) as usize));
        let state = simulation.save();
        let mut other = build(spec, Partition::Explicit(simulation.partition()), simulation.shards());
        assert_eq!(other.load(&state), Some(()), "a state fits the network it is of");
        assert_eq!(other.save(), state, "nothing is lost");
        assert_eq!((other.now(), other.fingerprint()), (simulation.now(), simulation.fingerprint()));
        simulation = other;
    }
    let report = simulation.run(&limits(END, 1 + stream.below(3) as usize));
    end(report, &simulation)
}

fn resumes(base: u64, signals: bool) {
    let seeds = std::env::var("SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(40);
    let mut outcomes = [0; 2];
    for seed in base..base + seeds {
        let (spec, _) = stress::spec(seed, signals);
        let Ok(mut whole) = Simulation::build(&spec, &BuildOptions::default()) else { continue };
        let report = whole.run(&limits(END, 1));
        outcomes[usize::from(report.outcome != Outcome::Finished)] += 1;
        let whole = end(report, &whole);
        let mut stream = Stream::new(seed, 0, "stops");
        let mut stops: Vec<Span> = (0..1 + stream.below(3))
            .map(|_| match stream.below(3) {
                // Often at an inspection, which must be neither left out nor made twice.
                0 => Span::from_micros(20 * stream.below(17)),
                _ => Span::from_picos(stream.below(END.as_picos())),
            })
            // A run that has ended does not go on.
            .filter(|&stop| at(stop) < whole.1)
            .collect();
        stops.sort_unstable();
        assert_eq!(in_steps(&spec, &stops, &mut stream), whole, "seed {seed}, {stops:?}");
    }
    assert!(outcomes[0] > 20, "{outcomes:?}");
}

#[test]
fn networks_with_faults_go_on_as_if_they_had_not_stopped() {
    resumes(2_000_000, false);
}

#[test]
fn networks_with_signals_go_on_as_if_they_had_not_stopped() {
    resumes(3_000_000, true);
}

#[test]
fn a_state_of_another_network_or_a_damaged_one_is_refused_and_never_panics() {
    let specs: Vec<NetworkSpec> = (0..12).map(|seed| stress::spec(4_000_000 + seed, seed % 2 == 0).0).collect();
    let mut known: Vec<(NetworkSpec, Vec<u8>)> = Vec::new();
    for spec in specs {
        let Ok(mut simulation) = Simulation::build(&spec, &BuildOptions::default()) else { continue };
        simulation.run(&limits(Span::from_micros(60), 1));
        known.push((spec, simulation.save()));
    }
    assert!(known.len() > 6);
    let mut stream = Stream::new(1, 0, "damage");
    for (number, (spec, state)) in known.iter().enumerate() {
        let other = &known[(number + 1) % known.len()].1;
        assert_eq!(build(spec, Partition::One, 1).load(other), None, "network {number}");
        assert_eq!(build(spec, Partition::One, 1).load(&state[..state.len() - 1]), None, "network {number}");
        for _ in 0..40 {
            let mut damaged = state.clone();
            for _ in 0..1 + stream.below(3) {
                let bit = stream.below(8 * damaged.len() as u64);
                damaged[bit as usize / 8] ^= 1 << (bit % 8);
            }
            // It may fit; it may not panic, or take more memory than it has.
            let _ = build(spec, Partition::One, 1).load(&damaged);
        }
    }
}
