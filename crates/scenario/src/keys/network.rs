//! Keys of `[network]`.

use crate::key::{Condition, Default, Key, Kind, Section, key};
use fabric::topology::TOPOLOGIES;

const ALL_CABLES: &str = "all cables between the two";

/// A topology's or parameter's name as scenarios write it.
pub(crate) fn written(name: &str) -> String {
    name.replace('_', "-")
}

pub(super) fn network() -> Section {
    let topologies = TOPOLOGIES.iter().map(|topology| (written(topology.name), topology.summary.to_owned())).collect();
    let mut keys = vec![key(
        "topology",
        Kind::Choice(topologies),
        Default::Absent("nodes and links are written out"),
        "A named drawing with a few numbers. Hosts are h0, h1, and so on.",
    )];
    keys.extend(parameters());
    let link = |default, meaning| key("link", Kind::Table(Box::new(link())), default, meaning);
    keys.extend([
        link(Default::Required, "The cables between hosts and switches, and all others that say nothing else."),
        key(
            "trunk",
            Kind::Table(Box::new(partial_link())),
            Default::Absent("the same as link"),
            "The cables between switches; what it leaves out is as in link.",
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
            Default::Absent("all cables are as link and trunk say"),
            "Cables of a drawing that differ from the rest.",
        ),
        key(
            "nodes",
            Kind::Tables(Box::new(nodes())),
            Default::Absent("a topology is named"),
            "Nodes written out, instead of a topology.",
        ),
        key(
            "links",
            Kind::Tables(Box::new(links())),
            Default::Absent("a topology is named"),
            "Cables written out. The n-th cable of a node is its port n.",
        ),
        key(
            "overhead",
            Kind::size(0, 1000),
            Default::Value("20B", "IEEE 802.3 clause 4.4.2: 8 B of preamble and delimiter, 12 B of gap"),
            "Bytes on the wire around every frame.",
        ),
        key(
            "smallest_frame",
            Kind::size(1, 9000),
            Default::Value("64B", "IEEE 802.3 clause 4.4.2: minFrameSize of 512 bits"),
            "No frame is shorter.",
        ),
        key(
            "routing",
            Kind::choice(&[
                ("shortest", "all paths of fewest hops; every switch chooses among its own, as TRILL does"),
                ("up-down", "up*/down*: never up after down, so never a deadlock, at the price of detours"),
                ("lash", "LASH: one shortest path each, in the first lane where it closes no circle"),
                ("dfsssp", "DFSSSP: one shortest path each, evenly loaded, circles broken by lanes"),
                ("spb", "shortest path bridging: trees of shortest paths, one chosen by the source"),
                ("spanning-tree", "one spanning tree"),
                ("multiple-spanning-tree", "a spanning tree for each root, one chosen by the source"),
                ("explicit", "only what routes says"),
            ]),
            Default::Value("shortest", "our choice: what equal-cost multipath of IEEE 802.1Qbp and of IP fabrics does"),
            "Where forwarding tables come from.",
        ),
        key(
            "roots",
            Kind::Names,
            Default::Computed(
                "the switch from which the farthest is nearest, the first of several",
                "our choice: the middle makes the shortest detours",
            ),
            "The switches at the top.",
        )
        .only("routing", &["up-down"]),
        key(
            "roots",
            Kind::Names,
            Default::Computed("the first switch", "IEEE 802.1D-2004 clause 17: the lowest bridge identifier"),
            "The root of the tree. Bridge identifiers are dealt out in the order of the nodes.",
        )
        .only("routing", &["spanning-tree"]),
        key(
            "roots",
            Kind::Names,
            Default::Computed(
                "all switches of the highest layer",
                "our choice: what an operator would set by priority",
            ),
            "The root of each tree, 64 at most.",
        )
        .only("routing", &["multiple-spanning-tree"]),
        key(
            "trees",
            Kind::Count(1, 16),
            Default::Value("16", "RFC 6329: there are sixteen standard algorithms, 00-80-C2-01 and so on"),
            "How many of the sixteen standard sets of paths there are, the first so many.",
        )
        .only("routing", &["spb"]),
        key(
            "bridges",
            Kind::Tables(Box::new(bridges())),
            Default::Absent("addresses are dealt out in the order of the nodes, priorities are all 0"),
            "What bridges are called: it decides among equal paths.",
        )
        .only("routing", &["spb"]),
        key(
            "services",
            Kind::Tables(Box::new(services())),
            Default::Absent("there are no groups"),
            "Groups of bridges. Nobody sends to them in a run; `tailback routes` shows how they would be forwarded.",
        )
        .only("routing", &["spb"]),
        key(
            "local_repair",
            Kind::time(),
            Default::Absent("switches wait for new tables"),
            "How long after a cable fails the switches at its ends use the other ports of their lists, where there are \
             any.",
        )
        .only("routing", &["shortest", "up-down"]),
        key(
            "reconverge",
            Kind::time_or(&[("isis", "when each switch has learned it: IS-IS is spoken, see isis")]),
            Default::Absent("tables change only as reroutes says"),
            "How long after a cable fails or comes up all switches have tables computed anew: detection, flooding and \
             computation together.",
        ),
        key(
            "isis",
            Kind::Table(Box::new(isis())),
            Default::Nested("each part has its own source"),
            "How the switches learn of failing cables.",
        )
        .only("reconverge", &["isis"]),
        key(
            "multipath",
            Kind::choice(&[
                ("flow-hash", "by a hash of the flow: a flow keeps its path"),
                ("spray", "anew for every frame"),
            ]),
            Default::Value("flow-hash", "RFC 2992: keeps the frames of a flow in order"),
            "How a switch chooses among equal paths.",
        ),
        key(
            "routes",
            Kind::Tables(Box::new(routes())),
            Default::Absent("the tables are as routing says"),
            "Entries that replace what routing says.",
        ),
        key(
            "reroutes",
            Kind::Tables(Box::new(reroutes())),
            Default::Absent("tables never change"),
            "Later forwarding tables, installed in all switches at one instant.",
        ),
    ]);
    Section { about: "Nodes, cables and routes: a named topology, or nodes and links written out.", keys }
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
                default: Default::Value(parameter.default, "our choice: a small example of the topology"),
                // The table is made once and kept.
                meaning: meaning.leak(),
                only: vec![Condition { key: "topology", values: vec![written(topology.name)] }],
                former: None,
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
        about: "What a cable is made of; both directions are alike.",
        keys: vec![
            key("rate", Kind::rate(), Default::Required, "Bits per second, in each direction."),
            key("latency", Kind::time(), Default::Required, "Propagation delay of one direction."),
            key(
                "bit_error_rate",
                Kind::Number(0.0, 0.999_999),
                Default::Value("0.0", "our choice: a perfect cable, so that every loss has another cause"),
                "Probability that a bit arrives wrong.",
            ),
        ],
    }
}

