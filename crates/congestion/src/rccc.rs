//! RCCC, the receiver-credit congestion control of Ultra Ethernet: a source announces what it wants to send, and its
//! destination gives credit for it, paced at the rate of its link.
//!
//! Read from public code, the classes `UecSrc`, `UecSink` and `UecPullPacer` of htsim (`uec.cpp`), which implement the
//! specification UEC 1.0; the text of the specification was not at hand. It is EQDS with a first window of 1.5
//! bandwidth-delay products and credit for several frames at a time.

use crate::ProtocolInfo;
use crate::ndp::Pulled;
use crate::parameter::{Parameter, ParameterDefault, ParameterKind};
use crate::pulling::{self, Demand, FirstWindow};

pub(crate) const INFO: ProtocolInfo = ProtocolInfo {
    name: "rccc",
    summary: "RCCC of Ultra Ethernet: credit from the destination for the announced demand of a source; needs `trim`",
    parameters: &[
        Parameter {
            name: "max_window",
            kind: ParameterKind::Number(0.1, 100.0),
            default: ParameterDefault::Value("1.5", "htsim, uec.cpp: setConfiguredMaxWnd in initRccc"),
            meaning: "Bandwidth-delay products of the path that a flow sends before its first credit, and the largest \
                      demand that it announces.",
        },
        Parameter {
            name: "pull_frames",
            kind: ParameterKind::Count(1, 1000),
            default: ParameterDefault::Value("4", "htsim, uec.cpp: _mtus_per_pull, called the default of UEC there"),
            meaning: "Frames that one pull permits, at most the announced demand of the flow.",
        },
        pulling::pull_rate("0.99", "htsim, main_uec.cpp: UecPullPacer at 0.99 of the link"),
        pulling::timeout("100us", "htsim, uec.h: DEFAULT_UEC_RTO_MIN"),
        pulling::PATHS,
    ],
    presets: &[],
    acknowledged: true,
    build: |values| {
        let window = FirstWindow::Products(values.number("max_window"));
        Pulled::with(values, window, values.count("pull_frames"), Demand::Announced)
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::Values;
    use crate::{Adapter, ReactionPoint};
    use units::{Bytes, Rate, Span};

    #[test]
    fn a_flow_starts_with_one_and_a_half_products_and_pulls_permit_four_frames() {
        let rccc = (INFO.build)(&Values::defaults(INFO.parameters)).unwrap();
        let pulling = rccc.pulling().unwrap();
        let adapter = Adapter::of(Rate::from_gigabits(100), Bytes::new(4160));
        // 1.5 x 150 kB.
        let window = pulling.first_window(&Adapter { round_trip: Span::from_micros(12), ..adapter });
        assert_eq!((window, pulling.frames, pulling.demand), (225_000 / 4160, 4, Demand::Announced));
    }
}
