//! `[[dcb]]` and `[dcbx]` to settings of agents, and back from what the agents come to to classes and shares.

use super::names::Names;
use crate::dcbx::{DcbPlan, Exchange, exchange};
use crate::scenario::problem::Problem;
use crate::scenario::resolve::{Gathered, Node};
use crate::scenario::source::Place;
use control::{Applications, Settings, TieBreak, Timers};
use fabric::graph::{Graph, Role};
use fabric::spec::{AdapterSpec, ClassSpec, Egress, EgressGroup, Share, SwitchSpec};
use units::Bytes;
use wire::Priority;
use wire::lldp::ieee::{Application, EtsTable, Selection};

/// What is configured; `Some(None)` if nothing is, `None` if something is wrong.
pub(super) fn dcb(gathered: &mut Gathered<'_>, root: &Node, graph: &Graph) -> Option<Option<DcbPlan>> {
    let entries = root.tables("dcb");
    let exchange = root.table("dcbx");
    if entries.is_empty() {
        if let Some(node) = exchange {
            gathered.refuse(node.place, "[dcbx] does nothing without [[dcb]]", "add [[dcb]]: what the core configures");
            return None;
        }
        return (!root.given("dcb") && !root.given("dcbx")).then_some(None);
    }
    let mut plan = DcbPlan { settings: Vec::new(), timers: Timers::default(), spread: units::Span::ZERO, apply: false };
    let mut tie_break = TieBreak::default();
    if let Some(node) = exchange {
        let small = |key: &str| node.count(key).and_then(|count| u8::try_from(count).ok());
        plan.timers.interval = node.time("interval")?;
        plan.timers.hold = u16::from(small("hold")?);
        plan.timers.fast_interval = node.time("fast_interval")?;
        plan.timers.fast_count = small("fast_count")?;
        plan.timers.credit = small("credit")?;
        (plan.spread, plan.apply) = (node.time("spread")?, node.flag("apply")?);
        for (key, span) in [("interval", plan.timers.interval), ("fast_interval", plan.timers.fast_interval)] {
            if span < units::Span::from_secs(1) {
                gathered.refuse(node.place_of(key), format!("`{key}` below a second"), "LLDP counts in seconds");
                return None;
            }
        }
        if node.text("tie_break")? == "lower-wins" {
            tie_break = TieBreak::LowerWins;
        }
    }
    plan.settings = vec![Settings { tie_break, ..Settings::default() }; graph.nodes.len()];
    let names = Names::new("node", graph.nodes.iter().map(|node| node.name.as_str()));
    let mut good = true;
    for entry in entries {
        let settings = settings(gathered, entry);
        let patterns = entry.names("match").unwrap_or_default();
        match (names.select(gathered, &patterns, entry.place_of("match")), settings) {
            (Some(nodes), Some(settings)) => {
                let settings = Settings { tie_break, ..settings };
                nodes.iter().for_each(|&node| plan.settings[node as usize] = settings);
            }
            _ => good = false,
        }
    }
    good.then_some(Some(plan))
}

fn bits(node: &Node, key: &str) -> u8 {
    node.counts(key).unwrap_or_default().iter().fold(0, |bits, &(priority, _)| bits | 1 << (priority & 7))
}

fn settings(gathered: &mut Gathered<'_>, node: &Node) -> Option<Settings> {
    let mut settings = Settings::default();
    let willing = node.flag("willing")?;
    (settings.pfc.willing, settings.ets.willing, settings.applications.willing) = (willing, willing, willing);
    settings.pfc.priorities = bits(node, "pfc");
    settings.pfc.capability = node.count("pfc_capability").and_then(|count| u8::try_from(count).ok())?;
    settings.congestion = bits(node, "congestion_notification");
    settings.ets.table = ets(gathered, node)?;
    let recommend = node.flag("recommend").unwrap_or_else(|| {
        gathered.computed(&node.path, "recommend", !willing);
        !willing
    });
    settings.ets.recommendation = recommend.then_some(settings.ets.table);
    settings.applications.table = applications(gathered, node)?;
    (!["pfc", "congestion_notification", "ets"].iter().any(|key| node.given(key) && !node.has(key))).then_some(settings)
}

fn ets(gathered: &mut Gathered<'_>, node: &Node) -> Option<EtsTable> {
    let mut table = Settings::default().ets.table;
    let entries = node.tables("ets");
    if entries.len() > 8 {
        let message = format!("{} traffic classes, and there are at most 8", entries.len());
        gathered.refuse(node.place_of("ets"), message, "put priorities together");
        return None;
    }
    let mut seen: [Option<Place>; 8] = [None; 8];
    let (mut sum, mut shared) = (0, false);
    for (class, entry) in (0..).zip(entries) {
        for (priority, place) in entry.counts("priorities")? {
            let priority = priority as usize & 7;
            if let Some(before) = seen[priority].replace(place) {
                let problem = Problem::new(place, format!("priority {priority} is in two classes"), "leave it in one");
                gathered.problems.push(problem.and(before, "the first"));
                return None;
            }
            table.classes[priority] = Some(class);
        }
        if let Some(share) = entry.count("share") {
            sum += share;
            shared = true;
            table.shares[usize::from(class)] = share as u8;
            table.selection[usize::from(class)] = Selection::Share;
        }
    }
    if shared && sum != 100 {
        let message = format!("the shares make {sum} %");
        gathered.refuse(node.place_of("ets"), message, "they must make 100 % (IEEE 802.1Qaz)");
        return None;
    }
    Some(table)
}

