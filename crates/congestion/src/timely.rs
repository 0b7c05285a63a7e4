//! TIMELY (Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015) and patched TIMELY (Zhu
//! et al., "ECN or Delay", CoNEXT 2016): the rate follows the gradient of the round-trip time.
//!
//! Below one threshold of the round-trip time the rate rises, above another it falls; between them it follows the sign of
//! the gradient. Any set of rates that fills the link without changing the queue is then a fixed point, so shares depend
//! on the past. The patch weighs the gradient smoothly and adds the distance of the round-trip time from a reference,
//! which gives a single fixed point.
//!
//! The laws are read from Zhu et al. and from the code that the first author of TIMELY publishes
//! (timely-code-snippet.cc); where the public HPCC simulator differs, its reading is a preset.

use crate::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Preset, Values};
use crate::path::{
    BASE_RTT, BASE_WINDOW, BoundedRate, REPACED, Round, WINDOW_EXCESS, bits, pacing, seconds, window_parameter,
};
use crate::{Adapter, Allowance, Feedback, Pacing, ProtocolInfo, Reaction, ReactionPoint};
use units::{Bytes, Span, Time};

/// Zhu et al. list the values that they take from the paper on TIMELY.
const STATED: &str = "Zhu et al. 2016, section 4.1, model validation: as recommended for TIMELY; HPCC simulator";

