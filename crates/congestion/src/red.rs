//! Random early detection: a queue between two thresholds marks or drops frames with a probability that grows linearly
//! (Floyd and Jacobson 1993; with marks, RFC 3168 and the WRED profiles of switches).

use crate::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Preset, Values};
use crate::point::{CongestionPoint, Passage, Surroundings, Treatment, View};
use crate::{Point, PointInfo};
use units::{Bytes, Rate, Stream, Time, math};

const AT: ParameterKind = ParameterKind::Choice(&[
    ("enqueue", "when the frame joins the queue, in which it is not counted"),
    ("dequeue", "when the frame leaves the queue, which no longer contains it"),
]);

const PMAX: Parameter = Parameter {
    name: "pmax",
    kind: ParameterKind::Number(0.0, 1.0),
    default: ParameterDefault::Value("0.01", "Zhu et al., CoNEXT 2016, their fluid model: DCQCN at 40 Gb/s"),
    meaning: "Probability at `kmax`. It grows linearly from 0 at `kmin`; above `kmax` it is 1.",
};

const KMIN: Parameter = Parameter {
    name: "kmin",
    kind: ParameterKind::Size(0, 1 << 31),
    default: ParameterDefault::Value("5KB", "Zhu et al., CoNEXT 2016, their fluid model: DCQCN at 40 Gb/s"),
    meaning: "Queue length up to which nothing happens: bytes of the class that wait for the output, without the frame \
         on the wire.",
};

const KMAX: Parameter = Parameter {
    name: "kmax",
    kind: ParameterKind::Size(0, 1 << 31),
    default: ParameterDefault::Value("200KB", "Zhu et al., CoNEXT 2016, figure 3: DCQCN at 40 Gb/s"),
    meaning: "Queue length above which every frame is affected.",
};

const WEIGHT: Parameter = Parameter {
    name: "weight",
    kind: ParameterKind::Number(0.000_001, 1.0),
    default: ParameterDefault::Value("1", "our choice: the present queue, as in data-centre switches"),
    meaning: "Weight of the queue in its moving average, which every arrival updates: average += weight * (queue - \
         average). 1 is the queue itself. While the queue is empty, the average decays as if frames of the largest \
         size arrived back to back, also if arrivals are dropped meanwhile.",
};

const SPACING: Parameter = Parameter {
    name: "spacing",
    kind: ParameterKind::Choice(&[
        ("independent", "every frame is drawn independently"),
        ("uniform", "the number of frames between two affected ones is uniform: p / (1 - count * p)"),
    ]),
    default: ParameterDefault::Value("independent", "our choice: the stated probability holds for every frame"),
    meaning: "How affected frames are spread over the stream.",
};

/// Shared with [`crate::step`].
pub(crate) const REFERENCE_RATE: Parameter = Parameter {
    name: "reference_rate",
    kind: ParameterKind::Rate,
    default: ParameterDefault::Absent("the thresholds apply to ports of every rate"),
    meaning: "Rate of the ports for which the thresholds are given. Ports of other rates have thresholds in \
         proportion.",
};

const BY_RATE: Parameter = Parameter {
    name: "by_rate",
    kind: ParameterKind::Text,
    default: ParameterDefault::Absent("ports of every rate are alike, or as `reference_rate` states"),
    meaning: "Thresholds of ports by their rate: `RATE KMIN KMAX PMAX`, several separated by commas, such as \"25Gb/s \
         100KB 400KB 0.2, 100Gb/s 400KB 1.6MB 0.2\". Ports of other rates have `kmin`, `kmax` and `pmax`.",
};

