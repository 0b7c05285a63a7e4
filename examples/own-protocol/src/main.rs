//! A congestion control protocol that Tailback does not know: the windows and marks of DCTCP (RFC 8257), much shortened.
//!
//! Four hosts send to a fifth through a lossless switch. Without congestion control the switch must pause them all the
//! time. With it their windows settle where queues are short, and after the start nobody is paused.
//!
//!     cargo run --release --manifest-path examples/own-protocol/Cargo.toml

use tailback_fabric::congestion::parameter::Invalid;
use tailback_fabric::congestion::point::{CongestionPoint, Passage, Surroundings, View};
use tailback_fabric::congestion::{Adapter, Allowance, Feedback, Point, Reaction, ReactionPoint};
use tailback_fabric::graph::{HostId, LinkSpec};
use tailback_fabric::spec::{AdapterSpec, ClassBuffer, ClassSpec, CongestionPointSpec, NetworkSpec, SwitchSpec};
use tailback_fabric::units::{Bytes, Rate, Span, Time};
use tailback_fabric::workload::{Acknowledge, FlowSpec};
use tailback_fabric::{BuildOptions, Outcome, RunLimits, RunSummary, Simulation, topology};

/// The switch: marks frames that leave a queue longer than a threshold.
#[derive(Clone, Debug, PartialEq)]
struct Threshold {
    bytes: u32,
}

impl CongestionPoint for Threshold {
    fn attach(&mut self, _surroundings: &Surroundings) {}

    fn on_start(&mut self, frame: &Passage, view: &impl View) -> bool {
        view.waiting_bytes(frame.output, frame.class) > self.bytes
    }
}

/// The source: once per window it reduces the window by half the average fraction of marked bytes, or adds a frame.
#[derive(Clone, Debug)]
struct Dctcp {
    window: f64,
    frame: f64,
    /// Moving average of the fraction of marked bytes.
    alpha: f64,
    acknowledged: f64,
    marked: f64,
}

impl ReactionPoint for Dctcp {
    fn attach(&mut self, adapter: &Adapter) -> Result<(), Invalid> {
        self.frame = adapter.frame.get() as f64;
        self.window = 10.0 * self.frame;
        Ok(())
    }

    fn on_sent(&mut self, _now: Time, _len: Bytes) {}

    fn on_feedback(&mut self, _now: Time, feedback: &Feedback) {
        let Feedback::Acknowledgement { bytes, marked, .. } = *feedback else { return };
        self.acknowledged += bytes.get() as f64;
        self.marked += if marked { bytes.get() as f64 } else { 0.0 };
        if self.acknowledged < self.window {
            return;
        }
        self.alpha += (self.marked / self.acknowledged - self.alpha) / 16.0;
        if self.marked > 0.0 {
            self.window = (self.window * (1.0 - self.alpha / 2.0)).max(self.frame);
        } else {
            self.window += self.frame;
        }
        (self.acknowledged, self.marked) = (0.0, 0.0);
    }

    fn on_deadline(&mut self, _now: Time) {}

    fn deadline(&self) -> Option<Time> {
        None
    }

    fn allowance(&self) -> Allowance {
        Allowance { rate: None, window: Some(Bytes::new(self.window as u64)) }
    }
}

/// The summaries of the first and of the next five milliseconds.
fn run(protocol: bool) -> Result<[RunSummary; 2], Box<dyn std::error::Error>> {
    let graph = topology::single_switch(5, LinkSpec::new(Rate::from_gigabits(10), Span::from_micros(1)))?;
    let buffer = ClassBuffer::lossless(Bytes::new(300_000), Bytes::new(100_000), Bytes::new(90_000));
    let mut switch = SwitchSpec::pfc([buffer]);
    if protocol {
        switch.congestion_point = Some(CongestionPointSpec::point(Point::custom(Threshold { bytes: 30_000 })));
    }
    let mut spec = NetworkSpec::uniform(graph, switch, AdapterSpec::default(), ClassSpec::lossless("data"));
    let dctcp = Dctcp { window: 0.0, frame: 0.0, alpha: 1.0, acknowledged: 0.0, marked: 0.0 };
    let flow = |host: u32| {
        let mut flow = FlowSpec::greedy(HostId(host), HostId(0));
        if protocol {
            flow.acknowledge = Some(Acknowledge::default());
            flow.reaction = Reaction::custom(dctcp.clone());
        }
        flow
    };
    spec.flows = (1..5).map(flow).collect();
    let mut simulation = Simulation::build(&spec, &BuildOptions::default())?;
    let mut until = |millis: u64| simulation.run(&RunLimits::until(Time::ZERO + Span::from_millis(millis)));
    Ok([until(5), until(10)])
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for protocol in [false, true] {
        let [first, second] = run(protocol)?;
        let pauses = second.totals.pause_frames - first.totals.pause_frames;
        let megabits = (second.totals.delivered_bytes - first.totals.delivered_bytes) * 8 / 5_000;
        let name = if protocol { "own protocol" } else { "no congestion control" };
        println!("{name}: {megabits} Mb/s of data, {pauses} pause frames from 5 ms to 10 ms");
        assert_eq!(second.outcome, Outcome::Finished);
        assert_eq!(pauses == 0, protocol, "only the protocol keeps queues below XOFF");
        assert!(megabits > 9_000, "the bottleneck of 10 Gb/s is busy");
    }
    Ok(())
}
