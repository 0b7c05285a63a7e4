//! One shard of a running network: its state, the numbering of its alarms, and what each alarm leads to.
//!
//! The devices' behaviour is in the folders beside this file, as methods of [`Network`]: [`crate::machine::port`],
//! [`crate::machine::switch`] and [`crate::machine::host`].

use crate::build::places::Places;
use crate::build::plan::{NetworkPlan, WaitingRoom};
use crate::describe::workload::{Destination, FlowSpec};
use crate::machine::frame::extension::{Extension, Extensions};
use crate::machine::frame::telemetry::{Hop, Telemetry};
use crate::machine::frame::{Frame, List, Pool};
use crate::machine::host::Host;
use crate::machine::host::flow::Flow;
use crate::machine::host::lifetime::{Approach, Records};
use crate::machine::host::live::Live;
use crate::machine::host::receiving::Inbound;
use crate::machine::host::waiting::WaitingFlows;
use crate::machine::port::{Gate, Lane, Port, Signal};
use crate::machine::switch::congestion_point::CongestionPointState;
use crate::machine::switch::crossbar::Crossbar;
use crate::machine::switch::order::Turns;
use crate::machine::switch::paths::PathChoice;
use crate::observe::outcome::{Loss, Totals};
use crate::observe::probe::Probe;
use engine::{Context, Encode, Fingerprint, Model};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use units::{Rate, Span, State, Stream, Time};

/// What crosses shards.
#[derive(Clone, Debug)]
pub enum Message {
    /// A frame is on its way to that port of the receiving shard.
    Frame {
        /// Port of the receiving shard.
        port: u32,
        /// The frame, with its time of arrival.
        frame: Frame,
    },
    /// A frame with telemetry is on its way to that port of the receiving shard.
    Stamped {
        /// Port of the receiving shard.
        port: u32,
        /// The frame, with its time of arrival.
        frame: Frame,
        /// Its stamps: time and queue, bytes sent and rate.
        stamps: Vec<Hop>,
        /// The rest of what an acknowledgement says, if that does not fit into it.
        extension: Option<Box<Extension>>,
    },
    /// Room was freed at the far end of that port.
    Credit {
        /// Port of the receiving shard.
        port: u32,
        /// Class.
        class: u8,
        /// Units granted in total.
        granted: u64,
        /// The cable's epoch.
        epoch: u8,
        /// When it takes effect.
        at: Time,
    },
    /// A frame was dropped; its source is in the receiving shard.
    Lost {
        /// Its flow.
        flow: u32,
        /// Its bytes.
        len: u16,
        /// When the source knows.
        at: Time,
    },
    /// An acknowledgement that says more than fits into it is on its way to that port of the receiving shard.
    Extended {
        /// Port of the receiving shard.
        port: u32,
        /// The frame, with its time of arrival.
        frame: Frame,
        /// The rest of what it says.
        extension: Box<Extension>,
    },
}

engine::encoded!(enum Message {
    0 = Frame { port, frame },
    4 = Stamped { port, frame, stamps, extension },
    1 = Credit { port, class, granted, epoch, at },
    2 = Lost { flow, len, at },
    3 = Extended { port, frame, extension },
});

/// The alarms of a shard, numbered phase by phase: signal, arrival, transmit, timer, workload, sample.
///
/// Within a phase they are numbered by the order in which nodes and ports are laid out, which is the same for every
/// partitioning; so the order of a node's alarms within an instant is too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    /// How many ports there are: the length of every range that has one per port.
    pub(crate) ports: u32,
    /// By port: a pause takes effect or credits arrive.
    pub(crate) signal: u32,
    /// By node: what its script says happens.
    pub(crate) script: u32,
    /// By port: the first frame on the wire arrives.
    pub(crate) arrival: u32,
    /// By node: the first frame has come through a switch's pipeline.
    pub(crate) pipeline: u32,
    /// By port: a column of a switch's crossbar is free, or a host's receive service.
    pub(crate) stage: u32,
    /// By port: the wire is free.
    pub(crate) transmit: u32,
    /// By port: a pause runs out, or must be sent again.
    pub(crate) flow_control: u32,
    /// By node: the first timer of a host's flows, or of a switch's congestion point.
    pub(crate) node_timer: u32,
    /// By node: the next flow of a host starts.
    pub(crate) workload: u32,
    /// By node: the next sample.
    pub(crate) sample: u32,
    pub(crate) end: u32,
}

impl Numbers {
    pub(crate) fn new(ports: usize, nodes: usize) -> Numbers {
        let (p, n) = (ports as u32, nodes as u32);
        Numbers {
            ports: p,
            signal: 0,
            script: p,
            arrival: p + n,
            pipeline: 2 * p + n,
            stage: 2 * p + 2 * n,
            transmit: 3 * p + 2 * n,
            flow_control: 4 * p + 2 * n,
            node_timer: 5 * p + 2 * n,
            workload: 5 * p + 3 * n,
            sample: 5 * p + 4 * n,
            end: 5 * p + 5 * n,
        }
    }
}

