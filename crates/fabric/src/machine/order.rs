//! Whether the lists of a shard are in order: each frame of the pool is in one place, and rings of flows close.
//!
//! A run keeps to this by itself. A saved state may be forged, and a list that runs into itself would be walked for ever,
//! which no limit of a run ends: it is refused when it is loaded. Other contradictions end with a panic, which a caller
//! contains.

use super::frame::{List, NIL};
use super::network::Network;

impl<P> Network<P> {
    /// All lists of frames through the pool.
    pub(crate) fn lists(&self) -> impl Iterator<Item = List> {
        let ports = self.ports.iter().flat_map(|port| [port.control, port.arriving]);
        let lanes = self.lanes.iter().map(|lane| lane.queue);
        let pipelines = self.switches.iter().map(|switch| switch.pipeline);
        let crossbars = self.switches.iter().filter_map(|switch| switch.crossbar.as_ref());
        let queues = crossbars.flat_map(|crossbar| crossbar.queues());
        let consumed = self.hosts.iter().flat_map(|host| host.service.iter()).map(|service| service.queue);
        let backlogs = self.flows.iter().map(|flow| flow.backlog);
        let points = self.switches.iter().filter_map(|switch| switch.congestion_point.as_ref());
        let notices = points.flat_map(|congestion_point| congestion_point.notices());
        ports.chain(lanes).chain(pipelines).chain(queues).chain(consumed).chain(backlogs).chain(notices)
    }

    /// Places in the pool of frames that are in no list: those in a crossbar, and those that hosts are consuming.
    pub(crate) fn single_places(&self) -> impl Iterator<Item = u32> {
        let crossbars = self.switches.iter().filter_map(|switch| switch.crossbar.as_ref());
        let current = self.hosts.iter().flat_map(|host| host.service.iter()).map(|service| service.current);
        crossbars.flat_map(|crossbar| crossbar.moving()).chain(current.filter(|&place| place != NIL))
    }

    /// Whether each frame is in one list, or alone, and each ring of flows leads to its members and back.
    pub(crate) fn is_in_order(&self) -> bool {
        self.pool.is_shared_out(self.lists(), self.single_places()) && self.rings_close().is_some()
    }

    fn rings_close(&self) -> Option<()> {
        let mut left = self.flows.iter().filter(|flow| flow.in_ring).count();
        for lane in self.lanes.iter().filter(|lane| lane.ready != NIL) {
            let mut slot = lane.ready;
            loop {
                left = left.checked_sub(1)?;
                let next = self.flows.get(slot)?.next_ready;
                let followed = self.flows.get(next).filter(|flow| flow.in_ring)?;
                if followed.previous_ready != slot {
                    return None;
                }
                slot = next;
                if slot == lane.ready {
                    break;
                }
            }
        }
        (left == 0).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::BuildOptions;
    use crate::describe::graph::{HostId, LinkSpec};
    use crate::describe::spec::{AdapterSpec, ClassBuffer, ClassSpec, NetworkSpec, SwitchSpec};
    use crate::describe::topology::single_switch;
    use crate::describe::workload::FlowSpec;
    use crate::machine::simulation::{RunLimits, Simulation};
    use crate::observe::probe::NoProbe;
    use units::{Bytes, Rate, Span, Time};

    /// Three flows of one host, and one each of two others, to the same host.
    fn running() -> Network<NoProbe> {
        let link = LinkSpec::new(Rate::from_gigabits(10), Span::from_micros(1));
        let buffer = ClassBuffer::lossless(Bytes::new(60_000), Bytes::new(20_000), Bytes::new(9_000));
        let graph = single_switch(4, link).expect("a network");
        let class = ClassSpec::lossless("data");
        let mut spec = NetworkSpec::uniform(graph, SwitchSpec::pfc([buffer]), AdapterSpec::default(), class);
        spec.flows = [1, 1, 1, 2, 3].map(|from| FlowSpec::greedy(HostId(from), HostId(0))).to_vec().into();
        let mut simulation = Simulation::build(&spec, &BuildOptions::default()).expect("a network");
        simulation.run(&RunLimits::until(Time::ZERO + Span::from_micros(50)));
        simulation.built.shards[0].model.clone()
    }

    #[test]
    fn lists_and_rings_that_cannot_be_are_noticed() {
        let sound = running();
        assert!(sound.is_in_order());
        let lane = sound.lanes.iter().position(|lane| !lane.queue.is_empty() && lane.queue.head != lane.queue.tail);
        let lane = lane.expect("frames wait");
        let List { head, tail } = sound.lanes[lane].queue;
        let ring = sound.flows[0].next_ready;
        let forge = |change: &dyn Fn(&mut Network<NoProbe>)| {
            let mut forged = sound.clone();
            change(&mut forged);
            forged.is_in_order()
        };
        assert!(!forge(&|network| network.pool[tail].next = head), "a list that runs into itself");
        assert!(!forge(&|network| network.pool[tail].next = 1 << 30), "a list that leaves the pool");
        assert!(!forge(&|network| network.lanes[lane].queue.tail = head), "a list that ends elsewhere");
        assert!(!forge(&|network| network.lanes[lane].queue.head = tail), "frames in no list");
        assert!(!forge(&|network| network.pool.live += 1), "more frames than there are");
        assert!(!forge(&|network| network.flows[ring as usize].next_ready = ring), "a ring within a ring");
        assert!(!forge(&|network| network.flows[0].next_ready = 99), "a flow that is not there");
        assert!(!forge(&|network| network.flows[0].in_ring = false), "a flow in a ring that is in none");
    }
}
