//! E2CM of the 802.1au bake-off, which is ECM without tags: sources send probes for available capacity, either along
//! the whole path (`e2cm`) or to the congestion point that last sent negative feedback (`e2cm-p`), which may also
//! suggest a rate (`e2cm-pr`).
//!
//! Congestion points and limiters are those of ECM; switches send only negative feedback and BCN(0,0).

use crate::bcn::{OF_ECM, drift};
use crate::bcn_point::{RUNS, of_ecm};
use crate::bcn_source::{Asks, How};
use crate::feedback::PROBE_ANSWERS;
use crate::guidance::{self, WEIGHT};
use crate::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Preset, Values, joined};
use crate::path_probe::PathProbes;
use crate::qcn_2007::{RUN_1, RUN_2};
use crate::{BcnPoint, BcnSource, PointInfo, ProtocolInfo, Reaction};

const OF_POINT: [Parameter; 10] =
    of_ecm(ParameterDefault::Value("negative", "our reading of the 802.1au bake-off slides: no tags"));

pub(crate) const POINT: PointInfo = PointInfo {
    name: "e2cm",
    summary: "E2CM: like ecm, but sends negative feedback only and ignores tags",
    parameters: &OF_POINT,
    presets: RUNS,
    build: BcnPoint::build_ecm,
};
pub(crate) const POINT_P: PointInfo = PointInfo {
    name: "e2cm-p",
    summary: "E2CM-P: like e2cm; answers probes if the queue has room for a higher rate",
    parameters: &joined::<11>(&OF_POINT, &[PROBE_ANSWERS]),
    ..POINT
};
pub(crate) const POINT_PR: PointInfo = PointInfo {
    name: "e2cm-pr",
    summary: "E2CM-PR: like e2cm-p; notices and probe replies carry a suggested and a maximum rate",
    parameters: &joined::<19>(&joined::<11>(&OF_POINT, &[PROBE_ANSWERS]), &guidance::PARAMETERS),
    ..POINT
};

const INTERVAL: Parameter = Parameter {
    name: "probe_interval",
    kind: ParameterKind::Size(1, 1 << 31),
    default: ParameterDefault::Value(
        "150000B",
        "802.1au bake-off slides, first runs: samplingInterval; no value for probes",
    ),
    meaning: "Bytes that a limited flow sends between two probes.",
};
/// Parameter of the sources that probe congestion points.
const ASKING_INTERVAL: Parameter = Parameter {
    default: ParameterDefault::Value("100000B", "802.1au bake-off slides, first runs: probeInterval 100000"),
    ..INTERVAL
};
const ASKING_RUNS: &[Preset] =
    &[RUN_1, Preset { values: &[("probe_interval", "50000B", "preset run-2: probeInterval 50000")], ..RUN_2 }];

pub(crate) const SOURCE: ProtocolInfo = ProtocolInfo {
    name: "e2cm",
    summary: "E2CM: like ecm, but a limited flow probes its path end to end and controls its own share of the queues",
    parameters: &joined::<21>(
        &OF_ECM,
        &[
            INTERVAL,
            Parameter {
                name: "flow_set_point",
                kind: ParameterKind::Size(0, 1 << 30),
                default: ParameterDefault::Value("15000B", "802.1au bake-off slides: flowQeq 15000"),
                meaning: "Bytes that the flow should have in flight.",
            },
            Parameter {
                name: "base_latency",
                kind: ParameterKind::Choice(&[
                    ("counted", "all bytes in flight count, even without queues"),
                    ("subtracted", "only the bytes sent in excess of the smallest probe delay of the flow count"),
                ]),
                default: ParameterDefault::Value("counted", "our reading of the 802.1au bake-off slides; not stated"),
                meaning: "Whether bytes on the cables count as queued.",
            },
            Parameter {
                name: "probe_feedback",
                kind: ParameterKind::Choice(&[
                    ("both", "raises and lowers the rate"),
                    (
                        "positive",
                        "only raises the \
                     rate",
                    ),
                ]),
                default: ParameterDefault::Value("both", "our reading of the 802.1au bake-off slides; not stated"),
                meaning: "What a probe reply from the destination does.",
            },
        ],
    ),
    presets: &[
        RUN_1,
        Preset { values: &[("probe_interval", "75000B", "preset run-2: samplingInterval 75000")], ..RUN_2 },
    ],
    acknowledged: false,
    build: |values| {
        let set_point = values.size("flow_set_point").get() as u32;
        let probes = PathProbes::new(set_point, values.choice("base_latency") == "subtracted");
        build(values, Asks::Path { probes, positive_only: values.choice("probe_feedback") == "positive" }, 0.0)
    },
};
pub(crate) const SOURCE_P: ProtocolInfo = ProtocolInfo {
    name: "e2cm-p",
    summary: "E2CM-P: like ecm, but a limited flow probes the congestion point that last slowed it down",
    parameters: &joined::<18>(&OF_ECM, &[ASKING_INTERVAL]),
    presets: ASKING_RUNS,
    acknowledged: false,
    build: |values| build(values, Asks::Point, 0.0),
};
pub(crate) const SOURCE_PR: ProtocolInfo = ProtocolInfo {
    name: "e2cm-pr",
    summary: "E2CM-PR: like e2cm-p, and follows the suggested and maximum rates of congestion points",
    parameters: &joined::<19>(&OF_ECM, &[ASKING_INTERVAL, WEIGHT]),
    presets: ASKING_RUNS,
    acknowledged: false,
    build: |values| build(values, Asks::Point, values.number("guidance_weight")),
};

fn build(values: &Values, asks: Asks, guidance_weight: f64) -> Result<Reaction, Invalid> {
    let interval = values.size("probe_interval").get() as i64;
    BcnSource::build(values, How { increase: Some(drift(values)?), asks, interval, guidance_weight })
}
