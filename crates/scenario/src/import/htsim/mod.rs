//! Files of htsim: connection matrices (`.cm`) and topologies (`.topo`).
//!
//! A connection matrix lists flows, and triggers that start some of them when others end. A topology has two or three
//! tiers. Neither names a congestion control: htsim has a program for each, whose defaults `control` knows.

mod control;
mod matrix;
mod options;
mod topology;

use super::write::{Message, csv, file_name, quoted};
use super::{Imported, NamedText, Work};
use crate::problem::Errors;
pub use control::controls;
use control::{Program, Run};
use options::Settings;
use std::fmt::Write as _;
use topology::Topology;
use units::Span;

/// How to convert.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Name of the scenario.
    pub name: &'a str,
    /// File of the flows, as the scenario names it.
    pub flows_file: &'a str,
    /// Whether starts are in microseconds, as in older files; in picoseconds otherwise.
    pub micros: bool,
    /// The program of htsim whose defaults the scenario gets, one of [`controls`]; none without it.
    pub control: Option<&'a str>,
    /// Options of that program, as on its command line; none without a program.
    pub options: Option<&'a str>,
}

/// Payload and headers of htsim's data packets.
const FRAME: &str = "frame = \"4000B\"\nheaders = \"64B\"\nacknowledge = { size = \"64B\" }\n";
/// Switches without the options of a program.
const LOSSLESS: &str = "flow_control = \"pfc\"\nbuffer = \"shared\"\nshared_size = \"64MB\"\nalpha = \"1/8\"\nbuffers = { \
                        capacity = \"0B\" }\n";
/// A flow lasts at least so much longer than its bytes take on its link, before the run ends.
const PATIENCE: u64 = 20;

/// Converts the files.
///
/// # Errors
/// Returns all mistakes in the files, with file and line.
pub fn import(
    matrix: NamedText<'_>,
    topology: Option<NamedText<'_>>,
    options: &Options<'_>,
) -> Result<Imported, Errors> {
    let mut work = Work::default();
    let source = work.add(matrix);
    let flows = matrix::read(&mut work, source, matrix.text, options.micros);
    let nodes = flows.as_ref().map_or(0, |flows| flows.nodes);
    let settings = match (options.control.and_then(Program::named), options.options) {
        (Some(program), Some(text)) => {
            let source = work.add(NamedText { name: "--options", text });
            options::read(&mut work, source, text, program, nodes).unwrap_or_default()
        }
        _ => Settings::default(),
    };
    let drawn = drawn(&mut work, topology, nodes, &settings);
    work.checked()?;
    let (Some(flows), Some(drawn)) = (flows, drawn) else {
        // What is missing has been reported.
        return Err(Errors::new(work.sources, work.problems));
    };
    flows.check(&mut work, drawn.nodes);
    work.checked()?;
    let unit = if options.micros { "microseconds" } else { "picoseconds" };
    work.note(
        "start",
        format!("read as {unit}; htsim reads picoseconds, its older versions microseconds (--start-unit)"),
    );
    let names: Vec<String> =
        [Some(matrix.name), topology.map(|text| text.name)].into_iter().flatten().map(file_name).collect();
    let messages = flows.messages(&mut work);
    let latest = messages.iter().map(|message| message.start).max().unwrap_or_default();
    let traffic = Traffic { from: "files of htsim", files: &names, messages: &messages, latest, waiting: "" };
    let how = How { name: options.name, flows_file: options.flows_file, control: options.control };
    Ok(composed(work, &traffic, &drawn, &how, &settings))
}

/// Flows to write.
pub(super) struct Traffic<'a> {
    /// What they are from.
    pub(super) from: &'a str,
    /// Names of the files.
    pub(super) files: &'a [String],
    pub(super) messages: &'a [Message],
    /// The latest start of all flows if the network took no time.
    pub(super) latest: Span,
    /// Keys of the workload about flows that wait.
    pub(super) waiting: &'a str,
}

/// How to write them; see [`Options`].
#[derive(Clone, Copy, Debug)]
pub(super) struct How<'a> {
    pub(super) name: &'a str,
    pub(super) flows_file: &'a str,
    pub(super) control: Option<&'a str>,
}

/// The network of a file or, without one, the fat-tree for so many hosts. What is wrong is reported.
pub(super) fn network(work: &mut Work, topology: Option<NamedText<'_>>, nodes: u64) -> Option<Topology> {
    drawn(work, topology, nodes, &Settings::default())
}

