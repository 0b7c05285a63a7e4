//! The ranks of a run: processes, on one machine or on many, that each hold some of its shards.
//!
//! All they need of each other is one operation, [`Ranks::exchange`], in which all of them take part at the same place of
//! the program: every rank gives every other a parcel of bytes, and all learn the least of their numbers. There are three
//! kinds of ranks: none beside this one ([`Alone`]), threads that stand for processes ([`in_memory`]), and those that
//! the caller brings, such as MPI's.

use crate::Encode;
use std::sync::mpsc::{Receiver, Sender, channel};

/// How many numbers an exchange compares.
pub const NUMBERS: usize = 3;

/// This process among those of the run.
pub trait Ranks {
    /// The number of this one.
    fn rank(&self) -> usize;

    /// How many there are.
    fn count(&self) -> usize;

    /// Meets all other ranks. `parcels` has an entry for each rank: the bytes for it before, the bytes from it after. Each
    /// of `numbers` becomes the least that any rank gave. What a rank gives itself stays as it is.
    fn exchange(&mut self, numbers: &mut [u64; NUMBERS], parcels: &mut [Vec<u8>]);

    /// Brings everybody's bytes to rank 0, which gets them in the order of the ranks. The others get nothing.
    fn gather(&mut self, bytes: Vec<u8>) -> Vec<Vec<u8>> {
        let mut parcels = vec![Vec::new(); self.count()];
        parcels[0] = bytes;
        self.exchange(&mut [0; NUMBERS], &mut parcels);
        if self.rank() == 0 { parcels } else { Vec::new() }
    }

    /// Brings the bytes of rank 0 to everybody.
    fn broadcast(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        let mut parcels = if self.rank() == 0 { vec![bytes; self.count()] } else { vec![Vec::new(); self.count()] };
        self.exchange(&mut [0; NUMBERS], &mut parcels);
        parcels.swap_remove(0)
    }

    /// Brings everybody's bytes to everybody, in the order of the ranks.
    fn share(&mut self, bytes: Vec<u8>) -> Vec<Vec<u8>> {
        let mut parcels = vec![bytes; self.count()];
        self.exchange(&mut [0; NUMBERS], &mut parcels);
        parcels
    }
}

/// A process that runs all shards itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Ranks for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn count(&self) -> usize {
        1
    }

    fn exchange(&mut self, _numbers: &mut [u64; NUMBERS], _parcels: &mut [Vec<u8>]) {}
}

/// Adds up what all ranks have, in the order of the ranks. The sum is on rank 0.
pub fn reduce<T: Encode>(ranks: &mut dyn Ranks, own: T, mut add: impl FnMut(&mut T, T)) -> Option<T> {
    if ranks.count() == 1 {
        return Some(own);
    }
    if ranks.rank() > 0 {
        ranks.gather(own.to_bytes());
        return None;
    }
    let mut sum = own;
    ranks.gather(Vec::new()).iter().skip(1).for_each(|bytes| add(&mut sum, T::from_bytes(bytes)));
    Some(sum)
}

/// Tells all ranks what rank 0 has, which is the only one that must have it.
///
/// # Panics
/// If rank 0 has nothing.
pub fn announce<T: Encode>(ranks: &mut dyn Ranks, value: Option<T>) -> T {
    match (ranks.count(), ranks.rank()) {
        (1, _) => value.expect("rank 0 has a value to announce"),
        (_, 0) => {
            let value = value.expect("rank 0 has a value to announce");
            ranks.broadcast(value.to_bytes());
            value
        }
        _ => T::from_bytes(&ranks.broadcast(Vec::new())),
    }
}

/// What ranks in one process give each other.
type Delivery = ([u64; NUMBERS], Vec<u8>);

/// A rank that is a thread of this process; see [`in_memory`].
#[derive(Debug)]
pub struct InMemory {
    rank: usize,
    /// To each rank, this one included.
    to: Vec<Sender<Delivery>>,
    /// From each rank, this one included.
    from: Vec<Receiver<Delivery>>,
}

/// Ranks that live in one process, to be moved into a thread each. Whoever waits for one that has ended panics.
#[must_use]
pub fn in_memory(count: usize) -> Vec<InMemory> {
    let mut to: Vec<Vec<Sender<Delivery>>> = vec![Vec::new(); count];
    let mut from: Vec<Vec<Receiver<Delivery>>> = (0..count).map(|_| Vec::new()).collect();
    for senders in &mut to {
        for receivers in &mut from {
            let (sender, receiver) = channel();
            senders.push(sender);
            receivers.push(receiver);
        }
    }
    (0..).zip(to.into_iter().zip(from)).map(|(rank, (to, from))| InMemory { rank, to, from }).collect()
}

impl Ranks for InMemory {
    fn rank(&self) -> usize {
        self.rank
    }

    fn count(&self) -> usize {
        self.to.len()
    }

    fn exchange(&mut self, numbers: &mut [u64; NUMBERS], parcels: &mut [Vec<u8>]) {
        for (to, parcel) in self.to.iter().zip(&mut *parcels) {
            to.send((*numbers, std::mem::take(parcel))).expect("another rank of this run has ended");
        }
        for (from, parcel) in self.from.iter().zip(parcels) {
            let (theirs, bytes) = from.recv().expect("another rank of this run has ended");
            numbers.iter_mut().zip(theirs).for_each(|(least, number)| *least = number.min(*least));
            *parcel = bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parcels_and_numbers_reach_everybody() {
        std::thread::scope(|scope| {
            for mut rank in in_memory(3) {
                scope.spawn(move || {
                    let own = rank.rank() as u8;
                    let mut parcels: Vec<Vec<u8>> = (0..3).map(|to| vec![own, to]).collect();
                    let mut numbers = [10 + u64::from(own), 10 - u64::from(own), 7];
                    rank.exchange(&mut numbers, &mut parcels);
                    assert_eq!(numbers, [10, 8, 7]);
                    assert_eq!(parcels, [vec![0, own], vec![1, own], vec![2, own]]);
                    let gathered = rank.gather(vec![own; 2]);
                    assert_eq!(gathered, if own == 0 { vec![vec![0; 2], vec![1; 2], vec![2; 2]] } else { vec![] });
                    assert_eq!(rank.broadcast(vec![own + 5]), [5]);
                    assert_eq!(rank.share(vec![own]), [[0], [1], [2]]);
                    let sum = reduce(&mut rank, u64::from(own) + 1, |sum, more| *sum = *sum * 10 + more);
                    assert_eq!(sum, (own == 0).then_some(123));
                    assert_eq!(announce(&mut rank, sum), 123);
                });
            }
        });
    }

    #[test]
    fn one_alone_gives_to_itself() {
        assert_eq!(Alone.gather(vec![1]), [[1]]);
        assert_eq!(Alone.broadcast(vec![2]), [2]);
        assert_eq!(Alone.share(vec![3]), [[3]]);
    }
}
