//! What is wrong with a flow.

use crate::describe::error::BuildError;
use crate::describe::spec::{Multipath, NetworkSpec};
use crate::describe::validate::LATEST;
use crate::describe::workload::{Activity, Dependency, Destination, FlowSpec, Gaps, Pattern};
use congestion::{Adapter, Demand, Pulling, Reaction, ReactionPoint};
use transport::Sender;
use units::{Bytes, Rate, Span, Time};

pub(super) fn check_flow(
    spec: &NetworkSpec,
    hosts: usize,
    flow: &FlowSpec,
    reaction: &Reaction,
    wrong: &mut Vec<String>,
) {
    let known = |host: u32| (host as usize) < hosts;
    let destinations: &[crate::describe::graph::HostId] = match &flow.destination {
        Destination::Host(host) => std::slice::from_ref(host),
        Destination::Uniform => &flow.hosts,
    };
    if destinations.is_empty() {
        wrong.push("it has no destination; name a host".into());
    }
    if !known(flow.source.0) || destinations.iter().any(|host| !known(host.0)) {
        wrong.push(format!("source or destination is not one of the {hosts} hosts"));
    }
    if destinations.contains(&flow.source) {
        wrong.push("its destination is its own source; name another host".into());
    }
    if usize::from(flow.class) >= spec.classes.len() {
        wrong.push(format!("it uses class {}, but there are only {} classes", flow.class, spec.classes.len()));
    }
    if flow.frame == Bytes::ZERO || flow.frame.get() > 65_000 {
        wrong.push(format!("frames of {} are out of range; give 1B to 65000B", flow.frame));
    }
    check_added(flow, reaction, wrong);
    let acknowledgement = flow.acknowledge.map(|how| how.size);
    if let Some(size) =
        [Some(flow.frame), acknowledgement].into_iter().flatten().find(|&size| size < spec.smallest_frame)
    {
        wrong.push(format!(
            "frames of {size} are smaller than the smallest frame of this network, {}",
            spec.smallest_frame
        ));
    }
    if flow.start > LATEST || flow.stop.is_some_and(|stop| stop > LATEST) {
        wrong.push(format!("it starts or stops later than {LATEST}, beyond any run; check the units"));
    }
    if let Some(probe) = flow.path_probe {
        let classes = spec.classes.len();
        if usize::from(probe.class.max(probe.answer_class)) >= classes {
            wrong.push(format!("its probes use a class that does not exist; there are {classes} classes"));
        }
        if probe.size < spec.smallest_frame || probe.size.get() > 65_000 {
            wrong.push(format!("probes of {} are out of range; give {} to 65000B", probe.size, spec.smallest_frame));
        }
        if matches!(flow.destination, Destination::Uniform) {
            wrong.push("probes need a single destination, but this flow has many; give it one".into());
        }
    } else if reaction.path_probes().is_some() {
        wrong.push("its congestion control sends probes; configure them with `probe`".into());
    }
    let trees = spec.routes.trees();
    match flow.tree {
        Some(tree) if trees == 0 => {
            wrong.push(format!("there is no tree {tree}: the routing does not use trees; remove `tree`"));
        }
        Some(tree) if tree >= trees => {
            wrong.push(format!("there is no tree {tree}: the routing has {trees}, numbered from 0"));
        }
        Some(_)
            if spec.multipath == Multipath::Spray || reaction.pulling().is_some() || flow.path_selection.is_some() =>
        {
            wrong.push(
                "frames are sprayed over all trees, but the flow names one; remove one of the two settings".into(),
            );
        }
        _ => {}
    }
    if flow.requeue_oracle.is_some_and(|after| after == Span::ZERO || after > LATEST - Time::ZERO) {
        wrong.push("its retransmission delay must be above zero and shorter than the run".into());
    }
    if flow.size == Some(Bytes::ZERO) {
        wrong.push("its size is zero; give at least 1B, or no size".into());
    }
    if flow.stop.is_some_and(|stop| stop <= flow.start) {
        wrong.push("it stops before it starts; swap the times".into());
    }
    if let Pattern::Paced { rate, gaps, .. } = flow.pattern {
        if rate == Rate::ZERO {
            wrong.push("its rate is zero; give a rate above zero".into());
        }
        if matches!(gaps, Gaps::Jittered(fraction) if !(0.0..=1.0).contains(&fraction)) {
            wrong.push("its jitter must be between 0 and 1".into());
        }
    }
    if let Activity::OnOff { on, off, .. } = flow.activity
        && (on == Span::ZERO || off == Span::ZERO || on.max(off) > LATEST - Time::ZERO)
    {
        wrong.push(format!("its bursts and silences must be above zero and shorter than {LATEST}"));
    }
    if let (Some(how), Destination::Uniform) = (flow.acknowledge, &flow.destination)
        && how.every > 1
    {
        wrong.push("frames to many destinations are acknowledged one by one; set `every` to 1".into());
    }
    if let (Some(how), Some(window)) = (flow.acknowledge, reaction.allowance().window)
        && window.get() < u64::from(how.every).saturating_mul(flow.frame.get())
        && how.every > 1
        && how.delay.is_none()
    {
        let needed = Bytes::new(u64::from(how.every).saturating_mul(flow.frame.get()));
        wrong.push(format!(
            "a window of {window} closes before {} frames can be acknowledged together; give at least {needed}, or a \
             delay after which fewer are acknowledged",
            how.every
        ));
    }
    let lossy = spec.classes.get(usize::from(flow.class)).is_some_and(|class| !class.lossless);
    if reaction.allowance().window.is_some() && lossy && !flow.is_reliable() {
        wrong.push(
            "a window in a lossy class closes permanently after a drop, since nothing is retransmitted; choose a recovery \
             such as go-back-n, or use a lossless class"
                .into(),
        );
    }
    check_recovery(spec, flow, wrong);
    check_path_selection(spec, flow, wrong);
    check_pulls(spec, flow, reaction, wrong);
    match flow.acknowledge {
        None if reaction.allowance().window.is_some() => {
            wrong.push("its window needs acknowledgements; enable them".into());
        }
        Some(how) if usize::from(how.class) >= spec.classes.len() || how.size == Bytes::ZERO || how.every == 0 => {
            wrong.push("acknowledgements need a size, an existing class and `every` of at least 1".into());
        }
        Some(how) if how.size.get() > 65_000 => {
            wrong.push("its acknowledgements exceed 65000B; give a smaller size".into())
        }
        _ => {}
    }
}

