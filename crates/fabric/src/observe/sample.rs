//! Sampling: the queues of a node and the rates of its flows, shown to the probe at regular times.

use crate::machine::network::{Ctx, Device, Network};
use crate::observe::probe::{Probe, QueueSample};
use congestion::ReactionPoint;
use units::{Bytes, Rate, Time};

impl<P: Probe> Network<P> {
    /// Shows every queue of a node, and every started flow of a host, to the probe.
    pub(crate) fn on_sample(&mut self, now: Time, node: u32, ctx: &mut Ctx) {
        self.samples += 1;
        let Some(every) = self.probe.sample_every() else { return };
        ctx.alarms.arm(self.numbers.sample + node, now + every);
        let state = &self.nodes[node as usize];
        for p in state.first_port..state.first_port + u32::from(state.ports) {
            for class in 0..self.classes as u8 {
                let lane = &self.lanes[p as usize * self.classes + class as usize];
                self.probe.on_queue(
                    now,
                    QueueSample {
                        port: self.ports[p as usize].global,
                        class,
                        output_bytes: lane.bytes,
                        input_held: lane.held,
                    },
                );
            }
        }
        if let Device::Switch(switch) = state.device
            && let Some(occupancy) =
                self.switches[switch as usize].congestion_point.as_ref().and_then(|it| it.occupancy.as_ref())
        {
            for p in state.first_port..state.first_port + u32::from(state.ports) {
                for class in 0..self.classes {
                    let cell = (p - state.first_port) as usize * self.classes + class;
                    let held = occupancy.by_flow(cell);
                    self.probe.on_occupancy(now, self.ports[p as usize].global, class as u8, &held);
                }
            }
        }
        if let Device::Host(host) = state.device
            && self.probe.wants_rates()
        {
            let host = &self.hosts[host as usize];
            let scheduled = host.first_flow..host.first_flow + host.started;
            let waited = host.first_flow + host.scheduled..host.first_flow + host.flows;
            let has_started = |slot: &u32| {
                let waiting = self.waiting.as_ref();
                waiting.is_some_and(|waiting| {
                    waiting.started(*slot).is_some() && self.flows.get(*slot).is_some_and(|flow| !flow.is_done())
                })
            };
            for slot in scheduled.chain(waited.filter(has_started)) {
                // Flows that were given up had no limits.
                let allowance = self.flows.get(slot).map(|flow| flow.reaction.allowance()).unwrap_or_default();
                let (rate, window) = (allowance.rate.map(Rate::as_bits_per_sec), allowance.window.map(Bytes::get));
                self.probe.on_rate(now, self.places.sources[self.shard as usize][slot as usize], rate, window);
            }
        }
    }
}
