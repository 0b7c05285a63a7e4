//! `why`: which links and which flows made flows slow.

use super::arguments::Why;
use super::console::{self, RunProgress};
use super::exit::Exit;
use super::run::{outcome, say};
use super::{INTERRUPT, deadline};
use results::Results;
use scenario::load;
use serde_json::{Value, json};
use std::path::PathBuf;
use study::why::{CauseAnswer, FlowAnswer, Overview, Question, RootAnswer, WhyError, overview, span, why as answer};
use study::{Existing, Options, Recording, cores, execute, usual_place};

/// Flows that are shown unless a number is given.
const WORST: u32 = 10;
/// Causes of a flow that its table shows.
const MOST_CAUSES: usize = 12;
/// Flows to blame that a line of a table names.
const MOST_NAMES: usize = 4;

/// `tailback why`
pub fn why(arguments: &Why) -> Exit {
    if let Err(exit) = deadline::start(arguments.limit.time_limit) {
        return exit;
    }
    let (directory, exit) = match recorded(arguments) {
        Ok(recorded) => recorded,
        Err(exit) => return exit,
    };
    let question = match (&arguments.flow, &arguments.link) {
        (Some(name), _) => Question::Flow(name.clone()),
        (None, Some(link)) => Question::Link(link.clone()),
        (None, None) => Question::Worst(arguments.worst.unwrap_or(WORST) as usize),
    };
    let answers = Results::open(&directory).map_err(WhyError::Results).and_then(|it| answered(&it, &question));
    let (overview, answers) = match answers {
        Ok(answers) => answers,
        Err(WhyError::Results(error)) => {
            console::error(&error.to_string());
            return Exit::refusal(&error);
        }
        Err(WhyError::Nothing(text)) => {
            console::error(&text);
            return Exit::BadInput;
        }
    };
    if arguments.json {
        let flows: Vec<Value> = answers.iter().map(FlowAnswer::record).collect();
        let mut document = json!({ "flows": flows });
        if let Some(overview) = &overview {
            document["summary"] = json!(overview.summary());
            document["roots"] = overview.roots.iter().map(RootAnswer::record).collect();
        }
        console::print(&format!("{document:#}\n"));
    } else if answers.is_empty() {
        console::print("no flow lost time there\n");
    } else {
        if let Some(overview) = &overview {
            console::print(&format!("{}\n\n", overview.summary()));
        }
        console::print(&text(&answers));
    }
    exit
}

/// The flows that are asked about; and, if these are the worst of the run, all of it.
fn answered(results: &Results, question: &Question) -> Result<(Option<Overview>, Vec<FlowAnswer>), WhyError> {
    if let Question::Worst(count) = question
        && let Some(mut overview) = overview(results, *count)?
    {
        let worst = std::mem::take(&mut overview.worst);
        return Ok((Some(overview), worst));
    }
    Ok((None, answer(results, question)?))
}

/// The results that are asked; a scenario file is run first, and the command ends as its run does.
fn recorded(arguments: &Why) -> Result<(PathBuf, Exit), Exit> {
    let Why { what, set, threads, json, out, .. } = arguments;
    if what.is_dir() {
        let option = if set.is_empty() { out.as_ref().map(|_| "--out") } else { Some("--set") };
        let Some(option) = option else { return Ok((what.clone(), Exit::Success)) };
        let what = what.display();
        console::error(&format!("{what}: {option} works on scenario files only; these results are recorded"));
        return Err(Exit::BadInput);
    }
    let mut plan = load(what, set).map_err(|errors| console::problems(&errors))?;
    plan.probes.causes = true;
    let record = match out {
        Some(out) => Recording { out: out.clone(), existing: Existing::Refuse },
        None => Recording { out: usual_place(&plan.name), existing: Existing::NextName },
    };
    let options = Options {
        threads: threads.or(plan.run.threads).unwrap_or_else(cores),
        interrupt: &INTERRUPT,
        time_up: Some(&deadline::TIME_UP),
        record: Some(&record),
        capture: None,
    };
    let progress = RunProgress::new(plan.run.duration, *json);
    let execution = execute(&plan, &options, |seen| {
        deadline::running();
        progress.see(seen);
    });
    progress.end();
    let execution = execution.map_err(|error| say(&error))?;
    if execution.report.outcome == fabric::Outcome::Interrupted {
        return Err(Exit::Interrupted);
    }
    let exit = outcome(&execution);
    let directory = execution.recorded.unwrap_or(record.out);
    if !json {
        console::note(&format!("results in {}", directory.display()));
        if execution.report.outcome != fabric::Outcome::Finished {
            console::note(&format!("the run ended with outcome {}", execution.measures.outcome));
        }
    }
    Ok((directory, exit))
}

fn text(answers: &[FlowAnswer]) -> String {
    let mut text = String::new();
    for answer in answers {
        text.push_str(&answer.sentence());
        text.push('\n');
    }
    for answer in answers {
        text.push_str(&format!("\n{}, {}\n", answer.name, span(answer.picoseconds)));
        let rows: Vec<Vec<String>> = answer.causes.iter().take(MOST_CAUSES).map(|it| line(answer, it)).collect();
        text.push_str(&console::table(&["cause", "at", "through", "by", "time", "of time", "of loss"], &rows));
        let rest = answer.causes.len().saturating_sub(MOST_CAUSES);
        if rest > 0 {
            text.push_str(&format!("and {rest} more; --json shows all\n"));
        }
    }
    text
}

fn line(answer: &FlowAnswer, cause: &CauseAnswer) -> Vec<String> {
    let kind = match &cause.root {
        Some(root) => format!("{} by {root}", cause.cause),
        None => cause.cause.clone(),
    };
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    vec![
        kind,
        cause.link.clone().unwrap_or_default(),
        cause.via.clone().filter(|via| Some(via) != cause.link.as_ref()).unwrap_or_default(),
        cause.names(MOST_NAMES),
        span(cause.picoseconds),
        percent(cause.picoseconds as f64 / answer.picoseconds.max(1) as f64),
        cause.share_of_loss.map(percent).unwrap_or_default(),
    ]
}
