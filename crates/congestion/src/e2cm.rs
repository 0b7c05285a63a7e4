//! E2CM of the 802.1au bake-off, ECM without tags: sources ask for more with probes, of their whole path (`e2cm`) or of
//! the congestion point that last asked for less (`e2cm-p`), which may also suggest a rate (`e2cm-pr`).
//!
//! Congestion points and limiters are those of ECM; switches send only negative feedback, and BCN(0,0).

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
    summary: "E2CM: as ecm, but only negative feedback is sent, and tags are not looked at",
    parameters: &OF_POINT,
    presets: RUNS,
    build: BcnPoint::build_ecm,
};
pub(crate) const POINT_P: PointInfo = PointInfo {
    name: "e2cm-p",
    summary: "E2CM-P: as e2cm; answers the probes of sources if there is room for more",
    parameters: &joined::<11>(&OF_POINT, &[PROBE_ANSWERS]),
    ..POINT
};
pub(crate) const POINT_PR: PointInfo = PointInfo {
    name: "e2cm-pr",
    summary: "E2CM-PR: as e2cm-p; notices and answers carry a suggested and a largest rate",
    parameters: &joined::<19>(&joined::<11>(&OF_POINT, &[PROBE_ANSWERS]), &guidance::PARAMETERS),
    ..POINT
};

const INTERVAL: Parameter = Parameter {
    name: "probe_interval",
    kind: ParameterKind::Size(1, 1 << 31),
    default: ParameterDefault::Value(
        "150000B",
        "802.1au bake-off slides, first runs: samplingInterval; none is given for probes",
    ),
    meaning: "Bytes that a limited flow sends between two probes.",
};
/// Of the sources that ask congestion points.
const ASKING_INTERVAL: Parameter = Parameter {
    default: ParameterDefault::Value("100000B", "802.1au bake-off slides, first runs: probeInterval 100000"),
    ..INTERVAL
};
const ASKING_RUNS: &[Preset] =
    &[RUN_1, Preset { values: &[("probe_interval", "50000B", "preset run-2: probeInterval 50000")], ..RUN_2 }];

pub(crate) const SOURCE: ProtocolInfo = ProtocolInfo {
    name: "e2cm",
    summary: "E2CM: as ecm, but a limited flow probes its path end to end and steers its own share of the queues",
    parameters: &joined::<21>(
        &OF_ECM,
        &[
            INTERVAL,
            Parameter {
                name: "flow_set_point",
                kind: ParameterKind::Size(0, 1 << 30),
                default: ParameterDefault::Value("15000B", "802.1au bake-off slides: flowQeq 15000"),
                meaning: "What the flow should have on its way.",
            },
            Parameter {
                name: "base_latency",
                kind: ParameterKind::Choice(&[
                    ("counted", "what a flow has on its way without any queue counts"),
                    ("subtracted", "only what is injected after the least time that any probe of the flow took counts"),
                ]),
                default: ParameterDefault::Value("counted", "our reading of the 802.1au bake-off slides; no text says"),
                meaning: "Whether the length of the path counts as a queue.",
            },
            Parameter {
                name: "probe_feedback",
                kind: ParameterKind::Choice(&[("both", "raises and lowers the rate"), ("positive", "only raises it")]),
                default: ParameterDefault::Value("both", "our reading of the 802.1au bake-off slides; no text says"),
                meaning: "What an answer from the destination does.",
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
    summary: "E2CM-P: as ecm, but a limited flow asks the congestion point that last slowed it down for more",
    parameters: &joined::<18>(&OF_ECM, &[ASKING_INTERVAL]),
    presets: ASKING_RUNS,
    acknowledged: false,
    build: |values| build(values, Asks::Point, 0.0),
};
pub(crate) const SOURCE_PR: ProtocolInfo = ProtocolInfo {
    name: "e2cm-pr",
    summary: "E2CM-PR: as e2cm-p, and follows the rates that congestion points suggest and allow",
    parameters: &joined::<19>(&OF_ECM, &[ASKING_INTERVAL, WEIGHT]),
    presets: ASKING_RUNS,
    acknowledged: false,
    build: |values| build(values, Asks::Point, values.number("guidance_weight")),
};

fn build(values: &Values, asks: Asks, guidance_weight: f64) -> Result<Reaction, Invalid> {
    let interval = values.size("probe_interval").get() as i64;
    BcnSource::build(values, How { increase: Some(drift(values)?), asks, interval, guidance_weight })
}
