//! Errors of this crate.

use std::fmt;
use units::Rate;

/// The reason that a result cannot be computed. Its display states the correction.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The standards state no delays for a link of that rate and medium.
    NoStandardDelay {
        /// Rate of the link.
        rate: Rate,
        /// Name of the medium.
        medium: &'static str,
    },
    /// A flow uses a link without a stated capacity.
    UnknownLink {
        /// Index of the flow, from zero.
        flow: usize,
        /// Debug form of the link.
        link: String,
    },
    /// The capacity of a link is stated twice.
    RepeatedLink {
        /// Debug form of the link.
        link: String,
    },
    /// A flow's weight is not a positive finite number.
    BadWeight {
        /// Index of the flow, from zero.
        flow: usize,
        /// Weight of the flow.
        weight: f64,
    },
    /// A flow uses no link and has no demand, so its rate is unbounded.
    Unbounded {
        /// Index of the flow, from zero.
        flow: usize,
    },
    /// A parameter of a model is out of range.
    BadParameter {
        /// Name of the parameter.
        name: &'static str,
        /// Value of the parameter.
        value: f64,
        /// Rule that the value must satisfy.
        rule: &'static str,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoStandardDelay { rate, medium } => {
                write!(f, "no standard delays are known for {rate} over {medium}; they are for 10, 25, 40, 50, 100, ")?;
                f.write_str("200 and 400 Gb/s, and for 10GBASE-T; state the delays of the link instead")
            }
            Error::UnknownLink { flow, link } => {
                write!(f, "flow {flow} uses link {link}, whose capacity is not stated; add it to the capacities")
            }
            Error::RepeatedLink { link } => write!(f, "the capacity of link {link} is stated twice; state it once"),
            Error::BadWeight { flow, weight } => {
                write!(f, "flow {flow} has the weight {weight}; a weight must be finite and above zero")
            }
            Error::Unbounded { flow } => {
                write!(f, "flow {flow} uses no link and has no demand, so no rate is too high for it; give it either")
            }
            Error::BadParameter { name, value, rule } => write!(f, "{name} is {value}: {rule}"),
        }
    }
}

impl std::error::Error for Error {}
