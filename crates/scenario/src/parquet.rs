//! Lists of flows in Parquet files, read as the rows of a CSV file: both have the same columns and the same errors.

use engine::contained;
use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::errors::Result as ParquetResult;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

/// The octets at the beginning of every Parquet file.
const MAGIC: &[u8] = b"PAR1";
/// Rows that are read at once. With the longest cell, it bounds the memory of rows that few bytes of the file repeat.
const ROWS: usize = 256;
/// The longest cell in bytes: names have at most 200 characters, and `after` lists several.
const LONGEST_CELL: usize = 1 << 16;
/// Beginning of the names of columns in which pandas keeps an index.
const INDEX: &str = "__index_level_";

/// Whether a file is a Parquet file; it is then at its beginning again.
pub(crate) fn is_parquet(file: &mut File) -> std::io::Result<bool> {
    let mut first = Vec::new();
    file.by_ref().take(MAGIC.len() as u64).read_to_end(&mut first)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(first == MAGIC)
}

/// Returns the names of the columns and all rows of a Parquet file as CSV text of at most `most` bytes.
///
/// # Errors
/// Returns the reason for humans.
pub(crate) fn csv(file: File, most: u64) -> Result<String, String> {
    // The crate panics at some encodings that it does not know, and at some damage.
    let read = contained(|| rows(file, most));
    read.unwrap_or_else(|_| Err("it is damaged, or has an encoding that is not supported".into()))
}

fn rows(file: File, most: u64) -> Result<String, String> {
    let wrong = |error: parquet::errors::ParquetError| match error {
        parquet::errors::ParquetError::General(reason) if reason.contains("feature flag") => {
            "its compression is not supported; write it with compression \"snappy\", or without".to_owned()
        }
        error => format!("it is not a Parquet file that can be read: {error}"),
    };
    let file = SerializedFileReader::new(file).map_err(wrong)?;
    let schema = file.metadata().file_metadata().schema_descr_ptr();
    let mut text = String::new();
    let mut columns = Vec::new();
    for (number, column) in schema.columns().iter().enumerate() {
        if column.name().starts_with(INDEX) {
            continue;
        }
        if column.path().parts().len() > 1 || column.max_rep_level() > 0 {
            return Err(format!("its column {} is a list or a structure; only plain columns are read", number + 1));
        }
        push(&mut text, column.name(), columns.is_empty())
            .map_err(|reason| format!("the name of a column {reason}"))?;
        columns.push((number, column.max_def_level()));
    }
    text.push('\n');
    let too_large = || format!("it has more than {most} bytes as text, the limit for such files");
    // A row has at least a separator for each column.
    let claimed = u64::try_from(file.metadata().file_metadata().num_rows()).unwrap_or(0);
    if claimed.saturating_mul(columns.len() as u64) > most {
        return Err(too_large());
    }
    for group in 0..file.num_row_groups() {
        let group = file.get_row_group(group).map_err(wrong)?;
        for &(number, _) in &columns {
            let chunk = group.metadata().column(number);
            let numbers =
                [chunk.data_page_offset(), chunk.dictionary_page_offset().unwrap_or(0), chunk.compressed_size()];
            // The crate does not expect them.
            if numbers.iter().any(|&number| number < 0) {
                return Err("it is damaged: a column begins before the file".into());
            }
        }
        let readers = columns.iter().map(|&(number, level)| Ok((group.get_column_reader(number)?, level)));
        let mut readers = readers.collect::<ParquetResult<Vec<_>>>().map_err(wrong)?;
        let mut left = rows_of(&*group);
        while left > 0 {
            let rows = left.min(ROWS);
            let mut cells = Vec::with_capacity(readers.len());
            for (reader, level) in &mut readers {
                let found = read(reader, rows, *level).map_err(wrong)??;
                if found.len() != rows {
                    return Err(format!("a column has {} rows instead of {rows}", found.len()));
                }
                cells.push(found);
            }
            for row in 0..rows {
                for (number, column) in cells.iter().enumerate() {
                    push(&mut text, &column[row], number == 0).map_err(|reason| format!("a cell {reason}"))?;
                }
                text.push('\n');
                if text.len() as u64 > most {
                    return Err(too_large());
                }
            }
            left -= rows;
        }
    }
    Ok(text)
}

fn rows_of(group: &dyn RowGroupReader) -> usize {
    usize::try_from(group.metadata().num_rows()).unwrap_or(0)
}

/// Adds a cell to a row of CSV text, which has no way to write some characters.
fn push(text: &mut String, cell: &str, first: bool) -> Result<(), &'static str> {
    if cell.contains([',', '"', '\n', '\r']) || first && cell.starts_with('#') {
        return Err("holds a comma, a quote or a line break, or begins with #");
    }
    if !first {
        text.push(',');
    }
    text.push_str(cell);
    Ok(())
}

