//! The arguments of commands that show results: `report`, `lab`, `serve`, `plot` and `diff`.
// Comments here are help texts, and scenario keys in them no links.
#![allow(rustdoc::broken_intra_doc_links)]

use clap::Args;
use std::path::PathBuf;

/// `report`
#[derive(Args, Debug)]
pub struct Report {
    /// A directory that run, compare, sweep, reproduce or stability wrote
    pub results: PathBuf,
    /// The file to write; - for standard output [default: RESULTS/report.html]
    #[arg(long, short)]
    pub out: Option<PathBuf>,
    /// Replace the file even if tailback did not write it
    #[arg(long)]
    pub overwrite: bool,
    /// Maximum size of its data; beyond it, samples are merged over time (sums and extremes are kept)
    #[arg(long, value_name = "SIZE", default_value = "15MB")]
    pub size: units::Bytes,
    /// Put the simulator into the report of a run, so that a reader can change values and run it again
    #[arg(long)]
    pub live: bool,
}

/// `lab`
#[derive(Args, Debug)]
pub struct Lab {
    /// The file to write; - for standard output
    #[arg(long, short, default_value = "lab.html")]
    pub out: PathBuf,
    /// Replace the file even if tailback did not write it
    #[arg(long)]
    pub overwrite: bool,
}

/// `serve`
#[derive(Args, Debug)]
pub struct Serve {
    /// The folder whose results are shown
    #[arg(default_value = "results")]
    pub results: PathBuf,
    /// The address to listen at; port 0 is any free port. Addresses that other machines reach require a token, which is part
    /// of the printed address
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8470")]
    pub listen: std::net::SocketAddr,
    /// Require a token on this machine, too, for example because others have accounts on it
    #[arg(long)]
    pub token: bool,
    /// Maximum number of threads of a run [default: all cores, or fewer if the network is small]; results do not depend on it
    #[arg(long)]
    pub threads: Option<usize>,
}

/// `plot`
#[derive(Args, Debug)]
pub struct Plot {
    /// A results directory
    pub results: PathBuf,
    /// Directory for the plots [default: RESULTS/plots]
    #[arg(long, short)]
    pub out: Option<PathBuf>,
    /// Replace files there even if tailback did not write them
    #[arg(long)]
    pub overwrite: bool,
}

/// `diff`
#[derive(Args, Debug)]
pub struct Diff {
    /// The first results directory
    pub a: PathBuf,
    /// The second results directory
    pub b: PathBuf,
}
