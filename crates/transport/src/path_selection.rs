//! Path selection: the entropy of the frames of a flow, by which switches choose among equal paths.
//!
//! A [`PathSelector`] is at the source. It is notified of replies, each with the entropy of the frame that caused it, and
//! of timeouts, and states the entropy of the next frame. It knows neither the paths nor the switches: another entropy
//! is another path with some probability.

use crate::flow_bender::{self, FlowBender};
use crate::reps::{self, Reps};
use crate::{LossSignal, custom};
use congestion::Adapter;
use congestion::parameter::{Invalid, Parameter, Preset, Values};
use units::{Bytes, State, Time};

/// What a reply tells about the path of the frame that caused it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Echo {
    /// The entropy of the frame.
    pub entropy: u32,
    /// Whether it, or another frame since the last reply, carried a congestion mark.
    pub marked: bool,
    /// Whether a switch removed its payload.
    pub trimmed: bool,
    /// Bytes of the flow that have been acknowledged so far.
    pub acknowledged: Bytes,
    /// Bytes of the flow that have been sent so far, each counted once.
    pub sent: Bytes,
}

/// Chooses the entropy of the frames of a flow; one per flow, at its source.
pub trait PathSelector {
    /// Called once, before any other input, with the adapter of the flow and the entropy that a hash of the flow gives.
    fn attach(&mut self, adapter: &Adapter, hash: u32);
    /// Returns the entropy of the next frame. Called once per frame, also for retransmissions.
    fn entropy(&mut self) -> u32;
    /// Returns the entropy that all frames have at present; `None` if successive frames differ.
    fn held(&self) -> Option<u32>;
    /// A reply arrived.
    fn on_echo(&mut self, now: Time, echo: &Echo);
    /// The flow's recovery detected a loss. Called once per loss event, before the echo of the same reply.
    fn on_loss(&mut self, now: Time, signal: LossSignal);
}

/// A path selection: its name, its parameters, and the constructor of its selector.
#[derive(Clone, Copy, Debug)]
pub struct PathSelectionInfo {
    /// Name in scenarios.
    pub name: &'static str,
    /// One-line description.
    pub summary: &'static str,
    /// Parameters.
    pub parameters: &'static [Parameter],
    /// Named sets of other defaults.
    pub presets: &'static [Preset],
    /// Builds a selector; `None` if a hash of the flow decides.
    pub build: fn(&Values) -> Result<Option<PathSelection>, Invalid>,
}

/// Generates the enum of selectors that devices hold.
macro_rules! selectors {
    ($($variant:ident($type:ty);)*) => {
        /// The path selection of a flow. The last variant is open: see [`custom`](crate::custom).
        #[derive(Clone, Debug)]
        pub enum PathSelection {
            $(#[doc = concat!("See [`", stringify!($type), "`].")] $variant($type),)*
        }

        impl State for PathSelection {
            fn save(&self, out: &mut Vec<u8>) {
                match self { $(PathSelection::$variant(selector) => selector.save(out),)* }
            }
            fn load(&mut self, input: &mut &[u8]) -> Option<()> {
                match self { $(PathSelection::$variant(selector) => selector.load(input),)* }
            }
        }

        impl PathSelector for PathSelection {
            fn attach(&mut self, adapter: &Adapter, hash: u32) {
                match self { $(PathSelection::$variant(selector) => selector.attach(adapter, hash),)* }
            }
            fn entropy(&mut self) -> u32 {
                match self { $(PathSelection::$variant(selector) => selector.entropy(),)* }
            }
            fn held(&self) -> Option<u32> {
                match self { $(PathSelection::$variant(selector) => selector.held(),)* }
            }
            fn on_echo(&mut self, now: Time, echo: &Echo) {
                match self { $(PathSelection::$variant(selector) => selector.on_echo(now, echo),)* }
            }
            fn on_loss(&mut self, now: Time, signal: LossSignal) {
                match self { $(PathSelection::$variant(selector) => selector.on_loss(now, signal),)* }
            }
        }
    };
}

selectors! {
    FlowBender(FlowBender);
    Reps(Reps);
    Custom(Box<dyn custom::CustomPathSelector>);
}

const HASH: PathSelectionInfo = PathSelectionInfo {
    name: "hash",
    summary: "A hash of the flow: all frames take one path, unless switches or congestion control spread them",
    parameters: &[],
    presets: &[],
    build: |_| Ok(None),
};

/// All built-in path selections.
pub const PATH_SELECTIONS: &[PathSelectionInfo] = &[HASH, flow_bender::INFO, reps::INFO];

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use units::{Rate, Span};

    pub(crate) fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    /// A selector with its defaults, but for some parameters, whose flow has the entropy 7 by its hash.
    pub(crate) fn selector(name: &str, set: &[(&'static str, congestion::parameter::Value)]) -> PathSelection {
        let info = PATH_SELECTIONS.iter().find(|info| info.name == name).unwrap();
        let mut values = Values::defaults(info.parameters);
        set.iter().for_each(|(name, value)| values.set(name, value.clone()));
        let mut selector = (info.build)(&values).unwrap().unwrap();
        selector.attach(&Adapter::of(Rate::from_gigabits(100), Bytes::new(1000)), 7);
        selector
    }

    #[test]
    fn everything_in_the_catalogue_is_made_from_its_defaults_and_presets() {
        for info in PATH_SELECTIONS {
            assert_eq!(PATH_SELECTIONS.iter().filter(|other| other.name == info.name).count(), 1);
            let presets = info.presets.iter().map(|preset| Values::preset(info.parameters, preset));
            for values in std::iter::once(Values::defaults(info.parameters)).chain(presets) {
                let selector = (info.build)(&values).unwrap();
                assert_eq!(selector.is_none(), info.name == "hash");
            }
        }
    }

    #[test]
    fn equal_flows_choose_equally_and_a_saved_selector_continues() {
        for info in PATH_SELECTIONS.iter().filter(|info| info.name != "hash") {
            let mut pair = [selector(info.name, &[]), selector(info.name, &[])];
            let step = |selector: &mut PathSelection, step: u64| {
                let entropy = selector.entropy();
                let bytes = |frames: u64| Bytes::new(1000 * frames);
                let (acknowledged, sent) = (bytes(step), bytes(step + 10));
                let echo = Echo {
                    entropy,
                    marked: step.is_multiple_of(3),
                    trimmed: step.is_multiple_of(7),
                    acknowledged,
                    sent,
                };
                selector.on_echo(at(step), &echo);
                if step % 97 == 96 {
                    selector.on_loss(at(step), LossSignal::Timeout);
                }
                entropy
            };
            for number in 0..500 {
                let [first, second] = pair.each_mut().map(|selector| step(selector, number));
                assert_eq!(first, second, "{}", info.name);
            }
            let mut saved = Vec::new();
            pair[0].save(&mut saved);
            let mut other = selector(info.name, &[]);
            other.load(&mut &saved[..]).unwrap();
            for number in 500..1000 {
                assert_eq!(step(&mut pair[0], number), step(&mut other, number), "{}", info.name);
            }
        }
    }
}
