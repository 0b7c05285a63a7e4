//! A network that runs: built from a description, run to an outcome, asked for its results.

use crate::build::places::Places;
use crate::build::plan::{Hold, NetworkPlan};
use crate::build::{BuildOptions, Built, build};
use crate::describe::error::BuildErrors;
use crate::describe::graph::Graph;
use crate::describe::spec::NetworkSpec;
use crate::describe::validate::largest_frame;
use crate::machine::network::{Gone, Network};
use crate::observe::census::Census;
use crate::observe::outcome::{Limit, Loss, LossDetails, Outcome, Totals};
use crate::observe::probe::{NoProbe, Probe};
use crate::observe::watchdog::rest::{Rest, Whole};
use crate::observe::watchdog::{Held, Movement, Snapshot};
use engine::{End, Fingerprint, Look, RunPlan};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use theory::headroom::{HeadroomSpec, headroom};
use units::{Bytes, Span, Time};

/// The interrupt of runs that nobody interrupts.
static NEVER: AtomicBool = AtomicBool::new(false);

/// Limits of a run: how far it goes, on how many threads, and what may end it early.
///
/// ```
/// use tailback_fabric::RunLimits;
/// use tailback_fabric::units::{Span, Time};
///
/// let limits = RunLimits { threads: 2, ..RunLimits::until(Time::ZERO + Span::from_millis(5)) };
/// assert_eq!(limits.inspect_every, Span::from_micros(100));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RunLimits<'a> {
    /// The last simulated instant.
    pub until: Time,
    /// Ends the run at the next inspection after so many events of the model. Samples are not counted: a run ends at the
    /// same instant whether it is recorded or not.
    pub events: Option<u64>,
    /// Number of threads, at most one per shard.
    pub threads: usize,
    /// Simulated time between two inspections of the whole network. Deadlock, loss and limits are judged then, at
    /// instants that do not depend on threads or partitioning.
    pub inspect_every: Span,
    /// Whether the run ends at a deadlock. Without it a run goes on, whatever waits for what.
    pub watchdog: bool,
    /// Ends the run when another thread sets it. The instant depends on when that is.
    pub interrupt: Option<&'a AtomicBool>,
}

impl Default for RunLimits<'_> {
    /// To the end of all traffic, on one thread, with an inspection every 100 us of simulated time and the watchdog on.
    fn default() -> Self {
        RunLimits {
            until: Time::MAX,
            events: None,
            threads: 1,
            inspect_every: Span::from_micros(100),
            watchdog: true,
            interrupt: None,
        }
    }
}

impl RunLimits<'_> {
    /// The [default](RunLimits::default) limits with a last instant.
    #[must_use]
    pub fn until(until: Time) -> Self {
        RunLimits { until, ..RunLimits::default() }
    }
}

/// What the caller sees at an inspection, and whenever a probe is full.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Simulated time.
    pub now: Time,
    /// Whether this is an inspection. If not, a probe is full: all that happened before `now` may be taken out of the
    /// probes, and a break is for errors, after which there is no result.
    pub inspection: bool,
    /// Events of the model: alarms fired, without samples.
    pub events: u64,
    /// Frames that crossed a cable.
    pub hops: u64,
}

/// What the caller sees at an instant it asked for: everything up to and including it has happened.
pub struct Mark<'a, 'b, P> {
    /// The instant.
    pub now: Time,
    /// What has become of each flow, in the order of the description.
    pub flows: Vec<FlowSummary>,
    /// Sums so far.
    pub totals: Totals,
    /// The probes, shard by shard.
    pub probes: &'a mut [&'b mut P],
}

/// How a run went: its outcome, its fingerprint and its totals.
#[derive(Clone, Debug)]
pub struct RunSummary {
    /// How it ended.
    pub outcome: Outcome,
    /// Simulated time reached.
    pub now: Time,
    /// The same for the same description and seed, on any number of threads and any partitioning.
    pub fingerprint: u64,
    /// Sums.
    pub totals: Totals,
    /// Events of the model: alarms fired, without samples.
    pub events: u64,
    /// Windows it took; one per inspection with a single shard.
    pub windows: u64,
}

