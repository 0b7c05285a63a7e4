//! Link Layer Discovery Protocol (802.1AB): TLVs of type:7, length:9, after the type 0x88CC.
//!
//! A data unit begins with chassis, port and time to live, each of them once and of its own length; otherwise it is
//! rejected (802.1AB 9.2.7.7). Of all other TLVs, the first of each kind counts; malformed ones are counted and
//! skipped, unknown ones are skipped. A parsed data unit is a [`Repr`] of fixed size that borrows the frame, so a
//! neighbour cannot make memory grow.

pub mod cee;
pub mod ieee;

use crate::bytes::{at_least, be8, be16, from};
use crate::ethernet::{self, Content, ether_type};
use crate::{Address, Error, Writer, fcs};
pub use cee::Cee;
pub use ieee::Ieee;

const END: u8 = 0;
const CHASSIS: u8 = 1;
const PORT: u8 = 2;
const TIME_TO_LIVE: u8 = 3;
const ORGANISATION: u8 = 127;
/// Maximum length of a TLV's value.
pub const LONGEST: usize = 511;

/// A TLV, not interpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tlv<'a> {
    /// Type, 0 to 127.
    pub kind: u8,
    /// Value.
    pub body: &'a [u8],
}

/// An iterator over TLVs, up to the end of the data unit or to a TLV that would exceed the frame.
#[derive(Clone, Debug)]
pub struct Tlvs<'a> {
    rest: &'a [u8],
    cut_off: bool,
    /// Octets that the TLV which ends the data unit claims to hold.
    end_length: usize,
}

impl<'a> Tlvs<'a> {
    /// Creates an iterator over the TLVs of a data unit, or of a list within a TLV.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Tlvs<'a> {
        Tlvs { rest: bytes, cut_off: false, end_length: 0 }
    }

    /// Returns whether the last TLV visited exceeds the end.
    #[must_use]
    pub fn is_cut_off(&self) -> bool {
        self.cut_off
    }
}

impl<'a> Iterator for Tlvs<'a> {
    type Item = Tlv<'a>;

    fn next(&mut self) -> Option<Tlv<'a>> {
        let rest = self.rest;
        self.rest = &[];
        if rest.len() < 2 {
            self.cut_off = !rest.is_empty();
            return None;
        }
        let header = be16(rest, 0);
        let (kind, length) = ((header >> 9) as u8, usize::from(header & 0x1FF));
        if kind == END {
            self.end_length = length;
            return None;
        }
        let Some(body) = rest.get(2..2 + length) else {
            self.cut_off = true;
            return None;
        };
        self.rest = from(rest, 2 + length);
        Some(Tlv { kind, body })
    }
}

/// Writes a TLV; `body` writes its value, at most [`LONGEST`] octets.
pub fn emit_tlv(out: &mut Writer, kind: u8, body: impl FnOnce(&mut Writer)) {
    let start = out.position();
    out.u16(0);
    body(out);
    let length = (out.position() - start - 2).min(LONGEST) as u16;
    out.patch(start, &(u16::from(kind) << 9 | length).to_be_bytes());
}

/// Writes an organisationally specific TLV.
pub fn emit_organisation(out: &mut Writer, organisation: [u8; 3], subtype: u8, body: impl FnOnce(&mut Writer)) {
    emit_tlv(out, ORGANISATION, |out| {
        out.bytes(&organisation);
        out.u8(subtype);
        body(out);
    });
}

/// The identifier of a chassis or a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identifier<'a> {
    subtype: u8,
    value: &'a [u8],
}

impl<'a> Identifier<'a> {
    /// Subtype of a chassis identified by a MAC address.
    pub const CHASSIS_ADDRESS: u8 = 4;
    /// Subtype of a port identified by a MAC address.
    pub const PORT_ADDRESS: u8 = 3;
    /// Subtype of a port identified by its interface name.
    pub const PORT_NAME: u8 = 5;

