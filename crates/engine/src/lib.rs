//! The engine: alarms, shards, windows and the fingerprint. It does not know what a frame is.
//!
//! A model is cut into shards. Each shard owns a set of numbered [`Alarms`], pending at most once each, and fires
//! them in the order (time, number). Shards advance together through windows no longer than the smallest delay
//! between them, so nothing that one sends can arrive in another's past, and the result is the same on any number
//! of threads. There is no global sequence number, no clock and no operating system in here.

mod alarms;
mod barrier;
mod fingerprint;
mod heap;
mod run;
mod set;
#[cfg(test)]
mod tests;

pub use alarms::{Alarms, Wheel};
pub use fingerprint::Fingerprint;
pub use heap::IndexedHeap;
pub use run::{Context, End, Inspection, Look, Model, RunPlan, RunReport, Shard, run};
