//! FECN of the 802.1au bake-off: each port computes a rate for the flows through it, probes collect the minimum along
//! the path, and sources send at that rate. Unrelated to the InfiniBand marking of the same name.
//!
//! Every period, a port multiplies its rate by the ratio of its capacity to the arrival rate and by a factor that falls
//! as the queue grows: the factor is greater than one below the set point and less than one above it.
//!
//! FECN-B starts at the link rate, and ports with long queues stop sources with BCN(0,0).

use crate::advertised::{AdvertisementLaw, CAPACITY, LAW, Seen, adapted};
use crate::feedback::{SEVERE, Sampler, Sampling};
use crate::increase::lasting;
use crate::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Values, joined};
use crate::point::{CongestionPoint, Fate, Notice, Passage, Passing, Request, Surroundings, View};
use crate::qcn_2007::{RUN_1, RUN_2};
use crate::{
    Adapter, Allowance, Feedback, HALTED, Pacing, PathProbe, PathProbeClass, Point, PointInfo, ProtocolInfo, Reaction,
    ReactionPoint,
};
use units::{Bytes, Rate, Span, Stream, Time};

const BAKE_OFF: &str = "802.1au bake-off, table of parameters";

const FLOWS: Parameter = Parameter {
    name: "initial_flows",
    kind: ParameterKind::Count(1, 1_000_000),
    default: ParameterDefault::Value("10", BAKE_OFF),
    meaning: "Number of flows that share the link initially: rates start at the capacity divided by it (N0).",
};
const PERIOD: Parameter = Parameter {
    name: "period",
    kind: ParameterKind::Time,
    default: ParameterDefault::Value("1ms", BAKE_OFF),
    meaning: "Time between two probes of a source, and between two updates of a port's rate (T).",
};
const MIN_RATE: Parameter = Parameter {
    name: "min_rate",
    kind: ParameterKind::Rate,
    default: ParameterDefault::Value("10Mb/s", BAKE_OFF),
    meaning: "Minimum rate.",
};

pub(crate) const SOURCE: ProtocolInfo = ProtocolInfo {
    name: "fecn",
    summary: "FECN of the 802.1au bake-off: probes return the smallest rate of the ports on the path",
    parameters: &[FLOWS, PERIOD, MIN_RATE],
    presets: &[RUN_1, RUN_2],
    acknowledged: false,
    build: |values| FecnSource::build(values, values.count("initial_flows"), None),
};

pub(crate) const SOURCE_B: ProtocolInfo = ProtocolInfo {
    name: "fecn-b",
    summary: "FECN-B: like fecn, but starts at link rate, and BCN(0,0) stops the flow",
    parameters: &[
        PERIOD,
        MIN_RATE,
        Parameter {
            name: "honoured",
            kind: ParameterKind::Choice(&[
                ("before-first-reply", "before the first probe reply: the flow stops until the reply arrives"),
                ("always-stop", "always: the flow stops until the next probe reply"),
                ("halve", "always: the rate is halved"),
            ]),
            default: ParameterDefault::Value(
                "before-first-reply",
                "our reading of the 802.1au bake-off slides: BCN-00 with the fast start",
            ),
            meaning: "When BCN(0,0) applies, and its effect.",
        },
        Parameter {
            name: "fail_safe",
            kind: ParameterKind::Time,
            default: ParameterDefault::Absent("`period` (our choice; no source)"),
            meaning: "Timeout of a stop: without a probe reply, the flow resumes at `min_rate`.",
        },
    ],
    presets: &[RUN_1, RUN_2],
    acknowledged: false,
    build: |values| {
        let honoured = match values.choice("honoured").as_str() {
            "always-stop" => Honoured::Always,
            "halve" => Honoured::Halves,
            _ => Honoured::BeforeReply,
        };
        let fail_safe = lasting("fail_safe", values.maybe_time("fail_safe").unwrap_or(values.time("period")))?;
        FecnSource::build(values, 1, Some((honoured, fail_safe)))
    },
};

