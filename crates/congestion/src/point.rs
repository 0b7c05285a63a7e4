//! The congestion point: the part of a switch that detects congestion and notifies sources.
//!
//! A switch has at most one, or one for each of several sets of classes ([`crate::ByClass`]). It observes frames as
//! they arrive and start to leave, reads buffer levels through a [`View`], decides whether a frame joins a queue
//! ([`Treatment`]), marks frames, and requests notices. It does not schedule events: it states a
//! [`CongestionPoint::deadline`].

use units::{Rate, Time};

/// A frame at a congestion point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Current time.
    pub now: Time,
    /// Time at which the frame arrived at the switch, as its queues count it.
    pub since: Time,
    /// Number of its flow.
    pub flow: u32,
    /// Ingress port.
    pub input: u16,
    /// Egress port.
    pub output: u16,
    /// Its class.
    pub class: u8,
    /// Length in bytes, without overhead.
    pub len: u16,
    /// Tag set by its source; see [`tag_of`].
    pub tag: u16,
}

/// A path probe at a congestion point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passing {
    /// Current time.
    pub now: Time,
    /// Number of its flow.
    pub flow: u32,
    /// Egress port.
    pub output: u16,
    /// Class of its flow's data: the probe concerns the queue of this class.
    pub class: u8,
    /// Tag of the congestion point that it is addressed to, if any; see [`tag_of`].
    pub tag: u16,
    /// Value that the probe carries; the congestion point may change it.
    pub value: u64,
}

/// Returns the number of a congestion point in the network, from its port and class.
#[must_use]
pub fn number(port: u32, class: u8) -> u32 {
    port << 3 | u32::from(class & 7)
}

/// Returns the tag of frames whose source is associated with that congestion point; 0, which means no tag, if the
/// number exceeds the range of tags. Networks in which sources tag frames have at most [`MOST_TAGGED_PORTS`] ports.
#[must_use]
pub fn tag_of(number: u32) -> u16 {
    u16::try_from(number + 1).unwrap_or(0)
}

/// The largest number of ports in a network that tags can distinguish.
pub const MOST_TAGGED_PORTS: usize = 8191;

/// A congestion point's view of its switch. Every method reads a counter and never scans, except `leaving`, which
/// visits every output and is called only by points that need it.
pub trait View {
    /// Returns the amount held from an input: bytes, or slots where credits count frames.
    fn held(&self, input: u16, class: u8) -> u32;
    /// Returns the amount at which the sender is stopped: the last slot, XOFF, or too little room for another frame.
    fn full(&self, input: u16, class: u8) -> u32;
    /// Returns the outputs for which frames of a class from an input wait, without those already leaving; bit n is
    /// output n.
    fn wanted(&self, input: u16, class: u8) -> u128;
    /// Returns the bytes that wait for an output, without the frame on the wire.
    fn waiting_bytes(&self, output: u16, class: u8) -> u32;
    /// Returns the number of frames that wait for an output, without the frame on the wire.
    fn waiting_frames(&self, output: u16, class: u8) -> u32;
    /// Returns whether an output is sending a frame of that class that the input holds until it has left.
    fn sending(&self, output: u16, class: u8) -> bool;
    /// Returns the part of `held` whose last bit leaves at this instant.
    fn leaving(&self, input: u16, class: u8) -> u32;
    /// Returns whether the last bit of the frame that an output is sending leaves at this instant.
    fn ending(&self, output: u16, class: u8) -> bool;
    /// Returns whether an output must not send now: it lacks credits for the largest frame, or the far end has stopped
    /// it.
    fn blocked(&self, output: u16, class: u8) -> bool;
    /// Returns the time at which an output was last blocked with frames to send; the current time if it is blocked now.
    fn last_blocked(&self, output: u16, class: u8) -> Option<Time>;
    /// Returns whether the sender of an input has been stopped.
    fn stopped(&self, input: u16, class: u8) -> bool;
}

macro_rules! pass_on {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        $(fn $name(&self, $($argument: $type),*) -> $result { (**self).$name($($argument),*) })*
    };
}

impl<V: View + ?Sized> View for &V {
    pass_on! {
        held(input: u16, class: u8) -> u32;
        full(input: u16, class: u8) -> u32;
        wanted(input: u16, class: u8) -> u128;
        waiting_bytes(output: u16, class: u8) -> u32;
        waiting_frames(output: u16, class: u8) -> u32;
        sending(output: u16, class: u8) -> bool;
        leaving(input: u16, class: u8) -> u32;
        ending(output: u16, class: u8) -> bool;
        blocked(output: u16, class: u8) -> bool;
        last_blocked(output: u16, class: u8) -> Option<Time>;
        stopped(input: u16, class: u8) -> bool;
    }
}

/// Rate guidance from a congestion point to a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guidance {
    /// Suggested rate.
    pub suggested: Rate,
    /// Maximum rate.
    pub most: Rate,
}

units::encoded!(struct Guidance { suggested, most });

/// A notice from a congestion point to a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Flow that the notice is for.
    pub flow: u32,
    /// Quantised feedback, as encoded in the frame.
    pub feedback: u8,
    /// The set point less the queue, in bytes.
    pub offset: i32,
    /// Growth of the queue since the last sample, in bytes.
    pub growth: i32,
    /// Number of the port whose buffer or queue is congested.
    pub port: u16,
    /// Class of that buffer or queue.
    pub class: u8,
    /// Suggested and maximum rate, if the point provides guidance.
    pub guidance: Option<Guidance>,
}

units::encoded!(struct Notice { flow, feedback, offset, growth, port, class, guidance });

