//! Identity and timers of a bridge.

use units::Span;
use wire::isis::{SystemId, spb};
use wire::mcid::{Mcid, digest};
use wire::{Address, VlanId};

/// Trees of shortest path bridging, each with its base VLAN.
pub(super) const TREES: u16 = 16;

/// The configuration of a bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// System identifier.
    pub id: SystemId,
    /// Upper half of its bridge identifier.
    pub priority: u16,
    /// Area address: neighbours must have the same.
    pub area: [u8; 3],
    /// Mapping of VLANs: neighbours must have the same.
    pub mcid: Mcid,
    /// Base VLAN of the first equal-cost tree; those of the fifteen others follow.
    pub first_vlan: u16,
    /// Maximum number of link-state PDUs in the database, including its own. Further ones are counted, but neither
    /// stored nor acknowledged.
    pub limit: usize,
}

impl Settings {
    /// Creates settings with that identifier and defaults otherwise.
    #[must_use]
    pub fn new(id: SystemId) -> Settings {
        let mut name = [0; 32];
        name[..8].copy_from_slice(b"tailback");
        let first_vlan = 100;
        let trees = |vlan: u16| if (first_vlan..first_vlan + TREES).contains(&vlan) { 0xFFC } else { 0 };
        let mcid = Mcid { name, revision: 0, digest: digest(trees) };
        Settings { id, priority: 0x8000, area: [0x49, 0, 1], mcid, first_vlan, limit: 4096 }
    }

    /// Algorithm and base VLAN of every tree.
    pub(super) fn trees(&self) -> [(u32, VlanId); TREES as usize] {
        std::array::from_fn(|tree| {
            let vlan = VlanId::low_bits(self.first_vlan.wrapping_add(tree as u16));
            (spb::FIRST_ALGORITHM + tree as u32, vlan)
        })
    }
}

/// A port of a bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// Source address of its frames.
    pub address: Address,
    /// Metric of its link.
    pub metric: u32,
    /// IPv4 address of the port. With an address, the port's hellos also name that protocol (RFC 1195), and a router
    /// that uses it and is not a bridge may be its neighbour: it receives all link state and floods it, but is not part
    /// of the graph. The system's link state does not claim IPv4, since it forwards none.
    pub ipv4: Option<[u8; 4]>,
}

/// Creates a port without IPv4 from its address and the metric of its link.
impl From<(Address, u32)> for Port {
    fn from((address, metric): (Address, u32)) -> Port {
        Port { address, metric, ipv4: None }
    }
}

/// Timers of a bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timers {
    /// Interval between hellos.
    pub hello: Span,
    /// Number of hellos that may be missed before an adjacency expires.
    pub multiplier: u16,
    /// Minimum interval between two versions of the same link-state PDU.
    pub generation: Span,
    /// Lifetime of a link-state PDU in seconds.
    pub lifetime: u16,
    /// Interval after which an unchanged link-state PDU is refreshed.
    pub refresh: Span,
    /// Time for which a purged link-state PDU is remembered.
    pub zero_age: Span,
    /// Interval after which an unacknowledged link-state PDU is retransmitted.
    pub retransmit: Span,
    /// Time over which acknowledgements are collected.
    pub acknowledge: Span,
    /// Interval between complete sequence number PDUs.
    pub complete: Span,
}

impl Default for Timers {
    fn default() -> Timers {
        Timers {
            hello: Span::from_secs(3),
            multiplier: 10,
            generation: Span::from_secs(1),
            lifetime: 1200,
            refresh: Span::from_secs(900),
            zero_age: Span::from_secs(60),
            retransmit: Span::from_secs(5),
            acknowledge: Span::from_secs(2),
            complete: Span::from_secs(10),
        }
    }
}

impl Timers {
    /// Returns the holding time in hellos: seconds after which a silent neighbour expires.
    #[must_use]
    pub fn holding_time(&self) -> u16 {
        let seconds = self.hello.as_picos().saturating_mul(u64::from(self.multiplier)).div_ceil(1_000_000_000_000);
        u16::try_from(seconds.max(1)).unwrap_or(u16::MAX)
    }
}
