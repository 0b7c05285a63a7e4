//! What a switch has beyond its ports: a crossbar between input and output queues, a congestion point, an account of
//! who occupies its buffers, and turns among destinations.

pub(crate) mod congestion_point;
pub(crate) mod crossbar;
pub(crate) mod forward;
pub(crate) mod occupancy;
pub(crate) mod order;
pub(crate) mod paths;
pub(crate) mod shared_buffer;
