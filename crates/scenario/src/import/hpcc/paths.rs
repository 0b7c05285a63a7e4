//! Paths: which of several next hops the simulator chooses for a flow and for its acknowledgements.
//!
//! A switch takes MurmurHash3 (32 bits) of the addresses and ports of a packet, with its own number as seed, modulo the
//! number of next hops. Next hops are in the order in which a search from the destination meets them; the search visits
//! neighbours by their addresses in memory: hosts as they were made, then switches in reverse, because each is an
//! allocation of its own, below the one before it.

use super::flows::Flow;
use super::topology::Topology;
use std::collections::BTreeMap;

/// The first port of a source, for each destination.
const FIRST_PORT: u16 = 10_000;

/// The numbers of the flows' paths: what is left of one at the destination is the number of the way back. `None` if no
/// switch has a choice, or if a number cannot say it: with parallel links, or a network of very many paths.
pub(super) fn numbers(topology: &Topology, flows: &[Flow]) -> Option<Vec<u32>> {
    let hops = Hops::new(topology)?;
    let mut by_host: BTreeMap<u32, Vec<(usize, bool)>> = BTreeMap::new();
    let mut source_ports = Vec::with_capacity(flows.len());
    let mut next_port: BTreeMap<(u32, u32), u16> = BTreeMap::new();
    for (number, flow) in flows.iter().enumerate() {
        let port = next_port.entry((flow.source, flow.destination)).or_insert(FIRST_PORT);
        source_ports.push(*port);
        *port = port.wrapping_add(1);
        by_host.entry(flow.destination).or_default().push((number, false));
        by_host.entry(flow.source).or_default().push((number, true));
    }
    let mut digits: Vec<[Vec<Digit>; 2]> = vec![Default::default(); flows.len()];
    for (&host, ends) in &by_host {
        let toward = hops.toward(host);
        for &(number, back) in ends {
            let (flow, sport) = (&flows[number], source_ports[number]);
            let packet = match back {
                false => Packet { from: flow.source, to: flow.destination, ports: [sport, flow.port] },
                true => Packet { from: flow.destination, to: flow.source, ports: [flow.port, sport] },
            };
            digits[number][usize::from(back)] = hops.way(&toward, packet)?;
        }
    }
    if digits.iter().flatten().all(Vec::is_empty) {
        return None;
    }
    digits.iter().map(number_of).collect()
}

/// A choice: which of how many outputs, in the order of ports.
type Digit = (u32, u32);

/// The number whose remainders are these choices, first those of the way there.
fn number_of([there, back]: &[Vec<Digit>; 2]) -> Option<u32> {
    let mut number = 0_u32;
    for &(digit, choices) in there.iter().chain(back).rev() {
        number = number.checked_mul(choices)?.checked_add(digit)?;
    }
    Some(number)
}

/// What a switch hashes.
#[derive(Clone, Copy)]
struct Packet {
    from: u32,
    to: u32,
    ports: [u16; 2],
}

impl Packet {
    fn hash(self, seed: u32) -> u32 {
        let [source, destination] = self.ports.map(u32::from);
        murmur3(&[address(self.from), address(self.to), source | destination << 16], seed)
    }
}

/// The address of a host.
fn address(node: u32) -> u32 {
    0x0b00_0001 + (node / 256) * 0x1_0000 + (node % 256) * 0x100
}

/// MurmurHash3 of 32 bits (Appleby, public domain) of whole words.
fn murmur3(words: &[u32], seed: u32) -> u32 {
    let mut hash = seed;
    for &word in words {
        let word = word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
        hash = (hash ^ word).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    hash ^= 4 * words.len() as u32;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

/// Neighbours of nodes.
struct Hops<'a> {
    topology: &'a Topology,
    /// By node, in the order of the simulator's search.
    neighbours: Vec<Vec<u32>>,
    /// By node: its neighbours in the order of its ports.
    ports: Vec<Vec<u32>>,
}

impl Hops<'_> {
    /// `None` if two nodes are joined by several links: the simulator uses the last of them only.
    fn new(topology: &Topology) -> Option<Hops<'_>> {
        let mut ports = vec![Vec::new(); topology.is_switch.len()];
        for link in &topology.links {
            let [a, b] = link.ends;
            ports[a as usize].push(b);
            ports[b as usize].push(a);
        }
        let neighbours: Vec<Vec<u32>> =
            topology.neighbours().iter().map(|of| of.iter().map(|(node, _)| *node).collect()).collect();
        let several = |of: &Vec<u32>| {
            let mut sorted = of.clone();
            sorted.sort_unstable();
            sorted.windows(2).any(|pair| pair[0] == pair[1])
        };
        if neighbours.iter().any(several) {
            return None;
        }
        Some(Hops { topology, neighbours, ports })
    }

    /// By node: its next hops toward a host, in the order of the simulator.
    fn toward(&self, host: u32) -> Vec<Vec<u32>> {
        let mut distance = vec![u32::MAX; self.neighbours.len()];
        let mut next: Vec<Vec<u32>> = vec![Vec::new(); self.neighbours.len()];
        distance[host as usize] = 0;
        let mut queue = vec![host];
        let mut head = 0;
        while let Some(&node) = queue.get(head) {
            head += 1;
            let here = distance[node as usize];
            for &neighbour in &self.neighbours[node as usize] {
                let there = &mut distance[neighbour as usize];
                if *there == u32::MAX {
                    *there = here + 1;
                    // No path leads through a host.
                    if self.topology.is_switch[neighbour as usize] {
                        queue.push(neighbour);
                    }
                }
                if *there == here + 1 {
                    next[neighbour as usize].push(node);
                }
            }
        }
        next
    }

    /// The choices of a packet on its way; `None` if there is none.
    fn way(&self, toward: &[Vec<u32>], packet: Packet) -> Option<Vec<Digit>> {
        let mut digits = Vec::new();
        let mut at = packet.from;
        while at != packet.to {
            let choices = &toward[at as usize];
            let next = match choices.len() {
                0 => return None,
                1 => choices[0],
                count => {
                    let next = choices[packet.hash(at) as usize % count];
                    let mut outputs = self.ports[at as usize].iter().filter(|node| choices.contains(node));
                    digits.push((outputs.position(|node| *node == next)? as u32, count as u32));
                    next
                }
            };
            at = next;
        }
        Some(digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_murmur3() {
        // Published values of the texts "test" and "aaaa".
        assert_eq!(murmur3(&[u32::from_le_bytes(*b"test")], 0), 0xba6b_d213);
        assert_eq!(murmur3(&[u32::from_le_bytes(*b"aaaa")], 0x9747_b28c), 0x5a97_808a);
        assert_eq!(address(0), 0x0b00_0001);
        assert_eq!(address(257), 0x0b01_0101);
    }

    #[test]
    fn a_number_is_its_choices_and_then_those_of_the_way_back() {
        let number = number_of(&[vec![(3, 4), (1, 2)], vec![(2, 3)]]).unwrap();
        assert_eq!(number, 3 + 4 * (1 + 2 * 2));
        assert_eq!(number_of(&[vec![(0, 70_000); 3], Vec::new()]), Some(0));
        assert_eq!(number_of(&[vec![(1, 70_000); 3], Vec::new()]), None);
    }
}
