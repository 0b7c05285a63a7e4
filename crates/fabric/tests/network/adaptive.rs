//! Choices among equal paths by queue length and by flowlets.

use crate::kit::*;
use fabric::graph::Graph;
use fabric::spec::*;
use fabric::topology::{self, Links};
use fabric::workload::{Acknowledge, Activity, FlowSpec};
use fabric::{Frame, Probe, QueueSample};
use std::collections::{BTreeMap, BTreeSet};
use units::{Bytes, Rate, Span, Time};

/// Two leaves with three hosts each and three spines.
fn graph() -> Graph {
    topology::leaf_spine(2, 3, 3, Links::same(link(10, Span::from_nanos(500)))).unwrap()
}

/// The ports of the first leaf that lead to spines.
fn uplinks(graph: &Graph) -> Vec<u32> {
    let rows = fabric::record::port_rows(graph);
    let leaf = rows.iter().find(|row| row.node == "h0").map(|row| row.peer.clone()).unwrap();
    rows.iter().filter(|row| row.node == leaf && !row.peer.starts_with('h')).map(|row| row.port).collect()
}

/// The largest difference between the queues of some ports, in bytes, and the ports on which each flow was sent.
#[derive(Clone, Default)]
struct Spread {
    ports: Vec<u32>,
    queues: BTreeMap<u32, u32>,
    most: u32,
    used: BTreeMap<u32, BTreeSet<u32>>,
}

impl Probe for Spread {
    fn sample_every(&self) -> Option<Span> {
        Some(Span::from_nanos(1_700))
    }
    fn on_queue(&mut self, _now: Time, sample: QueueSample) {
        if !self.ports.contains(&sample.port) {
            return;
        }
        self.queues.insert(sample.port, sample.output_bytes);
        if self.ports.last() == Some(&sample.port) {
            let (least, most) = (self.queues.values().min().unwrap(), self.queues.values().max().unwrap());
            self.most = self.most.max(most - least);
        }
    }
    fn on_transmit(&mut self, _now: Time, port: u32, frame: &Frame, _waited: Span, _busy: Span) {
        if self.ports.contains(&port) {
            self.used.entry(frame.flow).or_default().insert(port);
        }
    }
}

fn spread(spec: &NetworkSpec, until: Span) -> Spread {
    let ports = uplinks(&spec.graph);
    let (mut simulation, _) = run_with(spec, until, |_| Spread { ports: ports.clone(), ..Spread::default() });
    simulation.probes_mut().map(std::mem::take).next().unwrap()
}

/// Three flows of 25 Gb/s overload three uplinks of 10 Gb/s. Queues that frames join at their shortest differ by no more
/// than a frame or two, whatever the hashes are.
#[test]
fn adaptive_routing_joins_the_shortest_queue() {
    let mut most = [0, 0];
    for seed in 1..6 {
        for (place, multipath) in [Multipath::FlowHash, Multipath::Adaptive].into_iter().enumerate() {
            let mut graph = graph();
            let hosts: Vec<bool> = graph.nodes.iter().map(|node| node.name.starts_with('h')).collect();
            for cable in &mut graph.cables {
                let to_host = hosts[cable.a.0 as usize] || hosts[cable.b.0 as usize];
                cable.link.rate = Rate::from_gigabits(if to_host { 25 } else { 10 });
            }
            let mut spec = network(graph, pfc_switch(), lossless());
            (spec.multipath, spec.seed) = (multipath, seed);
            spec.flows = (0..3).map(|host| greedy(host, host + 3, 1000)).collect();
            most[place] = most[place].max(spread(&spec, Span::from_micros(200)).most);
        }
    }
    assert!(most[1] <= 2_000, "{most:?}");
    assert!(most[0] > 20_000, "{most:?}");
}

