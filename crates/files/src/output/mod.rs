//! Atomic writing of files and directories.
//!
//! Everything is written under a temporary name next to its final path, flushed to disk, and renamed. A killed process
//! leaves its temporary files behind; the next process that writes to the same path removes them if it can prove that
//! they have no writer ([`unfinished`]).

mod file;
pub mod unfinished;

pub use file::{OutputFile, is_replaced, write_file, write_given, write_new, write_one_of_many};
