//! Which lane a pair of switch and host uses, and how lanes are dealt out so that none of them has a circle of waits.

use super::error::RouteError;
use super::switches::Switches;
use super::{MAX_LANES, Routes};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// Who waits for whom in one lane: channels, with the paths that make each wait.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    edges: BTreeMap<(u32, u32), Vec<u32>>,
}

impl Waits {
    /// A path, as the channels it takes in turn, makes each wait for the next.
    pub fn add(&mut self, path: u32, channels: &[u32]) {
        for pair in channels.windows(2) {
            self.edges.entry((pair[0], pair[1])).or_default().push(path);
        }
    }

    /// The paths that make the first channel wait for the second.
    #[must_use]
    pub fn paths(&self, edge: (u32, u32)) -> &[u32] {
        self.edges.get(&edge).map_or(&[], Vec::as_slice)
    }

    /// A circle, as waits that each end where the next begins; `None` if there is none.
    #[must_use]
    pub fn circle(&self) -> Option<Vec<(u32, u32)>> {
        self.circle_beyond(&mut BTreeSet::new())
    }

    /// The same, where no circle passes through the channels `closed`; those found to be on none are added. Taking waits
    /// out leaves that true.
    fn circle_beyond(&self, closed: &mut BTreeSet<u32>) -> Option<Vec<(u32, u32)>> {
        let mut open: BTreeMap<u32, usize> = BTreeMap::new();
        for &(root, _) in self.edges.keys() {
            if closed.contains(&root) {
                continue;
            }
            // The path in hand, with the place to go on from at each of its channels.
            let mut path = vec![(root, 0_u32)];
            open.insert(root, 0);
            while let Some(&mut (channel, ref mut from)) = path.last_mut() {
                let next = self.edges.range((channel, *from)..=(channel, u32::MAX)).next().map(|(&(_, next), _)| next);
                match next {
                    Some(next) if open.contains_key(&next) => {
                        let circle: Vec<u32> = path[open[&next]..].iter().map(|&(channel, _)| channel).collect();
                        let after = circle.iter().skip(1).chain(circle.first());
                        return Some(circle.iter().copied().zip(after.copied()).collect());
                    }
                    Some(next) => {
                        *from = next.saturating_add(1);
                        if !closed.contains(&next) {
                            open.insert(next, path.len());
                            path.push((next, 0));
                        }
                    }
                    None => {
                        open.remove(&channel);
                        closed.insert(channel);
                        path.pop();
                    }
                }
            }
        }
        None
    }

    /// Takes out what a path made.
    fn remove(&mut self, path: u32, channels: &[u32]) {
        for pair in channels.windows(2) {
            if let Entry::Occupied(mut edge) = self.edges.entry((pair[0], pair[1])) {
                edge.get_mut().retain(|&known| known != path);
                if edge.get().is_empty() {
                    edge.remove();
                }
            }
        }
    }
}

/// Channels in an order in which each comes before all it waits for, kept while waits are added (Pearce and Kelly,
/// 2006): a wait that would close a circle is refused.
struct Order {
    place: Vec<u32>,
    after: Vec<Vec<u32>>,
    before: Vec<Vec<u32>>,
    /// When each channel was last met by a search, and the number of searches.
    met: Vec<u32>,
    searches: u32,
}

impl Order {
    fn new(channels: usize) -> Order {
        Order {
            place: (0..channels as u32).collect(),
            after: vec![Vec::new(); channels],
            before: vec![Vec::new(); channels],
            met: vec![0; channels],
            searches: 0,
        }
    }

    /// All that is reached from `start`, forwards or backwards, without leaving these places.
    fn reach(&mut self, start: u32, forwards: bool, places: RangeInclusive<u32>) -> Vec<u32> {
        self.searches += 1;
        let edges = if forwards { &self.after } else { &self.before };
        let mut all = vec![start];
        self.met[start as usize] = self.searches;
        let mut head = 0;
        while let Some(&at) = all.get(head) {
            head += 1;
            for &next in &edges[at as usize] {
                let new = self.met[next as usize] != self.searches;
                if new && places.contains(&self.place[next as usize]) {
                    self.met[next as usize] = self.searches;
                    all.push(next);
                }
            }
        }
        all
    }

    /// Adds waits, or none of them if one would close a circle. Returns whether they were added.
    fn add(&mut self, waits: &[(u32, u32)]) -> bool {
        let mut added: Vec<(u32, u32)> = Vec::new();
        for &(from, to) in waits {
            if self.after[from as usize].contains(&to) {
                continue;
            }
            if !self.insert(from, to) {
                for (from, to) in added {
                    self.after[from as usize].retain(|&next| next != to);
                    self.before[to as usize].retain(|&last| last != from);
                }
                return false;
            }
            added.push((from, to));
        }
        true
    }

    fn insert(&mut self, from: u32, to: u32) -> bool {
        let (low, high) = (self.place[to as usize], self.place[from as usize]);
        if low <= high {
            let ahead = self.reach(to, true, low..=high);
            if ahead.contains(&from) {
                return false;
            }
            let behind = self.reach(from, false, low..=high);
            let place = |channel: u32| self.place[channel as usize];
            // Those behind take the first of the places that both had, those ahead the others.
            let sorted = |mut all: Vec<u32>| {
                all.sort_by_key(|&channel| place(channel));
                all
            };
            let moved: Vec<u32> = sorted(behind).into_iter().chain(sorted(ahead)).collect();
            let mut places: Vec<u32> = moved.iter().map(|&channel| place(channel)).collect();
            places.sort_unstable();
            for (channel, place) in moved.into_iter().zip(places) {
                self.place[channel as usize] = place;
            }
        }
        self.after[from as usize].push(to);
        self.before[to as usize].push(from);
        true
    }
}