const OF_POINT: [Parameter; 9] = joined(
    &[
        FLOWS,
        PERIOD,
        MIN_RATE,
        Parameter {
            name: "set_point",
            kind: ParameterKind::Size(1, 1 << 31),
            default: ParameterDefault::Value("24000B", "802.1au bake-off, table of parameters: 192000 bit"),
            meaning: "Queue length at which the rate factor is 1 (Qeq).",
        },
    ],
    &joined::<5>(&LAW, &[CAPACITY]),
);

pub(crate) const POINT: PointInfo = PointInfo {
    name: "fecn",
    summary: "FECN of the 802.1au bake-off: each port computes a rate for its flows and lowers the rate in passing \
         probes to it",
    parameters: &OF_POINT,
    presets: &[RUN_1, RUN_2],
    build: |values| FecnPoint::build(values, None),
};

pub(crate) const POINT_B: PointInfo = PointInfo {
    name: "fecn-b",
    summary: "FECN-B: like fecn; BCN(0,0) stops sources if the queue is long",
    parameters: &joined::<12>(
        &OF_POINT,
        &[
            Parameter {
                name: "severe_at",
                kind: ParameterKind::Size(1, 1 << 31),
                default: ParameterDefault::Value("120000B", "802.1au bake-off, table of parameters: Qsc 960000 bit"),
                meaning: "Queue length above which the source of a sampled frame receives BCN(0,0).",
            },
            Parameter {
                name: "sample_base",
                kind: ParameterKind::Size(1, 1 << 31),
                default: ParameterDefault::Value(
                    "150000B",
                    "our choice: that of ECM; the slides give no value for \
                     FECN-B",
                ),
                meaning: "Bytes between two samples of a queue.",
            },
            Parameter {
                name: "jitter",
                kind: ParameterKind::Number(0.0, 1.0),
                default: ParameterDefault::Value("0.15", "our choice: that of ECM; the slides give none"),
                meaning: "Random deviation of each sampling interval, as a fraction.",
            },
        ],
    ),
    presets: &[RUN_1, RUN_2],
    build: |values| {
        let (base, jitter) = (values.size("sample_base").get() as f64, values.number("jitter"));
        let severe_at = u32::try_from(values.size("severe_at").get()).unwrap_or(u32::MAX);
        FecnPoint::build(values, Some((severe_at, Sampling::Bytes { base, jitter })))
    },
};

/// Conditions under which BCN(0,0) is obeyed, and its effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Honoured {
    BeforeReply,
    Always,
    Halves,
}

/// A reaction point that sends at the rate that its probes return.
#[derive(Clone, Debug)]
pub struct FecnSource {
    initial_flows: u64,
    period: Span,
    min_rate: u64,
    link: u64,
    rate: u64,
    /// Effect of BCN(0,0), and the time after which a stopped flow resumes by itself; `None` in FECN.
    stops: Option<(Honoured, Span)>,
    /// Time at which a stopped flow resumes.
    stopped: Option<Time>,
    /// Whether a probe has returned.
    replied: bool,
    off: bool,
    /// Time of the next probe; `None` before the first frame and while the source is off.
    due: Option<Time>,
    number: u32,
}

units::state!(struct FecnSource { fixed: initial_flows, period, min_rate, link, stops; plain: rate, stopped, replied, off, due, number; });

impl FecnSource {
    /// Builds the reaction point from its parameters.
    ///
    /// # Errors
    /// Fails if the interval between probes is zero.
    fn build(values: &Values, initial_flows: u64, stops: Option<(Honoured, Span)>) -> Result<Reaction, Invalid> {
        Ok(Reaction::Fecn(Box::new(FecnSource {
            initial_flows,
            period: lasting("period", values.time("period"))?,
            min_rate: values.rate("min_rate").as_bits_per_sec(),
            link: 0,
            rate: 0,
            stops,
            stopped: None,
            replied: false,
            off: false,
            due: None,
            number: 0,
        })))
    }

