//! Collective operations as flows that wait for others.
//!
//! A collective is a schedule of transfers between ranks. A rank sends what it has: a transfer waits for the incoming ones
//! that it passes on, and, where the algorithm sends one after the other, until the one before has left. An iteration
//! begins at a rank when the one before is complete there, and `compute` later.
//!
//! The schedules are those of NCCL and of the literature, without their kernels: computing a sum takes no time.

mod exchange;
mod ring;
mod schedule;
mod tree;

pub use schedule::{Schedule, Transfer};

use super::{Dependencies, Destination, FlowSpec};
use crate::describe::graph::HostId;
use units::{Bytes, Span};

/// What a collective achieves. Sizes are counted as nccl-tests does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Every rank has a vector of `size` bytes, and gets the sum of all.
    AllReduce,
    /// Every rank has a part of `size` bytes in all, and gets the whole.
    AllGather,
    /// Every rank has a vector of `size` bytes, and gets its part of the sum.
    ReduceScatter,
    /// The first rank has `size` bytes, which all get.
    Broadcast,
    /// Every rank sends `size` bytes in all, a part to each rank; its own stays.
    AllToAll,
    /// `size` bytes go from rank to rank, as activations in a pipeline do.
    Pipeline,
}

impl Operation {
    /// All operations, with their names.
    pub const ALL: [(Operation, &'static str); 6] = [
        (Operation::AllReduce, "all-reduce"),
        (Operation::AllGather, "all-gather"),
        (Operation::ReduceScatter, "reduce-scatter"),
        (Operation::Broadcast, "broadcast"),
        (Operation::AllToAll, "all-to-all"),
        (Operation::Pipeline, "pipeline"),
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Operation::ALL.iter().find(|(one, _)| *one == self).map_or("", |(_, name)| name)
    }

    /// The factor from algorithm bandwidth to bus bandwidth, which does not depend on the number of ranks and can be
    /// compared with a link (nccl-tests, PERFORMANCE.md).
    #[must_use]
    pub fn bus_factor(self, ranks: u32) -> f64 {
        let others = f64::from(ranks.max(1) - 1) / f64::from(ranks.max(1));
        match self {
            Operation::AllReduce => 2.0 * others,
            Operation::AllGather | Operation::ReduceScatter | Operation::AllToAll => others,
            Operation::Broadcast | Operation::Pipeline => 1.0,
        }
    }

    /// The algorithms that achieve it, the usual one first.
    #[must_use]
    pub fn algorithms(self) -> &'static [Algorithm] {
        match self {
            Operation::AllReduce => &[
                Algorithm::Ring,
                Algorithm::Tree,
                Algorithm::DoubleBinaryTree,
                Algorithm::HalvingDoubling,
                Algorithm::Hierarchical,
            ],
            Operation::AllGather | Operation::ReduceScatter => &[Algorithm::Ring, Algorithm::HalvingDoubling],
            Operation::Broadcast => &[Algorithm::Tree, Algorithm::Ring],
            Operation::AllToAll => &[Algorithm::Direct, Algorithm::Pairwise],
            Operation::Pipeline => &[Algorithm::Ring],
        }
    }
}

/// How a collective achieves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Every rank sends to the next one.
    Ring,
    /// Up and down a binary tree, as NCCL builds it.
    Tree,
    /// Half of the data on each of two binary trees: a leaf of one is an inner node of the other (Sanders, Speck and
    /// Träff, 2009).
    DoubleBinaryTree,
    /// Exchange of halves with partners at doubling distances (Thakur, Rabenseifner and Gropp, 2005).
    HalvingDoubling,
    /// Rings within groups of ranks, and between the groups.
    Hierarchical,
    /// All transfers at once.
    Direct,
    /// One peer after the other.
    Pairwise,
}

