//! QCN as of 2007, in the 802.1au bake-off: the two-point form (`qcn-2007`), the form with probes from the reaction
//! point to the congestion point (`qcn-p`), and the form with rate guidance (`qcn-pr`).
//!
//! The congestion point samples frames at random, more often under more congestion. The reaction point has the byte
//! counter of the standard, but not its timer: a self-increase timer raises the rate instead. With probes, the byte
//! counter probes the congestion point that last sent negative feedback, and a stage is complete when the reply
//! arrives; the point replies only if its queue has room.

use crate::feedback::{BASE_PROBABILITY, PROBE_ANSWERS};
use crate::guidance::{self, WEIGHT};
use crate::increase::{Increase, IncreaseLaw, lasting};
use crate::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Preset, Values, joined};
use crate::qcn_source::{Clock, Extra, How, Steps};
use crate::{PointInfo, ProtocolInfo, QcnPoint, QcnSource, Reaction};

/// Names and descriptions of the presets of the bake-off.
pub(crate) const RUN_1: Preset =
    Preset { name: "run-1", meaning: "the first runs of the 802.1au bake-off: the defaults", values: &[] };
pub(crate) const RUN_2: Preset =
    Preset { name: "run-2", meaning: "the second runs of the 802.1au bake-off", values: &[] };

const POINT_RUNS: &[Preset] =
    &[RUN_1, Preset { values: &[("base_probability", "0.02", "preset run-2: baseProbability 2 %")], ..RUN_2 }];
const SOURCE_RUNS: &[Preset] =
    &[RUN_1, Preset { values: &[("byte_reset", "75000B", "preset run-2: toThreshold 75000")], ..RUN_2 }];
const PROBING_RUNS: &[Preset] =
    &[RUN_1, Preset { values: &[("byte_reset", "50000B", "preset run-2: toThreshold 50000")], ..RUN_2 }];

const SET_POINT: Parameter = Parameter {
    name: "set_point",
    kind: ParameterKind::Size(100, 1 << 31),
    default: ParameterDefault::Value("24000B", "802.1au bake-off slides: Qeq 24000"),
    meaning: "Queue length that the congestion point aims for.",
};
const POINT_WEIGHT: Parameter = Parameter {
    name: "weight",
    kind: ParameterKind::Number(0.0, 1024.0),
    default: ParameterDefault::Value("2", "802.1au bake-off slides: W = 2"),
    meaning: "Weight of queue growth: how much a byte of growth counts, relative to a byte above the set point. A \
         multiple of 1/1024.",
};

const OF_POINT: [Parameter; 3] = [SET_POINT, POINT_WEIGHT, BASE_PROBABILITY];

pub(crate) const POINT: PointInfo = PointInfo {
    name: "qcn-2007",
    summary: "QCN of 2007: samples frames at random, up to ten times as often under congestion, and sends quantised \
         feedback",
    parameters: &OF_POINT,
    presets: POINT_RUNS,
    build: QcnPoint::build_2007,
};
pub(crate) const POINT_P: PointInfo = PointInfo {
    name: "qcn-p",
    summary: "QCN-P: like qcn-2007; answers probes if the queue has room for a higher rate",
    parameters: &joined::<4>(&OF_POINT, &[PROBE_ANSWERS]),
    ..POINT
};
pub(crate) const POINT_PR: PointInfo = PointInfo {
    name: "qcn-pr",
    summary: "QCN-PR: like qcn-p; notices and probe replies carry a suggested and a maximum rate",
    parameters: &joined::<12>(&joined::<4>(&OF_POINT, &[PROBE_ANSWERS]), &guidance::PARAMETERS),
    ..POINT
};

