//! What is refused when a network is built, and that the reason names the matter.

use crate::kit::*;
use congestion::{Allowance, NoControl, Reaction};
use fabric::graph::Role;
use fabric::spec::*;
use fabric::topology;
use fabric::workload::{Gaps, Pattern};
use fabric::{BuildOptions, Simulation};
use units::{Bytes, Rate, Span};

fn refused(expected: &str, change: impl FnOnce(&mut NetworkSpec)) {
    let graph = topology::single_switch(3, link(10, Span::from_nanos(500))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.flows = vec![greedy(0, 1, 1000)].into();
    assert!(Simulation::build(&spec, &BuildOptions::default()).is_ok());
    change(&mut spec);
    match Simulation::build(&spec, &BuildOptions::default()) {
        Ok(_) => panic!("built although: {expected}"),
        Err(errors) => {
            let text = errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
            assert!(text.contains(expected), "'{expected}' is not in:\n{text}");
        }
    }
}

#[test]
fn impossible_combinations_are_refused_with_the_reason() {
    refused("output queueing has no crossbar", |s| s.switches[0].crossbar = Some(Crossbar::default()));
    let port = |port| PortSpec { pfc: 1, ..PortSpec::plain(fabric::graph::NodeId(0), port) };
    refused("node 0 has no port 9", |s| s.ports = vec![port(9)]);
    refused("port 0 of", |s| s.ports = vec![port(0), port(0)]);
    refused("every class must be in an egress group", |s| {
        s.ports = vec![PortSpec { egress: Some(Egress::Groups(vec![])), ..port(0) }];
    });
    refused("needs a crossbar", |s| s.switches[0].queueing = Queueing::VirtualOutput);
    refused("a shared buffer works only with output queueing", |s| {
        s.switches[0].queueing = Queueing::VirtualOutput;
        s.switches[0].crossbar = Some(Crossbar::default());
        let classes = vec![ClassBuffer { headroom: Bytes::new(9000), ..ClassBuffer::UNLIMITED }];
        s.switches[0].buffer = Buffer::Shared { total: Bytes::new(100_000), alpha: (1, 1), classes };
    });
    refused("speedup needs output queues behind", |s| {
        s.switches[0].queueing = Queueing::VirtualOutput;
        s.switches[0].crossbar = Some(Crossbar { speedup: (2, 1), ..Crossbar::default() });
    });
    refused("cannot hold a frame", |s| {
        s.switches[0].queueing = Queueing::Combined { output_buffer: Bytes::new(500) };
        s.switches[0].crossbar = Some(Crossbar::default());
    });
    refused("has no flow control", |s| s.switches[0].flow_control = FlowControl::None);
    refused("leaves no headroom", |s| {
        let buffer = ClassBuffer::lossless(Bytes::new(1000), Bytes::new(1000), Bytes::new(500));
        s.switches[0].buffer = Buffer::Static(vec![buffer]);
    });
    refused("exceeds XOFF", |s| {
        let buffer = ClassBuffer::lossless(Bytes::new(3000), Bytes::new(1000), Bytes::new(1500));
        s.switches[0].buffer = Buffer::Static(vec![buffer]);
    });
    refused("cannot be refreshed", |s| {
        s.switches[0].flow_control =
            FlowControl::Pfc(PauseSpec { quanta: 10, refresh_before: 10, ..PauseSpec::default() });
    });
    refused("needs a delay above zero", |s| s.switches[0].flow_control = slots(Span::ZERO));
    refused("PAUSE stops every class", |s| {
        s.classes = vec![lossless(), lossy()];
        let buffer = ClassBuffer::lossless(Bytes::new(9000), Bytes::new(1000), Bytes::new(500));
        s.switches[0].buffer = Buffer::Static(vec![buffer; 2]);
        s.switches[0].flow_control = FlowControl::Pause(PauseSpec::default());
    });
    refused("one buffer per class", |s| s.switches[0].buffer = Buffer::Static(vec![]));
    refused("in two egress groups", |s| {
        let group = EgressGroup::turns(1, Share::Strict);
        s.switches[0].egress = Egress::Groups(vec![group, group]);
    });
    refused("names class 1, but there are only 1 classes", |s| s.switches[0].egress = lanes(&[(1, 4)], &[(0, 4)], 0));
    refused("class 0 has no weight", |s| s.adapters[0].egress = lanes(&[(0, 0)], &[], 0));
    refused("at most 64 entries", |s| s.switches[0].egress = lanes(&[], &[(0, 4); 65], 0));
    refused("cut-through with zero header delay", |s| {
        s.switches[0].forwarding = Forwarding::CutThrough { header_delay: Span::ZERO };
        s.graph.cables[0].link.latency = Span::ZERO;
    });
    refused("never acts", |s| s.adapters[0].flow_control = pfc());
    refused("9 classes", |s| s.classes = vec![lossless(); 9]);
    refused("refresh interval of zero", |s| {
        let give_back = CreditReturn::Frame { size: Bytes::new(64), refresh: Some(Span::ZERO) };
        s.switches[0].flow_control = FlowControl::Credits(CreditSpec { unit: CreditUnit::Frame, give_back });
    });
    refused("give at most 65000B", |s| {
        let give_back = CreditReturn::Frame { size: Bytes::new(65_536), refresh: None };
        s.switches[0].flow_control = FlowControl::Credits(CreditSpec { unit: CreditUnit::Frame, give_back });
    });
    refused("give every class the same buffer", |s| {
        s.classes = vec![lossless(); 2];
        let buffer = |xoff| ClassBuffer::lossless(Bytes::new(9000), Bytes::new(xoff), Bytes::new(500));
        s.switches[0].buffer = Buffer::Static(vec![buffer(1000), buffer(2000)]);
        s.switches[0].flow_control = FlowControl::Pause(PauseSpec::default());
    });
    refused("stops no class", |s| {
        s.switches[0].flow_control = FlowControl::Pause(PauseSpec { holds: 0, ..PauseSpec::default() });
    });
    refused("hold more than 2 GB", |s| {
        let buffer = ClassBuffer::lossless(Bytes::new(2_000_000_000), Bytes::new(1000), Bytes::new(500));
        s.switches[0].buffer = Buffer::Static(vec![buffer]);
    });
    refused("cannot cut through", |s| {
        s.switches[0].queueing = Queueing::Combined { output_buffer: Bytes::new(50_000) };
        s.switches[0].crossbar = Some(Crossbar { speedup: (2, 1), ..Crossbar::default() });
        s.switches[0].forwarding = Forwarding::CutThrough { header_delay: Span::from_nanos(40) };
    });
    refused("put a switch between them", |s| {
        let link = s.graph.cables[0].link;
        let [a, b] = ["x", "y"].map(|name| s.graph.node(name, fabric::graph::Role::Host, 0));
        s.graph.cable(a, b, link);
        s.kind_of.extend([0, 0]);
    });
    refused("check the units", |s| s.graph.cables[0].link.latency = Span::from_secs(100));
    refused("routes belong to another network", |s| {
        let other = topology::single_switch(2, link(10, Span::ZERO)).unwrap();
        s.routes = fabric::routing::Routes::shortest_paths(&other);
    });
    refused("sends frames for h1 to h2", |s| {
        let at = s.graph.find("sw0").unwrap();
        s.routes.set(at, fabric::graph::HostId(1), &[2]).unwrap();
    });
}

#[test]
fn wrong_flows_and_faults_are_refused_with_the_reason() {
    refused("its retransmission delay", |s| s.flows[0].requeue_oracle = Some(Span::ZERO));
    refused("its retransmission delay", |s| s.flows[0].requeue_oracle = Some(Span::MAX));
    refused("its window needs acknowledgements", |s| {
        let allowance = Allowance { rate: None, window: Some(Bytes::new(1000)) };
        s.flows[0].reaction = Reaction::None(NoControl { allowance });
    });
    refused("its destination is its own source", |s| s.flows[0] = greedy(1, 1, 1000));
    refused("not one of the 3 hosts", |s| s.flows[0] = greedy(0, 7, 1000));
    refused("it uses class 3", |s| s.flows[0].class = 3);
    refused("frames of", |s| s.flows[0].frame = Bytes::ZERO);
    refused("its size is zero", |s| s.flows[0].size = Some(Bytes::ZERO));
    refused("stops before it starts", |s| s.flows[0].stop = Some(s.flows[0].start));
    refused("its rate is zero", |s| {
        let pattern = Pattern::Paced { rate: Rate::ZERO, gaps: Gaps::Constant, backlog: None };
        s.flows[0] = (s.flows[0].clone()).with(|it| {
            it.pattern = pattern;
        });
    });
    refused("recovers before", |s| {
        let now = at(Span::from_micros(1));
        s.faults = vec![Fault { cable: 0, down: now, up: Some(now) }];
    });
    refused("a fault names link 99", |s| s.faults = vec![Fault { cable: 99, down: at(Span::ZERO), up: None }]);
    refused("overlap", |s| {
        let fault = |down, up| Fault { cable: 0, down: at(Span::from_micros(down)), up };
        s.faults = vec![fault(10, None), fault(20, Some(at(Span::from_micros(30))))];
    });
    refused("beyond any run", |s| s.flows[0].stop = Some(units::Time::MAX));
    refused("bursts and silences must be above zero and shorter than", |s| {
        let (on, off) = (Span::MAX, Span::from_micros(1));
        s.flows[0].activity = fabric::workload::Activity::OnOff { on, off, random: false, discard: false };
    });
    let acknowledge = |every| fabric::workload::Acknowledge { size: Bytes::new(64), class: 0, every, delay: None };
    refused("set `every` to 1", |s| {
        let hosts = [1, 2].map(fabric::graph::HostId);
        s.flows[0] = s.flows[0].clone().to_any(hosts);
        s.flows[0].acknowledge = Some(acknowledge(3));
    });
    refused("give at least 10KB", |s| {
        let allowance = Allowance { rate: None, window: Some(Bytes::new(3000)) };
        s.flows[0].reaction = Reaction::None(NoControl { allowance });
        s.flows[0].acknowledge = Some(acknowledge(10));
    });
    let recovery = || {
        let info = &fabric::transport::RECOVERIES[1];
        let values = congestion::parameter::Values::defaults(info.parameters);
        Some(std::sync::Arc::new((info.build)(&values).expect("its defaults fit")))
    };
    refused("its recovery needs acknowledgements", |s| s.flows[0].recovery = recovery());
    refused("recovery needs a single destination", |s| {
        let hosts = [1, 2].map(fabric::graph::HostId);
        s.flows[0] = s.flows[0].clone().to_any(hosts);
        s.flows[0].recovery = recovery();
    });
    refused("remove one of the two", |s| {
        (s.flows[0].recovery, s.flows[0].acknowledge) = (recovery(), Some(acknowledge(1)));
        s.flows[0].requeue_oracle = Some(Span::from_micros(1));
    });
    refused("the window of its recovery holds 2 frames, but 3 are acknowledged together; give it at least 3KB", |s| {
        let window = congestion::parameter::Value::Size(Bytes::new(2900));
        s.flows[0].recovery = crate::recovery::recovery("selective-repeat", &[("window", window)]);
        s.flows[0].acknowledge = Some(acknowledge(3));
    });
    refused("a window in a lossy class closes permanently", |s| {
        s.classes[0].lossless = false;
        s.flows[0].acknowledge = Some(acknowledge(1));
        let allowance = Allowance { rate: None, window: Some(Bytes::new(3000)) };
        s.flows[0].reaction = Reaction::None(NoControl { allowance });
    });
    let reps = || crate::path_selection::selection("reps", &[]);
    refused("its path selection needs acknowledgements", |s| s.flows[0].path_selection = reps());
    refused("the switches do not hash it", |s| {
        (s.flows[0].path_selection, s.flows[0].acknowledge) = (reps(), Some(acknowledge(1)));
        s.multipath = Multipath::Numbered;
    });
    refused("path selection needs a single destination", |s| {
        let hosts = [1, 2].map(fabric::graph::HostId);
        s.flows[0] = s.flows[0].clone().to_any(hosts);
        (s.flows[0].path_selection, s.flows[0].acknowledge) = (reps(), Some(acknowledge(1)));
    });
    refused("smaller than the smallest", |s| s.flows[0].frame = Bytes::new(10));
    refused("there is no kind", |s| s.kind_of[0] = 5);
}

fn notifying() -> CongestionPointSpec {
    let info = congestion::POINTS.iter().find(|info| info.name == "qcn").unwrap();
    CongestionPointSpec::point((info.build)(&congestion::parameter::Values::defaults(info.parameters)).unwrap())
}

#[test]
fn notices_that_no_buffer_takes_are_refused() {
    // A class of its own for notices larger than its buffers, of bytes or behind a crossbar.
    let watch = CongestionPointSpec { notice_class: 1, notice_size: Bytes::new(1500), ..notifying() };
    refused("cannot hold a frame of 1500B", |s| {
        s.classes.push(lossless());
        let block = CreditUnit::Block(Bytes::new(64));
        let give_back = CreditReturn::Signal { delay: Span::from_nanos(50) };
        s.switches[0].flow_control = FlowControl::Credits(CreditSpec { unit: block, give_back });
        s.switches[0].buffer =
            Buffer::Static([12_800, 640].map(|size| ClassBuffer::drop_tail(Bytes::new(size))).into());
        s.switches[0].congestion_point = Some(watch.clone());
    });
    refused("cannot hold a frame of 1500B", |s| {
        s.switches[0].queueing = Queueing::Combined { output_buffer: Bytes::new(1200) };
        s.switches[0].crossbar = Some(Crossbar::default());
        s.switches[0].congestion_point = Some(CongestionPointSpec { notice_class: 0, ..watch.clone() });
    });
    refused("notices of 64B", |s| {
        s.smallest_frame = Bytes::new(100);
        s.switches[0].congestion_point = Some(notifying());
    });
}

#[test]
fn sizes_of_notices_matter_only_where_there_are_some() {
    let graph = topology::single_switch(3, link(10, Span::from_nanos(500))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.smallest_frame = Bytes::new(100);
    spec.flows = vec![greedy(0, 1, 1000)].into();
    spec.switches[0].congestion_point = Some(CongestionPointSpec { occupancy: true, ..CongestionPointSpec::default() });
    assert!(Simulation::build(&spec, &BuildOptions::default()).is_ok());
}

#[test]
fn copies_need_a_far_side_that_sends_receipts() {
    let cable = link(10, Span::from_nanos(500));
    let mut spec = network(topology::dumbbell(1, 1, cable, cable).unwrap(), pfc_switch(), lossless());
    spec.flows = vec![greedy(0, 1, 1000)].into();
    let reliable = SwitchSpec {
        congestion_point: Some(CongestionPointSpec { reliable: true, ..CongestionPointSpec::default() }),
        ..pfc_switch()
    };
    spec.switches.push(reliable);
    // Of the two switches one, and then both.
    let switches: Vec<usize> =
        (0..spec.graph.nodes.len()).filter(|&node| spec.graph.nodes[node].role == Role::Switch).collect();
    spec.kind_of[switches[0]] = 1;
    let errors = Simulation::build(&spec, &BuildOptions::default()).err().unwrap();
    assert!(errors[0].to_string().contains("enable it on all switches with hosts"), "{errors:?}");
    spec.kind_of[switches[1]] = 1;
    assert!(Simulation::build(&spec, &BuildOptions::default()).is_ok());
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let graph = topology::single_switch(3, link(10, Span::from_nanos(500))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.switches[0].flow_control = FlowControl::None;
    spec.flows = vec![greedy(1, 1, 1000), greedy(0, 1, 0)].into();
    let Err(errors) = Simulation::build(&spec, &BuildOptions::default()) else { panic!("it was built") };
    assert_eq!(errors.len(), 4, "{errors:?}");
}
