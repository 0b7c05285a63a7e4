//! Window-based controls of TCP for lossy classes: NewReno (RFC 5681, RFC 6582), CUBIC (RFC 9438) and DCTCP (RFC 8257).
//!
//! All three keep a congestion window in bytes and a threshold of slow start. They need a recovery that detects losses;
//! what to retransmit, and when, is the recovery's business. A window of the size that the RFCs call FlightSize is the
//! congestion window here.

use crate::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Preset, Values};
use crate::path::{
    BASE_RTT, BASE_WINDOW, REPACED, Round, WINDOW_EXCESS, network_round_trip, seconds, window_parameter,
};
use crate::{Adapter, Allowance, DctcpRate, Feedback, LossSignal, ProtocolInfo, Reaction, ReactionPoint};
use units::{Bytes, Span, State, Time, math};

const INITIAL: Parameter = Parameter {
    name: "initial_window",
    kind: ParameterKind::Count(1, 1 << 20),
    default: ParameterDefault::Value("10", "RFC 6928: ten segments"),
    meaning: "Initial congestion window, in frames.",
};
const LARGEST: Parameter = Parameter {
    name: "max_window",
    kind: ParameterKind::Size(1, 1 << 40),
    default: ParameterDefault::Absent("no limit"),
    meaning: "Maximum congestion window, as a receiver's window would limit it.",
};
const ECN: Parameter = Parameter {
    name: "ecn",
    kind: ParameterKind::Flag,
    default: ParameterDefault::Value("true", "RFC 3168, section 6.1.2: a mark counts as a loss, once per round trip"),
    meaning: "Whether congestion marks reduce the window.",
};

pub(crate) const NEW_RENO: ProtocolInfo = ProtocolInfo {
    name: "newreno",
    summary: "TCP NewReno: slow start, additive increase, and half of the window at a loss or a mark",
    parameters: &[INITIAL, LARGEST, ECN],
    presets: &[],
    acknowledged: true,
    build: |values| build(values, Law::Reno),
};

pub(crate) const CUBIC: ProtocolInfo = ProtocolInfo {
    name: "cubic",
    summary: "TCP CUBIC: the window is a cubic function of the time since the last reduction",
    parameters: &[
        INITIAL,
        LARGEST,
        ECN,
        Parameter {
            name: "c",
            kind: ParameterKind::Number(0.0001, 1000.0),
            default: ParameterDefault::Value("0.4", "RFC 9438, section 5.1"),
            meaning: "Scale of the cubic function, in frames per cubic second.",
        },
        Parameter {
            name: "beta",
            kind: ParameterKind::Number(0.01, 0.99),
            default: ParameterDefault::Value("0.7", "RFC 9438, section 4.6"),
            meaning: "Factor by which a loss multiplies the window.",
        },
        Parameter {
            name: "fast_convergence",
            kind: ParameterKind::Flag,
            default: ParameterDefault::Value("true", "RFC 9438, section 4.7"),
            meaning: "Whether a flow that is reduced below its last maximum also lowers that maximum.",
        },
    ],
    presets: &[],
    acknowledged: true,
    build: |values| {
        build(
            values,
            Law::Cubic(Cubic {
                c: values.number("c"),
                beta: values.number("beta"),
                fast_convergence: values.flag("fast_convergence"),
                epoch: None,
                largest: 0.0,
                estimate: 0.0,
                origin: 0.0,
                k: 0.0,
            }),
        )
    },
};

