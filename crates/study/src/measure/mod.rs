//! The metrics of a run, and statistics over several runs.
//!
//! Some metrics are known at the end of a run (`measures.rs`, by flow `flow_measures.rs`), others are accumulated while it runs (`watch/`). Fair
//! shares (`shares.rs`) are the yardstick of throughputs.

pub(crate) mod causes;
pub(crate) mod collectives;
pub(crate) mod flow_measures;
pub(crate) mod measures;
pub(crate) mod percentiles;
pub(crate) mod recovery;
pub(crate) mod requests;
pub(crate) mod shares;
pub(crate) mod statistics;
#[cfg(test)]
mod tests;
pub(crate) mod waiting;
pub(crate) mod watch;

pub use collectives::{CollectiveRound, CollectiveSummary};
pub use flow_measures::{FlowMeasures, MeasuredFlows};
pub use measures::{Measures, WorkloadSummary, measured, outcome_word};
pub use percentiles::{Percentiles, SizeBin, slowdown_by_size};
pub use recovery::RecoveryCounts;
pub use requests::{RequestSummary, RequestTime};
pub use statistics::{Bounds, Interval, Summary, quantile, summarise, summarise_within};
pub use waiting::Unstarted;
pub use watch::Extremes;
