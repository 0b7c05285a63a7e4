//! What cannot be built, and why.

use crate::describe::error::BuildError;
use crate::describe::graph::{NodeId, Role};
use crate::describe::routing::Routes;
use crate::describe::spec::{
    AdapterSpec, Buffer, ClassBuffer, CreditReturn, CreditUnit, Crossbar, Egress, FlowControl, FlowletSpec, Forwarding,
    MAX_CLASSES, MAX_VL_ENTRIES, Multipath, NetworkSpec, PauseSpec, Queueing, RouteChange, Share, SwitchSpec,
    VlArbitration,
};
use crate::describe::validate_flow::{check_dependencies, check_flow};
use crate::describe::validate_point::{check_watch, check_watchdog};
use crate::describe::workload::{Destination, FlowSpec, Via};
use crate::machine::switch::crossbar::MAX_PORTS;
use congestion::{Adapter, ReactionPoint};
use transport::Sender;
use units::{Bytes, Rate, Span, Time};

/// All that is wrong with a network: nothing, if it can be built.
#[must_use]
pub fn validate(spec: &NetworkSpec) -> Vec<BuildError> {
    let mut errors = Vec::new();
    let mut network = |reason: String| errors.push(BuildError::Network { reason });
    let classes = spec.classes.len();
    if classes == 0 || classes > MAX_CLASSES {
        network(format!("{classes} classes; the number must be 1 to {MAX_CLASSES}"));
    }
    if spec.kind_of.len() != spec.graph.nodes.len() {
        network(format!("{} nodes but {} entries in kind_of", spec.graph.nodes.len(), spec.kind_of.len()));
    }
    for (node, &kind) in spec.graph.nodes.iter().zip(&spec.kind_of) {
        let kinds = if node.role == Role::Host { spec.adapters.len() } else { spec.switches.len() };
        if kind as usize >= kinds {
            network(format!("{}: there is no kind {kind}; there are {kinds}", node.name));
        }
    }
    if spec.overhead.get() > 1000 || spec.smallest_frame.get() > 9000 {
        network("the frame overhead exceeds 1000 B or the smallest frame 9000 B; check the units".into());
    }
    for fault in &spec.faults {
        if fault.cable as usize >= spec.graph.cables.len() {
            network(format!("a fault names link {}, but there are only {}", fault.cable, spec.graph.cables.len()));
        }
        if fault.up.is_some_and(|up| up <= fault.down) {
            network(format!("link {} recovers before it fails; swap the times", fault.cable));
        }
    }
    for cable in (0..spec.graph.cables.len() as u32).filter(|&cable| overlap(spec, cable)) {
        network(format!("the faults of link {cable} overlap; end one before the next begins"));
    }
    let times = spec.faults.iter().flat_map(|fault| [Some(fault.down), fault.up]).flatten();
    if times.chain(spec.route_changes.iter().map(RouteChange::last)).any(|at| at > LATEST) {
        network(format!("a fault or route change is later than {LATEST}, beyond any run; check the units"));
    }
    if let Err(error) = spec.graph.validate() {
        // Nothing below can be judged on a drawing that does not hold together.
        errors.push(BuildError::Graph(error));
        return errors;
    }
    for cable in &spec.graph.cables {
        let role = |end: crate::describe::graph::NodeId| spec.graph.nodes[end.0 as usize].role;
        let names = [cable.a, cable.b].map(|end| spec.graph.nodes[end.0 as usize].name.as_str());
        if role(cable.a) == Role::Host && role(cable.b) == Role::Host {
            let reason =
                format!("hosts {} and {} are connected directly; put a switch between them", names[0], names[1]);
            errors.push(BuildError::Network { reason });
        }
        if cable.link.latency > LONGEST || cable.link.rate > FASTEST {
            let reason = format!(
                "{} to {}: latency above {LONGEST} or rate above {FASTEST}; check the units",
                names[0], names[1]
            );
            errors.push(BuildError::Network { reason });
        }
    }
    let is_switch = |node: NodeId| spec.graph.nodes.get(node.0 as usize).is_some_and(|it| it.role == Role::Switch);
    for &(node, _) in spec.route_changes.iter().flat_map(|change| &change.switches).filter(|it| !is_switch(it.0)) {
        let reason = format!("node {} gets new tables but is not a switch; name switches only", node.0);
        errors.push(BuildError::Network { reason });
    }
    if errors.is_empty() {
        let tables = std::iter::once(&spec.routes).chain(spec.route_changes.iter().map(|change| &change.routes));
        errors.extend(tables.filter_map(|routes| check_routes(spec, routes)));
        if spec.route_changes.iter().any(|change| change.routes.trees() != spec.routes.trees()) {
            let reason = "the new tables have other trees than the first ones; compute them with the same routing";
            errors.push(BuildError::Network { reason: reason.into() });
        }
        errors.extend(check_multipath(spec).map(|reason| BuildError::Network { reason }));
    }
    if errors.is_empty() {
        for (kind, switch) in spec.switches.iter().enumerate() {
            let mut reasons = Vec::new();
            check_switch(spec, kind, switch, &mut reasons);
            errors.extend(reasons.into_iter().map(|reason| BuildError::Switch { kind, reason }));
        }
        for (kind, adapter) in spec.adapters.iter().enumerate() {
            let mut reasons = Vec::new();
            check_adapter(spec, adapter, &mut reasons);
            errors.extend(reasons.into_iter().map(|reason| BuildError::Adapter { kind, reason }));
        }
        errors.extend(check_ports(spec));
        let hosts = host_rates(spec);
        for (flow, entry) in spec.flows.iter().enumerate() {
            let mut reasons = Vec::new();
            let rates = hosts.get(entry.source.0 as usize).map_or(&[][..], Vec::as_slice);
            let link = match entry.via {
                Via::Port(port) => rates.get(usize::from(port)).copied().unwrap_or_default(),
                Via::Hash => rates.first().copied().unwrap_or_default(),
                Via::Spray => Rate::from_bits_per_sec(rates.iter().map(|rate| rate.as_bits_per_sec()).sum()),
            };
            if let Via::Port(port) = entry.via
                && usize::from(port) >= rates.len().max(1)
            {
                let links = if rates.len() == 1 { "link" } else { "links" };
                reasons.push(format!(
                    "it leaves by port {port}, but its source has {} {links}, counted from 0; choose a smaller number",
                    rates.len()
                ));
                errors.extend(reasons.into_iter().map(|reason| BuildError::Flow { flow, reason }));
                continue;
            }
            let mut reaction = entry.reaction.clone();
            // Any round trip will do to judge the parameters, where there is one: routes are not known here.
            let known = entry.acknowledge.is_some() && matches!(entry.destination, Destination::Host(_));
            let round_trip = if known { Span::from_micros(1) } else { Span::ZERO };
            let adapter = adapter_of(spec, flow as u32, link, round_trip);
            if let Err(invalid) = reaction.attach(&adapter) {
                reasons.push(invalid.to_string());
            }
            if let Some(Err(invalid)) = entry.sender().map(|mut sender| sender.attach(&adapter)) {
                reasons.push(invalid.to_string());
            }
            if reaction.tags() && 2 * spec.graph.cables.len() > congestion::point::MOST_TAGGED_PORTS {
                reasons.push(format!(
                    "its tags distinguish at most {} ports; use a smaller network",
                    congestion::point::MOST_TAGGED_PORTS
                ));
            }
            check_flow(spec, hosts.len(), entry, &reaction, &mut reasons);
            errors.extend(reasons.into_iter().map(|reason| BuildError::Flow { flow, reason }));
        }
        errors.extend(check_dependencies(spec));
    }
    errors
}

