//! DCQCN, the rate control of RoCEv2 adapters (Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM
//! 2015), in three readings: the paper's, as its authors repeat it in "ECN or Delay" (Zhu et al., CoNEXT 2016), that of the
//! public HPCC simulator, and that of Mellanox firmware.
//!
//! A source keeps the rate, a target rate and alpha, an estimate of congestion. A congestion notification packet (CNP)
//! makes the rate the new target and lowers the rate by alpha / 2. Without notifications, alpha decays, and stages of a
//! timer and of a byte counter raise the rate: first halfway to the target (fast recovery), then the target rises too
//! (additive, then hyper increase).
//!
//! The readings differ in when alpha and the rate react. In the paper, each CNP lowers the rate and raises alpha at once.
//! Firmware notes that a CNP came, and evaluates this periodically: alpha at the end of each alpha period, the rate at
//! the end of each decrease period. The simulator does the same without a byte counter.

use crate::increase::lasting;
use crate::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Preset, Values};
use crate::path::{BASE_RTT, BASE_WINDOW, REPACED, RateWindow, WINDOW_EXCESS, pacing, window_parameter};
use crate::qcn_source::ordered;
use crate::{Adapter, Allowance, Feedback, Pacing, ProtocolInfo, Reaction, ReactionPoint};
use units::{Bytes, Rate, Span, Time};

