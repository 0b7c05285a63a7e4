//! Where the state of each flow lies: at its source, and where its frames are consumed.
//!
//! A flow has a source and mostly one destination, so a shard keeps state for the flows that begin or end in it and for
//! no other: memory does not grow with the number of shards. Flows whose every frame chooses a destination may end
//! anywhere; they come first in every shard's list.

use crate::build::plan::NetworkPlan;
use crate::build::sparse::Sparse;
use crate::describe::spec::NetworkSpec;
use crate::describe::workload::{Destination, FlowSpec, TelemetrySpec};
use crate::machine::network::Received;
use congestion::ReactionPoint;
use std::ops::Range;
use units::{Bytes, Span};

/// A shard, and a position in one of its lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) shard: u32,
    pub(crate) slot: u32,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Places {
    /// By flow: its position in [`crate::machine::network::Network::flows`]. Of a rank: flows that start or end there.
    pub(crate) source: Sparse<Place>,
    /// By flow: its position in [`crate::machine::network::Network::received`]. Of a flow without a destination of its
    /// own the shard means nothing: it has that position in all.
    pub(crate) sink: Sparse<Place>,
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
                Destination::Uniform(_) => None,
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
        let anywhere = |destination: &Destination| matches!(destination, Destination::Uniform(_));
        let everywhere: Vec<u32> =
            (0..).zip(&spec.flows).filter(|(_, flow)| anywhere(&flow.destination)).map(|(number, _)| number).collect();
        let mut sinks = vec![everywhere; shards];
        let mut uniform = 0;
        let sink = (0..).zip(&spec.flows).map(|(number, flow)| match &flow.destination {
            Destination::Host(host) => {
                let shard = home[host.0 as usize];
                let list = &mut sinks[shard as usize];
                list.push(number);
                Place { shard, slot: list.len() as u32 - 1 }
            }
            Destination::Uniform(_) => {
                uniform += 1;
                Place { shard: 0, slot: uniform - 1 }
            }
        });
        let sink = sink.collect::<Vec<Place>>().into();

        let mut per_host = vec![0; home.len()];
        spec.flows.iter().for_each(|flow| per_host[flow.source.0 as usize] += 1);
        let mut rank = vec![0; home.len()];
        (0..).zip(order).for_each(|(place, &host)| rank[host as usize] = place);
        let waits = |flow: u32| spec.dependencies.waits(flow);
        let mut flows: Vec<u32> = (0..spec.flows.len() as u32).collect();
        flows.sort_by_key(|&flow| {
            let spec = &spec.flows[flow as usize];
            (rank[spec.source.0 as usize], waits(flow), spec.start, flow)
        });
        let mut sources: Vec<Vec<u32>> = vec![Vec::new(); shards];
        let mut source = vec![Place::default(); flows.len()];
        for flow in flows {
            let shard = home[spec.flows[flow as usize].source.0 as usize];
            let list = &mut sources[shard as usize];
            source[flow as usize] = Place { shard, slot: list.len() as u32 };
            list.push(flow);
        }
        Places { source: source.into(), sink, passing: Vec::new(), sinks, sources, per_host }
    }

    /// What of the places concerns the rank with those shards.
    pub(crate) fn part(&self, spec: &NetworkSpec, own: &Range<u32>) -> Places {
        let keep = |flow: usize| self.is_on(spec, flow, own);
        let lists = |lists: &[Vec<u32>]| {
            (0..).zip(lists).map(|(shard, list)| if own.contains(&shard) { list.clone() } else { Vec::new() }).collect()
        };
        let origin = |(spec, source): (&FlowSpec, &Place)| Origin::new(spec, source.shard);
        Places {
            source: self.source.part(keep),
            sink: self.sink.part(keep),
            passing: match switches_know_flows(spec) {
                true => spec.flows.iter().zip(self.source.iter()).map(origin).collect(),
                false => Vec::new(),
            },
            sinks: lists(&self.sinks),
            sources: Vec::new(),
            per_host: Vec::new(),
        }
    }

    /// Whether a flow starts or may end in one of those shards.
    pub(crate) fn is_on(&self, spec: &NetworkSpec, flow: usize, own: &Range<u32>) -> bool {
        let anywhere = matches!(spec.flows[flow].destination, Destination::Uniform(_));
        anywhere || own.contains(&self.source[flow].shard) || own.contains(&self.sink[flow].shard)
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
        match (plan.flows.get(flow as usize), self.source.get(flow as usize)) {
            (Some(spec), Some(source)) => Some(Origin::new(spec, source.shard)),
            _ => self.passing.get(flow as usize).copied(),
        }
    }

    /// The flows that may end in a shard, in the order of its list of what is received.
    pub(crate) fn sinks(&self, shard: u32) -> &[u32] {
        &self.sinks[shard as usize]
    }

    /// What the destinations in a shard have seen of the flows that end there: nothing yet.
    pub(crate) fn received(&self, spec: &NetworkSpec, shard: u32) -> Vec<Received> {
        let entry = |&flow: &u32| {
            let flow = &spec.flows[flow as usize];
            // Of a flow that ends in many places none can know that it is complete.
            let own = matches!(flow.destination, Destination::Host(_));
            Received {
                acknowledged: flow.acknowledge.is_some() && flow.sink().is_none(),
                size: flow.size.filter(|_| own).map_or(u64::MAX, |size| size.get()),
                ..Received::default()
            }
        };
        self.sinks(shard).iter().map(entry).collect()
    }
}
