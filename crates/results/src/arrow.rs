//! The Arrow schema embedded in Parquet files, which gives readers the unit and meaning of each column.
//!
//! Parquet has no metadata per column for this. Arrow does, and readers built on it (pyarrow, pandas, polars) take it
//! from the key `ARROW:schema`: an Arrow schema message in base64. This module writes only that message, so the Arrow
//! crates are not needed. The numbers below are the slots of `Schema.fbs` and `Message.fbs`.

use fabric::record::schema::{Column, Kind, Table};
use flatbuffers::{FlatBufferBuilder, TableFinishedWIPOffset, UnionWIPOffset, VOffsetT, WIPOffset};

type Builder<'b> = FlatBufferBuilder<'b>;
type Offset = WIPOffset<TableFinishedWIPOffset>;

/// Returns the offset of a slot in a flatbuffers table.
const fn slot(number: VOffsetT) -> VOffsetT {
    4 + 2 * number
}

/// Returns the metadata of a column as pairs of key and value.
pub(super) fn notes(column: &Column) -> [(&'static str, &'static str); 2] {
    [("unit", column.unit.symbol()), ("meaning", column.meaning)]
}

/// Returns the value of the key `ARROW:schema`.
pub(super) fn encoded_schema(table: &Table) -> String {
    let mut builder = Builder::new();
    let fields: Vec<Offset> = table.columns.iter().map(|column| field(&mut builder, column)).collect();
    let fields = builder.create_vector(&fields);
    let metadata = key_values(&mut builder, &[("table", table.name), ("meaning", table.meaning)]);
    let start = builder.start_table();
    builder.push_slot_always(slot(1), fields);
    builder.push_slot_always(slot(2), metadata);
    let schema = builder.end_table(start);
    let start = builder.start_table();
    builder.push_slot_always(slot(0), 4i16); // metadata version 5
    builder.push_slot_always(slot(1), 1u8); // the header is a schema
    builder.push_slot_always(slot(2), schema);
    builder.push_slot_always(slot(3), 0i64); // no body follows
    let message = builder.end_table(start);
    builder.finish_minimal(message);
    let mut bytes = builder.finished_data().to_vec();
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    let mut framed = vec![0xff; 4];
    framed.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    framed.append(&mut bytes);
    base64(&framed)
}

fn field(builder: &mut Builder<'_>, column: &Column) -> Offset {
    let name = builder.create_string(column.name);
    let (type_number, type_table) = field_type(builder, column.kind);
    let children = builder.create_vector::<Offset>(&[]);
    let metadata = key_values(builder, &notes(column));
    let start = builder.start_table();
    builder.push_slot_always(slot(0), name);
    builder.push_slot_always(slot(1), column.nullable);
    builder.push_slot_always(slot(2), type_number);
    builder.push_slot_always(slot(3), type_table);
    builder.push_slot_always(slot(5), children);
    builder.push_slot_always(slot(6), metadata);
    builder.end_table(start)
}

/// Returns the type number and the type table of a column in Arrow's union of types.
fn field_type(builder: &mut Builder<'_>, kind: Kind) -> (u8, WIPOffset<UnionWIPOffset>) {
    let start = builder.start_table();
    let number = match kind {
        Kind::Integer => {
            builder.push_slot_always(slot(0), 64i32);
            builder.push_slot_always(slot(1), true);
            2
        }
        Kind::Real => {
            builder.push_slot_always(slot(0), 2i16);
            3
        }
        Kind::Text => 5,
        Kind::Flag => 6,
    };
    (number, builder.end_table(start).as_union_value())
}

type KeyValues<'b> = WIPOffset<flatbuffers::Vector<'b, flatbuffers::ForwardsUOffset<TableFinishedWIPOffset>>>;

fn key_values<'b>(builder: &mut Builder<'b>, pairs: &[(&str, &str)]) -> KeyValues<'b> {
    let mut entries: Vec<Offset> = Vec::with_capacity(pairs.len());
    for (key, value) in pairs {
        let (key, value) = (builder.create_string(key), builder.create_string(value));
        let start = builder.start_table();
        builder.push_slot_always(slot(0), key);
        builder.push_slot_always(slot(1), value);
        entries.push(builder.end_table(start));
    }
    builder.create_vector(&entries)
}

/// Encodes bytes in base64 (RFC 4648).
#[must_use]
pub fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |word, &byte| word << 8 | u32::from(byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::record::schema::TABLES;

    #[test]
    fn base64_as_in_the_standard() {
        let pairs =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE=")];
        for (plain, encoded) in pairs {
            assert_eq!(base64(plain.as_bytes()), encoded);
        }
    }

    #[test]
    fn every_table_has_a_schema_in_whole_words() {
        for table in TABLES {
            let text = encoded_schema(table);
            assert!(text.starts_with("/////"), "{text}");
            assert_eq!(text, encoded_schema(table));
        }
    }
}
