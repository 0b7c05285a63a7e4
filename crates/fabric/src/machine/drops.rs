//! Frames that are dropped or lost, and the loss that ends a run.

use crate::build::places::Origin;
use crate::build::plan::Rule;
use crate::machine::frame::{Frame, Kind};
use crate::machine::network::{Ctx, Message, Network};
use crate::machine::port::pfc_watchdog::SENT_IN_STORM;
use crate::observe::outcome::Loss;
use crate::observe::probe::{DropCause, Probe};
use congestion::CongestionPoint;
use units::Time;

impl<P: Probe> Network<P> {
    /// A switch drops a frame that it has admitted: the room it held is released.
    #[cold]
    pub(crate) fn drop_inside(&mut self, now: Time, switch: u32, place: u32, cause: DropCause, ctx: &mut Ctx) {
        let frame = self.pool[place];
        if cause == DropCause::Full && frame.kind == Kind::Trimmed && self.turns_back(switch, place) {
            return self.forward(now, switch, place, ctx);
        }
        let input = self.switches[switch as usize].first_port + u32::from(frame.input);
        self.forget_dropped(switch, place);
        self.release(now, input, frame.class, frame.len, ctx);
        if cause.is_for_want_of_room() {
            self.queue_again(now, place, ctx);
        }
        self.lose(now, input, place, cause);
    }

    /// Has a header that finds no room go back to its source, if the switch does that. Returns whether it does.
    fn turns_back(&mut self, switch: u32, place: u32) -> bool {
        let point = self.switches[switch as usize].congestion_point.as_ref().and_then(|state| state.point.as_ref());
        if !point.is_some_and(CongestionPoint::returns_headers) {
            return false;
        }
        let Some(origin) = self.places.origin(&self.plan, self.pool[place].flow) else { return false };
        self.pool[place].turn_back(origin.source);
        self.totals.returned_frames += 1;
        true
    }

    /// A frame is dropped: its source will hear of it, if its flow sends such frames again.
    #[cold]
    fn queue_again(&mut self, now: Time, place: u32, ctx: &mut Ctx) {
        let Frame { kind, flow, .. } = self.pool[place];
        if kind != Kind::Data {
            return;
        }
        let len = self.payload(&self.pool[place]);
        let Some(Origin { requeue: Some(after), home, .. }) = self.places.origin(&self.plan, flow) else { return };
        self.totals.requeued_frames += 1;
        let at = now + after;
        match ctx.neighbours().binary_search(&home) {
            Ok(neighbour) => ctx.send(neighbour as u32, at, Message::Lost { flow, len, at }),
            Err(_) => self.hear_of_loss(flow, len, at, ctx),
        }
    }

    /// A switch removes the payload of a data frame that it has admitted, and counts the header against the same input
    /// in its new class. Returns whether there is room for it.
    pub(crate) fn trim(&mut self, now: Time, switch: u32, place: u32, (class, len): (u8, u16), ctx: &mut Ctx) -> bool {
        let frame = self.pool[place];
        let input = self.switches[switch as usize].first_port + u32::from(frame.input);
        self.release(now, input, frame.class, frame.len, ctx);
        self.queue_again(now, place, ctx);
        self.probe.on_drop(now, self.ports[input as usize].global, &frame, DropCause::Trimmed);
        let payload = self.payload(&frame);
        self.note_gone(now, frame.flow, payload, DropCause::Trimmed);
        self.totals.trimmed_frames += 1;
        self.totals.trimmed_bytes += u64::from(payload);
        self.pool[place].trim(class, len);
        let len = self.pool[place].len;
        self.totals.control_bytes += u64::from(len);
        self.admit(now, input, class, len, place, ctx)
    }

    /// Notes that so many bytes of a flow never arrive, unless its source sends or queues them again.
    fn note_gone(&mut self, now: Time, flow: u32, payload: u16, cause: DropCause) {
        let origin = self.places.origin(&self.plan, flow);
        let sent_again = cause != DropCause::AtSource && origin.is_some_and(|origin| origin.reliable);
        if sent_again || cause.is_for_want_of_room() && origin.is_some_and(|origin| origin.requeue.is_some()) {
            return;
        }
        let gone = self.gone.entry(flow).or_default();
        gone.frames += 1;
        gone.bytes += u64::from(payload);
        gone.last = now;
    }

    /// Counts a frame that came to nothing.
    #[cold]
    pub(crate) fn lose(&mut self, now: Time, p: u32, place: u32, cause: DropCause) {
        let frame = self.pool.take(place);
        if !frame.is_link_local() {
            self.probe.on_drop(now, self.ports[p as usize].global, &frame, cause);
        }
        if frame.kind != Kind::Data {
            self.totals.lost_control += 1;
            self.totals.lost_acknowledgements += u64::from(frame.acknowledges());
            if frame.is_extended() {
                self.extensions.take(frame.extension());
            }
            return;
        }
        let payload = self.payload(&frame);
        self.note_gone(now, frame.flow, payload, cause);
        self.totals.pause_lost_frames += u64::from(cause == DropCause::PauseLost);
        let (frames, bytes) = match cause {
            DropCause::Full | DropCause::Early | DropCause::Trimmed | DropCause::Unreachable => {
                (&mut self.totals.dropped_frames, &mut self.totals.dropped_bytes)
            }
            DropCause::Corrupt | DropCause::LinkDown | DropCause::PauseLost => {
                (&mut self.totals.lost_frames, &mut self.totals.lost_bytes)
            }
            DropCause::AtSource => (&mut self.totals.discarded_frames, &mut self.totals.discarded_bytes),
            DropCause::Watchdog => (&mut self.totals.watchdog_frames, &mut self.totals.watchdog_bytes),
        };
        *frames += 1;
        *bytes += u64::from(payload);
    }

    /// There is no room for an arriving frame. In a lossless class that ends the run, unless a fault of the link has kept
    /// XOFF from the sender: then the frame is lost by that fault, like a damaged one; or unless a PFC watchdog sent the frame
    /// in spite of a pause.
    #[cold]
    pub(crate) fn overflow(&mut self, now: Time, p: u32, place: u32, rule: Rule, ctx: &mut Ctx) {
        let frame: Frame = self.pool[place];
        let global = self.ports[p as usize].global;
        let first = self.loss.is_none_or(|loss| (now, global) < (loss.at, loss.port));
        let forwarded = frame.output == SENT_IN_STORM;
        let faulty = rule.lossless && !forwarded && self.gates[self.lane(p, rule.account)].unheard;
        if rule.lossless && first && !faulty && !forwarded {
            let lane = self.lanes[self.lane(p, rule.account)];
            self.loss = Some(Loss {
                at: now,
                port: global,
                class: frame.class,
                flow: frame.flow,
                frame: u32::from(frame.len),
                held: lane.held,
                headroom_held: lane.headroom,
                capacity: rule.capacity,
                xoff: rule.xoff,
                headroom: rule.headroom,
                stopped: self.ports[p as usize].stopped >> rule.account & 1 == 1,
            });
        }
        self.queue_again(now, place, ctx);
        // It never had an output here.
        self.pool[place].output = u16::MAX;
        let cause = match (forwarded, faulty) {
            (true, _) => DropCause::Watchdog,
            (false, true) => DropCause::PauseLost,
            (false, false) => DropCause::Full,
        };
        self.lose(now, p, place, cause);
    }
}
