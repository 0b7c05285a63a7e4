//! Runs of a scenario over a grid of values and several seeds, in parallel and resumable.
//!
//! The directory of a sweep contains `sweep.json`, which identifies the sweep, and one small file in `points/` for each
//! finished run, written atomically. A restarted sweep reuses the finished runs.

use super::error::GridError;
use super::part::Part;
use crate::measure::measures::{Measures, measured};
use crate::measure::statistics::Bounds;
use crate::run::execute::{Existing, Options, Recording, execute};
use files::output::write_one_of_many;
use files::text::hexadecimal;
use results::Results;
use results::document::{Document, SweepRun};
use scenario::memory::{self, Need, about, shown};
use scenario::{Errors, Expectation, Plan, Source, Subjects, Unit, VARIANT, load};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// One cell of the grid: the values it sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GridPoint {
    /// Overrides, `path=value`, with lower precedence than those of the command.
    pub beneath: Vec<String>,
    /// Overrides, `path=value`, in the order of the axes, with higher precedence than those of the command.
    pub overrides: Vec<String>,
}

impl GridPoint {
    /// Checks that all combinations of the axes, with this number of seeds, fit in memory.
    ///
    /// # Errors
    /// Returns an error if they do not.
    pub fn fit(axes: &[(String, Vec<String>)], seeds: u32) -> Result<(), GridError> {
        let cells = axes.iter().fold(1, |cells: u64, (_, values)| cells.saturating_mul(values.len() as u64));
        let need = Need::grid(cells, axes.len() as u64, u64::from(seeds));
        need.within(memory::limit()).map_err(|(message, help)| GridError::TooLarge { cells, message, help })
    }

    /// Returns all combinations of the values of the axes, given as (path, values). There may be many: see
    /// [`GridPoint::fit`].
    #[must_use]
    pub fn all(axes: &[(String, Vec<String>)]) -> Vec<GridPoint> {
        let mut points = vec![GridPoint::default()];
        for (path, values) in axes {
            let each = |point: &GridPoint| {
                let with = |value: &String| {
                    let mut point = point.clone();
                    point.overrides.push(format!("{path}={value}"));
                    point
                };
                values.iter().map(with).collect::<Vec<_>>()
            };
            points = points.iter().flat_map(each).collect();
        }
        points
    }

    /// Returns the axes and their values, as written by a user.
    #[must_use]
    pub fn cell(&self) -> Vec<(String, String)> {
        let pair = |text: &String| {
            text.split_once('=').map(|(path, value)| (path.to_owned(), value.trim_matches('"').to_owned()))
        };
        self.overrides.iter().filter_map(pair).collect()
    }

    /// Returns a file name that is unique to this cell of the sweep.
    fn key(&self, identity: &str) -> String {
        let mut digest = Sha256::new_with_prefix(identity);
        for text in self.beneath.iter().chain(&self.overrides) {
            digest.update(text.as_bytes());
            digest.update([0]);
        }
        hexadecimal(&digest.finalize()[..8])
    }
}

/// The override that sets the number of seeds.
pub(super) const REPLICATIONS: &str = "run.replications=";

/// Treatment of a directory that contains another grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Older {
    /// Refuse it. Grids are the same if their cells, scenario and program are.
    Keep,
    /// Replace it. Grids are the same if their scenario and program are, even if cells were added or removed.
    Replace,
    /// Refuse it. Grids are the same if their scenario and program are, even if cells were added ([`Grid::add`]).
    Extend,
}

/// What is known of a cell before it runs.
struct Loaded {
    seed_offset: u64,
    need: Need,
    expectations: Vec<Expectation>,
}

/// One finished run of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Index of the cell.
    pub point: usize,
    /// Seed of the run.
    pub seed: u64,
    /// Outcome of the run.
    pub outcome: String,
    /// Fingerprint of the run.
    pub fingerprint: u64,
    /// Measured values, by name.
    pub values: BTreeMap<String, f64>,
}

