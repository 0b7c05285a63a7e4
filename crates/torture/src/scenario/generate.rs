//! Random scenarios out of the table of keys.
//!
//! Every key there is has a chance, and one target of each scenario, a key or a value of a choice, is certain to be in
//! it before it is mended. What the loader refuses is taken out or drawn again, at the line it complains about, until it
//! has nothing to say: so most scenarios are sound, and the loader's complaints are tried on the way.

use super::coverage::{Coverage, Target, targets};
use super::tree::{Entry, Scope, Table, Value};
use super::world::World;
use super::{draw, hints};
use crate::random::Random;
use scenario::format::{Default, Key, Kind, Section, root};
use scenario::{Errors, FileReader, Limits, Plan, load_str};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// No random scenario is larger.
pub const SMALL: Limits = Limits { nodes: 200, cables: 600, routes: 20_000, flows: 400, memory: 1 << 30, runs: true };
/// How often a scenario is mended before it counts as refused.
const ROUNDS: usize = 24;

/// A scenario file and the files it names.
#[derive(Clone, Debug, Default)]
pub struct Files(pub BTreeMap<String, String>);

/// The name of the scenario itself.
pub const NAME: &str = "scenario.toml";

impl FileReader for Files {
    fn read(&self, path: &Path) -> Result<String, String> {
        self.0.get(&*path.to_string_lossy()).cloned().ok_or_else(|| "there is no such file".into())
    }
}

impl Files {
    /// The scenario's own text.
    #[must_use]
    pub fn text(&self) -> &str {
        self.0.get(NAME).map_or("", String::as_str)
    }

    /// Reads it.
    ///
    /// # Errors
    /// All that the loader complains about.
    pub fn load(&self) -> Result<Plan, Errors> {
        load_str(NAME, self.text(), &[], self, SMALL)
    }

    /// Writes the files into a folder.
    ///
    /// # Errors
    /// What the disk says.
    pub fn store(&self, folder: &Path) -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        self.0.iter().try_for_each(|(name, text)| std::fs::write(folder.join(name), text))
    }
}

/// A random scenario that was accepted, or the last form that was refused.
pub struct Scenario {
    /// What it is made of.
    pub tree: Table,
    /// As it is written.
    pub files: Files,
    /// Its plan, or what is wrong with it.
    pub plan: Result<Plan, Errors>,
    /// How often it was mended.
    pub rounds: usize,
    /// Complaints that name no file, no line, or say nothing.
    pub mute: Vec<String>,
}

/// A random scenario; the target is in it, unless mending took it out again.
pub fn scenario(random: &mut Random, target: Option<&Target>) -> Scenario {
    let mut world = World {
        duration: *random.of(&[2_000, 20_000, 50_000, 100_000, 100_000]),
        classes: (0..1 + random.below(3)).map(|number| format!("c{number}")).collect(),
        workloads: workloads(random),
        density: *random.of(&[3, 8, 15, 30]),
        ..World::default()
    };
    if let Some(target) = target {
        world.wanted = target.wanted(random);
    }
    if random.percent(10) && !world.wanted.contains_key("network.topology") || wants_nodes(&world) {
        world.written_out = 1 + random.below(3);
    }
    let drawing = drawing(&mut world, random);
    let mut tree = table(root(), "", &Scope::new(), &mut world, random, Some(&drawing));
    let with_base = tree.get("base").is_some();
    let lower: BTreeSet<&str> = match with_base {
        true => tree.entries.iter().map(|entry| entry.key.name).filter(|_| random.percent(50)).collect(),
        false => BTreeSet::new(),
    };
    let in_base = |name: &str| name != "schema_version" && name != "base" && lower.contains(name);
    let mut mute = Vec::new();
    let mut rounds = 0;
    loop {
        tree.sweep();
        let mut files = Files::default();
        let upper = tree.write(|name| !in_base(name));
        let base = with_base.then(|| tree.write(in_base));
        files.0.insert(NAME.into(), upper.text.clone());
        files.0.insert("flows.csv".into(), "source,destination,bytes,start\nh0,h1,5000,1us\nh1,h0,100,\n".into());
        files.0.insert("sizes.cdf".into(), "# bytes probability\n100 0.1\n1500 0.6\n60000 1.0\n".into());
        if let Some(base) = &base {
            files.0.insert("base.toml".into(), format!("schema_version = 1\n{}", base.text));
        }
        let plan = files.load();
        let Err(errors) = &plan else { return Scenario { tree, files, plan, rounds, mute } };
        let mut places = BTreeSet::new();
        for complaint in errors.complaints() {
            if complaint.line == 0 || complaint.message.is_empty() || !files.0.contains_key(&complaint.file) {
                mute.push(format!("{}:{}: {}", complaint.file, complaint.line, complaint.message));
            }
            let address = match (complaint.file.as_str(), &base) {
                (NAME, _) => upper.lines.get(complaint.line.wrapping_sub(1)),
                ("base.toml", Some(base)) => base.lines.get(complaint.line.wrapping_sub(2)),
                _ => None,
            };
            places.extend(address.cloned());
        }
        rounds += 1;
        if rounds > ROUNDS || places.is_empty() || !mute.is_empty() {
            return Scenario { tree, files, plan, rounds, mute };
        }
        // The last places first, so that those before them keep their addresses.
        for address in places.iter().rev() {
            mend(&mut tree, address, &mut world, random, rounds);
        }
    }
}