/// For each host the channels from a row to its switch, by tables with one port each; `None` if they do not arrive.
fn channels(routes: &Routes, switches: &Switches, from: u32, host: usize) -> Option<Vec<u32>> {
    let home = switches.homes[host]?.0;
    let mut path = Vec::new();
    let mut row = from;
    while row != home {
        let group = routes.entries.get(row as usize, host);
        let port = *routes.groups[row as usize].ports(group).first()?;
        let channel = switches.channel(row, port)?;
        path.push(channel);
        row = switches.far(channel);
        if path.len() > switches.rows() {
            return None;
        }
    }
    Some(path)
}

/// Deals every path to the first lane that it closes no circle in, path by path (LASH).
pub(super) fn first_fit(routes: &mut Routes, switches: &Switches) -> Result<(), RouteError> {
    let mut lanes: Vec<Order> = Vec::new();
    let mut layers = vec![0_u8; routes.groups.len() * routes.columns];
    // Hosts of one switch are reached alike, so what is dealt to the first of them holds for the others.
    let mut known: BTreeMap<(u32, u32), u8> = BTreeMap::new();
    for &from in &switches.edges {
        for host in 0..routes.columns {
            let Some((home, _)) = switches.homes[host] else { continue };
            let lane = match known.get(&(from, home)) {
                Some(&lane) => lane,
                None => {
                    let path = channels(routes, switches, from, host).unwrap_or_default();
                    let waits: Vec<(u32, u32)> = path.windows(2).map(|pair| (pair[0], pair[1])).collect();
                    let lane = match lanes.iter_mut().position(|lane| lane.add(&waits)) {
                        Some(lane) => lane,
                        None => {
                            lanes.push(Order::new(switches.channels()));
                            let last = lanes.len() - 1;
                            lanes[last].add(&waits);
                            last
                        }
                    };
                    if lane >= MAX_LANES {
                        return Err(RouteError::TooManyLanes { lanes: MAX_LANES });
                    }
                    known.insert((from, home), lane as u8);
                    lane as u8
                }
            };
            layers[from as usize * routes.columns + host] = lane;
        }
    }
    routes.set_layers(layers, lanes.len().max(1) as u8);
    Ok(())
}

/// Puts all paths in one lane and breaks its circles: of each, the wait that the fewest paths make goes to the next
/// lane with all of these paths, until no lane has a circle (DFSSSP).
pub(super) fn break_circles(routes: &mut Routes, switches: &Switches) -> Result<(), RouteError> {
    let mut paths: Vec<(usize, Vec<u32>)> = Vec::new();
    for &from in &switches.edges {
        for host in 0..routes.columns {
            let path = channels(routes, switches, from, host).unwrap_or_default();
            // A path of one channel waits for nobody that waits.
            if path.len() > 1 {
                paths.push((from as usize * routes.columns + host, path));
            }
        }
    }
    let mut layers = vec![0_u8; routes.groups.len() * routes.columns];
    let mut here: Vec<u32> = (0..paths.len() as u32).collect();
    let mut lane = 0;
    loop {
        let mut waits = Waits::default();
        here.iter().for_each(|&path| waits.add(path, &paths[path as usize].1));
        let (mut moved, mut closed) = (BTreeSet::new(), BTreeSet::new());
        while let Some(circle) = waits.circle_beyond(&mut closed) {
            let weakest = circle.into_iter().min_by_key(|&edge| (waits.paths(edge).len(), edge));
            let Some(weakest) = weakest else { break };
            let gone = waits.paths(weakest).to_vec();
            gone.iter().for_each(|&path| waits.remove(path, &paths[path as usize].1));
            moved.extend(gone);
        }
        if moved.is_empty() {
            break;
        }
        lane += 1;
        if lane >= MAX_LANES {
            return Err(RouteError::TooManyLanes { lanes: MAX_LANES });
        }
        moved.iter().for_each(|&path| layers[paths[path as usize].0] = lane as u8);
        here = moved.into_iter().collect();
    }
    routes.set_layers(layers, lane as u8 + 1);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_circle_is_named_with_those_who_make_it() {
        let mut waits = Waits::default();
        waits.add(7, &[0, 1, 2]);
        assert_eq!(waits.circle(), None);
        waits.add(8, &[2, 3, 1]);
        let circle = waits.circle().unwrap();
        assert_eq!(circle, [(1, 2), (2, 3), (3, 1)]);
        assert_eq!(waits.paths((1, 2)), [7]);
        assert_eq!(waits.paths((3, 1)), [8]);
    }

    proptest! {
        #[test]
        fn an_order_refuses_exactly_the_circles(waits in prop::collection::vec((0_u32..8, 0_u32..8), 1..40)) {
            let mut order = Order::new(8);
            let mut kept = Waits::default();
            for (from, to) in waits.into_iter().filter(|(from, to)| from != to) {
                let mut tried = kept.clone();
                tried.add(0, &[from, to]);
                let free = tried.circle().is_none();
                prop_assert_eq!(order.add(&[(from, to)]), free);
                if free {
                    kept = tried;
                }
            }
        }
    }
}
