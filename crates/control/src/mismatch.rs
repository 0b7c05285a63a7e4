//! Configuration mismatches between the two ends of a link.

use crate::settings::Settings;
use crate::settings::Version;
use crate::{ConvergedFeature, Off, Operating, Peer, converged, resolve};
use std::fmt;
use wire::Address;
use wire::lldp::ieee::{EtsTable, Selection};

/// A configuration mismatch at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mismatch {
    /// More than one peer is present: the port follows none.
    SeveralPeers,
    /// The peer uses LLDP but not IEEE's DCBX.
    NoDcbx {
        /// Whether it uses the DCBX of Converged Enhanced Ethernet.
        converged: bool,
    },
    /// This end uses only CEE's DCBX, the peer IEEE's.
    OtherVersion,
    /// A feature of CEE's DCBX is off.
    ConvergedOff {
        /// Feature that is off.
        feature: ConvergedFeature,
        /// Reason.
        why: Off,
    },
    /// The port pauses priorities, and the peer does not advertise PFC.
    PfcUnanswered {
        /// Priorities of this end.
        ours: u8,
    },
    /// The two ends pause different priorities, and neither is willing to change.
    PfcDiffers {
        /// Priorities of this end.
        ours: u8,
        /// Priorities of the peer.
        theirs: u8,
    },
    /// More priorities are paused than the port supports.
    PfcBeyondCapability {
        /// Paused priorities.
        paused: u8,
        /// Number of priorities that it supports.
        capability: u8,
    },
    /// The peer enables PFC for more priorities than it advertises as its capability.
    PfcPeerBeyondCapability {
        /// Priorities with PFC at the peer.
        paused: u8,
        /// Capability of the peer.
        capability: u8,
    },
    /// The two ends share the link differently.
    EtsDiffers {
        /// Table of this end.
        ours: EtsTable,
        /// Table of the peer.
        theirs: EtsTable,
    },
    /// The shares of a table do not add up to 100.
    EtsShares {
        /// Sum of the shares.
        sum: u16,
    },
    /// A priority has no traffic class.
    NoClass {
        /// Priority.
        priority: u8,
    },
    /// A paused and an unpaused priority share a traffic class.
    LosslessInLossyClass {
        /// Traffic class.
        class: u8,
        /// Paused priority.
        lossless: u8,
        /// Unpaused priority.
        lossy: u8,
    },
    /// An application has different priorities at the two ends.
    ApplicationDiffers {
        /// Type of the protocol number: 1 is an Ethernet type, 2 to 4 a port, 5 a DSCP.
        selector: u8,
        /// Protocol number.
        protocol: u16,
        /// Priority at this end.
        ours: u8,
        /// Priority at the peer.
        theirs: u8,
    },
    /// The domain of congestion notification ends at this link.
    CongestionEdge {
        /// Priorities whose domain ends.
        priorities: u8,
    },
}

impl Mismatch {
    /// Returns its name, for programs.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Mismatch::SeveralPeers => "several-peers",
            Mismatch::NoDcbx { .. } => "no-dcbx",
            Mismatch::OtherVersion => "other-version",
            Mismatch::ConvergedOff { .. } => "cee-off",
            Mismatch::PfcUnanswered { .. } => "pfc-unanswered",
            Mismatch::PfcDiffers { .. } => "pfc-differs",
            Mismatch::PfcBeyondCapability { .. } => "pfc-beyond-capability",
            Mismatch::PfcPeerBeyondCapability { .. } => "pfc-peer-beyond-capability",
            Mismatch::EtsDiffers { .. } => "ets-differs",
            Mismatch::EtsShares { .. } => "ets-shares",
            Mismatch::NoClass { .. } => "no-class",
            Mismatch::LosslessInLossyClass { .. } => "lossless-in-lossy-class",
            Mismatch::ApplicationDiffers { .. } => "application-differs",
            Mismatch::CongestionEdge { .. } => "congestion-edge",
        }
    }
}

/// Priorities of a mask, for people.
struct Priorities(u8);

impl fmt::Display for Priorities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0.count_ones() {
            0 => return f.write_str("no priority"),
            1 => "priority ",
            _ => "priorities ",
        })?;
        let mut separator = "";
        for priority in (0..8).filter(|priority| self.0 >> priority & 1 == 1) {
            write!(f, "{separator}{priority}")?;
            separator = ",";
        }
        Ok(())
    }
}

