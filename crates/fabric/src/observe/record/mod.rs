//! The recorder: a probe that turns what happens into rows of tables.
//!
//! One recorder watches one shard. What it has recorded is taken out at every inspection with [`drain`]. Between two
//! inspections it asks to be emptied when it holds as many rows as it may ([`Recorder::holding`]), with
//! [`drain_before`]; so it never holds more than these, what is recorded at one instant, and what a few thousand alarms
//! leave. [`finish`] closes what is still open when the run has ended.
//! Rows leave in an order that depends neither on threads nor on partitioning. What does not change and what stands
//! idle leaves no rows.
//!
//! Where the shards of a run are spread over ranks, the first rank gets the rows of all ([`drain_among`]). It writes
//! nothing itself: files belong to the caller.

mod deliveries;
mod ending;
mod events;
mod finish;
mod meter;
mod rows;
mod scattered;
pub mod schema;
mod sketch;
mod state;
mod table;
mod window;

pub use deliveries::Deliveries;
pub use ending::{DelayRow, Delivery, FlowRow, PortRow, QueueLevelRow, WaitBucket, WaitRow, flow_rows, port_rows};
pub use events::{Event, FOLLOWED, HOST, Happening};
pub use finish::{Ending, finish, finish_among};
pub use rows::{
    Cell, DropRow, FlowSample, FrameRow, LinkSample, NoticeRow, OccupancyRow, PauseRow, QueueRow, RateRow, Row, Rows,
    StarvedRow,
};
pub use sketch::Sketch;
pub use window::{Interval, sliding_window};

use crate::describe::spec::MAX_CLASSES;
use crate::machine::frame::{Frame, Kind, Notice};
use crate::observe::probe::{DropCause, Probe, QueueSample, SourceState, machine_of_this_crate};
use congestion::Stamp;
use deliveries::Seen;
use engine::Ranks;
use meter::Meter;
use scattered::Scattered;
use table::Table;
use units::{Span, Time};

/// Which ports or flows are watched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// All of them.
    #[default]
    All,
    /// Those whose bit is set: bit n of word m stands for number 64 m + n.
    Only(Vec<u64>),
}

impl Selection {
    /// None of them.
    #[must_use]
    pub const fn none() -> Selection {
        Selection::Only(Vec::new())
    }

    /// Whether it is none of them.
    #[must_use]
    pub fn is_none(&self) -> bool {
        matches!(self, Selection::Only(words) if words.iter().all(|&word| word == 0))
    }

    /// Those numbers.
    #[must_use]
    pub fn only(numbers: impl IntoIterator<Item = u32>) -> Selection {
        let mut words = Vec::new();
        for number in numbers {
            let word = number as usize / 64;
            if words.len() <= word {
                words.resize(word + 1, 0);
            }
            words[word] |= 1u64 << (number % 64);
        }
        Selection::Only(words)
    }

    /// Whether a number is among them.
    #[inline]
    #[must_use]
    pub fn contains(&self, number: u32) -> bool {
        match self {
            Selection::All => true,
            Selection::Only(words) => {
                words.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
            }
        }
    }
}

/// What to record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecorderSpec {
    /// The time between two sampling instants. Without it, queues and rates leave no rows, and links and flow samples
    /// one row each for the whole run.
    pub sample_every: Option<Span>,
    /// The tables links and starved.
    pub links: bool,
    /// The table queues.
    pub queues: bool,
    /// The table occupancy.
    pub occupancy: bool,
    /// The table rates.
    pub rates: bool,
    /// The table pauses.
    pub pauses: bool,
    /// The table drops.
    pub drops: bool,
    /// The table notices.
    pub notices: bool,
    /// The tables waits, wait_buckets and delays.
    pub waits: bool,
    /// The table queue_levels.
    pub levels: bool,
    /// The flows of which the delays of frames are kept one by one; these are no table.
    pub delays_of: Selection,
    /// The table flow_samples.
    pub flow_samples: bool,
    /// First and last delivery and delays in the table flows.
    pub deliveries: bool,
    /// The ports that links, queues, pauses, drops and waits are about.
    pub ports: Selection,
    /// The flows that flow_samples, rates, notices and deliveries are about.
    pub flows: Selection,
    /// The ports whose every frame is kept as it starts on the wire, for captures; these are no table.
    pub frames: Selection,
    /// The tables causes and roots: every event from which they are computed is kept. Events are no table.
    pub causes: bool,
    /// With `causes`: the flows whose every data frame is followed. Of others, the last one is.
    pub followed: Selection,
}

