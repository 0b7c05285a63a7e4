//! Recording limits of a run: estimated before it starts, enforced while it runs.
//!
//! The volume of samples is known in advance from the numbers of instants, ports and flows. The estimate is an upper
//! bound, because unchanged and idle values produce no rows. Pauses, drops, notifications and occupancy cannot be
//! predicted; they are counted as they occur, and a run that exceeds its limit ends at the next inspection.

use congestion::Reaction;
use fabric::Limit;
use fabric::record::RecorderSpec;
use fabric::spec::FlowControl;
use results::{ResultWriter, ResultsError};
use scenario::{Plan, ProbeSettings};
use std::ops::ControlFlow;
use units::{Span, Time};

/// Maximum number of rows that all recorders of a run hold before writing.
pub(crate) const ROWS_HELD: usize = 1 << 18;

/// Approximate bytes per row in its file, measured on fat-trees of 1024 hosts.
const BYTES: [(&str, u64); 5] = [("flow_samples", 7), ("links", 20), ("starved", 12), ("queues", 6), ("rates", 6)];

/// Estimated volume of a run's samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// Sampling instants.
    pub samples: u64,
    /// Recorded ports.
    pub ports: u64,
    /// Classes of each port.
    pub classes: u64,
    /// Flows.
    pub flows: u64,
    /// Maximum number of rows, over all sampled tables.
    pub rows: u64,
    /// Approximate size of these rows in bytes.
    pub bytes: u64,
}

impl Volume {
    /// Estimates the volume of a plan with a recorder configuration.
    #[must_use]
    pub fn of(plan: &Plan, recorder: &RecorderSpec) -> Volume {
        let every = recorder.sample_every.unwrap_or(plan.run.duration);
        let samples = |span: Span| span.as_picos().div_ceil(every.as_picos().max(1));
        let all = samples(plan.run.duration);
        let ports = plan.spec.graph.ports().iter().map(Vec::len).sum::<usize>() as u32;
        let ports = (0..ports).filter(|&port| recorder.ports.contains(port)).count() as u64;
        let classes = plan.spec.classes.len() as u64;
        let credits = plan.spec.switches.iter().any(|switch| matches!(switch.flow_control, FlowControl::Credits(_)));
        let (mut delivered, mut allowed, mut flows) = (0u64, 0u64, 0u64);
        let end = Time::ZERO + plan.run.duration;
        for (number, flow) in plan.spec.flows.iter().enumerate() {
            if !recorder.flows.contains(number as u32) {
                continue;
            }
            flows += 1;
            let stop = flow.stop.map_or(end, |stop| stop.min(end));
            let life = samples(stop.saturating_since(flow.start));
            // A flow of few frames is not seen more often than it delivers one.
            let frames = flow.size.map_or(u64::MAX, |size| size.get().div_ceil(flow.frame.get().max(1)));
            delivered = delivered.saturating_add(life.min(frames));
            allowed = allowed.saturating_add(if matches!(flow.reaction, Reaction::None(_)) { 1 } else { life });
        }
        let each = |wanted: bool, of: u64| if wanted { of } else { 0 };
        let by_port = all.saturating_mul(ports);
        let tables = [
            each(recorder.flow_samples, delivered),
            each(recorder.links, by_port),
            each(recorder.links && credits, by_port.saturating_mul(classes)),
            each(recorder.queues, by_port.saturating_mul(classes)),
            each(recorder.rates, allowed),
        ];
        let rows = tables.iter().fold(0u64, |sum, rows| sum.saturating_add(*rows));
        let bytes = tables.iter().zip(BYTES).map(|(rows, (_, bytes))| rows.saturating_mul(bytes));
        let bytes = bytes.fold(0u64, u64::saturating_add);
        Volume { samples: all, ports, classes, flows, rows, bytes }
    }

    /// Returns why the volume exceeds the limits, if it does.
    #[must_use]
    pub fn too_much(&self, probes: &ProbeSettings) -> Option<String> {
        let Volume { samples, ports, classes, flows, rows, bytes } = *self;
        let limit = match () {
            () if rows > probes.max_rows => format!("probes.max_rows allows {}", probes.max_rows),
            () if bytes > probes.max_size.get() => format!("probes.max_size allows {}", probes.max_size),
            () => return None,
        };
        Some(format!(
            "this run would record up to {rows} rows, about {} MB: {samples} samples of {ports} ports with {classes} \
             classes and of {flows} flows; {limit}\n  sample less often (probes.sample_every), record less \
             (probes.record, probes.nodes), raise the limit, or measure without recording (--no-record)",
            bytes.div_ceil(1_000_000),
        ))
    }
}

/// Checks whether a run has reached its recording limit. This is decided at inspections, so that it does not depend on
/// threads. Exceeding twice the limit is an error, and the result is removed.
pub(super) fn judge(writer: &ResultWriter, probes: &ProbeSettings) -> Result<ControlFlow<Limit>, ResultsError> {
    let (rows, bytes) = (writer.rows(), writer.bytes());
    let (max_rows, max_bytes) = (probes.max_rows, probes.max_size.get());
    if rows > max_rows.saturating_mul(2) || bytes > max_bytes.saturating_mul(2) {
        return Err(ResultsError::TooMuch { path: writer.partial().to_owned(), max_rows, max_bytes });
    }
    Ok(match () {
        () if rows > max_rows => ControlFlow::Break(Limit::Rows(max_rows)),
        () if bytes > max_bytes => ControlFlow::Break(Limit::Bytes(max_bytes)),
        () => ControlFlow::Continue(()),
    })
}
