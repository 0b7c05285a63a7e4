//! Keys of `[[classes]]`, `[[switches]]` and `[[adapters]]`.

use super::buffers::{LARGEST_BUFFER, adapter_buffers, port_buffers, switch_buffers};
use crate::key::{Default, Key, Kind, Section, key};
use crate::parameters;

const EVERYTHING: Default = Default::Value("*", "our choice: one type for all");
const CONTROLLED: &[&str] = &["pause", "pfc"];

pub(super) fn classes() -> Section {
    Section {
        about: "An Ethernet priority or an InfiniBand virtual lane.",
        keys: vec![
            key("name", Kind::Text, Default::Value("data", "our choice"), "Name of the class."),
            key(
                "lossless",
                Kind::Flag,
                Default::Value("true", "our choice: this simulator studies lossless networks"),
                "Whether frames of the class must never be dropped because a buffer is full. PFC and credits apply \
                 to lossless classes only.",
            ),
            key(
                "layered",
                Kind::Flag,
                Default::Computed("true if lossless", "our choice: lossy classes cannot deadlock"),
                "Whether the class is split into as many virtual lanes as the routing needs: name.0, name.1, and so \
                 on, with the buffers of the class each. Used by lash and dfsssp only.",
            ),
        ],
    }
}

pub(super) fn switches() -> Section {
    let fifo = &["input-fifo"];
    let crossbar = &["input-fifo", "virtual-output", "combined"];
    let mut keys = vec![
        key("match", Kind::Names, EVERYTHING, "The switches, by name."),
        key(
            "queueing",
            Kind::choice(&[
                ("output", "one queue per output and class; the crossbar is infinitely fast"),
                ("input-fifo", "one FIFO per input and class"),
                ("virtual-output", "one queue per input, output and class"),
                ("combined", "virtual output queues in front of the crossbar, output queues behind it"),
            ]),
            Default::Value("output", "our choice: the behaviour of a shared-memory switch"),
            "Where frames are queued.",
        ),
        key(
            "bypass",
            Kind::Count(0, 255),
            Default::Value("0", "our choice: a strict FIFO"),
            "How far a frame may overtake older frames whose output is busy.",
        )
        .only("queueing", fifo),
        key(
            "bypass_reading",
            Kind::choice(&[
                ("lookahead", "a frame may overtake at most this many older frames of its buffer"),
                ("per-packet", "a frame may be overtaken at most this many times"),
            ]),
            Default::Value("lookahead", "our choice: hardware bounds it by the depth of its search"),
            "What bypass counts.",
        )
        .only("queueing", fifo),
        key(
            "order",
            Kind::choice(&[
                ("arrival", "oldest frame first"),
                ("round-robin", "destinations in turn, the oldest frame of each"),
                ("longest", "the destination with the most queued bytes"),
            ]),
            Default::Value("arrival", "our choice: one FIFO per output and class"),
            "Order in which an output serves the destinations that share it. All but arrival search the queue for \
             every frame.",
        )
        .only("queueing", &["output"]),
        key(
            "output_buffer",
            Kind::size(1, LARGEST_BUFFER),
            Default::Required,
            "Size of the output queue behind the crossbar, per output and class.",
        )
        .only("queueing", &["combined"]),
        key(
            "arbitration",
            Kind::choice(&[
                ("arrival-order", "the frame that has been in the switch longest"),
                ("round-robin", "inputs in turn; a busy input is skipped"),
                ("round-robin-waiting", "inputs in turn; the output waits for a busy input"),
            ]),
            Default::Value("round-robin", "our choice: the simplest rule without starvation"),
            "How an output picks an input.",
        )
        .only("queueing", crossbar),
        key(
            "read_ports",
            Kind::Count(0, 255),
            Default::Value("1", "our choice: a plain crossbar"),
            "How many outputs an input can feed at the same time; 0 means all of them.",
        )
        .only("queueing", crossbar),
        key(
            "speedup",
            Kind::Ratio,
            Default::Value("1", "our choice: a crossbar at link rate"),
            "Rate of the crossbar, as a multiple of the output's rate.",
        )
        .only("queueing", &["combined"]),
        key(
            "forwarding",
            Kind::choice(&[
                ("store-and-forward", "once the whole frame has arrived"),
                ("cut-through", "once the header has arrived"),
            ]),
            Default::Value("store-and-forward", "our choice: a bridge that checks a frame before relaying it"),
            "When a switch may start to forward a frame.",
        ),
        key(
            "header_delay",
            Kind::time(),
            Default::Required,
            "Delay from the arrival of a frame's first byte to the \
             earliest start of its transmission.",
        )
        .only("forwarding", &["cut-through"]),
        key(
            "pipeline",
            Kind::time(),
            Default::Value("0s", "our choice: no processing delay"),
            "Processing delay between the arrival of a frame and its queue. The frame occupies the input buffer \
             meanwhile.",
        ),
    ];
    keys.push(flow_control("pfc", "our choice: the flow control of lossless Ethernet, IEEE 802.1Qbb"));
    keys.extend(flow_control_details());
    keys.extend([
        key(
            "buffer",
            Kind::choice(&[
                ("static", "a fixed size per port and class"),
                ("shared", "one memory for all ports; a queue may use alpha times the free memory"),
            ]),
            Default::Value("static", "our choice: a formula decides whether it is lossless"),
            "How ports share the buffer memory.",
        ),
        key(
            "shared_size",
            Kind::size(1, LARGEST_BUFFER),
            Default::Required,
            "Size of the shared pool. Guaranteed sizes and headroom are added to it.",
        )
        .only("buffer", &["shared"]),
        key(
            "alpha",
            Kind::Ratio,
            Default::Value(
                "1/16",
                "Guo et al., SIGCOMM 2016 (RDMA over commodity Ethernet at \
             scale): 1/16, after an incident with 1/64",
            ),
            "Dynamic threshold: one queue may use this fraction of the free memory.",
        )
        .only("buffer", &["shared"]),
        key(
            "buffers",
            Kind::Tables(Box::new(switch_buffers())),
            Default::Required,
            "Buffer sizes and thresholds. If several entries name a class, the last one applies.",
        ),
        key(
            "egress",
            Kind::Tables(Box::new(egress())),
            Default::Absent("strict priority: highest class first"),
            "Scheduling groups of classes (ETS). Strict groups are served first, the one with the highest class before \
             the others; weighted groups share the rest.",
        ),
        vl_arbitration(),
        pfc_watchdog("no watchdog: pauses last as long as the receiver sends them"),
        key(
            "ports",
            Kind::Tables(Box::new(ports())),
            Default::Absent("all ports of a switch are alike"),
            "Ports that differ from their switch. If several entries match a port, the last one applies.",
        ),
        key(
            "congestion_point",
            Kind::Table(Box::new(congestion_point())),
            Default::Absent("as in [congestion_point]"),
            "Congestion point of these switches: it detects congestion and notifies the sources. \"none\" disables \
             the one of [congestion_point].",
        ),
        key(
            "congestion_points",
            Kind::Tables(Box::new(congestion_point())),
            Default::Absent("congestion_point alone"),
            "Several congestion points of these switches, each for its own classes, instead of congestion_point. An \
             empty list: none.",
        ),
        key(
            "trim_class",
            Kind::Text,
            Default::Computed(
                "the last class; with reliable_delivery the last lossless class",
                "our choice: the highest priority, unless `egress` orders classes otherwise",
            ),
            "Class in which the headers of trimmed frames continue, by name. The buffer of this class limits their \
             queue; headers that do not fit are dropped.",
        ),
        key(
            "trim_size",
            Kind::size(1, 65_000),
            Default::Value("64B", "Handley et al., SIGCOMM 2017 (NDP): headers of 64 B"),
            "Size of a trimmed frame, without frame overhead. Shorter frames keep their size.",
        ),
        key(
            "notice_class",
            Kind::Text,
            Default::Computed(
                "the last class",
                "our choice: the highest priority, unless `egress` orders classes \
                 otherwise",
            ),
            "Class of congestion notices and delivery receipts, by name. The switch that creates them sends them \
             before all data.",
        ),
        key(
            "notice_size",
            Kind::size(1, 65_000),
            Default::Value("64B", "IEEE 802.3 clause 4.4.2: the minimum frame"),
            "Size of a congestion notice or delivery receipt, without frame overhead.",
        ),
        key(
            "occupancy",
            Kind::Flag,
            Default::Value(
                "false",
                "our choice: it costs memory and time; congestion points that sample by \
                 occupancy have it anyway",
            ),
            "Whether to track how much of each input buffer each flow occupies (table occupancy).",
        ),
        key(
            "buffer_unit",
            Kind::size(1, 65_000),
            Default::Value("64B", "our choice: the minimum frame"),
            "Unit of buffer memory. A congestion point that samples by occupancy picks a random unit, and so the \
             frame in it.",
        ),
        key(
            "sample_dropped",
            Kind::Flag,
            Default::Value("true", "our choice: congestion points react to arrivals"),
            "Whether a congestion point at outputs also samples frames that are dropped there.",
        ),
        key(
            "reliable_delivery",
            Kind::Flag,
            Default::Value("false", "our choice: links inside a fabric lose nothing"),
            "Reliable delivery across the fabric: the first switch keeps a frame from a host in its buffer until a \
             receipt confirms that the last switch has it.",
        ),
    ]);
    Section { about: "A type of switch.", keys }
}

