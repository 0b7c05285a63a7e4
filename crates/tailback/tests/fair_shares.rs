//! Max-min fair shares of the bake-off's networks, phase by phase, against those its slides state or arithmetic gives;
//! and of a link that tells classes apart, against what packets get.

use fabric::{BuildOptions, RunLimits, Simulation};
use scenario::{FairPhase, Plan, fair_phases, load};
use std::path::Path;
use units::{Span, Time};

fn plan(test: &str) -> Plan {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers/802-1au-2007").join(format!("{test}.toml"));
    load(&file, &[]).unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// The shares at an instant, in Gb/s, of the flows whose names begin so; none for those that are off.
fn shares(test: &str, millis: u64, prefix: &str) -> Vec<f64> {
    let plan = plan(test);
    let phases = fair_phases(&plan).expect("few flows");
    let phase: &FairPhase =
        phases.iter().find(|phase| phase.from <= at(millis) && at(millis) < phase.until).expect("phases without gaps");
    let named = |flow: u32| plan.flow_names.get(flow as usize).is_some_and(|name| name.starts_with(prefix));
    phase.shares.iter().filter(|share| named(share.flow)).map(|share| share.throughput / 1e9).collect()
}

#[track_caller]
fn all_are(shares: &[f64], count: usize, value: f64) {
    assert_eq!(shares.len(), count, "{shares:?}");
    // Clocks differ by 100 ppm, and so may what is left to others.
    assert!(shares.iter().all(|share| (share / value - 1.0).abs() < 5e-4), "{shares:?}");
}

#[test]
fn what_the_slides_state() {
    all_are(&shares("test3", 500, "culprits"), 4, 0.5);
    all_are(&shares("test3", 500, "victims"), 3, 7.0);
    all_are(&shares("test7", 500, "to8"), 4, 2.5);
    all_are(&shares("test7", 500, "cross"), 1, 7.5);
    all_are(&shares("test8", 500, "trunk"), 4, 2.5);
    all_are(&shares("test8", 500, "local"), 1, 7.5);
}

#[test]
fn hotspots_share_what_their_receiver_consumes() {
    let to = |test: &str, millis: u64, host: &str| -> Vec<f64> {
        let plan = plan(test);
        let phases = fair_phases(&plan).expect("few flows");
        let phase = phases.iter().find(|phase| at(millis) < phase.until).expect("a phase");
        let named =
            |flow: u32| plan.flow_names.get(flow as usize).is_some_and(|name| name.ends_with(&format!("-{host}")));
        phase.shares.iter().filter(|share| named(share.flow)).map(|share| share.throughput / 1e9).collect()
    };
    all_are(&to("test1", 150, "n1"), 9, 1.0 / 9.0);
    all_are(&to("test1", 150, "n2"), 9, 8.5 / 9.0);
    all_are(&to("test1", 105, "n1"), 9, 8.5 / 9.0);
    all_are(&to("test1", 195, "n1"), 9, 8.5 / 9.0);
    all_are(&to("test2", 500, "n7"), 9, 2.0 / 9.0);
    all_are(&to("test6", 500, "n7"), 9, 0.5 / 9.0);
    all_are(&to("test6", 500, "n9"), 9, 0.5 / 9.0);
}

#[test]
fn sources_that_are_off_have_no_share() {
    assert!(shares("test5", 50, "").is_empty());
    // On from 100 ms for 20 ms, off for 20 ms. The last starts at most 2 us later.
    all_are(&shares("test5", 110, ""), 4, 2.5);
    all_are(&shares("test5", 130, ""), 2, 5.0);
    all_are(&shares("test5", 150, ""), 4, 2.5);
    let phases = fair_phases(&plan("test5")).expect("few flows");
    assert_eq!((phases[0].from, phases[phases.len() - 1].until), (Time::ZERO, at(1000)));
    assert!(phases.windows(2).all(|pair| pair[0].until == pair[1].from));
}

#[test]
fn the_end_of_a_chain_is_shared_by_all_who_send_there() {
    for (test, switches) in [("chain7", 7), ("chain10", 10), ("chain12", 12)] {
        let share = 10.0 / f64::from(switches + 1);
        all_are(&shares(test, 500, "far"), switches as usize - 1, share);
        all_are(&shares(test, 500, "last"), 1, share);
    }
}

/// What each flow's frames get between two instants, in Gb/s.
fn simulated(plan: &Plan, from: u64, until: u64) -> Vec<f64> {
    let mut simulation = Simulation::build(&plan.spec, &BuildOptions::default()).expect("a sound network");
    let mut received = |millis: u64| -> Vec<f64> {
        simulation.run(&RunLimits::until(at(millis)));
        simulation.flows().iter().map(|flow| flow.received_bytes as f64).collect()
    };
    let (before, after) = (received(from), received(until));
    let seconds = (until - from) as f64 / 1e3;
    before.iter().zip(&after).map(|(before, after)| (after - before) * 8.0 / seconds / 1e9).collect()
}

/// Table 1 of the DCB paper: LAN, SAN and IPC have 40, 40 and 20 % of a link, or what the others leave; as computed, and as
/// packets have it.
#[test]
fn lan_san_and_ipc_have_what_packets_get() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers/dcb-2010/table1.toml");
    // In percent of the link: LAN 0, 3, 4, 5, SAN 1, 6, IPC 2, 7.
    let third = 100.0 / 3.0;
    let expected: [(&str, [f64; 8]); 4] = [
        ("groups", [10.0, 10.0, 10.0, 10.0, 20.0, 20.0, 10.0, 10.0]),
        ("groups, SAN idle", [third / 2.0, third / 2.0, third / 2.0, third / 2.0, 0.0, 0.0, third / 2.0, third / 2.0]),
        ("groups, priority within", [0.0, 0.0, 0.0, 40.0, 0.0, 40.0, 0.0, 20.0]),
        ("strict priority", [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 100.0]),
    ];
    for (variant, percent) in expected {
        let plan =
            load(&file, &[format!("variant={variant}")]).unwrap_or_else(|errors| panic!("{}", errors.render(false)));
        let phases = fair_phases(&plan).expect("few flows");
        let phase = phases.iter().find(|phase| at(5) < phase.until).expect("a phase");
        let mut shares = [0.0; 8];
        phase.shares.iter().for_each(|share| shares[share.flow as usize] = share.throughput / 1e9);
        let packets = simulated(&plan, 4, 10);
        for flow in 0..8 {
            // Frames of 1500 B and 20 B around each.
            let value = percent[flow] / 10.0 * 1500.0 / 1520.0;
            assert!((shares[flow] - value).abs() < 1e-3, "{variant}: {shares:?} against {percent:?}");
            assert!((packets[flow] - value).abs() < 0.02 * value + 1e-3, "{variant}: {packets:?} against {shares:?}");
        }
    }
}
