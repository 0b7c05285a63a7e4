//! What a network is made of, as plain data: a switch is a product of choices, not a class per paper.
//!
//! Nothing here runs. [`crate::Simulation::build`] turns a [`NetworkSpec`] into something that does, or says why the
//! combination is impossible.

use crate::describe::graph::{Graph, NodeId, Role};
use crate::describe::routing::{Routes, flow_entropy, tree_entropy};
use crate::describe::workload::{Destination, FlowSpec};
use congestion::{CongestionPoint, Point};
use units::{Bytes, Rate, Span, Time};

/// How many priorities or virtual lanes a network may have.
pub const MAX_CLASSES: usize = 8;

/// Where frames wait inside a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queueing {
    /// In a queue per output and class; the crossbar is infinitely fast.
    Output,
    /// In one FIFO per input and class. A frame may go before older ones whose output is busy or blocked.
    InputFifo {
        /// How far the bypass reaches; 0 is a strict FIFO.
        bypass: u8,
        /// What that number limits.
        reading: BypassReading,
    },
    /// In a queue per input, output and class; an output takes directly from the inputs at its own speed.
    VirtualOutput,
    /// In virtual output queues before the crossbar and in output queues behind it.
    Combined {
        /// Room behind the crossbar, per output and class.
        output_buffer: Bytes,
    },
}

/// Two readings of "a packet may be bypassed at most n times".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BypassReading {
    /// At most that many older frames of the same buffer are looked past.
    Lookahead,
    /// Each frame may be overtaken at most that many times.
    PerPacket,
}

/// How outputs choose among inputs, where there is a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossbar {
    /// The rule.
    pub arbitration: Arbitration,
    /// How many outputs one input may feed at once; 0 means as many as there are.
    pub read_ports: u8,
    /// Crossbar speed as a fraction of the output's rate: (numerator, denominator). Used by `Combined` only.
    pub speedup: (u32, u32),
}

impl Default for Crossbar {
    fn default() -> Crossbar {
        Crossbar { arbitration: Arbitration::RoundRobin, read_ports: 1, speedup: (1, 1) }
    }
}

/// An output's rule for taking from inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arbitration {
    /// The frame that has been in the switch the longest.
    ArrivalOrder,
    /// The inputs in turn; one that is busy is passed over.
    RoundRobin,
    /// The inputs in turn; a turn whose input is busy waits for it.
    RoundRobinWaiting,
}

/// How an output chooses among its classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Egress {
    /// The highest class first.
    Strict,
    /// Groups of classes: strict groups first, the highest first; weighted ones share the rest.
    Groups(Vec<EgressGroup>),
    /// Two tables of classes and weights, as in InfiniBand.
    Tables(VlArbitration),
}

impl Egress {
    /// Every class a weighted group of its own, with that many bytes a turn.
    #[must_use]
    pub fn weighted(quanta: &[Bytes]) -> Egress {
        let group = |(class, &quantum): (usize, &Bytes)| EgressGroup::turns(1u8 << class, Share::Weighted { quantum });
        Egress::Groups(quanta.iter().enumerate().map(group).collect())
    }
}

/// Classes that are scheduled together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EgressGroup {
    /// Bit n stands for class n.
    pub classes: u8,
    /// What the group gets.
    pub share: Share,
    /// How its classes share that.
    pub within: Within,
}

impl EgressGroup {
    /// Classes that take turns.
    #[must_use]
    pub const fn turns(classes: u8, share: Share) -> EgressGroup {
        EgressGroup { classes, share, within: Within::Turns }
    }
}

/// How the classes of a group share what it gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Within {
    /// Frame by frame in turn.
    #[default]
    Turns,
    /// The highest first.
    Priority,
}

/// A group's claim on the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// All it wants, before every weighted group.
    Strict,
    /// That many bytes on the wire each turn (deficit round robin).
    Weighted {
        /// Bytes a turn, frame overhead counted.
        quantum: Bytes,
    },
}

/// How many entries a table of [`VlArbitration`] may have.
pub const MAX_VL_ENTRIES: usize = 64;

