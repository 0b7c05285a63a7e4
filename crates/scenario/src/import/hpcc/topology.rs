//! The topology file: nodes, switches and links, and the base round trips that the simulator derives from them.

use super::super::Work;
use super::super::words::{Word, Words, number, rate, time};
use crate::source::Place;
use std::collections::VecDeque;
use units::{Rate, Span};

/// Maximum number of nodes.
const MOST_NODES: u64 = 1 << 18;

/// What the file says.
#[derive(Debug)]
pub(super) struct Topology {
    /// By node.
    pub(super) is_switch: Vec<bool>,
    pub(super) links: Vec<Link>,
    /// Whether the first line counts the ToRs too, as the fork of the authors of PowerTCP has it.
    pub(super) is_fork: bool,
}

/// A link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) ends: [u32; 2],
    pub(super) rate: Rate,
    pub(super) delay: Span,
    /// Probability that a frame is lost.
    pub(super) error_rate: f64,
}

/// Reads a whole number of a file.
pub(super) fn whole(work: &mut Work, word: Option<Word<'_>>, end: Place, what: &str, below: u64) -> Option<u64> {
    let Some(word) = word else {
        work.refuse(end, format!("the file ends before {what}"), "compare its first line with the number of lines");
        return None;
    };
    match word.text.parse::<u64>() {
        Ok(value) if value < below => Some(value),
        Ok(value) => {
            work.refuse(word.place, format!("{what} is {value}"), format!("it must be below {below}"));
            None
        }
        Err(_) => {
            work.refuse(word.place, format!("{what} is not a whole number"), "check the line and the ones before it");
            None
        }
    }
}

/// Reads the file.
pub(super) fn read(work: &mut Work, source: u32, text: &str) -> Option<Topology> {
    let mut words = Words::new(source, text);
    let end = words.end();
    let first = words.next();
    let nodes = whole(work, first, end, "the number of nodes", MOST_NODES)?;
    let mut counts = Vec::new();
    while let Some(word) = words.on_line() {
        counts.push(whole(work, Some(word), end, "a number of the first line", 1 << 32)?);
    }
    let (switches, links, is_fork) = match counts[..] {
        [switches, links] => (switches, links, false),
        [switches, _, links] => (switches, links, true),
        _ => {
            let message = format!("the first line has {} numbers", counts.len() + 1);
            let help = "write nodes, switches and links; or nodes, switches, ToRs and links";
            work.refuse(first.map_or(end, |word| word.place), message, help);
            return None;
        }
    };
    if switches > nodes {
        let message = format!("{switches} switches among {nodes} nodes");
        work.refuse(first.map_or(end, |word| word.place), message, "nodes are hosts and switches together");
        return None;
    }
    let mut is_switch = vec![false; nodes as usize];
    for _ in 0..switches {
        let word = words.next();
        let switch = whole(work, word, end, "the number of a switch", nodes)? as usize;
        if std::mem::replace(&mut is_switch[switch], true) {
            let place = word.map_or(end, |word| word.place);
            work.refuse(place, format!("switch {switch} is listed twice"), "list each switch once");
        }
    }
    let mut topology = Topology { is_switch, links: Vec::new(), is_fork };
    let mut places = Vec::new();
    for _ in 0..links {
        let (link, place) = link(work, &mut words, end, nodes)?;
        if link.ends[0] == link.ends[1] {
            work.refuse(place, format!("node {} is linked with itself", link.ends[0]), "name two nodes");
        }
        topology.links.push(link);
        places.push(place);
        if work.is_hopeless() {
            return None;
        }
    }
    topology.check_hosts(work, &places, end);
    Some(topology)
}

fn link(work: &mut Work, words: &mut Words<'_>, end: Place, nodes: u64) -> Option<(Link, Place)> {
    let first = words.next();
    let a = whole(work, first, end, "an end of a link", nodes)?;
    let b = whole(work, words.next(), end, "an end of a link", nodes)?;
    let missing = |work: &mut Work| {
        work.refuse(end, "the file ends before the properties of a link", "write rate, delay and error rate");
    };
    let Some(word) = words.next() else {
        missing(work);
        return None;
    };
    let Some(rate) = rate(word.text) else {
        let help = "write bits per second, such as 100000000000.0, or a rate with its unit, such as 100Gbps";
        work.refuse(word.place, "this is not the rate of a link", help);
        return None;
    };
    let Some(word) = words.next() else {
        missing(work);
        return None;
    };
    let Some(delay) = time(word.text) else {
        work.refuse(
            word.place,
            "this is not the delay of a link",
            "write a time with its unit, such as 0.001ms or 1us",
        );
        return None;
    };
    let Some(word) = words.next() else {
        missing(work);
        return None;
    };
    let Some(error_rate) = number(word.text).filter(|rate| *rate < 1.0) else {
        work.refuse(word.place, "this is not the error rate of a link", "write a probability below 1, such as 0");
        return None;
    };
    let place = first.map_or(end, |word| word.place);
    Some((Link { ends: [a as u32, b as u32], rate, delay, error_rate }, place))
}

