//! The command line, from which help and completions are generated.
// Comments here are help texts, and scenario keys in them no links.
#![allow(rustdoc::broken_intra_doc_links)]

use super::import_arguments::{Export, Import};
use super::listing::TEMPLATE_NAMES;
use super::result_arguments::{Diff, Lab, Plot, Report, Serve};
use super::study_arguments::{Faults, Tune};
use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::net::Ipv4Addr;
use std::path::PathBuf;

const CODES: &str = "\
Exit codes: 0 success, 1 system failure, 2 bad input, 3 loss in a lossless class, 4 deadlock or stall, 5 limit reached, \
6 disagreement with an expectation, 130 interrupted.";

/// A laboratory for congestion in lossless networks.
#[derive(Debug, Parser)]
#[command(name = "tailback", version, about, after_help = CODES)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a scenario and record the results
    Run(Run),
    /// Run a saved simulation to its end, as if it had not been stopped
    Resume(Resume),
    /// Stop a run and compare several futures, each with other values
    WhatIf(WhatIf),
    /// Check a scenario, or the configurations of switches, for problems without running it
    Check(Check),
    /// Summarize a scenario's routing, or export its forwarding tables
    Routes(Routes),
    /// Simulate DCBX in a scenario's network, or run an agent on a real interface
    Dcbx(Dcbx),
    /// Simulate IS-IS between a scenario's switches, or run a bridge on real interfaces
    Spb(Spb),
    /// Print every value of the plan and where it comes from
    Explain(Explain),
    /// Run a scenario with several values of a key and compare the results
    Compare(Compare),
    /// Run a scenario over a grid of values and seeds
    Sweep(Sweep),
    /// Search for values of keys that minimise a measured value, such as thresholds
    Tune(Tune),
    /// Run a scenario with every single fault of its network and rank the faults
    Faults(Faults),
    /// Reproduce a paper's figures and compare the results with the paper
    Reproduce(Reproduce),
    /// Analyse the stability of a scenario's congestion control with a fluid model
    Stability(Stability),
    /// Capture the frames of links to a pcapng file for Wireshark
    Pcap(Pcap),
    /// Explain why flows were slow: the time that they lost to each link and each flow
    Why(Why),
    /// Write results as a single HTML file
    Report(Report),
    /// Write the simulator as a single HTML page
    Lab(Lab),
    /// Serve the lab to browsers of this machine: runs on all cores, beside recorded results
    Serve(Serve),
    /// Plot a recorded run
    Plot(Plot),
    /// Find the first difference between two recorded runs
    Diff(Diff),
    /// Export the tables of a recorded run as CSV
    Csv(Csv),
    /// List the congestion control protocols and congestion points, or the parameters of one
    Protocols(Protocols),
    /// List the topologies and their parameters
    Topologies,
    /// Print the JSON Schema of scenario files
    Schema,
    /// Print the reference of scenario files (docs/scenario.md)
    Reference,
    /// Print the tables and columns of results (docs/results.md)
    Tables,
    /// Write a commented scenario as a starting point
    Init(Init),
    /// Convert files of other simulators, switches, fabrics or drawings to a scenario
    Import(Import),
    /// Write the switches of a scenario as configurations
    Export(Export),
    /// Print completions for a shell
    Completions(Completions),
}

impl Command {
    /// Whether it communicates with peers on an interface, which it notifies when it ends.
    pub fn is_live(&self) -> bool {
        match self {
            Command::Dcbx(it) => it.interface.is_some(),
            Command::Spb(it) => !it.interface.is_empty(),
            _ => false,
        }
    }
}

/// A scenario file and changes to it.
#[derive(Args, Clone, Debug)]
pub struct Scenario {
    /// The scenario file (TOML)
    pub file: PathBuf,
    /// Override a value, such as network.k=4 or run.duration=5ms
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
}

