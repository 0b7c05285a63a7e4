//! Finite flows that arrive at random: their gaps, sizes, ends, and the load that they offer.

use super::traffic::Work;
use crate::problem::Problem;
use crate::resolve::Gathered;
use fabric::graph::{HostId, NodeId, Role};
use fabric::workload::{self, Arrivals, FlowGaps, FlowSize, FlowSpec, Locality, MeasuredSizes};
use std::collections::{BTreeMap, BTreeSet};
use theory::max_flow::{Link, max_flow};
use units::{Bytes, Span, Time};

impl Work<'_> {
    pub(super) fn poisson(&self, gathered: &mut Gathered<'_>, template: &FlowSpec) -> Option<Vec<FlowSpec>> {
        let entry = self.entry;
        let (from, to) = (self.hosts(gathered, "from"), self.hosts(gathered, "to"));
        let (from, to) = (from?, to?);
        let (size, mean) = self.flow_size()?;
        if from.len() == 1 && from == to {
            gathered.refuse(entry.place_of("to"), "the destination is the source", "name another host");
            return None;
        }
        let locality = self.locality(gathered, (&from, &to))?;
        let gaps = match entry.text("arrivals")?.as_str() {
            "log-normal" => FlowGaps::LogNormal(entry.number("sigma")?),
            _ => FlowGaps::Exponential,
        };
        let mean_gap = match (entry.time("mean_gap"), entry.number("load")) {
            (Some(_), Some(_)) => {
                let problem = Problem::new(entry.place_of("load"), "both `mean_gap` and `load` are given", "keep one");
                gathered.problems.push(problem.and(entry.place_of("mean_gap"), "the other"));
                return None;
            }
            (Some(gap), None) => gap,
            (None, Some(load)) => {
                self.gap_for(gathered, load, mean, template.frame, (&from, &to), locality.as_ref())?
            }
            (None, None) if entry.given("mean_gap") || entry.given("load") => return None,
            (None, None) => {
                gathered.refuse(entry.place, "the arrival rate is missing", "add `load = 0.5` or `mean_gap`");
                return None;
            }
        };
        let key = if entry.has("load") { "load" } else { "mean_gap" };
        if mean_gap == Span::ZERO || mean_gap > crate::key::LONGEST {
            let message = "the arrival rate is zero or infinite";
            gathered.refuse(entry.place_of(key), message, "give a finite mean gap or load above zero");
            return None;
        }
        let until = template.stop.unwrap_or(Time::ZERO + self.subject.run.duration);
        let arrivals = Arrivals { from: template.start, mean_gap, gaps, until };
        let span = until.saturating_since(template.start).as_picos();
        let expected = span / mean_gap.as_picos();
        self.fits(gathered, expected)?;
        let template = template.clone().with(|profile| profile.stop = None);
        let drawn = workload::poisson(&from, &to, locality.as_ref(), arrivals, &size, &template, self.seed);
        // Room for all of them: a vector of millions would otherwise be copied while it grows. The number of Poisson
        // arrivals has a deviation of its square root; that of others is checked again as they are drawn.
        let mut checked = expected + 4 * expected.isqrt();
        let most_reserved = 1 << 24;
        let mut flows = Vec::with_capacity(checked.min(most_reserved) as usize);
        for flow in drawn {
            if flows.len() as u64 == checked {
                checked += checked / 4 + 1;
                self.fits(gathered, checked)?;
            }
            flows.push(flow);
        }
        Some(flows)
    }

    /// Returns the distribution of sizes and its mean in bytes.
    pub(super) fn flow_size(&self) -> Option<(FlowSize, f64)> {
        let entry = self.entry;
        match entry.text("sizes")?.as_str() {
            "empirical" => {
                let cdf = self.attachments.distribution(entry.place_of("cdf"))?;
                let mean = cdf.mean();
                Some((FlowSize::Empirical(cdf), mean))
            }
            "pareto" => {
                let mean = entry.size("flow_size")?;
                Some((FlowSize::Pareto { shape: entry.number("shape")?, mean }, mean.get() as f64))
            }
            name if MeasuredSizes::named(name).is_some() => {
                let cdf = MeasuredSizes::named(name)?.distribution();
                let mean = cdf.mean();
                Some((FlowSize::Empirical(cdf), mean))
            }
            _ => {
                let size = entry.size("flow_size")?;
                Some((FlowSize::Fixed(size), size.get() as f64))
            }
        }
    }

    /// Returns the gap at which flows of that mean size load what `load_of` names to that fraction.
    fn gap_for(
        &self,
        gathered: &mut Gathered<'_>,
        load: f64,
        mean: f64,
        frame: Bytes,
        ends: (&[HostId], &[HostId]),
        locality: Option<&Locality>,
    ) -> Option<Span> {
        let of = self.entry.text("load_of")?;
        // The capacity, and the part of all bits that it carries.
        let (capacity, part) = match of.as_str() {
            "racks" => self.uplinks(ends, locality),
            "bisection" => self.bisection(ends, locality),
            _ => (self.host_links(ends.0), 1.0),
        };
        if capacity <= 0.0 || part <= 0.0 {
            let message = match of.as_str() {
                "racks" => "no flow leaves its rack by a link between switches",
                _ => "no flow crosses between the halves of the network",
            };
            let help = "name more hosts, change `locality`, or load the links of hosts: load_of = \"hosts\"";
            gathered.refuse(self.entry.place_of("load_of"), message, help);
            return None;
        }
        let frames = mean / frame.get().max(1) as f64;
        let bits = (mean + frames.max(1.0) * self.subject.overhead.get() as f64) * 8.0;
        let seconds = bits * part / (load * capacity);
        // A cast of what is out of range saturates; both ends are refused by the caller.
        Some(Span::from_picos((seconds * 1e12) as u64))
    }

    /// The rates of the senders' links in bits per second.
    fn host_links(&self, from: &[HostId]) -> f64 {
        let hosts = self.subject.graph.hosts();
        let mut sends = vec![false; self.subject.graph.nodes.len()];
        from.iter().for_each(|host| sends[hosts[host.0 as usize].0 as usize] = true);
        let cables = self.subject.graph.cables.iter();
        let mine = cables.filter(|cable| sends[cable.a.0 as usize] || sends[cable.b.0 as usize]);
        mine.map(|cable| cable.link.rate.as_bits_per_sec() as f64).sum()
    }

    fn is_switch(&self, node: NodeId) -> bool {
        self.subject.graph.nodes[node.0 as usize].role == Role::Switch
    }

    /// By host: the switch at its first link, as the number of its node; that of the host itself, if there is none.
    fn racks(&self) -> Vec<u32> {
        let hosts = self.subject.graph.hosts();
        let mut racks: Vec<u32> = (0..self.subject.graph.nodes.len() as u32).collect();
        for cable in self.subject.graph.cables.iter().rev() {
            for (host, other) in [(cable.a, cable.b), (cable.b, cable.a)] {
                if !self.is_switch(host) && self.is_switch(other) {
                    racks[host.0 as usize] = other.0;
                }
            }
        }
        hosts.iter().map(|host| racks[host.0 as usize]).collect()
    }

    /// The key `locality`; `Some(None)` without it.
    fn locality(&self, gathered: &mut Gathered<'_>, (from, to): (&[HostId], &[HostId])) -> Option<Option<Locality>> {
        let Some(share) = self.entry.number("locality") else { return Some(None) };
        let racks = self.racks();
        let rack = |host: &HostId| racks[host.0 as usize];
        let mut receivers: BTreeMap<u32, BTreeSet<HostId>> = BTreeMap::new();
        to.iter().for_each(|sink| {
            receivers.entry(rack(sink)).or_default().insert(*sink);
        });
        let near = |source: &HostId| {
            let there = receivers.get(&rack(source));
            there.is_some_and(|there| there.len() > usize::from(there.contains(source)))
        };
        if share > 0.0 && !from.iter().any(near) {
            let message = "no sender has a receiver behind its own switch";
            gathered.refuse(self.entry.place_of("locality"), message, "name more hosts, or remove `locality`");
            return None;
        }
        Some(Some(Locality { racks, share }))
    }

    /// The mean, over all senders, of the probability that the racks of sender and receiver fulfil a condition.
    fn chance(
        &self,
        (from, to): (&[HostId], &[HostId]),
        locality: Option<&Locality>,
        fits: impl Fn(u32, u32) -> bool,
    ) -> f64 {
        let racks = self.racks();
        let rack = |host: &HostId| racks[host.0 as usize];
        let mut sinks: BTreeMap<u32, u64> = BTreeMap::new();
        to.iter().for_each(|host| *sinks.entry(rack(host)).or_default() += 1);
        let receives: BTreeSet<HostId> = to.iter().copied().collect();
        let mut far_of: BTreeMap<u32, [u64; 2]> = BTreeMap::new();
        let share = |[all, fitting]: [u64; 2]| if all == 0 { 0.0 } else { fitting as f64 / all as f64 };
        let mut sum = 0.0;
        for source in from {
            let own = rack(source);
            // Of receivers near and far: how many there are, and how many of them fit.
            let near = sinks.get(&own).map_or(0, |count| count - u64::from(receives.contains(source)));
            let near = [near, if fits(own, own) { near } else { 0 }];
            let far = *far_of.entry(own).or_insert_with(|| {
                let others = sinks.iter().filter(|(other, _)| **other != own);
                others.fold([0, 0], |[all, fitting], (other, count)| {
                    [all + count, fitting + if fits(own, *other) { *count } else { 0 }]
                })
            });
            sum += match locality {
                Some(_) if near[0] == 0 => share(far),
                Some(_) if far[0] == 0 => share(near),
                Some(locality) => locality.share * share(near) + (1.0 - locality.share) * share(far),
                None => share([near[0] + far[0], near[1] + far[1]]),
            };
        }
        sum / from.len() as f64
    }

    /// The rates of all links from the senders' racks to other switches, and the part of flows that leave their rack.
    fn uplinks(&self, ends: (&[HostId], &[HostId]), locality: Option<&Locality>) -> (f64, f64) {
        let racks = self.racks();
        let mut sends = vec![false; self.subject.graph.nodes.len()];
        ends.0.iter().for_each(|host| sends[racks[host.0 as usize] as usize] = true);
        let trunks =
            self.subject.graph.cables.iter().filter(|cable| self.is_switch(cable.a) && self.is_switch(cable.b));
        let capacity = trunks.map(|cable| {
            let directions = u32::from(sends[cable.a.0 as usize]) + u32::from(sends[cable.b.0 as usize]);
            f64::from(directions) * cable.link.rate.as_bits_per_sec() as f64
        });
        (capacity.sum(), self.chance(ends, locality, |one, other| one != other))
    }

    /// What the switches carry from the first half of the hosts to the second and back, and the part of flows that cross.
    fn bisection(&self, ends: (&[HostId], &[HostId]), locality: Option<&Locality>) -> (f64, f64) {
        let graph = self.subject.graph;
        let racks = self.racks();
        let half = racks.len() / 2;
        // A rack is on the side of its first host.
        let mut side = vec![None; graph.nodes.len()];
        for (host, &rack) in racks.iter().enumerate() {
            side[rack as usize].get_or_insert(host >= half);
        }
        let of = |second: bool| -> Vec<u32> {
            (0..).zip(&side).filter(|(_, side)| **side == Some(second)).map(|(node, _)| node).collect()
        };
        let trunks = graph.cables.iter().filter(|cable| self.is_switch(cable.a) && self.is_switch(cable.b));
        let links: Vec<Link> = trunks
            .map(|cable| Link { a: cable.a.0, b: cable.b.0, capacity: cable.link.rate.as_bits_per_sec() })
            .collect();
        let one_way = max_flow(graph.nodes.len() as u32, &links, &of(false), &of(true));
        let crosses = |one: u32, other: u32| side[one as usize] != side[other as usize];
        (2.0 * one_way as f64, self.chance(ends, locality, crosses))
    }
}
