//! The reaction point of Backward Congestion Notification (Lu, Pan, Prabhakar, Bergamasco, Alaria, Baldini 2006), and
//! of its later form, ECM, with the numbers of the IEEE 802.1au bake-off.
//!
//! Negative feedback makes a rate limiter, lowers its rate by a part of it, and associates it with the congestion point
//! that sent it: the flow's frames are tagged with that point from then on. Positive feedback of that point, and of no
//! other, adds to the rate. A clock may add to it as well: BCN's self-increase, ECM's drift. Severe congestion stops
//! the flow for a random time. A limiter that is back at the largest rate is removed.

use crate::bcn_point::SEVERE;
use crate::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Values};
use crate::point::tag_of;
use crate::qcn_source::ordered;
use crate::{Adapter, Allowance, Feedback, HALTED, ProtocolInfo, Reaction, ReactionPoint};
use units::{Bytes, Rate, Span, Stream, Time, math};

const UNIT: Parameter = Parameter {
    name: "unit",
    kind: ParameterKind::Size(1, 1 << 31),
    default: ParameterDefault::Value(
        "1500B",
        "Lu et al. 2006, section III: a fixed cell-size S, the packets of 1500 bytes",
    ),
    meaning: "What feedback is counted in.",
};
const WEIGHT: Parameter = Parameter {
    name: "weight",
    kind: ParameterKind::Number(0.0, 1024.0),
    default: ParameterDefault::Value("2", "Lu et al. 2006, section III: w = 2"),
    meaning: "What a byte of growth counts, where a byte above the set point counts one. Congestion points have their own.",
};
const GD: Parameter = Parameter {
    name: "gd",
    kind: ParameterKind::Number(0.0, 1.0),
    default: ParameterDefault::Value("0.0078125", "Lu et al. 2006, section III: Gd = 1/128"),
    meaning: "What a unit of negative feedback takes from the rate as a part of it.",
};
const GI: Parameter = Parameter {
    name: "gi",
    kind: ParameterKind::Number(0.0, 1e9),
    default: ParameterDefault::Value("4", "Lu et al. 2006, section III: Gi = 4"),
    meaning: "What a unit of positive feedback adds to the rate, in multiples of `ru`.",
};
const RU: Parameter = Parameter {
    name: "ru",
    kind: ParameterKind::Rate,
    default: ParameterDefault::Value("1Mb/s", "Lu et al. 2006, section III: Ru = 1e6"),
    meaning: "The unit of `gi`.",
};
const MIN_DEC_FACTOR: Parameter = Parameter {
    name: "min_dec_factor",
    kind: ParameterKind::Number(0.0, 1.0),
    default: ParameterDefault::Value(
        "0.5",
        "our choice: as QCN; Lu et al. 2006 give none, and 1 - Gd |Fb| may be negative",
    ),
    meaning: "What a single notice leaves of the rate, at least.",
};
const MOST_FEEDBACK: Parameter = Parameter {
    name: "most_feedback",
    kind: ParameterKind::Number(0.0, 1e9),
    default: ParameterDefault::Absent("no limit (Lu et al. 2006)"),
    meaning: "Feedback of more units, of either sign, counts as this many.",
};
const MIN_RATE: Parameter = Parameter {
    name: "min_rate",
    kind: ParameterKind::Rate,
    default: ParameterDefault::Value(
        "1Mb/s",
        "our choice: that of the 802.1au bake-off; Lu et al. 2006 give none (Rmin)",
    ),
    meaning: "The rate below which it never falls, and with which it goes on after a stop.",
};
const MAX_RATE: Parameter = Parameter {
    name: "max_rate",
    kind: ParameterKind::Rate,
    default: ParameterDefault::Absent("the rate of the source's link"),
    meaning: "The rate at which a limiter is removed. If it is below that of the link, it also holds where there is no limiter.",
};
const START_RATE: Parameter = Parameter {
    name: "start_rate",
    kind: ParameterKind::Rate,
    default: ParameterDefault::Absent(
        "`max_rate`, without a limiter (Lu et al. 2006 have 100Mb/s in figure 2, 1Gb/s in figure 5)",
    ),
    meaning: "The rate of a flow that starts. Below `max_rate` it has a limiter from the start, associated with no congestion point.",
};
const NEW_LIMITER: Parameter = Parameter {
    name: "new_limiter",
    kind: ParameterKind::Choice(&[
        ("max-rate", "at `max_rate`"),
        ("offered", "at the rate at which the flow has sent of late"),
    ]),
    default: ParameterDefault::Value("max-rate", "our choice; no text says"),
    meaning: "Where a limiter starts that a notice makes. The notice itself then lowers it.",
};
const OFFERED_OVER: Parameter = Parameter {
    name: "offered_over",
    kind: ParameterKind::Time,
    default: ParameterDefault::Value("1ms", "our choice; no text says"),
    meaning: "The time over which the rate of the flow is measured, with `new_limiter` offered.",
};
const ASSOCIATED_BY: Parameter = Parameter {
    name: "associated_by",
    kind: ParameterKind::Choice(&[
        ("feedback", "negative feedback"),
        ("queue", "a queue above its set point, whatever the feedback"),
    ]),
    default: ParameterDefault::Value("feedback", "Lu et al. 2006, section II: the last that sent a rate decrease"),
    meaning: "What associates a limiter with the congestion point of a notice. BCN(0,0) always does.",
};
const STOP_FIRST: Parameter = Parameter {
    name: "stop_first",
    kind: ParameterKind::Time,
    default: ParameterDefault::Value("10us", "our reading of BCN; Lu et al. 2006 say only a random amount of time"),
    meaning: "The longest stop of a first BCN(0,0), Tmax; stops are evenly spread from zero. It doubles with each that follows without another notice between.",
};
const STOP_MOST: Parameter = Parameter {
    name: "stop_most",
    kind: ParameterKind::Time,
    default: ParameterDefault::Value("1ms", "our choice; no text says"),
    meaning: "What Tmax is never longer than.",
};

