//! The end of a recording: what is still open is closed, and what was kept to the end is handed over.

use super::rows::Rows;
use super::{DelayRow, Deliveries, Delivery, QueueLevelRow, Recorder, Sketch, WaitRow, drain_among};
use crate::describe::spec::MAX_CLASSES;
use engine::{Alone, Encode, Ranks, reduce};
use units::Time;

/// What is left when a run has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    /// When the run ended: what it reached, or the latest instant recorded if that is later.
    pub end: Time,
    /// The last rows, with what was open closed at the end.
    pub rows: Rows,
    /// What destinations saw, by flow; empty if not recorded.
    pub deliveries: Deliveries,
    /// Waits by port and class.
    pub waits: Vec<WaitRow>,
    /// Delays by class.
    pub delays: Vec<DelayRow>,
    /// Delays by flow, of those that were asked for, in picoseconds; the parts of a flow that arrived in several shards
    /// are apart.
    pub flow_delays: Vec<(u32, Sketch)>,
    /// Lengths of queues by port and class; without those that were always empty.
    pub levels: Vec<QueueLevelRow>,
}

/// Closes all recorders at the end of a run that reached `now`. A run that was interrupted, or in which nothing was left
/// to do, may have recorded a little beyond that; see [`Ending::end`].
pub fn finish(recorders: &mut [&mut Recorder], now: Time) -> Ending {
    finish_among(&mut Alone, recorders, now)
}

/// Closes the recorders of all ranks, like [`finish`]. All ranks call this; the first one gets what they recorded, the
/// others nothing but [`Ending::end`].
pub fn finish_among(ranks: &mut dyn Ranks, recorders: &mut [&mut Recorder], now: Time) -> Ending {
    let latest = recorders.iter().map(|recorder| recorder.latest).fold(now, Time::max);
    let end = ranks.share(latest.to_bytes()).iter().map(|bytes| Time::from_bytes(bytes)).fold(latest, Time::max);
    recorders.iter_mut().for_each(|recorder| recorder.close(end));
    // Those of this rank, if it is the first one, and of the others.
    let (mut deliveries, mut seen): (Deliveries, Vec<(u32, Delivery)>) = Default::default();
    let (mut waits, mut delays, mut levels, mut flow_delays) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for recorder in recorders.iter_mut() {
        let samples = recorder.samples;
        let many = std::mem::take(&mut recorder.many_delivered);
        for (flow, delivery) in std::mem::take(&mut recorder.deliveries).into_entries() {
            let delivery = delivery.delivery(&many);
            match ranks.rank() {
                0 => deliveries.add(flow, &delivery),
                _ => seen.push((flow as u32, delivery)),
            }
        }
        for (place, counted) in recorder.waits.iter_mut() {
            if let Some(counted) = counted.take() {
                let (port, class) = ((place / MAX_CLASSES) as u32, (place % MAX_CLASSES) as u8);
                waits.push(WaitRow { port, class, waits: *counted });
            }
        }
        for (place, counted) in recorder.levels.iter_mut() {
            if let Some(mut level) = counted.take() {
                let (port, class) = ((place / MAX_CLASSES) as u32, (place % MAX_CLASSES) as u8);
                level.note_several(0, samples.saturating_sub(level.count()));
                levels.push(QueueLevelRow { port, class, level: *level });
            }
        }
        let followed = recorder.flow_delays.iter_mut();
        flow_delays.extend(followed.filter_map(|(flow, delays)| Some((flow as u32, *delays.take()?))));
        let by_class = recorder.delays.iter_mut();
        let row = |(class, delays): (usize, &mut Option<Box<Sketch>>)| {
            Some(DelayRow { class: class as u8, delays: *delays.take()? })
        };
        delays.extend(by_class.filter_map(row));
    }
    let sketches = (delays, levels, flow_delays);
    let all = reduce(ranks, (seen, waits, sketches), |(seen, waits, sketches), (mut more, mut longer, mut others)| {
        seen.append(&mut more);
        waits.append(&mut longer);
        sketches.0.append(&mut others.0);
        sketches.1.append(&mut others.1);
        sketches.2.append(&mut others.2);
    });
    let (seen, mut waits, (parts, mut levels, mut flow_delays)) = all.unwrap_or_default();
    flow_delays.sort_by_key(|(flow, _)| *flow);
    let mut delays: Vec<DelayRow> = Vec::new();
    for part in parts {
        match delays.iter_mut().find(|row| row.class == part.class) {
            Some(row) => row.delays.add(&part.delays),
            None => delays.push(part),
        }
    }
    delays.sort_by_key(|row| row.class);
    levels.sort_by_key(|row| (row.port, row.class));
    seen.iter().for_each(|(flow, delivery)| deliveries.add(*flow as usize, delivery));
    waits.sort_by_key(|row| (row.port, row.class));
    Ending { end, rows: drain_among(ranks, recorders), deliveries, waits, delays, flow_delays, levels }
}
