//! Which class an output serves next.

use crate::build::plan::EgressPlan;
use crate::machine::network::{Device, Network};
use crate::machine::port::INPUT_QUEUED;
use crate::observe::probe::Probe;

/// Turns and deficits of one port's weighted scheduling.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schedule {
    /// Position of its rules in [`crate::build::plan::NetworkPlan::egress`].
    pub(crate) plan: u16,
    /// The weighted group whose turn it is.
    turn: usize,
    /// Bytes each weighted group may still send in its turn.
    deficits: Vec<u32>,
    /// The class served last, per group: classes of a group take turns.
    last: [u8; 16],
}

units::state!(struct Schedule { fixed: plan; plain: turn, last; lists: deficits; });

impl Schedule {
    pub(crate) fn new(plan: u16, groups: usize) -> Schedule {
        Schedule { plan, turn: 0, deficits: vec![0; groups], last: [7; 16] }
    }

    /// One of the classes in `ready`. `waiting` are those with frames, ready or not: a group with nothing waiting
    /// forgets its deficit. `cost` is what the next frame of a class takes.
    fn choose(&mut self, plan: &EgressPlan, ready: u8, waiting: u8, cost: impl Fn(u8) -> u32) -> u8 {
        for (group, &classes) in plan.strict.iter().enumerate() {
            if ready & classes != 0 {
                let class = following(self.last[8 + group], ready & classes, plan.ordered);
                self.last[8 + group] = class;
                return class;
            }
        }
        for (group, &(classes, _)) in plan.weighted.iter().enumerate() {
            if waiting & classes == 0 {
                self.deficits[group] = 0;
            }
        }
        loop {
            let (classes, _) = plan.weighted[self.turn];
            if ready & classes != 0 {
                let class = following(self.last[self.turn], ready & classes, plan.ordered);
                let cost = cost(class);
                if self.deficits[self.turn] >= cost {
                    self.deficits[self.turn] -= cost;
                    self.last[self.turn] = class;
                    return class;
                }
            }
            // The turn passes on; a group gets its quantum when its turn comes.
            self.turn = (self.turn + 1) % plan.weighted.len();
            let (classes, quantum) = plan.weighted[self.turn];
            if ready & classes != 0 {
                self.deficits[self.turn] += quantum;
            }
        }
    }
}

/// The first set bit after `last`, going round; the highest, if the classes are among the ordered.
fn following(last: u8, classes: u8, ordered: u8) -> u8 {
    if classes & ordered != 0 {
        return (7 - classes.leading_zeros()) as u8;
    }
    let above = u32::from(classes) & !((2u32 << last) - 1);
    (if above != 0 { above.trailing_zeros() } else { u32::from(classes).trailing_zeros() }) as u8
}

impl<P: Probe> Network<P> {
    /// One of `classes`, which are not none.
    #[inline]
    pub(crate) fn choose_class(&mut self, p: u32, classes: u8) -> u8 {
        if classes & (classes - 1) == 0 {
            return classes.trailing_zeros() as u8;
        }
        self.choose_among(p, classes)
    }

    #[inline(never)]
    fn choose_among(&mut self, p: u32, classes: u8) -> u8 {
        let Some(mut schedule) = self.schedules[p as usize].take() else {
            return (7 - classes.leading_zeros()) as u8;
        };
        let plan = &self.plan.egress[schedule.plan as usize];
        let waiting = self.ports[p as usize].waiting;
        let overhead = self.plan.overhead.get() as u32;
        let class = schedule.choose(plan, classes, waiting, |class| self.head_len(p, class) + overhead);
        self.schedules[p as usize] = Some(schedule);
        class
    }

    /// Length of the frame that would be sent next in a class.
    pub(crate) fn head_len(&self, p: u32, class: u8) -> u32 {
        let lane = &self.lanes[self.lane(p, class)];
        match self.ports[p as usize].device {
            // There, the lane's queue is what came in by this port, not what waits to leave by it.
            Device::Switch(switch) if self.ports[p as usize].flags & INPUT_QUEUED != 0 => {
                self.next_input_len(switch, p, class)
            }
            Device::Host(_) if lane.queue.is_empty() => self.next_flow_len(lane.ready),
            Device::Switch(switch) if self.switches[switch as usize].order.is_some() => {
                self.next_turn_len(p, switch, class)
            }
            _ => u32::from(self.pool[lane.queue.head].len),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Serves always-waiting classes for a while and returns the bytes of each.
    fn shares(plan: &EgressPlan, lens: [u32; 8], ready: u8, rounds: usize) -> [u64; 8] {
        let mut schedule = Schedule::new(0, plan.weighted.len());
        let mut bytes = [0; 8];
        for _ in 0..rounds {
            let class = schedule.choose(plan, ready, ready, |class| lens[class as usize]) as usize;
            bytes[class] += u64::from(lens[class]);
        }
        bytes
    }

    #[test]
    fn weighted_groups_share_by_bytes_whatever_their_frames() {
        let plan = EgressPlan { strict: vec![], weighted: vec![(1, 8000), (2, 8000), (4, 4000)], ordered: 0 };
        let bytes = shares(&plan, [1500, 64, 9000, 0, 0, 0, 0, 0], 0b111, 200_000);
        let total: u64 = bytes.iter().sum();
        for (class, share) in [(0, 0.4), (1, 0.4), (2, 0.2)] {
            assert!((bytes[class] as f64 / total as f64 - share).abs() < 0.001, "{bytes:?}");
        }
    }

    #[test]
    fn an_idle_group_gives_its_share_away_and_strict_goes_first() {
        let plan = EgressPlan { strict: vec![0x80, 0x40], weighted: vec![(1, 3000), (2, 1000), (4, 4000)], ordered: 0 };
        let bytes = shares(&plan, [1000; 8], 0b011, 40_000);
        assert_eq!((bytes[0], bytes[1]), (30_000_000, 10_000_000));
        let bytes = shares(&plan, [1000; 8], 0b1100_0011, 10);
        assert_eq!(bytes[7], 10_000);
    }

    #[test]
    fn classes_of_a_group_take_turns() {
        let plan = EgressPlan { strict: vec![0b11], weighted: vec![], ordered: 0 };
        let bytes = shares(&plan, [100; 8], 0b11, 10);
        assert_eq!((bytes[0], bytes[1]), (500, 500));
    }

    #[test]
    fn an_ordered_group_serves_its_highest_class_and_keeps_its_share() {
        let plan = EgressPlan { strict: vec![], weighted: vec![(0b0101, 6000), (0b1010, 3000)], ordered: 0b0101 };
        let bytes = shares(&plan, [1000; 8], 0b1111, 9000);
        assert_eq!((bytes[0], bytes[2]), (0, 6_000_000));
        assert_eq!((bytes[1], bytes[3]), (1_500_000, 1_500_000));
        // What the highest does not use is the next one's.
        let bytes = shares(&plan, [1000; 8], 0b1011, 9000);
        assert_eq!(bytes[0], 6_000_000);
    }
}
