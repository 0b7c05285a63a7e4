//! Parts shared by congestion points: the sampling of a queue, the feedback of a sample, and its encoding in a notice
//! or in the reply to a probe.

use crate::parameter::{Parameter, ParameterDefault, ParameterKind};
use crate::point::{Fate, Guidance, Notice, Passing};
use units::Stream;

/// [`Notice::feedback`] of a notice with an offset and a growth.
pub(crate) const ORDINARY: u8 = 0;
/// [`Notice::feedback`] of a notice of severe congestion: BCN(0,0).
pub(crate) const SEVERE: u8 = 1;

/// A weight of one, where weights count in 1024ths: that holds every weight of IEEE 802.1Qau.
pub(crate) const ONE: i64 = 1024;

pub(crate) const BASE_PROBABILITY: Parameter = Parameter {
    name: "base_probability",
    kind: ParameterKind::Number(0.0, 1.0),
    default: ParameterDefault::Value("0.01", "802.1au bake-off slides, first runs; 0.02 in the second"),
    meaning: "Sampling probability of a frame without congestion. It grows tenfold at the strongest congestion.",
};

pub(crate) const PROBE_ANSWERS: Parameter = Parameter {
    name: "probe_answers",
    kind: ParameterKind::Choice(&[
        ("positive", "only if the queue has room for a higher rate; otherwise the probe is discarded"),
        ("both", "always; if the queue is too long, the reply requests a lower rate"),
    ]),
    default: ParameterDefault::Value("positive", "802.1au bake-off slides: return probe only if rate increase desired"),
    meaning: "Which probes the congestion point answers. The slides advise against negative replies.",
};

/// A queue at a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    /// The set point less the queue, in bytes.
    pub(crate) offset: i32,
    /// Growth since the previous sample, in bytes.
    pub(crate) growth: i32,
}

fn difference(a: u32, b: u32) -> i32 {
    (i64::from(a) - i64::from(b)).clamp(i32::MIN.into(), i32::MAX.into()) as i32
}

impl Sample {
    pub(crate) fn of(set_point: u32, queue: u32, old: u32) -> Sample {
        Sample { offset: difference(set_point, queue), growth: difference(queue, old) }
    }

    /// Feedback in bytes: negative to lower the rate, positive to raise it.
    pub(crate) fn feedback(self, weight: f64) -> f64 {
        f64::from(self.offset) - weight * f64::from(self.growth)
    }

    /// Decides the fate of a probe addressed to this queue: it is answered if there is room, and otherwise only if the
    /// point has a negative reply, encoded as in its notices.
    pub(crate) fn reply(
        self,
        probe: &Passing,
        weight: f64,
        guidance: Option<Guidance>,
        negative: impl FnOnce() -> Option<u8>,
    ) -> Fate {
        let Passing { flow, output: port, class, .. } = *probe;
        let Sample { offset, growth } = self;
        let feedback = if self.feedback(weight) > 0.0 { Some(ORDINARY) } else { negative() };
        match feedback {
            Some(feedback) => Fate::Reply(Notice { flow, feedback, offset, growth, port, class, guidance }),
            None => Fate::End,
        }
    }
}

/// Congestion of a queue and its maximum; zero where the queue is not congested. The weight is in 1024ths.
pub(crate) fn congestion(set_point: u32, weight: i64, queue: u32, old: u32) -> (i64, i64) {
    let (set_point, queue, old) = (i64::from(set_point), i64::from(queue), i64::from(old));
    let most = set_point * (2 * weight + ONE);
    (((queue - set_point) * ONE + weight * (queue - old)).clamp(0, most), most)
}

/// The six-bit feedback of a queue; 0 where it is not congested.
pub(crate) fn quantised(set_point: u32, weight: i64, queue: u32, old: u32) -> u8 {
    let (congestion, most) = congestion(set_point, weight, queue, old);
    (congestion * 63 / most) as u8
}

/// The probability with which QCN of 2007 samples a frame; `part` is the congestion relative to its maximum.
pub(crate) fn flexible(base: f64, part: f64) -> f64 {
    base * (1.0 + 9.0 * part.clamp(0.0, 1.0))
}

/// Returns a number with that mean, spread uniformly to both sides by the fraction `jitter`. Draws once.
pub(crate) fn jittered(stream: &mut Stream, mean: f64, jitter: f64) -> f64 {
    mean * (1.0 + jitter * (2.0 * stream.unit_f64() - 1.0))
}

/// The rule by which arriving frames are sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sampling {
    /// Each frame by itself.
    Frames { probability: f64 },
    /// The frame that completes this number of bytes.
    Bytes { base: f64, jitter: f64 },
    /// Each frame by itself, more often under more congestion; see [`flexible`].
    Flexible { base: f64 },
}

