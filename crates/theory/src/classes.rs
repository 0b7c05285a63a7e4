//! Fair shares on links with several classes: enhanced transmission selection (802.1Qaz), strict priorities.
//!
//! A link's [`Scheduler`] defines the entitlement of each class: tiers in order, groups of a tier by weight, and
//! classes of a group by weight or in order; unused capacity goes to the others, by their weights. Flows of a class
//! share equally. A link's *offer* to a flow is the rate that the link would give it if the flow took all it is given
//! and every other flow had the minimum of its demand and of the offers of its other links. An allocation is *fair* if
//! every flow has the minimum of its demand and of the offers of its links. With one class this is max-min fairness.
//! Every fair allocation fits the links, and every flow with less than its demand has a full link on which it has its
//! entitlement.
//!
//! With several classes, more than one allocation may be fair: if two flows of different classes cross two links with
//! opposite weights, both links may be divided by the weights of either, or anything in between. Both ends of the range
//! are therefore computed. An offer decreases as the rates of other flows increase: the offers to flows that are alone
//! are too high, the offers beside those rates are too low, and so on in turn. The two sequences enclose all fair
//! allocations. If they converge to the same limit, it is the only fair allocation; otherwise [`ShareBounds`] has two bounds.

use std::collections::BTreeMap;

/// Rounds after which the bounds are taken as they are.
const MOST_ROUNDS: usize = 2_000;
/// Bounds that differ by less than this part of the fastest link have met.
const MET: f64 = 1e-9;

/// The division of a link among classes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scheduler {
    /// Tiers in order of precedence: each divides the capacity that the previous ones leave.
    pub tiers: Vec<Vec<Group>>,
}

/// Classes that share a part of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Weight of the group relative to the other groups of its tier.
    pub weight: f64,
    /// Classes with their relative weights.
    pub classes: Vec<(u8, f64)>,
    /// Whether the classes are served in order, the first one first, regardless of their weights.
    pub ordered: bool,
}

impl Scheduler {
    /// Returns a scheduler that serves classes in strict order, the first one first.
    #[must_use]
    pub fn strict(classes: impl IntoIterator<Item = u8>) -> Scheduler {
        let tier = |class| vec![Group { weight: 1.0, classes: vec![(class, 1.0)], ordered: false }];
        Scheduler { tiers: classes.into_iter().map(tier).collect() }
    }

    /// Returns the part of `capacity` for a class that takes all it is given, if the others request the rates in
    /// `asked`.
    ///
    /// A class that the scheduler does not know gets nothing.
    fn entitlement(&self, capacity: f64, class: u8, asked: &[f64; 256]) -> f64 {
        let demand = |group: &Group| group.classes.iter().map(|&(class, _)| asked[usize::from(class)]).sum::<f64>();
        let mut left = capacity;
        for tier in &self.tiers {
            let Some(mine) = tier.iter().position(|group| group.classes.iter().any(|&(other, _)| other == class))
            else {
                left = (left - tier.iter().map(demand).sum::<f64>()).max(0.0);
                continue;
            };
            let others = tier.iter().enumerate().filter(|&(group, _)| group != mine);
            let others: Vec<(f64, f64)> = others.map(|(_, group)| (group.weight, demand(group))).collect();
            let group = &tier[mine];
            let of_group = beside(left, group.weight, &others);
            let rivals = group.classes.iter().filter(|&&(other, _)| other != class);
            if group.ordered {
                let before = group.classes.iter().take_while(|&&(other, _)| other != class);
                let taken: f64 = before.map(|&(other, _)| asked[usize::from(other)]).sum();
                return (of_group - taken).max(0.0);
            }
            let weight = group.classes.iter().find(|&&(other, _)| other == class).map_or(1.0, |&(_, weight)| weight);
            let rivals: Vec<(f64, f64)> = rivals.map(|&(other, weight)| (weight, asked[usize::from(other)])).collect();
            return beside(of_group, weight, &rivals);
        }
        0.0
    }
}

/// Returns the part of `capacity` for a member of that weight that takes all it is given, beside others of these
/// weights and demands.
fn beside(capacity: f64, weight: f64, others: &[(f64, f64)]) -> f64 {
    // Those that ask for the least for their weight are satisfied first.
    let mut others: Vec<(f64, f64)> = others.iter().copied().filter(|&(weight, _)| weight > 0.0).collect();
    others.sort_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)));
    let (mut left, mut weights) = (capacity, weight + others.iter().map(|&(weight, _)| weight).sum::<f64>());
    for (theirs, demand) in others {
        if demand * weights > left * theirs {
            break;
        }
        left -= demand;
        weights -= theirs;
    }
    (left * weight / weights.max(weight)).max(0.0)
}

