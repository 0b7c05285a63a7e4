//! Configurations of SONiC switches on disk: read, examined, and converted to a scenario.
//!
//! A path is a config_db.json, or a directory with a file or a folder for each switch. [`examine`] says what an operator
//! wants to know: [`audit()`] of the configurations themselves, and the deadlocks of the routes between them.

mod audit;
mod words;

pub use audit::{Issue, What, audit};

use crate::discover::check_record;
use crate::import::{ImportError, Opened, Target, finish};
use files::output::{is_replaced, write_file};
use results::document::ConfigurationRecord;
use scenario::export::sonic::{Exported, export};
use scenario::import::sonic::{Fabric, SwitchFiles, read, scenario};
use scenario::import::{Imported, Note};
use scenario::{Finding, Limits, NoFiles, Plan, Severity, check_routes, load_str};
use std::io;
use std::path::{Path, PathBuf};

/// The files of a directory that are read, at most.
const MOST_SWITCHES: usize = 4096;

/// What was found in the configurations of a fabric.
#[derive(Debug)]
pub struct Examined {
    /// What the configurations say.
    pub fabric: Fabric,
    /// Issues of the configurations.
    pub issues: Vec<Issue>,
    /// Findings about the routes of the fabric.
    pub routes: Vec<Finding>,
}

impl Examined {
    /// All findings with their kinds, the most severe first.
    #[must_use]
    pub fn findings(&self) -> Vec<(&'static str, Finding)> {
        let issues = self.issues.iter().map(|issue| (issue.kind(), issue.finding()));
        let mut all: Vec<_> = issues.chain(self.routes.iter().map(|finding| ("routes", finding.clone()))).collect();
        all.sort_by_key(|(_, finding)| std::cmp::Reverse(finding.severity));
        all
    }

    /// All findings for programs.
    #[must_use]
    pub fn records(&self) -> Vec<ConfigurationRecord> {
        let record = |(kind, finding): &(&'static str, Finding)| ConfigurationRecord {
            kind: (*kind).to_owned(),
            finding: check_record(finding),
        };
        self.findings().iter().map(record).collect()
    }

    /// What is not understood or not modelled.
    #[must_use]
    pub fn notes(&self) -> &[Note] {
        &self.fabric.notes
    }
}

/// Whether a path is that of configurations, not of a scenario: a directory, or a JSON file.
#[must_use]
pub fn is_configuration(path: &Path) -> bool {
    path.is_dir() || path.extension().is_some_and(|extension| extension == "json")
}

/// Examines the configurations at a path.
///
/// # Errors
/// Fails if a file cannot be read, or if something in the files is wrong.
pub fn examine(path: &Path) -> Result<Examined, ImportError> {
    let fabric = fabric(path)?;
    let issues = audit(&fabric);
    let mut routes = check_routes(&plan(&fabric)?);
    routes.retain(|finding| finding.severity > Severity::Note);
    Ok(Examined { fabric, issues, routes })
}

/// The plan of a fabric.
fn plan(fabric: &Fabric) -> Result<Plan, ImportError> {
    let text = scenario(fabric.clone(), "fabric").scenario;
    let loaded = load_str("fabric.toml", &text, &[], &NoFiles, Limits { runs: false, ..Limits::default() });
    loaded.map_err(|errors| ImportError::Input(Box::new(errors)))
}

/// Converts the configurations at a path to a scenario.
///
/// # Errors
/// Fails if a file cannot be read or written, or if something in the files is wrong; then nothing is written.
pub fn import_sonic(path: &Path, target: &Target<'_>) -> Result<Imported, ImportError> {
    let (name, _) = target.names()?;
    let fabric = fabric(path)?;
    finish(Ok(scenario(fabric, &name)), target)
}

