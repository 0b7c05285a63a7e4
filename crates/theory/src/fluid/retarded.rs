//! Integration of differential equations with several delays, which may depend on the state.
//!
//! The method is Runge-Kutta of fourth order in fixed steps, with the past by cubic Hermite interpolation between steps.
//! A delay shorter than a step reads the newest known state, so steps should be shorter than the delays. The result is
//! bit-identical everywhere.

use super::integrate::runge_kutta;

/// A model whose derivatives depend on its state now and at any times in the past.
pub trait Retarded<const N: usize> {
    /// Returns the derivative of each quantity, per second; `past` gives the state so many seconds ago.
    fn change(&self, now: &[f64; N], past: &dyn Fn(f64) -> [f64; N]) -> [f64; N];

    /// Returns the nearest admissible state.
    fn confine(&self, state: [f64; N]) -> [f64; N];

    /// Returns a time that no delay exceeds, in seconds.
    fn longest(&self) -> f64;
}

#[derive(Clone, Copy, Debug)]
struct Node<const N: usize> {
    state: [f64; N],
    slope: [f64; N],
}

/// Integrates the state of a model over time. Before time zero, it is that of time zero.
#[derive(Debug)]
pub struct Course<'a, M, const N: usize> {
    model: &'a M,
    step: f64,
    start: [f64; N],
    done: usize,
    state: [f64; N],
    /// The last steps, in a ring.
    ring: Vec<Node<N>>,
    room: usize,
}

impl<'a, M: Retarded<N>, const N: usize> Course<'a, M, N> {
    /// Starts at time zero.
    ///
    /// # Panics
    /// Panics if the step is not above zero.
    #[must_use]
    pub fn new(model: &'a M, start: [f64; N], step: f64) -> Course<'a, M, N> {
        assert!(step > 0.0, "a step takes time");
        let room = (model.longest() / step).ceil().clamp(1.0, 1e8) as usize + 4;
        let start = model.confine(start);
        Course { model, step, start, done: 0, state: start, ring: Vec::new(), room }
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

    /// The state at a time in units of steps; the oldest and the newest known beyond them.
    fn at(&self, time: f64) -> [f64; N] {
        if time <= 0.0 {
            return self.start;
        }
        let known = self.done;
        if time >= known as f64 {
            return self.ring[known % self.room].state;
        }
        let oldest = (known + 1).saturating_sub(self.ring.len());
        let from = (time as usize).max(oldest).min(known - 1);
        let (a, b) = (&self.ring[from % self.room], &self.ring[(from + 1) % self.room]);
        let x = (time - from as f64).clamp(0.0, 1.0);
        let (y, h) = (1.0 - x, self.step);
        std::array::from_fn(|place| {
            let (p, q) = (a.state[place], b.state[place]);
            let rise = h * x * y * (y * a.slope[place] - x * b.slope[place]);
            y * y * (1.0 + 2.0 * x) * p + x * x * (3.0 - 2.0 * x) * q + rise
        })
    }

    fn slope(&self, now: &[f64; N], ahead: f64) -> [f64; N] {
        let at = self.done as f64 + ahead;
        self.model.change(now, &|delay: f64| self.at(at - delay / self.step))
    }

    fn remember(&mut self, node: Node<N>) {
        let place = self.done % self.room;
        if place < self.ring.len() {
            self.ring[place] = node;
        } else {
            self.ring.push(node);
        }
    }

    /// Advances by one step.
    pub fn advance(&mut self) {
        let (start, h) = (self.state, self.step);
        self.remember(Node { state: start, slope: [0.0; N] });
        let first = self.slope(&start, 0.0);
        self.remember(Node { state: start, slope: first });
        let end = runge_kutta(&start, h, &first, |state, halves| self.slope(state, 0.5 * halves as f64));
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

#[cfg(test)]
mod tests {
    use super::*;

    /// `x' = -x(t - d)`, with the delay of the state itself if `by_state`.
    struct Scalar {
        by_state: bool,
    }

    impl Retarded<1> for Scalar {
        fn change(&self, now: &[f64; 1], past: &dyn Fn(f64) -> [f64; 1]) -> [f64; 1] {
            [-past(if self.by_state { 1.0 + now[0] } else { 1.0 })[0]]
        }
        fn confine(&self, state: [f64; 1]) -> [f64; 1] {
            state
        }
        fn longest(&self) -> f64 {
            2.0
        }
    }

    fn end(step: f64, by_state: bool, until: f64) -> f64 {
        let model = Scalar { by_state };
        let mut course = Course::new(&model, [1.0], step);
        course.run(until - step, 1, |_, _| {});
        assert!((course.time() - until).abs() < 1e-9);
        course.state()[0]
    }

    #[test]
    fn a_constant_delay_worked_out_by_hand() {
        // x = 1 - t up to 1; x(2) = -1/2; x(3) = -1/6, as by the method of steps.
        for (until, exact) in [(1.0, 0.0), (2.0, -0.5), (3.0, -1.0 / 6.0)] {
            assert!((end(0.01, false, until) - exact).abs() < 1e-9, "{until}: {}", end(0.01, false, until));
        }
    }

    #[test]
    fn a_delay_that_depends_on_the_state() {
        // x' = -1 as long as t - 1 - x(t) < 0, so x = 1 - t up to t = 1, where x is 0. Then x' = -x(t - 1 - x).
        assert!(end(0.01, true, 1.0).abs() < 1e-9);
        // Halving the step changes little: it converges.
        let (coarse, fine) = (end(0.02, true, 4.0), end(0.01, true, 4.0));
        assert!((coarse - fine).abs() < 1e-5, "{coarse} {fine}");
    }
}