const BYTE_RESET: Parameter = Parameter {
    name: "byte_reset",
    kind: ParameterKind::Size(1, 1 << 31),
    default: ParameterDefault::Value("150000B", "802.1au bake-off slides, first runs: toThreshold 150000"),
    meaning: "Length of a stage of the byte counter.",
};
/// Parameter of the sources with probes.
const ASKING_RESET: Parameter = Parameter {
    default: ParameterDefault::Value("100000B", "802.1au bake-off slides, first runs: toThreshold 100000"),
    meaning: "Bytes between two probes.",
    ..BYTE_RESET
};
const THRESHOLD: Parameter = Parameter {
    name: "threshold",
    kind: ParameterKind::Count(1, 1000),
    default: ParameterDefault::Value("5", "802.1au bake-off slides: fastRecoveryThreshold 5"),
    meaning: "Number of stages of fast recovery.",
};
const AI_RATE: Parameter = Parameter {
    name: "ai_rate",
    kind: ParameterKind::Rate,
    default: ParameterDefault::Value("12Mb/s", "802.1au bake-off slides: A = 12000000"),
    meaning: "Increase of the target rate in the first stage after fast recovery.",
};
const HYPERACTIVE: Parameter = Parameter {
    name: "hyperactive",
    kind: ParameterKind::Flag,
    default: ParameterDefault::Value("true", "802.1au bake-off slides: hyperactiveIncrease"),
    meaning: "Whether the second stage after fast recovery adds twice `ai_rate`, the third three times, and so on.",
};
const EXTRA: Parameter = Parameter {
    name: "extra_fast_recovery",
    kind: ParameterKind::Choice(&[
        ("clock", "every `drift_period` during fast recovery"),
        ("stage", "every stage of fast recovery"),
        ("off", "never"),
    ]),
    default: ParameterDefault::Value(
        "clock",
        "our reading: the 802.1au bake-off slides say only extraFastRecovery = true",
    ),
    meaning: "Extra fast recovery: when a rate below its target gains half of the difference, at most `efr_max`.",
};
const EFR_MAX: Parameter = Parameter {
    name: "efr_max",
    kind: ParameterKind::Rate,
    default: ParameterDefault::Value(
        "1Mb/s",
        "802.1au bake-off slides: EfrMax 1000000, without a unit; we take bits per second",
    ),
    meaning: "Largest increase of extra fast recovery.",
};
const GD: Parameter = Parameter {
    name: "gd",
    kind: ParameterKind::Number(0.0, 1.0),
    default: ParameterDefault::Value("0.0078125", "802.1au bake-off slides: Gd = 1/128"),
    meaning: "Fraction of the rate removed per feedback step. There are 63 steps.",
};
const MIN_DEC_FACTOR: Parameter = Parameter {
    name: "min_dec_factor",
    kind: ParameterKind::Number(0.0, 1.0),
    default: ParameterDefault::Value("0.5", "802.1au bake-off slides: minDecFactor 0.5"),
    meaning: "Smallest factor by which one notice multiplies the rate.",
};
const MIN_RATE: Parameter = Parameter {
    name: "min_rate",
    kind: ParameterKind::Rate,
    default: ParameterDefault::Value("10Mb/s", "802.1au bake-off slides: minRate 10000000"),
    meaning: "Minimum rate.",
};
const MAX_RATE: Parameter = Parameter {
    name: "max_rate",
    kind: ParameterKind::Rate,
    default: ParameterDefault::Absent("the rate of the source's link"),
    meaning: "Initial rate of a limiter, and the rate at which it is removed. If it is below the link rate, it \
         limits flows without a limiter too.",
};
const JITTER: Parameter = Parameter {
    name: "jitter",
    kind: ParameterKind::Number(0.0, 1.0),
    default: ParameterDefault::Value(
        "0.15",
        "our choice: that of the standard; the 802.1au bake-off slides give \
         none",
    ),
    meaning: "Random deviation of each stage of the byte counter, as a fraction. The first stage after a notice is \
         exact.",
};
const ACTIVE_FROM: Parameter = Parameter {
    name: "active_from",
    kind: ParameterKind::Choice(&[
        ("after", "in the first stage after fast recovery"),
        ("at", "in the last stage of fast recovery"),
    ]),
    default: ParameterDefault::Value("after", "our choice: our reading of the standard"),
    meaning: "When the target rate begins to rise.",
};
const HALVE: Parameter = Parameter {
    name: "halve_byte_counter",
    kind: ParameterKind::Choice(&[("from-threshold", "after fast recovery"), ("never", "never")]),
    default: ParameterDefault::Value("from-threshold", "our choice: our reading of the standard"),
    meaning: "When the stages of the byte counter are halved.",
};
const CLAMP: Parameter = Parameter {
    name: "target_clamp",
    kind: ParameterKind::Choice(&[("byte", "in the first stage"), ("never", "never")]),
    default: ParameterDefault::Value("byte", "our choice: our reading of the standard"),
    meaning: "When a target above ten times the rate is divided by eight instead of raised.",
};
const DRIFT_PERIOD: Parameter = Parameter {
    name: "drift_period",
    kind: ParameterKind::Time,
    default: ParameterDefault::Value("200us", "802.1au bake-off slides: timerPeriod 200 us"),
    meaning: "Time between two self-increases of a limited flow.",
};
const DRIFT_FACTOR: Parameter = Parameter {
    name: "drift_factor",
    kind: ParameterKind::Number(1.0, 2.0),
    default: ParameterDefault::Value("1.0005", "802.1au bake-off slides: driftFactor 1.0005"),
    meaning: "Factor of a self-increase, with `self_increase` = multiplicative.",
};
const DRIFT_RATE: Parameter = Parameter {
    name: "drift_rate",
    kind: ParameterKind::Rate,
    default: ParameterDefault::Value("1Mb/s", "802.1au bake-off slides: selfIncrease 1000000"),
    meaning: "Rate added by a self-increase, with `self_increase` = linear.",
};
const DRIFT_PART: Parameter = Parameter {
    name: "drift_part",
    kind: ParameterKind::Number(0.0, 1.0),
    default: ParameterDefault::Value("0.001", "802.1au bake-off slides: selfIncreaseFactor 0.1 %"),
    meaning: "Fraction of the distance to the maximum rate of the congested switch that a self-increase covers, with \
         `self_increase` = proportional.",
};
const DRIFT_TARGET: Parameter = Parameter {
    name: "drift_target",
    kind: ParameterKind::Choice(&[
        ("carried", "it rises with the rate"),
        ("left", "it stays; the next stage moves the rate halfway back to it"),
    ]),
    default: ParameterDefault::Value("carried", "our choice: the 802.1au bake-off slides do not say"),
    meaning: "What happens to the target when self-increase raises the rate above it.",
};
const LAWS: ParameterKind = ParameterKind::Choice(&[
    ("multiplicative", "by `drift_factor`"),
    ("linear", "by `drift_rate`"),
    (
        "proportional",
        "by `drift_part` of the distance to the maximum rate of the congested switch, or to `max_rate` if it states \
         none",
    ),
]);

