//! Pre-standard DCBX (Converged Enhanced Ethernet, version 1.01), organisation 00-1B-21, subtype 2: TLVs in a TLV.
//!
//! Control (1) has version, highest version, sequence number, acknowledged number. Each feature begins with version,
//! highest version, enable:1 willing:1 error:1 reserved:5, and a subtype of zero; then
//! priority groups (2): groups by priority, shares by group, number of traffic classes;
//! flow control (3): priorities, number of classes;
//! applications (4): n times protocol, organisation's upper 6 bits and selector:2, its lower 16 bits, priorities.

use super::{Discarded, Taken, Tlvs, emit_groups, emit_organisation, emit_tlv, exactly, groups, keep, percentages};
use crate::bytes::{array, at_least, be8, be16, be32, from};
use crate::{Error, Writer};

/// Intel, under whose identifier the group published.
pub const ORGANISATION: [u8; 3] = [0x00, 0x1B, 0x21];
/// Subtype of version 1.01.
pub const SUBTYPE: u8 = 2;
const CONTROL: u8 = 1;
const PRIORITY_GROUPS: u8 = 2;
const FLOW_CONTROL: u8 = 3;
const APPLICATIONS: u8 = 4;
const FEATURE: usize = 4;

/// The contents of the TLV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cee<'a> {
    /// Sequence and acknowledgement numbers.
    pub control: Control,
    /// Priority groups.
    pub groups: Option<(Feature, PriorityGroups)>,
    /// Priority flow control.
    pub flow_control: Option<(Feature, FlowControl)>,
    /// Applications.
    pub applications: Option<(Feature, Applications<'a>)>,
}

/// Sequence and acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Control {
    /// Version in use.
    pub version: u8,
    /// Highest version known.
    pub highest: u8,
    /// Sequence number: changes with the sender's configuration.
    pub sequence: u32,
    /// Last sequence number received from the peer.
    pub acknowledged: u32,
}

/// The common fields of every feature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Feature {
    /// Version in use.
    pub version: u8,
    /// Highest version known.
    pub highest: u8,
    /// Whether the feature is enabled.
    pub enabled: bool,
    /// Whether the sender accepts its peer's configuration.
    pub willing: bool,
    /// Whether the two configurations are incompatible.
    pub error: bool,
}

impl Feature {
    fn parse(body: &[u8], what: &'static str) -> Result<Feature, Error> {
        at_least(body, FEATURE, what)?;
        let [version, highest, flags, _] = array(body, 0);
        let bit = |mask| flags & mask != 0;
        Ok(Feature { version, highest, enabled: bit(0x80), willing: bit(0x40), error: bit(0x20) })
    }

    fn emit(&self, out: &mut Writer) {
        let flags = u8::from(self.enabled) << 7 | u8::from(self.willing) << 6 | u8::from(self.error) << 5;
        out.bytes(&[self.version, self.highest, flags, 0]);
    }
}

/// The group of each priority, and the share of each group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PriorityGroups {
    /// Group by priority; `None` is group 15, which has precedence over all others.
    pub groups: [Option<u8>; 8],
    /// Percentage by group.
    pub shares: [u8; 8],
    /// Number of supported traffic classes.
    pub classes: u8,
}

/// The priorities with priority flow control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowControl {
    /// Priorities; bit n is priority n.
    pub priorities: u8,
    /// Number of priorities that can be paused at a time.
    pub classes: u8,
}

/// The priorities of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Application {
    /// Protocol number.
    pub protocol: u16,
    /// Type of the protocol number: 0 is an Ethernet type, 1 a port.
    pub selector: u8,
    /// Organisation that assigned the number; the upper 6 bits of the first octet count.
    pub organisation: [u8; 3],
    /// Priorities; bit n is priority n.
    pub priorities: u8,
}

impl Application {
    /// Returns the encoding in the table.
    #[must_use]
    pub fn encode(&self) -> [u8; 6] {
        let ([high, low], [upper, middle, lower]) = (self.protocol.to_be_bytes(), self.organisation);
        [high, low, upper & 0xFC | self.selector & 3, middle, lower, self.priorities]
    }

    fn decode([high, low, upper, middle, lower, priorities]: [u8; 6]) -> Application {
        let organisation = [upper & 0xFC, middle, lower];
        Application { protocol: u16::from_be_bytes([high, low]), selector: upper & 3, organisation, priorities }
    }
}

/// A table of applications, borrowed from the frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Applications<'a>(&'a [[u8; 6]]);

impl<'a> Applications<'a> {
    /// The largest number of entries that fits into the TLV beside everything else.
    pub const MOST: usize = (super::LONGEST - 4 - 12 - 19 - 8 - 6) / 6;

