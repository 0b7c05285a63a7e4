//! Flows that a scenario lists, in the file itself or in a CSV file.

use super::flow::{class, order, pattern, port};
use super::traffic::{Made, Work};
use crate::problem::Problem;
use crate::resolve::{Gathered, LONGEST_NAME, Node};
use crate::source::Place;
use fabric::graph::HostId;
use fabric::workload::{Dependencies, Dependency, DependencyError, Destination, FlowSpec};
use std::collections::BTreeMap;
use units::{Bytes, Span, Time};

/// Columns of a CSV file of flows.
const COLUMNS: [&str; 9] = ["source", "destination", "bytes", "class", "start", "name", "after", "delay", "path"];
/// The one with names of flows.
const NAME: usize = 5;
/// The one with numbers of paths.
const PATH: usize = 8;
/// How many of them are required.
const REQUIRED: usize = 3;
/// The largest flow: 1 PB.
const LARGEST_FLOW: u64 = 1_000_000_000_000_000;
/// Maximum number of rows reported as wrong.
const SHOWN: usize = 20;

/// Where the cells of each column are in a row.
type Header = [Option<usize>; COLUMNS.len()];

/// A flow of a list.
struct Listed<'a> {
    flow: FlowSpec,
    name: Option<String>,
    /// Names or numbers of the flows that it waits for.
    after: Vec<&'a str>,
    /// One time after all of them, or one after each.
    delays: Vec<Span>,
    /// The number of its path.
    path: Option<u32>,
}

