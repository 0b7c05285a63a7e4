//! Several congestion points in one switch, each for its own classes: for example ECN for a lossless class and random
//! early drop for a lossy one.

use crate::Point;
use crate::point::{CongestionPoint, Drawn, Fate, Notice, Passage, Passing, Request, Surroundings, Treatment, View};
use units::{Encode, State, Time};

/// Congestion points with the classes that each of them sees, bit n for class n. Frames of other classes are not shown
/// to any.
#[derive(Clone, Debug, PartialEq)]
pub struct ByClass {
    parts: Vec<(u8, Point)>,
    /// Position of the point that last asked to draw frames.
    drawing: usize,
}

impl State for ByClass {
    fn save(&self, out: &mut Vec<u8>) {
        let ByClass { parts, drawing } = self;
        drawing.encode(out);
        parts.iter().for_each(|(_, point)| point.save(out));
    }

    fn load(&mut self, input: &mut &[u8]) -> Option<()> {
        self.drawing = usize::decode(input).filter(|&part| part < self.parts.len().max(1))?;
        self.parts.iter_mut().try_for_each(|(_, point)| point.load(input))
    }
}

impl ByClass {
    /// Combines points. A class that is named twice belongs to the first point that names it.
    #[must_use]
    pub fn new(parts: Vec<(u8, Point)>) -> ByClass {
        ByClass { parts, drawing: 0 }
    }

    /// Returns the points with their classes.
    #[must_use]
    pub fn parts(&self) -> &[(u8, Point)] {
        &self.parts
    }

    /// Replaces the sets of classes: classes are numbered anew.
    pub fn renumber(&mut self, new: impl Fn(u8) -> u8) {
        self.parts.iter_mut().for_each(|(classes, _)| *classes = new(*classes));
    }

    fn of(&mut self, class: u8) -> Option<&mut Point> {
        self.parts.iter_mut().find(|(classes, _)| classes >> class & 1 == 1).map(|(_, point)| point)
    }

    /// Notes who asked to draw frames.
    fn note(&mut self, class: u8, request: Request) -> Request {
        if let Request::Draw { .. } = request {
            self.drawing = self.parts.iter().position(|(classes, _)| classes >> class & 1 == 1).unwrap_or(0);
        }
        request
    }
}

impl CongestionPoint for ByClass {
    fn attach(&mut self, surroundings: &Surroundings) {
        self.parts.iter_mut().for_each(|(_, point)| point.attach(surroundings));
    }

    fn notifies(&self) -> bool {
        self.parts.iter().any(|(_, point)| point.notifies())
    }

    fn judges_joining(&self) -> bool {
        self.parts.iter().any(|(_, point)| point.judges_joining())
    }

    fn draws(&self) -> bool {
        self.parts.iter().any(|(_, point)| point.draws())
    }

    fn asked_from(&self, output: u16) -> Option<u32> {
        let parts = self.parts.iter().map(|(_, point)| point.asked_from(output));
        parts.collect::<Option<Vec<u32>>>()?.into_iter().min()
    }

    fn judges(&self) -> bool {
        self.parts.iter().any(|(_, point)| point.judges())
    }

    fn discards(&self) -> u8 {
        self.parts.iter().fold(0, |all, (classes, point)| all | classes & point.discards())
    }

    fn trims(&self) -> bool {
        self.parts.iter().any(|(_, point)| point.trims())
    }

    fn returns_headers(&self) -> bool {
        self.parts.iter().any(|(_, point)| point.returns_headers())
    }

    fn on_enqueue(&mut self, frame: &Passage, view: &impl View) -> Treatment {
        self.of(frame.class).map_or(Treatment::Pass, |point| point.on_enqueue(frame, view))
    }

    fn on_arrival(&mut self, frame: &Passage, view: &impl View) -> Request {
        let request = self.of(frame.class).map_or(Request::Nothing, |point| point.on_arrival(frame, view));
        self.note(frame.class, request)
    }

    fn on_output(&mut self, frame: &Passage, view: &impl View) -> Request {
        let request = self.of(frame.class).map_or(Request::Nothing, |point| point.on_output(frame, view));
        self.note(frame.class, request)
    }

    fn on_path_probe(&mut self, probe: &mut Passing, view: &impl View) -> Fate {
        self.of(probe.class).map_or(Fate::Pass, |point| point.on_path_probe(probe, view))
    }

    fn on_settled(&mut self, now: Time, view: &impl View) {
        self.parts.iter_mut().for_each(|(_, point)| point.on_settled(now, view));
    }

    fn on_start(&mut self, frame: &Passage, view: &impl View) -> bool {
        self.of(frame.class).is_some_and(|point| point.on_start(frame, view))
    }

    fn on_rerouted(&mut self, view: &impl View) {
        self.parts.iter_mut().for_each(|(_, point)| point.on_rerouted(view));
    }

    fn on_drawn(&mut self, now: Time, drawn: &[Drawn]) -> Option<Notice> {
        self.parts.get_mut(self.drawing).and_then(|(_, point)| point.on_drawn(now, drawn))
    }

    fn deadline(&self) -> Option<Time> {
        self.parts.iter().filter_map(|(_, point)| point.deadline()).min()
    }

    fn on_deadline(&mut self, now: Time, view: &impl View) -> Request {
        // One request at a time: a point whose time has also come states it again, and is asked next.
        let due = |(_, point): &(u8, Point)| point.deadline().is_some_and(|at| at <= now);
        let Some(place) = self.parts.iter().position(due) else { return Request::Nothing };
        let request = self.parts[place].1.on_deadline(now, view);
        if let Request::Draw { .. } = request {
            self.drawing = place;
        }
        request
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::{Value, Values};
    use crate::red::tests::{Queue, frame, surroundings};
    use crate::step::INFO;
    use units::Bytes;

    fn step(threshold: u64) -> Point {
        let values = Values::defaults(INFO.parameters).with("threshold", Value::Size(Bytes::new(threshold)));
        (INFO.build)(&values).unwrap()
    }

    #[test]
    fn each_class_has_the_point_that_names_it_and_others_have_none() {
        let mut point = ByClass::new(vec![(0b001, step(10_000)), (0b110, step(50_000))]);
        point.attach(&surroundings(3));
        let mut treatment = |class: u8, queue: u32| point.on_enqueue(&frame(class), &Queue(queue));
        assert_eq!((treatment(0, 20_000), treatment(1, 20_000)), (Treatment::Mark, Treatment::Pass));
        assert_eq!((treatment(2, 60_000), treatment(3, 60_000)), (Treatment::Mark, Treatment::Pass));
    }

    #[test]
    fn only_named_classes_lose_frames() {
        let drop = (crate::red::DROP.build)(&Values::defaults(crate::red::DROP.parameters)).unwrap();
        assert_eq!(drop.discards(), u8::MAX);
        let point = ByClass::new(vec![(0b001, step(10_000)), (0b100, drop)]);
        assert_eq!((point.discards(), point.trims(), point.judges()), (0b100, false, true));
    }
}
