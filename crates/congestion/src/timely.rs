//! TIMELY (Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015) and patched TIMELY (Zhu
//! et al., "ECN or Delay", CoNEXT 2016): the rate follows the gradient of the round-trip time.
//!
//! Below one threshold of the round-trip time the rate rises, above another it falls; between them it follows the sign of
//! the gradient. Any set of rates that fills the link without changing the queue is then a fixed point, so shares depend
//! on the past. The patch weighs the gradient smoothly and adds the distance of the round-trip time from a reference,
//! which gives a single fixed point.

use crate::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Preset, Values};
use crate::path::{BoundedRate, Round, bits, seconds};
use crate::{Adapter, Allowance, Feedback, Pacing, ProtocolInfo, Reaction, ReactionPoint};
use units::{Bytes, Span, Time};

const ALPHA: Parameter = Parameter {
    name: "alpha",
    kind: ParameterKind::Number(0.0, 1.0),
    default: ParameterDefault::Value("0.875", "HPCC simulator; Zhu et al. 2016, table of parameters of TIMELY"),
    meaning: "Weight of a new difference of round-trip times.",
};
const T_LOW: Parameter = Parameter {
    name: "t_low",
    kind: ParameterKind::Time,
    default: ParameterDefault::Value("50us", "HPCC simulator; Mittal et al. 2015"),
    meaning: "Round-trip time below which the rate always rises.",
};
const T_HIGH: Parameter = Parameter {
    name: "t_high",
    kind: ParameterKind::Time,
    default: ParameterDefault::Value("500us", "HPCC simulator; Mittal et al. 2015"),
    meaning: "Round-trip time above which the rate always falls.",
};
const MIN_RTT: Parameter = Parameter {
    name: "min_rtt",
    kind: ParameterKind::Time,
    default: ParameterDefault::Value("20us", "HPCC simulator"),
    meaning: "Unit of the gradient: the round-trip time without queues.",
};
const MIN_RATE: Parameter = Parameter {
    name: "min_rate",
    kind: ParameterKind::Rate,
    default: ParameterDefault::Value("100Mb/s", "HPCC simulator, MIN_RATE"),
    meaning: "Minimum rate.",
};
const EVERY: Parameter = Parameter {
    name: "segment",
    kind: ParameterKind::Size(0, 1 << 30),
    default: ParameterDefault::Value("16KB", "Mittal et al. 2015: segments of 16 to 64 KB, each with one completion"),
    meaning: "Bytes acknowledged per update of the rate; 0 for one update per round trip.",
};

const fn beta(default: &'static str, source: &'static str) -> Parameter {
    Parameter {
        name: "beta",
        kind: ParameterKind::Number(0.0, 1.0),
        default: ParameterDefault::Value(default, source),
        meaning: "Factor of multiplicative decrease.",
    }
}

const fn ai_rate(default: &'static str, source: &'static str) -> Parameter {
    Parameter {
        name: "ai_rate",
        kind: ParameterKind::Rate,
        default: ParameterDefault::Value(default, source),
        meaning: "Additive increase per update.",
    }
}

pub(crate) const TIMELY: ProtocolInfo = ProtocolInfo {
    name: "timely",
    summary: "TIMELY: the rate follows the gradient of the round-trip time",
    parameters: &[
        ALPHA,
        beta("0.8", "HPCC simulator; Mittal et al. 2015"),
        T_LOW,
        T_HIGH,
        MIN_RTT,
        ai_rate("10Mb/s", "Mittal et al. 2015: delta = 10 Mb/s"),
        Parameter {
            name: "hai_rate",
            kind: ParameterKind::Rate,
            default: ParameterDefault::Value("50Mb/s", "Mittal et al. 2015: N = 5 times delta"),
            meaning: "Additive increase per update from the fifth in a row without a positive gradient.",
        },
        MIN_RATE,
        EVERY,
    ],
    presets: &[Preset {
        name: "hpcc-simulator",
        meaning: "CC_MODE 7 of the public HPCC simulator",
        values: &[
            ("segment", "0B", "HPCC simulator: once per round trip"),
            ("ai_rate", "50Mb/s", "HPCC simulator, RATE_AI"),
            ("hai_rate", "100Mb/s", "HPCC simulator, RATE_HAI"),
        ],
    }],
    acknowledged: true,
    build: |values| {
        let hai = bits(values.rate("hai_rate"));
        Timely::build(values, Law::Gradient { hai })
    },
};

