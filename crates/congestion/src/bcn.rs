//! Parameters of the reaction points of BCN and ECM. Their behaviour is in [`bcn_source`](crate::bcn_source).

use crate::bcn_source::{Asks, How};
use crate::increase::{Increase, IncreaseLaw, lasting};
use crate::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Values, joined};
use crate::qcn_2007::{RUN_1, RUN_2};
use crate::{BcnSource, ProtocolInfo, Reaction};
use units::{Rate, Span, math};

pub(crate) const UNIT: Parameter = Parameter {
    name: "unit",
    kind: ParameterKind::Size(1, 1 << 31),
    default: ParameterDefault::Value(
        "1500B",
        "Lu et al. 2006, section III: a fixed cell-size S, the packets of 1500 bytes",
    ),
    meaning: "Unit of feedback.",
};
pub(crate) const WEIGHT: Parameter = Parameter {
    name: "weight",
    kind: ParameterKind::Number(0.0, 1024.0),
    default: ParameterDefault::Value("2", "Lu et al. 2006, section III: w = 2"),
    meaning: "Weight of queue growth: how much a byte of growth counts, relative to a byte above the set point. \
         Congestion points have their own weight.",
};
pub(crate) const GD: Parameter = Parameter {
    name: "gd",
    kind: ParameterKind::Number(0.0, 1.0),
    default: ParameterDefault::Value("0.0078125", "Lu et al. 2006, section III: Gd = 1/128"),
    meaning: "Fraction of the rate removed per unit of negative feedback.",
};
pub(crate) const GI: Parameter = Parameter {
    name: "gi",
    kind: ParameterKind::Number(0.0, 1e9),
    default: ParameterDefault::Value("4", "Lu et al. 2006, section III: Gi = 4"),
    meaning: "Rate increase per unit of positive feedback, in multiples of `ru`.",
};
pub(crate) const RU: Parameter = Parameter {
    name: "ru",
    kind: ParameterKind::Rate,
    default: ParameterDefault::Value("1Mb/s", "Lu et al. 2006, section III: Ru = 1e6"),
    meaning: "Unit of `gi`.",
};
pub(crate) const MIN_DEC_FACTOR: Parameter = Parameter {
    name: "min_dec_factor",
    kind: ParameterKind::Number(0.0, 1.0),
    default: ParameterDefault::Value(
        "0.5",
        "our choice: as QCN; Lu et al. 2006 give none, and 1 - Gd |Fb| may be negative",
    ),
    meaning: "Smallest factor by which one notice multiplies the rate.",
};
pub(crate) const MOST_FEEDBACK: Parameter = Parameter {
    name: "most_feedback",
    kind: ParameterKind::Number(0.0, 1e9),
    default: ParameterDefault::Absent("no limit (Lu et al. 2006)"),
    meaning: "Largest feedback, of either sign, in units. Larger values are cut to it.",
};
pub(crate) const MIN_RATE: Parameter = Parameter {
    name: "min_rate",
    kind: ParameterKind::Rate,
    default: ParameterDefault::Value(
        "1Mb/s",
        "our choice: that of the 802.1au bake-off; Lu et al. 2006 give none (Rmin)",
    ),
    meaning: "Minimum rate, and rate after a stop.",
};
pub(crate) const MAX_RATE: Parameter = Parameter {
    name: "max_rate",
    kind: ParameterKind::Rate,
    default: ParameterDefault::Absent("the rate of the source's link"),
    meaning: "Rate at which a rate limiter is removed. If it is below the link rate, it limits flows without a \
         limiter too.",
};
pub(crate) const START_RATE: Parameter = Parameter {
    name: "start_rate",
    kind: ParameterKind::Rate,
    default: ParameterDefault::Absent(
        "`max_rate`, without a limiter (Lu et al. 2006: 100Mb/s in figure 2, 1Gb/s in figure 5)",
    ),
    meaning: "Initial rate of a flow. If it is below `max_rate`, the flow starts with a limiter that is associated \
         with no congestion point.",
};
pub(crate) const NEW_LIMITER: Parameter = Parameter {
    name: "new_limiter",
    kind: ParameterKind::Choice(&[("max-rate", "at `max_rate`"), ("offered", "at the recent rate of the flow")]),
    default: ParameterDefault::Value("max-rate", "our choice; no source"),
    meaning: "Initial rate of the limiter that a first notice creates. The notice itself then reduces it.",
};
pub(crate) const OFFERED_OVER: Parameter = Parameter {
    name: "offered_over",
    kind: ParameterKind::Time,
    default: ParameterDefault::Value("1ms", "our choice; no source"),
    meaning: "Averaging time of the flow's rate, with `new_limiter` = offered.",
};
pub(crate) const ASSOCIATED_BY: Parameter = Parameter {
    name: "associated_by",
    kind: ParameterKind::Choice(&[
        ("feedback", "negative feedback"),
        ("queue", "a queue above its set point, whatever the feedback"),
    ]),
    default: ParameterDefault::Value("feedback", "Lu et al. 2006, section II: the last that sent a rate decrease"),
    meaning: "Which notices associate the limiter with the congestion point that sent them. BCN(0,0) always does.",
};
pub(crate) const STOP_FIRST: Parameter = Parameter {
    name: "stop_first",
    kind: ParameterKind::Time,
    default: ParameterDefault::Value("10us", "our reading of BCN; Lu et al. 2006 say only a random amount of time"),
    meaning: "Tmax: longest stop after a first BCN(0,0). The stop is drawn uniformly from 0 to Tmax. Tmax doubles \
         with each further BCN(0,0) until another notice arrives.",
};
pub(crate) const STOP_MOST: Parameter = Parameter {
    name: "stop_most",
    kind: ParameterKind::Time,
    default: ParameterDefault::Value("1ms", "our choice; no source"),
    meaning: "Upper limit of Tmax.",
};

