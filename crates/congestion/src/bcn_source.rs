//! The reaction point of Backward Congestion Notification (Lu, Pan, Prabhakar, Bergamasco, Alaria, Baldini 2006), and
//! of its later form, ECM, with the parameters of the IEEE 802.1au bake-off.
//!
//! Negative feedback creates a rate limiter, lowers its rate by a fraction, and associates it with the congestion point
//! that sent the feedback: from then on, the flow's frames carry the tag of that point. Positive feedback from that
//! point, and from no other, adds to the rate. A timer may raise the rate as well: BCN's self-increase, ECM's drift.
//! Severe congestion stops the flow for a random time. A limiter that returns to the largest rate is removed.
//!
//! [E2CM](crate::e2cm) uses the same limiter with probes instead of tags: its source probes the whole path, or the
//! congestion point that last sent negative feedback, for available capacity.

use crate::feedback::{SEVERE, Sample};
use crate::guidance::guided;
use crate::increase::{Increase, lasting};
use crate::parameter::{Invalid, Values};
use crate::path_probe::PathProbes;
use crate::point::tag_of;
use crate::qcn_source::ordered;
use crate::{Adapter, Allowance, Feedback, HALTED, PathProbe, PathProbeClass, Reaction, ReactionPoint};
use units::{Bytes, Rate, Span, State, Stream, Time};

/// A rate limiter.
#[derive(Clone, Copy, Debug)]
struct Limiter {
    /// Bits per second.
    rate: f64,
    /// The congestion point that it is associated with.
    point: Option<u32>,
    /// Time of the next self-increase. A limiter that exists from the start waits for the first frame.
    next: Option<Time>,
    /// Negative notices since it last did.
    negative: u32,
    /// The end of a stop.
    stopped: Option<Time>,
    /// The longest that the next stop may be.
    longest_stop: Span,
    /// Bytes until the next probe.
    left: i64,
    /// The most that the rate may be.
    most: f64,
}

units::encoded!(struct Limiter { rate, point, next, negative, stopped, longest_stop, left, most });

/// The target of a source's probes.
#[derive(Clone, Debug)]
pub(crate) enum Asks {
    /// No probes: frames carry tags.
    Tagging {
        /// Bytes that a tag adds to a frame.
        size: u16,
    },
    /// The whole path: the destination returns the probe.
    Path {
        probes: PathProbes,
        /// Whether the result of a probe can only raise the rate.
        positive_only: bool,
    },
    /// The congestion point that the source is associated with.
    Point,
}

impl State for Asks {
    fn save(&self, out: &mut Vec<u8>) {
        if let Asks::Path { probes, .. } = self {
            probes.save(out);
        }
    }

    fn load(&mut self, input: &mut &[u8]) -> Option<()> {
        match self {
            Asks::Path { probes, .. } => probes.load(input),
            Asks::Tagging { .. } | Asks::Point => Some(()),
        }
    }
}

/// Differences between the sources of the family.
#[derive(Clone, Debug)]
pub(crate) struct How {
    pub(crate) increase: Option<Increase>,
    pub(crate) asks: Asks,
    /// Bytes between two probes.
    pub(crate) interval: i64,
    pub(crate) guidance_weight: f64,
}

units::state!(struct How { fixed: increase, interval, guidance_weight; parts: asks; });

/// Bytes sent by a flow without a limiter.
#[derive(Clone, Copy, Debug)]
struct Offered {
    since: Time,
    bits: u64,
    /// Bits per second over the last whole period.
    rate: Option<f64>,
}

units::encoded!(struct Offered { since, bits, rate });

impl Offered {
    fn mean(&self, now: Time) -> f64 {
        self.bits as f64 / (now - self.since).as_secs_f64()
    }
}

/// A reaction point whose rate follows the negative and positive feedback of congestion points.
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
    /// Period over which the flow's rate is measured, if it is.
    offered_over: Option<Span>,
    by_queue: bool,
    stop_first: Span,
    stop_most: Span,
    how: How,
    least: f64,
    largest: f64,
    /// The rate without a limiter.
    free: Option<Rate>,
    overhead: Bytes,
    stream: Stream,
    offered: Option<Offered>,
    limiter: Option<Limiter>,
    /// A probe is due.
    ask: bool,
    number: u32,
}

