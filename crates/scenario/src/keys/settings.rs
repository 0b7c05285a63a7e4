//! Keys of `[[faults]]`, `[probes]`, `[run]` and `[[expectations]]`.

use crate::expect::QUANTILES;
use crate::key::{Default, Key, Kind, Section, key};
use crate::metric::{METRICS, Subject, Usual, names};

pub(super) fn faults() -> Section {
    Section {
        about: "A link failure.",
        keys: vec![
            key(
                "between",
                Kind::Pair,
                Default::Required,
                "The two nodes of the link. With wildcards: every matching link.",
            ),
            key(
                "which",
                Kind::Count(0, 65_535),
                Default::Absent("all links between the two nodes"),
                "Index of one of several parallel links, from 0.",
            ),
            key("down", Kind::time(), Default::Required, "When the link fails. Frames on it are lost."),
            key("up", Kind::time(), Default::Absent("never"), "When the link recovers."),
        ],
    }
}

pub(super) fn probes() -> Section {
    Section {
        about: "Which tables to record, and how often.",
        keys: vec![
            key(
                "record",
                Kind::choices(&[
                    ("flows", "throughput of every flow per window, and its completion"),
                    ("links", "bytes and busy time of every link per window"),
                    ("queues", "queued bytes at every output, per sample"),
                    ("rates", "rate or window that congestion control allows every flow, per sample"),
                    ("pauses", "start and end of every pause, at the sender"),
                    ("drops", "every dropped or lost frame, with the reason"),
                    ("notices", "every congestion notice that reached a source"),
                    ("occupancy", "bytes of every flow in each input buffer, for switches with `occupancy`"),
                    ("causes", "why every flow took its time, and the roots of blocking; takes longer than the others"),
                ]),
                Default::Value(
                    "flows, links, queues, rates, pauses, drops, notices, occupancy",
                    "our choice: every table but causes",
                ),
                "The tables to write.",
            ),
            key(
                "sample_every",
                Kind::time(),
                Default::Computed(
                    "a thousandth of the duration",
                    "our choice: about as many points as a plot has \
                     pixels",
                ),
                "Simulated time between two samples of queues and rates. A run has at most 10 million samples.",
            ),
            key(
                "throughput_window",
                Kind::time(),
                Default::Computed("a hundredth of the duration", "our choice: 100 points per curve"),
                "Simulated time over which throughput is averaged.",
            ),
            key(
                "nodes",
                Kind::Names,
                Default::Value("*", "our choice: all nodes"),
                "Nodes whose links, queues and pauses are recorded.",
            ),
            key(
                "max_rows",
                Kind::Count(1, i64::MAX as u64),
                Default::Value("1000000000", "our choice: hours of writing"),
                "Maximum number of rows per run. A run whose samples alone could exceed it does not start; a run \
                 that exceeds it because of pauses or drops ends at the next inspection with the outcome *limit*.",
            ),
            key(
                "max_size",
                Kind::size(1, u64::MAX),
                Default::Value("20GB", "our choice: free space on most disks"),
                "Maximum size of the tables of a run, enforced like max_rows. A row takes about 10 bytes.",
            ),
        ],
    }
}

pub(super) fn run() -> Section {
    Section {
        about: "Duration, seed and number of runs.",
        keys: vec![
            key("duration", Kind::time(), Default::Required, "Simulated time."),
            key(
                "warm_up",
                Kind::time(),
                Default::Value("0s", "our choice: the whole run counts"),
                "Simulated time before averages begin.",
            ),
            key(
                "seed",
                Kind::Count(0, i64::MAX as u64),
                Default::Value("1", "our choice"),
                "Seed of all random numbers. Runs with the same seed are bit-identical.",
            ),
            key(
                "replications",
                Kind::Count(1, 1_000_000),
                Default::Value("1", "our choice"),
                "Number of runs, with seed, seed + 1, and so on.",
            ),
            key(
                "quick",
                Kind::time(),
                Default::Absent("the full duration"),
                "Duration for `tailback reproduce --quick`. Measurement windows are cut at its end.",
            ),
            key(
                "inspect_every",
                Kind::time(),
                Default::Value("100us", "our choice: rare enough to cost nothing"),
                "Simulated time between two inspections of the network for deadlock, loss and limits.",
            )
            .formerly("checkpoint"),
            key(
                "max_events",
                Kind::Count(1, i64::MAX as u64),
                Default::Absent("no limit"),
                "Number of events after which the run ends, at the next inspection. Samples are not counted, so the run ends at the \
                 same instant whether it is recorded or not.",
            ),
            key(
                "threads",
                Kind::Count(1, 1024),
                Default::Absent("the command decides; results do not depend on it"),
                "Number of threads.",
            ),
        ],
    }
}

