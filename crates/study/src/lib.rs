//! Execution and evaluation: single runs, grids of runs, and verdicts on expectations.
//!
//! [`execute()`] runs and measures a plan. [`Grid`] runs a scenario over a grid of values and several seeds, in parallel
//! and resumable. [`judge`] compares measurements of several seeds with the expectations of a paper or a scenario;
//! [`FigureStudy`] does so for all cells of a figure and all readings of its paper.
//!
//! ```
//! use tailback_study::scenario::{Limits, NoFiles, load_str};
//! use tailback_study::{Options, Verdict, execute};
//!
//! // Two hosts send to a third over one switch with PFC: each gets half of the link, and nothing is dropped.
//! let text = r#"
//!     schema_version = 1
//!     [network]
//!     topology = "single-switch"
//!     hosts = 3
//!     link = { rate = "10Gb/s", latency = "500ns" }
//!     [[switches]]
//!     flow_control = "pfc"
//!     buffers = { capacity = "100KB", xoff = "30KB", xon = "28KB" }
//!     [[workloads]]
//!     name = "incast"
//!     kind = "greedy"
//!     from = ["h1", "h2"]
//!     to = "h0"
//!     [run]
//!     duration = "200us"
//!     [[expectations]]
//!     name = "throughput of each"
//!     metric = "throughput"
//!     of = "incast"
//!     value = "4.9Gb/s"
//!     tolerance = 0.05
//! "#;
//! let plan = load_str("incast.toml", text, &[], &NoFiles, Limits::default()).map_err(|errors| errors.render(false))?;
//! let execution = execute(&plan, &Options::default(), |_| {}).map_err(|error| error.to_string())?;
//! assert_eq!(execution.judgements[0].verdict, Verdict::Agrees);
//! assert_eq!(execution.report.totals.dropped_frames, 0);
//! # Ok::<(), String>(())
//! ```

pub mod capture;
mod discover;
mod faults;
mod grid;
mod import;
mod judge;
mod measure;
mod overrides;
mod paper;
mod run;
pub mod slurm;
pub mod sonic;
pub mod stability;
#[cfg(not(target_family = "wasm"))]
mod tune;
mod what_if;
pub mod why;

pub use discover::{
    check_record, dcbx_event, dcbx_history, dcbx_record, dcbx_state, mean_stretch, routes_record, selector_name,
    severity_name, spb_discovery, spb_record, survey_routes, traffic_classes,
};
pub use faults::{FaultStudy, FaultWishes, fault_kinds};
pub use grid::{
    Axis, CompareError, CompareEvent, CompareStudy, Compared, Curve, Grid, GridError, GridPoint, LoadedComparison,
    Older, Part, PointResult, Sample, SweepRow, SweepStudy, SweepTable, Views, given_twice, kind_of, parse_axis,
    quantity_keys, value_names,
};
pub use import::{
    ChakraFiles, ImportError, InfinibandFiles, Target, import_chakra, import_drawing, import_goal, import_hpcc,
    import_htsim, import_infiniband,
};
pub use judge::{
    CellRuns, Counts, Evidence, FigureRuns, Judgement, Line, MatrixTable, SentenceFinding, Statement, TrendJudgement,
    Verdict, Votes, count_statements, doubt, expected_text, fill_matrix, holds, judge, judge_run, judge_sentence,
    judge_trend, judge_values, judgement_record, measured_text, run_record, statements, symbol,
};
pub use measure::{
    Bounds, CollectiveRound, CollectiveSummary, Extremes, FlowMeasures, Interval, MeasuredFlows, Measures, Percentiles,
    RecoveryCounts, RequestSummary, RequestTime, SizeBin, Summary, Unstarted, WorkloadSummary, measured, outcome_word,
    quantile, slowdown_by_size, summarise, summarise_within,
};
pub use paper::{
    Alternative, CellSummary, Conclusion, FigureEnding, FigureError, FigureFinding, FigureOptions, FigureRecord,
    FigureRunner, FigureStudy, JudgedFigure, PaperError, PaperFigure, PaperStudy, Subject, SummaryError, SummaryStudy,
    SummedUp, axis_to_draw, own_folder, paper_document, short_cell,
};
#[cfg(not(target_family = "wasm"))]
pub use tune::{CANDIDATES, Condition, Goal, LEAST_SEEDS, Search, Standing, TuneStudy, Tuned, Vary, beyond_noise};
pub use what_if::{Future, WhatIfError, what_if, what_if_record};
pub use {results, scenario};

pub use run::{
    Captured, ChangeError, Draft, Execution, Existing, LiveResult, LiveRun, Options, Recording, SavedError, Session,
    StudyError, Volume, assist, cores, execute, execute_among, execute_with, explain_loss, file_name, finish,
    load_recorded, recorded_texts, recorder_spec, slug, usual_place,
};
