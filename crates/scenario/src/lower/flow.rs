//! Properties of a flow other than its endpoints: class, times, pattern, bursts, acknowledgements and congestion
//! control.

use crate::Subject;
use crate::parameters;
use crate::problem::Problem;
use crate::resolve::{Gathered, Node};
use crate::source::Place;
use congestion::{Demand, PathProbeClass, Reaction, ReactionPoint};
use fabric::graph::HostId;
use fabric::transport::{PATH_SELECTIONS, PathSelection, RECOVERIES, Recovery};
use fabric::workload::{
    Acknowledge, Activity, Backlog, Destination, FlowProfile, FlowSpec, Gaps, Notify, Overflow, PathProbeSpec, Pattern,
    PullSpec, TelemetrySpec, Via,
};
use std::sync::Arc;
use units::{Bytes, Rate, Span, Time};

/// Returns a flow without its endpoints.
pub(super) fn template(
    gathered: &mut Gathered<'_>,
    root: &Node,
    entry: &Node,
    subject: &Subject<'_>,
) -> Option<FlowSpec> {
    let class_number = match entry.text("class") {
        Some(name) => class(gathered, subject, &name, entry.place_of("class")),
        None => {
            gathered.computed(&entry.path, "class", format!("{:?}", subject.classes.name(0)));
            Some(0)
        }
    };
    let start = Time::ZERO + entry.time("start").unwrap_or_default();
    let stop = entry.time("stop").map(|stop| Time::ZERO + stop);
    let ordered = order(gathered, entry, start, stop);
    let pattern = pattern(gathered, entry);
    let activity = activity(gathered, entry);
    let protocol = entry.table("protocol").or(root.table("protocol"));
    let control = protocol.map(|protocol| reaction(gathered, protocol));
    let pulled = matches!(&control, Some(Some((reaction, _))) if reaction.pulling().is_some());
    let recovery = match pulled {
        true => own_recovery(gathered, entry),
        false => recovery(gathered, root, entry),
    };
    let recovers = matches!(&recovery, Some(Some(recovery)) if recovery.sender.is_some());
    let last = (subject.classes.len() - 1) as u8;
    let acknowledge = match entry.table("acknowledge") {
        Some(node) if pulled => Some(acknowledge(gathered, subject, node, last)),
        Some(node) => Some(acknowledge(gathered, subject, node, class_number.unwrap_or(0))),
        None if pulled && !entry.given("acknowledge") => {
            Some(Some(Acknowledge { class: last, ..Acknowledge::default() }))
        }
        None if recovers && !entry.given("acknowledge") => {
            Some(Some(Acknowledge { class: class_number.unwrap_or(0), ..Acknowledge::default() }))
        }
        None => None,
    };
    let notify = entry.table("notify").map(|node| notify(gathered, subject, node, class_number.unwrap_or(0)));
    let needs_pulls = |reaction: &Reaction| reaction.pulling().is_some_and(|it| it.demand != Demand::Nothing);
    let pulls = matches!(&control, Some(Some((reaction, _))) if needs_pulls(reaction));
    let pull = pull(gathered, subject, entry, pulls);
    let (protocol, (reaction, acknowledged)) = (protocol?, control??);
    // A recovery would bring acknowledgements; one with a mistake has been reported.
    if acknowledged && acknowledge.is_none() && recovery.is_some() {
        let name = protocol.text("name").unwrap_or_default();
        let message = format!("{name} needs acknowledgements");
        let problem = Problem::new(protocol.place_of("name"), message, "add acknowledge = {} to the workload");
        gathered.problems.push(problem.and(entry.place, "this workload has no acknowledgements"));
        return None;
    }
    if reaction.allowance().window.is_some() && acknowledge.is_none() && recovery.is_some() {
        let help = "add acknowledge = {} to the workload, or remove the window";
        let problem = Problem::new(protocol.place_of("window"), "a window needs acknowledgements", help);
        gathered.problems.push(problem.and(entry.place, "this workload has no acknowledgements"));
        return None;
    }
    let probe = probe(gathered, subject, entry, &reaction, class_number.unwrap_or(0));
    ordered?;
    let (class_number, pattern, activity, recovery) = (class_number?, pattern?, activity?, recovery?);
    let telemetry = match entry.table("telemetry") {
        Some(node) => {
            Some(TelemetrySpec { size: node.size("size")?, hops: u8::try_from(node.count("hops")?).unwrap_or(u8::MAX) })
        }
        None => reaction.wants_telemetry().then(TelemetrySpec::default),
    };
    let acknowledge = match acknowledge {
        Some(acknowledge) => Some(acknowledge?),
        None => None,
    };
    let notify = match notify {
        Some(notify) => Some(notify?),
        None => reaction.wants_notifications().then(|| Notify { class: class_number, ..Notify::default() }),
    };
    let pull = pull?;
    let via = via(gathered, root, entry)?;
    let path_selection = path_selection(gathered, root, entry, acknowledge.is_some())?;
    entry.time("start")?;
    let profile = FlowProfile {
        hosts: [].into(),
        stop,
        frame: entry.size("frame")?,
        headers: entry.size("headers")?,
        pattern,
        activity,
        acknowledge,
        notify,
        pull,
        recovery,
        path_probe: probe?,
        requeue_oracle: entry.time("requeue_oracle"),
        telemetry,
        via,
        path_selection,
        reaction,
    };
    Some(FlowSpec {
        source: HostId(0),
        class: class_number,
        tree: entry.count("tree").and_then(|tree| u8::try_from(tree).ok()),
        destination: Destination::Host(HostId(0)),
        start,
        size: entry.size("size"),
        profile: Arc::new(profile),
    })
}

