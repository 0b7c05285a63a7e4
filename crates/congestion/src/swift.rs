//! Swift (Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter", SIGCOMM 2020): a
//! window that grows while the delay is below a target and shrinks in proportion to the excess.
//!
//! Two windows are kept, one for the delay in the fabric and one for the delay in the host; the smaller one counts. The
//! delay in the host is what the destination echoes: the time between the arrival of a frame at its adapter and the
//! acknowledgement. A frame that waits at its source, for the window or for pacing, is delayed by neither. The fabric's
//! target grows with the number of hops, and with 1 / sqrt(window), so that many flows do not fight for one target. A
//! window of less than one frame is paced: one frame per round trip divided by the window.

use crate::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Values};
use crate::path::{network_round_trip, seconds};
use crate::{Adapter, Allowance, Feedback, LossSignal, ProtocolInfo, Reaction, ReactionPoint};
use units::{Bytes, Rate, Span, Time};

const GUESS: &str = "csg-htsim, swift.cpp: a guess there; no text of the paper found";

const fn number(
    name: &'static str,
    (least, most): (f64, f64),
    default: &'static str,
    source: &'static str,
    meaning: &'static str,
) -> Parameter {
    let default = ParameterDefault::Value(default, source);
    Parameter { name, kind: ParameterKind::Number(least, most), default, meaning }
}

const fn time(name: &'static str, default: &'static str, source: &'static str, meaning: &'static str) -> Parameter {
    Parameter { name, kind: ParameterKind::Time, default: ParameterDefault::Value(default, source), meaning }
}

pub(crate) const INFO: ProtocolInfo = ProtocolInfo {
    name: "swift",
    summary: "Swift: the window keeps the delay of the fabric, and that of the host, at a target",
    parameters: &[
        time("base_target", "20us", GUESS, "Target delay of the fabric without hops and with a large window."),
        time(
            "hop_target",
            "3us",
            "csg-htsim, swift.cpp: base_target / 6.55, rounded; a guess there",
            "Addition to the target for each hop.",
        ),
        time("host_target", "50us", "our choice; no text found", "Target delay of the host."),
        time("flow_range", "100us", GUESS, "Largest addition to the target for small windows."),
        number("flow_min_window", (0.001, 1e6), "0.1", GUESS, "Window, in frames, at which this addition is largest."),
        number("flow_max_window", (0.001, 1e6), "100", GUESS, "Window, in frames, from which there is no addition."),
        number("additive", (0.0, 1000.0), "1", GUESS, "Additive increase, in frames per round trip."),
        number("beta", (0.0, 1.0), "0.8", GUESS, "Factor of the excess delay in a decrease."),
        number("max_decrease", (0.0, 1.0), "0.5", GUESS, "Largest fraction of a decrease."),
        number(
            "min_window",
            (0.0001, 1e6),
            "0.001",
            "our choice; csg-htsim has 10 bytes",
            "Smallest window, in frames.",
        ),
        number("max_window", (0.001, 1e6), "1000", GUESS, "Largest window, in frames."),
        number("initial_window", (0.001, 1e6), "10", "our choice: RFC 6928", "Initial window, in frames."),
        Parameter {
            name: "reset_after",
            kind: ParameterKind::Count(1, 1000),
            default: ParameterDefault::Value("5", GUESS),
            meaning: "Number of timeouts in a row after which the window becomes the smallest.",
        },
    ],
    presets: &[],
    acknowledged: true,
    build: Swift::build,
};

/// The reaction point of Swift.
#[derive(Clone, Copy, Debug)]
pub struct Swift {
    /// Times in seconds, windows in frames.
    base: f64,
    hop: f64,
    host: f64,
    range: f64,
    /// The addition for small windows is `alpha / sqrt(window) - beta_flow`.
    alpha: f64,
    beta_flow: f64,
    additive: f64,
    beta: f64,
    max_decrease: f64,
    min: f64,
    max: f64,
    reset_after: u32,
    fabric: f64,
    endpoint: f64,
    /// When each window was last decreased, and the smoothed round-trip time.
    decreased: [Option<Time>; 2],
    round_trip: f64,
    timeouts: u32,
    frame: f64,
}

units::state!(struct Swift { fixed: base, hop, host, range, alpha, beta_flow, additive, beta, max_decrease, min, max, reset_after, frame; plain: fabric, endpoint, decreased, round_trip, timeouts; });

