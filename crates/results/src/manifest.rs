//! `manifest.json`: the description of a run and its outcome. It is written last and read first.

use super::document::PlanRecord;
use super::error::ResultsError;
use super::hash::{hash_of, hash_of_file, is_hashed, with_hash};
use fabric::{Limit, Outcome, RunSummary, Totals};
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use units::grouped;

/// Schema version, incremented when a change of a table or of the manifest would mislead older readers.
pub const SCHEMA_VERSION: u64 = 1;

/// Version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit this program was built from, if it was built in a checkout.
pub const COMMIT: Option<&str> = option_env!("TAILBACK_COMMIT");

/// Identifies a manifest of Tailback.
const FORMAT: &str = "tailback results";

/// Name of the manifest in a results directory.
pub(super) const FILE: &str = "manifest.json";

/// An input file of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Path as given by the user.
    pub path: String,
    /// Hash, as `sha256:...`.
    pub hash: String,
    /// Path of its copy in the results directory; `None` in results of older versions, which kept no copies.
    pub copy: Option<String>,
}

/// Outcome of a run, as recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct OutcomeRecord {
    /// `finished`, `deadlock`, `stalled`, `livelock`, `loss`, `limit` or `interrupted`.
    pub kind: String,
    /// Description for humans: the cycle, the calculation of the missing headroom, or the limit. Empty if finished.
    pub text: String,
    /// The same information for programs.
    pub details: Value,
}

impl From<&Outcome> for OutcomeRecord {
    fn from(outcome: &Outcome) -> OutcomeRecord {
        let (kind, text, details) = match outcome {
            Outcome::Finished => ("finished", String::new(), Value::Null),
            Outcome::Interrupted => ("interrupted", "the run was interrupted".into(), Value::Null),
            Outcome::LimitReached(Limit::Events(events)) => {
                ("limit", format!("{} events (run.max_events)", grouped(*events)), json!({ "events": events }))
            }
            Outcome::LimitReached(Limit::Rows(rows)) => {
                let text = format!("more than {} rows recorded (probes.max_rows)", grouped(*rows));
                ("limit", text, json!({ "rows": rows }))
            }
            Outcome::LimitReached(Limit::Bytes(bytes)) => {
                let text = format!("tables of more than {} bytes (probes.max_size)", grouped(*bytes));
                ("limit", text, json!({ "bytes": bytes }))
            }
            Outcome::LimitReached(Limit::WallClock) => {
                ("limit", "the wall-clock limit (--time-limit)".into(), json!({ "wall_clock": true }))
            }
            Outcome::Deadlock(deadlock) => {
                let waiting = |w: &fabric::Waiting| json!({ "node": w.node, "input": w.input, "output": w.output, "class": w.class, "flows": w.flows });
                let cycle: Vec<Value> = deadlock.cycle.iter().map(waiting).collect();
                ("deadlock", deadlock.to_string(), json!({ "at_ps": deadlock.at.as_picos(), "cycle": cycle }))
            }
            Outcome::Stalled(stall) => {
                let root = |root: &fabric::StallRoot| {
                    let cause = match root.cause {
                        fabric::StallCause::DeadReceiver => "dead-receiver",
                        fabric::StallCause::FailedCable => "failed-cable",
                        fabric::StallCause::LostReceipts => "lost-receipts",
                    };
                    json!({ "node": root.node, "output": root.output, "peer": root.peer, "cause": cause })
                };
                let roots: Vec<Value> = stall.roots.iter().map(root).collect();
                let details = json!({
                    "at_ps": stall.at.as_picos(),
                    "frames": stall.frames,
                    "roots": roots,
                    "waiting_flows": stall.waiting,
                    "awaited": stall.awaited,
                    "futile_flows": stall.futile,
                });
                ("stalled", stall.to_string(), details)
            }
            Outcome::Livelock(livelock) => {
                let details = json!({
                    "at_ps": livelock.at.as_picos(),
                    "since_ps": livelock.since.as_picos(),
                    "frames": livelock.frames,
                    "futile_flows": livelock.futile,
                });
                ("livelock", livelock.to_string(), details)
            }
            Outcome::LossInLosslessClass(report) => {
                let details = json!({
                    "at_ps": report.loss.at.as_picos(),
                    "node": report.node,
                    "port": report.port,
                    "sender": report.sender,
                    "pfc_here": report.pauses,
                    "pfc_at_sender": report.obeyed,
                    "class": report.loss.class,
                    "flow": report.loss.flow,
                    "frame_bytes": report.loss.frame,
                    "held": report.loss.held,
                    "capacity": report.loss.capacity,
                    "xoff": report.loss.xoff,
                    "needed_above_xoff_bytes": report.needed,
                });
                ("loss", report.to_string(), details)
            }
        };
        OutcomeRecord { kind: kind.into(), text, details }
    }
}