/// No cable is longer: a second of light is 300 000 km.
const LONGEST: Span = Span::from_secs(1);
/// No cable is faster: a petabit per second.
const FASTEST: Rate = Rate::from_gigabits(1_000_000);
/// Nothing that is planned is later: 53 days, so that sums of times never overflow.
pub(super) const LATEST: Time = Time::from_picos(1 << 62);

/// Whether a cable fails again before it has come up.
fn overlap(spec: &NetworkSpec, cable: u32) -> bool {
    let mut faults: Vec<_> = spec.faults.iter().filter(|fault| fault.cable == cable).collect();
    faults.sort_by_key(|fault| fault.down);
    faults.windows(2).any(|pair| pair[0].up.is_none_or(|up| up >= pair[1].down))
}

/// Whether tables fit the graph: of its size, with ports that exist, and never to a host that is not the destination.
fn check_routes(spec: &NetworkSpec, routes: &Routes) -> Option<BuildError> {
    let wrong = |reason: String| Some(BuildError::Network { reason });
    let hosts = spec.graph.hosts();
    let addressed = spec.graph.addressed_ports().len();
    let mut number = vec![None; spec.graph.nodes.len()];
    hosts.iter().enumerate().for_each(|(place, host)| number[host.0 as usize] = Some(place));
    for (node, ends) in spec.graph.ports().iter().enumerate() {
        if spec.graph.nodes[node].role != Role::Switch {
            continue;
        }
        let (id, name) = (NodeId(node as u32), &spec.graph.nodes[node].name);
        if !routes.fits(std::iter::once(id), hosts.len(), addressed) {
            return wrong(format!(
                "the routes belong to another network: {name} has no routes to all {} hosts",
                hosts.len()
            ));
        }
        // What each group of ports leads to: nothing wrong, one host, or something that is not there.
        let groups: Vec<Result<Option<usize>, u16>> = routes
            .groups(id)
            .iter()
            .map(|ports| {
                // A table entry holds no more.
                if let Some(&port) = ports.get(255) {
                    return Err(port);
                }
                let mut host = None;
                for &port in ports {
                    let end = ends.get(usize::from(port)).ok_or(port)?;
                    host = host.or(number[end.peer.0 as usize]);
                }
                Ok(host)
            })
            .collect();
        // Most switches have no host, and their lists are sound.
        if groups.iter().all(|group| *group == Ok(None)) {
            continue;
        }
        for (destination, &group) in routes.table(id).iter().enumerate() {
            match groups.get(usize::from(group)) {
                Some(Err(port)) if usize::from(*port) < ends.len() => {
                    return wrong(format!("{name} has more than 255 equal-cost paths to one host; use fewer"));
                }
                Some(Err(port)) => return wrong(format!("the routes of {name} use port {port}, which does not exist")),
                Some(Ok(Some(host))) if *host != destination => {
                    let names = [destination, *host].map(|host| spec.graph.nodes[hosts[host].0 as usize].name.clone());
                    return wrong(format!("{name} sends frames for {} to {}; correct its routes", names[0], names[1]));
                }
                _ => {}
            }
        }
    }
    None
}

