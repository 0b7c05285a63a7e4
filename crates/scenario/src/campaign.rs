//! Single faults of a network as changes to its scenario: what `tailback faults` tries one by one.

use super::import::quoted;
use super::pattern::Pattern;
use super::plan::Plan;
use super::tree::{Data, Item, Table};
use super::value::written;
use fabric::graph::{NodeId, Role};
use fabric::spec::FlowControl;
use std::collections::BTreeMap;
use units::{Rate, Span};

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// A link fails.
    LinkFails,
    /// A link fails and recovers several times.
    LinkFlaps,
    /// A link damages frames.
    BitErrors,
    /// All links of a switch fail.
    SwitchFails,
    /// A host consumes frames slowly.
    SlowReceiver,
    /// A host consumes nothing and pauses its switch.
    PauseStorm,
}

impl FaultKind {
    /// All kinds.
    pub const ALL: [FaultKind; 6] = [
        FaultKind::LinkFails,
        FaultKind::LinkFlaps,
        FaultKind::BitErrors,
        FaultKind::SwitchFails,
        FaultKind::SlowReceiver,
        FaultKind::PauseStorm,
    ];

    /// Returns its name.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            FaultKind::LinkFails => "link-fails",
            FaultKind::LinkFlaps => "link-flaps",
            FaultKind::BitErrors => "bit-errors",
            FaultKind::SwitchFails => "switch-fails",
            FaultKind::SlowReceiver => "slow-receiver",
            FaultKind::PauseStorm => "pause-storm",
        }
    }

    /// Returns the kind of that name.
    #[must_use]
    pub fn named(word: &str) -> Option<FaultKind> {
        FaultKind::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// When faults begin and end, and how strong they are.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultSettings {
    /// Time at which they begin.
    pub at: Span,
    /// Time at which they end; `None` if they last.
    pub until: Option<Span>,
    /// Half the period of a link that flaps.
    pub flap: Span,
    /// Bit error rate of a link that damages frames.
    pub bit_error_rate: f64,
    /// What a slow receiver consumes, as a part of its link.
    pub slow: f64,
}

impl FaultSettings {
    /// Returns the settings for a network that is busy from the first time to the second: from a tenth of that on. Lasting failures; a bit error rate at which a
    /// frame of 1500 B in a thousand is lost; a receiver at a tenth of its link.
    #[must_use]
    pub fn of([first, last]: [Span; 2]) -> FaultSettings {
        let part = |parts: u64| Span::from_picos(((last - first).as_picos() / parts).max(1));
        FaultSettings { at: first + part(10), until: None, flap: part(50), bit_error_rate: 1e-7, slow: 0.1 }
    }
}

/// How often a link that flaps fails.
const FLAPS: u64 = 5;
/// Receive buffer of a host that had none: as large as those of adapters are, and XOFF low, so that its pauses begin with
/// the fault. Our choice.
const CAPACITY: &str = "1MB";
const XOFF: &str = "64KB";

/// A fault: its name and the changes that make it.
#[derive(Clone, Debug, PartialEq)]
pub struct SingleFault {
    /// Name, such as `link leaf0-spine1 fails`.
    pub name: String,
    /// Its kind.
    pub kind: FaultKind,
    /// Changes to the scenario: paths and values as TOML.
    pub changes: Vec<(String, String)>,
}

/// Returns every single fault of some kinds that a network can have: at links of which an end, and at nodes which one of
/// the patterns matches. Hosts without flow control at their switch do not storm.
#[must_use]
pub fn single_faults(
    plan: &Plan,
    kinds: &[FaultKind],
    among: &[Pattern],
    settings: &FaultSettings,
) -> Vec<SingleFault> {
    let graph = &plan.spec.graph;
    let name = |node: NodeId| graph.nodes[node.0 as usize].name.as_str();
    let chosen = |name: &str| among.is_empty() || among.iter().any(|pattern| pattern.matches(name));
    let mut faults = Vec::new();
    for &kind in kinds {
        match kind {
            FaultKind::LinkFails | FaultKind::LinkFlaps | FaultKind::BitErrors => {
                let mut met: BTreeMap<(u32, u32), u64> = BTreeMap::new();
                let pair = |a: NodeId, b: NodeId| (a.0.min(b.0), a.0.max(b.0));
                let mut count: BTreeMap<(u32, u32), u64> = BTreeMap::new();
                graph.cables.iter().for_each(|cable| *count.entry(pair(cable.a, cable.b)).or_default() += 1);
                for cable in &graph.cables {
                    let key = pair(cable.a, cable.b);
                    let which = *met.entry(key).and_modify(|which| *which += 1).or_insert(0);
                    let parallel = (count[&key] > 1).then_some(which);
                    let ends = [name(cable.a), name(cable.b)];
                    if ends.iter().any(|end| chosen(end)) {
                        faults.push(link_fault(kind, ends, parallel, settings));
                    }
                }
            }
            FaultKind::SwitchFails => {
                for switch in graph.switches().into_iter().map(name).filter(|name| chosen(name)) {
                    let fault = failure(&between([switch, "*"], None), settings.at, settings.until);
                    let changes = vec![("faults[+]".to_owned(), fault)];
                    faults.push(SingleFault { name: format!("switch {switch} fails"), kind, changes });
                }
            }
            FaultKind::SlowReceiver | FaultKind::PauseStorm => {
                let hosts = (0..).map(NodeId).zip(&graph.nodes).filter(|(_, node)| node.role == Role::Host);
                let hosts = hosts.filter(|(_, node)| chosen(&node.name));
                faults.extend(hosts.filter_map(|(host, _)| host_fault(plan, kind, host, settings)));
            }
        }
    }
    faults
}

