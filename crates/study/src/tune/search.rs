//! Which candidates to try next: a design that fills the ranges, then tree-structured Parzen estimators (Bergstra et
//! al., NeurIPS 2011; crate `tpe`), one for each key.
//!
//! Candidates are compared by rank alone: sound ones by their goal, then those that violate a condition by how much, then
//! invalid ones. Where two goals conflict, each candidate of a round is sought with other weights of the goals, combined
//! as in ParEGO (Knowles, IEEE Transactions on Evolutionary Computation 2006). All of this depends on the seed and on
//! earlier candidates alone: a search that is repeated tries the same.

use super::goal::Standing;
use std::convert::Infallible;
use units::Stream;

/// Candidates of a round. It does not depend on the number of threads, because results must not.
pub(crate) const ROUND: usize = 4;
/// Share of the candidates that count as good ones.
const GOOD: f64 = 0.15;
/// Attempts to find a candidate that was not tried before.
const ATTEMPTS: usize = 64;
/// Weight of the sum of the goals beside the worst of them, as in ParEGO.
const SUM: f64 = 0.05;

/// A candidate that was tried: its positions in the ranges, and how it stands.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    pub(crate) positions: Vec<f64>,
    pub(crate) standing: Standing,
}

/// Random bits for the estimators.
struct Bits(Stream);

impl rand_core::TryRng for Bits {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.0.next_u64() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0.next_u64())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for part in bytes.chunks_mut(8) {
            part.copy_from_slice(&self.0.next_u64().to_le_bytes()[..part.len()]);
        }
        Ok(())
    }
}

/// Candidates of the first rounds, which fill the ranges.
pub(crate) fn first_candidates(keys: usize) -> usize {
    (4 * keys).next_multiple_of(ROUND).clamp(2 * ROUND, 8 * ROUND)
}

/// Returns the n-th point of a sequence that fills the ranges: multiples of powers of the generalised golden ratio
/// (Roberts, 2018).
pub(crate) fn filling(keys: usize, number: usize) -> Vec<f64> {
    let mut ratio = 2.0_f64;
    for _ in 0..64 {
        ratio = (1.0 + ratio).powf(1.0 / (keys as f64 + 1.0));
    }
    (1..=keys).map(|key| (0.5 + (number + 1) as f64 * ratio.powi(-(key as i32))).fract()).collect()
}

/// Returns the ranks of the trials, best first from 0; equal ones have equal ranks.
fn ranks(trials: &[Trial], weight: f64) -> Vec<f64> {
    let sound = |trial: &Trial| match &trial.standing {
        Standing::Sound(goals) => Some(goals.clone()),
        _ => None,
    };
    let goals: Vec<Vec<f64>> = trials.iter().filter_map(sound).collect();
    let count = goals.first().map_or(0, Vec::len);
    let range = |goal: usize| {
        let values = goals.iter().map(|goals| goals[goal]);
        let least = values.clone().fold(f64::INFINITY, f64::min);
        (least, (values.fold(f64::NEG_INFINITY, f64::max) - least).max(f64::MIN_POSITIVE))
    };
    let ranges: Vec<(f64, f64)> = (0..count).map(range).collect();
    let combined = |goals: &[f64]| {
        let weights = [1.0 - weight, weight];
        let parts = goals.iter().zip(&ranges).zip(weights).map(|((goal, (least, width)), weight)| {
            let part = (goal - least) / width;
            if count == 1 { part } else { weight * part }
        });
        let parts: Vec<f64> = parts.collect();
        parts.iter().copied().fold(0.0, f64::max) + SUM * parts.iter().sum::<f64>()
    };
    let key = |trial: &Trial| match &trial.standing {
        Standing::Sound(goals) => (0, combined(goals)),
        Standing::Violates(by) => (1, *by),
        Standing::Invalid => (2, 0.0),
    };
    let keys: Vec<(u8, f64)> = trials.iter().map(key).collect();
    let before = |a: &(u8, f64), b: &(u8, f64)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).is_lt();
    keys.iter().map(|key| keys.iter().filter(|other| before(other, key)).count() as f64).collect()
}