const ALPHA: Parameter = Parameter {
    name: "alpha",
    kind: ParameterKind::Number(0.0, 1.0),
    default: ParameterDefault::Value("0.875", STATED),
    meaning: "Weight of a new difference of round-trip times.",
};
const T_LOW: Parameter = Parameter {
    name: "t_low",
    kind: ParameterKind::Time,
    default: ParameterDefault::Value("50us", STATED),
    meaning: "Round-trip time below which the rate always rises.",
};
const T_HIGH: Parameter = Parameter {
    name: "t_high",
    kind: ParameterKind::Time,
    default: ParameterDefault::Value("500us", STATED),
    meaning: "Round-trip time above which the rate always falls.",
};
const MIN_RTT: Parameter = Parameter {
    name: "min_rtt",
    kind: ParameterKind::Time,
    default: ParameterDefault::Value("20us", STATED),
    meaning: "Unit of the gradient: the round-trip time without queues.",
};
const AI_RATE: Parameter = Parameter {
    name: "ai_rate",
    kind: ParameterKind::Rate,
    default: ParameterDefault::Absent("a thousandth of the link's rate: 10 Mb/s at 10 Gb/s"),
    meaning: "Additive increase per update.",
};
const MIN_RATE: Parameter = Parameter {
    name: "min_rate",
    kind: ParameterKind::Rate,
    default: ParameterDefault::Value("100Mb/s", "HPCC simulator, MIN_RATE"),
    meaning: "Minimum rate.",
};
const START_RATE: Parameter = Parameter {
    name: "start_rate",
    kind: ParameterKind::Rate,
    default: ParameterDefault::Absent("the rate of the link"),
    meaning: "Initial rate.",
};
const SCALED: Parameter = Parameter {
    name: "scaled",
    kind: ParameterKind::Flag,
    default: ParameterDefault::Value("true", "Mittal, timely-code-snippet.cc; Zhu et al. 2016, section 4.1"),
    meaning: "Whether an update that comes sooner than `min_rtt` after the last one counts in proportion to the time \
         between them.",
};
const MAX_DECREASE: Parameter = Parameter {
    name: "max_decrease",
    kind: ParameterKind::Number(0.0, 1.0),
    default: ParameterDefault::Value("0.5", "Mittal, timely-code-snippet.cc"),
    meaning: "Largest fraction by which an update reduces the rate.",
};
const EVERY: Parameter = Parameter {
    name: "segment",
    kind: ParameterKind::Size(0, 1 << 30),
    default: ParameterDefault::Value(
        "16KB",
        "Zhu et al. 2016, section 4: a completion per chunk of 16 to 64 KB; section 4.3: 16 KB",
    ),
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

pub(crate) const TIMELY: ProtocolInfo = ProtocolInfo {
    name: "timely",
    summary: "TIMELY: the rate follows the gradient of the round-trip time",
    parameters: &[
        ALPHA,
        beta("0.8", STATED),
        T_LOW,
        T_HIGH,
        MIN_RTT,
        AI_RATE,
        Parameter {
            name: "hai_rate",
            kind: ParameterKind::Rate,
            default: ParameterDefault::Absent("5 times `ai_rate`, as in timely-code-snippet.cc"),
            meaning: "Additive increase per update from the sixth in a row without a positive gradient.",
        },
        Parameter {
            name: "hai_below_t_low",
            kind: ParameterKind::Flag,
            default: ParameterDefault::Value(
                "false",
                "Zhu et al. 2016, section 4.2: hyperactive increase only above T_low; Mittal, timely-code-snippet.cc",
            ),
            meaning: "Whether increases below `t_low` also count, and become larger.",
        },
        MIN_RATE,
        START_RATE,
        EVERY,
        SCALED,
        MAX_DECREASE,
        window_parameter("none", "our choice: TIMELY controls the rate only"),
        BASE_RTT,
        BASE_WINDOW,
        WINDOW_EXCESS,
        REPACED,
    ],
    presets: &[
        Preset {
            name: "hpcc-simulator",
            meaning: "CC_MODE 7 of the public HPCC simulator",
            values: &[
                ("segment", "0B", "HPCC simulator: once per round trip"),
                ("ai_rate", "50Mb/s", "HPCC simulator, RATE_AI of its documented configuration"),
                ("hai_rate", "100Mb/s", "HPCC simulator, RATE_HAI of its documented configuration"),
                ("hai_below_t_low", "true", "HPCC simulator: every increase counts"),
                ("scaled", "false", "HPCC simulator: once per round trip"),
                ("max_decrease", "1", "HPCC simulator: no limit but MIN_RATE"),
                ("repaced", "false", "HPCC simulator: the next frame keeps its time"),
                ("window_excess", "true", "HPCC simulator: a frame may start within the window"),
            ],
        },
        Preset {
            name: "authors",
            meaning: "the values that the published code recommends for packets paced one by one",
            values: &[
                ("alpha", "0.02", "Mittal, timely-code-snippet.cc: ewma_alpha"),
                ("t_low", "0us", "Mittal, timely-code-snippet.cc: 0 with per-packet pacing, 50 us per 64 KB message"),
                ("t_high", "1ms", "Mittal, timely-code-snippet.cc"),
            ],
        },
    ],
    acknowledged: true,
    build: |values| {
        let hai = values.maybe_rate("hai_rate").map(bits);
        let low = values.flag("hai_below_t_low");
        Timely::build(values, Law::Gradient { hai, low })
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
        AI_RATE,
        Parameter {
            name: "reference_rtt",
            kind: ParameterKind::Time,
            default: ParameterDefault::Absent("t_low"),
            meaning: "Round-trip time from which the error is measured.",
        },
        MIN_RATE,
        START_RATE,
        EVERY,
        SCALED,
        MAX_DECREASE,
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
    /// By the sign of the gradient; increases of `hai`, by default five times the others, from the sixth in a row;
    /// also below the lower threshold if `low`.
    Gradient { hai: Option<f64>, low: bool },
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
    /// Bits per second; by default a thousandth of the link.
    ai: Option<f64>,
    start: Option<f64>,
    scaled: bool,
    max_decrease: f64,
    segment: u64,
    rate: BoundedRate,
    pacing: Pacing,
    /// When the rate was last updated.
    updated: Time,
    /// Last round-trip time and smoothed difference, in seconds.
    last: Option<f64>,
    difference: f64,
    in_a_row: u32,
    round: Round,
    acknowledged: u64,
}

units::state!(struct Timely { fixed: law, alpha, beta, low, high, unit, ai, start, scaled, max_decrease, segment, pacing; plain: updated, last, difference, in_a_row, round, acknowledged; parts: rate; });

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
            ai: values.maybe_rate("ai_rate").map(bits),
            start: values.maybe_rate("start_rate").map(bits),
            scaled: values.flag("scaled"),
            max_decrease: values.number("max_decrease"),
            segment: values.size("segment").get(),
            rate: BoundedRate::read(values),
            pacing: pacing(values),
            updated: Time::ZERO,
            last: None,
            difference: 0.0,
            in_a_row: 0,
            round: Round::default(),
            acknowledged: 0,
        })))
    }

    fn update(&mut self, now: Time, round_trip: f64) {
        let since = seconds(now.saturating_since(std::mem::replace(&mut self.updated, now)));
        let Some(last) = self.last.replace(round_trip) else { return };
        // A gradient is a difference between two updates, and small by itself when they follow closely.
        let part = if self.scaled { (since / self.unit).min(1.0) } else { 1.0 };
        self.difference = (1.0 - self.alpha) * self.difference + self.alpha * (round_trip - last);
        let gradient = self.difference / self.unit;
        let ai = self.ai.unwrap_or(self.rate.link / 1000.0);
        let rate = match self.law {
            _ if round_trip > self.high => self.fall(1.0 - part * self.beta * (1.0 - self.high / round_trip)),
            Law::Weighed { reference } if round_trip >= self.low => {
                let weight = (2.0 * gradient + 0.5).clamp(0.0, 1.0);
                let error = (round_trip - reference) / reference;
                let factor = (1.0 - part * self.beta * weight * error).max(1.0 - self.max_decrease);
                self.rate.now * factor + part * ai * (1.0 - weight)
            }
            Law::Gradient { .. } if round_trip >= self.low && gradient > 0.0 => self.fall(1.0 - self.beta * gradient),
            Law::Gradient { hai, low } if low || round_trip >= self.low => {
                let step = if self.in_a_row >= PATIENCE { hai.unwrap_or(5.0 * ai) } else { ai };
                self.in_a_row += 1;
                self.rate.now + part * step
            }
            _ => self.rate.now + part * ai,
        };
        self.rate.set(rate);
    }

    fn fall(&mut self, factor: f64) -> f64 {
        self.in_a_row = 0;
        self.rate.now * factor.max(1.0 - self.max_decrease)
    }
}

