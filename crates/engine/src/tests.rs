//! Whole runs of a toy model: tokens that circle a ring of stations.

use crate::{
    Context, Encode, End, Fingerprint, Look, Model, Ranks, RunPlan, RunReport, Shard, Wheel, in_memory, run, run_among,
};
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use units::{Span, Time};

const HOP: Span = Span::from_picos(1_000);

/// Stations `first..first + stations.len()` of a ring; a token waits at a station and then moves on by one.
struct Ring {
    first: u32,
    total: u32,
    /// Per station: tokens waiting with the time they move.
    waiting: Vec<std::collections::VecDeque<(Time, u64)>>,
    marks: Vec<Fingerprint>,
    shard_of: Vec<u32>,
    shard: u32,
}

struct Token {
    to: u32,
    at: Time,
    value: u64,
}

crate::encoded!(struct Token { to, at, value });

impl Ring {
    fn accept(&mut self, token: Token, context: &mut Context<Token>) {
        let place = (token.to - self.first) as usize;
        self.waiting[place].push_back((token.at, token.value));
        if self.waiting[place].len() == 1 {
            context.alarms.arm(place as u32, token.at);
        }
    }
}

impl Model for Ring {
    type Message = Token;

    fn on_alarm(&mut self, now: Time, alarm: u32, context: &mut Context<Token>) {
        let place = alarm as usize;
        let (at, value) = self.waiting[place].pop_front().expect("the alarm stands for the first token");
        assert_eq!(at, now);
        self.marks[place].fold(now.as_picos() ^ value);
        if let Some(&(next, _)) = self.waiting[place].front() {
            context.alarms.arm(alarm, next);
        }
        let to = (self.first + alarm + 1) % self.total;
        let token = Token { to, at: now + HOP, value: value.wrapping_mul(3) + 1 };
        if self.shard_of[to as usize] == self.shard {
            self.accept(token, context);
        } else {
            // Every shard is every shard's neighbour.
            context.send(self.shard_of[to as usize], token.at, token);
        }
    }

    fn on_message(&mut self, token: Token, context: &mut Context<Token>) {
        self.accept(token, context);
    }
}

fn ring(stations: u32, shards: u32) -> Vec<Shard<Ring>> {
    let per = stations.div_ceil(shards);
    let shard_of: Vec<u32> = (0..stations).map(|s| s / per).collect();
    (0..shards)
        .map(|shard| {
            let first = shard * per;
            let count = per.min(stations - first) as usize;
            let ring = Ring {
                first,
                total: stations,
                waiting: vec![std::collections::VecDeque::new(); count],
                marks: vec![Fingerprint::default(); count],
                shard_of: shard_of.clone(),
                shard,
            };
            let mut shard = Shard::new(ring, count, Wheel { shift: 6 }).with_neighbours((0..shards).collect());
            for place in 0..count as u32 {
                let token = Token { to: first + place, at: Time::from_picos(7 * u64::from(first + place)), value: 1 };
                shard.model.accept(token, &mut shard.context);
            }
            shard
        })
        .collect()
}

fn fingerprint(shards: &[Shard<Ring>]) -> u64 {
    Fingerprint::combine(shards.iter().flat_map(|s| s.model.marks.iter().copied())).value()
}

#[test]
fn threads_and_shards_do_not_change_the_bits() {
    let quiet = AtomicBool::new(false);
    let mut seen = Vec::new();
    for (shards, threads) in [(1, 1), (4, 1), (4, 2), (4, 3), (4, 8), (16, 1), (16, 2), (16, 3), (8, 8)] {
        let mut ring = ring(16, shards);
        let plan = RunPlan {
            from: Time::ZERO,
            inspected: Time::ZERO,
            until: Time::from_picos(2_000_000),
            inspect_every: Span::from_picos(300_000),
            lookahead: HOP,
            threads,
            marks: &[],
            interrupt: &quiet,
        };
        let mut inspections = Vec::new();
        let report = run(&mut ring, plan, |look| {
            inspections.push(look.now.as_picos());
            ControlFlow::Continue(())
        });
        assert_eq!(report.end, End::Until);
        assert_eq!(inspections, (1..=6).map(|n| n * 300_000).collect::<Vec<_>>());
        seen.push((fingerprint(&ring), report.fired, report.now));
    }
    seen.dedup();
    assert_eq!(seen.len(), 1, "{seen:?}");
}

