//! Which closed buffers can open again, and how far from a root each of them is.
//!
//! A frame can leave if the buffer at the far end of its output is not closed, or opens and then has room for it. What
//! cannot leave keeps its room; a buffer opens if what remains in it allows that. Whatever might leave counts as leaving,
//! and frames that come later only take room: so a frame that remains in the end remains for ever.

use super::{Buffer, Snapshot};
use crate::build::plan::Shared;
use crate::describe::spec::BypassReading;
use std::collections::BTreeMap;

/// What lets a closed buffer open.
#[derive(Clone, Copy)]
pub(super) enum Opening {
    /// No more than so many units remain.
    AtMost(u32),
    /// Credits: the units of the buffer, and those of the least frame that its sender could send next.
    Credits {
        capacity: u32,
        least: u32,
        /// There are credits for the least frame, but not for every one.
        ajar: bool,
    },
    /// A shared buffer: all of the headroom is free, and what remains lies within the guaranteed part, or so far below
    /// the dynamic threshold.
    Shared {
        /// Bytes that lie outside the headroom.
        outside: u32,
        guaranteed: u32,
        /// XON lies so far below the threshold.
        below: u32,
        /// XON is sent at or below this, whatever the threshold.
        resume: u32,
        shared: Shared,
        alpha: (u32, u32),
        limit: u32,
    },
}

engine::encoded!(enum Opening {
    0 = AtMost(most),
    1 = Shared { outside, guaranteed, below, resume, shared, alpha, limit },
    2 = Credits { capacity, least, ajar },
});

impl Opening {
    /// Whether it is open to the shortest frames as it is.
    pub(super) fn is_ajar(self) -> bool {
        matches!(self, Opening::Credits { ajar: true, .. })
    }

    /// Whether the buffer opens when that much remains. Others may use nothing of a shared buffer by then.
    fn allows(self, remains: u32) -> bool {
        match self {
            Opening::AtMost(most) => remains <= most,
            Opening::Credits { .. } => self.takes(remains, 0),
            Opening::Shared { outside, guaranteed, below, resume, shared, alpha, limit } => {
                let after = u64::from(remains.saturating_sub(guaranteed));
                let threshold = shared.threshold(alpha, after).min(u64::from(limit));
                remains <= outside && (after == 0 || remains <= resume || after + u64::from(below) <= threshold)
            }
        }
    }

    /// Whether the buffer, once it is open, takes a frame of so many units beside what remains. A pause asks for no length.
    fn takes(self, remains: u32, need: u32) -> bool {
        match self {
            Opening::Credits { capacity, least, .. } => remains.saturating_add(need.max(least)) <= capacity,
            Opening::AtMost(_) | Opening::Shared { .. } => true,
        }
    }
}

/// What waits in one closed buffer.
pub(super) struct Contents {
    /// What waits, oldest first in each FIFO; frames for the same output are counted together where their order does
    /// not matter.
    pub(super) frames: Vec<Group>,
    /// Input FIFO: how far its bypass reaches, and in which reading.
    pub(super) fifo: Option<(u8, BypassReading)>,
    /// Units it holds or has promised: of what waits, of what is on its way to the node or through it, or kept there.
    pub(super) held: u32,
    /// What lets it open again.
    pub(super) opening: Opening,
    /// A host that consumes nothing.
    pub(super) dead: bool,
    /// Cables or routes of its node will change: its frames may find another way, or its sender forget the stop.
    pub(super) changing: bool,
    /// Its sender has a PFC watchdog, which will drop or send the frames that wait for this buffer.
    pub(super) watched: bool,
    /// Its node, the number of its port on that, and the port that sends to it.
    pub(super) node: u32,
    pub(super) input: u16,
    pub(super) sender: u32,
}

engine::encoded!(struct Contents { frames, fifo, held, opening, dead, changing, watched, node, input, sender });

/// Frames of one buffer for one output.
pub(super) struct Group {
    pub(super) output: u32,
    /// Its number on the node.
    pub(super) number: u16,
    /// The buffer at its far end.
    pub(super) next: Buffer,
    pub(super) class: u8,
    pub(super) units: u32,
    /// Units that the first of them needs in the next buffer, where the output takes it from the input; else 0: the
    /// sender's next frame comes first.
    pub(super) need: u32,
    /// Bytes of the first and of the shortest of them, and the units of the largest.
    pub(super) first: u32,
    pub(super) shortest: u32,
    pub(super) most: u32,
    /// Of a frame in a FIFO: how often it was overtaken.
    pub(super) overtaken: u8,
    /// A few of the flows.
    pub(super) flows: Vec<u32>,
}

