//! Waits that are known from theory.

use super::super::ledger::{Key, NONE};
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

/// Frames of single-frame flows that arrive at random for one output, by class; the source's own link is a thousand times
/// faster, so that it spaces nothing. Returns the run and the time of a frame on the output's wire.
fn poisson(loads: &[(&str, f64)], frames: f64) -> (Run, f64) {
    let service = 800_000.0;
    let mut text = String::from(
        "schema_version = 1\n[network]\noverhead = \"0B\"\nlink = { rate = \"10Gb/s\", latency = \"100ns\" }\n[[network.nodes]]\nnames = [\"a\", \"b\"]\nrole = \"host\"\n\
         [[network.nodes]]\nnames = [\"s\"]\nrole = \"switch\"\n[[network.links]]\nbetween = [\"a\", \"s\"]\n\
         rate = \"10Tb/s\"\n[[network.links]]\nbetween = [\"s\", \"b\"]\n[[switches]]\nflow_control = \"none\"\nbuffers = { capacity = \"100MB\" }\n",
    );
    let all: f64 = loads.iter().map(|(_, load)| load).sum();
    for (class, _) in loads {
        text.push_str(&format!("[[classes]]\nname = \"{class}\"\nlossless = false\n"));
    }
    for (class, load) in loads {
        let gap = service / load / 1e3;
        text.push_str(&format!(
            "[[workloads]]\nname = \"{class}\"\nkind = \"poisson-flows\"\nfrom = \"a\"\nto = \"b\"\nclass = \"{class}\"\n\
             frame = \"1000B\"\nflow_size = \"1000B\"\nmean_gap = \"{gap:.0}ns\"\n"
        ));
    }
    text.push_str(&format!("[run]\nseed = 7\nduration = \"{:.0}us\"\n", service * frames / all / 1e6));
    (run(plan(&text)), service)
}

/// The mean time, in services, that complete flows of a workload waited at the output for frames of another.
fn mean_wait(run: &Run, service: f64, of: &str, by: &str) -> f64 {
    let is = |flow: u32, workload: &str| run.name(flow).starts_with(workload);
    let out = run.port("s -> b");
    let complete = || run.causes.iter().filter(|flow| flow.complete && is(flow.flow, of));
    let for_other =
        |(key, _): &(Key, u64)| key.cause == Cause::Contention && key.port == out && key.by != NONE && is(key.by, by);
    let waited: u64 = complete().flat_map(|flow| flow.ledger.iter()).filter(for_other).map(|(_, span)| span).sum();
    waited as f64 / service / complete().count() as f64
}

fn assert_near(what: &str, measured: f64, theory: f64, tolerance: f64) {
    assert!((measured / theory - 1.0).abs() < tolerance, "{what}: {measured}, in theory {theory}");
}

/// M/D/1: rho / 2(1 - rho) services on average, and contention is all that is lost.
#[test]
fn waits_of_poisson_arrivals_are_contention_and_their_mean_is_that_of_m_d_1() {
    for load in [0.3, 0.5, 0.7] {
        let (run, service) = poisson(&[("all", load)], 40_000.0);
        run.assert_conserved();
        let wait = mean_wait(&run, service, "all", "all");
        assert_near(&format!("load {load}"), wait, load / (2.0 * (1.0 - load)), 0.07);
        let lost = |flow: &&FlowCauses| {
            flow.complete && flow.share(|key| !matches!(key.cause, Cause::Path | Cause::Contention)) > 0.0
        };
        // Flows that start within a picosecond or so of each other wait at their source, too: that is contention as well.
        assert_eq!(run.causes.iter().filter(lost).count(), 0);
    }
}

/// Strict priority (Cobham 1954): of N classes, class k waits R / (1 - s(k - 1))(1 - s(k)), where R is the mean rest of the frame
/// on the wire, rho / 2 services, and s(k) the load of classes up to k. By Little's law and PASTA, the part of this wait that
/// is due to each class is known, too: the rest of its frame on the wire, its frames in front, and those that overtake.
#[test]
fn waits_with_strict_priority_are_charged_to_the_class_that_theory_blames() {
    let (low, high) = (0.4, 0.35);
    // The last class is the most urgent.
    let (run, service) = poisson(&[("low", low), ("high", high)], 60_000.0);
    run.assert_conserved();
    let rest = (low + high) / 2.0;
    let of_high = rest / (1.0 - high);
    let of_low = rest / ((1.0 - high) * (1.0 - high - low));
    // A frame of the higher class waits for one of the lower only if that is on the wire.
    assert_near("high by low", mean_wait(&run, service, "high", "low"), low / 2.0, 0.05);
    assert_near("high by high", mean_wait(&run, service, "high", "high"), of_high - low / 2.0, 0.06);
    // One of the lower waits for the rest of its own class and for those of it in front.
    let by_low = low / 2.0 + low * of_low;
    assert_near("low by low", mean_wait(&run, service, "low", "low"), by_low, 0.08);
    assert_near("low by high", mean_wait(&run, service, "low", "high"), of_low - by_low, 0.08);
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
