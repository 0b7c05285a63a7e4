//! The hold model: n alarms pending; the first fires and is armed again at a random later time, over and over.

use engine::{Alarms, IndexedHeap, Wheel};
use std::time::Instant;
use units::{Span, Stream, Time};

const FIRINGS: u64 = 4_000_000;

/// Alarms are armed up to this far ahead: a frame's time on a 1 us link.
const AHEAD: u64 = 1_080_000;

fn wheel(pending: u32) -> f64 {
    let mut alarms = Alarms::new(pending as usize, Wheel::covering(Span::from_picos(AHEAD)));
    let mut stream = Stream::new(1, 0, "hold");
    (0..pending).for_each(|number| alarms.arm(number, Time::from_picos(stream.below(AHEAD))));
    let start = Instant::now();
    for _ in 0..FIRINGS {
        let (now, number) = alarms.pop_before(Time::MAX).expect("as many are pending as at the start");
        alarms.arm(number, now + Span::from_picos(1 + stream.below(AHEAD)));
    }
    FIRINGS as f64 / start.elapsed().as_secs_f64() / 1e6
}

fn heap(pending: u32) -> f64 {
    let mut alarms = IndexedHeap::new(pending as usize);
    let mut stream = Stream::new(1, 0, "hold");
    (0..pending).for_each(|number| alarms.arm(number, Time::from_picos(stream.below(AHEAD))));
    let start = Instant::now();
    for _ in 0..FIRINGS {
        let (now, number) = alarms.pop().expect("as many are pending as at the start");
        alarms.arm(number, now + Span::from_picos(1 + stream.below(AHEAD)));
    }
    FIRINGS as f64 / start.elapsed().as_secs_f64() / 1e6
}

/// Prints million firings per second, the median of three.
pub fn report() {
    println!("hold model, million firings/s (median of 3)");
    println!("{:>10} {:>8} {:>8} {:>8}", "pending", "wheel", "heap", "ratio");
    for pending in [1_000, 10_000, 1_000_000] {
        let median = |measure: fn(u32) -> f64| {
            let mut runs = [measure(pending), measure(pending), measure(pending)];
            runs.sort_by(f64::total_cmp);
            runs[1]
        };
        let (wheel, heap) = (median(wheel), median(heap));
        println!("{pending:>10} {wheel:>8.1} {heap:>8.1} {:>8.2}", wheel / heap);
    }
}