/// All runs of one cell.
#[derive(Clone, Debug)]
pub struct PointResult {
    /// The cell.
    pub point: GridPoint,
    /// Expectations of the cell, without their flows and nodes.
    pub expectations: Vec<Expectation>,
    /// Runs of the cell, in the order of their seeds.
    pub samples: Vec<Sample>,
}

/// A sweep that is ready to run.
pub struct Grid {
    scenario: PathBuf,
    pub(super) overrides: Vec<String>,
    /// The cells.
    pub points: Vec<GridPoint>,
    /// Seeds of each cell.
    pub seeds: Vec<u64>,
    /// Expectations of every cell.
    expectations: Vec<Vec<Expectation>>,
    /// Resources of a run of the cell that needs the most memory.
    largest: Need,
    /// Identity of the sweep, if its directory may contain runs of another one.
    pub(super) identity: String,
    /// For every cell, the path at which its first seed is recorded, if any.
    records: Vec<Option<PathBuf>>,
    /// Files of finished runs that were found modified.
    repeated: Mutex<Vec<PathBuf>>,
    /// Difference of the seeds of every cell from the common ones: a cell may set `run.seed`.
    seed_offsets: Vec<u64>,
    pub(super) out: PathBuf,
}

pub(super) fn io(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> GridError {
    let path = path.to_owned();
    move |source| GridError::Io { what, path, source }
}

impl Grid {
    /// Prepares the sweep of a scenario over cells.
    ///
    /// # Errors
    /// Returns an error if the scenario is invalid for a cell, or if the directory contains something else or cannot be
    /// created.
    pub fn new(
        scenario: &Path,
        overrides: &[String],
        plan: &Plan,
        points: Vec<GridPoint>,
        (out, older): (&Path, Older),
    ) -> Result<Grid, GridError> {
        let seeds = (0..u64::from(plan.run.replications.max(1))).map(|n| plan.run.seed.wrapping_add(n)).collect();
        let (scenario, overrides, out) = (scenario.to_owned(), overrides.to_vec(), out.to_owned());
        let mut grid = Grid {
            scenario,
            overrides,
            points,
            seeds,
            expectations: Vec::new(),
            largest: Need::default(),
            identity: String::new(),
            records: Vec::new(),
            seed_offsets: Vec::new(),
            repeated: Mutex::default(),
            out,
        };
        // Every cell is loaded before the directory is claimed: a misspelt value should cost nothing.
        for point in std::mem::take(&mut grid.points) {
            let loaded = grid.loaded(plan, &point, older)?;
            grid.push(point, loaded);
        }
        grid.identity = grid.claim(plan, older)?;
        Ok(grid)
    }

    /// Adds cells to a grid that may be extended. Returns the errors of those that are invalid, which are left out, or
    /// `None`, for each of them.
    ///
    /// # Errors
    /// Returns an error if the directory has become that of something else, or cannot be written.
    pub fn add(&mut self, plan: &Plan, points: Vec<GridPoint>) -> Result<Vec<Option<GridError>>, GridError> {
        let add = |point: GridPoint| match self.loaded(plan, &point, Older::Extend) {
            Ok(loaded) => {
                self.push(point, loaded);
                None
            }
            Err(error) => Some(error),
        };
        let errors = points.into_iter().map(add).collect();
        self.claim(plan, Older::Extend)?;
        Ok(errors)
    }

    /// Loads a cell.
    fn loaded(&self, plan: &Plan, point: &GridPoint, older: Older) -> Result<Loaded, GridError> {
        let option = if older == Older::Extend { "--vary" } else { "--axis" };
        let own = |errors: Errors| wrong(point, errors.of_cell(plan, &point.overrides, option));
        let cell = load(&self.scenario, &self.overrides_with(point)).map_err(own)?;
        if let Some(wrong) = ineffective(point, &cell, plan.run.replications) {
            return Err(wrong);
        }
        // Which flows it is about may differ from cell to cell; that it is a ratio may not.
        let bare = |expectation: Expectation| {
            let over = expectation.subjects.over.as_ref().map(|_| Vec::new());
            Expectation { subjects: Subjects { over, ..Subjects::default() }, ..expectation }
        };
        Ok(Loaded {
            seed_offset: cell.run.seed.wrapping_sub(plan.run.seed),
            need: cell.need(),
            expectations: cell.expectations.into_iter().map(bare).collect(),
        })
    }

    fn push(&mut self, point: GridPoint, loaded: Loaded) {
        self.points.push(point);
        self.records.push(None);
        self.seed_offsets.push(loaded.seed_offset);
        self.expectations.push(loaded.expectations);
        if loaded.need.total() > self.largest.total() {
            self.largest = loaded.need;
        }
    }

    /// Requests that the first seed of a cell is recorded at a path; an older result is replaced.
    pub fn record(&mut self, point: usize, out: PathBuf) {
        if let Some(record) = self.records.get_mut(point) {
            *record = Some(out);
        }
    }

    /// Returns all overrides of a cell.
    #[must_use]
    pub fn overrides_of(&self, point: usize) -> Vec<String> {
        self.overrides_with(&self.points[point])
    }

    fn overrides_with(&self, GridPoint { beneath, overrides }: &GridPoint) -> Vec<String> {
        beneath.iter().chain(&self.overrides).chain(overrides).cloned().collect()
    }

    /// Returns the files of finished runs that were damaged or modified, and whose runs were repeated.
    #[must_use]
    pub fn repeated(&self) -> Vec<PathBuf> {
        self.repeated.lock().map(|files| files.clone()).unwrap_or_default()
    }

    fn file(&self, point: usize, seed: u64) -> PathBuf {
        self.out.join("points").join(format!("{}-{seed}.json", self.points[point].key(&self.identity)))
    }

    /// Returns the number of runs.
    #[must_use]
    pub fn total(&self) -> usize {
        self.points.len() * self.seeds.len()
    }

    /// Returns the number of runs that execute concurrently on `threads` threads, limited by the memory that the
    /// largest cell needs.
    #[must_use]
    pub fn at_once(&self, threads: usize) -> usize {
        threads.clamp(1, self.total().max(1)).min(self.largest.at_once(memory::limit()))
    }

    /// Returns a message if memory allows fewer concurrent runs than there are threads and runs.
    #[must_use]
    pub fn short_of_memory(&self, threads: usize) -> Option<String> {
        let (count, most) = (self.at_once(threads), threads.clamp(1, self.total().max(1)));
        let (need, limit) = (about(self.largest.total()), shown(memory::limit()));
        let text = format!("{count} instead of {most} runs at once: one needs {need} of memory, the limit is {limit}");
        (count < most).then_some(text)
    }

    /// Returns all runs as pairs of cell and seed, by cell.
    fn jobs(&self) -> Vec<(usize, u64)> {
        (0..self.points.len()).flat_map(|point| self.seeds.iter().map(move |&seed| (point, seed))).collect()
    }

    /// Executes the unfinished runs of a part, and returns the number of all runs of the part.
    ///
    /// # Errors
    /// Returns the errors of [`Grid::run`].
    pub fn run_part(
        &self,
        part: Part,
        threads: usize,
        interrupt: &AtomicBool,
        progress: impl Fn(usize, usize) + Sync,
    ) -> Result<usize, GridError> {
        let jobs = self.jobs().into_iter().enumerate().filter(|(place, _)| part.holds(*place));
        let jobs: Vec<(usize, u64)> = jobs.map(|(_, job)| job).collect();
        self.finish(&jobs, threads, interrupt, progress).map(|samples| samples.len())
    }

    /// Executes all unfinished runs, one per thread as far as memory allows, and returns all results. `progress` is
    /// called with (done, total) after each run.
    ///
    /// # Errors
    /// Returns the first error; finished runs are kept.
    pub fn run(
        &self,
        threads: usize,
        interrupt: &AtomicBool,
        progress: impl Fn(usize, usize) + Sync,
    ) -> Result<Vec<PointResult>, GridError> {
        let mut samples = self.finish(&self.jobs(), threads, interrupt, progress)?;
        samples.sort_by_key(|sample| (sample.point, sample.seed));
        let mut results: Vec<PointResult> = (self.points.iter().zip(&self.expectations))
            .map(|(point, expectations)| PointResult {
                point: point.clone(),
                expectations: expectations.clone(),
                samples: Vec::new(),
            })
            .collect();
        for sample in samples {
            results[sample.point].samples.push(sample);
        }
        Ok(results)
    }

    /// Executes the unfinished ones of the given runs, and returns all of them in any order.
    fn finish(
        &self,
        jobs: &[(usize, u64)],
        threads: usize,
        interrupt: &AtomicBool,
        progress: impl Fn(usize, usize) + Sync,
    ) -> Result<Vec<Sample>, GridError> {
        let total = jobs.len();
        let samples: Mutex<Vec<Sample>> = Mutex::new(Vec::new());
        let failure: Mutex<Option<GridError>> = Mutex::new(None);
        let next = AtomicUsize::new(0);
        let done = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..self.at_once(threads) {
                scope.spawn(|| {
                    while let Some(&(point, seed)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                        if interrupt.load(Ordering::Relaxed) || failure.lock().is_ok_and(|failure| failure.is_some()) {
                            return;
                        }
                        match self.one(point, seed, interrupt) {
                            Ok(Some(sample)) => {
                                if let Ok(mut samples) = samples.lock() {
                                    samples.push(sample);
                                }
                                progress(done.fetch_add(1, Ordering::Relaxed) + 1, total);
                            }
                            Ok(None) => return,
                            Err(error) => {
                                if let Ok(mut failure) = failure.lock() {
                                    failure.get_or_insert(error);
                                }
                                return;
                            }
                        }
                    }
                });
            }
        });
        if let Some(error) = failure.into_inner().unwrap_or_default() {
            return Err(error);
        }
        let samples = samples.into_inner().unwrap_or_default();
        if samples.len() < total {
            return Err(GridError::Interrupted { done: samples.len(), total });
        }
        Ok(samples)
    }

    /// Returns whether the run with that index, counted from 0, is finished.
    #[must_use]
    pub fn is_finished(&self, place: usize) -> bool {
        let seeds = self.seeds.len().max(1);
        let (point, seed) = (place / seeds, self.seeds.get(place % seeds));
        seed.is_some_and(|&seed| point < self.points.len() && matches!(self.found(point, seed), Ok(Found::Finished(_))))
    }

    /// Returns where the first seed of a cell is recorded, if this is that seed.
    fn recording(&self, point: usize, seed: u64) -> Option<Recording> {
        let record = self.records[point].as_ref().filter(|_| self.seeds.first() == Some(&seed));
        record.map(|out| Recording { out: out.clone(), existing: Existing::Replace })
    }

    /// Reads the file of a run.
    fn found(&self, point: usize, seed: u64) -> Result<Found, GridError> {
        let file = self.file(point, seed);
        // The recorded run must be complete and the one that was measured.
        let recorded = |fingerprint: u64| {
            self.recording(point, seed).is_none_or(|record| {
                let results = Results::open(&record.out).and_then(|results| results.verify().map(|()| results));
                results.is_ok_and(|results| results.manifest.fingerprint == fingerprint)
            })
        };
        files::plain(&file).map_err(io("read", &file))?;
        let inside = Path::new("points").join(file.file_name().unwrap_or_default());
        let is_own = |run: &SweepRun| {
            run.sweep == self.identity
                && run.seed == self.own_seed(point, seed)
                && same_runs(&run.overrides, &self.overrides_of(point))
        };
        Ok(match SweepRun::read_named(&self.out, &inside) {
            Ok(Some(run)) if is_own(&run) => match sample_of(run, point, seed) {
                Some(sample) if recorded(sample.fingerprint) => Found::Finished(sample),
                _ => Found::Nothing,
            },
            Ok(None) => Found::Nothing,
            Ok(Some(_)) | Err(_) => Found::Damaged,
        })
    }

    /// Returns the seed of a run of a cell, which may set `run.seed`.
    fn own_seed(&self, point: usize, seed: u64) -> u64 {
        seed.wrapping_add(self.seed_offsets[point])
    }

    /// Executes one run, or reads its file if it is finished; `None` if it was interrupted.
    fn one(&self, point: usize, seed: u64, interrupt: &AtomicBool) -> Result<Option<Sample>, GridError> {
        let file = self.file(point, seed);
        match self.found(point, seed)? {
            Found::Finished(sample) => return Ok(Some(sample)),
            Found::Nothing => {}
            Found::Damaged => {
                if let Ok(mut repeated) = self.repeated.lock() {
                    repeated.push(file.clone());
                }
            }
        }
        let (own_seed, overrides) = (self.own_seed(point, seed), self.overrides_of(point));
        let record = self.recording(point, seed);
        let plan = load(&self.scenario, &overrides)
            .and_then(|plan| plan.without_flows().with_seed(own_seed))
            .map_err(|errors| wrong(&self.points[point], errors))?;
        let options = Options { threads: 1, time_up: None, interrupt, record: record.as_ref(), capture: None };
        let run = execute(&plan, &options, |_| {}).map_err(GridError::Study)?;
        if run.report.outcome == fabric::Outcome::Interrupted {
            return Ok(None);
        }
        let sample = Sample {
            point,
            seed,
            outcome: run.measures.outcome.to_owned(),
            fingerprint: run.report.fingerprint,
            values: values(&plan, &run.measures),
        };
        let run = SweepRun {
            sweep: self.identity.clone(),
            outcome: sample.outcome.clone(),
            seed: own_seed,
            fingerprint: results::hex(sample.fingerprint),
            overrides,
            values: sample.values.clone(),
        };
        write_one_of_many(&file, run.to_text()).map_err(io("write", &file))?;
        Ok(Some(sample))
    }
}

