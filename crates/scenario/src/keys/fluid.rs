//! Keys of `[fluid]`: the scenario as differential equations.

use crate::key::{Default, FASTEST, Key, Kind, SLOWEST, Section, key};

const PACKETS: &str = "the scenario's network, if its protocol has these equations; else it must be given";

const PAPER: &str = "Lu et al., Allerton 2006, section III.B";

/// A number above zero; zero itself is refused where it is used.
fn above_zero() -> Kind {
    Kind::Number(0.0, 1e9)
}

pub(super) fn fluid() -> Section {
    let mut keys = vec![
        key(
            "model",
            Kind::choice(&[
                ("bcn", "Backward Congestion Notification; docs/theory/bcn.md"),
                ("qcn", "Quantized Congestion Notification, IEEE 802.1Qau; docs/theory/qcn.md"),
            ]),
            Default::Required,
            "Whose equations.",
        ),
        key(
            "sources",
            Kind::Count(1, 10_000_000),
            Default::Computed("the flows that share a link at once", PACKETS),
            "Equal sources that share the link.",
        ),
        key(
            "capacity",
            Kind::rate(),
            Default::Computed("that of the link that leaves each flow least", PACKETS),
            "The rate of the link they share, what is around frames not counted.",
        ),
        key(
            "delay",
            Kind::time(),
            Default::Computed("a frame to the queue and a notice back, nothing waiting", PACKETS),
            "The whole loop: from a change of rate until what it does to the queue comes back as a message.",
        ),
    ];
    keys.extend(congestion_point());
    keys.extend(bcn_source());
    keys.extend(qcn_source());
    keys.extend(limits());
    keys.extend(start());
    Section {
        about: "The scenario as a fluid, for `tailback stability`: one link, equal sources, one delay. Packets know \
                nothing of it. Where the scenario's own protocol has these equations, whatever is not given here is \
                taken from [protocol], [congestion_point] and the network, and not the default below; then the \
                section may be left out.",
        keys,
    }
}

fn congestion_point() -> Vec<Key> {
    let size = || Kind::size(1, 1 << 40);
    vec![
        key(
            "set_point",
            size(),
            Default::Value("24000B", "Lu et al., Allerton 2006, section III.B: 16 frames of 1500 B"),
            "The queue to hold.",
        )
        .only("model", &["bcn"]),
        key(
            "set_point",
            size(),
            Default::Value("26000B", "IEEE 802.1Q-2014, cnCpQueueSizeSetPoint"),
            "The queue to hold.",
        )
        .only("model", &["qcn"]),
        key(
            "weight",
            above_zero(),
            Default::Value("2", "Lu et al., Allerton 2006, section III.B; IEEE 802.1Q-2014, cnCpFeedbackWeight"),
            "What a byte of growth counts, where a byte above the set point counts one.",
        ),
        key("probability", Kind::Number(0.0, 1.0), Default::Value("0.01", PAPER), "The part of the frames sampled.")
            .only("model", &["bcn"]),
        key(
            "sampling_lag",
            Kind::Number(0.0, 1.0),
            Default::Value("1", "exact for frames sampled at random, each by itself"),
            "What part of the mean gap between two samples their growth lags behind: 1 if frames are sampled at \
             random, 0.5 if at equal distances.",
        )
        .only("model", &["bcn"]),
        key(
            "sample_base",
            size(),
            Default::Value("150000B", "IEEE 802.1Q-2014, cnCpMinSampleBase"),
            "Bytes between two samples of a queue that is not congested.",
        )
        .only("model", &["qcn"]),
        key(
            "frame",
            size(),
            Default::Value("1500B", "Lu et al., Allerton 2006, section III.B: all packets are 1500 bytes long"),
            "The frame that is sent and sampled; in BCN what queues are counted in.",
        ),
        key(
            "buffer",
            size(),
            Default::Value("150000B", "our choice: 100 frames, the paper does not say"),
            "The most a queue can be.",
        )
        .only("model", &["bcn"]),
        key(
            "buffer",
            size(),
            Default::Value("300000B", "our choice: twice the bytes between two samples"),
            "The most a queue can be.",
        )
        .only("model", &["qcn"]),
    ]
}