/// Whether switches can choose among equal paths as they are told to.
fn check_multipath(spec: &NetworkSpec) -> Option<String> {
    let trees = spec.routes.trees() > 0;
    match spec.multipath {
        Multipath::FlowHash | Multipath::Spray => None,
        Multipath::Adaptive | Multipath::Numbered | Multipath::Flowlet(_) if trees => Some(
            "frames follow the tree that their source chose, so switches choose no path; use flow-hash or spray, or \
             another routing"
                .into(),
        ),
        Multipath::Adaptive | Multipath::Numbered => None,
        Multipath::Flowlet(FlowletSpec { entries, .. }) if entries == 0 || entries > MOST_FLOWLETS => {
            Some(format!("a table of {entries} flowlets is out of range; give 1 to {MOST_FLOWLETS} entries"))
        }
        Multipath::Flowlet(_) => None,
    }
}

/// The largest table of flowlets.
const MOST_FLOWLETS: u32 = 1 << 20;

/// Ports that are set apart: that they are there, each once, and send every class.
fn check_ports(spec: &NetworkSpec) -> Vec<BuildError> {
    let ends = spec.graph.ports();
    let mut seen = std::collections::BTreeSet::new();
    let mut wrong = Vec::new();
    for port in &spec.ports {
        let there = ends.get(port.node.0 as usize).is_some_and(|ends| usize::from(port.port) < ends.len());
        if !there {
            wrong.push(format!("node {} has no port {}; name an existing port", port.node.0, port.port));
        } else if !seen.insert((port.node, port.port)) {
            let name = &spec.graph.nodes[port.node.0 as usize].name;
            wrong.push(format!("port {} of {name} is configured twice; keep one entry", port.port));
        }
        if let Some(egress) = &port.egress {
            check_egress(egress, spec.classes.len(), &mut wrong);
        }
        if let Some(buffers) = port.buffers.as_ref().filter(|_| there) {
            check_port_buffers(spec, port.node, buffers, &mut wrong);
        }
        if let Some(watchdog) = port.pfc_watchdog.as_ref().filter(|_| there) {
            let node = port.node.0 as usize;
            let kind = Some(spec.kind_of[node] as usize).filter(|_| spec.graph.nodes[node].role == Role::Switch);
            match kind.and_then(|kind| spec.switches.get(kind)) {
                Some(switch) => check_watchdog(Some(watchdog), switch, &mut wrong),
                None => wrong.push("only ports of switches have a PFC watchdog".into()),
            }
        }
    }
    wrong.into_iter().map(|reason| BuildError::Network { reason }).collect()
}

