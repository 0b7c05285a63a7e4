//! A paper's statements about several figures: matrices of variants by figures, and sentences with their verdicts.

use crate::grid::points::quantity_keys;
use crate::judge::documents::symbol;
use crate::judge::sentence::{FigureRuns, MatrixTable, SentenceFinding, fill_matrix, judge_sentence};
use crate::judge::sentence_text::{expected_text, measured_text};
use crate::judge::statement::Evidence;
use crate::judge::verdict::Verdict;
use crate::measure::statistics::Summary;
use crate::run::names::file_name;
use files::output::write_file;
use files::text::csv_cell;
use results::document::{Document, MatrixDocument, MatrixRow, PaperSummary, SentenceRecord, UnderChoice};
use results::{FileRecord, ResultsError, remove_listed};
use scenario::{Errors, Paper, Sentence, Unit, load};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// The statements of a paper about several figures, ready to be judged.
#[derive(Debug)]
pub struct SummaryStudy<'a> {
    paper: &'a Paper,
    /// Units of the quantities, by name.
    units: BTreeMap<String, Unit>,
}

/// The judged statements of a paper about several figures.
#[derive(Debug)]
pub struct SummedUp<'a> {
    /// Matrices: title, unit and table.
    pub matrices: Vec<(&'a str, Unit, MatrixTable)>,
    /// Sentences with their units and findings.
    pub sentences: Vec<(&'a Sentence, Unit, SentenceFinding)>,
    /// The sentences as evidence for statements.
    pub evidence: Vec<Evidence>,
    /// Whether the short form was run.
    pub short_form: bool,
    paper: &'a Paper,
}

/// An error of summarising a paper.
#[derive(Debug)]
pub enum SummaryError {
    /// The scenario of a figure is invalid.
    Scenario(Errors),
    /// Sentences refer to quantities or variants that no figure has; each entry names its location.
    Wrong(Vec<String>),
}

impl<'a> SummaryStudy<'a> {
    /// Checks the references to figures before anything is run. Returns `None` if the paper makes no statements about
    /// several figures. Figures are given by name and file.
    ///
    /// # Errors
    /// Returns an error if the scenario of a figure is invalid, or if a sentence refers to something that no figure
    /// has.
    pub fn new(
        paper: &'a Paper,
        figures: &[(&str, &Path)],
        overrides: &[String],
    ) -> Result<Option<SummaryStudy<'a>>, SummaryError> {
        if paper.sentences.is_empty() && paper.matrices.is_empty() {
            return Ok(None);
        }
        let mut units = BTreeMap::new();
        let mut variants: Vec<(String, Vec<String>, Vec<String>)> = Vec::new();
        for (name, file) in figures {
            let plan = load(file, overrides).map_err(SummaryError::Scenario)?;
            let quantities = quantity_keys(&plan.expectations);
            for (quantity, expectation) in quantities.iter().zip(&plan.expectations) {
                units.insert(quantity.clone(), expectation.unit());
            }
            variants.push(((*name).to_owned(), plan.figure.variants, quantities));
        }
        let mut wrong = Vec::new();
        for sentence in &paper.sentences {
            let other = sentence.readings.iter().map(|reading| reading.quantity.as_str());
            for quantity in sentence.quantities().chain(other) {
                let about: Vec<_> = variants
                    .iter()
                    .filter(|(name, _, known)| sentence.figures.holds(name) && known.iter().any(|one| one == quantity))
                    .collect();
                if about.is_empty() {
                    wrong.push(format!("{}: no figure of the sentence measures `{quantity}`", sentence.stated_at));
                }
                for variant in sentence.variants() {
                    if let Some((name, ..)) = about.iter().find(|(_, variants, _)| !variants.contains(variant)) {
                        wrong.push(format!("{}: {name} has no variant `{variant}`", sentence.stated_at));
                    }
                }
            }
        }
        if wrong.is_empty() { Ok(Some(SummaryStudy { paper, units })) } else { Err(SummaryError::Wrong(wrong)) }
    }

    /// Judges every sentence and fills every matrix.
    #[must_use]
    pub fn judge(&self, figures: &[FigureRuns<'_>], short_form: bool) -> SummedUp<'a> {
        let unit = |quantity: &str| self.units.get(quantity).copied().unwrap_or(Unit::Number);
        let paper = self.paper;
        let matrix = |matrix: &'a scenario::Matrix| {
            (matrix.title.as_str(), unit(&matrix.quantity), fill_matrix(matrix, figures))
        };
        let judged = |sentence: &'a Sentence| (sentence, unit(&sentence.quantity), judge_sentence(sentence, figures));
        let sentences: Vec<_> = paper.sentences.iter().map(judged).collect();
        let evidence = |(sentence, _, finding): &(&Sentence, Unit, SentenceFinding)| Evidence {
            statement: sentence.statement.clone(),
            own: false,
            verdict: finding.verdict,
        };
        SummedUp {
            matrices: paper.matrices.iter().map(matrix).collect(),
            evidence: sentences.iter().map(evidence).collect(),
            sentences,
            short_form,
            paper,
        }
    }
}

impl SummedUp<'_> {
    /// Returns whether a sentence disagrees with our runs.
    #[must_use]
    pub fn disagrees(&self) -> bool {
        self.sentences.iter().any(|(_, _, finding)| finding.verdict == Verdict::Disagrees)
    }

    /// Converts the summary to its document.
    #[must_use]
    pub fn document(&self) -> PaperSummary {
        let matrices = self.matrices.iter().zip(&self.paper.matrices);
        let sentence =
            |(sentence, unit, finding): &(&Sentence, Unit, SentenceFinding)| sentence_record(sentence, *unit, finding);
        PaperSummary {
            title: self.paper.title.clone(),
            short_form: self.short_form,
            matrices: matrices
                .map(|((title, unit, table), of)| matrix_record(title, &of.quantity, *unit, table))
                .collect(),
            sentences: self.sentences.iter().map(sentence).collect(),
            files: None,
        }
    }

    /// Returns matrices and sentences as tables for readers.
    #[must_use]
    pub fn text(&self) -> String {
        super::summary_text::text(self)
    }

    /// Writes `summary.json`, `summary.txt` with the text, and a file for every matrix.
    ///
    /// # Errors
    /// Returns an error if a file exists that may not be replaced, or if a system call fails.
    pub fn write(&self, out: &Path, document: &PaperSummary) -> Result<(), ResultsError> {
        std::fs::create_dir_all(out).map_err(|error| ResultsError::io("create", out, error))?;
        let titles: Vec<String> = self.matrices.iter().map(|(title, ..)| (*title).to_owned()).collect();
        let table = |(place, (title, _, table)): (usize, &(&str, Unit, MatrixTable))| {
            (format!("{}.csv", file_name(title, &titles[..place])), matrix_csv(table))
        };
        let tables = self.matrices.iter().enumerate().map(table);
        let others: Vec<(String, String)> =
            std::iter::once(("summary.txt".to_owned(), self.text())).chain(tables).collect();
        PaperSummary::may_go_to(out)?;
        let older = PaperSummary::read(out)?;
        let new: Vec<FileRecord> =
            others.iter().map(|(name, content)| FileRecord::new(name, content.as_bytes())).collect();
        let known = older.as_ref().map(|older| older.files.clone().unwrap_or_default()).unwrap_or_default();
        // Earlier versions listed nothing: where their document is, the other files are theirs.
        let unlisted = older.as_ref().is_some_and(|older| older.files.is_none());
        for record in &new {
            let path = out.join(&record.path);
            let ours = || known.iter().chain([record]).any(|it| it.path == record.path && it.describes(&path));
            if path.exists() && !unlisted && !ours() {
                return Err(match older {
                    Some(_) => ResultsError::Edited { path },
                    None => ResultsError::Foreign { path, kind: "a summary" },
                });
            }
        }
        // Whenever the process is killed, every file is listed as it is.
        let listed = new.iter().cloned().chain(known.clone()).collect();
        PaperSummary { files: Some(listed), ..document.clone() }.write(out)?;
        for (name, content) in &others {
            let path = out.join(name);
            files::plain(&path)
                .and_then(|_| write_file(&path, content))
                .map_err(|error| ResultsError::io("write", &path, error))?;
        }
        // Tables that the paper no longer has; edited ones stay.
        drop(remove_listed(out, &known, &new));
        PaperSummary { files: Some(new), ..document.clone() }.write(out)?;
        Ok(())
    }
}