pub(super) fn congestion_point() -> Section {
    let names = congestion::POINTS.iter().map(|point| (point.name.to_owned(), point.summary.to_owned()));
    let tables: Vec<_> = congestion::POINTS.iter().map(|info| (info.name, info.parameters, info.presets)).collect();
    let mut keys = vec![key("name", Kind::Choice(names.collect()), Default::Required, "The kind of congestion point.")];
    keys.push(key(
        "classes",
        Kind::Names,
        Default::Computed(
            "all classes; for a point that drops or trims frames, the lossy ones other than trim_class",
            "our choice: nothing is dropped in a lossless class",
        ),
        "The classes that the point observes, by name.",
    ));
    keys.extend(parameters::keys(&tables));
    Section { about: "The congestion point of a switch and its parameters.", keys }
}

pub(super) fn adapters() -> Section {
    let mut keys = vec![key("match", Kind::Names, EVERYTHING, "The hosts, by name.")];
    keys.push(flow_control("none", "our choice: an adapter that consumes on arrival needs no flow control"));
    keys.extend(flow_control_details());
    keys.extend([
        key(
            "service",
            Kind::rate(),
            Default::Absent("frames are consumed on arrival"),
            "Rate at which the host consumes frames, including frame overhead, like the rate of a link.",
        ),
        key(
            "service_changes",
            Kind::Tables(Box::new(service_changes())),
            Default::Absent("the rate never changes"),
            "Changes of the service rate over time.",
        ),
        key(
            "buffers",
            Kind::Tables(Box::new(adapter_buffers())),
            Default::Absent("not needed if frames are consumed on arrival"),
            "Receive buffers for frames not yet consumed. If several entries name a class, the last one applies.",
        ),
        key(
            "egress",
            Kind::Tables(Box::new(egress())),
            Default::Absent("strict priority: highest class first"),
            "Scheduling groups of classes for transmission (ETS).",
        ),
        vl_arbitration(),
    ]);
    Section { about: "A type of adapter: the interface of a host.", keys }
}