/// What is wrong with flows that wait for others.
pub(super) fn check_dependencies(spec: &NetworkSpec) -> Vec<BuildError> {
    let mut errors = Vec::new();
    for error in spec.dependencies.errors(&spec.flows) {
        let (what, help) = error.describe(|flow| format!("flow {flow}"));
        errors.push(BuildError::Flow { flow: error.flow() as usize, reason: format!("{what}; {help}") });
    }
    for Dependency { flow, delay, .. } in spec.dependencies.iter() {
        if delay > LATEST - Time::ZERO {
            let reason = "its delay after the flows it waits for is longer than any run; check the units".into();
            errors.push(BuildError::Flow { flow: flow as usize, reason });
        }
    }
    errors
}

fn check_recovery(spec: &NetworkSpec, flow: &FlowSpec, wrong: &mut Vec<String>) {
    if let (Some(how), Destination::Uniform) = (flow.acknowledge, &flow.destination)
        && how.delay.is_some()
    {
        wrong.push("frames to many destinations are acknowledged at once; remove the delay".into());
    }
    if flow.acknowledge.is_some_and(|how| how.delay.is_some_and(|delay| delay > LATEST - Time::ZERO)) {
        wrong.push("its acknowledgements are delayed longer than any run; check the units".into());
    }
    if let (Some(_), Destination::Uniform) = (flow.notify, &flow.destination) {
        wrong.push("congestion notifications need a single destination, but this flow has many; give it one".into());
    }
    if let Some(how) = flow.notify
        && (usize::from(how.class) >= spec.classes.len() || how.size < spec.smallest_frame || how.size.get() > 65_000)
    {
        wrong.push(format!(
            "congestion notifications need an existing class and a size from {} to 65000B",
            spec.smallest_frame
        ));
    }
    if flow.recovery.is_none() {
        return;
    }
    if matches!(flow.destination, Destination::Uniform) {
        wrong.push("recovery needs a single destination, but this flow has many; give it one".into());
    }
    if flow.acknowledge.is_none() && flow.is_reliable() {
        wrong.push("its recovery needs acknowledgements; enable them".into());
    }
    if flow.requeue_oracle.is_some() && flow.is_reliable() {
        wrong.push("it has a recovery and an oracle that sends dropped frames again; remove one of the two".into());
    }
    // On a path without end, only a window that was given is a limit.
    let adapter = Adapter { round_trip: LATEST - Time::ZERO, ..Adapter::of(Rate::from_gigabits(1), flow.frame) };
    let window = flow.sender().and_then(|mut sender| sender.attach(&adapter).ok().and_then(|()| sender.window()));
    if let (Some(how), Some(window)) = (flow.acknowledge, window)
        && window < u64::from(how.every)
        && how.delay.is_none()
    {
        wrong.push(format!(
            "the window of its recovery holds {window} frame{}, but {} are acknowledged together; give it at least {}, or \
             a delay after which fewer are acknowledged",
            if window == 1 { "" } else { "s" },
            how.every,
            Bytes::new(u64::from(how.every).saturating_mul(flow.frame.get()))
        ));
    }
}

