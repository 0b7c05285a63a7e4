//! Adapters: many flows on one cable or several, and a receiver that may be slower than the cable.

pub(crate) mod deferred;
pub(crate) mod delivery;
pub(crate) mod feedback;
pub(crate) mod flow;
pub(crate) mod lifetime;
pub(crate) mod live;
pub(crate) mod multi_homing;
pub(crate) mod receiving;
pub(crate) mod reliable;
pub(crate) mod ring;
pub(crate) mod service;
pub(crate) mod source;
pub(crate) mod timers;
pub(crate) mod waiting;

use self::multi_homing::Homing;
use self::service::Service;
use crate::describe::spec::MAX_CLASSES;
use engine::{Encode, IndexedHeap};
use flow::TIMERS;
use transport::Puller;
use units::{State, load_list, save_list};

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    /// Number among the hosts of the network.
    pub(crate) number: u32,
    /// Its first port.
    pub(crate) port: u32,
    pub(crate) ports: u16,
    /// What it chooses among its ports by, if it has several.
    pub(crate) homing: Option<Box<Homing>>,
    /// Its flows, as positions in [`Network::flows`](super::network::Network::flows): those that start by time, in that
    /// order, and then those that wait for others.
    pub(crate) first_flow: u32,
    pub(crate) flows: u32,
    /// How many of them start by time.
    pub(crate) scheduled: u32,
    /// How many of those have started.
    pub(crate) started: u32,
    /// Timers of its flows, numbered from its first flow, then those of `sinks`, then that of `puller`.
    pub(crate) timers: IndexedHeap,
    /// Flows with receiving points of their own that end here, as positions in the network's `received`.
    pub(crate) sinks: Vec<u32>,
    /// Sends the pulls of receiver-driven flows that end here; present if there are any.
    pub(crate) puller: Option<Box<Puller>>,
    /// Its flows by their numbers there, as positions in the network's `received`.
    pub(crate) pulled: Vec<u32>,
    /// By port: of each class the flow that sent last, as a position in the network's flows, or
    /// [`NIL`](super::frame::NIL); see `Network::last_sender`.
    pub(crate) last_sender: Box<[[u32; MAX_CLASSES]]>,
    /// By port: frames that have arrived and are not yet consumed; empty if it cannot be slower than the cable.
    pub(crate) service: Box<[Service]>,
}

impl State for Host {
    fn save(&self, out: &mut Vec<u8>) {
        let Host {
            number: _,
            port: _,
            ports: _,
            homing,
            first_flow: _,
            flows: _,
            scheduled: _,
            started,
            timers,
            sinks: _,
            puller,
            pulled: _,
            last_sender,
            service,
        } = self;
        started.encode(out);
        timers.encode(out);
        save_list(last_sender, out);
        homing.save(out);
        puller.save(out);
        service.save(out);
    }

    fn load(&mut self, input: &mut &[u8]) -> Option<()> {
        self.started = u32::decode(input).filter(|&started| started <= self.scheduled)?;
        // One for each sink, and one for pulls, after those of the flows.
        let timers = u64::from(self.flows) * u64::from(TIMERS) + self.sinks.len() as u64 + 1;
        self.timers = IndexedHeap::decode_below(timers, input)?;
        load_list(&mut self.last_sender, input)?;
        self.homing.load(input)?;
        self.puller.load(input)?;
        self.service.load(input)
    }
}
