//! Capture files for Wireshark (pcapng, draft-ietf-opsawg-pcapng): blocks as octets, with time in picoseconds.
//!
//! A file is a section header, one description per interface, and packets that refer to their interface by number. All
//! numbers are little-endian, as the section header states. The blocks are appended to the caller's buffer.
//!
//! Wireshark, up to 4.0 at least, multiplies the fraction of a second by 10^9 in 64 bits: beyond 18.446744 ms into a
//! second it shows wrong times of a file in picoseconds, while libpcap shows the right ones. A longer capture should
//! therefore use units of 100 ps, the finest that Wireshark reads correctly throughout; see [`Resolution::for_span`].

/// The link-layer header of an interface's packets (tcpdump.org/linktypes).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkType {
    /// Ethernet header.
    Ethernet,
    /// Record of Endace's format, which can hold InfiniBand packets; see [`erf`].
    Erf,
}

impl LinkType {
    fn number(self) -> u16 {
        match self {
            LinkType::Ethernet => 1,
            LinkType::Erf => 197,
        }
    }
}

/// The unit of times in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// 10^-12 s.
    Picoseconds,
    /// 10^-10 s.
    HundredPicoseconds,
}

impl Resolution {
    /// The last instant, in picoseconds, that Wireshark reads correctly from a file in picoseconds.
    pub const LAST_PICOSECOND: u64 = u64::MAX / 1_000_000_000;

    /// Returns the finest resolution that all readers handle correctly up to an instant in picoseconds.
    #[must_use]
    pub fn for_span(last: u64) -> Resolution {
        if last <= Resolution::LAST_PICOSECOND { Resolution::Picoseconds } else { Resolution::HundredPicoseconds }
    }

    fn exponent(self) -> u8 {
        match self {
            Resolution::Picoseconds => 12,
            Resolution::HundredPicoseconds => 10,
        }
    }

    fn units(self, picoseconds: u64) -> u64 {
        match self {
            Resolution::Picoseconds => picoseconds,
            Resolution::HundredPicoseconds => picoseconds / 100,
        }
    }
}

const SECTION: u32 = 0x0A0D_0D0A;
const INTERFACE: u32 = 1;
const PACKET: u32 = 6;
const BYTE_ORDER: u32 = 0x1A2B_3C4D;
const COMMENT: u16 = 1;
const NAME: u16 = 2;
const DESCRIPTION: u16 = 3;
const APPLICATION: u16 = 4;
const SPEED: u16 = 8;
const RESOLUTION: u16 = 9;
const CHECK_LENGTH: u16 = 13;

/// A link, or one direction of it.
#[derive(Clone, Copy, Debug)]
pub struct Interface<'a> {
    /// Link-layer header of its packets.
    pub link_type: LinkType,
    /// Name.
    pub name: &'a str,
    /// Description.
    pub description: &'a str,
    /// Rate in bits per second.
    pub speed: u64,
    /// Length of the check sequence of each packet in octets; Ethernet only.
    pub check_length: Option<u8>,
    /// Unit of its packets' times.
    pub resolution: Resolution,
}

/// Writes the section header, which begins a file.
pub fn section(out: &mut Vec<u8>, application: &str, comment: &str) {
    block(out, SECTION, |out| {
        out.extend(BYTE_ORDER.to_le_bytes());
        out.extend(1u16.to_le_bytes());
        out.extend(0u16.to_le_bytes());
        // The section's length is not known.
        out.extend(u64::MAX.to_le_bytes());
        option(out, COMMENT, comment.as_bytes());
        option(out, APPLICATION, application.as_bytes());
        end_of_options(out);
    });
}

/// Writes the description of the next interface; interfaces are numbered from zero.
pub fn interface(out: &mut Vec<u8>, interface: &Interface) {
    block(out, INTERFACE, |out| {
        out.extend(interface.link_type.number().to_le_bytes());
        out.extend(0u16.to_le_bytes());
        // No limit to the length of a packet.
        out.extend(0u32.to_le_bytes());
        option(out, NAME, interface.name.as_bytes());
        option(out, DESCRIPTION, interface.description.as_bytes());
        option(out, SPEED, &interface.speed.to_le_bytes());
        option(out, RESOLUTION, &[interface.resolution.exponent()]);
        if let Some(length) = interface.check_length {
            option(out, CHECK_LENGTH, &[length]);
        }
        end_of_options(out);
    });
}

/// Writes a packet: its interface, its time (in picoseconds; written in the interface's unit), and its octets.
pub fn packet(out: &mut Vec<u8>, interface: u32, resolution: Resolution, picoseconds: u64, octets: &[u8]) {
    commented_packet(out, interface, resolution, picoseconds, octets, "");
}

