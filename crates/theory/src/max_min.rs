//! The max-min fair allocation: no flow can gain without loss to a flow that has no more than it.
//!
//! The algorithm is progressive filling. All flows grow together, each in proportion to its weight, until a link is
//! full or a flow reaches its demand; the flows that this stops are frozen and the others continue to grow. The next
//! constraint is found with a queue ordered by the level at which each constraint would stop its flows. Freezing a flow
//! can only raise the level of the links that it uses, so an entry is checked when it reaches the front and reinserted
//! if its level has risen.

use crate::Error;
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt::Debug;
use units::Rate;

/// A flow that shares links with others.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow<L> {
    /// Links that it crosses. A link named twice is crossed twice and carries the flow twice.
    pub links: Vec<L>,
    /// Maximum rate that it can use; `None` for no limit.
    pub demand: Option<Rate>,
    /// Growth relative to other flows: 1 for all flows is plain max-min fairness.
    pub weight: f64,
}

impl<L> Flow<L> {
    /// Returns a flow of weight one without a limit.
    #[must_use]
    pub fn greedy(links: Vec<L>) -> Flow<L> {
        Flow { links, demand: None, weight: 1.0 }
    }
}

/// The constraint that limits a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit<L> {
    /// This link is full, and no flow on it has more relative to its weight.
    Link(L),
    /// The flow has its demand.
    Demand,
}

/// What a flow gets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allocation<L> {
    /// Rate in bits per second; not an integer, since a third of a link is not.
    pub rate: f64,
    /// Constraint that limits the rate.
    pub limit: Limit<L>,
}

/// Something that can stop flows. In a tie a demand goes before a link and a link before those stated after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Constraint {
    Demand(usize),
    Link(usize),
}

/// The common rate per unit of weight at which a constraint stops its flows.
#[derive(Clone, Copy, Debug)]
struct Level(f64);

