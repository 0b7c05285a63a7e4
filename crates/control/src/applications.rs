//! A table of application priorities that owns its entries and has a fixed size.

use std::fmt;
use wire::lldp::ieee::{self, Application};

/// Maximum number of entries in a TLV, so that no peer's table is truncated.
const MOST: usize = ieee::Applications::MOST;

/// The priorities of applications. Of two entries for one application, the first counts.
#[derive(Clone, Copy)]
pub struct Applications {
    entries: [[u8; 3]; MOST],
    count: usize,
}

impl Applications {
    /// Creates a table; `None` if there are more entries than fit into a TLV.
    pub fn new(entries: impl IntoIterator<Item = Application>) -> Option<Applications> {
        let mut table = Applications::default();
        for entry in entries {
            *table.entries.get_mut(table.count)? = entry.encode();
            table.count += 1;
        }
        Some(table)
    }

    /// Returns the table of a peer's TLV.
    #[must_use]
    pub fn of(tlv: &ieee::Applications) -> Applications {
        Applications::new(tlv.iter().take(MOST)).unwrap_or_default()
    }

    /// Returns the entries in order.
    pub fn iter(&self) -> impl Iterator<Item = Application> + '_ {
        self.as_tlv().into_iter().flat_map(|tlv| tlv.iter())
    }

    /// Returns whether the table is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the priority of an application, if the table has it.
    #[must_use]
    pub fn priority(&self, selector: u8, protocol: u16) -> Option<u8> {
        let entry = self.iter().find(|entry| (entry.selector, entry.protocol) == (selector, protocol))?;
        Some(entry.priority.get())
    }

    /// Returns the table as a TLV; `None` if it is empty.
    #[must_use]
    pub fn as_tlv(&self) -> Option<ieee::Applications<'_>> {
        let entries = self.entries.get(..self.count).filter(|entries| !entries.is_empty())?;
        ieee::Applications::new(entries)
    }
}

impl Default for Applications {
    fn default() -> Applications {
        Applications { entries: [[0; 3]; MOST], count: 0 }
    }
}

impl PartialEq for Applications {
    fn eq(&self, other: &Applications) -> bool {
        self.as_tlv() == other.as_tlv()
    }
}

impl Eq for Applications {}

impl fmt::Debug for Applications {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
