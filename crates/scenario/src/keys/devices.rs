//! Keys of `[[classes]]`, `[[switches]]` and `[[adapters]]`.

use super::buffers::{LARGEST_BUFFER, adapter_buffers, switch_buffers};
use crate::key::{Default, Key, Kind, Section, key};
use crate::parameters;

const EVERYTHING: Default = Default::Value("*", "our choice: one kind for all");
const CONTROLLED: &[&str] = &["pause", "pfc"];

pub(super) fn classes() -> Section {
    Section {
        about: "A priority or virtual lane.",
        keys: vec![
            key(
                "name",
                Kind::Text,
                Default::Value("data", "our choice: a name for the only class"),
                "How the rest of the scenario calls it.",
            ),
            key(
                "lossless",
                Kind::Flag,
                Default::Value("true", "our choice: lossless networks are what this laboratory is for"),
                "Whether a frame of it may never be dropped for want of room. PFC and credits act on lossless classes only.",
            ),
            key(
                "layered",
                Kind::Flag,
                Default::Computed("true for a lossless class", "our choice: only who holds others back can deadlock"),
                "Whether it has as many lanes as the routing needs, each a class of its own with the same buffers, \
                 name.0, name.1 and so on. Matters to lash and dfsssp only.",
            ),
        ],
    }
}

