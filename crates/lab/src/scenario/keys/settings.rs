//! Keys of `[[faults]]`, `[probes]`, `[run]` and `[[expectations]]`.

use crate::scenario::key::{Default, Kind, Section, key};

/// What can be expected: name, what it is measured in, and its meaning.
pub(crate) const METRICS: &[(&str, &str)] = &[
    (
        "throughput",
        "bytes delivered per second of a flow between the end of the warm-up and the end of the run, as a rate",
    ),
    ("raw-throughput", "the same with preamble and gap counted: what the flow takes of its link, as a rate"),
    ("delivered", "bytes delivered of a flow in the whole run, as a size"),
    ("completion-time", "time from a finite flow's start to its last byte"),
    ("fairness", "Jain's index of the throughputs, a number up to 1"),
    ("dropped-frames", "data frames dropped for want of room or route, a count of the run"),
    ("lost-frames", "data frames damaged or on a cable that failed, a count of the run"),
    ("pause-frames", "PAUSE and PFC frames sent, a count of the run"),
    ("queue", "largest bytes waiting for an output of the nodes named, as a size"),
    ("outcome", "how the run ended: finished, deadlock, loss, limit or interrupted"),
];

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
                ]),
                Default::Value(
                    "flows, links, queues, rates, pauses, drops",
                    "our choice: all of it, a first run should miss nothing",
                ),
                "The tables to write.",
            ),
            key(
                "sample_every",
                Kind::time(),
                Default::Computed("a thousandth of the duration", "our choice: as many points as a plot has pixels"),
                "Simulated time between two samples of queues and rates.",
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
                "For `tailback reproduce --quick`: the duration of a short form.",
            ),
            key(
                "checkpoint",
                Kind::time(),
                Default::Value("100us", "our choice: rare enough to cost nothing"),
                "Simulated time between two looks at the whole network for deadlock, loss and limits.",
            ),
            key(
                "max_events",
                Kind::Count(1, i64::MAX as u64),
                Default::Absent("no limit"),
                "Ends the run at the next checkpoint after so many events.",
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
    Section {
        about: "What a result should be.",
        keys: vec![
            key("name", Kind::Text, Default::Absent("the metric's name serves"), "What the expectation is called."),
            key("metric", Kind::choice(METRICS), Default::Required, "What is measured."),
            key(
                "of",
                Kind::Names,
                Default::Value("*", "our choice: all of them"),
                "Flows or workloads, by name; for queue, nodes.",
            )
            .only("metric", &["throughput", "raw-throughput", "delivered", "completion-time", "fairness", "queue"]),
            key(
                "statistic",
                Kind::choice(&[
                    ("mean", "of all that are named"),
                    ("least", "of all that are named"),
                    ("most", "of all that are named"),
                    ("sum", "of all that are named"),
                ]),
                Default::Value("mean", "our choice: the usual one"),
                "How several values become one.",
            )
            .only("metric", &["throughput", "raw-throughput", "delivered", "completion-time"]),
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
                Default::Absent("the quantity is measured and not judged"),
                "What is expected, in the metric's unit.",
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
        ],
    }
}