/// Reads rows of a column as text.
fn read(reader: &mut ColumnReader, rows: usize, level: i16) -> ParquetResult<Result<Vec<String>, String>> {
    use ColumnReader::{
        ByteArrayColumnReader, DoubleColumnReader, FloatColumnReader, Int32ColumnReader, Int64ColumnReader,
    };
    let number = |value: f64| match value.fract() == 0.0 && value.abs() < 1e15 {
        true => Ok((value as i64).to_string()),
        false => Ok(value.to_string()),
    };
    match reader {
        Int32ColumnReader(reader) => shown(
            level,
            |levels, values| reader.read_records(rows, Some(levels), None, values),
            |v: &i32| Ok(v.to_string()),
        ),
        Int64ColumnReader(reader) => shown(
            level,
            |levels, values| reader.read_records(rows, Some(levels), None, values),
            |v: &i64| Ok(v.to_string()),
        ),
        DoubleColumnReader(reader) => {
            shown(level, |levels, values| reader.read_records(rows, Some(levels), None, values), |v: &f64| number(*v))
        }
        FloatColumnReader(reader) => shown(
            level,
            |levels, values| reader.read_records(rows, Some(levels), None, values),
            |v: &f32| number(f64::from(*v)),
        ),
        ByteArrayColumnReader(reader) => {
            let text = |value: &ByteArray| match value.as_utf8() {
                Ok(text) if text.len() > LONGEST_CELL => Err(format!("a cell has more than {LONGEST_CELL} bytes")),
                Ok(text) => Ok(text.to_owned()),
                Err(_) => Err("a cell is not UTF-8 text".to_owned()),
            };
            shown(level, |levels, values| reader.read_records(rows, Some(levels), None, values), text)
        }
        _ => Ok(Err("a column holds neither texts nor numbers".into())),
    }
}

/// Shows the values of a column; those that are missing are empty.
fn shown<T>(
    level: i16,
    read: impl FnOnce(&mut Vec<i16>, &mut Vec<T>) -> ParquetResult<(usize, usize, usize)>,
    show: impl Fn(&T) -> Result<String, String>,
) -> ParquetResult<Result<Vec<String>, String>> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    read(&mut levels, &mut values)?;
    if level == 0 {
        return Ok(values.iter().map(show).collect());
    }
    let mut values = values.iter();
    let cell = |found: &i16| match if *found == level { values.next() } else { None } {
        Some(value) => show(value),
        None => Ok(String::new()),
    };
    Ok(levels.iter().map(cell).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::data_type::{ByteArrayType, DoubleType, Int64Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use std::sync::Arc;

    /// A file of two rows, the second without a class and a start.
    fn written(source: &str) -> File {
        let schema = "message flows { required binary source (UTF8); required binary destination (UTF8); required double \
                      bytes; optional binary class (UTF8); optional int64 __index_level_0__; }";
        let file = tempfile::tempfile().unwrap();
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let properties = Arc::new(WriterProperties::builder().build());
        let mut writer = SerializedFileWriter::new(file.try_clone().unwrap(), schema, properties).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let texts = |texts: &[&str]| texts.iter().map(|&text| ByteArray::from(text)).collect::<Vec<_>>();
        for number in 0..5 {
            let mut column = group.next_column().unwrap().unwrap();
            let written = match number {
                0 => column.typed::<ByteArrayType>().write_batch(&texts(&[source, "h1"]), None, None),
                1 => column.typed::<ByteArrayType>().write_batch(&texts(&["h2", "h0"]), None, None),
                2 => column.typed::<DoubleType>().write_batch(&[1500.0, 2e6], None, None),
                3 => column.typed::<ByteArrayType>().write_batch(&texts(&["data"]), Some(&[1, 0]), None),
                _ => column.typed::<Int64Type>().write_batch(&[7, 8], Some(&[1, 1]), None),
            };
            written.unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
        writer.close().unwrap();
        file
    }

    #[test]
    fn rows_are_those_of_a_csv_file() {
        let mut file = written("h0");
        file.seek(SeekFrom::Start(0)).unwrap();
        assert!(is_parquet(&mut file).unwrap());
        let text = csv(file, 1000).unwrap();
        assert_eq!(text, "source,destination,bytes,class\nh0,h2,1500,data\nh1,h0,2000000,\n");
    }

    #[test]
    fn cells_that_csv_cannot_hold_and_files_that_are_too_large_are_refused() {
        assert!(csv(written("h0,h1"), 1000).unwrap_err().contains("a comma"));
        assert!(csv(written("#h0"), 1000).unwrap_err().contains("begins with #"));
        assert!(csv(written("h0"), 40).unwrap_err().contains("more than 40 bytes"));
        let long = "h".repeat(LONGEST_CELL + 1);
        assert!(csv(written(&long), u64::MAX).unwrap_err().contains("a cell has more than 65536 bytes"));
        // Refused by the number of rows that the file claims, before any is read.
        assert!(csv(written("h0"), 7).unwrap_err().contains("more than 7 bytes"));
    }

    #[test]
    fn damaged_files_are_refused() {
        let mut whole = Vec::new();
        let mut file = written("h0");
        file.seek(SeekFrom::Start(0)).unwrap();
        file.read_to_end(&mut whole).unwrap();
        let mut refused = 0;
        for at in 0..whole.len() {
            for flip in [1_u8, 0x80] {
                let mut damaged = whole.clone();
                damaged[at] ^= flip;
                let mut file = tempfile::tempfile().unwrap();
                std::io::Write::write_all(&mut file, &damaged).unwrap();
                file.seek(SeekFrom::Start(0)).unwrap();
                refused += usize::from(csv(file, 1000).is_err());
            }
        }
        assert!(refused > whole.len() / 4, "{refused} of {}", 2 * whole.len());
    }
}
