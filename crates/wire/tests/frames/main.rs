//! Frames there and back, frames of others, frames of nobody, and frames of ours under other people's eyes.

// The short name, as in the rest of the workspace.
extern crate tailback_wire as wire;

mod connections;
mod everything;
mod golden;
mod hostile;
mod kit;
mod oracle;
mod round_trip;
mod samples;
