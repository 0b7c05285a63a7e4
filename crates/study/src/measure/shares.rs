//! Fair shares in a completed run: the max-min allocation among the flows that were active at the same time.
//!
//! A flow counts from its start to its end. A short flow is thus compared with the capacity available during its
//! lifetime, not with a share among flows that it never met.

use fabric::record::schema::{self, Table};
use fabric::record::{Cell, Row};
use fabric::{FlowSummaries, FlowSummary};
use scenario::{FairPhase, FairShare, Plan, each_fair_phase, fair_shares};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use units::{Span, Time};

/// Maximum number of flows, summed over the phases of a run, for which shares are recorded.
const MOST_WORK: usize = 1_000_000;

/// See [`schema::FAIR_SHARES`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ShareRow {
    time: Time,
    flow: u32,
    /// Fair share in bits per second.
    share: f64,
}

impl Row for ShareRow {
    const TABLE: &'static Table = &schema::FAIR_SHARES;
    fn cells(&self, put: &mut impl FnMut(Cell<'_>)) {
        put(Cell::at(self.time));
        put(Cell::count(self.flow));
        put(Cell::count(self.share as u64));
    }
}

/// Mean fair share of a flow over the time in which its throughput is measured.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MeanShare {
    /// Bits per second, excluding overhead.
    pub(crate) throughput: f64,
    /// The link that limited the flow longest; `None` if its offered load did.
    pub(crate) bottleneck: Option<String>,
}

/// Fair shares of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Shares {
    /// Mean share by flow; `None` where it is not unique. Empty if no share is defined.
    of_flow: Vec<Option<MeanShare>>,
    /// All changes of shares.
    pub(crate) rows: Vec<ShareRow>,
}

impl Shares {
    /// Returns the mean share of a flow, if it is defined.
    pub(crate) fn of(&self, flow: usize) -> Option<&MeanShare> {
        self.of_flow.get(flow)?.as_ref()
    }
}

/// Returns the time at which a flow became inactive, if that was before the end of the run.
pub(crate) fn ended(plan: &Plan, flows: &FlowSummaries, flow: usize) -> Option<Time> {
    let stop = plan.spec.flows.get(flow).and_then(|spec| spec.stop);
    flows.get(flow).and_then(|report| report.ended).into_iter().chain(stop).min()
}

/// Returns the interval over which the throughput of a flow is measured without a window: from the later of its start
/// and the end of the warm-up to the earliest of its end, its stop and the end of the run.
fn measured(plan: &Plan, flow: usize, report: &FlowSummary, reached: Time) -> (Time, Time) {
    let spec = &plan.spec.flows[flow];
    let from = spec.start.max(Time::ZERO + plan.run.warm_up);
    (from, report.ended.into_iter().chain(spec.stop).fold(reached, Time::min).max(from))
}

/// Accumulated share of a flow.
#[derive(Clone, Debug, Default)]
struct Sum {
    bits: f64,
    open: bool,
    limits: BTreeMap<Option<String>, Span>,
}

/// Returns shares as if all flows were active at once, for runs with too many phases, such as bursts. All shares are
/// undefined if any flow has a size.
fn steady(plan: &Plan) -> Shares {
    if plan.spec.flows.iter().any(|flow| flow.size.is_some()) {
        return Shares::default();
    }
    let mut shares = Shares { of_flow: vec![None; plan.spec.flows.len()], rows: Vec::new() };
    for FairShare { flow, throughput, bottleneck, .. } in fair_shares(plan).unwrap_or_default() {
        let spec = &plan.spec.flows[flow as usize];
        shares.rows.push(ShareRow { time: spec.start, flow, share: throughput });
        shares.rows.extend(spec.stop.map(|stop| ShareRow { time: stop, flow, share: 0.0 }));
        shares.of_flow[flow as usize] = Some(MeanShare { throughput, bottleneck });
    }
    shares.rows.sort_by_key(|row| (row.time, row.flow));
    shares
}