/// The virtual-lane arbitration of InfiniBand: the high table goes first, up to a limit; inside a table the entries
/// take turns. Every class needs weight in one of the tables; it may be in both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VlArbitration {
    /// Entries of the high table, in the order of their turns.
    pub high: Vec<VlEntry>,
    /// Entries of the low table.
    pub low: Vec<VlEntry>,
    /// What the high table may send before a frame of the low one goes, in units of 4096 bytes: 0 is one frame, 255
    /// all it wants. A frame may be sent while anything is left.
    pub high_limit: u8,
}

/// A turn in a table of [`VlArbitration`]. A class may have several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VlEntry {
    /// The class that may send.
    pub class: u8,
    /// How much, in units of 64 bytes, frame overhead not counted; a frame may be sent while anything is left. An entry
    /// of weight 0 is skipped.
    pub weight: u8,
}

/// When a switch may pass a frame on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forwarding {
    /// When its last byte has arrived.
    StoreAndForward,
    /// That long after its first byte arrived. A frame from a slower input than the switch's fastest output is
    /// stored first, so that no output runs dry in the middle of a frame.
    CutThrough {
        /// From the arrival of the first byte to the earliest start on the output.
        header_delay: Span,
    },
}

/// How a receiver keeps its sender from overrunning it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowControl {
    /// Not at all: what does not fit is dropped.
    None,
    /// 802.3x PAUSE: the whole link stops.
    Pause(PauseSpec),
    /// 802.1Qbb PFC: each lossless class stops by itself.
    Pfc(PauseSpec),
    /// Credits: the sender knows what room there is.
    Credits(CreditSpec),
}

/// The timing of PAUSE and PFC. Thresholds belong to the buffer: see [`ClassBuffer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseSpec {
    /// Duration asked for, in quanta of 512 bit times of the link.
    pub quanta: u16,
    /// Ask again when this many quanta of the duration are left. Only while the buffer has not drained.
    pub refresh_before: u16,
    /// From the arrival of a pause frame to the sender's obeying it, at a frame boundary.
    pub response: Span,
    /// How much longer that may take, drawn uniformly for each pause frame; never so that one overtakes another.
    pub response_jitter: Span,
    /// Classes that a PAUSE of the whole link holds, bit n for class n. MAC control frames always pass.
    pub holds: u8,
}

impl Default for PauseSpec {
    /// 65535 quanta, the largest the field holds; asked for again half way, so that one lost frame is survived.
    fn default() -> PauseSpec {
        PauseSpec {
            quanta: u16::MAX,
            refresh_before: u16::MAX / 2,
            response: Span::ZERO,
            response_jitter: Span::ZERO,
            holds: u8::MAX,
        }
    }
}

impl PauseSpec {
    /// The longest that a sender takes to obey a pause frame: what headroom must allow for.
    #[must_use]
    pub fn longest_response(&self) -> Span {
        self.response + self.response_jitter
    }
}

/// What a credit counts and how it comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreditSpec {
    /// What one credit stands for.
    pub unit: CreditUnit,
    /// How the sender learns of freed room.
    pub give_back: CreditReturn,
}

/// What one credit stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreditUnit {
    /// A slot for one frame of any size; buffer capacities are then counts of frames.
    Frame,
    /// A block of so many bytes; a frame takes whole blocks.
    Block(Bytes),
}

/// How freed room is told to the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreditReturn {
    /// By a frame of that size in the other direction, which waits for the wire and occupies it.
    Frame {
        /// Its size, overhead not counted.
        size: Bytes,
        /// Repeated at least this often, so that a lost one is survived.
        refresh: Option<Span>,
    },
    /// By a signal beside the data, that long after the frame's tail has left.
    Signal {
        /// From the tail's leaving to the sender's knowing.
        delay: Span,
    },
}

/// A buffer's rules for one class; at each port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassBuffer {
    /// Most bytes (or frames, with [`CreditUnit::Frame`]) held: per input, but per output queue of a lossy class where
    /// frames wait at outputs. With a shared buffer this is the part guaranteed to the port. PAUSE counts all classes of a port together.
    pub capacity: Bytes,
    /// PAUSE and PFC: ask the sender to stop when more than this is held. Ignored with a shared buffer, where the
    /// dynamic threshold decides.
    pub xoff: Bytes,
    /// PAUSE and PFC: let it go on when no more than this is held. With a shared buffer: the distance below the
    /// threshold.
    pub xon: Bytes,
    /// Shared buffer only: room kept for what arrives after XOFF.
    pub headroom: Bytes,
}

