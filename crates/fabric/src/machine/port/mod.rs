//! The state of a port: what the hot path touches, kept small and together; what it seldom touches, apart.

pub(crate) mod arbiter;
pub(crate) mod buffer;
pub(crate) mod cable;
pub(crate) mod credit;
pub(crate) mod egress;
pub(crate) mod pause;
pub(crate) mod pfc_watchdog;
pub(crate) mod receive;
pub(crate) mod signal;
pub(crate) mod transmit;

use crate::machine::frame::{List, NIL, Pause};
use crate::machine::network::Device;
use engine::Encode;
use units::{Rate, Span, State, Time, Wire};

/// The cable of this port does not work.
pub(crate) const DOWN: u16 = 1;
/// What this port sends needs credits.
pub(crate) const CREDITS: u16 = 2;
/// What this port sends may be damaged, or is sent in a storm: see [`pfc_watchdog`].
pub(crate) const NOISY: u16 = 4;
/// The far end takes frames by their header.
pub(crate) const CUT_THROUGH: u16 = 8;
/// Frames for this output wait in its own queues, and the room they hold is freed when they have left.
pub(crate) const OUTPUT_QUEUED: u16 = 16;
/// Frames for this output wait at the inputs.
pub(crate) const INPUT_QUEUED: u16 = 32;
/// The port's switch has a congestion point.
pub(crate) const CONGESTION_POINT: u16 = 64;
/// Notices of that congestion point wait for this output.
pub(crate) const NOTICES: u16 = 128;
/// Two tables choose among its classes, and are told of every frame.
pub(crate) const ARBITRATED: u16 = 256;

/// A host's port with flows that a limiter, a window or a pace lets go: what is due happens before the wire chooses.
pub(crate) const TIMED: u16 = 512;

/// Destinations take turns at this output.
pub(crate) const IN_TURN: u16 = 1024;
/// Where the room of a frame that has left is more than released: somebody keeps account of it, or a copy.
pub(crate) const KEEPS: u16 = 2048;
/// The port of a host with several.
pub(crate) const MULTIHOMED: u16 = 4096;
/// The port of a host with several, and with flows that spray over them. It is also [`TIMED`], and [`NOTICES`] so that it
/// is asked when it has nothing to send.
pub(crate) const SPRAYED: u16 = 8192;
/// The port's switch has a congestion point that sees queues only: it is asked when a frame starts, and nothing is counted
/// for it.
pub(crate) const MARKS: u16 = 16384;
/// The port's switch stamps frames with telemetry as they start.
pub(crate) const STAMPS: u16 = 32768;

/// One end of a cable: the sender of one direction and the receiver of the other.
#[derive(Clone, Debug)]
pub(crate) struct Port {
    /// Link-local frames that go before everything.
    pub(crate) control: List,
    /// Frames on their way to this port, in order of arrival.
    pub(crate) arriving: List,
    /// The transmitter's clock.
    pub(crate) wire: Wire,
    /// From the end (or, cutting through, the start) of transmission to the arrival at the far end.
    pub(crate) flight: Span,
    /// The far end: a port of this shard, or of the neighbour.
    pub(crate) peer: u32,
    /// The shard of the far end, as a position among the neighbours of this one; [`NIL`] if it is this one.
    pub(crate) neighbour: u32,
    /// Position of the port's node in the shard.
    pub(crate) node: u32,
    /// What that node is.
    pub(crate) device: Device,
    /// That node's port 0.
    pub(crate) first_port: u32,
    /// Number of the port in the whole network.
    pub(crate) global: u32,
    /// What one credit of the far end stands for; see [`crate::build::plan::Rule::units`].
    pub(crate) credit_unit: u32,
    /// Position of the port's rules in [`crate::build::plan::NetworkPlan::rules`].
    pub(crate) rules: u16,
    /// With [`MARKS`]: bytes that wait here from which on the congestion point is asked.
    pub(crate) asked_from: u32,
    /// Number of the port on its node.
    pub(crate) number: u16,
    /// Length of the frame on the wire, if something is to be released when it has left; else 0.
    pub(crate) leaving_len: u16,
    /// The port by which that frame came.
    pub(crate) leaving_input: u16,
    /// The class of that frame.
    pub(crate) leaving_class: u8,
    /// Classes with something to send.
    pub(crate) waiting: u8,
    /// Classes that may not send: paused by the far end.
    pub(crate) blocked: u8,
    /// Classes of which this port has told the far end to stop.
    pub(crate) stopped: u8,
    /// Classes of which the far end takes only what it has granted.
    pub(crate) credited: u8,
    /// Classes of which a credit frame waits in `control`.
    pub(crate) credit_due: u8,
    pub(crate) flags: u16,
    /// How often the cable has failed.
    pub(crate) epoch: u8,
    /// Classes of which a frame has started since the last inspection.
    pub(crate) moved: u8,
}

/// The flags that change while a network runs.
const CHANGING: u16 = DOWN | NOTICES | NOISY;

