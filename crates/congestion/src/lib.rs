//! Congestion control protocols of Ethernet and InfiniBand as pure state machines.
//!
//! A source's [`ReactionPoint`] states the rate and window that its flow may use and when it wants to be called next. A
//! switch's [`CongestionPoint`] marks frames and chooses the sources to notify. Neither can schedule anything.
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
//! let marked = Feedback::Acknowledgement { bytes: Bytes::new(1500), marked: true, round_trip: Span::from_micros(10) };
//! source.on_feedback(Time::ZERO + Span::from_micros(10), &marked);
//! assert!(source.allowance().rate < before);
//! # Ok::<(), tailback_congestion::parameter::Invalid>(())
//! ```
//!
//! [`PROTOCOLS`] and [`POINTS`] list the built-in protocols with their parameters. [`Reaction::custom`] and
//! [`Point::custom`] take types of other crates.
//!
//! A built-in protocol is one file with documented parameters, one line in `protocols!` or `points!` below, and one
//! scenario. Devices use reaction points through [`Reaction`] and congestion points through [`Point`]; no device names a
//! protocol.

mod advertised;
mod bcn;
mod bcn_point;
mod bcn_source;
mod cct;
pub mod custom;
mod e2cm;
mod fecn;
mod feedback;
mod guidance;
mod increase;
mod infiniband_fecn;
mod marking;
mod none;
pub mod parameter;
mod path_probe;
pub mod point;
mod qcn_2007;
mod qcn_point;
mod qcn_source;
mod qcn_standard;
mod rate_law;

pub use bcn_point::BcnPoint;
pub use bcn_source::BcnSource;
pub use cct::CongestionTable;
pub use fecn::{FecnPoint, FecnSource};
pub use infiniband_fecn::InfinibandFecn;
pub use marking::Marking;
pub use none::NoControl;
use parameter::{Invalid, Parameter, Preset, Values};
pub use point::CongestionPoint;
use point::{Drawn, Fate, Guidance, Notice, Passage, Passing, Request, Surroundings, View};
pub use qcn_point::QcnPoint;
pub use qcn_source::QcnSource;
pub use rate_law::{Law, RateLaw};
pub use units;
use units::{Bytes, Rate, Span, Time};

/// What a sender may do now. `None` means that nothing limits it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowance {
    /// Bits per second at which frames may start.
    pub rate: Option<Rate>,
    /// Bytes that may be on their way without an acknowledgement.
    pub window: Option<Bytes>,
}

/// What a flow may do that may do nothing: a rate at which no frame is ever paid for. It is not zero, so that a wait which
/// it stretches can be shortened again, by [`Pacing::Remaining`], when the flow may go on.
pub const HALTED: Rate = Rate::from_bits_per_sec(1);

/// What a changed rate means for a frame that waits for its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// What was left of the wait is stretched or shortened: the next frame goes when the rate, summed over time, has paid
    /// for the last.
    Remaining,
    /// The wait is counted anew, from the start of the last frame.
    FromStart,
}

/// What comes back to a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// The receiver acknowledged data.
    Acknowledgement {
        /// How many bytes it settles: those acknowledged, and those sent before them.
        bytes: Bytes,
        /// Whether the data carried a congestion mark.
        marked: bool,
        /// From when the source made the data frame to now: what it waited at the adapter is counted.
        round_trip: Span,
    },
    /// A path probe has come back.
    PathProbe {
        /// Its number, as the reaction point gave it.
        number: u32,
        /// What it carries: what switches on its way have made of the value it set out with, or, if that was
        /// [`STAMP`], when it reached the destination, in picoseconds.
        value: u64,
    },
    /// A congestion point sent a notice.
    Notice {
        /// Quantised feedback.
        feedback: u8,
        /// The set point less the queue, in bytes.
        offset: i32,
        /// How much the queue had grown since the sample before, in bytes.
        growth: i32,
        /// Which congestion point; see [`point::number`].
        point: u32,
        /// What rate it suggests and allows, if it does.
        guidance: Option<Guidance>,
    },
}

/// The value of a path probe that the destination replaces by the time of its arrival.
pub const STAMP: u64 = u64::MAX;

/// A frame that a source wants to send to learn about its path. The destination sends it back, unless it is addressed
/// to a congestion point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathProbe {
    /// A number by which the source knows it again.
    pub number: u32,
    /// What it carries.
    pub value: u64,
    /// The congestion point it is for, if it is not for all on its way; see [`point::tag_of`].
    pub tag: u16,
}

/// The class in which path probes travel, unless their flow states another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathProbeClass {
    /// Behind the flow's frames, in their class.
    WithData,
    /// In the most urgent class.
    Urgent,
}

/// The adapter a reaction point is in.
#[derive(Clone, Copy, Debug)]
pub struct Adapter {
    /// Rate of its link.
    pub link: Rate,
    /// The flow's frames, overhead not counted.
    pub frame: Bytes,
    /// Preamble and gap of a frame.
    pub overhead: Bytes,
    /// Seed of the run.
    pub seed: u64,
    /// Number of the flow.
    pub flow: u32,
}

