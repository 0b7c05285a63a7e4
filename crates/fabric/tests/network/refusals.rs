//! What is refused when a network is built, and that the reason names the matter.

use crate::kit::*;
use congestion::{Allowance, NoControl, Reaction};
use fabric::spec::*;
use fabric::topology;
use fabric::workload::{FlowSpec, Gaps, Pattern};
use fabric::{BuildOptions, Simulation};
use units::{Bytes, Rate, Span};

fn refused(expected: &str, change: impl FnOnce(&mut NetworkSpec)) {
    let graph = topology::single_switch(3, link(10, Span::from_nanos(500))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.flows = vec![greedy(0, 1, 1000)];
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
    refused("need a crossbar", |s| s.switches[0].queueing = Queueing::VirtualOutput);
    refused("shared memory", |s| {
        s.switches[0].queueing = Queueing::VirtualOutput;
        s.switches[0].crossbar = Some(Crossbar::default());
        let classes = vec![ClassBuffer { headroom: Bytes::new(9000), ..ClassBuffer::UNLIMITED }];
        s.switches[0].buffer = Buffer::Shared { total: Bytes::new(100_000), alpha: (1, 1), classes };
    });
    refused("speedup needs queues behind", |s| {
        s.switches[0].queueing = Queueing::VirtualOutput;
        s.switches[0].crossbar = Some(Crossbar { speedup: (2, 1), ..Crossbar::default() });
    });
    refused("never takes a frame", |s| {
        s.switches[0].queueing = Queueing::Combined { output_buffer: Bytes::new(500) };
        s.switches[0].crossbar = Some(Crossbar::default());
    });
    refused("nothing holds back its senders", |s| s.switches[0].flow_control = FlowControl::None);
    refused("leaves no headroom", |s| {
        let buffer = ClassBuffer::lossless(Bytes::new(1000), Bytes::new(1000), Bytes::new(500));
        s.switches[0].buffer = Buffer::Static(vec![buffer]);
    });
    refused("lies above XOFF", |s| {
        let buffer = ClassBuffer::lossless(Bytes::new(3000), Bytes::new(1000), Bytes::new(1500));
        s.switches[0].buffer = Buffer::Static(vec![buffer]);
    });
    refused("would lapse", |s| {
        s.switches[0].flow_control =
            FlowControl::Pfc(PauseSpec { quanta: 10, refresh_before: 10, ..PauseSpec::default() });
    });
    refused("a signal takes time", |s| s.switches[0].flow_control = slots(Span::ZERO));
    refused("PAUSE stops every class", |s| {
        s.classes = vec![lossless(), lossy()];
        let buffer = ClassBuffer::lossless(Bytes::new(9000), Bytes::new(1000), Bytes::new(500));
        s.switches[0].buffer = Buffer::Static(vec![buffer; 2]);
        s.switches[0].flow_control = FlowControl::Pause(PauseSpec::default());
    });
    refused("one each", |s| s.switches[0].buffer = Buffer::Static(vec![]));
    refused("in two egress groups", |s| {
        let group = EgressGroup { classes: 1, share: Share::Strict };
        s.switches[0].egress = Egress::Groups(vec![group, group]);
    });
    refused("cut-through in no time", |s| {
        s.switches[0].forwarding = Forwarding::CutThrough { header_delay: Span::ZERO };
        s.graph.cables[0].link.latency = Span::ZERO;
    });
    refused("would never act", |s| s.adapters[0].flow_control = pfc());
    refused("9 classes", |s| s.classes = vec![lossless(); 9]);
}

#[test]
fn wrong_flows_and_faults_are_refused_with_the_reason() {
    refused("a window needs acknowledgements", |s| {
        let allowance = Allowance { rate: None, window: Some(Bytes::new(1000)) };
        s.flows[0].reaction = Reaction::None(NoControl { allowance });
    });
    refused("its destination is its source", |s| s.flows[0] = greedy(1, 1, 1000));
    refused("not one of the 3 hosts", |s| s.flows[0] = greedy(0, 7, 1000));
    refused("class 3 of 1", |s| s.flows[0].class = 3);
    refused("frames of", |s| s.flows[0].frame = Bytes::ZERO);
    refused("a flow of zero bytes", |s| s.flows[0].size = Some(Bytes::ZERO));
    refused("stops before it starts", |s| s.flows[0].stop = Some(s.flows[0].start));
    refused("rate zero", |s| {
        let pattern = Pattern::Paced { rate: Rate::ZERO, gaps: Gaps::Constant, backlog: None };
        s.flows[0] = FlowSpec { pattern, ..s.flows[0].clone() };
    });
    refused("comes up before", |s| {
        let now = at(Span::from_micros(1));
        s.faults = vec![Fault { cable: 0, down: now, up: Some(now) }];
    });
    refused("a fault of cable 99", |s| s.faults = vec![Fault { cable: 99, down: at(Span::ZERO), up: None }]);
    refused("there is no kind", |s| s.kind_of[0] = 5);
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let graph = topology::single_switch(3, link(10, Span::from_nanos(500))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.switches[0].flow_control = FlowControl::None;
    spec.flows = vec![greedy(1, 1, 1000), greedy(0, 1, 0)];
    let Err(errors) = Simulation::build(&spec, &BuildOptions::default()) else { panic!("it was built") };
    assert_eq!(errors.len(), 3, "{errors:?}");
}