/// A flow that leaves its host by that port.
pub(super) fn port(number: u64) -> Via {
    Via::Port(u16::try_from(number).unwrap_or(u16::MAX))
}

/// Returns how the flows of a workload leave hosts with several links.
fn via(gathered: &mut Gathered<'_>, root: &Node, entry: &Node) -> Option<Via> {
    match (entry.count("port"), entry.text("via").as_deref()) {
        (Some(_), Some(_)) => {
            let message = "`port` and `via` both choose the port of a host";
            gathered.refuse(entry.place_of("port"), message, "remove one of them");
            None
        }
        (Some(number), None) => Some(port(number)),
        (None, Some("spray")) => Some(Via::Spray),
        (None, Some(_)) => Some(Via::Hash),
        (None, None) => {
            let multipath = root.table("network").and_then(|node| node.text("multipath"));
            Some(if multipath.as_deref() == Some("spray") { Via::Spray } else { Via::Hash })
        }
    }
}

/// Returns the path selection of a workload; `Some(None)` if a hash of the flow decides.
fn path_selection(
    gathered: &mut Gathered<'_>,
    root: &Node,
    entry: &Node,
    acknowledged: bool,
) -> Option<Option<Arc<PathSelection>>> {
    let own = entry.table("path_selection");
    if own.is_none() && entry.given("path_selection") {
        return None;
    }
    let node = own.or(root.table("path_selection"))?;
    let name = node.text("name")?;
    let info = PATH_SELECTIONS.iter().find(|info| info.name == name)?;
    let values = parameters::values(node, info.parameters)?;
    let Some(selection) = parameters::built(gathered, node, (info.build)(&values))? else { return Some(None) };
    let place = if own.is_some() { entry.place_of("path_selection") } else { entry.place };
    let multipath = root.table("network").and_then(|node| node.text("multipath"));
    let refusal = match multipath.as_deref() {
        Some(multipath @ ("adaptive" | "path-number" | "flowlet")) => Some((
            format!("{name} chooses the entropy of frames, but with multipath = {multipath:?} switches do not hash it"),
            "use multipath = \"flow-hash\", or remove `path_selection`",
        )),
        _ if entry.text("kind").as_deref() == Some("uniform-random") => Some((
            format!("{name} needs flows with one destination, but every frame of this workload has its own"),
            "use another kind of workload, or set path_selection = \"hash\" for this one",
        )),
        _ if !acknowledged => Some((
            format!("{name} learns of paths by acknowledgements, and this workload has none"),
            "add acknowledge = {} or a recovery to the workload, or set path_selection = \"hash\" for it",
        )),
        _ => None,
    };
    if let Some((message, help)) = refusal {
        gathered.refuse(place, message, help);
        return None;
    }
    Some(Some(Arc::new(selection)))
}

/// Refuses a recovery beside that of a control that brings its own; `Some(None)` if none is given. The one in `[recovery]`
/// is for other controls.
fn own_recovery(gathered: &mut Gathered<'_>, entry: &Node) -> Option<Option<Arc<Recovery>>> {
    let place = entry.place_of("recovery");
    if entry.text("kind").as_deref() == Some("uniform-random") {
        let message = "this control needs flows with one destination, but every frame of this workload has its own";
        gathered.refuse(entry.place_of("kind"), message, "use another kind of workload, or another protocol");
        return None;
    }
    let name = entry.table("recovery").and_then(|node| node.text("name"));
    if name.as_deref().is_some_and(|name| name != "none") {
        let message = "this control brings its own loss recovery";
        gathered.refuse(place, message, "remove `recovery` from the workload");
        return None;
    }
    Some(None)
}

