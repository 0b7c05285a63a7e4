//! Conversion of `[[variants]]`, `[[choices]]`, `[[trends]]`, `[[charts]]` and `where`.

use super::names::{LazyNames, Names};
use super::settings::{axis, fits};
use super::subjects::flows_of;
use super::traffic::Traffic;
use crate::expect::{Expected, expected, kind};
use crate::figure::{ChartKind, ChartWish, ChoiceOption, Figure, Group, OpenChoice, Shape, Trend, VARIANT, Within};
use crate::metric::METRICS;
use crate::overrides::{Path, kind_at};
use crate::plan::Axis;
use crate::resolve::{Gathered, Node, join};
use crate::source::Place;
use crate::tree::{Data, Item, Table};
use crate::value::written;
use crate::variants::{assignments, changes_nothing, empty_changes};
use fabric::graph::Graph;

/// The names that these sections may refer to.
pub(crate) struct Known<'a, 'n> {
    pub(crate) graph: &'a Graph,
    pub(crate) traffic: &'a Traffic,
    pub(crate) flows: &'a LazyNames<'n>,
    pub(crate) workloads: &'a Names<'a>,
}

/// Formats a value as written by a user: text without its quotes.
fn plain(item: &Item) -> String {
    match &item.data {
        Data::Text(text) => text.clone(),
        _ => written(item),
    }
}

/// Reads the description of the figure. Invalid parts are reported and omitted.
pub(crate) fn figure(
    gathered: &mut Gathered<'_>,
    root: &Node,
    sweep: &[Axis],
    variant: Option<&String>,
    known: Option<&Known<'_, '_>>,
) -> Figure {
    let variants = variants(gathered, root);
    let mut axes: Vec<(String, Vec<String>)> = Vec::new();
    if !variants.is_empty() {
        axes.push((VARIANT.to_owned(), variants.clone()));
    }
    axes.extend(sweep.iter().map(|axis| (axis.path.clone(), axis.labels())));
    let reader = Reader { axes: &axes, quantities: root.tables("expectations") };
    Figure {
        variant: variant.cloned(),
        judged_in: reader.quantities.iter().map(|node| reader.within(gathered, node)).collect(),
        choices: root.tables("choices").iter().filter_map(|node| reader.choice(gathered, node)).collect(),
        trends: root.tables("trends").iter().filter_map(|node| reader.trend(gathered, node)).collect(),
        charts: root.tables("charts").iter().filter_map(|node| reader.chart(gathered, node, known)).collect(),
        variants,
    }
}

fn variants(gathered: &mut Gathered<'_>, root: &Node) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for node in root.tables("variants") {
        let Some(name) = node.text("name") else { continue };
        // `--variant` and an axis take a name as a shell gives it, without spaces and quotes around it.
        if name.is_empty() || name.trim().trim_matches('"') != name {
            let message = "the name of a variant is empty, or has a space or a quote at its beginning or end";
            gathered.refuse(node.place_of("name"), message, "remove it");
        }
        if names.contains(&name) {
            gathered.refuse(
                node.place_of("name"),
                format!("a second variant is named `{name}`"),
                "give each its own name",
            );
        }
        names.push(name);
        named_set(gathered, node);
    }
    names
}

/// Reads a named set of changes as overrides; `None` if it is invalid, which is reported.
fn named_set(gathered: &mut Gathered<'_>, node: &Node) -> Option<ChoiceOption> {
    let (label, item) = (node.text("name")?, node.any("set")?);
    let Data::Table(changes) = &item.data else {
        let message = format!("expected a table, found {}", item.data.describe());
        gathered.refuse(item.place, message, "write { \"path\" = value }");
        return None;
    };
    let mut set = Vec::new();
    let mut good = true;
    for (path, key) in empty_changes(changes) {
        let (message, help) = changes_nothing(path);
        gathered.refuse(key, message, help);
        good = false;
    }
    for (path, key, value) in assignments(changes) {
        let parsed = Path::parse(&path).map_err(|reason| (reason, "write \"run.duration\" = \"5ms\"".to_owned()));
        match parsed.and_then(|path| kind_at(&path).map(|kinds| (path, kinds))) {
            Ok((steps, kinds)) => good &= fits(gathered, &steps, &kinds, value),
            Err((message, help)) => {
                gathered.refuse(key, message, help);
                good = false;
            }
        }
        set.push(format!("{path}={}", written(value)));
    }
    good.then_some(ChoiceOption { label, set })
}

struct Reader<'a> {
    axes: &'a [(String, Vec<String>)],
    quantities: &'a [Node],
}