impl ClassBuffer {
    /// Room without end: nothing is dropped and nobody is stopped.
    pub const UNLIMITED: ClassBuffer = ClassBuffer {
        capacity: Bytes::new(u32::MAX as u64 / 2),
        xoff: Bytes::new(u32::MAX as u64 / 2),
        xon: Bytes::new(u32::MAX as u64 / 2),
        headroom: Bytes::ZERO,
    };

    /// Drop-tail at that size.
    #[must_use]
    pub const fn drop_tail(capacity: Bytes) -> ClassBuffer {
        ClassBuffer { capacity, ..ClassBuffer::UNLIMITED }
    }

    /// Stop above `xoff`, go on at `xon`, with the rest of `capacity` as headroom.
    #[must_use]
    pub const fn lossless(capacity: Bytes, xoff: Bytes, xon: Bytes) -> ClassBuffer {
        ClassBuffer { capacity, xoff, xon, headroom: Bytes::ZERO }
    }
}

/// The memory of a switch.
#[derive(Clone, Debug, PartialEq)]
pub enum Buffer {
    /// Fixed room per port and class.
    Static(Vec<ClassBuffer>),
    /// One memory for all ports, shared by a dynamic threshold: a queue may use `alpha` times what is free.
    Shared {
        /// The shared part; guaranteed parts and headroom come on top.
        total: Bytes,
        /// (numerator, denominator) of alpha.
        alpha: (u32, u32),
        /// Guarantees, hysteresis and headroom of each class.
        classes: Vec<ClassBuffer>,
    },
}

/// One kind of switch.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchSpec {
    /// Where frames wait.
    pub queueing: Queueing,
    /// How much room there is.
    pub buffer: Buffer,
    /// How its inputs hold back their senders.
    pub flow_control: FlowControl,
    /// How outputs take from inputs: needed unless frames wait at the outputs only.
    pub crossbar: Option<Crossbar>,
    /// How an output chooses among classes.
    pub egress: Egress,
    /// When a frame may leave.
    pub forwarding: Forwarding,
    /// Between a frame's arrival and its joining a queue. The frame is in the input's buffer meanwhile.
    pub pipeline: Span,
    /// In what order an output serves the destinations that share it. Output queueing only.
    pub order: Order,
    /// What is watched in it, if anything: a congestion point, who holds its buffers, copies kept.
    pub congestion_point: Option<CongestionPointSpec>,
}

impl SwitchSpec {
    /// What an input may hold of a class before its sender is stopped, in bytes; a slot has room for `largest_frame`.
    #[must_use]
    pub fn input_room(&self, class: usize, largest_frame: u32) -> u32 {
        let bytes = match &self.buffer {
            Buffer::Shared { total, alpha: (numerator, denominator), classes } => {
                // One queue alone may use alpha times what it leaves free.
                let (numerator, denominator) = (u64::from(*numerator), u64::from(*denominator));
                classes[class].capacity.get() + total.get() * numerator / (numerator + denominator).max(1)
            }
            Buffer::Static(classes) => match self.flow_control {
                FlowControl::Pause(_) | FlowControl::Pfc(_) => classes[class].xoff.get(),
                FlowControl::Credits(CreditSpec { unit: CreditUnit::Frame, .. }) => {
                    classes[class].capacity.get() * u64::from(largest_frame)
                }
                FlowControl::Credits(_) | FlowControl::None => classes[class].capacity.get(),
            },
        };
        u32::try_from(bytes).unwrap_or(u32::MAX)
    }

    /// Whether what waits for an output in a class is held by inputs that stop their senders: then one input alone can
    /// have no more wait than its room.
    #[must_use]
    pub fn held_by_inputs(&self, lossless: bool) -> bool {
        lossless && self.flow_control != FlowControl::None && !matches!(self.queueing, Queueing::Combined { .. })
    }
}

/// In what order an output serves frames of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The oldest first.
    #[default]
    Arrival,
    /// The destinations in turn, the oldest frame of each.
    RoundRobin,
    /// The destination with the most bytes waiting.
    Longest,
}

