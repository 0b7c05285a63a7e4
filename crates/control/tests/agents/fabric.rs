//! Bridges on lines that delay, lose and fail.

use control::LARGEST_FRAME;
use control::isis::{Settings, System, Timers};
use std::collections::BTreeSet;
use units::{Span, Stream, Time};
use wire::Address;
use wire::isis::SystemId;

pub fn id(node: usize) -> SystemId {
    [2, 0, 0, 0, 0, node as u8 + 1]
}

pub fn port_address(node: usize, port: usize) -> Address {
    Address([2, 0, 0, 1, node as u8 + 1, port as u8])
}

pub struct Line {
    /// Both ends: node and port.
    pub ends: [(usize, usize); 2],
    pub delay: Span,
    pub works: bool,
}

pub struct Fabric {
    pub systems: Vec<System>,
    pub lines: Vec<Line>,
    pub now: Time,
    /// Percent of all frames.
    pub loss: u64,
    chance: Stream,
    flights: BTreeSet<(Time, u64, usize, usize, Vec<u8>)>,
    sent: u64,
    /// Frames as they were sent.
    pub seen: Vec<Vec<u8>>,
}

impl Fabric {
    /// Bridges joined by lines of these metrics.
    pub fn new(nodes: usize, lines: &[(usize, usize, u32)], seed: u64, loss: u64) -> Fabric {
        Fabric::with_limit(nodes, lines, seed, loss, 4096)
    }

    pub fn with_limit(nodes: usize, lines: &[(usize, usize, u32)], seed: u64, loss: u64, limit: usize) -> Fabric {
        let mut chance = Stream::new(seed, 0, "isis");
        let mut ports: Vec<Vec<(Address, u32)>> = vec![Vec::new(); nodes];
        let mut add = |node: usize, metric| {
            let port = ports[node].len();
            ports[node].push((port_address(node, port), metric));
            (node, port)
        };
        let mut line = |&(a, b, metric): &(usize, usize, u32)| Line {
            ends: [add(a, metric), add(b, metric)],
            delay: Span::from_micros(chance.between(1, 5000)),
            works: true,
        };
        let lines = lines.iter().map(&mut line).collect();
        let system = |(node, ports): (usize, Vec<(Address, u32)>)| {
            let settings = Settings { limit, ..Settings::new(id(node)) };
            System::new(Time::ZERO, settings, ports, Timers::default())
        };
        let systems = ports.into_iter().enumerate().map(system).collect();
        let flights = BTreeSet::new();
        Fabric { systems, lines, now: Time::ZERO, loss, chance, flights, sent: 0, seen: Vec::new() }
    }

    fn far(&self, node: usize, port: usize) -> Option<(&Line, (usize, usize))> {
        self.lines.iter().filter(|line| line.works).find_map(|line| match line.ends {
            [near, far] if near == (node, port) => Some((line, far)),
            [far, near] if near == (node, port) => Some((line, far)),
            _ => None,
        })
    }

    pub fn run(&mut self, span: Span) {
        let end = self.now + span;
        loop {
            let wish = self.systems.iter().filter_map(System::poll_at).min();
            let arrival = self.flights.first().map(|flight| flight.0);
            let next = wish.into_iter().chain(arrival).min().filter(|&next| next <= end);
            let Some(next) = next else { break };
            self.now = self.now.max(next);
            while self.flights.first().is_some_and(|flight| flight.0 <= self.now) {
                let Some((_, _, node, port, bytes)) = self.flights.pop_first() else { break };
                if self.far(node, port).is_some() {
                    self.systems[node].handle_frame(self.now, port, &bytes);
                }
            }
            (0..self.systems.len()).for_each(|node| self.speak(node));
        }
        self.now = end;
    }

    fn speak(&mut self, node: usize) {
        let mut buffer = [0; LARGEST_FRAME];
        while let Some((port, length)) = self.systems[node].poll_transmit(self.now, &mut buffer) {
            self.seen.push(buffer[..length].to_vec());
            let lost = self.chance.between(0, 99) < self.loss;
            if let Some((line, (far, far_port))) = self.far(node, port)
                && !lost
            {
                let at = self.now + line.delay;
                self.sent += 1;
                self.flights.insert((at, self.sent, far, far_port, buffer[..length].to_vec()));
            }
        }
    }

    /// The line fails or is mended; ends that see the light go are told.
    pub fn set(&mut self, line: usize, works: bool, told: bool) {
        self.lines[line].works = works;
        for (node, port) in self.lines[line].ends {
            match (told, works) {
                (true, false) => self.systems[node].handle_link_down(self.now, port),
                (true, true) => self.systems[node].handle_link_up(self.now, port),
                _ => {}
            }
        }
    }

    /// The edges that everybody has learned; panics if two differ.
    pub fn agreed(&self) -> Vec<(usize, usize, u32)> {
        let edges = |system: &System| -> Vec<(usize, usize, u32)> {
            let node = |id: SystemId| usize::from(id[5]) - 1;
            system.topology().edges().map(|it| (node(it.a), node(it.b), it.cost)).collect()
        };
        let all: Vec<_> = self.systems.iter().map(edges).collect();
        assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{all:?}");
        all.into_iter().next().unwrap_or_default()
    }
}