impl State for Port {
    fn save(&self, out: &mut Vec<u8>) {
        let Port {
            control,
            arriving,
            wire,
            flight: _,
            peer: _,
            neighbour: _,
            node: _,
            device: _,
            first_port: _,
            global: _,
            credit_unit: _,
            rules: _,
            asked_from: _,
            number: _,
            leaving_len,
            leaving_input,
            leaving_class,
            waiting,
            blocked,
            stopped,
            credited: _,
            credit_due,
            flags,
            epoch,
            moved,
        } = self;
        wire.save(out);
        (*control, *arriving).encode(out);
        (*leaving_len, *leaving_input, *leaving_class).encode(out);
        [*waiting, *blocked, *stopped, *credit_due, *epoch, *moved].encode(out);
        (flags & CHANGING).encode(out);
    }

    fn load(&mut self, input: &mut &[u8]) -> Option<()> {
        self.wire.load(input)?;
        (self.control, self.arriving) = Encode::decode(input)?;
        (self.leaving_len, self.leaving_input, self.leaving_class) = Encode::decode(input)?;
        [self.waiting, self.blocked, self.stopped, self.credit_due, self.epoch, self.moved] = Encode::decode(input)?;
        self.flags = self.flags & !CHANGING | u16::decode(input)? & CHANGING;
        Some(())
    }
}

impl Port {
    pub(crate) fn new(rate: Rate, node: u32, device: Device, first_port: u32, number: u16, global: u32) -> Port {
        Port {
            control: List::EMPTY,
            arriving: List::EMPTY,
            wire: Wire::new(rate),
            flight: Span::ZERO,
            peer: NIL,
            neighbour: NIL,
            node,
            device,
            first_port,
            global,
            credit_unit: 0,
            asked_from: 0,
            rules: 0,
            number,
            leaving_len: 0,
            leaving_input: 0,
            leaving_class: 0,
            waiting: 0,
            blocked: 0,
            stopped: 0,
            credited: 0,
            credit_due: 0,
            flags: 0,
            epoch: 0,
            moved: 0,
        }
    }
}

impl Port {
    /// Bytes of a class on the wire that still occupy the buffer.
    #[inline]
    pub(crate) fn leaving_of(&self, class: u8) -> u32 {
        if self.leaving_class == class { u32::from(self.leaving_len) } else { 0 }
    }
}

/// A port's part in one class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lane {
    /// Frames waiting: for this output, or, in an input FIFO, from this input.
    pub(crate) queue: List,
    /// Bytes waiting for this output.
    pub(crate) bytes: u32,
    /// Bytes, or credit units, in this node that came by this port.
    pub(crate) held: u32,
    /// Of a host: the last of the ring of flows that may send, or [`NIL`].
    pub(crate) ready: u32,
    /// Shared buffer: the part of `held` that lies in headroom.
    pub(crate) headroom: u32,
    /// More held than this wants the full rules: XOFF is due, or there is no room.
    pub(crate) alert: u32,
    /// Less held than this wants the full rules: XON may be due, or credits go back.
    pub(crate) calm: u32,
    /// More waiting than this wants the full rules: the output may have no room. 0 is a shared buffer.
    pub(crate) limit: u32,
}

units::state!(struct Lane { fixed: alert, calm, limit; plain: queue, bytes, held, ready, headroom; });

impl Lane {
    /// A lane without any rule.
    pub(crate) const EMPTY: Lane = Lane {
        queue: List::EMPTY,
        bytes: 0,
        held: 0,
        ready: NIL,
        headroom: 0,
        alert: u32::MAX,
        calm: 0,
        limit: u32::MAX,
    };
}

/// A port's flow control in one class: touched when a threshold is crossed, not per frame (but for credits).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gate {
    /// As a sender: the pause holds until then.
    pub(crate) paused_until: Time,
    /// As a receiver: ask again then; [`Time::MAX`] if there is nothing to ask.
    pub(crate) refresh: Time,
    /// As a sender: units the far end has granted in total.
    pub(crate) limit: u64,
    /// As a sender: units used in total.
    pub(crate) spent: u64,
    /// As a receiver: units granted in total.
    pub(crate) granted: u64,
    /// As a receiver: a fault has kept an XOFF from the sender since the buffer last was at or below XON.
    pub(crate) unheard: bool,
}

engine::encoded!(struct Gate { paused_until, refresh, limit, spent, granted, unheard });

impl Gate {
    pub(crate) const OPEN: Gate =
        Gate { paused_until: Time::ZERO, refresh: Time::MAX, limit: 0, spent: 0, granted: 0, unheard: false };
}

/// Something that reaches a port beside its frames, after a delay that is the same for all of them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Signal {
    /// The far end has granted that many units of a class in total; the second number is the cable's epoch.
    Credit { class: u8, granted: u64, epoch: u8 },
    /// A pause frame takes effect.
    Pause(Pause),
}

engine::encoded!(enum Signal { 0 = Credit { class, granted, epoch }, 1 = Pause(pause) });
