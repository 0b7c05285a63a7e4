//! What becomes of unequal rates: sources in two halves, of which one starts faster than the other.

use scenario::fluid::Model;
use theory::fluid::{Course, DcqcnHalves, Solver};

/// Rates of the two halves over the fair share, at the start and later.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// At the start.
    pub start: [f64; 2],
    /// At the end.
    pub end: [f64; 2],
    /// The time between, in seconds.
    pub after: f64,
}

/// Rates of the faster and the slower half over the fair share: 7 and 3 Gb/s of 10, as in the paper's figures.
const START: [f64; 2] = [1.4, 0.6];
const AFTER: f64 = 0.1;
/// Halves whose rates differ by less than this part have met.
const EQUAL: f64 = 0.1;

impl Shares {
    /// Integrates a model from unequal rates; `None` for models of equal sources only.
    pub(super) fn of(model: &Model) -> Option<Shares> {
        let (_, share) = model.equilibrium().ok()?;
        let [fast, slow] = START.map(|part| part * share);
        let end = match model {
            Model::Dcqcn(of) => {
                let halves = DcqcnHalves(of.clone());
                let start = [of.kmin, fast, fast, 1.0, slow, slow, 1.0];
                let mut solver = Solver::new(&halves, |_| start, 5e-6);
                solver.run(AFTER, usize::MAX, |_, _| {});
                let [_, a, _, _, b, ..] = solver.state();
                [a, b]
            }
            Model::Timely(of) => {
                // Steps are shorter than the shortest round trip.
                let mut course = Course::new(of, [0.0, fast, 0.0, slow, 0.0], (0.5 * of.delay).clamp(5e-7, 2e-6));
                course.run(AFTER, usize::MAX, |_, _| {});
                let [_, a, _, b, _] = course.state();
                [a, b]
            }
            Model::Bcn(_) | Model::Qcn(_) => return None,
        };
        Some(Shares { start: START, end: end.map(|rate| rate / share), after: AFTER })
    }

    /// Returns whether the halves have met.
    #[must_use]
    pub fn are_equal(&self) -> bool {
        (self.end[0] - self.end[1]).abs() < EQUAL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_timely_depend_on_the_start_and_those_of_the_others_do_not() {
        let of = |name: &str| {
            let mut model = Model::of_the_paper(name).expect("a model");
            assert!(model.set("sources", 2.0) && model.set("delay", 4e-6));
            Shares::of(&model)
        };
        assert_eq!(of("qcn"), None);
        for name in ["dcqcn", "patched-timely"] {
            assert!(of(name).expect("shares").are_equal(), "{name}: {:?}", of(name));
        }
        let timely = of("timely").expect("shares");
        assert!(!timely.are_equal() && timely.end[0] > timely.end[1], "{timely:?}");
    }
}
