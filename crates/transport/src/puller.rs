//! Pulls of a receiver-driven transport: the one part of a destination that belongs to a host, not to a flow.
//!
//! A pull permits the source of a flow to send one more frame, or a few. A host leaves the time between two pulls that
//! these frames take on its link, so that what pulls call for fills the link and no more, and takes flows in turn. For
//! which frames a flow wants pulls is its [`Demand`]: in NDP (Handley et al., "Re-architecting datacenter networks and
//! stacks for low latency and high performance", SIGCOMM 2017) each frame or header that arrives asks for one more frame of
//! its flow; in EQDS (Olteanu et al., "An edge-queued datagram service for all datacenter traffic", NSDI 2022) the source
//! announces what it wants to send, and flows whose frames were trimmed come first.
//!
//! While no flow has unmet demand, a host may permit frames in advance, up to a number beyond what a source has announced, to
//! flows in turn whose demand it has met. As in csg-htsim, a flow that announces more than before has a turn also if as much
//! was permitted in advance, and one permission in advance after that: so a window that is shorter than the path does not
//! limit a flow that is alone.
//!
//! Left out: priorities between flows.

use congestion::{Demand, Pulling};
use std::collections::VecDeque;
use units::{Bytes, Rate, Time, Wire};

/// The pulls of one flow.
#[derive(Clone, Debug)]
struct Pulls {
    demand: Demand,
    /// Bytes on the wire of the frame that a pull calls for, and the pace of these.
    frame: Bytes,
    pace: Wire,
    /// Frames that a pull permits at most.
    at_once: u64,
    /// Frames permitted beyond those wanted.
    advance: u64,
    /// Frames wanted in all.
    wanted: u64,
    /// Trimmed frames that were announced and not pulled again.
    trimmed: u64,
    /// Frames permitted so far.
    total: u64,
    /// Whether it is in the list of those that want frames, and of those that come first.
    in_turn: bool,
    first: bool,
    ended: bool,
}

units::state!(struct Pulls { fixed: demand, frame, at_once, advance; plain: wanted, trimmed, total, in_turn, first, ended; parts: pace; });

/// See the module.
#[derive(Clone, Debug)]
pub struct Puller {
    link: Rate,
    flows: Vec<Pulls>,
    /// Flows that want frames, each once, in turn.
    turns: VecDeque<u32>,
    /// The same, of flows that announce what they want: those with trimmed frames.
    first: VecDeque<u32>,
    /// Flows whose demand is met, and that are permitted frames in advance, in turn.
    idle: VecDeque<u32>,
    /// When the link has room for the frame of another pull.
    not_before: Time,
}

units::state!(struct Puller { fixed: link; plain: turns, first, idle, not_before; parts: flows; });

impl Puller {
    /// Creates the puller of a host with a link of that rate.
    #[must_use]
    pub fn new(link: Rate) -> Puller {
        let (turns, first, idle) = (VecDeque::new(), VecDeque::new(), VecDeque::new());
        Puller { link, flows: Vec::new(), turns, first, idle, not_before: Time::ZERO }
    }

    /// Adds a flow whose frames have that many bytes on the wire; returns its number here.
    pub fn join(&mut self, pulling: &Pulling, frame: Bytes) -> u32 {
        let rate = (self.link.as_bits_per_sec() as f64 * pulling.rate) as u64;
        self.flows.push(Pulls {
            demand: pulling.demand,
            frame,
            pace: Wire::new(Rate::from_bits_per_sec(rate.max(1))),
            at_once: pulling.frames.max(1),
            advance: pulling.advance,
            wanted: 0,
            trimmed: 0,
            total: 0,
            in_turn: false,
            first: false,
            ended: false,
        });
        self.flows.len() as u32 - 1
    }

    /// A frame or header of a flow arrived. `announced` is the number of frames that its source wanted in all when it
    /// sent that; flows that want one per arrival announce nothing.
    pub fn on_arrival(&mut self, flow: u32, trimmed: bool, announced: u64) {
        let pulls = &mut self.flows[flow as usize];
        match pulls.demand {
            _ if pulls.ended => return,
            Demand::Nothing => return,
            Demand::Arrivals => pulls.wanted += 1,
            Demand::Announced => {
                let met = pulls.wanted <= pulls.total && !pulls.first;
                let again = pulls.advance > 0 && met && announced > pulls.wanted;
                if again && !pulls.in_turn {
                    pulls.in_turn = true;
                    self.turns.push_back(flow);
                }
                pulls.wanted = pulls.wanted.max(announced);
                pulls.trimmed += u64::from(trimmed);
                if trimmed && !pulls.first {
                    pulls.first = true;
                    self.first.push_back(flow);
                }
            }
        }
        if pulls.wanted > pulls.total && !pulls.in_turn {
            pulls.in_turn = true;
            self.turns.push_back(flow);
        }
    }

