//! The mean over a sliding window, exactly: papers draw throughput this way.

use units::{Span, Time};

/// What was counted in one interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// When the interval ended.
    pub end: Time,
    /// How long it was.
    pub length: Span,
    /// What was counted in it.
    pub amount: u64,
}

/// The amount per second over the last `window` before each instant, from the first interval to `until`.
///
/// What an interval counted is taken as spread evenly over it; between intervals there was nothing. The result is then
/// a line of straight pieces, and the points returned are exactly its corners. For the first `window` of the run
/// it rises, since there was nothing before. Intervals must follow each other in time; a window of zero gives nothing.
#[must_use]
pub fn sliding_window(intervals: &[Interval], window: Span, until: Time) -> Vec<(Time, f64)> {
    let curve = Curve::new(intervals);
    if window == Span::ZERO || curve.corners.is_empty() {
        return Vec::new();
    }
    let mut instants: Vec<u64> = Vec::with_capacity(curve.corners.len() * 2 + 1);
    for &(at, _) in &curve.corners {
        instants.push(at);
        instants.push(at.saturating_add(window.as_picos()));
    }
    instants.push(until.as_picos());
    instants.retain(|&at| at <= until.as_picos());
    instants.sort_unstable();
    instants.dedup();
    // The window's two ends walk along the curve with it.
    let (mut front, mut back) = (0, 0);
    let rate = |at: u64| {
        let sum = curve.at(at, &mut front) - curve.at(at.saturating_sub(window.as_picos()), &mut back);
        (Time::from_picos(at), sum * 1e12 / window.as_picos() as f64)
    };
    instants.into_iter().map(rate).collect()
}

/// The amount counted so far, as corners of a line.
struct Curve {
    corners: Vec<(u64, f64)>,
}

impl Curve {
    fn new(intervals: &[Interval]) -> Curve {
        let mut corners: Vec<(u64, f64)> = Vec::with_capacity(intervals.len() + 1);
        let mut sum = 0u64;
        for interval in intervals {
            let end = interval.end.as_picos();
            let start = end.saturating_sub(interval.length.as_picos());
            match corners.last() {
                Some(&(last, _)) if last >= start => {}
                _ => corners.push((start, sum as f64)),
            }
            sum = sum.saturating_add(interval.amount);
            corners.push((end, sum as f64));
        }
        Curve { corners }
    }

    /// The height at an instant; `from` remembers where the last question led.
    fn at(&self, at: u64, from: &mut usize) -> f64 {
        while *from < self.corners.len() && self.corners[*from].0 < at {
            *from += 1;
        }
        let Some(&(right, high)) = self.corners.get(*from) else {
            return self.corners.last().map_or(0.0, |&(_, high)| high);
        };
        let Some(&(left, low)) = from.checked_sub(1).and_then(|before| self.corners.get(before)) else { return high };
        if right == left {
            return high;
        }
        low + (high - low) * ((at - left) as f64 / (right - left) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(end: u64, amount: u64) -> Interval {
        Interval { end: Time::ZERO + Span::from_micros(end), length: Span::from_micros(1), amount }
    }

    fn points(intervals: &[Interval], window: u64, until: u64) -> Vec<(u64, f64)> {
        let points = sliding_window(intervals, Span::from_micros(window), Time::ZERO + Span::from_micros(until));
        points.into_iter().map(|(at, rate)| (at.as_picos() / 1_000_000, rate)).collect()
    }

    #[test]
    fn steady_traffic_rises_over_one_window_and_stays() {
        let steady: Vec<Interval> = (1..=6).map(|end| interval(end, 1000)).collect();
        let expected = [(0, 0.0), (1, 5e8), (2, 1e9), (3, 1e9), (4, 1e9), (5, 1e9), (6, 1e9)];
        assert_eq!(points(&steady, 2, 6), expected);
    }

    #[test]
    fn a_missing_interval_means_nothing_and_the_rate_falls_to_zero() {
        let burst = [interval(1, 1000)];
        assert_eq!(points(&burst, 1, 9), [(0, 0.0), (1, 1e9), (2, 0.0), (9, 0.0)]);
        let two = [interval(1, 1000), interval(9, 2000)];
        assert_eq!(points(&two, 1, 9), [(0, 0.0), (1, 1e9), (2, 0.0), (8, 0.0), (9, 2e9)]);
    }

    #[test]
    fn a_window_shorter_than_the_interval_shows_the_interval_rate() {
        let points = sliding_window(&[interval(1, 1000)], Span::from_nanos(100), Time::ZERO + Span::from_micros(1));
        let rates: Vec<f64> = points.iter().map(|&(_, rate)| rate).collect();
        assert_eq!(points.len(), 3);
        assert!((rates[1] - 1e9).abs() < 1.0 && (rates[2] - 1e9).abs() < 1.0, "{rates:?}");
    }

    #[test]
    fn nothing_comes_of_nothing() {
        assert!(points(&[], 1, 5).is_empty());
        assert!(points(&[interval(1, 5)], 0, 5).is_empty());
        assert_eq!(points(&[interval(3, 5)], 1, 1), [(1, 0.0)]);
    }
}
