//! ECN with one threshold: every frame that meets a longer queue is marked (DCTCP; RFC 8257, section 3.1).

use crate::parameter::{Parameter, ParameterDefault, ParameterKind, Preset};
use crate::point::{CongestionPoint, Passage, Surroundings, Treatment, View};
use crate::red::{REFERENCE_RATE, scaled};
use crate::{Point, PointInfo};
use units::{Bytes, Rate};

pub(crate) const INFO: PointInfo = PointInfo {
    name: "ecn-step",
    summary: "ECN as in DCTCP: marks every frame that meets a queue above a threshold",
    parameters: &[
        Parameter {
            name: "threshold",
            kind: ParameterKind::Size(0, 1 << 31),
            default: ParameterDefault::Value(
                "97500B",
                "Alizadeh et al., SIGCOMM 2010 (DCTCP): 65 packets at 10 Gb/s, here of 1500 B",
            ),
            meaning: "Queue length K above which frames are marked: bytes of the class that wait for the output, without \
                 the frame on the wire and the frame itself.",
        },
        Parameter {
            name: "at",
            kind: ParameterKind::Choice(&[
                ("enqueue", "the queue that the frame joins"),
                ("dequeue", "the queue that the frame leaves behind"),
            ]),
            default: ParameterDefault::Value("enqueue", "Alizadeh et al., SIGCOMM 2010: an arriving packet is marked"),
            meaning: "Which queue counts.",
        },
        REFERENCE_RATE,
    ],
    presets: &[Preset {
        name: "gigabit",
        meaning: "DCTCP at 1 Gb/s",
        values: &[("threshold", "30KB", "Alizadeh et al., SIGCOMM 2010: 20 packets, here of 1500 B")],
    }],
    build: |values| {
        Ok(Point::Step(Step {
            threshold: values.size("threshold"),
            at_dequeue: values.choice("at") == "dequeue",
            reference: values.maybe_rate("reference_rate"),
            thresholds: Vec::new(),
        }))
    },
};

/// A congestion point that marks above a threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    threshold: Bytes,
    at_dequeue: bool,
    reference: Option<Rate>,
    /// By output.
    thresholds: Vec<u32>,
}

units::state!(struct Step { fixed: threshold, at_dequeue, reference, thresholds; });

impl Step {
    fn exceeded(&self, frame: &Passage, view: &impl View) -> bool {
        view.waiting_bytes(frame.output, frame.class) > self.thresholds[usize::from(frame.output)]
    }
}

impl CongestionPoint for Step {
    fn attach(&mut self, surroundings: &Surroundings) {
        let of = |&rate: &Rate| scaled(self.threshold.get() as f64, rate, self.reference) as u32;
        self.thresholds = surroundings.rates.iter().map(of).collect();
    }

    fn asked_from(&self, output: u16) -> Option<u32> {
        Some(self.thresholds.get(usize::from(output)).map_or(0, |threshold| threshold.saturating_add(1)))
    }

    fn judges(&self) -> bool {
        !self.at_dequeue
    }

    fn on_enqueue(&mut self, frame: &Passage, view: &impl View) -> Treatment {
        if self.exceeded(frame, view) { Treatment::Mark } else { Treatment::Pass }
    }

    fn on_start(&mut self, frame: &Passage, view: &impl View) -> bool {
        self.at_dequeue && self.exceeded(frame, view)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::{Value, Values};
    use crate::red::tests::{Queue, frame, surroundings};

    #[test]
    fn frames_are_marked_exactly_above_the_threshold() {
        for at in ["enqueue", "dequeue"] {
            let values = Values::defaults(INFO.parameters).with("at", Value::Choice(at.into()));
            let mut point = (INFO.build)(&values).unwrap();
            point.attach(&surroundings(1));
            let mut marked = |queue: u32| {
                let early = point.judges() && point.on_enqueue(&frame(0), &Queue(queue)) == Treatment::Mark;
                early || point.on_start(&frame(0), &Queue(queue))
            };
            assert_eq!((marked(97_500), marked(97_501)), (false, true), "{at}");
        }
    }
}