/// Tries to have every target in a scenario that is accepted, so many times each. Returns those that never were, each with
/// the last complaint.
///
/// # Panics
/// If a complaint names no place.
#[must_use]
pub fn unreached(seed: u64, attempts: u64) -> Vec<(String, String)> {
    let mut coverage = Coverage::default();
    let mut unreached = Vec::new();
    for (target, number) in targets().iter().zip(0..) {
        let mut last = String::new();
        for attempt in 0..attempts {
            if coverage.count(target) > 0 {
                break;
            }
            let made = scenario(&mut Random::new(seed, number * attempts + attempt, "scenario"), Some(target));
            assert!(made.mute.is_empty(), "{:?}\n{}", made.mute, made.files.text());
            match &made.plan {
                Ok(_) => coverage.see(&made.tree),
                Err(errors) => last = errors.complaints().map(|it| format!("{}; {}. ", it.message, it.help)).collect(),
            }
        }
        if coverage.count(target) == 0 {
            unreached.push((target.name.clone(), last));
        }
    }
    unreached
}

/// Names of workloads, odd ones among them.
fn workloads(random: &mut Random) -> Vec<String> {
    let odd = ["w", "=w", "b\u{e4}ck, \"gro\u{fc}nd\"", "a b"];
    (0..1 + random.below(3))
        .map(|number| format!("{}{number}", if random.percent(85) { "w" } else { random.of(&odd) }))
        .collect()
}

fn wants_nodes(world: &World) -> bool {
    world.wanted.keys().any(|path| path.starts_with("network.nodes") || path.starts_with("network.links"))
}

/// The nodes and cables, and their names.
fn drawing(world: &mut World, random: &mut Random) -> Table {
    const KEPT: [&str; 4] = ["topology", "link", "nodes", "links"];
    let network = root().keys.iter().find(|key| key.name == "network");
    let Some(Kind::Table(section)) = network.map(|key| &key.kind) else { return Table::default() };
    let density = world.density;
    for attempt in 0..16 {
        // What is left out has its default, which fits.
        world.density = if attempt < 6 { density } else { 0 };
        let mut drawn = table(section, "network", &Scope::new(), world, random, None);
        let of_topology = |entry: &Entry| {
            KEPT.contains(&entry.key.name)
                || entry.key.only.iter().any(|condition| condition.key == "topology" && entry.key.name != "trunk")
        };
        drawn.entries.retain(of_topology);
        let mut whole = Table::default();
        let key = network.unwrap_or(&root().keys[0]);
        let entry = Entry {
            key,
            path: "network".into(),
            value: Value::Table(drawn.clone()),
            chosen: Vec::new(),
            scope: Scope::new(),
            required: true,
        };
        whole.entries.push(entry);
        let text = format!(
            "schema_version = 1\nswitches = {{ buffers = {{ capacity = \"1MB\" }} }}\nrun = {{ duration = \"1us\" }}\n{}",
            whole.write(|_| true).text
        );
        let limits = Limits { nodes: 40, cables: 80, ..SMALL };
        if let Ok(plan) = load_str(NAME, &text, &[], &Files::default(), limits)
            && plan.spec.graph.hosts().len() >= 2
        {
            world.see(&plan.spec.graph);
            world.density = density;
            return drawn;
        }
    }
    world.density = density;
    world.hosts = vec!["h0".into(), "h1".into()];
    world.switches = vec!["sw0".into()];
    world.cables = vec![("h0".into(), "sw0".into())];
    Table::default()
}

