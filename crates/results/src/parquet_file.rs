//! Tables as Parquet files, written and read one row group at a time.

use super::arrow::{encoded_schema, notes};
use super::batch::{Batch, Cells};
use super::error::ResultsError;
use super::hash::Hashing;
use super::manifest::TableRecord;
use fabric::engine::contained;
use fabric::record::Row;
use fabric::record::schema::{Kind, Table};
use parquet::basic::{Compression, ConvertedType, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows per row group; a table keeps up to this many rows in memory.
pub const ROWS_PER_GROUP: usize = 1 << 16;
/// Texts that are read at once.
const TEXTS_AT_ONCE: usize = 1 << 10;
/// Bytes of all texts of a column in a row group: names have at most 200 characters, sentences a few hundred.
const TEXT_PER_GROUP: usize = 1 << 26;

fn parquet_schema(table: &Table) -> ParquetResult<Type> {
    let field = |column: &fabric::record::schema::Column| {
        let physical = match column.kind {
            Kind::Integer => Physical::INT64,
            Kind::Real => Physical::DOUBLE,
            Kind::Text => Physical::BYTE_ARRAY,
            Kind::Flag => Physical::BOOLEAN,
        };
        let repetition = if column.nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let mut builder = Type::primitive_type_builder(column.name, physical).with_repetition(repetition);
        if column.kind == Kind::Text {
            builder = builder.with_logical_type(Some(LogicalType::String)).with_converted_type(ConvertedType::UTF8);
        }
        builder.build().map(Arc::new)
    };
    let fields = table.columns.iter().map(field).collect::<ParquetResult<Vec<_>>>()?;
    Type::group_type_builder(table.name).with_fields(fields).build()
}

fn properties(table: &Table) -> WriterProperties {
    let described = |key: &str, value: String| KeyValue::new(key.to_owned(), value);
    let mut metadata = vec![
        described("ARROW:schema", encoded_schema(table)),
        described("tailback:table", table.name.to_owned()),
        described("tailback:meaning", table.meaning.to_owned()),
    ];
    for column in table.columns {
        for (key, value) in notes(column) {
            metadata.push(described(&format!("tailback:{}:{key}", column.name), value.to_owned()));
        }
    }
    let mut builder = WriterProperties::builder()
        .set_created_by(format!("tailback {}", super::VERSION))
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_max_row_group_row_count(Some(ROWS_PER_GROUP))
        .set_key_value_metadata(Some(metadata));
    // Instants rise and entities repeat in order: the differences are small, the values are not.
    for column in table.columns.iter().filter(|column| column.kind == Kind::Integer) {
        let path = ColumnPath::from(column.name);
        builder = builder.set_column_dictionary_enabled(path.clone(), false);
        builder = builder.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
    }
    builder.build()
}

/// A writer of one table.
pub struct TableWriter {
    path: PathBuf,
    file: SerializedFileWriter<Hashing<File>>,
    batch: Batch,
    rows: u64,
}

impl TableWriter {
    /// Creates a file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be created.
    pub fn create(path: &Path, table: &'static Table) -> Result<TableWriter, ResultsError> {
        let file = File::create(path).map_err(|source| ResultsError::io("create", path, source))?;
        let file = parquet_schema(table)
            .and_then(|schema| {
                SerializedFileWriter::new(Hashing::new(file), Arc::new(schema), Arc::new(properties(table)))
            })
            .map_err(|error| ResultsError::parquet("write", path, error))?;
        Ok(TableWriter { path: path.to_owned(), file, batch: Batch::new(table), rows: 0 })
    }

    /// Returns the table.
    #[must_use]
    pub fn table(&self) -> &'static Table {
        self.batch.table
    }

    /// Returns the number of rows appended so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows + self.batch.len() as u64
    }

    /// Returns the number of bytes written so far.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.file.bytes_written() as u64
    }

    /// Appends rows of the table, in its order.
    ///
    /// # Errors
    /// Returns an error if a full row group cannot be written.
    pub fn append<R: Row>(&mut self, rows: &[R]) -> Result<(), ResultsError> {
        for row in rows {
            self.batch.push(row);
            if self.batch.len() == ROWS_PER_GROUP {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ResultsError> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let written = self.file.next_row_group().and_then(|mut group| {
            for (cells, present) in self.batch.columns.iter().zip(&self.batch.present) {
                write_column(&mut group, cells, present.as_deref())?;
            }
            group.close().map(|_| ())
        });
        written.map_err(|error| ResultsError::parquet("write", &self.path, error))?;
        self.rows += self.batch.len() as u64;
        self.batch.clear();
        Ok(())
    }

    /// Finishes the file and flushes it to disk. Returns its record for the manifest.
    ///
    /// # Errors
    /// Returns an error if the remaining rows cannot be written.
    pub fn finish(mut self) -> Result<TableRecord, ResultsError> {
        self.flush()?;
        self.file.finish().map_err(|error| ResultsError::parquet("write", &self.path, error))?;
        let file = self.file.inner();
        file.inner().sync_all().map_err(|source| ResultsError::io("write", &self.path, source))?;
        let name = self.batch.table.name.to_owned();
        Ok(TableRecord { name, rows: self.rows, bytes: file.bytes(), hash: Some(file.hash()) })
    }
}

fn write_column(
    group: &mut SerializedRowGroupWriter<'_, Hashing<File>>,
    cells: &Cells,
    present: Option<&[bool]>,
) -> ParquetResult<()> {
    match cells {
        Cells::Integer(values) => write_values::<Int64Type>(group, values.iter().copied(), present),
        Cells::Real(values) => write_values::<DoubleType>(group, values.iter().copied(), present),
        Cells::Flag(values) => write_values::<BoolType>(group, values.iter().copied(), present),
        Cells::Text(values) => {
            write_values::<ByteArrayType>(group, values.iter().map(|text| ByteArray::from(text.as_str())), present)
        }
    }
}

fn write_values<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Hashing<File>>,
    values: impl Iterator<Item = T::T>,
    present: Option<&[bool]>,
) -> ParquetResult<()> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("more columns than the schema has".into()));
    };
    match present {
        None => {
            let values: Vec<T::T> = values.collect();
            column.typed::<T>().write_batch(&values, None, None)?;
        }
        Some(present) => {
            let levels: Vec<i16> = present.iter().map(|&present| i16::from(present)).collect();
            let values: Vec<T::T> =
                values.zip(present).filter(|(_, present)| **present).map(|(value, _)| value).collect();
            column.typed::<T>().write_batch(&values, Some(&levels), None)?;
        }
    }
    column.close()
}

