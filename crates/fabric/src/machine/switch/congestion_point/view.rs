//! What a congestion point sees of its switch.

use crate::build::plan::{Hold, units};
use crate::machine::network::Network;
use crate::observe::probe::Probe;
use congestion::point::View;
use units::Time;

/// What is counted for a congestion point, by (output, class).
#[derive(Clone, Debug)]
pub(super) struct Sight {
    /// Data frames that wait.
    pub(super) waiting: Vec<u32>,
    /// Since the last start there was something to send that could not go.
    pub(super) blocked: Vec<bool>,
    /// When that last ended.
    pub(super) last_blocked: Vec<Option<Time>>,
    /// By output: when the frame on the wire has left and its input has the room back, where it does.
    pub(super) free: Vec<Option<Time>>,
    /// By output: bytes on the wire so far, overhead included, if some flows have telemetry.
    pub(super) sent: Vec<u64>,
}

units::state!(struct Sight { lists: waiting, blocked, last_blocked, free, sent; });

/// What a congestion point sees.
pub(super) struct Seen<'a, P> {
    pub(super) network: &'a Network<P>,
    pub(super) sight: &'a Sight,
    pub(super) first_port: u32,
    pub(super) switch: u32,
    pub(super) now: Time,
}

impl<P: Probe> Seen<'_, P> {
    fn cell(&self, output: u16, class: u8) -> usize {
        usize::from(output) * self.network.classes + usize::from(class)
    }

    fn port(&self, number: u16) -> u32 {
        self.first_port + u32::from(number)
    }

    fn ends(&self, output: u16) -> bool {
        self.sight.free[usize::from(output)] == Some(self.now)
    }
}

impl<P: Probe> View for Seen<'_, P> {
    fn held(&self, input: u16, class: u8) -> u32 {
        let p = self.port(input);
        self.network.lanes[self.network.lane(p, self.network.rule(p, class).account)].held
    }

    fn full(&self, input: u16, class: u8) -> u32 {
        let rule = self.network.rule(self.port(input), class);
        match rule.hold {
            Hold::Pause { .. } => rule.xoff.saturating_add(1),
            // Full is when the largest frame would not fit.
            Hold::CreditFrame { .. } | Hold::CreditSignal { .. } | Hold::Nothing => {
                let largest = rule.units(self.network.plan.largest_frames[usize::from(class)]);
                (rule.capacity + 1).saturating_sub(largest)
            }
        }
    }

    fn wanted(&self, input: u16, class: u8) -> u128 {
        match &self.network.switches[self.switch as usize].crossbar {
            Some(crossbar) => crossbar.wanted(self.network.classes, usize::from(input), usize::from(class)),
            None => 0,
        }
    }

    fn waiting_bytes(&self, output: u16, class: u8) -> u32 {
        self.network.lanes[self.network.lane(self.port(output), class)].bytes
    }

    fn waiting_frames(&self, output: u16, class: u8) -> u32 {
        self.sight.waiting[self.cell(output, class)]
    }

    fn sending(&self, output: u16, class: u8) -> bool {
        let port = &self.network.ports[self.port(output) as usize];
        port.leaving_len != 0 && port.leaving_class == class
    }

    fn leaving(&self, input: u16, class: u8) -> u32 {
        let p = self.port(input);
        let account = self.network.rule(p, class).account;
        let of_output = |output: u16| {
            let port = &self.network.ports[self.port(output) as usize];
            let rule = self.network.rule(p, port.leaving_class);
            let counts = port.leaving_len != 0 && port.leaving_input == input && rule.account == account;
            if counts && self.ends(output) { rule.units(port.leaving_len) } else { 0 }
        };
        (0..self.sight.free.len() as u16).map(of_output).sum()
    }

    fn ending(&self, output: u16, class: u8) -> bool {
        self.sending(output, class) && self.ends(output)
    }

    fn blocked(&self, output: u16, class: u8) -> bool {
        let p = self.port(output);
        let port = &self.network.ports[p as usize];
        if port.credited >> class & 1 == 0 {
            return port.blocked >> class & 1 == 1;
        }
        // Whether or not the wire is busy: too few credits for the largest frame.
        let gate = &self.network.gates[self.network.lane(p, class)];
        let need = units(port.credit_unit, self.network.plan.largest_frames[usize::from(class)]);
        gate.limit < gate.spent + u64::from(need)
    }

    fn last_blocked(&self, output: u16, class: u8) -> Option<Time> {
        match self.blocked(output, class) {
            true => Some(self.now),
            false => self.sight.last_blocked[self.cell(output, class)],
        }
    }

    fn stopped(&self, input: u16, class: u8) -> bool {
        let p = self.port(input);
        self.network.ports[p as usize].stopped >> self.network.rule(p, class).account & 1 == 1
    }
}
