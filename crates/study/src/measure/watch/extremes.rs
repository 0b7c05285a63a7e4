//! The fullest output queue of a run and the sender that was paused longest, for a run whose samples are recorded.

use super::Slot;
use fabric::graph::Role;
use fabric::record::{PauseRow, QueueRow, RecorderSpec, Rows};
use scenario::Plan;
use std::collections::BTreeMap;
use std::ops::Range;
use units::{Span, Time};

/// The fullest output queue of a run and the sender that was paused longest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extremes {
    /// Largest number of bytes of a class that waited for an output of a switch, by samples; `None` if queues were not
    /// recorded.
    pub longest_queue: Option<u64>,
    /// Largest mean of such a queue over the time after the warm-up, in bytes.
    pub mean_queue: Option<f64>,
    /// Number of the port with that mean; `None` if no frame ever waited.
    pub fullest_port: Option<u32>,
    /// Largest fraction of the time after the warm-up that a class of a port was paused; `None` if pauses were not
    /// recorded.
    pub paused: Option<f64>,
}

/// One output queue.
#[derive(Clone, Copy, Debug)]
struct Queue {
    bytes: u64,
    since: Time,
    most: u64,
    /// Integral over picoseconds.
    sum: u128,
}

/// Accumulates [`Extremes`].
#[derive(Debug)]
pub(crate) struct ExtremesWatch {
    slot: Slot,
    /// Numbers of the ports of each switch.
    switches: Vec<Range<u32>>,
    recorded: (bool, bool),
    queues: BTreeMap<(u32, u8), Queue>,
    pauses: BTreeMap<(u32, u8), Span>,
}

impl ExtremesWatch {
    pub(crate) fn new(plan: &Plan, recorder: &RecorderSpec) -> ExtremesWatch {
        let graph = &plan.spec.graph;
        let mut first = 0;
        let mut switches = Vec::new();
        for (node, ends) in graph.ports().iter().enumerate() {
            let range = first..first + ends.len() as u32;
            first = range.end;
            if graph.nodes[node].role == Role::Switch {
                switches.push(range);
            }
        }
        ExtremesWatch {
            slot: Slot { from: Time::ZERO + plan.run.warm_up, until: Time::ZERO + plan.run.duration },
            switches,
            recorded: (recorder.queues, recorder.pauses),
            queues: BTreeMap::new(),
            pauses: BTreeMap::new(),
        }
    }

    pub(crate) fn take(&mut self, rows: &Rows) {
        self.take_queues(&rows.queues);
        self.take_pauses(&rows.pauses);
    }

    fn take_queues(&mut self, rows: &[QueueRow]) {
        for row in rows.iter().filter(|row| contains(&self.switches, row.queue.port)) {
            let bytes = u64::from(row.queue.output_bytes);
            let key = (row.queue.port, row.queue.class);
            let empty = Queue { bytes: 0, since: Time::ZERO, most: 0, sum: 0 };
            let queue = self.queues.entry(key).or_insert(empty);
            queue.hold(self.slot, row.time);
            (queue.bytes, queue.most) = (bytes, queue.most.max(bytes));
        }
    }

    fn take_pauses(&mut self, rows: &[PauseRow]) {
        for row in rows {
            let part = self.slot.part(row.start, row.end).length();
            if part > Span::ZERO {
                *self.pauses.entry((row.port, row.class)).or_default() += part;
            }
        }
    }

    pub(crate) fn close(mut self, end: Time) -> Extremes {
        let window = self.slot.part(Time::ZERO, end).length().as_picos();
        let (queues, pauses) = self.recorded;
        let slot = self.slot;
        self.queues.values_mut().for_each(|queue| queue.hold(slot, end));
        // Of equal ones the first.
        let fullest = self.queues.iter().rev().max_by_key(|(_, queue)| queue.sum).filter(|(_, queue)| queue.sum > 0);
        let share = |part: f64| if window == 0 { 0.0 } else { part / window as f64 };
        let paused = self.pauses.values().copied().max().unwrap_or_default();
        Extremes {
            longest_queue: queues.then(|| self.queues.values().map(|queue| queue.most).max().unwrap_or(0)),
            mean_queue: queues.then(|| share(fullest.map_or(0.0, |(_, queue)| queue.sum as f64))),
            fullest_port: fullest.map(|(&(port, _), _)| port),
            paused: pauses.then(|| share(paused.as_picos() as f64)),
        }
    }
}

/// Whether one of the ranges, which ascend, contains a port.
fn contains(ranges: &[Range<u32>], port: u32) -> bool {
    let place = ranges.partition_point(|range| range.end <= port);
    ranges.get(place).is_some_and(|range| range.contains(&port))
}

impl Queue {
    /// Accumulates the present level up to a time.
    fn hold(&mut self, slot: Slot, until: Time) {
        let span = slot.part(self.since, until).length();
        self.sum += u128::from(self.bytes) * u128::from(span.as_picos());
        self.since = until;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::QueueSample;

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    fn watch(recorded: bool) -> ExtremesWatch {
        ExtremesWatch {
            slot: Slot { from: at(100), until: at(200) },
            switches: vec![2..4, 6..8],
            recorded: (recorded, recorded),
            queues: BTreeMap::new(),
            pauses: BTreeMap::new(),
        }
    }

    fn row(micros: u64, port: u32, class: u8, output_bytes: u32) -> QueueRow {
        QueueRow { time: at(micros), queue: QueueSample { port, class, output_bytes, input_held: 0 } }
    }

    #[test]
    fn the_mean_is_that_of_the_fullest_queue_after_the_warm_up_and_the_maximum_of_all_of_the_run() {
        let mut seen = watch(true);
        seen.take_queues(&[row(10, 3, 0, 9000), row(20, 3, 0, 0), row(50, 7, 1, 1000), row(60, 1, 0, 50_000)]);
        seen.take_queues(&[row(150, 7, 1, 3000), row(150, 4, 1, 70_000), row(190, 2, 0, 100)]);
        let pause = |start, end, port| PauseRow { start: at(start), end: at(end), port, class: 0, cut_off: false };
        seen.take_pauses(&[pause(0, 110, 1), pause(120, 130, 1), pause(90, 105, 2)]);
        // Port 7: 1000 B for 50 us and 3000 B for the 25 us that are left.
        let extremes = seen.close(at(175));
        assert_eq!((extremes.longest_queue, extremes.fullest_port), (Some(9000), Some(7)));
        assert!((extremes.mean_queue.unwrap() - 125.0 / 75.0 * 1000.0).abs() < 1e-9, "{extremes:?}");
        assert!((extremes.paused.unwrap() - 20.0 / 75.0).abs() < 1e-12, "{extremes:?}");
    }

    #[test]
    fn what_was_not_recorded_is_not_known() {
        assert_eq!(watch(false).close(at(200)), Extremes::default());
        let idle = watch(true).close(at(50));
        assert_eq!(
            (idle.longest_queue, idle.mean_queue, idle.fullest_port, idle.paused),
            (Some(0), Some(0.0), None, Some(0.0))
        );
    }
}
