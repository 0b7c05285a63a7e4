//! The description of a network as plain data: a switch is a combination of choices, not a class per paper.
//!
//! [`crate::Simulation::build`] creates a simulation from a [`NetworkSpec`], or reports why the combination is
//! impossible.

use crate::describe::graph::{Graph, NodeId, Role};
pub use crate::describe::pfc_watchdog::{PfcWatchdogSpec, WatchdogAction};
use crate::describe::routing::Routes;
use crate::describe::workload::{Dependencies, FlowList};
use congestion::{CongestionPoint, Point};
use units::{Bytes, FrameTime, Rate, Span, Time};

/// Maximum number of priorities or virtual lanes of a network.
pub const MAX_CLASSES: usize = 8;

/// The place where frames wait in a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queueing {
    /// A queue per output and class; the crossbar is infinitely fast.
    Output,
    /// One FIFO per input and class. A frame may bypass older ones whose output is busy or blocked.
    InputFifo {
        /// Limit of the bypass; 0 is a strict FIFO.
        bypass: u8,
        /// Meaning of that limit.
        reading: BypassReading,
    },
    /// A queue per input, output and class; an output takes frames directly from the inputs at its own rate.
    VirtualOutput,
    /// Virtual output queues before the crossbar and output queues behind it.
    Combined {
        /// Buffer behind the crossbar, per output and class.
        output_buffer: Bytes,
    },
}

/// The two interpretations of "a packet may be bypassed at most n times".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BypassReading {
    /// A frame may bypass at most that many older frames of the same buffer.
    Lookahead,
    /// Each frame may be bypassed at most that many times.
    PerPacket,
}

engine::encoded!(enum BypassReading { 0 = Lookahead, 1 = PerPacket });

/// The arbitration of outputs among inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossbar {
    /// Arbitration rule.
    pub arbitration: Arbitration,
    /// Number of outputs that one input may feed at once; 0 for no limit.
    pub read_ports: u8,
    /// Crossbar speed relative to the output's rate: (numerator, denominator). Used by `Combined` only.
    pub speedup: (u32, u32),
}

impl Default for Crossbar {
    fn default() -> Crossbar {
        Crossbar { arbitration: Arbitration::RoundRobin, read_ports: 1, speedup: (1, 1) }
    }
}

/// An output's rule of choosing among inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arbitration {
    /// The frame that has been in the switch longest.
    ArrivalOrder,
    /// Round robin over the inputs; a busy input is skipped.
    RoundRobin,
    /// Round robin over the inputs; the turn of a busy input waits for it.
    RoundRobinWaiting,
}

/// An output's rule of choosing among classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Egress {
    /// Strict priority, the highest class first.
    Strict,
    /// Groups of classes: strict groups first, the highest first; weighted groups share the rest.
    Groups(Vec<EgressGroup>),
    /// Two tables of classes and weights, as in InfiniBand.
    Tables(VlArbitration),
}

impl Egress {
    /// Returns a rule with one weighted group per class, with that quantum each.
    #[must_use]
    pub fn weighted(quanta: &[Bytes]) -> Egress {
        let group = |(class, &quantum): (usize, &Bytes)| EgressGroup::turns(1u8 << class, Share::Weighted { quantum });
        Egress::Groups(quanta.iter().enumerate().map(group).collect())
    }
}

/// Classes that are scheduled together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EgressGroup {
    /// Classes; bit n is class n.
    pub classes: u8,
    /// Share of the group.
    pub share: Share,
    /// Division of that share among its classes.
    pub within: Within,
}

impl EgressGroup {
    /// Returns a group whose classes take turns.
    #[must_use]
    pub const fn turns(classes: u8, share: Share) -> EgressGroup {
        EgressGroup { classes, share, within: Within::Turns }
    }
}

/// The division of a group's share among its classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Within {
    /// Round robin, frame by frame.
    #[default]
    Turns,
    /// Strict priority, the highest class first.
    Priority,
}

