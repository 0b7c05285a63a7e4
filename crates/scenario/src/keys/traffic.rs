//! Keys of `[protocol]` and `[[workloads]]`.

use super::{collective, requests};
use crate::key::{Default, Key, Kind, Section, key};
use crate::parameters;
use fabric::transport::{PATH_SELECTIONS, RECOVERIES};
use fabric::workload::MEASURED_SIZES;

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
        Default::Value("none", "our choice: no congestion control"),
        "The congestion control.",
    )];
    keys.extend(parameters::keys(&tables));
    Section { about: "A congestion control and its parameters.", keys }
}

pub(super) fn recovery() -> Section {
    let names = RECOVERIES.iter().map(|recovery| (recovery.name.to_owned(), recovery.summary.to_owned()));
    let tables: Vec<_> = RECOVERIES.iter().map(|info| (info.name, info.parameters, info.presets)).collect();
    let mut keys = vec![key(
        "name",
        Kind::Choice(names.collect()),
        Default::Value("none", "our choice: lossless classes lose nothing"),
        "The recovery.",
    )];
    keys.extend(parameters::keys(&tables));
    Section { about: "How lost frames are detected and retransmitted, with its parameters.", keys }
}

pub(super) fn path_selection() -> Section {
    let names = PATH_SELECTIONS.iter().map(|info| (info.name.to_owned(), info.summary.to_owned()));
    let tables: Vec<_> = PATH_SELECTIONS.iter().map(|info| (info.name, info.parameters, info.presets)).collect();
    let mut keys = vec![key(
        "name",
        Kind::Choice(names.collect()),
        Default::Value("hash", "our choice: as switches do it without help of the sources"),
        "The path selection.",
    )];
    keys.extend(parameters::keys(&tables));
    Section { about: "How a source chooses among equal paths, by the entropy of its frames.", keys }
}

