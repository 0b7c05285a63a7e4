//! Tests that each sample scenario loads, is explained, passes its check and runs.

use super::super::*;
use super::{folder, samples};
use fabric::{Outcome, RunLimits};
use units::{Span, Time};

fn run(plan: &Plan, until: Span) -> (fabric::RunSummary, Vec<fabric::FlowSummary>) {
    let mut simulation = fabric::Simulation::build(&plan.spec, &fabric::BuildOptions::default()).expect("a network");
    let mut limits = RunLimits::until(Time::ZERO + until);
    limits.inspect_every = plan.run.inspect_every;
    let report = simulation.run(&limits);
    (report, simulation.flows())
}

#[test]
fn every_sample_loads_and_runs() {
    let samples = samples();
    assert!(samples.len() >= 8, "{samples:?}");
    for path in samples {
        let plan = load(&path, &[]).unwrap_or_else(|errors| panic!("{errors}"));
        let (report, flows) = run(&plan, Span::from_micros(300));
        let received: u64 = flows.iter().map(|flow| flow.received_bytes).sum();
        assert!(received > 0, "{}: nothing arrived", plan.name);
        assert!(
            matches!(report.outcome, Outcome::Finished | Outcome::Deadlock(_)),
            "{}: {:?}",
            plan.name,
            report.outcome
        );
        assert_eq!(plan.flow_names.len(), plan.spec.flows.len());
        assert_eq!(plan.workload_of_flow.len(), plan.spec.flows.len());
    }
}

#[test]
fn every_flow_of_the_scenarios_with_recovery_completes() {
    for (name, lossy) in [("mixed-recovery.toml", true), ("failing-cable.toml", false)] {
        let plan = load(&folder().join(name), &[]).expect("a plan");
        let (report, flows) = run(&plan, plan.run.duration);
        assert_eq!(report.outcome, Outcome::Finished, "{name}");
        assert!(flows.iter().all(|flow| flow.completed.is_some() && flow.acknowledged.is_some()), "{name}");
        let totals = report.totals;
        let gone = if lossy { totals.dropped_frames } else { totals.lost_frames };
        assert!(gone > 0 && totals.retransmitted_frames >= gone, "{name}: {totals:?}");
        // Without recovery they are lost, as the file says where it shows the command.
        let text = std::fs::read_to_string(folder().join(name)).unwrap();
        let command = text.lines().find(|line| line.contains("tailback run")).expect("it shows a command");
        let overrides: Vec<String> =
            command.split(" --set ").skip(1).map(|set| set.trim_matches('\'').to_owned()).collect();
        let plan = load(&folder().join(name), &overrides).unwrap_or_else(|errors| panic!("{errors}"));
        let (_, flows) = run(&plan, plan.run.duration);
        assert!(flows.iter().any(|flow| flow.completed.is_none() && flow.lost_frames > 0), "{name}");
        let notes: Vec<String> = check(&plan).into_iter().map(|finding| finding.message).collect();
        assert!(notes.iter().any(|note| note.contains("lost frames are not retransmitted")), "{name}: {notes:?}");
    }
}

