//! Packet simulation of the same loop: its sampled queue and total rate, and the oscillation of either.

use super::Trajectory;
use crate::run::volume::ROWS_HELD;
use crate::{StudyError, cores, outcome_word};
use fabric::record::{Recorder, RecorderSpec, Rows, Selection, drain, drain_before, finish};
use fabric::{BuildOptions, Partition, Progress, RunLimits, Simulation, Sizing};
use scenario::fluid::{Bottleneck, FluidPlan, source_rates};
use scenario::{MOST_SAMPLES, Plan};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use theory::spectrum::{Peak, Spectrum};
use units::{Span, Time};

/// Samples of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Packets {
    /// Sampling interval in seconds; the first sample is at time zero.
    pub spacing: f64,
    /// Queue of the bottleneck in bytes.
    pub queue: Vec<f64>,
    /// Sum of the permitted rates of its flows, in bits per second of frames.
    pub rate: Vec<f64>,
    /// Inequality of the permitted rates: the mean of their squares over the square of their mean, one if all are
    /// equal. It is the inverse of Jain's index, and the factor by which decreases weigh more than with equal sources.
    pub inequality: Vec<f64>,
    /// Outcome of the run, in one word.
    pub outcome: &'static str,
}

/// Behaviour of a quantity over an interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Behaviour {
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub deviation: f64,
    /// Root mean square distance from the equilibrium.
    pub around: f64,
    /// Distribution of its variance over frequencies.
    pub spectrum: Option<Spectrum>,
    /// Its strongest oscillation.
    pub peak: Option<Peak>,
}

impl Behaviour {
    /// Analyses samples that are `spacing` seconds apart, around the equilibrium `rest`; `None` if there are none.
    #[must_use]
    pub fn of(samples: &[f64], spacing: f64, rest: f64) -> Option<Behaviour> {
        let count = samples.len() as f64;
        let mean = samples.iter().sum::<f64>() / count;
        let square =
            |from: f64| (samples.iter().map(|value| (value - from) * (value - from)).sum::<f64>() / count).sqrt();
        let spectrum = Spectrum::of(samples, spacing, 3);
        let peak = spectrum.as_ref().and_then(Spectrum::peak);
        (!samples.is_empty()).then(|| Behaviour { mean, deviation: square(mean), around: square(rest), spectrum, peak })
    }
}

/// Resamples values at equal intervals by holding the last one.
struct Held {
    every: Span,
    now: f64,
    samples: Vec<f64>,
}

impl Held {
    /// Holds the current value until just before that instant.
    fn until(&mut self, time: Time) {
        let due = time.as_picos().div_ceil(self.every.as_picos()) as usize;
        self.samples.resize(due.max(self.samples.len()), self.now);
    }
}

/// Accumulates rows of one queue and of the permitted rates of flows.
struct Sink<'a> {
    bottleneck: &'a Bottleneck,
    /// Rates of unlimited flows in bits per second.
    unlimited: BTreeMap<u32, f64>,
    limits: BTreeMap<u32, f64>,
    /// Sum of the squares of the permitted rates.
    squares: f64,
    queue: Held,
    rate: Held,
    inequality: Held,
}

impl Sink<'_> {
    fn take(&mut self, rows: &Rows) {
        for row in &rows.queues {
            if (row.queue.port, row.queue.class) == (self.bottleneck.port, self.bottleneck.class) {
                self.queue.until(row.time);
                self.queue.now = f64::from(row.queue.output_bytes);
            }
        }
        for row in &rows.rates {
            self.rate.until(row.time);
            self.inequality.until(row.time);
            let unlimited = self.unlimited.get(&row.flow).copied().unwrap_or(0.0);
            let now = row.rate.map_or(unlimited, |rate| rate as f64);
            let before = self.limits.insert(row.flow, now).unwrap_or(0.0);
            self.rate.now += now - before;
            self.squares += now * now - before * before;
            self.inequality.now = self.limits.len() as f64 * self.squares / (self.rate.now * self.rate.now);
        }
    }
}

