//! What a peer last said of Data Center Bridging, in a value of fixed size.

use crate::{Applications, Converged, converged};
use wire::lldp::ieee::{CongestionNotification, EtsConfiguration, EtsTable, FlowControl};
use wire::lldp::{self, Ieee};

/// The TLVs of one data unit that count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Advertisement {
    /// How the peer shares its link.
    pub configuration: Option<EtsConfiguration>,
    /// How it would have us share ours.
    pub recommendation: Option<EtsTable>,
    /// Which priorities it pauses.
    pub flow_control: Option<FlowControl>,
    /// Which applications use which priority.
    pub applications: Option<Applications>,
    /// Which priorities have congestion notification.
    pub congestion: Option<CongestionNotification>,
    /// It speaks DCBX of the time before IEEE and nothing of IEEE's: all of the above is translated from that.
    pub converged: Option<Converged>,
}

impl Advertisement {
    /// What a data unit says.
    #[must_use]
    pub fn of(unit: &lldp::Repr) -> Advertisement {
        let Ieee { configuration, recommendation, flow_control, applications, congestion } = unit.ieee;
        let said = Advertisement {
            configuration,
            recommendation,
            flow_control,
            applications: applications.as_ref().map(Applications::of),
            congestion,
            converged: None,
        };
        match &unit.cee {
            Some(cee) if said.is_silent() => converged::advertisement(cee),
            _ => said,
        }
    }

    /// Whether it says nothing of Data Center Bridging.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        let Advertisement { configuration, recommendation, flow_control, applications, congestion, converged: _ } =
            self;
        configuration.is_none()
            && recommendation.is_none()
            && flow_control.is_none()
            && applications.is_none()
            && congestion.is_none()
    }

    /// The octets' view of it, to be sent.
    pub(crate) fn as_ieee(&self) -> Ieee<'_> {
        Ieee {
            configuration: self.configuration,
            recommendation: self.recommendation,
            flow_control: self.flow_control,
            applications: self.applications.as_ref().and_then(Applications::as_tlv),
            congestion: self.congestion,
        }
    }
}