impl Default for RecorderSpec {
    /// Every 10 us, everything but waits and frames.
    fn default() -> RecorderSpec {
        RecorderSpec {
            sample_every: Some(Span::from_micros(10)),
            links: true,
            queues: true,
            occupancy: true,
            rates: true,
            pauses: true,
            drops: true,
            notices: true,
            waits: false,
            levels: false,
            delays_of: Selection::none(),
            flow_samples: true,
            deliveries: true,
            ports: Selection::All,
            flows: Selection::All,
            frames: Selection::none(),
            causes: false,
            followed: Selection::none(),
        }
    }
}

impl RecorderSpec {
    /// Nothing: a place to start from.
    #[must_use]
    pub fn nothing() -> RecorderSpec {
        RecorderSpec {
            sample_every: None,
            links: false,
            queues: false,
            occupancy: false,
            rates: false,
            pauses: false,
            drops: false,
            notices: false,
            waits: false,
            levels: false,
            delays_of: Selection::none(),
            flow_samples: false,
            deliveries: false,
            ports: Selection::All,
            flows: Selection::All,
            frames: Selection::none(),
            causes: false,
            followed: Selection::none(),
        }
    }

    /// Whether a table gets its rows. The tables of ports and flows always do.
    #[must_use]
    pub fn records(&self, table: &schema::Table) -> bool {
        let sampled = self.sample_every.is_some();
        match table.name {
            "flow_samples" => self.flow_samples,
            "links" | "starved" => self.links,
            "queues" => self.queues && sampled,
            "occupancy" => self.occupancy && sampled,
            "rates" => self.rates && sampled,
            "pauses" => self.pauses,
            "drops" => self.drops,
            "waits" | "wait_buckets" | "delays" => self.waits,
            "queue_levels" => self.levels && sampled,
            "notices" => self.notices,
            "causes" | "cause_samples" | "roots" | "trees" => self.causes,
            _ => true,
        }
    }
}

/// What a flow has delivered in this shard since the last sampling instant.
#[derive(Clone, Copy, Debug, Default)]
struct Fresh {
    bytes: u64,
    frames: u64,
}

/// A class that lacks credits at a port.
#[derive(Clone, Copy, Debug, Default)]
struct Starving {
    /// Since when, if it does now.
    since: Option<Time>,
    /// How long it has in this interval.
    starved: Span,
    /// Whether it is in the list of those with something to tell.
    told: bool,
}

/// The last row of a flow's allowance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Allowed {
    seen: bool,
    rate: Option<u64>,
    window: Option<u64>,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Recorder {
    spec: RecorderSpec,
    /// Rows it may hold before it is full.
    most: usize,
    rows: Rows,
    /// The latest sampling instant.
    sampled: Time,
    /// The latest instant at which anything was seen.
    latest: Time,
    /// By port; those with something to tell are in `active_ports`.
    meters: Table<Meter>,
    active_ports: Vec<u32>,
    /// By port and class; those with something to tell are in `starving_lanes`.
    starving: Table<Starving>,
    starving_lanes: Vec<usize>,
    /// By flow; those with something to tell are in `active_flows`.
    fresh: Scattered<Fresh>,
    active_flows: Vec<u32>,
    /// By flow; those with several frames are in `many_delivered`.
    deliveries: Scattered<Seen>,
    many_delivered: Vec<Delivery>,
    /// By port and class: what was last seen.
    queues: Table<(u32, u32)>,
    /// By port and class: which flows held how much.
    occupancy: Table<Vec<(u32, u32)>>,
    allowed: Scattered<Allowed>,
    /// By port and class: since when it has been paused.
    paused: Table<Option<Time>>,
    /// By port and class: how long frames waited, in picoseconds.
    waits: Table<Option<Box<Sketch>>>,
    /// By class: how long frames took from their source to their destination, in picoseconds.
    delays: Table<Option<Box<Sketch>>>,
    /// The same by flow, of those that are asked for.
    flow_delays: Scattered<Option<Box<Sketch>>>,
    follows_delays: bool,
    /// By port and class: lengths of output queues at sampling instants, without those of zero, and how many instants
    /// there were.
    levels: Table<Option<Box<Sketch>>>,
    samples: u64,
    /// Whether it keeps frames of any port.
    captures: bool,
    /// Whether it keeps frames or events: whether the start of a frame is more than counted.
    keeps: bool,
    /// By flow: the last state at its source, and the port.
    sources: Scattered<Option<(SourceState, u32)>>,
    /// The host that a frame was delivered to last.
    delivered_to: u32,
    /// Whether a host here may be slower than its links.
    receives: bool,
    /// The stamps and selective blocks of the frame that starts next.
    attachments: (Vec<Stamp>, Vec<(u32, u32)>),
}

