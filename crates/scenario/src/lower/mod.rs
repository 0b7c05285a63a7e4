//! Conversion of typed sections to a network description: names become indices, defaults by rule are computed, and
//! contradictions are found. All problems are collected, so that one does not hide the next.

mod arrivals;
pub(crate) mod bridges;
pub(crate) mod buffers;
mod collective;
mod dcb;
pub(crate) mod devices;
pub(crate) mod figure;
mod flow;
mod fluid;
pub(crate) mod frames;
mod listed;
pub(crate) mod names;
pub(crate) mod network;
mod points;
mod ports;
pub(crate) mod reconverge;
mod requests;
mod routes;
pub(crate) mod settings;
mod subjects;
pub(crate) mod subnet;
pub(crate) mod traffic;

use super::Limits;
use super::expect::expectation;
use super::plan::Plan;
use super::resolve::{Gathered, Node};
use super::stage::Stage;
use super::{Recipe, Subject};
use congestion::ReactionPoint;
use fabric::lanes::LanesError;
use fabric::spec::NetworkSpec;
use names::{LazyNames, Names};
use std::cell::{LazyCell, OnceCell};
use std::sync::Arc;
use units::{Bytes, Time};

/// Positions from which the parts of the network were made, to map errors of the fabric back to them.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    /// Position of each kind of switch.
    pub(crate) switches: Vec<super::Place>,
    /// Position of each kind of adapter.
    pub(crate) adapters: Vec<super::Place>,
    /// Position of each workload.
    pub(crate) workloads: Vec<super::Place>,
}

