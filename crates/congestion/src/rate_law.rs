//! Sources that react to marked and unmarked acknowledgements: LIPD, FIMD and AIMD, with a window of one packet and a
//! rate, or with a hybrid of window and rate (HPL-2002-224; the laws: HPL-2002-4 and US patent 7,920,476).
//!
//! The state is the source's share of the largest rate. The source is paced by the time between the starts of two
//! packets, the inter-packet delay: IPD = largest rate / rate.

use crate::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Values};
use crate::{Adapter, Allowance, Feedback, Pacing, ProtocolInfo, Reaction, ReactionPoint};
use units::{Bytes, Rate, Time, math};

/// A law of rate decrease and increase. All laws keep the rate between the least and the largest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ResponseFunction {
    /// Linear inter-packet delay: a mark adds one packet time to the delay; an unmarked acknowledgement shortens it by
    /// the fraction least / largest rate.
    Lipd,
    /// Fast increase, multiplicative decrease: a mark divides the rate; unmarked acknowledgements multiply it such that
    /// it recovers from a mark within one packet interval at the least rate, whatever the rate was.
    Fimd {
        /// Divisor of the rate at a mark.
        factor: f64,
    },
    /// Additive increase, multiplicative decrease: a mark divides the rate; unmarked acknowledgements raise it at a
    /// constant rate over time.
    Aimd {
        /// Divisor of the rate at a mark.
        factor: f64,
    },
}

impl ResponseFunction {
    /// Returns the share after a mark. `least` is the least rate as a share of the largest.
    #[must_use]
    pub fn decrease(self, share: f64, least: f64) -> f64 {
        let lower = match self {
            ResponseFunction::Lipd => 1.0 / (1.0 / share + 1.0),
            ResponseFunction::Fimd { factor } | ResponseFunction::Aimd { factor } => share / factor,
        };
        lower.max(least)
    }

    /// Returns the share after an unmarked acknowledgement.
    #[must_use]
    pub fn increase(self, share: f64, least: f64) -> f64 {
        let higher = match self {
            ResponseFunction::Lipd => share / (1.0 - least),
            ResponseFunction::Fimd { factor } => share * math::pow(factor, least / share),
            ResponseFunction::Aimd { factor } => share + (factor - 1.0) * least * least / share,
        };
        higher.min(1.0)
    }
}

/// A reaction point that follows one of the laws.
#[derive(Clone, Copy, Debug)]
pub struct RateLaw {
    law: ResponseFunction,
    least_rate: Option<Rate>,
    largest_rate: Option<Rate>,
    /// Packets in the window at the largest rate.
    window: u32,
    frame: u64,
    largest: f64,
    least: f64,
    share: f64,
}

units::state!(struct RateLaw { fixed: law, least_rate, largest_rate, window, frame, largest, least; plain: share; });

const MAX_RATE: Parameter = Parameter {
    name: "max_rate",
    kind: ParameterKind::Rate,
    default: ParameterDefault::Absent("the rate of the source's link"),
    meaning: "Initial and maximum rate.",
};
const MIN_RATE: Parameter = Parameter {
    name: "min_rate",
    kind: ParameterKind::Rate,
    default: ParameterDefault::Absent("max_rate / 256: fitted; the text gives none"),
    meaning: "Minimum rate. It also sets the recovery time: one increase per packet interval at this rate.",
};
const WINDOW: Parameter = Parameter {
    name: "window_packets",
    kind: ParameterKind::Count(1, 65_536),
    default: ParameterDefault::Value("1", "HPL-2002-224, footnote 1: a fixed window of one packet"),
    meaning: "Window at the maximum rate. A value above 1 selects the hybrid: the window scales with the rate, in \
         whole packets; below one packet, the rate is limited.",
};
const FACTOR: Parameter = Parameter {
    name: "factor",
    kind: ParameterKind::Number(1.001, 1000.0),
    default: ParameterDefault::Value("2", "our choice: halving; the text gives none"),
    meaning: "Factor by which a mark divides the rate.",
};

