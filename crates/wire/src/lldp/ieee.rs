//! The five TLVs of Data Center Bridging (802.1Q annex D), organisation 00-80-C2.
//!
//! | subtype | length with organisation | body |
//! |---|---|---|
//! | 8 congestion notification | 6 | priorities that notify, priorities that are ready |
//! | 9 ETS configuration | 25 | willing:1 shaper:1 reserved:3 classes:3; classes by priority; shares; algorithms |
//! | 10 ETS recommendation | 25 | reserved; the same three tables |
//! | 11 PFC | 6 | willing:1 bypass:1 reserved:2 capability:4; priorities |
//! | 12 application priority | 5 + 3 n | reserved; n times priority:3 reserved:2 selector:3, protocol |

use super::{Taken, emit_groups, emit_organisation, exactly, groups, keep, percentages};
use crate::bytes::{array, at_least, be8, from};
use crate::{Error, Priority, Writer};

/// IEEE 802.1.
pub const ORGANISATION: [u8; 3] = [0x00, 0x80, 0xC2];
const CONGESTION: u8 = 8;
const CONFIGURATION: u8 = 9;
const RECOMMENDATION: u8 = 10;
const FLOW_CONTROL: u8 = 11;
const APPLICATIONS: u8 = 12;

/// The contents of a data unit's IEEE TLVs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ieee<'a> {
    /// ETS configuration of the sender.
    pub configuration: Option<EtsConfiguration>,
    /// ETS recommendation to the peer.
    pub recommendation: Option<EtsTable>,
    /// Priorities with PFC.
    pub flow_control: Option<FlowControl>,
    /// Priorities of applications.
    pub applications: Option<Applications<'a>>,
    /// Priorities with congestion notification.
    pub congestion: Option<CongestionNotification>,
}

impl<'a> Ieee<'a> {
    pub(super) fn take(&mut self, subtype: u8, body: &'a [u8]) -> Taken {
        match subtype {
            CONGESTION => keep(&mut self.congestion, CongestionNotification::parse(body)),
            CONFIGURATION => keep(&mut self.configuration, EtsConfiguration::parse(body)),
            RECOMMENDATION => keep(&mut self.recommendation, EtsTable::parse(body, "ETS recommendation")),
            FLOW_CONTROL => keep(&mut self.flow_control, FlowControl::parse(body)),
            APPLICATIONS => keep(&mut self.applications, Applications::parse(body)),
            _ => Taken::Unknown,
        }
    }

    pub(super) fn emit(&self, out: &mut Writer) {
        if let Some(it) = &self.configuration {
            emit_organisation(out, ORGANISATION, CONFIGURATION, |out| it.emit(out));
        }
        if let Some(it) = &self.recommendation {
            emit_organisation(out, ORGANISATION, RECOMMENDATION, |out| {
                out.u8(0);
                it.emit(out);
            });
        }
        if let Some(it) = &self.flow_control {
            emit_organisation(out, ORGANISATION, FLOW_CONTROL, |out| it.emit(out));
        }
        if let Some(it) = &self.applications {
            emit_organisation(out, ORGANISATION, APPLICATIONS, |out| {
                out.u8(0);
                it.0.iter().for_each(|entry| out.bytes(entry));
            });
        }
        if let Some(it) = &self.congestion {
            emit_organisation(out, ORGANISATION, CONGESTION, |out| out.bytes(&[it.priorities, it.ready]));
        }
    }
}

/// Transmission selection algorithm of a traffic class (802.1Q table D-8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// Strict priority.
    #[default]
    Strict,
    /// Credit-based shaper.
    CreditBased,
    /// Enhanced transmission selection: a share of the capacity that the others leave.
    Share,
    /// Vendor-specific.
    Vendor,
}

/// The three tables of enhanced transmission selection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EtsTable {
    /// Traffic class by priority. `None` is the nibble 15, which real bridges send.
    pub classes: [Option<u8>; 8],
    /// Percentage by traffic class.
    pub shares: [u8; 8],
    /// Algorithm by traffic class.
    pub selection: [Selection; 8],
}

impl EtsTable {
    /// Octets of the body, one before the tables.
    const BODY: usize = 21;

    fn parse(body: &[u8], what: &'static str) -> Result<EtsTable, Error> {
        exactly(body, EtsTable::BODY, what)?;
        let mut selection = [Selection::Strict; 8];
        for (algorithm, octet) in selection.iter_mut().zip(array::<8>(body, 13)) {
            *algorithm = match octet {
                0 => Selection::Strict,
                1 => Selection::CreditBased,
                2 => Selection::Share,
                255 => Selection::Vendor,
                value => return Err(Error::Field { what, field: "selection algorithm", value: u64::from(value) }),
            };
        }
        Ok(EtsTable { classes: groups(from(body, 1), what)?, shares: percentages(body, 5, what)?, selection })
    }

