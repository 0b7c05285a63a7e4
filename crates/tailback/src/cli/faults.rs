//! `faults`: a campaign of single faults.

use super::check::load_or_say;
use super::console::{self, CountProgress, seconds};
use super::exit::Exit;
use super::study_arguments::Faults;
use super::sweep::{repeated, say};
use super::{INTERRUPT, deadline, report};
use results::document::{self, Document, FaultEffect};
use study::{FaultStudy, FaultWishes, cores};

/// `tailback faults`
pub fn faults(arguments: &Faults) -> Exit {
    if let Err(exit) = deadline::start(arguments.limit.time_limit) {
        return exit;
    }
    let mut scenario = arguments.scenario.clone();
    scenario.set.extend(arguments.replications.map(|count| format!("run.replications={count}")));
    let plan = match load_or_say(&scenario) {
        Ok(plan) => plan,
        Err(exit) => return exit,
    };
    let wishes = FaultWishes {
        kinds: arguments.kind.clone(),
        among: arguments.among.clone(),
        at: arguments.at.clone(),
        until: arguments.until.clone(),
        flap: arguments.flap.clone(),
        bit_error_rate: arguments.bit_error_rate,
        slow: arguments.slow,
    };
    let (at, wanted) = match wishes.faults(&plan, &INTERRUPT) {
        Ok(wanted) => wanted,
        Err(error) => return say(&error),
    };
    deadline::doing("loading all faults");
    let study = match FaultStudy::new(&plan, (&scenario.file, &scenario.set), wanted, arguments.out.as_deref()) {
        Ok(study) => study,
        Err(error) => return say(&error),
    };
    deadline::running();
    if let Err(exit) = report::may_follow(arguments.report, study.out()) {
        return exit;
    }
    let threads = arguments.threads.unwrap_or_else(cores);
    study.grid().short_of_memory(threads).iter().for_each(|text| console::note(text));
    let progress = CountProgress::new(study.grid().total(), "runs");
    let document = study.run(threads, &INTERRUPT, |done, total| progress.see(done, total));
    progress.end();
    repeated(study.grid());
    let document = match document {
        Ok(document) => document,
        Err(error) => return say(&error),
    };
    let shown = if arguments.json { format!("{:#}\n", document.to_json()) } else { text(&document, arguments.top) };
    console::print(&shown);
    console::note(&format!("faults begin at {}; all runs in {}", seconds(at.as_secs_f64()), study.out().display()));
    report::also(arguments.report, study.out(), Exit::Success)
}

fn text(document: &document::Faults, top: usize) -> String {
    let effects = || document.faults.iter().map(|fault| &fault.effect);
    let has_storms = effects().any(|effect| effect.storms.is_some_and(|storms| storms > 0.0));
    let mut head = vec!["fault", "outcome", "delivered", "completed", "completion", "p99 completion", "victim time"];
    if has_storms {
        head.extend(["storms", "dropped in storms"]);
    }
    let row = |name: &str, effect: &FaultEffect| {
        let outcome = |(outcome, count): (&String, &usize)| format!("{outcome} {count}");
        let times = |ratio: Option<f64>| ratio.map_or("-".into(), |ratio| format!("{ratio:.2} x"));
        let part = |part: Option<f64>| part.map_or("-".into(), |part| format!("{:.1} %", part * 100.0));
        let count = |number: Option<f64>| number.map_or("-".into(), |number| format!("{number:.0}"));
        let mut cells = vec![
            name.to_owned(),
            effect.outcomes.iter().map(outcome).collect::<Vec<_>>().join(", "),
            part(effect.delivered),
            part(effect.completed),
            times(effect.completion),
            times(effect.p99_completion),
            effect.victim_seconds.map_or("-".into(), seconds),
        ];
        if has_storms {
            cells.extend([count(effect.storms), count(effect.watchdog_frames)]);
        }
        cells
    };
    let shown = document.faults.iter().take(top);
    let mut rows: Vec<Vec<String>> = shown.map(|fault| row(&fault.name, &fault.effect)).collect();
    rows.push(row("no fault", &document.without));
    let mut text = console::table(&head, &rows);
    if document.faults.len() > top {
        text.push_str(&format!("{} more faults do less; --top shows more\n", document.faults.len() - top));
    }
    text.push_str(
        "the worst fault first; delivered bytes and completion times: relative to the network without a fault; completed: \
         of all finite flows; no completion time where fewer flows complete\n",
    );
    text
}
