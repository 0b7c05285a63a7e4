//! TCP (RFC 9293): a header and its checksum. Selective acknowledgements (RFC 2018) are the only option that is written;
//! others are skipped.
//!
//! | octets | field |
//! |---|---|
//! | 0..2 | source port |
//! | 2..4 | destination port |
//! | 4..8 | sequence number of the first octet of the payload |
//! | 8..12 | acknowledgement number: the next octet that is expected |
//! | 12 | length of the header in words:4, reserved:4 |
//! | 13 | [`flag`]s |
//! | 14..16 | window |
//! | 16..18 | checksum, over a pseudo-header of IPv4 too |
//! | 18..20 | urgent pointer |
//! | 20.. | options |

use crate::bytes::{at_least, be8, be16, be32, from};
use crate::ipv4::{self, Sum};
use crate::{Error, Writer};

/// Protocol number in IPv4.
pub const PROTOCOL: u8 = 6;

/// Flags of a header.
pub mod flag {
    /// The sender has no more data.
    pub const FIN: u8 = 0x01;
    /// A connection begins.
    pub const SYN: u8 = 0x02;
    /// A connection is reset.
    pub const RST: u8 = 0x04;
    /// The receiver is to hand over what it has.
    pub const PSH: u8 = 0x08;
    /// The acknowledgement number is valid.
    pub const ACK: u8 = 0x10;
    /// The urgent pointer is valid.
    pub const URG: u8 = 0x20;
    /// ECN echo: a segment in the other direction was marked (RFC 3168).
    pub const ECE: u8 = 0x40;
    /// Congestion window reduced: the reply to an ECN echo (RFC 3168).
    pub const CWR: u8 = 0x80;
}

/// The options: no operation, which aligns the next one, and selective acknowledgements.
const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const SELECTIVE: u8 = 5;

/// Blocks of selective acknowledgements: the first octet of each and the first after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    count: usize,
    blocks: [(u32, u32); Blocks::MOST],
}

impl Blocks {
    /// Maximum number of blocks.
    pub const MOST: usize = 4;

    /// Adds a block. Returns whether there is room for it.
    pub fn push(&mut self, block: (u32, u32)) -> bool {
        let room = self.blocks.get_mut(self.count);
        let fits = room.is_some();
        if let Some(place) = room {
            *place = block;
            self.count += 1;
        }
        fits
    }

    /// Iterates over the blocks.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.blocks.iter().take(self.count).copied()
    }

    /// Returns the length of the option with so many blocks in octets, aligned to words; zero without blocks.
    #[must_use]
    pub const fn option(blocks: usize) -> usize {
        if blocks == 0 { 0 } else { 4 + 8 * blocks }
    }
}

/// A header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repr {
    /// Source port.
    pub source: u16,
    /// Destination port.
    pub destination: u16,
    /// Sequence number of the first octet of the payload.
    pub sequence: u32,
    /// The next octet that is expected.
    pub acknowledgement: u32,
    /// See [`flag`].
    pub flags: u8,
    /// Octets that the sender of the segment is prepared to receive.
    pub window: u16,
    /// Selective acknowledgements.
    pub blocks: Blocks,
}

impl Repr {
    /// Length of a header without options in octets.
    pub const LENGTH: usize = 20;

    /// Returns its length in octets, with options.
    #[must_use]
    pub fn length(&self) -> usize {
        Repr::LENGTH + Blocks::option(self.blocks.count)
    }

    /// Parses a segment in a packet with that header, verifies its checksum, and returns it with its payload.
    pub fn parse<'a>(ip: &ipv4::Repr, segment: &'a [u8]) -> Result<(Repr, &'a [u8]), Error> {
        let what = "TCP";
        at_least(segment, Repr::LENGTH, what)?;
        let header = usize::from(be8(segment, 12) >> 4) * 4;
        if header < Repr::LENGTH {
            return Err(Error::Field { what, field: "header length", value: header as u64 });
        }
        at_least(segment, header, what)?;
        let right = pseudo_header(ip, segment.len()).add(segment).checksum();
        if right != 0 {
            return Err(Error::Checksum { what, found: u32::from(be16(segment, 16)), right: u32::from(right) });
        }
        let repr = Repr {
            source: be16(segment, 0),
            destination: be16(segment, 2),
            sequence: be32(segment, 4),
            acknowledgement: be32(segment, 8),
            flags: be8(segment, 13),
            window: be16(segment, 14),
            blocks: options(segment.get(Repr::LENGTH..header).unwrap_or(&[]))?,
        };
        Ok((repr, from(segment, header)))
    }

    /// Writes the segment: the header, what `payload` writes, and the checksum.
    pub fn emit(&self, ip: &ipv4::Repr, out: &mut Writer, payload: impl FnOnce(&mut Writer)) {
        let start = out.position();
        out.u16(self.source);
        out.u16(self.destination);
        out.u32(self.sequence);
        out.u32(self.acknowledgement);
        out.u8((self.length() / 4) as u8 * 16);
        out.u8(self.flags);
        out.u16(self.window);
        out.u32(0);
        if self.blocks.count > 0 {
            out.bytes(&[NO_OPERATION, NO_OPERATION, SELECTIVE, 2 + 8 * self.blocks.count as u8]);
            for (first, after) in self.blocks.iter() {
                out.u32(first);
                out.u32(after);
            }
        }
        payload(out);
        let segment = out.written(start);
        let sum = pseudo_header(ip, segment.len()).add(segment).checksum();
        out.patch(start + 16, &sum.to_be_bytes());
    }
}

