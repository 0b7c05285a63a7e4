//! Waits that are known from theory.

use super::super::ledger::Key;
use super::*;

/// Two flows of the same size into one output.
fn two(classes: &str, low: &str, high: &str) -> Run {
    let text = format!(
        r#"
        schema_version = 1
        [network]
        topology = "single-switch"
        hosts = 3
        link = {{ rate = "10Gb/s", latency = "500ns" }}
        {classes}
        [[switches]]
        flow_control = "pfc"
        buffers = {{ capacity = "2MB" }}
        [[workloads]]
        name = "low"
        kind = "greedy"
        from = "h0"
        to = "h2"
        size = "150KB"
        {low}
        [[workloads]]
        name = "high"
        kind = "greedy"
        from = "h1"
        to = "h2"
        size = "150KB"
        {high}
        [run]
        duration = "1ms"
        "#
    );
    run(plan(&text))
}

/// A frame of 1500 B with 20 B of overhead at 10 Gb/s.
const FRAME: u64 = 1_216_000;

#[test]
fn strict_priority_charges_the_wait_to_the_higher_class() {
    let classes = "[[classes]]\nname = \"low\"\n[[classes]]\nname = \"high\"";
    let run = two(classes, "class = \"low\"", "class = \"high\"");
    run.assert_conserved();
    let (low, high, out) = (run.of("low"), run.of("high"), run.port("sw0 -> h2"));
    let contention = |flow: &FlowCauses, by: u32| {
        let at = |key: &Key| key.cause == Cause::Contention && key.port == out && key.by == by;
        flow.ledger.iter().filter(|(key, _)| at(key)).map(|(_, span)| span).sum::<u64>()
    };
    // All 100 frames of the higher class go first, but for one that had begun; and that is all it waits for.
    let waited = contention(low, high.flow);
    assert!((99 * FRAME..=100 * FRAME).contains(&waited), "{waited}");
    assert!(contention(high, low.flow) <= FRAME);
    let alone = run.flows[low.flow as usize].alone.expect("it has a size").as_picos();
    assert_eq!(low.ledger.total() - waited, alone, "{low:#?}");
}

#[test]
fn two_equal_flows_wait_for_each_other_and_the_rest_is_the_time_alone() {
    let run = two("", "", "");
    run.assert_conserved();
    for (flow, other) in [("low", "high"), ("high", "low")].map(|(a, b)| (run.of(a), run.of(b))) {
        let waited: u64 = flow.ledger.iter().filter(|(key, _)| key.cause != Cause::Path).map(|(_, span)| span).sum();
        let by = flow.share(|key| key.cause == Cause::Contention && key.by == other.flow);
        assert_eq!(waited, (by * flow.ledger.total() as f64).round() as u64, "{flow:#?}");
        assert!(waited >= 98 * FRAME, "{waited}");
        let alone = run.flows[flow.flow as usize].alone.expect("it has a size").as_picos();
        assert_eq!(flow.ledger.total() - waited, alone, "{flow:#?}");
    }
}

/// A flow of 100 frames behind a link of a tenth of its rate, with these lines.
fn behind_a_bottleneck(lines: &str, rest: &str) -> Run {
    let text = format!(
        r#"
        schema_version = 1
        [network]
        link = {{ rate = "10Gb/s", latency = "500ns" }}
        [[network.nodes]]
        names = ["a", "b"]
        role = "host"
        [[network.nodes]]
        names = ["s"]
        role = "switch"
        [[network.links]]
        between = ["a", "s"]
        [[network.links]]
        between = ["s", "b"]
        rate = "1Gb/s"
        [[classes]]
        name = "data"
        lossless = false
        [[switches]]
        flow_control = "none"
        buffers = {{ capacity = "30KB" }}
        [[workloads]]
        name = "flow"
        kind = "greedy"
        from = "a"
        to = "b"
        size = "150KB"
        {lines}
        [run]
        duration = "100ms"
        {rest}
        "#
    );
    run(plan(&text))
}

/// The time of a cause in picoseconds.
fn time_of(flow: &FlowCauses, cause: Cause) -> u64 {
    flow.ledger.iter().filter(|(key, _)| key.cause == cause).map(|(_, span)| span).sum()
}

#[test]
fn retransmissions_behind_a_bottleneck_are_no_part_of_the_path() {
    let run = behind_a_bottleneck("recovery = { name = \"go-back-n\", timeout = \"1ms\" }", "");
    run.assert_conserved();
    let (flow, report) = (run.of("flow"), &run.flows[0]);
    assert!(report.completed.is_some() && report.retransmitted_frames > 80, "{report:?}");
    let alone = report.alone.expect("it has a size").as_picos();
    let path = time_of(flow, Cause::Path);
    assert!(path <= alone, "{path} of {alone} alone: {flow:#?}");
    // The wire of the bottleneck sends every retransmission that arrives, for 12.16 us each.
    let wire = 10 * FRAME;
    let arrived = report.received_frames + report.duplicate_frames + report.rejected_frames;
    // The queue that dropped them held nothing but frames of the flow itself.
    let lost_at = run.port("s -> b");
    let waits = |key: &Key| key.cause == Cause::Recovery && (key.port, key.by) == (lost_at, flow.flow);
    assert!(flow.ledger.iter().any(|(key, _)| waits(&key)), "{flow:#?}");
    let again = time_of(flow, Cause::Retransmission);
    assert!(again >= (arrived - 100) * wire, "{again} for {arrived} frames: {flow:#?}");
}

#[test]
fn a_window_that_only_a_timeout_opens_is_time_of_recovery() {
    // The only frame of the window is on the link to b when it fails; the link works again before the timer expires.
    let fault = "[[faults]]\nbetween = [\"s\", \"b\"]\ndown = \"5us\"\nup = \"900us\"";
    let control = "{ name = \"none\", window = \"1500B\" }";
    for recovery in ["{ name = \"go-back-n\", timeout = \"1ms\" }", "{ name = \"sack\", preset = \"data-centre\" }"] {
        let run = behind_a_bottleneck(&format!("protocol = {control}\nrecovery = {recovery}"), fault);
        run.assert_conserved();
        let (flow, report) = (run.of("flow"), &run.flows[0]);
        assert!(report.completed.is_some() && report.timeouts == 1, "{recovery}: {report:?}");
        // From the end of the frame on the wire of its host to the timeout, 1 ms after its start.
        assert_eq!(time_of(flow, Cause::Recovery), 1_000_000_000 - FRAME, "{flow:#?}");
        let lost_at = run.port("s -> b");
        assert!(flow.ledger.iter().any(|(key, _)| key.cause == Cause::Recovery && key.port == lost_at), "{flow:#?}");
    }
}
