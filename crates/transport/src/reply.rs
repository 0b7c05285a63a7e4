//! What source and destination tell each other: arriving frames and replies, as plain data.

use units::{Span, Time};

/// A frame that arrived at its destination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrived {
    /// Number of the frame in its flow.
    pub number: u64,
    /// When the source sent it: a copy of the time stamp in the frame.
    pub stamp: Time,
    /// When it arrived at the adapter, before it waited for a slow application.
    pub at: Time,
    /// Whether it carries a congestion mark.
    pub marked: bool,
    /// Whether a switch removed its payload.
    pub trimmed: bool,
    /// Whether it is the last frame of its flow.
    pub last: bool,
}

/// Consecutive frames that have arrived: from `start` to before `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Number of the first frame.
    pub start: u64,
    /// Number after that of the last frame.
    pub end: u64,
}

/// Blocks of a selective acknowledgement. RFC 2018, section 3: three fit beside a time stamp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    count: u8,
    blocks: [Block; Blocks::MOST],
}

impl Blocks {
    /// The largest number of blocks.
    pub const MOST: usize = 3;

    /// Adds a block; returns false if there is no room left.
    pub fn push(&mut self, block: Block) -> bool {
        let Some(place) = self.blocks.get_mut(usize::from(self.count)) else { return false };
        *place = block;
        self.count += 1;
        true
    }

    /// Returns whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the blocks.
    #[must_use]
    pub fn as_slice(&self) -> &[Block] {
        &self.blocks[..usize::from(self.count)]
    }
}

/// The meaning of a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Meaning {
    /// An acknowledgement.
    #[default]
    Acknowledgement,
    /// A negative acknowledgement: the frame `number` arrived, the frame `cumulative` did not.
    Negative,
    /// Of the frame `number` only the header arrived.
    Trimmed,
}

units::encoded!(enum Meaning { 0 = Acknowledgement, 1 = Negative, 2 = Trimmed });

/// What a destination tells a source about the frames of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Its meaning.
    pub meaning: Meaning,
    /// The number below which all frames have arrived.
    pub cumulative: u64,
    /// The number of the frame that caused the reply.
    pub number: u64,
    /// The time stamp of the frame that caused the reply.
    pub stamp: Time,
    /// Time between the arrival of that frame at the adapter and the reply.
    pub host_delay: Span,
    /// Whether a frame since the last reply carried a congestion mark.
    pub marked: bool,
    /// Frames above `cumulative` that have arrived.
    pub blocks: Blocks,
}

/// What a receiving point wants to send to the source of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Say {
    /// An acknowledgement or a NAK.
    Reply(Reply),
    /// A congestion notification packet.
    CongestionNotification,
    /// Permission to send.
    Pull {
        /// Frames permitted so far, so that a lost pull is made good by the next.
        total: u64,
    },
}

/// Returns the number whose low 32 bits are `low` and that is closest to `near`. Frames carry the low 32 bits of their
/// number; a window never spans half of that range.
#[must_use]
pub const fn unwrapped(low: u32, near: u64) -> u64 {
    let ahead = low.wrapping_sub(near as u32);
    if ahead < 1 << 31 {
        return near + ahead as u64;
    }
    match near.checked_sub(ahead.wrapping_neg() as u64) {
        Some(number) => number,
        None => near + ahead as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_survives_its_32_bits() {
        let large = 5 << 32;
        for near in [0, 1, 1000, u64::from(u32::MAX), large - 1, large, large + 7] {
            for number in near.saturating_sub(100_000)..near.saturating_sub(99_990) {
                assert_eq!(unwrapped(number as u32, near), number);
            }
            for number in near.saturating_sub(3)..near + 3 {
                assert_eq!(unwrapped(number as u32, near), number);
            }
            assert_eq!(unwrapped((near + 1_000_000) as u32, near), near + 1_000_000);
        }
    }

    #[test]
    fn blocks_are_bounded() {
        let mut blocks = Blocks::default();
        assert!(blocks.is_empty());
        for n in 0..Blocks::MOST as u64 {
            assert!(blocks.push(Block { start: 2 * n, end: 2 * n + 1 }));
        }
        assert!(!blocks.push(Block { start: 90, end: 91 }));
        assert_eq!(blocks.as_slice().len(), Blocks::MOST);
    }
}
