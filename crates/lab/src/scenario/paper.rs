//! `paper.toml`: what a paper is, and what it says of all its figures together.

use super::expect::{Comparison, Statistic};
use super::figure::VARIANT;
use super::keys::paper::paper as keys;
use super::load::Disk;
use super::pattern::Pattern;
use super::problem::{Errors, Problem};
use super::resolve::{self, Gathered, Node, Scope};
use super::source::{FileReader, Place, SourceKind, Sources};
use super::tree;
use std::collections::BTreeMap;
use std::path::Path;

/// What is said of a paper.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Paper {
    /// Its title.
    pub title: String,
    /// Who wrote it.
    pub authors: Vec<String>,
    /// When.
    pub year: Option<u64>,
    /// Where it appeared.
    pub publisher: Option<String>,
    /// Figures that cannot be run and statements that are not checked, each with the reason.
    pub missing: Vec<(String, String)>,
    /// Tables of variants by figures.
    pub matrices: Vec<Matrix>,
    /// What it says of several figures together.
    pub sentences: Vec<Sentence>,
}

/// Some figures, by name.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureNames(Vec<String>);

impl FigureNames {
    /// Whether a figure is one of them.
    #[must_use]
    pub fn holds(&self, figure: &str) -> bool {
        self.0.iter().any(|text| text == figure || Pattern::parse(text).is_ok_and(|pattern| pattern.matches(figure)))
    }
}

/// A table of one quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// What stands above it.
    pub title: String,
    /// The name of an expectation.
    pub quantity: String,
    /// Its columns.
    pub figures: FigureNames,
}

/// What of a number is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    /// The number itself.
    Nothing,
    /// It divided by the mean of others.
    Ratio,
    /// It less the mean of others.
    Difference,
    /// Its place among others, the largest first.
    FromTop,
    /// Its place among others, the smallest first.
    FromBottom,
}

/// A sentence about a variant over several figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Sentence {
    /// The sentence.
    pub says: String,
    /// How it is judged, in words.
    pub measure: String,
    /// Where it stands.
    pub source: Option<String>,
    /// The statement it is evidence for: the variant and what is said of it, if nothing else is said.
    pub statement: String,
    /// The variant.
    pub of: String,
    /// The name of an expectation.
    pub quantity: String,
    /// The figures.
    pub figures: FigureNames,
    /// How the numbers of several figures become one.
    pub statistic: Statistic,
    /// What is compared.
    pub against: Against,
    /// The other variants.
    pub over: Vec<String>,
    /// How.
    pub comparison: Comparison,
    /// With what.
    pub value: f64,
    /// Line of the file that states it, as `file:line`.
    pub stated_at: String,
}

/// Reads `paper.toml`.
///
/// # Errors
/// Everything that is wrong with it.
pub fn load_paper(path: &Path) -> Result<Paper, Errors> {
    let name = path.to_string_lossy().into_owned();
    let mut sources = Sources::default();
    let start = Place { source: 0, start: 0, end: 0 };
    let text = match Disk.read(path) {
        Ok(text) => text,
        Err(reason) => {
            sources.add(name.clone(), SourceKind::File, String::new());
            let help = "every folder of a paper has a paper.toml with its title";
            return Err(Errors::new(sources, vec![Problem::new(start, format!("cannot read {name}: {reason}"), help)]));
        }
    };
    let source = sources.add(name, SourceKind::File, text);
    let mut problems = Vec::new();
    let tree = tree::parse(&sources, source, &mut problems);
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
            let message = format!("`{}` is held against itself", sentence.of);
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
        quantity: node.text("quantity")?,
        figures: FigureNames(named(node, "figures")),
        statistic: match node.text("statistic")?.as_str() {
            "least" => Statistic::Least,
            "most" => Statistic::Most,
            _ => Statistic::Mean,
        },
        against: match node.text("as")?.as_str() {
            "ratio" => Against::Ratio,
            "difference" => Against::Difference,
            "place-from-top" => Against::FromTop,
            "place-from-bottom" => Against::FromBottom,
            _ => Against::Nothing,
        },
        over: named(node, "over"),
        comparison: match node.text("op")?.as_str() {
            "<" => Comparison::Below,
            "<=" => Comparison::AtMost,
            ">" => Comparison::Above,
            _ => Comparison::AtLeast,
        },
        value: node.number("value")?,
        stated_at: format!("{file}:{line}"),
    })
}

impl Sentence {
    /// The cell of a variant, as the sentence needs it: the axis and its value.
    #[must_use]
    pub fn is_of(cell: &[(String, String)], variant: &str) -> bool {
        cell.iter().any(|(axis, value)| axis == VARIANT && value == variant)
    }
}
