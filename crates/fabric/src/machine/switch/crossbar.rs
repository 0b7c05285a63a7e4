//! Inputs and outputs: switches in which frames wait where they came in.
//!
//! An output that is free looks for an input that has something for it. With input queues the output's wire itself
//! takes the frame; with queues on both sides a column of the crossbar moves it at its own speed. The state is kept
//! so that a choice costs a look at a bit mask, or, in a FIFO, at the frames a bypass may reach.

use crate::build::plan::WaitingRoom;
use crate::describe::spec::{Arbitration, BypassReading};
use crate::machine::frame::{List, NIL};
use crate::machine::network::{Ctx, Device, Network, Switch};
use crate::machine::port::INPUT_QUEUED;
use crate::machine::port::transmit::leaves;
use crate::observe::probe::Probe;
use units::{Bytes, Time, Wire};

/// The most ports a switch with queues at its inputs may have: the width of its masks.
pub(crate) const MAX_PORTS: usize = 128;

/// Who waits for whom in one switch.
#[derive(Clone, Debug)]
pub(crate) struct Crossbar {
    ports: usize,
    /// Virtual output queues: (output, class, input). Empty with input FIFOs, which use the inputs' lanes.
    queues: Vec<List>,
    /// (output, class): inputs with a frame for it.
    from: Vec<u128>,
    /// (output, class, input) frames waiting, for input FIFOs.
    counts: Vec<u32>,
    /// Input: outputs it has a frame for, in any class.
    toward: Vec<u128>,
    /// Input: outputs it is feeding.
    reading: Vec<u8>,
    /// Output: the input whose turn it is.
    turn: Vec<u16>,
    /// Output: the frame on its way through the crossbar.
    moving: Vec<u32>,
    /// Output: the crossbar's clock.
    clocks: Vec<Wire>,
}

units::state!(struct Crossbar { fixed: ports; lists: queues, from, counts, toward, reading, turn, moving; parts: clocks; });

/// A frame an output could take: the input, the frame before it in its list, and the frame.
#[derive(Clone, Copy)]
struct Candidate {
    input: usize,
    before: u32,
    place: u32,
}

impl Crossbar {
    pub(crate) fn new(clocks: Vec<Wire>, classes: usize, fifo: bool) -> Crossbar {
        let ports = clocks.len();
        let cells = ports * classes * ports;
        Crossbar {
            ports,
            queues: if fifo { Vec::new() } else { vec![List::EMPTY; cells] },
            from: vec![0; ports * classes],
            counts: vec![0; cells],
            toward: vec![0; ports],
            reading: vec![0; ports],
            turn: vec![0; ports],
            moving: vec![NIL; ports],
            clocks,
        }
    }

    fn cell(&self, classes: usize, output: usize, class: usize, input: usize) -> usize {
        (output * classes + class) * self.ports + input
    }

    /// Frames on their way through the crossbar.
    pub(crate) fn moving(&self) -> impl Iterator<Item = u32> {
        self.moving.iter().copied().filter(|&place| place != NIL)
    }

    /// All virtual output queues.
    pub(crate) fn queues(&self) -> impl Iterator<Item = List> {
        self.queues.iter().copied()
    }

    /// Outputs for which frames of a class from an input wait.
    pub(crate) fn wanted(&self, classes: usize, input: usize, class: usize) -> u128 {
        let waits = |output: &usize| self.from[output * classes + class] >> input & 1 == 1;
        in_turn(self.toward[input], 0).filter(waits).fold(0, |mask, output| mask | 1 << output)
    }

    fn forget(&mut self, classes: usize, output: usize, class: usize, input: usize) {
        let cell = self.cell(classes, output, class, input);
        self.counts[cell] -= 1;
        if self.counts[cell] == 0 {
            self.from[output * classes + class] &= !(1 << input);
            if (0..classes).all(|class| self.from[output * classes + class] >> input & 1 == 0) {
                self.toward[input] &= !(1 << output);
            }
        }
    }
}

