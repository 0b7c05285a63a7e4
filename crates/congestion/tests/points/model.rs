//! A switch as a list of frames, and a congestion point that watches it.

use congestion::parameter::{Value, Values};
use congestion::point::{Passage, Request, Surroundings, View};
use congestion::{CongestionPoint, POINTS, Point};
use std::collections::{BTreeMap, BTreeSet};
use units::{Rate, Time};

/// The congestion point of that name, its parameters at their defaults but for these.
pub fn point(name: &str, given: &[(&'static str, Value)]) -> Point {
    let info = POINTS.iter().find(|info| info.name == name).unwrap();
    let values = Values::defaults(info.parameters);
    (info.build)(&given.iter().fold(values, |values, (name, value)| values.with(name, value.clone()))).unwrap()
}

pub fn text(choice: &str) -> Value {
    Value::Choice(choice.to_owned())
}

/// Room of an input for one class.
#[derive(Clone, Copy, Debug)]
pub enum Room {
    /// So many frames.
    Slots(u32),
    /// So many bytes, full when a frame of the second size would not fit.
    Bytes(u32, u32),
}

/// A frame in the model.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    pub id: u32,
    pub input: u16,
    pub output: u16,
    pub class: u8,
    pub len: u16,
    pub since: Time,
    /// On the wire; it holds its room until it has left.
    pub leaving: bool,
}

#[derive(Clone, Debug)]
pub struct Model {
    pub ports: u16,
    pub classes: u8,
    pub room: Room,
    pub now: Time,
    /// In the order in which they came.
    pub frames: Vec<Held>,
    /// Outputs and classes that are or were blocked: the time of the end, if it has ended.
    pub blocked: BTreeMap<(u16, u8), Option<Time>>,
    /// Outputs whose frame on the wire ends at this instant.
    pub ending: BTreeSet<u16>,
}

impl Model {
    pub fn new(ports: u16, classes: u8, room: Room) -> Model {
        Model {
            ports,
            classes,
            room,
            now: Time::ZERO,
            frames: Vec::new(),
            blocked: BTreeMap::new(),
            ending: BTreeSet::new(),
        }
    }

    fn size(&self, len: u16) -> u32 {
        match self.room {
            Room::Slots(_) => 1,
            Room::Bytes(..) => u32::from(len),
        }
    }

    pub fn of_input(&self, input: u16, class: u8) -> impl Iterator<Item = &Held> {
        self.frames.iter().filter(move |frame| (frame.input, frame.class) == (input, class))
    }

    pub fn waiting(&self, output: u16, class: u8) -> impl Iterator<Item = &Held> {
        self.frames.iter().filter(move |frame| (frame.output, frame.class, frame.leaving) == (output, class, false))
    }

    pub fn fits(&self, input: u16, class: u8, len: u16) -> bool {
        let capacity = match self.room {
            Room::Slots(slots) => slots,
            Room::Bytes(bytes, _) => bytes,
        };
        self.held(input, class) + self.size(len) <= capacity
    }

    fn surroundings(&self) -> Surroundings {
        let classes = usize::from(self.classes);
        Surroundings {
            rates: vec![Rate::from_gigabits(8); usize::from(self.ports)],
            classes,
            to_host: vec![true; usize::from(self.ports)],
            largest_frame: vec![2068; classes],
            buffer: vec![8272; classes],
            held_by_inputs: vec![true; classes],
            seed: 1,
            node: 0,
            first_port: 0,
        }
    }
}

impl View for Model {
    fn held(&self, input: u16, class: u8) -> u32 {
        self.of_input(input, class).map(|frame| self.size(frame.len)).sum()
    }

    fn full(&self, _input: u16, _class: u8) -> u32 {
        match self.room {
            Room::Slots(slots) => slots,
            Room::Bytes(bytes, largest) => bytes + 1 - largest,
        }
    }

    fn wanted(&self, input: u16, class: u8) -> u128 {
        self.of_input(input, class).filter(|frame| !frame.leaving).fold(0, |mask, frame| mask | 1 << frame.output)
    }

    fn waiting_bytes(&self, output: u16, class: u8) -> u32 {
        self.waiting(output, class).map(|frame| u32::from(frame.len)).sum()
    }

    fn waiting_frames(&self, output: u16, class: u8) -> u32 {
        self.waiting(output, class).count() as u32
    }

    fn sending(&self, output: u16, class: u8) -> bool {
        self.frames.iter().any(|frame| (frame.output, frame.class, frame.leaving) == (output, class, true))
    }

    fn leaving(&self, input: u16, class: u8) -> u32 {
        let ending = self.of_input(input, class).filter(|frame| frame.leaving && self.ending.contains(&frame.output));
        ending.map(|frame| self.size(frame.len)).sum()
    }

    fn ending(&self, output: u16, class: u8) -> bool {
        self.sending(output, class) && self.ending.contains(&output)
    }

    fn blocked(&self, output: u16, class: u8) -> bool {
        self.blocked.get(&(output, class)) == Some(&None)
    }

    fn last_blocked(&self, output: u16, class: u8) -> Option<Time> {
        self.blocked.get(&(output, class)).map(|ended| ended.unwrap_or(self.now))
    }

    fn stopped(&self, input: u16, class: u8) -> bool {
        self.held(input, class) >= self.full(input, class)
    }
}

/// A model switch and the congestion point in it.
pub struct Watched {
    pub model: Model,
    pub point: Point,
    settle: bool,
    next: u32,
}

impl Watched {
    pub fn new(model: Model, mut point: Point) -> Watched {
        point.attach(&model.surroundings());
        Watched { model, point, settle: false, next: 0 }
    }

    /// With one class and frames of 100 bytes.
    pub fn slots(name: &str, slots: u32, given: &[(&'static str, Value)]) -> Watched {
        Watched::new(Model::new(4, 1, Room::Slots(slots)), point(name, given))
    }

    fn passage(&self, frame: &Held) -> Passage {
        let Held { id, input, output, class, len, since, .. } = *frame;
        Passage { now: self.model.now, since, flow: id, input, output, class, len, tag: 0 }
    }

    /// A frame comes. Returns its number, and whether the point wants to be asked again.
    pub fn arrive_as(&mut self, input: u16, output: u16, class: u8, len: u16) -> (u32, bool) {
        let id = self.next;
        self.next += 1;
        let frame = Held { id, input, output, class, len, since: self.model.now, leaving: false };
        self.model.frames.push(frame);
        let request = self.point.on_arrival(&self.passage(&frame), &self.model);
        assert!(matches!(request, Request::Nothing | Request::Settle), "{request:?}");
        self.settle |= request == Request::Settle;
        (id, request == Request::Settle)
    }

    /// A frame starts to leave. Returns whether it is marked.
    pub fn start(&mut self, id: u32) -> bool {
        let place = self.model.frames.iter().position(|frame| frame.id == id).unwrap();
        self.model.frames[place].leaving = true;
        self.point.on_start(&self.passage(&self.model.frames[place].clone()), &self.model)
    }

    /// What an output is sending has left.
    pub fn finish(&mut self, output: u16) {
        self.model.frames.retain(|frame| !(frame.leaving && frame.output == output));
    }

    /// The instant is over.
    pub fn settle(&mut self) {
        if std::mem::take(&mut self.settle) {
            self.point.on_settled(self.model.now, &self.model);
        }
        self.model.now = Time::from_picos(self.model.now.as_picos() + 1000);
    }

    /// A frame comes and cannot start at once.
    pub fn arrive(&mut self, input: u16, output: u16) -> u32 {
        let (id, _) = self.arrive_as(input, output, 0, 100);
        self.settle();
        id
    }

    /// A frame starts and has left before anything else happens.
    pub fn pass(&mut self, id: u32) -> bool {
        let output = self.model.frames.iter().find(|frame| frame.id == id).unwrap().output;
        let marked = self.start(id);
        self.settle();
        self.finish(output);
        marked
    }
}
