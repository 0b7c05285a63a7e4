//! FECN of the 802.1au bake-off: each port computes the rate that flows through it should have, probes gather the least
//! along the path, and sources send at that. Not the marking of InfiniBand that has the same name.
//!
//! A port adapts its rate every period by the ratio of its capacity to what arrives, times a factor that falls as the
//! queue rises: above one below the set point, below one above it.

use crate::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Values};
use crate::point::{CongestionPoint, Notice, Passage, Passing, Surroundings, View, Wish};
use crate::{Adapter, Allowance, Feedback, Pacing, Point, PointInfo, Probe, ProtocolInfo, Reaction, ReactionPoint};
use units::{Bytes, Rate, Span, Time};

const BAKE_OFF: &str = "802.1au bake-off, table of parameters";

const FLOWS: Parameter = Parameter {
    name: "initial_flows",
    kind: ParameterKind::Count(1, 1_000_000),
    default: ParameterDefault::Value("10", BAKE_OFF),
    meaning: "Rates start at the capacity over so many (N0).",
};
const PERIOD: Parameter = Parameter {
    name: "period",
    kind: ParameterKind::Time,
    default: ParameterDefault::Value("1ms", BAKE_OFF),
    meaning: "Time between two probes of a source, and between two adaptations of a port (T).",
};
const MIN_RATE: Parameter = Parameter {
    name: "min_rate",
    kind: ParameterKind::Rate,
    default: ParameterDefault::Value("10Mb/s", BAKE_OFF),
    meaning: "No rate is less.",
};

pub(crate) const SOURCE: ProtocolInfo = ProtocolInfo {
    name: "fecn",
    summary: "FECN of the 802.1au bake-off: probes bring back the least rate of the ports on the path",
    parameters: &[FLOWS, PERIOD, MIN_RATE],
    acknowledged: false,
    build: FecnSource::build,
};

pub(crate) const POINT: PointInfo = PointInfo {
    name: "fecn",
    summary: "FECN of the 802.1au bake-off: each port computes a rate for its flows and lowers that of passing probes to it",
    parameters: &[
        FLOWS,
        PERIOD,
        MIN_RATE,
        Parameter {
            name: "set_point",
            kind: ParameterKind::Size(1, 1 << 31),
            default: ParameterDefault::Value("24000B", "802.1au bake-off, table of parameters: 192000 bit"),
            meaning: "The queue at which the factor is one (Qeq).",
        },
        Parameter {
            name: "gain_below",
            kind: ParameterKind::Number(1.0, 100.0),
            default: ParameterDefault::Value("1.1", BAKE_OFF),
            meaning: "The factor of an empty queue (a).",
        },
        Parameter {
            name: "gain_above",
            kind: ParameterKind::Number(1.0, 100.0),
            default: ParameterDefault::Value("1.002", BAKE_OFF),
            meaning: "How fast the factor falls above the set point (b).",
        },
        Parameter {
            name: "least_factor",
            kind: ParameterKind::Number(0.0, 1.0),
            default: ParameterDefault::Value("0.1", BAKE_OFF),
            meaning: "The factor is never less (c).",
        },
        Parameter {
            name: "smoothing",
            kind: ParameterKind::Number(0.0, 1.0),
            default: ParameterDefault::Value("0.5", BAKE_OFF),
            meaning: "Part of a new rate that is computed anew; the rest is the old one (alpha).",
        },
        Parameter {
            name: "capacity",
            kind: ParameterKind::Choice(&[
                ("link", "that of the link"),
                ("unpaused", "that of the link, less the part of the period in which it was found stopped"),
            ]),
            default: ParameterDefault::Value("link", "our reading: the slides say capacity"),
            meaning: "What is shared out.",
        },
    ],
    notifies: false,
    build: FecnPoint::build,
};

/// A source that follows the rate its probes bring back.
#[derive(Clone, Copy, Debug)]
pub struct FecnSource {
    initial_flows: u64,
    period: Span,
    min_rate: u64,
    link: u64,
    rate: u64,
    /// When the next probe is due; `None` before the first frame.
    due: Option<Time>,
    number: u32,
}

impl FecnSource {
    /// From its parameters.
    ///
    /// # Errors
    /// If probes would come without any time between them.
    pub fn build(values: &Values) -> Result<Reaction, Invalid> {
        Ok(Reaction::Fecn(FecnSource {
            initial_flows: values.count("initial_flows"),
            period: period(values)?,
            min_rate: values.rate("min_rate").as_bits_per_sec(),
            link: 0,
            rate: 0,
            due: None,
            number: 0,
        }))
    }
}

