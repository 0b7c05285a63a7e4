//! Treatment of frames that are about to join a queue: passed, marked, trimmed or dropped.

use super::passage;
use crate::machine::frame::{Frame, Kind, List, MARKED, NIL};
use crate::machine::network::{Ctx, Network};
use crate::machine::port::MARKS;
use crate::observe::probe::{DropCause, Probe};
use congestion::point::{Passage, Treatment};
use congestion::{CongestionPoint, Stamp};
use units::{Bytes, Time};

impl<P: Probe> Network<P> {
    /// Puts a congestion mark on a frame that waits for the output `out`.
    pub(super) fn mark(&mut self, now: Time, out: u32, place: u32) {
        self.pool[place].flags |= MARKED;
        self.totals.marked_frames += 1;
        self.probe.on_mark(now, self.ports[out as usize].global, &self.pool[place]);
    }

    /// A frame starts by an output: it is counted, and stamped if it has telemetry.
    pub(super) fn stamp(&mut self, now: Time, p: u32, switch: u32, place: u32) {
        let frame = &self.pool[place];
        let (number, size) = (usize::from(self.ports[p as usize].number), u64::from(frame.len));
        let stamped = frame.has_telemetry().then_some(frame.flow);
        let Some(congestion_point) = &mut self.switches[switch as usize].congestion_point else { return };
        let sent = congestion_point.sight.sent[number];
        congestion_point.sight.sent[number] += size + self.plan.overhead.get();
        let Some(flow) = stamped else { return };
        let lanes = p as usize * self.classes..(p as usize + 1) * self.classes;
        let queue = self.lanes[lanes].iter().map(|lane| u64::from(lane.bytes)).sum();
        let rate = self.ports[p as usize].wire.rate();
        let most = self.places.telemetry(&self.plan, flow).map_or(0, |telemetry| telemetry.hops);
        let stamp = Stamp { at: now, queue: Bytes::new(queue), sent: Bytes::new(sent), rate };
        self.telemetry.stamp(place, stamp, most);
    }

    /// Asks a congestion point about a data frame that is about to wait for the output `out`, and does what it says.
    /// Returns whether the frame still waits as it came; if not, it has been taken care of.
    #[inline(never)]
    pub(crate) fn judge(&mut self, now: Time, switch: u32, out: u32, place: u32, ctx: &mut Ctx) -> bool {
        let passage = passage(now, &self.pool[place]);
        let port = &self.ports[out as usize];
        if port.flags & MARKS != 0 && self.lanes[self.lane(out, passage.class)].bytes < port.asked_from {
            return true;
        }
        match self.consult(now, switch, |point, _, seen| point.on_enqueue(&passage, seen)) {
            None | Some(Treatment::Pass) => return true,
            Some(Treatment::Mark) => {
                self.mark(now, out, place);
                return true;
            }
            Some(Treatment::Drop) => self.drop_inside(now, switch, place, DropCause::Early, ctx),
            Some(Treatment::Trim) => self.trim_into_queue(now, switch, out, place, ctx),
            Some(Treatment::TrimLast) => {
                let Some(last) = self.take_last(now, switch, out, passage.class) else {
                    self.trim_into_queue(now, switch, out, place, ctx);
                    return false;
                };
                self.trim_into_queue(now, switch, out, last, ctx);
                return true;
            }
        }
        false
    }

    /// The same where a frame joins its output queue behind a crossbar, which has counted it since it set out: it is
    /// marked or it passes.
    pub(super) fn judge_crossed(&mut self, now: Time, switch: u32, place: u32, passage: &Passage) {
        let out = self.switches[switch as usize].first_port + u32::from(passage.output);
        let lane = self.lane(out, passage.class);
        self.lanes[lane].bytes -= u32::from(passage.len);
        let treatment = self.consult(now, switch, |point, _, seen| point.on_enqueue(passage, seen));
        self.lanes[lane].bytes += u32::from(passage.len);
        if treatment == Some(Treatment::Mark) {
            self.mark(now, out, place);
        }
    }

    /// Trims a frame, which is in no queue, and has its header wait for the same output.
    fn trim_into_queue(&mut self, now: Time, switch: u32, out: u32, place: u32, ctx: &mut Ctx) {
        let Some(congestion_point) = &self.switches[switch as usize].congestion_point else { return };
        if self.trim(now, switch, place, congestion_point.trimmed, ctx) {
            let Frame { class, len, .. } = self.pool[place];
            self.pool[place].next = NIL;
            self.wait_at_output(now, switch, out, place, (class, u32::from(len)), ctx);
        }
    }

    /// Takes the last frame out of an output queue, if it carries data.
    fn take_last(&mut self, now: Time, switch: u32, out: u32, class: u8) -> Option<u32> {
        let lane = self.lane(out, class);
        let queue: List = self.lanes[lane].queue;
        let (mut before, mut last) = (NIL, NIL);
        for (place, _) in queue.iter(&self.pool) {
            (before, last) = (last, place);
        }
        if last == NIL || self.pool[last].kind != Kind::Data {
            return None;
        }
        if self.probe.wants_causes() {
            self.note_leave(now, out, last, false);
        }
        let len = self.pool[last].len;
        self.lanes[lane].queue.take(&mut self.pool, before, last);
        self.lanes[lane].bytes -= u32::from(len);
        if self.lanes[lane].queue.is_empty() {
            self.ports[out as usize].waiting &= !(1 << class);
        }
        if self.lanes[lane].limit == 0 {
            self.release_output(out, class, len);
        }
        let cell = self.output_cell(out, class);
        if let Some(congestion_point) = &mut self.switches[switch as usize].congestion_point {
            congestion_point.sight.waiting[cell] -= 1;
            if let Some(occupancy) = &mut congestion_point.occupancy {
                occupancy.leave(occupancy.handle(last));
            }
        }
        Some(last)
    }
}
