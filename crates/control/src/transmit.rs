//! Transmission times of an LLDP agent (802.1AB 9.2): periodic, immediate after a change, fast after a new neighbour,
//! and limited by a credit.

use units::{Span, Time};

/// Timers of an LLDP agent. The defaults are lldpad's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timers {
    /// Interval between periodic transmissions (msgTxInterval).
    pub interval: Span,
    /// Number of intervals for which a peer keeps the information (msgTxHold).
    pub hold: u16,
    /// Interval between fast transmissions (msgFastTx).
    pub fast_interval: Span,
    /// Number of fast transmissions after a new neighbour (txFastInit).
    pub fast_count: u8,
    /// Maximum number of consecutive transmissions (txCreditMax); one credit is regained each second.
    pub credit: u8,
    /// Minimum time from a shutdown to the next start (reinitDelay).
    pub reinit: Span,
}

impl Default for Timers {
    fn default() -> Timers {
        Timers {
            interval: Span::from_secs(30),
            hold: 4,
            fast_interval: Span::from_secs(1),
            fast_count: 4,
            credit: 5,
            reinit: Span::from_secs(2),
        }
    }
}

impl Timers {
    /// Returns the time to live in seconds: interval times hold, as lldpad sends it.
    #[must_use]
    pub fn time_to_live(&self) -> u16 {
        let interval = self.interval.as_picos().div_ceil(SECOND.as_picos());
        interval.saturating_mul(u64::from(self.hold)).min(u64::from(u16::MAX)) as u16
    }
}

const SECOND: Span = Span::from_secs(1);

/// The next data unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Operating configuration of the port.
    Unit,
    /// Shutdown: all earlier information is withdrawn.
    Shutdown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Running,
    /// A shutdown is to be sent.
    Leaving,
    /// Silent; not to be started before that.
    Silent(Time),
}

/// The transmit side of an agent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transmit {
    state: State,
    next: Time,
    /// `next` is because of a change, not because the timer expired.
    changed: bool,
    fast: u8,
    credit: u8,
    credited: Time,
    /// There is a link to send on.
    linked: bool,
}

impl Transmit {
    /// Sends at once.
    pub(crate) fn new(now: Time, timers: &Timers) -> Transmit {
        let credit = timers.credit.max(1);
        Transmit { state: State::Running, next: now, changed: true, fast: 0, credit, credited: now, linked: true }
    }

    /// The advertisement changed.
    pub(crate) fn on_change(&mut self, now: Time) {
        if now < self.next {
            (self.next, self.changed) = (now, true);
        }
    }

    /// A neighbour is new.
    pub(crate) fn on_neighbour(&mut self, now: Time, timers: &Timers) {
        if self.fast == 0 {
            self.fast = timers.fast_count;
        }
        if now < self.next {
            (self.next, self.changed) = (now, false);
        }
    }

    /// Stops after a final shutdown data unit.
    pub(crate) fn leave(&mut self) {
        if self.state == State::Running {
            self.state = State::Leaving;
        }
    }

    /// Starts again, not before the delay after a shutdown.
    pub(crate) fn start(&mut self, now: Time, timers: &Timers) {
        let at = match self.state {
            State::Running => return,
            State::Leaving => now,
            State::Silent(until) => until.max(now),
        };
        let Transmit { credit, credited, linked, .. } = *self;
        *self = Transmit { credit, credited, linked, ..Transmit::new(at, timers) };
    }

    /// The link has failed: nothing can be sent.
    pub(crate) fn unlink(&mut self) {
        self.linked = false;
    }

    /// The link works again: pending data units are sent at once.
    pub(crate) fn link(&mut self, now: Time) {
        (self.linked, self.next, self.changed) = (true, now, true);
    }

    /// Returns the time of the next transmission.
    pub(crate) fn due(&self) -> Option<Time> {
        match self.state {
            _ if !self.linked => None,
            State::Running if self.credit > 0 => Some(self.next),
            State::Running => Some(self.next.max(self.credited.saturating_add(SECOND))),
            State::Leaving => Some(Time::ZERO),
            State::Silent(_) => None,
        }
    }

