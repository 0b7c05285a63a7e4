//! Numbers in a window that moves upwards, one bit each. Memory follows the window, and is reused as it moves.

use std::collections::VecDeque;

/// A set of numbers, none below a base that only grows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bitmap {
    /// Number of the first word: numbers below 64 times it were dropped.
    first: u64,
    words: VecDeque<u64>,
}

units::encoded!(struct Bitmap { first, words });

impl Bitmap {
    fn word(&self, index: u64) -> u64 {
        index.checked_sub(self.first).and_then(|at| self.words.get(at as usize)).copied().unwrap_or(0)
    }

    /// Returns whether it contains a number.
    pub(crate) fn contains(&self, number: u64) -> bool {
        self.word(number / 64) >> (number % 64) & 1 == 1
    }

    /// Returns whether it contains no number.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Adds a number that is not below the base; returns whether it is new.
    pub(crate) fn insert(&mut self, number: u64) -> bool {
        if self.words.is_empty() {
            self.first = number / 64;
        }
        while number / 64 < self.first {
            self.first -= 1;
            self.words.push_front(0);
        }
        let at = (number / 64 - self.first) as usize;
        if at >= self.words.len() {
            self.words.resize(at + 1, 0);
        }
        let bit = 1 << (number % 64);
        let new = self.words[at] & bit == 0;
        self.words[at] |= bit;
        new
    }

    /// Takes a number out.
    pub(crate) fn remove(&mut self, number: u64) {
        let at = (number / 64).checked_sub(self.first).map(|at| at as usize);
        if let Some(word) = at.and_then(|at| self.words.get_mut(at)) {
            *word &= !(1 << (number % 64));
        }
    }

    /// Drops all numbers below one.
    pub(crate) fn drop_below(&mut self, number: u64) {
        while self.first < number / 64 && self.words.pop_front().is_some() {
            self.first += 1;
        }
        if self.first == number / 64
            && let Some(word) = self.words.front_mut()
        {
            *word &= u64::MAX << (number % 64);
        }
    }

    /// Returns how many numbers there are from `start` to before `end`.
    pub(crate) fn count(&self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        let (first, last) = (start / 64, (end - 1) / 64);
        let known = self.first + self.words.len() as u64;
        let words = first.max(self.first)..(last + 1).min(known);
        let ones = words.map(|index| {
            let mut word = self.word(index);
            if index == first {
                word &= u64::MAX << (start % 64);
            }
            if index == last {
                word &= u64::MAX >> (63 - (end - 1) % 64);
            }
            u64::from(word.count_ones())
        });
        ones.sum()
    }

    /// Returns the smallest number from `start` on that is not in it.
    pub(crate) fn next_absent(&self, start: u64) -> u64 {
        let mut number = start;
        loop {
            let absent = !self.word(number / 64) >> (number % 64);
            if absent != 0 {
                return number + u64::from(absent.trailing_zeros());
            }
            number = (number / 64 + 1) * 64;
        }
    }

    /// Returns the largest number below `end` that is not in it, but none below `start`.
    pub(crate) fn last_absent(&self, start: u64, end: u64) -> Option<u64> {
        (start..end).rev().find(|&number| !self.contains(number))
    }

    /// Returns the number that has exactly `above` larger ones in it, if there is one.
    pub(crate) fn nth_largest(&self, above: u32) -> Option<u64> {
        let mut left = above;
        for (at, &word) in self.words.iter().enumerate().rev() {
            if word.count_ones() <= left {
                left -= word.count_ones();
                continue;
            }
            let mut word = word;
            for _ in 0..left {
                word ^= 1 << (63 - word.leading_zeros());
            }
            return Some((self.first + at as u64) * 64 + u64::from(63 - word.leading_zeros()));
        }
        None
    }

    /// Returns the first number of the run of consecutive numbers in it that ends at `number`.
    pub(crate) fn run_start(&self, number: u64) -> u64 {
        let mut start = number;
        while start > 0 && self.contains(start - 1) {
            start -= 1;
        }
        start
    }

    #[cfg(test)]
    pub(crate) fn memory(&self) -> usize {
        self.words.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn memory_is_reused_as_the_window_moves() {
        let mut bitmap = Bitmap::default();
        for number in 0..100_000 {
            assert!(bitmap.insert(number + 500));
            bitmap.drop_below(number);
        }
        assert!(bitmap.memory() <= 32, "{}", bitmap.memory());
    }

    proptest! {
        #[test]
        fn it_is_the_set_of_numbers_that_it_seems(
            steps in prop::collection::vec((0..600_u64, 0..4_u8), 1..60), above in 0..40_u32,
        ) {
            let (mut bitmap, mut model, mut base) = (Bitmap::default(), BTreeSet::new(), 0);
            for (ahead, step) in steps {
                if step < 2 {
                    prop_assert_eq!(bitmap.insert(base + ahead), model.insert(base + ahead));
                } else if step == 2 {
                    let number = model.range(base + ahead..).next().copied().unwrap_or(ahead);
                    bitmap.remove(number);
                    model.remove(&number);
                } else {
                    base += ahead / 8;
                    bitmap.drop_below(base);
                    model.retain(|&number| number >= base);
                }
                let at = base + ahead / 2;
                prop_assert_eq!(bitmap.contains(at), model.contains(&at));
                prop_assert_eq!(bitmap.is_empty(), model.is_empty());
                prop_assert_eq!(bitmap.count(base, at), model.range(base..at).count() as u64);
                prop_assert_eq!(bitmap.count(at, base + 700), model.range(at..).count() as u64);
                prop_assert_eq!(bitmap.next_absent(at), (at..).find(|number| !model.contains(number)).unwrap());
                prop_assert_eq!(bitmap.nth_largest(above), model.iter().rev().nth(above as usize).copied());
                if model.contains(&at) {
                    let start = (0..=at).rev().take_while(|number| model.contains(number)).last().unwrap();
                    prop_assert_eq!(bitmap.run_start(at), start);
                }
            }
        }
    }
}
