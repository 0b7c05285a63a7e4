//! The extensions of IS-IS for shortest path bridging (802.1aq) by RFC 6329.
//!
//! | where | sub-TLV | length |
//! |---|---|---|
//! | hello, TLV 143 | 4 MCID and auxiliary MCID | 102 |
//! | | 5 digest: reserved:3 V:1 A:2 D:2, agreement digest | 33 |
//! | | 6 base VLANs: n times algorithm, VID:12 U:1 M:1 reserved:2 | 6 n |
//! | link state, TLV 144 | 1 instance: root, cost, priority, reserved:11 V:1 source:20, trees, n times U:1 M:1 A:1 reserved:5, algorithm, base VID:12 SPVID:12 | 19 + 8 n |
//! | | 3 SPBM service: address, reserved:4 base VID:12, n times T:1 R:1 reserved:6 I-SID:24 | 8 + 4 n |
//! | | 4 SPBV addresses: reserved:2 SR:2 SPVID:12, n times T:1 R:1 reserved:6, address | 2 + 7 n |
//! | link state, TLV 22 | 29 link metric: metric:24, ports, port | 6 |

use super::tlv::{Raw, Raws, emit};
use crate::bytes::{array, at_least, be8, be16, be24, be32, be64, from};
use crate::mcid::Mcid;
use crate::{Address, Error, VlanId, Writer};

const MCID: u8 = 4;
const DIGEST: u8 = 5;
const BASE_VLANS: u8 = 6;
const INSTANCE: u8 = 1;
const SERVICE: u8 = 3;
const ADDRESSES: u8 = 4;
const LINK_METRIC: u8 = 29;

/// The first of the sixteen equal-cost tree algorithms; the others follow consecutively.
pub const FIRST_ALGORITHM: u32 = 0x0080_C201;

fn wrong_length(what: &'static str, body: &[u8]) -> Error {
    Error::Field { what, field: "length", value: body.len() as u64 }
}

fn exactly(body: &[u8], need: usize, what: &'static str) -> Result<(), Error> {
    if body.len() == need { Ok(()) } else { Err(wrong_length(what, body)) }
}

/// Capability of a port (TLV 143).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortCapability<'a> {
    /// Topology; only zero is used.
    pub topology: u16,
    details: &'a [u8],
}