/// Buffers of a port that differ from those of its switch.
fn check_port_buffers(spec: &NetworkSpec, node: NodeId, buffers: &[ClassBuffer], wrong: &mut Vec<String>) {
    let kind = spec.kind_of.get(node.0 as usize).map_or(usize::MAX, |&kind| kind as usize);
    let Some(switch) = spec.switches.get(kind).filter(|_| spec.graph.nodes[node.0 as usize].role == Role::Switch)
    else {
        wrong.push(format!(
            "{} is not a switch; only ports of switches have buffers",
            spec.graph.nodes[node.0 as usize].name
        ));
        return;
    };
    if !matches!(switch.flow_control, FlowControl::Pause(_) | FlowControl::Pfc(_)) {
        wrong.push("ports have buffers of their own only with PAUSE or PFC; give all ports the same buffers".into());
    }
    let shared = matches!(switch.buffer, Buffer::Shared { .. });
    check_buffers(spec, buffers, switch.flow_control, shared, wrong);
    if switch.queueing != Queueing::Output {
        check_lossy_room(spec, buffers, wrong);
    }
}

/// Bytes of telemetry in the frames of a flow.
fn telemetry(flow: &FlowSpec) -> Bytes {
    flow.telemetry.map_or(Bytes::ZERO, |telemetry| telemetry.size)
}

/// The largest frame of any flow, with its tag, headers and telemetry, or acknowledgement in a class.
pub(crate) fn largest_frame(spec: &NetworkSpec, class: usize) -> Bytes {
    let data = spec.flows.iter().filter(|flow| usize::from(flow.class) == class);
    let data = data.map(|flow| flow.frame + flow.reaction.tag_size() + flow.added());
    let acks = spec.flows.iter().filter_map(|flow| Some((flow.acknowledge?, telemetry(flow))));
    let acks = acks.filter(|(ack, _)| usize::from(ack.class) == class).map(|(ack, telemetry)| ack.size + telemetry);
    let notifications = spec.flows.iter().filter_map(|flow| flow.notify);
    let notifications = notifications.filter(|how| usize::from(how.class) == class).map(|how| how.size);
    let pulls = spec.flows.iter().filter_map(|flow| flow.pull);
    let pulls = pulls.filter(|how| usize::from(how.class) == class).map(|how| how.size);
    data.chain(acks).chain(notifications).chain(pulls).max().unwrap_or(Bytes::ZERO)
}

/// The largest frame of a class that any buffer must take: notices, receipts and trimmed frames are frames as well.
fn largest_taken(spec: &NetworkSpec, class: usize) -> Bytes {
    let watches = spec.switches.iter().filter_map(|switch| switch.congestion_point.as_ref());
    let notices = watches.clone().filter(|watch| watch.tells() && usize::from(watch.notice_class) == class);
    let trimmed = watches.filter(|watch| watch.trims() && usize::from(watch.trim_class) == class);
    let sizes = notices.map(|watch| watch.notice_size).chain(trimmed.map(|watch| watch.trim_size));
    sizes.chain([largest_frame(spec, class)]).max().unwrap_or_default()
}

/// The adapter a flow's reaction point is told of, with the round-trip time of its path without queues.
pub(crate) fn adapter_of(spec: &NetworkSpec, flow: u32, link: Rate, round_trip: Span) -> Adapter {
    let frame = spec.flows[flow as usize].frame;
    Adapter { link, frame, overhead: spec.overhead, seed: spec.seed, flow, round_trip, paths: 1 }
}