fn partial_link() -> Section {
    Section { about: "What differs from link.", keys: partial_link_keys("as in link") }
}

fn partial_link_keys(absent: &'static str) -> Vec<Key> {
    vec![
        key("rate", Kind::rate(), Default::Absent(absent), "Bits per second, in each direction."),
        key("latency", Kind::time(), Default::Absent(absent), "Propagation delay of one direction."),
        key(
            "bit_error_rate",
            Kind::Number(0.0, 0.999_999),
            Default::Absent(absent),
            "Probability that a bit arrives wrong.",
        ),
    ]
}

fn cables() -> Section {
    let mut keys = vec![
        key("between", Kind::Pair, Default::Required, "The two ends; with wildcards, every cable that matches."),
        key("which", Kind::Count(0, 65_535), Default::Absent(ALL_CABLES), "Which of several parallel cables, from 0."),
    ];
    keys.extend(partial_link_keys("unchanged"));
    keys.push(key(
        "metric",
        Kind::Counts(1, fabric::routing::MOST_METRIC as u64),
        Default::Absent("20 Tb/s over its rate (IEEE 802.1D-2004, table 17-3), 2000 at 10 Gb/s"),
        "The link metric of both ends, or of each; the greater counts. For bridging by trees.",
    ));
    Section { about: "Cables that differ from the rest.", keys }
}