impl Reader<'_> {
    /// Reads the cells that `where` selects.
    fn within(&self, gathered: &mut Gathered<'_>, node: &Node) -> Within {
        let mut within = Within::default();
        let Some(item) = node.any("where") else { return within };
        match &item.data {
            Data::Table(table) => self.limits(gathered, table, "", &mut within),
            data => {
                let message = format!("expected a table, found {}", data.describe());
                gathered.refuse(item.place, message, "write { variant = [\"a\", \"b\"] }");
            }
        }
        within
    }

    fn limits(&self, gathered: &mut Gathered<'_>, table: &Table, above: &str, within: &mut Within) {
        for (name, entry) in &table.entries {
            let path = join(above, name);
            if let Data::Table(inner) = &entry.item.data {
                self.limits(gathered, inner, &path, within);
                continue;
            }
            let Some(known) = self.axis(gathered, &path, entry.key) else { continue };
            let items = match &entry.item.data {
                Data::List(items) => items.as_slice(),
                _ => std::slice::from_ref(&entry.item),
            };
            let names = Names::new("value", known.iter().map(String::as_str));
            let mut values = Vec::new();
            for item in items {
                let value = plain(item);
                if names.one(gathered, &value, item.place).is_some() {
                    values.push(value);
                }
            }
            within.0.push((path, values));
        }
    }

    /// Returns the values of an axis.
    fn axis(&self, gathered: &mut Gathered<'_>, name: &str, place: Place) -> Option<&[String]> {
        let names = Names::new("axis", self.axes.iter().map(|(name, _)| name.as_str()));
        let number = names.one(gathered, name, place)?;
        Some(&self.axes[number as usize].1)
    }

    /// Returns the index of a quantity.
    fn quantity(&self, gathered: &mut Gathered<'_>, name: &str, place: Place) -> Option<usize> {
        let all: Vec<String> =
            self.quantities.iter().map(|node| node.text("name").or(node.text("metric")).unwrap_or_default()).collect();
        let number = Names::new("quantity", all.iter().map(String::as_str)).one(gathered, name, place)?;
        let number = number as usize;
        if self.quantities[number].text("metric").as_deref() == Some("outcome") {
            gathered.refuse(place, "an outcome is not a number", "name a quantity that is a number");
            return None;
        }
        Some(number)
    }

    fn choice(&self, gathered: &mut Gathered<'_>, node: &Node) -> Option<OpenChoice> {
        let within = self.within(gathered, node);
        let (name, why) = (node.text("name")?, node.text("why"));
        let options = match (node.text("path"), node.any("values"), node.tables("options")) {
            (Some(path), Some(item), []) => {
                let values = match &item.data {
                    Data::List(values) if values.len() > 1 => values.as_slice(),
                    _ => {
                        gathered.refuse(item.place, "a choice needs at least two values", "write [value, value]");
                        return None;
                    }
                };
                let Axis { path, values: written, .. } = axis(gathered, path, node.place_of("path"), values)?;
                let option = |(item, value): (&Item, String)| ChoiceOption {
                    label: plain(item),
                    set: vec![format!("{path}={value}")],
                };
                values.iter().zip(written).map(option).collect()
            }
            (None, None, options) if options.len() > 1 => {
                options.iter().map(|option| named_set(gathered, option)).collect::<Option<Vec<_>>>()?
            }
            _ => {
                let message = format!("`{}` needs `path` with `values`, or at least two `options`", node.path);
                gathered.refuse(node.place, message, "write the key and its values, or named sets of changes");
                return None;
            }
        };
        Some(OpenChoice { name, options, why, within })
    }

    fn trend(&self, gathered: &mut Gathered<'_>, node: &Node) -> Option<Trend> {
        let within = self.within(gathered, node);
        let quantity = self.quantity(gathered, &node.text("quantity")?, node.place_of("quantity"))?;
        let shape = Shape::named(&node.text("shape")?)?;
        let bounded = matches!(shape, Shape::Above | Shape::Below);
        let along = node.text("along");
        match &along {
            Some(axis) => {
                let values = self.axis(gathered, axis, node.place_of("along"))?;
                let count = within.of(axis).map_or(values.len(), <[String]>::len);
                if count < 2 && !bounded {
                    let message = format!("the trend covers only one value of `{axis}`");
                    gathered.refuse(node.place_of("along"), message, "give at least two values");
                }
            }
            None if !bounded => {
                let help = "add `along = \"variant\"`, or a path of [sweep]";
                gathered.refuse(node.place, format!("`{}` has no `along`", node.path), help);
            }
            None => {}
        }
        let value = match node.any("value") {
            Some(item) => Some(self.bound(gathered, quantity, &item)?),
            None => None,
        };
        let named = self.quantities[quantity].text("name").or(self.quantities[quantity].text("metric"));
        Some(Trend {
            name: node.text("name").or(named)?,
            quantity,
            along,
            shape,
            value,
            tolerance: node.number("tolerance").unwrap_or(0.0),
            within,
            source: node.text("source"),
            statement: node.text("statement"),
        })
    }

    fn bound(&self, gathered: &mut Gathered<'_>, quantity: usize, item: &Item) -> Option<Expected> {
        let quantity = &self.quantities[quantity];
        let name = quantity.text("metric")?;
        let info = METRICS.iter().find(|info| info.name == name)?;
        expected(
            gathered,
            &kind(info.metric, quantity.has("over") || quantity.text("statistic").as_deref() == Some("variation")),
            item,
        )
    }

    fn chart(&self, gathered: &mut Gathered<'_>, node: &Node, known: Option<&Known<'_, '_>>) -> Option<ChartWish> {
        let (title, y) = (node.text("title")?, node.text("y"));
        let kind = match node.text("kind")?.as_str() {
            "time" => {
                let known = known?;
                let picture = node.text("picture")?;
                // A buffer is filled by the link that leads to it: it is the far end's.
                let far = picture == "buffers";
                ChartKind::Time {
                    picture,
                    flows: groups(gathered, node, "flows", |gathered, names| {
                        flows_of(gathered, names, node.place, known.flows, known.workloads, known.traffic)
                    }),
                    links: groups(gathered, node, "links", |gathered, names| links(gathered, names, known.graph, far)),
                    window: node.time("window"),
                }
            }
            kind => {
                let within = self.within(gathered, node);
                let along = node.text("along");
                if let Some(axis) = &along {
                    self.axis(gathered, axis, node.place_of("along"))?;
                }
                let mut quantities = Vec::new();
                for (name, place) in node.names("quantities")? {
                    quantities.extend(self.quantity(gathered, &name, place));
                }
                ChartKind::Grid { bars: kind == "bars", quantities, along, within }
            }
        };
        Some(ChartWish { title, y, x: node.text("x"), legend: node.text("legend"), kind })
    }
}