/// The set bits of a mask, from `start` on and round.
fn in_turn(mask: u128, start: u16) -> impl Iterator<Item = usize> {
    let high = mask & (u128::MAX << start);
    let mut parts = [high, mask & !high];
    let mut part = 0;
    std::iter::from_fn(move || {
        while part < 2 {
            let bits = parts[part];
            if bits != 0 {
                parts[part] = bits & (bits - 1);
                return Some(bits.trailing_zeros() as usize);
            }
            part += 1;
        }
        None
    })
}

impl<P: Probe> Network<P> {
    fn crossbar(&self, switch: u32) -> &Crossbar {
        self.switches[switch as usize].crossbar.as_ref().expect("this switch was built with one")
    }

    fn crossbar_mut(&mut self, switch: u32) -> &mut Crossbar {
        self.switches[switch as usize].crossbar.as_mut().expect("this switch was built with one")
    }

    /// A frame waits where it came in until its output takes it.
    pub(crate) fn wait_at_input(&mut self, switch: u32, out: u32, place: u32, ctx: &mut Ctx) {
        let classes = self.classes;
        let frame = &mut self.pool[place];
        frame.forget_overtaken();
        let (input, output, class) = (usize::from(frame.input), usize::from(frame.output), usize::from(frame.class));
        let len = u32::from(frame.len);
        let Switch { kind, crossbar, first_port, .. } = &mut self.switches[switch as usize];
        let kind = &self.plan.switches[*kind as usize];
        let crossbar = crossbar.as_mut().expect("this switch was built with one");
        let cell = crossbar.cell(classes, output, class, input);
        if kind.fifo.is_some() {
            let lane = (*first_port as usize + input) * classes + class;
            self.lanes[lane].queue.push(&mut self.pool, place);
        } else {
            crossbar.queues[cell].push(&mut self.pool, place);
        }
        crossbar.counts[cell] += 1;
        crossbar.from[output * classes + class] |= 1 << input;
        crossbar.toward[input] |= 1 << output;
        if kind.room == WaitingRoom::Both {
            self.kick_stage(out, ctx);
        } else {
            self.lanes[out as usize * classes + class].bytes += len;
            self.ports[out as usize].waiting |= 1 << class;
            self.kick(out, ctx);
        }
    }

    /// The frame an output would take next in a class.
    fn candidate(&self, switch: u32, output: usize, class: u8) -> Option<Candidate> {
        let state = &self.switches[switch as usize];
        let kind = &self.plan.switches[state.kind as usize];
        let crossbar = self.crossbar(switch);
        let inputs = crossbar.from[output * self.classes + class as usize];
        let free = |input: usize| kind.read_ports == 0 || crossbar.reading[input] < kind.read_ports;
        let mut best: Option<(Candidate, Time)> = None;
        for input in in_turn(inputs, crossbar.turn[output]) {
            if !free(input) {
                if kind.arbitration == Arbitration::RoundRobinWaiting {
                    return None;
                }
                continue;
            }
            let Some(found) = self.reachable(switch, output, class, input) else { continue };
            if kind.arbitration != Arbitration::ArrivalOrder {
                return Some(found);
            }
            let at = self.pool[found.place].at;
            if best.is_none_or(|(other, earliest)| (at, input) < (earliest, other.input)) {
                best = Some((found, at));
            }
        }
        best.map(|(found, _)| found)
    }

    /// The first frame for an output that the rules let out of an input's buffer.
    fn reachable(&self, switch: u32, output: usize, class: u8, input: usize) -> Option<Candidate> {
        let state = &self.switches[switch as usize];
        let kind = &self.plan.switches[state.kind as usize];
        let crossbar = self.crossbar(switch);
        let Some((bypass, reading)) = kind.fifo else {
            let place = crossbar.queues[crossbar.cell(self.classes, output, class as usize, input)].head;
            return (place != NIL).then_some(Candidate { input, before: NIL, place });
        };
        let mut before = NIL;
        let queue = self.lanes[self.lane(state.first_port + input as u32, class)].queue;
        for (passed, (place, frame)) in queue.iter(&self.pool).enumerate() {
            if reading == BypassReading::Lookahead && passed > usize::from(bypass) {
                return None;
            }
            if usize::from(frame.output) == output {
                return Some(Candidate { input, before, place });
            }
            if reading == BypassReading::PerPacket && frame.overtaken() >= bypass {
                return None;
            }
            before = place;
        }
        None
    }