/// A group's share of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// Precedence over every weighted group, without a limit.
    Strict,
    /// A number of bytes on the wire per round (deficit round robin).
    Weighted {
        /// Bytes per round, including frame overhead.
        quantum: Bytes,
    },
}

/// Maximum number of entries in a table of [`VlArbitration`].
pub const MAX_VL_ENTRIES: usize = 64;

/// InfiniBand's virtual-lane arbitration: the high table has precedence, up to a limit; within a table, the entries
/// take turns. Every class needs weight in one of the tables; it may be in both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VlArbitration {
    /// Entries of the high table, in the order of their turns.
    pub high: Vec<VlEntry>,
    /// Entries of the low table.
    pub low: Vec<VlEntry>,
    /// Amount that the high table may send before a frame of the low table, in units of 4096 bytes: 0 is one frame, 255
    /// is unlimited. A frame may start while any of it remains.
    pub high_limit: u8,
}

/// An entry in a table of [`VlArbitration`]. A class may have several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VlEntry {
    /// Class that may send.
    pub class: u8,
    /// Amount in units of 64 bytes, without frame overhead; a frame may start while any of it remains. An entry of
    /// weight 0 is skipped.
    pub weight: u8,
}

/// The time at which a switch may forward a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forwarding {
    /// When its last byte has arrived.
    StoreAndForward,
    /// A fixed time after its first byte has arrived. A frame from an input that is slower than the switch's fastest
    /// output is stored first, so that no output underruns in the middle of a frame.
    CutThrough {
        /// Time from the arrival of the first byte to the earliest start on the output.
        header_delay: Span,
    },
}

/// The flow control by which a receiver limits its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowControl {
    /// No flow control: frames that do not fit are dropped.
    None,
    /// 802.3x PAUSE: stops the whole link.
    Pause(PauseSpec),
    /// 802.1Qbb PFC: stops each lossless class separately.
    Pfc(PauseSpec),
    /// Credits: the sender knows the free room of the receiver.
    Credits(CreditSpec),
}

/// The timing of PAUSE and PFC. Thresholds belong to the buffer: see [`ClassBuffer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseSpec {
    /// Requested duration, in quanta of 512 bit times of the link.
    pub quanta: u16,
    /// Remaining quanta at which the pause is requested again, if the buffer has not drained.
    pub refresh_before: u16,
    /// Time from the arrival of a pause frame until the sender obeys it, at a frame boundary.
    pub response: Span,
    /// Additional response time, drawn uniformly for each pause frame; one never overtakes another.
    pub response_jitter: Span,
    /// Classes that PAUSE stops; bit n is class n. MAC control frames always pass.
    pub holds: u8,
}

impl Default for PauseSpec {
    /// 65535 quanta, the maximum of the field, requested again halfway, so that one lost frame is tolerated.
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
    /// Returns the longest response time of a sender, which headroom must cover.
    #[must_use]
    pub fn longest_response(&self) -> Span {
        self.response + self.response_jitter
    }
}

/// The unit of credits and their return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreditSpec {
    /// Unit of a credit.
    pub unit: CreditUnit,
    /// Return of credits to the sender.
    pub give_back: CreditReturn,
}

/// The unit of a credit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreditUnit {
    /// One frame of any size; buffer capacities are then counted in frames.
    Frame,
    /// A block of that many bytes; a frame takes whole blocks.
    Block(Bytes),
}

/// The return of credits to the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreditReturn {
    /// A frame of that size in the other direction, which waits for the wire and occupies it.
    Frame {
        /// Size, without overhead.
        size: Bytes,
        /// Maximum interval between repetitions, so that a lost frame is tolerated.
        refresh: Option<Span>,
    },
    /// An out-of-band signal, a fixed time after the frame's tail has left.
    Signal {
        /// Time from the departure of the tail until the sender receives the signal.
        delay: Span,
    },
}