fn check_path_selection(spec: &NetworkSpec, flow: &FlowSpec, wrong: &mut Vec<String>) {
    if flow.path_selection.is_none() {
        return;
    }
    if !matches!(spec.multipath, Multipath::FlowHash | Multipath::Spray) {
        wrong.push(
            "its source chooses the entropy of its frames, but the switches do not hash it; use flow-hash, or remove the \
             path selection"
                .into(),
        );
    }
    if flow.acknowledge.is_none() {
        wrong.push("its path selection needs acknowledgements; enable them".into());
    }
    if matches!(flow.destination, Destination::Uniform) {
        wrong.push("path selection needs a single destination, but this flow has many; give it one".into());
    }
}

fn check_pulls(spec: &NetworkSpec, flow: &FlowSpec, reaction: &Reaction, wrong: &mut Vec<String>) {
    if let Some(how) = flow.pull
        && (usize::from(how.class) >= spec.classes.len() || how.size < spec.smallest_frame || how.size.get() > 65_000)
    {
        wrong.push(format!("pulls need an existing class and a size from {} to 65000B", spec.smallest_frame));
    }
    let needs_pulls = |pulling: &Pulling| pulling.demand != Demand::Nothing;
    match (reaction.pulling(), flow.pull) {
        (None, None) => return,
        (Some(pulling), Some(_)) if !needs_pulls(&pulling) => {
            wrong.push("its congestion control needs no pulls, so they have no effect; remove them".into());
        }
        (None, Some(_)) => {
            wrong
                .push("its congestion control is not receiver-driven, so its pulls have no effect; remove them".into());
            return;
        }
        (Some(pulling), None) if !needs_pulls(&pulling) => {}
        (Some(_), None) => wrong.push("its congestion control needs pulls from the destination; enable them".into()),
        (Some(_), Some(_)) => {}
    }
    if flow.added() > Bytes::ZERO && reaction.pulling().is_some_and(|pulling| pulling.demand == Demand::Announced) {
        wrong.push(
            "its frames carry the announced demand, which leaves no space for telemetry and `headers`; remove them, \
             and count headers in `frame`"
                .into(),
        );
    }
    if flow.recovery.is_some() {
        wrong.push("its congestion control brings its own loss recovery; remove the other one".into());
    }
    if matches!(flow.destination, Destination::Uniform) {
        wrong.push("its recovery needs a single destination, but this flow has many; give it one".into());
    }
    if flow.acknowledge.is_none() {
        wrong.push("its congestion control needs acknowledgements; enable them".into());
    }
    if flow.requeue_oracle.is_some() {
        wrong.push("it sends lost frames again, and so does the oracle; remove the oracle".into());
    }
    let class = spec.classes.get(usize::from(flow.class));
    let points = spec.switches.iter().filter_map(|switch| switch.congestion_point.as_ref());
    if reaction.pulling().is_some_and(|pulling| needs_pulls(&pulling))
        && class.is_some_and(|class| !class.lossless)
        && !points.clone().any(|point| point.trims())
        && !spec.switches.is_empty()
    {
        wrong.push(
            "its congestion control needs switches that trim frames in a lossy class; add the congestion point `trim`, or \
             use a lossless class"
                .into(),
        );
    }
}

fn check_added(flow: &FlowSpec, reaction: &Reaction, wrong: &mut Vec<String>) {
    if flow.added() == Bytes::ZERO {
        return;
    }
    let what = if flow.telemetry.is_some() { "telemetry" } else { "headers" };
    if reaction.tags() {
        wrong.push(format!(
            "its congestion control tags frames, which leaves no space for {what}; remove one of the two"
        ));
    }
    if matches!(flow.destination, Destination::Uniform) {
        wrong.push(format!("{what} needs a single destination, but this flow has many; give it one"));
    }
    let acknowledge = flow.acknowledge.map_or(Bytes::ZERO, |how| how.size);
    let hops = flow.telemetry.map_or(1, |telemetry| telemetry.hops);
    if hops == 0 || flow.frame.max(acknowledge).get() + flow.added().get() > 65_000 {
        wrong.push(format!("{what} needs space for at least one hop, in frames of at most 65000B in all"));
    }
}