#[test]
fn a_recovery_that_does_not_suit_the_network_is_found() {
    let text = |recovery: &str, multipath: &str| {
        super::plan(
            &format!("topology = \"leaf-spine\"\nmultipath = \"{multipath}\""),
            &format!(
                "[[workloads]]\nkind = \"greedy\"\nfrom = \"h0\"\nto = \"h2\"\nsize = \"1MB\"\nrecovery = {recovery}"
            ),
        )
    };
    let found = |recovery: &str, multipath: &str, words: &str| {
        check(&text(recovery, multipath)).iter().any(|finding| finding.message.contains(words))
    };
    let (early, hasty) = ("recovery discards such frames", "every frame is retransmitted");
    assert!(found("\"go-back-n\"", "spray", early) && !found("\"go-back-n\"", "flow-hash", early));
    assert!(!found("\"selective-repeat\"", "spray", early));
    let overtaken = "as soon as one later frame has arrived";
    for (recovery, multipath, hasty) in [
        ("\"selective-repeat\"", "spray", true),
        ("\"selective-repeat\"", "flow-hash", false),
        ("\"selective-repeat\"\npath_selection = \"reps\"", "flow-hash", true),
        ("{ name = \"selective-repeat\", threshold = 2 }", "spray", false),
        ("{ name = \"sack\", threshold = 1 }", "spray", true),
        ("\"sack\"", "spray", false),
        ("\"go-back-n\"", "spray", false),
    ] {
        assert_eq!(found(recovery, multipath, overtaken), hasty, "{recovery} {multipath}");
    }
    // FlowBender leaves a path where frames are marked, or after a timeout.
    let bender = |rest: &str| format!("{rest}\npath_selection = \"flow-bender\"");
    let (seldom, never) = ("after a timeout only", "never changes the path");
    assert!(found(&bender("\"go-back-n\""), "flow-hash", seldom));
    assert!(found(&bender("\"none\"\nacknowledge = {}"), "flow-hash", never));
    assert!(!found("\"none\"\nacknowledge = {}\npath_selection = \"reps\"", "flow-hash", never));
    assert!(!found("\"go-back-n\"", "flow-hash", seldom));
    // Two links of 1 us each way, and the frames themselves.
    assert!(found("{ name = \"go-back-n\", timeout = \"5us\" }", "flow-hash", hasty));
    let later = "{ name = \"go-back-n\", timeout = \"20us\" }";
    assert!(!found(later, "flow-hash", hasty));
    // Four frames take 4 us at 10 Gb/s, and the path holds more; sixty-four do not fit in it.
    let together = |recovery: &str, how: &str, words: &str| {
        found(&format!("{recovery}\nacknowledge = {{ {how} }}"), "flow-hash", words)
    };
    let small = "bandwidth-delay product of its path";
    assert!(!together("\"selective-repeat\"", "every = 4", small));
    assert!(together("\"selective-repeat\"", "every = 64", small));
    assert!(!together("\"selective-repeat\"", "every = 64, delay = \"20us\"", small));
    assert!(!together("\"go-back-n\"", "every = 64", small));
    // The timers expire 100 us and 1 ms after a frame; that of `sack` after 1 s, but after 50 us once it has measured.
    let late = "frames that have arrived are retransmitted";
    let sack = "{ name = \"sack\", min_timeout = \"50us\" }";
    let recoveries = ["\"selective-repeat\"", "{ name = \"go-back-n\", timeout = \"100us\" }", sack];
    for recovery in recoveries {
        assert!(together(recovery, "every = 4, delay = \"100us\"", late), "{recovery}");
        assert!(!together(recovery, "every = 4, delay = \"20us\"", late), "{recovery}");
        assert!(!together(recovery, "every = 1, delay = \"100us\"", late), "{recovery}: no frame waits for another");
    }
    // Switches that take 10 us for every frame.
    let mut slow = text(later, "flow-hash");
    slow.spec.switches[0].pipeline = units::Span::from_micros(10);
    assert!(check(&slow).iter().any(|finding| finding.message.contains(hasty)));
}

#[test]
fn the_ring_really_deadlocks() {
    let plan = load(&folder().join("ring-deadlock.toml"), &[]).expect("a plan");
    let (report, _) = run(&plan, plan.run.duration);
    assert!(matches!(report.outcome, Outcome::Deadlock(_)), "{:?}", report.outcome);
    assert!(report.now < Time::ZERO + plan.run.duration);
}

#[test]
fn the_ring_lives_by_the_routings_that_take_care() {
    let ends = |variant: &str| {
        let plan = load(&folder().join("ring-routing.toml"), &[format!("variant={variant}")]).expect("a plan");
        let can = check(&plan).iter().any(|finding| finding.message.contains("can deadlock"));
        (can, matches!(run(&plan, plan.run.duration).0.outcome, Outcome::Deadlock(_)))
    };
    for variant in ["shortest", "spb"] {
        assert_eq!(ends(variant), (true, true), "{variant}");
    }
    for variant in ["up-down", "lash", "dfsssp", "spanning-tree"] {
        assert_eq!(ends(variant), (false, false), "{variant}");
    }
}

