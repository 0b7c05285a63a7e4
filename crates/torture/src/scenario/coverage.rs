//! What there is to cover: every reading of every key, and every value of every choice.

use super::tree::{Table, Value};
use crate::random::Random;
use scenario::format::{Key, Kind, Section, root};
use std::collections::{BTreeMap, BTreeSet};

/// A key in one of its readings, or a value of it.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its path in the format.
    pub path: String,
    /// The value, where it is one of a choice.
    pub value: Option<String>,
    /// Where it is, for people: the path, the value and the conditions.
    pub name: String,
    /// Keys that must be there, each with the values that it may have.
    needs: Vec<(String, Vec<String>)>,
}

impl Target {
    /// What a scenario must have for the target to be in it.
    pub fn wanted(&self, random: &mut Random) -> BTreeMap<String, Vec<String>> {
        let mut wanted: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (path, values) in &self.needs {
            // One value each, so that keys that depend on each other agree.
            let one = if values.is_empty() { Vec::new() } else { vec![random.of(values).clone()] };
            let entry = wanted.entry(path.clone()).or_default();
            if entry.is_empty() {
                *entry = one;
            }
        }
        let value: Vec<String> = self.value.iter().cloned().collect();
        wanted.insert(self.path.clone(), value);
        wanted
    }
}

fn identity(path: &str, key: &Key) -> String {
    let conditions: Vec<String> = key.only.iter().map(|it| format!("{} = {}", it.key, it.values.join("|"))).collect();
    if conditions.is_empty() { path.to_owned() } else { format!("{path} ({})", conditions.join(", ")) }
}

/// All targets of the format.
#[must_use]
pub fn targets() -> Vec<Target> {
    let mut targets = Vec::new();
    walk(root(), "", &[], &[], &mut targets);
    targets
}

/// The conditions of a key as needs: the choices it depends on, and what these depend on.
fn needs_of(key: &Key, around: &[(String, &'static Key)]) -> Vec<(String, Vec<String>)> {
    // The first need of a path counts: the key's own before those of the choices it depends on.
    let (mut needs, mut further) = (Vec::new(), Vec::new());
    for condition in &key.only {
        let Some((path, choice)) = around.iter().rev().find(|(_, other)| other.name == condition.key) else { continue };
        needs.push((path.clone(), condition.values.clone()));
        further.extend(needs_of(choice, around));
    }
    needs.extend(further);
    needs
}

fn walk(
    section: &'static Section,
    path: &str,
    above: &[(String, Vec<String>)],
    around: &[(String, &'static Key)],
    targets: &mut Vec<Target>,
) {
    let mut around = around.to_vec();
    for key in &section.keys {
        let inner = if path.is_empty() { key.name.to_owned() } else { format!("{path}.{}", key.name) };
        let mut needs = above.to_vec();
        needs.extend(needs_of(key, &around));
        let name = identity(&inner, key);
        targets.push(Target { path: inner.clone(), value: None, name: name.clone(), needs: needs.clone() });
        if let Kind::Choice(choices) | Kind::TimeOr(choices) | Kind::PercentOr(choices) | Kind::Choices(choices) =
            &key.kind
        {
            for (choice, _) in choices {
                let (value, name) = (Some(choice.clone()), format!("{name} = {choice}"));
                targets.push(Target { path: inner.clone(), value, name, needs: needs.clone() });
            }
        }
        if key.kind.is_choice() {
            around.push((inner.clone(), key));
        }
        if let Kind::Table(table) | Kind::Tables(table) = &key.kind {
            needs.push((inner.clone(), Vec::new()));
            walk(table, &inner, &needs, &around, targets);
        }
    }
}

/// What has been covered, and how often.
#[derive(Clone, Debug, Default)]
pub struct Coverage(BTreeMap<String, u64>);

impl Coverage {
    /// Counts the keys and values of a scenario.
    pub fn see(&mut self, tree: &Table) {
        tree.visit(&mut |entry| {
            let name = identity(&entry.path, entry.key);
            *self.0.entry(name.clone()).or_default() += 1;
            if let Value::Raw(_) = entry.value {
                let seen: BTreeSet<&String> = entry.chosen.iter().collect();
                for value in seen {
                    *self.0.entry(format!("{name} = {value}")).or_default() += 1;
                }
            }
        });
    }

    /// Adds what another has seen.
    pub fn add(&mut self, other: &Coverage) {
        for (name, count) in &other.0 {
            *self.0.entry(name.clone()).or_default() += count;
        }
    }

    /// How often a target was met.
    #[must_use]
    pub fn count(&self, target: &Target) -> u64 {
        self.0.get(&target.name).copied().unwrap_or(0)
    }

    /// How many targets were met, of how many, and the names of the others.
    #[must_use]
    pub fn summary(&self) -> (usize, usize, Vec<String>) {
        let all = targets();
        let missing: Vec<String> = all.iter().filter(|it| self.count(it) == 0).map(|it| it.name.clone()).collect();
        (all.len() - missing.len(), all.len(), missing)
    }
}
