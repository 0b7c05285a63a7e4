//! How shards send to each other: an outbox per shard, a mailbox per receiver, and whole bundles of messages that change
//! hands.
//!
//! A bundle is a vector that moves by pointer, so a mailbox is locked for a moment once a window and sender, and an
//! emptied bundle serves again: nothing is allocated in a window like the one before.

use crate::alarms::Alarms;
use crate::run::{Model, Shard};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use units::Time;

pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("a thread of this run panicked")
}

/// What a model acts with: its alarms and its way to other shards.
#[derive(Debug)]
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

    /// Brings everything to the mailboxes. Returns when the first of it has its effect, [`u64::MAX`] if there is nothing.
    pub(crate) fn post<'a>(&mut self, mailbox: impl Fn(u32) -> &'a Mailbox<M>) -> u64
    where
        M: 'a,
    {
        for neighbour in self.addressed.drain(..) {
            let empty = self.spare.pop().unwrap_or_default();
            let bundle = std::mem::replace(&mut self.outbox[neighbour as usize], empty);
            mailbox(self.neighbours[neighbour as usize]).put(bundle);
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
    fn put(&self, bundle: Vec<M>) {
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
