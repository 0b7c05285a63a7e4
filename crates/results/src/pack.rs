//! Compression of integer columns: division by the common divisor, delta encoding where it is smaller, seven bits per
//! byte, and deflate.
//!
//! A column of samples mostly repeats or grows by a constant, so this takes a byte or less per value, and a browser
//! unpacks millions of values in a fraction of a second.

use super::arrow::base64;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::{Deserialize, Serialize};
use std::io::Write;

/// Description of a packed column, from which a reader unpacks it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackedColumn {
    /// Name of the column.
    pub name: String,
    /// Number of values.
    pub count: usize,
    /// The common divisor, by which the values were divided.
    pub scale: u64,
    /// Whether each value is stored as its difference from the one before it.
    pub delta: bool,
}

/// A packed block of columns in a JSON file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packed {
    /// The columns, in the order of their values in the block.
    pub columns: Vec<PackedColumn>,
    /// The block, compressed with deflate (RFC 1950), in base64.
    pub base64: String,
}

impl Packed {
    /// Packs a single column, named `values`.
    #[must_use]
    pub fn integers(values: &[i64]) -> Packed {
        let mut pack = Pack::default();
        pack.column("values", values);
        let (bytes, columns) = pack.finish();
        Packed { columns, base64: deflated(&bytes) }
    }
}

/// Columns of a block under construction.
#[derive(Debug, Default)]
pub struct Pack {
    bytes: Vec<u8>,
    columns: Vec<PackedColumn>,
}

impl Pack {
    /// Appends a column.
    pub fn column(&mut self, name: &str, values: &[i64]) {
        let scale = values.iter().fold(0u64, |common, value| divisor(common, value.unsigned_abs())).max(1);
        // A scale beyond the signed range divides nothing but zeros and the smallest integer.
        let divided = |value: i64| i64::try_from(scale).map_or(value, |scale| value / scale);
        let plain = values.iter().map(|&value| length(divided(value))).sum::<usize>();
        let mut before = 0;
        let stepped = values
            .iter()
            .map(|&value| {
                let step = divided(value).wrapping_sub(before);
                before = divided(value);
                length(step)
            })
            .sum::<usize>();
        let delta = stepped < plain;
        let mut before = 0;
        for &value in values {
            let value = divided(value);
            push(&mut self.bytes, if delta { value.wrapping_sub(before) } else { value });
            before = value;
        }
        self.columns.push(PackedColumn { name: name.to_owned(), count: values.len(), scale, delta });
    }

    /// Returns the block and the descriptions of its columns.
    #[must_use]
    pub fn finish(self) -> (Vec<u8>, Vec<PackedColumn>) {
        (self.bytes, self.columns)
    }
}

/// Returns the greatest common divisor.
fn divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 && a != 1 {
        (a, b) = (b, a % b);
    }
    a
}

/// Maps small signed numbers to small unsigned numbers.
fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

fn length(value: i64) -> usize {
    (64 - zigzag(value).leading_zeros() as usize).div_ceil(7).max(1)
}

fn push(bytes: &mut Vec<u8>, value: i64) {
    let mut rest = zigzag(value);
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

/// Compresses bytes with deflate (RFC 1950) and encodes them in base64.
#[must_use]
pub fn deflated(bytes: &[u8]) -> String {
    // Three hundredths larger than at the usual level, and made in a third of the time.
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(4));
    // Writing into memory does not fail.
    let packed = encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap_or_default();
    base64(&packed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpack(bytes: &[u8], columns: &[PackedColumn]) -> Vec<Vec<i64>> {
        let mut place = 0;
        let mut next = || {
            let (mut value, mut shift) = (0u64, 0);
            loop {
                let byte = bytes[place];
                place += 1;
                value |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    return (value >> 1) as i64 ^ -((value & 1) as i64);
                }
            }
        };
        let column = |column: &PackedColumn| {
            let mut before = 0i64;
            let value = |_| {
                let read = next();
                before = if column.delta { before.wrapping_add(read) } else { read };
                i64::try_from(column.scale).map_or(before, |scale| before * scale)
            };
            (0..column.count).map(value).collect()
        };
        columns.iter().map(column).collect()
    }

    #[test]
    fn columns_come_back_as_they_were() {
        let times: Vec<i64> = (1..=1000).map(|sample| sample * 60_000_000).collect();
        let given = [
            times,
            vec![],
            vec![0, 0, 0],
            vec![5],
            vec![-7, 3, i64::MAX, 0, -1],
            vec![i64::MIN, 0],
            (0..500).map(|n| n * n % 97 * 12).collect(),
        ];
        let mut pack = Pack::default();
        given.iter().for_each(|column| pack.column("x", column));
        let (bytes, columns) = pack.finish();
        assert_eq!(unpack(&bytes, &columns), given);
        // A thousand equal steps are a thousand bytes, less than that once deflated.
        assert_eq!(columns[0].scale, 60_000_000);
        assert!(columns[0].delta && deflated(&bytes[..1000]).len() < 60);
    }

    #[test]
    fn varints_are_as_long_as_they_say() {
        for value in [0, -1, 1, 63, -64, 64, 8191, 8192, i64::MAX, i64::MIN] {
            let mut bytes = Vec::new();
            push(&mut bytes, value);
            assert_eq!(bytes.len(), length(value), "{value}");
        }
    }
}
