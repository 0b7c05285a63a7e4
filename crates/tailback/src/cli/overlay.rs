//! `stability --packets`: the same scenario as packets and as a fluid, side by side.

use super::INTERRUPT;
use super::console::{self, RunProgress};
use render::plot::{Axis, Band, HorizontalLine, LineChart, Series};
use results::Quantity;
use scenario::Plan;
use scenario::fluid::{FluidPlan, Model};
use serde_json::{Value, json};
use study::stability::{Analysis, Behaviour, Packets, Trajectory, packets, sampling, settled, trajectory, within};
use theory::fluid::Bcn;
use theory::spectrum::Peak;
use theory::stability::switched::{Cycle, critical_delay, measure_sampled};

/// A swing with less of the variance is noise.
const STANDS_OUT: f64 = 0.1;

/// Both, and how each behaves once it should have settled.
pub struct Overlay {
    packets: Packets,
    fluid: Trajectory,
    /// The stretch of time that is measured, in seconds.
    window: (f64, f64),
    /// Of packets and fluid: the queue and the total rate.
    queue: [Option<Behaviour>; 2],
    rate: [Option<Behaviour>; 2],
    /// How unequal the sources are, and BCN's two loops in turn with that and the lag of sampling.
    inequality: f64,
    unequal: Option<(Cycle, Option<f64>)>,
}

impl Overlay {
    /// Runs the packets and integrates the equations.
    pub fn run(
        plan: &Plan,
        fluid: &FluidPlan,
        analysis: &Analysis,
        threads: usize,
        quiet: bool,
    ) -> Result<Overlay, String> {
        let Some(bottleneck) = &fluid.bottleneck else {
            return Err(format!(
                "the scenario has no protocol and congestion point of the model `{}` in [fluid], so --packets has nothing to \
                 compare\n  choose a protocol and a congestion point of that model: `tailback protocols` lists them",
                fluid.model.name()
            ));
        };
        let every = sampling(plan, analysis.prediction().1);
        let progress = RunProgress::new(plan.run.duration, quiet);
        let run = packets(plan, bottleneck, every, threads, &INTERRUPT, |seen| progress.see(seen));
        progress.end();
        let run = run.map_err(|error| error.to_string())?;
        // The fluid is drawn as long as the packets.
        let fluid = FluidPlan { duration: plan.run.duration.as_secs_f64(), ..fluid.clone() };
        let drawn = trajectory(&fluid, fluid.duration / run.spacing).map_err(|error| error.to_string())?;
        let (window, capacity) = (settled(plan), fluid.model.get("capacity").unwrap_or(f64::NAN));
        let (of_queue, of_rate) = drawn.samples(&fluid);
        let seen =
            |samples: &[f64], spacing: f64, rest: f64| Behaviour::of(within(samples, spacing, window), spacing, rest);
        let spacing = drawn.spacing();
        // Where the fluid's rest and the set point differ, as with QCN, the set point is what packets are to hold.
        let set_point = fluid.model.get("set_point").unwrap_or(analysis.queue);
        let unequal = within(&run.inequality, run.spacing, window);
        let inequality = unequal.iter().sum::<f64>() / unequal.len() as f64;
        let unequal = match &fluid.model {
            Model::Bcn(of) if inequality.is_finite() => {
                let of = Bcn { decrease_gain: of.decrease_gain * inequality, ..of.clone() };
                measure_sampled(&of).ok().flatten().map(|cycle| (cycle, critical_delay(&of, true)))
            }
            _ => None,
        };
        Ok(Overlay {
            inequality,
            unequal,
            queue: [seen(&run.queue, run.spacing, set_point), seen(&of_queue, spacing, set_point)],
            rate: [seen(&run.rate, run.spacing, capacity), seen(&of_rate, spacing, capacity)],
            packets: run,
            fluid: drawn,
            window,
        })
    }

    /// The oscillation of the packets' queue, if it is distinct.
    fn swing(&self) -> Option<Peak> {
        self.queue[0].as_ref().and_then(|seen| seen.peak).filter(|peak| peak.share >= STANDS_OUT)
    }

