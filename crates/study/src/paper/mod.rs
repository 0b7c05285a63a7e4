//! Papers: a figure with its cells and readings, the reproduction of figures, and the summary of a paper.

mod charts;
pub(crate) mod figure;
mod judged_figure;
mod reproduce;
mod summary;
mod summary_text;
mod whole;

pub use charts::axis_to_draw;
pub use figure::{Alternative, CellSummary, FigureFinding, FigureStudy, Subject};
pub use judged_figure::{FigureEnding, JudgedFigure, short_cell};
pub use reproduce::{FigureError, FigureOptions, FigureRecord, FigureRunner, PaperFigure, own_folder, paper_document};
pub use summary::{SummaryError, SummaryStudy, SummedUp};
pub use whole::{Conclusion, PaperError, PaperStudy};
