//! Verdicts at enqueue: what ten frames that arrive at one instant meet, and that nothing is forgotten.

use crate::kit::*;
use congestion::parameter::{Value, Values};
use congestion::point::{Passage, Surroundings, Treatment, View};
use congestion::{ByClass, CongestionPoint, POINTS, Point};
use fabric::spec::*;
use fabric::topology;
use fabric::workload::FlowSpec;
use fabric::{DropCause, Frame, Probe, RunSummary};
use units::{Bytes, Span, Time};

fn point(name: &str, set: &[(&'static str, Value)]) -> Point {
    let info = POINTS.iter().find(|info| info.name == name).unwrap();
    let mut values = Values::defaults(info.parameters);
    set.iter().for_each(|(name, value)| values.set(name, value.clone()));
    (info.build)(&values).unwrap()
}

fn size(bytes: u64) -> Value {
    Value::Size(Bytes::new(bytes))
}

/// Ten hosts send a frame of 1000 B each to an eleventh. All arrive at the same instant; classes 0 and 1 are lossy.
fn ten(point: Point) -> NetworkSpec {
    let graph = topology::single_switch(11, link(10, Span::from_nanos(10))).unwrap();
    let buffer = ClassBuffer::drop_tail(Bytes::new(100_000));
    let mut spec = network(graph, switch(buffer, FlowControl::None), lossy());
    spec.classes.push(ClassSpec { name: "headers".into(), lossless: false });
    spec.switches[0].buffer = Buffer::Static(vec![buffer; 2]);
    let only_data = Point::ByClass(ByClass::new(vec![(1, point)]));
    let watch = CongestionPointSpec { trim_class: 1, ..CongestionPointSpec::point(only_data) };
    spec.switches[0].congestion_point = Some(watch);
    let flow = |from: u32| FlowSpec { size: Some(Bytes::new(1000)), ..greedy(from, 0, 1000) };
    spec.flows = (1..11).map(flow).collect();
    spec
}

#[derive(Default)]
struct Seen {
    marked: Vec<u32>,
    delivered: Vec<u32>,
    dropped: Vec<(u32, DropCause)>,
}

impl Probe for Seen {
    fn on_deliver(&mut self, _now: Time, _host: u32, frame: &Frame) {
        self.delivered.push(frame.flow);
        if frame.is_marked() {
            self.marked.push(frame.flow);
        }
    }
    fn on_drop(&mut self, _now: Time, _port: u32, frame: &Frame, cause: DropCause) {
        self.dropped.push((frame.flow, cause));
    }
}

fn seen(spec: &NetworkSpec) -> (Seen, RunSummary) {
    let (mut simulation, report) = run_with(spec, Span::from_micros(100), |_| Seen::default());
    let (totals, census) = (report.totals, simulation.census());
    let gone = totals.delivered_frames + totals.dropped_frames + totals.trimmed_frames;
    assert_eq!((totals.made_frames, census.places), (gone + census.frames, 0), "{totals:?}");
    (simulation.probes_mut().map(std::mem::take).next().unwrap(), report)
}

/// The first frame meets an empty queue, the next one 1000 B, and so on: those that meet more than K are marked.
#[test]
fn a_step_marks_exactly_the_frames_that_meet_more_than_the_threshold() {
    let mut spec = ten(point("ecn-step", &[("threshold", size(3000))]));
    let (seen_all, report) = seen(&spec);
    assert_eq!((seen_all.marked.len(), report.totals.marked_frames), (6, 6));
    assert_eq!(seen_all.marked, seen_all.delivered[4..]);
    // At the head, a frame leaves 9000 B behind, the next one 8000 B, and so on.
    let dequeue = ("at", Value::Choice("dequeue".into()));
    spec.switches[0].congestion_point =
        Some(CongestionPointSpec::point(point("ecn-step", &[("threshold", size(3000)), dequeue])));
    let (at_head, _) = seen(&spec);
    assert_eq!(at_head.marked, at_head.delivered[..6]);
}

/// A point that is shown every frame, as if it looked at more than queues.
#[derive(Clone, Debug, PartialEq)]
struct Shown(Point);

impl CongestionPoint for Shown {
    fn attach(&mut self, surroundings: &Surroundings) {
        self.0.attach(surroundings);
    }
    fn judges(&self) -> bool {
        self.0.judges()
    }
    fn discards(&self) -> u8 {
        self.0.discards()
    }
    fn on_enqueue(&mut self, frame: &Passage, view: &impl View) -> Treatment {
        self.0.on_enqueue(frame, view)
    }
    fn on_start(&mut self, frame: &Passage, view: &impl View) -> bool {
        self.0.on_start(frame, view)
    }
}

/// Such a point is asked about long queues only, and nothing is counted for it.
#[test]
fn a_point_that_sees_queues_only_decides_as_if_it_were_shown_everything() {
    let at = |at: &str| ("at", Value::Choice(at.into()));
    let low = [("kmin", size(3000)), ("kmax", size(20_000)), ("pmax", Value::Number(0.5))];
    let with = |more: (&'static str, Value)| [&low[..], &[more]].concat();
    let points = [
        point("ecn", &with(at("enqueue"))),
        point("ecn", &with(at("dequeue"))),
        point("ecn", &with(("weight", Value::Number(0.1)))),
        point("ecn-step", &[("threshold", size(5000)), at("enqueue")]),
        point("ecn-step", &[("threshold", size(5000)), at("dequeue")]),
        point("red", &with(("weight", Value::Number(1.0)))),
    ];
    for point in points {
        let run = |point: Point| {
            let mut spec = ten(point);
            let burst = |number: u32| {
                let (from, round) = (3 + number % 8, u64::from(number / 8));
                let start = crate::kit::at(Span::from_micros(10 * round + u64::from(from)));
                FlowSpec { size: Some(Bytes::new(4000 + 1000 * round)), start, ..greedy(from, from % 3, 1000) }
            };
            spec.flows = (0..48).map(burst).collect();
            let report = run_with(&spec, Span::from_micros(300), |_| Seen::default()).1;
            (report.fingerprint, report.totals.marked_frames + report.totals.dropped_frames)
        };
        let (lean, full) = (run(point.clone()), run(Point::custom(Shown(point.clone()))));
        assert_eq!(lean, full, "{point:?}");
        assert!(lean.1 > 20, "{point:?} acts on {} frames", lean.1);
    }
}

#[test]
fn early_drops_are_drops_with_a_cause_of_their_own() {
    let certain = [("kmin", size(2000)), ("kmax", size(2000)), ("weight", Value::Number(1.0))];
    let (all, report) = seen(&ten(point("red", &certain)));
    // 0, 1000 and 2000 B do not exceed 2000 B.
    assert_eq!((report.totals.delivered_frames, report.totals.dropped_frames), (3, 7));
    assert!(all.dropped.iter().all(|&(_, cause)| cause == DropCause::Early));
}

/// Eight frames stay whole; the headers of the others overtake them, and all that was made is accounted for.
#[test]
fn trimming_conserves_frames_and_headers_go_first() {
    for victim in ["arriving", "last", "random"] {
        let (all, report) = seen(&ten(point("trim", &[("victim", Value::Choice(victim.into()))])));
        let totals = report.totals;
        assert_eq!((totals.delivered_frames, totals.trimmed_frames, totals.dropped_frames), (8, 2, 0), "{victim}");
        assert_eq!((totals.trimmed_bytes, totals.control_bytes, totals.lost_control), (2000, 128, 0));
        let trimmed: Vec<u32> = all.dropped.iter().map(|&(flow, _)| flow).collect();
        match victim {
            "arriving" => assert_eq!(trimmed, [8, 9]),
            // The ninth replaces the eighth, the tenth the ninth.
            "last" => assert_eq!(trimmed, [7, 8]),
            _ => assert!(trimmed.iter().all(|flow| (7..10).contains(flow)), "{trimmed:?}"),
        }
        assert!(trimmed.iter().all(|flow| !all.delivered.contains(flow)));
    }
}

/// Headers that find no room are lost like other control frames; in a shared buffer all room is given back.
#[test]
fn headers_need_room_too() {
    let mut spec = ten(point("trim", &[("frames", Value::Count(2))]));
    let room = |bytes: u64| ClassBuffer::drop_tail(Bytes::new(bytes));
    spec.switches[0].buffer = Buffer::Static(vec![room(100_000), room(192)]);
    let totals = seen(&spec).1.totals;
    assert_eq!((totals.trimmed_frames, totals.lost_control), (8, 5));
    let classes = vec![ClassBuffer { headroom: Bytes::ZERO, ..room(0) }; 2];
    spec.switches[0].buffer = Buffer::Shared { total: Bytes::new(50_000), alpha: (1, 1), classes };
    let last = [("frames", Value::Count(2)), ("victim", Value::Choice("last".into()))];
    let again = ten(point("trim", &last));
    spec.switches[0].congestion_point = again.switches[0].congestion_point.clone();
    // Twice: what the first ten held is free again.
    let late = spec.flows.clone().into_iter().map(|flow| FlowSpec { start: at(Span::from_micros(50)), ..flow });
    spec.flows.extend(late);
    let totals = seen(&spec).1.totals;
    assert_eq!((totals.delivered_frames, totals.trimmed_frames, totals.lost_control), (4, 16, 0));
}

/// Marks, early drops and trimmed frames in three classes of one network.
#[test]
fn verdicts_are_the_same_everywhere() {
    let graph = topology::leaf_spine(2, 2, 4, topology::Links::same(link(10, Span::from_nanos(700)))).unwrap();
    let buffer = ClassBuffer::drop_tail(Bytes::new(60_000));
    let mut spec = network(graph, switch(buffer, FlowControl::None), lossy());
    for name in ["early", "trimmed", "headers"] {
        spec.classes.push(ClassSpec { name: name.into(), lossless: false });
    }
    spec.switches[0].buffer = Buffer::Static(vec![buffer; 4]);
    let ramp = [("kmin", size(5_000)), ("kmax", size(40_000)), ("pmax", Value::Number(0.3))];
    let points = vec![(0b001, point("ecn", &ramp)), (0b010, point("red", &ramp)), (0b100, point("trim", &[]))];
    let points = CongestionPointSpec::point(Point::ByClass(ByClass::new(points)));
    spec.switches[0].congestion_point = Some(CongestionPointSpec { trim_class: 3, ..points });
    spec.switches[0].egress = Egress::weighted(&[Bytes::new(2000); 4]);
    spec.flows =
        (1..7).map(|from| FlowSpec { class: (from % 3) as u8, ..greedy(from, 7 * (from % 2), 1000) }).collect();
    spec.flows.retain(|flow| flow.destination != fabric::workload::Destination::Host(flow.source));
    crate::determinism::same_everywhere(&spec);
    let totals = run(&spec, Span::from_millis(1)).0.totals();
    assert!(totals.marked_frames > 0 && totals.dropped_frames > 0 && totals.trimmed_frames > 0, "{totals:?}");
}

#[test]
fn what_drops_or_trims_is_refused_where_it_has_no_place() {
    let refused = |change: &dyn Fn(&mut NetworkSpec), words: &str| {
        let mut spec = ten(point("trim", &[]));
        change(&mut spec);
        let errors = fabric::Simulation::build(&spec, &fabric::BuildOptions::default()).map(drop).unwrap_err();
        assert!(errors.to_string().contains(words), "{errors}");
    };
    let lossless_class = |spec: &mut NetworkSpec| {
        spec.classes[0].lossless = true;
        let buffer = ClassBuffer::lossless(Bytes::new(90_000), Bytes::new(50_000), Bytes::new(40_000));
        (spec.switches[0].buffer, spec.switches[0].flow_control) = (Buffer::Static(vec![buffer; 2]), pfc());
    };
    refused(&lossless_class, "trims frames of class lossy, which is lossless");
    let own = |spec: &mut NetworkSpec| spec.switches[0].congestion_point.as_mut().unwrap().trim_class = 0;
    refused(&own, "trimmed frames use class 0");
    refused(&|spec| spec.switches[0].order = Order::Longest, "needs one queue per output");
    let tiny = |spec: &mut NetworkSpec| {
        spec.switches[0].congestion_point.as_mut().unwrap().trim_size = Bytes::new(10);
    };
    refused(&tiny, "trimmed frames of 10B are out of range");
    let long = |spec: &mut NetworkSpec| {
        spec.switches[0].congestion_point.as_mut().unwrap().trim_size = Bytes::new(1000);
    };
    refused(&long, "trimmed frames of 1KB are not shorter than the frames that are trimmed, 1KB at most");
}
