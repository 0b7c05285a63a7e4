//! A packet-level simulator of congestion in lossless networks: PFC Ethernet and InfiniBand.
//!
//! A [`spec::NetworkSpec`] describes a network and its traffic as plain data. [`Simulation::build`] validates it and
//! creates a simulation, or returns all errors. [`Simulation::run`] cannot fail: a run ends as [`Outcome::Finished`],
//! or with a deadlock, a stall, a loss in a lossless class, or a limit. The same description and seed give the same
//! result on any number of threads.
//!
//! ```
//! use tailback_fabric::graph::{HostId, LinkSpec};
//! use tailback_fabric::spec::{AdapterSpec, ClassBuffer, ClassSpec, NetworkSpec, SwitchSpec};
//! use tailback_fabric::units::{Bytes, Rate, Span};
//! use tailback_fabric::workload::FlowSpec;
//! use tailback_fabric::{BuildOptions, Outcome, RunLimits, Simulation, topology};
//!
//! // Two hosts send 100 kB each to a third. PFC stops them before the buffers of the switch overflow.
//! let graph = topology::single_switch(3, LinkSpec::new(Rate::from_gigabits(10), Span::from_nanos(500)))?;
//! let buffer = ClassBuffer::lossless(Bytes::new(60_000), Bytes::new(20_000), Bytes::new(15_000));
//! let (switch, class) = (SwitchSpec::pfc([buffer]), ClassSpec::lossless("storage"));
//! let mut spec = NetworkSpec::uniform(graph, switch, AdapterSpec::default(), class);
//! spec.flows = [1, 2].map(|host| FlowSpec::finite(HostId(host), HostId(0), Bytes::new(100_000))).into();
//!
//! let mut simulation = Simulation::build(&spec, &BuildOptions::default())?;
//! let summary = simulation.run(&RunLimits::default());
//! assert_eq!(summary.outcome, Outcome::Finished);
//! assert!(summary.totals.pause_frames > 0 && summary.totals.dropped_frames == 0);
//! assert_eq!(simulation.flows()[0].received_bytes, 100_000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`topology`], [`routing`] and [`workload`] compute parts of a description. A [`Probe`] observes a run; [`record`]
//! has the probe that records tables. The `examples/` of this crate include an incast and a sweep.

mod build;
mod describe;
mod machine;
mod observe;

pub use build::partition::{self, Partition};
pub use build::sizing::Sizing;
pub use build::{BuildOptions, RankOf};
pub use describe::error::{BuildError, BuildErrors};
pub use describe::multi_homing::address;
pub use describe::trip::Trips;
pub use describe::validate::validate;
pub use describe::{graph, lanes, routing, spec, topology, workload};
pub use machine::frame::{Content, Credit, Cumulative, Frame, Inquiry, Kind, Notice, Pause, Segment};
pub use machine::simulation::{Mark, Progress, RunLimits, RunSummary, Simulation};
pub use observe::census::Census;
pub use observe::flow_summaries::FlowSummaries;
pub use observe::flow_summary::FlowSummary;
pub use observe::outcome::{Limit, Loss, LossDetails, Outcome, Totals};
pub use observe::probe::{DropCause, NoProbe, Probe, QueueSample, SourceState};
pub use observe::record;
pub use observe::watchdog::{Deadlock, Held, Livelock, Stall, StallCause, StallRoot, Waiting};

pub use {congestion, engine, transport, units};