pub(crate) const INFO: ProtocolInfo = ProtocolInfo {
    name: "dcqcn",
    summary: "DCQCN (RoCEv2): notifications lower the rate by an estimate of congestion; a timer and a byte counter \
         restore it",
    parameters: &[
        Parameter {
            name: "notified_by",
            kind: ParameterKind::Choice(&[
                ("cnp", "congestion notification packets, paced by the receiver"),
                ("acknowledgement", "marks echoed by acknowledgements"),
            ]),
            default: ParameterDefault::Value("cnp", "Zhu et al. 2016, section 3.1: the notification point sends CNPs"),
            meaning: "Signal by which a source learns of congestion.",
        },
        Parameter {
            name: "evaluation",
            kind: ParameterKind::Choice(&[
                ("immediate", "each notification lowers the rate and raises alpha at once"),
                ("periodic", "at the end of periods in which a notification came"),
            ]),
            default: ParameterDefault::Value("immediate", "Zhu et al. 2016, equations 1 and 2"),
            meaning: "When notifications take effect.",
        },
        Parameter {
            name: "g",
            kind: ParameterKind::Number(0.0, 1.0),
            default: ParameterDefault::Value("0.00390625", "Zhu et al. 2016, their fluid model: 1/256"),
            meaning: "Weight of a new observation in alpha.",
        },
        Parameter {
            name: "initial_alpha",
            kind: ParameterKind::Number(0.0, 1.0),
            default: ParameterDefault::Value("1", "Zhu et al. 2016, appendix B"),
            meaning: "Alpha at the first notification.",
        },
        Parameter {
            name: "alpha_period",
            kind: ParameterKind::Time,
            default: ParameterDefault::Value("55us", "Zhu et al. 2016, section 3.3: as DCQCN proposes"),
            meaning: "Period of alpha: without a notification in this time, alpha decays.",
        },
        Parameter {
            name: "decrease_period",
            kind: ParameterKind::Time,
            default: ParameterDefault::Value("4us", "NVIDIA, rate_reduce_monitor_period; unused if immediate"),
            meaning: "Least time between two decreases of the rate, if evaluation is periodic.",
        },
        Parameter {
            name: "time_reset",
            kind: ParameterKind::Time,
            default: ParameterDefault::Value("55us", "Zhu et al. 2016, section 3.3: as DCQCN proposes"),
            meaning: "Length of a stage of the timer.",
        },
        Parameter {
            name: "byte_reset",
            kind: ParameterKind::Size(0, 1 << 40),
            default: ParameterDefault::Value("10MB", "Zhu et al. 2016, their fluid model: B = 10 MB"),
            meaning: "Length of a stage of the byte counter; 0 for no byte counter.",
        },
        Parameter {
            name: "threshold",
            kind: ParameterKind::Count(0, 1000),
            default: ParameterDefault::Value("5", "Zhu et al. 2016, table 1: F is fixed at 5"),
            meaning: "Number of stages of fast recovery.",
        },
        Parameter {
            name: "ai_rate",
            kind: ParameterKind::Rate,
            default: ParameterDefault::Value("40Mb/s", "Zhu et al. 2016, table 1: R_AI is fixed at 40 Mb/s"),
            meaning: "Increase of the target rate per stage of additive increase.",
        },
        Parameter {
            name: "hai_rate",
            kind: ParameterKind::Rate,
            default: ParameterDefault::Value(
                "50Mb/s",
                "IEEE 802.1Q-2014, rpgHaiRate: Zhu et al. 2016, section 3.1, increase as QCN does",
            ),
            meaning: "Increase of the target rate per stage of hyper increase.",
        },
        Parameter {
            name: "min_rate",
            kind: ParameterKind::Rate,
            default: ParameterDefault::Value("1Mb/s", "NVIDIA, rpg_min_rate; no text of the paper found"),
            meaning: "Minimum rate.",
        },
        Parameter {
            name: "min_dec_factor",
            kind: ParameterKind::Number(0.0, 1.0),
            default: ParameterDefault::Value("0.5", "NVIDIA, rpg_min_dec_fac; alpha / 2 is never more"),
            meaning: "Smallest factor by which one decrease multiplies the rate.",
        },
        Parameter {
            name: "clamp_target",
            kind: ParameterKind::Flag,
            default: ParameterDefault::Value("true", "Zhu et al. 2016, equation 1: the target follows every decrease"),
            meaning: "Whether each decrease makes the rate the new target; if not, only the first one after an \
                 increase.",
        },
        window_parameter("none", "our choice: DCQCN controls the rate only"),
        BASE_RTT,
        BASE_WINDOW,
        WINDOW_EXCESS,
        REPACED,
    ],
    presets: &[
        Preset {
            name: "hpcc-simulator",
            meaning: "CC_MODE 1 of the public HPCC simulator, with the values of its example configuration",
            values: &[
                ("notified_by", "acknowledgement", "HPCC simulator: the acknowledgement carries the flag"),
                ("evaluation", "periodic", "HPCC simulator"),
                ("alpha_period", "1us", "HPCC simulator, ALPHA_RESUME_INTERVAL"),
                ("decrease_period", "4us", "HPCC simulator, RATE_DECREASE_INTERVAL"),
                ("time_reset", "900us", "HPCC simulator, RP_TIMER"),
                ("byte_reset", "0B", "HPCC simulator: no byte counter"),
                ("threshold", "1", "HPCC simulator, FAST_RECOVERY_TIMES"),
                ("ai_rate", "50Mb/s", "HPCC simulator, RATE_AI"),
                ("hai_rate", "100Mb/s", "HPCC simulator, RATE_HAI"),
                ("min_rate", "100Mb/s", "HPCC simulator, MIN_RATE"),
                ("min_dec_factor", "0", "HPCC simulator: no limit"),
                ("clamp_target", "false", "HPCC simulator, CLAMP_TARGET_RATE 0"),
                ("repaced", "false", "HPCC simulator: the next frame keeps its time"),
                ("window_excess", "true", "HPCC simulator: a frame may start within the window"),
            ],
        },
        Preset {
            name: "mellanox",
            meaning: "periodic evaluation, with the defaults of NVIDIA's table of DCQCN parameters and of the firmware",
            values: &[
                ("evaluation", "periodic", "NVIDIA DOCA, DCQCN CC parameters"),
                ("g", "0.0048828125", "NVIDIA, dce_tcp_g = 1019: 5/1024"),
                ("initial_alpha", "0.9990234375", "NVIDIA, initial_alpha_value = 1023"),
                ("alpha_period", "1us", "NVIDIA, dce_tcp_rtt"),
                ("decrease_period", "4us", "NVIDIA, rate_reduce_monitor_period"),
                ("time_reset", "300us", "mlxconfig, RPG_TIME_RESET"),
                ("byte_reset", "32767B", "mlxconfig, RPG_BYTE_RESET; its help says bytes"),
                ("threshold", "1", "mlxconfig, RPG_THRESHOLD"),
                ("ai_rate", "5Mb/s", "mlxconfig, RPG_AI_RATE"),
                ("hai_rate", "50Mb/s", "mlxconfig, RPG_HAI_RATE"),
                ("clamp_target", "false", "mlxconfig, CLAMP_TGT_RATE"),
                ("min_rate", "1Mb/s", "NVIDIA, rpg_min_rate"),
                ("min_dec_factor", "0.5", "NVIDIA, rpg_min_dec_fac = 50 %"),
            ],
        },
    ],
    acknowledged: false,
    build: Dcqcn::build,
};

