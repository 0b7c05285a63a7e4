//! What is known once a run has ended, and what is known before it began: flows, waits, ports.

use super::deliveries::Deliveries;
use super::rows::{Cell, Row};
use super::schema::{self, Table};
use super::sketch::Sketch;
use crate::describe::graph::Graph;
use crate::describe::spec::NetworkSpec;
use crate::describe::workload::Destination;
use crate::observe::flow_summary::FlowSummary;
use units::{Span, Time};

/// See [`schema::PORTS`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortRow {
    /// Global number.
    pub port: u32,
    /// Node and number on it.
    pub name: String,
    /// Name of its node.
    pub node: String,
    /// Number on that node.
    pub number: u16,
    /// Global number of the far end.
    pub peer_port: u32,
    /// Name of the node there.
    pub peer: String,
    /// Bits per second.
    pub rate: u64,
    /// Propagation delay.
    pub latency: Span,
}

impl Row for PortRow {
    const TABLE: &'static Table = &schema::PORTS;
    fn cells(&self, put: &mut impl FnMut(Cell<'_>)) {
        put(Cell::count(self.port));
        put(Cell::Text(&self.name));
        put(Cell::Text(&self.node));
        put(Cell::count(self.number));
        put(Cell::count(self.peer_port));
        put(Cell::Text(&self.peer));
        put(Cell::count(self.rate));
        put(Cell::span(self.latency));
    }
}

/// The ports of a network, in order.
#[must_use]
pub fn port_rows(graph: &Graph) -> Vec<PortRow> {
    let ports = graph.ports();
    let mut first = 0;
    let firsts: Vec<u32> = ports
        .iter()
        .map(|ends| {
            let here = first;
            first += ends.len() as u32;
            here
        })
        .collect();
    let mut rows = Vec::with_capacity(first as usize);
    for (node, ends) in ports.iter().enumerate() {
        let name = &graph.nodes[node].name;
        for (number, end) in (0u16..).zip(ends) {
            let link = &graph.cables[end.cable as usize].link;
            let peer = end.peer.0 as usize;
            rows.push(PortRow {
                port: rows.len() as u32,
                name: format!("{name}:{number}"),
                node: name.clone(),
                number,
                peer_port: firsts[peer] + u32::from(end.peer_port),
                peer: graph.nodes[peer].name.clone(),
                rate: link.rate.as_bits_per_sec(),
                latency: link.latency,
            });
        }
    }
    rows
}

/// What destinations saw of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// Frames consumed.
    pub frames: u64,
    /// When the first was.
    pub first: Time,
    /// When the latest was.
    pub last: Time,
    /// Sum of the times from making to consumption, in picoseconds.
    pub delays: u128,
    /// The longest of them.
    pub longest: Span,
}

engine::encoded!(struct Delivery { frames, first, last, delays, longest });

impl Delivery {
    #[inline]
    pub(super) fn note(&mut self, now: Time, delay: Span) {
        if self.frames == 0 {
            self.first = now;
        }
        self.frames += 1;
        self.last = now;
        self.delays += u128::from(delay.as_picos());
        self.longest = self.longest.max(delay);
    }

    pub(super) fn add(&mut self, other: &Delivery) {
        if other.frames == 0 {
            return;
        }
        self.first = if self.frames == 0 { other.first } else { self.first.min(other.first) };
        self.last = self.last.max(other.last);
        self.frames += other.frames;
        self.delays += other.delays;
        self.longest = self.longest.max(other.longest);
    }
}

/// See [`schema::FLOWS`].
#[derive(Clone, Debug, PartialEq)]
pub struct FlowRow {
    /// Number.
    pub flow: u32,
    /// Name; "source->destination" unless the caller knows better.
    pub name: String,
    /// Name of the sending host.
    pub source: String,
    /// Name of the receiving host, if it is one.
    pub destination: Option<String>,
    /// Class.
    pub class: u8,
    /// When it began; if it has not, when it may.
    pub start: Time,
    /// When its source stops, if that was set.
    pub stop: Option<Time>,
    /// Bytes to send, if it has an end.
    pub size: Option<u64>,
    /// What became of it.
    pub report: FlowSummary,
    /// When it was no longer under way, if that was before the end of the run.
    pub ended: Option<Time>,
    /// Bits per second that arrived, if it was measured.
    pub throughput: Option<f64>,
    /// Bits per second that were consumed, each once, if it was measured.
    pub goodput: Option<f64>,
    /// What its destinations saw; no frames if that was not recorded.
    pub delivery: Delivery,
}

