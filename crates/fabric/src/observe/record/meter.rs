//! What a port has sent, up to any instant: a frame that is on the wire counts for the part that has left.

use super::rows::LinkSample;
use units::{Span, Time};

/// Sums of one port.
#[derive(Clone, Debug, Default)]
pub(super) struct Meter {
    /// Whether it has sent or starved since it was last asked, or does so still.
    pub(super) active: bool,
    /// Of all frames started.
    bytes: u64,
    frames: u64,
    busy: Span,
    /// The latest frame started.
    last_len: u16,
    last_busy: Span,
    last_end: Time,
    /// What was told up to the last time it was asked.
    told_bytes: u64,
    told_frames: u64,
    told_busy: Span,
    told_starved: Span,
    /// How long it has stood still for want of credits, and since when it does.
    starved: Span,
    starving: Option<Time>,
}

engine::encoded!(struct Meter { active, bytes, frames, busy, last_len, last_busy, last_end, told_bytes, told_frames, told_busy, told_starved, starved, starving });

impl Meter {
    /// A frame starts.
    #[inline]
    pub(super) fn note(&mut self, now: Time, len: u16, busy: Span) {
        self.feed(now);
        self.bytes += u64::from(len);
        self.frames += 1;
        self.busy += busy;
        (self.last_len, self.last_busy, self.last_end) = (len, busy, now.saturating_add(busy));
    }

    /// Frames wait, and there are no credits for them.
    pub(super) fn starve(&mut self, now: Time) {
        self.starving.get_or_insert(now);
    }

    /// It starves no more.
    #[inline]
    pub(super) fn feed(&mut self, now: Time) {
        if let Some(since) = self.starving.take() {
            self.starved += now.saturating_since(since);
        }
    }

    /// How long the wire has been in use up to now.
    pub(super) fn busy(&self, now: Time) -> Span {
        self.busy - self.left(now)
    }

    /// How long it has stood still for want of credits up to now.
    pub(super) fn starved(&self, now: Time) -> Span {
        self.starved + self.starving.map_or(Span::ZERO, |since| now.saturating_since(since))
    }

    /// What is left of the latest frame.
    fn left(&self, now: Time) -> Span {
        self.last_end.saturating_since(now).min(self.last_busy)
    }

    /// The row of the interval that ends now, if there is anything to tell of it.
    pub(super) fn close(&mut self, now: Time, port: u32, interval: Span) -> Option<LinkSample> {
        let left = self.left(now);
        let unsent = u128::from(self.last_len) * u128::from(left.as_picos());
        let unsent = unsent / u128::from(self.last_busy.as_picos().max(1));
        let (total_bytes, total_busy) = (self.bytes - unsent as u64, self.busy - left);
        let starving = self.starving.is_some();
        self.feed(now);
        self.starving = starving.then_some(now);
        let row = LinkSample {
            time: now,
            port,
            interval,
            bytes: total_bytes - self.told_bytes,
            frames: self.frames - self.told_frames,
            busy: total_busy - self.told_busy,
            total_bytes,
            starved: self.starved - self.told_starved,
        };
        (self.told_bytes, self.told_frames, self.told_busy) = (total_bytes, self.frames, total_busy);
        self.told_starved = self.starved;
        self.active = left > Span::ZERO || starving;
        (row.frames > 0 || row.bytes > 0 || row.busy > Span::ZERO || row.starved > Span::ZERO).then_some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Time {
        Time::ZERO + Span::from_nanos(nanos)
    }

    #[test]
    fn a_frame_across_the_border_counts_on_both_sides() {
        let mut meter = Meter { active: true, ..Meter::default() };
        let interval = Span::from_nanos(1000);
        meter.note(at(800), 1000, Span::from_nanos(800));
        assert_eq!(meter.busy(at(900)), Span::from_nanos(100));
        let first = meter.close(at(1000), 4, interval).expect("a quarter was sent");
        assert_eq!((first.bytes, first.frames, first.busy), (250, 1, Span::from_nanos(200)));
        assert!(meter.active);
        let second = meter.close(at(2000), 4, interval).expect("the rest was sent");
        assert_eq!((second.bytes, second.frames, second.busy), (750, 0, Span::from_nanos(600)));
        assert_eq!(second.total_bytes, 1000);
        assert_eq!(meter.busy(at(2000)), Span::from_nanos(800));
        assert!(!meter.active);
        assert_eq!(meter.close(at(3000), 4, interval), None);
    }

    #[test]
    fn a_wire_starves_until_credits_come_or_a_frame_starts() {
        let mut meter = Meter { active: true, ..Meter::default() };
        let interval = Span::from_nanos(1000);
        meter.starve(at(400));
        meter.starve(at(500));
        let first = meter.close(at(1000), 4, interval).expect("it starves");
        assert_eq!((first.bytes, first.starved), (0, Span::from_nanos(600)));
        assert!(meter.active);
        meter.note(at(1100), 1000, Span::from_nanos(300));
        meter.starve(at(1400));
        meter.feed(at(1450));
        meter.feed(at(1500));
        let second = meter.close(at(2000), 4, interval).expect("it has sent");
        assert_eq!((second.busy, second.starved), (Span::from_nanos(300), Span::from_nanos(150)));
        assert_eq!(meter.starved(at(2000)), Span::from_nanos(750));
        meter.starve(at(2000));
        assert_eq!(meter.starved(at(2100)), Span::from_nanos(850));
        meter.feed(at(2000));
        assert!(!meter.active);
        assert_eq!(meter.close(at(3000), 4, interval), None);
    }

    #[test]
    fn a_busy_wire_is_never_more_than_busy() {
        let mut meter = Meter::default();
        let busy = Span::from_picos(1_216_001);
        let mut start = Time::ZERO;
        let mut sum = Span::ZERO;
        for sample in 1..200u64 {
            let now = at(sample * 700);
            while start < now {
                meter.note(start, 1500, busy);
                start += busy;
            }
            let row = meter.close(now, 0, Span::from_nanos(700)).expect("always busy");
            assert_eq!(row.busy, Span::from_nanos(700));
            sum += row.busy;
        }
        assert_eq!(sum, Span::from_nanos(199 * 700));
    }
}
