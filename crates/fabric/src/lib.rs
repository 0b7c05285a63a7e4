//! The fabric: frames, links, switches, adapters, topologies and workloads. No files, no command line.
//!
//! A [`spec::NetworkSpec`] is built into a [`Simulation`], which runs to an [`Outcome`]. Running cannot fail: it
//! finishes, finds a deadlock, loses a frame it had promised to keep, or reaches a limit.

mod build;
mod describe;
mod machine;
mod observe;

pub use build::BuildOptions;
pub use build::partition::{self, Partition};
pub use describe::validate::{BuildError, validate};
pub use describe::{graph, lanes, routing, spec, topology, workload};
pub use machine::frame::{Content, Credit, Frame, Inquiry, Kind, Notice, Pause, Segment};
pub use machine::simulation::{FlowSummary, Mark, Progress, RunLimits, RunSummary, Simulation};
pub use observe::census::Census;
pub use observe::outcome::{Limit, Loss, LossDetails, Outcome, Totals};
pub use observe::probe::{DropCause, NoProbe, Probe, QueueSample};
pub use observe::record;
pub use observe::watchdog::{Deadlock, Held, Stall, StallCause, StallRoot, Waiting};

pub use {congestion, units};
