//! Accumulation of samples and pauses during a run, for one expectation each.
//!
//! Rows arrive in the order of their tables and contain only changes, so a value holds from its row to the next. Memory
//! does not grow with the number of rows.

mod backlog;
mod delivery;
mod distribution;
mod extremes;
mod frames;
mod level;
mod notified;
mod pause;
mod rate;
mod rest;
mod total;

use super::causes::followed;
use backlog::Backlogs;
use delivery::Deliveries;
pub use extremes::Extremes;
pub(crate) use extremes::ExtremesWatch;
use fabric::record::{Ending, RecorderSpec, Rows, Selection};
use frames::Frames;
use level::Levels;
use notified::Notified;
use pause::Pauses;
use rate::Rates;
use scenario::{Expectation, FairPhase, Metric, Plan, Window};
use std::collections::{BTreeMap, BTreeSet};
use total::Total;
use units::{Span, Time};

/// A window as instants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) from: Time,
    pub(crate) until: Time,
}

impl From<Window> for Slot {
    fn from(window: Window) -> Slot {
        Slot { from: Time::ZERO + window.from, until: Time::ZERO + window.until }
    }
}

impl Slot {
    /// Returns the intersection with an interval.
    pub(crate) fn part(self, from: Time, until: Time) -> Slot {
        Slot { from: from.max(self.from), until: until.min(self.until) }
    }

    /// Returns the length; zero if it ends before it begins.
    pub(crate) fn length(self) -> Span {
        self.until.saturating_since(self.from)
    }
}

/// Returns the rate of each flow's own link in bits per second, which counts where nothing limits the flow.
fn link_rates(plan: &Plan) -> impl Fn(u32) -> u64 {
    let (hosts, ports) = (plan.spec.graph.hosts(), plan.spec.graph.ports());
    move |flow| {
        let host = hosts[plan.spec.flows[flow as usize].source.0 as usize];
        let cable = |end: &fabric::graph::PortEnd| plan.spec.graph.cables[end.cable as usize].link.rate;
        ports[host.0 as usize].iter().map(cable).max().map_or(0, units::Rate::as_bits_per_sec)
    }
}

/// An accumulator for one expectation.
#[derive(Debug)]
pub(crate) enum Watch {
    Nothing,
    Levels(Levels),
    Deliveries(Deliveries),
    Rates(Rates),
    Total(Total),
    Pauses(Pauses),
    Backlogs(Backlogs),
    Notified(Notified),
    Frames(Frames),
}

impl Watch {
    pub(crate) fn new(plan: &Plan, fair: &[FairPhase], expectation: &Expectation) -> Watch {
        match expectation.metric {
            metric if metric.is_about_levels() => Watch::Levels(Levels::new(plan, expectation)),
            Metric::RecoveryTime => Watch::Deliveries(Deliveries::new(plan, fair, expectation)),
            Metric::RateLimit | Metric::LimitShare | Metric::SettlingTime => {
                Watch::Rates(Rates::new(plan, expectation))
            }
            Metric::Occupancy | Metric::BacklogSettling => Watch::Backlogs(Backlogs::new(expectation)),
            Metric::FirstNotified => Watch::Notified(Notified::new(expectation)),
            Metric::Delay | Metric::Wait => Watch::Frames(Frames::new(expectation)),
            Metric::TotalRate => Watch::Total(Total::new(plan, expectation)),
            Metric::Paused | Metric::PausePhase => Watch::Pauses(Pauses::new(expectation)),
            _ => Watch::Nothing,
        }
    }

    pub(crate) fn take(&mut self, rows: &Rows) {
        match self {
            Watch::Nothing | Watch::Frames(_) => {}
            Watch::Levels(levels) => levels.take(&rows.queues),
            Watch::Deliveries(deliveries) => deliveries.take(&rows.flow_samples),
            Watch::Rates(rates) => rates.take(&rows.rates),
            Watch::Total(total) => total.take(&rows.rates),
            Watch::Pauses(pauses) => pauses.take(&rows.pauses),
            Watch::Backlogs(backlogs) => backlogs.take(&rows.occupancy),
            Watch::Notified(notified) => notified.take(&rows.notices),
        }
    }

    /// The run has ended: takes what was kept to its end.
    pub(crate) fn conclude(&mut self, ending: &Ending) {
        self.take(&ending.rows);
        if let Watch::Frames(frames) = self {
            frames.conclude(ending);
        }
    }

