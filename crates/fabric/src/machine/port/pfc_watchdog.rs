//! The PFC watchdog of a switch's port: it detects queues that pauses keep from sending for too long, and drops their frames
//! or sends them in spite of the pauses, until the pauses end.
//!
//! It looks at its queues when the alarm of the port's flow control fires, so a port without pauses pays nothing. A queue that
//! drops leaves the short path of arrivals by its limit, and one that sends leaves that of departures by [`NOISY`].

use crate::describe::spec::{MAX_CLASSES, PfcWatchdogSpec, WatchdogAction};
use crate::machine::network::{Ctx, Device, Network};
use crate::machine::port::NOISY;
use crate::observe::probe::{DropCause, Probe};
use units::{Span, Time};

/// The output of a frame that was sent in a storm, until the next switch finds its own: so the far end knows that it had no
/// right to come.
pub(crate) const SENT_IN_STORM: u16 = u16::MAX;

/// The limit of a queue in a storm: no frame fits, so every arrival asks. Lossless queues have no limit otherwise.
pub(crate) const STORMED: u32 = 1;

/// The watchdog of one port.
#[derive(Clone, Debug)]
pub(crate) struct PfcWatchdog {
    spec: PfcWatchdogSpec,
    /// Classes that it watches.
    classes: u8,
    /// Classes whose queue is in a storm.
    stormed: u8,
    /// By class: when the pause began or, in a storm, when the storm was detected, the last pause frame came or the pause of
    /// that runs out, whichever is last.
    since: [Time; MAX_CLASSES],
}

units::state!(struct PfcWatchdog { fixed: spec, classes; plain: stormed, since; });

impl PfcWatchdog {
    pub(crate) fn new(spec: PfcWatchdogSpec, classes: u8) -> PfcWatchdog {
        PfcWatchdog { spec, classes, stormed: 0, since: [Time::ZERO; MAX_CLASSES] }
    }

    /// A pause frame holds some classes until then and releases others. Returns the classes whose pauses do not count, and
    /// when to look at those that are released.
    pub(crate) fn on_pause(&mut self, now: Time, (held, until): (u8, Time), released: u8) -> (u8, Option<Time>) {
        classes_of(released & self.stormed).for_each(|class| self.since[class] = now);
        classes_of(held & self.stormed).for_each(|class| self.since[class] = until);
        let over = (released & self.stormed != 0).then(|| self.seen_at(now + self.spec.restoration));
        (self.stormed, over)
    }

    /// These classes, which were free, are paused. Returns when to look at them, if it watches any of them.
    pub(crate) fn on_paused(&mut self, now: Time, classes: u8) -> Option<Time> {
        for class in classes_of(classes & self.classes) {
            self.since[class] = now;
        }
        (classes & self.classes != 0).then(|| self.seen_at(now + self.spec.detection))
    }

    /// When something that is due then is seen.
    fn seen_at(&self, due: Time) -> Time {
        match self.spec.poll {
            Span::ZERO => due,
            poll => Time::from_picos(due.as_picos().div_ceil(poll.as_picos()).saturating_mul(poll.as_picos())),
        }
    }

    pub(crate) fn storms_with(&self, action: WatchdogAction) -> u8 {
        if self.spec.action == action { self.stormed } else { 0 }
    }
}

/// The classes of a set, as positions.
fn classes_of(set: u8) -> impl Iterator<Item = usize> {
    (0..MAX_CLASSES).filter(move |class| set >> class & 1 == 1)
}

