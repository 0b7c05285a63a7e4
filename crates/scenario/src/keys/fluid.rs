//! Keys of `[fluid]`: the scenario as differential equations.

use crate::key::{Default, FASTEST, Key, Kind, SLOWEST, Section, key};

const PACKETS: &str = "from the scenario's network, if its protocol matches the model; otherwise required";

/// The models whose sources measure round trips.
const DELAY: &[&str] = &["timely", "patched-timely"];

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
                ("dcqcn", "Data Center QCN; docs/theory/dcqcn.md"),
                ("timely", "TIMELY; docs/theory/timely.md"),
                ("patched-timely", "patched TIMELY; docs/theory/timely.md"),
            ]),
            Default::Required,
            "The model.",
        ),
        key(
            "sources",
            Kind::Count(1, 10_000_000),
            Default::Computed("the number of flows that share the bottleneck", PACKETS),
            "Number of identical sources.",
        ),
        key(
            "capacity",
            Kind::rate(),
            Default::Computed("the rate of the bottleneck, the link with the smallest share per flow", PACKETS),
            "Rate of the shared link, without frame overhead.",
        ),
        key(
            "delay",
            Kind::time(),
            Default::Computed("a frame to the queue and a notice back, through empty queues", PACKETS),
            "Delay of the control loop: from a change of a source's rate until its effect on the queue returns as \
             feedback.",
        ),
    ];
    keys.extend(congestion_point());
    keys.extend(bcn_source());
    keys.extend(qcn_source());
    keys.extend(dcqcn());
    keys.extend(timely());
    keys.extend(limits());
    keys.extend(start());
    Section {
        about: "Fluid model for `tailback stability`: one link, identical sources, one delay. Packet simulations \
             ignore it. If the scenario's protocol matches the model, missing keys are taken from [protocol], \
             [congestion_point] and the network instead of the defaults below, and the section may be omitted.",
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
            "Queue length that the control loop aims for.",
        )
        .only("model", &["bcn"]),
        key(
            "set_point",
            size(),
            Default::Value("26000B", "IEEE 802.1Q-2014, cnCpQueueSizeSetPoint"),
            "Queue length that the control loop aims for.",
        )
        .only("model", &["qcn"]),
        key(
            "weight",
            above_zero(),
            Default::Value("2", "Lu et al., Allerton 2006, section III.B; IEEE 802.1Q-2014, cnCpFeedbackWeight"),
            "Weight of queue growth: how much a byte of growth counts, relative to a byte above the set point.",
        )
        .only("model", &["bcn", "qcn"]),
        key("probability", Kind::Number(0.0, 1.0), Default::Value("0.01", PAPER), "Sampling probability of a frame.")
            .only("model", &["bcn"]),
        key(
            "sampling_lag",
            Kind::Number(0.0, 1.0),
            Default::Value("1", "exact for frames sampled independently at random"),
            "Lag of the measured growth behind the queue, as a fraction of the mean sampling interval: 1 for random \
             sampling, 0.5 for equal intervals.",
        )
        .only("model", &["bcn"]),
        key(
            "sample_base",
            size(),
            Default::Value("150000B", "IEEE 802.1Q-2014, cnCpMinSampleBase"),
            "Bytes between two samples of an uncongested queue.",
        )
        .only("model", &["qcn"]),
        key(
            "frame",
            size(),
            Default::Value("1500B", "Lu et al., Allerton 2006, section III.B: all packets are 1500 bytes long"),
            "Frame size; in BCN also the unit of queue lengths.",
        )
        .only("model", &["bcn", "qcn"]),
        key(
            "frame",
            size(),
            Default::Value("1000B", "Zhu et al., CoNEXT 2016, their fluid model: packets of 8000 bits"),
            "Frame size.",
        )
        .only("model", &["dcqcn"]),
        key(
            "buffer",
            size(),
            Default::Value("150000B", "our choice: 100 frames; the paper gives none"),
            "Maximum queue length.",
        )
        .only("model", &["bcn"]),
        key(
            "buffer",
            size(),
            Default::Value("300000B", "our choice: twice the sampling interval"),
            "Maximum queue length.",
        )
        .only("model", &["qcn"]),
        key(
            "buffer",
            size(),
            Default::Value("4MB", "our choice: more than any queue of the paper's figures"),
            "Maximum queue length.",
        )
        .only("model", &["dcqcn"]),
        key(
            "buffer",
            size(),
            Default::Value("2MB", "our choice: more than t_high at 10 Gb/s"),
            "Maximum queue length.",
        )
        .only("model", DELAY),
    ]
}

