//! The laboratory: scenario files, results and plots. The only crate with I/O.

pub mod plot;
pub mod report;
pub mod results;
pub mod scenario;
pub mod stability;
pub mod study;
