//! Lanes: copies of a lossless class, one for each lane that the routing needs.
//!
//! A lane is a class of its own: its own buffers, its own pauses or credits. A flow goes in the lane of its source and
//! destination, what comes back in the lane of the way back. At an output the lanes of a class take turns, so that a
//! class has what it had without them; in a group that goes by priority the later lane goes first.

use crate::describe::graph::{Graph, HostId, NodeId};
use crate::describe::routing::Routes;
use crate::describe::spec::{
    AdapterSpec, Buffer, ClassBuffer, ClassSpec, Egress, EgressGroup, FlowControl, MAX_CLASSES, NetworkSpec, Share,
    SwitchSpec, VlEntry,
};
use crate::describe::workload::{Destination, FlowSpec};
use congestion::Point;
use std::fmt;

/// Why classes cannot be spread over lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LanesError {
    /// There would be more classes than a network may have.
    TooMany {
        /// How many lanes the routes need.
        lanes: u8,
        /// How many classes there would be.
        classes: usize,
    },
    /// Frames of a flow go to many hosts, and so in many lanes.
    ManyDestinations {
        /// Position in [`NetworkSpec::flows`].
        flow: usize,
    },
}

impl fmt::Display for LanesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LanesError::TooMany { lanes, classes } => write!(
                f,
                "the routes need {lanes} virtual lanes for every layered class, {classes} classes in total, but the limit is \
                 {MAX_CLASSES}; use fewer classes, or set layered = false for classes that cannot deadlock"
            ),
            LanesError::ManyDestinations { flow } => write!(
                f,
                "flow {flow} sends to many hosts, but each destination has its own virtual lane; use flows with a single \
                 destination, such as all-to-all"
            ),
        }
    }
}

impl std::error::Error for LanesError {}

/// For each class as it was written the first of its lanes, and how many there are.
struct Spread {
    first: Vec<u8>,
    count: Vec<u8>,
}

impl Spread {
    fn of(&self, class: u8, lane: u8) -> u8 {
        let place = usize::from(class);
        match (self.first.get(place), self.count.get(place)) {
            (Some(&first), Some(&count)) => first + lane.min(count - 1),
            // A class that is not there stays one that is not there.
            _ => u8::MAX,
        }
    }

    fn lanes(&self, class: u8) -> std::ops::Range<u8> {
        self.of(class, 0)..self.of(class, u8::MAX).saturating_add(1)
    }

    /// A set of classes as the set of their lanes.
    fn mask(&self, classes: u8) -> u8 {
        let members = (0..self.first.len() as u8).filter(|class| classes >> class & 1 == 1);
        members.flat_map(|class| self.lanes(class)).fold(0, |mask, lane| mask | 1 << lane)
    }

    fn list<T: Clone>(&self, of_class: &[T]) -> Vec<T> {
        (0_u8..).zip(of_class).flat_map(|(class, value)| self.lanes(class).map(|_| value.clone())).collect()
    }
}

/// The network with as many lanes of each class that is `layered` as its routes need. Routes of one lane, and classes
/// that are not layered, leave it as it is.
///
/// # Errors
/// See [`LanesError`].
pub fn spread(mut spec: NetworkSpec, layered: &[bool]) -> Result<NetworkSpec, LanesError> {
    let lanes = spec.routes.lanes();
    let is_layered = |class: usize| layered.get(class).copied().unwrap_or(false);
    if lanes <= 1 || !(0..spec.classes.len()).any(is_layered) {
        return Ok(spec);
    }
    let count: Vec<u8> = (0..spec.classes.len()).map(|class| if is_layered(class) { lanes } else { 1 }).collect();
    let classes: usize = count.iter().map(|&count| usize::from(count)).sum();
    if classes > MAX_CLASSES {
        return Err(LanesError::TooMany { lanes, classes });
    }
    let first = count.iter().scan(0, |sum, &count| Some(std::mem::replace(sum, *sum + count))).collect();
    let spread = Spread { first, count };
    let many =
        |flow: &FlowSpec| matches!(flow.destination, Destination::Uniform) && is_layered(usize::from(flow.class));
    if let Some(flow) = spec.flows.iter().position(many) {
        return Err(LanesError::ManyDestinations { flow });
    }
    let pairs = Pairs::new(&spec.graph, &spec.routes);
    for flow in &mut spec.flows {
        let Destination::Host(to) = flow.destination else {
            flow.class = spread.of(flow.class, 0);
            continue;
        };
        let (out, back) = (pairs.lane(flow.source, to), pairs.lane(to, flow.source));
        flow.class = spread.of(flow.class, out);
        if let Some(acknowledge) = &mut flow.acknowledge {
            acknowledge.class = spread.of(acknowledge.class, back);
        }
        if let Some(probe) = &mut flow.path_probe {
            probe.class = spread.of(probe.class, out);
            probe.answer_class = spread.of(probe.answer_class, back);
        }
    }
    spec.switches.iter_mut().for_each(|switch| {
        switch_lanes(&spread, switch);
        switch.pfc_watchdog.iter_mut().for_each(|watchdog| watchdog.classes = spread.mask(watchdog.classes));
    });
    spec.adapters.iter_mut().for_each(|adapter| adapter_lanes(&spread, adapter));
    for port in &mut spec.ports {
        port.pfc = spread.mask(port.pfc);
        port.pfc_watchdog.iter_mut().for_each(|watchdog| watchdog.classes = spread.mask(watchdog.classes));
        port.egress.iter_mut().for_each(|of_port| egress(&spread, of_port));
        port.buffers.iter_mut().for_each(|of_port| *of_port = spread.list(of_port));
    }
    spec.classes = (0_u8..)
        .zip(&spec.classes)
        .flat_map(|(class, old)| {
            let several = spread.lanes(class).len() > 1;
            spread.lanes(class).zip(0_u8..).map(move |(_, lane)| ClassSpec {
                name: if several { format!("{}.{lane}", old.name) } else { old.name.clone() },
                lossless: old.lossless,
            })
        })
        .collect();
    Ok(spec)
}