/// The effect of notifications, and when it comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Evaluation {
    Immediate,
    /// At the end of decrease periods of that length.
    Periodic(Span),
}

/// State from the first notification on.
#[derive(Clone, Copy, Debug)]
struct Limiter {
    /// Bits per second that may be sent.
    current: f64,
    /// Rate that the limiter recovers towards.
    target: f64,
    alpha: f64,
    /// Stages since the last decrease.
    byte_stage: u32,
    time_stage: u32,
    /// Bytes that may still be sent in this stage of the byte counter.
    left: i64,
    /// The end of the stage of the timer; none before the first decrease.
    stage_ends: Option<Time>,
    /// The end of the period of alpha. Alpha is brought up to date when it is needed, not at the end of each period.
    alpha_due: Time,
    /// Whether a notification came in that period, if evaluation is periodic.
    noted: bool,
    /// The first notification: decrease periods begin with it.
    since: Time,
    /// The end of the decrease period, if a notification came in it.
    decrease_due: Option<Time>,
}

units::encoded!(struct Limiter { current, target, alpha, byte_stage, time_stage, left, stage_ends, alpha_due, noted, since, decrease_due });

/// The reaction point of DCQCN.
#[derive(Clone, Debug)]
pub struct Dcqcn {
    by_marks: bool,
    evaluation: Evaluation,
    g: f64,
    initial_alpha: f64,
    alpha_period: Span,
    time_reset: Span,
    byte_reset: i64,
    threshold: u32,
    ai: f64,
    hai: f64,
    min_rate: Rate,
    min_dec_factor: f64,
    clamp_target: bool,
    window: RateWindow,
    pacing: Pacing,
    /// Rate of the link in bits per second.
    link: f64,
    limiter: Option<Limiter>,
}

units::state!(struct Dcqcn { fixed: by_marks, evaluation, g, initial_alpha, alpha_period, time_reset, byte_reset, threshold, ai, hai, min_rate, min_dec_factor, clamp_target, window, pacing, link; plain: limiter; });

impl Dcqcn {
    /// Builds the reaction point from its parameters.
    ///
    /// # Errors
    /// Fails if a timer is too short.
    pub fn build(values: &Values) -> Result<Reaction, Invalid> {
        let evaluation = match values.choice("evaluation").as_str() {
            "periodic" => Evaluation::Periodic(lasting("decrease_period", values.time("decrease_period"))?),
            _ => Evaluation::Immediate,
        };
        Ok(Reaction::Dcqcn(Box::new(Dcqcn {
            by_marks: values.choice("notified_by") == "acknowledgement",
            evaluation,
            g: values.number("g"),
            initial_alpha: values.number("initial_alpha"),
            alpha_period: lasting("alpha_period", values.time("alpha_period"))?,
            time_reset: lasting("time_reset", values.time("time_reset"))?,
            byte_reset: values.size("byte_reset").get() as i64,
            threshold: values.count("threshold") as u32,
            ai: values.rate("ai_rate").as_bits_per_sec() as f64,
            hai: values.rate("hai_rate").as_bits_per_sec() as f64,
            min_rate: values.rate("min_rate"),
            min_dec_factor: values.number("min_dec_factor"),
            clamp_target: values.flag("clamp_target"),
            window: RateWindow::read(values),
            pacing: pacing(values),
            link: 0.0,
            limiter: None,
        })))
    }

    /// Returns alpha, if a notification has come.
    #[must_use]
    pub fn alpha(&self) -> Option<f64> {
        self.limiter.map(|limiter| limiter.alpha)
    }

