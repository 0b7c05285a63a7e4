//! Shards and windows: the loop that fires alarms, on one thread or on many.
//!
//! All shards run through the same window of time, then agree on the next one from the earliest alarm or message
//! anywhere. A window is no longer than the smallest delay between shards, so a message always lies in the receiver's
//! future, whenever it is delivered between its sending and the next window. At every inspection, a multiple of a fixed span of simulated time
//! and therefore the same instant for every partitioning, one thread of each rank looks at its part of the model, and
//! all ranks together may end the run.
//!
//! The shards of a run may be spread over several processes, its [`Ranks`]. Then the first thread of each rank meets those
//! of the others once a window: they exchange the messages for shards elsewhere and agree on the next window. Alone
//! or not, a run is the same code.

use crate::Encode;
use crate::alarms::{Alarms, Wheel};
use crate::barrier::Barrier;
use crate::contain;
use crate::deal::Deal;
use crate::exchange::{Context, Mailbox, Parcels, lock};
use crate::ranks::{Alone, Ranks};
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use units::{Span, State, Time};

/// How many alarms a shard fires between looks at the interrupt flag and at whether its model is full.
const ALARMS_BETWEEN_LOOKS: u64 = 1 << 14;

/// What a shard simulates.
pub trait Model: Send {
    /// What crosses from one shard to another, by value.
    type Message: Send + Encode;

    /// An alarm fires.
    fn on_alarm(&mut self, now: Time, alarm: u32, context: &mut Context<Self::Message>);

    /// A message from another shard arrives, before anything later than it was sent has happened here.
    fn on_message(&mut self, message: Self::Message, context: &mut Context<Self::Message>);

    /// Whether it holds so much that the supervisor should relieve it before the next inspection.
    fn is_full(&self) -> bool {
        false
    }
}

/// A part of the model with its own alarms.
#[derive(Clone, Debug)]
pub struct Shard<M: Model> {
    /// The simulated part.
    pub model: M,
    /// Its alarms and outbox.
    pub context: Context<M::Message>,
}

impl<M: Model> Shard<M> {
    /// A shard with alarms numbered `0..alarms` that sends to no other.
    #[must_use]
    pub fn new(model: M, alarms: usize, wheel: Wheel) -> Shard<M> {
        Shard { model, context: Context::new(Alarms::new(alarms, wheel)) }
    }

    /// The same shard, sending to those shards. [`Context::send`] names one by its position in this list.
    #[must_use]
    pub fn with_neighbours(mut self, neighbours: Vec<u32>) -> Shard<M> {
        self.context.set_neighbours(neighbours);
        self
    }

