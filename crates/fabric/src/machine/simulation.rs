//! A network that runs: built from a description, run to an outcome, asked for its results.

use crate::build::plan::Hold;
use crate::build::{BuildOptions, Built, RankOf, build};
use crate::describe::error::BuildErrors;
use crate::describe::spec::NetworkSpec;
use crate::describe::validate::largest_frame;
use crate::describe::workload::FlowList;
use crate::machine::network::Network;
use crate::observe::census::Census;
use crate::observe::flow_summaries::FlowSummaries;
use crate::observe::flow_summary::FlowSummary;
use crate::observe::outcome::{Limit, Loss, LossDetails, Outcome, Totals};
use crate::observe::probe::{NoProbe, Probe};
use crate::observe::supervision::{self, Seen, earliest_loss};
use crate::observe::watchdog::far::ends_elsewhere;
use crate::observe::watchdog::rest::{Part, Rest};
use crate::observe::watchdog::{Held, Movement, Snapshot};
use engine::{Alone, Encode, End, Inspection, Look, Ranks, RunPlan, announce};
use std::cell::Cell;
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
    /// Whether the run goes on after the last instant, in another call. Then its state there is not judged, and its outcome
    /// there is [`Outcome::Interrupted`].
    pub goes_on: bool,
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
            goes_on: false,
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
    /// What has become of each flow, in the order of the description; empty on all ranks but the first.
    pub flows: FlowSummaries,
    /// Sums so far.
    pub totals: Totals,
    /// The probes of this rank, shard by shard.
    pub probes: &'a mut [&'b mut P],
}

/// How a run went: its outcome, its fingerprint and its totals.
#[derive(Clone, Debug)]
pub struct RunSummary {
    /// How it ended.
    pub outcome: Outcome,
    /// Simulated time reached: the last instant of the limits, or, if nothing was left to happen before, the last event,
    /// samples included.
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

/// A network and its traffic, or the part of it that is on one rank, ready to run. A clone goes on from the same instant by
/// itself, and ends as the original would.
#[derive(Clone)]
pub struct Simulation<P: Probe = NoProbe> {
    pub(super) built: Built<P>,
    rank: RankOf,
    /// Of all nodes; empty on all ranks but the first.
    names: Vec<String>,
    /// Ports of the whole network.
    ports: usize,
    largest: Vec<u32>,
    /// Flows of the whole network; empty on all ranks but the first.
    flows: FlowList,
    /// Simulated time reached.
    pub(super) now: Time,
    /// The last inspection.
    pub(super) inspected: Time,
    /// An inspection ended the last run.
    stopped: bool,
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
        Simulation::build_part(spec, options, RankOf::ALONE, probe)
    }

    /// Builds the part of a network that belongs to one of several processes, with a probe for each shard of it. All of
    /// them give the same description and options. Such a part runs by [`run_among`](Self::run_among) alone.
    pub fn build_part(
        spec: &NetworkSpec,
        options: &BuildOptions,
        rank: RankOf,
        probe: impl FnMut(usize) -> P,
    ) -> Result<Simulation<P>, BuildErrors> {
        let built = build(spec, options, rank, probe)?;
        let largest = (0..spec.classes.len()).map(|class| largest_frame(spec, class).get() as u32).collect();
        let names = spec.graph.nodes.iter().filter(|_| rank.rank == 0).map(|node| node.name.clone()).collect();
        let ports = 2 * spec.graph.cables.len();
        let flows = if rank.rank == 0 { spec.flows.clone() } else { FlowList::default() };
        Ok(Simulation {
            built,
            rank,
            names,
            ports,
            largest,
            flows,
            now: Time::ZERO,
            inspected: Time::ZERO,
            stopped: false,
        })
    }

    /// How many shards of it are in this process.
    #[must_use]
    pub fn shards(&self) -> usize {
        self.built.shards.len()
    }

