//! Shards and windows: the loop that fires alarms, on one thread or on many.
//!
//! All shards run through the same window of time, then exchange what they sent each other, then agree on the next
//! window from the earliest alarm anywhere. A window is no longer than the smallest delay between shards, so a
//! message always lies in the receiver's future. At every inspection, a multiple of a fixed span of simulated time
//! and therefore the same instant for every partitioning, one thread looks at the whole model and may end the run.

use crate::alarms::{Alarms, Wheel};
use crate::barrier::Barrier;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use units::{Span, Time};

/// How many alarms a shard fires between looks at the interrupt flag and at whether its model is full.
const ALARMS_BETWEEN_LOOKS: u32 = 1 << 14;

/// What a shard simulates.
pub trait Model: Send {
    /// What crosses from one shard to another, by value.
    type Message: Send;

    /// An alarm fires.
    fn on_alarm(&mut self, now: Time, alarm: u32, context: &mut Context<Self::Message>);

    /// A message from another shard arrives, before anything later than it was sent has happened here.
    fn on_message(&mut self, message: Self::Message, context: &mut Context<Self::Message>);

    /// Whether it holds so much that the supervisor should relieve it before the next inspection.
    fn is_full(&self) -> bool {
        false
    }
}

/// What a model acts with: its alarms and its way to other shards.
#[derive(Debug)]
pub struct Context<M> {
    /// The shard's alarms.
    pub alarms: Alarms,
    outbox: Vec<(u32, M)>,
}

impl<M> Context<M> {
    /// Sends to another shard. What the message causes there must lie at least the lookahead after now.
    #[inline]
    pub fn send(&mut self, shard: u32, message: M) {
        self.outbox.push((shard, message));
    }
}

/// A part of the model with its own alarms.
#[derive(Debug)]
pub struct Shard<M: Model> {
    /// The simulated part.
    pub model: M,
    /// Its alarms and outbox.
    pub context: Context<M::Message>,
}

impl<M: Model> Shard<M> {
    /// A shard with alarms numbered `0..alarms`.
    #[must_use]
    pub fn new(model: M, alarms: usize, wheel: Wheel) -> Shard<M> {
        Shard { model, context: Context { alarms: Alarms::new(alarms, wheel), outbox: Vec::new() } }
    }

    /// Fires what is due before `end`; returns early if the run is interrupted or the model is full. That is no harm:
    /// the others then wait for this shard in the next window, since it has the earliest alarm.
    fn run_before(&mut self, end: Time, interrupt: &AtomicBool) {
        loop {
            for _ in 0..ALARMS_BETWEEN_LOOKS {
                match self.context.alarms.pop_before(end) {
                    Some((now, alarm)) => self.model.on_alarm(now, alarm, &mut self.context),
                    None => return,
                }
            }
            if interrupt.load(Ordering::Relaxed) || self.model.is_full() {
                return;
            }
        }
    }
}

/// How far to run and how.
#[derive(Clone, Copy, Debug)]
pub struct RunPlan<'a> {
    /// Where an earlier run of the same shards ended; zero at first.
    pub from: Time,
    /// The last instant that is simulated.
    pub until: Time,
    /// Simulated time between two inspections of the whole model. Must not be zero.
    pub inspect_every: Span,
    /// The smallest delay of anything that crosses shards. Must not be zero with more than one shard.
    pub lookahead: Span,
    /// How many threads to use; more than there are shards is of no use and not done.
    pub threads: usize,
    /// Instants, ascending, at which the model is shown beside the inspections. They decide nothing and change nothing.
    /// One that no alarm follows is not shown: the model stays what it is at the end.
    pub marks: &'a [Time],
    /// Set from outside to end the run early.
    pub interrupt: &'a AtomicBool,
}

/// Why the model is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// An inspection: everything before `now` has happened, nothing at or after it.
    Inspection,
    /// A mark: everything up to and including `now` has happened, nothing after it. What is returned is ignored.
    Mark,
    /// A model is full. Everything before `now` has happened in every shard, and in some shards more; when that is
    /// depends on threads and partitioning. A break is for errors, after which there is no result.
    Relief,
}

/// The whole model as an inspection sees it.
pub struct Inspection<'a, 'b, M> {
    /// The instant; see [`Look`].
    pub now: Time,
    /// Why it is looked at.
    pub look: Look,
    /// Alarms fired so far, in all shards.
    pub fired: u64,
    /// The model, all shards of it in order.
    pub models: &'a mut [&'b mut M],
}