/// A recorded table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRecord {
    /// Name of the table.
    pub name: String,
    /// Number of rows.
    pub rows: u64,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Hash of the file; `None` in results of older versions, which had no hashes.
    pub hash: Option<String>,
}

impl TableRecord {
    /// Verifies that a file is unmodified. Without a hash, only its size is compared.
    ///
    /// # Errors
    /// Returns an error if the file was modified or cannot be read.
    pub fn verify(&self, path: &Path, file: &mut (impl Read + Seek)) -> Result<(), ResultsError> {
        let (hash, bytes) = hash_of_file(file).map_err(|source| ResultsError::io("read", path, source))?;
        let changed = |reason: String| Err(ResultsError::Changed { path: path.to_owned(), reason });
        match &self.hash {
            _ if bytes < self.bytes => changed(format!("it has {bytes} of {} bytes: it was truncated", self.bytes)),
            _ if bytes > self.bytes => changed(format!("it has {bytes} bytes instead of {}", self.bytes)),
            Some(expected) if *expected != hash => changed(format!(
                "its SHA-256 differs from the one in {FILE}: it was damaged, edited or taken from another run"
            )),
            _ => Ok(()),
        }
    }
}

/// Another file of the result.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FileRecord {
    /// Path in the results directory, with `/` as separator.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Hash, as `sha256:...`.
    pub hash: String,
}

impl FileRecord {
    /// Returns the record of a file with these contents.
    #[must_use]
    pub fn new(path: &str, contents: &[u8]) -> FileRecord {
        FileRecord { path: path.to_owned(), bytes: contents.len() as u64, hash: hash_of(contents) }
    }

    /// Returns whether a file is as it was recorded.
    #[must_use]
    pub fn describes(&self, file: &Path) -> bool {
        let same_size = std::fs::symlink_metadata(file).is_ok_and(|it| it.is_file() && it.len() == self.bytes);
        same_size
            && File::open(file).and_then(|mut file| hash_of_file(&mut file)).is_ok_and(|(hash, _)| hash == self.hash)
    }
}

/// The manifest of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// Version of the program.
    pub version: String,
    /// The commit the program was built from, if known.
    pub commit: Option<String>,
    /// Name of the run, for humans.
    pub name: String,
    /// The plan: the scenario with all defaults filled in.
    pub plan: PlanRecord,
    /// Seed of all random streams.
    pub seed: u64,
    /// Input files.
    pub inputs: Vec<Input>,
    /// Fingerprint of the run, which depends only on the plan and the seed, not on the number of threads.
    pub fingerprint: u64,
    /// Outcome of the run.
    pub outcome: OutcomeRecord,
    /// Simulated time reached, in picoseconds.
    pub simulated: u64,
    /// Sampling interval in picoseconds, if samples were taken.
    pub sample_every: Option<u64>,
    /// Wall time in seconds.
    pub wall_seconds: f64,
    /// Number of threads.
    pub threads: usize,
    /// Number of hops: frames that crossed a cable.
    pub hops: u64,
    /// Number of events.
    pub events: u64,
    /// Totals of the run.
    pub totals: Map<String, Value>,
    /// Recorded tables; set when the result is committed.
    pub tables: Vec<TableRecord>,
    /// Names of the tables that were not recorded; set when the result is committed.
    pub not_recorded: Vec<String>,
    /// All other files except the manifest itself; set when the result is committed. `None` in results of older
    /// versions.
    pub files: Option<Vec<FileRecord>>,
}

