//! `faults`: a campaign of single faults.

use super::check::load_or_say;
use super::console::{self, CountProgress, seconds};
use super::exit::Exit;
use super::study_arguments::Faults;
use super::sweep::{repeated, say};
use super::{INTERRUPT, deadline, report};
use results::document::{self, Document, FaultEffect};
use scenario::{FaultKind, FaultSettings, Pattern, Plan, SingleFault, single_faults};
use study::{FaultStudy, busy_time, cores};
use units::Span;

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
    let (at, wanted) = match wanted(arguments, &plan) {
        Ok(wanted) => wanted,
        Err(text) => {
            console::error(&text);
            return Exit::BadInput;
        }
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
    console::note(&format!("faults begin at {at}; all runs in {}", study.out().display()));
    report::also(arguments.report, study.out(), Exit::Success)
}

/// The faults to try.
fn wanted(arguments: &Faults, plan: &Plan) -> Result<(Span, Vec<SingleFault>), String> {
    let time = |name: &str, text: &Option<String>| match text {
        None => Ok(None),
        Some(text) => text.parse::<Span>().map(Some).map_err(|error| format!("{name}: {error}")),
    };
    // Where both are given, the network need not run first.
    let busy = match (&arguments.at, &arguments.flap) {
        (Some(_), Some(_)) => [Span::ZERO, plan.run.duration],
        _ => busy_time(plan, &INTERRUPT).map_err(|error| error.to_string())?,
    };
    let usual = FaultSettings::of(busy);
    let settings = FaultSettings {
        at: time("--at", &arguments.at)?.unwrap_or(usual.at),
        until: time("--until", &arguments.until)?,
        flap: time("--flap", &arguments.flap)?.unwrap_or(usual.flap),
        bit_error_rate: arguments.bit_error_rate.unwrap_or(usual.bit_error_rate),
        slow: arguments.slow.unwrap_or(usual.slow),
    };
    if settings.at >= plan.run.duration {
        return Err(format!("faults begin at {}, after the end of the run\n  give an earlier --at", settings.at));
    }
    if settings.until.is_some_and(|until| until <= settings.at) {
        return Err(format!("faults end before they begin at {}\n  give a later --until", settings.at));
    }
    if !(0.0..1.0).contains(&settings.bit_error_rate) || !(0.0..=1.0).contains(&settings.slow) {
        return Err("--bit-error-rate and --slow are parts of one\n  give a number from 0 to 1".into());
    }
    let kinds: Vec<FaultKind> = match arguments.kind.as_slice() {
        [] => FaultKind::ALL.to_vec(),
        named => named.iter().filter_map(|name| FaultKind::named(name)).collect(),
    };
    let among: Result<Vec<Pattern>, String> = arguments.among.iter().map(|text| Pattern::parse(text)).collect();
    Ok((settings.at, single_faults(plan, &kinds, &among?, &settings)))
}

fn text(document: &document::Faults, top: usize) -> String {
    let head = ["fault", "outcome", "delivered", "completion", "p99 completion", "victim time"];
    let row = |name: &str, effect: &FaultEffect| {
        let outcome = |(outcome, count): (&String, &usize)| format!("{outcome} {count}");
        let times = |ratio: Option<f64>| ratio.map_or("-".into(), |ratio| format!("{ratio:.2} x"));
        vec![
            name.to_owned(),
            effect.outcomes.iter().map(outcome).collect::<Vec<_>>().join(", "),
            effect.delivered.map_or("-".into(), |part| format!("{:.1} %", part * 100.0)),
            times(effect.completion),
            times(effect.p99_completion),
            effect.victim_seconds.map_or("-".into(), seconds),
        ]
    };
    let shown = document.faults.iter().take(top);
    let mut rows: Vec<Vec<String>> = shown.map(|fault| row(&fault.name, &fault.effect)).collect();
    rows.push(row("no fault", &document.without));
    let mut text = console::table(&head, &rows);
    if document.faults.len() > top {
        text.push_str(&format!("{} more faults do less; --top shows more\n", document.faults.len() - top));
    }
    text.push_str(
        "delivered bytes and completion times: relative to the network without a fault; the worst fault first\n",
    );
    text
}
