//! The bottleneck link of a scenario's fluid model, and the control loop over it.

use crate::{Plan, Walker};
use fabric::graph::{NodeId, Role};
use fabric::spec::{Buffer, Forwarding, SwitchSpec};
use fabric::workload::Destination;
use std::collections::BTreeMap;
use units::{Bytes, Time};

/// The bottleneck: the output with a congestion point at which most flows meet.
#[derive(Clone, Debug, PartialEq)]
pub struct Bottleneck {
    /// The direction of the link, such as `sw0->h0`.
    pub link: String,
    /// Global number of the sending port.
    pub port: u32,
    /// Its switch, as an index in the graph.
    pub node: u32,
    /// The class of the flows.
    pub class: u8,
    /// The flows, as indices in the plan.
    pub flows: Vec<u32>,
    /// Ratio of the frame length to the length on the wire including overhead.
    pub part: f64,
}

/// Components of a loop's delay, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Loop {
    /// Propagation delay in both directions.
    pub(super) cables: f64,
    /// Serialisation of a frame and of a notification at every hop, or the header delay of a cut-through switch.
    pub(super) frames: f64,
    /// Pipeline delays of switches.
    pub(super) switches: f64,
}

impl Loop {
    pub(super) fn whole(&self) -> f64 {
        self.cables + self.frames + self.switches
    }
}

/// Returns the rates of the flows' source cables in bits per second.
#[must_use]
pub fn source_rates(plan: &Plan, flows: &[u32]) -> Vec<f64> {
    let network = Network::new(plan);
    flows.iter().map(|&flow| network.source_rate(flow)).collect()
}

/// A network whose paths are followed.
pub(super) struct Network<'a> {
    plan: &'a Plan,
    walker: Walker<'a>,
    /// By global number of an output port: the node it leads to, and its rate in bits per second.
    ports: Vec<(NodeId, f64)>,
}

