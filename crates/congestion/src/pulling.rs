//! What receiver-driven controls have in common: how the destination permits frames, and the path of each frame.

use crate::Adapter;
use crate::parameter::{Parameter, ParameterDefault, ParameterKind, Values};
use units::{Span, Stream};

/// How the destination of a flow permits its frames, and what the source does without permission.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pulling {
    /// Frames that the source sends before it has been permitted any.
    pub window: FirstWindow,
    /// Rate of the frames that a host permits, as a fraction of its link.
    pub rate: f64,
    /// Frames that one pull permits, if its flow wants so many.
    pub frames: u64,
    /// Time after which a frame counts as lost if nothing has been heard of it.
    pub timeout: Span,
    /// For what a destination permits frames.
    pub demand: Demand,
    /// Frames that a host without other demand permits beyond what a source has announced.
    pub advance: u64,
    /// What a source learns from acknowledgements.
    pub learns: Learns,
}

/// What a source learns from acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learns {
    /// Which frames have arrived. The timeout is fixed.
    Frames,
    /// Below which number all frames have arrived. The timeout is the mean time to an answer and four mean deviations, at
    /// least the given one.
    Prefix,
}

/// For what a destination permits frames of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// One frame for each that has arrived, whole or trimmed.
    Arrivals,
    /// As many as the source has announced. What remains of the first window is void when the first reply is back.
    Announced,
    /// For nothing: the source needs no permission. The window of its reaction point limits what it sends.
    Nothing,
}

/// Frames that a source sends before it has been permitted any.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FirstWindow {
    /// One bandwidth-delay product and a short queue.
    PathAndQueue,
    /// So many bandwidth-delay products.
    Products(f64),
    /// So many frames.
    Frames(u64),
}

/// Frames that may wait on the way while the path is full: without them, every wait would cost throughput.
const QUEUE: u64 = 8;
/// The largest first window, in frames.
const MOST: u64 = 16_000;

impl Pulling {
    /// Returns the first window of a flow, in frames.
    #[must_use]
    pub fn first_window(&self, adapter: &Adapter) -> u64 {
        let frame = u128::from((adapter.frame + adapter.overhead).get().max(1));
        let bits = u128::from(adapter.link.as_bits_per_sec()) * u128::from(adapter.round_trip.as_picos());
        let window = match self.window {
            FirstWindow::Frames(frames) => frames,
            FirstWindow::Products(products) => (bits as f64 * products / (8e12 * frame as f64)) as u64,
            FirstWindow::PathAndQueue => {
                u64::try_from(bits.div_ceil(8_000_000_000_000 * frame)).unwrap_or(u64::MAX).saturating_add(QUEUE)
            }
        };
        window.clamp(1, MOST)
    }
}

pub(crate) const WINDOW: Parameter = Parameter {
    name: "first_window",
    kind: ParameterKind::Count(1, MOST),
    default: ParameterDefault::Absent(
        "link rate x round trip on the unloaded path, in whole frames, and 8 frames for a queue",
    ),
    meaning: "Frames that a flow sends at line rate before its destination has permitted any.",
};

pub(crate) const fn pull_rate(default: &'static str, source: &'static str) -> Parameter {
    Parameter {
        name: "pull_rate",
        kind: ParameterKind::Number(0.01, 2.0),
        default: ParameterDefault::Value(default, source),
        meaning: "Rate of the frames that a host permits, as a fraction of the rate of its link.",
    }
}

pub(crate) const fn timeout(default: &'static str, source: &'static str) -> Parameter {
    Parameter {
        name: "timeout",
        kind: ParameterKind::Time,
        default: ParameterDefault::Value(default, source),
        meaning: "Time after which a frame without an answer is retransmitted.",
    }
}

/// Credit in advance; controls without it have none.
pub(crate) const ADVANCE: Parameter = Parameter {
    name: "advance",
    kind: ParameterKind::Count(0, MOST),
    default: ParameterDefault::Value("0", "our choice: credit for what was announced"),
    meaning: "Frames that a host permits beyond what a source has announced, while no source has unmet demand.",
};

/// What acknowledgements are good for; controls without it have selective ones.
pub(crate) const LEARNS: Parameter = Parameter {
    name: "acknowledgements",
    kind: ParameterKind::Choice(&[
        ("selective", "each tells the source which frame has arrived"),
        (
            "cumulative",
            "each tells the source below which frame all have arrived, and the timeout grows with the time to an answer: \
             its mean and four mean deviations, `timeout` at least",
        ),
    ]),
    default: ParameterDefault::Value("selective", "Olteanu et al., NSDI 2022: a bitmap of what has arrived"),
    meaning: "What a source learns from acknowledgements. With `cumulative`, frames above a gap time out and are retransmitted, \
              although they have arrived.",
};

/// Reads [`ADVANCE`] and [`LEARNS`], if the control has them.
pub(crate) fn extras(values: &Values) -> (u64, Learns) {
    let cumulative = values.maybe_choice("acknowledgements").is_some_and(|name| name == "cumulative");
    (values.maybe_count("advance").unwrap_or(0), if cumulative { Learns::Prefix } else { Learns::Frames })
}

pub(crate) const PATHS: Parameter = Parameter {
    name: "paths",
    kind: ParameterKind::Count(1, 1 << 20),
    default: ParameterDefault::Absent("the number of equal paths, with the rest of the entropy at random"),
    meaning: "Number of entropy values that a flow uses in turn, in another order each time; 1 keeps it on one path.",
};

