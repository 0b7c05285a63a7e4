//! What a scenario in the making has so far: the names that later keys may use, and what it is to try.

use fabric::graph::{Graph, Role};
use std::collections::BTreeMap;

/// Names and sizes that the values of keys are drawn from.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// Length of the run, in nanoseconds.
    pub duration: u64,
    /// Names of hosts.
    pub hosts: Vec<String>,
    /// Names of switches.
    pub switches: Vec<String>,
    /// Ends of cables.
    pub cables: Vec<(String, String)>,
    /// Entries of forwarding tables along shortest paths: switch, destination, neighbour and the port to it.
    pub hops: Vec<(String, String, String, usize)>,
    /// Names of classes.
    pub classes: Vec<String>,
    /// Names of workloads.
    pub workloads: Vec<String>,
    /// Names of expectations.
    pub expectations: Vec<String>,
    /// Switches of a network that is written out.
    pub written_out: u64,
    /// Keys that this scenario must have, by path, each with the values that it may take; any, if the list is empty.
    pub wanted: BTreeMap<String, Vec<String>>,
    /// How many per cent of the keys that may be left out are given.
    pub density: u64,
    /// Position of the innermost table in its list.
    pub index: usize,
    /// How groups of classes share a link: 0 by weight, 1 by percentage, 2 strictly.
    pub sharing: u64,
}

impl World {
    /// Whether that value of a key is wanted.
    pub fn wants(&self, path: &str, value: &str) -> bool {
        self.wanted.get(path).is_some_and(|values| values.iter().any(|wanted| wanted == value))
    }

    /// Whether a key or a value of trimming is wanted.
    pub fn wants_trimming(&self) -> bool {
        self.wanted.iter().any(|(path, values)| path.contains(".trim_") || values.iter().any(|value| value == "trim"))
    }

    /// Takes the names of a network.
    pub fn see(&mut self, graph: &Graph) {
        let name = |node: usize| graph.nodes[node].name.clone();
        let of =
            |role: Role| -> Vec<usize> { (0..graph.nodes.len()).filter(|&it| graph.nodes[it].role == role).collect() };
        let (hosts, switches) = (of(Role::Host), of(Role::Switch));
        self.hosts = hosts.iter().map(|&node| name(node)).collect();
        self.switches = switches.iter().map(|&node| name(node)).collect();
        self.cables = graph.cables.iter().map(|cable| (name(cable.a.0 as usize), name(cable.b.0 as usize))).collect();
        let ports = graph.ports();
        let port = |from: usize, to: usize| ports[from].iter().position(|end| end.peer.0 as usize == to).unwrap_or(0);
        self.hops.clear();
        for &host in &hosts {
            for (switch, next) in towards(graph, host) {
                self.hops.push((name(switch), name(host), name(next), port(switch, next)));
            }
        }
    }

    /// Directions of links, as `a->b`.
    pub fn directions(&self) -> Vec<String> {
        self.cables.iter().flat_map(|(a, b)| [format!("{a}->{b}"), format!("{b}->{a}")]).collect()
    }

    /// All nodes.
    pub fn nodes(&self) -> Vec<String> {
        self.hosts.iter().chain(&self.switches).cloned().collect()
    }
}

/// For every switch the next node on a shortest path to a host.
fn towards(graph: &Graph, host: usize) -> Vec<(usize, usize)> {
    let mut next = vec![None; graph.nodes.len()];
    let mut reached = vec![host];
    let mut done = 0;
    while let Some(&node) = reached.get(done) {
        done += 1;
        // A host passes nothing on.
        if node != host && graph.nodes[node].role == Role::Host {
            continue;
        }
        for cable in &graph.cables {
            for (from, to) in [(cable.a.0 as usize, cable.b.0 as usize), (cable.b.0 as usize, cable.a.0 as usize)] {
                if from == node && to != host && next[to].is_none() {
                    next[to] = Some(node);
                    reached.push(to);
                }
            }
        }
    }
    let switch = |(node, next): (usize, Option<usize>)| {
        next.filter(|_| graph.nodes[node].role == Role::Switch).map(|next| (node, next))
    };
    next.into_iter().enumerate().filter_map(switch).collect()
}
