//! Tables of which a process stores only the entries of its own ports and flows.
//!
//! A whole table is a list. A part of one has a bit for each number, and the entries of those that are set: 1.5 bits for
//! each number that is not kept.

use std::marker::PhantomData;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Sparse<T, List = Vec<T>> {
    /// Of a part: which of 64 numbers are kept, and how many are kept before them. Empty: all are.
    words: Vec<(u64, u32)>,
    entries: List,
    of: PhantomData<T>,
}

impl<T, List: AsRef<[T]>> From<List> for Sparse<T, List> {
    fn from(entries: List) -> Sparse<T, List> {
        Sparse { words: Vec::new(), entries, of: PhantomData }
    }
}

impl<T: Clone, List: AsRef<[T]> + From<Vec<T>>> Sparse<T, List> {
    /// The part of a whole table with those numbers.
    pub(crate) fn part(&self, keep: impl Fn(usize) -> bool) -> Sparse<T, List> {
        debug_assert!(self.words.is_empty(), "parts are taken of the whole");
        let whole = self.entries.as_ref();
        let (mut words, mut entries) = (vec![(0, 0); whole.len().div_ceil(64)], Vec::new());
        for (number, entry) in whole.iter().enumerate() {
            let word = &mut words[number / 64];
            if number.is_multiple_of(64) {
                word.1 = entries.len() as u32;
            }
            if keep(number) {
                word.0 |= 1 << (number % 64);
                entries.push(entry.clone());
            }
        }
        entries.shrink_to_fit();
        Sparse { words, entries: entries.into(), of: PhantomData }
    }
}

impl<T, List: AsRef<[T]>> Sparse<T, List> {
    /// The entry of a number, if it is kept.
    #[inline]
    pub(crate) fn get(&self, number: usize) -> Option<&T> {
        if self.words.is_empty() {
            return self.entries.as_ref().get(number);
        }
        let &(kept, before) = self.words.get(number / 64)?;
        let bit = 1 << (number % 64);
        (kept & bit != 0).then(|| &self.entries.as_ref()[before as usize + (kept & (bit - 1)).count_ones() as usize])
    }

    /// The entries that are kept, in the order of their numbers.
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, T> {
        self.entries.as_ref().iter()
    }
}

impl<T, List: AsRef<[T]>> std::ops::Index<usize> for Sparse<T, List> {
    type Output = T;

    #[inline]
    fn index(&self, number: usize) -> &T {
        if self.words.is_empty() {
            return &self.entries.as_ref()[number];
        }
        self.get(number).expect("a rank is asked about what is its own")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_what_it_keeps_and_nothing_else() {
        let whole: Sparse<u32> = (0..1000).collect::<Vec<_>>().into();
        let keeps = |number: usize| number % 7 == 3 || (128..192).contains(&number);
        let part = whole.part(keeps);
        for number in 0..1000 {
            assert_eq!(whole.get(number), Some(&(number as u32)));
            assert_eq!(part.get(number), whole.get(number).filter(|_| keeps(number)));
        }
        assert_eq!((part[199], part.get(1000), whole.get(1000)), (199, None, None));
        assert!(part.iter().is_sorted() && part.iter().count() < 200);
    }
}