/// A reader of one table, by row group.
pub struct TableReader {
    path: PathBuf,
    table: &'static Table,
    file: SerializedFileReader<File>,
    next: usize,
    /// Whether each column is read.
    wanted: Vec<bool>,
}

impl TableReader {
    /// Opens a file and checks that its columns match the table.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or contains another table.
    pub fn open(path: &Path, table: &'static Table) -> Result<TableReader, ResultsError> {
        let file = files::open(path).map_err(|source| ResultsError::io("open", path, source))?;
        TableReader::of(file, path, table)
    }

    /// Opens a file and verifies it against its record in the manifest.
    ///
    /// # Errors
    /// Returns the errors of [`TableReader::open`], and an error if the file is missing or was modified.
    pub fn open_recorded(
        path: &Path,
        table: &'static Table,
        record: &TableRecord,
        verify: bool,
    ) -> Result<TableReader, ResultsError> {
        let mut file = match files::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ResultsError::Changed { path: path.to_owned(), reason: "it is missing".into() });
            }
            file => file.map_err(|source| ResultsError::io("open", path, source))?,
        };
        if verify {
            record.verify(path, &mut file)?;
        }
        TableReader::of(file, path, table)
    }

    fn of(file: File, path: &Path, table: &'static Table) -> Result<TableReader, ResultsError> {
        let file = damage_is_an_error(|| SerializedFileReader::new(file));
        let file = file.map_err(|error| ResultsError::parquet("read", path, error))?;
        let found = file.metadata().file_metadata().schema_descr();
        // Whether a cell may be absent decides how it is read.
        let shape = |field: &Type| {
            let info = field.get_basic_info();
            (info.name().to_owned(), field.get_physical_type(), info.has_repetition().then(|| info.repetition()))
        };
        let names = found.columns().iter().map(|column| shape(column.self_type()));
        let expected = parquet_schema(table).map_err(|error| ResultsError::parquet("read", path, error))?;
        let expected = expected.get_fields().iter().map(|field| shape(field));
        if !names.eq(expected) {
            let reason = format!("its columns are not those of the table {}", table.name);
            return Err(ResultsError::Table { doing: "read", path: path.to_owned(), reason });
        }
        let wanted = vec![true; table.columns.len()];
        Ok(TableReader { path: path.to_owned(), table, file, next: 0, wanted })
    }

    /// Restricts reading to these columns; the others have no cells.
    #[must_use]
    pub fn only(mut self, columns: &[&str]) -> TableReader {
        self.wanted = self.table.columns.iter().map(|column| columns.contains(&column.name)).collect();
        self
    }

    /// Returns the number of rows in the file.
    #[must_use]
    pub fn rows(&self) -> u64 {
        u64::try_from(self.file.metadata().file_metadata().num_rows()).unwrap_or(0)
    }

    fn read_group(&self, number: usize) -> ParquetResult<Batch> {
        let group = self.file.get_row_group(number)?;
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        // None is larger that we have written, and room for all of its rows is made at once.
        if rows > ROWS_PER_GROUP {
            let reason = format!("a row group has {rows} rows, the limit is {ROWS_PER_GROUP}");
            return Err(ParquetError::General(reason));
        }
        let mut batch = Batch::new(self.table);
        for place in (0..self.table.columns.len()).filter(|&place| self.wanted[place]) {
            let reader = group.get_column_reader(place)?;
            let present = &mut batch.present[place];
            match (&mut batch.columns[place], reader) {
                (Cells::Integer(cells), ColumnReader::Int64ColumnReader(mut reader)) => {
                    *cells = read_values(rows, present, |levels, values| {
                        reader.read_records(rows, Some(levels), None, values)
                    })?;
                }
                (Cells::Real(cells), ColumnReader::DoubleColumnReader(mut reader)) => {
                    *cells = read_values(rows, present, |levels, values| {
                        reader.read_records(rows, Some(levels), None, values)
                    })?;
                }
                (Cells::Flag(cells), ColumnReader::BoolColumnReader(mut reader)) => {
                    *cells = read_values(rows, present, |levels, values| {
                        reader.read_records(rows, Some(levels), None, values)
                    })?;
                }
                (Cells::Text(cells), ColumnReader::ByteArrayColumnReader(mut reader)) => {
                    let read: Vec<ByteArray> =
                        read_values(rows, present, |levels, values| read_texts(&mut reader, rows, levels, values))?;
                    // An empty cell has no bytes at all, and asking even for their number would be a panic.
                    let absent = |row: usize| present.as_ref().is_some_and(|present| !present[row]);
                    let text = |(row, bytes): (usize, &ByteArray)| match absent(row) {
                        true => Ok(String::new()),
                        false => bytes.as_utf8().map(str::to_owned),
                    };
                    *cells = read.iter().enumerate().map(text).collect::<ParquetResult<Vec<_>>>()?;
                }
                _ => return Err(ParquetError::General("a column is of another type".into())),
            }
        }
        Ok(batch)
    }
}

