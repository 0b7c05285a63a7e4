//! Keys of `[network]`.

use crate::key::{Condition, Default, Key, Kind, Section, key};
use fabric::topology::TOPOLOGIES;

const ALL_CABLES: &str = "all links between the two nodes";

/// A topology's or parameter's name as scenarios write it.
pub(crate) fn written(name: &str) -> String {
    name.replace('_', "-")
}

pub(super) fn network() -> Section {
    let topologies = TOPOLOGIES.iter().map(|topology| (written(topology.name), topology.summary.to_owned())).collect();
    let mut keys = vec![key(
        "topology",
        Kind::Choice(topologies),
        Default::Absent("[[network.nodes]] and [[network.links]] describe the network"),
        "Predefined network, sized by the keys below. Hosts are named h0, h1, and so on.",
    )];
    keys.extend(parameters());
    let named: Vec<String> = TOPOLOGIES.iter().map(|topology| written(topology.name)).collect();
    let named: Vec<&str> = named.iter().map(String::as_str).collect();
    keys.extend([
        key(
            "rails",
            Kind::Count(1, 64),
            Default::Absent("every host has one link"),
            "Rail-optimised network: switches with hosts form groups of this many, in order, and the n-th hosts of a \
             group are one host with a link to each of them. Port i of a host is on the i-th switch of its group.",
        )
        .only("topology", &named),
        key(
            "planes",
            Kind::Count(1, 64),
            Default::Absent("one plane"),
            "Number of equal networks, the planes, that have the hosts in common: every host has a port in each. \
             Switches are named p0-leaf0, p1-leaf0, and so on.",
        )
        .only("topology", &named),
        key(
            "addresses",
            Kind::choice(&[
                ("host", "a host has one address, and frames arrive by the nearest of its links"),
                ("port", "every port has its own address; frames sent from port i arrive at port i of the destination, if it has \
                 that port"),
            ]),
            Default::Absent("port with rails, else host"),
            "What an address names if hosts have several links.",
        ),
        key(
            "host_links",
            Kind::Count(1, 64),
            Default::Absent("one link"),
            "Number of parallel links between a host and each of its switches. With planes or rails, the parallel links of \
             a host to one switch are consecutive ports.",
        )
        .only("topology", &named),
    ]);
    let link = |default, meaning| key("link", Kind::Table(Box::new(link())), default, meaning);
    keys.extend([
        link(
            Default::Required,
            "Properties of links: of host links, and of all others unless trunk, cables or \
             links changes them.",
        ),
        key(
            "trunk",
            Kind::Table(Box::new(partial_link())),
            Default::Absent("same as link"),
            "Properties of the links between switches. Missing keys default to those of link.",
        )
        .only(
            "topology",
            &TOPOLOGIES
                .iter()
                .filter(|t| t.links.len() > 1)
                .map(|t| written(t.name))
                .collect::<Vec<_>>()
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>(),
        ),
        key(
            "cables",
            Kind::Tables(Box::new(cables())),
            Default::Absent("all links are as link and trunk describe them"),
            "Links of the topology that differ from link and trunk.",
        ),
        key(
            "nodes",
            Kind::Tables(Box::new(nodes())),
            Default::Absent("the topology defines the nodes"),
            "Explicit list of nodes, instead of a topology.",
        ),
        key(
            "links",
            Kind::Tables(Box::new(links())),
            Default::Absent("the topology defines the links"),
            "Explicit list of links. The n-th link of a node is its port n.",
        ),
        key(
            "overhead",
            Kind::size(0, 1000),
            Default::Value("20B", "IEEE 802.3 clause 4.4.2: 8 B of preamble and delimiter, 12 B of interpacket gap"),
            "Bytes that every frame occupies on the wire besides its own.",
        ),
        key(
            "smallest_frame",
            Kind::size(1, 9000),
            Default::Value("64B", "IEEE 802.3 clause 4.4.2: minFrameSize of 512 bits"),
            "Minimum frame size. Shorter frames are padded to it.",
        ),
        key(
            "frame_time",
            Kind::choice(&[
                ("exact", "to the picosecond; the remainder is carried over to the next frame"),
                ("nanoseconds-down", "whole nanoseconds, rounded down, as ns-3.17 and the HPCC simulator count"),
                ("nearest-nanosecond", "the nearest number of whole nanoseconds, as ns-3.39 counts"),
            ]),
            Default::Value("exact", "our choice: no link is faster or slower than its rate"),
            "How long a frame occupies a link, and how long a flow waits after one at its rate.",
        ),
        key(
            "largest_frame",
            Kind::size(64, 60_018),
            Default::Absent("the frames of the workloads"),
            "Largest frame that the ports of a real network carry, with header and check sequence. Default thresholds of lossless \
             classes are then for frames of this size, and `check` compares every headroom with it and warns if it is less than \
             hardware may need.",
        ),
        key(
            "headroom",
            Kind::choice(&[
                ("hardware", "the delays that IEEE 802.1Qbb and 802.3 allow interfaces and senders"),
                ("exact", "the headroom of the simulated links, with the largest frame of the network in both \
                           directions"),
            ]),
            Default::Value("hardware", "our choice: thresholds that are safe on real links"),
            "What the default thresholds of PAUSE and PFC (xoff, headroom) leave room for.",
        ),
        key(
            "routing",
            Kind::choice(&[
                ("shortest", "all paths with the fewest hops; each switch picks among its next hops, as in TRILL"),
                (
                    "up-down",
                    "up*/down*: no path goes up after it went down, which prevents deadlock but lengthens \
                     some paths",
                ),
                (
                    "lash",
                    "LASH: one shortest path per pair of switches, in the first virtual lane where it closes no \
                     cycle",
                ),
                (
                    "dfsssp",
                    "DFSSSP: one shortest path per pair, balanced over the links; cycles are broken by \
                     virtual lanes",
                ),
                ("spb", "shortest path bridging: several shortest-path trees; the source picks one"),
                ("spanning-tree", "one spanning tree"),
                ("multiple-spanning-tree", "one spanning tree per root; the source picks one"),
                ("explicit", "only the entries of routes"),
            ]),
            Default::Value("shortest", "our choice: the equal-cost multipath of IEEE 802.1Qbp and of IP fabrics"),
            "How the forwarding tables are computed.",
        ),
        key(
            "roots",
            Kind::Names,
            Default::Computed(
                "the switch with the smallest distance to its farthest node; the first of equals",
                "our choice: a central root keeps detours short",
            ),
            "The root switches of up*/down*.",
        )
        .only("routing", &["up-down"]),
        key(
            "roots",
            Kind::Names,
            Default::Computed("the first switch", "IEEE 802.1D-2004 clause 17: the lowest bridge identifier"),
            "Root of the spanning tree. Bridge identifiers follow the order of the nodes.",
        )
        .only("routing", &["spanning-tree"]),
        key(
            "roots",
            Kind::Names,
            Default::Computed(
                "all switches of the highest layer",
                "our choice: as an operator would set priorities",
            ),
            "Root of each spanning tree, at most 64.",
        )
        .only("routing", &["multiple-spanning-tree"]),
        key(
            "trees",
            Kind::Count(1, 16),
            Default::Value("16", "RFC 6329: the sixteen standard algorithms, 00-80-C2-01 and so on"),
            "Number of equal-cost trees, from the first of the sixteen standard ones.",
        )
        .only("routing", &["spb"]),
        key(
            "bridges",
            Kind::Tables(Box::new(bridges())),
            Default::Absent("addresses follow the order of the nodes; every priority is 0"),
            "Bridge identifiers, which break ties among equal-cost paths.",
        )
        .only("routing", &["spb"]),
        key(
            "services",
            Kind::Tables(Box::new(services())),
            Default::Absent("no groups"),
            "Multicast groups of bridges. Runs send no traffic to them; `tailback routes` shows how they would be \
             forwarded.",
        )
        .only("routing", &["spb"]),
        key(
            "subnet",
            Kind::Tables(Box::new(super::subnet::subnet())),
            Default::Absent("`tailback routes` generates identifiers"),
            "Identifiers of nodes in an InfiniBand subnet, as `tailback import infiniband` writes them.",
        ),
        key(
            "local_repair",
            Kind::time(),
            Default::Absent("switches wait for new forwarding tables"),
            "Delay after a link failure until the switches at its ends use their other next hops, if they have any.",
        )
        .only("routing", &["shortest", "up-down"]),
        key(
            "reconverge",
            Kind::time_or(&[("isis", "each switch updates its tables when IS-IS informs it; see isis")]),
            Default::Absent("only the entries of reroutes change the tables"),
            "Delay after a link fails or recovers until all switches use recomputed tables: detection, flooding and \
             computation together.",
        ),
        key(
            "isis",
            Kind::Table(Box::new(isis())),
            Default::Nested("the defaults of its keys"),
            "How switches learn of link failures by IS-IS.",
        )
        .only("reconverge", &["isis"]),
        key(
            "multipath",
            Kind::choice(&[
                ("flow-hash", "a hash of the flow picks the path, so a flow keeps its path"),
                ("spray", "the path is picked separately for every frame"),
                ("adaptive", "every frame takes the next hop with the shortest queue; a hash of the flow breaks ties"),
                (
                    "path-number",
                    "as flow-hash, but a receiver-driven flow uses every path once before it uses one again",
                ),
                ("flowlet", "a flow keeps its path until it pauses; see flowlet_gap"),
            ]),
            Default::Value("flow-hash", "RFC 2992: keeps the frames of a flow in order"),
            "How a switch picks among equal-cost paths.",
        ),
        key(
            "flowlet_gap",
            Kind::time(),
            Default::Value("500us", "Alizadeh et al., SIGCOMM 2014 (CONGA): the flowlet inactivity gap"),
            "Time without a frame of a flow after which it may take another path.",
        )
        .only("multipath", &["flowlet"]),
        key(
            "flowlet_entries",
            Kind::Count(1, 1 << 20),
            Default::Value("65536", "Alizadeh et al., SIGCOMM 2014 (CONGA): 64K entries"),
            "Entries of each switch's table of flowlets, indexed by a hash of the flow. Flows that share an entry share \
             its path.",
        )
        .only("multipath", &["flowlet"]),
        key(
            "flowlet_choice",
            Kind::choice(&[
                ("random", "a uniformly random next hop, as in LetFlow"),
                ("shortest", "the next hop with the shortest queue; a hash of the flow breaks ties"),
            ]),
            Default::Value("random", "Vanini et al., NSDI 2017 (LetFlow)"),
            "How the next hop of a new flowlet is picked.",
        )
        .only("multipath", &["flowlet"]),
        key(
            "routes",
            Kind::Tables(Box::new(routes())),
            Default::Absent("routing alone fills the tables"),
            "Forwarding entries that replace those of routing.",
        ),
        key(
            "reroutes",
            Kind::Tables(Box::new(reroutes())),
            Default::Absent("the tables never change"),
            "Forwarding tables that all switches install at a given time.",
        ),
    ]);
    Section { about: "Nodes, links and routes: either a predefined topology, or explicit nodes and links.", keys }
}

