//! The shares that a network fair to all would give: max-min, computed from the plan. How they change over a run is in
//! [`super::phases`].
//!
//! A flow asks for its rate while it is on, or for all there is, but never for more than the rate limit that its
//! congestion control states. Bursts of random lengths count by their mean.
//!
//! Where flows of several classes share a link, the link's scheduler says what each class has ([`theory::classes`]).

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

/// Beyond so many flows the fair shares are not computed.
pub(super) const MOST_FLOWS: usize = 50_000;

/// Beyond so many instants at which bursts begin or end no others are looked for.
const MOST_CHANGES: usize = 20_000_000;

/// What a flow would get of a network that is fair to all.
#[derive(Clone, Debug, PartialEq)]
pub struct FairShare {
    /// Position of the flow in the plan.
    pub flow: u32,
    /// Bits per second of frames, overhead not counted.
    pub throughput: f64,
    /// More than `throughput` where links that weigh classes differently leave it open what is fair: then any share from
    /// the one to the other may be.
    pub most: f64,
    /// The link that stops it from getting more, as `from -> to`; `None` if it has all that it offers.
    pub bottleneck: Option<String>,
}

/// Bytes on the wire for one byte of a flow's frames.
pub(super) fn expansion(plan: &Plan, flow: &FlowSpec) -> f64 {
    let frame = flow.frame.max(Bytes::new(1)).get();
    (frame.max(plan.spec.smallest_frame.get()) + plan.spec.overhead.get()) as f64 / frame as f64
}

/// What a flow offers on the wire while it is on; `None` is as much as there is.
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

/// What a flow offers on the wire on average while it lasts; `None` is as much as there is.
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

/// The rate of the sender's cable.
fn link_rate(plan: &Plan, flow: &FlowSpec) -> f64 {
    let host = plan.spec.graph.hosts().get(flow.source.0 as usize).copied();
    let cables = plan.spec.graph.cables.iter();
    let mine = cables.filter(|cable| Some(cable.a) == host || Some(cable.b) == host);
    mine.map(|cable| cable.link.rate.as_bits_per_sec() as f64).fold(0.0, f64::max)
}

/// Bursts of exact lengths: when they begin, how long they last, and how long there is nothing.
fn bursts(flow: &FlowSpec) -> Option<(Time, Span, Span)> {
    match flow.activity {
        Activity::OnOff { on, off, random: false, .. } if on > Span::ZERO && off > Span::ZERO => {
            Some((flow.start, on, off))
        }
        _ => None,
    }
}

/// What a flow asks for from an instant on, until something changes: nothing, a rate, or all there is.
pub(super) fn asks(plan: &Plan, flow: &FlowSpec, at: Time) -> Option<Option<f64>> {
    if at < flow.start || flow.stop.is_some_and(|stop| at >= stop) {
        return None;
    }
    let Some((start, on, off)) = bursts(flow) else { return Some(demand(plan, flow)) };
    let into = at.saturating_since(start).as_picos() % (on + off).as_picos();
    (into < on.as_picos()).then(|| while_on(flow))
}

/// How fast a receiver consumes from an instant on; `None` is at once.
fn service(adapter: &AdapterSpec, at: Time) -> Option<Rate> {
    let changes = adapter.service_changes.iter().filter(|(when, _)| *when <= at);
    changes.max_by_key(|(when, _)| *when).map_or(adapter.service, |(_, rate)| *rate)
}

/// The flows of a plan on its links.
pub(super) struct Ground<'a> {
    plan: &'a Plan,
    /// For every flow with one destination: its number and its links.
    pub(super) flows: Vec<(usize, Vec<u32>)>,
    /// Every link: its rate, and the adapter it leads to.
    links: Vec<(u32, Rate, Option<&'a AdapterSpec>)>,
    names: BTreeMap<u32, String>,
    /// If some link carries several classes: how each of its links divides itself, and the class of every flow.
    classed: Option<(BTreeMap<u32, classes::Scheduler>, Vec<u8>)>,
}

impl<'a> Ground<'a> {
    /// `None` if a flow has no path or there are too many of them.
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

