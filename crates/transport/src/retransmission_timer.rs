//! The retransmission timer of TCP (RFC 6298).

use units::{Span, Time};

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RetransmissionTimer {
    least: Span,
    most: Span,
    /// Clock granularity G.
    granularity: Span,
    /// SRTT and RTTVAR, once there was a sample.
    smoothed: Option<(Span, Span)>,
    timeout: Span,
    deadline: Option<Time>,
}

units::state!(struct RetransmissionTimer { fixed: least, most, granularity; plain: smoothed, timeout, deadline; });

impl RetransmissionTimer {
    pub(crate) const fn new(initial: Span, least: Span, most: Span, granularity: Span) -> RetransmissionTimer {
        RetransmissionTimer { least, most, granularity, smoothed: None, timeout: initial, deadline: None }
    }

    /// A round trip was measured, by time stamps, so also of retransmitted frames (section 3). Rules 2.2 and 2.3; also
    /// ends a back-off, as section 5 allows.
    pub(crate) fn on_sample(&mut self, sample: Span) {
        let (mean, variation) = match self.smoothed {
            None => (sample, Span::from_picos(sample.as_picos() / 2)),
            Some((mean, variation)) => {
                let (s, m, v) = (sample.as_picos(), mean.as_picos(), variation.as_picos());
                let variation = v - v / 4 + m.abs_diff(s) / 4;
                (Span::from_picos(m - m / 8 + s / 8), Span::from_picos(variation))
            }
        };
        self.smoothed = Some((mean, variation));
        let slack = Span::from_picos(variation.as_picos().saturating_mul(4)).max(self.granularity);
        self.timeout = Span::from_picos(mean.as_picos().saturating_add(slack.as_picos())).clamp(self.least, self.most);
    }

    /// Rule 5.1: a frame is sent.
    pub(crate) fn on_sent(&mut self, now: Time) {
        self.deadline.get_or_insert(now.saturating_add(self.timeout));
    }

    /// Rules 5.2 and 5.3: new data is acknowledged.
    pub(crate) fn restart(&mut self, now: Time, outstanding: bool) {
        self.deadline = outstanding.then(|| now.saturating_add(self.timeout));
    }

    /// Rules 5.5 and 5.6: it expired; the retransmission starts it again.
    pub(crate) fn back_off(&mut self) {
        self.timeout = Span::from_picos(self.timeout.as_picos().saturating_mul(2)).min(self.most);
        self.deadline = None;
    }

    pub(crate) fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    #[cfg(test)]
    pub(crate) fn timeout(&self) -> Span {
        self.timeout
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timer() -> RetransmissionTimer {
        RetransmissionTimer::new(Span::from_secs(1), Span::from_micros(1), Span::from_secs(60), Span::ZERO)
    }

    #[test]
    fn the_timeout_follows_the_rules_of_the_standard() {
        let mut timer = timer();
        assert_eq!(timer.timeout(), Span::from_secs(1));
        // R = 100: SRTT = 100, RTTVAR = 50, RTO = 300.
        timer.on_sample(Span::from_micros(100));
        assert_eq!(timer.timeout(), Span::from_micros(300));
        // R = 180: RTTVAR = 3/4 50 + 1/4 80 = 57.5, SRTT = 7/8 100 + 1/8 180 = 110, RTO = 340.
        timer.on_sample(Span::from_micros(180));
        assert_eq!(timer.timeout(), Span::from_micros(340));
    }

    #[test]
    fn it_backs_off_to_its_limit_and_recovers_with_a_sample() {
        let mut timer = timer();
        timer.on_sample(Span::from_secs(10));
        timer.back_off();
        assert_eq!((timer.timeout(), timer.deadline()), (Span::from_secs(60), None));
        timer.back_off();
        assert_eq!(timer.timeout(), Span::from_secs(60));
        timer.on_sample(Span::from_secs(10));
        assert!(timer.timeout() < Span::from_secs(30));
    }

    #[test]
    fn it_runs_while_data_is_outstanding() {
        let mut timer = timer();
        let at = |secs| Time::ZERO + Span::from_secs(secs);
        timer.on_sent(at(0));
        timer.on_sent(at(5));
        assert_eq!(timer.deadline(), Some(at(1)));
        timer.restart(at(6), true);
        assert_eq!(timer.deadline(), Some(at(7)));
        timer.restart(at(6), false);
        assert_eq!(timer.deadline(), None);
    }

    #[test]
    fn it_never_falls_below_its_least_value_or_the_granularity() {
        let mut timer = RetransmissionTimer::new(
            Span::from_secs(1),
            Span::from_millis(1),
            Span::from_secs(60),
            Span::from_millis(4),
        );
        (0..100).for_each(|_| timer.on_sample(Span::from_micros(10)));
        assert_eq!(timer.timeout(), Span::from_micros(4010));
        let mut timer =
            RetransmissionTimer::new(Span::from_secs(1), Span::from_millis(1), Span::from_secs(60), Span::ZERO);
        (0..100).for_each(|_| timer.on_sample(Span::from_micros(10)));
        assert_eq!(timer.timeout(), Span::from_millis(1));
    }
}
