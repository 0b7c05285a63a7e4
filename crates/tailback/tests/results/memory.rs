//! Memory does not grow with simulated time.

use crate::network::{How, Scratch, everything, incast, run};
use results::{ROWS_PER_GROUP, Results};
use units::Span;

/// The most memory this process has ever had, in bytes.
#[cfg(target_os = "linux")]
fn peak() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").expect("Linux tells");
    let line = text.lines().find(|line| line.starts_with("VmHWM:")).expect("Linux tells");
    line.split_whitespace().nth(1).and_then(|word| word.parse::<u64>().ok()).expect("a number") * 1024
}

#[test]
#[cfg(target_os = "linux")]
fn a_long_run_needs_no_more_memory_than_a_short_one() {
    let scratch = Scratch::new("memory");
    let mut spec = incast();
    spec.flows.iter_mut().for_each(|flow| flow.size = None);
    let how = |millis| How {
        shards: 1,
        until: Span::from_millis(millis),
        recorder: fabric::record::RecorderSpec { sample_every: Some(Span::from_micros(1)), ..everything() },
    };
    run(&spec, &how(20), &scratch.path("short")).expect("it can be written");
    let short = peak();
    run(&spec, &how(400), &scratch.path("long")).expect("it can be written");
    let long = peak();
    let results = Results::open(&scratch.path("long")).expect("a result");
    let rows: u64 = results.manifest.tables.iter().map(|table| table.rows).sum();
    assert!(rows > 20 * ROWS_PER_GROUP as u64, "{rows} rows");
    // Whole, the rows would take 50 bytes each and more; other tests run beside this one.
    assert!(long - short < 40 << 20, "{} MB more for {rows} rows", (long - short) >> 20);
}
