//! Verdicts on expectations, trends and sentences, and the statements of a paper that they are evidence for.

pub(crate) mod count;
mod criteria;
pub(crate) mod documents;
pub(crate) mod sentence;
pub(crate) mod sentence_text;
pub(crate) mod statement;
pub(crate) mod trend;
pub(crate) mod undetermined;
pub(crate) mod verdict;

pub use count::count_statements;
pub use documents::{judgement_record, run_record, symbol};
pub use sentence::{FigureRuns, MatrixTable, SentenceFinding, fill_matrix, judge_sentence};
pub use sentence_text::{expected_text, measured_text};
pub use statement::{Counts, Evidence, Statement, statements};
pub use trend::{CellRuns, Line, TrendJudgement, holds, judge_trend};
pub use undetermined::{Votes, doubt};
pub use verdict::{Judgement, Verdict, judge, judge_run, judge_values};