    /// BCN(0,0) has come.
    fn on_severe(&mut self, now: Time) {
        match self.stops {
            Some((Honoured::Halves, _)) => self.rate = (self.rate / 2).max(self.min_rate),
            Some((honoured, fail_safe)) if honoured == Honoured::Always || !self.replied => {
                self.stopped = Some(now.saturating_add(fail_safe));
            }
            Some(_) | None => {}
        }
    }
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
        // What waits at the adapter of a source that is off still goes, without probes.
        if !self.off {
            self.due.get_or_insert(now);
        }
    }

    fn on_feedback(&mut self, now: Time, feedback: &Feedback) {
        match *feedback {
            Feedback::PathProbe { value, .. } => {
                self.rate = value.clamp(self.min_rate, self.link);
                (self.stopped, self.replied) = (None, true);
            }
            Feedback::Notice { feedback: SEVERE, .. } => self.on_severe(now),
            Feedback::Notice { .. }
            | Feedback::Acknowledgement { .. }
            | Feedback::CongestionNotification
            | Feedback::Grant { .. } => {}
        }
    }

    fn on_deadline(&mut self, now: Time) {
        if self.stopped.is_some_and(|until| until <= now) {
            (self.stopped, self.rate) = (None, self.min_rate);
        }
    }

    fn deadline(&self) -> Option<Time> {
        self.due.into_iter().chain(self.stopped).min()
    }

    fn on_activity(&mut self, _now: Time, on: bool) {
        (self.off, self.due) = (!on, self.due.filter(|_| on));
    }

    fn allowance(&self) -> Allowance {
        let rate = if self.stopped.is_some() { HALTED } else { Rate::from_bits_per_sec(self.rate) };
        Allowance { rate: Some(rate), window: None }
    }

    fn pacing(&self) -> Pacing {
        Pacing::Remaining
    }

    fn path_probe(&mut self, now: Time) -> Option<PathProbe> {
        self.due.filter(|&due| due <= now)?;
        self.due = Some(now + self.period);
        self.number = self.number.wrapping_add(1);
        Some(PathProbe { number: self.number, value: self.link, tag: 0 })
    }

    fn path_probes(&self) -> Option<PathProbeClass> {
        Some(PathProbeClass::Urgent)
    }
}

/// State of one class at a port.
#[derive(Clone, Debug, PartialEq)]
struct PortRate {
    rate: f64,
    /// Arrivals since the last adaptation.
    seen: Seen,
    /// Selects the frames sampled for BCN(0,0), where it is sent.
    sampler: Option<Sampler>,
}

units::state!(struct PortRate { plain: rate, seen; parts: sampler; });

/// A congestion point that computes rates.
#[derive(Clone, Debug, PartialEq)]
pub struct FecnPoint {
    initial_flows: f64,
    period: Span,
    law: AdvertisementLaw,
    /// Queue length above which BCN(0,0) is sent, and the sampling of frames; `None` in FECN.
    severe: Option<(u32, Sampling)>,
    classes: usize,
    capacities: Vec<f64>,
    shares: Vec<PortRate>,
    due: Option<Time>,
}

units::state!(struct FecnPoint { fixed: initial_flows, period, law, severe, classes, capacities; plain: due; parts: shares; });

impl FecnPoint {
    /// Builds the congestion point from its parameters.
    ///
    /// # Errors
    /// Fails if the period is zero.
    fn build(values: &Values, severe: Option<(u32, Sampling)>) -> Result<Point, Invalid> {
        Ok(Point::Fecn(FecnPoint {
            initial_flows: values.count("initial_flows") as f64,
            period: lasting("period", values.time("period"))?,
            law: AdvertisementLaw::read(values),
            severe,
            classes: 0,
            capacities: Vec::new(),
            shares: Vec::new(),
            due: None,
        }))
    }

