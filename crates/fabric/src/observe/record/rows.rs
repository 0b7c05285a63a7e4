//! Rows of the tables, and the one order in which they leave, whatever the partitioning was.

use super::events::Event;
use super::schema::{self, Table};
use crate::machine::frame::telemetry::{Hop, hop, stamp};
use crate::machine::frame::{Frame, Kind};
use crate::observe::probe::DropCause;
use engine::Encode;
use units::{Span, Time};

/// One cell on its way into a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// Empty.
    Null,
    /// See [`schema::Kind::Integer`].
    Integer(i64),
    /// See [`schema::Kind::Real`].
    Real(f64),
    /// See [`schema::Kind::Text`].
    Text(&'a str),
    /// See [`schema::Kind::Flag`].
    Flag(bool),
}

impl Cell<'_> {
    /// A count; one too large becomes the largest there is.
    #[must_use]
    pub fn count(value: impl TryInto<i64>) -> Cell<'static> {
        Cell::Integer(value.try_into().unwrap_or(i64::MAX))
    }

    /// An instant.
    #[must_use]
    pub fn at(time: Time) -> Cell<'static> {
        Cell::count(time.as_picos())
    }

    /// A length of time.
    #[must_use]
    pub fn span(span: Span) -> Cell<'static> {
        Cell::count(span.as_picos())
    }

    /// The cell of a value that may be absent.
    #[must_use]
    pub fn maybe<T>(value: Option<T>, cell: impl FnOnce(T) -> Self) -> Self {
        value.map_or(Cell::Null, cell)
    }
}

