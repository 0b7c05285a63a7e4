//! EQDS (Olteanu et al., "An edge-queued datagram service for all datacenter traffic", NSDI 2022): queues are at the
//! sources. A source announces what it wants to send; its destination gives credit for it, paced at the rate of its link.
//! A source without credit may send a first window, speculatively; what does not fit is trimmed as in NDP.

use crate::ProtocolInfo;
use crate::ndp::Pulled;
use crate::parameter::Preset;
use crate::pulling::{self, Demand};

pub(crate) const INFO: ProtocolInfo = ProtocolInfo {
    name: "eqds",
    summary: "EQDS: credit from the destination for the announced demand of a source, after a speculative start; needs \
              `trim`",
    parameters: &[
        pulling::WINDOW,
        pulling::pull_rate("1.0", "Olteanu et al., NSDI 2022: credit is paced at the rate of the receiver's link"),
        pulling::timeout("1ms", "our choice: far above any wait in queues of eight frames"),
        pulling::PATHS,
        pulling::ADVANCE,
        pulling::LEARNS,
    ],
    presets: &[Preset {
        name: "htsim",
        meaning: "the defaults of main_eqds of the public simulator csg-htsim; its packets are 4150 B with their header",
        values: &[
            ("first_window", "50", "csg-htsim, main_eqds.cpp: DEFAULT_CWND"),
            (
                "pull_rate",
                "0.9856",
                "csg-htsim, eqds.cpp and main_eqds.cpp: 4096 B of credit in 0.99 of the time of 4160 + 38 B",
            ),
            ("timeout", "120us", "csg-htsim, main_eqds.cpp: 50 us and six queues of 35 packets at 100 Gb/s"),
            ("paths", "256", "csg-htsim, eqds.cpp: _path_entropy_size"),
            ("advance", "25", "csg-htsim, eqds.h: getMaxCwnd is 100000 B, in pulls of 4096 B"),
            (
                "acknowledgements",
                "cumulative",
                "csg-htsim, eqds.cpp: buildSackBitmap clears its bits, and computeRTO follows the time to an answer",
            ),
        ],
    }],
    acknowledged: true,
    build: |values| Pulled::build(values, Demand::Announced),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReactionPoint;
    use crate::parameter::Values;
    use crate::pulling::{FirstWindow, Learns};
    use units::Span;

    #[test]
    fn the_preset_is_that_of_the_simulator() {
        let eqds = (INFO.build)(&Values::preset(INFO.parameters, &INFO.presets[0])).unwrap();
        let pulling = eqds.pulling().unwrap();
        assert_eq!((pulling.window, pulling.demand), (FirstWindow::Frames(50), Demand::Announced));
        assert_eq!((pulling.advance, pulling.learns), (100_000_u64.div_ceil(4096), Learns::Prefix));
        // 50 us and 6 x 35 packets of 4150 B at 100 Gb/s.
        let timeout = Span::from_micros(50) + Span::from_picos(6 * 35 * 4150 * 80);
        assert!(pulling.timeout - timeout < Span::from_micros(1), "{timeout}");
        // A packet of 4150 B for every 4096 B of credit.
        let packets = 4096.0 / 4150.0 / (0.99 * 4198.0);
        assert!((pulling.rate - packets * 4150.0).abs() < 1e-4, "{}", packets * 4150.0);
    }
}
