//! Buffers of switches: a shared pool with PFC, as `SwitchMmu` of the simulator has it.

use super::super::Work;
use super::super::write::Drawing;
use super::config::Config;
use super::topology::{Link, Topology};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use units::Bytes;

/// Bytes that a port's queue has for itself, and how far below its threshold a sender resumes: of the simulator, and of
/// the fork.
const RESERVES: [u64; 2] = [4096, 0];
const RESUMES: [u64; 2] = [3072, 2496];
/// Queues of a port for which the fork sets headroom aside; the simulator does for one.
const QUEUES: [u64; 2] = [1, 8];

/// Headroom of a port: three times what is on its way in one direction.
fn headroom(link: &Link) -> u64 {
    let nanos = u128::from(link.delay.as_picos() / 1000);
    (u128::from(link.rate.as_bits_per_sec()) * nanos / 8 / 1_000_000_000 * 3) as u64
}

/// The sections `[[switches]]`: one for each size of the shared pool.
pub(super) fn switches(
    work: &mut Work,
    topology: &Topology,
    keys: &Config<'_>,
    drawing: &Drawing,
    classes: usize,
) -> String {
    let size = keys.count(work, "BUFFER_SIZE", 16);
    if !(1..=4095).contains(&size) {
        work.refuse(keys.place("BUFFER_SIZE"), format!("a buffer of {size} MiB"), "give 1 to 4095 MiB");
        return String::new();
    }
    let size = size << 20;
    let kind = usize::from(topology.is_fork);
    let mut reserved = vec![0; topology.is_switch.len()];
    for link in &topology.links {
        for end in link.ends {
            reserved[end as usize] += headroom(link) * QUEUES[kind] + RESERVES[kind];
        }
    }
    let mut groups: Vec<Group> = Vec::new();
    let switches = (0..).zip(&topology.is_switch).filter(|(_, is_switch)| **is_switch);
    for (node, _) in switches {
        let pool = size.checked_sub(reserved[node as usize]).filter(|pool| *pool > 0);
        let shifts = if pool.is_some() { shifts(topology, node) } else { BTreeMap::new() };
        match groups.iter_mut().find(|group| group.fits(pool, &shifts)) {
            Some(group) => group.add(node, shifts),
            None => groups.push(Group { pool, nodes: vec![node], shifts }),
        }
    }
    let mut text = String::new();
    for Group { pool, nodes, shifts } in &groups {
        // The usual share of the free buffer, and the larger ones of fast ports.
        let usual = shifts.values().max().copied().unwrap_or(SHIFT);
        let (shared, alpha) = match pool {
            Some(pool) => (Bytes::new(*pool), format!("1/{}", 1 << usual)),
            None => {
                let meaning = format!(
                    "the headroom of the ports of {} exceeds it, and the simulator then never pauses: here the whole \
                     buffer is shared, and a port is paused when it is full",
                    drawing.names(nodes)
                );
                work.note("BUFFER_SIZE", meaning);
                (Bytes::new(size), "64".to_owned())
            }
        };
        let _ = write!(text, "\n[[switches]]\nmatch = {}\n", drawing.names(nodes));
        let _ = write!(
            text,
            "flow_control = \"pfc\"\nbuffer = \"shared\"\nshared_size = \"{shared}\"\nalpha = \"{alpha}\"\n"
        );
        let (capacity, xon) = (Bytes::new(RESERVES[kind]), Bytes::new(RESUMES[kind]));
        let _ = writeln!(text, "buffers = {{ capacity = \"{capacity}\", xon = \"{xon}\" }}");
        for shift in (0..usual).rev() {
            let neighbours: Vec<u32> = shifts.iter().filter(|(_, of)| **of == shift).map(|(node, _)| *node).collect();
            if !neighbours.is_empty() {
                let _ = write!(text, "\n[[switches.ports]]\nneighbours = {}\n", drawing.names(&neighbours));
                let own = format!("capacity = \"{capacity}\", xon = \"{xon}\", alpha = \"1/{}\"", 1 << shift);
                let _ = writeln!(text, "buffers = {{ {own} }}");
            }
        }
    }
    if classes > 1 {
        text = text.replace("\nflow_control", "\negress = [{ classes = \"*\" }]\nflow_control");
        text.push_str("\n[[adapters]]\negress = [{ classes = \"*\" }]\n");
    }
    text
}

/// Switches with the same pool whose ports to the same neighbours are alike.
struct Group {
    /// `None` if headroom takes the whole buffer.
    pool: Option<u64>,
    nodes: Vec<u32>,
    /// By neighbour: a port may use the free buffer divided by this power of two.
    shifts: BTreeMap<u32, u32>,
}

impl Group {
    fn fits(&self, pool: Option<u64>, shifts: &BTreeMap<u32, u32>) -> bool {
        self.pool == pool && shifts.iter().all(|(node, shift)| self.shifts.get(node).is_none_or(|of| of == shift))
    }

    fn add(&mut self, node: u32, shifts: BTreeMap<u32, u32>) {
        self.nodes.push(node);
        self.shifts.extend(shifts);
    }
}

/// A port may use an eighth of the free buffer.
const SHIFT: u32 = 3;

/// By neighbour of a switch: by which power of two the free buffer is divided. In the simulator, a port twice as fast as the
/// adapter of the first host may use twice as much, and so on, up to all of it.
fn shifts(topology: &Topology, switch: u32) -> BTreeMap<u32, u32> {
    let first = topology.hosts().next();
    let adapter = topology.links.iter().find(|link| first.is_some_and(|host| link.ends.contains(&host)));
    let adapter = adapter.map_or(u64::MAX, |link| link.rate.as_bits_per_sec());
    let of_link = |link: &Link| {
        let (mut shift, mut rate) = (SHIFT, link.rate.as_bits_per_sec());
        while !topology.is_fork && rate > adapter && shift > 0 {
            (shift, rate) = (shift - 1, rate / 2);
        }
        shift
    };
    let mine = topology.links.iter().filter(|link| link.ends.contains(&switch));
    mine.map(|link| (if link.ends[0] == switch { link.ends[1] } else { link.ends[0] }, of_link(link))).collect()
}