/// The switch of each host, and the lanes of routes.
struct Pairs<'a> {
    homes: Vec<NodeId>,
    routes: &'a Routes,
}

impl Pairs<'_> {
    fn new<'a>(graph: &Graph, routes: &'a Routes) -> Pairs<'a> {
        let ports = graph.ports();
        let home = |host: &NodeId| ports[host.0 as usize].first().map_or(NodeId(u32::MAX), |end| end.peer);
        Pairs { homes: graph.hosts().iter().map(home).collect(), routes }
    }

    fn lane(&self, from: HostId, to: HostId) -> u8 {
        self.homes.get(from.0 as usize).map_or(0, |&home| self.routes.lane(home, to))
    }
}

fn switch_lanes(spread: &Spread, switch: &mut SwitchSpec) {
    match &mut switch.buffer {
        Buffer::Static(buffers) => *buffers = spread.list::<ClassBuffer>(buffers),
        Buffer::Shared { classes, .. } => *classes = spread.list(classes),
    }
    holds(spread, &mut switch.flow_control);
    egress(spread, &mut switch.egress);
    if let Some(watch) = &mut switch.congestion_point {
        watch.notice_class = spread.of(watch.notice_class, 0);
        watch.trim_class = spread.of(watch.trim_class, 0);
        if let Some(Point::ByClass(points)) = &mut watch.point {
            points.renumber(|classes| spread.mask(classes));
        }
    }
}

fn adapter_lanes(spread: &Spread, adapter: &mut AdapterSpec) {
    adapter.buffer = spread.list(&adapter.buffer);
    holds(spread, &mut adapter.flow_control);
    egress(spread, &mut adapter.egress);
}

fn holds(spread: &Spread, control: &mut FlowControl) {
    if let FlowControl::Pause(pause) | FlowControl::Pfc(pause) = control {
        pause.holds = if pause.holds == u8::MAX { u8::MAX } else { spread.mask(pause.holds) };
    }
}

