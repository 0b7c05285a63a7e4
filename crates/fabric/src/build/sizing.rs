//! How many shards and threads suit a network.
//!
//! A shard runs for a whole window before the next, so a shard whose state fits into a core's own cache runs fast,
//! however large the network is; and a few shards more than threads even out the work. But shards and threads cost
//! something every window. What is estimated here decides about speed alone, never about a result.

use crate::describe::graph::{LinkSpec, Role};
use crate::describe::spec::NetworkSpec;
use crate::describe::workload::Pattern;
use crate::machine::frame::Frame;
use crate::machine::host::flow::Flow;
use crate::machine::port::{Gate, Lane, Port};
use units::{Bytes, Rate, Span, Wire};

/// What of a core's own cache a shard may fill: most have 1 to 2 MB, and tables and messages need some.
const SHARD_BYTES: u64 = 1_000_000;

/// Hops in a window that pay for a thread.
const HOPS_PER_THREAD: f64 = 600.0;

/// Shards for each of several threads, so that those who are done can help the others.
const SHARDS_PER_THREAD: usize = 2;

/// No network has more: beyond, messages between shards rule.
const MOST_SHARDS: usize = 1024;

/// A path through a network is seldom longer, in cables.
const HOPS_PER_FRAME: f64 = 6.0;

/// Flows with an end that are seldom more at a time, of each host.
const ACTIVE_FLOWS: usize = 16;

/// How a network is best cut and run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizing {
    /// Shards to aim for; see [`crate::BuildOptions::shards`].
    pub shards: usize,
    /// Threads that are of use; see [`crate::RunLimits::threads`].
    pub threads: usize,
}

impl Sizing {
    /// For up to so many threads, of which there should be no more than cores.
    #[must_use]
    pub fn of(spec: &NetworkSpec, threads: usize) -> Sizing {
        let by_cache = spec_bytes(spec).div_ceil(SHARD_BYTES).clamp(1, MOST_SHARDS as u64) as usize;
        let hops = hops_in_window(spec);
        let threads = threads.clamp(1, ((hops / HOPS_PER_THREAD) as usize).max(1));
        let nodes = spec.graph.nodes.iter().filter(|node| node.role == Role::Switch).count().max(1);
        // The window of one shard lasts until the next inspection; of several, it is worth having.
        let shards = match (threads, by_cache) {
            (1, 1) => 1,
            (1, _) if hops < HOPS_PER_THREAD => 1,
            (1, shards) => shards.next_power_of_two(),
            (threads, shards) => shards.max(threads * SHARDS_PER_THREAD).next_power_of_two(),
        };
        let shards = shards.min(nodes);
        Sizing { shards, threads: threads.min(shards) }
    }
}

impl Sizing {
    /// For so many ranks with up to so many threads each: threads are those of one rank. Every rank has a shard if there
    /// are enough switches, even in a network that one thread would run faster.
    #[must_use]
    pub fn among(spec: &NetworkSpec, ranks: usize, threads: usize) -> Sizing {
        let whole = Sizing::of(spec, threads.saturating_mul(ranks));
        let shards = whole.shards.max(ranks).next_multiple_of(ranks.max(1));
        Sizing { shards, threads: whole.threads.div_ceil(ranks.max(1)) }
    }
}

/// The frame that the network sends most, as far as its flows say.
fn usual_frame(spec: &NetworkSpec) -> Bytes {
    let sum: u128 = spec.flows.iter().map(|flow| u128::from(flow.frame.get())).sum();
    let mean = sum / (spec.flows.len() as u128).max(1);
    Bytes::new(u64::try_from(mean).unwrap_or(1500).max(64))
}

/// What the state of the running network takes, with all links busy in both directions.
fn spec_bytes(spec: &NetworkSpec) -> u64 {
    let (frame, classes) = (usual_frame(spec) + spec.overhead, spec.classes.len());
    // Five alarms, the list of signals, and what few ports have at all.
    let port = size_of::<Port>() + classes * (size_of::<Lane>() + size_of::<Gate>()) + 5 * 16 + 32 + 4 * 8;
    let frames = |link: &LinkSpec| {
        let busy = Wire::new(link.rate).at_most(frame).as_picos().max(1);
        2 + link.latency.as_picos() / busy
    };
    let cables: u64 =
        spec.graph.cables.iter().map(|cable| 2 * (port as u64 + frames(&cable.link) * size_of::<Frame>() as u64)).sum();
    // Flows with an end come and go.
    let lasting = spec.flows.iter().filter(|flow| flow.size.is_none()).count();
    let hosts = spec.graph.nodes.iter().filter(|node| node.role == Role::Host).count();
    let active = lasting + (spec.flows.len() - lasting).min(ACTIVE_FLOWS * hosts);
    cables + active as u64 * (size_of::<Flow>() as u64 + 64)
}

