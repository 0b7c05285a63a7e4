//! Loss recovery, receiving points and path selection as pure state machines.
//!
//! A flow with loss recovery has two halves. At the source a [`Sender`] states the frame to send next, a new frame or a
//! retransmission, and the time of its retransmission timer. At the destination a [`Sink`] is notified of arriving
//! frames: its [`Receiver`] determines which of them are new, and its [`ReceivingPoint`]s state the replies to send and
//! the time of their next call. Neither half schedules, knows a clock or sees a network, and neither depends on congestion
//! control: a reaction point limits rate and window, a sender chooses among the frames.
//!
//! The frames of a flow are numbered 0, 1, 2, ... All have the size of the flow's frames except the last of a finite
//! flow, so a number is enough to build a frame again, and the state machines count frames, not bytes.
//!
//! ```
//! use tailback_transport::congestion::parameter::Values;
//! use tailback_transport::units::{Span, Time};
//! use tailback_transport::{Acknowledger, Arrived, Next, RECOVERIES, Say, Sender, Sink};
//!
//! let info = RECOVERIES.iter().find(|recovery| recovery.name == "go-back-n").expect("it is built in");
//! let recovery = (info.build)(&Values::defaults(info.parameters))?;
//! let mut source = recovery.sender.expect("it retransmits");
//! let mut sink = Sink::new(recovery.receiver).with_acknowledger(Acknowledger::every(1));
//!
//! // Frame 0 is lost, frame 1 arrives: the destination sends a NAK, the source goes back.
//! let at = |micros| Time::ZERO + Span::from_micros(micros);
//! source.on_sent(at(0), 0);
//! source.on_sent(at(1), 1);
//! sink.on_arrival(at(6), &Arrived { number: 1, stamp: at(1), ..Arrived::default() });
//! let Some(Say::Reply(nak)) = sink.next_reply(at(6)) else { panic!("a gap is reported") };
//! source.on_reply(at(11), &nak);
//! assert_eq!(source.next(true), Next::Again { number: 0, windowed: true });
//! # Ok::<(), tailback_transport::congestion::parameter::Invalid>(())
//! ```
//!
//! [`RECOVERIES`] lists the built-in recoveries with their parameters. A built-in recovery is one file with documented
//! parameters and one line in each of the lists below. [`Sending::custom`], [`Receiving::custom`] and
//! [`Sink::with_point`] accept types of other crates.
//!
//! A [`PathSelector`] at the source chooses the entropy of each frame, by which switches choose among equal paths.
//! [`PATH_SELECTIONS`] lists the built-in ones.

mod acknowledger;
mod bitmap;
pub mod custom;
mod flow_bender;
mod go_back_n;
mod none;
mod notifier;
mod path_selection;
mod pulled;
mod puller;
mod reordering;
mod reply;
mod reps;
mod retransmission_timer;
mod sack;
mod scoreboard;
mod selective_repeat;
mod sink;

pub use acknowledger::Acknowledger;
pub use congestion;
use congestion::Adapter;
pub use congestion::LossSignal;
use congestion::parameter::{Invalid, Parameter, Preset, Values};
pub use flow_bender::FlowBender;
pub use go_back_n::{GoBackNReceiver, GoBackNSender};
pub use none::Untracked;
pub use notifier::Notifier;
pub use path_selection::{Echo, PATH_SELECTIONS, PathSelection, PathSelectionInfo, PathSelector};
pub use pulled::{PulledSender, pulled};
pub use puller::Puller;
pub use reordering::{EarlyReply, ReorderingReceiver};
pub use reply::{Arrived, Block, Blocks, Meaning, Reply, Say, unwrapped};
pub use reps::Reps;
pub use sack::SackSender;
pub use selective_repeat::SelectiveRepeatSender;
pub use sink::{ReceivingPoint, Sink};
pub use units;
use units::{Span, State, Time};

/// What a sender would send next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing: the flow waits for replies, for its timer or for data.
    Nothing,
    /// The flow's next frame that was never sent. Its number is [`Sender::sent`].
    Fresh,
    /// A frame that was sent before.
    Again {
        /// Number of the frame.
        number: u64,
        /// Whether the window of congestion control applies to it. A fast retransmission goes without asking.
        windowed: bool,
    },
}

/// What a sender learned from a reply or its timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Number of frames that are now known to have arrived and were not before.
    pub arrived: u64,
    /// A loss that begins a recovery, or a timeout; what congestion control should hear of. Further losses of the same
    /// recovery are not repeated.
    pub loss: Option<LossSignal>,
    /// Round trip of the frame that caused the reply, by its time stamp.
    pub round_trip: Option<Span>,
}

