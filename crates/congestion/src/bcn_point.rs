//! The congestion point of Backward Congestion Notification (Lu, Pan, Prabhakar, Bergamasco, Alaria, Baldini 2006), and
//! of its later form, ECM, with the numbers of the IEEE 802.1au bake-off.
//!
//! Frames that join the queue of an output are sampled: each with a probability, or one every so many bytes. A sample
//! compares the queue with its set point and with the last sample. The frame's source is told if it is to go slower; it
//! is told to go faster only if the frame's tag says that it obeys this very point.

use crate::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Values};
use crate::point::{CongestionPoint, Notice, Passage, Surroundings, View, Wish, number, tag_of};
use crate::qcn_point::jittered;
use crate::{Point, PointInfo};
use units::Stream;

/// [`Notice::feedback`] of a notice with an offset and a growth.
pub(crate) const ORDINARY: u8 = 0;
/// And of one that says only that congestion is severe: BCN(0,0).
pub(crate) const SEVERE: u8 = 1;

const SET_POINT: Parameter = Parameter {
    name: "set_point",
    kind: ParameterKind::Size(1, 1 << 31),
    default: ParameterDefault::Value("24000B", "Lu et al. 2006, section III: 16 packets of 1500 bytes"),
    meaning: "The queue that it steers towards.",
};
const WEIGHT: Parameter = Parameter {
    name: "weight",
    kind: ParameterKind::Number(0.0, 1024.0),
    default: ParameterDefault::Value("2", "Lu et al. 2006, section III: w = 2"),
    meaning: "What a byte of growth counts, where a byte above the set point counts one. Sources have their own.",
};
const SIGNALS: Parameter = Parameter {
    name: "signals",
    kind: ParameterKind::Choice(&[
        ("feedback", "negative feedback to any source, positive to those with the tag; none at the set point"),
        ("queue", "above the set point to any source, below it to those with the tag; none at the set point"),
        ("tagged", "above the set point to any source, to those with the tag always"),
    ]),
    default: ParameterDefault::Value(
        "feedback",
        "our reading of Lu et al. 2006, section II: no increase for who is not associated",
    ),
    meaning: "Who is told. Of whoever is told, the sign of the feedback decides whether it goes slower or faster.",
};
const SEVERE_MODE: Parameter = Parameter {
    name: "severe",
    kind: ParameterKind::Choice(&[
        ("off", "nothing is severe"),
        ("literal", "above `severe_at` BCN(0,0)"),
        ("graded", "above `severe_at` the most negative feedback, above `severest_at` BCN(0,0)"),
    ]),
    default: ParameterDefault::Value("off", "Lu et al. 2006, section III: off in all its runs"),
    meaning: "What a queue far above the set point makes of the notice. BCN(0,0) stops the source for a while.",
};
const SEVERE_AT: Parameter = Parameter {
    name: "severe_at",
    kind: ParameterKind::Size(1, 1 << 31),
    default: ParameterDefault::Value(
        "102400B",
        "our choice: that of the 802.1au bake-off; Lu et al. 2006 give none (Qsc)",
    ),
    meaning: "Above this queue congestion is severe, unless `severe` is off.",
};
const SEVEREST_AT: Parameter = Parameter {
    name: "severest_at",
    kind: ParameterKind::Size(1, 1 << 31),
    default: ParameterDefault::Value("153600B", "802.1au bake-off slides: Qmc 2400, in pages of 64 bytes"),
    meaning: "Above this queue congestion is most severe, where `severe` is graded.",
};

pub(crate) const BCN: PointInfo = PointInfo {
    name: "bcn",
    summary: "BCN: samples frames at random and tells sources how far the queue is off and how it moves (Lu et al. 2006)",
    parameters: &[
        SET_POINT,
        WEIGHT,
        Parameter {
            name: "probability",
            kind: ParameterKind::Number(0.0, 1.0),
            default: ParameterDefault::Value("0.01", "Lu et al. 2006, section III: P = 0.01"),
            meaning: "With which a frame is sampled.",
        },
        SIGNALS,
        SEVERE_MODE,
        SEVERE_AT,
        SEVEREST_AT,
    ],
    notifies: true,
    build: |values| BcnPoint::build(values, Sampling::Frames { probability: values.number("probability") }),
};

