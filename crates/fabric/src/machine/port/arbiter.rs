//! Virtual-lane arbitration: which class an output serves next where two tables say so, as in InfiniBand.
//!
//! A class is chosen first and charged when its frame has been taken: one that could not send after all has not spent
//! its turn. Unlike the other rules, this one also notes frames that had no rival, because they end the wait of the low
//! table and use up weight.

use crate::build::plan::VlPlan;
use crate::machine::network::{Ctx, Network};
use crate::observe::probe::Probe;
use units::Time;

/// Bytes of a unit of weight.
const BLOCK: u32 = 64;

/// The turns of one port.
#[derive(Clone, Debug)]
pub(crate) struct Arbiter {
    /// Position of its tables in [`crate::build::plan::NetworkPlan::vl`].
    plan: u16,
    /// Where the high and the low table stand.
    turns: [Turn; 2],
    /// Blocks that the high table has sent since the low one last sent.
    ahead: u64,
}

units::state!(struct Arbiter { fixed: plan; plain: turns, ahead; });

/// The current entry of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Turn {
    entry: u8,
    /// Blocks of its weight that are left.
    left: u32,
}

engine::encoded!(struct Turn { entry, left });

/// What an arbiter would serve next.
#[derive(Clone, Copy, Debug)]
struct Choice {
    class: u8,
    table: usize,
    turn: Turn,
}

impl Arbiter {
    pub(crate) fn new(number: u16, plan: &VlPlan) -> Arbiter {
        // As if the last entry had just been served: the first is next.
        let turn = |table: usize| Turn { entry: plan.tables[table].entries.len().saturating_sub(1) as u8, left: 0 };
        Arbiter { plan: number, turns: [turn(0), turn(1)], ahead: 0 }
    }

    /// The class to serve next, of those in `ready`, which are not none.
    fn choose(&self, plan: &VlPlan, ready: u8) -> Choice {
        let [high, low] = &plan.tables;
        let due = self.ahead >= plan.limit && ready & low.classes != 0;
        let table = usize::from(due || ready & high.classes == 0);
        let (entries, turn) = (&plan.tables[table].entries, self.turns[table]);
        let is_ready = |entry: usize| ready >> entries[entry].0 & 1 == 1;
        let current = usize::from(turn.entry);
        if turn.left > 0 && is_ready(current) {
            return Choice { class: entries[current].0, table, turn };
        }
        // What is left of an entry's weight is lost when the turn passes on.
        let mut others = (1..=entries.len()).map(|step| (current + step) % entries.len());
        let next = others.find(|&entry| is_ready(entry)).expect("every class has weight in a table");
        let (class, weight) = entries[next];
        Choice { class, table, turn: Turn { entry: next as u8, left: weight } }
    }

    /// A frame of that length goes by that choice. It may be longer than the weight that is left: nothing is owed.
    fn charge(&mut self, choice: Choice, len: u32) {
        let Choice { table, turn, .. } = choice;
        let blocks = len.div_ceil(BLOCK);
        self.turns[table] = Turn { left: turn.left.saturating_sub(blocks), ..turn };
        self.ahead = if table == 0 { self.ahead + u64::from(blocks) } else { 0 };
    }
}

