//! Derivation of a fluid model from a scenario's protocol, congestion point and network.
//!
//! Rates and queues of a fluid model count only frames. A limiter and a wire also count the overhead of a frame, so
//! their rates are multiplied by the ratio of frame to wire length. Gains are per frame in the model and per `unit` in
//! packets. After these conversions, the parameters are those of the packets, and nothing is fitted.

use super::bottleneck::{Bottleneck, Loop, Network, at_once};
use super::{FluidPlan, Model};
use crate::{Entry, Plan, Source};
use fabric::spec::FlowControl;
use fabric::workload::{Activity, Destination, Pattern};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use theory::Error;
use theory::stability::stated::Stated;
use units::{Bytes, Rate, Span};

/// The error of a scenario without a fluid model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoFluid {
    /// The problem.
    pub message: String,
    /// The remedy.
    pub help: String,
}

impl fmt::Display for NoFluid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  {}", self.message, self.help)
    }
}

impl std::error::Error for NoFluid {}

/// A parameter of a model and its source.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin {
    /// Name of the parameter.
    pub name: &'static str,
    /// Value in the base unit.
    pub value: f64,
    /// Source of the value, in words.
    pub from: String,
}

/// The fluid model that follows from a scenario without a section `[fluid]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    /// The equations: `bcn`, `qcn`, `dcqcn`, `timely` or `patched-timely`.
    pub model: &'static str,
    /// The derived parameters.
    pub values: Vec<Origin>,
    /// The parameters that cannot be derived, and why.
    pub unknown: Vec<(&'static str, String)>,
    /// The initial rate of a source.
    pub start_rate: Origin,
    /// Behaviour of the packets that the equations do not model.
    pub left_out: Vec<String>,
    /// The bottleneck.
    pub bottleneck: Bottleneck,
}

impl Derived {
    /// Returns a parameter by its name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Origin> {
        self.values.iter().find(|origin| origin.name == name)
    }
}

/// Describes the source of an entry of a plan for humans.
pub(crate) fn whence(entry: &Entry) -> String {
    match &entry.source {
        Source::File { file, line } => format!("{} ({file}:{line})", entry.path),
        Source::Override(_) => format!("{} (--set)", entry.path),
        Source::Default(_) => format!("{} (default)", entry.path),
    }
}

/// Returns the equations of a protocol.
fn model_of(name: &str) -> Option<&'static str> {
    match name {
        "bcn" | "ecm" => Some("bcn"),
        "qcn" => Some("qcn"),
        "dcqcn" => Some("dcqcn"),
        "timely" => Some("timely"),
        "patched-timely" => Some("patched-timely"),
        _ => None,
    }
}

/// Returns whether the equations of a model describe that congestion point.
fn heard_by(model: &str, point: &str) -> bool {
    match model {
        "dcqcn" => point == "ecn",
        _ => model_of(point) == Some(model),
    }
}

/// Returns whether sources learn of the queue by round trips, not from a congestion point.
fn measures(model: &str) -> bool {
    matches!(model, "timely" | "patched-timely")
}

/// Returns whether the destination returns the feedback, not the congestion point.
fn replies(model: &str) -> bool {
    model == "dcqcn" || measures(model)
}

/// The values of a section of the plan.
struct Section<'a> {
    plan: &'a Plan,
    path: String,
}

impl<'a> Section<'a> {
    /// Returns the first of these sections that exists.
    fn first(plan: &'a Plan, paths: [String; 2]) -> Option<Section<'a>> {
        let there = |path: &String| {
            let name = format!("{path}.name");
            plan.entries.iter().any(|entry| entry.path == name)
        };
        paths.into_iter().find(there).map(|path| Section { plan, path })
    }

    fn entry(&self, key: &str) -> Option<&'a Entry> {
        let path = format!("{}.{key}", self.path);
        self.plan
            .entries
            .iter()
            .find(|entry| entry.path == path)
            .filter(|entry| !["not set", "none"].contains(&entry.value.as_str()))
    }

