//! Whole networks: packet-hops per second, memory, and the bare run that callgrind counts.

use congestion::parameter::{Value, Values};
use congestion::{POINTS, PROTOCOLS, Point, Reaction};
use fabric::graph::{HostId, LinkSpec};
use fabric::spec::{
    AdapterSpec, Buffer, ClassBuffer, ClassSpec, CongestionPointSpec, Egress, FlowControl, Forwarding, NetworkSpec,
    PauseSpec, Queueing, SwitchSpec,
};
use fabric::topology::{self, Links};
use fabric::transport::{RECOVERIES, Recovery};
use fabric::workload::{self, Acknowledge, FlowSpec, Notify, TelemetrySpec};
use fabric::{BuildOptions, Outcome, Partition, RunLimits, RunSummary, Simulation, Sizing};
use std::sync::Arc;
use std::time::Instant;
use units::{Bytes, Rate, Span, Time};

fn link() -> LinkSpec {
    LinkSpec { rate: Rate::from_gigabits(100), latency: Span::from_micros(1), bit_error_rate: 0.0 }
}

/// Output queues under PFC: 100 kB above which the sender stops, and room for what a 1 us cable still delivers.
fn switch() -> SwitchSpec {
    let buffer = ClassBuffer::lossless(Bytes::new(200_000), Bytes::new(100_000), Bytes::new(90_000));
    SwitchSpec {
        queueing: Queueing::Output,
        buffer: Buffer::Static(vec![buffer]),
        flow_control: FlowControl::Pfc(PauseSpec::default()),
        crossbar: None,
        egress: Egress::Strict,
        forwarding: Forwarding::StoreAndForward,
        pipeline: Span::ZERO,
        order: fabric::spec::Order::Arrival,
        congestion_point: None,
        pfc_watchdog: None,
    }
}

fn network(graph: fabric::graph::Graph) -> NetworkSpec {
    let class = ClassSpec { name: "lossless".into(), lossless: true };
    let mut spec = NetworkSpec::uniform(graph, switch(), AdapterSpec::default(), class);
    spec.overhead = Bytes::ZERO;
    spec
}

fn template() -> FlowSpec {
    FlowSpec::greedy(HostId(0), HostId(1)).with(|it| {
        it.frame = Bytes::new(1000);
    })
}

fn hosts(spec: &NetworkSpec) -> Vec<HostId> {
    (0..spec.graph.hosts().len() as u32).map(HostId).collect()
}

fn permutation(k: u32) -> NetworkSpec {
    let graph = topology::fat_tree(k, Links::same(link())).unwrap_or_else(|error| {
        eprintln!("bench: {error}");
        std::process::exit(2)
    });
    let mut spec = network(graph);
    spec.flows = workload::permutation(&hosts(&spec), &template(), spec.seed).into();
    spec
}

fn simulate(spec: &NetworkSpec, micros: u64, sizing: Sizing) -> (RunSummary, f64) {
    let options = BuildOptions { partition: Partition::Natural, shards: sizing.shards, shuffle: None };
    let mut simulation = Simulation::build(spec, &options).expect("the benchmark's network is sound");
    let until = Time::ZERO + Span::from_micros(micros);
    let limits = RunLimits { threads: sizing.threads, ..RunLimits::until(until) };
    let start = Instant::now();
    let report = simulation.run(&limits);
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(report.outcome, Outcome::Finished);
    (report, seconds)
}

/// Runs in turn, so that what else the machine does strikes all alike: of each the runs, the median first.
fn in_turn(runs: &[(&NetworkSpec, u64, Sizing)]) -> Vec<(RunSummary, f64)> {
    let mut taken: Vec<Vec<(RunSummary, f64)>> = vec![Vec::new(); runs.len()];
    for _ in 0..3 {
        for (taken, &(spec, micros, sizing)) in taken.iter_mut().zip(runs) {
            taken.push(simulate(spec, micros, sizing));
        }
    }
    let median = |mut runs: Vec<(RunSummary, f64)>| {
        runs.sort_by(|a, b| a.1.total_cmp(&b.1));
        runs.swap_remove(1)
    };
    taken.into_iter().map(median).collect()
}

/// Million packet-hops per second.
fn rate((report, seconds): &(RunSummary, f64)) -> f64 {
    report.totals.hops as f64 / seconds / 1e6
}