/// What a node is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Device {
    /// Position in [`Network::hosts`].
    Host(u32),
    /// Position in [`Network::switches`].
    Switch(u32),
}

/// A host or switch of the shard.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) device: Device,
    pub(crate) first_port: u32,
    pub(crate) ports: u16,
    /// What will happen to it, in order of time.
    pub(crate) script: VecDeque<(Time, Action)>,
}

/// Actions leave the script from the front.
impl State for Node {
    fn save(&self, out: &mut Vec<u8>) {
        let Node { device: _, first_port: _, ports: _, script } = self;
        script.len().encode(out);
    }

    fn load(&mut self, input: &mut &[u8]) -> Option<()> {
        let done = self.script.len().checked_sub(usize::decode(input)?)?;
        self.script.drain(..done);
        Some(())
    }
}

/// Something that a node's script does.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// The cable of that port fails or works again.
    Cable { port: u16, up: bool },
    /// The tables of that position in [`NetworkPlan::tables`] hold.
    Routes(u32),
    /// They hold at the switch at the other end of that port of a host.
    Home { port: u16, tables: u32 },
    /// The host consumes at that rate.
    Service(Option<Rate>),
}

/// A switch of the shard.
#[derive(Clone, Debug)]
pub(crate) struct Switch {
    /// Position of its kind in [`NetworkPlan::switches`].
    pub(crate) kind: u32,
    pub(crate) room: WaitingRoom,
    /// Frames wait in output queues and nobody watches them: the short path.
    pub(crate) plain: bool,
    /// Between arrival and queue.
    pub(crate) latency: Span,
    pub(crate) first_port: u32,
    /// Its row in the current [`NetworkPlan::tables`].
    pub(crate) row: u32,
    /// Which tables hold.
    pub(crate) tables: u32,
    /// So that two switches choose differently among equal paths.
    pub(crate) salt: u32,
    /// Frames in the pipeline.
    pub(crate) pipeline: List,
    /// Shared buffer: bytes in the shared part.
    pub(crate) shared_used: u64,
    /// Inputs, outputs and who serves whom; absent with output queues.
    pub(crate) crossbar: Option<Box<Crossbar>>,
    /// Its congestion point, and what else is watched.
    pub(crate) congestion_point: Option<Box<CongestionPointState>>,
    /// How it chooses among equal paths, if not by the hash of the flow.
    pub(crate) paths: Option<Box<PathChoice>>,
    /// Turns of the destinations that share an output, if they are not served in order of arrival.
    pub(crate) order: Option<Box<Turns>>,
}

units::state!(struct Switch { fixed: kind, room, plain, latency, first_port, row, salt; plain: tables, pipeline, shared_used; parts: crossbar, congestion_point, paths, order; });

/// One shard of a network.
#[derive(Clone, Debug)]
pub struct Network<P> {
    pub(crate) plan: Arc<NetworkPlan>,
    pub(crate) numbers: Numbers,
    /// Classes in use: the stride of `lanes` and `gates`.
    pub(crate) classes: usize,
    pub(crate) pool: Pool,
    pub(crate) extensions: Extensions,
    pub(crate) telemetry: Telemetry,
    pub(crate) ports: Vec<Port>,
    pub(crate) lanes: Vec<Lane>,
    pub(crate) gates: Vec<Gate>,
    pub(crate) signals: Vec<VecDeque<(Time, Signal)>>,
    pub(crate) noise: Vec<Option<Box<Stream>>>,
    /// How long ports take to obey pauses, where that differs from one to the next.
    pub(crate) responses: Vec<Option<Box<Stream>>>,
    /// Deficits and turns of weighted scheduling, one per port that has it.
    pub(crate) schedules: Vec<Option<Box<crate::machine::port::egress::Schedule>>>,
    /// Turns of virtual-lane arbitration, one per port that has it.
    pub(crate) arbiters: Vec<Option<Box<crate::machine::port::arbiter::Arbiter>>>,
    /// PFC watchdogs, one per port that has one.
    pub(crate) pfc_watchdogs: Vec<Option<Box<crate::machine::port::pfc_watchdog::PfcWatchdog>>>,
    pub(crate) nodes: Vec<Node>,
    /// Of each node, apart because every arrival touches it.
    pub(crate) fingerprints: Vec<Fingerprint>,
    pub(crate) switches: Vec<Switch>,
    pub(crate) hosts: Vec<Host>,
    /// Flows that start here, while they are active.
    pub(crate) flows: Live<Flow>,
    /// What those know that have not started.
    pub(crate) approaches: Vec<Approach>,
    /// Those of them that wait for others, if any do.
    pub(crate) waiting: Option<Box<WaitingFlows>>,
    /// Number of the shard.
    pub(crate) shard: u32,
    /// Where in `flows` and `received` a flow is.
    pub(crate) places: Arc<Places>,
    /// What was received of flows that end here, while they are active.
    pub(crate) received: Live<Received>,
    /// What is left of flows that are over.
    pub(crate) records: Records,
    /// By flow: frames that were lost here for good.
    pub(crate) gone: BTreeMap<u32, Gone>,
    pub(crate) totals: Totals,
    /// Samples taken so far: alarms that are no events of the model.
    pub(crate) samples: u64,
    pub(crate) loss: Option<Loss>,
    pub(crate) probe: P,
}

