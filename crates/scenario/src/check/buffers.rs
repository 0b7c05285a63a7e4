//! Checks of headroom, thresholds and credits against the requirements of the cables.

use super::{Finding, Findings, Severity};
use crate::keys::buffers::LARGEST_BUFFER;
use crate::lower::buffers::header_delays;
use crate::lower::frames::LargestFrames;
use crate::plan::Plan;
use fabric::graph::{Node, NodeId, Role};
use fabric::spec::{Buffer, ClassBuffer, CreditUnit, FlowControl, Forwarding, PauseSpec};
use std::collections::BTreeMap;
use theory::headroom::{Breakdown, HeadroomSpec, Medium, headroom};
use units::{Bytes, Rate, Span};

/// Bytes per pause quantum of 512 bit times.
const QUANTUM: u64 = 64;

/// A kind of device as a receiver.
struct Receiver<'a> {
    /// Its section.
    section: String,
    control: FlowControl,
    buffers: &'a [ClassBuffer],
    shared: bool,
    /// Classes with PFC; bit n is class n.
    pfc: u8,
}

/// What ports have in common: of a host or not, their kind, the classes with PFC and the buffers that differ from those of
/// the kind, as a position in [`own_buffers`].
type Alike = (bool, u32, u8, usize);

pub(super) fn check(plan: &Plan, findings: &mut Findings) {
    let mut frames = LargestFrames::new(&plan.spec.graph, &plan.spec.flows, plan.spec.classes.len());
    // Notices and receipts are usually among the smallest frames, and default thresholds leave them out; larger ones take
    // the room of a data frame.
    let data = frames.of_all.iter().copied().max().unwrap_or_default();
    let points = plan.spec.switches.iter().filter_map(|switch| switch.congestion_point.as_ref());
    for point in points.filter(|point| point.tells() && point.notice_size > data) {
        frames.everywhere(point.notice_class, point.notice_size);
    }
    if let Some(largest) = plan.largest_frame {
        let lossless = plan.spec.classes.iter().enumerate().filter(|(_, class)| class.lossless);
        lossless.for_each(|(class, _)| frames.everywhere(class as u8, largest));
    }
    let largest = &frames.of_all;
    let own = own_buffers(plan);
    for (alike, links) in links(plan, &own, &frames) {
        let Some(receiver) = receiver(plan, alike, &own) else { continue };
        thresholds(plan, &receiver, largest, findings);
        if let FlowControl::Pause(pause) | FlowControl::Pfc(pause) = receiver.control {
            room_after_xoff(plan, &receiver, &links, pause, findings);
        }
        for ((rate, latency, header), cables) in
            merged(&links, |(rate, latency, header, ..)| (*rate, *latency, *header))
        {
            let port = Port { rate, latency, header, reverse: Bytes::ZERO, cables, example: example(plan, cables) };
            match receiver.control {
                FlowControl::Pause(pause) | FlowControl::Pfc(pause) => {
                    renewal(plan, &receiver, &port, pause, largest, findings);
                }
                FlowControl::Credits(credits) => {
                    if let CreditUnit::Block(_) = credits.unit {
                        credit_loop(plan, &receiver, &port, largest, findings);
                    }
                }
                FlowControl::None => {}
            }
        }
    }
}

/// Ports with the same properties.
struct Port<'a> {
    rate: Rate,
    latency: Span,
    /// Time that both ends wait for a header.
    header: Span,
    /// Largest frame in the way of a pause.
    reverse: Bytes,
    cables: Cables,
    example: &'a str,
}

impl Port<'_> {
    /// The ports by an example.
    fn place(&self) -> String {
        let others = match self.cables.ports {
            0 | 1 => String::new(),
            2 => " and 1 more port".into(),
            ports => format!(" and {} more ports", ports - 1),
        };
        format!("at {}{others}", self.example)
    }

    /// The same with their link.
    fn describe(&self) -> String {
        format!("{} ({}, latency {})", self.place(), self.rate, self.latency)
    }
}

