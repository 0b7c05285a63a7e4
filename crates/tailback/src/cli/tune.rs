//! `tune`: a search for good values of keys.

use super::check::load_or_say;
use super::console::{self, CountProgress};
use super::exit::Exit;
use super::study_arguments::Tune;
use super::sweep::say;
use super::{INTERRUPT, deadline, report};
use results::document::{self, Document, TuneCandidate};
use scenario::{Plan, Unit};
use study::{Condition, Goal, LEAST_SEEDS, Search, TuneStudy, Tuned, Vary, beyond_noise, cores};

/// Candidates that are listed where there is one goal.
const LISTED: usize = 5;

/// `tailback tune`
pub fn tune(arguments: &Tune) -> Exit {
    if let Err(exit) = deadline::start(arguments.limit.time_limit) {
        return exit;
    }
    let mut scenario = arguments.scenario.clone();
    let plan = match load_or_say(&scenario) {
        Ok(plan) => plan,
        Err(exit) => return exit,
    };
    let search = match search(arguments, &plan) {
        Ok(search) => search,
        Err(text) => {
            console::error(&text.replacen("; ", "\n  ", 1));
            return Exit::BadInput;
        }
    };
    let seeds = arguments.replications.unwrap_or(plan.run.replications.max(LEAST_SEEDS));
    scenario.set.push(format!("run.replications={seeds}"));
    let plan = match load_or_say(&scenario) {
        Ok(plan) => plan,
        Err(exit) => return exit,
    };
    let study = TuneStudy::new(plan, (&scenario.file, &scenario.set), search, arguments.out.as_deref());
    let study = match study {
        Ok(study) => study,
        Err(error) => return say(&error),
    };
    deadline::running();
    let out = study.out.clone();
    if let Err(exit) = report::may_follow(arguments.report, &out) {
        return exit;
    }
    let progress = CountProgress::new(study.total(), "runs");
    let threads = arguments.threads.unwrap_or_else(cores);
    let tuned = study.run(threads, &INTERRUPT, |done, total| progress.see(done, total));
    progress.end();
    let tuned = match tuned {
        Ok(tuned) => tuned,
        Err(error) => return say(&error),
    };
    console::print(&if arguments.json { format!("{:#}\n", tuned.document.to_json()) } else { text(&tuned) });
    for note in &tuned.notes {
        console::note(&format!("note: {note}"));
    }
    match (&tuned.best, &tuned.sonic) {
        (Some(best), Ok(sonic)) => {
            console::note(&format!("best in {}, its SONiC configurations in {}", best.display(), sonic.display()));
        }
        (Some(best), Err(reason)) => {
            console::note(&format!("best in {}; no SONiC configurations: {reason}", best.display()));
        }
        (None, _) => {}
    }
    let exit = if tuned.document.best.is_some() { Exit::Success } else { Exit::Disagreement };
    report::also(arguments.report, &out, exit)
}

fn search(arguments: &Tune, plan: &Plan) -> Result<Search, String> {
    let goals = arguments.minimise.iter().map(|name| (name, false));
    let goals = goals.chain(arguments.maximise.iter().map(|name| (name, true)));
    Ok(Search {
        keys: arguments.vary.iter().map(|text| Vary::parse(text)).collect::<Result<_, _>>()?,
        goals: goals.map(|(name, maximise)| Goal::parse(plan, name, maximise)).collect::<Result<_, _>>()?,
        conditions: arguments.subject_to.iter().map(|text| Condition::parse(plan, text)).collect::<Result<_, _>>()?,
        candidates: arguments.candidates as usize,
    })
}

