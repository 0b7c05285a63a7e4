//! Congestion control protocols of Ethernet and InfiniBand as pure state machines.
//!
//! A source's [`ReactionPoint`] states the rate and the window of its flow and the time of its next call. A switch's
//! [`CongestionPoint`] marks frames and selects the sources to notify. Neither schedules events.
//!
//! ```
//! use tailback_congestion::parameter::Values;
//! use tailback_congestion::units::{Bytes, Rate, Span, Time};
//! use tailback_congestion::{Adapter, Feedback, PROTOCOLS, ReactionPoint};
//!
//! // Additive increase, multiplicative decrease with its default parameters, behind a link of 10 Gb/s.
//! let aimd = PROTOCOLS.iter().find(|protocol| protocol.name == "aimd").expect("it is built in");
//! let mut source = (aimd.build)(&Values::defaults(aimd.parameters))?;
//! source.attach(&Adapter::of(Rate::from_gigabits(10), Bytes::new(1500)))?;
//! let before = source.allowance().rate;
//!
//! let (bytes, round_trip) = (Bytes::new(1500), Span::from_micros(10));
//! let marked = Feedback::Acknowledgement { bytes, marked: true, round_trip, path: Default::default() };
//! source.on_feedback(Time::ZERO + Span::from_micros(10), &marked);
//! assert!(source.allowance().rate < before);
//! # Ok::<(), tailback_congestion::parameter::Invalid>(())
//! ```
//!
//! [`PROTOCOLS`] and [`POINTS`] list the built-in protocols with their parameters. [`Reaction::custom`] and
//! [`Point::custom`] accept types of other crates.
//!
//! A built-in protocol is one file with documented parameters, one line in `protocols!` or `points!` below, and one
//! scenario. Devices use reaction points through [`Reaction`] and congestion points through [`Point`]; no device names
//! a protocol.

mod advertised;
mod bcn;
mod bcn_point;
mod bcn_source;
mod by_class;
mod cct;
pub mod custom;
mod dcqcn;
mod dctcp_rate;
mod e2cm;
mod eqds;
mod fecn;
mod feedback;
mod guidance;
mod hpcc;
mod hpcc_averages;
mod increase;
mod infiniband_fecn;
#[cfg(test)]
mod laws;
mod marking;
mod ndp;
mod none;
mod nscc;
pub mod parameter;
mod path;
mod path_probe;
pub mod point;
mod powertcp;
mod pulling;
mod qcn_2007;
mod qcn_point;
mod qcn_source;
mod qcn_standard;
mod rate_law;
mod rccc;
mod red;
mod reno;
mod step;
mod swift;
mod telemetry;
mod timely;
mod trimming;

pub use bcn_point::BcnPoint;
pub use bcn_source::BcnSource;
pub use by_class::ByClass;
pub use cct::CongestionTable;
pub use dcqcn::Dcqcn;
pub use dctcp_rate::DctcpRate;
pub use fecn::{FecnPoint, FecnSource};
pub use hpcc::Hpcc;
pub use infiniband_fecn::InfinibandFecn;
pub use marking::Marking;
pub use ndp::Pulled;
pub use none::NoControl;
pub use nscc::Nscc;
use parameter::{Invalid, Parameter, Preset, Values};
pub use point::CongestionPoint;
use point::{Drawn, Fate, Guidance, Notice, Passage, Passing, Request, Surroundings, Treatment, View};
pub use powertcp::PowerTcp;
pub use pulling::{Demand, FirstWindow, Learns, Pulling};
pub use qcn_point::QcnPoint;
pub use qcn_source::QcnSource;
pub use rate_law::{RateLaw, ResponseFunction};
pub use red::Red;
pub use reno::Reno;
pub use step::Step;
pub use swift::Swift;
pub use telemetry::Stamp;
pub use timely::Timely;
pub use trimming::Trimming;
pub use units;
use units::{Bytes, Rate, Span, State, Time};

/// Rate and window of a sender. `None` means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowance {
    /// Maximum rate at which frames may start, in bits per second.
    pub rate: Option<Rate>,
    /// Maximum number of unacknowledged bytes in flight.
    pub window: Option<Bytes>,
}

/// Rate of a flow that must not send: too low to ever pay for a frame. It is not zero, so that a wait stretched by it
/// can be shortened again, by [`Pacing::Remaining`], when the flow may resume.
pub const HALTED: Rate = Rate::from_bits_per_sec(1);