fn flow_control(default: &'static str, source: &'static str) -> Key {
    key(
        "flow_control",
        Kind::choice(&[
            ("none", "frames that do not fit are dropped"),
            ("pause", "IEEE 802.3x PAUSE: stops the whole link"),
            ("pfc", "IEEE 802.1Qbb PFC: stops each lossless class separately"),
            ("credits", "credits, as in InfiniBand: the receiver grants its free buffer space to the sender"),
        ]),
        Default::Value(default, source),
        "How the device keeps its neighbours from overrunning its input buffers.",
    )
}

fn flow_control_details() -> Vec<Key> {
    vec![
        key(
            "pause",
            Kind::Table(Box::new(pause())),
            Default::Nested("the defaults of its keys"),
            "Timing of PAUSE and PFC.",
        )
        .only("flow_control", CONTROLLED),
        key(
            "credits",
            Kind::Table(Box::new(credits())),
            Default::Nested("the defaults of its keys"),
            "What a credit is worth and how it returns to the sender.",
        )
        .only("flow_control", &["credits"]),
    ]
}

fn pause() -> Section {
    Section {
        about: "Timing of PAUSE and PFC. The thresholds XOFF and XON are keys of the buffers.",
        keys: vec![
            key(
                "quanta",
                Kind::Count(1, 65_535),
                Default::Value("65535", "IEEE 802.3 Annex 31B: the largest value of the field"),
                "Pause duration that a pause frame requests, in quanta of 512 bit times.",
            ),
            key(
                "refresh_before",
                Kind::Count(0, 65_534),
                Default::Computed(
                    "half of quanta",
                    "our choice: a refresh at half time; `tailback check` reports whether the headroom survives the \
                     loss of one pause frame",
                ),
                "Repeat the pause frame when this many quanta of the pause remain.",
            ),
            key(
                "response",
                Kind::Time(crate::key::LONGEST),
                Default::Value(
                    "0s",
                    "our choice: the sender stops at the next frame boundary; IEEE 802.3 Annex 31B allows more",
                ),
                "Delay from the arrival of a pause frame until the sender stops.",
            ),
            key(
                "response_jitter",
                Kind::Time(crate::key::LONGEST),
                Default::Value("0s", "our choice: no jitter"),
                "Additional response delay, drawn uniformly for each pause frame. Without jitter, frames can meet in \
                 the same order after every pause; a frame time of jitter breaks such a lock.",
            ),
            key(
                "holds",
                Kind::Names,
                Default::Value("*", "IEEE 802.3 Annex 31B: PAUSE stops all but MAC control frames"),
                "Classes that PAUSE stops.",
            )
            .only("flow_control", &["pause"]),
        ],
    }
}

