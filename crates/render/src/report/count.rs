//! Counts of the statements of a paper, each once, from the documents of its figures.

use results::document::{Figure, PaperSummary, SentenceRecord};
use serde_json::{Value, json};
use study::{Evidence, Statement, Verdict, statements};

/// Returns the verdicts of a figure as evidence.
pub(super) fn evidence_of(figure: &Figure) -> Vec<Evidence> {
    let numbers = figure.numbers.iter().map(|it| (&it.judgement.verdict, &it.ruling));
    let trends = figure.trends.iter().map(|it| (&it.verdict, &it.ruling));
    let evidence = |(verdict, ruling): (&String, &results::document::Ruling)| {
        Some(Evidence { statement: ruling.statement.clone(), own: ruling.ours, verdict: Verdict::named(verdict)? })
    };
    numbers.chain(trends).filter_map(evidence).collect()
}

/// Returns the sentences of a paper as evidence.
fn evidence_of_sentences(summary: &PaperSummary) -> Vec<Evidence> {
    let evidence = |sentence: &SentenceRecord| {
        let of_variant = || format!("{}: {}", sentence.of, sentence.says);
        let statement = sentence.statement.clone().unwrap_or_else(of_variant);
        Some(Evidence { statement, own: false, verdict: Verdict::named(&sentence.verdict)? })
    };
    summary.sentences.iter().filter_map(evidence).collect()
}

/// Returns the statements for the page.
pub(super) fn told(evidence: &[Evidence]) -> Value {
    let one = |one: &Statement| {
        json!({
            "statement": one.statement,
            "ours": one.own,
            "verdict": one.verdict.word(),
            "measurements": one.measurements.total(),
        })
    };
    statements(evidence).iter().map(one).collect()
}

fn is_short(folder: &str) -> bool {
    folder.ends_with("-quick")
}

/// Returns the statements of all figures, given by folder. Short forms count only if there is nothing else.
pub(super) fn statements_of(figures: &[(String, Vec<Evidence>)], summary: Option<&PaperSummary>) -> Value {
    let short = figures.iter().all(|(folder, _)| is_short(folder));
    let counted = figures.iter().filter(|(folder, _)| short || !is_short(folder));
    let of_both = summary.filter(|summary| summary.short_form == short);
    let sentences = of_both.map(evidence_of_sentences).unwrap_or_default();
    told(&counted.flat_map(|(_, evidence)| evidence.clone()).chain(sentences).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(folder: &str, verdict: Verdict) -> (String, Vec<Evidence>) {
        let new = |name: &str, source: Option<&str>, verdict| Evidence::new("fig1", name, source, None, verdict);
        let evidence = vec![
            new("f1", Some("section 2"), verdict),
            new("f2", Some("section 2"), verdict),
            new("f3", None, Verdict::Agrees),
            new("t", Some("section 3"), Verdict::TrendAgrees),
        ];
        (folder.to_owned(), evidence)
    }

    fn summary() -> PaperSummary {
        let sentence = json!({
            "of": "a", "says": "best", "measure": "", "source": null, "quantity": "", "figures": [], "criteria": [],
            "op": "=", "value": 1.0, "most": null, "expected_text": "", "measured_text": "", "measured": null,
            "verdict": "disagrees", "reason": null, "own_reading": "disagrees", "otherwise": [],
        });
        let sentences = vec![serde_json::from_value(sentence).expect("a sentence")];
        PaperSummary { title: String::new(), short_form: false, matrices: Vec::new(), sentences, files: None }
    }

    #[test]
    fn a_statement_of_several_figures_is_one() {
        let summary = summary();
        let both = [figure("fig1", Verdict::Agrees), figure("fig2", Verdict::Disagrees)];
        let all = statements_of(&both, Some(&summary));
        let verdicts = |all: &Value| -> Vec<(String, bool)> {
            let one = |one: &Value| (one["verdict"].as_str().unwrap().to_owned(), one["ours"].as_bool().unwrap());
            all.as_array().unwrap().iter().map(one).collect()
        };
        let expected = [("undetermined", false), ("agrees", true), ("agrees", false), ("disagrees", false)];
        assert_eq!(verdicts(&all), expected.map(|(verdict, ours)| (verdict.to_owned(), ours)));
        assert_eq!(all[0]["measurements"], 4);
        // A short form does not count beside a full one.
        let all = statements_of(&[figure("fig1", Verdict::Agrees), figure("fig2-quick", Verdict::Disagrees)], None);
        assert_eq!(all[0]["verdict"], "agrees");
        let all = statements_of(&[figure("fig2-quick", Verdict::Disagrees)], Some(&summary));
        assert_eq!((all.as_array().map(Vec::len), &all[0]["verdict"]), (Some(3), &json!("disagrees")));
    }
}