/// The library panics at some damage, which results without hashes may have.
fn damage_is_an_error<T>(read: impl FnOnce() -> ParquetResult<T>) -> ParquetResult<T> {
    contained(read).unwrap_or_else(|panic| Err(ParquetError::General(format!("it is damaged: {panic}"))))
}

/// Reads the texts of a row group in parts: a few bytes of a file may stand for long texts in many rows.
fn read_texts(
    reader: &mut ColumnReaderImpl<ByteArrayType>,
    rows: usize,
    levels: &mut Vec<i16>,
    values: &mut Vec<ByteArray>,
) -> ParquetResult<(usize, usize, usize)> {
    let (mut records, mut bytes) = (0, 0);
    while records < rows {
        let before = values.len();
        let (read, _, _) = reader.read_records((rows - records).min(TEXTS_AT_ONCE), Some(levels), None, values)?;
        bytes += values[before..].iter().map(ByteArray::len).sum::<usize>();
        if bytes > TEXT_PER_GROUP {
            let reason = format!("a row group has more than {TEXT_PER_GROUP} bytes of text in a column");
            return Err(ParquetError::General(reason));
        }
        if read == 0 {
            break;
        }
        records += read;
    }
    Ok((records, values.len(), levels.len()))
}

/// Reads a column and assigns its values to the rows in which it is present.
fn read_values<T: Clone + Default>(
    rows: usize,
    present: &mut Option<Vec<bool>>,
    read: impl FnOnce(&mut Vec<i16>, &mut Vec<T>) -> ParquetResult<(usize, usize, usize)>,
) -> ParquetResult<Vec<T>> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    let (records, _, _) = read(&mut levels, &mut values)?;
    if records != rows {
        return Err(ParquetError::General(format!("a column has {records} rows instead of {rows}")));
    }
    let cells = if present.is_some() { levels.len() } else { values.len() };
    if cells != rows {
        return Err(ParquetError::General(format!("a column has {cells} cells instead of {rows}")));
    }
    let Some(present) = present else { return Ok(values) };
    *present = levels.iter().map(|&level| level > 0).collect();
    let mut values = values.into_iter();
    Ok(present.iter().map(|&present| present.then(|| values.next()).flatten().unwrap_or_default()).collect())
}