pub(crate) const ECM: PointInfo = PointInfo {
    name: "ecm",
    summary: "ECM, the later form of BCN: samples every so many bytes; severe congestion stops sources (802.1au bake-off)",
    parameters: &[
        Parameter {
            default: ParameterDefault::Value("24000B", "802.1au bake-off slides: Qeq 375, in pages of 64 bytes"),
            ..SET_POINT
        },
        Parameter { default: ParameterDefault::Value("2", "802.1au bake-off slides: W = 2"), ..WEIGHT },
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
            meaning: "Each interval is longer or shorter by up to this part of it.",
        },
        Parameter {
            default: ParameterDefault::Value("tagged", "our reading of the 802.1au bake-off slides"),
            ..SIGNALS
        },
        Parameter {
            default: ParameterDefault::Value("literal", "our reading of the 802.1au bake-off slides: Qmc is not used"),
            ..SEVERE_MODE
        },
        Parameter {
            default: ParameterDefault::Value("102400B", "802.1au bake-off slides: Qsc 1600, in pages of 64 bytes"),
            ..SEVERE_AT
        },
        SEVEREST_AT,
    ],
    notifies: true,
    build: |values| {
        let (base, jitter) = (values.size("sample_base").get() as f64, values.number("jitter"));
        BcnPoint::build(values, Sampling::Bytes { base, jitter })
    },
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Sampling {
    /// Each frame by itself.
    Frames { probability: f64 },
    /// The frame with which so many bytes have come.
    Bytes { base: f64, jitter: f64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signals {
    Feedback,
    Queue,
    Tagged,
}

/// The queue of an output in one class.
#[derive(Clone, Debug, PartialEq)]
struct Queue {
    /// Bytes at the last sample.
    old: u32,
    /// Bytes until the next sample, where bytes are counted.
    left: i64,
    /// What the frames of sources that are associated with it carry.
    tag: u16,
    stream: Stream,
}

impl Queue {
    /// Whether a frame is sampled.
    fn samples(&mut self, sampling: Sampling, len: u16) -> bool {
        match sampling {
            Sampling::Frames { probability } => self.stream.bernoulli(probability),
            Sampling::Bytes { base, jitter } => {
                self.left -= i64::from(len);
                let due = self.left <= 0;
                if due {
                    // What came too much counts for the next, so that intervals have their mean; a frame longer than
                    // that is one sample.
                    self.left = (self.left + jittered(&mut self.stream, base, jitter) as i64).max(1);
                }
                due
            }
        }
    }
}

/// A congestion point that sends the offset and the growth of its queue.
#[derive(Clone, Debug, PartialEq)]
pub struct BcnPoint {
    set_point: u32,
    weight: f64,
    sampling: Sampling,
    signals: Signals,
    /// Above this the most negative feedback, above that BCN(0,0).
    severe_at: u32,
    severest_at: u32,
    classes: usize,
    /// By (output, class).
    queues: Vec<Queue>,
}

fn difference(a: u32, b: u32) -> i32 {
    (i64::from(a) - i64::from(b)).clamp(i32::MIN.into(), i32::MAX.into()) as i32
}

impl BcnPoint {
    /// From its parameters.
    ///
    /// # Errors
    /// If congestion would be severe at the set point already, or most severe before it is severe.
    fn build(values: &Values, sampling: Sampling) -> Result<Point, Invalid> {
        let bytes = |name: &str| u32::try_from(values.size(name).get()).unwrap_or(u32::MAX);
        let (set_point, severe_at, severest_at) = (bytes("set_point"), bytes("severe_at"), bytes("severest_at"));
        let mode = values.choice("severe");
        if mode != "off" && severe_at <= set_point {
            let message = format!("{severe_at} bytes are not above the set point of {set_point}");
            return Err(Invalid::new("severe_at", message, "give a longer queue, or say `severe = \"off\"`"));
        }
        if mode == "graded" && severest_at <= severe_at {
            let message = format!("{severest_at} bytes are not above `severe_at`, {severe_at}");
            return Err(Invalid::new("severest_at", message, "give a longer queue, or say `severe = \"literal\"`"));
        }
        let (severe_at, severest_at) = match mode.as_str() {
            "literal" => (severe_at, severe_at),
            "graded" => (severe_at, severest_at),
            _ => (u32::MAX, u32::MAX),
        };
        let signals = match values.choice("signals").as_str() {
            "queue" => Signals::Queue,
            "tagged" => Signals::Tagged,
            _ => Signals::Feedback,
        };
        let weight = values.number("weight");
        let queues = Vec::new();
        Ok(Point::Bcn(BcnPoint { set_point, weight, sampling, signals, severe_at, severest_at, classes: 0, queues }))
    }

    /// What a sample says, if anything, to a source whose frame has this point's tag or has it not.
    fn signal(&self, length: u32, old: u32, tagged: bool) -> Option<(u8, i32, i32)> {
        if length > self.severest_at {
            return Some((SEVERE, 0, 0));
        }
        if length > self.severe_at {
            // What an empty buffer that fills to twice the set point gives.
            let set_point = i32::try_from(self.set_point).unwrap_or(i32::MAX);
            return Some((ORDINARY, -set_point, set_point.saturating_mul(2)));
        }
        let (offset, growth) = (difference(self.set_point, length), difference(length, old));
        let feedback = f64::from(offset) - self.weight * f64::from(growth);
        let told = match self.signals {
            Signals::Feedback => offset != 0 && (feedback < 0.0 || feedback > 0.0 && tagged),
            Signals::Queue => offset < 0 || offset > 0 && tagged,
            // Nothing off and nothing moved: on the wire that would be BCN(0,0).
            Signals::Tagged => offset < 0 || tagged && (offset, growth) != (0, 0),
        };
        told.then_some((ORDINARY, offset, growth))
    }
}

impl CongestionPoint for BcnPoint {
    fn attach(&mut self, surroundings: &Surroundings) {
        let Surroundings { classes, seed, node, first_port, .. } = *surroundings;
        self.classes = classes;
        let queue = |at: usize| {
            let mut stream = Stream::new(seed, u64::from(node) << 32 | at as u64, "bcn sampling");
            let left = match self.sampling {
                Sampling::Frames { .. } => 0,
                Sampling::Bytes { base, jitter } => jittered(&mut stream, base, jitter) as i64,
            };
            let tag = tag_of(number(first_port + (at / classes) as u32, (at % classes) as u8));
            Queue { old: 0, left, tag, stream }
        };
        self.queues = (0..surroundings.rates.len() * classes).map(queue).collect();
    }

    fn on_output(&mut self, frame: &Passage, view: &impl View) -> Wish {
        let Passage { flow, output: port, class, len, tag, .. } = *frame;
        let queue = &mut self.queues[usize::from(port) * self.classes + usize::from(class)];
        if !queue.samples(self.sampling, len) {
            return Wish::Nothing;
        }
        let length = view.waiting_bytes(port, class);
        let old = std::mem::replace(&mut queue.old, length);
        let tagged = tag != 0 && tag == queue.tag;
        match self.signal(length, old, tagged) {
            Some((feedback, offset, growth)) => Wish::Notify(Notice { flow, feedback, offset, growth, port, class }),
            None => Wish::Nothing,
        }
    }
}