#[test]
fn local_repair_saves_what_the_leaf_sends() {
    // Bytes that the flows of a workload deliver between the fault and the new tables.
    let missed = |variant: &str, workload: &str| {
        let plan = load(&folder().join("reconvergence.toml"), &[format!("variant={variant}")]).expect("a plan");
        assert!(check(&plan).iter().any(|finding| finding.message.contains("switches change")), "{variant}");
        let received = |until: Span| -> u64 {
            let flows = run(&plan, until).1;
            let named = plan.flow_names.iter().zip(&flows).filter(|(name, _)| name.starts_with(workload));
            named.map(|(_, flow)| flow.received_bytes).sum()
        };
        received(Span::from_micros(2500)) - received(Span::from_micros(2000))
    };
    let (without, with) = (missed("reconverge", "up"), missed("local repair", "up"));
    assert!(with as f64 > 1.5 * without as f64, "{without} {with}");
    // What comes down the spine at the other end of the cable has no second way.
    assert_eq!(missed("reconverge", "down"), missed("local repair", "down"));
}

#[test]
fn the_victim_really_suffers() {
    let plan = load(&folder().join("victim.toml"), &[]).expect("a plan");
    let (report, flows) = run(&plan, plan.run.duration);
    let victim = plan.flow_names.iter().position(|name| name == "victim").expect("the victim");
    let rate = flows[victim].received_bytes as f64 * 8.0 / report.now.as_secs_f64();
    assert!(rate < 6e9 && rate > 1e9, "{rate}");
    assert_eq!(report.totals.dropped_frames, 0);
}

#[test]
fn the_slow_receiver_slows_a_bystander() {
    let plan = load(&folder().join("slow-receiver.toml"), &[]).expect("a plan");
    let received = |until: Span| {
        let (report, flows) = run(&plan, until);
        assert!(matches!(report.outcome, Outcome::Finished), "{:?}", report.outcome);
        flows[plan.flow_names.iter().position(|name| name == "bystander").expect("the bystander")].received_bytes
    };
    let (well, ill, recovered) =
        (received(Span::from_millis(1)), received(Span::from_millis(3)), received(Span::from_millis(5)));
    // Over 2 ms a flow of its own link would get twice what it got in the first.
    assert!(ill - well < well, "{well} {ill}");
    assert!(recovered - ill > well, "{ill} {recovered}");
}

