//! A simulation that is saved and goes on elsewhere: the state of its shards as bytes.
//!
//! Whatever the description determines is not saved but built again, with the same nodes in the same shards. So a
//! simulation can go on on any number of threads, and with another description that differs in parameters only
//! ([`Simulation::changed`]).

use crate::build::plan::Hold;
use crate::build::{BuildOptions, partition::Partition};
use crate::describe::error::BuildErrors;
use crate::describe::spec::{NetworkSpec, WatchdogAction};
use crate::machine::frame::NIL;
use crate::machine::network::Network;
use crate::machine::port::pfc_watchdog::STORMED;
use crate::machine::simulation::Simulation;
use crate::observe::probe::Probe;
use congestion::{Point, Reaction};
use engine::{Encode, Shard};
use std::sync::Arc;
use transport::{Receiving, Sending};
use units::{State, Time};

impl NetworkSpec {
    /// Returns why a simulation of this network cannot be saved, if so: a type of another crate has no saved form.
    #[must_use]
    pub fn unsavable(&self) -> Option<String> {
        let is_custom = |point: &Point| match point {
            Point::Custom(_) => true,
            Point::ByClass(parts) => parts.parts().iter().any(|(_, point)| matches!(point, Point::Custom(_))),
            _ => false,
        };
        let points = self.switches.iter().filter_map(|switch| switch.congestion_point.as_ref()?.point.as_ref());
        if points.into_iter().any(is_custom) {
            return Some("it has a congestion point that is not built in".into());
        }
        for flow in &self.flows {
            let part = match (&flow.reaction, flow.sender(), flow.receiver()) {
                (Reaction::Custom(_), ..) => "a reaction point",
                (_, Some(Sending::Custom(_)), _) | (.., Some(Receiving::Custom(_))) => "a loss recovery",
                _ if flow.sink().is_some_and(|sink| sink.is_custom()) => "a receiving point",
                _ => continue,
            };
            return Some(format!("it has {part} that is not built in"));
        }
        None
    }
}

impl<P: Probe + State> Simulation<P> {
    /// The shard of each node.
    #[must_use]
    pub fn partition(&self) -> Vec<u32> {
        let nodes = self.built.members.iter().map(Vec::len).sum();
        let mut shard_of = vec![0; nodes];
        for (shard, members) in (0..).zip(&self.built.members) {
            members.iter().for_each(|&node| shard_of[node as usize] = shard);
        }
        shard_of
    }

    /// The state of a whole network between two runs. It can be [loaded](Self::load) into a simulation of the same
    /// description and partition, unless the description is [unsavable](NetworkSpec::unsavable).
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let mut out = Vec::new();
        (self.now, self.inspected).encode(&mut out);
        for Shard { model, .. } in &self.built.shards {
            model.flows.positions().collect::<Vec<u32>>().encode(&mut out);
            model.received.positions().collect::<Vec<u32>>().encode(&mut out);
        }
        self.built.shards.save(&mut out);
        out
    }

    /// Goes on from a state that was saved. Returns `None` if it does not belong to this network; the simulation is then
    /// of no use. A state must come from [`save`](Self::save) of the same version: lists that could be walked for ever are
    /// refused, other contradictions may be a panic of the run. So a run of a state that may be forged is
    /// [contained](engine::contained).
    #[must_use]
    pub fn load(&mut self, mut state: &[u8]) -> Option<()> {
        let input = &mut state;
        (self.now, self.inspected) = Encode::decode(input)?;
        for Shard { model, .. } in &mut self.built.shards {
            let (flows, received): (Vec<u32>, Vec<u32>) = Encode::decode(input)?;
            model.make_flows(&flows)?;
            model.make_all_received(&received)?;
        }
        self.built.shards.load(input)?;
        if !self.built.shards.iter().all(|shard| shard.model.is_in_order()) {
            return None;
        }
        self.built.shards.iter_mut().for_each(|shard| shard.model.restore_levels());
        input.is_empty().then_some(())
    }

    /// Returns a simulation that goes on from the present state with another description: parameters are those of `spec`,
    /// as are failures of links and changes of routes after this instant. Returns `None` if the state does not fit; a
    /// state may fit and yet be wrong, unless the two descriptions agree in all else.
    ///
    /// # Errors
    /// Returns the errors of the description.
    pub fn changed(&self, spec: &NetworkSpec) -> Result<Option<Simulation<P>>, BuildErrors>
    where
        P: Clone,
    {
        let options =
            BuildOptions { partition: Partition::Explicit(self.partition()), shards: self.shards(), shuffle: None };
        let probes: Vec<P> = self.built.shards.iter().map(|shard| shard.model.probe.clone()).collect();
        let mut changed = Simulation::build_with(spec, &options, |shard| probes[shard].clone())?;
        let scripts: Vec<Vec<_>> = changed
            .built
            .shards
            .iter()
            .map(|shard| shard.model.nodes.iter().map(|node| node.script.clone()).collect())
            .collect();
        // Scripts may differ in what is to come; the number of their actions is no state then.
        for (shard, own) in changed.built.shards.iter_mut().zip(&self.built.shards) {
            shard.model.nodes.iter_mut().zip(&own.model.nodes).for_each(|(node, own)| node.script = own.script.clone());
        }
        if changed.load(&self.save()).is_none() {
            return Ok(None);
        }
        for (shard, scripts) in changed.built.shards.iter_mut().zip(scripts) {
            let Shard { model, context } = shard;
            for ((place, node), mut script) in (0..).zip(&mut model.nodes).zip(scripts) {
                script.retain(|&(at, _)| at > self.now);
                let alarm = model.numbers.script + place;
                match script.front() {
                    Some(&(at, _)) => context.alarms.arm(alarm, at),
                    None => context.alarms.disarm(alarm),
                }
                node.script = script;
            }
        }
        Ok(Some(changed))
    }

    /// The simulated time reached.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }
}