/// Reads named groups.
fn groups(
    gathered: &mut Gathered<'_>,
    node: &Node,
    key: &str,
    find: impl Fn(&mut Gathered<'_>, &[(String, Place)]) -> Option<Vec<u32>>,
) -> Vec<Group> {
    let Some(item) = node.any(key) else { return Vec::new() };
    let Data::Table(table) = &item.data else {
        let message = format!("expected a table, found {}", item.data.describe());
        gathered.refuse(item.place, message, "write { name = \"pattern\" }");
        return Vec::new();
    };
    let mut groups = Vec::new();
    for (name, entry) in &table.entries {
        let items = match &entry.item.data {
            Data::List(items) => items.as_slice(),
            _ => std::slice::from_ref(&entry.item),
        };
        let names: Vec<(String, Place)> = items.iter().map(|item| (plain(item), item.place)).collect();
        if let Some(mut members) = find(gathered, &names) {
            members.sort_unstable();
            groups.push(Group { name: name.clone(), members });
        }
    }
    groups
}

/// Returns the ports, as numbered in results, of links of the form `from->to`: the senders, or their far ends.
fn links(gathered: &mut Gathered<'_>, names: &[(String, Place)], graph: &Graph, far: bool) -> Option<Vec<u32>> {
    let nodes = Names::new("node", graph.nodes.iter().map(|node| node.name.as_str()));
    let ports = graph.ports();
    let firsts: Vec<u32> = ports
        .iter()
        .scan(0, |next, ports| {
            let first = *next;
            *next += ports.len() as u32;
            Some(first)
        })
        .collect();
    let mut found = Vec::new();
    for (text, place) in names {
        let Some((from, to)) = text.split_once("->") else {
            gathered.refuse(*place, format!("`{text}` is not a link"), "write the two nodes: \"leaf0->spine1\"");
            return None;
        };
        let mut end = |end: &str| nodes.select(gathered, &[(end.trim().to_owned(), *place)], *place);
        let (from, to) = (end(from)?, end(to)?);
        let before = found.len();
        let mut number = 0;
        for (node, ports) in (0..).zip(&ports) {
            for port in ports {
                if from.contains(&node) && to.contains(&port.peer.0) {
                    let receiving = firsts.get(port.peer.0 as usize).map(|first| first + u32::from(port.peer_port));
                    found.extend(if far { receiving } else { Some(number) });
                }
                number += 1;
            }
        }
        if found.len() == before {
            gathered.refuse(*place, format!("`{text}` matches no link"), "name two neighbours");
            return None;
        }
    }
    found.sort_unstable();
    found.dedup();
    Some(found)
}
