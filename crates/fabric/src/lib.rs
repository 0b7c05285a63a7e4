//! The fabric: frames, links, switches, adapters, topologies and workloads. No files, no command line.
//!
//! A [`spec::NetworkSpec`] is built into a [`Simulation`], which runs to an [`Outcome`]. Running cannot fail: it
//! finishes, finds a deadlock, loses a frame it had promised to keep, or reaches a limit.

mod arbiter;
mod build;
mod census;
mod crossbar;
mod egress;
mod flow;
mod frame;
mod gate;
pub mod graph;
mod host;
pub mod lanes;
mod monitor;
mod network;
mod occupancy;
mod order;
pub mod partition;
mod plan;
mod planning;
mod port;
mod probe;
mod receive;
pub mod record;
mod result;
pub mod routing;
mod simulation;
pub mod spec;
pub mod topology;
mod transmit;
mod validate;
mod watchdog;
pub mod workload;

pub use build::BuildOptions;
pub use census::Census;
pub use frame::{Frame, Kind, Pause};
pub use partition::Partition;
pub use probe::{DropCause, NoProbe, Probe, QueueSample};
pub use result::{Limit, Loss, LossReport, Outcome, Totals};
pub use simulation::{FlowReport, Mark, Progress, Report, RunLimits, Simulation, Wish};
pub use validate::{BuildError, validate};
pub use watchdog::{Deadlock, Held, Stall, StallCause, StallRoot, Waiting};
