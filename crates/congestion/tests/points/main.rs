//! Congestion points beside a model switch: a plain list of frames in which everything is found by scanning.

#![allow(missing_docs)]

// The short name, as in the rest of the workspace.
extern crate tailback_congestion as congestion;

mod infiniband_fecn;
mod marking;
mod model;
mod oracle;
