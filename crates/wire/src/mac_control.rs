//! MAC control frames: PAUSE (802.3 31B) and priority-based flow control (802.1Qbb, 802.3 31D).
//!
//! | octets after the type 0x8808 | field |
//! |---|---|
//! | 0..2 | opcode: 0x0001 PAUSE, 0x0101 PFC |
//! | 2..4 | PAUSE: quanta. PFC: enable vector, the high octet zero, bit n for priority n |
//! | 4..20 | PFC: quanta of priorities 0 to 7 |
//!
//! The destination is always [`Address::MAC_CONTROL`]; frames are never tagged and are padded to 60 octets. A quantum
//! is 512 bit times.

use crate::bytes::{at_least, be16};
use crate::ethernet::{Content, ether_type};
use crate::{Address, Error, Writer, ethernet, fcs};

/// Opcode of PAUSE.
pub const PAUSE: u16 = 0x0001;
/// Opcode of PFC.
pub const PFC: u16 = 0x0101;

/// A MAC control frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repr {
    /// Pauses the whole link for that many quanta; zero resumes.
    Pause {
        /// Quanta of 512 bit times.
        quanta: u16,
    },
    /// Pauses priorities for that many quanta each; zero resumes, `None` leaves a priority unchanged.
    Pfc {
        /// Quanta by priority.
        quanta: [Option<u16>; 8],
    },
}

impl Repr {
    /// Parses the octets after the type 0x8808.
    pub fn parse(bytes: &[u8]) -> Result<Repr, Error> {
        at_least(bytes, 4, "MAC control")?;
        match be16(bytes, 0) {
            PAUSE => Ok(Repr::Pause { quanta: be16(bytes, 2) }),
            PFC => {
                at_least(bytes, 20, "PFC")?;
                let enabled = be16(bytes, 2);
                let time = |n: usize| (enabled >> n & 1 == 1).then(|| be16(bytes, 4 + 2 * n));
                Ok(Repr::Pfc { quanta: std::array::from_fn(time) })
            }
            opcode => Err(Error::Field { what: "MAC control", field: "opcode", value: u64::from(opcode) }),
        }
    }

    /// Writes opcode and operands.
    pub fn emit(&self, out: &mut Writer) {
        match self {
            Repr::Pause { quanta } => {
                out.u16(PAUSE);
                out.u16(*quanta);
            }
            Repr::Pfc { quanta } => {
                out.u16(PFC);
                out.u16((0..8).fold(0, |vector, n| vector | u16::from(quanta[n].is_some()) << n));
                quanta.iter().for_each(|time| out.u16(time.unwrap_or(0)));
            }
        }
    }

    /// Writes the whole frame of 64 octets, with its check sequence.
    pub fn emit_frame(&self, source: Address, out: &mut Writer) {
        let content = Content::Type(ether_type::MAC_CONTROL);
        ethernet::Repr { destination: Address::MAC_CONTROL, source, content }.emit(out);
        self.emit(out);
        fcs::seal(out);
    }
}
