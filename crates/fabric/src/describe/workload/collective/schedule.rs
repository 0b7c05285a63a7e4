//! Transfers between ranks, and what each waits for.

use crate::describe::workload::Dependencies;
use units::Span;

/// Data that goes from one rank to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The sending rank.
    pub from: u32,
    /// The receiving rank.
    pub to: u32,
    /// Its size.
    pub bytes: u64,
}

/// The transfers of one iteration of a collective.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    transfers: Vec<Transfer>,
    dependencies: Dependencies,
}

/// The size of part `i` of `n` of some bytes; parts differ by one byte at most.
pub(super) fn part(bytes: u64, n: u64, i: u64) -> u64 {
    let at = |i: u64| (u128::from(bytes) * u128::from(i) / u128::from(n.max(1))) as u64;
    at(i + 1) - at(i)
}

/// The number of chunks of some bytes.
pub(super) fn pieces(bytes: u64, chunk: u64) -> u64 {
    bytes.div_ceil(chunk.max(1)).max(1)
}

impl Schedule {
    /// The transfers, in an order in which none waits for a later one.
    #[must_use]
    pub fn transfers(&self) -> &[Transfer] {
        &self.transfers
    }

    /// What they wait for, by position.
    #[must_use]
    pub fn dependencies(&self) -> &Dependencies {
        &self.dependencies
    }

    /// Adds a transfer that waits for others of its sender, and then for `delay`, and until `behind` has left. Returns its
    /// position.
    pub(super) fn send(&mut self, transfer: Transfer, after: &[u32], behind: Option<u32>, delay: Span) -> u32 {
        let number = self.transfers.len() as u32;
        self.transfers.push(transfer);
        self.dependencies.add(number, after, delay);
        self.dependencies.add_in_order(number, behind.as_slice());
        number
    }

    /// The dependencies of several iterations. A rank begins one when all of the one before is complete at it, and `compute`
    /// later.
    pub(super) fn repeated(&self, ranks: u32, iterations: u32, compute: Span) -> Dependencies {
        let count = self.transfers.len();
        // Whether a transfer is passed on or followed by another at its sender, and at its receiver.
        let (mut sent_on, mut passed_on) = (vec![false; count], vec![false; count]);
        let mut follows = vec![false; count];
        for entry in self.dependencies.iter() {
            let sender = self.transfers[entry.flow as usize].from;
            for &awaited in entry.awaited {
                let own = self.transfers[awaited as usize].from == sender;
                let ends = if own { &mut sent_on } else { &mut passed_on };
                ends[awaited as usize] = true;
                follows[entry.flow as usize] |= own;
            }
        }
        // What a rank waits for at the end of an iteration.
        let mut last: Vec<Vec<u32>> = vec![Vec::new(); ranks as usize];
        for (number, transfer) in (0..).zip(&self.transfers) {
            if !sent_on[number as usize] {
                last[transfer.from as usize].push(number);
            }
            if !passed_on[number as usize] {
                last[transfer.to as usize].push(number);
            }
        }
        let mut all = Dependencies::default();
        let mut awaited = Vec::new();
        for iteration in 0..iterations {
            let first = iteration * count as u32;
            let mut entries = self.dependencies.iter().peekable();
            for (number, transfer) in (0..).zip(&self.transfers) {
                while let Some(entry) = entries.next_if(|entry| entry.flow == number) {
                    awaited.clear();
                    awaited.extend(entry.awaited.iter().map(|&other| other + first));
                    match entry.in_order {
                        true => all.add_in_order(number + first, &awaited),
                        false => all.add(number + first, &awaited, entry.delay),
                    }
                }
                // What follows another transfer of its rank begins after that one has.
                if iteration > 0 && !follows[number as usize] {
                    awaited.clear();
                    let before = first - count as u32;
                    awaited.extend(last[transfer.from as usize].iter().map(|&other| other + before));
                    all.add(number + first, &awaited, compute);
                }
            }
        }
        all
    }
}
