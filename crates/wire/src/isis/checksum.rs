//! The checksum of link-state PDUs (ISO 8473 annex C, after Fletcher): it covers everything after the lifetime, which
//! changes in transit.

use crate::bytes::from;

/// Offset of the checksum in a PDU.
pub const PLACE: usize = 24;
/// Offset of the first octet covered.
const START: usize = 12;

/// Sums of octets, and of these sums, modulo 255.
fn sums(bytes: &[u8]) -> (u32, u32) {
    let (mut c0, mut c1) = (0u32, 0u32);
    // The second sum of 4000 octets stays below 2^32.
    for chunk in bytes.chunks(4000) {
        for &octet in chunk {
            c0 += u32::from(octet);
            c1 += c0;
        }
        (c0, c1) = (c0 % 255, c1 % 255);
    }
    (c0, c1)
}

/// Returns the checksum of a PDU in which the checksum's own octets are zero.
#[must_use]
pub fn of(pdu: &[u8]) -> u16 {
    let covered = from(pdu, START);
    let (c0, c1) = sums(covered);
    // Octets from the checksum's first to the end; modulo 255 nothing else matters.
    let after = covered.len().saturating_sub(PLACE - START) as u32 % 255;
    // The two octets that make both sums zero. Zero is written as 255: an absent checksum is two zeros.
    let x = (after + 254) * c0 + 255 * 255 - c1;
    let y = 255 * 255 * 2 + c1 - (after + 255) * c0;
    let octet = |value: u32| if value.is_multiple_of(255) { 255 } else { (value % 255) as u8 };
    u16::from_be_bytes([octet(x), octet(y)])
}

/// Returns whether a PDU has a correct checksum.
#[must_use]
pub fn is_right(pdu: &[u8]) -> bool {
    let absent = matches!(pdu.get(PLACE..PLACE + 2), None | Some([0, _] | [_, 0]));
    !absent && sums(from(pdu, START)) == (0, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_computed_is_right_at_any_length_and_damage_is_seen() {
        for length in [27usize, 28, 149, 281, 282, 1492, 9000] {
            let mut pdu: Vec<u8> = (0..length).map(|n| (n * 37 + length) as u8).collect();
            pdu[PLACE..PLACE + 2].fill(0);
            let sum = of(&pdu);
            pdu[PLACE..PLACE + 2].copy_from_slice(&sum.to_be_bytes());
            assert!(is_right(&pdu), "{length}");
            pdu[length - 1] ^= 0x10;
            assert!(!is_right(&pdu), "{length}");
        }
        assert!(!is_right(&[0; 30]) && !is_right(&[]));
    }
}
