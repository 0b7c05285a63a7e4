//! Integration of delay differential equations in fixed steps, bit-identical everywhere.
//!
//! The method is Runge-Kutta of fourth order. The step divides the delay, so the delayed state is needed only at steps
//! and halfway between two of them, where the cubic Hermite interpolation of values and slopes has the same order:
//! `(x0 + x1) / 2 + h / 8 (x0' - x1')`. The discontinuities of derivatives at multiples of the delay, which every such
//! equation has, then fall on steps. Before time zero, the state is a given function of time.
//!
//! Where the equations switch or a limit is reached between two steps, the order of that step falls to one; the method
//! does not detect this. Shorter steps show the effect.

use super::Fluid;

/// Returns a step that divides the delay and does not exceed `longest`; `longest` itself if there is no delay.
///
/// # Panics
/// Panics if `longest` is not above zero.
#[must_use]
pub fn step_within(delay: f64, longest: f64) -> f64 {
    assert!(longest > 0.0, "a step takes time");
    // A hair more than a whole number of steps is that number.
    if delay > 0.0 { delay / (delay / longest * (1.0 - 1e-12)).ceil().max(1.0) } else { longest }
}

#[derive(Clone, Copy, Debug)]
struct Node<const N: usize> {
    state: [f64; N],
    slope: [f64; N],
}

/// Integrates the state of a model over time.
#[derive(Debug)]
pub struct Solver<'a, M, H, const N: usize> {
    model: &'a M,
    /// The state before time zero.
    before: H,
    step: f64,
    /// Steps per delay; zero without delay.
    lag: usize,
    /// Steps done.
    done: usize,
    state: [f64; N],
    /// The last `lag + 1` steps, one after the other in a ring.
    ring: Vec<Node<N>>,
}

impl<'a, M: Fluid<N>, H: Fn(f64) -> [f64; N], const N: usize> Solver<'a, M, H, N> {
    /// Starts at time zero in steps of about `longest`; `before` gives the state at times up to and including zero.
    ///
    /// # Panics
    /// Panics if `longest` is not above zero.
    #[must_use]
    pub fn new(model: &'a M, before: H, longest: f64) -> Solver<'a, M, H, N> {
        let delay = model.delay();
        let step = step_within(delay, longest);
        let lag = (delay / step).round().min(1e15) as usize;
        let state = model.confine(before(0.0));
        Solver { model, before, step, lag, done: 0, state, ring: Vec::new() }
    }

    /// Returns the length of a step, in seconds.
    #[must_use]
    pub fn step(&self) -> f64 {
        self.step
    }

    /// Returns the current time, in seconds.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.done as f64 * self.step
    }

    /// Returns the current state.
    #[must_use]
    pub fn state(&self) -> [f64; N] {
        self.state
    }

    /// Returns the set of equations that holds now.
    #[must_use]
    pub fn regime(&self) -> M::Regime {
        self.model.regime(&if self.lag == 0 { self.state } else { self.late(0) })
    }

    /// The state a delay before `halves` half steps from now; at most at the last known step.
    fn late(&self, halves: usize) -> [f64; N] {
        let at = 2 * self.done + halves;
        let behind = 2 * self.lag;
        if at < behind {
            return (self.before)(-((behind - at) as f64) * 0.5 * self.step);
        }
        let at = at - behind;
        let node = |number: usize| &self.ring[number % (self.lag + 1)];
        let from = node(at / 2);
        if at.is_multiple_of(2) {
            return from.state;
        }
        let to = node(at / 2 + 1);
        std::array::from_fn(|place| {
            0.5 * (from.state[place] + to.state[place]) + 0.125 * self.step * (from.slope[place] - to.slope[place])
        })
    }

    fn change(&self, now: &[f64; N], halves: usize) -> [f64; N] {
        let then = if self.lag == 0 { *now } else { self.late(halves) };
        self.model.change(self.model.regime(&then), now, &then)
    }

    fn remember(&mut self, node: Node<N>) {
        let place = self.done % (self.lag + 1);
        if place < self.ring.len() {
            self.ring[place] = node;
        } else {
            self.ring.push(node);
        }
    }

    /// Advances by one step.
    pub fn advance(&mut self) {
        let (start, h) = (self.state, self.step);
        // The state now is the newest late one when the delay is a single step; its slope is wanted with it.
        self.remember(Node { state: start, slope: [0.0; N] });
        let first = self.change(&start, 0);
        self.remember(Node { state: start, slope: first });
        let end = runge_kutta(&start, h, &first, |state, halves| self.change(state, halves));
        self.state = self.model.confine(end);
        self.done += 1;
    }

    /// Advances to that time and calls `see` with the time and the state at every `every`-th step, including the first.
    pub fn run(&mut self, until: f64, every: usize, mut see: impl FnMut(f64, &[f64; N])) {
        while self.time() <= until + 0.5 * self.step {
            if self.done.is_multiple_of(every.max(1)) {
                see(self.time(), &self.state);
            }
            self.advance();
        }
    }
}

