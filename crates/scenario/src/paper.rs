//! `paper.toml`: the description of a paper, and its statements about several figures.

use super::expect::Comparison;
use super::figure::VARIANT;
use super::keys::paper::paper as keys;
use super::load::{Disk, is_file_of, unread};
use super::pattern::Pattern;
use super::problem::Errors;
use super::resolve::{self, Gathered, Node, Scope};
use super::source::{FileReader, Place, SourceKind, Sources};
use super::tree;
use std::collections::BTreeMap;
use std::path::Path;

/// The description of a paper.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Paper {
    /// Title of the paper.
    pub title: String,
    /// Authors.
    pub authors: Vec<String>,
    /// Year of publication.
    pub year: Option<u64>,
    /// Publisher.
    pub publisher: Option<String>,
    /// Figures that cannot be run and statements that are not checked, each with the reason.
    pub missing: Vec<(String, String)>,
    /// Tables of variants by figures.
    pub matrices: Vec<Matrix>,
    /// Statements about several figures.
    pub sentences: Vec<Sentence>,
}

/// Figures, by name.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureNames(Vec<String>);

impl FigureNames {
    /// Returns whether a figure is among them.
    #[must_use]
    pub fn holds(&self, figure: &str) -> bool {
        self.0.iter().any(|text| text == figure || Pattern::parse(text).is_ok_and(|pattern| pattern.matches(figure)))
    }
}

/// A table of one quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// Title of the table.
    pub title: String,
    /// Name of an expectation.
    pub quantity: String,
    /// The columns.
    pub figures: FigureNames,
}

/// Aggregation of the values of several figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfFigures {
    /// The mean.
    Mean,
    /// The median.
    Median,
    /// The minimum.
    Least,
    /// The maximum.
    Most,
}

impl OfFigures {
    /// Aggregates values; `None` if there are none.
    #[must_use]
    pub fn of(self, mut numbers: Vec<f64>) -> Option<f64> {
        numbers.sort_by(f64::total_cmp);
        let last = numbers.len().checked_sub(1)?;
        Some(match self {
            OfFigures::Mean => numbers.iter().sum::<f64>() / numbers.len() as f64,
            OfFigures::Median => (numbers[last / 2] + numbers[last.div_ceil(2)]) / 2.0,
            OfFigures::Least => numbers[0],
            OfFigures::Most => numbers[last],
        })
    }
}

/// Which values are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Best {
    /// Larger values are better.
    Largest,
    /// Smaller values are better.
    Smallest,
}

/// One of several criteria for ranking variants.
#[derive(Clone, Debug, PartialEq)]
pub struct Criterion {
    /// Name of an expectation.
    pub quantity: String,
    /// Which of its values are better.
    pub best: Best,
}

/// An alternative quantity for reading a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherQuantity {
    /// Name of the open choice.
    pub choice: String,
    /// The value of the choice with this reading.
    pub value: String,
    /// Name of an expectation; a figure that does not have it uses the sentence's own.
    pub quantity: String,
}

/// How a value is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    /// The value itself.
    Nothing,
    /// Its ratio to the mean of others.
    Ratio,
    /// Its difference from the mean of others.
    Difference,
    /// Its rank among others, the largest first.
    FromTop,
    /// Its rank among others, the smallest first.
    FromBottom,
    /// The number of others whose value is at least a threshold.
    Count,
    /// Its rank among others by several criteria, the best first.
    Rank,
    /// The number of others that are better, by several criteria, under an alternative of a choice.
    BetterUnder,
    /// The fraction of pairs of others whose order is not reversed by an alternative of a choice.
    OrderKept,
}

/// A sentence about a variant over several figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Sentence {
    /// The sentence.
    pub says: String,
    /// The criterion, in words.
    pub measure: String,
    /// Source of the sentence.
    pub source: Option<String>,
    /// The statement that it is evidence for; by default the variant and the sentence.
    pub statement: String,
    /// The variant.
    pub of: String,
    /// Name of an expectation; empty if there are several criteria.
    pub quantity: String,
    /// Alternative quantities.
    pub readings: Vec<OtherQuantity>,
    /// Several quantities, if the sentence is about all of them.
    pub criteria: Vec<Criterion>,
    /// The figures.
    pub figures: FigureNames,
    /// Figures by whose value the first one is divided, if any.
    pub over_figures: Option<FigureNames>,
    /// Aggregation of the values of several figures.
    pub statistic: OfFigures,
    /// How the value is compared.
    pub against: Against,
    /// The other variants.
    pub over: Vec<String>,
    /// Threshold for counting variants.
    pub threshold: f64,
    /// A choice and the alternative that is compared with the default.
    pub under: Option<(String, String)>,
    /// The comparison.
    pub comparison: Comparison,
    /// The bound.
    pub value: f64,
    /// The upper bound, for a sentence with two bounds.
    pub most: Option<f64>,
    /// Its position in the file, as `file:line`.
    pub stated_at: String,
}

/// Reads `paper.toml`.
///
/// # Errors
/// Returns all problems found.
pub fn load_paper(path: &Path) -> Result<Paper, Errors> {
    let name = path.to_string_lossy().into_owned();
    let read = Disk.read(path).and_then(|text| match is_file_of(keys(), &Disk.identity(path), &text) {
        true => Ok(text),
        false => Err("it is not TOML, or most of its keys are unknown".into()),
    });
    match read {
        Ok(text) => read_paper(name, text),
        Err(reason) => Err(unread(name, &reason, "every folder of a paper needs a paper.toml with the paper's title")),
    }
}

