//! The command line, from which help and completions are generated.
// Comments here are help texts, and scenario keys in them no links.
#![allow(rustdoc::broken_intra_doc_links)]

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::net::Ipv4Addr;
use std::path::PathBuf;

const CODES: &str = "\
Exit codes: 0 success, 1 the system refused, 2 bad input, 3 loss in a lossless class, 4 deadlock or stall, 5 limit reached, \
6 not as expected, 130 interrupted.";

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
    /// Run a scenario and record it
    Run(Run),
    /// Say what can be known of a scenario without running it
    Check(Check),
    /// Say what a scenario's routing makes of its network, or export its tables
    Routes(Routes),
    /// Let the DCBX agents of a scenario's network agree, or be one on a real interface
    Dcbx(Dcbx),
    /// Let a scenario's switches find each other by IS-IS, or be one on real interfaces
    Spb(Spb),
    /// Print the whole plan: every value, and where it came from
    Explain(Scenario),
    /// Run a scenario several ways and put them side by side
    Compare(Compare),
    /// Run a scenario over a grid of values and several seeds
    Sweep(Sweep),
    /// Run a paper's figures again and judge them against the paper
    Reproduce(Reproduce),
    /// Say whether a scenario's congestion control holds its queue, by theory
    Stability(Stability),
    /// Write the frames of links as a capture that Wireshark reads
    Pcap(Pcap),
    /// Write results as one HTML file to look at and to send
    Report(Report),
    /// Draw the pictures of a recorded run
    Plot(Plot),
    /// Find the first difference between two recorded runs
    Diff(Diff),
    /// Write the tables of a recorded run as CSV
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
    /// Write a commented scenario to start from
    Init(Init),
    /// Print completions for a shell
    Completions(Completions),
}

impl Command {
    /// Whether it speaks with others on an interface, of whom it has to take its leave.
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
    /// Threads to use at most [default: all cores, or fewer if the network is small]; the result does not depend on it
    #[arg(long)]
    pub threads: Option<usize>,
    /// Run one of the scenario's variants [default: the scenario as it stands]
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
    /// Another seed than the scenario's
    #[arg(long, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Results directory [default: results/NAME, or the next free NAME-2, NAME-3, ...]
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Replace the result at --out once the new one is whole; files of yours in it stay
    #[arg(long)]
    pub overwrite: bool,
    /// Measure, but record nothing
    #[arg(long, conflicts_with_all = ["out", "overwrite", "plot", "csv", "report"])]
    pub no_record: bool,
    /// Also draw the pictures, into the results directory
    #[arg(long)]
    pub plot: bool,
    /// Also write the tables as CSV, into the results directory
    #[arg(long)]
    pub csv: bool,
    /// Also capture the frames of links, such as 'sw0->h1' or 'leaf*->spine?', into the results directory
    #[arg(long, value_name = "LINK", conflicts_with = "no_record")]
    pub pcap: Vec<String>,
    /// Also write report.html, into the results directory
    #[arg(long)]
    pub report: bool,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
    /// Print nothing but errors (and the JSON)
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub limit: TimeLimit,
}

/// How long a command may take.
#[derive(Args, Clone, Copy, Debug)]
pub struct TimeLimit {
    /// End after so many seconds by the clock on the wall
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub time_limit: Option<f64>,
}

/// `check`
#[derive(Args, Debug)]
pub struct Check {
    #[command(flatten)]
    pub scenario: Scenario,
    /// Print the findings as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub limit: TimeLimit,
}

/// `routes`
#[derive(Args, Debug)]
pub struct Routes {
    #[command(flatten)]
    pub scenario: Scenario,
    /// Write the network or its tables to standard output: as one of the files of an InfiniBand subnet manager, or as
    /// filtering databases of bridges
    #[arg(long, value_name = "WHAT")]
    pub format: Option<Format>,
    /// Of several trees the one to write, from 0
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
    /// The scenario file (TOML) whose switches find each other
    #[arg(required_unless_present = "interface")]
    pub file: Option<PathBuf>,
    /// Override a value, such as network.k=4
    #[arg(long = "set", value_name = "PATH=VALUE", requires = "file")]
    pub set: Vec<String>,
    /// Be a real bridge on this interface instead, until interrupted; may be given several times; takes root
    #[arg(long, value_name = "IF", conflicts_with = "file")]
    pub interface: Vec<String>,
    /// Its identifier, such as 0200.0000.0001 [default: the address of its first interface]
    #[arg(long, value_name = "ID", requires = "interface", conflicts_with = "file", value_parser = octets::<6>)]
    pub system: Option<[u8; 6]>,
    /// The area that it and its neighbours are in
    #[arg(long, value_name = "AREA", requires = "interface", conflicts_with = "file", default_value = "49.0001", value_parser = octets::<3>)]
    pub area: [u8; 3],
    /// What each of its links costs: 2000 at 10 Gb/s
    #[arg(long, requires = "interface", conflicts_with = "file", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..=0xFF_FFFE))]
    pub metric: u32,
    /// The IPv4 address of an interface, in the order of the interfaces: routers there may be neighbours too
    #[arg(long, value_name = "ADDRESS", requires = "interface", conflicts_with = "file")]
    pub ipv4: Vec<Ipv4Addr>,
    /// End after so many seconds
    #[arg(long, value_name = "SECONDS", requires = "interface", conflicts_with = "file", value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    pub seconds: Option<u64>,
    /// Print as JSON: what the switches found, or the state of the bridge, a line whenever it changes
    #[arg(long)]
    pub json: bool,
}