/// Proposes a candidate by what the trials say; `pending` are the positions of the round's other candidates, which count
/// as bad ones until they are tried. `weight` is that of the second of two goals.
fn propose(trials: &[Trial], pending: &[Vec<f64>], weight: f64, keys: usize, random: Stream) -> Option<Vec<f64>> {
    let ranks = ranks(trials, weight);
    let mut bits = Bits(random);
    let inside = |position: f64| position.clamp(0.0, 1.0 - 1e-9);
    let one = |key: usize| {
        let mut builder = tpe::TpeOptimizerBuilder::new();
        let mut optimiser = builder.gamma(GOOD).build(tpe::parzen_estimator(), tpe::range(0.0, 1.0).ok()?).ok()?;
        for (trial, rank) in trials.iter().zip(&ranks) {
            optimiser.tell(inside(trial.positions[key]), *rank).ok()?;
        }
        for other in pending {
            optimiser.tell(inside(other[key]), trials.len() as f64).ok()?;
        }
        optimiser.ask(&mut bits).ok()
    };
    (0..keys).map(one).collect()
}

/// Returns the candidates of the next round that are not known yet, at most [`ROUND`]; none if no new one is found.
/// `name` says which candidates are the same.
pub(crate) fn next_round(
    trials: &[Trial],
    (keys, goals): (usize, usize),
    seed: u64,
    name: impl Fn(&[f64]) -> Vec<String>,
    known: &[Vec<String>],
) -> Vec<Vec<f64>> {
    let mut round: Vec<Vec<f64>> = Vec::new();
    let mut names = known.to_vec();
    for place in 0..ROUND {
        let number = trials.len() + place;
        // With two goals, a quarter of the candidates seeks each end of the front.
        let weight = if goals < 2 { 0.0 } else { [0.0, 0.33, 0.67, 1.0][number % ROUND] };
        for attempt in 0..ATTEMPTS {
            let random = Stream::new(seed, (number * ATTEMPTS + attempt) as u64, "tune");
            let proposed = match number < first_candidates(keys) || attempt >= ATTEMPTS / 2 {
                // Where estimators propose only what is known, the sequence goes on.
                true => Some(filling(keys, number + attempt * trials.len().max(1))),
                false => propose(trials, &round, weight, keys, random),
            };
            let Some(proposed) = proposed else { continue };
            let proposed_name = name(&proposed);
            if !names.contains(&proposed_name) {
                names.push(proposed_name);
                round.push(proposed);
                break;
            }
        }
    }
    round
}

/// Returns the places of the sound trials that no other one surpasses in every goal, by the first goal.
pub(crate) fn front(standings: &[&Standing]) -> Vec<usize> {
    let goals = |standing: &Standing| match standing {
        Standing::Sound(goals) => Some(goals.clone()),
        _ => None,
    };
    let sound: Vec<(usize, Vec<f64>)> =
        standings.iter().enumerate().filter_map(|(place, standing)| Some((place, goals(standing)?))).collect();
    let surpasses = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| a <= b) && a != b;
    let mut front: Vec<&(usize, Vec<f64>)> = Vec::new();
    for candidate in &sound {
        let is_surpassed = sound.iter().any(|(_, other)| surpasses(other, &candidate.1));
        // Of equal ones the first stands for all.
        if !is_surpassed && !front.iter().any(|(_, goals)| *goals == candidate.1) {
            front.push(candidate);
        }
    }
    front.sort_by(|(_, a), (_, b)| a[0].total_cmp(&b[0]));
    front.into_iter().map(|(place, _)| *place).collect()
}

