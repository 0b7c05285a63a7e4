//! The protocols of the 802.1au bake-off as their catalogues give them, against numbers worked by hand.

// The short name, as in the rest of the workspace.
extern crate tailback_congestion as congestion;

mod laws;
mod points;
mod sources;

use congestion::parameter::{Value, Values};
use congestion::point::Guidance;
use congestion::{Adapter, Feedback, POINTS, PROTOCOLS, Point, Reaction, ReactionPoint};
use units::{Bytes, Rate, Span, Time};

const LINK: Rate = Rate::from_gigabits(10);

fn of_source(name: &str) -> Values {
    Values::defaults(PROTOCOLS.iter().find(|info| info.name == name).unwrap().parameters)
}

fn of_point(name: &str) -> Values {
    Values::defaults(POINTS.iter().find(|info| info.name == name).unwrap().parameters)
}

fn build_point(name: &str, values: &Values) -> Point {
    (POINTS.iter().find(|info| info.name == name).unwrap().build)(values).unwrap()
}

/// A source at a link of 10 Gb/s.
fn source(name: &str, values: &Values) -> Reaction {
    let mut source = (PROTOCOLS.iter().find(|info| info.name == name).unwrap().build)(values).unwrap();
    source.attach(&Adapter::of(LINK, Bytes::new(1500))).unwrap();
    source
}

fn choice(name: &str) -> Value {
    Value::Choice(name.to_owned())
}

fn time(micros: u64) -> Time {
    Time::ZERO + Span::from_micros(micros)
}

/// A notice or answer that arrives.
fn notify(source: &mut Reaction, now: Time, point: u32, (feedback, offset, growth): (u8, i32, i32)) {
    source.on_feedback(now, &Feedback::Notice { feedback, offset, growth, point, guidance: None });
}

/// The same with rates that it suggests and allows, in Mb/s.
fn guide(source: &mut Reaction, point: u32, (feedback, offset, growth): (u8, i32, i32), [suggested, most]: [u64; 2]) {
    let guidance = Some(Guidance { suggested: Rate::from_megabits(suggested), most: Rate::from_megabits(most) });
    source.on_feedback(Time::ZERO, &Feedback::Notice { feedback, offset, growth, point, guidance });
}

/// What it may send, in Mb/s.
fn rate(source: &Reaction) -> f64 {
    source.allowance().rate.unwrap().as_bits_per_sec() as f64 / 1e6
}

/// Whether two rates in Mb/s differ by less than two bits per second.
fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 2e-6
}
