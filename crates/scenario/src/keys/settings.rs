//! Keys of `[[faults]]`, `[probes]`, `[run]` and `[[expectations]]`.

use crate::key::{Default, Key, Kind, Section, key};
use crate::metric::{METRICS, Subject, Usual, names};

pub(super) fn faults() -> Section {
    Section {
        about: "Something that happens to a cable.",
        keys: vec![
            key(
                "between",
                Kind::Pair,
                Default::Required,
                "The cable's two ends; with wildcards, every cable that matches.",
            ),
            key(
                "which",
                Kind::Count(0, 65_535),
                Default::Absent("all cables between the two"),
                "Which of several parallel cables, from 0.",
            ),
            key("down", Kind::time(), Default::Required, "When it fails. What is on it is lost."),
            key("up", Kind::time(), Default::Absent("never"), "When it works again."),
        ],
    }
}

pub(super) fn probes() -> Section {
    Section {
        about: "What is recorded, and how often.",
        keys: vec![
            key(
                "record",
                Kind::choices(&[
                    ("flows", "throughput of every flow, window by window, and its completion"),
                    ("links", "bytes and busy time of every cable, window by window"),
                    ("queues", "bytes waiting at every output, sample by sample"),
                    ("rates", "what congestion control allows every flow, sample by sample"),
                    ("pauses", "when each sender begins and ceases to obey a pause"),
                    ("drops", "every frame that came to nothing, and why"),
                    ("notices", "every congestion notice that reached a source"),
                    (
                        "occupancy",
                        "which flow holds how much of each input's buffer, at switches that keep account of it",
                    ),
                ]),
                Default::Value(
                    "flows, links, queues, rates, pauses, drops, notices, occupancy",
                    "our choice: all of it, a first run should miss nothing",
                ),
                "The tables to write.",
            ),
            key(
                "sample_every",
                Kind::time(),
                Default::Computed("a thousandth of the duration", "our choice: as many points as a plot has pixels"),
                "Simulated time between two samples of queues and rates; not more than 10 million of them in a run.",
            ),
            key(
                "throughput_window",
                Kind::time(),
                Default::Computed("a hundredth of the duration", "our choice: a hundred points a curve"),
                "Simulated time over which throughputs are averaged.",
            ),
            key(
                "nodes",
                Kind::Names,
                Default::Value("*", "our choice: all of them"),
                "The nodes whose links, queues and pauses are recorded.",
            ),
            key(
                "max_rows",
                Kind::Count(1, i64::MAX as u64),
                Default::Value("1000000000", "our choice: hours of writing, more than is looked at"),
                "Rows that a run may record. One whose samples may be more does not start; one that comes to more, by \
                 pauses or drops, ends at the next inspection with the outcome *limit*.",
            ),
            key(
                "max_size",
                Kind::size(1, u64::MAX),
                Default::Value("20GB", "our choice: what most disks have to spare"),
                "The same for the bytes of its tables, which are about 10 a row.",
            ),
        ],
    }
}

pub(super) fn run() -> Section {
    Section {
        about: "How long to run, and how often.",
        keys: vec![
            key("duration", Kind::time(), Default::Required, "Simulated time."),
            key(
                "warm_up",
                Kind::time(),
                Default::Value("0s", "our choice: nothing is left out"),
                "Simulated time before averages begin.",
            ),
            key(
                "seed",
                Kind::Count(0, i64::MAX as u64),
                Default::Value("1", "our choice: any number will do"),
                "Names every random stream; the same seed gives the same run to the bit.",
            ),
            key(
                "replications",
                Kind::Count(1, 1_000_000),
                Default::Value("1", "our choice: one run"),
                "How many runs, with seed, seed + 1, and so on.",
            ),
            key(
                "quick",
                Kind::time(),
                Default::Absent("as long as ever"),
                "For `tailback reproduce --quick`: the duration of a short form. Windows of expectations are cut at its end.",
            ),
            key(
                "inspect_every",
                Kind::time(),
                Default::Value("100us", "our choice: rare enough to cost nothing"),
                "Simulated time between two inspections of the whole network for deadlock, loss and limits.",
            )
            .formerly("checkpoint"),
            key(
                "max_events",
                Kind::Count(1, i64::MAX as u64),
                Default::Absent("no limit"),
                "Ends the run at the next inspection after so many events.",
            ),
            key(
                "threads",
                Kind::Count(1, 1024),
                Default::Absent("the command decides; results do not depend on it"),
                "Threads to run on.",
            ),
        ],
    }
}