pub(super) fn workloads() -> Section {
    let mut keys = vec![
        key(
            "name",
            Kind::Text,
            Default::Computed("the kind, numbered if there are several of a kind", "our choice: readable flow names"),
            "Name of the workload, used in flow names and expectations.",
        ),
        key(
            "kind",
            Kind::choice(&[
                ("greedy", "the sender always has a frame to send"),
                ("paced", "frames at a mean rate, whether or not the network accepts them"),
                ("on-off", "bursts and silences in turn; greedy or paced during a burst"),
                ("incast", "many senders to one receiver, at almost the same time"),
                ("permutation", "every host sends to one other and receives from one other, matched at random"),
                ("all-to-all", "every host sends to every other host"),
                ("uniform-random", "every frame goes to a random host"),
                ("poisson-flows", "finite flows between random hosts, with Poisson arrivals"),
                ("request-response", "clients send requests to servers and wait for the responses: closed loops"),
                ("flows", "an explicit list of flows"),
                ("collective", "a collective operation of a group of hosts: its flows wait for each other"),
            ]),
            Default::Required,
            "Traffic pattern.",
        ),
        key("from", Kind::Names, Default::Required, "The sending hosts.")
            .only("kind", &["greedy", "paced", "on-off", "incast", "request-response"]),
        key("from", Kind::Names, ALL_HOSTS, "The sending hosts.").only("kind", &["uniform-random", "poisson-flows"]),
        key("to", Kind::Names, Default::Required, "The receiving hosts.")
            .only("kind", &["greedy", "paced", "on-off", "incast", "request-response"]),
        key("to", Kind::Names, ALL_HOSTS, "The hosts from which receivers are drawn.")
            .only("kind", &["uniform-random", "poisson-flows"]),
        key(
            "pairing",
            Kind::choice(&[
                ("every", "a flow from every sender to every receiver"),
                ("in-order", "first sender to first receiver, second to second, and so on"),
            ]),
            Default::Value("every", "our choice: one sender or one receiver is the usual case"),
            "Which sender sends to which receiver.",
        )
        .only("kind", &["greedy", "paced", "on-off"]),
        key("hosts", Kind::Names, ALL_HOSTS, "The participating hosts.")
            .only("kind", &["permutation", "all-to-all", "collective"]),
    ];
    keys.extend(flow_keys());
    keys.push(
        key("size", Kind::size(1, LARGEST_FLOW), Default::Absent("unlimited"), "Bytes that a flow sends.")
            .only("kind", SIZED),
    );
    keys.push(
        key(
            "start_jitter",
            Kind::time(),
            Default::Value("0s", "our choice: simultaneous starts, the worst case"),
            "Each flow starts at a random time within this span after start, drawn uniformly.",
        )
        .only("kind", &["greedy", "paced", "on-off", "incast", "permutation", "all-to-all"]),
    );
    keys.push(
        key(
            "stagger",
            Kind::time(),
            Default::Value("0s", "our choice: all flows start together"),
            "Delay between the starts of consecutive flows, in the order of the hosts.",
        )
        .only("kind", &["greedy", "paced", "on-off", "permutation", "all-to-all"]),
    );
    keys.extend(poisson_keys());
    keys.extend(requests::keys());
    keys.extend(size_keys());
    keys.extend(collective::keys());
    let on_kinds = |key: Key, kinds: &[&str]| key.only("kind", kinds);
    keys.push(on_kinds(
        key("rate", Kind::rate(), Default::Required, "Mean rate, including frame overhead."),
        &["paced"],
    ));
    keys.push(on_kinds(
        key("rate", Kind::rate(), Default::Absent("greedy"), "Mean rate during a burst, including frame overhead."),
        &PACED[1..],
    ));
    keys.extend(paced_keys().into_iter().map(|key| on_kinds(key, PACED)));
    keys.push(on_kinds(
        key(
            "rate_spread",
            Kind::Number(0.0, 0.5),
            Default::Value("0.0", "our choice: identical clocks"),
            "Random deviation of each flow's rate, as a fraction: 0.0001 models clocks of 100 ppm. With identical \
             clocks, the same flow can win every race for the last buffer space.",
        ),
        PACED,
    ));
    keys.push(on_kinds(key("on", Kind::time(), Default::Required, "Mean length of a burst."), &["on-off"]));
    keys.push(on_kinds(key("off", Kind::time(), Default::Required, "Mean length of a silence."), &["on-off"]));
    keys.push(on_kinds(
        key("on", Kind::time(), Default::Absent("no bursts, the source is always on"), "Mean length of a burst."),
        &BURSTY[1..],
    ));
    keys.push(on_kinds(key("off", Kind::time(), Default::Absent("never"), "Mean length of a silence."), &BURSTY[1..]));
    keys.extend(burst_keys().into_iter().map(|key| on_kinds(key, BURSTY)));
    keys.push(on_kinds(
        key("flows", Kind::Tables(Box::new(flows())), Default::Absent("file lists the flows"), "The flows."),
        &["flows"],
    ));
    keys.push(on_kinds(
        key(
            "file",
            Kind::File,
            Default::Absent("flows lists the flows"),
            "CSV or Parquet file with one flow per row, relative to this file. Columns are named by the first row of a \
             CSV file, in any order: \
             `source`, `destination` and `bytes` are required; `class`, `start` (a time with its unit) and `name` are \
             optional, and an empty cell is as in the workload. `after` (optional) holds the names or row numbers, from \
             1, of the flows that the flow waits for, separated by `;`, and `delay` the time after them: one, or one for \
             each of them.",
        ),
        &["flows"],
    ));
    keys.push(on_kinds(
        key(
            "awaited_until",
            Kind::choice(&[
                ("acknowledged", "its last acknowledgement is back; without acknowledgements, as \"sent\""),
                ("sent", "its last frame has left the host: its buffer is free, as at the end of a send in MPI"),
            ]),
            Default::Value("acknowledged", "our choice: its destination has it"),
            "When a flow in `after` that starts at the same host is complete.",
        ),
        &["flows"],
    ));
    Section {
        about: "Traffic of one kind. All flows are generated before the run; the same seed gives the same flows.",
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
        key(
            "start",
            Kind::time(),
            Default::Value("0s", "our choice: the start of the run"),
            "When the flow may start.",
        ),
        key(
            "stop",
            Kind::time(),
            Default::Absent("the end of the run"),
            "When the flow stops. Frames that are still queued at the adapter are discarded.",
        ),
        key(
            "frame",
            Kind::size(1, LARGEST_FRAME),
            Default::Value("1500B", "our choice: the largest payload of a basic frame, IEEE 802.3 clause 3.2.7"),
            "Frame size without overhead. The last frame of a flow may be shorter.",
        ),
        key(
            "headers",
            Kind::size(0, 1000),
            Default::Value("0B", "our choice: `frame` counts them"),
            "Bytes of headers of each data frame, in addition to `frame`. They count on wires and in buffers, but not as \
             bytes of the flow.",
        ),
        key(
            "acknowledge",
            Kind::Table(Box::new(acknowledge())),
            Default::Absent(
                "no acknowledgements; with a recovery, one of 64 B per frame in the class of the flow; with a \
                 receiver-driven congestion control, in the last class",
            ),
            "Acknowledgements from the receiver.",
        ),
        key(
            "notify",
            Kind::Table(Box::new(notify())),
            Default::Absent(
                "marks are reported by acknowledgements only; if the congestion control needs CNPs: 64 B, in the class of \
                 the flow, at most every 50 us",
            ),
            "Congestion notification packets (CNPs): the receiver answers marked frames by frames of their own.",
        ),
        key(
            "pull",
            Kind::Table(Box::new(pull())),
            Default::Absent("64 B in the last class, if the congestion control is receiver-driven"),
            "Pulls: frames by which the receiver permits the source to send.",
        ),
        key(
            "recovery",
            Kind::Table(Box::new(recovery())),
            Default::Absent("as in [recovery]; a receiver-driven congestion control brings its own"),
            "Loss recovery of this workload: a table, or a name for its defaults.",
        )
        .by_name(),
        key(
            "telemetry",
            Kind::Table(Box::new(telemetry())),
            Default::Absent("frames carry no telemetry; if the congestion control needs it: 42 B for 5 hops"),
            "In-band telemetry: every switch stamps the data frames with its queue, the bytes that it has sent, the time \
             and the rate; acknowledgements return the stamps to the congestion control.",
        ),
        key(
            "probe",
            Kind::Table(Box::new(probe())),
            Default::Absent(
                "64 B; towards the destination in the flow's class (urgent probes: the last class), back in the last \
                 class",
            ),
            "Probes, if the congestion control sends any.",
        ),
        key(
            "requeue_oracle",
            Kind::time(),
            Default::Absent("dropped frames are lost"),
            "An oracle, for comparison: a frame dropped at a full buffer is queued again at its source after this \
             time, without any message. No network can do this; a `recovery` detects losses itself.",
        )
        .formerly("requeue"),
        key(
            "capture",
            Kind::choice(&[
                ("tailback", "Ethernet frames with a header of our own"),
                ("rocev2", "RoCEv2: IPv4, UDP and InfiniBand's transport"),
                ("tcp", "TCP over IPv4"),
            ]),
            Default::Absent(
                "rocev2 with go-back-n, selective-repeat or, without a recovery, a control of RDMA such as dcqcn; tcp \
                 with sack, newreno, cubic or dctcp; else tailback",
            ),
            "Format of its frames in captures of Ethernet links. It has no effect on the run.",
        ),
        key(
            "via",
            Kind::choice(&[
                ("hash", "a hash of the flow picks one of the ports that lead to the destination"),
                ("spray", "frame by frame, the ports that lead to the destination in turn"),
            ]),
            Default::Absent("spray if network.multipath is spray, else hash: as in the switches"),
            "How the frames of a flow leave a host with several links. A port whose link has failed, or whose switch \
             has no route to the destination, is not used.",
        ),
        key(
            "port",
            Kind::Count(0, 63),
            Default::Absent("by `via`"),
            "The port by which all frames leave a host with several links, counted from 0 in the order of its links: \
             its rail or plane. If that link fails, they wait.",
        ),
        key(
            "path_selection",
            Kind::Table(Box::new(path_selection())),
            Default::Absent("as in [path_selection]"),
            "How the sources of this workload choose among equal paths: a table, or a name for its defaults. It needs \
             acknowledgements, and switches that hash the entropy of frames (network.multipath flow-hash or spray). It goes \
             before the choice of a congestion control that spreads its frames, such as ndp.",
        )
        .by_name(),
        key(
            "tree",
            Kind::Count(0, 63),
            Default::Absent("a hash of the flow picks one"),
            "Index of the tree that forwards the flow, from 0, if the routing has several: the VLAN of the flow.",
        ),
        key(
            "protocol",
            Kind::Table(Box::new(protocol())),
            Default::Absent("as in [protocol]"),
            "Congestion control of this workload: a table, or a name for its defaults.",
        )
        .by_name(),
    ]
}

