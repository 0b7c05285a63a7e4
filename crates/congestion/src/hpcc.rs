//! HPCC, High Precision Congestion Control (Li et al., SIGCOMM 2019): switches stamp frames with their queues, and a
//! source sets its rate from the most utilised link of its path.
//!
//! The utilisation of a link is its throughput, plus its queue in units of what it sends in a round trip. A source
//! divides its reference rate by the utilisation relative to a target, and adds a little for fairness. It reacts to
//! every acknowledgement, but the reference changes once per round trip, so that no congestion is counted twice.

use crate::hpcc_averages::Averages;
use crate::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Preset, Values};
use crate::path::{
    BASE_RTT, BASE_WINDOW, BoundedRate, REWAITS, Round, TELEMETRY_UNIT, WINDOW_EXCESS, bits, continues, gap, rounded,
    seconds, window_parameter,
};
use crate::{Adapter, Allowance, Feedback, Pacing, ProtocolInfo, Reaction, ReactionPoint, Stamp};
use units::{Bytes, Time};

pub(crate) const INFO: ProtocolInfo = ProtocolInfo {
    name: "hpcc",
    summary: "HPCC: the rate follows the most utilised link of the path, by in-band telemetry",
    parameters: &[
        BASE_RTT,
        Parameter {
            name: "eta",
            kind: ParameterKind::Number(0.01, 1.0),
            default: ParameterDefault::Value("0.95", "HPCC simulator, U_TARGET: eta in the paper"),
            meaning: "Target utilisation of the most utilised link.",
        },
        Parameter {
            name: "max_stage",
            kind: ParameterKind::Count(0, 1000),
            default: ParameterDefault::Value(
                "5",
                "MI_THRESH of the PowerTCP authors' configuration; the HPCC simulator's has 0",
            ),
            meaning: "Number of rounds of additive increase before the rate is set from the utilisation again.",
        },
        Parameter {
            name: "ai_rate",
            kind: ParameterKind::Rate,
            default: ParameterDefault::Value("50Mb/s", "HPCC simulator, RATE_AI"),
            meaning: "Additive increase; the paper's W_AI divided by the base round trip.",
        },
        Parameter {
            name: "min_rate",
            kind: ParameterKind::Rate,
            default: ParameterDefault::Value("100Mb/s", "HPCC simulator, MIN_RATE"),
            meaning: "Minimum rate.",
        },
        Parameter {
            name: "react",
            kind: ParameterKind::Choice(&[("per-ack", "to every acknowledgement"), ("per-rtt", "once per round trip")]),
            default: ParameterDefault::Value("per-ack", "HPCC simulator, FAST_REACT 1"),
            meaning: "How often the rate changes. The reference rate changes once per round trip in any case.",
        },
        Parameter {
            name: "rate_per_hop",
            kind: ParameterKind::Flag,
            default: ParameterDefault::Value("false", "HPCC simulator, MULTI_RATE 0: one rate for all hops"),
            meaning: "Whether each hop has its own rate; the smallest one applies.",
        },
        Parameter {
            name: "measure",
            kind: ParameterKind::Choice(&[
                ("interval", "over the interval since the last stamps of the flow, smoothed"),
                ("average", "over the time since the first stamps of the flow, as csg-htsim has it"),
            ]),
            default: ParameterDefault::Value("interval", "HPCC simulator, and csg-htsim's own comments from the draft"),
            meaning: "How utilisation is measured. With `average` the rate and the window are not limited by the link, and \
                      every acknowledgement divides the present window, not the reference of the last round.",
        },
        window_parameter("variable", "HPCC simulator, HAS_WIN 1 and VAR_WIN 1"),
        BASE_WINDOW,
        WINDOW_EXCESS,
        REWAITS,
        TELEMETRY_UNIT,
    ],
    presets: &[
        Preset {
            name: "hpcc-simulator",
            meaning: "CC_MODE 3 of the public HPCC simulator, with the values of its documented configuration",
            values: &[
                ("max_stage", "0", "HPCC simulator, MI_THRESH"),
                ("rate_per_hop", "true", "HPCC simulator, MULTI_RATE 1"),
                ("window_excess", "true", "HPCC simulator: a frame may start within the window"),
                (
                    "rewaits",
                    "true",
                    "HPCC simulator, ChangeRate: the time of the next frame is moved, also if it has passed",
                ),
                ("telemetry_unit", "1", "HPCC simulator, INT_MULTI"),
            ],
        },
        Preset {
            name: "htsim",
            meaning: "hpcc.cpp of the public simulator csg-htsim, for its packets of 9000 B",
            values: &[
                ("base_rtt", "12us", "csg-htsim, hpcc.cpp: _T"),
                ("eta", "0.95", "csg-htsim, hpcc.cpp: _eta"),
                ("max_stage", "5", "csg-htsim, hpcc.cpp: _max_stages"),
                ("ai_rate", "6Gb/s", "csg-htsim, hpcc.cpp: _Wai is a packet of 9000 B, per _T"),
                ("measure", "average", "csg-htsim, hpcc.cpp: measureInFlight keeps the first telemetry"),
            ],
        },
    ],
    acknowledged: true,
    build: Hpcc::build,
};

