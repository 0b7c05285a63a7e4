//! Runs and what they show: one run, many runs, and the verdict on what was expected.
//!
//! [`execute()`] runs a plan and measures it. [`Grid`] runs a scenario over a grid of values and several seeds, on all
//! cores, and goes on where it was stopped. [`judge`] holds measurements of several seeds against what a paper or a
//! scenario expects; [`FigureStudy`] does so for all cells of a figure, and under all readings of its paper.

mod blame;
pub mod capture;
mod criteria;
mod doubt;
mod execute;
mod figure;
mod grid;
#[cfg(test)]
mod infiniband_tests;
mod measure;
#[cfg(test)]
mod measure_tests;
mod network;
mod recorded;
mod sentence;
mod shares;
pub mod stability;
mod statement;
mod statistics;
mod trend;
mod verdict;
mod volume;
mod watch;

pub use blame::blame;
pub use doubt::{Votes, doubt};
pub use execute::{
    Captured, Draft, Execution, Existing, Options, Recording, StudyError, cores, execute, execute_with, recorder_spec,
};
pub use figure::{Alternative, CellSummary, FigureStudy, Finding, Subject};
pub use grid::{Grid, GridError, Older, Point, PointResult, Sample, kind_of, quantity_keys};
pub use measure::{Measures, WorkloadSummary, measured, outcome_word};
pub use recorded::load_recorded;
pub use sentence::{FigureRuns, MatrixTable, SentenceFinding, fill_matrix, judge_sentence};
pub use statement::{Counts, Evidence, Statement, statements};
pub use statistics::{Bounds, Interval, Summary, quantile, summarise, summarise_within};
pub use trend::{CellRuns, Line, TrendJudgement, holds, judge_trend};
pub use verdict::{Judgement, Verdict, judge, judge_values};
pub(crate) use volume::ROWS_HELD;
pub use volume::Volume;
