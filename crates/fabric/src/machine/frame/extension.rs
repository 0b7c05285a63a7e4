//! What an acknowledgement says that does not fit into its frame: selective blocks, numbers that are far apart, the
//! delay of a slow host, and that a flow without recovery is complete.
//!
//! Few acknowledgements need it, so it is in a table of the shard. The frame has the place of its entry; the entry ends
//! with the frame, and crosses to another shard with it.

use units::{Span, Time};

/// See the module. Numbers are modulo 2^32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extension {
    /// When the frame that caused the acknowledgement was made.
    pub(crate) stamp: Time,
    /// How long that frame was at the host before, if the source wants to know.
    pub(crate) host_delay: Span,
    /// Its number.
    pub(crate) number: u32,
    /// No byte of the flow is missing; only said of a flow without recovery.
    pub(crate) complete: bool,
    /// How many blocks there are.
    pub(crate) count: u8,
    /// First and last number but one of frames that have arrived.
    pub(crate) blocks: [(u32, u32); transport::Blocks::MOST],
}

engine::encoded!(struct Extension { stamp, host_delay, number, complete, count, blocks });

/// The extensions of a shard's frames.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extensions {
    entries: Vec<Extension>,
    free: Vec<u32>,
}

engine::encoded!(struct Extensions { entries, free });

impl Extensions {
    pub(crate) fn put(&mut self, extension: Extension) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.entries[place as usize] = extension;
                place
            }
            None => {
                self.entries.push(extension);
                (self.entries.len() - 1) as u32
            }
        }
    }

    /// Takes an entry out and gives its place back.
    pub(crate) fn take(&mut self, place: u32) -> Extension {
        self.free.push(place);
        self.entries[place as usize]
    }

    /// Whether an entry says that a flow is complete.
    pub(crate) fn is_complete(&self, place: u32) -> bool {
        self.entries[place as usize].complete
    }

    /// Selective blocks of an entry.
    pub(crate) fn blocks(&self, place: u32) -> &[(u32, u32)] {
        let Extension { count, blocks, .. } = &self.entries[place as usize];
        &blocks[..usize::from(*count)]
    }

    /// Entries in use.
    pub(crate) fn live(&self) -> usize {
        self.entries.len() - self.free.len()
    }
}
