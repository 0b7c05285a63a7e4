//! Encoding of simulated frames as RoCEv2 packets: a flow is a reliable connection that sends one message.

use super::Synthesizer;
use super::format::Ends;
use fabric::{Content, Cumulative, Frame, Kind};
use wire::infiniband::{AckExtended, BaseTransport, opcode};
use wire::roce::{Notification, Packet};
use wire::{Writer, tailback};

/// UDP source ports that carry the entropy of a path: 14 bits in the range of dynamic ports (IBTA annex A17.9.1).
const ENTROPY: u16 = 0xC000;
const NUMBER: u32 = 0xFF_FFFF;
/// Wireshark 4.0 looks for RPC over RDMA at the end of every message, reads 16 octets, and calls shorter ones malformed;
/// not with immediate data.
const SHORT: usize = 16;
/// Length of immediate data.
const IMMEDIATE: usize = 4;

impl Synthesizer<'_> {
    /// Writes a frame without its check sequence, and returns whether it is one of RoCEv2's: probes, pulls, receipts and
    /// notices are not.
    pub(super) fn roce(&self, frame: &Frame, length: usize, out: &mut Writer) -> bool {
        let Some(ends) = self.ends(frame) else { return false };
        match frame.content() {
            Content::Data(_) | Content::Trimmed(_) => self.message(frame, &ends, length, out),
            Content::CongestionNotification => {
                self.emit_link_header(frame, out);
                let Ends { source, destination, code_point, .. } = ends;
                let (port, queue_pair) = (port(frame.entropy), queue_pair(frame));
                let partition = BaseTransport::DEFAULT_PARTITION;
                Notification { source, destination, code_point, port, queue_pair, partition }.emit(out);
            }
            // The last frame that arrived, or the one that is missing.
            Content::Acknowledgement(segment) => {
                let next = u64::from(segment.seq) + 1;
                self.acknowledgement(frame, &ends, (segment.seq, next, false), length, out);
            }
            Content::CumulativeAcknowledgement(Cumulative { cumulative, .. }) => {
                let number = (cumulative.wrapping_sub(1), cumulative.into(), false);
                self.acknowledgement(frame, &ends, number, length, out);
            }
            Content::NegativeAcknowledgement(Cumulative { cumulative, .. }) => {
                self.acknowledgement(frame, &ends, (cumulative, cumulative.into(), true), length, out);
            }
            Content::TrimmedAcknowledgement(Cumulative { cumulative, number, .. }) => {
                self.acknowledgement(frame, &ends, (number, cumulative.into(), true), length, out);
            }
            Content::Pause(_)
            | Content::Notice(_)
            | Content::Probe(_)
            | Content::Answer(_)
            | Content::Receipt
            | Content::Credit(_)
            | Content::Pull(_)
            | Content::Returned(_) => return false,
        }
        true
    }

    /// Writes a packet of a message, with our own header as its payload.
    fn message(&self, frame: &Frame, ends: &Ends, length: usize, out: &mut Writer) {
        let payload = words(self.room(length).saturating_sub(Packet::length(false, 0))).max(self.least_payload(frame));
        let short = payload < SHORT;
        let opcode = match (frame.seq() == 0, frame.is_last()) {
            (true, true) if short => opcode::SEND_ONLY_IMMEDIATE,
            (false, true) if short => opcode::SEND_LAST_IMMEDIATE,
            (true, true) => opcode::SEND_ONLY,
            (true, false) => opcode::SEND_FIRST,
            (false, true) => opcode::SEND_LAST,
            (false, false) => opcode::SEND_MIDDLE,
        };
        let immediate = if short && frame.is_last() { IMMEDIATE } else { 0 };
        let payload = payload.max(immediate);
        let flow = self.spec.flows.get(frame.flow as usize);
        let every = flow.and_then(|flow| flow.acknowledge).map(|how| how.every);
        let asks =
            every.is_some_and(|every| frame.is_last() || frame.seq().wrapping_add(1).is_multiple_of(every.max(1)));
        let packet = packet(frame, ends, opcode, frame.seq(), asks, None);
        self.emit_link_header(frame, out);
        packet.emit(payload, out, |out| {
            if immediate > 0 {
                out.u32(frame.flow);
            }
            self.header(frame, &self.flow_name(frame)).emit_signed_within(payload - immediate, out);
        });
    }

    /// Writes an acknowledgement of that packet, with the number of the next one that is expected, or a NAK. Telemetry
    /// that it returns follows as its payload.
    fn acknowledgement(
        &self,
        frame: &Frame,
        ends: &Ends,
        (number, next, negative): (u32, u64, bool),
        length: usize,
        out: &mut Writer,
    ) {
        let syndrome = if negative { AckExtended::SEQUENCE_ERROR } else { AckExtended::ACKNOWLEDGED };
        let complete = self.last_frame(frame.flow).is_some_and(|(last, _)| next > last);
        let header = AckExtended { syndrome, message: u32::from(complete) };
        let packet = packet(frame, ends, opcode::ACKNOWLEDGE, number, false, Some(header));
        let room = words(self.room(length).saturating_sub(Packet::length(true, 0))).max(self.least_payload(frame));
        let told = self.stamps.is_some() && room >= tailback::SIGNATURE.len() + tailback::Repr::LENGTH;
        let payload = if told { room } else { 0 };
        self.emit_link_header(frame, out);
        packet.emit(payload, out, |out| self.header(frame, &self.flow_name(frame)).emit_signed_within(payload, out));
    }

    /// Returns the octets that the payload of a frame has at least: those of its stamps and the header before them.
    fn least_payload(&self, frame: &Frame) -> usize {
        let needed = || tailback::SIGNATURE.len() + self.header(frame, "").needed();
        if self.is_stamped() { needed().next_multiple_of(4) } else { 0 }
    }

    /// Returns the number of the last frame of a finite flow, and its length.
    pub(super) fn last_frame(&self, flow: u32) -> Option<(u64, u64)> {
        let flow = self.spec.flows.get(flow as usize)?;
        let (size, frame) = (flow.size?.get(), flow.frame.get().max(1));
        let last = size.div_ceil(frame).saturating_sub(1);
        Some((last, (size - last * frame).max(self.spec.smallest_frame.get())))
    }
}

/// Payloads are whole words.
fn words(octets: usize) -> usize {
    octets / 4 * 4
}

/// Entropies that differ in their upper bits or in their lower ones, as those of a flow that counts its paths, have
/// different ports.
pub(super) fn port(entropy: u32) -> u16 {
    ENTROPY | ((entropy >> 18) as u16).wrapping_add(entropy as u16)
}

/// Queue pairs 0 and 1 are for management.
fn queue_pair(frame: &Frame) -> u32 {
    frame.flow.wrapping_add(2) & NUMBER
}

fn packet(
    frame: &Frame,
    &Ends { source, destination, code_point, congestion }: &Ends,
    opcode: u8,
    sequence: u32,
    acknowledge: bool,
    acknowledgement: Option<AckExtended>,
) -> Packet {
    let transport = BaseTransport {
        opcode,
        solicited: false,
        migrated: true,
        pad: 0,
        partition: BaseTransport::DEFAULT_PARTITION,
        forward: false,
        backward: frame.is_marked() && !matches!(frame.kind, Kind::Data | Kind::Trimmed),
        queue_pair: queue_pair(frame),
        acknowledge,
        sequence: sequence & NUMBER,
    };
    Packet { source, destination, code_point, congestion, port: port(frame.entropy), transport, acknowledgement }
}
