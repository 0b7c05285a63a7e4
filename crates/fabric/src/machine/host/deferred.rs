//! The backlog of an overloaded source: counted, and made into frames when their turn comes.
//!
//! A paced source that sends slower than it makes frames has an ever longer backlog. What it makes follows from its
//! random stream and its pace alone, so beyond a few frames only their number is kept, with the state from which they
//! are made again, in order and with the times at which they were made first. The source itself draws as ever: nothing
//! that can be observed depends on how a backlog is kept.

use crate::describe::workload::FlowSpec;
use crate::machine::frame::Frame;
use crate::machine::host::flow::Flow;
use std::collections::VecDeque;
use units::{Bytes, Stream, Time, Wire};

/// Frames of a backlog that are kept as frames.
pub(crate) const KEPT: u32 = 64;

/// The state of a source before it makes a frame.
#[derive(Clone, Debug)]
pub(crate) struct Before {
    stream: Stream,
    pace: Option<Wire>,
    remaining: u64,
}

engine::encoded!(struct Before { stream, pace, remaining });

/// Frames that a source has made one after the other, with nothing but gaps between them.
#[derive(Clone, Debug)]
struct Run {
    before: Before,
    /// When the first of them was made.
    first: Time,
    frames: u32,
}

engine::encoded!(struct Run { before, first, frames });

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deferred {
    runs: VecDeque<Run>,
    /// When the next frame of the last run is due; nothing if something came between.
    due: Option<Time>,
}

engine::encoded!(struct Deferred { runs, due });

impl Flow {
    /// Its state, for [`Flow::defer`].
    pub(crate) fn before(&self) -> Before {
        Before { stream: self.stream.clone(), pace: self.pace, remaining: self.remaining }
    }

    /// Whether frames that it makes now are counted and not kept.
    pub(crate) fn defers(&self) -> bool {
        self.backlogged >= KEPT || self.deferred.as_ref().is_some_and(|deferred| !deferred.runs.is_empty())
    }

    /// Counts a frame that was made now, from that state; the next one is due at `next`.
    pub(crate) fn defer(&mut self, now: Time, before: Before, next: Time) {
        let deferred = self.deferred.get_or_insert_default();
        match deferred.runs.back_mut() {
            Some(run) if deferred.due == Some(now) => run.frames += 1,
            _ => deferred.runs.push_back(Run { before, first: now, frames: 1 }),
        }
        deferred.due = Some(next);
    }

    /// Something has come between the frames: the next one is not due as it was.
    pub(crate) fn interrupt_deferred(&mut self) {
        if let Some(deferred) = &mut self.deferred {
            deferred.due = None;
        }
    }

    /// Makes the first of the deferred frames again, if there is one.
    pub(crate) fn make_deferred(
        &mut self,
        smallest: u16,
        spray: bool,
        spec: &FlowSpec,
        overhead: Bytes,
    ) -> Option<Frame> {
        let mut deferred = self.deferred.take()?;
        let frame = deferred.runs.front_mut().map(|run| {
            let now = self.before();
            let made = self.made;
            self.restore(run.before.clone());
            let frame = self.make(run.first, smallest, spray, spec.hosts());
            run.first += self.gap(spec, overhead);
            run.before = self.before();
            run.frames -= 1;
            self.restore(now);
            self.made = made;
            frame
        });
        if deferred.runs.front().is_some_and(|run| run.frames == 0) {
            // The last run goes on only while there is something of it: the next frame may be kept again.
            deferred.runs.pop_front();
            if deferred.runs.is_empty() {
                deferred.due = None;
            }
        }
        self.deferred = Some(deferred);
        frame
    }

    fn restore(&mut self, Before { stream, pace, remaining }: Before) {
        (self.stream, self.pace, self.remaining) = (stream, pace, remaining);
    }

    /// How many frames are deferred, and their bytes.
    pub(crate) fn deferred(&self, smallest: u16) -> (u64, u64) {
        let (mut frames, mut bytes) = (0, 0);
        for Run { before, frames: count, .. } in self.deferred.iter().flat_map(|deferred| &deferred.runs) {
            frames += u64::from(*count);
            let mut remaining = before.remaining;
            for _ in 0..*count {
                bytes += remaining.min(u64::from(self.frame)).max(u64::from(smallest));
                if remaining != u64::MAX {
                    remaining = remaining.saturating_sub(u64::from(self.frame));
                }
            }
        }
        (frames, bytes)
    }
}