/// A flow of a class over links, given by their indices.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Indices of its links.
    pub links: Vec<usize>,
    /// Its class.
    pub class: u8,
    /// Maximum rate that it can use, in bits per second; `None` for no limit.
    pub demand: Option<f64>,
}

/// A link.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Capacity in bits per second.
    pub capacity: f64,
    /// Division among classes.
    pub scheduler: Scheduler,
}

/// The share of a flow: no fair allocation gives it less than `least` or more than `most`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShareBounds {
    /// Lower bound in bits per second.
    pub least: f64,
    /// Upper bound in bits per second.
    pub most: f64,
    /// The link with the lowest offer; `None` if the flow has its demand.
    pub limit: Option<usize>,
}

impl ShareBounds {
    /// Returns whether the bounds coincide, so that the fair share is unique.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.most - self.least <= 1e-6 * self.most.max(1.0)
    }
}

/// The offer of each link to each flow.
type Offered = Vec<Vec<f64>>;

/// Returns the fair shares of the flows, in their order. A flow names a link at most once; a flow without links gets
/// its demand, or nothing.
#[must_use]
pub fn fair(links: &[Link], flows: &[Flow]) -> Vec<ShareBounds> {
    let ground = Ground::new(links, flows);
    let fastest = links.iter().map(|link| link.capacity).fold(0.0, f64::max);
    let mut most = ground.offers(&flows.iter().map(|flow| vec![0.0; flow.links.len()]).collect());
    let mut least = ground.offers(&most);
    for _ in 0..MOST_ROUNDS {
        let apart = (0..flows.len()).map(|flow| ground.share(flow, &most).0 - ground.share(flow, &least).0);
        if apart.fold(0.0, f64::max) <= MET * fastest {
            break;
        }
        let before = std::mem::replace(&mut most, ground.offers(&least));
        least = ground.offers(&most);
        let moved = before.iter().flatten().zip(most.iter().flatten()).map(|(old, new)| (old - new).abs());
        if moved.fold(0.0, f64::max) <= MET * fastest / 1e3 {
            break;
        }
    }
    let share = |flow: usize| {
        let ((most, limit), (least, _)) = (ground.share(flow, &most), ground.share(flow, &least));
        ShareBounds { least: least.min(most), most, limit }
    };
    (0..flows.len()).map(share).collect()
}

/// The links and their flows.
struct Ground<'a> {
    links: &'a [Link],
    flows: &'a [Flow],
    /// By link and class: the flows, and the index of the link among theirs.
    users: Vec<BTreeMap<u8, Vec<(usize, usize)>>>,
}

impl<'a> Ground<'a> {
    fn new(links: &'a [Link], flows: &'a [Flow]) -> Ground<'a> {
        let mut users: Vec<BTreeMap<u8, Vec<(usize, usize)>>> = vec![BTreeMap::new(); links.len()];
        for (number, flow) in flows.iter().enumerate() {
            for (place, &link) in flow.links.iter().enumerate() {
                users[link].entry(flow.class).or_default().push((number, place));
            }
        }
        Ground { links, flows, users }
    }

    /// Returns the offers of links, given the offers of the other links to every flow.
    fn offers(&self, offered: &Offered) -> Offered {
        let others = |&(flow, place): &(usize, usize)| {
            let rest = offered[flow].iter().enumerate().filter(|&(other, _)| other != place).map(|(_, &offer)| offer);
            rest.fold(self.flows[flow].demand.unwrap_or(f64::INFINITY), f64::min)
        };
        let mut next: Offered = offered.iter().map(|links| vec![0.0; links.len()]).collect();
        for (link, users) in self.links.iter().zip(&self.users) {
            let mut asked = [0.0; 256];
            for (&class, flows) in users {
                asked[usize::from(class)] = flows.iter().map(others).sum();
            }
            for (&class, flows) in users {
                let entitled = link.scheduler.entitlement(link.capacity, class, &asked);
                let offers = Offers::new(entitled, flows.iter().map(others));
                for user in flows {
                    next[user.0][user.1] = offers.to(others(user));
                }
            }
        }
        next
    }

    /// Returns the share of a flow under these offers, and the link with the lowest offer.
    fn share(&self, flow: usize, offered: &Offered) -> (f64, Option<usize>) {
        let Flow { links, demand, .. } = &self.flows[flow];
        let own = demand.unwrap_or(if links.is_empty() { 0.0 } else { f64::INFINITY });
        let offers = links.iter().zip(&offered[flow]);
        offers.fold((own, None), |least, (&link, &offer)| if offer < least.0 { (offer, Some(link)) } else { least })
    }
}

