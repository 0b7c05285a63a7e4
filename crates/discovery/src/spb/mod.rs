//! Shortest path bridging at every switch of a network: bridges discover each other, and failures, by IS-IS.
//!
//! IS-IS operates in milliseconds and seconds, data in nanoseconds. As with DCBX, the protocol has its own event loop,
//! with real frames, the cables' latencies and rates, and simulated time. Each failure occurs in a converged network.

mod filtering;
mod world;

pub use filtering::{Databases, Entry, Group, Input, Service, spbm, spbv};

use control::isis::{Timers, Topology};
use fabric::graph::{Graph, HostId, NodeId, Role};
use fabric::routing::{Bridges, RouteError, Routes, Routing};
use fabric::spec::Fault;
use std::collections::BTreeSet;
use units::{Span, Time};
use wire::isis::SystemId;
use world::World;

/// Number of trees of shortest path bridging.
pub const TREES: u8 = 16;

/// Convergence after one event.
#[derive(Clone, Debug)]
pub struct Step {
    /// When cables fail or are restored in a run; `None` for the start of all switches.
    pub at: Option<Time>,
    /// Indices of the cables that are down from then on.
    pub down: Vec<u32>,
    /// Time from the event to the last change of any switch's database.
    pub converged: Span,
    /// Frames sent by then, including hellos.
    pub frames: u64,
    /// Whether the network converged.
    pub settled: bool,
    /// Adjacencies that are up at both ends, by the indices of their cables.
    pub adjacencies: Vec<u32>,
    /// Switches whose tables, computed from the learned topology, differ from those computed from the graph.
    pub wrong: Vec<NodeId>,
}

/// Usage of the network by a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Cables between switches on a path between hosts.
    pub cables: usize,
    /// Maximum load of one direction of a cable: the number of pairs of a switch with hosts and a host of another
    /// switch whose path uses it.
    pub busiest: usize,
}

/// The result of a discovery.
#[derive(Clone, Debug)]
pub struct Discovery {
    /// The start, then every failure and restoration of a cable.
    pub steps: Vec<Step>,
    /// Usage of the whole network by each of the sixteen trees.
    pub trees: Vec<Usage>,
    /// Number of cables between switches.
    pub trunks: usize,
}

impl Discovery {
    /// Returns whether the bridges converged after every event, each with the tables that a correct computation yields.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.steps.iter().all(|step| step.settled && step.wrong.is_empty())
    }
}

/// Runs bridges at all switches until they converge, then through all failures and restorations of cables.
///
/// # Errors
/// If a host has several links: bridges would learn of it at several places.
///
/// # Panics
/// If the graph is one that [`Graph::validate`] refuses.
pub fn discover(graph: &Graph, bridges: &Bridges, faults: &[Fault], timers: Timers) -> Result<Discovery, RouteError> {
    let all = routing(bridges).compute(graph, &[])?;
    let trunks = trunks(graph);
    let mut world = World::new(graph, bridges, &trunks, timers);
    let step = |world: &mut World, at: Option<Time>, down: Vec<u32>| {
        let rest = world.come_to_rest();
        let adjacencies = trunks.iter().copied().filter(|&cable| world.is_up(cable)).collect();
        let wrong = wrong(graph, bridges, world, &down);
        let (converged, frames, settled) = (rest.converged, rest.frames, rest.settled);
        Step { at, down, converged, frames, settled, adjacencies, wrong }
    };
    let mut steps = vec![step(&mut world, None, Vec::new())];
    let moments: BTreeSet<Time> = faults.iter().flat_map(|fault| [Some(fault.down), fault.up]).flatten().collect();
    for at in moments {
        let down = down_at(faults, at);
        world.fail(&down);
        steps.push(step(&mut world, Some(at), down));
    }
    Ok(Discovery { steps, trees: usage(graph, &all), trunks: trunks.len() })
}

/// A change in a switch's view of failed cables during a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct News {
    /// When the switch learned of it.
    pub at: Time,
    /// The switch.
    pub switch: NodeId,
    /// Indices of the cables between switches that it considers down from then on.
    pub down: Vec<u32>,
}

