//! Exchanges between partners: halving and doubling, and all-to-all.

use super::schedule::{Schedule, Transfer, part};
use units::Span;

/// The ranks that exchange, a power of two of them, with what each waits for and what it sent last.
struct Partners {
    /// The rank of each position.
    members: Vec<u32>,
    arrived: Vec<Vec<u32>>,
    sent: Vec<Option<u32>>,
    bytes: u64,
}

impl Partners {
    fn new(members: Vec<u32>, arrived: Vec<Vec<u32>>, bytes: u64) -> Partners {
        Partners { sent: vec![None; members.len()], members, arrived, bytes }
    }

    /// The bytes of some of the blocks, of which there are as many as positions.
    fn of_blocks(&self, first: usize, count: usize) -> u64 {
        let n = self.members.len() as u64;
        (first..first + count).map(|block| part(self.bytes, n, block as u64)).sum()
    }

    /// All partners at that distance send each other blocks: `blocks` says which, by the position of the sender.
    fn exchange(&mut self, schedule: &mut Schedule, distance: usize, blocks: impl Fn(usize) -> (usize, usize)) {
        let mut next = vec![Vec::new(); self.members.len()];
        for from in 0..self.members.len() {
            let to = from ^ distance;
            let (first, count) = blocks(from);
            let bytes = self.of_blocks(first, count).max(1);
            let transfer = Transfer { from: self.members[from], to: self.members[to], bytes };
            let id = schedule.send(transfer, &self.arrived[from], self.sent[from], Span::ZERO);
            self.sent[from] = Some(id);
            next[to].push(id);
        }
        self.arrived = next;
    }

    /// Position `i` gets block `i` of the sum.
    fn halve(&mut self, schedule: &mut Schedule) {
        let mut distance = self.members.len() / 2;
        while distance > 0 {
            // The partner keeps the half that it lies in.
            self.exchange(schedule, distance, |from| ((from ^ distance) & !(distance - 1), distance));
            distance /= 2;
        }
    }

    /// Position `i`, which has block `i`, gets all.
    fn double(&mut self, schedule: &mut Schedule) {
        let mut distance = 1;
        while distance < self.members.len() {
            self.exchange(schedule, distance, |from| (from & !(distance - 1), distance));
            distance *= 2;
        }
    }
}

/// Reduce-scatter among a power of two of ranks.
pub(super) fn halving(schedule: &mut Schedule, ranks: u32, bytes: u64) {
    Partners::new((0..ranks).collect(), vec![Vec::new(); ranks as usize], bytes).halve(schedule);
}

/// All-gather among a power of two of ranks.
pub(super) fn doubling(schedule: &mut Schedule, ranks: u32, bytes: u64) {
    Partners::new((0..ranks).collect(), vec![Vec::new(); ranks as usize], bytes).double(schedule);
}

/// All-reduce by reduce-scatter and all-gather. Of a number of ranks that is no power of two, the first even ones give
/// their data to their neighbour before, and get the result from it afterwards.
pub(super) fn halving_doubling(schedule: &mut Schedule, ranks: u32, bytes: u64) {
    let extra = ranks - (1 << ranks.ilog2());
    let members: Vec<u32> = (0..extra).map(|pair| 2 * pair + 1).chain(2 * extra..ranks).collect();
    let mut arrived = vec![Vec::new(); members.len()];
    for pair in 0..extra {
        let transfer = Transfer { from: 2 * pair, to: 2 * pair + 1, bytes };
        arrived[pair as usize].push(schedule.send(transfer, &[], None, Span::ZERO));
    }
    let mut partners = Partners::new(members, arrived, bytes);
    partners.halve(schedule);
    partners.double(schedule);
    for pair in 0..extra {
        let (after, behind) = (&partners.arrived[pair as usize], partners.sent[pair as usize]);
        schedule.send(Transfer { from: 2 * pair + 1, to: 2 * pair, bytes }, after, behind, Span::ZERO);
    }
}

/// Every rank sends each other rank its share: all at once, or to one after the other, each when the exchange before is
/// complete.
pub(super) fn all_to_all(schedule: &mut Schedule, ranks: u32, bytes: u64, weights: &[f64], one_by_one: bool) {
    let total: f64 = weights.iter().sum();
    let share = |to: u32| match weights.get(to as usize) {
        Some(weight) => (bytes as f64 * (weight / total)).round() as u64,
        None => part(bytes, u64::from(ranks), u64::from(to)),
    };
    let mut sent: Vec<Option<u32>> = vec![None; ranks as usize];
    let mut arrived: Vec<Vec<u32>> = vec![Vec::new(); ranks as usize];
    for distance in 1..ranks {
        let mut next = arrived.clone();
        for from in 0..ranks {
            let to = (from + distance) % ranks;
            let bytes = share(to);
            if bytes == 0 {
                continue;
            }
            let transfer = Transfer { from, to, bytes };
            let id = match one_by_one {
                true => schedule.send(transfer, &arrived[from as usize], sent[from as usize], Span::ZERO),
                false => schedule.send(transfer, &[], None, Span::ZERO),
            };
            sent[from as usize] = Some(id);
            next[to as usize] = vec![id];
        }
        arrived = next;
    }
}
