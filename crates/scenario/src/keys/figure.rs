//! Keys of `[[variants]]`, `[[choices]]`, `[[trends]]` and `[[charts]]`: what a paper does with a scenario.

use crate::key::{Default, Key, Kind, Section, key};

/// How a quantity goes along an axis.
pub(crate) const SHAPES: &[(&str, &str)] = &[
    ("rising", "every value exceeds the one before it, and the last exceeds the first by more than the tolerance"),
    ("falling", "every value is below the one before it, and the last is below the first by more than the tolerance"),
    ("not-falling", "no value is below an earlier one by more than the tolerance"),
    ("not-rising", "no value exceeds an earlier one by more than the tolerance"),
    ("flat", "the largest and the smallest value differ by at most the tolerance"),
    ("above", "every value is above `value`"),
    ("below", "every value is below `value`"),
];

/// The pictures over time, by the names of their files.
const PICTURES: &[(&str, &str)] = &[
    ("throughput", "throughput of flows and links, over a sliding window"),
    ("queues", "queued bytes per output"),
    ("buffers", "bytes in input buffers, per port"),
    ("occupancy", "bytes in input buffers, per flow"),
    ("notices", "congestion notices per flow, cumulated"),
    ("rates", "allowed rates of flows"),
    ("windows", "windows of flows"),
    ("pauses", "pauses of ports"),
    ("utilisation", "utilisation of links, over a sliding window"),
];

/// The key that limits something to some cells of the grid.
pub(super) fn cells() -> Key {
    key(
        "where",
        Kind::Any,
        Default::Absent("all cells"),
        "Cells of the grid to which the entry applies: a table of axes, each with some of its values, such as { \
         variant = [\"a\", \"b\"] }.",
    )
}

/// The key that names the statement something is evidence for.
pub(super) fn statement() -> Key {
    key(
        "statement",
        Kind::Text,
        Default::Absent("the entry's source: entries that cite the same words count as the same statement"),
        "The statement of the paper for which the entry is evidence. Entries with the same statement, in this figure \
         or in others of the paper, count once.",
    )
}

pub(super) fn variants() -> Section {
    Section {
        about: "A named set of overrides. Variants form an axis of the grid named `variant`; `tailback run --variant \
             NAME` runs one of them.",
        keys: vec![
            key("name", Kind::Text, Default::Required, "Name of the variant."),
            key(
                "set",
                Kind::Any,
                Default::Required,
                "Key paths with their values, as in overrides: { \"run.duration\" = \"1ms\" }. A table replaces the \
                 existing one, except at a path of one word, where its keys are set one by one.",
            ),
        ],
    }
}

pub(super) fn choices() -> Section {
    Section {
        about: "A parameter that a paper does not state. `tailback reproduce` reaches its verdicts with the first \
             value, then repeats them with each other value, one choice at a time.",
        keys: vec![
            key("name", Kind::Text, Default::Required, "Name of the choice."),
            key(
                "path",
                Kind::Text,
                Default::Absent("options lists the alternatives"),
                "Path of the key, as in overrides.",
            ),
            key(
                "values",
                Kind::Any,
                Default::Absent("options lists the alternatives"),
                "Possible values. The first one is ours.",
            ),
            key(
                "options",
                Kind::Tables(Box::new(option())),
                Default::Absent("path and values list the alternatives"),
                "Alternatives that set more than one key: named sets of overrides. The first one is ours.",
            ),
            key(
                "why",
                Kind::Text,
                Default::Absent("no explanation"),
                "Free text: why the parameter is open, and \
                 why we take the first value.",
            ),
            cells(),
        ],
    }
}

fn option() -> Section {
    let mut option = variants();
    option.about = "One alternative of a choice.";
    option.keys[0] = key("name", Kind::Text, Default::Required, "Name of the alternative.");
    option
}

pub(super) fn trends() -> Section {
    let steps = ["rising", "falling", "not-falling", "not-rising", "flat"];
    Section {
        about: "How a quantity should change along an axis, as the text of a paper describes its figure.",
        keys: vec![
            key("name", Kind::Text, Default::Absent("the name of the quantity"), "Name of the trend."),
            key("quantity", Kind::Text, Default::Required, "Name of an entry of [[expectations]]."),
            key("shape", Kind::choice(SHAPES), Default::Required, "Shape of the curve."),
            key(
                "along",
                Kind::Text,
                Default::Absent("required, except with above and below"),
                "The axis: \"variant\", or a path of [sweep]. Each combination of the other axes gives one curve; \
                 the trend must hold on every curve.",
            ),
            key("value", Kind::Any, Default::Required, "The bound, in the unit of the quantity.")
                .only("shape", &["above", "below"]),
            key(
                "tolerance",
                Kind::Number(0.0, 1000.0),
                Default::Value("0.02", "our choice: about the difference between seeds"),
                "Tolerance as a fraction of the largest value of a curve.",
            )
            .only("shape", &steps),
            cells(),
            key("source", Kind::Text, Default::Absent("no source"), "Free text: the place in the paper."),
            statement(),
        ],
    }
}

pub(super) fn charts() -> Section {
    let sweeps = ["lines", "bars"];
    Section {
        about: "A chart that `tailback reproduce` draws of a figure. If there is no chart of kind lines or bars, \
             every quantity gets one.",
        keys: vec![
            key("title", Kind::Text, Default::Required, "Title of the chart and name of its files."),
            key(
                "kind",
                Kind::choice(&[
                    ("lines", "quantities along a numeric axis, with the 95 % confidence interval over the seeds"),
                    ("bars", "quantities side by side for every value of an axis"),
                    ("time", "one run over time for every variant, with the first seed"),
                ]),
                Default::Value("lines", "our choice: the usual kind"),
                "Kind of chart.",
            ),
            key(
                "quantities",
                Kind::Names,
                Default::Required,
                "Names of entries of [[expectations]] with the same \
                 unit.",
            )
            .only("kind", &sweeps),
            key(
                "along",
                Kind::Text,
                Default::Absent("the first numeric axis, or the first axis"),
                "The horizontal axis: \"variant\", or a path of [sweep].",
            )
            .only("kind", &sweeps),
            cells().only("kind", &sweeps),
            key("y", Kind::Text, Default::Absent("the quantity"), "Label of the vertical axis."),
            key("x", Kind::Text, Default::Absent("the path of the axis"), "Label of the horizontal axis.")
                .only("kind", &sweeps),
            key("legend", Kind::Text, Default::Absent("nothing"), "Title of the legend.").only("kind", &sweeps),
            key(
                "picture",
                Kind::choice(PICTURES),
                Default::Value("throughput", "our choice: the usual one"),
                "What to plot over time.",
            )
            .only("kind", &["time"]),
            key(
                "flows",
                Kind::Any,
                Default::Absent("one line per flow"),
                "Groups of flows by name, such as { local = \"l*\", victim = \"v\" }. A group is one line, the sum \
                 of its flows.",
            )
            .only("picture", &["throughput", "rates", "windows", "occupancy", "notices"]),
            key(
                "links",
                Kind::Any,
                Default::Absent("one line per link"),
                "Groups of links by name, such as { \"to the root\" = \"leaf*->root\" }, from sending to receiving \
                 node. A group is one line: the sum of its links, for utilisation their mean.",
            )
            .only("picture", &["throughput", "queues", "buffers", "utilisation"]),
            key(
                "window",
                Kind::time(),
                Default::Absent("the throughput_window of [probes]"),
                "Length of the sliding window.",
            )
            .only("picture", &["throughput", "utilisation"]),
        ],
    }
}
