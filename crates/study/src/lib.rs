//! Execution and evaluation: single runs, grids of runs, and verdicts on expectations.
//!
//! [`execute()`] runs and measures a plan. [`Grid`] runs a scenario over a grid of values and several seeds, in parallel
//! and resumable. [`judge`] compares measurements of several seeds with the expectations of a paper or a scenario;
//! [`FigureStudy`] does so for all cells of a figure and all readings of its paper.

mod blame;
pub mod capture;
mod compare;
mod count;
mod criteria;
mod doubt;
mod execute;
mod figure;
mod grid;
#[cfg(test)]
mod infiniband_tests;
mod judged;
mod measure;
#[cfg(test)]
mod measure_tests;
mod names;
mod network;
mod part;
mod recorded;
mod records;
mod reproduce;
mod sentence;
mod shares;
pub mod stability;
mod statement;
mod statistics;
mod summary;
mod sweep;
mod trend;
mod verdict;
mod volume;
mod watch;

pub use blame::blame;
pub use compare::{CompareError, CompareEvent, CompareStudy};
pub use count::count_statements;
pub use doubt::{Votes, doubt};
pub use execute::{
    Captured, Draft, Execution, Existing, Options, Recording, StudyError, cores, execute, execute_with, recorder_spec,
};
pub use figure::{Alternative, CellSummary, FigureStudy, Finding, Subject};
pub use grid::{Grid, GridError, Older, Point, PointResult, Sample, kind_of, quantity_keys};
pub use judged::{FigureEnding, JudgedFigure, short_cell};
pub use measure::{Measures, WorkloadSummary, measured, outcome_word};
pub use names::{claim_place, file_name, slug, usual_place};
pub use part::Part;
pub use recorded::load_recorded;
pub use records::{judgement_record, run_record, symbol};
pub use reproduce::{FigureError, FigureOptions, FigureRecord, FigureRunner, PaperFigure, own_folder, whole_figure};
pub use sentence::{FigureRuns, MatrixTable, SentenceFinding, fill_matrix, judge_sentence};
pub use statement::{Counts, Evidence, Statement, statements};
pub use statistics::{Bounds, Interval, Summary, quantile, summarise, summarise_within};
pub use summary::{SummaryError, SummaryStudy, SummedUp};
pub use sweep::{Axis, Curve, SweepRow, SweepStudy, SweepTable, given_twice, parse_axis};
pub use trend::{CellRuns, Line, TrendJudgement, holds, judge_trend};
pub use verdict::{Judgement, Verdict, judge, judge_run, judge_values};
pub(crate) use volume::ROWS_HELD;
pub use volume::Volume;
