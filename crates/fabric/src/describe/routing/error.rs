//! What can be wrong with a route.

use std::fmt;

use crate::describe::graph::{HostId, NodeId};

/// An entry that cannot be made, or a path that does not arrive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteError {
    /// Only switches forward.
    NotASwitch {
        /// The node that was given as one.
        node: NodeId,
    },
    /// A destination that is not there.
    NoSuchHost {
        /// The number given.
        host: HostId,
        /// How many hosts there are.
        hosts: usize,
    },
    /// An output port that is not there.
    NoSuchPort {
        /// The switch.
        switch: NodeId,
        /// The port given.
        port: u16,
        /// How many ports the switch has.
        ports: u16,
    },
    /// A switch that knows no port toward the destination.
    NoRoute {
        /// Name of the switch, or of the source if it is not cabled.
        at: String,
        /// Name of the destination.
        to: String,
    },
    /// A path that comes back to a switch and so never ends.
    Loop {
        /// Name of the first switch met again.
        at: String,
        /// Name of the destination.
        to: String,
    },
    /// A path that ends at a host which is not the destination.
    WrongHost {
        /// Name of the host that is reached.
        at: String,
        /// Name of the destination.
        to: String,
    },
    /// More different lists of ports at one switch than can be numbered.
    TooManyGroups {
        /// The switch.
        switch: NodeId,
    },
    /// A routing that takes hosts for leaves, and a host on several switches.
    SeveralLinks {
        /// Name of the host.
        host: String,
    },
    /// A routing that would need more lanes than there are.
    TooManyLanes {
        /// How many there are.
        lanes: usize,
    },
}

impl fmt::Display for RouteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotASwitch { node } => {
                write!(f, "node {} is not a switch; give routes to switches only, hosts do not forward", node.0)
            }
            Self::NoSuchHost { host, hosts } => {
                write!(f, "there is no host {}; the network has {hosts}, numbered from 0", host.0)
            }
            Self::NoSuchPort { switch, port, ports } => write!(
                f,
                "node {} has no port {port}; it has {ports}, numbered from 0 in the order of its links",
                switch.0
            ),
            Self::NoRoute { at, to } => {
                write!(f, "\"{at}\" has no route to \"{to}\"; add a route, or connect them")
            }
            Self::Loop { at, to } => {
                write!(f, "frames for \"{to}\" loop through \"{at}\"; correct the tables on that path")
            }
            Self::WrongHost { at, to } => {
                write!(f, "frames for \"{to}\" arrive at host \"{at}\"; correct the table of the switch before it")
            }
            Self::TooManyGroups { switch } => write!(
                f,
                "node number {} has more than 65535 different lists of ports; let more destinations share one",
                switch.0
            ),
            Self::SeveralLinks { host } => {
                write!(
                    f,
                    "host \"{host}\" has several links, which this routing does not support; use shortest paths, or \
                     up-down if every port has an address"
                )
            }
            Self::TooManyLanes { lanes } => {
                write!(
                    f,
                    "{lanes} virtual lanes are too few to break all dependency cycles of this network; use up*/down* routing"
                )
            }
        }
    }
}

impl std::error::Error for RouteError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_the_place() {
        let error = RouteError::NoRoute { at: "sw3".into(), to: "h7".into() };
        assert!(error.to_string().starts_with("\"sw3\" has no route to \"h7\"; "));
    }
}