pub(crate) const BCN: ProtocolInfo = ProtocolInfo {
    name: "bcn",
    summary: "BCN: feedback lowers and raises the rate; the flow may also raise it by itself, SI-0 to SI-3 (Lu et al. 2006)",
    parameters: &[
        UNIT,
        WEIGHT,
        GD,
        GI,
        RU,
        MIN_DEC_FACTOR,
        MOST_FEEDBACK,
        MIN_RATE,
        MAX_RATE,
        START_RATE,
        NEW_LIMITER,
        OFFERED_OVER,
        ASSOCIATED_BY,
        STOP_FIRST,
        STOP_MOST,
        Parameter {
            name: "self_increase",
            kind: ParameterKind::Choice(&[
                ("none", "SI-0: never"),
                ("additive", "SI-1: by `si_rate` a second"),
                ("multiplicative", "SI-2: by `si_factor`"),
                ("by-notices", "SI-3: by `si_rate` a second, divided by the negative notices of the period"),
            ]),
            default: ParameterDefault::Value("none", "Lu et al. 2006, section III: the analysis has none"),
            meaning: "How a limited flow raises its rate by itself, whether it is associated or not.",
        },
        Parameter {
            name: "si_period",
            kind: ParameterKind::Time,
            default: ParameterDefault::Absent(
                "1ms, with by-notices 10ms: our choice, fitted; Lu et al. 2006 give no T",
            ),
            meaning: "The time from one self-increase to the next, T.",
        },
        Parameter {
            name: "si_rate",
            kind: ParameterKind::Rate,
            default: ParameterDefault::Absent(
                "10Mb/s (Lu et al. 2006, figure 3; also 500Mb/s), with by-notices 500Mb/s: fitted, no text says",
            ),
            meaning: "What SI-1 and SI-3 add in a second, I.",
        },
        Parameter {
            name: "si_factor",
            kind: ParameterKind::Number(0.0, 1e6),
            default: ParameterDefault::Value("10", "Lu et al. 2006, figure 4: i = 10"),
            meaning: "The factor of SI-2, i.",
        },
        Parameter {
            name: "si_factor_is",
            kind: ParameterKind::Choice(&[
                ("compound", "what a second multiplies the rate by: R becomes R i^T, T in seconds"),
                ("linear", "what a second adds to the rate, in multiples of it: R becomes R (1 + i T)"),
                ("literal", "R becomes R i T, which lowers it for T below 1/i"),
            ]),
            default: ParameterDefault::Value(
                "compound",
                "our reading of Lu et al. 2006, section III.C: the factor i in fixed intervals; its formula is R i T",
            ),
            meaning: "What the factor of SI-2 means.",
        },
        Parameter {
            name: "si_unnoticed",
            kind: ParameterKind::Choice(&[("nothing", "no increase"), ("one", "as much as with one negative notice")]),
            default: ParameterDefault::Value("nothing", "our reading of Lu et al. 2006, section III.C; fitted"),
            meaning: "What SI-3 does in a period without negative notices.",
        },
    ],
    acknowledged: false,
    build: |values| {
        let law = values.choice("self_increase");
        let by_notices = law == "by-notices";
        let (millis, megabits) = if by_notices { (10, 500) } else { (1, 10) };
        let period = values.maybe_time("si_period").unwrap_or(Span::from_millis(millis));
        let rate = values.maybe_rate("si_rate").unwrap_or(Rate::from_megabits(megabits));
        let (seconds, factor) = (period.as_secs_f64(), values.number("si_factor"));
        let step = rate.as_bits_per_sec() as f64 * seconds;
        let law = match (law.as_str(), values.choice("si_factor_is").as_str()) {
            ("additive", _) => Law::Add(step),
            ("multiplicative", "linear") => Law::Multiply(1.0 + factor * seconds),
            ("multiplicative", "literal") => Law::Multiply(factor * seconds),
            ("multiplicative", _) => Law::Multiply(math::pow(factor, seconds)),
            ("by-notices", _) => Law::Share { step, unnoticed: values.choice("si_unnoticed") == "one" },
            _ => return BcnSource::build(values, None),
        };
        BcnSource::build(values, Some(Increase { law, period: lasting("si_period", period)? }))
    },
};

