//! QCN as it was in 2007, in the 802.1au bake-off: the two-point form (`qcn-2007`), the form with probes from the
//! reaction point to the congestion point (`qcn-p`), and that with rate guidance (`qcn-pr`).
//!
//! The congestion point samples frames by chance, the more often the more congestion there is. The reaction point has
//! the byte counter of the standard and not its timer: a clock raises the rate by itself instead. With probes, the byte
//! counter asks the congestion point that last asked for less, and a stage is complete when an answer comes, which it
//! does only if there is room for more.

use crate::feedback::{BASE_PROBABILITY, PROBE_ANSWERS};
use crate::guidance::{self, WEIGHT};
use crate::increase::{Increase, IncreaseLaw, lasting};
use crate::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Preset, Values, joined};
use crate::qcn_source::{Clock, Extra, How, Steps};
use crate::{PointInfo, ProtocolInfo, QcnPoint, QcnSource, Reaction};

/// What the presets of the bake-off are called and mean.
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
    meaning: "The queue that it steers towards.",
};
const POINT_WEIGHT: Parameter = Parameter {
    name: "weight",
    kind: ParameterKind::Number(0.0, 1024.0),
    default: ParameterDefault::Value("2", "802.1au bake-off slides: W = 2"),
    meaning: "What a byte of growth counts, where a byte above the set point counts one. A multiple of 1/1024.",
};

const OF_POINT: [Parameter; 3] = [SET_POINT, POINT_WEIGHT, BASE_PROBABILITY];

pub(crate) const POINT: PointInfo = PointInfo {
    name: "qcn-2007",
    summary: "QCN of 2007: samples frames by chance, up to ten times as often with congestion, and sends quantised feedback",
    parameters: &OF_POINT,
    presets: POINT_RUNS,
    build: QcnPoint::build_2007,
};
pub(crate) const POINT_P: PointInfo = PointInfo {
    name: "qcn-p",
    summary: "QCN-P: as qcn-2007; answers the probes of sources if there is room for more",
    parameters: &joined::<4>(&OF_POINT, &[PROBE_ANSWERS]),
    ..POINT
};
pub(crate) const POINT_PR: PointInfo = PointInfo {
    name: "qcn-pr",
    summary: "QCN-PR: as qcn-p; notices and answers carry a suggested and a largest rate",
    parameters: &joined::<12>(&joined::<4>(&OF_POINT, &[PROBE_ANSWERS]), &guidance::PARAMETERS),
    ..POINT
};

