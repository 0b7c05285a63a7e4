//! The switch's side of InfiniBand congestion control: forward explicit congestion notification (InfiniBand
//! Architecture Specification volume 1, annex A10).
//!
//! Each output and virtual lane is evaluated when a frame joins its queue. A queue above the threshold with credits is
//! the root of a congestion tree; one above it without credits is a victim of another root. At the start of a
//! transmission there are always credits, so the two cannot be distinguished then.
//!
//! A root has at least two inputs whose combined load exceeds its capacity. The backlog of a single input, up to its
//! whole buffer, is no sign of a root: credits that share the wire make the last hop slower than the one before it by a
//! fraction of a percent, so that even a flow without competition slowly fills its input buffer.

use crate::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Values};
use crate::point::{CongestionPoint, Passage, Request, Surroundings, View};
use crate::{Point, PointInfo};
use units::Span;

pub(crate) const INFO: PointInfo = PointInfo {
    name: "infiniband-fecn",
    summary: "InfiniBand congestion control: marks packets of lanes whose queue exceeds a threshold and that have \
         credits",
    parameters: &[
        Parameter {
            name: "threshold",
            kind: ParameterKind::Count(0, 15),
            default: ParameterDefault::Value("15", "congestion control manager of Mellanox OFED 2.2: threshold 0xf"),
            meaning: "Marking threshold: 0 disables marking, 15 marks earliest. A lane with credits is congested if \
                 its queue exceeds one input buffer plus (15 - threshold)/16 of another, more than a single input \
                 can queue. A lane without credits is congested above (16 - threshold)/16 of an input buffer; so is \
                 a lane that a single input can congest, because its link is faster, or because the queue is behind \
                 a crossbar or lossy. `queue` replaces both rules.",
        },
        Parameter {
            name: "queue",
            kind: ParameterKind::Size(1, 1 << 31),
            default: ParameterDefault::Absent("derived from `threshold`"),
            meaning: "Queue length of an output and lane above which it is congested, with or without credits. Below \
                 one input buffer, a flow without competitors may be marked; `tailback check` reports it.",
        },
        Parameter {
            name: "hysteresis",
            kind: ParameterKind::Size(0, 1 << 31),
            default: ParameterDefault::Absent("the largest frame plus one byte: more than one MTU"),
            meaning: "Congestion ends when the queue is this far below the threshold.",
        },
        Parameter {
            name: "marking_rate",
            kind: ParameterKind::Count(0, 65_535),
            default: ParameterDefault::Value("10", "congestion control manager of Mellanox OFED 2.2: marking_rate 0xa"),
            meaning: "Packets of a lane between two marks (Marking_Rate). 0 marks every packet; the sources of a \
                 hotspot then receive so many marks before the first takes effect that the root link runs idle.",
        },
        Parameter {
            name: "packet_size",
            kind: ParameterKind::Count(0, 255),
            default: ParameterDefault::Value("0", "our choice: packets of all sizes are marked"),
            meaning: "Smallest packet to mark, in units of 64 bytes (Packet_Size).",
        },
        Parameter {
            name: "victims",
            kind: ParameterKind::Choice(&[
                ("hosts", "at ports to hosts, where no lane can be a victim of congestion further on"),
                ("all", "at all ports"),
                ("none", "nowhere"),
            ]),
            default: ParameterDefault::Value("hosts", "our choice: the purpose of Victim_Mask"),
            meaning: "Where to mark lanes that are above the threshold but lack credits (Victim_Mask).",
        },
        Parameter {
            name: "recent",
            kind: ParameterKind::Time,
            default: ParameterDefault::Value("0s", "our choice: the current state only"),
            meaning: "A lane that was blocked within this time counts as lacking credits.",
        },
    ],
    presets: &[],
    build: InfinibandFecn::build,
};

/// State of one lane of an output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LaneState {
    marking: bool,
    /// Queue length below which congestion ends.
    below: u32,
    /// Packets since the last mark.
    since: u32,
}

units::encoded!(struct LaneState { marking, below, since });

