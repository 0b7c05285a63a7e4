//! The selection of flows to notify: sampling and reflection probabilities of Neeser et al. 2012, equations (2) to (5).
//!
//! A congestion point that selects the flow of the last arriving frame selects a flow with a probability equal to its
//! share of the arrivals; one that selects the flow of a random unit of its buffer, with a probability equal to its
//! share of the buffer. Either notifies the flow only if the buffer is congested at that moment.

/// Returns the share of each flow: of the arrival rate, equation (2), or of the occupancy, equation (4). Returns `None`
/// if the sum is zero.
#[must_use]
pub fn shares(amounts: &[f64]) -> Option<Vec<f64>> {
    let total: f64 = amounts.iter().sum();
    (total > 0.0 && amounts.iter().all(|&amount| amount >= 0.0))
        .then(|| amounts.iter().map(|&amount| amount / total).collect())
}

/// Returns the probability that a sample notifies a flow: equations (3) and (5).
#[must_use]
pub fn reflection(share: f64, congested: f64) -> f64 {
    share * congested
}

/// Returns the confidence interval of a share after `hits` of `draws`, for that many standard deviations (Wilson's
/// score interval). Returns `None` without draws.
#[must_use]
pub fn confidence(hits: u64, draws: u64, deviations: f64) -> Option<(f64, f64)> {
    if draws == 0 || hits > draws {
        return None;
    }
    let (n, z2) = (draws as f64, deviations * deviations);
    let p = hits as f64 / n;
    let middle = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = deviations * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt() / (1.0 + z2 / n);
    Some(((middle - half).max(0.0), (middle + half).min(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_parts_of_the_whole() {
        assert_eq!(shares(&[1.0, 3.0]), Some(vec![0.25, 0.75]));
        assert_eq!(shares(&[0.0, 0.0]), None);
        assert_eq!(shares(&[]), None);
        assert_eq!(shares(&[1.0, -0.5]), None);
        assert!((reflection(0.25, 0.5) - 0.125).abs() < 1e-15);
    }

    #[test]
    fn a_textbook_interval_of_a_share() {
        // 20 of 100 at 95 %: 13.3 to 28.9 %.
        let (low, high) = confidence(20, 100, 1.959_964).unwrap();
        assert!((low - 0.1334).abs() < 1e-4 && (high - 0.2888).abs() < 1e-4, "{low} {high}");
        assert_eq!(confidence(0, 0, 2.0), None);
        assert_eq!(confidence(0, 10, 2.0).unwrap().0, 0.0);
    }
}
