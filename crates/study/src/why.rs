//! Answers to the question why a flow was slow, from the tables causes and roots of a result.
//!
//! The loss of a flow is its time without its path and its application. It is divided among the causes; for a flow
//! without a size, the throughput that it lost against its fair share is divided among them. The waits that its fair share
//! contains are no loss: at that share, too, it waits for others on its own path.

mod losses;
mod overview;
mod sentence;

use fabric::record::schema::{self, Table};
use files::text::on_one_line;
pub use overview::{Overview, RootAnswer, overview};
use results::document::Network;
use results::{Batch, Results, ResultsError};
use scenario::Pattern;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use units::text;

/// Part of a flow's loss below which a sentence does not mention a cause.
const LITTLE: f64 = 0.1;
/// Part of a flow's time that it may lose and still be called not slowed.
const NEGLIGIBLE: f64 = 0.005;
/// Part of its fair share that a flow may miss without a word: frames at the ends of the measured time.
const NOTICEABLE: f64 = 0.02;

/// The flows that are asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// The flows that lost most, so many: time, or throughput against their fair share.
    Worst(usize),
    /// The flows whose names match a pattern.
    Flow(String),
    /// The flows that lost time to a link, such as `sw0->h1`.
    Link(String),
}

/// The reason that there is no answer.
#[derive(Debug)]
pub enum WhyError {
    /// The results cannot be read.
    Results(ResultsError),
    /// There is nothing to answer, with the remedy.
    Nothing(String),
}

impl std::fmt::Display for WhyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WhyError::Results(error) => error.fmt(f),
            WhyError::Nothing(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for WhyError {}

impl From<ResultsError> for WhyError {
    fn from(error: ResultsError) -> WhyError {
        WhyError::Results(error)
    }
}

/// A cause of a flow's time at one place.
#[derive(Clone, Debug, PartialEq)]
pub struct CauseAnswer {
    /// Its name, as in table causes.
    pub cause: String,
    /// Kind of the root of blocked time.
    pub root: Option<String>,
    /// Number of the port at which it lies.
    pub port: Option<u32>,
    /// The link at which it lies, such as `sw1 -> h6`.
    pub link: Option<String>,
    /// Whether the flow uses that link.
    pub on_path: Option<bool>,
    /// Where the flow waited, or the blocked link before the root: that with the most time.
    pub via: Option<String>,
    /// The flows to blame with their picoseconds, the most guilty first: the culprits of a root if it has any, otherwise
    /// all.
    pub by: Vec<(String, u64)>,
    /// The flows of `by`, and the flow itself, that came to this link when a link of their path failed, with the link that
    /// they used at the same switch before.
    pub rerouted: Vec<(String, String)>,
    /// Time in picoseconds.
    pub picoseconds: u64,
    /// Part of the loss; `None` if it is no loss.
    pub share_of_loss: Option<f64>,
}

/// Why one flow took its time.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowAnswer {
    /// Number of the flow.
    pub number: u32,
    /// Name of the flow.
    pub name: String,
    /// Its time in picoseconds.
    pub picoseconds: u64,
    /// Time that it lost, in picoseconds.
    pub lost_picoseconds: u64,
    /// Whether it has a size and is complete.
    pub complete: bool,
    /// Fair share and goodput in bits per second, of a flow without a size.
    pub rates: Option<(f64, f64)>,
    /// The link or host that limits its fair share, if there is one.
    pub bottleneck: Option<String>,
    /// Part of the loss to roots that it does not use.
    pub victim_share: f64,
    /// Frames that were lost and not retransmitted, and frames made.
    pub lost_frames: (u64, u64),
    /// Where most of its lost frames were lost, and why, such as `dropped at sw1 -> h6 (its queue was full)`.
    pub lost_at: Option<String>,
    /// The causes, the longest first.
    pub causes: Vec<CauseAnswer>,
}

/// A table with its names.
struct Tables {
    causes: Batch,
    flows: Vec<String>,
    complete: Vec<bool>,
    finite: Vec<bool>,
    goodput: Vec<Option<f64>>,
    lost_frames: Vec<(u64, u64)>,
    lost_at: BTreeMap<u32, String>,
    fair: Vec<Option<f64>>,
    bottleneck: Vec<Option<String>>,
    /// By flow: the ports of its path at the start, if links fail and the path is known.
    paths: Vec<Option<Vec<u32>>>,
    /// By port: sender and receiver.
    ports: Vec<(String, String)>,
    /// By port and kind of root: its culprits, the most guilty first.
    culprits: BTreeMap<(i64, String), Vec<u32>>,
}