/// The numbers that topologies take, one reading per topology and default.
fn parameters() -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::new();
    for topology in TOPOLOGIES {
        for parameter in topology.parameters {
            let meaning = sentence(parameter.meaning);
            let same = |key: &&mut Key| {
                key.name == parameter.name
                    && key.meaning == meaning
                    && matches!(key.default, Default::Value(text, _) if text == parameter.default)
            };
            if let Some(known) = keys.iter_mut().find(same) {
                known.only.iter_mut().for_each(|condition| condition.values.push(written(topology.name)));
                continue;
            }
            let list = parameter.default.contains(',');
            keys.push(Key {
                name: parameter.name,
                kind: if list { Kind::Counts(1, 1 << 20) } else { Kind::Count(0, 1 << 20) },
                default: Default::Value(parameter.default, "our choice: runs in seconds"),
                // The table is made once and kept.
                meaning: meaning.leak(),
                only: vec![Condition { key: "topology", values: vec![written(topology.name)] }],
                former: None,
                by_name: false,
            });
        }
    }
    keys
}

/// The catalogue's half sentences made whole.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first: String = letters.next().map(|letter| letter.to_uppercase().collect()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

fn link() -> Section {
    Section {
        about: "Properties of a link. Both directions are alike.",
        keys: vec![
            key("rate", Kind::rate(), Default::Required, "Bit rate of each direction."),
            key("latency", Kind::time(), Default::Required, "Propagation delay of one direction."),
            key(
                "bit_error_rate",
                Kind::Number(0.0, 0.999_999),
                Default::Value("0.0", "our choice: no bit errors"),
                "Probability that a bit is corrupted.",
            ),
        ],
    }
}

