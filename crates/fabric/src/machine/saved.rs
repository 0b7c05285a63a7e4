//! A simulation that is saved and goes on elsewhere: the state of its shards as bytes.
//!
//! Whatever the description determines is not saved but built again, with the same nodes in the same shards. So a
//! simulation can go on on any number of threads, and with another description that differs in parameters only
//! ([`Simulation::changed`]).

use crate::build::plan::Hold;
use crate::build::{BuildOptions, partition::Partition};
use crate::describe::error::BuildErrors;
use crate::describe::spec::{NetworkSpec, WatchdogAction};
use crate::machine::network::Network;
use crate::machine::port::pfc_watchdog::STORMED;
use crate::machine::simulation::Simulation;
use crate::observe::probe::Probe;
use congestion::{Point, Reaction};
use engine::{Encode, Shard};
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
        self.built.shards.save(&mut out);
        out
    }

    /// Goes on from a state that was saved. Returns `None` if it does not belong to this network; the simulation is then
    /// of no use. A state must come from [`save`](Self::save) of the same version: it is not checked further.
    #[must_use]
    pub fn load(&mut self, mut state: &[u8]) -> Option<()> {
        let input = &mut state;
        (self.now, self.inspected) = Encode::decode(input)?;
        self.built.shards.load(input)?;
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
