//! Observing a running network: probes and the tables they fill, the outcome of a run, the watchdog that recognises a
//! deadlock, and the census of frames.
//!
//! Nothing here changes what the network does. Supervision and the watchdog decide when a run ends, and with which outcome.

pub(crate) mod census;
pub(crate) mod flow_summaries;
pub(crate) mod flow_summary;
pub(crate) mod outcome;
pub(crate) mod probe;
pub mod record;
pub(crate) mod sample;
pub(crate) mod supervision;
pub(crate) mod watchdog;