    /// A flow has ended: its pulls are forgotten.
    pub fn on_end(&mut self, flow: u32) {
        let pulls = &mut self.flows[flow as usize];
        pulls.ended = true;
        if std::mem::take(&mut pulls.in_turn) {
            self.turns.retain(|&other| other != flow);
        }
        if std::mem::take(&mut pulls.first) {
            self.first.retain(|&other| other != flow);
        }
        if pulls.advance > 0 {
            self.idle.retain(|&other| other != flow);
        }
    }

    /// Returns the flow to pull now and the number of frames that it may send in all, if the link has room. Call it until
    /// it returns `None`.
    pub fn next_pull(&mut self, now: Time) -> Option<(u32, u64)> {
        if now < self.not_before {
            return None;
        }
        let early = self.first.is_empty() && self.turns.is_empty();
        let flow = self.first.pop_front().or_else(|| self.turns.pop_front()).or_else(|| self.idle.pop_front())?;
        let pulls = &mut self.flows[flow as usize];
        let frames = if pulls.first { pulls.trimmed } else { pulls.wanted.saturating_sub(pulls.total) };
        let frames = frames.clamp(1, pulls.at_once);
        pulls.total += frames;
        let ahead = pulls.total >= pulls.wanted.saturating_add(pulls.advance);
        if early {
            if !ahead {
                self.idle.push_back(flow);
            }
        } else if pulls.first {
            pulls.trimmed -= frames;
            pulls.first = pulls.trimmed > 0;
            if pulls.first {
                self.first.push_back(flow);
            } else if pulls.total >= pulls.wanted && !ahead {
                self.idle.push_back(flow);
            }
        } else {
            pulls.in_turn = pulls.wanted > pulls.total;
            if pulls.in_turn {
                self.turns.push_back(flow);
            } else if pulls.advance > 0 {
                self.idle.push_back(flow);
            }
        }
        self.not_before = now.saturating_add(pulls.pace.serialise(pulls.frame * frames));
        Some((flow, pulls.total))
    }

