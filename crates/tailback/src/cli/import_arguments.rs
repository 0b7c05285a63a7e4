//! The command line of `import` and `export`.

use super::arguments::{Scenario, TimeLimit};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `import`
#[derive(Args, Debug)]
pub struct Import {
    /// The simulator or system
    #[command(subcommand)]
    pub from: ImportFrom,
}

/// The origin of the files that are converted.
#[derive(Subcommand, Debug)]
pub enum ImportFrom {
    /// The public HPCC simulator (ns-3) and its forks
    Hpcc(ImportHpcc),
    /// Connection matrices and topologies of htsim
    Htsim(ImportHtsim),
    /// A GOAL schedule, as of LogGOPSim and ATLAHS
    Goal(ImportGoal),
    /// Execution traces of MLCommons Chakra
    Chakra(ImportChakra),
    /// Configurations of SONiC switches
    Sonic(ImportSonic),
    /// An InfiniBand fabric: the output of ibnetdiscover, and forwarding tables, options and partitions of opensm
    Infiniband(ImportInfiniband),
    /// A graph in the language of Graphviz
    Dot(ImportDrawing),
    /// A graph as node-link JSON, as networkx writes it
    Json(ImportDrawing),
    /// A topology of containerlab (YAML)
    Containerlab(ImportDrawing),
}

/// Where to write a converted scenario.
#[derive(Args, Debug)]
pub struct ImportTarget {
    /// The scenario to write (TOML); a list of its flows is beside it, in NAME.flows.csv
    #[arg(short, long = "out", alias = "output", value_name = "FILE")]
    pub output: PathBuf,
    /// Replace existing files
    #[arg(long)]
    pub overwrite: bool,
    /// Run the scenario and record the results, as `tailback run` does
    #[arg(long)]
    pub run: bool,
    #[command(flatten)]
    pub limit: TimeLimit,
}

impl ImportFrom {
    /// Where the scenario is written.
    pub fn target(&self) -> &ImportTarget {
        match self {
            ImportFrom::Hpcc(it) => &it.target,
            ImportFrom::Htsim(it) => &it.target,
            ImportFrom::Goal(it) => &it.target,
            ImportFrom::Chakra(it) => &it.target,
            ImportFrom::Sonic(it) => &it.target,
            ImportFrom::Infiniband(it) => &it.target,
            ImportFrom::Dot(it) | ImportFrom::Json(it) | ImportFrom::Containerlab(it) => &it.target,
        }
    }
}

/// `import hpcc`
#[derive(Args, Debug)]
pub struct ImportHpcc {
    /// The topology: nodes, switches and links
    pub topology: PathBuf,
    /// The flows: source, destination, priority group, port, bytes and start of each
    pub flows: PathBuf,
    /// The configuration: congestion control, thresholds and buffers [default: no congestion control]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Congestion control instead of CC_MODE: the fork for PowerTCP selects it by an option of its program
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(scenario::import::hpcc::controls()))]
    pub control: Option<String>,
    #[command(flatten)]
    pub target: ImportTarget,
}

/// `import htsim`
#[derive(Args, Debug)]
pub struct ImportHtsim {
    /// The connection matrix (.cm)
    pub matrix: PathBuf,
    /// The topology (.topo) [default: the fat-tree with as many hosts]
    #[arg(long, value_name = "FILE")]
    pub topo: Option<PathBuf>,
    /// Unit of starts in the connection matrix
    #[arg(long, value_name = "UNIT", default_value = "ps", value_parser = ["ps", "us"])]
    pub start_unit: String,
    /// Congestion control with the packets and queues that htsim's program of that name has by default
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(scenario::import::htsim::controls()))]
    pub control: Option<String>,
    /// Options of that program, as on its command line, such as "-cwnd 30 -q 20"
    #[arg(long, value_name = "OPTIONS", requires = "control", allow_hyphen_values = true)]
    pub options: Option<String>,
    #[command(flatten)]
    pub target: ImportTarget,
}

