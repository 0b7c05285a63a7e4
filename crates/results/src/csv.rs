//! Export of tables as CSV.

use super::batch::Value;
use super::document::{Document, Exported};
use super::error::ResultsError;
use super::hash::Hashing;
use super::manifest::FileRecord;
use super::ownership::CSV_FOLDER;
use super::reader::Results;
use super::replaceable::Kind;
use fabric::record::schema::{Table, Unit};
use files::output::OutputFile;
use files::text::csv_cell;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes every table of a result as `NAME.csv` into a directory, `columns.csv`, which describes the columns, and
/// `exported.json`, which lists these files with their hashes.
///
/// Cells are separated by commas under a header line. An absent value is an empty cell, and text is quoted where
/// needed. Text that a spreadsheet would interpret as a formula is prefixed with an apostrophe ([`csv_cell`]). Floats
/// have enough digits to be read back exactly. Returns the CSV files. They take the place of older ones when all are
/// complete.
///
/// # Errors
/// Returns an error if a table cannot be read, if a file cannot be written, or if a file exists that Tailback did not
/// write or that was edited since, and `overwrite` is false; nothing is written in the last case.
pub fn export_csv(results: &Results, directory: &Path, overwrite: bool) -> Result<Vec<PathBuf>, ResultsError> {
    let name_of = |table: &Table| format!("{}.csv", table.name);
    let known = known(results, directory);
    let may_go_to = |name: &str, header: &str| {
        let path = directory.join(name);
        Kind::Csv(header).may_go_to(&path, overwrite)?;
        let unchanged = || known.iter().any(|record| record.path == name && record.describes(&path));
        match overwrite || !path.exists() || unchanged() {
            true => Ok(()),
            false => Err(ResultsError::Edited { path }),
        }
    };
    // All names before the first file: a refusal leaves the directory as it was.
    let list = directory.join(Exported::FILE);
    Kind::Json(Exported::KEYS).may_go_to(&list, overwrite)?;
    may_go_to("columns.csv", COLUMNS)?;
    for table in results.tables() {
        may_go_to(&name_of(table), &header(table))?;
    }
    std::fs::create_dir_all(directory).map_err(|source| ResultsError::io("create", directory, source))?;
    let mut ready = vec![filled(directory, "columns.csv", |file| Ok(write_columns(file, &results.tables())?))?];
    for table in results.tables() {
        ready.push(filled(directory, &name_of(table), |file| write_table(results, table, file))?);
    }
    let new: Vec<FileRecord> = ready.iter().map(|(_, record)| record.clone()).collect();
    let write_list =
        |exported: Vec<FileRecord>| Kind::Json(Exported::KEYS).write(&list, overwrite, Exported { exported }.to_text());
    // Whenever the process is killed, every file is listed as it is.
    write_list(new.iter().cloned().chain(known).collect())?;
    let mut written = Vec::new();
    for (file, record) in ready {
        let path = directory.join(&record.path);
        file.commit().map_err(|source| ResultsError::io("write", &path, source))?;
        written.push(path);
    }
    write_list(new)?;
    Ok(written)
}

/// Returns the files that earlier exports of Tailback have written to a directory: those of its list, and those of the
/// result's manifest.
pub(super) fn known(results: &Results, directory: &Path) -> Vec<FileRecord> {
    let mut known = Exported::read(directory).ok().flatten().unwrap_or_default().exported;
    if directory == results.directory().join(CSV_FOLDER) {
        let start = format!("{CSV_FOLDER}/");
        let inside = |record: &FileRecord| {
            let path = record.path.strip_prefix(&start)?.to_owned();
            Some(FileRecord { path, ..record.clone() })
        };
        known.extend(results.manifest.files.iter().flatten().filter_map(inside));
    }
    known
}

/// An error of reading or of writing.
enum Failure {
    Reading(ResultsError),
    Writing(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Writing(error)
    }
}

/// Writes a file that is not yet in its place.
fn filled(
    directory: &Path,
    name: &str,
    fill: impl FnOnce(&mut BufWriter<Hashing<OutputFile>>) -> Result<(), Failure>,
) -> Result<(OutputFile, FileRecord), ResultsError> {
    let path = directory.join(name);
    let create = || {
        let mut file = BufWriter::new(Hashing::new(OutputFile::create(&path)?));
        fill(&mut file)?;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        let record = FileRecord { path: name.to_owned(), bytes: file.bytes(), hash: file.hash() };
        Ok((file.into_inner(), record))
    };
    create().map_err(|failure: Failure| match failure {
        Failure::Reading(error) => error,
        Failure::Writing(source) => ResultsError::io("write", &path, source),
    })
}