/// A row of a known table.
pub trait Row {
    /// The table it belongs to.
    const TABLE: &'static Table;
    /// Hands out its cells in the order of the table's columns.
    fn cells(&self, put: &mut impl FnMut(Cell<'_>));
}

/// Amount per second.
fn per_second(amount: u64, span: Span) -> f64 {
    if span == Span::ZERO { 0.0 } else { amount as f64 * 1e12 / span.as_picos() as f64 }
}

/// See [`schema::FLOW_SAMPLES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowSample {
    /// The sampling instant.
    pub time: Time,
    /// The flow.
    pub flow: u32,
    /// What is summed.
    pub interval: Span,
    /// Bytes consumed in it.
    pub bytes: u64,
    /// Frames consumed in it.
    pub frames: u64,
}

engine::encoded!(struct FlowSample { time, flow, interval, bytes, frames });

impl Row for FlowSample {
    const TABLE: &'static Table = &schema::FLOW_SAMPLES;
    fn cells(&self, put: &mut impl FnMut(Cell<'_>)) {
        put(Cell::at(self.time));
        put(Cell::count(self.flow));
        put(Cell::span(self.interval));
        put(Cell::count(self.bytes));
        put(Cell::count(self.frames));
        put(Cell::Real(per_second(self.bytes * 8, self.interval)));
    }
}

/// See [`schema::LINKS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkSample {
    /// The sampling instant.
    pub time: Time,
    /// The sending port.
    pub port: u32,
    /// What is summed.
    pub interval: Span,
    /// Bytes sent in it.
    pub bytes: u64,
    /// Frames started in it.
    pub frames: u64,
    /// Time in it during which the wire was in use.
    pub busy: Span,
    /// Bytes since the start of the run.
    pub total_bytes: u64,
    /// Time in it during which frames waited and lacked credits.
    pub starved: Span,
}

engine::encoded!(struct LinkSample { time, port, interval, bytes, frames, busy, total_bytes, starved });

impl Row for LinkSample {
    const TABLE: &'static Table = &schema::LINKS;
    fn cells(&self, put: &mut impl FnMut(Cell<'_>)) {
        put(Cell::at(self.time));
        put(Cell::count(self.port));
        put(Cell::span(self.interval));
        put(Cell::count(self.bytes));
        put(Cell::count(self.frames));
        put(Cell::span(self.busy));
        put(Cell::count(self.total_bytes));
        put(Cell::Real(per_second(self.busy.as_picos(), self.interval) / 1e12));
        put(Cell::Real(per_second(self.bytes * 8, self.interval)));
        put(Cell::span(self.starved));
    }
}

/// See [`schema::STARVED`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StarvedRow {
    /// The sampling instant.
    pub time: Time,
    /// The sending port.
    pub port: u32,
    /// Class.
    pub class: u8,
    /// What is summed.
    pub interval: Span,
    /// Time in it during which frames of the class lacked credits.
    pub starved: Span,
}

engine::encoded!(struct StarvedRow { time, port, class, interval, starved });

impl Row for StarvedRow {
    const TABLE: &'static Table = &schema::STARVED;
    fn cells(&self, put: &mut impl FnMut(Cell<'_>)) {
        put(Cell::at(self.time));
        put(Cell::count(self.port));
        put(Cell::count(self.class));
        put(Cell::span(self.interval));
        put(Cell::span(self.starved));
    }
}

/// See [`schema::QUEUES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueRow {
    /// The sampling instant.
    pub time: Time,
    /// What was seen.
    pub queue: crate::observe::probe::QueueSample,
}

engine::encoded!(struct QueueRow { time, queue });

impl Row for QueueRow {
    const TABLE: &'static Table = &schema::QUEUES;
    fn cells(&self, put: &mut impl FnMut(Cell<'_>)) {
        put(Cell::at(self.time));
        put(Cell::count(self.queue.port));
        put(Cell::count(self.queue.class));
        put(Cell::count(self.queue.output_bytes));
        put(Cell::count(self.queue.input_held));
    }
}

/// See [`schema::RATES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateRow {
    /// The sampling instant.
    pub time: Time,
    /// The flow.
    pub flow: u32,
    /// Bits per second, if limited.
    pub rate: Option<u64>,
    /// Bytes, if limited.
    pub window: Option<u64>,
}

engine::encoded!(struct RateRow { time, flow, rate, window });

impl Row for RateRow {
    const TABLE: &'static Table = &schema::RATES;
    fn cells(&self, put: &mut impl FnMut(Cell<'_>)) {
        put(Cell::at(self.time));
        put(Cell::count(self.flow));
        put(Cell::maybe(self.rate, Cell::count));
        put(Cell::maybe(self.window, Cell::count));
    }
}

/// See [`schema::PAUSES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseRow {
    /// When the port began to obey.
    pub start: Time,
    /// When it might send again.
    pub end: Time,
    /// The port that had to stop.
    pub port: u32,
    /// Class.
    pub class: u8,
    /// Whether the run ended first.
    pub cut_off: bool,
}

engine::encoded!(struct PauseRow { start, end, port, class, cut_off });

impl Row for PauseRow {
    const TABLE: &'static Table = &schema::PAUSES;
    fn cells(&self, put: &mut impl FnMut(Cell<'_>)) {
        put(Cell::at(self.start));
        put(Cell::at(self.end));
        put(Cell::count(self.port));
        put(Cell::count(self.class));
        put(Cell::Flag(self.cut_off));
    }
}

/// See [`schema::DROPS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DropRow {
    /// When.
    pub time: Time,
    /// Where.
    pub port: u32,
    /// Whose, unless it was for the neighbour only.
    pub flow: Option<u32>,
    /// Class.
    pub class: u8,
    /// Bytes.
    pub length: u16,
    /// What the frame was for.
    pub kind: Kind,
    /// Why.
    pub cause: DropCause,
    /// Number on its switch of the output whose queue it was for, if it was dropped or trimmed there.
    pub output: Option<u16>,
}

engine::encoded!(struct DropRow { time, port, flow, class, length, kind, cause, output });

impl Row for DropRow {
    const TABLE: &'static Table = &schema::DROPS;
    fn cells(&self, put: &mut impl FnMut(Cell<'_>)) {
        put(Cell::at(self.time));
        put(Cell::count(self.port));
        put(Cell::maybe(self.flow, Cell::count));
        put(Cell::count(self.class));
        put(Cell::count(self.length));
        put(Cell::Text(match self.kind {
            Kind::Data => "data",
            Kind::Acknowledgement => "acknowledgement",
            Kind::Pause => "pause",
            Kind::Credit => "credit",
            Kind::Notice => "notice",
            Kind::Receipt => "receipt",
            Kind::Trimmed => "trimmed",
            Kind::Probe => "probe",
            Kind::Answer => "answer",
            Kind::CumulativeAcknowledgement => "acknowledgement",
            Kind::NegativeAcknowledgement => "nak",
            Kind::TrimmedAcknowledgement => "trimmed-acknowledgement",
            Kind::CongestionNotification => "cnp",
            Kind::Pull => "pull",
            Kind::Returned => "returned",
        }));
        put(Cell::Text(match self.cause {
            DropCause::Full => "full",
            DropCause::Early => "early",
            DropCause::Trimmed => "trimmed",
            DropCause::Corrupt => "corrupt",
            DropCause::LinkDown => "link-down",
            DropCause::PauseLost => "pause-lost",
            DropCause::Unreachable => "unreachable",
            DropCause::AtSource => "at-source",
            DropCause::Watchdog => "watchdog",
        }));
        put(Cell::maybe(self.output, Cell::count));
    }
}

/// A row of the table notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoticeRow {
    /// When it reached the source.
    pub time: Time,
    /// The flow it is about.
    pub flow: u32,
    /// Port of the congestion point.
    pub port: u32,
    /// Its class.
    pub class: u8,
    /// Quantised feedback.
    pub feedback: u8,
    /// The set point less the queue.
    pub offset: i32,
    /// How much the queue had grown.
    pub growth: i32,
}

engine::encoded!(struct NoticeRow { time, flow, port, class, feedback, offset, growth });

impl Row for NoticeRow {
    const TABLE: &'static Table = &schema::NOTICES;
    fn cells(&self, put: &mut impl FnMut(Cell<'_>)) {
        put(Cell::at(self.time));
        put(Cell::count(self.flow));
        put(Cell::count(self.port));
        put(Cell::count(self.class));
        put(Cell::count(self.feedback));
        put(Cell::Real(f64::from(self.offset)));
        put(Cell::Real(f64::from(self.growth)));
    }
}

/// A row of the table occupancy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OccupancyRow {
    /// The sampling instant.
    pub time: Time,
    /// Port.
    pub port: u32,
    /// Class.
    pub class: u8,
    /// Flow.
    pub flow: u32,
    /// Bytes it holds.
    pub bytes: u32,
}

engine::encoded!(struct OccupancyRow { time, port, class, flow, bytes });

impl Row for OccupancyRow {
    const TABLE: &'static Table = &schema::OCCUPANCY;
    fn cells(&self, put: &mut impl FnMut(Cell<'_>)) {
        put(Cell::at(self.time));
        put(Cell::count(self.port));
        put(Cell::count(self.class));
        put(Cell::count(self.flow));
        put(Cell::count(self.bytes));
    }
}

/// A frame that starts on a wire. It goes into no table: what a capture makes of it is the caller's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameRow {
    /// When its first bit leaves.
    pub time: Time,
    /// The sending port.
    pub port: u32,
    /// The frame.
    pub frame: Frame,
    /// Its telemetry.
    pub stamps: Vec<congestion::Stamp>,
    /// Its selective blocks; see [`Probe::on_attachments`](crate::Probe::on_attachments).
    pub blocks: Vec<(u32, u32)>,
}

impl Encode for FrameRow {
    fn encode(&self, out: &mut Vec<u8>) {
        let FrameRow { time, port, frame, stamps, blocks } = self;
        (*time, *port, *frame).encode(out);
        stamps.iter().map(hop).collect::<Vec<Hop>>().encode(out);
        blocks.encode(out);
    }

