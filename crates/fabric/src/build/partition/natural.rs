//! A cut that suits the topology: even work, little traffic across.
//!
//! Nodes that must stay together are one atom. Several simple first cuts are made, each is improved by moving single
//! atoms, and the best is kept; between equals, the one that leaves pods whole. Work and traffic are both estimated by the rates of the cables.
//!
//! - by layer: what hangs together below a layer stays together, such as the pods of a fat-tree, and the switches above
//!   are dealt out;
//! - by order: runs of atoms in node order, which topologies choose for it (slabs of a torus, subtrees, groups);
//! - by growth: shard after shard grows from a corner by the atom it is joined to best, for graphs of any order.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::Clusters;
use crate::describe::graph::Graph;

/// A shard may exceed its even part of the work by one part in this before moves are made to relieve it.
const SLACK: u128 = 16;

/// A later cut must have less traffic across than an earlier one by one part in this.
const GOOD_PART: u128 = 20;

/// Passes over all atoms when improving a cut; it mostly settles in three.
const PASSES: usize = 12;

/// The graph of atoms.
struct Atoms {
    /// Work of each: the rates of all cable ends of its nodes, in bits per second.
    work: Vec<u128>,
    /// Highest layer of its nodes.
    layer: Vec<u16>,
    /// Neighbours, with the sum of the rates between.
    near: Vec<Vec<(usize, u128)>>,
    shards: usize,
    total: u128,
    /// The most work a shard should have.
    limit: u128,
}

/// The shard of each node, given the first node of each node's atom.
pub(super) fn share(graph: &Graph, roots: &[usize], shards: usize) -> Vec<u32> {
    let mut order: Vec<usize> = roots.to_vec();
    order.sort_unstable();
    order.dedup();
    let atom_of: Vec<usize> = roots.iter().map(|root| order.partition_point(|first| first < root)).collect();
    let atoms = Atoms::new(graph, &atom_of, order.len(), shards.min(order.len()).max(1));

    if atoms.shards == order.len() {
        return atom_of.into_iter().map(|atom| atom as u32).collect();
    }

    // The cuts that respect the drawing come first, as only a clearly better one displaces them.
    let layers: BTreeSet<u16> = atoms.layer.iter().copied().collect();
    let mut cuts: Vec<Vec<usize>> = layers.iter().rev().skip(1).map(|&layer| atoms.by_layer(layer)).collect();
    cuts.push(atoms.by_order());
    cuts.push(atoms.by_growth());
    for cut in &mut cuts {
        atoms.improve(cut);
    }
    let best = cuts.iter().reduce(|best, cut| if atoms.prefers(cut, best) { cut } else { best });
    atom_of.iter().map(|&atom| best.map_or(0, |best| best[atom] as u32)).collect()
}

impl Atoms {
    fn new(graph: &Graph, atom_of: &[usize], count: usize, shards: usize) -> Atoms {
        let mut work = vec![0; count];
        let mut layer = vec![0; count];
        for (node, &atom) in graph.nodes.iter().zip(atom_of) {
            layer[atom] = node.layer.max(layer[atom]);
        }
        let mut near: Vec<BTreeMap<usize, u128>> = vec![BTreeMap::new(); count];
        for cable in &graph.cables {
            let (a, b) = (atom_of[cable.a.0 as usize], atom_of[cable.b.0 as usize]);
            let rate = u128::from(cable.link.rate.as_bits_per_sec());
            work[a] += rate;
            work[b] += rate;
            if a != b {
                *near[a].entry(b).or_default() += rate;
                *near[b].entry(a).or_default() += rate;
            }
        }
        let total: u128 = work.iter().sum();
        let even = total.div_ceil(shards as u128);
        let near = near.into_iter().map(|map| map.into_iter().collect()).collect();
        Atoms { work, layer, near, shards, total, limit: even + even / SLACK }
    }

    fn loads(&self, cut: &[usize]) -> Vec<u128> {
        let mut loads = vec![0; self.shards];
        cut.iter().zip(&self.work).for_each(|(&shard, work)| loads[shard] += work);
        loads
    }

