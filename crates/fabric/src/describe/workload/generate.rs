//! Sets of flows made by rule: each a pure function of its arguments and the seed.

use super::{Destination, FlowSpec, Gaps, Pattern};
use crate::describe::graph::HostId;
use std::sync::Arc;
use units::{Bytes, EmpiricalCdf, Rate, Span, Stream, Time};

/// How large finite flows are.
#[derive(Clone, Debug)]
pub enum FlowSize {
    /// All alike.
    Fixed(Bytes),
    /// Pareto with that shape (above 1) and mean.
    Pareto {
        /// The exponent of the tail.
        shape: f64,
        /// The mean.
        mean: Bytes,
    },
    /// Drawn from a table of a measured distribution.
    Empirical(EmpiricalCdf),
}

impl FlowSize {
    pub(super) fn draw(&self, stream: &mut Stream) -> Bytes {
        match self {
            FlowSize::Fixed(size) => *size,
            FlowSize::Pareto { shape, mean } => stream.pareto(*shape, *mean),
            FlowSize::Empirical(cdf) => cdf.sample_bytes(stream),
        }
    }
}

/// The gaps between arrivals of flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FlowGaps {
    /// Exponential: a Poisson process.
    Exponential,
    /// Log-normal, with that deviation of the logarithm: from 1 on, burstier than a Poisson process.
    LogNormal(f64),
}

/// How many flows stay within a rack.
#[derive(Clone, Debug, PartialEq)]
pub struct Locality {
    /// By host: its rack.
    pub racks: Vec<u32>,
    /// The share of flows whose destination is in the rack of their source. A source without a possible destination of
    /// that kind takes one of the other kind.
    pub share: f64,
}

/// When flows arrive and how many.
#[derive(Clone, Copy, Debug)]
pub struct Arrivals {
    /// The first may come from here on.
    pub from: Time,
    /// The mean of the gap between two.
    pub mean_gap: Span,
    /// How gaps are distributed.
    pub gaps: FlowGaps,
    /// No flow starts at or after this.
    pub until: Time,
}

/// Every one of `senders` sends to `receiver`, starting within `jitter` of the template's start.
#[must_use]
pub fn incast(senders: &[HostId], receiver: HostId, template: &FlowSpec, jitter: Span, seed: u64) -> Vec<FlowSpec> {
    let mut stream = Stream::new(seed, u64::from(receiver.0), "incast jitter");
    let flow = |&source: &HostId| FlowSpec {
        source,
        destination: Destination::Host(receiver),
        start: template.start + stream.span_between(Span::ZERO, jitter),
        ..template.clone()
    };
    senders.iter().filter(|&&source| source != receiver).map(flow).collect()
}

/// Every host sends to one other, every host receives from one other, drawn at random among those without a host
/// that sends to itself.
#[must_use]
pub fn permutation(hosts: &[HostId], template: &FlowSpec, seed: u64) -> Vec<FlowSpec> {
    if hosts.len() < 2 {
        return Vec::new();
    }
    let mut stream = Stream::new(seed, 0, "permutation");
    let mut targets = hosts.to_vec();
    // About one permutation in e has no fixed point, so this ends after three tries on average.
    loop {
        stream.shuffle(&mut targets);
        if hosts.iter().zip(&targets).all(|(source, target)| source != target) {
            break;
        }
    }
    let flow = |(&source, target)| FlowSpec { source, destination: Destination::Host(target), ..template.clone() };
    hosts.iter().zip(targets).map(flow).collect()
}

/// Every host sends to every other.
#[must_use]
pub fn all_to_all(hosts: &[HostId], template: &FlowSpec) -> Vec<FlowSpec> {
    let pairs = hosts.iter().flat_map(|&source| hosts.iter().map(move |&target| (source, target)));
    let flow = |(source, target)| FlowSpec { source, destination: Destination::Host(target), ..template.clone() };
    pairs.filter(|(source, target)| source != target).map(flow).collect()
}

