//! Pages with a simulator in them: the lab, and reports of runs that can be changed and run again.
//!
//! The simulator is the crate `lab`, compiled to WebAssembly by `cargo xtask wasm`. It is in the repository beside the
//! front-end, deflated, so that every clone has it.

use super::front::{Front, examples};
use super::open::{Report, ReportError};
use super::page::{Blocks, page};
use results::{COMMIT, Results, ResultsError, VERSION, deflated};
use serde_json::{Map, Value, json};
use std::path::Path;
use study::recorded_texts;

/// Returns the lab as an HTML page: an editor, examples and the simulator.
#[must_use]
pub fn lab_page() -> String {
    lab_with(Value::Null, Front::lab())
}

/// Returns the lab as a page whose simulator is the server that it comes from. The token, if that wants one, goes with
/// every request of the page.
#[must_use]
pub fn served_page(token: Option<&str>) -> String {
    lab_with(json!({ "token": token }), Front { module: None, asks: true, ..Front::lab() })
}

fn lab_with(server: Value, front: Front<'_>) -> String {
    let mut lab: Value = serde_json::from_str(examples()).unwrap_or_default();
    lab["server"] = server;
    let document = json!({
        "format": "tailback report",
        "kind": "lab",
        "title": "Congestion lab",
        "program": { "version": VERSION, "commit": COMMIT },
        "runs": [],
        "lab": lab,
    });
    page("Tailback lab", &deflated(document.to_string().as_bytes()), &Blocks::default(), front)
}

impl Report {
    /// Adds the scenario of the reported run, so that the page can run it again. To be shown with [`Front::lab`].
    ///
    /// # Errors
    /// Returns an error if the results are not those of a single run, or lack sound copies of its input files.
    pub fn live(mut self, path: &Path) -> Result<Report, ReportError> {
        let refused = |reason: String| {
            let path = path.to_owned();
            ReportError::Results(ResultsError::NotResults { path, reason })
        };
        if self.document["kind"] != "run" {
            return Err(refused("only the report of a single run can run it again; leave out --live".into()));
        }
        let results = Results::open(path)?;
        let texts = recorded_texts(&results).map_err(|errors| refused(errors.to_string()))?;
        let Some((name, text)) = texts.first().cloned() else {
            return Err(refused("it has no copy of its scenario; run the scenario again".into()));
        };
        let set = results.manifest.plan.overrides.clone().unwrap_or_default();
        let files: Map<String, Value> = texts.into_iter().skip(1).map(|(path, text)| (path, json!(text))).collect();
        let given = json!({ "name": name, "text": text, "set": set });
        self.document["lab"] = json!({ "examples": [], "files": files, "given": given });
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_may_compile_its_own_module_and_reach_nothing() {
        let page = lab_page();
        let policy = page.split("content=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
        assert!(policy.contains("' 'wasm-unsafe-eval'; worker-src blob:;"), "{policy}");
        assert!(!policy.contains("unsafe-inline") && !policy.contains("connect-src") && !policy.contains("http"));
        // At most 3 MB more than the front-end of a report.
        assert!(page.len() < 3_300_000, "{} bytes", page.len());
        assert!(page.contains("id=\"module\"") && Front::lab().module.is_some_and(|module| module.len() > 100_000));
    }

    #[test]
    fn a_served_page_asks_its_server_and_nobody_else() {
        let page = served_page(Some("0123"));
        let policy = page.split("content=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a policy");
        assert!(policy.contains("; connect-src 'self';") && !policy.contains("wasm"), "{policy}");
        assert!(!page.contains("id=\"module\"") && page.len() < lab_page().len() / 2);
    }

    #[test]
    fn examples_are_scenarios_with_names() {
        let told: Value = serde_json::from_str(examples()).expect("JSON");
        let examples = told["examples"].as_array().expect("a list");
        assert!(examples.len() > 20);
        for one in examples {
            assert!(one["text"].as_str().is_some_and(|text| text.contains("schema_version = 1")), "{one}");
            assert!(["group", "title", "name"].iter().all(|key| one[*key].as_str().is_some_and(|it| !it.is_empty())));
        }
    }
}
