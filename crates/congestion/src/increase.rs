//! Timer-driven increase of a limited flow's rate: BCN's self-increase, ECM's and QCN's drift.

use crate::parameter::Invalid;
use units::Span;

/// Effect of one timer period on a rate.
#[derive(Clone, Copy, Debug)]
pub(crate) enum IncreaseLaw {
    /// Adds this many bits per second.
    Add(f64),
    /// Multiplies by this factor.
    Multiply(f64),
    /// Adds a step divided by the number of negative notices; without notices, the whole step or none of it.
    Share { step: f64, unnoticed: bool },
    /// Moves this fraction of the way to the largest rate that the congested switch allows.
    Approach(f64),
}

impl IncreaseLaw {
    /// The rate after a period with `negative` negative notices, where the switch allows `most`.
    pub(crate) fn after(self, rate: f64, negative: u32, most: f64) -> f64 {
        match self {
            IncreaseLaw::Add(step) => rate + step,
            IncreaseLaw::Multiply(factor) => rate * factor,
            IncreaseLaw::Share { unnoticed: false, .. } if negative == 0 => rate,
            IncreaseLaw::Share { step, .. } => rate + step / f64::from(negative.max(1)),
            IncreaseLaw::Approach(part) => rate + part * (most - rate),
        }
    }
}

/// A law and its timer period.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Increase {
    pub(crate) law: IncreaseLaw,
    pub(crate) period: Span,
}

/// The shortest period of a timer: less than a minimum-size frame takes at 10 Gb/s would only pile up work, and probes.
const SHORTEST: Span = Span::from_nanos(50);

/// A period that a timer can have.
pub(crate) fn lasting(parameter: &'static str, span: Span) -> Result<Span, Invalid> {
    if span < SHORTEST {
        return Err(Invalid::new(parameter, "less than 50ns", "give a time of 50ns or more"));
    }
    Ok(span)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_timer_fires_more_often_than_frames_can_be_sent() {
        assert_eq!(lasting("period", Span::from_nanos(50)), Ok(Span::from_nanos(50)));
        for short in [Span::ZERO, Span::from_picos(1), Span::from_picos(49_999)] {
            assert!(lasting("period", short).is_err(), "{short:?}");
        }
    }

    #[test]
    fn laws_raise_by_what_they_say() {
        assert_eq!(IncreaseLaw::Add(1e6).after(2e9, 0, 1e10), 2.001e9);
        // 1.0005 each 200 us: of 1 Gb/s half a megabit.
        assert_eq!(IncreaseLaw::Multiply(1.0005).after(1e9, 0, 1e10), 1.0005e9);
        assert_eq!(IncreaseLaw::Share { step: 6e6, unnoticed: false }.after(1e9, 3, 1e10), 1.002e9);
        assert_eq!(IncreaseLaw::Share { step: 6e6, unnoticed: false }.after(1e9, 0, 1e10), 1e9);
        assert_eq!(IncreaseLaw::Share { step: 6e6, unnoticed: true }.after(1e9, 0, 1e10), 1.006e9);
        // A thousandth of the 8 Gb/s that are missing.
        assert_eq!(IncreaseLaw::Approach(0.001).after(2e9, 0, 1e10), 2.008e9);
    }
}
