//! DCTCP as a rate control, as the public HPCC simulator has it (CC_MODE 8): alpha is that of DCTCP, but it lowers a rate,
//! and each round without a reduction raises the rate by a step. Parameters are in [`reno`](crate::reno).

use crate::parameter::{Invalid, Values};
use crate::path::{BoundedRate, Round, bits, pacing};
use crate::{Adapter, Allowance, Feedback, Pacing, Reaction, ReactionPoint};
use units::{Bytes, Time};

/// A reaction point with the alpha of DCTCP and a rate.
#[derive(Clone, Copy, Debug)]
pub struct DctcpRate {
    rate: BoundedRate,
    pacing: Pacing,
    g: f64,
    ai: f64,
    frame: u64,
    alpha: f64,
    round: Round,
    /// Marked acknowledgements of this round, and frames that it consists of; none before the first.
    marks: u64,
    frames: Option<u64>,
    /// The rate is not reduced again before this many bytes are acknowledged.
    reduced_until: Option<Bytes>,
}

units::state!(struct DctcpRate { fixed: pacing, g, ai, frame; plain: alpha, round, marks, frames, reduced_until; parts: rate; });

impl DctcpRate {
    /// Builds the reaction point from the parameters of DCTCP.
    ///
    /// # Errors
    /// Does not fail; what does not suit the link is refused when it is attached.
    pub fn build(values: &Values) -> Result<Reaction, Invalid> {
        Ok(Reaction::DctcpRate(Box::new(DctcpRate {
            rate: BoundedRate::read(values),
            pacing: pacing(values),
            g: values.number("g"),
            ai: bits(values.rate("ai_rate")),
            frame: 1,
            alpha: values.number("initial_alpha"),
            round: Round::default(),
            marks: 0,
            frames: None,
            reduced_until: None,
        })))
    }
}

impl ReactionPoint for DctcpRate {
    fn attach(&mut self, adapter: &Adapter) -> Result<(), Invalid> {
        self.frame = adapter.frame.get().max(1);
        self.rate.attach(adapter)?;
        if self.rate.window.is_bounded() { self.rate.window.attach(adapter) } else { Ok(()) }
    }

    fn on_sent(&mut self, _now: Time, _len: Bytes) {}

    fn on_feedback(&mut self, _now: Time, feedback: &Feedback) {
        let Feedback::Acknowledgement { marked, path, .. } = *feedback else { return };
        self.marks += u64::from(marked);
        let ends = self.round.ends(&path);
        if ends {
            if let Some(frames) = self.frames {
                let fraction = (self.marks as f64 / frames as f64).min(1.0);
                self.alpha = (1.0 - self.g) * self.alpha + self.g * fraction;
                self.marks = 0;
            }
            self.frames = Some(path.sent.get().saturating_sub(path.acknowledged.get()) / self.frame + 1);
        }
        if self.reduced_until.is_some_and(|until| path.acknowledged > until) {
            self.reduced_until = None;
        }
        if marked && self.reduced_until.is_none() {
            self.rate.set(self.rate.now * (1.0 - self.alpha / 2.0));
            self.reduced_until = Some(path.sent);
        } else if ends && self.reduced_until.is_none() {
            self.rate.set(self.rate.now + self.ai);
        }
    }

    fn on_deadline(&mut self, _now: Time) {}

    fn deadline(&self) -> Option<Time> {
        None
    }

    fn allowance(&self) -> Allowance {
        self.rate.allowance()
    }

    fn pacing(&self) -> Pacing {
        self.pacing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PathReport;
    use crate::parameter::Value;
    use units::{Rate, Span};

    fn built() -> DctcpRate {
        let info = &crate::reno::DCTCP;
        let preset = info.presets.iter().find(|preset| preset.name == "hpcc-simulator").unwrap();
        let values = Values::preset(info.parameters, preset).with("base_rtt", Value::Time(Span::from_micros(8)));
        let Ok(Reaction::DctcpRate(mut source)) = (info.build)(&values) else { panic!("its values are valid") };
        source.attach(&Adapter::of(Rate::from_gigabits(100), Bytes::new(1000))).unwrap();
        *source
    }

    fn round(source: &mut DctcpRate, acknowledged: &mut u64, marked: impl Fn(u64) -> bool) {
        for frame in 0..100 {
            *acknowledged += 1000;
            let path = PathReport {
                acknowledged: Bytes::new(*acknowledged),
                sent: Bytes::new(*acknowledged + 99_000),
                ..PathReport::default()
            };
            let (bytes, round_trip) = (Bytes::new(1000), Span::from_micros(8));
            let feedback = Feedback::Acknowledgement { bytes, marked: marked(frame), round_trip, path };
            source.on_feedback(Time::ZERO, &feedback);
        }
    }

    #[test]
    fn alpha_follows_the_fraction_of_marks_and_the_rate_falls_once_per_round() {
        let (mut source, mut acknowledged) = (built(), 0);
        for _ in 0..3000 {
            source.rate.now = 100e9;
            round(&mut source, &mut acknowledged, |frame| frame % 4 == 0);
        }
        assert!((source.alpha - 0.25).abs() < 0.01, "{}", source.alpha);
        assert!((source.rate.now / 100e9 - (1.0 - source.alpha / 2.0)).abs() < 1e-3, "{}", source.rate.now);
    }

    #[test]
    fn rounds_without_marks_raise_the_rate_by_a_step() {
        let (mut source, mut acknowledged) = (built(), 0);
        source.rate.now = 10e9;
        for _ in 0..5 {
            round(&mut source, &mut acknowledged, |_| false);
        }
        assert_eq!(source.rate.now, 15e9);
        // A frame may start while fewer bytes than the window of 15 kB are unacknowledged.
        assert_eq!(source.allowance().window, Some(Bytes::new(15_999)));
    }
}
