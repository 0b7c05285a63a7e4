//! Errors of parsing and emitting.

use std::fmt;

/// The reason that octets cannot be parsed or do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// There are fewer octets than the fixed part or the length field requires.
    Short {
        /// Header or element.
        what: &'static str,
        /// Required octets.
        need: usize,
        /// Available octets.
        have: usize,
    },
    /// A field has a value that the standard does not define or forbids.
    Field {
        /// Header or element.
        what: &'static str,
        /// Name of the field.
        field: &'static str,
        /// Value of the field.
        value: u64,
    },
    /// A checksum does not match.
    Checksum {
        /// Header or element.
        what: &'static str,
        /// Checksum in the frame.
        found: u32,
        /// Computed checksum.
        right: u32,
    },
    /// A required element is missing or out of place.
    Missing {
        /// Header or element.
        what: &'static str,
        /// Missing element.
        element: &'static str,
    },
    /// An element occurs more than once.
    Repeated {
        /// Header or element.
        what: &'static str,
        /// Repeated element.
        element: &'static str,
    },
    /// The output does not fit into the buffer.
    Room {
        /// Required octets.
        need: usize,
        /// Available octets.
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
