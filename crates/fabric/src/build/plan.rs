//! The network's constants in the form the hot path wants them: shared by all shards, never written while running.

use crate::build::sparse::Sparse;
use crate::describe::graph::{HostId, NodeId};
use crate::describe::routing::Routes;
use crate::describe::spec::{Arbitration, BypassReading, PfcWatchdogSpec, VlArbitration, VlEntry};
use crate::describe::workload::{FlowList, FlowSpec};
use crate::machine::port::Lane;
use std::collections::BTreeMap;
use units::{Bytes, FrameTime, Rate, Span};

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
    pub(crate) resume: u32,
    pub(crate) headroom: u32,
    /// Shared buffer: alpha of the class, and the most that a queue may use of the shared part.
    pub(crate) alpha: (u32, u32),
    pub(crate) limit: u32,
    /// The most frames of an output queue; [`u32::MAX`] for no limit.
    pub(crate) frames: u32,
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
    /// Sets the levels at which a lane leaves the short path. Plain bytes under a fixed threshold stay on it; all
    /// else takes the full rules every time. A queue with room for the largest frame on the wire beside what waits has
    /// room; with less, the full rules count that frame.
    pub(crate) fn watch(&self, lane: &mut Lane, class: usize, shared: bool, largest_frame: u16) {
        let plain = usize::from(self.account) == class && self.unit == 1 && !shared;
        let credits = matches!(self.hold, Hold::CreditFrame { .. } | Hold::CreditSignal { .. });
        lane.limit = match (self.limits_output, shared) {
            (true, true) => 0,
            // Frames are counted by the full rules.
            (true, false) if self.frames != u32::MAX => 1,
            (true, false) => self.capacity.saturating_sub(u32::from(largest_frame)).max(1),
            (false, _) => u32::MAX,
        };
        (lane.alert, lane.calm) = if !self.counts_input && !shared {
            (u32::MAX, 0)
        } else if plain && !credits {
            (self.xoff.min(self.capacity), 0)
        } else {
            (0, u32::MAX)
        };
    }

    #[inline]
    pub(crate) fn units(&self, len: u16) -> u32 {
        units(self.unit, len)
    }

    /// What one queue may use of a shared memory of which that much is used by all.
    #[inline]
    pub(crate) fn threshold(&self, shared: Shared, used: u64) -> u64 {
        shared.threshold(self.alpha, used).min(u64::from(self.limit))
    }
}

/// A memory shared by all ports of a switch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shared {
    pub(crate) total: u64,
}

engine::encoded!(struct Shared { total });

impl Shared {
    /// What one queue may use by the dynamic threshold when that much is used by all.
    #[inline]
    pub(crate) fn threshold(self, alpha: (u32, u32), used: u64) -> u64 {
        let share = u128::from(self.total.saturating_sub(used)) * u128::from(alpha.0) / u128::from(alpha.1);
        u64::try_from(share).unwrap_or(u64::MAX)
    }
}

/// A kind of switch.
#[derive(Clone, Debug)]
pub(crate) struct SwitchKind {
    pub(crate) room: WaitingRoom,
    pub(crate) shared: Option<Shared>,
    pub(crate) pipeline: Span,
    /// Input FIFO: how far the bypass reaches, and in which reading.
    pub(crate) fifo: Option<(u8, BypassReading)>,
    pub(crate) arbitration: Arbitration,
    pub(crate) read_ports: u8,
    /// Room behind the crossbar per output and class.
    pub(crate) output_buffer: u32,
}

/// A kind of adapter.
#[derive(Clone, Debug)]
pub(crate) struct AdapterKind {
    pub(crate) service: Option<Rate>,
    /// Whether frames wait to be consumed at all.
    pub(crate) served: bool,
}

/// How a port chooses among classes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EgressKind {
    /// The highest first.
    Strict,
    /// Position in [`NetworkPlan::egress`].
    Groups(u16),
    /// Position in [`NetworkPlan::vl`].
    Tables(u16),
}

/// Weighted egress scheduling, resolved.
#[derive(Clone, Debug)]
pub(crate) struct EgressPlan {
    /// Strict groups, the most urgent first.
    pub(crate) strict: Vec<u8>,
    /// Weighted groups with their bytes a turn.
    pub(crate) weighted: Vec<(u8, u32)>,
    /// Classes of groups that serve the highest first.
    pub(crate) ordered: u8,
}

/// Virtual-lane arbitration, resolved.
#[derive(Clone, Debug)]
pub(crate) struct VlPlan {
    /// The high and the low table.
    pub(crate) tables: [VlTable; 2],
    /// When the high table has sent so many blocks of 64 bytes, a frame of the low one goes first.
    pub(crate) limit: u64,
}

/// The entries of a table that have weight.
#[derive(Clone, Debug)]
pub(crate) struct VlTable {
    /// Class and weight in blocks.
    pub(crate) entries: Vec<(u8, u32)>,
    /// All its classes.
    pub(crate) classes: u8,
}

