//! Serialisation: how long bytes occupy a wire, to the fraction of a picosecond.

use crate::{Bytes, Rate, Span};

/// Picoseconds in a second times bits in a byte.
const PICOS_TIMES_BITS: u64 = 8_000_000_000_000;

/// The clock of one transmitter. It carries the part of a picosecond that one frame leaves over to the next,
/// so the total of any number of frames is the exact time rounded down once: no link drifts.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    rate: u64,
    /// Whole picoseconds per byte where the rate allows it, else 0.
    picos_per_byte: u64,
    /// What is left over, in units of 1/rate picoseconds.
    remainder: u64,
}

impl Wire {
    /// A transmitter of that rate, which must not be zero.
    #[must_use]
    pub fn new(rate: Rate) -> Wire {
        let rate = rate.as_bits_per_sec();
        assert!(rate > 0, "a wire of rate zero never finishes a frame");
        let picos_per_byte = if PICOS_TIMES_BITS.is_multiple_of(rate) { PICOS_TIMES_BITS / rate } else { 0 };
        Wire { rate, picos_per_byte, remainder: 0 }
    }

    /// The rate it was made with.
    #[must_use]
    pub const fn rate(&self) -> Rate {
        Rate::from_bits_per_sec(self.rate)
    }

    /// The time the next `len` bytes take, with what was left over before.
    #[inline]
    pub fn serialise(&mut self, len: Bytes) -> Span {
        if self.picos_per_byte != 0 {
            return Span::from_picos(len.get() * self.picos_per_byte);
        }
        let exact = u128::from(len.get()) * u128::from(PICOS_TIMES_BITS) + u128::from(self.remainder);
        let rate = u128::from(self.rate);
        self.remainder = (exact % rate) as u64;
        Span::from_picos((exact / rate) as u64)
    }

    /// The time `len` bytes take on a wire with nothing left over, rounded up: a bound, not a schedule.
    #[must_use]
    pub fn at_most(&self, len: Bytes) -> Span {
        let exact = u128::from(len.get()) * u128::from(PICOS_TIMES_BITS);
        Span::from_picos(exact.div_ceil(u128::from(self.rate)) as u64)
    }
}