fn partial_link() -> Section {
    Section {
        about: "Links between switches. Missing keys default to those of link.",
        keys: partial_link_keys("as in link"),
    }
}

fn partial_link_keys(absent: &'static str) -> Vec<Key> {
    vec![
        key("rate", Kind::rate(), Default::Absent(absent), "Bit rate of each direction."),
        key("latency", Kind::time(), Default::Absent(absent), "Propagation delay of one direction."),
        key(
            "bit_error_rate",
            Kind::Number(0.0, 0.999_999),
            Default::Absent(absent),
            "Probability that a bit is corrupted.",
        ),
    ]
}

fn cables() -> Section {
    let mut keys = vec![
        key(
            "between",
            Kind::Pair,
            Default::Required,
            "The two nodes of the link. With wildcards: every matching \
             link.",
        ),
        key(
            "which",
            Kind::Count(0, 65_535),
            Default::Absent(ALL_CABLES),
            "Index of one of several parallel links, \
             from 0.",
        ),
    ];
    keys.extend(partial_link_keys("unchanged"));
    keys.push(key(
        "metric",
        Kind::Counts(1, fabric::routing::MOST_METRIC as u64),
        Default::Absent("20 Tb/s divided by its rate (IEEE 802.1D-2004, table 17-3): 2000 at 10 Gb/s"),
        "Link metric for spanning trees and shortest path bridging: one value, or one per end. The larger one \
         counts.",
    ));
    Section { about: "Links that differ from the rest.", keys }
}