/// Runs the packet simulation of a scenario and samples its bottleneck. `progress` is called at every inspection.
///
/// # Errors
/// Returns an error if the network cannot be built. Loading a scenario finds this first.
pub fn packets(
    plan: &Plan,
    bottleneck: &Bottleneck,
    every: Span,
    threads: usize,
    interrupt: &AtomicBool,
    mut progress: impl FnMut(Progress) + Send,
) -> Result<Packets, StudyError> {
    let watch = RecorderSpec {
        sample_every: Some(every),
        queues: true,
        rates: true,
        ports: Selection::only([bottleneck.port]),
        flows: Selection::only(bottleneck.flows.iter().copied()),
        ..RecorderSpec::nothing()
    };
    let Sizing { shards, threads } = Sizing::of(&plan.spec, threads.min(cores()));
    let build = BuildOptions { partition: Partition::Natural, shards, shuffle: None };
    let mut simulation = Simulation::build_with(&plan.spec, &build, |_| {
        Recorder::new(watch.clone()).holding(ROWS_HELD / build.shards.max(1))
    })
    .map_err(StudyError::Build)?;
    let held = || Held { every, now: 0.0, samples: Vec::new() };
    let unlimited = bottleneck.flows.iter().copied().zip(source_rates(plan, &bottleneck.flows)).collect();
    let mut sink = Sink {
        bottleneck,
        unlimited,
        limits: BTreeMap::new(),
        squares: 0.0,
        queue: held(),
        rate: held(),
        inequality: held(),
    };
    let end = Time::ZERO + plan.run.duration;
    let limits = RunLimits {
        threads,
        events: plan.run.max_events,
        inspect_every: plan.run.inspect_every,
        interrupt: Some(interrupt),
        ..RunLimits::until(end)
    };
    let report = simulation.run_supervised(&limits, |seen, probes| {
        sink.take(&if seen.inspection { drain(probes) } else { drain_before(probes, seen.now) });
        progress(seen);
        ControlFlow::Continue(())
    });
    let mut probes: Vec<&mut Recorder> = simulation.probes_mut().collect();
    sink.take(&finish(&mut probes, report.now).rows);
    let outcome = outcome_word(&report.outcome);
    let reached = if outcome == "finished" { end } else { report.now };
    for held in [&mut sink.queue, &mut sink.rate, &mut sink.inequality] {
        held.until(reached);
    }
    let part = bottleneck.part;
    let rate = sink.rate.samples.into_iter().map(|rate| rate * part).collect();
    let (spacing, queue, inequality) = (every.as_secs_f64(), sink.queue.samples, sink.inequality.samples);
    Ok(Packets { spacing, queue, rate, inequality, outcome })
}

/// Returns a sampling interval that resolves an oscillation of that frequency with a bounded number of samples.
#[must_use]
pub fn sampling(plan: &Plan, frequency: f64) -> Span {
    let fine = 1.0 / (40.0 * frequency.max(1.0));
    let picos = (fine * 1e12).min(plan.probes.sample_every.as_picos() as f64);
    // Rounding below may make them five times as many.
    let picos = picos.max(5.0 * plan.run.duration.as_picos() as f64 / MOST_SAMPLES as f64).max(1.0) as u64;
    // Round numbers divide runs evenly: the next of 1, 2 and 5 times a power of ten below.
    let power = 10_u64.pow(picos.ilog10());
    Span::from_picos([5, 2, 1].into_iter().map(|step| step * power).find(|step| *step <= picos).unwrap_or(power))
}

/// Returns the interval of a run, in seconds, over which its behaviour is measured: from the end of the warm-up or,
/// without one, from the middle.
#[must_use]
pub fn settled(plan: &Plan) -> (f64, f64) {
    let duration = plan.run.duration.as_secs_f64();
    let from = if plan.run.warm_up == Span::ZERO { 0.5 * duration } else { plan.run.warm_up.as_secs_f64() };
    (from, duration)
}

/// Returns the samples in an interval.
#[must_use]
pub fn within(samples: &[f64], spacing: f64, (from, until): (f64, f64)) -> &[f64] {
    let place = |time: f64| ((time / spacing).round() as usize).min(samples.len());
    &samples[place(from)..place(until)]
}

impl Trajectory {
    /// Returns the time between two points in seconds.
    #[must_use]
    pub fn spacing(&self) -> f64 {
        match self.queue[..] {
            [(first, _), (second, _), ..] => second - first,
            _ => 0.0,
        }
    }

    /// Returns queue and total rate as samples.
    #[must_use]
    pub fn samples(&self, plan: &FluidPlan) -> (Vec<f64>, Vec<f64>) {
        let sources = plan.model.get("sources").unwrap_or(1.0);
        let queue = self.queue.iter().map(|(_, queue)| *queue).collect();
        (queue, self.rate.iter().map(|(_, rate)| rate * sources).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_held_until_the_next() {
        let mut held = Held { every: Span::from_micros(10), now: 0.0, samples: Vec::new() };
        for (micros, value) in [(20, 5.0), (20, 7.0), (50, 1.0)] {
            held.until(Time::ZERO + Span::from_micros(micros));
            held.now = value;
        }
        held.until(Time::ZERO + Span::from_micros(70));
        assert_eq!(held.samples, [0.0, 0.0, 7.0, 7.0, 7.0, 1.0, 1.0]);
    }

    #[test]
    fn behaviour_by_hand() {
        let seen = Behaviour::of(&[1.0, 3.0, 1.0, 3.0], 1.0, 1.0).expect("samples");
        assert_eq!((seen.mean, seen.deviation, seen.around), (2.0, 1.0, 2.0_f64.sqrt()));
        assert!(seen.peak.is_none() && Behaviour::of(&[], 1.0, 1.0).is_none());
    }

    #[test]
    fn stretches_of_time() {
        let samples = [0.0, 1.0, 2.0, 3.0, 4.0];
        assert_eq!(within(&samples, 0.1, (0.2, 0.4)), [2.0, 3.0]);
        assert_eq!(within(&samples, 0.1, (0.3, 9.0)), [3.0, 4.0]);
        assert!(within(&samples, 0.1, (9.0, 10.0)).is_empty());
    }
}