/// Finds a value of an axis that has no effect in a cell: its label would be false.
fn ineffective(point: &GridPoint, plan: &Plan, replications: u32) -> Option<GridError> {
    let axis = |text: &str| GridError::Axis { axis: text.to_owned() };
    if plan.run.replications != replications {
        return Some(axis("run.replications"));
    }
    let has_effect = |text: &&String| {
        text.starts_with(&format!("{VARIANT}="))
            || plan.entries.iter().any(|entry| matches!(&entry.source, Source::Override(set) if set == *text))
    };
    point.overrides.iter().find(|text| !has_effect(text)).map(|text| axis(text))
}

fn wrong(GridPoint { beneath, overrides }: &GridPoint, errors: Errors) -> GridError {
    GridError::Scenario { cell: overrides.iter().chain(beneath).cloned().collect(), errors }
}

/// What the file of a run contains.
enum Found {
    /// A finished run.
    Finished(Sample),
    /// Nothing that counts.
    Nothing,
    /// Something that was edited, damaged or put there from elsewhere.
    Damaged,
}

/// Returns whether two sets of overrides define the same run. The number of seeds changes the size of a sweep, not its
/// runs.
fn same_runs(some: &[String], others: &[String]) -> bool {
    let of_run = |overrides: &[String]| -> Vec<String> {
        overrides.iter().filter(|text| !text.starts_with(REPLICATIONS)).cloned().collect()
    };
    of_run(some) == of_run(others)
}

