//! REPS, recycled entropies for packet spraying: entropies whose acknowledgements came back unmarked are used again.
//!
//! Source: Bonato et al., "REPS: Recycled Entropy Packet Spraying for Adaptive Load Balancing and Failure Mitigation",
//! arXiv 2407.21625; read from its public code in htsim (`UecMpReps` in `uec_mp.cpp` and `buffer_reps.cpp`). Frames get
//! entropies at random. The entropy of an unmarked acknowledgement is kept in a ring and used for one more frame. After
//! a timeout the flow freezes: it uses the entropies of its ring again and again, also used ones, and none at random,
//! because one that was good before a failure is better than one that may lead to it.

use crate::path_selection::{Echo, PathSelection, PathSelectionInfo, PathSelector};
use congestion::parameter::{Parameter, ParameterDefault, ParameterKind};
use congestion::{Adapter, LossSignal};
use units::{Span, Stream, Time};

pub(crate) const INFO: PathSelectionInfo = PathSelectionInfo {
    name: "reps",
    summary: "REPS: a random path per frame; paths whose acknowledgements are not marked are used again",
    parameters: &[
        Parameter {
            name: "paths",
            kind: ParameterKind::Count(1, 1 << 16),
            default: ParameterDefault::Value("64", "htsim, main_uec.cpp: path_entropy_size"),
            meaning: "Number of entropy values of a flow.",
        },
        Parameter {
            name: "buffer",
            kind: ParameterKind::Count(1, 4096),
            default: ParameterDefault::Value("8", "htsim, buffer_reps.cpp: repsBufferSize"),
            meaning: "Number of entropies that a flow keeps for further use.",
        },
        Parameter {
            name: "freezing",
            kind: ParameterKind::Flag,
            default: ParameterDefault::Value("true", "htsim, buffer_reps.cpp: repsUseFreezing"),
            meaning: "Whether a timeout keeps the flow from trying other entropies than those in its buffer.",
        },
        Parameter {
            name: "freezing_time",
            kind: ParameterKind::Time,
            default: ParameterDefault::Value("10ms", "htsim, buffer_reps.cpp: exit_freeze_after"),
            meaning: "Time after which freezing ends and the buffer is emptied, with the next reply.",
        },
        Parameter {
            name: "explored",
            kind: ParameterKind::Count(0, 1 << 16),
            default: ParameterDefault::Value("16", "htsim, uec_mp.cpp: explore_counter"),
            meaning: "Frames with random entropies after freezing, during which no timeout begins another.",
        },
    ],
    presets: &[],
    build: |values| {
        Ok(Some(PathSelection::Reps(Reps {
            paths: values.count("paths") as u32,
            freezes: values.flag("freezing"),
            freezing_time: values.time("freezing_time"),
            explored: values.count("explored"),
            base: 0,
            ring: vec![(0, false); values.count("buffer") as usize],
            head: 0,
            count: 0,
            fresh: 0,
            next_frozen: 0,
            frozen_until: None,
            exploring: 0,
            stream: Stream::new(0, 0, "reps"),
        })))
    },
};

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Reps {
    paths: u32,
    freezes: bool,
    freezing_time: Span,
    explored: u64,
    /// Makes the entropies of flows differ.
    base: u32,
    /// Entropies, and whether they are fresh: not used since their acknowledgement.
    ring: Vec<(u32, bool)>,
    /// The place of the next entropy, how many there are, and how many of them are fresh: the latest.
    head: u32,
    count: u32,
    fresh: u32,
    /// The place of the next entropy while it is frozen, and until when it is at least.
    next_frozen: u32,
    frozen_until: Option<Time>,
    /// Frames that are still to get a random entropy.
    exploring: u64,
    stream: Stream,
}

units::state!(struct Reps {
    fixed: paths, freezes, freezing_time, explored, base;
    plain: head, count, fresh, next_frozen, frozen_until, exploring, stream;
    lists: ring;
});

impl Reps {
    fn size(&self) -> u32 {
        self.ring.len() as u32
    }

    fn any(&mut self) -> u32 {
        self.base.wrapping_add(self.stream.below(u64::from(self.paths)) as u32)
    }

    /// Keeps an entropy, in place of the oldest if there is no room.
    fn keep(&mut self, entropy: u32) {
        let place = &mut self.ring[self.head as usize];
        self.fresh += u32::from(!place.1);
        *place = (entropy, true);
        self.head = (self.head + 1) % self.size();
        self.count = (self.count + 1).min(self.size());
    }

    /// Takes the oldest fresh entropy.
    fn recycle(&mut self) -> u32 {
        let place = (self.head + self.size() - self.fresh) % self.size();
        let (entropy, fresh) = &mut self.ring[place as usize];
        self.fresh -= u32::from(std::mem::take(fresh));
        *entropy
    }

    /// Takes the next entropy, fresh or not.
    fn repeat(&mut self) -> u32 {
        let (entropy, fresh) = &mut self.ring[self.next_frozen as usize];
        self.fresh -= u32::from(std::mem::take(fresh));
        self.next_frozen = (self.next_frozen + 1) % self.count;
        *entropy
    }