fn period(values: &Values) -> Result<Span, Invalid> {
    let period = values.time("period");
    if period == Span::ZERO {
        return Err(Invalid::new("period", "no time between two probes", "give a time above zero"));
    }
    Ok(period)
}

impl ReactionPoint for FecnSource {
    fn attach(&mut self, adapter: &Adapter) -> Result<(), Invalid> {
        self.link = adapter.link.as_bits_per_sec();
        if self.min_rate > self.link {
            let message = format!("{} is above the link's {}", Rate::from_bits_per_sec(self.min_rate), adapter.link);
            return Err(Invalid::new("min_rate", message, "give a smaller one"));
        }
        self.rate = (self.link / self.initial_flows).max(self.min_rate);
        Ok(())
    }

    fn on_sent(&mut self, now: Time, _len: Bytes) {
        self.due.get_or_insert(now);
    }

    fn on_feedback(&mut self, _now: Time, feedback: &Feedback) {
        if let Feedback::Probe { value, .. } = *feedback {
            self.rate = value.clamp(self.min_rate, self.link);
        }
    }

    fn on_deadline(&mut self, _now: Time) {}

    fn deadline(&self) -> Option<Time> {
        self.due
    }

    fn allowance(&self) -> Allowance {
        Allowance { rate: Some(Rate::from_bits_per_sec(self.rate)), window: None }
    }

    fn pacing(&self) -> Pacing {
        Pacing::Remaining
    }

    fn probe(&mut self, now: Time) -> Option<Probe> {
        self.due.filter(|&due| due <= now)?;
        self.due = Some(now + self.period);
        self.number = self.number.wrapping_add(1);
        Some(Probe { number: self.number, value: self.link, tag: 0 })
    }

    fn probes(&self) -> bool {
        true
    }
}

/// What a port knows of one class.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Share {
    rate: f64,
    /// Bits that have come since the last adaptation.
    arrived: u64,
    /// How often it was looked at since then, and how often it could not send.
    looks: u32,
    stopped: u32,
}

/// A congestion point that computes rates.
#[derive(Clone, Debug, PartialEq)]
pub struct FecnPoint {
    initial_flows: f64,
    period: Span,
    min_rate: f64,
    set_point: f64,
    below: f64,
    above: f64,
    least: f64,
    smoothing: f64,
    unpaused: bool,
    classes: usize,
    capacities: Vec<f64>,
    shares: Vec<Share>,
    due: Option<Time>,
}

impl FecnPoint {
    /// From its parameters.
    ///
    /// # Errors
    /// If a period takes no time.
    pub fn build(values: &Values) -> Result<Point, Invalid> {
        Ok(Point::FecnRate(FecnPoint {
            initial_flows: values.count("initial_flows") as f64,
            period: period(values)?,
            min_rate: values.rate("min_rate").as_bits_per_sec() as f64,
            set_point: values.size("set_point").get() as f64,
            below: values.number("gain_below"),
            above: values.number("gain_above"),
            least: values.number("least_factor"),
            smoothing: values.number("smoothing"),
            unpaused: values.choice("capacity") == "unpaused",
            classes: 0,
            capacities: Vec::new(),
            shares: Vec::new(),
            due: None,
        }))
    }

    /// The factor of a queue.
    fn factor(&self, queue: f64) -> f64 {
        let hyperbola = |gain: f64| gain * self.set_point / ((gain - 1.0) * queue + self.set_point);
        if queue <= self.set_point { hyperbola(self.below) } else { hyperbola(self.above).max(self.least) }
    }

    fn adapt(&mut self, at: usize, queue: f64) {
        let factor = self.factor(queue);
        let capacity = self.capacities[at / self.classes];
        let share = &mut self.shares[at];
        let stopped = if self.unpaused { f64::from(share.stopped) / f64::from(share.looks.max(1)) } else { 0.0 };
        let demand = share.arrived as f64 / self.period.as_secs_f64();
        let wanted = if demand > 0.0 { share.rate * factor * capacity * (1.0 - stopped) / demand } else { capacity };
        let rate = self.smoothing * wanted + (1.0 - self.smoothing) * share.rate;
        share.rate = rate.min(capacity).max(self.min_rate);
        (share.arrived, share.looks, share.stopped) = (0, 0, 0);
    }
}

impl CongestionPoint for FecnPoint {
    fn attach(&mut self, surroundings: &Surroundings) {
        self.classes = surroundings.classes;
        self.capacities = surroundings.rates.iter().map(|rate| rate.as_bits_per_sec() as f64).collect();
        let share = |at: usize| {
            let rate = (self.capacities[at / self.classes] / self.initial_flows).max(self.min_rate);
            Share { rate, arrived: 0, looks: 0, stopped: 0 }
        };
        self.shares = (0..surroundings.rates.len() * surroundings.classes).map(share).collect();
    }

