//! The statements of a paper, counted once each, from what its figures say.

use serde_json::{Value, json};
use study::{Evidence, Verdict, statements};

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value[key].as_str()
}

/// What the verdicts of a figure are evidence for.
pub(super) fn evidence_of(figure: &Value) -> Vec<Evidence> {
    let name = text(figure, "figure").unwrap_or_default();
    let lists = ["numbers", "trends"].into_iter().filter_map(|list| figure[list].as_array());
    let evidence = |finding: &Value| {
        let verdict = Verdict::named(text(finding, "verdict")?)?;
        let what = text(finding, "name").unwrap_or_default();
        Some(Evidence::new(name, what, text(finding, "source"), text(finding, "statement"), verdict))
    };
    lists.flatten().filter_map(evidence).collect()
}

/// What the sentences of a paper are evidence for.
fn evidence_of_sentences(summary: &Value) -> Vec<Evidence> {
    let evidence = |sentence: &Value| {
        let verdict = Verdict::named(text(sentence, "verdict")?)?;
        let of_variant = || Some(format!("{}: {}", text(sentence, "of")?, text(sentence, "says")?));
        let statement = text(sentence, "statement").map(str::to_owned).or_else(of_variant)?;
        Some(Evidence { statement, own: false, verdict })
    };
    summary["sentences"].as_array().into_iter().flatten().filter_map(evidence).collect()
}

/// The statements for the page.
pub(super) fn told(evidence: &[Evidence]) -> Value {
    let one = |one: &study::Statement| {
        json!({
            "statement": one.statement,
            "ours": one.own,
            "verdict": one.verdict.word(),
            "measurements": one.measurements.total(),
        })
    };
    statements(evidence).iter().map(one).collect()
}

fn is_short(figure: &Value) -> bool {
    text(figure, "folder").is_some_and(|folder| folder.ends_with("-quick"))
}

/// The statements of all figures together. Short forms count only where there is nothing else.
pub(super) fn statements_of(figures: &[Value], summary: Option<&Value>) -> Value {
    let whole: Vec<&Value> = figures.iter().filter(|figure| !is_short(figure)).collect();
    let short = whole.is_empty();
    let counted = if short { figures.iter().collect() } else { whole };
    let of_both = summary.filter(|summary| summary["short_form"].as_bool().unwrap_or(false) == short);
    let sentences = of_both.map(evidence_of_sentences).unwrap_or_default();
    told(&counted.into_iter().flat_map(evidence_of).chain(sentences).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(folder: &str, verdict: &str) -> Value {
        json!({
            "figure": "fig1",
            "folder": folder,
            "numbers": [
                { "name": "f1", "verdict": verdict, "source": "section 2", "statement": "section 2" },
                { "name": "f2", "verdict": verdict, "source": "section 2" },
                { "name": "f3", "verdict": "agrees", "source": null },
            ],
            "trends": [{ "name": "t", "verdict": "trend agrees", "source": "section 3" }],
        })
    }

    #[test]
    fn a_statement_of_several_figures_is_one() {
        let summary = json!({ "sentences": [{ "of": "a", "says": "best", "verdict": "disagrees" }] });
        let all = statements_of(&[figure("fig1", "agrees"), figure("fig2", "disagrees")], Some(&summary));
        let verdicts = |all: &Value| -> Vec<(String, bool)> {
            let one = |one: &Value| (one["verdict"].as_str().unwrap().to_owned(), one["ours"].as_bool().unwrap());
            all.as_array().unwrap().iter().map(one).collect()
        };
        let expected = [("undetermined", false), ("agrees", true), ("agrees", false), ("disagrees", false)];
        assert_eq!(verdicts(&all), expected.map(|(verdict, ours)| (verdict.to_owned(), ours)));
        assert_eq!(all[0]["measurements"], 4);
        // A short form does not count beside a full one.
        let all = statements_of(&[figure("fig1", "agrees"), figure("fig2-quick", "disagrees")], None);
        assert_eq!(all[0]["verdict"], "agrees");
        let all = statements_of(&[figure("fig2-quick", "disagrees")], Some(&summary));
        assert_eq!((all.as_array().map(Vec::len), &all[0]["verdict"]), (Some(3), &json!("disagrees")));
    }
}
