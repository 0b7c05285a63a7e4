//! Frames there and back, frames of others, frames of nobody, and frames of ours under other people's eyes.

mod everything;
mod golden;
mod hostile;
mod kit;
mod oracle;
mod round_trip;
mod samples;