    /// Takes a candidate out of its buffer; its input is busy until [`Network::input_done`].
    fn take_candidate(&mut self, switch: u32, output: usize, class: u8, found: Candidate, ctx: &mut Ctx) {
        let classes = self.classes;
        let Switch { kind, crossbar, first_port, .. } = &mut self.switches[switch as usize];
        let first_port = *first_port;
        let fifo = self.plan.switches[*kind as usize].fifo;
        let crossbar = crossbar.as_mut().expect("this switch was built with one");
        let Candidate { input, before, place } = found;
        crossbar.reading[input] += 1;
        crossbar.turn[output] = ((input + 1) % crossbar.ports) as u16;
        if fifo.is_some() {
            let lane = (first_port as usize + input) * classes + class as usize;
            let mut older = self.lanes[lane].queue.head;
            while older != place {
                let frame = &mut self.pool[older];
                frame.overtake();
                older = frame.next;
            }
            self.lanes[lane].queue.take(&mut self.pool, before, place);
        } else {
            let cell = crossbar.cell(classes, output, class as usize, input);
            crossbar.queues[cell].take(&mut self.pool, before, place);
        }
        crossbar.forget(classes, output, class as usize, input);
        if fifo.is_some() {
            self.expose(switch, first_port + input as u32, class, ctx);
        }
    }

    /// The head of an input FIFO has moved: outputs of the frames now within reach look again.
    fn expose(&mut self, switch: u32, input: u32, class: u8, ctx: &mut Ctx) {
        let state = &self.switches[switch as usize];
        let Some((bypass, reading)) = self.plan.switches[state.kind as usize].fifo else { return };
        let queue = self.lanes[self.lane(input, class)].queue;
        for (passed, (_, frame)) in queue.iter(&self.pool).enumerate() {
            self.kick(state.first_port + u32::from(frame.output), ctx);
            let last = match reading {
                BypassReading::Lookahead => passed >= usize::from(bypass),
                BypassReading::PerPacket => frame.overtaken() >= bypass,
            };
            if last {
                break;
            }
        }
    }

    /// The next frame of a class that an output's wire takes from the inputs.
    pub(crate) fn take_from_inputs(&mut self, p: u32, switch: u32, class: u8, ctx: &mut Ctx) -> Option<u32> {
        let output = usize::from(self.ports[p as usize].number);
        let found = self.candidate(switch, output, class)?;
        let len = self.pool[found.place].len;
        if !self.spend(p, class, len) {
            return None;
        }
        self.take_candidate(switch, output, class, found, ctx);
        let lane = self.lane(p, class);
        self.lanes[lane].bytes -= u32::from(len);
        if self.crossbar(switch).from[output * self.classes + class as usize] == 0 {
            self.ports[p as usize].waiting &= !(1 << class);
        }
        leaves(&mut self.ports[p as usize], &self.pool[found.place]);
        Some(found.place)
    }

    /// Takes every frame of a class out of the virtual output queues of an output. In input FIFOs frames keep their
    /// places and get a new output there; only those for which there is none are taken out.
    pub(crate) fn clear_inputs(&mut self, now: Time, switch: u32, out: u32, class: u8, ctx: &mut Ctx) -> Vec<u32> {
        let output = usize::from(self.ports[out as usize].number);
        let Switch { kind, first_port, room, .. } = self.switches[switch as usize];
        let (fifo, direct) = (self.plan.switches[kind as usize].fifo.is_some(), room == WaitingRoom::Input);
        let cell = output * self.classes + class as usize;
        if direct {
            self.lanes[out as usize * self.classes + class as usize].bytes = 0;
            self.ports[out as usize].waiting &= !(1 << class);
        }
        let mut places = Vec::new();
        for input in in_turn(self.crossbar(switch).from[cell], 0) {
            if fifo {
                self.redirect(now, switch, first_port + input as u32, output, class, &mut places);
                self.expose(switch, first_port + input as u32, class, ctx);
                continue;
            }
            let classes = self.classes;
            let crossbar = self.switches[switch as usize].crossbar.as_mut().expect("this switch was built with one");
            let queue = crossbar.cell(classes, output, class as usize, input);
            let list = std::mem::replace(&mut crossbar.queues[queue], List::EMPTY);
            places.extend(list.iter(&self.pool).map(|(place, _)| place));
            crossbar.counts[queue] = 1;
            crossbar.forget(classes, output, class as usize, input);
        }
        places
    }

