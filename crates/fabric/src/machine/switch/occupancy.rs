//! Who holds a buffer: the frames in each input's buffer, so that one can be drawn with the probability of the room it
//! holds, in a few steps however many there are, and without anything kept per flow.
//!
//! A frame is drawn as hardware would draw it: a random unit of memory, and whatever occupies it. Here, a random frame
//! is taken and accepted with the probability of its units over those of the largest.

use units::Stream;

/// A frame in a buffer, or the copy that is kept of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Occupant {
    pub(crate) flow: u32,
    pub(crate) dst: u32,
    pub(crate) output: u16,
    pub(crate) len: u16,
    handle: u32,
}

engine::encoded!(struct Occupant { flow, dst, output, len, handle });

/// What a handle stands for.
#[derive(Clone, Copy, Debug)]
struct Place {
    cell: u32,
    index: u32,
}

engine::encoded!(struct Place { cell, index });

/// The occupants of a switch's input buffers.
#[derive(Clone, Debug)]
pub(crate) struct Occupancy {
    /// By (input, class).
    cells: Vec<Vec<Occupant>>,
    /// By handle.
    places: Vec<Place>,
    free: Vec<u32>,
    /// By place in the pool: the handle of the frame there.
    of_frame: Vec<u32>,
    /// Units of the largest frame of each class.
    largest: Vec<u32>,
    /// Bytes of a unit.
    unit: u32,
    stream: Stream,
}

units::state!(struct Occupancy { fixed: largest, unit; plain: places, free, of_frame, stream; lists: cells; });

impl Occupancy {
    pub(crate) fn new(ports: usize, largest_frames: &[u16], unit: u32, stream: Stream) -> Occupancy {
        let largest = largest_frames.iter().map(|&len| u32::from(len).div_ceil(unit).max(1)).collect();
        let cells = vec![Vec::new(); ports * largest_frames.len()];
        Occupancy { cells, places: Vec::new(), free: Vec::new(), of_frame: Vec::new(), largest, unit, stream }
    }

    /// A frame at a place of the pool comes into a buffer.
    pub(crate) fn enter(&mut self, cell: usize, place: u32, flow: u32, dst: u32, output: u16, len: u16) {
        let handle = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place { cell: 0, index: 0 });
            self.places.len() as u32 - 1
        });
        self.places[handle as usize] = Place { cell: cell as u32, index: self.cells[cell].len() as u32 };
        self.cells[cell].push(Occupant { flow, dst, output, len, handle });
        let place = place as usize;
        if self.of_frame.len() <= place {
            self.of_frame.resize(place + 1, u32::MAX);
        }
        self.of_frame[place] = handle;
    }

    /// The handle of the frame at a place of the pool.
    pub(crate) fn handle(&self, place: u32) -> u32 {
        self.of_frame[place as usize]
    }

    /// The frame has found another output.
    pub(crate) fn redirect(&mut self, place: u32, output: u16) {
        let Place { cell, index } = self.places[self.of_frame[place as usize] as usize];
        self.cells[cell as usize][index as usize].output = output;
    }

    /// The room of a frame, or of its copy, is free.
    pub(crate) fn leave(&mut self, handle: u32) {
        let Place { cell, index } = self.places[handle as usize];
        let occupants = &mut self.cells[cell as usize];
        occupants.swap_remove(index as usize);
        if let Some(moved) = occupants.get(index as usize) {
            self.places[moved.handle as usize].index = index;
        }
        self.free.push(handle);
    }

    /// A frame of that buffer, drawn by the units it holds.
    pub(crate) fn draw(&mut self, cell: usize, class: u8) -> Option<Occupant> {
        let largest = u64::from(self.largest[usize::from(class)]);
        let count = self.cells[cell].len() as u64;
        if count == 0 {
            return None;
        }
        loop {
            let found = self.cells[cell][self.stream.below(count) as usize];
            if self.stream.below(largest) < u64::from(u32::from(found.len).div_ceil(self.unit)) {
                return Some(found);
            }
        }
    }

    /// Bytes held by each flow in a buffer, the flows in order.
    pub(crate) fn by_flow(&self, cell: usize) -> Vec<(u32, u32)> {
        let mut held: Vec<(u32, u32)> = self.cells[cell].iter().map(|it| (it.flow, u32::from(it.len))).collect();
        held.sort_unstable();
        held.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            kept.1 += if same { later.1 } else { 0 };
            same
        });
        held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled() -> Occupancy {
        let mut occupancy = Occupancy::new(2, &[1522], 64, Stream::new(1, 0, "test"));
        // Flow 1 holds three times as much as flow 2, in as many frames; flow 3 leaves again.
        for place in 0..10 {
            occupancy.enter(1, place, 3, 0, 0, 1522);
        }
        for place in 10..20 {
            occupancy.enter(1, place, 1, 0, 0, 960);
            occupancy.enter(1, place + 10, 2, 0, 0, 320);
        }
        (0..10).for_each(|place| occupancy.leave(occupancy.handle(place)));
        occupancy
    }

    #[test]
    fn a_flow_is_drawn_with_the_probability_of_the_room_it_holds() {
        let mut occupancy = filled();
        assert_eq!(occupancy.by_flow(1), [(1, 9600), (2, 3200)]);
        assert!(occupancy.draw(0, 0).is_none() && occupancy.by_flow(0).is_empty());
        let draws = 40_000;
        let first = (0..draws).filter(|_| occupancy.draw(1, 0).is_some_and(|it| it.flow == 1)).count() as f64;
        // Three quarters, within four standard deviations.
        let deviation = (0.75_f64 * 0.25 / f64::from(draws)).sqrt();
        assert!((first / f64::from(draws) - 0.75).abs() < 4.0 * deviation, "{first} of {draws}");
    }

    #[test]
    fn handles_follow_their_frames() {
        let mut occupancy = filled();
        for place in (10..30).rev().step_by(2) {
            occupancy.leave(occupancy.handle(place));
        }
        occupancy.redirect(10, 1);
        for place in (10..30).step_by(2) {
            occupancy.leave(occupancy.handle(place));
        }
        assert!(occupancy.by_flow(1).is_empty());
        assert_eq!(occupancy.free.len(), occupancy.places.len());
    }
}
