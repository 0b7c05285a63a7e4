//! Tests that default thresholds lose no frames, for all kinds of networks.

use super::super::*;
use fabric::{Outcome, RunLimits};
use proptest::prelude::*;
use proptest::sample::select;
use std::fmt::Write;
use units::{Span, Time};

/// A switch's way with frames.
fn ways() -> impl Strategy<Value = String> {
    let forwarding = select(vec![
        "",
        "",
        "forwarding = \"cut-through\"\nheader_delay = \"50ns\"\n",
        "forwarding = \"cut-through\"\nheader_delay = \"1us\"\n",
    ]);
    let pipeline = select(vec!["", "", "pipeline = \"300ns\"\n"]);
    (forwarding, pipeline).prop_map(|(forwarding, pipeline)| format!("{forwarding}{pipeline}"))
}

prop_compose! {
    /// Everything but the room: the text has `ROOM` in its place.
    fn networks()(
        (rate, trunk) in (select(vec![1, 10, 40, 100]), select(vec![1, 10, 40, 100])),
        (latency, far) in (select(vec![1, 100, 340, 545, 3000]), select(vec![5, 500, 2000])),
        overhead in select(vec![0, 20]),
        classes in 1..=8_usize,
        control in select(vec!["pfc", "pfc", "pfc", "pause"]),
        response in select(vec![0, 0, 500, 2000]),
        shared in prop::bool::weighted(0.3),
        (first, second) in (ways(), ways()),
        point in select(vec!["", "", "qcn", "ecm"]),
        service in select(vec![0, 0, 1]),
        flows in prop::collection::vec((0..6_u32, 1..6_u32, 0..8_usize, select(vec![64, 200, 1500, 9000]), 0..40_000_u32), 1..8),
    ) -> String {
        let mut text = format!(
            "schema_version = 1\n[network]\ntopology = \"chain\"\nswitches = 3\nhosts_per_switch = 2\n\
             overhead = \"{overhead}B\"\nlink = {{ rate = \"{rate}Gb/s\", latency = \"{latency}ns\" }}\n\
             trunk = {{ rate = \"{trunk}Gb/s\", latency = \"{far}ns\" }}\n"
        );
        let shared = shared && control == "pfc";
        let memory = if shared { "buffer = \"shared\"\nshared_size = \"30KB\"\n" } else { "" };
        let room = if shared { "buffers = {}\n" } else { "buffers = { capacity = \"ROOM\" }\n" };
        let common = format!("flow_control = \"{control}\"\npause = {{ response = \"{response}ns\" }}\n");
        for class in 0..classes {
            let _ = writeln!(text, "[[classes]]\nname = \"p{class}\"");
        }
        let _ = write!(text, "[[switches]]\n{common}{memory}{room}{first}");
        let _ = write!(text, "[[switches]]\nmatch = \"sw1\"\n{common}{memory}{room}{second}");
        text.push_str("[[adapters]]\n");
        if service > 0 {
            let _ = write!(
                text,
                "[[adapters]]\nmatch = \"h0\"\n{common}buffers = {{ capacity = \"ROOM\" }}\nservice = \"{service}Gb/s\"\n"
            );
        }
        if !point.is_empty() {
            let _ = writeln!(text, "[congestion_point]\nname = \"{point}\"\n[protocol]\nname = \"{point}\"");
        }
        for (number, (from, step, class, frame, start)) in flows.into_iter().enumerate() {
            let _ = writeln!(
                text,
                "[[workloads]]\nname = \"w{number}\"\nkind = \"greedy\"\nfrom = \"h{from}\"\nto = \"h{}\"\n\
                 class = \"p{}\"\nframe = \"{frame}B\"\nstart = \"{start}ns\"",
                (from + step) % 6,
                class % classes
            );
        }
        text + "[run]\nduration = \"150us\"\n"
    }
}

/// The network with the least room that leaves a threshold at all, so that it is reached at once.
fn tight(text: &str) -> Plan {
    let rooms = [10_u64, 20, 30, 40, 60, 90, 150, 300, 600, 1200];
    let plan = |room: u64| {
        let text = text.replace("ROOM", &format!("{room}KB"));
        load_str("a.toml", &text, &[], &NoFiles, Limits::default())
    };
    let found = rooms.into_iter().find_map(|room| plan(room).ok());
    found.unwrap_or_else(|| panic!("{}\n{text}", plan(1200).expect_err("refused")))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_the_check_clears_loses_nothing(text in networks()) {
        let plan = tight(&text);
        let findings = check(&plan);
        prop_assert!(findings.iter().all(|finding| finding.severity < Severity::Error), "{findings:?}\n{text}");
        let mut simulation = fabric::Simulation::build(&plan.spec, &fabric::BuildOptions::default()).expect("a network");
        let limits = RunLimits::until(Time::ZERO + Span::from_micros(150));
        let report = simulation.run(&limits);
        prop_assert_eq!(report.outcome, Outcome::Finished, "{}", text);
    }
}
