//! Hosts with several links: the ports by which the frames of a flow may leave.

use crate::describe::graph::{HostId, PortEnd};
use crate::describe::routing::{Routes, pick};
use crate::describe::spec::NetworkSpec;
use crate::describe::workload::{Destination, Via};

/// What a host mixes into its choice among ports: no switch has it, so that choices are independent.
pub(crate) const HOST_SALT: u32 = 0x9e37_79b9;

/// Returns the address of what leaves by one of so many ports of a host for another: that of the port of the same number,
/// if ports have addresses and the other host has as many, or else the host.
#[must_use]
pub fn address(routes: &Routes, (port, ports): (u16, usize), to: HostId) -> HostId {
    let (first, count) = routes.addresses(to);
    if ports > 1 && usize::from(count) == ports { HostId(first.0 + u32::from(port)) } else { to }
}

impl NetworkSpec {
    /// Returns the ports by which the frames of a flow leave its source, which has these ports, while those routes hold and
    /// no link of it has failed: one, unless the flow sprays.
    ///
    /// # Panics
    /// Panics if the flow does not exist.
    #[must_use]
    pub fn ports_by(&self, routes: &Routes, flow: u32, ends: &[PortEnd]) -> Vec<u16> {
        let spec = &self.flows[flow as usize];
        if let Via::Port(number) = spec.via {
            return vec![number];
        }
        if ends.len() < 2 {
            return vec![0];
        }
        let leads = |(number, end): &(u16, &PortEnd)| match spec.destination {
            Destination::Host(to) => !routes.ports(end.peer, address(routes, (*number, ends.len()), to)).is_empty(),
            Destination::Uniform => true,
        };
        let usable: Vec<u16> = (0..).zip(ends).filter(leads).map(|(number, _)| number).collect();
        match spec.via {
            _ if usable.is_empty() => vec![0],
            Via::Spray => usable,
            _ => vec![usable[pick(self.entropy(flow), HOST_SALT, usable.len())]],
        }
    }

    /// Returns the port by which the first frame of a flow leaves its source, which has these ports.
    ///
    /// # Panics
    /// Panics if the flow does not exist.
    #[must_use]
    pub fn first_port(&self, flow: u32, ends: &[PortEnd]) -> u16 {
        if ends.len() < 2 {
            return match self.flows[flow as usize].via {
                Via::Port(number) => number,
                _ => 0,
            };
        }
        self.ports_by(&self.routes, flow, ends)[0]
    }
}
