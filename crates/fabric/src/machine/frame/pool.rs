//! The pool that frames live in, and lists through it.
//!
//! A frame keeps its place in the pool from its creation to its end or to the border of its shard; queues and wires
//! are linked lists through the frames, so nothing is allocated or copied per hop.

use super::Frame;
use engine::Encode;

/// The end of a list.
pub(crate) const NIL: u32 = u32::MAX;

/// All frames of a shard.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    frames: Vec<Frame>,
    free: u32,
    /// Frames alive.
    pub(crate) live: u32,
}

/// Of a frame that is free, only its place in the list of these counts.
impl Encode for Pool {
    fn encode(&self, out: &mut Vec<u8>) {
        let Pool { frames, free, live } = self;
        (*free, *live, frames.len()).encode(out);
        for frame in frames {
            (frame.next, *frame).encode(out);
        }
    }

    fn decode(input: &mut &[u8]) -> Option<Pool> {
        let (free, live): (u32, u32) = Encode::decode(input)?;
        let frames: Vec<(u32, Frame)> = Encode::decode(input)?;
        let frames = frames.into_iter().map(|(next, frame)| Frame { next, ..frame }).collect();
        Some(Pool { frames, free, live })
    }
}

impl Pool {
    pub(crate) fn new() -> Pool {
        Pool { frames: Vec::new(), free: NIL, live: 0 }
    }

    #[inline]
    pub(crate) fn put(&mut self, mut frame: Frame) -> u32 {
        frame.next = NIL;
        self.live += 1;
        if self.free != NIL {
            let place = self.free;
            let slot = &mut self.frames[place as usize];
            self.free = slot.next;
            *slot = frame;
            place
        } else {
            self.frames.push(frame);
            (self.frames.len() - 1) as u32
        }
    }

    /// Takes a frame out and gives its place back.
    #[inline]
    pub(crate) fn take(&mut self, place: u32) -> Frame {
        let frame = self[place];
        self.release(place);
        frame
    }

    /// Whether each place of the pool is in one of these lists, alone, or free, and in one of them only.
    pub(crate) fn is_shared_out(&self, lists: impl Iterator<Item = List>, single: impl Iterator<Item = u32>) -> bool {
        let mut left = vec![true; self.frames.len()];
        let mut used = 0_usize;
        let mut walk = |head: u32, counts: bool| {
            let (mut place, mut last) = (head, NIL);
            while place != NIL {
                let here = left.get_mut(place as usize).filter(|left| **left)?;
                *here = false;
                used += usize::from(counts);
                (last, place) = (place, self.frames[place as usize].next);
            }
            Some(last)
        };
        let mut ends = |list: List| walk(list.head, true).is_some_and(|last| list.is_empty() || last == list.tail);
        let mut sound = lists.into_iter().all(&mut ends);
        sound &= walk(self.free, false).is_some();
        for place in single {
            let here = left.get_mut(place as usize).filter(|left| **left);
            sound &= here.map(|here| *here = false).is_some();
            used += 1;
        }
        sound && left.iter().all(|left| !left) && used == self.live as usize
    }

    /// Gives a frame's place back. The last one given back is the first one used again: it is still in the cache.
    #[inline]
    pub(crate) fn release(&mut self, place: u32) {
        self.frames[place as usize].next = self.free;
        self.free = place;
        self.live -= 1;
    }
}

impl std::ops::Index<u32> for Pool {
    type Output = Frame;
    #[inline]
    fn index(&self, place: u32) -> &Frame {
        &self.frames[place as usize]
    }
}

impl std::ops::IndexMut<u32> for Pool {
    #[inline]
    fn index_mut(&mut self, place: u32) -> &mut Frame {
        &mut self.frames[place as usize]
    }
}

/// A first-in first-out list through the pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    pub(crate) head: u32,
    pub(crate) tail: u32,
}

engine::encoded!(struct List { head, tail });

impl List {
    pub(crate) const EMPTY: List = List { head: NIL, tail: NIL };

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.head == NIL
    }

    #[inline]
    pub(crate) fn push(&mut self, pool: &mut Pool, place: u32) {
        pool[place].next = NIL;
        if self.head == NIL {
            self.head = place;
        } else {
            pool[self.tail].next = place;
        }
        self.tail = place;
    }

    #[inline]
    pub(crate) fn pop(&mut self, pool: &Pool) -> Option<u32> {
        let place = self.head;
        if place == NIL {
            return None;
        }
        self.head = pool[place].next;
        Some(place)
    }

    /// Takes `place` out, which follows `before` (or is the head, if `before` is [`NIL`]).
    pub(crate) fn take(&mut self, pool: &mut Pool, before: u32, place: u32) {
        let next = pool[place].next;
        if before == NIL {
            self.head = next;
        } else {
            pool[before].next = next;
        }
        if next == NIL {
            self.tail = before;
        }
    }

    /// The frames of the list in order.
    pub(crate) fn iter(self, pool: &Pool) -> impl Iterator<Item = (u32, &Frame)> {
        let mut place = self.head;
        std::iter::from_fn(move || {
            let here = (place != NIL).then_some(place)?;
            place = pool[here].next;
            Some((here, &pool[here]))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Content;
    use super::*;
    use units::Time;

    fn frame() -> Frame {
        Frame::saying(Content::Receipt, 64, Time::ZERO)
    }

    #[test]
    fn lists_keep_order_and_give_up_any_member() {
        let mut pool = Pool::new();
        let mut list = List::EMPTY;
        let places: Vec<u32> = (0..4).map(|_| pool.put(frame())).collect();
        places.iter().for_each(|&place| list.push(&mut pool, place));
        list.take(&mut pool, places[2], places[3]);
        list.take(&mut pool, NIL, places[0]);
        assert_eq!(list.iter(&pool).map(|(place, _)| place).collect::<Vec<_>>(), [places[1], places[2]]);
        list.push(&mut pool, places[0]);
        assert_eq!(
            [list.pop(&pool), list.pop(&pool), list.pop(&pool), list.pop(&pool)],
            [Some(places[1]), Some(places[2]), Some(places[0]), None]
        );
    }

    #[test]
    fn places_are_used_again_last_out_first_in() {
        let mut pool = Pool::new();
        let first = pool.put(frame());
        let second = pool.put(frame());
        pool.release(first);
        pool.release(second);
        assert_eq!(pool.put(frame()), second);
        assert_eq!(pool.live, 1);
    }
}