fn bcn_source() -> Vec<Key> {
    let bcn = |key: Key| key.only("model", &["bcn"]);
    let stated = Section {
        about: "Values that a paper states for these loops. Each is compared, to the stated number of digits, with \
             the value that follows from the parameters.",
        keys: vec![
            key(
                "increase_pole",
                above_zero(),
                Default::Absent("not stated"),
                "Pole of the increase loop, in \
                 radians per second.",
            ),
            key(
                "decrease_pole",
                above_zero(),
                Default::Absent("not stated"),
                "Pole of the decrease loop, in \
                 radians per second.",
            ),
            key("b", above_zero(), Default::Absent("not stated"), "The b that belongs to a."),
        ],
    };
    vec![
        bcn(key(
            "increase_gain",
            above_zero(),
            Default::Value("4", PAPER),
            "Gi: rate increase per frame of Fb, in units of rate_unit.",
        )),
        bcn(key(
            "decrease_gain",
            above_zero(),
            Default::Value("0.0078125", "Lu et al., Allerton 2006, section III.B: 1/128"),
            "Gd: fraction of the rate removed per frame of Fb.",
        )),
        bcn(key("rate_unit", Kind::rate(), Default::Value("1Mb/s", PAPER), "Ru: unit of rate increases.")),
        bcn(key(
            "a",
            Kind::Number(1.0, f64::INFINITY),
            Default::Value("5", PAPER),
            "The a of theorem 3, from which its b follows.",
        )),
        bcn(key(
            "stated",
            Kind::Table(Box::new(stated)),
            Default::Absent("not stated"),
            "Values that a paper states, to be checked.",
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
            "Fraction by which a source reduces its rate per quantum of feedback.",
        )),
        qcn(key(
            "byte_reset",
            Kind::size(1, 1 << 40),
            Default::Value("150000B", "IEEE 802.1Q-2014, rpgByteReset"),
            "Bytes per stage of the byte counter.",
        )),
        qcn(key(
            "time_reset",
            Kind::time(),
            Default::Value("15ms", "IEEE 802.1Q-2014, rpgTimeReset"),
            "Length of a timer stage; 0s disables the timer, as in the published fluid model.",
        )),
        qcn(key(
            "threshold",
            Kind::Count(1, 1000),
            Default::Value("5", "IEEE 802.1Q-2014, rpgThreshold"),
            "Number of stages of fast recovery.",
        )),
        qcn(key(
            "ai_rate",
            Kind::rate(),
            Default::Value("5Mb/s", "IEEE 802.1Q-2014, rpgAiRate"),
            "Increase of the target rate per stage after fast recovery.",
        )),
        qcn(key(
            "noise",
            above_zero(),
            Default::Value(
                "0.5",
                "our choice: samples then have a standard deviation of 0.9 quanta, about one frame \
                 of 1500 B",
            ),
            "Scale of the randomness in a sample of the queue, in quanta of feedback.",
        )),
    ]
}

fn dcqcn() -> Vec<Key> {
    const TABLE: &str = "Zhu et al., CoNEXT 2016, table 1";
    const MODEL: &str = "Zhu et al., CoNEXT 2016, their fluid model";
    let dcqcn = |key: Key| key.only("model", &["dcqcn"]);
    let size = || Kind::size(0, 1 << 40);
    vec![
        dcqcn(key("kmin", size(), Default::Value("5KB", MODEL), "Queue length up to which nothing is marked.")),
        dcqcn(key(
            "kmax",
            size(),
            Default::Value("200KB", "Zhu et al., CoNEXT 2016, figure 3"),
            "Queue length at which the probability of a mark is pmax; above it is 1.",
        )),
        dcqcn(key("pmax", Kind::Number(0.0, 1.0), Default::Value("0.01", MODEL), "Probability of a mark at kmax.")),
        dcqcn(key(
            "g",
            Kind::Number(0.0, 1.0),
            Default::Value("0.00390625", "Zhu et al., CoNEXT 2016, their fluid model: 1/256"),
            "Weight of a new observation in alpha.",
        )),
        dcqcn(key(
            "cnp_interval",
            Kind::time(),
            Default::Value("50us", MODEL),
            "Least time between two notifications of a source.",
        )),
        dcqcn(key(
            "alpha_period",
            Kind::time(),
            Default::Value("55us", "Zhu et al., CoNEXT 2016, section 3.3"),
            "Period of alpha.",
        )),
        dcqcn(key(
            "byte_reset",
            size(),
            Default::Value("10MB", MODEL),
            "Bytes per stage of the byte counter; 0B disables it.",
        )),
        dcqcn(key(
            "time_reset",
            Kind::time(),
            Default::Value("55us", "Zhu et al., CoNEXT 2016, section 3.3"),
            "Length of a timer stage.",
        )),
        dcqcn(key("threshold", Kind::Count(0, 1000), Default::Value("5", TABLE), "Number of stages of fast recovery.")),
        dcqcn(key(
            "ai_rate",
            Kind::rate(),
            Default::Value("40Mb/s", TABLE),
            "Increase of the target rate per stage after fast recovery.",
        )),
    ]
}