/// Converts the switches of a plan to configurations, each in a folder of its name in `folder`.
///
/// # Errors
/// Fails if something has no counterpart in SONiC, if a file exists and `overwrite` is not given, or if one cannot be
/// written.
pub fn export_sonic(plan: &Plan, folder: &Path, overwrite: bool) -> Result<Exported, ExportError> {
    let exported = export(plan).map_err(ExportError::Plan)?;
    let mut files = Vec::new();
    for (name, text) in &exported.switches {
        if !is_folder_name(name) {
            return Err(ExportError::Plan(format!("no folder can be named after switch `{name}`; rename it")));
        }
        let file = folder.join(name).join("config_db.json");
        // Only the folder was named by a person: nothing in it is written through a link.
        let refused = |error| ExportError::Write { path: file.clone(), error };
        files::no_links(folder, name).and_then(|()| files::plain(&file)).map_err(refused)?;
        if is_replaced(&file) && !overwrite {
            return Err(ExportError::Exists(file));
        }
        files.push((file, text));
    }
    for (file, text) in files {
        let failed = |error| ExportError::Write { path: file.clone(), error };
        std::fs::create_dir_all(file.parent().unwrap_or(folder)).map_err(failed)?;
        write_file(&file, text).map_err(failed)?;
    }
    Ok(exported)
}

/// Whether a folder can be named after a switch.
pub(crate) fn is_folder_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0'])
}

/// An export that failed.
#[derive(Debug)]
pub enum ExportError {
    /// Something in the plan has no counterpart: what it is, and the remedy.
    Plan(String),
    /// A file to write exists.
    Exists(PathBuf),
    /// A file cannot be written.
    Write {
        /// Its path.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
}

/// Reads the configurations at a path.
///
/// # Errors
/// Fails if a file cannot be read, or if something in the files is wrong.
pub fn fabric(path: &Path) -> Result<Fabric, ImportError> {
    let mut opened = Vec::new();
    for (configuration, lldp, name) in found(path)? {
        opened.push((Opened::read(&configuration)?, lldp.as_deref().map(Opened::read).transpose()?, name));
    }
    let files: Vec<SwitchFiles<'_>> = opened
        .iter()
        .map(|(configuration, lldp, name)| SwitchFiles {
            configuration: configuration.text(),
            lldp: lldp.as_ref().map(Opened::text),
            name,
        })
        .collect();
    read(&files).map_err(|errors| ImportError::Input(Box::new(errors)))
}

/// Configuration, LLDP table and name of a switch.
type Found = (PathBuf, Option<PathBuf>, String);

/// The files of all switches at a path, by name.
fn found(path: &Path) -> Result<Vec<Found>, ImportError> {
    let failed = |error: io::Error| ImportError::Read { path: path.to_owned(), error };
    if !path.is_dir() {
        return Ok(vec![(path.to_owned(), None, stem(path))]);
    }
    let mut found = Vec::new();
    let mut entries = Vec::new();
    for entry in path.read_dir().map_err(failed)? {
        entries.push(entry.map_err(failed)?.path());
    }
    entries.sort();
    for entry in &entries {
        if entry.is_dir() {
            let configuration = entry.join("config_db.json");
            if configuration.is_file() {
                let lldp = Some(entry.join("lldp.json")).filter(|lldp| lldp.is_file());
                found.push((configuration, lldp, stem(entry)));
            }
        } else if entry.extension().is_some_and(|extension| extension == "json") && !is_lldp(entry) {
            let lldp = entries.iter().find(|other| is_lldp(other) && of_switch(other) == of_switch(entry));
            found.push((entry.clone(), lldp.cloned(), of_switch(entry)));
        }
    }
    if found.is_empty() || found.len() > MOST_SWITCHES {
        let reason = match found.len() {
            0 => "it is a directory without config_db.json, and without a folder that has one".to_owned(),
            many => format!("{many} configurations; at most {MOST_SWITCHES} are read"),
        };
        return Err(failed(io::Error::new(io::ErrorKind::NotFound, reason)));
    }
    Ok(found)
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Whether a file is an LLDP table: NAME.lldp.json, NAME_lldp.json or lldp.json.
fn is_lldp(path: &Path) -> bool {
    let stem = stem(path);
    stem == "lldp" || stem.ends_with(".lldp") || stem.ends_with("_lldp")
}

/// The switch that a file is of: what is left of its name.
fn of_switch(path: &Path) -> String {
    let stem = stem(path);
    let mut name = stem.as_str();
    for part in ["lldp", "config_db"] {
        name = name.strip_suffix(part).or_else(|| name.strip_prefix(part)).unwrap_or(name);
        name = name.trim_matches(['.', '_', '-']);
    }
    if name.is_empty() { "switch".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests;
