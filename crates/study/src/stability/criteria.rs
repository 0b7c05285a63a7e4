//! The verdict of an analysis, combined from all criteria.
//!
//! A loop is called stable only if every computed criterion says so. Where they differ, the most complete criterion
//! decides between "unstable" and "in doubt". For BCN, that is the alternating loops with their delay and the sampling
//! lag, which packets follow.

use super::Analysis;

/// One criterion of stability.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Criterion {
    /// Name of the criterion.
    pub name: String,
    /// Whether it says stable.
    pub stable: bool,
}

/// The verdict of all criteria.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StabilityVerdict {
    /// Every criterion says stable.
    Stable,
    /// The most complete criterion says unstable.
    Unstable,
    /// The most complete criterion says stable, and another says unstable.
    InDoubt,
}

impl StabilityVerdict {
    /// Returns the name of the verdict.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            StabilityVerdict::Stable => "stable",
            StabilityVerdict::Unstable => "unstable",
            StabilityVerdict::InDoubt => "in doubt",
        }
    }
}

/// The criterion that TIMELY fails: without a fixed point there is nothing to settle at.
const UNIQUE: &str = "a unique fixed point";

impl Analysis {
    /// Returns all criteria, from the least to the most complete.
    #[must_use]
    pub fn criteria(&self) -> Vec<Criterion> {
        let mut all: Vec<Criterion> = Vec::new();
        let mut add = |name: String, stable: bool| all.push(Criterion { name, stable });
        if let Some(bcn) = &self.bcn {
            add("theorem 2 without delay".into(), bcn.undelayed.is_stable());
        }
        if self.continuum.is_some() {
            add(UNIQUE.into(), false);
        }
        for of in &self.loops {
            let without = if self.bcn.is_some() { " without the lag of sampling" } else { "" };
            add(format!("the loop \"{}\" alone{without}", of.name), of.margins.stable);
        }
        if let Some(bcn) = &self.bcn {
            for (what, cycle) in [("by their dominant roots", &bcn.estimate), ("as measured", &bcn.measured)] {
                if let Some(cycle) = cycle {
                    add(format!("the loops in turn {what} without the lag of sampling"), cycle.is_stable());
                }
            }
            for (of, margins) in self.loops.iter().zip(&bcn.sampled.margins) {
                add(format!("the loop \"{}\" alone with the lag of sampling", of.name), margins.stable);
            }
            if let Some(cycle) = &bcn.sampled.measured {
                add("the loops in turn with the lag of sampling".into(), cycle.is_stable());
            }
        }
        all
    }

    /// Returns the criterion that decides where criteria differ: the most complete one.
    #[must_use]
    pub fn decisive(&self) -> Criterion {
        if self.continuum.is_some() {
            return Criterion { name: UNIQUE.into(), stable: false };
        }
        let (name, stable) = match &self.bcn {
            Some(bcn) => match &bcn.sampled.measured {
                Some(cycle) => ("the loops in turn with the lag of sampling", cycle.is_stable()),
                // Loops that do not swing in turn are judged alone.
                None => (
                    "each loop alone with the lag of sampling",
                    bcn.sampled.margins.iter().all(|margins| margins.stable),
                ),
            },
            None => ("each loop alone", self.loops_are_stable()),
        };
        Criterion { name: name.into(), stable }
    }

    /// Returns the verdict of all criteria.
    #[must_use]
    pub fn verdict(&self) -> StabilityVerdict {
        if self.criteria().iter().all(|criterion| criterion.stable) {
            return StabilityVerdict::Stable;
        }
        if self.decisive().stable { StabilityVerdict::InDoubt } else { StabilityVerdict::Unstable }
    }
}

#[cfg(test)]
mod tests {
    use super::super::analyse;
    use super::*;
    use scenario::fluid::{FluidPlan, Model};
    use theory::fluid::Bcn;
    use theory::fluid::bcn::Regime;
    use units::Stream;

    /// BCN loops drawn around the paper's, a factor of four either way, with delays from half of what the exact loops stand
    /// to a little more.
    fn random_loops() -> Vec<Bcn> {
        let mut stream = Stream::new(15, 0, "random loops");
        let mut draw = |low: f64, high: f64| low * (high / low).powf(stream.unit_f64());
        (0..15)
            .map(|_| {
                let of = Bcn {
                    sources: draw(5.0, 200.0).round(),
                    increase_gain: draw(1.0, 16.0),
                    decrease_gain: draw(1.0 / 512.0, 1.0 / 32.0),
                    weight: draw(1.0, 8.0),
                    probability: draw(0.0025, 0.04),
                    ..Bcn::of_the_paper()
                };
                let both = [Regime::Increase, Regime::Decrease].map(|regime| of.delayed_loop(regime).expect("a loop"));
                let stands = both[0].critical_delay().min(both[1].critical_delay());
                Bcn { delay: stands * draw(0.5, 1.1), ..of }
            })
            .collect()
    }

    #[test]
    fn no_random_loop_is_called_stable_if_one_of_its_rows_is_not() {
        let (mut verdicts, mut overlooked) = (Vec::new(), 0);
        for of in random_loops() {
            let analysis = analyse(&FluidPlan::new(Model::Bcn(of.clone()))).expect("an analysis");
            let (verdict, bcn) = (analysis.verdict(), analysis.bcn.as_ref().expect("it is BCN"));
            let rows = [Some(bcn.undelayed), bcn.estimate, bcn.measured, bcn.sampled.measured];
            let alone = analysis.loops.iter().map(|of| of.margins).chain(bcn.sampled.margins);
            let any = rows.iter().flatten().any(|cycle| !cycle.is_stable()) || alone.into_iter().any(|of| !of.stable);
            assert_eq!(verdict == StabilityVerdict::Stable, !any, "{of:?}");
            assert_eq!(analysis.prediction().0.is_finite(), verdict == StabilityVerdict::Stable, "{of:?}");
            if let Some(cycle) = &bcn.sampled.measured {
                assert!(cycle.is_stable() || verdict == StabilityVerdict::Unstable, "{of:?}");
                overlooked += usize::from(!cycle.is_stable() && analysis.loops_are_stable());
            }
            verdicts.push(verdict);
        }
        // The draw has both, and loops that only the lag of sampling makes unstable.
        assert!(
            verdicts.contains(&StabilityVerdict::Stable) && verdicts.contains(&StabilityVerdict::Unstable),
            "{verdicts:?}"
        );
        assert!(overlooked >= 2, "{overlooked}");
    }

    #[test]
    fn where_criteria_differ_the_one_that_leaves_out_the_least_decides() {
        let verdict = |of: Bcn| analyse(&FluidPlan::new(Model::Bcn(of))).expect("an analysis").verdict();
        assert_eq!(verdict(Bcn::of_the_paper()), StabilityVerdict::Stable);
        // 220 us are less than the exact loops stand, and more than they stand with the lag of sampling, 211.2 us.
        assert_eq!(verdict(Bcn { delay: 220e-6, ..Bcn::of_the_paper() }), StabilityVerdict::Unstable);
        // At 205 us the increase loop alone is unstable with that lag, and in turn both settle.
        assert_eq!(verdict(Bcn { delay: 205e-6, ..Bcn::of_the_paper() }), StabilityVerdict::InDoubt);
    }
}