/// What is watched in a switch.
#[derive(Clone, Debug, PartialEq)]
pub struct CongestionPointSpec {
    /// A congestion point as it is at the start.
    pub point: Option<Point>,
    /// Whether it keeps account of which flow holds how much of an input's buffer. A point that draws frames needs it.
    pub occupancy: bool,
    /// Bytes of a unit of buffer memory: what a draw draws.
    pub unit: Bytes,
    /// Reliable delivery across a fabric. A frame that comes from a host and goes on inside is kept, and its room with it,
    /// until a receipt says that the switch of its destination has it.
    pub reliable: bool,
    /// Whether the congestion point of an output is shown frames that find no room there.
    pub sample_dropped: bool,
    /// Class of the notices and receipts it sends; they go before all data where they are made.
    pub notice_class: u8,
    /// Size of a notice or receipt, overhead not counted.
    pub notice_size: Bytes,
}

impl CongestionPointSpec {
    /// A congestion point, with notices of 64 bytes in class 0 and nothing else.
    #[must_use]
    pub fn point(point: Point) -> CongestionPointSpec {
        CongestionPointSpec { point: Some(point), ..CongestionPointSpec::default() }
    }

    /// Whether a switch that is watched so sends notices or receipts.
    #[must_use]
    pub fn tells(&self) -> bool {
        self.reliable || self.point.as_ref().is_some_and(CongestionPoint::notifies)
    }
}

impl Default for CongestionPointSpec {
    /// Nothing watched; frames of 64 bytes, as the smallest of Ethernet, and units of as much.
    fn default() -> CongestionPointSpec {
        let size = Bytes::new(64);
        CongestionPointSpec {
            point: None,
            occupancy: false,
            unit: size,
            reliable: false,
            sample_dropped: true,
            notice_class: 0,
            notice_size: size,
        }
    }
}

/// One kind of adapter: a host's attachment to the network.
#[derive(Clone, Debug, PartialEq)]
pub struct AdapterSpec {
    /// How it holds back the switch that sends to it.
    pub flow_control: FlowControl,
    /// Room for what has arrived and is not yet consumed, per class.
    pub buffer: Vec<ClassBuffer>,
    /// How fast it consumes, in bits per second, frame overhead counted; `None` is at once.
    pub service: Option<Rate>,
    /// Changes of the service rate. A rate of zero stops it.
    pub service_changes: Vec<(Time, Option<Rate>)>,
    /// How it chooses among its classes when sending.
    pub egress: Egress,
}

impl Default for AdapterSpec {
    /// Consumes at once and never holds anybody back.
    fn default() -> AdapterSpec {
        AdapterSpec {
            flow_control: FlowControl::None,
            buffer: Vec::new(),
            service: None,
            service_changes: Vec::new(),
            egress: Egress::Strict,
        }
    }
}

/// A priority of Ethernet or a virtual lane of InfiniBand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassSpec {
    /// For people.
    pub name: String,
    /// Whether a frame of it may never be dropped for want of room. PFC and credits act on lossless classes only.
    pub lossless: bool,
}

/// How a switch chooses among equal paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multipath {
    /// By a hash of the flow: a flow keeps its path.
    FlowHash,
    /// Anew for every frame.
    Spray,
}

/// Something that happens to a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Position of the cable in [`Graph::cables`].
    pub cable: u32,
    /// When it fails. What is on it is lost.
    pub down: Time,
    /// When it works again, if ever.
    pub up: Option<Time>,
}

/// What one port does otherwise than its kind: what the two ends of its cable have agreed on, or not.
#[derive(Clone, Debug, PartialEq)]
pub struct PortSpec {
    /// Its node.
    pub node: NodeId,
    /// Its number on that node, in the order of [`Graph::ports`].
    pub port: u16,
    /// Lossless classes of which PFC is on at this port, bit n for class n: it sends pauses of these alone, and obeys
    /// these alone. A frame of another lossless class that finds no room here ends the run like any other.
    pub pfc: u8,
    /// How it chooses among classes; `None` is as its kind does.
    pub egress: Option<Egress>,
}

/// New forwarding tables.
#[derive(Clone, Debug)]
pub struct RouteChange {
    /// When the first switch has them.
    pub at: Time,
    /// What holds from then on.
    pub routes: Routes,
    /// Which switches have them, each from its own time on; empty: all of them from `at` on. While switches differ, frames
    /// may run in circles, and lossless ones may deadlock.
    pub switches: Vec<(NodeId, Time)>,
}

