//! Collective operations as nccl-tests reports them: time, algorithm bandwidth, bus bandwidth, and the rank that was last.
//!
//! Algorithm bandwidth is the size of the operation divided by its time. Bus bandwidth is that times a factor of the
//! operation, so that it does not depend on the number of ranks and can be compared with a link (nccl-tests,
//! PERFORMANCE.md).

use super::measures::Measures;
use fabric::FlowSummaries;
use fabric::graph::{HostId, Role};
use fabric::record::schema::{self, Table};
use fabric::record::{Cell, Row};
use fabric::workload::{Destination, FlowSpec};
use scenario::{CollectivePlan, Plan};
use std::collections::BTreeMap;
use units::{Span, Time};

/// One iteration of a collective operation of one group.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectiveRound {
    /// Index in the plan's collectives.
    pub collective: usize,
    /// Group.
    pub group: u32,
    /// Iteration.
    pub iteration: u32,
    /// When its first transfer started; `None` if none has.
    pub start: Option<Time>,
    /// When its last byte arrived; `None` if some have not.
    pub end: Option<Time>,
    /// The rank at which it arrived, and the name of its host.
    pub last: Option<(u32, String)>,
    /// Size in bytes.
    pub size: u64,
    /// Factor from algorithm to bus bandwidth.
    pub factor: f64,
    /// The shortest time in seconds that the links allow.
    pub bound: f64,
}

impl CollectiveRound {
    /// Returns how long it took.
    #[must_use]
    pub fn time(&self) -> Option<Span> {
        Some(self.end?.saturating_since(self.start?))
    }

    fn seconds(&self) -> Option<f64> {
        self.time().map(Span::as_secs_f64).filter(|&time| time > 0.0)
    }

    /// Returns its algorithm bandwidth in bits per second.
    #[must_use]
    pub fn algorithm_bandwidth(&self) -> Option<f64> {
        self.seconds().map(|time| self.size as f64 * 8.0 / time)
    }

    /// Returns its bus bandwidth in bits per second.
    #[must_use]
    pub fn bus_bandwidth(&self) -> Option<f64> {
        self.algorithm_bandwidth().map(|bandwidth| bandwidth * self.factor)
    }

    /// Returns the bus bandwidth that the links allow, in bits per second.
    #[must_use]
    pub fn most_bus_bandwidth(&self) -> Option<f64> {
        (self.bound > 0.0).then(|| self.size as f64 * 8.0 / self.bound * self.factor)
    }

    /// Returns the shortest time that the links allow, as a fraction of its time.
    #[must_use]
    pub fn efficiency(&self) -> Option<f64> {
        self.seconds().map(|time| self.bound / time)
    }
}

/// Summary of a workload of collective operations.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectiveSummary {
    /// Name of the workload.
    pub name: String,
    /// Operation.
    pub operation: &'static str,
    /// Algorithm.
    pub algorithm: &'static str,
    /// Ranks of a group.
    pub ranks: u32,
    /// Size in bytes.
    pub size: u64,
    /// Iterations, of all groups together.
    pub rounds: usize,
    /// Those of them that completed. The following are about these.
    pub complete: usize,
    /// Mean time in seconds.
    pub time: Option<f64>,
    /// Longest time in seconds.
    pub longest: Option<f64>,
    /// Mean algorithm bandwidth in bits per second.
    pub algorithm_bandwidth: Option<f64>,
    /// Mean bus bandwidth in bits per second.
    pub bus_bandwidth: Option<f64>,
    /// Bus bandwidth that the links allow, in bits per second.
    pub bound: Option<f64>,
    /// The iteration that took longest.
    pub slowest: Option<CollectiveRound>,
}

