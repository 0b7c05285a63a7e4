//! Whole runs onto disk and back.

mod damage;
mod killed;
mod memory;
mod network;
mod pictures;
mod round_trip;
mod short;