pub(crate) const ECN: PointInfo = PointInfo {
    name: "ecn",
    summary: "ECN by random early detection: marks frames with a probability that grows between two queue lengths",
    parameters: &[
        KMIN,
        KMAX,
        PMAX,
        Parameter {
            name: "at",
            kind: AT,
            default: ParameterDefault::Value(
                "dequeue",
                "Zhu et al., CoNEXT 2016, section 5.2: switches mark on egress; HPCC simulator",
            ),
            meaning: "When a frame is judged.",
        },
        WEIGHT,
        SPACING,
        REFERENCE_RATE,
        BY_RATE,
    ],
    presets: &[
        Preset {
            name: "hpcc-simulator",
            meaning: "the public HPCC simulator: thresholds in proportion to the rate",
            values: &[
                ("kmin", "400KB", "KMIN_MAP of its sample configuration, 100 Gb/s"),
                ("kmax", "1600KB", "KMAX_MAP of its sample configuration, 100 Gb/s"),
                ("pmax", "0.2", "PMAX_MAP of its sample configuration"),
                ("reference_rate", "100Gb/s", "our choice: in proportion, as its maps at 25, 50 and 100 Gb/s are"),
            ],
        },
        Preset {
            name: "sonic",
            meaning: "the WRED profile AZURE_LOSSLESS of SONiC",
            values: &[
                ("kmin", "1MiB", "SONiC, qos_config.j2: green_min_threshold"),
                ("kmax", "2MiB", "SONiC, qos_config.j2: green_max_threshold"),
                ("pmax", "0.05", "SONiC, qos_config.j2: green_drop_probability"),
            ],
        },
    ],
    build: |values| build(values, Action::Mark),
};

pub(crate) const DROP: PointInfo = PointInfo {
    name: "red",
    summary: "random early detection: drops frames with a probability that grows between two queue lengths",
    parameters: &[
        Parameter {
            default: ParameterDefault::Value("7500B", "ns-3, RedQueueDisc: 5 packets, here of 1500 B"),
            ..KMIN
        },
        Parameter {
            default: ParameterDefault::Value("22500B", "ns-3, RedQueueDisc: 15 packets, here of 1500 B"),
            ..KMAX
        },
        Parameter { default: ParameterDefault::Value("0.02", "ns-3, RedQueueDisc: 1/50"), ..PMAX },
        Parameter { default: ParameterDefault::Value("0.002", "ns-3, RedQueueDisc"), ..WEIGHT },
        Parameter { default: ParameterDefault::Value("uniform", "Floyd and Jacobson 1993"), ..SPACING },
        REFERENCE_RATE,
    ],
    presets: &[],
    build: |values| build(values, Action::Drop),
};

/// What happens to the frames that are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Mark,
    Drop,
}

/// The state of one queue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct QueueAverage {
    average: f64,
    /// Up to when the average has decayed, if the queue has been empty since: when the last frame left it, or when one
    /// arrived later. One that arrived may have been dropped, and the queue is still empty.
    decayed: Time,
    /// Frames since the last one affected.
    count: u32,
}

units::encoded!(struct QueueAverage { average, decayed, count });

/// Queue lengths between which the probability grows to `pmax`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Thresholds {
    kmin: f64,
    kmax: f64,
    pmax: f64,
}

/// What one port has for all its classes.
#[derive(Clone, Debug, PartialEq)]
struct Port {
    kmin: f64,
    kmax: f64,
    pmax: f64,
    rate: Rate,
    stream: Stream,
}

units::state!(struct Port { fixed: kmin, kmax, pmax, rate; plain: stream; });

/// A congestion point that marks or drops frames at random.
#[derive(Clone, Debug, PartialEq)]
pub struct Red {
    action: Action,
    kmin: f64,
    kmax: f64,
    pmax: f64,
    at_dequeue: bool,
    weight: f64,
    uniform: bool,
    reference: Option<Rate>,
    by_rate: Vec<(Rate, Thresholds)>,
    classes: usize,
    ports: Vec<Port>,
    largest_frame: Vec<u32>,
    /// By output and class.
    lanes: Vec<QueueAverage>,
}

units::state!(struct Red { fixed: action, kmin, kmax, pmax, at_dequeue, weight, uniform, reference, by_rate, classes, largest_frame; lists: lanes; parts: ports; });