/// The source's half of loss recovery; one per flow.
///
/// A device asks [`next`](Self::next) whenever the flow may send, checks the window of congestion control against
/// [`in_flight`](Self::in_flight), builds the frame and reports it by [`on_sent`](Self::on_sent).
pub trait Sender {
    /// Called once, before any other input, with the adapter of the flow.
    ///
    /// # Errors
    /// Fails if the parameters do not suit the adapter.
    fn attach(&mut self, _adapter: &Adapter) -> Result<(), Invalid> {
        Ok(())
    }
    /// Returns how many frames it sends at most beyond the last cumulative acknowledgement, whatever congestion control
    /// permits; `None` without a limit.
    fn window(&self) -> Option<u64> {
        None
    }
    /// Returns what to send next. `fresh` says whether the flow has a frame that was never sent.
    fn next(&self, fresh: bool) -> Next;
    /// The frame that [`next`](Self::next) chose starts.
    fn on_sent(&mut self, now: Time, number: u64);
    /// A reply arrived. Replies may be lost, duplicated and reordered.
    fn on_reply(&mut self, now: Time, reply: &Reply) -> Progress;
    /// The destination permits that many more frames.
    fn on_grant(&mut self, _frames: u64) {}
    /// A switch returned the header of a frame: its destination will not hear of it.
    fn on_returned(&mut self, _now: Time, _number: u64) {}
    /// Returns how many frames the destination should have permitted in all, if the frame that starts says so. `fresh` is
    /// the number of frames that were never sent.
    fn announce(&mut self, _fresh: u64) -> Option<u64> {
        None
    }
    /// Returns the number of the frame whose header to send now, alone, as a request to send, if any. Called after its
    /// deadlines and when the flow has new frames.
    fn request(&mut self, _now: Time, _fresh: u64) -> Option<u64> {
        None
    }
    /// Returns the time at which it requests a call of [`on_deadline`](Self::on_deadline), if any.
    fn deadline(&self) -> Option<Time>;
    /// The time stated by [`deadline`](Self::deadline) was reached.
    fn on_deadline(&mut self, now: Time) -> Progress;
    /// Returns the number below which all frames are known to have arrived.
    fn acknowledged(&self) -> u64;
    /// Returns how many different frames were sent: the number of the next fresh one.
    fn sent(&self) -> u64;
    /// Returns how many frames it believes to be in the network; a window limits these.
    fn in_flight(&self) -> u64;
}

/// What became of an arriving frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// New, and the next in order.
    InOrder,
    /// New, not the next in order, and kept.
    OutOfOrder,
    /// Not the next in order, and discarded: the source has to send it again.
    Discarded,
    /// Arrived before; discarded.
    Duplicate,
    /// Only its header arrived.
    Trimmed,
}

impl Arrival {
    /// Returns whether the frame counts as delivered.
    #[must_use]
    pub const fn is_fresh(self) -> bool {
        matches!(self, Arrival::InOrder | Arrival::OutOfOrder)
    }
}

/// The reply that a receiver wants after an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// None.
    Silent,
    /// An acknowledgement, which may wait for further arrivals.
    Delayed,
    /// An acknowledgement without delay.
    AtOnce,
    /// A negative acknowledgement without delay.
    Negative,
}

/// The destination's half of loss recovery; one per flow.
pub trait Receiver {
    /// A frame arrived; returns what became of it and the reply that it wants.
    fn on_arrival(&mut self, now: Time, number: u64) -> (Arrival, Response);
    /// The header of a frame arrived whose payload a switch removed; returns the reply that it wants.
    fn on_trimmed(&mut self, now: Time, number: u64) -> Response;
    /// Returns the number below which all frames have arrived.
    fn expected(&self) -> u64;
    /// Returns the frames above [`expected`](Self::expected) that have arrived, for a selective acknowledgement: the
    /// block with the latest arrival first. Empty if the recovery does not use them.
    fn blocks(&self) -> Blocks {
        Blocks::default()
    }
}

/// Both halves of a recovery, ready to be copied into flows.
#[derive(Clone, Debug)]
pub struct Recovery {
    /// The source's half; `None` if nothing is retransmitted.
    pub sender: Option<Sending>,
    /// The destination's half.
    pub receiver: Receiving,
}

/// A recovery: its name, its parameters, and the constructor of both halves.
#[derive(Clone, Copy, Debug)]
pub struct RecoveryInfo {
    /// Name in scenarios.
    pub name: &'static str,
    /// One-line description.
    pub summary: &'static str,
    /// Parameters.
    pub parameters: &'static [Parameter],
    /// Named sets of other defaults.
    pub presets: &'static [Preset],
    /// Builds both halves.
    pub build: fn(&Values) -> Result<Recovery, Invalid>,
}

