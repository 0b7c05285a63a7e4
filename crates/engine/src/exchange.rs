//! How shards send to each other: an outbox per shard, a mailbox per receiver, and whole bundles of messages that change
//! hands.
//!
//! A bundle is a vector that moves by pointer, so a mailbox is locked for a moment once a window and sender, and an
//! emptied bundle serves again: nothing is allocated in a window like the one before. Bundles for shards of other ranks
//! are encoded into a parcel for each rank, which changes hands at the end of the window.

use crate::Encode;
use crate::alarms::Alarms;
use crate::ranks::{NUMBERS, Ranks};
use crate::run::{Model, Shard};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use units::Time;

pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("a thread of this run panicked")
}

/// What a model acts with: its alarms and its way to other shards.
#[derive(Clone, Debug)]
pub struct Context<M> {
    /// The shard's alarms.
    pub alarms: Alarms,
    /// The shards it sends to.
    neighbours: Vec<u32>,
    /// What was sent to each of them since the last post.
    outbox: Vec<Vec<M>>,
    /// Positions of those that were sent anything.
    addressed: Vec<u32>,
    /// When the first of all that has its effect.
    earliest: u64,
    /// Emptied bundles.
    spare: Vec<Vec<M>>,
}

impl<M> Context<M> {
    pub(crate) fn new(alarms: Alarms) -> Context<M> {
        Context {
            alarms,
            neighbours: Vec::new(),
            outbox: Vec::new(),
            addressed: Vec::new(),
            earliest: u64::MAX,
            spare: Vec::new(),
        }
    }

    pub(crate) fn set_neighbours(&mut self, neighbours: Vec<u32>) {
        self.outbox = neighbours.iter().map(|_| Vec::new()).collect();
        self.neighbours = neighbours;
    }

    /// Sends to the neighbour of that position. What the message causes there happens at `at` or later, which must lie
    /// at least the lookahead after now.
    #[inline]
    pub fn send(&mut self, neighbour: u32, at: Time, message: M) {
        let bundle = &mut self.outbox[neighbour as usize];
        if bundle.is_empty() {
            self.addressed.push(neighbour);
        }
        bundle.push(message);
        self.earliest = self.earliest.min(at.as_picos());
    }

    /// The shards it sends to, in the order of their positions.
    #[must_use]
    pub fn neighbours(&self) -> &[u32] {
        &self.neighbours
    }

    /// Gives everything to `put`, by shard. Returns when the first of it has its effect, [`u64::MAX`] if there is nothing.
    pub(crate) fn post(&mut self, put: impl Fn(u32, Vec<M>)) -> u64 {
        for neighbour in self.addressed.drain(..) {
            let empty = self.spare.pop().unwrap_or_default();
            let bundle = std::mem::replace(&mut self.outbox[neighbour as usize], empty);
            put(self.neighbours[neighbour as usize], bundle);
        }
        std::mem::replace(&mut self.earliest, u64::MAX)
    }
}

/// What has been sent to a shard and not delivered.
#[derive(Debug)]
pub(crate) struct Mailbox<M> {
    /// Whether there is anything, to be asked without the lock.
    any: AtomicBool,
    bundles: Mutex<Vec<Vec<M>>>,
}

impl<M> Default for Mailbox<M> {
    fn default() -> Mailbox<M> {
        Mailbox { any: AtomicBool::new(false), bundles: Mutex::new(Vec::new()) }
    }
}

impl<M> Mailbox<M> {
    pub(crate) fn put(&self, bundle: Vec<M>) {
        let mut bundles = lock(&self.bundles);
        bundles.push(bundle);
        self.any.store(true, Ordering::Release);
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.any.load(Ordering::Acquire)
    }

    /// Gives everything to the shard. The order of the senders depends on threads, and a model must not depend on it.
    pub(crate) fn deliver<N: Model<Message = M>>(&self, shard: &mut Shard<N>) {
        if self.is_empty() {
            return;
        }
        let mut bundles = {
            let mut bundles = lock(&self.bundles);
            self.any.store(false, Ordering::Release);
            std::mem::take(&mut *bundles)
        };
        let Shard { model, context } = shard;
        for mut bundle in bundles.drain(..) {
            for message in bundle.drain(..) {
                model.on_message(message, context);
            }
            // One more than goes out at a time is of no use.
            if context.spare.len() < context.neighbours.len() {
                context.spare.push(bundle);
            }
        }
        // The list itself serves again, too, unless somebody has sent in the meantime.
        let mut now = lock(&self.bundles);
        if now.capacity() == 0 {
            *now = bundles;
        }
    }
}

/// What goes to shards of other ranks at the end of a window, encoded, by rank.
#[derive(Debug)]
pub(crate) struct Parcels {
    /// The first shard of each rank, and the number of all shards.
    bounds: Vec<u32>,
    rank: usize,
    parcels: Vec<Mutex<Vec<u8>>>,
}

impl Parcels {
    pub(crate) fn new(bounds: &[u32], rank: usize) -> Parcels {
        assert!(bounds.is_sorted() && bounds.first() == Some(&0), "the ranks have the shards in order");
        let parcels = (1..bounds.len()).map(|_| Mutex::default()).collect();
        Parcels { bounds: bounds.to_vec(), rank, parcels }
    }

    /// Whether there is no other rank.
    #[inline]
    pub(crate) fn alone(&self) -> bool {
        self.parcels.len() == 1
    }

    /// How many shards are here.
    pub(crate) fn own(&self) -> usize {
        (self.bounds[self.rank + 1] - self.bounds[self.rank]) as usize
    }

    /// The position here of a shard, if it is here.
    #[inline]
    pub(crate) fn here(&self, shard: u32) -> Option<usize> {
        (self.bounds[self.rank]..self.bounds[self.rank + 1])
            .contains(&shard)
            .then(|| (shard - self.bounds[self.rank]) as usize)
    }

    /// A bundle for a shard elsewhere.
    pub(crate) fn put<M: Encode>(&self, shard: u32, bundle: Vec<M>) {
        let rank = self.bounds.partition_point(|&first| first <= shard) - 1;
        let mut parcel = lock(&self.parcels[rank]);
        shard.encode(&mut parcel);
        bundle.encode(&mut parcel);
    }

    /// Brings all parcels to the other ranks, and gives what comes from there to `put`, by position.
    pub(crate) fn exchange<M: Encode>(
        &self,
        ranks: &mut dyn Ranks,
        numbers: &mut [u64; NUMBERS],
        put: impl Fn(usize, Vec<M>),
    ) {
        let mut parcels: Vec<Vec<u8>> = self.parcels.iter().map(|parcel| std::mem::take(&mut *lock(parcel))).collect();
        ranks.exchange(numbers, &mut parcels);
        for mut parcel in parcels {
            let mut rest = &parcel[..];
            while !rest.is_empty() {
                let bundle = <(u32, Vec<M>)>::decode(&mut rest);
                let bundle = bundle.and_then(|(shard, bundle)| Some((self.here(shard)?, bundle)));
                let (place, bundle) = bundle.expect("a message between the ranks of this run is damaged");
                put(place, bundle);
            }
            // It serves again.
            parcel.clear();
            let spare = self.parcels.iter().map(lock).find(|parcel| parcel.capacity() == 0);
            spare.into_iter().for_each(|mut empty| *empty = std::mem::take(&mut parcel));
        }
    }
}
