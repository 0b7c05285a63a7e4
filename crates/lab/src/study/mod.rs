//! Runs and what they show: one run, many runs, and the verdict on what was expected.
//!
//! [`execute`] runs a plan and measures it. [`Grid`] runs a scenario over a grid of values and several seeds, on all
//! cores, and goes on where it was stopped. [`judge`] holds measurements of several seeds against what a paper or a
//! scenario expects.

mod execute;
mod grid;
mod measure;
mod statistics;
mod verdict;

pub use execute::{Execution, Options, Recording, StudyError, execute, recorder_spec};
pub use grid::{Grid, GridError, Point, PointResult, Sample};
pub use measure::{Measures, WorkloadSummary, measured};
pub use statistics::{Summary, quantile, summarise};
pub use verdict::{Judgement, Verdict, judge, judge_values};
