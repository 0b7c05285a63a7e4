//! Keys of `[protocol]` and `[[workloads]]`.

use crate::key::{Default, Key, Kind, Section, key};
use crate::parameters;

/// The largest frame the fabric takes.
const LARGEST_FRAME: u64 = 65_000;
/// The largest flow: 1 PB.
const LARGEST_FLOW: u64 = 1_000_000_000_000_000;

const ALL_HOSTS: Default = Default::Value("*", "our choice: all hosts");
const PACED: &[&str] = &["paced", "on-off", "incast", "permutation", "all-to-all", "uniform-random"];
const BURSTY: &[&str] = &["on-off", "incast", "permutation", "all-to-all", "uniform-random"];
const SIZED: &[&str] = &["greedy", "paced", "on-off", "incast", "permutation", "all-to-all", "uniform-random", "flows"];

pub(super) fn protocol() -> Section {
    let names = congestion::PROTOCOLS.iter().map(|protocol| (protocol.name.to_owned(), protocol.summary.to_owned()));
    let tables: Vec<_> = congestion::PROTOCOLS.iter().map(|info| (info.name, info.parameters, info.presets)).collect();
    let mut keys = vec![key(
        "name",
        Kind::Choice(names.collect()),
        Default::Value("none", "our choice: the baseline of every comparison"),
        "Which one.",
    )];
    keys.extend(parameters::keys(&tables));
    Section { about: "A congestion control and its parameters.", keys }
}

pub(super) fn workloads() -> Section {
    let mut keys = vec![
        key(
            "name",
            Kind::Text,
            Default::Computed("the kind, with a number if it is not the only one", "our choice: readable flow names"),
            "How flows and expectations call it.",
        ),
        key(
            "kind",
            Kind::choice(&[
                ("greedy", "there is always a frame to send"),
                ("paced", "frames at a mean rate, whether the network takes them or not"),
                ("on-off", "bursts and silences in turn, greedy or paced while on"),
                ("incast", "many to one, starting almost together"),
                ("permutation", "every host sends to one other and receives from one other, drawn at random"),
                ("all-to-all", "every host sends to every other"),
                ("uniform-random", "every frame goes to another host drawn at random"),
                ("poisson-flows", "finite flows between random hosts, arriving as a Poisson process"),
                ("flows", "a list of flows"),
            ]),
            Default::Required,
            "What kind of traffic.",
        ),
        key("from", Kind::Names, Default::Required, "The sending hosts.")
            .only("kind", &["greedy", "paced", "on-off", "incast"]),
        key("from", Kind::Names, ALL_HOSTS, "The sending hosts.").only("kind", &["uniform-random", "poisson-flows"]),
        key("to", Kind::Names, Default::Required, "The receiving hosts.")
            .only("kind", &["greedy", "paced", "on-off", "incast"]),
        key("to", Kind::Names, ALL_HOSTS, "The hosts to choose a receiver from.")
            .only("kind", &["uniform-random", "poisson-flows"]),
        key(
            "pairing",
            Kind::choice(&[
                ("every", "a flow from every sender to every receiver"),
                ("in-order", "the first sender to the first receiver, the second to the second"),
            ]),
            Default::Value("every", "our choice: one sender or one receiver is the usual case"),
            "Which sender sends to which receiver.",
        )
        .only("kind", &["greedy", "paced", "on-off"]),
        key("hosts", Kind::Names, ALL_HOSTS, "The hosts that take part.").only("kind", &["permutation", "all-to-all"]),
    ];
    keys.extend(flow_keys());
    keys.push(
        key("size", Kind::size(1, LARGEST_FLOW), Default::Absent("without end"), "How much a flow sends.")
            .only("kind", SIZED),
    );
    keys.push(
        key(
            "start_jitter",
            Kind::time(),
            Default::Value("0s", "our choice: all start at once, the worst case"),
            "Flows start within this time after start, drawn uniformly.",
        )
        .only("kind", &["greedy", "paced", "on-off", "incast", "permutation", "all-to-all"]),
    );
    keys.push(
        key(
            "stagger",
            Kind::time(),
            Default::Value("0s", "our choice: all start together"),
            "Each flow starts so much later than the one before, in the order in which the hosts are named.",
        )
        .only("kind", &["greedy", "paced", "on-off", "permutation", "all-to-all"]),
    );
    keys.extend(poisson_keys());
    let on_kinds = |key: Key, kinds: &[&str]| key.only("kind", kinds);
    keys.push(on_kinds(key("rate", Kind::rate(), Default::Required, "Mean rate, frame overhead counted."), &["paced"]));
    keys.push(on_kinds(
        key("rate", Kind::rate(), Default::Absent("greedy"), "Mean rate while on, frame overhead counted."),
        &PACED[1..],
    ));
    keys.extend(paced_keys().into_iter().map(|key| on_kinds(key, PACED)));
    keys.push(on_kinds(
        key(
            "rate_spread",
            Kind::Number(0.0, 0.5),
            Default::Value("0.0", "our choice: all clocks agree"),
            "Fraction by which the rate of each flow may be more or less, drawn once for each: 0.0001 is what clocks of \
             100 ppm do. With equal clocks, who finds room in a full queue may be the same for ever.",
        ),
        PACED,
    ));
    keys.push(on_kinds(key("on", Kind::time(), Default::Required, "Mean length of a burst."), &["on-off"]));
    keys.push(on_kinds(key("off", Kind::time(), Default::Required, "Mean length of a silence."), &["on-off"]));
    keys.push(on_kinds(
        key("on", Kind::time(), Default::Absent("all the time"), "Mean length of a burst."),
        &BURSTY[1..],
    ));
    keys.push(on_kinds(key("off", Kind::time(), Default::Absent("never"), "Mean length of a silence."), &BURSTY[1..]));
    keys.extend(burst_keys().into_iter().map(|key| on_kinds(key, BURSTY)));
    keys.push(on_kinds(key("flows", Kind::Tables(Box::new(flows())), Default::Required, "The flows."), &["flows"]));
    Section {
        about: "Traffic of one kind. Every flow is known before the run; the same seed gives the same flows.",
        keys,
    }
}