/// A hop of the path.
#[derive(Clone, Copy, Debug)]
struct Hop {
    last: Stamp,
    /// Smoothed utilisation, reference rate and stage, if each hop has its own.
    utilisation: f64,
    reference: f64,
    stage: u32,
}

units::encoded!(struct Hop { last, utilisation, reference, stage });

/// The reaction point of HPCC.
#[derive(Clone, Debug)]
pub struct Hpcc {
    rate: BoundedRate,
    eta: f64,
    max_stage: u32,
    ai: f64,
    per_ack: bool,
    per_hop: bool,
    /// Rate at the end of the last round, stage of additive increase, and smoothed utilisation.
    reference: f64,
    stage: u32,
    utilisation: f64,
    round: Round,
    hops: Vec<Hop>,
    /// Telemetry of the acknowledgement that is being handled.
    latest: Vec<Stamp>,
    telemetry_unit: u64,
    pacing: Pacing,
    /// The reading of csg-htsim.
    averages: Option<Averages>,
}

units::state!(struct Hpcc { fixed: eta, max_stage, ai, per_ack, per_hop, telemetry_unit, pacing; plain: reference, stage, utilisation, round, hops, latest; parts: rate, averages; });

impl Hpcc {
    /// Builds the reaction point from its parameters.
    ///
    /// # Errors
    /// Does not fail; what does not suit the link is refused when it is attached.
    pub fn build(values: &Values) -> Result<Reaction, Invalid> {
        Ok(Reaction::Hpcc(Box::new(Hpcc {
            rate: BoundedRate::read(values),
            eta: values.number("eta"),
            max_stage: values.count("max_stage") as u32,
            ai: bits(values.rate("ai_rate")),
            per_ack: values.choice("react") == "per-ack",
            per_hop: values.flag("rate_per_hop"),
            reference: 0.0,
            stage: 0,
            utilisation: 1.0,
            round: Round::default(),
            hops: Vec::new(),
            latest: Vec::new(),
            telemetry_unit: values.count("telemetry_unit"),
            pacing: gap(values),
            averages: (values.choice("measure") == "average").then(|| Averages::read(values)),
        })))
    }

    /// Returns the smoothed utilisation of the most utilised link.
    #[must_use]
    pub fn utilisation(&self) -> f64 {
        self.utilisation
    }

    /// Keeps the stamps without drawing conclusions: at the start, and when the path has changed.
    fn store(&mut self) {
        let (reference, latest) = (self.reference, &self.latest);
        self.hops.clear();
        self.hops.extend(latest.iter().map(|&last| Hop { last, utilisation: 1.0, reference, stage: 0 }));
    }

    /// The rate that follows from a reference, its stage and a utilisation; and the next stage.
    fn rate_from(&self, reference: f64, stage: u32, utilisation: f64) -> (f64, u32) {
        let load = utilisation / self.eta;
        let (rate, stage) = match load >= 1.0 || stage >= self.max_stage {
            true => (reference / load + self.ai, 0),
            false => (reference + self.ai, stage + 1),
        };
        (self.rate.limited(rate), stage)
    }