fn nodes() -> Section {
    Section {
        about: "One node, or several with the same role.",
        keys: vec![
            key("names", Kind::Names, Default::Required, "Unique names; {0..7} makes eight of them."),
            key(
                "role",
                Kind::choice(&[("host", "sends and receives; has one link or several"), ("switch", "forwards")]),
                Default::Required,
                "Whether the node is a host or a switch.",
            ),
            key(
                "layer",
                Kind::Count(0, 65_535),
                Default::Computed("0 for a host, 1 for a switch", "our choice: one tier of switches"),
                "Tier of the node, counted from the hosts.",
            ),
        ],
    }
}

fn isis() -> Section {
    const ALONE: &str = "our choice: the time of the protocol exchange alone; François et al. 2005 measure the delays \
                         of routers";
    Section {
        about: "IS-IS between the switches. It has converged when the run begins; a switch recomputes its tables \
             when it learns of a change.",
        keys: vec![
            key(
                "detection",
                Kind::time(),
                Default::Value("0s", ALONE),
                "Delay from the failure or recovery of a link until the switches at its ends detect it.",
            ),
            key(
                "computation",
                Kind::time(),
                Default::Value("0s", ALONE),
                "Delay from the receipt of a link-state update until the switch uses its new tables.",
            ),
            key(
                "generation",
                Kind::time(),
                Default::Value(
                    "1s",
                    "our choice; ISO 10589 has 30 s (minimumLSPGenerationInterval), vendors use \
                     less",
                ),
                "Minimum time between two link-state updates that a switch originates.",
            ),
        ],
    }
}

fn bridges() -> Section {
    Section {
        about: "Bridge identifiers (RFC 6329): priority and address.",
        keys: vec![
            key("names", Kind::Names, Default::Required, "The switches, by name."),
            key(
                "address",
                Kind::Text,
                Default::Absent("the number of the node, from 1"),
                "MAC address of the bridge, such as \"02-00-00-00-00-01\". If several bridges match, they get \
                 consecutive addresses.",
            ),
            key(
                "priority",
                Kind::Count(0, 65_535),
                Default::Absent("0"),
                "Compared before the address. The first tree prefers lower values.",
            ),
        ],
    }
}

fn services() -> Section {
    Section {
        about: "A multicast group: a service of SPBM (set isid), or a group address of SPBV (set group).",
        keys: vec![
            key(
                "isid",
                Kind::Count(1, 0xFF_FFFF),
                Default::Absent("the group is one of SPBV"),
                "Service identifier \
                 (I-SID).",
            ),
            key(
                "group",
                Kind::Text,
                Default::Absent("the group is a service of SPBM"),
                "Group MAC address, such as \"03-00-00-00-00-0f\".",
            ),
            key(
                "tree",
                Kind::Count(0, 15),
                Default::Value(
                    "0",
                    "our choice: the first tree, which every bridge must support (RFC 6329, section \
                     14.1)",
                ),
                "Index of the tree that forwards the group, from 0.",
            ),
            key("transmit", Kind::Names, Default::Required, "Switches that send to the group."),
            key(
                "receive",
                Kind::Names,
                Default::Computed("same as transmit", "our choice: an E-LAN, in which all members receive"),
                "Switches that receive from the group.",
            ),
        ],
    }
}

fn links() -> Section {
    let mut keys = vec![
        key(
            "between",
            Kind::Pair,
            Default::Required,
            "The two nodes. With wildcards: one link for every matching pair.",
        ),
        key("count", Kind::Count(1, 65_535), Default::Value("1", "our choice"), "Number of parallel links."),
    ];
    keys.extend(partial_link_keys("as in link"));
    Section { about: "One link, or several with the same properties.", keys }
}

fn routes() -> Section {
    Section {
        about: "A forwarding entry.",
        keys: vec![
            key("at", Kind::Names, Default::Required, "The switches, by name."),
            key("to", Kind::Names, Default::Required, "The destination hosts."),
            key(
                "via",
                Kind::Names,
                Default::Absent("ports gives the next hops"),
                "Next hops by name. All links to them are used; multipath picks among them.",
            ),
            key(
                "ports",
                Kind::Counts(0, 65_535),
                Default::Absent("via gives the next hops"),
                "Next hops by port number, from 0.",
            ),
        ],
    }
}

fn reroutes() -> Section {
    Section {
        about: "New forwarding tables for all switches.",
        keys: vec![
            key("at", Kind::time(), Default::Required, "When all switches install them."),
            key(
                "avoid",
                Kind::Pairs,
                Default::Absent("all links are used"),
                "Links that the new paths avoid, each given by its two nodes.",
            ),
            key(
                "routes",
                Kind::Tables(Box::new(routes())),
                Default::Absent("no entries"),
                "Forwarding entries that replace the computed ones.",
            ),
        ],
    }
}
