//! PowerTCP and theta-PowerTCP (Addanki et al., "PowerTCP: Pushing the Performance Limits of Datacenter Networks", NSDI 2022):
//! a source reacts to power, the product of what enters a queue (current) and of what waits and is on its way (voltage).
//!
//! Power tells both how long a queue is and how fast it grows, so that a source reacts before a queue is long, and stops
//! reacting when it drains. PowerTCP measures power by telemetry. Theta-PowerTCP derives it from round-trip times: their
//! length and their gradient.

use crate::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Preset, Values};
use crate::path::{
    BASE_RTT, BoundedRate, REWAITS, Round, TELEMETRY_UNIT, WINDOW_EXCESS, bits, continues, gap, network_round_trip,
    rounded, seconds, window_parameter,
};
use crate::{Adapter, Allowance, Feedback, Pacing, ProtocolInfo, Reaction, ReactionPoint, Stamp};
use units::{Bytes, Time};

const FORK: &str = "the ns-3 implementation that its authors publish";

const fn gamma(default: &'static str) -> Parameter {
    Parameter {
        name: "gamma",
        kind: ParameterKind::Number(0.0, 1.0),
        default: ParameterDefault::Value(default, FORK),
        meaning: "Weight of the new rate against the present one.",
    }
}
const ADDITIVE: Parameter = Parameter {
    name: "ai_rate",
    kind: ParameterKind::Rate,
    default: ParameterDefault::Value("150Mb/s", FORK),
    meaning: "Additive increase; the paper's beta divided by the base round trip.",
};
const MIN_RATE: Parameter = Parameter {
    name: "min_rate",
    kind: ParameterKind::Rate,
    default: ParameterDefault::Value("100Mb/s", "HPCC simulator, MIN_RATE"),
    meaning: "Minimum rate.",
};
const fn eta(default: &'static str, source: &'static str) -> Parameter {
    Parameter {
        name: "eta",
        kind: ParameterKind::Number(0.01, 10.0),
        default: ParameterDefault::Value(default, source),
        meaning: "Power that is aimed at, relative to that of a busy link without a queue.",
    }
}
const fn least_current(default: &'static str, source: &'static str) -> Parameter {
    Parameter {
        name: "least_current",
        kind: ParameterKind::Number(0.0, 1.0),
        default: ParameterDefault::Value(default, source),
        meaning: "Smallest current relative to the link's rate: a queue that drains does not count as an idle link.",
    }
}
const SMOOTHED_FROM: Parameter = Parameter {
    name: "smoothed_from",
    kind: ParameterKind::Choice(&[
        ("rate", "the present rate"),
        ("reference", "the rate at the end of the last round trip"),
    ]),
    default: ParameterDefault::Value("rate", "Addanki et al. 2022: the window of the last acknowledgement"),
    meaning: "What the new rate is weighed against.",
};
const LEARN_BASE_RTT: Parameter = Parameter {
    name: "learn_base_rtt",
    kind: ParameterKind::Flag,
    default: ParameterDefault::Value("false", "our choice: the base round trip is known"),
    meaning: "Whether a shorter round-trip time than `base_rtt` replaces it as the unit of power. The window keeps it.",
};
const SIMULATOR: &str = "CC_MODE 3 of the fork of the public HPCC simulator that the authors of PowerTCP publish";
const WINDOW: Parameter = window_parameter("variable", "Addanki et al. 2022: PowerTCP controls the window");

pub(crate) const POWER: ProtocolInfo = ProtocolInfo {
    name: "powertcp",
    summary: "PowerTCP: the rate follows the power of the path's queues, by in-band telemetry",
    parameters: &[
        BASE_RTT,
        gamma("0.9"),
        ADDITIVE,
        eta("0.95", "HPCC simulator, U_TARGET"),
        MIN_RATE,
        WINDOW,
        WINDOW_EXCESS,
        REWAITS,
        least_current("0.5", "the implementation for TCP that its authors publish"),
        SMOOTHED_FROM,
        TELEMETRY_UNIT,
    ],
    presets: &[Preset {
        name: "hpcc-simulator",
        meaning: SIMULATOR,
        values: &[
            ("window_excess", "true", "HPCC simulator: a frame may start within the window"),
            (
                "rewaits",
                "true",
                "HPCC simulator, ChangeRate: the time of the next frame is moved, also if it has passed",
            ),
            ("least_current", "0", "the fork of the HPCC simulator: no limit for telemetry"),
            ("smoothed_from", "reference", "the fork of the HPCC simulator"),
            ("telemetry_unit", "1", "HPCC simulator, INT_MULTI"),
        ],
    }],
    acknowledged: true,
    build: |values| PowerTcp::build(values, false),
};