/// A sub-TLV of a port's capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortDetail<'a> {
    /// Current mapping of VLANs, and the next or previous one.
    Mcid(Mcid, Mcid),
    /// Digest of the sender's topology.
    Digest(Digest),
    /// Algorithms of base VLANs.
    BaseVlans(BaseVlans<'a>),
    /// Unknown sub-TLV.
    Unknown(Raw<'a>),
}

impl<'a> PortCapability<'a> {
    pub(super) fn parse(body: &'a [u8]) -> Result<PortCapability<'a>, Error> {
        at_least(body, 2, "port capability")?;
        Ok(PortCapability { topology: be16(body, 0) & 0xFFF, details: from(body, 2) })
    }

    pub(super) fn emit(&self, out: &mut Writer) {
        out.u16(self.topology & 0xFFF);
        out.bytes(self.details);
    }

    /// Returns the sub-TLVs.
    #[must_use]
    pub fn details(&self) -> Details<'a, PortDetail<'a>> {
        Details { raws: Raws::new(self.details), malformed: 0, parse: PortDetail::parse }
    }
}

impl<'a> PortDetail<'a> {
    fn parse(raw: Raw<'a>) -> Result<PortDetail<'a>, Error> {
        let body = raw.body;
        Ok(match raw.kind {
            MCID => {
                exactly(body, 2 * Mcid::LENGTH, "SPB MCID")?;
                PortDetail::Mcid(Mcid::parse(body)?, Mcid::parse(from(body, Mcid::LENGTH))?)
            }
            DIGEST => {
                exactly(body, 33, "SPB digest")?;
                let flags = be8(body, 0);
                PortDetail::Digest(Digest {
                    valid: flags & 0x10 != 0,
                    agreement: flags >> 2 & 3,
                    discarded: flags & 3,
                    digest: array(body, 1),
                })
            }
            BASE_VLANS => match body.as_chunks() {
                (vlans, []) => PortDetail::BaseVlans(BaseVlans(vlans)),
                _ => return Err(wrong_length("SPB base VLANs", body)),
            },
            _ => PortDetail::Unknown(raw),
        })
    }

    /// Writes the sub-TLV.
    pub fn emit(&self, out: &mut Writer) {
        match self {
            PortDetail::Mcid(mcid, auxiliary) => emit(out, MCID, |out| {
                mcid.emit(out);
                auxiliary.emit(out);
            }),
            PortDetail::Digest(it) => emit(out, DIGEST, |out| {
                out.u8(u8::from(it.valid) << 4 | (it.agreement & 3) << 2 | it.discarded & 3);
                out.bytes(&it.digest);
            }),
            PortDetail::BaseVlans(vlans) => emit(out, BASE_VLANS, |out| out.bytes(vlans.0.as_flattened())),
            PortDetail::Unknown(raw) => emit(out, raw.kind, |out| out.bytes(raw.body)),
        }
    }
}

/// Digest of the sender's topology. The computation from each edge is not public: only neighbours of the same make can
/// compare it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest {
    /// V: whether the digest is valid.
    pub valid: bool,
    /// A: agreement number.
    pub agreement: u8,
    /// D: discarded agreement number.
    pub discarded: u8,
    /// Agreement digest.
    pub digest: [u8; 32],
}

/// The algorithm of a base VLAN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaseVlan {
    /// Equal-cost tree algorithm, from [`FIRST_ALGORITHM`].
    pub algorithm: u32,
    /// Base VLAN.
    pub vlan: VlanId,
    /// U: whether it is in use.
    pub used: bool,
    /// M: SPBM if true, SPBV otherwise.
    pub spbm: bool,
}

impl BaseVlan {
    /// Returns the encoding in the sub-TLV.
    #[must_use]
    pub fn encode(&self) -> [u8; 6] {
        let [a, b, c, d] = self.algorithm.to_be_bytes();
        let low = self.vlan.get() << 4 | u16::from(self.used) << 3 | u16::from(self.spbm) << 2;
        let [e, f] = low.to_be_bytes();
        [a, b, c, d, e, f]
    }
}

/// Base VLANs, borrowed from the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaseVlans<'a>(&'a [[u8; 6]]);

impl<'a> BaseVlans<'a> {
    /// The largest number that fits beside the other sub-TLVs of a hello.
    pub const MOST: usize = 18;

    /// Creates a list of entries encoded by [`BaseVlan::encode`], if they fit.
    #[must_use]
    pub fn new(entries: &'a [[u8; 6]]) -> Option<BaseVlans<'a>> {
        (entries.len() <= BaseVlans::MOST).then_some(BaseVlans(entries))
    }

    /// Returns the base VLANs.
    pub fn iter(&self) -> impl Iterator<Item = BaseVlan> + 'a {
        self.0.iter().map(|octets| {
            let low = be16(octets, 4);
            let (used, spbm) = (low & 8 != 0, low & 4 != 0);
            BaseVlan { algorithm: be32(octets, 0), vlan: VlanId::low_bits(low >> 4), used, spbm }
        })
    }
}

/// Capability of a node (TLV 144).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capability<'a> {
    /// Overload: no path should lead through the node.
    pub overload: bool,
    /// Topology; only zero is used.
    pub topology: u16,
    details: &'a [u8],
}

