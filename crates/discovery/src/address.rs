//! MAC addresses of simulated ports.

use fabric::graph::NodeId;
use wire::Address;

/// Returns the address of a port: a locally administered prefix, the node's number and the port's number.
#[must_use]
pub fn address(node: NodeId, port: u16) -> Address {
    let [_, a, b, c] = node.0.to_be_bytes();
    let [d, e] = port.to_be_bytes();
    Address([0x02, a, b, c, d, e])
}