/// Effect of a rate change on a frame that is waiting to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// The remaining wait is scaled: the next frame starts when the rate, integrated over time, has paid for the last
    /// one.
    Remaining,
    /// The wait is recomputed from the start of the last frame.
    FromStart,
    /// The same, also if the wait was over: between the starts of two frames is always what the first one takes at the
    /// present rate.
    Gap,
    /// The wait keeps its length: a new rate applies from the next frame on.
    Kept,
}

/// Feedback received by a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// The receiver acknowledged data.
    Acknowledgement {
        /// Number of bytes that it covers: those acknowledged and those sent before them.
        bytes: Bytes,
        /// Whether the data carried a congestion mark.
        marked: bool,
        /// Time since the source created the data frame, including its wait at the adapter.
        round_trip: Span,
        /// What else the source knows about the path and its progress.
        path: PathReport,
    },
    /// The receiver reports congestion by a frame of its own (the CNP of RoCEv2).
    CongestionNotification,
    /// The receiver permits the source to send so many more bytes.
    Grant {
        /// Number of bytes.
        bytes: Bytes,
    },
    /// A path probe returned.
    PathProbe {
        /// Number that the reaction point gave the probe.
        number: u32,
        /// Value of the probe: its initial value as changed by the switches on its path, or, if that was [`STAMP`], the
        /// time of its arrival at the destination, in picoseconds.
        value: u64,
    },
    /// A notice from a congestion point.
    Notice {
        /// Quantised feedback.
        feedback: u8,
        /// The set point less the queue, in bytes.
        offset: i32,
        /// Growth of the queue since the previous sample, in bytes.
        growth: i32,
        /// Number of the congestion point; see [`point::number`].
        point: u32,
        /// Suggested and maximum rate, if the point provides guidance.
        guidance: Option<Guidance>,
    },
}

/// What an acknowledgement tells about the path of its flow and the flow's progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathReport {
    /// Round-trip time by hardware time stamps: since the data frame started on the source's link, without its wait at
    /// the adapter.
    pub network_round_trip: Span,
    /// Time of this that the data frame spent at its destination: from its arrival at the adapter until it was
    /// acknowledged, because the application was slow or the acknowledgement was delayed. Acknowledgements carry it for
    /// reaction points with [`wants_host_delay`](ReactionPoint::wants_host_delay) only.
    pub host_delay: Span,
    /// Number of links from the source to the destination; 0 if it is not known.
    pub hops: u8,
    /// Bytes of the flow that have been acknowledged so far, including these.
    pub acknowledged: Bytes,
    /// Bytes of the flow that have been sent so far, each counted once however often it was sent.
    pub sent: Bytes,
}

/// How a source learned of a lost frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossSignal {
    /// By acknowledgements: a negative one, or enough later frames acknowledged.
    Detected,
    /// The retransmission timer expired.
    Timeout,
}

/// The value of a path probe that the destination replaces with the time of its arrival.
pub const STAMP: u64 = u64::MAX;

/// A frame that a source sends to measure its path. The destination returns it, unless it is addressed to a congestion
/// point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathProbe {
    /// Number by which the source identifies the probe when it returns.
    pub number: u32,
    /// Value that the probe carries.
    pub value: u64,
    /// Tag of the congestion point that it is addressed to; 0 for all points on its path. See [`point::tag_of`].
    pub tag: u16,
}

/// The class of path probes, unless their flow states another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathProbeClass {
    /// The class of the flow's data frames, in order with them.
    WithData,
    /// The most urgent class.
    Urgent,
}

/// The adapter of a reaction point.
#[derive(Clone, Copy, Debug)]
pub struct Adapter {
    /// Rate of its link.
    pub link: Rate,
    /// Size of the flow's frames, without overhead.
    pub frame: Bytes,
    /// Preamble and gap of a frame.
    pub overhead: Bytes,
    /// Seed of the run.
    pub seed: u64,
    /// Number of the flow.
    pub flow: u32,
    /// Round-trip time of a frame and its acknowledgement on the flow's path without queues; zero if it is not known.
    pub round_trip: Span,
    /// Number of equal paths to the destination, as a product of the choices on the way; 1 if it is not known.
    pub paths: u32,
}

impl Adapter {
    /// Returns an adapter with that link for a flow with frames of that size.
    #[must_use]
    pub fn of(link: Rate, frame: Bytes) -> Adapter {
        Adapter { link, frame, overhead: Bytes::ZERO, seed: 1, flow: 0, round_trip: Span::from_micros(10), paths: 1 }
    }
}

