//! A composite queue (NDP, SIGCOMM 2017): a short queue of full frames; a frame that finds no place is trimmed to its
//! header, which continues in another class, so that its destination learns of it.

use crate::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind};
use crate::point::{CongestionPoint, Passage, Surroundings, Treatment, View};
use crate::{Point, PointInfo};
use units::Stream;

pub(crate) const INFO: PointInfo = PointInfo {
    name: "trim",
    summary: "a composite queue as in NDP: frames beyond a short queue are trimmed to their headers",
    parameters: &[
        Parameter {
            name: "frames",
            kind: ParameterKind::Count(1, 1 << 20),
            default: ParameterDefault::Value(
                "8",
                "the NDP authors' examples for figures 14 and 16 of SIGCOMM 2017: queues of 8 packets; csg-htsim has 15",
            ),
            meaning: "Number of data frames of a class that may wait for an output, without the frame on the wire.",
        },
        Parameter {
            name: "queue",
            kind: ParameterKind::Size(1, 1 << 31),
            default: ParameterDefault::Absent("`frames` alone limits the queue"),
            meaning: "Number of bytes of a class that may wait for an output, as a second limit.",
        },
        Parameter {
            name: "victim",
            kind: ParameterKind::Choice(&[
                ("random", "the arriving frame or the last one of the queue, with equal probability"),
                ("arriving", "the arriving frame"),
                ("last", "the last frame of the queue"),
            ]),
            default: ParameterDefault::Value(
                "random",
                "Handley et al., SIGCOMM 2017 (NDP): it breaks up phase effects between flows",
            ),
            meaning: "The frame that is trimmed.",
        },
        Parameter {
            name: "return_to_sender",
            kind: ParameterKind::Flag,
            default: ParameterDefault::Value("false", "our choice: a header that does not fit is dropped"),
            meaning: "Whether the header of a trimmed frame returns to its source if it does not fit in its queue.",
        },
        Parameter {
            name: "kmin",
            kind: ParameterKind::Size(0, 1 << 31),
            default: ParameterDefault::Absent("no frame is marked"),
            meaning: "Queue length, in bytes, from which frames that leave are marked (ECN), with a probability that grows to \
                 one at `kmax`.",
        },
        Parameter {
            name: "kmax",
            kind: ParameterKind::Size(0, 1 << 31),
            default: ParameterDefault::Absent("`kmin`: every frame is marked above it"),
            meaning: "Queue length, in bytes, from which every frame that leaves is marked.",
        },
    ],
    presets: &[],
    build: |values| {
        let [kmin, kmax] = ["kmin", "kmax"].map(|name| values.maybe_size(name).map(|size| size.get() as f64));
        if kmax.is_some_and(|kmax| kmin.is_none_or(|kmin| kmin > kmax)) {
            return Err(Invalid::new("kmax", "not above `kmin`", "give kmin too, and no larger than kmax"));
        }
        Ok(Point::Trimming(Trimming {
            returns: values.flag("return_to_sender"),
            marks: kmin.map(|kmin| (kmin, kmax.unwrap_or(kmin))),
            frames: values.count("frames") as u32,
            queue: values.maybe_size("queue").map(|size| size.get()),
            victim: match values.choice("victim").as_str() {
                "arriving" => Victim::Arriving,
                "last" => Victim::Last,
                _ => Victim::Random,
            },
            streams: Vec::new(),
        }))
    },
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victim {
    Random,
    Arriving,
    Last,
}

/// A congestion point that trims frames.
#[derive(Clone, Debug, PartialEq)]
pub struct Trimming {
    frames: u32,
    queue: Option<u64>,
    victim: Victim,
    returns: bool,
    /// Queue lengths between which the probability of a mark grows from zero to one.
    marks: Option<(f64, f64)>,
    /// By output.
    streams: Vec<Stream>,
}

units::state!(struct Trimming { fixed: frames, queue, victim, returns, marks; lists: streams; });

impl CongestionPoint for Trimming {
    fn attach(&mut self, surroundings: &Surroundings) {
        let Surroundings { rates, seed, first_port, .. } = surroundings;
        let stream = |number: usize| Stream::new(*seed, u64::from(*first_port) + number as u64, "trimming");
        self.streams = (0..rates.len()).map(stream).collect();
    }

    fn judges(&self) -> bool {
        true
    }

    fn discards(&self) -> u8 {
        u8::MAX
    }

    fn trims(&self) -> bool {
        true
    }

    fn returns_headers(&self) -> bool {
        self.returns
    }

    fn on_enqueue(&mut self, frame: &Passage, view: &impl View) -> Treatment {
        let bytes = u64::from(view.waiting_bytes(frame.output, frame.class)) + u64::from(frame.len);
        let fits = view.waiting_frames(frame.output, frame.class) < self.frames
            && self.queue.is_none_or(|limit| bytes <= limit);
        if fits {
            return Treatment::Pass;
        }
        match self.victim {
            Victim::Arriving => Treatment::Trim,
            Victim::Last => Treatment::TrimLast,
            Victim::Random if self.streams[usize::from(frame.output)].below(2) == 0 => Treatment::Trim,
            Victim::Random => Treatment::TrimLast,
        }
    }

    fn on_start(&mut self, frame: &Passage, view: &impl View) -> bool {
        let Some((kmin, kmax)) = self.marks else { return false };
        let queue = f64::from(view.waiting_bytes(frame.output, frame.class));
        let stream = &mut self.streams[usize::from(frame.output)];
        queue > kmin && (queue >= kmax || stream.unit_f64() < (queue - kmin) / (kmax - kmin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::{Value, Values};
    use crate::red::tests::{Queue, frame, surroundings};
    use units::Bytes;

    fn made(set: &[(&'static str, Value)]) -> Point {
        let mut values = Values::defaults(INFO.parameters);
        set.iter().for_each(|(name, value)| values.set(name, value.clone()));
        let mut point = (INFO.build)(&values).unwrap();
        point.attach(&surroundings(1));
        point
    }

    #[test]
    fn eight_frames_fit_and_the_next_is_trimmed() {
        let mut point = made(&[("victim", Value::Choice("arriving".into()))]);
        assert_eq!(point.on_enqueue(&frame(0), &Queue(7_000)), Treatment::Pass);
        assert_eq!(point.on_enqueue(&frame(0), &Queue(8_000)), Treatment::Trim);
        let mut point = made(&[("queue", Value::Size(Bytes::new(3_000))), ("victim", Value::Choice("last".into()))]);
        assert_eq!(point.on_enqueue(&frame(0), &Queue(2_000)), Treatment::Pass);
        assert_eq!(point.on_enqueue(&frame(0), &Queue(2_001)), Treatment::TrimLast);
    }

    #[test]
    fn frames_that_leave_a_long_queue_are_marked() {
        let size = |bytes| Value::Size(Bytes::new(bytes));
        assert!(!made(&[]).on_start(&frame(0), &Queue(8_000)), "by default nothing is");
        let mut point = made(&[("kmin", size(2_000)), ("kmax", size(6_000))]);
        let mut marked = |queue| (0..10_000).filter(|_| point.on_start(&frame(0), &Queue(queue))).count();
        assert_eq!([marked(2_000), marked(6_000), marked(9_000)], [0, 10_000, 10_000]);
        let half = marked(4_000);
        assert!((4_800..5_200).contains(&half), "{half}");
        let mut step = made(&[("kmin", size(2_000))]);
        assert_eq!([2_000, 2_001].map(|queue| step.on_start(&frame(0), &Queue(queue))), [false, true]);
        let values = Values::defaults(INFO.parameters).with("kmax", size(1_000));
        assert_eq!((INFO.build)(&values).unwrap_err().parameter, "kmax");
    }

    #[test]
    fn half_of_the_victims_are_the_last_of_the_queue() {
        let mut point = made(&[]);
        let last = (0..10_000).filter(|_| point.on_enqueue(&frame(0), &Queue(8_000)) == Treatment::TrimLast).count();
        assert!((4_800..5_200).contains(&last), "{last}");
    }
}
