//! What a congestion point is: the part of a switch that notices congestion and tells the sources.
//!
//! A switch has at most one. It sees frames come and start to leave, looks at buffers through a [`View`], marks
//! frames, and asks for notices to be sent. It cannot schedule: it states a [`CongestionPoint::deadline`].

use units::{Rate, Time};

/// A frame at a congestion point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// When.
    pub now: Time,
    /// When the frame came to the switch, as far as its queues are concerned.
    pub since: Time,
    /// Number of its flow.
    pub flow: u32,
    /// Port by which it came.
    pub input: u16,
    /// Port by which it goes.
    pub output: u16,
    /// Its class.
    pub class: u8,
    /// Its length in bytes, overhead not counted.
    pub len: u16,
    /// The tag its source put on it; see [`tag_of`].
    pub tag: u16,
}

/// A path probe at a congestion point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passing {
    /// When.
    pub now: Time,
    /// Number of its flow.
    pub flow: u32,
    /// Port by which it goes.
    pub output: u16,
    /// The class of its flow's data, whose queue it is about.
    pub class: u8,
    /// The congestion point it is for, if it is for one; see [`tag_of`].
    pub tag: u16,
    /// What it carries, to be changed at will.
    pub value: u64,
}

/// The number of a congestion point in the network: that of a port and a class.
#[must_use]
pub fn number(port: u32, class: u8) -> u32 {
    port << 3 | u32::from(class & 7)
}

/// What a frame of a source that is associated with that congestion point is tagged with; 0 is no tag, and what the
/// tags have no room for. Networks in which sources tag frames have at most [`MOST_TAGGED_PORTS`] ports.
#[must_use]
pub fn tag_of(number: u32) -> u16 {
    u16::try_from(number + 1).unwrap_or(0)
}

/// The most ports of a network that tags can tell apart.
pub const MOST_TAGGED_PORTS: usize = 8191;

/// What a congestion point can see of its switch. Everything costs a look at a counter, never a scan; only `leaving`
/// looks at every output, for points that ask for it.
pub trait View {
    /// What is held of what came by an input: bytes, or slots where credits count frames.
    fn held(&self, input: u16, class: u8) -> u32;
    /// How much must be held for the sender to be stopped: the last slot, XOFF, or too little room for one more frame.
    fn full(&self, input: u16, class: u8) -> u32;
    /// Outputs for which frames of a class from an input wait, those already leaving not counted; bit n stands for output n.
    fn wanted(&self, input: u16, class: u8) -> u128;
    /// Bytes that wait for an output, the frame on the wire not counted.
    fn waiting_bytes(&self, output: u16, class: u8) -> u32;
    /// Frames that wait for an output, the frame on the wire not counted.
    fn waiting_frames(&self, output: u16, class: u8) -> u32;
    /// Whether a frame of that class is being sent by an output, where the input holds it until it has left.
    fn sending(&self, output: u16, class: u8) -> bool;
    /// The part of `held` whose last bit leaves at this very instant.
    fn leaving(&self, input: u16, class: u8) -> u32;
    /// Whether the last bit of what an output is sending leaves at this very instant.
    fn ending(&self, output: u16, class: u8) -> bool;
    /// Whether an output may not send now, for want of credits for the largest frame or because the far end has stopped it.
    fn blocked(&self, output: u16, class: u8) -> bool;
    /// When an output was last blocked with something to send; now, if it is.
    fn last_blocked(&self, output: u16, class: u8) -> Option<Time>;
    /// Whether the sender of an input has been told to stop.
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

/// The rate that a congestion point suggests to a source, and the most that it allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guidance {
    /// What it suggests.
    pub suggested: Rate,
    /// What it allows.
    pub most: Rate,
}

/// What a congestion point tells a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The flow it is about.
    pub flow: u32,
    /// Quantised feedback, as the frame carries it.
    pub feedback: u8,
    /// The set point less the queue, in bytes.
    pub offset: i32,
    /// How much the queue has grown since the last sample, in bytes.
    pub growth: i32,
    /// Number of the port whose buffer or queue it is about.
    pub port: u16,
    /// And the class.
    pub class: u8,
    /// What rate it suggests and allows, if it does.
    pub guidance: Option<Guidance>,
}