/// The self-increase of a source, with its default law.
const fn self_increase(law: &'static str, source: &'static str) -> Parameter {
    Parameter {
        name: "self_increase",
        kind: LAWS,
        default: ParameterDefault::Value(law, source),
        meaning: "How a limited flow raises its rate without feedback.",
    }
}

/// Parameters that all sources have.
const COMMON: [Parameter; 18] = [
    THRESHOLD,
    AI_RATE,
    HYPERACTIVE,
    EXTRA,
    EFR_MAX,
    GD,
    MIN_DEC_FACTOR,
    MIN_RATE,
    MAX_RATE,
    JITTER,
    ACTIVE_FROM,
    HALVE,
    CLAMP,
    DRIFT_PERIOD,
    DRIFT_FACTOR,
    DRIFT_RATE,
    DRIFT_PART,
    DRIFT_TARGET,
];

pub(crate) const SOURCE: ProtocolInfo = ProtocolInfo {
    name: "qcn-2007",
    summary: "QCN of 2007: notices lower the rate; a byte counter restores it, and it drifts upwards",
    parameters: &joined::<20>(
        &COMMON,
        &[BYTE_RESET, self_increase("multiplicative", "802.1au bake-off slides: driftFactor")],
    ),
    presets: SOURCE_RUNS,
    acknowledged: false,
    build: |values| build(values, None),
};
pub(crate) const SOURCE_P: ProtocolInfo = ProtocolInfo {
    name: "qcn-p",
    summary: "QCN-P: like qcn-2007, but the byte counter triggers probes of the congestion point, whose replies \
         raise the rate",
    parameters: &joined::<20>(
        &COMMON,
        &[ASKING_RESET, self_increase("linear", "802.1au bake-off slides: selfIncrease")],
    ),
    presets: PROBING_RUNS,
    acknowledged: false,
    build: |values| build(values, Some(0.0)),
};
pub(crate) const SOURCE_PR: ProtocolInfo = ProtocolInfo {
    name: "qcn-pr",
    summary: "QCN-PR: like qcn-p, and follows the suggested and maximum rates of congestion points",
    parameters: &joined::<21>(
        &COMMON,
        &[
            ASKING_RESET,
            self_increase("proportional", "802.1au bake-off slides: selfIncreaseFactor"),
            Parameter {
                default: ParameterDefault::Value("0.002", "802.1au bake-off slides: switchRateWeight 0.002"),
                ..WEIGHT
            },
        ],
    ),
    presets: PROBING_RUNS,
    acknowledged: false,
    build: |values| build(values, Some(values.number("guidance_weight"))),
};

