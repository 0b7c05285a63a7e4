//! Rates in integer bits per second.

/// A rate in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// Zero bits per second.
    pub const ZERO: Rate = Rate(0);

    /// Creates a rate in bits per second.
    #[must_use]
    pub const fn from_bits_per_sec(bits: u64) -> Rate {
        Rate(bits)
    }

    /// Creates a rate in gigabits (10^9 bits) per second.
    #[must_use]
    pub const fn from_gigabits(gigabits: u64) -> Rate {
        Rate(gigabits * 1_000_000_000)
    }

    /// Creates a rate in megabits (10^6 bits) per second.
    #[must_use]
    pub const fn from_megabits(megabits: u64) -> Rate {
        Rate(megabits * 1_000_000)
    }

    /// Returns the rate in bits per second.
    #[must_use]
    pub const fn as_bits_per_sec(self) -> u64 {
        self.0
    }
}
