//! Keys of `[[variants]]`, `[[choices]]`, `[[trends]]` and `[[charts]]`: what a paper does with a scenario.

use crate::key::{Default, Key, Kind, Section, key};

/// How a quantity goes along an axis.
pub(crate) const SHAPES: &[(&str, &str)] = &[
    ("rising", "every value is above the one before it, and the last above the first by more than the tolerance"),
    ("falling", "every value is below the one before it, and the last below the first by more than the tolerance"),
    ("not-falling", "no value is below an earlier one by more than the tolerance"),
    ("not-rising", "no value is above an earlier one by more than the tolerance"),
    ("flat", "the largest and the smallest differ by the tolerance at most"),
    ("above", "every value is above `value`"),
    ("below", "every value is below `value`"),
];

/// The pictures over time, by the names of their files.
const PICTURES: &[(&str, &str)] = &[
    ("throughput", "what flows deliver and links carry, over a sliding window"),
    ("queues", "bytes waiting for outputs"),
    ("buffers", "bytes held that came in by ports"),
    ("occupancy", "bytes that flows hold in input buffers"),
    ("notices", "congestion notices that flows have had so far"),
    ("rates", "the rates flows may send at"),
    ("windows", "the windows of flows"),
    ("pauses", "when ports had to stand still"),
    ("utilisation", "how busy links are, over a sliding window"),
];

/// The key that limits something to some cells of the grid.
pub(super) fn cells() -> Key {
    key(
        "where",
        Kind::Any,
        Default::Absent("in all of them"),
        "The cells it is about: a table of axes, each with some of its values, such as { variant = [\"a\", \"b\"] }.",
    )
}

/// The key that names the statement something is evidence for.
pub(super) fn statement() -> Key {
    key(
        "statement",
        Kind::Text,
        Default::Absent("its source: entries that cite the same words are evidence for the same statement"),
        "The statement of the paper that it is evidence for. Whatever names the same statement, in this figure or in \
         others of the paper, is counted once.",
    )
}

pub(super) fn variants() -> Section {
    Section {
        about: "A named set of changes. A scenario with variants has an axis called `variant`; `tailback run --variant \
                NAME` runs one of them.",
        keys: vec![
            key("name", Kind::Text, Default::Required, "What the variant is called."),
            key(
                "set",
                Kind::Any,
                Default::Required,
                "Paths of keys and the values they take, as overrides have them: { \"run.duration\" = \"1ms\" }. A \
                 table replaces what is there, except at a path of one word: its keys are set one by one.",
            ),
        ],
    }
}

pub(super) fn choices() -> Section {
    Section {
        about: "Something a paper leaves open. `tailback reproduce` judges all with the first value, and again with each \
                of the others, one choice at a time.",
        keys: vec![
            key("name", Kind::Text, Default::Required, "What the choice is called."),
            key(
                "path",
                Kind::Text,
                Default::Absent("options says what is chosen"),
                "The key that is chosen, as an override names it.",
            ),
            key(
                "values",
                Kind::Any,
                Default::Absent("options says what is chosen"),
                "The values it may have; the first is the one we take.",
            ),
            key(
                "options",
                Kind::Tables(Box::new(option())),
                Default::Absent("path and values say what is chosen"),
                "Where one key is not enough: named sets of changes, the first of which we take.",
            ),
            key("why", Kind::Text, Default::Absent("nothing is said"), "Why it is open and why the first is taken."),
            cells(),
        ],
    }
}

fn option() -> Section {
    let mut option = variants();
    option.about = "One way to read it.";
    option.keys[0] = key("name", Kind::Text, Default::Required, "What this way is called.");
    option
}

pub(super) fn trends() -> Section {
    let steps = ["rising", "falling", "not-falling", "not-rising", "flat"];
    Section {
        about: "How a quantity should go along an axis: what a paper's prose says of its figure.",
        keys: vec![
            key("name", Kind::Text, Default::Absent("the quantity's name serves"), "What the trend is called."),
            key("quantity", Kind::Text, Default::Required, "The name of an entry of [[expectations]]."),
            key("shape", Kind::choice(SHAPES), Default::Required, "How it should go."),
            key(
                "along",
                Kind::Text,
                Default::Absent("only above and below can do without"),
                "The axis: \"variant\", or a path of [sweep]. For every combination of the other axes there is a line, and \
                 the trend must hold on all of them.",
            ),
            key("value", Kind::Any, Default::Required, "The bound, in the quantity's unit.")
                .only("shape", &["above", "below"]),
            key(
                "tolerance",
                Kind::Number(0.0, 1000.0),
                Default::Value("0.02", "our choice: about what runs with different seeds differ by"),
                "Fraction of the largest value of a line.",
            )
            .only("shape", &steps),
            cells(),
            key("source", Kind::Text, Default::Absent("nothing is said"), "Where the sentence stands, for people."),
            statement(),
        ],
    }
}

pub(super) fn charts() -> Section {
    let sweeps = ["lines", "bars"];
    Section {
        about: "A picture that `tailback reproduce` draws of a figure. Without any of lines or bars it draws every quantity.",
        keys: vec![
            key("title", Kind::Text, Default::Required, "What stands above it; its files are called so too."),
            key(
                "kind",
                Kind::choice(&[
                    ("lines", "quantities along an axis of numbers, with the 95 % interval over the seeds"),
                    ("bars", "quantities beside each other for every value of an axis"),
                    ("time", "the first seed over time, for every variant"),
                ]),
                Default::Value("lines", "our choice: what most papers draw"),
                "What it is.",
            ),
            key("quantities", Kind::Names, Default::Required, "Names of entries of [[expectations]], of one unit.")
                .only("kind", &sweeps),
            key(
                "along",
                Kind::Text,
                Default::Absent("the first axis of numbers, or the first axis"),
                "The horizontal axis: \"variant\", or a path of [sweep].",
            )
            .only("kind", &sweeps),
            cells().only("kind", &sweeps),
            key("y", Kind::Text, Default::Absent("what it measures"), "What stands at the vertical axis."),
            key("x", Kind::Text, Default::Absent("the path of the axis"), "What stands at the horizontal axis.")
                .only("kind", &sweeps),
            key("legend", Kind::Text, Default::Absent("nothing"), "What the names of the lines or bars are names of.")
                .only("kind", &sweeps),
            key(
                "picture",
                Kind::choice(PICTURES),
                Default::Value("throughput", "our choice: the usual one"),
                "What is drawn over time.",
            )
            .only("kind", &["time"]),
            key(
                "flows",
                Kind::Any,
                Default::Absent("each flow is a line"),
                "Groups of flows, each with its name, such as { local = \"l*\", victim = \"v\" }; a group is one line, \
                 its sum.",
            )
            .only("picture", &["throughput", "rates", "windows", "occupancy", "notices"]),
            key(
                "links",
                Kind::Any,
                Default::Absent("each link is a line"),
                "Groups of links, each with its name, such as { \"to the root\" = \"leaf*->root\" }, from the sending node \
                 to the receiving one; a group is one line, its sum, or its mean for utilisation.",
            )
            .only("picture", &["throughput", "queues", "buffers", "utilisation"]),
            key(
                "window",
                Kind::time(),
                Default::Absent("the probes' throughput_window"),
                "Length of the sliding window.",
            )
            .only("picture", &["throughput", "utilisation"]),
        ],
    }
}
