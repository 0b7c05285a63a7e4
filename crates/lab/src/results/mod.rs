//! Results on disk: one directory per run, whole or not there at all.
//!
//! A directory holds `manifest.json`, which says what was run and how it ended, and one Parquet file per table of
//! [`fabric::record::schema`]. It is written beside its final place as the run goes and moved there whole by
//! [`ResultWriter::commit`]; a run that is killed leaves the old result, if there was one, untouched. Reading goes row
//! group by row group, so that neither direction needs the memory of a whole table.

mod arrow;
mod batch;
mod csv;
mod difference;
mod directory;
mod error;
mod manifest;
mod parquet_file;
mod reader;
mod reference;
mod run;

pub(crate) use arrow::base64;
pub use batch::{Batch, Cells, Value};
pub use csv::export_csv;
pub use difference::{Difference, Manner, fingerprints, first_difference, rows_differ};
pub use directory::ResultWriter;
pub use error::ResultsError;
pub use manifest::{COMMIT, Input, Manifest, OutcomeRecord, SCHEMA_VERSION, TableRecord, VERSION, hex};
pub use parquet_file::{ROWS_PER_GROUP, TableReader, TableWriter};
pub use reader::Results;
pub use reference::reference;
pub use run::{Recorded, record_run, write_ending};
