//! Answers to the question why a flow was slow, from the tables causes and roots of a result.
//!
//! The loss of a flow is its time without its path and its application. It is divided among the causes; for a flow
//! without a size, the throughput that it lost against its fair share is divided among them. The waits that its fair share
//! contains are no loss: at that share, too, it waits for others on its own path.

mod overview;

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
/// Flows that a sentence names.
const MOST_NAMES: usize = 6;

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
    /// Part of the loss to roots that it does not use.
    pub victim_share: f64,
    /// Frames that were lost and not retransmitted, and frames made.
    pub lost_frames: (u64, u64),
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
    fair: Vec<Option<f64>>,
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
        Ok(Tables {
            causes: read(results, &schema::CAUSES)?,
            complete: rows.clone().map(|row| here(row, "completed")).collect(),
            finite: rows.clone().map(|row| here(row, "size")).collect(),
            goodput: rows.clone().map(|row| here(row, "goodput").then(|| goodput[row])).collect(),
            lost_frames: rows.clone().map(|row| (lost[row] as u64, made[row] as u64)).collect(),
            fair: rows.map(|row| network.flows.fair_share.get(row).copied().flatten()).collect(),
            flows: flows.texts("name").iter().map(|name| on_one_line(name).into_owned()).collect(),
            ports: ports
                .texts("node")
                .iter()
                .zip(ports.texts("peer"))
                .map(|(node, peer)| (on_one_line(node).into_owned(), on_one_line(peer).into_owned()))
                .collect(),
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
        // All flows of a cycle wait for each other: none of them is a bystander.
        let foreign = |row: usize| !matches!(root(row), "" | "cycle") && !is_true(table, row, "on_path");
        // What others do on its own path is in its fair share, too.
        let shared = |row: usize| match table.texts("cause")[row].as_str() {
            "contention" | "signals" => true,
            _ => root(row) == "output" && is_true(table, row, "on_path"),
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
            CauseAnswer {
                cause: cause.to_owned(),
                root: (!root.is_empty()).then(|| root.to_owned()),
                port: port.and_then(|port| u32::try_from(port).ok()),
                link: port.map(|port| self.link(port)),
                on_path: port.map(|_| is_true(table, rows[0], "on_path")),
                via: most(&rows, "via").first().map(|&(_, port)| self.link(port)),
                by: guilty.unwrap_or(by).iter().map(|&(sum, flow)| (self.flow(flow), sum)).collect(),
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
            lost_frames: self.lost_frames[flow],
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
        self.lost_frames.0 == 0 && if self.rates.is_some() { !self.loses_share() } else { self.waits_little() }
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

    /// One sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let name = &self.name;
        if self.is_unharmed() {
            return match self.rates {
                Some((fair, _)) => format!("{name}: not slowed; it gets its fair share of {}", text::rate(fair)),
                None => {
                    let (time, lost) = (span(self.picoseconds), span(self.lost_picoseconds));
                    format!("{name}: not slowed; of {time} it lost {lost}")
                }
            };
        }
        let role = if self.is_victim() { "victim: " } else { "" };
        let lost = match (self.rates, self.lost_rate()) {
            (Some((fair, _)), Some(lost)) if self.loses_share() => {
                format!("{} lost", text::part_of_rate(lost, fair))
            }
            (Some((fair, _)), _) => format!("gets its fair share of {}", text::rate(fair)),
            (None, _) if self.complete => {
                format!("took {}, {} of it waiting", span(self.picoseconds), span(self.lost_picoseconds))
            }
            (None, _) => format!("not complete after {}; waited {}", span(self.picoseconds), self.lost_part()),
        };
        let lost = match self.lost_frames {
            (0, _) => lost,
            (frames, made) => format!("{lost}; {frames} of {made} frames dropped or lost and not retransmitted"),
        };
        if self.waits_little() {
            let place =
                if self.lost_frames.0 > 0 { "" } else { ", but not at its source: its frames wait in the network" };
            return format!("{name}: {lost}{place}");
        }
        let losses = self.causes.iter().filter_map(|cause| Some((cause, cause.share_of_loss?)));
        let mut parts: Vec<String> = Vec::new();
        for (cause, share) in losses {
            if parts.is_empty() || share >= LITTLE {
                parts.push(format!("{:.0} % {}", share * 100.0, cause.words()));
            }
        }
        format!("{name}: {role}{lost}, {}", parts.join("; "))
    }

    fn lost_part(&self) -> String {
        format!("{:.0} % of its time", self.lost_picoseconds as f64 / self.picoseconds.max(1) as f64 * 100.0)
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
            "fair_share_bits_per_second": self.rates.map(|rates| rates.0),
            "goodput_bits_per_second": self.rates.map(|rates| rates.1),
            "lost_bits_per_second": self.lost_rate(),
            "causes": self.causes.iter().map(cause).collect::<Vec<Value>>(),
        })
    }
}