    fn decode(input: &mut &[u8]) -> Option<FrameRow> {
        let (time, port, frame) = Encode::decode(input)?;
        let hops: Vec<Hop> = Encode::decode(input)?;
        let stamps = hops.into_iter().map(stamp).collect();
        Some(FrameRow { time, port, frame, stamps, blocks: Encode::decode(input)? })
    }
}

/// What was recorded since the last time it was taken out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// Of the table flow_samples.
    pub flow_samples: Vec<FlowSample>,
    /// Of the table links.
    pub links: Vec<LinkSample>,
    /// Of the table starved.
    pub starved: Vec<StarvedRow>,
    /// Of the table queues.
    pub queues: Vec<QueueRow>,
    /// Of the table rates.
    pub rates: Vec<RateRow>,
    /// Of the table pauses.
    pub pauses: Vec<PauseRow>,
    /// Of the table drops.
    pub drops: Vec<DropRow>,
    /// Of the table notices.
    pub notices: Vec<NoticeRow>,
    /// Of the table occupancy.
    pub occupancy: Vec<OccupancyRow>,
    /// Frames of the ports that are captured.
    pub frames: Vec<FrameRow>,
    /// What happened, for causes: in order of time in each shard, shard after shard.
    pub events: Vec<Event>,
}

engine::encoded!(struct Rows { flow_samples, links, starved, queues, rates, pauses, drops, notices, occupancy, frames, events });