/// The keys that select a link.
fn between(ends: [&str; 2], which: Option<u64>) -> String {
    let which = which.map(|which| format!(", which = {which}")).unwrap_or_default();
    format!("between = [{}, {}]{which}", quoted(ends[0]), quoted(ends[1]))
}

/// A failure as TOML.
fn failure(link: &str, down: Span, up: Option<Span>) -> String {
    let up = up.map(|up| format!(", up = \"{up}\"")).unwrap_or_default();
    format!("{{ {link}, down = \"{down}\"{up} }}")
}

fn link_fault(kind: FaultKind, ends: [&str; 2], which: Option<u64>, settings: &FaultSettings) -> SingleFault {
    let link = between(ends, which);
    let number = which.map(|which| format!(" ({which})")).unwrap_or_default();
    let name = |what: &str| format!("link {}-{}{number} {what}", ends[0], ends[1]);
    let (name, change) = match kind {
        FaultKind::LinkFlaps => {
            let once = |number: u64| {
                let down = settings.at + settings.flap * (2 * number);
                failure(&link, down, Some(down + settings.flap))
            };
            let all: Vec<String> = (0..FLAPS).map(once).collect();
            (name("flaps"), ("faults[+]".to_owned(), format!("[{}]", all.join(", "))))
        }
        FaultKind::BitErrors => {
            let cable = format!("{{ {link}, bit_error_rate = {:?} }}", settings.bit_error_rate);
            (name("has bit errors"), ("network.cables[+]".to_owned(), cable))
        }
        _ => (name("fails"), ("faults[+]".to_owned(), failure(&link, settings.at, settings.until))),
    };
    SingleFault { name, kind, changes: vec![change] }
}

/// A host that consumes slowly, or nothing: its adapter with a change of its service.
fn host_fault(plan: &Plan, kind: FaultKind, host: NodeId, settings: &FaultSettings) -> Option<SingleFault> {
    let spec = &plan.spec;
    let name = &spec.graph.nodes[host.0 as usize].name;
    let cable = spec.graph.cables.iter().find(|cable| cable.a == host || cable.b == host)?;
    let switch = if cable.a == host { cable.b } else { cable.a };
    let own = spec.flow_control(host);
    let control = match (own, spec.flow_control(switch)) {
        (FlowControl::None, other) | (other, _) => match other {
            FlowControl::None => "none",
            FlowControl::Pause(_) => "pause",
            FlowControl::Pfc(_) => "pfc",
            FlowControl::Credits(_) => "credits",
        },
    };
    if kind == FaultKind::PauseStorm && control == "none" {
        return None;
    }
    let rate = match kind {
        FaultKind::PauseStorm => Rate::ZERO,
        _ => Rate::from_bits_per_sec((cable.link.rate.as_bits_per_sec() as f64 * settings.slow) as u64),
    };
    let mut service = format!("{{ at = \"{}\", rate = \"{rate}\" }}", settings.at);
    if let Some(until) = settings.until {
        service = format!("{service}, {{ at = \"{until}\" }}");
    }
    let number = spec.kind_of[host.0 as usize];
    let given = given_adapter(plan, number as usize);
    let keys = given.map(|table| table.entries.iter()).into_iter().flatten();
    let changed = ["match", "flow_control", "service_changes"];
    let mut keys: Vec<String> = keys
        .filter(|(key, _)| !changed.contains(&key.as_str()))
        .map(|(key, entry)| format!("{key} = {}", written(&entry.item)))
        .collect();
    if given.is_none_or(|table| table.get("buffers").is_none()) {
        let xoff = if ["pfc", "pause"].contains(&control) { format!(", xoff = \"{XOFF}\"") } else { String::new() };
        keys.push(format!("buffers = {{ capacity = \"{CAPACITY}\"{xoff} }}"));
    }
    let adapter = format!(
        "{{ match = {}, flow_control = \"{control}\", service_changes = [{service}], {} }}",
        quoted(name),
        keys.join(", ")
    );
    let of_kind = |node: &NodeId| spec.kind_of[node.0 as usize] == number;
    let hosts = (0..).map(NodeId).zip(&spec.graph.nodes).filter(|(_, node)| node.role == Role::Host);
    let alone = hosts.map(|(host, _)| host).filter(of_kind).count() == 1;
    let change = match given {
        // An entry that applies to no host any more would be refused.
        Some(_) if alone => (format!("adapters[{number}]"), adapter),
        Some(_) => ("adapters[+]".to_owned(), adapter),
        None => ("adapters[+]".to_owned(), format!("[{{}}, {adapter}]")),
    };
    let what = if kind == FaultKind::PauseStorm { "storms PAUSE" } else { "receives slowly" };
    Some(SingleFault { name: format!("host {name} {what}"), kind, changes: vec![change] })
}

