//! Plots and reports of results.
//!
//! Rendering reads results and writes files for viewing; all values are computed by studies.

pub mod figure;
pub mod plot;
pub mod report;
pub mod stability;
