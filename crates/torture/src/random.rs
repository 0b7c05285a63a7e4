//! Random choices, all of one seed: an attack is repeated by its number.

use units::Stream;

/// A stream of random choices.
#[derive(Clone, Debug)]
pub struct Random(Stream);

impl Random {
    /// The choices of one attack of a kind.
    #[must_use]
    pub fn new(seed: u64, attack: u64, kind: &str) -> Random {
        Random(Stream::new(seed, attack, kind))
    }

    /// A whole number below that; 0 if there is none.
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 { 0 } else { self.0.below(n) }
    }

    /// A position in a list of that length.
    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// Whether something of that many per cent happens.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    pub fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        assert!(!all.is_empty(), "there is nothing to choose from");
        &all[self.index(all.len())]
    }

    /// Some of several, at least one, in order.
    pub fn some<T: Clone>(&mut self, all: &[T]) -> Vec<T> {
        let kept: Vec<T> = all.iter().filter(|_| self.percent(50)).cloned().collect();
        if kept.is_empty() { vec![self.of(all).clone()] } else { kept }
    }

    /// A whole number from the first to the second, small ones as likely as large ones.
    pub fn scaled(&mut self, least: u64, most: u64) -> u64 {
        let bits = 64 - most.saturating_sub(least).leading_zeros() as u64;
        let top = 1_u64.checked_shl(self.below(bits + 1) as u32).unwrap_or(u64::MAX);
        least.saturating_add(self.below(top)).min(most)
    }
}