fn build(values: &Values, action: Action) -> Result<Point, Invalid> {
    let (kmin, kmax) = (values.size("kmin"), values.size("kmax"));
    if kmin > kmax {
        return Err(Invalid {
            parameter: "kmin",
            message: format!("kmin of {kmin} exceeds kmax of {kmax}"),
            help: format!("lower kmin to {kmax} or raise kmax"),
        });
    }
    Ok(Point::Red(Box::new(Red {
        action,
        kmin: kmin.get() as f64,
        kmax: kmax.get() as f64,
        pmax: values.number("pmax"),
        at_dequeue: values.maybe_choice("at").is_some_and(|at| at == "dequeue"),
        weight: values.number("weight"),
        uniform: values.choice("spacing") == "uniform",
        reference: values.maybe_rate("reference_rate"),
        by_rate: values.maybe_text("by_rate").map_or(Ok(Vec::new()), |text| by_rate(&text))?,
        classes: 0,
        ports: Vec::new(),
        largest_frame: Vec::new(),
        lanes: Vec::new(),
    })))
}

/// Reads the entries of `by_rate`.
fn by_rate(text: &str) -> Result<Vec<(Rate, Thresholds)>, Invalid> {
    let help = "write RATE KMIN KMAX PMAX, such as \"25Gb/s 100KB 400KB 0.2, 100Gb/s 400KB 1.6MB 0.2\"";
    let mut all: Vec<(Rate, Thresholds)> = Vec::new();
    for entry in text.split(',') {
        let wrong = |reason: &str| Invalid::new("by_rate", format!("`{}` {reason}", entry.trim()), help);
        let words: Vec<&str> = entry.split_whitespace().collect();
        let &[rate, kmin, kmax, pmax] = words.as_slice() else {
            return Err(wrong("does not have four parts"));
        };
        let rate: Rate = rate.parse().map_err(|_| wrong("does not begin with a rate"))?;
        let length = |text: &str| text.parse::<Bytes>().map(|length| length.get() as f64);
        let (Ok(kmin), Ok(kmax)) = (length(kmin), length(kmax)) else {
            return Err(wrong("has a threshold that is not a size"));
        };
        let pmax = pmax.parse().ok().filter(|pmax| (0.0..=1.0).contains(pmax));
        let pmax = pmax.ok_or_else(|| wrong("has a probability that is not from 0 to 1"))?;
        if kmin > kmax {
            return Err(wrong("has a kmin above its kmax"));
        }
        if all.iter().any(|(other, _)| *other == rate) {
            return Err(wrong("has a rate that was given before"));
        }
        all.push((rate, Thresholds { kmin, kmax, pmax }));
    }
    Ok(all)
}

/// Returns the threshold of a port, given that of ports with the reference rate.
pub(crate) fn scaled(threshold: f64, rate: Rate, reference: Option<Rate>) -> f64 {
    reference.map_or(threshold, |of| threshold * rate.as_bits_per_sec() as f64 / of.as_bits_per_sec().max(1) as f64)
}

impl Red {
    fn at(&self, output: u16, class: u8) -> usize {
        usize::from(output) * self.classes + usize::from(class)
    }

    fn averaged(&self) -> bool {
        self.weight < 1.0
    }

    /// An arrival updates the average.
    fn update(&mut self, frame: &Passage, queue: u32) {
        let (at, port) = (self.at(frame.output, frame.class), &self.ports[usize::from(frame.output)]);
        let lane = &mut self.lanes[at];
        if queue == 0 {
            let bits = f64::from(self.largest_frame[usize::from(frame.class)].max(1)) * 8.0;
            let idle = frame.now.saturating_since(lane.decayed).as_picos() as f64 * 1e-12;
            let frames = idle * port.rate.as_bits_per_sec() as f64 / bits;
            lane.average *= math::pow(1.0 - self.weight, frames);
            lane.decayed = frame.now;
        }
        lane.average += self.weight * (f64::from(queue) - lane.average);
    }

    /// Returns whether a frame that meets such a queue is affected.
    fn draw(&mut self, frame: &Passage, queue: u32) -> bool {
        let at = self.at(frame.output, frame.class);
        let port = &mut self.ports[usize::from(frame.output)];
        let lane = &mut self.lanes[at];
        let length = if self.weight < 1.0 { lane.average } else { f64::from(queue) };
        if length <= port.kmin {
            lane.count = 0;
            return false;
        }
        let affected = length > port.kmax || {
            let share = if port.kmax > port.kmin { (length - port.kmin) / (port.kmax - port.kmin) } else { 1.0 };
            let probability = port.pmax * share;
            let spaced = match self.uniform {
                false => probability,
                true => probability / (1.0 - f64::from(lane.count) * probability).max(probability.max(1e-12)),
            };
            port.stream.unit_f64() < spaced
        };
        lane.count = if affected { 0 } else { lane.count.saturating_add(1) };
        affected
    }
}