    /// Returns the values of a run that reached `end`: one for every flow or port, by its number, or a single one.
    pub(crate) fn close(self, end: Time) -> BTreeMap<u32, f64> {
        match self {
            Watch::Nothing => BTreeMap::new(),
            Watch::Levels(levels) => levels.close(end).into_iter().map(|level| (0, level)).collect(),
            Watch::Deliveries(deliveries) => deliveries.close(end).into_iter().map(|time| (0, time)).collect(),
            Watch::Rates(rates) => rates.close(end),
            Watch::Total(total) => total.close(end).into_iter().map(|total| (0, total)).collect(),
            Watch::Pauses(pauses) => pauses.close(end),
            Watch::Backlogs(backlogs) => backlogs.close(end),
            Watch::Notified(notified) => notified.close(),
            Watch::Frames(frames) => frames.close().into_iter().map(|time| (0, time)).collect(),
        }
    }
}

/// The tables that the expectations of a plan need.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    pub(crate) links: bool,
    pub(crate) queues: bool,
    pub(crate) rates: bool,
    pub(crate) pauses: bool,
    pub(crate) deliveries: bool,
    pub(crate) occupancy: bool,
    pub(crate) notices: bool,
    pub(crate) causes: bool,
    pub(crate) waits: bool,
    /// Flows whose frames' delays are asked for.
    pub(crate) delays_of: BTreeSet<u32>,
    pub(crate) ports: BTreeSet<u32>,
    flows: BTreeSet<u32>,
}

impl Needs {
    pub(crate) fn of(plan: &Plan) -> Needs {
        let mut needs = Needs::default();
        let mut first = 0;
        let ports_of: Vec<std::ops::Range<u32>> = plan
            .spec
            .graph
            .ports()
            .iter()
            .map(|ports| {
                let range = first..first + ports.len() as u32;
                first = range.end;
                range
            })
            .collect();
        for expectation in &plan.expectations {
            let subjects = &expectation.subjects;
            match expectation.metric {
                Metric::Utilisation | Metric::Starved => needs.links = true,
                Metric::Wait => needs.waits = true,
                Metric::Delay => {
                    let flows = || subjects.flows.iter().chain(subjects.over.iter().flatten());
                    needs.delays_of.extend(flows());
                    needs.flows.extend(flows());
                }
                metric if metric.is_about_levels() => needs.queues = true,
                metric if metric.is_about_causes() => needs.causes = true,
                Metric::RecoveryTime => {
                    needs.deliveries = true;
                    needs.flows.extend(&subjects.flows);
                }
                Metric::Paused | Metric::PausePhase => needs.pauses = true,
                Metric::Occupancy | Metric::BacklogSettling => {
                    // Wherever a flow may be held.
                    needs.occupancy = true;
                    needs.ports.extend(0..first);
                }
                Metric::FirstNotified => {
                    needs.notices = true;
                    needs.flows.extend(&subjects.flows);
                }
                Metric::RateLimit | Metric::LimitShare | Metric::SettlingTime | Metric::TotalRate => {
                    needs.rates = true;
                    needs.flows.extend(subjects.flows.iter().chain(subjects.over.iter().flatten()));
                }
                _ => {}
            }
            needs.ports.extend(&subjects.ports);
            needs.ports.extend(subjects.nodes.iter().flat_map(|&node| ports_of[node as usize].clone()));
        }
        needs
    }

    /// Returns the recorder configuration for a run that is not recorded.
    pub(crate) fn alone(self, plan: &Plan) -> RecorderSpec {
        let samples = self.queues || self.rates || self.deliveries || self.occupancy;
        RecorderSpec {
            sample_every: samples.then_some(plan.probes.sample_every),
            causes: self.causes,
            followed: if self.causes { followed(&plan.spec) } else { Selection::none() },
            links: self.links,
            queues: self.queues,
            rates: self.rates,
            pauses: self.pauses,
            flow_samples: self.deliveries,
            occupancy: self.occupancy,
            notices: self.notices,
            waits: self.waits,
            delays_of: Selection::only(self.delays_of),
            ports: Selection::only(self.ports),
            flows: Selection::only(self.flows),
            ..RecorderSpec::nothing()
        }
    }
}