/// The sender's side of a protocol; one per flow.
pub trait ReactionPoint {
    /// Called once, before any other input, with the adapter of the flow.
    ///
    /// # Errors
    /// Fails if the parameters do not suit the adapter.
    fn attach(&mut self, _adapter: &Adapter) -> Result<(), Invalid> {
        Ok(())
    }
    /// The flow started to send a frame of that length.
    fn on_sent(&mut self, now: Time, len: Bytes);
    /// Feedback arrived.
    fn on_feedback(&mut self, now: Time, feedback: &Feedback);
    /// The flow's recovery detected a loss. Called once per loss event, before the feedback of the same acknowledgement.
    fn on_loss(&mut self, _now: Time, _signal: LossSignal) {}
    /// The destination got only the header of a frame of that length. Called once per frame, after
    /// [`on_loss`](Self::on_loss) and before the feedback of the same acknowledgement.
    fn on_trimmed(&mut self, _now: Time, _bytes: Bytes) {}
    /// In-band telemetry of the path arrived, one stamp per hop from the source on. Called before the feedback of the
    /// same acknowledgement.
    fn on_telemetry(&mut self, _now: Time, _stamps: &[Stamp]) {}
    /// Returns whether switches are to stamp the flow's frames.
    fn wants_telemetry(&self) -> bool {
        false
    }
    /// Returns whether it reacts to congestion notification packets, which the receiver must then send.
    fn wants_notifications(&self) -> bool {
        false
    }
    /// Returns whether it wants to hear of acknowledgements. Without a window and without a reaction to them, they change
    /// nothing, and a flow without loss recovery need not be asked again what it may send.
    fn heeds_acknowledgements(&self) -> bool {
        true
    }
    /// Returns whether acknowledgements are to carry the time that frames spend at the destination's host.
    fn wants_host_delay(&self) -> bool {
        false
    }
    /// Returns how its destination permits frames, if it is receiver-driven. Its transport then sends nothing more than
    /// that.
    fn pulling(&self) -> Option<Pulling> {
        None
    }
    /// Returns the entropy of the next frame, by which switches choose among equal paths; `None` is that of the flow.
    /// Called once per frame, if [`chooses_entropy`](Self::chooses_entropy) or if its type is not built in.
    fn entropy(&mut self) -> Option<u32> {
        None
    }
    /// Returns whether [`entropy`](Self::entropy) may choose one.
    fn chooses_entropy(&self) -> bool {
        false
    }
    /// The time stated by [`deadline`](Self::deadline) was reached.
    fn on_deadline(&mut self, now: Time);
    /// Returns the time at which it requests a call of [`on_deadline`](Self::on_deadline), if any.
    fn deadline(&self) -> Option<Time>;
    /// The source turned on or off; it creates no frames while it is off.
    fn on_activity(&mut self, _now: Time, _on: bool) {}
    /// Returns the current rate and window of the flow.
    fn allowance(&self) -> Allowance;
    /// Returns the rate that the flow never exceeds, if its parameters state one.
    fn ceiling(&self) -> Option<Rate> {
        None
    }
    /// Returns the effect of a rate change on a wait that has begun.
    fn pacing(&self) -> Pacing {
        Pacing::Remaining
    }
    /// Returns a path probe to send now, if any. Called after every event of the flow.
    fn path_probe(&mut self, _now: Time) -> Option<PathProbe> {
        None
    }
    /// Returns the class of its path probes; `None` if it never sends any.
    fn path_probes(&self) -> Option<PathProbeClass> {
        None
    }
    /// Returns the tag of the flow's frames; 0 is no tag. See [`point::tag_of`].
    fn tag(&self) -> u16 {
        0
    }
    /// Returns whether it may ever tag a frame or a probe.
    fn tags(&self) -> bool {
        false
    }
    /// Returns the size of a tag.
    fn tag_size(&self) -> Bytes {
        Bytes::ZERO
    }
    /// Returns whether marks also apply to the host's other flows of the same class and protocol.
    fn shares_feedback(&self) -> bool {
        false
    }
}

