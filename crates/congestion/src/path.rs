//! What controls that measure their path have in common: rounds, and windows of a round trip's worth of bytes.

use crate::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Values};
use crate::qcn_source::ordered;
use crate::{Adapter, Allowance, Pacing, PathReport, Stamp};
use units::{Bytes, Rate, Span, Time};

/// Rounds of a flow: one ends when everything is acknowledged that had been sent when it began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Round {
    end: Bytes,
}

units::encoded!(struct Round { end });

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
    /// By the bytes that the link sends in a base round trip.
    Fixed,
    /// By the bytes that the current rate sends in a base round trip.
    Variable,
}

impl WindowBound {
    fn named(name: &str) -> WindowBound {
        match name {
            "none" => WindowBound::None,
            "fixed" => WindowBound::Fixed,
            _ => WindowBound::Variable,
        }
    }

    /// The bound at that rate, at least one byte: a window of one frame is always granted.
    fn at(self, rate: f64, link: f64, round_trip: f64) -> Option<Bytes> {
        let rate = match self {
            WindowBound::None => return None,
            WindowBound::Fixed => link,
            WindowBound::Variable => rate,
        };
        Some(bytes_in(rate, round_trip))
    }
}

/// The parameter that names a [`WindowBound`].
pub(crate) const fn window_parameter(default: &'static str, source: &'static str) -> Parameter {
    Parameter {
        name: "window",
        kind: ParameterKind::Choice(&[
            ("none", "no window"),
            ("fixed", "the bytes that the link sends in a base round trip"),
            ("variable", "the bytes that the current rate sends in a base round trip"),
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

/// Whether a frame may exceed the window.
pub(crate) const WINDOW_EXCESS: Parameter = Parameter {
    name: "window_excess",
    kind: ParameterKind::Flag,
    default: ParameterDefault::Value("false", "our choice: a window is a maximum"),
    meaning: "Whether a frame may start as long as fewer bytes than the window are unacknowledged, so that the last one \
         may exceed it; if not, a frame must fit into the window.",
};

/// Whether a change of the rate applies to a wait that has begun.
pub(crate) const REPACED: Parameter = Parameter {
    name: "repaced",
    kind: ParameterKind::Flag,
    default: ParameterDefault::Value("true", "our choice: a limiter that obeys at once"),
    meaning: "Whether a change of the rate applies to the wait for the next frame that has begun; if not, to the ones after \
         it.",
};

/// Whether a lower rate applies to a wait that is over.
pub(crate) const REWAITS: Parameter = Parameter {
    name: "rewaits",
    kind: ParameterKind::Flag,
    default: ParameterDefault::Value("false", "our choice: a frame that may start keeps its permission"),
    meaning: "Whether a lower rate also delays a frame that has already waited for the former rate. The rate of a flow \
              may fall while its window blocks it.",
};

/// Reads [`REWAITS`], if the control has it.
pub(crate) fn gap(values: &Values) -> Pacing {
    if values.maybe_flag("rewaits").unwrap_or(false) { Pacing::Gap } else { Pacing::FromStart }
}

/// Window at the rate of the link.
pub(crate) const BASE_WINDOW: Parameter = Parameter {
    name: "base_window",
    kind: ParameterKind::Size(1, 1 << 40),
    default: ParameterDefault::Absent("the bytes that the link sends in `base_rtt`"),
    meaning: "Window of a flow that sends at the rate of its link; at other rates it is in proportion.",
};

/// Reads [`REPACED`], if the control has it.
pub(crate) fn pacing(values: &Values) -> Pacing {
    if values.maybe_flag("repaced").unwrap_or(true) { Pacing::FromStart } else { Pacing::Kept }
}

/// The window of a control by rate: its parameters, and the round trip that it is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RateWindow {
    bound: WindowBound,
    given_round_trip: Option<Span>,
    excess: bool,
    /// By how much a frame may exceed the window.
    beyond: u64,
    /// Round-trip time without queues.
    pub(crate) round_trip: Span,
    given_window: Option<Bytes>,
    /// Time in which the link sends a whole window, in seconds: the round trip, unless the window is given.
    pub(crate) full: f64,
}

impl RateWindow {
    /// Reads the parameters `window`, `base_rtt`, `base_window` and `window_excess`, all of which may be missing.
    pub(crate) fn read(values: &Values) -> RateWindow {
        RateWindow {
            bound: values.maybe_choice("window").map_or(WindowBound::None, |name| WindowBound::named(&name)),
            given_round_trip: values.maybe_time("base_rtt"),
            excess: values.maybe_flag("window_excess").unwrap_or(false),
            beyond: 0,
            // Until it is told; also if no route leads to the destination at the start.
            round_trip: Span::from_micros(10),
            given_window: values.maybe_size("base_window"),
            full: 10e-6,
        }
    }

    /// Takes the size of frames, and the base round trip that was given, or that of the path.
    ///
    /// # Errors
    /// Fails if neither is above zero.
    pub(crate) fn attach(&mut self, adapter: &Adapter) -> Result<(), Invalid> {
        let span = self.given_round_trip.unwrap_or(adapter.round_trip);
        if span == Span::ZERO {
            let message = "the round-trip time of the flow's path is not known";
            return Err(Invalid::new("base_rtt", message, "set it, for example base_rtt = \"13us\""));
        }
        self.round_trip = span;
        self.full = self.given_window.map_or(seconds(span), |window| window.bits() as f64 / bits(adapter.link));
        self.beyond = if self.excess { adapter.frame.get().saturating_sub(1) } else { 0 };
        Ok(())
    }

    /// Returns whether the bytes in flight are bounded.
    pub(crate) fn is_bounded(&self) -> bool {
        self.bound != WindowBound::None
    }

    /// The window at that rate.
    #[inline]
    pub(crate) fn at(&self, rate: f64, link: f64) -> Option<Bytes> {
        self.bound.at(rate, link, self.full).map(|window| window + Bytes::new(self.beyond))
    }
}

/// A rate between a minimum and that of the link, where it starts, with a bound on the bytes in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundedRate {
    min: Rate,
    pub(crate) window: RateWindow,
    /// Bits per second of the link.
    pub(crate) link: f64,
    /// Bits per second that may be sent.
    pub(crate) now: f64,
}

units::state!(struct BoundedRate { fixed: min, window, link; plain: now; });

impl BoundedRate {
    /// Reads the parameter `min_rate`, and those of a [`RateWindow`].
    pub(crate) fn read(values: &Values) -> BoundedRate {
        BoundedRate { min: values.rate("min_rate"), window: RateWindow::read(values), link: 0.0, now: 0.0 }
    }

    /// Starts at the rate of the link.
    ///
    /// # Errors
    /// Fails if the minimum is not below the link.
    pub(crate) fn attach(&mut self, adapter: &Adapter) -> Result<(), Invalid> {
        ordered(self.min, adapter.link)?;
        self.link = bits(adapter.link);
        self.now = self.link;
        Ok(())
    }

    /// Returns the nearest rate within the limits.
    pub(crate) fn limited(&self, rate: f64) -> f64 {
        rate.clamp(bits(self.min), self.link)
    }

    /// Sets the rate to the nearest within the limits.
    pub(crate) fn set(&mut self, rate: f64) {
        self.now = self.limited(rate);
    }

    pub(crate) fn allowance(&self) -> Allowance {
        let rate = (self.now < self.link).then(|| Rate::from_bits_per_sec(self.now as u64));
        Allowance { rate, window: self.window.at(self.now, self.link) }
    }
}

/// The resolution of telemetry.
pub(crate) const TELEMETRY_UNIT: Parameter = Parameter {
    name: "telemetry_unit",
    kind: ParameterKind::Count(0, 1000),
    default: ParameterDefault::Value("0", "our choice: exact numbers"),
    meaning: "Rounds telemetry down to whole units, as a format with few bits does: this many times 128 B of bytes sent \
         and 80 B of queue, and 1 ns; 0 for exact numbers.",
};

/// A stamp in whole units of so many times the basic ones.
pub(crate) fn rounded(stamp: Stamp, unit: u64) -> Stamp {
    if unit == 0 {
        return stamp;
    }
    let down = |value: u64, step: u64| value / step * step;
    Stamp {
        at: Time::from_picos(down(stamp.at.as_picos(), 1000)),
        queue: Bytes::new(down(stamp.queue.get(), 80 * unit)),
        sent: Bytes::new(down(stamp.sent.get(), 128 * unit)),
        rate: stamp.rate,
    }
}

/// Returns whether stamps are of the same links as earlier ones, and later.
pub(crate) fn continues(before: impl ExactSizeIterator<Item = Stamp>, now: &[Stamp]) -> bool {
    before.len() == now.len()
        && before
            .zip(now)
            .all(|(last, stamp)| last.rate == stamp.rate && last.at <= stamp.at && last.sent <= stamp.sent)
}

/// The round trip without the wait at the adapter, if that is known; else with it.
pub(crate) fn network_round_trip(round_trip: Span, path: &PathReport) -> Span {
    if path.network_round_trip > Span::ZERO { path.network_round_trip } else { round_trip }
}

/// Bytes that a rate sends in so many seconds, at least one.
pub(crate) fn bytes_in(rate: f64, seconds: f64) -> Bytes {
    Bytes::new(((rate * seconds / 8.0) as u64).max(1))
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
        let span = 8e-6;
        assert_eq!(WindowBound::None.at(1e9, 100e9, span), None);
        assert_eq!(WindowBound::Fixed.at(1e9, 100e9, span), Some(Bytes::new(100_000)));
        assert_eq!(WindowBound::Variable.at(1e9, 100e9, span), Some(Bytes::new(1000)));
        assert_eq!(WindowBound::Variable.at(1.0, 100e9, span), Some(Bytes::new(1)));
    }
}