/// So many octets in hexadecimal digits, with dots wherever one likes them.
fn octets<const COUNT: usize>(text: &str) -> Result<[u8; COUNT], String> {
    let digits: Vec<char> = text.chars().filter(|&it| it != '.').collect();
    let octet = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).ok();
    let pairs = digits.chunks(2).filter(|pair| pair.iter().all(char::is_ascii_hexdigit));
    let octets: Vec<u8> = pairs.filter_map(octet).collect();
    let wrong = || format!("{COUNT} octets are {} hexadecimal digits, with dots between them", 2 * COUNT);
    if digits.len() == 2 * COUNT { octets.try_into().map_err(|_| wrong()) } else { Err(wrong()) }
}

/// `dcbx`
#[derive(Args, Debug)]
pub struct Dcbx {
    /// The scenario file (TOML) whose [[dcb]] is exchanged
    #[arg(required_unless_present = "interface")]
    pub file: Option<PathBuf>,
    /// Override a value, such as dcb[0].pfc=[3,4]
    #[arg(long = "set", value_name = "PATH=VALUE", requires = "file")]
    pub set: Vec<String>,
    /// Be a real agent on this interface instead, until interrupted; takes root
    #[arg(long, value_name = "IF")]
    pub interface: Option<String>,
    /// With a file, speak as this node of it; without, willing and with nothing configured
    #[arg(long, value_name = "NODE", requires = "file", requires = "interface")]
    pub node: Option<String>,
    /// End after so many seconds
    #[arg(long, value_name = "SECONDS", requires = "interface", value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    pub seconds: Option<u64>,
    /// Print as JSON: the state of every port, or of the interface, a line whenever it changes
    #[arg(long)]
    pub json: bool,
}

/// Tables for other programs and for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// The network, as ibnetdiscover prints it: what ibsim reads
    Ibnetdiscover,
    /// The network, as opensm leaves it in opensm-subnet.lst: what ibdmchk -s reads
    Subnet,
    /// The tables, as opensm leaves them in opensm.fdbs: what ibdmchk -f reads
    Fdbs,
    /// The tables, as opensm leaves them in opensm-lfts.dump: what opensm -R file -U reads
    Lfts,
    /// The local identifiers, as opensm keeps them in guid2lid
    Guid2lid,
    /// The service level of every pair: what ibdmchk -c reads
    PathSl,
    /// The lane of every service level: what ibdmchk -d reads
    Sl2vl,
    /// What bridges of shortest path bridging forward by address, with the groups of services
    Spbm,
    /// What they forward by VLAN, with the groups of addresses
    Spbv,
}

/// `protocols`
#[derive(Args, Debug)]
pub struct Protocols {
    /// One of them, to see its parameters
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
    /// Any other key to compare values of, such as switches[0].buffers[0].xoff=50KB,100KB
    #[arg(long, value_name = "PATH=A,B,...")]
    pub vary: Option<String>,
    /// Directory for the results and the picture [default: results/NAME-compared, or the next free one]
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Replace older results there; files of yours in them stay
    #[arg(long)]
    pub overwrite: bool,
    /// Threads to use at most [default: all cores, or fewer if the network is small]
    #[arg(long)]
    pub threads: Option<usize>,
    /// Also write report.html, into that directory
    #[arg(long)]
    pub report: bool,
    /// Print the table as JSON
    #[arg(long)]
    pub json: bool,
}

/// `sweep`
#[derive(Args, Debug)]
pub struct Sweep {
    #[command(flatten)]
    pub scenario: Scenario,
    /// An axis of the grid; may be given several times; replaces the scenario's own [sweep]
    #[arg(long, value_name = "PATH=A,B,...")]
    pub axis: Vec<String>,
    /// Seeds per cell [default: the scenario's replications]
    #[arg(long)]
    pub replications: Option<u32>,
    /// Directory of the sweep; an unfinished one goes on [default: results/NAME-sweep]
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Runs at a time [default: all cores]
    #[arg(long)]
    pub threads: Option<usize>,
    /// Make only every N-th run, from the I-th on, and no table: one task of a batch system
    #[arg(long, value_name = "I/N", conflicts_with_all = ["report", "json"])]
    pub part: Option<study::Part>,
    /// Also write report.html, into that directory
    #[arg(long)]
    pub report: bool,
    /// Print the table as JSON
    #[arg(long)]
    pub json: bool,
}