impl Iterator for TableReader {
    type Item = Result<Batch, ResultsError>;

    fn next(&mut self) -> Option<Result<Batch, ResultsError>> {
        if self.next >= self.file.num_row_groups() {
            return None;
        }
        self.next += 1;
        let group = damage_is_an_error(|| self.read_group(self.next - 1));
        Some(group.map_err(|error| ResultsError::parquet("read", &self.path, error)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::record::{RateRow, schema};
    use parquet::column::writer::ColumnWriter;
    use units::Time;

    fn row(number: u64) -> RateRow {
        let rate = (!number.is_multiple_of(3)).then_some(number * 7);
        RateRow { time: Time::from_picos(number * 1000), flow: (number % 5) as u32, rate, window: None }
    }

    #[test]
    fn what_is_written_is_read_back_over_several_groups() {
        let scratch = tempfile::tempdir().expect("there is room");
        let path = scratch.path().join("rates.parquet");
        let rows: Vec<RateRow> = (0..ROWS_PER_GROUP as u64 * 2 + 17).map(row).collect();
        let mut writer = TableWriter::create(&path, &schema::RATES).expect("it can be created");
        rows.chunks(1000).for_each(|chunk| writer.append(chunk).expect("there is room"));
        let TableRecord { rows: count, bytes: size, hash, .. } = writer.finish().expect("there is room");
        assert_eq!(hash, Some(super::super::hash_of(&std::fs::read(&path).expect("it is there"))));
        assert_eq!(count, rows.len() as u64);
        assert!(size < count * 6, "{size} bytes for {count} rows");
        let mut all = Batch::new(&schema::RATES);
        rows.iter().for_each(|row| all.push(row));
        let mut place = 0;
        for batch in TableReader::open(&path, &schema::RATES).expect("it is there") {
            let batch = batch.expect("it is sound");
            for read in 0..batch.len() {
                for column in 0..4 {
                    assert_eq!(batch.value(read, column), all.value(place, column), "row {place}");
                }
                place += 1;
            }
        }
        assert_eq!(place, rows.len());
    }

    #[test]
    fn columns_that_nobody_wants_are_not_read() {
        let scratch = tempfile::tempdir().expect("there is room");
        let path = scratch.path().join("rates.parquet");
        let mut writer = TableWriter::create(&path, &schema::RATES).expect("it can be created");
        writer.append(&(0..100).map(row).collect::<Vec<_>>()).expect("there is room");
        writer.finish().expect("there is room");
        let mut reader = TableReader::open(&path, &schema::RATES).expect("it is there").only(&["flow", "rate"]);
        let batch = reader.next().expect("one group").expect("it is sound");
        assert_eq!((batch.len(), batch.integers("time").len()), (100, 0));
        assert_eq!(batch.integers("flow")[..6], [0, 1, 2, 3, 4, 0]);
        assert!(!batch.is_present(0, "rate") && batch.is_present(1, "rate"));
    }

    #[test]
    fn an_empty_table_is_a_sound_file() {
        let scratch = tempfile::tempdir().expect("there is room");
        let path = scratch.path().join("drops.parquet");
        let writer = TableWriter::create(&path, &schema::DROPS).expect("it can be created");
        assert_eq!(writer.finish().expect("there is room").rows, 0);
        let mut reader = TableReader::open(&path, &schema::DROPS).expect("it is there");
        assert_eq!(reader.rows(), 0);
        assert!(reader.next().is_none());
        let error = TableReader::open(&path, &schema::LINKS).err().expect("it is another table");
        assert!(error.to_string().contains("not those of the table links"));
    }

    #[test]
    fn a_damaged_file_is_an_error_and_not_a_panic() {
        let scratch = tempfile::tempdir().expect("there is room");
        let path = scratch.path().join("rates.parquet");
        let mut writer = TableWriter::create(&path, &schema::RATES).expect("it can be created");
        writer.append(&(0..2000).map(row).collect::<Vec<_>>()).expect("there is room");
        writer.finish().expect("there is room");
        let whole = std::fs::read(&path).expect("it is there");
        for cut in [0, 3, whole.len() / 2, whole.len() - 1] {
            std::fs::write(&path, &whole[..cut]).expect("there is room");
            assert!(TableReader::open(&path, &schema::RATES).is_err());
        }
    }

    /// A file of one row group with the columns of the table of drops, but other repetitions or longer texts.
    fn forged(path: &Path, repetition: Option<Repetition>, text: &str, rows: usize) {
        let schema = parquet_schema(&schema::DROPS).expect("it is our own");
        let fields = schema.get_fields().iter().map(|field| {
            let info = field.get_basic_info();
            let converted = info.converted_type();
            let builder = Type::primitive_type_builder(info.name(), field.get_physical_type());
            let repetition = repetition.unwrap_or_else(|| info.repetition());
            Arc::new(builder.with_repetition(repetition).with_converted_type(converted).build().expect("a column"))
        });
        let group = Type::group_type_builder("schema").with_fields(fields.collect()).build().expect("a schema");
        let file = File::create(path).expect("there is room");
        let mut writer =
            SerializedFileWriter::new(file, Arc::new(group), Arc::new(properties(&schema::DROPS))).expect("a writer");
        let mut group = writer.next_row_group().expect("a group");
        while let Some(mut column) = group.next_column().expect("a column") {
            let levels = vec![1_i16; rows];
            let levels = Some(&levels[..]);
            let written = match column.untyped() {
                ColumnWriter::Int64ColumnWriter(writer) => writer.write_batch(&vec![1; rows], levels, None),
                ColumnWriter::DoubleColumnWriter(writer) => writer.write_batch(&vec![1.0; rows], levels, None),
                ColumnWriter::BoolColumnWriter(writer) => writer.write_batch(&vec![true; rows], levels, None),
                ColumnWriter::ByteArrayColumnWriter(writer) => {
                    writer.write_batch(&vec![ByteArray::from(text); rows], levels, None)
                }
                _ => panic!("a type that tables do not have"),
            };
            written.expect("there is room");
            column.close().expect("it is whole");
        }
        group.close().expect("it is whole");
        writer.close().expect("it is whole");
    }

    #[test]
    fn columns_that_may_be_absent_where_ours_may_not_are_refused() {
        let scratch = tempfile::tempdir().expect("there is room");
        let path = scratch.path().join("drops.parquet");
        for repetition in [Repetition::OPTIONAL, Repetition::REQUIRED] {
            forged(&path, Some(repetition), "x", 3);
            let own = parquet_schema(&schema::DROPS).expect("it is our own");
            let same = own.get_fields().iter().all(|field| field.get_basic_info().repetition() == repetition);
            assert_eq!(TableReader::open(&path, &schema::DROPS).is_ok(), same, "{repetition:?}");
        }
    }

    #[test]
    fn long_texts_of_a_few_bytes_are_refused() {
        let scratch = tempfile::tempdir().expect("there is room");
        let path = scratch.path().join("drops.parquet");
        let read = |path: &Path| TableReader::open(path, &schema::DROPS).expect("its columns").next().expect("a group");
        forged(&path, None, "x", 1000);
        assert_eq!(read(&path).expect("it is sound").len(), 1000);
        forged(&path, None, &"x".repeat(1 << 19), 400);
        assert!(std::fs::metadata(&path).expect("it is there").len() < 4 << 20);
        let error = read(&path).expect_err("200 MB of text").to_string();
        assert!(error.contains("bytes of text in a column"), "{error}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_said_to_be_full() {
        let mut writer = TableWriter::create(Path::new("/dev/full"), &schema::RATES).expect("it opens");
        let error =
            writer.append(&(0..200_000).map(row).collect::<Vec<_>>()).and_then(|()| writer.finish().map(|_| ()));
        let error = error.expect_err("nothing fits");
        assert!(error.is_full_disk(), "{error}");
        assert!(error.to_string().contains("free some space"));
    }
}
