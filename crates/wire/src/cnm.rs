//! Quantized congestion notification (802.1Q 33): the tag that names a source's rate limiter, and the message that
//! tells it of congestion.
//!
//! CN-TAG: 0x22E9, flow identifier (16 bits), the type of what follows. The message, after the type 0x22E7:
//!
//! | octets | field |
//! |---|---|
//! | 0..2 | version:4 = 0, reserved:6, quantized feedback:6 |
//! | 2..10 | congestion point identifier |
//! | 10..12 | queue offset, signed, units of 64 octets |
//! | 12..14 | queue growth, signed, the same units |
//! | 14..16 | priority of the frame in question, in the top three bits |
//! | 16..22 | destination of the frame in question |
//! | 22..24 | how many octets of it follow |
//! | 24.. | its first octets, at most 64 |
//!
//! No text of the standard and no independent decoder was at hand: the layout is that of public implementations, the
//! unit and the place of the priority are from memory (docs/wire/qcn.md).

use crate::bytes::{array, at_least, be8, be16, be64, from};
use crate::view::view;
use crate::{Address, Error, Priority, Writer};

/// The tag: which of the source's rate limiters a frame came through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Flow identifier: the reaction point's number at its source.
    pub flow: u16,
}

impl Tag {
    /// Octets from the tag's own type to the next one.
    pub const LENGTH: usize = 4;

    /// Reads a tag whose type has been read, and returns the type behind it and what follows that.
    pub fn parse(after: &[u8]) -> Result<(Tag, u16, &[u8]), Error> {
        at_least(after, Tag::LENGTH, "CN-TAG")?;
        Ok((Tag { flow: be16(after, 0) }, be16(after, 2), from(after, Tag::LENGTH)))
    }

    /// Writes the tag behind its own type, and the type of what follows.
    pub fn emit(&self, next: u16, out: &mut Writer) {
        out.u16(self.flow);
        out.u16(next);
    }
}

/// The most of a frame that a message quotes.
pub const LONGEST_QUOTE: usize = 64;
/// The largest feedback.
pub const LARGEST_FEEDBACK: u8 = 63;
/// Octets in a unit of offset and growth.
pub const UNIT: i32 = 64;

view! {
    /// A message from its version on.
    Message, "CNM", 24
}

impl<T: AsRef<[u8]>> Message<T> {
    /// Version; zero is the only one.
    pub fn version(&self) -> u8 {
        be8(self.bytes(), 0) >> 4
    }

    /// Feedback in 6 bits.
    pub fn feedback(&self) -> u8 {
        be8(self.bytes(), 1) & LARGEST_FEEDBACK
    }

    /// Congestion point identifier.
    pub fn point(&self) -> u64 {
        be64(self.bytes(), 2)
    }

    /// Queue offset in units of 64 octets.
    pub fn offset(&self) -> i16 {
        be16(self.bytes(), 10) as i16
    }

    /// Queue growth in units of 64 octets.
    pub fn growth(&self) -> i16 {
        be16(self.bytes(), 12) as i16
    }

    /// Priority of the frame in question.
    pub fn priority(&self) -> Priority {
        Priority::low_bits(be8(self.bytes(), 14) >> 5)
    }

    /// Destination of the frame in question.
    pub fn destination(&self) -> Address {
        Address(array(self.bytes(), 16))
    }

    /// How many octets are quoted.
    pub fn quote_length(&self) -> u16 {
        be16(self.bytes(), 22)
    }

    /// All that follows: the quote, and padding.
    pub fn rest(&self) -> &[u8] {
        from(self.bytes(), Self::HEADER)
    }
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr<'a> {
    /// Quantized feedback, 0 to 63.
    pub feedback: u8,
    /// Congestion point identifier.
    pub point: u64,
    /// How far the queue is over (negative) or under its set point, in units of 64 octets; see [`units`].
    pub offset: i16,
    /// How much it has grown since the last sample, in units of 64 octets.
    pub growth: i16,
    /// Priority of the frame in question.
    pub priority: Priority,
    /// Destination of the frame in question.
    pub destination: Address,
    /// Its first octets, at most 64.
    pub quote: &'a [u8],
}

impl<'a> Repr<'a> {
    /// Reads a message.
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

    /// Octets of the message.
    #[must_use]
    pub fn length(&self) -> usize {
        Message::<&[u8]>::HEADER + self.quote.len().min(LONGEST_QUOTE)
    }

    /// Writes the message; of a longer quote its first 64 octets, of a larger feedback the largest.
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

/// Octets as units of 64, towards zero, and no further than the field reaches.
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