    /// What both do, in words.
    pub fn text(&self, analysis: &Analysis) -> String {
        let (from, until) = self.window;
        let mut text = format!(
            "\npackets and fluid from {} to {}, sampled every {}:\n",
            console::seconds(from),
            console::seconds(until),
            console::seconds(self.packets.spacing)
        );
        if self.packets.outcome != "finished" {
            text.push_str(&format!("the packet simulation ended early: {}\n", self.packets.outcome));
        }
        let each = |of: &[Option<Behaviour>; 2], show: &dyn Fn(&Behaviour) -> String| {
            of.each_ref().map(|seen| seen.as_ref().map_or_else(|| "not measured".into(), show))
        };
        let bytes = |value: f64| format!("{} B", units::grouped(value.round() as u64));
        let mut rows = Vec::new();
        let mut row = |what: &str, [packets, fluid]: [String; 2]| rows.push(vec![what.to_owned(), packets, fluid]);
        row("mean queue", each(&self.queue, &|seen| bytes(seen.mean)));
        row("deviation of the queue", each(&self.queue, &|seen| bytes(seen.deviation)));
        row("deviation around the set point", each(&self.queue, &|seen| bytes(seen.around)));
        let swing =
            |seen: &Behaviour| seen.peak.map_or_else(|| "none".into(), |peak| format!("{:.1} Hz", peak.frequency));
        row("oscillation of the queue", each(&self.queue, &swing));
        row(
            "amplitude of the oscillation",
            each(&self.queue, &|seen| seen.peak.map_or_else(String::new, |peak| bytes(peak.amplitude))),
        );
        row(
            "its share of the variance",
            each(&self.queue, &|seen| {
                seen.peak.map_or_else(String::new, |peak| format!("{:.0} %", peak.share * 100.0))
            }),
        );
        row("mean total rate", each(&self.rate, &|seen| console::rate(seen.mean)));
        row("deviation of the total rate", each(&self.rate, &|seen| console::rate(seen.deviation)));
        text.push_str(&console::table(&["", "packets", "fluid"], &rows));
        let measured = match self.swing() {
            Some(peak) => format!("{:.1} Hz (resolution {:.1} Hz)", peak.frequency, peak.resolution),
            None => "no distinct oscillation".into(),
        };
        text.push_str(&format!("oscillation: predicted {:.1} Hz", analysis.prediction().1));
        let bcn = analysis.bcn.as_ref().filter(|bcn| bcn.sampled.measured.is_some());
        if let Some(cycle) = bcn.and_then(|bcn| bcn.measured) {
            text.push_str(&format!(" ({:.1} Hz without the lag of sampling)", cycle.frequency));
        }
        text.push_str(&format!(", measured on packets {measured}\n"));
        if let Some((cycle, critical)) = &self.unequal {
            text.push_str(&format!(
                "the sources are unequal, so decreases weigh {:.2} times as much; predicted with that weight: {:.1} Hz{}\n",
                self.inequality,
                cycle.frequency,
                critical.map_or_else(String::new, |delay| format!(", critical delay {}", console::seconds(delay)))
            ));
        }
        text
    }

    /// The same for programs.
    pub fn json(&self) -> Value {
        let each = |[packets, fluid]: &[Option<Behaviour>; 2], unit: &str| {
            let one = |seen: &Option<Behaviour>| {
                seen.as_ref().map(|seen| {
                    json!({
                        format!("mean_{unit}"): seen.mean,
                        format!("deviation_{unit}"): seen.deviation,
                        format!("around_rest_{unit}"): seen.around,
                        "swing": seen.peak.map(|peak| json!({
                            "frequency_hz": peak.frequency,
                            "resolution_hz": peak.resolution,
                            format!("amplitude_{unit}"): peak.amplitude,
                            "share": peak.share,
                        })),
                    })
                })
            };
            json!({ "packets": one(packets), "fluid": one(fluid) })
        };
        json!({
            "outcome": self.packets.outcome,
            "from_s": self.window.0,
            "until_s": self.window.1,
            "sample_every_s": self.packets.spacing,
            "queue": each(&self.queue, "bytes"),
            "total_rate": each(&self.rate, "bps"),
            "inequality": self.inequality,
            "predicted_with_inequality": self.unequal.as_ref().map(|(cycle, critical)| json!({
                "frequency_hz": cycle.frequency,
                "critical_delay_s": critical,
                "stable": cycle.is_stable(),
            })),
        })
    }

