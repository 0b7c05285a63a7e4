//! The congestion point of Backward Congestion Notification (Lu, Pan, Prabhakar, Bergamasco, Alaria, Baldini 2006), and
//! of its later form, ECM, with the parameters of the IEEE 802.1au bake-off.
//!
//! Frames that join an output queue are sampled: each with a fixed probability, or one per fixed number of bytes. A
//! sample compares the queue with its set point and with the previous sample. Above the set point, the point notifies
//! the source of the frame. Below it, the point notifies only a source whose frame carries this point's tag, or that
//! sent this point a probe. The parameter `signals` selects other rules.

use crate::feedback::{BASE_PROBABILITY, ORDINARY, SEVERE, Sample, Sampler, Sampling};
use crate::guidance::Guide;
use crate::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Preset, Values};
use crate::point::{CongestionPoint, Fate, Notice, Passage, Passing, Request, Surroundings, View, number, tag_of};
use crate::qcn_2007::{RUN_1, RUN_2};
use crate::{Point, PointInfo};
use units::Stream;

const SET_POINT: Parameter = Parameter {
    name: "set_point",
    kind: ParameterKind::Size(1, 1 << 31),
    default: ParameterDefault::Value("24000B", "Lu et al. 2006, section III: 16 packets of 1500 bytes"),
    meaning: "Queue length that the congestion point aims for.",
};
const WEIGHT: Parameter = Parameter {
    name: "weight",
    kind: ParameterKind::Number(0.0, 1024.0),
    default: ParameterDefault::Value("2", "Lu et al. 2006, section III: w = 2"),
    meaning: "Weight of queue growth: how much a byte of growth counts, relative to a byte above the set point. \
         Sources have their own weight.",
};
const SIGNALS: Parameter = Parameter {
    name: "signals",
    kind: ParameterKind::Choice(&[
        ("queue", "above the set point any source, below it tagged sources only; none at the set point"),
        ("feedback", "negative feedback to any source, positive feedback to tagged sources; none at the set point"),
        ("tagged", "above the set point any source; tagged sources always"),
        ("negative", "any source, if the queue is above the set point and the feedback is negative"),
    ]),
    default: ParameterDefault::Value(
        "queue",
        "Lu et al. 2006, section II: a decrease signal above Qeq; below it signals only for the tag, else none",
    ),
    meaning: "Which sources are notified. A notified source slows down on negative feedback and speeds up on positive \
              feedback.",
};
const SEVERE_MODE: Parameter = Parameter {
    name: "severe",
    kind: ParameterKind::Choice(&[
        ("off", "no severe congestion"),
        ("literal", "BCN(0,0) above `severe_at`"),
        ("graded", "the most negative feedback above `severe_at`, BCN(0,0) above `severest_at`"),
    ]),
    default: ParameterDefault::Value("off", "Lu et al. 2006, section III: off in all its runs"),
    meaning: "What a notice carries if the queue is far above the set point. BCN(0,0) stops the source for some \
         time.",
};
const SEVERE_AT: Parameter = Parameter {
    name: "severe_at",
    kind: ParameterKind::Size(1, 1 << 31),
    default: ParameterDefault::Value(
        "102400B",
        "our choice: that of the 802.1au bake-off; Lu et al. 2006 give none (Qsc)",
    ),
    meaning: "Queue length above which congestion is severe, unless `severe` is off.",
};
const SEVEREST_AT: Parameter = Parameter {
    name: "severest_at",
    kind: ParameterKind::Size(1, 1 << 31),
    default: ParameterDefault::Value("153600B", "802.1au bake-off slides: Qmc 2400, in pages of 64 bytes"),
    meaning: "Queue length above which congestion is most severe, if `severe` is graded.",
};

pub(crate) const BCN: PointInfo = PointInfo {
    name: "bcn",
    summary: "BCN: samples frames at random and notifies sources of the queue's offset and growth (Lu et al. 2006)",
    parameters: &[
        SET_POINT,
        WEIGHT,
        Parameter {
            name: "probability",
            kind: ParameterKind::Number(0.0, 1.0),
            default: ParameterDefault::Value("0.01", "Lu et al. 2006, section III: P = 0.01"),
            meaning: "Sampling probability of a frame.",
        },
        SIGNALS,
        SEVERE_MODE,
        SEVERE_AT,
        SEVEREST_AT,
    ],
    presets: &[],
    build: |values| BcnPoint::build(values, Sampling::Frames { probability: values.number("probability") }),
};

