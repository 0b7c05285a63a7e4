//! Reading a results directory.

use super::batch::Batch;
use super::directory::restore;
use super::error::ResultsError;
use super::manifest::Manifest;
use super::parquet_file::TableReader;
use fabric::record::schema::{self, Table};
use std::path::{Path, PathBuf};

/// A result on disk.
#[derive(Clone, Debug)]
pub struct Results {
    directory: PathBuf,
    /// What was run and how it went.
    pub manifest: Manifest,
}

impl Results {
    /// Opens a results directory.
    ///
    /// # Errors
    /// If it is none.
    pub fn open(directory: &Path) -> Result<Results, ResultsError> {
        restore(directory);
        Ok(Results { directory: directory.to_owned(), manifest: Manifest::read(directory)? })
    }

    /// Where it is.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The tables it has.
    #[must_use]
    pub fn tables(&self) -> Vec<&'static Table> {
        self.manifest.tables.iter().filter_map(|table| schema::table(&table.name)).collect()
    }

    /// Whether it has that table.
    #[must_use]
    pub fn has(&self, table: &Table) -> bool {
        self.manifest.tables.iter().any(|recorded| recorded.name == table.name)
    }

    /// The row groups of a table, one at a time.
    ///
    /// # Errors
    /// If the table was not recorded or cannot be read.
    pub fn groups(&self, table: &'static Table) -> Result<TableReader, ResultsError> {
        if !self.has(table) {
            return Err(ResultsError::NoTable {
                path: self.directory.clone(),
                table: table.name.to_owned(),
                there_are: self.manifest.tables.iter().map(|table| table.name.clone()).collect(),
            });
        }
        TableReader::open(&self.directory.join(format!("{}.parquet", table.name)), table)
    }

    /// A whole table in memory. For tables that grow with simulated time, [`Results::groups`] is the better way.
    ///
    /// # Errors
    /// If the table was not recorded or cannot be read.
    pub fn read(&self, table: &'static Table) -> Result<Batch, ResultsError> {
        let mut all = Batch::new(table);
        for batch in self.groups(table)? {
            all.append(batch?);
        }
        Ok(all)
    }
}
