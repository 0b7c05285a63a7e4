//! Max-min fair shares, computed from the plan. Their changes over a run are in [`super::phases`].
//!
//! The demand of a flow is its rate while it is on, or unlimited, but never more than the rate limit of its congestion
//! control. Bursts of random lengths count by their mean.
//!
//! Where flows of several classes share a link, the link's scheduler determines the share of each class
//! ([`theory::classes`]).

use super::paths::Walker;
use super::scheduler::Schedulers;
use crate::plan::Plan;
use congestion::ReactionPoint;
use fabric::spec::AdapterSpec;
use fabric::workload::{Activity, Destination, FlowSpec, Pattern};
use std::collections::{BTreeMap, BTreeSet};
use theory::classes;
use theory::max_min::{Flow, Limit, max_min};
use units::{Bytes, Rate, Span, Time};

/// Maximum number of flows for which fair shares are computed.
pub(super) const MOST_FLOWS: usize = 50_000;

/// Maximum number of instants at which bursts begin or end that are considered.
const MOST_CHANGES: usize = 20_000_000;

/// The max-min fair share of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FairShare {
    /// Index of the flow in the plan.
    pub flow: u32,
    /// Bits per second of frames, excluding overhead.
    pub throughput: f64,
    /// Greater than `throughput` if links that weigh classes differently make the fair share ambiguous: any value
    /// between the two may then be fair.
    pub most: f64,
    /// The bottleneck link of the flow, as `from -> to`; `None` if its demand is met.
    pub bottleneck: Option<String>,
}

/// Returns the number of bytes on the wire per byte of a flow's frames.
pub(super) fn expansion(plan: &Plan, flow: &FlowSpec) -> f64 {
    let frame = flow.frame.max(Bytes::new(1)).get();
    (frame.max(plan.spec.smallest_frame.get()) + plan.spec.overhead.get()) as f64 / frame as f64
}

