//! Reading of a results directory.

use super::batch::Batch;
use super::document::Document;
use super::error::ResultsError;
use super::hash::hash_of;
use super::manifest::Manifest;
use super::parquet_file::TableReader;
use super::stage::restore;
use fabric::record::schema::{self, Table};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A result on disk.
#[derive(Clone, Debug)]
pub struct Results {
    directory: PathBuf,
    /// Tables whose hashes were already verified.
    verified: Arc<Mutex<BTreeSet<&'static str>>>,
    /// The manifest.
    pub manifest: Manifest,
}

impl Results {
    /// Opens a results directory.
    ///
    /// # Errors
    /// Returns an error if it is not a results directory.
    pub fn open(directory: &Path) -> Result<Results, ResultsError> {
        restore(directory);
        let manifest = Manifest::read(directory)?;
        Ok(Results { directory: directory.to_owned(), verified: Arc::default(), manifest })
    }

    /// Returns the path of the directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the recorded tables.
    #[must_use]
    pub fn tables(&self) -> Vec<&'static Table> {
        self.manifest.tables.iter().filter_map(|table| schema::table(&table.name)).collect()
    }

    /// Returns whether a table was recorded.
    #[must_use]
    pub fn has(&self, table: &Table) -> bool {
        self.manifest.tables.iter().any(|recorded| recorded.name == table.name)
    }

    /// Returns the hash of a table, if it has one.
    pub(super) fn hash(&self, table: &Table) -> Option<&str> {
        self.manifest.tables.iter().find(|recorded| recorded.name == table.name)?.hash.as_deref()
    }

    /// Returns a reader of a table, by row group. The file's hash is verified before it is first read.
    ///
    /// # Errors
    /// Returns an error if the table was not recorded, was modified, or cannot be read.
    pub fn groups(&self, table: &'static Table) -> Result<TableReader, ResultsError> {
        let Some(record) = self.manifest.tables.iter().find(|recorded| recorded.name == table.name) else {
            return Err(ResultsError::NoTable {
                path: self.directory.clone(),
                table: table.name.to_owned(),
                there_are: self.manifest.tables.iter().map(|table| table.name.clone()).collect(),
            });
        };
        let path = self.directory.join(format!("{}.parquet", table.name));
        match files::inside(&self.directory, format!("{}.parquet", table.name)) {
            Err(error) if !files::is_missing(&error) => return Err(ResultsError::io("open", &path, error)),
            // A file that is missing is told of below.
            Ok(_) | Err(_) => {}
        }
        // A thread that has panicked leaves the list as it was: at worst a table is verified twice.
        let verified = || self.verified.lock().unwrap_or_else(PoisonError::into_inner);
        let verify = !verified().contains(table.name);
        let reader = TableReader::open_recorded(&path, table, record, verify)?;
        if reader.rows() != record.rows {
            let reason = format!("it has {} rows instead of {}", reader.rows(), record.rows);
            return Err(ResultsError::Changed { path, reason });
        }
        verified().insert(table.name);
        Ok(reader)
    }

    /// Verifies the hash of every table.
    ///
    /// # Errors
    /// Returns an error if a table is missing or was modified.
    pub fn verify(&self) -> Result<(), ResultsError> {
        self.tables().into_iter().try_for_each(|table| self.groups(table).map(|_| ()))
    }

    /// Reads a JSON file next to the tables. Returns `None` if the manifest does not list it and it does not exist.
    ///
    /// # Errors
    /// Returns an error if the file does not match the manifest or cannot be read.
    pub fn beside(&self, name: &str) -> Result<Option<serde_json::Value>, ResultsError> {
        let Some(text) = self.text_beside(name)? else { return Ok(None) };
        let changed = |_| ResultsError::Changed { path: self.directory.join(name), reason: "it is not JSON".into() };
        serde_json::from_str(&text).map(Some).map_err(changed)
    }

    /// Reads a document next to the tables. Returns `None` if the manifest does not list it and it does not exist.
    ///
    /// # Errors
    /// Returns an error if the document does not match the manifest, cannot be read, or is of a later version.
    pub fn document<D: Document>(&self) -> Result<Option<D>, ResultsError> {
        let text = self.text_beside(D::FILE)?;
        text.map(|text| D::from_text(&text, &self.directory.join(D::FILE))).transpose()
    }

    fn text_beside(&self, name: &str) -> Result<Option<String>, ResultsError> {
        let path = self.directory.join(name);
        let changed = |reason: &str| Err(ResultsError::Changed { path: path.clone(), reason: reason.to_owned() });
        let record = self.manifest.files.iter().flatten().find(|file| file.path == name);
        let text = match files::read_inside(&self.directory, name) {
            Ok(text) => text,
            Err(error) if files::is_missing(&error) && record.is_none() => return Ok(None),
            Err(error) if files::is_missing(&error) => return changed("it is missing"),
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => return changed("it is not UTF-8"),
            Err(error) => return Err(ResultsError::io("read", &path, error)),
        };
        if record.is_some_and(|record| record.hash != hash_of(text.as_bytes())) {
            return changed("its SHA-256 differs from the one in manifest.json: it was damaged or edited");
        }
        Ok(Some(text))
    }

    /// Reads a whole table into memory. Prefer [`Results::groups`] for tables that grow with simulated time.
    ///
    /// # Errors
    /// Returns an error if the table was not recorded or cannot be read.
    pub fn read(&self, table: &'static Table) -> Result<Batch, ResultsError> {
        let mut all = Batch::new(table);
        for batch in self.groups(table)? {
            all.append(batch?);
        }
        Ok(all)
    }
}