    /// Creates an identifier, if it has 1 to 255 octets and a subtype.
    #[must_use]
    pub fn new(subtype: u8, value: &'a [u8]) -> Option<Identifier<'a>> {
        (subtype != 0 && (1..=255).contains(&value.len())).then_some(Identifier { subtype, value })
    }

    fn parse(body: &'a [u8], what: &'static str) -> Result<Identifier<'a>, Error> {
        at_least(body, 2, what)?;
        let error = Error::Field { what, field: "subtype or length", value: body.len() as u64 };
        Identifier::new(be8(body, 0), from(body, 1)).ok_or(error)
    }

    /// Returns the subtype.
    #[must_use]
    pub fn subtype(&self) -> u8 {
        self.subtype
    }

    /// Returns the identifier.
    #[must_use]
    pub fn value(&self) -> &'a [u8] {
        self.value
    }

    fn emit(&self, kind: u8, out: &mut Writer) {
        emit_tlv(out, kind, |out| {
            out.u8(self.subtype);
            out.bytes(self.value);
        });
    }
}

/// Counts of the TLVs of a data unit that were not used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Discarded {
    /// Malformed TLVs (statsTLVsDiscardedTotal).
    pub malformed: u16,
    /// Unknown TLVs (statsTLVsUnrecognizedTotal), and those unrelated to Data Center Bridging.
    pub unknown: u16,
    /// TLVs that repeat an earlier one.
    pub repeated: u16,
}

/// A data unit: its sender, its time to live, and its Data Center Bridging TLVs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr<'a> {
    /// Chassis identifier.
    pub chassis: Identifier<'a>,
    /// Port identifier.
    pub port: Identifier<'a>,
    /// Seconds for which the information is valid; zero withdraws it.
    pub time_to_live: u16,
    /// DCBX of IEEE.
    pub ieee: Ieee<'a>,
    /// Pre-standard DCBX of the Converged Enhanced Ethernet group.
    pub cee: Option<Cee<'a>>,
}

impl<'a> Repr<'a> {
    /// Parses a data unit after its type, and counts the TLVs that it does not use.
    pub fn parse(bytes: &'a [u8]) -> Result<(Repr<'a>, Discarded), Error> {
        let what = "LLDP";
        let mut tlvs = Tlvs::new(bytes);
        let mut mandatory = |kind, element| {
            let found = tlvs.next().filter(|tlv| tlv.kind == kind);
            found.map(|tlv| tlv.body).ok_or(Error::Missing { what, element })
        };
        let chassis = Identifier::parse(mandatory(CHASSIS, "chassis")?, "LLDP chassis")?;
        let port = Identifier::parse(mandatory(PORT, "port")?, "LLDP port")?;
        let time = mandatory(TIME_TO_LIVE, "time to live")?;
        exactly(time, 2, "LLDP time to live")?;
        let mut unit = Repr { chassis, port, time_to_live: be16(time, 0), ieee: Ieee::default(), cee: None };
        let mut discarded = Discarded::default();
        for tlv in tlvs.by_ref() {
            match tlv.kind {
                CHASSIS => return Err(Error::Repeated { what, element: "chassis" }),
                PORT => return Err(Error::Repeated { what, element: "port" }),
                TIME_TO_LIVE => return Err(Error::Repeated { what, element: "time to live" }),
                ORGANISATION => unit.take(tlv.body, &mut discarded),
                _ => discarded.unknown = discarded.unknown.saturating_add(1),
            }
        }
        if tlvs.end_length != 0 {
            return Err(Error::Field { what: "LLDP end", field: "length", value: tlvs.end_length as u64 });
        }
        discarded.malformed = discarded.malformed.saturating_add(u16::from(tlvs.is_cut_off()));
        Ok((unit, discarded))
    }

