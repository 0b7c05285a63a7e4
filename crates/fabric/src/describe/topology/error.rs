//! Why a topology cannot be drawn.

use std::fmt;

use crate::describe::graph::GraphError;

/// A topology's parameters that make no network.
#[derive(Clone, Debug, PartialEq)]
pub enum TopologyError {
    /// A parameter below its least value.
    TooSmall {
        /// Name of the topology.
        topology: &'static str,
        /// Name of the parameter.
        parameter: &'static str,
        /// What was given.
        given: u32,
        /// The least that makes sense.
        least: u32,
    },
    /// A fat-tree of an odd number of ports.
    OddPorts {
        /// Ports per switch, as given.
        given: u32,
    },
    /// A grid of no dimension.
    NoDimensions {
        /// Name of the topology.
        topology: &'static str,
    },
    /// Global links of a dragonfly that cannot be shared evenly among the other groups.
    UnevenGlobalLinks {
        /// Number of groups, as given.
        groups: u32,
        /// Global links of one group: routers per group times global links per router.
        global_links: u64,
    },
    /// Switches with hosts that cannot be grouped into rails.
    UnevenRails {
        /// Rails, as given.
        rails: u32,
        /// Switches with hosts.
        switches: usize,
    },
    /// More of something than can be held.
    TooLarge {
        /// Name of the topology.
        topology: &'static str,
        /// What there is too much of.
        what: &'static str,
        /// How many there would be.
        count: u128,
        /// The most there may be.
        limit: usize,
    },
    /// The drawing is complete but unsound, mostly for a cable that was handed in.
    Graph(GraphError),
}

/// The name of a topology as scenarios spell it.
fn shown(topology: &str) -> String {
    topology.replace('_', "-")
}

impl fmt::Display for TopologyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooSmall { topology, parameter, given, least } => {
                write!(f, "topology {}: {parameter} is {given}; give at least {least}", shown(topology))
            }
            Self::OddPorts { given } => {
                write!(
                    f,
                    "topology fat-tree: k is {given} and must be even; try {} or {}",
                    given - 1,
                    u64::from(*given) + 1
                )
            }
            Self::UnevenRails { rails, switches } => write!(
                f,
                "{switches} switches with hosts do not form groups of {rails} with as many hosts each; \
                 give a number of rails that divides them"
            ),
            Self::NoDimensions { topology } => {
                write!(
                    f,
                    "topology {}: dims is empty; give the number of switches along each dimension, such as 4, 4",
                    shown(topology)
                )
            }
            Self::UnevenGlobalLinks { groups, global_links } if u64::from(*groups) > global_links + 1 => write!(
                f,
                "topology dragonfly: {global_links} global links per group cannot reach {} other groups; \
                 give at most {} groups, or more routers or global links",
                groups - 1,
                global_links + 1
            ),
            Self::UnevenGlobalLinks { groups, global_links } => write!(
                f,
                "topology dragonfly: {global_links} global links per group do not divide evenly among {} other groups; \
                 choose the number of groups so that groups - 1 divides {global_links}, such as {}",
                groups - 1,
                global_links + 1
            ),
            Self::TooLarge { topology, what, count, limit } => {
                write!(
                    f,
                    "topology {}: it would have {count} {what}, the limit is {limit}; reduce its parameters",
                    shown(topology)
                )
            }
            Self::Graph(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TopologyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Graph(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_what_is_wrong_and_what_to_do() {
        let small = TopologyError::TooSmall { topology: "ring", parameter: "switches", given: 2, least: 3 };
        assert_eq!(small.to_string(), "topology ring: switches is 2; give at least 3");
        let odd = TopologyError::OddPorts { given: 7 };
        assert_eq!(odd.to_string(), "topology fat-tree: k is 7 and must be even; try 6 or 8");
        let uneven = TopologyError::UnevenGlobalLinks { groups: 6, global_links: 8 };
        assert!(uneven.to_string().ends_with("groups - 1 divides 8, such as 9"));
        let short = TopologyError::UnevenGlobalLinks { groups: 10, global_links: 8 };
        assert!(short.to_string().contains("give at most 9 groups"));
    }
}
