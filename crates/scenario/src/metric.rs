//! What can be measured: one table from which the format, its reference and the readers of expectations come.

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Bits per second delivered of a flow.
    Throughput,
    /// The same with preamble and gap counted.
    RawThroughput,
    /// Bytes delivered of a flow.
    Delivered,
    /// From a finite flow's start to its last byte.
    CompletionTime,
    /// Deviation over mean of completion times, within bins of sizes.
    CompletionVariation,
    /// Jain's index of throughputs.
    Fairness,
    /// The max-min fair share of a flow.
    FairRate,
    /// Throughput of a flow as a part of its max-min fair share.
    FairShare,
    /// Throughput of flows together as a part of their fair shares together.
    FairTotal,
    /// Jain's index of the parts that flows get of their fair shares.
    FairIndex,
    /// Throughput of the flows that cross a link as a part of their fair shares together.
    FairUse,
    /// How much of the fair shares is misplaced.
    FairDistance,
    /// How long flows together take to come to their fair share.
    RecoveryTime,
    /// What a flow's reaction point allows.
    RateLimit,
    /// What the reaction points of several flows allow together, over time.
    TotalRate,
    /// When a flow's rate limit has come to rest.
    SettlingTime,
    /// Throughput of a flow as a part of what its reaction point allows.
    LimitShare,
    /// Bytes of a flow in input buffers.
    Occupancy,
    /// When what flows hold of input buffers has come to rest.
    BacklogSettling,
    /// What the flow that was notified first gets, as a part of what flows get in the mean.
    FirstNotified,
    /// Frames of a flow that arrived marked.
    MarkedFrames,
    /// Part of a flow's frames that arrived marked.
    MarkedShare,
    /// Congestion notices for a flow.
    Notices,
    /// Data frames dropped for want of room or route.
    DroppedFrames,
    /// Data frames lost on a cable.
    LostFrames,
    /// PAUSE and PFC frames sent.
    PauseFrames,
    /// Bytes that are not data.
    ControlBytes,
    /// Bytes waiting for an output.
    Queue,
    /// Bytes or slots held of what came in.
    Buffer,
    /// How long until a queue is back below a level for good.
    DrainTime,
    /// Amplitude of the strongest swing of a queue.
    Swing,
    /// Its frequency.
    SwingFrequency,
    /// Part of the time during which a wire was busy.
    Utilisation,
    /// Part of the time during which a wire was idle for want of credits.
    Starved,
    /// Part of the time during which a sender was paused.
    Paused,
    /// From the first pause to the last before a long gap.
    PausePhase,
    /// How the run ended.
    Outcome,
}

/// What a metric is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// The run as a whole.
    Run,
    /// Flows and workloads; each has its value.
    Flows,
    /// Flows and workloads, together.
    AllFlows,
    /// Nodes, or directions of links.
    Places,
    /// Directions of links; each has its value.
    Links,
}

/// What a number is given in.
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
    /// Nothing.
    Number,
    /// A word, not a number.
    Outcome,
}

impl Unit {
    /// Its name for programs; the base units are seconds, bits per second and bytes.
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
}

/// One metric.
#[derive(Debug)]
pub(crate) struct MetricInfo {
    pub(crate) name: &'static str,
    pub(crate) metric: Metric,
    pub(crate) subject: Subject,
    pub(crate) unit: Unit,
    /// When it is measured if nobody says.
    pub(crate) window: Usual,
    pub(crate) about: &'static str,
}

/// The usual window of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Usual {
    /// From the end of the warm-up to the end of the run.
    AfterWarmUp,
    /// The whole run.
    WholeRun,
    /// It has no window.
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

/// All of them. What is per flow needs a row here and a line in `study::measure`.
pub(crate) const METRICS: &[MetricInfo] = &[
    row(
        "throughput",
        Metric::Throughput,
        Subject::Flows,
        Unit::Rate,
        Usual::AfterWarmUp,
        "delivered bits per second of a flow, without frame overhead; a rate",
    ),
    row(
        "raw-throughput",
        Metric::RawThroughput,
        Subject::Flows,
        Unit::Rate,
        Usual::AfterWarmUp,
        "delivered bits per second of a flow, including preamble and interpacket gap; a rate",
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
        "data frames corrupted, or lost on a failed cable; a count for the run",
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

/// The names of all metrics that are so.
pub(crate) fn names(wanted: impl Fn(&MetricInfo) -> bool) -> Vec<&'static str> {
    METRICS.iter().filter(|info| wanted(info)).map(|info| info.name).collect()
}

impl Metric {
    fn info(self) -> Option<&'static MetricInfo> {
        METRICS.iter().find(|info| info.metric == self)
    }

    /// What it is given in.
    #[must_use]
    pub fn unit(self) -> Unit {
        self.info().map_or(Unit::Number, |info| info.unit)
    }

    /// Whether it is a part of a whole, or an index: at most one.
    pub(crate) fn ends_at_one(self) -> bool {
        matches!(
            self,
            Metric::Fairness
                | Metric::FairIndex
                | Metric::Utilisation
                | Metric::Paused
                | Metric::Starved
                | Metric::MarkedShare
        )
    }

    /// Whether it is a time that ends with its window at the latest.
    pub(crate) fn is_within_window(self) -> bool {
        use Metric::{BacklogSettling, DrainTime, PausePhase, RecoveryTime, SettlingTime};
        matches!(self, SettlingTime | BacklogSettling | RecoveryTime | DrainTime | PausePhase)
    }

    /// Whether it is compared with max-min fair shares.
    #[must_use]
    pub fn is_about_fair_shares(self) -> bool {
        use Metric::{FairDistance, FairIndex, FairRate, FairShare, FairTotal, FairUse, RecoveryTime};
        matches!(self, FairRate | FairShare | FairTotal | FairUse | FairIndex | FairDistance | RecoveryTime)
    }

    /// Whether it is about levels of queues or buffers, sampled.
    #[must_use]
    pub fn is_about_levels(self) -> bool {
        self.info().is_some_and(|info| info.subject == Subject::Places)
    }

    /// Whether it counts from the start of the run if nobody says when.
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