impl Work<'_> {
    pub(super) fn listed(&self, gathered: &mut Gathered<'_>, root: &Node, template: &FlowSpec) -> Option<Made> {
        let entries = self.entry.tables("flows");
        match (self.entry.given("file"), self.entry.given("flows")) {
            (true, false) => return self.read_file(gathered, root, template),
            (true, true) => {
                let message = "both `flows` and `file` are given";
                gathered.refuse(self.entry.place_of("file"), message, "keep one of the two");
                return None;
            }
            (false, false) => {
                let help = "list `flows`, or name a CSV file of them: file = \"flows.csv\"";
                gathered.refuse(self.entry.place, "a workload of kind \"flows\" without flows", help);
                return None;
            }
            (false, true) => {}
        }
        self.fits(gathered, entries.len() as u64)?;
        let made = entries.iter().filter_map(|entry| self.listed_flow(gathered, entry, template));
        let (flows, names): (Vec<FlowSpec>, Vec<Option<String>>) = made.unzip();
        if flows.len() < entries.len() {
            return None;
        }
        let mut waits = Waits::new(&names, self.until_sent());
        let mut good = true;
        for (number, entry) in (0..).zip(entries) {
            let Some(after) = entry.names("after") else { continue };
            let place = entry.place_of("after");
            let delays: Vec<Span> = entry.time("delay").into_iter().collect();
            let after: Vec<&str> = after.iter().map(|(name, _)| name.as_str()).collect();
            if let Err((message, help)) = waits.add(number, &after, &delays, place) {
                gathered.refuse(place, message, help);
                good = false;
            }
        }
        let dependencies = waits.finish(gathered, &flows)?;
        good.then_some(Made { flows, names, dependencies, ..Made::default() })
    }

    /// Whether a flow of the same source is complete when its last frame has left.
    fn until_sent(&self) -> bool {
        self.entry.text("awaited_until").is_some_and(|until| until == "sent")
    }

    fn listed_flow(
        &self,
        gathered: &mut Gathered<'_>,
        entry: &Node,
        template: &FlowSpec,
    ) -> Option<(FlowSpec, Option<String>)> {
        let host = |gathered: &mut Gathered<'_>, key: &str| -> Option<HostId> {
            self.subject.hosts.one(gathered, &entry.text(key)?, entry.place_of(key)).map(HostId)
        };
        let (source, target) = (host(gathered, "from"), host(gathered, "to"));
        let (source, target) = (source?, target?);
        if source == target {
            gathered.refuse(entry.place_of("to"), "the destination is the source", "name another host");
            return None;
        }
        let class = match entry.text("class") {
            Some(name) => class(gathered, self.subject, &name, entry.place_of("class"))?,
            None => template.class,
        };
        let start = entry.time("start").map_or(template.start, |start| Time::ZERO + start);
        let stop = entry.time("stop").map(|stop| Time::ZERO + stop).or(template.stop);
        order(gathered, entry, start, stop)?;
        if entry.given("delay") && !entry.given("after") {
            let message = "`delay` has no effect for a flow that waits for no other";
            gathered.refuse(entry.place_of("delay"), message, "add `after`, or give `start`");
            return None;
        }
        let pattern = pattern(gathered, entry)?;
        let mut flow = FlowSpec {
            source,
            destination: Destination::Host(target),
            class,
            start,
            size: entry.size("size").or(template.size),
            ..template.clone()
        };
        (flow.stop, flow.pattern) = (stop, pattern);
        flow.frame = entry.size("frame").unwrap_or(template.frame);
        flow.via = entry.count("port").map_or(template.via, port);
        Some((flow, entry.text("name")))
    }

    /// Reads flows from the rows of a CSV file.
    fn read_file(&self, gathered: &mut Gathered<'_>, root: &Node, template: &FlowSpec) -> Option<Made> {
        let source = self.attachments.flows(self.entry.place_of("file"))?;
        let sources = gathered.sources;
        let text = sources.get(source)?.text.as_str();
        let mut rows = rows(source, text);
        let Some((place, first)) = rows.next() else {
            let place = Place { source, start: 0, end: 0 };
            gathered.refuse(place, "the file has no rows", "begin with a row of names: source,destination,bytes");
            return None;
        };
        let header = header(gathered, place, first)?;
        self.fits(gathered, rows.clone().count() as u64)?;
        let (named, numbered) = (header[NAME].is_some(), header[PATH].is_some());
        let multipath = root.table("network").and_then(|network| network.text("multipath"));
        if numbered && multipath.is_none_or(|multipath| multipath != "path-number") {
            let help = "add multipath = \"path-number\" to [network], or remove the column";
            gathered.refuse(place, "the column `path` has no effect: switches choose paths by a hash", help);
            return None;
        }
        let mut made = Made::default();
        let mut wrong: Vec<Problem> = Vec::new();
        let mut waiting = Vec::new();
        for (place, row) in rows {
            match self.row(template, &header, row) {
                Ok(Listed { flow, name, after, delays, path }) => {
                    if !after.is_empty() {
                        waiting.push((made.flows.len() as u32, after, delays, place));
                    }
                    made.flows.push(flow);
                    if numbered {
                        made.path_numbers.push(path);
                    }
                    if named {
                        made.names.push(name);
                    }
                }
                Err((message, help)) if wrong.len() < SHOWN => wrong.push(Problem::new(place, message, help)),
                Err(_) => {}
            }
        }
        // Numbers of rows count only if all are good.
        if wrong.is_empty() && !waiting.is_empty() {
            let mut waits = Waits::new(&made.names, self.until_sent());
            for (number, after, delays, place) in waiting {
                if let Err((message, help)) = waits.add(number, &after, &delays, place)
                    && wrong.len() < SHOWN
                {
                    wrong.push(Problem::new(place, message, help));
                }
            }
            made.dependencies = waits.finish(gathered, &made.flows)?;
        }
        if made.flows.is_empty() && wrong.is_empty() {
            wrong.push(Problem::new(place, "the file has no flows", "add rows, one flow each"));
        }
        let good = wrong.is_empty();
        gathered.problems.extend(wrong);
        good.then_some(made)
    }

    /// The flow of one row.
    fn row<'a>(&self, template: &FlowSpec, header: &Header, row: &'a str) -> Result<Listed<'a>, (String, String)> {
        let mut cells = [""; COLUMNS.len()];
        let mut count = 0;
        for (number, cell) in row.split(',').enumerate() {
            count = number + 1;
            if let Some(column) = header.iter().position(|&at| at == Some(number)) {
                cells[column] = unquoted(cell);
            }
        }
        let named = header.iter().flatten().count();
        if count != named {
            return Err((format!("the row has {count} cells, the header {named}"), "write one cell per column".into()));
        }
        let [source, destination, bytes, class, start, name, after, delay, path] = cells;
        let host = |column: &str, name: &str| match self.subject.hosts.find(name) {
            Some(host) => Ok(HostId(host)),
            None => Err((format!("`{column}` names no host of the network"), "name one of [network]".to_owned())),
        };
        let (source, destination) = (host("source", source)?, host("destination", destination)?);
        if source == destination {
            return Err(("the destination is the source".into(), "name another host".into()));
        }
        let size = match bytes.parse() {
            Ok(size) if (1..=LARGEST_FLOW).contains(&size) => Bytes::new(size),
            _ => {
                let help = format!("write a whole number from 1 to {LARGEST_FLOW}, without a unit");
                return Err(("`bytes` is not a number of bytes".into(), help));
            }
        };
        let class = match class {
            "" => template.class,
            class => match self.subject.classes.find(class).and_then(|class| u8::try_from(class).ok()) {
                Some(class) => class,
                None => return Err(("`class` names no class".into(), "name one of [[classes]]".into())),
            },
        };
        let time = |column: &str, cell: &str| match cell {
            "" => Ok(None),
            cell => cell.parse::<Span>().map(Some).map_err(|_| {
                (format!("`{column}` is not a time"), "write a time with its unit, such as 1.5us".to_owned())
            }),
        };
        let start = time("start", start)?.map_or(template.start, |start| Time::ZERO + start);
        let after: Vec<&str> = after.split(';').map(str::trim).filter(|other| !other.is_empty()).collect();
        let delays = delay.split(';').map(|cell| time("delay", cell.trim()));
        let delays: Vec<Span> = delays.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
        if !delays.is_empty() && after.is_empty() {
            let help = "fill in `after`, or give `start`";
            return Err(("`delay` has no effect for a flow that waits for no other".into(), help.into()));
        }
        if delays.len() > 1 && delays.len() != after.len() {
            let message = format!("`delay` has {} times for the {} flows of `after`", delays.len(), after.len());
            return Err((message, "write one time for all of them, or one for each".into()));
        }
        if template.stop.is_some_and(|stop| stop <= start) {
            return Err(("it starts after the `stop` of its workload".into(), "start it earlier".into()));
        }
        let path = match path {
            "" => None,
            path => Some(path.parse::<u32>().map_err(|_| {
                ("`path` is not the number of a path".to_owned(), format!("write a whole number up to {}", u32::MAX))
            })?),
        };
        if name.chars().count() > LONGEST_NAME || name.contains(char::is_control) {
            let help = format!("use at most {LONGEST_NAME} characters, none of them a control character");
            return Err(("`name` is too long or has control characters".into(), help));
        }
        let destination = Destination::Host(destination);
        let flow = FlowSpec { source, destination, class, start, size: Some(size), ..template.clone() };
        Ok(Listed { flow, name: (!name.is_empty()).then(|| name.to_owned()), after, delays, path })
    }
}