/// Number of ports with a cable, a node that has it, and whether one of them damages frames.
#[derive(Clone, Copy)]
struct Cables {
    ports: u64,
    example: NodeId,
    errors: bool,
}

/// Rate, latency, wait for headers, the largest frame of each class that comes, and the largest in the way of a pause.
type Link = (Rate, Span, Span, Vec<Bytes>, Bytes);
type Links = BTreeMap<Link, Cables>;

/// The cables that are alike in some of their properties.
fn merged<K: Ord>(links: &Links, key: impl Fn(&Link) -> K) -> BTreeMap<K, Cables> {
    let mut merged: BTreeMap<K, Cables> = BTreeMap::new();
    for (link, cables) in links {
        let known = merged.entry(key(link)).or_insert(Cables { ports: 0, ..*cables });
        known.ports += cables.ports;
        known.errors |= cables.errors;
        known.example = known.example.min(cables.example);
    }
    merged
}

fn example(plan: &Plan, cables: Cables) -> &str {
    plan.spec.graph.nodes[cables.example.0 as usize].name.as_str()
}

/// Returns the distinct buffers of ports that differ from those of their kind.
fn own_buffers(plan: &Plan) -> Vec<&[ClassBuffer]> {
    let mut distinct: Vec<&[ClassBuffer]> = Vec::new();
    for buffers in plan.spec.ports.iter().filter_map(|port| port.buffers.as_deref()) {
        if !distinct.contains(&buffers) {
            distinct.push(buffers);
        }
    }
    distinct
}

/// Returns the distinct cables of every kind of port.
fn links(plan: &Plan, own: &[&[ClassBuffer]], frames: &LargestFrames) -> BTreeMap<Alike, Links> {
    let mut links: BTreeMap<Alike, Links> = BTreeMap::new();
    let apart: BTreeMap<(NodeId, u16), (u8, usize)> = plan
        .spec
        .ports
        .iter()
        .map(|port| {
            let buffers = port.buffers.as_deref();
            let number = buffers.and_then(|buffers| own.iter().position(|known| *known == buffers));
            ((port.node, port.port), (port.pfc, number.map_or(0, |number| number + 1)))
        })
        .collect();
    let mut next = vec![0_u16; plan.spec.graph.nodes.len()];
    let header = |(node, kind): (&Node, &u32)| match plan.spec.switches.get(*kind as usize).map(|it| it.forwarding) {
        Some(Forwarding::CutThrough { header_delay }) if node.role == Role::Switch => header_delay,
        _ => Span::ZERO,
    };
    let graph = &plan.spec.graph;
    let headers: Vec<Span> = graph.nodes.iter().zip(&plan.spec.kind_of).map(header).collect();
    for (cable, header) in graph.cables.iter().zip(header_delays(graph, &headers)) {
        for (end, far) in [(cable.a, cable.b), (cable.b, cable.a)] {
            let node = end.0 as usize;
            // Ports are numbered in the order of the cables.
            let number = next[node];
            next[node] += 1;
            let (pfc, buffers) = apart.get(&(end, number)).copied().unwrap_or((u8::MAX, 0));
            let key = (plan.spec.graph.nodes[node].role == Role::Host, plan.spec.kind_of[node], pfc, buffers);
            let (arriving, reverse) = (frames.arriving(graph, end, far).to_vec(), frames.in_the_way(graph, end, far));
            let link = (cable.link.rate, cable.link.latency, header, arriving, reverse);
            let cables = links.entry(key).or_default().entry(link);
            let alike = cables.or_insert(Cables { ports: 0, example: end, errors: false });
            alike.ports += 1;
            alike.errors |= cable.link.bit_error_rate > 0.0;
        }
    }
    links
}