fn sample_of(run: SweepRun, point: usize, seed: u64) -> Option<Sample> {
    let fingerprint = u64::from_str_radix(&run.fingerprint, 16).ok()?;
    Some(Sample { point, seed, outcome: run.outcome, fingerprint, values: run.values })
}

/// Returns the values of a run that a sweep keeps; [`kind_of`] derives their kinds from their names.
fn values(plan: &Plan, measures: &Measures) -> BTreeMap<String, f64> {
    let mut values = BTreeMap::new();
    let mut put = |name: String, value: Option<f64>| {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            values.insert(name, value);
        }
    };
    for line in measures.workloads(plan) {
        put(format!("{}: throughput (b/s)", line.name), line.throughput.map(|(mean, _, _)| mean));
        put(format!("{}: fairness", line.name), line.fairness);
        put(format!("{}: completion time (s)", line.name), line.completion.map(|times| times.mean));
        put(format!("{}: p99 completion time (s)", line.name), line.completion.map(|times| times.p99));
        put(format!("{}: mean slowdown", line.name), line.slowdown.map(|slowdown| slowdown.mean));
        put(format!("{}: p99 slowdown", line.name), line.slowdown.map(|slowdown| slowdown.p99));
    }
    put("delivered (B)".into(), Some(measures.totals.delivered_bytes as f64));
    put("dropped frames".into(), Some(measures.totals.dropped_frames as f64));
    put("pause frames".into(), Some(measures.totals.pause_frames as f64));
    for (key, expectation) in quantity_keys(&plan.expectations).into_iter().zip(&plan.expectations) {
        put(key, measured(expectation, measures));
    }
    values
}