#[test]
fn a_check_finds_what_there_is_to_find() {
    let look = |file: &str, overrides: &[&str]| {
        let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
        let plan = load(&folder().join(file), &overrides).unwrap_or_else(|errors| panic!("{errors}"));
        check(&plan)
    };
    let worst = |findings: &[Finding]| findings.iter().map(|finding| finding.severity).max();
    let has = |findings: &[Finding], text: &str| findings.iter().any(|finding| finding.message.contains(text));

    let ring = look("ring-deadlock.toml", &[]);
    assert!(has(&ring, "can deadlock: buffer dependency cycle sw0 -> sw1 -> sw2 -> sw3 -> sw0"), "{ring:?}");
    // Two lanes need the same headroom: its calculation is shown once.
    let lanes = look("ring-routing.toml", &["network.routing=lash"]);
    let sums: Vec<&str> = lanes.iter().filter_map(|it| it.message.split_once("\n    ").map(|it| it.1)).collect();
    let distinct: std::collections::BTreeSet<&str> = sums.iter().copied().collect();
    assert!(sums.len() == 2 && distinct.len() == 2, "{sums:?}");
    assert!(sums.contains(&"same calculation as for switches[0] class data.0"), "{sums:?}");
    let victim = look("victim.toml", &[]);
    assert_eq!(worst(&victim), Some(Severity::Note), "{victim:?}");
    assert!(has(&victim, "9.87 Gb/s"), "{victim:?}");
    // 12160 + 672 + 672 + 10000 + 2 x 18944 + 6144 bits, and 1499 B: only control frames go back to hosts that send and do
    // not receive. The trunk at 40 Gb/s needs 9623 B, and 118 quanta of 64 B.
    assert!(has(&victim, "enough headroom: 50KB; hardware may need 9941B"), "{victim:?}");
    assert!(has(&victim, "enough headroom: 50KB; hardware may need 17175B"), "{victim:?}");
    let small = look("victim.toml", &["switches.buffers.xoff=142KB"]);
    assert!(has(&small, "enough headroom for this run: 8KB, 4437B needed; hardware may need"), "{small:?}");
    let tight = look("victim.toml", &["switches.buffers.xoff=145KB"]);
    assert!(has(&tight, "may lose frames: 5KB of headroom, but "), "{tight:?}");
    assert_eq!(tight[0].severity, Severity::Error);
    assert!(tight[0].remedy.contains("xoff = \""), "{tight:?}");
    // A frame of 1500 B and its overhead take 23.75 quanta.
    let late = look("victim.toml", &["switches.pause.refresh_before=23"]);
    assert!(has(&late, "refreshed 23 quanta before it expires"), "{late:?}");
    assert_eq!((late[0].severity, late[0].remedy.as_str()), (Severity::Error, "set refresh_before = 24 or more"));
    assert_eq!(worst(&look("victim.toml", &["switches.pause.refresh_before=24"])), Some(Severity::Note));
    // 150 KB - 50 KB, of which the trunk needs 9623 B for a stop that arrives: 1412 quanta may pass before the next.
    let room = ["switches.buffers.xoff=50KB", "switches.buffers.xon=40KB", "network.link.bit_error_rate=1e-9"];
    let damaging = |refresh: &str| look("victim.toml", &[&room[..], &[refresh]].concat());
    let lost = damaging("switches.pause.refresh_before=64122");
    assert!(
        has(&lost, "bit errors may cause loss: if an XOFF is damaged, the next one follows 1413 quanta later"),
        "{lost:?}"
    );
    assert!(lost[0].remedy.contains("set refresh_before = 64123"), "{lost:?}");
    assert_eq!(worst(&damaging("switches.pause.refresh_before=64123")), Some(Severity::Note));
    // The default waits 32768 quanta, 2097152 B, which no lower xoff makes room for: a remedy must be one.
    let remedy = "set capacity = \"2156775B\" and xoff = \"50KB\", or set refresh_before = 64123";
    let default = damaging("switches.pause.refresh_before=32767");
    assert!(default.iter().any(|finding| finding.remedy == remedy), "{default:?}");
    let enlarged = damaging("switches.buffers.capacity=2156775B");
    assert_eq!(worst(&enlarged), Some(Severity::Note), "{enlarged:?}");
    // 6 quanta more than there is room for: 64117 are 1418 quanta, 90752 B, of which 90377 B are there.
    let lowered = damaging("switches.pause.refresh_before=64117");
    assert!(lowered.iter().any(|finding| finding.remedy.starts_with("set xoff = \"49625B\", or ")), "{lowered:?}");
    let set =
        ["network.link.bit_error_rate=1e-9", "switches.pause.refresh_before=64117", "switches.buffers.xoff=49625B"];
    let lowered = look("victim.toml", &[&set[..], &["switches.buffers.xon=40KB"]].concat());
    assert_eq!(worst(&lowered), Some(Severity::Note), "{lowered:?}");
    let paper = |variant: &str| look("../papers/dcb-2010/table1.toml", &[&format!("variant={variant}")]);
    let strict = paper("strict priority");
    assert!(has(&strict, "may starve at sw0 -> h8: classes of higher priority offer the whole capacity"), "{strict:?}");
    assert!(strict.iter().filter(|finding| finding.message.contains("may starve")).count() == 7, "{strict:?}");
    assert!(!has(&paper("groups"), "may starve"));
    // One port of them chooses otherwise.
    let mut plan =
        load(&folder().join("../papers/dcb-2010/table1.toml"), &["variant=groups".into()]).expect("it loads");
    let sw0 =
        fabric::graph::NodeId(plan.spec.graph.nodes.iter().position(|it| it.name == "sw0").expect("there") as u32);
    let h8 = |peer: fabric::graph::NodeId| plan.spec.graph.nodes[peer.0 as usize].name == "h8";
    let port = plan.spec.graph.ports()[sw0.0 as usize].iter().position(|end| h8(end.peer)).expect("a cable") as u16;
    let egress = Some(fabric::spec::Egress::Strict);
    plan.spec.ports.push(fabric::spec::PortSpec { egress, ..fabric::spec::PortSpec::plain(sw0, port) });
    assert!(has(&check(&plan), "may starve at sw0 -> h8: classes of higher priority offer the whole capacity"));
    let credits = look("infiniband-credits.toml", &[]);
    assert!(has(&credits, "of the round trip"), "{credits:?}");
    // 2 x 1 us at 40 Gb/s: both ends of the trunk cut through; hosts do not, and their cables are slower. 9623 B without,
    // and 118 quanta of 64 B that hardware may take to respond.
    let cut = ["switches.forwarding=cut-through", "switches.header_delay=1us"];
    assert!(has(&look("victim.toml", &cut), "hardware may need 27175B"), "{:?}", look("victim.toml", &cut));
    // A tag of ECM makes frames of 1500 B 16 B longer, and with the overhead that is 12288 bits.
    let tagged = look("incast.toml", &["protocol={ name = \"ecm\" }", "congestion_point={ name = \"ecm\" }"]);
    assert!(has(&tagged, "enough headroom") && has(&tagged, "+ 12,288 (sender's last frame)"), "{tagged:?}");
    // A notice that no buffer can hold.
    let long = look(
        "qcn.toml",
        &[
            "switches.notice_size=60KB",
            "switches.buffers.capacity=50KB",
            "switches.buffers.xoff=20KB",
            "switches.buffers.xon=10KB",
        ],
    );
    assert!(has(&long, "cannot hold a frame of 60KB"), "{long:?}");
    let late = look("../crates/tailback/src/cli/templates/starter.toml", &["run.duration=900us", "run.warm_up=0s"]);
    assert!(has(&late, "start after the run ends"), "{late:?}");
    let astray = look("ring-deadlock.toml", &["network.routes=[{ at = \"sw0\", to = \"h*\", via = \"sw1\" }]"]);
    assert!(has(&astray, "a flow cannot reach its destination: sw1 has no route to h2"), "{astray:?}");
}