/// The front of a search, or its best candidates, and the scenario's own values.
fn text(tuned: &Tuned) -> String {
    let document = &tuned.document;
    let candidates = &document.candidates;
    let mut head: Vec<&str> = vec![""];
    head.extend(document.keys.iter().map(|key| key.path.as_str()));
    let bare = |name: &String| name.rsplit_once(" (").map_or(name.as_str(), |(name, _)| name).to_owned();
    let goals: Vec<String> = document.goals.iter().map(|goal| bare(&goal.name)).collect();
    head.extend(goals.iter().map(String::as_str));
    let row = |(name, place): &(&str, usize)| {
        let candidate = &candidates[*place];
        let mut cells = vec![(*name).to_owned()];
        cells.extend(document.keys.iter().map(|key| candidate.values.get(&key.path).cloned().unwrap_or_default()));
        cells.extend(document.goals.iter().map(|goal| measured(goal, candidate)));
        cells
    };
    let mut listed: Vec<(&str, usize)> = Vec::new();
    if let Some(given) = candidates.iter().position(|candidate| candidate.is_given) {
        listed.push((if candidates[given].sound { "given" } else { "given, violates a condition" }, given));
    }
    let name = |place: usize| if document.best == Some(place) { "best" } else { "" };
    match document.goals.as_slice() {
        [goal] => listed.extend(by_goal(candidates, goal).into_iter().take(LISTED).map(|place| (name(place), place))),
        _ => listed.extend(document.front.iter().map(|&place| (name(place), place))),
    }
    let mut text = console::table(&head, &listed.iter().map(row).collect::<Vec<_>>());
    let sound = candidates.iter().filter(|candidate| candidate.sound).count();
    let invalid = candidates.iter().filter(|candidate| candidate.invalid.is_some()).count();
    let runs: usize = candidates.iter().flat_map(|candidate| candidate.outcomes.values()).sum();
    text.push_str(&format!("{} candidates, {runs} runs: {sound} meet all conditions", candidates.len()));
    if sound + invalid < candidates.len() {
        text.push_str(&format!(", {} violate a condition", candidates.len() - sound - invalid));
    }
    if invalid > 0 {
        text.push_str(&format!(", {invalid} invalid"));
    }
    text.push('\n');
    if let (2.., true) = (document.goals.len(), document.front.len() > 1) {
        text.push_str("the goals conflict: nothing surpasses a row in both; best is the nearest to the best of both\n");
    }
    let given = candidates.iter().find(|candidate| candidate.is_given);
    if let (Some(given), Some(best)) = (given, document.best.map(|best| &candidates[best])) {
        text.push_str(&compared(document, given, best));
    }
    if document.best.is_none() {
        text.push_str("no candidate meets all conditions: widen the ranges or relax a condition\n");
    }
    text
}

/// Whether the best differs from the given values by more than the noise of the seeds, goal by goal.
fn compared(document: &document::Tune, given: &TuneCandidate, best: &TuneCandidate) -> String {
    if best.is_given {
        return "nothing is better than the given values\n".into();
    }
    let mut text = String::new();
    for goal in &document.goals {
        let of = |candidate: &'_ TuneCandidate| candidate.goals.get(&goal.name).cloned().flatten();
        let (Some(before), Some(after)) = (of(given), of(best)) else { continue };
        let seeds = document.seeds.len();
        text.push_str(&match beyond_noise(&before, &after) {
            Some(true) => format!("{}: best differs from given by more than the noise of {seeds} seeds\n", goal.name),
            Some(false) => format!(
                "{}: best differs from given by no more than the noise of {seeds} seeds; more would tell (--replications)\n",
                goal.name
            ),
            None => continue,
        });
    }
    text
}

/// The places of sound candidates, the best first.
fn by_goal(candidates: &[TuneCandidate], goal: &document::TuneGoal) -> Vec<usize> {
    let value = |place: &usize| {
        let spread = candidates[*place].goals.get(&goal.name).and_then(Option::as_ref);
        spread.map_or(f64::INFINITY, |it| if goal.maximise { -it.spread.mean } else { it.spread.mean })
    };
    let mut places: Vec<usize> = (0..candidates.len()).filter(|&place| candidates[place].sound).collect();
    places.sort_by(|a, b| value(a).total_cmp(&value(b)));
    places
}

fn measured(goal: &document::TuneGoal, candidate: &TuneCandidate) -> String {
    let Some(spread) = candidate.goals.get(&goal.name).and_then(Option::as_ref) else { return "-".into() };
    let unit = [Unit::Rate, Unit::Size, Unit::Time, Unit::Count].into_iter().find(|unit| unit.word() == goal.unit);
    let shown = |value: f64| unit.unwrap_or(Unit::Number).shown(value);
    match spread.half_width_95 {
        Some(half) => format!("{} ± {}", shown(spread.spread.mean), shown(half)),
        None => shown(spread.spread.mean),
    }
}