/// The parameters of a point that samples as ECM does.
pub(crate) const fn of_ecm(signals: ParameterDefault) -> [Parameter; 10] {
    [
        Parameter {
            default: ParameterDefault::Value("24000B", "802.1au bake-off slides: Qeq 375, in pages of 64 bytes"),
            ..SET_POINT
        },
        Parameter { default: ParameterDefault::Value("2", "802.1au bake-off slides: W = 2"), ..WEIGHT },
        Parameter {
            name: "sampling",
            kind: ParameterKind::Choice(&[
                ("bytes", "the frame that completes `sample_base` bytes"),
                (
                    "flexible",
                    "random frames, as in QCN of 2007: with `base_probability`, up to ten times that under \
                     congestion",
                ),
            ]),
            default: ParameterDefault::Value("bytes", "802.1au bake-off slides: samplingInterval"),
            meaning: "Which frames are sampled. The slides leave flexible as an open question.",
        },
        Parameter {
            name: "sample_base",
            kind: ParameterKind::Size(1, 1 << 31),
            default: ParameterDefault::Value("150000B", "802.1au bake-off slides, first runs; 75000 B in the second"),
            meaning: "Bytes between two samples of a queue.",
        },
        Parameter {
            name: "jitter",
            kind: ParameterKind::Number(0.0, 1.0),
            default: ParameterDefault::Value("0.15", "our choice: as QCN; the 802.1au bake-off slides give none"),
            meaning: "Random deviation of each sampling interval, as a fraction.",
        },
        BASE_PROBABILITY,
        Parameter { default: signals, ..SIGNALS },
        Parameter {
            default: ParameterDefault::Value("literal", "our reading of the 802.1au bake-off slides: Qmc is not used"),
            ..SEVERE_MODE
        },
        Parameter {
            default: ParameterDefault::Value("102400B", "802.1au bake-off slides: Qsc 1600, in pages of 64 bytes"),
            ..SEVERE_AT
        },
        SEVEREST_AT,
    ]
}

/// The runs of the bake-off, for points that sample as ECM does.
pub(crate) const RUNS: &[Preset] =
    &[RUN_1, Preset { values: &[("sample_base", "75000B", "preset run-2: samplingInterval 75000")], ..RUN_2 }];

