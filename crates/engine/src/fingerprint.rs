//! The fingerprint of a run: the same bits if and only if, for all practical purposes, the same events.
//!
//! Each node folds what happens to it, in its own order; the nodes' values are combined in node order. So the
//! fingerprint does not depend on how events of different nodes interleave, hence not on threads or partitions.

use units::Encode;

/// A running 64-bit fold of one node's events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint(u64);

impl Encode for Fingerprint {
    fn encode(&self, out: &mut Vec<u8>) {
        self.0.encode(out);
    }

    fn decode(input: &mut &[u8]) -> Option<Fingerprint> {
        u64::decode(input).map(Fingerprint)
    }
}

impl Fingerprint {
    /// Folds one word in. Order matters.
    #[inline]
    pub fn fold(&mut self, word: u64) {
        // An odd multiplier from the golden ratio; the rotation brings the mixed high bits back down.
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    /// The value so far.
    #[must_use]
    pub fn value(self) -> u64 {
        let mut x = self.0;
        x ^= x >> 32;
        x = x.wrapping_mul(0xd6e8_feb8_6659_fd93);
        x ^ (x >> 32)
    }

    /// One value for many nodes, given in node order.
    #[must_use]
    pub fn combine(nodes: impl IntoIterator<Item = Fingerprint>) -> Fingerprint {
        let mut all = Fingerprint::default();
        for node in nodes {
            all.fold(node.value());
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[u64]) -> u64 {
        let mut fingerprint = Fingerprint::default();
        words.iter().for_each(|&word| fingerprint.fold(word));
        fingerprint.value()
    }

    #[test]
    fn order_and_every_bit_count() {
        assert_ne!(of(&[1, 2]), of(&[2, 1]));
        assert_ne!(of(&[0]), of(&[0, 0, 1]));
        for bit in 0..64 {
            assert_ne!(of(&[1 << bit, 7]), of(&[0, 7]), "bit {bit} is lost");
        }
    }

    #[test]
    fn is_frozen() {
        assert_eq!(of(&[1, 2, 3]), 0xf82c_2b69_5717_42c6_u64, "got {:#x}", of(&[1, 2, 3]));
    }
}