impl Swift {
    /// Builds the reaction point from its parameters.
    ///
    /// # Errors
    /// Fails if the ranges of windows are empty.
    pub fn build(values: &Values) -> Result<Reaction, Invalid> {
        let [flow_min, flow_max] = ["flow_min_window", "flow_max_window"].map(|name| values.number(name));
        if flow_min >= flow_max {
            return Err(Invalid::new("flow_min_window", "not below `flow_max_window`", "give a smaller number"));
        }
        let [min, max] = ["min_window", "max_window"].map(|name| values.number(name));
        if min > max {
            return Err(Invalid::new("min_window", "above `max_window`", "give a smaller number"));
        }
        let range = seconds(values.time("flow_range"));
        let alpha = range / (1.0 / flow_min.sqrt() - 1.0 / flow_max.sqrt());
        let initial = values.number("initial_window").clamp(min, max);
        Ok(Reaction::Swift(Box::new(Swift {
            base: seconds(values.time("base_target")),
            hop: seconds(values.time("hop_target")),
            host: seconds(values.time("host_target")),
            range,
            alpha,
            beta_flow: alpha / flow_max.sqrt(),
            additive: values.number("additive"),
            beta: values.number("beta"),
            max_decrease: values.number("max_decrease"),
            min,
            max,
            reset_after: values.count("reset_after") as u32,
            fabric: initial,
            endpoint: initial,
            decreased: [None; 2],
            round_trip: 0.0,
            timeouts: 0,
            frame: 1.0,
        })))
    }

    /// Returns the target delay of the fabric at the current window, for a path of that many hops.
    #[must_use]
    pub fn target(&self, hops: u8) -> Span {
        Span::from_picos((self.fabric_target(hops) * 1e12) as u64)
    }

    fn fabric_target(&self, hops: u8) -> f64 {
        let flows = (self.alpha / self.window().sqrt() - self.beta_flow).clamp(0.0, self.range);
        self.base + f64::from(hops) * self.hop + flows
    }

    fn window(&self) -> f64 {
        self.fabric.min(self.endpoint)
    }

    /// A window after an acknowledgement of so many frames; and whether it was decreased.
    fn adjusted(&self, window: f64, delay: f64, target: f64, frames: f64, may_fall: bool) -> (f64, bool) {
        let (window, falls) = match delay < target {
            true if window >= 1.0 => (window + self.additive * frames / window, false),
            true => (window + self.additive * frames, false),
            false if may_fall => {
                let factor = 1.0 - self.beta * (delay - target) / delay;
                (window * factor.max(1.0 - self.max_decrease), true)
            }
            false => (window, false),
        };
        (window.clamp(self.min, self.max), falls)
    }

    fn may_fall(&self, which: usize, now: Time) -> bool {
        self.decreased[which].is_none_or(|last| seconds(now - last) >= self.round_trip)
    }

    fn fall_by_most(&mut self, now: Time) {
        if self.may_fall(0, now) {
            self.fabric = (self.fabric * (1.0 - self.max_decrease)).max(self.min);
            self.endpoint = (self.endpoint * (1.0 - self.max_decrease)).max(self.min);
            self.decreased = [Some(now); 2];
        }
    }
}

impl ReactionPoint for Swift {
    fn attach(&mut self, adapter: &Adapter) -> Result<(), Invalid> {
        self.frame = adapter.frame.get() as f64;
        Ok(())
    }

    fn on_sent(&mut self, _now: Time, _len: Bytes) {}

    fn on_loss(&mut self, now: Time, signal: LossSignal) {
        match signal {
            LossSignal::Detected => self.fall_by_most(now),
            LossSignal::Timeout => {
                self.timeouts += 1;
                if self.timeouts >= self.reset_after {
                    (self.fabric, self.endpoint) = (self.min, self.min);
                } else {
                    self.fall_by_most(now);
                }
            }
        }
    }

    fn on_feedback(&mut self, now: Time, feedback: &Feedback) {
        let Feedback::Acknowledgement { bytes, round_trip, path, .. } = *feedback else { return };
        self.timeouts = 0;
        let total = seconds(network_round_trip(round_trip, &path));
        let waited = seconds(path.host_delay).min(total);
        let delay = total - waited;
        let may_fall = [0, 1].map(|which| self.may_fall(which, now));
        self.round_trip = if self.round_trip == 0.0 { total } else { self.round_trip * 0.875 + total * 0.125 };
        let frames = bytes.get() as f64 / self.frame;
        let target = self.fabric_target(path.hops);
        let (fabric, fell) = self.adjusted(self.fabric, delay, target, frames, may_fall[0]);
        let (endpoint, endpoint_fell) = self.adjusted(self.endpoint, waited, self.host, frames, may_fall[1]);
        (self.fabric, self.endpoint) = (fabric, endpoint);
        for (which, fell) in [fell, endpoint_fell].into_iter().enumerate() {
            if fell {
                self.decreased[which] = Some(now);
            }
        }
    }

