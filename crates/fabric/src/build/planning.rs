//! From a description to the constants of a run: [`NetworkPlan`].

use crate::build::plan::{
    AdapterKind, EgressKind, EgressPlan, Hold, NetworkPlan, PortPlan, Rule, Shared, SwitchKind, Tables, VlPlan,
    WaitingRoom,
};
use crate::describe::graph::{Graph, HostId, NodeId, PortEnd, Role};
use crate::describe::spec::{
    Arbitration, Buffer, ClassBuffer, CreditReturn, CreditUnit, Egress, EgressGroup, FlowControl, Multipath,
    NetworkSpec, PfcWatchdogSpec, PortSpec, Queueing, Share, Within,
};
use crate::describe::trip::Trips;
use crate::describe::validate::largest_frame;
use std::collections::BTreeMap;
use units::{Bytes, Span};

/// Position of a node's kind in [`NetworkPlan::rules`]: switch kinds first, then adapter kinds. Rules of ports that differ come
/// after those.
pub(crate) fn node_rules(spec: &NetworkSpec, node: usize) -> usize {
    let kind = spec.kind_of[node] as usize;
    match spec.graph.nodes[node].role {
        Role::Switch => kind,
        Role::Host => spec.switches.len() + kind,
    }
}

pub(crate) fn plan(spec: &NetworkSpec) -> Result<NetworkPlan, String> {
    let switch_nodes = spec.graph.switches();
    let rows = rows(&spec.graph, Role::Switch);
    let ends = spec.graph.ports();
    let row_at = |end: &PortEnd| rows[end.peer.0 as usize];
    let mut attached: Vec<u32> = spec.graph.hosts().iter().map(|host| row_at(&ends[host.0 as usize][0])).collect();
    attached.extend(spec.graph.addressed_ports().iter().map(|(_, end)| row_at(end)));
    let mut tables = vec![Tables::new(&spec.routes, &switch_nodes, &attached)?];
    for change in &spec.route_changes {
        tables.push(Tables::new(&change.routes, &switch_nodes, &attached)?);
    }
    let mut ways = Ways::default();
    let (mut rules, mut shared_rules, mut chosen) = (Vec::new(), Vec::new(), Vec::new());
    let mut switches = Vec::new();
    for switch in &spec.switches {
        let shared = match &switch.buffer {
            Buffer::Static(_) => None,
            Buffer::Shared { total, .. } => Some(Shared { total: total.get() }),
        };
        let output_only = switch.queueing == Queueing::Output;
        rules.push(kind_rules(spec, rules.len(), u8::MAX, None));
        shared_rules.push(shared.is_some());
        chosen.push(ways.resolve(&switch.egress));
        let crossbar = switch.crossbar.unwrap_or_default();
        switches.push(SwitchKind {
            room: match switch.queueing {
                Queueing::Output => WaitingRoom::Output,
                Queueing::InputFifo { .. } | Queueing::VirtualOutput => WaitingRoom::Input,
                Queueing::Combined { .. } => WaitingRoom::Both,
            },
            shared,
            pipeline: switch.pipeline,
            fifo: match switch.queueing {
                Queueing::InputFifo { bypass, reading } => Some((bypass, reading)),
                _ => None,
            },
            arbitration: if output_only { Arbitration::ArrivalOrder } else { crossbar.arbitration },
            read_ports: crossbar.read_ports,
            output_buffer: match switch.queueing {
                Queueing::Combined { output_buffer } => output_buffer.get().min(u64::from(u32::MAX / 2)) as u32,
                _ => 0,
            },
        });
    }
    let mut adapters = Vec::new();
    for adapter in &spec.adapters {
        let credits = matches!(adapter.flow_control, FlowControl::Credits(_));
        let served = adapter.service.is_some() || !adapter.service_changes.is_empty() || credits;
        rules.push(kind_rules(spec, rules.len(), u8::MAX, None));
        shared_rules.push(false);
        chosen.push(ways.resolve(&adapter.egress));
        adapters.push(AdapterKind { service: adapter.service, served });
    }
    let mut ports = port_plans(spec, &chosen);
    set_ports(spec, &mut ports, &mut rules, &mut shared_rules, &mut ways);
    let pfc_watchdogs = set_watchdogs(spec, &mut ports);
    Ok(NetworkPlan {
        overhead: spec.overhead,
        smallest_frame: spec.smallest_frame.get() as u16,
        spray: spec.multipath == Multipath::Spray,
        telemetry: spec.flows.iter().any(|flow| flow.added() > Bytes::ZERO),
        rules,
        shared_rules,
        largest_frames: (0..spec.classes.len()).map(|class| largest_frame(spec, class).get() as u16).collect(),
        switches,
        adapters,
        egress: ways.groups,
        vl: ways.tables,
        pfc_watchdogs,
        tables,
        addresses: match spec.graph.port_addresses {
            true => (0..spec.routes.hosts() as u32).map(|host| spec.routes.addresses(HostId(host))).collect(),
            false => Vec::new(),
        },
        ports: ports.into(),
        flows: spec.flows.clone().into(),
        seed: spec.seed,
        frame_time: spec.frame_time,
        trees: usize::from(spec.routes.trees()),
    })
}