    fn text(&self, key: &str) -> &'a str {
        self.entry(key).map_or("", |entry| entry.value.trim_matches('"'))
    }

    /// Returns a number in its base unit.
    fn number(&self, key: &str) -> Option<f64> {
        let text = self.text(key);
        let rate = || text.parse::<Rate>().ok().map(|rate| rate.as_bits_per_sec() as f64);
        let time = || text.parse::<Span>().ok().map(Span::as_secs_f64);
        let size = || text.parse::<Bytes>().ok().map(|size| size.get() as f64);
        text.parse::<f64>().ok().or_else(rate).or_else(time).or_else(size)
    }

    fn from(&self, key: &str) -> String {
        self.entry(key).map_or_else(|| self.path.clone(), whence)
    }

    /// Returns all values, for comparison.
    fn values(&self) -> BTreeMap<&'a str, &'a str> {
        let within = |entry: &'a Entry| {
            let key = entry.path.strip_prefix(self.path.as_str())?.strip_prefix('.')?;
            Some((key, entry.value.as_str()))
        };
        self.plan.entries.iter().filter_map(within).collect()
    }
}

/// Formats a factor for humans; empty if it is one.
fn times(part: f64, text: String) -> String {
    if part == 1.0 { String::new() } else { format!(", {text}") }
}

/// Derives the fluid model of a scenario.
///
/// # Errors
/// Returns an error if its protocol has no fluid model, or if none of its flows passes a matching congestion point.
pub fn derive(plan: &Plan) -> Result<Derived, NoFluid> {
    let no = |message: String, help: &str| Err(NoFluid { message, help: help.into() });
    let stated = "or describe the loop in a section [fluid] (`tailback reference` lists its keys)";
    let protocols: Vec<Option<Section<'_>>> = (0..plan.workload_names.len())
        .map(|number| Section::first(plan, [format!("workloads[{number}].protocol"), "protocol".into()]))
        .collect();
    let protocol = |flow: u32| protocols[plan.workload_of_flow.get(flow as usize)? as usize].as_ref();
    let all = 0..plan.spec.flows.len() as u32;
    let controlled = |flow: &u32| protocol(*flow).is_some_and(|section| model_of(section.text("name")).is_some());
    let flows: Vec<u32> = all.clone().filter(controlled).collect();
    let Some(&first) = flows.first() else {
        let names: BTreeSet<&str> = all.filter_map(protocol).map(|section| section.text("name")).collect();
        let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
        let message = match &names[..] {
            [] => "there is no traffic, so there is no loop to analyse".to_owned(),
            [name] => format!("the protocol {name} has no fluid model"),
            _ => format!("none of the protocols {} has a fluid model", names.join(", ")),
        };
        return no(message, &format!("choose `bcn`, `ecm`, `qcn`, `dcqcn`, `timely` or `patched-timely`, {stated}"));
    };
    let source = protocol(first).expect("a controlled flow has a protocol");
    let model = model_of(source.text("name")).expect("a controlled flow has a model");
    let network = Network::new(plan);
    let points: Vec<Option<Section<'_>>> = (0..plan.spec.switches.len())
        .map(|number| {
            let watch = plan.spec.switches[number].congestion_point.as_ref();
            let paths = [format!("switches[{number}].congestion_point"), "congestion_point".into()];
            // A switch can be without what [congestion_point] gives to all others.
            Section::first(plan, paths).filter(|_| watch.is_some_and(|watch| watch.point.is_some()))
        })
        .collect();
    let heard = |kind: usize| points[kind].as_ref().filter(|point| heard_by(model, point.text("name")));
    let watched = |kind: usize| measures(model) || heard(kind).is_some_and(|point| point.text("placed") != "inputs");
    let Some(bottleneck) = network.bottleneck(&flows, watched) else {
        if let Some(point) = (0..points.len()).find_map(heard) {
            let message = format!(
                "the congestion points watch inputs ({}), but the fluid model describes an output",
                point.from("placed")
            );
            return no(message, &format!("choose placed = \"outputs\", {stated}"));
        }
        if measures(model) {
            return no(format!("no flow of `{}` passes a switch", source.text("name")), stated);
        }
        let message = format!("no flow of `{}` passes a congestion point whose notices it uses", source.text("name"));
        let point = if model == "dcqcn" { "ecn" } else { source.text("name") };
        return no(message, &format!("add [congestion_point] name = \"{point}\", {stated}"));
    };
    let point = network.switch(bottleneck.node).and_then(|(kind, _)| heard(kind)).unwrap_or(source);
    let own = source.values();
    let workloads: BTreeSet<u32> =
        bottleneck.flows.iter().filter_map(|&flow| plan.workload_of_flow.get(flow as usize)).collect();
    let mut sections = workloads.iter().filter_map(|&workload| protocols[workload as usize].as_ref());
    if let Some(other) = sections.find(|other| other.path != source.path && other.values() != own) {
        let message =
            format!("`{}` and `{}` differ, but their flows share {}", source.path, other.path, bottleneck.link);
        return no(message, &format!("a fluid model has identical sources; give them the same protocol, {stated}"));
    }
    let maker = Maker { plan, network, source, point, bottleneck };
    Ok(maker.derived(model))
}