impl Measures {
    /// Returns one summary per workload of collective operations.
    #[must_use]
    pub fn collective_summaries(&self, plan: &Plan) -> Vec<CollectiveSummary> {
        let summary = |(number, of): (usize, &CollectivePlan)| {
            let rounds: Vec<&CollectiveRound> =
                self.collectives.iter().filter(|round| round.collective == number).collect();
            let complete: Vec<&CollectiveRound> =
                rounds.iter().copied().filter(|round| round.time().is_some()).collect();
            let mean = |of: fn(&CollectiveRound) -> Option<f64>| {
                let values: Vec<f64> = complete.iter().filter_map(|round| of(round)).collect();
                (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
            };
            let slowest = complete.iter().max_by_key(|round| round.time()).copied();
            CollectiveSummary {
                name: plan.workload_names.get(of.workload as usize).cloned().unwrap_or_default(),
                operation: of.collective.operation.name(),
                algorithm: of.collective.algorithm.name(),
                ranks: of.collective.ranks,
                size: of.collective.size.get(),
                rounds: rounds.len(),
                complete: complete.len(),
                time: mean(CollectiveRound::seconds),
                longest: slowest.and_then(CollectiveRound::seconds),
                algorithm_bandwidth: mean(CollectiveRound::algorithm_bandwidth),
                bus_bandwidth: mean(CollectiveRound::bus_bandwidth),
                bound: rounds.first().and_then(|round| round.most_bus_bandwidth()),
                slowest: slowest.cloned(),
            }
        };
        plan.collectives.iter().enumerate().map(summary).collect()
    }
}

/// Returns all iterations of all collectives of a run.
pub(crate) fn rounds(plan: &Plan, flows: &FlowSummaries) -> Vec<CollectiveRound> {
    let (hosts, nodes) = (plan.spec.graph.hosts(), &plan.spec.graph.nodes);
    let name = |host: HostId| nodes[hosts[host.0 as usize].0 as usize].name.clone();
    let mut rounds = Vec::new();
    for (number, collective) in plan.collectives.iter().enumerate() {
        let bound = bound(plan, collective);
        for group in 0..collective.groups() {
            for iteration in 0..collective.collective.iterations {
                let range = collective.flows(group, iteration);
                let (specs, reports) = (plan.spec.flows.get(range.clone()), flows.range(range));
                let (Some(specs), Some(reports)) = (specs, reports) else { continue };
                let start = reports.clone().filter_map(|report| report.started).min();
                let whole = reports.clone().all(|report| report.completed.is_some());
                let ends = specs.iter().zip(reports).filter_map(|(spec, report)| Some((report.completed?, spec)));
                let last = ends.max_by_key(|(at, _)| *at).filter(|_| whole);
                let host = last.and_then(|(_, spec)| destination(spec));
                rounds.push(CollectiveRound {
                    collective: number,
                    group,
                    iteration,
                    start,
                    end: last.map(|(at, _)| at),
                    last: host.and_then(|host| Some((collective.rank_of(host)?, name(host)))),
                    size: collective.collective.size.get(),
                    factor: collective.collective.operation.bus_factor(collective.collective.ranks),
                    bound,
                });
            }
        }
    }
    rounds
}

/// What a rank did in an iteration: see [`schema::COLLECTIVE_RANKS`].
pub(crate) struct RankRow {
    collective: usize,
    group: u32,
    iteration: u32,
    rank: u32,
    host: String,
    start: Option<Time>,
    end: Option<Time>,
}

impl RankRow {
    /// Returns what all ranks did in all iterations of a run.
    pub(crate) fn all(plan: &Plan, flows: &FlowSummaries) -> Vec<RankRow> {
        let (hosts, nodes) = (plan.spec.graph.hosts(), &plan.spec.graph.nodes);
        let mut rows = Vec::new();
        for (number, collective) in plan.collectives.iter().enumerate() {
            let ranks = collective.collective.ranks;
            for (group, iteration) in (0..collective.groups())
                .flat_map(|group| (0..collective.collective.iterations).map(move |iteration| (group, iteration)))
            {
                let range = collective.flows(group, iteration);
                let (specs, reports) = (plan.spec.flows.get(range.clone()), flows.range(range));
                let (Some(specs), Some(reports)) = (specs, reports) else { continue };
                // By rank: when the first of its transfers started, when the last byte arrived, and whether all have.
                let mut seen: Vec<(Option<Time>, Option<Time>, bool)> = vec![(None, None, true); ranks as usize];
                for (spec, report) in specs.iter().zip(reports) {
                    let ends = [Some(spec.source), destination(spec)].map(|host| collective.rank_of(host?));
                    if let Some(sender) = ends[0].and_then(|rank| seen.get_mut(rank as usize)) {
                        sender.0 = sender.0.into_iter().chain(report.started).min();
                    }
                    for rank in ends.into_iter().flatten() {
                        let Some(rank) = seen.get_mut(rank as usize) else { continue };
                        rank.1 = rank.1.max(report.completed);
                        rank.2 &= report.completed.is_some();
                    }
                }
                for (rank, (start, end, whole)) in (0..).zip(seen) {
                    let host = collective.hosts.get((group * ranks + rank) as usize);
                    let name = host.map(|host| nodes[hosts[host.0 as usize].0 as usize].name.clone());
                    let (host, end) = (name.unwrap_or_default(), end.filter(|_| whole));
                    rows.push(RankRow { collective: number, group, iteration, rank, host, start, end });
                }
            }
        }
        rows
    }
}

impl Row for RankRow {
    const TABLE: &'static Table = &schema::COLLECTIVE_RANKS;
    fn cells(&self, put: &mut impl FnMut(Cell<'_>)) {
        put(Cell::count(self.collective as u64));
        put(Cell::count(self.group));
        put(Cell::count(self.iteration));
        put(Cell::count(self.rank));
        put(Cell::Text(&self.host));
        put(Cell::maybe(self.start, Cell::at));
        put(Cell::maybe(self.end, Cell::at));
    }
}

fn destination(flow: &FlowSpec) -> Option<HostId> {
    match flow.destination {
        Destination::Host(host) => Some(host),
        Destination::Uniform => None,
    }
}

/// Returns the bits on the wire of a finite flow, with frame overhead and headers.
fn on_wire(plan: &Plan, flow: &FlowSpec) -> f64 {
    let (size, frame) = (flow.size.map_or(0, units::Bytes::get), flow.frame.get().max(1));
    let frames = size.div_ceil(frame);
    let last = size - frames.saturating_sub(1) * frame;
    let padding = plan.spec.smallest_frame.get().saturating_sub(last);
    let around = frames * (plan.spec.overhead + flow.added()).get();
    (size + padding + around) as f64 * 8.0
}

/// Returns the shortest time in seconds in which the links of hosts, and those of the switches that hosts are attached to,
/// can carry one iteration of all groups.
fn bound(plan: &Plan, collective: &CollectivePlan) -> f64 {
    let graph = &plan.spec.graph;
    let (hosts, ends) = (graph.hosts(), graph.ports());
    let rate = |cable: u32| graph.cables[cable as usize].link.rate.as_bits_per_sec() as f64;
    // The only switch of a host.
    let home = |host: HostId| {
        let mut switches = ends[hosts[host.0 as usize].0 as usize].iter().map(|end| end.peer);
        let first = switches.next()?;
        switches.all(|other| other == first).then_some(first)
    };
    // Bits out of and into each host and switch.
    let mut of_host: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    let mut of_switch: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for group in 0..collective.groups() {
        for flow in &plan.spec.flows[collective.flows(group, 0)] {
            let Some(to) = destination(flow) else { continue };
            let bits = on_wire(plan, flow);
            of_host.entry(flow.source.0).or_default().0 += bits;
            of_host.entry(to.0).or_default().1 += bits;
            if let (Some(out), Some(into)) = (home(flow.source), home(to))
                && out != into
            {
                of_switch.entry(out.0).or_default().0 += bits;
                of_switch.entry(into.0).or_default().1 += bits;
            }
        }
    }
    let host_time = |(host, (out, into)): (u32, (f64, f64))| {
        let rates: f64 = ends[hosts[host as usize].0 as usize].iter().map(|end| rate(end.cable)).sum();
        out.max(into) / rates
    };
    let switch_time = |(node, (out, into)): (u32, (f64, f64))| {
        let others = ends[node as usize].iter().filter(|end| graph.nodes[end.peer.0 as usize].role == Role::Switch);
        let rates: f64 = others.map(|end| rate(end.cable)).sum();
        out.max(into) / rates
    };
    let times = of_host.into_iter().map(host_time).chain(of_switch.into_iter().map(switch_time));
    times.filter(|time| time.is_finite()).fold(0.0, f64::max)
}

/// See [`schema::COLLECTIVES`].
pub(crate) struct CollectiveRow<'a> {
    plan: &'a Plan,
    round: &'a CollectiveRound,
}

impl<'a> CollectiveRow<'a> {
    pub(crate) fn all(plan: &'a Plan, rounds: &'a [CollectiveRound]) -> Vec<CollectiveRow<'a>> {
        rounds.iter().map(|round| CollectiveRow { plan, round }).collect()
    }
}

