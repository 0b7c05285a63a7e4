//! Keys of `paper.toml`: what a paper is, and what it says of all its figures together.

use crate::key::{Default, Key, Kind, Section, key};
use std::sync::OnceLock;

/// The whole of `paper.toml`.
#[must_use]
pub fn paper() -> &'static Section {
    static PAPER: OnceLock<Section> = OnceLock::new();
    PAPER.get_or_init(|| Section {
        about: "`paper.toml` in the folder of a paper: bibliographic data, and statements about several figures \
             together.",
        keys: keys(),
    })
}

fn keys() -> Vec<Key> {
    let absent = Default::Absent("not given");
    vec![
        key("title", Kind::Text, Default::Required, "Title."),
        key("authors", Kind::Names, absent, "Authors."),
        key("year", Kind::Count(1900, 2100), absent, "Year of publication."),
        key("publisher", Kind::Text, absent, "Journal, conference or publisher."),
        key(
            "missing",
            Kind::Tables(Box::new(missing())),
            Default::Absent("nothing is missing"),
            "Figures that cannot be run and statements that no run can decide, with the reason. If the folder holds \
             a file of that name, it is a figure like the others.",
        ),
        key(
            "matrices",
            Kind::Tables(Box::new(matrices())),
            Default::Absent("no tables"),
            "Tables of variants by figures.",
        ),
        key(
            "sentences",
            Kind::Tables(Box::new(sentences())),
            Default::Absent("no such statements"),
            "Statements of the paper about several figures together.",
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
                "Name of the figure; for a statement, its place in the paper and its content.",
            ),
            key("why", Kind::Text, Default::Required, "Reason, and a remedy."),
        ],
    }
}

fn figures() -> Key {
    key(
        "figures",
        Kind::Names,
        Default::Value("*", "our choice: all figures that measure the quantity"),
        "Figures, by file name. Figures that do not measure the quantity are skipped.",
    )
}

fn matrices() -> Section {
    Section {
        about: "A table of one quantity: one row per variant, one column per figure; each cell is the median over \
             the seeds.",
        keys: vec![
            key("title", Kind::Text, Default::Absent("the name of the quantity"), "Title of the table."),
            key("quantity", Kind::Text, Default::Required, "Name of an entry of [[expectations]] in the figures."),
            figures(),
        ],
    }
}

/// What is compared of one quantity, of several, with other variants, and with another value of a choice.
const ONE_QUANTITY: [&str; 6] = ["number", "ratio", "difference", "rank-from-top", "rank-from-bottom", "count"];
const CRITERIA: [&str; 3] = ["rank", "better-under", "order-kept"];
const UNDER: [&str; 2] = ["better-under", "order-kept"];
const WITH_OTHERS: [&str; 8] =
    ["ratio", "difference", "rank-from-top", "rank-from-bottom", "count", "rank", "better-under", "order-kept"];

fn criteria() -> Section {
    Section {
        about: "A quantity by which variants are ranked.",
        keys: vec![
            key("quantity", Kind::Text, Default::Required, "Name of an entry of [[expectations]] in the figures."),
            key(
                "best",
                Kind::choice(&[("largest", "larger is better"), ("smallest", "smaller is better")]),
                Default::Required,
                "Whether large or small values are good.",
            ),
        ],
    }
}

fn readings() -> Section {
    Section {
        about: "Another quantity that the sentence may refer to.",
        keys: vec![
            key("choice", Kind::Text, Default::Required, "Name of the ambiguity, like the name of a choice."),
            key("value", Kind::Text, Default::Required, "Name of this reading."),
            key(
                "quantity",
                Kind::Text,
                Default::Required,
                "Name of an entry of [[expectations]]. Figures without it use the sentence's own quantity.",
            ),
        ],
    }
}