/// Whether these are positions of a list of that length, in order.
fn are_positions(positions: &[u32], len: usize) -> bool {
    positions.is_sorted_by(|a, b| a < b) && positions.last().is_none_or(|&last| (last as usize) < len)
}

impl<P: Probe> Network<P> {
    /// Gives the flows in these positions a state at their sources, and no others; `None` if that cannot be.
    fn make_flows(&mut self, positions: &[u32]) -> Option<()> {
        if !are_positions(positions, self.flows.len()) {
            return None;
        }
        let others = self.flows.positions().filter(|position| positions.binary_search(position).is_err());
        for position in others.collect::<Vec<u32>>() {
            let approach = Some(self.flows[position as usize].approach).filter(|&approach| approach != NIL)?;
            self.flows.retire(position, approach);
        }
        positions.iter().for_each(|&position| self.make_flow(self.host_of_flow(position), position));
        Some(())
    }

    /// Gives the flows in these positions a state at their destinations, and no others; `None` if that cannot be.
    fn make_all_received(&mut self, positions: &[u32]) -> Option<()> {
        if !are_positions(positions, self.received.len()) {
            return None;
        }
        let places = Arc::clone(&self.places);
        for (position, &flow) in (0..).zip(places.sinks(self.shard)) {
            let wanted = positions.binary_search(&position).is_ok();
            if wanted && self.received.place(position).is_none() {
                self.make_received(flow, position);
            } else if !wanted && self.plan.flows[flow as usize].lasts_at_destination() {
                return None;
            } else if !wanted {
                self.received.retire(position, 0);
            }
        }
        Some(())
    }
}