    fn wants_host_delay(&self) -> bool {
        true
    }

    fn on_deadline(&mut self, _now: Time) {}

    fn deadline(&self) -> Option<Time> {
        None
    }

    fn allowance(&self) -> Allowance {
        let window = self.window();
        if window >= 1.0 || self.round_trip == 0.0 {
            return Allowance { rate: None, window: Some(Bytes::new((window.max(1.0) * self.frame) as u64)) };
        }
        let rate = window * self.frame * 8.0 / self.round_trip;
        Allowance {
            rate: Some(Rate::from_bits_per_sec(((rate + 0.5) as u64).max(2))),
            window: Some(Bytes::new(self.frame as u64)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PathReport;

    fn built() -> Swift {
        let Ok(Reaction::Swift(mut source)) = Swift::build(&Values::defaults(INFO.parameters)) else {
            panic!("its defaults are valid")
        };
        source.attach(&Adapter::of(Rate::from_gigabits(100), Bytes::new(1000))).unwrap();
        *source
    }

    /// An acknowledgement after so many microseconds in the fabric and in the destination's host. Before that, the frame
    /// waited at its source for 3 ms.
    fn acknowledge(source: &mut Swift, at: u64, fabric: u64, host: u64) {
        let [network_round_trip, host_delay] = [fabric + host, host].map(Span::from_micros);
        let path = PathReport { network_round_trip, host_delay, hops: 4, ..PathReport::default() };
        let (bytes, round_trip) = (Bytes::new(1000), network_round_trip + Span::from_millis(3));
        let feedback = Feedback::Acknowledgement { bytes, marked: false, round_trip, path };
        source.on_feedback(Time::ZERO + Span::from_micros(at), &feedback);
    }

    #[test]
    fn the_target_grows_with_hops_and_with_small_windows() {
        let mut source = built();
        (source.fabric, source.endpoint) = (100.0, 100.0);
        assert_eq!(source.target(0), Span::from_micros(20));
        assert_eq!(source.target(4), Span::from_micros(32));
        source.fabric = 0.1;
        let picos = source.target(0).as_picos();
        assert!((119_999_999..=120_000_001).contains(&picos), "{picos}");
        source.fabric = 0.01;
        assert_eq!(source.target(0), Span::from_micros(120), "the range is the limit");
    }

    #[test]
    fn below_the_target_a_round_of_acknowledgements_adds_one_frame() {
        let mut source = built();
        for at in 0..10 {
            acknowledge(&mut source, at, 10, 0);
        }
        assert!((source.window() - 10.95).abs() < 0.05, "{}", source.window());
    }

    #[test]
    fn above_the_target_the_window_falls_by_the_excess_and_once_per_round_trip() {
        let mut source = built();
        (source.fabric, source.endpoint) = (200.0, 1000.0);
        acknowledge(&mut source, 0, 64, 0);
        // A target of 32 us: half of the delay is excess.
        assert!((source.fabric - 200.0 * 0.6).abs() < 1e-9, "{}", source.fabric);
        acknowledge(&mut source, 10, 64, 0);
        assert!((source.fabric - 200.0 * 0.6).abs() < 1e-9);
        acknowledge(&mut source, 64, 640, 0);
        assert!((source.fabric - 200.0 * 0.6 * 0.5).abs() < 1e-9, "never by more than half");
    }

    #[test]
    fn a_congested_host_limits_the_flow_though_the_fabric_is_idle() {
        let mut source = built();
        acknowledge(&mut source, 0, 10, 100);
        assert!(source.endpoint < 10.0 && source.fabric > 10.0);
        assert!((source.window() - 10.0 * (1.0 - 0.8 * 0.5)).abs() < 1e-9);
        assert!(source.wants_host_delay());
    }

    #[test]
    fn less_than_one_frame_is_paced() {
        let mut source = built();
        (source.fabric, source.round_trip) = (0.25, 40e-6);
        // A frame of 8000 bits every 160 us: 50 Mb/s.
        let allowance = source.allowance();
        assert_eq!(allowance.rate, Some(Rate::from_megabits(50)));
        assert_eq!(allowance.window, Some(Bytes::new(1000)));
    }

    #[test]
    fn timeouts_in_a_row_reset_the_window() {
        let mut source = built();
        acknowledge(&mut source, 0, 20, 0);
        (source.fabric, source.endpoint) = (10.0, 10.0);
        for _ in 0..4 {
            source.on_loss(Time::ZERO, LossSignal::Timeout);
        }
        assert_eq!(source.window(), 5.0, "within a round trip they count once");
        source.on_loss(Time::ZERO, LossSignal::Timeout);
        assert_eq!(source.window(), 0.001);
    }
}
