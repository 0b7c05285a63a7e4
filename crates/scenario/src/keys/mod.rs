//! The format: every key there is, in one table.

pub(crate) mod buffers;
mod dcb;
mod devices;
mod figure;
mod fluid;
mod network;
pub(crate) mod paper;
mod settings;
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
        about: "A scenario: a network, its traffic, what to record, how long to run and what to expect.",
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
            "The version of this format, so that a file never silently means something else later.",
        ),
        key(
            "base",
            Kind::File,
            Default::Absent("the file stands alone"),
            "Another scenario, relative to this file, that this one changes: tables are joined key by key, all else, \
             lists included, is replaced.",
        ),
        key("name", Kind::Text, Default::Absent("the file's name serves"), "What the scenario is called."),
        key("description", Kind::Text, Default::Absent("nothing is said"), "What it shows, for people."),
        key("network", table(network::network()), Default::Required, "Nodes, cables and routes."),
        key(
            "classes",
            tables(devices::classes()),
            Default::Nested("our choice: one lossless class, since lossless networks are what this laboratory is for"),
            "Priorities of Ethernet or virtual lanes of InfiniBand. The first is class 0; a later one is a higher \
             priority.",
        ),
        key(
            "switches",
            tables(devices::switches()),
            Default::Required,
            "Kinds of switches. Of several entries that match a switch the last one applies.",
        ),
        key(
            "adapters",
            tables(devices::adapters()),
            Default::Nested("our choice: hosts that consume at once"),
            "Kinds of adapters: the hosts' attachments. Of several entries that match a host the last one applies.",
        ),
        key(
            "protocol",
            table(traffic::protocol()),
            Default::Nested("our choice: the baseline of every comparison"),
            "The congestion control of all flows that do not name their own.",
        ),
        key(
            "congestion_point",
            table(devices::congestion_point()),
            Default::Absent("nothing is marked and nobody is told"),
            "The congestion point of all switches that do not have their own.",
        ),
        key("workloads", tables(traffic::workloads()), Default::Absent("nobody sends"), "The traffic."),
        key("faults", tables(settings::faults()), Default::Absent("no cable fails"), "Cables that fail."),
        key(
            "dcb",
            tables(dcb::dcb()),
            Default::Absent("no agent exchanges anything"),
            "Data Center Bridging as it is configured at nodes, for `tailback dcbx`. Of several entries that match a node \
             the last one applies; nodes that none matches are willing to learn.",
        ),
        key(
            "dcbx",
            table(dcb::dcbx()),
            Default::Absent("as lldpad has it; runs do not depend on it"),
            "How the agents of all nodes exchange what [[dcb]] configures.",
        ),
        key(
            "probes",
            table(settings::probes()),
            Default::Nested("our choice: record everything, at a hundred windows and a thousand samples a run"),
            "What to record, and how often.",
        ),
        key(
            "fluid",
            table(fluid::fluid()),
            Default::Absent("what follows from the protocol and the network"),
            "The scenario as differential equations, for `tailback stability`.",
        ),
        key("run", table(settings::run()), Default::Required, "How long to run, and how often."),
        key(
            "expectations",
            tables(settings::expectations()),
            Default::Absent("nothing is expected"),
            "What the results should be: each is judged after the run.",
        ),
        key(
            "sweep",
            Kind::Any,
            Default::Absent("there is nothing to sweep"),
            "For `tailback sweep`: paths of keys, each with the list of values it takes in turn, such as \
             \"switches[0].buffers[0].xoff\" = [\"50KB\", \"100KB\"].",
        ),
        key(
            "variants",
            tables(figure::variants()),
            Default::Absent("there is one way to run it"),
            "Named sets of changes: an axis of the grid beside those of [sweep].",
        ),
        key(
            "choices",
            tables(figure::choices()),
            Default::Absent("nothing is left open"),
            "For `tailback reproduce`: what a paper leaves open, and whether a verdict depends on it.",
        ),
        key(
            "trends",
            tables(figure::trends()),
            Default::Absent("nothing is said of the grid"),
            "For `tailback reproduce`: how quantities should go along the axes of the grid.",
        ),
        key(
            "charts",
            tables(figure::charts()),
            Default::Absent("every quantity is drawn along the first axis"),
            "For `tailback reproduce`: what to draw.",
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
                    assert!(source.len() > 10, "{path}: a default without a source");
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