    /// Fires what is due before `end`; returns early if the run is interrupted or the model is full. That is no harm:
    /// the others then wait for this shard in the next window, since it has the earliest alarm.
    #[inline(never)] // The loop of all loops needs its registers for itself.
    fn run_before(&mut self, end: Time, interrupt: &AtomicBool) {
        while let Some((now, alarm)) = self.context.alarms.pop_before(end) {
            self.model.on_alarm(now, alarm, &mut self.context);
            let looks = self.context.alarms.fired().is_multiple_of(ALARMS_BETWEEN_LOOKS);
            if looks && (interrupt.load(Ordering::Relaxed) || self.model.is_full()) {
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
    /// The last inspection of such a run: those after it are due, even before `from`. Zero at first.
    pub inspected: Time,
    /// The last instant that is simulated.
    pub until: Time,
    /// Simulated time between two inspections of the whole model. Must not be zero.
    pub inspect_every: Span,
    /// The smallest delay of anything that crosses shards. Must not be zero with more than one shard.
    pub lookahead: Span,
    /// How many threads to use; more than there are shards is of no use and not done.
    pub threads: usize,
    /// Instants, ascending, at which the model is shown beside the inspections. They decide nothing and change nothing.
    /// One that no alarm follows is not shown: the model stays what it is at the end. Those before `from` are shown first:
    /// leave out those that an earlier run of the same shards has shown.
    pub marks: &'a [Time],
    /// Set from outside to end the run early.
    pub interrupt: &'a AtomicBool,
}

impl RunPlan<'_> {
    /// A run from zero on one thread, of a model with one shard, with an inspection every 100 us of simulated time and
    /// nothing that interrupts it.
    #[must_use]
    pub fn until(until: Time) -> Self {
        /// Nobody can set it.
        static NEVER: AtomicBool = AtomicBool::new(false);
        let inspect_every = Span::from_micros(100);
        RunPlan {
            from: Time::ZERO,
            inspected: Time::ZERO,
            until,
            inspect_every,
            lookahead: Span::ZERO,
            threads: 1,
            marks: &[],
            interrupt: &NEVER,
        }
    }
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

/// The model as an inspection sees it: the part of it that is on this rank, and the way to the other ranks. All ranks
/// look at the same instant, and must come to the same decision.
pub struct Inspection<'a, 'b, M> {
    /// The instant; see [`Look`].
    pub now: Time,
    /// Why it is looked at.
    pub look: Look,
    /// Alarms fired so far, in all shards of this rank.
    pub fired: u64,
    /// The model, all shards of this rank in order.
    pub models: &'a mut [&'b mut M],
    /// All ranks of the run.
    pub ranks: &'a mut dyn Ranks,
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
    /// The last inspection.
    pub inspected: Time,
    /// Alarms fired in all shards of all ranks.
    pub fired: u64,
    /// Windows it took.
    pub windows: u64,
}

/// A shard in a run, apart from the cache lines of the others.
#[repr(align(128))]
struct Seat<'s, M: Model> {
    shard: Mutex<&'s mut Shard<M>>,
    mailbox: Mailbox<M::Message>,
    /// The earliest pending alarm when it last ran.
    next: AtomicU64,
    /// The last window for which a thread has taken it.
    taken: AtomicU64,
}

/// What a thread tells the others at the end of a window.
#[derive(Default)]
#[repr(align(128))]
struct Notice {
    /// The earliest alarm or message of the shards it ran.
    next: AtomicU64,
    /// A model is full.
    full: AtomicBool,
    interrupted: AtomicBool,
}

/// What all threads of all ranks know at the end of a window.
#[derive(Clone, Copy)]
struct Agreement {
    /// The earliest alarm or message anywhere.
    next: u64,
    full: bool,
    interrupted: bool,
}

/// What the threads of one rank share.
struct Shared<'a, 's, M: Model> {
    plan: RunPlan<'a>,
    /// Shards on all ranks.
    total: usize,
    /// What is on its way to shards of other ranks.
    parcels: Parcels,
    /// What the ranks have agreed on; written by the first thread between two meetings.
    agreed: Notice,
    seats: Vec<Seat<'s, M>>,
    /// By thread. Two of each, used in turn: a fast thread may have ended the next window before a slow one has read
    /// what was said of this one, but not the one after that.
    notices: Vec<[Notice; 2]>,
    deal: Mutex<Deal>,
    /// The look that ended the run, counted from 1; [`u64::MAX`] while none has.
    stopped: AtomicU64,
    barrier: Barrier,
}

/// What only the first thread of a rank has.
struct Chief<'c, F> {
    supervise: &'c mut F,
    ranks: &'c mut dyn Ranks,
}

/// Between two runs a shard has no message under way: its state is that of its model and its alarms.
impl<M: Model + State> State for Shard<M> {
    fn save(&self, out: &mut Vec<u8>) {
        self.model.save(out);
        self.context.alarms.save(out);
    }

    fn load(&mut self, input: &mut &[u8]) -> Option<()> {
        self.model.load(input)?;
        self.context.alarms.load(input)
    }
}