/// Like [`packet`], with a comment, which may be empty.
pub fn commented_packet(
    out: &mut Vec<u8>,
    interface: u32,
    resolution: Resolution,
    picoseconds: u64,
    octets: &[u8],
    comment: &str,
) {
    let time = resolution.units(picoseconds);
    block(out, PACKET, |out| {
        out.extend(interface.to_le_bytes());
        out.extend(((time >> 32) as u32).to_le_bytes());
        out.extend((time as u32).to_le_bytes());
        out.extend((octets.len() as u32).to_le_bytes());
        // Nothing is cut: the length of the packet, again.
        out.extend((octets.len() as u32).to_le_bytes());
        padded(out, octets);
        if !comment.is_empty() {
            option(out, COMMENT, comment.as_bytes());
            end_of_options(out);
        }
    });
}

/// Length of an Endace record's header in octets.
pub const ERF_HEADER: usize = 16;

/// Length of a link packet's record in octets. Wireshark 4.0 interprets its first octets as a local route header as
/// well, looks for the headers that would follow, and reports the packet as malformed where they do not fit.
pub const ERF_LINK: usize = 64;

/// The content of an Endace record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Erf {
    /// An InfiniBand packet, starting with its local route header.
    InfiniBand,
    /// An InfiniBand link packet: flow control, padded with zeros to [`ERF_LINK`].
    InfiniBandLink,
}

/// Returns the header of an Endace record for a packet of `length` octets. Its own time is a binary fraction of a
/// second, little-endian; the rest is big-endian.
#[must_use]
pub fn erf(kind: Erf, picoseconds: u64, length: u16) -> [u8; ERF_HEADER] {
    const SECOND: u64 = 1_000_000_000_000;
    let fraction = (u128::from(picoseconds % SECOND) << 32) / u128::from(SECOND);
    let time = (picoseconds / SECOND) << 32 | fraction as u64;
    let mut header = [0; ERF_HEADER];
    header[..8].copy_from_slice(&time.to_le_bytes());
    header[8] = match kind {
        Erf::InfiniBand => 21,
        Erf::InfiniBandLink => 25,
    };
    // Records may be of any length.
    header[9] = 4;
    header[10..12].copy_from_slice(&length.saturating_add(ERF_HEADER as u16).to_be_bytes());
    header[14..16].copy_from_slice(&length.to_be_bytes());
    header
}

fn block(out: &mut Vec<u8>, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend(kind.to_le_bytes());
    out.extend([0; 4]);
    body(out);
    let length = ((out.len() - start) as u32 + 4).to_le_bytes();
    out.extend(length);
    if let Some(place) = out.get_mut(start + 4..start + 8) {
        place.copy_from_slice(&length);
    }
}

fn option(out: &mut Vec<u8>, code: u16, value: &[u8]) {
    let value = value.get(..usize::from(u16::MAX)).unwrap_or(value);
    out.extend(code.to_le_bytes());
    out.extend((value.len() as u16).to_le_bytes());
    padded(out, value);
}

fn end_of_options(out: &mut Vec<u8>) {
    out.extend([0; 4]);
}

fn padded(out: &mut Vec<u8>, octets: &[u8]) {
    out.extend(octets);
    out.resize(out.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_of_whole_words_and_end_with_their_length() {
        let mut out = Vec::new();
        section(&mut out, "test", "");
        let link = Interface {
            link_type: LinkType::Ethernet,
            name: "a->b",
            description: "",
            speed: 10_000_000_000,
            check_length: Some(4),
            resolution: Resolution::Picoseconds,
        };
        interface(&mut out, &link);
        packet(&mut out, 0, link.resolution, 1_000_000_000_001, &[1, 2, 3]);
        commented_packet(&mut out, 0, link.resolution, 1_000_000_000_002, &[1, 2, 3], "why");
        let (mut rest, mut kinds) = (&out[..], Vec::new());
        while !rest.is_empty() {
            let number = |at: usize| u32::from_le_bytes(crate::bytes::array(rest, at));
            let length = number(4) as usize;
            assert_eq!((length % 4, number(length - 4) as usize), (0, length));
            kinds.push(number(0));
            rest = &rest[length..];
        }
        assert_eq!(kinds, [SECTION, INTERFACE, PACKET, PACKET]);
    }

    #[test]
    fn a_record_keeps_time_as_a_binary_fraction() {
        let header = erf(Erf::InfiniBand, 1_500_000_000_000, 10);
        assert_eq!(header[..8], (1u64 << 32 | 1 << 31).to_le_bytes());
        assert_eq!((header[8], &header[10..12], &header[14..]), (21, &[0u8, 26][..], &[0u8, 10][..]));
    }
}