fn print(name: &str, runs: &mut [(RunSummary, f64)]) {
    runs.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (report, seconds) = &runs[runs.len() / 2];
    let hops = report.totals.hops;
    println!(
        "{name}: {:.2} million hops/s (median of {}), {:.1} ns per hop, {hops} hops, {} alarms, {} pause frames, fingerprint {:016x}",
        hops as f64 / seconds / 1e6,
        runs.len(),
        seconds / hops as f64 * 1e9,
        report.events,
        report.totals.pause_frames,
        report.fingerprint,
    );
}

/// Permutation traffic on a fat-tree; with several threads also the ratio to one, measured alternately. `shards` is 0
/// for what the program chooses itself.
pub fn fat_tree(k: u32, micros: u64, threads: usize, shards: usize) {
    let spec = permutation(k);
    let sizing = |threads: usize| match shards {
        0 => Sizing::of(&spec, threads),
        shards => Sizing { shards, threads },
    };
    let (one, many) = (sizing(1), sizing(threads));
    let name = |sizing: Sizing| {
        format!("fat-tree k={k}, {micros} us, {} threads of {threads}, {} shards", sizing.threads, sizing.shards)
    };
    let mut runs = in_turn(&[(&spec, micros, one), (&spec, micros, many)]);
    let second = runs.split_off(1);
    print(&name(one), &mut runs);
    if threads > 1 {
        assert_eq!(runs[0].0.fingerprint, second[0].0.fingerprint, "threads changed the result");
        print(&name(many), &mut second.clone());
        println!("ratio {:.2}", rate(&second[0]) / rate(&runs[0]));
    }
}

/// One thread at several sizes, as ratios to the first.
pub fn sizes(micros: u64) {
    let ks = [8, 16, 32];
    let specs = ks.map(permutation);
    let runs: Vec<_> = specs
        .iter()
        .zip(ks)
        .map(|(spec, k)| (spec, (micros * 512 / u64::from(k).pow(3)).max(20), Sizing::of(spec, 1)))
        .collect();
    let taken = in_turn(&runs);
    for ((k, run), (_, micros, sizing)) in ks.iter().zip(&taken).zip(&runs) {
        let (rate, ratio) = (rate(run), rate(run) / rate(&taken[0]));
        println!("k={k}, {micros} us, {} shards: {rate:.2} million hops/s, {ratio:.2} of k=8", sizing.shards);
    }
}

