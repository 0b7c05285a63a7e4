//! What somebody configured at a port.

use crate::Applications;
use wire::Address;
use wire::lldp::ieee::EtsTable;

/// A port's own configuration, before anybody else is heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Enhanced transmission selection.
    pub ets: EtsSettings,
    /// Priority flow control.
    pub pfc: PfcSettings,
    /// Application priorities.
    pub applications: ApplicationSettings,
    /// Congestion notification priorities, bit n for priority n; 0 sends no TLV.
    pub congestion: u8,
    /// Who yields when both ends would.
    pub tie_break: TieBreak,
    /// Which DCBX is spoken.
    pub version: Version,
}

/// Which DCBX an agent speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// IEEE's; CEE's as long as the peer speaks nothing else.
    #[default]
    Ieee,
    /// CEE's, version 1.01, alone.
    Cee,
}

/// How the port shares its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EtsSettings {
    /// It takes a peer's recommendation.
    pub willing: bool,
    /// Traffic classes it can have, 1 to 8.
    pub most_classes: u8,
    /// What it does if nobody recommends anything.
    pub table: EtsTable,
    /// What it recommends to its peer.
    pub recommendation: Option<EtsTable>,
}

/// Which priorities the port pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PfcSettings {
    /// It takes a peer's choice.
    pub willing: bool,
    /// Priorities it can pause at a time, 0 to 8.
    pub capability: u8,
    /// Bit n stands for priority n.
    pub priorities: u8,
}

/// Which application uses which priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApplicationSettings {
    /// It takes a peer's table. The TLV has no such bit: it is known to nobody else.
    pub willing: bool,
    /// Its own table.
    pub table: Applications,
}

/// Which of two willing ends takes the other's priority flow control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TieBreak {
    /// The end with the lower address yields, as lldpad does.
    #[default]
    LowerYields,
    /// The end with the lower address is followed, as some vendors' texts have it.
    LowerWins,
}

impl TieBreak {
    /// Whether the end `ours` yields to the end `theirs`. Of equal addresses nobody yields.
    #[must_use]
    pub fn yields(self, ours: Address, theirs: Address) -> bool {
        match self {
            TieBreak::LowerYields => ours < theirs,
            TieBreak::LowerWins => ours > theirs,
        }
    }
}

impl Default for Settings {
    /// Nothing configured: one strict class, nothing paused, willing to learn. So does lldpad begin.
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
