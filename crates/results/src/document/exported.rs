//! `exported.json`: the CSV files that an export wrote, so that files edited since are recognised.

use super::super::manifest::FileRecord;
use super::Document;
use serde::{Deserialize, Serialize};

/// The files of an export. During an export, a file may be listed twice: as it was, and as it will be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exported {
    /// The files, by name.
    pub exported: Vec<FileRecord>,
}

impl Document for Exported {
    const FORMAT: &'static str = "tailback export";
    const VERSION: u64 = 1;
    const FILE: &'static str = "exported.json";
    const KEYS: &'static [&'static str] = &["exported"];
    const ALWAYS_HASHED: bool = true;
}