/// `run`
#[derive(Args, Debug)]
pub struct Run {
    #[command(flatten)]
    pub scenario: Scenario,
    /// Maximum number of threads [default: all cores, or fewer if the network is small]; results do not depend on it
    #[arg(long)]
    pub threads: Option<usize>,
    /// Run one of the scenario's variants [default: none]
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
    /// Use this seed instead of the scenario's
    #[arg(long, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Results directory [default: results/NAME, or the next free NAME-2, NAME-3, ...]
    #[arg(long, short)]
    pub out: Option<PathBuf>,
    /// Replace the results at --out when the new ones are complete; your own files there are kept
    #[arg(long)]
    pub overwrite: bool,
    /// Print the summary, but record nothing
    #[arg(long, conflicts_with_all = ["out", "overwrite", "plot", "csv", "report"])]
    pub no_record: bool,
    /// Also write plots to the results directory
    #[arg(long)]
    pub plot: bool,
    /// Also write the tables as CSV to the results directory
    #[arg(long)]
    pub csv: bool,
    /// Also capture the frames of links, such as 'sw0->h1' or 'leaf*->spine?', in the results directory
    #[arg(long, value_name = "LINK", conflicts_with = "no_record")]
    pub pcap: Vec<String>,
    /// Also record why every flow took its time, for 'tailback why'; the run takes longer
    #[arg(long, conflicts_with = "no_record")]
    pub why: bool,
    /// Also write report.html to the results directory
    #[arg(long)]
    pub report: bool,
    /// Put the simulator into the report, so that a reader can change values and run it again
    #[arg(long, requires = "report")]
    pub live: bool,
    /// Stop at this simulated time and save the simulation to --out [default: NAME.saved], for 'tailback resume'
    #[arg(long, value_name = "TIME", conflicts_with_all = ["plot", "csv", "pcap", "why", "report", "json"])]
    pub save_at: Option<String>,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
    /// Print only errors (and the JSON)
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub limit: TimeLimit,
}

/// `resume`
#[derive(Args, Debug)]
pub struct Resume {
    /// The saved simulation, written by 'tailback run FILE --save-at TIME' or from Python
    pub file: PathBuf,
    /// Maximum number of threads [default: all cores, or fewer if the network is small]; results do not depend on it
    #[arg(long)]
    pub threads: Option<usize>,
    /// Results directory [default: results/NAME, or the next free NAME-2, NAME-3, ...]
    #[arg(long, short)]
    pub out: Option<PathBuf>,
    /// Replace the results at --out when the new ones are complete; your own files there are kept
    #[arg(long)]
    pub overwrite: bool,
    /// Print the summary, but record nothing
    #[arg(long, conflicts_with_all = ["out", "overwrite"])]
    pub no_record: bool,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
    /// Print only errors (and the JSON)
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub limit: TimeLimit,
}

/// `what-if`
#[derive(Args, Debug)]
pub struct WhatIf {
    /// The scenario file (TOML), or a saved simulation
    pub file: PathBuf,
    /// The simulated time of the change [default: that of the saved simulation]
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// Values of a key from then on, such as switches[0].buffers[0].xoff=40KB,80KB; repeat for all combinations
    #[arg(long, value_name = "KEY=A,B,...", required = true)]
    pub vary: Vec<String>,
    /// Override a value of the scenario, such as network.k=4 or run.duration=5ms
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Maximum number of threads [default: all cores, or fewer if the network is small]; results do not depend on it
    #[arg(long)]
    pub threads: Option<usize>,
    /// Print the futures as JSON
    #[arg(long)]
    pub json: bool,
    /// Print only errors (and the JSON)
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub limit: TimeLimit,
}

/// How long a command may take.
#[derive(Args, Clone, Copy, Debug)]
pub struct TimeLimit {
    /// End after this many seconds of wall-clock time
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub time_limit: Option<f64>,
}

/// `check`
#[derive(Args, Debug)]
pub struct Check {
    /// The scenario file (TOML), or configurations of SONiC: a config_db.json, or a directory with a file or a folder for
    /// each switch
    pub file: PathBuf,
    /// Override a value, such as network.k=4 or run.duration=5ms
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Print the findings as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub limit: TimeLimit,
}

/// `explain`
#[derive(Args, Debug)]
pub struct Explain {
    #[command(flatten)]
    pub scenario: Scenario,
    #[command(flatten)]
    pub limit: TimeLimit,
}

/// `routes`
#[derive(Args, Debug)]
pub struct Routes {
    #[command(flatten)]
    pub scenario: Scenario,
    /// Write the network or its forwarding tables to standard output, as a file of an InfiniBand subnet manager or as
    /// filtering databases of bridges
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<Format>,
    /// The tree to write, numbered from 0
    #[arg(long, default_value_t = 0, requires = "format")]
    pub tree: u8,
    /// Print the summary as JSON
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    #[command(flatten)]
    pub limit: TimeLimit,
}