/// Returns the names of the values that a run of a plan may have.
#[must_use]
pub fn value_names(plan: &Plan) -> Vec<String> {
    let of_workload = |name: &String| {
        let each = [
            "throughput (b/s)",
            "fairness",
            "completion time (s)",
            "p99 completion time (s)",
            "mean slowdown",
            "p99 slowdown",
        ];
        each.map(|value| format!("{name}: {value}"))
    };
    let totals = ["delivered (B)", "dropped frames", "pause frames"].map(str::to_owned);
    let workloads = plan.workload_names.iter().flat_map(of_workload);
    workloads.chain(totals).chain(quantity_keys(&plan.expectations)).collect()
}

/// Returns the unit and the bounds of a value that a sweep keeps, by its name.
#[must_use]
pub fn kind_of(name: &str, expectations: &[Expectation]) -> (Unit, Bounds) {
    let keys = quantity_keys(expectations);
    if let Some((_, expectation)) = keys.iter().zip(expectations).find(|(key, _)| *key == name) {
        return (expectation.unit(), expectation.bounds());
    }
    match name {
        _ if name.ends_with(": fairness") => (Unit::Number, (0.0, 1.0)),
        _ if name.ends_with(": mean slowdown") || name.ends_with(": p99 slowdown") => {
            (Unit::Number, (0.0, f64::INFINITY))
        }
        _ if name.ends_with(" (b/s)") => (Unit::Rate, (0.0, f64::INFINITY)),
        _ if name.ends_with(" (s)") => (Unit::Time, (0.0, f64::INFINITY)),
        _ if name.ends_with(" (B)") => (Unit::Size, (0.0, f64::INFINITY)),
        _ => (Unit::Count, (0.0, f64::INFINITY)),
    }
}

/// Returns the names of the expectations' values in a sample: the expectations' own names, numbered where several are
/// equal.
#[must_use]
pub fn quantity_keys(expectations: &[Expectation]) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for (place, Expectation { name, .. }) in expectations.iter().enumerate() {
        let before = expectations[..place].iter().filter(|earlier| earlier.name == *name).count();
        keys.push(if before == 0 { name.clone() } else { format!("{name} ({})", before + 1) });
    }
    keys
}

/// Returns a string that identifies this program: builds differ in size or modification time.
pub(super) fn program() -> String {
    let file = std::env::current_exe().and_then(fs::metadata);
    let modified = |file: &fs::Metadata| file.modified().ok();
    file.map(|file| format!("{} {:?}", file.len(), modified(&file))).unwrap_or_default()
}
