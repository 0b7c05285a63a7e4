//! The switch's side of InfiniBand congestion control: forward explicit congestion notification (InfiniBand
//! Architecture Specification volume 1, annex A10).
//!
//! Each output and virtual lane is judged when a frame joins what waits for it. Above the threshold with credits it is
//! the root of a congestion tree; above it without credits it is a victim of another. At the start of a transmission
//! there are always credits, so nothing could be told apart then.

use crate::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Values};
use crate::point::{CongestionPoint, Passage, Surroundings, View, Wish};
use crate::{Point, PointInfo};
use units::Span;

pub(crate) const INFO: PointInfo = PointInfo {
    name: "infiniband-fecn",
    summary: "InfiniBand congestion control: marks where a lane's queue exceeds a threshold and the lane has credits",
    parameters: &[
        Parameter {
            name: "threshold",
            kind: ParameterKind::Count(0, 15),
            default: ParameterDefault::Value("15", "our choice, as published experiments with hardware have it"),
            meaning: "0 turns marking off, 15 marks soonest. The queue that counts as congested is (16 - threshold)/16 of an input buffer, unless `queue` says it.",
        },
        Parameter {
            name: "queue",
            kind: ParameterKind::Size(1, 1 << 31),
            default: ParameterDefault::Absent("as `threshold` says"),
            meaning: "Bytes waiting for an output and lane above which it is congested.",
        },
        Parameter {
            name: "hysteresis",
            kind: ParameterKind::Size(0, 1 << 31),
            default: ParameterDefault::Absent("the largest frame and one byte: more than one MTU"),
            meaning: "Congestion ends when the queue is so far below.",
        },
        Parameter {
            name: "marking_rate",
            kind: ParameterKind::Count(0, 65_535),
            default: ParameterDefault::Value("0", "our choice: every packet that may be marked is"),
            meaning: "Packets between two marks (Marking_Rate).",
        },
        Parameter {
            name: "packet_size",
            kind: ParameterKind::Count(0, 255),
            default: ParameterDefault::Value("0", "our choice: packets of all sizes are marked"),
            meaning: "Packets smaller than so many units of 64 bytes are not marked (Packet_Size).",
        },
        Parameter {
            name: "victims",
            kind: ParameterKind::Choice(&[
                ("hosts", "marked at ports to hosts, which cannot be victims of anything further on"),
                ("all", "marked everywhere"),
                ("none", "never marked"),
            ]),
            default: ParameterDefault::Value("hosts", "our choice: what Victim_Mask is meant for"),
            meaning: "Where lanes that are above the threshold without credits are marked (Victim_Mask).",
        },
        Parameter {
            name: "recent",
            kind: ParameterKind::Time,
            default: ParameterDefault::Value("0s", "our choice: judged at the instant"),
            meaning: "A lane that was blocked so recently counts as being without credits.",
        },
    ],
    presets: &[],
    build: Fecn::build,
};

/// A lane of an output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lane {
    marking: bool,
    /// Packets since the last mark.
    since: u32,
}

/// A congestion point that marks at the roots of congestion.
#[derive(Clone, Debug, PartialEq)]
pub struct Fecn {
    threshold: u32,
    queue: Option<u32>,
    hysteresis: Option<u32>,
    marking_rate: u32,
    smallest: u16,
    victims: Victims,
    recent: Span,
    classes: usize,
    /// Per class: the queue that counts as congested, and the one that ends it.
    levels: Vec<(u32, u32)>,
    to_host: Vec<bool>,
    lanes: Vec<Lane>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victims {
    Hosts,
    All,
    None,
}

impl Fecn {
    /// From its parameters.
    ///
    /// # Errors
    /// None of its parameters can contradict another.
    pub fn build(values: &Values) -> Result<Point, Invalid> {
        let size = |name: &str| values.maybe_size(name).map(|bytes| bytes.get() as u32);
        Ok(Point::Fecn(Fecn {
            threshold: values.count("threshold") as u32,
            queue: size("queue"),
            hysteresis: size("hysteresis"),
            marking_rate: values.count("marking_rate") as u32,
            smallest: values.count("packet_size") as u16 * 64,
            victims: match values.choice("victims").as_str() {
                "all" => Victims::All,
                "none" => Victims::None,
                _ => Victims::Hosts,
            },
            recent: values.time("recent"),
            classes: 0,
            levels: Vec::new(),
            to_host: Vec::new(),
            lanes: Vec::new(),
        }))
    }
}

impl CongestionPoint for Fecn {
    fn attach(&mut self, surroundings: &Surroundings) {
        self.classes = surroundings.classes;
        self.to_host.clone_from(&surroundings.to_host);
        self.lanes = vec![Lane::default(); surroundings.rates.len() * surroundings.classes];
        let level = |class: usize| {
            let above = match (self.queue, self.threshold) {
                (_, 0) => u32::MAX,
                (Some(queue), _) => queue,
                (None, threshold) => (u64::from(surroundings.buffer[class]) * u64::from(16 - threshold) / 16) as u32,
            };
            let hysteresis = self.hysteresis.unwrap_or(surroundings.largest_frame[class] + 1);
            (above, above.saturating_sub(hysteresis))
        };
        self.levels = (0..surroundings.classes).map(level).collect();
    }

    fn on_arrival(&mut self, frame: &Passage, view: &impl View) -> Wish {
        let (above, below) = self.levels[usize::from(frame.class)];
        let queue = view.waiting_bytes(frame.output, frame.class);
        let lane = &mut self.lanes[usize::from(frame.output) * self.classes + usize::from(frame.class)];
        if queue > above {
            let blocked = view.last_blocked(frame.output, frame.class);
            let victim = blocked.is_some_and(|at| frame.now.saturating_since(at) <= self.recent);
            lane.marking = !victim
                || match self.victims {
                    Victims::All => true,
                    Victims::Hosts => self.to_host[usize::from(frame.output)],
                    Victims::None => false,
                };
        } else if queue <= below {
            lane.marking = false;
        }
        Wish::Nothing
    }

    fn on_start(&mut self, frame: &Passage, view: &impl View) -> bool {
        let (_, below) = self.levels[usize::from(frame.class)];
        let lane = &mut self.lanes[usize::from(frame.output) * self.classes + usize::from(frame.class)];
        if lane.marking && view.waiting_bytes(frame.output, frame.class) <= below {
            lane.marking = false;
        }
        if !lane.marking || frame.len < self.smallest {
            return false;
        }
        let due = lane.since >= self.marking_rate;
        lane.since = if due { 0 } else { lane.since + 1 };
        due
    }
}