/// Returns the state after one step of the Runge-Kutta method of fourth order. `slope` is asked for the derivative of a
/// state so many half steps from now; `first` is the derivative now.
pub(super) fn runge_kutta<const N: usize>(
    start: &[f64; N],
    step: f64,
    first: &[f64; N],
    slope: impl Fn(&[f64; N], usize) -> [f64; N],
) -> [f64; N] {
    let along = |slope: &[f64; N], time: f64| std::array::from_fn(|place| start[place] + time * slope[place]);
    let second = slope(&along(first, 0.5 * step), 1);
    let third = slope(&along(&second, 0.5 * step), 1);
    let fourth = slope(&along(&third, step), 2);
    std::array::from_fn(|place| {
        start[place] + step / 6.0 * (first[place] + 2.0 * (second[place] + third[place]) + fourth[place])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    /// `x' = a x + b x(t - tau)`.
    struct Scalar {
        now: f64,
        late: f64,
        delay: f64,
    }

    impl Fluid<1> for Scalar {
        type Regime = ();
        fn delay(&self) -> f64 {
            self.delay
        }
        fn regime(&self, _: &[f64; 1]) {}
        fn change(&self, (): (), now: &[f64; 1], then: &[f64; 1]) -> [f64; 1] {
            [self.now * now[0] + self.late * then[0]]
        }
        fn equilibrium(&self) -> Result<[f64; 1], Error> {
            Ok([0.0])
        }
        fn near_equilibrium(&self) -> Vec<(&'static str, ())> {
            vec![("", ())]
        }
    }

    /// The exact solution of `x' = -x(t - 1)` with `x = 1` until zero, by the method of steps:
    /// the sum over k of `(-1)^k (t - (k - 1))^k / k!` for all k up to t + 1.
    fn by_steps(t: f64) -> f64 {
        let mut sum = 0.0;
        let (mut k, mut factorial) = (0, 1.0);
        while f64::from(k) <= t + 1.0 {
            let base = t - (f64::from(k) - 1.0);
            let power = (0..k).fold(1.0, |product, _| product * base);
            sum += if k % 2 == 0 { power / factorial } else { -power / factorial };
            k += 1;
            factorial *= f64::from(k);
        }
        sum
    }

    fn error_at(longest: f64) -> f64 {
        let model = Scalar { now: 0.0, late: -1.0, delay: 1.0 };
        let mut solver = Solver::new(&model, |_| [1.0], longest);
        let mut worst = 0.0_f64;
        solver.run(9.0, 1, |t, state| worst = worst.max((state[0] - by_steps(t)).abs()));
        worst
    }

    #[test]
    fn worked_out_by_hand() {
        // x' = -x(t - 1), x = 1 before: x = 1 - t up to 1, so x(1) = 0; then x' = t - 2, so x(2) = -1/2;
        // then x' = -(t - 1)^2 / 2 + 2 (t - 1) - 3/2 ..., by the series x(3) = -1/6.
        let model = Scalar { now: 0.0, late: -1.0, delay: 1.0 };
        let mut solver = Solver::new(&model, |_| [1.0], 0.25);
        let mut seen = Vec::new();
        solver.run(3.0, 4, |_, state| seen.push(state[0]));
        for (value, exact) in seen.iter().zip([1.0, 0.0, -0.5, -1.0 / 6.0]) {
            assert!((value - exact).abs() < 1e-14, "{seen:?}");
        }
        assert!((by_steps(3.0) + 1.0 / 6.0).abs() < 1e-15);
    }

    #[test]
    fn of_fourth_order_against_the_exact_solution() {
        let (coarse, fine) = (error_at(0.1), error_at(0.05));
        assert!(coarse < 1e-6 && coarse / fine > 14.0, "{coarse:e} {fine:e}");
    }

    #[test]
    fn the_state_before_zero_is_used() {
        // x' = x(t - 1) with x = t before: x' = t - 1 up to one, so x(1) = -1/2.
        let model = Scalar { now: 0.0, late: 1.0, delay: 1.0 };
        let mut solver = Solver::new(&model, |t| [t], 0.125);
        solver.run(1.0 - 0.125, 1, |_, _| {});
        assert!((solver.time() - 1.0).abs() < 1e-15 && (solver.state()[0] + 0.5).abs() < 1e-15);
    }

    #[test]
    fn a_single_step_per_delay_and_no_delay_at_all() {
        let model = Scalar { now: -1.0, late: 0.0, delay: 0.0 };
        let mut solver = Solver::new(&model, |_| [1.0], 0.01);
        solver.run(0.995, 1, |_, _| {});
        assert!((solver.state()[0] - (-solver.time()).exp()).abs() < 1e-10);
        let model = Scalar { now: 0.0, late: -1.0, delay: 1.0 };
        let mut solver = Solver::new(&model, |_| [1.0], 5.0);
        solver.advance();
        solver.advance();
        // Simpson's rule and the cubic are exact here.
        assert!((solver.step() - 1.0).abs() < 1e-15 && (solver.state()[0] + 0.5).abs() < 1e-15);
    }

    #[test]
    fn steps_divide_the_delay() {
        assert_eq!(step_within(200e-6, 200e-6), 200e-6);
        assert_eq!(step_within(200e-6, 150e-6), 100e-6);
        assert_eq!(step_within(200e-6, 1e-6), 1e-6);
        assert_eq!(step_within(0.0, 3.0), 3.0);
    }
}
