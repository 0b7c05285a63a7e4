//! Checks of loss recovery: flows that need one and have none, and recoveries that do not suit the network.

use super::{Findings, Severity, Walker};
use crate::plan::Plan;
use congestion::{Adapter, Reaction, ReactionPoint};
use fabric::Trips;
use fabric::transport::{Arrival, Meaning, Next, PathSelector, Receiver, Reply, Response, Sender, Sending};
use fabric::workload::{Destination, FlowSpec};
use std::collections::BTreeSet;
use units::{Span, Time};

pub(super) fn check(plan: &Plan, walker: &Walker<'_>, findings: &mut Findings) {
    let trips = Trips::new(&plan.spec);
    let mut seen = BTreeSet::new();
    for (number, flow) in plan.spec.flows.iter().enumerate() {
        let workload = plan.workload_of_flow.get(number).unwrap_or(0);
        // The flows of a workload differ in little; the first one of each class stands for all.
        if !seen.insert((workload, flow.class)) {
            continue;
        }
        let name = plan.workload_names.get(workload as usize).map_or("?", String::as_str);
        let subject = format!("workload {name}");
        waits_for_acknowledgements(flow, &subject, findings);
        keeps_its_path(plan, flow, &subject, findings);
        if !flow.is_reliable() {
            unprotected(plan, flow, &subject, findings);
            continue;
        }
        let several = [Walker::sprays(plan), walker.sprays_ports(flow), flow.sprays_frames()];
        let remedy = match several {
            [_, _, true] => Some("use recovery = \"selective-repeat\", or another path_selection"),
            [true, ..] => Some("use recovery = \"selective-repeat\", or multipath = \"flow-hash\""),
            [false, true, _] => Some("use recovery = \"selective-repeat\", or via = \"hash\""),
            [false, false, false] => None,
        };
        if let Some(remedy) = remedy.filter(|_| rejects_early_frames(flow)) {
            findings.add(
                Severity::Warning,
                &*subject,
                "frames are sprayed over several paths and arrive out of order, and its recovery discards such frames"
                    .into(),
                remedy,
            );
        }
        if remedy.is_some() && retransmits_overtaken_frames(flow) {
            findings.add(
                Severity::Note,
                &*subject,
                "frames are sprayed over several paths and may overtake each other, and its recovery retransmits a frame \
                 as soon as one later frame has arrived"
                    .into(),
                "raise the threshold of its recovery, such as recovery = { name = \"selective-repeat\", threshold = 10 }",
            );
        }
        let Some((sender, round_trip)) = unloaded(plan, (walker, &trips), number, flow) else { continue };
        small_window(flow, &sender, &subject, findings);
        let first = timeout_at(sender.clone(), Time::ZERO, 0);
        late_acknowledgements(flow, (first, sender), round_trip, &subject, findings);
        if let Some(timeout) = first.filter(|&timeout| timeout <= round_trip) {
            findings.add(
                Severity::Warning,
                &*subject,
                format!(
                    "its retransmission timer expires after {timeout}, but a frame and its acknowledgement take \
                     {round_trip} even without other traffic: every frame is retransmitted"
                ),
                format!("raise the timeout above {round_trip}, with a margin for queues"),
            );
        }
    }
}

/// Reports flows whose path selection waits for marks, where nothing marks.
fn keeps_its_path(plan: &Plan, flow: &FlowSpec, subject: &str, findings: &mut Findings) {
    // One that holds a path waits for a reason to leave it.
    let waits = flow.path_selection.as_ref().is_some_and(|selection| selection.held().is_some());
    if !waits || plan.spec.switches.iter().any(|kind| kind.congestion_point.is_some()) {
        return;
    }
    let remedy = "add a congestion point that marks, such as congestion_point = { name = \"ecn-step\" }";
    match flow.is_reliable() {
        true => findings.add(
            Severity::Note,
            subject,
            "no switch marks frames: its path selection changes the path after a timeout only".into(),
            remedy,
        ),
        false => findings.add(
            Severity::Warning,
            subject,
            "no switch marks frames, and without a recovery it has no timeouts: its path selection never changes the \
             path"
                .into(),
            remedy,
        ),
    }
}

/// Reports flows whose window can become smaller than what is acknowledged together.
fn waits_for_acknowledgements(flow: &FlowSpec, subject: &str, findings: &mut Findings) {
    let Some(how) = flow.acknowledge.filter(|how| how.every > 1 && how.delay.is_none()) else { return };
    if flow.reaction.allowance().window.is_none() || matches!(flow.reaction, Reaction::None(_)) {
        return;
    }
    findings.add(
        Severity::Warning,
        subject,
        format!(
            "{} frames are acknowledged together, however long that takes: when congestion control reduces the window \
             below {} frames, as after a timeout, the flow stops until its retransmission timer expires",
            how.every, how.every
        ),
        "add a delay to its acknowledgements, such as acknowledge.delay = \"20us\"",
    );
}