    fn notified(&mut self, now: Time) {
        let first = self.limiter.is_none();
        let mut limiter = self.limiter.unwrap_or(Limiter {
            current: self.link,
            target: self.link,
            alpha: self.initial_alpha,
            byte_stage: 0,
            time_stage: 0,
            left: self.byte_reset,
            stage_ends: None,
            alpha_due: now.saturating_add(self.alpha_period),
            noted: false,
            since: now,
            decrease_due: None,
        });
        self.catch_up(&mut limiter, now);
        match self.evaluation {
            Evaluation::Immediate => {
                self.decrease(&mut limiter, now);
                limiter.alpha = (1.0 - self.g) * limiter.alpha + self.g;
                limiter.alpha_due = now.saturating_add(self.alpha_period);
            }
            Evaluation::Periodic(period) => {
                // The first notification sets alpha; it does not raise it too.
                limiter.noted |= !first;
                let periods = (now - limiter.since).as_picos() / period.as_picos() + 1;
                let end = limiter.since.saturating_add(Span::from_picos(periods.saturating_mul(period.as_picos())));
                limiter.decrease_due.get_or_insert(end);
            }
        }
        self.limiter = Some(limiter);
    }

    /// Updates alpha for the periods that have ended: the first one may have seen a notification, the others have not.
    fn catch_up(&self, limiter: &mut Limiter, now: Time) {
        if limiter.alpha_due > now {
            return;
        }
        let observed = if std::mem::take(&mut limiter.noted) { self.g } else { 0.0 };
        limiter.alpha = (1.0 - self.g) * limiter.alpha + observed;
        let mut more = (now - limiter.alpha_due).as_picos() / self.alpha_period.as_picos();
        let since = Span::from_picos((more + 1).saturating_mul(self.alpha_period.as_picos()));
        limiter.alpha_due = limiter.alpha_due.saturating_add(since);
        let mut power = 1.0 - self.g;
        while more > 0 {
            if more & 1 == 1 {
                limiter.alpha *= power;
            }
            power *= power;
            more >>= 1;
        }
    }

    fn decrease(&self, limiter: &mut Limiter, now: Time) {
        if self.clamp_target || limiter.time_stage > 0 || limiter.byte_stage > 0 || limiter.stage_ends.is_none() {
            limiter.target = limiter.current;
        }
        let factor = (1.0 - limiter.alpha / 2.0).max(self.min_dec_factor);
        limiter.current = (limiter.current * factor).max(self.least());
        (limiter.byte_stage, limiter.time_stage, limiter.left) = (0, 0, self.byte_reset);
        limiter.stage_ends = Some(now.saturating_add(self.time_reset));
    }

    /// A stage is complete.
    fn increase(&self, limiter: &mut Limiter) {
        let beyond = |stage: u32| stage.saturating_sub(self.threshold);
        let (bytes, time) = (beyond(limiter.byte_stage), beyond(limiter.time_stage));
        let step = match self.byte_reset {
            // With the timer alone, the first stage beyond fast recovery is additive, all others are hyper increase.
            0 if time > 1 => self.hai,
            0 if time == 1 => self.ai,
            0 => 0.0,
            _ if bytes.min(time) > 0 => self.hai,
            _ if bytes.max(time) > 0 => self.ai,
            _ => 0.0,
        };
        limiter.target = (limiter.target + step).min(self.link);
        limiter.current = (limiter.current + limiter.target) / 2.0;
        // Halves of what is missing never add up to it: less than a bit per second is nothing.
        if self.link - limiter.current < 1.0 {
            limiter.current = self.link;
        }
    }

    fn least(&self) -> f64 {
        self.min_rate.as_bits_per_sec() as f64
    }
}

impl ReactionPoint for Dcqcn {
    fn attach(&mut self, adapter: &Adapter) -> Result<(), Invalid> {
        ordered(self.min_rate, adapter.link)?;
        self.link = adapter.link.as_bits_per_sec() as f64;
        if self.window.is_bounded() { self.window.attach(adapter) } else { Ok(()) }
    }

    #[inline]
    fn on_sent(&mut self, _now: Time, len: Bytes) {
        if self.byte_reset == 0 {
            return;
        }
        let Some(counting) = self.limiter.as_mut().filter(|limiter| limiter.stage_ends.is_some()) else { return };
        counting.left -= len.get() as i64;
        if counting.left >= 0 {
            return;
        }
        let mut limiter = *counting;
        limiter.left += self.byte_reset;
        limiter.byte_stage += 1;
        self.increase(&mut limiter);
        self.limiter = Some(limiter);
    }

