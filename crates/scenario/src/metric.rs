//! The table of metrics, from which the format, its reference and the readers of expectations are derived.

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
    /// Frames of a flow that its source sent again.
    RetransmittedFrames,
    /// Retransmission timers of a flow that expired.
    Timeouts,
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
    /// PAUSE and PFC frames sent.
    PauseFrames,
    /// Bytes other than data.
    ControlBytes,
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

/// All metrics. A metric per flow needs an entry here and a line in `study::measure`.
pub(crate) const METRICS: &[MetricInfo] = &[
    row(
        "throughput",
        Metric::Throughput,
        Subject::Flows,
        Unit::Rate,
        Usual::AfterWarmUp,
        "bits per second of a flow that arrive, without frame overhead; a rate",
    ),
    row(
        "goodput",
        Metric::Goodput,
        Subject::Flows,
        Unit::Rate,
        Usual::AfterWarmUp,
        "bits per second that a flow delivers, without frame overhead, duplicates and frames that the destination \
         discards; a rate",
    ),
    row(
        "raw-throughput",
        Metric::RawThroughput,
        Subject::Flows,
        Unit::Rate,
        Usual::AfterWarmUp,
        "bits per second of a flow that arrive, including preamble and interpacket gap; a rate",
    ),
    row(
        "delivered",
        Metric::Delivered,
        Subject::Flows,
        Unit::Size,
        Usual::WholeRun,
        "bytes delivered by a flow; a size",
    ),
    row(
        "completion-time",
        Metric::CompletionTime,
        Subject::Flows,
        Unit::Time,
        Usual::Never,
        "time from the start of a finite flow to its last byte",
    ),
    row(
        "source-completion-time",
        Metric::SourceCompletionTime,
        Subject::Flows,
        Unit::Time,
        Usual::Never,
        "time from the start of a finite flow with recovery until its source knows that the last byte has arrived",
    ),
    row(
        "slowdown",
        Metric::Slowdown,
        Subject::Flows,
        Unit::Number,
        Usual::Never,
        "how much longer a finite flow took than it takes alone. Without recovery: completion-time, divided by that in \
         an empty network. With recovery: source-completion-time, divided as in the HPCC simulator by twice the \
         propagation of the path, one frame without headers at each link, and all bytes with headers and overhead at the \
         slowest link; a plain number",
    ),
    row(
        "completed-share",
        Metric::CompletedShare,
        Subject::AllFlows,
        Unit::Number,
        Usual::Never,
        "finite flows whose last byte arrived, as a fraction of all finite flows; a plain number",
    ),
    row(
        "collective-time",
        Metric::CollectiveTime,
        Subject::Flows,
        Unit::Time,
        Usual::Never,
        "time of an iteration of a collective operation, from the start of its first transfer to its last byte; `of` \
         names workloads of kind collective, and `statistic` aggregates over iterations and groups",
    ),
    row(
        "algorithm-bandwidth",
        Metric::AlgorithmBandwidth,
        Subject::Flows,
        Unit::Rate,
        Usual::Never,
        "size of a collective operation divided by collective-time, as nccl-tests computes algbw; a rate",
    ),
    row(
        "bus-bandwidth",
        Metric::BusBandwidth,
        Subject::Flows,
        Unit::Rate,
        Usual::Never,
        "algorithm-bandwidth times the factor of the operation, as nccl-tests computes busbw; a rate",
    ),
    row(
        "collective-efficiency",
        Metric::CollectiveEfficiency,
        Subject::Flows,
        Unit::Number,
        Usual::Never,
        "shortest time that the links of hosts, and of the switches they are attached to, allow an iteration of a \
         collective operation, divided by collective-time; at most 1",
    ),
    row(
        "completion-variation",
        Metric::CompletionVariation,
        Subject::AllFlows,
        Unit::Number,
        Usual::Never,
        "coefficient of variation of the completion times of flows of similar size; a plain number",
    ),
    row(
        "fairness",
        Metric::Fairness,
        Subject::AllFlows,
        Unit::Number,
        Usual::AfterWarmUp,
        "Jain's fairness index of the throughputs; at most 1",
    ),
    row(
        "fair-rate",
        Metric::FairRate,
        Subject::Flows,
        Unit::Rate,
        Usual::AfterWarmUp,
        "max-min fair share of a flow, computed rather than measured; a rate",
    ),
    row(
        "fair-share",
        Metric::FairShare,
        Subject::Flows,
        Unit::Number,
        Usual::AfterWarmUp,
        "throughput of a flow divided by its max-min fair share; a plain number",
    ),
    row(
        "fair-total",
        Metric::FairTotal,
        Subject::AllFlows,
        Unit::Number,
        Usual::AfterWarmUp,
        "total throughput of the flows divided by the sum of their max-min fair shares; a plain number",
    ),
    row(
        "fair-use",
        Metric::FairUse,
        Subject::Links,
        Unit::Number,
        Usual::AfterWarmUp,
        "total throughput of the flows that cross a link, divided by the sum of their max-min fair shares; a plain \
         number",
    ),
    row(
        "fair-index",
        Metric::FairIndex,
        Subject::AllFlows,
        Unit::Number,
        Usual::AfterWarmUp,
        "Jain's fairness index of throughput divided by max-min fair share; at most 1",
    ),
    row(
        "fair-distance",
        Metric::FairDistance,
        Subject::AllFlows,
        Unit::Number,
        Usual::AfterWarmUp,
        "sum of the absolute differences between throughputs and max-min fair shares, divided by the sum of the \
         shares; a plain number",
    ),
    row(
        "recovery-time",
        Metric::RecoveryTime,
        Subject::AllFlows,
        Unit::Time,
        Usual::AfterWarmUp,
        "time until the flows together first reach their max-min fair shares, less the fraction `within`, averaged \
         over the throughput_window of [probes]; the whole window if they never do",
    ),
    row(
        "rate-limit",
        Metric::RateLimit,
        Subject::Flows,
        Unit::Rate,
        Usual::AfterWarmUp,
        "mean rate that congestion control allows a flow, sampled; without a limit, the rate of its link; a rate",
    ),
    row(
        "total-rate",
        Metric::TotalRate,
        Subject::AllFlows,
        Unit::Rate,
        Usual::AfterWarmUp,
        "total rate that congestion control allows the flows, per sample; a rate",
    ),
    row(
        "settling-time",
        Metric::SettlingTime,
        Subject::Flows,
        Unit::Time,
        Usual::AfterWarmUp,
        "time after which the rate limit of a flow stays near its mean over the last quarter of the window, sampled",
    ),
    row(
        "limit-share",
        Metric::LimitShare,
        Subject::Flows,
        Unit::Number,
        Usual::AfterWarmUp,
        "raw throughput of a flow divided by the mean rate that congestion control allows it; a plain number",
    ),
    row(
        "occupancy",
        Metric::Occupancy,
        Subject::Flows,
        Unit::Size,
        Usual::AfterWarmUp,
        "mean number of bytes of a flow in the input buffers of switches with `occupancy`, sampled; a size",
    ),
    row(
        "backlog-settling",
        Metric::BacklogSettling,
        Subject::AllFlows,
        Unit::Time,
        Usual::AfterWarmUp,
        "time after which the bytes of the flows in such buffers stay near their mean over the last quarter of the \
         window, sampled",
    ),
    row(
        "first-notified",
        Metric::FirstNotified,
        Subject::AllFlows,
        Unit::Number,
        Usual::AfterWarmUp,
        "raw throughput of the flow that was notified first in the run, divided by the mean of all the flows; a \
         plain number",
    ),
    row(
        "marked-frames",
        Metric::MarkedFrames,
        Subject::Flows,
        Unit::Count,
        Usual::WholeRun,
        "frames of a flow that arrived with a congestion mark; a count",
    ),
    row(
        "marked-share",
        Metric::MarkedShare,
        Subject::Flows,
        Unit::Number,
        Usual::AfterWarmUp,
        "fraction of a flow's frames that arrived with a congestion mark; at most 1",
    ),
    row(
        "notices",
        Metric::Notices,
        Subject::Flows,
        Unit::Count,
        Usual::WholeRun,
        "congestion notices that reached the source of a flow; a count",
    ),
    row(
        "retransmitted-frames",
        Metric::RetransmittedFrames,
        Subject::Flows,
        Unit::Count,
        Usual::WholeRun,
        "frames that the source of a flow sent again, each time; a count",
    ),
    row(
        "timeouts",
        Metric::Timeouts,
        Subject::Flows,
        Unit::Count,
        Usual::WholeRun,
        "retransmission timers of a flow that expired; a count",
    ),
    row(
        "dropped-frames",
        Metric::DroppedFrames,
        Subject::Run,
        Unit::Count,
        Usual::WholeRun,
        "data frames dropped because a buffer was full or no route existed; a count for the run",
    ),
    row(
        "lost-frames",
        Metric::LostFrames,
        Subject::Run,
        Unit::Count,
        Usual::WholeRun,
        "data frames corrupted, or lost on a failed link; a count for the run",
    ),
    row(
        "pause-frames",
        Metric::PauseFrames,
        Subject::Run,
        Unit::Count,
        Usual::WholeRun,
        "PAUSE and PFC frames sent; a count for the run",
    ),
    row(
        "control-bytes",
        Metric::ControlBytes,
        Subject::Run,
        Unit::Size,
        Usual::WholeRun,
        "bytes of frames other than data, each frame counted once, and of tags on data; a size",
    ),
    row(
        "queue",
        Metric::Queue,
        Subject::Places,
        Unit::Size,
        Usual::WholeRun,
        "bytes queued for outputs of the nodes or links; a size",
    ),
    row(
        "buffer",
        Metric::Buffer,
        Subject::Places,
        Unit::Size,
        Usual::AfterWarmUp,
        "bytes (or slots) in input buffers of the nodes or links; a size",
    ),
    row(
        "drain-time",
        Metric::DrainTime,
        Subject::Places,
        Unit::Time,
        Usual::AfterWarmUp,
        "time until a queue of the nodes or links exceeds `level` for the last time; 0 if it never does, the whole \
         window if it still does at the end",
    ),
    row(
        "swing",
        Metric::Swing,
        Subject::Places,
        Unit::Size,
        Usual::AfterWarmUp,
        "amplitude of the strongest oscillation of a queue of the nodes or links; a size",
    ),
    row(
        "swing-frequency",
        Metric::SwingFrequency,
        Subject::Places,
        Unit::Number,
        Usual::AfterWarmUp,
        "frequency of the strongest oscillation, per second; a plain number",
    ),
    row(
        "utilisation",
        Metric::Utilisation,
        Subject::Links,
        Unit::Number,
        Usual::AfterWarmUp,
        "fraction of the time during which the link was busy, including frame overhead; at most 1",
    ),
    row(
        "starved",
        Metric::Starved,
        Subject::Links,
        Unit::Number,
        Usual::AfterWarmUp,
        "fraction of the time during which frames waited and the link was idle for lack of credits; at most 1",
    ),
    row(
        "paused",
        Metric::Paused,
        Subject::Links,
        Unit::Number,
        Usual::AfterWarmUp,
        "fraction of the time during which the sender was paused; at most 1",
    ),
    row(
        "pause-phase",
        Metric::PausePhase,
        Subject::Links,
        Unit::Time,
        Usual::AfterWarmUp,
        "time from the first pause of the sender to the end of the last one before a gap of `quiet`; 0 without a \
         pause",
    ),
    row(
        "outcome",
        Metric::Outcome,
        Subject::Run,
        Unit::Outcome,
        Usual::Never,
        "how the run ended: finished, deadlock, stalled, loss, limit or interrupted",
    ),
];

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
                | Metric::CollectiveEfficiency
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
        matches!(self, FairRate | FairShare | FairTotal | FairUse | FairIndex | FairDistance | RecoveryTime)
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
}
