//! The graph that a database describes.

use super::database::Database;
use wire::isis::spb::{Detail, LinkMetric};
use wire::isis::tlv::Tlv;
use wire::isis::{Repr, SystemId};

/// A link as advertised by a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// Neighbour.
    pub to: SystemId,
    /// Metric of shortest path bridging.
    pub metric: u32,
    /// Port number at the node.
    pub port: u16,
}

/// A bridge as advertised by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// System identifier.
    pub id: SystemId,
    /// Upper half of its bridge identifier.
    pub priority: u16,
    /// Overload: no path should lead through it.
    pub overload: bool,
    /// Links in order.
    pub links: Vec<Link>,
}

/// A link that both ends advertise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// End with the smaller identifier.
    pub a: SystemId,
    /// Other end.
    pub b: SystemId,
    /// Larger of both ends' metrics.
    pub cost: u32,
}

/// The bridges of a network with their advertised links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Bridges, in the order of their identifiers.
    pub nodes: Vec<Node>,
}

impl Topology {
    /// Only systems that advertise an SPB instance are bridges; only links with a metric of shortest path bridging are
    /// links, and the largest metric means that a link must not be used (RFC 6329, section 15.1).
    pub(super) fn of(database: &Database) -> Topology {
        let mut nodes: Vec<(Node, bool)> = Vec::new();
        for (id, stored) in database.iter().filter(|(_, stored)| !stored.is_dead()) {
            let [system @ .., pseudonode, fragment] = *id;
            let Some(pdu) = stored.pdu() else { continue };
            if pseudonode != 0 {
                continue;
            }
            if nodes.last().is_none_or(|(node, _)| node.id != system) {
                nodes.push((Node { id: system, priority: 0, overload: false, links: Vec::new() }, false));
            }
            let Some((node, is_bridge)) = nodes.last_mut() else { continue };
            if fragment == 0
                && let Repr::LinkState(state) = pdu.repr
            {
                node.overload = state.overload;
            }
            for tlv in pdu.tlvs() {
                match tlv {
                    Tlv::Neighbours(neighbours) => node.links.extend(neighbours.iter().filter_map(|it| {
                        let [to @ .., pseudonode] = it.id;
                        let usable = |link: &LinkMetric| pseudonode == 0 && link.metric != LinkMetric::UNUSABLE;
                        let link = it.link_metric().filter(usable)?;
                        Some(Link { to, metric: link.metric, port: link.port })
                    })),
                    // Without its first fragment a system says nothing (ISO 10589 7.2.8).
                    Tlv::Capability(capability) if fragment == 0 => {
                        node.overload |= capability.overload;
                        for detail in capability.details() {
                            if let Detail::Instance(instance) = detail {
                                (node.priority, *is_bridge) = (instance.priority, true);
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        let mut nodes: Vec<Node> = nodes.into_iter().filter(|it| it.1).map(|it| it.0).collect();
        nodes.iter_mut().for_each(|node| node.links.sort_unstable());
        Topology { nodes }
    }

    /// Returns the bridge with that identifier.
    #[must_use]
    pub fn node(&self, id: SystemId) -> Option<&Node> {
        self.nodes.binary_search_by_key(&id, |node| node.id).ok().map(|at| &self.nodes[at])
    }

    /// Returns the links that both ends advertise, in order. Parallel links between two bridges are paired by ascending
    /// metric.
    pub fn edges(&self) -> impl Iterator<Item = Edge> + '_ {
        self.nodes.iter().flat_map(move |node| {
            node.links.chunk_by(|x, y| x.to == y.to).filter(|links| links[0].to > node.id).flat_map(move |links| {
                let back = self.node(links[0].to).map_or(&[][..], |far| &far.links);
                let back = back.iter().filter(|link| link.to == node.id);
                links.iter().zip(back).map(|(there, back)| Edge {
                    a: node.id,
                    b: there.to,
                    cost: there.metric.max(back.metric),
                })
            })
        })
    }

    /// Returns a digest of the topology in 32 octets. The standard's digest is not public here; ours is HMAC-MD5 over
    /// the edges, and only bridges of this implementation can compare it.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let mut octets = Vec::new();
        for edge in self.edges() {
            octets.extend(edge.a);
            octets.extend(edge.b);
            octets.extend(edge.cost.to_be_bytes());
        }
        let mut digest = [0; 32];
        digest[..16].copy_from_slice(&wire::md5::hmac(b"tailback", [&octets[..]]));
        digest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isis::Timers;
    use units::Time;
    use wire::Writer;
    use wire::isis::spb::Instance;
    use wire::isis::tlv::{self, Neighbour};
    use wire::isis::{LinkState, Pdu};

    /// What a bridge of that number says: its links as neighbour and metric, and whether it is overloaded.
    fn told(database: &mut Database, number: u8, overload: bool, links: &[(u8, u32)]) {
        let id = [0, 0, 0, 0, 0, number, 0, 0];
        let state = LinkState { lifetime: 1200, id, sequence: 1, overload: false, attached: 0, level: 1 };
        let mut buffer = [0; 500];
        let mut out = Writer::new(&mut buffer);
        Repr::LinkState(state).emit(&mut out, |out| {
            tlv::emit_capability(out, overload, 0, |out| Detail::Instance(Instance::new(0, 1)).emit(out));
            tlv::emit_neighbours(out, |out| {
                for &(to, metric) in links {
                    let link = LinkMetric { metric, ports: 1, port: 1 };
                    Neighbour::emit(out, [0, 0, 0, 0, 0, to, 0], metric, |out| link.emit(out));
                }
            });
        });
        let length = out.finish().expect("it fits");
        let pdu = Pdu::parse(&buffer[..length]).expect("a PDU");
        database.store(Time::ZERO, &state, pdu.checksum(), pdu.bytes(), &Timers::default());
    }

    #[test]
    fn the_greatest_metric_is_no_link_and_overload_is_said_in_either_place() {
        let mut database = Database::default();
        told(&mut database, 1, true, &[(2, 10), (3, LinkMetric::UNUSABLE)]);
        told(&mut database, 2, false, &[(1, 30)]);
        told(&mut database, 3, false, &[(1, 5)]);
        let topology = Topology::of(&database);
        let id = |number| [0, 0, 0, 0, 0, number];
        assert_eq!(topology.edges().collect::<Vec<_>>(), [Edge { a: id(1), b: id(2), cost: 30 }]);
        assert_eq!(topology.nodes.iter().map(|node| node.overload).collect::<Vec<_>>(), [true, false, false]);
    }
}