impl Row for CollectiveRow<'_> {
    const TABLE: &'static Table = &schema::COLLECTIVES;
    fn cells(&self, put: &mut impl FnMut(Cell<'_>)) {
        let CollectiveRow { plan, round } = self;
        let whole = &plan.collectives[round.collective];
        put(Cell::count(round.collective as u64));
        put(Cell::count(round.group));
        put(Cell::count(round.iteration));
        put(Cell::Text(plan.workload_names.get(whole.workload as usize).map_or("", String::as_str)));
        put(Cell::Text(whole.collective.operation.name()));
        put(Cell::Text(whole.collective.algorithm.name()));
        put(Cell::count(whole.collective.ranks));
        put(Cell::count(round.size));
        put(Cell::maybe(round.start, Cell::at));
        put(Cell::maybe(round.end, Cell::at));
        put(Cell::maybe(round.time(), Cell::span));
        put(Cell::maybe(round.algorithm_bandwidth(), Cell::Real));
        put(Cell::maybe(round.bus_bandwidth(), Cell::Real));
        put(Cell::maybe(round.most_bus_bandwidth(), Cell::Real));
        put(Cell::maybe(round.last.as_ref(), |(rank, _)| Cell::count(*rank)));
        put(Cell::maybe(round.last.as_ref(), |(_, host)| Cell::Text(host)));
    }
}

