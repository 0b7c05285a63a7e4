//! Resolution of a port's operating configuration (802.1Q 38.4) and advertisement from its settings and its peer's.
//!
//! | | willing | peer | operates on |
//! |---|---|---|---|
//! | ETS, asymmetric | no | any | its own table |
//! | | yes | recommends | the recommendation |
//! | | yes | recommends nothing | its own table |
//! | PFC, symmetric | no | any | its own priorities |
//! | | yes | not willing | the peer's |
//! | | yes | willing | decided by the tie-break |
//!
//! The table of applications has no willing bit of its own; the peer's table is adopted if the peer's ETS configuration
//! is present and not willing, so that two willing ends do not swap their tables forever.

use crate::settings::Settings;
use crate::{Advertisement, Applications, Peer};
use wire::Address;
use wire::lldp::ieee::{CongestionNotification, EtsConfiguration, EtsTable, FlowControl};

/// The origin of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// The port's own settings.
    #[default]
    Local,
    /// The peer.
    Peer,
}

/// A value and its origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chosen<T> {
    /// Value.
    pub value: T,
    /// Origin.
    pub from: Origin,
}

impl<T> Chosen<T> {
    fn new(local: T, peer: Option<T>) -> Chosen<T> {
        match peer {
            Some(value) => Chosen { value, from: Origin::Peer },
            None => Chosen { value: local, from: Origin::Local },
        }
    }
}

/// Congestion notification defence mode of a priority at a port (802.1Q 32.1.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Defence {
    /// Not a congestion notification priority.
    #[default]
    Disabled,
    /// The peer does not participate: the domain ends here, and frames from outside are moved to another priority.
    Edge,
    /// The peer participates, but is not ready for tags.
    Interior,
    /// The peer participates and keeps tags.
    InteriorReady,
}

/// The operating configuration of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operating {
    /// Paused priorities; bit n is priority n.
    pub pfc: Chosen<u8>,
    /// Shares of the link.
    pub ets: Chosen<EtsTable>,
    /// Priorities of applications.
    pub apps: Chosen<Applications>,
    /// Congestion notification defence mode by priority.
    pub cn: [Defence; 8],
}

/// Whether an end takes the other's priorities.
fn yields(settings: &Settings, willing: bool, ours: Address, other_willing: bool, theirs: Address) -> bool {
    willing && (!other_willing || settings.tie_break.yields(ours, theirs))
}

/// Returns the operating configuration of a port at `address`; without a peer, its own settings.
pub(crate) fn operating(settings: &Settings, address: Address, peer: Option<&Peer>) -> Operating {
    let said = peer.map(Peer::said);
    let recommended = said.and_then(|said| said.recommendation).filter(|_| settings.ets.willing);
    let paused = peer.and_then(|peer| {
        let theirs = peer.said().flow_control?;
        let yields = yields(settings, settings.pfc.willing, address, theirs.willing, peer.address());
        yields.then_some(theirs.priorities)
    });
    let taught = said.filter(|said| settings.applications.willing && said.configuration.is_some_and(|it| !it.willing));
    let table = taught.and_then(|said| said.applications).filter(|table| !table.is_empty());
    let heard = said.and_then(|said| said.congestion).unwrap_or_default();
    let defence = |priority: usize| {
        let bit = |mask: u8| mask >> priority & 1 == 1;
        match (bit(settings.congestion), bit(heard.priorities), bit(heard.ready)) {
            (false, _, _) => Defence::Disabled,
            (true, false, _) => Defence::Edge,
            (true, true, false) => Defence::Interior,
            (true, true, true) => Defence::InteriorReady,
        }
    };
    Operating {
        pfc: Chosen::new(settings.pfc.priorities, paused),
        ets: Chosen::new(settings.ets.table, recommended),
        apps: Chosen::new(settings.applications.table, table),
        cn: std::array::from_fn(defence),
    }
}

/// Returns the peer's operating configuration by the same rules, if it received our advertisement: priorities and ETS
/// table.
pub(crate) fn peers_operating(settings: &Settings, address: Address, peer: &Peer) -> (Option<u8>, Option<EtsTable>) {
    let said = peer.said();
    let paused = said.flow_control.map(|theirs| {
        let yields = yields(settings, theirs.willing, peer.address(), settings.pfc.willing, address);
        if yields { settings.pfc.priorities } else { theirs.priorities }
    });
    let shared = said.configuration.map(|theirs| match settings.ets.recommendation {
        Some(ours) if theirs.willing => ours,
        _ => theirs.table,
    });
    (paused, shared)
}

/// Returns the advertisement of a port. Like lldpad, it sends the ETS table and the priorities of its operating
/// configuration, and its own recommendation and applications.
pub(crate) fn advertised(settings: &Settings, operating: &Operating, peer: Option<&Peer>) -> Advertisement {
    let heard = peer.and_then(|peer| peer.said().congestion).unwrap_or_default();
    let congestion = CongestionNotification {
        priorities: settings.congestion,
        // Ready once the peer has said that it takes part: from then on tags are kept.
        ready: settings.congestion & heard.priorities,
    };
    Advertisement {
        configuration: Some(EtsConfiguration {
            willing: settings.ets.willing,
            shaper: false,
            most_classes: settings.ets.most_classes,
            table: operating.ets.value,
        }),
        recommendation: settings.ets.recommendation,
        flow_control: Some(FlowControl {
            willing: settings.pfc.willing,
            bypass: false,
            capability: settings.pfc.capability,
            priorities: operating.pfc.value,
        }),
        applications: Some(settings.applications.table).filter(|table| !table.is_empty()),
        congestion: (settings.congestion != 0).then_some(congestion),
        converged: None,
    }
}
