//! `check` and `explain`: a scenario before it runs.

use super::arguments::{Check, Explain, Scenario};
use super::console;
use super::deadline;
use super::exit::Exit;
use super::import::failed;
use scenario::{Finding, Limits, Plan, Severity, check as findings_of, explain as explain_plan, load_observed};
use serde_json::json;

/// Loads a scenario, or says everything that is wrong with it.
pub fn load_or_say(scenario: &Scenario) -> Result<Plan, Exit> {
    load_within(scenario, Limits::default())
}

/// Loads a scenario that is not run.
fn load_to_examine(scenario: &Scenario) -> Result<Plan, Exit> {
    load_within(scenario, Limits { runs: false, ..Limits::default() })
}

fn load_within(scenario: &Scenario, limits: Limits) -> Result<Plan, Exit> {
    let loaded = load_observed(&scenario.file, &scenario.set, limits, deadline::observer());
    deadline::doing("");
    loaded.map_err(|errors| console::problems(&errors))
}

/// `tailback check`
pub fn check(arguments: &Check) -> Exit {
    if let Err(exit) = deadline::start(arguments.limit.time_limit) {
        return exit;
    }
    if study::sonic::is_configuration(&arguments.file) && arguments.set.is_empty() {
        return check_configurations(arguments);
    }
    let scenario = Scenario { file: arguments.file.clone(), set: arguments.set.clone() };
    let plan = match load_to_examine(&scenario) {
        Ok(plan) => plan,
        Err(exit) => return exit,
    };
    let findings = findings_of(&plan);
    deadline::running();
    if arguments.json {
        console::print(&format!("{:#}\n", json!(findings.iter().map(study::check_record).collect::<Vec<_>>())));
        return judged(&findings);
    }
    show(&findings)
}

/// `tailback check` of configurations of SONiC.
fn check_configurations(arguments: &Check) -> Exit {
    let examined = match study::sonic::examine(&arguments.file) {
        Ok(examined) => examined,
        Err(error) => return failed(&error),
    };
    deadline::running();
    let findings: Vec<Finding> = examined.findings().into_iter().map(|(_, finding)| finding).collect();
    if arguments.json {
        console::print(&format!("{:#}\n", json!(examined.records())));
        return judged(&findings);
    }
    for note in examined.notes() {
        console::note(&format!("note: {}: {}", note.key, note.meaning));
    }
    show(&findings)
}

fn judged(findings: &[Finding]) -> Exit {
    let serious = findings.iter().any(|finding| finding.severity == Severity::Error);
    if serious { Exit::BadInput } else { Exit::Success }
}

fn show(findings: &[Finding]) -> Exit {
    for finding in findings {
        let mut text =
            format!("{}: {}: {}\n", study::severity_name(finding.severity), finding.subject, finding.message);
        if !finding.remedy.is_empty() {
            text.push_str(&format!("    remedy: {}\n", finding.remedy));
        }
        console::print(&text);
    }
    if findings.is_empty() {
        console::print("no findings\n");
    }
    judged(findings)
}

/// `tailback explain`
pub fn explain(arguments: &Explain) -> Exit {
    if let Err(exit) = deadline::start(arguments.limit.time_limit) {
        return exit;
    }
    match load_to_examine(&arguments.scenario) {
        Ok(plan) => {
            let text = explain_plan(&plan);
            deadline::running();
            console::print(&text);
            Exit::Success
        }
        Err(exit) => exit,
    }
}