    fn on_output(&mut self, frame: &Passage, view: &impl View) -> Wish {
        let share = &mut self.shares[usize::from(frame.output) * self.classes + usize::from(frame.class)];
        share.arrived += u64::from(frame.len) * 8;
        share.looks += 1;
        share.stopped += u32::from(view.blocked(frame.output, frame.class));
        self.due.get_or_insert(frame.now + self.period);
        Wish::Nothing
    }

    fn on_probe(&mut self, probe: &mut Passing, _view: &impl View) -> Option<Notice> {
        let rate = self.shares[usize::from(probe.output) * self.classes + usize::from(probe.class)].rate;
        probe.value = probe.value.min(rate as u64);
        None
    }

    fn deadline(&self) -> Option<Time> {
        self.due
    }

    fn on_deadline(&mut self, now: Time, view: &impl View) -> Wish {
        let mut idle = true;
        for at in 0..self.shares.len() {
            let (output, class) = ((at / self.classes) as u16, (at % self.classes) as u8);
            let queue = view.waiting_bytes(output, class);
            idle &= self.shares[at].arrived == 0 && queue == 0;
            self.adapt(at, f64::from(queue));
        }
        // A switch that nothing has passed for a period keeps still until something comes.
        self.due = (!idle).then(|| now + self.period);
        Wish::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::Value;

    fn point(values: &Values) -> FecnPoint {
        let Ok(Point::FecnRate(mut point)) = FecnPoint::build(values) else { panic!("it builds") };
        point.attach(&Surroundings {
            rates: vec![Rate::from_gigabits(10); 2],
            classes: 1,
            to_host: vec![true; 2],
            largest_frame: vec![1500],
            buffer: vec![300_000],
            seed: 1,
            node: 0,
            first_port: 0,
        });
        point
    }

    #[test]
    fn the_factor_is_one_at_the_set_point_and_falls() {
        let point = point(&Values::defaults(POINT.parameters));
        assert!((point.factor(0.0) - 1.1).abs() < 1e-12);
        assert!((point.factor(24_000.0) - 1.0).abs() < 1e-12);
        assert!(point.factor(24_001.0) < 1.0);
        assert!((point.factor(1e12) - 0.1).abs() < 1e-12);
        // a Qeq / ((a-1) q + Qeq) at half the set point: 1.1 * 24000 / (0.1 * 12000 + 24000).
        assert!((point.factor(12_000.0) - 26_400.0 / 25_200.0).abs() < 1e-12);
    }

    #[test]
    fn a_period_halves_the_way_to_the_fair_rate() {
        let mut point = point(&Values::defaults(POINT.parameters));
        // 20 Mbit in 1 ms are twice the capacity; at the set point the rate of 1 Gb/s should be half of it.
        point.shares[0].arrived = 20_000_000;
        point.adapt(0, 24_000.0);
        assert!((point.shares[0].rate - 0.75e9).abs() < 1.0, "{}", point.shares[0].rate);
        // Without arrivals it goes to the capacity.
        point.adapt(0, 0.0);
        assert!((point.shares[0].rate - 5.375e9).abs() < 1.0);
        assert_eq!(point.shares[0].arrived, 0);
    }

    #[test]
    fn sources_probe_every_period_and_follow_the_answer() {
        let Ok(Reaction::Fecn(mut source)) = FecnSource::build(&Values::defaults(SOURCE.parameters)) else {
            panic!("it builds")
        };
        source.attach(&Adapter::of(Rate::from_gigabits(10), Bytes::new(1500))).unwrap();
        assert_eq!(source.allowance().rate, Some(Rate::from_gigabits(1)));
        assert_eq!((source.probe(Time::ZERO), source.deadline()), (None, None));
        source.on_sent(Time::ZERO, Bytes::new(1500));
        let probe = source.probe(Time::ZERO).unwrap();
        assert_eq!((probe.value, probe.tag), (10_000_000_000, 0));
        let next = Time::ZERO + Span::from_millis(1);
        assert_eq!((source.probe(Time::from_picos(5)), source.deadline()), (None, Some(next)));
        source.on_feedback(next, &Feedback::Probe { number: probe.number, value: 2_500_000_000 });
        assert_eq!(source.allowance().rate, Some(Rate::from_megabits(2_500)));
        source.on_feedback(next, &Feedback::Probe { number: probe.number, value: 3 });
        assert_eq!(source.allowance().rate, Some(Rate::from_megabits(10)));
        assert!(source.probe(next).is_some());
        let fast = Values::defaults(SOURCE.parameters).with("period", Value::Time(Span::ZERO));
        assert_eq!(FecnSource::build(&fast).unwrap_err().parameter, "period");
    }
}