/// The offers to the flows of one class on a link.
struct Offers {
    entitled: f64,
    /// The most the flows may have, in order, and the sums before each.
    rates: Vec<f64>,
    sums: Vec<f64>,
}

impl Offers {
    fn new(entitled: f64, rates: impl Iterator<Item = f64>) -> Offers {
        let mut rates: Vec<f64> = rates.collect();
        rates.sort_by(f64::total_cmp);
        let mut sums = vec![0.0];
        rates.iter().for_each(|rate| sums.push(sums[sums.len() - 1] + rate));
        Offers { entitled, rates, sums }
    }

    /// Returns the level at which `takers` more flows that take all they are given fill `room`, together with the other
    /// flows, each of which has its maximum or the same level.
    fn level(&self, room: f64, takers: f64) -> f64 {
        let count = self.rates.len();
        // At the level of the n-th rate those before it have theirs, it and those after it the level.
        let at = |n: usize| self.sums[n] + self.rates[n] * ((count - n) as f64 + takers);
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low.midpoint(high);
            if at(middle) < room {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let sharers = (count - low) as f64 + takers;
        if sharers > 0.0 { ((room - self.sums[low]) / sharers).max(0.0) } else { f64::INFINITY }
    }

    /// Returns the rate of one of the flows, which may have `rate`, if it took all it is given.
    fn to(&self, rate: f64) -> f64 {
        let common = self.level(self.entitled, 0.0);
        // One of those that have as much as the rest would not get more by asking.
        if rate >= common { common } else { self.level(self.entitled + rate, 1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use units::Rate;

    fn ets(groups: &[(f64, &[u8])]) -> Scheduler {
        let group = |&(weight, classes): &(f64, &[u8])| Group {
            weight,
            classes: classes.iter().map(|&class| (class, 1.0)).collect(),
            ordered: false,
        };
        Scheduler { tiers: vec![groups.iter().map(group).collect()] }
    }

    fn greedy(class: u8, links: &[usize]) -> Flow {
        Flow { links: links.to_vec(), class, demand: None }
    }

    #[track_caller]
    fn rates(links: &[Link], flows: &[Flow], expected: &[f64]) {
        let shares = fair(links, flows);
        assert!(shares.iter().all(ShareBounds::is_known), "{shares:?}");
        for (share, expected) in shares.iter().zip(expected) {
            assert!((share.most - expected).abs() < 1e-6, "{shares:?} against {expected}");
        }
    }

    #[test]
    fn lan_san_and_ipc() {
        let link = |capacity| Link { capacity, scheduler: ets(&[(40.0, &[0, 3]), (40.0, &[1]), (20.0, &[2])]) };
        let all = [greedy(0, &[0]), greedy(3, &[0]), greedy(1, &[0]), greedy(1, &[0]), greedy(2, &[0])];
        rates(&[link(10.0)], &all, &[2.0, 2.0, 2.0, 2.0, 2.0]);
        // SAN is idle, then asks for half of its share: the rest has what is left, 40 to 20.
        rates(&[link(10.0)], &[greedy(0, &[0]), greedy(2, &[0])], &[20.0 / 3.0, 10.0 / 3.0]);
        let some = Flow { demand: Some(1.0), ..greedy(1, &[0]) };
        rates(&[link(10.0)], &[greedy(0, &[0]), some, greedy(2, &[0])], &[6.0, 1.0, 3.0]);
    }

    #[test]
    fn strict_first_and_in_order_within_a_group() {
        let link = Link { capacity: 10.0, scheduler: Scheduler::strict([2, 1, 0]) };
        let bounded = Flow { demand: Some(4.0), ..greedy(2, &[0]) };
        rates(
            std::slice::from_ref(&link),
            &[bounded, greedy(1, &[0]), greedy(1, &[0]), greedy(0, &[0])],
            &[4.0, 3.0, 3.0, 0.0],
        );
        let mut scheduler = ets(&[(1.0, &[1, 0]), (1.0, &[2])]);
        scheduler.tiers[0][0].ordered = true;
        let above = Flow { demand: Some(2.0), ..greedy(1, &[0]) };
        rates(&[Link { capacity: 10.0, scheduler }], &[above, greedy(0, &[0]), greedy(2, &[0])], &[2.0, 3.0, 5.0]);
    }

    #[test]
    fn what_another_link_leaves_of_a_class_is_given_away_on_the_first() {
        // Class 0 has half of the first link, but its flow can use a tenth of it.
        let links = [(10.0, 50.0), (1.0, 50.0)]
            .map(|(capacity, weight)| Link { capacity, scheduler: ets(&[(weight, &[0]), (50.0, &[1])]) });
        rates(&links, &[greedy(0, &[0, 1]), greedy(1, &[0])], &[1.0, 9.0]);
        // Two flows that hold each other back, each at the other's link: a third each.
        let link = Link { capacity: 1.0, scheduler: ets(&[(1.0, &[0]), (1.0, &[1])]) };
        let flows = [greedy(0, &[0, 1]), greedy(1, &[0, 1]), greedy(0, &[0]), greedy(1, &[1])];
        rates(&[link.clone(), link], &flows, &[1.0 / 3.0; 4]);
    }

    /// Two links that weigh two classes the other way round: every division between is fair, and that is what is said.
    #[test]
    fn where_links_contradict_each_other_there_are_two_bounds() {
        let link = |first, second| Link { capacity: 3.0, scheduler: ets(&[(first, &[0]), (second, &[1])]) };
        let shares = fair(&[link(2.0, 1.0), link(1.0, 2.0)], &[greedy(0, &[0, 1]), greedy(1, &[0, 1])]);
        assert!(shares.iter().all(|share| !share.is_known()));
        assert!(shares.iter().all(|share| (share.least - 1.0).abs() < 1e-6 && (share.most - 2.0).abs() < 1e-6));
    }

    /// Bits dealt out one small piece at a time to whoever of those that still want has least for its weight, group by
    /// group: a scheduler that knows nothing of the arithmetic above.
    fn dealt(capacity: f64, scheduler: &Scheduler, flows: &[Flow], pieces: usize) -> Vec<f64> {
        let piece = capacity / pieces as f64;
        let mut rates = vec![0.0; flows.len()];
        for _ in 0..pieces {
            let wants = |flow: usize, rates: &[f64]| rates[flow] + piece / 2.0 < flows[flow].demand.unwrap_or(f64::MAX);
            let of = |class: u8, rates: &[f64]| -> f64 {
                (0..flows.len()).filter(|&flow| flows[flow].class == class).map(|flow| rates[flow]).sum()
            };
            let open = |class: u8, rates: &[f64]| {
                (0..flows.len()).any(|flow| flows[flow].class == class && wants(flow, rates))
            };
            let least = |candidates: Vec<(f64, usize)>| {
                candidates.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, place)| place)
            };
            let Some(tier) = scheduler
                .tiers
                .iter()
                .find(|tier| tier.iter().any(|group| group.classes.iter().any(|&(class, _)| open(class, &rates))))
            else {
                break;
            };
            let groups =
                tier.iter().enumerate().filter(|(_, group)| group.classes.iter().any(|&(it, _)| open(it, &rates)));
            let level = |group: &Group| group.classes.iter().map(|&(it, _)| of(it, &rates)).sum::<f64>() / group.weight;
            let group = &tier[least(groups.map(|(place, group)| (level(group), place)).collect()).unwrap()];
            let members = group.classes.iter().filter(|&&(it, _)| open(it, &rates));
            let class = if group.ordered {
                members.map(|&(it, _)| it).next().unwrap()
            } else {
                least(members.map(|&(it, weight)| (of(it, &rates) / weight, usize::from(it))).collect()).unwrap() as u8
            };
            let mine = (0..flows.len()).filter(|&flow| flows[flow].class == class && wants(flow, &rates));
            let flow = least(mine.map(|flow| (rates[flow], flow)).collect()).unwrap();
            rates[flow] += piece;
        }
        rates
    }

    fn schedulers() -> impl Strategy<Value = Scheduler> {
        let parts = proptest::collection::vec((0_usize..4, 1.0_f64..10.0, any::<bool>()), 4);
        let weights = proptest::collection::vec(0.5_f64..4.0, 4);
        (parts, weights, 0_usize..3).prop_map(|(parts, weights, strict)| {
            let mut groups: Vec<Group> =
                parts.iter().map(|&(_, weight, ordered)| Group { weight, classes: vec![], ordered }).collect();
            for (class, (&(place, ..), &weight)) in (0..).zip(parts.iter().zip(&weights)) {
                groups[place].classes.push((class, weight));
            }
            let rest = groups.split_off(strict);
            let mut tiers: Vec<Vec<Group>> = groups.into_iter().map(|group| vec![group]).collect();
            tiers.push(rest);
            Scheduler { tiers }
        })
    }

    fn demands() -> impl Strategy<Value = Option<f64>> {
        proptest::option::of(0.05_f64..8.0)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn one_link_is_dealt_out_as_a_scheduler_would(
            scheduler in schedulers(),
            flows in proptest::collection::vec((0_u8..4, demands()), 1..8),
        ) {
            let flows: Vec<Flow> =
                flows.into_iter().map(|(class, demand)| Flow { links: vec![0], class, demand }).collect();
            let shares = fair(&[Link { capacity: 10.0, scheduler: scheduler.clone() }], &flows);
            let dealt = dealt(10.0, &scheduler, &flows, 20_000);
            for (share, dealt) in shares.iter().zip(&dealt) {
                prop_assert!(share.is_known(), "{:?}", share);
                prop_assert!((share.most - dealt).abs() < 0.01, "{:?} against {:?}", shares, dealt);
            }
        }

        #[test]
        fn one_class_is_max_min_fairness(
            capacities in proptest::collection::vec(1_u64..100, 1..6),
            flows in proptest::collection::vec((proptest::collection::btree_set(0_usize..6, 1..4), proptest::option::of(1_u64..40)), 0..20),
        ) {
            let flows: Vec<(Vec<usize>, Option<u64>)> = flows
                .into_iter()
                .map(|(links, demand)| (links.into_iter().filter(|&link| link < capacities.len()).collect(), demand))
                .filter(|(links, _): &(Vec<usize>, _)| !links.is_empty())
                .collect();
            let plain: Vec<_> = flows.iter().map(|(links, demand)| crate::max_min::Flow {
                links: links.clone(), demand: demand.map(Rate::from_gigabits), weight: 1.0,
            }).collect();
            let rates: Vec<(usize, Rate)> = capacities.iter().map(|&rate| Rate::from_gigabits(rate)).enumerate().collect();
            let expected = crate::max_min::max_min(&rates, &plain).expect("valid");
            let links: Vec<Link> =
                capacities.iter().map(|&rate| Link { capacity: rate as f64 * 1e9, scheduler: Scheduler::strict([3]) }).collect();
            let classed: Vec<Flow> = flows.into_iter().map(|(links, demand)| Flow {
                links, class: 3, demand: demand.map(|rate| rate as f64 * 1e9),
            }).collect();
            for (share, expected) in fair(&links, &classed).iter().zip(&expected) {
                prop_assert!(share.is_known());
                prop_assert!((share.most - expected.rate).abs() <= 1e-6 * expected.rate.max(1.0), "{:?} {:?}", share, expected);
            }
        }

        /// Whatever the network: the lower bounds fit every link, and no bound is below nothing or above a demand.
        #[test]
        fn bounds_are_bounds(
            schedulers in proptest::collection::vec(schedulers(), 1..5),
            flows in proptest::collection::vec((proptest::collection::btree_set(0_usize..5, 1..4), 0_u8..4, demands()), 1..15),
        ) {
            let links: Vec<Link> = schedulers.into_iter().map(|scheduler| Link { capacity: 10.0, scheduler }).collect();
            let flows: Vec<Flow> = flows
                .into_iter()
                .map(|(path, class, demand)| {
                    let path = path.into_iter().map(|link| link % links.len()).collect::<std::collections::BTreeSet<_>>();
                    Flow { links: path.into_iter().collect(), class, demand }
                })
                .collect();
            let shares = fair(&links, &flows);
            for (link, _) in links.iter().enumerate() {
                let load: f64 = flows.iter().zip(&shares).filter(|(flow, _)| flow.links.contains(&link)).map(|(_, it)| it.least).sum();
                prop_assert!(load <= 10.0 + 1e-6, "{load}");
            }
            for (flow, share) in flows.iter().zip(&shares) {
                prop_assert!(share.least >= 0.0 && share.least <= share.most);
                prop_assert!(flow.demand.is_none_or(|demand| share.most <= demand + 1e-9));
            }
        }
    }
}
