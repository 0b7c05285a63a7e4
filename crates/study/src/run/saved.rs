//! Stopped runs in files: saved by one process, resumed by another.
//!
//! A file holds the texts of the scenario, from which the network is built again, and the state of everything that has
//! changed since: frames, queues, timers, protocols, random streams, and the rows that were recorded. Its layout follows
//! the types of the program, so a file is resumed by the version that saved it. A SHA-256 of all of it comes last.

use super::execute::StudyError;
use super::session::{Origin, Past, Session, build, watch_of};
use crate::measure::measures::outcome_word;
use engine::Encode;
use fabric::{Outcome, Partition};
use results::{COMMIT, VERSION, hash_of};
use scenario::memory::VARIABLE;
use scenario::{Errors, FileReader, Limits, Plan, load_str};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use units::{State, Time};

/// The first octets of a saved run.
const MAGIC: &[u8] = b"tailback saved simulation\n";

/// Octets of a hash.
const HASH: usize = "sha256:".len() + 64;

/// Why a run is not saved or not resumed.
#[derive(Debug)]
pub enum SavedError {
    /// The file cannot be read or written.
    Io {
        /// Its path.
        path: PathBuf,
        /// The error.
        source: std::io::Error,
    },
    /// The file is no saved run.
    Foreign,
    /// The file does not fit into memory; contains the limit in bytes.
    TooLarge(u64),
    /// Another version of the program saved it.
    Version {
        /// That version.
        found: String,
    },
    /// The file was damaged or cut off.
    Damaged,
    /// The scenario in the file is refused.
    Scenario(Errors),
    /// The network in the file cannot be built.
    Study(StudyError),
    /// The run cannot be saved; contains the reason.
    Unsavable(String),
}

impl std::fmt::Display for SavedError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SavedError::Io { source, .. } => source.fmt(f),
            SavedError::Foreign => f.write_str("not a saved simulation; `tailback run FILE --save-at TIME` saves one"),
            SavedError::TooLarge(limit) => {
                write!(f, "it has more than {limit} bytes, the limit of memory; {VARIABLE}=16GB raises it")
            }
            SavedError::Version { found } => {
                let own = version();
                write!(
                    f,
                    "version {found} saved it, this is {own}: resume it with that version, or run the scenario again"
                )
            }
            SavedError::Damaged => f.write_str("it is damaged: its SHA-256 or its length is wrong; save it again"),
            SavedError::Scenario(errors) => f.write_str(&errors.render(false)),
            SavedError::Study(error) => error.fmt(f),
            SavedError::Unsavable(reason) => write!(f, "the simulation cannot be saved: {reason}"),
        }
    }
}

impl std::error::Error for SavedError {}

/// The version whose types determine the layout.
fn version() -> String {
    match COMMIT {
        Some(commit) => format!("{VERSION} ({commit})"),
        None => VERSION.to_owned(),
    }
}

/// The content of a file.
struct Content {
    /// Paths and texts of the input files, the scenario first.
    inputs: Vec<(String, String)>,
    overrides: Vec<String>,
    seed: u64,
    records: bool,
    now: Time,
    /// The shard of each node.
    partition: Vec<u32>,
    state: Vec<u8>,
    marks: Vec<u8>,
    past: Past,
}

engine::encoded!(struct Content { inputs, overrides, seed, records, now, partition, state, marks, past });

/// The input files of a saved run.
struct Inputs<'a>(&'a [(String, String)]);

impl FileReader for Inputs<'_> {
    fn read(&self, path: &Path) -> Result<String, String> {
        let found = self.0.iter().find(|(name, _)| Path::new(name) == path);
        found.map(|(_, text)| text.clone()).ok_or_else(|| "it is not among the files of the saved run".into())
    }
}

/// Loads a scenario from the texts of its files, the scenario first.
pub(super) fn load_inputs(inputs: &[(String, String)], overrides: &[String], seed: u64) -> Result<Plan, SavedError> {
    let (name, text) = inputs.first().ok_or(SavedError::Damaged)?;
    let plan = load_str(name, text, overrides, &Inputs(inputs), Limits::default()).map_err(SavedError::Scenario)?;
    if plan.run.seed == seed { Ok(plan) } else { plan.with_seed(seed).map_err(SavedError::Scenario) }
}

