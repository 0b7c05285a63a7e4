//! The reproduction of a paper, or of one of its figures: which figures that is, and what is written beside them.

use super::judged_figure::JudgedFigure;
use super::reproduce::{FigureError, PaperFigure, own_folder, paper_document, whole_figure};
use super::summary::{SummaryError, SummaryStudy, SummedUp};
use crate::judge::count::count_statements;
use crate::judge::sentence::FigureRuns;
use crate::judge::statement::statements;
use results::ResultsError;
use results::document::{Count, Document, PaperSummary};
use scenario::{Errors, Paper, load_paper, near_name};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Figures of a paper that were chosen by a name, and what the paper says of itself.
#[derive(Clone, Debug)]
pub struct PaperStudy {
    /// Name of the paper: that of its folder.
    pub paper: String,
    /// The figure that was asked for; `None` is all of them.
    pub figure: Option<String>,
    /// Folder of the paper.
    pub folder: PathBuf,
    /// Description of the paper.
    pub about: Paper,
    /// The figures to run.
    pub figures: Vec<PaperFigure>,
    /// The figure that is run because the one that was asked for is a part of it.
    pub part_of: Option<String>,
}

/// The reason that a paper is not reproduced.
#[derive(Debug)]
pub enum PaperError {
    /// The folder of papers cannot be read.
    Papers(ResultsError),
    /// There is no such paper or figure.
    Unknown {
        /// What was asked for.
        what: String,
        /// What was probably meant.
        near: Option<String>,
    },
    /// The figure has no scenario.
    Missing {
        /// The paper and the figure.
        what: String,
        /// Why it has none.
        why: String,
    },
    /// The description of the paper or the scenario of a figure is invalid.
    Scenario(Errors),
    /// Sentences refer to quantities or variants that no figure has.
    Wrong(Vec<String>),
    /// A figure failed.
    Figure(FigureError),
    /// Results cannot be written.
    Results(ResultsError),
}