const TAG_SIZE: Parameter = Parameter {
    name: "tag_size",
    kind: ParameterKind::Size(0, 500),
    default: ParameterDefault::Value("0B", "Lu et al. 2006, section III: packets of 1500 bytes, tagged or not"),
    meaning: "Bytes that a tag adds to a frame on the wire and in buffers. They do not count as data of the flow.",
};

pub(crate) const BCN: ProtocolInfo = ProtocolInfo {
    name: "bcn",
    summary: "BCN: feedback lowers and raises the rate; optional self-increase SI-0 to SI-3 (Lu et al. 2006)",
    parameters: &[
        UNIT,
        WEIGHT,
        GD,
        GI,
        RU,
        MIN_DEC_FACTOR,
        MOST_FEEDBACK,
        MIN_RATE,
        MAX_RATE,
        START_RATE,
        NEW_LIMITER,
        OFFERED_OVER,
        ASSOCIATED_BY,
        STOP_FIRST,
        STOP_MOST,
        TAG_SIZE,
        Parameter {
            name: "self_increase",
            kind: ParameterKind::Choice(&[
                ("none", "SI-0: never"),
                ("additive", "SI-1: by `si_rate` per second"),
                ("multiplicative", "SI-2: by `si_factor`"),
                (
                    "by-notices",
                    "SI-3: by `si_rate` per second, divided by the number of negative notices in the \
                     period",
                ),
            ]),
            default: ParameterDefault::Value("none", "Lu et al. 2006, section III: the analysis has none"),
            meaning: "How a limited flow raises its rate without feedback, associated or not.",
        },
        Parameter {
            name: "si_period",
            kind: ParameterKind::Time,
            default: ParameterDefault::Absent(
                "1ms; 10ms with by-notices: our choice, fitted; Lu et al. 2006 give no T",
            ),
            meaning: "T: time between two self-increases.",
        },
        Parameter {
            name: "si_rate",
            kind: ParameterKind::Rate,
            default: ParameterDefault::Absent(
                "10Mb/s (Lu et al. 2006, figure 3; also 500Mb/s); 500Mb/s with by-notices: fitted, no source",
            ),
            meaning: "I: increase per second of SI-1 and SI-3.",
        },
        Parameter {
            name: "si_factor",
            kind: ParameterKind::Number(0.0, 1e6),
            default: ParameterDefault::Value("10", "Lu et al. 2006, figure 4: i = 10"),
            meaning: "i: factor of SI-2.",
        },
        Parameter {
            name: "si_factor_is",
            kind: ParameterKind::Choice(&[
                ("compound", "growth factor per second: R becomes R i^T, T in seconds"),
                ("linear", "relative increase per second: R becomes R (1 + i T)"),
                ("literal", "R becomes R i T, which lowers the rate if T is below 1/i"),
            ]),
            default: ParameterDefault::Value(
                "compound",
                "our reading of Lu et al. 2006, section III.C: the factor i in fixed intervals; its formula is R i T",
            ),
            meaning: "Meaning of the factor of SI-2.",
        },
        Parameter {
            name: "si_unnoticed",
            kind: ParameterKind::Choice(&[("nothing", "no increase"), ("one", "as with one negative notice")]),
            default: ParameterDefault::Value("nothing", "our reading of Lu et al. 2006, section III.C; fitted"),
            meaning: "What SI-3 does in a period without negative notices.",
        },
    ],
    presets: &[],
    acknowledged: false,
    build: |values| {
        let law = values.choice("self_increase");
        let by_notices = law == "by-notices";
        let (millis, megabits) = if by_notices { (10, 500) } else { (1, 10) };
        let period = values.maybe_time("si_period").unwrap_or(Span::from_millis(millis));
        let rate = values.maybe_rate("si_rate").unwrap_or(Rate::from_megabits(megabits));
        let (seconds, factor) = (period.as_secs_f64(), values.number("si_factor"));
        let step = rate.as_bits_per_sec() as f64 * seconds;
        let law = match (law.as_str(), values.choice("si_factor_is").as_str()) {
            ("additive", _) => IncreaseLaw::Add(step),
            ("multiplicative", "linear") => IncreaseLaw::Multiply(1.0 + factor * seconds),
            ("multiplicative", "literal") => IncreaseLaw::Multiply(factor * seconds),
            ("multiplicative", _) => IncreaseLaw::Multiply(math::pow(factor, seconds)),
            ("by-notices", _) => IncreaseLaw::Share { step, unnoticed: values.choice("si_unnoticed") == "one" },
            _ => return tagging(values, None),
        };
        tagging(values, Some(Increase { law, period: lasting("si_period", period)? }))
    },
};

