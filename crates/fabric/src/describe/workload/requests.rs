//! Closed loops of requests and responses: a client sends its next request when the last one is answered.
//!
//! The loop is one of flows that wait for each other: a response waits at the server for its request, and the next request
//! at the client for the responses to the last one.

use super::{Dependencies, Destination, FlowSize, FlowSpec};
use crate::describe::graph::HostId;
use units::{Bytes, Span, Stream};

/// What the clients do.
#[derive(Clone, Debug)]
pub struct Requests {
    /// Loops of a client, each with a request in flight.
    pub outstanding: u32,
    /// Requests of a loop, one after the other.
    pub requests: u32,
    /// Servers that a request goes to; it is answered when all of them have.
    pub fan_out: u32,
    /// Size of a request to one server.
    pub request: Bytes,
    /// Size of the response of one server.
    pub response: FlowSize,
    /// Mean time from the end of the last response to the next request.
    pub think: Span,
    /// Whether that time is drawn from an exponential distribution; else it is exact.
    pub random_think: bool,
    /// Time from the end of a request to the start of its response.
    pub server_time: Span,
}

impl Requests {
    /// Returns the flows of one request: `fan_out` requests and then as many responses.
    #[must_use]
    pub fn flows_per_request(&self) -> u64 {
        2 * u64::from(self.fan_out)
    }

    /// Returns how many flows a number of clients makes.
    #[must_use]
    pub fn count(&self, clients: usize) -> u64 {
        let loops = (clients as u64).saturating_mul(u64::from(self.outstanding));
        loops.saturating_mul(u64::from(self.requests)).saturating_mul(self.flows_per_request())
    }

    /// Returns the flows, client by client, loop by loop and request by request, and what they wait for. Servers are drawn
    /// for every request, all of them different and none the client itself: there must be `fan_out` of them for each client.
    /// A loop begins with a time to think.
    #[must_use]
    pub fn flows(
        &self,
        clients: &[HostId],
        servers: &[HostId],
        template: &FlowSpec,
        seed: u64,
    ) -> (Vec<FlowSpec>, Dependencies) {
        let mut flows = Vec::with_capacity(self.count(clients.len()) as usize);
        let mut waits = Dependencies::default();
        let mut thinks = Stream::new(seed, 0, "think times");
        let mut sizes = Stream::new(seed, 0, "response sizes");
        let mut ends = Stream::new(seed, 0, "servers");
        let mut think = || if self.random_think { thinks.exponential(self.think) } else { self.think };
        for &client in clients {
            let mut others: Vec<HostId> = servers.iter().copied().filter(|&server| server != client).collect();
            for _ in 0..self.outstanding {
                let mut answers: Vec<u32> = Vec::new();
                for number in 0..self.requests {
                    let pause = think();
                    let start = if number == 0 { template.start + pause } else { template.start };
                    let first = flows.len() as u32;
                    // The first of a shuffle that is not finished.
                    for place in 0..self.fan_out as usize {
                        let drawn = place + ends.below((others.len() - place) as u64) as usize;
                        others.swap(place, drawn);
                        waits.add(flows.len() as u32, &answers, pause);
                        let (destination, size) = (Destination::Host(others[place]), Some(self.request));
                        flows.push(FlowSpec { source: client, destination, start, size, ..template.clone() });
                    }
                    answers.clear();
                    for (place, &server) in (0..).zip(&others[..self.fan_out as usize]) {
                        let answer = flows.len() as u32;
                        waits.add(answer, &[first + place], self.server_time);
                        answers.push(answer);
                        let (destination, size) = (Destination::Host(client), Some(self.response.draw(&mut sizes)));
                        flows.push(FlowSpec { source: server, destination, size, ..template.clone() });
                    }
                }
            }
        }
        (flows, waits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Time;

    fn requests() -> Requests {
        Requests {
            outstanding: 2,
            requests: 3,
            fan_out: 2,
            request: Bytes::new(100),
            response: FlowSize::Fixed(Bytes::new(5000)),
            think: Span::from_micros(10),
            random_think: false,
            server_time: Span::from_micros(3),
        }
    }

    #[test]
    fn a_request_waits_for_all_responses_to_the_one_before() {
        let clients = [HostId(0), HostId(1)];
        let servers = [HostId(0), HostId(1), HostId(2), HostId(3)];
        let template = FlowSpec::greedy(HostId(0), HostId(1));
        let (flows, waits) = requests().flows(&clients, &servers, &template, 5);
        assert_eq!((flows.len() as u64, requests().count(2)), (48, 48));
        let to = |flow: &FlowSpec| match flow.destination {
            Destination::Host(host) => host,
            Destination::Uniform => panic!("one destination expected"),
        };
        for (number, request) in flows.chunks_exact(4).enumerate() {
            let client = clients[number / 6];
            assert!(request[..2].iter().all(|flow| flow.source == client && flow.size == Some(Bytes::new(100))));
            assert!(request[2..].iter().all(|flow| to(flow) == client && flow.size == Some(Bytes::new(5000))));
            assert_eq!((to(&request[0]), to(&request[1])), (request[2].source, request[3].source));
            assert!(to(&request[0]) != to(&request[1]) && to(&request[0]) != client && to(&request[1]) != client);
        }
        assert_eq!(flows[0].start, Time::ZERO + Span::from_micros(10));
        let waits: Vec<_> = waits.iter().map(|wait| (wait.flow, wait.awaited.to_vec(), wait.delay)).collect();
        let (server, think) = (Span::from_micros(3), Span::from_micros(10));
        let first = [(2, vec![0], server), (3, vec![1], server), (4, vec![2, 3], think), (5, vec![2, 3], think)];
        assert_eq!(&waits[..4], &first);
        // Another loop does not wait for this one.
        assert!(waits.iter().all(|(flow, _, _)| ![0, 1, 12, 13, 24, 25].contains(flow)));
    }

    #[test]
    fn think_times_have_their_mean() {
        let many = Requests { requests: 10_000, outstanding: 1, fan_out: 1, random_think: true, ..requests() };
        let (_, waits) = many.flows(&[HostId(0)], &[HostId(1)], &FlowSpec::greedy(HostId(0), HostId(1)), 9);
        let thinks: Vec<f64> =
            waits.iter().filter(|wait| wait.flow % 2 == 0).map(|wait| wait.delay.as_secs_f64()).collect();
        let mean = thinks.iter().sum::<f64>() / thinks.len() as f64;
        assert!((mean / 10e-6 - 1.0).abs() < 0.04, "{mean}");
    }
}
