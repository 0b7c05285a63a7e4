//! Sources that choose their paths: flows leave a slow or failed one of several equal paths, where a hash stays.

use crate::kit::*;
use crate::recovery::recovery;
use congestion::parameter::{Value, Values};
use congestion::{POINTS, PROTOCOLS};
use fabric::graph::Graph;
use fabric::spec::*;
use fabric::topology::{self, Links};
use fabric::transport::{PATH_SELECTIONS, PathSelection};
use fabric::workload::{Acknowledge, FlowSpec};
use fabric::{Frame, Kind, Probe};
use std::collections::BTreeMap;
use std::sync::Arc;
use units::{Bytes, Rate, Span, Time};

/// The path selection of that name with its defaults, but for some parameters; none for `hash`.
pub fn selection(name: &str, changes: &[(&'static str, Value)]) -> Option<Arc<PathSelection>> {
    let info = PATH_SELECTIONS.iter().find(|info| info.name == name).expect("it is built in");
    let mut values = Values::defaults(info.parameters);
    changes.iter().for_each(|(name, value)| values.set(name, value.clone()));
    (info.build)(&values).expect("sound parameters").map(Arc::new)
}

const HOSTS: u32 = 8;
const SIZE: u64 = 1_000_000;

/// Two leaves with eight hosts each and four spines, and the cable from the first leaf to the first spine.
fn fabric() -> (Graph, usize) {
    let graph = topology::leaf_spine(2, 4, HOSTS, Links::same(link(10, Span::from_nanos(500)))).unwrap();
    let leaf = graph.ports()[graph.hosts()[0].0 as usize][0].peer;
    let is_host = |node: fabric::graph::NodeId| graph.nodes[node.0 as usize].name.starts_with('h');
    let cable = graph.ports()[leaf.0 as usize].iter().find(|end| !is_host(end.peer)).map(|end| end.cable);
    (graph, cable.unwrap() as usize)
}

/// DCTCP from each host of the first leaf to one of the second, over lossy switches that mark beyond 20 kB.
fn transfers(graph: Graph, name: &str, seed: u64) -> NetworkSpec {
    let mut spec = network(graph, switch(ClassBuffer::drop_tail(Bytes::new(200_000)), FlowControl::None), lossy());
    spec.seed = seed;
    let step = POINTS.iter().find(|info| info.name == "ecn-step").unwrap();
    let values = Values::defaults(step.parameters).with("threshold", Value::Size(Bytes::new(20_000)));
    spec.switches[0].congestion_point = Some(CongestionPointSpec::point((step.build)(&values).unwrap()));
    let dctcp = PROTOCOLS.iter().find(|info| info.name == "dctcp").unwrap();
    let reaction = (dctcp.build)(&Values::defaults(dctcp.parameters)).unwrap();
    let timeouts = ["timeout_low", "timeout_high"].map(|key| (key, Value::Time(Span::from_micros(300))));
    let repeat = recovery("selective-repeat", &timeouts);
    let flow = |host: u32| {
        FlowSpec { size: Some(Bytes::new(SIZE)), ..greedy(host, host + HOSTS, 1000) }.with(|it| {
            it.acknowledge = Some(Acknowledge::default());
            it.recovery = repeat.clone();
            it.reaction = reaction.clone();
            it.path_selection = selection(name, &[]);
        })
    };
    spec.flows = (0..HOSTS).map(flow).collect();
    spec
}

/// When the last flow was complete, in microseconds; `None` if not all were.
fn last(spec: &NetworkSpec) -> Option<u64> {
    let flows = run(spec, Span::from_millis(30)).0.flows();
    let times: Option<Vec<Time>> = flows.iter().map(|flow| flow.completed).collect();
    times?.into_iter().max().map(|time| (time - Time::ZERO).as_picos() / 1_000_000)
}

/// Eight flows of 1 MB fit into the other three uplinks in 8 MB / 30 Gb/s = 2.1 ms. At the slow one, a flow alone takes 8 ms.
#[test]
fn flows_leave_a_slow_path() {
    let mut times: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for seed in 1..6 {
        for info in PATH_SELECTIONS {
            let (mut graph, slow) = fabric();
            graph.cables[slow].link.rate = Rate::from_gigabits(1);
            let time = last(&transfers(graph, info.name, seed)).expect("all are complete");
            times.entry(info.name).or_default().push(time);
        }
    }
    assert!(times["hash"].iter().filter(|&&time| time > 8_000).count() >= 3, "{times:?}");
    assert!(times["flow-bender"].iter().all(|&time| time < 7_000), "{times:?}");
    assert!(times["reps"].iter().all(|&time| time < 7_000), "{times:?}");
}

/// Nobody reroutes: frames that are sent to the failed cable wait at it until their queue is full, or are lost.
#[test]
fn flows_leave_a_failed_path() {
    let mut complete: BTreeMap<&str, Vec<Option<u64>>> = BTreeMap::new();
    for seed in 1..6 {
        for info in PATH_SELECTIONS {
            let (graph, cable) = fabric();
            let mut spec = transfers(graph, info.name, seed);
            spec.faults = vec![Fault { cable: cable as u32, down: at(Span::from_micros(200)), up: None }];
            complete.entry(info.name).or_default().push(last(&spec));
        }
    }
    assert!(complete["hash"].iter().filter(|time| time.is_none()).count() >= 3, "{complete:?}");
    for name in ["flow-bender", "reps"] {
        assert!(complete[name].iter().all(|time| time.is_some_and(|time| time < 10_000)), "{name}: {complete:?}");
    }
}

/// Data frames of each flow by port, since a time.
#[derive(Clone, Default)]
struct Ports {
    since: Time,
    used: BTreeMap<(u32, u32), u64>,
}

impl Probe for Ports {
    fn on_transmit(&mut self, now: Time, port: u32, frame: &Frame, _waited: Span, _busy: Span) {
        if now >= self.since && frame.kind == Kind::Data {
            *self.used.entry((frame.flow, port)).or_default() += 1;
        }
    }
}

/// A flow that meets no congestion stays on its path with FlowBender, and its frames in order; REPS spreads them.
#[test]
fn a_flow_bends_only_where_there_is_congestion() {
    for (name, uplinks) in [("hash", 1), ("flow-bender", 1), ("reps", 4)] {
        let (graph, _) = fabric();
        let mut spec = transfers(graph, name, 1);
        spec.flows.truncate(1);
        let (mut simulation, report) = run_with(&spec, Span::from_millis(5), |_| Ports::default());
        // The host's own port, some uplinks, as many ports of spines, and the last leaf's.
        let used = simulation.probes_mut().map(|probe| probe.used.len()).sum::<usize>();
        assert_eq!(used, 2 + 2 * uplinks, "{name}");
        assert!(report.totals.out_of_order_frames == 0 || name == "reps", "{name}");
    }
}

#[test]
fn choices_of_sources_are_the_same_everywhere() {
    for info in PATH_SELECTIONS {
        let (graph, cable) = fabric();
        let mut spec = transfers(graph, info.name, 3);
        spec.flows.iter_mut().for_each(|flow| flow.size = Some(Bytes::new(100_000)));
        let up = Some(at(Span::from_micros(300)));
        spec.faults = vec![Fault { cable: cable as u32, down: at(Span::from_micros(50)), up }];
        crate::determinism::same_everywhere(&spec);
    }
}
