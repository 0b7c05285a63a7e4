//! Encoding of simulated frames as InfiniBand packets, with both CRCs.
//!
//! The length of a packet is a multiple of four plus two octets, as the CRCs require; other simulated lengths are
//! rounded down.

use super::{Record, Synthesizer};
use fabric::graph::NodeId;
use fabric::record::FrameRow;
use fabric::spec::{CreditUnit, FlowControl, MAX_CLASSES};
use fabric::{Content, Credit as Grant, Frame, Kind};
use wire::infiniband::opcode;
use wire::infiniband::{self, AckExtended, BaseTransport, FlowControl as Credit, INVARIANT, LocalRoute, VARIANT, WORD};
use wire::pcapng::{ERF_LINK, Erf};
use wire::{Writer, tailback};

/// Octets of the headers before the payload.
const HEADERS: usize = LocalRoute::LENGTH + BaseTransport::LENGTH;
const SMALLEST: usize = HEADERS + INVARIANT + VARIANT;

impl Synthesizer<'_> {
    /// Writes a packet, and returns its length and record type.
    pub(super) fn infiniband(&mut self, row: &FrameRow, octets: &mut [u8]) -> Option<(usize, Record)> {
        let frame = &row.frame;
        let mut out = Writer::new(octets);
        if let Content::Credit(credit) = frame.content() {
            self.credit(row, credit, &mut out);
            return Some((out.finish().ok()?, Record::InfiniBand(Erf::InfiniBandLink)));
        }
        let lane = row.port as usize * MAX_CLASSES + usize::from(frame.class);
        let blocks = match self.block(self.peers.get(row.port as usize)) {
            Some(block) => u64::from(frame.len).div_ceil(block),
            None => 1,
        };
        if let Some(sent) = self.sent.get_mut(lane) {
            *sent += blocks;
        }
        let extended = if frame.acknowledges() { AckExtended::LENGTH } else { 0 };
        let told = match self.is_stamped() {
            true => tailback::SIGNATURE.len() + self.header(frame, "").needed(),
            false => 0,
        };
        let payload = usize::from(frame.len).saturating_sub(SMALLEST) / WORD * WORD;
        let length = SMALLEST + payload.max((extended + told).next_multiple_of(WORD));
        self.packet(frame, length, &mut out);
        Some((out.finish().ok()?, Record::InfiniBand(Erf::InfiniBand)))
    }

    fn packet(&self, frame: &Frame, length: usize, out: &mut Writer) {
        let payload = length - SMALLEST;
        let back = matches!(frame.kind, Kind::Acknowledgement | Kind::Answer | Kind::Notice) || frame.is_reply();
        let congestion = matches!(frame.kind, Kind::Notice | Kind::CongestionNotification);
        let acknowledges = frame.acknowledges();
        // InfiniBand acknowledges the last packet that arrived, and names the one that is missing.
        let sequence = match frame.kind {
            Kind::CumulativeAcknowledgement => frame.seq().wrapping_sub(1),
            _ => frame.numbers().0,
        };
        let (opcode, header) = match frame.kind {
            _ if congestion => (opcode::CONGESTION, 0),
            _ if acknowledges => (opcode::ACKNOWLEDGE, AckExtended::LENGTH),
            // Without our header Wireshark looks for other protocols in a packet of a reliable connection.
            _ if payload < tailback::SIGNATURE.len() + tailback::Repr::LENGTH => (opcode::UNRELIABLE_SEND_ONLY, 0),
            _ => (opcode::SEND_ONLY, 0),
        };
        let route = LocalRoute {
            lane: frame.class,
            service_level: frame.class,
            next: LocalRoute::LOCAL,
            destination: identifier(Some(self.receiver(frame))),
            words: ((length - VARIANT) / WORD) as u16,
            source: identifier(self.sender(frame)),
        };
        route.emit(out);
        let transport = BaseTransport {
            opcode,
            solicited: false,
            migrated: true,
            pad: 0,
            partition: BaseTransport::DEFAULT_PARTITION,
            forward: frame.is_marked() && !back,
            backward: congestion || frame.is_marked() && back,
            // Queue pairs 0 and 1 are for management.
            queue_pair: frame.flow.wrapping_add(2) & 0xFF_FFFF,
            acknowledge: false,
            sequence: sequence & 0xFF_FFFF,
        };
        transport.emit(out);
        if header > 0 {
            let negative = frame.kind == Kind::NegativeAcknowledgement;
            let syndrome = if negative { AckExtended::SEQUENCE_ERROR } else { 0 };
            AckExtended { syndrome, message: sequence & 0xFF_FFFF }.emit(out);
        }
        if congestion {
            out.fill(0, payload);
        } else {
            self.header(frame, &self.flow_name(frame)).emit_signed_within(payload - header, out);
        }
        infiniband::seal(out);
    }

    /// Returns the block size in octets in which a node counts credits; `None` if it counts frames.
    fn block(&self, node: Option<&NodeId>) -> Option<u64> {
        match node.map(|&node| super::flow_control(self.spec, node)) {
            Some(FlowControl::Credits(credits)) => match credits.unit {
                CreditUnit::Frame => None,
                CreditUnit::Block(block) => Some(block.get().max(1)),
            },
            _ => Some(Credit::BLOCK),
        }
    }

    /// Writes a flow control packet. Sent blocks are counted from the captured frames, so the count is correct from the
    /// start.
    fn credit(&self, row: &FrameRow, Grant { class, granted }: Grant, out: &mut Writer) {
        let sent = self.sent.get(row.port as usize * MAX_CLASSES + usize::from(class)).copied().unwrap_or(0);
        // What is granted is frames, or bytes in whole blocks.
        let limit = granted / self.block(self.ports.get(row.port as usize).map(|(node, ..)| node)).unwrap_or(1);
        let lane = class & 15;
        Credit { initialize: false, sent: (sent % 4096) as u16, lane, limit: (limit % 4096) as u16 }.emit(out);
        out.pad_to(ERF_LINK);
    }
}

/// Returns the local identifier of a host: its number plus one. The permissive identifier stands for an unknown host.
fn identifier(host: Option<u32>) -> u16 {
    host.map_or(u16::MAX, |host| (host + 1) as u16)
}
