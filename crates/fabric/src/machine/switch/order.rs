//! Which destination an output serves next, where one buffer holds frames for several and keeps them separate: virtual
//! output queues of a fabric whose outputs are not those of the switch itself.
//!
//! Frames stay in the one list of their output; a choice looks through it. That costs a step per frame that waits, and
//! only switches that ask for it pay.

use crate::describe::spec::Order;
use crate::machine::frame::NIL;
use crate::machine::network::Network;
use crate::observe::probe::Probe;

/// The turns of one switch.
#[derive(Clone, Debug)]
pub(crate) struct Turns {
    order: Order,
    /// By (output, class): the destination served last.
    last: Vec<u32>,
    /// Destinations that wait and their bytes; kept to save the allocation.
    waiting: Vec<(u32, u64)>,
}

units::state!(struct Turns { fixed: order, waiting; lists: last; });

impl Turns {
    pub(crate) fn new(order: Order, ports: usize, classes: usize) -> Turns {
        Turns { order, last: vec![NIL; ports * classes], waiting: Vec::new() }
    }

    /// The destination to serve, of those in `waiting`.
    fn choose(&self, last: u32, waiting: &[(u32, u64)]) -> Option<u32> {
        let destinations = || waiting.iter().copied();
        match self.order {
            Order::Arrival => None,
            Order::RoundRobin => {
                // The next after the last, going round.
                let next = destinations().map(|(dst, _)| dst).filter(|&dst| last != NIL && dst > last).min();
                next.or(destinations().map(|(dst, _)| dst).min())
            }
            Order::Longest => {
                destinations().max_by_key(|&(dst, bytes)| (bytes, std::cmp::Reverse(dst))).map(|(dst, _)| dst)
            }
        }
    }
}

impl<P: Probe> Network<P> {
    /// The frame of a class that an output serves next by these turns, and the one before it in its list.
    fn next_in_order(&self, p: u32, class: u8, turns: &Turns, waiting: &mut Vec<(u32, u64)>) -> Option<(u32, u32)> {
        let queue = self.lanes[self.lane(p, class)].queue;
        waiting.clear();
        for (_, frame) in queue.iter(&self.pool) {
            match waiting.iter_mut().find(|(dst, _)| *dst == frame.dst) {
                Some((_, bytes)) => *bytes += u64::from(frame.len),
                None => waiting.push((frame.dst, u64::from(frame.len))),
            }
        }
        let chosen = turns.choose(turns.last[self.turn_of(p, class)], waiting);
        let mut before = NIL;
        for (place, frame) in queue.iter(&self.pool) {
            if chosen.is_none_or(|dst| frame.dst == dst) {
                return Some((before, place));
            }
            before = place;
        }
        None
    }

    /// Where a switch's turns keep those of an output and class.
    fn turn_of(&self, p: u32, class: u8) -> usize {
        usize::from(self.ports[p as usize].number) * self.classes + usize::from(class)
    }

    /// Length of the frame of a class that an output of a switch serves next by its turns; 0 if there is none.
    pub(crate) fn next_turn_len(&self, p: u32, switch: u32, class: u8) -> u32 {
        let turns = self.switches[switch as usize].order.as_ref();
        let next = turns.and_then(|turns| self.next_in_order(p, class, turns, &mut Vec::new()));
        next.map_or(0, |(_, place)| u32::from(self.pool[place].len))
    }

    /// The next frame of a class for an output of a switch that serves destinations by turns, if it has its credits.
    pub(crate) fn take_in_order(&mut self, p: u32, switch: u32, class: u8) -> Option<u32> {
        let lane = self.lane(p, class);
        let mut turns = self.switches[switch as usize].order.take()?;
        let mut waiting = std::mem::take(&mut turns.waiting);
        let found = self.next_in_order(p, class, &turns, &mut waiting);
        turns.waiting = waiting;
        let taken = found.filter(|&(_, place)| self.spend(p, class, self.pool[place].len));
        if let Some((before, place)) = taken {
            let cell = self.turn_of(p, class);
            turns.last[cell] = self.pool[place].dst;
            self.lanes[lane].queue.take(&mut self.pool, before, place);
            self.lanes[lane].bytes -= u32::from(self.pool[place].len);
            if self.lanes[lane].queue.is_empty() {
                self.ports[p as usize].waiting &= !(1 << class);
            }
        }
        self.switches[switch as usize].order = Some(turns);
        taken.map(|(_, place)| place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destinations_take_turns_or_the_longest_goes_first() {
        let mut turns = Turns::new(Order::RoundRobin, 1, 1);
        let waiting = [(7, 100), (2, 900), (5, 500)];
        assert_eq!([NIL, 2, 5, 7].map(|last| turns.choose(last, &waiting).unwrap()), [2, 5, 7, 2]);
        turns.order = Order::Longest;
        assert_eq!(turns.choose(2, &waiting), Some(2));
        assert_eq!(turns.choose(2, &[(7, 100), (2, 100)]), Some(2));
    }
}