pub(crate) const THETA: ProtocolInfo = ProtocolInfo {
    name: "theta-powertcp",
    summary: "theta-PowerTCP: the rate follows power as round-trip times and their gradient show it",
    parameters: &[
        BASE_RTT,
        gamma("0.7"),
        ADDITIVE,
        eta("1.05", FORK),
        MIN_RATE,
        WINDOW,
        WINDOW_EXCESS,
        REWAITS,
        least_current("0.5", FORK),
        SMOOTHED_FROM,
        LEARN_BASE_RTT,
    ],
    presets: &[Preset {
        name: "hpcc-simulator",
        meaning: SIMULATOR,
        values: &[
            ("window_excess", "true", "HPCC simulator: a frame may start within the window"),
            (
                "rewaits",
                "true",
                "HPCC simulator, ChangeRate: the time of the next frame is moved, also if it has passed",
            ),
            ("smoothed_from", "reference", "the fork of the HPCC simulator"),
            ("learn_base_rtt", "true", "the fork of the HPCC simulator"),
        ],
    }],
    acknowledged: true,
    build: |values| PowerTcp::build(values, true),
};

/// The reaction point of PowerTCP and of theta-PowerTCP.
#[derive(Clone, Debug)]
pub struct PowerTcp {
    /// Whether power is derived from round-trip times.
    theta: bool,
    rate: BoundedRate,
    pacing: Pacing,
    gamma: f64,
    ai: f64,
    eta: f64,
    least_current: f64,
    from_reference: bool,
    telemetry_unit: u64,
    learns_base: bool,
    /// Round-trip time without queues, in seconds: the unit of power.
    base: f64,
    /// Rate at the end of the last round.
    reference: f64,
    /// Smoothed and normalised.
    power: f64,
    round: Round,
    hops: Vec<Stamp>,
    latest: Vec<Stamp>,
    /// Theta: the last acknowledgement, and its round-trip time in seconds.
    last: Option<(Time, f64)>,
}

units::state!(struct PowerTcp { fixed: theta, pacing, gamma, ai, eta, least_current, from_reference, telemetry_unit, learns_base; plain: base, reference, power, round, hops, latest, last; parts: rate; });

impl PowerTcp {
    fn build(values: &Values, theta: bool) -> Result<Reaction, Invalid> {
        Ok(Reaction::PowerTcp(Box::new(PowerTcp {
            theta,
            rate: BoundedRate::read(values),
            pacing: gap(values),
            gamma: values.number("gamma"),
            ai: bits(values.rate("ai_rate")),
            eta: values.number("eta"),
            least_current: values.number("least_current"),
            from_reference: values.choice("smoothed_from") == "reference",
            telemetry_unit: values.maybe_count("telemetry_unit").unwrap_or(0),
            learns_base: values.maybe_flag("learn_base_rtt").unwrap_or(false),
            base: 0.0,
            reference: 0.0,
            power: 1.0,
            round: Round::default(),
            hops: Vec::new(),
            latest: Vec::new(),
            last: None,
        })))
    }

    /// Returns the smoothed power, relative to that of a busy link without a queue.
    #[must_use]
    pub fn power(&self) -> f64 {
        self.power
    }

    /// The largest normalised power of the hops, and the time in seconds that it was measured over.
    fn by_telemetry(&mut self) -> Option<(f64, f64)> {
        // An acknowledgement without stamps tells nothing.
        if self.latest.is_empty() {
            return None;
        }
        let mut most = None;
        if continues(self.hops.iter().copied(), &self.latest) {
            let (round_trip, unit) = (self.base, self.telemetry_unit);
            // A switch of the authors counts what enters a queue: what has left it, and what waits.
            let entered =
                |stamp: &Stamp| rounded(Stamp { sent: stamp.sent + stamp.queue, ..*stamp }, unit).sent.bits() as f64;
            for (last, stamp) in self.hops.iter().zip(&self.latest) {
                let (before, now) = (rounded(*last, unit), rounded(*stamp, unit));
                let interval = seconds(now.at - before.at);
                if interval == 0.0 {
                    continue;
                }
                let rate = bits(stamp.rate);
                let current = ((entered(stamp) - entered(last)) / interval / rate).max(self.least_current);
                let stamp = now;
                let voltage = 1.0 + stamp.queue.bits() as f64 / (rate * round_trip);
                let power = current * voltage;
                // Where nothing entered, nothing is known.
                if power > most.map_or(0.0, |(highest, _)| highest) {
                    most = Some((power, interval));
                }
            }
        }
        std::mem::swap(&mut self.hops, &mut self.latest);
        most
    }

    /// The same from round-trip times.
    fn by_delay(&mut self, now: Time, round_trip: f64) -> Option<(f64, f64)> {
        if self.learns_base {
            self.base = self.base.min(round_trip);
        }
        let Some((at, before)) = self.last.replace((now, round_trip)) else {
            // The simulator takes the first round trip as one without a gradient.
            return self.learns_base.then(|| (round_trip / self.base, self.base));
        };
        let interval = seconds(now - at);
        if interval == 0.0 {
            return None;
        }
        let current = (1.0 + (round_trip - before) / interval).max(self.least_current);
        Some((current * round_trip / self.base, interval))
    }
}

impl ReactionPoint for PowerTcp {
    fn attach(&mut self, adapter: &Adapter) -> Result<(), Invalid> {
        self.rate.attach(adapter)?;
        self.reference = self.rate.link;
        self.rate.window.attach(adapter)?;
        self.base = seconds(self.rate.window.round_trip);
        Ok(())
    }