    fn adapt(&mut self, at: usize, queue: f64) {
        let capacity = self.capacities[at / self.classes];
        let share = &mut self.shares[at];
        let seen = std::mem::take(&mut share.seen);
        share.rate = adapted(&self.law, share.rate, capacity, queue, &seen, self.period);
    }
}

impl CongestionPoint for FecnPoint {
    fn attach(&mut self, surroundings: &Surroundings) {
        self.classes = surroundings.classes;
        self.capacities = surroundings.rates.iter().map(|rate| rate.as_bits_per_sec() as f64).collect();
        let Surroundings { seed, node, .. } = *surroundings;
        let share = |at: usize| {
            let rate = (self.capacities[at / self.classes] / self.initial_flows).max(self.law.min_rate);
            let stream = |purpose: &str| Stream::new(seed, u64::from(node) << 32 | at as u64, purpose);
            let sampler = self.severe.map(|(_, sampling)| Sampler::new(sampling, stream("fecn-b sampling")));
            PortRate { rate, seen: Seen::default(), sampler }
        };
        self.shares = (0..surroundings.rates.len() * surroundings.classes).map(share).collect();
    }

    fn notifies(&self) -> bool {
        self.severe.is_some()
    }

    fn on_output(&mut self, frame: &Passage, view: &impl View) -> Request {
        let Passage { now, flow, output: port, class, len, .. } = *frame;
        let share = &mut self.shares[usize::from(port) * self.classes + usize::from(class)];
        share.seen.see(len, view.blocked(port, class));
        self.due.get_or_insert(now.saturating_add(self.period));
        let sampled = share.sampler.as_mut().is_some_and(|sampler| sampler.samples(len, || 0.0));
        if sampled && self.severe.is_some_and(|(severe_at, _)| view.waiting_bytes(port, class) > severe_at) {
            let notice = Notice { flow, feedback: SEVERE, offset: 0, growth: 0, port, class, guidance: None };
            return Request::Notify(notice);
        }
        Request::Nothing
    }

    fn on_path_probe(&mut self, probe: &mut Passing, _view: &impl View) -> Fate {
        let rate = self.shares[usize::from(probe.output) * self.classes + usize::from(probe.class)].rate;
        probe.value = probe.value.min(rate as u64);
        Fate::Pass
    }

    fn deadline(&self) -> Option<Time> {
        self.due
    }

