//! Keys of `paper.toml`: what a paper is, and what it says of all its figures together.

use crate::scenario::key::{Default, Key, Kind, Section, key};
use std::sync::OnceLock;

/// The whole of `paper.toml`.
pub(crate) fn paper() -> &'static Section {
    static PAPER: OnceLock<Section> = OnceLock::new();
    PAPER.get_or_init(|| Section {
        about: "`paper.toml` in the folder of a paper: what the paper is, and what it says of all its figures together.",
        keys: keys(),
    })
}

fn keys() -> Vec<Key> {
    let absent = Default::Absent("nothing is said");
    vec![
        key("title", Kind::Text, Default::Required, "Its title."),
        key("authors", Kind::Names, absent, "Who wrote it."),
        key("year", Kind::Count(1900, 2100), absent, "When."),
        key("publisher", Kind::Text, absent, "Where it appeared."),
        key(
            "missing",
            Kind::Tables(Box::new(missing())),
            Default::Absent("nothing is missing"),
            "What is not checked, and why: figures that cannot be run, and statements that no run can decide. A file of \
             that name in the folder makes it a figure like the others.",
        ),
        key(
            "matrices",
            Kind::Tables(Box::new(matrices())),
            Default::Absent("none is printed"),
            "Tables of variants by figures.",
        ),
        key(
            "sentences",
            Kind::Tables(Box::new(sentences())),
            Default::Absent("it says nothing of them together"),
            "What the paper says of several figures together.",
        ),
    ]
}

fn missing() -> Section {
    Section {
        about: "A figure that cannot be run, or a statement that is not checked.",
        keys: vec![
            key(
                "name",
                Kind::Text,
                Default::Required,
                "What the figure is called; of a statement, its place and what it says.",
            ),
            key("why", Kind::Text, Default::Required, "Why not, and what to do about it."),
        ],
    }
}

fn figures() -> Key {
    key(
        "figures",
        Kind::Names,
        Default::Value("*", "our choice: all that measure the quantity"),
        "The figures, by the names of their files. Those that do not measure the quantity are left out.",
    )
}

fn matrices() -> Section {
    Section {
        about: "A table of one quantity: a row for every variant, a column for every figure, the median of the seeds.",
        keys: vec![
            key("title", Kind::Text, Default::Absent("the quantity's name serves"), "What stands above it."),
            key("quantity", Kind::Text, Default::Required, "The name of an entry of [[expectations]] of the figures."),
            figures(),
        ],
    }
}

fn sentences() -> Section {
    Section {
        about: "A sentence about a variant over several figures, and the measure by which it is judged: in each seed a \
                number of every figure, these made one, perhaps held against other variants, and compared. The verdict is \
                undetermined where another reading of what is open leads to another one.",
        keys: vec![
            key("says", Kind::Text, Default::Required, "The sentence."),
            key("measure", Kind::Text, Default::Required, "In words, how it is judged."),
            key("source", Kind::Text, Default::Absent("nothing is said"), "Where the sentence stands."),
            key(
                "statement",
                Kind::Text,
                Default::Absent("the variant and what is said of it"),
                "The statement that it is evidence for. Whatever names the same statement, here or in a figure, is \
                 counted once.",
            ),
            key("of", Kind::Text, Default::Required, "The variant it is about."),
            key("quantity", Kind::Text, Default::Required, "The name of an entry of [[expectations]] of the figures."),
            figures(),
            key(
                "statistic",
                Kind::choice(&[("mean", "of the figures"), ("least", "of the figures"), ("most", "of the figures")]),
                Default::Value("mean", "our choice: the usual one"),
                "How the numbers of several figures become one.",
            ),
            key(
                "as",
                Kind::choice(&[
                    ("number", "itself"),
                    ("ratio", "divided by the mean of the other variants"),
                    ("difference", "less the mean of the other variants"),
                    ("place-from-top", "its place among the other variants and itself, 1 for the largest"),
                    ("place-from-bottom", "the same, 1 for the smallest"),
                ]),
                Default::Value("number", "our choice: the plainest"),
                "What is compared.",
            ),
            key("over", Kind::Names, Default::Required, "The other variants.")
                .only("as", &["ratio", "difference", "place-from-top", "place-from-bottom"]),
            key(
                "op",
                Kind::choice(&[("<", "less"), ("<=", "at most"), (">", "more"), (">=", "at least")]),
                Default::Required,
                "How to compare.",
            ),
            key(
                "value",
                Kind::Number(-1e18, 1e18),
                Default::Required,
                "With what: a plain number, in bits per second, bytes or seconds where the quantity has a unit.",
            ),
        ],
    }
}
