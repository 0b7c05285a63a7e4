//! Execution and evaluation: single runs, grids of runs, and verdicts on expectations.
//!
//! [`execute()`] runs and measures a plan. [`Grid`] runs a scenario over a grid of values and several seeds, in parallel
//! and resumable. [`judge`] compares measurements of several seeds with the expectations of a paper or a scenario;
//! [`FigureStudy`] does so for all cells of a figure and all readings of its paper.

pub mod capture;
mod grid;
mod judge;
mod measure;
mod paper;
mod run;
pub mod slurm;
pub mod stability;

pub use grid::{
    Axis, CompareError, CompareEvent, CompareStudy, Compared, Curve, Grid, GridError, LoadedComparison, Older, Part,
    Point, PointResult, Sample, SweepRow, SweepStudy, SweepTable, Views, given_twice, kind_of, parse_axis,
    quantity_keys,
};
pub use judge::{
    CellRuns, Counts, Evidence, FigureRuns, Judgement, Line, MatrixTable, SentenceFinding, Statement, TrendJudgement,
    Verdict, Votes, count_statements, doubt, expected_text, fill_matrix, holds, judge, judge_run, judge_sentence,
    judge_trend, judge_values, judgement_record, measured_text, run_record, statements, symbol,
};
pub use measure::{
    Bounds, Interval, Measures, Summary, WorkloadSummary, measured, outcome_word, quantile, summarise, summarise_within,
};
pub use paper::{
    Alternative, CellSummary, FigureEnding, FigureError, FigureOptions, FigureRecord, FigureRunner, FigureStudy,
    Finding, JudgedFigure, PaperFigure, Subject, SummaryError, SummaryStudy, SummedUp, axis_to_draw, own_folder,
    paper_document, short_cell, whole_figure,
};
pub use run::{
    Captured, Draft, Execution, Existing, Options, Recording, StudyError, Volume, blame, cores, execute, execute_with,
    file_name, load_recorded, recorder_spec, slug, usual_place,
};