impl Adapter {
    /// An adapter with that link, for a flow with frames of that size.
    #[must_use]
    pub fn of(link: Rate, frame: Bytes) -> Adapter {
        Adapter { link, frame, overhead: Bytes::ZERO, seed: 1, flow: 0 }
    }
}

/// The sender's side of a protocol, one per flow.
pub trait ReactionPoint {
    /// Tells it where it is, before anything happens.
    ///
    /// # Errors
    /// If its parameters do not fit there.
    fn attach(&mut self, _adapter: &Adapter) -> Result<(), Invalid> {
        Ok(())
    }
    /// The flow started to send a frame of that length.
    fn on_sent(&mut self, now: Time, len: Bytes);
    /// Something came back.
    fn on_feedback(&mut self, now: Time, feedback: &Feedback);
    /// The deadline stated earlier has come.
    fn on_deadline(&mut self, now: Time);
    /// When it next wants to be asked, if ever.
    fn deadline(&self) -> Option<Time>;
    /// The source turns on, or off: it makes no frames then.
    fn on_activity(&mut self, _now: Time, _on: bool) {}
    /// What the flow may do now.
    fn allowance(&self) -> Allowance;
    /// The rate that its parameters state and that the flow never exceeds, if they state one.
    fn ceiling(&self) -> Option<Rate> {
        None
    }
    /// What a change of the allowed rate does to a wait that has begun.
    fn pacing(&self) -> Pacing {
        Pacing::Remaining
    }
    /// A path probe to send now, if it wants one. Called after every event of the flow.
    fn path_probe(&mut self, _now: Time) -> Option<PathProbe> {
        None
    }
    /// The class of its path probes, if it ever sends any.
    fn path_probes(&self) -> Option<PathProbeClass> {
        None
    }
    /// What the flow's frames are tagged with; 0 is nothing. See [`point::tag_of`].
    fn tag(&self) -> u16 {
        0
    }
    /// Whether it may ever tag a frame, or a probe.
    fn tags(&self) -> bool {
        false
    }
    /// What a tag adds to a frame.
    fn tag_size(&self) -> Bytes {
        Bytes::ZERO
    }
    /// Whether marks are also for the host's other flows of the same class and protocol.
    fn shares_feedback(&self) -> bool {
        false
    }
}

/// What a protocol is: its name, its parameters, and how to make a reaction point of them.
#[derive(Clone, Copy, Debug)]
pub struct ProtocolInfo {
    /// The name used in scenarios.
    pub name: &'static str,
    /// One line on what it does.
    pub summary: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Named sets of other defaults.
    pub presets: &'static [Preset],
    /// Whether it does nothing without acknowledgements.
    pub acknowledged: bool,
    /// Makes a reaction point.
    pub build: fn(&Values) -> Result<Reaction, Invalid>,
}

/// What a congestion point is: its name, its parameters, and how to make one of them.
#[derive(Clone, Copy, Debug)]
pub struct PointInfo {
    /// The name used in scenarios.
    pub name: &'static str,
    /// One line on what it does.
    pub summary: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Named sets of other defaults.
    pub presets: &'static [Preset],
    /// Makes a congestion point.
    pub build: fn(&Values) -> Result<Point, Invalid>,
}

/// Generates the set of reaction points, an enum, and the catalogue. Every flow has one of them inside, so what is large
/// says `Box`. The last variant is open: see [`custom`].
macro_rules! protocols {
    ($($variant:ident($type:ty) = $($info:expr),*;)*) => {
        /// The reaction point of some protocol.
        #[derive(Clone, Debug)]
        pub enum Reaction {
            $(#[doc = concat!("See [`", stringify!($type), "`].")] $variant($type),)*
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

        /// Every protocol there is.
        pub const PROTOCOLS: &[ProtocolInfo] = &[$($($info,)*)*];
    };
}

/// The same for congestion points.
macro_rules! points {
    ($($variant:ident($type:ty) = $($info:expr),*;)*) => {
        /// The congestion point of some protocol.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Point {
            $(#[doc = concat!("See [`", stringify!($type), "`].")] $variant($type),)*
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

        /// Every kind of congestion point there is.
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
    Custom(Box<dyn custom::CustomReactionPoint>) = ;
}

points! {
    Marking(Marking) = marking::NAIVE, marking::INPUT_TRIGGERED, marking::INPUT_OUTPUT_TRIGGERED;
    InfinibandFecn(InfinibandFecn) = infiniband_fecn::INFO;
    Fecn(FecnPoint) = fecn::POINT, fecn::POINT_B;
    Qcn(QcnPoint) = qcn_point::INFO, qcn_2007::POINT, qcn_2007::POINT_P, qcn_2007::POINT_PR;
    Bcn(BcnPoint) = bcn_point::BCN, bcn_point::ECM, e2cm::POINT, e2cm::POINT_P, e2cm::POINT_PR;
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
