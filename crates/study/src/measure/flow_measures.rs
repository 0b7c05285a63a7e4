//! Measurements of each flow of a run, computed when they are asked for: a run may have millions of flows.

use super::measures::Snapshot;
use super::recovery::RecoveryCounts;
use super::watch::Slot;
use fabric::FlowSummary;
use fabric::workload::{FlowList, FlowSpec};
use std::collections::BTreeMap;
use std::sync::Arc;
use units::{Bytes, Span, Time};

/// Measurements of one flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowMeasures {
    /// Throughput in bits per second of delivered frames, excluding overhead, measured from the later of the flow's start and
    /// the end of the warm-up to the earliest of its end, its stop and the end of the run. NaN if this interval is empty. The
    /// table `flows`, the summary, expectations, sweeps and reports all use this value.
    pub throughput: f64,
    /// Throughput including preamble and gap of every frame: the link capacity that the flow uses.
    pub raw_throughput: f64,
    /// Goodput in bits per second: what was consumed, each byte once.
    pub goodput: f64,
    /// Bytes delivered in the whole run.
    pub delivered: u64,
    /// Completion time in seconds, from the start to the last byte, if the flow is finite and completed.
    pub completion: Option<f64>,
    /// Time in seconds from the start until the source knew that the flow was complete, if it did.
    pub source_completion: Option<f64>,
    /// Slowdown: that time, relative to the time that the flow takes alone.
    pub slowdown: Option<f64>,
    /// Whether the flow is finite and can never complete, because a lost frame is not retransmitted.
    pub never_completes: bool,
    /// What its loss recovery did in the whole run.
    pub recovery: RecoveryCounts,
}

/// Rates of a flow in bits per second.
pub(crate) struct Rates {
    /// Of all frames that arrived, without preamble and gap.
    pub(crate) arrived: f64,
    /// With them.
    pub(crate) on_wire: f64,
    /// Of what was consumed, each byte once.
    pub(crate) consumed: f64,
}

impl Rates {
    /// Of a flow that was not measured.
    pub(crate) const NONE: Rates = Rates { arrived: f64::NAN, on_wire: f64::NAN, consumed: f64::NAN };

    /// Of a flow in an interval with the states at its ends; `stopped` is its state at its stop.
    pub(crate) fn new(
        spec: &FlowSpec,
        overhead: Bytes,
        slot: Slot,
        before: &FlowSummary,
        mut after: FlowSummary,
        stopped: Option<&FlowSummary>,
    ) -> Rates {
        let mut until = slot.until;
        if let (Some(stop), Some(then)) = (spec.stop, stopped)
            && stop < until
        {
            (until, after) = (stop, *then);
        }
        until = after.ended.map_or(until, |ended| ended.min(until));
        let span = until.saturating_since(spec.start.max(slot.from));
        let grown = |of: fn(&FlowSummary) -> u64| of(&after).saturating_sub(of(before)) as f64;
        let consumed = grown(|flow| flow.received_bytes) * 8.0;
        let (bits, frames) = (grown(|flow| flow.arrived().1) * 8.0, grown(|flow| flow.arrived().0));
        let around = frames * overhead.bits() as f64;
        let rate = |bits: f64| if span == Span::ZERO { f64::NAN } else { bits / span.as_secs_f64() };
        Rates { arrived: rate(bits), on_wire: rate(bits + around), consumed: rate(consumed) }
    }
}

/// Measurements of all flows of a run, in order.
#[derive(Clone, Debug, Default)]
pub struct MeasuredFlows {
    pub(super) flows: FlowList,
    /// Frame overhead.
    pub(super) overhead: Bytes,
    /// The interval in which throughput is measured, with the states at its ends; `None` if it is empty.
    pub(super) lived: Option<(Slot, Arc<Snapshot>, Arc<Snapshot>)>,
    pub(super) end: Arc<Snapshot>,
    /// State of each stopped flow at its stop.
    pub(super) stopped: BTreeMap<u32, FlowSummary>,
}

impl MeasuredFlows {
    /// Returns the number of flows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// Returns whether there are no flows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// Returns the measurements of a flow; `None` if there is no such flow.
    #[must_use]
    pub fn get(&self, flow: usize) -> Option<FlowMeasures> {
        let spec = self.flows.get(flow)?;
        let end = self.end.flow(flow);
        let rates = self.lived.as_ref().map_or(Rates::NONE, |(slot, before, after)| {
            let stopped = self.stopped.get(&(flow as u32));
            Rates::new(spec, self.overhead, *slot, &before.flow(flow), after.flow(flow), stopped)
        });
        Some(FlowMeasures {
            throughput: rates.arrived,
            raw_throughput: rates.on_wire,
            goodput: rates.consumed,
            delivered: end.received_bytes,
            completion: since(end.completed, spec),
            source_completion: since(end.acknowledged, spec),
            slowdown: end.slowdown(spec.start),
            never_completes: spec.size.is_some() && end.completed.is_none() && end.lost_frames > 0,
            recovery: RecoveryCounts::from(&end),
        })
    }

    /// Returns the measurements of each flow.
    pub fn iter(&self) -> impl Iterator<Item = FlowMeasures> {
        (0..self.len()).filter_map(|flow| self.get(flow))
    }

    /// Returns the slowdown of a flow, if it is complete.
    #[must_use]
    pub fn slowdown(&self, flow: usize) -> Option<f64> {
        self.end.flow(flow).slowdown(self.flows.get(flow)?.start)
    }

    /// Returns the completion time of a flow in seconds, if it is finite and completed.
    #[must_use]
    pub fn completion(&self, flow: usize) -> Option<f64> {
        since(self.end.flow(flow).completed, self.flows.get(flow)?)
    }

    /// Returns the time in seconds until the source of a flow knew that it was complete, if it did.
    #[must_use]
    pub fn source_completion(&self, flow: usize) -> Option<f64> {
        since(self.end.flow(flow).acknowledged, self.flows.get(flow)?)
    }
}

/// Returns the seconds from the start of a flow until then.
fn since(at: Option<Time>, flow: &FlowSpec) -> Option<f64> {
    at.map(|at| at.saturating_since(flow.start).as_secs_f64())
}