/// Why a run came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The last instant was simulated.
    Until,
    /// Nothing is pending anywhere.
    Quiet,
    /// An inspection ended it.
    Stopped,
    /// The interrupt flag was set.
    Interrupted,
}

/// How a run went.
#[derive(Clone, Copy, Debug)]
pub struct RunReport {
    /// Why it ended.
    pub end: End,
    /// Simulated time reached.
    pub now: Time,
    /// Alarms fired in all shards.
    pub fired: u64,
    /// Windows it took.
    pub windows: u64,
}

/// What the threads of one run share.
struct Shared<'a, 's, M: Model, F> {
    plan: RunPlan<'a>,
    shards: Vec<Mutex<&'s mut Shard<M>>>,
    inboxes: Vec<Mutex<Vec<M::Message>>>,
    /// The earliest pending alarm of each thread's shards.
    next: Vec<AtomicU64>,
    interrupted: AtomicBool,
    stopped: AtomicBool,
    /// A model is full.
    full: AtomicBool,
    supervise: Mutex<F>,
    barrier: Barrier,
}

/// Runs the shards up to and including `plan.until`, showing the whole model to `supervise` at every inspection. A break
/// ends the run there.
pub fn run<M, F>(shards: &mut [Shard<M>], plan: RunPlan<'_>, supervise: F) -> RunReport
where
    M: Model,
    F: FnMut(Inspection<'_, '_, M>) -> ControlFlow<()> + Send,
{
    assert!(plan.inspect_every > Span::ZERO, "inspections need an interval");
    assert!(shards.len() < 2 || plan.lookahead > Span::ZERO, "shards need a delay between them");
    let threads = plan.threads.clamp(1, shards.len().max(1));
    let shared = Shared {
        inboxes: shards.iter().map(|_| Mutex::new(Vec::new())).collect(),
        shards: shards.iter_mut().map(Mutex::new).collect(),
        next: (0..threads).map(|_| AtomicU64::new(0)).collect(),
        interrupted: AtomicBool::new(false),
        stopped: AtomicBool::new(false),
        full: AtomicBool::new(false),
        supervise: Mutex::new(supervise),
        barrier: Barrier::new(threads),
        plan,
    };
    std::thread::scope(|scope| {
        for thread in 1..threads {
            let shared = &shared;
            scope.spawn(move || worker(thread, shared));
        }
        worker(0, &shared)
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("a thread of this run panicked")
}

/// One thread's part: every `threads`-th shard. Thread 0 also supervises.
fn worker<M, F>(thread: usize, shared: &Shared<'_, '_, M, F>) -> RunReport
where
    M: Model,
    F: FnMut(Inspection<'_, '_, M>) -> ControlFlow<()> + Send,
{
    let _guard = shared.barrier.guard();
    let plan = shared.plan;
    let threads = shared.next.len();
    let own = || (thread..shared.shards.len()).step_by(threads);
    let alone = shared.shards.len() == 1;
    let limit = Time::from_picos(plan.until.as_picos().saturating_add(1));
    let cells = plan.from.as_picos() / plan.inspect_every.as_picos();
    let mut inspection = Time::from_picos(cells * plan.inspect_every.as_picos()).saturating_add(plan.inspect_every);
    let mut windows = 0;
    let mut looks = 0;
    let mut reached = plan.from;
    let mut marks = plan.marks.iter().copied().filter(|&mark| mark >= plan.from).peekable();
    let mut held: Vec<_> = own().map(|shard| lock(&shared.shards[shard])).collect();
    let (end, now) = loop {
        let mut earliest = u64::MAX;
        for (place, shard) in held.iter_mut().enumerate() {
            let mail = std::mem::take(&mut *lock(&shared.inboxes[thread + place * threads]));
            let shard: &mut Shard<M> = shard;
            for message in mail {
                shard.model.on_message(message, &mut shard.context);
            }
            earliest = earliest.min(shard.context.alarms.next_time().map_or(u64::MAX, Time::as_picos));
            // Told before the barrier and asked after it, so that all threads see the same.
            if shard.model.is_full() {
                shared.full.store(true, Ordering::Relaxed);
            }
        }
        shared.next[thread].store(earliest, Ordering::Relaxed);
        if thread == 0 && plan.interrupt.load(Ordering::Relaxed) {
            shared.interrupted.store(true, Ordering::Relaxed);
        }
        shared.barrier.wait();
        // From here to the next barrier every thread decides the same from the same values.
        let start = shared.next.iter().map(|next| next.load(Ordering::Relaxed)).min().unwrap_or(u64::MAX);
        if shared.interrupted.load(Ordering::Relaxed) {
            break (End::Interrupted, reached);
        }
        if start == u64::MAX {
            break (End::Quiet, reached);
        }
        if start >= limit.as_picos() {
            break (End::Until, plan.until);
        }
        if shared.full.load(Ordering::Relaxed) {
            held.clear();
            shared.barrier.wait();
            if thread == 0 {
                let decision = inspect(Time::from_picos(start), Look::Relief, shared);
                shared.stopped.store(decision.is_break(), Ordering::Relaxed);
                shared.full.store(false, Ordering::Relaxed);
            }
            shared.barrier.wait();
            held = own().map(|shard| lock(&shared.shards[shard])).collect();
            if shared.stopped.load(Ordering::Relaxed) {
                break (End::Stopped, Time::from_picos(start));
            }
        }
        if let Some(mark) = marks.next_if(|&mark| mark < inspection && mark.as_picos() < start) {
            held.clear();
            shared.barrier.wait();
            if thread == 0 {
                let _ = inspect(mark, Look::Mark, shared);
            }
            shared.barrier.wait();
            held = own().map(|shard| lock(&shared.shards[shard])).collect();
            continue;
        }
        if start >= inspection.as_picos() {
            // Where nothing happens for long, two looks are enough: what they see does not change. The rest is skipped.
            looks += 1;
            let cells = start / plan.inspect_every.as_picos();
            let here = if looks <= 2 { inspection } else { Time::from_picos(cells * plan.inspect_every.as_picos()) };
            inspection = here.saturating_add(plan.inspect_every);
            held.clear();
            shared.barrier.wait();
            if thread == 0 {
                let decision = inspect(here, Look::Inspection, shared);
                shared.stopped.store(decision.is_break(), Ordering::Relaxed);
            }
            shared.barrier.wait();
            held = own().map(|shard| lock(&shared.shards[shard])).collect();
            if shared.stopped.load(Ordering::Relaxed) {
                break (End::Stopped, here);
            }
            reached = here;
            if start >= inspection.as_picos() {
                continue;
            }
        }
        looks = 0;
        windows += 1;
        let mut end = limit.min(inspection);
        if let Some(mark) = marks.peek() {
            end = end.min(Time::from_picos(mark.as_picos().saturating_add(1)));
        }
        if !alone {
            end = end.min(Time::from_picos(start).saturating_add(plan.lookahead));
        }
        for shard in &mut held {
            let shard: &mut Shard<M> = shard;
            shard.run_before(end, plan.interrupt);
            if !alone {
                post(&mut shard.context.outbox, &shared.inboxes);
            }
        }
        reached = reached.max(end);
        shared.barrier.wait();
    };
    held.clear();
    shared.barrier.wait();
    let mut report = RunReport { end, now, fired: 0, windows };
    if thread == 0 {
        let mut last = plan.from;
        for shard in &shared.shards {
            let alarms = &lock(shard).context.alarms;
            report.fired += alarms.fired();
            last = last.max(alarms.now());
        }
        // A run that ended of itself or was cut short got as far as its last alarm, whatever the windows were.
        if matches!(end, End::Quiet | End::Interrupted) {
            report.now = last;
        }
    }
    report
}

/// Moves an outbox into the inboxes, locking each once per run of messages to it.
fn post<M>(outbox: &mut Vec<(u32, M)>, inboxes: &[Mutex<Vec<M>>]) {
    let mut open: Option<(u32, MutexGuard<'_, Vec<M>>)> = None;
    for (to, message) in outbox.drain(..) {
        if open.as_ref().is_none_or(|(shard, _)| *shard != to) {
            // Never two inboxes at once: two threads that each hold one and want the other would wait for ever.
            drop(open.take());
            open = Some((to, lock(&inboxes[to as usize])));
        }
        if let Some((_, inbox)) = &mut open {
            inbox.push(message);
        }
    }
}

/// Shows the whole model to the supervisor.
fn inspect<M, F>(now: Time, look: Look, shared: &Shared<'_, '_, M, F>) -> ControlFlow<()>
where
    M: Model,
    F: FnMut(Inspection<'_, '_, M>) -> ControlFlow<()> + Send,
{
    let mut held: Vec<_> = shared.shards.iter().map(lock).collect();
    let fired = held.iter().map(|shard| shard.context.alarms.fired()).sum();
    let mut models: Vec<&mut M> = held.iter_mut().map(|shard| &mut shard.model).collect();
    (lock(&shared.supervise))(Inspection { now, look, fired, models: &mut models })
}
