//! Any bytes as the history of an agent: frames, time and commands.

#![no_main]

// The tests of the crate put histories through the same.
#[path = "../../crates/control/tests/agents/survive.rs"]
mod survive;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| survive::survive(bytes));
