//! Marking at switches with input buffers: naive, input-triggered and input-output-triggered (Santos, Turner and
//! Janakiraman, HPL-2002-224).
//!
//! All three are triggered when an input buffer fills. The naive policy marks the frames in that buffer; the others
//! mark all frames, in any buffer, that wait for the outputs for which that buffer holds frames. No buffer is scanned:
//! for each output, a buffer stores the time up to which its arrivals are marked, and an output stores the number of
//! marks that it owes.

use crate::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Values};
use crate::point::{CongestionPoint, Passage, Request, Surroundings, View};
use crate::{Point, PointInfo};
use units::{Span, Time};

/// The frames that an event marks, and the condition that triggers an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Policy {
    /// The frames in the full buffer.
    Naive,
    /// The frames that wait for the outputs for which the full buffer holds frames.
    InputTriggered,
    /// As above, and also triggered when the switch holds more than `threshold` frames for an output, including the one
    /// on the wire.
    InputOutputTriggered { threshold: u32 },
}

/// A congestion point with one of the three policies.
#[derive(Clone, Debug, PartialEq)]
pub struct Marking {
    policy: Policy,
    /// Fraction of a full buffer that counts as full.
    full_at: f64,
    /// Whether an arrival is judged only after it had its chance to start at once.
    late: bool,
    /// Whether room is free at the instant at which the last bit of a frame leaves.
    freed: bool,
    /// Whether outputs that may not send are left out of an event.
    skip_blocked: bool,
    /// Frames that leave by an output that was blocked within this time are not marked.
    recently: Option<Span>,
    ports: usize,
    classes: usize,
    /// Naive: (input, output, class): frames that had come by then are marked.
    until: Vec<Option<Time>>,
    /// (output, class): how many of the next frames are marked.
    owed: Vec<u32>,
    /// Events of this instant that wait for it to settle.
    filled: Vec<(u16, u8)>,
    exceeded: Vec<(u16, u8)>,
}

units::state!(struct Marking { fixed: policy, full_at, late, freed, skip_blocked, recently, ports, classes; plain: filled, exceeded; lists: until, owed; });

const COMMON: [Parameter; 5] = [
    Parameter {
        name: "full_at",
        kind: ParameterKind::Number(0.01, 1.0),
        default: ParameterDefault::Value("1", "HPL-2002-224, section IV.A: a full buffer; footnote 3 allows less"),
        meaning: "Fraction of an input buffer that must be occupied for it to count as full. With PAUSE or PFC, full \
             means XOFF.",
    },
    Parameter {
        name: "trigger",
        kind: ParameterKind::Choice(&[
            ("settled", "after the arriving frame could cut through"),
            ("arrival", "at once; the arriving frame counts as waiting"),
        ]),
        default: ParameterDefault::Value(
            "settled",
            "our reading of HPL-2002-224, footnote 6: on arrival, a frame that cuts through would be marked too",
        ),
        meaning: "When the buffer is checked on an arrival.",
    },
    Parameter {
        name: "tail",
        kind: ParameterKind::Choice(&[
            ("held", "it still occupies its slot and counts as being sent"),
            ("freed", "its slot is free and it has left"),
        ]),
        default: ParameterDefault::Value(
            "held",
            "our choice; the text does not say: a slot is freed after its frame has left",
        ),
        meaning: "Treatment of a frame whose last bit leaves at the instant of the check. In cut-through switches \
             this happens with every back-to-back frame.",
    },
    Parameter {
        name: "skip_blocked",
        kind: ParameterKind::Flag,
        default: ParameterDefault::Value("false", "HPL-2002-224, section IV.A: any packet in a full buffer counts"),
        meaning: "Whether outputs that cannot send, paused or without credits, are excluded from marking.",
    },
    Parameter {
        name: "recently_blocked",
        kind: ParameterKind::Time,
        default: ParameterDefault::Absent("frames are marked whether or not their link was blocked"),
        meaning: "Frames are not marked if their output was blocked within this time (the policy of footnote 4).",
    },
];

const THRESHOLD: Parameter = Parameter {
    name: "threshold",
    kind: ParameterKind::Count(1, 1 << 20),
    default: ParameterDefault::Value("8", "HPL-2002-224, figure 3(d): high utilisation and better fairness"),
    meaning: "Number of frames in the switch for one output, including the one being sent, above which they are \
         marked.",
};

pub(crate) const NAIVE: PointInfo = PointInfo {
    name: "naive",
    summary: "marks all frames of an input buffer when it becomes full",
    parameters: &COMMON,
    presets: &[],
    build: |values| build(values, Policy::Naive),
};

pub(crate) const INPUT_TRIGGERED: PointInfo = PointInfo {
    name: "input-triggered",
    summary: "when an input buffer becomes full, marks all frames in the switch for the outputs of its frames",
    parameters: &COMMON,
    presets: &[],
    build: |values| build(values, Policy::InputTriggered),
};

pub(crate) const INPUT_OUTPUT_TRIGGERED: PointInfo = PointInfo {
    name: "input-output-triggered",
    summary: "like input-triggered; also marks when too many frames in the switch are for one output",
    parameters: &[COMMON[0], COMMON[1], COMMON[2], COMMON[3], COMMON[4], THRESHOLD],
    presets: &[],
    build: |values| {
        let threshold = values.count("threshold") as u32;
        build(values, Policy::InputOutputTriggered { threshold })
    },
};

