//! Binary trees: sums go up and results go down, chunk by chunk.

use super::schedule::{Schedule, Transfer, part, pieces};
use units::Span;

/// A tree over all ranks.
struct Tree {
    children: Vec<Vec<u32>>,
    /// All ranks, parents before their children.
    order: Vec<u32>,
}

/// The parent of a rank in NCCL's binary tree, in which all odd ranks are leaves; the root is 0.
fn parent(ranks: u32, rank: u32) -> Option<u32> {
    let bit = 1 << rank.trailing_zeros().min(31);
    (rank > 0).then(|| {
        let up = (rank ^ bit) | (bit << 1);
        if up < ranks { up } else { rank ^ bit }
    })
}

impl Tree {
    /// The tree in which rank `name(i)` is where rank `i` is in [`parent`]'s.
    fn new(ranks: u32, name: impl Fn(u32) -> u32) -> Tree {
        let mut below: Vec<Vec<u32>> = vec![Vec::new(); ranks as usize];
        for rank in 1..ranks {
            if let Some(up) = parent(ranks, rank) {
                below[up as usize].push(rank);
            }
        }
        let mut order = vec![0];
        let mut next = 0;
        while let Some(&rank) = order.get(next) {
            order.extend(&below[rank as usize]);
            next += 1;
        }
        let mut children = vec![Vec::new(); ranks as usize];
        for (rank, list) in (0..).zip(&below) {
            children[name(rank) as usize] = list.iter().map(|&child| name(child)).collect();
        }
        Tree { children, order: order.into_iter().map(name).collect() }
    }

    /// Sends sums up. Returns what the root waits for, by chunk.
    fn up(&self, schedule: &mut Schedule, bytes: u64, chunks: u64) -> Vec<Vec<u32>> {
        let mut parents: Vec<Option<u32>> = vec![None; self.children.len()];
        for (rank, list) in (0..).zip(&self.children) {
            list.iter().for_each(|&child| parents[child as usize] = Some(rank));
        }
        let mut sent: Vec<Option<u32>> = vec![None; self.children.len()];
        let mut ready = Vec::new();
        for number in 0..chunks {
            let mut arrived: Vec<Vec<u32>> = vec![Vec::new(); self.children.len()];
            for &from in self.order.iter().rev() {
                let Some(to) = parents[from as usize] else { continue };
                let transfer = Transfer { from, to, bytes: part(bytes, chunks, number).max(1) };
                let id = schedule.send(transfer, &arrived[from as usize], sent[from as usize], Span::ZERO);
                sent[from as usize] = Some(id);
                arrived[to as usize].push(id);
            }
            ready.push(std::mem::take(&mut arrived[self.order[0] as usize]));
        }
        ready
    }

    /// Sends data down. `ready` is what the root waits for, by chunk.
    fn down(&self, schedule: &mut Schedule, bytes: u64, ready: &[Vec<u32>]) {
        let mut sent: Vec<Option<u32>> = vec![None; self.children.len()];
        for (number, ready_now) in (0..).zip(ready) {
            let mut arrived: Vec<Vec<u32>> = vec![Vec::new(); self.children.len()];
            arrived[self.order[0] as usize].clone_from(ready_now);
            for &from in &self.order {
                for &to in &self.children[from as usize] {
                    let bytes = part(bytes, ready.len() as u64, number).max(1);
                    // Chunks follow each other on each branch; the branches of a rank do not wait for each other.
                    let (transfer, before) = (Transfer { from, to, bytes }, sent[to as usize]);
                    let id = schedule.send(transfer, &arrived[from as usize], before, Span::ZERO);
                    sent[to as usize] = Some(id);
                    arrived[to as usize] = vec![id];
                }
            }
        }
    }

    fn all_reduce(&self, schedule: &mut Schedule, bytes: u64, chunk: u64) {
        let ready = self.up(schedule, bytes, pieces(bytes, chunk));
        self.down(schedule, bytes, &ready);
    }
}

/// The sum goes up to rank 0, and down to all.
pub(super) fn all_reduce(schedule: &mut Schedule, ranks: u32, bytes: u64, chunk: u64) {
    Tree::new(ranks, |rank| rank).all_reduce(schedule, bytes, chunk);
}

/// Half of the data goes by one tree, half by the other, as in NCCL: the mirror image of the first or, for an odd number of
/// ranks, the first shifted by one.
pub(super) fn double_all_reduce(schedule: &mut Schedule, ranks: u32, bytes: u64, chunk: u64) {
    let second = |rank: u32| if ranks.is_multiple_of(2) { ranks - 1 - rank } else { (rank + 1) % ranks };
    Tree::new(ranks, |rank| rank).all_reduce(schedule, part(bytes, 2, 0), chunk);
    Tree::new(ranks, second).all_reduce(schedule, part(bytes, 2, 1), chunk);
}

/// Data goes from rank 0 down to all.
pub(super) fn broadcast(schedule: &mut Schedule, ranks: u32, bytes: u64, chunk: u64) {
    let ready = vec![Vec::new(); pieces(bytes, chunk) as usize];
    Tree::new(ranks, |rank| rank).down(schedule, bytes, &ready);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_reaches_all_ranks_once_and_a_leaf_of_one_is_inner_in_the_other() {
        for ranks in 2..70 {
            let first = Tree::new(ranks, |rank| rank);
            let mut order = first.order.clone();
            order.sort_unstable();
            assert!(order.iter().copied().eq(0..ranks), "{ranks}");
            assert!(first.children.iter().all(|children| children.len() <= 2));
            if ranks.is_multiple_of(2) {
                let second = Tree::new(ranks, |rank| ranks - 1 - rank);
                let inner = |tree: &Tree, rank: u32| !tree.children[rank as usize].is_empty();
                assert!((0..ranks).all(|rank| !(inner(&first, rank) && inner(&second, rank))), "{ranks}");
            }
        }
    }
}
