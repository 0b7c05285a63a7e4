//! A queue with priorities, computed frame by frame without a simulator: the reference for waits at one output.

use std::collections::VecDeque;

/// A frame of the queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// When it comes to the queue, in picoseconds.
    pub(super) arrival: u64,
    /// Its class: a higher one is served first.
    pub(super) class: u8,
    /// When its service begins.
    pub(super) start: u64,
}

/// Serves frames that come in order of arrivals, each for the same time and without interruption: the highest class first, and
/// within a class the first. Returns the order of service.
pub(super) fn serve(frames: &mut [Frame], service: u64) -> Vec<usize> {
    let mut waiting: [VecDeque<usize>; 2] = Default::default();
    let (mut order, mut next, mut now) = (Vec::with_capacity(frames.len()), 0, 0);
    while order.len() < frames.len() {
        if waiting.iter().all(VecDeque::is_empty) {
            now = frames[next].arrival.max(now);
        }
        while next < frames.len() && frames[next].arrival <= now {
            waiting[usize::from(frames[next].class)].push_back(next);
            next += 1;
        }
        let Some(frame) = waiting.iter_mut().rev().find_map(VecDeque::pop_front) else { continue };
        frames[frame].start = now;
        order.push(frame);
        now += service;
    }
    order
}

/// The waits of a frame that was served in some place: the frames on the wire meanwhile, and for how long each.
pub(super) fn waits<'a>(
    frames: &'a [Frame],
    order: &'a [usize],
    place: usize,
    service: u64,
) -> impl Iterator<Item = (usize, u64)> + 'a {
    let arrival = frames[order[place]].arrival;
    let before = order[..place].iter().rev().copied();
    before.take_while(move |&other| frames[other].start + service > arrival).map(move |other| {
        let end = frames[other].start + service;
        (other, end - frames[other].start.max(arrival))
    })
}

#[test]
fn a_frame_waits_for_those_that_are_served_before_it() {
    let frame = |arrival, class| Frame { arrival, class, start: 0 };
    // The second waits for the rest of the first and for all of the third, which overtakes it.
    let mut frames = [frame(100, 0), frame(104, 0), frame(107, 1), frame(200, 0)];
    let order = serve(&mut frames, 10);
    assert_eq!(order, [0, 2, 1, 3]);
    assert_eq!(frames.map(|frame| frame.start), [100, 120, 110, 200]);
    let waited = |place| waits(&frames, &order, place, 10).collect::<Vec<_>>();
    assert_eq!((waited(0), waited(1)), (vec![], vec![(0, 3)]));
    assert_eq!((waited(2), waited(3)), (vec![(2, 10), (0, 6)], vec![]));
}
