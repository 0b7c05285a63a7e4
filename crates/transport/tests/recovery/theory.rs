//! Recoveries compared with what theory says about them.
//!
//! Losses are independent and replies are not lost, unless a test says otherwise.

use crate::harness::{Channel, Fixed, Outcome, Setup, Window, run};
use ::theory::arq::{go_back_n, go_back_n_in_window, selective_repeat, stop_and_wait, wasted_by_gap};
use ::theory::tcp::{self, Path};
use tailback_transport::congestion::Adapter;
use tailback_transport::congestion::parameter::{Value, Values};
use tailback_transport::units::{Bytes, Rate, Span, Time};
use tailback_transport::{Acknowledger, LossSignal, Progress, RECOVERIES, Recovery, Sender, Sending};

const FRAME: Span = Span::from_nanos(100);

fn recovery(name: &str, changes: &[(&'static str, Value)]) -> Recovery {
    let info = RECOVERIES.iter().find(|info| info.name == name).expect("it is in the catalogue");
    let start = Values::defaults(info.parameters);
    let values = changes.iter().fold(start, |values, (name, value)| values.with(name, value.clone()));
    (info.build)(&values).expect("it is valid")
}

/// A flow over a path with a round trip of that many frame times, from the end of a frame to its reply.
fn setup<W>(recovery: Recovery, round_trip: u64, loss: f64, window: W, frames: u64) -> Setup<W> {
    let half = Span::from_picos(FRAME.as_picos() * round_trip / 2);
    Setup {
        recovery,
        acknowledger: Acknowledger::every(1),
        data: Channel { loss, ..Channel::of(half) },
        replies: Channel::of(half),
        frame_time: FRAME,
        window,
        frames,
        seed: 1,
        limit: Time::MAX,
    }
}

/// The share of the time that carried frames for the first time.
fn efficiency(outcome: &Outcome) -> f64 {
    assert!(outcome.is_complete());
    let time = outcome.finished.expect("it is complete").as_picos() as f64;
    outcome.delivered.len() as f64 * FRAME.as_picos() as f64 / time
}

fn assert_near(what: &str, measured: f64, expected: f64, tolerance: f64) {
    let error = measured / expected - 1.0;
    assert!(error.abs() < tolerance, "{what}: {measured:.5}, by theory {expected:.5}: {:.2} % off", 100.0 * error);
}

#[test]
fn stop_and_wait_takes_exactly_the_time_that_theory_says() {
    let (round_trip, timeout, frames) = (20, 50, 1000);
    for loss in [0.0, 0.2] {
        let time = Value::Time(Span::from_picos(timeout * FRAME.as_picos()));
        let stop = recovery("go-back-n", &[("timeout", time)]);
        let outcome = run(&mut setup(stop, round_trip, loss, Fixed(1), frames));
        // In units of frames: each that arrives takes itself and the round trip, each that is lost the timeout.
        let exact = frames * (1 + round_trip) + outcome.timeouts * timeout;
        assert_eq!(outcome.finished, Some(Time::from_picos(exact * FRAME.as_picos())));
        let lost = outcome.timeouts as f64 / outcome.transmissions as f64;
        let expected = stop_and_wait(lost, round_trip as f64, timeout as f64).unwrap();
        assert_near("stop-and-wait", efficiency(&outcome), expected, 1e-9);
        assert!((lost - loss).abs() < 0.05);
    }
}

#[test]
fn go_back_n_wastes_a_round_trip_per_loss() {
    for (round_trip, loss) in [(0, 0.05), (4, 0.1), (20, 0.01), (50, 0.002), (50, 0.02)] {
        // A NAK is repeated for the first frame that is early again, never for those of the previous attempt.
        let again = Span::from_picos((round_trip + 2) * FRAME.as_picos());
        let back = recovery("go-back-n", &[("nak_interval", Value::Time(again))]);
        let outcome = run(&mut setup(back, round_trip, loss, Fixed(u64::MAX), 100_000));
        let wasted = wasted_by_gap(loss, round_trip as f64).unwrap();
        let expected = go_back_n(loss, wasted).unwrap();
        assert_near(&format!("go-back-N, {loss}, {round_trip}"), efficiency(&outcome), expected, 0.03);
        // The textbook's receiver knows of the loss one frame earlier, which matters on a short path.
        let textbook = go_back_n(loss, 1.0 + round_trip as f64).unwrap();
        assert!(round_trip > 4 || efficiency(&outcome) < 0.97 * textbook);
    }
}

#[test]
fn selective_repeat_wastes_only_what_is_lost() {
    let timeout = Value::Time(Span::from_micros(100));
    for name in ["selective-repeat", "sack"] {
        let changes: &[_] = match name {
            "sack" => &[
                ("min_timeout", timeout.clone()),
                ("max_timeout", timeout.clone()),
                ("initial_timeout", timeout.clone()),
            ],
            _ => &[("timeout_high", timeout.clone())],
        };
        for loss in [0.001, 0.02] {
            // The end of a flow waits for its last losses: it is long enough for that not to matter.
            let outcome = run(&mut setup(recovery(name, changes), 20, loss, Fixed(20_000), 200_000));
            let expected = selective_repeat(loss, 20_000.0, 20.0).unwrap();
            assert_near(&format!("{name}, {loss}"), efficiency(&outcome), expected, 0.02);
        }
    }
}

#[test]
fn a_small_window_divides_the_round_trip_exactly() {
    for name in ["go-back-n", "selective-repeat", "sack"] {
        for window in [1, 7, 21] {
            let frames = 21 * 100 * window;
            let outcome = run(&mut setup(recovery(name, &[]), 20, 0.0, Fixed(window), frames));
            // A window every 21 frame times; the last is followed by its round trip.
            let exact = frames / window * 21 + if window == 21 { 20 } else { window - 1 };
            assert_eq!(outcome.finished, Some(Time::from_picos(exact * FRAME.as_picos())), "{name} {window}");
            let expected = selective_repeat(0.0, window as f64, 20.0).unwrap();
            assert_near(name, efficiency(&outcome), expected, 0.02);
        }
    }
}

/// Windows that close, and losses: half a round trip of 20 frame times each way, so that a window of 21 never closes.
const WINDOWS_AND_LOSSES: [(u64, f64); 7] =
    [(2, 0.01), (3, 0.05), (7, 0.001), (7, 0.01), (7, 0.05), (14, 0.01), (18, 0.02)];

#[test]
fn go_back_n_wastes_a_window_per_loss() {
    for (window, loss) in WINDOWS_AND_LOSSES {
        // Where no frame follows a loss that could report it, the timer does.
        let [again, timeout] = [22, 42].map(|frames| Value::Time(Span::from_picos(frames * FRAME.as_picos())));
        let back = recovery("go-back-n", &[("nak_interval", again), ("timeout", timeout)]);
        let outcome = run(&mut setup(back, 20, loss, Fixed(window), 100_000));
        let expected = go_back_n_in_window(loss, window as f64, 20.0).unwrap();
        // The receiver notices one frame later than the textbook's, and after the last frame of a window a round trip later.
        assert_near(&format!("go-back-N, {loss}, window {window}"), efficiency(&outcome), expected, 0.06);
    }
}

#[test]
fn selective_repeat_in_a_window_wastes_only_what_is_lost() {
    let timeout = Value::Time(Span::from_picos(42 * FRAME.as_picos()));
    for (window, loss) in WINDOWS_AND_LOSSES {
        let expected = selective_repeat(loss, window as f64, 20.0).unwrap();
        let changes = [("timeout_low", timeout.clone()), ("timeout_high", timeout.clone())];
        let outcome = run(&mut setup(recovery("selective-repeat", &changes), 20, loss, Fixed(window), 100_000));
        assert_near(&format!("selective repeat, {loss}, window {window}"), efficiency(&outcome), expected, 0.06);
        // A window that counts from the first missing frame stands still while that is repaired: it wastes more, and less
        // than go-back-N.
        let size = Value::Size(Bytes::new(1000 * window));
        let mut counted = recovery("selective-repeat", &[changes.as_slice(), &[("window", size)]].concat());
        let adapter = Adapter::of(Rate::from_gigabits(100), Bytes::new(1000));
        counted.sender.as_mut().expect("it retransmits").attach(&adapter).expect("it fits");
        let outcome = run(&mut setup(counted, 20, loss, Fixed(u64::MAX), 100_000));
        let (least, most) = (go_back_n_in_window(loss, window as f64, 20.0).unwrap(), 1.01 * expected);
        let measured = efficiency(&outcome);
        assert!(
            (0.94 * least..most).contains(&measured),
            "window {window}, {loss}: {measured}, from {least} to {most}"
        );
    }
}

/// TCP's congestion avoidance (RFC 5681): one more frame per round trip, half of the window at a loss; after a timeout
/// slow start from one frame.
struct Aimd {
    window: f64,
    threshold: f64,
    /// The loss event is over when everything sent before is acknowledged.
    until: u64,
}

impl Aimd {
    fn new() -> Aimd {
        Aimd { window: 2.0, threshold: f64::INFINITY, until: 0 }
    }
}

impl Window for Aimd {
    fn frames(&self) -> u64 {
        self.window as u64
    }

    fn on_progress(&mut self, progress: &Progress, sender: &Sending) {
        let slow_start = self.window < self.threshold;
        if slow_start {
            self.window += progress.arrived as f64;
        } else if sender.acknowledged() >= self.until {
            self.window += progress.arrived as f64 / self.window;
        }
        if let Some(signal) = progress.loss {
            self.threshold = (self.window / 2.0).max(2.0);
            self.window = if signal == LossSignal::Timeout { 1.0 } else { self.threshold };
            self.until = sender.sent();
        }
    }
}

/// TCP with timeouts of a given length.
fn tcp(timeout: Span) -> Recovery {
    let (least, most) = (Value::Time(timeout), Value::Time(Span::from_picos(64 * timeout.as_picos())));
    let changes = [("min_timeout", least.clone()), ("initial_timeout", least), ("max_timeout", most)];
    recovery("sack", &changes)
}

/// Frames delivered per round trip.
fn per_round_trip(outcome: &Outcome, round_trip: Span) -> f64 {
    assert!(outcome.is_complete());
    let time = outcome.finished.expect("it is complete").as_picos() as f64;
    outcome.delivered.len() as f64 * round_trip.as_picos() as f64 / time
}

#[test]
fn aimd_under_random_loss_follows_the_square_root_law() {
    // A round trip of 10,000 frame times: the link is never full.
    let round_trip = Span::from_picos(10_001 * FRAME.as_picos());
    for loss in [0.0008, 0.002, 0.005] {
        let frames = (500.0 / loss) as u64;
        let outcome = run(&mut setup(tcp(Span::from_millis(4)), 10_000, loss, Aimd::new(), frames));
        // A recovery lasts a round trip in which the window does not grow: one in addition to half of the window.
        let law = tcp::square_root(loss, tcp::RANDOM).unwrap();
        let expected = law / (1.0 + law * loss);
        assert_near(&format!("AIMD, {loss}"), per_round_trip(&outcome, round_trip), expected, 0.06);
    }
}

#[test]
fn aimd_with_timeouts_follows_the_formula_of_padhye() {
    // As the formula assumes, a round is a burst that is short against the round trip, and after a loss the rest of the
    // burst is lost, too. Slow start takes no time in the formula: with many timeouts it promises some 15 % too much.
    let (round_trip, timeout) = (Span::from_picos(10_001 * FRAME.as_picos()), Span::from_millis(4));
    for loss in [0.003, 0.01, 0.03, 0.1] {
        let frames = (1000.0 / loss) as u64;
        let mut setup = setup(tcp(timeout), 10_000, loss, Aimd::new(), frames);
        setup.data.burst = Span::from_picos(5_000 * FRAME.as_picos());
        let outcome = run(&mut setup);
        assert!(outcome.timeouts > 20, "{} timeouts", outcome.timeouts);
        let path = Path {
            round_trip: round_trip.as_secs_f64(),
            timeout: timeout.as_secs_f64(),
            window: f64::INFINITY,
            every: 1.0,
        };
        let expected = tcp::with_timeouts(loss, &path).unwrap() * round_trip.as_secs_f64();
        let sent = per_round_trip(&outcome, round_trip) * outcome.transmissions as f64 / frames as f64;
        assert_near(&format!("AIMD with timeouts, {loss}"), sent, expected, 0.18);
        // The law without timeouts is far off where they rule.
        assert!(loss < 0.03 || tcp::square_root(loss, tcp::RANDOM).unwrap() > 1.5 * sent);
    }
}