pub(super) fn expectations() -> Section {
    let metrics: Vec<(&str, &str)> = METRICS.iter().map(|info| (info.name, info.about)).collect();
    let mut keys = vec![
        key("name", Kind::Text, Default::Absent("the name of the metric"), "Name of the expectation."),
        key("metric", Kind::choice(&metrics), Default::Required, "What to measure."),
    ];
    keys.extend(subjects());
    keys.extend(statistics());
    keys.extend([
        key(
            "between",
            Kind::Interval,
            Default::Absent(
                "the whole run for delivered, queue and counts; otherwise from the end of the warm-up to the end of \
                 the run",
            ),
            "Time window of the measurement.",
        )
        .only("metric", &names(|info| info.window != Usual::Never)),
        key(
            "quiet",
            Kind::time(),
            Default::Value("10ms", "our choice: many times the length of a pause"),
            "Time without a pause that ends a pause phase.",
        )
        .only("metric", &["pause-phase"]),
        key(
            "within",
            Kind::Number(0.0, 1.0),
            Default::Value("0.1", "our choice: within 10 %"),
            "Tolerance around the mean of the window's last quarter within which a rate or a backlog counts as \
             settled, as a fraction.",
        )
        .only("metric", &["settling-time", "backlog-settling"]),
        key(
            "within",
            Kind::Number(0.0, 1.0),
            Default::Value("0.1", "our choice: 90 % of the fair share"),
            "Fraction of the fair share that may be missing.",
        )
        .only("metric", &["recovery-time"]),
        key("level", Kind::size(0, u64::MAX), Default::Required, "Level to which the queue must drain.")
            .only("metric", &["drain-time"]),
        key(
            "op",
            Kind::choice(&[
                ("=", "equal within the tolerance"),
                ("<", "less than"),
                ("<=", "at most"),
                (">", "more than"),
                (">=", "at least"),
            ]),
            Default::Value("=", "our choice"),
            "Comparison of the result with value.",
        ),
        key(
            "value",
            Kind::Any,
            Default::Absent("the metric is measured and shown, not judged"),
            "Expected value, in the unit of the metric; a plain number with `over`.",
        ),
        key(
            "tolerance",
            Kind::Number(0.0, 1000.0),
            Default::Value("0.0", "our choice: an exact match"),
            "Permitted deviation, as a fraction of value.",
        )
        .only("op", &["="]),
        super::figure::cells(),
        key(
            "source",
            Kind::Text,
            Default::Absent("no source"),
            "Free text: where the expected value comes \
             from.",
        ),
        super::figure::statement(),
    ]);
    Section { about: "A metric, and the value it should have.", keys }
}

/// What an expectation is about, by metric.
fn subjects() -> [Key; 4] {
    let all = || Default::Value("*", "our choice: all");
    let flows = names(|info| matches!(info.subject, Subject::Flows | Subject::AllFlows));
    [
        key("of", Kind::Names, all(), "Flows or workloads, by name.").only("metric", &flows),
        key(
            "of",
            Kind::Names,
            all(),
            "Nodes, or directions of links such as `sw0->h1`. For queue: the bytes queued at the first node for the \
             second. For buffer: the bytes in the second node's input buffer from the first.",
        )
        .only("metric", &names(|info| info.subject == Subject::Places)),
        key(
            "of",
            Kind::Names,
            Default::Required,
            "Directions of links, such as `sw0->h1`: sending node, then receiving node.",
        )
        .only("metric", &names(|info| info.subject == Subject::Links)),
        key(
            "over",
            Kind::Names,
            Default::Absent("the metric is not divided"),
            "Flows or workloads whose metric divides that of `of`. value is then a plain number.",
        )
        .only("metric", &names(|info| info.subject == Subject::Flows)),
    ]
}

/// How several values become one, by metric.
fn statistics() -> [Key; 7] {
    let each =
        [("mean", "of all flows or links"), ("least", "of all flows or links"), ("most", "of all flows or links")];
    let spread = [
        ("deviation", "standard deviation"),
        ("variation", "coefficient of variation: standard deviation divided by the mean"),
    ];
    let quantiles = QUANTILES.map(|(name, _, about)| (name, about));
    let sampled = [("mean", "over the window"), ("least", "of the samples"), ("most", "of the samples")];
    [
        key(
            "statistic",
            Kind::choice(&[&each[..], &[("sum", "of all flows or links")], &quantiles[..], &spread[..]].concat()),
            Default::Value("mean", "our choice"),
            "How to combine the values of several flows or links.",
        )
        .only("metric", &names(|info| matches!(info.subject, Subject::Flows | Subject::Links))),
        key(
            "statistic",
            Kind::choice(&[&sampled[..], &quantiles[..], &spread[..]].concat()),
            Default::Value("most", "our choice: the buffer size that is needed"),
            "How to combine the samples. A percentile is that of the level over time, at most 0.1 % too large.",
        )
        .only("metric", &["queue", "buffer"]),
        key(
            "statistic",
            Kind::choice(&[&sampled[..], &quantiles[..], &spread[..]].concat()),
            Default::Value("mean", "our choice"),
            "How to combine the samples. A percentile is that of the rate over time, at most 0.1 % too large.",
        )
        .only("metric", &["total-rate"]),
        across(&[
            ("most", "the largest value"),
            ("mean", "the mean of the values"),
            ("least", "the smallest value"),
            FULLEST,
        ])
        .only("metric", &["queue", "buffer", "drain-time", "swing"]),
        across(&[("most", "the value of the port with the largest oscillation"), FULLEST])
            .only("metric", &["swing-frequency"]),
        around(Kind::size(0, u64::MAX)).only("metric", &["queue", "buffer"]),
        around(Kind::rate()).only("metric", &["total-rate"]),
    ]
}

const FULLEST: (&str, &str) =
    ("fullest", "the fullest port at each sample, as if all were one; ports that fill in turn then look steady");

/// How several ports or nodes become one number.
fn across(ways: &[(&str, &str)]) -> Key {
    key(
        "across",
        Kind::choice(ways),
        Default::Value("most", "our choice: the worst port"),
        "How to combine several ports or nodes. Each port is measured separately; if it has several classes, its \
         fullest queue counts.",
    )
}

/// Where a deviation is measured from.
fn around(kind: Kind) -> Key {
    key(
        "around",
        kind,
        Default::Absent("the mean of the samples"),
        "Reference value of the deviation, such as a set point: the result is the root mean square distance from it.",
    )
    .only("statistic", &["deviation", "variation"])
}