struct Maker<'a> {
    plan: &'a Plan,
    network: Network<'a>,
    source: &'a Section<'a>,
    point: &'a Section<'a>,
    bottleneck: Bottleneck,
}

impl Maker<'_> {
    fn derived(self, model: &'static str) -> Derived {
        let spec = &self.plan.spec;
        let flows = &self.bottleneck.flows;
        let frames: BTreeSet<u64> = flows.iter().map(|&flow| spec.flows[flow as usize].frame.get()).collect();
        let frame = frames.last().copied().unwrap_or(1) as f64;
        let part = self.bottleneck.part;
        let wire = times(part, format!("without frame overhead: x {part:.4}"));
        let mut values: Vec<Origin> = Vec::new();
        let mut unknown = Vec::new();
        let mut put = |name: &'static str, value: f64, from: String| values.push(Origin { name, value, from });
        match self.sources() {
            Ok(sources) => put("sources", sources as f64, format!("flows over {}", self.bottleneck.link)),
            Err(reason) => unknown.push(("sources", reason)),
        }
        let rate = self.network.rate(self.bottleneck.port);
        put("capacity", rate * part, format!("the link {}{wire}", self.bottleneck.link));
        let loops: Vec<Loop> = flows.iter().filter_map(|&flow| self.round(flow, model)).collect();
        let mean = |of: fn(&Loop) -> f64| loops.iter().map(of).sum::<f64>() / loops.len() as f64;
        if loops.len() == flows.len() {
            let micros = |seconds: f64| format!("{:.2} us", seconds * 1e6);
            let (cables, frames, switches) = (mean(|l| l.cables), mean(|l| l.frames), mean(|l| l.switches));
            let reply = if replies(model) { "reply" } else { "notice" };
            let from = format!(
                "links {}, transmission of frame and {reply} {}, switches {}",
                micros(cables),
                micros(frames),
                micros(switches)
            );
            put("delay", mean(Loop::whole), from);
        } else {
            unknown.push(("delay", "notices have no route back to the source".into()));
        }
        if !measures(model) {
            put("frame", frame, "frame size of the flows".into());
        }
        if let Some((room, from)) = self.network.room(&self.bottleneck) {
            put("buffer", room, from);
        }
        let (source, point) = (self.source, self.point);
        let mut take = |name: &'static str, section: &Section<'_>, key: &str, factor: f64, note: &str| {
            if let Some(value) = section.number(key) {
                put(name, value * factor, format!("{}{note}", section.from(key)));
            }
        };
        for name in ["min_rate", "max_rate"] {
            take(name, source, name, part, &wire);
        }
        if !replies(model) {
            take("set_point", point, "set_point", 1.0, "");
            take("min_dec_factor", source, "min_dec_factor", 1.0, "");
        }
        if model == "dcqcn" {
            let scale = point.number("reference_rate").map_or(1.0, |of| rate / of);
            let scaled = times(scale, format!("x {scale} for the rate of the link"));
            for name in ["kmin", "kmax"] {
                take(name, point, name, scale, &scaled);
            }
            take("pmax", point, "pmax", 1.0, "");
            for name in ["g", "alpha_period", "byte_reset", "time_reset", "threshold"] {
                take(name, source, name, 1.0, "");
            }
            take("ai_rate", source, "ai_rate", part, &wire);
        } else if measures(model) {
            for name in ["alpha", "beta", "t_low", "t_high", "min_rtt", "reference_rtt", "segment"] {
                take(name, source, name, 1.0, "");
            }
            take("ai_rate", source, "ai_rate", part, &wire);
        } else if model == "bcn" {
            take("weight", source, "weight", 1.0, "");
            let unit = source.number("unit").unwrap_or(frame);
            let units = times(frame / unit, format!("x {:.4} units per frame", frame / unit));
            take("increase_gain", source, "gi", frame / unit, &units);
            take("decrease_gain", source, "gd", frame / unit, &units);
            take("rate_unit", source, "ru", part, &wire);
            take("probability", point, "probability", 1.0, "");
        } else {
            take("weight", point, "weight", 1.0, "");
            take("sample_base", point, "sample_base", 1.0, "");
            for name in ["gd", "byte_reset", "time_reset", "threshold"] {
                take(name, source, name, 1.0, "");
            }
            take("ai_rate", source, "ai_rate", part, &wire);
        }
        // ECM samples by bytes: a frame is sampled with the part that it is of them.
        if let Some(base) = point.number("sample_base").filter(|_| model == "bcn") {
            let from = format!("{}, a frame of {frame} bytes", point.from("sample_base"));
            put("probability", (frame / base).min(1.0), from);
        }
        if model == "bcn" {
            let even = point.number("sample_base").is_some() && point.text("sampling") != "flexible";
            let (lag, from) = match even {
                true => (0.5, "one sample per fixed number of bytes"),
                false => (1.0, "frames sampled at random"),
            };
            put("sampling_lag", lag, from.into());
        }
        if model == "dcqcn" {
            let (interval, from) = self.interval();
            put("cnp_interval", interval, from);
        }
        let largest = flows.iter().map(|&flow| self.network.source_rate(flow)).fold(f64::INFINITY, f64::min);
        if !values.iter().any(|origin| origin.name == "max_rate") {
            values.push(Origin {
                name: "max_rate",
                value: largest * part,
                from: format!("the links of the sources{wire}"),
            });
        }
        let of = |name: &str| values.iter().find(|origin| origin.name == name).map(|origin| origin.value);
        if measures(model) {
            if of("segment") == Some(0.0) {
                values.retain(|origin| origin.name != "segment");
                unknown.push(("segment", "the rate is updated once per round trip, not per segment".into()));
            }
            let mut also = |name: &'static str, value: Option<f64>, from: &str| {
                let missing = !values.iter().any(|origin| origin.name == name);
                values.extend(value.filter(|_| missing).map(|value| Origin { name, value, from: from.to_owned() }));
            };
            also("ai_rate", Some(largest * part / 1000.0), "a thousandth of the sources' links");
            also("reference_rtt", source.number("t_low").filter(|_| model == "patched-timely"), "as t_low");
        }
        let of = |name: &str| values.iter().find(|origin| origin.name == name).map(|origin| origin.value);
        let start_rate = match source.number("start_rate") {
            Some(rate) => {
                Origin { name: "start_rate", value: rate * part, from: format!("{}{wire}", source.from("start_rate")) }
            }
            None => Origin {
                name: "start_rate",
                value: of("max_rate").unwrap_or(largest * part),
                from: "flows start at their maximum rate".into(),
            },
        };
        let below = of("sources").unwrap_or(f64::INFINITY) * start_rate.value < rate * part;
        let left_out = self.left_out(model, frames.len(), &loops, below);
        Derived { model, values, unknown, start_rate, left_out, bottleneck: self.bottleneck }
    }

    /// Returns the loop of a flow: to the queue and back, or to its destination and back.
    fn round(&self, flow: u32, model: &str) -> Option<Loop> {
        let spec = &self.plan.spec.flows[flow as usize];
        if !replies(model) {
            return self.network.round(flow, &self.bottleneck);
        }
        let notice = spec.notify.map(|how| how.size).filter(|_| model == "dcqcn" && self.notified());
        self.network.there_and_back(flow, notice.or(spec.acknowledge.map(|how| how.size))?)
    }

    /// Whether DCQCN's sources react to notification packets, and not to marks that acknowledgements echo.
    fn notified(&self) -> bool {
        self.source.text("notified_by") != "acknowledgement"
    }

    /// Returns the least time between two decreases of DCQCN, and its source.
    fn interval(&self) -> (f64, String) {
        let flow = &self.plan.spec.flows[self.bottleneck.flows[0] as usize];
        let period = self.source.number("decrease_period").filter(|_| self.source.text("evaluation") == "periodic");
        let notices = flow.notify.filter(|_| self.notified()).map(|how| how.interval.as_secs_f64());
        match (notices, period) {
            (Some(notices), Some(period)) if period > notices => (period, self.source.from("decrease_period")),
            (Some(notices), _) => (notices, "notify.interval of the workload".into()),
            (None, Some(period)) => (period, self.source.from("decrease_period")),
            // Each marked frame is a notification: at most one per frame.
            (None, None) => {
                let frame = flow.frame.bits() as f64;
                (frame / self.network.rate(self.bottleneck.port), "a frame of the link: every mark is echoed".into())
            }
        }
    }

    /// Returns the number of flows that share the bottleneck at once.
    fn sources(&self) -> Result<usize, String> {
        let flows = &self.bottleneck.flows;
        let workloads: BTreeSet<u32> =
            flows.iter().filter_map(|&flow| self.plan.workload_of_flow.get(flow as usize)).collect();
        let comes_and_goes = |workload: &&u32| {
            let kind = format!("workloads[{workload}].kind");
            self.plan.entries.iter().any(|entry| entry.path == kind && entry.value == "\"poisson-flows\"")
        };
        match workloads.iter().find(comes_and_goes) {
            Some(&workload) => {
                let name = &self.plan.workload_names[workload as usize];
                Err(format!("the flows of workload `{name}` come and go, so their number varies"))
            }
            None => Ok(at_once(self.plan, flows)),
        }
    }

    /// Returns the behaviour that the equations do not model.
    fn left_out(&self, model: &str, frames: usize, loops: &[Loop], below: bool) -> Vec<String> {
        let (spec, source, point) = (&self.plan.spec, self.source, self.point);
        let flow = |&number: &u32| &spec.flows[number as usize];
        let flows = || self.bottleneck.flows.iter().map(flow);
        let mut left = Vec::new();
        let mut say = |when: bool, text: String| left.extend(when.then_some(text));
        let others = spec.flows.len() - self.bottleneck.flows.len();
        let word = if others == 1 { "flow" } else { "flows" };
        say(others > 0, format!("{others} {word} with another path or protocol"));
        say(frames > 1, "frames of several sizes: the largest is used".into());
        let delays = || loops.iter().map(Loop::whole);
        let (least, most) = (delays().fold(f64::INFINITY, f64::min), delays().fold(0.0, f64::max));
        let text = format!("loop delays from {:.2} to {:.2} us: the mean is used", least * 1e6, most * 1e6);
        say(most > 1.01 * least, text);
        say(flows().any(|flow| flow.size.is_some()), "the end of flows: they are modelled as endless".into());
        let paced = flows().any(|flow| flow.pattern != Pattern::Greedy || flow.activity != Activity::Always);
        say(paced, "sources that may send less than their allowed rate".into());
        let uniform = spec.flows.iter().any(|flow| matches!(flow.destination, Destination::Uniform));
        say(uniform, "flows with many destinations".into());
        let holds = self.network.switch(self.bottleneck.node).is_some_and(|(_, switch)| {
            switch.flow_control != FlowControl::None && spec.classes[usize::from(self.bottleneck.class)].lossless
        });
        say(holds, "flow control, which pauses sources before the buffers are full".into());
        say(!spec.faults.is_empty() || !spec.route_changes.is_empty(), "link failures and route changes".into());
        if model == "dcqcn" {
            say(true, "hyper increase".into());
            say(point.text("at") == "enqueue", "the age of marks: they tell of the queue that a frame joined".into());
            say(point.number("weight").is_some_and(|weight| weight < 1.0), "the average of the queue".into());
            say(point.text("spacing") == "uniform", "the spacing of marks".into());
            let text = "periodic evaluation: alpha and rate react to each notification";
            say(source.text("evaluation") == "periodic", text.into());
            say(source.text("clamp_target") == "false", "a target that only the first decrease lowers".into());
            return left;
        }
        if measures(model) {
            say(model == "timely", "the larger increase after five in a row".into());
            let window = flows().any(|flow| flow.acknowledge.is_some_and(|how| how.every > 1));
            say(window, "acknowledgements that wait for others".into());
            return left;
        }
        if model == "qcn" {
            say(true, "hyperactive increase".into());
            say(point.text("sampling") == "constant", "a constant sampling distance: the equations shorten it".into());
            return left;
        }
        let increase = source.text("self_increase");
        say(!matches!(increase, "" | "none"), format!("self-increase, {} ({increase})", source.from("self_increase")));
        if let Some(drift) = source.entry("drift_rate") {
            let period = source.text("drift_period");
            say(
                true,
                format!(
                    "the drift of {} each {period}: the queue stays above its set point",
                    drift.value.trim_matches('"')
                ),
            );
        }
        let severe = point.text("severe");
        say(severe != "off", format!("severe congestion ({severe}) above {}", point.text("severe_at")));
        say(
            source.entry("most_feedback").is_some(),
            format!("the feedback limit, {} units", source.text("most_feedback")),
        );
        let weights = source.number("weight") != point.number("weight");
        say(weights, "the weight of the congestion point: that of the sources is used".into());
        let text =
            "the rule of association: sources that start below their share stay there until a notice slows them down";
        say(below, text.into());
        left
    }
}