fn read(results: &Results, table: &'static Table) -> Result<Batch, WhyError> {
    Ok(results.read(table)?)
}

impl Tables {
    fn read(results: &Results) -> Result<Tables, WhyError> {
        if !results.has(&schema::CAUSES) {
            let place = results.directory().display();
            let text = format!(
                "{place}: its run did not record causes\n  run the scenario with --why (or with causes in probes.record), \
                 or give the scenario file instead: tailback why FILE"
            );
            return Err(WhyError::Nothing(text));
        }
        let flows = read(results, &schema::FLOWS)?;
        let ports = read(results, &schema::PORTS)?;
        let roots = read(results, &schema::ROOTS)?;
        let network: Network = results.document()?.unwrap_or_default();
        let here = |row: usize, name: &str| flows.is_present(row, name);
        let goodput = flows.reals("goodput");
        let (lost, made) = (flows.integers("lost_frames"), flows.integers("made_frames"));
        let rows = 0..flows.len();
        let mut culprits: BTreeMap<(i64, String), Vec<(u64, u32)>> = BTreeMap::new();
        for row in (0..roots.len()).filter(|&row| is_true(&roots, row, "culprit")) {
            let key = (roots.integers("port")[row], roots.texts("root")[row].clone());
            let time = roots.integers("time")[row] as u64;
            culprits.entry(key).or_default().push((time, roots.integers("flow")[row] as u32));
        }
        let ranked = |mut flows: Vec<(u64, u32)>| {
            flows.sort_by_key(|&(time, flow)| (Reverse(time), flow));
            flows.into_iter().map(|(_, flow)| flow).collect()
        };
        let names: Vec<(String, String)> = ports
            .texts("node")
            .iter()
            .zip(ports.texts("peer"))
            .map(|(node, peer)| (on_one_line(node).into_owned(), on_one_line(peer).into_owned()))
            .collect();
        let lost_at =
            if lost.iter().any(|&frames| frames > 0) { losses::places(results, &ports)? } else { BTreeMap::new() };
        let bottleneck = |row: usize| network.flows.bottleneck.get(row).cloned().flatten();
        let one_line = |name: String| on_one_line(&name).into_owned();
        Ok(Tables {
            causes: read(results, &schema::CAUSES)?,
            lost_at,
            bottleneck: rows.clone().map(|row| bottleneck(row).map(one_line)).collect(),
            paths: if network.faults.is_empty() { Vec::new() } else { network.flows.path.clone() },
            complete: rows.clone().map(|row| here(row, "completed")).collect(),
            finite: rows.clone().map(|row| here(row, "size")).collect(),
            goodput: rows.clone().map(|row| here(row, "goodput").then(|| goodput[row])).collect(),
            lost_frames: rows.clone().map(|row| (lost[row] as u64, made[row] as u64)).collect(),
            fair: rows.map(|row| network.flows.fair_share.get(row).copied().flatten()).collect(),
            flows: flows.texts("name").iter().map(|name| on_one_line(name).into_owned()).collect(),
            ports: names,
            culprits: culprits.into_iter().map(|(key, flows)| (key, ranked(flows))).collect(),
        })
    }

    fn link(&self, port: i64) -> String {
        let name = usize::try_from(port).ok().and_then(|port| self.ports.get(port));
        name.map_or_else(|| format!("port {port}"), |(from, to)| format!("{from} -> {to}"))
    }

    fn flow(&self, flow: u32) -> String {
        self.flows.get(flow as usize).cloned().unwrap_or_else(|| format!("flow {flow}"))
    }

    /// The link that a flow used at a switch before it came to a port of the switch, if its path has changed.
    fn before(&self, flow: u32, port: u32) -> Option<String> {
        let path = self.paths.get(flow as usize)?.as_ref()?;
        let node = |port: u32| self.ports.get(port as usize).map(|(node, _)| node);
        let old = path.iter().copied().find(|&old| node(old) == node(port))?;
        (old != port).then(|| self.link(i64::from(old)))
    }

