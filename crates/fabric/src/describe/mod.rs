//! Describing a network: plain data and pure functions. Nothing here runs.
//!
//! A [`spec::NetworkSpec`] names a [`graph`], routes, kinds of switches and adapters, and flows. [`topology`],
//! [`routing`] and [`workload`] compute parts of one; [`validate`] says what is wrong with one.

mod change;
mod defaults;
pub(crate) mod error;
pub mod graph;
pub mod lanes;
pub(crate) mod multi_homing;
pub(crate) mod pfc_watchdog;
pub mod routing;
pub mod spec;
pub mod topology;
pub(crate) mod trip;
pub(crate) mod validate;
mod validate_flow;
mod validate_point;
pub mod workload;