units::state!(struct Network<P: State> { fixed: plan, numbers, classes, approaches, shard, places; plain: pool, extensions, telemetry, gone, totals, samples, loss; lists: gates, signals, fingerprints; parts: ports, lanes, noise, responses, schedules, arbiters, pfc_watchdogs, nodes, switches, hosts, flows, waiting, received, records, probe; });

/// What a destination has seen of a flow, and what it must know of it: all that a frame's end touches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Received {
    /// Bytes after which the flow is complete; [`u64::MAX`] if it never is.
    pub(crate) size: u64,
    pub(crate) bytes: u64,
    pub(crate) frames: u64,
    /// Frames that carried a congestion mark.
    pub(crate) marked: u64,
    /// Frames not yet acknowledged.
    pub(crate) unacknowledged: u32,
    /// The position after the last one that has arrived, modulo 2^32.
    pub(crate) next: u32,
    /// Frames that arrived after a later one.
    pub(crate) out_of_order: u64,
    /// Whether its frames are acknowledged.
    pub(crate) acknowledged: bool,
    /// Whether they all arrive here, so that their order shows.
    pub(crate) ordered: bool,
    pub(crate) completed: Option<Time>,
    /// When the last frame was consumed.
    pub(crate) last: Time,
    /// Of a flow with recovery, or with a receiving point of its own.
    pub(crate) inbound: Option<Box<Inbound>>,
}

units::state!(struct Received { fixed: size, acknowledged, ordered; plain: bytes, frames, marked, unacknowledged, next, out_of_order, completed, last; parts: inbound; });

impl Received {
    /// Nothing has arrived of a flow yet.
    pub(crate) fn of(flow: &FlowSpec) -> Received {
        // Of a flow that ends in many places none can know that it is complete.
        let own = matches!(flow.destination, Destination::Host(_));
        Received {
            acknowledged: flow.acknowledge.is_some() && flow.sink().is_none(),
            size: flow.size.filter(|_| own).map_or(u64::MAX, |size| size.get()),
            ordered: own,
            ..Received::default()
        }
    }

    /// The frame of that position has arrived. Returns whether a later one arrived before it (RFC 4737, section 3.3).
    #[inline(always)]
    pub(crate) fn is_late(&mut self, position: u32) -> bool {
        if !self.ordered {
            return false;
        }
        let late = position.wrapping_sub(self.next) > u32::MAX / 2;
        if late {
            self.out_of_order += 1;
        } else {
            self.next = position.wrapping_add(1);
        }
        late
    }
}

/// Frames of a flow that were dropped or lost and are not retransmitted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gone {
    pub(crate) frames: u64,
    pub(crate) bytes: u64,
    /// When the last one was.
    pub(crate) last: Time,
}

engine::encoded!(struct Gone { frames, bytes, last });

/// What a device acts with.
pub(crate) type Ctx = Context<Message>;

impl<P: Probe> Network<P> {
    #[inline]
    pub(crate) fn lane(&self, port: u32, class: u8) -> usize {
        port as usize * self.classes + class as usize
    }

    /// The ports of a switch; none, if no cable leads to it.
    pub(crate) fn ports_of(&self, switch: u32) -> Range<u32> {
        let first = self.switches[switch as usize].first_port;
        let own = |port: &&Port| matches!(port.device, Device::Switch(of) if of == switch);
        first..first + self.ports[first as usize..].iter().take_while(own).count() as u32
    }

    /// Makes an idle transmitter look for work at this instant, after all arrivals of the instant.
    #[inline]
    pub(crate) fn kick(&self, port: u32, ctx: &mut Ctx) {
        ctx.alarms.arm_now_if_idle(self.numbers.transmit + port);
    }

    /// Likewise for the stage behind a port: a column of a switch's crossbar, or a host's receive service.
    #[inline]
    pub(crate) fn kick_stage(&self, port: u32, ctx: &mut Ctx) {
        ctx.alarms.arm_now_if_idle(self.numbers.stage + port);
    }