/// Reads how pulls travel, if the congestion control is receiver-driven; `Some(None)` if it is not.
fn pull(gathered: &mut Gathered<'_>, subject: &Subject<'_>, entry: &Node, pulled: bool) -> Option<Option<PullSpec>> {
    let last = (subject.classes.len() - 1) as u8;
    let Some(node) = entry.table("pull") else {
        return (!entry.given("pull")).then(|| pulled.then(|| PullSpec { class: last, ..PullSpec::default() }));
    };
    if !pulled {
        let message = "`pull` has no effect: the congestion control is not receiver-driven";
        gathered.refuse(entry.place_of("pull"), message, "remove it, or choose a protocol such as ndp");
        return None;
    }
    let class = class_of(gathered, subject, node, last)?;
    Some(Some(PullSpec { size: node.size("size")?, class }))
}

/// Returns the loss recovery of a workload; `Some(None)` if it has none.
fn recovery(gathered: &mut Gathered<'_>, root: &Node, entry: &Node) -> Option<Option<Arc<Recovery>>> {
    let own = entry.table("recovery");
    if own.is_none() && entry.given("recovery") {
        return None;
    }
    let node = own.or(root.table("recovery"))?;
    let name = node.text("name")?;
    let info = RECOVERIES.iter().find(|info| info.name == name)?;
    let values = parameters::values(node, info.parameters)?;
    let recovery = parameters::built(gathered, node, (info.build)(&values))?;
    if recovery.sender.is_none() {
        return Some(None);
    }
    let place = if own.is_some() { entry.place_of("recovery") } else { entry.place };
    if entry.text("kind").as_deref() == Some("uniform-random") {
        let problem = Problem::new(
            place,
            format!("{name} needs flows with one destination, but every frame of this workload has its own"),
            "use another kind of workload, or set recovery = \"none\" for this one",
        );
        gathered.problems.push(problem);
        return None;
    }
    if entry.has("requeue_oracle") {
        let message = format!("`requeue_oracle` sends dropped frames again, and so does {name}");
        gathered.refuse(entry.place_of("requeue_oracle"), message, "remove one of the two");
        return None;
    }
    Some(Some(Arc::new(recovery)))
}

/// Reads the probe settings if the congestion control sends probes; `Some(None)` if it does not.
fn probe(
    gathered: &mut Gathered<'_>,
    subject: &Subject<'_>,
    entry: &Node,
    reaction: &Reaction,
    of_flow: u8,
) -> Option<Option<PathProbeSpec>> {
    let last = (subject.classes.len() - 1) as u8;
    let usual = |class: PathProbeClass| if class == PathProbeClass::Urgent { last } else { of_flow };
    let usual = reaction.path_probes().map(usual);
    let Some(node) = entry.table("probe") else {
        let spec = |class: u8| PathProbeSpec { size: Bytes::new(64), class, answer_class: last };
        return (!entry.given("probe")).then(|| usual.map(spec));
    };
    let Some(usual) = usual else {
        let message = "`probe` has no effect: the congestion control sends no probes";
        gathered.refuse(entry.place_of("probe"), message, "remove it, or choose a protocol that sends probes");
        return None;
    };
    let mut class_of = |key: &'static str, default: u8| match node.text(key) {
        Some(name) => class(gathered, subject, &name, node.place_of(key)),
        None => {
            gathered.computed(&node.path, key, format!("{:?}", subject.classes.name(u32::from(default))));
            Some(default)
        }
    };
    let (out, back) = (class_of("class", usual)?, class_of("answer_class", last)?);
    Some(Some(PathProbeSpec { size: node.size("size")?, class: out, answer_class: back }))
}

pub(super) fn class(gathered: &mut Gathered<'_>, subject: &Subject<'_>, name: &str, place: Place) -> Option<u8> {
    subject.classes.one(gathered, name, place).and_then(|class| u8::try_from(class).ok())
}

pub(super) fn order(gathered: &mut Gathered<'_>, entry: &Node, start: Time, stop: Option<Time>) -> Option<()> {
    if stop.is_some_and(|stop| stop <= start) {
        let key = if entry.given("stop") { "stop" } else { "start" };
        let problem =
            Problem::new(entry.place_of(key), "it stops before it starts", "swap the times, or remove `stop`");
        gathered.problems.push(match key {
            "stop" if entry.given("start") => problem.and(entry.place_of("start"), "it starts"),
            _ => problem,
        });
        return None;
    }
    Some(())
}