#[test]
fn what_the_check_calls_too_little_room_really_loses_and_what_it_calls_enough_does_not() {
    let lossless = |xoff: &str| {
        let plan = load(
            &folder().join("incast.toml"),
            &[format!("switches.buffers.xoff={xoff}"), "switches.buffers.xon=1KB".into()],
        );
        let (report, _) = run(&plan.unwrap_or_else(|errors| panic!("{errors}")), Span::from_millis(1));
        matches!(report.outcome, Outcome::Finished)
    };
    // 10 Gb/s over 1 us with frames of 1500 B: 7123 B arrive at most.
    assert!(lossless("92877B"));
    assert!(!lossless("97000B"));
}

/// A receiver that takes a tenth, and answers that keep the way back busy: pauses are long, and their renewals wait.
const RENEWED: &str = r#"
schema_version = 1
[network]
topology = "single-switch"
hosts = 3
link = { rate = "10Gb/s", latency = "1us" }
headroom = "exact"
[[switches]]
pause = { quanta = 400, refresh_before = 1 }
buffers = { capacity = "60KB" }
[[adapters]]
[[adapters]]
match = "h2"
flow_control = "pfc"
buffers = { capacity = "100KB" }
service = "1Gb/s"
[[workloads]]
name = "in"
kind = "greedy"
from = ["h0", "h1"]
to = "h2"
[[workloads]]
name = "back"
kind = "greedy"
from = "h2"
to = ["h0", "h1"]
[run]
duration = "5ms"
"#;