/// `spb`
#[derive(Args, Debug)]
pub struct Spb {
    /// The scenario file (TOML)
    #[arg(required_unless_present = "interface")]
    pub file: Option<PathBuf>,
    /// Override a value, such as network.k=4
    #[arg(long = "set", value_name = "PATH=VALUE", requires = "file")]
    pub set: Vec<String>,
    /// Run a bridge on this real interface instead, until interrupted; repeatable; requires root
    #[arg(long, value_name = "IF", conflicts_with = "file")]
    pub interface: Vec<String>,
    /// The bridge's system ID, such as 0200.0000.0001 [default: the address of its first interface]
    #[arg(long, value_name = "ID", requires = "interface", conflicts_with = "file", value_parser = octets::<6>)]
    pub system: Option<[u8; 6]>,
    /// The IS-IS area of the bridge and its neighbours
    #[arg(long, value_name = "AREA", requires = "interface", conflicts_with = "file", default_value = "49.0001", value_parser = octets::<3>)]
    pub area: [u8; 3],
    /// The metric of each of its links; 2000 is that of 10 Gb/s
    #[arg(long, requires = "interface", conflicts_with = "file", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..=0xFF_FFFE))]
    pub metric: u32,
    /// The IPv4 address of an interface, in the order of the interfaces; needed for neighbours that are routers
    #[arg(long, value_name = "ADDRESS", requires = "interface", conflicts_with = "file")]
    pub ipv4: Vec<Ipv4Addr>,
    /// End after this many seconds
    #[arg(long, value_name = "SECONDS", requires = "interface", conflicts_with = "file", value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    pub seconds: Option<u64>,
    /// Print JSON: the result, or with --interface the state of the bridge, one line per change
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub limit: TimeLimit,
}

/// So many octets in hexadecimal digits, with dots wherever one likes them.
fn octets<const COUNT: usize>(text: &str) -> Result<[u8; COUNT], String> {
    let digits: Vec<char> = text.chars().filter(|&it| it != '.').collect();
    let octet = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).ok();
    let pairs = digits.chunks(2).filter(|pair| pair.iter().all(char::is_ascii_hexdigit));
    let octets: Vec<u8> = pairs.filter_map(octet).collect();
    let wrong = || format!("give {COUNT} octets as {} hexadecimal digits; dots between them are optional", 2 * COUNT);
    if digits.len() == 2 * COUNT { octets.try_into().map_err(|_| wrong()) } else { Err(wrong()) }
}

/// `dcbx`
#[derive(Args, Debug)]
pub struct Dcbx {
    /// The scenario file (TOML) with [[dcb]] entries
    #[arg(required_unless_present = "interface")]
    pub file: Option<PathBuf>,
    /// Override a value, such as dcb[0].pfc=[3,4]
    #[arg(long = "set", value_name = "PATH=VALUE", requires = "file")]
    pub set: Vec<String>,
    /// Run an agent on this real interface instead, until interrupted; requires root
    #[arg(long, value_name = "IF")]
    pub interface: Option<String>,
    /// The node of the scenario whose settings the agent uses; without a scenario it is willing and has no settings
    #[arg(long, value_name = "NODE", requires = "file", requires = "interface")]
    pub node: Option<String>,
    /// End after this many seconds
    #[arg(long, value_name = "SECONDS", requires = "interface", value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    pub seconds: Option<u64>,
    /// Print JSON: the state of every port, or with --interface of the interface, one line per change
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub limit: TimeLimit,
}

/// Tables for other programs and for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// The network as ibnetdiscover prints it; read by ibsim
    Ibnetdiscover,
    /// The network as opensm writes it to opensm-subnet.lst; read by ibdmchk -s
    Subnet,
    /// The tables as opensm writes them to opensm.fdbs; read by ibdmchk -f
    Fdbs,
    /// The tables as opensm writes them to opensm-lfts.dump; read by opensm -R file -U
    Lfts,
    /// The local identifiers as opensm writes them to guid2lid
    Guid2lid,
    /// The service level of every pair; read by ibdmchk -c
    PathSl,
    /// The virtual lane of every service level; read by ibdmchk -d
    Sl2vl,
    /// Filtering databases of SPBM bridges (by address), with the groups of services
    Spbm,
    /// Filtering databases of SPBV bridges (by VLAN), with the groups of addresses
    Spbv,
}

/// `protocols`
#[derive(Args, Debug)]
pub struct Protocols {
    /// List the parameters of this protocol or congestion point
    pub name: Option<String>,
}