pub(super) fn expectations() -> Section {
    let metrics: Vec<(&str, &str)> = METRICS.iter().map(|info| (info.name, info.about)).collect();
    let mut keys = vec![
        key("name", Kind::Text, Default::Absent("the metric's name serves"), "What the expectation is called."),
        key("metric", Kind::choice(&metrics), Default::Required, "What is measured."),
    ];
    keys.extend(subjects());
    keys.extend(statistics());
    keys.extend([
        key(
            "between",
            Kind::Interval,
            Default::Absent(
                "the whole run for delivered, queue and counts, else from the end of the warm-up to the end of the run",
            ),
            "The part of the run that is measured.",
        )
        .only("metric", &names(|info| info.window != Usual::Never)),
        key(
            "quiet",
            Kind::time(),
            Default::Value("10ms", "our choice: many times what a pause takes to come and go"),
            "How long without a pause ends a phase of pauses.",
        )
        .only("metric", &["pause-phase"]),
        key(
            "within",
            Kind::Number(0.0, 1.0),
            Default::Value("0.1", "our choice: a tenth up or down"),
            "Fraction of its mean over the last quarter of the window within which a rate or a backlog must stay to be \
             settled.",
        )
        .only("metric", &["settling-time", "backlog-settling"]),
        key(
            "within",
            Kind::Number(0.0, 1.0),
            Default::Value("0.1", "our choice: nine tenths are enough"),
            "Fraction of the fair share that may be missing.",
        )
        .only("metric", &["recovery-time"]),
        key("level", Kind::size(0, u64::MAX), Default::Required, "What the queue must come down to.")
            .only("metric", &["drain-time"]),
        key(
            "op",
            Kind::choice(&[
                ("=", "as much, give or take the tolerance"),
                ("<", "less"),
                ("<=", "at most"),
                (">", "more"),
                (">=", "at least"),
            ]),
            Default::Value("=", "our choice: the usual one"),
            "How to compare.",
        ),
        key(
            "value",
            Kind::Any,
            Default::Absent("it is measured and shown, not judged"),
            "What is expected, in the metric's unit; with over, a plain number.",
        ),
        key(
            "tolerance",
            Kind::Number(0.0, 1000.0),
            Default::Value("0.0", "our choice: exactly"),
            "Fraction of value by which the result may differ.",
        )
        .only("op", &["="]),
        super::figure::cells(),
        key("source", Kind::Text, Default::Absent("nothing is said"), "Where the number comes from, for people."),
        super::figure::statement(),
    ]);
    Section { about: "What is measured, and what it should be.", keys }
}

/// What an expectation is about, by metric.
fn subjects() -> [Key; 4] {
    let all = || Default::Value("*", "our choice: all of them");
    let flows = names(|info| matches!(info.subject, Subject::Flows | Subject::AllFlows));
    [
        key("of", Kind::Names, all(), "Flows or workloads, by name.").only("metric", &flows),
        key(
            "of",
            Kind::Names,
            all(),
            "Nodes, by name, or directions of links, such as `sw0->h1`: for queue what waits at the first to go there, \
             for buffer what the second holds that came from there.",
        )
        .only("metric", &names(|info| info.subject == Subject::Places)),
        key(
            "of",
            Kind::Names,
            Default::Required,
            "Directions of links, such as `sw0->h1`: the node that sends, then its neighbour.",
        )
        .only("metric", &names(|info| info.subject == Subject::Links)),
        key(
            "over",
            Kind::Names,
            Default::Absent("the number itself is meant"),
            "Flows or workloads by whose number that of `of` is divided; value is then a plain number.",
        )
        .only("metric", &names(|info| info.subject == Subject::Flows)),
    ]
}

/// How several values become one, by metric.
fn statistics() -> [Key; 7] {
    let each =
        [("mean", "of all that are named"), ("least", "of all that are named"), ("most", "of all that are named")];
    let spread = [
        ("deviation", "standard deviation"),
        ("variation", "standard deviation as a part of the mean, a plain number"),
    ];
    let sampled = [("mean", "over the window"), ("least", "of the samples"), ("most", "of the samples")];
    [
        key(
            "statistic",
            Kind::choice(&[&each[..], &[("sum", "of all that are named")], &spread[..]].concat()),
            Default::Value("mean", "our choice: the usual one"),
            "How several values become one.",
        )
        .only("metric", &names(|info| matches!(info.subject, Subject::Flows | Subject::Links))),
        key(
            "statistic",
            Kind::choice(&[&sampled[..], &spread[..]].concat()),
            Default::Value("most", "our choice: what a buffer must be able to hold"),
            "How several samples become one number.",
        )
        .only("metric", &["queue", "buffer"]),
        key(
            "statistic",
            Kind::choice(&[&sampled[..], &spread[..]].concat()),
            Default::Value("mean", "our choice: the usual one"),
            "How several samples become one number.",
        )
        .only("metric", &["total-rate"]),
        across(&[
            ("most", "the largest of the numbers that they have each"),
            ("mean", "the mean of these"),
            ("least", "the smallest of these"),
            FULLEST,
        ])
        .only("metric", &["queue", "buffer", "drain-time", "swing"]),
        across(&[("most", "that of the one that swings most"), FULLEST]).only("metric", &["swing-frequency"]),
        around(Kind::size(0, u64::MAX)).only("metric", &["queue", "buffer"]),
        around(Kind::rate()).only("metric", &["total-rate"]),
    ]
}

const FULLEST: (&str, &str) =
    ("fullest", "at each sample the fullest of them counts, as if they were one: those that take turns look steady");

/// How several ports or nodes become one number.
fn across(ways: &[(&str, &str)]) -> Key {
    key(
        "across",
        Kind::choice(ways),
        Default::Value("most", "our choice: the worst port"),
        "How several ports, or buffers of nodes, become one number. Each is followed over time by itself, of a port's \
         queues of several classes the fullest.",
    )
}

/// Where a deviation is measured from.
fn around(kind: Kind) -> Key {
    key(
        "around",
        kind,
        Default::Absent("around their mean"),
        "The value around which the samples deviate, such as a set point: the root of the mean square of their distance \
         from it.",
    )
    .only("statistic", &["deviation", "variation"])
}