fn sentences() -> Section {
    Section {
        about: "A statement about one variant over several figures, and how it is judged: for each seed, one number \
             per figure, combined into one, optionally compared with other variants, and checked against a bound. \
             The verdict is *undetermined* if another reading, or another value of a choice, changes it.",
        keys: vec![
            key("says", Kind::Text, Default::Required, "The sentence, quoted."),
            key("measure", Kind::Text, Default::Required, "In words: how the sentence is judged."),
            key("source", Kind::Text, Default::Absent("no source"), "The place in the paper."),
            key(
                "statement",
                Kind::Text,
                Default::Absent("the variant and the sentence"),
                "The statement for which this is evidence. Entries with the same statement, here or in a figure, \
                 count once.",
            ),
            key(
                "of",
                Kind::Text,
                Default::Required,
                "The variant that the sentence describes; with count, the subject in words.",
            ),
            key(
                "as",
                Kind::choice(&[
                    ("number", "the number itself"),
                    ("ratio", "the number divided by the mean of the other variants"),
                    ("difference", "the number minus the mean of the other variants"),
                    ("rank-from-top", "rank of the variant among the others and itself, 1 for the largest"),
                    ("rank-from-bottom", "rank of the variant among the others and itself, 1 for the smallest"),
                    ("count", "how many of the other variants reach at least `threshold`"),
                    (
                        "rank",
                        "mean rank among the other variants and itself, 1 for the best: each criterion ranks the \
                         variants in every figure; ranks are averaged over the figures, then over the criteria",
                    ),
                    (
                        "better-under",
                        "how many of the other variants are better with another value of a choice: in more than half \
                         of the figures, by each criterion, averaged over the criteria; ties count half",
                    ),
                    (
                        "order-kept",
                        "fraction of all pairs of the other variants, over all figures and criteria, whose order \
                         another value of a choice does not reverse",
                    ),
                ]),
                Default::Value("number", "our choice: the simplest"),
                "The number to judge.",
            ),
            key("quantity", Kind::Text, Default::Required, "Name of an entry of [[expectations]] in the figures.")
                .only("as", &ONE_QUANTITY),
            key(
                "readings",
                Kind::Tables(Box::new(readings())),
                Default::Absent("the sentence is unambiguous"),
                "Other quantities that the sentence may refer to. The sentence is judged with each; if the verdict \
                 changes, it is *undetermined*.",
            )
            .only("as", &ONE_QUANTITY),
            key(
                "criteria",
                Kind::Tables(Box::new(criteria())),
                Default::Required,
                "Quantities that count equally. Two values are equal if they differ by at most 1 % of the larger \
                 one.",
            )
            .only("as", &CRITERIA),
            figures(),
            key(
                "over_figures",
                Kind::Names,
                Default::Absent("the number is not divided"),
                "Figures whose number, combined by the same statistic, divides the number.",
            )
            .only("as", &["number", "count"]),
            key(
                "statistic",
                Kind::choice(&[
                    ("mean", "of the figures"),
                    ("median", "of the figures; for times that differ a hundredfold between figures"),
                    ("least", "of the figures"),
                    ("most", "of the figures"),
                ]),
                Default::Value("mean", "our choice: the usual one"),
                "How to combine the numbers of several figures.",
            )
            .only("as", &ONE_QUANTITY),
            key("over", Kind::Names, Default::Required, "The other variants.").only("as", &WITH_OTHERS),
            key(
                "threshold",
                Kind::Number(-1e18, 1e18),
                Default::Required,
                "Smallest value that counts, in bits per second, bytes or seconds if the quantity has a unit.",
            )
            .only("as", &["count"]),
            key("choice", Kind::Text, Default::Required, "The choice whose values are compared.").only("as", &UNDER),
            key("option", Kind::Text, Default::Required, "The value that is compared with ours.").only("as", &UNDER),
            key(
                "op",
                Kind::choice(&[
                    ("<", "less than"),
                    ("<=", "at most"),
                    (">", "more than"),
                    (">=", "at least"),
                    ("between", "at least `value` and at most `most`"),
                ]),
                Default::Required,
                "Comparison with value.",
            ),
            key(
                "value",
                Kind::Number(-1e18, 1e18),
                Default::Required,
                "The bound: a plain number, in bits per second, bytes or seconds if the quantity has a unit.",
            ),
            key("most", Kind::Number(-1e18, 1e18), Default::Required, "The upper bound, in the same unit as `value`.")
                .only("op", &["between"]),
        ],
    }
}
