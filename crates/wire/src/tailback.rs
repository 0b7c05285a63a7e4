//! The header of a simulated frame in a capture: our own format, after the local experimental type 0x88B5.
//!
//! | octets | field |
//! |---|---|
//! | 0 | version:4 = 1, kind:4 |
//! | 1 | marked 0x80, last of its flow 0x40, with selective blocks 0x20, with telemetry 0x10, reserved |
//! | 2..6 | flow |
//! | 6..10 | position in the flow |
//! | 10..18 | creation time, in picoseconds |
//! | 18..20 | congestion point that the source is associated with, zero for none; of an acknowledgement of a flow with recovery the frame that caused it, counted from the position, signed |
//! | 20 | length of the name |
//! | 21.. | name of the flow |
//! | .. | with telemetry: the number of stamps in one octet, then 8 octets for each, the first switch first |
//! | .. | zeros up to the frame's size |
//!
//! A stamp has the fields and units of the public HPCC simulator, in our own order: rate of the output:3 (see [`RATES`]),
//! time in nanoseconds:24 (modulo), bytes sent by the output in units of 128:20 (modulo), queue in units of 80 bytes:17 (at
//! most 131,071).
//!
//! In InfiniBand, where no type identifies the payload, [`SIGNATURE`] precedes the header.
//!
//! The format is specific to this project; the Wireshark dissector that ships with it decodes the header.

use crate::bytes::{at_least, be8, be16, be32, be64};
use crate::{Error, Writer};

/// Precedes the header where no type identifies it, so that the header is not mistaken for another format, nor vice
/// versa. It covers the octets 12 to 16, where Wireshark interprets a small number as the beginning of RPC over RDMA.
pub const SIGNATURE: [u8; 16] = *b"Tailback, frame:";

/// The kind of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Data of a flow.
    #[default]
    Data,
    /// Acknowledgement of received data.
    Acknowledgement,
    /// Probe of its flow's path.
    Probe,
    /// Probe on its way back.
    Answer,
    /// Receipt from the last switch of a fabric to the first: the frame has arrived.
    Receipt,
    /// Credits for the sender; the position is the class, the time is the total ever granted.
    Credit,
    /// Congestion notice for a source, shorter than a standard message: the position holds feedback, port and class,
    /// the time holds offset and growth.
    Notice,
    /// PAUSE or PFC, shorter than a standard frame.
    Pause,
    /// Header of a data frame whose payload a switch has removed.
    Trimmed,
    /// Acknowledgement of a flow with recovery: all frames before the position have arrived. The time is the creation
    /// time of the frame that caused it, zero beside selective blocks.
    CumulativeAcknowledgement,
    /// Negative acknowledgement: likewise, and the frame at the position is missing.
    NegativeAcknowledgement,
    /// Likewise, and only the header of the frame that caused it arrived.
    TrimmedAcknowledgement,
    /// Congestion notification from a destination.
    CongestionNotification,
    /// Pull from a destination; the time is the number of frames permitted so far.
    Pull,
    /// Header of a data frame on its way back to its source.
    Returned,
}

const KINDS: [Kind; 15] = [
    Kind::Data,
    Kind::Acknowledgement,
    Kind::Probe,
    Kind::Answer,
    Kind::Receipt,
    Kind::Credit,
    Kind::Notice,
    Kind::Pause,
    Kind::Trimmed,
    Kind::CumulativeAcknowledgement,
    Kind::NegativeAcknowledgement,
    Kind::TrimmedAcknowledgement,
    Kind::CongestionNotification,
    Kind::Pull,
    Kind::Returned,
];

/// Rates of outputs that a stamp distinguishes, in Gb/s; 0 stands for any other rate.
pub const RATES: [u64; 8] = [0, 10, 25, 40, 50, 100, 200, 400];

/// A stamp of in-band telemetry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Position in [`RATES`].
    pub rate: u8,
    /// Nanoseconds, modulo 2^24.
    pub time: u32,
    /// Bytes sent by the output, in units of 128, modulo 2^20.
    pub sent: u32,
    /// Bytes in the queue, in units of 80, at most 2^17 - 1.
    pub queue: u32,
}

