//! Checks for congestion points that would mark frames without congestion.
//!
//! Frames of a flow that meets no other may still be queued. A frame waits if it arrives before the previous one has
//! left. If credits return in their own frames, these take a part of the capacity of the last hop; the ingress rate
//! then exceeds the egress rate by that part, and the queue grows slowly until it fills the input buffer.

use super::{Findings, Severity};
use crate::lower::largest_frames;
use crate::plan::Plan;
use congestion::Point;
use fabric::spec::{CreditReturn, FlowControl, SwitchSpec};
use units::Bytes;

pub(super) fn check(plan: &Plan, findings: &mut Findings) {
    let largest = largest_frames(&plan.spec.flows, plan.spec.classes.len());
    for (number, kind) in plan.spec.switches.iter().enumerate() {
        for (class, spec) in plan.spec.classes.iter().enumerate() {
            let frame = largest[class].get() as u32;
            if plan.spec.flows.iter().any(|flow| usize::from(flow.class) == class)
                && let Some((why, remedy)) = alone(kind, class, spec.lossless, frame)
            {
                findings.add(
                    Severity::Warning,
                    format!("switches[{number}].congestion_point class {}", spec.name),
                    format!("may mark a flow that shares no link: {why}"),
                    remedy,
                );
            }
        }
    }
}

/// Returns why a single flow would be marked, and the remedy.
fn alone(kind: &SwitchSpec, class: usize, lossless: bool, frame: u32) -> Option<(String, String)> {
    let Point::InfinibandFecn(point) = kind.congestion_point.as_ref()?.point.as_ref()? else { return None };
    let (room, held_by_inputs) = (kind.input_room(class, frame), kind.held_by_inputs(lossless));
    let level = point.levels(room, !held_by_inputs)?.root;
    let bytes = |bytes: u32| Bytes::new(u64::from(bytes));
    if level < frame {
        let why = format!("the threshold of {} is below one frame of {}", bytes(level), bytes(frame));
        return Some((why, format!("raise `queue` to {} or more", bytes(room.max(frame)))));
    }
    let in_frames = matches!(kind.flow_control, FlowControl::Credits(credits) if matches!(credits.give_back, CreditReturn::Frame { .. }));
    if !(lossless && in_frames) {
        return None;
    }
    if !held_by_inputs {
        let why = "credit frames slow the last hop, and the queue behind the crossbar fills up".to_owned();
        return Some((why, "use another `queueing`, or `give_back = \"signal\"`".to_owned()));
    }
    (level < room).then(|| {
        let why = format!(
            "credit frames slow the last hop, so its queue can grow to the {} of an input buffer, above the threshold of {}",
            bytes(room),
            bytes(level)
        );
        (why, format!("raise `queue` to {}, or remove it", bytes(room)))
    })
}
