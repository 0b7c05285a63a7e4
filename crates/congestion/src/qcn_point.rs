//! The congestion point of Quantized Congestion Notification (IEEE 802.1Qau-2010, now IEEE 802.1Q-2014 clauses 30 to
//! 33), at output queues as standardised, or at input buffers with occupancy sampling (Neeser et al. 2012).
//!
//! A queue is sampled once per interval of bytes. The feedback is computed from the distance of the queue from its set
//! point and from its growth since the last sample. If it is negative, one flow is notified: the flow of the frame that
//! just arrived, or the flow of a frame drawn from the buffer.
//!
//! All feedback is integer arithmetic; the weight is in 1024ths, which represents every weight of the standard.

use crate::feedback::{ONE, Sample, congestion, flexible, jittered, quantised};
use crate::guidance::Guide;
use crate::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Values};
use crate::point::{
    CongestionPoint, Drawn, Fate, Notice, Passage, Passing, Request, Surroundings, View, number, tag_of,
};
use crate::{Point, PointInfo};
use units::{Span, Stream, Time};

/// Bytes until the next sample, by the upper three bits of the feedback, for a base of [`BASE`].
const TABLE: [u64; 8] = [150_000, 75_000, 50_000, 37_500, 30_000, 25_000, 21_500, 18_500];
const BASE: u64 = TABLE[0];