impl Row for FlowRow {
    const TABLE: &'static Table = &schema::FLOWS;
    fn cells(&self, put: &mut impl FnMut(Cell<'_>)) {
        let seen = (self.delivery.frames > 0).then_some(&self.delivery);
        put(Cell::count(self.flow));
        put(Cell::Text(&self.name));
        put(Cell::Text(&self.source));
        put(self.destination.as_deref().map_or(Cell::Null, Cell::Text));
        put(Cell::count(self.class));
        put(Cell::at(self.start));
        put(Cell::maybe(self.stop, Cell::at));
        put(Cell::maybe(self.size, Cell::count));
        put(Cell::count(self.report.made_frames));
        put(Cell::count(self.report.retransmitted_frames));
        put(Cell::count(self.report.timeouts));
        put(Cell::count(self.report.lost_frames));
        put(Cell::count(self.report.received_frames));
        put(Cell::count(self.report.received_bytes));
        put(Cell::count(self.report.duplicate_frames));
        put(Cell::count(self.report.rejected_frames));
        put(Cell::count(self.report.out_of_order_frames));
        put(Cell::count(self.report.negative_acknowledgements));
        put(Cell::count(self.report.congestion_notifications));
        put(Cell::count(self.report.marked_frames));
        put(Cell::count(self.report.notices));
        put(Cell::maybe(self.report.completed, Cell::at));
        put(Cell::maybe(self.report.acknowledged, Cell::at));
        put(Cell::maybe(self.report.completed, |at| Cell::span(at.saturating_since(self.start))));
        put(Cell::maybe(self.report.acknowledged, |at| Cell::span(at.saturating_since(self.start))));
        put(Cell::maybe(self.report.slowdown(self.start), Cell::Real));
        put(Cell::maybe(self.ended, Cell::at));
        put(Cell::maybe(self.throughput, Cell::Real));
        put(Cell::maybe(self.goodput, Cell::Real));
        put(Cell::maybe(seen, |seen| Cell::at(seen.first)));
        put(Cell::maybe(seen, |seen| Cell::at(seen.last)));
        put(Cell::maybe(seen, |seen| Cell::Real(seen.delays as f64 / seen.frames as f64)));
        put(Cell::maybe(seen, |seen| Cell::span(seen.longest)));
    }
}

/// The flows of a network that ran until `end`, one by one, because there may be millions. What throughput is belongs to
/// whoever measures it: none is stated here.
pub fn flow_rows<'a>(
    spec: &'a NetworkSpec,
    reports: impl IntoIterator<Item = FlowSummary> + 'a,
    deliveries: &'a Deliveries,
    end: Time,
) -> impl Iterator<Item = FlowRow> + 'a {
    let hosts = spec.graph.hosts();
    let name = move |host: u32| spec.graph.nodes[hosts[host as usize].0 as usize].name.clone();
    spec.flows.iter().zip(reports).enumerate().map(move |(place, (flow, report))| {
        let source = name(flow.source.0);
        let destination = match &flow.destination {
            Destination::Host(host) => Some(name(host.0)),
            Destination::Uniform => None,
        };
        let ended = report.ended.into_iter().chain(flow.stop.filter(|&stop| stop < end)).min();
        FlowRow {
            flow: place as u32,
            name: format!("{source}->{}", destination.as_deref().unwrap_or("any")),
            source,
            destination,
            class: flow.class,
            start: report.started.unwrap_or(flow.start),
            stop: flow.stop,
            size: flow.size.map(units::Bytes::get),
            report,
            ended,
            throughput: None,
            goodput: None,
            delivery: deliveries.get(place),
        }
    })
}

/// Mean, percentiles and maximum of a sketch, in the order of [`schema::Table`]s with these columns.
fn put_percentiles(sketch: &Sketch, put: &mut impl FnMut(Cell<'_>)) {
    put(Cell::Real(sketch.mean()));
    put(Cell::count(sketch.most()));
    for thousandths in [500, 950, 990, 999] {
        put(Cell::count(sketch.quantile(thousandths).unwrap_or(0)));
    }
}

/// See [`schema::WAITS`]: how long frames waited at one port in one class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitRow {
    /// Port.
    pub port: u32,
    /// Class.
    pub class: u8,
    /// Waits in picoseconds.
    pub waits: Sketch,
}

engine::encoded!(struct WaitRow { port, class, waits });

impl Row for WaitRow {
    const TABLE: &'static Table = &schema::WAITS;
    fn cells(&self, put: &mut impl FnMut(Cell<'_>)) {
        put(Cell::count(self.port));
        put(Cell::count(self.class));
        put(Cell::count(self.waits.count()));
        put_percentiles(&self.waits, put);
    }
}

/// See [`schema::DELAYS`]: how long frames of one class took from source to destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelayRow {
    /// Class.
    pub class: u8,
    /// Delays in picoseconds.
    pub delays: Sketch,
}

