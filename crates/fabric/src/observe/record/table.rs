//! A table by number in which only what is used takes memory: a recorder watches one shard of many, and its ports and
//! flows are scattered over the numbers of the whole network.

use engine::Encode;

/// Entries of a page.
const PAGE: usize = 64;

/// No network has more ports and classes, or flows: a number beyond is damaged.
const MOST_PAGES: usize = 1 << 22;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Table<T> {
    pages: Vec<Option<Box<[T]>>>,
}

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table { pages: Vec::new() }
    }
}

impl<T: Encode> Encode for Table<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        let used = || self.pages.iter().enumerate().filter_map(|(page, entries)| Some((page, entries.as_ref()?)));
        (self.pages.len(), used().count()).encode(out);
        for (page, entries) in used() {
            page.encode(out);
            entries.iter().for_each(|entry| entry.encode(out));
        }
    }

    fn decode(input: &mut &[u8]) -> Option<Table<T>> {
        let (pages, used): (usize, usize) = Encode::decode(input)?;
        if pages > MOST_PAGES {
            return None;
        }
        let mut table = Table { pages: std::iter::repeat_with(|| None).take(pages).collect() };
        for _ in 0..used {
            let page = table.pages.get_mut(usize::decode(input)?)?;
            let entries: Option<Vec<T>> = (0..PAGE).map(|_| T::decode(input)).collect();
            *page = Some(entries?.into());
        }
        Some(table)
    }
}

impl<T: Clone + Default> Table<T> {
    /// The entry of that number; made as the default, if it was not there.
    #[inline]
    pub(super) fn entry(&mut self, number: usize) -> &mut T {
        let page = number / PAGE;
        if self.pages.len() <= page {
            self.pages.resize(page + 1, None);
        }
        &mut self.pages[page].get_or_insert_with(|| vec![T::default(); PAGE].into())[number % PAGE]
    }

    /// The entry of that number, if it or one of its page was ever asked for.
    #[inline]
    pub(super) fn get(&self, number: usize) -> Option<&T> {
        Some(&self.pages.get(number / PAGE)?.as_ref()?[number % PAGE])
    }

    #[inline]
    pub(super) fn get_mut(&mut self, number: usize) -> Option<&mut T> {
        Some(&mut self.pages.get_mut(number / PAGE)?.as_mut()?[number % PAGE])
    }

    /// All that may have been used, ascending.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (usize, &mut T)> {
        let pages = self.pages.iter_mut().enumerate().filter_map(|(page, entries)| Some((page, entries.as_mut()?)));
        pages.flat_map(|(page, entries)| {
            entries.iter_mut().enumerate().map(move |(place, entry)| (page * PAGE + place, entry))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_numbers_take_a_page_each() {
        let mut table: Table<u32> = Table::default();
        for number in [1_000_000, 3, 1_000_001] {
            *table.entry(number) += number as u32;
        }
        assert_eq!((table.get(3), table.get(4), table.get(64), table.get(2_000_000)), (Some(&3), Some(&0), None, None));
        assert_eq!(table.get_mut(1_000_001), Some(&mut 1_000_001));
        let used: Vec<usize> = table.iter_mut().filter(|(_, value)| **value > 0).map(|(number, _)| number).collect();
        assert_eq!(used, [3, 1_000_000, 1_000_001]);
        assert_eq!(table.pages.iter().flatten().count(), 2);
    }
}