/// Returns the sums of a run by name.
#[must_use]
pub fn totals_map(totals: &Totals) -> Map<String, Value> {
    let Totals {
        hops,
        made_frames,
        made_bytes,
        retransmitted_frames,
        retransmitted_bytes,
        delivered_frames,
        delivered_bytes,
        duplicate_frames,
        duplicate_bytes,
        rejected_frames,
        rejected_bytes,
        out_of_order_frames,
        dropped_frames,
        dropped_bytes,
        trimmed_frames,
        trimmed_bytes,
        returned_frames,
        requeued_frames,
        watchdog_frames,
        watchdog_bytes,
        storms,
        restored_storms,
        lost_frames,
        lost_bytes,
        pause_lost_frames,
        discarded_frames,
        discarded_bytes,
        lost_control,
        lost_acknowledgements,
        pause_frames,
        credit_frames,
        acknowledgements,
        negative_acknowledgements,
        timeouts,
        congestion_notifications,
        pulls,
        marked_frames,
        notices,
        probes,
        receipts,
        control_bytes,
    } = *totals;
    let pairs = [
        ("hops", hops),
        ("made_frames", made_frames),
        ("made_bytes", made_bytes),
        ("retransmitted_frames", retransmitted_frames),
        ("retransmitted_bytes", retransmitted_bytes),
        ("delivered_frames", delivered_frames),
        ("delivered_bytes", delivered_bytes),
        ("duplicate_frames", duplicate_frames),
        ("duplicate_bytes", duplicate_bytes),
        ("rejected_frames", rejected_frames),
        ("rejected_bytes", rejected_bytes),
        ("out_of_order_frames", out_of_order_frames),
        ("dropped_frames", dropped_frames),
        ("dropped_bytes", dropped_bytes),
        ("trimmed_frames", trimmed_frames),
        ("trimmed_bytes", trimmed_bytes),
        ("returned_frames", returned_frames),
        ("requeued_frames", requeued_frames),
        ("watchdog_frames", watchdog_frames),
        ("watchdog_bytes", watchdog_bytes),
        ("storms", storms),
        ("restored_storms", restored_storms),
        ("lost_frames", lost_frames),
        ("lost_bytes", lost_bytes),
        ("pause_lost_frames", pause_lost_frames),
        ("discarded_frames", discarded_frames),
        ("discarded_bytes", discarded_bytes),
        ("lost_control", lost_control),
        ("lost_acknowledgements", lost_acknowledgements),
        ("pause_frames", pause_frames),
        ("credit_frames", credit_frames),
        ("acknowledgements", acknowledgements),
        ("negative_acknowledgements", negative_acknowledgements),
        ("timeouts", timeouts),
        ("congestion_notifications", congestion_notifications),
        ("pulls", pulls),
        ("marked_frames", marked_frames),
        ("notices", notices),
        ("probes", probes),
        ("receipts", receipts),
        ("control_bytes", control_bytes),
    ];
    pairs.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect()
}

/// Formats a fingerprint in hexadecimal.
#[must_use]
pub fn hex(fingerprint: u64) -> String {
    format!("{fingerprint:016x}")
}

impl Manifest {
    /// Creates the manifest of a run of this program. The caller sets name, plan, seed, inputs, threads and wall time.
    #[must_use]
    pub fn of(report: &RunSummary) -> Manifest {
        Manifest {
            version: VERSION.into(),
            commit: COMMIT.map(str::to_owned),
            name: String::new(),
            plan: PlanRecord::default(),
            seed: 0,
            inputs: Vec::new(),
            fingerprint: report.fingerprint,
            outcome: OutcomeRecord::from(&report.outcome),
            simulated: report.now.as_picos(),
            sample_every: None,
            wall_seconds: 0.0,
            threads: 1,
            hops: report.totals.hops,
            events: report.events,
            totals: totals_map(&report.totals),
            tables: Vec::new(),
            not_recorded: Vec::new(),
            files: None,
        }
    }

    /// Returns the hops per second of wall time.
    #[must_use]
    pub fn hops_per_second(&self) -> f64 {
        if self.wall_seconds > 0.0 { self.hops as f64 / self.wall_seconds } else { 0.0 }
    }