/// The network with flows of several kinds, the plain ones first.
fn kinds_of(k: u32) -> [(&'static str, NetworkSpec); 8] {
    let plain = permutation(k);
    let change = |flow: &dyn Fn(&mut FlowSpec), watched: Option<&str>| {
        let mut spec = permutation(k);
        spec.flows.iter_mut().for_each(flow);
        spec.switches[0].congestion_point = watched.map(|name| CongestionPointSpec::point(point(name)));
        spec
    };
    let acknowledge = |flow: &mut FlowSpec, every: u32| {
        flow.acknowledge = Some(Acknowledge { size: Bytes::new(64), class: 0, every, delay: None });
    };
    let window = Value::Size(Bytes::new(200_000));
    let windowed = |flow: &mut FlowSpec| {
        acknowledge(flow, 1);
        flow.reaction = protocol("none", &[("window", window.clone())]);
    };
    let table = |flow: &mut FlowSpec| {
        acknowledge(flow, 1);
        flow.reaction = protocol("infiniband-cc", &[]);
    };
    let reliable = |flow: &mut FlowSpec| {
        acknowledge(flow, 1);
        flow.recovery = Some(recovery("go-back-n"));
    };
    let dcqcn = |flow: &mut FlowSpec| {
        acknowledge(flow, 1);
        flow.notify = Some(Notify::default());
        flow.reaction = protocol("dcqcn", &[]);
    };
    let hpcc = |flow: &mut FlowSpec| {
        acknowledge(flow, 1);
        flow.telemetry = Some(TelemetrySpec::default());
        flow.reaction = protocol("hpcc", &[]);
    };
    [
        ("plain", plain),
        ("acknowledged", change(&|flow| acknowledge(flow, 1), None)),
        ("windowed", change(&windowed, None)),
        ("marked by InfiniBand switches", change(&|_| {}, Some("infiniband-fecn"))),
        ("marked by InfiniBand switches, acknowledged, controlled", change(&table, Some("infiniband-fecn"))),
        ("reliable, an acknowledgement per frame", change(&reliable, None)),
        ("DCQCN with ECN, acknowledged", change(&dcqcn, Some("ecn"))),
        ("HPCC with telemetry", change(&hpcc, None)),
    ]
}

/// The same network with flows of several kinds, as ratios to plain ones.
pub fn kinds(k: u32, micros: u64) {
    let specs = kinds_of(k);
    let runs: Vec<_> = specs.iter().map(|(_, spec)| (spec, micros, Sizing::of(spec, 1))).collect();
    let taken = in_turn(&runs);
    for ((name, _), run) in specs.iter().zip(&taken) {
        let (rate, ratio) = (rate(run), rate(run) / rate(&taken[0]));
        println!(
            "{name}: {rate:.2} million hops/s, {ratio:.2} of plain, {} hops, fingerprint {:016x}",
            run.0.totals.hops, run.0.fingerprint
        );
    }
}

fn recovery(name: &str) -> Arc<Recovery> {
    let info = RECOVERIES.iter().find(|info| info.name == name).expect("a recovery of that name");
    Arc::new((info.build)(&Values::defaults(info.parameters)).expect("its defaults fit"))
}

fn point(name: &str) -> Point {
    let info = POINTS.iter().find(|info| info.name == name).expect("a congestion point of that name");
    (info.build)(&Values::defaults(info.parameters)).expect("its defaults fit")
}

fn protocol(name: &str, given: &[(&'static str, Value)]) -> Reaction {
    let info = PROTOCOLS.iter().find(|info| info.name == name).expect("a protocol of that name");
    let values = Values::defaults(info.parameters);
    let values = given.iter().fold(values, |values, (name, value)| values.with(name, value.clone()));
    (info.build)(&values).expect("its values fit")
}

/// Many to one on a single switch.
pub fn incast(senders: u32, micros: u64) {
    let graph = topology::single_switch(senders + 1, link()).expect("a switch and its hosts");
    let mut spec = network(graph);
    spec.flows = workload::incast(&hosts(&spec), HostId(0), &template(), Span::from_micros(1), spec.seed).into();
    let mut runs: Vec<_> = (0..3).map(|_| simulate(&spec, micros, Sizing { shards: 1, threads: 1 })).collect();
    print(&format!("incast {senders} to 1, {micros} us"), &mut runs);
}

/// One run and nothing else: callgrind counts two lengths, and the difference is the cost of hops alone.
/// `kind` is a position among those of [`kinds`].
pub fn hop(k: u32, micros: u64, kind: usize) {
    let (_, spec) = kinds_of(k).into_iter().nth(kind).expect("a kind of flows");
    let (report, _) = simulate(&spec, micros, Sizing { shards: 1, threads: 1 });
    println!("{} hops, fingerprint {:016x}", report.totals.hops, report.fingerprint);
}

/// Time and memory to build a fat-tree that stands idle.
pub fn build(k: u32) {
    let before = resident();
    let start = Instant::now();
    let graph = topology::fat_tree(k, Links::same(link())).expect("an even k");
    let spec = network(graph);
    let simulation = Simulation::build(&spec, &BuildOptions::default()).expect("the benchmark's network is sound");
    let seconds = start.elapsed().as_secs_f64();
    let hosts = spec.graph.hosts().len();
    // What the running network needs; the description can go.
    drop(spec);
    println!(
        "fat-tree k={k}: {hosts} hosts, {} ports, built in {seconds:.2} s, peak {:.0} MB, built {:.0} MB, {:.0} B per host with its share of the switches",
        simulation.ports(),
        peak() / 1e6,
        resident() / 1e6,
        (resident() - before) / hosts as f64,
    );
    drop(simulation);
    // One switch with many hosts, all of them idle: what a host itself costs.
    let sizes = [4_000u32, 8_000];
    let used = sizes.map(|hosts| {
        let before = resident();
        let spec = network(topology::single_switch(hosts, link()).expect("a switch and its hosts"));
        let simulation = Simulation::build(&spec, &BuildOptions::default()).expect("the benchmark's network is sound");
        drop(spec);
        let used = resident() - before;
        drop(simulation);
        used
    });
    println!("one idle host and its port on a switch: {:.0} B", used[1] / f64::from(sizes[1]));
}

fn status(key: &str) -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(key)).unwrap_or("");
    let kilobytes: f64 = line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0.0);
    kilobytes * 1024.0
}

fn resident() -> f64 {
    status("VmRSS:")
}

fn peak() -> f64 {
    status("VmHWM:")
}
