//! Where the state of each flow lies: at its source, and where its frames are consumed.
//!
//! A flow has a source and mostly one destination, so a shard keeps state for the flows that begin or end in it and for
//! no other: memory does not grow with the number of shards. Flows whose every frame chooses a destination may end
//! anywhere; they come first in every shard's list.

use crate::describe::spec::NetworkSpec;
use crate::describe::workload::Destination;
use crate::machine::network::Received;

/// A shard, and a position in one of its lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) shard: u32,
    pub(crate) slot: u32,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Places {
    /// By flow: its position in [`crate::machine::network::Network::flows`].
    pub(crate) source: Vec<Place>,
    /// By flow: its position in [`crate::machine::network::Network::received`]. Of a flow without a destination of its
    /// own the shard means nothing: it has that position in all.
    pub(crate) sink: Vec<Place>,
    /// By shard: the flows of its list of what is received, in the order of that list.
    sinks: Vec<Vec<u32>>,
    /// By shard: the flows that start at each of its hosts, in the order in which the hosts are laid out and then of
    /// their start.
    pub(crate) sources: Vec<Vec<u32>>,
    /// By host: how many flows start there.
    pub(crate) per_host: Vec<u32>,
}

impl Places {
    /// `home` is the shard of each host, and `order` the hosts in the order in which they are laid out.
    pub(crate) fn new(spec: &NetworkSpec, home: &[u32], order: &[u32], shards: usize) -> Places {
        let anywhere = |destination: &Destination| matches!(destination, Destination::Uniform(_));
        let everywhere: Vec<u32> =
            (0..).zip(&spec.flows).filter(|(_, flow)| anywhere(&flow.destination)).map(|(number, _)| number).collect();
        let mut sinks = vec![everywhere; shards];
        let mut uniform = 0;
        let sink = (0..).zip(&spec.flows).map(|(number, flow)| match &flow.destination {
            Destination::Host(host) => {
                let shard = home[host.0 as usize];
                let list = &mut sinks[shard as usize];
                list.push(number);
                Place { shard, slot: list.len() as u32 - 1 }
            }
            Destination::Uniform(_) => {
                uniform += 1;
                Place { shard: 0, slot: uniform - 1 }
            }
        });
        let sink = sink.collect();

        let mut per_host = vec![0; home.len()];
        spec.flows.iter().for_each(|flow| per_host[flow.source.0 as usize] += 1);
        let mut rank = vec![0; home.len()];
        (0..).zip(order).for_each(|(place, &host)| rank[host as usize] = place);
        let mut flows: Vec<u32> = (0..spec.flows.len() as u32).collect();
        flows.sort_by_key(|&flow| {
            let spec = &spec.flows[flow as usize];
            (rank[spec.source.0 as usize], spec.start, flow)
        });
        let mut sources: Vec<Vec<u32>> = vec![Vec::new(); shards];
        let mut source = vec![Place::default(); flows.len()];
        for flow in flows {
            let shard = home[spec.flows[flow as usize].source.0 as usize];
            let list = &mut sources[shard as usize];
            source[flow as usize] = Place { shard, slot: list.len() as u32 };
            list.push(flow);
        }
        Places { source, sink, sinks, sources, per_host }
    }

    /// The flows that may end in a shard, in the order of its list of what is received.
    pub(crate) fn sinks(&self, shard: u32) -> &[u32] {
        &self.sinks[shard as usize]
    }

    /// What the destinations in a shard have seen of the flows that end there: nothing yet.
    pub(crate) fn received(&self, spec: &NetworkSpec, shard: u32) -> Vec<Received> {
        let entry = |&flow: &u32| {
            let flow = &spec.flows[flow as usize];
            // Of a flow that ends in many places none can know that it is complete.
            let own = matches!(flow.destination, Destination::Host(_));
            Received {
                acknowledged: flow.acknowledge.is_some() && flow.sink().is_none(),
                size: flow.size.filter(|_| own).map_or(u64::MAX, |size| size.get()),
                ..Received::default()
            }
        };
        self.sinks(shard).iter().map(entry).collect()
    }
}