/// The parameters of ECM that do not concern tags.
pub(crate) const OF_ECM: [Parameter; 17] = [
    Parameter {
        default: ParameterDefault::Value(
            "64B",
            "our reading of the 802.1au bake-off slides: with pages of 64 bytes the gains are 1/2 and C/10",
        ),
        ..UNIT
    },
    Parameter { default: ParameterDefault::Value("2", "802.1au bake-off slides: W = 2"), ..WEIGHT },
    Parameter { default: ParameterDefault::Value("0.00026667", "802.1au bake-off slides: Gd = .00026667"), ..GD },
    Parameter { default: ParameterDefault::Value("0.53333", "802.1au bake-off slides: Gi = .53333"), ..GI },
    Parameter { default: ParameterDefault::Value("1Mb/s", "802.1au bake-off slides: Ru = 1 Mb/s"), ..RU },
    Parameter {
        default: ParameterDefault::Value("0", "our choice: the limit on feedback leaves half"),
        ..MIN_DEC_FACTOR
    },
    Parameter {
        default: ParameterDefault::Value("1875", "our reading of the 802.1au bake-off slides: (1 + 2 W) Qeq in pages"),
        ..MOST_FEEDBACK
    },
    Parameter { default: ParameterDefault::Value("1Mb/s", "802.1au bake-off slides: Rmin = 1 Mb/s"), ..MIN_RATE },
    MAX_RATE,
    Parameter { default: ParameterDefault::Absent("`max_rate`, without a limiter"), ..START_RATE },
    NEW_LIMITER,
    OFFERED_OVER,
    Parameter {
        default: ParameterDefault::Value("queue", "our reading of the 802.1au bake-off slides"),
        ..ASSOCIATED_BY
    },
    Parameter {
        default: ParameterDefault::Value("10us", "our reading of BCN; the 802.1au bake-off slides give none"),
        ..STOP_FIRST
    },
    STOP_MOST,
    Parameter {
        name: "drift_rate",
        kind: ParameterKind::Rate,
        default: ParameterDefault::Value("1Mb/s", "802.1au bake-off slides: Rd = 1 Mb/s"),
        meaning: "Increase of a limited flow's rate per `drift_period`.",
    },
    Parameter {
        name: "drift_period",
        kind: ParameterKind::Time,
        default: ParameterDefault::Value("1ms", "802.1au bake-off slides: Td = 1 ms"),
        meaning: "Time between two increases.",
    },
];

const OF_TAGGED_ECM: [Parameter; 18] = joined(
    &OF_ECM,
    &[Parameter {
        default: ParameterDefault::Value(
            "16B",
            "our choice: the 802.1au bake-off slides say only that tags cost throughput",
        ),
        ..TAG_SIZE
    }],
);

pub(crate) const ECM: ProtocolInfo = ProtocolInfo {
    name: "ecm",
    summary: "ECM, the successor of BCN: feedback lowers and raises the rate, which also drifts upwards (802.1au \
         bake-off)",
    parameters: &OF_TAGGED_ECM,
    presets: &[RUN_1, RUN_2],
    acknowledged: false,
    build: |values| tagging(values, Some(drift(values)?)),
};

/// The drift of ECM.
pub(crate) fn drift(values: &Values) -> Result<Increase, Invalid> {
    let law = IncreaseLaw::Add(values.rate("drift_rate").as_bits_per_sec() as f64);
    Ok(Increase { law, period: lasting("drift_period", values.time("drift_period"))? })
}

/// A source whose frames carry tags.
fn tagging(values: &Values, increase: Option<Increase>) -> Result<Reaction, Invalid> {
    let asks = Asks::Tagging { size: values.size("tag_size").get() as u16 };
    BcnSource::build(values, How { increase, asks, interval: i64::MAX, guidance_weight: 0.0 })
}
