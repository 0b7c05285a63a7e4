//! Quantized congestion notification (802.1Q 33): the tag that identifies a source's rate limiter, and the message that
//! notifies it of congestion.
//!
//! CN-TAG: 0x22E9, flow identifier (16 bits), the type of what follows. The message, after the type 0x22E7:
//!
//! | octets | field |
//! |---|---|
//! | 0..2 | version:4 = 0, reserved:6, quantized feedback:6 |
//! | 2..10 | congestion point identifier |
//! | 10..12 | queue offset, signed, units of 64 octets |
//! | 12..14 | queue growth, signed, the same units |
//! | 14..16 | priority of the sampled frame, in the top three bits |
//! | 16..22 | destination of the sampled frame |
//! | 22..24 | length of its quoted part |
//! | 24.. | its first octets, at most 64 |
//!
//! Neither the text of the standard nor an independent decoder was available: the layout is that of public
//! implementations; the unit and the position of the priority are from memory (docs/wire/qcn.md).

use crate::bytes::{array, at_least, be8, be16, be64, from};
use crate::view::view;
use crate::{Address, Error, Priority, Writer};

/// The tag: identifies the source's rate limiter that a frame passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Flow identifier: the reaction point's number at its source.
    pub flow: u16,
}

impl Tag {
    /// Length in octets, from the tag's own type to the next type.
    pub const LENGTH: usize = 4;

    /// Parses a tag after its type, and returns it with the next type and the octets after that.
    pub fn parse(after: &[u8]) -> Result<(Tag, u16, &[u8]), Error> {
        at_least(after, Tag::LENGTH, "CN-TAG")?;
        Ok((Tag { flow: be16(after, 0) }, be16(after, 2), from(after, Tag::LENGTH)))
    }

    /// Writes the tag after its own type, followed by the next type.
    pub fn emit(&self, next: u16, out: &mut Writer) {
        out.u16(self.flow);
        out.u16(next);
    }
}

/// Maximum length of the quoted part of a frame.
pub const LONGEST_QUOTE: usize = 64;
/// Maximum feedback.
pub const LARGEST_FEEDBACK: u8 = 63;
/// Octets per unit of offset and growth.
pub const UNIT: i32 = 64;

view! {
    /// A message, starting with its version.
    Message, "CNM", 24
}

impl<T: AsRef<[u8]>> Message<T> {
    /// Returns the version; zero is the only one.
    pub fn version(&self) -> u8 {
        be8(self.bytes(), 0) >> 4
    }

    /// Returns the feedback, 6 bits.
    pub fn feedback(&self) -> u8 {
        be8(self.bytes(), 1) & LARGEST_FEEDBACK
    }

    /// Returns the congestion point identifier.
    pub fn point(&self) -> u64 {
        be64(self.bytes(), 2)
    }

    /// Returns the queue offset in units of 64 octets.
    pub fn offset(&self) -> i16 {
        be16(self.bytes(), 10) as i16
    }

    /// Returns the queue growth in units of 64 octets.
    pub fn growth(&self) -> i16 {
        be16(self.bytes(), 12) as i16
    }

    /// Returns the priority of the sampled frame.
    pub fn priority(&self) -> Priority {
        Priority::low_bits(be8(self.bytes(), 14) >> 5)
    }

    /// Returns the destination of the sampled frame.
    pub fn destination(&self) -> Address {
        Address(array(self.bytes(), 16))
    }

    /// Returns the number of quoted octets.
    pub fn quote_length(&self) -> u16 {
        be16(self.bytes(), 22)
    }

    /// Returns the remaining octets: the quoted part and padding.
    pub fn rest(&self) -> &[u8] {
        from(self.bytes(), Self::HEADER)
    }
}

/// A congestion notification message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr<'a> {
    /// Quantized feedback, 0 to 63.
    pub feedback: u8,
    /// Congestion point identifier.
    pub point: u64,
    /// Set point minus queue length, in units of 64 octets: negative above the set point; see [`units`].
    pub offset: i16,
    /// Growth of the queue since the last sample, in units of 64 octets.
    pub growth: i16,
    /// Priority of the sampled frame.
    pub priority: Priority,
    /// Destination of the sampled frame.
    pub destination: Address,
    /// First octets of the sampled frame, at most 64.
    pub quote: &'a [u8],
}

impl<'a> Repr<'a> {
    /// Parses a message.
    pub fn parse(bytes: &'a [u8]) -> Result<Repr<'a>, Error> {
        let view = Message::new(bytes)?;
        if view.version() != 0 {
            return Err(Error::Field { what: "CNM", field: "version", value: u64::from(view.version()) });
        }
        let length = usize::from(view.quote_length());
        if length > LONGEST_QUOTE {
            return Err(Error::Field { what: "CNM", field: "quote length", value: length as u64 });
        }
        let rest = from(bytes, Message::<&[u8]>::HEADER);
        let short = Error::Short { what: "CNM quote", need: length, have: rest.len() };
        Ok(Repr {
            feedback: view.feedback(),
            point: view.point(),
            offset: view.offset(),
            growth: view.growth(),
            priority: view.priority(),
            destination: view.destination(),
            quote: rest.get(..length).ok_or(short)?,
        })
    }

    /// Returns the length of the message in octets.
    #[must_use]
    pub fn length(&self) -> usize {
        Message::<&[u8]>::HEADER + self.quote.len().min(LONGEST_QUOTE)
    }

    /// Writes the message; truncates the quote to 64 octets and limits the feedback to its maximum.
    pub fn emit(&self, out: &mut Writer) {
        let quote = self.quote.get(..LONGEST_QUOTE).unwrap_or(self.quote);
        out.u16(u16::from(self.feedback.min(LARGEST_FEEDBACK)));
        out.u64(self.point);
        out.u16(self.offset as u16);
        out.u16(self.growth as u16);
        out.u16(u16::from(self.priority.get()) << 13);
        out.bytes(&self.destination.0);
        out.u16(quote.len() as u16);
        out.bytes(quote);
    }
}

/// Converts octets to units of 64, rounded towards zero and limited to the range of the field.
#[must_use]
pub fn units(octets: i32) -> i16 {
    (octets / UNIT).clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_stay_in_their_field() {
        assert_eq!((units(-65), units(63), units(i32::MAX), units(i32::MIN)), (-1, 0, i16::MAX, i16::MIN));
    }
}