const BYTE_RESET: Parameter = Parameter {
    name: "byte_reset",
    kind: ParameterKind::Size(1, 1 << 31),
    default: ParameterDefault::Value("150000B", "802.1au bake-off slides, first runs: toThreshold 150000"),
    meaning: "A stage of the byte counter.",
};
/// Of the sources with probes.
const ASKING_RESET: Parameter = Parameter {
    default: ParameterDefault::Value("100000B", "802.1au bake-off slides, first runs: toThreshold 100000"),
    meaning: "Bytes between two probes.",
    ..BYTE_RESET
};
const THRESHOLD: Parameter = Parameter {
    name: "threshold",
    kind: ParameterKind::Count(1, 1000),
    default: ParameterDefault::Value("5", "802.1au bake-off slides: fastRecoveryThreshold 5"),
    meaning: "Stages of fast recovery.",
};
const AI_RATE: Parameter = Parameter {
    name: "ai_rate",
    kind: ParameterKind::Rate,
    default: ParameterDefault::Value("12Mb/s", "802.1au bake-off slides: A = 12000000"),
    meaning: "What the first stage after fast recovery adds to the target.",
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
        ("clock", "with each `drift_period` in fast recovery"),
        ("stage", "with each stage of fast recovery"),
        ("off", "never"),
    ]),
    default: ParameterDefault::Value(
        "clock",
        "our reading: the 802.1au bake-off slides say only extraFastRecovery = true",
    ),
    meaning: "When a rate below its target also gains half of what is missing, at most `efr_max`.",
};
const EFR_MAX: Parameter = Parameter {
    name: "efr_max",
    kind: ParameterKind::Rate,
    default: ParameterDefault::Value(
        "1Mb/s",
        "802.1au bake-off slides: EfrMax 1000000, without a unit; we take bits per second",
    ),
    meaning: "The most that extra fast recovery adds at once.",
};
const GD: Parameter = Parameter {
    name: "gd",
    kind: ParameterKind::Number(0.0, 1.0),
    default: ParameterDefault::Value("0.0078125", "802.1au bake-off slides: Gd = 1/128"),
    meaning: "What a step of the feedback, of which there are 63, takes from the rate as a part of it.",
};
const MIN_DEC_FACTOR: Parameter = Parameter {
    name: "min_dec_factor",
    kind: ParameterKind::Number(0.0, 1.0),
    default: ParameterDefault::Value("0.5", "802.1au bake-off slides: minDecFactor 0.5"),
    meaning: "What a single notice leaves of the rate, at least.",
};
const MIN_RATE: Parameter = Parameter {
    name: "min_rate",
    kind: ParameterKind::Rate,
    default: ParameterDefault::Value("10Mb/s", "802.1au bake-off slides: minRate 10000000"),
    meaning: "The rate below which it never falls.",
};
const MAX_RATE: Parameter = Parameter {
    name: "max_rate",
    kind: ParameterKind::Rate,
    default: ParameterDefault::Absent("the rate of the source's link"),
    meaning: "The rate at which a limiter starts and at which it is removed. If it is below that of the link, it also holds where there is no limiter.",
};
const JITTER: Parameter = Parameter {
    name: "jitter",
    kind: ParameterKind::Number(0.0, 1.0),
    default: ParameterDefault::Value("0.15", "our choice: as the standard; the 802.1au bake-off slides give none"),
    meaning: "Each stage of the byte counter is longer or shorter by up to this part of it; the first after a notice is not.",
};
const ACTIVE_FROM: Parameter = Parameter {
    name: "active_from",
    kind: ParameterKind::Choice(&[
        ("after", "with the stage after the last of fast recovery"),
        ("at", "with the last stage of fast recovery"),
    ]),
    default: ParameterDefault::Value("after", "our choice: as we read the standard"),
    meaning: "When the target begins to rise.",
};
const HALVE: Parameter = Parameter {
    name: "halve_byte_counter",
    kind: ParameterKind::Choice(&[("from-threshold", "from the end of fast recovery on"), ("never", "never")]),
    default: ParameterDefault::Value("from-threshold", "our choice: as we read the standard"),
    meaning: "When the stages of the byte counter become half as long.",
};
const CLAMP: Parameter = Parameter {
    name: "target_clamp",
    kind: ParameterKind::Choice(&[("byte", "in the first stage"), ("never", "never")]),
    default: ParameterDefault::Value("byte", "our choice: as we read the standard"),
    meaning: "When a target of more than ten times the rate is divided by eight instead of raised.",
};
const DRIFT_PERIOD: Parameter = Parameter {
    name: "drift_period",
    kind: ParameterKind::Time,
    default: ParameterDefault::Value("200us", "802.1au bake-off slides: timerPeriod 200 us"),
    meaning: "How often a limited flow raises its rate by itself.",
};
const DRIFT_FACTOR: Parameter = Parameter {
    name: "drift_factor",
    kind: ParameterKind::Number(1.0, 2.0),
    default: ParameterDefault::Value("1.0005", "802.1au bake-off slides: driftFactor 1.0005"),
    meaning: "What a limited flow multiplies its rate by, each `drift_period`, with `self_increase` multiplicative.",
};
const DRIFT_RATE: Parameter = Parameter {
    name: "drift_rate",
    kind: ParameterKind::Rate,
    default: ParameterDefault::Value("1Mb/s", "802.1au bake-off slides: selfIncrease 1000000"),
    meaning: "What a limited flow adds to its rate, each `drift_period`, with `self_increase` linear.",
};
const DRIFT_PART: Parameter = Parameter {
    name: "drift_part",
    kind: ParameterKind::Number(0.0, 1.0),
    default: ParameterDefault::Value("0.001", "802.1au bake-off slides: selfIncreaseFactor 0.1 %"),
    meaning: "The part of the way to the largest rate that the congested switch allows, each `drift_period`, with `self_increase` proportional.",
};
const DRIFT_TARGET: Parameter = Parameter {
    name: "drift_target",
    kind: ParameterKind::Choice(&[
        ("carried", "it rises with the rate"),
        ("left", "it stays: the next stage takes the rate halfway back to it"),
    ]),
    default: ParameterDefault::Value("carried", "our choice: the 802.1au bake-off slides do not say"),
    meaning: "What becomes of the target when a flow raises its rate above it by itself.",
};
const LAWS: ParameterKind = ParameterKind::Choice(&[
    ("multiplicative", "by `drift_factor`"),
    ("linear", "by `drift_rate`"),
    (
        "proportional",
        "by `drift_part` of what is missing to the largest rate that the congested switch allows; where it states none, to \
         `max_rate`",
    ),
]);

/// How a source raises its rate by itself, unless somebody says otherwise.
const fn self_increase(law: &'static str, source: &'static str) -> Parameter {
    Parameter {
        name: "self_increase",
        kind: LAWS,
        default: ParameterDefault::Value(law, source),
        meaning: "How a limited flow raises its rate by itself.",
    }
}

/// What all sources have.
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
    summary: "QCN of 2007: notices lower the rate; a byte counter brings it back, and it drifts upwards",
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
    summary: "QCN-P: as qcn-2007, but its byte counter asks the congestion point, whose answers raise the rate",
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
    summary: "QCN-PR: as qcn-p, and follows the rates that congestion points suggest and allow",
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

/// A source whose clock raises its rate; one that asks has a weight for what is suggested to it.
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