impl ReactionPoint for Timely {
    fn attach(&mut self, adapter: &Adapter) -> Result<(), Invalid> {
        self.rate.attach(adapter)?;
        if let Some(start) = self.start {
            self.rate.set(start);
        }
        if self.rate.window.is_bounded() { self.rate.window.attach(adapter) } else { Ok(()) }
    }

    fn on_sent(&mut self, _now: Time, _len: Bytes) {}

    fn on_feedback(&mut self, now: Time, feedback: &Feedback) {
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
            self.update(now, seconds(path.network_round_trip));
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
    use units::Rate;

    fn made(info: &ProtocolInfo, set: &[(&'static str, Value)], gigabits: u64) -> Timely {
        let mut values = Values::defaults(info.parameters).with("segment", Value::Size(Bytes::new(1000)));
        set.iter().for_each(|(name, value)| values.set(name, value.clone()));
        let Ok(Reaction::Timely(mut source)) = (info.build)(&values) else { panic!("its values are valid") };
        source.attach(&Adapter::of(Rate::from_gigabits(gigabits), Bytes::new(1000))).unwrap();
        *source
    }

    fn built(info: &ProtocolInfo) -> Timely {
        made(info, &[], 10)
    }

    fn acknowledge_after(source: &mut Timely, pause: Span, micros: u64) -> f64 {
        let path = PathReport { network_round_trip: Span::from_micros(micros), ..PathReport::default() };
        let round_trip = Span::from_micros(micros + 1000);
        let feedback = Feedback::Acknowledgement { bytes: Bytes::new(1000), marked: false, round_trip, path };
        source.on_feedback(source.updated + pause, &feedback);
        source.rate.now
    }

    fn acknowledge(source: &mut Timely, micros: u64) -> f64 {
        acknowledge_after(source, Span::from_millis(1), micros)
    }

    #[test]
    fn five_increases_in_a_row_are_followed_by_larger_ones_above_the_lower_threshold() {
        let rates = |source: &mut Timely, micros: u64| {
            source.rate.now = 1e9;
            (0..8).map(|_| acknowledge(source, micros)).collect::<Vec<f64>>()
        };
        let faster = [1e9, 1.01e9, 1.02e9, 1.03e9, 1.04e9, 1.05e9, 1.1e9, 1.15e9];
        // The first one only sets the reference of differences.
        assert_eq!(rates(&mut built(&TIMELY), 60), faster);
        let steady = [1e9, 1.01e9, 1.02e9, 1.03e9, 1.04e9, 1.05e9, 1.06e9, 1.07e9];
        assert_eq!(rates(&mut built(&TIMELY), 20), steady);
        let low = [("hai_below_t_low", Value::Flag(true))];
        assert_eq!(rates(&mut made(&TIMELY, &low, 10), 20), faster);
    }

    #[test]
    fn the_increase_is_a_thousandth_of_the_link_unless_it_is_given() {
        for (set, expected) in [(vec![], 25e6), (vec![("ai_rate", Value::Rate(Rate::from_megabits(7)))], 7e6)] {
            let mut source = made(&TIMELY, &set, 25);
            source.rate.now = 1e9;
            acknowledge(&mut source, 20);
            assert_eq!(acknowledge(&mut source, 20), 1e9 + expected);
        }
    }

    #[test]
    fn updates_that_follow_closely_count_in_proportion() {
        for (scaled, expected) in [(true, 2.5e6), (false, 10e6)] {
            let mut source = made(&TIMELY, &[("scaled", Value::Flag(scaled))], 10);
            source.rate.now = 1e9;
            acknowledge(&mut source, 20);
            // A quarter of min_rtt.
            assert_eq!(acknowledge_after(&mut source, Span::from_micros(5), 20), 1e9 + expected);
        }
    }

    #[test]
    fn one_update_takes_no_more_than_half_and_flows_start_where_they_are_told() {
        let mut source = made(&TIMELY, &[("start_rate", Value::Rate(Rate::from_gigabits(3)))], 10);
        assert_eq!(source.rate.now, 3e9);
        acknowledge(&mut source, 60);
        assert_eq!(acknowledge(&mut source, 400), 1.5e9);
        assert_eq!(made(&TIMELY, &[("start_rate", Value::Rate(Rate::from_gigabits(30)))], 10).rate.now, 10e9);
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