fn applications(gathered: &mut Gathered<'_>, node: &Node) -> Option<Applications> {
    let mut entries = Vec::new();
    for entry in node.tables("applications") {
        let selector = match entry.text("kind")?.as_str() {
            "ether-type" => 1,
            "tcp" => 2,
            "udp" => 3,
            "port" => 4,
            _ => 5,
        };
        let priority = Priority::low_bits(entry.count("priority")? as u8);
        entries.push(Application { priority, selector, protocol: entry.count("protocol")? as u16 });
    }
    let table = Applications::new(entries);
    if table.is_none() {
        gathered.refuse(node.place_of("applications"), "more applications than a TLV holds", "there can be 168");
    }
    table
}

/// What the agents came to, to be taken by a run.
pub(super) struct Applied(Exchange);

/// Takes the lossless classes from the exchange. All ports must pause the same priorities: a class is lossless in the
/// whole network or not at all.
pub(super) fn apply(
    gathered: &mut Gathered<'_>,
    root: &Node,
    plan: &DcbPlan,
    graph: &Graph,
    seed: u64,
    classes: &mut [ClassSpec],
    layered: &mut [bool],
) -> Option<Applied> {
    let place = root.table("dcbx").map_or(root.place, |node| node.place_of("apply"));
    let exchange = exchange(graph, plan, seed);
    if !exchange.settled {
        gathered.refuse(place, "the agents never agree, so there is nothing to apply", "see `tailback dcbx`");
        return None;
    }
    let name = |node: fabric::graph::NodeId| graph.nodes[node.0 as usize].name.as_str();
    let paused = exchange.ports().next().map_or(0, |port| port.operating.pfc.value);
    if let Some(other) = exchange.ports().find(|port| port.operating.pfc.value != paused) {
        let message = format!(
            "the exchange leaves ports that pause different priorities, such as {} towards {}",
            name(other.node),
            name(other.peer)
        );
        gathered.refuse(
            place,
            message,
            "make the edge willing, or configure it alike; `tailback dcbx` shows every port",
        );
        return None;
    }
    let mut good = true;
    for (number, (class, node)) in classes.iter_mut().zip(root.tables("classes")).enumerate() {
        let lossless = paused >> number & 1 == 1;
        if node.given("lossless") && class.lossless != lossless {
            let state = if lossless { "paused" } else { "not paused" };
            let message =
                format!("class `{}` says otherwise: priority {number} is {state} by the exchange", class.name);
            gathered.refuse(node.place_of("lossless"), message, "remove it, or configure [[dcb]] accordingly");
            good = false;
        }
        class.lossless = lossless;
        if !node.given("layered")
            && let Some(layered) = layered.get_mut(number)
        {
            *layered = lossless;
            gathered.computed(&node.path, "layered", lossless);
        }
    }
    good.then_some(Applied(exchange))
}

impl Applied {
    /// Takes the shares from the exchange: each kind of device gets the table of its ports, which must be one.
    pub(super) fn share(
        &self,
        gathered: &mut Gathered<'_>,
        root: &Node,
        graph: &Graph,
        kind_of: &[u32],
        turn: Bytes,
        (switches, adapters): (&mut [SwitchSpec], &mut [AdapterSpec]),
    ) -> Option<()> {
        let place = root.table("dcbx").map_or(root.place, |node| node.place_of("apply"));
        let sections = [("switches", Role::Switch, switches.len()), ("adapters", Role::Host, adapters.len())];
        for (section, role, kinds) in sections {
            for kind in 0..kinds {
                let mut tables = self.0.ports().filter(|port| {
                    let node = port.node.0 as usize;
                    graph.nodes[node].role == role && kind_of[node] as usize == kind
                });
                let Some(first) = tables.next().map(|port| port.operating.ets.value) else { continue };
                if let Some(other) = tables.find(|port| port.operating.ets.value != first) {
                    let name = |node: fabric::graph::NodeId| graph.nodes[node.0 as usize].name.as_str();
                    let (node, peer) = (name(other.node), name(other.peer));
                    let message = format!(
                        "the exchange leaves ports of {section}[{kind}] with different shares, such as {node} towards {peer}"
                    );
                    gathered.refuse(place, message, "give those nodes a kind of their own, or configure them alike");
                    return None;
                }
                let entry = root.tables(section).get(kind);
                if let Some(entry) = entry.filter(|entry| entry.given("egress") || entry.given("vl_arbitration")) {
                    let message = "it says how classes share, and so does the exchange that is applied";
                    gathered.refuse(entry.place, message, "remove `egress`, or set dcbx.apply = false");
                    return None;
                }
                let egress = egress(&first, root.tables("classes").len(), turn);
                match role {
                    Role::Switch => switches[kind].egress = egress,
                    Role::Host => adapters[kind].egress = egress,
                }
            }
        }
        Some(())
    }
}

/// Groups of classes for deficit round robin: the smallest share has a turn of a largest frame.
fn egress(table: &EtsTable, classes: usize, turn: Bytes) -> Egress {
    let smallest = table.shares.iter().copied().filter(|&share| share > 0).min().unwrap_or(1);
    let unit = turn.get().max(1520).div_ceil(u64::from(smallest));
    let group = |class: u8| {
        let mine = |&priority: &usize| table.classes[priority].unwrap_or(0) == class;
        let bits = (0..classes.min(8)).filter(mine).fold(0, |bits, priority| bits | 1 << priority);
        let share = match table.selection[usize::from(class)] {
            Selection::Share => {
                Share::Weighted { quantum: Bytes::new(unit * u64::from(table.shares[usize::from(class)])) }
            }
            _ => Share::Strict,
        };
        (bits != 0).then(|| EgressGroup::turns(bits, share))
    };
    Egress::Groups((0..8).filter_map(group).collect())
}