fn bcn_source() -> Vec<Key> {
    let bcn = |key: Key| key.only("model", &["bcn"]);
    let stated = Section {
        about: "What a paper states of these loops: each number is compared, at the digits it is given \
                with, with what follows from the parameters.",
        keys: vec![
            key("increase_pole", above_zero(), Default::Absent("nothing is stated"), "In radians per second."),
            key("decrease_pole", above_zero(), Default::Absent("nothing is stated"), "In radians per second."),
            key("b", above_zero(), Default::Absent("nothing is stated"), "The b that is said to belong to a."),
        ],
    };
    vec![
        bcn(key(
            "increase_gain",
            above_zero(),
            Default::Value("4", PAPER),
            "Gi: what a frame of Fb adds, in rate_unit.",
        )),
        bcn(key(
            "decrease_gain",
            above_zero(),
            Default::Value("0.0078125", "Lu et al., Allerton 2006, section III.B: 1/128"),
            "Gd: the part of a rate that a frame of Fb takes.",
        )),
        bcn(key(
            "rate_unit",
            Kind::rate(),
            Default::Value("1Mb/s", PAPER),
            "Ru: the rate that increases are counted in.",
        )),
        bcn(key(
            "a",
            Kind::Number(1.0, f64::INFINITY),
            Default::Value("5", PAPER),
            "The a of theorem 3, from which its b follows.",
        )),
        bcn(key(
            "stated",
            Kind::Table(Box::new(stated)),
            Default::Absent("nothing is stated"),
            "What a paper states, to be checked.",
        )),
    ]
}

fn qcn_source() -> Vec<Key> {
    let qcn = |key: Key| key.only("model", &["qcn"]);
    vec![
        qcn(key(
            "gd",
            above_zero(),
            Default::Value("0.0078125", "IEEE 802.1Q-2014, rpgGd: 2 to the power of -7"),
            "The part of its rate that a source gives up for a quantum of feedback.",
        )),
        qcn(key(
            "byte_reset",
            Kind::size(1, 1 << 40),
            Default::Value("150000B", "IEEE 802.1Q-2014, rpgByteReset"),
            "Bytes of a stage of the byte counter.",
        )),
        qcn(key(
            "time_reset",
            Kind::time(),
            Default::Value("15ms", "IEEE 802.1Q-2014, rpgTimeReset"),
            "Length of a stage of the timer; 0s for no timer, as in the published fluid model.",
        )),
        qcn(key(
            "threshold",
            Kind::Count(1, 1000),
            Default::Value("5", "IEEE 802.1Q-2014, rpgThreshold"),
            "Stages of fast recovery.",
        )),
        qcn(key(
            "ai_rate",
            Kind::rate(),
            Default::Value("5Mb/s", "IEEE 802.1Q-2014, rpgAiRate"),
            "What the target rises by in a stage after that.",
        )),
        qcn(key(
            "noise",
            above_zero(),
            Default::Value("0.5", "our choice: then samples spread by 0.9 quanta, about a frame of 1500 B"),
            "The scale of what is random in a sample of the queue, in quanta of feedback.",
        )),
    ]
}

fn limits() -> Vec<Key> {
    vec![
        key(
            "min_rate",
            Kind::Rate(SLOWEST, FASTEST),
            Default::Value("1Mb/s", "our choice: the paper's Rmin has no number"),
            "The least a rate can be.",
        )
        .only("model", &["bcn"]),
        key(
            "min_rate",
            Kind::Rate(SLOWEST, FASTEST),
            Default::Value("5Mb/s", "IEEE 802.1Q-2014, rpgMinRate"),
            "The least a rate can be.",
        )
        .only("model", &["qcn"]),
        key(
            "max_rate",
            Kind::rate(),
            Default::Computed("capacity", "our choice: sources have links like the one they share"),
            "The most a rate can be.",
        ),
        key(
            "min_dec_factor",
            Kind::Number(0.0, 1.0),
            Default::Value("0.5", "IEEE 802.1Q-2014, rpgMinDecFac; the BCN paper has none"),
            "The least factor of a single decrease.",
        ),
    ]
}

fn start() -> Vec<Key> {
    vec![
        key(
            "start_rate",
            Kind::rate(),
            Default::Computed("half the fair share", "our choice: far from rest, and below it"),
            "For --trajectory: the rate of every source at first.",
        )
        .only("model", &["bcn"]),
        key(
            "start_rate",
            Kind::rate(),
            Default::Computed("twice the fair share", "our choice: above it, since limiters of QCN start at full rate"),
            "For --trajectory: the rate of every source at first.",
        )
        .only("model", &["qcn"]),
        key(
            "start_queue",
            Kind::size(0, 1 << 40),
            Default::Value("0B", "our choice: an empty queue"),
            "For --trajectory: the queue at first.",
        ),
        key(
            "duration",
            Kind::time(),
            Default::Value("200ms", "Lu et al., Allerton 2006, section III.B: the time between two bursts of figure 2"),
            "For --trajectory: how long.",
        ),
    ]
}