fn probe() -> Section {
    Section {
        about: "Size and classes of probes.",
        keys: vec![
            control_size("Size of a probe and of its reply, without frame overhead."),
            key(
                "class",
                Kind::Text,
                Default::Computed(
                    "the class of the flow; the last class if probes are urgent",
                    "our choice: probes share the queues of the data, unless the congestion control makes them \
                     urgent",
                ),
                "Class of probes, by name.",
            ),
            key(
                "answer_class",
                Kind::Text,
                Default::Computed(
                    "the last class",
                    "our choice: the highest priority, unless `egress` orders \
                     classes otherwise",
                ),
                "Class of replies, by name.",
            ),
        ],
    }
}

/// Size of a frame that carries no data.
fn control_size(meaning: &'static str) -> Key {
    let minimum = Default::Value("64B", "IEEE 802.3 clause 4.4.2: the minimum frame");
    key("size", Kind::size(1, LARGEST_FRAME), minimum, meaning)
}

fn notify() -> Section {
    Section {
        about: "Congestion notification packets.",
        keys: vec![
            control_size("Size of a congestion notification packet, without frame overhead."),
            key(
                "class",
                Kind::Text,
                Default::Computed("the class of the flow", "our choice: like the data"),
                "Class of congestion notification packets, by name.",
            ),
            key(
                "interval",
                Kind::time(),
                Default::Value("50us", "Zhu et al., CoNEXT 2016, their fluid model of DCQCN: 50 us"),
                "Least time between two packets of a flow.",
            ),
        ],
    }
}