    /// Whether to give up `best` for `cut`: for less work above the limit, else for a good part less traffic across.
    fn prefers(&self, cut: &[usize], best: &[usize]) -> bool {
        let excess = |cut: &[usize]| self.loads(cut).into_iter().max().unwrap_or(0).saturating_sub(self.limit);
        let (cut_excess, best_excess) = (excess(cut), excess(best));
        if cut_excess == best_excess {
            self.across(cut) * GOOD_PART < self.across(best) * (GOOD_PART - 1)
        } else {
            cut_excess < best_excess
        }
    }

    /// Rates of the cables between shards, each counted from both ends.
    fn across(&self, cut: &[usize]) -> u128 {
        let leaving = |(atom, near): (usize, &Vec<(usize, u128)>)| -> u128 {
            near.iter().filter(|(other, _)| cut[*other] != cut[atom]).map(|(_, rate)| rate).sum()
        };
        self.near.iter().enumerate().map(leaving).sum()
    }

    /// Cuts a sequence of works into runs of about equal sums: of each item the shard that its middle falls into.
    fn runs(&self, works: &[u128]) -> Vec<usize> {
        let total = works.iter().sum::<u128>().max(1);
        let mut before = 0;
        let shard_of = |work: &u128| {
            let middle = 2 * before + work;
            before += work;
            ((middle * self.shards as u128 / (2 * total)) as usize).min(self.shards - 1)
        };
        works.iter().map(shard_of).collect()
    }

    fn by_order(&self) -> Vec<usize> {
        self.runs(&self.work)
    }

    /// Runs of what hangs together at that layer and below; the atoms above go where they are joined best and fit.
    fn by_layer(&self, layer: u16) -> Vec<usize> {
        let is_low = |atom: usize| self.layer[atom] <= layer;
        let mut clusters = Clusters::new(self.work.len());
        for (atom, near) in self.near.iter().enumerate().filter(|(atom, _)| is_low(*atom)) {
            near.iter().filter(|(other, _)| is_low(*other)).for_each(|(other, _)| clusters.join(atom, *other));
        }
        let roots = clusters.roots();
        let mut work_of: BTreeMap<usize, u128> = BTreeMap::new();
        for atom in (0..roots.len()).filter(|&atom| is_low(atom)) {
            *work_of.entry(roots[atom]).or_default() += self.work[atom];
        }
        let works: Vec<u128> = work_of.values().copied().collect();
        let shard_of: BTreeMap<usize, usize> = work_of.into_keys().zip(self.runs(&works)).collect();

        let nowhere = self.shards;
        let mut cut: Vec<usize> = roots.iter().map(|root| shard_of.get(root).copied().unwrap_or(nowhere)).collect();
        let mut loads = vec![0; self.shards + 1];
        cut.iter().zip(&self.work).for_each(|(&shard, work)| loads[shard] += work);
        for atom in 0..cut.len() {
            if cut[atom] == nowhere {
                let joined = self.joined(&cut, atom);
                let fits = |shard: &usize| loads[*shard] + self.work[atom] <= self.limit;
                let best = (0..self.shards)
                    .min_by_key(|shard| (!fits(shard), Reverse(joined[*shard]), loads[*shard]))
                    .unwrap_or(0);
                cut[atom] = best;
                loads[best] += self.work[atom];
            }
        }
        cut
    }

    /// Shard after shard, each from a corner of what is left.
    fn by_growth(&self) -> Vec<usize> {
        let nowhere = self.shards;
        let mut cut = vec![nowhere; self.work.len()];
        let mut left = self.total;
        for shard in 0..self.shards - 1 {
            let goal = left / (self.shards - shard) as u128;
            let mut load = 0;
            // Candidates by what they add to the traffic across: less what joins them, plus what does not.
            let mut frontier: BTreeSet<(i128, usize)> = BTreeSet::new();
            let mut cost_of = vec![None; cut.len()];
            while let Some(atom) = frontier.pop_first().map(|(_, atom)| atom).or_else(|| self.corner(&cut)) {
                if load > 0 && load + self.work[atom] / 2 > goal {
                    break;
                }
                cut[atom] = shard;
                load += self.work[atom];
                for &(other, _) in self.near[atom].iter().filter(|(other, _)| cut[*other] == nowhere) {
                    if let Some(old) = cost_of[other] {
                        frontier.remove(&(old, other));
                    }
                    let signed = |&(end, rate): &(usize, u128)| match cut[end] {
                        end if end == shard => -(rate as i128),
                        end if end == nowhere => rate as i128,
                        _ => 0,
                    };
                    let cost = self.near[other].iter().map(signed).sum();
                    frontier.insert((cost, other));
                    cost_of[other] = Some(cost);
                }
            }
            left -= load;
        }
        cut.iter_mut().filter(|shard| **shard == nowhere).for_each(|shard| *shard = self.shards - 1);
        cut
    }

