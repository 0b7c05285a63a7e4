//! Collectives of traces: found by their process groups, and replaced by the messages of an algorithm.

use super::super::Work;
use super::super::operations::{Kind, Operation, Operations};
use super::trace::Node;
use crate::source::Place;
use fabric::workload::collective::{Algorithm, Collective, Transfer};
use fabric::workload::{Dependencies, collective};
use std::collections::BTreeMap;
use units::{Bytes, Span};

/// Types of collectives in the schema, with their names.
const TYPES: [&str; 10] = [
    "ALL_REDUCE",
    "REDUCE",
    "ALL_GATHER",
    "GATHER",
    "SCATTER",
    "BROADCAST",
    "ALL_TO_ALL",
    "REDUCE_SCATTER",
    "REDUCE_SCATTER_BLOCK",
    "BARRIER",
];

/// A collective at one of its ranks.
#[derive(Clone, Copy, Debug)]
struct Met {
    id: u64,
    place: Place,
    kind: u64,
    bytes: u64,
    /// The operations that begin and end it there.
    begin: u32,
    end: u32,
}

/// The collectives of all traces.
#[derive(Debug)]
pub(super) struct Collectives {
    groups: BTreeMap<String, Vec<u32>>,
    all_reduce: Algorithm,
    /// By group and rank, in the order of the trace.
    met: BTreeMap<String, BTreeMap<u32, Vec<Met>>>,
}

impl Collectives {
    pub(super) fn new(groups: Vec<(String, Vec<u32>)>, all_reduce: &str) -> Collectives {
        let all_reduce = Algorithm::ALL.iter().find(|(_, name)| *name == all_reduce);
        Collectives {
            groups: groups.into_iter().collect(),
            all_reduce: all_reduce.map_or(Algorithm::Ring, |(algorithm, _)| *algorithm),
            met: BTreeMap::new(),
        }
    }

    /// A rank has a collective.
    pub(super) fn meet(
        &mut self,
        work: &mut Work,
        rank: u32,
        node: &Node,
        place: Place,
        bytes: u64,
        (begin, end): (u32, u32),
    ) -> Option<()> {
        let kind = node.number("comm_type").filter(|kind| *kind < TYPES.len() as u64);
        let Some(kind) = kind else {
            let message = format!("node {} has no comm_type that is known", node.id);
            work.refuse(place, message, "the types are those of et_def.proto, from 0 to 9");
            return None;
        };
        let group = node.text("pg_name").unwrap_or_default();
        if !self.groups.is_empty() && !group.is_empty() {
            let Some(members) = self.groups.get(group) else {
                let message = format!("the file of groups does not have the group of node {}", node.id);
                work.refuse(place, message, "add its ranks, or leave out the file");
                return None;
            };
            if !members.contains(&rank) {
                let message = format!("rank {rank} is not a member of the group of node {}", node.id);
                work.refuse(place, message, "correct the file of groups, or leave it out");
                return None;
            }
        }
        let met = Met { id: node.id, place, kind, bytes, begin, end };
        self.met.entry(group.to_owned()).or_default().entry(rank).or_default().push(met);
        Some(())
    }

    /// Adds the messages of all collectives.
    pub(super) fn expand(&self, work: &mut Work, operations: &mut Operations) -> Option<()> {
        let (mut alone, mut raised, mut direct, mut barriers, mut unnamed) = (0_u64, 0_u64, 0_u64, 0_u64, 0_u64);
        for (name, ranks) in &self.met {
            let members: Vec<u32> = match self.groups.get(name) {
                Some(members) => members.clone(),
                None => ranks.keys().copied().collect(),
            };
            unnamed += u64::from(!name.is_empty() && !self.groups.contains_key(name));
            let none = Vec::new();
            let of = |rank: &u32| ranks.get(rank).unwrap_or(&none);
            let most = members.iter().max_by_key(|rank| of(rank).len())?;
            for turn in 0..of(most).len() {
                let first = of(most)[turn];
                let mut parts = Vec::new();
                for rank in &members {
                    match of(rank).get(turn) {
                        Some(part) if part.kind == first.kind && part.bytes == first.bytes => parts.push(*part),
                        other => {
                            let what = match other {
                                Some(part) => {
                                    let kind = TYPES[part.kind as usize];
                                    format!("rank {rank} has {kind} of {} B (node {})", part.bytes, part.id)
                                }
                                None => format!("rank {rank} has none"),
                            };
                            let message = format!(
                                "collective {} of its group is {} of {} B at rank {most} (node {}), but {what}",
                                turn + 1,
                                TYPES[first.kind as usize],
                                first.bytes,
                                first.id
                            );
                            let help = "give the traces of one run, and the ranks of each group with --groups";
                            work.refuse(first.place, message, help);
                            return None;
                        }
                    }
                }
                if parts.len() < 2 {
                    alone += 1;
                    continue;
                }
                let count = parts.len() as u64;
                raised += u64::from(first.bytes < count && first.kind != 9);
                direct += u64::from(matches!(first.kind, 1 | 3 | 4));
                barriers += u64::from(first.kind == 9);
                let (transfers, waits) = self.schedule(first.kind, parts.len() as u32, first.bytes);
                place_transfers(operations, &members, &parts, &transfers, &waits);
            }
        }
        if alone > 0 {
            work.note("COMM_COLL_NODE", format!("{alone} collectives of one rank take no time"));
        }
        if raised > 0 {
            work.note("comm_size", format!("{raised} collectives have one byte for each rank, instead of less"));
        }
        if direct > 0 {
            let meaning =
                format!("{direct} collectives are messages between the first rank of the group and each other");
            work.note("REDUCE, GATHER, SCATTER", meaning);
        }
        if barriers > 0 {
            work.note("BARRIER", format!("{barriers} barriers are all-reduces of one byte for each rank"));
        }
        if unnamed > 0 {
            let meaning = format!("{unnamed} groups without a list in --groups have the ranks whose traces name them");
            work.note("pg_name", meaning);
        }
        if !self.met.is_empty() {
            let algorithm = self.all_reduce.name();
            let meaning = format!(
                "all-reduces go by the algorithm {algorithm} (--all-reduce), broadcasts by a tree, all-to-alls directly, others \
                 by rings; sums take no time"
            );
            work.note("COMM_COLL_NODE", meaning);
        }
        Some(())
    }