    /// The answer for one flow, from its rows.
    fn answer(&self, flow: usize, rows: &[usize]) -> FlowAnswer {
        let (table, time) = (&self.causes, self.causes.integers("time"));
        let cell = |row: usize, name: &str| table.is_present(row, name).then(|| table.integers(name)[row]);
        let is_loss = |row: usize| !matches!(table.texts("cause")[row].as_str(), "path" | "application");
        let picoseconds: u64 = rows.iter().map(|&row| time[row] as u64).sum();
        let lost: u64 = rows.iter().filter(|&&row| is_loss(row)).map(|&row| time[row] as u64).sum();
        let rates = self.fair[flow].zip(self.goodput[flow]).filter(|_| !self.finite[flow]);
        let sum = |which: &dyn Fn(usize) -> bool| -> u64 {
            rows.iter().filter(|&&row| which(row)).map(|&row| time[row] as u64).sum()
        };
        let root = |row: usize| table.texts("root")[row].as_str();
        let foreign = |row: usize| !root(row).is_empty() && !is_true(table, row, "on_path");
        // What others do on its own path is in its fair share, too, and so are the returns of credits and resumes there.
        let shared = |row: usize| match table.texts("cause")[row].as_str() {
            "contention" | "signals" => true,
            _ => matches!(root(row), "output" | "credits" | "resume") && is_true(table, row, "on_path"),
        };
        let own = sum(&|row| table.texts("cause")[row] == "path");
        let fair_wait = match rates.filter(|&(fair, goodput)| is_below(fair, goodput) && goodput > 0.0) {
            Some((fair, goodput)) => picoseconds.saturating_sub((own as f64 * fair / goodput) as u64),
            None => 0,
        };
        let kept = 1.0 - (fair_wait as f64 / sum(&shared).max(1) as f64).min(1.0);
        let loss_of = |row: usize| match () {
            () if !is_loss(row) => 0.0,
            () if shared(row) => time[row] as f64 * kept,
            () => time[row] as f64,
        };
        let charged: f64 = rows.iter().map(|&row| loss_of(row)).sum::<f64>().max(1.0);
        let to_others: f64 = rows.iter().filter(|&&row| foreign(row)).map(|&row| loss_of(row)).sum();
        let mut groups: BTreeMap<(&str, &str, Option<i64>), Vec<usize>> = BTreeMap::new();
        for &row in rows {
            let (cause, root) = (table.texts("cause")[row].as_str(), table.texts("root")[row].as_str());
            groups.entry((cause, root, cell(row, "port"))).or_default().push(row);
        }
        let most = |rows: &[usize], name: &str| {
            let mut sums: BTreeMap<i64, u64> = BTreeMap::new();
            for &row in rows {
                if let Some(value) = cell(row, name) {
                    *sums.entry(value).or_default() += time[row] as u64;
                }
            }
            let mut sums: Vec<(u64, i64)> = sums.into_iter().map(|(value, sum)| (sum, value)).collect();
            sums.sort_by_key(|&(sum, value)| (Reverse(sum), value));
            sums
        };
        let group = |((cause, root, port), rows): ((&str, &str, Option<i64>), Vec<usize>)| {
            let picoseconds: u64 = rows.iter().map(|&row| time[row] as u64).sum();
            let by: Vec<(u64, u32)> = most(&rows, "by").into_iter().map(|(sum, flow)| (sum, flow as u32)).collect();
            let guilty = port.and_then(|port| self.culprits.get(&(port, root.to_owned()))).filter(|_| !root.is_empty());
            let time_of = |flow: u32| by.iter().find(|known| known.1 == flow).map_or(0, |known| known.0);
            let guilty = guilty.map(|flows| flows.iter().map(|&flow| (time_of(flow), flow)).collect::<Vec<_>>());
            let by = guilty.unwrap_or(by);
            // A failed link is no detour.
            let here = port.filter(|_| cause == "contention" || root == "output");
            let own = here.filter(|_| is_true(table, rows[0], "on_path")).map(|_| flow as u32);
            let flows = by.iter().map(|&(_, flow)| flow).chain(own);
            let moved = |flow: u32| Some((self.flow(flow), self.before(flow, here? as u32)?));
            let rerouted = flows.filter_map(moved).collect();
            CauseAnswer {
                rerouted,
                cause: cause.to_owned(),
                root: (!root.is_empty()).then(|| root.to_owned()),
                port: port.and_then(|port| u32::try_from(port).ok()),
                link: port.map(|port| self.link(port)),
                on_path: port.map(|_| is_true(table, rows[0], "on_path")),
                via: most(&rows, "via").first().map(|&(_, port)| self.link(port)),
                by: by.iter().map(|&(sum, flow)| (self.flow(flow), sum)).collect(),
                picoseconds,
                share_of_loss: is_loss(rows[0]).then(|| rows.iter().map(|&row| loss_of(row)).sum::<f64>() / charged),
            }
        };
        let mut causes: Vec<CauseAnswer> = groups.into_iter().map(group).collect();
        causes.sort_by_key(|cause| Reverse(cause.picoseconds));
        FlowAnswer {
            number: flow as u32,
            name: self.flow(flow as u32),
            picoseconds,
            lost_picoseconds: lost,
            complete: self.complete[flow],
            rates,
            victim_share: to_others / charged,
            bottleneck: self.bottleneck[flow].clone(),
            lost_frames: self.lost_frames[flow],
            lost_at: self.lost_at.get(&(flow as u32)).cloned(),
            causes,
        }
    }
}