pub(crate) const ECM: ProtocolInfo = ProtocolInfo {
    name: "ecm",
    summary: "ECM, the later form of BCN: feedback lowers and raises the rate, which drifts upwards (802.1au bake-off)",
    parameters: &[
        Parameter {
            default: ParameterDefault::Value(
                "64B",
                "our reading of the 802.1au bake-off slides: with pages of 64 bytes the gains are 1/2 and C/10",
            ),
            ..UNIT
        },
        Parameter { default: ParameterDefault::Value("2", "802.1au bake-off slides: W = 2"), ..WEIGHT },
        Parameter { default: ParameterDefault::Value("0.00026667", "802.1au bake-off slides: Gd = .00026667"), ..GD },
        Parameter { default: ParameterDefault::Value("0.53333", "802.1au bake-off slides: Gi = .53333"), ..GI },
        Parameter { default: ParameterDefault::Value("1Mb/s", "802.1au bake-off slides: Ru = 1 Mb/s"), ..RU },
        Parameter {
            default: ParameterDefault::Value("0", "our choice: the limit on feedback leaves half"),
            ..MIN_DEC_FACTOR
        },
        Parameter {
            default: ParameterDefault::Value(
                "1875",
                "our reading of the 802.1au bake-off slides: (1 + 2 W) Qeq in pages",
            ),
            ..MOST_FEEDBACK
        },
        Parameter { default: ParameterDefault::Value("1Mb/s", "802.1au bake-off slides: Rmin = 1 Mb/s"), ..MIN_RATE },
        MAX_RATE,
        Parameter { default: ParameterDefault::Absent("`max_rate`, without a limiter"), ..START_RATE },
        NEW_LIMITER,
        OFFERED_OVER,
        Parameter {
            default: ParameterDefault::Value("queue", "our reading of the 802.1au bake-off slides"),
            ..ASSOCIATED_BY
        },
        Parameter {
            default: ParameterDefault::Value("10us", "our reading of BCN; the 802.1au bake-off slides give none"),
            ..STOP_FIRST
        },
        STOP_MOST,
        Parameter {
            name: "drift_rate",
            kind: ParameterKind::Rate,
            default: ParameterDefault::Value("1Mb/s", "802.1au bake-off slides: Rd = 1 Mb/s"),
            meaning: "What a limited flow adds to its rate by itself, again and again.",
        },
        Parameter {
            name: "drift_period",
            kind: ParameterKind::Time,
            default: ParameterDefault::Value("1ms", "802.1au bake-off slides: Td = 1 ms"),
            meaning: "How often.",
        },
    ],
    acknowledged: false,
    build: |values| {
        let law = Law::Add(values.rate("drift_rate").as_bits_per_sec() as f64);
        let period = lasting("drift_period", values.time("drift_period"))?;
        BcnSource::build(values, Some(Increase { law, period }))
    },
};