/// `reproduce`
#[derive(Args, Debug)]
pub struct Reproduce {
    /// PAPER or PAPER/FIGURE; without it, the list
    pub what: Option<String>,
    /// The folder with the papers
    #[arg(long, default_value = "papers")]
    pub papers: PathBuf,
    /// Directory for results and pictures
    #[arg(long, default_value = "results/papers")]
    pub out: PathBuf,
    /// Seeds per figure [default: the figure's own]
    #[arg(long)]
    pub replications: Option<u32>,
    /// Whether to judge again with the other values of what a paper leaves open
    #[arg(long, value_name = "WHICH", default_value = "all")]
    pub choices: Choices,
    /// A short form: one seed, no choices, and as long as the figure's run.quick
    #[arg(long, conflicts_with_all = ["replications", "choices"])]
    pub quick: bool,
    /// Override a value of every figure
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Runs at a time [default: all cores]
    #[arg(long)]
    pub threads: Option<usize>,
    /// Make only every N-th run of each figure, from the I-th on, and no verdicts: one task of a batch system
    #[arg(long, value_name = "I/N", conflicts_with_all = ["report", "json"], requires = "what")]
    pub part: Option<study::Part>,
    /// Also write report.html, into that directory
    #[arg(long)]
    pub report: bool,
    /// Print the verdicts as JSON
    #[arg(long)]
    pub json: bool,
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
    /// An axis of a stability map, given twice: a key of [fluid] and its range, such as delay=50us..300us
    #[arg(long, value_name = "KEY=FROM..TO")]
    pub map: Vec<String>,
    /// Points along each axis of the map
    #[arg(long, default_value_t = 1000, value_name = "COUNT")]
    pub points: usize,
    /// Also integrate the equations and draw queue and rate over time
    #[arg(long)]
    pub trajectory: bool,
    /// Also run the scenario's packets, draw them over the fluid and measure how often they swing
    #[arg(long)]
    pub packets: bool,
    /// Directory for the pictures [default: results/NAME-stability]
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Threads to use [default: all cores]; the result does not depend on it
    #[arg(long)]
    pub threads: Option<usize>,
    /// Also write report.html, into that directory
    #[arg(long)]
    pub report: bool,
    /// Print everything as JSON
    #[arg(long)]
    pub json: bool,
}

/// `pcap`
#[derive(Args, Debug)]
pub struct Pcap {
    /// A scenario file, or a results directory, whose run is made again and must come out the same
    pub what: PathBuf,
    /// Directions of links, such as 'sw0->h1' or 'leaf*->spine?'
    #[arg(required = true, value_name = "LINK")]
    pub links: Vec<String>,
    /// The file, - for standard output [default: NAME.pcapng]
    #[arg(long, short)]
    pub out: Option<PathBuf>,
    /// Replace an older file there
    #[arg(long)]
    pub overwrite: bool,
    /// Read the files that a results directory without copies of them names, wherever they are
    #[arg(long)]
    pub inputs: bool,
    /// Override a value of the scenario
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Another seed than the scenario's
    #[arg(long, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Threads to use at most [default: all cores, or fewer if the network is small]; the result does not depend on it
    #[arg(long)]
    pub threads: Option<usize>,
    /// Print nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub limit: TimeLimit,
}

/// `report`
#[derive(Args, Debug)]
pub struct Report {
    /// A directory that run, compare, sweep, reproduce or stability wrote
    pub results: PathBuf,
    /// The file to write, - for standard output [default: RESULTS/report.html]
    #[arg(long, short)]
    pub out: Option<PathBuf>,
    /// Replace a file there that is not a report by tailback
    #[arg(long)]
    pub overwrite: bool,
    /// What the data of the report may take; beyond it rows are joined over time, sums and extremes kept
    #[arg(long, value_name = "SIZE", default_value = "15MB")]
    pub size: units::Bytes,
}

/// `plot`
#[derive(Args, Debug)]
pub struct Plot {
    /// A results directory
    pub results: PathBuf,
    /// Where to put the pictures [default: RESULTS/plots]
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Replace files there that are not pictures by tailback
    #[arg(long)]
    pub overwrite: bool,
}

/// `diff`
#[derive(Args, Debug)]
pub struct Diff {
    /// One results directory
    pub a: PathBuf,
    /// The other
    pub b: PathBuf,
}

/// `csv`
#[derive(Args, Debug)]
pub struct Csv {
    /// A results directory
    pub results: PathBuf,
    /// Where to put the files [default: RESULTS/csv]
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Replace files there that are not tables by tailback
    #[arg(long)]
    pub overwrite: bool,
}

/// `init`
#[derive(Args, Debug)]
pub struct Init {
    /// The file to write
    #[arg(default_value = "scenario.toml")]
    pub file: PathBuf,
}

/// `completions`
#[derive(Args, Debug)]
pub struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
}
