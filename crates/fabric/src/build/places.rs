//! Where the state of each flow lies: at its source, and where its frames are consumed.
//!
//! A flow has a source and mostly one destination, so a shard keeps state for the flows that begin or end in it and for
//! no other: memory does not grow with the number of shards. Flows whose every frame chooses a destination may end
//! anywhere; they come first in every shard's list.

use crate::build::plan::NetworkPlan;
use crate::build::sparse::Sparse;
use crate::describe::spec::NetworkSpec;
use crate::describe::workload::{Destination, FlowSpec, TelemetrySpec};
use crate::machine::host::live::Live;
use crate::machine::network::Received;
use congestion::ReactionPoint;
use std::ops::Range;
use units::{Bytes, Span};

/// See the module.
#[derive(Debug)]
pub(crate) struct Places {
    /// By flow: its position in [`crate::machine::network::Network::flows`]. Of a rank: flows that start or end there.
    pub(crate) source: Sparse<u32>,
    /// By flow: its position in [`crate::machine::network::Network::received`]. A flow without a destination of its own
    /// has that position in all shards.
    pub(crate) sink: Sparse<u32>,
    /// By host: its shard.
    home: Vec<u32>,
    /// What switches may have to know of a flow that neither starts nor ends on their rank, by flow; nothing if they need
    /// not, or if all flows are on one rank.
    passing: Vec<Origin>,
    /// By shard: the flows of its list of what is received, in the order of that list.
    sinks: Vec<Vec<u32>>,
    /// By shard: the flows that start at each of its hosts, in the order in which the hosts are laid out and then of
    /// their start; those that wait for others come last.
    pub(crate) sources: Vec<Vec<u32>>,
    /// By host: how many flows start there.
    pub(crate) per_host: Vec<u32>,
}

/// What a switch may have to know of a flow that passes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// The host where it starts.
    pub(crate) source: u32,
    /// The shard of that host.
    pub(crate) home: u32,
    /// The host where it ends, if it is one.
    pub(crate) destination: Option<u32>,
    pub(crate) class: u8,
    /// What a tag, or headers and telemetry, add to its frames.
    pub(crate) tag_size: u16,
    /// See [`FlowSpec::telemetry`].
    pub(crate) telemetry: Option<TelemetrySpec>,
    /// See [`FlowSpec::requeue_oracle`].
    pub(crate) requeue: Option<Span>,
    /// See [`FlowSpec::is_reliable`].
    pub(crate) reliable: bool,
}

impl Origin {
    fn new(flow: &FlowSpec, home: u32) -> Origin {
        Origin {
            source: flow.source.0,
            home,
            destination: match flow.destination {
                Destination::Host(host) => Some(host.0),
                Destination::Uniform => None,
            },
            class: flow.class,
            // A frame has a tag, or it has headers and telemetry.
            tag_size: flow.added().max(flow.reaction.tag_size()).get() as u16,
            telemetry: flow.telemetry,
            requeue: flow.requeue_oracle,
            reliable: flow.is_reliable(),
        }
    }
}

/// Whether switches must know of flows that pass them: to notify their sources, to read their tags, and to tell them of
/// drops.
fn switches_know_flows(spec: &NetworkSpec) -> bool {
    spec.switches.iter().any(|switch| switch.congestion_point.is_some())
        || spec.flows.iter().any(|flow| {
            flow.requeue_oracle.is_some()
                || flow.added() > Bytes::ZERO
                || flow.is_reliable()
                || flow.reaction.tag_size() > Bytes::ZERO
        })
}

