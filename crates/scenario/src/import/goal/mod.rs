//! Schedules in GOAL, the language of LogGOPSim and ATLAHS, as text.
//!
//! A schedule has operations for each rank: `calc`, `send` and `recv`, with labels, and lines by which one `requires`
//! another. A schedule names no network and no congestion control; those are given as for htsim, on which ATLAHS runs
//! schedules, too. The grammar is that of `txt2bin` of LogGOPSim.

mod text;

use super::htsim::{self, How, Traffic};
use super::operations::{Kind, Operation, Operations};
use super::words::span;
use super::write::file_name;
use super::{Imported, NamedText, Work};
use crate::problem::Errors;
use crate::source::Place;
use std::collections::{BTreeMap, BTreeSet};
use text::{Token, Tokens, What};
use units::Span;

/// How to convert.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Name of the scenario.
    pub name: &'a str,
    /// File of the flows, as the scenario names it.
    pub flows_file: &'a str,
    /// The program of htsim whose defaults the scenario gets, one of [`htsim::controls`]; none without it.
    pub control: Option<&'a str>,
}

/// The most ranks.
const MOST_RANKS: u64 = 1 << 18;
/// The largest message: 1 PB.
const LARGEST: u64 = 1_000_000_000_000_000;
/// A send is complete when its last frame has left the host, as in LogGOPSim.
pub(super) const UNTIL_SENT: &str = "awaited_until = \"sent\"  # a send is complete when its buffer is free\n";

/// Converts a schedule. `topology` is a file of htsim.
///
/// # Errors
/// Returns all mistakes in the files, with file and line.
pub fn import(
    schedule: NamedText<'_>,
    topology: Option<NamedText<'_>>,
    options: &Options<'_>,
) -> Result<Imported, Errors> {
    let mut work = Work::default();
    let source = work.add(schedule);
    let read = Reader::read(&mut work, source, schedule.text);
    work.checked()?;
    let drawn = read.as_ref().and_then(|read| htsim::network(&mut work, topology, read.ranks.0));
    if let (Some(read), Some(drawn)) = (&read, &drawn)
        && read.ranks.0 > drawn.hosts()
    {
        let message = format!("{} ranks, but the topology has {} hosts", read.ranks.0, drawn.hosts());
        work.refuse(read.ranks.1, message, "use a larger topology");
    }
    work.checked()?;
    let made = read.and_then(|read| read.finish(&mut work));
    work.checked()?;
    let (Some((messages, latest)), Some(drawn)) = (made, drawn) else {
        // What is missing has been reported.
        return Err(Errors::new(work.sources, work.problems));
    };
    let names: Vec<String> =
        [Some(schedule.name), topology.map(|text| text.name)].into_iter().flatten().map(file_name).collect();
    let traffic = Traffic { from: "a GOAL schedule", files: &names, messages: &messages, latest, waiting: UNTIL_SENT };
    let how = How { name: options.name, flows_file: options.flows_file, control: options.control };
    Ok(htsim::compose(work, &traffic, &drawn, &how))
}

/// What has been read of a schedule.
struct Reader<'a> {
    source: u32,
    tokens: Tokens<'a>,
    /// Number of ranks, and where it is stated.
    ranks: (u64, Place),
    operations: Operations,
    /// Ranks with operations.
    met: BTreeSet<u32>,
    /// Operations that name a CPU or a NIC other than the first.
    placed: u64,
}

/// A line by which an operation waits for another.
struct Requirement<'a> {
    operation: Token<'a>,
    other: Token<'a>,
    started: bool,
}