    fn on_feedback(&mut self, now: Time, feedback: &Feedback) {
        match *feedback {
            Feedback::CongestionNotification if !self.by_marks => self.notified(now),
            Feedback::Acknowledgement { marked: true, .. } if self.by_marks => self.notified(now),
            _ => {}
        }
    }

    fn on_deadline(&mut self, now: Time) {
        let Some(mut limiter) = self.limiter else { return };
        self.catch_up(&mut limiter, now);
        if limiter.decrease_due.is_some_and(|due| due <= now) {
            limiter.decrease_due = None;
            self.decrease(&mut limiter, now);
        }
        if limiter.stage_ends.is_some_and(|ends| ends <= now) {
            limiter.stage_ends = Some(now.saturating_add(self.time_reset));
            limiter.time_stage += 1;
            self.increase(&mut limiter);
        }
        self.limiter = Some(limiter);
    }

    #[inline]
    fn deadline(&self) -> Option<Time> {
        let limiter = self.limiter.as_ref()?;
        // A limiter that has recovered completely has nothing to do.
        let stage = limiter.stage_ends.filter(|_| limiter.current < self.link);
        match (stage, limiter.decrease_due) {
            (Some(stage), Some(decrease)) => Some(stage.min(decrease)),
            (stage, decrease) => stage.or(decrease),
        }
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        let limited = self.limiter.as_ref().filter(|limiter| limiter.current < self.link);
        let window = self.window.at(limited.map_or(self.link, |limiter| limiter.current), self.link);
        Allowance { rate: limited.map(|limiter| Rate::from_bits_per_sec(limiter.current as u64)), window }
    }

    fn heeds_acknowledgements(&self) -> bool {
        self.by_marks || self.allowance().window.is_some()
    }

    fn wants_notifications(&self) -> bool {
        !self.by_marks
    }

