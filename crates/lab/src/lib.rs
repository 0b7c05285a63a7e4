//! The simulator of a page: it checks, completes and runs scenarios in a browser, where no program is installed.
//!
//! A page sends requests to a [`Lab`] as JSON. A reply is JSON, followed by the columns of tables as bytes. The page
//! advances a run in steps, so that it can show progress and stop the run. The results are bit-identical to those of
//! `tailback run`. This crate only converts requests and replies: `scenario` reads scenarios, `study` runs them, and
//! `render` makes their documents.

mod boundary;
mod describe;
mod fields;

use describe::{complaint, finding};
use render::report::LiveTables;
use scenario::{Errors, FileReader, Limits, Plan, check, load_str};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use study::{LiveResult, LiveRun};
use units::Time;

/// A scenario as a page gives it.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Given {
    /// The name of its file; other files are named relative to it.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Overrides, as in `--set`.
    #[serde(default)]
    pub set: Vec<String>,
}

/// A request of a page.
#[derive(Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
pub enum Request {
    /// Files that scenarios may name, by path.
    Files {
        /// The texts.
        files: BTreeMap<String, String>,
    },
    /// All keys of the format, for completion.
    Keys,
    /// The mistakes of a scenario, or its values and the findings of `tailback check`.
    Check(Given),
    /// Begins a run.
    Start(Given),
    /// Runs on up to this instant.
    Advance {
        /// Simulated time in picoseconds.
        until: u64,
    },
    /// Gives out what is known of the run, which goes on.
    Look {
        /// Seconds that it has taken, as the page measured them.
        wall: f64,
    },
    /// Ends the run and gives out its results.
    Finish {
        /// Seconds that it took, as the page measured them.
        wall: f64,
    },
}

/// An answer: a document, and the bytes it refers to.
#[derive(Debug)]
pub struct Answer {
    /// The document. One with a member `refused` says why there is nothing else.
    pub document: Value,
    /// Columns of tables.
    pub bytes: Vec<u8>,
}

impl Answer {
    /// Appends the answer as a page reads it: the length of the document as four bytes, the lowest first, the document, and
    /// the columns it refers to.
    pub fn write(&self, out: &mut Vec<u8>) {
        let document = self.document.to_string();
        out.extend(u32::try_from(document.len()).unwrap_or(u32::MAX).to_le_bytes());
        out.extend(document.as_bytes());
        out.extend(&self.bytes);
    }
}

impl From<Value> for Answer {
    fn from(document: Value) -> Answer {
        Answer { document, bytes: Vec::new() }
    }
}

/// What a run may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Means {
    /// The most memory that a scenario may need by its estimate, in bytes.
    pub memory: u64,
    /// The most threads.
    pub threads: usize,
}

impl Default for Means {
    /// Those of a page: it has 4 GB for everything, and one thread.
    fn default() -> Means {
        Means { memory: 1 << 30, threads: 1 }
    }
}

/// What a page talks to.
#[derive(Default)]
pub struct Lab {
    means: Means,
    files: BTreeMap<PathBuf, String>,
    run: Option<(LiveRun, LiveTables)>,
}

/// Reads the files that came with the page.
struct Within<'a>(&'a BTreeMap<PathBuf, String>);

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::Normal(name) => plain.push(name),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    plain
}

impl FileReader for Within<'_> {
    fn read(&self, path: &Path) -> Result<String, String> {
        self.0.get(&plain(path)).cloned().ok_or_else(|| "a page has no other files than its examples".into())
    }

    fn identity(&self, path: &Path) -> PathBuf {
        plain(path)
    }
}

fn refused(reason: impl std::fmt::Display) -> Answer {
    json!({ "refused": reason.to_string() }).into()
}

impl Lab {
    /// A lab whose runs may use that much.
    #[must_use]
    pub fn new(means: Means) -> Lab {
        Lab { means, ..Lab::default() }
    }

    /// Ends the run, if there is one, without results.
    pub fn forget(&mut self) {
        self.run = None;
    }

    /// Answers a request in JSON. One that cannot be read is refused like any other.
    pub fn answer(&mut self, request: &[u8]) -> Answer {
        match serde_json::from_slice(request) {
            Ok(request) => self.ask(request),
            Err(error) => refused(error),
        }
    }

    /// Answers a request.
    pub fn ask(&mut self, request: Request) -> Answer {
        match request {
            Request::Files { files } => {
                self.files = files.into_iter().map(|(path, text)| (plain(Path::new(&path)), text)).collect();
                json!({}).into()
            }
            Request::Keys => fields::all().into(),
            Request::Check(given) => self.check(&given).into(),
            Request::Start(given) => self.start(&given),
            Request::Advance { until } => self.advance(until),
            Request::Look { wall } => self.look(wall),
            Request::Finish { wall } => self.finish(wall),
        }
    }

    fn load(&self, given: &Given) -> Result<Plan, Value> {
        let limits = Limits { memory: self.means.memory, ..Limits::default() };
        let plan = load_str(&given.name, &given.text, &given.set, &Within(&self.files), limits);
        plan.map_err(|errors| {
            // A page shows a mistake beside the value that it set.
            let named =
                |errors: Errors, set: &String| errors.given_by(std::slice::from_ref(set), &format!("--set {set}"));
            let errors = given.set.iter().fold(errors, named);
            json!({ "complaints": errors.complaints().map(complaint).collect::<Vec<_>>() })
        })
    }

    fn check(&self, given: &Given) -> Value {
        match self.load(given) {
            Err(complaints) => complaints,
            Ok(plan) => json!({
                "complaints": [],
                "name": plan.name,
                "description": plan.description,
                "findings": check(&plan).iter().map(finding).collect::<Vec<_>>(),
                "fields": fields::fields(&plan.entries, &given.name),
                "hosts": plan.spec.graph.hosts().len(),
                "flows": plan.spec.flows.len(),
                "duration_ps": plan.run.duration.as_picos(),
            }),
        }
    }

    fn start(&mut self, given: &Given) -> Answer {
        self.run = None;
        let plan = match self.load(given) {
            Ok(plan) => plan,
            Err(complaints) => return complaints.into(),
        };
        let tables = LiveTables::new(&plan);
        match LiveRun::start(plan, self.means.threads) {
            Ok(run) => {
                let duration = run.plan().run.duration.as_picos();
                self.run = Some((run, tables));
                json!({ "complaints": [], "duration_ps": duration }).into()
            }
            Err(error) => refused(error),
        }
    }

    fn advance(&mut self, until: u64) -> Answer {
        let Some((run, tables)) = &mut self.run else { return refused("no run was started") };
        let ended = run.advance(Time::from_picos(until), |rows| tables.take(rows));
        let report = run.report();
        json!({ "now_ps": report.now.as_picos(), "hops": report.totals.hops, "ended": ended }).into()
    }

    fn look(&self, wall: f64) -> Answer {
        let Some((run, tables)) = &self.run else { return refused("no run was started") };
        told(run.look(), tables.clone(), wall)
    }

    fn finish(&mut self, wall: f64) -> Answer {
        let Some((run, tables)) = self.run.take() else { return refused("no run was started") };
        told(run.conclude(), tables, wall)
    }
}

/// A run as a page draws it.
fn told(mut result: LiveResult, tables: LiveTables, wall: f64) -> Answer {
    result.manifest.wall_seconds = wall;
    // The module is in the repository: it was built before the commit of the page.
    result.manifest.commit = None;
    let record = tables.record(&result);
    Answer { document: record.document, bytes: record.bytes }
}

#[cfg(test)]
mod tests;