/// `compare`
#[derive(Args, Debug)]
#[group(id = "what", required = true, multiple = false, args = ["protocols", "vary"])]
pub struct Compare {
    #[command(flatten)]
    pub scenario: Scenario,
    /// Protocols to compare, such as none,qcn
    #[arg(long, value_delimiter = ',', value_name = "A,B,...")]
    pub protocols: Vec<String>,
    /// Any other key and the values to compare, such as switches[0].buffers[0].xoff=50KB,100KB
    #[arg(long, value_name = "PATH=A,B,...")]
    pub vary: Option<String>,
    /// Directory for the results and the plot [default: results/NAME-compared, or the next free name]
    #[arg(long, short)]
    pub out: Option<PathBuf>,
    /// Replace older results there; your own files are kept
    #[arg(long)]
    pub overwrite: bool,
    /// Maximum number of threads [default: all cores, or fewer if the network is small]
    #[arg(long)]
    pub threads: Option<usize>,
    /// Also record why every flow took its time: the table and the report then show victims and roots; the runs take longer
    #[arg(long)]
    pub why: bool,
    /// Also write report.html to that directory
    #[arg(long)]
    pub report: bool,
    /// Print the table as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub limit: TimeLimit,
}

/// `sweep`
#[derive(Args, Debug)]
pub struct Sweep {
    #[command(flatten)]
    pub scenario: Scenario,
    /// An axis of the grid; repeatable; replaces the scenario's [sweep]
    #[arg(long, value_name = "PATH=A,B,...")]
    pub axis: Vec<String>,
    /// Seeds per cell [default: the scenario's replications]
    #[arg(long)]
    pub replications: Option<u32>,
    /// Directory of the sweep; an unfinished sweep there is resumed [default: results/NAME-sweep]
    #[arg(long, short)]
    pub out: Option<PathBuf>,
    /// Runs at a time [default: all cores; with --slurm, 1 in each task]
    #[arg(long)]
    pub threads: Option<usize>,
    /// Execute only runs I, I+N, I+2N, ..., and write no table (for one task of a batch job)
    #[arg(long, value_name = "I/N", conflicts_with_all = ["report", "json", "slurm"])]
    pub part: Option<study::Part>,
    #[command(flatten)]
    pub slurm: Slurm,
    /// Also write report.html to that directory
    #[arg(long)]
    pub report: bool,
    /// Print the table as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub limit: TimeLimit,
}

/// Runs on a cluster.
#[derive(Args, Clone, Debug)]
pub struct Slurm {
    /// Execute the runs on a cluster: submit a Slurm array job, wait for it, and gather the results
    #[arg(long)]
    pub slurm: bool,
    /// Tasks of the array job [default: one per run, 256 at most]
    #[arg(long, value_name = "N", requires = "slurm", value_parser = clap::value_parser!(u32).range(1..))]
    pub slurm_tasks: Option<u32>,
    /// An option for sbatch, such as partition=short, time=01:00:00 or mem=4G; repeatable
    #[arg(long, value_name = "OPTION", requires = "slurm", allow_hyphen_values = true)]
    pub slurm_option: Vec<String>,
    /// Number of resubmissions of a task that makes no progress
    #[arg(long, value_name = "N", requires = "slurm", default_value_t = 3)]
    pub slurm_repeats: u32,
    /// Return once the job is submitted; the same command gathers the results later
    #[arg(long, requires = "slurm", conflicts_with_all = ["report", "json"])]
    pub slurm_detach: bool,
}

/// `reproduce`
#[derive(Args, Debug)]
pub struct Reproduce {
    /// PAPER or PAPER/FIGURE [default: list all figures]
    pub what: Option<String>,
    /// The folder with the papers
    #[arg(long, default_value = "papers")]
    pub papers: PathBuf,
    /// Directory for results and plots
    #[arg(long, short, default_value = "results/papers")]
    pub out: PathBuf,
    /// Seeds per figure [default: the figure's own]
    #[arg(long)]
    pub replications: Option<u32>,
    /// Whether to repeat the runs with the other plausible values of parameters that a paper does not state
    #[arg(long, value_name = "WHICH", default_value = "all")]
    pub choices: Choices,
    /// A short form: one seed, no choices, and the duration of the figure's run.quick
    #[arg(long, conflicts_with_all = ["replications", "choices"])]
    pub quick: bool,
    /// Override a value in every figure
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Runs at a time [default: all cores; with --slurm, 1 in each task]
    #[arg(long)]
    pub threads: Option<usize>,
    /// Execute only runs I, I+N, I+2N, ... of each figure, and give no verdicts (for one task of a batch job)
    #[arg(long, value_name = "I/N", conflicts_with_all = ["report", "json", "slurm"], requires = "what")]
    pub part: Option<study::Part>,
    #[command(flatten)]
    pub slurm: Slurm,
    /// Also write report.html to that directory
    #[arg(long)]
    pub report: bool,
    /// Print the verdicts as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub limit: TimeLimit,
}

