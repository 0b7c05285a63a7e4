//! The flow file: the number of flows, then a line for each.

use super::super::Work;
use super::super::words::{Words, number, span};
use super::topology::{Topology, whole};
use crate::source::Place;
use units::Span;

/// A flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    pub(super) source: u32,
    pub(super) destination: u32,
    pub(super) group: u8,
    /// Port of the destination.
    pub(super) port: u16,
    pub(super) bytes: u64,
    pub(super) start: Span,
}

/// The largest flow: 1 PB.
const LARGEST: u64 = 1_000_000_000_000_000;

/// Reads the file. What follows the stated number of flows is a remark, as the simulator has it.
pub(super) fn read(work: &mut Work, source: u32, text: &str, topology: &Topology) -> Option<Vec<Flow>> {
    let mut words = Words::new(source, text);
    let end = words.end();
    let count = whole(work, words.next(), end, "the number of flows", 10_000_001)?;
    let mut flows = Vec::new();
    for number in 0..count {
        match flow(work, &mut words, end, number, topology) {
            Some(flow) => flows.push(flow),
            None => {
                // The rest of the line is that of a flow that is wrong.
                words.skip_line();
                if work.is_hopeless() {
                    return None;
                }
            }
        }
    }
    if count == 0 {
        work.refuse(end, "the file has no flows", "give their number in the first line, then one line each");
    }
    Some(flows)
}

fn flow(work: &mut Work, words: &mut Words<'_>, end: Place, index: u64, topology: &Topology) -> Option<Flow> {
    let nodes = topology.is_switch.len() as u64;
    let first = words.next();
    if first.is_none() {
        let message = format!("the file ends after {index} flows");
        let help = "correct the number of flows in the first line, or add the missing lines";
        // It has been said of the flow before this one.
        if work.problems.iter().all(|problem| problem.place != end) {
            work.refuse(end, message, help);
        }
        return None;
    }
    let place = first.map_or(end, |word| word.place);
    let source = whole(work, first, end, "the source of a flow", nodes)? as u32;
    let destination = whole(work, words.on_line(), place, "the destination of a flow", nodes)? as u32;
    let group = whole(work, words.on_line(), place, "the priority group of a flow", 8)? as u8;
    let port = whole(work, words.on_line(), place, "the port of a flow", 65_536)? as u16;
    let bytes = whole(work, words.on_line(), place, "the size of a flow", LARGEST)?;
    let Some(word) = words.on_line() else {
        work.refuse(place, "a flow without a start", "write source, destination, priority group, port, bytes, seconds");
        return None;
    };
    let Some(start) = number(word.text).and_then(|seconds| span(seconds, 1e12)) else {
        work.refuse(word.place, "this is not the start of a flow", "write a time in seconds, such as 2.000001");
        return None;
    };
    for host in [source, destination] {
        if topology.is_switch[host as usize] {
            work.refuse(place, format!("node {host} is a switch"), "flows begin and end at hosts");
            return None;
        }
    }
    if source == destination {
        work.refuse(place, "the destination of the flow is its source", "name another host");
        return None;
    }
    if bytes == 0 {
        work.refuse(place, "a flow of 0 bytes", "write the number of bytes that it sends");
        return None;
    }
    Some(Flow { source, destination, group, port, bytes, start })
}
