//! BCN and ECM from outside: what congestion points say, what sources make of it, and both together.

#![allow(missing_docs)]

// The short name, as in the rest of the workspace.
extern crate tailback_congestion as congestion;

mod point;
mod source;

use congestion::parameter::{Value, Values};
use congestion::{POINTS, PROTOCOLS, Point, Reaction};

fn choice(name: &str) -> Value {
    Value::Choice(name.to_owned())
}

fn of_source(name: &str) -> Values {
    Values::defaults(PROTOCOLS.iter().find(|info| info.name == name).unwrap().parameters)
}

fn of_point(name: &str) -> Values {
    Values::defaults(POINTS.iter().find(|info| info.name == name).unwrap().parameters)
}

fn build_source(name: &str, values: &Values) -> Result<Reaction, &'static str> {
    let info = PROTOCOLS.iter().find(|info| info.name == name).unwrap();
    (info.build)(values).map_err(|invalid| invalid.parameter)
}

fn build_point(name: &str, values: &Values) -> Result<Point, &'static str> {
    let info = POINTS.iter().find(|info| info.name == name).unwrap();
    (info.build)(values).map_err(|invalid| invalid.parameter)
}