/// The buffer of one class at each port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassBuffer {
    /// Maximum bytes (or frames, with [`CreditUnit::Frame`]) held: per input, or per output queue for a lossy class
    /// where frames wait at outputs. With a shared buffer, the part guaranteed to the port. PAUSE counts all classes of
    /// a port together.
    pub capacity: Bytes,
    /// PAUSE and PFC: the sender is stopped when more than this is held. Ignored with a shared buffer, where the
    /// dynamic threshold applies.
    pub xoff: Bytes,
    /// PAUSE and PFC: the sender may resume when no more than this is held. With a shared buffer: the distance below
    /// the threshold.
    pub xon: Bytes,
    /// Shared buffer only: the sender may also resume when no more than this is held, whatever the threshold.
    pub resume: Bytes,
    /// Shared buffer only: room reserved for frames that arrive after XOFF.
    pub headroom: Bytes,
    /// Shared buffer only: alpha of the class as (numerator, denominator); `None` for that of the buffer.
    pub alpha: Option<(u32, u32)>,
    /// Shared buffer only: the most that a queue may use of the shared part, whatever the dynamic threshold.
    pub limit: Bytes,
    /// Maximum number of frames in an output queue of a lossy class, with the one on the wire, as a second limit.
    pub frames: u32,
}

impl ClassBuffer {
    /// An unlimited buffer: no drops and no flow control.
    pub const UNLIMITED: ClassBuffer = ClassBuffer {
        capacity: Bytes::new(u32::MAX as u64 / 2),
        xoff: Bytes::new(u32::MAX as u64 / 2),
        xon: Bytes::new(u32::MAX as u64 / 2),
        resume: Bytes::ZERO,
        headroom: Bytes::ZERO,
        alpha: None,
        limit: Bytes::new(u32::MAX as u64 / 2),
        frames: u32::MAX,
    };

    /// Returns a drop-tail buffer of that size.
    #[must_use]
    pub const fn drop_tail(capacity: Bytes) -> ClassBuffer {
        ClassBuffer { capacity, ..ClassBuffer::UNLIMITED }
    }

    /// Returns a buffer that stops senders above `xoff` and resumes at `xon`, with the rest of `capacity` as headroom.
    #[must_use]
    pub const fn lossless(capacity: Bytes, xoff: Bytes, xon: Bytes) -> ClassBuffer {
        ClassBuffer { capacity, xoff, xon, ..ClassBuffer::UNLIMITED }
    }
}

/// The memory of a switch.
#[derive(Clone, Debug, PartialEq)]
pub enum Buffer {
    /// Fixed buffers per port and class.
    Static(Vec<ClassBuffer>),
    /// One memory for all ports, shared by a dynamic threshold: a queue may use `alpha` times the free memory.
    Shared {
        /// Size of the shared part; guaranteed parts and headroom are added to it.
        total: Bytes,
        /// Alpha as (numerator, denominator).
        alpha: (u32, u32),
        /// Guarantee, hysteresis and headroom of each class.
        classes: Vec<ClassBuffer>,
    },
}

/// A kind of switch.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchSpec {
    /// Place where frames wait.
    pub queueing: Queueing,
    /// Buffer memory.
    pub buffer: Buffer,
    /// Flow control of its inputs towards their senders.
    pub flow_control: FlowControl,
    /// Arbitration of outputs among inputs; required unless frames wait at outputs only.
    pub crossbar: Option<Crossbar>,
    /// Scheduling of classes at an output.
    pub egress: Egress,
    /// Time at which a frame may leave.
    pub forwarding: Forwarding,
    /// Delay from a frame's arrival until it joins a queue. During this time the frame occupies the input's buffer.
    pub pipeline: Span,
    /// Order in which an output serves destinations. Output queueing only.
    pub order: Order,
    /// Congestion point, occupancy accounting and reliable delivery, if any.
    pub congestion_point: Option<CongestionPointSpec>,
    /// PFC watchdog of its ports, if any. Output queueing with PFC only.
    pub pfc_watchdog: Option<PfcWatchdogSpec>,
}

