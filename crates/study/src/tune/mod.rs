//! Searches for good values of keys: thresholds and timers that make a measured value small, over several seeds, while
//! conditions hold.
//!
//! A search is a sweep whose cells are found on the way. Its runs are kept like those of a sweep, and which candidates are
//! tried depends on the scenario, its seed and the runs alone: a search that was killed and is started again goes on where
//! it was, and one with more candidates extends one with fewer.

mod goal;
mod range;
mod search;

pub use goal::{Condition, Goal, Standing};
pub use range::Vary;

use crate::faults::relative;
use crate::grid::{Axis, Grid, GridError, GridPoint, Older, PointResult, SweepTable};
use crate::overrides::{last_of_each, toml_value};
use crate::run::names::slug;
use goal::standing;
use results::document::{Document, SpreadWithInterval, Tune, TuneCandidate, TuneGoal, TunedKey};
use scenario::export::sonic::export;
use scenario::{Plan, load};
use search::{Trial, balanced, front, next_round};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Seeds of a candidate, at least, unless the caller says how many.
pub const LEAST_SEEDS: u32 = 3;
/// Candidates of a search by default.
pub const CANDIDATES: usize = 60;
/// Most goals: a front of more has no order to list it in.
const MOST_GOALS: usize = 2;

/// What to search for.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// The keys to vary.
    pub keys: Vec<Vary>,
    /// One goal or two.
    pub goals: Vec<Goal>,
    /// The conditions.
    pub conditions: Vec<Condition>,
    /// Number of candidates.
    pub candidates: usize,
}

/// A search that is ready to run.
pub struct TuneStudy {
    plan: Plan,
    file: PathBuf,
    overrides: Vec<String>,
    search: Search,
    grid: Grid,
    /// Directory of the search.
    pub out: PathBuf,
}

/// A finished search.
#[derive(Debug)]
pub struct Tuned {
    /// Its document.
    pub document: Tune,
    /// The best candidate as a scenario.
    pub best: Option<PathBuf>,
    /// Folder with the switches of the best candidate as configurations of SONiC, or why there is none.
    pub sonic: Result<PathBuf, String>,
    /// What SONiC cannot express.
    pub notes: Vec<String>,
}

/// A candidate with its place in the grid, if it is valid.
struct Candidate {
    positions: Option<Vec<f64>>,
    values: Vec<String>,
    cell: Result<usize, String>,
}

impl TuneStudy {
    /// Prepares a search in a scenario that was loaded from that file with those overrides. The default directory is
    /// `results/NAME-tune`.
    ///
    /// # Errors
    /// Returns an error if there are no keys, no goals or more than two, or if the directory contains something else or
    /// cannot be created.
    pub fn new(
        plan: Plan,
        (file, overrides): (&Path, &[String]),
        search: Search,
        out: Option<&Path>,
    ) -> Result<TuneStudy, GridError> {
        let refuse = |reason: String| Err(GridError::Search { reason });
        if search.keys.is_empty() || search.goals.is_empty() {
            return refuse("a search needs a key to vary and a goal; give --vary and --minimise".into());
        }
        if let Some(variant) = &plan.figure.variant {
            return refuse(format!("the variant '{variant}' cannot be tuned; write its changes into the scenario"));
        }
        if search.goals.len() > MOST_GOALS {
            return refuse(format!("{} goals; give at most {MOST_GOALS}", search.goals.len()));
        }
        let twice = |(at, key): (usize, &Vary)| search.keys[..at].iter().any(|other| other.path == key.path);
        if let Some((_, key)) = search.keys.iter().enumerate().find(|&it| twice(it)) {
            return refuse(format!("{} is varied twice; give each key one range", key.path));
        }
        let usual = || Path::new("results").join(format!("{}-tune", slug(&plan.name)));
        let out = out.map_or_else(usual, Path::to_owned);
        let plan = plan.without_flows();
        let grid = Grid::new(file, overrides, &plan, Vec::new(), (&out, Older::Extend))?;
        Ok(TuneStudy { plan, file: file.to_owned(), overrides: overrides.to_vec(), search, grid, out })
    }

    /// Returns the number of runs, if no candidate is invalid.
    #[must_use]
    pub fn total(&self) -> usize {
        self.search.candidates * self.grid.seeds.len()
    }