impl CongestionPoint for Red {
    fn attach(&mut self, surroundings: &Surroundings) {
        let Surroundings { rates, classes, largest_frame, seed, first_port, .. } = surroundings;
        self.classes = *classes;
        self.largest_frame.clone_from(largest_frame);
        let port = |(number, &rate): (u32, &Rate)| {
            let given = self.by_rate.iter().find(|(of, _)| *of == rate).map(|(_, thresholds)| *thresholds);
            let Thresholds { kmin, kmax, pmax } = given.unwrap_or_else(|| Thresholds {
                kmin: scaled(self.kmin, rate, self.reference),
                kmax: scaled(self.kmax, rate, self.reference),
                pmax: self.pmax,
            });
            let stream = Stream::new(*seed, u64::from(first_port + number), "random early detection");
            Port { kmin, kmax, pmax, rate, stream }
        };
        self.ports = (0..).zip(rates).map(port).collect();
        self.lanes = vec![QueueAverage::default(); rates.len() * classes];
    }

    fn asked_from(&self, output: u16) -> Option<u32> {
        // An average and a distance between marks follow every frame.
        let port = self.ports.get(usize::from(output)).filter(|_| !self.averaged() && !self.uniform);
        Some(port.map_or(0, |port| (port.kmin as u32).saturating_add(1)))
    }

    fn judges(&self) -> bool {
        !self.at_dequeue || self.averaged()
    }

    fn discards(&self) -> u8 {
        if self.action == Action::Drop { u8::MAX } else { 0 }
    }

    fn on_enqueue(&mut self, frame: &Passage, view: &impl View) -> Treatment {
        let queue = view.waiting_bytes(frame.output, frame.class);
        if self.averaged() {
            self.update(frame, queue);
        }
        if self.at_dequeue || !self.draw(frame, queue) {
            return Treatment::Pass;
        }
        match self.action {
            Action::Mark => Treatment::Mark,
            Action::Drop => Treatment::Drop,
        }
    }

