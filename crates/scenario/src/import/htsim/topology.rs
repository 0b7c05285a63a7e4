//! Topologies of htsim: hosts, ToR, aggregation and, with three tiers, core switches.

use super::super::Work;
use super::super::words::{Word, Words};
use super::super::write::{Cable, Drawing, Link};
use super::options::Settings;
use crate::source::Place;
use units::{Rate, Span};

/// A tier: 0 for ToR, 1 for aggregation, 2 for core switches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tier {
    /// Of the links down from this tier.
    rate: Rate,
    latency: Span,
    pub(super) switch_latency: Span,
    radix_up: u64,
    radix_down: u64,
    oversubscribed: u64,
    bundle: u64,
}

/// What the file says, and what follows from it.
#[derive(Debug)]
pub(in super::super) struct Topology {
    pub(super) nodes: u64,
    tiers: Vec<Tier>,
    pods: u64,
    tors_per_pod: u64,
    aggregations_per_pod: u64,
    cores: u64,
}

/// The keys of a tier.
const KEYS: [&str; 7] = [
    "downlink_speed_gbps",
    "downlink_latency_ns",
    "switch_latency_ns",
    "radix_up",
    "radix_down",
    "oversubscribed",
    "bundle",
];

/// Maximum number of nodes.
const MOST_NODES: u64 = 1 << 18;
/// Links without a file: HOST_NIC of `main.h`, and `-hop_latency`.
const USUAL_RATE: Rate = Rate::from_gigabits(100);
const USUAL_LATENCY: Span = Span::from_micros(1);

/// Reads the file.
pub(super) fn read(work: &mut Work, source: u32, text: &str) -> Option<Topology> {
    let mut words = Words::new(source, text);
    let end = words.end();
    let [mut nodes, mut tiers, mut podsize] = [None; 3];
    let mut values: [[Option<u64>; KEYS.len()]; 3] = Default::default();
    let mut places: [Option<Place>; 3] = [None; 3];
    let mut tier = None;
    while let Some(word) = words.next() {
        if work.is_hopeless() {
            return None;
        }
        let key = word.text.to_lowercase();
        match (key.as_str(), tier) {
            (key, _) if key.starts_with('#') => {}
            ("nodes", _) => nodes = Some(whole(work, words.on_line(), word, MOST_NODES)?),
            ("tiers", _) => tiers = Some(whole(work, words.on_line(), word, 4)?),
            ("podsize", _) => podsize = Some(whole(work, words.on_line(), word, MOST_NODES)?),
            ("tier", _) => {
                let number = whole(work, words.on_line(), word, 3)? as usize;
                tier = Some(number);
                places[number] = Some(word.place);
            }
            ("queue_up" | "queue_down", Some(_)) => {
                if work.notes.iter().all(|note| note.key != "Queue_Up, Queue_Down") {
                    let meaning = "queue sizes belong to htsim's lossy queues: here switches have a shared buffer with PFC; \
                                   set [[switches]] for another kind";
                    work.note("Queue_Up, Queue_Down", meaning);
                }
            }
            (key, Some(tier)) if KEYS.contains(&key) => {
                let at = KEYS.iter().position(|known| *known == key)?;
                // After speeds and delays come counts of links.
                let below = if at < 3 { 1 << 40 } else { MOST_NODES };
                values[tier][at] = Some(whole(work, words.on_line(), word, below)?);
            }
            _ => {
                let shown: String = word.text.chars().filter(|c| !c.is_control()).take(40).collect();
                work.note(&shown, "unknown key; ignored, as htsim does");
            }
        }
        words.skip_line();
    }
    let mut given = |value: Option<u64>, key: &str, example: &str| {
        if value.is_none() {
            work.refuse(end, format!("the file has no {key}"), format!("add a line such as {key} {example}"));
        }
        value
    };
    let (nodes, tiers, podsize) =
        (given(nodes, "Nodes", "16")?, given(tiers, "Tiers", "3")?, given(podsize, "Podsize", "4")?);
    if !(2..=3).contains(&tiers) {
        work.refuse(end, format!("{tiers} tiers"), "htsim has topologies of 2 or 3 tiers");
        return None;
    }
    let mut read = Vec::new();
    for number in 0..tiers as usize {
        let place = places[number].unwrap_or(end);
        if places[number].is_none() {
            work.refuse(
                end,
                format!("the file does not describe tier {number}"),
                format!("add Tier {number} and its keys"),
            );
            return None;
        }
        let of = values[number];
        let mut need = |at: usize| {
            let value = of[at].filter(|value| *value > 0);
            if value.is_none() {
                work.refuse(
                    place,
                    format!("tier {number} has no {}", KEYS[at]),
                    format!("add {} and a number", KEYS[at]),
                );
            }
            value
        };
        let top = number + 1 == tiers as usize;
        let (speed, latency, down) = (need(0), need(1), need(4));
        let up = if top { Some(0) } else { need(3) };
        read.push(Tier {
            rate: Rate::from_gigabits(speed?.min(1_000_000)),
            latency: Span::from_nanos(latency?),
            switch_latency: Span::from_nanos(of[2].unwrap_or(0)),
            radix_up: up?,
            radix_down: down?,
            oversubscribed: of[5].unwrap_or(1).max(1),
            bundle: of[6].unwrap_or(1).max(1),
        });
    }
    let place = places[0].unwrap_or(end);
    Topology::new(work, place, nodes, podsize, read)
}