fn lane(port: u32, class: u8) -> usize {
    port as usize * MAX_CLASSES + usize::from(class)
}

impl Recorder {
    /// A recorder for one shard.
    #[must_use]
    pub fn new(spec: RecorderSpec) -> Recorder {
        let captures = !spec.frames.is_none();
        let keeps = captures || spec.causes;
        let follows_delays = !spec.delays_of.is_none();
        Recorder {
            spec,
            most: usize::MAX,
            rows: Rows::default(),
            sampled: Time::ZERO,
            latest: Time::ZERO,
            meters: Table::default(),
            active_ports: Vec::new(),
            starving: Table::default(),
            starving_lanes: Vec::new(),
            fresh: Scattered::default(),
            active_flows: Vec::new(),
            deliveries: Scattered::default(),
            many_delivered: Vec::new(),
            queues: Table::default(),
            occupancy: Table::default(),
            allowed: Scattered::default(),
            paused: Table::default(),
            waits: Table::default(),
            delays: Table::default(),
            flow_delays: Scattered::default(),
            follows_delays,
            levels: Table::default(),
            samples: 0,
            captures,
            keeps,
            sources: Scattered::default(),
            delivered_to: 0,
            receives: false,
            attachments: Default::default(),
        }
    }

    /// The same, full with so many rows: it then wants to be emptied before the next inspection.
    #[must_use]
    pub fn holding(mut self, rows: usize) -> Recorder {
        self.most = rows.max(1);
        self
    }

    /// Takes out what was recorded in this shard, in no particular order; [`drain`] takes it from all shards in order.
    pub fn take(&mut self) -> Rows {
        std::mem::take(&mut self.rows)
    }

    /// How long the wire of a port has been in use up to now; nothing if the port is in another shard, or links are not
    /// recorded.
    #[must_use]
    pub fn busy(&self, port: u32, now: Time) -> Span {
        self.meters.get(port as usize).map_or(Span::ZERO, |meter| meter.busy(now))
    }

    /// How long a port with frames to send has stood still for want of credits up to now; nothing if the port is in
    /// another shard, or links are not recorded.
    #[must_use]
    pub fn starved(&self, port: u32, now: Time) -> Span {
        self.meters.get(port as usize).map_or(Span::ZERO, |meter| meter.starved(now))
    }

    /// The sums of a port that has something to tell.
    #[inline]
    fn meter(&mut self, port: u32) -> &mut Meter {
        let meter = self.meters.entry(port as usize);
        if !meter.active {
            meter.active = true;
            self.active_ports.push(port);
        }
        meter
    }

    /// Frames of a class at a port lack credits no more.
    #[inline]
    fn feed(&mut self, now: Time, port: u32, class: u8) {
        if let Some(starving) = self.starving.get_mut(lane(port, class))
            && let Some(since) = starving.since.take()
        {
            starving.starved += now.saturating_since(since);
        }
    }