/// The fate of a path probe at a congestion point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The probe continues to its destination.
    Pass,
    /// The probe ends here.
    End,
    /// The probe ends here, and this notice returns to its source.
    Reply(Notice),
}

/// The treatment by a congestion point of a frame that is about to join the queue of its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// The frame joins the queue, if there is room.
    Pass,
    /// The same, with a congestion mark.
    Mark,
    /// The payload of the frame is removed; its header continues in the switch's class of trimmed frames.
    Trim,
    /// The last data frame of the queue is trimmed instead, and this one takes its place. If the last frame carries no
    /// data, this one is trimmed.
    TrimLast,
    /// The frame is dropped.
    Drop,
}

/// A request of a congestion point to its switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// No request.
    Nothing,
    /// Call [`CongestionPoint::on_settled`] when everything that can start at this instant has started.
    Settle,
    /// Notify a source.
    Notify(Notice),
    /// Draw frames from the buffer of an input, each with a probability proportional to the room that it holds there.
    Draw {
        /// Input port.
        input: u16,
        /// Class.
        class: u8,
        /// Number of frames, one or two.
        count: u8,
    },
}

/// A frame drawn from a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// Number of its flow.
    pub flow: u32,
    /// Output that it waits for.
    pub output: u16,
    /// Congestion of its onward path: the fill of the first buffer behind the one that it was drawn from.
    pub path: u32,
}

/// The switch of a congestion point.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Rates of its ports.
    pub rates: Vec<Rate>,
    /// Number of classes.
    pub classes: usize,
    /// Whether each port leads to a host.
    pub to_host: Vec<bool>,
    /// The largest frame of each class in bytes, without overhead.
    pub largest_frame: Vec<u32>,
    /// Bytes of each class that an input may hold before its sender is stopped.
    pub buffer: Vec<u32>,
    /// Whether the frames that wait for an output in each class are held by inputs: a single input can then queue no
    /// more than its buffer.
    pub held_by_inputs: Vec<bool>,
    /// Seed of the run.
    pub seed: u64,
    /// Number of the switch among the nodes of the network.
    pub node: u32,
    /// Number of its first port among the ports of the network.
    pub first_port: u32,
}

/// The congestion point of a switch.
pub trait CongestionPoint {
    /// Called once, before any other input, with the properties of the switch.
    fn attach(&mut self, surroundings: &Surroundings);

    /// Returns whether it may send notices; if not, it only marks frames or changes passing probes.
    fn notifies(&self) -> bool {
        false
    }

    /// Returns whether it evaluates an input buffer when a frame joins it, and therefore needs outputs that send from
    /// input buffers.
    fn judges_joining(&self) -> bool {
        false
    }

    /// Returns whether it may request to draw frames, so that the switch keeps account of them.
    fn draws(&self) -> bool {
        false
    }

    /// Returns a queue length in bytes below which frames pass unmarked without a call; `None` if the decision depends on
    /// more than the queue length. With `Some`, a switch with output queues calls [`on_enqueue`](Self::on_enqueue) and
    /// [`on_start`](Self::on_start) only, and keeps no account for the point, whose state must not depend on frames that
    /// it is not shown.
    fn asked_from(&self, _output: u16) -> Option<u32> {
        None
    }

    /// A frame arrived, is counted against its input, and waits for its output.
    fn on_arrival(&mut self, _frame: &Passage, _view: &impl View) -> Request {
        Request::Nothing
    }

    /// A frame joined the queue of its output: at once, or, in a switch with output buffers behind the crossbar, when
    /// it has crossed.
    fn on_output(&mut self, _frame: &Passage, _view: &impl View) -> Request {
        Request::Nothing
    }

    /// A path probe arrived on its way to its destination. Its value may be changed. A probe with the tag of a queue of
    /// this point is addressed to that queue alone and ends here, with or without a reply.
    fn on_path_probe(&mut self, _probe: &mut Passing, _view: &impl View) -> Fate {
        Fate::Pass
    }

    /// Everything that could start at this instant has started.
    fn on_settled(&mut self, _now: Time, _view: &impl View) {}

    /// Returns whether [`on_enqueue`](Self::on_enqueue) is called; otherwise every frame passes.
    fn judges(&self) -> bool {
        false
    }

    /// Returns the classes, bit n for class n, of which it may drop or trim frames.
    fn discards(&self) -> u8 {
        0
    }

    /// Returns whether it may trim frames.
    fn trims(&self) -> bool {
        false
    }

    /// Returns whether the header of a trimmed frame that finds no room in the queue of its output goes back to its source.
    fn returns_headers(&self) -> bool {
        false
    }

    /// A data frame is about to join the queue of its output, in which it is not counted yet. Called before
    /// [`on_arrival`](Self::on_arrival).
    fn on_enqueue(&mut self, _frame: &Passage, _view: &impl View) -> Treatment {
        Treatment::Pass
    }

    /// A data frame starts to leave; the queue does not contain it any more. Returns whether to mark it.
    fn on_start(&mut self, _frame: &Passage, _view: &impl View) -> bool {
        false
    }

    /// Frames that waited for a failed link were moved to other outputs or removed.
    fn on_rerouted(&mut self, _view: &impl View) {}

    /// Receives the requested frames.
    fn on_drawn(&mut self, _now: Time, _drawn: &[Drawn]) -> Option<Notice> {
        None
    }

    /// Returns the time at which it requests a call of [`on_deadline`](Self::on_deadline), if any.
    fn deadline(&self) -> Option<Time> {
        None
    }

    /// The time stated by [`deadline`](Self::deadline) was reached.
    fn on_deadline(&mut self, _now: Time, _view: &impl View) -> Request {
        Request::Nothing
    }
}
