//! Whole networks: what can be computed by hand, what must hold on any network, and that nothing depends on threads.

#![allow(missing_docs)]

// The short name, as in the rest of the workspace.
extern crate tailback_fabric as fabric;

mod adaptive;
mod analytic;
mod backlog;
mod bakeoff;
mod buffer_need;
mod collectives;
mod dependencies;
mod determinism;
mod drops;
mod enqueue;
mod fabrics;
mod faults;
mod headroom;
mod homing;
mod host_delay;
mod kit;
mod lanes;
mod laws;
mod marking;
mod observed;
mod oracle;
mod outcomes;
mod path_selection;
mod pfc_watchdog;
mod ports;
mod pulls;
mod ranks;
mod readings;
mod recovery;
mod refusals;
mod regressions;
mod requeue;
mod routes;
mod sampling;
mod saved;
mod scheduling;
mod stress;
mod summaries;
mod telemetry;
mod turns;
mod verdicts;
mod watched;
