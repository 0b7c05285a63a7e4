//! States that exist while they are in use: of all others there is a number.
//!
//! A network has millions of flows, few of which are active at a time. Each has a position that never changes: it orders
//! what happens at one instant. The states themselves are packed, so that they take memory for those that are active.

use std::ops::{Index, IndexMut};
use units::State;

/// Marks a position without a state; the other bits are a note.
const AWAY: u32 = 1 << 31;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Live<T> {
    /// By position: the place in `entries`, or a note.
    places: Vec<u32>,
    entries: Vec<T>,
    /// The position of each entry.
    positions: Vec<u32>,
}

impl<T> Default for Live<T> {
    fn default() -> Live<T> {
        Live { places: Vec::new(), entries: Vec::new(), positions: Vec::new() }
    }
}

impl<T> Live<T> {
    /// How many positions there are.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Adds a position with a state.
    pub(crate) fn push(&mut self, entry: T) {
        self.places.push(0);
        self.wake(self.places.len() as u32 - 1, entry);
    }

    /// Adds a position without one.
    pub(crate) fn push_away(&mut self, note: u32) {
        self.places.push(note | AWAY);
    }

    /// A position gets a state. Returns its place.
    pub(crate) fn wake(&mut self, position: u32, entry: T) -> u32 {
        let place = self.entries.len() as u32;
        self.places[position as usize] = place;
        self.entries.push(entry);
        self.positions.push(position);
        place
    }

    /// The place of the state of a position, until another is given up.
    #[inline]
    pub(crate) fn place(&self, position: u32) -> Option<u32> {
        let place = self.places[position as usize];
        (place & AWAY == 0).then_some(place)
    }

    /// The state at a place.
    #[inline]
    pub(crate) fn at(&mut self, place: u32) -> &mut T {
        &mut self.entries[place as usize]
    }

    /// A position loses its state, if it has one, and gets a note.
    pub(crate) fn retire(&mut self, position: u32, note: u32) -> Option<T> {
        let place = self.places[position as usize];
        if place & AWAY != 0 {
            return None;
        }
        self.places[position as usize] = note | AWAY;
        let entry = self.entries.swap_remove(place as usize);
        self.positions.swap_remove(place as usize);
        if let Some(&moved) = self.positions.get(place as usize) {
            self.places[moved as usize] = place;
        }
        Some(entry)
    }

    /// The note of a position without a state.
    #[inline]
    pub(crate) fn note(&self, position: u32) -> Option<u32> {
        let place = self.places[position as usize];
        (place & AWAY != 0).then_some(place & !AWAY)
    }

    #[inline]
    pub(crate) fn get(&self, position: u32) -> Option<&T> {
        self.entries.get(*self.places.get(position as usize)? as usize)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, position: u32) -> Option<&mut T> {
        self.entries.get_mut(*self.places.get(position as usize)? as usize)
    }

    /// The positions with a state, in order.
    pub(crate) fn positions(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.places).filter(|(_, place)| **place & AWAY == 0).map(|(position, _)| position)
    }

    /// The states there are, in no order.
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, T> {
        self.entries.iter()
    }
}

impl<T> Index<usize> for Live<T> {
    type Output = T;

    #[inline]
    fn index(&self, position: usize) -> &T {
        &self.entries[self.places[position] as usize]
    }
}

impl<T> IndexMut<usize> for Live<T> {
    #[inline]
    fn index_mut(&mut self, position: usize) -> &mut T {
        &mut self.entries[self.places[position] as usize]
    }
}

/// The states in the order of their positions. Those of a saved network have one before it is loaded: see
/// [`Simulation::load`](crate::Simulation::load).
impl<T: State> State for Live<T> {
    fn save(&self, out: &mut Vec<u8>) {
        self.positions().for_each(|position| self[position as usize].save(out));
    }

    fn load(&mut self, input: &mut &[u8]) -> Option<()> {
        let Live { places, entries, .. } = self;
        places.iter().filter(|place| **place & AWAY == 0).try_for_each(|&place| entries[place as usize].load(input))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_keeps_its_state_whatever_becomes_of_others() {
        let mut live = Live::default();
        live.push('a');
        live.push_away(7);
        live.push('c');
        live.push('d');
        assert_eq!((live.len(), live.note(0), live.note(1), live.get(1)), (4, None, Some(7), None));
        assert_eq!(live.retire(0, 3), Some('a'));
        assert_eq!(live.retire(0, 4), None);
        assert_eq!((live[2], live[3], live.note(0)), ('c', 'd', Some(3)));
        live.wake(1, 'b');
        live[3] = 'e';
        let mut all: Vec<char> = live.iter().copied().collect();
        all.sort_unstable();
        assert_eq!((all.as_slice(), live[1], live.get(9)), (&['b', 'c', 'e'][..], 'b', None));
        assert!(live.place(1).is_some_and(|place| *live.at(place) == 'b') && live.place(0).is_none());
        assert_eq!((live.retire(3, 0), live.retire(2, 0), live[1]), (Some('e'), Some('c'), 'b'));
    }
}
