//! Eight hosts send 1 MB each to a ninth at the same time. PFC holds them back: nothing is dropped.
//!
//!     cargo run --release -p tailback-fabric --example incast

#![allow(clippy::disallowed_macros)] // An example prints.

use tailback_fabric::graph::{HostId, LinkSpec};
use tailback_fabric::spec::{AdapterSpec, ClassBuffer, ClassSpec, NetworkSpec, SwitchSpec};
use tailback_fabric::units::{Bytes, Rate, Span};
use tailback_fabric::workload::{FlowSpec, incast};
use tailback_fabric::{BuildOptions, RunLimits, Simulation, topology};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let link = LinkSpec::new(Rate::from_gigabits(100), Span::from_nanos(500));
    let graph = topology::single_switch(9, link)?;
    // An input asks its sender to stop above 50 kB and to go on at 40 kB; the rest of its 200 kB is headroom.
    let buffer = ClassBuffer::lossless(Bytes::new(200_000), Bytes::new(50_000), Bytes::new(40_000));
    let (switch, class) = (SwitchSpec::pfc([buffer]), ClassSpec::lossless("storage"));
    let mut spec = NetworkSpec::uniform(graph, switch, AdapterSpec::default(), class);

    let senders: Vec<HostId> = (1..9).map(HostId).collect();
    let flow = FlowSpec::finite(senders[0], HostId(0), Bytes::new(1_000_000));
    spec.flows = incast(&senders, HostId(0), &flow, Span::ZERO, spec.seed).into();

    let mut simulation = Simulation::build(&spec, &BuildOptions::default())?;
    let summary = simulation.run(&RunLimits::default());
    let micros = summary.now.as_secs_f64() * 1e6;
    println!("{:?} after {micros:.1} us, fingerprint {:016x}", summary.outcome, summary.fingerprint);
    println!("{} pause frames, {} hops", summary.totals.pause_frames, summary.totals.hops);
    for (sender, flow) in senders.iter().zip(simulation.flows()) {
        let completed = flow.completed.expect("nothing is lost in a lossless class");
        println!("h{}: {} bytes in {completed}", sender.0, flow.received_bytes);
    }
    Ok(())
}