    /// Returns the time of the next pull, if one waits.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        let waits = !self.turns.is_empty() || !self.first.is_empty() || !self.idle.is_empty();
        waits.then_some(self.not_before)
    }

    /// Returns the number of frames that a flow has been permitted so far.
    #[must_use]
    pub fn total(&self, flow: u32) -> u64 {
        self.flows[flow as usize].total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use congestion::{FirstWindow, Learns};
    use units::Span;

    /// All pulls up to a time, in nanoseconds.
    fn drain(puller: &mut Puller, mut now: Time, end: Time) -> Vec<(u64, u32, u64)> {
        let mut pulls = Vec::new();
        while now <= end {
            while let Some((flow, total)) = puller.next_pull(now) {
                pulls.push((now.as_picos() / 1000, flow, total));
            }
            let Some(next) = puller.deadline() else { break };
            assert!(next > now);
            now = next;
        }
        pulls
    }

    /// 1000 bytes at 10 Gb/s: 800 ns.
    fn puller(flows: u32, demand: Demand, rate: f64) -> Puller {
        pulling(flows, demand, rate, 1)
    }

    fn pulling(flows: u32, demand: Demand, rate: f64, frames: u64) -> Puller {
        let mut puller = Puller::new(Rate::from_gigabits(10));
        let window = FirstWindow::PathAndQueue;
        let timeout = Span::from_millis(1);
        let pulling = Pulling { window, rate, frames, timeout, demand, advance: 0, learns: Learns::Frames };
        (0..flows).for_each(|flow| assert_eq!(puller.join(&pulling, Bytes::new(1000)), flow));
        puller
    }

    fn arrive(puller: &mut Puller, flow: u32, times: usize) {
        (0..times).for_each(|_| puller.on_arrival(flow, false, 0));
    }

    #[test]
    fn pulls_are_paced_at_the_rate_of_the_link_and_take_flows_in_turn() {
        let mut puller = puller(2, Demand::Arrivals, 1.0);
        arrive(&mut puller, 1, 3);
        arrive(&mut puller, 0, 2);
        let pulls = drain(&mut puller, Time::ZERO, Time::ZERO + Span::from_micros(100));
        assert_eq!(pulls, [(0, 1, 1), (800, 0, 1), (1600, 1, 2), (2400, 0, 2), (3200, 1, 3)]);
        assert_eq!((puller.deadline(), puller.total(1)), (None, 3));
    }

    #[test]
    fn a_host_may_pull_more_slowly_than_its_link() {
        let mut puller = puller(1, Demand::Arrivals, 0.5);
        arrive(&mut puller, 0, 3);
        assert_eq!(drain(&mut puller, Time::ZERO, Time::MAX), [(0, 0, 1), (1600, 0, 2), (3200, 0, 3)]);
    }

    #[test]
    fn after_a_pause_the_next_pull_goes_at_once_and_no_burst_follows() {
        let mut puller = puller(1, Demand::Arrivals, 1.0);
        arrive(&mut puller, 0, 1);
        let start = Time::ZERO + Span::from_micros(50);
        assert_eq!(drain(&mut puller, start, start), [(50_000, 0, 1)]);
        arrive(&mut puller, 0, 2);
        let end = start + Span::from_micros(10);
        assert_eq!(drain(&mut puller, start, end), [(50_800, 0, 2), (51_600, 0, 3)]);
    }

    #[test]
    fn the_pulls_of_a_flow_that_ended_are_forgotten() {
        let mut puller = puller(2, Demand::Arrivals, 1.0);
        arrive(&mut puller, 0, 5);
        arrive(&mut puller, 1, 1);
        puller.on_end(0);
        arrive(&mut puller, 0, 1);
        assert_eq!(drain(&mut puller, Time::ZERO, Time::MAX), [(0, 1, 1)]);
    }

    #[test]
    fn a_pull_of_several_frames_takes_the_time_of_all_and_is_for_no_more_than_is_wanted() {
        let mut puller = pulling(2, Demand::Announced, 1.0, 4);
        puller.on_arrival(0, false, 6);
        puller.on_arrival(1, false, 1);
        let pulls = drain(&mut puller, Time::ZERO, Time::MAX);
        assert_eq!(pulls, [(0, 0, 4), (3200, 1, 1), (4000, 0, 6)]);
    }

    #[test]
    fn a_host_without_other_demand_permits_frames_in_advance() {
        let mut puller = pulling(2, Demand::Announced, 1.0, 1);
        for pulls in &mut puller.flows {
            pulls.advance = 2;
        }
        puller.on_arrival(0, false, 2);
        puller.on_arrival(1, false, 1);
        let order = |puller: &mut Puller, from: u64| -> Vec<_> {
            let from = Time::ZERO + Span::from_micros(from);
            drain(puller, from, Time::MAX).iter().map(|&(_, flow, total)| (flow, total)).collect()
        };
        // Demand first, then the flows in turn, each two frames beyond.
        assert_eq!(order(&mut puller, 0), [(0, 1), (1, 1), (0, 2), (1, 2), (0, 3), (1, 3), (0, 4)]);
        assert_eq!(puller.deadline(), None);
        // What was permitted counts; a flow that has ended gets nothing.
        puller.on_arrival(0, false, 5);
        assert_eq!(order(&mut puller, 100), [(0, 5), (0, 6), (0, 7)]);
        // Any new announcement is good for a turn and, after that, a permission in advance.
        puller.on_arrival(0, false, 6);
        puller.on_arrival(0, false, 6);
        assert_eq!(order(&mut puller, 200), [(0, 8), (0, 9)]);
        puller.on_arrival(1, false, 4);
        puller.on_end(1);
        assert_eq!(order(&mut puller, 300), []);
    }

    #[test]
    fn what_was_announced_is_pulled_and_flows_with_trimmed_frames_come_first() {
        let mut puller = puller(2, Demand::Announced, 1.0);
        puller.on_arrival(0, false, 3);
        puller.on_arrival(0, false, 2);
        puller.on_arrival(1, true, 2);
        let order: Vec<_> = drain(&mut puller, Time::ZERO, Time::MAX).iter().map(|&(_, flow, _)| flow).collect();
        assert_eq!(order, [1, 0, 1, 0, 0]);
        assert_eq!((puller.total(0), puller.total(1)), (3, 2));
        // The last announcement was met: nothing more.
        puller.on_arrival(0, false, 3);
        assert_eq!(puller.deadline(), None);
    }
}