/// Selects the frames of one queue that are sampled.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sampler {
    sampling: Sampling,
    /// Bytes until the next sample, where bytes are counted.
    left: i64,
    stream: Stream,
}

units::state!(struct Sampler { fixed: sampling; plain: left, stream; });

impl Sampler {
    pub(crate) fn new(sampling: Sampling, mut stream: Stream) -> Sampler {
        let left = match sampling {
            Sampling::Bytes { base, jitter } => jittered(&mut stream, base, jitter) as i64,
            Sampling::Frames { .. } | Sampling::Flexible { .. } => 0,
        };
        Sampler { sampling, left, stream }
    }

    /// Returns whether a frame is sampled. `part` is the congestion of its queue relative to the maximum.
    pub(crate) fn samples(&mut self, len: u16, part: impl FnOnce() -> f64) -> bool {
        match self.sampling {
            Sampling::Frames { probability } => self.stream.bernoulli(probability),
            Sampling::Flexible { base } => self.stream.bernoulli(flexible(base, part()).min(1.0)),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feedback_is_floored_to_six_bits() {
        // A set point of 26000 and a weight of 2: the most is 130000, and a step of the feedback is 2063.49 bytes.
        let above = |bytes: u32| quantised(26_000, 2 * ONE, 26_000 + bytes, 26_000 + bytes);
        assert_eq!([above(0), above(2_063), above(2_064), above(4_126), above(4_127)], [0, 0, 1, 1, 2]);
        assert_eq!([above(129_999), above(130_000), above(1 << 30)], [62, 63, 63]);
        let grown = |queue: u32, old: u32| quantised(26_000, 2 * ONE, queue, old);
        // 10000 above and 5000 more than before: 20000 * 63 / 130000 = 9.69.
        assert_eq!(grown(36_000, 31_000), 9);
        // Growth counts below the set point too, and shrinking counts against a queue above it.
        assert_eq!([grown(20_000, 10_000), grown(26_000, 20_000), grown(40_000, 48_000)], [6, 5, 0]);
        // Weights below one: 119000 above and a quarter of 18000, of 300000.
        assert_eq!(quantised(200_000, ONE / 4, 319_000, 301_000), 25);
        assert_eq!(quantised(200_000, 0, 300_000, 0), 31);
        assert_eq!(quantised(u32::MAX / 2, 1024 * ONE, u32::MAX, 0), 63);
    }

    #[test]
    fn the_probability_of_2007_goes_from_one_to_ten_percent() {
        let percent = |part: f64| (flexible(0.01, part) * 1e4).round() / 100.0;
        assert_eq!([percent(0.0), percent(0.5), percent(1.0), percent(7.0)], [1.0, 5.5, 10.0, 10.0]);
        // A set point of 24000 and a weight of 2: the most is 120000. 36000 above and 12000 more than before are
        // 36000 + 2 * 12000 = 60000, half of it.
        let (congestion, most) = congestion(24_000, 2 * ONE, 60_000, 48_000);
        assert_eq!(congestion * 2, most);
    }

    #[test]
    fn a_probe_comes_back_only_if_there_is_room_for_more() {
        let probe = Passing { now: units::Time::ZERO, flow: 7, output: 2, class: 1, tag: 9, value: 0 };
        // 24000 - 20000 - 2 * (20000 - 19000) = 2000, and one byte of growth per byte below is too much.
        let Fate::Reply(notice) = Sample::of(24_000, 20_000, 19_000).reply(&probe, 2.0, None, || None) else {
            panic!("a reply")
        };
        assert_eq!((notice.flow, notice.port, notice.class), (7, 2, 1));
        assert_eq!((notice.feedback, notice.offset, notice.growth), (0, 4_000, 1_000));
        for old in [18_000, 10_000] {
            assert_eq!(Sample::of(24_000, 20_000, old).reply(&probe, 2.0, None, || None), Fate::End);
        }
        assert_eq!(Sample::of(24_000, 24_000, 24_000).reply(&probe, 2.0, None, || None), Fate::End);
        // A point that has a negative answer gives it, and only where there is no room.
        for (queue, feedback) in [(40_000, 7), (20_000, ORDINARY)] {
            let Fate::Reply(notice) = Sample::of(24_000, queue, queue).reply(&probe, 2.0, None, || Some(7)) else {
                panic!("a reply")
            };
            assert_eq!((notice.feedback, notice.offset), (feedback, 24_000 - queue as i32));
        }
    }
}