    fn on_deadline(&mut self, now: Time, view: &impl View) -> Request {
        let mut idle = true;
        for at in 0..self.shares.len() {
            let (output, class) = ((at / self.classes) as u16, (at % self.classes) as u8);
            let queue = view.waiting_bytes(output, class);
            idle &= self.shares[at].seen.arrived == 0 && queue == 0;
            self.adapt(at, f64::from(queue));
        }
        // A switch that nothing has passed for a period keeps still until something comes.
        self.due = (!idle).then(|| now + self.period);
        Request::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::Value;

    #[test]
    fn sources_probe_every_period_and_follow_the_answer() {
        let Ok(Reaction::Fecn(mut source)) = (SOURCE.build)(&Values::defaults(SOURCE.parameters)) else {
            panic!("it builds")
        };
        source.attach(&Adapter::of(Rate::from_gigabits(10), Bytes::new(1500))).unwrap();
        assert_eq!(source.allowance().rate, Some(Rate::from_gigabits(1)));
        assert_eq!((source.path_probe(Time::ZERO), source.deadline()), (None, None));
        source.on_sent(Time::ZERO, Bytes::new(1500));
        let probe = source.path_probe(Time::ZERO).unwrap();
        assert_eq!((probe.value, probe.tag), (10_000_000_000, 0));
        let next = Time::ZERO + Span::from_millis(1);
        assert_eq!((source.path_probe(Time::from_picos(5)), source.deadline()), (None, Some(next)));
        source.on_feedback(next, &Feedback::PathProbe { number: probe.number, value: 2_500_000_000 });
        assert_eq!(source.allowance().rate, Some(Rate::from_megabits(2_500)));
        source.on_feedback(next, &Feedback::PathProbe { number: probe.number, value: 3 });
        assert_eq!(source.allowance().rate, Some(Rate::from_megabits(10)));
        assert!(source.path_probe(next).is_some());
        let fast = Values::defaults(SOURCE.parameters).with("period", Value::Time(Span::ZERO));
        assert_eq!((SOURCE.build)(&fast).unwrap_err().parameter, "period");
    }

    /// A source of FECN-B at a link of 10 Gb/s that has begun to send.
    fn stoppable(honoured: &str) -> Reaction {
        let values = Values::defaults(SOURCE_B.parameters).with("honoured", Value::Choice(honoured.to_owned()));
        let mut source = (SOURCE_B.build)(&values).unwrap();
        source.attach(&Adapter::of(Rate::from_gigabits(10), Bytes::new(1500))).unwrap();
        source.on_sent(Time::ZERO, Bytes::new(1500));
        assert!(source.path_probe(Time::ZERO).is_some());
        source
    }

    fn severe(source: &mut Reaction, now: Time) -> Option<Rate> {
        let (offset, growth, point, guidance) = (0, 0, 3, None);
        source.on_feedback(now, &Feedback::Notice { feedback: SEVERE, offset, growth, point, guidance });
        source.allowance().rate
    }

    fn reply(source: &mut Reaction, megabits: u64) -> Option<Rate> {
        source.on_feedback(Time::ZERO, &Feedback::PathProbe { number: 1, value: megabits * 1_000_000 });
        source.allowance().rate
    }

    #[test]
    fn fecn_b_starts_at_its_link_and_is_stopped_before_the_first_reply() {
        let mut source = stoppable("before-first-reply");
        assert_eq!(source.allowance().rate, Some(Rate::from_gigabits(10)));
        let micros = |micros: u64| Time::ZERO + Span::from_micros(micros);
        assert_eq!(severe(&mut source, micros(300)), Some(HALTED));
        assert_eq!(reply(&mut source, 400), Some(Rate::from_megabits(400)));
        assert_eq!(severe(&mut source, micros(900)), Some(Rate::from_megabits(400)));
        // Without a reply it goes on at its least rate, a period after the stop.
        let mut source = stoppable("before-first-reply");
        severe(&mut source, micros(300));
        assert_eq!(source.deadline(), Some(micros(1000)));
        assert!(source.path_probe(micros(1000)).is_some());
        assert_eq!(source.deadline(), Some(micros(1300)));
        source.on_deadline(micros(1300));
        assert_eq!((source.allowance().rate, source.deadline()), (Some(Rate::from_megabits(10)), Some(micros(2000))));
    }

    #[test]
    fn the_other_readings_of_fecn_b_stop_or_halve_always() {
        let mut stops = stoppable("always-stop");
        reply(&mut stops, 400);
        assert_eq!(severe(&mut stops, Time::ZERO), Some(HALTED));
        assert_eq!(reply(&mut stops, 300), Some(Rate::from_megabits(300)));
        let mut halves = stoppable("halve");
        assert_eq!(severe(&mut halves, Time::ZERO), Some(Rate::from_gigabits(5)));
        reply(&mut halves, 15);
        // Half of 15 is below the least rate.
        assert_eq!(severe(&mut halves, Time::ZERO), Some(Rate::from_megabits(10)));
    }

    #[test]
    fn a_silent_source_does_not_probe() {
        let mut source = stoppable("halve");
        source.on_activity(Time::ZERO, false);
        let again = Time::ZERO + Span::from_millis(7);
        source.on_sent(again, Bytes::new(1500));
        assert_eq!((source.deadline(), source.path_probe(Time::MAX)), (None, None));
        source.on_activity(again, true);
        source.on_sent(again, Bytes::new(1500));
        assert!(source.path_probe(again).is_some());
    }
}