/// Generates the enum of senders that devices hold.
macro_rules! senders {
    ($($variant:ident($type:ty);)*) => {
        /// The source's half of a recovery. The last variant is open: see [`custom`].
        #[derive(Clone, Debug)]
        pub enum Sending {
            $(#[doc = concat!("See [`", stringify!($type), "`].")] $variant($type),)*
        }

        impl State for Sending {
            fn save(&self, out: &mut Vec<u8>) {
                match self { $(Sending::$variant(sender) => sender.save(out),)* }
            }
            fn load(&mut self, input: &mut &[u8]) -> Option<()> {
                match self { $(Sending::$variant(sender) => sender.load(input),)* }
            }
        }

        impl Sender for Sending {
            fn attach(&mut self, adapter: &Adapter) -> Result<(), Invalid> {
                match self { $(Sending::$variant(sender) => sender.attach(adapter),)* }
            }
            fn window(&self) -> Option<u64> {
                match self { $(Sending::$variant(sender) => sender.window(),)* }
            }
            #[inline]
            fn next(&self, fresh: bool) -> Next {
                match self { $(Sending::$variant(sender) => sender.next(fresh),)* }
            }
            #[inline]
            fn on_sent(&mut self, now: Time, number: u64) {
                match self { $(Sending::$variant(sender) => sender.on_sent(now, number),)* }
            }
            #[inline]
            fn on_reply(&mut self, now: Time, reply: &Reply) -> Progress {
                match self { $(Sending::$variant(sender) => sender.on_reply(now, reply),)* }
            }
            fn on_grant(&mut self, frames: u64) {
                match self { $(Sending::$variant(sender) => sender.on_grant(frames),)* }
            }
            fn on_returned(&mut self, now: Time, number: u64) {
                match self { $(Sending::$variant(sender) => sender.on_returned(now, number),)* }
            }
            fn announce(&mut self, fresh: u64) -> Option<u64> {
                match self { $(Sending::$variant(sender) => sender.announce(fresh),)* }
            }
            fn request(&mut self, now: Time, fresh: u64) -> Option<u64> {
                match self { $(Sending::$variant(sender) => sender.request(now, fresh),)* }
            }
            #[inline]
            fn deadline(&self) -> Option<Time> {
                match self { $(Sending::$variant(sender) => sender.deadline(),)* }
            }
            fn on_deadline(&mut self, now: Time) -> Progress {
                match self { $(Sending::$variant(sender) => sender.on_deadline(now),)* }
            }
            #[inline]
            fn acknowledged(&self) -> u64 {
                match self { $(Sending::$variant(sender) => sender.acknowledged(),)* }
            }
            #[inline]
            fn sent(&self) -> u64 {
                match self { $(Sending::$variant(sender) => sender.sent(),)* }
            }
            #[inline]
            fn in_flight(&self) -> u64 {
                match self { $(Sending::$variant(sender) => sender.in_flight(),)* }
            }
        }
    };
}

/// Generates the same for receivers.
macro_rules! receivers {
    ($($variant:ident($type:ty);)*) => {
        /// The destination's half of a recovery. The last variant is open: see [`custom`].
        #[derive(Clone, Debug)]
        pub enum Receiving {
            $(#[doc = concat!("See [`", stringify!($type), "`].")] $variant($type),)*
        }

        impl State for Receiving {
            fn save(&self, out: &mut Vec<u8>) {
                match self { $(Receiving::$variant(receiver) => receiver.save(out),)* }
            }
            fn load(&mut self, input: &mut &[u8]) -> Option<()> {
                match self { $(Receiving::$variant(receiver) => receiver.load(input),)* }
            }
        }

        impl Receiver for Receiving {
            #[inline]
            fn on_arrival(&mut self, now: Time, number: u64) -> (Arrival, Response) {
                match self { $(Receiving::$variant(receiver) => receiver.on_arrival(now, number),)* }
            }
            fn on_trimmed(&mut self, now: Time, number: u64) -> Response {
                match self { $(Receiving::$variant(receiver) => receiver.on_trimmed(now, number),)* }
            }
            #[inline]
            fn expected(&self) -> u64 {
                match self { $(Receiving::$variant(receiver) => receiver.expected(),)* }
            }
            #[inline]
            fn blocks(&self) -> Blocks {
                match self { $(Receiving::$variant(receiver) => receiver.blocks(),)* }
            }
        }
    };
}

senders! {
    GoBackN(GoBackNSender);
    SelectiveRepeat(SelectiveRepeatSender);
    Sack(SackSender);
    Pulled(Box<PulledSender>);
    Custom(Box<dyn custom::CustomSender>);
}

receivers! {
    Untracked(Untracked);
    GoBackN(GoBackNReceiver);
    Reordering(ReorderingReceiver);
    Custom(Box<dyn custom::CustomReceiver>);
}

/// All built-in recoveries.
pub const RECOVERIES: &[RecoveryInfo] = &[none::INFO, go_back_n::INFO, selective_repeat::INFO, sack::INFO];

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Bytes, Rate};

    #[test]
    fn everything_in_the_catalogue_is_made_from_its_defaults_and_presets_and_fits() {
        let adapter = Adapter::of(Rate::from_gigabits(100), Bytes::new(1000));
        for info in RECOVERIES {
            let all = std::iter::once(Values::defaults(info.parameters))
                .chain(info.presets.iter().map(|preset| Values::preset(info.parameters, preset)));
            for values in all {
                let recovery = (info.build)(&values).unwrap();
                if let Some(mut sender) = recovery.sender {
                    sender.attach(&adapter).unwrap();
                    assert_eq!((sender.next(true), sender.next(false)), (Next::Fresh, Next::Nothing), "{}", info.name);
                    assert_eq!(sender.deadline(), None, "{}", info.name);
                }
            }
            assert_eq!(RECOVERIES.iter().filter(|other| other.name == info.name).count(), 1, "{}", info.name);
        }
    }
}