#[test]
fn an_inspection_ends_the_run_at_its_own_instant() {
    let quiet = AtomicBool::new(false);
    let plan = RunPlan {
        from: Time::ZERO,
        inspected: Time::ZERO,
        until: Time::from_picos(2_000_000),
        inspect_every: Span::from_picos(300_000),
        lookahead: HOP,
        threads: 2,
        marks: &[],
        interrupt: &quiet,
    };
    let mut ring = ring(8, 2);
    let report = run(&mut ring, plan, |look| {
        if look.now.as_picos() < 900_000 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    assert_eq!((report.end, report.now.as_picos()), (End::Stopped, 900_000));
}

#[test]
fn an_interrupt_ends_serial_and_parallel_runs() {
    let set = AtomicBool::new(true);
    for shards in [1, 2] {
        let plan = RunPlan {
            from: Time::ZERO,
            inspected: Time::ZERO,
            until: Time::MAX,
            inspect_every: Span::from_secs(1),
            lookahead: HOP,
            threads: 2,
            marks: &[],
            interrupt: &set,
        };
        assert_eq!(run(&mut ring(8, shards), plan, |_| ControlFlow::Continue(())).end, End::Interrupted);
    }
}

#[test]
fn a_run_with_nothing_pending_is_quiet() {
    let quiet = AtomicBool::new(false);
    let mut shards = ring(4, 1);
    shards[0].model.waiting.iter_mut().for_each(std::collections::VecDeque::clear);
    (0..4).for_each(|alarm| shards[0].context.alarms.disarm(alarm));
    let plan = RunPlan {
        from: Time::ZERO,
        inspected: Time::ZERO,
        until: Time::MAX,
        inspect_every: Span::from_secs(1),
        lookahead: Span::MAX,
        threads: 1,
        marks: &[],
        interrupt: &quiet,
    };
    assert_eq!(run(&mut shards, plan, |_| ControlFlow::Continue(())).end, End::Quiet);
}

#[test]
fn marks_show_the_model_and_change_nothing() {
    let quiet = AtomicBool::new(false);
    let marks = [0, 450_000, 600_000, 600_001, 5_000_000].map(Time::from_picos);
    let mut seen = Vec::new();
    for (shards, threads, marks) in [(4, 1, &marks[..0]), (4, 1, &marks[..]), (4, 3, &marks[..])] {
        let mut ring = ring(16, shards);
        let plan = RunPlan {
            from: Time::ZERO,
            inspected: Time::ZERO,
            until: Time::from_picos(2_000_000),
            inspect_every: Span::from_picos(300_000),
            lookahead: HOP,
            threads,
            marks,
            interrupt: &quiet,
        };
        let (mut inspections, mut marked) = (Vec::new(), Vec::new());
        let report = run(&mut ring, plan, |look| {
            let mark = look.look == Look::Mark;
            if mark { &mut marked } else { &mut inspections }.push(look.now.as_picos());
            // At a mark nobody is asked.
            if mark { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!(marked.len(), marks.len().saturating_sub(1), "{marked:?}");
        seen.push((fingerprint(&ring), report.fired, report.now, inspections));
    }
    seen.dedup();
    assert_eq!(seen.len(), 1, "{seen:?}");
}

/// A run on ranks: the fingerprint of all its stations, how it went, and the instants of its inspections.
fn among_ranks(ranks: usize, shards: u32, threads: usize, until: u64) -> Vec<(u64, RunReport, Vec<u64>)> {
    let quiet = AtomicBool::new(false);
    let bounds: Vec<u32> = (0..=ranks as u32).map(|rank| rank * shards / ranks as u32).collect();
    let one = |mut rank: crate::InMemory| {
        let own = bounds[rank.rank()] as usize..bounds[rank.rank() + 1] as usize;
        let mut part: Vec<Shard<Ring>> = ring(16, shards).drain(own).collect();
        let plan = RunPlan {
            from: Time::ZERO,
            inspected: Time::ZERO,
            until: Time::from_picos(until),
            inspect_every: Span::from_picos(300_000),
            lookahead: HOP,
            threads,
            marks: &[],
            interrupt: &quiet,
        };
        let mut inspections = Vec::new();
        let report = run_among(&mut rank, &bounds, &mut part, plan, |look| {
            inspections.push(look.now.as_picos());
            // Rank 0 decides, and all obey.
            let fired: u64 = look.ranks.gather(look.fired.to_bytes()).iter().map(|bytes| u64::from_bytes(bytes)).sum();
            let go_on = bool::from_bytes(&look.ranks.broadcast((fired < 25_000).to_bytes()));
            if go_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        let marks: Vec<u64> = part.iter().flat_map(|shard| shard.model.marks.iter().map(|mark| mark.value())).collect();
        let mut all = Fingerprint::default();
        rank.share(marks.to_bytes()).iter().flat_map(|bytes| Vec::<u64>::from_bytes(bytes)).for_each(|it| all.fold(it));
        (all.value(), report, inspections)
    };
    std::thread::scope(|scope| {
        let runs: Vec<_> = in_memory(ranks).into_iter().map(|rank| scope.spawn(|| one(rank))).collect();
        runs.into_iter().map(|run| run.join().expect("no rank panics")).collect()
    })
}

#[test]
fn ranks_do_not_change_the_bits() {
    for until in [1_000_000, 2_000_000] {
        let mut seen = Vec::new();
        for (ranks, shards, threads) in [(1, 1, 1), (1, 4, 2), (2, 2, 1), (2, 8, 3), (3, 16, 2), (4, 4, 1), (5, 2, 1)] {
            for (fingerprint, report, inspections) in among_ranks(ranks, shards, threads, until) {
                seen.push((fingerprint, report.end, report.now, report.fired, inspections));
            }
        }
        seen.dedup();
        assert_eq!(seen.len(), 1, "{seen:?}");
        assert_eq!(seen[0].1, if until < 2_000_000 { End::Until } else { End::Stopped });
    }
}

#[test]
fn an_interrupt_on_one_rank_ends_all() {
    let flags = [AtomicBool::new(false), AtomicBool::new(true)];
    std::thread::scope(|scope| {
        for (mut rank, interrupt) in in_memory(2).into_iter().zip(&flags) {
            scope.spawn(move || {
                let own = rank.rank();
                let plan = RunPlan {
                    from: Time::ZERO,
                    inspected: Time::ZERO,
                    until: Time::MAX,
                    inspect_every: Span::from_secs(1),
                    lookahead: HOP,
                    threads: 1,
                    marks: &[],
                    interrupt,
                };
                let mut part: Vec<Shard<Ring>> = ring(8, 2).drain(own..=own).collect();
                let report = run_among(&mut rank, &[0, 1, 2], &mut part, plan, |_| ControlFlow::Continue(()));
                assert_eq!(report.end, End::Interrupted);
            });
        }
    });
}