    /// Returns the data unit to send now, which counts as sent.
    pub(crate) fn take(&mut self, now: Time, timers: &Timers) -> Option<What> {
        if !self.linked {
            return None;
        }
        if self.state == State::Leaving {
            self.state = State::Silent(now.saturating_add(timers.reinit));
            return Some(What::Shutdown);
        }
        self.earn(now, timers);
        if self.state != State::Running || now < self.next || self.credit == 0 {
            return None;
        }
        self.credit -= 1;
        if !self.changed {
            self.fast = self.fast.saturating_sub(1);
        }
        self.changed = false;
        self.next = now.saturating_add(if self.fast > 0 { timers.fast_interval } else { timers.interval });
        Some(What::Unit)
    }

    /// Regains one credit per second.
    fn earn(&mut self, now: Time, timers: &Timers) {
        let seconds = now.saturating_since(self.credited).as_picos() / SECOND.as_picos();
        let most = timers.credit.max(1);
        let credit = u64::from(self.credit).saturating_add(seconds);
        if credit >= u64::from(most) {
            (self.credit, self.credited) = (most, now);
        } else {
            self.credit = credit as u8;
            self.credited = self.credited.saturating_add(SECOND * seconds);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(transmit: &mut Transmit, timers: &Timers, until: Time) -> Vec<u64> {
        let mut times = Vec::new();
        while let Some(at) = transmit.due().filter(|&at| at <= until) {
            if transmit.take(at, timers).is_some() {
                times.push(at.as_picos() / 1_000_000_000);
            }
        }
        times
    }

    const fn at(millis: u64) -> Time {
        Time::from_picos(millis * 1_000_000_000)
    }

    #[test]
    fn regularly_and_quickly_after_a_neighbour() {
        let timers = Timers::default();
        let mut transmit = Transmit::new(Time::ZERO, &timers);
        assert_eq!(sent(&mut transmit, &timers, at(65_000)), [0, 30_000, 60_000]);
        transmit.on_neighbour(at(65_500), &timers);
        let seen = sent(&mut transmit, &timers, at(130_000));
        assert_eq!(seen, [65_500, 66_500, 67_500, 68_500, 98_500, 128_500]);
    }

    #[test]
    fn changes_wait_for_credit() {
        let timers = Timers::default();
        let mut transmit = Transmit::new(Time::ZERO, &timers);
        let mut seen = Vec::new();
        for tick in 0..40 {
            transmit.on_change(at(tick * 100));
            seen.extend(sent(&mut transmit, &timers, at(tick * 100)));
        }
        // Five at once, then one a second.
        assert_eq!(seen, [0, 100, 200, 300, 400, 1000, 2000, 3000]);
    }

    #[test]
    fn a_shutdown_is_said_once_and_waited_after() {
        let timers = Timers::default();
        let mut transmit = Transmit::new(Time::ZERO, &timers);
        assert_eq!(transmit.take(Time::ZERO, &timers), Some(What::Unit));
        transmit.leave();
        assert_eq!(transmit.take(at(500), &timers), Some(What::Shutdown));
        assert_eq!((transmit.take(at(600), &timers), transmit.due()), (None, None));
        transmit.start(at(700), &timers);
        assert_eq!(transmit.due(), Some(at(2500)));
    }

    #[test]
    fn nothing_is_sent_without_a_link_and_at_once_with_one() {
        let timers = Timers::default();
        let mut transmit = Transmit::new(Time::ZERO, &timers);
        assert_eq!(sent(&mut transmit, &timers, at(1)), [0]);
        transmit.unlink();
        assert_eq!((transmit.due(), transmit.take(at(40_000), &timers)), (None, None));
        transmit.link(at(50_000));
        assert_eq!(sent(&mut transmit, &timers, at(100_000)), [50_000, 80_000]);
    }

    #[test]
    fn what_is_sent_lives_as_long_as_lldpads() {
        assert_eq!(Timers::default().time_to_live(), 120);
        let endless = Timers { interval: Span::from_secs(3600), hold: 100, ..Timers::default() };
        assert_eq!(endless.time_to_live(), u16::MAX);
    }
}