/// For every host the rates of its cables.
fn host_rates(spec: &NetworkSpec) -> Vec<Vec<Rate>> {
    let ends = spec.graph.ports();
    let rates = |host: &NodeId| ends[host.0 as usize].iter().map(|end| rate_of(spec, end.cable)).collect();
    spec.graph.hosts().iter().map(rates).collect()
}

fn rate_of(spec: &NetworkSpec, cable: u32) -> Rate {
    spec.graph.cables.get(cable as usize).map_or(Rate::ZERO, |cable| cable.link.rate)
}

fn check_switch(spec: &NetworkSpec, kind: usize, switch: &SwitchSpec, wrong: &mut Vec<String>) {
    let mut degree = vec![0usize; spec.graph.nodes.len()];
    for cable in &spec.graph.cables {
        degree[cable.a.0 as usize] += 1;
        degree[cable.b.0 as usize] += 1;
    }
    let mine = |node: usize| spec.graph.nodes[node].role == Role::Switch && spec.kind_of[node] as usize == kind;
    let ports = (0..degree.len()).filter(|&node| mine(node)).map(|node| degree[node]).max().unwrap_or(0);
    let shared = matches!(switch.buffer, Buffer::Shared { .. });
    match (switch.queueing, &switch.crossbar) {
        (Queueing::Output, Some(_)) => {
            wrong.push("output queueing has no crossbar; remove the crossbar, or queue at the inputs".into());
        }
        (Queueing::Output, None) => {}
        (_, None) => wrong.push("input queueing needs a crossbar; configure how outputs choose among inputs".into()),
        (queueing, Some(crossbar)) => {
            if ports > MAX_PORTS {
                wrong.push(format!("{ports} ports; input queueing supports at most {MAX_PORTS}, use output queueing"));
            }
            if shared {
                wrong.push("a shared buffer works only with output queueing".into());
            }
            let (numerator, denominator) = crossbar.speedup;
            if numerator == 0 || denominator == 0 {
                wrong.push("a crossbar speedup of zero moves no frames; give at least 1".into());
            } else if numerator != denominator && !matches!(queueing, Queueing::Combined { .. }) {
                wrong.push("a speedup needs output queues behind the crossbar; use combined queueing".into());
            }
        }
    }
    if let (Some(Crossbar { speedup: (numerator, denominator), .. }), Forwarding::CutThrough { .. }) =
        (switch.crossbar, switch.forwarding)
        && numerator > denominator
    {
        wrong.push(
            "a crossbar with a speedup cannot cut through: bytes may not have arrived yet; use store-and-forward"
                .into(),
        );
    }
    if switch.crossbar.is_some_and(|crossbar| crossbar.speedup.0 / crossbar.speedup.1.max(1) > 1000) {
        wrong.push("the speedup exceeds 1000; check the numbers".into());
    }
    if switch.pipeline > LONGEST {
        wrong.push(format!("a pipeline delay of {} is too long; check the unit", switch.pipeline));
    }
    if let Queueing::Combined { output_buffer } = switch.queueing {
        let largest = (0..spec.classes.len()).map(|class| largest_taken(spec, class)).max().unwrap_or_default();
        if output_buffer < largest {
            wrong.push(format!("an output buffer of {output_buffer} cannot hold a frame of {largest}; enlarge it"));
        }
    }
    if let Forwarding::CutThrough { header_delay } = switch.forwarding {
        let touches = |cable: &&crate::describe::graph::Cable| mine(cable.a.0 as usize) || mine(cable.b.0 as usize);
        let instant = spec.graph.cables.iter().filter(touches).any(|cable| cable.link.latency == Span::ZERO);
        if header_delay == Span::ZERO && instant {
            wrong.push(
                "cut-through with zero header delay over a zero-latency link; give a header delay or a latency".into(),
            );
        }
    }
    check_egress(&switch.egress, spec.classes.len(), wrong);
    check_watch(spec, switch, ports, wrong);
    let buffers = match &switch.buffer {
        Buffer::Static(buffers) => buffers,
        Buffer::Shared { classes, alpha, total } => {
            if alpha.0 == 0 || alpha.1 == 0 || *total == Bytes::ZERO {
                wrong.push("a shared buffer needs a size and an alpha above zero".into());
            }
            if matches!(switch.flow_control, FlowControl::Credits(_)) {
                wrong.push("credits need reserved buffer space, which a shared buffer does not have; use PFC or a static buffer".into());
            }
            classes
        }
    };
    check_buffers(spec, buffers, switch.flow_control, shared, wrong);
    // At an output the first frame goes to the wire, whatever the queue may hold.
    if switch.queueing != Queueing::Output {
        check_lossy_room(spec, buffers, wrong);
    }
    if let (FlowControl::Pause(_), Some(class)) = (switch.flow_control, spec.classes.iter().find(|c| !c.lossless)) {
        wrong.push(format!("PAUSE stops every class, so class {} cannot be lossy; use PFC", class.name));
    }
    // An output queue can hold what all inputs may.
    let held = buffers.iter().zip(&spec.classes).filter(|(_, class)| class.lossless).map(|(buffer, _)| buffer.capacity);
    if held.max().is_some_and(|most| most.get().saturating_mul(ports as u64) > u64::from(u32::MAX / 2)) {
        wrong.push(format!("{ports} lossless inputs of this capacity hold more than 2 GB; reduce the capacity"));
    }
}

