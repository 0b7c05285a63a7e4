//! The table of metrics, from which the format, its reference and the readers of expectations are derived.

mod table;

pub(crate) use table::METRICS;
use units::{grouped, text};

/// A metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Throughput of a flow in bits per second.
    Throughput,
    /// Throughput of a flow including preamble and gap.
    RawThroughput,
    /// Throughput of a flow without frames that its destination discarded.
    Goodput,
    /// Frames of a flow that its source retransmitted.
    RetransmittedFrames,
    /// Retransmission timers of a flow that expired.
    Timeouts,
    /// Frames of a flow that arrived before an earlier one.
    OutOfOrderFrames,
    /// Frames of a flow that arrived again.
    DuplicateFrames,
    /// Frames of a flow that arrived too early and were discarded.
    RejectedFrames,
    /// Negative acknowledgements of a flow.
    Naks,
    /// Delivered bytes of a flow.
    Delivered,
    /// Completion time of a finite flow, from its start to its last byte.
    CompletionTime,
    /// Time from the start of a finite flow until its source knew that its last byte had arrived.
    SourceCompletionTime,
    /// That time, relative to the time that the flow takes alone.
    Slowdown,
    /// Fraction of the finite flows that completed.
    CompletedShare,
    /// Time of an iteration of a collective operation.
    CollectiveTime,
    /// Time of a request, from its start to the end of its last response.
    RequestTime,
    /// Size of a collective operation divided by its time.
    AlgorithmBandwidth,
    /// That bandwidth times the factor of the operation.
    BusBandwidth,
    /// Shortest time that the links allow a collective operation, relative to its time.
    CollectiveEfficiency,
    /// Coefficient of variation of completion times, within bins of sizes.
    CompletionVariation,
    /// Jain's fairness index of throughputs.
    Fairness,
    /// Max-min fair share of a flow.
    FairRate,
    /// Throughput of a flow as a fraction of its max-min fair share.
    FairShare,
    /// Total throughput of flows as a fraction of their total fair share.
    FairTotal,
    /// Jain's index of the flows' fractions of their fair shares.
    FairIndex,
    /// Throughput of the flows that cross a link as a fraction of their total fair share.
    FairUse,
    /// Misallocated fraction of the fair shares.
    FairDistance,
    /// Time until flows together reach their fair share.
    RecoveryTime,
    /// Rate permitted by a flow's reaction point.
    RateLimit,
    /// Total rate permitted by the reaction points of several flows, over time.
    TotalRate,
    /// Settling time of a flow's rate limit.
    SettlingTime,
    /// Throughput of a flow as a fraction of the rate permitted by its reaction point.
    LimitShare,
    /// Bytes of a flow in input buffers.
    Occupancy,
    /// Settling time of the flows' occupancy of input buffers.
    BacklogSettling,
    /// Throughput of the first notified flow as a fraction of the mean throughput.
    FirstNotified,
    /// Frames of a flow that arrived marked.
    MarkedFrames,
    /// Fraction of a flow's frames that arrived marked.
    MarkedShare,
    /// Congestion notifications for a flow.
    Notices,
    /// Data frames dropped because a buffer was full or a route was missing.
    DroppedFrames,
    /// Data frames lost on a cable.
    LostFrames,
    /// Data frames that switches trimmed.
    TrimmedFrames,
    /// Control frames that were dropped or lost.
    LostControlFrames,
    /// Frames that PFC watchdogs dropped.
    WatchdogFrames,
    /// Storms that PFC watchdogs detected.
    Storms,
    /// PAUSE and PFC frames sent.
    PauseFrames,
    /// Bytes other than data.
    ControlBytes,
    /// Time of frames from their source to their destination.
    Delay,
    /// Time of frames in the queue of a port.
    Wait,
    /// Bytes in an egress queue.
    Queue,
    /// Bytes or slots in an ingress buffer.
    Buffer,
    /// Time until a queue stays below a level.
    DrainTime,
    /// Amplitude of the strongest oscillation of a queue.
    Swing,
    /// Frequency of the strongest oscillation of a queue.
    SwingFrequency,
    /// Fraction of the time in which a wire was busy.
    Utilisation,
    /// Fraction of the time in which a wire was idle for lack of credits.
    Starved,
    /// Fraction of the time in which a sender was paused.
    Paused,
    /// Time from the first pause to the last one before a long gap.
    PausePhase,
    /// Time of a flow that is neither on its path nor without data.
    LostTime,
    /// Time of a flow lost to blocked links.
    BlockedTime,
    /// Time of a flow lost to roots that it does not use.
    VictimTime,
    /// Time of a flow lost to frames of other flows.
    ContentionTime,
    /// Time of a flow lost to its congestion control.
    LimitedTime,
    /// Time of a flow lost to retransmission.
    RepairTime,
    /// Time that flows lost to a link as a root of blocking.
    Blame,
    /// Fraction of marks and notices that went to culprits.
    MarkPrecision,
    /// Fraction of the blocked time of culprits that is charged to those with a mark or notice.
    MarkRecall,
    /// Outcome of the run.
    Outcome,
}

/// The subject of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// The run as a whole.
    Run,
    /// Flows and workloads, with one value per flow.
    Flows,
    /// Flows and workloads, with one value in total.
    AllFlows,
    /// Nodes, or directions of links.
    Places,
    /// Directions of links, with one value each.
    Links,
}

/// The unit of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bits per second.
    Rate,
    /// Bytes.
    Size,
    /// Seconds.
    Time,
    /// A count.
    Count,
    /// Dimensionless.
    Number,
    /// A word, not a number.
    Outcome,
}

