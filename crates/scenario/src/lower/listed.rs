//! Flows that a scenario lists, in the file itself or in a CSV file.

use super::flow::{class, order, pattern};
use super::traffic::{Made, Work};
use crate::problem::Problem;
use crate::resolve::{Gathered, Node};
use crate::source::Place;
use fabric::graph::HostId;
use fabric::workload::{Destination, FlowSpec};
use units::{Bytes, Span, Time};

/// Columns of a CSV file of flows.
const COLUMNS: [&str; 6] = ["source", "destination", "bytes", "class", "start", "name"];
/// The one with names of flows.
const NAME: usize = 5;
/// How many of them are required.
const REQUIRED: usize = 3;
/// The largest flow: 1 PB.
const LARGEST_FLOW: u64 = 1_000_000_000_000_000;
/// Maximum number of rows reported as wrong.
const SHOWN: usize = 20;

/// Where the cells of each column are in a row.
type Header = [Option<usize>; COLUMNS.len()];

impl Work<'_> {
    pub(super) fn listed(&self, gathered: &mut Gathered<'_>, template: &FlowSpec) -> Option<Made> {
        let entries = self.entry.tables("flows");
        match (self.entry.given("file"), self.entry.given("flows")) {
            (true, false) => return self.read_file(gathered, template),
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
        (flows.len() == entries.len()).then_some(Made { flows, names })
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
        let flow = FlowSpec {
            source,
            destination: Destination::Host(target),
            class,
            start,
            stop,
            size: entry.size("size").or(template.size),
            frame: entry.size("frame").unwrap_or(template.frame),
            pattern: pattern(gathered, entry)?,
            ..template.clone()
        };
        Some((flow, entry.text("name")))
    }

    /// Reads flows from the rows of a CSV file.
    fn read_file(&self, gathered: &mut Gathered<'_>, template: &FlowSpec) -> Option<Made> {
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
        let named = header[NAME].is_some();
        let (mut made, mut wrong) = (Made { flows: Vec::new(), names: Vec::new() }, 0);
        for (place, row) in rows {
            match self.row(template, &header, row) {
                Ok((flow, name)) => {
                    made.flows.push(flow);
                    if named {
                        made.names.push(name);
                    }
                }
                Err((message, help)) => {
                    wrong += 1;
                    if wrong <= SHOWN {
                        gathered.problems.push(Problem::new(place, message, help));
                    }
                }
            }
        }
        if made.flows.is_empty() && wrong == 0 {
            gathered.refuse(place, "the file has no flows", "add rows, one flow each");
            return None;
        }
        (wrong == 0).then_some(made)
    }

    /// The flow of one row.
    fn row(
        &self,
        template: &FlowSpec,
        header: &Header,
        row: &str,
    ) -> Result<(FlowSpec, Option<String>), (String, String)> {
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
        let [source, destination, bytes, class, start, name] = cells;
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
        let start = match start {
            "" => template.start,
            start => match start.parse::<Span>() {
                Ok(start) => Time::ZERO + start,
                Err(_) => {
                    return Err(("`start` is not a time".into(), "write a time with its unit, such as 1.5us".into()));
                }
            },
        };
        if template.stop.is_some_and(|stop| stop <= start) {
            return Err(("it starts after the `stop` of its workload".into(), "start it earlier".into()));
        }
        let destination = Destination::Host(destination);
        let flow = FlowSpec { source, destination, class, start, size: Some(size), ..template.clone() };
        Ok((flow, (!name.is_empty()).then(|| name.to_owned())))
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