#[cfg(test)]
mod tests {
    use crate::{Existing, Options, Recording, execute};
    use fabric::record::schema;
    use results::Results;
    use scenario::{Limits, NoFiles, Plan, load_str};
    use std::sync::atomic::AtomicBool;

    fn plan(rest: &str) -> Plan {
        let text = format!(
            "schema_version = 1\n[network]\ntopology = \"single-switch\"\nhosts = 4\nlink = {{ rate = \"10Gb/s\", latency \
             = \"600ns\" }}\n[[switches]]\nflow_control = \"pfc\"\nbuffers = {{ capacity = \"200KB\" }}\n[run]\nduration \
             = \"1ms\"\n{rest}"
        );
        load_str("test", &text, &[], &NoFiles, Limits::default())
            .unwrap_or_else(|errors| panic!("{}", errors.render(false)))
    }

    #[test]
    fn a_ring_is_reported_as_nccl_tests_does() {
        let plan = plan(
            "[[workloads]]\nname = \"ring\"\nkind = \"collective\"\nsize = \"80KB\"\nframe = \"1000B\"\niterations = 2\n\
             compute = \"5us\"\n[[expectations]]\nmetric = \"collective-time\"\nof = \"ring\"\nvalue = \"1us\"\n\
             [[expectations]]\nmetric = \"bus-bandwidth\"\nof = \"ring\"\nstatistic = \"least\"\nvalue = \"1Gb/s\"",
        );
        let interrupt = AtomicBool::new(false);
        let out = std::env::temp_dir().join(format!("tailback-collective-{}", std::process::id()));
        let record = Recording { out: out.clone(), existing: Existing::Replace };
        let options =
            Options { threads: 2, time_up: None, interrupt: &interrupt, record: Some(&record), capture: None };
        let run = execute(&plan, &options, |_| {}).unwrap();
        // Six steps of 20 frames with 20 B of overhead, one of them on two links, and two latencies.
        let step = 21.0 * 1020.0 * 0.8e-9 + 1.2e-6;
        let time = 6.0 * step;
        let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 1e-9;
        let [first, second] = &run.measures.collectives[..] else { panic!("two iterations") };
        for round in [first, second] {
            assert!(near(round.time().unwrap().as_secs_f64(), time), "{round:?}");
            assert!(near(round.algorithm_bandwidth().unwrap(), 640_000.0 / time));
            assert!(near(round.bus_bandwidth().unwrap(), 1.5 * 640_000.0 / time));
            // What a link carries without overhead.
            assert!(near(round.most_bus_bandwidth().unwrap(), 10e9 / 1.02));
        }
        // Every rank begins anew when all it sends and receives is complete, and 5 us later.
        assert!(near(second.start.unwrap().as_secs_f64(), time + 5e-6), "{second:?}");
        assert_eq!(run.measures.values.iter().map(|value| value.is_some()).collect::<Vec<_>>(), [true; 2]);
        assert!(near(run.measures.values[0].unwrap(), time) && near(run.measures.values[1].unwrap(), 960_000.0 / time));
        let table = Results::open(&out).unwrap().read(&schema::COLLECTIVES).unwrap();
        assert_eq!((table.len(), table.texts("operation")[1].as_str()), (2, "all-reduce"));
        let ranks = Results::open(&out).unwrap().read(&schema::COLLECTIVE_RANKS).unwrap();
        assert_eq!((ranks.len(), ranks.integers("rank")), (8, &[0, 1, 2, 3, 0, 1, 2, 3][..]));
        assert_eq!(ranks.texts("host")[..4], ["h0", "h1", "h2", "h3"]);
        // In a ring of equal links all are ready at once: each rank has its last bytes with the last step.
        let picos = |at: Option<units::Time>| i64::try_from(at.unwrap().as_picos()).unwrap();
        assert!(ranks.integers("end")[..4].iter().all(|&end| end == picos(first.end)));
        assert!(ranks.integers("start")[4..].iter().all(|&start| start == picos(second.start)));
        std::fs::remove_dir_all(&out).unwrap();
        // Flows count from their own start: none takes longer than a step.
        let longest = run.measures.flows.iter().filter_map(|flow| flow.completion).fold(0.0, f64::max);
        assert!(near(longest, step), "{longest}");
        assert!(run.measures.unstarted.flows.is_empty());
    }

    #[test]
    fn flows_that_still_wait_are_counted() {
        // A slow first flow, and a run that ends before it does.
        let plan = plan(
            "[[workloads]]\nname = \"late\"\nkind = \"flows\"\nflows = [{ name = \"a\", from = \"h0\", to = \"h1\", size = \
             \"5MB\" }, { from = \"h1\", to = \"h2\", size = \"1KB\", after = \"a\" }, { from = \"h2\", to = \"h3\", size \
             = \"1KB\", after = \"2\" }]",
        );
        let interrupt = AtomicBool::new(false);
        let options = Options { threads: 1, time_up: None, interrupt: &interrupt, record: None, capture: None };
        let run = execute(&plan, &options, |_| {}).unwrap();
        assert_eq!((run.measures.outcome, run.measures.unstarted.flows.as_slice()), ("finished", &[1, 2][..]));
        assert_eq!(run.measures.unstarted.awaited, [0]);
        assert_eq!(run.measures.workloads(&plan)[0].waiting, 2);
    }
}
