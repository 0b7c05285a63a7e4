//! The arguments of commands that make many runs of one scenario: `tune` and `faults`.
// Comments here are help texts, and scenario keys in them no links.
#![allow(rustdoc::broken_intra_doc_links)]

use super::arguments::{Scenario, TimeLimit};
use clap::Args;
use std::path::PathBuf;

/// `tune`
#[derive(Args, Debug)]
pub struct Tune {
    #[command(flatten)]
    pub scenario: Scenario,
    /// A key and the range of its values; repeatable. switches[*] is every entry of [[switches]]
    #[arg(long, value_name = "KEY=FROM..TO", required = true)]
    pub vary: Vec<String>,
    /// The metric to minimise, such as 'incast: p99 completion time', 'pause frames' or the name of an
    /// expectation; two goals give a front
    #[arg(long, visible_alias = "minimize", value_name = "METRIC", required_unless_present = "maximise")]
    pub minimise: Vec<String>,
    /// The metric to maximise
    #[arg(long, visible_alias = "maximize", value_name = "METRIC")]
    pub maximise: Vec<String>,
    /// A condition that every run must meet: an expectation of the scenario by its name, or 'METRIC <= VALUE' (<, >, >=, =); repeatable
    #[arg(long, value_name = "EXPECTATION")]
    pub subject_to: Vec<String>,
    /// Combinations of values to try
    #[arg(long, value_name = "N", default_value_t = study::CANDIDATES as u32, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub candidates: u32,
    /// Seeds per candidate [default: the scenario's replications, at least 3]
    #[arg(long)]
    pub replications: Option<u32>,
    /// Directory of the search; an unfinished one there is resumed [default: results/NAME-tune]
    #[arg(long, short)]
    pub out: Option<PathBuf>,
    /// Runs at a time [default: all cores]; results do not depend on it
    #[arg(long)]
    pub threads: Option<usize>,
    /// Also write report.html to that directory
    #[arg(long)]
    pub report: bool,
    /// Print the search as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub limit: TimeLimit,
}

/// `faults`
#[derive(Args, Debug)]
pub struct Faults {
    #[command(flatten)]
    pub scenario: Scenario,
    /// A kind of fault; repeatable [default: all kinds]
    #[arg(long, value_name = "KIND", value_parser = clap::builder::PossibleValuesParser::new(study::fault_kinds()))]
    pub kind: Vec<String>,
    /// Names of nodes, with wildcards: faults of these nodes and of their links only; repeatable
    #[arg(long, value_name = "NAME")]
    pub among: Vec<String>,
    /// Time at which faults begin [default: a tenth of the time until the last flow completes]
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// Time at which failures, storms and slow receivers end [default: never]
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Time for which a flapping link is down, and then up; it fails five times [default: a fiftieth of the time until the
    /// last flow completes]
    #[arg(long, value_name = "TIME")]
    pub flap: Option<String>,
    /// Bit error rate of a bad link [default: 1e-7]
    #[arg(long, value_name = "RATE")]
    pub bit_error_rate: Option<f64>,
    /// Service rate of a slow receiver, as a fraction of its link rate [default: 0.1]
    #[arg(long, value_name = "PART")]
    pub slow: Option<f64>,
    /// Seeds per fault [default: the scenario's replications]
    #[arg(long)]
    pub replications: Option<u32>,
    /// Directory of the campaign; an unfinished one there is resumed [default: results/NAME-faults]
    #[arg(long, short)]
    pub out: Option<PathBuf>,
    /// Runs at a time [default: all cores]
    #[arg(long)]
    pub threads: Option<usize>,
    /// Number of faults to list
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,
    /// Also write report.html to that directory
    #[arg(long)]
    pub report: bool,
    /// Print the ranks as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub limit: TimeLimit,
}
