//! Resolution of the subjects of an expectation: names of flows, nodes and directions of links to indices.

use super::names::{LazyNames, Names};
use super::traffic::Traffic;
use crate::expect::Subjects;
use crate::metric::{Metric, Subject};
use crate::pattern::Pattern;
use crate::plan::CollectivePlan;
use crate::resolve::{Gathered, Node};
use crate::source::Place;
use fabric::graph::Graph;
use std::collections::BTreeSet;

/// Returns the flows that match names of flows and workloads.
pub(crate) fn flows_of(
    gathered: &mut Gathered<'_>,
    of: &Named,
    fallback: Place,
    flows: &LazyNames<'_>,
    workloads: &Names<'_>,
    traffic: &Traffic,
) -> Option<Vec<u32>> {
    let mut chosen = BTreeSet::new();
    for (text, place) in of {
        let name = [(text.clone(), *place)];
        if Pattern::parse(text).map_or(true, |pattern| workloads.matching(&pattern).is_empty()) {
            chosen.extend(flows.select(gathered, &name, fallback)?);
            continue;
        }
        let groups = workloads.select(gathered, &name, fallback)?;
        let members = groups.iter().flat_map(|&workload| traffic.workload_of.flows(workload));
        chosen.extend(members.map(|flow| flow as u32));
    }
    Some(chosen.into_iter().collect())
}

/// Resolves names.
pub(crate) struct Finder<'a, 'n> {
    pub(crate) graph: &'a Graph,
    pub(crate) nodes: &'a Names<'a>,
    pub(crate) flows: &'a LazyNames<'n>,
    pub(crate) workloads: &'a Names<'a>,
    /// `None` if the traffic is invalid: no flow can then be found, which is not reported again.
    pub(crate) traffic: Option<&'a Traffic>,
}

type Named = [(String, Place)];

impl Finder<'_, '_> {
    /// Resolves the keys `of` and `over` of an expectation.
    pub(crate) fn find(
        &self,
        gathered: &mut Gathered<'_>,
        node: &Node,
        subject: Subject,
        metric: Metric,
    ) -> Option<Subjects> {
        let mut found = Subjects::default();
        match subject {
            Subject::Run => {}
            Subject::Flows | Subject::AllFlows => {
                let flows = self.flows_of(gathered, &node.names("of")?, node.place);
                if let Some(over) = node.names("over") {
                    found.over = Some(self.flows_of(gathered, &over, node.place)?);
                }
                found.flows = flows?;
                for flows in found.over.iter().chain([&found.flows]).filter(|_| metric.is_about_collectives()) {
                    self.has_collective(gathered, node, flows)?;
                }
                for flows in found.over.iter().chain([&found.flows]).filter(|_| metric == Metric::RequestTime) {
                    self.has_requests(gathered, node, flows)?;
                }
            }
            Subject::Places => {
                let (links, nodes): (Vec<_>, Vec<_>) =
                    node.names("of")?.into_iter().partition(|(text, _)| text.contains("->"));
                let chosen = self.nodes.select(gathered, &nodes, node.place);
                found.ports = self.ports_of(gathered, &links, metric == Metric::Buffer)?;
                found.nodes = chosen?;
            }
            Subject::Links => found.ports = self.ports_of(gathered, &node.names("of")?, false)?,
        }
        Some(found)
    }

    /// Returns the flows that match names of flows and workloads.
    fn flows_of(&self, gathered: &mut Gathered<'_>, of: &Named, fallback: Place) -> Option<Vec<u32>> {
        flows_of(gathered, of, fallback, self.flows, self.workloads, self.traffic?)
    }

    /// Reports flows that belong to no collective operation as a whole.
    fn has_collective(&self, gathered: &mut Gathered<'_>, node: &Node, flows: &[u32]) -> Option<()> {
        let first = |plan: &CollectivePlan| flows.binary_search(&plan.first_flow).is_ok();
        if self.traffic?.collectives.iter().any(first) {
            return Some(());
        }
        let help = "name a workload of kind \"collective\", or choose another metric";
        gathered.refuse(node.place_of("of"), "this is not a collective operation", help);
        None
    }

    /// Reports flows that belong to no requests as a whole.
    fn has_requests(&self, gathered: &mut Gathered<'_>, node: &Node, flows: &[u32]) -> Option<()> {
        if self.traffic?.requests.iter().any(|plan| flows.binary_search(&plan.first_flow).is_ok()) {
            return Some(());
        }
        let help = "name a workload of kind \"request-response\", or choose another metric";
        gathered.refuse(node.place_of("of"), "these flows are no requests", help);
        None
    }

    /// Returns the sending or receiving ports of the named directions.
    fn ports_of(&self, gathered: &mut Gathered<'_>, links: &Named, receiving: bool) -> Option<Vec<u32>> {
        let mut chosen = BTreeSet::new();
        let mut good = true;
        for (text, place) in links {
            match self.direction(gathered, text, *place, receiving) {
                Some(ports) => chosen.extend(ports),
                None => good = false,
            }
        }
        good.then(|| chosen.into_iter().collect())
    }

    fn direction(&self, gathered: &mut Gathered<'_>, text: &str, place: Place, receiving: bool) -> Option<Vec<u32>> {
        let Some((from, to)) = text.split_once("->") else {
            let message = format!("`{text}` is not a link");
            gathered.refuse(place, message, "write sender and receiver, such as \"sw0->h1\"");
            return None;
        };
        let mut end = |name: &str| self.nodes.select(gathered, &[(name.trim().to_owned(), place)], place);
        let (from, to) = (end(from), end(to));
        let (from, to): (Vec<u32>, BTreeSet<u32>) = (from?, to?.into_iter().collect());
        let ports = self.graph.ports();
        let mut next = 0;
        let mut first = Vec::with_capacity(ports.len());
        for ends in &ports {
            first.push(next);
            next += ends.len() as u32;
        }
        let mut found = Vec::new();
        for node in from {
            for (number, end) in (0..).zip(&ports[node as usize]) {
                if to.contains(&end.peer.0) {
                    let far = first[end.peer.0 as usize] + u32::from(end.peer_port);
                    found.push(if receiving { far } else { first[node as usize] + number });
                }
            }
        }
        if found.is_empty() {
            gathered.refuse(place, format!("there is no link `{text}`"), "name two neighbours, such as \"sw0->h1\"");
            return None;
        }
        Some(found)
    }
}