    /// Writes the rows of links and flows for the interval that ends now. Sampling is the last thing to happen at an
    /// instant, so everything of this instant has been counted.
    fn close_interval(&mut self, now: Time) {
        let interval = now.saturating_since(self.sampled);
        self.sampled = now;
        let (meters, rows) = (&mut self.meters, &mut self.rows);
        self.active_ports.retain(|&port| {
            let meter = meters.entry(port as usize);
            rows.links.extend(meter.close(now, port, interval));
            meter.active
        });
        let starving = &mut self.starving;
        self.starving_lanes.retain(|&place| {
            let Starving { since, starved, told } = starving.entry(place);
            if let Some(since) = since {
                *starved += now.saturating_since(*since);
                *since = now;
            }
            if *starved > Span::ZERO {
                let (port, class) = ((place / MAX_CLASSES) as u32, (place % MAX_CLASSES) as u8);
                rows.starved.push(StarvedRow { time: now, port, class, interval, starved: std::mem::take(starved) });
            }
            *told = since.is_some();
            *told
        });
        for flow in self.active_flows.drain(..) {
            let Fresh { bytes, frames } = self.fresh.remove(flow as usize);
            self.rows.flow_samples.push(FlowSample { time: now, flow, interval, bytes, frames });
        }
    }

    /// The run has ended at `end`: closes the last interval and the pauses that last.
    fn close(&mut self, end: Time) {
        if end > self.sampled || !self.active_flows.is_empty() {
            self.close_interval(end);
        }
        for (place, paused) in self.paused.iter_mut() {
            if let Some(start) = paused.take() {
                let (port, class) = ((place / MAX_CLASSES) as u32, (place % MAX_CLASSES) as u8);
                self.rows.pauses.push(PauseRow { start, end, port, class, cut_off: true });
            }
        }
    }
}

impl Probe for Recorder {
    machine_of_this_crate!();

    fn is_full(&self) -> bool {
        self.rows.len() >= self.most
    }

    fn sample_every(&self) -> Option<Span> {
        let spec = &self.spec;
        let wanted = spec.links || spec.queues || spec.levels || spec.occupancy || spec.rates || spec.flow_samples;
        spec.sample_every.filter(|&every| wanted && every > Span::ZERO)
    }

    fn wants_rates(&self) -> bool {
        self.spec.rates
    }

    #[inline]
    fn on_transmit(&mut self, now: Time, port: u32, frame: &Frame, waited: Span, busy: Span) {
        if self.keeps {
            self.keep_start(now, port, frame, busy);
        }
        if !self.spec.ports.contains(port) {
            return;
        }
        self.latest = now;
        if self.spec.links {
            self.meter(port).note(now, frame.len, busy);
            if !frame.is_link_local() {
                self.feed(now, port, frame.class);
            }
        }
        if self.spec.waits && (matches!(frame.kind, Kind::Data | Kind::Acknowledgement) || frame.is_reply()) {
            self.waits.entry(lane(port, frame.class)).get_or_insert_default().note(waited.as_picos());
        }
    }

    fn wants_attachments(&self) -> bool {
        self.captures
    }

    fn on_attachments(&mut self, stamps: &[Stamp], blocks: &[(u32, u32)]) {
        self.attachments.0.clear();
        self.attachments.0.extend_from_slice(stamps);
        self.attachments.1.clear();
        self.attachments.1.extend_from_slice(blocks);
    }

    fn wants_starving(&self) -> bool {
        self.spec.links || self.spec.causes
    }

    fn on_starve(&mut self, now: Time, port: u32, classes: u8, still: bool) {
        if self.spec.causes {
            self.keep_change(now, Happening::Starved, port, classes);
        }
        if !self.spec.links || !self.spec.ports.contains(port) {
            return;
        }
        self.latest = now;
        if still {
            self.meter(port).starve(now);
        }
        for class in (0..MAX_CLASSES as u8).filter(|class| classes >> class & 1 == 1) {
            let starving = self.starving.entry(lane(port, class));
            starving.since.get_or_insert(now);
            if !std::mem::replace(&mut starving.told, true) {
                self.starving_lanes.push(lane(port, class));
            }
        }
    }