pub(crate) const ECM: PointInfo = PointInfo {
    name: "ecm",
    summary: "ECM, the successor of BCN: samples by bytes; severe congestion stops sources (802.1au bake-off)",
    parameters: &of_ecm(ParameterDefault::Value("tagged", "our reading of the 802.1au bake-off slides")),
    presets: RUNS,
    build: BcnPoint::build_ecm,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signals {
    Feedback,
    Queue,
    Tagged,
    Negative,
}

/// The queue of an output in one class.
#[derive(Clone, Debug, PartialEq)]
struct Queue {
    /// Bytes at the last sample.
    old: u32,
    /// Tag on the frames of sources that are associated with this queue.
    tag: u16,
    sampler: Sampler,
}

units::state!(struct Queue { fixed: tag; plain: old; parts: sampler; });

/// A congestion point that reports the offset and the growth of its queue.
#[derive(Clone, Debug, PartialEq)]
pub struct BcnPoint {
    set_point: u32,
    weight: f64,
    sampling: Sampling,
    signals: Signals,
    /// Above `severe_at` the feedback is the most negative; above `severest_at` BCN(0,0) is sent.
    severe_at: u32,
    severest_at: u32,
    guide: Option<Guide>,
    /// Whether a probe is answered even if the queue has no room.
    answers_all: bool,
    classes: usize,
    /// By (output, class).
    queues: Vec<Queue>,
}

units::state!(struct BcnPoint { fixed: set_point, weight, sampling, signals, severe_at, severest_at, answers_all, classes; parts: guide, queues; });

impl BcnPoint {
    /// Builds the congestion point from its parameters.
    ///
    /// # Errors
    /// Fails if severe congestion begins at or below the set point, if `severest_at` is not above `severe_at` where
    /// both apply, or if the period of rate guidance is zero.
    fn build(values: &Values, sampling: Sampling) -> Result<Point, Invalid> {
        let bytes = |name: &str| u32::try_from(values.size(name).get()).unwrap_or(u32::MAX);
        let (set_point, severe_at, severest_at) = (bytes("set_point"), bytes("severe_at"), bytes("severest_at"));
        let mode = values.choice("severe");
        if mode != "off" && severe_at <= set_point {
            let message = format!("{severe_at} bytes are not above the set point of {set_point}");
            return Err(Invalid::new("severe_at", message, "give a longer queue, or set `severe = \"off\"`"));
        }
        if mode == "graded" && severest_at <= severe_at {
            let message = format!("{severest_at} bytes are not above `severe_at`, {severe_at}");
            return Err(Invalid::new("severest_at", message, "give a longer queue, or set `severe = \"literal\"`"));
        }
        let (severe_at, severest_at) = match mode.as_str() {
            "literal" => (severe_at, severe_at),
            "graded" => (severe_at, severest_at),
            _ => (u32::MAX, u32::MAX),
        };
        let signals = match values.choice("signals").as_str() {
            "tagged" => Signals::Tagged,
            "negative" => Signals::Negative,
            "feedback" => Signals::Feedback,
            _ => Signals::Queue,
        };
        let weight = values.number("weight");
        Ok(Point::Bcn(BcnPoint {
            set_point,
            weight,
            sampling,
            signals,
            severe_at,
            severest_at,
            guide: Guide::read(values)?,
            answers_all: values.maybe_choice("probe_answers").is_some_and(|which| which == "both"),
            classes: 0,
            queues: Vec::new(),
        }))
    }

    /// Builds a congestion point that samples as ECM does.
    ///
    /// # Errors
    /// See [`BcnPoint::build`].
    pub(crate) fn build_ecm(values: &Values) -> Result<Point, Invalid> {
        let (base, jitter) = (values.size("sample_base").get() as f64, values.number("jitter"));
        let sampling = match values.choice("sampling").as_str() {
            "flexible" => Sampling::Flexible { base: values.number("base_probability") },
            _ => Sampling::Bytes { base, jitter },
        };
        BcnPoint::build(values, sampling)
    }

    /// Returns the feedback of a sample, if any. `tagged`: the frame carries this point's tag.
    fn signal(&self, length: u32, old: u32, tagged: bool) -> Option<(u8, i32, i32)> {
        if length > self.severest_at {
            return Some((SEVERE, 0, 0));
        }
        if length > self.severe_at {
            // What an empty buffer that fills to twice the set point gives.
            let set_point = i32::try_from(self.set_point).unwrap_or(i32::MAX);
            return Some((ORDINARY, -set_point, set_point.saturating_mul(2)));
        }
        let sample = Sample::of(self.set_point, length, old);
        let (Sample { offset, growth }, feedback) = (sample, sample.feedback(self.weight));
        let told = match self.signals {
            Signals::Feedback => offset != 0 && (feedback < 0.0 || feedback > 0.0 && tagged),
            Signals::Queue => offset < 0 || offset > 0 && tagged,
            // Nothing off and nothing moved: on the wire that would be BCN(0,0).
            Signals::Tagged => offset < 0 || tagged && (offset, growth) != (0, 0),
            Signals::Negative => offset < 0 && feedback < 0.0,
        };
        told.then_some((ORDINARY, offset, growth))
    }
}

impl CongestionPoint for BcnPoint {
    fn attach(&mut self, surroundings: &Surroundings) {
        let Surroundings { classes, seed, node, first_port, .. } = *surroundings;
        self.classes = classes;
        let queue = |at: usize| {
            let stream = Stream::new(seed, u64::from(node) << 32 | at as u64, "bcn sampling");
            let tag = tag_of(number(first_port + (at / classes) as u32, (at % classes) as u8));
            Queue { old: 0, tag, sampler: Sampler::new(self.sampling, stream) }
        };
        self.queues = (0..surroundings.rates.len() * classes).map(queue).collect();
        if let Some(guide) = &mut self.guide {
            guide.attach(surroundings);
        }
    }

    fn notifies(&self) -> bool {
        true
    }

    fn on_output(&mut self, frame: &Passage, view: &impl View) -> Request {
        let Passage { now, flow, output: port, class, len, tag, .. } = *frame;
        if let Some(guide) = &mut self.guide {
            guide.see(frame, view);
        }
        let queue = &mut self.queues[usize::from(port) * self.classes + usize::from(class)];
        let (set_point, weight, old) = (self.set_point, self.weight, queue.old);
        let most = f64::from(set_point) * (1.0 + 2.0 * weight);
        let part = || -Sample::of(set_point, view.waiting_bytes(port, class), old).feedback(weight) / most;
        if !queue.sampler.samples(len, part) {
            return Request::Nothing;
        }
        let length = view.waiting_bytes(port, class);
        let old = std::mem::replace(&mut queue.old, length);
        let tagged = tag != 0 && tag == queue.tag;
        match self.signal(length, old, tagged) {
            Some((feedback, offset, growth)) => {
                let guidance = self.guide.as_mut().map(|guide| guide.tell(now, port, class, view));
                Request::Notify(Notice { flow, feedback, offset, growth, port, class, guidance })
            }
            None => Request::Nothing,
        }
    }

    fn on_path_probe(&mut self, probe: &mut Passing, view: &impl View) -> Fate {
        let Passing { now, output, class, tag, .. } = *probe;
        let queue = &self.queues[usize::from(output) * self.classes + usize::from(class)];
        if tag == 0 || tag != queue.tag {
            return Fate::Pass;
        }
        let sample = Sample::of(self.set_point, view.waiting_bytes(output, class), queue.old);
        let guidance = self.guide.as_mut().map(|guide| guide.tell(now, output, class, view));
        sample.reply(probe, self.weight, guidance, || self.answers_all.then_some(ORDINARY))
    }
}
