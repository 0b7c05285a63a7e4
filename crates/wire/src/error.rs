//! What can be wrong with bytes.

use std::fmt;

/// Why bytes are not what they should be, or do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// There are fewer octets than the fixed part, or than its own length field says.
    Short {
        /// The header or element.
        what: &'static str,
        /// Octets it takes.
        need: usize,
        /// Octets there are.
        have: usize,
    },
    /// A field has a value that the standard does not know, or forbids.
    Field {
        /// The header or element.
        what: &'static str,
        /// The field.
        field: &'static str,
        /// Its value.
        value: u64,
    },
    /// A checksum does not match.
    Checksum {
        /// Of what.
        what: &'static str,
        /// As it stands there.
        found: u32,
        /// As it should be.
        right: u32,
    },
    /// An element that has to be there is not, or not in its place.
    Missing {
        /// The header or element.
        what: &'static str,
        /// What is missing.
        element: &'static str,
    },
    /// An element is there again that may be there once.
    Repeated {
        /// The header or element.
        what: &'static str,
        /// What is there again.
        element: &'static str,
    },
    /// What is to be written does not fit.
    Room {
        /// Octets it takes.
        need: usize,
        /// Octets there are.
        have: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Short { what, need, have } => write!(f, "{what}: {have} octets where {need} are needed"),
            Error::Field { what, field, value } => write!(f, "{what}: {field} cannot be {value} ({value:#x})"),
            Error::Checksum { what, found, right } => write!(f, "{what}: {found:#x} where {right:#x} is right"),
            Error::Missing { what, element } => write!(f, "{what}: {element} is missing or out of place"),
            Error::Repeated { what, element } => write!(f, "{what}: {element} is there more than once"),
            Error::Room { need, have } => write!(f, "{need} octets do not fit in {have}"),
        }
    }
}

impl std::error::Error for Error {}
