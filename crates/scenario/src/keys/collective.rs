//! Keys of workloads of kind `collective`.

use crate::key::{Default, Key, Kind, key};

/// The largest size: 1 PB.
const LARGEST: u64 = 1_000_000_000_000_000;

pub(super) fn keys() -> Vec<Key> {
    let keys = vec![
        key(
            "operation",
            Kind::choice(&[
                ("all-reduce", "every rank gets the sum of all vectors"),
                ("all-gather", "every rank gets the parts of all"),
                ("reduce-scatter", "every rank gets its part of the sum of all vectors"),
                ("broadcast", "all ranks get the data of the first"),
                ("all-to-all", "every rank sends a part of its data to each other rank"),
                ("pipeline", "data goes from rank to rank, as between the stages of a pipeline"),
            ]),
            Default::Value("all-reduce", "our choice: the operation of data-parallel training"),
            "What the ranks do together.",
        ),
        key(
            "algorithm",
            Kind::choice(&[
                ("ring", "every rank sends to the next one; of a broadcast or pipeline, the chain of all ranks"),
                ("tree", "up and down a binary tree, as NCCL builds it"),
                (
                    "double-binary-tree",
                    "half of the data on each of two trees (Sanders, Speck and Traff, 2009), as in NCCL",
                ),
                ("halving-doubling", "exchange with partners at distances that double (Thakur et al., 2005)"),
                ("hierarchical", "rings of local_ranks ranks, and rings between them"),
                ("direct", "all-to-all: all transfers at once"),
                ("pairwise", "all-to-all: one peer after the other"),
            ]),
            Default::Computed(
                "ring; for a broadcast, tree; for an all-to-all, direct",
                "our choice: as NCCL for large messages",
            ),
            "Algorithm. All-reduce: ring, tree, double-binary-tree, halving-doubling, hierarchical. All-gather and \
             reduce-scatter: ring, halving-doubling. Broadcast: tree, ring. All-to-all: direct, pairwise.",
        ),
        key(
            "placement",
            Kind::choice(&[
                ("packed", "in the order of `hosts`"),
                ("strided", "every `stride`-th host: with as many hosts per leaf switch, one rail after the other"),
                ("random", "in an order drawn by the seed"),
            ]),
            Default::Value("packed", "our choice: as most schedulers place ranks"),
            "Which host is which rank.",
        ),
        key("stride", Kind::Count(1, 1 << 31), Default::Required, "Distance of the hosts of two consecutive ranks.")
            .only("placement", &["strided"]),
        key(
            "ranks",
            Kind::Count(2, 1 << 31),
            Default::Computed("all hosts", "our choice: one group"),
            "Ranks of a group. Consecutive ranks form a group, and each group has a collective of its own, at the same \
             time.",
        ),
        key(
            "local_ranks",
            Kind::Count(2, 1 << 31),
            Default::Required,
            "Consecutive ranks of an inner ring, such as those behind a leaf switch.",
        )
        .only("algorithm", &["hierarchical"]),
        key(
            "size",
            Kind::size(1, LARGEST),
            Default::Required,
            "Data, as nccl-tests counts it: the vector of a rank; of an all-gather, the result of each rank; of an \
             all-to-all, the data of a rank for all ranks, itself included.",
        ),
        key(
            "chunk",
            Kind::size(64, LARGEST),
            Default::Absent("a rank forwards a block when it is complete"),
            "Data is passed on in chunks of at most this size: a chunk is sent while the next one arrives.",
        ),
        key(
            "iterations",
            Kind::Count(1, 1 << 20),
            Default::Value("1", "our choice: a single operation"),
            "Number of operations, one after the other. A rank begins one when its part of the one before is complete, \
             and `compute` later.",
        ),
        key(
            "compute",
            Kind::time(),
            Default::Value("0s", "our choice: the network alone"),
            "Time that a rank computes between two iterations; in a pipeline, also between receiving a chunk and \
             sending it on.",
        ),
        key(
            "skew",
            Kind::Number(0.0, 10.0),
            Default::Absent("every rank gets the same"),
            "Exponent of a Zipf distribution of the data over the receiving ranks, as experts of a mixture-of-experts \
             model are chosen: the n-th most popular rank gets a share proportional to n^-skew. The seed decides which \
             rank that is.",
        )
        .only("operation", &["all-to-all"]),
        key(
            "weights",
            Kind::Counts(0, 1 << 31),
            Default::Absent("by `skew`"),
            "Shares of the receiving ranks, one number per rank.",
        )
        .only("operation", &["all-to-all"]),
    ];
    keys.into_iter().map(|key| key.only("kind", &["collective"])).collect()
}