impl FluidPlan {
    /// Derives the fluid model of a scenario that has no section `[fluid]`.
    ///
    /// # Errors
    /// Returns an error if its protocol has no fluid model or a parameter cannot be derived.
    pub fn of(plan: &Plan) -> Result<FluidPlan, NoFluid> {
        let derived = derive(plan)?;
        if let Some((name, reason)) = derived.unknown.first() {
            let message =
                format!("the fluid model needs `{name}`, which cannot be derived from the scenario: {reason}");
            let help = format!("add [fluid] with model = \"{}\" and {name} = ...", derived.model);
            return Err(NoFluid { message, help });
        }
        let mut model = Model::of_the_paper(derived.model).expect("a model that is derived is known");
        let mut origins = Vec::new();
        for &name in model.names() {
            let usual = Origin { name, value: model.get(name).unwrap_or(f64::NAN), from: "the model's default".into() };
            let origin = derived.get(name).cloned().unwrap_or(usual);
            model.set(name, origin.value);
            origins.push(origin);
        }
        if let Err(error) = model.check() {
            let wrong = |origin: &&Origin| matches!(error, Error::BadParameter { name, .. } if name == origin.name);
            let from = origins
                .iter()
                .find(wrong)
                .map_or_else(String::new, |origin| format!("; it comes from {}", origin.from));
            let message = format!("the fluid model is not valid: {error}{from}");
            return Err(NoFluid { message, help: "change it, or set another value in [fluid]".into() });
        }
        Ok(FluidPlan {
            model,
            a: 5.0,
            stated: Stated::default(),
            start_rate: derived.start_rate.value,
            start_queue: 0.0,
            duration: plan.run.duration.as_secs_f64(),
            origins,
            left_out: derived.left_out,
            bottleneck: Some(derived.bottleneck),
        })
    }
}