impl Session {
    /// Returns the run as the content of a file.
    ///
    /// # Errors
    /// Returns an error if the run is over, was interrupted between two instants, or has a part of another crate.
    pub fn save(&self) -> Result<Vec<u8>, SavedError> {
        if let Some(error) = self.unusable() {
            return Err(SavedError::Study(error));
        }
        if let Some(reason) = self.plan.spec.unsavable() {
            return Err(SavedError::Unsavable(reason));
        }
        if let Some(ended) = &self.ended {
            let reason = match ended.outcome {
                Outcome::Interrupted => "it was interrupted between two instants; run it on to an instant".to_owned(),
                _ => format!(
                    "the run ended at {}: {}",
                    ended.now.saturating_since(Time::ZERO),
                    outcome_word(&ended.outcome)
                ),
            };
            return Err(SavedError::Unsavable(reason));
        }
        let mut marks = Vec::new();
        self.marks.save(&mut marks);
        let content = Content {
            inputs: self.plan.inputs().map(|input| (input.file.clone(), input.text.to_owned())).collect(),
            overrides: self.plan.overrides().collect(),
            seed: self.plan.run.seed,
            records: self.records,
            now: self.now,
            partition: self.simulation.partition(),
            state: self.simulation.save(),
            marks,
            past: self.past.clone(),
        };
        let mut out = MAGIC.to_vec();
        version().encode(&mut out);
        content.encode(&mut out);
        let hash = hash_of(&out);
        out.extend_from_slice(hash.as_bytes());
        Ok(out)
    }

    /// Writes the run to a file, which is replaced if it exists.
    ///
    /// # Errors
    /// Returns the errors of [`save`](Self::save), and those of the disk.
    pub fn save_to(&self, path: &Path) -> Result<(), SavedError> {
        let content = self.save()?;
        files::output::write_given(path, content).map_err(|source| SavedError::Io { path: path.into(), source })
    }

    /// Goes on with a run that was saved, on at most so many threads.
    ///
    /// # Errors
    /// Returns an error if the content is not that of a run which this version saved.
    pub fn resume(saved: &[u8], threads: usize) -> Result<Session, SavedError> {
        let mut input = saved.strip_prefix(MAGIC).ok_or(SavedError::Foreign)?;
        let (content, hash) = saved.split_at(saved.len().saturating_sub(HASH).max(MAGIC.len()));
        let sound = hash_of(content).as_bytes() == hash;
        let found = String::decode(&mut input).filter(|_| sound).ok_or(SavedError::Damaged)?;
        if found != version() {
            return Err(SavedError::Version { found });
        }
        let content = Content::decode(&mut input).filter(|_| input.len() == HASH).ok_or(SavedError::Damaged)?;
        let session = Origin::File.contain(|| Session::from_content(content, threads));
        session.map_err(SavedError::Study)?
    }

    /// Goes on with a run that was saved to a file.
    ///
    /// # Errors
    /// Returns the errors of [`resume`](Self::resume), and those of the disk.
    pub fn resume_from(path: &Path, threads: usize) -> Result<Session, SavedError> {
        let failed = |source: std::io::Error| SavedError::Io { path: path.into(), source };
        let mut start = Vec::new();
        let file = files::open(path).map_err(failed)?;
        file.take(MAGIC.len() as u64).read_to_end(&mut start).map_err(failed)?;
        // Any file may be named by mistake; one that is none is not read.
        if start != MAGIC {
            return Err(SavedError::Foreign);
        }
        let limit = Limits::default().memory;
        let content = files::read(path, limit).map_err(|source| match source.kind() {
            ErrorKind::FileTooLarge => SavedError::TooLarge(limit),
            _ => failed(source),
        })?;
        Session::resume(&content, threads)
    }

