//! Serialisation: the time that bytes occupy a wire, including fractions of a picosecond.

use crate::{Bytes, Encode, Rate, Span, State};

/// Picoseconds in a second times bits in a byte.
const PICOS_TIMES_BITS: u64 = 8_000_000_000_000;

/// How the time of a frame on a wire is rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrameTime {
    /// It is not: a fraction of a picosecond is carried over to the next frame.
    #[default]
    Exact,
    /// Whole nanoseconds, rounded down, but at least one.
    NanosecondsDown,
    /// The nearest number of whole nanoseconds, but at least one.
    NearestNanosecond,
}

crate::encoded!(enum FrameTime { 0 = Exact, 1 = NanosecondsDown, 2 = NearestNanosecond });

impl FrameTime {
    /// Returns the time, rounded.
    #[must_use]
    pub fn rounded(self, span: Span) -> Span {
        let picos = span.as_picos();
        match self {
            FrameTime::Exact => span,
            FrameTime::NanosecondsDown => Span::from_nanos((picos / 1000).max(1)),
            FrameTime::NearestNanosecond => Span::from_nanos((picos.saturating_add(500) / 1000).max(1)),
        }
    }
}

/// The clock of one transmitter. It carries the fraction of a picosecond of one frame over to the next, so the total of
/// any number of frames is the exact time rounded down once: no link drifts. A [`FrameTime`] other than exact rounds every
/// frame for itself.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    rate: u64,
    /// Whole picoseconds per byte where the rate allows it and nothing is rounded, else 0.
    picos_per_byte: u32,
    rounding: FrameTime,
    /// Remainder, in units of 1/rate picoseconds.
    remainder: u64,
}

impl Wire {
    /// Creates a transmitter of that rate, which must not be zero.
    #[must_use]
    pub fn new(rate: Rate) -> Wire {
        let rate = rate.as_bits_per_sec();
        assert!(rate > 0, "a wire of rate zero never finishes a frame");
        let whole = if PICOS_TIMES_BITS.is_multiple_of(rate) { PICOS_TIMES_BITS / rate } else { 0 };
        let picos_per_byte = u32::try_from(whole).unwrap_or(0);
        Wire { rate, picos_per_byte, rounding: FrameTime::Exact, remainder: 0 }
    }

    /// Returns the transmitter with that rounding.
    #[must_use]
    pub fn rounding(self, rounding: FrameTime) -> Wire {
        match rounding {
            FrameTime::Exact => Wire::new(self.rate()),
            _ => Wire { picos_per_byte: 0, remainder: 0, rounding, ..self },
        }
    }

    /// Returns the rate of the transmitter.
    #[must_use]
    pub const fn rate(&self) -> Rate {
        Rate::from_bits_per_sec(self.rate)
    }

    /// Returns the time of the next `len` bytes, including the fraction carried from previous frames.
    #[inline]
    pub fn serialise(&mut self, len: Bytes) -> Span {
        if self.picos_per_byte != 0 {
            return Span::from_picos(len.get() * u64::from(self.picos_per_byte));
        }
        if self.rounding != FrameTime::Exact {
            let exact = u128::from(len.get()) * u128::from(PICOS_TIMES_BITS) / u128::from(self.rate);
            return self.rounding.rounded(Span::from_picos(exact as u64));
        }
        // Below 2.3 MB, so for any frame, everything fits 64 bits and no wide division is needed.
        let narrow = len.get().checked_mul(PICOS_TIMES_BITS).and_then(|exact| exact.checked_add(self.remainder));
        match narrow {
            Some(exact) => {
                let picos = exact / self.rate;
                self.remainder = exact - picos * self.rate;
                Span::from_picos(picos)
            }
            None => self.serialise_wide(len),
        }
    }

    #[cold]
    fn serialise_wide(&mut self, len: Bytes) -> Span {
        let exact = u128::from(len.get()) * u128::from(PICOS_TIMES_BITS) + u128::from(self.remainder);
        let rate = u128::from(self.rate);
        self.remainder = (exact % rate) as u64;
        Span::from_picos((exact / rate) as u64)
    }

    /// Returns the time of `len` bytes on a wire with nothing carried over and nothing rounded but the picosecond, up: an
    /// upper bound of exact times, not a schedule.
    #[must_use]
    pub fn at_most(&self, len: Bytes) -> Span {
        let exact = u128::from(len.get()) * u128::from(PICOS_TIMES_BITS);
        Span::from_picos(exact.div_ceil(u128::from(self.rate)) as u64)
    }
}

impl Encode for Wire {
    fn encode(&self, out: &mut Vec<u8>) {
        let Wire { rate, picos_per_byte: _, rounding, remainder } = self;
        (*rate, *rounding, *remainder).encode(out);
    }

    fn decode(input: &mut &[u8]) -> Option<Wire> {
        let (rate, rounding, remainder): (u64, FrameTime, u64) = Encode::decode(input)?;
        if rate == 0 || remainder >= rate {
            return None;
        }
        let wire = Wire::new(Rate::from_bits_per_sec(rate)).rounding(rounding);
        Some(Wire { remainder, ..wire })
    }
}

/// The fraction that is carried over is its state; the rate is not. A fraction of another rate is dropped.
impl State for Wire {
    fn save(&self, out: &mut Vec<u8>) {
        self.encode(out);
    }