/// What every flow has.
fn flow_keys() -> Vec<Key> {
    vec![
        key(
            "class",
            Kind::Text,
            Default::Computed("the first class", "our choice: most scenarios have one"),
            "Priority or virtual lane, by name.",
        ),
        key("start", Kind::time(), Default::Value("0s", "our choice: the start of the run"), "When it may begin."),
        key(
            "stop",
            Kind::time(),
            Default::Absent("the end of the run"),
            "When it ends at the latest; what waits at the adapter then is thrown away.",
        ),
        key(
            "frame",
            Kind::size(1, LARGEST_FRAME),
            Default::Value("1500B", "our choice: as much as IEEE 802.3 clause 3.2.7 lets a basic frame carry"),
            "Size of its frames, overhead not counted; the last one may be shorter.",
        ),
        key(
            "acknowledge",
            Kind::Table(Box::new(acknowledge())),
            Default::Absent("the receiver says nothing"),
            "That the receiver acknowledges.",
        ),
        key(
            "probe",
            Kind::Table(Box::new(probe())),
            Default::Absent(
                "64 bytes, to the destination behind the data or, if they are urgent, in the last class, and back in that",
            ),
            "How probes travel, where the congestion control sends any.",
        ),
        key(
            "requeue",
            Kind::time(),
            Default::Absent("what is dropped is lost"),
            "A frame dropped for want of room is queued again at its source after this time.",
        ),
        key(
            "tree",
            Kind::Count(0, 63),
            Default::Absent("one by a hash of the flow"),
            "Which tree its frames go by, from 0, where routing has several: the VLAN its source puts it in.",
        ),
        key(
            "protocol",
            Kind::Table(Box::new(protocol())),
            Default::Absent("as [protocol] says"),
            "A congestion control of its own.",
        ),
    ]
}

fn probe() -> Section {
    Section {
        about: "How probes travel.",
        keys: vec![
            key(
                "size",
                Kind::size(1, LARGEST_FRAME),
                Default::Value("64B", "IEEE 802.3 clause 4.4.2: the smallest frame"),
                "Size of a probe and of its answer, overhead not counted.",
            ),
            key(
                "class",
                Kind::Text,
                Default::Computed(
                    "the class of the flow; the last class, if they are urgent",
                    "our choice: behind the data, whose queues it is about, or as the congestion control has it",
                ),
                "Class on the way to the destination, by name.",
            ),
            key(
                "answer_class",
                Kind::Text,
                Default::Computed("the last class", "our choice: the most urgent one, unless `egress` says otherwise"),
                "Class on the way back, by name.",
            ),
        ],
    }
}

