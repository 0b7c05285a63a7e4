//! A table by flow in which each entry takes memory for itself alone: the flows of one shard of many are scattered over
//! millions of numbers, so that a page of them all would be mostly empty.

use engine::Encode;

/// Numbers of a page.
const PAGE: usize = 64;

/// No network has more flows: a number beyond is damaged.
const MOST_PAGES: usize = 1 << 22;

/// The entries of 64 numbers.
#[derive(Clone, Debug)]
struct Page<T> {
    /// The numbers that have an entry.
    kept: u64,
    /// Their entries, in order.
    entries: Vec<T>,
}

impl<T> Default for Page<T> {
    fn default() -> Page<T> {
        Page { kept: 0, entries: Vec::new() }
    }
}

impl<T> Page<T> {
    /// The bit of a number and the place of its entry.
    #[inline]
    fn find(&self, number: usize) -> (u64, usize) {
        let bit = 1 << (number % PAGE);
        (bit, (self.kept & (bit - 1)).count_ones() as usize)
    }

    /// The numbers from `first` on that have an entry.
    fn numbers(kept: u64, first: usize) -> impl Iterator<Item = usize> {
        (first..first + PAGE).filter(move |number| kept >> (number % PAGE) & 1 == 1)
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Scattered<T> {
    pages: Vec<Page<T>>,
}

impl<T> Default for Scattered<T> {
    fn default() -> Scattered<T> {
        Scattered { pages: Vec::new() }
    }
}

impl<T: Default> Scattered<T> {
    /// The entry of that number; made as the default, if it was not there.
    #[inline]
    pub(super) fn entry(&mut self, number: usize) -> &mut T {
        if self.pages.len() <= number / PAGE {
            self.pages.resize_with(number / PAGE + 1, Page::default);
        }
        let page = &mut self.pages[number / PAGE];
        let (bit, place) = page.find(number);
        if page.kept & bit == 0 {
            page.kept |= bit;
            if page.entries.len() == page.entries.capacity() {
                page.entries.reserve_exact(page.entries.len() / 2 + 1);
            }
            page.entries.insert(place, T::default());
        }
        &mut page.entries[place]
    }

    /// Takes the entry of that number out; the default, if there is none.
    pub(super) fn remove(&mut self, number: usize) -> T {
        let Some(page) = self.pages.get_mut(number / PAGE) else { return T::default() };
        let (bit, place) = page.find(number);
        if page.kept & bit == 0 {
            return T::default();
        }
        page.kept &= !bit;
        let entry = page.entries.remove(place);
        if page.entries.is_empty() {
            page.entries = Vec::new();
        }
        entry
    }

    /// All entries, ascending.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (usize, &mut T)> {
        self.pages
            .iter_mut()
            .enumerate()
            .flat_map(|(page, Page { kept, entries })| Page::<T>::numbers(*kept, page * PAGE).zip(entries))
    }

    /// Gives up the table page by page.
    pub(super) fn into_entries(self) -> impl Iterator<Item = (usize, T)> {
        self.pages
            .into_iter()
            .enumerate()
            .flat_map(|(page, Page { kept, entries })| Page::<T>::numbers(kept, page * PAGE).zip(entries))
    }
}

impl<T: Encode> Encode for Scattered<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        let used = || self.pages.iter().enumerate().filter(|(_, page)| page.kept != 0);
        (self.pages.len(), used().count()).encode(out);
        for (number, page) in used() {
            (number, page.kept).encode(out);
            page.entries.iter().for_each(|entry| entry.encode(out));
        }
    }

    fn decode(input: &mut &[u8]) -> Option<Scattered<T>> {
        let (pages, used): (usize, usize) = Encode::decode(input)?;
        if pages > MOST_PAGES {
            return None;
        }
        let mut table = Scattered { pages: std::iter::repeat_with(Page::default).take(pages).collect() };
        for _ in 0..used {
            let (number, kept): (usize, u64) = Encode::decode(input)?;
            let entries: Option<Vec<T>> = (0..kept.count_ones()).map(|_| T::decode(input)).collect();
            *table.pages.get_mut(number)? = Page { kept, entries: entries? };
        }
        Some(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_entry_takes_memory_alone() {
        let mut table: Scattered<u32> = Scattered::default();
        let numbers = [1_000_000, 3, 1_000_063, 1_000_001, 1_000_001];
        numbers.into_iter().for_each(|number| *table.entry(number) += number as u32);
        let all = [(3, 3), (1_000_000, 1_000_000), (1_000_001, 2_000_002), (1_000_063, 1_000_063)];
        assert_eq!(table.iter_mut().map(|(number, value)| (number, *value)).collect::<Vec<_>>(), all);
        assert_eq!(table.pages.iter().map(|page| page.entries.capacity()).sum::<usize>(), 5);
        let read = Scattered::<u32>::from_bytes(&table.to_bytes());
        assert_eq!(read.into_entries().collect::<Vec<_>>(), all);
        assert_eq!([3, 4, 64, 1 << 30, 1_000_001].map(|number| table.remove(number)), [3, 0, 0, 0, 2_000_002]);
        assert_eq!(table.into_entries().collect::<Vec<_>>(), [all[1], all[3]]);
        assert_eq!(Scattered::<u32>::decode(&mut &(MOST_PAGES + 1, 0_usize).to_bytes()[..]).map(|_| ()), None);
    }
}
