//! The state of a recorder, for saved simulations.

use super::{Allowed, Fresh, Recorder, Starving};

engine::encoded!(struct Fresh { bytes, frames });
engine::encoded!(struct Starving { since, starved, told });
engine::encoded!(struct Allowed { seen, rate, window });
units::state!(struct Recorder { fixed: spec, most, captures, keeps, follows_delays; plain: rows, sampled, latest, meters, active_ports, starving, starving_lanes, fresh, active_flows, deliveries, many_delivered, queues, occupancy, allowed, paused, waits, delays, flow_delays, levels, samples, sources, delivered_to, receives, attachments; });
