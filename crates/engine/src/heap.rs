//! A 4-ary heap over numbered entries that can be moved and removed where they are.
//!
//! It holds what lies beyond the wheel's horizon, it is the timer list of a host with many flows, and it is the
//! baseline that the wheel has to beat in the alarm benchmark.

use units::{Encode, Time};

const ABSENT: u32 = u32::MAX;

/// Entries numbered `0..n`, each present at most once, ordered by (time, number).
#[derive(Clone, Debug, Default)]
pub struct IndexedHeap {
    heap: Vec<(u64, u32)>,
    /// Position of each number in `heap`, or [`ABSENT`].
    place: Vec<u32>,
}

impl IndexedHeap {
    /// An empty heap for the numbers `0..entries`; it grows when a larger number is inserted.
    #[must_use]
    pub fn new(entries: usize) -> IndexedHeap {
        IndexedHeap { heap: Vec::new(), place: vec![ABSENT; entries] }
    }

    /// Appends its entries.
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.heap.encode(out);
    }

    /// Reads a heap whose numbers are below `bound` from the front of `input`; `None` if it does not begin with one.
    pub fn decode_below(bound: u64, input: &mut &[u8]) -> Option<IndexedHeap> {
        let entries: Vec<(u64, u32)> = Encode::decode(input)?;
        let mut heap = IndexedHeap::new(0);
        for (time, number) in entries {
            if u64::from(number) >= bound || heap.time_of(number).is_some() {
                return None;
            }
            heap.arm(number, Time::from_picos(time));
        }
        Some(heap)
    }

    /// How many entries are present.
    #[must_use]
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether no entry is present.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// The time of an entry, if it is present.
    #[must_use]
    pub fn time_of(&self, number: u32) -> Option<Time> {
        match self.place.get(number as usize) {
            Some(&place) if place != ABSENT => Some(Time::from_picos(self.heap[place as usize].0)),
            _ => None,
        }
    }

    /// The first entry in the order (time, number).
    #[must_use]
    pub fn peek(&self) -> Option<(Time, u32)> {
        self.heap.first().map(|&(time, number)| (Time::from_picos(time), number))
    }

    /// Inserts an entry, or moves it if it is present.
    pub fn arm(&mut self, number: u32, time: Time) {
        if number as usize >= self.place.len() {
            self.place.resize(number as usize + 1, ABSENT);
        }
        let entry = (time.as_picos(), number);
        let place = self.place[number as usize];
        if place == ABSENT {
            self.heap.push(entry);
            self.rise(self.heap.len() - 1, entry);
        } else {
            self.settle(place as usize, entry);
        }
    }

    /// Removes an entry; returns whether it was present.
    pub fn disarm(&mut self, number: u32) -> bool {
        match self.place.get(number as usize) {
            Some(&place) if place != ABSENT => {
                self.remove_at(place as usize);
                true
            }
            _ => false,
        }
    }

    /// Removes and returns the first entry.
    pub fn pop(&mut self) -> Option<(Time, u32)> {
        let first = self.peek()?;
        self.remove_at(0);
        Some(first)
    }

    fn remove_at(&mut self, place: usize) {
        let (_, number) = self.heap[place];
        self.place[number as usize] = ABSENT;
        let last = self.heap.pop().expect("the heap holds the entry being removed");
        if place < self.heap.len() {
            self.settle(place, last);
        }
    }

    /// Puts `entry` at `place` or wherever the order wants it.
    fn settle(&mut self, place: usize, entry: (u64, u32)) {
        if place > 0 && entry < self.heap[(place - 1) / 4] {
            self.rise(place, entry);
        } else {
            self.sink(place, entry);
        }
    }

    fn rise(&mut self, mut place: usize, entry: (u64, u32)) {
        while place > 0 {
            let parent = (place - 1) / 4;
            if self.heap[parent] <= entry {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, entry);
    }

    fn sink(&mut self, mut place: usize, entry: (u64, u32)) {
        loop {
            let first = 4 * place + 1;
            if first >= self.heap.len() {
                break;
            }
            let mut least = first;
            for child in first + 1..(first + 4).min(self.heap.len()) {
                if self.heap[child] < self.heap[least] {
                    least = child;
                }
            }
            if entry <= self.heap[least] {
                break;
            }
            self.put(place, self.heap[least]);
            place = least;
        }
        self.put(place, entry);
    }

    fn put(&mut self, place: usize, entry: (u64, u32)) {
        self.heap[place] = entry;
        self.place[entry.1 as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn behaves_like_an_ordered_set(operations in prop::collection::vec((0u8..4, 0u32..24, 0u64..50), 1..400)) {
            let mut heap = IndexedHeap::new(8);
            let mut model: BTreeSet<(u64, u32)> = BTreeSet::new();
            for (what, number, time) in operations {
                match what {
                    0 | 1 => {
                        model.retain(|&(_, n)| n != number);
                        model.insert((time, number));
                        heap.arm(number, Time::from_picos(time));
                    }
                    2 => {
                        let before = model.len();
                        model.retain(|&(_, n)| n != number);
                        prop_assert_eq!(heap.disarm(number), model.len() < before);
                    }
                    _ => prop_assert_eq!(heap.pop(), model.pop_first().map(|(t, n)| (Time::from_picos(t), n))),
                }
                prop_assert_eq!(heap.len(), model.len());
                prop_assert_eq!(heap.peek(), model.first().map(|&(t, n)| (Time::from_picos(t), n)));
            }
        }
    }
}