    fn on_start(&mut self, frame: &Passage, view: &impl View) -> bool {
        let queue = view.waiting_bytes(frame.output, frame.class);
        if self.averaged() && queue == 0 {
            let at = self.at(frame.output, frame.class);
            self.lanes[at].decayed = frame.now;
        }
        self.at_dequeue && self.draw(frame, queue)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::parameter::Value;
    use units::Span;

    /// A switch in which every queue is that long.
    pub(crate) struct Queue(pub(crate) u32);

    impl View for Queue {
        fn held(&self, _input: u16, _class: u8) -> u32 {
            0
        }
        fn full(&self, _input: u16, _class: u8) -> u32 {
            u32::MAX
        }
        fn wanted(&self, _input: u16, _class: u8) -> u128 {
            0
        }
        fn waiting_bytes(&self, _output: u16, _class: u8) -> u32 {
            self.0
        }
        fn waiting_frames(&self, _output: u16, _class: u8) -> u32 {
            self.0 / 1000
        }
        fn sending(&self, _output: u16, _class: u8) -> bool {
            false
        }
        fn leaving(&self, _input: u16, _class: u8) -> u32 {
            0
        }
        fn ending(&self, _output: u16, _class: u8) -> bool {
            false
        }
        fn blocked(&self, _output: u16, _class: u8) -> bool {
            false
        }
        fn last_blocked(&self, _output: u16, _class: u8) -> Option<Time> {
            None
        }
        fn stopped(&self, _input: u16, _class: u8) -> bool {
            false
        }
    }

    pub(crate) fn frame(class: u8) -> Passage {
        let now = Time::ZERO;
        Passage { now, since: now, flow: 0, input: 0, output: 1, class, len: 1000, tag: 0 }
    }

    /// A switch with a port of 10 Gb/s, one of 40 Gb/s, and so on.
    pub(crate) fn surroundings(classes: usize) -> Surroundings {
        Surroundings {
            rates: [10, 40, 100].map(Rate::from_gigabits).to_vec(),
            classes,
            to_host: vec![false; 3],
            largest_frame: vec![1000; classes],
            buffer: vec![150_000; classes],
            held_by_inputs: vec![true; classes],
            seed: 1,
            node: 0,
            first_port: 7,
        }
    }

    fn size(bytes: u64) -> Value {
        Value::Size(Bytes::new(bytes))
    }

    fn made(info: &PointInfo, set: &[(&'static str, Value)]) -> Point {
        let mut values = Values::defaults(info.parameters);
        set.iter().for_each(|(name, value)| values.set(name, value.clone()));
        let mut point = (info.build)(&values).unwrap();
        point.attach(&surroundings(2));
        point
    }

    fn ramp() -> [(&'static str, Value); 3] {
        [("kmin", size(10_000)), ("kmax", size(50_000)), ("pmax", Value::Number(0.2))]
    }

    /// The part of so many frames that a queue marks, at its head.
    fn marked(point: &mut Point, queue: u32, frames: u32) -> f64 {
        let frame = frame(0);
        (0..frames).filter(|_| point.on_start(&frame, &Queue(queue))).count() as f64 / f64::from(frames)
    }

    #[test]
    fn the_probability_of_a_mark_is_the_stated_one() {
        let mut point = made(&ECN, &ramp());
        assert!(!point.judges(), "an instantaneous queue is judged at its head only");
        for (queue, expected) in [(0, 0.0), (10_000, 0.0), (20_000, 0.05), (30_000, 0.1), (50_000, 0.2), (50_001, 1.0)]
        {
            let (frames, got) = (40_000, marked(&mut point, queue, 40_000));
            let deviation = (expected * (1.0 - expected) / f64::from(frames)).sqrt();
            assert!((got - expected).abs() <= 4.0 * deviation, "queue {queue}: {got} for {expected}");
        }
    }

    #[test]
    fn at_enqueue_it_marks_or_drops_and_never_at_the_head() {
        let at = |info: &PointInfo| {
            let mut set = ramp().to_vec();
            set.extend([("weight", Value::Number(1.0)), ("at", Value::Choice("enqueue".into()))]);
            made(info, &set)
        };
        for (info, treatment) in [(&ECN, Treatment::Mark), (&DROP, Treatment::Drop)] {
            let mut point = at(info);
            assert_eq!(point.on_enqueue(&frame(0), &Queue(60_000)), treatment);
            assert_eq!(point.on_enqueue(&frame(0), &Queue(10_000)), Treatment::Pass);
            assert!(point.judges() && !point.on_start(&frame(0), &Queue(60_000)));
        }
    }

    #[test]
    fn uniform_spacing_keeps_the_mean_distance_and_bounds_it() {
        let mut set = ramp().to_vec();
        set.push(("spacing", Value::Choice("uniform".into())));
        let mut point = made(&ECN, &set);
        let mut gaps = Vec::new();
        let mut last = 0_u32;
        for number in 1..200_000_u32 {
            if point.on_start(&frame(0), &Queue(30_000)) {
                gaps.push(number - last);
                last = number;
            }
        }
        // Uniform from 1 to 1/p = 10: mean 5.5.
        let mean = gaps.iter().sum::<u32>() as f64 / gaps.len() as f64;
        assert_eq!(gaps.iter().max(), Some(&10));
        assert!((mean - 5.5).abs() < 0.1, "{mean}");
    }

    #[test]
    fn the_average_follows_slowly_and_decays_while_the_queue_is_empty() {
        let mut set = ramp().to_vec();
        set.push(("weight", Value::Number(0.1)));
        let mut point = made(&ECN, &set);
        assert!(point.judges(), "arrivals update the average");
        let mut at = frame(0);
        // 1 - 0.9^n of 100 kB: it exceeds 50 kB with the seventh arrival.
        for arrival in 1..=7 {
            point.on_enqueue(&at, &Queue(100_000));
            assert_eq!(marked(&mut point, 100_000, 50) == 1.0, arrival == 7, "arrival {arrival}");
        }
        point.on_start(&at, &Queue(0));
        // 40 Gb/s send 500 frames of 1000 B in 100 us: nothing is left of it.
        at.now = Time::ZERO + Span::from_micros(100);
        point.on_enqueue(&at, &Queue(0));
        assert_eq!(marked(&mut point, 100_000, 1000), 0.0);
    }

    #[test]
    fn frames_dropped_into_an_empty_queue_do_not_keep_the_average_high() {
        let set = [("kmin", size(10_000)), ("kmax", size(50_000)), ("weight", Value::Number(0.002))];
        let mut point = made(&DROP, &set);
        let mut at = frame(0);
        (0..2000).for_each(|_| _ = point.on_enqueue(&at, &Queue(100_000)));
        point.on_start(&at, &Queue(0));
        // 98.2 kB decay by 0.998 per 200 ns: above 50 kB for 67 us, and below 10 kB after 228 us.
        let mut dropped = |micros: u64| {
            at.now = Time::ZERO + Span::from_micros(micros);
            point.on_enqueue(&at, &Queue(0)) == Treatment::Drop
        };
        assert_eq!([1, 33, 66, 229, 300].map(&mut dropped), [true, true, true, false, false]);
    }

    #[test]
    fn thresholds_are_in_proportion_to_the_rate_if_a_reference_is_given() {
        let mut set = ramp().to_vec();
        set.push(("reference_rate", Value::Rate(Rate::from_gigabits(10))));
        let mut point = made(&ECN, &set);
        let mut certain = |output: u16, queue: u32| {
            let at = Passage { output, ..frame(0) };
            (0..50).all(|_| point.on_start(&at, &Queue(queue)))
        };
        assert_eq!((certain(0, 50_001), certain(1, 200_000), certain(1, 200_001)), (true, false, true));
    }

    #[test]
    fn thresholds_may_be_given_for_each_rate() {
        let mut set = ramp().to_vec();
        set.push(("by_rate", Value::Text("40Gb/s 100KB 300KB 0.5, 100Gb/s 1MB 1MB 1".into())));
        let mut point = made(&ECN, &set);
        let mut part = |output: u16, queue: u32| {
            let at = Passage { output, ..frame(0) };
            (0..40_000).filter(|_| point.on_start(&at, &Queue(queue))).count() as f64 / 40_000.0
        };
        // The port of 10 Gb/s is not listed.
        assert_eq!((part(0, 10_000), part(0, 50_001)), (0.0, 1.0));
        assert_eq!((part(1, 100_000), part(1, 300_001)), (0.0, 1.0));
        assert!((part(1, 200_000) - 0.25).abs() < 0.01);
        assert_eq!((part(2, 1_000_000), part(2, 1_000_001)), (0.0, 1.0));
        for wrong in ["", "40Gb/s 1KB 2KB", "40 1KB 2KB 0.1", "40Gb/s 3KB 2KB 0.1", "40Gb/s 1KB 2KB 1.5"] {
            let values = Values::defaults(ECN.parameters).with("by_rate", Value::Text(wrong.into()));
            assert_eq!((ECN.build)(&values).unwrap_err().parameter, "by_rate", "{wrong}");
        }
    }

    #[test]
    fn streams_belong_to_ports_and_two_thresholds_must_be_in_order() {
        let (mut one, mut two) = (made(&ECN, &ramp()), made(&ECN, &ramp()));
        let run = |point: &mut Point, output: u16| {
            let at = Passage { output, ..frame(0) };
            (0..200).map(|_| point.on_start(&at, &Queue(40_000))).collect::<Vec<_>>()
        };
        let first = run(&mut one, 1);
        run(&mut two, 0);
        assert_eq!(run(&mut two, 1), first, "another port draws from another stream");
        let values = Values::defaults(ECN.parameters).with("kmin", size(300_000));
        let refused = (ECN.build)(&values).unwrap_err();
        assert_eq!((refused.parameter, refused.help.as_str()), ("kmin", "lower kmin to 200KB or raise kmax"));
    }
}
