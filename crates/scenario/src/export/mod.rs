//! Parts of a plan in the formats of other systems.
//!
//! An export reads a plan and returns texts. It accesses no file. What has no counterpart is reported with a note.

pub mod sonic;
