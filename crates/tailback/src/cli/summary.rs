//! What a paper says of all its figures together: matrices of variants by figures, and sentences with their verdicts.

use super::console;
use super::exit::{Exit, Unwritten};
use super::run::{file_name, shown};
use files::output::write_file;
use files::text::csv_cell;
use results::{Kind, ResultsError};
use scenario::{Against, Comparison, Paper, Sentence, Unit, load};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use study::{
    Counts, Evidence, FigureRuns, MatrixTable, SentenceFinding, Summary as Spread, Verdict, fill_matrix,
    judge_sentence, statements,
};

/// What there is to sum up.
pub struct Summary<'a> {
    paper: &'a Paper,
    /// What each quantity is given in; found by [`Summary::check`].
    units: std::cell::RefCell<BTreeMap<String, Unit>>,
}

/// It, summed up.
pub struct SummedUp {
    /// For people.
    pub text: String,
    /// For programs.
    pub json: Value,
    /// The matrices as files: name and content.
    files: Vec<(String, String)>,
    /// What its sentences are evidence for.
    pub evidence: Vec<Evidence>,
    disagrees: bool,
}

impl<'a> Summary<'a> {
    pub fn new(paper: &'a Paper) -> Summary<'a> {
        Summary { paper, units: std::cell::RefCell::default() }
    }

    /// Whether the paper says anything of its figures together.
    pub fn says_something(&self) -> bool {
        !self.paper.sentences.is_empty() || !self.paper.matrices.is_empty()
    }

    /// Finds what no figure has before anything is run.
    pub fn check(&self, figures: &[(&str, &Path)], set: &[String]) -> Result<(), Exit> {
        if !self.says_something() {
            return Ok(());
        }
        let mut variants: Vec<(String, Vec<String>, Vec<String>)> = Vec::new();
        for (name, file) in figures {
            let plan = load(file, set).map_err(|errors| console::problems(&errors))?;
            let quantities = study::quantity_keys(&plan.expectations);
            for (quantity, expectation) in quantities.iter().zip(&plan.expectations) {
                self.units.borrow_mut().insert(quantity.clone(), expectation.unit());
            }
            variants.push(((*name).to_owned(), plan.figure.variants, quantities));
        }
        let mut wrong = Vec::new();
        for sentence in &self.paper.sentences {
            let other = sentence.readings.iter().map(|reading| reading.quantity.as_str());
            for quantity in sentence.quantities().chain(other) {
                let about: Vec<_> = variants
                    .iter()
                    .filter(|(name, _, known)| sentence.figures.holds(name) && known.iter().any(|one| one == quantity))
                    .collect();
                if about.is_empty() {
                    wrong.push(format!("{}: none of its figures measures `{quantity}`", sentence.stated_at));
                }
                for variant in sentence.variants() {
                    if let Some((name, ..)) = about.iter().find(|(_, variants, _)| !variants.contains(variant)) {
                        wrong.push(format!("{}: {name} has no variant `{variant}`", sentence.stated_at));
                    }
                }
            }
        }
        for message in &wrong {
            console::error(message);
        }
        if wrong.is_empty() { Ok(()) } else { Err(Exit::BadInput) }
    }

    /// Judges every sentence and fills every matrix.
    pub fn judge(&self, figures: &[FigureRuns<'_>], short_form: bool) -> SummedUp {
        let units = self.units.borrow();
        let unit = |quantity: &str| units.get(quantity).copied().unwrap_or(Unit::Number);
        let (mut text, mut files, mut told) = (String::new(), Vec::new(), Vec::new());
        for matrix in &self.paper.matrices {
            let table = fill_matrix(matrix, figures);
            let _ = write!(text, "{}\n{}\n", matrix.title, matrix_text(&table, unit(&matrix.quantity)));
            let before: Vec<String> = self.paper.matrices.iter().map(|matrix| matrix.title.clone()).collect();
            let place = self.paper.matrices.iter().position(|it| std::ptr::eq(it, matrix)).unwrap_or(0);
            files.push((format!("{}.csv", file_name(&matrix.title, &before[..place])), matrix_csv(&table)));
            told.push(matrix_json(&matrix.title, &matrix.quantity, unit(&matrix.quantity).word(), &table));
        }
        let findings: Vec<SentenceFinding> =
            self.paper.sentences.iter().map(|sentence| judge_sentence(sentence, figures)).collect();
        let pairs = || self.paper.sentences.iter().zip(&findings);
        let is_evidence = |(sentence, finding): (&Sentence, &SentenceFinding)| Evidence {
            statement: sentence.statement.clone(),
            own: false,
            verdict: finding.verdict,
        };
        let evidence: Vec<Evidence> = pairs().map(is_evidence).collect();
        if !findings.is_empty() {
            let row = |(sentence, finding): (&Sentence, &SentenceFinding)| {
                let unit = unit(&sentence.quantity);
                vec![
                    format!("{}: {}", sentence.of, sentence.says),
                    sentence.measure.clone(),
                    bounds(sentence, unit),
                    spread(sentence, unit, finding.measured.as_ref()),
                    verdict_text(finding),
                ]
            };
            let rows: Vec<Vec<String>> = pairs().map(row).collect();
            let head = ["what the paper says", "measure", "expected", "measured", "verdict"];
            text.push_str(&console::table(&head, &rows));
            let counts = Counts::of(statements(&evidence).iter().map(|one| one.verdict));
            let Counts { agree, disagree, undetermined } = counts;
            let short = if short_form { " in the short form" } else { "" };
            let _ = writeln!(text, "sentences{short}: {agree} agree, {disagree} disagree, {undetermined} undetermined");
        }
        SummedUp {
            text,
            json: json!({
                "title": self.paper.title,
                "short_form": short_form,
                "matrices": told,
                "sentences": pairs().map(|pair| sentence_json(pair, unit(&pair.0.quantity))).collect::<Vec<_>>(),
            }),
            files,
            evidence,
            disagrees: findings.iter().any(|finding| finding.verdict == Verdict::Disagrees),
        }
    }
}

impl SummedUp {
    /// How the program ends.
    pub fn ending(&self) -> Exit {
        if self.disagrees { Exit::Disagreement } else { Exit::Success }
    }

    /// Writes `summary.json`, `summary.txt` and a file for every matrix.
    pub fn keep(&self, out: &Path) -> Result<(), Unwritten> {
        let failed = |path: &Path, error| Unwritten::io("write", path, error);
        std::fs::create_dir_all(out).map_err(|error| failed(out, error))?;
        // The others carry no sign of ours: where the first is ours, so are they.
        let first = out.join("summary.json");
        Kind::Json(&["title", "matrices", "sentences"]).may_go_to(&first, false)?;
        let ours = first.exists();
        let own =
            [("summary.json".to_owned(), format!("{:#}\n", self.json)), ("summary.txt".to_owned(), self.text.clone())];
        for (name, content) in own.iter().chain(&self.files) {
            let path = out.join(name);
            if !ours && path.exists() {
                return Err(ResultsError::Foreign { path, kind: "a summary" }.into());
            }
            write_file(&path, content).map_err(|error| failed(&path, error))?;
        }
        Ok(())
    }
}

fn word(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Equal => "=",
        Comparison::Below => "<",
        Comparison::AtMost => "<=",
        Comparison::Above => ">",
        Comparison::AtLeast => ">=",
    }
}

/// A number of a sentence, with its unit if it still has one.
fn amount(sentence: &Sentence, unit: Unit, value: f64) -> String {
    match sentence.against {
        Against::Nothing if sentence.over_figures.is_some() => format!("{value:.3} times"),
        Against::Nothing => shown(unit, value),
        Against::Difference if value >= 0.0 => shown(unit, value),
        Against::Difference => format!("-{}", shown(unit, -value)),
        Against::Ratio => format!("{value:.3} times"),
        Against::FromTop | Against::FromBottom | Against::Place => format!("place {value:.0}"),
        Against::Count | Against::BetterUnder => format!("{value:.0} of {}", sentence.over.len()),
        Against::OrderKept => shown(Unit::Number, value),
    }
}

/// What a sentence expects, from one side or from both.
fn bounds(sentence: &Sentence, unit: Unit) -> String {
    let least = bound(sentence, unit, sentence.value);
    match sentence.most {
        None => format!("{} {least}", word(sentence.comparison)),
        Some(most) => format!("{least} to {}", bound(sentence, unit, most)),
    }
}

/// A bound of a sentence, without digits that nobody stated.
fn bound(sentence: &Sentence, unit: Unit, value: f64) -> String {
    let text = amount(sentence, unit, value);
    let (number, rest) = text.split_at(text.find(' ').unwrap_or(text.len()));
    if !number.contains('.') {
        return text;
    }
    format!("{}{rest}", number.trim_end_matches('0').trim_end_matches('.'))
}

fn spread(sentence: &Sentence, unit: Unit, measured: Option<&Spread>) -> String {
    let Some(measured) = measured else { return "nothing".into() };
    let amount = |value: f64| amount(sentence, unit, value);
    if measured.p10 == measured.p90 {
        return amount(measured.median);
    }
    format!("{} ({} to {})", amount(measured.median), amount(measured.p10), amount(measured.p90))
}

fn verdict_text(finding: &SentenceFinding) -> String {
    let flip = |(alternative, verdict): &(study::Alternative, Verdict)| {
        format!("{} = {}: {}", alternative.choice, alternative.value, verdict.word())
    };
    let reason = finding.doubt().into_iter();
    // What another reading leads to is said beside what ours does.
    let own =
        (!finding.flips.is_empty() && finding.own != Verdict::Undetermined).then(|| finding.own.word().to_owned());
    let more: Vec<String> = reason.chain(own).chain(finding.flips.iter().map(flip)).collect();
    match more.as_slice() {
        [] => finding.verdict.word().to_owned(),
        more => format!("{} ({})", finding.verdict.word(), more.join("; ")),
    }
}

fn matrix_text(table: &MatrixTable, unit: Unit) -> String {
    let head: Vec<&str> = std::iter::once("").chain(table.figures.iter().map(String::as_str)).collect();
    let cell = |cell: &Option<Spread>| cell.as_ref().map_or("-".into(), |cell| shown(unit, cell.median));
    let row = |(name, cells): &(String, Vec<Option<Spread>>)| {
        std::iter::once(name.clone()).chain(cells.iter().map(cell)).collect::<Vec<_>>()
    };
    console::table(&head, &table.rows.iter().map(row).collect::<Vec<_>>())
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

fn spread_json(measured: &Spread) -> Value {
    json!({ "runs": measured.count, "median": measured.median, "mean": measured.mean, "p10": measured.p10, "p90": measured.p90 })
}

fn matrix_json(title: &str, quantity: &str, unit: &str, table: &MatrixTable) -> Value {
    let row = |(variant, cells): &(String, Vec<Option<Spread>>)| json!({ "variant": variant, "cells": cells.iter().map(|cell| cell.as_ref().map(spread_json)).collect::<Vec<_>>() });
    json!({
        "title": title,
        "quantity": quantity,
        "unit": unit,
        "figures": table.figures,
        "rows": table.rows.iter().map(row).collect::<Vec<_>>(),
    })
}

fn sentence_json((sentence, finding): (&Sentence, &SentenceFinding), unit: Unit) -> Value {
    let flip = |(alternative, verdict): &(study::Alternative, Verdict)| json!({ "choice": alternative.choice, "value": alternative.value, "verdict": verdict.word() });
    json!({
        "of": sentence.of,
        "says": sentence.says,
        "measure": sentence.measure,
        "source": sentence.source,
        "quantity": sentence.quantity,
        "figures": finding.figures,
        "criteria": sentence.criteria.iter().map(|criterion| &criterion.quantity).collect::<Vec<_>>(),
        "op": word(sentence.comparison),
        "value": sentence.value,
        "most": sentence.most,
        "expected_text": bounds(sentence, unit),
        "measured_text": spread(sentence, unit, finding.measured.as_ref()),
        "measured": finding.measured.as_ref().map(spread_json),
        "statement": sentence.statement,
        "verdict": finding.verdict.word(),
        "reason": finding.doubt(),
        "own_reading": finding.own.word(),
        "otherwise": finding.flips.iter().map(flip).collect::<Vec<_>>(),
    })
}