/// What becomes of a path probe at a congestion point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It goes on to its destination.
    Pass,
    /// It ends here.
    End,
    /// It ends here, and this goes back to its source.
    Reply(Notice),
}

/// What a congestion point wants done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Nothing.
    Nothing,
    /// To be asked again when everything that can start at this instant has started.
    Settle,
    /// That a source be told.
    Notify(Notice),
    /// That so many frames be drawn from the buffer of an input, each with the probability of the room it holds there.
    Draw {
        /// The input.
        input: u16,
        /// The class.
        class: u8,
        /// How many, one or two.
        count: u8,
    },
}

/// A frame drawn from a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// Its flow.
    pub flow: u32,
    /// The output it waits for.
    pub output: u16,
    /// How congested its way on from here is: the fill of the first buffer behind the one it was drawn from.
    pub path: u32,
}

/// The switch a congestion point is in.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Rates of its ports.
    pub rates: Vec<Rate>,
    /// Classes.
    pub classes: usize,
    /// Whether each port leads to a host.
    pub to_host: Vec<bool>,
    /// The largest frame of each class in bytes, overhead not counted.
    pub largest_frame: Vec<u32>,
    /// What an input may hold of each class before its sender is stopped, in bytes.
    pub buffer: Vec<u32>,
    /// Whether what waits for an output in each class is held by inputs: then one input alone can have no more wait than
    /// its buffer.
    pub held_by_inputs: Vec<bool>,
    /// Seed of the run.
    pub seed: u64,
    /// Number of the switch among the nodes of the network.
    pub node: u32,
    /// Number of its first port among the ports of the network.
    pub first_port: u32,
}

/// A switch's congestion point.
pub trait CongestionPoint {
    /// Tells it where it is, before anything happens.
    fn attach(&mut self, surroundings: &Surroundings);

    /// Whether it may send notices; else it only marks, or speaks to probes on their way to their destination.
    fn notifies(&self) -> bool {
        false
    }

    /// Whether it judges the buffer of an input by the frame that joins it, and needs outputs that send from there.
    fn judges_joining(&self) -> bool {
        false
    }

    /// Whether it may request to draw frames, so that the switch keeps account of them.
    fn draws(&self) -> bool {
        false
    }

    /// A frame has come, is counted against its input, and waits for its output.
    fn on_arrival(&mut self, _frame: &Passage, _view: &impl View) -> Request {
        Request::Nothing
    }

    /// A frame has joined the queue of its output: at once, or, where there is room behind the crossbar, when it has
    /// come through.
    fn on_output(&mut self, _frame: &Passage, _view: &impl View) -> Request {
        Request::Nothing
    }

    /// A path probe is here on its way to its destination. What it carries may be changed. One with the tag of a queue of
    /// this point is for that queue alone: it ends here, with a reply or without.
    fn on_path_probe(&mut self, _probe: &mut Passing, _view: &impl View) -> Fate {
        Fate::Pass
    }

    /// Everything that could start at this instant has started.
    fn on_settled(&mut self, _now: Time, _view: &impl View) {}

    /// A frame starts to leave. Returns whether it is marked.
    fn on_start(&mut self, _frame: &Passage, _view: &impl View) -> bool {
        false
    }

    /// Frames that waited for a failed cable now wait elsewhere, or nowhere.
    fn on_rerouted(&mut self, _view: &impl View) {}

    /// The frames asked for.
    fn on_drawn(&mut self, _now: Time, _drawn: &[Drawn]) -> Option<Notice> {
        None
    }

    /// When it next wants to be asked, if ever.
    fn deadline(&self) -> Option<Time> {
        None
    }

    /// The deadline has come.
    fn on_deadline(&mut self, _now: Time, _view: &impl View) -> Request {
        Request::Nothing
    }
}