    fn load(&mut self, input: &mut &[u8]) -> Option<()> {
        let saved = Wire::decode(input)?;
        self.remainder = if saved.rate == self.rate { saved.remainder } else { 0 };
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_saved_wire_goes_on_with_its_fraction_unless_its_rate_has_changed() {
        let rate = |rate| Wire::new(Rate::from_bits_per_sec(rate));
        let (mut wire, mut again, mut other) = (rate(7_000_000_000), rate(7_000_000_000), rate(6_000_000_000));
        wire.serialise(Bytes::new(1000));
        let mut saved = Vec::new();
        wire.save(&mut saved);
        assert!(again.load(&mut &saved[..]).is_some() && other.load(&mut &saved[..]).is_some());
        assert_eq!((again.remainder, other.remainder), (wire.remainder, 0));
        assert!(wire.remainder != 0 && Wire::decode(&mut &(0_u64, 0_u8, 0_u64).to_bytes()[..]).is_none());
    }

    /// The time of that many bytes, rounded down once.
    fn floor_of_exact(bytes: u128, rate: u64) -> u128 {
        bytes * u128::from(PICOS_TIMES_BITS) / u128::from(rate)
    }

    #[test]
    fn whole_picoseconds_per_byte() {
        let mut wire = Wire::new(Rate::from_gigabits(10));
        assert_eq!(wire.serialise(Bytes::new(1_538)), Span::from_picos(1_230_400));
        assert_eq!(Wire::new(Rate::from_gigabits(400)).serialise(Bytes::new(64)), Span::from_picos(1_280));
    }

    #[test]
    fn whole_nanoseconds_are_those_of_each_frame() {
        let mut times = Vec::new();
        for rounding in [FrameTime::NanosecondsDown, FrameTime::NearestNanosecond] {
            let mut wire = Wire::new(Rate::from_gigabits(100)).rounding(rounding);
            // 83.84 ns, twice, and 0.08 ns.
            times.extend([1048, 1048, 1].map(|len| wire.serialise(Bytes::new(len)).as_picos()));
        }
        assert_eq!(times, [83_000, 83_000, 1000, 84_000, 84_000, 1000]);
        let mut exact = Wire::new(Rate::from_gigabits(100)).rounding(FrameTime::Exact);
        assert_eq!(exact.serialise(Bytes::new(1048)), Span::from_picos(83_840));
        assert_eq!(size_of::<Wire>(), 24);
    }

    #[test]
    fn a_third_of_a_picosecond_is_carried_over() {
        let mut wire = Wire::new(Rate::from_gigabits(24));
        let picos: Vec<u64> = (0..4).map(|_| wire.serialise(Bytes::new(1)).as_picos()).collect();
        assert_eq!(picos, [333, 333, 334, 333]);
        assert_eq!(wire.at_most(Bytes::new(1)), Span::from_picos(334));
    }

    #[test]
    fn a_billion_frames_at_an_odd_rate_do_not_drift() {
        // With frames of one length the remainder is the whole state, and a prime rate makes it pass through every
        // value before it returns to zero. One full turn is run; a billion frames are a hundred turns and a bit.
        let (rate, len, frames) = (9_999_991_u64, Bytes::new(1_538), 1_000_000_000_u64);
        let mut wire = Wire::new(Rate::from_bits_per_sec(rate));
        let mut turn = 0_u64;
        for sent in 1..=rate {
            turn += wire.serialise(len).as_picos();
            assert!((wire.remainder == 0) == (sent == rate), "the state returned after {sent} frames");
        }
        assert_eq!(u128::from(turn), floor_of_exact(u128::from(len.get() * rate), rate));
        let rest: u64 = (0..frames % rate).map(|_| wire.serialise(len).as_picos()).sum();
        let total = u128::from(frames / rate) * u128::from(turn) + u128::from(rest);
        assert_eq!(total, floor_of_exact(u128::from(frames) * u128::from(len.get()), rate));
    }

    #[test]
    fn ten_million_frames_at_an_odd_speed_of_a_fast_link_do_not_drift() {
        let rate = 103_125_000_007;
        let mut wire = Wire::new(Rate::from_bits_per_sec(rate));
        let (mut total, mut bytes) = (0_u64, 0_u64);
        for sent in 0..10_000_000_u64 {
            let len = 84 + sent * 7_919 % 1_455;
            bytes += len;
            total += wire.serialise(Bytes::new(len)).as_picos();
        }
        assert_eq!(u128::from(total), floor_of_exact(u128::from(bytes), rate));
    }

    proptest! {
        #[test]
        fn any_sequence_takes_the_exact_time_rounded_down(
            rate in 1_u64 << 20..=1 << 50,
            lens in proptest::collection::vec(
                prop_oneof![0_u64..10_000, 2_305_000_u64..2_307_000, 0_u64..1 << 33],
                0..60,
            ),
        ) {
            let mut wire = Wire::new(Rate::from_bits_per_sec(rate));
            let mut bytes = 0;
            let mut total = 0;
            for len in lens {
                bytes += u128::from(len);
                let bound = u128::from(wire.at_most(Bytes::new(len)).as_picos());
                prop_assert!(floor_of_exact(u128::from(len), rate) <= bound);
                total += u128::from(wire.serialise(Bytes::new(len)).as_picos());
                prop_assert_eq!(total, floor_of_exact(bytes, rate));
            }
        }
    }
}