impl Stamp {
    /// Length in octets.
    pub const LENGTH: usize = 8;

    /// Returns a stamp of these values: bits per second, picoseconds, bytes and bytes.
    #[must_use]
    pub fn of(rate: u64, picos: u64, sent: u64, queue: u64) -> Stamp {
        let rate = RATES.iter().skip(1).position(|&known| known * 1_000_000_000 == rate).map_or(0, |place| place + 1);
        Stamp {
            rate: rate as u8,
            time: ((picos / 1000) & 0xff_ffff) as u32,
            sent: ((sent / 128) & 0xf_ffff) as u32,
            queue: (queue / 80).min(0x1_ffff) as u32,
        }
    }

    /// Returns its octets.
    #[must_use]
    pub fn octets(self) -> [u8; Stamp::LENGTH] {
        let [rate, time, sent, queue] = [u32::from(self.rate), self.time, self.sent, self.queue].map(u64::from);
        ((rate & 7) << 61 | (time & 0xff_ffff) << 37 | (sent & 0xf_ffff) << 17 | queue & 0x1_ffff).to_be_bytes()
    }

    /// Reads a stamp from its octets.
    #[must_use]
    pub fn from_octets(octets: [u8; Stamp::LENGTH]) -> Stamp {
        let word = u64::from_be_bytes(octets);
        Stamp {
            rate: (word >> 61) as u8,
            time: (word >> 37 & 0xff_ffff) as u32,
            sent: (word >> 17 & 0xf_ffff) as u32,
            queue: (word & 0x1_ffff) as u32,
        }
    }
}

/// The header of a simulated frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repr<'a> {
    /// Kind of the frame.
    pub kind: Kind,
    /// Whether it carries a congestion mark, or answers a frame that does.
    pub marked: bool,
    /// Whether it is the last frame of its flow.
    pub last: bool,
    /// Whether it acknowledges selective blocks beside the position.
    pub selective: bool,
    /// Number of the flow.
    pub flow: u32,
    /// Position in the flow.
    pub sequence: u32,
    /// Creation time, in picoseconds.
    pub born: u64,
    /// Congestion point that the source is associated with. Of an acknowledgement of a flow with recovery: the frame that
    /// caused it less the position, as a signed number. Of an acknowledgement without recovery: the delay at the
    /// destination's host in nanoseconds, 13 bits and 3 for the zeros behind them, or 0.
    pub tag: u16,
    /// Name of the flow, at most 255 octets; may be empty.
    pub name: &'a [u8],
    /// Telemetry: the octets of at most 255 stamps; `None` if the frame has no room for any.
    pub stamps: Option<&'a [u8]>,
}

impl<'a> Repr<'a> {
    const VERSION: u8 = 1;
    /// Length in octets without the name.
    pub const LENGTH: usize = 21;