impl Algorithm {
    /// All algorithms, with their names.
    pub const ALL: [(Algorithm, &'static str); 7] = [
        (Algorithm::Ring, "ring"),
        (Algorithm::Tree, "tree"),
        (Algorithm::DoubleBinaryTree, "double-binary-tree"),
        (Algorithm::HalvingDoubling, "halving-doubling"),
        (Algorithm::Hierarchical, "hierarchical"),
        (Algorithm::Direct, "direct"),
        (Algorithm::Pairwise, "pairwise"),
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Algorithm::ALL.iter().find(|(one, _)| *one == self).map_or("", |(_, name)| name)
    }

    /// Whether it passes data on in chunks.
    #[must_use]
    pub fn pipelines(self) -> bool {
        use Algorithm::{DoubleBinaryTree, Hierarchical, Ring, Tree};
        matches!(self, Ring | Tree | DoubleBinaryTree | Hierarchical)
    }
}

/// A collective operation of a group of ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct Collective {
    /// What it achieves.
    pub operation: Operation,
    /// How.
    pub algorithm: Algorithm,
    /// Number of ranks.
    pub ranks: u32,
    /// Data, as nccl-tests counts it; see [`Operation`].
    pub size: Bytes,
    /// Data is passed on in chunks of at most that size; `None` is one per step.
    pub chunk: Option<Bytes>,
    /// Ranks of an inner ring, with [`Algorithm::Hierarchical`].
    pub local_ranks: u32,
    /// Shares of the ranks in what each rank sends, in any unit, with [`Operation::AllToAll`]; empty is alike.
    pub weights: Vec<f64>,
    /// How often it is done.
    pub iterations: u32,
    /// Time between two iterations at a rank; in a pipeline also between receiving a chunk and sending it on.
    pub compute: Span,
}

/// Why a collective is impossible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsound {
    /// The field of [`Collective`] that is wrong.
    pub about: &'static str,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub help: String,
}

impl Collective {
    /// Checks whether it is possible.
    ///
    /// # Errors
    /// Returns what is wrong.
    pub fn check(&self) -> Result<(), Unsound> {
        let Collective { operation, algorithm, ranks, size, local_ranks, .. } = *self;
        let refuse = |about, what: String, help: &str| Err(Unsound { about, what, help: help.to_owned() });
        let name = operation.name();
        if !operation.algorithms().contains(&algorithm) {
            let known: Vec<&str> = operation.algorithms().iter().map(|algorithm| algorithm.name()).collect();
            let what = format!("{name} has no algorithm {}", algorithm.name());
            return refuse("algorithm", what, &format!("use {}", known.join(", ")));
        }
        if ranks < 2 {
            return refuse("ranks", "a collective needs at least two ranks".into(), "name more hosts");
        }
        if size.get() < u64::from(ranks) {
            let what = format!("{size} is less than a byte for each of {ranks} ranks");
            return refuse("size", what, "raise the size");
        }
        if self.chunk.is_some() && !algorithm.pipelines() {
            let what = format!("{} passes nothing on in chunks", algorithm.name());
            return refuse("chunk", what, "remove it, or use another algorithm");
        }
        if self.chunk == Some(Bytes::ZERO) {
            return refuse("chunk", "a chunk of zero bytes".into(), "give at least one byte");
        }
        if self.iterations == 0 {
            return refuse("iterations", "there is no iteration".into(), "give at least one");
        }
        if algorithm == Algorithm::HalvingDoubling && operation != Operation::AllReduce && !ranks.is_power_of_two() {
            let what = format!("{name} by halving and doubling needs a power of two of ranks, but there are {ranks}");
            return refuse("algorithm", what, "use the ring, or another number of hosts");
        }
        if algorithm == Algorithm::Hierarchical
            && !(local_ranks >= 2 && local_ranks < ranks && ranks.is_multiple_of(local_ranks))
        {
            let what = format!("{ranks} ranks cannot be divided into several groups of {local_ranks}");
            return refuse("local_ranks", what, "choose a divisor of the number of ranks, at least 2");
        }
        if !self.weights.is_empty() {
            let sound = |weight: &f64| weight.is_finite() && *weight >= 0.0;
            if operation != Operation::AllToAll || self.weights.len() != ranks as usize {
                let what = format!("{} weights for the {ranks} ranks of {name}", self.weights.len());
                return refuse("weights", what, "give one weight per rank of an all-to-all");
            }
            // Somebody must receive from everybody else.
            if !self.weights.iter().all(sound) || self.weights.iter().filter(|&&weight| weight > 0.0).count() < 2 {
                let what = "the weights leave no rank to send to".to_owned();
                return refuse("weights", what, "give numbers of at least 0, two of them above 0");
            }
        }
        Ok(())
    }