pub(super) fn switches() -> Section {
    let fifo = &["input-fifo"];
    let crossbar = &["input-fifo", "virtual-output", "combined"];
    let mut keys = vec![
        key("match", Kind::Names, EVERYTHING, "The switches of this kind, by name."),
        key(
            "queueing",
            Kind::choice(&[
                ("output", "a queue per output and class; the crossbar is infinitely fast"),
                ("input-fifo", "one FIFO per input and class"),
                ("virtual-output", "a queue per input, output and class"),
                ("combined", "virtual output queues before the crossbar, output queues behind it"),
            ]),
            Default::Value("output", "our choice: what shared-memory switches amount to"),
            "Where frames wait.",
        ),
        key(
            "bypass",
            Kind::Count(0, 255),
            Default::Value("0", "our choice: a strict FIFO"),
            "How far a frame may go before older ones whose output is busy.",
        )
        .only("queueing", fifo),
        key(
            "bypass_reading",
            Kind::choice(&[
                ("lookahead", "at most that many older frames of the same buffer are looked past"),
                ("per-packet", "each frame may be overtaken at most that many times"),
            ]),
            Default::Value("lookahead", "our choice: the reading that hardware can bound by the depth of its search"),
            "What bypass limits.",
        )
        .only("queueing", fifo),
        key(
            "order",
            Kind::choice(&[
                ("arrival", "the oldest frame first"),
                ("round-robin", "the destinations in turn, the oldest frame of each"),
                ("longest", "the destination with the most bytes waiting"),
            ]),
            Default::Value("arrival", "our choice: one first-in first-out queue per output and class"),
            "How an output serves the destinations that share it. All but arrival look through the queue for each frame.",
        )
        .only("queueing", &["output"]),
        key(
            "output_buffer",
            Kind::size(1, LARGEST_BUFFER),
            Default::Required,
            "Room behind the crossbar, per output and class.",
        )
        .only("queueing", &["combined"]),
        key(
            "arbitration",
            Kind::choice(&[
                ("arrival-order", "the frame that has been in the switch the longest"),
                ("round-robin", "the inputs in turn; one that is busy is passed over"),
                ("round-robin-waiting", "the inputs in turn; a turn whose input is busy waits for it"),
            ]),
            Default::Value("round-robin", "our choice: the plainest rule under which no input starves"),
            "How an output chooses among inputs.",
        )
        .only("queueing", crossbar),
        key(
            "read_ports",
            Kind::Count(0, 255),
            Default::Value("1", "our choice: a buffer of one read port, as in a plain crossbar"),
            "How many outputs one input may feed at once; 0 is as many as there are.",
        )
        .only("queueing", crossbar),
        key(
            "speedup",
            Kind::Ratio,
            Default::Value("1", "our choice: a crossbar as fast as its links"),
            "Speed of the crossbar as a multiple of the output's rate.",
        )
        .only("queueing", &["combined"]),
        key(
            "forwarding",
            Kind::choice(&[
                ("store-and-forward", "when the last byte of a frame has arrived"),
                ("cut-through", "when its header has arrived"),
            ]),
            Default::Value(
                "store-and-forward",
                "our choice: what a bridge does that checks a frame before it relays it",
            ),
            "When a frame may be passed on.",
        ),
        key("header_delay", Kind::time(), Default::Required, "From a frame's first byte in to the earliest start out.")
            .only("forwarding", &["cut-through"]),
        key(
            "pipeline",
            Kind::time(),
            Default::Value("0s", "our choice: no delay but queues and cables"),
            "Between a frame's arrival and its joining a queue. It is in the input's buffer meanwhile.",
        ),
    ];
    keys.push(flow_control("pfc", "our choice: the flow control of lossless Ethernet, IEEE 802.1Qbb"));
    keys.extend(flow_control_details());
    keys.extend([
        key(
            "buffer",
            Kind::choice(&[
                ("static", "fixed room per port and class"),
                ("shared", "one memory for all ports; a queue may use alpha times what is free"),
            ]),
            Default::Value("static", "our choice: the one whose losslessness a formula decides"),
            "How memory is shared out.",
        ),
        key("shared_size", Kind::size(1, LARGEST_BUFFER), Default::Required,
            "The shared part of the memory; guaranteed parts and headroom come on top.").only("buffer", &["shared"]),
        key("alpha", Kind::Ratio, Default::Value("1/16", "Guo et al., SIGCOMM 2016 (RDMA over commodity Ethernet at scale): 1/16, after an incident with 1/64"),
            "What part of the free memory one queue may take.").only("buffer", &["shared"]),
        key("buffers", Kind::Tables(Box::new(switch_buffers())), Default::Required,
            "Room and thresholds. Of several entries for a class the last one applies."),
        key("egress", Kind::Tables(Box::new(egress())), Default::Absent("strict priority: the highest class first"),
            "Groups of classes that share a link: the strict ones first, the last named first; weighted ones share the rest."),
        vl_arbitration(),
        key("congestion_point", Kind::Table(Box::new(congestion_point())), Default::Absent("as [congestion_point] says"),
            "What notices congestion and tells the sources. \"none\" is none, whatever [congestion_point] says."),
        key(
            "notice_class",
            Kind::Text,
            Default::Computed("the last class", "our choice: the most urgent one, unless `egress` says otherwise"),
            "Class of the notices and receipts it sends, by name. Where they are made they go before all data.",
        ),
        key(
            "notice_size",
            Kind::size(1, 65_000),
            Default::Value("64B", "IEEE 802.3 clause 4.4.2: the smallest frame"),
            "Size of a notice or receipt, overhead not counted.",
        ),
        key(
            "occupancy",
            Kind::Flag,
            Default::Value("false", "our choice: it costs memory and time; a congestion point that draws frames has it anyway"),
            "Whether it keeps account of which flow holds how much of each input's buffer: the table occupancy.",
        ),
        key(
            "buffer_unit",
            Kind::size(1, 65_000),
            Default::Value("64B", "our choice: the smallest frame"),
            "Unit of buffer memory: a congestion point that draws frames draws a unit and takes the frame in it.",
        ),
        key(
            "sample_dropped",
            Kind::Flag,
            Default::Value("true", "our choice: what arrives is what a congestion point is about"),
            "Whether a congestion point at outputs also sees frames that find no room there.",
        ),
        key(
            "reliable_delivery",
            Kind::Flag,
            Default::Value("false", "our choice: cables inside a fabric lose nothing"),
            "Reliable delivery across a fabric of such switches: a frame from a host that goes on inside keeps its room until a receipt says that the last switch has it.",
        ),
    ]);
    Section { about: "A kind of switch: a product of choices.", keys }
}

pub(super) fn congestion_point() -> Section {
    let names = congestion::POINTS.iter().map(|point| (point.name.to_owned(), point.summary.to_owned()));
    let tables: Vec<_> = congestion::POINTS.iter().map(|info| (info.name, info.parameters, info.presets)).collect();
    let mut keys = vec![key("name", Kind::Choice(names.collect()), Default::Required, "Which kind.")];
    keys.extend(parameters::keys(&tables));
    Section { about: "A switch's congestion point and its parameters.", keys }
}

