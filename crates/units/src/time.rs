//! Instants and durations in integer picoseconds: 2^64 ps are 213 days.

use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};

/// An instant of simulated time: picoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

/// A length of simulated time in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// The latest instant, later than any event.
    pub const MAX: Time = Time(u64::MAX);

    /// Creates the instant that many picoseconds after the start.
    #[must_use]
    pub const fn from_picos(picos: u64) -> Time {
        Time(picos)
    }

    /// Returns the picoseconds since the start.
    #[must_use]
    pub const fn as_picos(self) -> u64 {
        self.0
    }

    /// Returns the seconds since the start, for output only.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e12
    }

    /// Returns the time elapsed since `earlier`; zero if `earlier` is later.
    #[must_use]
    pub const fn saturating_since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// Returns this instant plus a span, saturating at [`Time::MAX`].
    #[must_use]
    pub const fn saturating_add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Span {
    /// A span of zero length.
    pub const ZERO: Span = Span(0);
    /// The longest span.
    pub const MAX: Span = Span(u64::MAX);

    /// Creates a span of that many picoseconds.
    #[must_use]
    pub const fn from_picos(picos: u64) -> Span {
        Span(picos)
    }

    /// Creates a span of that many nanoseconds.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Span {
        Span(nanos * 1_000)
    }

    /// Creates a span of that many microseconds.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Span {
        Span(micros * 1_000_000)
    }

    /// Creates a span of that many milliseconds.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Span {
        Span(millis * 1_000_000_000)
    }

    /// Creates a span of that many seconds.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Span {
        Span(secs * 1_000_000_000_000)
    }

    /// Returns the length in picoseconds.
    #[must_use]
    pub const fn as_picos(self) -> u64 {
        self.0
    }

    /// Returns the length in seconds, for output only.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e12
    }

    /// Returns the difference of two spans, saturating at zero.
    #[must_use]
    pub const fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0 + span.0)
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        self.0 += span.0;
    }
}

impl Sub<Span> for Time {
    type Output = Time;
    fn sub(self, span: Span) -> Time {
        Time(self.0 - span.0)
    }
}

impl Sub<Time> for Time {
    type Output = Span;
    fn sub(self, earlier: Time) -> Span {
        Span(self.0 - earlier.0)
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0 + other.0)
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        self.0 += other.0;
    }
}

impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0 - other.0)
    }
}

impl SubAssign for Span {
    fn sub_assign(&mut self, other: Span) {
        self.0 -= other.0;
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, factor: u64) -> Span {
        Span(self.0 * factor)
    }
}
