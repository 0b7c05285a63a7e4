//! Parameters of the reaction point of QCN as standardised. Its behaviour is in [`qcn_source`](crate::qcn_source).

use crate::parameter::{Parameter, ParameterDefault, ParameterKind};
use crate::{ProtocolInfo, QcnSource};

pub(crate) const SOURCE: ProtocolInfo = ProtocolInfo {
    name: "qcn",
    summary: "QCN (802.1Qau): notices lower the rate; a byte counter and a timer restore it",
    parameters: &[
        Parameter {
            name: "time_reset",
            kind: ParameterKind::Time,
            default: ParameterDefault::Value("15ms", "IEEE 802.1Q-2014, rpgTimeReset; earlier papers have 10 ms"),
            meaning: "Length of a stage of the timer.",
        },
        Parameter {
            name: "byte_reset",
            kind: ParameterKind::Size(1, 1 << 31),
            default: ParameterDefault::Value("150000B", "IEEE 802.1Q-2014, rpgByteReset"),
            meaning: "Length of a stage of the byte counter.",
        },
        Parameter {
            name: "threshold",
            kind: ParameterKind::Count(1, 1000),
            default: ParameterDefault::Value("5", "IEEE 802.1Q-2014, rpgThreshold"),
            meaning: "Number of stages of fast recovery.",
        },
        Parameter {
            name: "ai_rate",
            kind: ParameterKind::Rate,
            default: ParameterDefault::Value("5Mb/s", "IEEE 802.1Q-2014, rpgAiRate"),
            meaning: "Increase of the target rate per stage of active increase.",
        },
        Parameter {
            name: "hai_rate",
            kind: ParameterKind::Rate,
            default: ParameterDefault::Value("50Mb/s", "IEEE 802.1Q-2014, rpgHaiRate"),
            meaning: "Increase of the target rate in the first stage of hyperactive increase; the second adds twice \
                 as much, and so on.",
        },
        Parameter {
            name: "gd",
            kind: ParameterKind::Number(0.0, 1.0),
            default: ParameterDefault::Value("0.0078125", "IEEE 802.1Q-2014, rpgGd: 2 to the power of -7"),
            meaning: "Fraction of the rate removed per feedback step. There are 63 steps.",
        },
        Parameter {
            name: "min_dec_factor",
            kind: ParameterKind::Number(0.0, 1.0),
            default: ParameterDefault::Value("0.5", "IEEE 802.1Q-2014, rpgMinDecFac: 50 %"),
            meaning: "Smallest factor by which one notice multiplies the rate.",
        },
        Parameter {
            name: "min_rate",
            kind: ParameterKind::Rate,
            default: ParameterDefault::Value(
                "5Mb/s",
                "IEEE 802.1Q-2014, rpgMinRate; published pseudo-code has 10 Mb/s",
            ),
            meaning: "Minimum rate.",
        },
        Parameter {
            name: "max_rate",
            kind: ParameterKind::Rate,
            default: ParameterDefault::Absent("the rate of the source's link (IEEE 802.1Q-2014, rpgMaxRate)"),
            meaning: "Initial rate of a limiter, and the rate at which it is removed. If it is below the link rate, \
                 it limits flows without a limiter too.",
        },
        Parameter {
            name: "jitter",
            kind: ParameterKind::Number(0.0, 1.0),
            default: ParameterDefault::Value("0.15", "our reading of IEEE 802.1Qau-2010: 15 % either way"),
            meaning: "Random deviation of each stage of the timer and of the byte counter, as a fraction. The first \
                 stage after a notice is exact.",
        },
        Parameter {
            name: "active_from",
            kind: ParameterKind::Choice(&[
                ("after", "in the first stage after fast recovery"),
                ("at", "in the last stage of fast recovery"),
            ]),
            default: ParameterDefault::Value("after", "our reading of IEEE 802.1Qau-2010, after published pseudo-code"),
            meaning: "When active and hyperactive increase begin.",
        },
        Parameter {
            name: "halve_byte_counter",
            kind: ParameterKind::Choice(&[
                ("from-threshold", "after its own fast recovery, like those of the timer"),
                ("hyperactive", "in hyperactive increase only"),
            ]),
            default: ParameterDefault::Value(
                "from-threshold",
                "our reading of IEEE 802.1Qau-2010, after published pseudo-code",
            ),
            meaning: "When the stages of the byte counter are halved.",
        },
        Parameter {
            name: "target_clamp",
            kind: ParameterKind::Choice(&[
                ("any", "in any stage while the byte counter or the timer is in its first"),
                ("byte", "only in the first stage of the byte counter"),
            ]),
            default: ParameterDefault::Value("any", "our reading of IEEE 802.1Qau-2010, after published pseudo-code"),
            meaning: "When a target above ten times the rate is divided by eight instead of raised.",
        },
    ],
    presets: &[],
    acknowledged: false,
    build: QcnSource::build,
};