pub(super) fn adapters() -> Section {
    let mut keys = vec![key("match", Kind::Names, EVERYTHING, "The hosts of this kind, by name.")];
    keys.push(flow_control("none", "our choice: an adapter that consumes at once holds nobody back"));
    keys.extend(flow_control_details());
    keys.extend([
        key(
            "service",
            Kind::rate(),
            Default::Absent("what arrives is consumed at once"),
            "How fast it consumes, in bits per second on the link: frame overhead counted, as for the rate of a cable.",
        ),
        key(
            "service_changes",
            Kind::Tables(Box::new(service_changes())),
            Default::Absent("it never changes"),
            "Later service rates.",
        ),
        key(
            "buffers",
            Kind::Tables(Box::new(adapter_buffers())),
            Default::Absent("none is needed while it consumes at once"),
            "Room for what has arrived and is not yet consumed. Of several entries for a class the last one applies.",
        ),
        key(
            "egress",
            Kind::Tables(Box::new(egress())),
            Default::Absent("strict priority: the highest class first"),
            "How it chooses among its classes when sending.",
        ),
        vl_arbitration(),
    ]);
    Section { about: "A kind of adapter: a host's attachment to the network.", keys }
}

fn flow_control(default: &'static str, source: &'static str) -> Key {
    key(
        "flow_control",
        Kind::choice(&[
            ("none", "what does not fit is dropped"),
            ("pause", "802.3x PAUSE: the whole link stops"),
            ("pfc", "802.1Qbb PFC: each lossless class stops by itself"),
            ("credits", "the sender knows what room there is, as in InfiniBand"),
        ]),
        Default::Value(default, source),
        "How it keeps its senders from overrunning it.",
    )
}

fn flow_control_details() -> Vec<Key> {
    vec![
        key(
            "pause",
            Kind::Table(Box::new(pause())),
            Default::Nested("each part has its own source"),
            "Timing of PAUSE and PFC.",
        )
        .only("flow_control", CONTROLLED),
        key(
            "credits",
            Kind::Table(Box::new(credits())),
            Default::Nested("each part has its own source"),
            "What a credit is and how it comes back.",
        )
        .only("flow_control", &["credits"]),
    ]
}

fn pause() -> Section {
    Section {
        about: "Timing of PAUSE and PFC. Thresholds belong to the buffers.",
        keys: vec![
            key(
                "quanta",
                Kind::Count(1, 65_535),
                Default::Value("65535", "IEEE 802.3 Annex 31B: the largest the field holds"),
                "Duration asked for, in quanta of 512 bit times of the link.",
            ),
            key(
                "refresh_before",
                Kind::Count(0, 65_534),
                Default::Computed(
                    "half of quanta",
                    "our choice: asked for again half way; whether the headroom outlasts a lost frame `check` says",
                ),
                "Ask again when so many quanta of the duration are left.",
            ),
            key(
                "response",
                Kind::Time(crate::key::LONGEST),
                Default::Value(
                    "0s",
                    "our choice: the sender obeys at its next frame boundary; IEEE 802.3 Annex 31B allows more",
                ),
                "From a pause frame's arrival to the sender's obeying it.",
            ),
            key(
                "response_jitter",
                Kind::Time(crate::key::LONGEST),
                Default::Value("0s", "our choice: every pause frame takes as long"),
                "How much longer that may take, drawn uniformly for each pause frame. With a fixed response, frames meet \
                 in the same order after every pause; a frame time of jitter breaks such a lock.",
            ),
            key(
                "holds",
                Kind::Names,
                Default::Value("*", "IEEE 802.3 Annex 31B: PAUSE stops all but MAC control frames"),
                "Classes that a PAUSE of the whole link holds.",
            )
            .only("flow_control", &["pause"]),
        ],
    }
}