units::state!(struct BcnSource { fixed: unit, weight, gd, gain, min_dec_factor, most_feedback, min_rate, max_rate, start_rate, offered_over, by_queue, stop_first, stop_most, least, largest, free, overhead; plain: stream, offered, limiter, ask, number; parts: how; });

fn bits(rate: Rate) -> f64 {
    rate.as_bits_per_sec() as f64
}

impl BcnSource {
    /// Builds the reaction point from its parameters.
    ///
    /// # Errors
    /// Fails if rates or times are out of order, or if a time is zero.
    pub(crate) fn build(values: &Values, how: How) -> Result<Reaction, Invalid> {
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
            how,
            least: 0.0,
            largest: 0.0,
            free: None,
            overhead: Bytes::ZERO,
            // Until it is told which flow it belongs to.
            stream: Stream::new(0, 0, "bcn source"),
            offered: None,
            limiter: None,
            ask: false,
            number: 0,
        })))
    }

    /// A limiter at a rate, associated with nothing. Its clock does not run yet.
    fn limiter_at(&self, rate: f64) -> Limiter {
        let (longest_stop, left, most) = (self.stop_first, self.how.interval, self.largest);
        Limiter { rate, point: None, next: None, negative: 0, stopped: None, longest_stop, left, most }
    }

    /// The limiter that a notice makes.
    fn new_limiter(&mut self, now: Time) -> Limiter {
        let rate = match (self.offered_over, self.offered.take()) {
            (Some(period), Some(offered)) if now.saturating_since(offered.since) >= period => Some(offered.mean(now)),
            (Some(_), Some(offered)) => offered.rate,
            _ => None,
        };
        let limiter = self.limiter_at(rate.unwrap_or(self.largest).clamp(self.least, self.largest));
        Limiter { next: self.how.increase.map(|increase| now.saturating_add(increase.period)), ..limiter }
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

    /// Takes a limiter with its rate within the bounds; or none, if it is back at the largest.
    fn settle(&mut self, mut limiter: Limiter) {
        if limiter.stopped.is_none() {
            limiter.rate = limiter.rate.min(limiter.most).max(self.least);
        }
        let limited = limiter.stopped.is_some() || limiter.rate < self.largest;
        self.limiter = limited.then_some(limiter);
        if let (Asks::Path { probes, .. }, false) = (&mut self.how.asks, limited) {
            probes.forget();
        }
    }

    /// Applies feedback to the rate. A stopped flow remains stopped until its stop ends.
    fn obey(&self, limiter: &mut Limiter, sample: Sample) {
        let units = self.units(sample);
        match (limiter.stopped, units < 0.0) {
            (Some(_), _) => {}
            (None, true) => limiter.rate *= (1.0 + self.gd * units).max(self.min_dec_factor),
            (None, false) => limiter.rate += self.gain * units,
        }
    }

    /// Feedback in units.
    fn units(&self, sample: Sample) -> f64 {
        (sample.feedback(self.weight) / self.unit).clamp(-self.most_feedback, self.most_feedback)
    }

    /// A probe returned from the destination.
    fn on_answer(&mut self, number: u32, value: u64) {
        let Asks::Path { probes, positive_only } = &mut self.how.asks else { return };
        let Some(sample) = probes.arrived(number, Time::from_picos(value)) else { return };
        let (positive_only, Some(mut limiter)) = (*positive_only, self.limiter) else { return };
        if positive_only && self.units(sample) < 0.0 {
            return;
        }
        self.obey(&mut limiter, sample);
        self.settle(limiter);
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
        let Some(limiter) = &mut self.limiter else { return self.measure(now, len) };
        if let (None, Some(increase)) = (limiter.next, self.how.increase) {
            limiter.next = Some(now.saturating_add(increase.period));
        }
        match &mut self.how.asks {
            Asks::Tagging { .. } => return,
            Asks::Path { probes, .. } => probes.on_sent(now, len.get()),
            Asks::Point => {}
        }
        limiter.left -= len.get() as i64;
        if limiter.left <= 0 {
            // What was sent too much counts for the next, so that intervals have their mean.
            limiter.left = (limiter.left + self.how.interval).max(1);
            self.ask = true;
        }
    }

    fn on_feedback(&mut self, now: Time, feedback: &Feedback) {
        let (feedback, sample, point, guidance) = match *feedback {
            Feedback::Notice { feedback, offset, growth, point, guidance } => {
                (feedback, Sample { offset, growth }, point, guidance)
            }
            Feedback::PathProbe { number, value } => return self.on_answer(number, value),
            Feedback::Acknowledgement { .. } | Feedback::CongestionNotification | Feedback::Grant { .. } => return,
        };
        if feedback == SEVERE {
            return self.on_severe(now, point);
        }
        let units = self.units(sample);
        let limiter = match self.limiter {
            None if units < 0.0 => Some(self.new_limiter(now)),
            limiter => limiter,
        };
        let Some(mut limiter) = limiter else { return };
        limiter.longest_stop = self.stop_first;
        if if self.by_queue { sample.offset < 0 } else { units < 0.0 } {
            limiter.point = Some(point);
        }
        limiter.negative += u32::from(units < 0.0);
        if units < 0.0 || limiter.point == Some(point) {
            self.obey(&mut limiter, sample);
            if let Some(guidance) = guidance {
                limiter.most = bits(guidance.most).clamp(self.least, self.largest);
                limiter.rate = guided(limiter.rate, self.how.guidance_weight, guidance);
            }
        }
        self.settle(limiter);
    }

    fn on_deadline(&mut self, now: Time) {
        let Some(mut limiter) = self.limiter else { return };
        if limiter.stopped.is_some_and(|until| until <= now) {
            limiter.stopped = None;
            limiter.rate = self.least;
        }
        if let Some(Increase { law, period }) = self.how.increase
            && limiter.next.is_some_and(|next| next <= now)
        {
            limiter.next = Some(now.saturating_add(period));
            let negative = std::mem::take(&mut limiter.negative);
            if limiter.stopped.is_none() {
                limiter.rate = law.after(limiter.rate, negative, limiter.most);
            }
        }
        self.settle(limiter);
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

    fn ceiling(&self) -> Option<Rate> {
        self.max_rate
    }

    fn tag(&self) -> u16 {
        match self.how.asks {
            Asks::Tagging { .. } => self.limiter.and_then(|limiter| limiter.point).map_or(0, tag_of),
            Asks::Path { .. } | Asks::Point => 0,
        }
    }

    fn tags(&self) -> bool {
        matches!(self.how.asks, Asks::Tagging { .. } | Asks::Point)
    }

    fn tag_size(&self) -> Bytes {
        match self.how.asks {
            Asks::Tagging { size } => Bytes::new(u64::from(size)),
            Asks::Path { .. } | Asks::Point => Bytes::ZERO,
        }
    }

    fn path_probe(&mut self, now: Time) -> Option<PathProbe> {
        if !std::mem::take(&mut self.ask) {
            return None;
        }
        let limiter = self.limiter?;
        match &mut self.how.asks {
            Asks::Tagging { .. } => None,
            Asks::Path { probes, .. } => Some(probes.leave(now)),
            Asks::Point => {
                let tag = limiter.point.map_or(0, tag_of);
                self.number = self.number.wrapping_add(1);
                (tag != 0).then_some(PathProbe { number: self.number, value: 0, tag })
            }
        }
    }

    fn path_probes(&self) -> Option<PathProbeClass> {
        match self.how.asks {
            Asks::Tagging { .. } => None,
            Asks::Path { .. } => Some(PathProbeClass::WithData),
            Asks::Point => Some(PathProbeClass::Urgent),
        }
    }
}
