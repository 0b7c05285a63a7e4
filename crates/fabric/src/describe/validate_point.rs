//! Congestion points and reliable delivery that cannot be built, and why.

use crate::describe::graph::{NodeId, Role};
use crate::describe::spec::{
    Buffer, BypassReading, CongestionPointSpec, FlowControl, NetworkSpec, Order, PfcWatchdogSpec, Queueing, SwitchSpec,
};
use crate::describe::validate::LATEST;
use congestion::CongestionPoint;
use units::{Bytes, Span, Time};

/// Whether all switches with hosts, which are the far sides of the fabric, send receipts.
fn reliable_at_hosts(spec: &NetworkSpec) -> bool {
    let role = |node: NodeId| spec.graph.nodes[node.0 as usize].role;
    let silent = |node: NodeId| {
        let watch = &spec.switches[spec.kind_of[node.0 as usize] as usize].congestion_point;
        role(node) == Role::Switch && !watch.as_ref().is_some_and(|watch| watch.reliable)
    };
    let ends = spec.graph.cables.iter().flat_map(|cable| [(cable.a, cable.b), (cable.b, cable.a)]);
    !ends.into_iter().any(|(near, far)| role(far) == Role::Host && silent(near))
}

/// The PFC watchdog of a switch or of one of its ports.
pub(super) fn check_watchdog(watchdog: Option<&PfcWatchdogSpec>, switch: &SwitchSpec, wrong: &mut Vec<String>) {
    let Some(watchdog) = watchdog else { return };
    if !matches!(switch.flow_control, FlowControl::Pfc(_)) || switch.queueing != Queueing::Output {
        wrong.push("a PFC watchdog needs PFC and output queueing; choose both, or remove the watchdog".into());
    }
    if switch.congestion_point.as_ref().is_some_and(|watch| watch.reliable) {
        wrong.push(
            "a PFC watchdog drops frames, and reliable delivery would never free their copies; remove one of the two"
                .into(),
        );
    }
    let PfcWatchdogSpec { detection, restoration, poll, .. } = *watchdog;
    if detection == Span::ZERO || restoration == Span::ZERO {
        wrong.push("a PFC watchdog needs a detection and a restoration time above zero".into());
    }
    if detection.max(restoration) > LATEST.saturating_since(Time::ZERO) {
        wrong.push("a PFC watchdog has a time beyond any run; check the unit".into());
    }
    // As `pfcwd interval` of SONiC has it.
    if poll > detection.min(restoration) {
        wrong.push(format!(
            "a poll interval of {poll} exceeds the detection or restoration time of the PFC watchdog; shorten it"
        ));
    }
}

/// What a switch does to the frames in it beside forwarding: overtaking, turns of destinations, congestion points.
pub(super) fn check_watch(spec: &NetworkSpec, switch: &SwitchSpec, ports: usize, wrong: &mut Vec<String>) {
    if let Queueing::InputFifo { bypass, reading: BypassReading::PerPacket } = switch.queueing
        && bypass > crate::machine::frame::MOST_OVERTAKEN
    {
        let most = crate::machine::frame::MOST_OVERTAKEN;
        wrong.push(format!(
            "a frame can be overtaken at most {most} times; lower the bypass, or use the lookahead reading"
        ));
    }
    if switch.order != Order::Arrival && switch.queueing != Queueing::Output {
        wrong.push(
            "destinations take turns in output queues only; use output queueing, or serve frames in order of arrival"
                .into(),
        );
    }
    check_watchdog(switch.pfc_watchdog.as_ref(), switch, wrong);
    let Some(watch) = &switch.congestion_point else { return };
    if usize::from(watch.notice_class) >= spec.classes.len() {
        wrong.push(format!(
            "notices use class {}, but there are only {} classes",
            watch.notice_class,
            spec.classes.len()
        ));
    }
    if watch.tells() && (watch.notice_size < spec.smallest_frame || watch.notice_size.get() > 65_000) {
        let (size, least) = (watch.notice_size, spec.smallest_frame);
        wrong.push(format!("notices of {size} are out of range; give {least} to 65000B"));
    }
    check_discards(spec, switch, watch, wrong);
    if watch.unit == Bytes::ZERO || watch.unit.get() > 65_000 {
        wrong.push(format!("feedback units of {} are out of range; give 1B to 65000B", watch.unit));
    }
    if watch.reliable && matches!(switch.buffer, Buffer::Shared { .. }) {
        wrong.push("reliable delivery keeps copies in the ingress buffer; use a static buffer".into());
    }
    if let Some(host) = spec.graph.multihomed().next().filter(|_| watch.reliable) {
        let name = &spec.graph.nodes[host.0 as usize].name;
        wrong.push(format!(
            "receipts return by the link of the source, but {name} has several; give every host one link"
        ));
    }
    if watch.reliable && !reliable_at_hosts(spec) {
        wrong.push("reliable delivery needs receipts; enable it on all switches with hosts".into());
    }
    if watch.reliable {
        check_receipts(spec, watch, wrong);
    }
    if ports >= 1 << 16 {
        wrong.push(format!("{ports} ports; a congestion point supports at most 65,535"));
    }
    let direct = matches!(switch.queueing, Queueing::InputFifo { .. } | Queueing::VirtualOutput);
    let marking = watch.point.as_ref().is_some_and(CongestionPoint::judges_joining);
    if marking && switch.pipeline > Span::ZERO {
        wrong.push("this congestion point marks frames as they join a buffer; remove the pipeline delay".into());
    }
    if marking && !direct {
        wrong.push(
            "this congestion point needs ingress buffers that feed the outputs directly; use input-fifo or virtual-output queueing"
                .into(),
        );
    }
}