impl<'a> Network<'a> {
    pub(super) fn new(plan: &'a Plan) -> Network<'a> {
        let walker = Walker::new(&plan.spec.graph);
        let cable = |cable: u32| plan.spec.graph.cables[cable as usize].link.rate.as_bits_per_sec() as f64;
        let ports = walker.channels().map(|(_, _, end)| (end.peer, cable(end.cable))).collect();
        Network { plan, walker, ports }
    }

    /// Returns the kind of a switch; `None` for a host.
    pub(super) fn switch(&self, node: u32) -> Option<(usize, &'a SwitchSpec)> {
        let kind = self.plan.spec.kind_of[node as usize] as usize;
        let switch = self.plan.spec.graph.nodes[node as usize].role == Role::Switch;
        switch.then(|| (kind, &self.plan.spec.switches[kind]))
    }

    /// Returns the output with a congestion point that leaves the smallest share to each of these flows; the first if
    /// there are several.
    pub(super) fn bottleneck(&self, flows: &[u32], watched: impl Fn(usize) -> bool) -> Option<Bottleneck> {
        let mut meeting: BTreeMap<u32, (NodeId, Vec<u32>)> = BTreeMap::new();
        for &number in flows {
            for (node, port) in self.path(number) {
                if self.switch(node.0).is_some_and(|(kind, _)| watched(kind)) {
                    let at = meeting.entry(self.walker.channel(node, port)).or_insert((node, Vec::new()));
                    at.1.push(number);
                }
            }
        }
        let mut narrowest: Option<(f64, u32)> = None;
        for (&port, (_, flows)) in &meeting {
            let share = self.rate(port) / flows.len() as f64;
            if narrowest.is_none_or(|(least, _)| share < least) {
                narrowest = Some((share, port));
            }
        }
        let (_, port) = narrowest?;
        let (node, flows) = meeting.remove(&port)?;
        let link = format!("{}->{}", self.walker.name(node), self.walker.name(self.ports[port as usize].0));
        let spec = &self.plan.spec;
        let class = spec.flows[*flows.first()? as usize].class;
        let frame = flows.iter().map(|&flow| spec.flows[flow as usize].frame).max()?.max(Bytes::new(1));
        let wire = frame.max(spec.smallest_frame).get() + spec.overhead.get();
        let part = frame.get() as f64 / wire as f64;
        Some(Bottleneck { link, port, node: node.0, class, flows, part })
    }

    /// Returns the path of a flow; empty if it has no unique path.
    fn path(&self, number: u32) -> Vec<(NodeId, u16)> {
        let flow = &self.plan.spec.flows[number as usize];
        let Destination::Host(to) = flow.destination else { return Vec::new() };
        let mut hops = self.walker.path_of(self.plan, number as usize, flow, to).unwrap_or_default();
        if Walker::sprays(self.plan) && hops.len() > 2 {
            hops = vec![hops[0], hops[hops.len() - 1]];
        }
        hops
    }

    /// Returns the rate of the cable at a port in bits per second.
    pub(super) fn rate(&self, port: u32) -> f64 {
        self.ports[port as usize].1
    }

    /// Returns the rate of a flow's own cable in bits per second; of several, if it leaves by them.
    pub(super) fn source_rate(&self, number: u32) -> f64 {
        let spec = &self.plan.spec;
        let ends = self.walker.ends(spec.flows[number as usize].source);
        let ports = spec.ports_by(&spec.routes, number, ends);
        ports.iter().map(|&port| ends.get(usize::from(port)).map_or(f64::NAN, |end| self.link(end.cable).0)).sum()
    }

    /// Returns the rate in bits per second and the latency in seconds.
    fn link(&self, cable: u32) -> (f64, f64) {
        let link = &self.plan.spec.graph.cables[cable as usize].link;
        (link.rate.as_bits_per_sec() as f64, link.latency.as_secs_f64())
    }

    /// Adds one hop: a cable and, if it ends at a switch, the switch's pipeline.
    fn hop(&self, over: &mut Loop, node: NodeId, port: u16, size: Bytes) -> Option<NodeId> {
        let end = self.walker.peer(node, port)?;
        let (rate, latency) = self.link(end.cable);
        let whole = (size.bits() + self.plan.spec.overhead.bits()) as f64 / rate;
        over.cables += latency;
        let switch = self.switch(end.peer.0).map(|(_, switch)| switch);
        over.frames += match switch.map(|switch| switch.forwarding) {
            Some(Forwarding::CutThrough { header_delay }) => header_delay.as_secs_f64().min(whole),
            _ => whole,
        };
        over.switches += switch.map_or(0.0, |switch| switch.pipeline.as_secs_f64());
        Some(end.peer)
    }

    /// Returns the loop of a flow: a frame from its source to the queue, and a notification back to its source, without
    /// queueing.
    pub(super) fn round(&self, number: u32, bottleneck: &Bottleneck) -> Option<Loop> {
        let flow = &self.plan.spec.flows[number as usize];
        let (switch, mut over) = (NodeId(bottleneck.node), Loop::default());
        let mut at = self.walker.host(flow.source);
        for (node, port) in self.path(number) {
            if at == switch {
                break;
            }
            at = self.hop(&mut over, node, port, flow.frame)?;
        }
        let size = self.switch(bottleneck.node)?.1.congestion_point.as_ref()?.notice_size;
        self.back(over, at, number, size)
    }

    /// Returns the loop of a flow whose destination answers: a frame to its destination, and a reply of that size to its
    /// source, without queueing.
    pub(super) fn there_and_back(&self, number: u32, size: Bytes) -> Option<Loop> {
        let flow = &self.plan.spec.flows[number as usize];
        let (mut over, mut at) = (Loop::default(), None);
        for (node, port) in self.path(number) {
            at = Some(self.hop(&mut over, node, port, flow.frame)?);
        }
        self.back(over, at?, number, size)
    }

    /// Adds the way of a frame of that size from a node to the source of a flow.
    fn back(&self, mut over: Loop, mut at: NodeId, number: u32, size: Bytes) -> Option<Loop> {
        let flow = &self.plan.spec.flows[number as usize];
        let source = self.walker.host(flow.source);
        let mut steps = 0;
        while at != source {
            let routes = &self.plan.spec.routes;
            let port = match self.switch(at.0) {
                Some(_) => routes.ports(at, flow.source).first().copied()?,
                None => self.walker.port_toward(routes, at, flow.source),
            };
            at = self.hop(&mut over, at, port, size)?;
            steps += 1;
            if steps > self.plan.spec.graph.nodes.len() || (at != source && self.switch(at.0).is_none()) {
                return None;
            }
        }
        Some(over)
    }

    /// Returns the maximum number of bytes that can be queued at the bottleneck, and the reason.
    pub(super) fn room(&self, bottleneck: &Bottleneck) -> Option<(f64, String)> {
        let (_, switch) = self.switch(bottleneck.node)?;
        let name = &self.plan.spec.graph.nodes[bottleneck.node as usize].name;
        let class = usize::from(bottleneck.class);
        match &switch.buffer {
            Buffer::Shared { total, .. } => Some((total.get() as f64, format!("the shared memory of {name}"))),
            Buffer::Static(classes) => {
                let one = classes.get(class)?.capacity.get() as f64;
                if !self.plan.spec.classes.get(class)?.lossless {
                    return Some((one, format!("the output queue of {name}")));
                }
                // Lossless room is kept at the inputs.
                let inputs: std::collections::BTreeSet<u32> =
                    bottleneck.flows.iter().filter_map(|&flow| self.input(flow, bottleneck)).collect();
                let text = format!("the buffers of {} inputs of {name}", inputs.len());
                Some((one * inputs.len() as f64, text))
            }
        }
    }

    /// Returns the port from which a flow's frames are sent to the switch.
    fn input(&self, number: u32, bottleneck: &Bottleneck) -> Option<u32> {
        let hops = self.path(number);
        let place = hops.iter().position(|(node, _)| node.0 == bottleneck.node)?;
        let (node, port) = *hops.get(place.checked_sub(1)?)?;
        Some(self.walker.channel(node, port))
    }
}

/// Returns the maximum number of these flows that are active at once, by their start and stop times.
pub(super) fn at_once(plan: &Plan, flows: &[u32]) -> usize {
    let mut changes: Vec<(Time, i64)> = Vec::new();
    for &flow in flows {
        let flow = &plan.spec.flows[flow as usize];
        changes.push((flow.start, 1));
        changes.extend(flow.stop.map(|stop| (stop, -1)));
    }
    // Who stops at an instant is gone before another starts.
    changes.sort_unstable();
    let mut now = 0;
    let most = changes.into_iter().map(|(_, change)| {
        now += change;
        now
    });
    most.max().unwrap_or(0).max(0) as usize
}