fn egress(spread: &Spread, egress: &mut Egress) {
    match egress {
        // One strict group for the lanes of each class: inside, they take turns.
        Egress::Strict => {
            let group = |class: usize| EgressGroup::turns(spread.mask(1 << class), Share::Strict);
            *egress = Egress::Groups((0..spread.first.len()).map(group).collect());
        }
        Egress::Groups(groups) => groups.iter_mut().for_each(|group| group.classes = spread.mask(group.classes)),
        Egress::Tables(tables) => {
            for entries in [&mut tables.high, &mut tables.low] {
                let lanes = |entry: &VlEntry| {
                    let weight = entry.weight;
                    spread.lanes(entry.class).map(move |class| VlEntry { class, weight }).collect::<Vec<_>>()
                };
                *entries = entries.iter().flat_map(lanes).collect();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::graph::LinkSpec;
    use crate::describe::routing::Routing;
    use crate::describe::spec::{Forwarding, Order, PauseSpec, PortSpec, Queueing, VlArbitration};
    use crate::describe::topology::{Links, ring};
    use crate::describe::workload::Acknowledge;
    use units::{Bytes, Rate, Span};

    fn network(classes: &[&str]) -> NetworkSpec {
        let link = LinkSpec { rate: Rate::from_gigabits(10), latency: Span::from_nanos(500), bit_error_rate: 0.0 };
        let graph = ring(5, 1, Links::same(link)).unwrap();
        let buffer =
            |n: usize| ClassBuffer::lossless(Bytes::new(50_000 + n as u64), Bytes::new(30_000), Bytes::new(27_000));
        let switch = SwitchSpec {
            queueing: Queueing::Output,
            buffer: Buffer::Static((0..classes.len()).map(buffer).collect()),
            flow_control: FlowControl::Pfc(PauseSpec::default()),
            crossbar: None,
            egress: Egress::Strict,
            forwarding: Forwarding::StoreAndForward,
            pipeline: Span::ZERO,
            order: Order::Arrival,
            congestion_point: None,
            pfc_watchdog: None,
        };
        let class = |name: &&str| ClassSpec { name: (*name).into(), lossless: true };
        let routes = Routing::Lash.compute(&graph, &[]).unwrap();
        let mut spec = NetworkSpec::uniform(graph, switch, AdapterSpec::default(), class(&classes[0]));
        spec.classes = classes.iter().map(class).collect();
        spec.routes = routes;
        spec
    }

    #[test]
    fn a_class_becomes_its_lanes_and_keeps_its_place() {
        let mut spec = network(&["low", "data", "high"]);
        let acknowledge = Some(Acknowledge { size: Bytes::new(64), class: 2, every: 1, delay: None });
        for (from, to) in [(0, 2), (3, 0), (4, 1), (1, 3), (2, 4)] {
            spec.flows.push(FlowSpec { class: 1, ..FlowSpec::greedy(HostId(from), HostId(to)) }.with(|it| {
                it.acknowledge = acknowledge;
            }));
        }
        spec.ports.push(PortSpec { pfc: 0b011, egress: Some(Egress::Strict), ..PortSpec::plain(NodeId(0), 0) });
        let spec = spread(spec, &[false, true, false]).unwrap();
        assert_eq!((spec.ports[0].pfc, spec.ports[0].egress.as_ref()), (0b0111, Some(&spec.switches[0].egress)));
        let names: Vec<&str> = spec.classes.iter().map(|class| class.name.as_str()).collect();
        assert_eq!(names, ["low", "data.0", "data.1", "high"]);
        let Buffer::Static(buffers) = &spec.switches[0].buffer else { panic!("static") };
        let sizes: Vec<u64> = buffers.iter().map(|buffer| buffer.capacity.get()).collect();
        assert_eq!(sizes, [50_000, 50_001, 50_001, 50_002]);
        let group = |classes| EgressGroup::turns(classes, Share::Strict);
        assert_eq!(spec.switches[0].egress, Egress::Groups(vec![group(1), group(6), group(8)]));
        assert!(spec.flows.iter().all(|flow| flow.acknowledge.unwrap().class == 3));
        let mut used: Vec<u8> = spec.flows.iter().map(|flow| flow.class).collect();
        used.sort_unstable();
        used.dedup();
        assert_eq!(used, [1, 2]);
        assert_eq!(crate::validate(&spec), vec![]);
    }

    #[test]
    fn tables_of_virtual_lanes_have_every_lane() {
        let mut spec = network(&["data"]);
        let entry = VlEntry { class: 0, weight: 4 };
        spec.switches[0].egress = Egress::Tables(VlArbitration { high: vec![], low: vec![entry], high_limit: 0 });
        let spec = spread(spec, &[true]).unwrap();
        let Egress::Tables(tables) = &spec.switches[0].egress else { panic!("tables") };
        assert_eq!(tables.low, [entry, VlEntry { class: 1, weight: 4 }]);
    }

    #[test]
    fn what_cannot_be_spread_is_refused_with_the_reason() {
        let names = ["a", "b", "c", "d", "e"];
        let error = spread(network(&names), &[true; 5]).unwrap_err();
        assert_eq!(error, LanesError::TooMany { lanes: 2, classes: 10 });
        let mut spec = network(&["data"]);
        let hosts = [HostId(1), HostId(2)];
        spec.flows.push(FlowSpec::greedy(HostId(0), HostId(1)).to_any(hosts));
        assert_eq!(spread(spec.clone(), &[true]).unwrap_err(), LanesError::ManyDestinations { flow: 0 });
        assert_eq!(spread(spec, &[false]).unwrap().classes.len(), 1);
    }
}
