//! The format: every key there is, in one table.

pub(crate) mod buffers;
mod collective;
mod dcb;
mod devices;
pub(crate) mod examples;
mod figure;
mod fluid;
mod network;
pub(crate) mod paper;
mod requests;
mod settings;
mod subnet;
mod traffic;

use super::key::{Default, Key, Kind, Section, key};
use std::sync::OnceLock;

/// The version of the format this program reads.
pub(crate) const SCHEMA_VERSION: u64 = 1;

/// The whole format.
#[must_use]
pub fn root() -> &'static Section {
    static ROOT: OnceLock<Section> = OnceLock::new();
    ROOT.get_or_init(|| Section {
        about: "A scenario describes a network, its traffic, the data to record, the duration and the expected \
             results.",
        keys: keys(),
    })
}

fn keys() -> Vec<Key> {
    let tables = |section: Section| Kind::Tables(Box::new(section));
    let table = |section: Section| Kind::Table(Box::new(section));
    vec![
        key(
            "schema_version",
            Kind::Count(SCHEMA_VERSION, SCHEMA_VERSION),
            Default::Required,
            "Version of the scenario format.",
        ),
        key(
            "base",
            Kind::File,
            Default::Absent("the file is complete in itself"),
            "Path of another scenario, relative to this file, that this one modifies. Tables are merged key by key; \
             everything else, lists included, is replaced.",
        ),
        key(
            "set",
            Kind::Any,
            Default::Absent("nothing is changed"),
            "Changes to this file and its base: key paths with their values, as in overrides, such as { \
             \"switches[0].buffers[0].xoff\" = \"80KB\" }. Unlike a list, which replaces that of the base, a path \
             changes one value; [*] selects every entry of a list.",
        ),
        key("name", Kind::Text, Default::Absent("the name of the file"), "Name of the scenario."),
        key("description", Kind::Text, Default::Absent("no description"), "Free text: the purpose of the scenario."),
        key("network", table(network::network()), Default::Required, "Nodes, links and routes."),
        key(
            "classes",
            tables(devices::classes()),
            Default::Nested("our choice: one lossless class"),
            "Ethernet priorities or InfiniBand virtual lanes. The first entry is class 0; later entries have higher \
             priority.",
        ),
        key(
            "switches",
            tables(devices::switches()),
            Default::Required,
            "Types of switches. If several entries match a switch, the last one applies.",
        ),
        key(
            "adapters",
            tables(devices::adapters()),
            Default::Nested("our choice: hosts that consume frames on arrival"),
            "Types of adapters, which attach hosts to the network. If several entries match a host, the last one \
             applies.",
        ),
        key(
            "protocol",
            table(traffic::protocol()),
            Default::Nested("our choice: no congestion control"),
            "Congestion control of every flow whose workload does not set its own: a table, or a name for its defaults.",
        )
        .by_name(),
        key(
            "recovery",
            table(traffic::recovery()),
            Default::Nested("our choice: nothing is retransmitted"),
            "Loss recovery of every flow whose workload does not set its own: a table, or a name for its defaults.",
        )
        .by_name(),
        key(
            "path_selection",
            table(traffic::path_selection()),
            Default::Nested("our choice: a hash of the flow, as switches do it without help of the sources"),
            "Path selection of every flow whose workload does not set its own: a table, or a name for its defaults.",
        )
        .by_name(),
        key(
            "congestion_point",
            table(devices::congestion_point()),
            Default::Absent("switches neither mark frames nor send notices"),
            "Congestion point of every switch that does not set its own.",
        ),
        key("workloads", tables(traffic::workloads()), Default::Absent("no traffic"), "The traffic."),
        key("faults", tables(settings::faults()), Default::Absent("no link fails"), "Link failures."),
        key(
            "dcb",
            tables(dcb::dcb()),
            Default::Absent("no DCBX agents"),
            "Data Center Bridging settings of nodes, for `tailback dcbx`. If several entries match a node, the last \
             one applies. A node without an entry is willing: it accepts its neighbours' settings.",
        ),
        key(
            "dcbx",
            table(dcb::dcbx()),
            Default::Absent("lldpad's defaults; a run does not depend on them"),
            "Timing and rules of the DCBX agents that exchange the settings of [[dcb]].",
        ),
        key(
            "probes",
            table(settings::probes()),
            Default::Nested("our choice: every table, 100 throughput windows and 1000 samples per run"),
            "Which tables to record, and how often.",
        ),
        key(
            "fluid",
            table(fluid::fluid()),
            Default::Absent("derived from the protocol and the network"),
            "Fluid model of the scenario, for `tailback stability`.",
        ),
        key("run", table(settings::run()), Default::Required, "Duration, seed and number of runs."),
        key(
            "expectations",
            tables(settings::expectations()),
            Default::Absent("nothing is checked"),
            "Metrics to measure after the run and the values they should have.",
        ),
        key(
            "sweep",
            Kind::Any,
            Default::Absent("no sweep"),
            "For `tailback sweep`: key paths, each with a list of values, such as \"switches[0].buffers[0].xoff\" = \
             [\"50KB\", \"100KB\"].",
        ),
        key(
            "variants",
            tables(figure::variants()),
            Default::Absent("no variants"),
            "Named sets of overrides. They form one axis of the grid; each path of [sweep] forms another.",
        ),
        key(
            "choices",
            tables(figure::choices()),
            Default::Absent("the paper leaves nothing open"),
            "For `tailback reproduce`: parameters that a paper does not state. Every verdict is checked against each \
             of their values.",
        ),
        key(
            "trends",
            tables(figure::trends()),
            Default::Absent("no trends are checked"),
            "For `tailback reproduce`: how quantities should change along the axes of the grid.",
        ),
        key(
            "charts",
            tables(figure::charts()),
            Default::Absent("every quantity along the first axis"),
            "For `tailback reproduce`: the charts to draw.",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(section: &Section, path: &str, above: &[&str], see: &mut impl FnMut(&str, &Key, &[&str])) {
        let mut known: Vec<&str> = above.to_vec();
        for key in &section.keys {
            see(&format!("{path}{}", key.name), key, &known);
            if key.kind.is_choice() {
                known.push(key.name);
            }
            if let Kind::Table(inner) | Kind::Tables(inner) = &key.kind {
                walk(inner, &format!("{path}{}.", key.name), &known, see);
            }
        }
    }

    #[test]
    fn every_key_says_what_it_means_and_every_default_where_it_comes_from() {
        walk(root(), "", &[], &mut |path, key, known| {
            assert!(key.meaning.ends_with('.'), "{path}: {}", key.meaning);
            match key.default {
                Default::Value(_, source) | Default::Computed(_, source) | Default::Nested(source) => {
                    assert!(source.len() >= "our choice".len(), "{path}: a default without a source");
                }
                Default::Absent(meaning) => assert!(!meaning.is_empty(), "{path}: what does absence mean?"),
                Default::Required => {}
            }
            for condition in &key.only {
                assert!(known.contains(&condition.key), "{path}: {} is not a choice before it", condition.key);
                assert!(!condition.values.is_empty(), "{path}");
            }
        });
    }
}