/// Hops between two meetings of all shards, with all sources as busy as they can be.
fn hops_in_window(spec: &NetworkSpec) -> f64 {
    let role = |node: crate::describe::graph::NodeId| spec.graph.nodes.get(node.0 as usize).map(|node| node.role);
    let trunk =
        |cable: &&crate::describe::graph::Cable| [cable.a, cable.b].iter().all(|&end| role(end) == Some(Role::Switch));
    // Hosts stay with their switches; cables of no length are not cut.
    let lookahead =
        spec.graph.cables.iter().filter(trunk).map(|cable| cable.link.latency).filter(|&it| it > Span::ZERO).min();
    let requeue = spec.flows.iter().filter_map(|flow| flow.requeue_oracle).min();
    let Some(window) = lookahead.into_iter().chain(requeue).min() else { return 0.0 };
    let frame = usual_frame(spec) + spec.overhead;
    let frames =
        |rate: Rate| rate.as_bits_per_sec() as f64 * window.as_picos() as f64 / 1e12 / frame.bits().max(1) as f64;
    let by_cables: f64 = spec.graph.cables.iter().map(|cable| 2.0 * frames(cable.link.rate)).sum();
    let fastest = spec.graph.cables.iter().map(|cable| cable.link.rate).max().unwrap_or(Rate::ZERO);
    let by_flows = spec.flows.iter().map(|flow| match flow.pattern {
        Pattern::Greedy => frames(fastest),
        Pattern::Paced { rate, .. } => frames(rate.min(fastest)),
    });
    by_cables.min(by_flows.sum::<f64>() * HOPS_PER_FRAME)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::spec::{
        AdapterSpec, Buffer, ClassBuffer, ClassSpec, Egress, FlowControl, Forwarding, Order, Queueing, SwitchSpec,
    };
    use crate::describe::topology::{Links, fat_tree};
    use crate::describe::workload::{self, FlowSpec};
    use crate::graph::HostId;

    fn permutation(k: u32, latency: Span) -> NetworkSpec {
        let link = LinkSpec { rate: Rate::from_gigabits(100), latency, bit_error_rate: 0.0 };
        let graph = fat_tree(k, Links::same(link)).unwrap();
        let class = ClassSpec { name: "lossy".into(), lossless: false };
        let switch = SwitchSpec {
            queueing: Queueing::Output,
            buffer: Buffer::Static(vec![ClassBuffer::drop_tail(Bytes::new(100_000))]),
            flow_control: FlowControl::None,
            crossbar: None,
            egress: Egress::Strict,
            forwarding: Forwarding::StoreAndForward,
            pipeline: Span::ZERO,
            order: Order::Arrival,
            congestion_point: None,
            pfc_watchdog: None,
        };
        let mut spec = NetworkSpec::uniform(graph, switch, AdapterSpec::default(), class);
        let hosts: Vec<HostId> = (0..spec.graph.hosts().len() as u32).map(HostId).collect();
        spec.flows = workload::permutation(
            &hosts,
            &FlowSpec::greedy(HostId(0), HostId(1)).with(|it| {
                it.frame = Bytes::new(1000);
            }),
            1,
        )
        .into();
        spec
    }

    #[test]
    fn small_networks_run_on_one_thread_and_large_ones_in_shards_that_fit_a_cache() {
        let us = Span::from_micros(1);
        let sizing = |k, threads| Sizing::of(&permutation(k, us), threads);
        assert_eq!(sizing(4, 16), Sizing { shards: 1, threads: 1 });
        assert_eq!(sizing(8, 1), Sizing { shards: 1, threads: 1 });
        assert_eq!(sizing(8, 2).threads, 2);
        assert!((4..=16).contains(&sizing(16, 1).shards));
        assert_eq!(sizing(16, 16).threads, 16);
        assert!(sizing(16, 16).shards >= 32);
        // Little happens in 10 ns, or with a single flow.
        assert_eq!(Sizing::of(&permutation(8, Span::from_nanos(10)), 16), Sizing { shards: 1, threads: 1 });
        // Ranks share the work and the threads.
        let small = permutation(4, us);
        assert_eq!(Sizing::among(&small, 4, 2), Sizing { shards: 4, threads: 1 });
        assert_eq!(Sizing::among(&small, 1, 2), Sizing::of(&small, 2));
        let large = Sizing::among(&permutation(16, us), 4, 4);
        assert!(large.threads == 4 && large.shards >= 32 && large.shards.is_multiple_of(4), "{large:?}");
        let mut idle = permutation(16, us);
        idle.flows.truncate(1);
        assert_eq!(Sizing::of(&idle, 16), Sizing { shards: 1, threads: 1 });
    }
}