/// The ways in which ports choose among classes, each kept once.
#[derive(Default)]
struct Ways {
    known: Vec<(Egress, EgressKind)>,
    groups: Vec<EgressPlan>,
    tables: Vec<VlPlan>,
}

impl Ways {
    fn resolve(&mut self, egress: &Egress) -> EgressKind {
        if let Some(&(_, kind)) = self.known.iter().find(|(known, _)| known == egress) {
            return kind;
        }
        let kind = match egress {
            Egress::Strict => EgressKind::Strict,
            Egress::Groups(groups) => {
                self.groups.push(egress_plan(groups));
                EgressKind::Groups((self.groups.len() - 1) as u16)
            }
            Egress::Tables(tables) => {
                self.tables.push(VlPlan::new(tables));
                EgressKind::Tables((self.tables.len() - 1) as u16)
            }
        };
        self.known.push((egress.clone(), kind));
        kind
    }
}

fn egress_plan(groups: &[EgressGroup]) -> EgressPlan {
    let mut strict: Vec<u8> =
        groups.iter().filter(|group| group.share == Share::Strict).map(|group| group.classes).collect();
    // The group with the highest class first.
    strict.sort_by_key(|classes| classes.leading_zeros());
    let weighted = groups.iter().filter_map(|group| match group.share {
        Share::Weighted { quantum } => Some((group.classes, quantum.get().min(1 << 24) as u32)),
        Share::Strict => None,
    });
    let ordered = groups.iter().filter(|group| group.within == Within::Priority);
    let ordered = ordered.fold(0, |classes, group| classes | group.classes);
    EgressPlan { strict, weighted: weighted.collect(), ordered }
}

/// The rules of the kind at that position of [`NetworkPlan::rules`], with PFC on for those classes, and with these buffers
/// instead of its own.
fn kind_rules(spec: &NetworkSpec, kind: usize, pfc: u8, own: Option<&[ClassBuffer]>) -> Vec<Rule> {
    if let Some(switch) = spec.switches.get(kind) {
        let (buffers, alpha) = match &switch.buffer {
            Buffer::Static(buffers) => (buffers, (1, 1)),
            Buffer::Shared { classes, alpha, .. } => (classes, *alpha),
        };
        let output_only = switch.queueing == Queueing::Output;
        return class_rules(spec, own.unwrap_or(buffers), (switch.flow_control, alpha), output_only, pfc);
    }
    let adapter = &spec.adapters[kind - spec.switches.len()];
    let credits = matches!(adapter.flow_control, FlowControl::Credits(_));
    let served = adapter.service.is_some() || !adapter.service_changes.is_empty() || credits;
    let unlimited = vec![ClassBuffer::UNLIMITED; spec.classes.len()];
    class_rules(spec, if served { &adapter.buffer } else { &unlimited }, (adapter.flow_control, (1, 1)), false, pfc)
}

