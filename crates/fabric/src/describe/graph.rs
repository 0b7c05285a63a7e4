//! The graph of a network: nodes and the cables between them.
//!
//! A graph has names, roles and cables, but no queues, buffers or traffic. Ports are not declared: the n-th cable at a
//! node is its port n.

use std::collections::BTreeSet;
use std::fmt;

use units::{Rate, Span};

/// Maximum number of hosts in a graph: a million, more than the memory of any machine holds with their frames.
pub const MAX_HOSTS: usize = 1 << 20;

/// Maximum number of cables at a node: port numbers have 16 bits.
pub const MAX_PORTS: usize = 65_535;

/// Maximum number of cables at a host.
pub const MAX_HOST_PORTS: usize = 64;

/// Number of a node: its index in [`Graph::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// Number of a host among the hosts of its graph, in node order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostId(pub u32);

/// The role of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Sends and receives frames; has one cable or several.
    Host,
    /// Forwards frames.
    Switch,
}

/// A node of a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Unique name, used in scenarios, errors and results.
    pub name: String,
    /// Host or switch.
    pub role: Role,
    /// Distance from the hosts in a layered topology: hosts 0, edge switches 1, and so on.
    pub layer: u16,
}

/// The properties of a cable, equal in both directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkSpec {
    /// Rate of each direction, in bits per second.
    pub rate: Rate,
    /// Propagation delay of one direction. Zero is allowed.
    pub latency: Span,
    /// Probability of an error per bit; 0 for an error-free cable.
    pub bit_error_rate: f64,
}

/// A full-duplex cable between two nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Cable {
    /// One end.
    pub a: NodeId,
    /// The other end.
    pub b: NodeId,
    /// Rate, delay and bit error rate.
    pub link: LinkSpec,
}

/// Nodes and cables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// Nodes, indexed by [`NodeId`].
    pub nodes: Vec<Node>,
    /// Cables, in the order of port numbers.
    pub cables: Vec<Cable>,
    /// Whether every port of a host with several cables has an address of its own. If not, the host has one, and frames
    /// arrive by the nearest of its cables.
    pub port_addresses: bool,
}

/// One end of a cable as seen from a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortEnd {
    /// Index of the cable in [`Graph::cables`].
    pub cable: u32,
    /// Node at the far end.
    pub peer: NodeId,
    /// Port number at the far end.
    pub peer_port: u16,
}

/// The reason that a graph is not a valid network.
#[derive(Clone, Debug, PartialEq)]
pub enum GraphError {
    /// A node has no name.
    EmptyName {
        /// Number of the node.
        node: NodeId,
    },
    /// Two nodes have the same name.
    DuplicateName {
        /// Name of both.
        name: String,
    },
    /// A cable ends at a node that is not in the graph.
    NoSuchNode {
        /// Index of the cable.
        cable: u32,
        /// Missing node.
        node: NodeId,
    },
    /// A cable connects a node to itself.
    SelfLoop {
        /// Name of the node.
        name: String,
    },
    /// A host has no cable, or too many.
    HostCables {
        /// Name of the host.
        name: String,
        /// Number of its cables.
        cables: usize,
    },
    /// A cable has rate zero.
    RateZero {
        /// Name of one end.
        a: String,
        /// Name of the other end.
        b: String,
    },
    /// A bit error rate is not a probability below one.
    BitErrorRate {
        /// Name of one end.
        a: String,
        /// Name of the other end.
        b: String,
        /// Given bit error rate.
        given: f64,
    },
    /// A node has more cables than there are port numbers.
    TooManyPorts {
        /// Name of the node.
        name: String,
        /// Number of its cables.
        cables: usize,
    },
    /// There are more hosts than a forwarding table can distinguish.
    TooManyHosts {
        /// Number of hosts.
        hosts: usize,
    },
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EmptyName { node } => write!(f, "node {} has no name; name every node", node.0),
            Self::DuplicateName { name } => write!(f, "two nodes are named \"{name}\"; rename one of them"),
            Self::NoSuchNode { cable, node } => {
                write!(f, "link {cable} ends at node {}, which does not exist; add the node or remove the link", node.0)
            }
            Self::SelfLoop { name } => {
                write!(f, "a link connects \"{name}\" to itself; connect it to another node or remove the link")
            }
            Self::HostCables { name, cables } => write!(
                f,
                "host \"{name}\" has {cables} links; give it 1 to {MAX_HOST_PORTS}, or make it a switch if it is meant \
                 to forward"
            ),
            Self::RateZero { a, b } => {
                write!(f, "the link between \"{a}\" and \"{b}\" has rate zero; give it a rate, or remove the link")
            }
            Self::BitErrorRate { a, b, given } => write!(
                f,
                "the link between \"{a}\" and \"{b}\" has bit error rate {given}; \
                 give a probability of at least 0 and below 1"
            ),
            Self::TooManyPorts { name, cables } => {
                write!(f, "\"{name}\" has {cables} links; distribute them over more switches, at most {MAX_PORTS} each")
            }
            Self::TooManyHosts { hosts } => {
                write!(f, "the graph has {hosts} hosts; remove some, the limit is {MAX_HOSTS}")
            }
        }
    }
}