impl<P: Probe> Network<P> {
    /// Detects and ends the storms of a port with a watchdog. Returns when to look again.
    #[cold]
    pub(crate) fn on_pfc_watchdog(&mut self, now: Time, p: u32, ctx: &mut Ctx) -> Time {
        let mut next = Time::MAX;
        for class in 0..self.classes {
            let Some(watchdog) = &self.pfc_watchdogs[p as usize] else { break };
            let (bit, since) = (1u8 << class, watchdog.since[class]);
            if watchdog.stormed & bit != 0 {
                let due = watchdog.seen_at(since + watchdog.spec.restoration);
                if due <= now {
                    self.restore(now, p, class as u8);
                } else {
                    next = next.min(due);
                }
            } else if watchdog.classes & self.ports[p as usize].blocked & bit != 0 {
                // The first frame has waited longest. If none waits, one may come at any time from now on.
                let head = self.lanes[p as usize * self.classes + class].queue.iter(&self.pool).next();
                let waiting = head.map_or(now, |(_, frame)| frame.at.max(since));
                let due = watchdog.seen_at(waiting + watchdog.spec.detection);
                if due <= now {
                    next = next.min(self.storm(now, p, class as u8, ctx));
                } else {
                    next = next.min(due);
                }
            }
        }
        next
    }

    /// A queue enters the state of a storm. Returns when it may leave it.
    fn storm(&mut self, now: Time, p: u32, class: u8, ctx: &mut Ctx) -> Time {
        let port = &mut self.ports[p as usize];
        let Some(watchdog) = &mut self.pfc_watchdogs[p as usize] else { return Time::MAX };
        watchdog.stormed |= 1 << class;
        let since = self.gates[p as usize * self.classes + usize::from(class)].paused_until.max(now);
        watchdog.since[usize::from(class)] = since;
        let (action, due) = (watchdog.spec.action, watchdog.seen_at(since + watchdog.spec.restoration));
        port.blocked &= !(1 << class);
        port.moved |= 1 << class;
        self.fingerprints[port.node as usize].fold(now.as_picos() ^ u64::from(class) << 56);
        self.totals.storms += 1;
        match action {
            WatchdogAction::Forward => port.flags |= NOISY,
            WatchdogAction::Drop => {
                self.drop_queue(now, p, class, ctx);
                let lane = self.lane(p, class);
                self.lanes[lane].limit = STORMED;
            }
        }
        due
    }

    /// Drops what waits in a queue.
    fn drop_queue(&mut self, now: Time, p: u32, class: u8, ctx: &mut Ctx) {
        let Device::Switch(switch) = self.ports[p as usize].device else { return };
        if let Some(congestion_point) = &mut self.switches[switch as usize].congestion_point {
            congestion_point.muted = true;
        }
        for place in self.clear_output(p, class) {
            if self.probe.wants_causes() {
                self.note_leave(now, p, place, false);
            }
            self.drop_inside(now, switch, place, DropCause::Watchdog, ctx);
        }
        self.recount(now, switch);
    }

    /// The storm of a queue is over.
    fn restore(&mut self, now: Time, p: u32, class: u8) {
        let Some(watchdog) = &mut self.pfc_watchdogs[p as usize] else { return };
        watchdog.stormed &= !(1 << class);
        let forwards = watchdog.storms_with(WatchdogAction::Forward) != 0;
        let port = &mut self.ports[p as usize];
        self.fingerprints[port.node as usize].fold(now.as_picos() ^ u64::from(class) << 56);
        self.totals.restored_storms += 1;
        if !forwards && self.noise[p as usize].is_none() {
            port.flags &= !NOISY;
        }
        let lane = self.lane(p, class);
        self.lanes[lane].limit = u32::MAX;
    }

    /// Whether frames for a queue are dropped.
    pub(crate) fn drops_in_storm(&self, p: u32, class: u8) -> bool {
        let watchdog = self.pfc_watchdogs[p as usize].as_ref();
        watchdog.is_some_and(|watchdog| watchdog.storms_with(WatchdogAction::Drop) >> class & 1 == 1)
    }

    /// A frame starts at a port: notes if it is sent in a storm.
    pub(crate) fn note_sent_in_storm(&mut self, p: u32, place: u32) {
        let storms = self.pfc_watchdogs[p as usize].as_ref().map_or(0, |it| it.storms_with(WatchdogAction::Forward));
        let frame = &mut self.pool[place];
        if !frame.is_link_local() && storms >> frame.class & 1 == 1 {
            frame.output = SENT_IN_STORM;
        }
    }
}