/// Reports flows whose recovery sends fewer frames than are acknowledged together: as many as the path holds.
fn small_window(flow: &FlowSpec, sender: &Sending, subject: &str, findings: &mut Findings) {
    let Some(how) = flow.acknowledge.filter(|how| how.delay.is_none()) else { return };
    let Some(window) = sender.window().filter(|&window| window < u64::from(how.every)) else { return };
    let frames = if window == 1 { "frame" } else { "frames" };
    findings.add(
        Severity::Warning,
        subject,
        format!(
            "{} frames are acknowledged together, but its recovery sends at most {window} {frames}, the \
             bandwidth-delay product of its path: the flow stops until its retransmission timer expires, again and \
             again",
            how.every
        ),
        "add a delay to its acknowledgements, such as acknowledge.delay = \"20us\", acknowledge fewer together, or give \
         the recovery a larger window",
    );
}

/// Reports flows whose acknowledgements may wait longer than their retransmission timer.
fn late_acknowledgements(
    flow: &FlowSpec,
    (first, mut sender): (Option<Span>, Sending),
    round_trip: Span,
    subject: &str,
    findings: &mut Findings,
) {
    let Some(delay) = flow.acknowledge.filter(|how| how.every > 1).and_then(|how| how.delay) else { return };
    // A timer may be shorter when it has measured a round trip.
    sender.on_sent(Time::ZERO, 0);
    let at = Time::ZERO.saturating_add(round_trip);
    sender.on_reply(at, &Reply { cumulative: 1, stamp: Time::ZERO, ..Reply::default() });
    let second = timeout_at(sender, at, 1);
    let Some(timeout) = first.into_iter().chain(second).min() else { return };
    let latest = at.saturating_add(delay).saturating_since(Time::ZERO);
    if timeout > latest || timeout <= round_trip {
        return;
    }
    findings.add(
        Severity::Warning,
        subject,
        format!(
            "an acknowledgement may wait {delay} for further frames and takes {round_trip} more, but the retransmission \
             timer expires after {timeout}: frames that have arrived are retransmitted"
        ),
        format!("raise the timeout above {latest}, or shorten acknowledge.delay"),
    );
}

/// Returns the timeout of a sender that sends that frame at that time.
fn timeout_at(mut sender: Sending, now: Time, number: u64) -> Option<Span> {
    sender.on_sent(now, number);
    Some(sender.deadline()?.saturating_since(now))
}

/// Reports finite flows that never complete if they lose a frame.
fn unprotected(plan: &Plan, flow: &FlowSpec, subject: &str, findings: &mut Findings) {
    if flow.size.is_none() || flow.requeue_oracle.is_some() {
        return;
    }
    let lossy = plan.spec.classes.get(usize::from(flow.class)).is_some_and(|class| !class.lossless);
    let noisy = plan.spec.graph.cables.iter().any(|cable| cable.link.bit_error_rate > 0.0);
    let cause = match (lossy, noisy, plan.spec.faults.is_empty()) {
        (true, _, _) => "its class is lossy",
        (false, true, _) => "links have bit errors",
        (false, false, false) => "links fail",
        (false, false, true) => return,
    };
    findings.add(
        Severity::Note,
        subject,
        format!("{cause}, and lost frames are not retransmitted: a flow that loses one never completes"),
        "choose a recovery, such as recovery = \"go-back-n\"",
    );
}

/// Returns whether the destination of a flow discards a frame that arrives before an earlier one.
fn rejects_early_frames(flow: &FlowSpec) -> bool {
    flow.receiver().is_some_and(|mut receiver| receiver.on_arrival(Time::ZERO, 1).0 == Arrival::Discarded)
}

/// Returns whether the source of a flow takes a frame for lost that one later frame has overtaken.
fn retransmits_overtaken_frames(flow: &FlowSpec) -> bool {
    let (Some(mut sender), Some(mut receiver)) = (flow.sender(), flow.receiver()) else { return false };
    if flow.reaction.pulling().is_some() {
        return false;
    }
    (0..2).for_each(|number| sender.on_sent(Time::ZERO, number));
    let (arrival, response) = receiver.on_arrival(Time::ZERO, 1);
    let meaning = if response == Response::Negative { Meaning::Negative } else { Meaning::Acknowledgement };
    let reply = Reply { meaning, number: 1, blocks: receiver.blocks(), ..Reply::default() };
    sender.on_reply(Time::ZERO, &reply);
    arrival == Arrival::OutOfOrder && matches!(sender.next(false), Next::Again { number: 0, .. })
}

/// Returns the sender of a flow and the round trip on its path without other traffic.
fn unloaded(
    plan: &Plan,
    (walker, trips): (&Walker<'_>, &Trips<'_>),
    number: usize,
    flow: &FlowSpec,
) -> Option<(Sending, Span)> {
    let Destination::Host(to) = flow.destination else { return None };
    let path = walker.path_of(plan, number, flow, to).ok()?;
    let mut round_trip = Span::ZERO;
    let mut link = None;
    for &(node, port) in &path {
        let end = walker.peer(node, port)?;
        round_trip += trips.hop(flow, [node, end.peer], end.cable);
        link.get_or_insert(plan.spec.graph.cables[end.cable as usize].link.rate);
    }
    let adapter = Adapter { overhead: plan.spec.overhead, round_trip, ..Adapter::of(link?, flow.frame) };
    let mut sender = flow.sender()?;
    sender.attach(&adapter).ok()?;
    Some((sender, round_trip))
}
