//! Plain data as bytes: messages from one process of a run to another, and saved simulations.
//!
//! Writer and reader are the same version of the program, so there is no self-description: numbers are little-endian,
//! lists have their length in front. [`encoded!`](crate::encoded) names every field of a type, in its encoding and in its
//! decoding: a field that is added and not named does not compile.

use crate::{Bytes, Rate, Span, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A value that can be written as bytes and read back.
pub trait Encode: Sized {
    /// Appends its bytes.
    fn encode(&self, out: &mut Vec<u8>);

    /// Reads a value from the front of `input`; `None` if it does not begin with one.
    fn decode(input: &mut &[u8]) -> Option<Self>;

    /// Its bytes alone.
    #[must_use]
    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode(&mut out);
        out
    }

    /// Reads a value that is all of `bytes`.
    ///
    /// # Panics
    /// If it is not one. Both ends of a run are the same program, so this is a fault of the program or of its transport.
    #[must_use]
    fn from_bytes(mut bytes: &[u8]) -> Self {
        let value = Self::decode(&mut bytes);
        match value {
            Some(value) if bytes.is_empty() => value,
            _ => panic!("a message between the ranks of this run is damaged"),
        }
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Encode for $number {
            #[inline]
            fn encode(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            #[inline]
            fn decode(input: &mut &[u8]) -> Option<$number> {
                let (bytes, rest) = input.split_first_chunk()?;
                *input = rest;
                Some(<$number>::from_le_bytes(*bytes))
            }
        }
    )*};
}

numbers!(u8, u16, u32, u64, u128, i32, i64, f64);

impl Encode for () {
    fn encode(&self, _out: &mut Vec<u8>) {}

    fn decode(_input: &mut &[u8]) -> Option<()> {
        Some(())
    }
}

impl Encode for bool {
    fn encode(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn decode(input: &mut &[u8]) -> Option<bool> {
        match u8::decode(input)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl<T: Encode> Encode for Option<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.is_some().encode(out);
        self.iter().for_each(|value| value.encode(out));
    }

    fn decode(input: &mut &[u8]) -> Option<Option<T>> {
        Some(if bool::decode(input)? { Some(T::decode(input)?) } else { None })
    }
}

impl<T: Encode> Encode for Box<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        (**self).encode(out);
    }

    fn decode(input: &mut &[u8]) -> Option<Box<T>> {
        T::decode(input).map(Box::new)
    }
}

impl<T: Encode> Encode for Vec<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        (self.len() as u64).encode(out);
        self.iter().for_each(|value| value.encode(out));
    }

    fn decode(input: &mut &[u8]) -> Option<Vec<T>> {
        let length = u64::decode(input)?;
        // A length that cannot be true takes no memory: it grows with what is there.
        let mut list = Vec::with_capacity(usize::try_from(length).ok()?.min(input.len()));
        for _ in 0..length {
            list.push(T::decode(input)?);
        }
        Some(list)
    }
}

impl<T: Encode> Encode for VecDeque<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        (self.len() as u64).encode(out);
        self.iter().for_each(|value| value.encode(out));
    }

    fn decode(input: &mut &[u8]) -> Option<VecDeque<T>> {
        Vec::decode(input).map(VecDeque::from)
    }
}

impl<T: Encode + Ord> Encode for BTreeSet<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        (self.len() as u64).encode(out);
        self.iter().for_each(|value| value.encode(out));
    }

    fn decode(input: &mut &[u8]) -> Option<BTreeSet<T>> {
        Vec::decode(input).map(BTreeSet::from_iter)
    }
}

impl<K: Encode + Ord, V: Encode> Encode for BTreeMap<K, V> {
    fn encode(&self, out: &mut Vec<u8>) {
        (self.len() as u64).encode(out);
        for (key, value) in self {
            key.encode(out);
            value.encode(out);
        }
    }

    fn decode(input: &mut &[u8]) -> Option<BTreeMap<K, V>> {
        Vec::decode(input).map(BTreeMap::from_iter)
    }
}

impl Encode for usize {
    fn encode(&self, out: &mut Vec<u8>) {
        (*self as u64).encode(out);
    }

    fn decode(input: &mut &[u8]) -> Option<usize> {
        usize::try_from(u64::decode(input)?).ok()
    }
}

impl Encode for String {
    fn encode(&self, out: &mut Vec<u8>) {
        (self.len() as u64).encode(out);
        out.extend_from_slice(self.as_bytes());
    }

    fn decode(input: &mut &[u8]) -> Option<String> {
        String::from_utf8(Vec::decode(input)?).ok()
    }
}

impl<A: Encode, B: Encode> Encode for (A, B) {
    fn encode(&self, out: &mut Vec<u8>) {
        let (a, b) = self;
        a.encode(out);
        b.encode(out);
    }

    fn decode(input: &mut &[u8]) -> Option<(A, B)> {
        Some((A::decode(input)?, B::decode(input)?))
    }
}

