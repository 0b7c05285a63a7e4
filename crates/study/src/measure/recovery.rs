//! What loss recovery did: counters of flows, summed over workloads and the run.

use fabric::{FlowSummary, Totals};
use std::ops::Add;

/// Counters of loss recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecoveryCounts {
    /// Frames retransmitted, each time.
    pub retransmitted: u64,
    /// Retransmission timers that expired.
    pub timeouts: u64,
    /// NAKs.
    pub naks: u64,
    /// Frames that arrived again and were discarded.
    pub duplicates: u64,
    /// Frames that arrived before a missing one and were discarded.
    pub rejected: u64,
    /// Frames that arrived before an earlier one.
    pub out_of_order: u64,
}

impl From<&FlowSummary> for RecoveryCounts {
    fn from(flow: &FlowSummary) -> RecoveryCounts {
        RecoveryCounts {
            retransmitted: flow.retransmitted_frames,
            timeouts: flow.timeouts,
            naks: flow.negative_acknowledgements,
            duplicates: flow.duplicate_frames,
            rejected: flow.rejected_frames,
            out_of_order: flow.out_of_order_frames,
        }
    }
}

impl From<&Totals> for RecoveryCounts {
    fn from(totals: &Totals) -> RecoveryCounts {
        RecoveryCounts {
            retransmitted: totals.retransmitted_frames,
            timeouts: totals.timeouts,
            naks: totals.negative_acknowledgements,
            duplicates: totals.duplicate_frames,
            rejected: totals.rejected_frames,
            out_of_order: totals.out_of_order_frames,
        }
    }
}

impl Add for RecoveryCounts {
    type Output = RecoveryCounts;
    fn add(self, other: RecoveryCounts) -> RecoveryCounts {
        RecoveryCounts {
            retransmitted: self.retransmitted + other.retransmitted,
            timeouts: self.timeouts + other.timeouts,
            naks: self.naks + other.naks,
            duplicates: self.duplicates + other.duplicates,
            rejected: self.rejected + other.rejected,
            out_of_order: self.out_of_order + other.out_of_order,
        }
    }
}
