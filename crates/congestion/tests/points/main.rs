//! Congestion points beside a model switch: a plain list of frames in which everything is found by scanning.

#![allow(missing_docs)]

mod infiniband_fecn;
mod marking;
mod model;
mod oracle;