/// The network of a schedule, which names none.
#[derive(Args, Debug)]
pub struct ImportNetwork {
    /// The topology, a file of htsim (.topo) [default: the fat-tree with as many hosts]
    #[arg(long, value_name = "FILE")]
    pub topo: Option<PathBuf>,
    /// Congestion control with the packets and queues that htsim's program of that name has by default
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(scenario::import::htsim::controls()))]
    pub control: Option<String>,
}

/// `import goal`
#[derive(Args, Debug)]
pub struct ImportGoal {
    /// The schedule, as text
    pub schedule: PathBuf,
    #[command(flatten)]
    pub network: ImportNetwork,
    #[command(flatten)]
    pub target: ImportTarget,
}

/// `import chakra`
#[derive(Args, Debug)]
pub struct ImportChakra {
    /// The traces, one for each rank: NAME.0.et, NAME.1.et, ...
    #[arg(required = true)]
    pub traces: Vec<PathBuf>,
    /// The ranks of process groups, as JSON: {"name": [0, 1], ...} [default: the ranks whose traces name a group]
    #[arg(long, value_name = "FILE")]
    pub groups: Option<PathBuf>,
    /// Algorithm of all-reduces
    #[arg(long, value_name = "NAME", default_value = "ring", value_parser = clap::builder::PossibleValuesParser::new(scenario::import::chakra::algorithms()))]
    pub all_reduce: String,
    #[command(flatten)]
    pub network: ImportNetwork,
    #[command(flatten)]
    pub target: ImportTarget,
}

/// `import sonic`
#[derive(Args, Debug)]
pub struct ImportSonic {
    /// A config_db.json, or a directory with a file or a folder for each switch
    pub path: PathBuf,
    #[command(flatten)]
    pub target: ImportTarget,
}

/// `import infiniband`
#[derive(Args, Debug)]
pub struct ImportInfiniband {
    /// The output of ibnetdiscover
    pub topology: PathBuf,
    /// Forwarding tables: opensm-lfts.dump, or the output of dump_lfts [default: shortest paths]
    #[arg(long, value_name = "FILE")]
    pub lfts: Option<PathBuf>,
    /// Options of opensm, of which qos_* are read [default: one lane]
    #[arg(long, value_name = "FILE")]
    pub qos: Option<PathBuf>,
    /// Partitions of opensm, each of which gets traffic [default: an incast]
    #[arg(long, value_name = "FILE")]
    pub partitions: Option<PathBuf>,
    #[command(flatten)]
    pub target: ImportTarget,
}

/// `import dot`, `import json` and `import containerlab`
#[derive(Args, Debug)]
pub struct ImportDrawing {
    /// The graph
    pub file: PathBuf,
    /// Rate of links that state none, such as 100Gb/s
    #[arg(long, value_name = "RATE")]
    pub rate: Option<units::Rate>,
    /// Latency of links that state neither a delay nor a length [default: that of 5 m to hosts, of 40 m between switches]
    #[arg(long, value_name = "TIME")]
    pub latency: Option<units::Span>,
    #[command(flatten)]
    pub target: ImportTarget,
}

/// `export`
#[derive(Args, Debug)]
pub struct Export {
    /// The system
    #[command(subcommand)]
    pub to: ExportTo,
}

/// The system that reads what is written.
#[derive(Subcommand, Debug)]
pub enum ExportTo {
    /// Configurations of SONiC switches: ports, cables, buffers, WRED, scheduling and PFC
    Sonic(ExportSonic),
}

/// `export sonic`
#[derive(Args, Debug)]
pub struct ExportSonic {
    #[command(flatten)]
    pub scenario: Scenario,
    /// The directory to write to: NAME/config_db.json for each switch
    #[arg(short, long = "out", alias = "output", value_name = "DIR")]
    pub output: PathBuf,
    /// Replace existing files
    #[arg(long)]
    pub overwrite: bool,
    #[command(flatten)]
    pub limit: TimeLimit,
}
