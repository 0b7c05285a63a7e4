//! Topologies of containerlab: `topology.nodes` with kinds, and `topology.links` with two endpoints each.

use super::super::{NamedText, Work};
use super::yaml::{Value, Yaml};
use super::{Attributes, Drawn, DrawnLink, yaml};
use crate::problem::Problem;
use std::collections::BTreeMap;

/// Kinds of nodes that are no switches, unless they connect others.
const PLAIN: [&str; 3] = ["linux", "ext-container", "k8s-kind"];
/// Endpoints that are the machine on which the laboratory runs.
const OUTSIDE: [&str; 3] = ["host", "mgmt-net", "macvlan"];
/// Keys of nodes that say nothing about links.
const NODE_KEYS: [&str; 4] = ["kind", "group", "labels", "type"];

pub(super) fn read(work: &mut Work, file: NamedText<'_>) -> Drawn {
    let mut drawn = Drawn::default();
    let Some(document) = yaml::read(work, file) else { return drawn };
    let Some(topology) = document.get("topology") else {
        work.refuse(document.place, "there is no `topology`", "give a topology of containerlab (*.clab.yml)");
        return drawn;
    };
    let text = |from: Option<&Yaml>, key: &str| from.and_then(|it| it.get(key)).and_then(Yaml::text).map(str::to_owned);
    let default = text(topology.get("defaults"), "kind");
    let mut known = BTreeMap::new();
    let nodes = topology.get("nodes").map(Yaml::entries).unwrap_or_default();
    if nodes.is_empty() {
        work.refuse(topology.place, "there are no `nodes` in `topology`", "give a topology of containerlab");
        return drawn;
    }
    let mut kinds = Vec::new();
    for (name, node) in nodes {
        let place = drawn.node(&mut known, name);
        let group = text(Some(node), "group");
        let of_group =
            text(topology.get("groups").zip(group.as_deref()).and_then(|(all, group)| all.get(group)), "kind");
        kinds.push(text(Some(node), "kind").or(of_group).or(default.clone()).unwrap_or_default());
        drawn.nodes[place].attributes = labels(node);
        if let Some(group) = group.filter(|_| !drawn.nodes[place].attributes.contains_key("role")) {
            drawn.nodes[place].attributes.insert("role".into(), group);
        }
        // Everything else configures the container.
        drawn.nodes[place].attributes.retain(|key, _| super::ROLES.contains(&key.as_str()));
    }
    let mut outside = 0;
    let mut taken = BTreeMap::new();
    for link in topology.get("links").map(Yaml::list).unwrap_or_default() {
        let ends: Vec<&Yaml> = match link.get("endpoints") {
            Some(ends) => ends.list().iter().collect(),
            None => link.get("endpoint").into_iter().collect(),
        };
        let names: Vec<Option<String>> = ends.iter().map(|end| endpoint(end)).collect();
        let kind = text(Some(link), "type").unwrap_or_else(|| "veth".to_owned());
        let is_outside = |name: &Option<String>| name.as_ref().is_some_and(|name| OUTSIDE.contains(&name.as_str()));
        if kind != "veth" || names.iter().any(is_outside) {
            outside += 1;
            continue;
        }
        let [Some(a), Some(b)] = names.as_slice() else {
            let help = "give endpoints: [\"leaf1:eth1\", \"server1:eth1\"]";
            work.refuse(link.place, "this link does not have two `endpoints` of the form node:interface", help);
            continue;
        };
        for port in ends.iter().filter_map(|end| interface(end)) {
            if let Some(first) = taken.insert(port.clone(), link.place) {
                let problem =
                    Problem::new(link.place, format!("{port} has two links"), "an interface has one link; correct one");
                work.problems.push(problem.and(first, "the first"));
            }
        }
        let positions = [a, b].map(|name| known.get(name.as_str()).copied());
        let [Some(from), Some(to)] = positions else {
            let missing = if positions[0].is_none() { a } else { b };
            work.refuse(
                link.place,
                format!("this link names {missing}, which is not in `nodes`"),
                "add it, or correct it",
            );
            continue;
        };
        let mut attributes = labels(link);
        for (key, value) in link.entries().iter().chain(link.get("vars").map(Yaml::entries).unwrap_or_default()) {
            if let (Value::Text(text), false) = (&value.value, ["type", "mtu"].contains(&key.as_str())) {
                attributes.insert(key.to_ascii_lowercase(), text.clone());
            }
        }
        drawn.links.push(DrawnLink { ends: [from, to], attributes, place: link.place });
    }
    if outside > 0 {
        work.note("links", format!("{outside} lead out of the laboratory and are left out"));
    }
    roles(&mut drawn, &kinds);
    drawn
}

/// Hosts are plain containers whose neighbours are all network systems.
fn roles(drawn: &mut Drawn, kinds: &[String]) {
    let plain: Vec<bool> = kinds.iter().map(|kind| kind.is_empty() || PLAIN.contains(&kind.as_str())).collect();
    for node in 0..drawn.nodes.len() {
        let others = drawn.links.iter().filter(|link| link.ends.contains(&node));
        let mut others = others.map(|link| link.ends[usize::from(link.ends[0] == node)]);
        let among_systems = plain[node] && others.all(|other| !plain[other]);
        drawn.nodes[node].is_host = match (plain[node], super::role(&drawn.nodes[node].attributes)) {
            (_, Some(role)) => Some(role),
            (false, None) => Some(false),
            (true, None) => among_systems.then_some(true),
        };
    }
}

/// The node of an endpoint: `leaf1:eth1`, or a map with `node`.
fn endpoint(end: &Yaml) -> Option<String> {
    match &end.value {
        Value::Text(text) => text.split_once(':').map(|(node, _)| node.trim().to_owned()),
        _ => end.get("node").and_then(Yaml::text).map(str::to_owned),
    }
}

/// Node and interface of an endpoint.
fn interface(end: &Yaml) -> Option<String> {
    match &end.value {
        Value::Text(text) => text.split_once(':').map(|(node, port)| format!("{}:{}", node.trim(), port.trim())),
        _ => Some(format!("{}:{}", end.get("node")?.text()?, end.get("interface")?.text()?)),
    }
}

/// Labels of a node or link, and a node's plain keys.
fn labels(of: &Yaml) -> Attributes {
    let labels = of.get("labels").map(Yaml::entries).unwrap_or_default();
    let own = of.entries().iter().filter(|(key, _)| !NODE_KEYS.contains(&key.as_str()) && key == "role");
    let texts =
        labels.iter().chain(own).filter_map(|(key, value)| Some((key.to_ascii_lowercase(), value.text()?.to_owned())));
    texts.collect()
}