impl<'a> Reader<'a> {
    fn read(work: &mut Work, source: u32, text: &'a str) -> Option<Reader<'a>> {
        let end = text.trim_end().len() as u32;
        let end = Place { source, start: end, end };
        let mut reader = Reader {
            source,
            tokens: Tokens::new(source, text),
            ranks: (0, end),
            operations: Operations::default(),
            met: BTreeSet::new(),
            placed: 0,
        };
        while let Some(token) = reader.tokens.skip_lines() {
            match token.what {
                What::Word("num_ranks") => {
                    let number = reader.number(work, "num_ranks needs a number", MOST_RANKS)?;
                    reader.ranks = (number, token.place);
                }
                What::Word("rank") => reader.rank(work)?,
                _ => {
                    let help = "outside of a rank, write num_ranks N or rank N {";
                    work.refuse(token.place, "not a valid line of a GOAL schedule", help);
                    return None;
                }
            }
        }
        if reader.ranks.0 == 0 {
            work.refuse(end, "the schedule does not state the number of ranks", "begin with num_ranks N");
        }
        if reader.operations.len() == 0 {
            work.refuse(end, "the schedule has no operations", "add rank 0 { ... } with sends and receives");
        }
        Some(reader)
    }

    /// A number below a limit.
    fn number(&mut self, work: &mut Work, message: &str, below: u64) -> Option<u64> {
        let token = self.tokens.token();
        match token.what {
            What::Number(Some(number)) if number < below => Some(number),
            _ => {
                work.refuse(token.place, message, format!("write a whole number below {below}"));
                None
            }
        }
    }

    /// A rank of a message: one of the schedule.
    fn peer(&mut self, work: &mut Work) -> Option<u32> {
        let ranks = self.ranks.0;
        self.number(work, "not a rank of the schedule", ranks).map(|rank| rank as u32)
    }

    /// One of some words.
    fn expect(&mut self, work: &mut Work, what: What<'static>, help: &str) -> Option<()> {
        let token = self.tokens.token();
        if token.what == what {
            return Some(());
        }
        work.refuse(token.place, "the line does not continue as it should", help);
        None
    }

    /// The operations of a rank.
    fn rank(&mut self, work: &mut Work) -> Option<()> {
        if self.ranks.0 == 0 {
            let place = self.tokens.here();
            work.refuse(place, "the number of ranks is not known yet", "begin the schedule with num_ranks N");
            return None;
        }
        let place = self.tokens.here();
        let rank = self.peer(work)?;
        if !self.met.insert(rank) {
            work.refuse(place, format!("rank {rank} has operations above"), "write all of them in one block");
            return None;
        }
        self.expect(work, What::Open, "write rank N {")?;
        let mut labels: BTreeMap<&'a str, u32> = BTreeMap::new();
        let mut requirements = Vec::new();
        loop {
            if work.is_hopeless() {
                return None;
            }
            let Some(token) = self.tokens.skip_lines() else {
                let end = self.tokens.here();
                work.refuse(end, format!("the block of rank {rank} does not end"), "close it with }");
                return None;
            };
            let What::Word(word) = token.what else {
                if token.what == What::Close {
                    break;
                }
                work.refuse(token.place, "not a valid operation", "write calc, send, recv or a label");
                return None;
            };
            if ["send", "recv", "calc"].contains(&word) {
                self.operation(work, rank, token, None)?;
                continue;
            }
            let then = self.tokens.token();
            match then.what {
                What::Colon => {
                    let kind = self.tokens.token();
                    let operation = self.operation(work, rank, kind, Some(word))?;
                    if labels.insert(word, operation).is_some() {
                        work.refuse(token.place, "the label is used twice in its rank", "rename one of the two");
                    }
                }
                What::Word(how @ ("requires" | "irequires")) => {
                    let other = self.tokens.token();
                    let started = how == "irequires";
                    requirements.push(Requirement { operation: token, other, started });
                    self.end_of_line(work)?;
                }
                _ => {
                    let help = "write LABEL: and an operation, or LABEL requires LABEL";
                    work.refuse(then.place, "the line does not continue as it should", help);
                    return None;
                }
            }
        }
        for Requirement { operation, other, started } in requirements {
            let mut find = |token: Token<'a>| {
                let found = match token.what {
                    What::Word(word) => labels.get(word).copied(),
                    _ => None,
                };
                if found.is_none() && !work.is_hopeless() {
                    let help = "name the label of an operation of the same rank";
                    work.refuse(token.place, format!("rank {rank} has no operation with this label"), help);
                }
                found
            };
            if let (Some(operation), Some(other)) = (find(operation), find(other)) {
                self.operations.require(operation, other, started);
            }
        }
        Some(())
    }