pub(crate) const PATCHED: ProtocolInfo = ProtocolInfo {
    name: "patched-timely",
    summary: "patched TIMELY: the gradient is weighed, and the round-trip time is held at a reference",
    parameters: &[
        ALPHA,
        beta("0.008", "Zhu et al. 2016, section 4.3"),
        T_LOW,
        T_HIGH,
        MIN_RTT,
        ai_rate("10Mb/s", "Zhu et al. 2016, section 4.3: as in TIMELY"),
        Parameter {
            name: "reference_rtt",
            kind: ParameterKind::Time,
            default: ParameterDefault::Absent("t_low"),
            meaning: "Round-trip time from which the error is measured.",
        },
        MIN_RATE,
        EVERY,
    ],
    presets: &[],
    acknowledged: true,
    build: |values| {
        let reference = seconds(values.maybe_time("reference_rtt").unwrap_or(values.time("t_low")));
        if reference == 0.0 {
            return Err(Invalid::new("reference_rtt", "a reference of zero", "give a time above zero"));
        }
        Timely::build(values, Law::Weighed { reference })
    },
};

/// The law between the two thresholds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Law {
    /// By the sign of the gradient; increases of `hai` from the fifth in a row.
    Gradient { hai: f64 },
    /// By the gradient as a weight between increase and an error relative to `reference`, in seconds.
    Weighed { reference: f64 },
}

/// Updates in a row without a positive gradient after which increases are larger.
const PATIENCE: u32 = 5;

/// The reaction point of TIMELY and of patched TIMELY.
#[derive(Clone, Copy, Debug)]
pub struct Timely {
    law: Law,
    alpha: f64,
    beta: f64,
    /// Thresholds and unit of the gradient, in seconds.
    low: f64,
    high: f64,
    unit: f64,
    ai: f64,
    segment: u64,
    rate: BoundedRate,
    /// Last round-trip time and smoothed difference, in seconds.
    last: Option<f64>,
    difference: f64,
    in_a_row: u32,
    round: Round,
    acknowledged: u64,
}

impl Timely {
    fn build(values: &Values, law: Law) -> Result<Reaction, Invalid> {
        let [low, high, unit] = ["t_low", "t_high", "min_rtt"].map(|name| seconds(values.time(name)));
        if low > high {
            return Err(Invalid::new("t_low", "above `t_high`", "give a smaller time"));
        }
        if unit == 0.0 {
            return Err(Invalid::new("min_rtt", "a gradient without a unit", "give a time above zero"));
        }
        Ok(Reaction::Timely(Box::new(Timely {
            law,
            alpha: values.number("alpha"),
            beta: values.number("beta"),
            low,
            high,
            unit,
            ai: bits(values.rate("ai_rate")),
            segment: values.size("segment").get(),
            rate: BoundedRate::read(values),
            last: None,
            difference: 0.0,
            in_a_row: 0,
            round: Round::default(),
            acknowledged: 0,
        })))
    }

    fn update(&mut self, round_trip: f64) {
        let Some(last) = self.last.replace(round_trip) else { return };
        self.difference = (1.0 - self.alpha) * self.difference + self.alpha * (round_trip - last);
        let gradient = self.difference / self.unit;
        let falls_beyond = 1.0 - self.beta * (1.0 - self.high / round_trip);
        let rate = match self.law {
            _ if round_trip > self.high => self.fall(falls_beyond),
            Law::Weighed { reference } if round_trip >= self.low => {
                let weight = (2.0 * gradient + 0.5).clamp(0.0, 1.0);
                let error = (round_trip - reference) / reference;
                self.rate.now * (1.0 - self.beta * weight * error) + self.ai * (1.0 - weight)
            }
            Law::Gradient { .. } if round_trip >= self.low && gradient > 0.0 => self.fall(1.0 - self.beta * gradient),
            law => {
                let step = match law {
                    Law::Gradient { hai } if self.in_a_row >= PATIENCE => hai,
                    _ => self.ai,
                };
                self.in_a_row += 1;
                self.rate.now + step
            }
        };
        self.rate.set(rate);
    }

    fn fall(&mut self, factor: f64) -> f64 {
        self.in_a_row = 0;
        self.rate.now * factor.max(0.0)
    }
}