/// A sub-TLV of a node's capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail<'a> {
    /// The bridge itself.
    Instance(Instance<'a>),
    /// Services of the bridge (SPBM).
    Service(Service<'a>),
    /// Group addresses of the bridge (SPBV).
    Addresses(Addresses<'a>),
    /// Unknown sub-TLV.
    Unknown(Raw<'a>),
}

impl<'a> Capability<'a> {
    pub(super) fn parse(body: &'a [u8]) -> Result<Capability<'a>, Error> {
        at_least(body, 2, "capability")?;
        let first = be16(body, 0);
        Ok(Capability { overload: first >> 15 == 1, topology: first & 0xFFF, details: from(body, 2) })
    }

    pub(super) fn emit(&self, out: &mut Writer) {
        out.u16(u16::from(self.overload) << 15 | self.topology & 0xFFF);
        out.bytes(self.details);
    }

    /// Returns the sub-TLVs.
    #[must_use]
    pub fn details(&self) -> Details<'a, Detail<'a>> {
        Details { raws: Raws::new(self.details), malformed: 0, parse: Detail::parse }
    }
}

impl<'a> Detail<'a> {
    fn parse(raw: Raw<'a>) -> Result<Detail<'a>, Error> {
        let body = raw.body;
        Ok(match raw.kind {
            INSTANCE => Detail::Instance(Instance::parse(body)?),
            SERVICE => {
                at_least(body, 8, "SPBM service")?;
                let (instances, []) = from(body, 8).as_chunks() else {
                    return Err(wrong_length("SPBM service", body));
                };
                let base_vlan = VlanId::low_bits(be16(body, 6));
                Detail::Service(Service { address: Address(array(body, 0)), base_vlan, instances })
            }
            ADDRESSES => {
                at_least(body, 2, "SPBV addresses")?;
                let (addresses, []) = from(body, 2).as_chunks() else {
                    return Err(wrong_length("SPBV addresses", body));
                };
                let first = be16(body, 0);
                let requirement = (first >> 12 & 3) as u8;
                Detail::Addresses(Addresses { requirement, vlan: VlanId::low_bits(first), addresses })
            }
            _ => Detail::Unknown(raw),
        })
    }

    /// Writes the sub-TLV.
    pub fn emit(&self, out: &mut Writer) {
        match self {
            Detail::Instance(it) => emit(out, INSTANCE, |out| it.emit(out)),
            Detail::Service(it) => emit(out, SERVICE, |out| {
                out.bytes(&it.address.0);
                out.u16(it.base_vlan.get());
                out.bytes(it.instances.as_flattened());
            }),
            Detail::Addresses(it) => emit(out, ADDRESSES, |out| {
                out.u16(u16::from(it.requirement & 3) << 12 | it.vlan.get());
                out.bytes(it.addresses.as_flattened());
            }),
            Detail::Unknown(raw) => emit(out, raw.kind, |out| out.bytes(raw.body)),
        }
    }
}

/// The sending bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instance<'a> {
    /// Root of the common spanning tree, for bridges outside the region.
    pub root: u64,
    /// Cost to that root outside the region.
    pub root_cost: u32,
    /// Upper half of the bridge identifier; the system identifier is the lower half.
    pub priority: u16,
    /// V: whether the source number was chosen automatically; otherwise it was configured.
    pub automatic: bool,
    /// The 20 bits that identify it as the source in group addresses.
    pub source: u32,
    trees: &'a [[u8; 8]],
}

impl<'a> Instance<'a> {
    const FIXED: usize = 19;
    /// The largest number of trees in a TLV.
    pub const MOST: usize = (255 - 2 - 2 - Instance::FIXED) / 8;

    /// Creates an instance without trees.
    #[must_use]
    pub fn new(priority: u16, source: u32) -> Instance<'a> {
        Instance { root: 0, root_cost: 0, priority, automatic: false, source: source & 0xF_FFFF, trees: &[] }
    }

    /// Returns the instance with trees encoded by [`Tree::encode`], if they fit.
    #[must_use]
    pub fn with_trees(self, trees: &'a [[u8; 8]]) -> Option<Instance<'a>> {
        (trees.len() <= Instance::MOST).then_some(Instance { trees, ..self })
    }

    fn parse(body: &'a [u8]) -> Result<Instance<'a>, Error> {
        let what = "SPB instance";
        at_least(body, Instance::FIXED, what)?;
        let source = be32(body, 14);
        let (trees, rest) = from(body, Instance::FIXED).as_chunks();
        if trees.len() != usize::from(be8(body, 18)) || !rest.is_empty() {
            return Err(wrong_length(what, body));
        }
        Ok(Instance {
            root: be64(body, 0),
            root_cost: be32(body, 8),
            priority: be16(body, 12),
            automatic: source >> 20 & 1 == 1,
            source: source & 0xF_FFFF,
            trees,
        })
    }

    fn emit(&self, out: &mut Writer) {
        out.u64(self.root);
        out.u32(self.root_cost);
        out.u16(self.priority);
        out.u32(u32::from(self.automatic) << 20 | self.source & 0xF_FFFF);
        out.u8(self.trees.len() as u8);
        out.bytes(self.trees.as_flattened());
    }

    /// Returns the trees.
    pub fn trees(&self) -> impl Iterator<Item = Tree> + 'a {
        self.trees.iter().map(|octets| {
            let (flags, low) = (be8(octets, 0), be24(octets, 5));
            Tree {
                used: flags & 0x80 != 0,
                spbm: flags & 0x40 != 0,
                automatic: flags & 0x20 != 0,
                algorithm: be32(octets, 1),
                base_vlan: VlanId::low_bits((low >> 12) as u16),
                source_vlan: VlanId::low_bits(low as u16),
            }
        })
    }
}

/// An equal-cost tree of a bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tree {
    /// U: whether services use it.
    pub used: bool,
    /// M: SPBM if true, SPBV otherwise.
    pub spbm: bool,
    /// A: whether SPVIDs are chosen automatically.
    pub automatic: bool,
    /// Equal-cost tree algorithm.
    pub algorithm: u32,
    /// Base VLAN.
    pub base_vlan: VlanId,
    /// The bridge's own VLAN in the tree (SPBV).
    pub source_vlan: VlanId,
}

impl Tree {
    /// Returns the encoding in the sub-TLV.
    #[must_use]
    pub fn encode(&self) -> [u8; 8] {
        let mut octets = [0; 8];
        let mut out = Writer::new(&mut octets);
        out.u8(u8::from(self.used) << 7 | u8::from(self.spbm) << 6 | u8::from(self.automatic) << 5);
        out.u32(self.algorithm);
        out.u24(u32::from(self.base_vlan.get()) << 12 | u32::from(self.source_vlan.get()));
        octets
    }
}

/// Services at a backbone address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service<'a> {
    /// Backbone address.
    pub address: Address,
    /// Base VLAN.
    pub base_vlan: VlanId,
    instances: &'a [[u8; 4]],
}

impl<'a> Service<'a> {
    /// Creates a list of services encoded by [`ServiceInstance::encode`], if they fit.
    #[must_use]
    pub fn new(address: Address, base_vlan: VlanId, instances: &'a [[u8; 4]]) -> Option<Service<'a>> {
        (instances.len() <= (255 - 4 - 8) / 4).then_some(Service { address, base_vlan, instances })
    }

    /// Returns the services.
    pub fn instances(&self) -> impl Iterator<Item = ServiceInstance> + 'a {
        self.instances.iter().map(|octets| {
            let flags = be8(octets, 0);
            ServiceInstance { transmits: flags & 0x80 != 0, receives: flags & 0x40 != 0, service: be24(octets, 1) }
        })
    }
}

/// A service of which a bridge is a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceInstance {
    /// T: whether the bridge sends to the service's groups.
    pub transmits: bool,
    /// R: whether the bridge receives from the service's groups.
    pub receives: bool,
    /// I-SID, 24 bits.
    pub service: u32,
}

impl ServiceInstance {
    /// Returns the encoding in the sub-TLV.
    #[must_use]
    pub fn encode(&self) -> [u8; 4] {
        let flags = u32::from(self.transmits) << 31 | u32::from(self.receives) << 30;
        (flags | self.service & 0xFF_FFFF).to_be_bytes()
    }
}

/// Group addresses of a bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses<'a> {
    /// SR: service requirement of 2 bits.
    pub requirement: u8,
    /// The bridge's own VLAN.
    pub vlan: VlanId,
    addresses: &'a [[u8; 7]],
}

