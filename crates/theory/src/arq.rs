//! Efficiency of automatic repeat request: the share of a link's capacity that carries frames which are delivered for
//! the first time, when frames are lost independently and replies are not.
//!
//! The formulas are those of textbooks (Bertsekas and Gallager, "Data Networks", section 2.4; Stallings, "Data and
//! Computer Communications", the appendix on the performance of link protocols). Times are in units of the frame time:
//! `round_trip` is the time from the end of a frame to the arrival of its reply, `2a` in Stallings.

use crate::Error;

/// Refuses what is not a probability of loss below one.
pub(crate) fn probability(loss: f64) -> Result<(), Error> {
    let rule = "a loss rate must be at least 0 and below 1";
    if (0.0..1.0).contains(&loss) { Ok(()) } else { Err(Error::BadParameter { name: "loss", value: loss, rule }) }
}

fn time(name: &'static str, value: f64) -> Result<(), Error> {
    let rule = "a time must be finite and not negative";
    if value >= 0.0 && value.is_finite() { Ok(()) } else { Err(Error::BadParameter { name, value, rule }) }
}

/// Returns the efficiency of stop-and-wait: `1 / (1 + round_trip + timeout loss / (1 - loss))`.
///
/// A frame that arrives takes its own time and the round trip. One that is lost takes the timeout, which runs from the
/// start of the frame. Stallings' `(1 - loss) / (1 + 2a)` is the case of `timeout = 1 + round_trip`.
///
/// # Errors
/// Fails if the loss rate is not in [0, 1) or a time is negative.
pub fn stop_and_wait(loss: f64, round_trip: f64, timeout: f64) -> Result<f64, Error> {
    probability(loss)?;
    time("round_trip", round_trip)?;
    time("timeout", timeout)?;
    Ok(1.0 / (1.0 + round_trip + timeout * loss / (1.0 - loss)))
}

/// Returns the efficiency of go-back-N with a window that never closes, if each loss costs `wasted` frames: the lost one
/// and those sent after it until the source goes back. `(1 - loss) / (1 - loss + wasted loss)`.
///
/// Stallings counts `wasted = 1 + 2a`: a reply to the lost frame itself, as if the receiver knew that it was due. A
/// receiver that reports a gap knows when the next frame arrives: see [`wasted_by_gap`].
///
/// # Errors
/// Fails if the loss rate is not in [0, 1) or `wasted` is negative.
pub fn go_back_n(loss: f64, wasted: f64) -> Result<f64, Error> {
    probability(loss)?;
    time("wasted", wasted)?;
    Ok((1.0 - loss) / (1.0 - loss + wasted * loss))
}

/// Returns the efficiency of go-back-N with a window that closes before the first reply arrives: each loss costs the frames
/// of a whole window, `window (1 - loss) / ((1 + round_trip) (1 - loss + window loss))`, Stallings' second case. With a
/// window of `1 + round_trip` or more it does not close, and the loss costs a round trip: [`go_back_n`].
///
/// # Errors
/// Fails if the loss rate is not in [0, 1), or the window or the time is negative.
pub fn go_back_n_in_window(loss: f64, window: f64, round_trip: f64) -> Result<f64, Error> {
    probability(loss)?;
    time("window", window)?;
    time("round_trip", round_trip)?;
    if window >= 1.0 + round_trip {
        return go_back_n(loss, 1.0 + round_trip);
    }
    Ok(window * (1.0 - loss) / ((1.0 + round_trip) * (1.0 - loss + window * loss)))
}

/// Returns how many frames a loss costs in go-back-N if the receiver sends a NAK when a later frame arrives and repeats it
/// after a round trip: the lost one, those up to the first later one that arrives, and those of the round trip:
/// `1 + 1 / (1 - loss) + round_trip`. The round trip is a whole number of frames.
///
/// # Errors
/// Fails if the loss rate is not in [0, 1) or the time is negative.
pub fn wasted_by_gap(loss: f64, round_trip: f64) -> Result<f64, Error> {
    probability(loss)?;
    time("round_trip", round_trip)?;
    Ok(1.0 + 1.0 / (1.0 - loss) + round_trip)
}

