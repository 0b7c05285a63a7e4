//! QCN as it was in 2007, in the 802.1au bake-off: the two-point form (`qcn-2007`), the form with probes from the
//! reaction point to the congestion point (`qcn-p`), and that with rate guidance (`qcn-pr`).
//!
//! The congestion point samples frames by chance, the more often the more congestion there is. The reaction point has
//! the byte counter of the standard and not its timer: a clock raises the rate by itself instead. With probes, the byte
//! counter asks the congestion point that last asked for less, and a stage is complete when an answer comes, which it
//! does only if there is room for more.

use crate::feedback::BASE_PROBABILITY;
use crate::guidance::{self, WEIGHT};
use crate::increase::{Increase, Law, lasting};
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
    ..POINT
};
pub(crate) const POINT_PR: PointInfo = PointInfo {
    name: "qcn-pr",
    summary: "QCN-PR: as qcn-p; notices and answers carry a suggested and a largest rate",
    parameters: &joined::<11>(&OF_POINT, &guidance::PARAMETERS),
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

/// What all sources have.
const COMMON: [Parameter; 14] = [
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
];

pub(crate) const SOURCE: ProtocolInfo = ProtocolInfo {
    name: "qcn-2007",
    summary: "QCN of 2007: notices lower the rate; a byte counter brings it back, and it drifts upwards",
    parameters: &joined::<16>(
        &COMMON,
        &[
            BYTE_RESET,
            Parameter {
                name: "drift_factor",
                kind: ParameterKind::Number(1.0, 2.0),
                default: ParameterDefault::Value("1.0005", "802.1au bake-off slides: driftFactor 1.0005"),
                meaning: "What a limited flow multiplies its rate by, each `drift_period`.",
            },
        ],
    ),
    presets: SOURCE_RUNS,
    acknowledged: false,
    build: |values| build(values, Law::Multiply(values.number("drift_factor")), None),
};
pub(crate) const SOURCE_P: ProtocolInfo = ProtocolInfo {
    name: "qcn-p",
    summary: "QCN-P: as qcn-2007, but its byte counter asks the congestion point, whose answers raise the rate",
    parameters: &joined::<16>(
        &COMMON,
        &[
            ASKING_RESET,
            Parameter {
                name: "drift_rate",
                kind: ParameterKind::Rate,
                default: ParameterDefault::Value("1Mb/s", "802.1au bake-off slides: selfIncrease 1000000"),
                meaning: "What a limited flow adds to its rate, each `drift_period`.",
            },
        ],
    ),
    presets: PROBING_RUNS,
    acknowledged: false,
    build: |values| build(values, Law::Add(values.rate("drift_rate").as_bits_per_sec() as f64), Some(0.0)),
};
pub(crate) const SOURCE_PR: ProtocolInfo = ProtocolInfo {
    name: "qcn-pr",
    summary: "QCN-PR: as qcn-p, and follows the rates that congestion points suggest and allow",
    parameters: &joined::<17>(
        &COMMON,
        &[
            ASKING_RESET,
            Parameter {
                name: "drift_part",
                kind: ParameterKind::Number(0.0, 1.0),
                default: ParameterDefault::Value("0.001", "802.1au bake-off slides: selfIncreaseFactor 0.1 %"),
                meaning: "The part of the way to the largest rate that the congested switch allows, each `drift_period`.",
            },
            Parameter {
                default: ParameterDefault::Value("0.002", "802.1au bake-off slides: switchRateWeight 0.002"),
                ..WEIGHT
            },
        ],
    ),
    presets: PROBING_RUNS,
    acknowledged: false,
    build: |values| build(values, Law::Approach(values.number("drift_part")), Some(values.number("guidance_weight"))),
};

/// A source whose clock raises its rate by a law; one that asks has a weight for what is suggested to it.
fn build(values: &Values, law: Law, asking: Option<f64>) -> Result<Reaction, Invalid> {
    let bits = |name: &str| values.rate(name).as_bits_per_sec() as f64;
    let period = lasting("drift_period", values.time("drift_period"))?;
    let extra = match values.choice("extra_fast_recovery").as_str() {
        "clock" => Extra::ByClock(bits("efr_max")),
        "stage" => Extra::ByStage(bits("efr_max")),
        _ => Extra::Off,
    };
    let steps = Steps::Bytes { active: bits("ai_rate"), hyperactive: values.flag("hyperactive") };
    let clock = Clock::Raises(Increase { law, period });
    let (asks, guidance_weight) = (asking.is_some(), asking.unwrap_or(0.0));
    QcnSource::with(values, How { clock, steps, extra, asks, guidance_weight })
}