impl CauseAnswer {
    /// The flows to blame, at most so many by name.
    #[must_use]
    pub fn names(&self, most: usize) -> String {
        let shown: Vec<&str> = self.by.iter().take(most).map(|(name, _)| name.as_str()).collect();
        match self.by.len().saturating_sub(most) {
            0 => shown.join(", "),
            more => format!("{} and {more} more", shown.join(", ")),
        }
    }

    /// The cause as the end of a sentence.
    fn words(&self) -> String {
        let link = self.link.as_deref().unwrap_or("?");
        let by = |what: &str| match self.by.is_empty() {
            true => String::new(),
            false => format!("{what} {}", self.names(MOST_NAMES)),
        };
        let foreign = if self.on_path == Some(false) { ", which it does not use" } else { "" };
        let through = match &self.via {
            Some(via) if via != link => format!(", through {via}"),
            _ => String::new(),
        };
        let receiver = link.rsplit(" -> ").next().unwrap_or(link);
        let inside = if self.cause == "head-of-line" { " (head-of-line blocking in a switch)" } else { "" };
        let culprits = by(", culprits");
        let told = |how: &str| self.link.as_deref().map(|link| format!(", {how} {link}")).unwrap_or_default();
        match (self.cause.as_str(), self.root.as_deref()) {
            (_, Some("output")) => format!("to {link}{foreign}{through}{inside}{culprits}"),
            (_, Some("receiver")) => format!("to the slow receiver {receiver}{foreign}{through}{inside}{culprits}"),
            (_, Some("link")) => format!("to the failed link {link}{foreign}{through}{inside}{culprits}"),
            // All of its flows wait for each other.
            (_, Some("cycle")) => format!("to a cycle of blocked links through {link}{inside}"),
            (_, Some("credits")) => format!("to {link}, whose credits do not cover its round trip"),
            (_, Some(_)) => format!("to {link}, which was paused and had not resumed"),
            ("contention", _) => format!("to contention at {link}{}", by(" by")),
            ("link-down", _) => format!("to the failed link {link}"),
            ("receiver", _) => format!("to its own slow receiver {receiver}"),
            ("crossbar", _) => format!("inside the switch before {link}"),
            ("signals", _) => format!("to pause and credit frames at {link}"),
            ("rate", _) => format!("to its rate limit{}", told("set by")),
            ("window", _) => format!("to its window{}", told("set by")),
            ("retransmission", _) => "to retransmissions".to_owned(),
            ("recovery", _) => format!("to waiting for acknowledgements and timeouts{}", told("after losses at")),
            ("delivery", _) => format!("to frames that have not arrived{}", told("after losses at")),
            (other, _) => format!("to {other}"),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_of_a_victim_names_root_link_and_culprits() {
        let cause = |cause: &str, share: Option<f64>| CauseAnswer {
            cause: cause.into(),
            root: None,
            port: None,
            link: None,
            on_path: None,
            via: None,
            by: Vec::new(),
            picoseconds: 1,
            share_of_loss: share,
        };
        let root = CauseAnswer {
            root: Some("output".into()),
            link: Some("sw1 -> h6".into()),
            on_path: Some(false),
            via: Some("sw0 -> sw1".into()),
            by: vec![("hot h0->h6".to_owned(), 2), ("hot h1->h6".to_owned(), 1)],
            ..cause("blocking", Some(0.97))
        };
        let mut answer = FlowAnswer {
            number: 0,
            name: "victim".into(),
            picoseconds: 4_000_000_000,
            lost_picoseconds: 3_300_000_000,
            complete: false,
            rates: Some((9.868e9, 1.64e9)),
            victim_share: 0.97,
            lost_frames: (0, 100),
            causes: vec![root, cause("path", None), cause("rate", Some(0.03))],
        };
        let text = "victim: victim: 8.23 of 9.87 Gb/s lost, 97 % to sw1 -> h6, which it does not use, through sw0 -> sw1, \
                    culprits hot h0->h6, hot h1->h6";
        assert_eq!(answer.sentence(), text);
        answer.rates = None;
        answer.complete = true;
        assert!(
            answer.sentence().starts_with("victim: victim: took 4.00 ms, 3.30 ms of it waiting, 97 % to sw1 -> h6")
        );
        answer.lost_picoseconds = 700;
        assert_eq!(answer.sentence(), "victim: not slowed; of 4.00 ms it lost 0.7 ns");
        answer.rates = Some((9.868e9, 1.64e9));
        let lost = "victim: 8.23 of 9.87 Gb/s lost";
        assert_eq!(answer.sentence(), format!("{lost}, but not at its source: its frames wait in the network"));
        answer.lost_frames.0 = 83;
        assert_eq!(answer.sentence(), format!("{lost}; 83 of 100 frames dropped or lost and not retransmitted"));
        answer.rates = Some((9.868e9, 9.86e9));
        answer.lost_frames.0 = 0;
        assert_eq!(answer.sentence(), "victim: not slowed; it gets its fair share of 9.87 Gb/s");
        assert!(!answer.is_victim());
    }
}
