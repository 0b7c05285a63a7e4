//! Conservation over random networks; and, in the modules, networks of mixed kinds, theory, known roots and counterfactuals.

mod analytic;
mod counterfactual;
mod mixed;
mod poisson;
mod queue;
mod roots;

use super::ledger::{Cause, Root};
use super::{Causes, FlowCauses, Found, TreeRow, followed};
use fabric::record::{Recorder, RecorderSpec, drain, drain_before, finish};
use fabric::{BuildOptions, FlowSummary, Outcome, Partition, RunLimits, RunSummary, Simulation};
use scenario::{Limits, NoFiles, Plan, load_str};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use units::{Span, Stream, Time};

/// A run of which the causes are known.
struct Run {
    plan: Plan,
    causes: Vec<FlowCauses>,
    trees: Vec<TreeRow>,
    flows: Vec<FlowSummary>,
    summary: RunSummary,
}

fn plan(text: &str) -> Plan {
    load_str("test", text, &[], &NoFiles, Limits::default())
        .unwrap_or_else(|errors| panic!("{}\n{text}", errors.render(false)))
}

fn file(name: &str) -> Plan {
    let path = format!("{}/../../scenarios/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    scenario::load(std::path::Path::new(&path), &[]).unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

fn run_on(plan: Plan, shards: usize, threads: usize) -> Run {
    let recorder = RecorderSpec { causes: true, followed: followed(&plan.spec), ..RecorderSpec::nothing() };
    let options = BuildOptions { partition: Partition::Natural, shards, shuffle: None };
    let mut simulation =
        Simulation::build_with(&plan.spec, &options, |_| Recorder::new(recorder.clone()).holding(5000))
            .unwrap_or_else(|errors| panic!("{errors}"));
    let mut causes = Causes::new(&plan.spec, Time::ZERO + plan.run.warm_up, Span::from_micros(7), true);
    let limits = RunLimits { threads, ..RunLimits::until(Time::ZERO + plan.run.duration) };
    let summary = simulation.run_supervised(&limits, |seen, probes| {
        let rows = if seen.inspection { drain(probes) } else { drain_before(probes, seen.now) };
        causes.take(&rows.events);
        ControlFlow::Continue(())
    });
    let flows = simulation.flows();
    let mut probes: Vec<&mut Recorder> = simulation.probes_mut().collect();
    causes.take(&finish(&mut probes, summary.now).rows.events);
    let Found { flows: causes, trees } = causes.close(summary.now);
    Run { causes, trees, plan, flows, summary }
}

fn run(plan: Plan) -> Run {
    run_on(plan, 1, 1)
}

impl Run {
    fn of(&self, name: &str) -> &FlowCauses {
        let number = self.plan.flow_names.iter().position(|flow| flow == name);
        let number = number.unwrap_or_else(|| panic!("no flow {name}")) as u32;
        self.causes.iter().find(|causes| causes.flow == number).expect("it has started")
    }

    fn port(&self, name: &str) -> u32 {
        let rows = fabric::record::port_rows(&self.plan.spec.graph);
        rows.iter().find(|row| format!("{} -> {}", row.node, row.peer) == name).expect("there is such a link").port
    }

    fn name(&self, flow: u32) -> String {
        self.plan.flow_names.get(flow as usize).expect("a flow").into_owned()
    }

    /// Every flow that has started has causes, and they add up to its time.
    fn assert_conserved(&self) {
        let started = self.flows.iter().filter(|flow| flow.started.is_some()).count();
        assert_eq!(self.causes.len(), started);
        let warm_up = Time::ZERO + self.plan.run.warm_up;
        for causes in &self.causes {
            let (flow, spec) = (&self.flows[causes.flow as usize], &self.plan.spec.flows[causes.flow as usize]);
            let finite = spec.size.is_some();
            let from = flow.started.expect("it has").max(if finite { Time::ZERO } else { warm_up });
            let name = self.name(causes.flow);
            let stop = spec.stop.filter(|&stop| stop < self.summary.now);
            let until = match flow.completed {
                Some(completed) => completed,
                // One that has sent all may still be complete after its stop.
                None if finite && causes.until == self.summary.now.as_picos() => self.summary.now,
                None => stop.unwrap_or(self.summary.now),
            };
            assert_eq!(causes.complete, flow.completed.is_some(), "{name}");
            assert_eq!((causes.from, causes.until), (from.as_picos(), until.as_picos().max(causes.from)), "{name}");
            assert_eq!(causes.ledger.total(), causes.until - causes.from, "{name}: {causes:#?}");
            self.assert_course(causes);
        }
    }
}

impl Run {
    /// The causes over time add up, in every interval, to the part of the flow's time in it; and, by cause, to the whole.
    fn assert_course(&self, causes: &FlowCauses) {
        let name = self.name(causes.flow);
        let mut sums: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        let mut by_cause: BTreeMap<(Cause, u32), u64> = BTreeMap::new();
        for moment in &causes.course {
            sums.entry(moment.until).or_insert((moment.width, 0)).1 += moment.time;
            *by_cause.entry((moment.cause, moment.port)).or_default() += moment.time;
        }
        for (until, (width, sum)) in sums {
            let within = until.min(causes.until) - (until - width).max(causes.from);
            assert_eq!(sum, within, "{name} in the interval to {until}: {causes:#?}");
        }
        for (key, span) in causes.ledger.iter() {
            let rest = by_cause.get_mut(&(key.cause, key.port)).expect("it is there");
            *rest = rest.checked_sub(span).expect("no more than there is");
        }
        assert!(by_cause.values().all(|&rest| rest == 0), "{name}: {by_cause:?} {causes:#?}");
    }
}

impl FlowCauses {
    fn share(&self, which: impl Fn(&super::ledger::Key) -> bool) -> f64 {
        let sum: u64 = self.ledger.iter().filter(|(key, _)| which(key)).map(|(_, span)| span).sum();
        sum as f64 / (self.until - self.from) as f64
    }
}

/// Switches of many kinds, by name.
const SWITCHES: [(&str, &str); 13] = [
    (
        "pfc",
        r#"flow_control = "pfc"
        buffers = { capacity = "60KB", xoff = "30KB", xon = "27KB" }"#,
    ),
    (
        "pause",
        r#"flow_control = "pause"
        buffers = { capacity = "60KB", xoff = "30KB", xon = "27KB" }"#,
    ),
    (
        "credits",
        r#"flow_control = "credits"
        buffers = { capacity = "20KB" }"#,
    ),
    (
        "few-credits",
        r#"flow_control = "credits"
        queueing = "virtual-output"
        forwarding = "cut-through"
        header_delay = "100ns"
        buffers = { capacity = "4KiB" }"#,
    ),
    (
        "shared",
        r#"flow_control = "pfc"
        buffer = "shared"
        shared_size = "100KB"
        alpha = "1/4"
        buffers = {}"#,
    ),
    (
        "fifo",
        r#"flow_control = "pfc"
        queueing = "input-fifo"
        buffers = { capacity = "60KB", xoff = "30KB", xon = "27KB" }"#,
    ),
    (
        "virtual-output",
        r#"flow_control = "pfc"
        queueing = "virtual-output"
        buffers = { capacity = "60KB", xoff = "30KB", xon = "27KB" }"#,
    ),
    (
        "combined",
        r#"flow_control = "pfc"
        queueing = "combined"
        output_buffer = "6KB"
        buffers = { capacity = "60KB", xoff = "30KB", xon = "27KB" }"#,
    ),
    (
        "latency",
        r#"flow_control = "pfc"
        pipeline = "700ns"
        order = "round-robin"
        buffers = { capacity = "80KB", xoff = "30KB", xon = "27KB" }"#,
    ),
    (
        "lossy",
        r#"flow_control = "none"
        buffers = { capacity = "25KB" }"#,
    ),
    (
        "lossy, trimming",
        r#"flow_control = "none"
        buffers = { capacity = "60KB" }
        congestion_points = [{ name = "trim", classes = ["low"] }]"#,
    ),
    (
        "notices",
        r#"flow_control = "pfc"
        congestion_point = { name = "qcn" }
        buffers = { capacity = "80KB", xoff = "50KB", xon = "47KB" }"#,
    ),
    (
        "marking",
        r#"flow_control = "pfc"
        congestion_point = { name = "ecn", kmin = "5KB", kmax = "20KB", pmax = 0.5 }
        buffers = { capacity = "80KB", xoff = "50KB", xon = "47KB" }"#,
    ),
];

/// A network with flows at random, some with a size and some without, on switches of a kind.
fn random(seed: u64, kind: &str, switches: &str) -> String {
    let mut stream = Stream::new(seed, 0, "causes");
    let mut pick = |below: u64| stream.below(below);
    let topology = match pick(3) {
        0 => "topology = \"two-switches\"\n left = 4\n right = 4\n trunks = 1\n trunk = { rate = \"20Gb/s\" }",
        1 => "topology = \"leaf-spine\"\n leaves = 2\n spines = 2\n hosts_per_leaf = 4",
        _ => "topology = \"single-switch\"\n hosts = 8",
    };
    let spray = if kind != "fifo" && pick(4) == 0 { "multipath = \"spray\"" } else { "" };
    let lossy = kind.starts_with("lossy");
    let (classes, class) = match pick(3) {
        0 => ("[[classes]]\nname = \"low\"\n[[classes]]\nname = \"high\"\n", true),
        _ => ("", false),
    };
    let classes = if lossy { classes.replace("\"\n", "\"\nlossless = false\n") } else { classes.to_owned() };
    let classes = if lossy && !class { "[[classes]]\nname = \"low\"\nlossless = false\n".to_owned() } else { classes };
    let trims = kind.ends_with("trimming");
    let classes = if trims {
        "low headers".split(' ').map(|name| format!("[[classes]]\nname = \"{name}\"\nlossless = false\n")).collect()
    } else {
        classes
    };
    let mut text = format!(
        "schema_version = 1\n[network]\n{topology}\n{spray}\nlink = {{ rate = \"10Gb/s\", latency = \"500ns\" }}\n\
         {classes}[[switches]]\n{switches}\n[run]\nduration = \"1ms\"\nwarm_up = \"100us\"\n"
    );
    if !lossy && pick(3) == 0 {
        text.push_str("[[adapters]]\n[[adapters]]\nmatch = \"h7\"\nflow_control = \"pfc\"\nservice = \"2Gb/s\"\n");
        text.push_str("buffers = { capacity = \"50KB\", xoff = \"20KB\", xon = \"17KB\" }\n");
    }
    for number in 0..8 + pick(6) {
        let from = pick(8);
        let to = [7, (from + 1 + pick(6)) % 8][pick(2) as usize];
        let to = if from == to { (to + 1) % 8 } else { to };
        let source = match pick(3) {
            0 => "kind = \"paced\"\nrate = \"3Gb/s\"\ngaps = \"exponential\"".to_owned(),
            _ => "kind = \"greedy\"".to_owned(),
        };
        let size = if pick(4) > 0 { format!("size = \"{}B\"", 100 + pick(60_000)) } else { String::new() };
        let stop = if pick(8) == 0 { "stop = \"700us\"" } else { "" };
        let class = ["class = \"low\"", "class = \"high\""][pick(2) as usize];
        let class = if classes.contains("high") { class } else { "" };
        let control = match pick(4) {
            _ if lossy && size.is_empty() => "",
            0 if lossy => "recovery = \"go-back-n\"",
            _ if lossy => {
                "recovery = { name = \"sack\", preset = \"data-centre\" }\nprotocol = { name = \"none\", window = \"16KB\" }"
            }
            _ if kind == "notices" => "protocol = { name = \"qcn\" }",
            0 => "acknowledge = {}\nprotocol = { name = \"none\", window = \"16KB\" }",
            1 => "protocol = { name = \"none\", rate = \"4Gb/s\" }",
            _ => "",
        };
        let start = pick(300);
        text.push_str(&format!(
            "[[workloads]]\nname = \"f{number}\"\n{source}\nfrom = \"h{from}\"\nto = \"h{to}\"\n{size}\n{stop}\n{class}\n\
             {control}\nstart = \"{start}us\"\n"
        ));
    }
    text
}

#[test]
fn causes_add_up_in_networks_of_every_kind_and_no_partitioning_changes_them() {
    let (mut flows, mut complete) = (0, 0);
    for (place, (kind, switches)) in (0..).zip(SWITCHES) {
        for seed in 0..40 {
            let text = random(100 * place + seed, kind, switches);
            let run = run(plan(&text));
            run.assert_conserved();
            flows += run.causes.len();
            complete += run.causes.iter().filter(|flow| flow.complete).count();
            let mut bare = Simulation::build(&run.plan.spec, &BuildOptions::default()).expect("it was built before");
            let bare = bare.run(&RunLimits::until(Time::ZERO + run.plan.run.duration));
            assert_eq!(bare.fingerprint, run.summary.fingerprint, "{kind} {seed}");
            if seed == 0 {
                for shards in [2, 3] {
                    let split = run_on(plan(&text), shards, shards);
                    assert_eq!(split.causes, run.causes, "{kind} {seed} in {shards} shards");
                    assert_eq!(split.trees, run.trees, "{kind} {seed} in {shards} shards");
                }
            }
        }
    }
    assert!(complete > 200 && flows > 400, "{complete} of {flows} are complete");
}

/// Frames that wait for an output look for another one when routes change, or are dropped.
#[test]
fn causes_add_up_when_links_fail_and_routes_change() {
    for (seed, network) in (0..).zip(["planes = 2\nmultipath = \"spray\"", "planes = 2", "multipath = \"spray\"", ""]) {
        for recovery in ["selective-repeat", "go-back-n"] {
            let text = format!(
                "schema_version = 1\n[network]\ntopology = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 4\n\
                 {network}\nreconverge = \"20us\"\nlink = {{ rate = \"100Gb/s\", latency = \"300ns\" }}\n[[switches]]\n\
                 flow_control = \"pfc\"\nbuffers = {{ capacity = \"400KB\" }}\n[recovery]\nname = \"{recovery}\"\n\
                 [[workloads]]\nname = \"all\"\nkind = \"collective\"\nsize = \"1MB\"\nframe = \"4096B\"\niterations = 4\n\
                 [[faults]]\nbetween = [\"{leaf}\", \"{spine}\"]\ndown = \"60us\"\nup = \"150us\"\n[[faults]]\n\
                 between = [\"h3\", \"{leaf}\"]\ndown = \"170us\"\nup = \"240us\"\n[run]\nduration = \"10ms\"\nseed = {seed}\n",
                leaf = if network.contains("planes") { "p1-leaf0" } else { "leaf0" },
                spine = if network.contains("planes") { "p1-spine0" } else { "spine0" },
            );
            let whole = run(plan(&text));
            whole.assert_conserved();
            // Go-back-N takes long where frames overtake each other.
            assert!(whole.causes.iter().filter(|flow| flow.complete).count() > 100, "{text}");
            assert!(whole.summary.totals.lost_frames + whole.summary.totals.dropped_frames > 0, "{text}");
            assert_eq!(run_on(plan(&text), 3, 2).causes, whole.causes, "{text}");
        }
    }
}