    /// Whether links tell classes apart, which takes more rounds.
    pub(super) fn is_classed(&self) -> bool {
        self.classed.is_some()
    }

    /// The shares if each flow, by its number, asks for that much, and receivers are as they are at that instant.
    pub(super) fn shares(
        &self,
        at: Time,
        asks: impl Fn(usize, &FlowSpec) -> Option<Option<f64>>,
    ) -> Option<Vec<FairShare>> {
        let mut numbers = Vec::new();
        let mut flows = Vec::new();
        for (number, links) in &self.flows {
            let Some(demand) = asks(*number, &self.plan.spec.flows[*number]) else { continue };
            let demand = demand.map(|demand| Rate::from_bits_per_sec(demand as u64));
            numbers.push(*number);
            flows.push(Flow { links: links.clone(), demand, weight: 1.0 });
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
            return Some(self.classed_shares(schedulers, of_flow, &capacities, &numbers, &flows));
        }
        let shares = max_min(&capacities, &flows).ok()?;
        let share = |(number, share): (usize, theory::max_min::Share<u32>)| FairShare {
            flow: number as u32,
            throughput: share.rate / expansion(self.plan, &self.plan.spec.flows[number]),
            most: share.rate / expansion(self.plan, &self.plan.spec.flows[number]),
            bottleneck: match share.limit {
                Limit::Link(link) => self.names.get(&link).cloned(),
                Limit::Demand => None,
            },
        };
        Some(numbers.into_iter().zip(shares).map(share).collect())
    }

    /// The same where links tell classes apart.
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
        let share = |(&number, share): (&usize, classes::Share)| {
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

    /// The instants at which what flows ask for or receivers consume may change, the start of the run among them.
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

/// Every flow with one destination and the links that count for it; `None` if one has no path.
fn links_of(plan: &Plan, walker: &Walker<'_>) -> Option<Vec<(usize, Vec<u32>)>> {
    let mut flows = Vec::new();
    for (number, flow) in plan.spec.flows.iter().enumerate() {
        let Destination::Host(to) = flow.destination else { continue };
        let hops = walker.path_of(plan, number, flow, to).ok()?;
        let mut links: Vec<u32> = hops.iter().map(|&(node, port)| walker.channel(node, port)).collect();
        if Walker::sprays(plan) && links.len() > 2 {
            links = vec![links[0], links[links.len() - 1]];
        }
        flows.push((number, links));
    }
    Some(flows)
}

/// Whether links tell the flows' classes apart.
enum Classed {
    /// No link carries more than one class.
    No,
    /// How the links that carry anything divide themselves, and the class of every flow.
    Yes(BTreeMap<u32, classes::Scheduler>, Vec<u8>),
    /// A link that carries several does so in a way that is not one of shares.
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

/// Whether fair shares cannot be told because a link divides itself among classes in a way that is not one of shares.
pub(super) fn is_untold(plan: &Plan, walker: &Walker<'_>) -> bool {
    links_of(plan, walker).is_some_and(|flows| matches!(class_by_class(plan, walker, &flows), Classed::Unknown))
}

/// The max-min fair shares of all flows with one destination, as if all were there at once and bursts were spread out.
///
/// With frames sprayed over many paths only the hosts' own links count. Flows whose share is open are left out. `None` if
/// there are too many flows.
#[must_use]
pub fn fair_shares(plan: &Plan) -> Option<Vec<FairShare>> {
    let mut shares = steady_shares(plan, &Walker::new(&plan.spec.graph))?;
    shares.retain(|share| share.throughput == share.most);
    Some(shares)
}

/// The same with those whose share is open.
pub(super) fn steady_shares(plan: &Plan, walker: &Walker<'_>) -> Option<Vec<FairShare>> {
    Ground::new(plan, walker)?.shares(Time::ZERO, |_, flow| Some(demand(plan, flow)))
}

/// The same as if only flows without a size were there.
pub(super) fn lasting_shares(plan: &Plan, walker: &Walker<'_>) -> Option<Vec<FairShare>> {
    Ground::new(plan, walker)?.shares(Time::ZERO, |_, flow| flow.size.is_none().then(|| demand(plan, flow)))
}
