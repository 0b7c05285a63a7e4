//! Statements of a paper, each counted once.
//!
//! A sentence of a paper is often measured several times: in several cells of a figure, by several measures, or in
//! several figures. Each measurement has its own verdict, but all are evidence for one statement, and only statements
//! are counted. A statement agrees if all its measurements agree, disagrees if all disagree, and is undetermined
//! otherwise: it then holds partially, or depends on an open choice.

use super::verdict::Verdict;

/// A measurement as evidence: a number in one cell, a trend, or a sentence about several figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The statement.
    pub statement: String,
    /// Whether the statement is our own, not the paper's.
    pub own: bool,
    /// The verdict on this measurement.
    pub verdict: Verdict,
}

impl Evidence {
    /// Creates evidence from a figure. A statement without a name is identified by its source or, without a source, by
    /// the figure and the name of the measured quantity. A statement is our own if its figure is not in the paper, or
    /// if its source is ours or missing.
    #[must_use]
    pub fn new(figure: &str, name: &str, source: Option<&str>, statement: Option<&str>, verdict: Verdict) -> Evidence {
        let cites_us = |source: &str| {
            matches!(source.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default(), "our" | "ours" | "")
        };
        Evidence {
            statement: statement.or(source).map_or_else(|| format!("{figure}: {name}"), str::to_owned),
            own: figure.starts_with("beyond") || source.is_none_or(cites_us),
            verdict,
        }
    }
}

/// Counts of verdicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Numbers and trends that agree.
    pub agree: usize,
    /// Numbers and trends that disagree.
    pub disagree: usize,
    /// All others.
    pub undetermined: usize,
}

impl Counts {
    /// Counts verdicts.
    #[must_use]
    pub fn of(verdicts: impl IntoIterator<Item = Verdict>) -> Counts {
        let mut counts = Counts::default();
        for verdict in verdicts {
            match verdict {
                Verdict::Agrees | Verdict::TrendAgrees => counts.agree += 1,
                Verdict::Disagrees => counts.disagree += 1,
                Verdict::Undetermined | Verdict::Measured => counts.undetermined += 1,
            }
        }
        counts
    }

    /// Returns the total.
    #[must_use]
    pub fn total(self) -> usize {
        self.agree + self.disagree + self.undetermined
    }

    /// Returns the verdict on the statement that all of them are evidence for.
    #[must_use]
    pub fn together(self) -> Verdict {
        match self.total() {
            0 => Verdict::Undetermined,
            all if self.agree == all => Verdict::Agrees,
            all if self.disagree == all => Verdict::Disagrees,
            _ => Verdict::Undetermined,
        }
    }
}

/// A statement and its verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Name of the statement.
    pub statement: String,
    /// Whether the statement is our own, not the paper's.
    pub own: bool,
    /// Counts of its measurements.
    pub measurements: Counts,
    /// The verdict.
    pub verdict: Verdict,
}

/// Groups measurements by statement, in the order in which the statements are first measured. Statements of the paper
/// and our own are kept apart, even if their texts are equal.
#[must_use]
pub fn statements<'a>(evidence: impl IntoIterator<Item = &'a Evidence>) -> Vec<Statement> {
    let mut all: Vec<(&Evidence, Vec<Verdict>)> = Vec::new();
    for one in evidence {
        match all.iter_mut().find(|(known, _)| known.own == one.own && known.statement == one.statement) {
            Some((_, verdicts)) => verdicts.push(one.verdict),
            None => all.push((one, vec![one.verdict])),
        }
    }
    let statement = |(one, verdicts): (&Evidence, Vec<Verdict>)| {
        let measurements = Counts::of(verdicts);
        Statement { statement: one.statement.clone(), own: one.own, measurements, verdict: measurements.together() }
    };
    all.into_iter().map(statement).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(figure: &str, statement: &str, verdict: Verdict) -> Evidence {
        Evidence::new(figure, "f1", Some(statement), None, verdict)
    }

    #[test]
    fn a_fact_that_is_measured_often_is_counted_once() {
        let one = says("fig3", "section 2: 2.5 Gb/s", Verdict::Agrees);
        let mut all = vec![one.clone(); 26];
        all.push(says("fig4", "section 2: 2.5 Gb/s", Verdict::TrendAgrees));
        all.push(says("fig4", "section 3: no drops", Verdict::Disagrees));
        let statements = statements(&all);
        assert_eq!(statements.len(), 2);
        assert_eq!((statements[0].verdict, statements[0].measurements.agree), (Verdict::Agrees, 27));
        assert_eq!(Counts::of(statements.iter().map(|s| s.verdict)), Counts { agree: 1, disagree: 1, undetermined: 0 });
    }

    #[test]
    fn a_statement_that_holds_in_part_is_undetermined() {
        let together = |verdicts: &[Verdict]| Counts::of(verdicts.iter().copied()).together();
        assert_eq!(together(&[Verdict::Agrees, Verdict::TrendAgrees]), Verdict::Agrees);
        assert_eq!(together(&[Verdict::Disagrees; 12]), Verdict::Disagrees);
        assert_eq!(together(&[Verdict::Agrees, Verdict::Disagrees]), Verdict::Undetermined);
        assert_eq!(together(&[Verdict::Disagrees, Verdict::Undetermined]), Verdict::Undetermined);
        assert_eq!(together(&[]), Verdict::Undetermined);
    }

    #[test]
    fn statements_are_known_by_name_or_source_and_ours_stay_apart() {
        let known = |figure, source, statement| {
            let one = Evidence::new(figure, "f1", source, statement, Verdict::Agrees);
            (one.statement, one.own)
        };
        assert_eq!(known("fig1", Some("section 2: a tenth is our measure"), Some("stable")), ("stable".into(), false));
        assert_eq!(known("fig1", Some("section 2"), None), ("section 2".into(), false));
        assert_eq!(known("fig1", Some("ours: headroom"), None), ("ours: headroom".into(), true));
        assert_eq!(known("fig1", None, None), ("fig1: f1".into(), true));
        assert_eq!(known("beyond-speed", Some("section 2"), None), ("section 2".into(), true));
        let all = [says("fig1", "section 2", Verdict::Agrees), says("beyond-speed", "section 2", Verdict::Disagrees)];
        assert_eq!(statements(&all).len(), 2);
    }
}
