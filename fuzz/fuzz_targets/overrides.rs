//! Any lines as overrides of a sound scenario.

#![no_main]

const SOUND: &str = include_str!("../../crates/tailback/src/cli/starter.toml");

libfuzzer_sys::fuzz_target!(|text: &str| {
    let overrides: Vec<String> = text.lines().map(str::to_owned).collect();
    harness::survive(SOUND, &overrides);
});
