//! The kinds of attacks, one attack at a time.

use crate::program::{CUT_OFF, Program};
use crate::random::Random;
use crate::scenario::{Coverage, Scenario, Target, scenario, targets};
use crate::{Scratch, commands, corrupt, kill, mutate, places, runs, saved, served};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What is attacked, and where.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Names every random choice.
    pub seed: u64,
    /// Folder for scratch; each attack has one of its own below it.
    pub scratch: PathBuf,
    /// The program.
    pub program: Program,
    /// The project's folder, whose scenarios and papers are mutated.
    pub project: PathBuf,
}

/// A kind of attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Random scenarios on several numbers of threads.
    Scenarios,
    /// Every command on random scenarios.
    Commands,
    /// Mutated scenarios, distributions, papers, files of other simulators, configurations of switches and frames.
    Mutations,
    /// kill -9, and the same command again.
    Kills,
    /// Damaged results.
    Corruption,
    /// Two writers, users' files, full disks, paths that are no files.
    Places,
    /// Damaged and forged saved simulations.
    Saved,
    /// Hostile requests to a server.
    Served,
}

/// All kinds.
pub const KINDS: [Kind; 8] = [
    Kind::Scenarios,
    Kind::Commands,
    Kind::Mutations,
    Kind::Kills,
    Kind::Corruption,
    Kind::Places,
    Kind::Saved,
    Kind::Served,
];

impl Kind {
    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Scenarios => "scenarios",
            Kind::Commands => "commands",
            Kind::Mutations => "mutations",
            Kind::Kills => "kills",
            Kind::Corruption => "corruption",
            Kind::Places => "places",
            Kind::Saved => "saved",
            Kind::Served => "served",
        }
    }
}

/// What attacks of a kind came to.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// By what happened.
    pub counts: BTreeMap<String, u64>,
    /// Keys and values of the scenarios that ran.
    pub coverage: Coverage,
}

impl Tally {
    /// Counts something.
    pub fn count(&mut self, what: &str, number: u64) {
        *self.counts.entry(what.to_owned()).or_default() += number;
    }

    /// Adds another.
    pub fn add(&mut self, other: &Tally) {
        other.counts.iter().for_each(|(what, number)| self.count(what, *number));
        self.coverage.add(&other.coverage);
    }
}

/// A random scenario of that number. Each number has another target: a key, or a value of a choice.
#[must_use]
pub fn scenario_of(setting: &Setting, number: u64) -> (Scenario, Target, Random) {
    let all = targets();
    // A stride without a common factor meets all targets, near ones far apart.
    let target = all[(number.wrapping_mul(389) % all.len() as u64) as usize].clone();
    let mut random = Random::new(setting.seed, number, "scenario");
    let made = scenario(&mut random, Some(&target));
    (made, target, random)
}

/// Makes one attack.
///
/// # Errors
/// What was found, for people, and the folder it is kept in.
pub fn attack(kind: Kind, setting: &Setting, number: u64, tally: &mut Tally) -> Result<(), (String, PathBuf)> {
    let mut scratch = Scratch::new(&setting.scratch, &format!("{}-{number}", kind.name()));
    tally.count("attempts", 1);
    let result = match kind {
        Kind::Scenarios | Kind::Commands => with_scenario(kind, setting, number, tally, &scratch),
        Kind::Mutations => mutate::attack(setting, number, scratch.path(), tally),
        Kind::Kills => kill::attack(setting, number, scratch.path(), tally),
        Kind::Corruption => corrupt::attack(setting, number, scratch.path(), tally),
        Kind::Places => places::attack(setting, number, scratch.path(), tally),
        Kind::Saved => saved::attack(setting, number, scratch.path(), tally),
        Kind::Served => served::attack(setting, number, scratch.path(), tally),
    };
    match result {
        Err(what) if what.contains(CUT_OFF) => {
            tally.count("cut off", 1);
            Ok(())
        }
        Err(what) => {
            tally.count("FOUND", 1);
            scratch.keep();
            Err((what, scratch.path().to_owned()))
        }
        Ok(()) => Ok(()),
    }
}

fn with_scenario(
    kind: Kind,
    setting: &Setting,
    number: u64,
    tally: &mut Tally,
    scratch: &Scratch,
) -> Result<(), String> {
    let (made, _, mut random) = scenario_of(setting, number);
    let keep = || made.files.store(scratch.path()).map_err(|error| error.to_string());
    if !made.mute.is_empty() {
        keep()?;
        return Err(format!("a complaint without a place or a word: {}", made.mute.join("; ")));
    }
    tally.count("complaints answered", made.rounds as u64);
    let Ok(plan) = made.plan else {
        tally.count("rejected", 1);
        return Ok(());
    };
    tally.coverage.see(&made.tree);
    if kind == Kind::Commands {
        let count = commands::judge(&setting.program, &made.files, scratch.path(), &mut random)?;
        tally.count("commands", count);
        return Ok(());
    }
    match runs::judge(&made.files, plan, scratch.path(), &mut random) {
        Ok(runs::Went::Ran(outcome)) => {
            tally.count("ran", 1);
            tally.count(outcome, 1);
            Ok(())
        }
        Ok(runs::Went::Refused) => {
            tally.count("recording refused", 1);
            Ok(())
        }
        Err(what) => {
            keep()?;
            Err(what)
        }
    }
}