    /// Gives the frames of an input FIFO that wait for an output another one.
    fn redirect(&mut self, now: Time, switch: u32, input: u32, output: usize, class: u8, lost: &mut Vec<u32>) {
        let (classes, number) = (self.classes, usize::from(self.ports[input as usize].number));
        let lane = self.lane(input, class);
        let first_port = self.switches[switch as usize].first_port;
        let waiting: Vec<u32> = self.lanes[lane].queue.iter(&self.pool).map(|(place, _)| place).collect();
        let mut before = NIL;
        for place in waiting {
            if usize::from(self.pool[place].output) != output {
                before = place;
                continue;
            }
            let found = self.output_of(switch, place);
            let crossbar = self.switches[switch as usize].crossbar.as_mut().expect("this switch was built with one");
            crossbar.forget(classes, output, class as usize, number);
            match found {
                None => {
                    self.lanes[lane].queue.take(&mut self.pool, before, place);
                    lost.push(place);
                }
                Some(other) => {
                    let cell = crossbar.cell(classes, usize::from(other), class as usize, number);
                    crossbar.counts[cell] += 1;
                    crossbar.from[usize::from(other) * classes + class as usize] |= 1 << number;
                    crossbar.toward[number] |= 1 << other;
                    self.pool[place].output = other;
                    let out = first_port + u32::from(other);
                    self.lanes[out as usize * classes + class as usize].bytes += u32::from(self.pool[place].len);
                    self.ports[out as usize].waiting |= 1 << class;
                    if self.probe.wants_causes() {
                        self.note_leave(now, first_port + output as u32, place, false);
                        self.note_join(now, out, place);
                    }
                    before = place;
                }
            }
        }
    }

    /// An input has finished feeding an output: other outputs may take from it.
    pub(crate) fn input_done(&mut self, switch: u32, input: u32, ctx: &mut Ctx) {
        let first_port = self.switches[switch as usize].first_port;
        let both = self.plan.switches[self.switches[switch as usize].kind as usize].room == WaitingRoom::Both;
        let number = (input - first_port) as usize;
        let crossbar = self.crossbar_mut(switch);
        crossbar.reading[number] -= 1;
        for output in in_turn(crossbar.toward[number], 0) {
            if both {
                self.kick_stage(first_port + output as u32, ctx);
            } else {
                self.kick(first_port + output as u32, ctx);
            }
        }
    }

    /// A column of a crossbar is free, or may be.
    pub(crate) fn on_crossbar_column(&mut self, now: Time, p: u32, switch: u32, ctx: &mut Ctx) {
        let output = usize::from(self.ports[p as usize].number);
        let place = std::mem::replace(&mut self.crossbar_mut(switch).moving[output], NIL);
        if place != NIL {
            self.arrive_at_output(now, p, switch, place, ctx);
        }
        let kind = &self.plan.switches[self.switches[switch as usize].kind as usize];
        let room = kind.output_buffer;
        for class in (0..self.classes as u8).rev() {
            let Some(found) = self.candidate(switch, output, class) else { continue };
            let len = self.pool[found.place].len;
            let lane = self.lane(p, class);
            if self.lanes[lane].bytes + u32::from(len) > room {
                continue;
            }
            self.take_candidate(switch, output, class, found, ctx);
            // The room behind the crossbar is taken when the frame sets out.
            self.lanes[lane].bytes += u32::from(len);
            let size = Bytes::new(u64::from(len)) + self.plan.overhead;
            let crossbar = self.crossbar_mut(switch);
            crossbar.moving[output] = found.place;
            let end = now + crossbar.clocks[output].serialise(size);
            ctx.alarms.arm(self.numbers.stage + p, end);
            return;
        }
    }