impl Unit {
    /// Returns the name for programs; the base units are seconds, bits per second and bytes.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Unit::Rate => "rate",
            Unit::Size => "size",
            Unit::Time => "time",
            Unit::Number => "plain",
            Unit::Count => "count",
            Unit::Outcome => "outcome",
        }
    }

    /// Formats a measured number for readers, rounded, in a unit that suits its size.
    #[must_use]
    pub fn shown(self, value: f64) -> String {
        match self {
            Unit::Rate => text::rate(value),
            Unit::Size => text::scaled(value, "B", 1000.0),
            Unit::Time => text::seconds(value),
            Unit::Number => format!("{value:.4}"),
            Unit::Count if (0.0..1e15).contains(&value) => grouped(value.round() as u64),
            Unit::Count => format!("{value:.0}"),
            Unit::Outcome => String::new(),
        }
    }
}

/// Description of a metric.
#[derive(Debug)]
pub(crate) struct MetricInfo {
    pub(crate) name: &'static str,
    pub(crate) metric: Metric,
    pub(crate) subject: Subject,
    pub(crate) unit: Unit,
    /// Default window.
    pub(crate) window: Usual,
    pub(crate) about: &'static str,
}

/// The default window of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Usual {
    /// From the end of the warm-up to the end of the run.
    AfterWarmUp,
    /// The whole run.
    WholeRun,
    /// No window.
    Never,
}

const fn row(
    name: &'static str,
    metric: Metric,
    subject: Subject,
    unit: Unit,
    window: Usual,
    about: &'static str,
) -> MetricInfo {
    MetricInfo { name, metric, subject, unit, window, about }
}

/// Returns the names of all metrics that match a predicate.
pub(crate) fn names(wanted: impl Fn(&MetricInfo) -> bool) -> Vec<&'static str> {
    METRICS.iter().filter(|info| wanted(info)).map(|info| info.name).collect()
}

impl Metric {
    fn info(self) -> Option<&'static MetricInfo> {
        METRICS.iter().find(|info| info.metric == self)
    }

    /// Returns the unit.
    #[must_use]
    pub fn unit(self) -> Unit {
        self.info().map_or(Unit::Number, |info| info.unit)
    }

    /// Returns whether the metric is a fraction or an index, and thus at most one.
    pub(crate) fn ends_at_one(self) -> bool {
        matches!(
            self,
            Metric::Fairness
                | Metric::FairIndex
                | Metric::Utilisation
                | Metric::Paused
                | Metric::Starved
                | Metric::MarkedShare
                | Metric::MarkPrecision
                | Metric::MarkRecall
                | Metric::CollectiveEfficiency
                | Metric::CompletedShare
        )
    }

    /// Returns whether the metric is a time that ends with its window at the latest.
    pub(crate) fn is_within_window(self) -> bool {
        use Metric::{BacklogSettling, DrainTime, PausePhase, RecoveryTime, SettlingTime};
        matches!(self, SettlingTime | BacklogSettling | RecoveryTime | DrainTime | PausePhase)
    }

    /// Returns whether the metric is compared with max-min fair shares.
    #[must_use]
    pub fn is_about_fair_shares(self) -> bool {
        use Metric::{FairDistance, FairIndex, FairRate, FairShare, FairTotal, FairUse, RecoveryTime};
        let of_rates = matches!(self, FairRate | FairShare | FairTotal | FairUse | FairIndex | FairDistance);
        of_rates || matches!(self, RecoveryTime | Metric::MarkPrecision | Metric::MarkRecall)
    }

    /// Returns whether the metric is a time by its cause or judges marks by theirs, for which a run follows every wait.
    #[must_use]
    pub fn is_about_causes(self) -> bool {
        use Metric::{Blame, BlockedTime, ContentionTime, LimitedTime, LostTime, RepairTime, VictimTime};
        let of_marks = matches!(self, Metric::MarkPrecision | Metric::MarkRecall);
        of_marks
            || matches!(self, LostTime | BlockedTime | VictimTime | ContentionTime | LimitedTime | RepairTime | Blame)
    }

    /// Returns whether the metric has a value per iteration of a collective operation.
    #[must_use]
    pub fn is_about_collectives(self) -> bool {
        use Metric::{AlgorithmBandwidth, BusBandwidth, CollectiveEfficiency, CollectiveTime};
        matches!(self, CollectiveTime | AlgorithmBandwidth | BusBandwidth | CollectiveEfficiency)
    }

    /// Returns whether the metric is a sampled level of queues or buffers.
    #[must_use]
    pub fn is_about_levels(self) -> bool {
        self.info().is_some_and(|info| info.subject == Subject::Places)
    }

    /// Returns whether the metric counts from the start of the run by default.
    pub(crate) fn of_whole_run(self) -> bool {
        self.info().is_some_and(|info| info.window != Usual::AfterWarmUp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_one_row_and_one_name() {
        for (place, info) in METRICS.iter().enumerate() {
            let others = || METRICS[..place].iter();
            assert!(others().all(|other| other.name != info.name && other.metric != info.metric), "{}", info.name);
            assert_eq!(info.metric.unit(), info.unit);
        }
    }

    /// Confidence intervals and the values of expectations end where the metric does.
    #[test]
    fn what_is_described_as_at_most_one_ends_there() {
        for info in METRICS {
            let described = ["; at most 1", "; a number from 0 to 1"].iter().any(|end| info.about.ends_with(end));
            assert_eq!(info.metric.ends_at_one(), described, "{}", info.name);
        }
    }
}