/// A table as priorities and percentages, for people.
struct Shares<'a>(&'a EtsTable);

impl fmt::Display for Shares<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let members =
            |class: u8| (0..8u8).filter(move |&priority| self.0.classes[usize::from(priority)] == Some(class));
        let mut separator = "";
        for class in (0..8u8).filter(|&class| members(class).next().is_some()) {
            f.write_str(separator)?;
            separator = "; ";
            let mut comma = "";
            for priority in members(class) {
                write!(f, "{comma}{priority}")?;
                comma = ",";
            }
            match self.0.selection[usize::from(class)] {
                Selection::Share => write!(f, ": {} %", self.0.shares[usize::from(class)])?,
                Selection::Strict => f.write_str(": strict")?,
                other => write!(f, ": {other:?}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Mismatch::SeveralPeers => f.write_str("several peers are on this link, so none is followed"),
            Mismatch::NoDcbx { converged: false } => f.write_str("the peer does not speak DCBX"),
            Mismatch::NoDcbx { converged: true } => f.write_str("the peer speaks CEE DCBX, but advertises no features"),
            Mismatch::OtherVersion => f.write_str("this end speaks only CEE DCBX, the peer only IEEE DCBX"),
            Mismatch::ConvergedOff { feature, why } => {
                let feature = match feature {
                    ConvergedFeature::PriorityGroups => "priority grouping",
                    ConvergedFeature::FlowControl => "PFC",
                    ConvergedFeature::Applications => "the application table",
                };
                let why = match why {
                    Off::Absent => "the peer does not advertise it",
                    Off::Disabled => "the peer has disabled it",
                    Off::Differs => "the two ends differ, and both or neither are willing",
                    Off::PeerError => "the peer reports an error",
                };
                write!(f, "{feature} is off by the rules of CEE DCBX: {why}")
            }
            Mismatch::PfcUnanswered { ours } => {
                write!(f, "this end enables PFC for {}, the peer does not advertise PFC", Priorities(ours))
            }
            Mismatch::PfcDiffers { ours, theirs } => {
                let (ours, theirs) = (Priorities(ours), Priorities(theirs));
                write!(
                    f,
                    "this end enables PFC for {ours}, the peer for {theirs}, and neither adopts the other's setting"
                )
            }
            Mismatch::PfcBeyondCapability { paused, capability } => {
                write!(
                    f,
                    "PFC is enabled for {}, but the port supports only {capability} at a time",
                    Priorities(paused)
                )
            }
            Mismatch::PfcPeerBeyondCapability { paused, capability } => {
                write!(
                    f,
                    "the peer enables PFC for {}, but advertises a capability of {capability}",
                    Priorities(paused)
                )
            }
            Mismatch::EtsDiffers { ours, theirs } => {
                write!(f, "the bandwidth shares differ: {} at this end, {} at the peer", Shares(&ours), Shares(&theirs))
            }
            Mismatch::EtsShares { sum } => write!(f, "the shares add up to {sum} %, not 100 %"),
            Mismatch::NoClass { priority } => write!(f, "priority {priority} is in no traffic class"),
            Mismatch::LosslessInLossyClass { class, lossless, lossy } => {
                write!(
                    f,
                    "traffic class {class} mixes priority {lossless} (with PFC) and priority {lossy} (without PFC)"
                )
            }
            Mismatch::ApplicationDiffers { selector, protocol, ours, theirs } => {
                write!(f, "application {selector}:{protocol:#06x} has priority {ours} here and {theirs} at the peer")
            }
            Mismatch::CongestionEdge { priorities } => {
                write!(f, "the congestion notification domain of {} ends here", Priorities(priorities))
            }
        }
    }
}

