//! The laboratory: scenario files, results and plots. The only crate with I/O.

pub mod capture;
pub mod dcbx;
pub mod files;
#[cfg(target_os = "linux")]
pub mod interface;
pub mod memory;
pub mod output;
pub mod plot;
mod post;
pub mod report;
pub mod results;
pub mod scenario;
pub mod spb;
pub mod stability;
pub mod study;
pub mod subnet;
pub mod text;
