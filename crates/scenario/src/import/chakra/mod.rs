//! Execution traces of MLCommons Chakra: what each rank of a training job computed and sent, one file per rank.
//!
//! Nodes wait for others of their rank. Computations become delays, sends and receives messages. A collective becomes the
//! messages of its algorithm, between the ranks of its process group; the n-th of a group is the same on all of its
//! ranks. A trace names no network and no congestion control; those are given as for htsim.

mod collectives;
mod trace;

use super::goal::UNTIL_SENT;
use super::htsim::{self, How, Traffic};
use super::operations::{Kind, Operation, Operations};
use super::words::span;
use super::write::{Message, file_name};
use super::{Imported, NamedText, Work};
use crate::problem::Errors;
use collectives::Collectives;
use fabric::workload::collective::Algorithm;
use std::collections::BTreeMap;
use trace::{COLLECTIVE, COMPUTE, METADATA, Node, Placed, RECEIVE, SEND};
use units::Span;

pub use trace::NamedBytes;

/// How to convert.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Name of the scenario.
    pub name: &'a str,
    /// File of the flows, as the scenario names it.
    pub flows_file: &'a str,
    /// Algorithm of all-reduces, one of [`algorithms`].
    pub all_reduce: &'a str,
    /// The program of htsim whose defaults the scenario gets, one of [`htsim::controls`]; none without it.
    pub control: Option<&'a str>,
}

/// Names of algorithms of all-reduces.
#[must_use]
pub fn algorithms() -> Vec<&'static str> {
    use Algorithm::{DoubleBinaryTree, HalvingDoubling, Ring, Tree};
    [Ring, Tree, DoubleBinaryTree, HalvingDoubling].map(Algorithm::name).to_vec()
}

/// The largest message: 1 PB.
const LARGEST: u64 = 1_000_000_000_000_000;