fn pseudo_header(ip: &ipv4::Repr, length: usize) -> Sum {
    let length = (length as u32).to_be_bytes();
    Sum::default().add(&ip.source).add(&ip.destination).add(&[0, PROTOCOL]).add(&length)
}

/// Returns the selective acknowledgements among options.
fn options(mut bytes: &[u8]) -> Result<Blocks, Error> {
    let what = "TCP option";
    let mut blocks = Blocks::default();
    while let Some(&kind) = bytes.first() {
        match kind {
            END => break,
            NO_OPERATION => bytes = from(bytes, 1),
            _ => {
                let length = usize::from(be8(bytes, 1));
                if length < 2 || length > bytes.len() {
                    return Err(Error::Field { what, field: "length", value: length as u64 });
                }
                if kind == SELECTIVE {
                    if length % 8 != 2 || length == 2 || blocks.count > 0 {
                        return Err(Error::Field { what, field: "selective acknowledgements", value: length as u64 });
                    }
                    for at in (2..length).step_by(8) {
                        blocks.push((be32(bytes, at), be32(bytes, at + 4)));
                    }
                }
                bytes = from(bytes, length);
            }
        }
    }
    Ok(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    const IP: ipv4::Repr = ipv4::Repr {
        source: [10, 0, 0, 1],
        destination: [10, 0, 0, 2],
        code_point: 0,
        congestion: 2,
        time_to_live: 64,
        protocol: PROTOCOL,
        length: 0,
    };

    fn written(header: &Repr, payload: &[u8]) -> Vec<u8> {
        let mut buffer = [0; 256];
        let mut out = Writer::new(&mut buffer);
        header.emit(&IP, &mut out, |out| out.bytes(payload));
        let length = out.finish().expect("there is room");
        buffer[..length].to_vec()
    }

    #[test]
    fn a_segment_is_read_as_it_was_written() {
        let mut blocks = Blocks::default();
        for count in 0..=Blocks::MOST {
            let flags = flag::ACK | flag::ECE;
            let header = Repr { source: 1, sequence: u32::MAX, acknowledgement: 7, flags, blocks, ..Repr::default() };
            for payload in [&[][..], &[1, 2, 3], &[255; 8]] {
                let segment = written(&header, payload);
                assert_eq!(segment.len(), header.length() + payload.len());
                assert_eq!(Repr::parse(&IP, &segment), Ok((header, payload)));
                let mut damaged = segment;
                damaged[5] ^= 1;
                assert!(matches!(Repr::parse(&IP, &damaged), Err(Error::Checksum { .. })));
            }
            assert_eq!(blocks.push((count as u32, 9)), count < Blocks::MOST);
        }
    }

    /// A segment that the author of RFC 1071's example would sum by hand: addresses, protocol, length and header.
    #[test]
    fn the_checksum_is_the_complement_of_the_sum() {
        let segment = written(&Repr { source: 0x1234, flags: flag::ACK, ..Repr::default() }, &[]);
        // 0a00 + 0001 + 0a00 + 0002 + 0006 + 0014 + 1234 + 5010 = 7661
        assert_eq!(be16(&segment, 16), !0x7661);
    }

    #[test]
    fn wrong_options_are_refused() {
        assert_eq!(options(&[NO_OPERATION, 8, 10, 0, 0, 0, 0, 0, 0, 0, 0, END, 9]), Ok(Blocks::default()));
        for wrong in [&[SELECTIVE, 2][..], &[SELECTIVE, 9, 0, 0, 0, 0, 0, 0, 0], &[8, 1], &[8], &[8, 10, 0]] {
            assert!(options(wrong).is_err(), "{wrong:?}");
        }
    }
}
