//! Rows of the tables causes and roots.

use super::ledger::{Key, NONE, Root};
use super::{FlowCauses, Moment};
use fabric::record::schema::{self, Table};
use fabric::record::{Cell, Row};
use std::collections::BTreeMap;

fn known(number: u32) -> Cell<'static> {
    Cell::maybe(Some(number).filter(|&number| number != NONE), Cell::count)
}

/// See [`schema::CAUSES`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CauseRow {
    flow: u32,
    key: Key,
    /// Whether the cause lies on the path of the flow.
    on_path: bool,
    time: u64,
    share: f64,
}

impl CauseRow {
    /// The rows of all flows.
    pub(crate) fn all(flows: &[FlowCauses]) -> Vec<CauseRow> {
        let rows = |flow: &FlowCauses| {
            let (number, whole) = (flow.flow, (flow.until - flow.from).max(1) as f64);
            let row = |(key, time): (Key, u64)| {
                let on_path = flow.meets(&key);
                CauseRow { flow: number, key, on_path, time, share: time as f64 / whole }
            };
            flow.ledger.iter().map(row).collect::<Vec<CauseRow>>()
        };
        flows.iter().flat_map(rows).collect()
    }
}

impl Row for CauseRow {
    const TABLE: &'static Table = &schema::CAUSES;
    fn cells(&self, put: &mut impl FnMut(Cell<'_>)) {
        let Key { cause, port, via, by } = self.key;
        put(Cell::count(self.flow));
        put(Cell::Text(cause.name()));
        put(Cell::maybe(cause.root(), |root| Cell::Text(root.name())));
        put(known(port));
        put(known(via));
        put(Cell::maybe(Some(self.on_path).filter(|_| port != NONE), Cell::Flag));
        put(known(by));
        put(Cell::count(self.time));
        put(Cell::Real(self.share));
    }
}

/// See [`schema::ROOTS`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RootRow {
    port: u32,
    root: Root,
    flow: u32,
    time: u64,
    victim_time: u64,
    culprit: bool,
}

impl RootRow {
    /// The roots of all blocked time. `limited` states for a flow whether it offers more than its fair share, if that is
    /// known.
    pub(crate) fn all(flows: &[FlowCauses], limited: impl Fn(u32) -> Option<bool>) -> Vec<RootRow> {
        let mut sums: BTreeMap<(u32, Root, u32), (u64, u64)> = BTreeMap::new();
        for flow in flows {
            for (key, time) in flow.ledger.iter() {
                let Some(root) = key.cause.root() else { continue };
                let sum = sums.entry((key.port, root, key.by)).or_default();
                sum.0 += time;
                if !flow.meets(&key) {
                    sum.1 += time;
                }
            }
        }
        let mut means: BTreeMap<(u32, Root), (u64, u64)> = BTreeMap::new();
        for (&(port, root, _), &(time, _)) in &sums {
            let (sum, flows) = means.entry((port, root)).or_default();
            (*sum, *flows) = (*sum + time, *flows + 1);
        }
        let row = |(&(port, root, flow), &(time, victim_time)): (&(u32, Root, u32), &(u64, u64))| {
            let (sum, count) = means[&(port, root)];
            let much = u128::from(time) * u128::from(count) * 2 >= u128::from(sum);
            let culprit = flow != NONE && much && limited(flow).unwrap_or(true);
            RootRow { port, root, flow, time, victim_time, culprit }
        };
        sums.iter().map(row).collect()
    }
}

impl Row for RootRow {
    const TABLE: &'static Table = &schema::ROOTS;
    fn cells(&self, put: &mut impl FnMut(Cell<'_>)) {
        put(Cell::count(self.port));
        put(Cell::Text(self.root.name()));
        put(known(self.flow));
        put(Cell::count(self.time));
        put(Cell::count(self.victim_time));
        put(Cell::Flag(self.culprit));
    }
}

/// See [`schema::CAUSE_SAMPLES`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MomentRow {
    flow: u32,
    moment: Moment,
}

impl MomentRow {
    /// The rows of all flows, in order of time.
    pub(crate) fn all(flows: &[FlowCauses]) -> Vec<MomentRow> {
        let rows = |flow: &FlowCauses| {
            let flow = (flow.flow, &flow.course);
            flow.1.iter().map(move |&moment| MomentRow { flow: flow.0, moment }).collect::<Vec<MomentRow>>()
        };
        let mut all: Vec<MomentRow> = flows.iter().flat_map(rows).collect();
        all.sort_by_key(|row| (row.moment.until, row.flow));
        all
    }
}

impl Row for MomentRow {
    const TABLE: &'static Table = &schema::CAUSE_SAMPLES;
    fn cells(&self, put: &mut impl FnMut(Cell<'_>)) {
        let Moment { until, width, cause, port, time } = self.moment;
        put(Cell::count(until));
        put(Cell::count(width));
        put(Cell::count(self.flow));
        put(Cell::Text(cause.name()));
        put(Cell::maybe(cause.root(), |root| Cell::Text(root.name())));
        put(known(port));
        put(Cell::count(time));
    }
}

/// See [`schema::TREES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TreeRow {
    pub(super) until: u64,
    pub(super) width: u64,
    pub(super) port: u32,
    pub(super) class: u8,
    pub(super) root: Root,
    /// The output that is the root.
    pub(super) to: u32,
    pub(super) blocked: u64,
}

impl Row for TreeRow {
    const TABLE: &'static Table = &schema::TREES;
    fn cells(&self, put: &mut impl FnMut(Cell<'_>)) {
        put(Cell::count(self.until));
        put(Cell::count(self.width));
        put(Cell::count(self.port));
        put(Cell::count(self.class));
        put(Cell::Text(self.root.name()));
        put(Cell::count(self.to));
        put(Cell::count(self.blocked));
    }
}
