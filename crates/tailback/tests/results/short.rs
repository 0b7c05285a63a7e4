//! A run that is over before the first inspection.

use crate::network::{How, Scratch, everything, incast, run};
use fabric::record::{RecorderSpec, schema};
use results::Results;
use units::{Bytes, Span};

#[test]
fn a_run_that_falls_quiet_early_knows_when_it_ended() {
    let scratch = Scratch::new("short");
    let out = scratch.path("run");
    let mut spec = incast();
    spec.flows.truncate(1);
    spec.flows[0].size = Some(Bytes::new(3000));
    let recorder = RecorderSpec { sample_every: None, ..everything() };
    run(&spec, &How { shards: 1, until: Span::from_millis(5), recorder }, &out).expect("it can be written");
    let results = Results::open(&out).expect("a result");
    let flows = results.read(&schema::FLOWS).expect("flows");
    let completed = flows.integers("completed")[0] as u64;
    assert!(completed > 0 && results.manifest.simulated >= completed, "{}", results.manifest.simulated);
}
