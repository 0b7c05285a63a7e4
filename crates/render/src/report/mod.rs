//! Reports: the results of any command as one HTML file.
//!
//! [`Report::open`] detects the contents of a directory: a run, a comparison, a sweep, a figure, all figures of a
//! paper, or a stability analysis. [`Report::html`] combines them with the front-end, which is built from `report/` by
//! `cargo xtask report-ui` and embedded in the program.

mod count;
mod fit;
mod lab;
mod live;
mod open;
mod page;
mod run;
mod series;

pub use fit::{MOST_BYTES, Making};
pub use lab::{LAB, lab_page, served_page};
pub use live::{LiveRecord, LiveTables};
pub use open::{Report, ReportError};
pub use page::Front;

/// The front-end, as built from `report/src` by `cargo xtask report-ui`.
pub const FRONT: Front<'static> = Front {
    script: include_str!("../../front/report.js"),
    style: include_str!("../../front/report.css"),
    module: None,
    asks: false,
};