impl Rows {
    /// Puts the rows of all shards into the order of their tables. A port and a flow's source belong to one shard, so
    /// only what a flow delivers to several hosts has to be added up.
    #[must_use]
    pub fn merge(shards: impl IntoIterator<Item = Rows>) -> Rows {
        let mut shards = shards.into_iter();
        let mut all = shards.next().unwrap_or_default();
        for mut rows in shards {
            all.flow_samples.append(&mut rows.flow_samples);
            all.links.append(&mut rows.links);
            all.starved.append(&mut rows.starved);
            all.queues.append(&mut rows.queues);
            all.rates.append(&mut rows.rates);
            all.pauses.append(&mut rows.pauses);
            all.drops.append(&mut rows.drops);
            all.notices.append(&mut rows.notices);
            all.occupancy.append(&mut rows.occupancy);
            all.frames.append(&mut rows.frames);
            all.events.append(&mut rows.events);
        }
        all.flow_samples.sort_by_key(|row| (row.time, row.flow));
        all.flow_samples.dedup_by(|later, kept| {
            let same = (later.time, later.flow) == (kept.time, kept.flow);
            if same {
                kept.bytes += later.bytes;
                kept.frames += later.frames;
            }
            same
        });
        all.links.sort_by_key(|row| (row.time, row.port));
        all.starved.sort_by_key(|row| (row.time, row.port, row.class));
        all.queues.sort_by_key(|row| (row.time, row.queue.port, row.queue.class));
        all.rates.sort_by_key(|row| (row.time, row.flow));
        all.pauses.sort_by_key(|row| (row.end, row.port, row.class));
        // Drops of one port at one instant stay in the order in which they happened: the sort is stable.
        all.drops.sort_by_key(|row| (row.time, row.port));
        all.notices.sort_by_key(|row| (row.time, row.flow));
        all.occupancy.sort_by_key(|row| (row.time, row.port, row.class, row.flow));
        // A port sends one frame at a time.
        all.frames.sort_by_key(|row| (row.time, row.port));
        all
    }

    /// Brings the rows of all ranks to the first one, in the order of the tables; the others are left with none.
    pub(super) fn gather(self, ranks: &mut dyn engine::Ranks) -> Rows {
        let parts = engine::reduce(ranks, vec![self], |parts: &mut Vec<Rows>, mut more| parts.append(&mut more));
        match parts {
            // In the order of the tables already.
            Some(mut parts) if parts.len() == 1 => parts.swap_remove(0),
            Some(parts) => Rows::merge(parts),
            None => Rows::default(),
        }
    }

    /// Takes out the rows of before an instant. Rows of one shard are in order of time as they come.
    pub(super) fn take_before(&mut self, now: Time) -> Rows {
        fn take<T>(rows: &mut Vec<T>, now: Time, at: impl Fn(&T) -> Time) -> Vec<T> {
            debug_assert!(rows.is_sorted_by_key(&at), "rows come in order of time");
            let later = rows.split_off(rows.partition_point(|row| at(row) < now));
            std::mem::replace(rows, later)
        }
        Rows {
            flow_samples: take(&mut self.flow_samples, now, |row| row.time),
            links: take(&mut self.links, now, |row| row.time),
            starved: take(&mut self.starved, now, |row| row.time),
            queues: take(&mut self.queues, now, |row| row.time),
            rates: take(&mut self.rates, now, |row| row.time),
            pauses: take(&mut self.pauses, now, |row| row.end),
            drops: take(&mut self.drops, now, |row| row.time),
            notices: take(&mut self.notices, now, |row| row.time),
            occupancy: take(&mut self.occupancy, now, |row| row.time),
            frames: take(&mut self.frames, now, |row| row.time),
            events: take(&mut self.events, now, |row| row.time),
        }
    }