fn is_true(table: &Batch, row: usize, name: &str) -> bool {
    let column = table.table.column(name);
    column.is_some_and(|column| matches!(table.value(row, column), results::Value::Flag(true)))
}

/// Answers a question about a recorded run.
///
/// # Errors
/// Returns an error if the results cannot be read or have no causes, or if nothing matches the question.
pub fn why(results: &Results, question: &Question) -> Result<Vec<FlowAnswer>, WhyError> {
    let tables = Tables::read(results)?;
    let mut rows: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (row, &flow) in tables.causes.integers("flow").iter().enumerate() {
        if (flow as usize) < tables.flows.len() {
            rows.entry(flow as usize).or_default().push(row);
        }
    }
    let nothing = |text: String| Err(WhyError::Nothing(text));
    let pattern = |text: &str| Pattern::parse(text.trim()).map_err(|why| WhyError::Nothing(format!("`{text}`: {why}")));
    let mut lost_to: BTreeMap<usize, u64> = BTreeMap::new();
    match question {
        Question::Worst(_) => {}
        Question::Flow(text) => {
            let pattern = pattern(text)?;
            rows.retain(|&flow, _| pattern.matches(&tables.flows[flow]));
            if rows.is_empty() {
                let known: Vec<&str> = tables.flows.iter().take(3).map(String::as_str).collect();
                return nothing(format!("no flow `{text}` has started; there are {} and others", known.join(", ")));
            }
        }
        Question::Link(text) => {
            let Some((from, to)) = text.split_once("->") else {
                return nothing(format!("`{text}` is not a link; write sender and receiver, such as 'sw0->h1'"));
            };
            let (from, to) = (pattern(from)?, pattern(to)?);
            let ports = tables.ports.iter().map(|(node, peer)| from.matches(node) && to.matches(peer));
            let ports: Vec<bool> = ports.collect();
            if !ports.contains(&true) {
                return nothing(format!("there is no link `{text}`; `tailback csv` writes all links to ports.csv"));
            }
            let time = tables.causes.integers("time");
            let here = |&&row: &&usize| {
                ["port", "via"].into_iter().any(|column| {
                    let port = usize::try_from(tables.causes.integers(column)[row]).ok();
                    tables.causes.is_present(row, column) && port.and_then(|port| ports.get(port)) == Some(&true)
                })
            };
            for (&flow, rows) in &rows {
                let sum = rows.iter().filter(here).map(|&row| time[row] as u64).sum();
                lost_to.insert(flow, sum);
            }
            rows.retain(|flow, _| lost_to[flow] > 0);
        }
    }
    let mut answers: Vec<(usize, FlowAnswer)> =
        rows.iter().map(|(&flow, rows)| (flow, tables.answer(flow, rows))).collect();
    match question {
        Question::Worst(count) => {
            answers.sort_by_key(|(flow, answer)| (answer.is_unharmed(), Reverse(answer.harm()), *flow));
            answers.truncate(*count);
        }
        Question::Link(_) => answers.sort_by_key(|(flow, _)| (Reverse(lost_to[flow]), *flow)),
        Question::Flow(_) => {}
    }
    Ok(answers.into_iter().map(|(_, answer)| answer).collect())
}