    fn on_credits(&mut self, now: Time, port: u32, classes: u8) {
        if self.spec.causes {
            self.keep_change(now, Happening::Credits, port, classes);
        }
        if let Some(meter) = self.meters.get_mut(port as usize) {
            meter.feed(now);
        }
        for class in (0..MAX_CLASSES as u8).filter(|class| classes >> class & 1 == 1) {
            self.feed(now, port, class);
        }
    }

    #[inline]
    fn on_deliver(&mut self, now: Time, host: u32, frame: &Frame) {
        if self.spec.causes {
            self.keep_delivery(now, host, frame);
        }
        if !self.spec.flows.contains(frame.flow) {
            return;
        }
        self.latest = now;
        if self.spec.flow_samples {
            let fresh = self.fresh.entry(frame.flow as usize);
            if fresh.frames == 0 {
                self.active_flows.push(frame.flow);
            }
            fresh.frames += 1;
            fresh.bytes += u64::from(frame.len);
        }
        let delay = now.saturating_since(frame.born());
        if self.spec.deliveries {
            self.deliveries.entry(frame.flow as usize).note(&mut self.many_delivered, now, delay);
        }
        if self.spec.waits {
            self.delays.entry(frame.class.into()).get_or_insert_default().note(delay.as_picos());
        }
        if self.follows_delays && self.spec.delays_of.contains(frame.flow) {
            self.flow_delays.entry(frame.flow as usize).get_or_insert_default().note(delay.as_picos());
        }
    }

    fn on_complete(&mut self, now: Time, flow: u32) {
        if self.spec.causes {
            self.keep_completion(now, flow);
        }
    }

    fn on_drop(&mut self, now: Time, port: u32, frame: &Frame, cause: DropCause) {
        let output = (cause.is_for_want_of_room() && frame.output != u16::MAX).then_some(frame.output);
        if self.spec.causes {
            self.keep_drop(now, Happening::Dropped, port, frame, output);
        }
        if !self.spec.drops || !self.spec.ports.contains(port) {
            return;
        }
        self.latest = now;
        let flow = (frame.flow != u32::MAX).then_some(frame.flow);
        let Frame { class, len: length, kind, .. } = *frame;
        self.rows.drops.push(DropRow { time: now, port, flow, class, length, kind, cause, output });
    }

    fn on_pause(&mut self, now: Time, port: u32, classes: u8, paused: bool) {
        if self.spec.causes {
            self.keep_change(now, if paused { Happening::Paused } else { Happening::Resumed }, port, classes);
        }
        if !self.spec.pauses || !self.spec.ports.contains(port) {
            return;
        }
        self.latest = now;
        for class in (0..MAX_CLASSES as u8).filter(|class| classes >> class & 1 == 1) {
            let since = self.paused.entry(lane(port, class));
            if paused {
                since.get_or_insert(now);
            } else if let Some(start) = since.take() {
                self.rows.pauses.push(PauseRow { start, end: now, port, class, cut_off: false });
            }
        }
    }

    fn on_mark(&mut self, now: Time, port: u32, frame: &Frame) {
        self.keep_signal(now, Happening::Marked, port, frame.flow);
    }

    fn on_notice(&mut self, now: Time, flow: u32, notice: &Notice) {
        self.keep_signal(now, Happening::Noticed, notice.port, flow);
        if !self.spec.notices || !self.spec.flows.contains(flow) {
            return;
        }
        self.latest = now;
        let Notice { feedback, port, class, offset, growth, .. } = *notice;
        self.rows.notices.push(NoticeRow { time: now, flow, port, class, feedback, offset, growth });
    }

    #[inline]
    fn wants_causes(&self) -> bool {
        self.spec.causes
    }

    fn on_join(&mut self, now: Time, input: u32, output: u32, frame: &Frame) {
        self.keep_place(now, Happening::Joined, input, output, frame);
    }

    fn on_leave(&mut self, now: Time, input: u32, output: u32, frame: &Frame, crossed: bool) {
        self.keep_place(now, if crossed { Happening::Crossed } else { Happening::Left }, input, output, frame);
    }