impl<P: Probe> Network<P> {
    /// Sends a frame of one of these classes, in the order of the port's tables, if one can start now.
    #[inline(never)]
    pub(crate) fn transmit_by_tables(&mut self, now: Time, p: u32, mut classes: u8, ctx: &mut Ctx) {
        while classes != 0 {
            let Some(arbiter) = &self.arbiters[p as usize] else { return };
            let choice = arbiter.choose(&self.plan.vl[arbiter.plan as usize], classes);
            if let Some(place) = self.take(now, p, choice.class, ctx) {
                let len = u32::from(self.pool[place].len);
                if let Some(arbiter) = &mut self.arbiters[p as usize] {
                    arbiter.charge(choice, len);
                }
                self.ports[p as usize].moved |= 1 << choice.class;
                self.note_passed_over(now, p, choice.class);
                return self.start(now, p, place, ctx);
            }
            classes &= !(1 << choice.class);
        }
        self.note_short_of_credits(now, p);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::spec::{VlArbitration, VlEntry};

    fn plan(high: &[(u8, u8)], low: &[(u8, u8)], high_limit: u8) -> VlPlan {
        let table = |entries: &[(u8, u8)]| entries.iter().map(|&(class, weight)| VlEntry { class, weight }).collect();
        VlPlan::new(&VlArbitration { high: table(high), low: table(low), high_limit })
    }

    /// Sends one frame and returns its class.
    fn send(arbiter: &mut Arbiter, plan: &VlPlan, ready: u8, lens: [u32; 3]) -> u8 {
        let choice = arbiter.choose(plan, ready);
        arbiter.charge(choice, lens[choice.class as usize]);
        choice.class
    }

    /// The classes of so many frames, all of `ready` always waiting.
    fn order(plan: &VlPlan, ready: u8, lens: [u32; 3], frames: usize) -> Vec<u8> {
        let mut arbiter = Arbiter::new(0, plan);
        (0..frames).map(|_| send(&mut arbiter, plan, ready, lens)).collect()
    }

    fn bytes(plan: &VlPlan, lens: [u32; 3], frames: usize) -> [u64; 3] {
        let mut bytes = [0; 3];
        for class in order(plan, 0b111, lens, frames) {
            bytes[class as usize] += u64::from(lens[class as usize]);
        }
        bytes
    }

    #[test]
    fn weights_are_blocks_of_64_bytes() {
        // A turn is 1, 3 and 2 frames of 16 blocks.
        let plan = plan(&[], &[(0, 16), (1, 48), (2, 32)], 0);
        assert_eq!(order(&plan, 0b111, [1024; 3], 7), [0, 1, 1, 1, 2, 2, 0]);
        assert_eq!(bytes(&plan, [1024; 3], 6_000), [1_024_000, 3_072_000, 2_048_000]);
        // The longest weights: 255 blocks are 16 frames of 16 blocks, the last one begun with 15 blocks left.
        let long = self::plan(&[], &[(0, 255), (1, 1), (2, 1)], 0);
        assert_eq!(bytes(&long, [1024; 3], 1_800), [1_638_400, 102_400, 102_400]);
    }

    #[test]
    fn a_frame_begun_within_its_weight_is_sent_whole_and_nothing_is_owed() {
        // 256 B are 4 blocks, 4 to the weight; 2048 B are 32, so two begin within 40; 65 B are 2, so two within 3.
        let plan = plan(&[], &[(0, 16), (1, 40), (2, 3)], 0);
        assert_eq!(order(&plan, 0b111, [256, 2048, 65], 9), [0, 0, 0, 0, 1, 1, 2, 2, 0]);
        assert_eq!(bytes(&plan, [256, 2048, 65], 8_000), [1_024_000, 4_096_000, 130_000]);
    }

    #[test]
    fn a_class_may_have_several_entries_and_be_in_both_tables() {
        let several = plan(&[], &[(0, 1), (1, 1), (0, 1), (2, 1), (1, 0)], 0);
        assert_eq!(order(&several, 0b111, [64; 3], 6), [0, 1, 0, 2, 0, 1]);
        // High and low in turn: class 0 has all of the one and a half of the other.
        let both = plan(&[(0, 1)], &[(0, 1), (1, 1), (2, 0)], 0);
        assert_eq!(order(&both, 0b011, [64; 3], 8), [0, 0, 0, 1, 0, 0, 0, 1]);
    }

    #[test]
    fn the_high_table_goes_first_up_to_its_limit() {
        let with = |limit, len| order(&plan(&[(2, 255)], &[(0, 1), (1, 1)], limit), 0b111, [64, 64, len], 10);
        // None: one frame at a time, however short or long.
        assert_eq!(with(0, 64), [2, 0, 2, 1, 2, 0, 2, 1, 2, 0]);
        assert_eq!(with(0, 9000), with(0, 64));
        // 4096 bytes: 4 frames of 16 blocks; or 3 of 24, the last one begun with 16 blocks left.
        assert_eq!(with(1, 1024), [2, 2, 2, 2, 0, 2, 2, 2, 2, 1]);
        assert_eq!(with(1, 1500), [2, 2, 2, 0, 2, 2, 2, 1, 2, 2]);
        assert_eq!(with(2, 2048), [2, 2, 2, 2, 0, 2, 2, 2, 2, 1]);
        assert_eq!(with(254, 64), [2; 10]);
    }

    #[test]
    fn without_a_limit_the_low_table_starves() {
        let lens = [64, 64, 9000];
        assert_eq!(bytes(&plan(&[(2, 1)], &[(0, 255), (1, 255)], 255), lens, 1_000_000), [0, 0, 9_000_000_000]);
        // The largest limit there is: 254 x 64 blocks, 141 to a frame, so 116 frames for one.
        let some = bytes(&plan(&[(2, 1)], &[(0, 255), (1, 255)], 254), lens, 117_000);
        assert_eq!((some[0] + some[1], some[2]), (64 * 1_000, 9000 * 116_000));
    }

    #[test]
    fn a_class_that_cannot_send_loses_nothing() {
        let plan = plan(&[(2, 1)], &[(0, 2), (1, 2)], 0);
        let mut arbiter = Arbiter::new(0, &plan);
        let mut send = |ready| send(&mut arbiter, &plan, ready, [64; 3]);
        assert_eq!([send(0b011), send(0b011), send(0b011)], [0, 0, 1]);
        // Class 1 has a block left, but is held back: the turn is class 0's, and class 1 then has a whole one.
        assert_eq!([send(0b001), send(0b011), send(0b011), send(0b011), send(0b011)], [0, 0, 1, 1, 0]);
        // Sent without a rival, a high frame still uses the limit, and a low one frees it.
        assert_eq!([send(0b100), send(0b111)], [2, 0]);
        assert_eq!([send(0b100), send(0b010), send(0b111)], [2, 1, 2]);
        // The low table's chance waits until it can be taken.
        assert_eq!([send(0b100), send(0b100), send(0b101), send(0b101)], [2, 2, 0, 2]);
    }

    #[test]
    fn choosing_changes_nothing() {
        let plan = plan(&[], &[(0, 1), (1, 1)], 0);
        let arbiter = Arbiter::new(0, &plan);
        assert_eq!([arbiter.choose(&plan, 0b11).class, arbiter.choose(&plan, 0b11).class], [0, 0]);
        assert_eq!([arbiter.choose(&plan, 0b10).class, arbiter.choose(&plan, 0b11).class], [1, 0]);
    }
}