fn matrix_csv(table: &MatrixTable) -> String {
    let mut csv = String::from("variant,figure,runs,median,mean,p10,p90\n");
    for (variant, cells) in &table.rows {
        for (figure, cell) in table.figures.iter().zip(cells) {
            let Some(s) = cell else { continue };
            let (variant, figure) = (csv_cell(variant), csv_cell(figure));
            let _ = writeln!(csv, "{variant},{figure},{},{},{},{},{}", s.count, s.median, s.mean, s.p10, s.p90);
        }
    }
    csv
}

fn matrix_record(title: &str, quantity: &str, unit: Unit, table: &MatrixTable) -> MatrixDocument {
    let row = |(variant, cells): &(String, Vec<Option<Summary>>)| MatrixRow {
        variant: variant.clone(),
        cells: cells.iter().map(|cell| cell.as_ref().map(Into::into)).collect(),
    };
    MatrixDocument {
        title: title.to_owned(),
        quantity: quantity.to_owned(),
        unit: unit.word().to_owned(),
        figures: table.figures.clone(),
        rows: table.rows.iter().map(row).collect(),
    }
}

fn sentence_record(sentence: &Sentence, unit: Unit, finding: &SentenceFinding) -> SentenceRecord {
    let flip = |(alternative, verdict): &(super::figure::Alternative, Verdict)| UnderChoice {
        choice: alternative.choice.clone(),
        value: alternative.value.clone(),
        verdict: verdict.word().to_owned(),
    };
    SentenceRecord {
        of: sentence.of.clone(),
        says: sentence.says.clone(),
        measure: sentence.measure.clone(),
        source: sentence.source.clone(),
        quantity: sentence.quantity.clone(),
        figures: finding.figures.clone(),
        criteria: sentence.criteria.iter().map(|criterion| criterion.quantity.clone()).collect(),
        op: symbol(sentence.comparison).to_owned(),
        value: sentence.value,
        most: sentence.most,
        expected_text: expected_text(sentence, unit),
        measured_text: measured_text(sentence, unit, finding.measured.as_ref()),
        measured: finding.measured.as_ref().map(Into::into),
        statement: Some(sentence.statement.clone()),
        verdict: finding.verdict.word().to_owned(),
        reason: finding.doubt(),
        own_reading: finding.own.word().to_owned(),
        otherwise: finding.flips.iter().map(flip).collect(),
    }
}
