//! The format in which captures show the frames of a flow, and what the formats over IPv4 have in common.

use super::Synthesizer;
use congestion::Reaction;
use fabric::transport::Sending;
use fabric::workload::FlowSpec;
use fabric::{Frame, Kind};
use scenario::CaptureFormat;
use wire::ethernet::{self, Content, ether_type};
use wire::ipv4::{CAPABLE, EXPERIENCED};
use wire::{Address, Priority, VlanId, Writer, fcs, vlan};

/// Returns the format of a flow that its scenario does not state: that of the transport which it models.
pub(super) fn usual(flow: &FlowSpec) -> CaptureFormat {
    let rdma = || match &flow.recovery {
        Some(recovery) => matches!(recovery.sender, Some(Sending::GoBackN(_) | Sending::SelectiveRepeat(_))),
        None => false,
    };
    let tcp = || flow.recovery.as_ref().is_some_and(|it| matches!(it.sender, Some(Sending::Sack(_))));
    match flow.reaction {
        // Controls of InfiniBand and of 802.1Q and its predecessors, below IP.
        Reaction::RateLaw(_)
        | Reaction::CongestionTable(_)
        | Reaction::Fecn(_)
        | Reaction::Qcn(_)
        | Reaction::Bcn(_) => CaptureFormat::Tailback,
        _ if rdma() => CaptureFormat::RoceV2,
        _ if tcp() => CaptureFormat::Tcp,
        Reaction::Dcqcn(_) | Reaction::Hpcc(_) | Reaction::PowerTcp(_) | Reaction::Timely(_) | Reaction::Swift(_) => {
            CaptureFormat::RoceV2
        }
        Reaction::Reno(_) => CaptureFormat::Tcp,
        _ => CaptureFormat::Tailback,
    }
}

/// The ends of a frame over IPv4.
pub(super) struct Ends {
    pub(super) source: [u8; 4],
    pub(super) destination: [u8; 4],
    /// The class as a class selector (RFC 2474).
    pub(super) code_point: u8,
    /// ECN bits: data can be marked, replies cannot.
    pub(super) congestion: u8,
}

impl Synthesizer<'_> {
    /// Returns the ends of a frame; `None` if its sender is unknown.
    pub(super) fn ends(&self, frame: &Frame) -> Option<Ends> {
        let marked = if frame.is_marked() { EXPERIENCED } else { CAPABLE };
        Some(Ends {
            source: internet_address(self.sender(frame)?),
            destination: internet_address(self.receiver(frame)),
            code_point: (frame.class & 7) << 3,
            congestion: if matches!(frame.kind, Kind::Data | Kind::Trimmed) { marked } else { 0 },
        })
    }

    /// Octets before an IPv4 header.
    pub(super) fn link_header(&self) -> usize {
        14 + if self.tags { vlan::LENGTH } else { 0 }
    }

    /// Octets of a frame of that length for IPv4 and what follows it.
    pub(super) fn room(&self, length: usize) -> usize {
        length.saturating_sub(self.link_header() + fcs::LENGTH)
    }

    /// Writes the header of a frame over IPv4, with a VLAN tag if the scenario has several classes.
    pub(super) fn emit_link_header(&self, frame: &Frame, out: &mut Writer) {
        let source = self.sender(frame).map_or(super::NOBODY, |host| self.host_address(host));
        let destination: Address = self.host_address(self.receiver(frame));
        let tag =
            vlan::Repr { priority: Priority::low_bits(frame.class), vlan: VlanId::default(), ..Default::default() };
        let first = if self.tags { tag.tag_type() } else { ether_type::IPV4 };
        ethernet::Repr { destination, source, content: Content::Type(first) }.emit(out);
        if self.tags {
            tag.emit(ether_type::IPV4, out);
        }
    }
}

/// Returns the address of a host: 10.0.0.1 and following.
fn internet_address(host: u32) -> [u8; 4] {
    let [_, a, b, c] = host.wrapping_add(1).to_be_bytes();
    [10, a, b, c]
}