engine::encoded!(struct Group { output, number, next, class, units, need, first, shortest, most, overtaken, flows });

impl Group {
    /// Units that leave the input for that many free bytes behind a crossbar: frames keep their order.
    fn crossing(&self, room: u32) -> u32 {
        match room {
            room if room < self.first => 0,
            room => (room / self.shortest.max(1)).saturating_mul(self.most).min(self.units),
        }
    }
}

/// What is known of a buffer that can open: the round in which that was found, and the units that remain.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Opened {
    pub(super) depth: u32,
    remains: u32,
}

impl Snapshot {
    /// Buffers that can open again, with their distance from a root. With `watchdogs`, those too that PFC watchdogs open.
    pub(super) fn depths(&self, watchdogs: bool) -> BTreeMap<Buffer, Opened> {
        let mut opened: BTreeMap<Buffer, Opened> = BTreeMap::new();
        for depth in 0.. {
            let mut news = Vec::new();
            for (&buffer, contents) in &self.closed {
                let known = opened.get(&buffer);
                // What remains in an open buffer matters to frames that need more room than the least.
                if known.is_some_and(|known| known.remains == 0) {
                    continue;
                }
                let changing = contents.changing || watchdogs && contents.watched;
                let remains = if changing { Some(0) } else { self.opens_with(contents, &opened) };
                let Some(remains) = remains else { continue };
                if known.is_none_or(|known| remains < known.remains) {
                    news.push((buffer, Opened { depth: known.map_or(depth, |known| known.depth), remains }));
                }
            }
            if news.is_empty() {
                break;
            }
            opened.extend(news);
        }
        opened
    }

    /// The units that remain in a buffer, given which others open; `None` if too few leave to open it.
    fn opens_with(&self, contents: &Contents, opened: &BTreeMap<Buffer, Opened>) -> Option<u32> {
        if contents.dead {
            return None;
        }
        // Of the FIFO that is looked at, one for each class: frames that stay, and how many more may pass all of them.
        let (mut fifo, mut stuck, mut passes) = (u8::MAX, 0u32, u32::MAX);
        // The outputs of those that stay, which later frames for the same ones do not pass.
        let mut held_up: Vec<u32> = Vec::new();
        let (mut remains, mut leaves) = (0u32, false);
        for group in &contents.frames {
            let &Group { output, class, units, overtaken, .. } = group;
            if contents.fifo.is_some() && class != fifo {
                (fifo, stuck, passes) = (class, 0, u32::MAX);
                held_up.clear();
            }
            let reached = match contents.fifo {
                None => true,
                Some(_) if held_up.contains(&output) => false,
                Some((bypass, BypassReading::Lookahead)) => stuck <= u32::from(bypass),
                Some((_, BypassReading::PerPacket)) => passes > 0,
            };
            if reached && self.can_leave(group, opened) {
                leaves = true;
                passes = passes.saturating_sub(u32::from(stuck > 0));
                continue;
            }
            // Some of them still find room behind the crossbar.
            let crossing = self.room.get(&(output, class)).map_or(0, |&room| group.crossing(room));
            leaves |= crossing > 0;
            remains += units - crossing;
            stuck += 1;
            if let Some((bypass, _)) = contents.fifo {
                held_up.push(output);
                passes = passes.min(u32::from(bypass.saturating_sub(overtaken)));
            }
        }
        // A buffer looks at its room when something leaves; what does not wait is on its way, or may be.
        let waiting: u32 = contents.frames.iter().map(|group| group.units).sum();
        let looks = leaves || waiting < contents.held;
        let opens = contents.opening.is_ajar() || looks && contents.opening.allows(remains);
        opens.then_some(remains)
    }

    /// Whether the output of some frames can send them, given which buffers open.
    pub(super) fn can_leave(&self, group: &Group, opened: &BTreeMap<Buffer, Opened>) -> bool {
        let open = |next: &Contents| {
            opened.get(&group.next).is_some_and(|known| next.opening.takes(known.remains, group.need))
        };
        !self.down.contains(&group.output) && self.closed.get(&group.next).is_none_or(open)
    }
}
