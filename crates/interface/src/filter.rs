//! Selection of the frames that a raw socket receives, as classic Berkeley packet filter programs, which the kernel
//! runs on each frame.
//!
//! Neither LLDP (802.1AB) nor IS-IS over LLC uses VLAN tags: their protocol entities sit below the functions that add
//! and remove tags. A tagged frame, including a priority-tagged one, therefore belongs to another entity, whatever
//! follows the tag. Linux removes the tag from the frame before a socket receives it, so only the filter can see it.

use socket2::SockFilter;

/// A kind of frame to receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// LLDP frames, selected by EtherType.
    Lldp,
    /// Point-to-point hellos of IS-IS.
    IsIsHellos,
    /// All other IS-IS PDUs.
    IsIsOthers,
}

/// Offset of the kernel's metadata of a frame (`SKF_AD_OFF`).
const KNOWN: u32 = 0xFFFF_F000;
/// Direction and destination type of a frame (`SKF_AD_PKTTYPE`).
const DIRECTION: u32 = KNOWN + 4;
/// Packet type of outgoing frames (`PACKET_OUTGOING`).
const OUTGOING: u32 = 4;
/// Presence of a VLAN tag (`SKF_AD_VLAN_TAG_PRESENT`).
const TAGGED: u32 = KNOWN + 48;

/// Offset of the type or length field.
const TYPE_AT: u32 = 12;
const LLDP: u32 = 0x88CC;
const LARGEST_LENGTH: u32 = 1500;
/// Offset of the two service access points of LLC; both are FE for IS-IS.
const LLC_AT: u32 = 14;
const ISO: u32 = 0xFEFE;
/// Offset of the PDU type of IS-IS, behind three octets of LLC: five bits, 17 for a point-to-point hello.
const PDU_TYPE_AT: u32 = 21;
const PDU_TYPE: u32 = 31;
const HELLO: u32 = 17;

/// One step of a program. A load beyond the end of a frame rejects the frame.
enum Step {
    Octet(u32),
    Pair(u32),
    And(u32),
    /// Continues if the loaded value equals this one; rejects the frame otherwise.
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

    /// Returns the program: all steps, then the instruction that accepts the frame, then the one that rejects it.
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

/// Returns the instruction that rejects every frame.
pub(super) fn nothing() -> SockFilter {
    SockFilter::new(0x06, 0, 0, 0)
}