    fn from_content(content: Content, threads: usize) -> Result<Session, SavedError> {
        let Content { inputs, overrides, seed, records, now, partition, state, marks, past } = content;
        let plan = load_inputs(&inputs, &overrides, seed)?;
        let watch = watch_of(&plan, records);
        let shards = partition.iter().max().map_or(1, |&last| last as usize + 1);
        let simulation = build(&plan, &watch, Partition::Explicit(partition), shards);
        let mut simulation = simulation.map_err(SavedError::Study)?;
        simulation.load(&state).ok_or(SavedError::Damaged)?;
        let mut session = Session::start_from(Arc::new(plan), simulation, threads, watch, records);
        session.marks.load(&mut &marks[..]).ok_or(SavedError::Damaged)?;
        (session.past, session.now, session.origin) = (past, now, Origin::File);
        Ok(session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Existing, Options, Recording, execute, finish};
    use scenario::NoFiles;
    use std::sync::atomic::AtomicBool;
    use units::Span;

    const TEXT: &str = r#"
        schema_version = 1
        [network]
        topology = "leaf-spine"
        leaves = 2
        spines = 2
        hosts_per_leaf = 3
        link = { rate = "10Gb/s", latency = "500ns" }
        [[switches]]
        flow_control = "pfc"
        buffers = { capacity = "150KB" }
        [protocol]
        name = "dcqcn"
        [[workloads]]
        name = "mix"
        kind = "poisson-flows"
        load = 0.6
        flow_size = "20KB"
        [run]
        duration = "400us"
        warm_up = "100us"
        [[expectations]]
        metric = "throughput"
        of = "mix"
        op = ">"
        value = "1Mb/s"
    "#;

    fn plan() -> Plan {
        let plan = load_str("saved", TEXT, &["run.seed=5".to_owned()], &NoFiles, Limits::default());
        plan.unwrap_or_else(|errors| panic!("{}", errors.render(false)))
    }

    fn stopped(micros: u64, records: bool) -> Session {
        let mut session = Session::start(plan(), 2, records).unwrap();
        session.run_until(Time::ZERO + Span::from_micros(micros), &AtomicBool::new(false)).unwrap();
        session
    }

    /// The tables of a result, but not its manifest, which has a wall time.
    fn tables(directory: &Path) -> Vec<(String, Vec<u8>)> {
        let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
        let names = entries.map(|entry| entry.file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name.ends_with(".parquet")).collect();
        names.sort();
        names.into_iter().map(|name| (name.clone(), std::fs::read(directory.join(name)).unwrap())).collect()
    }

    #[test]
    fn a_resumed_run_has_the_results_of_one_without_a_stop() {
        let place = std::env::temp_dir().join(format!("tailback-saved-{}", std::process::id()));
        let recording = |name: &str| Recording { out: place.join(name), existing: Existing::Replace };
        let whole = recording("whole");
        let straight = execute(&plan(), &Options { record: Some(&whole), ..Options::default() }, |_| {}).unwrap();
        // Within a window, at its border, at an inspection.
        for (number, micros) in [37, 100, 300].into_iter().enumerate() {
            let file = place.join(format!("{micros}.saved"));
            std::fs::create_dir_all(&place).unwrap();
            stopped(micros, true).save_to(&file).unwrap();
            let session = Session::resume_from(&file, 1 + number).unwrap();
            let record = recording(&format!("resumed-{micros}"));
            let options = Options { threads: 1 + number, record: Some(&record), ..Options::default() };
            let resumed = finish(session, &options, |_| {}, |_| Ok(())).unwrap();
            assert_eq!(resumed.report.fingerprint, straight.report.fingerprint, "{micros} us");
            assert_eq!(resumed.report.totals, straight.report.totals, "{micros} us");
            let throughput = |execution: &crate::Execution| {
                let flows = &execution.measures.flows;
                format!("{:?}", flows.iter().map(|flow| flow.throughput).collect::<Vec<f64>>())
            };
            assert_eq!(throughput(&resumed), throughput(&straight), "{micros} us");
            assert_eq!(format!("{:?}", resumed.judgements), format!("{:?}", straight.judgements), "{micros} us");
            assert_eq!(tables(&record.out), tables(&whole.out), "{micros} us");
        }
        std::fs::remove_dir_all(&place).unwrap();
    }

    #[test]
    fn a_run_that_was_not_recorded_has_no_tables() {
        let session = Session::resume(&stopped(50, false).save().unwrap(), 1).unwrap();
        let record = Recording { out: std::env::temp_dir().join("never-written"), existing: Existing::Refuse };
        let options = Options { record: Some(&record), ..Options::default() };
        assert!(matches!(finish(session, &options, |_| {}, |_| Ok(())), Err(StudyError::NotRecorded)));
    }

    #[test]
    fn foreign_damaged_and_other_files_are_refused() {
        let refusal = |content: &[u8]| Session::resume(content, 1).map(|_| ()).unwrap_err().to_string();
        let saved = stopped(50, true).save().unwrap();
        assert!(refusal(b"[network]\n").contains("not a saved simulation"));
        assert!(refusal(b"").contains("not a saved simulation"));
        for bit in (MAGIC.len() * 8..saved.len() * 8).step_by(saved.len() / 11) {
            let mut damaged = saved.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(refusal(&damaged).contains("damaged"), "bit {bit}");
        }
        for length in [MAGIC.len(), MAGIC.len() + 3, saved.len() / 2, saved.len() - 1] {
            assert!(refusal(&saved[..length]).contains("damaged"), "{length} octets");
        }
        let mut other = MAGIC.to_vec();
        "9.9.9".to_owned().encode(&mut other);
        let hash = hash_of(&other);
        other.extend_from_slice(hash.as_bytes());
        assert!(refusal(&other).contains("version 9.9.9 saved it"));
    }

    /// A hash can be right and the content wrong: then, too, nothing panics, neither when it is read nor when it runs on.
    #[test]
    fn content_with_a_sound_hash_never_panics() {
        let limits = ["run.max_events=10000".to_owned()];
        let plan = load_str("saved", TEXT, &limits, &NoFiles, Limits::default()).unwrap();
        let mut session = Session::start(plan, 2, false).unwrap();
        session.run_until(Time::ZERO + Span::from_micros(50), &AtomicBool::new(false)).unwrap();
        let saved = session.save().unwrap();
        let body = &saved[..saved.len() - HASH];
        let mut stream = units::Stream::new(7, 0, "damage");
        let (mut refused, mut contradicted, mut ended) = (0, 0, 0);
        for _ in 0..120 {
            let mut damaged = body.to_vec();
            let start = (MAGIC.len() + 8 + version().len()) as u64;
            for _ in 0..3 {
                let byte = (start + stream.below(damaged.len() as u64 - start)) as usize;
                damaged[byte] = [damaged[byte] ^ 1 << stream.below(8), 0xff, 0, 0x7f][stream.below(4) as usize];
            }
            let hash = hash_of(&damaged);
            damaged.extend_from_slice(hash.as_bytes());
            let resumed = Session::resume(&damaged, 1 + stream.below(2) as usize);
            let options = Options { threads: 2, ..Options::default() };
            match resumed.map(|session| finish(session, &options, |_| {}, |_| Ok(()))) {
                Err(_) => refused += 1,
                Ok(Err(StudyError::Contradiction(_))) => contradicted += 1,
                Ok(_) => ended += 1,
            }
        }
        assert!(refused > 0 && contradicted > 0 && ended > 0, "{refused} {contradicted} {ended}");
    }

    #[test]
    fn a_run_that_is_over_or_was_interrupted_is_not_saved() {
        let mut session = Session::start(plan(), 1, false).unwrap();
        session.run_until(Time::ZERO + Span::from_micros(200), &AtomicBool::new(true)).unwrap();
        let refusal = session.save().unwrap_err().to_string();
        assert!(refusal.contains("interrupted"), "{refusal}");
        session.run_until(Time::ZERO + Span::from_micros(200), &AtomicBool::new(false)).unwrap();
        assert!(session.save().is_ok());
    }
}
