//! How many statements of a paper agree, each counted once whatever the number of its measurements.

use serde_json::{Value, json};
use study::{Counts, Statement};

/// The statements of a figure or of a paper, counted.
pub struct Count {
    /// Of the paper, then ours: the statements and their measurements.
    parts: [(Counts, Counts); 2],
    short_form: bool,
}

fn counted<'a>(statements: impl Iterator<Item = &'a Statement> + Clone) -> (Counts, Counts) {
    let add = |a: Counts, b: Counts| Counts {
        agree: a.agree + b.agree,
        disagree: a.disagree + b.disagree,
        undetermined: a.undetermined + b.undetermined,
    };
    let measurements = statements.clone().map(|one| one.measurements).fold(Counts::default(), add);
    (Counts::of(statements.map(|one| one.verdict)), measurements)
}

fn words(counts: Counts) -> String {
    format!("{} agree, {} disagree, {} undetermined", counts.agree, counts.disagree, counts.undetermined)
}

/// A row of a table: a name, how many statements agree, disagree and neither, and how many measurements they have.
pub fn row(name: &str, statements: &[Statement]) -> Vec<String> {
    let (counts, measurements) = counted(statements.iter());
    let numbers = [counts.agree, counts.disagree, counts.undetermined, measurements.total()];
    std::iter::once(name.to_owned()).chain(numbers.map(|number| number.to_string())).collect()
}

impl Count {
    pub fn new(statements: &[Statement], short_form: bool) -> Count {
        let part = |own: bool| counted(statements.iter().filter(move |one| one.own == own));
        Count { parts: [part(false), part(true)], short_form }
    }

    /// A line for the paper's statements and one for ours. The short form says that it is one: it counts the verdicts of
    /// one seed, one reading and a part of the time.
    pub fn text(&self) -> String {
        let short = if self.short_form { " in the short form" } else { "" };
        let line = |(name, (counts, measurements)): (&str, (Counts, Counts))| match counts.total() {
            0 => String::new(),
            all if all == measurements.total() => format!("{name}{short}: {}\n", words(counts)),
            _ => format!(
                "{name}{short}: {}; from {} measurements ({})\n",
                words(counts),
                measurements.total(),
                words(measurements)
            ),
        };
        ["statements of the paper", "statements of our own"].into_iter().zip(self.parts).map(line).collect()
    }

    /// The same for programs.
    pub fn json(&self) -> Value {
        let counts = |counts: Counts| json!({ "agree": counts.agree, "disagree": counts.disagree, "undetermined": counts.undetermined });
        let part = |(statements, measurements)| json!({ "statements": counts(statements), "measurements": counts(measurements) });
        json!({ "short_form": self.short_form, "paper": part(self.parts[0]), "ours": part(self.parts[1]) })
    }
}