/// A protocol: its name, its parameters, and the constructor of its reaction point.
#[derive(Clone, Copy, Debug)]
pub struct ProtocolInfo {
    /// Name in scenarios.
    pub name: &'static str,
    /// One-line description.
    pub summary: &'static str,
    /// Parameters.
    pub parameters: &'static [Parameter],
    /// Named sets of other defaults.
    pub presets: &'static [Preset],
    /// Whether the protocol needs acknowledgements to have any effect.
    pub acknowledged: bool,
    /// Builds a reaction point.
    pub build: fn(&Values) -> Result<Reaction, Invalid>,
}

/// A kind of congestion point: its name, its parameters, and its constructor.
#[derive(Clone, Copy, Debug)]
pub struct PointInfo {
    /// Name in scenarios.
    pub name: &'static str,
    /// One-line description.
    pub summary: &'static str,
    /// Parameters.
    pub parameters: &'static [Parameter],
    /// Named sets of other defaults.
    pub presets: &'static [Preset],
    /// Builds a congestion point.
    pub build: fn(&Values) -> Result<Point, Invalid>,
}

/// Generates the enum of reaction points and the catalogue. Every flow contains one, so large types are boxed. The last
/// variant is open: see [`custom`].
macro_rules! protocols {
    ($($variant:ident($type:ty) = $($info:expr),*;)*) => {
        /// The reaction point of a protocol.
        #[derive(Clone, Debug)]
        pub enum Reaction {
            $(#[doc = concat!("See [`", stringify!($type), "`].")] $variant($type),)*
        }

        impl State for Reaction {
            fn save(&self, out: &mut Vec<u8>) {
                match self { $(Reaction::$variant(point) => point.save(out),)* }
            }
            fn load(&mut self, input: &mut &[u8]) -> Option<()> {
                match self { $(Reaction::$variant(point) => point.load(input),)* }
            }
        }

        impl ReactionPoint for Reaction {
            fn attach(&mut self, adapter: &Adapter) -> Result<(), Invalid> {
                match self { $(Reaction::$variant(point) => point.attach(adapter),)* }
            }
            #[inline]
            fn on_sent(&mut self, now: Time, len: Bytes) {
                match self { $(Reaction::$variant(point) => point.on_sent(now, len),)* }
            }
            fn on_feedback(&mut self, now: Time, feedback: &Feedback) {
                match self { $(Reaction::$variant(point) => point.on_feedback(now, feedback),)* }
            }
            fn on_loss(&mut self, now: Time, signal: LossSignal) {
                match self { $(Reaction::$variant(point) => point.on_loss(now, signal),)* }
            }
            fn on_trimmed(&mut self, now: Time, bytes: Bytes) {
                match self { $(Reaction::$variant(point) => point.on_trimmed(now, bytes),)* }
            }
            fn on_telemetry(&mut self, now: Time, stamps: &[Stamp]) {
                match self { $(Reaction::$variant(point) => point.on_telemetry(now, stamps),)* }
            }
            fn wants_telemetry(&self) -> bool {
                match self { $(Reaction::$variant(point) => point.wants_telemetry(),)* }
            }
            fn wants_notifications(&self) -> bool {
                match self { $(Reaction::$variant(point) => point.wants_notifications(),)* }
            }
            fn heeds_acknowledgements(&self) -> bool {
                match self { $(Reaction::$variant(point) => point.heeds_acknowledgements(),)* }
            }
            fn wants_host_delay(&self) -> bool {
                match self { $(Reaction::$variant(point) => point.wants_host_delay(),)* }
            }
            fn pulling(&self) -> Option<Pulling> {
                match self { $(Reaction::$variant(point) => point.pulling(),)* }
            }
            fn entropy(&mut self) -> Option<u32> {
                match self { $(Reaction::$variant(point) => point.entropy(),)* }
            }
            fn chooses_entropy(&self) -> bool {
                matches!(self, Reaction::Custom(_))
                    || match self { $(Reaction::$variant(point) => point.chooses_entropy(),)* }
            }
            fn on_deadline(&mut self, now: Time) {
                match self { $(Reaction::$variant(point) => point.on_deadline(now),)* }
            }
            #[inline]
            fn deadline(&self) -> Option<Time> {
                match self { $(Reaction::$variant(point) => point.deadline(),)* }
            }
            #[inline]
            fn allowance(&self) -> Allowance {
                match self { $(Reaction::$variant(point) => point.allowance(),)* }
            }
            fn ceiling(&self) -> Option<Rate> {
                match self { $(Reaction::$variant(point) => point.ceiling(),)* }
            }
            fn pacing(&self) -> Pacing {
                match self { $(Reaction::$variant(point) => point.pacing(),)* }
            }
            fn path_probe(&mut self, now: Time) -> Option<PathProbe> {
                match self { $(Reaction::$variant(point) => point.path_probe(now),)* }
            }
            fn on_activity(&mut self, now: Time, on: bool) {
                match self { $(Reaction::$variant(point) => point.on_activity(now, on),)* }
            }
            fn path_probes(&self) -> Option<PathProbeClass> {
                match self { $(Reaction::$variant(point) => point.path_probes(),)* }
            }
            fn tag(&self) -> u16 {
                match self { $(Reaction::$variant(point) => point.tag(),)* }
            }
            fn tags(&self) -> bool {
                match self { $(Reaction::$variant(point) => point.tags(),)* }
            }
            fn tag_size(&self) -> Bytes {
                match self { $(Reaction::$variant(point) => point.tag_size(),)* }
            }
            fn shares_feedback(&self) -> bool {
                match self { $(Reaction::$variant(point) => point.shares_feedback(),)* }
            }
        }

        /// All built-in protocols.
        pub const PROTOCOLS: &[ProtocolInfo] = &[$($($info,)*)*];
    };
}

/// Generates the same for congestion points.
macro_rules! points {
    ($($variant:ident($type:ty) = $($info:expr),*;)*) => {
        /// The congestion point of a protocol.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Point {
            $(#[doc = concat!("See [`", stringify!($type), "`].")] $variant($type),)*
        }

        impl State for Point {
            fn save(&self, out: &mut Vec<u8>) {
                match self { $(Point::$variant(point) => point.save(out),)* }
            }
            fn load(&mut self, input: &mut &[u8]) -> Option<()> {
                match self { $(Point::$variant(point) => point.load(input),)* }
            }
        }

        impl CongestionPoint for Point {
            fn attach(&mut self, surroundings: &Surroundings) {
                match self { $(Point::$variant(point) => point.attach(surroundings),)* }
            }
            fn on_arrival(&mut self, frame: &Passage, view: &impl View) -> Request {
                match self { $(Point::$variant(point) => point.on_arrival(frame, view),)* }
            }
            fn notifies(&self) -> bool {
                match self { $(Point::$variant(point) => point.notifies(),)* }
            }
            fn judges_joining(&self) -> bool {
                match self { $(Point::$variant(point) => point.judges_joining(),)* }
            }
            fn draws(&self) -> bool {
                match self { $(Point::$variant(point) => point.draws(),)* }
            }
            fn asked_from(&self, output: u16) -> Option<u32> {
                match self { $(Point::$variant(point) => point.asked_from(output),)* }
            }
            fn judges(&self) -> bool {
                match self { $(Point::$variant(point) => point.judges(),)* }
            }
            fn discards(&self) -> u8 {
                match self { $(Point::$variant(point) => point.discards(),)* }
            }
            fn trims(&self) -> bool {
                match self { $(Point::$variant(point) => point.trims(),)* }
            }
            fn returns_headers(&self) -> bool {
                match self { $(Point::$variant(point) => point.returns_headers(),)* }
            }
            fn on_enqueue(&mut self, frame: &Passage, view: &impl View) -> Treatment {
                match self { $(Point::$variant(point) => point.on_enqueue(frame, view),)* }
            }
            fn on_output(&mut self, frame: &Passage, view: &impl View) -> Request {
                match self { $(Point::$variant(point) => point.on_output(frame, view),)* }
            }
            fn on_path_probe(&mut self, probe: &mut Passing, view: &impl View) -> Fate {
                match self { $(Point::$variant(point) => point.on_path_probe(probe, view),)* }
            }
            fn on_settled(&mut self, now: Time, view: &impl View) {
                match self { $(Point::$variant(point) => point.on_settled(now, view),)* }
            }
            fn on_start(&mut self, frame: &Passage, view: &impl View) -> bool {
                match self { $(Point::$variant(point) => point.on_start(frame, view),)* }
            }
            fn on_rerouted(&mut self, view: &impl View) {
                match self { $(Point::$variant(point) => point.on_rerouted(view),)* }
            }
            fn on_drawn(&mut self, now: Time, drawn: &[Drawn]) -> Option<Notice> {
                match self { $(Point::$variant(point) => point.on_drawn(now, drawn),)* }
            }
            fn deadline(&self) -> Option<Time> {
                match self { $(Point::$variant(point) => point.deadline(),)* }
            }
            fn on_deadline(&mut self, now: Time, view: &impl View) -> Request {
                match self { $(Point::$variant(point) => point.on_deadline(now, view),)* }
            }
        }

        /// All built-in congestion points.
        pub const POINTS: &[PointInfo] = &[$($($info,)*)*];
    };
}

protocols! {
    None(NoControl) = none::INFO;
    RateLaw(RateLaw) = rate_law::LIPD, rate_law::FIMD, rate_law::AIMD;
    CongestionTable(CongestionTable) = cct::INFO;
    Fecn(Box<FecnSource>) = fecn::SOURCE, fecn::SOURCE_B;
    Qcn(Box<QcnSource>) = qcn_standard::SOURCE, qcn_2007::SOURCE, qcn_2007::SOURCE_P, qcn_2007::SOURCE_PR;
    Bcn(Box<BcnSource>) = bcn::BCN, bcn::ECM, e2cm::SOURCE, e2cm::SOURCE_P, e2cm::SOURCE_PR;
    Dcqcn(Box<Dcqcn>) = dcqcn::INFO;
    Hpcc(Box<Hpcc>) = hpcc::INFO;
    PowerTcp(Box<PowerTcp>) = powertcp::POWER, powertcp::THETA;
    Timely(Box<Timely>) = timely::TIMELY, timely::PATCHED;
    Swift(Box<Swift>) = swift::INFO;
    Reno(Box<Reno>) = reno::DCTCP, reno::NEW_RENO, reno::CUBIC;
    DctcpRate(Box<DctcpRate>) = ;
    Pulled(Box<Pulled>) = ndp::INFO, eqds::INFO, rccc::INFO;
    Nscc(Box<Nscc>) = nscc::INFO;
    Custom(Box<dyn custom::CustomReactionPoint>) = ;
}

points! {
    Marking(Marking) = marking::NAIVE, marking::INPUT_TRIGGERED, marking::INPUT_OUTPUT_TRIGGERED;
    InfinibandFecn(InfinibandFecn) = infiniband_fecn::INFO;
    Fecn(FecnPoint) = fecn::POINT, fecn::POINT_B;
    Qcn(QcnPoint) = qcn_point::INFO, qcn_2007::POINT, qcn_2007::POINT_P, qcn_2007::POINT_PR;
    Bcn(BcnPoint) = bcn_point::BCN, bcn_point::ECM, e2cm::POINT, e2cm::POINT_P, e2cm::POINT_PR;
    Red(Box<Red>) = red::ECN, red::DROP;
    Step(Step) = step::INFO;
    Trimming(Trimming) = trimming::INFO;
    ByClass(ByClass) = ;
    Custom(Box<dyn custom::CustomCongestionPoint>) = ;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_in_the_catalogues_is_made_from_its_defaults_and_fits() {
        let adapter = Adapter::of(Rate::from_gigabits(10), Bytes::new(1500));
        for info in PROTOCOLS {
            let mut reaction = (info.build)(&Values::defaults(info.parameters)).unwrap();
            reaction.attach(&adapter).unwrap();
            for preset in info.presets {
                assert!(
                    (info.build)(&Values::preset(info.parameters, preset)).is_ok(),
                    "{} {}",
                    info.name,
                    preset.name
                );
            }
            assert_eq!(PROTOCOLS.iter().filter(|other| other.name == info.name).count(), 1, "{}", info.name);
        }
        let surroundings = Surroundings {
            rates: vec![adapter.link; 4],
            classes: 2,
            to_host: vec![false; 4],
            largest_frame: vec![1500; 2],
            buffer: vec![150_000; 2],
            held_by_inputs: vec![true; 2],
            seed: 1,
            node: 0,
            first_port: 0,
        };
        for info in POINTS {
            let mut point = (info.build)(&Values::defaults(info.parameters)).unwrap();
            point.attach(&surroundings);
            for preset in info.presets {
                assert!(
                    (info.build)(&Values::preset(info.parameters, preset)).is_ok(),
                    "{} {}",
                    info.name,
                    preset.name
                );
            }
            assert_eq!(POINTS.iter().filter(|other| other.name == info.name).count(), 1, "{}", info.name);
        }
    }

    #[test]
    fn a_reaction_point_is_small_enough_to_be_in_every_flow() {
        assert!(size_of::<Reaction>() <= 88, "{}", size_of::<Reaction>());
    }
}
