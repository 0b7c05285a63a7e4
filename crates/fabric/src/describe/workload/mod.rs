//! Traffic as plain data: flows, and pure functions that make sets of them.
//!
//! Every flow is known when the network is built, whatever drew its start, size and destination; a flow that waits for
//! others ([`Dependencies`]) starts when they are complete. Its state is made when it starts and given up when it is over. The
//! same seed gives the same flows on any partitioning.

pub mod collective;
mod dependencies;
mod generate;
mod list;
mod requests;
mod sizes;

pub use dependencies::{Dependencies, Dependency, DependencyError, Milestone};
pub use generate::{Arrivals, FlowGaps, FlowSize, Locality, all_to_all, incast, permutation, poisson, uniform_frames};
pub use list::FlowList;
pub use requests::Requests;
pub use sizes::{MEASURED_SIZES, MeasuredSizes};

use crate::describe::graph::HostId;
use crate::describe::routing::{flow_entropy, tree_entropy};
use congestion::{NoControl, Reaction, ReactionPoint};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use transport::{Acknowledger, Notifier, PathSelection, PathSelector, Receiving, Recovery, Sending, Sink, Untracked};
use units::{Bytes, Rate, Span, Time};

/// Where a flow's frames go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// All to one host.
    Host(HostId),
    /// Each to one of the [hosts of its profile](FlowProfile::hosts), drawn uniformly.
    Uniform,
}

/// How a source makes frames while it is on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern {
    /// There is always a frame to send.
    Greedy,
    /// At a mean rate, whether the network takes them or not.
    Paced {
        /// Bits per second, frame overhead counted.
        rate: Rate,
        /// What lies between two frames.
        gaps: Gaps,
        /// Frames that may wait at the adapter; `None` is without end.
        backlog: Option<Backlog>,
    },
}

/// The gap between two frames of a paced source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gaps {
    /// Always the same.
    Constant,
    /// Uniform within this fraction (0 to 1) below and above the mean.
    Jittered(f64),
    /// Exponential: Poisson arrivals.
    Exponential,
}

/// What a paced source does when the network does not take its frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// Frames that may wait.
    pub frames: u32,
    /// What happens to the next one.
    pub overflow: Overflow,
}

/// See [`Backlog`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// It is not sent; counted as discarded at the source.
    Discard,
    /// The source waits until there is room.
    Stall,
}

/// When a source is on between its start and its stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// All the time.
    Always,
    /// In turns, beginning with on.
    OnOff {
        /// Mean length of a burst.
        on: Span,
        /// Mean length of a silence.
        off: Span,
        /// Whether lengths are drawn from an exponential distribution; else they are exact.
        random: bool,
        /// Whether what is waiting at the adapter is thrown away when the source turns off.
        discard: bool,
    },
}

/// That the receiver acknowledges, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledge {
    /// Size of the acknowledging frame, overhead not counted.
    pub size: Bytes,
    /// Its class.
    pub class: u8,
    /// One for every so many data frames; marked frames and the last of a flow are always acknowledged.
    pub every: u32,
    /// The longest that a frame waits for the others; `None` is without limit.
    pub delay: Option<Span>,
}

/// That the receiver answers marked frames by congestion notification packets, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notify {
    /// Size of such a packet, overhead not counted.
    pub size: Bytes,
    /// Its class.
    pub class: u8,
    /// The least time between two of a flow.
    pub interval: Span,
}

impl Default for Notify {
    /// Minimum-size frames in class 0, at most every 50 us (DCQCN: Zhu et al., SIGCOMM 2015).
    fn default() -> Notify {
        Notify { size: Bytes::new(64), class: 0, interval: Span::from_micros(50) }
    }
}

/// How the pulls of a receiver-driven flow travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PullSpec {
    /// Size of a pull, overhead not counted.
    pub size: Bytes,
    /// Its class.
    pub class: u8,
}

impl Default for PullSpec {
    /// Minimum-size frames in class 0.
    fn default() -> PullSpec {
        PullSpec { size: Bytes::new(64), class: 0 }
    }
}

/// How a flow's path probes travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathProbeSpec {
    /// Size of a probe and of the answer to it, overhead not counted.
    pub size: Bytes,
    /// Class on the way to the destination: that of the flow keeps it behind the flow's frames.
    pub class: u8,
    /// Class on the way back.
    pub answer_class: u8,
}

/// Room for in-band telemetry in the frames of a flow, and in their acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TelemetrySpec {
    /// Bytes that it adds to a frame, whether or not they are used.
    pub size: Bytes,
    /// Stamps that have room in it; switches after that many write none.
    pub hops: u8,
}

impl Default for TelemetrySpec {
    /// Five stamps of 8 bytes and a count of 2 bytes, as in the public HPCC simulator.
    fn default() -> TelemetrySpec {
        TelemetrySpec { size: Bytes::new(42), hops: 5 }
    }
}

