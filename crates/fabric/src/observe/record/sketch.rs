//! A sketch of a distribution of whole numbers: how often each came, in bins whose width is a fixed fraction of their
//! numbers. Sketches of parts add up to that of the whole, bit by bit.

/// Bins of numbers between two powers of two, as a power of two.
const BITS: u32 = 7;

/// See the module. Numbers up to 256 are kept as they are. A quantile is at most 1/128 too large, never too small, and
/// never above the largest number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sketch {
    /// Bins that are not empty, in order, and their counts.
    bins: Vec<(u32, u64)>,
    count: u64,
    sum: u128,
    most: u64,
}

engine::encoded!(struct Sketch { bins, count, sum, most });

/// The bin of a number.
fn bin(number: u64) -> u32 {
    let shift = (u64::BITS - number.leading_zeros()).saturating_sub(BITS + 1);
    (shift << BITS) + (number >> shift) as u32
}

/// The least number of a bin. Of a damaged state a bin may be any number.
fn least(bin: u32) -> u64 {
    let shift = (bin >> BITS).saturating_sub(1);
    u64::from(bin - (shift << BITS)).checked_shl(shift).unwrap_or(u64::MAX)
}

impl Sketch {
    /// Counts a number.
    #[inline]
    pub fn note(&mut self, number: u64) {
        self.note_several(number, 1);
    }

    /// Counts a number so many times.
    pub fn note_several(&mut self, number: u64, times: u64) {
        if times == 0 {
            return;
        }
        let bin = bin(number);
        match self.bins.binary_search_by_key(&bin, |&(bin, _)| bin) {
            Ok(place) => self.bins[place].1 += times,
            Err(place) => self.bins.insert(place, (bin, times)),
        }
        self.count += times;
        self.sum += u128::from(number) * u128::from(times);
        self.most = self.most.max(number);
    }

    /// Adds what another one has counted.
    pub fn add(&mut self, other: &Sketch) {
        for &(bin, times) in &other.bins {
            match self.bins.binary_search_by_key(&bin, |&(bin, _)| bin) {
                Ok(place) => self.bins[place].1 += times,
                Err(place) => self.bins.insert(place, (bin, times)),
            }
        }
        self.count += other.count;
        self.sum += other.sum;
        self.most = self.most.max(other.most);
    }

    /// How many numbers were counted.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The largest of them; 0 if there are none.
    #[must_use]
    pub const fn most(&self) -> u64 {
        self.most
    }

    /// Their mean, exactly; 0 if there are none.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.count.max(1) as f64
    }

    /// The number that a fraction of all, in thousandths, do not exceed; `None` if there are none.
    #[must_use]
    pub fn quantile(&self, thousandths: u16) -> Option<u64> {
        let rank = (u128::from(self.count) * u128::from(thousandths)).div_ceil(1000).max(1);
        let mut sum = 0;
        let found = self.bins.iter().find(|&&(_, times)| {
            sum += u128::from(times);
            sum >= rank
        });
        // The end of the bin, which of the last one is the largest number there is.
        found.map(|&(bin, _)| least(bin.saturating_add(1)).wrapping_sub(1).min(self.most))
    }

    /// Its bins in order: their least number, and how many are in each.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64)> {
        self.bins.iter().map(|&(bin, times)| (least(bin), times))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Encode;
    use proptest::prelude::*;

    #[test]
    fn bins_follow_each_other_and_begin_with_single_numbers() {
        for number in (0..5000).chain((1..64).flat_map(|power| [(1_u64 << power) - 1, 1 << power, (1 << power) + 1])) {
            let bin = bin(number);
            assert!(least(bin) <= number && (number < least(bin + 1) || bin == super::bin(u64::MAX)), "{number}");
            assert!(number > 256 || least(bin) == number, "{number}");
            // No bin is wider than the stated part of its numbers.
            assert!((number - least(bin)) as f64 <= number as f64 / 128.0, "{number}");
        }
    }

    #[test]
    fn an_empty_one_has_no_quantiles() {
        let none = Sketch::default();
        assert_eq!((none.quantile(500), none.count(), none.most(), none.mean()), (None, 0, 0, 0.0));
    }

    proptest! {
        #[test]
        fn quantiles_are_within_the_error_and_parts_add_up(
            numbers in prop::collection::vec(0..1_u64 << 50, 1..300),
            split in 0..300_usize,
            thousandths in 1..=1000_u16,
        ) {
            let mut whole = Sketch::default();
            numbers.iter().for_each(|&number| whole.note(number));
            let (left, right) = numbers.split_at(split.min(numbers.len()));
            let mut parts = [left, right].map(|part| {
                let mut sketch = Sketch::default();
                part.iter().for_each(|&number| sketch.note_several(number, 1));
                sketch
            });
            let other = parts[1].clone();
            parts[0].add(&other);
            prop_assert_eq!(&parts[0], &whole);
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            let rank = (numbers.len() * usize::from(thousandths)).div_ceil(1000).max(1);
            let (exact, found) = (sorted[rank - 1], whole.quantile(thousandths).unwrap());
            prop_assert!(found >= exact && found <= whole.most());
            prop_assert!((found - exact) as f64 <= exact as f64 / 128.0, "{} {}", found, exact);
            prop_assert_eq!(whole.bins().map(|(_, times)| times).sum::<u64>(), numbers.len() as u64);
            prop_assert_eq!(Sketch::from_bytes(&whole.to_bytes()), whole);
        }
    }
}