/// Returns the offered load of a flow on the wire while it is on; `None` is unlimited.
fn while_on(flow: &FlowSpec) -> Option<f64> {
    let own = match flow.pattern {
        Pattern::Greedy => None,
        Pattern::Paced { rate, .. } => Some(rate.as_bits_per_sec() as f64),
    };
    // A source that reacts may come to any rate up to the one it is stated never to exceed.
    let limit = flow.reaction.ceiling().map(|rate| rate.as_bits_per_sec() as f64);
    match (own, limit) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Returns the mean offered load of a flow on the wire over its lifetime; `None` is unlimited.
pub(super) fn demand(plan: &Plan, flow: &FlowSpec) -> Option<f64> {
    let most = while_on(flow);
    match flow.activity {
        Activity::Always => most,
        Activity::OnOff { on, off, .. } => {
            let part = on.as_secs_f64() / (on.as_secs_f64() + off.as_secs_f64());
            Some(most.unwrap_or_else(|| link_rate(plan, flow)) * part)
        }
    }
}

/// Returns the rate of the sender's cable.
fn link_rate(plan: &Plan, flow: &FlowSpec) -> f64 {
    let host = plan.spec.graph.hosts().get(flow.source.0 as usize).copied();
    let cables = plan.spec.graph.cables.iter();
    let mine = cables.filter(|cable| Some(cable.a) == host || Some(cable.b) == host);
    mine.map(|cable| cable.link.rate.as_bits_per_sec() as f64).fold(0.0, f64::max)
}

/// Returns bursts of fixed lengths: their start, their length, and the gap between them.
fn bursts(flow: &FlowSpec) -> Option<(Time, Span, Span)> {
    match flow.activity {
        Activity::OnOff { on, off, random: false, .. } if on > Span::ZERO && off > Span::ZERO => {
            Some((flow.start, on, off))
        }
        _ => None,
    }
}

/// Returns the demand of a flow from an instant on, until the next change: none, a rate, or unlimited.
pub(super) fn asks(plan: &Plan, flow: &FlowSpec, at: Time) -> Option<Option<f64>> {
    if at < flow.start || flow.stop.is_some_and(|stop| at >= stop) {
        return None;
    }
    let Some((start, on, off)) = bursts(flow) else { return Some(demand(plan, flow)) };
    let into = at.saturating_since(start).as_picos() % (on + off).as_picos();
    (into < on.as_picos()).then(|| while_on(flow))
}

/// Returns the rate at which a receiver consumes from an instant on; `None` is unlimited.
fn service(adapter: &AdapterSpec, at: Time) -> Option<Rate> {
    let changes = adapter.service_changes.iter().filter(|(when, _)| *when <= at);
    changes.max_by_key(|(when, _)| *when).map_or(adapter.service, |(_, rate)| *rate)
}

/// The flows of a plan on its links.
pub(super) struct Ground<'a> {
    plan: &'a Plan,
    /// Every flow with a single destination: its index and its links. One that leaves its host by several ports is
    /// there once for each, one after the other.
    pub(super) flows: Vec<(usize, Vec<u32>)>,
    /// Every link: its rate, and the adapter it leads to.
    links: Vec<(u32, Rate, Option<&'a AdapterSpec>)>,
    names: BTreeMap<u32, String>,
    /// If a link carries several classes: the scheduler of each link, and the class of every flow.
    classed: Option<(BTreeMap<u32, classes::Scheduler>, Vec<u8>)>,
}

impl<'a> Ground<'a> {
    /// Returns `None` if a flow has no path or there are too many flows.
    pub(super) fn new(plan: &'a Plan, walker: &Walker<'_>) -> Option<Ground<'a>> {
        let spec = &plan.spec;
        if spec.flows.is_empty() || spec.flows.len() > MOST_FLOWS {
            return None;
        }
        let flows = links_of(plan, walker)?;
        let hosts: BTreeSet<u32> = spec.graph.hosts().iter().map(|node| node.0).collect();
        let mut links = Vec::new();
        let mut names = BTreeMap::new();
        for (channel, node, end) in walker.channels() {
            let kind = spec.kind_of.get(end.peer.0 as usize).filter(|_| hosts.contains(&end.peer.0));
            let adapter = kind.and_then(|&kind| spec.adapters.get(kind as usize));
            links.push((channel, spec.graph.cables[end.cable as usize].link.rate, adapter));
            names.insert(channel, format!("{} -> {}", walker.name(node), walker.name(end.peer)));
        }
        let classed = match class_by_class(plan, walker, &flows) {
            Classed::No => None,
            Classed::Yes(schedulers, classes) => Some((schedulers, classes)),
            Classed::Unknown => return None,
        };
        Some(Ground { plan, flows, links, names, classed })
    }

    /// Returns whether links distinguish classes, which takes more rounds.
    pub(super) fn is_classed(&self) -> bool {
        self.classed.is_some()
    }

    /// Returns the shares for the given demand of each flow, by index, with the receivers' rates at that instant.
    pub(super) fn shares(
        &self,
        at: Time,
        asks: impl Fn(usize, &FlowSpec) -> Option<Option<f64>>,
    ) -> Option<Vec<FairShare>> {
        let mut numbers = Vec::new();
        let mut flows = Vec::new();
        for paths in self.flows.chunk_by(|one, next| one.0 == next.0) {
            let number = paths[0].0;
            // When a flow that waits for others is active is a result of the run.
            if self.plan.spec.dependencies.waits(number as u32) {
                continue;
            }
            let Some(demand) = asks(number, &self.plan.spec.flows[number]) else { continue };
            let demand = demand.map(|demand| Rate::from_bits_per_sec((demand / paths.len() as f64) as u64));
            for (_, links) in paths {
                numbers.push(number);
                flows.push(Flow { links: links.clone(), demand, weight: 1.0 });
            }
        }
        let capacity = |(channel, rate, adapter): &(u32, Rate, Option<&AdapterSpec>)| {
            let consumed = adapter.and_then(|adapter| service(adapter, at));
            (*channel, consumed.map_or(*rate, |consumed| consumed.min(*rate)))
        };
        // Of a large network a few flows cross few links.
        let crossed: BTreeSet<u32> = flows.iter().flat_map(|flow| flow.links.iter().copied()).collect();
        let capacities: Vec<(u32, Rate)> =
            self.links.iter().filter(|link| crossed.contains(&link.0)).map(capacity).collect();
        if let Some((schedulers, of_flow)) = &self.classed {
            return Some(summed(self.classed_shares(schedulers, of_flow, &capacities, &numbers, &flows)));
        }
        let shares = max_min(&capacities, &flows).ok()?;
        let share = |(number, share): (usize, theory::max_min::Allocation<u32>)| FairShare {
            flow: number as u32,
            throughput: share.rate / expansion(self.plan, &self.plan.spec.flows[number]),
            most: share.rate / expansion(self.plan, &self.plan.spec.flows[number]),
            bottleneck: match share.limit {
                Limit::Link(link) => self.names.get(&link).cloned(),
                Limit::Demand => None,
            },
        };
        Some(summed(numbers.into_iter().zip(shares).map(share).collect()))
    }

    /// Returns the shares if links distinguish classes.
    fn classed_shares(
        &self,
        schedulers: &BTreeMap<u32, classes::Scheduler>,
        of_flow: &[u8],
        capacities: &[(u32, Rate)],
        numbers: &[usize],
        flows: &[Flow<u32>],
    ) -> Vec<FairShare> {
        let place: BTreeMap<u32, usize> = schedulers.keys().copied().zip(0..).collect();
        let capacity: BTreeMap<u32, Rate> = capacities.iter().copied().collect();
        let link = |(channel, scheduler): (&u32, &classes::Scheduler)| classes::Link {
            capacity: capacity.get(channel).map_or(0.0, |rate| rate.as_bits_per_sec() as f64),
            scheduler: scheduler.clone(),
        };
        let links: Vec<classes::Link> = schedulers.iter().map(link).collect();
        let flow = |(&number, flow): (&usize, &Flow<u32>)| classes::Flow {
            links: flow.links.iter().filter_map(|link| place.get(link).copied()).collect(),
            class: of_flow[number],
            demand: flow.demand.map(|rate| rate.as_bits_per_sec() as f64),
        };
        let flows: Vec<classes::Flow> = numbers.iter().zip(flows).map(flow).collect();
        let channels: Vec<u32> = schedulers.keys().copied().collect();
        let share = |(&number, share): (&usize, classes::ShareBounds)| {
            let frames = expansion(self.plan, &self.plan.spec.flows[number]);
            let throughput = if share.is_known() { share.most } else { share.least };
            FairShare {
                flow: number as u32,
                throughput: throughput / frames,
                most: share.most / frames,
                bottleneck: share.limit.and_then(|link| self.names.get(&channels[link]).cloned()),
            }
        };
        numbers.iter().zip(classes::fair(&links, &flows)).map(share).collect()
    }

    /// Returns the instants at which demands or consumption may change, including the start of the run.
    pub(super) fn changes(&self) -> BTreeSet<Time> {
        let end = Time::ZERO + self.plan.run.duration;
        let mut all = BTreeSet::from([Time::ZERO]);
        for (number, _) in &self.flows {
            let flow = &self.plan.spec.flows[*number];
            all.insert(flow.start);
            all.extend(flow.stop);
            let Some((start, on, off)) = bursts(flow) else { continue };
            let mut at = start;
            while at < flow.stop.unwrap_or(end).min(end) && all.len() < MOST_CHANGES {
                all.extend([at, at + on]);
                at = at + on + off;
            }
        }
        let adapters = self.links.iter().filter_map(|(_, _, adapter)| *adapter);
        all.extend(adapters.flat_map(|adapter| adapter.service_changes.iter().map(|(at, _)| *at)));
        all.retain(|&at| at < end);
        all
    }
}

