//! Reports: the results of any command as one HTML file.
//!
//! [`Report::open`] detects the contents of a directory: a run, a comparison, a sweep, a figure, all figures of a
//! paper, or a stability analysis. [`Report::html`] combines them with the front-end, which is built from `report/` by
//! `cargo xtask report-ui` and embedded in the program.

mod count;
mod fit;
mod front;
mod lab;
mod live;
mod open;
mod page;
mod run;
mod series;

pub use fit::{MOST_BYTES, Making};
pub use front::Front;
pub use lab::{lab_page, served_page};
pub use live::{LiveRecord, LiveTables};
pub use open::{Report, ReportError};