pub(crate) const INFO: PointInfo = PointInfo {
    name: "qcn",
    summary: "QCN (802.1Qau): samples queues and sends quantised feedback, at outputs or at inputs with occupancy sampling",
    parameters: &[
        Parameter {
            name: "placed",
            kind: ParameterKind::Choice(&[
                ("outputs", "the queue of each output and class"),
                ("inputs", "the buffer of each input and class, over all its virtual output queues"),
            ]),
            default: ParameterDefault::Value("outputs", "IEEE 802.1Q-2014, 30.2.1: one per output queue"),
            meaning: "Which queues have a congestion point.",
        },
        Parameter {
            name: "set_point",
            kind: ParameterKind::Size(100, 1 << 31),
            default: ParameterDefault::Value("26000B", "IEEE 802.1Q-2014, cnCpQueueSizeSetPoint"),
            meaning: "Queue length that the congestion point aims for.",
        },
        Parameter {
            name: "weight",
            kind: ParameterKind::Number(0.0, 1024.0),
            default: ParameterDefault::Value("2", "IEEE 802.1Q-2014, cnCpFeedbackWeight: 2 to the power of 1"),
            meaning: "Weight of queue growth: how much a byte of growth counts, relative to a byte above the set \
                 point. A multiple of 1/1024.",
        },
        Parameter {
            name: "sample_base",
            kind: ParameterKind::Size(1, 1 << 31),
            default: ParameterDefault::Value("150000B", "IEEE 802.1Q-2014, cnCpMinSampleBase"),
            meaning: "Bytes between two samples of an uncongested queue.",
        },
        Parameter {
            name: "sampling",
            kind: ParameterKind::Choice(&[
                ("table", "shorter with stronger feedback, down to about an eighth"),
                ("constant", "always `sample_base`"),
            ]),
            default: ParameterDefault::Value("table", "IEEE 802.1Qau-2010: interval by the upper bits of the feedback"),
            meaning: "How the last sample sets the next sampling interval.",
        },
        Parameter {
            name: "jitter",
            kind: ParameterKind::Number(0.0, 1.0),
            default: ParameterDefault::Value("0.15", "our reading of IEEE 802.1Qau-2010: 15 % either way"),
            meaning: "Random deviation of each sampling interval, as a fraction.",
        },
        Parameter {
            name: "culprit",
            kind: ParameterKind::Choice(&[
                ("arrival", "the flow of the last arrival"),
                (
                    "occupancy",
                    "the flow of a frame drawn from the input buffer in proportion to its size; at inputs \
                     only",
                ),
                ("two-samples", "of two frames drawn so, the flow with the more congested path; at inputs only"),
            ]),
            default: ParameterDefault::Value("arrival", "IEEE 802.1Q-2014: the frame that triggered the sample"),
            meaning: "Which flow is notified.",
        },
        Parameter {
            name: "keep_alive",
            kind: ParameterKind::Time,
            default: ParameterDefault::Absent(
                "only arrivals trigger samples; Neeser et al. 2012 give no interval, we would use 120us",
            ),
            meaning: "Interval of additional samples while the sender of an input is paused; at inputs only.",
        },
    ],
    presets: &[],
    build: QcnPoint::build,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placed {
    Outputs,
    Inputs,
}

/// Sampling interval of a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Intervals {
    /// A number of bytes that falls with the congestion found by the last sample.
    Table,
    /// A constant number of bytes.
    Constant,
    /// Each frame at random, with a probability that rises with congestion.
    Chance { base: f64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Culprit {
    Arrival,
    Occupancy,
    TwoSamples,
}

/// A sampled queue: an output queue or an input buffer, in one class.
#[derive(Clone, Debug, PartialEq)]
struct Queue {
    /// Bytes at the last sample.
    old: u32,
    /// Bytes that may still come before the next sample.
    left: i64,
    /// Time at which the keep-alive timer makes a sample due.
    due: Option<Time>,
    /// Flow of the frame that came last.
    last: u32,
    /// Tag of probes addressed to this queue.
    tag: u16,
    stream: Stream,
}

units::state!(struct Queue { fixed: tag; plain: old, left, due, last, stream; });

/// A congestion point that sends quantised feedback.
#[derive(Clone, Debug, PartialEq)]
pub struct QcnPoint {
    placed: Placed,
    set_point: u32,
    /// In 1024ths.
    weight: i64,
    sample_base: u64,
    intervals: Intervals,
    jitter: f64,
    culprit: Culprit,
    keep_alive: Option<Span>,
    guide: Option<Guide>,
    /// Whether a probe is answered even if the queue has no room.
    answers_all: bool,
    classes: usize,
    /// By (port, class).
    queues: Vec<Queue>,
    /// No queue is due before this.
    next: Option<Time>,
    /// Notice to send when the requested frames are known; its flow is still missing.
    pending: Option<Notice>,
}

units::state!(struct QcnPoint { fixed: placed, set_point, weight, sample_base, intervals, jitter, culprit, keep_alive, answers_all, classes; plain: next, pending; parts: guide, queues; });

/// A weight in 1024ths.
fn weight_of(values: &Values) -> Result<i64, Invalid> {
    let weight = values.number("weight") * ONE as f64;
    if weight != (weight as i64) as f64 {
        let message = format!("{} is not a multiple of 1/1024", values.number("weight"));
        return Err(Invalid::new("weight", message, "the standard has powers of two from 1/1024 to 1024"));
    }
    Ok(weight as i64)
}

impl QcnPoint {
    /// Builds the congestion point from its parameters.
    ///
    /// # Errors
    /// Fails if the weight is not a multiple of 1/1024, or if an option for inputs is combined with sampling at
    /// outputs.
    pub fn build(values: &Values) -> Result<Point, Invalid> {
        let placed = if values.choice("placed") == "inputs" { Placed::Inputs } else { Placed::Outputs };
        let culprit = match values.choice("culprit").as_str() {
            "occupancy" => Culprit::Occupancy,
            "two-samples" => Culprit::TwoSamples,
            _ => Culprit::Arrival,
        };
        let keep_alive = values.maybe_time("keep_alive");
        if placed == Placed::Outputs && culprit != Culprit::Arrival {
            let message = "frames are drawn from the buffers of inputs, and the queues of outputs are watched";
            return Err(Invalid::new("culprit", message, "set `placed = \"inputs\"`, or `culprit = \"arrival\"`"));
        }
        if placed == Placed::Outputs && keep_alive.is_some() {
            let message = "it runs while the sender of an input is stopped, and the queues of outputs are watched";
            return Err(Invalid::new("keep_alive", message, "set `placed = \"inputs\"`, or remove it"));
        }
        if keep_alive == Some(Span::ZERO) {
            return Err(Invalid::new("keep_alive", "a clock without an interval", "give a time above zero"));
        }
        Ok(Point::Qcn(QcnPoint {
            placed,
            set_point: values.size("set_point").get() as u32,
            weight: weight_of(values)?,
            sample_base: values.size("sample_base").get(),
            intervals: if values.choice("sampling") == "table" { Intervals::Table } else { Intervals::Constant },
            jitter: values.number("jitter"),
            culprit,
            keep_alive,
            guide: None,
            answers_all: false,
            classes: 0,
            queues: Vec::new(),
            next: None,
            pending: None,
        }))
    }

    /// Builds the congestion point of 2007, which samples output queues at random.
    ///
    /// # Errors
    /// Fails if the weight is not a multiple of 1/1024, or if the period of rate guidance is zero.
    pub(crate) fn build_2007(values: &Values) -> Result<Point, Invalid> {
        Ok(Point::Qcn(QcnPoint {
            placed: Placed::Outputs,
            set_point: values.size("set_point").get() as u32,
            weight: weight_of(values)?,
            sample_base: BASE,
            intervals: Intervals::Chance { base: values.number("base_probability") },
            jitter: 0.0,
            culprit: Culprit::Arrival,
            keep_alive: None,
            guide: Guide::read(values)?,
            answers_all: values.maybe_choice("probe_answers").is_some_and(|which| which == "both"),
            classes: 0,
            queues: Vec::new(),
            next: None,
            pending: None,
        }))
    }

    fn at(&self, port: u16, class: u8) -> usize {
        usize::from(port) * self.classes + usize::from(class)
    }

    /// Mean number of bytes until the sample after one with that feedback.
    fn interval(&self, feedback: u8) -> u64 {
        match self.intervals {
            Intervals::Table => TABLE[usize::from(feedback >> 3)] * self.sample_base / BASE,
            Intervals::Constant | Intervals::Chance { .. } => self.sample_base,
        }
    }

    fn length(&self, port: u16, class: u8, view: &impl View) -> u32 {
        match self.placed {
            Placed::Outputs => view.waiting_bytes(port, class),
            Placed::Inputs => view.held(port, class),
        }
    }

    /// Takes a sample and returns the request to notify a flow.
    fn sample(&mut self, now: Time, port: u16, class: u8, view: &impl View) -> Request {
        let length = self.length(port, class, view);
        let at = self.at(port, class);
        let old = std::mem::replace(&mut self.queues[at].old, length);
        let feedback = quantised(self.set_point, self.weight, length, old);
        let interval = self.interval(feedback) as f64;
        let queue = &mut self.queues[at];
        if !matches!(self.intervals, Intervals::Chance { .. }) {
            queue.left = jittered(&mut queue.stream, interval, self.jitter) as i64;
        }
        if feedback == 0 {
            return Request::Nothing;
        }
        let Sample { offset, growth } = Sample::of(self.set_point, length, old);
        let guidance = self.guide.as_mut().map(|guide| guide.tell(now, port, class, view));
        let notice = Notice { flow: queue.last, feedback, offset, growth, port, class, guidance };
        let count = match self.culprit {
            Culprit::Arrival => return Request::Notify(notice),
            Culprit::Occupancy => 1,
            Culprit::TwoSamples => 2,
        };
        self.pending = Some(notice);
        Request::Draw { input: port, class, count }
    }

    /// A frame has come to a queue: a sample may be due.
    fn stimulate(&mut self, port: u16, frame: &Passage, view: &impl View) -> Request {
        let at = self.at(port, frame.class);
        if self.keep_alive.is_some() {
            self.tick_while(view.stopped(port, frame.class), at, frame.now);
        }
        if let Some(guide) = &mut self.guide {
            guide.see(frame, view);
        }
        self.queues[at].last = frame.flow;
        if !self.due(at, port, frame, view) {
            return Request::Nothing;
        }
        self.sample(frame.now, port, frame.class, view)
    }

    /// Whether a frame makes a sample due.
    fn due(&mut self, at: usize, port: u16, frame: &Passage, view: &impl View) -> bool {
        let Intervals::Chance { base } = self.intervals else {
            self.queues[at].left -= i64::from(frame.len);
            return self.queues[at].left < 0;
        };
        let length = self.length(port, frame.class, view);
        let queue = &mut self.queues[at];
        let (congestion, most) = congestion(self.set_point, self.weight, length, queue.old);
        queue.stream.bernoulli(flexible(base, congestion as f64 / most as f64).min(1.0))
    }

    /// Starts the keep-alive clock of an input that is stopped, and stops that of one that is not.
    fn tick_while(&mut self, stopped: bool, at: usize, now: Time) {
        let Some(interval) = self.keep_alive else { return };
        let queue = &mut self.queues[at];
        queue.due = stopped.then(|| queue.due.unwrap_or(now.saturating_add(interval)));
        self.next = self.next.into_iter().chain(queue.due).min();
    }
}

impl CongestionPoint for QcnPoint {
    fn attach(&mut self, surroundings: &Surroundings) {
        self.classes = surroundings.classes;
        let (seed, jitter) = (surroundings.seed, self.jitter);
        let interval = self.interval(0) as f64;
        let queue = |at: usize| {
            let entity = u64::from(surroundings.node) << 32 | at as u64;
            let mut stream = Stream::new(seed, entity, "qcn sampling");
            let left = jittered(&mut stream, interval, jitter) as i64;
            let (port, class) = (at / surroundings.classes, at % surroundings.classes);
            let tag = tag_of(number(surroundings.first_port + port as u32, class as u8));
            Queue { old: 0, left, due: None, last: 0, tag, stream }
        };
        if let Some(guide) = &mut self.guide {
            guide.attach(surroundings);
        }
        self.queues = (0..surroundings.rates.len() * surroundings.classes).map(queue).collect();
    }

    fn notifies(&self) -> bool {
        true
    }

    fn draws(&self) -> bool {
        self.culprit != Culprit::Arrival
    }

    fn on_arrival(&mut self, frame: &Passage, view: &impl View) -> Request {
        match self.placed {
            Placed::Outputs => Request::Nothing,
            Placed::Inputs => self.stimulate(frame.input, frame, view),
        }
    }

    fn on_output(&mut self, frame: &Passage, view: &impl View) -> Request {
        match self.placed {
            Placed::Outputs => self.stimulate(frame.output, frame, view),
            Placed::Inputs => Request::Nothing,
        }
    }

    fn on_path_probe(&mut self, probe: &mut Passing, view: &impl View) -> Fate {
        let Passing { now, output, class, .. } = *probe;
        let queue = &self.queues[self.at(output, class)];
        if self.placed != Placed::Outputs || probe.tag == 0 || probe.tag != queue.tag {
            return Fate::Pass;
        }
        let (length, old) = (view.waiting_bytes(output, class), queue.old);
        let guidance = self.guide.as_mut().map(|guide| guide.tell(now, output, class, view));
        let negative = || {
            let feedback = quantised(self.set_point, self.weight, length, old);
            (self.answers_all && feedback > 0).then_some(feedback)
        };
        Sample::of(self.set_point, length, old).reply(probe, self.weight as f64 / ONE as f64, guidance, negative)
    }

    fn on_drawn(&mut self, _now: Time, drawn: &[Drawn]) -> Option<Notice> {
        let notice = self.pending.take()?;
        let culprit = match drawn {
            [] => return None,
            [a] => a,
            [a, b, ..] if a.path <= b.path => b,
            [a, ..] => a,
        };
        Some(Notice { flow: culprit.flow, ..notice })
    }

    fn deadline(&self) -> Option<Time> {
        self.next
    }

    fn on_deadline(&mut self, now: Time, view: &impl View) -> Request {
        let mut request = Request::Nothing;
        for at in 0..self.queues.len() {
            if request != Request::Nothing {
                // One request at a time: what else is due keeps the deadline at this instant.
                break;
            }
            let (port, class) = ((at / self.classes) as u16, (at % self.classes) as u8);
            if self.queues[at].due.is_some_and(|due| due <= now) {
                self.queues[at].due = None;
                if view.stopped(port, class) {
                    self.tick_while(true, at, now);
                    request = self.sample(now, port, class, view);
                }
            }
        }
        self.next = self.queues.iter().filter_map(|queue| queue.due).min();
        request
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::Value;
    use units::Rate;

    /// A frame comes and joins the queue of its output at once.
    fn arrive(point: &mut impl CongestionPoint, frame: &Passage, view: &impl View) -> Request {
        match point.on_arrival(frame, view) {
            Request::Nothing => point.on_output(frame, view),
            request => request,
        }
    }

    /// A switch in which every queue is as long, and some inputs are stopped.
    #[derive(Clone, Copy, Default)]
    struct Still {
        waiting: u32,
        held: u32,
        /// Bit n stands for input n.
        stopped: u32,
    }

    impl View for Still {
        fn held(&self, _input: u16, _class: u8) -> u32 {
            self.held
        }
        fn full(&self, _input: u16, _class: u8) -> u32 {
            u32::MAX
        }
        fn wanted(&self, _input: u16, _class: u8) -> u128 {
            0
        }
        fn waiting_bytes(&self, _output: u16, _class: u8) -> u32 {
            self.waiting
        }
        fn waiting_frames(&self, _output: u16, _class: u8) -> u32 {
            0
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
        fn stopped(&self, input: u16, _class: u8) -> bool {
            self.stopped >> input & 1 == 1
        }
    }

    fn values() -> Values {
        Values::defaults(INFO.parameters)
    }

    fn choice(name: &str) -> Value {
        Value::Choice(name.to_owned())
    }

    fn at_inputs(culprit: &str) -> Values {
        values().with("placed", choice("inputs")).with("culprit", choice(culprit))
    }

    /// The point in a switch of four ports and two classes.
    fn attached(values: &Values) -> Point {
        let mut point = QcnPoint::build(values).unwrap();
        point.attach(&Surroundings {
            rates: vec![Rate::from_gigabits(10); 4],
            classes: 2,
            to_host: vec![true; 4],
            largest_frame: vec![1500; 2],
            buffer: vec![150_000; 2],
            held_by_inputs: vec![true; 2],
            seed: 7,
            node: 3,
            first_port: 0,
        });
        point
    }

    fn frame(flow: u32, input: u16, len: u16) -> Passage {
        Passage { now: Time::ZERO, since: Time::ZERO, flow, input, output: 2, class: 1, len, tag: 0 }
    }

    /// Lets frames of 1000 bytes come until the point wants something, and counts them.
    fn until_due(point: &mut Point, input: u16, view: &Still) -> (u32, Request) {
        for frames in 1..2000 {
            let request = arrive(point, &frame(5, input, 1000), view);
            if request != Request::Nothing {
                return (frames, request);
            }
        }
        (2000, Request::Nothing)
    }

    #[test]
    fn a_sample_is_due_when_more_than_the_interval_has_come_and_counts_growth_from_the_last() {
        let values = values().with("jitter", Value::Number(0.0));
        let mut point = attached(&values);
        // 150 frames are the interval, one more exceeds it. Nothing is said of a queue at its set point.
        let calm = Still { waiting: 26_000, ..Still::default() };
        for _ in 0..150 {
            assert_eq!(arrive(&mut point, &frame(5, 0, 1000), &Still { waiting: 90_000, ..calm }), Request::Nothing);
        }
        // But 26000 of growth since the start: 52000 * 63 / 130000 = 25.2.
        let notice = Notice { flow: 5, feedback: 25, offset: 0, growth: 26_000, port: 2, class: 1, guidance: None };
        assert_eq!(arrive(&mut point, &frame(5, 0, 1000), &calm), Request::Notify(notice));
        // Row 3 of the table: 37500 bytes. Now it has not grown: nothing to say, and the queue is remembered.
        assert_eq!(until_due(&mut point, 0, &calm).0, 2000);
        let high = Still { waiting: 36_000, ..calm };
        let (frames, request) = until_due(&mut point, 1, &high);
        assert!(frames <= 151);
        // 10000 above and 10000 more: 30000 * 63 / 130000 = 14.5.
        let notice =
            Notice { flow: 5, feedback: 14, offset: -10_000, growth: 10_000, port: 2, class: 1, guidance: None };
        assert_eq!(request, Request::Notify(notice));
        // Row 1: 75000 bytes; then 4 of feedback, row 0, for an unchanged queue.
        let (frames, request) = until_due(&mut point, 3, &high);
        assert_eq!((frames, request), (76, Request::Notify(Notice { feedback: 4, growth: 0, ..notice })));
        assert_eq!(until_due(&mut point, 3, &high).0, 151);
        // Other queues are on their own.
        assert_eq!(arrive(&mut point, &Passage { output: 1, ..frame(6, 0, 65_000) }, &high), Request::Nothing);
    }

    #[test]
    fn intervals_have_the_mean_of_the_table_and_its_spread() {
        for (row, interval) in TABLE.into_iter().enumerate() {
            // Feedback in the middle of the row: (8 row + 4.5) of 63 steps.
            let waiting = 26_000 + (2 * row as u32 * 8 + 9) * 130_000 / 126;
            let view = Still { waiting, ..Still::default() };
            for (sampling, mean) in [("table", interval), ("constant", 30_000)] {
                let base = if sampling == "table" { 150_000 } else { 30_000 };
                let values = values().with("sampling", choice(sampling));
                let mut point = attached(&values.with("sample_base", Value::Size(units::Bytes::new(base))));
                let mut lengths = Vec::new();
                let mut bytes = 0;
                while lengths.len() < 1_502 {
                    bytes += 100;
                    if let Request::Notify(notice) = arrive(&mut point, &frame(0, 0, 100), &view) {
                        // The first sample counts all of the queue as growth.
                        assert!(lengths.is_empty() || usize::from(notice.feedback) >> 3 == row);
                        lengths.push(std::mem::take(&mut bytes));
                    }
                }
                // The first interval came before any sample, the second after one with growth.
                let lengths = &lengths[2..];
                let mean = mean as f64;
                let ours = lengths.iter().sum::<u64>() as f64 / lengths.len() as f64;
                // Half a frame too long, since a frame is not cut; the spread of the mean is 0.15 / sqrt(3 * 1500).
                assert!((ours - 50.0 - mean).abs() < 4.0 * 0.0023 * mean, "row {row}: {ours} for {mean}");
                let (least, most) = (lengths.iter().min().unwrap(), lengths.iter().max().unwrap());
                assert!(*least as f64 > 0.85 * mean && *least as f64 <= 0.86 * mean + 100.0, "row {row}: {least}");
                assert!(*most as f64 <= 1.15 * mean + 100.0 && *most as f64 > 1.14 * mean, "row {row}: {most}");
            }
        }
    }

    #[test]
    fn arrivals_are_sampled_in_proportion_to_rates_in_bytes() {
        // Neeser et al. 2012, equation 2: the chance of a flow is its share of the bytes. Most frames are small.
        let flows = [(1500, 1), (300, 4), (600, 1)];
        let mut point = attached(&values());
        let mut stream = Stream::new(1, 0, "arrivals");
        let view = Still { waiting: 200_000, ..Still::default() };
        let mut told = [0_u32; 3];
        while told.iter().sum::<u32>() < 20_000 {
            let turn = stream.below(6) as u32;
            let flow = if turn < 4 { 1 } else { 2 * (turn - 4) };
            if let Request::Notify(notice) = arrive(&mut point, &frame(flow, 0, flows[flow as usize].0), &view) {
                told[notice.flow as usize] += 1;
            }
        }
        let total: u32 = flows.iter().map(|(len, often)| u32::from(*len) * often).sum();
        for (flow, (len, often)) in flows.into_iter().enumerate() {
            let share = f64::from(u32::from(len) * often) / f64::from(total);
            let deviation = (20_000.0 * share * (1.0 - share)).sqrt();
            let ours = f64::from(told[flow]);
            assert!((ours - 20_000.0 * share).abs() < 4.0 * deviation, "flow {flow}: {ours} of {share}");
        }
    }

    #[test]
    fn the_culprit_is_drawn_from_the_buffer_of_the_input() {
        let view = Still { waiting: 0, held: 100_000, stopped: 0 };
        let [a, b] = [(8, 500), (9, 400)].map(|(flow, path)| Drawn { flow, output: 0, path });
        for (culprit, count) in [("occupancy", 1), ("two-samples", 2)] {
            let mut point = attached(&at_inputs(culprit));
            assert_eq!(point.on_drawn(Time::ZERO, &[a]), None);
            let mut draw = |drawn: &[Drawn]| {
                let (_, request) = until_due(&mut point, 3, &view);
                assert_eq!(request, Request::Draw { input: 3, class: 1, count });
                let notice = point.on_drawn(Time::ZERO, drawn);
                assert_eq!(point.on_drawn(Time::ZERO, drawn), None);
                notice
            };
            // 74000 above the set point of 26000 and, once, 100000 of growth.
            let first =
                Notice { flow: 8, feedback: 63, offset: -74_000, growth: 100_000, port: 3, class: 1, guidance: None };
            assert_eq!(draw(&[a]), Some(first));
            let later = Notice { feedback: 35, growth: 0, ..first };
            assert_eq!(draw(&[b]), Some(Notice { flow: 9, ..later }));
            assert_eq!(draw(&[]), None);
            if count == 2 {
                // The more congested way, and the second where they are the same.
                assert_eq!([draw(&[a, b]), draw(&[b, a])], [Some(later), Some(later)]);
                assert_eq!(draw(&[a, Drawn { path: 500, ..b }]), Some(Notice { flow: 9, ..later }));
            }
        }
        // Arrival sampling at inputs looks at the same buffer.
        let (_, request) = until_due(&mut attached(&at_inputs("arrival")), 3, &view);
        assert!(matches!(request, Request::Notify(Notice { flow: 5, offset: -74_000, port: 3, .. })), "{request:?}");
    }

    #[test]
    fn the_clock_makes_samples_due_only_while_an_input_is_stopped() {
        let interval = Span::from_micros(120);
        let mut point = attached(&at_inputs("occupancy").with("keep_alive", Value::Time(interval)));
        let time = |micros: u64| Time::ZERO + Span::from_micros(micros);
        let arrival = |micros: u64, input: u16| Passage { now: time(micros), ..frame(5, input, 100) };
        let stopped = |stopped: u32| Still { waiting: 0, held: 100_000, stopped };
        assert_eq!(arrive(&mut point, &arrival(0, 0), &stopped(0)), Request::Nothing);
        assert_eq!(point.deadline(), None);
        // Inputs 1 and 3 are stopped at the same time, input 2 later; frames on their way do not put the clock back.
        for (micros, input) in [(10, 1), (10, 3), (11, 1), (20, 2)] {
            assert_eq!(arrive(&mut point, &arrival(micros, input), &stopped(0b1110)), Request::Nothing);
        }
        for input in [1, 3] {
            assert_eq!(point.deadline(), Some(time(130)));
            assert_eq!(point.on_deadline(time(130), &stopped(0b1110)), Request::Draw { input, class: 1, count: 1 });
            let drawn = point.on_drawn(time(130), &[Drawn { flow: 4, output: 0, path: 0 }]);
            assert_eq!(drawn.map(|notice| (notice.flow, notice.port, notice.feedback)), Some((4, input, 63)));
        }
        // Input 2 may send again before its turn, and input 1 after one more; a buffer that has calmed says nothing.
        assert_eq!(point.deadline(), Some(time(140)));
        assert_eq!(point.on_deadline(time(140), &stopped(0b1010)), Request::Nothing);
        assert_eq!(point.deadline(), Some(time(250)));
        assert_eq!(point.on_deadline(time(250), &Still { held: 20_000, ..stopped(0b0010) }), Request::Nothing);
        assert_eq!(point.deadline(), Some(time(370)));
        // An arrival at an input that is not stopped ends its clock.
        arrive(&mut point, &arrival(300, 1), &stopped(0));
        assert_eq!(point.on_deadline(time(370), &stopped(0)), Request::Nothing);
        assert_eq!(point.deadline(), None);
        // Arrival sampling then has the frame that came last.
        let mut arrivals = attached(&at_inputs("arrival").with("keep_alive", Value::Time(interval)));
        arrive(&mut arrivals, &arrival(0, 1), &stopped(0b10));
        let request = arrivals.on_deadline(time(120), &stopped(0b10));
        assert!(matches!(request, Request::Notify(Notice { flow: 5, port: 1, class: 1, .. })), "{request:?}");
        // Without the parameter there is no clock.
        let mut plain = attached(&at_inputs("occupancy"));
        arrive(&mut plain, &arrival(0, 1), &stopped(0b10));
        assert_eq!(plain.deadline(), None);
    }

    #[test]
    fn what_makes_sense_only_at_inputs_is_refused_at_outputs() {
        let wrong = |values: Values| QcnPoint::build(&values).unwrap_err().parameter;
        assert_eq!(wrong(values().with("culprit", choice("occupancy"))), "culprit");
        assert_eq!(wrong(values().with("culprit", choice("two-samples"))), "culprit");
        assert_eq!(wrong(values().with("keep_alive", Value::Time(Span::from_micros(120)))), "keep_alive");
        assert_eq!(wrong(at_inputs("occupancy").with("keep_alive", Value::Time(Span::ZERO))), "keep_alive");
        assert_eq!(wrong(values().with("weight", Value::Number(0.3))), "weight");
        assert!(QcnPoint::build(&values().with("weight", Value::Number(1.0 / 1024.0))).is_ok());
    }
}