engine::encoded!(struct DelayRow { class, delays });

impl Row for DelayRow {
    const TABLE: &'static Table = &schema::DELAYS;
    fn cells(&self, put: &mut impl FnMut(Cell<'_>)) {
        put(Cell::count(self.class));
        put(Cell::count(self.delays.count()));
        put_percentiles(&self.delays, put);
    }
}

/// See [`schema::QUEUE_LEVELS`]: how long one output queue was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueLevelRow {
    /// Port.
    pub port: u32,
    /// Class.
    pub class: u8,
    /// Lengths in bytes at sampling instants.
    pub level: Sketch,
}

engine::encoded!(struct QueueLevelRow { port, class, level });

impl Row for QueueLevelRow {
    const TABLE: &'static Table = &schema::QUEUE_LEVELS;
    fn cells(&self, put: &mut impl FnMut(Cell<'_>)) {
        put(Cell::count(self.port));
        put(Cell::count(self.class));
        put(Cell::count(self.level.count()));
        put_percentiles(&self.level, put);
    }
}

/// See [`schema::WAIT_BUCKETS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitBucket {
    /// Port.
    pub port: u32,
    /// Class.
    pub class: u8,
    /// Shortest wait counted.
    pub at_least: Span,
    /// First wait no longer counted.
    pub below: Span,
    /// Frames.
    pub frames: u64,
}

impl Row for WaitBucket {
    const TABLE: &'static Table = &schema::WAIT_BUCKETS;
    fn cells(&self, put: &mut impl FnMut(Cell<'_>)) {
        put(Cell::count(self.port));
        put(Cell::count(self.class));
        put(Cell::span(self.at_least));
        put(Cell::span(self.below));
        put(Cell::count(self.frames));
    }
}

impl WaitRow {
    /// Its buckets, between powers of two, that are not empty.
    pub fn buckets(&self) -> impl Iterator<Item = WaitBucket> {
        let mut buckets: Vec<WaitBucket> = Vec::new();
        for (wait, frames) in self.waits.bins() {
            let power = u64::BITS - wait.leading_zeros();
            let at_least = Span::from_picos(if power == 0 { 0 } else { 1 << (power - 1) });
            let below = Span::from_picos(1u64.checked_shl(power).unwrap_or(u64::MAX));
            match buckets.last_mut() {
                Some(last) if last.at_least == at_least => last.frames += frames,
                _ => buckets.push(WaitBucket { port: self.port, class: self.class, at_least, below, frames }),
            }
        }
        buckets.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::fits;
    use super::*;
    use crate::describe::graph::LinkSpec;
    use units::Rate;

    fn link() -> LinkSpec {
        LinkSpec { rate: Rate::from_gigabits(10), latency: Span::from_nanos(500), bit_error_rate: 0.0 }
    }

    #[test]
    fn ports_are_numbered_node_by_node_and_know_their_peers() {
        let graph = crate::describe::topology::single_switch(3, link()).expect("a switch with three hosts");
        let rows = port_rows(&graph);
        assert_eq!(rows.len(), 6);
        for row in &rows {
            fits(row);
            assert_eq!(rows[row.peer_port as usize].peer_port, row.port);
            assert_eq!(rows[row.peer_port as usize].node, row.peer);
            assert_eq!(row.name, format!("{}:{}", row.node, row.number));
        }
    }

    #[test]
    fn waits_are_counted_by_powers_of_two() {
        let mut waits = Sketch::default();
        [0, 1, 2, 3, 4, 1000].into_iter().for_each(|picos| waits.note(picos));
        let row = WaitRow { port: 2, class: 1, waits };
        fits(&row);
        let buckets: Vec<_> = row.buckets().map(|b| (b.at_least.as_picos(), b.below.as_picos(), b.frames)).collect();
        assert_eq!(buckets, [(0, 1, 1), (1, 2, 1), (2, 4, 2), (4, 8, 1), (512, 1024, 1)]);
        row.buckets().for_each(|bucket| fits(&bucket));
        assert_eq!(row.waits.most(), 1000);
        fits(&DelayRow { class: 1, delays: row.waits.clone() });
        fits(&QueueLevelRow { port: 2, class: 1, level: row.waits });
    }

    #[test]
    fn deliveries_add_up_in_any_order() {
        let mut one = Delivery::default();
        one.note(Time::from_picos(50), Span::from_picos(5));
        let mut two = Delivery::default();
        two.note(Time::from_picos(20), Span::from_picos(9));
        let (mut left, mut right) = (one, two);
        left.add(&two);
        right.add(&one);
        right.add(&Delivery::default());
        assert_eq!(left, right);
        assert_eq!((left.first, left.last), (Time::from_picos(20), Time::from_picos(50)));
    }
}