    fn on_rare_alarm(&mut self, now: Time, alarm: u32, ctx: &mut Ctx) {
        let n = self.numbers;
        if alarm < n.script {
            self.on_signal(now, alarm - n.signal, ctx);
        } else if alarm < n.arrival {
            self.on_script(now, alarm - n.script, ctx);
        } else if alarm < n.stage {
            self.on_pipeline(now, alarm - n.pipeline, ctx);
        } else if alarm < n.transmit {
            self.on_stage(now, alarm - n.stage, ctx);
        } else if alarm < n.node_timer {
            self.on_flow_control(now, alarm - n.flow_control, ctx);
        } else if alarm < n.workload {
            self.on_node_timer(now, alarm - n.node_timer, ctx);
        } else if alarm < n.sample {
            self.on_workload(now, alarm - n.workload, ctx);
        } else {
            self.on_sample(now, alarm - n.sample, ctx);
        }
    }

    /// A column of a switch's crossbar is free, or a host has consumed a frame, or may begin to.
    fn on_stage(&mut self, now: Time, port: u32, ctx: &mut Ctx) {
        match self.ports[port as usize].device {
            Device::Host(host) => self.on_receive_service(now, port, host, ctx),
            Device::Switch(switch) => self.on_crossbar_column(now, port, switch, ctx),
        }
    }

    /// Timers of a host's flows are due, or a switch's congestion point is to be asked.
    fn on_node_timer(&mut self, now: Time, node: u32, ctx: &mut Ctx) {
        match self.nodes[node as usize].device {
            Device::Host(host) => self.on_flow_timers(now, host, ctx),
            Device::Switch(switch) => self.on_congestion_point(now, switch, ctx),
        }
    }

    fn on_script(&mut self, now: Time, node: u32, ctx: &mut Ctx) {
        while let Some(&(at, _)) = self.nodes[node as usize].script.front() {
            if at > now {
                ctx.alarms.arm(self.numbers.script + node, at);
                break;
            }
            let (_, action) = self.nodes[node as usize].script.pop_front().expect("it has a front");
            self.fingerprints[node as usize].fold(now.as_picos());
            match (action, self.nodes[node as usize].device) {
                (Action::Cable { port, up }, device) => {
                    let port = self.nodes[node as usize].first_port + u32::from(port);
                    self.set_cable(now, port, up, ctx);
                    if let Device::Host(host) = device {
                        self.rehome(now, host, ctx);
                    }
                }
                (Action::Home { port, tables }, Device::Host(host)) => {
                    let homing = self.hosts[host as usize].homing.as_mut();
                    if let Some(home) = homing.and_then(|homing| homing.switches.get_mut(usize::from(port))) {
                        home.1 = tables;
                    }
                    self.rehome(now, host, ctx);
                }
                (Action::Routes(tables), Device::Switch(switch)) => {
                    self.switches[switch as usize].tables = tables;
                    self.reroute(now, switch, node, ctx);
                }
                (Action::Service(rate), Device::Host(host)) => self.set_service(host, rate, ctx),
                (Action::Routes(_), Device::Host(_))
                | (Action::Service(_) | Action::Home { .. }, Device::Switch(_)) => {}
            }
        }
    }
}

impl<P: Probe> Model for Network<P> {
    type Message = Message;

    #[inline(always)]
    fn on_alarm(&mut self, now: Time, alarm: u32, ctx: &mut Ctx) {
        let n = &self.numbers;
        // The two alarms of a hop first.
        let arrival = alarm.wrapping_sub(n.arrival);
        if arrival < n.ports {
            return self.on_arrival(now, arrival, ctx);
        }
        let transmit = alarm.wrapping_sub(n.transmit);
        if transmit < n.ports {
            return self.on_transmit(now, transmit, ctx);
        }
        self.on_rare_alarm(now, alarm, ctx);
    }

    fn is_full(&self) -> bool {
        self.probe.is_full()
    }

    fn on_message(&mut self, message: Message, ctx: &mut Ctx) {
        match message {
            Message::Frame { port, frame } => self.accept(port, frame, ctx),
            Message::Stamped { port, mut frame, stamps, extension } => {
                if let Some(extension) = extension {
                    frame.extend(self.extensions.put(*extension));
                }
                let place = self.pool.put(frame);
                self.telemetry.put(place, &stamps);
                self.put_on_wire(port, place, ctx);
            }
            Message::Credit { port, class, granted, epoch, at } => {
                // If the cable has failed since, the signal is gone, as it would be if it had been here before.
                if epoch == self.ports[port as usize].epoch {
                    self.push_signal(port, at, Signal::Credit { class, granted, epoch }, ctx);
                }
            }
            Message::Lost { flow, len, at } => self.hear_of_loss(flow, len, at, ctx),
            Message::Extended { port, mut frame, extension } => {
                frame.extend(self.extensions.put(*extension));
                self.accept(port, frame, ctx);
            }
        }
    }
}
