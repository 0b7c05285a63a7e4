//! Counting of the statements of a paper, each once regardless of the number of its measurements.

use super::statement::{Counts, Statement};
use results::document::{self, Count, CountPart};

fn record(counts: Counts) -> document::Counts {
    let Counts { agree, disagree, undetermined } = counts;
    document::Counts { agree, disagree, undetermined }
}

fn part<'a>(statements: impl Iterator<Item = &'a Statement> + Clone) -> CountPart {
    let add = |a: Counts, b: Counts| Counts {
        agree: a.agree + b.agree,
        disagree: a.disagree + b.disagree,
        undetermined: a.undetermined + b.undetermined,
    };
    let measurements = statements.clone().map(|one| one.measurements).fold(Counts::default(), add);
    CountPart { statements: record(Counts::of(statements.map(|one| one.verdict))), measurements: record(measurements) }
}

/// Counts the statements of the paper and our own.
#[must_use]
pub fn count_statements(statements: &[Statement], short_form: bool) -> Count {
    let of = |own: bool| part(statements.iter().filter(move |one| one.own == own));
    Count { short_form, paper: of(false), ours: of(true) }
}
