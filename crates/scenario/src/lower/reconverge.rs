//! Tables after cable failures: local repairs at their ends, and recomputed tables, either everywhere at a stated time
//! or at each switch after it has learned of the failure.

use super::routes::{Tables, compute};
use crate::plan::{Entry, Source};
use crate::resolve::{Gathered, Node};
use control::isis::Timers;
use discovery::spb::{self, News, down_at};
use fabric::graph::{Graph, NodeId};
use fabric::routing::{Bridges, Routes, Routing};
use fabric::spec::{Fault, RouteChange};
use std::collections::{BTreeMap, BTreeSet};
use units::{Span, Time, grouped};

/// Maximum number of link-state PDUs over all ends of cables in an exchange: some seconds.
const MOST_FLOODED: usize = 1 << 20;

/// Maximum number of learning switches that are named.
const TOLD: usize = 24;

/// The input of the computation of tables.
struct Given<'a> {
    node: &'a Node,
    graph: &'a Graph,
    routing: Option<&'a Routing>,
    first: &'a Routes,
    faults: &'a [Fault],
    tables: Tables<'a>,
}

/// Returns the tables that follow from failing cables. Sources keep their lanes.
pub(crate) fn after_faults(
    gathered: &mut Gathered<'_>,
    node: &Node,
    graph: &Graph,
    routing: Option<&Routing>,
    first: &Routes,
    faults: &[Fault],
) -> Option<Vec<RouteChange>> {
    let (repair, anew) = (node.time("local_repair"), node.time("reconverge"));
    if routing.is_none() && node.has("reconverge") {
        let help = "give `reroutes`, or choose another routing";
        gathered.refuse(node.place_of("reconverge"), "explicit tables cannot be recomputed", help);
        return None;
    }
    for key in ["local_repair", "reconverge"] {
        if node.has(key) && node.given("reroutes") {
            let message = format!("both `{key}` and `reroutes` change the tables");
            gathered.refuse(node.place_of(key), message, "keep one of them");
            return None;
        }
    }
    if let (Some(repair), Some(anew)) = (repair, anew)
        && repair >= anew
    {
        let help = "make it shorter than `reconverge`, or remove it";
        gathered.refuse(node.place_of("local_repair"), "all switches have new tables by then", help);
        return None;
    }
    let given = Given { node, graph, routing, first, faults, tables: Tables::new(graph) };
    let mut changes = match anew {
        Some(anew) => given.everywhere(gathered, anew)?,
        None if node.text("reconverge").is_some() => given.by_isis(gathered)?,
        None => Vec::new(),
    };
    if let Some(repair) = repair {
        changes.extend(given.repaired(repair, &changes));
    }
    Some(changes)
}

