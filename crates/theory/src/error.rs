//! What is wrong with a question put to this crate.

use std::fmt;
use units::Rate;

/// Why there is no answer. Its display says what to change.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// No standard delays are known for a link of that speed and medium.
    NoStandardDelay {
        /// The speed of the link.
        rate: Rate,
        /// The medium, in words.
        medium: &'static str,
    },
    /// A flow uses a link that has no capacity stated.
    UnknownLink {
        /// The flow, counted from zero.
        flow: usize,
        /// The link, as it prints itself for debugging.
        link: String,
    },
    /// A link's capacity is stated twice.
    RepeatedLink {
        /// The link, as it prints itself for debugging.
        link: String,
    },
    /// A flow's weight is not a positive finite number.
    BadWeight {
        /// The flow, counted from zero.
        flow: usize,
        /// Its weight.
        weight: f64,
    },
    /// A flow uses no link and demands no particular rate, so nothing bounds it.
    Unbounded {
        /// The flow, counted from zero.
        flow: usize,
    },
    /// A parameter of a model has a value that makes no sense.
    BadParameter {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
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