/// Builds a source whose timer raises its rate; one with probes has a weight for rate guidance.
fn build(values: &Values, asking: Option<f64>) -> Result<Reaction, Invalid> {
    let bits = |name: &str| values.rate(name).as_bits_per_sec() as f64;
    let law = match values.choice("self_increase").as_str() {
        "linear" => IncreaseLaw::Add(bits("drift_rate")),
        "proportional" => IncreaseLaw::Approach(values.number("drift_part")),
        _ => IncreaseLaw::Multiply(values.number("drift_factor")),
    };
    let period = lasting("drift_period", values.time("drift_period"))?;
    let extra = match values.choice("extra_fast_recovery").as_str() {
        "clock" => Extra::ByClock(bits("efr_max")),
        "stage" => Extra::ByStage(bits("efr_max")),
        _ => Extra::Off,
    };
    let steps = Steps::Bytes { active: bits("ai_rate"), hyperactive: values.flag("hyperactive") };
    let carries_target = values.choice("drift_target") == "carried";
    let clock = Clock::Raises { increase: Increase { law, period }, carries_target };
    let (asks, guidance_weight) = (asking.is_some(), asking.unwrap_or(0.0));
    QcnSource::with(values, How { clock, steps, extra, asks, guidance_weight })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::Value;
    use crate::{Adapter, Feedback, ReactionPoint};
    use units::{Bytes, Rate, Time};

    /// The rate in Mb/s of a source that a notice has put at 5 Gb/s of 10, after so many periods of its clock.
    fn after(periods: u32, changes: &[(&'static str, &str)]) -> f64 {
        let mut values = Values::defaults(SOURCE.parameters).with("extra_fast_recovery", Value::Choice("off".into()));
        for (name, value) in changes {
            values = values.with(name, Value::Choice((*value).to_owned()));
        }
        let mut source = (SOURCE.build)(&values).unwrap();
        source.attach(&Adapter::of(Rate::from_gigabits(10), Bytes::new(1500))).unwrap();
        let notice = Feedback::Notice { feedback: 64, offset: -1, growth: 0, point: 0, guidance: None };
        source.on_feedback(Time::ZERO, &notice);
        for _ in 0..periods {
            let now = source.deadline().unwrap();
            source.on_deadline(now);
        }
        source.allowance().rate.unwrap().as_bits_per_sec() as f64 / 1e6
    }

    #[test]
    fn the_three_laws_of_the_slides() {
        let law = |name: &str| after(1, &[("self_increase", name)]);
        // 5000 x 1.0005, 5000 + 1, and a thousandth of the 5000 that are missing.
        assert_eq!([law("multiplicative"), law("linear"), law("proportional")], [5002.5, 5001.0, 5005.0]);
        assert_eq!(after(1, &[]), 5002.5);
    }

    #[test]
    fn a_target_that_is_left_behind_takes_the_rate_back() {
        // The notice comes after a stage, so that target and rate are the same; then 100 periods raise the rate alone.
        let rate = |how: &str| {
            let values = Values::defaults(SOURCE.parameters)
                .with("extra_fast_recovery", Value::Choice("off".into()))
                .with("drift_target", Value::Choice(how.to_owned()))
                .with("self_increase", Value::Choice("linear".into()))
                .with("jitter", Value::Number(0.0))
                .with("drift_rate", Value::Rate(Rate::from_megabits(10)));
            let mut source = (SOURCE.build)(&values).unwrap();
            source.attach(&Adapter::of(Rate::from_gigabits(10), Bytes::new(1500))).unwrap();
            let notice = |feedback: u8| Feedback::Notice { feedback, offset: -1, growth: 0, point: 0, guidance: None };
            let stage = |source: &mut Reaction| (0..101).for_each(|_| source.on_sent(Time::ZERO, Bytes::new(1500)));
            source.on_feedback(Time::ZERO, &notice(64));
            stage(&mut source);
            // 7500 after the stage; the notice makes that the target and takes a 128th of it.
            source.on_feedback(Time::ZERO, &notice(1));
            for _ in 0..100 {
                let now = source.deadline().unwrap();
                source.on_deadline(now);
            }
            let before = source.allowance().rate.unwrap().as_bits_per_sec() as f64 / 1e6;
            assert_eq!(before, 7500.0 * 127.0 / 128.0 + 1000.0);
            stage(&mut source);
            source.allowance().rate.unwrap().as_bits_per_sec() as f64 / 1e6
        };
        assert_eq!(rate("carried"), 7500.0 * 127.0 / 128.0 + 1000.0);
        assert_eq!(rate("left"), (7500.0 * 127.0 / 128.0 + 1000.0 + 7500.0) / 2.0);
    }
}