/// Returns the plan of a resolved scenario; `None` if there are problems, which have been reported.
pub(crate) fn plan(
    gathered: &mut Gathered<'_>,
    root: &Node,
    recipe: &Arc<Recipe>,
    seed: Option<u64>,
    limits: &Limits,
) -> (Option<Plan>, Origins) {
    let mut origins = Origins::default();
    let run = settings::run(gathered, root, seed);
    let classes = devices::classes(gathered, root);
    recipe.observer.notify(Stage::Network);
    let network = network::network(gathered, root, limits);
    let sweep = settings::sweep(gathered, root);
    let (Some((mut classes, mut layered)), Some(mut network)) = (classes, network) else { return (None, origins) };
    // What goes on without a part that is missing serves to find more mistakes: the plan is not made any more.
    let complete = run.is_some();
    let stated = run;
    let run = run.unwrap_or_else(settings::some_run);
    let dcb = dcb::dcb(gathered, root, &network.graph);
    let complete = complete && dcb.is_some();
    let dcb = dcb.flatten();
    let applied = match dcb.as_ref().filter(|dcb| dcb.apply) {
        Some(dcb) => {
            let applied =
                dcb::apply(gathered, root, dcb, &network.graph, (run.seed, limits.memory), &mut classes, &mut layered);
            let Some(applied) = applied else { return (None, origins) };
            Some(applied)
        }
        None => None,
    };
    let hosts = network.graph.hosts();
    let host_names = Names::new("host", hosts.iter().map(|host| network.graph.nodes[host.0 as usize].name.as_str()));
    let class_names = Names::new("class", classes.iter().map(|class| class.name.as_str()));
    let (graph, overhead) = (&network.graph, network.overhead);
    let subject = Subject { graph, hosts: &host_names, classes: &class_names, run: &run, overhead };
    recipe.observer.notify(Stage::Flows);
    let traffic = traffic::traffic(gathered, root, &subject, &recipe.attachments, limits);
    origins.workloads = root.tables("workloads").iter().map(|node| node.place).collect();
    let complete = complete && traffic.is_some();
    let traffic = traffic.unwrap_or_default();
    let mut rules = buffers::Rules::new(&network.graph, &classes, &class_names, &traffic.flows, network.overhead);
    rules.exact = root.table("network").and_then(|node| node.text("headroom")).as_deref() == Some("exact");
    if let Some(largest) = network.largest_frame {
        rules.carry(largest);
    }
    let switches = devices::switches(gathered, root, &mut rules);
    let adapters = devices::adapters(gathered, root, &rules);
    origins.switches = root.tables("switches").iter().map(|node| node.place).collect();
    origins.adapters = root.tables("adapters").iter().map(|node| node.place).collect();
    let faults = settings::faults(gathered, root, &network.graph);
    let probes = settings::probes(gathered, root, &network.graph, &run);
    let node_names = Names::new("node", network.graph.nodes.iter().map(|node| node.name.as_str()));
    let workload_names = Names::new("workload", traffic.workloads.iter().map(String::as_str));
    // Only expectations and charts of single flows need an index of all names.
    let texts = OnceCell::new();
    let all_names = || texts.get_or_init(|| traffic.names.iter().collect::<Vec<_>>()).iter().map(|name| &**name);
    let flow_names: LazyNames<'_> = LazyCell::new(Box::new(|| Names::new("flow or workload", all_names())));
    let finder = subjects::Finder {
        graph: &network.graph,
        nodes: &node_names,
        flows: &flow_names,
        workloads: &workload_names,
        traffic: complete.then_some(&traffic),
    };
    let mut expectations = Vec::new();
    for node in root.tables("expectations") {
        let number = expectations.len();
        let find = |gathered: &mut Gathered<'_>, subject, metric| finder.find(gathered, node, subject, metric);
        expectations.extend(expectation(gathered, node, number, stated.as_ref(), find));
    }
    let known =
        figure::Known { graph: &network.graph, traffic: &traffic, flows: &flow_names, workloads: &workload_names };
    let variant = recipe.variant.as_ref();
    let figure = figure::figure(gathered, root, &sweep, variant, complete.then_some(&known));
    // Both borrow the names, which move into the plan.
    drop(flow_names);
    drop(texts);
    let (Some(switches), Some(adapters)) = (switches, adapters) else { return (None, origins) };
    let (Some(faults), Some(probes)) = (faults, probes) else { return (None, origins) };
    let changes = root.table("network").and_then(|node| {
        if (node.has("reconverge") || node.has("local_repair"))
            && let Err((message, help)) =
                network::need_of_changes(&network.graph, 2 * faults.len()).within(limits.memory)
        {
            gathered.refuse(node.place, message, help);
            return None;
        }
        reconverge::after_faults(gathered, node, &network.graph, network.routing.as_ref(), &network.routes, &faults)
    });
    let (true, Some(changes)) = (complete, changes) else { return (None, origins) };
    network.route_changes.extend(changes);
    let mut kind_of = switches.kind_of.clone();
    for (node, kind) in adapters.kind_of.iter().copied().enumerate() {
        if network.graph.nodes[node].role == fabric::graph::Role::Host {
            kind_of[node] = kind;
        }
    }
    let Some(mut ports) = ports::ports(gathered, root, &rules, &switches) else { return (None, origins) };
    let (mut switches, mut adapters) = (switches.kinds, adapters.kinds);
    if let Some(applied) = &applied {
        let frames = largest_frames(&traffic.flows, classes.len()).into_iter().max().unwrap_or(Bytes::ZERO);
        let turn = frames + network.overhead;
        let shared = applied.share(gathered, root, &network.graph, &kind_of, turn, (&mut switches, &mut adapters));
        let Some(apart) = shared else { return (None, origins) };
        let Some(both) = ports::merged(gathered, root, ports, apart) else { return (None, origins) };
        ports = both;
    }
    let spec = NetworkSpec {
        routes: network.routes,
        route_changes: network.route_changes,
        multipath: network.multipath,
        classes,
        switches,
        adapters,
        kind_of,
        ports,
        overhead: network.overhead,
        smallest_frame: network.smallest_frame,
        frame_time: network.frame_time,
        flows: traffic.flows.into(),
        path_numbers: traffic.path_numbers,
        dependencies: traffic.dependencies,
        faults,
        end: Time::ZERO.saturating_add(run.duration),
        seed: run.seed,
        graph: network.graph,
    };
    let lanes = |layered: bool| if layered { usize::from(spec.routes.lanes()) } else { 1 };
    let in_lanes = layered.iter().flat_map(|&layered| std::iter::repeat_n(layered, lanes(layered))).collect();
    let spec = match fabric::lanes::spread(spec, &layered) {
        Ok(spec) => spec,
        Err(error) => {
            let text = error.to_string();
            let (message, help) = text.split_once("; ").unwrap_or((&text, ""));
            let place = match error {
                LanesError::ManyDestinations { flow } => {
                    traffic.workload_of.get(flow).map(|workload| workload as usize)
                }
                LanesError::TooMany { .. } => None,
            };
            let place = place.and_then(|workload| origins.workloads.get(workload)).copied();
            gathered.refuse(place.unwrap_or(root.place_of("classes")), message, help);
            return (None, origins);
        }
    };
    let stem = recipe.sources.iter().next().map(|source| file_stem(&source.name)).unwrap_or_default();
    let name = root.text("name").unwrap_or(stem);
    let mut plan = Plan {
        name: variant.map_or(name.clone(), |variant| format!("{name}, {variant}")),
        description: root.text("description").unwrap_or_default(),
        spec,
        run,
        probes,
        flow_names: traffic.names,
        workload_of_flow: traffic.workload_of,
        workload_names: traffic.workloads,
        collectives: traffic.collectives,
        requests: traffic.requests,
        captures: traffic.captures,
        expectations,
        sweep,
        figure,
        fluid: None,
        dcb,
        routing: network.routing,
        services: network.services,
        subnet: network.subnet,
        largest_frame: network.largest_frame,
        layered: in_lanes,
        entries: std::mem::take(&mut gathered.entries),
        recipe: Arc::clone(recipe),
    };
    if let Some(node) = root.table("fluid") {
        plan.fluid = fluid::fluid(gathered, node, &mut plan);
    }
    (Some(plan), origins)
}

fn file_stem(name: &str) -> String {
    let stem = std::path::Path::new(name).file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    files::text::on_one_line(&stem).into_owned()
}

/// Returns the largest frame of each class: tagged data, acknowledgements and probes.
pub(crate) fn largest_frames(flows: &[fabric::workload::FlowSpec], classes: usize) -> Vec<Bytes> {
    let mut largest = vec![Bytes::ZERO; classes];
    let mut see = |class: u8, size: Bytes| {
        if let Some(known) = largest.get_mut(usize::from(class)) {
            *known = size.max(*known);
        }
    };
    for flow in flows {
        let telemetry = flow.telemetry.map_or(Bytes::ZERO, |telemetry| telemetry.size);
        see(flow.class, flow.frame + flow.reaction.tag_size() + flow.added());
        if let Some(acknowledge) = flow.acknowledge {
            see(acknowledge.class, acknowledge.size + telemetry);
        }
        if let Some(probe) = flow.path_probe {
            see(probe.class, probe.size);
            see(probe.answer_class, probe.size);
        }
    }
    largest
}
