//! NSCC, the network-signalled congestion control of Ultra Ethernet: a window that follows marks and queueing delay.
//!
//! Read from public code, the class `UecSrc` of htsim (`uec.cpp`), which implements the specification UEC 1.0; the text of
//! the specification was not at hand. Each acknowledgement falls into one of four cases: unmarked with a delay above the
//! target, a fair increase; unmarked below it, an increase in proportion to the distance; marked above it, a decrease by
//! the average delay, once per round trip; marked below it, nothing but another path. After a trimmed frame or a very
//! long delay the window becomes what the flow achieved in the last round (*quick adapt*).

use crate::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind};
use crate::path::{bits, network_round_trip, seconds};
use crate::pulling::{self, Demand, FirstWindow, Learns, Pulling, Spray};
use crate::{Adapter, Allowance, Feedback, LossSignal, ProtocolInfo, Reaction, ReactionPoint};
use units::{Bytes, Span, Time};

const CODE: &str = "htsim, uec.cpp: initNsccParams";

pub(crate) const INFO: ProtocolInfo = ProtocolInfo {
    name: "nscc",
    summary: "NSCC of Ultra Ethernet: a window by marks, queueing delay and trimmed frames, over all paths",
    parameters: &[
        Parameter {
            name: "target_delay",
            kind: ParameterKind::Time,
            default: ParameterDefault::Absent("3/4 of the round trip on the unloaded path"),
            meaning: "Queueing delay above which marks reduce the window.",
        },
        Parameter {
            name: "max_window",
            kind: ParameterKind::Number(0.1, 100.0),
            default: ParameterDefault::Value("1.5", "htsim, uec.cpp: setMaxWnd in initNscc"),
            meaning: "Largest window, and that of the start, in bandwidth-delay products of the path.",
        },
        Parameter {
            name: "gamma",
            kind: ParameterKind::Number(0.0, 1.0),
            default: ParameterDefault::Value("0.8", CODE),
            meaning: "Weight of the excess delay in a decrease, which at most halves the window.",
        },
        Parameter {
            name: "delay_weight",
            kind: ParameterKind::Number(0.0, 1.0),
            default: ParameterDefault::Value("0.0125", CODE),
            meaning: "Weight of a new sample in the average delay.",
        },
        Parameter {
            name: "quick_adapt_gate",
            kind: ParameterKind::Count(0, 30),
            default: ParameterDefault::Value("3", CODE),
            meaning: "Quick adapt applies if a round achieved less than the largest window divided by 2 to this power.",
        },
        Parameter {
            name: "quick_adapt",
            kind: ParameterKind::Flag,
            default: ParameterDefault::Value("true", "htsim, uec.cpp: _disable_quick_adapt is false"),
            meaning: "Whether the window falls to the acknowledged bytes of a round after a trimmed frame or a long \
                      delay.",
        },
        pulling::timeout("100us", "htsim, uec.h: DEFAULT_UEC_RTO_MIN"),
        pulling::PATHS,
    ],
    presets: &[],
    acknowledged: true,
    build: |values| {
        if values.time("timeout") == Span::ZERO {
            return Err(Invalid::new("timeout", "a timeout of zero", "give a time above the round trip"));
        }
        Ok(Reaction::Nscc(Box::new(Nscc {
            target: values.maybe_time("target_delay").map(seconds),
            timeout: values.time("timeout"),
            most: values.number("max_window"),
            gamma: values.number("gamma"),
            delay_weight: values.number("delay_weight"),
            gate: values.count("quick_adapt_gate") as u32,
            adapts: values.flag("quick_adapt"),
            ..Nscc::idle(Spray::new(values))
        })))
    },
};

/// See the module. Times are in seconds, sizes in bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Nscc {
    target: Option<f64>,
    timeout: Span,
    /// Largest window: a multiple of the bandwidth-delay product, then bytes.
    most: f64,
    gamma: f64,
    delay_weight: f64,
    gate: u32,
    adapts: bool,
    spray: Spray,
    frame: f64,
    base_rtt: f64,
    target_delay: f64,
    /// Factors of the proportional, the fair, the fast and the constant increase.
    alpha: f64,
    fair: f64,
    fast: f64,
    eta: f64,
    window: f64,
    average_delay: f64,
    /// What the next adjustment adds, times the window, and the bytes since the last one.
    increase: f64,
    received: f64,
    adjusted: Option<Time>,
    decreased: Option<Time>,
    /// Bytes acknowledged in a row with almost no delay, and whether the increase is fast.
    undelayed: f64,
    fast_now: bool,
    /// Of quick adapt: bytes achieved in this round, its end, whether a frame was trimmed, and the bytes on whose replies
    /// it does not react.
    achieved: f64,
    round_end: Option<Time>,
    trimmed: bool,
    to_ignore: f64,
    ignored: f64,
    in_flight: f64,
}

