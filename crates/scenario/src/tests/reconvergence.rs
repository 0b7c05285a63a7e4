//! Tests of runs in which switches learn of a failing cable.

use super::super::*;
use fabric::{BuildOptions, Outcome, Partition, Probe, RunLimits, Simulation};
use units::{Span, Time};

const TWO_LEAVES: &str = r#"schema_version = 1
[network]
topology = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 1
link = { rate = "10Gb/s", latency = "500ns" }
routing = "spb"
trees = 1
reconverge = "isis"
isis = { detection = "20us", computation = "30us" }
[[faults]]
between = ["leaf0", "spine0"]
down = "200us"
[[switches]]
flow_control = "pfc"
buffers = { capacity = "200KB" }
[[workloads]]
name = "up"
kind = "paced"
from = "h0"
to = "h1"
rate = "1Gb/s"
frame = "1000B"
[[workloads]]
name = "down"
kind = "paced"
from = "h1"
to = "h0"
rate = "1Gb/s"
frame = "1000B"
[run]
duration = "600us"
"#;

/// When frames came, by flow.
#[derive(Default)]
struct Came(Vec<Vec<Time>>);

impl Probe for Came {
    fn on_deliver(&mut self, now: Time, _host: u32, frame: &fabric::Frame) {
        self.0.resize_with(self.0.len().max(frame.flow as usize + 1), Vec::new);
        self.0[frame.flow as usize].push(now);
    }
}

fn plan(text: &str) -> Plan {
    load_str("a.toml", text, &[], &NoFiles, Limits::default()).unwrap_or_else(|errors| panic!("{errors}"))
}

fn run(plan: &Plan) -> Vec<Vec<Time>> {
    let mut simulation =
        Simulation::build_with(&plan.spec, &BuildOptions::default(), |_| Came::default()).expect("sound");
    let limits = RunLimits::until(Time::ZERO + plan.run.duration);
    let report = simulation.run(&limits);
    assert_eq!(report.outcome, Outcome::Finished);
    simulation.probes_mut().next().expect("one shard").0.clone()
}

/// The first delivery after the longest silence.
fn resumed(times: &[Time]) -> Time {
    times.windows(2).max_by_key(|pair| pair[1].saturating_since(pair[0])).expect("two frames")[1]
}

#[test]
fn traffic_resumes_when_the_switch_that_must_turn_has_learned() {
    let plan = plan(TWO_LEAVES);
    let learned = |name: &str| {
        let node = plan.spec.graph.find(name).expect("a switch");
        plan.spec.route_changes.iter().flat_map(|change| change.times(node)).next().expect("it learns")
    };
    let failed = Time::ZERO + Span::from_micros(200);
    let came = run(&plan);
    // The ends of the cable see it and compute. Frames that wait at leaf0 then leave by the other spine: three cables of
    // 500 ns, and three times 1020 B.
    assert_eq!((learned("leaf0"), learned("spine0")), (failed + Span::from_micros(50), failed + Span::from_micros(50)));
    let three = (Span::from_nanos(500) + Span::from_nanos(816)) * 3;
    assert_eq!(resumed(&came[0]), learned("leaf0") + three);
    // leaf1 must be told, by a frame over one cable. Until then what spine0 sends back to it comes to spine0 again; the
    // next that leaf1 has after that leaves by spine1.
    let told = learned("leaf1").saturating_since(learned("spine0"));
    assert!(told > Span::from_nanos(500) && told < Span::from_micros(2), "{told}");
    let after = resumed(&came[1]).saturating_since(learned("leaf1"));
    assert!(after > Span::from_nanos(2 * 1316) && after < three + Span::from_nanos(816), "{after}");
    // Nothing is lost but what was on the cable.
    let rate = came[1].len();
    assert!((70..=74).contains(&rate), "{rate} frames of 73");
}

/// The spine at the end of the cable has turned before the leaf behind it: that is foretold.
#[test]
fn circles_are_foretold_while_switches_differ() {
    let told = |text: &str| {
        let plan = plan(text);
        let found: Vec<Finding> =
            check(&plan).into_iter().filter(|it| it.message.contains("frames can loop")).collect();
        (plan, found)
    };
    let (plan, found) = told(TWO_LEAVES);
    let [finding] = &found[..] else { panic!("{found:#?}") };
    let leaf = plan.spec.graph.find("leaf1").expect("a leaf");
    let until = plan.spec.route_changes[0].times(leaf).next().expect("it learns");
    assert!(finding.message.starts_with(&format!("from 250us to {until}, while")), "{finding:?}");
    let (one, other) = ("loop: leaf1 -> spine0 -> leaf1;", "loop: spine0 -> leaf1 -> spine0;");
    assert!(finding.message.contains(one) || finding.message.contains(other), "{finding:?}");
    assert_eq!(finding.severity, Severity::Warning);
    // All at one instant: nobody differs.
    let stated = TWO_LEAVES.replace("\"isis\"\nisis = { detection = \"20us\", computation = \"30us\" }", "\"50us\"");
    assert!(told(&stated).1.is_empty());
}

#[test]
fn what_is_learned_is_the_same_on_any_threads() {
    let shortest = TWO_LEAVES.replace("routing = \"spb\"\ntrees = 1\n", "");
    let up_down =
        TWO_LEAVES.replace("routing = \"spb\"\ntrees = 1\n", "routing = \"up-down\"\nlocal_repair = \"10us\"\n");
    for text in [TWO_LEAVES, &shortest, &up_down] {
        let spec = plan(text).spec;
        let run = |threads: usize, partition: Partition| {
            let options = BuildOptions { partition, shards: threads, shuffle: None };
            let mut simulation = Simulation::build(&spec, &options).expect("sound");
            let limits = RunLimits { threads, ..RunLimits::until(Time::ZERO + Span::from_micros(600)) };
            simulation.run(&limits).fingerprint
        };
        let expected = run(1, Partition::One);
        for threads in 1..=4 {
            assert_eq!(run(threads, Partition::Natural), expected, "{threads} threads: {text}");
            assert_eq!(run(threads, Partition::PerNode), expected, "{threads} threads: {text}");
        }
    }
}