pub(crate) const DCTCP: ProtocolInfo = ProtocolInfo {
    name: "dctcp",
    summary: "DCTCP: the window falls by the fraction of marked bytes, once per round trip",
    parameters: &[
        INITIAL,
        LARGEST,
        Parameter {
            name: "g",
            kind: ParameterKind::Number(0.0, 1.0),
            default: ParameterDefault::Value("0.0625", "Linux, tcp_dctcp.c, dctcp_shift_g = 4: 1/16"),
            meaning: "Weight of the last round's fraction in alpha.",
        },
        Parameter {
            name: "initial_alpha",
            kind: ParameterKind::Number(0.0, 1.0),
            default: ParameterDefault::Value("1", "RFC 8257, section 3.3"),
            meaning: "Alpha before the first round.",
        },
        Parameter {
            name: "control",
            kind: ParameterKind::Choice(&[
                ("window", "a congestion window, as TCP has it"),
                ("rate", "a rate that starts at that of the link"),
            ]),
            default: ParameterDefault::Value("window", "RFC 8257: a congestion window, as TCP has it"),
            meaning: "What alpha reduces. The parameters below apply to a rate, those of windows above do not.",
        },
        Parameter {
            name: "ai_rate",
            kind: ParameterKind::Rate,
            default: ParameterDefault::Value("1Gb/s", "HPCC simulator, DCTCP_RATE_AI of its documented configuration"),
            meaning: "Increase of the rate per round without a mark.",
        },
        Parameter {
            name: "min_rate",
            kind: ParameterKind::Rate,
            default: ParameterDefault::Value("100Mb/s", "HPCC simulator, MIN_RATE"),
            meaning: "Minimum rate.",
        },
        window_parameter("variable", "HPCC simulator, HAS_WIN 1 and VAR_WIN 1"),
        BASE_RTT,
        BASE_WINDOW,
        WINDOW_EXCESS,
        REPACED,
    ],
    presets: &[Preset {
        name: "hpcc-simulator",
        meaning: "CC_MODE 8 of the public HPCC simulator",
        values: &[
            ("control", "rate", "HPCC simulator"),
            ("g", "0.00390625", "HPCC simulator, EWMA_GAIN of its documented configuration; its script has 1/16"),
            ("repaced", "false", "HPCC simulator: the next frame keeps its time"),
            ("window_excess", "true", "HPCC simulator: a frame may start within the window"),
        ],
    }],
    acknowledged: true,
    build: |values| {
        if values.choice("control") == "rate" {
            return DctcpRate::build(values);
        }
        let (g, alpha) = (values.number("g"), values.number("initial_alpha"));
        build(values, Law::Dctcp(Dctcp { g, alpha, round: Round::default(), acknowledged: 0, marked: 0 }))
    },
};

fn build(values: &Values, law: Law) -> Result<Reaction, Invalid> {
    Ok(Reaction::Reno(Box::new(Reno {
        law,
        initial: values.count("initial_window") as f64,
        most: values.maybe_size("max_window").map_or(f64::INFINITY, |size| size.get() as f64),
        ecn: values.maybe_flag("ecn").unwrap_or(true),
        frame: 1.0,
        window: 0.0,
        threshold: f64::INFINITY,
        reduced_until: Bytes::ZERO,
        sent: Bytes::ZERO,
        round_trip: Span::ZERO,
    })))
}

/// How the window grows beyond slow start, and by what it is reduced.
#[derive(Clone, Copy, Debug)]
enum Law {
    Reno,
    Cubic(Cubic),
    Dctcp(Dctcp),
}

impl State for Law {
    fn save(&self, out: &mut Vec<u8>) {
        match self {
            Law::Reno => {}
            Law::Cubic(cubic) => cubic.save(out),
            Law::Dctcp(dctcp) => dctcp.save(out),
        }
    }

    fn load(&mut self, input: &mut &[u8]) -> Option<()> {
        match self {
            Law::Reno => Some(()),
            Law::Cubic(cubic) => cubic.load(input),
            Law::Dctcp(dctcp) => dctcp.load(input),
        }
    }
}

/// State of CUBIC; windows are in frames.
#[derive(Clone, Copy, Debug)]
struct Cubic {
    c: f64,
    beta: f64,
    fast_convergence: bool,
    /// When the present stage of congestion avoidance began.
    epoch: Option<Time>,
    /// Window before the last reduction.
    largest: f64,
    /// Window that Reno would have.
    estimate: f64,
    /// Centre of the cubic function, and the time in seconds until the window reaches it.
    origin: f64,
    k: f64,
}