/// Ports that differ from their kind get rules and ways of their own; equal ones share them.
fn set_ports(
    spec: &NetworkSpec,
    ports: &mut [PortPlan],
    rules: &mut Vec<Vec<Rule>>,
    shared: &mut Vec<bool>,
    ways: &mut Ways,
) {
    let mut made: Vec<(u16, u8, Option<&[ClassBuffer]>, u16)> = Vec::new();
    let first: BTreeMap<u32, usize> = (0..ports.len()).rev().map(|port| (ports[port].node, port)).collect();
    for PortSpec { node, port, pfc, egress, buffers, pfc_watchdog: _ } in &spec.ports {
        let at = first[&node.0] + usize::from(*port);
        let kind = ports[at].rules;
        if let Some(egress) = egress {
            ports[at].egress = ways.resolve(egress);
        }
        // What a port obeys is the far end's: only pauses by class can be switched off.
        if matches!(spec.flow_control(NodeId(ports[ports[at].peer as usize].node)), FlowControl::Pfc(_)) {
            ports[at].obeys = *pfc;
        }
        let own = buffers.as_deref();
        let known = made.iter().find(|(of, classes, other, _)| (*of, *classes, *other) == (kind, *pfc, own));
        ports[at].rules = match known {
            Some(&(.., rules)) => rules,
            None => {
                rules.push(kind_rules(spec, usize::from(kind), *pfc, own));
                shared.push(shared[usize::from(kind)]);
                let number = (rules.len() - 1) as u16;
                made.push((kind, *pfc, own, number));
                number
            }
        };
    }
}

/// PFC watchdogs, each kept once: those of kinds of switches, and those of ports that differ. They watch the classes of which
/// a port obeys pauses by class.
fn set_watchdogs(spec: &NetworkSpec, ports: &mut [PortPlan]) -> Vec<PfcWatchdogSpec> {
    let mut known: Vec<PfcWatchdogSpec> = Vec::new();
    let own: BTreeMap<(u32, u16), PfcWatchdogSpec> =
        spec.ports.iter().filter_map(|port| Some(((port.node.0, port.port), port.pfc_watchdog?))).collect();
    let lossless = (0..).zip(&spec.classes).filter(|(_, class)| class.lossless);
    let lossless = lossless.fold(0u8, |classes, (class, _)| classes | 1 << class);
    for at in 0..ports.len() {
        if ports[at].at_host {
            continue;
        }
        let kind = &spec.switches[spec.kind_of[ports[at].node as usize] as usize];
        let Some(watchdog) = own.get(&(ports[at].node, ports[at].number)).copied().or(kind.pfc_watchdog) else {
            continue;
        };
        if !matches!(spec.flow_control(NodeId(ports[ports[at].peer as usize].node)), FlowControl::Pfc(_)) {
            continue;
        }
        let number = known.iter().position(|other| *other == watchdog).unwrap_or_else(|| {
            known.push(watchdog);
            known.len() - 1
        });
        let port = &mut ports[at];
        (port.pfc_watchdog, port.watched) = (number as u16, watchdog.classes & port.obeys & lossless);
    }
    known
}