    fn react(&mut self, commit: bool) {
        let round_trip = seconds(self.rate.window.round_trip);
        let (mut highest, mut over) = (0.0, 0.0);
        let mut smallest = self.rate.link;
        for at in 0..self.latest.len() {
            let (stamp, last) = (self.latest[at], self.hops[at].last);
            let interval = seconds(stamp.at - last.at);
            if interval == 0.0 {
                continue;
            }
            let rate = bits(stamp.rate);
            let sent = (stamp.sent - last.sent).bits() as f64 / interval;
            let queue = stamp.queue.min(last.queue).bits() as f64;
            let utilisation = sent / rate + queue / (rate * self.rate.window.full);
            if utilisation > highest {
                (highest, over) = (utilisation, interval);
            }
            let weight = interval.min(round_trip) / round_trip;
            let mut hop = self.hops[at];
            hop.last = stamp;
            if self.per_hop {
                hop.utilisation = (1.0 - weight) * hop.utilisation + weight * utilisation;
                let (rate, stage) = self.rate_from(hop.reference, hop.stage, hop.utilisation);
                smallest = smallest.min(rate);
                if commit {
                    (hop.reference, hop.stage) = (rate, stage);
                }
            }
            self.hops[at] = hop;
        }
        if over == 0.0 {
            return;
        }
        let weight = f64::min(over, round_trip) / round_trip;
        self.utilisation = (1.0 - weight) * self.utilisation + weight * highest;
        let (rate, stage) = match self.per_hop {
            true => (smallest, 0),
            false => self.rate_from(self.reference, self.stage, self.utilisation),
        };
        self.rate.set(rate);
        if commit {
            (self.reference, self.stage) = (rate, stage);
        }
    }
}

impl ReactionPoint for Hpcc {
    fn attach(&mut self, adapter: &Adapter) -> Result<(), Invalid> {
        self.rate.attach(adapter)?;
        self.reference = self.rate.link;
        self.rate.window.attach(adapter)?;
        if let Some(averages) = &mut self.averages {
            averages.attach(adapter, self.rate.window.round_trip);
        }
        Ok(())
    }

    fn on_sent(&mut self, _now: Time, _len: Bytes) {}

    fn on_telemetry(&mut self, _now: Time, stamps: &[Stamp]) {
        self.latest.clear();
        self.latest.extend(stamps.iter().map(|stamp| rounded(*stamp, self.telemetry_unit)));
    }

    fn on_feedback(&mut self, _now: Time, feedback: &Feedback) {
        let Feedback::Acknowledgement { path, .. } = feedback else { return };
        let commit = self.round.ends(path);
        if self.latest.is_empty() {
            return;
        }
        if let Some(averages) = &mut self.averages {
            averages.on_acknowledgement(&self.latest, commit);
        } else if !continues(self.hops.iter().map(|hop| hop.last), &self.latest) {
            self.store();
        } else if commit || self.per_ack {
            self.react(commit);
        }
        self.latest.clear();
    }

    fn on_deadline(&mut self, _now: Time) {}

    fn deadline(&self) -> Option<Time> {
        None
    }

    fn wants_telemetry(&self) -> bool {
        true
    }

