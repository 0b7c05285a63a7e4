//! Quantities and random streams for network simulation, bit-identical on every machine.
//!
//! ```
//! use tailback_units::{Bytes, Rate, Span, Stream, Time, Wire};
//!
//! // A frame of 1500 bytes takes 120 ns at 100 Gb/s; fractions of a picosecond are carried to the next frame.
//! let mut wire = Wire::new("100Gb/s".parse()?);
//! let busy = wire.serialise(Bytes::new(1500));
//! assert_eq!(Time::ZERO + busy, Time::from_picos(120_000));
//! assert_eq!("120ns".parse(), Ok(busy));
//!
//! // A random stream belongs to one entity and one purpose: no other draw can change it.
//! let draw = || Stream::new(7, 3, "start times").next_u64();
//! assert_eq!(draw(), draw());
//! # Ok::<(), tailback_units::ParseError>(())
//! ```
//!
//! [`Time`] and [`Span`] are integer picoseconds, [`Rate`] is integer bits per second, [`Bytes`] counts octets; each is
//! parsed from and printed as text with its unit, exactly. [`Wire`] converts bytes to time without losing a fraction of
//! a picosecond. [`Stream`] is a random stream that belongs to one entity and one purpose, [`EmpiricalCdf`] is a
//! measured distribution to draw from, and [`math`] provides the functions that standard libraries do not compute
//! identically everywhere. The crate depends on no other crate, clock or system.

mod bytes;
mod empirical;
mod encode;
pub mod math;
mod parse;
mod parse_error;
mod print;
mod random;
mod rate;
mod sample;
mod state;
pub mod text;
mod time;
mod trig;
mod wire;

pub use bytes::Bytes;
pub use empirical::{CdfError, EmpiricalCdf};
pub use encode::Encode;
pub use parse_error::{ParseError, Quantity};
pub use print::grouped;
pub use random::Stream;
pub use rate::Rate;
pub use state::{State, load_list, save_list};
pub use time::{Span, Time};
pub use wire::{FrameTime, Wire};