impl Places {
    /// `home` is the shard of each host, and `order` the hosts in the order in which they are laid out.
    pub(crate) fn new(spec: &NetworkSpec, home: &[u32], order: &[u32], shards: usize) -> Places {
        let anywhere = |destination: &Destination| matches!(destination, Destination::Uniform);
        let everywhere: Vec<u32> =
            (0..).zip(&spec.flows).filter(|(_, flow)| anywhere(&flow.destination)).map(|(number, _)| number).collect();
        let mut sinks = vec![everywhere; shards];
        let mut uniform = 0;
        let sink = (0..).zip(&spec.flows).map(|(number, flow)| match &flow.destination {
            Destination::Host(host) => {
                let shard = home[host.0 as usize];
                let list = &mut sinks[shard as usize];
                list.push(number);
                list.len() as u32 - 1
            }
            Destination::Uniform => {
                uniform += 1;
                uniform - 1
            }
        });
        let sink = sink.collect::<Vec<u32>>().into();

        let mut per_host = vec![0; home.len()];
        spec.flows.iter().for_each(|flow| per_host[flow.source.0 as usize] += 1);
        let mut rank = vec![0; home.len()];
        (0..).zip(order).for_each(|(place, &host)| rank[host as usize] = place);
        let waits = |flow: u32| spec.dependencies.waits(flow);
        let mut flows: Vec<u32> = (0..spec.flows.len() as u32).collect();
        flows.sort_unstable_by_key(|&flow| {
            let spec = &spec.flows[flow as usize];
            (rank[spec.source.0 as usize], waits(flow), spec.start, flow)
        });
        let mut sources: Vec<Vec<u32>> = vec![Vec::new(); shards];
        let mut source = vec![0; flows.len()];
        for flow in flows {
            let shard = home[spec.flows[flow as usize].source.0 as usize];
            let list = &mut sources[shard as usize];
            source[flow as usize] = list.len() as u32;
            list.push(flow);
        }
        Places { source: source.into(), sink, home: home.to_vec(), passing: Vec::new(), sinks, sources, per_host }
    }

    /// What of the places concerns the rank with those shards.
    pub(crate) fn part(&self, spec: &NetworkSpec, own: &Range<u32>) -> Places {
        let keep = |flow: usize| self.is_on(spec, flow, own);
        let lists = |lists: &[Vec<u32>]| {
            (0..).zip(lists).map(|(shard, list)| if own.contains(&shard) { list.clone() } else { Vec::new() }).collect()
        };
        Places {
            source: self.source.part(keep),
            sink: self.sink.part(keep),
            passing: match switches_know_flows(spec) {
                true => spec.flows.iter().map(|flow| Origin::new(flow, self.home(flow))).collect(),
                false => Vec::new(),
            },
            home: self.home.clone(),
            sinks: lists(&self.sinks),
            sources: lists(&self.sources),
            per_host: Vec::new(),
        }
    }

    /// Whether a flow starts or may end in one of those shards.
    pub(crate) fn is_on(&self, spec: &NetworkSpec, flow: usize, own: &Range<u32>) -> bool {
        let flow = &spec.flows[flow];
        let ends = match &flow.destination {
            Destination::Host(host) => own.contains(&self.home[host.0 as usize]),
            Destination::Uniform => true,
        };
        ends || own.contains(&self.home(flow))
    }

    /// The shard in which a flow starts.
    pub(crate) fn home(&self, flow: &FlowSpec) -> u32 {
        self.home[flow.source.0 as usize]
    }

    /// The telemetry of a flow that passes a switch, as in [`Places::origin`].
    pub(crate) fn telemetry(&self, plan: &NetworkPlan, flow: u32) -> Option<TelemetrySpec> {
        match plan.flows.get(flow as usize) {
            Some(spec) => spec.telemetry,
            None => self.passing.get(flow as usize)?.telemetry,
        }
    }

    /// What a switch may have to know of a flow that passes it; nothing of a flow on other ranks if switches need not.
    pub(crate) fn origin(&self, plan: &NetworkPlan, flow: u32) -> Option<Origin> {
        match plan.flows.get(flow as usize) {
            Some(spec) => Some(Origin::new(spec, self.home(spec))),
            None => self.passing.get(flow as usize).copied(),
        }
    }

    /// The flows that may end in a shard, in the order of its list of what is received.
    pub(crate) fn sinks(&self, shard: u32) -> &[u32] {
        &self.sinks[shard as usize]
    }

    /// What the destinations in a shard have seen of the flows that end there: nothing yet. Most have no state until
    /// something arrives.
    pub(crate) fn received(&self, spec: &NetworkSpec, shard: u32) -> Live<Received> {
        let mut received = Live::default();
        for flow in self.sinks(shard).iter().map(|&flow| &spec.flows[flow as usize]) {
            if flow.lasts_at_destination() {
                received.push(Received::of(flow));
            } else {
                received.push_away(0);
            }
        }
        received
    }
}
