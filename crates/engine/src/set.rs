//! A set of small numbers that gives up its least member: three levels of bit masks, no sorting.
//!
//! In a network whose links run at one speed, hundreds of alarms fall on the same instant; keeping them in a set
//! costs the same few instructions each, however many there are.

/// Numbers below a bound fixed at the start.
#[derive(Clone, Debug)]
pub(crate) struct NumberSet {
    /// A bit per number.
    fine: Vec<u64>,
    /// A bit per word of `fine` that is not zero.
    middle: Vec<u64>,
    /// A bit per word of `middle` that is not zero.
    coarse: Vec<u64>,
    /// No word of `fine` before this one has a bit set.
    cursor: usize,
}

impl NumberSet {
    pub(crate) fn new(bound: usize) -> NumberSet {
        let words = |bits: usize| vec![0u64; bits.div_ceil(64).max(1)];
        let fine = words(bound);
        let middle = words(fine.len());
        let coarse = words(middle.len());
        NumberSet { fine, middle, coarse, cursor: 0 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.coarse.iter().all(|&word| word == 0)
    }

    /// Adds a number that is not in the set.
    #[inline]
    pub(crate) fn insert(&mut self, number: u32) {
        let word = number as usize >> 6;
        let bits = self.fine[word];
        self.fine[word] = bits | 1 << (number & 63);
        self.cursor = self.cursor.min(word);
        if bits == 0 {
            self.middle[word >> 6] |= 1 << (word & 63);
            self.coarse[word >> 12] |= 1 << (word >> 6 & 63);
        }
    }

    /// Removes and returns the least number.
    pub(crate) fn pop_first(&mut self) -> Option<u32> {
        if self.fine[self.cursor] == 0 {
            self.find_first()?;
        }
        self.pop_near()
    }

    /// Removes and returns the least number, if it is in the same word as the one before.
    #[inline(always)]
    pub(crate) fn pop_near(&mut self) -> Option<u32> {
        let word = self.cursor;
        let bits = self.fine[word];
        if bits == 0 {
            return None;
        }
        let rest = bits & (bits - 1);
        self.fine[word] = rest;
        if rest == 0 {
            self.vacate(word);
        }
        Some((word << 6 | bits.trailing_zeros() as usize) as u32)
    }

    /// Moves the cursor to the first word with a bit set, if there is one.
    fn find_first(&mut self) -> Option<()> {
        let mut middle = self.cursor >> 6;
        if self.middle[middle] == 0 {
            let top = self.coarse.iter().position(|&word| word != 0)?;
            middle = top << 6 | self.coarse[top].trailing_zeros() as usize;
        }
        self.cursor = middle << 6 | self.middle[middle].trailing_zeros() as usize;
        Some(())
    }

    /// Removes a number that is in the set.
    pub(crate) fn remove(&mut self, number: u32) {
        let word = number as usize >> 6;
        self.fine[word] &= !(1 << (number & 63));
        if self.fine[word] == 0 {
            self.vacate(word);
        }
    }

    #[inline]
    fn vacate(&mut self, word: usize) {
        self.middle[word >> 6] &= !(1 << (word & 63));
        if self.middle[word >> 6] == 0 {
            self.coarse[word >> 12] &= !(1 << (word >> 6 & 63));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn behaves_like_an_ordered_set(operations in prop::collection::vec((0u8..3, 0u32..600_000), 1..300)) {
            let mut set = NumberSet::new(600_000);
            let mut model = BTreeSet::new();
            for (what, number) in operations {
                match what {
                    0 if model.insert(number) => set.insert(number),
                    1 if model.remove(&number) => set.remove(number),
                    2 => prop_assert_eq!(set.pop_first(), model.pop_first()),
                    _ => {}
                }
                prop_assert_eq!(set.is_empty(), model.is_empty());
            }
        }
    }
}
