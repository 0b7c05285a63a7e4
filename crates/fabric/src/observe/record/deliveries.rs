//! What destinations saw of each flow. Of a flow with one frame, as millions are, that takes 16 bytes.

use super::Delivery;
use units::{Span, Time};

/// What was seen of a flow: nothing, one frame, or the place of a whole [`Delivery`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// When the only frame was consumed, in picoseconds.
    at: u64,
    /// How long it took.
    delay: u32,
    /// [`NOTHING`], [`ONE`], or more than that by the place of the delivery.
    more: u32,
}

engine::encoded!(struct Seen { at, delay, more });

const NOTHING: u32 = 0;
const ONE: u32 = 1;

impl Seen {
    /// A frame was consumed. `many` are the deliveries of flows with several.
    #[inline]
    pub(super) fn note(&mut self, many: &mut Vec<Delivery>, now: Time, delay: Span) {
        match (self.more, u32::try_from(delay.as_picos())) {
            (NOTHING, Ok(picos)) => *self = Seen { at: now.as_picos(), delay: picos, more: ONE },
            _ => self.whole(many).note(now, delay),
        }
    }

    /// The delivery, which has a place of its own from now on.
    fn whole<'a>(&mut self, many: &'a mut Vec<Delivery>) -> &'a mut Delivery {
        if self.more <= ONE {
            many.push(self.delivery(&[]));
            *self = Seen { more: many.len() as u32 + ONE, ..Seen::default() };
        }
        &mut many[(self.more - ONE - 1) as usize]
    }

    /// What was seen, in full.
    pub(super) fn delivery(&self, many: &[Delivery]) -> Delivery {
        match self.more {
            NOTHING => Delivery::default(),
            ONE => {
                let mut delivery = Delivery::default();
                delivery.note(Time::from_picos(self.at), Span::from_picos(self.delay.into()));
                delivery
            }
            // The place is forged if there is nothing.
            more => many.get((more - ONE - 1) as usize).copied().unwrap_or_default(),
        }
    }
}

/// What destinations saw, by flow.
#[derive(Clone, Debug, Default)]
pub struct Deliveries {
    seen: Vec<Seen>,
    many: Vec<Delivery>,
}

impl Deliveries {
    /// Whether nothing was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// What was seen of a flow; no frames if that was not recorded.
    #[must_use]
    pub fn get(&self, flow: usize) -> Delivery {
        self.seen.get(flow).map(|seen| seen.delivery(&self.many)).unwrap_or_default()
    }

    /// Adds what was seen of a flow in one shard.
    pub(super) fn add(&mut self, flow: usize, delivery: &Delivery) {
        if delivery.frames == 0 {
            return;
        }
        if self.seen.len() <= flow {
            self.seen.resize(flow + 1, Seen::default());
        }
        let seen = &mut self.seen[flow];
        match (seen.more, delivery.frames) {
            (NOTHING, 1) => seen.note(&mut self.many, delivery.first, delivery.longest),
            _ => seen.whole(&mut self.many).add(delivery),
        }
    }
}

/// In whichever order the shards had them.
impl PartialEq for Deliveries {
    fn eq(&self, other: &Deliveries) -> bool {
        self.seen.len() == other.seen.len() && (0..self.seen.len()).all(|flow| self.get(flow) == other.get(flow))
    }
}

impl Eq for Deliveries {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_are_as_they_were_seen() {
        // The memory of a flow with one frame.
        assert_eq!(size_of::<Seen>(), 16);
        let frame = |at: u64, delay: u64| (Time::from_picos(at), Span::from_picos(delay));
        let flows = [vec![frame(9, 4)], vec![], vec![frame(5, 1 << 40)], vec![frame(5, 2), frame(7, 9), frame(8, 1)]];
        let (mut all, mut parts, mut many) = (Deliveries::default(), Deliveries::default(), Vec::new());
        for (flow, frames) in flows.iter().enumerate() {
            let (mut expected, mut seen) = (Delivery::default(), Seen::default());
            for &(now, delay) in frames {
                expected.note(now, delay);
                seen.note(&mut many, now, delay);
                let mut one = Delivery::default();
                one.note(now, delay);
                parts.add(flow, &one);
            }
            assert_eq!(seen.delivery(&many), expected);
            all.add(flow, &expected);
            assert_eq!((all.get(flow), parts.get(flow)), (expected, expected));
        }
        assert_eq!((all.many.len(), many.len()), (2, 2));
        assert!(all.get(99) == Delivery::default() && Deliveries::default().is_empty() && !all.is_empty());
    }
}