/// Everything about a port that does not fit.
pub(crate) fn mismatches<'a>(
    settings: &'a Settings,
    address: Address,
    operating: &'a Operating,
    peer: Option<&'a Peer>,
    crowded: bool,
) -> impl Iterator<Item = Mismatch> + 'a {
    let paused = operating.pfc.value;
    let capability = settings.pfc.capability;
    let beyond = exceeds(paused, capability).then_some(Mismatch::PfcBeyondCapability { paused, capability });
    let theirs = peer.and_then(|peer| peer.said().flow_control).filter(|it| exceeds(it.priorities, it.capability));
    let theirs =
        theirs.map(|it| Mismatch::PfcPeerBeyondCapability { paused: it.priorities, capability: it.capability });
    let own = [crowded.then_some(Mismatch::SeveralPeers), beyond, theirs, shares(&operating.ets.value)];
    let classes = (0..8).filter_map(move |class| mixed(class, paused, &operating.ets.value));
    let unclassed = (0..8u8).filter_map(move |priority| {
        operating.ets.value.classes[usize::from(priority)].is_none().then_some(Mismatch::NoClass { priority })
    });
    let between = peer.map(|peer| between(settings, address, operating, peer));
    let off = peer.into_iter().flat_map(|peer| converged::off(settings, peer.said()));
    let off = off.map(|(feature, why)| Mismatch::ConvergedOff { feature, why });
    let applications = peer.and_then(|peer| peer.said().applications.as_ref()).into_iter().flat_map(|theirs| {
        operating.apps.value.iter().filter_map(|ours| {
            let (selector, protocol) = (ours.selector, ours.protocol);
            let (ours, theirs) =
                (operating.apps.value.priority(selector, protocol)?, theirs.priority(selector, protocol)?);
            (ours != theirs).then_some(Mismatch::ApplicationDiffers { selector, protocol, ours, theirs })
        })
    });
    own.into_iter()
        .flatten()
        .chain(classes)
        .chain(unclassed)
        .chain(between.into_iter().flatten().flatten())
        .chain(off)
        .chain(applications)
}

/// Whether more priorities are paused than a port can; a capability of zero states no limit.
fn exceeds(paused: u8, capability: u8) -> bool {
    capability > 0 && paused.count_ones() > u32::from(capability)
}

/// Returns the mismatches between the two ends.
fn between(settings: &Settings, address: Address, operating: &Operating, peer: &Peer) -> [Option<Mismatch>; 4] {
    let said = peer.said();
    if said.converged.is_some() && !said.is_silent() {
        // Its own rules say what is wrong.
        return [None; 4];
    }
    if settings.version == Version::Cee && !said.is_silent() {
        return [Some(Mismatch::OtherVersion), None, None, None];
    }
    let (paused, shared) = resolve::peers_operating(settings, address, peer);
    let ours = operating.pfc.value;
    let pfc = match paused {
        _ if said.is_silent() => None,
        None => (ours != 0).then_some(Mismatch::PfcUnanswered { ours }),
        Some(theirs) => (ours != theirs).then_some(Mismatch::PfcDiffers { ours, theirs }),
    };
    let table = &operating.ets.value;
    let ets = shared.filter(|theirs| effective(theirs) != effective(table));
    let ets = ets.map(|theirs| Mismatch::EtsDiffers { ours: *table, theirs });
    let heard = said.congestion.unwrap_or_default().priorities;
    let priorities = settings.congestion & !heard;
    [
        said.is_silent().then_some(Mismatch::NoDcbx { converged: said.converged.is_some() }),
        pfc,
        ets,
        (priorities != 0).then_some(Mismatch::CongestionEdge { priorities }),
    ]
}

/// Returns the class, algorithm and share of each priority. Unused classes are ignored.
fn effective(table: &EtsTable) -> [Option<(u8, Selection, u8)>; 8] {
    table.classes.map(|class| {
        let class = class?;
        let at = usize::from(class & 7);
        Some((class, table.selection[at], table.shares[at]))
    })
}

fn shares(table: &EtsTable) -> Option<Mismatch> {
    let shared = |&class: &usize| table.selection[class] == Selection::Share;
    let sum = (0..8).filter(shared).map(|class| u16::from(table.shares[class])).sum();
    ((0..8).any(|class| shared(&class)) && sum != 100).then_some(Mismatch::EtsShares { sum })
}

/// A paused and an unpaused priority of one class.
fn mixed(class: u8, paused: u8, table: &EtsTable) -> Option<Mismatch> {
    let members = |wanted: bool| {
        (0..8u8).find(|&priority| {
            table.classes[usize::from(priority)] == Some(class) && (paused >> priority & 1 == 1) == wanted
        })
    };
    Some(Mismatch::LosslessInLossyClass { class, lossless: members(true)?, lossy: members(false)? })
}