impl SwitchSpec {
    /// Returns the bytes of a class that an input may hold before its sender is stopped; a slot holds `largest_frame`.
    #[must_use]
    pub fn input_room(&self, class: usize, largest_frame: u32) -> u32 {
        let bytes = match &self.buffer {
            Buffer::Shared { total, alpha: (numerator, denominator), classes } => {
                // One queue alone may use alpha times what it leaves free.
                let class = &classes[class];
                let (numerator, denominator) = class.alpha.unwrap_or((*numerator, *denominator));
                let (numerator, denominator) = (u64::from(numerator), u64::from(denominator));
                let dynamic = total.get() * numerator / (numerator + denominator).max(1);
                class.capacity.get() + dynamic.min(class.limit.get())
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

    /// Returns whether the frames that wait for an output in a class are held by inputs that stop their senders: a
    /// single input can then queue no more than its buffer.
    #[must_use]
    pub fn held_by_inputs(&self, lossless: bool) -> bool {
        lossless && self.flow_control != FlowControl::None && !matches!(self.queueing, Queueing::Combined { .. })
    }
}

/// The order in which an output serves frames of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The oldest frame first.
    #[default]
    Arrival,
    /// Round robin over the destinations, the oldest frame of each.
    RoundRobin,
    /// The destination with the most bytes waiting.
    Longest,
}

/// The congestion point of a switch, and related functions.
#[derive(Clone, Debug, PartialEq)]
pub struct CongestionPointSpec {
    /// Congestion point in its initial state.
    pub point: Option<Point>,
    /// Whether the switch accounts for each flow's part of an input buffer. Required by a point that draws frames.
    pub occupancy: bool,
    /// Bytes per unit of buffer memory, the unit of a draw.
    pub unit: Bytes,
    /// Reliable delivery across a fabric: a frame from a host to another switch is kept, with its buffer, until a
    /// receipt confirms its arrival at the switch of its destination.
    pub reliable: bool,
    /// Whether the congestion point of an output also samples frames that find no room there.
    pub sample_dropped: bool,
    /// Class of notices and receipts; they have precedence over all data at the switch that creates them.
    pub notice_class: u8,
    /// Size of a notice or receipt, without overhead.
    pub notice_size: Bytes,
    /// Class in which trimmed frames continue.
    pub trim_class: u8,
    /// Size of a trimmed frame, without overhead.
    pub trim_size: Bytes,
}

impl CongestionPointSpec {
    /// Returns a description with that congestion point and notices of 64 bytes in class 0.
    #[must_use]
    pub fn point(point: Point) -> CongestionPointSpec {
        CongestionPointSpec { point: Some(point), ..CongestionPointSpec::default() }
    }

    /// Returns whether the congestion point may trim frames.
    #[must_use]
    pub fn trims(&self) -> bool {
        self.point.as_ref().is_some_and(CongestionPoint::trims)
    }

    /// Returns whether the switch sends notices or receipts.
    #[must_use]
    pub fn tells(&self) -> bool {
        self.reliable || self.point.as_ref().is_some_and(CongestionPoint::notifies)
    }
}

impl Default for CongestionPointSpec {
    /// No congestion point; notices and trimmed frames of 64 bytes, the smallest Ethernet frame, and units of the same
    /// size.
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
            trim_class: 0,
            trim_size: size,
        }
    }
}

