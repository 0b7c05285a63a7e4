//! The description of PFC watchdogs.

use units::Span;

/// The PFC watchdog of a port: it ends storms of pauses, and deadlocks with them.
///
/// A queue of which the pauses have lasted for `detection`, with frames waiting all that time, is in a storm. It leaves that
/// state when no pause frame has named its class, and no pause has been in force, for `restoration`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PfcWatchdogSpec {
    /// Time for which a queue must be paused, with frames waiting, until it is in a storm.
    pub detection: Span,
    /// Time without a pause frame for the class after which the queue is as before.
    pub restoration: Span,
    /// Interval at which the watchdog looks at its queues, from time zero; zero if it sees everything at once.
    pub poll: Span,
    /// Treatment of a queue in a storm.
    pub action: WatchdogAction,
    /// Classes that it watches, bit n for class n. It acts on lossless ones with PFC only.
    pub classes: u8,
}

/// The treatment of a queue in a storm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchdogAction {
    /// Frames that wait in the queue, and those that arrive for it, are dropped.
    Drop,
    /// Pauses are ignored, and frames are sent. Those for which the far end has no room are dropped there.
    Forward,
}