/// Which open choices to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Choices {
    // Every value of every choice, one at a time.
    All,
    // Only the values we take.
    None,
}

/// `stability`
#[derive(Args, Debug)]
pub struct Stability {
    #[command(flatten)]
    pub scenario: Scenario,
    /// An axis of the stability map: a key of [fluid] and its range, such as delay=50us..300us; give it twice
    #[arg(long, value_name = "KEY=FROM..TO")]
    pub map: Vec<String>,
    /// Points along each axis of the map
    #[arg(long, default_value_t = 1000, value_name = "COUNT")]
    pub points: usize,
    /// Also integrate the equations and plot queue and rate over time
    #[arg(long)]
    pub trajectory: bool,
    /// Also run the packet simulation, plot it over the fluid model and measure its oscillation
    #[arg(long)]
    pub packets: bool,
    /// Directory for the plots [default: results/NAME-stability]
    #[arg(long, short)]
    pub out: Option<PathBuf>,
    /// Maximum number of threads [default: all cores]; results do not depend on it
    #[arg(long)]
    pub threads: Option<usize>,
    /// Also write report.html to that directory
    #[arg(long)]
    pub report: bool,
    /// Print everything as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub limit: TimeLimit,
}

/// `pcap`
#[derive(Args, Debug)]
pub struct Pcap {
    /// A scenario file, or a results directory whose run is repeated (its fingerprint must match)
    pub what: PathBuf,
    /// Links to capture, each in one direction, such as 'sw0->h1' or 'leaf*->spine?'
    #[arg(required = true, value_name = "LINK")]
    pub links: Vec<String>,
    /// The file to write; - for standard output [default: NAME.pcapng]
    #[arg(long, short)]
    pub out: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    pub overwrite: bool,
    /// For results without copies of their input files: read the files that the manifest names, wherever they are
    #[arg(long)]
    pub inputs: bool,
    /// Override a value of the scenario
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Use this seed instead of the scenario's
    #[arg(long, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Maximum number of threads [default: all cores, or fewer if the network is small]; results do not depend on it
    #[arg(long)]
    pub threads: Option<usize>,
    /// Print only errors
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub limit: TimeLimit,
}

/// `why`
#[derive(Args, Debug)]
#[group(id = "about", multiple = false, args = ["flow", "worst", "link"])]
pub struct Why {
    /// Results of a run with --why, or a scenario file, which is run and recorded with it
    #[arg(value_name = "RESULTS|FILE")]
    pub what: PathBuf,
    /// Only the flows of this name; * and ? match as in scenarios
    #[arg(long, value_name = "NAME")]
    pub flow: Option<String>,
    /// Show the N flows that lost the most time [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub worst: Option<u32>,
    /// Only the flows that lost time to this link or through it, such as 'sw0->h1'
    #[arg(long, value_name = "LINK")]
    pub link: Option<String>,
    /// Directory for the results of a scenario file [default: results/NAME, or the next free name]
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Override a value of the scenario file, such as run.duration=5ms
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Maximum number of threads for the run [default: all cores, or fewer if the network is small]
    #[arg(long)]
    pub threads: Option<usize>,
    /// Print the answers as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub limit: TimeLimit,
}

/// `csv`
#[derive(Args, Debug)]
pub struct Csv {
    /// A results directory
    pub results: PathBuf,
    /// Directory for the files [default: RESULTS/csv]
    #[arg(long, short)]
    pub out: Option<PathBuf>,
    /// Replace files there even if tailback did not write them
    #[arg(long)]
    pub overwrite: bool,
}

/// `init`
#[derive(Args, Debug)]
pub struct Init {
    /// The file to write
    #[arg(default_value = "scenario.toml")]
    pub file: PathBuf,

    /// The scenario to start from
    #[arg(long, value_name = "NAME", default_value = TEMPLATE_NAMES[0], value_parser = PossibleValuesParser::new(TEMPLATE_NAMES))]
    pub template: String,
}

/// `completions`
#[derive(Args, Debug)]
pub struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
}
