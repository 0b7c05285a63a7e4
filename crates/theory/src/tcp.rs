//! Throughput of additive increase and multiplicative decrease (one frame per round trip, one half) against loss rate,
//! in frames per round trip or second: the square-root law and the formula with timeouts.

use crate::Error;
use crate::arq::probability;
use units::math::pow;

/// The constant of the square-root law for losses at equal distances and an acknowledgement per frame: sqrt(3/2).
pub const PERIODIC: f64 = 1.224_744_871_391_589;

/// The constant of the square-root law for independent losses and an acknowledgement per frame (Ott, Kemperman and
/// Mathis, "The stationary behavior of ideal TCP congestion avoidance", 1996).
///
/// With n frames between two losses, exponential of mean 1/p, the window grows from w to `sqrt(w^2 + 2n)` and is halved.
/// So its square at a loss is `2 sum n_k / 4^k`, and the time between losses half of its mean, in round trips.
pub const RANDOM: f64 = 1.309_8;

/// Returns the frames per round trip by the square-root law, `constant / sqrt(loss)` (Mathis, Semke, Mahdavi and Ott, "The
/// macroscopic behavior of the TCP congestion avoidance algorithm", Computer Communication Review 27(3), 1997).
///
/// It holds for small loss rates: no timeouts, no slow start, a recovery takes no time, and a window is halved once per
/// loss, which several losses in one window are not.
///
/// # Errors
/// Fails if the loss rate is not above 0 and below 1.
pub fn square_root(loss: f64, constant: f64) -> Result<f64, Error> {
    above_zero(loss)?;
    Ok(constant / loss.sqrt())
}

/// What the formula with timeouts depends on besides the loss rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// Round trip in seconds.
    pub round_trip: f64,
    /// First timeout in seconds; it doubles six times.
    pub timeout: f64,
    /// Largest window in frames; infinite if there is none.
    pub window: f64,
    /// Frames per acknowledgement.
    pub every: f64,
}

/// Returns the frames sent per second by the full formula of Padhye, Firoiu, Towsley and Kurose ("Modeling TCP
/// throughput: a simple model and its empirical validation", SIGCOMM 1998).
///
/// Its assumptions: Reno; once a frame of a round is lost, all later ones of that round are lost, and rounds are
/// independent; a loss is a timeout if fewer than three duplicate acknowledgements follow; slow start takes no time; the
/// window after a timeout sequence is that after any other loss. `loss` is the probability that a frame is lost if none
/// of its round was before.
///
/// # Errors
/// Fails if the loss rate is not above 0 and below 1, or the path is impossible.
pub fn with_timeouts(loss: f64, path: &Path) -> Result<f64, Error> {
    above_zero(loss)?;
    let Path { round_trip, timeout, window, every } = *path;
    for (name, value) in [("round_trip", round_trip), ("timeout", timeout), ("window", window), ("every", every)] {
        if value.is_nan() || value <= 0.0 {
            return Err(Error::BadParameter { name, value, rule: "it must be above 0" });
        }
    }
    let kept = 1.0 - loss;
    let offset = (2.0 + every) / (3.0 * every);
    let unlimited = offset + (8.0 * kept / (3.0 * every * loss) + offset * offset).sqrt();
    let limited = unlimited >= window;
    let reached = if limited { window } else { unlimited };
    let timeouts = timeout_share(loss, reached);
    let frames = kept / loss + reached + timeouts / kept;
    let rounds = match limited {
        false => every / 2.0 * reached + 1.0,
        true => every / 8.0 * window + kept / (loss * window) + 2.0,
    };
    // Timeouts double six times: f(p) = 1 + p + 2p^2 + 4p^3 + ... + 32p^6.
    let backed_off = 1.0 + (0..6).map(|k| f64::from(1 << k) * pow(loss, f64::from(k + 1))).sum::<f64>();
    Ok(frames / (round_trip * rounds + timeouts * timeout * backed_off / kept))
}

/// Returns the probability that a loss in a window of so many frames is found by a timeout (Q of the same paper).
fn timeout_share(loss: f64, window: f64) -> f64 {
    let kept = 1.0 - loss;
    let three = pow(kept, 3.0);
    if window <= 3.0 {
        return 1.0;
    }
    let share = (1.0 - three) * (1.0 + three * (1.0 - pow(kept, window - 3.0))) / (1.0 - pow(kept, window));
    if share < 1.0 { share } else { 1.0 }
}

fn above_zero(loss: f64) -> Result<(), Error> {
    probability(loss)?;
    let rule = "it must be above 0: without loss the throughput has no bound";
    if loss > 0.0 { Ok(()) } else { Err(Error::BadParameter { name: "loss", value: loss, rule }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Stream;

    fn path(timeout: f64) -> Path {
        Path { round_trip: 1.0, timeout, window: f64::INFINITY, every: 1.0 }
    }

    #[test]
    fn the_constant_for_independent_losses_follows_from_the_recursion() {
        let mut stream = Stream::new(1, 0, "losses");
        let (mut window, mut rounds, count) = (0.0_f64, 0.0, 400_000);
        for _ in 0..count {
            let largest = (window * window + 2.0 * stream.exponential_f64(1.0)).sqrt();
            rounds += largest - window;
            window = largest / 2.0;
        }
        // Frames per round trip times sqrt(p), at p = 1.
        let constant = f64::from(count) / rounds;
        assert!((constant - RANDOM).abs() < 0.005, "{constant}");
    }

    #[test]
    fn without_timeouts_both_laws_agree_at_small_loss_rates() {
        let exact = with_timeouts(1e-6, &path(1e-9)).unwrap();
        let law = square_root(1e-6, PERIODIC).unwrap();
        assert!((exact / law - 1.0).abs() < 0.01, "{exact} {law}");
    }

    #[test]
    fn timeouts_and_a_limited_window_cost_throughput() {
        let free = with_timeouts(0.05, &path(1.0)).unwrap();
        assert!(with_timeouts(0.05, &path(10.0)).unwrap() < 0.6 * free);
        let small = Path { window: 4.0, ..path(1.0) };
        assert!(with_timeouts(1e-4, &small).unwrap() < 4.0);
        assert!(with_timeouts(1e-4, &small).unwrap() > 3.9);
        assert!(with_timeouts(0.02, &small).unwrap() < with_timeouts(0.02, &path(1.0)).unwrap());
    }

    /// The approximation in the same paper and in RFC 5348, section 3.1, for an acknowledgement per frame.
    #[test]
    fn the_full_formula_is_near_the_short_one() {
        for loss in [1e-4, 1e-3, 1e-2, 5e-2_f64] {
            let timeouts = 4.0 * (3.0 * (3.0 * loss / 8.0).sqrt()).min(1.0) * loss * (1.0 + 32.0 * loss * loss);
            let short = 1.0 / ((2.0 * loss / 3.0).sqrt() + timeouts);
            let full = with_timeouts(loss, &path(4.0)).unwrap();
            assert!((full / short - 1.0).abs() < 0.25, "{loss}: {full} {short}");
        }
    }

    #[test]
    fn impossible_values_are_refused() {
        assert!(square_root(0.0, 1.0).is_err() && square_root(1.0, 1.0).is_err());
        assert!(with_timeouts(0.0, &path(1.0)).is_err());
        assert!(with_timeouts(0.1, &Path { window: 0.0, ..path(1.0) }).is_err());
        assert!(with_timeouts(0.1, &Path { round_trip: f64::NAN, ..path(1.0) }).is_err());
    }
}