impl VlPlan {
    pub(crate) fn new(spec: &VlArbitration) -> VlPlan {
        let table = |entries: &[VlEntry]| {
            let weighty = || entries.iter().filter(|entry| entry.weight > 0);
            VlTable {
                entries: weighty().map(|entry| (entry.class, u32::from(entry.weight))).collect(),
                classes: weighty().fold(0, |classes, entry| classes | 1 << entry.class),
            }
        };
        let limit = match spec.high_limit {
            // One frame, which is a block at least.
            0 => 1,
            u8::MAX => u64::MAX,
            units => u64::from(units) * (4096 / 64),
        };
        VlPlan { tables: [table(&spec.high), table(&spec.low)], limit }
    }
}

/// Forwarding tables of all switches.
///
/// Hosts on one switch are nearly always reached alike from every other, so a table has a column for each group of
/// hosts that are, not for each host: a sixteenth of the memory in a large fat-tree, and a row that stays in the cache.
#[derive(Debug)]
pub(crate) struct Tables {
    columns: usize,
    /// By host.
    hosts: Vec<HostEntry>,
    /// Row-major by switch: start in `ports` << 8 | count.
    entries: Vec<u32>,
    ports: Vec<u16>,
}

#[derive(Clone, Copy, Debug)]
struct HostEntry {
    /// The row of the switch the host is attached to, which has an entry of its own for it.
    row: u32,
    entry: u32,
    column: u32,
}

impl Tables {
    /// Copies routes; rows are the switches in graph order, `attached` the row of each host's switch.
    pub(crate) fn new(routes: &Routes, switches: &[NodeId], attached: &[u32]) -> Result<Tables, String> {
        let mut ports = Vec::new();
        let mut packed: Vec<Vec<u32>> = Vec::with_capacity(switches.len());
        for &switch in switches {
            let mut groups = Vec::new();
            for group in routes.groups(switch).iter() {
                let start = ports.len();
                if group.len() > 255 || start >= 1 << 24 {
                    return Err("more equal-cost ports than a table entry holds (255)".into());
                }
                groups.push((start as u32) << 8 | group.len() as u32);
                ports.extend_from_slice(group);
            }
            packed.push(groups);
        }
        let entry = |row: usize, group: u16| packed[row].get(usize::from(group)).copied().unwrap_or(0);
        // Hosts of one column of the routes share it here; equal columns are one.
        let mut found: BTreeMap<&[u16], u32> = BTreeMap::new();
        let mut known: BTreeMap<u32, u32> = BTreeMap::new();
        let mut columns: Vec<&[u16]> = Vec::new();
        let mut hosts = Vec::with_capacity(attached.len());
        for (host, &home) in (0..).map(HostId).zip(attached) {
            let (number, groups) = routes.column(host);
            let column = *known.entry(number).or_insert_with(|| {
                *found.entry(groups).or_insert_with(|| {
                    columns.push(groups);
                    (columns.len() - 1) as u32
                })
            });
            hosts.push(HostEntry { row: home, entry: entry(home as usize, routes.group(home as usize, host)), column });
        }
        let cells = (0..switches.len()).flat_map(|row| columns.iter().map(move |column| (row, column[row])));
        let entries = cells.map(|(row, group)| entry(row, group)).collect();
        Ok(Tables { columns: columns.len(), hosts, entries, ports })
    }

    /// The tables of some switches, in that order; they are found by their position in it.
    fn part(&self, rows: &[u32]) -> Tables {
        let mut ports = Vec::new();
        let mut moved: BTreeMap<u32, u32> = BTreeMap::new();
        let mut entry = |entry: u32| {
            *moved.entry(entry).or_insert_with(|| {
                let start = ports.len() as u32;
                ports.extend_from_slice(&self.ports[(entry >> 8) as usize..][..(entry & 255) as usize]);
                start << 8 | entry & 255
            })
        };
        let place: BTreeMap<u32, u32> = rows.iter().copied().zip(0..).collect();
        let hosts = self.hosts.iter().map(|host| match place.get(&host.row) {
            Some(&row) => HostEntry { row, entry: entry(host.entry), column: host.column },
            None => HostEntry { row: u32::MAX, entry: 0, column: host.column },
        });
        let hosts = hosts.collect();
        let cells = rows.iter().flat_map(|&row| &self.entries[row as usize * self.columns..][..self.columns]);
        let entries = cells.map(|&cell| entry(cell)).collect();
        Tables { columns: self.columns, hosts, entries, ports }
    }

