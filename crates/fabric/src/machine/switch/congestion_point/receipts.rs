//! Reliable delivery through a fabric: the first switch keeps a copy of a frame until the last one has it and says so.

use super::CongestionPointState;
use crate::machine::frame::{Content, Frame, Kind, NIL};
use crate::machine::network::{Ctx, Network};
use crate::observe::probe::Probe;
use std::collections::VecDeque;
use units::Time;

impl CongestionPointState {
    /// Whether a copy of a frame is kept here: it came from a host and goes on into the fabric.
    pub(super) fn keeps(&self, frame: &Frame) -> bool {
        let leads = |port: u16| self.to_host.get(usize::from(port)).copied();
        frame.kind == Kind::Data && leads(frame.input) == Some(true) && leads(frame.output) == Some(false)
    }

    /// Whether this is the far side of the fabric for a frame: it came from inside and goes to a host.
    pub(super) fn ends(&self, frame: &Frame) -> bool {
        let leads = |port: u16| self.to_host.get(usize::from(port)).copied();
        frame.kind == Kind::Data && leads(frame.input) == Some(false) && leads(frame.output) == Some(true)
    }

    /// A frame has left its input's buffer; of a flow in `kept` a copy stays, unless its receipt is here already.
    /// Returns whether it does.
    pub(super) fn let_go(&mut self, handle: Option<u32>, kept: Option<u32>, class: u8, len: u16) -> bool {
        if let Some(flow) = kept {
            let early = &mut self.early[flow as usize];
            if *early == 0 {
                self.copies[flow as usize].push_back((handle.unwrap_or(NIL), class, len));
                return true;
            }
            *early -= 1;
        }
        if let (Some(handle), Some(occupancy)) = (handle, &mut self.occupancy) {
            occupancy.leave(handle);
        }
        false
    }

    /// Copies that are kept: the flow and the class of each.
    pub(crate) fn copies(&self) -> impl Iterator<Item = (u32, u8)> {
        let of_flow = |(flow, kept): (usize, &VecDeque<(u32, u8, u16)>)| {
            kept.iter().map(move |&(_, class, _)| (flow as u32, class)).collect::<Vec<_>>()
        };
        self.copies.iter().enumerate().flat_map(of_flow)
    }
}

impl<P: Probe> Network<P> {
    /// Tells the near side of the fabric that the far side has a frame.
    pub(crate) fn send_receipt(&mut self, now: Time, switch: u32, flow: u32, ctx: &mut Ctx) {
        let Some(congestion_point) = &self.switches[switch as usize].congestion_point else { return };
        let (class, size) = congestion_point.notice;
        let mut frame = Frame::saying(Content::Receipt, size, now);
        frame.class = class;
        self.totals.receipts += 1;
        self.totals.control_bytes += u64::from(size);
        self.send_to_source(now, switch, flow, frame, ctx);
    }

    /// A receipt has come to the near side of the fabric: the room of the oldest copy of its flow is free. Returns
    /// whether it was for this switch.
    pub(crate) fn take_receipt(&mut self, now: Time, switch: u32, place: u32, ctx: &mut Ctx) -> bool {
        let Some(output) = self.output_of(switch, place) else { return false };
        let Frame { flow, input, class, len, .. } = self.pool[place];
        let state = &mut self.switches[switch as usize];
        let first_port = state.first_port;
        let Some(congestion_point) = &mut state.congestion_point else { return false };
        if congestion_point.to_host.get(usize::from(output)) != Some(&true) {
            return false;
        }
        // The way to the source is the way its frames came.
        if let Some((handle, class, len)) = congestion_point.copies.get_mut(flow as usize).and_then(VecDeque::pop_front)
        {
            if let Some(occupancy) = congestion_point.occupancy.as_mut().filter(|_| handle != NIL) {
                occupancy.leave(handle);
            }
            self.release(now, first_port + u32::from(output), class, len, ctx);
        } else if let Some(early) = congestion_point.early.get_mut(flow as usize) {
            *early += 1;
        }
        self.release(now, first_port + u32::from(input), class, len, ctx);
        self.pool.release(place);
        true
    }
}
