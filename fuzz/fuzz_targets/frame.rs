//! Any bytes as a frame of every kind.

#![no_main]

// The tests of the crate put frames through the same.
#[path = "../../crates/wire/tests/frames/everything.rs"]
mod everything;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| everything::survive(bytes));