/// A kind of adapter: a host's attachment to the network.
#[derive(Clone, Debug, PartialEq)]
pub struct AdapterSpec {
    /// Flow control towards the switch that sends to it.
    pub flow_control: FlowControl,
    /// Receive buffer per class, for frames that have arrived and are not yet consumed.
    pub buffer: Vec<ClassBuffer>,
    /// Rate at which it consumes frames, in bits per second, including frame overhead; `None` for no delay.
    pub service: Option<Rate>,
    /// Changes of the service rate. A rate of zero stops it.
    pub service_changes: Vec<(Time, Option<Rate>)>,
    /// Scheduling of classes when it sends.
    pub egress: Egress,
}

impl Default for AdapterSpec {
    /// Consumes frames without delay and never stops its sender.
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
    /// Display name.
    pub name: String,
    /// Whether frames must never be dropped for lack of room. PFC and credits apply to lossless classes only.
    pub lossless: bool,
}

/// The choice among equal-cost paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multipath {
    /// By a hash of the flow: a flow keeps its path.
    FlowHash,
    /// For every frame separately.
    Spray,
    /// For every frame, the output with the shortest queue; among equal ones, by the hash of the flow.
    Adaptive,
    /// By the entropy of the frame, as the number of its path: a switch with n equal outputs takes the remainder of a
    /// division by n and leaves the quotient to the next. A source that counts its paths uses all of them alike.
    Numbered,
    /// A flow keeps its path while its frames follow each other closely, and may take another one after a gap.
    Flowlet(FlowletSpec),
}

/// The gap that separates two flowlets of a flow, and the path of the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowletSpec {
    /// Time without a frame after which a flow may take another path.
    pub gap: Span,
    /// Entries of the table of each switch, indexed by a hash of the flow: flows that share an entry share its path.
    pub entries: u32,
    /// Choice of the next path.
    pub choice: FlowletChoice,
}

/// The choice of a flowlet's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowletChoice {
    /// Uniformly at random.
    Random,
    /// The output with the shortest queue; among equal ones, by the hash of the flow.
    Shortest,
}

/// A failure of a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Index of the cable in [`Graph::cables`].
    pub cable: u32,
    /// Time at which it fails. Frames on it are lost.
    pub down: Time,
    /// Time at which it works again, if ever.
    pub up: Option<Time>,
}

/// The differences of one port from its kind, for example as negotiated by the two ends of its cable.
#[derive(Clone, Debug, PartialEq)]
pub struct PortSpec {
    /// Node of the port.
    pub node: NodeId,
    /// Number of the port on that node, in the order of [`Graph::ports`].
    pub port: u16,
    /// Lossless classes with PFC at this port, bit n for class n: it sends and obeys pauses of these classes only. A
    /// frame of another lossless class that finds no room here ends the run as usual.
    pub pfc: u8,
    /// Scheduling of classes; `None` for that of its kind.
    pub egress: Option<Egress>,
    /// Buffer of each class at this port of a switch; `None` for those of its kind.
    pub buffers: Option<Vec<ClassBuffer>>,
    /// PFC watchdog of this port of a switch; `None` for that of its kind, if it has one.
    pub pfc_watchdog: Option<PfcWatchdogSpec>,
}

impl PortSpec {
    /// Returns a port that does not differ from its kind.
    #[must_use]
    pub const fn plain(node: NodeId, port: u16) -> PortSpec {
        PortSpec { node, port, pfc: u8::MAX, egress: None, buffers: None, pfc_watchdog: None }
    }
}

/// A change of forwarding tables.
#[derive(Clone, Debug, PartialEq)]
pub struct RouteChange {
    /// Time at which the first switch installs them.
    pub at: Time,
    /// New tables.
    pub routes: Routes,
    /// Switches that install them, each with its own time; if empty, all of them at `at`. While switches differ, frames
    /// may loop, and lossless ones may deadlock.
    pub switches: Vec<(NodeId, Time)>,
}

impl RouteChange {
    /// Returns a change of all switches at one instant.
    #[must_use]
    pub fn everywhere(at: Time, routes: Routes) -> RouteChange {
        RouteChange { at, routes, switches: Vec::new() }
    }