    /// Tries candidates until there are enough, and writes the tables, the best scenario and its SONiC configurations.
    ///
    /// # Errors
    /// Returns the first error; finished runs are kept. If no candidate is valid, returns the error of the first.
    pub fn run(
        mut self,
        threads: usize,
        interrupt: &AtomicBool,
        progress: impl Fn(usize, usize) + Sync,
    ) -> Result<Tuned, GridError> {
        let mut candidates: Vec<Candidate> = Vec::new();
        let mut results: Vec<PointResult> = Vec::new();
        let mut first_error = None;
        let total = self.total();
        // The scenario's own values come first: nothing worse is ever called the best.
        let own: Option<Vec<String>> = self.search.keys.iter().map(|key| key.own(&self.plan)).collect();
        let mut round: Vec<(Option<Vec<f64>>, Vec<String>)> =
            own.iter().map(|own| (self.positions(own), own.clone())).collect();
        while candidates.len() < self.search.candidates {
            round.truncate(self.search.candidates - candidates.len());
            let points = round.iter().map(|(_, values)| self.point(values)).collect();
            let first = self.grid.points.len();
            let errors = self.grid.add(&self.plan, points)?;
            let mut cells = first..;
            for ((positions, values), error) in round.into_iter().zip(errors) {
                let cell = match error {
                    None => Ok(cells.next().unwrap_or(first)),
                    Some(error) => {
                        let text = said(&error);
                        first_error.get_or_insert(error);
                        Err(text)
                    }
                };
                candidates.push(Candidate { positions, values, cell });
            }
            let done = first * self.grid.seeds.len();
            results = self.grid.run(threads, interrupt, |now, _| progress(now.max(done), total))?;
            let trials = self.trials(&candidates, &results);
            let known: Vec<Vec<String>> = candidates.iter().map(|candidate| candidate.values.clone()).collect();
            let sizes = (self.search.keys.len(), self.search.goals.len());
            let next = next_round(&trials, sizes, self.plan.run.seed, |at| self.values(at), &known);
            if next.is_empty() {
                break;
            }
            round = next.into_iter().map(|at| (Some(at.clone()), self.values(&at))).collect();
        }
        match first_error {
            Some(error) if results.is_empty() => Err(error),
            _ => self.finish(own.as_ref(), &candidates, &results),
        }
    }

    fn positions(&self, values: &[String]) -> Option<Vec<f64>> {
        self.search.keys.iter().zip(values).map(|(key, value)| key.position(value)).collect()
    }

    fn values(&self, positions: &[f64]) -> Vec<String> {
        self.search.keys.iter().zip(positions).map(|(key, &position)| key.at(position)).collect()
    }

    fn point(&self, values: &[String]) -> GridPoint {
        let set = |(key, value): (&Vary, &String)| format!("{}={value}", key.path);
        GridPoint { beneath: Vec::new(), overrides: self.search.keys.iter().zip(values).map(set).collect() }
    }

    fn standing(&self, candidate: &Candidate, results: &[PointResult]) -> Standing {
        match candidate.cell {
            Ok(cell) => standing(&self.search.goals, &self.search.conditions, &results[cell]),
            Err(_) => Standing::Invalid,
        }
    }

    /// What is known of the candidates inside the ranges.
    fn trials(&self, candidates: &[Candidate], results: &[PointResult]) -> Vec<Trial> {
        let trial = |candidate: &Candidate| {
            let positions = candidate.positions.clone()?;
            Some(Trial { positions, standing: self.standing(candidate, results) })
        };
        candidates.iter().filter_map(trial).collect()
    }

    fn finish(
        &self,
        own: Option<&Vec<String>>,
        candidates: &[Candidate],
        results: &[PointResult],
    ) -> Result<Tuned, GridError> {
        let standings: Vec<Standing> = candidates.iter().map(|candidate| self.standing(candidate, results)).collect();
        let standings: Vec<&Standing> = standings.iter().collect();
        let front = front(&standings);
        let best = balanced(&standings, &front);
        let described = |(candidate, standing): (&Candidate, &&Standing)| {
            let result = candidate.cell.as_ref().ok().map(|&cell| &results[cell]);
            let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
            for sample in result.iter().flat_map(|result| &result.samples) {
                *outcomes.entry(sample.outcome.clone()).or_default() += 1;
            }
            let goals = self.search.goals.iter().map(|goal| {
                let summary = result.and_then(|result| goal.summary(result));
                (goal.name.clone(), summary.as_ref().map(Into::into))
            });
            TuneCandidate {
                values: self
                    .search
                    .keys
                    .iter()
                    .map(|key| key.path.clone())
                    .zip(candidate.values.iter().cloned())
                    .collect(),
                is_given: own == Some(&candidate.values),
                sound: matches!(standing, Standing::Sound(_)),
                invalid: candidate.cell.as_ref().err().cloned(),
                outcomes,
                goals: goals.collect(),
            }
        };
        let key = |key: &Vary| {
            let [from, to] = key.ends();
            TunedKey { path: key.path.clone(), from, to, logarithmic: key.is_logarithmic() }
        };
        let goal = |goal: &Goal| TuneGoal {
            name: goal.name.clone(),
            unit: goal.unit.word().to_owned(),
            maximise: goal.maximise,
        };
        let document = Tune {
            name: self.plan.name.clone(),
            keys: self.search.keys.iter().map(key).collect(),
            goals: self.search.goals.iter().map(goal).collect(),
            conditions: self.search.conditions.iter().map(|condition| condition.text.clone()).collect(),
            seeds: self.grid.seeds.clone(),
            candidates: candidates.iter().zip(&standings).map(described).collect(),
            front,
            best,
        };
        self.write(document, candidates, results)
    }

