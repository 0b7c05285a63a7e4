//! Senders, receivers, receiving points and path selectors that other crates define.
//!
//! The built-in ones are variants of [`Sending`], [`Receiving`] and [`PathSelection`], so a call to one of them is a
//! branch, not a virtual call. One further variant of each boxes a type of another crate. The traits here are
//! implemented for every suitable type and need not be named.

use crate::{PathSelection, PathSelector, Receiver, Receiving, ReceivingPoint, Sender, Sending};
use std::fmt::Debug;
use std::panic::{RefUnwindSafe, UnwindSafe};
use units::State;

/// Generates a trait for types that can be boxed: any that implement the trait of the state machine and can be cloned,
/// printed and sent to another thread.
macro_rules! boxable {
    ($(#[doc = $doc:literal] $custom:ident: $base:ident;)*) => {
        $(
            #[doc = $doc]
            pub trait $custom: $base + Debug + Send + Sync + UnwindSafe + RefUnwindSafe {
                /// Returns a boxed copy: each flow has its own.
                fn boxed_clone(&self) -> Box<dyn $custom>;
            }

            impl<T> $custom for T
            where
                T: $base + Clone + Debug + Send + Sync + UnwindSafe + RefUnwindSafe + 'static,
            {
                fn boxed_clone(&self) -> Box<dyn $custom> {
                    Box::new(self.clone())
                }
            }

            /// A type of another crate has no state that can be saved: a simulation with one is not saved.
            impl State for dyn $custom {
                fn save(&self, _out: &mut Vec<u8>) {}

                fn load(&mut self, _input: &mut &[u8]) -> Option<()> {
                    None
                }
            }

            impl Clone for Box<dyn $custom> {
                fn clone(&self) -> Self {
                    (**self).boxed_clone()
                }
            }
        )*
    };
}

boxable! {
    /// A sender that can be boxed.
    CustomSender: Sender;
    /// A receiver that can be boxed.
    CustomReceiver: Receiver;
    /// A receiving point that can be boxed.
    CustomReceivingPoint: ReceivingPoint;
    /// A path selector that can be boxed.
    CustomPathSelector: PathSelector;
}

impl Sending {
    /// Wraps a sender that is not built in: any type that implements [`Sender`], [`Clone`] and [`Debug`] and contains no
    /// references or cells.
    pub fn custom(sender: impl CustomSender + 'static) -> Sending {
        Sending::Custom(Box::new(sender))
    }
}

impl Receiving {
    /// Wraps a receiver that is not built in, under the same conditions.
    pub fn custom(receiver: impl CustomReceiver + 'static) -> Receiving {
        Receiving::Custom(Box::new(receiver))
    }
}

impl PathSelection {
    /// Wraps a path selector that is not built in, under the same conditions.
    pub fn custom(selector: impl CustomPathSelector + 'static) -> PathSelection {
        PathSelection::Custom(Box::new(selector))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arrival, GoBackNReceiver, GoBackNSender, Next, Response};
    use units::{Span, Time};

    #[test]
    fn a_wrapped_half_behaves_as_the_half_itself() {
        let mut sender = Sending::custom(GoBackNSender::new(Span::from_micros(1)));
        let copy = sender.clone();
        assert_eq!(sender.next(true), Next::Fresh);
        sender.on_sent(Time::ZERO, 0);
        assert_eq!((sender.sent(), sender.in_flight(), copy.sent()), (1, 1, 0));
        let mut receiver = Receiving::custom(GoBackNReceiver::new(Span::MAX));
        assert_eq!(receiver.on_arrival(Time::ZERO, 0), (Arrival::InOrder, Response::Delayed));
        assert_eq!((receiver.expected(), receiver.clone().expected()), (1, 1));
    }
}