/// The port by which frames leave a host with several cables. A host knows its failed cables and the routes of the
/// switches at its cables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Via {
    /// By a hash of the flow, one of the ports that lead to the destination; another one when it no longer does.
    #[default]
    Hash,
    /// Frame by frame, the ports that lead to the destination in turn; those that are paused are passed over.
    Spray,
    /// Always that one, counted from 0 in the order of the cables.
    Port(u16),
}

/// One flow: its ends, its start and its size. What it has in common with the other flows of its workload is shared
/// among them, because networks have millions: it reads and writes like fields of the flow, and a flow that differs gets
/// a profile of its own.
///
/// ```
/// use tailback_fabric::graph::HostId;
/// use tailback_fabric::units::Bytes;
/// use tailback_fabric::workload::FlowSpec;
///
/// let template = FlowSpec::greedy(HostId(0), HostId(1)).with(|profile| profile.frame = Bytes::new(1000));
/// let flow = FlowSpec { size: Some(Bytes::new(30_000)), ..template.clone() };
/// assert_eq!(flow.frame, Bytes::new(1000));
/// ```
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// The sending host.
    pub source: HostId,
    /// Priority or virtual lane.
    pub class: u8,
    /// Which tree it goes by, where the source chooses among several; `None` is by a hash of the flow.
    pub tree: Option<u8>,
    /// Where its frames go.
    pub destination: Destination,
    /// When it may begin.
    pub start: Time,
    /// How much it sends; `None` is without end.
    pub size: Option<Bytes>,
    /// The rest.
    pub profile: Arc<FlowProfile>,
}

/// Networks have millions of flows: what grows here grows by megabytes in every check and every run.
const _: () = assert!(size_of::<FlowSpec>() <= 48);

impl Deref for FlowSpec {
    type Target = FlowProfile;

    #[inline]
    fn deref(&self) -> &FlowProfile {
        &self.profile
    }
}

impl DerefMut for FlowSpec {
    /// Gives it a profile of its own, unless it has one.
    fn deref_mut(&mut self) -> &mut FlowProfile {
        Arc::make_mut(&mut self.profile)
    }
}

/// What the flows of a workload have in common.
#[derive(Clone, Debug)]
pub struct FlowProfile {
    /// The hosts among which each frame chooses, of flows without a single [`Destination`].
    pub hosts: Arc<[HostId]>,
    /// When it ends at the latest; what waits at the adapter then is thrown away.
    pub stop: Option<Time>,
    /// Size of its frames, overhead not counted; the last one may be shorter.
    pub frame: Bytes,
    /// Bytes of headers that each data frame carries besides those of the flow. They count on wires and in buffers.
    pub headers: Bytes,
    /// How frames come to be.
    pub pattern: Pattern,
    /// When it is on.
    pub activity: Activity,
    /// Whether the receiver acknowledges. A window needs it.
    pub acknowledge: Option<Acknowledge>,
    /// Whether the receiver sends congestion notification packets.
    pub notify: Option<Notify>,
    /// How its pulls travel, if its congestion control is receiver-driven.
    pub pull: Option<PullSpec>,
    /// How its lost frames are detected and retransmitted, if they are. Needs acknowledgements. A receiver-driven
    /// congestion control brings its own.
    pub recovery: Option<Arc<Recovery>>,
    /// How its path probes travel, if its reaction point sends any.
    pub path_probe: Option<PathProbeSpec>,
    /// An oracle, for comparison: a frame dropped for want of room is queued again at the source, which knows of it after
    /// that time without a message. `None` leaves it lost.
    pub requeue_oracle: Option<Span>,
    /// Whether its data frames have room for telemetry, which switches stamp and acknowledgements return.
    pub telemetry: Option<TelemetrySpec>,
    /// By which port its frames leave a host with several.
    pub via: Via,
    /// How its source chooses among equal paths; `None` is by a hash of the flow, unless its congestion control chooses.
    pub path_selection: Option<Arc<PathSelection>>,
    /// Its reaction point as it is at the start.
    pub reaction: Reaction,
}