    /// A frame has come through the crossbar.
    fn arrive_at_output(&mut self, now: Time, p: u32, switch: u32, place: u32, ctx: &mut Ctx) {
        let (class, len, input) = {
            let frame = &mut self.pool[place];
            frame.at = now;
            (frame.class, frame.len, u32::from(frame.input) + self.switches[switch as usize].first_port)
        };
        if self.probe.wants_causes() {
            self.note_leave(now, p, place, true);
        }
        let lane = self.lane(p, class);
        self.lanes[lane].queue.push(&mut self.pool, place);
        self.ports[p as usize].waiting |= 1 << class;
        self.kick(p, ctx);
        if !(self.has_congestion_point(p) && self.show_crossed(now, switch, place, ctx)) {
            self.release(now, input, class, len, ctx);
        }
        self.input_done(switch, input, ctx);
    }

    /// The least a port needs credits for to send anything of a class that waits: its next frame, or, where an output
    /// chooses among inputs, the shortest.
    pub(crate) fn shortest_waiting(&self, p: u32, class: u8) -> u32 {
        self.least_of_inputs(p, class, |lengths| lengths.min())
    }

    /// The least length of a frame that a port could send next in a class: of each input the first frame for it, which no
    /// later one overtakes.
    pub(crate) fn shortest_first(&self, p: u32, class: u8) -> u32 {
        self.least_of_inputs(p, class, |lengths| lengths.next())
    }

    /// The least of what `of_input` chooses from the lengths of frames that wait for a port, in the order of each input.
    fn least_of_inputs(
        &self,
        p: u32,
        class: u8,
        of_input: impl Fn(&mut dyn Iterator<Item = u32>) -> Option<u32>,
    ) -> u32 {
        let port = &self.ports[p as usize];
        let (Device::Switch(switch), true) = (port.device, port.flags & INPUT_QUEUED != 0) else {
            return self.head_len(p, class);
        };
        let (output, first_port) = (port.number, self.switches[switch as usize].first_port);
        let chosen = |list: List| {
            let mine = list.iter(&self.pool).filter(move |(_, frame)| frame.output == output);
            of_input(&mut mine.map(|(_, frame)| u32::from(frame.len)))
        };
        self.waiting_for(self.crossbar(switch), first_port, p, class).filter_map(chosen).min().unwrap_or(0)
    }

    /// The lists in which frames of a class wait for an output, one for each input; in FIFOs there are others among them.
    pub(crate) fn waiting_for<'a>(
        &'a self,
        crossbar: &'a Crossbar,
        first_port: u32,
        out: u32,
        class: u8,
    ) -> impl Iterator<Item = List> + 'a {
        let output = (out - first_port) as usize;
        let list =
            move |input: usize| match crossbar.queues.get(crossbar.cell(self.classes, output, class as usize, input)) {
                Some(&queue) => queue,
                None => self.lanes[self.lane(first_port + input as u32, class)].queue,
            };
        in_turn(crossbar.from[output * self.classes + class as usize], 0).map(list)
    }

    /// Length of the frame an output would take next in a class; 0 if it can take none.
    pub(crate) fn next_input_len(&self, switch: u32, p: u32, class: u8) -> u32 {
        let output = usize::from(self.ports[p as usize].number);
        self.candidate(switch, output, class).map_or(0, |found| u32::from(self.pool[found.place].len))
    }
}

#[cfg(test)]
mod tests {
    use super::in_turn;

    #[test]
    fn bits_come_in_turn_and_round() {
        assert_eq!(in_turn(0b1011, 1).collect::<Vec<_>>(), [1, 3, 0]);
        assert_eq!(in_turn(0b1011, 0).collect::<Vec<_>>(), [0, 1, 3]);
        assert_eq!(in_turn(1 << 127, 127).collect::<Vec<_>>(), [127]);
        assert_eq!(in_turn(0, 5).count(), 0);
    }
}
