//! What a bridge is called, and how often it speaks.

use units::Span;
use wire::isis::{SystemId, spb};
use wire::mcid::{Mcid, digest};
use wire::{Address, VlanId};

/// Trees of shortest path bridging, each with its base VLAN.
pub(super) const TREES: u16 = 16;

/// What a bridge is configured with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Its identifier.
    pub id: SystemId,
    /// The upper half of its bridge identifier.
    pub priority: u16,
    /// The area it is in: its neighbours must be in it too.
    pub area: [u8; 3],
    /// How VLANs are mapped: its neighbours must map them alike.
    pub mcid: Mcid,
    /// Base VLAN of the first equal-cost tree; those of the fifteen others follow.
    pub first_vlan: u16,
    /// Most link-state PDUs in the database, its own included. What comes beyond is counted and neither kept nor
    /// acknowledged.
    pub limit: usize,
}

impl Settings {
    /// A bridge of that name, with everything else as everybody has it.
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
    /// Where its frames come from.
    pub address: Address,
    /// What its link costs.
    pub metric: u32,
    /// With an address of IPv4 the port's hellos name that protocol too (RFC 1195), and a router that speaks it and is no
    /// bridge may be its neighbour: it is told all link state and passes it on, and is no part of the graph. The system's
    /// link state does not claim IPv4: it forwards none.
    pub ipv4: Option<[u8; 4]>,
}

/// A port without IPv4: its address and what its link costs.
impl From<(Address, u32)> for Port {
    fn from((address, metric): (Address, u32)) -> Port {
        Port { address, metric, ipv4: None }
    }
}

/// How often a bridge speaks, and how long it believes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timers {
    /// Between two hellos.
    pub hello: Span,
    /// So many hellos may be missed before a neighbour is gone.
    pub multiplier: u16,
    /// Between two versions of the same link-state PDU.
    pub generation: Span,
    /// Seconds that a link-state PDU is believed.
    pub lifetime: u16,
    /// After that a link-state PDU is said anew though nothing has changed.
    pub refresh: Span,
    /// How long it is remembered that a link-state PDU was taken back.
    pub zero_age: Span,
    /// A link-state PDU that is not acknowledged is sent again after that.
    pub retransmit: Span,
    /// Acknowledgements are collected for that long.
    pub acknowledge: Span,
    /// Between two lists of all that a system has.
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
    /// Seconds after which a neighbour that is not heard is gone, as hellos say it.
    #[must_use]
    pub fn holding_time(&self) -> u16 {
        let seconds = self.hello.as_picos().saturating_mul(u64::from(self.multiplier)).div_ceil(1_000_000_000_000);
        u16::try_from(seconds.max(1)).unwrap_or(u16::MAX)
    }
}