/// Adds the shares of a flow that leaves its host by several ports.
fn summed(mut shares: Vec<FairShare>) -> Vec<FairShare> {
    shares.dedup_by(|next, sum| {
        let same = next.flow == sum.flow;
        if same {
            (sum.throughput, sum.most) = (sum.throughput + next.throughput, sum.most + next.most);
            sum.bottleneck = sum.bottleneck.take().or(next.bottleneck.take());
        }
        same
    });
    shares
}

/// Returns every flow with a single destination and its relevant links; `None` if one has no path.
fn links_of(plan: &Plan, walker: &Walker<'_>) -> Option<Vec<(usize, Vec<u32>)>> {
    let mut flows = Vec::new();
    for (number, flow) in plan.spec.flows.iter().enumerate() {
        let Destination::Host(to) = flow.destination else { continue };
        for hops in walker.paths_of(plan, number, flow, to).ok()? {
            let mut links: Vec<u32> = hops.iter().map(|&(node, port)| walker.channel(node, port)).collect();
            if Walker::sprays(plan) && links.len() > 2 {
                links = vec![links[0], links[links.len() - 1]];
            }
            flows.push((number, links));
        }
    }
    Some(flows)
}

/// Whether links distinguish the flows' classes.
enum Classed {
    /// No link carries more than one class.
    No,
    /// The schedulers of the links that carry flows, and the class of every flow.
    Yes(BTreeMap<u32, classes::Scheduler>, Vec<u8>),
    /// A link carries several classes with a scheduler that cannot be expressed in shares.
    Unknown,
}

