//! CRC-32 as used by Ethernet's frame check sequence and InfiniBand's invariant CRC (802.3 3.2.9): polynomial
//! 0x04C11DB7, bits reflected, initial value and final XOR all ones, lowest octet sent first.

use crate::{Error, Writer};

/// Length of a frame check sequence in octets.
pub const LENGTH: usize = 4;

/// Length of the smallest frame without its check sequence, in octets.
pub const MINIMUM: usize = 60;

const TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut octet = 0;
    while octet < 256 {
        let mut crc = octet as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
            bit += 1;
        }
        table[octet] = crc;
        octet += 1;
    }
    table
}

/// An incremental checksum.
#[derive(Clone, Copy, Debug)]
pub struct Crc32(u32);

impl Default for Crc32 {
    fn default() -> Crc32 {
        Crc32(u32::MAX)
    }
}

impl Crc32 {
    /// Adds octets.
    pub fn update(&mut self, bytes: &[u8]) {
        for &octet in bytes {
            self.0 = self.0 >> 8 ^ TABLE[usize::from(self.0 as u8 ^ octet)];
        }
    }

    /// Returns the checksum of all octets added.
    #[must_use]
    pub fn value(self) -> u32 {
        !self.0
    }
}

/// Returns the checksum of octets.
#[must_use]
pub fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = Crc32::default();
    crc.update(bytes);
    crc.value()
}

/// Pads a frame that begins at the writer's start to the minimum size, and adds its check sequence.
pub fn seal(out: &mut Writer) {
    out.pad_to(MINIMUM);
    let crc = crc32(out.written(0));
    out.bytes(&crc.to_le_bytes());
}

/// Returns the frame without its check sequence, or an error if that is wrong.
pub fn check(frame: &[u8]) -> Result<&[u8], Error> {
    let what = "frame check sequence";
    let short = Error::Short { what, need: LENGTH, have: frame.len() };
    let (body, last) = frame.split_last_chunk::<LENGTH>().ok_or(short)?;
    let (found, right) = (u32::from_le_bytes(*last), crc32(body));
    if found == right { Ok(body) } else { Err(Error::Checksum { what, found, right }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_of_the_catalogues() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn sealed_frames_check_and_damaged_ones_do_not() {
        let mut buffer = [0; 64];
        let mut out = Writer::new(&mut buffer);
        out.bytes(&[1, 2, 3]);
        seal(&mut out);
        assert_eq!(out.finish(), Ok(64));
        assert_eq!(check(&buffer).map(<[u8]>::len), Ok(60));
        buffer[17] ^= 1;
        assert!(matches!(check(&buffer), Err(Error::Checksum { .. })));
        assert!(check(&[1, 2, 3]).is_err());
    }
}
