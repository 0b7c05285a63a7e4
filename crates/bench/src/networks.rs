//! Whole networks: packet-hops per second, memory, and the bare run that callgrind counts.

use fabric::graph::{HostId, LinkSpec};
use fabric::spec::{
    AdapterSpec, Buffer, ClassBuffer, ClassSpec, Egress, FlowControl, Forwarding, NetworkSpec, PauseSpec, Queueing,
    SwitchSpec,
};
use fabric::topology::{self, Links};
use fabric::workload::{self, FlowSpec};
use fabric::{BuildOptions, Outcome, Partition, RunLimits, RunSummary, Simulation};
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
    }
}

fn network(graph: fabric::graph::Graph) -> NetworkSpec {
    let class = ClassSpec { name: "lossless".into(), lossless: true };
    let mut spec = NetworkSpec::uniform(graph, switch(), AdapterSpec::default(), class);
    spec.overhead = Bytes::ZERO;
    spec
}

fn template() -> FlowSpec {
    FlowSpec { frame: Bytes::new(1000), ..FlowSpec::greedy(HostId(0), HostId(1)) }
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
    spec.flows = workload::permutation(&hosts(&spec), &template(), spec.seed);
    spec
}

fn simulate(spec: &NetworkSpec, micros: u64, threads: usize) -> (RunSummary, f64) {
    let options = BuildOptions { partition: Partition::Natural, shards: threads, shuffle: None };
    let mut simulation = Simulation::build(spec, &options).expect("the benchmark's network is sound");
    let until = Time::ZERO + Span::from_micros(micros);
    let limits = RunLimits { threads, ..RunLimits::until(until) };
    let start = Instant::now();
    let report = simulation.run(&limits);
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(report.outcome, Outcome::Finished);
    (report, seconds)
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

/// Permutation traffic on a fat-tree; with several threads also the ratio to one, measured alternately.
pub fn fat_tree(k: u32, micros: u64, threads: usize) {
    let spec = permutation(k);
    let (mut one, mut many) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        one.push(simulate(&spec, micros, 1));
        if threads > 1 {
            many.push(simulate(&spec, micros, threads));
        }
    }
    print(&format!("fat-tree k={k}, {micros} us, 1 thread"), &mut one);
    if threads > 1 {
        print(&format!("fat-tree k={k}, {micros} us, {threads} threads"), &mut many);
        println!("ratio {:.2}", one[1].1 / many[1].1);
    }
}

/// Many to one on a single switch.
pub fn incast(senders: u32, micros: u64) {
    let graph = topology::single_switch(senders + 1, link()).expect("a switch and its hosts");
    let mut spec = network(graph);
    spec.flows = workload::incast(&hosts(&spec), HostId(0), &template(), Span::from_micros(1), spec.seed);
    let mut runs: Vec<_> = (0..3).map(|_| simulate(&spec, micros, 1)).collect();
    print(&format!("incast {senders} to 1, {micros} us"), &mut runs);
}

/// One run and nothing else: callgrind counts two lengths, and the difference is the cost of hops alone.
pub fn hop(k: u32, micros: u64) {
    let (report, _) = simulate(&permutation(k), micros, 1);
    println!("{}", report.totals.hops);
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