/// A flow without gaps keeps its path, also while PFC holds it for less than the gap; one that pauses longer than the gap takes others, and its frames stay in order.
#[test]
fn flowlets_change_paths_after_a_gap_only() {
    for choice in [FlowletChoice::Random, FlowletChoice::Shortest] {
        let mut spec = network(graph(), pfc_switch(), lossless());
        spec.multipath = Multipath::Flowlet(FlowletSpec { gap: Span::from_micros(50), entries: 1024, choice });
        let bursts = |off: u64| Activity::OnOff {
            on: Span::from_micros(5),
            off: Span::from_micros(off),
            random: false,
            discard: false,
        };
        spec.flows = vec![
            greedy(0, 3, 1000),
            greedy(1, 4, 1000).with(|it| {
                it.activity = bursts(10);
            }),
            greedy(2, 5, 1000).with(|it| {
                it.activity = bursts(100);
            }),
        ]
        .into();
        let used = spread(&spec, Span::from_millis(2)).used;
        let paths: Vec<usize> = (0..3).map(|flow| used[&flow].len()).collect();
        assert_eq!(paths[..2], [1, 1], "{choice:?}");
        // The shortest of equally empty queues is always the same.
        assert!(choice == FlowletChoice::Shortest || paths[2] > 1, "{choice:?}: {paths:?}");
        let (mut simulation, _) = run_with(&spec, Span::from_millis(2), |_| Deliveries::default());
        assert!(simulation.probes_mut().all(|probe| probe.out_of_order == 0));
        if choice == FlowletChoice::Random {
            crate::determinism::same_everywhere(&spec);
        }
    }
}

#[test]
fn adaptive_routing_is_the_same_everywhere_and_avoids_failed_cables() {
    let mut spec = network(graph(), switch(ClassBuffer::drop_tail(Bytes::new(50_000)), FlowControl::None), lossy());
    spec.multipath = Multipath::Adaptive;
    // All in one direction: only the leaf that sends up has a choice, and it knows its own cables.
    spec.flows = (0..3).map(|host| greedy(host, 5 - host, 1000)).collect();
    let ends = spec.graph.ports();
    let leaf = ends[spec.graph.hosts()[0].0 as usize][0].peer;
    let is_host = |node: fabric::graph::NodeId| spec.graph.nodes[node.0 as usize].name.starts_with('h');
    let cable = ends[leaf.0 as usize].iter().find(|end| !is_host(end.peer)).map(|end| end.cable).unwrap();
    spec.faults = vec![Fault { cable, down: at(Span::from_micros(50)), up: None }];
    crate::determinism::same_everywhere(&spec);
    let totals = run(&spec, Span::from_millis(2)).0.totals();
    // Two of three uplinks carry two thirds of what three hosts send.
    assert!(totals.delivered_bytes as f64 * 8.0 > 0.62 * 30e9 * 0.002, "{totals:?}");
}

/// Frames that were overtaken are counted without recovery, too: as a probe sees them arrive, whether or not their flows
/// end or are acknowledged.
#[test]
fn overtaken_frames_of_plain_flows_are_counted() {
    for (size, acknowledged) in [(None, false), (Some(300_000), false), (Some(300_000), true)] {
        let mut spec = network(graph(), pfc_switch(), lossless());
        spec.multipath = Multipath::Spray;
        let flow = |host: u32| {
            FlowSpec { size: size.map(Bytes::new), ..greedy(host, host + 3, 1000) }
                .with(|it| it.acknowledge = acknowledged.then(Acknowledge::default))
        };
        spec.flows = (0..3).map(flow).collect();
        let (mut simulation, report) = run_with(&spec, Span::from_micros(300), |_| Deliveries::default());
        let seen = simulation.probes_mut().map(|probe| probe.out_of_order).sum::<u64>();
        let counted = simulation.flows().iter().map(|flow| flow.out_of_order_frames).sum::<u64>();
        assert!(seen > 0);
        assert_eq!((counted, report.totals.out_of_order_frames), (seen, seen), "{size:?} {acknowledged}");
    }
}

#[test]
fn trees_leave_switches_no_choice() {
    use fabric::routing::{Bridges, Routing};
    let mut spec = network(graph(), pfc_switch(), lossless());
    spec.routes = Routing::Spb { bridges: Bridges::plain(&spec.graph), trees: 4 }.compute(&spec.graph, &[]).unwrap();
    spec.multipath = Multipath::Adaptive;
    let errors = fabric::validate(&spec);
    assert!(errors.iter().any(|error| error.to_string().contains("tree that their source chose")), "{errors:?}");
}
