//! Buffers of switches: a shared pool with PFC, as `SwitchMmu` of the simulator has it.

use super::super::Work;
use super::super::write::Drawing;
use super::config::Config;
use super::topology::{Link, Topology};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use units::{Bytes, Rate};

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
    let mut by_pool: BTreeMap<Option<u64>, Vec<u32>> = BTreeMap::new();
    let switches = (0..).zip(&topology.is_switch).filter(|(_, is_switch)| **is_switch);
    for (node, _) in switches {
        by_pool.entry(size.checked_sub(reserved[node as usize]).filter(|pool| *pool > 0)).or_default().push(node);
    }
    let mut text = String::new();
    for (pool, nodes) in &by_pool {
        let (shared, alpha) = match pool {
            Some(pool) => (Bytes::new(*pool), "1/8"),
            None => {
                let meaning = format!(
                    "the headroom of the ports of {} exceeds it, and the simulator then never pauses: here the whole \
                     buffer is shared, and a port is paused when it is full",
                    drawing.names(nodes)
                );
                work.note("BUFFER_SIZE", meaning);
                (Bytes::new(size), "64")
            }
        };
        let _ = write!(text, "\n[[switches]]\nmatch = {}\n", drawing.names(nodes));
        let _ = write!(
            text,
            "flow_control = \"pfc\"\nbuffer = \"shared\"\nshared_size = \"{shared}\"\nalpha = \"{alpha}\"\n"
        );
        let _ = writeln!(
            text,
            "buffers = {{ capacity = \"{}\", xon = \"{}\" }}",
            Bytes::new(RESERVES[kind]),
            Bytes::new(RESUMES[kind])
        );
    }
    if classes > 1 {
        text = text.replace("\nflow_control", "\negress = [{ classes = \"*\" }]\nflow_control");
        text.push_str("\n[[adapters]]\negress = [{ classes = \"*\" }]\n");
    }
    if !topology.is_fork {
        faster_ports(work, topology);
    }
    text
}

/// Ports faster than the adapters have a larger share of the buffer in the simulator.
fn faster_ports(work: &mut Work, topology: &Topology) {
    let to_host = |link: &&Link| link.ends.iter().any(|end| !topology.is_switch[*end as usize]);
    let adapter = topology.links.iter().find(to_host).map_or(Rate::ZERO, |link| link.rate);
    if topology.links.iter().any(|link| link.rate > adapter) {
        let meaning = "ports faster than those of hosts pause later in the simulator, in proportion to their rate; here \
                       every port may use an eighth of the free buffer";
        work.note("PFC threshold", meaning);
    }
}