#[test]
fn a_pause_that_runs_out_is_told_from_too_little_room() {
    let plan = |overrides: &[String]| {
        let plan = load_str("a.toml", RENEWED, overrides, &NoFiles, Limits::default());
        plan.unwrap_or_else(|errors| panic!("{errors}"))
    };
    let late = plan(&[]);
    assert!(check(&late)[0].message.contains("but the PFC frame may wait"), "{:?}", check(&late));
    let (report, _) = run(&late, Span::from_millis(5));
    let Outcome::LossInLosslessClass(loss) = report.outcome else { panic!("{:?}", report.outcome) };
    assert!(loss.to_string().contains("the pause expired"), "{loss}");
    // As late as the check allows.
    let (report, _) = run(&plan(&["switches[0].pause.refresh_before=24".into()]), Span::from_millis(5));
    assert_eq!(report.outcome, Outcome::Finished);
}

#[test]
fn pause_has_one_threshold_for_frames_of_all_sizes() {
    let small = "\n[[workloads]]\nname = \"small\"\nkind = \"greedy\"\nfrom = \"h0\"\nto = \"h1\"\nclass = \"b\"\nframe = \"64B\"";
    let classes = "\n[[classes]]\nname = \"a\"\n[[classes]]\nname = \"b\"";
    let text = format!("{RENEWED}{small}{classes}");
    let pause = ["switches[0].flow_control=pause".to_owned(), "adapters[1].flow_control=pause".to_owned()];
    let plan = load_str("a.toml", &text, &pause, &NoFiles, Limits::default());
    let plan = plan.unwrap_or_else(|errors| panic!("{errors}"));
    let fabric::spec::Buffer::Static(buffers) = &plan.spec.switches[0].buffer else { panic!("it is static") };
    // What frames of 1500 B call for.
    assert!(buffers.iter().all(|buffer| buffer.xoff == units::Bytes::new(60_000 - 7_123)), "{buffers:?}");
}

#[test]
fn explanations_name_every_source() {
    let plan = load(&folder().join("leaf-spine.toml"), &["run.seed=9".into()]).expect("a plan");
    let text = explain(&plan);
    assert!(text.contains("--set run.seed=9"), "{text}");
    assert!(text.contains("leaf-spine.toml:"), "{text}");
    // Worked out from the cables: 200 KB less what 25 Gb/s over 600 ns call for, with 80 quanta of 64 B to respond.
    let xoff_of = |plan: &Plan| {
        let found = plan.entries.iter().find(|entry| entry.path == "switches[0].buffers[0].xoff");
        found.expect("an entry").clone()
    };
    let xoff = xoff_of(&plan);
    assert_eq!(xoff.value, format!("\"{}B\"", 191_627 - 80 * 64));
    let exact = load(&folder().join("leaf-spine.toml"), &["network.headroom=exact".into()]).expect("a plan");
    assert_eq!(xoff_of(&exact).value, "\"191627B\"");
    assert!(matches!(xoff.source, Source::Default(text) if text.contains("802.1Q")));
    assert!(plan.inputs().all(|input| input.sha256.len() == 64));
}

#[test]
fn another_seed_draws_other_flows_and_the_same_seed_the_same() {
    let plan = load(&folder().join("fat-tree.toml"), &[]).expect("a plan");
    let starts = |plan: &Plan| plan.spec.flows.iter().map(|flow| flow.start).collect::<Vec<_>>();
    let other = plan.with_seed(2).expect("a plan");
    assert_ne!(starts(&plan), starts(&other));
    assert_eq!(other.run.seed, 2);
    assert_eq!(other.spec.seed, 2);
    assert_eq!(starts(&plan), starts(&other.with_seed(1).expect("a plan")));
}