impl RouteChange {
    /// Tables for all switches at one instant.
    #[must_use]
    pub fn everywhere(at: Time, routes: Routes) -> RouteChange {
        RouteChange { at, routes, switches: Vec::new() }
    }

    /// When the last switch has them.
    #[must_use]
    pub fn last(&self) -> Time {
        self.switches.iter().map(|&(_, at)| at).max().unwrap_or(self.at)
    }

    /// When that switch installs them, in no order.
    pub fn times(&self, switch: NodeId) -> impl Iterator<Item = Time> + '_ {
        let all = self.switches.is_empty().then_some(self.at);
        let own = self.switches.iter().filter(move |(node, _)| *node == switch).map(|&(_, at)| at);
        all.into_iter().chain(own)
    }
}

/// Everything that defines a simulated network and its traffic.
#[derive(Clone, Debug)]
pub struct NetworkSpec {
    /// Nodes and cables.
    pub graph: Graph,
    /// Where each switch sends what.
    pub routes: Routes,
    /// Later tables, in any order.
    pub route_changes: Vec<RouteChange>,
    /// Among equal paths.
    pub multipath: Multipath,
    /// Classes 0..n, n at most 8; a higher number is a higher priority.
    pub classes: Vec<ClassSpec>,
    /// Kinds of switches.
    pub switches: Vec<SwitchSpec>,
    /// Kinds of adapters.
    pub adapters: Vec<AdapterSpec>,
    /// For each node the position of its kind in `switches` or `adapters`.
    pub kind_of: Vec<u32>,
    /// Ports that differ from their kind, each at most once. At all others PFC is on for every lossless class.
    pub ports: Vec<PortSpec>,
    /// Preamble and gap: bytes on the wire around every frame. Ethernet: 20.
    pub overhead: Bytes,
    /// No frame of a flow and no acknowledgement is shorter; the last frame of a flow is filled up. Ethernet: 64.
    pub smallest_frame: Bytes,
    /// The traffic.
    pub flows: Vec<FlowSpec>,
    /// Cables that fail.
    pub faults: Vec<Fault>,
    /// Names every random stream together with an entity and a purpose.
    pub seed: u64,
}

impl NetworkSpec {
    /// How a node holds its neighbours back.
    ///
    /// # Panics
    /// If there is no such node, or none of its kind.
    #[must_use]
    pub fn flow_control(&self, node: NodeId) -> FlowControl {
        let kind = self.kind_of[node.0 as usize] as usize;
        match self.graph.nodes[node.0 as usize].role {
            Role::Switch => self.switches[kind].flow_control,
            Role::Host => self.adapters[kind].flow_control,
        }
    }

    /// What a flow's path is chosen by: a hash of the flow, or whatever leads to the tree it names.
    ///
    /// # Panics
    /// If there is no such flow.
    #[must_use]
    pub fn entropy(&self, flow: u32) -> u32 {
        let spec = &self.flows[flow as usize];
        let destination = match spec.destination {
            Destination::Host(host) => host.0,
            Destination::Uniform(_) => u32::MAX,
        };
        let hash = flow_entropy(spec.source.0, destination, flow, self.seed);
        let trees = usize::from(self.routes.trees());
        match spec.tree.map(usize::from) {
            Some(tree) if tree < trees => tree_entropy(hash, tree, trees),
            _ => hash,
        }
    }

    /// A network of one kind of switch and one kind of adapter, shortest paths by flow hash, one class, Ethernet
    /// framing and no traffic yet.
    #[must_use]
    pub fn uniform(graph: Graph, switch: SwitchSpec, adapter: AdapterSpec, class: ClassSpec) -> NetworkSpec {
        NetworkSpec {
            routes: Routes::shortest_paths(&graph),
            route_changes: Vec::new(),
            multipath: Multipath::FlowHash,
            classes: vec![class],
            switches: vec![switch],
            adapters: vec![adapter],
            kind_of: vec![0; graph.nodes.len()],
            ports: Vec::new(),
            overhead: Bytes::new(20),
            smallest_frame: Bytes::new(64),
            flows: Vec::new(),
            faults: Vec::new(),
            seed: 1,
            graph,
        }
    }
}