    /// Writes the tables of the runs, the document, and the best candidate.
    fn write(&self, document: Tune, candidates: &[Candidate], results: &[PointResult]) -> Result<Tuned, GridError> {
        let axes: Vec<Axis> = self.search.keys.iter().map(|key| (key.path.clone(), Vec::new())).collect();
        let table = SweepTable::new(&axes, results);
        let mut files = vec![
            ("table.csv".to_owned(), table.csv()),
            ("table.json".to_owned(), table.json()),
            (Tune::FILE.to_owned(), document.to_text()),
        ];
        let (mut notes, mut sonic) = (Vec::new(), Err("no candidate meets all conditions".to_owned()));
        if let Some(best) = document.best {
            let values = &candidates[best].values;
            files.push(("best.toml".to_owned(), self.best_scenario(&document, values)));
            let overrides: Vec<String> = self.overrides.iter().cloned().chain(self.point(values).overrides).collect();
            let plan = load(&self.file, &overrides)
                .map_err(|errors| GridError::Scenario { cell: self.point(values).overrides, errors })?;
            sonic = export(&plan).map(|exported| {
                for (name, text) in exported.switches.iter().filter(|(name, _)| crate::sonic::is_folder_name(name)) {
                    files.push((format!("sonic/{name}/config_db.json"), text.clone()));
                }
                notes = exported.notes.iter().map(|note| format!("{}: {}", note.key, note.meaning)).collect();
                self.out.join("sonic")
            });
        }
        self.grid.write_files(&files)?;
        let best = document.best.map(|_| self.out.join("best.toml"));
        Ok(Tuned { document, best, sonic, notes })
    }

    /// The best candidate as a scenario based on the given one.
    fn best_scenario(&self, document: &Tune, values: &[String]) -> String {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let mut text = format!("# The best of {} candidates of `tailback tune`", document.candidates.len());
        for goal in &document.goals {
            let aim = if goal.maximise { "maximise" } else { "minimise" };
            text.push_str(&format!(", to {aim} {}", goal.name.replace(char::is_control, " ")));
        }
        text.push_str(".\nschema_version = 1\n");
        text.push_str(&format!("base = {}\n", quoted(&relative(&self.file, &self.out))));
        text.push_str(&format!("name = {}\n\n[set]\n", quoted(&format!("{}, tuned", self.plan.name))));
        let given = self.overrides.iter().filter(|set| !set.starts_with("run.replications=")).cloned();
        let tuned = self.search.keys.iter().zip(values).map(|(key, value)| format!("{}={value}", key.path));
        for (path, value) in last_of_each(&given.chain(tuned).collect::<Vec<_>>()) {
            text.push_str(&format!("{} = {}\n", quoted(path), toml_value(value)));
        }
        text
    }
}

/// Returns whether the mean of a goal differs between two candidates by more than the noise of their seeds: by more than the
/// 95 % intervals of both together leave open. `None` if one has too few runs.
#[must_use]
pub fn beyond_noise(one: &SpreadWithInterval, other: &SpreadWithInterval) -> Option<bool> {
    let noise = one.half_width_95?.hypot(other.half_width_95?);
    Some((one.spread.mean - other.spread.mean).abs() > noise)
}

/// What an error says, on one line.
fn said(error: &GridError) -> String {
    match error {
        GridError::Scenario { errors, .. } => {
            errors.complaints().map(|it| format!("{}; {}", it.message, it.help)).collect::<Vec<_>>().join(". ")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative() {
        assert_eq!(relative(Path::new("/nowhere/a/b.toml"), Path::new("/nowhere/c/d")), "../../a/b.toml");
    }
}
