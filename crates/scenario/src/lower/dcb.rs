//! Conversion of `[[dcb]]` and `[dcbx]` to settings of agents, and of the agents' results to classes and shares.

use super::names::Names;
use crate::memory::Need;
use crate::problem::Problem;
use crate::resolve::{Gathered, Node};
use crate::source::Place;
use control::{Applications, Settings, TieBreak, Timers, Version};
use discovery::dcbx::{DcbPlan, Exchange, LinkDown, exchange};
use fabric::graph::{Graph, NodeId, Role};
use fabric::spec::{AdapterSpec, ClassSpec, Egress, EgressGroup, PortSpec, Share, SwitchSpec};
use units::{Bytes, Span, Time};
use wire::Priority;
use wire::lldp::ieee::{Application, EtsTable, Selection};

/// Returns the configuration; `Some(None)` if there is none, `None` if it is invalid.
pub(super) fn dcb(gathered: &mut Gathered<'_>, root: &Node, graph: &Graph) -> Option<Option<DcbPlan>> {
    let entries = root.tables("dcb");
    let exchange = root.table("dcbx");
    if entries.is_empty() {
        if let Some(node) = exchange {
            gathered.refuse(
                node.place,
                "[dcbx] has no effect without [[dcb]]",
                "add [[dcb]] with the settings of the core switches",
            );
            return None;
        }
        return (!root.given("dcb") && !root.given("dcbx")).then_some(None);
    }
    let mut plan = DcbPlan {
        settings: Vec::new(),
        timers: Timers::default(),
        spread: Span::ZERO,
        apply: false,
        changes: Vec::new(),
        link_down: LinkDown::default(),
    };
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
            if span < Span::from_secs(1) {
                gathered.refuse(
                    node.place_of(key),
                    format!("`{key}` is below one second"),
                    "give whole seconds, as LLDP does",
                );
                return None;
            }
        }
        if node.text("tie_break")? == "lower-wins" {
            tie_break = TieBreak::LowerWins;
        }
        if node.text("link_down")? == "keep" {
            plan.link_down = LinkDown::Keep;
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
                match entry.time("at").filter(|at| *at > Span::ZERO) {
                    None => nodes.iter().for_each(|&node| plan.settings[node as usize] = settings),
                    Some(at) => {
                        plan.changes.extend(nodes.iter().map(|&node| (Time::ZERO + at, NodeId(node), settings)));
                    }
                }
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
    if node.text("version")? == "cee" {
        settings.version = Version::Cee;
    }
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
        let message = format!("{} traffic classes; the limit is 8", entries.len());
        gathered.refuse(node.place_of("ets"), message, "put several priorities in one class");
        return None;
    }
    let mut seen: [Option<Place>; 8] = [None; 8];
    let (mut sum, mut shared) = (0, false);
    for (class, entry) in (0..).zip(entries) {
        for (priority, place) in entry.counts("priorities")? {
            let priority = priority as usize & 7;
            if let Some(before) = seen[priority].replace(place) {
                let problem = Problem::new(place, format!("priority {priority} is in two classes"), "keep it in one");
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
        let message = format!("the shares add up to {sum} %");
        gathered.refuse(node.place_of("ets"), message, MAKE_ALL);
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
        gathered.refuse(node.place_of("applications"), "too many applications for one TLV", "give at most 168");
    }
    table
}

/// The results of the agents, to be applied to a run.
pub(super) struct Applied {
    exchange: Exchange,
    /// Classes that some port pauses.
    lossless: u8,
}

/// Applies the lossless classes of the exchange: a class is lossless if any port pauses it. Where another port does
/// not, frames may be lost, and the run then ends.
pub(super) fn apply(
    gathered: &mut Gathered<'_>,
    root: &Node,
    plan: &DcbPlan,
    graph: &Graph,
    (seed, memory): (u64, u64),
    classes: &mut [ClassSpec],
    layered: &mut [bool],
) -> Option<Applied> {
    let place = root.table("dcbx").map_or(root.place, |node| node.place_of("apply"));
    if let Err((message, help)) = Need::default().and_agents(2 * graph.cables.len() as u64, 0).within(memory) {
        gathered.refuse(place, message, help);
        return None;
    }
    let exchange = exchange(graph, plan, seed);
    if !exchange.settled {
        gathered.refuse(
            place,
            "the DCBX agents do not converge, so there are no settings to apply",
            "run `tailback dcbx` to see why",
        );
        return None;
    }
    let lossless = exchange.ports().fold(0, |paused, port| paused | port.operating.pfc.value);
    let mut good = true;
    for (number, (class, node)) in classes.iter_mut().zip(root.tables("classes")).enumerate() {
        let lossless = lossless >> number & 1 == 1;
        if node.given("lossless") && class.lossless != lossless {
            let state = if lossless { "on" } else { "off at every port" };
            let message =
                format!("this contradicts DCBX: PFC for priority {number} of class `{}` is {state}", class.name);
            gathered.refuse(node.place_of("lossless"), message, "remove it, or change [[dcb]]");
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
    good.then_some(Applied { exchange, lossless })
}

impl Applied {
    /// Applies the shares of the exchange: a kind of device has those of its first port. Returns the ports that have
    /// other shares, or that do not pause all classes paused elsewhere.
    pub(super) fn share(
        &self,
        gathered: &mut Gathered<'_>,
        root: &Node,
        graph: &Graph,
        kind_of: &[u32],
        turn: Bytes,
        (switches, adapters): (&mut [SwitchSpec], &mut [AdapterSpec]),
    ) -> Option<Vec<PortSpec>> {
        let classes = root.tables("classes").len();
        let lossless = self.lossless & ((1_u16 << classes.min(8)) - 1) as u8;
        let mut first: [Vec<Option<EtsTable>>; 2] = [vec![None; switches.len()], vec![None; adapters.len()]];
        let mut apart = Vec::new();
        for port in self.exchange.ports() {
            let node = port.node.0 as usize;
            let host = graph.nodes[node].role == Role::Host;
            let table = port.operating.ets.value;
            let of_kind = first[usize::from(host)][kind_of[node] as usize].get_or_insert(table);
            let egress = (*of_kind != table).then(|| egress(&table, classes, turn));
            let pfc = port.operating.pfc.value & lossless;
            if egress.is_some() || pfc != lossless {
                apart.push(PortSpec { pfc, egress, ..PortSpec::plain(port.node, port.number) });
            }
        }
        for (section, host) in [("switches", false), ("adapters", true)] {
            for (kind, table) in first[usize::from(host)].iter().enumerate() {
                let Some(table) = table else { continue };
                let entry = root.tables(section).get(kind);
                if let Some(entry) = entry.filter(|entry| entry.given("egress") || entry.given("vl_arbitration")) {
                    let message = "`egress` conflicts with the bandwidth shares that DCBX applies";
                    gathered.refuse(entry.place, message, "remove `egress`, or set dcbx.apply = false");
                    return None;
                }
                let egress = egress(table, classes, turn);
                match host {
                    false => switches[kind].egress = egress,
                    true => adapters[kind].egress = egress,
                }
            }
        }
        Some(apart)
    }
}

/// Remedy for percentages that do not add up to 100.
pub(super) const MAKE_ALL: &str = "the shares must add up to 100 % (IEEE 802.1Qaz)";

/// Converts shares in percent to quanta of deficit round robin: the smallest share has a quantum of one largest frame.
pub(super) fn quanta(percentages: &[Option<u8>], turn: Bytes) -> Vec<Option<Bytes>> {
    let smallest = percentages.iter().copied().flatten().min().unwrap_or(1).max(1);
    let unit = turn.get().max(1520).div_ceil(u64::from(smallest));
    percentages.iter().map(|share| share.map(|share| Bytes::new(unit * u64::from(share)))).collect()
}

/// Returns the groups of classes for deficit round robin.
fn egress(table: &EtsTable, classes: usize, turn: Bytes) -> Egress {
    let shares = table.shares.map(|share| Some(share).filter(|&share| share > 0));
    let quanta = quanta(&shares, turn);
    let group = |class: u8| {
        let mine = |&priority: &usize| table.classes[priority].unwrap_or(0) == class;
        let bits = (0..classes.min(8)).filter(mine).fold(0, |bits, priority| bits | 1 << priority);
        let share = match table.selection[usize::from(class)] {
            Selection::Share => Share::Weighted { quantum: quanta[usize::from(class)].unwrap_or_default() },
            _ => Share::Strict,
        };
        (bits != 0).then(|| EgressGroup::turns(bits, share))
    };
    Egress::Groups((0..8).filter_map(group).collect())
}