fn class_by_class(plan: &Plan, walker: &Walker<'_>, flows: &[(usize, Vec<u32>)]) -> Classed {
    let schedulers = Schedulers::new(plan);
    let of_flow: Vec<u8> = plan.spec.flows.iter().map(|flow| schedulers.class(flow.class)).collect();
    let mut carried: BTreeMap<u32, BTreeSet<u8>> = BTreeMap::new();
    for (number, links) in flows {
        links.iter().for_each(|link| {
            carried.entry(*link).or_default().insert(of_flow[*number]);
        });
    }
    if carried.values().all(|classes| classes.len() < 2) {
        return Classed::No;
    }
    let mut known = BTreeMap::new();
    for (channel, node, _) in walker.channels() {
        let Some(classes) = carried.get(&channel) else { continue };
        let port = (channel - walker.channel(node, 0)) as u16;
        let scheduler = match classes.first() {
            Some(&only) if classes.len() == 1 => Some(classes::Scheduler::strict([only])),
            _ => schedulers.of(node, port),
        };
        match scheduler {
            Some(scheduler) => known.insert(channel, scheduler),
            None => return Classed::Unknown,
        };
    }
    Classed::Yes(known, of_flow)
}

/// Returns whether fair shares are undefined because a scheduler cannot be expressed in shares.
pub(super) fn is_untold(plan: &Plan, walker: &Walker<'_>) -> bool {
    links_of(plan, walker).is_some_and(|flows| matches!(class_by_class(plan, walker, &flows), Classed::Unknown))
}

/// Returns the max-min fair shares of all flows with a single destination, as if all were active at once and bursts
/// were spread out evenly.
///
/// If frames are sprayed over many paths, only the hosts' own links count. Flows with an ambiguous share are omitted.
/// Returns `None` if there are too many flows.
#[must_use]
pub fn fair_shares(plan: &Plan) -> Option<Vec<FairShare>> {
    let mut shares = steady_shares(plan, &Walker::new(&plan.spec.graph))?;
    shares.retain(|share| share.throughput == share.most);
    Some(shares)
}

/// Returns the fair shares including ambiguous ones.
pub(super) fn steady_shares(plan: &Plan, walker: &Walker<'_>) -> Option<Vec<FairShare>> {
    Ground::new(plan, walker)?.shares(Time::ZERO, |_, flow| Some(demand(plan, flow)))
}

/// Returns the fair shares as if only flows without a size were active.
pub(super) fn lasting_shares(plan: &Plan, walker: &Walker<'_>) -> Option<Vec<FairShare>> {
    Ground::new(plan, walker)?.shares(Time::ZERO, |_, flow| flow.size.is_none().then(|| demand(plan, flow)))
}
