//! Results on disk: one directory per run, written atomically.
//!
//! A directory contains `manifest.json`, which describes the run and its outcome, and one Parquet file per table of
//! [`fabric::record::schema`]. It is written next to its final path during the run and moved into place by
//! [`ResultWriter::commit`]; a killed run leaves the old result, if any, unchanged. Tables are written and read one row
//! group at a time, so that no table must fit in memory. The manifest contains the hash of every table and of itself;
//! both are verified before reading.
//!
//! The JSON files beside the tables are [`document`]s with one typed definition for writer and reader:
//!
//! ```
//! use tailback_results::document::{ComparedRun, Comparison, Document};
//!
//! let folder = std::env::temp_dir().join(format!("tailback-results-doc-{}", std::process::id()));
//! let runs = vec![ComparedRun { value: "qcn".into(), folder: "qcn".into() }];
//! let comparison = Comparison { name: "victim".into(), key: "protocol.name".into(), runs, rows: Vec::new() };
//! comparison.write(&folder)?;
//! assert_eq!(Comparison::read(&folder)?, Some(comparison));
//!
//! // An edited document is refused.
//! let file = folder.join(Comparison::FILE);
//! let edited = std::fs::read_to_string(&file).expect("it was written").replace("victim", "culprit");
//! std::fs::write(&file, edited).expect("there is room");
//! assert!(Comparison::read(&folder).is_err());
//! # std::fs::remove_dir_all(&folder).expect("it is there");
//! # Ok::<(), tailback_results::ResultsError>(())
//! ```

mod arrow;
mod batch;
mod compared;
mod csv;
mod difference;
mod directory;
pub mod document;
mod ending;
mod error;
mod hash;
mod manifest;
mod ownership;
mod pack;
mod parquet_file;
mod picture;
mod quantity;
mod reader;
mod reference;
mod replaceable;
mod seal;
mod stage;

pub use arrow::base64;
pub use batch::{Batch, Cells, Value};
pub use compared::{COMPARISON_CHARTS, ComparisonPlan, ComparisonWriter};
pub use csv::export_csv;
pub use difference::{Difference, Differences, Manner, Unlike, differences};
pub use directory::{FinishedResult, ResultWriter};
pub use ending::{name_flows, write_ending};
pub use error::ResultsError;
pub use error::remedy;
pub use hash::{Hashing, hash_of, hash_of_file};
pub use manifest::{
    COMMIT, FileRecord, Input, Manifest, OutcomeRecord, SCHEMA_VERSION, TableRecord, VERSION, hex, totals_map,
};
pub use ownership::{
    CAPTURE_FILE, CSV_FOLDER, EXPECTATIONS_FILE, PLOTS_FOLDER, REPORT_FILE, remove_listed, remove_result,
};
pub use pack::{Pack, Packed, PackedColumn, deflated};
pub use parquet_file::{ROWS_PER_GROUP, TableReader, TableWriter};
pub use picture::Picture;
pub use quantity::{Quantity, axis_value};
pub use reader::Results;
pub use reference::reference;
pub use replaceable::{Kind, Origin, PNG_SOFTWARE, REPORT_START, SVG_LOOK, remove_pictures};
pub use seal::{sealed_markup, sealed_png};
pub use stage::Leftover;