/// The rules of a port, class by class. `output_only`: lossy classes are limited at the output queue. `pfc`: lossless
/// classes of which PFC is on.
fn class_rules(
    spec: &NetworkSpec,
    buffers: &[ClassBuffer],
    (control, alpha): (FlowControl, (u32, u32)),
    output_only: bool,
    pfc: u8,
) -> Vec<Rule> {
    let small = |bytes: Bytes| bytes.get().min(u64::from(u32::MAX / 2)) as u32;
    let rule = |(class, buffer): (usize, &ClassBuffer)| {
        let lossless = spec.classes[class].lossless;
        let all = ((1u16 << spec.classes.len()) - 1) as u8;
        let (hold, unit, account) = match control {
            FlowControl::None => (Hold::Nothing, 1, class),
            FlowControl::Pause(pause) => {
                let classes = pause.holds & all;
                (
                    Hold::Pause { classes, quanta: pause.quanta, refresh_after: pause.quanta - pause.refresh_before },
                    1,
                    0,
                )
            }
            FlowControl::Pfc(pause) if lossless && pfc >> class & 1 == 1 => {
                let classes = 1 << class;
                let refresh_after = pause.quanta - pause.refresh_before;
                (Hold::Pause { classes, quanta: pause.quanta, refresh_after }, 1, class)
            }
            FlowControl::Credits(credits) if lossless => {
                let unit = match credits.unit {
                    CreditUnit::Frame => 0,
                    CreditUnit::Block(block) => block.get() as u32,
                };
                let hold = match credits.give_back {
                    CreditReturn::Frame { size, refresh } => Hold::CreditFrame { size: size.get() as u16, refresh },
                    CreditReturn::Signal { delay } => Hold::CreditSignal { delay },
                };
                (hold, unit, class)
            }
            FlowControl::Pfc(_) | FlowControl::Credits(_) => (Hold::Nothing, 1, class),
        };
        // A lossless class of which PFC is off has its room at the input all the same, and nobody to keep it.
        let held_back = hold != Hold::Nothing || (lossless && matches!(control, FlowControl::Pfc(_)));
        let pauses = matches!(hold, Hold::Pause { .. });
        Rule {
            lossless: lossless && held_back,
            counts_input: held_back || !output_only,
            limits_output: !held_back && output_only,
            account: account as u8,
            capacity: small(buffer.capacity),
            xoff: if pauses { small(buffer.xoff) } else { u32::MAX },
            xon: small(buffer.xon),
            resume: small(buffer.resume),
            headroom: small(buffer.headroom),
            alpha: buffer.alpha.unwrap_or(alpha),
            limit: small(buffer.limit),
            frames: buffer.frames,
            unit,
            hold,
        }
    };
    buffers.iter().enumerate().map(rule).collect()
}

/// Ports as their kinds are; `chosen` is how each kind chooses among classes, in the order of [`NetworkPlan::rules`].
fn port_plans(spec: &NetworkSpec, chosen: &[EgressKind]) -> Vec<PortPlan> {
    let ends = spec.graph.ports();
    let mut first = Vec::with_capacity(ends.len());
    let mut sum = 0;
    for ports in &ends {
        first.push(sum);
        sum += ports.len() as u32;
    }
    let response = |node: usize| match spec.flow_control(NodeId(node as u32)) {
        FlowControl::Pause(pause) | FlowControl::Pfc(pause) => (pause.response, pause.response_jitter),
        _ => (Span::ZERO, Span::ZERO),
    };
    let trips = Trips::new(spec);
    let mut plans = Vec::with_capacity(sum as usize);
    for (node, ports) in ends.iter().enumerate() {
        for (number, end) in ports.iter().enumerate() {
            let peer = end.peer.0 as usize;
            let header_delay = trips.header_delay(end.peer, end.cable);
            plans.push(PortPlan {
                node: node as u32,
                number: number as u16,
                at_host: spec.graph.nodes[node].role == Role::Host,
                cable: end.cable,
                rules: node_rules(spec, node) as u16,
                egress: chosen[node_rules(spec, node)],
                obeys: u8::MAX,
                pfc_watchdog: 0,
                watched: 0,
                peer: first[peer] + u32::from(end.peer_port),
                header_delay: header_delay.unwrap_or(Span::ZERO),
                cuts_through: header_delay.is_some(),
                bit_error_rate: spec.graph.cables[end.cable as usize].link.bit_error_rate,
                // The pause that this port obeys is the far end's.
                pause_response: response(peer).0,
                pause_jitter: response(peer).1,
            });
        }
    }
    plans
}

/// For every node its number among the nodes of its role.
pub(crate) fn rows(graph: &Graph, role: Role) -> Vec<u32> {
    let mut next = 0;
    let number = |node: &crate::describe::graph::Node| {
        let number = next;
        next += u32::from(node.role == role);
        number
    };
    graph.nodes.iter().map(number).collect()
}