/// What a period of the clock does to a rate.
#[derive(Clone, Copy, Debug)]
enum Law {
    Add(f64),
    Multiply(f64),
    /// Adds a step divided by the number of negative notices; without any, all or nothing of it.
    Share {
        step: f64,
        unnoticed: bool,
    },
}

/// How a flow raises its rate by itself.
#[derive(Clone, Copy, Debug)]
struct Increase {
    law: Law,
    period: Span,
}

/// A rate limiter.
#[derive(Clone, Copy, Debug)]
struct Limiter {
    /// Bits per second.
    rate: f64,
    /// The congestion point that it is associated with.
    point: Option<u32>,
    /// When it next raises its rate by itself. A limiter that is there from the start waits for the first frame.
    next: Option<Time>,
    /// Negative notices since it last did.
    negative: u32,
    /// The end of a stop.
    stopped: Option<Time>,
    /// The longest that the next stop may be.
    longest_stop: Span,
}

/// What a flow without a limiter has sent.
#[derive(Clone, Copy, Debug)]
struct Offered {
    since: Time,
    bits: u64,
    /// Bits per second over the last whole period.
    rate: Option<f64>,
}

impl Offered {
    fn mean(&self, now: Time) -> f64 {
        self.bits as f64 / (now - self.since).as_secs_f64()
    }
}

/// A reaction point that congestion points slow down and speed up.
#[derive(Clone, Debug)]
pub struct BcnSource {
    unit: f64,
    weight: f64,
    gd: f64,
    /// `gi` times `ru`.
    gain: f64,
    min_dec_factor: f64,
    most_feedback: f64,
    min_rate: Rate,
    max_rate: Option<Rate>,
    start_rate: Option<Rate>,
    /// If what a flow sends is measured, over how long.
    offered_over: Option<Span>,
    by_queue: bool,
    stop_first: Span,
    stop_most: Span,
    increase: Option<Increase>,
    least: f64,
    largest: f64,
    /// The rate without a limiter.
    free: Option<Rate>,
    overhead: Bytes,
    stream: Stream,
    offered: Option<Offered>,
    limiter: Option<Limiter>,
}

fn lasting(parameter: &'static str, span: Span) -> Result<Span, Invalid> {
    match span {
        Span::ZERO => Err(Invalid::new(parameter, "no time at all", "give a time above zero")),
        span => Ok(span),
    }
}

fn bits(rate: Rate) -> f64 {
    rate.as_bits_per_sec() as f64
}