    /// The pictures, with their file names.
    pub fn charts(&self, name: &str, fluid: &FluidPlan, analysis: &Analysis) -> Vec<(&'static str, LineChart)> {
        let duration = self.window.1;
        let (_, frequency) = analysis.prediction();
        let measured = self.swing().map_or_else(|| "no oscillation".into(), |peak| format!("{:.1} Hz", peak.frequency));
        let subtitle = format!(
            "{}, loop delay {}; {frequency:.1} Hz predicted, {measured} measured",
            fluid.model.name(),
            console::seconds(fluid.model.delay())
        );
        let chart =
            |title: &str, quantity: Quantity, samples: &[f64], drawn: Vec<(f64, f64)>, (line, at): (&str, f64)| {
                let x = Axis::within("time", Quantity::Time, 0.0, duration);
                let mut chart = LineChart::new(&format!("{name}: {title}"), x, Axis::new(title, quantity));
                chart.subtitle = subtitle.clone();
                let points = (0..).zip(samples).map(|(at, &value)| (f64::from(at) * self.packets.spacing, value));
                chart.series.push(Series::steps("packets", points.collect()));
                chart.series.push(Series::straight("fluid", drawn));
                chart.lines.push(HorizontalLine { name: line.to_owned(), at });
                chart
            };
        let sources = fluid.model.get("sources").unwrap_or(1.0);
        let capacity = fluid.model.get("capacity").unwrap_or(f64::NAN);
        let total = self.fluid.rate.iter().map(|&(time, rate)| (time, rate * sources)).collect();
        let set_point = fluid.model.get("set_point").unwrap_or(analysis.queue);
        let mut charts = vec![
            (
                "overlay-queue",
                chart("queue", Quantity::Size, &self.packets.queue, self.fluid.queue.clone(), ("set point", set_point)),
            ),
            ("overlay-rate", chart("total rate", Quantity::Rate, &self.packets.rate, total, ("capacity", capacity))),
        ];
        charts.extend(self.spectra(name, &subtitle, frequency).map(|chart| ("overlay-spectrum", chart)));
        charts
    }

    /// The spectrum of either queue as deviation per root of a hertz.
    fn spectra(&self, name: &str, subtitle: &str, predicted: f64) -> Option<LineChart> {
        let most = (4.0 * predicted.max(self.queue[0].as_ref()?.peak.map_or(0.0, |peak| peak.frequency))).max(1.0);
        let x = Axis::within("frequency", Quantity::Plain("Hz".into()), 0.0, most);
        let y = Axis::new("queue, B per sqrt(Hz)", Quantity::Plain(String::new()));
        let mut chart = LineChart::new(&format!("{name}: spectrum of the queue"), x, y);
        chart.subtitle = subtitle.to_owned();
        for (of, seen) in ["packets", "fluid"].into_iter().zip(&self.queue) {
            let Some(spectrum) = seen.as_ref().and_then(|seen| seen.spectrum.as_ref()) else { continue };
            let lines =
                (0..spectrum.lines.len()).map(|line| (line as f64 * spectrum.spacing, spectrum.density(line).sqrt()));
            chart.series.push(Series::straight(of, lines.take_while(|(at, _)| *at <= most).collect()));
        }
        let half = 0.004 * most;
        chart.bands.push(Band { name: "predicted".into(), from: predicted - half, to: predicted + half });
        Some(chart)
    }
}