units::state!(struct Cubic { fixed: c, beta, fast_convergence; plain: epoch, largest, estimate, origin, k; });

impl Cubic {
    /// The window after acknowledged frames.
    fn grown(&mut self, window: f64, frames: f64, now: Time, round_trip: f64) -> f64 {
        let epoch = match self.epoch {
            Some(epoch) => epoch,
            None => {
                self.origin = self.largest.max(window);
                self.k = match window < self.largest {
                    true => math::pow((self.largest - window) / self.c, 1.0 / 3.0),
                    false => 0.0,
                };
                self.estimate = window;
                self.epoch = Some(now);
                now
            }
        };
        let time = seconds(now - epoch);
        let ahead = time + round_trip - self.k;
        let target = (self.c * ahead * ahead * ahead + self.origin).clamp(window, 1.5 * window);
        let alpha = match self.estimate < self.origin {
            true => 3.0 * (1.0 - self.beta) / (1.0 + self.beta),
            false => 1.0,
        };
        self.estimate += alpha * frames / window;
        let since = time - self.k;
        match self.c * since * since * since + self.origin < self.estimate {
            true => self.estimate.max(window),
            false => window + (target - window) / window * frames,
        }
    }

    /// The window after a reduction.
    fn reduced(&mut self, window: f64) -> f64 {
        self.epoch = None;
        self.largest = match self.fast_convergence && window < self.largest {
            true => window * (1.0 + self.beta) / 2.0,
            false => window,
        };
        window * self.beta
    }
}

/// State of DCTCP.
#[derive(Clone, Copy, Debug)]
struct Dctcp {
    g: f64,
    alpha: f64,
    round: Round,
    /// Bytes of this round.
    acknowledged: u64,
    marked: u64,
}

units::state!(struct Dctcp { fixed: g; plain: alpha, round, acknowledged, marked; });

/// A reaction point with a congestion window.
#[derive(Clone, Copy, Debug)]
pub struct Reno {
    law: Law,
    /// Frames.
    initial: f64,
    /// Bytes.
    most: f64,
    ecn: bool,
    frame: f64,
    /// Bytes.
    window: f64,
    threshold: f64,
    /// The window is not reduced again before this many bytes are acknowledged: those sent before the last reduction.
    reduced_until: Bytes,
    sent: Bytes,
    round_trip: Span,
}

units::state!(struct Reno { fixed: initial, most, ecn, frame; plain: window, threshold, reduced_until, sent, round_trip; parts: law; });

impl Reno {
    fn reduce(&mut self, factor: f64) {
        self.threshold = (self.window * factor).max(2.0 * self.frame);
        self.window = self.threshold;
    }

    /// A loss, or a mark that counts as one.
    fn lost(&mut self) {
        match &mut self.law {
            Law::Cubic(cubic) => {
                let factor = cubic.reduced(self.window / self.frame) / (self.window / self.frame);
                self.reduce(factor);
            }
            Law::Reno | Law::Dctcp(_) => self.reduce(0.5),
        }
    }

    fn marked(&mut self) {
        match self.law {
            Law::Dctcp(Dctcp { alpha, .. }) => self.reduce(1.0 - alpha / 2.0),
            _ => self.lost(),
        }
    }

    fn grow(&mut self, now: Time, bytes: f64) {
        if self.window < self.threshold {
            // RFC 5681: at most one frame per acknowledgement in slow start.
            self.window += bytes.min(self.frame);
        } else {
            let (window, frames) = (self.window / self.frame, bytes / self.frame);
            self.window = match &mut self.law {
                Law::Cubic(cubic) => cubic.grown(window, frames, now, seconds(self.round_trip)) * self.frame,
                Law::Reno | Law::Dctcp(_) => self.window + self.frame * bytes / self.window,
            };
        }
        self.window = self.window.min(self.most.max(self.frame));
    }
}