/// Every host sends Poisson or otherwise spaced frames, each to another host drawn uniformly.
#[must_use]
pub fn uniform_frames(hosts: &[HostId], rate: Rate, gaps: Gaps, template: &FlowSpec) -> Vec<FlowSpec> {
    let flow = |&source: &HostId| {
        let others: Arc<[HostId]> = hosts.iter().copied().filter(|&host| host != source).collect();
        let pattern = Pattern::Paced { rate, gaps, backlog: None };
        FlowSpec { source, ..template.clone() }.to_any(others).with(|it| it.pattern = pattern)
    };
    hosts.iter().map(flow).collect()
}

/// The sinks of each rack, to draw destinations near and far.
struct Neighbours<'a> {
    locality: &'a Locality,
    /// Sinks in the order of their racks.
    sinks: Vec<HostId>,
    stream: Stream,
}

impl<'a> Neighbours<'a> {
    fn new(locality: &'a Locality, sinks: &[HostId], seed: u64) -> Neighbours<'a> {
        let mut sinks = sinks.to_vec();
        sinks.sort_by_key(|host| locality.racks[host.0 as usize]);
        Neighbours { locality, sinks, stream: Stream::new(seed, 0, "flow locality") }
    }

    /// A destination of a source, uniformly among those in its rack or among those in others.
    fn draw(&mut self, source: HostId) -> Option<HostId> {
        let rack = |host: &HostId| self.locality.racks[host.0 as usize];
        let own = rack(&source);
        let first = self.sinks.partition_point(|host| rack(host) < own);
        let end = first + self.sinks[first..].partition_point(|host| rack(host) == own);
        let itself = self.sinks[first..end].iter().position(|&host| host == source).map(|place| first + place);
        let near = (end - first - usize::from(itself.is_some())) as u64;
        let far = (self.sinks.len() - (end - first)) as u64;
        let stays = self.stream.bernoulli(self.locality.share);
        if near > 0 && (stays || far == 0) {
            let place = first + self.stream.below(near) as usize;
            // The source is skipped.
            return Some(self.sinks[place + usize::from(itself.is_some_and(|itself| place >= itself))]);
        }
        if far == 0 {
            return None;
        }
        let place = self.stream.below(far) as usize;
        Some(self.sinks[if place < first { place } else { place + end - first }])
    }
}

/// Finite flows that arrive over the whole network with random gaps, each between two hosts drawn uniformly: the source
/// from `sources`, the destination from `sinks`, never the same. With a locality, the destination is drawn from the rack
/// of the source or from the others.
///
/// They are drawn one by one, because their number may be far above the duration divided by the mean gap: with a large
/// deviation of the logarithm, most gaps are zero.
pub fn poisson<'a>(
    sources: &'a [HostId],
    sinks: &'a [HostId],
    locality: Option<&'a Locality>,
    arrivals: Arrivals,
    size: &'a FlowSize,
    template: &'a FlowSpec,
    seed: u64,
) -> impl Iterator<Item = FlowSpec> + 'a {
    let possible = sources.iter().any(|source| sinks.iter().any(|sink| sink != source));
    let possible = possible && arrivals.mean_gap > Span::ZERO;
    let mut gaps = Stream::new(seed, 0, "flow arrivals");
    let mut sizes = Stream::new(seed, 0, "flow sizes");
    let mut ends = Stream::new(seed, 0, "flow ends");
    let mut start = arrivals.from;
    let mut neighbours = locality.filter(|_| possible).map(|locality| Neighbours::new(locality, sinks, seed));
    std::iter::from_fn(move || {
        if !possible {
            return None;
        }
        start = start.saturating_add(match arrivals.gaps {
            FlowGaps::Exponential => gaps.exponential(arrivals.mean_gap),
            FlowGaps::LogNormal(sigma) => gaps.log_normal(arrivals.mean_gap, sigma),
        });
        if start >= arrivals.until {
            return None;
        }
        let (source, sink) = loop {
            let source = sources[ends.below(sources.len() as u64) as usize];
            let sink = match &mut neighbours {
                Some(neighbours) => neighbours.draw(source),
                None => Some(sinks[ends.below(sinks.len() as u64) as usize]),
            };
            if let Some(sink) = sink.filter(|sink| *sink != source) {
                break (source, sink);
            }
        };
        let size = Some(size.draw(&mut sizes));
        Some(FlowSpec { source, destination: Destination::Host(sink), start, size, ..template.clone() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(n: u32) -> Vec<HostId> {
        (0..n).map(HostId).collect()
    }

    fn target(flow: &FlowSpec) -> HostId {
        match &flow.destination {
            Destination::Host(host) => *host,
            Destination::Uniform => panic!("one destination expected"),
        }
    }

    #[test]
    fn a_permutation_uses_every_host_once_each_way() {
        let hosts = hosts(50);
        let flows = permutation(&hosts, &FlowSpec::greedy(HostId(0), HostId(1)), 7);
        let mut targets: Vec<_> = flows.iter().map(target).collect();
        assert!(flows.iter().all(|flow| flow.source != target(flow)));
        targets.sort();
        assert_eq!(targets, hosts);
    }

    #[test]
    fn all_to_all_and_incast_have_the_right_pairs() {
        let template = FlowSpec::greedy(HostId(0), HostId(1));
        assert_eq!(all_to_all(&hosts(5), &template).len(), 20);
        let flows = incast(&hosts(5), HostId(2), &template, Span::from_micros(1), 3);
        assert_eq!(flows.len(), 4);
        assert!(flows.iter().all(|flow| target(flow) == HostId(2) && flow.start <= Time::ZERO + Span::from_micros(1)));
    }

    #[test]
    fn poisson_flows_have_the_rate_and_mean_asked_for() {
        let template = FlowSpec::greedy(HostId(0), HostId(1));
        let until = Time::ZERO + Span::from_secs(10);
        let gaps = FlowGaps::Exponential;
        let arrivals = Arrivals { from: Time::ZERO, mean_gap: Span::from_millis(1), gaps, until };
        let size = FlowSize::Pareto { shape: 2.5, mean: Bytes::new(100_000) };
        let all = hosts(8);
        let flows: Vec<_> = poisson(&all, &all, None, arrivals, &size, &template, 11).collect();
        // 10000 expected, deviation 100.
        assert!((9_600..10_400).contains(&flows.len()), "{}", flows.len());
        let mean = flows.iter().map(|flow| flow.size.unwrap().get() as f64).sum::<f64>() / flows.len() as f64;
        assert!((mean - 100_000.0).abs() < 4_000.0, "{mean}");
        assert!(flows.windows(2).all(|pair| pair[0].start <= pair[1].start));
    }
    #[test]
    fn flows_stay_in_their_rack_as_often_as_asked_for() {
        let template = FlowSpec::greedy(HostId(0), HostId(1));
        let until = Time::ZERO + Span::from_secs(10);
        let arrivals =
            Arrivals { from: Time::ZERO, mean_gap: Span::from_millis(1), gaps: FlowGaps::LogNormal(1.0), until };
        let racks: Vec<u32> = vec![2, 0, 2, 0, 1, 2, 0, 2, 3];
        let locality = Locality { racks: racks.clone(), share: 0.7 };
        let all = hosts(9);
        let size = FlowSize::Fixed(Bytes::new(1));
        let flows: Vec<_> = poisson(&all, &all, Some(&locality), arrivals, &size, &template, 3).collect();
        // 10000 expected; log-normal gaps vary by 1.3 times their mean.
        assert!((9_500..10_500).contains(&flows.len()), "{}", flows.len());
        let rack = |host: HostId| racks[host.0 as usize];
        let mut counts = [0_u32; 81];
        for flow in &flows {
            assert_ne!(flow.source, target(flow));
            counts[(flow.source.0 * 9 + target(flow).0) as usize] += 1;
        }
        // Hosts 4 and 8 are alone in their racks: all that they send leaves.
        let shared: Vec<&FlowSpec> = flows.iter().filter(|flow| ![4, 8].contains(&flow.source.0)).collect();
        let near = shared.iter().filter(|flow| rack(flow.source) == rack(target(flow))).count();
        let share = near as f64 / shared.len() as f64;
        assert!((share - 0.7).abs() < 0.02, "{share}");
        // Every pair of different hosts is there.
        let pairs = (0..81).filter(|pair| pair / 9 != pair % 9);
        assert!(pairs.into_iter().all(|pair| counts[pair] > 10), "{counts:?}");
    }
}