    /// Entries of switches for columns of hosts.
    #[cfg(test)]
    pub(crate) fn cells(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    pub(crate) fn outputs(&self, row: u32, host: u32) -> &[u16] {
        let to = &self.hosts[host as usize];
        let entry =
            if to.row == row { to.entry } else { self.entries[row as usize * self.columns + to.column as usize] };
        let start = (entry >> 8) as usize;
        &self.ports[start..start + (entry & 255) as usize]
    }
}

/// What is known of a port from the outside, by its global number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortPlan {
    pub(crate) node: u32,
    pub(crate) number: u16,
    /// Whether its node is a host.
    pub(crate) at_host: bool,
    pub(crate) cable: u32,
    /// Position of its rules in [`NetworkPlan::rules`].
    pub(crate) rules: u16,
    pub(crate) egress: EgressKind,
    /// Classes whose pauses it obeys.
    pub(crate) obeys: u8,
    /// Position of its PFC watchdog in [`NetworkPlan::pfc_watchdogs`], and the classes that it watches.
    pub(crate) pfc_watchdog: u16,
    pub(crate) watched: u8,
    /// Global number of the far end.
    pub(crate) peer: u32,
    /// Whether the far end takes frames by their header.
    pub(crate) cuts_through: bool,
    /// How long after the first byte, then.
    pub(crate) header_delay: Span,
    pub(crate) bit_error_rate: f64,
    /// From a pause frame's arrival here to its effect, at least.
    pub(crate) pause_response: Span,
    /// How much longer that may take.
    pub(crate) pause_jitter: Span,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct NetworkPlan {
    pub(crate) overhead: Bytes,
    pub(crate) smallest_frame: u16,
    pub(crate) spray: bool,
    /// Some flows have headers or telemetry.
    pub(crate) telemetry: bool,
    pub(crate) rules: Vec<Vec<Rule>>,
    /// For each of `rules` whether its buffer is shared.
    pub(crate) shared_rules: Vec<bool>,
    /// The largest frame of each class in bytes.
    pub(crate) largest_frames: Vec<u16>,
    pub(crate) switches: Vec<SwitchKind>,
    pub(crate) adapters: Vec<AdapterKind>,
    pub(crate) egress: Vec<EgressPlan>,
    pub(crate) vl: Vec<VlPlan>,
    pub(crate) pfc_watchdogs: Vec<PfcWatchdogSpec>,
    pub(crate) tables: Vec<Tables>,
    /// Of each host the first address of its ports and how many there are; empty if ports have no addresses.
    pub(crate) addresses: Vec<(HostId, u16)>,
    /// Of a rank: those of its own nodes, and their far ends.
    pub(crate) ports: Sparse<PortPlan>,
    /// Of a rank: those that start or end there.
    pub(crate) flows: Sparse<FlowSpec, FlowList>,
    pub(crate) seed: u64,
    /// See [`NetworkSpec::frame_time`](crate::NetworkSpec::frame_time).
    pub(crate) frame_time: FrameTime,
    /// Trees among which sources may choose.
    pub(crate) trees: usize,
}

impl NetworkPlan {
    /// The number by which the path of a flow without a number of its own is chosen.
    pub(crate) fn entropy(&self, flow: u32) -> u32 {
        self.flows[flow as usize].entropy(flow, self.seed, self.trees)
    }

    /// What of the plan concerns one rank: of the ports those that `ports` names and their far ends, of the flows those
    /// that `flows` names, and the tables of the switches with these rows.
    pub(crate) fn part(
        &self,
        ports: impl Fn(usize) -> bool,
        flows: impl Fn(usize) -> bool,
        rows: &[u32],
    ) -> NetworkPlan {
        let near = |port: usize| ports(port) || ports(self.ports[port].peer as usize);
        NetworkPlan {
            overhead: self.overhead,
            smallest_frame: self.smallest_frame,
            spray: self.spray,
            rules: self.rules.clone(),
            shared_rules: self.shared_rules.clone(),
            largest_frames: self.largest_frames.clone(),
            switches: self.switches.clone(),
            adapters: self.adapters.clone(),
            egress: self.egress.clone(),
            vl: self.vl.clone(),
            pfc_watchdogs: self.pfc_watchdogs.clone(),
            tables: self.tables.iter().map(|tables| tables.part(rows)).collect(),
            addresses: self.addresses.clone(),
            ports: self.ports.part(near),
            flows: self.flows.part(flows),
            seed: self.seed,
            frame_time: self.frame_time,
            trees: self.trees,
            telemetry: self.telemetry,
        }
    }

    /// The rules of a port for a class.
    pub(crate) fn rule(&self, port: u32, class: u8) -> &Rule {
        &self.rules[usize::from(self.ports[port as usize].rules)][usize::from(class)]
    }

    pub(crate) fn header_delay(&self, port: u32) -> Span {
        self.ports[port as usize].header_delay
    }

    pub(crate) fn bit_error_rate(&self, port: u32) -> f64 {
        self.ports[port as usize].bit_error_rate
    }

    pub(crate) fn obeys(&self, port: u32) -> u8 {
        self.ports[port as usize].obeys
    }

    pub(crate) fn pause_response(&self, port: u32) -> (Span, Span) {
        let port = &self.ports[port as usize];
        (port.pause_response, port.pause_jitter)
    }
}