fn nodes() -> Section {
    Section {
        about: "One node, or several of a kind.",
        keys: vec![
            key("names", Kind::Names, Default::Required, "A unique name each; {0..7} makes eight of one."),
            key(
                "role",
                Kind::choice(&[("host", "sends and receives; has exactly one cable"), ("switch", "forwards")]),
                Default::Required,
                "What a node does with a frame.",
            ),
            key(
                "layer",
                Kind::Count(0, 65_535),
                Default::Computed("0 for a host, 1 for a switch", "our choice: a drawing of one tier of switches"),
                "Distance from the hosts in a layered drawing.",
            ),
        ],
    }
}

fn isis() -> Section {
    const ALONE: &str = "our choice: what the conversation alone takes; François et al. 2005 measure what routers add";
    Section {
        about: "Bridges that speak IS-IS, at rest when the run begins. What each switch learns changes its own tables.",
        keys: vec![
            key(
                "detection",
                Kind::time(),
                Default::Value("0s", ALONE),
                "From the failure or return of a cable until the switches at its ends see it.",
            ),
            key(
                "computation",
                Kind::time(),
                Default::Value("0s", ALONE),
                "From the moment a switch has learned something until its tables are changed.",
            ),
            key(
                "generation",
                Kind::time(),
                Default::Value("1s", "our choice; ISO 10589 says 30 s (minimumLSPGenerationInterval), vendors less"),
                "A switch that has just told of a change tells of the next only after that.",
            ),
        ],
    }
}

fn bridges() -> Section {
    Section {
        about: "Identifiers of bridges (RFC 6329): priority and address.",
        keys: vec![
            key("names", Kind::Names, Default::Required, "The switches."),
            key(
                "address",
                Kind::Text,
                Default::Absent("the number of its node, from 1"),
                "The bridge's address, such as \"02-00-00-00-00-01\"; of several bridges the first, the others count up.",
            ),
            key(
                "priority",
                Kind::Count(0, 65_535),
                Default::Absent("0"),
                "Goes before the address; lower is preferred by the first tree.",
            ),
        ],
    }
}

fn services() -> Section {
    Section {
        about: "A group of bridges: a service of SPBM, or a group of SPBV.",
        keys: vec![
            key("isid", Kind::Count(1, 0xFF_FFFF), Default::Absent("it is a group of SPBV"), "Number of the service."),
            key(
                "group",
                Kind::Text,
                Default::Absent("it is a service of SPBM"),
                "Address of the group, such as \"03-00-00-00-00-0f\".",
            ),
            key(
                "tree",
                Kind::Count(0, 15),
                Default::Value("0", "our choice: the first, which every bridge must have (RFC 6329, section 14.1)"),
                "The tree that it goes by, from 0.",
            ),
            key("transmit", Kind::Names, Default::Required, "Switches that send to it."),
            key(
                "receive",
                Kind::Names,
                Default::Computed("the same as transmit", "our choice: everybody hears everybody, an E-LAN"),
                "Switches that receive from it.",
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
            "The two ends; with wildcards, a cable for every pair that matches.",
        ),
        key(
            "count",
            Kind::Count(1, 65_535),
            Default::Value("1", "our choice: one cable"),
            "Parallel cables between the two.",
        ),
    ];
    keys.extend(partial_link_keys("as in link"));
    Section { about: "A cable, or several alike.", keys }
}

fn routes() -> Section {
    Section {
        about: "An entry of forwarding tables.",
        keys: vec![
            key("at", Kind::Names, Default::Required, "The switches."),
            key("to", Kind::Names, Default::Required, "The destination hosts."),
            key(
                "via",
                Kind::Names,
                Default::Absent("ports says it"),
                "The neighbours to send to, by every cable that leads there; frames are spread over several.",
            ),
            key("ports", Kind::Counts(0, 65_535), Default::Absent("via says it"), "The output ports, from 0."),
        ],
    }
}

fn reroutes() -> Section {
    Section {
        about: "New forwarding tables for all switches.",
        keys: vec![
            key("at", Kind::time(), Default::Required, "When they are installed."),
            key(
                "avoid",
                Kind::Pairs,
                Default::Absent("all cables are used"),
                "Cables that paths no longer use, each by its two ends.",
            ),
            key(
                "routes",
                Kind::Tables(Box::new(routes())),
                Default::Absent("no more"),
                "Entries that replace these paths.",
            ),
        ],
    }
}