/// Returns the efficiency of selective repeat: `1 - loss`, times `window / (1 + round_trip)` if the window closes before
/// the first reply arrives.
///
/// It holds if a lost frame costs only itself: the window must not close while a loss is being detected and repaired, or
/// be counted in frames that are in the network.
///
/// # Errors
/// Fails if the loss rate is not in [0, 1), or the window or the time is negative.
pub fn selective_repeat(loss: f64, window: f64, round_trip: f64) -> Result<f64, Error> {
    probability(loss)?;
    time("window", window)?;
    time("round_trip", round_trip)?;
    let open = window / (1.0 + round_trip);
    Ok((1.0 - loss) * if open < 1.0 { open } else { 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-12
    }

    #[test]
    fn without_loss_the_link_is_full_or_waits_for_the_window() {
        assert_eq!(stop_and_wait(0.0, 9.0, 100.0), Ok(0.1));
        assert_eq!(go_back_n(0.0, 10.0), Ok(1.0));
        assert_eq!(selective_repeat(0.0, 20.0, 9.0), Ok(1.0));
        assert_eq!(selective_repeat(0.0, 5.0, 9.0), Ok(0.5));
    }

    #[test]
    fn the_textbooks_cases() {
        // Stallings: stop-and-wait (1 - P) / (1 + 2a), go-back-N (1 - P) / (1 + 2aP), selective repeat 1 - P.
        let (loss, a) = (0.05, 3.0);
        let all = 1.0 + 2.0 * a;
        assert!(close(stop_and_wait(loss, 2.0 * a, all).unwrap(), (1.0 - loss) / all));
        assert!(close(go_back_n(loss, all).unwrap(), (1.0 - loss) / (1.0 + 2.0 * a * loss)));
        assert!(close(selective_repeat(loss, 7.0, 2.0 * a).unwrap(), 1.0 - loss));
        // With W < 2a + 1: go-back-N W (1 - P) / ((2a + 1) (1 - P + WP)), selective repeat W (1 - P) / (2a + 1).
        let window = 4.0;
        let expected = window * (1.0 - loss) / (all * (1.0 - loss + window * loss));
        assert!(close(go_back_n_in_window(loss, window, 2.0 * a).unwrap(), expected));
        assert!(close(selective_repeat(loss, window, 2.0 * a).unwrap(), window * (1.0 - loss) / all));
        // The two cases meet where the window just does not close.
        let [below, at] = [all - 1e-9, all].map(|window| go_back_n_in_window(loss, window, 2.0 * a).unwrap());
        assert!((below - at).abs() < 1e-8 && close(at, go_back_n(loss, all).unwrap()));
    }

    #[test]
    fn with_a_window_of_one_and_no_round_trip_all_are_the_same() {
        for loss in [0.0, 0.1, 0.5] {
            let expected = 1.0 - loss;
            assert!(close(stop_and_wait(loss, 0.0, 1.0).unwrap(), expected));
            assert!(close(go_back_n(loss, 1.0).unwrap(), expected));
            assert!(close(go_back_n_in_window(loss, 1.0, 0.0).unwrap(), expected));
            assert!(close(selective_repeat(loss, 1.0, 0.0).unwrap(), expected));
        }
    }

    #[test]
    fn what_is_no_probability_or_time_is_refused() {
        assert!(stop_and_wait(1.0, 1.0, 1.0).is_err() && stop_and_wait(-0.1, 1.0, 1.0).is_err());
        assert!(stop_and_wait(f64::NAN, 1.0, 1.0).is_err() && stop_and_wait(0.1, -1.0, 1.0).is_err());
        assert!(go_back_n(0.1, f64::INFINITY).is_err() && wasted_by_gap(2.0, 1.0).is_err());
        assert!(selective_repeat(0.1, -1.0, 1.0).is_err() && go_back_n_in_window(0.1, -1.0, 1.0).is_err());
    }
}