/// The reading of a key that applies.
fn reading<'a>(readings: impl Iterator<Item = &'a Key>, scope: &Scope) -> Option<&'a Key> {
    let look = |key: &str| scope.iter().rev().find(|(name, _)| *name == key).and_then(|(_, value)| value.as_ref());
    let holds = |key: &&Key| key.only.iter().all(|it| look(it.key).is_some_and(|value| it.values.contains(value)));
    readings.into_iter().find(holds)
}

/// A table of random keys. At the top, `drawing` is the network that others refer to.
fn table(
    section: &'static Section,
    path: &str,
    around: &Scope,
    world: &mut World,
    random: &mut Random,
    drawing: Option<&Table>,
) -> Table {
    let mut scope = around.clone();
    let mut table = Table::default();
    let mut done = BTreeSet::new();
    for key in &section.keys {
        if !done.insert(key.name) {
            continue;
        }
        let inner = if path.is_empty() { key.name.to_owned() } else { format!("{path}.{}", key.name) };
        let Some(key) = reading(section.keys.iter().filter(|other| other.name == key.name), &scope) else {
            if key.kind.is_choice() {
                scope.push((key.name, None));
            }
            continue;
        };
        let drawn_before = drawing.filter(|_| path == "network").and_then(|drawing| drawing.get(key.name)).cloned();
        let given = drawn_before.is_some() || draw::given(&inner, key, world, random);
        let mut choice = match key.default {
            Default::Value(text, _) => Some(text.to_owned()),
            _ => None,
        };
        if given {
            let entry = drawn_before.unwrap_or_else(|| entry(key, &inner, &scope, world, random, drawing));
            choice = entry.chosen.first().cloned().or(match &entry.value {
                Value::Raw(text) => Some(text.trim_matches('"').to_owned()),
                _ => None,
            });
            table.entries.push(entry);
        }
        if key.kind.is_choice() {
            scope.push((key.name, choice));
        }
    }
    table
}

fn entry(
    key: &'static Key,
    path: &str,
    scope: &Scope,
    world: &mut World,
    random: &mut Random,
    drawing: Option<&Table>,
) -> Entry {
    let mut chosen = Vec::new();
    let value = match &key.kind {
        Kind::Table(section) => Value::Table(table(section, path, scope, world, random, drawing)),
        Kind::Tables(section) => {
            let outer = world.index;
            let tables = (0..hints::count(path, world, random))
                .map(|number| {
                    world.index = number;
                    table(section, path, scope, world, random, drawing)
                })
                .collect();
            world.index = outer;
            Value::Tables(tables)
        }
        _ => {
            let (text, names) = draw::value(path, key, world, random);
            chosen = names;
            Value::Raw(text)
        }
    };
    let required = matches!(key.default, Default::Required) || path == "network.topology";
    Entry { key, path: path.to_owned(), value, chosen, scope: scope.clone(), required }
}

/// Takes out what is complained about, or draws it again.
fn mend(tree: &mut Table, address: &[usize], world: &mut World, random: &mut Random, round: usize) {
    let Some((found, place)) = tree.at(address) else { return };
    let target = world.wanted.contains_key(&found.path);
    // What was asked for is drawn again for a while, and so is what cannot be left out.
    if (found.required && place.is_none()) || (target && round < ROUNDS / 2 && random.percent(70)) || random.percent(15)
    {
        let (key, path, scope) = (found.key, found.path.clone(), found.scope.clone());
        match (&mut found.value, place) {
            (Value::Tables(tables), Some(place)) => {
                if let (Kind::Tables(section), Some(old)) = (&key.kind, tables.get_mut(place)) {
                    world.index = place;
                    *old = table(section, &path, &scope, world, random, None);
                }
            }
            (value, None) if path != "network" => *value = entry(key, &path, &scope, world, random, None).value,
            _ => {}
        }
        if let Some((found, None)) = tree.at(address)
            && let (Value::Raw(text), true) = (&found.value, found.key.kind.is_choice())
        {
            found.chosen = vec![text.trim_matches('"').to_owned()];
        }
        return;
    }
    let mut address = address.to_vec();
    while !address.is_empty() && !tree.remove(&address) {
        address.pop();
    }
}