impl BcnSource {
    /// From its parameters.
    ///
    /// # Errors
    /// If rates or times are not in their order, or a time is zero.
    fn build(values: &Values, increase: Option<Increase>) -> Result<Reaction, Invalid> {
        let (min_rate, max_rate) = (values.rate("min_rate"), values.maybe_rate("max_rate"));
        if let Some(max_rate) = max_rate {
            ordered(min_rate, max_rate)?;
        }
        let start_rate = values.maybe_rate("start_rate");
        if let Some(start) = start_rate.filter(|start| *start < min_rate || max_rate.is_some_and(|max| max < *start)) {
            let message = format!("{start} is not between `min_rate` and `max_rate`");
            return Err(Invalid::new("start_rate", message, "give another, or leave it out"));
        }
        let stop_first = lasting("stop_first", values.time("stop_first"))?;
        let stop_most = values.time("stop_most");
        if stop_most < stop_first {
            let message = "it is shorter than the first stop may be";
            return Err(Invalid::new("stop_most", message, "give a longer time, or a shorter `stop_first`"));
        }
        let offered_over = lasting("offered_over", values.time("offered_over"))?;
        Ok(Reaction::Bcn(Box::new(BcnSource {
            unit: values.size("unit").get() as f64,
            weight: values.number("weight"),
            gd: values.number("gd"),
            gain: values.number("gi") * bits(values.rate("ru")),
            min_dec_factor: values.number("min_dec_factor"),
            most_feedback: values.maybe_number("most_feedback").unwrap_or(f64::MAX),
            min_rate,
            max_rate,
            start_rate,
            offered_over: (values.choice("new_limiter") == "offered").then_some(offered_over),
            by_queue: values.choice("associated_by") == "queue",
            stop_first,
            stop_most,
            increase,
            least: 0.0,
            largest: 0.0,
            free: None,
            overhead: Bytes::ZERO,
            // Until it is told which flow it belongs to.
            stream: Stream::new(0, 0, "bcn source"),
            offered: None,
            limiter: None,
        })))
    }

    /// A limiter at a rate, associated with nothing. Its clock does not run yet.
    fn limiter_at(&self, rate: f64) -> Limiter {
        let longest_stop = self.stop_first;
        Limiter { rate, point: None, next: None, negative: 0, stopped: None, longest_stop }
    }

    /// The limiter that a notice makes.
    fn new_limiter(&mut self, now: Time) -> Limiter {
        let rate = match (self.offered_over, self.offered.take()) {
            (Some(period), Some(offered)) if now.saturating_since(offered.since) >= period => Some(offered.mean(now)),
            (Some(_), Some(offered)) => offered.rate,
            _ => None,
        };
        let limiter = self.limiter_at(rate.unwrap_or(self.largest).clamp(self.least, self.largest));
        Limiter { next: self.increase.map(|increase| now.saturating_add(increase.period)), ..limiter }
    }

    /// Counts what a flow without a limiter sends.
    fn measure(&mut self, now: Time, len: Bytes) {
        let Some(period) = self.offered_over else { return };
        let mut offered = self.offered.unwrap_or(Offered { since: now, bits: 0, rate: None });
        if now.saturating_since(offered.since) >= period {
            offered = Offered { since: now, bits: 0, rate: Some(offered.mean(now)) };
        }
        offered.bits += (len + self.overhead).bits();
        self.offered = Some(offered);
    }

    /// A limiter with its rate within the bounds; none, if it is back at the largest.
    fn settled(&self, mut limiter: Limiter) -> Option<Limiter> {
        if limiter.stopped.is_none() {
            limiter.rate = limiter.rate.max(self.least);
        }
        (limiter.stopped.is_some() || limiter.rate < self.largest).then_some(limiter)
    }

    fn on_severe(&mut self, now: Time, point: u32) {
        let mut limiter = self.limiter.unwrap_or_else(|| self.new_limiter(now));
        let picos = self.stream.between(1, limiter.longest_stop.as_picos());
        limiter.stopped = Some(now.saturating_add(Span::from_picos(picos)));
        let longest = limiter.longest_stop.as_picos().saturating_mul(2);
        limiter.longest_stop = Span::from_picos(longest).min(self.stop_most);
        limiter.point = Some(point);
        self.limiter = Some(limiter);
    }
}