/// Converts traces: of each rank one, in the order of the ranks. `groups` is a file of process groups, `topology` one of
/// htsim.
///
/// # Errors
/// Returns all mistakes in the files; a line is the number of a message in its file.
pub fn import(
    traces: &[NamedBytes<'_>],
    groups: Option<NamedText<'_>>,
    topology: Option<NamedText<'_>>,
    options: &Options<'_>,
) -> Result<Imported, Errors> {
    let mut work = Work::default();
    let read: Vec<Option<Vec<Placed>>> = traces.iter().map(|&trace| trace::read(&mut work, trace)).collect();
    let ranks = traces.len() as u32;
    let groups = groups.and_then(|file| trace::groups(&mut work, file, ranks));
    work.checked()?;
    let read: Vec<Vec<Placed>> = read.into_iter().flatten().collect();
    let drawn = htsim::network(&mut work, topology, u64::from(ranks));
    if let (Some(drawn), Some(placed)) = (&drawn, read.first().and_then(|nodes| nodes.first()))
        && u64::from(ranks) > drawn.hosts()
    {
        let message = format!("{ranks} ranks, but the topology has {} hosts", drawn.hosts());
        work.refuse(placed.place, message, "use a larger topology");
    }
    work.checked()?;
    let made = messages(&mut work, &read, groups.unwrap_or_default(), options);
    work.checked()?;
    let (Some((messages, latest)), Some(drawn)) = (made, drawn) else {
        // What is missing has been reported.
        return Err(Errors::new(work.sources, work.problems));
    };
    let mut names = vec![file_name(traces.first().map_or("", |trace| trace.name))];
    if traces.len() > 1 {
        names.push(format!("{} more", traces.len() - 1));
    }
    names.extend(topology.map(|text| file_name(text.name)));
    let from = "execution traces of MLCommons Chakra";
    let traffic = Traffic { from, files: &names, messages: &messages, latest, waiting: UNTIL_SENT };
    let how = How { name: options.name, flows_file: options.flows_file, control: options.control };
    Ok(htsim::compose(work, &traffic, &drawn, &how))
}

/// What has no counterpart, counted.
#[derive(Debug, Default)]
struct Counts {
    /// Computations without a duration, but with a number of operations.
    unmeasured: u64,
    /// Nodes that access memory or storage.
    accesses: u64,
    computations: u64,
}

/// The messages of all ranks, and the latest start.
fn messages(
    work: &mut Work,
    traces: &[Vec<Placed>],
    groups: Vec<(String, Vec<u32>)>,
    options: &Options<'_>,
) -> Option<(Vec<Message>, Span)> {
    let mut operations = Operations::default();
    let mut collectives = Collectives::new(groups, options.all_reduce);
    let mut counts = Counts::default();
    // By rank: the operation that begins each node, and the one that ends it.
    let mut ends: Vec<BTreeMap<u64, (u32, u32)>> = Vec::new();
    for (rank, nodes) in (0..).zip(traces) {
        let mut own = BTreeMap::new();
        for placed in nodes {
            if work.is_hopeless() {
                return None;
            }
            let Some(both) = node(work, &mut operations, &mut collectives, &mut counts, rank, placed, traces.len())
            else {
                continue;
            };
            if own.insert(placed.node.id, both).is_some() {
                let message = format!("two nodes have the number {}", placed.node.id);
                work.refuse(placed.place, message, "give each node of a trace a number of its own");
            }
        }
        ends.push(own);
    }
    if !work.problems.is_empty() {
        return None;
    }
    for (nodes, own) in traces.iter().zip(&ends) {
        for Placed { node, place } in nodes {
            for other in node.control.iter().chain(&node.data) {
                match (own.get(&node.id), own.get(other)) {
                    (Some((begin, _)), Some((_, end))) => operations.require(*begin, *end, false),
                    _ if work.is_hopeless() => return None,
                    _ => {
                        let message = format!("node {} waits for node {other}, which the trace does not have", node.id);
                        work.refuse(*place, message, "write the trace again, or remove the dependency");
                    }
                }
            }
        }
    }
    collectives.expand(work, &mut operations)?;
    counts.note(work);
    let place = traces.first().and_then(|nodes| nodes.first()).map(|placed| placed.place)?;
    let made = operations.messages(work)?;
    if made.0.is_empty() {
        work.refuse(place, "no rank sends a message to another", "give traces with sends or collectives");
        return None;
    }
    Some(made)
}

/// The operations that begin and end a node.
fn node(
    work: &mut Work,
    operations: &mut Operations,
    collectives: &mut Collectives,
    counts: &mut Counts,
    rank: u32,
    Placed { node, place }: &Placed,
    ranks: usize,
) -> Option<(u32, u32)> {
    let name = format!("r{rank}.n{}", node.id);
    let mut add = |kind: Kind| operations.add(Operation { rank, kind, place: *place, name: name.clone() });
    if node.kind_name().is_none() {
        let message = format!("node {} has the unknown type {}", node.id, node.kind);
        work.refuse(*place, message, "the types are those of et_def.proto, from 1 to 10");
        return None;
    }
    let peer = |work: &mut Work, key: &str| {
        let peer = node.number(key).filter(|peer| *peer < ranks as u64);
        if peer.is_none() {
            let message = format!("node {} has no {key} among the {ranks} ranks", node.id);
            work.refuse(*place, message, "give a trace for every rank");
        }
        peer.map(|peer| peer as u32)
    };
    match node.kind {
        SEND => {
            let (to, bytes) = (peer(work, "comm_dst"), size(work, node, place)?);
            let both = add(Kind::Send { to: to?, bytes, tag: node.number("comm_tag").unwrap_or(0) });
            Some((both, both))
        }
        RECEIVE => {
            let (from, bytes) = (peer(work, "comm_src"), size(work, node, place)?);
            let tag = Some(node.number("comm_tag").unwrap_or(0));
            let both = add(Kind::Receive { from: Some(from?), bytes, tag });
            Some((both, both))
        }
        COLLECTIVE => {
            let bytes = size(work, node, place)?;
            let (begin, end) = (add(Kind::Compute(Span::ZERO)), add(Kind::Compute(Span::ZERO)));
            operations.require(end, begin, false);
            collectives.meet(work, rank, node, *place, bytes, (begin, end))?;
            Some((begin, end))
        }
        _ => {
            let Some(time) = span(node.duration_micros as f64, 1e6) else {
                let message = format!("node {} takes {} us, which is too long", node.id, node.duration_micros);
                work.refuse(*place, message, "give durations of fewer than 10^12 us");
                return None;
            };
            counts.computations += u64::from(node.kind == COMPUTE);
            counts.unmeasured +=
                u64::from(node.kind == COMPUTE && time == Span::ZERO && node.number("num_ops").is_some());
            counts.accesses += u64::from(node.kind != COMPUTE && node.kind != METADATA);
            let both = add(Kind::Compute(time));
            Some((both, both))
        }
    }
}

/// The attribute `comm_size` of a node.
fn size(work: &mut Work, node: &Node, place: &crate::source::Place) -> Option<u64> {
    let size = node.number("comm_size").filter(|bytes| *bytes <= LARGEST);
    if size.is_none() {
        let message = format!("node {} has no comm_size", node.id);
        work.refuse(*place, message, format!("give its bytes, at most {LARGEST}"));
    }
    size
}

impl Counts {
    fn note(&self, work: &mut Work) {
        if self.unmeasured > 0 {
            let meaning = format!(
                "{} of {} computations have no duration_micros and take no time: a number of operations has no counterpart",
                self.unmeasured, self.computations
            );
            work.note("num_ops", meaning);
        }
        if self.accesses > 0 {
            let meaning =
                format!("{} nodes of memory or storage take their duration_micros, as computations do", self.accesses);
            work.note("MEM_LOAD_NODE, MEM_STORE_NODE, STORAGE_NODE, BATCH_NODE, CHECKPOINT_NODE", meaning);
        }
        if self.computations > 1 {
            work.note(
                "COMP_NODE",
                "computations of a rank run side by side unless one waits for the other: processors and streams have no \
                 counterpart",
            );
        }
    }
}

#[cfg(test)]
mod tests;