    /// An operation, after its label and its first word.
    fn operation(&mut self, work: &mut Work, rank: u32, first: Token<'a>, label: Option<&str>) -> Option<u32> {
        let kind = match first.what {
            What::Word("calc") => {
                let place = self.tokens.here();
                let nanos = self.number(work, "calc needs a time in nanoseconds", u64::MAX)?;
                let time: Option<Span> = span(nanos as f64, 1e3);
                if time.is_none() {
                    work.refuse(place, "the time is too long", "write fewer than 10^15 nanoseconds");
                }
                Kind::Compute(time?)
            }
            What::Word("send") => {
                let bytes = self.bytes(work)?;
                self.expect(work, What::Word("to"), "write send BYTESb to RANK")?;
                let to = self.peer(work)?;
                let tag = self.tag(work)?;
                // A send with any tag would be a mistake of its own.
                Kind::Send { to, bytes, tag: tag.unwrap_or(u64::MAX) }
            }
            What::Word("recv") => {
                let bytes = self.bytes(work)?;
                self.expect(work, What::Word("from"), "write recv BYTESb from RANK")?;
                let from = match self.tokens.take(What::Any) {
                    true => None,
                    false => Some(self.peer(work)?),
                };
                Kind::Receive { from, bytes, tag: self.tag(work)? }
            }
            _ => {
                work.refuse(first.place, "not a valid operation", "write calc, send or recv");
                return None;
            }
        };
        let mut placed = false;
        for key in ["cpu", "nic"] {
            if self.tokens.take(What::Word(key)) {
                placed |= self.number(work, "this needs a number", 1 << 16)? > 0;
            }
        }
        self.placed += u64::from(placed);
        self.end_of_line(work)?;
        let name = match label {
            Some(label) => format!("r{rank}.{label}"),
            None => String::new(),
        };
        let place = Place { source: self.source, ..first.place };
        Some(self.operations.add(Operation { rank, kind, place, name }))
    }

    fn bytes(&mut self, work: &mut Work) -> Option<u64> {
        let bytes = self.number(work, "a message needs a size", LARGEST)?;
        self.expect(work, What::Word("b"), "write the size in bytes, such as 1024b")?;
        Some(bytes)
    }

    /// The tag of a message; `None` for any.
    fn tag(&mut self, work: &mut Work) -> Option<Option<u64>> {
        if !self.tokens.take(What::Word("tag")) {
            return Some(Some(0));
        }
        if self.tokens.take(What::Any) {
            return Some(None);
        }
        self.number(work, "a tag is a number", 1 << 32).map(Some)
    }

    fn end_of_line(&mut self, work: &mut Work) -> Option<()> {
        let token = self.tokens.peek();
        match token.what {
            What::Line | What::Close | What::End => Some(()),
            _ => {
                work.refuse(token.place, "the line should end here", "write one operation per line");
                None
            }
        }
    }

    /// The messages of all operations, and the latest start.
    fn finish(self, work: &mut Work) -> Option<(Vec<super::write::Message>, Span)> {
        if self.placed > 0 {
            let meaning = format!(
                "{} operations name a CPU or NIC, which have no counterpart: the operations of a rank share its link, and \
                 computations run side by side unless one requires the other",
                self.placed
            );
            work.note("cpu, nic", meaning);
        }
        work.note(
            "L, o, g, G, S",
            "are options of LogGOPSim: the packets of a network replace them, and a CPU takes no time \
                   for a message",
        );
        let place = self.ranks.1;
        let made = self.operations.messages(work)?;
        if made.0.is_empty() {
            work.refuse(place, "no rank sends a message to another", "add a send and its recv");
            return None;
        }
        Some(made)
    }
}

#[cfg(test)]
mod tests;