units::state!(struct Nscc { fixed: target, timeout, most, gamma, delay_weight, gate, adapts, frame, base_rtt, target_delay, alpha, fair, fast, eta; plain: window, average_delay, increase, received, adjusted, decreased, undelayed, fast_now, achieved, round_end, trimmed, to_ignore, ignored, in_flight; parts: spray; });

/// The network for which the constants are stated: 100 Gb/s and 12 us.
const REFERENCE_RTT: f64 = 12e-6;
const REFERENCE_PRODUCT: f64 = REFERENCE_RTT * 100e9 / 8.0;
/// Delay below which the increase is fast.
const NO_DELAY: f64 = 1e-6;

impl Nscc {
    /// Without a link, and with none of the other parameters.
    fn idle(spray: Spray) -> Nscc {
        Nscc {
            target: None,
            timeout: Span::ZERO,
            most: 0.0,
            gamma: 0.0,
            delay_weight: 0.0,
            gate: 0,
            adapts: true,
            spray,
            frame: 0.0,
            base_rtt: 0.0,
            target_delay: 0.0,
            alpha: 0.0,
            fair: 0.0,
            fast: 0.0,
            eta: 0.0,
            window: 0.0,
            average_delay: 0.0,
            increase: 0.0,
            received: 0.0,
            adjusted: None,
            decreased: None,
            undelayed: 0.0,
            fast_now: false,
            achieved: 0.0,
            round_end: None,
            trimmed: false,
            to_ignore: 0.0,
            ignored: 0.0,
            in_flight: 0.0,
        }
    }

    fn bound(&mut self) {
        self.window = self.window.max(self.frame).min(self.most.max(self.frame));
    }

    /// Takes a sample into the average delay. A long delay of an unmarked frame counts as a quarter of the round trip.
    fn sample(&mut self, delay: f64, marked: bool) {
        let sample = if !marked && delay > self.target_delay { self.base_rtt / 4.0 } else { delay };
        self.average_delay += self.delay_weight * (sample - self.average_delay);
    }

    /// Sets the window to what the last round achieved, if it must be. Returns whether the reply has no other effect.
    fn quick_adapt(&mut self, now: Time, lost: bool, marked: bool, delay: f64) -> bool {
        if !self.adapts {
            return false;
        }
        let mut done = false;
        if self.ignored < self.to_ignore && marked {
            done = true;
        } else if self.round_end.is_none_or(|end| now > end) {
            let congested = self.trimmed || lost || delay > 4.0 * self.target_delay;
            let little = self.achieved < self.most / f64::from(1_u32 << self.gate);
            if self.round_end.is_some() && congested && little {
                self.window = self.achieved.max(self.frame);
                (self.to_ignore, self.ignored) = (self.in_flight, 0.0);
                self.trimmed = false;
                done = true;
            }
            self.achieved = 0.0;
            let round = (self.base_rtt + self.target_delay) * 1e12;
            self.round_end = Some(now.saturating_add(Span::from_picos(round as u64)));
        }
        if done {
            (self.increase, self.received) = (0.0, 0.0);
        }
        done
    }

    fn since(now: Time, then: Option<Time>) -> f64 {
        then.map_or(f64::INFINITY, |then| seconds(now.saturating_since(then)))
    }

    fn on_acknowledgement(&mut self, now: Time, bytes: f64, marked: bool, delay: f64) {
        self.achieved += bytes;
        self.received += bytes;
        self.ignored += bytes;
        self.in_flight = (self.in_flight - bytes).max(0.0);
        self.sample(delay, marked);
        if self.quick_adapt(now, false, marked, delay) {
            return;
        }
        match (marked, delay >= self.target_delay) {
            (false, true) => self.increase += self.fair * bytes,
            (false, false) => self.increase_in_proportion(bytes, delay),
            (true, true) => self.decrease(now),
            (true, false) => {}
        }
        self.bound();
        let due = Nscc::since(now, self.adjusted);
        if self.received > 8.0 * self.frame || due > self.base_rtt {
            self.window += self.increase / self.window;
            if due >= self.base_rtt {
                self.window += self.eta;
                self.adjusted = Some(now);
            }
            (self.increase, self.received) = (0.0, 0.0);
        }
        self.bound();
    }

