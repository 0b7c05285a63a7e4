//! Tests of InfiniBand congestion control with its defaults: undisturbed flows are not throttled, and the link of a
//! hotspot stays busy.

use super::execute::{Options, execute};
use scenario::{Limits, NoFiles, Plan, check, load_str};
use std::sync::atomic::AtomicBool;

/// Hosts that send to h0 through one switch with credits, which take a part of the wire.
fn plan(senders: usize, rate: &str, buffer: &str, duration: &str, overrides: &[&str]) -> Plan {
    let text = format!(
        r#"
        schema_version = 1
        [network]
        topology = "single-switch"
        hosts = 9
        link = {{ rate = "{rate}", latency = "50ns" }}
        overhead = "0B"
        smallest_frame = "20B"
        [[switches]]
        flow_control = "credits"
        buffers = {{ capacity = "{buffer}" }}
        [congestion_point]
        name = "infiniband-fecn"
        [protocol]
        name = "infiniband-cc"
        [[workloads]]
        name = "flows"
        kind = "greedy"
        from = "h{{1..{senders}}}"
        to = "h0"
        frame = "2048B"
        acknowledge = {{ size = "20B" }}
        start_jitter = "1us"
        [run]
        duration = "{duration}"
        warm_up = "200us"
        [[expectations]]
        metric = "throughput"
        of = "flows"
        statistic = "sum"
        [[expectations]]
        metric = "utilisation"
        of = "sw0->h0"
        "#
    );
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    let plan = load_str("test", &text, &overrides, &NoFiles, Limits::default());
    plan.unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

/// What the flows get together, and how busy the last hop is.
fn run(plan: &Plan) -> (f64, f64) {
    let interrupt = AtomicBool::new(false);
    let options = Options { threads: 1, time_up: None, interrupt: &interrupt, record: None, capture: None };
    let values = execute(plan, &options, |_| {}).unwrap().measures.values;
    (values[0].unwrap(), values[1].unwrap())
}

const OFF: &str = "congestion_point.threshold=0";

#[test]
fn a_flow_that_meets_no_other_keeps_its_rate() {
    for (rate, duration) in [("200Gb/s", "3ms"), ("100Gb/s", "4ms"), ("8Gb/s", "30ms")] {
        for buffer in ["8KiB", "64KiB", "1MiB"] {
            let (with, _) = run(&plan(1, rate, buffer, duration, &[]));
            let (without, _) = run(&plan(1, rate, buffer, duration, &[OFF]));
            assert!(with >= 0.99 * without, "{rate}, {buffer}: {with} of {without}");
        }
    }
}

#[test]
fn the_link_of_a_hotspot_stays_busy() {
    for (rate, duration) in [("200Gb/s", "3ms"), ("8Gb/s", "30ms")] {
        for (senders, buffer) in [(2, "8KiB"), (2, "64KiB"), (8, "8KiB"), (8, "64KiB")] {
            let (_, busy) = run(&plan(senders, rate, buffer, duration, &[]));
            assert!(busy >= 0.9, "{rate}, {buffer}, {senders} senders: {busy}");
        }
    }
}

#[test]
fn a_setting_that_marks_without_congestion_is_told() {
    let told = |overrides: &[&str]| {
        let found = check(&plan(1, "200Gb/s", "64KiB", "1ms", overrides));
        let about =
            found.into_iter().filter(|finding| finding.message.starts_with("may mark a flow that shares no link"));
        about.map(|finding| (finding.message, finding.remedy)).collect::<Vec<_>>()
    };
    assert_eq!(told(&[]), []);
    assert_eq!(told(&[OFF, "congestion_point.queue=\"4KiB\""]), []);
    assert_eq!(told(&["congestion_point.queue=\"64KiB\""]), []);
    let low = told(&["congestion_point.queue=\"4KiB\""]);
    assert!(low.len() == 1 && low[0].0.contains("its queue can grow") && low[0].1.contains("raise `queue`"), "{low:?}");
    // It is so.
    let marked = plan(1, "200Gb/s", "64KiB", "3ms", &["congestion_point.queue=\"4KiB\""]);
    assert!(run(&marked).0 < 0.99 * run(&plan(1, "200Gb/s", "64KiB", "3ms", &[OFF])).0);
    // Without credit frames nothing creeps; one frame may still wait.
    let signal = "switches[0].credits={give_back=\"signal\",delay=\"20ns\"}";
    assert_eq!(told(&[signal, "congestion_point.queue=\"4KiB\""]), []);
    let tiny = told(&[signal, "congestion_point.queue=\"1KiB\""]);
    assert!(tiny.len() == 1 && tiny[0].0.contains("is below one frame"), "{tiny:?}");
    let combined = ["switches[0].queueing=\"combined\"", "switches[0].output_buffer=\"64KiB\""];
    let behind = told(&combined);
    assert!(behind.len() == 1 && behind[0].0.contains("behind the crossbar"), "{behind:?}");
}