impl<A: Encode, B: Encode, C: Encode> Encode for (A, B, C) {
    fn encode(&self, out: &mut Vec<u8>) {
        let (a, b, c) = self;
        a.encode(out);
        b.encode(out);
        c.encode(out);
    }

    fn decode(input: &mut &[u8]) -> Option<(A, B, C)> {
        Some((A::decode(input)?, B::decode(input)?, C::decode(input)?))
    }
}

impl<T: Encode + Copy + Default, const N: usize> Encode for [T; N] {
    fn encode(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|value| value.encode(out));
    }

    fn decode(input: &mut &[u8]) -> Option<[T; N]> {
        let mut array = [T::default(); N];
        for place in &mut array {
            *place = T::decode(input)?;
        }
        Some(array)
    }
}

macro_rules! quantities {
    ($($quantity:ident: $to:ident, $from:ident;)*) => {$(
        impl Encode for $quantity {
            #[inline]
            fn encode(&self, out: &mut Vec<u8>) {
                self.$to().encode(out);
            }

            #[inline]
            fn decode(input: &mut &[u8]) -> Option<$quantity> {
                u64::decode(input).map($quantity::$from)
            }
        }
    )*};
}

quantities! {
    Time: as_picos, from_picos;
    Span: as_picos, from_picos;
    Rate: as_bits_per_sec, from_bits_per_sec;
    Bytes: get, new;
}

/// Makes a struct or an enum [`Encode`], field by field. All fields and variants must be named; each variant has a number
/// of its own.
///
/// ```
/// use tailback_units::{Encode, encoded};
///
/// #[derive(Debug, PartialEq)]
/// struct Point {
///     x: u32,
///     y: u32,
/// }
/// encoded!(struct Point { x, y });
///
/// #[derive(Debug, PartialEq)]
/// enum Shape {
///     Nothing,
///     Circle { centre: Point, radius: u64 },
///     Line(Point, Point),
/// }
/// encoded!(enum Shape { 0 = Nothing, 1 = Circle { centre, radius }, 2 = Line(from, to) });
///
/// let circle = Shape::Circle { centre: Point { x: 1, y: 2 }, radius: 3 };
/// assert_eq!(Shape::from_bytes(&circle.to_bytes()), circle);
/// ```
#[macro_export]
macro_rules! encoded {
    (struct $type:ident { $($field:ident),* $(,)? }) => {
        impl $crate::Encode for $type {
            fn encode(&self, out: &mut Vec<u8>) {
                let $type { $($field),* } = self;
                $($crate::Encode::encode($field, out);)*
            }

            fn decode(input: &mut &[u8]) -> Option<$type> {
                $(let $field = $crate::Encode::decode(input)?;)*
                Some($type { $($field),* })
            }
        }
    };
    (enum $type:ident {
        $($number:literal = $variant:ident $({ $($field:ident),* $(,)? })? $(($($item:ident),*))?),* $(,)?
    }) => {
        impl $crate::Encode for $type {
            fn encode(&self, out: &mut Vec<u8>) {
                match self {
                    $($type::$variant $({ $($field),* })? $(($($item),*))? => {
                        out.push($number);
                        $($($crate::Encode::encode($field, out);)*)?
                        $($($crate::Encode::encode($item, out);)*)?
                    })*
                }
            }

            fn decode(input: &mut &[u8]) -> Option<$type> {
                Some(match <u8 as $crate::Encode>::decode(input)? {
                    $($number => {
                        $($(let $field = $crate::Encode::decode(input)?;)*)?
                        $($(let $item = $crate::Encode::decode(input)?;)*)?
                        $type::$variant $({ $($field),* })? $(($($item),*))?
                    })*
                    _ => return None,
                })
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip<T: Encode + PartialEq + std::fmt::Debug>(value: T) {
        let bytes = value.to_bytes();
        assert_eq!(T::from_bytes(&bytes), value);
        for cut in 0..bytes.len() {
            assert_eq!(T::decode(&mut &bytes[..cut]), None, "{cut} of {} bytes", bytes.len());
        }
    }

    #[test]
    fn values_come_back_whole_or_not_at_all() {
        round_trip((1_u8, (2_u16, 3_u32, -4_i64), vec![5_u128, u128::MAX]));
        round_trip(vec![Some("name".to_owned()), None]);
        round_trip((Time::from_picos(7), Span::MAX, (Rate::from_gigabits(400), Bytes::new(9))));
        round_trip([true, false, true]);
        round_trip(-0.5_f64);
        round_trip(VecDeque::from([Some(1_usize), None]));
        round_trip(BTreeMap::from([(1_u8, BTreeSet::from([2_u64, 3]))]));
        round_trip(crate::Stream::new(1, 2, "encode"));
    }

    #[test]
    fn a_length_that_cannot_be_true_is_refused_without_memory() {
        assert_eq!(Vec::<u64>::decode(&mut &u64::MAX.to_bytes()[..]), None);
        assert_eq!(bool::decode(&mut &[2_u8][..]), None);
        assert_eq!(String::decode(&mut &vec![0xff_u8].to_bytes()[..]), None);
    }
}