fn check_adapter(spec: &NetworkSpec, adapter: &AdapterSpec, wrong: &mut Vec<String>) {
    check_egress(&adapter.egress, spec.classes.len(), wrong);
    let slow = adapter.service.is_some() || !adapter.service_changes.is_empty();
    if adapter.service_changes.iter().any(|&(at, _)| at > LATEST) {
        wrong.push(format!("a service change is later than {LATEST}, beyond any run; check the units"));
    }
    if slow || matches!(adapter.flow_control, FlowControl::Credits(_)) {
        check_buffers(spec, &adapter.buffer, adapter.flow_control, false, wrong);
        check_lossy_room(spec, &adapter.buffer, wrong);
    } else if adapter.flow_control != FlowControl::None {
        wrong.push("it consumes frames at once, so its PAUSE or PFC never acts; limit its service rate".into());
    }
}

/// Input buffers of lossy classes must hold a frame: else nothing passes.
fn check_lossy_room(spec: &NetworkSpec, buffers: &[ClassBuffer], wrong: &mut Vec<String>) {
    let lossy = spec.classes.iter().zip(buffers).enumerate().filter(|(_, (class, _))| !class.lossless);
    for (number, (class, buffer)) in lossy {
        let largest = largest_taken(spec, number);
        if buffer.capacity < largest {
            let (name, capacity) = (&class.name, buffer.capacity);
            wrong.push(format!("class {name}: a buffer of {capacity} cannot hold a frame of {largest}; enlarge it"));
        }
    }
}

fn check_egress(egress: &Egress, classes: usize, wrong: &mut Vec<String>) {
    let groups = match egress {
        Egress::Strict => return,
        Egress::Groups(groups) => groups,
        Egress::Tables(tables) => return check_tables(tables, classes, wrong),
    };
    let mut seen = 0u8;
    for group in groups {
        if group.classes & seen != 0 {
            wrong.push("a class is in two egress groups; keep it in one".into());
        }
        seen |= group.classes;
        if group.share == (Share::Weighted { quantum: Bytes::ZERO }) {
            wrong.push("a weighted group with a quantum of zero never sends; give it a quantum".into());
        }
    }
    let all = ((1u16 << classes) - 1) as u8;
    if groups.len() > 8 || seen & all != all {
        wrong.push("every class must be in an egress group, and there are at most 8 groups".into());
    }
}

fn check_tables(tables: &VlArbitration, classes: usize, wrong: &mut Vec<String>) {
    if tables.high.len().max(tables.low.len()) > MAX_VL_ENTRIES {
        wrong.push(format!("a virtual-lane arbitration table has at most {MAX_VL_ENTRIES} entries; use fewer"));
    }
    let entries = || tables.high.iter().chain(&tables.low);
    if let Some(entry) = entries().find(|entry| usize::from(entry.class) >= classes) {
        wrong.push(format!(
            "virtual-lane arbitration names class {}, but there are only {classes} classes",
            entry.class
        ));
    }
    let weighs = |class: &usize| entries().any(|entry| usize::from(entry.class) == *class && entry.weight > 0);
    for class in (0..classes).filter(|class| !weighs(class)) {
        wrong
            .push(format!("class {class} has no weight in either arbitration table and never sends; give it a weight"));
    }
}

