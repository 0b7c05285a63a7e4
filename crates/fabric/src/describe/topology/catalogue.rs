//! The list of topologies for whoever wants to choose one by name.
//!
//! The names are those of the functions of [`topology`](crate::describe::topology) and the parameters those of their arguments.
//! Cables have no defaults: a rate or a delay belongs to a scenario.

/// One topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopologyInfo {
    /// Name of the function that draws it.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// The numbers it takes, in order.
    pub parameters: &'static [ParameterInfo],
    /// The kinds of cable it takes, in order.
    pub links: &'static [LinkInfo],
}

/// One number, or list of numbers, that a topology takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterInfo {
    /// Name of the argument.
    pub name: &'static str,
    /// What it counts.
    pub meaning: &'static str,
    /// A value that makes a small example; a list has commas.
    pub default: &'static str,
}

/// One kind of cable that a topology takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkInfo {
    /// Name of the argument.
    pub name: &'static str,
    /// What it joins.
    pub meaning: &'static str,
}

const fn parameter(name: &'static str, meaning: &'static str, default: &'static str) -> ParameterInfo {
    ParameterInfo { name, meaning, default }
}

const HOST: LinkInfo = LinkInfo { name: "host", meaning: "from a host to its switch" };
const TRUNK: LinkInfo = LinkInfo { name: "trunk", meaning: "between switches" };
const BOTTLENECK: LinkInfo = LinkInfo { name: "bottleneck", meaning: "between the two switches" };
const HOSTS_PER_SWITCH: ParameterInfo = parameter("hosts_per_switch", "hosts per switch", "1");
const LEFT: ParameterInfo = parameter("left", "hosts on the first switch", "2");
const RIGHT: ParameterInfo = parameter("right", "hosts on the second switch", "2");

/// Every topology there is.
pub const TOPOLOGIES: &[TopologyInfo] = &[
    TopologyInfo {
        name: "single_switch",
        summary: "one switch with all hosts",
        parameters: &[parameter("hosts", "number of hosts", "4")],
        links: &[HOST],
    },
    TopologyInfo {
        name: "dumbbell",
        summary: "two switches with hosts, connected by one bottleneck",
        parameters: &[LEFT, RIGHT],
        links: &[HOST, BOTTLENECK],
    },
    TopologyInfo {
        name: "two_switches",
        summary: "two switches with hosts, connected by parallel links",
        parameters: &[LEFT, RIGHT, parameter("trunks", "parallel links between the switches", "1")],
        links: &[HOST, TRUNK],
    },
    TopologyInfo {
        name: "chain",
        summary: "a line of switches, each with its hosts",
        parameters: &[parameter("switches", "number of switches", "3"), HOSTS_PER_SWITCH],
        links: &[HOST, TRUNK],
    },
    TopologyInfo {
        name: "ring",
        summary: "a ring of switches, each with its hosts",
        parameters: &[parameter("switches", "number of switches, at least 3", "4"), HOSTS_PER_SWITCH],
        links: &[HOST, TRUNK],
    },
    TopologyInfo {
        name: "tree",
        summary: "a tree of switches with hosts at its leaves",
        parameters: &[
            parameter("depth", "number of switch layers", "3"),
            parameter("fanout", "children of each inner switch", "2"),
            parameter("hosts_per_leaf", "hosts per leaf", "2"),
        ],
        links: &[HOST, TRUNK],
    },
    TopologyInfo {
        name: "leaf_spine",
        summary: "two tiers; every leaf is connected to every spine",
        parameters: &[
            parameter("leaves", "number of leaf switches", "4"),
            parameter("spines", "number of spine switches", "2"),
            parameter("hosts_per_leaf", "hosts per leaf", "4"),
        ],
        links: &[HOST, TRUNK],
    },
    TopologyInfo {
        name: "fat_tree",
        summary: "three tiers of k-port switches: k^3/4 hosts, 5 k^2/4 switches",
        parameters: &[parameter("k", "ports per switch, an even number", "4")],
        links: &[HOST, TRUNK],
    },
    TopologyInfo {
        name: "torus",
        summary: "a torus of switches with any number of dimensions",
        parameters: &[parameter("dims", "switches along each dimension", "4, 4"), HOSTS_PER_SWITCH],
        links: &[HOST, TRUNK],
    },
    TopologyInfo {
        name: "mesh",
        summary: "a mesh (grid) of switches with any number of dimensions",
        parameters: &[parameter("dims", "switches along each dimension", "4, 4"), HOSTS_PER_SWITCH],
        links: &[HOST, TRUNK],
    },
    TopologyInfo {
        name: "dragonfly",
        summary: "groups of fully connected routers; every pair of groups is connected",
        parameters: &[
            parameter("groups", "number of groups; groups - 1 divides routers_per_group x global_links", "9"),
            parameter("routers_per_group", "routers per group", "4"),
            parameter("hosts_per_router", "hosts per router", "2"),
            parameter("global_links", "links per router to other groups", "2"),
        ],
        links: &[HOST, TRUNK],
    },
];

#[cfg(test)]
mod tests {
    use super::super::tests::{LINK, links};
    use super::super::*;
    use super::*;

    #[test]
    fn every_entry_draws_a_network_from_its_defaults() {
        for info in TOPOLOGIES {
            let lists: Vec<Vec<u32>> = info
                .parameters
                .iter()
                .map(|p| p.default.split(',').map(|number| number.trim().parse().unwrap()).collect())
                .collect();
            let n: Vec<u32> = lists.iter().map(|list| list[0]).collect();
            let graph = match info.name {
                "single_switch" => single_switch(n[0], LINK),
                "dumbbell" => dumbbell(n[0], n[1], LINK, LINK),
                "two_switches" => two_switches(n[0], n[1], n[2], links()),
                "chain" => chain(n[0], n[1], links()),
                "ring" => ring(n[0], n[1], links()),
                "tree" => tree(n[0], n[1], n[2], links()),
                "leaf_spine" => leaf_spine(n[0], n[1], n[2], links()),
                "fat_tree" => fat_tree(n[0], links()),
                "torus" => torus(&lists[0], n[1], links()),
                "mesh" => mesh(&lists[0], n[1], links()),
                "dragonfly" => dragonfly(n[0], n[1], n[2], n[3], links()),
                unknown => panic!("{unknown} is in the catalogue and in no function"),
            };
            assert!(graph.is_ok(), "{}: {graph:?}", info.name);
        }
    }

    #[test]
    fn names_are_unique_and_summaries_are_lines() {
        for (i, info) in TOPOLOGIES.iter().enumerate() {
            assert!(TOPOLOGIES[..i].iter().all(|other| other.name != info.name));
            assert!(!info.summary.is_empty() && !info.summary.contains('\n'));
        }
    }
}
