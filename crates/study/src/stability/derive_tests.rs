//! Tests of fluid models against manual calculations, and of packets on both sides of the predicted stability boundary.

use super::*;
use scenario::fluid::{FluidPlan, Model};
use scenario::{Limits, NoFiles, Plan, explain, load_str};
use std::sync::atomic::AtomicBool;
use units::Span;

/// 50 sources of BCN on one link, as in the paper; what is around a frame is not counted.
const LOOP: &str = r#"
    schema_version = 1
    [network]
    topology = "single-switch"
    hosts = 51
    overhead = "0B"
    link = { rate = "10Gb/s", latency = "99us" }
    [[classes]]
    name = "data"
    lossless = false
    [[switches]]
    flow_control = "none"
    pipeline = "500ns"
    buffers = { capacity = "150KB" }
    [protocol]
    name = "bcn"
    start_rate = "240Mb/s"
    [congestion_point]
    name = "bcn"
    [[workloads]]
    name = "sources"
    kind = "incast"
    from = "*"
    to = "h0"
    requeue_oracle = "100us"
    start_jitter = "500us"
    [run]
    duration = "250ms"
    warm_up = "100ms"
"#;

fn plan(text: &str, overrides: &[&str]) -> Plan {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    let plan = load_str("test.toml", text, &overrides, &NoFiles, Limits::default());
    plan.unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

fn fluid(text: &str, overrides: &[&str]) -> FluidPlan {
    let plan = plan(text, overrides);
    plan.fluid.clone().unwrap_or_else(|| FluidPlan::of(&plan)).unwrap_or_else(|no| panic!("{no}"))
}

fn value(fluid: &FluidPlan, name: &str) -> f64 {
    fluid.model.get(name).expect("a parameter")
}

fn near(value: f64, expected: f64) -> bool {
    (value - expected).abs() <= 1e-9 * expected.abs()
}

#[test]
fn the_papers_loop_follows_from_its_packets() {
    let of = fluid(LOOP, &[]);
    // Two cables, 1500 bytes at 10 Gb/s there and 64 back, one pipeline.
    let delay = 2.0 * 99e-6 + 1.2e-6 + 51.2e-9 + 0.5e-6;
    assert!(near(value(&of, "delay"), delay), "{}", value(&of, "delay"));
    let Model::Bcn(of) = of.model else { panic!("BCN") };
    assert_eq!(of, Bcn { delay: of.delay, ..Bcn::of_the_paper() });
}

#[test]
fn what_is_around_a_frame_and_units_other_than_a_frame() {
    let of = fluid(LOOP, &["network.overhead=20B", "protocol.unit=500B", "workloads[0].frame=1000B"]);
    let part = 1000.0 / 1020.0;
    for (name, expected) in [
        ("capacity", 10e9 * part),
        ("max_rate", 10e9 * part),
        ("rate_unit", 1e6 * part),
        ("increase_gain", 8.0),
        ("decrease_gain", 2.0 / 128.0),
        ("frame", 1000.0),
        ("delay", 198e-6 + 1020.0 * 8.0 / 10e9 + 84.0 * 8.0 / 10e9 + 0.5e-6),
    ] {
        assert!(near(value(&of, name), expected), "{name}: {}", value(&of, name));
    }
    assert!(near(of.start_rate, 240e6 * part));
}

#[test]
fn the_narrowest_of_two_links_and_the_way_to_it() {
    // Two hosts behind a, three more behind b: five flows end at h5, two of them over a->b at a tenth of the rate.
    let text = r#"
        schema_version = 1
        [network]
        link = { rate = "10Gb/s", latency = "1us" }
        [[network.nodes]]
        names = ["h{0..5}"]
        role = "host"
        [[network.nodes]]
        names = ["a", "b"]
        role = "switch"
        [[network.links]]
        between = ["h{0..1}", "a"]
        [[network.links]]
        between = ["h{2..5}", "b"]
        [[network.links]]
        between = ["a", "b"]
        rate = "10Gb/s"
        latency = "5us"
        [[switches]]
        flow_control = "pfc"
        forwarding = "store-and-forward"
        buffers = { capacity = "100KB" }
        congestion_point = { name = "ecm", sample_base = "75KB" }
        [[workloads]]
        name = "all"
        kind = "greedy"
        from = "h{0..4}"
        to = "h5"
        [protocol]
        name = "ecm"
        [run]
        duration = "1ms"
    "#;
    let of = fluid(text, &[]);
    let bottleneck = of.bottleneck.as_ref().expect("a bottleneck");
    assert_eq!((bottleneck.link.as_str(), bottleneck.flows.len()), ("b->h5", 5));
    // Hosts of b: a frame of 1520 bytes there, 84 back, 1 us each way. Two hosts of a: that and a cable of 5 us.
    let hop = |latency: f64| 2.0 * latency + (1520.0 + 84.0) * 8.0 / 10e9;
    let mean = hop(1e-6) + 2.0 / 5.0 * hop(5e-6);
    assert!(near(value(&of, "delay"), mean), "{} {mean}", value(&of, "delay"));
    assert!(near(value(&of, "probability"), 1500.0 / 75_000.0));
    // A sample every so many bytes lags by half of the distance, one by chance by all of it.
    let flexible = "switches[0].congestion_point.sampling=flexible";
    assert_eq!([value(&of, "sampling_lag"), value(&fluid(text, &[flexible]), "sampling_lag")], [0.5, 1.0]);
    // In pages of 64 bytes.
    assert!(near(value(&of, "increase_gain"), 0.53333 * 1500.0 / 64.0));
    assert_eq!(value(&of, "buffer"), 4.0 * 100_000.0, "three inputs of hosts and one from a");
    let left = of.left_out.join("; ");
    for part in ["drift of 1Mb/s each 1ms", "severe congestion (literal)", "flow control", "loop delays from"] {
        assert!(left.contains(part), "{part}: {left}");
    }
    // Without the flows at b the cable between the switches is as full as the last, and comes first.
    let narrow = fluid(text, &["workloads[0].from=h{0..1}", "network.links[2].rate=1Gb/s"]);
    let bottleneck = narrow.bottleneck.as_ref().expect("a bottleneck");
    assert_eq!(bottleneck.link, "a->b");
    assert!(near(value(&narrow, "capacity"), 1e9 * 1500.0 / 1520.0));
}

#[test]
fn qcn_has_its_own_equations() {
    let text =
        LOOP.replace("name = \"bcn\"", "name = \"qcn\"").replace("start_rate = \"240Mb/s\"", "ai_rate = \"6Mb/s\"");
    let of = fluid(&text, &["congestion_point.set_point=30KB"]);
    assert_eq!(of.model.name(), "qcn");
    assert_eq!((value(&of, "set_point"), value(&of, "ai_rate"), value(&of, "time_reset")), (30_000.0, 6e6, 15e-3));
    assert_eq!(of.start_rate, 10e9, "it starts at the rate of its link");
    let inputs = plan(&text, &["congestion_point.placed=inputs", "switches[0].queueing=virtual-output"]);
    let no = FluidPlan::of(&inputs).expect_err("not of inputs");
    assert!(no.message.contains("watch inputs (congestion_point.placed (--set))"), "{no}");
}

#[test]
fn a_section_overrides_and_says_so() {
    let section = format!("{LOOP}\n[fluid]\nmodel = \"bcn\"\ndelay = \"150us\"\nset_point = \"20KB\"\n");
    let of = fluid(&section, &[]);
    assert_eq!((value(&of, "delay"), value(&of, "set_point"), value(&of, "sources")), (150e-6, 20_000.0, 50.0));
    let from = |name: &str| of.origins.iter().find(|origin| origin.name == name).expect("an origin").from.clone();
    assert!(from("delay").starts_with("fluid.delay (test.toml:"), "{}", from("delay"));
    assert_eq!(
        (from("probability").as_str(), from("sources").as_str()),
        ("congestion_point.probability (default)", "flows over sw0->h0")
    );
    let text = explain(&plan(&section, &["congestion_point.probability=0.02"]));
    let line = text.lines().skip_while(|line| *line != "[fluid]").find(|line| line.starts_with("probability"));
    assert!(line.is_some_and(|line| line.contains("0.02") && line.contains("own protocol")), "{text}");
}

#[test]
fn packets_run_without_a_fluid_model() {
    let section = format!("{LOOP}\n[fluid]\nmodel = \"bcn\"\n").replace("start_rate = \"240Mb/s\"", "");
    for (change, expected) in [
        (
            "protocol.name=none",
            "[fluid] in line 31 has no `sources`, and it does not follow from the scenario: the protocol",
        ),
        ("protocol.gi=0", "increase_gain is 0: it must be finite and above zero; it comes from protocol.gi (--set)"),
    ] {
        let no = plan(&section, &[change]).fluid.expect("a section").expect_err("no model");
        assert!(no.message.contains(expected), "{no}");
    }
}

#[test]
fn what_has_no_fluid_model_says_why() {
    let none =
        |text: &str, overrides: &[&str]| FluidPlan::of(&plan(text, overrides)).expect_err("it has none").to_string();
    let other = LOOP.replace("name = \"bcn\"\n    start_rate = \"240Mb/s\"", "name = \"none\"");
    assert!(none(&other, &[]).contains("the protocol `none` has no fluid model"), "{}", none(&other, &[]));
    let unwatched = LOOP.replace("[congestion_point]\n    name = \"bcn\"", "");
    assert!(none(&unwatched, &[]).contains("no flow of `bcn` passes a congestion point"));
    for removed in ["congestion_point=none", "switches[0].congestion_point=none"] {
        assert!(none(LOOP, &[removed]).contains("no flow of `bcn` passes a congestion point"), "{removed}");
    }
    let arrivals = LOOP.replace(
        "kind = \"incast\"",
        "kind = \"poisson-flows\"\nmean_gap = \"1ms\"\nsizes=\"fixed\"\nflow_size=\"1MB\"",
    );
    let arrivals = arrivals.replace("start_jitter = \"500us\"", "");
    assert!(none(&arrivals, &[]).contains("workload `sources` come and go"), "{}", none(&arrivals, &[]));
    let two = format!(
        "{LOOP}\n[[workloads]]\nname = \"others\"\nkind = \"greedy\"\nfrom = \"h1\"\nto = \"h0\"\nprotocol = {{ name = \"bcn\", gi = 2 }}\n"
    );
    assert!(none(&two, &[]).contains("`protocol` and `workloads[1].protocol` differ"), "{}", none(&two, &[]));
}

#[test]
fn flows_count_while_they_are_there() {
    let bursts = LOOP.replace(
        "kind = \"incast\"\n    from = \"*\"",
        "kind = \"greedy\"\n    from = \"h{1..20}\"\n    stop = \"100ms\"",
    ) + "[[workloads]]\nname = \"later\"\nkind = \"greedy\"\nfrom = \"h{21..50}\"\nto = \"h0\"\nstart = \"50ms\"\n";
    assert_eq!(value(&fluid(&bursts, &[]), "sources"), 50.0);
    assert_eq!(value(&fluid(&bursts, &["workloads[1].start=100ms"]), "sources"), 30.0);
}

/// The queue of packets after the warm-up, around a set point high enough that swings are not cut off at once: the loop
/// does not depend on it, and neither does the noise of sampling.
fn behaviour(latency: &str) -> (Behaviour, Analysis) {
    let latency = format!("network.link.latency={latency}");
    let high = ["congestion_point.set_point=240KB", "switches[0].buffers[0].capacity=1500KB", &latency];
    let of = plan(LOOP, &high);
    let fluid = FluidPlan::of(&of).expect("a fluid model");
    let analysis = analyse(&fluid).expect("an analysis");
    let bottleneck = fluid.bottleneck.as_ref().expect("a bottleneck");
    let interrupt = AtomicBool::new(false);
    let run = packets(&of, bottleneck, Span::from_micros(100), 1, &interrupt, |_| {}).expect("a run");
    assert_eq!((run.outcome, run.queue.len(), run.rate.len()), ("finished", 2500, 2500));
    let seen = Behaviour::of(within(&run.queue, run.spacing, settled(&of)), run.spacing, 240_000.0).expect("samples");
    (seen, analysis)
}

#[test]
fn packets_on_each_side_of_the_predicted_edge() {
    let edge = |analysis: &Analysis| analysis.bcn.as_ref().and_then(|bcn| bcn.sampled.in_turn).expect("an edge");
    // About 100 and 300 us of delay; the edge lies at 211, at 231 without the lag of sampling.
    let (inside, near) = behaviour("49us");
    let (outside, far) = behaviour("149us");
    assert!((edge(&near) - 211.2e-6).abs() < 0.2e-6 && near.verdict() == StabilityVerdict::Stable);
    assert_eq!(far.verdict(), StabilityVerdict::Unstable);
    // Inside, samples shake the queue by a few frames and it comes back; outside it swings until it is empty.
    assert!(inside.around < 0.07 * 240_000.0, "{}", inside.around);
    assert!(outside.around > 0.5 * 240_000.0, "{}", outside.around);
    let [small, large] = [inside, outside].map(|seen| seen.peak.expect("a swing"));
    assert!(large.amplitude > 10.0 * small.amplitude, "{small:?} {large:?}");
    // 212 Hz are predicted for equal sources; unequal ones are faster.
    assert!((large.frequency / 212.0 - 1.0).abs() < 0.2, "{large:?}");
}

#[test]
fn threads_change_nothing() {
    let of = plan(LOOP, &["run.duration=20ms", "run.warm_up=5ms"]);
    let bottleneck = FluidPlan::of(&of).expect("a fluid model").bottleneck.expect("a bottleneck");
    let interrupt = AtomicBool::new(false);
    let run =
        |threads: usize| packets(&of, &bottleneck, Span::from_micros(50), threads, &interrupt, |_| {}).expect("a run");
    assert_eq!(run(1), run(3));
}

/// Ten sources of DCQCN on one link, with the values of the paper.
const DCQCN: &str = r#"
    schema_version = 1
    [network]
    topology = "single-switch"
    hosts = 11
    overhead = "0B"
    link = { rate = "40Gb/s", latency = "1us" }
    [[classes]]
    name = "data"
    lossless = false
    [[switches]]
    flow_control = "none"
    buffers = { capacity = "20MB" }
    [protocol]
    name = "dcqcn"
    [congestion_point]
    name = "ecn"
    [[workloads]]
    name = "flows"
    kind = "greedy"
    from = "h{1..10}"
    to = "h0"
    frame = "1000B"
    start_jitter = "20us"
    [run]
    duration = "40ms"
    warm_up = "20ms"
"#;

#[test]
fn the_loop_of_dcqcn_follows_from_its_packets() {
    use theory::fluid::Dcqcn;
    let of = fluid(DCQCN, &[]);
    // Four cables, a frame twice and a notification of 64 bytes twice.
    let delay = 4e-6 + 2.0 * 8000.0 / 40e9 + 2.0 * 512.0 / 40e9;
    assert!(near(value(&of, "delay"), delay), "{}", value(&of, "delay"));
    let Model::Dcqcn(of) = of.model else { panic!("DCQCN") };
    assert_eq!(of, Dcqcn { delay: of.delay, buffer: 20e6, ..Dcqcn::of_the_paper() });
    // Thresholds in proportion to the rate, and sources that react to marks in acknowledgements.
    let of = fluid(
        DCQCN,
        &["congestion_point.reference_rate=10Gb/s", "protocol.preset=hpcc-simulator", "workloads[0].acknowledge={}"],
    );
    assert!(near(value(&of, "kmin"), 20e3) && near(value(&of, "kmax"), 800e3));
    assert!(near(value(&of, "cnp_interval"), 4e-6) && value(&of, "byte_reset") == 0.0);
}

#[test]
fn packets_of_dcqcn_swing_at_the_predicted_frequency_and_more_beyond_the_edge() {
    let swing = |latency: &str| {
        let plan = plan(DCQCN, &[&format!("network.link.latency={latency}")]);
        let of = FluidPlan::of(&plan).expect("a model");
        let analysis = analyse(&of).expect("an analysis");
        let both = BesideFluid::run(&plan, &of, &analysis, 1, &AtomicBool::new(false), |_| {}).expect("both");
        let seen = both.queue[0].clone().expect("packets");
        (analysis.loops_are_stable(), analysis.prediction().1, seen)
    };
    let (stable, predicted, near) = swing("1us");
    let frequency = near.peak.expect("a swing").frequency;
    assert!(stable && (frequency / predicted - 1.0).abs() < 0.2, "{frequency} {predicted}");
    // The queue is that of the fixed point, 122.6 kB, within a quarter.
    assert!((near.mean / 122.6e3 - 1.0).abs() < 0.25, "{}", near.mean);
    let (stable, predicted, far) = swing("21us");
    let frequency = far.peak.expect("a swing").frequency;
    assert!(!stable && (frequency / predicted - 1.0).abs() < 0.2, "{frequency} {predicted}");
    assert!(far.deviation > 1.5 * near.deviation, "{} {}", far.deviation, near.deviation);
}

#[test]
fn round_trips_of_timely_follow_from_its_packets() {
    let timely = |overrides: &[&str]| {
        let text = DCQCN.replace("[congestion_point]\n    name = \"ecn\"\n", "");
        let all: Vec<&str> = ["protocol.name=timely", "workloads[0].acknowledge={}"]
            .into_iter()
            .chain(overrides.iter().copied())
            .collect();
        fluid(&text, &all)
    };
    let of = timely(&[]);
    assert_eq!(of.model.name(), "timely");
    assert!(near(value(&of, "ai_rate"), 40e6) && near(value(&of, "segment"), 16e3));
    let analysis = analyse(&of).expect("an analysis");
    assert!(analysis.continuum.is_some() && analysis.loops.is_empty());
    assert_eq!(analysis.verdict(), StabilityVerdict::Unstable);
    let of = timely(&["protocol.name=patched-timely"]);
    assert!(near(value(&of, "reference_rtt"), 50e-6));
    assert!(analyse(&of).expect("an analysis").shares.expect("shares").are_equal());
}
