//! Counting every frame in the network by walking every list: the independent side of the conservation law.

use crate::machine::frame::{Frame, Kind};
use crate::machine::network::Network;
use crate::observe::probe::Probe;
use units::Time;

/// Data frames in the network at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Data frames.
    pub frames: u64,
    /// Their bytes, without overhead and tags.
    pub bytes: u64,
    /// Those of them that are in switches.
    pub in_switches: u64,
    /// When the one of those came that has waited longest in a queue of its switch.
    pub oldest: Option<Time>,
    /// Control frames of any kind.
    pub control: u64,
    /// Data frames that wait at their sources, counted and not kept.
    pub deferred: u64,
    /// Places in use in the frame pools, and what is deferred: must be the sum of data and control frames, or a frame has
    /// been forgotten.
    pub places: u64,
    /// Acknowledgements that say more than fits into them.
    pub extended: u64,
    /// Entries for what they say: as many, or one has been forgotten.
    pub extensions: u64,
}

impl Census {
    fn see<P: Probe>(&mut self, network: &Network<P>, frame: &Frame) {
        if frame.kind == Kind::Data {
            self.frames += 1;
            self.bytes += u64::from(network.payload(frame));
        } else {
            self.control += 1;
            self.extended += u64::from(frame.is_extended());
        }
    }

    pub(crate) fn count<P: Probe>(&mut self, network: &Network<P>) {
        let pool = &network.pool;
        self.places += u64::from(pool.live);
        self.extensions += network.extensions.live() as u64;
        for list in network.lists() {
            list.iter(pool).for_each(|(_, frame)| self.see(network, frame));
        }
        for flow in network.flows.iter() {
            let (frames, bytes) = flow.deferred(network.plan.smallest_frame);
            (self.frames, self.bytes) = (self.frames + frames, self.bytes + bytes);
            (self.deferred, self.places) = (self.deferred + frames, self.places + frames);
        }
        for switch in 0..network.switches.len() as u32 {
            self.in_switches += held_by(network, switch);
            let mut first = |came: Time| self.oldest = self.oldest.into_iter().chain([came]).min();
            network.each_waiting(switch, &mut |frame, _| {
                if frame.kind == Kind::Data {
                    first(frame.at);
                }
            });
        }
        for place in network.single_places() {
            self.see(network, &pool[place]);
        }
    }
}

/// Data frames that a switch holds.
fn held_by<P: Probe>(network: &Network<P>, switch: u32) -> u64 {
    let ports = network.ports_of(switch);
    let lanes = network.lane(ports.start, 0)..network.lane(ports.end, 0);
    let switch = &network.switches[switch as usize];
    let queues = switch.crossbar.iter().flat_map(|crossbar| crossbar.queues());
    let lists = network.lanes[lanes].iter().map(|lane| lane.queue).chain(queues).chain([switch.pipeline]);
    let waiting = lists.flat_map(|list| list.iter(&network.pool).map(|(_, frame)| frame.kind));
    let moving = switch.crossbar.iter().flat_map(|crossbar| crossbar.moving()).map(|place| network.pool[place].kind);
    waiting.chain(moving).filter(|&kind| kind == Kind::Data).count() as u64
}
