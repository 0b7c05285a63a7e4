//! Which destination an output serves next, where frames for several wait in one buffer and are told apart: virtual
//! output queues of a fabric whose outputs are not those of the switch itself.
//!
//! Frames stay in the one list of their output; a choice looks through it. That costs a step per frame that waits, and
//! only switches that ask for it pay.

use crate::frame::NIL;
use crate::network::Network;
use crate::probe::Probe;
use crate::spec::Order;

/// The turns of one switch.
#[derive(Debug)]
pub(crate) struct Turns {
    order: Order,
    /// By (output, class): the destination served last.
    last: Vec<u32>,
    /// Destinations that wait and their bytes; kept to save the allocation.
    waiting: Vec<(u32, u64)>,
}

impl Turns {
    pub(crate) fn new(order: Order, ports: usize, classes: usize) -> Turns {
        Turns { order, last: vec![NIL; ports * classes], waiting: Vec::new() }
    }

    /// The destination to serve, of those in `waiting`.
    fn choose(&self, last: u32) -> Option<u32> {
        let destinations = || self.waiting.iter().copied();
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
    /// The next frame of a class for an output of a switch that serves destinations by turns, if it has its credits.
    pub(crate) fn take_in_order(&mut self, p: u32, switch: u32, class: u8) -> Option<u32> {
        let lane = self.lane(p, class);
        let mut turns = self.switches[switch as usize].order.take()?;
        let cell = usize::from(self.ports[p as usize].number) * self.classes + usize::from(class);
        turns.waiting.clear();
        for (_, frame) in self.lanes[lane].queue.iter(&self.pool) {
            match turns.waiting.iter_mut().find(|(dst, _)| *dst == frame.dst) {
                Some((_, bytes)) => *bytes += u64::from(frame.len),
                None => turns.waiting.push((frame.dst, u64::from(frame.len))),
            }
        }
        let chosen = turns.choose(turns.last[cell]);
        let (mut before, mut found) = (NIL, None);
        for (place, frame) in self.lanes[lane].queue.iter(&self.pool) {
            if chosen.is_none_or(|dst| frame.dst == dst) {
                found = Some(place);
                break;
            }
            before = place;
        }
        let taken = found.filter(|&place| self.spend(p, class, self.pool[place].len));
        if let Some(place) = taken {
            turns.last[cell] = self.pool[place].dst;
            self.lanes[lane].queue.take(&mut self.pool, before, place);
            self.lanes[lane].bytes -= u32::from(self.pool[place].len);
            if self.lanes[lane].queue.is_empty() {
                self.ports[p as usize].waiting &= !(1 << class);
            }
        }
        self.switches[switch as usize].order = Some(turns);
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destinations_take_turns_or_the_longest_goes_first() {
        let mut turns = Turns::new(Order::RoundRobin, 1, 1);
        turns.waiting = vec![(7, 100), (2, 900), (5, 500)];
        assert_eq!(
            [turns.choose(NIL), turns.choose(2), turns.choose(5), turns.choose(7)].map(Option::unwrap),
            [2, 5, 7, 2]
        );
        turns.order = Order::Longest;
        assert_eq!(turns.choose(2), Some(2));
        turns.waiting = vec![(7, 100), (2, 100)];
        assert_eq!(turns.choose(2), Some(2));
    }
}