/// What became of one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowSummary {
    /// Frames its source has made.
    pub made_frames: u64,
    /// Bytes its destinations have consumed.
    pub received_bytes: u64,
    /// Frames its destinations have consumed.
    pub received_frames: u64,
    /// Those of them that carried a congestion mark.
    pub marked_frames: u64,
    /// Congestion notices its source has had.
    pub notices: u64,
    /// When the last byte of a finite flow arrived.
    pub completed: Option<Time>,
    /// When its destinations last consumed a frame; zero if they never did.
    pub last_received: Time,
    /// Frames of it that were dropped or lost and are not sent again. A finite flow with any never completes.
    pub lost_frames: u64,
    /// Frames that its source sent again, each time; not among those made.
    pub retransmitted_frames: u64,
    /// Their bytes.
    pub retransmitted_bytes: u64,
    /// How often its retransmission timer expired.
    pub timeouts: u64,
    /// Negative acknowledgements that its destination has sent.
    pub negative_acknowledgements: u64,
    /// Frames that had arrived before and were discarded.
    pub duplicate_frames: u64,
    /// Their bytes.
    pub duplicate_bytes: u64,
    /// Frames that its destination discarded because an earlier one was missing.
    pub rejected_frames: u64,
    /// Their bytes.
    pub rejected_bytes: u64,
    /// Frames that arrived out of order, kept or rejected; counted for flows with recovery.
    pub out_of_order_frames: u64,
    /// Congestion notification packets that its destination has sent.
    pub congestion_notifications: u64,
    /// When the source of a finite flow with recovery knew that all of it had arrived.
    pub acknowledged: Option<Time>,
    /// When a finite flow was over: complete, or, if that cannot be any more, the last of its frames had arrived or was
    /// lost.
    pub ended: Option<Time>,
}

/// A network and its traffic, ready to run.
pub struct Simulation<P: Probe = NoProbe> {
    built: Built<P>,
    graph: Graph,
    largest: Vec<u32>,
    /// Simulated time reached.
    now: Time,
}

impl Simulation<NoProbe> {
    /// Builds a network that nobody watches.
    pub fn build(spec: &NetworkSpec, options: &BuildOptions) -> Result<Simulation<NoProbe>, BuildErrors> {
        Simulation::build_with(spec, options, |_| NoProbe)
    }
}

impl<P: Probe> Simulation<P> {
    /// Builds a network with a probe for each shard.
    pub fn build_with(
        spec: &NetworkSpec,
        options: &BuildOptions,
        probe: impl FnMut(usize) -> P,
    ) -> Result<Simulation<P>, BuildErrors> {
        let built = build(spec, options, probe)?;
        let largest = (0..spec.classes.len()).map(|class| largest_frame(spec, class).get() as u32).collect();
        Ok(Simulation { built, graph: spec.graph.clone(), largest, now: Time::ZERO })
    }

    /// How many shards it was cut into.
    #[must_use]
    pub fn shards(&self) -> usize {
        self.built.shards.len()
    }

    /// Runs on from the instant reached so far, up to the limits.
    pub fn run(&mut self, limits: &RunLimits<'_>) -> RunSummary {
        self.run_supervised(limits, |_, _| ControlFlow::Continue(()))
    }