    /// Creates a table of entries encoded by [`Application::encode`], if they fit into the TLV.
    #[must_use]
    pub fn new(entries: &'a [[u8; 6]]) -> Option<Applications<'a>> {
        (entries.len() <= Applications::MOST).then_some(Applications(entries))
    }

    /// Returns the applications.
    pub fn iter(&self) -> impl Iterator<Item = Application> + 'a {
        self.0.iter().map(|&entry| Application::decode(entry))
    }
}

impl<'a> Cee<'a> {
    /// Reads the TLV from behind its subtype; without its control part it is malformed as a whole.
    pub(super) fn parse(body: &'a [u8], discarded: &mut Discarded) -> Result<Cee<'a>, Error> {
        let (mut control, mut priority_groups, mut flow_control, mut applications) = (None, None, None, None);
        let mut tlvs = Tlvs::new(body);
        for tlv in tlvs.by_ref() {
            let taken = match tlv.kind {
                CONTROL => keep(&mut control, parse_control(tlv.body)),
                PRIORITY_GROUPS => keep(&mut priority_groups, parse_groups(tlv.body)),
                FLOW_CONTROL => keep(&mut flow_control, parse_flow_control(tlv.body)),
                APPLICATIONS => keep(&mut applications, parse_applications(tlv.body)),
                _ => Taken::Unknown,
            };
            match taken {
                Taken::Yes => {}
                Taken::Again => discarded.repeated = discarded.repeated.saturating_add(1),
                Taken::Malformed => discarded.malformed = discarded.malformed.saturating_add(1),
                Taken::Unknown => discarded.unknown = discarded.unknown.saturating_add(1),
            }
        }
        discarded.malformed = discarded.malformed.saturating_add(u16::from(tlvs.is_cut_off()));
        let control = control.ok_or(Error::Missing { what: "CEE DCBX", element: "control" })?;
        Ok(Cee { control, groups: priority_groups, flow_control, applications })
    }

    pub(super) fn emit(&self, out: &mut Writer) {
        emit_organisation(out, ORGANISATION, SUBTYPE, |out| {
            let Control { version, highest, sequence, acknowledged } = self.control;
            emit_tlv(out, CONTROL, |out| {
                out.bytes(&[version, highest]);
                out.u32(sequence);
                out.u32(acknowledged);
            });
            if let Some((feature, groups)) = &self.groups {
                emit_tlv(out, PRIORITY_GROUPS, |out| {
                    feature.emit(out);
                    emit_groups(&groups.groups, out);
                    groups.shares.iter().for_each(|&share| out.u8(share.min(100)));
                    out.u8(groups.classes);
                });
            }
            if let Some((feature, flow_control)) = &self.flow_control {
                emit_tlv(out, FLOW_CONTROL, |out| {
                    feature.emit(out);
                    out.bytes(&[flow_control.priorities, flow_control.classes]);
                });
            }
            if let Some((feature, applications)) = &self.applications {
                emit_tlv(out, APPLICATIONS, |out| {
                    feature.emit(out);
                    applications.0.iter().for_each(|entry| out.bytes(entry));
                });
            }
        });
    }
}

fn parse_control(body: &[u8]) -> Result<Control, Error> {
    exactly(body, 10, "CEE control")?;
    let [version, highest] = array(body, 0);
    Ok(Control { version, highest, sequence: be32(body, 2), acknowledged: be32(body, 6) })
}

fn parse_groups(body: &[u8]) -> Result<(Feature, PriorityGroups), Error> {
    let what = "CEE priority groups";
    exactly(body, FEATURE + 13, what)?;
    let (tables, shares) = (groups(from(body, FEATURE), what)?, percentages(body, FEATURE + 4, what)?);
    Ok((Feature::parse(body, what)?, PriorityGroups { groups: tables, shares, classes: be8(body, FEATURE + 12) }))
}

fn parse_flow_control(body: &[u8]) -> Result<(Feature, FlowControl), Error> {
    exactly(body, FEATURE + 2, "CEE flow control")?;
    let [priorities, classes] = be16(body, FEATURE).to_be_bytes();
    Ok((Feature::parse(body, "CEE flow control")?, FlowControl { priorities, classes }))
}

fn parse_applications(body: &[u8]) -> Result<(Feature, Applications<'_>), Error> {
    let what = "CEE applications";
    let feature = Feature::parse(body, what)?;
    match from(body, FEATURE).as_chunks::<6>() {
        (entries, []) => Ok((feature, Applications(entries))),
        _ => Err(Error::Field { what, field: "length", value: body.len() as u64 }),
    }
}