/// Runs the shards up to and including `plan.until`, showing the whole model to `supervise` at every inspection. A break
/// ends the run there.
///
/// A thread runs the shards it was dealt, one after the other for a whole window each, so that one shard's state at a
/// time needs the cache; when it has done so it takes what others have not begun. A window costs one meeting of all
/// threads.
pub fn run<M, F>(shards: &mut [Shard<M>], plan: RunPlan<'_>, supervise: F) -> RunReport
where
    M: Model,
    F: FnMut(Inspection<'_, '_, M>) -> ControlFlow<()>,
{
    let bounds = [0, shards.len() as u32];
    run_among(&mut Alone, &bounds, shards, plan, supervise)
}

/// Runs like [`run`], the shards being spread over ranks, which all call this: rank n has the shards from `bounds[n]` to
/// before `bounds[n + 1]`. On every rank `supervise` is called at the same instants, sees the shards of that rank, and must
/// decide the same.
pub fn run_among<M, F>(
    ranks: &mut dyn Ranks,
    bounds: &[u32],
    shards: &mut [Shard<M>],
    plan: RunPlan<'_>,
    mut supervise: F,
) -> RunReport
where
    M: Model,
    F: FnMut(Inspection<'_, '_, M>) -> ControlFlow<()>,
{
    let parcels = Parcels::new(bounds, ranks.rank());
    let total = bounds[ranks.count()] as usize;
    assert_eq!(parcels.own(), shards.len(), "a rank has the shards that the bounds give it");
    assert!(plan.inspect_every > Span::ZERO, "inspections need an interval");
    assert!(total < 2 || plan.lookahead > Span::ZERO, "shards need a delay between them");
    let threads = plan.threads.clamp(1, shards.len().max(1));
    let seat = |shard| Seat {
        shard: Mutex::new(shard),
        mailbox: Mailbox::default(),
        next: AtomicU64::new(0),
        taken: AtomicU64::new(0),
    };
    let shared = Shared {
        deal: Mutex::new(Deal::even(shards.len(), threads)),
        seats: shards.iter_mut().map(seat).collect(),
        notices: (0..threads).map(|_| Default::default()).collect(),
        stopped: AtomicU64::new(u64::MAX),
        barrier: Barrier::new(threads),
        total,
        parcels,
        agreed: Notice::default(),
        plan,
    };
    let mut report = std::thread::scope(|scope| {
        for thread in 1..threads {
            let (shared, within) = (&shared, contain::current());
            scope.spawn(move || contain::within(within, || worker(thread, shared, None::<Chief<'_, F>>)));
        }
        worker(0, &shared, Some(Chief { supervise: &mut supervise, ranks: &mut *ranks }))
    });
    // Nobody runs a shard any more.
    let (mut fired, mut last) = (0, plan.from);
    for seat in &shared.seats {
        let mut shard = lock(&seat.shard);
        seat.mailbox.deliver(*shard);
        fired += shard.context.alarms.fired();
        last = last.max(shard.context.alarms.now());
    }
    let everywhere = ranks.share((fired, last).to_bytes());
    let everywhere = everywhere.iter().map(|bytes| <(u64, Time)>::from_bytes(bytes));
    (report.fired, last) = everywhere.fold((0, last), |(sum, latest), (fired, last)| (sum + fired, latest.max(last)));
    // A run that ended of itself or was cut short got as far as its last alarm, whatever the windows were.
    if matches!(report.end, End::Quiet | End::Interrupted) {
        report.now = last;
    }
    report
}

/// One thread's part. The first one also supervises, and meets the other ranks.
///
/// Between two meetings at the barrier every thread decides the same from the same notices.
fn worker<M, F>(thread: usize, shared: &Shared<'_, '_, M>, mut chief: Option<Chief<'_, F>>) -> RunReport
where
    M: Model,
    F: FnMut(Inspection<'_, '_, M>) -> ControlFlow<()>,
{
    let _guard = shared.barrier.guard();
    let plan = shared.plan;
    let limit = Time::from_picos(plan.until.as_picos().saturating_add(1));
    let cells = plan.inspected.as_picos() / plan.inspect_every.as_picos();
    let mut inspection = Time::from_picos(cells * plan.inspect_every.as_picos()).saturating_add(plan.inspect_every);
    let mut windows = 0;
    let mut looks = Looks { done: 0 };
    let mut looks_at_rest = 0;
    let mut reached = plan.from;
    let mut inspected = plan.inspected;
    let mut marks = plan.marks.iter().copied().peekable();
    let mut order = lock(&shared.deal).order(thread);
    // A window in which nothing can happen: everybody learns when the first alarm is.
    shared.run_window(thread, windows, Time::ZERO, &order);
    let (end, now) = 'run: loop {
        let Agreement { next: start, full, interrupted } =
            shared.agree(windows, chief.as_mut().map(|chief| &mut *chief.ranks));
        if interrupted {
            break (End::Interrupted, reached);
        }
        if start == u64::MAX {
            break (End::Quiet, reached);
        }
        if start >= limit.as_picos() {
            break (End::Until, plan.until);
        }
        if full && looks.take(Time::from_picos(start), Look::Relief, shared, chief.as_mut()).is_break() {
            break (End::Stopped, Time::from_picos(start));
        }
        loop {
            if let Some(mark) = marks.next_if(|&mark| mark < inspection && mark.as_picos() < start) {
                let _ = looks.take(mark, Look::Mark, shared, chief.as_mut());
                continue;
            }
            if start < inspection.as_picos() {
                break;
            }
            // Where nothing happens for long, two looks are enough: what they see does not change. The rest is skipped.
            looks_at_rest += 1;
            let cells = start / plan.inspect_every.as_picos();
            let last = Time::from_picos(cells * plan.inspect_every.as_picos());
            let here = if looks_at_rest <= 2 { inspection } else { last };
            inspection = here.saturating_add(plan.inspect_every);
            inspected = here;
            if looks.take(here, Look::Inspection, shared, chief.as_mut()).is_break() {
                break 'run (End::Stopped, here);
            }
            reached = here;
            order = lock(&shared.deal).order(thread);
        }
        looks_at_rest = 0;
        windows += 1;
        let mut end = limit.min(inspection);
        if let Some(mark) = marks.peek() {
            end = end.min(Time::from_picos(mark.as_picos().saturating_add(1)));
        }
        if shared.total > 1 {
            end = end.min(Time::from_picos(start).saturating_add(plan.lookahead));
        }
        shared.run_window(thread, windows, end, &order);
        reached = reached.max(end);
    };
    RunReport { end, now, inspected, fired: 0, windows }
}

/// A thread's count of the looks at the model.
struct Looks {
    done: u64,
}

impl Looks {
    /// The first thread shows the model to the supervisor, while all others wait.
    fn take<M, F>(
        &mut self,
        now: Time,
        look: Look,
        shared: &Shared<'_, '_, M>,
        chief: Option<&mut Chief<'_, F>>,
    ) -> ControlFlow<()>
    where
        M: Model,
        F: FnMut(Inspection<'_, '_, M>) -> ControlFlow<()>,
    {
        self.done += 1;
        if let Some(chief) = chief
            && shared.inspect(now, look, chief).is_break()
            && look != Look::Mark
        {
            // By number: a thread that has waited for this look may read it when the next one is over.
            shared.stopped.store(self.done, Ordering::Relaxed);
        }
        shared.barrier.wait();
        if shared.stopped.load(Ordering::Relaxed) == self.done {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

impl<M: Model> Shared<'_, '_, M> {
    /// The end of a window: all threads of all ranks meet, and know the same.
    fn agree(&self, window: u64, ranks: Option<&mut (dyn Ranks + '_)>) -> Agreement {
        self.barrier.wait();
        let notices = || self.notices.iter().map(|notices| &notices[window as usize % 2]);
        if self.parcels.alone() {
            return Agreement {
                next: notices().map(|notice| notice.next.load(Ordering::Relaxed)).min().unwrap_or(u64::MAX),
                full: notices().any(|notice| notice.full.load(Ordering::Relaxed)),
                interrupted: notices().any(|notice| notice.interrupted.load(Ordering::Relaxed)),
            };
        }
        if let Some(ranks) = ranks {
            let next = notices().map(|notice| notice.next.load(Ordering::Relaxed)).min().unwrap_or(u64::MAX);
            let none = |of: fn(&Notice) -> &AtomicBool| !notices().any(|notice| of(notice).load(Ordering::Relaxed));
            let mut numbers = [next, none(|it| &it.full).into(), none(|it| &it.interrupted).into()];
            self.parcels.exchange(ranks, &mut numbers, |shard, bundle| self.seats[shard].mailbox.put(bundle));
            self.agreed.next.store(numbers[0], Ordering::Relaxed);
            self.agreed.full.store(numbers[1] == 0, Ordering::Relaxed);
            self.agreed.interrupted.store(numbers[2] == 0, Ordering::Relaxed);
        }
        self.barrier.wait();
        Agreement {
            next: self.agreed.next.load(Ordering::Relaxed),
            full: self.agreed.full.load(Ordering::Relaxed),
            interrupted: self.agreed.interrupted.load(Ordering::Relaxed),
        }
    }

    /// One thread's part of a window, up to the notice to the others. `order` is that in which it takes shards.
    fn run_window(&self, thread: usize, window: u64, end: Time, order: &[u32]) {
        let (mut next, mut full) = (u64::MAX, false);
        for &shard in order {
            let seat = &self.seats[shard as usize];
            // Windows are counted from 0, and 0 stands for a seat that nobody has taken.
            let taken = window + 1;
            if seat.taken.load(Ordering::Relaxed) == taken || seat.taken.swap(taken, Ordering::Relaxed) == taken {
                continue;
            }
            let pending = seat.next.load(Ordering::Relaxed);
            if window > 0 && pending >= end.as_picos() && seat.mailbox.is_empty() {
                // What is posted to it in this window is in the sender's notice.
                next = next.min(pending);
                continue;
            }
            let mut held = lock(&seat.shard);
            let shard: &mut Shard<M> = &mut held;
            seat.mailbox.deliver(shard);
            shard.run_before(end, self.plan.interrupt);
            next = next.min(shard.context.post(|to, bundle| match self.parcels.here(to) {
                Some(place) => self.seats[place].mailbox.put(bundle),
                None => self.parcels.put(to, bundle),
            }));
            let pending = shard.context.alarms.next_time().map_or(u64::MAX, Time::as_picos);
            seat.next.store(pending, Ordering::Relaxed);
            next = next.min(pending);
            full |= shard.model.is_full();
        }
        let notice = &self.notices[thread][window as usize % 2];
        notice.next.store(next, Ordering::Relaxed);
        notice.full.store(full, Ordering::Relaxed);
        let interrupted = thread == 0 && self.plan.interrupt.load(Ordering::Relaxed);
        notice.interrupted.store(interrupted, Ordering::Relaxed);
    }

    /// Shows the model to the supervisor.
    fn inspect<F>(&self, now: Time, look: Look, chief: &mut Chief<'_, F>) -> ControlFlow<()>
    where
        F: FnMut(Inspection<'_, '_, M>) -> ControlFlow<()>,
    {
        let mut held: Vec<_> = self.seats.iter().map(|seat| lock(&seat.shard)).collect();
        // What is in the post is part of the model. Its alarms may be the first of their shard now.
        for (seat, shard) in self.seats.iter().zip(&mut held) {
            seat.mailbox.deliver(shard);
            seat.next.store(0, Ordering::Relaxed);
        }
        if look == Look::Inspection {
            lock(&self.deal).again(held.iter().map(|shard| shard.context.alarms.fired()));
        }
        let fired = held.iter().map(|shard| shard.context.alarms.fired()).sum();
        let mut models: Vec<&mut M> = held.iter_mut().map(|shard| &mut shard.model).collect();
        (chief.supervise)(Inspection { now, look, fired, models: &mut models, ranks: &mut *chief.ranks })
    }
}