/// Parses the text of `paper.toml`.
pub(crate) fn read_paper(name: String, text: String) -> Result<Paper, Errors> {
    let mut sources = Sources::default();
    let start = Place { source: 0, start: 0, end: 0 };
    let source = sources.add(name, SourceKind::File, text);
    let mut problems = Vec::new();
    let tree = tree::parse(&sources, source, &mut problems);
    tree::refuse_controls(&tree, &mut problems);
    let mut gathered = Gathered { sources: &sources, problems, entries: Vec::new(), by_rule: BTreeMap::new() };
    let root = resolve::section(&mut gathered, keys(), &tree, start, "", &Scope::empty());
    let paper = Paper {
        title: root.text("title").unwrap_or_default(),
        authors: named(&root, "authors"),
        year: root.count("year"),
        publisher: root.text("publisher"),
        missing: root
            .tables("missing")
            .iter()
            .filter_map(|node| Some((node.text("name")?, node.text("why")?)))
            .collect(),
        matrices: root.tables("matrices").iter().filter_map(matrix).collect(),
        sentences: root.tables("sentences").iter().filter_map(|node| sentence(&gathered, node)).collect(),
    };
    for (sentence, node) in paper.sentences.iter().zip(root.tables("sentences")) {
        if sentence.over.contains(&sentence.of) && matches!(sentence.against, Against::Ratio | Against::Difference) {
            let message = format!("`{}` is compared with itself", sentence.of);
            gathered.refuse(node.place_of("over"), message, "name other variants");
        }
    }
    let problems = gathered.problems;
    if problems.is_empty() { Ok(paper) } else { Err(Errors::new(sources, problems)) }
}

fn named(node: &Node, key: &str) -> Vec<String> {
    node.names(key).unwrap_or_default().into_iter().map(|(text, _)| text).collect()
}

fn matrix(node: &Node) -> Option<Matrix> {
    let quantity = node.text("quantity")?;
    let title = node.text("title").unwrap_or_else(|| quantity.clone());
    Some(Matrix { title, quantity, figures: FigureNames(named(node, "figures")) })
}

fn criterion(node: &Node) -> Option<Criterion> {
    let best = if node.text("best")? == "smallest" { Best::Smallest } else { Best::Largest };
    Some(Criterion { quantity: node.text("quantity")?, best })
}

fn reading(node: &Node) -> Option<OtherQuantity> {
    let (choice, value, quantity) = (node.text("choice")?, node.text("value")?, node.text("quantity")?);
    Some(OtherQuantity { choice, value, quantity })
}

fn sentence(gathered: &Gathered<'_>, node: &Node) -> Option<Sentence> {
    let (line, _) = gathered.sources.position(node.place);
    let file = gathered.sources.get(node.place.source).map(|source| source.name.clone()).unwrap_or_default();
    let (of, says) = (node.text("of")?, node.text("says")?);
    Some(Sentence {
        statement: node.text("statement").unwrap_or_else(|| format!("{of}: {says}")),
        says,
        measure: node.text("measure")?,
        source: node.text("source"),
        of,
        quantity: node.text("quantity").unwrap_or_default(),
        readings: node.tables("readings").iter().filter_map(reading).collect(),
        criteria: node.tables("criteria").iter().filter_map(criterion).collect(),
        figures: FigureNames(named(node, "figures")),
        over_figures: node.has("over_figures").then(|| FigureNames(named(node, "over_figures"))),
        statistic: match node.text("statistic").unwrap_or_default().as_str() {
            "median" => OfFigures::Median,
            "least" => OfFigures::Least,
            "most" => OfFigures::Most,
            _ => OfFigures::Mean,
        },
        against: match node.text("as")?.as_str() {
            "ratio" => Against::Ratio,
            "difference" => Against::Difference,
            "rank-from-top" => Against::FromTop,
            "rank-from-bottom" => Against::FromBottom,
            "count" => Against::Count,
            "rank" => Against::Rank,
            "better-under" => Against::BetterUnder,
            "order-kept" => Against::OrderKept,
            _ => Against::Nothing,
        },
        over: named(node, "over"),
        threshold: node.number("threshold").unwrap_or_default(),
        under: node.text("choice").zip(node.text("option")),
        comparison: match node.text("op")?.as_str() {
            "<" => Comparison::Below,
            "<=" => Comparison::AtMost,
            ">" => Comparison::Above,
            _ => Comparison::AtLeast,
        },
        value: node.number("value")?,
        most: node.number("most"),
        stated_at: format!("{file}:{line}"),
    })
}

impl Sentence {
    /// Returns whether a value agrees with the sentence.
    #[must_use]
    pub fn holds(&self, number: f64) -> bool {
        self.comparison.holds(number, self.value, 0.0) && self.most.is_none_or(|most| number <= most)
    }

    /// Returns the quantities that the sentence refers to.
    pub fn quantities(&self) -> impl Iterator<Item = &str> {
        let own = (!self.quantity.is_empty()).then_some(self.quantity.as_str());
        own.into_iter().chain(self.criteria.iter().map(|criterion| criterion.quantity.as_str()))
    }

    /// Returns the variants that the sentence refers to.
    pub fn variants(&self) -> impl Iterator<Item = &String> {
        // Where variants are counted, no single one is meant.
        let counted = matches!(self.against, Against::Count | Against::BetterUnder | Against::OrderKept);
        (!counted).then_some(&self.of).into_iter().chain(&self.over)
    }

    /// Returns whether a cell belongs to a variant.
    #[must_use]
    pub fn is_of(cell: &[(String, String)], variant: &str) -> bool {
        cell.iter().any(|(axis, value)| axis == VARIANT && value == variant)
    }
}
