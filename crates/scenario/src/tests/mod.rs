//! Tests across modules.

mod any_text;
mod arrivals;
mod changes;
mod dcbx;
mod expressive;
mod filtering;
mod lossless;
mod mistakes;
mod points;
mod reconvergence;
mod routing;
mod samples;
mod spb;
mod waiting;

use crate::{FileReader, Limits, NoFiles, Plan, load_str};
use std::path::{Path, PathBuf};

pub(super) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

/// The sample scenarios, in order.
pub(super) fn samples() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder()).expect("the scenarios folder");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    files
}

/// A network with cables of 10 Gb/s and 1 us, and whatever else is to be said.
pub(crate) fn plan(network: &str, rest: &str) -> Plan {
    let text = format!(
        "schema_version = 1\n[network]\n{network}\nlink = {{ rate = \"10Gb/s\", latency = \"1us\" }}\n\
         [[switches]]\nbuffers = {{ capacity = \"200KB\" }}\n[run]\nduration = \"1ms\"\n{rest}"
    );
    let files: &dyn FileReader = &NoFiles;
    load_str("test.toml", &text, &[], files, Limits::default())
        .unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

/// A reader of one file, whatever its name.
pub(crate) struct Beside(String);

impl FileReader for Beside {
    fn read(&self, _path: &Path) -> Result<String, String> {
        Ok(self.0.clone())
    }
}

/// The text of the one file that a scenario names.
pub(crate) fn beside(text: &str) -> Beside {
    Beside(text.to_owned())
}