impl FlowSpec {
    /// The flow with a profile that is changed.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut FlowProfile)) -> FlowSpec {
        change(Arc::make_mut(&mut self.profile));
        self
    }

    /// Whether its frames are retransmitted until they arrive.
    #[must_use]
    pub fn is_reliable(&self) -> bool {
        self.reaction.pulling().is_some() || self.recovery.as_ref().is_some_and(|recovery| recovery.sender.is_some())
    }

    /// Returns the source's half of its transport, if its frames are retransmitted.
    #[must_use]
    pub fn sender(&self) -> Option<Sending> {
        match self.reaction.pulling() {
            Some(pulling) => transport::pulled(&pulling).sender,
            None => self.recovery.as_ref()?.sender.clone(),
        }
    }

    /// Returns the destination's half of its transport, if it has one.
    #[must_use]
    pub fn receiver(&self) -> Option<Receiving> {
        match self.reaction.pulling() {
            Some(pulling) => Some(transport::pulled(&pulling).receiver),
            None => self.recovery.as_ref().map(|recovery| recovery.receiver.clone()),
        }
    }

    /// Whether its frames may take several paths, because its source chooses their entropy.
    #[must_use]
    pub fn chooses_paths(&self) -> bool {
        self.path_selection.is_some() || self.reaction.chooses_entropy()
    }

    /// Whether successive frames take several paths for that reason.
    #[must_use]
    pub fn sprays_frames(&self) -> bool {
        match &self.path_selection {
            Some(selection) => selection.held().is_none(),
            None => self.reaction.chooses_entropy(),
        }
    }

    /// What headers and telemetry add to its data frames.
    #[must_use]
    pub fn added(&self) -> Bytes {
        self.headers + self.telemetry.map_or(Bytes::ZERO, |telemetry| telemetry.size)
    }

    /// What its destination does beyond counting frames and acknowledging some of them at once, if it does.
    pub(crate) fn sink(&self) -> Option<Sink> {
        if !self.has_sink() {
            return None;
        }
        let delay = self.acknowledge.and_then(|how| how.delay);
        let receiver = self.receiver();
        let mut sink = Sink::new(receiver.unwrap_or_else(|| Receiving::Untracked(Untracked::default())));
        if let Some(how) = self.acknowledge {
            let every = Acknowledger::every(how.every);
            sink = sink.with_acknowledger(if let Some(delay) = delay { every.within(delay) } else { every });
        }
        if let Some(how) = self.notify {
            sink = sink.with_notifier(Notifier::every(how.interval));
        }
        Some(sink)
    }

    /// Whether its destination does more than that.
    pub(crate) fn has_sink(&self) -> bool {
        self.receiver().is_some() || self.notify.is_some() || self.acknowledge.is_some_and(|how| how.delay.is_some())
    }

    /// Whether its destination has a state from the beginning to the end of a run.
    pub(crate) fn lasts_at_destination(&self) -> bool {
        matches!(self.destination, Destination::Uniform) || self.has_sink()
    }

    /// The number by which its path is chosen, if it is the flow of that number: a hash, or a value that selects the tree
    /// that it names.
    pub(crate) fn entropy(&self, number: u32, seed: u64, trees: usize) -> u32 {
        let destination = match self.destination {
            Destination::Host(host) => host.0,
            Destination::Uniform => u32::MAX,
        };
        let hash = flow_entropy(self.source.0, destination, number, seed);
        match self.tree.map(usize::from) {
            Some(tree) if tree < trees => tree_entropy(hash, tree, trees),
            _ => hash,
        }
    }

    /// The hosts among which each frame chooses; none if all go to one.
    #[must_use]
    pub fn hosts(&self) -> &[HostId] {
        match self.destination {
            Destination::Host(_) => &[],
            Destination::Uniform => &self.hosts,
        }
    }

    /// The flow with frames that choose among hosts, uniformly.
    #[must_use]
    pub fn to_any(mut self, hosts: impl Into<Arc<[HostId]>>) -> FlowSpec {
        self.destination = Destination::Uniform;
        self.with(|profile| profile.hosts = hosts.into())
    }

    /// Frames of a finite flow.
    pub(crate) fn frames(&self) -> Option<u64> {
        Some(self.size?.get().div_ceil(self.frame.get().max(1)))
    }

    /// Bytes of these frames, of which none is shorter than `smallest`.
    pub(crate) fn padded_size(&self, smallest: u16) -> Option<u64> {
        let (size, frame) = (self.size?.get(), self.frame.get().max(1));
        let before = self.frames()?.saturating_sub(1) * frame.max(u64::from(smallest));
        let last = size - self.frames()?.saturating_sub(1) * frame;
        Some(before + last.max(u64::from(smallest)))
    }

    /// A greedy flow without end, from time zero, in class 0, with 1500-byte frames.
    #[must_use]
    pub fn greedy(source: HostId, destination: HostId) -> FlowSpec {
        let profile = FlowProfile {
            hosts: [].into(),
            stop: None,
            frame: Bytes::new(1500),
            headers: Bytes::ZERO,
            pattern: Pattern::Greedy,
            activity: Activity::Always,
            acknowledge: None,
            notify: None,
            pull: None,
            recovery: None,
            path_probe: None,
            requeue_oracle: None,
            telemetry: None,
            via: Via::Hash,
            path_selection: None,
            reaction: Reaction::None(NoControl::default()),
        };
        FlowSpec {
            source,
            class: 0,
            tree: None,
            destination: Destination::Host(destination),
            start: Time::ZERO,
            size: None,
            profile: Arc::new(profile),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_of_a_workload_share_their_profile() {
        assert!(size_of::<FlowSpec>() <= 56, "{}", size_of::<FlowSpec>());
        let template = FlowSpec::greedy(HostId(0), HostId(1));
        let mut flow = FlowSpec { size: Some(Bytes::new(1)), class: 3, ..template.clone() };
        assert!(Arc::ptr_eq(&flow.profile, &template.profile));
        flow.frame = Bytes::new(64);
        assert_eq!((flow.frame, template.frame), (Bytes::new(64), Bytes::new(1500)));
    }
}