impl<P> Network<P> {
    /// Sets the levels at which lanes leave the short path: they follow from the thresholds, and from whether the far end
    /// was told to stop.
    fn restore_levels(&mut self) {
        for (place, port) in self.ports.iter().enumerate() {
            let stormed = self.pfc_watchdogs[place].as_ref().map_or(0, |it| it.storms_with(WatchdogAction::Drop));
            for (class, rule) in self.plan.rules[port.rules as usize].iter().enumerate() {
                let lane = &mut self.lanes[place * self.classes + class];
                if stormed >> class & 1 == 1 {
                    lane.limit = STORMED;
                }
                let stopped = port.stopped >> class & 1 == 1 && usize::from(rule.account) == class;
                if stopped && matches!(rule.hold, Hold::Pause { .. }) && lane.calm != u32::MAX {
                    (lane.alert, lane.calm) = (rule.capacity, rule.xon + 1);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::graph::{HostId, LinkSpec};
    use crate::describe::spec::{AdapterSpec, ClassBuffer, ClassSpec, SwitchSpec};
    use crate::describe::topology::{Links, fat_tree};
    use crate::describe::workload::FlowSpec;
    use crate::machine::simulation::RunLimits;
    use units::{Bytes, Rate, Span};

    /// Flows by their source: one that is soon over, one without end, one that starts after a millisecond, and one whose
    /// frames go to two hosts.
    fn network() -> NetworkSpec {
        let link = LinkSpec::new(Rate::from_gigabits(10), Span::from_micros(1));
        let buffer = ClassBuffer::lossless(Bytes::new(60_000), Bytes::new(20_000), Bytes::new(9_000));
        let graph = fat_tree(4, Links::same(link)).expect("a fat-tree");
        let class = ClassSpec::lossless("data");
        let mut spec = NetworkSpec::uniform(graph, SwitchSpec::pfc([buffer]), AdapterSpec::default(), class);
        let flow = |from: u32| FlowSpec::greedy(HostId(from), HostId(from + 8));
        let later = Time::ZERO + Span::from_millis(1);
        spec.flows = vec![
            FlowSpec { size: Some(Bytes::new(5_000)), ..flow(0) },
            flow(1),
            FlowSpec { start: later, size: Some(Bytes::new(5_000)), ..flow(2) },
            flow(3).to_any([HostId(1), HostId(2)]),
        ]
        .into();
        spec
    }

    fn run(until: Span) -> Simulation {
        let options = BuildOptions { partition: Partition::One, shards: 1, shuffle: None };
        let mut simulation = Simulation::build(&network(), &options).expect("a network");
        simulation.run(&RunLimits { threads: 1, ..RunLimits::until(Time::ZERO + until) });
        simulation
    }

    fn positions(simulation: &Simulation) -> [Vec<u32>; 2] {
        let model = &simulation.built.shards[0].model;
        [model.flows.positions().collect(), model.received.positions().collect()]
    }

    #[test]
    fn flows_that_were_active_are_made_again_and_others_are_given_up() {
        let (begun, late) = (run(Span::from_micros(3)), run(Span::from_micros(900)));
        // Of those that are received, the one without a host of its own comes first.
        assert_eq!(positions(&run(Span::ZERO))[1], [0]);
        assert_eq!(positions(&begun)[0], [0, 1, 3]);
        assert_eq!(positions(&late), [vec![1, 3], vec![0, 2]]);
        for from in [&begun, &late] {
            for mut into in [run(Span::ZERO), run(Span::from_micros(3)), run(Span::from_micros(1100))] {
                assert_eq!(into.load(&from.save()), Some(()));
                assert_eq!((positions(&into), into.flows(), into.save()), (positions(from), from.flows(), from.save()));
                let limits = RunLimits { threads: 1, ..RunLimits::until(Time::ZERO + Span::from_micros(1200)) };
                into.run(&limits);
                let whole = run(Span::from_micros(1200));
                assert_eq!((into.fingerprint(), into.flows()), (whole.fingerprint(), whole.flows()));
            }
        }
    }

    #[test]
    fn positions_that_cannot_be_are_refused() {
        let simulation = run(Span::from_micros(900));
        let fresh = || simulation.built.shards[0].model.clone();
        // Flow 3 and its destinations, in position 0, have their states to the end.
        assert_eq!((fresh().make_flows(&[3]), fresh().make_flows(&[0, 1, 2, 3])), (Some(()), Some(())));
        assert_eq!((fresh().make_all_received(&[0]), fresh().make_all_received(&[0, 1, 2, 3])), (Some(()), Some(())));
        for refused in [&[3, 4][..], &[3, u32::MAX], &[3, 3], &[3, 2], &[0, 1, 2], &[]] {
            assert_eq!(fresh().make_flows(refused), None, "{refused:?}");
        }
        for refused in [&[0, 4][..], &[0, u32::MAX], &[0, 0], &[2, 0], &[1, 2, 3], &[]] {
            assert_eq!(fresh().make_all_received(refused), None, "{refused:?}");
        }
    }
}
