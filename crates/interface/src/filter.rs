//! Which frames a raw socket hears: programs of the classic Berkeley packet filter, which the kernel runs on each frame.
//!
//! Neither LLDP (802.1AB) nor IS-IS over LLC has a VLAN tag: their protocol entities sit below the functions that add and
//! remove tags, so a frame with one, a priority tag included, is somebody else's whatever is behind the tag. Linux takes the
//! tag out of the octets before a socket sees them, and only the filter can still tell.

use socket2::SockFilter;

/// Frames that an interface is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// LLDP, by its type.
    Lldp,
    /// Point-to-point hellos of IS-IS.
    IsIsHellos,
    /// All other PDUs of IS-IS.
    IsIsOthers,
}

/// Beyond the octets of a frame: what the kernel knows of it (`SKF_AD_OFF`).
const KNOWN: u32 = 0xFFFF_F000;
/// Whether it came from elsewhere, and to whom (`SKF_AD_PKTTYPE`).
const DIRECTION: u32 = KNOWN + 4;
/// It is on its way out (`PACKET_OUTGOING`).
const OUTGOING: u32 = 4;
/// Whether it had a VLAN tag (`SKF_AD_VLAN_TAG_PRESENT`).
const TAGGED: u32 = KNOWN + 48;

/// Where a frame has its type, or its length.
const TYPE_AT: u32 = 12;
const LLDP: u32 = 0x88CC;
const LARGEST_LENGTH: u32 = 1500;
/// Where the two service access points of LLC stand, both FE for IS-IS.
const LLC_AT: u32 = 14;
const ISO: u32 = 0xFEFE;
/// Where a PDU of IS-IS has its type, behind three octets of LLC: five bits, 17 for a hello between two.
const PDU_TYPE_AT: u32 = 21;
const PDU_TYPE: u32 = 31;
const HELLO: u32 = 17;

/// One step of a program. A load beyond the end of a frame refuses it.
enum Step {
    Octet(u32),
    Pair(u32),
    And(u32),
    /// Goes on if it is this, refuses otherwise.
    Is(u32),
    IsNot(u32),
    AtMost(u32),
}

impl Wanted {
    fn steps(self) -> Vec<Step> {
        use Step::{And, AtMost, Is, IsNot, Octet, Pair};
        let mut steps = vec![Octet(TAGGED), Is(0), Octet(DIRECTION), IsNot(OUTGOING), Pair(TYPE_AT)];
        let llc = [AtMost(LARGEST_LENGTH), Pair(LLC_AT), Is(ISO), Octet(PDU_TYPE_AT), And(PDU_TYPE)];
        match self {
            Wanted::Lldp => steps.push(Is(LLDP)),
            Wanted::IsIsHellos => steps.extend(llc.into_iter().chain([Is(HELLO)])),
            Wanted::IsIsOthers => steps.extend(llc.into_iter().chain([IsNot(HELLO)])),
        }
        steps
    }

    /// The program: all steps, then a return of everything, then a return of nothing.
    pub(super) fn program(self) -> Vec<SockFilter> {
        let steps = self.steps();
        let count = steps.len();
        // Jumps count from the next instruction.
        let to_nothing = |at: usize| (count - at) as u8;
        let instruction = |(at, step): (usize, Step)| match step {
            Step::Octet(place) => SockFilter::new(0x30, 0, 0, place),
            Step::Pair(place) => SockFilter::new(0x28, 0, 0, place),
            Step::And(mask) => SockFilter::new(0x54, 0, 0, mask),
            Step::Is(value) => SockFilter::new(0x15, 0, to_nothing(at), value),
            Step::IsNot(value) => SockFilter::new(0x15, to_nothing(at), 0, value),
            Step::AtMost(value) => SockFilter::new(0x25, to_nothing(at), 0, value),
        };
        let ends = [SockFilter::new(0x06, 0, 0, u32::MAX), nothing()];
        steps.into_iter().enumerate().map(instruction).chain(ends).collect()
    }
}

/// Refuses whatever comes to it.
pub(super) fn nothing() -> SockFilter {
    SockFilter::new(0x06, 0, 0, 0)
}