impl ReactionPoint for Timely {
    fn attach(&mut self, adapter: &Adapter) -> Result<(), Invalid> {
        self.rate.attach(adapter)
    }

    fn on_sent(&mut self, _now: Time, _len: Bytes) {}

    fn on_feedback(&mut self, _now: Time, feedback: &Feedback) {
        let Feedback::Acknowledgement { bytes, path, .. } = feedback else { return };
        if self.segment == 0 {
            if !self.round.ends(path) {
                return;
            }
        } else {
            self.acknowledged += bytes.get();
            if self.acknowledged < self.segment {
                return;
            }
            self.acknowledged %= self.segment;
        }
        if path.network_round_trip > Span::ZERO {
            self.update(seconds(path.network_round_trip));
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
        Pacing::FromStart
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PathReport;
    use crate::parameter::Value;
    use units::Rate;

    fn built(info: &ProtocolInfo) -> Timely {
        let values = Values::defaults(info.parameters).with("segment", Value::Size(Bytes::new(1000)));
        let Ok(Reaction::Timely(mut source)) = (info.build)(&values) else { panic!("its defaults are valid") };
        source.attach(&Adapter::of(Rate::from_gigabits(10), Bytes::new(1000))).unwrap();
        *source
    }

    fn acknowledge(source: &mut Timely, micros: u64) -> f64 {
        let path = PathReport { network_round_trip: Span::from_micros(micros), ..PathReport::default() };
        let round_trip = Span::from_micros(micros + 1000);
        let feedback = Feedback::Acknowledgement { bytes: Bytes::new(1000), marked: false, round_trip, path };
        source.on_feedback(Time::ZERO, &feedback);
        source.rate.now
    }

    #[test]
    fn a_short_round_trip_raises_the_rate_and_five_in_a_row_raise_it_faster() {
        let mut source = built(&TIMELY);
        source.rate.now = 1e9;
        let rates: Vec<f64> = (0..8).map(|_| acknowledge(&mut source, 20)).collect();
        // The first one only sets the reference of differences.
        assert_eq!(rates, [1e9, 1.01e9, 1.02e9, 1.03e9, 1.04e9, 1.05e9, 1.1e9, 1.15e9]);
    }

    #[test]
    fn a_rising_round_trip_lowers_the_rate_by_its_gradient() {
        let mut source = built(&TIMELY);
        acknowledge(&mut source, 60);
        // 0.875 * 4 us of 20 us is a gradient of 0.175.
        let rate = acknowledge(&mut source, 64);
        assert!((rate / 10e9 - (1.0 - 0.8 * 0.175)).abs() < 1e-9, "{rate}");
        // A falling one raises it, though the queue is the same.
        assert!(acknowledge(&mut source, 60) > rate);
    }

    #[test]
    fn beyond_the_upper_threshold_the_rate_falls_whatever_the_gradient() {
        for info in [&TIMELY, &PATCHED] {
            let mut source = built(info);
            acknowledge(&mut source, 1100);
            let rate = acknowledge(&mut source, 1000);
            assert!((rate / 10e9 - (1.0 - source.beta * 0.5)).abs() < 1e-9, "{}", info.name);
        }
    }

    #[test]
    fn the_patch_holds_the_round_trip_at_its_reference() {
        let mut source = built(&PATCHED);
        source.rate.now = 1e9;
        acknowledge(&mut source, 50);
        // No gradient: half of the increase, and at the reference no decrease.
        assert!((acknowledge(&mut source, 50) - (1e9 + 5e6)).abs() < 1.0);
        let (mut source, rate) = (built(&PATCHED), 1e9);
        source.rate.now = rate;
        acknowledge(&mut source, 100);
        let after = acknowledge(&mut source, 100);
        // Twice the reference: an error of 1, weighed by a half.
        assert!((after - (rate * (1.0 - 0.008 * 0.5) + 5e6)).abs() < 1.0, "{after}");
    }

    #[test]
    fn rates_stay_within_bounds() {
        for info in [&TIMELY, &PATCHED] {
            let (mut source, mut stream) = (built(info), units::Stream::new(1, 1, "timely"));
            for _ in 0..20_000 {
                let rate = acknowledge(&mut source, 1 + stream.below(2000));
                assert!((100e6..=10e9).contains(&rate), "{rate}");
            }
        }
    }
}