impl std::error::Error for GraphError {}

impl Graph {
    /// Adds a node and returns its number.
    pub fn node(&mut self, name: impl Into<String>, role: Role, layer: u16) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).expect("fewer than 2^32 nodes"));
        self.nodes.push(Node { name: name.into(), role, layer });
        id
    }

    /// Connects two nodes with a cable.
    pub fn cable(&mut self, a: NodeId, b: NodeId, link: LinkSpec) {
        self.cables.push(Cable { a, b, link });
    }

    /// Returns the ports of every node, in order.
    #[must_use]
    pub fn ports(&self) -> Vec<Vec<PortEnd>> {
        let mut ports: Vec<Vec<PortEnd>> = vec![Vec::new(); self.nodes.len()];
        for (number, cable) in self.cables.iter().enumerate() {
            let number = u32::try_from(number).expect("fewer than 2^32 cables");
            let (a, b) = (cable.a.0 as usize, cable.b.0 as usize);
            let port_a = u16::try_from(ports[a].len()).expect("fewer than 2^16 ports");
            let port_b = u16::try_from(ports[b].len() + usize::from(a == b)).expect("fewer than 2^16 ports");
            ports[a].push(PortEnd { cable: number, peer: cable.b, peer_port: port_b });
            ports[b].push(PortEnd { cable: number, peer: cable.a, peer_port: port_a });
        }
        ports
    }

    /// Returns the hosts with several cables, in node order.
    pub fn multihomed(&self) -> impl Iterator<Item = NodeId> + '_ {
        let mut degree = vec![0_usize; self.nodes.len()];
        for end in self.cables.iter().flat_map(|cable| [cable.a, cable.b]) {
            if let Some(count) = degree.get_mut(end.0 as usize) {
                *count += 1;
            }
        }
        let several = move |(number, node): (u32, &Node)| {
            (node.role == Role::Host && degree[number as usize] > 1).then_some(NodeId(number))
        };
        (0..).zip(&self.nodes).filter_map(several)
    }

    /// Returns the ports that have addresses of their own: of the hosts with several cables, in node order, all ports. The
    /// address of the first one follows those of all hosts.
    #[must_use]
    pub fn addressed_ports(&self) -> Vec<(HostId, PortEnd)> {
        if !self.port_addresses {
            return Vec::new();
        }
        let ports = self.ports();
        let hosts = (0..).map(HostId).zip(self.hosts());
        let ends = hosts.map(|(host, node)| (host, &ports[node.0 as usize])).filter(|(_, ends)| ends.len() > 1);
        ends.flat_map(|(host, ends)| ends.iter().map(move |&end| (host, end))).collect()
    }

    /// Returns the nodes that are hosts, in node order: [`HostId`] is the index.
    #[must_use]
    pub fn hosts(&self) -> Vec<NodeId> {
        (0..).zip(&self.nodes).filter(|(_, n)| n.role == Role::Host).map(|(i, _)| NodeId(i)).collect()
    }

    /// Returns the nodes that are switches, in node order.
    #[must_use]
    pub fn switches(&self) -> Vec<NodeId> {
        (0..).zip(&self.nodes).filter(|(_, n)| n.role == Role::Switch).map(|(i, _)| NodeId(i)).collect()
    }

    /// Returns the node with that name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<NodeId> {
        (0..).zip(&self.nodes).find(|(_, n)| n.name == name).map(|(i, _)| NodeId(i))
    }

    /// Checks that the graph is a valid network.
    ///
    /// It does not check that every host can reach every other: see [`Graph::unreachable_pairs`].
    ///
    /// # Errors
    /// Returns the first error, with its place and a suggested correction.
    pub fn validate(&self) -> Result<(), GraphError> {
        let mut names = BTreeSet::new();
        for (number, node) in (0..).zip(&self.nodes) {
            if node.name.is_empty() {
                return Err(GraphError::EmptyName { node: NodeId(number) });
            }
            if !names.insert(node.name.as_str()) {
                return Err(GraphError::DuplicateName { name: node.name.clone() });
            }
        }
        let mut degree = vec![0_usize; self.nodes.len()];
        for (number, cable) in (0..).zip(&self.cables) {
            for end in [cable.a, cable.b] {
                match degree.get_mut(end.0 as usize) {
                    Some(count) => *count += 1,
                    None => return Err(GraphError::NoSuchNode { cable: number, node: end }),
                }
            }
            self.check_link(cable)?;
        }
        for (node, &cables) in self.nodes.iter().zip(&degree) {
            if cables > MAX_PORTS {
                return Err(GraphError::TooManyPorts { name: node.name.clone(), cables });
            }
            if node.role == Role::Host && !(1..=MAX_HOST_PORTS).contains(&cables) {
                return Err(GraphError::HostCables { name: node.name.clone(), cables });
            }
        }
        let hosts = self.nodes.iter().filter(|n| n.role == Role::Host).count();
        if hosts > MAX_HOSTS { Err(GraphError::TooManyHosts { hosts }) } else { Ok(()) }
    }

    /// Checks a cable whose ends are known to exist.
    fn check_link(&self, cable: &Cable) -> Result<(), GraphError> {
        let name = |end: NodeId| self.nodes[end.0 as usize].name.clone();
        if cable.a == cable.b {
            return Err(GraphError::SelfLoop { name: name(cable.a) });
        }
        if cable.link.rate == Rate::ZERO {
            return Err(GraphError::RateZero { a: name(cable.a), b: name(cable.b) });
        }
        let given = cable.link.bit_error_rate;
        // A range, not two comparisons: it also refuses NaN.
        if !(0.0..1.0).contains(&given) {
            return Err(GraphError::BitErrorRate { a: name(cable.a), b: name(cable.b), given });
        }
        Ok(())
    }

    /// Returns pairs of hosts without a path between them, at most `limit`, in order; empty if all can reach each
    /// other.
    ///
    /// Cables that end at a nonexistent node are ignored.
    #[must_use]
    pub fn unreachable_pairs(&self, limit: usize) -> Vec<(HostId, HostId)> {
        let mut near: Vec<Vec<u32>> = vec![Vec::new(); self.nodes.len()];
        for Cable { a, b, .. } in &self.cables {
            if (a.0 as usize) < near.len() && (b.0 as usize) < near.len() {
                near[a.0 as usize].push(b.0);
                near[b.0 as usize].push(a.0);
            }
        }
        // The island of a node is the number of the first node found on it. Hosts forward nothing, so one with several
        // cables may be on several islands, and connects none.
        let is_host = |node: usize| self.nodes[node].role == Role::Host;
        let mut islands: Vec<Vec<u32>> = vec![Vec::new(); near.len()];
        for start in (0..near.len()).filter(|&node| !is_host(node)).chain((0..near.len()).filter(|&node| is_host(node)))
        {
            if !islands[start].is_empty() {
                continue;
            }
            let mut todo = vec![start];
            while let Some(node) = todo.pop() {
                if islands[node].last() == Some(&(start as u32)) || !(is_host(node) || islands[node].is_empty()) {
                    continue;
                }
                islands[node].push(start as u32);
                if node == start || !is_host(node) {
                    todo.extend(near[node].iter().map(|&next| next as usize));
                }
            }
        }
        let homes: Vec<&Vec<u32>> = self.hosts().into_iter().map(|host| &islands[host.0 as usize]).collect();
        if homes.iter().all(|home| Some(home) == homes.first()) {
            return Vec::new();
        }
        let pairs = (0..homes.len()).flat_map(|i| (i + 1..homes.len()).map(move |j| (i, j)));
        let apart = pairs.filter(|&(i, j)| !homes[i].iter().any(|island| homes[j].contains(island))).take(limit);
        apart.map(|(i, j)| (HostId(i as u32), HostId(j as u32))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: LinkSpec =
        LinkSpec { rate: Rate::from_gigabits(10), latency: Span::from_nanos(500), bit_error_rate: 0.0 };

    /// h0 - sw0 - h1
    fn pair() -> Graph {
        let mut graph = Graph::default();
        let a = graph.node("h0", Role::Host, 0);
        let b = graph.node("h1", Role::Host, 0);
        let switch = graph.node("sw0", Role::Switch, 1);
        graph.cable(a, switch, LINK);
        graph.cable(b, switch, LINK);
        graph
    }

    #[test]
    fn a_sound_drawing_is_valid() {
        assert_eq!(pair().validate(), Ok(()));
        assert_eq!(pair().unreachable_pairs(4), vec![]);
        assert_eq!(Graph::default().validate(), Ok(()));
    }

    #[test]
    fn ports_are_numbered_in_cable_order() {
        let ports = pair().ports();
        assert_eq!(ports[2][1], PortEnd { cable: 1, peer: NodeId(1), peer_port: 0 });
        assert_eq!(ports[1][0], PortEnd { cable: 1, peer: NodeId(2), peer_port: 1 });
    }

    #[test]
    fn names_must_be_there_and_differ() {
        let mut graph = pair();
        graph.nodes[1].name = "h0".into();
        assert_eq!(graph.validate(), Err(GraphError::DuplicateName { name: "h0".into() }));
        graph.nodes[1].name.clear();
        assert_eq!(graph.validate(), Err(GraphError::EmptyName { node: NodeId(1) }));
    }

    #[test]
    fn cables_must_join_two_nodes_that_exist() {
        let mut graph = pair();
        graph.cable(NodeId(2), NodeId(2), LINK);
        assert_eq!(graph.validate(), Err(GraphError::SelfLoop { name: "sw0".into() }));
        graph.cables[2].b = NodeId(9);
        assert_eq!(graph.validate(), Err(GraphError::NoSuchNode { cable: 2, node: NodeId(9) }));
        assert_eq!(graph.unreachable_pairs(1), vec![]);
    }

    #[test]
    fn a_host_has_a_cable() {
        let mut graph = pair();
        graph.cable(NodeId(0), NodeId(2), LINK);
        assert_eq!(graph.validate(), Ok(()), "or several");
        graph.cables.retain(|cable| cable.a != NodeId(0));
        let error = graph.validate().unwrap_err();
        assert_eq!(error, GraphError::HostCables { name: "h0".into(), cables: 0 });
        assert!(error.to_string().contains("give it 1 to 64"));
    }

    #[test]
    fn a_cable_moves_bits_and_most_arrive() {
        let mut graph = pair();
        graph.cables[0].link.bit_error_rate = f64::NAN;
        assert!(matches!(graph.validate(), Err(GraphError::BitErrorRate { .. })));
        graph.cables[0].link.bit_error_rate = 1.0;
        assert!(matches!(graph.validate(), Err(GraphError::BitErrorRate { .. })));
        graph.cables[0].link.rate = Rate::ZERO;
        assert_eq!(graph.validate(), Err(GraphError::RateZero { a: "h0".into(), b: "sw0".into() }));
    }

    #[test]
    fn islands_are_reported_by_example() {
        let mut graph = pair();
        let lone = graph.node("sw1", Role::Switch, 1);
        let host = graph.node("h2", Role::Host, 0);
        graph.cable(host, lone, LINK);
        assert_eq!(graph.validate(), Ok(()));
        assert_eq!(graph.unreachable_pairs(8), vec![(HostId(0), HostId(2)), (HostId(1), HostId(2))]);
        assert_eq!(graph.unreachable_pairs(1), vec![(HostId(0), HostId(2))]);
        // A host on both islands reaches all, and connects nobody.
        let both = graph.node("both", Role::Host, 0);
        graph.cable(both, graph.find("sw0").unwrap(), LINK);
        graph.cable(both, graph.find("sw1").unwrap(), LINK);
        assert_eq!(graph.unreachable_pairs(8), vec![(HostId(0), HostId(2)), (HostId(1), HostId(2))]);
    }
}
