//! Hosts with several cables: flows bound to one or spread over them, and cables that fail.

use crate::kit::*;
use congestion::parameter::{Value, Values};
use fabric::graph::HostId;
use fabric::routing::Routes;
use fabric::spec::*;
use fabric::topology::{self, Links};
use fabric::transport::{RECOVERIES, Recovery};
use fabric::workload::{Acknowledge, FlowSpec, Via};
use fabric::{BuildOptions, Outcome, RunLimits, Simulation};
use std::sync::Arc;
use units::{Bytes, Span};

/// Four hosts in two planes of two leaves and one spine each.
fn two_planes() -> NetworkSpec {
    let plane = topology::leaf_spine(2, 1, 2, Links::same(link(10, Span::from_micros(1)))).unwrap();
    network(topology::planes(&plane, 2).unwrap(), pfc_switch(), lossless())
}

fn recovery() -> Option<Arc<Recovery>> {
    let info = RECOVERIES.iter().find(|info| info.name == "selective-repeat").expect("it is built in");
    let mut values = Values::defaults(info.parameters);
    for parameter in info.parameters.iter().filter(|parameter| parameter.name.starts_with("timeout")) {
        values.set(parameter.name, Value::Time(Span::from_micros(200)));
    }
    Some(Arc::new((info.build)(&values).expect("sound parameters")))
}

/// From the first host to the last.
fn flow(via: Via) -> FlowSpec {
    greedy(0, 3, 1250).with(|it| {
        it.via = via;
    })
}

fn received(spec: &NetworkSpec, until: Span) -> Vec<u64> {
    let (simulation, report) = run(spec, until);
    assert!(matches!(report.outcome, Outcome::Finished | Outcome::LimitReached(_)), "{:?}", report.outcome);
    simulation.flows().iter().map(|flow| flow.received_bytes).collect()
}

#[test]
fn a_sprayed_flow_has_all_links_and_a_bound_one_has_its_own() {
    let mut spec = two_planes();
    spec.overhead = Bytes::ZERO;
    let frames = |spec: &NetworkSpec| received(spec, Span::from_micros(1004))[0] / 1250;
    // A frame takes 1 us; the first one arrives after four links of 1 us.
    for (via, rate) in [(Via::Port(0), 1), (Via::Port(1), 1), (Via::Hash, 1), (Via::Spray, 2)] {
        spec.flows = vec![flow(via)].into();
        let frames = frames(&spec);
        assert!((990 * rate..=1000 * rate).contains(&frames), "{via:?}: {frames}");
    }
    // Two flows bound to different rails do not meet; on the same rail they share it.
    for (rail, least, most) in [(1, 990, 1000), (0, 490, 510)] {
        spec.flows = vec![flow(Via::Port(0)), flow(Via::Port(rail))].into();
        let received = received(&spec, Span::from_micros(1004));
        assert!(received.iter().all(|bytes| (least..=most).contains(&(bytes / 1250))), "{received:?}");
    }
}

/// Two hosts on one switch by links of these rates.
fn pair(rates: &[u64]) -> NetworkSpec {
    let mut graph = topology::single_switch(2, link(rates[0], Span::from_micros(1))).unwrap();
    let (hosts, switch) = (graph.hosts(), graph.switches()[0]);
    for (&rate, &host) in rates[1..].iter().flat_map(|rate| hosts.iter().map(move |host| (rate, host))) {
        graph.cable(host, switch, link(rate, Span::from_micros(1)));
    }
    graph.port_addresses = true;
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.overhead = Bytes::ZERO;
    spec
}

#[test]
fn links_of_different_rates_add_up() {
    let mut spec = pair(&[10, 25, 5]);
    spec.flows = vec![greedy(0, 1, 1250).with(|it| {
        it.via = Via::Spray;
    })]
    .into();
    let frames = received(&spec, Span::from_micros(1002))[0] / 1250;
    assert!((3960..=4000).contains(&frames), "{frames} frames of 4 a microsecond");
    // A flow that is bound to the first link takes turns there with the one that sprays, which has all of the others.
    spec.flows.push(greedy(0, 1, 1250).with(|it| {
        it.via = Via::Port(0);
    }));
    let both = received(&spec, Span::from_micros(1002));
    let (sprayed, bound) = (both[0] / 1250, both[1] / 1250);
    assert!((3960..=4000).contains(&(sprayed + bound)) && (490..=1000).contains(&bound), "{both:?}");
}