fn whole(work: &mut Work, word: Option<Word<'_>>, key: Word<'_>, below: u64) -> Option<u64> {
    let value = word.and_then(|word| word.text.parse::<u64>().ok()).filter(|value| *value < below);
    if value.is_none() {
        let place = word.map_or(key.place, |word| word.place);
        work.refuse(place, format!("{} needs a whole number below {below}", key.text), "correct the value");
    }
    value
}

impl Topology {
    /// The rules by which htsim derives the numbers of switches.
    fn new(work: &mut Work, place: Place, nodes: u64, podsize: u64, tiers: Vec<Tier>) -> Option<Topology> {
        let mut fits = |holds: bool, message: String, help: &str| {
            if !holds {
                work.refuse(place, message, help);
            }
            holds.then_some(())
        };
        let down = tiers[0].radix_down;
        fits(
            nodes > 0 && podsize > 0 && nodes.is_multiple_of(podsize),
            format!("{nodes} nodes in pods of {podsize}"),
            "Podsize divides Nodes",
        )?;
        fits(
            podsize.is_multiple_of(down),
            format!("pods of {podsize} hosts, and ToRs with {down}"),
            "Radix_Down of tier 0 divides Podsize",
        )?;
        let pods = nodes / podsize;
        let help = "check speeds, radix and oversubscription of the tiers: links up and down must match";
        let uplinks = |below: u64, lower: &Tier, upper: &Tier| {
            let rate = |tier: &Tier| u128::from(tier.rate.as_bits_per_sec());
            let (speed, all) = (rate(upper) * u128::from(lower.oversubscribed), u128::from(below) * rate(lower));
            all.is_multiple_of(speed).then(|| u64::try_from(all / speed).ok()).flatten()
        };
        let of_tors = uplinks(nodes, &tiers[0], &tiers[1]);
        fits(of_tors.is_some(), "links of ToRs that do not divide evenly".into(), help)?;
        let of_tors = of_tors?;
        let per = pods * tiers[1].radix_down;
        fits(of_tors % per == 0 && of_tors > 0, format!("{of_tors} links of ToRs for {pods} pods"), help)?;
        let aggregations_per_pod = of_tors / per;
        let tors_per_pod = podsize / down;
        let mut cores = 0;
        if let [_, aggregation, core] = tiers[..] {
            let of_aggregations = uplinks(of_tors, &aggregation, &core);
            let matching = of_aggregations.filter(|links| links % core.radix_down == 0 && *links > 0);
            fits(matching.is_some(), "links of aggregation switches that do not divide evenly".into(), help)?;
            cores = matching? / core.radix_down;
            let reached = aggregation.radix_up / core.bundle * aggregations_per_pod;
            fits(reached == cores, format!("{cores} core switches, of which {reached} have links"), help)?;
        } else {
            fits(pods == 1, format!("{pods} pods with 2 tiers"), "Podsize is Nodes with 2 tiers")?;
        }
        Some(Topology { nodes, tiers, pods, tors_per_pod, aggregations_per_pod, cores })
    }

