//! A receiver that keeps frames in any order: the destination's half of selective repeat and of SACK.

use crate::bitmap::Bitmap;
use crate::{Arrival, Block, Blocks, Receiver, Response};
use units::Time;

/// How a [`ReorderingReceiver`] replies to frames that arrive out of order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EarlyReply {
    /// By a negative acknowledgement with the cumulative number and that of the frame that caused it (IRN).
    Negative,
    /// By an acknowledgement with blocks (RFC 2018).
    Blocks,
    /// By a duplicate acknowledgement (RFC 5681).
    Duplicate,
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReorderingReceiver {
    reply: EarlyReply,
    expected: u64,
    /// Frames above `expected` that have arrived.
    early: Bitmap,
    /// The latest arrivals of the last few blocks, latest first.
    recent: [u64; Blocks::MOST],
}

units::state!(struct ReorderingReceiver { fixed: reply; plain: expected, early, recent; });

impl ReorderingReceiver {
    /// Creates a receiver.
    #[must_use]
    pub fn new(reply: EarlyReply) -> ReorderingReceiver {
        ReorderingReceiver { reply, expected: 0, early: Bitmap::default(), recent: [0; Blocks::MOST] }
    }

    fn block(&self, number: u64) -> Block {
        Block { start: self.early.run_start(number), end: self.early.next_absent(number) }
    }

    /// Puts the block of a number in front of those reported last (RFC 2018, section 4).
    fn remember(&mut self, number: u64) {
        let block = self.block(number);
        let same = |&other: &u64| (block.start..block.end).contains(&other);
        let last = self.recent.iter().position(same).unwrap_or(Blocks::MOST - 1);
        self.recent[..=last].rotate_right(1);
        self.recent[0] = number;
    }
}

impl Receiver for ReorderingReceiver {
    #[inline]
    fn on_arrival(&mut self, _now: Time, number: u64) -> (Arrival, Response) {
        if number == self.expected {
            self.expected += 1;
            if self.early.is_empty() {
                return (Arrival::InOrder, Response::Delayed);
            }
            self.expected = self.early.next_absent(self.expected);
            self.early.drop_below(self.expected);
            // RFC 5681, section 4.2: what fills a gap, wholly or in part, is acknowledged at once.
            return (Arrival::InOrder, Response::AtOnce);
        }
        if number < self.expected {
            return (Arrival::Duplicate, Response::AtOnce);
        }
        self.early.drop_below(self.expected);
        if !self.early.insert(number) {
            return (Arrival::Duplicate, Response::AtOnce);
        }
        if self.reply == EarlyReply::Blocks {
            self.remember(number);
        }
        let response = if self.reply == EarlyReply::Negative { Response::Negative } else { Response::AtOnce };
        (Arrival::OutOfOrder, response)
    }

    fn on_trimmed(&mut self, _now: Time, number: u64) -> Response {
        let known = number < self.expected || self.early.contains(number);
        if known { Response::AtOnce } else { Response::Negative }
    }

    #[inline]
    fn expected(&self) -> u64 {
        self.expected
    }

    #[inline]
    fn blocks(&self) -> Blocks {
        let mut blocks = Blocks::default();
        if self.reply != EarlyReply::Blocks || self.early.is_empty() {
            return blocks;
        }
        for &number in self.recent.iter().filter(|&&number| self.early.contains(number)) {
            let block = self.block(number);
            // Two blocks that were reported apart may have grown together.
            if !blocks.as_slice().contains(&block) {
                blocks.push(block);
            }
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrive(receiver: &mut ReorderingReceiver, number: u64) -> (Arrival, Response) {
        receiver.on_arrival(Time::ZERO, number)
    }

    #[test]
    fn frames_are_kept_in_any_order_and_once() {
        let mut receiver = ReorderingReceiver::new(EarlyReply::Negative);
        assert_eq!(arrive(&mut receiver, 0), (Arrival::InOrder, Response::Delayed));
        assert_eq!(arrive(&mut receiver, 2), (Arrival::OutOfOrder, Response::Negative));
        assert_eq!(arrive(&mut receiver, 2), (Arrival::Duplicate, Response::AtOnce));
        assert_eq!(arrive(&mut receiver, 4), (Arrival::OutOfOrder, Response::Negative));
        assert_eq!(arrive(&mut receiver, 1), (Arrival::InOrder, Response::AtOnce));
        assert_eq!(receiver.expected(), 3);
        assert_eq!(arrive(&mut receiver, 3), (Arrival::InOrder, Response::AtOnce));
        assert_eq!(receiver.expected(), 5);
        assert_eq!(arrive(&mut receiver, 4), (Arrival::Duplicate, Response::AtOnce));
        assert_eq!(arrive(&mut receiver, 5), (Arrival::InOrder, Response::Delayed));
        assert_eq!(receiver.on_trimmed(Time::ZERO, 9), Response::Negative);
        assert_eq!(receiver.on_trimmed(Time::ZERO, 4), Response::AtOnce);
        assert!(receiver.blocks().is_empty());
    }

    /// The cases of RFC 2018, section 7, with segments instead of bytes.
    #[test]
    fn blocks_are_reported_with_the_latest_first() {
        let mut receiver = ReorderingReceiver::new(EarlyReply::Blocks);
        let blocks = |receiver: &ReorderingReceiver| -> Vec<(u64, u64)> {
            receiver.blocks().as_slice().iter().map(|block| (block.start, block.end)).collect()
        };
        // Every second segment is lost.
        for number in [1, 3, 5, 7] {
            arrive(&mut receiver, number);
        }
        assert_eq!(blocks(&receiver), [(7, 8), (5, 6), (3, 4)]);
        // The one between two blocks arrives: they become one, and it is the latest.
        arrive(&mut receiver, 4);
        assert_eq!(blocks(&receiver), [(3, 6), (7, 8)]);
        arrive(&mut receiver, 2);
        assert_eq!(blocks(&receiver), [(1, 6), (7, 8)]);
        arrive(&mut receiver, 0);
        assert_eq!((receiver.expected(), blocks(&receiver)), (6, vec![(7, 8)]));
    }

    #[test]
    fn a_receiver_without_blocks_sends_duplicate_acknowledgements() {
        let mut receiver = ReorderingReceiver::new(EarlyReply::Duplicate);
        assert_eq!(arrive(&mut receiver, 1), (Arrival::OutOfOrder, Response::AtOnce));
        assert!(receiver.blocks().is_empty());
    }
}