fn receiver<'a>(plan: &'a Plan, alike: Alike, own: &[&'a [ClassBuffer]]) -> Option<Receiver<'a>> {
    let (host, kind, pfc, number) = alike;
    if host {
        let adapter = plan.spec.adapters.get(kind as usize)?;
        // Without a buffer it consumes at once.
        let section = format!("adapters[{kind}]");
        (!adapter.buffer.is_empty()).then_some(Receiver {
            section,
            control: adapter.flow_control,
            buffers: &adapter.buffer,
            shared: false,
            pfc,
        })
    } else {
        let switch = plan.spec.switches.get(kind as usize)?;
        let (buffers, shared) = match &switch.buffer {
            Buffer::Static(buffers) => (buffers.as_slice(), false),
            Buffer::Shared { classes, .. } => (classes.as_slice(), true),
        };
        let buffers = number.checked_sub(1).and_then(|number| own.get(number)).copied().unwrap_or(buffers);
        Some(Receiver { section: format!("switches[{kind}]"), control: switch.flow_control, buffers, shared, pfc })
    }
}

fn room_after_xoff(plan: &Plan, receiver: &Receiver<'_>, links: &Links, pause: PauseSpec, findings: &mut Findings) {
    let whole_link = matches!(receiver.control, FlowControl::Pause(_));
    for (class, spec) in plan.spec.classes.iter().enumerate() {
        // A PAUSE stops all classes together, and they share the room of the first.
        let paused = spec.lossless && (whole_link || receiver.pfc >> class & 1 == 1);
        if !paused || (whole_link && class > 0) {
            continue;
        }
        let alike = merged(links, |(rate, latency, header, arriving, reverse)| {
            let frame = match whole_link {
                true => arriving.iter().copied().max(),
                false => arriving.get(class).copied(),
            };
            (*rate, *latency, *header, frame.unwrap_or_default(), *reverse)
        });
        // The fastest and longest first, so that the first remedy is enough for all.
        for ((rate, latency, header, frame, reverse), cables) in alike.into_iter().rev() {
            if frame > Bytes::ZERO {
                let port = Port { rate, latency, header, reverse, cables, example: example(plan, cables) };
                room_of_class(plan, receiver, (class, frame), &port, pause, findings);
            }
        }
    }
}

fn room_of_class(
    plan: &Plan,
    receiver: &Receiver<'_>,
    (class, frame): (usize, Bytes),
    port: &Port<'_>,
    pause: PauseSpec,
    findings: &mut Findings,
) {
    if let (Some(spec), Some(buffer)) = (plan.spec.classes.get(class), receiver.buffers.get(class)) {
        let response = pause.longest_response();
        let question = HeadroomSpec::simulated(port.rate, port.latency, response, port.reverse, frame);
        let terms = headroom(&HeadroomSpec { overhead: plan.spec.overhead, header_delay: port.header, ..question });
        let needed = terms.above_threshold();
        let (have, words) = if receiver.shared {
            (buffer.headroom, format!("headroom {}", buffer.headroom))
        } else {
            let room = Bytes::new(buffer.capacity.get().saturating_sub(buffer.xoff.get()));
            (room, format!("capacity {} - xoff {} = {room}", buffer.capacity, buffer.xoff))
        };
        let subject = format!("{} class {}", receiver.section, spec.name);
        let place = port.place();
        let sum = |terms: &Breakdown| format!("{words}; at {}, latency {}: {terms}", port.rate, port.latency);
        if port.cables.errors && have >= needed {
            let room = Room { needed, have, buffer, shared: receiver.shared, frame };
            lost_stop(&subject, &place, pause, &room, findings);
        }
        if have < needed {
            let remedy = match (receiver.shared, terms.xoff_for(buffer.capacity)) {
                (true, _) => format!("set headroom = \"{needed}\""),
                (false, Some(xoff)) => {
                    format!("set xoff = \"{xoff}\", or capacity = \"{}\"", terms.buffer_for(buffer.xoff))
                }
                (false, None) => format!("set capacity = \"{}\"", terms.buffer_for(buffer.xoff)),
            };
            let message = format!("may lose frames: {have} of headroom, but {needed} can arrive after XOFF {place}");
            findings.add_computed(Finding { severity: Severity::Error, subject, message, remedy }, sum(&terms));
        } else {
            let hardware = hardware(plan, port, response, frame);
            let wanted = hardware.above_threshold();
            let (severity, message, remedy) = if have >= wanted {
                (Severity::Note, format!("enough headroom: {have}; hardware may need {wanted} {place}"), String::new())
            } else if plan.largest_frame.is_some() {
                // The network is a real one, of which a run without loss says little.
                let message = format!(
                    "may lose frames on hardware: {have} of headroom; hardware with the delays that IEEE 802.1Qbb and 802.3 \
                     allow needs up to {wanted} {place}, and {needed} without any"
                );
                let remedy = match receiver.shared {
                    true => format!("set headroom = \"{wanted}\""),
                    false => format!("set capacity = \"{}\"", hardware.buffer_for(buffer.xoff)),
                };
                (Severity::Warning, message, remedy)
            } else {
                let message = format!(
                    "enough headroom for this run: {have}, {needed} needed; hardware may need {wanted} {place}"
                );
                (Severity::Note, message, String::new())
            };
            findings.add_computed(Finding { severity, subject, message, remedy }, sum(&hardware));
        }
    }
}

/// The requirements of real hardware: a simulated interface takes no time, and a simulated sender takes the time
/// `response`.
fn hardware(plan: &Plan, port: &Port<'_>, response: Span, frame: Bytes) -> Breakdown {
    let spec = HeadroomSpec::hardware_over(port.rate, port.latency, Medium::Optical, frame);
    let response_delay = spec.response_delay.max(response);
    let (largest_reverse_frame, overhead, header_delay) = (port.reverse, plan.spec.overhead, port.header);
    headroom(&HeadroomSpec { largest_reverse_frame, overhead, header_delay, response_delay, ..spec })
}

/// Buffer space above a threshold.
struct Room<'a> {
    /// Bytes that may arrive after XOFF.
    needed: Bytes,
    /// Available bytes.
    have: Bytes,
    buffer: &'a ClassBuffer,
    shared: bool,
    /// The largest frame of the class.
    frame: Bytes,
}

