//! The configured settings of a port.

use crate::Applications;
use wire::Address;
use wire::lldp::ieee::EtsTable;

/// The local configuration of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Enhanced transmission selection.
    pub ets: EtsSettings,
    /// Priority flow control.
    pub pfc: PfcSettings,
    /// Application priorities.
    pub applications: ApplicationSettings,
    /// Congestion notification priorities; bit n is priority n. 0 sends no TLV.
    pub congestion: u8,
    /// Tie-break between two willing ends.
    pub tie_break: TieBreak,
    /// DCBX version.
    pub version: Version,
}

/// The DCBX version of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// IEEE; CEE while the peer uses nothing else.
    #[default]
    Ieee,
    /// CEE, version 1.01, only.
    Cee,
}

/// ETS settings of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EtsSettings {
    /// Whether the port accepts a peer's recommendation.
    pub willing: bool,
    /// Number of traffic classes supported, 1 to 8.
    pub most_classes: u8,
    /// Table in use without a recommendation.
    pub table: EtsTable,
    /// Recommendation to the peer.
    pub recommendation: Option<EtsTable>,
}

/// PFC settings of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PfcSettings {
    /// Whether the port accepts a peer's choice.
    pub willing: bool,
    /// Number of priorities that it can pause at a time, 0 to 8.
    pub capability: u8,
    /// Priorities; bit n is priority n.
    pub priorities: u8,
}

/// Application priorities of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApplicationSettings {
    /// Whether the port accepts a peer's table. The TLV has no such bit, so the peer does not know it.
    pub willing: bool,
    /// Table of the port.
    pub table: Applications,
}

/// The rule by which one of two willing ends adopts the other's priority flow control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TieBreak {
    /// The end with the lower address yields, as lldpad does.
    #[default]
    LowerYields,
    /// The end with the higher address yields, as in the documentation of some vendors.
    LowerWins,
}

impl TieBreak {
    /// Returns whether the end `ours` yields to the end `theirs`. With equal addresses, neither yields.
    #[must_use]
    pub fn yields(self, ours: Address, theirs: Address) -> bool {
        match self {
            TieBreak::LowerYields => ours < theirs,
            TieBreak::LowerWins => ours > theirs,
        }
    }
}

impl Default for Settings {
    /// No configuration: one strict class, no paused priorities, willing to learn, as lldpad starts.
    fn default() -> Settings {
        let table = EtsTable { classes: [Some(0); 8], ..EtsTable::default() };
        Settings {
            ets: EtsSettings { willing: true, most_classes: 8, table, recommendation: None },
            pfc: PfcSettings { willing: true, capability: 8, priorities: 0 },
            applications: ApplicationSettings { willing: true, table: Applications::default() },
            congestion: 0,
            tie_break: TieBreak::default(),
            version: Version::default(),
        }
    }
}
