//! NDP (Handley et al., "Re-architecting datacenter networks and stacks for low latency and high performance", SIGCOMM
//! 2017): a source sends a first window at line rate, over all paths; switches trim what does not fit; the destination
//! then pulls every further frame, paced at the rate of its link.
//!
//! The reaction point chooses the path of each frame. What the pulls permit is the business of the flow's transport,
//! which takes the rest of the settings from [`Pulling`].

use crate::parameter::{Invalid, Preset, Values};
use crate::pulling::{self, Demand, FirstWindow, Pulling, Spray};
use crate::{Adapter, Allowance, Feedback, ProtocolInfo, Reaction, ReactionPoint};
use units::{Bytes, Span, Time};

pub(crate) const INFO: ProtocolInfo = ProtocolInfo {
    name: "ndp",
    summary: "NDP: a first window at line rate over all paths, then pulls from the destination; needs `trim`",
    parameters: &[
        pulling::WINDOW,
        pulling::pull_rate("1.0", "Handley et al., SIGCOMM 2017: pulls are paced at the rate of the receiver's link"),
        pulling::timeout("1ms", "our choice: far above any wait in queues of eight frames"),
        pulling::PATHS,
    ],
    presets: &[Preset {
        name: "htsim",
        meaning: "the defaults of main_ndp of the public simulator csg-htsim; its packets are 9064 B with their header",
        values: &[
            ("first_window", "15", "csg-htsim, main_ndp.cpp: cwnd = 15"),
            ("pull_rate", "0.99", "csg-htsim, main_ndp.cpp: NdpPullPacer at 0.99 of the link"),
            ("timeout", "50ms", "csg-htsim, main_ndp.cpp: setMinRTO(50000)"),
        ],
    }],
    acknowledged: true,
    build: |values| Pulled::build(values, Demand::Arrivals),
};

/// The reaction point of a flow whose destination permits its frames.
#[derive(Clone, Debug, PartialEq)]
pub struct Pulled {
    pulling: Pulling,
    spray: Spray,
}

units::state!(struct Pulled { fixed: pulling; parts: spray; });

impl Pulled {
    pub(crate) fn build(values: &Values, demand: Demand) -> Result<Reaction, Invalid> {
        let window = values.maybe_count("first_window").map_or(FirstWindow::PathAndQueue, FirstWindow::Frames);
        Pulled::with(values, window, 1, demand)
    }

    /// With that first window, and pulls of so many frames.
    pub(crate) fn with(values: &Values, window: FirstWindow, frames: u64, demand: Demand) -> Result<Reaction, Invalid> {
        let (rate, timeout) = (values.number("pull_rate"), values.time("timeout"));
        let (advance, learns) = pulling::extras(values);
        let pulling = Pulling { window, rate, frames, timeout, demand, advance, learns };
        if pulling.timeout == Span::ZERO {
            return Err(Invalid::new("timeout", "a timeout of zero", "give a time above the round trip"));
        }
        Ok(Reaction::Pulled(Box::new(Pulled { pulling, spray: Spray::new(values) })))
    }
}

impl ReactionPoint for Pulled {
    fn attach(&mut self, adapter: &Adapter) -> Result<(), Invalid> {
        self.spray.attach(adapter);
        Ok(())
    }
    fn on_sent(&mut self, _now: Time, _len: Bytes) {}
    fn on_feedback(&mut self, _now: Time, _feedback: &Feedback) {}
    fn on_deadline(&mut self, _now: Time) {}
    fn deadline(&self) -> Option<Time> {
        None
    }
    fn allowance(&self) -> Allowance {
        Allowance::default()
    }
    fn entropy(&mut self) -> Option<u32> {
        Some(self.spray.next())
    }
    fn chooses_entropy(&self) -> bool {
        true
    }
    fn pulling(&self) -> Option<Pulling> {
        Some(self.pulling)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::Value;

    #[test]
    fn the_preset_is_that_of_the_simulator_and_frames_are_sprayed() {
        let mut ndp = (INFO.build)(&Values::preset(INFO.parameters, &INFO.presets[0])).unwrap();
        let pulling = ndp.pulling().unwrap();
        let window = FirstWindow::Frames(15);
        assert_eq!((pulling.window, pulling.rate, pulling.timeout), (window, 0.99, Span::from_millis(50)));
        assert_eq!((pulling.demand, ndp.allowance(), ndp.deadline()), (Demand::Arrivals, Allowance::default(), None));
        assert_ne!(ndp.entropy(), ndp.entropy());
        let values = Values::defaults(INFO.parameters).with("timeout", Value::Time(Span::ZERO));
        assert_eq!((INFO.build)(&values).unwrap_err().parameter, "timeout");
    }
}
