//! What controls that measure their path have in common: rounds, and windows of a round trip's worth of bytes.

use crate::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Values};
use crate::{Adapter, PathReport};
use units::{Bytes, Rate, Span};

/// Rounds of a flow: one ends when everything is acknowledged that had been sent when it began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Round {
    end: Bytes,
}

impl Round {
    /// Returns whether this acknowledgement ends the round; if so, the next one begins.
    pub(crate) fn ends(&mut self, report: &PathReport) -> bool {
        let ends = report.acknowledged > self.end;
        if ends {
            self.end = report.sent.max(report.acknowledged);
        }
        ends
    }
}

/// How a rate-based control bounds the bytes in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WindowBound {
    /// Not at all.
    None,
    /// By what the link sends in a base round trip.
    Fixed,
    /// By what the current rate sends in a base round trip.
    Variable,
}

impl WindowBound {
    pub(crate) fn read(values: &Values) -> WindowBound {
        match values.choice("window").as_str() {
            "none" => WindowBound::None,
            "fixed" => WindowBound::Fixed,
            _ => WindowBound::Variable,
        }
    }

    /// The bound at that rate, at least one byte: a window of one frame is always granted.
    pub(crate) fn at(self, rate: f64, link: f64, round_trip: Span) -> Option<Bytes> {
        let rate = match self {
            WindowBound::None => return None,
            WindowBound::Fixed => link,
            WindowBound::Variable => rate,
        };
        Some(bytes_in(rate, round_trip))
    }
}

/// The parameter of [`WindowBound::read`].
pub(crate) const fn window_parameter(default: &'static str, source: &'static str) -> Parameter {
    Parameter {
        name: "window",
        kind: ParameterKind::Choice(&[
            ("none", "no window"),
            ("fixed", "what the link sends in a base round trip"),
            ("variable", "what the current rate sends in a base round trip"),
        ]),
        default: ParameterDefault::Value(default, source),
        meaning: "Maximum number of unacknowledged bytes.",
    }
}

/// The base round trip of a flow's path.
pub(crate) const BASE_RTT: Parameter = Parameter {
    name: "base_rtt",
    kind: ParameterKind::Time,
    default: ParameterDefault::Absent("the round-trip time of the flow's path without queues"),
    meaning: "Round-trip time without queues.",
};

/// Reads the base round trip, or takes that of the path.
///
/// # Errors
/// Fails if neither is above zero.
pub(crate) fn base_round_trip(given: Option<Span>, adapter: &Adapter) -> Result<Span, Invalid> {
    let span = given.unwrap_or(adapter.round_trip);
    if span == Span::ZERO {
        let message = "the round-trip time of the flow's path is not known";
        return Err(Invalid::new("base_rtt", message, "set it, for example base_rtt = \"13us\""));
    }
    Ok(span)
}

/// Bytes that a rate sends in a time, at least one.
pub(crate) fn bytes_in(rate: f64, span: Span) -> Bytes {
    Bytes::new(((rate * seconds(span) / 8.0) as u64).max(1))
}

/// A time in seconds.
pub(crate) fn seconds(span: Span) -> f64 {
    span.as_picos() as f64 / 1e12
}

/// A rate in bits per second.
pub(crate) fn bits(rate: Rate) -> f64 {
    rate.as_bits_per_sec() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_ends_when_what_was_sent_at_its_start_is_acknowledged() {
        let mut round = Round::default();
        let mut ends = |acknowledged, sent| {
            round.ends(&PathReport {
                acknowledged: Bytes::new(acknowledged),
                sent: Bytes::new(sent),
                ..PathReport::default()
            })
        };
        assert!(ends(1000, 10_000), "the first acknowledgement");
        assert!(!ends(2000, 11_000));
        assert!(!ends(10_000, 19_000));
        assert!(ends(11_000, 20_000));
        assert!(!ends(20_000, 29_000));
    }

    #[test]
    fn windows_are_what_is_sent_in_a_round_trip() {
        let span = Span::from_micros(8);
        assert_eq!(WindowBound::None.at(1e9, 100e9, span), None);
        assert_eq!(WindowBound::Fixed.at(1e9, 100e9, span), Some(Bytes::new(100_000)));
        assert_eq!(WindowBound::Variable.at(1e9, 100e9, span), Some(Bytes::new(1000)));
        assert_eq!(WindowBound::Variable.at(1.0, 100e9, span), Some(Bytes::new(1)));
    }
}