/// Returns when each switch learns of each failure in a run, in order of time. Bridges have converged when the run
/// begins, and their ports detect a failure or restoration of their cable after `detection`. Returns `None` if the
/// bridges never converge.
///
/// # Panics
/// If the graph is one that [`Graph::validate`] refuses.
#[must_use]
pub fn follow(
    graph: &Graph,
    bridges: &Bridges,
    faults: &[Fault],
    timers: Timers,
    detection: Span,
) -> Option<Vec<News>> {
    let mut world = World::new(graph, bridges, &trunks(graph), timers);
    if !world.come_to_rest().settled {
        return None;
    }
    world.watch();
    let origin = world.now;
    let in_run = |at: Time| Time::ZERO + at.saturating_since(origin);
    let of_world = |at: Time| origin + at.saturating_since(Time::ZERO);
    // First what happens, then what is seen of it.
    let moments: BTreeSet<Time> = faults.iter().flat_map(|fault| [Some(fault.down), fault.up]).flatten().collect();
    let mut events: Vec<(Time, bool)> = moments.iter().flat_map(|&at| [(at, false), (at + detection, true)]).collect();
    events.sort_unstable();
    for (at, seen) in events {
        world.go_on(of_world(at));
        if seen {
            world.see();
        } else {
            world.cut(&down_at(faults, at));
        }
    }
    if !world.come_to_rest().settled {
        return None;
    }
    let news = world.into_learned().into_iter();
    Some(news.map(|it| News { at: in_run(it.at), switch: it.switch, down: it.down }).collect())
}

/// Returns the cables that are down from that moment on, each once even if several of its faults overlap.
#[must_use]
pub fn down_at(faults: &[Fault], at: Time) -> Vec<u32> {
    let lasts = |fault: &&Fault| fault.down <= at && fault.up.is_none_or(|up| up > at);
    let mut seen = BTreeSet::new();
    faults.iter().filter(lasts).map(|fault| fault.cable).filter(|&cable| seen.insert(cable)).collect()
}

fn routing(bridges: &Bridges) -> Routing {
    Routing::Spb { bridges: bridges.clone(), trees: TREES }
}

/// Returns the cables between switches.
#[must_use]
pub fn trunks(graph: &Graph) -> Vec<u32> {
    let is_switch = |node: NodeId| graph.nodes[node.0 as usize].role == Role::Switch;
    let trunk =
        |(number, cable): (u32, &fabric::graph::Cable)| (is_switch(cable.a) && is_switch(cable.b)).then_some(number);
    (0..).zip(&graph.cables).filter_map(trunk).collect()
}

/// Returns the IS-IS system identifier of a bridge: the lower 48 bits of its identifier.
fn system_id(identifier: u64) -> SystemId {
    let [_, _, id @ ..] = identifier.to_be_bytes();
    id
}

/// Returns the switches whose forwarding differs from that of the graph. IS-IS describes only links between bridges, so
/// only failed cables between switches count: frames to a host whose own cable is down wait at its switch.
fn wrong(graph: &Graph, bridges: &Bridges, world: &World, down: &[u32]) -> Vec<NodeId> {
    let down: Vec<u32> = trunks(graph).into_iter().filter(|trunk| down.contains(trunk)).collect();
    let truth = routing(bridges).compute(graph, &down).expect("it was computed without failures");
    let mut known: Vec<(Topology, Routes)> = Vec::new();
    let mut wrong = Vec::new();
    for (node, topology) in world.topologies() {
        let place = known.iter().position(|(known, _)| *known == topology).unwrap_or_else(|| {
            let (bridges, down) = learned(graph, bridges, world, &topology);
            let routes = routing(&bridges).compute(graph, &down).expect("it was computed without failures");
            known.push((topology, routes));
            known.len() - 1
        });
        let same = |host: u32| known[place].1.ports(node, HostId(host)) == truth.ports(node, HostId(host));
        if !(0..truth.hosts() as u32).all(same) {
            wrong.push(node);
        }
    }
    wrong
}