/// The entry of `[[adapters]]` with that number, if the scenario has any.
fn given_adapter(plan: &Plan, number: usize) -> Option<&Table> {
    match &plan.recipe.tree.get("adapters")?.item.data {
        Data::Table(table) => Some(table),
        Data::List(items) => match items.get(number) {
            Some(Item { data: Data::Table(table), .. }) => Some(table),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, NoFiles, load_str};

    const TEXT: &str = r#"schema_version = 1
[network]
topology = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 2
link = { rate = "10Gb/s", latency = "500ns" }
[[switches]]
flow_control = "pfc"
buffers = { capacity = "300KB" }
[[workloads]]
kind = "incast"
from = "h{1..3}"
to = "h0"
size = "100KB"
[run]
duration = "1ms"
"#;

    fn plan(text: &str, overrides: &[String]) -> Plan {
        load_str("a.toml", text, overrides, &NoFiles, Limits::default()).unwrap_or_else(|errors| panic!("{errors}"))
    }

    #[test]
    fn every_fault_of_a_network_loads() {
        for text in [TEXT.to_owned(), format!("{TEXT}[[adapters]]\n[[adapters]]\nmatch = \"h0\"\n")] {
            let plan_ = plan(&text, &[]);
            let settings = FaultSettings::of([Span::ZERO, plan_.run.duration]);
            let faults = single_faults(&plan_, &FaultKind::ALL, &[], &settings);
            let count = |kind: FaultKind| faults.iter().filter(|fault| fault.kind == kind).count();
            assert_eq!(FaultKind::ALL.map(count), [8, 8, 8, 4, 4, 4]);
            for fault in &faults {
                let overrides: Vec<String> =
                    fault.changes.iter().map(|(path, value)| format!("{path}={value}")).collect();
                let with = plan(&text, &overrides);
                match fault.kind {
                    FaultKind::LinkFails => assert_eq!(with.spec.faults.len(), 1, "{}", fault.name),
                    FaultKind::LinkFlaps => assert_eq!(with.spec.faults.len(), 5, "{}", fault.name),
                    FaultKind::SwitchFails => assert!(with.spec.faults.len() > 1, "{}", fault.name),
                    FaultKind::BitErrors => {
                        let noisy = with.spec.graph.cables.iter().filter(|cable| cable.link.bit_error_rate > 0.0);
                        assert_eq!(noisy.count(), 1, "{}", fault.name);
                    }
                    FaultKind::SlowReceiver | FaultKind::PauseStorm => {
                        let slow = with.spec.adapters.iter().filter(|it| !it.service_changes.is_empty());
                        assert_eq!(slow.count(), 1, "{}", fault.name);
                    }
                }
            }
        }
    }

    #[test]
    fn faults_begin_while_there_is_traffic() {
        let settings = FaultSettings::of([Span::from_millis(4), Span::from_millis(5)]);
        assert_eq!((settings.at, settings.flap), (Span::from_micros(4_100), Span::from_micros(20)));
    }

    #[test]
    fn patterns_select_links_and_nodes() {
        let plan = plan(TEXT, &[]);
        let settings =
            FaultSettings { until: Some(Span::from_micros(500)), ..FaultSettings::of([Span::ZERO, plan.run.duration]) };
        let spine = [Pattern::parse("spine1").unwrap()];
        let faults = single_faults(&plan, &FaultKind::ALL, &spine, &settings);
        let names: Vec<&str> = faults.iter().map(|fault| fault.name.as_str()).collect();
        assert!(names.contains(&"switch spine1 fails") && names.len() == 7, "{names:?}");
        let change = &faults.iter().find(|fault| fault.kind == FaultKind::SwitchFails).unwrap().changes[0];
        assert_eq!(change.1, "{ between = [\"spine1\", \"*\"], down = \"100us\", up = \"500us\" }");
    }
}
