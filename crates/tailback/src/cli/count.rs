//! How many statements of a paper agree, in words.

use results::document::{Count, CountPart, Counts};

fn total(counts: Counts) -> usize {
    counts.agree + counts.disagree + counts.undetermined
}

fn words(counts: Counts) -> String {
    format!("{} agree, {} disagree, {} undetermined", counts.agree, counts.disagree, counts.undetermined)
}

/// A row of a table: a name, how many statements agree, disagree and neither, and how many measurements they have.
pub fn row(name: &str, count: &Count) -> Vec<String> {
    let sum = |pick: fn(Counts) -> usize| pick(count.paper.statements) + pick(count.ours.statements);
    let measurements = total(count.paper.measurements) + total(count.ours.measurements);
    let numbers = [sum(|it| it.agree), sum(|it| it.disagree), sum(|it| it.undetermined), measurements];
    std::iter::once(name.to_owned()).chain(numbers.map(|number| number.to_string())).collect()
}

/// A line for the paper's statements and one for ours. The short form says that it is one: it counts the verdicts of one
/// seed, one reading and a part of the time.
pub fn text(count: &Count) -> String {
    let short = if count.short_form { " in the short form" } else { "" };
    let line = |(name, CountPart { statements, measurements }): (&str, CountPart)| match total(statements) {
        0 => String::new(),
        all if all == total(measurements) => format!("{name}{short}: {}\n", words(statements)),
        _ => format!(
            "{name}{short}: {}; from {} measurements ({})\n",
            words(statements),
            total(measurements),
            words(measurements)
        ),
    };
    ["statements of the paper", "statements of our own"].into_iter().zip([count.paper, count.ours]).map(line).collect()
}