    /// Of the atoms that are in no shard yet, the one farthest from the first of them, within its part of the graph.
    fn corner(&self, cut: &[usize]) -> Option<usize> {
        let first = cut.iter().position(|&shard| shard == self.shards)?;
        let mut met = vec![false; cut.len()];
        met[first] = true;
        let mut queue = vec![first];
        let mut head = 0;
        while let Some(&atom) = queue.get(head) {
            head += 1;
            for &(other, _) in &self.near[atom] {
                if cut[other] == self.shards && !std::mem::replace(&mut met[other], true) {
                    queue.push(other);
                }
            }
        }
        queue.last().copied()
    }

    /// The rates that join an atom to each shard; one more entry for what is in none.
    fn joined(&self, cut: &[usize], atom: usize) -> Vec<u128> {
        let mut joined = vec![0; self.shards + 1];
        self.near[atom].iter().for_each(|&(other, rate)| joined[cut[other]] += rate);
        joined
    }

    /// Moves atoms one by one while that cuts less traffic or relieves a shard that has too much work.
    fn improve(&self, cut: &mut [usize]) {
        let mut loads = self.loads(cut);
        for _ in 0..PASSES {
            let mut moved = false;
            for atom in 0..cut.len() {
                let (here, work) = (cut[atom], self.work[atom]);
                // What is alone in its shard stays: a shard given up would be work not shared.
                if loads[here] == work {
                    continue;
                }
                let joined = self.joined(cut, atom);
                let crowded = loads[here] > self.limit;
                let better = |there: &usize| {
                    let (fits, relieves) = (loads[*there] + work <= self.limit, loads[*there] + work < loads[here]);
                    *there != here
                        && match joined[*there].cmp(&joined[here]) {
                            std::cmp::Ordering::Greater => fits || relieves,
                            std::cmp::Ordering::Equal => relieves,
                            std::cmp::Ordering::Less => crowded && relieves,
                        }
                };
                let choice =
                    (0..self.shards).filter(better).min_by_key(|there| (Reverse(joined[*there]), loads[*there]));
                if let Some(there) = choice {
                    cut[atom] = there;
                    loads[here] -= work;
                    loads[there] += work;
                    moved = true;
                }
            }
            if !moved {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::links;
    use super::super::{Partition, assign};
    use super::*;
    use crate::describe::graph::{LinkSpec, NodeId, Role};
    use crate::describe::topology::{chain, dragonfly, fat_tree, leaf_spine, ring, single_switch, torus, tree};
    use units::{Rate, Span};

    /// Work of each shard in cable ends, and the number of cables cut, of cables of one rate.
    fn measure(graph: &Graph, shards: &[u32]) -> (Vec<usize>, usize) {
        let count = shards.iter().max().map_or(0, |most| *most as usize + 1);
        let (mut loads, mut cut) = (vec![0; count], 0);
        for cable in &graph.cables {
            let (a, b) = (shards[cable.a.0 as usize] as usize, shards[cable.b.0 as usize] as usize);
            loads[a] += 1;
            loads[b] += 1;
            cut += usize::from(a != b);
        }
        (loads, cut)
    }

    /// Checks balance and hosts at home; returns the number of cables cut.
    fn cut_of(graph: &Graph, wanted: usize) -> usize {
        let shards = assign(graph, &Partition::Natural, wanted);
        let (loads, cut) = measure(graph, &shards);
        assert_eq!(loads.len(), wanted);
        let even = graph.cables.len() as f64 * 2.0 / wanted as f64;
        for load in &loads {
            assert!((*load as f64 / even - 1.0).abs() <= 0.15, "{loads:?}");
        }
        for cable in &graph.cables {
            if graph.nodes[cable.a.0 as usize].role == Role::Host {
                assert_eq!(shards[cable.a.0 as usize], shards[cable.b.0 as usize]);
            }
        }
        cut
    }

    #[test]
    fn pods_of_a_fat_tree_stay_whole_and_cores_are_dealt_out() {
        let graph = fat_tree(8, links()).unwrap();
        for wanted in [2, 4, 8] {
            let cut = cut_of(&graph, wanted);
            // A core has one cable per pod, all but those of its own shard are cut.
            assert_eq!(cut, 16 * (8 - 8 / wanted));
            let shards = assign(&graph, &Partition::Natural, wanted);
            for pod in graph.nodes[..graph.nodes.len() - 16].chunks(24).zip(shards.chunks(24)) {
                assert!(pod.1.iter().all(|&shard| shard == pod.1[0]));
            }
            let cores = &shards[shards.len() - 16..];
            assert!((0..wanted as u32).all(|shard| cores.iter().filter(|&&s| s == shard).count() == 16 / wanted));
        }
    }

    #[test]
    fn other_topologies_are_cut_well_too() {
        assert_eq!(cut_of(&chain(8, 2, links()).unwrap(), 2), 1);
        assert_eq!(cut_of(&ring(12, 2, links()).unwrap(), 3), 3);
        assert_eq!(cut_of(&torus(&[8, 8], 1, links()).unwrap(), 2), 16);
        assert!(cut_of(&torus(&[8, 8], 1, links()).unwrap(), 4) <= 32);
        assert!(cut_of(&tree(4, 4, 4, links()).unwrap(), 4) <= 4);
        assert!(cut_of(&leaf_spine(16, 4, 8, links()).unwrap(), 4) <= 48);
        cut_of(&dragonfly(9, 4, 2, 2, links()).unwrap(), 3);
    }

    #[test]
    fn nodes_in_a_bad_order_are_grown_together() {
        // A ladder of 2 x 32 switches whose numbers jump about.
        let mut graph = Graph::default();
        for number in 0..64 {
            graph.node(format!("sw{number}"), Role::Switch, 1);
        }
        let place = |rung: u32, side: u32| NodeId((2 * rung + side) * 37 % 64);
        for rung in 0..32 {
            graph.cable(place(rung, 0), place(rung, 1), links().trunk);
            if rung > 0 {
                graph.cable(place(rung - 1, 0), place(rung, 0), links().trunk);
                graph.cable(place(rung - 1, 1), place(rung, 1), links().trunk);
            }
        }
        assert_eq!(cut_of(&graph, 2), 2);
        assert!(cut_of(&graph, 4) <= 8);
    }

    #[test]
    fn what_cannot_be_shared_is_not() {
        let graph = single_switch(8, links().host).unwrap();
        assert_eq!(assign(&graph, &Partition::Natural, 4), vec![0; 9]);
        let graph = chain(3, 1, links()).unwrap();
        let shards = assign(&graph, &Partition::Natural, 9);
        assert_eq!(shards, [0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn fast_cables_are_cut_last() {
        // A ring in which sw1 = sw2 and sw3 = sw0 are joined by fast cables: equal work either way.
        let mut graph = ring(4, 1, links()).unwrap();
        let fast = LinkSpec { rate: Rate::from_gigabits(100), latency: Span::from_nanos(500), bit_error_rate: 0.0 };
        let at: Vec<NodeId> = (0..4).map(|n| graph.find(&format!("sw{n}")).unwrap()).collect();
        for cable in &mut graph.cables {
            if [(at[1], at[2]), (at[3], at[0])].contains(&(cable.a, cable.b)) {
                cable.link = fast;
            }
        }
        let shards = assign(&graph, &Partition::Natural, 2);
        let of: Vec<u32> = at.iter().map(|node| shards[node.0 as usize]).collect();
        assert_eq!(of, [0, 1, 1, 0]);
    }
}