    /// Converts the manifest to JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let inputs: Vec<Value> =
            self.inputs.iter().map(|i| json!({ "path": i.path, "hash": i.hash, "copy": i.copy })).collect();
        let file = |f: &FileRecord| json!({ "path": f.path, "bytes": f.bytes, "hash": f.hash });
        let table = |t: &TableRecord| match &t.hash {
            Some(hash) => json!({ "name": t.name, "rows": t.rows, "bytes": t.bytes, "hash": hash }),
            None => json!({ "name": t.name, "rows": t.rows, "bytes": t.bytes }),
        };
        json!({
            "format": FORMAT,
            "schema_version": SCHEMA_VERSION,
            "version": self.version,
            "commit": self.commit,
            "name": self.name,
            "plan": self.plan,
            "seed": self.seed,
            "inputs": inputs,
            "fingerprint": hex(self.fingerprint),
            "outcome": { "kind": self.outcome.kind, "text": self.outcome.text, "details": self.outcome.details },
            "simulated_ps": self.simulated,
            "sample_every_ps": self.sample_every,
            "wall_seconds": self.wall_seconds,
            "threads": self.threads,
            "hops": self.hops,
            "hops_per_second": self.hops_per_second(),
            "events": self.events,
            "totals": self.totals,
            "tables": self.tables.iter().map(table).collect::<Vec<_>>(),
            "not_recorded": self.not_recorded,
            "files": self.files.as_ref().map(|files| files.iter().map(file).collect::<Vec<_>>()),
        })
    }

    /// Returns the contents of `manifest.json`: JSON whose second line is the hash of all other lines.
    pub(super) fn to_text(&self) -> String {
        with_hash(&(serde_json::to_string_pretty(&self.to_json()).unwrap_or_default() + "\n"))
    }

    /// Returns whether the tables have hashes. Older results have none and are read unverified.
    #[must_use]
    pub fn has_hashes(&self) -> bool {
        self.tables.iter().all(|table| table.hash.is_some())
    }

    /// Reads the manifest of a results directory.
    ///
    /// # Errors
    /// Returns an error if there is no manifest, or if it is not one of Tailback, has a later version or was modified.
    pub fn read(directory: &Path) -> Result<Manifest, ResultsError> {
        let not = |reason: String| ResultsError::NotResults { path: directory.to_owned(), reason };
        let path = directory.join(FILE);
        let changed = |reason: &str| ResultsError::Changed { path: path.clone(), reason: reason.to_owned() };
        let text = match files::inside(directory, FILE).and_then(|path| files::read(&path, files::LARGEST_RESULT)) {
            Ok(bytes) => String::from_utf8(bytes).map_err(|_| changed("it is damaged: it is not UTF-8"))?,
            Err(error) if !directory.exists() => return Err(ResultsError::io("open", directory, error)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(not(format!("it has no {FILE}")));
            }
            Err(error) => return Err(ResultsError::io("read", &path, error)),
        };
        let hashed = is_hashed(&text);
        if hashed == Some(false) {
            return Err(changed("its SHA-256 differs from the one it states: it was damaged or edited"));
        }
        let json: Value = serde_json::from_str(&text).map_err(|error| not(format!("{FILE} is damaged: {error}")))?;
        if json["format"] != FORMAT {
            return Err(not(format!("{FILE} was written by another program")));
        }
        let found = json["schema_version"].as_u64().ok_or_else(|| not(format!("{FILE} has no schema_version")))?;
        if found > SCHEMA_VERSION {
            return Err(ResultsError::Newer { path: directory.to_owned(), found });
        }
        let manifest = Manifest::from_json(&json);
        let manifest = manifest.ok_or_else(|| not(format!("{FILE} lacks a field, or has one of another type")))?;
        if hashed.is_none() && manifest.tables.iter().any(|table| table.hash.is_some()) {
            return Err(changed("it does not state its own SHA-256: it was damaged or edited"));
        }
        Ok(manifest)
    }

    fn from_json(json: &Value) -> Option<Manifest> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let input = |value: &Value| {
            Some(Input { path: text(&value["path"])?, hash: text(&value["hash"])?, copy: text(&value["copy"]) })
        };
        let table = |value: &Value| {
            let (rows, bytes) = (value["rows"].as_u64()?, value["bytes"].as_u64()?);
            Some(TableRecord { name: text(&value["name"])?, rows, bytes, hash: text(&value["hash"]) })
        };
        let file = |value: &Value| {
            let bytes = value["bytes"].as_u64()?;
            Some(FileRecord { path: text(&value["path"])?, bytes, hash: text(&value["hash"])? })
        };
        let files = match json["files"].as_array() {
            Some(files) => Some(files.iter().map(file).collect::<Option<_>>()?),
            None => None,
        };
        let outcome = &json["outcome"];
        Some(Manifest {
            version: text(&json["version"])?,
            commit: text(&json["commit"]),
            name: text(&json["name"])?,
            // Results of code that uses the library may have no plan.
            plan: serde_json::from_value::<Option<PlanRecord>>(json["plan"].clone()).ok()?.unwrap_or_default(),
            seed: json["seed"].as_u64()?,
            inputs: json["inputs"].as_array()?.iter().map(input).collect::<Option<_>>()?,
            fingerprint: u64::from_str_radix(json["fingerprint"].as_str()?, 16).ok()?,
            outcome: OutcomeRecord {
                kind: text(&outcome["kind"])?,
                text: text(&outcome["text"])?,
                details: outcome["details"].clone(),
            },
            simulated: json["simulated_ps"].as_u64()?,
            sample_every: json["sample_every_ps"].as_u64(),
            wall_seconds: json["wall_seconds"].as_f64()?,
            threads: usize::try_from(json["threads"].as_u64()?).ok()?,
            hops: json["hops"].as_u64()?,
            events: json["events"].as_u64()?,
            totals: json["totals"].as_object()?.clone(),
            tables: json["tables"].as_array()?.iter().map(table).collect::<Option<_>>()?,
            not_recorded: json["not_recorded"].as_array()?.iter().map(text).collect::<Option<_>>()?,
            files,
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::document::PlanEntry;
    use super::*;
    use units::Time;

    pub(crate) fn sample() -> Manifest {
        let report = RunSummary {
            outcome: Outcome::LimitReached(Limit::Events(12)),
            now: Time::from_picos(1_000_000),
            fingerprint: 0xfeed_0000_0000_0001,
            totals: Totals { hops: 5, ..Totals::default() },
            events: 12,
            windows: 1,
        };
        Manifest {
            name: "incast".into(),
            plan: PlanRecord {
                description: "many to one".into(),
                overrides: Some(vec!["run.seed=7".into()]),
                entries: vec![PlanEntry {
                    key: "network.topology".into(),
                    value: "\"torus\"".into(),
                    source: "incast.toml:3".into(),
                }],
            },
            seed: u64::MAX,
            inputs: vec![Input {
                path: "incast.toml".into(),
                hash: "sha256:00".into(),
                copy: Some("input-0.toml".into()),
            }],
            wall_seconds: 0.5,
            files: Some(vec![FileRecord { path: "csv/rates.csv".into(), bytes: 7, hash: "sha256:11".into() }]),
            ..Manifest::of(&report)
        }
    }

    #[test]
    fn a_manifest_reads_back_as_it_was() {
        let scratch = tempfile::tempdir().expect("there is room");
        let manifest = sample();
        std::fs::write(scratch.path().join(FILE), manifest.to_json().to_string()).expect("there is room");
        assert_eq!(Manifest::read(scratch.path()).expect("it is sound"), manifest);
        assert_eq!(manifest.hops_per_second(), 10.0);
        assert_eq!(hex(manifest.fingerprint), "feed000000000001");
    }

    #[test]
    fn what_is_not_a_manifest_is_refused_with_the_reason() {
        let scratch = tempfile::tempdir().expect("there is room");
        let refused = |text: &str| {
            std::fs::write(scratch.path().join(FILE), text).expect("there is room");
            Manifest::read(scratch.path()).expect_err("it is not sound").to_string()
        };
        assert!(refused("{").contains("damaged"));
        assert!(refused("{}").contains("another program"));
        let mut later = sample().to_json();
        later["schema_version"] = json!(99);
        assert!(refused(&later.to_string()).contains("later version"));
        let mut lacking = sample().to_json();
        lacking["seed"] = Value::Null;
        assert!(refused(&lacking.to_string()).contains("lacks a field"));
        std::fs::remove_file(scratch.path().join(FILE)).expect("it is there");
        assert!(Manifest::read(scratch.path()).expect_err("none").to_string().contains("no manifest.json"));
        assert!(
            Manifest::read(&scratch.path().join("nowhere")).expect_err("none").to_string().contains("check the path")
        );
    }
}