/// Header line of the file that describes the columns.
pub(super) const COLUMNS: &str = "table,column,type,unit,may_be_empty,meaning";

/// Returns the header line of a table.
pub(super) fn header(table: &Table) -> String {
    let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
    names.join(",")
}

fn write_columns(file: &mut impl Write, tables: &[&Table]) -> io::Result<()> {
    writeln!(file, "{COLUMNS}")?;
    for table in tables {
        for column in table.columns {
            write!(file, "{},{},{},", table.name, column.name, column.kind.name())?;
            let unit = if column.unit == Unit::None { "" } else { column.unit.symbol() };
            write!(file, "{unit},{},", column.nullable)?;
            file.write_all(csv_cell(column.meaning).as_bytes())?;
            writeln!(file)?;
        }
    }
    Ok(())
}

fn write_table(results: &Results, table: &'static Table, file: &mut impl Write) -> Result<(), Failure> {
    writeln!(file, "{}", header(table))?;
    for batch in results.groups(table).map_err(Failure::Reading)? {
        let batch = batch.map_err(Failure::Reading)?;
        for row in 0..batch.len() {
            for column in 0..table.columns.len() {
                if column > 0 {
                    file.write_all(b",")?;
                }
                match batch.value(row, column) {
                    Value::Text(text) => file.write_all(csv_cell(&text).as_bytes())?,
                    value => write!(file, "{value}")?,
                }
            }
            file.write_all(b"\n")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::directory::ResultWriter;
    use super::super::manifest::tests::sample;
    use super::*;
    use fabric::record::{PortRow, RateRow, RecorderSpec};
    use units::{Span, Time};

    #[test]
    fn cells_are_written_as_they_read_back() {
        let scratch = tempfile::tempdir().expect("there is room");
        let out = scratch.path().join("run");
        let mut writer = ResultWriter::create(&out, false, &RecorderSpec::default()).expect("it can be written");
        writer.write(&[RateRow { time: Time::from_picos(5), flow: 1, rate: None, window: Some(3000) }]).expect("room");
        let (name, node, peer) = ("a,\"b\":0".to_owned(), "a,\"b\"".to_owned(), "sw0".to_owned());
        let port = PortRow { port: 0, name, node, number: 0, peer_port: 1, peer, rate: 9, latency: Span::ZERO };
        writer.write(&[port]).expect("there is room");
        writer.commit(sample()).expect("it can be written");
        let results = Results::open(&out).expect("a result");
        let files = export_csv(&results, &scratch.path().join("csv"), false).expect("there is room");
        assert_eq!(files.len(), results.tables().len() + 1);
        let read = |name: &str| std::fs::read_to_string(scratch.path().join("csv").join(name)).expect("it is there");
        assert_eq!(read("rates.csv"), "time,flow,rate,window\n5,1,,3000\n");
        assert!(read("ports.csv").contains("0,\"a,\"\"b\"\":0\",\"a,\"\"b\"\"\",0,1,sw0,9,0\n"));
        assert!(read("columns.csv").contains("links,utilisation,real,1,false,busy time divided by the interval\n"));
        // An edited file is its user's.
        let csv = scratch.path().join("csv");
        export_csv(&results, &csv, false).expect("ours are replaced");
        std::fs::write(csv.join("rates.csv"), "time,flow,rate,window\n5,1,,4000\n").expect("there is room");
        let error = export_csv(&results, &csv, false).expect_err("it was edited");
        assert!(matches!(error, ResultsError::Edited { .. }), "{error}");
        assert!(read("rates.csv").contains("4000"));
        // Nobody knows whether a file without a list was edited.
        export_csv(&results, &csv, true).expect("it is told to");
        std::fs::remove_file(csv.join("exported.json")).expect("it is there");
        assert!(matches!(export_csv(&results, &csv, false), Err(ResultsError::Edited { .. })));
        let error = export_csv(&results, Path::new("/proc/nowhere"), false).expect_err("not there");
        assert!(error.to_string().contains("/proc/nowhere"));
    }
}