impl Ord for Level {
    fn cmp(&self, other: &Level) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Level {
    fn partial_cmp(&self, other: &Level) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Level {
    fn eq(&self, other: &Level) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Level {}

/// A link and the flows on it, once for each time they cross it.
struct Link<L> {
    name: L,
    capacity: f64,
    crossings: Vec<usize>,
}

impl<L: Copy> Link<L> {
    /// The level at which the flows that still grow fill the link; none if no flow on it grows.
    ///
    /// Recomputed each time: a running balance would accumulate rounding errors from flow to flow.
    fn level(&self, flows: &[Flow<L>], shares: &[Option<Allocation<L>>]) -> Option<f64> {
        let (mut taken, mut growing) = (0.0, 0.0);
        for &flow in &self.crossings {
            match &shares[flow] {
                Some(share) => taken += share.rate,
                None => growing += flows[flow].weight,
            }
        }
        let free = self.capacity - taken;
        (growing > 0.0).then(|| if free > 0.0 { free / growing } else { 0.0 })
    }
}

/// Checks the question and sorts the flows by link.
fn links_of<L: Copy + Ord + Debug>(capacities: &[(L, Rate)], flows: &[Flow<L>]) -> Result<Vec<Link<L>>, Error> {
    let mut links = Vec::with_capacity(capacities.len());
    let mut index = BTreeMap::new();
    for &(name, capacity) in capacities {
        if index.insert(name, links.len()).is_some() {
            return Err(Error::RepeatedLink { link: format!("{name:?}") });
        }
        links.push(Link { name, capacity: capacity.as_bits_per_sec() as f64, crossings: Vec::new() });
    }
    for (number, flow) in flows.iter().enumerate() {
        if !(flow.weight.is_finite() && flow.weight > 0.0) {
            return Err(Error::BadWeight { flow: number, weight: flow.weight });
        }
        if flow.links.is_empty() && flow.demand.is_none() {
            return Err(Error::Unbounded { flow: number });
        }
        for name in &flow.links {
            let Some(&link) = index.get(name) else {
                return Err(Error::UnknownLink { flow: number, link: format!("{name:?}") });
            };
            links[link].crossings.push(number);
        }
    }
    Ok(links)
}

/// Returns the weighted max-min fair shares of the flows, in their order.
///
/// # Errors
/// Fails if a flow uses a link without a capacity, has no limit at all or has a weight that is not positive, or if a
/// capacity is stated twice.
pub fn max_min<L: Copy + Ord + Debug>(
    capacities: &[(L, Rate)],
    flows: &[Flow<L>],
) -> Result<Vec<Allocation<L>>, Error> {
    let links = links_of(capacities, flows)?;
    let mut shares: Vec<Option<Allocation<L>>> = vec![None; flows.len()];
    let mut queue = BinaryHeap::new();
    for (number, flow) in flows.iter().enumerate() {
        if let Some(demand) = flow.demand {
            let level = demand.as_bits_per_sec() as f64 / flow.weight;
            queue.push(Reverse((Level(level), Constraint::Demand(number))));
        }
    }
    for (number, link) in links.iter().enumerate() {
        if let Some(level) = link.level(flows, &shares) {
            queue.push(Reverse((Level(level), Constraint::Link(number))));
        }
    }
    while let Some(Reverse((Level(queued), constraint))) = queue.pop() {
        match constraint {
            Constraint::Demand(flow) => {
                let rate = flows[flow].demand.map_or(0.0, |demand| demand.as_bits_per_sec() as f64);
                shares[flow].get_or_insert(Allocation { rate, limit: Limit::Demand });
            }
            Constraint::Link(number) => {
                let link = &links[number];
                let Some(level) = link.level(flows, &shares) else { continue };
                if level > queued {
                    queue.push(Reverse((Level(level), constraint)));
                    continue;
                }
                for &flow in &link.crossings {
                    let rate = flows[flow].weight * level;
                    shares[flow].get_or_insert(Allocation { rate, limit: Limit::Link(link.name) });
                }
            }
        }
    }
    // Every flow has a demand or a link, and each of those was in the queue, so no flow is left out.
    Ok(shares.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn gigabits(rates: &[u64]) -> Vec<(usize, Rate)> {
        rates.iter().map(|rate| Rate::from_gigabits(*rate)).enumerate().collect()
    }

    fn rates<L>(shares: &[Allocation<L>]) -> Vec<f64> {
        shares.iter().map(|share| share.rate / 1e9).collect()
    }

    #[test]
    fn one_link_is_shared_equally() {
        let shares = max_min(&gigabits(&[10]), &vec![Flow::greedy(vec![0]); 4]).expect("valid");
        assert_eq!(rates(&shares), [2.5; 4]);
    }

    #[test]
    fn parking_lot_of_three_links() {
        // One flow crosses all three; each link has one flow of its own, the middle one two.
        let flows = [vec![0, 1, 2], vec![0], vec![1], vec![1], vec![2]].map(Flow::greedy);
        let shares = max_min(&gigabits(&[12, 12, 12]), &flows).expect("valid");
        assert_eq!(rates(&shares), [4.0, 8.0, 4.0, 4.0, 8.0]);
        let limits: Vec<_> = shares.iter().map(|share| share.limit).collect();
        assert_eq!(limits, [1, 0, 1, 1, 2].map(Limit::Link));
    }

    #[test]
    fn the_slowest_link_fills_first_and_leaves_its_rest_to_others() {
        let flows = [vec![0, 1], vec![0], vec![1]].map(Flow::greedy);
        let shares = max_min(&gigabits(&[2, 10]), &flows).expect("valid");
        assert_eq!(rates(&shares), [1.0, 1.0, 9.0]);
    }

    #[test]
    fn small_demands_are_met_and_the_rest_is_shared() {
        let demand = |demand: u64| Flow { demand: Some(Rate::from_gigabits(demand)), ..Flow::greedy(vec![0]) };
        let shares = max_min(&gigabits(&[10]), &[demand(1), demand(2), demand(8), Flow::greedy(vec![0])]);
        let shares = shares.expect("valid");
        assert_eq!(rates(&shares), [1.0, 2.0, 3.5, 3.5]);
        assert_eq!([shares[1].limit, shares[2].limit], [Limit::Demand, Limit::Link(0)]);
        let alone = Flow { links: Vec::<u8>::new(), demand: Some(Rate::from_gigabits(3)), weight: 1.0 };
        assert_eq!(max_min(&[], &[alone]), Ok(vec![Allocation { rate: 3e9, limit: Limit::Demand }]));
    }

    #[test]
    fn weights_divide_a_link() {
        let weighted = |weight| Flow { weight, ..Flow::greedy(vec!["core"]) };
        let shares = max_min(&[("core", Rate::from_gigabits(12))], &[weighted(1.0), weighted(2.0), weighted(3.0)]);
        assert_eq!(rates(&shares.expect("valid")), [2.0, 4.0, 6.0]);
    }

    #[test]
    fn a_link_crossed_twice_carries_the_flow_twice_and_a_dead_link_nothing() {
        let flows = [vec![0, 0], vec![0], vec![1]].map(Flow::greedy);
        let shares = max_min(&gigabits(&[9, 0]), &flows).expect("valid");
        assert_eq!(rates(&shares), [3.0, 3.0, 0.0]);
    }

    #[test]
    fn bad_questions_are_refused() {
        let links = gigabits(&[1]);
        let error = |flow| max_min(&links, &[flow]).expect_err("invalid").to_string();
        assert!(error(Flow::greedy(vec![7])).contains("flow 0 uses link 7"));
        assert!(error(Flow::greedy(vec![])).contains("no demand"));
        assert!(error(Flow { weight: 0.0, ..Flow::greedy(vec![0]) }).contains("weight 0"));
        let twice = [links[0], links[0]];
        assert_eq!(max_min::<usize>(&twice, &[]), Err(Error::RepeatedLink { link: "0".to_owned() }));
    }

    fn networks() -> impl Strategy<Value = (Vec<(usize, Rate)>, Vec<Flow<usize>>)> {
        let capacities = proptest::collection::vec(1_u64..100, 1..8).prop_map(|rates| gigabits(&rates));
        capacities.prop_flat_map(|capacities| {
            let links = proptest::collection::vec(0..capacities.len(), 1..5);
            let demand = proptest::option::of((1_u64..40).prop_map(Rate::from_gigabits));
            let weight = prop_oneof![Just(1.0), 0.01_f64..50.0];
            let flow = (links, demand, weight).prop_map(|(links, demand, weight)| Flow { links, demand, weight });
            (Just(capacities), proptest::collection::vec(flow, 0..25))
        })
    }

    proptest! {
        #[test]
        fn shares_are_feasible_and_every_flow_has_its_bottleneck((capacities, flows) in networks()) {
            let shares = max_min(&capacities, &flows).expect("valid");
            prop_assert_eq!(shares.len(), flows.len());
            let load = |link: usize| -> f64 {
                let crossings = |flow: &Flow<usize>| flow.links.iter().filter(|used| **used == link).count() as f64;
                flows.iter().zip(&shares).map(|(flow, share)| crossings(flow) * share.rate).sum()
            };
            for (link, capacity) in &capacities {
                prop_assert!(load(*link) <= capacity.as_bits_per_sec() as f64 * (1.0 + 1e-12));
            }
            for (flow, share) in flows.iter().zip(&shares) {
                let demand = flow.demand.map_or(f64::INFINITY, |demand| demand.as_bits_per_sec() as f64);
                prop_assert!(share.rate > 0.0 && share.rate <= demand * (1.0 + 1e-12));
                match share.limit {
                    Limit::Demand => prop_assert_eq!(share.rate, demand),
                    // That the link is full and nobody on it is better off is what makes the allocation max-min fair:
                    // more for this flow would be less for one that has no more.
                    Limit::Link(link) => {
                        prop_assert!(flow.links.contains(&link));
                        prop_assert!(load(link) >= capacities[link].1.as_bits_per_sec() as f64 * (1.0 - 1e-12));
                        let sharers = flows.iter().zip(&shares).filter(|(other, _)| other.links.contains(&link));
                        for (other, theirs) in sharers {
                            prop_assert!(theirs.rate / other.weight <= share.rate / flow.weight * (1.0 + 1e-9));
                        }
                    }
                }
            }
        }

        #[test]
        fn the_order_of_flows_does_not_matter((capacities, flows) in networks()) {
            let shares = max_min(&capacities, &flows).expect("valid");
            let backwards: Vec<_> = flows.iter().rev().cloned().collect();
            let reversed = max_min(&capacities, &backwards).expect("valid");
            for (one, other) in shares.iter().zip(reversed.iter().rev()) {
                prop_assert!((one.rate - other.rate).abs() <= 1e-9 * one.rate);
            }
        }
    }
}