    /// Runs like [`run`](Self::run). At every inspection `progress` sees the progress and the probes of all shards; it
    /// may take out the recorded rows, and end the run with [`Outcome::LimitReached`] by returning a break.
    pub fn run_supervised<F>(&mut self, limits: &RunLimits<'_>, progress: F) -> RunSummary
    where
        F: FnMut(Progress, &mut [&mut P]) -> ControlFlow<Limit> + Send,
    {
        self.run_marked(limits, &[], progress, |_| {})
    }

    /// Runs like [`run_supervised`](Self::run_supervised), and shows the network at each of the instants in `marks`, which
    /// ascend. Marks change no result. A mark after the last event is not shown: the final state serves.
    pub fn run_marked<F, G>(
        &mut self,
        limits: &RunLimits<'_>,
        marks: &[Time],
        mut progress: F,
        mut show: G,
    ) -> RunSummary
    where
        F: FnMut(Progress, &mut [&mut P]) -> ControlFlow<Limit> + Send,
        G: FnMut(Mark<'_, '_, P>) + Send,
    {
        let plan = RunPlan {
            from: self.now,
            until: limits.until,
            inspect_every: limits.inspect_every,
            lookahead: self.built.lookahead,
            threads: limits.threads,
            marks,
            interrupt: limits.interrupt.unwrap_or(&NEVER),
        };
        let (network_plan, places) = (&self.built.plan, &self.built.places);
        let (graph, port_at) = (&self.graph, &self.built.port_at);
        let name = |node: u32| graph.nodes[node as usize].name.clone();
        let mut ended: Option<Outcome> = None;
        let mut lost: Option<Loss> = None;
        let report = engine::run(&mut self.built.shards, plan, |look| {
            let events = look.fired - look.models.iter().map(|model| model.samples).sum::<u64>();
            if look.look == Look::Relief {
                let hops = look.models.iter().map(|model| model.totals.hops).sum();
                let mut probes: Vec<&mut P> = look.models.iter_mut().map(|model| &mut model.probe).collect();
                let seen = Progress { now: look.now, inspection: false, events, hops };
                let flow = progress(seen, &mut probes);
                ended = flow.break_value().map(Outcome::LimitReached);
                return if ended.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            }
            if look.look == Look::Mark {
                let models: Vec<&Network<P>> = look.models.iter().map(|model| &**model).collect();
                let flows = flow_summaries(network_plan, places, &models);
                let totals = sum_of_totals(models.into_iter());
                let mut probes: Vec<&mut P> = look.models.iter_mut().map(|model| &mut model.probe).collect();
                show(Mark { now: look.now, flows, totals, probes: &mut probes });
                return ControlFlow::Continue(());
            }
            lost = earliest_loss(look.models.iter().map(|model| &**model));
            let mut movement = Movement::default();
            for model in look.models.iter_mut() {
                let Movement { stuck, some } = model.anything_stuck();
                (movement.stuck, movement.some) = (movement.stuck | stuck, movement.some | some);
            }
            let models: Vec<&Network<P>> = look.models.iter().map(|model| &**model).collect();
            if limits.watchdog && lost.is_none() && movement.stuck {
                let whole = Whole { plan: network_plan, models: &models, port_at };
                // A stall is told at the end: until then there is something to record, if only that nothing moves.
                ended = match whole.judge(look.now, !movement.some, &name) {
                    Some(Rest::Deadlock(deadlock)) => Some(Outcome::Deadlock(deadlock)),
                    Some(Rest::Stall(_)) | None => None,
                };
            }
            let hops = models.iter().map(|model| model.totals.hops).sum();
            let mut probes: Vec<&mut P> = look.models.iter_mut().map(|model| &mut model.probe).collect();
            let flow = progress(Progress { now: look.now, inspection: true, events, hops }, &mut probes);
            if ended.is_none() && lost.is_none() {
                if limits.events.is_some_and(|most| events >= most) {
                    ended = Some(Outcome::LimitReached(Limit::Events(events)));
                } else {
                    ended = flow.break_value().map(Outcome::LimitReached);
                }
            }
            if ended.is_some() || lost.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        lost = lost.or_else(|| earliest_loss(self.built.shards.iter().map(|shard| &shard.model)));
        let outcome = match (lost, ended, report.end) {
            (Some(loss), _, _) => Outcome::LossInLosslessClass(self.explain(loss)),
            (None, Some(outcome), _) => outcome,
            (None, None, End::Interrupted) => Outcome::Interrupted,
            (None, None, End::Until | End::Quiet | End::Stopped) if limits.watchdog => {
                let models: Vec<&Network<P>> = self.models().collect();
                let whole = Whole { plan: network_plan, models: &models, port_at };
                match whole.judge(report.now, true, &name) {
                    Some(Rest::Deadlock(deadlock)) => Outcome::Deadlock(deadlock),
                    Some(Rest::Stall(stall)) => Outcome::Stalled(stall),
                    None => Outcome::Finished,
                }
            }
            (None, None, End::Until | End::Quiet | End::Stopped) => Outcome::Finished,
        };
        self.now = report.now;
        RunSummary {
            outcome,
            now: report.now,
            fingerprint: self.fingerprint(),
            totals: self.totals(),
            events: report.fired - self.models().map(|model| model.samples).sum::<u64>(),
            windows: report.windows,
        }
    }

    fn snapshot(&self) -> Snapshot<'_> {
        let models: Vec<&Network<P>> = self.built.shards.iter().map(|shard| &shard.model).collect();
        Snapshot::new(&self.built.plan, &models, &self.built.port_at)
    }

    /// Who is held back by whom at this instant, from the roots outwards.
    #[must_use]
    pub fn congestion_tree(&self) -> Vec<Held> {
        self.snapshot().tree()
    }

    /// The fingerprint so far.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let node = |&(shard, node): &(u32, u32)| self.built.shards[shard as usize].model.fingerprints[node as usize];
        Fingerprint::combine(self.built.node_at.iter().map(node)).value()
    }

    /// Sums over all shards.
    #[must_use]
    pub fn totals(&self) -> Totals {
        sum_of_totals(self.models())
    }

    fn models(&self) -> impl Iterator<Item = &Network<P>> {
        self.built.shards.iter().map(|shard| &shard.model)
    }

    /// Counts every frame that is in the network now by looking at each.
    #[must_use]
    pub fn census(&self) -> Census {
        let mut census = Census::default();
        self.built.shards.iter().for_each(|shard| census.count(&shard.model));
        census
    }

    /// What became of each flow, in the order of the description.
    #[must_use]
    pub fn flows(&self) -> Vec<FlowSummary> {
        let models: Vec<&Network<P>> = self.models().collect();
        flow_summaries(&self.built.plan, &self.built.places, &models)
    }

    /// Number of ports in the network; ports are numbered node by node.
    #[must_use]
    pub fn ports(&self) -> usize {
        self.built.plan.ports.len()
    }

    /// The node and the number on it of a global port.
    #[must_use]
    pub fn port(&self, global: u32) -> (crate::describe::graph::NodeId, u16) {
        let port = &self.built.plan.ports[global as usize];
        (crate::describe::graph::NodeId(port.node), port.number)
    }

    /// The probes, shard by shard.
    pub fn probes_mut(&mut self) -> impl Iterator<Item = &mut P> {
        self.built.shards.iter_mut().map(|shard| &mut shard.model.probe)
    }

    /// Puts names and arithmetic to a loss.
    fn explain(&self, loss: Loss) -> LossDetails {
        let port = &self.built.plan.ports[loss.port as usize];
        let sender = &self.built.plan.ports[port.peer as usize];
        let cable = &self.graph.cables[port.cable as usize];
        let rule = &self.built.plan.rules[usize::from(port.rules)][usize::from(loss.class)];
        let reverse = self.largest.iter().copied().max().unwrap_or(0);
        let largest = self.largest.get(loss.class as usize).copied().unwrap_or(0);
        let spec = HeadroomSpec::simulated(
            cable.link.rate,
            cable.link.latency,
            sender.pause_response + sender.pause_jitter,
            Bytes::new(u64::from(reverse)),
            Bytes::new(u64::from(largest)),
        );
        // The far end of each direction may take frames by their headers.
        let header_delay = self.built.plan.header_delay(loss.port) + self.built.plan.header_delay(port.peer);
        let breakdown = headroom(&HeadroomSpec { overhead: self.built.plan.overhead, header_delay, ..spec });
        LossDetails {
            loss,
            node: self.graph.nodes[port.node as usize].name.clone(),
            port: port.number,
            sender: self.graph.nodes[sender.node as usize].name.clone(),
            pauses: rule.hold != Hold::Nothing,
            obeyed: sender.obeys >> loss.class & 1 == 1,
            needed: breakdown.above_threshold().get(),
            arithmetic: breakdown.to_string(),
        }
    }
}

/// The first loss in the order (time, port).
fn earliest_loss<'a, P: Probe + 'a>(models: impl Iterator<Item = &'a Network<P>>) -> Option<Loss> {
    models.filter_map(|model| model.loss).min_by_key(|loss| (loss.at, loss.port))
}

fn sum_of_totals<'a, P: Probe + 'a>(models: impl Iterator<Item = &'a Network<P>>) -> Totals {
    let mut totals = Totals::default();
    models.for_each(|model| totals.add(&model.totals));
    totals
}

/// What became of each flow, put together from all shards.
fn flow_summaries<P: Probe>(plan: &NetworkPlan, places: &Places, models: &[&Network<P>]) -> Vec<FlowSummary> {
    let mut gone: BTreeMap<u32, Gone> = BTreeMap::new();
    for (&flow, here) in models.iter().flat_map(|model| &model.gone) {
        let sum = gone.entry(flow).or_default();
        (sum.frames, sum.bytes) = (sum.frames + here.frames, sum.bytes + here.bytes);
        sum.last = sum.last.max(here.last);
    }
    let summary = |flow: u32| {
        let (source, sink) = (places.source[flow as usize], places.sink[flow as usize]);
        let state = &models[source.shard as usize].flows[source.slot as usize];
        let mut summary = FlowSummary { made_frames: state.made, notices: state.notices, ..FlowSummary::default() };
        let ends_in = if sink.slot < places.anywhere { models } else { &models[sink.shard as usize..][..1] };
        for received in ends_in.iter().map(|model| &model.received[sink.slot as usize]) {
            summary.received_bytes += received.bytes;
            summary.received_frames += received.frames;
            summary.marked_frames += received.marked;
            summary.completed = summary.completed.or(received.completed);
            summary.last_received = summary.last_received.max(received.last);
            if let Some(inbound) = &received.inbound {
                summary.negative_acknowledgements = inbound.negative;
                (summary.duplicate_frames, summary.duplicate_bytes) = (inbound.duplicates, inbound.duplicate_bytes);
                (summary.rejected_frames, summary.rejected_bytes) = (inbound.rejected, inbound.rejected_bytes);
                summary.out_of_order_frames = inbound.out_of_order;
                summary.congestion_notifications = inbound.notifications;
            }
        }
        if let Some(reliable) = &state.reliable {
            (summary.retransmitted_frames, summary.retransmitted_bytes) = (reliable.frames, reliable.bytes);
            (summary.timeouts, summary.acknowledged) = (reliable.timeouts, reliable.known);
        }
        let lost = gone.get(&flow).copied().unwrap_or_default();
        summary.lost_frames = lost.frames;
        let size = plan.flows[flow as usize].size;
        let nothing_left = size.is_some_and(|size| summary.received_bytes + lost.bytes >= size.get());
        summary.ended = summary.completed.or(nothing_left.then(|| summary.last_received.max(lost.last)));
        summary
    };
    (0..plan.flows.len() as u32).map(summary).collect()
}
