//! The parameters of the reaction point of QCN as standardised. What it does is in [`qcn_source`](crate::qcn_source).

use crate::parameter::{Parameter, ParameterDefault, ParameterKind};
use crate::{ProtocolInfo, QcnSource};

pub(crate) const SOURCE: ProtocolInfo = ProtocolInfo {
    name: "qcn",
    summary: "QCN (802.1Qau): notices lower the rate; a byte counter and a timer bring it back",
    parameters: &[
        Parameter {
            name: "time_reset",
            kind: ParameterKind::Time,
            default: ParameterDefault::Value("15ms", "IEEE 802.1Q-2014, rpgTimeReset; papers before it have 10 ms"),
            meaning: "A stage of the timer.",
        },
        Parameter {
            name: "byte_reset",
            kind: ParameterKind::Size(1, 1 << 31),
            default: ParameterDefault::Value("150000B", "IEEE 802.1Q-2014, rpgByteReset"),
            meaning: "A stage of the byte counter.",
        },
        Parameter {
            name: "threshold",
            kind: ParameterKind::Count(1, 1000),
            default: ParameterDefault::Value("5", "IEEE 802.1Q-2014, rpgThreshold"),
            meaning: "Stages of fast recovery.",
        },
        Parameter {
            name: "ai_rate",
            kind: ParameterKind::Rate,
            default: ParameterDefault::Value("5Mb/s", "IEEE 802.1Q-2014, rpgAiRate"),
            meaning: "What a stage of active increase adds to the target.",
        },
        Parameter {
            name: "hai_rate",
            kind: ParameterKind::Rate,
            default: ParameterDefault::Value("50Mb/s", "IEEE 802.1Q-2014, rpgHaiRate"),
            meaning: "What the first stage of hyperactive increase adds to the target; the second adds twice that, and so on.",
        },
        Parameter {
            name: "gd",
            kind: ParameterKind::Number(0.0, 1.0),
            default: ParameterDefault::Value("0.0078125", "IEEE 802.1Q-2014, rpgGd: 2 to the power of -7"),
            meaning: "What a step of the feedback, of which there are 63, takes from the rate as a part of it.",
        },
        Parameter {
            name: "min_dec_factor",
            kind: ParameterKind::Number(0.0, 1.0),
            default: ParameterDefault::Value("0.5", "IEEE 802.1Q-2014, rpgMinDecFac: 50 %"),
            meaning: "What a single notice leaves of the rate, at least.",
        },
        Parameter {
            name: "min_rate",
            kind: ParameterKind::Rate,
            default: ParameterDefault::Value(
                "5Mb/s",
                "IEEE 802.1Q-2014, rpgMinRate; published pseudo-code has 10 Mb/s",
            ),
            meaning: "The rate below which it never falls.",
        },
        Parameter {
            name: "max_rate",
            kind: ParameterKind::Rate,
            default: ParameterDefault::Absent("the rate of the source's link (IEEE 802.1Q-2014, rpgMaxRate)"),
            meaning: "The rate at which a limiter starts and at which it is removed. If it is below that of the link, it also holds where there is no limiter.",
        },
        Parameter {
            name: "jitter",
            kind: ParameterKind::Number(0.0, 1.0),
            default: ParameterDefault::Value("0.15", "our reading of IEEE 802.1Qau-2010: 15 % either way"),
            meaning: "Each stage of the timer and of the byte counter is longer or shorter by up to this part of it; the first after a notice is not.",
        },
        Parameter {
            name: "active_from",
            kind: ParameterKind::Choice(&[
                ("after", "with the stage after the last of fast recovery"),
                ("at", "with the last stage of fast recovery"),
            ]),
            default: ParameterDefault::Value("after", "our reading of IEEE 802.1Qau-2010, after published pseudo-code"),
            meaning: "When active and hyperactive increase begin.",
        },
        Parameter {
            name: "halve_byte_counter",
            kind: ParameterKind::Choice(&[
                ("from-threshold", "from the end of its own fast recovery on, as those of the timer"),
                ("hyperactive", "in hyperactive increase only"),
            ]),
            default: ParameterDefault::Value(
                "from-threshold",
                "our reading of IEEE 802.1Qau-2010, after published pseudo-code",
            ),
            meaning: "When the stages of the byte counter become half as long.",
        },
        Parameter {
            name: "target_clamp",
            kind: ParameterKind::Choice(&[
                ("any", "in any stage while the byte counter or the timer is at its first"),
                ("byte", "only in the first stage of the byte counter"),
            ]),
            default: ParameterDefault::Value("any", "our reading of IEEE 802.1Qau-2010, after published pseudo-code"),
            meaning: "When a target of more than ten times the rate is divided by eight instead of raised.",
        },
    ],
    presets: &[],
    acknowledged: false,
    build: QcnSource::build,
};
