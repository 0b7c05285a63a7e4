//! Settling of a varying quantity within a band that is known only at the end.

use units::Time;

/// Values that no later one exceeds, in falling order, and values that no later one falls below, in rising order, each
/// with the end of its interval. They determine when a value was last above or below any other, and do not grow with
/// the number of samples.
#[derive(Clone, Debug, Default)]
pub(super) struct Rest {
    peaks: Vec<(u64, Time)>,
    dips: Vec<(u64, Time)>,
}

impl Rest {
    /// Adds a value that held until then.
    pub(super) fn hold(&mut self, value: u64, until: Time) {
        while self.peaks.pop_if(|(peak, _)| *peak <= value).is_some() {}
        self.peaks.push((value, until));
        while self.dips.pop_if(|(dip, _)| *dip >= value).is_some() {}
        self.dips.push((value, until));
    }

    /// Returns the end of the last interval in which the value differed from a mean by more than a fraction of the
    /// mean.
    pub(super) fn last_outside(&self, mean: f64, within: f64) -> Option<Time> {
        let above = self.peaks.iter().rev().find(|(value, _)| *value as f64 > mean * (1.0 + within));
        let below = self.dips.iter().rev().find(|(value, _)| (*value as f64) < mean * (1.0 - within));
        above.into_iter().chain(below).map(|(_, until)| *until).max()
    }

    /// Returns the number of stored values.
    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.peaks.len() + self.dips.len()
    }
}