fn pull() -> Section {
    Section {
        about: "Size and class of pulls.",
        keys: vec![
            control_size("Size of a pull, without frame overhead."),
            key(
                "class",
                Kind::Text,
                Default::Computed("the last class", "our choice: a class of their own, beside that of the data"),
                "Class of pulls, by name.",
            ),
        ],
    }
}

fn telemetry() -> Section {
    Section {
        about: "Room for in-band telemetry in data frames and acknowledgements.",
        keys: vec![
            key(
                "size",
                Kind::size(1, 1000),
                Default::Value("42B", "the public HPCC simulator: 5 hops of 8 B and a count of 2 B"),
                "Bytes that telemetry adds to every data frame and acknowledgement, used or not.",
            ),
            key(
                "hops",
                Kind::Count(1, 255),
                Default::Value("5", "the public HPCC simulator"),
                "Number of stamps that have room. Later switches write none.",
            ),
        ],
    }
}

fn acknowledge() -> Section {
    Section {
        about: "Acknowledgements.",
        keys: vec![
            control_size("Size of an acknowledgement, without frame overhead."),
            key(
                "class",
                Kind::Text,
                Default::Computed("the class of the flow", "our choice: like the data"),
                "Class of acknowledgements, by name.",
            ),
            key(
                "every",
                Kind::Count(1, 1 << 31),
                Default::Value("1", "our choice: every frame"),
                "Data frames per acknowledgement. The last frame of a flow is always acknowledged.",
            ),
            key(
                "delay",
                Kind::time(),
                Default::Absent("a frame waits for the others without limit"),
                "Longest time that a frame waits until `every` frames have arrived; then those are acknowledged.",
            ),
        ],
    }
}

fn poisson_keys() -> Vec<Key> {
    let keys = vec![
        key(
            "mean_gap",
            Kind::time(),
            Default::Absent("load gives the arrival rate"),
            "Mean time between two flow arrivals, over \
             all senders.",
        ),
        key(
            "load",
            Kind::Number(0.0, 10.0),
            Default::Absent("mean_gap gives the arrival rate"),
            "Offered load as a fraction of the rates that `load_of` names, including frame overhead.",
        ),
        key(
            "load_of",
            Kind::choice(&[
                ("hosts", "the senders' links"),
                (
                    "racks",
                    "the links from the senders' first switches to other switches; flows within a rack do not count",
                ),
                (
                    "bisection",
                    "the capacity between the first and the second half of the hosts (the smallest cut), in both \
                     directions; only flows that cross it count",
                ),
            ]),
            Default::Value("hosts", "our choice: the same for every topology"),
            "The links that `load` is a fraction of.",
        ),
        key(
            "arrivals",
            Kind::choice(&[
                ("poisson", "exponential gaps"),
                ("log-normal", "gaps with a log-normal distribution, in bursts"),
            ]),
            Default::Value("poisson", "our choice: many independent users"),
            "Distribution of the gaps between arrivals.",
        ),
        key(
            "sigma",
            Kind::Number(0.0, 10.0),
            Default::Required,
            "Standard deviation of the logarithm of a gap. Of 2, half of the gaps are below 14 % of the mean.",
        )
        .only("arrivals", &["log-normal"]),
        key(
            "locality",
            Kind::Number(0.0, 1.0),
            Default::Absent("receivers are drawn from all hosts alike"),
            "Share of flows whose receiver is behind the same switch as the sender.",
        ),
    ];
    keys.into_iter().map(|key| key.only("kind", &["poisson-flows"])).collect()
}