    fn emit(&self, out: &mut Writer) {
        emit_groups(&self.classes, out);
        self.shares.iter().for_each(|&share| out.u8(share.min(100)));
        for algorithm in self.selection {
            out.u8(match algorithm {
                Selection::Strict => 0,
                Selection::CreditBased => 1,
                Selection::Share => 2,
                Selection::Vendor => 255,
            });
        }
    }
}

/// ETS configuration of the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EtsConfiguration {
    /// Whether the sender accepts its peer's recommendation.
    pub willing: bool,
    /// Whether the sender supports credit-based shapers.
    pub shaper: bool,
    /// Number of traffic classes supported, 1 to 8.
    pub most_classes: u8,
    /// Tables.
    pub table: EtsTable,
}

impl EtsConfiguration {
    fn parse(body: &[u8]) -> Result<EtsConfiguration, Error> {
        let table = EtsTable::parse(body, "ETS configuration")?;
        let flags = be8(body, 0);
        let most_classes = if flags & 7 == 0 { 8 } else { flags & 7 };
        Ok(EtsConfiguration { willing: flags & 0x80 != 0, shaper: flags & 0x40 != 0, most_classes, table })
    }

    fn emit(&self, out: &mut Writer) {
        // Eight classes are written as zero.
        out.u8(u8::from(self.willing) << 7 | u8::from(self.shaper) << 6 | self.most_classes & 7);
        self.table.emit(out);
    }
}

/// PFC configuration of the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowControl {
    /// Whether the sender accepts its peer's choice.
    pub willing: bool,
    /// MACsec bypass: the sender cannot pause an encrypted link in time.
    pub bypass: bool,
    /// Number of priorities that can be paused at a time, 0 to 15 as encoded; 0 is said to mean 8.
    pub capability: u8,
    /// Priorities; bit n is priority n.
    pub priorities: u8,
}

impl FlowControl {
    fn parse(body: &[u8]) -> Result<FlowControl, Error> {
        exactly(body, 2, "PFC configuration")?;
        let [flags, priorities] = array(body, 0);
        let (willing, bypass) = (flags & 0x80 != 0, flags & 0x40 != 0);
        Ok(FlowControl { willing, bypass, capability: flags & 15, priorities })
    }

    fn emit(&self, out: &mut Writer) {
        out.u8(u8::from(self.willing) << 7 | u8::from(self.bypass) << 6 | self.capability & 15);
        out.u8(self.priorities);
    }
}

/// Congestion notification of the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CongestionNotification {
    /// Bit n: priority n is a congestion notification priority.
    pub priorities: u8,
    /// Bit n: the sender removes no tags on priority n and is ready to receive them.
    pub ready: u8,
}

impl CongestionNotification {
    fn parse(body: &[u8]) -> Result<CongestionNotification, Error> {
        exactly(body, 2, "congestion notification")?;
        let [priorities, ready] = array(body, 0);
        Ok(CongestionNotification { priorities, ready })
    }
}

/// The priority of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Application {
    /// Priority.
    pub priority: Priority,
    /// Type of the protocol number: 1 is an Ethernet type, 2 a TCP port, 3 a UDP port, 4 a port of either, 5 a DSCP;
    /// the others are reserved and kept unchanged.
    pub selector: u8,
    /// Protocol number.
    pub protocol: u16,
}

impl Application {
    /// Returns the encoding in the table.
    #[must_use]
    pub fn encode(&self) -> [u8; 3] {
        let [high, low] = self.protocol.to_be_bytes();
        [self.priority.get() << 5 | self.selector & 7, high, low]
    }

    fn decode([first, high, low]: [u8; 3]) -> Application {
        let protocol = u16::from_be_bytes([high, low]);
        Application { priority: Priority::low_bits(first >> 5), selector: first & 7, protocol }
    }
}

/// A table of applications, borrowed from the frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Applications<'a>(&'a [[u8; 3]]);

impl<'a> Applications<'a> {
    /// The largest number of entries in a TLV.
    pub const MOST: usize = (super::LONGEST - 5) / 3;

    /// Creates a table of entries encoded by [`Application::encode`], if they fit into a TLV.
    #[must_use]
    pub fn new(entries: &'a [[u8; 3]]) -> Option<Applications<'a>> {
        (entries.len() <= Applications::MOST).then_some(Applications(entries))
    }

    fn parse(body: &'a [u8]) -> Result<Applications<'a>, Error> {
        let what = "application priority";
        at_least(body, 1, what)?;
        match from(body, 1).as_chunks::<3>() {
            (entries, []) => Ok(Applications(entries)),
            _ => Err(Error::Field { what, field: "length", value: body.len() as u64 }),
        }
    }

    /// Returns the applications.
    pub fn iter(&self) -> impl Iterator<Item = Application> + use<'a> {
        self.0.iter().map(|&entry| Application::decode(entry))
    }
}
