//! Selection of captured links by names or patterns of sender and receiver.

use super::{Medium, medium};
use fabric::graph::{Graph, NodeId};
use fabric::spec::NetworkSpec;
use scenario::Pattern;
use std::collections::BTreeMap;
use units::grouped;

/// One direction of a cable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Direction {
    /// Global number of the sending port.
    pub port: u32,
    /// Sender and receiver, as in `sw0->h1`; with ports if several cables connect them, as in `a:0->b:1`.
    pub name: String,
}

/// Number of unicast local identifiers of InfiniBand: 1 to 0xBFFF.
const UNICAST: u64 = 0xBFFF;

/// Returns the directions that match texts such as `sw0->h1` or `leaf*->spine?`, in the order of ports.
///
/// # Errors
/// Returns an error that suggests a remedy if a text matches no link, or a link of an InfiniBand network with more hosts
/// than addresses.
pub fn choose(spec: &NetworkSpec, texts: &[String]) -> Result<Vec<Direction>, String> {
    let graph = &spec.graph;
    let mut wanted = Vec::new();
    for text in texts {
        let Some((from, to)) = text.split_once("->") else {
            return Err(format!("`{text}` is not a link; write sender and receiver, such as 'sw0->h1'"));
        };
        let pattern = |name: &str| Pattern::parse(name.trim()).map_err(|reason| format!("`{text}`: {reason}"));
        let (from, to) = (pattern(from)?, pattern(to)?);
        for end in [&from, &to] {
            if let Some(missing) = end.unmatched(graph.nodes.iter().map(|node| node.name.as_str())) {
                return Err(format!("`{text}` names `{}`, which does not exist; {}", missing.first, some(graph)));
            }
        }
        wanted.push((text, from, to, false));
    }
    let name = |node: u32| graph.nodes[node as usize].name.as_str();
    let mut cables: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for cable in &graph.cables {
        *cables.entry((cable.a.0.min(cable.b.0), cable.a.0.max(cable.b.0))).or_default() += 1;
    }
    let hosts = graph.hosts().len() as u64;
    let (mut found, mut port) = (Vec::new(), 0);
    for (node, ends) in (0u32..).zip(graph.ports()) {
        for (number, end) in (0u32..).zip(ends) {
            let (from, to) = (name(node), name(end.peer.0));
            let mut chosen = false;
            for (_, sender, receiver, used) in &mut wanted {
                if sender.matches(from) && receiver.matches(to) {
                    (*used, chosen) = (true, true);
                }
            }
            if chosen {
                let parallel = cables.get(&(node.min(end.peer.0), node.max(end.peer.0))).is_some_and(|&it| it > 1);
                let name =
                    if parallel { format!("{from}:{number}->{to}:{}", end.peer_port) } else { format!("{from}->{to}") };
                if hosts > UNICAST && medium(spec, NodeId(node), end.peer) == Medium::InfiniBand {
                    return Err(format!(
                        "{name} is an InfiniBand link: a capture of it has 16-bit addresses, enough for {} hosts, and the \
                         network has {}; capture a smaller network",
                        grouped(UNICAST),
                        grouped(hosts)
                    ));
                }
                found.push(Direction { port, name });
            }
            port += 1;
        }
    }
    match wanted.iter().find(|(_, _, _, used)| !used) {
        Some((text, ..)) => Err(format!("there is no link `{text}`; {}", some(graph))),
        None => Ok(found),
    }
}

/// Returns examples of existing links.
fn some(graph: &Graph) -> String {
    let links: Vec<String> = graph
        .cables
        .iter()
        .take(3)
        .map(|cable| {
            let name = |node: fabric::graph::NodeId| &graph.nodes[node.0 as usize].name;
            format!("'{}->{}'", name(cable.b), name(cable.a))
        })
        .collect();
    format!("there are {} and others, in both directions", links.join(", "))
}