/// Entropy of the frames of a flow: the numbers of a set in turn, in another order each time.
///
/// By default the set is that of its paths, and a multiple of their number that is drawn for each frame is added: a
/// switch that takes the entropy for the number of a path sees the set, and one that hashes it a random number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Spray {
    /// Whether the set has a given size.
    given: bool,
    /// Size of the set.
    paths: u32,
    /// Makes given sets of flows differ.
    base: u32,
    /// The next number is (`index` x `stride` + `offset`) modulo `paths`.
    index: u32,
    stride: u32,
    offset: u32,
    stream: Stream,
}

units::state!(struct Spray { fixed: given, paths, base; plain: index, stride, offset, stream; });

impl Spray {
    pub(crate) fn new(values: &Values) -> Spray {
        let paths = values.maybe_count("paths").map(|paths| paths as u32);
        let (given, paths) = (paths.is_some(), paths.unwrap_or(1));
        Spray { given, paths, base: 0, index: 0, stride: 1, offset: 0, stream: Stream::new(0, 0, "spray") }
    }

    pub(crate) fn attach(&mut self, adapter: &Adapter) {
        self.stream = Stream::new(adapter.seed, u64::from(adapter.flow), "spray");
        self.base = self.stream.next_u64() as u32;
        if !self.given {
            self.paths = adapter.paths.max(1);
        }
    }

    pub(crate) fn next(&mut self) -> u32 {
        if self.index == 0 {
            self.offset = self.stream.below(u64::from(self.paths)) as u32;
            self.stride = 1 + self.stream.below(u64::from(self.paths)) as u32;
            while common_divisor(self.stride, self.paths) != 1 {
                self.stride += 1;
            }
        }
        let product = u64::from(self.index) * u64::from(self.stride) + u64::from(self.offset);
        self.index = (self.index + 1) % self.paths;
        let number = (product % u64::from(self.paths)) as u32;
        if self.given {
            return self.base.wrapping_add(number);
        }
        let multiples = u64::from(u32::MAX / self.paths);
        number + self.paths * self.stream.below(multiples) as u32
    }
}

const fn common_divisor(mut a: u32, mut b: u32) -> u32 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::Value;
    use std::collections::BTreeSet;
    use units::{Bytes, Rate};

    fn spray(paths: Option<u64>, flow: u32) -> Spray {
        let mut values = Values::defaults(&[PATHS]);
        if let Some(paths) = paths {
            values.set("paths", Value::Count(paths));
        }
        let mut spray = Spray::new(&values);
        spray.attach(&Adapter { flow, ..Adapter::of(Rate::from_gigabits(100), Bytes::new(9000)) });
        spray
    }

    #[test]
    fn each_round_uses_every_path_once_in_an_order_of_its_own() {
        for paths in [1, 2, 12, 64, 97] {
            let mut spray = spray(Some(paths), 3);
            let rounds: Vec<Vec<u32>> = (0..6).map(|_| (0..paths).map(|_| spray.next()).collect()).collect();
            let sets: BTreeSet<BTreeSet<u32>> = rounds.iter().map(|round| round.iter().copied().collect()).collect();
            assert_eq!((sets.len(), sets.first().map(BTreeSet::len)), (1, Some(paths as usize)));
            let orders: BTreeSet<&Vec<u32>> = rounds.iter().collect();
            assert!(paths < 12 || orders.len() > 3, "{paths}: {}", orders.len());
        }
        assert_ne!(spray(Some(64), 1).next(), spray(Some(64), 2).next());
    }

    #[test]
    fn by_default_frames_differ_and_use_all_paths_in_turn() {
        let mut spray = spray(None, 0);
        spray.attach(&Adapter { paths: 12, ..Adapter::of(Rate::from_gigabits(100), Bytes::new(9000)) });
        let entropies: Vec<u32> = (0..1200).map(|_| spray.next()).collect();
        assert!(entropies.iter().collect::<BTreeSet<_>>().len() > 1190);
        for round in entropies.chunks(12) {
            assert_eq!(round.iter().map(|entropy| entropy % 12).collect::<BTreeSet<_>>().len(), 12);
        }
    }

    #[test]
    fn the_first_window_is_the_bandwidth_delay_product_in_whole_frames_and_a_queue() {
        let (window, demand) = (FirstWindow::PathAndQueue, Demand::Arrivals);
        let (timeout, learns) = (Span::from_micros(1), Learns::Frames);
        let pulling = Pulling { window, rate: 1.0, frames: 1, timeout, demand, advance: 0, learns };
        let adapter = Adapter::of(Rate::from_gigabits(100), Bytes::new(9000));
        // 100 Gb/s x 10 us are 125 kB.
        assert_eq!((adapter.round_trip, pulling.first_window(&adapter)), (Span::from_micros(10), 14 + 8));
        let adapter = Adapter { round_trip: Span::ZERO, ..adapter };
        assert_eq!(pulling.first_window(&adapter), 8);
        assert_eq!(Pulling { window: FirstWindow::Frames(15), ..pulling }.first_window(&adapter), 15);
        let adapter = Adapter { round_trip: Span::from_micros(12), ..adapter };
        // 1.5 x 150 kB in whole frames of 9000 B.
        assert_eq!(Pulling { window: FirstWindow::Products(1.5), ..pulling }.first_window(&adapter), 25);
    }
}