    fn on_receive(&mut self, now: Time, port: u32, frame: &Frame) {
        self.keep_place(now, Happening::Received, port, port, frame);
    }

    fn on_discard(&mut self, now: Time, host: u32, frame: &Frame) {
        self.keep_drop(now, Happening::Discarded, HOST | host, frame, None);
    }

    fn on_source(&mut self, now: Time, port: u32, flow: u32, state: SourceState) {
        self.keep_source(now, port, flow, state);
    }

    fn on_cable(&mut self, now: Time, port: u32, up: bool) {
        self.keep_change(now, if up { Happening::Up } else { Happening::Down }, port, u8::MAX);
    }

    fn on_queue(&mut self, now: Time, sample: QueueSample) {
        if now != self.sampled {
            self.latest = now;
            self.close_interval(now);
            self.samples += 1;
        }
        if !self.spec.ports.contains(sample.port) {
            return;
        }
        if self.spec.levels && sample.output_bytes > 0 {
            let level = self.levels.entry(lane(sample.port, sample.class));
            level.get_or_insert_default().note(sample.output_bytes.into());
        }
        if !self.spec.queues {
            return;
        }
        let seen = self.queues.entry(lane(sample.port, sample.class));
        if *seen != (sample.output_bytes, sample.input_held) {
            *seen = (sample.output_bytes, sample.input_held);
            self.rows.queues.push(QueueRow { time: now, queue: sample });
        }
    }

    fn on_occupancy(&mut self, now: Time, port: u32, class: u8, held: &[(u32, u32)]) {
        if !self.spec.occupancy || !self.spec.ports.contains(port) {
            return;
        }
        let before = self.occupancy.entry(lane(port, class));
        // Both are in order of flows; what is in neither holds nothing.
        let gone = before.iter().filter(|(flow, _)| held.binary_search_by_key(flow, |it| it.0).is_err());
        let mut changed: Vec<(u32, u32)> = gone.map(|&(flow, _)| (flow, 0)).collect();
        changed.extend(held.iter().filter(|it| before.binary_search(it).is_err()));
        let row = |(flow, bytes): (u32, u32)| OccupancyRow { time: now, port, class, flow, bytes };
        self.rows.occupancy.extend(changed.into_iter().map(row));
        held.clone_into(before);
    }

    fn on_rate(&mut self, now: Time, flow: u32, rate: Option<u64>, window: Option<u64>) {
        if !self.spec.rates || !self.spec.flows.contains(flow) {
            return;
        }
        let allowed = self.allowed.entry(flow as usize);
        let told = Allowed { seen: true, rate, window };
        if *allowed != told {
            *allowed = told;
            self.rows.rates.push(RateRow { time: now, flow, rate, window });
        }
    }
}

/// Takes out what all shards have recorded, in the order of the tables. At an inspection everything before it has
/// happened in every shard, so what is drained later never belongs before what was drained earlier.
pub fn drain(recorders: &mut [&mut Recorder]) -> Rows {
    Rows::merge(recorders.iter_mut().map(|recorder| recorder.take()))
}

/// The same for what was recorded before an instant up to which every shard has come: the rest belongs behind what other
/// shards will record.
pub fn drain_before(recorders: &mut [&mut Recorder], now: Time) -> Rows {
    Rows::merge(recorders.iter_mut().map(|recorder| recorder.rows.take_before(now)))
}

/// Takes out what the shards of all ranks have recorded, like [`drain`]. All ranks call this; the first one gets the
/// rows, the others none.
pub fn drain_among(ranks: &mut dyn Ranks, recorders: &mut [&mut Recorder]) -> Rows {
    drain(recorders).gather(ranks)
}

/// Takes out what the shards of all ranks have recorded before an instant, like [`drain_before`]. All ranks call this; the
/// first one gets the rows, the others none.
pub fn drain_before_among(ranks: &mut dyn Ranks, recorders: &mut [&mut Recorder], now: Time) -> Rows {
    drain_before(recorders, now).gather(ranks)
}

#[cfg(test)]
mod tests;
