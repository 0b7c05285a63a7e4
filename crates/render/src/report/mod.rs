//! The report: results of any command as one file of HTML, to look at and to send.
//!
//! [`Report::open`] finds out what a directory holds: a run, a comparison, a sweep, a figure or all figures of a paper,
//! or an analysis of stability. [`Report::html`] puts it into a page together with the front-end, which is built from
//! `report/` by `cargo xtask report-ui` and lies inside the program.

mod count;
mod fit;
mod open;
mod pack;
mod page;
mod run;
mod series;

pub use fit::{MOST_BYTES, Making};
pub use open::{Report, ReportError};
pub use pack::packed_integers;
pub use page::Front;

/// The front-end, as `cargo xtask report-ui` built it from `report/src`.
pub const FRONT: Front<'static> =
    Front { script: include_str!("../../front/report.js"), style: include_str!("../../front/report.css") };