/// Checks that the headroom suffices if an XOFF is lost on the cable; the next one is sent when the pause is renewed.
fn lost_stop(subject: &str, place: &str, pause: PauseSpec, room: &Room<'_>, findings: &mut Findings) {
    let spare = Bytes::new(room.have.get() - room.needed.get());
    let wait = Bytes::new(u64::from(pause.quanta - pause.refresh_before) * QUANTUM);
    if wait <= spare {
        return;
    }
    let message = format!(
        "bit errors may cause loss: if an XOFF is damaged, the next one follows {} quanta later; {wait} can arrive \
         meanwhile {place}, and only {spare} of headroom is to spare",
        pause.quanta - pause.refresh_before,
    );
    let more = wait.get() - spare.get();
    let lower = room.buffer.xoff.get().checked_sub(more).filter(|xoff| *xoff >= room.frame.get());
    let larger = room.buffer.capacity.get() + more;
    let mut remedies = Vec::new();
    match lower {
        _ if room.shared => remedies.push(format!("set headroom = \"{}\"", Bytes::new(room.have.get() + more))),
        Some(xoff) => remedies.push(format!("set xoff = \"{}\"", Bytes::new(xoff))),
        None if larger <= LARGEST_BUFFER => {
            remedies.push(format!("set capacity = \"{}\" and xoff = \"{}\"", Bytes::new(larger), room.buffer.xoff));
        }
        None => {}
    }
    // Less than a quantum to spare outlasts no pause, however short.
    if let quanta @ 1.. = spare.get() / QUANTUM {
        remedies.push(format!("set refresh_before = {}", u64::from(pause.quanta) - quanta));
    }
    findings.add(Severity::Warning, subject, message, remedies.join(", or "));
}

