//! How much buffer a link needs to be full: one round trip under credits, two under Xon/Xoff.
//!
//! A greedy sender, a long cable between two switches, and behind it a link a tenth slower, so that flow control acts all
//! the time. The smallest buffer behind the long cable that keeps the slow link busy is found by bisection.

use crate::kit::*;
use fabric::Outcome;
use fabric::spec::*;
use fabric::topology::{self, Links};
use theory::headroom::{HeadroomSpec, headroom};
use units::{Bytes, Rate, Span};

const FRAME: u64 = 1500;

/// Bits per second on the slow link, overhead counted; `None` if a frame was lost.
fn carried(latency: Span, control: FlowControl, buffer: ClassBuffer) -> Option<f64> {
    let short = link(10, Span::from_nanos(50));
    let mut graph = topology::chain(2, 1, Links { host: short, trunk: link(10, latency) }).unwrap();
    let slow = graph.find("h1").unwrap();
    for cable in graph.cables.iter_mut().filter(|cable| cable.a == slow || cable.b == slow) {
        cable.link.rate = Rate::from_gigabits(9);
    }
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.switches.push(switch(buffer, control));
    let far = spec.graph.find("sw1").unwrap();
    spec.kind_of[far.0 as usize] = 1;
    spec.flows = vec![greedy(0, 1, FRAME)].into();
    // Many round trips, after some to settle.
    let settled = latency * 40 + Span::from_micros(100);
    let (until, from) = (settled + latency * 400 + Span::from_millis(1), settled);
    let delivered = |until: Span| -> Option<u64> {
        let report = run(&spec, until).1;
        (report.outcome == Outcome::Finished).then_some(report.totals.delivered_frames)
    };
    let frames = delivered(until)? - delivered(from)?;
    Some(frames as f64 * ((FRAME + 20) * 8) as f64 / (until - from).as_secs_f64())
}

/// The smallest buffer, in steps of 100 bytes, that carries all but a thousandth of the slow link's rate.
fn needed(latency: Span, control: FlowControl, buffer: impl Fn(u64) -> Option<ClassBuffer>) -> u64 {
    let full = |size: u64| {
        buffer(size).and_then(|buffer| carried(latency, control, buffer)).is_some_and(|rate| rate > 9e9 * 0.999)
    };
    let (mut low, mut high) = (0, 40_000);
    assert!(full(high * 100));
    while high - low > 1 {
        let middle = (low + high) / 2;
        if full(middle * 100) { high = middle } else { low = middle }
    }
    high * 100
}

fn credits(latency: Span) -> u64 {
    // A credit is back after the cable's time, as a word between frames would be.
    let give_back = CreditReturn::Signal { delay: latency };
    let control = FlowControl::Credits(CreditSpec { unit: CreditUnit::Block(Bytes::new(1)), give_back });
    needed(latency, control, |size| (size >= FRAME).then(|| ClassBuffer::drop_tail(Bytes::new(size))))
}

fn xon_xoff(latency: Span) -> u64 {
    let frame = Bytes::new(FRAME);
    let terms = headroom(&HeadroomSpec::simulated(Rate::from_gigabits(10), latency, Span::ZERO, frame, frame));
    needed(latency, pfc(), |size| {
        let xoff = terms.xoff_for(Bytes::new(size))?;
        Some(ClassBuffer::lossless(Bytes::new(size), xoff, xoff))
    })
}

#[test]
fn xon_xoff_needs_twice_the_buffer_of_credits() {
    let mut ratios = Vec::new();
    for (latency, metres) in [(500, 100), (5_000, 1_000), (50_000, 10_000)] {
        let latency = Span::from_nanos(latency);
        let round_trip = 2.0 * latency.as_secs_f64() * 10e9 / 8.0;
        let (one, two) = (credits(latency) as f64, xon_xoff(latency) as f64);
        // Nine tenths of a round trip, since the slow link drains at nine tenths, and a few frames: one arriving, one
        // leaving, one more because credits are for whole frames.
        let frames = (FRAME + 20) as f64;
        assert!(one > 0.9 * round_trip && one < 0.9 * round_trip + 4.0 * frames, "{metres} m: credits {one}");
        // What arrives in a round trip at the full rate, and what leaves in another at nine tenths.
        assert!(two > 1.9 * round_trip && two < 1.9 * round_trip + 6.0 * frames, "{metres} m: Xon/Xoff {two}");
        ratios.push(two / one);
    }
    // With the length of the cable the frames cease to matter: (1 + 0.9) / 0.9.
    assert!((ratios[2] - 1.9 / 0.9).abs() < 0.05, "{ratios:?}");
    assert!(ratios.iter().all(|ratio| *ratio > 1.5 && *ratio < 2.5), "{ratios:?}");
}
