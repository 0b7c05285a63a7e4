//! A peer's last advertisement of Data Center Bridging, in a value of fixed size.

use crate::{Applications, Converged, converged};
use wire::lldp::ieee::{CongestionNotification, EtsConfiguration, EtsTable, FlowControl};
use wire::lldp::{self, Ieee};

/// The Data Center Bridging TLVs of one data unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Advertisement {
    /// ETS configuration of the peer.
    pub configuration: Option<EtsConfiguration>,
    /// ETS recommendation of the peer.
    pub recommendation: Option<EtsTable>,
    /// Priorities with PFC at the peer.
    pub flow_control: Option<FlowControl>,
    /// Priorities of applications.
    pub applications: Option<Applications>,
    /// Priorities with congestion notification.
    pub congestion: Option<CongestionNotification>,
    /// Present if the peer uses only pre-standard DCBX (CEE): all of the above is then translated from it.
    pub converged: Option<Converged>,
}

impl Advertisement {
    /// Returns the advertisement in a data unit.
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

    /// Returns whether it contains nothing about Data Center Bridging.
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