    fn increase_in_proportion(&mut self, bytes: f64, delay: f64) {
        if delay < NO_DELAY {
            self.undelayed += bytes;
            self.fast_now |= self.undelayed > self.window;
        } else {
            (self.undelayed, self.fast_now) = (0.0, false);
        }
        if self.fast_now {
            self.window += bytes * self.fast;
        } else {
            self.increase += self.alpha * bytes * (self.target_delay - delay);
        }
    }

    fn decrease(&mut self, now: Time) {
        (self.undelayed, self.fast_now) = (0.0, false);
        if self.average_delay > self.target_delay && Nscc::since(now, self.decreased) > self.base_rtt {
            let excess = (self.average_delay - self.target_delay) / self.average_delay;
            self.window *= (1.0 - self.gamma * excess).max(0.5);
            self.decreased = Some(now);
        }
    }
}

impl ReactionPoint for Nscc {
    fn attach(&mut self, adapter: &Adapter) -> Result<(), Invalid> {
        self.spray.attach(adapter);
        self.frame = adapter.frame.get() as f64;
        self.base_rtt = seconds(adapter.round_trip);
        self.target_delay = self.target.unwrap_or(0.75 * self.base_rtt);
        if self.target_delay <= 0.0 {
            let help = "give target_delay, or a path with a known round trip";
            return Err(Invalid::new("target_delay", "the target delay is zero", help));
        }
        let product = self.base_rtt * bits(adapter.link) / 8.0;
        let scale = product / REFERENCE_PRODUCT;
        self.alpha = 4.0 * self.frame * scale * (self.target_delay / REFERENCE_RTT) / self.target_delay;
        self.fair = 5.0 * self.frame * scale;
        self.eta = 0.15 * self.frame * scale;
        self.fast = 0.25 * scale;
        self.most *= product;
        self.window = self.most;
        self.bound();
        Ok(())
    }
    fn on_sent(&mut self, _now: Time, len: Bytes) {
        self.in_flight += len.get() as f64;
    }
    fn on_feedback(&mut self, now: Time, feedback: &Feedback) {
        let Feedback::Acknowledgement { bytes, marked, round_trip, path } = *feedback else { return };
        if bytes == Bytes::ZERO {
            return;
        }
        let delay = (seconds(network_round_trip(round_trip, &path)) - self.base_rtt).max(0.0);
        self.on_acknowledgement(now, bytes.get() as f64, marked, delay);
    }
    fn on_trimmed(&mut self, now: Time, bytes: Bytes) {
        let bytes = bytes.get() as f64;
        self.ignored += bytes;
        self.sample(self.base_rtt, true);
        self.trimmed = true;
        if !self.quick_adapt(now, true, true, 0.0) {
            self.window -= bytes;
            self.bound();
        }
        self.in_flight = (self.in_flight - bytes).max(0.0);
    }
    fn on_loss(&mut self, _now: Time, signal: LossSignal) {
        // Of a trimmed frame it learns by `on_trimmed`.
        if signal == LossSignal::Timeout {
            self.window -= self.frame;
            self.bound();
            // Others may have timed out with it; no more than the window is in flight.
            self.in_flight = (self.in_flight - self.frame).clamp(0.0, self.window);
        }
    }
    fn pulling(&self) -> Option<Pulling> {
        let (window, demand) = (FirstWindow::PathAndQueue, Demand::Nothing);
        let learns = Learns::Frames;
        Some(Pulling { window, rate: 1.0, frames: 1, timeout: self.timeout, demand, advance: 0, learns })
    }
    fn on_deadline(&mut self, _now: Time) {}
    fn deadline(&self) -> Option<Time> {
        None
    }
    fn allowance(&self) -> Allowance {
        Allowance { rate: None, window: Some(Bytes::new(self.window as u64)) }
    }
    fn entropy(&mut self) -> Option<u32> {
        Some(self.spray.next())
    }
    fn chooses_entropy(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PathReport;
    use crate::parameter::{Value, Values};
    use units::Rate;

    /// The reference network: 100 Gb/s and 12 us are 150 kB; the target is 9 us. Frames of 4000 B.
    fn attached(set: &[(&'static str, Value)]) -> Reaction {
        let mut values = Values::defaults(INFO.parameters);
        set.iter().for_each(|(name, value)| values.set(name, value.clone()));
        let mut nscc = (INFO.build)(&values).unwrap();
        let adapter = Adapter::of(Rate::from_gigabits(100), Bytes::new(4000));
        nscc.attach(&Adapter { round_trip: Span::from_micros(12), ..adapter }).unwrap();
        nscc
    }

    fn window(nscc: &Reaction) -> u64 {
        nscc.allowance().window.unwrap().get()
    }

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    /// A frame is acknowledged with a queueing delay of so many microseconds.
    fn acknowledge(nscc: &mut Reaction, now: Time, delay: u64, marked: bool) {
        let path = PathReport { network_round_trip: Span::from_micros(12 + delay), ..PathReport::default() };
        let round_trip = path.network_round_trip;
        nscc.on_feedback(now, &Feedback::Acknowledgement { bytes: Bytes::new(4000), marked, round_trip, path });
    }

    #[test]
    fn it_starts_with_one_and_a_half_products_and_is_limited_by_them() {
        let mut nscc = attached(&[]);
        assert_eq!(window(&nscc), 225_000);
        (0..1000).for_each(|step| acknowledge(&mut nscc, at(step), 0, false));
        assert_eq!(window(&nscc), 225_000);
        assert_eq!(attached(&[("max_window", Value::Number(1.0))]).allowance().window, Some(Bytes::new(150_000)));
    }

    #[test]
    fn marks_reduce_the_window_by_the_average_delay_once_per_round_trip() {
        let mut nscc = attached(&[("delay_weight", Value::Number(1.0)), ("quick_adapt", Value::Flag(false))]);
        acknowledge(&mut nscc, at(100), 18, true);
        // 1 - 0.8 (18 - 9) / 18, and the constant increase of 0.15 frames.
        assert_eq!(window(&nscc), (225_000.0 * 0.6) as u64 + 600);
        acknowledge(&mut nscc, at(105), 18, true);
        assert_eq!(window(&nscc), 135_600);
        acknowledge(&mut nscc, at(120), 1000, true);
        // At most half.
        assert_eq!(window(&nscc), 135_600 / 2 + 600);
        // A mark with little delay changes nothing.
        acknowledge(&mut nscc, at(121), 2, true);
        assert_eq!(window(&nscc), 68_400);
    }

    #[test]
    fn without_marks_the_window_grows_in_proportion_below_the_target_and_by_a_share_above_it() {
        let mut nscc = attached(&[("quick_adapt", Value::Flag(false)), ("delay_weight", Value::Number(1.0))]);
        acknowledge(&mut nscc, at(1), 1000, true);
        let before = window(&nscc);
        assert_eq!(before, 112_500 + 600);
        // Nine frames with 3 us: alpha is 4 frames per 12 us, so each byte counts 2 frames.
        (0..9).for_each(|step| acknowledge(&mut nscc, at(2 + step), 3, false));
        assert_eq!(window(&nscc), before + 9 * 4000 * 8000 / before);
        let before = window(&nscc);
        // Above the target: 5 frames for each byte. The first frame is after a round trip, so it counts at once, with the
        // constant increase; the next eight are not more than eight.
        (0..9).for_each(|step| acknowledge(&mut nscc, at(20 + step), 20, false));
        let grown = window(&nscc) - before;
        assert!(grown.abs_diff(600 + 4000 * 20_000 / before) <= 1, "{grown}");
    }

    #[test]
    fn trimmed_frames_shrink_the_window_to_what_was_achieved() {
        let mut nscc = attached(&[]);
        (0..56).for_each(|_| nscc.on_sent(at(0), Bytes::new(4000)));
        acknowledge(&mut nscc, at(1), 0, false);
        // Within a round each trimmed frame takes its size from the window.
        nscc.on_trimmed(at(2), Bytes::new(4000));
        assert_eq!(window(&nscc), 221_000);
        acknowledge(&mut nscc, at(3), 0, false);
        // After a round of 21 us in which one more frame arrived.
        nscc.on_trimmed(at(30), Bytes::new(4000));
        assert_eq!(window(&nscc), 4000);
        // What was in flight then is not counted again.
        acknowledge(&mut nscc, at(31), 30, true);
        nscc.on_trimmed(at(32), Bytes::new(4000));
        assert_eq!(window(&nscc), 4000);
    }

    #[test]
    fn a_target_of_zero_is_refused() {
        let mut nscc = (INFO.build)(&Values::defaults(INFO.parameters)).unwrap();
        let adapter = Adapter::of(Rate::from_gigabits(100), Bytes::new(4000));
        assert_eq!(nscc.attach(&Adapter { round_trip: Span::ZERO, ..adapter }).unwrap_err().parameter, "target_delay");
    }
}