    fn allowance(&self) -> Allowance {
        match &self.averages {
            Some(averages) => averages.allowance(),
            None => self.rate.allowance(),
        }
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

    const ROUND_TRIP: Span = Span::from_micros(8);

    fn built(values: Values) -> Hpcc {
        let values = values.with("base_rtt", Value::Time(ROUND_TRIP));
        let Ok(Reaction::Hpcc(mut source)) = Hpcc::build(&values) else { panic!("its defaults are valid") };
        source.attach(&Adapter::of(Rate::from_gigabits(100), Bytes::new(1000))).unwrap();
        *source
    }

    fn stamp(micros: u64, queue: u64, sent: u64) -> Stamp {
        let at = Time::ZERO + Span::from_micros(micros);
        Stamp { at, queue: Bytes::new(queue), sent: Bytes::new(sent), rate: Rate::from_gigabits(100) }
    }

    fn acknowledge(source: &mut Hpcc, stamps: &[Stamp], acknowledged: u64, sent: u64) {
        let path =
            PathReport { acknowledged: Bytes::new(acknowledged), sent: Bytes::new(sent), ..PathReport::default() };
        source.on_telemetry(Time::ZERO, stamps);
        let feedback =
            Feedback::Acknowledgement { bytes: Bytes::new(1000), marked: false, round_trip: ROUND_TRIP, path };
        source.on_feedback(Time::ZERO, &feedback);
    }

    #[test]
    fn a_flow_starts_at_the_rate_of_its_link_with_a_window_of_a_round_trip() {
        let source = built(Values::defaults(INFO.parameters));
        assert_eq!(source.allowance(), Allowance { rate: None, window: Some(Bytes::new(100_000)) });
        assert!(source.wants_telemetry());
    }

    #[test]
    fn a_full_link_with_a_queue_lowers_the_rate_by_its_utilisation() {
        let mut source = built(Values::defaults(INFO.parameters));
        acknowledge(&mut source, &[stamp(0, 50_000, 0)], 1000, 100_000);
        // For a whole round trip the link was busy, and half a round trip's worth of bytes waited: 1.5.
        acknowledge(&mut source, &[stamp(8, 50_000, 100_000)], 101_000, 200_000);
        assert!((source.utilisation() - 1.5).abs() < 1e-12);
        let expected = 100e9 / (1.5 / 0.95) + 50e6;
        assert!((source.rate.now - expected).abs() < 1.0, "{}", source.rate.now);
        assert_eq!(source.allowance().window, Some(Bytes::new((expected * 1e-6) as u64)));
    }

    #[test]
    fn within_a_round_trip_the_rate_follows_from_the_same_reference() {
        let mut source = built(Values::defaults(INFO.parameters));
        acknowledge(&mut source, &[stamp(0, 50_000, 0)], 1000, 100_000);
        for part in 1..=4 {
            acknowledge(&mut source, &[stamp(2 * part, 50_000, 25_000 * part)], 1000 + part, 100_000);
        }
        // Four acknowledgements of one round: none multiplies what another has set.
        assert_eq!(source.reference, 100e9);
        let smoothed = 1.5 + (1.0 - 1.5) * 0.75_f64.powi(4);
        assert!((source.utilisation() - smoothed).abs() < 1e-12);
        assert!((source.rate.now - (100e9 / (smoothed / 0.95) + 50e6)).abs() < 1.0);
    }

    #[test]
    fn an_idle_path_is_probed_additively_and_then_by_its_utilisation() {
        let mut source = built(Values::defaults(INFO.parameters));
        (source.rate.now, source.reference, source.utilisation) = (10e9, 10e9, 0.1);
        acknowledge(&mut source, &[stamp(0, 0, 0)], 1000, 10_000);
        let mut last = source.rate.now;
        for round in 1..=6_u64 {
            // The flow alone, at a tenth of the link.
            let acknowledged = 1000 + round * 10_000;
            acknowledge(&mut source, &[stamp(8 * round, 0, 10_000 * round)], acknowledged, acknowledged + 9_000);
            match round {
                1..=5 => assert!((source.rate.now - last - 50e6).abs() < 1.0, "round {round}"),
                _ => assert!(source.rate.now > 9.0 * last),
            }
            last = source.rate.now;
        }
    }

    #[test]
    fn the_most_utilised_hop_counts() {
        for per_hop in [false, true] {
            let values = Values::defaults(INFO.parameters).with("rate_per_hop", Value::Flag(per_hop));
            let mut source = built(values);
            acknowledge(&mut source, &[stamp(0, 0, 0), stamp(1, 100_000, 0)], 1000, 100_000);
            let stamps = [stamp(8, 0, 50_000), stamp(9, 100_000, 100_000)];
            acknowledge(&mut source, &stamps, 101_000, 200_000);
            assert!((source.rate.now - (100e9 / (2.0 / 0.95) + 50e6)).abs() < 1.0, "{per_hop}");
        }
    }

    #[test]
    fn another_path_is_not_compared_with_the_last_one() {
        let mut source = built(Values::defaults(INFO.parameters));
        acknowledge(&mut source, &[stamp(0, 0, 0)], 1000, 100_000);
        acknowledge(&mut source, &[stamp(8, 90_000, 100_000), stamp(9, 90_000, 5)], 101_000, 200_000);
        assert_eq!(source.rate.now, 100e9);
        // Counters that go back are of another switch, too.
        acknowledge(&mut source, &[stamp(16, 90_000, 50), stamp(17, 90_000, 5)], 201_000, 300_000);
        assert_eq!(source.rate.now, 100e9);
    }
}
