//! The integrator and the loops against a second solver that shares nothing with them: the method of Heun in small steps,
//! the whole past kept and joined by straight lines, BCN written down once more from the paper, in bits and frames.

use tailback_theory::fluid::bcn::Regime;
use tailback_theory::fluid::{Bcn, Solver};
use tailback_theory::stability::rightmost;

/// Queue in bits, rate in bits per second.
type State = (f64, f64);

struct Paper {
    n: f64,
    c: f64,
    tau: f64,
    qeq: f64,
    w: f64,
    p: f64,
    gi_ru: f64,
    gd: f64,
    s: f64,
    /// Buffer, and the most that a decrease takes; none for the bare equations.
    limits: Option<(f64, f64)>,
}

impl Paper {
    fn new(limits: bool) -> Paper {
        let limits = limits.then_some((100.0 * 12_000.0, 0.5));
        Paper {
            n: 50.0,
            c: 1e10,
            tau: 200e-6,
            qeq: 16.0 * 12_000.0,
            w: 2.0,
            p: 0.01,
            gi_ru: 4e6,
            gd: 1.0 / 128.0,
            s: 12_000.0,
            limits,
        }
    }

    fn queue_growth(&self, (q, r): State) -> f64 {
        let growth = self.n * r - self.c;
        match self.limits {
            Some((buffer, _)) if (q <= 0.0 && growth < 0.0) || (q >= buffer && growth > 0.0) => 0.0,
            _ => growth,
        }
    }

    fn derivative(&self, now: State, past: State) -> State {
        let fb = -((past.0 - self.qeq) + self.w * self.s / (self.c * self.p) * self.queue_growth(past)) / self.s;
        let messages = past.1 * self.p / self.s;
        let rate = if fb > 0.0 {
            self.gi_ru * fb * messages
        } else {
            let part = self.limits.map_or(-self.gd * fb, |(_, most)| (-self.gd * fb).min(most));
            -now.1 * part * messages
        };
        (self.queue_growth(now), rate)
    }

    /// The states at multiples of `every`, from a past that was always the same.
    fn heun(&self, start: State, until: f64, step: f64, every: f64) -> Vec<State> {
        let mut past: Vec<State> = vec![start];
        let at = |past: &Vec<State>, t: f64| -> State {
            if t <= 0.0 {
                return start;
            }
            let place = t / step;
            let low = (place.floor() as usize).min(past.len() - 1);
            let high = (low + 1).min(past.len() - 1);
            let part = place - place.floor();
            let (a, b) = (past[low], past[high]);
            (a.0 + part * (b.0 - a.0), a.1 + part * (b.1 - a.1))
        };
        let bound = |(q, r): State| match self.limits {
            Some((buffer, _)) => (q.clamp(0.0, buffer), r.clamp(1e6, 1e10)),
            None => (q, r),
        };
        let steps = (until / step).round() as usize;
        for number in 0..steps {
            let (t, now) = (number as f64 * step, past[number]);
            let k1 = self.derivative(now, at(&past, t - self.tau));
            let guess = (now.0 + step * k1.0, now.1 + step * k1.1);
            let k2 = self.derivative(guess, at(&past, t + step - self.tau));
            past.push(bound((now.0 + 0.5 * step * (k1.0 + k2.0), now.1 + 0.5 * step * (k1.1 + k2.1))));
        }
        let stride = (every / step).round() as usize;
        past.into_iter().step_by(stride).collect()
    }
}

/// Both solvers at every 200 us, ours in bits.
fn both(limits: bool, start: State, until: f64) -> Vec<(State, State)> {
    let theirs = Paper::new(limits).heun(start, until, 0.1e-6, 200e-6);
    let mut of = Bcn::of_the_paper();
    if !limits {
        // Far enough not to matter.
        (of.buffer, of.min_rate, of.min_dec_factor) = (1e12, 0.0, 0.0);
    }
    let mut ours = Vec::new();
    let mut solver = Solver::new(&of, |_| [start.0 / 8.0, start.1], 2e-6);
    solver.run(until, 100, |_, &[queue, rate]| ours.push((queue * 8.0, rate)));
    theirs.into_iter().zip(ours).collect()
}

#[test]
fn the_bare_equations() {
    let states = both(false, (16.0 * 12_000.0, 2.02e8), 40e-3);
    assert_eq!(states.len(), 201);
    let swing = states.iter().map(|(a, _)| (a.0 - 192e3).abs()).fold(0.0, f64::max);
    let error = states.iter().map(|(a, b)| (a.0 - b.0).abs()).fold(0.0, f64::max);
    // Both see the switches between regimes only from step to step.
    assert!(swing > 20e3 && error < 1e-4 * swing, "{swing} {error}");
    let error = states.iter().map(|(a, b)| (a.1 - b.1).abs()).fold(0.0, f64::max);
    assert!(error < 1e-4 * 2e6, "{error}");
}

#[test]
fn with_an_empty_and_a_full_queue() {
    let states = both(true, (0.0, 1e9), 20e-3);
    let full = states.iter().any(|(a, b)| a.0 == 1.2e6 && b.0 == 1.2e6);
    let empty = states.iter().skip(1).any(|(a, b)| a.0 == 0.0 && b.0 == 0.0);
    assert!(full && empty, "{states:?}");
    let error = states.iter().map(|(a, b)| (a.0 - b.0).abs()).fold(0.0, f64::max);
    assert!(error < 5e-3 * 1.2e6, "{error}");
}

#[test]
fn the_second_solver_settles_as_fast_as_the_roots_say() {
    // The linear equations (7) and (8) alone, by Heun, against the root -20.21 + 1057.58 j.
    let of = Bcn::of_the_paper();
    let root = rightmost(&of.delayed_loop(Regime::Decrease).expect("a loop")).found[0];
    let (k, whole) = (of.pole(Regime::Decrease), of.stiffness(Regime::Decrease));
    let (step, lag) = (0.5e-6, 400);
    let (mut v, mut u) = (vec![1.0_f64], vec![0.0_f64]);
    let mut peaks: Vec<(f64, f64)> = Vec::new();
    for number in 0..200_000_usize {
        let late = |list: &Vec<f64>, place: usize| if place < lag { list[0] } else { list[place - lag] };
        let force = |place: usize| -(k * late(&u, place) + whole * late(&v, place));
        let (now, next) = (force(number), force(number + 1));
        let slope = u[number] + step * now;
        v.push(v[number] + 0.5 * step * (u[number] + slope));
        u.push(u[number] + 0.5 * step * (now + next));
        if u[number] > 0.0 && u[number + 1] <= 0.0 {
            peaks.push((number as f64 * step, v[number]));
        }
    }
    let (first, last) = (peaks[3], peaks[peaks.len() - 1]);
    let decay = (first.1 / last.1).ln() / (last.0 - first.0);
    let turns = (peaks.len() - 4) as f64 / (last.0 - first.0) * 2.0 * std::f64::consts::PI;
    assert!((decay + root.re).abs() < 0.05, "{decay} {root:?}");
    assert!((turns - root.im).abs() < 0.5, "{turns} {root:?}");
}
