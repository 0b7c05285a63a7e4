//! Writing to disk so that a file or directory is there whole or not at all.
//!
//! A file that is not ours is never replaced unless the user says so ([`Kind`]). Everything goes to a temporary name beside its place, reaches the disk, and is renamed. A process that is killed leaves
//! its temporary files; the next one that writes to the same place removes them, if it can tell that nobody writes to
//! them any more ([`unfinished`]).

mod file;
mod own;
pub(crate) mod unfinished;

pub(crate) use file::write_one_of_many;
pub use file::{OutputFile, is_replaced, write_file, write_given};
pub use own::{Kind, remove_pictures};
pub(crate) use own::{PNG_SOFTWARE, REPORT_START, SVG_LOOK};
