//! Lists in which equal values follow each other.

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// A list with an entry for each of millions of flows, most of them equal to the one before: it takes memory for the others.
/// In a file it is a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runs<T> {
    /// The index after the last of some equal values, and the value.
    runs: Vec<(usize, T)>,
}

impl<T> Default for Runs<T> {
    fn default() -> Runs<T> {
        Runs { runs: Vec::new() }
    }
}

impl<T: PartialEq> Runs<T> {
    fn push(&mut self, value: T) {
        match self.runs.last_mut() {
            Some((end, last)) if *last == value => *end += 1,
            _ => self.runs.push((self.len() + 1, value)),
        }
    }
}

impl<T> Runs<T> {
    /// Returns the number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.runs.last().map_or(0, |(end, _)| *end)
    }

    /// Returns whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Returns a value; `None` if there is no such entry.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&T> {
        self.runs.get(self.runs.partition_point(|(end, _)| *end <= index)).map(|(_, value)| value)
    }

    /// Returns each value.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let starts = [0].into_iter().chain(self.runs.iter().map(|(end, _)| *end));
        self.runs.iter().zip(starts).flat_map(|((end, value), start)| std::iter::repeat_n(value, end - start))
    }
}

impl<T: PartialEq> FromIterator<T> for Runs<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Runs<T> {
        let mut runs = Runs::default();
        values.into_iter().for_each(|value| runs.push(value));
        runs
    }
}

impl<T: Serialize> Serialize for Runs<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de, T: PartialEq + Deserialize<'de>> Deserialize<'de> for Runs<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Runs<T>, D::Error> {
        struct List<T>(PhantomData<T>);

        impl<'de, T: PartialEq + Deserialize<'de>> Visitor<'de> for List<T> {
            type Value = Runs<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Runs<T>, A::Error> {
                let mut runs = Runs::default();
                while let Some(value) = values.next_element()? {
                    runs.push(value);
                }
                Ok(runs)
            }
        }

        deserializer.deserialize_seq(List(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_the_list_that_they_stand_for() {
        let list = [None, None, Some(3), Some(3), None];
        let runs: Runs<Option<u64>> = list.into_iter().collect();
        assert_eq!((runs.runs.len(), runs.len(), runs.is_empty()), (3, 5, false));
        assert_eq!(runs.iter().copied().collect::<Vec<_>>(), list);
        assert_eq!(
            [1, 2, 3, 4, 5].map(|index| runs.get(index).copied()),
            [Some(None), Some(Some(3)), Some(Some(3)), Some(None), None]
        );
        let text = serde_json::to_string(&runs).expect("JSON");
        assert_eq!(text, "[null,null,3,3,null]");
        assert_eq!(serde_json::from_str::<Runs<Option<u64>>>(&text).expect("a list"), runs);
        assert!(serde_json::from_str::<Runs<Option<u64>>>("3").is_err());
        assert_eq!(serde_json::to_string(&Runs::<u32>::default()).expect("JSON"), "[]");
    }
}