    /// Takes in an organisation's TLV.
    fn take(&mut self, body: &'a [u8], discarded: &mut Discarded) {
        let taken = match body.split_at_checked(4) {
            None => Taken::Malformed,
            Some((&[0x00, 0x80, 0xC2, subtype], rest)) => self.ieee.take(subtype, rest),
            Some((&[0x00, 0x1B, 0x21, cee::SUBTYPE], rest)) => match Cee::parse(rest, discarded) {
                Err(_) => Taken::Malformed,
                Ok(_) if self.cee.is_some() => Taken::Again,
                Ok(cee) => {
                    self.cee = Some(cee);
                    Taken::Yes
                }
            },
            Some(_) => Taken::Unknown,
        };
        let count = match taken {
            Taken::Yes => return,
            Taken::Again => &mut discarded.repeated,
            Taken::Malformed => &mut discarded.malformed,
            Taken::Unknown => &mut discarded.unknown,
        };
        *count = count.saturating_add(1);
    }

    /// Writes the data unit after its type.
    pub fn emit(&self, out: &mut Writer) {
        self.chassis.emit(CHASSIS, out);
        self.port.emit(PORT, out);
        emit_tlv(out, TIME_TO_LIVE, |out| out.u16(self.time_to_live));
        self.ieee.emit(out);
        if let Some(cee) = &self.cee {
            cee.emit(out);
        }
        emit_tlv(out, END, |_| {});
    }

    /// Writes the whole frame, with its check sequence.
    pub fn emit_frame(&self, source: Address, out: &mut Writer) {
        let content = Content::Type(ether_type::LLDP);
        ethernet::Repr { destination: Address::NEAREST_BRIDGE, source, content }.emit(out);
        self.emit(out);
        fcs::seal(out);
    }
}

/// The fate of a TLV.
enum Taken {
    Yes,
    Again,
    Malformed,
    Unknown,
}

/// Keeps the first of a kind.
fn keep<T>(place: &mut Option<T>, parsed: Result<T, Error>) -> Taken {
    match parsed {
        Err(_) => Taken::Malformed,
        Ok(_) if place.is_some() => Taken::Again,
        Ok(value) => {
            *place = Some(value);
            Taken::Yes
        }
    }
}

/// Refuses a body of any other length.
fn exactly(body: &[u8], need: usize, what: &'static str) -> Result<(), Error> {
    at_least(body, need, what)?;
    let value = body.len() as u64;
    if body.len() == need { Ok(()) } else { Err(Error::Field { what, field: "length", value }) }
}

/// Numbers of groups by priority, two to an octet, priority 0 in the upper half of the first; 15 is no group.
fn groups(body: &[u8], what: &'static str) -> Result<[Option<u8>; 8], Error> {
    let mut groups = [None; 8];
    for (priority, group) in groups.iter_mut().enumerate() {
        let octet = be8(body, priority / 2);
        *group = match if priority % 2 == 0 { octet >> 4 } else { octet & 15 } {
            number @ 0..8 => Some(number),
            NO_GROUP => None,
            value => return Err(Error::Field { what, field: "group of a priority", value: u64::from(value) }),
        };
    }
    Ok(groups)
}

const NO_GROUP: u8 = 15;

fn emit_groups(groups: &[Option<u8>; 8], out: &mut Writer) {
    let nibble = |group: Option<u8>| group.map_or(NO_GROUP, |group| group & 7);
    for pair in groups.chunks(2) {
        out.u8(pair.iter().fold(0, |octet, &group| octet << 4 | nibble(group)));
    }
}

/// Percentages, none above 100; that they make 100 together is for those who use them.
fn percentages(body: &[u8], at: usize, what: &'static str) -> Result<[u8; 8], Error> {
    let shares: [u8; 8] = crate::bytes::array(body, at);
    match shares.iter().find(|&&share| share > 100) {
        Some(&value) => Err(Error::Field { what, field: "bandwidth", value: u64::from(value) }),
        None => Ok(shares),
    }
}