fn ports() -> Section {
    Section {
        about: "Settings of some ports of a switch, by the nodes at the other end of their links.",
        keys: vec![
            key("neighbours", Kind::Names, Default::Required, "The nodes at the other end."),
            key(
                "without_pfc",
                Kind::Names,
                Default::Absent("PFC is on for all lossless classes"),
                "Lossless classes whose PFC is off at these ports: they neither send nor obey pauses of them.",
            )
            .only("flow_control", &["pfc"]),
            key(
                "buffers",
                Kind::Tables(Box::new(port_buffers())),
                Default::Absent("those of the switch"),
                "Buffer sizes and thresholds. Classes without an entry have those of the switch.",
            )
            .only("flow_control", CONTROLLED),
            key(
                "egress",
                Kind::Tables(Box::new(egress())),
                Default::Absent("that of the switch"),
                "Scheduling groups of classes (ETS).",
            ),
            pfc_watchdog("that of the switch, if it has one"),
        ],
    }
}

fn pfc_watchdog(absent: &'static str) -> Key {
    let keys = vec![
        key(
            "detection_time",
            Kind::time(),
            Default::Required,
            "Time for which a queue must be paused, with frames waiting, until it is in a storm. Switches have 100 ms to 5 s.",
        ),
        key(
            "restoration_time",
            Kind::time(),
            Default::Computed("twice detection_time", "SONiC: `pfcwd start` without --restoration-time"),
            "Time without a pause of the class after which the queue is restored.",
        ),
        key(
            "action",
            Kind::choice(&[
                ("drop", "frames that wait in the queue, and those that arrive for it, are dropped"),
                ("forward", "pauses are ignored and frames are sent"),
            ]),
            Default::Value("drop", "SONiC: the default action of PFC_WD"),
            "What happens to the frames of a queue in a storm.",
        ),
        key(
            "poll_interval",
            Kind::time(),
            Default::Value("0s", "our choice: a storm is detected at once; SONiC polls every 100 ms or more"),
            "Polling interval of the watchdog.",
        ),
        key("classes", Kind::Names, Default::Value("*", "our choice: all classes with PFC"), "The classes, by name."),
    ];
    let about = "The PFC watchdog of ports: it ends storms of pauses, and deadlocks with them. It acts on lossless classes with \
                 PFC only.";
    key(
        "pfc_watchdog",
        Kind::Table(Box::new(Section { about, keys })),
        Default::Absent(absent),
        "PFC watchdog: drops or forwards the frames of a queue that has been paused for too long. Output queueing only.",
    )
    .only("flow_control", &["pfc"])
}