impl Given<'_> {
    fn moments(&self) -> BTreeSet<Time> {
        self.faults.iter().flat_map(|fault| [Some(fault.down), fault.up]).flatten().collect()
    }

    fn without(&self, gathered: &mut Gathered<'_>, down: &[u32]) -> Option<Routes> {
        let mut routes = compute(gathered, self.node, self.graph, self.routing, down)?;
        routes.take_layers(self.first);
        self.tables.lay_over(gathered, self.node.tables("routes"), &mut routes).then_some(routes)
    }

    fn everywhere(&self, gathered: &mut Gathered<'_>, anew: Span) -> Option<Vec<RouteChange>> {
        let change = |moment: Time| {
            let routes = self.without(gathered, &down_at(self.faults, moment))?;
            Some(RouteChange::everywhere(moment + anew, routes))
        };
        self.moments().into_iter().map(change).collect()
    }

    /// Updates the tables of each switch after it has learned of the failure and recomputed them.
    fn by_isis(&self, gathered: &mut Gathered<'_>) -> Option<Vec<RouteChange>> {
        let bridges = match self.routing {
            Some(Routing::Spb { bridges, .. }) => bridges.clone(),
            Some(Routing::Shortest | Routing::UpDown { .. }) => Bridges::plain(self.graph),
            _ => {
                let message = "with this routing, switches do not compute their own tables";
                let help = "give a time, or choose routing = \"shortest\", \"up-down\" or \"spb\"";
                gathered.refuse(self.node.place_of("reconverge"), message, help);
                return None;
            }
        };
        let switches = self.graph.switches().len();
        let flooded = switches.saturating_mul(2 * spb::trunks(self.graph).len());
        if flooded > MOST_FLOODED {
            let message = format!(
                "IS-IS would flood up to {} link-state PDUs; the limit is {}",
                grouped(flooded as u64),
                grouped(MOST_FLOODED as u64)
            );
            let help = "reduce the network, or give a time";
            gathered.refuse(self.node.place_of("reconverge"), message, help);
            return None;
        }
        let isis = self.node.table("isis")?;
        let (detection, computation) = (isis.time("detection")?, isis.time("computation")?);
        let timers = Timers { generation: isis.time("generation")?, ..Timers::default() };
        let Some(news) = spb::follow(self.graph, &bridges, self.faults, timers, detection) else {
            let help = "give a time instead";
            gathered.refuse(self.node.place_of("reconverge"), "IS-IS does not converge on this network", help);
            return None;
        };
        self.explain(gathered, &news, computation);
        let mut learned: BTreeMap<Vec<u32>, Vec<(NodeId, Time)>> = BTreeMap::new();
        for News { at, switch, down } in news {
            learned.entry(down).or_default().push((switch, at + computation));
        }
        let change = |(down, switches): (Vec<u32>, Vec<(NodeId, Time)>)| {
            let at = switches.iter().map(|&(_, at)| at).min()?;
            Some(RouteChange { at, routes: self.without(gathered, &down)?, switches })
        };
        let mut changes: Vec<RouteChange> = learned.into_iter().map(change).collect::<Option<_>>()?;
        changes.sort_by_key(|change| change.at);
        Some(changes)
    }

    /// Adds the measured times to the values of the plan.
    fn explain(&self, gathered: &mut Gathered<'_>, news: &[News], computation: Span) {
        let told = news.iter().take(TOLD).map(|it| {
            let name = &self.graph.nodes[it.switch.0 as usize].name;
            format!("{name} at {}", it.at + computation)
        });
        let mut value = told.collect::<Vec<_>>().join(", ");
        match news.len() {
            0 => value.push_str("no switch learns of it"),
            count if count > TOLD => value.push_str(&format!(", and {} more", count - TOLD)),
            _ => {}
        }
        let source = Source::Default("simulated: IS-IS convergence on this network, plus computation");
        gathered.entries.push(Entry { path: format!("{}.isis.learned", self.node.path), value, source });
    }

    /// Returns the local repairs at the ends of failed cables, applied to the tables that each switch has by then.
    fn repaired(&self, repair: Span, changes: &[RouteChange]) -> Vec<RouteChange> {
        let ports = self.graph.ports();
        let mut repaired = Vec::new();
        for moment in self.moments() {
            let (at, down) = (moment + repair, down_at(self.faults, moment));
            // By the tables they have, none being those of the start.
            let mut ends: BTreeMap<Option<usize>, Vec<NodeId>> = BTreeMap::new();
            for node in self.graph.switches() {
                if !ports[node.0 as usize].iter().any(|end| down.contains(&end.cable)) {
                    continue;
                }
                let times = |change: &RouteChange| change.times(node).filter(|&time| time <= at).max();
                let installed = changes.iter().enumerate().filter_map(|(number, it)| Some((times(it)?, number)));
                ends.entry(installed.max().map(|(_, number)| number)).or_default().push(node);
            }
            for (has, nodes) in ends {
                let before = has.map_or(self.first, |number| &changes[number].routes);
                let routes = before.repaired(self.graph, &down);
                if routes != *before {
                    let switches = nodes.into_iter().map(|node| (node, at)).collect();
                    repaired.push(RouteChange { at, routes, switches });
                }
            }
        }
        repaired
    }
}