/// Reliable delivery loses nothing: a copy of a frame that is dropped, or whose receipt is, would be kept for ever.
fn check_receipts(spec: &NetworkSpec, watch: &CongestionPointSpec, wrong: &mut Vec<String>) {
    let lossy = |class: u8| spec.classes.get(usize::from(class)).filter(|class| !class.lossless);
    if let Some(class) = lossy(watch.notice_class) {
        wrong.push(format!(
            "receipts use class {}, which is lossy: a switch would never free the copy of a frame whose receipt is \
             dropped; choose a lossless notice_class",
            class.name
        ));
    }
    if let Some(class) = spec.flows.iter().find_map(|flow| lossy(flow.class)) {
        wrong.push(format!(
            "reliable delivery keeps a copy of every frame until it has arrived, but class {} is lossy: the copy of a \
             dropped frame would never be freed; make the class lossless, or remove reliable_delivery",
            class.name
        ));
    }
}

/// A congestion point that drops or trims frames: it does so in lossy classes, before they join an output queue.
fn check_discards(spec: &NetworkSpec, switch: &SwitchSpec, watch: &CongestionPointSpec, wrong: &mut Vec<String>) {
    let classes = watch.point.as_ref().map_or(0, CongestionPoint::discards);
    if classes == 0 {
        return;
    }
    let named = |class: &usize| classes >> class & 1 == 1;
    if let Some(class) = (0..spec.classes.len()).filter(named).find(|&class| spec.classes[class].lossless) {
        let name = &spec.classes[class].name;
        wrong.push(format!(
            "this congestion point drops or trims frames of class {name}, which is lossless; restrict it to lossy classes"
        ));
    }
    if switch.queueing != Queueing::Output || switch.order != Order::Arrival {
        wrong.push(
            "a congestion point that drops or trims frames needs one queue per output; use output queueing and serve \
             frames in order of arrival"
                .into(),
        );
    }
    if watch.reliable {
        wrong
            .push("reliable delivery keeps every frame; remove it, or the congestion point that drops or trims".into());
    }
    if !watch.trims() {
        return;
    }
    let (class, size) = (usize::from(watch.trim_class), watch.trim_size);
    if class >= spec.classes.len() || named(&class) {
        wrong.push(format!(
            "trimmed frames use class {class}, which must exist and not be trimmed itself; name another class"
        ));
    }
    if size < spec.smallest_frame || size.get() > 65_000 {
        wrong.push(format!("trimmed frames of {size} are out of range; give {} to 65000B", spec.smallest_frame));
    }
    let trimmed = spec.flows.iter().filter(|flow| named(&usize::from(flow.class)));
    if let Some(frame) = trimmed.map(|flow| flow.frame).max().filter(|&frame| frame <= size) {
        let least = spec.smallest_frame.max(Bytes::new(64));
        wrong.push(format!(
            "trimmed frames of {size} are not shorter than the frames that are trimmed, {frame} at most: trimming would \
             save nothing; give less, such as {least}"
        ));
    }
}