    fn on_sent(&mut self, _now: Time, _len: Bytes) {}

    fn on_telemetry(&mut self, _now: Time, stamps: &[Stamp]) {
        self.latest.clear();
        self.latest.extend_from_slice(stamps);
    }

    fn on_feedback(&mut self, now: Time, feedback: &Feedback) {
        let Feedback::Acknowledgement { round_trip, path, .. } = *feedback else { return };
        let commit = self.round.ends(&path);
        let measured = if self.theta {
            self.by_delay(now, seconds(network_round_trip(round_trip, &path)))
        } else {
            self.by_telemetry()
        };
        self.latest.clear();
        if let Some((power, interval)) = measured {
            let weight = interval.min(self.base) / self.base;
            self.power = (1.0 - weight) * self.power + weight * power;
            let before = if self.from_reference { self.reference } else { self.rate.now };
            let aimed = self.reference / (self.power / self.eta) + self.ai;
            self.rate.set(self.gamma * aimed + (1.0 - self.gamma) * before);
        }
        if commit {
            self.reference = self.rate.now;
        }
    }

    fn on_deadline(&mut self, _now: Time) {}

    fn deadline(&self) -> Option<Time> {
        None
    }

    fn wants_telemetry(&self) -> bool {
        !self.theta
    }

    fn allowance(&self) -> Allowance {
        self.rate.allowance()
    }

    fn pacing(&self) -> Pacing {
        self.pacing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PathReport;
    use crate::parameter::Value;
    use units::{Rate, Span};

    fn built(info: &ProtocolInfo) -> PowerTcp {
        let values = Values::defaults(info.parameters).with("base_rtt", Value::Time(Span::from_micros(8)));
        let Ok(Reaction::PowerTcp(mut source)) = (info.build)(&values) else { panic!("its defaults are valid") };
        source.attach(&Adapter::of(Rate::from_gigabits(100), Bytes::new(1000))).unwrap();
        *source
    }

    fn acknowledge(source: &mut PowerTcp, at: u64, round_trip: u64, stamp: Option<(u64, u64)>) {
        let now = Time::ZERO + Span::from_micros(at);
        let rate = Rate::from_gigabits(100);
        let stamps: Vec<Stamp> = stamp
            .map(|(queue, sent)| Stamp { at: now, queue: Bytes::new(queue), sent: Bytes::new(sent), rate })
            .into_iter()
            .collect();
        source.on_telemetry(now, &stamps);
        let round_trip = Span::from_micros(round_trip);
        let path = PathReport { network_round_trip: round_trip, ..PathReport::default() };
        source
            .on_feedback(now, &Feedback::Acknowledgement { bytes: Bytes::new(1000), marked: false, round_trip, path });
    }

    #[test]
    fn a_growing_queue_has_more_power_than_a_standing_one_and_a_draining_one_less() {
        let power = |before: u64, after: u64| {
            let mut source = built(&POWER);
            acknowledge(&mut source, 0, 8, Some((before, 0)));
            acknowledge(&mut source, 8, 8, Some((after, 100_000)));
            source.power()
        };
        // A queue of half a round trip's bytes: a voltage of 1.5, and a current of 1, 1.5 or 0.5.
        assert!((power(50_000, 50_000) - 1.5).abs() < 1e-9);
        assert!((power(0, 50_000) - 2.25).abs() < 1e-9);
        assert!((power(150_000, 50_000) - 0.75).abs() < 1e-9);
    }

    #[test]
    fn a_busy_link_without_a_queue_keeps_the_rate_near_its_target() {
        let mut source = built(&POWER);
        acknowledge(&mut source, 0, 8, Some((0, 0)));
        acknowledge(&mut source, 8, 8, Some((0, 100_000)));
        let expected = 0.9 * (100e9 * 0.95 + 150e6) + 0.1 * 100e9;
        assert!((source.rate.now - expected).abs() < 1.0, "{}", source.rate.now);
    }

    #[test]
    fn theta_needs_no_telemetry() {
        let mut source = built(&THETA);
        assert!(!source.wants_telemetry());
        acknowledge(&mut source, 0, 8, None);
        // The round trip grows by 4 us in 8 us: a current of 1.5; at 12 us of 8: a power of 2.25.
        acknowledge(&mut source, 8, 12, None);
        assert!((source.power() - 2.25).abs() < 1e-9, "{}", source.power());
        let expected = 0.7 * (100e9 / (2.25 / 1.05) + 150e6) + 0.3 * 100e9;
        assert!((source.rate.now - expected).abs() < 1.0, "{}", source.rate.now);
    }

    #[test]
    fn rates_stay_within_bounds() {
        for info in [&POWER, &THETA] {
            let (mut source, mut stream) = (built(info), units::Stream::new(3, 1, "power"));
            let (mut at, mut sent) = (0, 0);
            for _ in 0..20_000 {
                at += 1 + stream.below(20);
                sent += stream.below(300_000);
                acknowledge(&mut source, at, 1 + stream.below(200), Some((stream.below(1_000_000), sent)));
                assert!((100e6..=100e9).contains(&source.rate.now), "{}", source.rate.now);
            }
        }
    }
}
