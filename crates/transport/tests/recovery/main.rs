//! Loss recovery between a source and a destination over a channel that loses, delays, duplicates and reorders.

mod harness;
mod laws;
mod theory;
