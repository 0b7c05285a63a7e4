//! What a sender with selective repeat knows about its frames: arrived, lost, retransmitted, in flight (the scoreboard
//! of RFC 6675, section 4).

use crate::bitmap::Bitmap;
use std::collections::VecDeque;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scoreboard {
    /// All frames below are known to have arrived (`HighACK` + 1).
    acknowledged: u64,
    /// Frames sent at least once (`HighData` + 1).
    sent: u64,
    /// Frames above that are known to have arrived.
    arrived: Bitmap,
    /// How many those are.
    above: u64,
    /// Frames below that are not known to have arrived are lost.
    lost_below: u64,
    /// Frames below that were lost have been retransmitted (`HighRxt` + 1). Never points at a frame that has arrived or is
    /// in `repeated`.
    again: u64,
    /// Frames of which only the header arrived: lost, whatever their number. None that is lost by its number, too.
    trimmed: VecDeque<u64>,
    /// Frames that were retransmitted because of that and are not known to have arrived: no number makes them lost again.
    repeated: Bitmap,
}

units::encoded!(struct Scoreboard { acknowledged, sent, arrived, above, lost_below, again, trimmed, repeated });

impl Scoreboard {
    #[inline]
    pub(crate) fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    #[inline]
    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }

    /// Frames sent and not acknowledged cumulatively.
    #[inline]
    pub(crate) fn outstanding(&self) -> u64 {
        self.sent - self.acknowledged
    }

    /// A frame starts, for the first time or again.
    #[inline]
    pub(crate) fn on_sent(&mut self, number: u64) {
        if number == self.sent {
            self.sent += 1;
            return;
        }
        if self.trimmed.front() == Some(&number) {
            self.trimmed.pop_front();
            self.repeated.insert(number);
            self.settle();
        }
        if number == self.again {
            self.again += 1;
            self.settle();
        }
    }

    /// All frames below a number have arrived; returns how many are news.
    #[inline]
    pub(crate) fn on_cumulative(&mut self, number: u64) -> u64 {
        if number <= self.acknowledged {
            return 0;
        }
        let mut news = number - self.acknowledged;
        if self.above > 0 {
            let known = self.arrived.count(self.acknowledged, number);
            self.above -= known;
            news -= known;
            self.arrived.drop_below(number);
        }
        self.acknowledged = number;
        self.settle();
        news
    }

    /// Frames from one number to before another have arrived; returns how many are news.
    pub(crate) fn on_arrived(&mut self, start: u64, end: u64) -> u64 {
        self.arrived.drop_below(self.acknowledged);
        let numbers = start.max(self.acknowledged)..end.min(self.sent);
        let mut news = 0;
        for number in numbers {
            if self.arrived.insert(number) {
                self.repeated.remove(number);
                news += 1;
            }
        }
        if news > 0 {
            self.above += news;
            self.settle();
        }
        news
    }

    /// Only the header of a frame arrived.
    pub(crate) fn on_trimmed(&mut self, number: u64) {
        if number < self.sent && !self.trimmed.contains(&number) {
            self.repeated.remove(number);
            self.trimmed.push_back(number);
            self.settle();
        }
    }

    /// Frames that at least `threshold` larger ones have overtaken are lost.
    pub(crate) fn lose_overtaken(&mut self, threshold: u32) {
        if self.above < u64::from(threshold) {
            return;
        }
        if let Some(number) = self.arrived.nth_largest(threshold - 1) {
            self.lose_below(number);
        }
    }

    /// Frames below a number that are not known to have arrived are lost; those that were retransmitted are not lost again.
    pub(crate) fn lose_below(&mut self, number: u64) {
        self.lost_below = self.lost_below.max(number.min(self.sent));
        self.settle();
    }

    /// All frames that are not known to have arrived are lost, also those retransmitted.
    pub(crate) fn lose_all(&mut self) {
        self.lost_below = self.sent;
        self.again = self.acknowledged;
        self.trimmed.clear();
        self.repeated = Bitmap::default();
        self.settle();
    }

    /// A new recovery begins: frames that were lost by their number may be lost again.
    pub(crate) fn begin(&mut self) {
        self.again = self.acknowledged;
        self.settle();
    }

    /// Whether the first unacknowledged frame is lost.
    pub(crate) fn first_is_lost(&self) -> bool {
        self.lost_below > self.acknowledged && !self.repeated.contains(self.acknowledged)
    }

    /// The next lost frame to retransmit.
    #[inline]
    pub(crate) fn next_lost(&self) -> Option<u64> {
        match self.trimmed.front() {
            Some(&number) => Some(number),
            None => (self.again < self.lost_below).then_some(self.again),
        }
    }

    /// The next frame that was not retransmitted and that a larger one has overtaken, lost or not.
    pub(crate) fn next_overtaken(&self) -> Option<u64> {
        let highest = self.arrived.nth_largest(0)?;
        (self.again < highest).then_some(self.again)
    }

    /// The largest frame that is not known to have arrived.
    pub(crate) fn last_unknown(&self) -> Option<u64> {
        self.arrived.last_absent(self.acknowledged, self.sent)
    }

    /// Frames that should be in the network (`pipe`): sent, not known to have arrived, and not lost, or retransmitted.
    #[inline]
    pub(crate) fn in_flight(&self) -> u64 {
        let unknown = self.outstanding() - self.above;
        if self.again >= self.lost_below && self.trimmed.is_empty() {
            return unknown;
        }
        let span = self.lost_below.saturating_sub(self.again);
        let [arrived, repeated] = [&self.arrived, &self.repeated].map(|set| set.count(self.again, self.lost_below));
        unknown - (span - arrived - repeated) - self.trimmed.len() as u64
    }

    /// Restores what the fields promise.
    fn settle(&mut self) {
        self.lost_below = self.lost_below.max(self.acknowledged);
        self.again = self.again.max(self.acknowledged);
        if self.above > 0 {
            self.again = self.arrived.next_absent(self.again);
        }
        if !self.repeated.is_empty() {
            self.repeated.drop_below(self.acknowledged);
            while self.repeated.contains(self.again) {
                self.again = self.arrived.next_absent(self.again + 1);
            }
        }
        if !self.trimmed.is_empty() {
            let lost = self.again..self.lost_below;
            let (acknowledged, arrived) = (self.acknowledged, &self.arrived);
            let open = |number: u64| number >= acknowledged && !arrived.contains(number) && !lost.contains(&number);
            self.trimmed.retain(|&number| open(number));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(frames: u64) -> Scoreboard {
        let mut board = Scoreboard::default();
        (0..frames).for_each(|number| board.on_sent(number));
        board
    }

    #[test]
    fn frames_overtaken_by_enough_others_are_lost() {
        let mut board = sent(10);
        assert_eq!(board.on_arrived(2, 4), 2);
        board.lose_overtaken(3);
        assert_eq!((board.next_lost(), board.in_flight()), (None, 8));
        assert_eq!(board.on_arrived(4, 5), 1);
        board.lose_overtaken(3);
        // 2, 3 and 4 have arrived: 0 and 1 are lost.
        assert_eq!((board.next_lost(), board.in_flight(), board.first_is_lost()), (Some(0), 5, true));
        board.on_sent(0);
        assert_eq!((board.next_lost(), board.in_flight()), (Some(1), 6));
        board.on_sent(1);
        assert_eq!((board.next_lost(), board.in_flight()), (None, 7));
        assert_eq!(board.on_cumulative(5), 2);
        assert_eq!((board.in_flight(), board.outstanding(), board.first_is_lost()), (5, 5, false));
    }

    #[test]
    fn after_a_timeout_everything_unknown_is_lost() {
        let mut board = sent(6);
        board.on_arrived(1, 2);
        board.on_arrived(4, 5);
        board.lose_all();
        assert_eq!(board.in_flight(), 0);
        for number in [0, 2, 3, 5] {
            assert_eq!(board.next_lost(), Some(number));
            board.on_sent(number);
        }
        assert_eq!((board.next_lost(), board.in_flight(), board.last_unknown()), (None, 4, Some(5)));
    }

    #[test]
    fn a_trimmed_frame_is_lost_whatever_its_number() {
        let mut board = sent(5);
        board.on_trimmed(3);
        board.on_trimmed(3);
        board.on_trimmed(9);
        assert_eq!((board.next_lost(), board.in_flight()), (Some(3), 4));
        board.on_sent(3);
        assert_eq!((board.next_lost(), board.in_flight()), (None, 5));
        // A frame that is lost by its number as well is lost once. Frame 3 is under way again.
        board.on_trimmed(1);
        board.on_arrived(4, 5);
        board.lose_overtaken(1);
        assert_eq!((board.next_lost(), board.in_flight()), (Some(0), 1));
        board.on_cumulative(2);
        assert_eq!((board.next_lost(), board.in_flight()), (Some(2), 1));
        board.on_cumulative(4);
        assert_eq!((board.next_lost(), board.in_flight()), (None, 0));
    }

    /// On a path that keeps the order, frames sent before the retransmission of a trimmed one arrive before it.
    #[test]
    fn a_trimmed_frame_that_was_retransmitted_is_not_lost_by_its_number() {
        let mut board = sent(12);
        board.on_trimmed(5);
        assert_eq!((board.next_lost(), board.in_flight()), (Some(5), 11));
        board.on_sent(5);
        board.begin();
        assert_eq!(board.on_cumulative(5), 5);
        for number in [6, 8] {
            board.on_arrived(number, number + 1);
            board.lose_overtaken(1);
        }
        // Of 5, 7 and the three from 9 on, only 7 is lost.
        assert_eq!((board.first_is_lost(), board.next_lost(), board.in_flight()), (false, Some(7), 4));
        board.on_sent(7);
        assert_eq!((board.next_lost(), board.next_overtaken(), board.in_flight()), (None, None, 5));
        // A new recovery may repeat 7, and the header of the copy says that 5 is lost again.
        board.begin();
        assert_eq!((board.next_lost(), board.in_flight()), (Some(7), 4));
        board.on_trimmed(5);
        assert_eq!((board.next_lost(), board.in_flight(), board.first_is_lost()), (Some(5), 3, true));
        board.begin();
        assert_eq!(board.next_lost(), Some(5));
        board.on_sent(5);
        board.on_sent(7);
        assert_eq!((board.next_lost(), board.in_flight()), (None, 5));
        board.on_arrived(5, 6);
        board.on_cumulative(7);
        assert_eq!((board.in_flight(), board.outstanding()), (4, 5));
        // A timeout forgets what was retransmitted.
        board.on_trimmed(10);
        board.on_sent(10);
        board.lose_all();
        let mut again = Vec::new();
        while let Some(number) = board.next_lost() {
            again.push(number);
            board.on_sent(number);
        }
        assert_eq!((again, board.in_flight()), (vec![7, 9, 10, 11], 4));
    }

    #[test]
    fn memory_follows_the_window_however_long_the_flow() {
        let mut board = Scoreboard::default();
        for number in 0..200_000 {
            board.on_sent(number);
            // Every hundredth frame is lost and repaired 300 frames later.
            if number % 100 != 0 {
                board.on_arrived(number, number + 1);
                board.lose_overtaken(3);
            }
            if let (true, Some(lost)) = (number % 100 == 50, board.next_lost()) {
                board.on_sent(lost);
                board.on_trimmed(lost);
            }
            if number % 100 == 0 && number >= 300 {
                board.on_cumulative(number - 200);
            }
        }
        assert!(board.outstanding() <= 400 && board.in_flight() <= 400);
        assert!(board.arrived.memory() <= 16 && board.trimmed.len() <= 8, "{:?}", board.arrived.memory());
    }

    #[test]
    fn what_was_never_sent_cannot_arrive() {
        let mut board = sent(3);
        assert_eq!(board.on_arrived(0, 100), 3);
        assert_eq!((board.in_flight(), board.last_unknown(), board.next_overtaken()), (0, None, None));
    }
}