impl ReactionPoint for BcnSource {
    fn attach(&mut self, adapter: &Adapter) -> Result<(), Invalid> {
        let largest = self.max_rate.unwrap_or(adapter.link);
        ordered(self.min_rate, largest)?;
        (self.least, self.largest) = (bits(self.min_rate), bits(largest));
        self.free = (largest < adapter.link).then_some(largest);
        self.overhead = adapter.overhead;
        self.stream = Stream::new(adapter.seed, u64::from(adapter.flow), "bcn source");
        self.limiter = self.start_rate.filter(|start| *start < largest).map(|start| self.limiter_at(bits(start)));
        Ok(())
    }

    #[inline]
    fn on_sent(&mut self, now: Time, len: Bytes) {
        match (&mut self.limiter, self.increase) {
            (None, _) => self.measure(now, len),
            (Some(limiter), Some(increase)) if limiter.next.is_none() => {
                limiter.next = Some(now.saturating_add(increase.period))
            }
            _ => {}
        }
    }

    fn on_feedback(&mut self, now: Time, feedback: &Feedback) {
        let Feedback::Notice { feedback, offset, growth, point } = *feedback else { return };
        if feedback == SEVERE {
            return self.on_severe(now, point);
        }
        let units = (f64::from(offset) - self.weight * f64::from(growth)) / self.unit;
        let units = units.clamp(-self.most_feedback, self.most_feedback);
        let limiter = match self.limiter {
            None if units < 0.0 => Some(self.new_limiter(now)),
            limiter => limiter,
        };
        let Some(mut limiter) = limiter else { return };
        limiter.longest_stop = self.stop_first;
        if if self.by_queue { offset < 0 } else { units < 0.0 } {
            limiter.point = Some(point);
        }
        limiter.negative += u32::from(units < 0.0);
        // A flow that is stopped stays so until its time has come.
        if limiter.stopped.is_none() && units < 0.0 {
            limiter.rate *= (1.0 + self.gd * units).max(self.min_dec_factor);
        } else if limiter.stopped.is_none() && limiter.point == Some(point) {
            limiter.rate += self.gain * units;
        }
        self.limiter = self.settled(limiter);
    }

    fn on_deadline(&mut self, now: Time) {
        let Some(mut limiter) = self.limiter else { return };
        if limiter.stopped.is_some_and(|until| until <= now) {
            limiter.stopped = None;
            limiter.rate = self.least;
        }
        if let Some(Increase { law, period }) = self.increase
            && limiter.next.is_some_and(|next| next <= now)
        {
            limiter.next = Some(now.saturating_add(period));
            let negative = std::mem::take(&mut limiter.negative);
            let rate = match law {
                Law::Add(step) => limiter.rate + step,
                Law::Multiply(factor) => limiter.rate * factor,
                Law::Share { unnoticed: false, .. } if negative == 0 => limiter.rate,
                Law::Share { step, .. } => limiter.rate + step / f64::from(negative.max(1)),
            };
            if limiter.stopped.is_none() {
                limiter.rate = rate;
            }
        }
        self.limiter = self.settled(limiter);
    }

    #[inline]
    fn deadline(&self) -> Option<Time> {
        let limiter = self.limiter.as_ref()?;
        limiter.next.into_iter().chain(limiter.stopped).min()
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        let limited = self.limiter.map(|limiter| match limiter.stopped {
            Some(_) => HALTED,
            None => Rate::from_bits_per_sec(limiter.rate as u64),
        });
        Allowance { rate: limited.or(self.free), window: None }
    }

    fn tag(&self) -> u16 {
        self.limiter.and_then(|limiter| limiter.point).map_or(0, tag_of)
    }

    fn tags(&self) -> bool {
        true
    }
}