fn credits() -> Section {
    Section {
        about: "What a credit counts and how it comes back.",
        keys: vec![
            key(
                "unit",
                Kind::choice(&[
                    ("block", "a block of bytes; a frame takes whole blocks"),
                    ("frame", "a slot for one frame of any size"),
                ]),
                Default::Value("block", "InfiniBand Architecture volume 1, section 7.9: blocks"),
                "What one credit stands for.",
            ),
            key(
                "block",
                Kind::size(1, 65_536),
                Default::Value("64B", "InfiniBand Architecture volume 1, section 7.9: 64 B"),
                "Size of a block.",
            )
            .only("unit", &["block"]),
            key(
                "give_back",
                Kind::choice(&[
                    ("frame", "by a frame in the other direction, which waits for the wire and occupies it"),
                    ("signal", "by a signal beside the data"),
                ]),
                Default::Value("frame", "InfiniBand Architecture volume 1, section 7.9: flow control packets"),
                "How freed room is told to the sender.",
            ),
            key(
                "size",
                Kind::size(1, 65_000),
                Default::Value("6B", "InfiniBand Architecture volume 1, section 7.9: operand, counts and check, 6 B"),
                "Size of the credit frame, overhead not counted.",
            )
            .only("give_back", &["frame"]),
            key(
                "refresh",
                Kind::time(),
                Default::Absent("only when room is freed"),
                "The credit frame is repeated at least this often.",
            )
            .only("give_back", &["frame"]),
            key("delay", Kind::time(), Default::Required, "From the tail's leaving to the sender's knowing.")
                .only("give_back", &["signal"]),
        ],
    }
}

fn service_changes() -> Section {
    Section {
        about: "A new service rate.",
        keys: vec![
            key("at", Kind::time(), Default::Required, "When."),
            key(
                "rate",
                Kind::Rate(units::Rate::ZERO, crate::key::FASTEST),
                Default::Absent("at once from then on"),
                "How fast it consumes from then on; \"0b/s\" stops it.",
            ),
        ],
    }
}

fn vl_arbitration() -> Key {
    let table = || Kind::Tables(Box::new(vl_entry()));
    let keys = vec![
        key("high", table(), Default::Absent("no entries"), "The table that goes first: at most 64 entries, in turn."),
        key(
            "low",
            table(),
            Default::Absent("no entries"),
            "The table that has its chance when the high one may not or has nothing to send.",
        ),
        key(
            "high_limit",
            Kind::Count(0, 255),
            Default::Value("0", "OpenSM: its default of qos_high_limit"),
            "What the high table may send before a frame of the low one goes, in units of 4096 B; 0 is one frame, 255 all it wants.",
        ),
    ];
    let about =
        "Two tables of classes and weights. Every class needs weight in one; it may be in both and several times.";
    key(
        "vl_arbitration",
        Kind::Table(Box::new(Section { about, keys })),
        Default::Absent("as `egress` says"),
        "Virtual-lane arbitration as in InfiniBand, instead of `egress`.",
    )
}

fn vl_entry() -> Section {
    Section {
        about: "A turn of a class. A frame may be sent while any weight is left.",
        keys: vec![
            key("class", Kind::Text, Default::Required, "Whose turn it is, by name."),
            key(
                "weight",
                Kind::Count(0, 255),
                Default::Required,
                "What it may send, in units of 64 B, frame overhead not counted; an entry of weight 0 is skipped.",
            ),
        ],
    }
}

fn egress() -> Section {
    Section {
        about: "Classes that are scheduled together: all lossless, or all lossy.",
        keys: vec![
            key(
                "classes",
                Kind::Names,
                Default::Required,
                "The classes of the group. Every class must be in one group.",
            ),
            key(
                "share",
                Kind::percent_or(&[
                    ("strict", "all it wants, before every weighted group"),
                    ("weighted", "a quantum of bytes a turn"),
                ]),
                Default::Value("weighted", "IEEE 802.1Qaz: enhanced transmission selection shares by weight"),
                "The group's claim on the link. Percentages are of what strict groups leave; all of them together are 100.",
            ),
            key(
                "quantum",
                Kind::size(1, 1 << 24),
                Default::Value("1520B", "our choice: a frame of 1500 B and its overhead a turn"),
                "Bytes on the wire each turn, frame overhead counted.",
            )
            .only("share", &["weighted"]),
            key(
                "within",
                Kind::choice(&[("turns", "frame by frame in turn"), ("priority", "the highest class first")]),
                Default::Value("turns", "our choice: no class of a group starves"),
                "How its classes share what the group gets.",
            ),
        ],
    }
}