fn timely() -> Vec<Key> {
    const STATED: &str = "Zhu et al., CoNEXT 2016, section 4.1, model validation";
    let either = |key: Key| key.only("model", DELAY);
    let patched = |key: Key| key.only("model", &["patched-timely"]);
    let beta = |value: &'static str, source: &'static str| {
        key("beta", Kind::Number(0.0, 1.0), Default::Value(value, source), "Factor of a decrease.")
    };
    vec![
        either(key(
            "alpha",
            Kind::Number(0.0, 1.0),
            Default::Value("0.875", STATED),
            "Weight of a new difference of round-trip times.",
        )),
        beta("0.8", STATED).only("model", &["timely"]),
        patched(beta("0.008", "Zhu et al., CoNEXT 2016, section 4.3")),
        either(key(
            "t_low",
            Kind::time(),
            Default::Value("50us", STATED),
            "Round-trip time below which rates always rise.",
        )),
        either(key(
            "t_high",
            Kind::time(),
            Default::Value("500us", STATED),
            "Round-trip time above which rates always fall.",
        )),
        either(key(
            "min_rtt",
            Kind::time(),
            Default::Value("20us", STATED),
            "Unit of the gradient, and the least time between two updates.",
        )),
        patched(key(
            "reference_rtt",
            Kind::time(),
            Default::Computed("t_low", "Zhu et al., CoNEXT 2016, section 4.3"),
            "Round-trip time from which the error is measured.",
        )),
        patched(key(
            "slope",
            above_zero(),
            Default::Value("2", "Zhu et al., CoNEXT 2016, equation 30; its figure 11 follows from 0.5"),
            "Slope of the weight of decreases over the gradient.",
        )),
        either(key(
            "ai_rate",
            Kind::rate(),
            Default::Computed("a thousandth of capacity", "Mittal, timely-code-snippet.cc: 10 Mb/s at 10 Gb/s"),
            "Increase per update.",
        )),
        either(key(
            "segment",
            Kind::size(1, 1 << 40),
            Default::Value("16KB", "Zhu et al., CoNEXT 2016, section 4.3"),
            "Bytes per update of the rate.",
        )),
    ]
}

fn limits() -> Vec<Key> {
    vec![
        key("min_rate", Kind::Rate(SLOWEST, FASTEST), Default::Value("1Mb/s", "NVIDIA, rpg_min_rate"), "Minimum rate.")
            .only("model", &["dcqcn"]),
        key(
            "min_rate",
            Kind::Rate(SLOWEST, FASTEST),
            Default::Value("10Mb/s", "our choice: the paper gives none"),
            "Minimum rate.",
        )
        .only("model", DELAY),
        key(
            "min_rate",
            Kind::Rate(SLOWEST, FASTEST),
            Default::Value("1Mb/s", "our choice: the paper gives no number for Rmin"),
            "Minimum rate.",
        )
        .only("model", &["bcn"]),
        key(
            "min_rate",
            Kind::Rate(SLOWEST, FASTEST),
            Default::Value("5Mb/s", "IEEE 802.1Q-2014, rpgMinRate"),
            "Minimum rate.",
        )
        .only("model", &["qcn"]),
        key(
            "max_rate",
            Kind::rate(),
            Default::Computed("capacity", "our choice: sources with links like the shared one"),
            "Maximum rate.",
        ),
        key(
            "min_dec_factor",
            Kind::Number(0.0, 1.0),
            Default::Value("0.5", "IEEE 802.1Q-2014, rpgMinDecFac; the BCN paper has none"),
            "Smallest factor of a single decrease.",
        )
        .only("model", &["bcn", "qcn"]),
    ]
}

fn start() -> Vec<Key> {
    vec![
        key(
            "start_rate",
            Kind::rate(),
            Default::Computed("half the fair share", "our choice: below and far from equilibrium"),
            "For --trajectory: initial rate of every source.",
        )
        .only("model", &["bcn"]),
        key(
            "start_rate",
            Kind::rate(),
            Default::Computed(
                "twice the fair share",
                "our choice: above equilibrium, since QCN rate limiters start \
                 at full rate",
            ),
            "For --trajectory: initial rate of every source.",
        )
        .only("model", &["qcn", "dcqcn"]),
        key(
            "start_rate",
            Kind::rate(),
            Default::Computed("the fair share", "Zhu et al., CoNEXT 2016, section 4.1: 1/N of the link"),
            "For --trajectory: initial rate of every source.",
        )
        .only("model", DELAY),
        key(
            "start_queue",
            Kind::size(0, 1 << 40),
            Default::Value("0B", "our choice: an empty queue"),
            "For --trajectory: initial queue length.",
        ),
        key(
            "duration",
            Kind::time(),
            Default::Value("200ms", "Lu et al., Allerton 2006, section III.B: the time between two bursts of figure 2"),
            "For --trajectory: duration.",
        ),
    ]
}