impl Topology {
    /// A host here has one cable.
    fn check_hosts(&self, work: &mut Work, places: &[Place], end: Place) {
        let mut cables = vec![0; self.is_switch.len()];
        for (link, &place) in self.links.iter().zip(places) {
            for node in link.ends {
                cables[node as usize] += 1;
                if cables[node as usize] == 2 && !self.is_switch[node as usize] {
                    let help = "hosts have one link here; remove the others";
                    work.refuse(place, format!("host {node} has several links"), help);
                }
            }
        }
        let alone =
            (0..).zip(&cables).find(|(node, cables): &(u32, &u32)| **cables == 0 && !self.is_switch[*node as usize]);
        if let Some((node, _)) = alone {
            work.refuse(end, format!("host {node} has no link"), "add one, or correct the list of switches");
        }
    }

    pub(super) fn hosts(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.is_switch).filter(|(_, is_switch)| !**is_switch).map(|(node, _)| node)
    }

    /// By node: its neighbours, as links, in the order in which the simulator visits them: hosts, then switches from the
    /// last to the first. See [`paths`](super::paths).
    pub(super) fn neighbours(&self) -> Vec<Vec<(u32, Link)>> {
        let mut neighbours = vec![Vec::new(); self.is_switch.len()];
        for link in &self.links {
            let [a, b] = link.ends;
            neighbours[a as usize].push((b, *link));
            neighbours[b as usize].push((a, *link));
        }
        for of_node in &mut neighbours {
            of_node.sort_by_key(|&(node, _)| match self.is_switch[node as usize] {
                false => (false, node),
                true => (true, u32::MAX - node),
            });
        }
        neighbours
    }

    /// By node: its layer, 0 for a host; for a switch its distance from the nearest host.
    pub(super) fn layers(&self) -> Vec<u32> {
        let neighbours = self.neighbours();
        let mut layers: Vec<Option<u32>> = self.is_switch.iter().map(|is_switch| (!is_switch).then_some(0)).collect();
        let mut queue: VecDeque<u32> = self.hosts().collect();
        while let Some(node) = queue.pop_front() {
            let next = layers[node as usize].map_or(1, |layer| layer + 1);
            for &(other, _) in &neighbours[node as usize] {
                if layers[other as usize].is_none() {
                    layers[other as usize] = Some(next);
                    queue.push_back(other);
                }
            }
        }
        layers.into_iter().map(|layer| layer.unwrap_or(1)).collect()
    }

    /// Base round trips in nanoseconds.
    pub(super) fn round_trips(&self, payload: u64) -> RoundTrips {
        RoundTrips { neighbours: self.neighbours(), is_switch: self.is_switch.clone(), payload }
    }
}

/// The base round trips of pairs of hosts, as the simulator counts them: the propagation there and back, and the payload of
/// a frame at the rate of each link of one direction, in whole nanoseconds.
#[derive(Debug)]
pub(super) struct RoundTrips {
    neighbours: Vec<Vec<(u32, Link)>>,
    is_switch: Vec<bool>,
    payload: u64,
}

impl RoundTrips {
    /// By node: the base round trip from a host in nanoseconds, and the bits per second of the slowest link; `None` if
    /// there is no path.
    fn from(&self, host: u32) -> Vec<Option<(u64, u64)>> {
        let mut times: Vec<Option<(u64, u64)>> = vec![None; self.is_switch.len()];
        times[host as usize] = Some((0, u64::MAX));
        let mut queue = VecDeque::from([host]);
        while let Some(node) = queue.pop_front() {
            let (so_far, slowest) = times[node as usize].unwrap_or((0, u64::MAX));
            for &(next, link) in &self.neighbours[node as usize] {
                if times[next as usize].is_some() {
                    continue;
                }
                let rate = link.rate.as_bits_per_sec().max(1);
                let sending = self.payload.saturating_mul(8_000_000_000) / rate;
                let round_trip = so_far + 2 * (link.delay.as_picos() / 1000) + sending;
                times[next as usize] = Some((round_trip, slowest.min(rate)));
                // No path leads through a host.
                if self.is_switch[next as usize] {
                    queue.push_back(next);
                }
            }
        }
        times
    }

    /// The longest of all pairs of hosts, and the largest window in bytes: what the slowest link of a path sends in its
    /// round trip.
    pub(super) fn largest(&self) -> (Span, u64) {
        let hosts = || (0..).zip(&self.is_switch).filter(|(_, is_switch)| !**is_switch).map(|(node, _): (u32, _)| node);
        let (mut longest, mut window) = (0, 0);
        for host in hosts() {
            let times = self.from(host);
            for (round_trip, rate) in hosts().filter(|other| *other != host).filter_map(|other| times[other as usize]) {
                longest = longest.max(round_trip);
                window = window.max((u128::from(round_trip) * u128::from(rate) / 8_000_000_000) as u64);
            }
        }
        (Span::from_nanos(longest), window)
    }
}
