//! A parallel discrete-event engine: its results do not depend on the number of threads.
//!
//! ```
//! use std::ops::ControlFlow;
//! use tailback_engine::units::{Span, Time};
//! use tailback_engine::{Context, Model, RunPlan, Shard, Wheel, run};
//!
//! /// Counts the ticks of a clock.
//! struct Clock(u64);
//!
//! impl Model for Clock {
//!     type Message = ();
//!
//!     fn on_alarm(&mut self, now: Time, alarm: u32, context: &mut Context<()>) {
//!         self.0 += 1;
//!         context.alarms.arm(alarm, now + Span::from_micros(1));
//!     }
//!
//!     fn on_message(&mut self, (): (), _context: &mut Context<()>) {}
//! }
//!
//! let mut shard = Shard::new(Clock(0), 1, Wheel::covering(Span::from_micros(1)));
//! shard.context.alarms.arm(0, Time::ZERO);
//! let mut shards = [shard];
//! let plan = RunPlan::until(Time::ZERO + Span::from_millis(1));
//! let report = run(&mut shards, plan, |_| ControlFlow::Continue(()));
//! assert_eq!((report.fired, shards[0].model.0), (1001, 1001));
//! ```
//!
//! A model is cut into shards. Each shard owns a set of numbered [`Alarms`], pending at most once each, and fires
//! them in the order (time, number). Shards advance together through windows no longer than the smallest delay
//! between them, so nothing that one sends can arrive in another's past, and the result is the same on any number
//! of threads, and with its shards spread over any number of processes ([`Ranks`]). The engine has no global sequence
//! number, uses no clock, and does not know frames.

mod alarms;
mod barrier;
mod contain;
mod deal;
mod exchange;
mod fingerprint;
mod heap;
mod ranks;
mod run;
mod set;
#[cfg(test)]
mod tests;

pub use alarms::{Alarms, Wheel};
pub use contain::{Panicked, contained};
pub use exchange::Context;
pub use fingerprint::Fingerprint;
pub use heap::IndexedHeap;
pub use ranks::{Alone, InMemory, NUMBERS, Ranks, announce, in_memory, reduce};
pub use run::{End, Inspection, Look, Model, RunPlan, RunReport, Shard, run, run_among};
pub use units;
pub use units::{Encode, encoded};
