//! The memory of a run follows the flows that are active: a flow that has ended leaves little.
//!
//! Alone in its program, because the peak is that of the process.

#![allow(missing_docs)]

// The short name, as in the rest of the workspace.
extern crate tailback_study as study;

use scenario::{Limits, NoFiles, load_str};
use study::{Existing, Options, Recording, execute};

/// Flows of one frame, on 16 hosts.
const FRAMES: &str = r#"
    schema_version = 1
    name = "frames"
    [network]
    topology = "fat-tree"
    k = 4
    link = { rate = "100Gb/s", latency = "1us" }
    [[switches]]
    flow_control = "pfc"
    buffers = { capacity = "400KB" }
    [[workloads]]
    name = "frames"
    kind = "poisson-flows"
    load = 0.5
    flow_size = "1000B"
    [run]
"#;

/// The most memory that this process had until now, in bytes; `None` where the system does not tell.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

/// Runs for that time, and returns the number of flows.
fn run(micros: u64, record: Option<&Recording>) -> usize {
    let text = format!("{FRAMES}    duration = \"{micros}us\"\n");
    let plan = load_str("frames", &text, &[], &NoFiles, Limits::default());
    let plan = plan.unwrap_or_else(|errors| panic!("{}", errors.render(false)));
    let execution = execute(&plan, &Options { record, ..Options::default() }, |_| {}).expect("it runs");
    let summaries = execution.measures.workloads(&plan);
    let (complete, finite) = summaries[0].completed;
    assert!(finite == plan.spec.flows.len() && complete * 10 > finite * 9, "{complete} of {finite}");
    finite
}

#[test]
fn a_flow_that_has_ended_leaves_few_bytes() {
    let out = std::env::temp_dir().join(format!("tailback-memory-{}", std::process::id()));
    let recording = Recording { out: out.clone(), existing: Existing::Replace };
    // What does not grow with flows is there before it is measured, but for the rows that a recorded run holds.
    let few = run(100, None);
    // Other systems than Linux do not tell.
    let Some(before) = peak() else { return };
    for (record, most) in [(None, 130), (Some(&recording), 700)] {
        let many = run(2000, record);
        let each = peak().expect("as before").saturating_sub(before) / (many - few) as u64;
        assert!(many > 150_000 && each < most, "{each} bytes for each of {many} flows");
    }
    std::fs::remove_dir_all(&out).expect("it is there");
}