impl ReactionPoint for Reno {
    fn attach(&mut self, adapter: &Adapter) -> Result<(), Invalid> {
        self.frame = adapter.frame.get() as f64;
        self.window = (self.initial * self.frame).min(self.most.max(self.frame));
        Ok(())
    }

    fn on_sent(&mut self, _now: Time, _len: Bytes) {}

    fn on_loss(&mut self, _now: Time, signal: LossSignal) {
        self.lost();
        if signal == LossSignal::Timeout {
            self.window = self.frame;
        }
        self.reduced_until = self.sent;
    }

    fn on_feedback(&mut self, now: Time, feedback: &Feedback) {
        let Feedback::Acknowledgement { bytes, marked, round_trip, path } = *feedback else { return };
        self.sent = path.sent;
        self.round_trip = network_round_trip(round_trip, &path);
        if let Law::Dctcp(state) = &mut self.law {
            state.acknowledged += bytes.get();
            state.marked += if marked { bytes.get() } else { 0 };
            if state.round.ends(&path) && state.acknowledged > 0 {
                let fraction = state.marked as f64 / state.acknowledged as f64;
                state.alpha = (1.0 - state.g) * state.alpha + state.g * fraction;
                (state.acknowledged, state.marked) = (0, 0);
            }
        }
        if marked && self.ecn {
            if path.acknowledged > self.reduced_until {
                self.marked();
                self.reduced_until = path.sent;
            }
        } else if bytes > Bytes::ZERO {
            self.grow(now, bytes.get() as f64);
        }
    }

    fn on_deadline(&mut self, _now: Time) {}

    fn deadline(&self) -> Option<Time> {
        None
    }