#[test]
fn a_paused_link_leaves_the_others_busy() {
    // The first plane is slow behind the switch, so that its links to hosts are paused most of the time.
    let slow = Links { host: link(10, Span::from_micros(1)), trunk: link(1, Span::from_micros(1)) };
    let plane = topology::leaf_spine(2, 1, 2, slow).unwrap();
    let mut spec = network(topology::planes(&plane, 2).unwrap(), pfc_switch(), lossless());
    spec.overhead = Bytes::ZERO;
    for cable in &mut spec.graph.cables {
        let ends = [cable.a, cable.b].map(|end| spec.graph.nodes[end.0 as usize].name.starts_with("p1"));
        if ends == [true, true] {
            cable.link = link(10, Span::from_micros(1));
        }
    }
    spec.flows = vec![flow(Via::Spray)].into();
    let (simulation, report) = run(&spec, Span::from_micros(5000));
    let frames = simulation.flows()[0].received_bytes / 1250;
    assert!(report.totals.pause_frames > 0, "{:?}", report.totals);
    assert!((5400..=5520).contains(&frames), "1 Gb/s and 10 Gb/s: {frames} of 5500");
}

#[test]
fn rails_lead_to_their_own_links() {
    let leaves = topology::leaf_spine(8, 2, 2, Links::same(link(10, Span::from_micros(1)))).unwrap();
    let mut spec = network(topology::rails(&leaves, 4).unwrap(), pfc_switch(), lossless());
    assert_eq!(spec.graph.hosts().len(), 4);
    // In its row, and in the other one by the spines: each rail has a link of its own at both ends.
    for to in [1, 3] {
        spec.flows = (0..4)
            .map(|rail| {
                greedy(0, to, 1250).with(|it| {
                    it.via = Via::Port(rail);
                })
            })
            .collect();
        let received = received(&spec, Span::from_millis(1));
        // 1270 bytes on the wire take 1.016 us.
        assert!(received.iter().all(|bytes| bytes / 1250 > 970), "to {to}: {received:?}");
    }
    // Up*/down* has a route to every port as well.
    let routing = fabric::routing::Routing::UpDown { roots: vec![spec.graph.find("spine0").unwrap()] };
    spec.routes = routing.compute(&spec.graph, &[]).unwrap();
    let received = received(&spec, Span::from_millis(1));
    assert!(received.iter().all(|bytes| bytes / 1250 > 970), "{received:?}");
}

/// The link of the destination in one plane fails. Sprayed flows move to the other plane when routes have reconverged.
fn failing(via: Via) -> NetworkSpec {
    let mut spec = two_planes();
    let h3 = spec.graph.hosts()[3];
    let cable = spec.graph.cables.iter().position(|cable| cable.a == h3).unwrap() as u32;
    let size = Some(Bytes::new(2_500_000));
    let acknowledge = Some(Acknowledge::default());
    spec.flows = vec![FlowSpec { size, ..flow(via) }.with(|it| {
        it.acknowledge = acknowledge;
        it.recovery = recovery();
    })]
    .into();
    spec.faults = vec![Fault { cable, down: at(Span::from_micros(300)), up: None }];
    let routes = Routes::without_links(&spec.graph, &[cable]);
    assert!(routes.ports(spec.graph.find("p0-spine0").unwrap(), HostId(3)).is_empty());
    spec.route_changes = vec![RouteChange::everywhere(at(Span::from_micros(400)), routes)];
    spec
}