/// Checks that a pause is renewed before it expires; its frame may wait behind one of maximum size.
fn renewal(
    plan: &Plan,
    receiver: &Receiver<'_>,
    port: &Port<'_>,
    pause: PauseSpec,
    largest: &[Bytes],
    findings: &mut Findings,
) {
    let paused = plan.spec.classes.iter().zip(largest).any(|(class, frame)| class.lossless && *frame > Bytes::ZERO);
    let Some(wait) = largest.iter().max().filter(|_| paused).map(|&frame| frame + plan.spec.overhead) else { return };
    let quanta = wait.get().div_ceil(QUANTUM);
    if u64::from(pause.refresh_before) >= quanta {
        return;
    }
    let message = format!(
        "may lose frames: a pause is refreshed {} quanta before it expires, but the PFC frame may wait {quanta} quanta \
         behind a data frame {}",
        pause.refresh_before,
        port.describe(),
    );
    let remedy = match u64::from(pause.quanta) > quanta {
        true => format!("set refresh_before = {quanta} or more"),
        false => format!("set quanta above {quanta} and refresh_before = {quanta} or more"),
    };
    findings.add(Severity::Error, format!("{}.pause", receiver.section), message, remedy);
}

/// Checks that credits return in time to keep a cable busy.
fn credit_loop(plan: &Plan, receiver: &Receiver<'_>, port: &Port<'_>, largest: &[Bytes], findings: &mut Findings) {
    for ((spec, buffer), &frame) in plan.spec.classes.iter().zip(receiver.buffers).zip(largest) {
        if !spec.lossless || frame == Bytes::ZERO {
            continue;
        }
        // Out, a frame stored, the credit back behind another frame.
        let bits = (frame + plan.spec.overhead).bits() as f64 * 2.0;
        let rate = port.rate.as_bits_per_sec() as f64;
        let loop_seconds = bits / rate + 2.0 * port.latency.as_secs_f64();
        let covered = buffer.capacity.bits() as f64 / (loop_seconds * rate);
        if covered < 1.0 {
            let message = format!(
                "{} of credits cover only {:.0} % of the round trip {}; the link cannot be fully used",
                buffer.capacity,
                covered * 100.0,
                port.describe()
            );
            let wanted = Bytes::new((loop_seconds * rate / 8.0) as u64 + 1);
            findings.add(
                Severity::Warning,
                format!("{} class {}", receiver.section, spec.name),
                message,
                format!("set capacity to about {wanted}"),
            );
        }
    }
}

fn thresholds(plan: &Plan, receiver: &Receiver<'_>, largest: &[Bytes], findings: &mut Findings) {
    let pauses = matches!(receiver.control, FlowControl::Pause(_) | FlowControl::Pfc(_));
    let slots = matches!(receiver.control, FlowControl::Credits(credits) if credits.unit == CreditUnit::Frame);
    for ((spec, buffer), &frame) in plan.spec.classes.iter().zip(receiver.buffers).zip(largest) {
        let subject = || format!("{} class {}", receiver.section, spec.name);
        let paused = pauses && spec.lossless && !receiver.shared;
        if paused && buffer.xoff < frame {
            let message =
                format!("xoff {} is smaller than one frame of {frame}; every frame pauses the sender", buffer.xoff);
            findings.add(Severity::Warning, subject(), message, "raise xoff to a few frames");
        }
        if paused && buffer.xon == buffer.xoff {
            let message = format!("xon equals xoff ({}): the sender is paused and resumed frame by frame", buffer.xon);
            findings.add(Severity::Note, subject(), message, "set xon a few frames below xoff");
        }
        if !receiver.shared && !slots && buffer.capacity < frame {
            let message = format!("a buffer of {} cannot hold a frame of {frame}", buffer.capacity);
            findings.add(Severity::Error, subject(), message, "increase capacity");
        }
    }
}