fn credits() -> Section {
    Section {
        about: "What a credit is worth and how it returns to the sender.",
        keys: vec![
            key(
                "unit",
                Kind::choice(&[
                    ("block", "a block of bytes; a frame uses whole blocks"),
                    ("frame", "a slot for one frame of any size"),
                ]),
                Default::Value("block", "InfiniBand Architecture volume 1, section 7.9: blocks"),
                "What one credit is worth.",
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
                    (
                        "frame",
                        "a flow control packet in the reverse direction, which waits for the wire and occupies \
                         it",
                    ),
                    ("signal", "an out-of-band signal"),
                ]),
                Default::Value("frame", "InfiniBand Architecture volume 1, section 7.9: flow control packets"),
                "How credits return to the sender.",
            ),
            key(
                "size",
                Kind::size(1, 65_000),
                Default::Value("6B", "InfiniBand Architecture volume 1, section 7.9: operand, counts and check, 6 B"),
                "Size of a flow control packet, without frame overhead.",
            )
            .only("give_back", &["frame"]),
            key(
                "refresh",
                Kind::time(),
                Default::Absent("sent only when buffer space is freed"),
                "Longest time between two flow control packets.",
            )
            .only("give_back", &["frame"]),
            key(
                "delay",
                Kind::time(),
                Default::Required,
                "Delay from the departure of a frame's last byte until the \
                 sender has the credit.",
            )
            .only("give_back", &["signal"]),
        ],
    }
}

fn service_changes() -> Section {
    Section {
        about: "A change of the service rate.",
        keys: vec![
            key("at", Kind::time(), Default::Required, "Time of the change."),
            key(
                "rate",
                Kind::Rate(units::Rate::ZERO, crate::key::FASTEST),
                Default::Absent("frames are consumed on arrival again"),
                "The new service rate; \"0b/s\" stops consumption.",
            ),
        ],
    }
}

fn vl_arbitration() -> Key {
    let table = || Kind::Tables(Box::new(vl_entry()));
    let keys = vec![
        key(
            "high",
            table(),
            Default::Absent("no entries"),
            "High-priority table: at most 64 entries, served in \
             turn.",
        ),
        key(
            "low",
            table(),
            Default::Absent("no entries"),
            "Low-priority table: served when the high table has reached its limit or has nothing to send.",
        ),
        key(
            "high_limit",
            Kind::Count(0, 255),
            Default::Value("0", "OpenSM: its default of qos_high_limit"),
            "Data that the high table may send before one frame of the low table, in units of 4096 B; 0 means one \
             frame, 255 means no limit.",
        ),
    ];
    let about = "Two tables of classes and weights. Every class needs a positive weight in at least one of them; it may have \
         several entries.";
    key(
        "vl_arbitration",
        Kind::Table(Box::new(Section { about, keys })),
        Default::Absent("`egress` applies"),
        "InfiniBand virtual-lane arbitration, instead of `egress`.",
    )
}

fn vl_entry() -> Section {
    Section {
        about: "An entry of an arbitration table. A frame may be sent as long as some weight is left.",
        keys: vec![
            key("class", Kind::Text, Default::Required, "The class, by name."),
            key(
                "weight",
                Kind::Count(0, 255),
                Default::Required,
                "Data that the class may send in its turn, in units of 64 B without frame overhead. An entry of \
                 weight 0 is skipped.",
            ),
        ],
    }
}

fn egress() -> Section {
    Section {
        about: "A scheduling group of classes, all lossless or all lossy.",
        keys: vec![
            key(
                "classes",
                Kind::Names,
                Default::Required,
                "The classes of the group. Every class must be in exactly one group.",
            ),
            key(
                "share",
                Kind::percent_or(&[
                    ("strict", "served before all weighted groups"),
                    ("weighted", "deficit round robin with a quantum"),
                ]),
                Default::Value("weighted", "IEEE 802.1Qaz: enhanced transmission selection shares by weight"),
                "Share of the link. Percentages are shares of the bandwidth that strict groups leave, and add up to \
                 100.",
            ),
            key(
                "quantum",
                Kind::size(1, 1 << 24),
                Default::Value("1520B", "our choice: one frame of 1500 B with its overhead"),
                "Bytes per turn, including frame overhead.",
            )
            .only("share", &["weighted"]),
            key(
                "within",
                Kind::choice(&[("turns", "round robin, frame by frame"), ("priority", "highest class first")]),
                Default::Value("turns", "our choice: no starvation within a group"),
                "How the classes of the group share its bandwidth.",
            ),
        ],
    }
}
