//! A few of the attacks that `cargo xtask torture` makes for hours, always the same ones.

use std::path::Path;
use torture::kind::{Kind, Setting, Tally, attack};
use torture::program::Program;

fn attacks(kind: Kind, numbers: impl IntoIterator<Item = u64>) -> Tally {
    let setting = Setting {
        seed: 1,
        scratch: std::env::temp_dir().join(format!("tailback-cli-torture-{}", std::process::id())),
        program: Program { path: env!("CARGO_BIN_EXE_tailback").into(), until: None },
        project: Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."),
    };
    let mut tally = Tally::default();
    for number in numbers {
        if let Err((what, kept)) = attack(kind, &setting, number, &mut tally) {
            panic!("{} {number}: {what}\nkept in {}", kind.name(), kept.display());
        }
    }
    tally
}

/// Every key of the format and every value of a choice is in some scenario that is accepted. A new key is drawn by its
/// kind; if no value of its kind fits, this names it: add a line to `crates/torture/src/scenario/hints.rs`.
#[test]
fn random_scenarios_reach_every_key() {
    let unreached = torture::scenario::unreached(7, 600);
    assert!(unreached.is_empty(), "no random scenario with these was accepted: {unreached:#?}");
}

#[test]
fn random_scenarios_run_the_same_on_any_number_of_threads() {
    let tally = attacks(Kind::Scenarios, 0..24);
    let count = |what: &str| tally.counts.get(what).copied().unwrap_or(0);
    assert!(count("ran") > 12, "{tally:?}");
}

#[test]
fn every_command_survives_random_scenarios() {
    attacks(Kind::Commands, 0..3);
}

/// Damaged files are refused, and forged ones refused or run, without a panic and in bounded time and memory.
#[test]
fn forged_saved_simulations_do_no_harm() {
    let tally = attacks(Kind::Saved, 0..8);
    let count = |what: &str| tally.counts.get(what).copied().unwrap_or(0);
    assert!(count("forged") > 15 && count("refused") > 5 && count("ran") > 3, "{tally:?}");
}

#[test]
fn hostile_requests_do_no_harm() {
    let tally = attacks(Kind::Served, 0..3);
    let count = |what: &str| tally.counts.get(what).copied().unwrap_or(0);
    assert!(count("answered") > 20 && count("refused 404") > 0 && count("refused 403") > 0, "{tally:?}");
}

#[test]
fn mutated_inputs_do_no_harm() {
    attacks(Kind::Mutations, 0..400);
}