    /// Parses the octets after the type 0x88B5.
    pub fn parse(bytes: &'a [u8]) -> Result<Repr<'a>, Error> {
        let what = "Tailback header";
        at_least(bytes, Repr::LENGTH, what)?;
        let (first, flags) = (be8(bytes, 0), be8(bytes, 1));
        if first >> 4 != Repr::VERSION {
            return Err(Error::Field { what, field: "version", value: u64::from(first >> 4) });
        }
        let unknown = Error::Field { what, field: "kind", value: u64::from(first & 15) };
        let end = Repr::LENGTH + usize::from(be8(bytes, 20));
        let name = bytes.get(Repr::LENGTH..end).ok_or(Error::Short { what, need: end, have: bytes.len() })?;
        let stamps = match flags & 0x10 != 0 {
            true => {
                at_least(bytes, end + 1, what)?;
                let (first, need) = (end + 1, end + 1 + usize::from(be8(bytes, end)) * Stamp::LENGTH);
                Some(bytes.get(first..need).ok_or(Error::Short { what, need, have: bytes.len() })?)
            }
            false => None,
        };
        Ok(Repr {
            kind: *KINDS.get(usize::from(first & 15)).ok_or(unknown)?,
            marked: flags & 0x80 != 0,
            last: flags & 0x40 != 0,
            selective: flags & 0x20 != 0,
            flow: be32(bytes, 2),
            sequence: be32(bytes, 6),
            born: be64(bytes, 10),
            tag: be16(bytes, 18),
            name,
            stamps,
        })
    }

    /// Writes the header after its type.
    pub fn emit(&self, out: &mut Writer) {
        let kind = KINDS.iter().position(|&kind| kind == self.kind).unwrap_or(0) as u8;
        let name = self.name.get(..255).unwrap_or(self.name);
        out.u8(Repr::VERSION << 4 | kind);
        let flags = [self.marked, self.last, self.selective, self.stamps.is_some()];
        out.u8(flags.into_iter().fold(0, |octet, flag| octet << 1 | u8::from(flag)) << 4);
        out.u32(self.flow);
        out.u32(self.sequence);
        out.u64(self.born);
        out.u16(self.tag);
        out.u8(name.len() as u8);
        out.bytes(name);
        if let Some(stamps) = self.stamps {
            let count = (stamps.len() / Stamp::LENGTH).min(255);
            out.u8(count as u8);
            out.bytes(stamps.get(..count * Stamp::LENGTH).unwrap_or(stamps));
        }
    }

    /// Returns the octets that it takes without its name.
    #[must_use]
    pub fn needed(&self) -> usize {
        Repr::LENGTH + self.stamps.map_or(0, |stamps| 1 + stamps.len())
    }

    /// Like [`Repr::emit_within`], after the signature.
    pub fn emit_signed_within(&self, room: usize, out: &mut Writer) {
        let signature = SIGNATURE.get(..room).unwrap_or(&SIGNATURE);
        out.bytes(signature);
        self.emit_within(room - signature.len(), out);
    }

    /// Writes as much of the header as fits into `room` octets, omitting the name first, then telemetry; zeros fill the
    /// rest.
    pub fn emit_within(&self, room: usize, out: &mut Writer) {
        let mut octets = [0; Repr::LENGTH + 255 + 1 + 255 * Stamp::LENGTH];
        let telemetry = self.stamps.map_or(0, |stamps| 1 + stamps.len());
        let fits = |length: usize| Repr::LENGTH + length <= room;
        let name = if fits(self.name.len() + telemetry) { self.name } else { &[] };
        let stamps = self.stamps.filter(|_| fits(name.len() + telemetry));
        Repr { name, stamps, ..*self }.emit(&mut Writer::new(&mut octets));
        out.bytes(octets.get(..room).unwrap_or(&octets));
        out.fill(0, room.saturating_sub(octets.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_follow_the_name_and_leave_last() {
        let stamp = Stamp::of(100_000_000_000, 7_000_123, 12_800, 8_079);
        assert_eq!(stamp, Stamp { rate: 5, time: 7_000, sent: 100, queue: 100 });
        assert_eq!(Stamp::from_octets(stamp.octets()), stamp);
        let far = Stamp::of(1, u64::MAX, u64::MAX, u64::MAX);
        assert_eq!((far.rate, far.queue, Stamp::from_octets(far.octets())), (0, 0x1_ffff, far));
        let octets: Vec<u8> = [stamp, far].iter().flat_map(|stamp| stamp.octets()).collect();
        let header = Repr { name: b"flow", stamps: Some(&octets), ..Repr::default() };
        for (room, named, stamped) in [(42, true, true), (41, false, true), (38, false, true), (37, false, false)] {
            let mut written = [0; 64];
            header.emit_within(room, &mut Writer::new(&mut written));
            let read = Repr::parse(&written).unwrap();
            assert_eq!((!read.name.is_empty(), read.stamps.is_some()), (named, stamped), "{room}");
            assert_eq!(read.stamps, stamped.then_some(octets.as_slice()));
        }
    }

    /// Wireshark's test for RPC over RDMA: a message type of 0 to 4 in the fourth word, whatever came before it.
    #[test]
    fn a_signed_payload_is_no_rpc_over_rdma() {
        let mut octets = [0; 64];
        Repr::default().emit_signed_within(64, &mut Writer::new(&mut octets));
        assert!(be32(&octets, 12) > 4);
        assert_eq!(octets.strip_prefix(&SIGNATURE).map(Repr::parse), Some(Ok(Repr::default())));
    }
}
