//! The running network: the only part of this crate that has state over time.
//!
//! [`simulation`] drives the shards; a [`network`] is one shard. Each device's behaviour is in the folder of that name,
//! as methods of [`network::Network`]: [`port`] sends, receives and obeys flow control, [`switch`] queues and notices
//! congestion, [`host`] runs the flows. `note_*` informs the probe, `show_*` the congestion point.

pub(crate) mod drops;
pub(crate) mod frame;
pub(crate) mod host;
pub(crate) mod network;
pub(crate) mod order;
pub(crate) mod port;
pub(crate) mod saved;
pub(crate) mod simulation;
pub(crate) mod switch;