fn notify(gathered: &mut Gathered<'_>, subject: &Subject<'_>, node: &Node, of_flow: u8) -> Option<Notify> {
    let class = class_of(gathered, subject, node, of_flow)?;
    Some(Notify { size: node.size("size")?, class, interval: node.time("interval")? })
}

/// Returns the class that a table names, or that of its flow.
fn class_of(gathered: &mut Gathered<'_>, subject: &Subject<'_>, node: &Node, of_flow: u8) -> Option<u8> {
    match node.text("class") {
        Some(name) => class(gathered, subject, &name, node.place_of("class")),
        None => {
            gathered.computed(&node.path, "class", format!("{:?}", subject.classes.name(u32::from(of_flow))));
            Some(of_flow)
        }
    }
}

pub(super) fn acknowledge(
    gathered: &mut Gathered<'_>,
    subject: &Subject<'_>,
    node: &Node,
    of_flow: u8,
) -> Option<Acknowledge> {
    let class = class_of(gathered, subject, node, of_flow)?;
    Some(Acknowledge {
        size: node.size("size")?,
        class,
        every: u32::try_from(node.count("every")?).unwrap_or(u32::MAX),
        delay: node.time("delay"),
    })
}

/// Returns the reaction point with a protocol's parameters, and whether it needs acknowledgements.
pub(super) fn reaction(gathered: &mut Gathered<'_>, node: &Node) -> Option<(Reaction, bool)> {
    let name = node.text("name")?;
    let info = congestion::PROTOCOLS.iter().find(|info| info.name == name)?;
    let values = parameters::values(node, info.parameters)?;
    let reaction = parameters::built(gathered, node, (info.build)(&values))?;
    Some((reaction, info.acknowledged))
}

pub(super) fn pattern(gathered: &mut Gathered<'_>, entry: &Node) -> Option<Pattern> {
    let Some(rate) = entry.rate("rate") else {
        if entry.given("rate") {
            return None;
        }
        for key in ["gaps", "jitter", "backlog", "overflow", "rate_spread"] {
            if entry.given(key) {
                let message = format!("`{key}` has no effect for a source without a rate");
                gathered.refuse(entry.place_of(key), message, "add `rate`, or remove it");
                return None;
            }
        }
        return Some(Pattern::Greedy);
    };
    let gaps = match entry.text("gaps")?.as_str() {
        "jittered" => Gaps::Jittered(entry.number("jitter")?),
        "exponential" => Gaps::Exponential,
        _ => Gaps::Constant,
    };
    if entry.given("overflow") && !entry.has("backlog") {
        gathered.refuse(
            entry.place_of("overflow"),
            "`overflow` has no effect with an unlimited backlog",
            "add `backlog`",
        );
        return None;
    }
    let backlog = entry.count("backlog").map(|frames| Backlog {
        frames: u32::try_from(frames).unwrap_or(u32::MAX),
        overflow: match entry.text("overflow").as_deref() {
            Some("stall") => Overflow::Stall,
            _ => Overflow::Discard,
        },
    });
    Some(Pattern::Paced { rate: rate.max(Rate::from_bits_per_sec(1)), gaps, backlog })
}

pub(super) fn activity(gathered: &mut Gathered<'_>, entry: &Node) -> Option<Activity> {
    let (on, off) = match (entry.time("on"), entry.time("off")) {
        (Some(on), Some(off)) => (on, off),
        (None, None) if entry.given("on") || entry.given("off") => return None,
        (None, None) => {
            if let Some(key) = ["lengths", "discard_when_off"].into_iter().find(|key| entry.given(key)) {
                let message = format!("`{key}` has no effect for a source that is always on");
                gathered.refuse(entry.place_of(key), message, "add `on` and `off`, or remove it");
                return None;
            }
            return Some(Activity::Always);
        }
        _ if entry.given("on") && entry.given("off") => return None,
        (Some(_), None) => {
            gathered.refuse(entry.place_of("on"), "`on` is given without `off`", "add `off`");
            return None;
        }
        (None, Some(_)) => {
            gathered.refuse(entry.place_of("off"), "`off` is given without `on`", "add `on`");
            return None;
        }
    };
    for (key, span) in [("on", on), ("off", off)] {
        if span == Span::ZERO {
            gathered.refuse(
                entry.place_of(key),
                "the duration of a burst or silence is zero",
                "give a time above zero",
            );
            return None;
        }
    }
    let random = entry.text("lengths")? == "exponential";
    Some(Activity::OnOff { on, off, random, discard: entry.flag("discard_when_off")? })
}