/// Sizes that are drawn.
fn size_keys() -> Vec<Key> {
    let keys = vec![
        key(
            "sizes",
            Kind::Choice(sizes()),
            Default::Value("fixed", "our choice: the simplest"),
            "Distribution of the sizes of flows; with request-response, of the responses.",
        ),
        key(
            "flow_size",
            Kind::size(1, LARGEST_FLOW),
            Default::Required,
            "Size of a flow or response; its mean with pareto.",
        )
        .only("sizes", &["fixed", "pareto"]),
        key(
            "shape",
            Kind::Number(1.000_001, 1000.0),
            Default::Required,
            "Shape of the Pareto distribution: the \
             exponent of its tail, above 1.",
        )
        .only("sizes", &["pareto"]),
        key(
            "cdf",
            Kind::File,
            Default::Required,
            "File with the cumulative distribution, relative to this file: lines of `bytes probability`; # begins a \
             comment.",
        )
        .only("sizes", &["empirical"]),
    ];
    keys.into_iter().map(|key| key.only("kind", &["poisson-flows", "request-response"])).collect()
}

fn sizes() -> Vec<(String, String)> {
    let rules = [
        ("fixed", "all the same size"),
        ("pareto", "Pareto distribution with a given mean and shape"),
        ("empirical", "drawn from a measured distribution in a file"),
    ];
    let rules = rules.map(|(name, summary)| (name.to_owned(), summary.to_owned()));
    let measured =
        MEASURED_SIZES.iter().map(|sizes| (sizes.name.to_owned(), format!("{} ({})", sizes.summary, sizes.source)));
    rules.into_iter().chain(measured).collect()
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
            Default::Value("constant", "our choice: the simplest; use exponential for Poisson arrivals"),
            "Distribution of the gaps between frames, for a source with a rate.",
        ),
        key(
            "jitter",
            Kind::Number(0.0, 1.0),
            Default::Required,
            "Maximum deviation of a gap from the mean, as a fraction.",
        )
        .only("gaps", &["jittered"]),
        key(
            "backlog",
            Kind::Count(0, 1 << 31),
            Default::Absent("unlimited"),
            "Number of frames that may wait at the adapter, for a source with a rate. Waiting frames beyond 64 are \
             only counted, so an unlimited backlog takes no memory.",
        ),
        key(
            "overflow",
            Kind::choice(&[
                ("discard", "the frame is not sent, and counted as discarded at the source"),
                ("stall", "the source waits for space"),
            ]),
            Default::Value("discard", "our choice: an open-loop source"),
            "What happens when the backlog is full.",
        ),
    ]
}

fn burst_keys() -> Vec<Key> {
    vec![
        key(
            "lengths",
            Kind::choice(&[("exact", "always the same"), ("exponential", "exponentially distributed")]),
            Default::Value("exact", "our choice: periodic bursts are easy to see in a plot"),
            "Distribution of the lengths of bursts and silences.",
        ),
        key(
            "discard_when_off",
            Kind::Flag,
            Default::Value("false", "our choice: generated frames are sent"),
            "Whether frames that wait at the adapter are discarded when a burst ends.",
        ),
    ]
}

fn flows() -> Section {
    let mut keys = vec![
        key(
            "name",
            Kind::Text,
            Default::Absent("the names of the workload and the two hosts"),
            "Name of the flow in the \
             results.",
        ),
        key("from", Kind::Text, Default::Required, "The sending host."),
        key("to", Kind::Text, Default::Required, "The receiving host."),
        key("size", Kind::size(1, LARGEST_FLOW), Default::Absent("as in the workload"), "Bytes to send."),
        key("start", Kind::time(), Default::Absent("as in the workload"), "When the flow may start."),
        key("stop", Kind::time(), Default::Absent("as in the workload"), "When the flow stops."),
        key(
            "after",
            Kind::Names,
            Default::Absent("it waits for no other flow"),
            "Flows of the same list that must be complete before it starts, by name or by number, from 1. Each must end \
             at its source (its last byte has arrived) or start there (its last frame has left or, if it is \
             acknowledged, the last acknowledgement is back).",
        ),
        key(
            "delay",
            Kind::time(),
            Default::Value("0s", "our choice: it starts at once"),
            "Time from the completion of the flows in `after` to its start.",
        ),
        key(
            "frame",
            Kind::size(1, LARGEST_FRAME),
            Default::Absent("as in the workload"),
            "Frame size without \
             overhead.",
        ),
        key("class", Kind::Text, Default::Absent("as in the workload"), "Priority or virtual lane, by name."),
        key(
            "port",
            Kind::Count(0, 63),
            Default::Absent("as in the workload"),
            "The port by which all frames leave a host with several links, counted from 0.",
        ),
        key("rate", Kind::rate(), Default::Absent("greedy"), "Mean rate, including frame overhead."),
    ];
    keys.extend(paced_keys());
    Section { about: "One flow.", keys }
}