    /// How many rows there are in all tables, and frames.
    #[must_use]
    pub fn len(&self) -> usize {
        self.flow_samples.len()
            + self.links.len()
            + self.starved.len()
            + self.queues.len()
            + self.rates.len()
            + self.pauses.len()
            + self.drops.len()
            + self.notices.len()
            + self.occupancy.len()
            + self.frames.len()
            + self.events.len()
    }

    /// Whether there is no row at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
pub(super) fn fits<R: Row>(row: &R) {
    use super::schema::Kind as Holds;
    let mut place = 0;
    row.cells(&mut |cell| {
        let column = &R::TABLE.columns[place];
        let fits = match cell {
            Cell::Null => column.nullable,
            Cell::Integer(_) => column.kind == Holds::Integer,
            Cell::Real(value) => column.kind == Holds::Real && value.is_finite(),
            Cell::Text(_) => column.kind == Holds::Text,
            Cell::Flag(_) => column.kind == Holds::Flag,
        };
        assert!(fits, "{}.{}: {cell:?}", R::TABLE.name, column.name);
        place += 1;
    });
    assert_eq!(place, R::TABLE.columns.len(), "{}", R::TABLE.name);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(time: u64, flow: u32, bytes: u64) -> FlowSample {
        FlowSample { time: Time::from_picos(time), flow, interval: Span::from_picos(1000), bytes, frames: 1 }
    }

    #[test]
    fn rows_fit_their_tables() {
        let time = Time::from_picos(u64::MAX);
        let queue = crate::observe::probe::QueueSample { port: 1, class: 0, output_bytes: 2, input_held: 3 };
        fits(&sample(5, 1, 1500));
        fits(&FlowSample { interval: Span::ZERO, ..sample(5, 1, 1500) });
        let (interval, busy) = (Span::from_picos(8), Span::from_picos(4));
        fits(&LinkSample { time, port: 0, interval, bytes: 1, frames: 1, busy, total_bytes: 1, starved: busy });
        fits(&StarvedRow { time, port: 0, class: 7, interval, starved: busy });
        fits(&QueueRow { time, queue });
        fits(&RateRow { time, flow: 0, rate: None, window: Some(u64::MAX) });
        fits(&PauseRow { start: time, end: time, port: 1, class: 7, cut_off: true });
        let (kind, cause) = (Kind::Pause, DropCause::Corrupt);
        fits(&DropRow { time, port: 0, flow: None, class: 0, length: 64, kind, cause, output: None });
        fits(&OccupancyRow { time, port: 1, class: 0, flow: 2, bytes: 3 });
        fits(&NoticeRow { time, flow: 1, port: 2, class: 0, feedback: 63, offset: -1, growth: i32::MIN });
    }

    #[test]
    fn deliveries_of_one_flow_in_two_shards_are_one_row() {
        let one = Rows { flow_samples: vec![sample(1000, 3, 100), sample(1000, 1, 7)], ..Rows::default() };
        let two = Rows { flow_samples: vec![sample(1000, 3, 50), sample(2000, 1, 9)], ..Rows::default() };
        let merged = Rows::merge([one, two]);
        let bytes: Vec<_> = merged.flow_samples.iter().map(|row| (row.flow, row.bytes, row.frames)).collect();
        assert_eq!(bytes, [(1, 7, 1), (3, 150, 2), (1, 9, 1)]);
        assert_eq!(merged.len(), 3);
        assert!(!merged.is_empty());
    }

    #[test]
    fn utilisation_is_a_part_of_one() {
        let (interval, busy) = (Span::from_nanos(1000), Span::from_nanos(250));
        let (time, starved) = (Time::ZERO, Span::ZERO);
        let row = LinkSample { time, port: 0, interval, bytes: 125, frames: 1, busy, total_bytes: 125, starved };
        let mut reals = Vec::new();
        row.cells(&mut |cell| {
            if let Cell::Real(value) = cell {
                reals.push(value);
            }
        });
        assert_eq!(reals, [0.25, 1e9]);
    }
}