impl<'a> Addresses<'a> {
    /// Creates a list of addresses encoded by [`GroupAddress::encode`], if they fit.
    #[must_use]
    pub fn new(requirement: u8, vlan: VlanId, addresses: &'a [[u8; 7]]) -> Option<Addresses<'a>> {
        let fits = requirement < 4 && addresses.len() <= (255 - 4 - 2) / 7;
        fits.then_some(Addresses { requirement, vlan, addresses })
    }

    /// Returns the addresses.
    pub fn addresses(&self) -> impl Iterator<Item = GroupAddress> + 'a {
        self.addresses.iter().map(|octets| {
            let flags = be8(octets, 0);
            let address = Address(array(octets, 1));
            GroupAddress { transmits: flags & 0x80 != 0, receives: flags & 0x40 != 0, address }
        })
    }
}

/// A group of which a bridge is a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupAddress {
    /// T: whether the bridge sends to the group.
    pub transmits: bool,
    /// R: whether the bridge receives from the group.
    pub receives: bool,
    /// Group address.
    pub address: Address,
}

impl GroupAddress {
    /// Returns the encoding in the sub-TLV.
    #[must_use]
    pub fn encode(&self) -> [u8; 7] {
        let mut octets = [0; 7];
        let mut out = Writer::new(&mut octets);
        out.u8(u8::from(self.transmits) << 7 | u8::from(self.receives) << 6);
        out.bytes(&self.address.0);
        octets
    }
}

