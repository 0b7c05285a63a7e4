//! Pictures and reports of results.
//!
//! Rendering reads results and writes files to look at; it computes nothing that a study has not.

pub mod charts;
pub mod figure;
pub mod plot;
pub mod report;