    /// Returns the time at which the last switch installs them.
    #[must_use]
    pub fn last(&self) -> Time {
        self.switches.iter().map(|&(_, at)| at).max().unwrap_or(self.at)
    }

    /// Returns the times at which that switch installs them, in no particular order.
    pub fn times(&self, switch: NodeId) -> impl Iterator<Item = Time> + '_ {
        let all = self.switches.is_empty().then_some(self.at);
        let own = self.switches.iter().filter(move |(node, _)| *node == switch).map(|&(_, at)| at);
        all.into_iter().chain(own)
    }
}

/// The complete description of a simulated network and its traffic.
#[derive(Clone, Debug)]
pub struct NetworkSpec {
    /// Nodes and cables.
    pub graph: Graph,
    /// Forwarding tables.
    pub routes: Routes,
    /// Later changes of forwarding tables, in any order.
    pub route_changes: Vec<RouteChange>,
    /// Choice among equal-cost paths.
    pub multipath: Multipath,
    /// Classes 0..n, n at most 8; a higher number is a higher priority.
    pub classes: Vec<ClassSpec>,
    /// Kinds of switches.
    pub switches: Vec<SwitchSpec>,
    /// Kinds of adapters.
    pub adapters: Vec<AdapterSpec>,
    /// For each node, the index of its kind in `switches` or `adapters`.
    pub kind_of: Vec<u32>,
    /// Ports that differ from their kind, each at most once. At all others, PFC is on for every lossless class.
    pub ports: Vec<PortSpec>,
    /// Preamble and gap: bytes on the wire per frame in addition to its length. Ethernet: 20.
    pub overhead: Bytes,
    /// Minimum length of a flow's frames and of acknowledgements; the last frame of a flow is padded. Ethernet: 64.
    pub smallest_frame: Bytes,
    /// How the time of a frame on a cable, and its time at the rate of a flow, is rounded.
    pub frame_time: FrameTime,
    /// Traffic.
    pub flows: FlowList,
    /// By flow: the number of its path, for [`Multipath::Numbered`]. A flow that has none, or is not in the list, goes by a
    /// hash.
    pub path_numbers: Vec<Option<u32>>,
    /// Flows that wait for others.
    pub dependencies: Dependencies,
    /// Failures of cables.
    pub faults: Vec<Fault>,
    /// Last instant of a run. What is to fail, to be repaired or to change later never does, so it cannot end a standstill.
    pub end: Time,
    /// Seed, which identifies every random stream together with an entity and a purpose.
    pub seed: u64,
}

impl NetworkSpec {
    /// Returns the flow control of a node towards its neighbours.
    ///
    /// # Panics
    /// Panics if the node or its kind does not exist.
    #[must_use]
    pub fn flow_control(&self, node: NodeId) -> FlowControl {
        let kind = self.kind_of[node.0 as usize] as usize;
        match self.graph.nodes[node.0 as usize].role {
            Role::Switch => self.switches[kind].flow_control,
            Role::Host => self.adapters[kind].flow_control,
        }
    }

    /// Returns the number by which a flow's path is chosen: its own, a hash of the flow, or a value that selects the tree
    /// that it names.
    ///
    /// # Panics
    /// Panics if the flow does not exist.
    #[must_use]
    pub fn entropy(&self, flow: u32) -> u32 {
        if let Some(&Some(number)) = self.path_numbers.get(flow as usize) {
            return number;
        }
        self.flows[flow as usize].entropy(flow, self.seed, usize::from(self.routes.trees()))
    }

    /// Returns a network with one kind of switch and one kind of adapter, shortest paths by flow hash, one class,
    /// Ethernet framing and no traffic.
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
            frame_time: FrameTime::Exact,
            flows: FlowList::default(),
            path_numbers: Vec::new(),
            dependencies: Dependencies::default(),
            faults: Vec::new(),
            end: Time::MAX,
            seed: 1,
            graph,
        }
    }
}