    /// The fat-tree that htsim builds for so many nodes without a file.
    pub(super) fn usual(work: &mut Work, nodes: u64, settings: &Settings) -> Option<Topology> {
        let two = settings.tiers == Some(2);
        let hosts = |k: u64| if two { k * k / 2 } else { k * k * k / 4 };
        let k = (2..1000).step_by(2).find(|k| hosts(*k) >= nodes)?;
        let built = hosts(k);
        let all = if built == nodes { String::new() } else { format!(" of {built} hosts") };
        let (rate, latency) = (settings.rate.unwrap_or(USUAL_RATE), settings.latency.unwrap_or(USUAL_LATENCY));
        let shape = if two { " of 2 tiers" } else { "" };
        let meaning =
            format!("not given: a fat-tree{shape}{all} with {k} ports per switch, links of {rate} and {latency}");
        work.note("--topo", meaning);
        let tier = |radix_up, radix_down| Tier {
            rate,
            latency,
            switch_latency: settings.switch_latency.unwrap_or(Span::ZERO),
            radix_up,
            radix_down,
            oversubscribed: 1,
            bundle: 1,
        };
        if two {
            return Some(Topology {
                nodes: built,
                tiers: vec![tier(k / 2, k / 2), tier(0, k)],
                pods: 1,
                tors_per_pod: k,
                aggregations_per_pod: k / 2,
                cores: 0,
            });
        }
        Some(Topology {
            nodes: built,
            tiers: vec![tier(k / 2, k / 2), tier(k / 2, k / 2), tier(0, k)],
            pods: k,
            tors_per_pod: k / 2,
            aggregations_per_pod: k / 2,
            cores: k * k / 4,
        })
    }

    /// Number of tiers.
    pub(super) fn height(&self) -> usize {
        self.tiers.len()
    }

    /// Latency of the longest path, one way: its links and switches.
    pub(super) fn diameter(&self) -> Span {
        let both = self.tiers.iter().fold(Span::ZERO, |sum, tier| sum + (tier.latency + tier.switch_latency) * 2);
        // There is one switch at the top.
        both - self.tiers.last().map_or(Span::ZERO, |tier| tier.switch_latency)
    }

    /// Number of hosts.
    pub(in super::super) fn hosts(&self) -> u64 {
        self.nodes
    }

    pub(super) fn host_rate(&self) -> Rate {
        self.tiers[0].rate
    }

    fn tors(&self) -> u64 {
        self.pods * self.tors_per_pod
    }

    fn aggregations(&self) -> u64 {
        self.pods * self.aggregations_per_pod
    }

    pub(super) fn switches(&self) -> u64 {
        self.tors() + self.aggregations() + self.cores
    }

    /// The switches of each tier.
    pub(super) fn tiers(&self) -> Vec<(Tier, Vec<u32>)> {
        let mut first = self.nodes;
        let mut all = Vec::new();
        for (tier, count) in self.tiers.iter().zip([self.tors(), self.aggregations(), self.cores]) {
            all.push((*tier, (first..first + count).map(|node| node as u32).collect()));
            first += count;
        }
        all
    }

    /// Nodes and cables: hosts, then ToRs, aggregation and core switches.
    pub(super) fn drawing(&self) -> Drawing {
        let mut layers = vec![0; self.nodes as usize];
        let mut cables = Vec::new();
        for (layer, (_, nodes)) in (1..).zip(self.tiers()) {
            layers.extend(nodes.iter().map(|_| layer));
        }
        let mut join = |a: u64, b: u64, tier: &Tier, copies: u64| {
            let link = Link { rate: tier.rate, latency: tier.latency, bit_error_rate: 0.0 };
            cables.extend((0..copies).map(|_| Cable { a: a as u32, b: b as u32, link }));
        };
        for host in 0..self.nodes {
            join(host, self.nodes + host / self.tiers[0].radix_down, &self.tiers[0], 1);
        }
        let (first_tor, first_aggregation) = (self.nodes, self.nodes + self.tors());
        for tor in 0..self.tors() {
            let pod = tor / self.tors_per_pod;
            for aggregation in 0..self.aggregations_per_pod {
                let other = first_aggregation + pod * self.aggregations_per_pod + aggregation;
                join(first_tor + tor, other, &self.tiers[1], self.tiers[1].bundle);
            }
        }
        if let Some(core) = self.tiers.get(2) {
            let first_core = first_aggregation + self.aggregations();
            for aggregation in 0..self.aggregations() {
                for link in 0..self.tiers[1].radix_up / core.bundle {
                    let other = aggregation % self.aggregations_per_pod + self.aggregations_per_pod * link;
                    join(first_aggregation + aggregation, first_core + other, core, core.bundle);
                }
            }
        }
        Drawing { layers, cables }
    }
}