fn drawn(work: &mut Work, topology: Option<NamedText<'_>>, nodes: u64, settings: &Settings) -> Option<Topology> {
    match topology {
        Some(text) => {
            let Settings { rate, latency, switch_latency, tiers, .. } = settings;
            if rate.is_some() || latency.is_some() || switch_latency.is_some() || tiers.is_some() {
                work.note(
                    "--options",
                    "-linkspeed, -hop_latency, -switch_latency and -tiers have no effect beside a topology",
                );
            }
            let source = work.add(text);
            topology::read(work, source, text.text)
        }
        None => Topology::usual(work, nodes, settings),
    }
}

/// The scenario of a network and its flows.
pub(super) fn compose(work: Work, traffic: &Traffic<'_>, topology: &Topology, how: &How<'_>) -> Imported {
    composed(work, traffic, topology, how, &Settings::default())
}

fn composed(
    mut work: Work,
    traffic: &Traffic<'_>,
    topology: &Topology,
    how: &How<'_>,
    settings: &Settings,
) -> Imported {
    let (scenario, flows) = write(&mut work, traffic, topology, how, settings);
    let counts = [topology.nodes as usize, topology.switches() as usize, traffic.messages.len()];
    Imported { scenario, flows, notes: work.notes, counts }
}

fn write(
    work: &mut Work,
    traffic: &Traffic<'_>,
    topology: &Topology,
    how: &How<'_>,
    settings: &Settings,
) -> (String, String) {
    let drawing = topology.drawing();
    let program = how.control.and_then(Program::named).map(|program| Run { program, settings });
    let mut text = format!("# Imported from {}: {}.\n", traffic.from, traffic.files.join(", "));
    if let Some(program) = program {
        let _ = writeln!(text, "# Control, packets and queues are the defaults of {}.", program.command());
    }
    let _ = write!(text, "schema_version = 1\nname = {}\n", quoted(how.name));
    let multipath = program.map_or("\"spray\"", Run::multipath);
    let _ = write!(
        text,
        "\n[network]\noverhead = \"0B\"       # no preamble and gap\nsmallest_frame = \"1B\"\nmultipath = {multipath}\n"
    );
    text.push_str(&drawing.network());
    text.push_str(program.map_or("", Run::classes));
    for (tier, nodes) in topology.tiers() {
        let _ = write!(text, "\n[[switches]]\nmatch = {}\n", drawing.names(&nodes));
        if tier.switch_latency > Span::ZERO {
            let _ = writeln!(text, "pipeline = \"{}\"", tier.switch_latency);
        }
        text.push_str(&program.map_or_else(|| LOSSLESS.to_owned(), |program| program.switch(topology)));
    }
    match program {
        Some(program) => text.push_str(&program.protocol(topology)),
        None => text.push_str("\n[recovery]\nname = \"selective-repeat\"\n"),
    }
    let file = quoted(how.flows_file);
    let frame = program.map_or_else(|| FRAME.to_owned(), Run::workload);
    let _ =
        write!(text, "\n[[workloads]]\nname = \"flows\"\nkind = \"flows\"\nfile = {file}\n{frame}{}", traffic.waiting);
    if let Some(program) = program {
        let meaning = format!("the defaults of {}; {}", program.command(), program.differences());
        work.note("congestion control", meaning);
    } else {
        work.note(
            "congestion control",
            "is that of a program of htsim: none here; give --control, or set [protocol], and switches to match",
        );
        work.note("packet size", "is an option of htsim's programs: 4000 B and 64 B of headers here");
        work.note(
            "paths",
            "htsim sprays packets over all paths with most of its protocols; here `multipath = \"spray\"`",
        );
    }
    let sized = |message: &Message| {
        let bytes = program.map_or(message.bytes, |program| program.bytes(message.bytes));
        Message { bytes, ..message.clone() }
    };
    let messages: Vec<Message> = traffic.messages.iter().map(sized).collect();
    let bytes = messages.iter().fold(0_u64, |sum, message| sum.saturating_add(message.bytes));
    // The file has no end: all bytes through one link, and some time.
    let rate = topology.host_rate().as_bits_per_sec().max(1);
    let alone = u128::from(bytes) * 8 * 1_000_000_000_000 / u128::from(rate);
    let longest = Span::from_picos(u64::try_from(alone).unwrap_or(u64::MAX / 64).min(u64::MAX / 64));
    let usual = traffic.latest + longest.max(Span::from_millis(1)) * PATIENCE;
    let duration = settings.end.unwrap_or(usual);
    let micros = duration.as_picos().div_ceil(1_000_000);
    let _ = writeln!(text, "\n[run]\nduration = \"{}\"  # htsim's option -end", Span::from_micros(micros));
    (text, csv(&messages))
}

#[cfg(test)]
mod tests;
