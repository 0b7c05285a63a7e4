//! Sweeps the number of senders of an incast into a switch that drops, and prints the loss and the slowest sender.
//!
//!     cargo run --release -p tailback-fabric --example sweep

#![allow(clippy::disallowed_macros)] // An example prints.

use std::thread;
use tailback_fabric::graph::{HostId, LinkSpec};
use tailback_fabric::spec::{AdapterSpec, ClassSpec, NetworkSpec, SwitchSpec};
use tailback_fabric::units::{Bytes, Rate, Span};
use tailback_fabric::workload::{FlowSpec, incast};
use tailback_fabric::{BuildOptions, RunLimits, Simulation, topology};

/// Frames lost and the completion time of the last flow that completes, in microseconds.
fn run(senders: u32, seed: u64) -> Result<(u64, f64), Box<dyn std::error::Error + Send + Sync>> {
    let graph = topology::single_switch(senders + 1, LinkSpec::new(Rate::from_gigabits(25), Span::from_nanos(500)))?;
    let switch = SwitchSpec::drop_tail(Bytes::new(300_000));
    let mut spec = NetworkSpec::uniform(graph, switch, AdapterSpec::default(), ClassSpec::lossy("data"));
    spec.seed = seed;
    let senders: Vec<HostId> = (1..=senders).map(HostId).collect();
    let flow = FlowSpec::finite(senders[0], HostId(0), Bytes::new(60_000));
    spec.flows = incast(&senders, HostId(0), &flow, Span::from_micros(20), seed).into();
    let mut simulation = Simulation::build(&spec, &BuildOptions::default())?;
    simulation.run(&RunLimits::default());
    let flows = simulation.flows();
    let last = flows.iter().filter_map(|flow| flow.completed).max().unwrap_or_default();
    Ok((flows.iter().map(|flow| flow.lost_frames).sum(), last.as_secs_f64() * 1e6))
}

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    println!("senders  seed  frames lost  last completion (us)");
    for senders in [4, 8, 16, 32] {
        // A run is deterministic, so runs may share nothing but the processor.
        let runs: Vec<_> = (1..=3).map(|seed| (seed, thread::spawn(move || run(senders, seed)))).collect();
        for (seed, run) in runs {
            let (lost, last) = run.join().expect("a run does not panic")?;
            println!("{senders:7}  {seed:4}  {lost:11}  {last:20.1}");
        }
    }
    Ok(())
}