    fn pacing(&self) -> Pacing {
        self.pacing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::Value;

    fn built(values: &Values) -> Dcqcn {
        let Ok(Reaction::Dcqcn(mut source)) = Dcqcn::build(values) else { panic!("its defaults are valid") };
        source.attach(&Adapter::of(Rate::from_gigabits(40), Bytes::new(1000))).unwrap();
        *source
    }

    fn paper() -> Dcqcn {
        built(&Values::defaults(INFO.parameters))
    }

    fn preset(name: &str) -> Dcqcn {
        let preset = INFO.presets.iter().find(|preset| preset.name == name).unwrap();
        built(&Values::preset(INFO.parameters, preset))
    }

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    fn rate(source: &Dcqcn) -> f64 {
        source.allowance().rate.map_or(40e9, |rate| rate.as_bits_per_sec() as f64)
    }

    /// Calls the source at all its deadlines up to that time.
    fn run(source: &mut Dcqcn, until: Time) {
        while let Some(due) = source.deadline().filter(|&due| due <= until) {
            source.on_deadline(due);
        }
    }

    #[test]
    fn the_first_notification_halves_and_fast_recovery_returns_in_halves() {
        let mut source = paper();
        assert_eq!(source.allowance(), Allowance::default());
        source.on_feedback(at(100), &Feedback::CongestionNotification);
        assert_eq!(rate(&source), 20e9);
        for expected in [30e9, 35e9, 37.5e9, 38.75e9, 39.375e9] {
            let due = source.deadline().unwrap();
            source.on_deadline(due);
            assert_eq!(rate(&source), expected);
        }
        assert_eq!(source.deadline(), Some(at(100 + 6 * 55)));
    }

    #[test]
    fn alpha_rises_with_notifications_and_decays_without() {
        let mut source = paper();
        source.on_feedback(at(0), &Feedback::CongestionNotification);
        assert_eq!(source.alpha(), Some(1.0));
        // No notification for ten periods: the next one lowers the rate by less than half.
        run(&mut source, at(550));
        let before = rate(&source);
        source.on_feedback(at(551), &Feedback::CongestionNotification);
        let decayed = (255.0_f64 / 256.0).powi(10);
        assert!((rate(&source) / before - (1.0 - decayed / 2.0)).abs() < 1e-9);
        assert!((source.alpha().unwrap() - (decayed * 255.0 / 256.0 + 1.0 / 256.0)).abs() < 1e-12);
    }

    #[test]
    fn the_byte_counter_and_the_timer_lead_to_additive_and_then_to_hyper_increase() {
        let values = Values::defaults(INFO.parameters).with("byte_reset", Value::Size(Bytes::new(1000)));
        let mut source = built(&values);
        for micros in 0..20 {
            source.on_feedback(at(micros), &Feedback::CongestionNotification);
        }
        let target = |source: &Dcqcn| source.limiter.unwrap().target;
        let start = target(&source);
        for _ in 0..6 {
            source.on_sent(at(20), Bytes::new(1000));
        }
        // Six stages of the byte counter begin with the first byte beyond each; the timer has completed none.
        assert_eq!(target(&source), start);
        source.on_sent(at(20), Bytes::new(1000));
        assert_eq!(target(&source), start + 40e6);
        let due = source.deadline().unwrap();
        run(&mut source, due + Span::from_micros(4 * 55));
        assert_eq!(target(&source), start + 40e6 * 6.0);
        let due = source.deadline().unwrap();
        source.on_deadline(due);
        assert_eq!(target(&source), start + 40e6 * 6.0 + 50e6);
    }

    #[test]
    fn periodic_evaluation_decreases_once_per_period() {
        let mut source = preset("hpcc-simulator");
        let marked = Feedback::Acknowledgement {
            bytes: Bytes::new(1000),
            marked: true,
            round_trip: Span::from_micros(8),
            path: Default::default(),
        };
        source.on_feedback(at(0), &Feedback::CongestionNotification);
        assert_eq!(source.deadline(), None, "this reading knows no notification packets");
        source.on_feedback(at(10), &marked);
        source.on_feedback(at(11), &marked);
        assert_eq!((rate(&source), source.deadline()), (40e9, Some(at(14))));
        run(&mut source, at(14));
        // Alpha was set to 1 at 10 us; of the four updates since, one saw a mark.
        let g = 1.0 / 256.0;
        let alpha = ((1.0 - g) * (1.0 - g) + g) * (1.0 - g) * (1.0 - g);
        assert!((rate(&source) / 40e9 - (1.0 - alpha / 2.0)).abs() < 1e-9, "{}", rate(&source));
        // The next mark takes effect at the end of its period, which is on the same grid.
        source.on_feedback(at(25), &marked);
        assert_eq!(source.deadline(), Some(at(26)));
    }

    #[test]
    fn without_a_clamp_consecutive_decreases_keep_the_target() {
        let mut source = preset("hpcc-simulator");
        let marked = Feedback::Acknowledgement {
            bytes: Bytes::new(1000),
            marked: true,
            round_trip: Span::from_micros(8),
            path: Default::default(),
        };
        for micros in (0..40).step_by(4) {
            source.on_feedback(at(micros), &marked);
            run(&mut source, at(micros + 4));
        }
        assert_eq!(source.limiter.unwrap().target, 40e9);
        assert!(rate(&source) < 1e9);
        // One stage of fast recovery, one additive, then hyper increase.
        let low = rate(&source);
        run(&mut source, at(40 + 900));
        assert!((rate(&source) - (low + 40e9) / 2.0).abs() < 2.0);
    }

    #[test]
    fn rates_stay_within_bounds_and_recover_completely() {
        for mut source in [paper(), preset("hpcc-simulator"), preset("mellanox")] {
            let (mut stream, mut now) = (units::Stream::new(1, 2, "dcqcn"), Time::ZERO);
            for _ in 0..20_000 {
                now += Span::from_nanos(stream.below(20_000));
                run(&mut source, now);
                if stream.below(3) == 0 {
                    let feedback = match source.by_marks {
                        true => Feedback::Acknowledgement {
                            bytes: Bytes::new(1000),
                            marked: true,
                            round_trip: Span::from_micros(8),
                            path: Default::default(),
                        },
                        false => Feedback::CongestionNotification,
                    };
                    source.on_feedback(now, &feedback);
                }
                source.on_sent(now, Bytes::new(1000));
                let least = source.least();
                assert!((least..=40e9).contains(&rate(&source)), "{}", rate(&source));
                assert!((0.0..=1.0).contains(&source.alpha().unwrap_or(0.0)));
            }
            run(&mut source, now + Span::from_micros(10_000_000));
            assert_eq!((rate(&source), source.deadline()), (40e9, None));
        }
    }
}