    fn allowance(&self) -> Allowance {
        Allowance { rate: None, window: Some(Bytes::new(self.window as u64)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PathReport;
    use crate::parameter::Value;

    fn built(info: &ProtocolInfo) -> Reno {
        let Ok(Reaction::Reno(mut source)) = (info.build)(&Values::defaults(info.parameters)) else {
            panic!("its defaults are valid")
        };
        source.attach(&Adapter::of(units::Rate::from_gigabits(10), Bytes::new(1000))).unwrap();
        *source
    }

    /// Acknowledges a window, frame by frame, and returns the window after it.
    fn round(source: &mut Reno, acknowledged: &mut u64, now: Time, marked: impl Fn(u64) -> bool) -> u64 {
        let frames = source.allowance().window.unwrap().get() / 1000;
        let sent = *acknowledged + frames * 1000;
        for frame in 0..frames {
            *acknowledged += 1000;
            let path = PathReport {
                acknowledged: Bytes::new(*acknowledged),
                sent: Bytes::new(sent + frame * 1000),
                network_round_trip: Span::from_micros(100),
                ..PathReport::default()
            };
            let (bytes, round_trip) = (Bytes::new(1000), Span::from_micros(100));
            source.on_feedback(now, &Feedback::Acknowledgement { bytes, marked: marked(frame), round_trip, path });
        }
        source.allowance().window.unwrap().get()
    }

    #[test]
    fn slow_start_doubles_and_congestion_avoidance_adds_a_frame_per_round() {
        let (mut source, mut acknowledged) = (built(&NEW_RENO), 0);
        assert_eq!(round(&mut source, &mut acknowledged, Time::ZERO, |_| false), 20_000);
        assert_eq!(round(&mut source, &mut acknowledged, Time::ZERO, |_| false), 40_000);
        source.on_loss(Time::ZERO, LossSignal::Detected);
        assert_eq!(source.allowance().window, Some(Bytes::new(20_000)));
        let after = round(&mut source, &mut acknowledged, Time::ZERO, |_| false);
        assert!((20_900..=21_000).contains(&after), "{after}");
        source.on_loss(Time::ZERO, LossSignal::Timeout);
        assert_eq!(source.allowance().window, Some(Bytes::new(1000)));
        // Slow start up to half of what the window was.
        for _ in 0..3 {
            round(&mut source, &mut acknowledged, Time::ZERO, |_| false);
        }
        assert_eq!(source.allowance().window, Some(Bytes::new(8000)));
    }

    #[test]
    fn marks_reduce_once_per_round() {
        let (mut source, mut acknowledged) = (built(&NEW_RENO), 0);
        source.threshold = 0.0;
        source.window = 100_000.0;
        let after = round(&mut source, &mut acknowledged, Time::ZERO, |_| true);
        assert_eq!(after, 50_000);
    }

    #[test]
    fn dctcp_falls_by_the_fraction_of_marked_bytes() {
        let (mut source, mut acknowledged) = (built(&DCTCP), 0);
        source.threshold = 0.0;
        source.window = 100_000.0;
        // One frame in ten is marked, for long: alpha approaches a tenth.
        for _ in 0..200 {
            source.window = 100_000.0;
            round(&mut source, &mut acknowledged, Time::ZERO, |frame| frame % 10 == 9);
        }
        let Law::Dctcp(state) = source.law else { panic!("it is DCTCP") };
        assert!((state.alpha - 0.1).abs() < 0.01, "{}", state.alpha);
        // All marked, for long: half, as Reno does.
        for _ in 0..200 {
            source.window = 100_000.0;
            round(&mut source, &mut acknowledged, Time::ZERO, |_| true);
        }
        let Law::Dctcp(state) = source.law else { panic!("it is DCTCP") };
        assert!((state.alpha - 1.0).abs() < 0.01, "{}", state.alpha);
    }

    #[test]
    fn cubic_returns_to_its_last_maximum_after_k_seconds() {
        // Frames of 1000 bytes, 10,000 of them at 100 ms: the region of the cubic function, not of Reno.
        let (mut source, mut acknowledged) = (built(&CUBIC), 0);
        source.window = 1e7;
        source.on_loss(Time::ZERO, LossSignal::Detected);
        assert_eq!(source.allowance().window, Some(Bytes::new(7_000_000)));
        // K is the cube root of 3000 / 0.4: 19.57 s.
        let mut now = Time::ZERO;
        source.round_trip = Span::from_micros(100);
        while now < Time::ZERO + Span::from_micros(19_570_000) {
            now += Span::from_micros(100_000);
            round(&mut source, &mut acknowledged, now, |_| false);
        }
        let window = source.allowance().window.unwrap().get();
        assert!((9_950_000..=10_050_000).contains(&window), "{window}");
        // Shortly after it has hardly changed; much later it grows fast.
        for _ in 0..30 {
            now += Span::from_micros(100_000);
            round(&mut source, &mut acknowledged, now, |_| false);
        }
        let window = source.allowance().window.unwrap().get();
        assert!((10_000_000..=10_100_000).contains(&window), "{window}");
    }

    #[test]
    fn fast_convergence_gives_up_part_of_the_maximum() {
        let mut source = built(&CUBIC);
        (source.window, source.threshold) = (100_000.0, 0.0);
        source.on_loss(Time::ZERO, LossSignal::Detected);
        source.on_loss(Time::ZERO, LossSignal::Detected);
        let Law::Cubic(cubic) = source.law else { panic!("it is CUBIC") };
        assert!((cubic.largest - 70.0 * 0.85).abs() < 1e-9, "{}", cubic.largest);
    }

    #[test]
    fn a_window_never_exceeds_what_the_receiver_grants() {
        let values = Values::defaults(NEW_RENO.parameters).with("max_window", Value::Size(Bytes::new(15_000)));
        let Ok(Reaction::Reno(mut source)) = (NEW_RENO.build)(&values) else { panic!("its values are valid") };
        source.attach(&Adapter::of(units::Rate::from_gigabits(10), Bytes::new(1000))).unwrap();
        let mut acknowledged = 0;
        for _ in 0..10 {
            assert!(round(&mut source, &mut acknowledged, Time::ZERO, |_| false) <= 15_000);
        }
    }
}