fn check_pause(pause: PauseSpec, wrong: &mut Vec<String>) {
    if pause.quanta == 0 || pause.refresh_before >= pause.quanta {
        wrong.push(format!(
            "a pause of {} quanta cannot be refreshed {} quanta before it expires; refresh_before must be less than quanta",
            pause.quanta, pause.refresh_before
        ));
    }
}

fn check_buffers(
    spec: &NetworkSpec,
    buffers: &[ClassBuffer],
    control: FlowControl,
    shared: bool,
    wrong: &mut Vec<String>,
) {
    if buffers.len() != spec.classes.len() {
        wrong.push(format!(
            "{} classes but {} class buffers; give one buffer per class",
            spec.classes.len(),
            buffers.len()
        ));
        return;
    }
    match control {
        FlowControl::Pfc(pause) => check_pause(pause, wrong),
        FlowControl::Pause(pause) => {
            check_pause(pause, wrong);
            if buffers.windows(2).any(|pair| pair[0] != pair[1]) {
                wrong.push("PAUSE counts all classes of a port together; give every class the same buffer".into());
            }
            if pause.holds & ((1u16 << spec.classes.len()) - 1) as u8 == 0 {
                wrong.push("this PAUSE stops no class; name at least one".into());
            }
        }
        FlowControl::Credits(credits) => {
            if let CreditReturn::Frame { size, refresh } = credits.give_back {
                if refresh == Some(Span::ZERO) {
                    wrong.push(
                        "a credit refresh interval of zero; remove the refresh, or give it a time above zero".into(),
                    );
                }
                if size.get() > 65_000 {
                    wrong.push(format!("a credit frame of {size} is too large; give at most 65000B"));
                }
            }
            if credits.unit == CreditUnit::Block(Bytes::ZERO) {
                wrong.push("a credit of zero bytes; InfiniBand uses 64B".into());
            }
            if credits.give_back == (CreditReturn::Signal { delay: Span::ZERO }) {
                wrong.push("a credit signal needs a delay above zero".into());
            }
            if matches!(credits.give_back, CreditReturn::Frame { size, .. } if size == Bytes::ZERO) {
                wrong.push("a credit frame of zero bytes; give it a size".into());
            }
        }
        FlowControl::None => {}
    }
    for (number, (class, buffer)) in spec.classes.iter().zip(buffers).enumerate() {
        let name = &class.name;
        let largest = largest_taken(spec, number);
        if buffer.alpha.is_some_and(|alpha| alpha.0 == 0 || alpha.1 == 0) {
            wrong.push(format!("class {name}: an alpha of zero; give one above zero"));
        }
        if buffer.capacity.get() > u64::from(u32::MAX / 2) {
            wrong.push(format!(
                "class {name}: the buffer exceeds 2 GB; give at most {}",
                Bytes::new(u64::from(u32::MAX / 2))
            ));
        }
        match control {
            FlowControl::None if class.lossless => {
                wrong.push(format!("class {name} is lossless but has no flow control; add flow control"));
            }
            FlowControl::Pause(_) | FlowControl::Pfc(_)
                if (class.lossless || matches!(control, FlowControl::Pause(_))) && !shared =>
            {
                if buffer.xon > buffer.xoff {
                    wrong.push(format!(
                        "class {name}: XON {} exceeds XOFF {}; lower XON or raise XOFF",
                        buffer.xon, buffer.xoff
                    ));
                }
                if buffer.xoff >= buffer.capacity {
                    wrong.push(format!(
                        "class {name}: XOFF {} leaves no headroom in a buffer of {}; lower XOFF",
                        buffer.xoff, buffer.capacity
                    ));
                }
            }
            FlowControl::Credits(credits) if class.lossless => {
                let enough = match credits.unit {
                    CreditUnit::Frame => buffer.capacity >= Bytes::new(1),
                    CreditUnit::Block(block) => {
                        let block = block.get().max(1);
                        buffer.capacity.get() >= largest.get().div_ceil(block) * block
                    }
                };
                if !enough {
                    wrong.push(format!(
                        "class {name}: a buffer of {} cannot hold a frame of {largest}",
                        buffer.capacity
                    ));
                }
            }
            _ => {}
        }
    }
}