fn build(values: &Values, policy: Policy) -> Result<Point, Invalid> {
    Ok(Point::Marking(Marking {
        policy,
        full_at: values.number("full_at"),
        late: values.choice("trigger") == "settled",
        freed: values.choice("tail") == "freed",
        skip_blocked: values.flag("skip_blocked"),
        recently: values.maybe_time("recently_blocked"),
        ports: 0,
        classes: 0,
        until: Vec::new(),
        owed: Vec::new(),
        filled: Vec::new(),
        exceeded: Vec::new(),
    }))
}

impl Marking {
    fn at(&self, port: u16, class: u8) -> usize {
        usize::from(port) * self.classes + usize::from(class)
    }

    /// Whether this arrival fills its input buffer or finds it full: frames may still arrive below the last slot and
    /// above XOFF.
    fn fills(&self, frame: &Passage, view: &impl View) -> bool {
        let held = view.held(frame.input, frame.class);
        // At least one unit: a buffer without anything in it is never full.
        let full = ((f64::from(view.full(frame.input, frame.class)) * self.full_at) as u32).max(1);
        // What leaves is looked for only where it matters.
        held >= full && !(self.freed && held - view.leaving(frame.input, frame.class) < full)
    }

    /// The same for an input and one of its outputs.
    fn between(&self, input: u16, output: u16, class: u8) -> usize {
        (usize::from(input) * self.ports + usize::from(output)) * self.classes + usize::from(class)
    }

    /// Whether an output takes part in an event.
    fn counts(&self, output: u16, class: u8, view: &impl View) -> bool {
        !(self.skip_blocked && view.blocked(output, class))
    }

    fn buffer_filled(&mut self, now: Time, input: u16, class: u8, view: &impl View) {
        let mut outputs = view.wanted(input, class);
        while outputs != 0 {
            let output = outputs.trailing_zeros() as u16;
            outputs &= outputs - 1;
            if self.policy != Policy::Naive {
                self.owe(output, class, view);
            } else if self.counts(output, class, view) {
                let at = self.between(input, output, class);
                self.until[at] = Some(now);
            }
        }
    }

    fn owe(&mut self, output: u16, class: u8, view: &impl View) {
        if self.counts(output, class, view) {
            let at = self.at(output, class);
            self.owed[at] = view.waiting_frames(output, class);
        }
    }
}

impl CongestionPoint for Marking {
    fn attach(&mut self, surroundings: &Surroundings) {
        (self.ports, self.classes) = (surroundings.rates.len(), surroundings.classes);
        let cells = self.ports * self.classes;
        match self.policy {
            Policy::Naive => self.until = vec![None; cells * self.ports],
            Policy::InputTriggered | Policy::InputOutputTriggered { .. } => self.owed = vec![0; cells],
        }
    }

    fn judges_joining(&self) -> bool {
        true
    }

    fn on_arrival(&mut self, frame: &Passage, view: &impl View) -> Request {
        let fills = self.fills(frame, view);
        let exceeds = match self.policy {
            Policy::InputOutputTriggered { threshold } => {
                let ended = self.freed && view.ending(frame.output, frame.class);
                let sending = u32::from(view.sending(frame.output, frame.class) && !ended);
                view.waiting_frames(frame.output, frame.class) + sending > threshold
            }
            Policy::Naive | Policy::InputTriggered => false,
        };
        if fills {
            self.filled.push((frame.input, frame.class));
        }
        if exceeds {
            self.exceeded.push((frame.output, frame.class));
        }
        match (fills || exceeds, self.late) {
            (false, _) => Request::Nothing,
            (true, true) => Request::Settle,
            (true, false) => {
                self.on_settled(frame.now, view);
                Request::Nothing
            }
        }
    }

    fn on_settled(&mut self, now: Time, view: &impl View) {
        while let Some((input, class)) = self.filled.pop() {
            self.buffer_filled(now, input, class, view);
        }
        while let Some((output, class)) = self.exceeded.pop() {
            self.owe(output, class, view);
        }
    }

    fn on_rerouted(&mut self, view: &impl View) {
        // Nothing is owed to frames that have gone elsewhere.
        for (at, owed) in self.owed.iter_mut().enumerate() {
            let (output, class) = ((at / self.classes) as u16, (at % self.classes) as u8);
            *owed = view.waiting_frames(output, class).min(*owed);
        }
    }

    fn on_start(&mut self, frame: &Passage, view: &impl View) -> bool {
        let marked = match self.policy {
            Policy::Naive => {
                let until = self.until[self.between(frame.input, frame.output, frame.class)];
                until.is_some_and(|until| frame.since <= until)
            }
            Policy::InputTriggered | Policy::InputOutputTriggered { .. } => {
                let at = self.at(frame.output, frame.class);
                let owed = self.owed[at];
                self.owed[at] = owed.saturating_sub(1);
                owed > 0
            }
        };
        let recently = |span: Span| {
            view.last_blocked(frame.output, frame.class).is_some_and(|at| frame.now.saturating_since(at) <= span)
        };
        marked && !self.recently.is_some_and(recently)
    }
}
