//! Any bytes as the history of a bridge that speaks IS-IS: frames, time and links.

#![no_main]

// The tests of the crate put histories through the same.
#[path = "../../crates/control/tests/agents/survive_isis.rs"]
mod survive;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| survive::survive(bytes));
