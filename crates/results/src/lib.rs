//! Results on disk: one directory per run, whole or not there at all.
//!
//! A directory holds `manifest.json`, which says what was run and how it ended, and one Parquet file per table of
//! [`fabric::record::schema`]. It is written beside its final place as the run goes and moved there whole by
//! [`ResultWriter::commit`]; a run that is killed leaves the old result, if there was one, untouched. Reading goes row
//! group by row group, so that neither direction needs the memory of a whole table. The manifest has the hash of every
//! table and of itself; both are compared before anything is read.

mod arrow;
mod batch;
mod csv;
mod difference;
mod directory;
pub mod document;
mod error;
mod hash;
mod manifest;
mod ours;
mod own;
mod parquet_file;
mod picture;
mod quantity;
mod reader;
mod reference;
mod run;
mod stage;

pub use arrow::base64;
pub use batch::{Batch, Cells, Value};
pub use csv::export_csv;
pub use difference::{Difference, Differences, Manner, Unlike, differences};
pub use directory::{FinishedResult, ResultWriter};
pub use error::ResultsError;
pub use error::remedy;
pub use hash::{Hashing, hash_of, hash_of_file};
pub use manifest::{COMMIT, FileRecord, Input, Manifest, OutcomeRecord, SCHEMA_VERSION, TableRecord, VERSION, hex};
pub use ours::{CAPTURE_FILE, CSV_FOLDER, EXPECTATIONS_FILE, NETWORK_FILE, PLOTS_FOLDER, REPORT_FILE};
pub use own::{Kind, PNG_SOFTWARE, REPORT_START, SVG_LOOK, remove_pictures};
pub use parquet_file::{ROWS_PER_GROUP, TableReader, TableWriter};
pub use picture::Picture;
pub use quantity::{Quantity, axis_value};
pub use reader::Results;
pub use reference::reference;
pub use run::{Recorded, record_run, write_ending};
pub use stage::Leftover;