    /// Whether an inspection ended the last run: a run without stops goes no further.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.stopped
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
        self.run_among(&mut Alone, limits, marks, |seen, probes, _| progress(seen, probes), |mark, _| show(mark))
    }

    /// Runs like [`run_marked`](Self::run_marked) a network that is spread over ranks, which all call this. On every rank
    /// `progress` and `show` are called at the same instants with the probes of that rank, and with the ranks to gather
    /// what is recorded. What `progress` returns on the first rank counts. The summary is the same on every rank.
    ///
    /// # Panics
    /// If this part was not built for its rank.
    pub fn run_among<F, G>(
        &mut self,
        ranks: &mut dyn Ranks,
        limits: &RunLimits<'_>,
        marks: &[Time],
        mut progress: F,
        mut show: G,
    ) -> RunSummary
    where
        F: FnMut(Progress, &mut [&mut P], &mut dyn Ranks) -> ControlFlow<Limit>,
        G: FnMut(Mark<'_, '_, P>, &mut dyn Ranks),
    {
        assert_eq!(RankOf { rank: ranks.rank(), count: ranks.count() }, self.rank, "a part runs on its own rank");
        let plan = RunPlan {
            from: self.now,
            inspected: self.inspected,
            until: limits.until,
            inspect_every: limits.inspect_every,
            lookahead: self.built.lookahead,
            threads: limits.threads,
            marks,
            interrupt: limits.interrupt.unwrap_or(&NEVER),
        };
        let mut shards = std::mem::take(&mut self.built.shards);
        let this = &*self;
        let mut ended: Option<Outcome> = None;
        let mut lost: Option<Loss> = None;
        let mut supervise = |inspection: Inspection<'_, '_, Network<P>>| {
            let Inspection { now, look, fired, models, ranks } = inspection;
            let mut seen = Seen::of(&shared(models), fired);
            if look == Look::Mark {
                let totals = supervision::totals(ranks, models.iter().map(|model| &**model));
                let flows = supervision::flow_summaries(ranks, &shared(models), &this.flows);
                let mut probes: Vec<&mut P> = models.iter_mut().map(|model| &mut model.probe).collect();
                show(Mark { now, flows, totals, probes: &mut probes }, ranks);
                return ControlFlow::Continue(());
            }
            let inspection = look == Look::Inspection;
            for model in models.iter_mut().filter(|_| inspection) {
                seen.movement = seen.movement.and(model.anything_stuck());
            }
            let Seen { events, hops, lost: loss, movement } = seen.everywhere(ranks);
            if inspection {
                lost = loss;
            }
            if inspection && limits.watchdog && lost.is_none() && movement.stuck != 0 {
                // A stall is told at the end: until then there is something to record, if only that nothing moves.
                ended = match this.judge(ranks, &shared(models), now, movement) {
                    Some(Rest::Deadlock(deadlock)) => Some(Outcome::Deadlock(deadlock)),
                    Some(Rest::Stall(_) | Rest::Livelock(_)) | None => None,
                };
            }
            let mut probes: Vec<&mut P> = models.iter_mut().map(|model| &mut model.probe).collect();
            let wish = progress(Progress { now, inspection, events, hops }, &mut probes, ranks).break_value();
            let wish = announce(ranks, Some(wish));
            if ended.is_none() && (lost.is_none() || !inspection) {
                ended = match limits.events {
                    Some(most) if inspection && events >= most => Some(Outcome::LimitReached(Limit::Events(events))),
                    _ => wish.map(Outcome::LimitReached),
                };
            }
            if ended.is_some() || inspection && lost.is_some() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let report = P::run_shards(ranks, &this.built.bounds, &mut shards, plan, &mut supervise);
        self.built.shards = shards;
        (self.now, self.inspected) = (report.now, report.inspected);
        self.stopped = report.end == End::Stopped;
        let outcome = match (self.explain_loss(ranks), ended, report.end) {
            (Some(loss), _, _) => Outcome::LossInLosslessClass(loss),
            (None, Some(outcome), _) => outcome,
            (None, None, End::Interrupted) => Outcome::Interrupted,
            // A judgement looks at the whole network: a step of a run must not cost that.
            (None, None, End::Until) if limits.goes_on => Outcome::Interrupted,
            (None, None, End::Until | End::Quiet | End::Stopped) if limits.watchdog => {
                match self.judge_end(ranks, report.now) {
                    Some(Rest::Deadlock(deadlock)) => Outcome::Deadlock(deadlock),
                    Some(Rest::Stall(stall)) => Outcome::Stalled(stall),
                    Some(Rest::Livelock(livelock)) => Outcome::Livelock(livelock),
                    None => Outcome::Finished,
                }
            }
            (None, None, End::Until | End::Quiet | End::Stopped) => Outcome::Finished,
        };
        RunSummary {
            outcome,
            now: report.now,
            fingerprint: supervision::fingerprint(ranks, self.models(), &self.built.members),
            totals: supervision::totals(ranks, self.models()),
            events: report.fired - supervision::samples(ranks, self.models()),
            windows: report.windows,
        }
    }

    /// Whether frames wait that can never move again, given the movement since the last inspection. All ranks take part,
    /// and have the same answer.
    fn judge(&self, ranks: &mut dyn Ranks, models: &[&Network<P>], at: Time, since: Movement) -> Option<Rest> {
        self.part(ranks, models).judge(ranks, at, since, &|node| self.names[node as usize].clone())
    }

    /// The same at the end of a run, when also retransmissions in vain do not count as movement.
    fn judge_end(&self, ranks: &mut dyn Ranks, at: Time) -> Option<Rest> {
        let models: Vec<&Network<P>> = self.models().collect();
        let (part, name) = (self.part(ranks, &models), |node: u32| self.names[node as usize].clone());
        part.judge(ranks, at, Movement::UNKNOWN, &name).or_else(|| part.judge_futile(ranks, at, &name))
    }

    /// The shards of this rank, and what the far ends of their cables are like.
    fn part<'a>(&'a self, ranks: &mut dyn Ranks, models: &'a [&'a Network<P>]) -> Part<'a, P> {
        let Built { bounds, plan, port_at, .. } = &self.built;
        let rank_of = |port: u32| bounds.partition_point(|&first| first <= port_at[port as usize].0) - 1;
        let elsewhere = ends_elsewhere(ranks, plan, models, rank_of);
        Part { plan, models, first: bounds[ranks.rank()], port_at, elsewhere, still: Cell::default() }
    }

    /// Who is held back by whom at this instant, from the roots outwards.
    ///
    /// # Panics
    /// If other ranks have parts of the network.
    #[must_use]
    pub fn congestion_tree(&self) -> Vec<Held> {
        assert_eq!(self.rank, RankOf::ALONE, "the tree of congestion is that of a whole network");
        let models: Vec<&Network<P>> = self.models().collect();
        Snapshot::new(&self.part(&mut Alone, &models)).tree()
    }

    /// The fingerprint so far, of a whole network.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        supervision::fingerprint(&mut Alone, self.models(), &self.built.members)
    }

    /// Sums over the shards of this process.
    #[must_use]
    pub fn totals(&self) -> Totals {
        supervision::totals(&mut Alone, self.models())
    }

    fn models(&self) -> impl Iterator<Item = &Network<P>> {
        self.built.shards.iter().map(|shard| &shard.model)
    }

    /// Counts every frame that is in this process now by looking at each.
    #[must_use]
    pub fn census(&self) -> Census {
        let mut census = Census::default();
        self.built.shards.iter().for_each(|shard| census.count(&shard.model));
        census
    }

    /// What became of each flow of a whole network, in the order of the description.
    #[must_use]
    pub fn flows(&self) -> Vec<FlowSummary> {
        self.flows_among(&mut Alone).iter().collect()
    }

    /// What became of each flow of a network that is spread over ranks, which all call this. The first rank has all of
    /// them, the others none.
    #[must_use]
    pub fn flows_among(&self, ranks: &mut dyn Ranks) -> FlowSummaries {
        supervision::flow_summaries(ranks, &self.models().collect::<Vec<_>>(), &self.flows)
    }

    /// Number of ports in the network; ports are numbered node by node.
    #[must_use]
    pub fn ports(&self) -> usize {
        self.ports
    }

    /// The node and the number on it of a global port, which must be in this process or at the far end of one that is.
    #[must_use]
    pub fn port(&self, global: u32) -> (crate::describe::graph::NodeId, u16) {
        let port = &self.built.plan.ports[global as usize];
        (crate::describe::graph::NodeId(port.node), port.number)
    }

    /// The probes of this process, shard by shard.
    pub fn probes_mut(&mut self) -> impl Iterator<Item = &mut P> {
        self.built.shards.iter_mut().map(|shard| &mut shard.model.probe)
    }

    /// The earliest loss of all ranks, with names and arithmetic.
    fn explain_loss(&self, ranks: &mut dyn Ranks) -> Option<LossDetails> {
        let own = earliest_loss(self.models()).map(|loss| self.explain(loss));
        let all = ranks.share(own.to_bytes());
        let all = all.iter().filter_map(|bytes| Option::<(LossDetails, (u32, u32))>::from_bytes(bytes));
        let first = all.min_by_key(|(details, _)| (details.loss.at, details.loss.port));
        let named = (ranks.rank() == 0).then(|| {
            first.map(|(details, ends)| {
                let [node, sender] = [ends.0, ends.1].map(|node| self.names[node as usize].clone());
                LossDetails { node, sender, ..details }
            })
        });
        announce(ranks, named)
    }

    /// Puts arithmetic to a loss on this rank. The nodes at the two ends of the cable are named later.
    fn explain(&self, loss: Loss) -> (LossDetails, (u32, u32)) {
        let plan = &self.built.plan;
        let port = &plan.ports[loss.port as usize];
        let sender = &plan.ports[port.peer as usize];
        let (shard, place) = self.built.port_at[loss.port as usize];
        let network = &self.built.shards[(shard - self.built.bounds[self.rank.rank]) as usize].model;
        let cable = &network.ports[place as usize];
        let rule = plan.rule(loss.port, loss.class);
        let reverse = self.largest.iter().copied().max().unwrap_or(0);
        let largest = self.largest.get(loss.class as usize).copied().unwrap_or(0);
        let spec = HeadroomSpec::simulated(
            cable.wire.rate(),
            cable.flight,
            sender.pause_response + sender.pause_jitter,
            Bytes::new(u64::from(reverse)),
            Bytes::new(u64::from(largest)),
        );
        // The far end of each direction may take frames by their headers.
        let header_delay = plan.header_delay(loss.port) + plan.header_delay(port.peer);
        let breakdown = headroom(&HeadroomSpec { overhead: plan.overhead, header_delay, ..spec });
        let details = LossDetails {
            loss,
            node: String::new(),
            port: port.number,
            sender: String::new(),
            pauses: rule.hold != Hold::Nothing,
            obeyed: sender.obeys >> loss.class & 1 == 1,
            needed: breakdown.above_threshold().get(),
            arithmetic: breakdown.to_string(),
        };
        (details, (port.node, sender.node))
    }
}

/// All shards, to be looked at.
fn shared<'a, P: Probe>(models: &'a [&mut Network<P>]) -> Vec<&'a Network<P>> {
    models.iter().map(|model| &**model).collect()
}