/// Returns the shares of a run that reached `reached`; undefined if there are too many, or if `time_up` says so before
/// all are computed.
pub(crate) fn shares_of_run(plan: &Plan, flows: &FlowSummaries, reached: Time, time_up: impl Fn() -> bool) -> Shares {
    if time_up() {
        return Shares::default();
    }
    // Of too many flows no shares are computed, nor kept.
    let (mut sums, mut now): (Vec<Sum>, Vec<f64>) = (Vec::new(), Vec::new());
    let mut on: Vec<u32> = Vec::new();
    let mut rows = Vec::new();
    let window = |flow: usize| measured(plan, flow, &flows.get(flow).unwrap_or_default(), reached);
    // Every phase asks for the end of every flow, which is decoded from its summary. Of too many flows none is asked for.
    let ends = OnceCell::new();
    let all = || (0..flows.len()).map(|flow| ended(plan, flows, flow)).collect::<Vec<_>>();
    let end_of = |flow: usize| ends.get_or_init(all)[flow];
    let computed = each_fair_phase(plan, end_of, (reached, MOST_WORK), |phase| {
        sums.resize(flows.len(), Sum::default());
        now.resize(flows.len(), 0.0);
        let FairPhase { from, until, shares } = phase;
        let mut changed: Vec<ShareRow> = Vec::new();
        for FairShare { flow, throughput, most, bottleneck } in &shares {
            let place = *flow as usize;
            if now[place] != *throughput {
                changed.push(ShareRow { time: from, flow: *flow, share: *throughput });
            }
            let (begin, end) = window(place);
            let span = until.min(end).saturating_since(from.max(begin));
            if span > Span::ZERO {
                let sum = &mut sums[place];
                sum.bits += throughput * span.as_secs_f64();
                sum.open |= throughput < most;
                *sum.limits.entry(bottleneck.clone()).or_default() += span;
            }
        }
        let still: Vec<u32> = shares.iter().map(|share| share.flow).collect();
        let gone = on.iter().filter(|flow| still.binary_search(flow).is_err());
        changed.extend(gone.map(|&flow| ShareRow { time: from, flow, share: 0.0 }));
        changed.sort_by_key(|row| row.flow);
        changed.iter().for_each(|row| now[row.flow as usize] = row.share);
        rows.extend(changed);
        on = still;
        if time_up() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    match computed {
        Some(()) => {}
        None if time_up() => return Shares::default(),
        None => return steady(plan),
    }
    let mean = |(flow, sum): (usize, Sum)| {
        let (from, until) = window(flow);
        let longest = sum.limits.into_iter().max_by_key(|(_, span)| *span).filter(|_| !sum.open)?.0;
        Some(MeanShare { throughput: sum.bits / until.saturating_since(from).as_secs_f64(), bottleneck: longest })
    };
    Shares { of_flow: sums.into_iter().enumerate().map(mean).collect(), rows }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::{Limits, NoFiles, load_str};

    /// Two short flows into one host, one after the other, and one that lasts.
    const NETWORK: &str = r#"
        schema_version = 1
        [network]
        topology = "single-switch"
        hosts = 4
        link = { rate = "10Gb/s", latency = "500ns" }
        [[switches]]
        flow_control = "pfc"
        buffers = { capacity = "100KB" }
        [[workloads]]
        name = "early"
        kind = "greedy"
        from = "h0"
        to = "h3"
        size = "100KB"
        [[workloads]]
        name = "late"
        kind = "greedy"
        from = "h1"
        to = "h3"
        size = "100KB"
        start = "500us"
        [[workloads]]
        name = "lasting"
        kind = "greedy"
        from = "h2"
        to = "h3"
        start = "400us"
        [run]
        duration = "1ms"
        warm_up = "200us"
    "#;

    #[test]
    fn flows_that_never_met_do_not_share() {
        let plan = load_str("test", NETWORK, &[], &NoFiles, Limits::default()).expect("a scenario");
        let at = |micros| Time::ZERO + Span::from_micros(micros);
        let done =
            |micros| FlowSummary { completed: Some(at(micros)), ended: Some(at(micros)), ..FlowSummary::default() };
        let flows = FlowSummaries::from(vec![done(300), done(700), FlowSummary::default()]);
        // The time is up before, or after the first phase: shares of a part of the run are none.
        for most in [0, 1] {
            let asked = std::cell::Cell::new(0);
            let time_up = || asked.replace(asked.get() + 1) >= most;
            let shares = shares_of_run(&plan, &flows, at(1000), time_up);
            assert_eq!(shares, Shares::default());
        }
        let shares = shares_of_run(&plan, &flows, at(1000), || false);
        let rows: Vec<(u64, u32, u64)> = shares
            .rows
            .iter()
            .map(|row| (row.time.as_picos() / 1_000_000, row.flow, (row.share / 1e8) as u64))
            .collect();
        let all = [(0, 0, 98), (300, 0, 0), (400, 2, 98), (500, 1, 49), (500, 2, 49), (700, 1, 0), (700, 2, 98)];
        assert_eq!(rows, all);
        let line = 10e9 * 1500.0 / 1520.0;
        let means: Vec<f64> = (0..3).map(|flow| shares.of(flow).expect("known").throughput / line).collect();
        // Alone; with the lasting one all its life; and that one for 200 of its 600 us.
        for (mean, expected) in means.iter().zip([1.0, 0.5, (400.0 + 0.5 * 200.0) / 600.0]) {
            assert!((mean - expected).abs() < 1e-6, "{mean}, not {expected}");
        }
        assert_eq!(shares.of(1).and_then(|share| share.bottleneck.as_deref()), Some("sw0 -> h3"));
    }

    #[test]
    fn a_flow_that_lost_frames_takes_no_share_once_it_is_over() {
        let plan = load_str("test", NETWORK, &[], &NoFiles, Limits::default()).expect("a scenario");
        let at = |micros| Time::ZERO + Span::from_micros(micros);
        let lost = FlowSummary { lost_frames: 1, ended: Some(at(600)), ..FlowSummary::default() };
        let flows = FlowSummaries::from(vec![lost, lost, FlowSummary::default()]);
        let shares = shares_of_run(&plan, &flows, at(1000), || false);
        let last = shares.rows.iter().rfind(|row| row.flow == 2).expect("it has a share");
        assert_eq!((last.time, (last.share / 1e8) as u64), (at(600), 98));
    }
}