/// What the flows of a list wait for, by name or number.
struct Waits<'a> {
    names: &'a [Option<String>],
    /// Flows by name; `None` for a name that several have.
    named: BTreeMap<&'a str, Option<u32>>,
    dependencies: Dependencies,
    /// Where each waiting flow says so, in the order of the flows.
    places: Vec<(u32, Place)>,
    /// A flow of the same source is complete when its last frame has left, acknowledged or not.
    in_order: bool,
}

impl<'a> Waits<'a> {
    fn new(names: &'a [Option<String>], in_order: bool) -> Waits<'a> {
        let mut named = BTreeMap::new();
        for (number, name) in (0..).zip(names) {
            let Some(name) = name else { continue };
            named.entry(name.as_str()).and_modify(|known| *known = None).or_insert(Some(number));
        }
        Waits { names, named, dependencies: Dependencies::default(), places: Vec::new(), in_order }
    }

    /// A flow waits for others, given by their names or by their numbers from 1, and then for one time or one for each.
    fn add(&mut self, flow: u32, after: &[&str], delays: &[Span], place: Place) -> Result<(), (String, String)> {
        let find = |text: &&str| match (self.named.get(text), text.parse::<u32>()) {
            (Some(Some(flow)), _) => Ok(*flow),
            (Some(None), _) => {
                let help = "give the flows different names, or use their numbers".to_owned();
                Err((format!("several flows are named `{text}`"), help))
            }
            // Whether there are as many is judged with all others.
            (None, Ok(number @ 1..)) => Ok(number - 1),
            (None, _) => {
                let help = "name a flow of the same list, or give its number, from 1".to_owned();
                Err((format!("`after` names `{text}`, but there is no such flow"), help))
            }
        };
        let awaited = after.iter().map(find).collect::<Result<Vec<u32>, _>>()?;
        let in_order = self.in_order;
        match delays {
            [] | [_] => {
                let delay = delays.first().copied().unwrap_or_default();
                self.dependencies.push(Dependency { flow, awaited: &awaited, delay, in_order });
            }
            _ => {
                for (&awaited, &delay) in awaited.iter().zip(delays) {
                    self.dependencies.push(Dependency { flow, awaited: &[awaited], delay, in_order });
                }
            }
        }
        self.places.push((flow, place));
        Ok(())
    }

    /// The dependencies, if they are possible among these flows.
    fn finish(self, gathered: &mut Gathered<'_>, flows: &[FlowSpec]) -> Option<Dependencies> {
        let errors = self.dependencies.errors(flows);
        let name = |flow: u32| match self.names.get(flow as usize) {
            Some(Some(name)) => format!("`{name}`"),
            _ => format!("flow {}", flow + 1),
        };
        for error in errors.iter().take(SHOWN) {
            let (message, help) = match error {
                DependencyError::Unknown { awaited, .. } => {
                    let message = format!("it waits for flow {}, but there are only {}", awaited + 1, flows.len());
                    (message, "name a flow of the same list, or give its number, from 1")
                }
                error => error.describe(name),
            };
            let place = self.places.iter().find(|(flow, _)| *flow == error.flow());
            if let Some(&(_, place)) = place {
                gathered.problems.push(Problem::new(place, message, help));
            }
        }
        errors.is_empty().then_some(self.dependencies)
    }
}

/// The rows of a text that are neither empty nor comments, with their places.
fn rows(source: u32, text: &str) -> impl Iterator<Item = (Place, &str)> + Clone {
    let start = move |line: &str| line.as_ptr() as usize - text.as_ptr() as usize;
    text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')).map(move |line| {
        let start = start(line);
        (Place { source, start: start as u32, end: (start + line.len()) as u32 }, line)
    })
}

fn unquoted(cell: &str) -> &str {
    let cell = cell.trim();
    cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"')).unwrap_or(cell)
}

fn header(gathered: &mut Gathered<'_>, place: Place, row: &str) -> Option<Header> {
    let known = || format!("the columns are {}", COLUMNS.join(", "));
    let mut header: Header = [None; COLUMNS.len()];
    // Spreadsheets begin a file with a byte order mark.
    let row = row.trim_start_matches('\u{feff}');
    for (at, cell) in row.split(',').enumerate() {
        let found = COLUMNS.iter().position(|column| unquoted(cell) == *column);
        match found {
            Some(column) if header[column].is_none() => header[column] = Some(at),
            Some(column) => {
                gathered.refuse(place, format!("two columns are named `{}`", COLUMNS[column]), "remove one of them");
                return None;
            }
            None => {
                gathered.refuse(place, format!("column {} of the header is unknown", at + 1), known());
                return None;
            }
        }
    }
    match header[..REQUIRED].iter().position(Option::is_none) {
        Some(missing) => {
            gathered.refuse(place, format!("the header has no column `{}`", COLUMNS[missing]), known());
            None
        }
        None => Some(header),
    }
}
