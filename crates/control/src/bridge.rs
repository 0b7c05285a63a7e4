//! The agents of one device. A willing device propagates the configuration that it learns, so a fabric can be
//! configured at its core alone.
//!
//! The port that learns from a peer that is not willing becomes the *source*: the other ports adopt its operating
//! configuration as their own, recommend it, and are not willing to change it. (DCBX is a protocol of one link; the
//! propagation of settings through a bridge is vendor-specific. Dell's switches call learning ports auto-upstream,
//! taught ports auto-downstream, and the one source of a switch its configuration source.) Ports that are not
//! *upstream* never learn: otherwise, a host that is not willing would configure the fabric. The source remains until
//! its peer leaves, changes its configuration or is no longer alone. The device then reverts to its own settings,
//! advertises them, and learns nothing for a while: devices that had learned from it revert too, and cannot teach it
//! its own former configuration.

use crate::settings::Settings;
use crate::transmit::Timers;
use crate::{Agent, EtsSettings, Origin, PfcSettings};
use units::{Span, Time};
use wire::Address;

/// Time during which a device that lost its source does not learn: longer than a chain of agents takes to advertise
/// that they have reverted, even if each has spent its credit and waits a second.
pub const HOLD_DOWN: Span = Span::from_secs(5);

/// The agents of a device.
#[derive(Clone, Debug)]
pub struct Bridge {
    settings: Settings,
    agents: Vec<Agent>,
    /// Whether each port may learn.
    upstream: Vec<bool>,
    source: Option<usize>,
    /// Earliest time at which the device may learn.
    wait: Time,
}

impl Bridge {
    /// Creates a device with the same settings at all ports; `ports` has the address of each and whether it may learn.
    pub fn new(
        now: Time,
        chassis: Address,
        ports: impl IntoIterator<Item = (Address, bool)>,
        settings: Settings,
        timers: Timers,
    ) -> Bridge {
        let (addresses, upstream): (Vec<Address>, Vec<bool>) = ports.into_iter().unzip();
        let agent = |address| Agent::new(now, chassis, address, settings, timers);
        let agents = addresses.into_iter().map(agent).collect();
        let mut bridge = Bridge { settings, agents, upstream, source: None, wait: now };
        bridge.settle(now);
        bridge
    }

    /// Returns the agents, by port.
    #[must_use]
    pub fn agents(&self) -> &[Agent] {
        &self.agents
    }

    /// Returns the port from which the device learns.
    #[must_use]
    pub fn source(&self) -> Option<usize> {
        self.source
    }

    /// Replaces the settings of the device.
    pub fn configure(&mut self, now: Time, settings: Settings) {
        self.settings = settings;
        self.settle(now);
    }

    /// Receives a frame at a port; a frame at a nonexistent port is ignored.
    pub fn handle_frame(&mut self, now: Time, port: usize, bytes: &[u8]) {
        if let Some(agent) = self.agents.get_mut(port) {
            agent.handle_frame(now, bytes);
            self.settle(now);
        }
    }

    /// Advances time.
    pub fn handle_timeout(&mut self, now: Time) {
        self.agents.iter_mut().for_each(|agent| agent.handle_timeout(now));
        self.settle(now);
    }

    /// The link of a port failed.
    pub fn handle_link_down(&mut self, now: Time, port: usize) {
        if let Some(agent) = self.agents.get_mut(port) {
            agent.handle_link_down(now);
            self.settle(now);
        }
    }

    /// The link of a port works again.
    pub fn handle_link_up(&mut self, now: Time, port: usize) {
        if let Some(agent) = self.agents.get_mut(port) {
            agent.handle_link_up(now);
            self.settle(now);
        }
    }

    /// Returns the time of its next call, which may be in the past.
    #[must_use]
    pub fn poll_at(&self) -> Option<Time> {
        let teachers = self.source.is_none() && (0..self.agents.len()).any(|port| self.teaches(port));
        self.agents.iter().filter_map(Agent::poll_at).chain(teachers.then_some(self.wait)).min()
    }

    /// Writes the next frame to send now, and returns its port and length.
    pub fn poll_transmit(&mut self, now: Time, buffer: &mut [u8]) -> Option<(usize, usize)> {
        self.handle_timeout(now);
        let sent = |(port, agent): (usize, &mut Agent)| Some((port, agent.poll_transmit(now, buffer)?));
        self.agents.iter_mut().enumerate().find_map(sent)
    }

    /// Whether a port has taken something from a peer that would not take it back.
    fn teaches(&self, port: usize) -> bool {
        let Some(agent) = self.agents.get(port) else { return false };
        let Some(said) = agent.followed().map(crate::Peer::said) else { return false };
        let operating = agent.operating();
        let pfc = operating.pfc.from == Origin::Peer && said.flow_control.is_some_and(|it| !it.willing);
        let ets = operating.ets.from == Origin::Peer && said.configuration.is_some_and(|it| !it.willing);
        pfc || ets
    }

    fn settle(&mut self, now: Time) {
        if self.source.is_some_and(|port| !self.teaches(port)) {
            self.source = None;
            self.wait = now.saturating_add(HOLD_DOWN);
        }
        if self.source.is_none() && now >= self.wait {
            self.source = (0..self.agents.len()).find(|&port| self.teaches(port));
        }
        let passed_on = self.passed_on();
        let mut downstream = passed_on;
        (downstream.pfc.willing, downstream.ets.willing, downstream.applications.willing) = (false, false, false);
        for (port, (agent, &upstream)) in self.agents.iter_mut().zip(&self.upstream).enumerate() {
            let settings = match upstream {
                true if self.source == Some(port) => self.settings,
                true => passed_on,
                false => downstream,
            };
            if *agent.settings() != settings {
                agent.configure(now, settings);
            }
        }
    }

    /// The settings of ports that are not the source.
    fn passed_on(&self) -> Settings {
        let mut settings = self.settings;
        let Some(learned) = self.source.and_then(|port| self.agents.get(port)).map(Agent::operating) else {
            return settings;
        };
        if learned.pfc.from == Origin::Peer {
            settings.pfc = PfcSettings { willing: false, priorities: learned.pfc.value, ..settings.pfc };
        }
        if learned.ets.from == Origin::Peer {
            let table = learned.ets.value;
            settings.ets = EtsSettings { willing: false, table, recommendation: Some(table), ..settings.ets };
        }
        if learned.apps.from == Origin::Peer {
            settings.applications.table = learned.apps.value;
        }
        settings
    }
}
