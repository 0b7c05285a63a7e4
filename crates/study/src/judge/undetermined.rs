//! Reasons for undetermined verdicts: seeds that differ, runs without a value, or open choices of a paper.

use super::verdict::{Verdict, nearly_all};
use crate::paper::figure::Alternative;

/// Counts of the runs of one reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Votes {
    /// Runs that meet the expectation.
    pub kept: usize,
    /// Runs with a value.
    pub measured: usize,
    /// Runs with a value that is only a lower bound, because the run ended first.
    pub censored: usize,
    /// All runs.
    pub runs: usize,
}

/// Returns the reason for an undetermined verdict, for humans; `None` if the verdict is determined. `own` is the
/// verdict under the default reading; `flips` are the other readings that lead to another verdict. If the runs of the
/// default reading already differ, no choice is named, because the verdict does not depend on it.
#[must_use]
pub fn doubt(own: Verdict, votes: Votes, flips: &[(&Alternative, Verdict)]) -> Option<String> {
    let Votes { kept, measured, censored, runs } = votes;
    if own == Verdict::Undetermined {
        return Some(match () {
            () if measured == 0 => "not measured".into(),
            () if !nearly_all(measured, runs) => format!("only {measured} of {runs} seeds have a value"),
            () if censored * 2 >= measured => format!("in {censored} of {runs} seeds it lasts longer than the window"),
            () => format!("seeds differ: {kept} of {runs}"),
        });
    }
    let mut choices: Vec<&str> = Vec::new();
    for (alternative, _) in flips.iter().filter(|(_, verdict)| *verdict != Verdict::Undetermined) {
        if !choices.contains(&alternative.choice.as_str()) {
            choices.push(&alternative.choice);
        }
    }
    if !choices.is_empty() {
        return Some(format!("depends on {}", choices.join(", ")));
    }
    let open: Vec<String> = flips.iter().map(|(one, _)| format!("{} = {}", one.choice, one.value)).collect();
    (!open.is_empty()).then(|| format!("{}, and undetermined with {}", own.word(), open.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_that_differ_are_not_a_choice() {
        let votes = Votes { kept: 2, measured: 3, censored: 0, runs: 3 };
        let buffer = Alternative { choice: "buffer".into(), value: "300KB".into() };
        let agrees = [(&buffer, Verdict::TrendAgrees)];
        assert_eq!(doubt(Verdict::Undetermined, votes, &agrees).as_deref(), Some("seeds differ: 2 of 3"));
        assert_eq!(doubt(Verdict::Disagrees, votes, &agrees).as_deref(), Some("depends on buffer"));
        let open = doubt(Verdict::Agrees, votes, &[(&buffer, Verdict::Undetermined)]);
        assert_eq!(open.as_deref(), Some("agrees, and undetermined with buffer = 300KB"));
        assert_eq!(doubt(Verdict::Agrees, votes, &[]), None);
    }

    #[test]
    fn runs_without_a_number_are_named() {
        let doubt = |measured, censored| {
            let votes = Votes { kept: 0, measured, censored, runs: 10 };
            doubt(Verdict::Undetermined, votes, &[]).unwrap()
        };
        assert_eq!(doubt(0, 0), "not measured");
        assert_eq!(doubt(8, 0), "only 8 of 10 seeds have a value");
        assert_eq!(doubt(10, 6), "in 6 of 10 seeds it lasts longer than the window");
    }
}
