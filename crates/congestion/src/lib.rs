//! Congestion control as pure state machines: a sender's reaction point states what it may send and when it next
//! wants to be asked; it cannot schedule anything and cannot see the network.
//!
//! A protocol is one file with documented parameters, one line in `protocols!` below, and one scenario. Everything
//! that handles a reaction point goes through [`ReactionPoint`] and the generated [`Reaction`]; no device names a
//! protocol.

mod none;

pub use none::NoControl;
use units::{Bytes, Rate, Span, Time};

/// What a sender may do now. `None` means that nothing limits it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowance {
    /// Bits per second at which frames may start.
    pub rate: Option<Rate>,
    /// Bytes that may be on their way without an acknowledgement.
    pub window: Option<Bytes>,
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
}

/// The sender's side of a protocol, one per flow.
pub trait ReactionPoint {
    /// The flow started to send a frame of that length.
    fn on_sent(&mut self, now: Time, len: Bytes);
    /// Something came back.
    fn on_feedback(&mut self, now: Time, feedback: &Feedback);
    /// The deadline stated earlier has come.
    fn on_deadline(&mut self, now: Time);
    /// When it next wants to be asked, if ever.
    fn deadline(&self) -> Option<Time>;
    /// What the flow may do now.
    fn allowance(&self) -> Allowance;
}

/// What `tailback protocols` says of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtocolInfo {
    /// The name used in scenarios.
    pub name: &'static str,
    /// One line on what it does.
    pub summary: &'static str,
}

/// Generates the closed set of reaction points: an enum without boxing, and the catalogue.
macro_rules! protocols {
    ($($variant:ident($type:ty) = $info:expr;)*) => {
        /// The reaction point of some protocol.
        #[derive(Clone, Debug)]
        pub enum Reaction {
            $(#[doc = concat!("See [`", stringify!($type), "`].")] $variant($type),)*
        }

        impl ReactionPoint for Reaction {
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
        }

        /// Every protocol there is.
        pub const PROTOCOLS: &[ProtocolInfo] = &[$($info,)*];
    };
}

protocols! {
    None(NoControl) = none::INFO;
}
