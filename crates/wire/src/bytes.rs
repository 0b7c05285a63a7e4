//! Bounds-checked reading and writing of big-endian numbers.

use crate::Error;

/// Returns the octets from a position on; zeros beyond the end, which a checked view rules out.
#[inline]
pub(crate) fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes.get(at..).and_then(|rest| rest.first_chunk::<N>()).copied().unwrap_or([0; N])
}

pub(crate) fn be8(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

pub(crate) fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(array(bytes, at))
}

pub(crate) fn be24(bytes: &[u8], at: usize) -> u32 {
    let [a, b, c] = array(bytes, at);
    u32::from_be_bytes([0, a, b, c])
}

pub(crate) fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(array(bytes, at))
}

pub(crate) fn be64(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(array(bytes, at))
}

/// Returns the octets after a position; none if the slice ends before it.
pub(crate) fn from(bytes: &[u8], at: usize) -> &[u8] {
    bytes.get(at..).unwrap_or(&[])
}

/// Rejects a slice that is too short.
pub(crate) fn at_least(bytes: &[u8], need: usize, what: &'static str) -> Result<(), Error> {
    if bytes.len() < need { Err(Error::Short { what, need, have: bytes.len() }) } else { Ok(()) }
}

/// Writes a frame sequentially into a buffer.
///
/// Octets that do not fit are counted but not written; [`Writer::finish`] reports them, so that errors are checked in
/// one place.
#[derive(Debug)]
pub struct Writer<'a> {
    buffer: &'a mut [u8],
    at: usize,
}

impl<'a> Writer<'a> {
    /// Creates a writer at the start of a buffer.
    pub fn new(buffer: &'a mut [u8]) -> Writer<'a> {
        Writer { buffer, at: 0 }
    }

    /// Returns the number of octets written, including those that did not fit.
    #[must_use]
    pub fn position(&self) -> usize {
        self.at
    }

    /// Returns the octets written from a position on.
    #[must_use]
    pub fn written(&self, from: usize) -> &[u8] {
        self.buffer.get(from..self.at).unwrap_or(&[])
    }

    /// Writes octets.
    pub fn bytes(&mut self, bytes: &[u8]) {
        let end = self.at.saturating_add(bytes.len());
        if let Some(room) = self.buffer.get_mut(self.at..end) {
            room.copy_from_slice(bytes);
        }
        self.at = end;
    }

    /// Writes `count` octets of that value.
    pub fn fill(&mut self, value: u8, count: usize) {
        let end = self.at.saturating_add(count);
        if let Some(room) = self.buffer.get_mut(self.at..end) {
            room.fill(value);
        }
        self.at = end;
    }

    /// Writes zeros up to that length; nothing if the frame is already longer.
    pub fn pad_to(&mut self, length: usize) {
        self.fill(0, length.saturating_sub(self.at));
    }

    /// Writes one octet.
    pub fn u8(&mut self, value: u8) {
        self.bytes(&[value]);
    }

    /// Writes two octets.
    pub fn u16(&mut self, value: u16) {
        self.bytes(&value.to_be_bytes());
    }

    /// Writes three octets: the lower 24 bits.
    pub fn u24(&mut self, value: u32) {
        let [_, low @ ..] = value.to_be_bytes();
        self.bytes(&low);
    }

    /// Writes four octets.
    pub fn u32(&mut self, value: u32) {
        self.bytes(&value.to_be_bytes());
    }

    /// Writes eight octets.
    pub fn u64(&mut self, value: u64) {
        self.bytes(&value.to_be_bytes());
    }

    /// Overwrites octets that were written before.
    pub fn patch(&mut self, at: usize, bytes: &[u8]) {
        if let Some(place) = self.buffer.get_mut(at..at.saturating_add(bytes.len())) {
            place.copy_from_slice(bytes);
        }
    }

    /// Returns the length written, or an error if it did not fit.
    pub fn finish(self) -> Result<usize, Error> {
        if self.at <= self.buffer.len() {
            Ok(self.at)
        } else {
            Err(Error::Room { need: self.at, have: self.buffer.len() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_reads_as_nothing() {
        assert_eq!((be16(&[1, 2, 3], 1), be16(&[1, 2, 3], 2), be24(&[1, 2, 3], 0)), (0x0203, 0, 0x01_0203));
        assert_eq!(from(&[1, 2], 3), &[] as &[u8]);
    }

    #[test]
    fn what_does_not_fit_is_measured() {
        let mut buffer = [0; 4];
        let mut out = Writer::new(&mut buffer);
        out.u24(0x01_0203);
        out.u32(7);
        assert_eq!(out.finish(), Err(Error::Room { need: 7, have: 4 }));
        assert_eq!(buffer, [1, 2, 3, 0]);
    }
}
