//! The network as a drawing: nodes and the cables between them, before anything moves.
//!
//! A graph knows names, roles and cables. It does not know queues, buffers or traffic.
//! Ports are not declared: the n-th cable that touches a node is that node's port n.

use units::{Rate, Span};

/// Number of a node in its graph: its position in [`Graph::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// Number of a host among the hosts of its graph, in node order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostId(pub u32);

/// What a node does with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Sends and receives; has exactly one cable.
    Host,
    /// Forwards.
    Switch,
}

/// One node of the drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Unique name, used in scenarios, errors and results.
    pub name: String,
    /// Host or switch.
    pub role: Role,
    /// Distance from the hosts in a layered drawing: hosts 0, edge switches 1, and so on.
    pub layer: u16,
}

/// What a cable is made of; both directions are alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkSpec {
    /// Bits per second, in each direction.
    pub rate: Rate,
    /// Propagation delay of one direction. Zero is allowed.
    pub latency: Span,
    /// Probability that a bit arrives wrong; 0 for a perfect cable.
    pub bit_error_rate: f64,
}

/// A full-duplex cable between two nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Cable {
    /// One end.
    pub a: NodeId,
    /// The other end.
    pub b: NodeId,
    /// Speed, delay and quality.
    pub link: LinkSpec,
}

/// Nodes and cables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// All nodes; [`NodeId`] is the position here.
    pub nodes: Vec<Node>,
    /// All cables, in the order in which ports are numbered.
    pub cables: Vec<Cable>,
}

/// One end of a cable as seen from a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortEnd {
    /// Position of the cable in [`Graph::cables`].
    pub cable: u32,
    /// The node at the far end.
    pub peer: NodeId,
    /// The far end's port number on that node.
    pub peer_port: u16,
}

impl Graph {
    /// Adds a node and returns its number.
    pub fn node(&mut self, name: impl Into<String>, role: Role, layer: u16) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).expect("fewer than 2^32 nodes"));
        self.nodes.push(Node { name: name.into(), role, layer });
        id
    }

    /// Joins two nodes.
    pub fn cable(&mut self, a: NodeId, b: NodeId, link: LinkSpec) {
        self.cables.push(Cable { a, b, link });
    }

    /// For every node its ports in order.
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

    /// The nodes that are hosts, in node order: [`HostId`] is the position here.
    #[must_use]
    pub fn hosts(&self) -> Vec<NodeId> {
        (0..).zip(&self.nodes).filter(|(_, n)| n.role == Role::Host).map(|(i, _)| NodeId(i)).collect()
    }

    /// The node of that name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<NodeId> {
        (0..).zip(&self.nodes).find(|(_, n)| n.name == name).map(|(i, _)| NodeId(i))
    }
}