/// The metric of a link in shortest path bridging. The cost of a link is the larger metric of its two ends, and the
/// largest 24-bit number means that the link must not carry traffic (RFC 6329, section 15.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkMetric {
    /// Metric, 24 bits.
    pub metric: u32,
    /// Number of ports at the sender's end.
    pub ports: u8,
    /// First of these ports.
    pub port: u16,
}

impl LinkMetric {
    /// The metric of a link that must not carry traffic.
    pub const UNUSABLE: u32 = 0xFF_FFFF;

    /// Parses a sub-TLV of a neighbour.
    pub fn parse(raw: Raw) -> Result<LinkMetric, Error> {
        if raw.kind != LINK_METRIC {
            return Err(Error::Missing { what: "neighbour", element: "SPB link metric" });
        }
        exactly(raw.body, 6, "SPB link metric")?;
        Ok(LinkMetric { metric: be24(raw.body, 0), ports: be8(raw.body, 3), port: be16(raw.body, 4) })
    }

    /// Writes the sub-TLV.
    pub fn emit(&self, out: &mut Writer) {
        emit(out, LINK_METRIC, |out| {
            out.u24(self.metric);
            out.u8(self.ports);
            out.u16(self.port);
        });
    }
}

/// An iterator over valid sub-TLVs. Malformed ones are skipped and counted.
#[derive(Clone, Debug)]
pub struct Details<'a, T> {
    raws: Raws<'a>,
    malformed: usize,
    parse: fn(Raw<'a>) -> Result<T, Error>,
}

impl<T> Details<'_, T> {
    /// Returns the number of malformed sub-TLVs so far.
    #[must_use]
    pub fn malformed(&self) -> usize {
        self.malformed + usize::from(self.raws.is_cut_off())
    }
}

impl<T> Iterator for Details<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        loop {
            match (self.parse)(self.raws.next()?) {
                Ok(detail) => return Some(detail),
                Err(_) => self.malformed += 1,
            }
        }
    }
}