fn acknowledge() -> Section {
    Section {
        about: "How the receiver acknowledges.",
        keys: vec![
            key(
                "size",
                Kind::size(1, LARGEST_FRAME),
                Default::Value("64B", "IEEE 802.3 clause 4.4.2: the smallest frame"),
                "Size of the acknowledging frame, overhead not counted.",
            ),
            key(
                "class",
                Kind::Text,
                Default::Computed("the class of the flow", "our choice: as the data"),
                "Its class, by name.",
            ),
            key(
                "every",
                Kind::Count(1, 1 << 31),
                Default::Value("1", "our choice: every frame is acknowledged"),
                "One for every so many data frames; the last frame of a flow always.",
            ),
        ],
    }
}

fn poisson_keys() -> Vec<Key> {
    let keys = vec![
        key("mean_gap", Kind::time(), Default::Absent("load says it"), "Mean time between two arrivals, over all senders."),
        key("load", Kind::Number(0.0, 10.0), Default::Absent("mean_gap says it"),
            "Offered load as a fraction of the senders' links, overhead counted."),
        key("sizes", Kind::choice(&[
            ("fixed", "all alike"),
            ("pareto", "Pareto with a shape and a mean"),
            ("empirical", "drawn from a table of a measured distribution"),
        ]), Default::Value("fixed", "our choice: the simplest"), "How large the flows are."),
        key("flow_size", Kind::size(1, LARGEST_FLOW), Default::Required, "Size of a flow; with pareto the mean.").only("sizes", &["fixed", "pareto"]),
        key("shape", Kind::Number(1.000_001, 1000.0), Default::Required, "Exponent of the tail, above 1.").only("sizes", &["pareto"]),
        key("cdf", Kind::File, Default::Required,
            "A file, relative to this one, of lines `bytes probability`: points of the cumulative distribution, # begins a comment.")
            .only("sizes", &["empirical"]),
    ];
    keys.into_iter().map(|key| key.only("kind", &["poisson-flows"])).collect()
}

fn paced_keys() -> Vec<Key> {
    vec![
        key(
            "gaps",
            Kind::choice(&[
                ("constant", "always the same"),
                ("jittered", "uniform around the mean"),
                ("exponential", "Poisson arrivals"),
            ]),
            Default::Value("constant", "our choice: the plainest; choose exponential for Poisson arrivals"),
            "What lies between two frames of a source with a rate.",
        ),
        key(
            "jitter",
            Kind::Number(0.0, 1.0),
            Default::Required,
            "Fraction of the mean gap by which a gap may be shorter or longer.",
        )
        .only("gaps", &["jittered"]),
        key(
            "backlog",
            Kind::Count(0, 1 << 31),
            Default::Absent("without end"),
            "Frames that may wait at the adapter, for a source with a rate. Beyond 64 they are counted and \
             made when their turn comes, so that a backlog without end takes no memory.",
        ),
        key(
            "overflow",
            Kind::choice(&[
                ("discard", "the frame is not sent; counted as discarded at the source"),
                ("stall", "the source waits until there is room"),
            ]),
            Default::Value("discard", "our choice: an open loop stays open"),
            "What happens when the backlog is full.",
        ),
    ]
}

fn burst_keys() -> Vec<Key> {
    vec![
        key(
            "lengths",
            Kind::choice(&[("exact", "always the same"), ("exponential", "drawn anew each time")]),
            Default::Value("exact", "our choice: periodic bursts can be told apart in a plot"),
            "How long bursts and silences are.",
        ),
        key(
            "discard_when_off",
            Kind::Flag,
            Default::Value("false", "our choice: what was made is sent"),
            "Whether what waits at the adapter is thrown away when the source turns off.",
        ),
    ]
}

fn flows() -> Section {
    let mut keys = vec![
        key("name", Kind::Text, Default::Absent("made of the workload and the two hosts"), "How results call it."),
        key("from", Kind::Text, Default::Required, "The sending host."),
        key("to", Kind::Text, Default::Required, "The receiving host."),
        key("size", Kind::size(1, LARGEST_FLOW), Default::Absent("as the workload says"), "How much it sends."),
        key("start", Kind::time(), Default::Absent("as the workload says"), "When it may begin."),
        key("stop", Kind::time(), Default::Absent("as the workload says"), "When it ends at the latest."),
        key("frame", Kind::size(1, LARGEST_FRAME), Default::Absent("as the workload says"), "Size of its frames."),
        key("class", Kind::Text, Default::Absent("as the workload says"), "Priority or virtual lane, by name."),
        key("rate", Kind::rate(), Default::Absent("greedy"), "Mean rate, frame overhead counted."),
    ];
    keys.extend(paced_keys());
    Section { about: "One flow.", keys }
}
