//! How full the buffers are that a frame meets next.

use crate::build::plan::WaitingRoom;
use crate::machine::frame::{Frame, List, NIL};
use crate::machine::network::{Device, Network};
use crate::machine::switch::occupancy::Occupant;
use crate::observe::probe::Probe;
use units::{Span, Time};

impl<P: Probe> Network<P> {
    /// Returns the fill of the next buffer on a frame's path, in units of 1/65536: the output buffer behind the crossbar,
    /// or, if the link has zero length, the output queue of the next switch. Buffers farther away count as empty.
    pub(crate) fn path_fill(&self, now: Time, switch: u32, class: u8, occupant: &Occupant) -> u32 {
        let state = &self.switches[switch as usize];
        let out = state.first_port + u32::from(occupant.output);
        if state.room == WaitingRoom::Both {
            return self.fill(switch, out, class, 0);
        }
        let port = &self.ports[out as usize];
        if port.neighbour != NIL || port.flight != Span::ZERO {
            return 0;
        }
        let Device::Switch(next) = self.ports[port.peer as usize].device else { return 0 };
        let there = &self.switches[next as usize];
        let outputs = self.plan.tables[there.tables as usize].outputs(there.row, occupant.dst);
        let fill = |&output: &u16| {
            let out = there.first_port + u32::from(output);
            self.fill(next, out, class, self.just_come(now, next, out, class))
        };
        outputs.iter().map(fill).min().unwrap_or(0)
    }

    /// Bytes that have come for an output at this very instant. Whether another node's come before or after a look at
    /// them is a matter of how nodes are numbered, so nobody else may count them. What is behind a crossbar came before
    /// anything of this instant, or after.
    fn just_come(&self, now: Time, switch: u32, out: u32, class: u8) -> u32 {
        let state = &self.switches[switch as usize];
        let late = |list: List| {
            let mine = |frame: &Frame| frame.at == now && state.first_port + u32::from(frame.output) == out;
            list.iter(&self.pool).filter(|(_, frame)| mine(frame)).map(|(_, frame)| u32::from(frame.len)).sum::<u32>()
        };
        match &state.crossbar {
            _ if state.room == WaitingRoom::Both => 0,
            None => late(self.lanes[self.lane(out, class)].queue),
            Some(crossbar) => self.waiting_for(crossbar, state.first_port, out, class).map(late).sum(),
        }
    }

    /// How full the queue of an output is, some of it left out, in parts of 65536 of its room, or of an input's room if
    /// it has none of its own.
    pub(crate) fn fill(&self, switch: u32, out: u32, class: u8, without: u32) -> u32 {
        let kind = &self.plan.switches[self.switches[switch as usize].kind as usize];
        let room = match kind.output_buffer {
            0 => self.rule(out, class).capacity,
            room => room,
        };
        let bytes = u64::from(self.lanes[self.lane(out, class)].bytes - without);
        (bytes * 65_536 / u64::from(room.max(1))).min(u64::from(u32::MAX)) as u32
    }
}
