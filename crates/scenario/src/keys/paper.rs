//! Keys of `paper.toml`: what a paper is, and what it says of all its figures together.

use crate::key::{Default, Key, Kind, Section, key};
use std::sync::OnceLock;

/// The whole of `paper.toml`.
#[must_use]
pub fn paper() -> &'static Section {
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

/// What is compared of one quantity, of several, with other variants, and with another value of a choice.
const ONE_QUANTITY: [&str; 6] = ["number", "ratio", "difference", "place-from-top", "place-from-bottom", "count"];
const CRITERIA: [&str; 3] = ["place", "better-under", "order-kept"];
const UNDER: [&str; 2] = ["better-under", "order-kept"];
const WITH_OTHERS: [&str; 8] =
    ["ratio", "difference", "place-from-top", "place-from-bottom", "count", "place", "better-under", "order-kept"];

fn criteria() -> Section {
    Section {
        about: "One of several quantities by which variants are put in order.",
        keys: vec![
            key("quantity", Kind::Text, Default::Required, "The name of an entry of [[expectations]] of the figures."),
            key(
                "best",
                Kind::choice(&[("largest", "the larger the better"), ("smallest", "the smaller the better")]),
                Default::Required,
                "Which of its numbers are good.",
            ),
        ],
    }
}

fn readings() -> Section {
    Section {
        about: "Another quantity by which a sentence may be read.",
        keys: vec![
            key("choice", Kind::Text, Default::Required, "What is open, as a choice is called."),
            key("value", Kind::Text, Default::Required, "How this quantity reads it."),
            key(
                "quantity",
                Kind::Text,
                Default::Required,
                "The name of an entry of [[expectations]]; figures without it keep to the sentence's own quantity.",
            ),
        ],
    }
}

fn sentences() -> Section {
    Section {
        about: "A sentence about a variant over several figures, and the measure by which it is judged: in each seed a \
                number of every figure, these made one, perhaps compared with other variants, and judged. The verdict is \
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
            key(
                "of",
                Kind::Text,
                Default::Required,
                "The variant it is about; where variants are counted, in words what it is about.",
            ),
            key(
                "as",
                Kind::choice(&[
                    ("number", "itself"),
                    ("ratio", "divided by the mean of the other variants"),
                    ("difference", "less the mean of the other variants"),
                    ("place-from-top", "its place among the other variants and itself, 1 for the largest"),
                    ("place-from-bottom", "the same, 1 for the smallest"),
                    ("count", "how many of the other variants have a number of at least `threshold`"),
                    (
                        "place",
                        "its place among the other variants and itself, 1 for the best: each criterion puts the variants \
                         of every figure in order; places are averaged over the figures, then over the criteria",
                    ),
                    (
                        "better-under",
                        "how many of the other variants are better with another value of a choice: in more than half of \
                         the figures by each criterion, averaged over the criteria, equal ones counting half",
                    ),
                    (
                        "order-kept",
                        "the part of all pairs of the other variants, in all figures by all criteria, that another value \
                         of a choice does not put in the reverse order",
                    ),
                ]),
                Default::Value("number", "our choice: the plainest"),
                "What is compared.",
            ),
            key("quantity", Kind::Text, Default::Required, "The name of an entry of [[expectations]] of the figures.")
                .only("as", &ONE_QUANTITY),
            key(
                "readings",
                Kind::Tables(Box::new(readings())),
                Default::Absent("nothing else may be meant"),
                "Other quantities by which the sentence may be read. It is judged again by each, as with the values of a \
                 choice, and undetermined where that leads to another verdict.",
            )
            .only("as", &ONE_QUANTITY),
            key(
                "criteria",
                Kind::Tables(Box::new(criteria())),
                Default::Required,
                "Several quantities that count the same. Two numbers that differ by no more than a hundredth of the larger \
                 one are equal.",
            )
            .only("as", &CRITERIA),
            figures(),
            key(
                "over_figures",
                Kind::Names,
                Default::Absent("the number itself counts"),
                "Figures whose number, by the same statistic, the number is divided by.",
            )
            .only("as", &["number", "count"]),
            key(
                "statistic",
                Kind::choice(&[
                    ("mean", "of the figures"),
                    ("median", "of the figures: times, of which one figure's may be a hundred times another's"),
                    ("least", "of the figures"),
                    ("most", "of the figures"),
                ]),
                Default::Value("mean", "our choice: the usual one"),
                "How the numbers of several figures become one.",
            )
            .only("as", &ONE_QUANTITY),
            key("over", Kind::Names, Default::Required, "The other variants.").only("as", &WITH_OTHERS),
            key(
                "threshold",
                Kind::Number(-1e18, 1e18),
                Default::Required,
                "The least number that counts, in bits per second, bytes or seconds where the quantity has a unit.",
            )
            .only("as", &["count"]),
            key("choice", Kind::Text, Default::Required, "The choice whose values are compared.").only("as", &UNDER),
            key("option", Kind::Text, Default::Required, "The value of it that is compared with the one we take.")
                .only("as", &UNDER),
            key(
                "op",
                Kind::choice(&[
                    ("<", "less"),
                    ("<=", "at most"),
                    (">", "more"),
                    (">=", "at least"),
                    ("between", "at least `value` and at most `most`"),
                ]),
                Default::Required,
                "How to compare.",
            ),
            key(
                "value",
                Kind::Number(-1e18, 1e18),
                Default::Required,
                "With what: a plain number, in bits per second, bytes or seconds where the quantity has a unit.",
            ),
            key("most", Kind::Number(-1e18, 1e18), Default::Required, "The upper bound, given as `value` is.")
                .only("op", &["between"]),
        ],
    }
}
