//! Which thread runs which shards: runs of neighbours of about equal work, by what each shard did since the last deal.

/// See the module.
#[derive(Debug)]
pub(crate) struct Deal {
    threads: usize,
    /// The thread of each shard, ascending.
    of: Vec<usize>,
    /// Alarms each shard had fired at the last deal.
    fired: Vec<u64>,
}

impl Deal {
    /// The same number to each, before anything is known.
    pub(crate) fn even(shards: usize, threads: usize) -> Deal {
        let mut deal = Deal { threads, of: vec![0; shards], fired: vec![0; shards] };
        deal.share(&vec![1; shards]);
        deal
    }

    /// Deals again; `fired` are the alarms of each shard so far.
    pub(crate) fn again(&mut self, fired: impl Iterator<Item = u64>) {
        let fired: Vec<u64> = fired.collect();
        // A shard that did nothing costs something all the same.
        let work: Vec<u64> = fired.iter().zip(&self.fired).map(|(now, then)| now - then + 1).collect();
        self.fired = fired;
        self.share(&work);
    }

    /// Of each shard the thread that its middle falls into.
    fn share(&mut self, work: &[u64]) {
        let total = work.iter().map(|&work| u128::from(work)).sum::<u128>().max(1);
        let mut before = 0;
        for (thread, &work) in self.of.iter_mut().zip(work) {
            let middle = 2 * before + u128::from(work);
            before += u128::from(work);
            *thread = ((middle * self.threads as u128 / (2 * total)) as usize).min(self.threads - 1);
        }
    }

    /// All shards in the order in which a thread takes those that are left: its own, then those of the others, the
    /// ones that they would take last first.
    pub(crate) fn order(&self, thread: usize) -> Vec<u32> {
        let own = |of: usize| (0..).zip(&self.of).filter(move |(_, thread)| **thread == of).map(|(shard, _)| shard);
        let mut order: Vec<u32> = own(thread).collect();
        for other in (thread + 1..self.threads).chain(0..thread) {
            let theirs: Vec<u32> = own(other).collect();
            order.extend(theirs.into_iter().rev());
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_dealt_by_what_was_done() {
        let mut deal = Deal::even(8, 2);
        assert_eq!(deal.of, [0, 0, 0, 0, 1, 1, 1, 1]);
        assert_eq!(deal.order(1), [4, 5, 6, 7, 3, 2, 1, 0]);
        deal.again([900, 100, 100, 100, 100, 100, 200, 200].into_iter());
        assert_eq!(deal.of, [0, 1, 1, 1, 1, 1, 1, 1]);
        // Since then all did the same.
        deal.again([1000, 200, 200, 200, 200, 200, 300, 300].into_iter());
        assert_eq!(deal.of, [0, 0, 0, 0, 1, 1, 1, 1]);
    }

    #[test]
    fn every_thread_comes_to_every_shard() {
        for (shards, threads) in [(1, 1), (5, 3), (64, 16)] {
            let deal = Deal::even(shards, threads);
            for thread in 0..threads {
                let mut order = deal.order(thread);
                order.sort_unstable();
                assert_eq!(order, (0..shards as u32).collect::<Vec<_>>());
            }
        }
    }
}