impl std::fmt::Display for PaperError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PaperError::Papers(error) => {
                write!(f, "{error}\n  run this where the papers are, or give --papers FOLDER")
            }
            PaperError::Unknown { what, near } => {
                let hint = near.as_ref().map(|near| format!("did you mean {near}? ")).unwrap_or_default();
                write!(f, "there is no {what}\n  {hint}'tailback reproduce' lists all figures")
            }
            PaperError::Missing { what, why } => write!(f, "{what} cannot be run: {why}"),
            PaperError::Scenario(errors) | PaperError::Figure(FigureError::Scenario(errors)) => errors.fmt(f),
            PaperError::Wrong(wrong) => f.write_str(&wrong.join("\n")),
            PaperError::Figure(FigureError::Grid(error)) => error.fmt(f),
            PaperError::Figure(FigureError::Results(error)) | PaperError::Results(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for PaperError {}

impl From<FigureError> for PaperError {
    fn from(error: FigureError) -> PaperError {
        PaperError::Figure(error)
    }
}

impl From<ResultsError> for PaperError {
    fn from(error: ResultsError) -> PaperError {
        PaperError::Results(error)
    }
}

/// The statements of all figures that were run.
#[derive(Debug)]
pub struct Conclusion<'a> {
    /// What the paper says of several figures, and its document; `None` if it says nothing, or if one figure was asked for.
    pub summary: Option<(SummedUp<'a>, PaperSummary)>,
    /// Counts of the statements, each counted once.
    pub count: Count,
}

impl PaperStudy {
    /// Finds the figures of `PAPER` or `PAPER/FIGURE` in a folder of papers.
    ///
    /// # Errors
    /// Returns an error if there are none, or if the description of the paper is invalid.
    pub fn choose(papers: &Path, what: &str) -> Result<PaperStudy, PaperError> {
        let all = PaperFigure::all(papers).map_err(PaperError::Papers)?;
        let (paper, figure) = match what.split_once('/') {
            Some((paper, figure)) => (paper, Some(figure)),
            None => (what, None),
        };
        let named = |name: Option<&str>| -> Vec<PaperFigure> {
            let wanted = |known: &&PaperFigure| known.paper == paper && name.is_none_or(|name| known.name == name);
            all.iter().filter(wanted).cloned().collect()
        };
        let folder = papers.join(paper);
        let file = folder.join("paper.toml");
        // A folder that does not exist has no figures; nothing has to be said of the whole.
        let about = if file.exists() { load_paper(&file) } else { Ok(Paper::default()) };
        let about = about.map_err(PaperError::Scenario)?;
        let mut figures = named(figure);
        let missing = about.missing.iter().find(|(name, _)| figures.is_empty() && Some(name.as_str()) == figure);
        if let Some((name, why)) = missing {
            return Err(PaperError::Missing { what: format!("{paper}/{name}"), why: why.clone() });
        }
        let mut part_of = None;
        if let Some(whole) = figure.and_then(whole_figure).filter(|_| figures.is_empty()) {
            figures = named(Some(whole));
            part_of = (!figures.is_empty()).then(|| whole.to_owned());
        }
        if figures.is_empty() {
            return Err(PaperError::Unknown { what: what.to_owned(), near: meant(&all, (paper, figure)) });
        }
        let (paper, figure) = (paper.to_owned(), figure.map(str::to_owned));
        Ok(PaperStudy { paper, figure, folder, about, figures, part_of })
    }

    /// Prepares what the paper says of several figures, and checks before the work that all results may be written below
    /// `out`.
    ///
    /// # Errors
    /// Returns an error if a scenario is invalid, if a sentence refers to something that no figure has, or if a folder of
    /// results is a link.
    pub fn prepare(
        &self,
        (out, short_form): (&Path, bool),
        overrides: &[String],
    ) -> Result<Option<SummaryStudy<'_>>, PaperError> {
        let files: Vec<(&str, &Path)> =
            self.figures.iter().map(|figure| (figure.name.as_str(), figure.file.as_path())).collect();
        let whole = if self.figure.is_none() { SummaryStudy::new(&self.about, &files, overrides) } else { Ok(None) };
        let whole = whole.map_err(|error| match error {
            SummaryError::Scenario(errors) => PaperError::Scenario(errors),
            SummaryError::Wrong(wrong) => PaperError::Wrong(wrong),
        })?;
        let summaries = [false, true].map(|short_form| self.summary_place(out, short_form));
        for place in self.figures.iter().map(|one| one.place(out, short_form)).chain(summaries) {
            own_folder(out, &place)?;
        }
        Ok(whole)
    }

    fn summary_place(&self, out: &Path, short_form: bool) -> PathBuf {
        out.join(&self.paper).join(if short_form { "summary-quick" } else { "summary" })
    }

    /// Returns the directory that a report of the reproduction is about: that of the figure, if one was asked for.
    #[must_use]
    pub fn place(&self, out: &Path, short_form: bool) -> PathBuf {
        match (&self.figure, self.figures.as_slice()) {
            (Some(_), [one]) => one.place(out, short_form),
            _ => out.join(&self.paper),
        }
    }

    /// Writes the description of the paper to the directory of the paper and, beside a figure, once more: a report reads
    /// nothing outside its own folder.
    ///
    /// # Errors
    /// Returns an error if a file exists that may not be replaced, or if a system call fails.
    pub fn describe(
        &self,
        (out, short_form): (&Path, bool),
        figure: Option<&PaperFigure>,
        count: Option<&Count>,
    ) -> Result<(), ResultsError> {
        let place = figure.map_or_else(|| out.join(&self.paper), |figure| figure.place(out, short_form));
        paper_document(&self.about, &self.folder, count).write(&place)
    }

    /// Judges what the paper says of all figures together, counts its statements and writes both.
    ///
    /// # Errors
    /// Returns an error if a file exists that may not be replaced, or if a system call fails.
    pub fn conclude<'a>(
        &self,
        whole: Option<&SummaryStudy<'a>>,
        judged: &[(&str, JudgedFigure)],
        (out, short_form): (&Path, bool),
    ) -> Result<Conclusion<'a>, ResultsError> {
        let runs: Vec<FigureRuns<'_>> = judged.iter().map(|(name, judged)| judged.runs(name)).collect();
        let summary = whole.map(|whole| whole.judge(&runs, short_form));
        let summary = summary.map(|summary| (summary.document(), summary)).map(|(document, it)| (it, document));
        if let Some((summary, document)) = &summary {
            summary.write(&self.summary_place(out, short_form), document)?;
        }
        let evidence = judged.iter().flat_map(|(_, judged)| &judged.evidence);
        let evidence = evidence.chain(summary.iter().flat_map(|(summary, _)| &summary.evidence));
        let count = count_statements(&statements(evidence), short_form);
        if self.figure.is_none() {
            self.describe((out, short_form), None, Some(&count))?;
        }
        Ok(Conclusion { summary, count })
    }

    /// Returns the statements of the paper that no figure checks, with the reasons.
    pub fn missing(&self) -> impl Iterator<Item = (&str, &str)> {
        let unknown = |name: &str| !self.figures.iter().any(|figure| figure.name == name);
        let missing = self.about.missing.iter().map(|(name, why)| (name.as_str(), why.as_str()));
        missing.filter(move |(name, _)| unknown(name))
    }
}

/// The paper or figure that an unknown name probably means.
fn meant(all: &[PaperFigure], (paper, figure): (&str, Option<&str>)) -> Option<String> {
    let papers: BTreeSet<&str> = all.iter().map(|known| known.paper.as_str()).collect();
    let paper = if papers.contains(paper) { Some(paper) } else { near_name(paper, papers.into_iter()) }?;
    let Some(figure) = figure else { return Some(paper.to_owned()) };
    let figures = all.iter().filter(|known| known.paper == paper).map(|known| known.name.as_str());
    near_name(figure, figures).map(|figure| format!("{paper}/{figure}"))
}
