//! Encoding of simulated frames as Ethernet frames, including the frame check sequence.

use super::{Synthesizer, flow_control};
use congestion::Reaction;
use fabric::record::FrameRow;
use fabric::spec::FlowControl;
use fabric::{Content as Says, Frame, Kind, Notice, Pause};
use scenario::CaptureFormat;
use wire::ethernet::{self, Content, ether_type};
use wire::{Address, Priority, VlanId, Writer, cnm, fcs, mac_control, vlan};

/// Length of header and VLAN tag.
const TAGGED: usize = 14 + vlan::LENGTH;

impl Synthesizer<'_> {
    /// Writes a frame and returns its length: the simulated one, or that of its headers if these are longer.
    pub(super) fn ethernet(&mut self, row: &FrameRow, octets: &mut [u8]) -> Option<usize> {
        let length = usize::from(row.frame.len);
        let mut out = Writer::new(octets);
        match row.frame.content() {
            Says::Pause(pause) => self.pause(row, pause, &mut out),
            Says::Notice(notice) => self.notice(&row.frame, notice, length, &mut out),
            _ => {
                let written = match self.formats.get(row.frame.flow as usize) {
                    Some(CaptureFormat::RoceV2) => self.roce(&row.frame, length, &mut out),
                    Some(CaptureFormat::Tcp) => {
                        self.follow_echoes(row);
                        self.tcp(row, length, &mut out)
                    }
                    Some(CaptureFormat::Tailback) | None => false,
                };
                if !written {
                    self.flow_frame(&row.frame, length, &mut out);
                }
            }
        }
        // Simulated frames may be smaller than Ethernet's smallest, so its padding is not asked for.
        out.pad_to(length.saturating_sub(fcs::LENGTH));
        let crc = fcs::crc32(out.written(0));
        out.bytes(&crc.to_le_bytes());
        out.finish().ok()
    }

    /// Writes a PAUSE or PFC frame, as configured at the sending device.
    fn pause(&self, row: &FrameRow, pause: Pause, out: &mut Writer) {
        let whole_link = self
            .ports
            .get(row.port as usize)
            .is_some_and(|&(node, ..)| matches!(flow_control(self.spec, node), FlowControl::Pause(_)));
        let control = if whole_link {
            mac_control::Repr::Pause { quanta: if pause.held == 0 { 0 } else { pause.quanta } }
        } else {
            let quanta = |class: usize| match (pause.held >> class & 1, pause.released >> class & 1) {
                (1, _) => Some(pause.quanta),
                (_, released) => (released == 1).then_some(0),
            };
            mac_control::Repr::Pfc { quanta: std::array::from_fn(quanta) }
        };
        let content = Content::Type(ether_type::MAC_CONTROL);
        let source = self.address(row.port);
        ethernet::Repr { destination: Address::MAC_CONTROL, source, content }.emit(out);
        control.emit(out);
    }

    /// Writes a congestion notification message from the congested port. It does not quote the sampled frame.
    fn notice(&self, frame: &Frame, notice: Notice, length: usize, out: &mut Writer) {
        let Notice { feedback, port, class, offset, growth, .. } = notice;
        let message = cnm::Repr {
            feedback,
            point: point(self.address(port), class),
            offset: cnm::units(offset),
            growth: cnm::units(growth),
            priority: Priority::low_bits(class),
            destination: self.destination(frame.flow).map_or(Address::default(), |host| self.host_address(host)),
            quote: &[],
        };
        if length < TAGGED + cnm::Tag::LENGTH + message.length() + fcs::LENGTH {
            return self.flow_frame(frame, length, out);
        }
        self.tagged(frame, self.address(port), ether_type::CN_TAG, out);
        cnm::Tag { flow: frame.flow as u16 }.emit(ether_type::CNM, out);
        message.emit(out);
    }

    /// Writes a frame of a flow: our own header, behind a congestion notification tag if the source uses that protocol.
    fn flow_frame(&self, frame: &Frame, length: usize, out: &mut Writer) {
        let source = self.sender(frame).map_or(super::NOBODY, |host| self.host_address(host));
        let reaction = self.spec.flows.get(frame.flow as usize).map(|flow| &flow.reaction);
        let tags = frame.kind == Kind::Data && matches!(reaction, Some(Reaction::Qcn(_)));
        if tags && length >= TAGGED + cnm::Tag::LENGTH + fcs::LENGTH {
            self.tagged(frame, source, ether_type::CN_TAG, out);
            cnm::Tag { flow: frame.flow as u16 }.emit(ether_type::EXPERIMENTAL, out);
        } else {
            self.tagged(frame, source, ether_type::EXPERIMENTAL, out);
        }
        let name = self.flow_name(frame);
        let header = self.header(frame, &name);
        let room = length.saturating_sub(fcs::LENGTH).saturating_sub(out.position());
        header.emit_within(room.max(header.needed()), out);
    }

    /// Writes the header and VLAN tag of a frame to a host, with its class as the priority and VLAN identifier 0.
    fn tagged(&self, frame: &Frame, source: Address, next: u16, out: &mut Writer) {
        let tag =
            vlan::Repr { priority: Priority::low_bits(frame.class), vlan: VlanId::default(), ..Default::default() };
        let content = Content::Type(tag.tag_type());
        // Credits are for the neighbour.
        let destination = match frame.kind {
            Kind::Credit => Address::MAC_CONTROL,
            _ => self.host_address(self.receiver(frame)),
        };
        ethernet::Repr { destination, source, content }.emit(out);
        tag.emit(next, out);
    }
}

/// Returns the identifier of a congestion point: its port's address and the class.
fn point(Address([a, b, c, d, e, f]): Address, class: u8) -> u64 {
    u64::from_be_bytes([a, b, c, d, e, f, 0, class])
}
