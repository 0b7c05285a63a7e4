//! Pulls of a receiver-driven transport: the one part of a destination that belongs to a host, not to a flow.
//!
//! As in NDP (Handley et al., "Re-architecting datacenter networks and stacks for low latency and high performance",
//! SIGCOMM 2017), each frame or header that arrives asks for one more frame of its flow. A host sends its pulls one per
//! frame time of its link, so that what they call for fills the link and no more, and takes flows in turn.
//!
//! Left out: priorities between flows, pulls for flows that have ended (their sources ignore them).

use crate::Say;
use std::collections::{BTreeMap, VecDeque};
use units::{Bytes, Rate, Time, Wire};

/// Pulls of one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Pulls {
    /// Frames asked for and not yet permitted.
    waiting: u64,
    /// Frames permitted so far.
    total: u64,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Puller {
    wire: Wire,
    frame: Bytes,
    flows: BTreeMap<u32, Pulls>,
    /// Flows with waiting pulls, each once, in turn.
    turns: VecDeque<u32>,
    /// When the link has room for the frame of another pull.
    not_before: Time,
}

impl Puller {
    /// Creates the puller of a host: the rate of its link, and the bytes of a frame on the wire.
    #[must_use]
    pub fn new(link: Rate, frame: Bytes) -> Puller {
        Puller { wire: Wire::new(link), frame, flows: BTreeMap::new(), turns: VecDeque::new(), not_before: Time::ZERO }
    }

    /// A frame or header of a flow arrived: it may send one more.
    pub fn on_arrival(&mut self, flow: u32) {
        let pulls = self.flows.entry(flow).or_default();
        pulls.waiting += 1;
        if pulls.waiting == 1 {
            self.turns.push_back(flow);
        }
    }

    /// A flow has ended: its pulls are forgotten.
    pub fn on_end(&mut self, flow: u32) {
        if self.flows.remove(&flow).is_some_and(|pulls| pulls.waiting > 0) {
            self.turns.retain(|&other| other != flow);
        }
    }

    /// Returns the flow to pull now and what to send to its source, if the link has room. Call it until it returns `None`.
    pub fn next_pull(&mut self, now: Time) -> Option<(u32, Say)> {
        if now < self.not_before {
            return None;
        }
        let flow = self.turns.pop_front()?;
        // A flow is in `turns` only if it has pulls that wait.
        let pulls = self.flows.get_mut(&flow)?;
        pulls.waiting -= 1;
        pulls.total += 1;
        if pulls.waiting > 0 {
            self.turns.push_back(flow);
        }
        self.not_before = now.saturating_add(self.wire.serialise(self.frame));
        Some((flow, Say::Pull { total: pulls.total }))
    }

    /// Returns the time of the next pull, if one waits.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        (!self.turns.is_empty()).then_some(self.not_before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Span;

    /// All pulls up to a time, in nanoseconds.
    fn drain(puller: &mut Puller, mut now: Time, end: Time) -> Vec<(u64, u32, u64)> {
        let mut pulls = Vec::new();
        while now <= end {
            while let Some((flow, say)) = puller.next_pull(now) {
                let Say::Pull { total } = say else { panic!("{say:?}") };
                pulls.push((now.as_picos() / 1000, flow, total));
            }
            let Some(next) = puller.deadline() else { break };
            assert!(next > now);
            now = next;
        }
        pulls
    }

    #[test]
    fn pulls_are_paced_at_the_rate_of_the_link_and_take_flows_in_turn() {
        // 1000 bytes at 10 Gb/s: 800 ns.
        let mut puller = Puller::new(Rate::from_gigabits(10), Bytes::new(1000));
        (0..3).for_each(|_| puller.on_arrival(7));
        (0..2).for_each(|_| puller.on_arrival(4));
        let pulls = drain(&mut puller, Time::ZERO, Time::ZERO + Span::from_micros(100));
        assert_eq!(pulls, [(0, 7, 1), (800, 4, 1), (1600, 7, 2), (2400, 4, 2), (3200, 7, 3)]);
        assert_eq!(puller.deadline(), None);
    }

    #[test]
    fn after_a_pause_the_next_pull_goes_at_once_and_no_burst_follows() {
        let mut puller = Puller::new(Rate::from_gigabits(10), Bytes::new(1000));
        puller.on_arrival(1);
        let start = Time::ZERO + Span::from_micros(50);
        assert_eq!(drain(&mut puller, start, start), [(50_000, 1, 1)]);
        (0..2).for_each(|_| puller.on_arrival(1));
        let end = start + Span::from_micros(10);
        assert_eq!(drain(&mut puller, start, end), [(50_800, 1, 2), (51_600, 1, 3)]);
    }

    #[test]
    fn the_pulls_of_a_flow_that_ended_are_forgotten() {
        let mut puller = Puller::new(Rate::from_gigabits(10), Bytes::new(1000));
        (0..5).for_each(|_| puller.on_arrival(1));
        puller.on_arrival(2);
        puller.on_end(1);
        assert_eq!(drain(&mut puller, Time::ZERO, Time::MAX), [(0, 2, 1)]);
    }
}