    fn thaw(&mut self) {
        self.ring.fill((0, false));
        (self.head, self.count, self.fresh, self.next_frozen) = (0, 0, 0, 0);
        (self.frozen_until, self.exploring) = (None, self.explored);
    }
}

impl PathSelector for Reps {
    fn attach(&mut self, adapter: &Adapter, hash: u32) {
        self.stream = Stream::new(adapter.seed, u64::from(adapter.flow), "reps");
        self.base = hash;
    }

    fn entropy(&mut self) -> u32 {
        if self.exploring > 0 {
            self.exploring -= 1;
            return self.any();
        }
        match self.frozen_until {
            Some(_) if self.count > 0 => self.repeat(),
            None if self.fresh > 0 => self.recycle(),
            _ => self.any(),
        }
    }

    fn held(&self) -> Option<u32> {
        None
    }

    fn on_echo(&mut self, now: Time, echo: &Echo) {
        if self.frozen_until.is_some_and(|end| now > end) {
            self.thaw();
        }
        if !echo.marked && !echo.trimmed {
            self.keep(echo.entropy);
        }
    }

    fn on_loss(&mut self, now: Time, signal: LossSignal) {
        let may_freeze = self.freezes && self.frozen_until.is_none() && self.exploring == 0;
        if signal == LossSignal::Timeout && may_freeze {
            self.frozen_until = Some(now.saturating_add(self.freezing_time));
        } else if self.frozen_until.is_some_and(|end| now > end) {
            self.thaw();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path_selection::tests::{at, selector};
    use congestion::parameter::Value;
    use std::collections::BTreeSet;

    fn echo(reps: &mut PathSelection, micros: u64, entropy: u32, marked: bool) {
        reps.on_echo(at(micros), &Echo { entropy, marked, ..Echo::default() });
    }

    fn take(reps: &mut PathSelection, frames: usize) -> Vec<u32> {
        (0..frames).map(|_| reps.entropy()).collect()
    }

    #[test]
    fn frames_get_random_entropies_of_the_set_of_their_flow() {
        let mut reps = selector("reps", &[("paths", Value::Count(16))]);
        let seen: BTreeSet<u32> = take(&mut reps, 1000).into_iter().collect();
        assert_eq!(seen, (7..23).collect());
        assert_eq!(reps.held(), None);
    }

    #[test]
    fn unmarked_entropies_are_used_once_more_in_order_and_marked_ones_are_not() {
        let mut reps = selector("reps", &[]);
        for (entropy, marked) in [(1001, false), (1002, true), (1003, false), (1004, false)] {
            echo(&mut reps, 1, entropy, marked);
        }
        reps.on_echo(at(1), &Echo { entropy: 1005, trimmed: true, ..Echo::default() });
        assert_eq!(take(&mut reps, 3), [1001, 1003, 1004]);
        assert!(take(&mut reps, 20).iter().all(|entropy| (7..71).contains(entropy)));
        // Of more than there is room for, the oldest are lost.
        (0..11).for_each(|number| echo(&mut reps, 2, 2000 + number, false));
        assert_eq!(take(&mut reps, 8), (2003..2011).collect::<Vec<_>>());
        echo(&mut reps, 3, 3000, false);
        assert_eq!(reps.entropy(), 3000);
        assert!(reps.entropy() < 71);
    }

    #[test]
    fn after_a_timeout_the_kept_entropies_are_used_again_and_again() {
        let mut reps = selector("reps", &[]);
        (0..3).for_each(|number| echo(&mut reps, 1, 1000 + number, false));
        assert_eq!(reps.entropy(), 1000);
        reps.on_loss(at(10), LossSignal::Detected);
        reps.on_loss(at(11), LossSignal::Timeout);
        assert_eq!(take(&mut reps, 7), [1000, 1001, 1002, 1000, 1001, 1002, 1000]);
        // What is found good meanwhile joins.
        echo(&mut reps, 20, 1003, false);
        let seen: BTreeSet<u32> = take(&mut reps, 8).into_iter().collect();
        assert_eq!(seen, (1000..1004).collect());
        // Freezing ends with the first reply after its time: 16 frames explore, and another timeout changes nothing.
        echo(&mut reps, 10_011, 1001, false);
        assert!((1000..1004).contains(&reps.entropy()));
        echo(&mut reps, 10_012, 1001, false);
        reps.on_loss(at(10_013), LossSignal::Timeout);
        assert!(take(&mut reps, 16).iter().all(|entropy| (7..71).contains(entropy)));
        assert_eq!(reps.entropy(), 1001);
        assert!((7..71).contains(&reps.entropy()));
    }

    #[test]
    fn without_freezing_a_timeout_changes_nothing() {
        let mut reps = selector("reps", &[("freezing", Value::Flag(false))]);
        echo(&mut reps, 1, 1000, false);
        reps.on_loss(at(2), LossSignal::Timeout);
        assert_eq!(reps.entropy(), 1000);
        assert!((7..71).contains(&reps.entropy()));
    }
}