#[test]
fn flows_move_to_ports_that_lead_to_their_destination() {
    for via in [Via::Spray, Via::Hash] {
        let spec = failing(via);
        let (simulation, report) = run(&spec, Span::from_millis(100));
        let flow = &simulation.flows()[0];
        assert!(flow.completed.is_some() && flow.received_bytes == 2_500_000, "{via:?}: {:?}", report.totals);
    }
    // A flow that is bound to the failed plane stays there.
    let (simulation, _) = run(&failing(Via::Port(0)), Span::from_millis(20));
    assert!(simulation.flows()[0].completed.is_none());
    // The cable of the source itself: what it would send there goes elsewhere at once.
    let mut spec = failing(Via::Spray);
    let h0 = spec.graph.hosts()[0];
    spec.faults[0].cable = spec.graph.cables.iter().position(|cable| cable.a == h0).unwrap() as u32;
    spec.route_changes.clear();
    let (simulation, report) = run(&spec, Span::from_millis(100));
    assert!(simulation.flows()[0].completed.is_some(), "{:?}", report.totals);
}

#[test]
fn hosts_with_several_cables_are_the_same_on_any_threads_and_ranks() {
    let mut spec = failing(Via::Spray);
    spec.flows.extend((1..3).map(|from| {
        greedy(from, 3, 900).with(|it| {
            it.acknowledge = Some(Acknowledge::default());
        })
    }));
    spec.flows[2].via = Via::Spray;
    let until = Span::from_millis(2);
    let mut first = None;
    for shards in [1, 2, 4] {
        let options = BuildOptions { shards, ..BuildOptions::default() };
        let limits = RunLimits { threads: shards, ..RunLimits::until(at(until)) };
        let mut simulation = Simulation::build(&spec, &options).expect("a sound network");
        let report = simulation.run(&limits);
        let seen = (report.fingerprint, report.totals, simulation.flows());
        assert_eq!(first.get_or_insert_with(|| seen.clone()), &seen, "{shards} shards");
        for report in on_ranks(&spec, shards, &options, &RunLimits { threads: 1, ..limits }) {
            assert_eq!(report.fingerprint, seen.0, "{shards} ranks");
        }
    }
}

#[test]
fn receipts_need_hosts_with_one_link() {
    let mut spec = two_planes();
    spec.switches[0].congestion_point = Some(CongestionPointSpec { reliable: true, ..CongestionPointSpec::default() });
    spec.flows = vec![flow(Via::Spray)].into();
    let refused = Simulation::build(&spec, &BuildOptions::default()).err().expect("it is refused").to_string();
    assert!(refused.contains("receipts return by the link of the source, but h0 has several"), "{refused}");
}

#[test]
fn a_flow_that_sprays_is_compared_with_all_links() {
    let mut spec = pair(&[10, 10]);
    let mut alone = |via: Via| {
        let (size, acknowledge) = (Some(Bytes::new(1_250_000)), Some(Acknowledge::default()));
        spec.flows = vec![FlowSpec { size, ..greedy(0, 1, 1250) }.with(|it| {
            it.acknowledge = acknowledge;
            it.recovery = recovery();
            it.via = via;
        })]
        .into();
        let (simulation, _) = run(&spec, Span::from_millis(3));
        let flow = &simulation.flows()[0];
        let taken = flow.acknowledged.expect("it completes").saturating_since(at(Span::ZERO));
        (flow.alone.unwrap().as_secs_f64(), taken.as_secs_f64())
    };
    let (bound, sprayed) = (alone(Via::Port(1)), alone(Via::Spray));
    assert!((0.99..1.01).contains(&(bound.0 / 1.006e-3)), "1 ms and the way: {bound:?}");
    assert!((0.99..1.01).contains(&(sprayed.0 / 0.506e-3)), "half of it: {sprayed:?}");
    assert!(sprayed.1 / sprayed.0 < 1.05, "{sprayed:?}");
}

#[test]
fn a_flow_cannot_leave_by_a_port_that_is_not_there() {
    let mut spec = two_planes();
    spec.flows = vec![flow(Via::Port(2))].into();
    let refused = Simulation::build(&spec, &BuildOptions::default()).err().expect("it is refused").to_string();
    assert!(refused.contains("it leaves by port 2, but its source has 2 links, counted from 0"), "{refused}");
}