/// A congestion point that marks frames at the roots of congestion trees.
#[derive(Clone, Debug, PartialEq)]
pub struct InfinibandFecn {
    threshold: u32,
    queue: Option<u32>,
    hysteresis: Option<u32>,
    marking_rate: u32,
    smallest: u16,
    victims: Victims,
    recent: Span,
    classes: usize,
    /// By output and class.
    levels: Vec<Levels>,
    /// By class: the distance below its level at which a queue is no longer congested.
    hystereses: Vec<u32>,
    to_host: Vec<bool>,
    lanes: Vec<LaneState>,
}

units::state!(struct InfinibandFecn { fixed: threshold, queue, hysteresis, marking_rate, smallest, victims, recent, classes, levels, hystereses, to_host; lists: lanes; });

/// Queue lengths above which a lane is congested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// Level for a lane with credits.
    pub root: u32,
    /// Level for a lane without credits.
    pub victim: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victims {
    Hosts,
    All,
    None,
}

impl InfinibandFecn {
    /// Builds the congestion point from its parameters.
    ///
    /// # Errors
    /// None: no two of its parameters can contradict each other.
    pub fn build(values: &Values) -> Result<Point, Invalid> {
        let size = |name: &str| values.maybe_size(name).map(|bytes| bytes.get() as u32);
        Ok(Point::InfinibandFecn(InfinibandFecn {
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
            hystereses: Vec::new(),
            to_host: Vec::new(),
            lanes: Vec::new(),
        }))
    }

    /// Returns the queue lengths above which a lane is congested, where an input may hold `buffer` bytes of it and
    /// `alone` states whether a single input can congest it. Returns `None` if marking is off.
    #[must_use]
    pub fn levels(&self, buffer: u32, alone: bool) -> Option<Levels> {
        let part = |sixteenths: u32| (u64::from(buffer) * u64::from(sixteenths) / 16) as u32;
        match (self.queue, self.threshold) {
            (_, 0) => None,
            (Some(queue), _) => Some(Levels { root: queue, victim: queue }),
            (None, threshold) => {
                let victim = part(16 - threshold);
                let root = if alone { victim } else { buffer.saturating_add(part(15 - threshold)) };
                Some(Levels { root, victim })
            }
        }
    }
}

impl CongestionPoint for InfinibandFecn {
    fn attach(&mut self, surroundings: &Surroundings) {
        self.classes = surroundings.classes;
        self.to_host.clone_from(&surroundings.to_host);
        self.lanes = vec![LaneState::default(); surroundings.rates.len() * surroundings.classes];
        let off = Levels { root: u32::MAX, victim: u32::MAX };
        let fastest = surroundings.rates.iter().max();
        let mut levels = Vec::with_capacity(self.lanes.len());
        for rate in &surroundings.rates {
            for (&buffer, &held_by_inputs) in surroundings.buffer.iter().zip(&surroundings.held_by_inputs) {
                let alone = !held_by_inputs || Some(rate) < fastest;
                levels.push(self.levels(buffer, alone).unwrap_or(off));
            }
        }
        self.levels = levels;
        self.hystereses = surroundings.largest_frame.iter().map(|len| self.hysteresis.unwrap_or(len + 1)).collect();
    }

    fn on_arrival(&mut self, frame: &Passage, view: &impl View) -> Request {
        let cell = usize::from(frame.output) * self.classes + usize::from(frame.class);
        let queue = view.waiting_bytes(frame.output, frame.class);
        let lane = &mut self.lanes[cell];
        let Levels { root, victim } = self.levels[cell];
        // Whether there are credits is asked only where the answer matters.
        let without_credits = || {
            let blocked = view.last_blocked(frame.output, frame.class);
            blocked.is_some_and(|at| frame.now.saturating_since(at) <= self.recent)
        };
        let victim = queue > root.min(victim) && without_credits();
        let above = if victim { self.levels[cell].victim } else { root };
        let below = above.saturating_sub(self.hystereses[usize::from(frame.class)]);
        if queue > above {
            lane.below = below;
            lane.marking = !victim
                || match self.victims {
                    Victims::All => true,
                    Victims::Hosts => self.to_host[usize::from(frame.output)],
                    Victims::None => false,
                };
        } else if queue <= below {
            lane.marking = false;
        }
        Request::Nothing
    }

    fn on_start(&mut self, frame: &Passage, view: &impl View) -> bool {
        let lane = &mut self.lanes[usize::from(frame.output) * self.classes + usize::from(frame.class)];
        if lane.marking && view.waiting_bytes(frame.output, frame.class) <= lane.below {
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
