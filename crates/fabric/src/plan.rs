//! The network's constants in the form the hot path wants them: shared by all shards, never written while running.

use crate::routing::Routes;
use crate::spec::{Arbitration, BypassReading};
use crate::workload::FlowSpec;
use units::{Bytes, Rate, Span};

/// Where the frames of a switch wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitingRoom {
    /// In output queues; outputs take from there.
    Output,
    /// At the inputs; outputs take from there.
    Input,
    /// At the inputs first, then behind the crossbar.
    Both,
}

/// What holds back the sender of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// Nothing.
    Nothing,
    /// A pause frame that names these classes.
    Pause {
        /// Classes it names.
        classes: u8,
        /// Its duration.
        quanta: u16,
        /// Quanta after which it is asked for again.
        refresh_after: u16,
    },
    /// Credits, given back by a frame of that size.
    CreditFrame { size: u16, refresh: Option<Span> },
    /// Credits, given back by a signal.
    CreditSignal { delay: Span },
}

/// A device's rules for one class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    /// A drop for want of room ends the run.
    pub(crate) lossless: bool,
    /// What comes in is counted against the input.
    pub(crate) counts_input: bool,
    /// What waits is limited at the output.
    pub(crate) limits_output: bool,
    /// The lane that counts: PAUSE counts all classes of a port together.
    pub(crate) account: u8,
    pub(crate) capacity: u32,
    pub(crate) xoff: u32,
    pub(crate) xon: u32,
    pub(crate) headroom: u32,
    /// See [`Rule::units`].
    pub(crate) unit: u32,
    pub(crate) hold: Hold,
}

/// What a frame counts for: 0 is one per frame, 1 is bytes, n is whole blocks of n bytes.
#[inline]
pub(crate) fn units(unit: u32, len: u16) -> u32 {
    match unit {
        1 => u32::from(len),
        0 => 1,
        block => u32::from(len).div_ceil(block) * block,
    }
}

impl Rule {
    #[inline]
    pub(crate) fn units(&self, len: u16) -> u32 {
        units(self.unit, len)
    }
}

/// A memory shared by all ports of a switch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shared {
    pub(crate) total: u64,
    pub(crate) alpha: (u32, u32),
}

impl Shared {
    /// What one queue may use when that much is used by all.
    #[inline]
    pub(crate) fn threshold(self, used: u64) -> u64 {
        self.total.saturating_sub(used) * u64::from(self.alpha.0) / u64::from(self.alpha.1)
    }
}

/// A kind of switch.
#[derive(Clone, Debug)]
pub(crate) struct SwitchKind {
    pub(crate) room: WaitingRoom,
    /// Position in [`Plan::rules`].
    pub(crate) rules: u16,
    pub(crate) shared: Option<Shared>,
    pub(crate) cuts_through: bool,
    pub(crate) pipeline: Span,
    /// Input FIFO: how far the bypass reaches, and in which reading.
    pub(crate) fifo: Option<(u8, BypassReading)>,
    pub(crate) arbitration: Arbitration,
    pub(crate) read_ports: u8,
    /// Room behind the crossbar per output and class.
    pub(crate) output_buffer: u32,
    /// Position in [`Plan::egress`].
    pub(crate) egress: Option<u16>,
}

/// A kind of adapter.
#[derive(Clone, Debug)]
pub(crate) struct AdapterKind {
    pub(crate) service: Option<Rate>,
    /// Whether frames wait to be consumed at all.
    pub(crate) served: bool,
    /// Position in [`Plan::egress`].
    pub(crate) egress: Option<u16>,
}

/// Weighted egress scheduling, resolved.
#[derive(Clone, Debug)]
pub(crate) struct EgressPlan {
    /// Strict groups, the most urgent first.
    pub(crate) strict: Vec<u8>,
    /// Weighted groups with their bytes a turn.
    pub(crate) weighted: Vec<(u8, u32)>,
}

/// Forwarding tables of all switches.
#[derive(Debug)]
pub(crate) struct Tables {
    hosts: usize,
    /// Row-major by switch: start in `ports` << 8 | count.
    entries: Vec<u32>,
    ports: Vec<u16>,
}

impl Tables {
    /// Copies routes; rows are the switches in graph order.
    pub(crate) fn new(routes: &Routes, switches: &[crate::graph::NodeId], hosts: usize) -> Result<Tables, String> {
        let mut tables = Tables { hosts, entries: Vec::with_capacity(switches.len() * hosts), ports: Vec::new() };
        for &switch in switches {
            let mut packed = Vec::new();
            for group in routes.groups(switch).iter() {
                let start = tables.ports.len();
                if group.len() > 255 || start >= 1 << 24 {
                    return Err("more equal-cost ports than a table entry holds (255)".into());
                }
                packed.push((start as u32) << 8 | group.len() as u32);
                tables.ports.extend_from_slice(group);
            }
            let entry = |&group: &u16| packed.get(group as usize).copied().unwrap_or(0);
            tables.entries.extend(routes.table(switch).iter().map(entry));
        }
        Ok(tables)
    }

    #[inline]
    pub(crate) fn outputs(&self, row: u32, host: u32) -> &[u16] {
        let entry = self.entries[row as usize * self.hosts + host as usize];
        let start = (entry >> 8) as usize;
        &self.ports[start..start + (entry & 255) as usize]
    }
}

/// What is known of a port from the outside, by its global number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortPlan {
    pub(crate) node: u32,
    pub(crate) number: u16,
    pub(crate) cable: u32,
    /// Global number of the far end.
    pub(crate) peer: u32,
    /// Whether the far end takes frames by their header.
    pub(crate) cuts_through: bool,
    /// How long after the first byte, then.
    pub(crate) header_delay: Span,
    pub(crate) bit_error_rate: f64,
    /// From a pause frame's arrival here to its effect.
    pub(crate) pause_response: Span,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) overhead: Bytes,
    pub(crate) smallest_frame: u16,
    pub(crate) spray: bool,
    pub(crate) rules: Vec<Vec<Rule>>,
    /// For each of `rules` whether its buffer is shared.
    pub(crate) shared_rules: Vec<bool>,
    pub(crate) switches: Vec<SwitchKind>,
    pub(crate) adapters: Vec<AdapterKind>,
    pub(crate) egress: Vec<EgressPlan>,
    pub(crate) tables: Vec<Tables>,
    pub(crate) ports: Vec<PortPlan>,
    pub(crate) flows: Vec<FlowSpec>,
    pub(crate) seed: u64,
}

impl Plan {
    pub(crate) fn header_delay(&self, port: u32) -> Span {
        self.ports[port as usize].header_delay
    }

    pub(crate) fn bit_error_rate(&self, port: u32) -> f64 {
        self.ports[port as usize].bit_error_rate
    }

    pub(crate) fn pause_response(&self, port: u32) -> Span {
        self.ports[port as usize].pause_response
    }
}