/// Returns the member of a front that is nearest to the best of every goal, each in parts of its range in the front.
pub(crate) fn balanced(standings: &[&Standing], front: &[usize]) -> Option<usize> {
    let goals = |place: &usize| match standings[*place] {
        Standing::Sound(goals) => goals.clone(),
        _ => Vec::new(),
    };
    let all: Vec<Vec<f64>> = front.iter().map(goals).collect();
    let count = all.first()?.len();
    let range = |goal: usize| {
        let values = all.iter().map(|goals| goals[goal]);
        let least = values.clone().fold(f64::INFINITY, f64::min);
        (least, (values.fold(f64::NEG_INFINITY, f64::max) - least).max(f64::MIN_POSITIVE))
    };
    let ranges: Vec<(f64, f64)> = (0..count).map(range).collect();
    let distance = |goals: &[f64]| {
        goals.iter().zip(&ranges).map(|(goal, (least, width))| ((goal - least) / width).powi(2)).sum::<f64>()
    };
    let nearest = all.iter().enumerate().min_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b)));
    nearest.map(|(place, _)| front[place])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches for the least of a function of two positions; returns the best found after so many candidates.
    fn search(count: usize, seed: u64, of: impl Fn(&[f64]) -> Standing) -> Vec<Trial> {
        let name = |at: &[f64]| at.iter().map(|at| format!("{at:.3}")).collect::<Vec<_>>();
        let mut trials: Vec<Trial> = Vec::new();
        while trials.len() < count {
            let known: Vec<Vec<String>> = trials.iter().map(|trial| name(&trial.positions)).collect();
            for positions in next_round(&trials, (2, 1), seed, name, &known) {
                let standing = of(&positions);
                trials.push(Trial { positions, standing });
            }
        }
        trials
    }

    fn best(trials: &[Trial]) -> f64 {
        let goal = |trial: &Trial| match &trial.standing {
            Standing::Sound(goals) => goals[0],
            _ => f64::INFINITY,
        };
        trials.iter().map(goal).fold(f64::INFINITY, f64::min)
    }

    fn bowl(at: &[f64]) -> f64 {
        (at[0] - 0.23).powi(2) + (at[1] - 0.71).powi(2)
    }

    #[test]
    fn a_search_finds_a_minimum_and_is_repeatable() {
        let found = search(48, 7, |at| Standing::Sound(vec![bowl(at)]));
        let filled = (0..48).map(|number| bowl(&filling(2, number))).fold(f64::INFINITY, f64::min);
        assert!(best(&found) < 0.002, "{} beside {filled}", best(&found));
        let again = search(48, 7, |at| Standing::Sound(vec![bowl(at)]));
        assert!(found.iter().zip(&again).all(|(a, b)| a.positions == b.positions));
    }

    #[test]
    fn conditions_come_before_goals() {
        // The minimum lies where the condition is violated: the best is at its boundary.
        let of = |at: &[f64]| match at[0] {
            x if x < 0.5 => Standing::Violates(0.5 - x),
            _ => Standing::Sound(vec![bowl(at)]),
        };
        let found = best(&search(64, 3, of));
        assert!((0.0729..0.09).contains(&found), "{found}");
    }

    #[test]
    fn few_values_are_tried_once_each() {
        let name = |at: &[f64]| at.iter().map(|at| ((at * 3.0) as u64).to_string()).collect::<Vec<_>>();
        let mut trials: Vec<Trial> = Vec::new();
        loop {
            let known: Vec<Vec<String>> = trials.iter().map(|trial| name(&trial.positions)).collect();
            let round = next_round(&trials, (2, 1), 1, name, &known);
            if round.is_empty() {
                break;
            }
            let tried = |positions: Vec<f64>| Trial { positions, standing: Standing::Sound(vec![0.0]) };
            trials.extend(round.into_iter().map(tried));
        }
        assert_eq!(trials.len(), 9);
    }

    #[test]
    fn a_front_has_what_nothing_surpasses() {
        let sound = |a: f64, b: f64| Standing::Sound(vec![a, b]);
        let all =
            [sound(3.0, 1.0), sound(1.0, 3.0), sound(2.0, 3.0), sound(1.8, 1.8), Standing::Invalid, sound(1.8, 1.8)];
        let all: Vec<&Standing> = all.iter().collect();
        assert_eq!(front(&all), [1, 3, 0]);
        assert_eq!(balanced(&all, &front(&all)), Some(3));
        assert_eq!(balanced(&all, &[]), None);
    }
}