impl FlowAnswer {
    /// Whether it loses a good part to roots that it does not use.
    #[must_use]
    pub fn is_victim(&self) -> bool {
        self.victim_share > LITTLE && !self.waits_little() && (self.rates.is_none() || self.loses_share())
    }

    fn is_unharmed(&self) -> bool {
        let unharmed =
            if self.rates.is_some() { !self.loses_share() && !self.waits_for_receiver() } else { self.waits_little() };
        self.lost_frames.0 == 0 && unharmed
    }

    /// Whether its own destination holds it up for a good part of its time: its fair share is less for that.
    fn waits_for_receiver(&self) -> bool {
        let own = |cause: &&CauseAnswer| match cause.root.as_deref() {
            None => cause.cause == "receiver",
            Some(root) => root == "receiver" && cause.on_path == Some(true),
        };
        let waited: u64 = self.causes.iter().filter(own).map(|cause| cause.picoseconds).sum();
        waited as f64 > LITTLE * self.picoseconds as f64
    }

    fn waits_little(&self) -> bool {
        self.lost_picoseconds as f64 <= NEGLIGIBLE * self.picoseconds as f64
    }

    /// Whether its throughput is noticeably below its fair share.
    fn loses_share(&self) -> bool {
        self.rates.is_some_and(|(fair, goodput)| is_below(fair, goodput))
    }

    /// The throughput that it lost against its fair share, in bits per second.
    #[must_use]
    pub fn lost_rate(&self) -> Option<f64> {
        self.rates.map(|(fair, goodput)| (fair - goodput).max(0.0))
    }

    /// How much it was slowed, in picoseconds: the time that it lost; of a flow with a fair share, the part of its time
    /// that corresponds to the part of the share that it lost.
    fn harm(&self) -> u64 {
        match (self.rates, self.lost_rate()) {
            (Some((fair, _)), Some(lost)) if fair > 0.0 => (self.picoseconds as f64 * lost / fair) as u64,
            _ => self.lost_picoseconds,
        }
    }

    /// The answer as JSON.
    #[must_use]
    pub fn record(&self) -> Value {
        let cause = |cause: &CauseAnswer| {
            json!({
                "cause": cause.cause,
                "root": cause.root,
                "port": cause.port,
                "link": cause.link,
                "on_path": cause.on_path,
                "via": cause.via,
                "by": cause.by.iter().map(|(flow, time)| json!({ "flow": flow, "picoseconds": time })).collect::<Vec<Value>>(),
                "rerouted": cause.rerouted.iter().map(|(flow, from)| json!({ "flow": flow, "from": from })).collect::<Vec<Value>>(),
                "picoseconds": cause.picoseconds,
                "share_of_loss": cause.share_of_loss,
            })
        };
        json!({
            "flow": self.name,
            "number": self.number,
            "sentence": self.sentence(),
            "victim": self.is_victim(),
            "complete": self.complete,
            "picoseconds": self.picoseconds,
            "lost_picoseconds": self.lost_picoseconds,
            "victim_share_of_loss": self.victim_share,
            "lost_frames": self.lost_frames.0,
            "lost_at": self.lost_at,
            "bottleneck": self.bottleneck,
            "fair_share_bits_per_second": self.rates.map(|rates| rates.0),
            "goodput_bits_per_second": self.rates.map(|rates| rates.1),
            "lost_bits_per_second": self.lost_rate(),
            "causes": self.causes.iter().map(cause).collect::<Vec<Value>>(),
        })
    }
}

/// Whether a throughput is noticeably below a share.
fn is_below(share: f64, throughput: f64) -> bool {
    share - throughput > NOTICEABLE * share
}

/// A time with its unit.
#[must_use]
pub fn span(picoseconds: u64) -> String {
    text::seconds(picoseconds as f64 / 1e12)
}