    /// The number of flows, or somewhat more.
    #[must_use]
    pub fn most_flows(&self) -> u64 {
        let (n, chunk) = (u64::from(self.ranks), self.chunk.map_or(u64::MAX, Bytes::get));
        let pieces = |bytes: u64| bytes.div_ceil(chunk).max(1);
        let block = pieces(self.size.get() / n + 1);
        let transfers = match (self.operation, self.algorithm) {
            (Operation::Broadcast | Operation::Pipeline, _) => n.saturating_mul(pieces(self.size.get())),
            (Operation::AllToAll, _) => n.saturating_mul(n),
            (_, Algorithm::Tree | Algorithm::DoubleBinaryTree) => (2 * n).saturating_mul(pieces(self.size.get()) + 2),
            (_, Algorithm::HalvingDoubling) => n.saturating_mul(2 * u64::from(n.ilog2()) + 2),
            (_, Algorithm::Hierarchical) => {
                let local = u64::from(self.local_ranks.max(1));
                let inner = pieces(self.size.get() / local + 1);
                n.saturating_mul(2 * local * inner).saturating_add(n.saturating_mul(2 * (n / local) * block))
            }
            _ => (2 * n).saturating_mul(n).saturating_mul(block),
        };
        transfers.saturating_mul(u64::from(self.iterations))
    }

    /// The number of pairs of a flow and one that it waits for, or somewhat more.
    #[must_use]
    pub fn most_pairs(&self) -> u64 {
        let (n, later) = (u64::from(self.ranks), u64::from(self.iterations.saturating_sub(1)));
        match self.algorithm {
            // Every flow of an iteration waits for all of the one before at its source.
            Algorithm::Direct => n.saturating_mul(n).saturating_mul(2 * n).saturating_mul(later),
            _ => self.most_flows().saturating_mul(4),
        }
    }

    /// The transfers of one iteration. The collective must be [sound](Collective::check).
    #[must_use]
    pub fn schedule(&self) -> Schedule {
        let mut schedule = Schedule::default();
        let all: Vec<u32> = (0..self.ranks).collect();
        let (size, chunk) = (self.size.get(), self.chunk.map_or(u64::MAX, Bytes::get));
        match (self.operation, self.algorithm) {
            (Operation::AllReduce, Algorithm::Tree) => tree::all_reduce(&mut schedule, self.ranks, size, chunk),
            (Operation::AllReduce, Algorithm::DoubleBinaryTree) => {
                tree::double_all_reduce(&mut schedule, self.ranks, size, chunk);
            }
            (Operation::AllReduce, Algorithm::HalvingDoubling) => {
                exchange::halving_doubling(&mut schedule, self.ranks, size);
            }
            (Operation::AllReduce, Algorithm::Hierarchical) => {
                ring::hierarchical(&mut schedule, self.ranks, self.local_ranks, size, chunk);
            }
            (Operation::AllReduce, _) => {
                let scattered = ring::round(&mut schedule, &all, size, chunk, Vec::new(), 0);
                ring::round(&mut schedule, &all, size, chunk, scattered, 1);
            }
            (Operation::AllGather, Algorithm::HalvingDoubling) => exchange::doubling(&mut schedule, self.ranks, size),
            (Operation::AllGather, _) => {
                ring::round(&mut schedule, &all, size, chunk, Vec::new(), 0);
            }
            (Operation::ReduceScatter, Algorithm::HalvingDoubling) => {
                exchange::halving(&mut schedule, self.ranks, size)
            }
            (Operation::ReduceScatter, _) => {
                ring::round(&mut schedule, &all, size, chunk, Vec::new(), 0);
            }
            (Operation::Broadcast, Algorithm::Tree) => tree::broadcast(&mut schedule, self.ranks, size, chunk),
            (Operation::Broadcast, _) => ring::chain(&mut schedule, self.ranks, size, chunk, Span::ZERO),
            (Operation::Pipeline, _) => ring::chain(&mut schedule, self.ranks, size, chunk, self.compute),
            (Operation::AllToAll, algorithm) => {
                let one_by_one = algorithm == Algorithm::Pairwise;
                exchange::all_to_all(&mut schedule, self.ranks, size, &self.weights, one_by_one);
            }
        }
        schedule
    }

    /// The flows of all iterations, one after the other, and what they wait for. Rank n is `hosts[n]`.
    ///
    /// # Panics
    /// Panics if there are fewer hosts than ranks.
    #[must_use]
    pub fn flows(&self, hosts: &[HostId], template: &FlowSpec) -> (Vec<FlowSpec>, Dependencies) {
        let schedule = self.schedule();
        let count = schedule.transfers().len() as u32;
        let mut flows = Vec::with_capacity(count as usize * self.iterations as usize);
        for _ in 0..self.iterations {
            flows.extend(schedule.transfers().iter().map(|transfer| FlowSpec {
                source: hosts[transfer.from as usize],
                destination: Destination::Host(hosts[transfer.to as usize]),
                size: Some(Bytes::new(transfer.bytes)),
                ..template.clone()
            }));
        }
        (flows, schedule.repeated(self.ranks, self.iterations, self.compute))
    }
}

#[cfg(test)]
mod tests;