/// Returns the identifiers and costs announced in a learned topology, and the cables that are
/// announced by at most one end.
fn learned(graph: &Graph, bridges: &Bridges, world: &World, topology: &Topology) -> (Bridges, Vec<u32>) {
    let mut learned = bridges.clone();
    for (node, identifier) in learned.identifiers.iter_mut().enumerate() {
        if graph.nodes[node].role == Role::Switch {
            let said = topology.node(system_id(bridges.identifiers[node]));
            let low = |id: SystemId| id.iter().fold(0, |sum, &octet| sum << 8 | u64::from(octet));
            *identifier = said.map_or(*identifier, |said| u64::from(said.priority) << 48 | low(said.id));
        }
    }
    let mut down = Vec::new();
    for (cable, cost) in world.costs(topology) {
        match cost {
            Some(cost) => learned.costs[cable as usize] = cost,
            None => down.push(cable),
        }
    }
    (learned, down)
}

/// Returns the usage of each tree, computed by walking every path from a switch with hosts to a host of another switch.
fn usage(graph: &Graph, routes: &Routes) -> Vec<Usage> {
    let (ports, is_trunk) = (graph.ports(), trunks(graph));
    let is_host = |node: NodeId| graph.nodes[node.0 as usize].role == Role::Host;
    let edges: Vec<NodeId> = (0..graph.nodes.len() as u32)
        .map(NodeId)
        .filter(|&node| !is_host(node) && ports[node.0 as usize].iter().any(|end| is_host(end.peer)))
        .collect();
    let of_tree = |tree: usize| {
        let mut pairs = vec![[0usize; 2]; graph.cables.len()];
        for (&edge, host) in edges.iter().flat_map(|edge| (0..routes.hosts() as u32).map(move |host| (edge, host))) {
            let mut at = edge;
            while let Some(&port) = routes.ports(at, HostId(host)).get(tree) {
                let end = ports[at.0 as usize][usize::from(port)];
                if is_host(end.peer) {
                    break;
                }
                pairs[end.cable as usize][usize::from(graph.cables[end.cable as usize].b == at)] += 1;
                at = end.peer;
            }
        }
        let trunks = is_trunk.iter().map(|&cable| pairs[cable as usize]);
        let cables = trunks.clone().filter(|pairs| *pairs != [0, 0]).count();
        Usage { cables, busiest: trunks.flatten().max().unwrap_or(0) }
    };
    (0..usize::from(routes.trees())).map(of_tree).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::graph::LinkSpec;
    use fabric::topology::{Links, leaf_spine};
    use units::{Rate, Span};

    /// The comparison of tables can fail: against a graph that lacks a cable the switches know, it does.
    #[test]
    fn tables_of_another_graph_are_seen_to_differ() {
        let link = LinkSpec { rate: Rate::from_gigabits(10), latency: Span::from_micros(1), bit_error_rate: 0.0 };
        let graph = &leaf_spine(4, 3, 2, Links::same(link)).expect("a leaf-spine");
        let bridges = Bridges::plain(graph);
        let trunks = trunks(graph);
        let mut world = World::new(graph, &bridges, &trunks, Timers::default());
        assert!(!wrong(graph, &bridges, &world, &[]).is_empty(), "nobody knows anything yet");
        assert!(world.come_to_rest().settled);
        assert_eq!(wrong(graph, &bridges, &world, &[]), []);
        assert!(!wrong(graph, &bridges, &world, &trunks[..1]).is_empty());
    }

    /// What a network at rest repeats is left out, unless a part of it is cut off: that will be forgotten.
    #[test]
    fn an_hour_of_rest_is_left_out() {
        let link = LinkSpec { rate: Rate::from_gigabits(10), latency: Span::from_micros(1), bit_error_rate: 0.0 };
        let graph = &leaf_spine(4, 3, 2, Links::same(link)).expect("a leaf-spine");
        let (bridges, trunks) = (Bridges::plain(graph), trunks(graph));
        let hour = Time::ZERO + Span::from_secs(3600);
        let leaf = graph.find("leaf0").expect("there is one");
        let ends = |trunk: u32| [graph.cables[trunk as usize].a, graph.cables[trunk as usize].b];
        let of_leaf: Vec<u32> = trunks.iter().copied().filter(|&trunk| ends(trunk).contains(&leaf)).collect();
        for (down, left_out) in [(&of_leaf[..1], true), (&of_leaf[..], false)] {
            let mut world = World::new(graph, &bridges, &trunks, Timers::default());
            assert!(world.come_to_rest().settled);
            world.fail(down);
            world.go_on(hour);
            assert_eq!(world.now < Time::ZERO + Span::from_secs(100), left_out, "{down:?}: {:?}", world.now);
        }
    }
}