    /// The transfers of a collective, and what they wait for.
    fn schedule(&self, kind: u64, ranks: u32, bytes: u64) -> (Vec<Transfer>, Dependencies) {
        use collective::Operation as Is;
        let n = u64::from(ranks);
        // The scenario counts the whole of what is gathered, a trace the part of a rank.
        let (operation, size) = match kind {
            2 => (Is::AllGather, bytes.saturating_mul(n)),
            5 => (Is::Broadcast, bytes),
            6 => (Is::AllToAll, bytes),
            7 | 8 => (Is::ReduceScatter, bytes),
            1 | 3 | 4 => {
                let part = if kind == 1 { bytes } else { bytes / n };
                let transfer = |other| match kind {
                    4 => Transfer { from: 0, to: other, bytes: part.max(1) },
                    _ => Transfer { from: other, to: 0, bytes: part.max(1) },
                };
                return ((1..ranks).map(transfer).collect(), Dependencies::default());
            }
            9 => (Is::AllReduce, n),
            _ => (Is::AllReduce, bytes),
        };
        let algorithm = match operation {
            Is::AllReduce => self.all_reduce,
            other => other.algorithms()[0],
        };
        let whole = Collective {
            operation,
            algorithm,
            ranks,
            size: Bytes::new(size.max(n)),
            chunk: None,
            local_ranks: 0,
            weights: Vec::new(),
            iterations: 1,
            compute: Span::ZERO,
        };
        let schedule = whole.schedule();
        (schedule.transfers().to_vec(), schedule.dependencies().clone())
    }
}

/// Adds the transfers of one collective: sends and receives between its beginning and its end at each rank.
fn place_transfers(
    operations: &mut Operations,
    members: &[u32],
    parts: &[Met],
    transfers: &[Transfer],
    waits: &Dependencies,
) {
    // Of each transfer its send and its receive.
    let mut both: Vec<(u32, u32)> = Vec::with_capacity(transfers.len());
    // Operations that others of their rank follow.
    let mut followed = vec![[false; 2]; transfers.len()];
    let first = operations.len() as u64;
    for (number, transfer) in transfers.iter().enumerate() {
        let (from, to) = (transfer.from as usize, transfer.to as usize);
        // Their own tag, which no other message has: a number of operations counts up.
        let tag = (1 << 63) | (first + number as u64);
        let name = format!("r{}.n{}.{}", members[from], parts[from].id, number + 1);
        let kind = Kind::Send { to: members[to], bytes: transfer.bytes, tag };
        let send = operations.add(Operation { rank: members[from], kind, place: parts[from].place, name });
        let kind = Kind::Receive { from: Some(members[from]), bytes: transfer.bytes, tag: Some(tag) };
        let name = format!("r{}.n{}", members[to], parts[to].id);
        let receive = operations.add(Operation { rank: members[to], kind, place: parts[to].place, name });
        both.push((send, receive));
    }
    let mut begun = vec![false; transfers.len()];
    for entry in waits.iter() {
        let waiting = entry.flow as usize;
        let sender = transfers[waiting].from;
        for &other in entry.awaited {
            let awaited = &transfers[other as usize];
            let (send, receive) = both[other as usize];
            let own = awaited.from == sender;
            operations.require(both[waiting].0, if own { send } else { receive }, false);
            followed[other as usize][usize::from(!own)] = true;
            // What follows another send of its rank begins after that one has.
            begun[waiting] |= own;
        }
    }
    for (number, transfer) in transfers.iter().enumerate() {
        let (from, to) = (&parts[transfer.from as usize], &parts[transfer.to as usize]);
        let (send, receive) = both[number];
        if !begun[number] {
            operations.require(send, from.begin, false);
        }
        for (operation, end, followed) in
            [(send, from.end, followed[number][0]), (receive, to.end, followed[number][1])]
        {
            if !followed {
                operations.require(end, operation, false);
            }
        }
    }
}
