//! `pcap`: the frames of links, for Wireshark.

use super::arguments::Pcap;
use super::console::{self, RunProgress};
use super::exit::Exit;
use super::run::{outcome, say};
use super::{INTERRUPT, deadline};
use files::output::{OutputFile, is_replaced};
use files::text::on_one_line;
use results::{Manifest, Results, ResultsError};
use scenario::{Plan, load};
use std::path::PathBuf;
use study::capture::{Capture, choose};
use study::{Captured, Options, StudyError, cores, execute, load_recorded, slug};
use units::grouped;

/// The capture that links stand for; none without links.
pub fn chosen(plan: &Plan, links: &[String], file: Option<PathBuf>) -> Result<Option<Capture>, Exit> {
    if links.is_empty() {
        return Ok(None);
    }
    match choose(&plan.spec, links) {
        Ok(links) => Ok(Some(Capture { links, file })),
        Err(reason) => {
            console::error(&reason);
            Err(Exit::BadInput)
        }
    }
}

/// Says what was captured.
pub fn note(captured: &Captured) {
    console::note(&format!("{} frames captured in {}", grouped(captured.frames), captured.file.display()));
    if captured.longer > 0 {
        let text = format!(
            "{} frames have fewer octets than the headers of their format, up to {} B, and are longer than simulated; \
             acknowledge.size and notify.size set their size",
            grouped(captured.longer),
            captured.longest
        );
        console::note(&text);
    }
}

/// `tailback pcap`
pub fn pcap(arguments: &Pcap) -> Exit {
    if let Err(exit) = deadline::start(arguments.limit.time_limit) {
        return exit;
    }
    let (plan, recorded) = match planned(arguments) {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    let out = arguments.out.clone().unwrap_or_else(|| PathBuf::from(format!("{}.pcapng", slug(&plan.name))));
    if is_replaced(&out) && !arguments.overwrite {
        console::error(&format!("{} already exists; --overwrite replaces it", out.display()));
        return Exit::BadInput;
    }
    let capture = match chosen(&plan, &arguments.links, Some(out.clone())) {
        Ok(capture) => capture,
        Err(exit) => return exit,
    };
    let options = Options {
        threads: arguments.threads.or(plan.run.threads).unwrap_or_else(cores),
        interrupt: &INTERRUPT,
        time_up: Some(&deadline::TIME_UP),
        record: None,
        capture: capture.as_ref(),
    };
    let progress = RunProgress::new(plan.run.duration, arguments.quiet);
    let execution = execute(&plan, &options, |seen| {
        deadline::running();
        progress.see(seen);
    });
    progress.end();
    let execution = match execution {
        Ok(execution) => execution,
        Err(error) => return say(&error),
    };
    // Until it is committed, the file is beside its place, and an older one as it was.
    if execution.report.outcome == fabric::Outcome::Interrupted {
        return Exit::Interrupted;
    }
    let now = execution.report.fingerprint;
    if let Some(manifest) = recorded.filter(|manifest| manifest.fingerprint != now) {
        console::error(&format!(
            "{}: the repeated run differs: fingerprint {now:016x}, recorded {:016x} (by version {}); \
             run the scenario itself instead",
            arguments.what.display(),
            manifest.fingerprint,
            on_one_line(&manifest.version),
        ));
        return Exit::Disagreement;
    }
    let exit = outcome(&execution);
    if let Some(Err(source)) = execution.capture_file.map(OutputFile::commit) {
        return say(&StudyError::Results(ResultsError::Io { doing: "write", path: out, source }));
    }
    if !arguments.quiet {
        if execution.report.outcome != fabric::Outcome::Finished {
            console::note(&format!("the run ended with outcome {}", execution.measures.outcome));
        }
        execution.captured.iter().for_each(note);
    }
    exit
}

/// The plan of a scenario file, or of recorded results with their manifest.
fn planned(arguments: &Pcap) -> Result<(Plan, Option<Manifest>), Exit> {
    let what = &arguments.what;
    if !what.is_dir() {
        let plan = load(what, &arguments.set).map_err(|errors| console::problems(&errors))?;
        return Ok((seeded(plan, arguments.seed)?, None));
    }
    let refuse = |reason: &str| {
        console::error(&format!("{}: {reason}", what.display()));
        Exit::BadInput
    };
    if !arguments.set.is_empty() || arguments.seed.is_some() {
        return Err(refuse("--set and --seed work on scenario files only; a recorded run is repeated unchanged"));
    }
    let results = Results::open(what).map_err(|error| {
        console::error(&error.to_string());
        Exit::refusal(&error)
    })?;
    let Some(overrides) = &results.manifest.plan.overrides else {
        return Err(refuse("it was recorded by a version that did not store overrides; run the scenario itself"));
    };
    let plan = load_recorded(&results, overrides, arguments.inputs).map_err(|errors| console::problems(&errors))?;
    let manifest = results.manifest;
    Ok((seeded(plan, Some(manifest.seed))?, Some(manifest)))
}

fn seeded(plan: Plan, seed: Option<u64>) -> Result<Plan, Exit> {
    match seed {
        Some(seed) => plan.with_seed(seed).map_err(|errors| console::problems(&errors)),
        None => Ok(plan),
    }
}
