//! Encoding of simulated frames as TCP segments.
//!
//! A flow is a connection whose payload is what its frames leave for it, so frame n begins with octet 1 + n * payload.
//! Nothing is simulated of the beginning and the end of a connection, and nothing is shown of it.

use super::Synthesizer;
use super::format::Ends;
use fabric::record::FrameRow;
use fabric::{Content, Frame, Kind};
use units::{Bytes, Time, Wire};
use wire::tcp::{PROTOCOL, Repr, flag};
use wire::{Writer, ipv4};

/// The first port of both ends: the range of dynamic ports.
const DYNAMIC: u16 = 0xC000;
const TIME_TO_LIVE: u8 = 64;

/// When a source of a connection has reduced its window, as far as the capture shows it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reduced {
    /// When an echo that is not yet confirmed is at the source.
    echoed: Option<Time>,
    /// The first frame that was not sent when the source last confirmed an echo.
    window_end: u32,
    /// The frame that confirms the last one.
    confirms: Option<u32>,
    /// The first frame that the source has not sent.
    next: u32,
}

impl Synthesizer<'_> {
    /// Follows the echoes of marks to a source on its own link: the first new frame after one confirms it, once per
    /// window.
    pub(super) fn follow_echoes(&mut self, row: &FrameRow) {
        let frame = &row.frame;
        let Some(flow) = self.spec.flows.get(frame.flow as usize) else { return };
        let Some(&source) = self.hosts.get(flow.source.0 as usize) else { return };
        let here = self.ports.get(row.port as usize).map(|&(node, ..)| node);
        let reduced = self.reduced.entry(frame.flow).or_default();
        if frame.acknowledges() && frame.is_marked() && self.peers.get(row.port as usize) == Some(&source) {
            let acknowledged = frame.seq();
            if reduced.echoed.is_none() && !before(acknowledged, reduced.window_end) {
                let wire = Wire::new(self.links.get(row.port as usize).map_or(units::Rate::ZERO, |link| link.rate));
                let busy = wire.at_most(Bytes::new(u64::from(frame.len)) + self.spec.overhead);
                let flight = self.links.get(row.port as usize).map_or(units::Span::ZERO, |link| link.latency);
                reduced.echoed = Some(row.time + busy + flight);
            }
        } else if frame.kind == Kind::Data && here == Some(source) && !before(frame.seq(), reduced.next) {
            reduced.next = frame.seq().wrapping_add(1);
            if reduced.echoed.is_some_and(|at| at <= row.time) {
                *reduced =
                    Reduced { echoed: None, window_end: reduced.next, confirms: Some(frame.seq()), next: reduced.next };
            }
        }
    }

    /// Writes a frame without its check sequence, and returns whether it is one of TCP's: probes, pulls, receipts,
    /// notices and congestion notifications are not.
    pub(super) fn tcp(&self, row: &FrameRow, length: usize, out: &mut Writer) -> bool {
        let frame = &row.frame;
        let Some(ends) = self.ends(frame) else { return false };
        let (ahead, back) = (DYNAMIC | frame.flow as u16 & 0x3FFF, DYNAMIC | (frame.flow >> 14) as u16 & 0x3FFF);
        let mut header = Repr { source: ahead, destination: back, window: u16::MAX, ..Repr::default() };
        (header.sequence, header.acknowledgement, header.flags) = (1, 1, flag::ACK);
        let mut payload = 0;
        let next = match frame.content() {
            Content::Data(segment) | Content::Trimmed(segment) => {
                header.sequence = self.octet(frame.flow, segment.seq);
                let confirms = self.reduced.get(&frame.flow).is_some_and(|it| it.confirms == Some(segment.seq));
                header.flags |= if frame.is_last() { flag::PSH } else { 0 } | if confirms { flag::CWR } else { 0 };
                payload = self.room(length).saturating_sub(ipv4::HEADER + Repr::LENGTH);
                None
            }
            Content::Acknowledgement(segment) => Some(segment.seq.wrapping_add(1)),
            Content::CumulativeAcknowledgement(said)
            | Content::NegativeAcknowledgement(said)
            | Content::TrimmedAcknowledgement(said) => Some(said.cumulative),
            _ => return false,
        };
        if let Some(next) = next {
            (header.source, header.destination) = (back, ahead);
            header.acknowledgement = self.octet(frame.flow, next);
            header.flags |= if frame.is_marked() { flag::ECE } else { 0 };
            for &(first, after) in &row.blocks {
                header.blocks.push((self.octet(frame.flow, first), self.octet(frame.flow, after)));
            }
        }
        self.segment(frame, &ends, &header, payload, out);
        true
    }

    fn segment(&self, frame: &Frame, ends: &Ends, header: &Repr, payload: usize, out: &mut Writer) {
        let ip = ipv4::Repr {
            source: ends.source,
            destination: ends.destination,
            code_point: ends.code_point,
            congestion: ends.congestion,
            time_to_live: TIME_TO_LIVE,
            protocol: PROTOCOL,
            length: (header.length() + payload) as u16,
        };
        self.emit_link_header(frame, out);
        ip.emit(out);
        header.emit(&ip, out, |out| self.header(frame, &self.flow_name(frame)).emit_signed_within(payload, out));
    }

    /// Returns the sequence number of the first octet of a frame; of the one after the last, the number after its end.
    fn octet(&self, flow: u32, number: u32) -> u32 {
        let headers = (self.link_header() + wire::fcs::LENGTH + ipv4::HEADER + Repr::LENGTH) as u64;
        let extra = |flow: &fabric::workload::FlowSpec| flow.telemetry.map_or(0, |telemetry| telemetry.size.get());
        let payload = |size: u64| {
            let extra = self.spec.flows.get(flow as usize).map_or(0, extra);
            (size + extra).saturating_sub(headers)
        };
        let each = payload(self.spec.flows.get(flow as usize).map_or(0, |flow| flow.frame.get())) as u32;
        let begin = |number: u32| number.wrapping_mul(each).wrapping_add(1);
        match self.last_frame(flow) {
            Some((last, size)) if u64::from(number) > last => begin(last as u32).wrapping_add(payload(size) as u32),
            _ => begin(number),
        }
    }
}

/// Whether a number comes before another, modulo 2^32.
fn before(number: u32, other: u32) -> bool {
    number.wrapping_sub(other) > u32::MAX / 2
}
