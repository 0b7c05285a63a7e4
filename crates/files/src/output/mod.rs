//! Writing to disk so that a file or directory is there whole or not at all.
//!
//! Everything goes to a temporary name beside its place, reaches the disk, and is renamed. A process that is killed leaves
//! its temporary files; the next one that writes to the same place removes them, if it can tell that nobody writes to
//! them any more ([`unfinished`]).

mod file;
pub mod unfinished;

pub use file::{OutputFile, is_replaced, write_file, write_given, write_one_of_many};
