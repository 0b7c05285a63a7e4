//! The protocols of the 802.1au bake-off in a network: two switches, four greedy flows to one host, two of them across
//! the trunk; lossy, with a class of their own for control frames.

use crate::kit::*;
use crate::observed::Observed;
use congestion::parameter::{Value, Values};
use congestion::{POINTS, PROTOCOLS, PathProbeClass, Point, Reaction, ReactionPoint};
use fabric::graph::HostId;
use fabric::spec::*;
use fabric::topology::{self, Links};
use fabric::workload::{Destination, FlowSpec, PathProbeSpec};
use fabric::{BuildOptions, Frame, Kind, Notice, Outcome, Partition, Probe, RunLimits, RunSummary};
use units::{Bytes, Span, Time};

const NAMES: [&str; 9] = ["qcn-2007", "qcn-p", "qcn-pr", "ecm", "e2cm", "e2cm-p", "e2cm-pr", "fecn-b", "fecn"];
/// The host that all send to; 0 and 1 are at the other switch, 2 and 3 at its own.
const TARGET: u32 = 4;

fn spec(name: &str, set: &[(&'static str, Value)]) -> NetworkSpec {
    let graph = topology::two_switches(2, 3, 1, Links::same(link(10, Span::from_nanos(500)))).unwrap();
    let class = ClassBuffer::drop_tail(Bytes::new(300_000));
    let info = POINTS.iter().find(|info| info.name == name).unwrap();
    let mut values = Values::defaults(info.parameters);
    if info.parameters.iter().any(|parameter| parameter.name == "severe") {
        // BCN(0,0) would leave ECM and its kin at 1 Mb/s for longer than the run.
        values.set("severe", Value::Choice("off".into()));
    }
    let point = (info.build)(&values).unwrap();
    let switch = SwitchSpec {
        buffer: Buffer::Static(vec![class; 2]),
        pipeline: Span::from_micros(1),
        congestion_point: Some(CongestionPointSpec { notice_class: 1, ..CongestionPointSpec::point(point) }),
        ..switch(class, FlowControl::None)
    };
    let mut spec = network(graph, switch, lossy());
    spec.classes.push(ClassSpec { name: "control".into(), lossless: false });
    let info = PROTOCOLS.iter().find(|info| info.name == name).unwrap();
    let mut values = Values::defaults(info.parameters);
    set.iter().for_each(|(name, value)| values.set(name, value.clone()));
    let reaction = (info.build)(&values).unwrap();
    let path_probe = reaction.path_probes().map(|lane| PathProbeSpec {
        size: Bytes::new(64),
        class: u8::from(lane == PathProbeClass::Urgent),
        answer_class: 1,
    });
    let flow = |host: u32| {
        greedy(host, TARGET, 1500).with(|it| {
            it.reaction = reaction.clone();
            it.path_probe = path_probe;
        })
    };
    spec.flows = (0..4).map(flow).collect();
    spec
}

/// What is on the wires, and what comes back.
#[derive(Clone, Default)]
struct Wires {
    /// Longest data frame with and without a tag, as sent and as delivered.
    sent: [u16; 2],
    delivered: [u16; 2],
    /// Probes that hosts send, and all that any port sends.
    probes: u64,
    probe_hops: u64,
    /// Notices that ask for less, and those that say there is room for more.
    less: u64,
    more: u64,
    guided: u64,
    answers: u64,
    /// The first ports that belong to hosts.
    hosts: Vec<u32>,
}

impl Probe for Wires {
    fn on_transmit(&mut self, _now: Time, port: u32, frame: &Frame, _waited: Span, _busy: Span) {
        match frame.kind {
            Kind::Data => {
                let longest = &mut self.sent[usize::from(frame.tag != 0)];
                *longest = frame.len.max(*longest);
            }
            Kind::Probe => {
                self.probe_hops += 1;
                self.probes += u64::from(self.hosts.contains(&port));
            }
            Kind::Answer => self.answers += u64::from(self.hosts.contains(&port)),
            _ => {}
        }
    }
    fn on_deliver(&mut self, _now: Time, _host: u32, frame: &Frame) {
        let longest = &mut self.delivered[usize::from(frame.tag != 0)];
        *longest = frame.len.max(*longest);
    }
    fn on_notice(&mut self, _now: Time, _flow: u32, notice: &Notice) {
        let Notice { feedback, offset, growth, .. } = *notice;
        let more = feedback == 0 && i64::from(offset) - 2 * i64::from(growth) > 0;
        *(if more { &mut self.more } else { &mut self.less }) += 1;
        self.guided += u64::from(notice.guidance.is_some());
    }
}

fn host_ports(spec: &NetworkSpec) -> Vec<u32> {
    let ends = spec.graph.ports();
    let first = |node: usize| ends[..node].iter().map(Vec::len).sum::<usize>() as u32;
    spec.graph.hosts().iter().map(|host| first(host.0 as usize)).collect()
}

fn go(spec: &NetworkSpec, partition: Partition, threads: usize) -> (Observed<Wires>, RunSummary) {
    let options = BuildOptions { partition, shards: 1, shuffle: None };
    let hosts = host_ports(spec);
    let mut simulation =
        Observed::build(spec, &options, |_| Wires { hosts: hosts.clone(), ..Wires::default() }).unwrap();
    let limits = RunLimits { threads, ..RunLimits::until(at(Span::from_millis(20))) };
    let report = simulation.run(&limits);
    (simulation, report)
}

fn seen(simulation: &mut Observed<Wires>) -> Wires {
    simulation.probes_mut().next().unwrap().clone()
}

#[test]
fn every_protocol_answers_a_burst_and_is_the_same_on_any_cut() {
    for name in NAMES {
        let spec = spec(name, &[]);
        let (mut simulation, report) = go(&spec, Partition::One, 1);
        let (_, again) = go(&spec, Partition::PerNode, 2);
        assert_eq!((report.fingerprint, report.totals), (again.fingerprint, again.totals), "{name}");
        assert_eq!(report.outcome, Outcome::Finished, "{name}");
        let (totals, census) = (report.totals, simulation.census());
        assert_eq!(
            totals.made_bytes,
            totals.delivered_bytes + totals.dropped_bytes + totals.discarded_bytes + census.bytes,
            "{name}"
        );
        // 20 ms of 10 Gb/s are 25 MB; the first burst makes all of them fall far below their shares.
        assert!(totals.delivered_bytes > 2_500_000, "{name}: {}", totals.delivered_bytes);
        let wires = seen(&mut simulation);
        assert_eq!(wires.guided > 0, name.ends_with("-pr"), "{name}");
        let probing = !matches!(name, "qcn-2007" | "ecm");
        assert_eq!(wires.probes > 0, probing, "{name}");
        assert_eq!(wires.less > 0, name != "fecn", "{name}");
        // Probes come back from the destination, or from congestion points as notices that say there is more.
        assert_eq!(wires.answers > 0, name.starts_with("fecn") || name == "e2cm", "{name}");
        assert_eq!(wires.more > 0, name.ends_with("-p") || name.ends_with("-pr") || name == "ecm", "{name}");
    }
}

/// The same parts in boxes, as those of another crate are.
fn boxed(mut spec: NetworkSpec) -> NetworkSpec {
    for flow in &mut spec.flows {
        flow.reaction = match flow.reaction.clone() {
            Reaction::None(point) => Reaction::custom(point),
            Reaction::RateLaw(point) => Reaction::custom(point),
            Reaction::CongestionTable(point) => Reaction::custom(point),
            Reaction::Fecn(point) => Reaction::custom(*point),
            Reaction::Qcn(point) => Reaction::custom(*point),
            Reaction::Bcn(point) => Reaction::custom(*point),
            Reaction::Dcqcn(point) => Reaction::custom(*point),
            Reaction::Hpcc(point) => Reaction::custom(*point),
            Reaction::PowerTcp(point) => Reaction::custom(*point),
            Reaction::Timely(point) => Reaction::custom(*point),
            Reaction::Swift(point) => Reaction::custom(*point),
            Reaction::Nscc(point) => Reaction::custom(*point),
            Reaction::Reno(point) => Reaction::custom(*point),
            Reaction::DctcpRate(point) => Reaction::custom(*point),
            Reaction::Pulled(point) => Reaction::custom(*point),
            custom @ Reaction::Custom(_) => custom,
        };
    }
    for point in
        spec.switches.iter_mut().flat_map(|switch| &mut switch.congestion_point).flat_map(|spec| &mut spec.point)
    {
        *point = match point.clone() {
            Point::Marking(point) => Point::custom(point),
            Point::InfinibandFecn(point) => Point::custom(point),
            Point::Fecn(point) => Point::custom(point),
            Point::Qcn(point) => Point::custom(point),
            Point::Bcn(point) => Point::custom(point),
            Point::Red(point) => Point::custom(*point),
            Point::Step(point) => Point::custom(point),
            Point::Trimming(point) => Point::custom(point),
            Point::ByClass(point) => Point::custom(point),
            custom @ Point::Custom(_) => custom,
        };
    }
    spec
}

#[test]
fn parts_of_another_crate_are_run_like_the_built_in_ones() {
    for name in ["qcn-pr", "e2cm", "fecn"] {
        let spec = spec(name, &[]);
        let (_, built_in) = run(&spec, Span::from_millis(2));
        let (_, custom) = run(&boxed(spec), Span::from_millis(2));
        assert!(custom.totals.notices + custom.totals.probes > 10, "{name}: {:?}", custom.totals);
        assert_eq!((custom.fingerprint, custom.totals), (built_in.fingerprint, built_in.totals), "{name}");
    }
}

#[test]
fn probes_for_a_congestion_point_end_there() {
    for name in ["e2cm-p", "qcn-p", "e2cm-pr", "qcn-pr"] {
        let mut spec = spec(name, &[]);
        // Only across the trunk: flows 0 and 1 meet before it, and nothing is ever late behind it.
        spec.flows.truncate(2);
        let (mut simulation, report) = go(&spec, Partition::One, 1);
        let wires = seen(&mut simulation);
        assert!(wires.probes > 20 && wires.more > 0, "{name}: {} {}", wires.probes, wires.more);
        // The first switch takes every one of them: no probe is ever sent by a switch.
        assert_eq!((wires.probe_hops, wires.answers), (wires.probes, 0), "{name}");
        assert_eq!(report.totals.probes, wires.probes, "{name}");
    }
}

#[test]
fn probes_for_a_point_that_is_not_on_their_way_any_more_come_to_nothing() {
    let mut spec = spec("e2cm-p", &[]);
    let graph = topology::two_switches(2, 2, 2, Links::same(link(10, Span::from_nanos(500)))).unwrap();
    let ends = graph.ports();
    let hosts = graph.hosts();
    let [near, far] = [hosts[0], hosts[2]].map(|host| ends[host.0 as usize][0].peer);
    let trunks: Vec<u16> = (0..ends[near.0 as usize].len() as u16)
        .filter(|&port| ends[near.0 as usize][usize::from(port)].peer == far)
        .collect();
    // Two flows meet at the first trunk, and both take the second from 5 ms on.
    let by_trunk = |trunk: u16| {
        let mut routes = fabric::routing::Routes::shortest_paths(&graph);
        [2, 3].into_iter().for_each(|host| routes.set(near, HostId(host), &[trunk]).unwrap());
        routes
    };
    (spec.routes, spec.kind_of) = (by_trunk(trunks[0]), vec![0; graph.nodes.len()]);
    spec.route_changes = vec![RouteChange::everywhere(at(Span::from_millis(5)), by_trunk(trunks[1]))];
    let flow = spec.flows[0].clone();
    let to = |source: u32| FlowSpec {
        source: HostId(source),
        destination: Destination::Host(HostId(source + 2)),
        ..flow.clone()
    };
    spec.flows = vec![to(0), to(1)].into();
    spec.graph = graph;
    let (mut simulation, report) = go(&spec, Partition::One, 1);
    let wires = seen(&mut simulation);
    // Those that find their point make one hop, the others three.
    assert!(wires.probe_hops > wires.probes + 2, "{} {}", wires.probe_hops, wires.probes);
    assert_eq!((wires.answers, report.outcome), (0, Outcome::Finished));
}

#[test]
fn a_tag_is_on_the_wire_and_not_in_what_is_delivered() {
    let tagged = |size: u64| {
        let spec = spec("ecm", &[("tag_size", Value::Size(Bytes::new(size)))]);
        let (mut simulation, report) = go(&spec, Partition::One, 1);
        (seen(&mut simulation), report.totals)
    };
    for size in [0, 16, 500] {
        let (wires, totals) = tagged(size);
        assert_eq!((wires.sent, wires.delivered), ([1500, 1500 + size as u16], [1500, 1500]));
        assert_eq!(totals.delivered_bytes, totals.delivered_frames * 1500);
        assert_eq!(totals.dropped_bytes, totals.dropped_frames * 1500);
    }
}