pub(crate) const LIPD: ProtocolInfo = ProtocolInfo {
    name: "lipd",
    summary: "a mark adds a packet time to the inter-packet delay; unmarked acknowledgements shorten it \
         (HPL-2002-224)",
    parameters: &[MAX_RATE, MIN_RATE, WINDOW],
    presets: &[],
    acknowledged: true,
    build: |values| RateLaw::build(values, ResponseFunction::Lipd),
};

pub(crate) const FIMD: ProtocolInfo = ProtocolInfo {
    name: "fimd",
    summary: "multiplicative decrease; recovery takes the same time from any rate (HPL-2002-4)",
    parameters: &[MAX_RATE, MIN_RATE, WINDOW, FACTOR],
    presets: &[],
    acknowledged: true,
    build: |values| RateLaw::build(values, ResponseFunction::Fimd { factor: values.number("factor") }),
};

pub(crate) const AIMD: ProtocolInfo = ProtocolInfo {
    name: "aimd",
    summary: "multiplicative decrease, additive increase (Chiu and Jain; HPL-2002-4)",
    parameters: &[MAX_RATE, MIN_RATE, WINDOW, FACTOR],
    presets: &[],
    acknowledged: true,
    build: |values| RateLaw::build(values, ResponseFunction::Aimd { factor: values.number("factor") }),
};

impl RateLaw {
    /// Builds a reaction point that follows a law.
    ///
    /// # Errors
    /// Fails if the least rate is not below the largest.
    pub fn build(values: &Values, law: ResponseFunction) -> Result<Reaction, Invalid> {
        let (least_rate, largest_rate) = (values.maybe_rate("min_rate"), values.maybe_rate("max_rate"));
        if let (Some(least), Some(largest)) = (least_rate, largest_rate) {
            ordered(least, largest)?;
        }
        let window = values.count("window_packets") as u32;
        let point = RateLaw { law, least_rate, largest_rate, window, frame: 0, largest: 0.0, least: 0.0, share: 1.0 };
        Ok(Reaction::RateLaw(point))
    }

    /// Returns the current share of the largest rate.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.share
    }
}

fn ordered(least: Rate, largest: Rate) -> Result<(), Invalid> {
    if least < largest {
        return Ok(());
    }
    let message = format!("the least rate, {least}, is not below the largest, {largest}");
    Err(Invalid::new("min_rate", message, "give a smaller one, or raise `max_rate`"))
}

impl ReactionPoint for RateLaw {
    fn attach(&mut self, adapter: &Adapter) -> Result<(), Invalid> {
        let largest = self.largest_rate.unwrap_or(adapter.link);
        let least = self.least_rate.unwrap_or(Rate::from_bits_per_sec(largest.as_bits_per_sec() / 256));
        ordered(least, largest)?;
        self.frame = adapter.frame.get();
        self.largest = largest.as_bits_per_sec() as f64;
        self.least = least.as_bits_per_sec().max(1) as f64 / self.largest;
        Ok(())
    }

    fn on_sent(&mut self, _now: Time, _len: Bytes) {}

    fn on_feedback(&mut self, _now: Time, feedback: &Feedback) {
        if let Feedback::Acknowledgement { marked, .. } = *feedback {
            self.share = match marked {
                true => self.law.decrease(self.share, self.least),
                false => self.law.increase(self.share, self.least),
            };
        }
    }

    fn on_deadline(&mut self, _now: Time) {}

    fn deadline(&self) -> Option<Time> {
        None
    }

    fn allowance(&self) -> Allowance {
        let packets = self.share * f64::from(self.window);
        let hybrid = self.window > 1 && packets >= 1.0;
        let (packets, share) = if hybrid { (packets as u64, 1.0) } else { (1, self.share) };
        Allowance {
            // To the nearest bit: the least share is the least rate, not one bit below it.
            rate: Some(Rate::from_bits_per_sec((self.largest * share + 0.5) as u64)),
            window: Some(Bytes::new(packets * self.frame)),
        }
    }

    fn ceiling(&self) -> Option<Rate> {
        self.largest_rate
    }

    fn pacing(&self) -> Pacing {
        Pacing::FromStart
    }
}
