//! The congestion points.

use crate::{build_point, choice, of_point, time};
use congestion::parameter::{Value, Values};
use congestion::point::{Fate, Guidance, Notice, Passage, Passing, Request, Surroundings, View, number, tag_of};
use congestion::{CongestionPoint, POINTS, Point};
use units::{Rate, Span, Time};

/// Number of the switch's first port in the network.
const FIRST_PORT: u32 = 40;

/// A switch in which every queue is as long, and outputs may be stopped.
#[derive(Clone, Copy)]
struct Still {
    queue: u32,
    stopped: bool,
}

impl View for Still {
    fn held(&self, _input: u16, _class: u8) -> u32 {
        0
    }
    fn full(&self, _input: u16, _class: u8) -> u32 {
        u32::MAX
    }
    fn wanted(&self, _input: u16, _class: u8) -> u128 {
        0
    }
    fn waiting_bytes(&self, _output: u16, _class: u8) -> u32 {
        self.queue
    }
    fn waiting_frames(&self, _output: u16, _class: u8) -> u32 {
        0
    }
    fn sending(&self, _output: u16, _class: u8) -> bool {
        false
    }
    fn leaving(&self, _input: u16, _class: u8) -> u32 {
        0
    }
    fn ending(&self, _output: u16, _class: u8) -> bool {
        false
    }
    fn blocked(&self, _output: u16, _class: u8) -> bool {
        self.stopped
    }
    fn last_blocked(&self, _output: u16, _class: u8) -> Option<Time> {
        None
    }
    fn stopped(&self, _input: u16, _class: u8) -> bool {
        false
    }
}

fn queue(queue: u32) -> Still {
    Still { queue, stopped: false }
}

/// The point in a switch of four ports and two classes.
fn attached(name: &str, values: &Values) -> Point {
    let mut point = build_point(name, values);
    point.attach(&Surroundings {
        rates: vec![Rate::from_gigabits(10); 4],
        classes: 2,
        to_host: vec![true; 4],
        largest_frame: vec![1500; 2],
        buffer: vec![150_000; 2],
        held_by_inputs: vec![true; 2],
        seed: 7,
        node: 3,
        first_port: FIRST_PORT,
    });
    point
}

/// A frame of that flow for output 2 in class 1.
fn frame(now: Time, flow: u32) -> Passage {
    Passage { now, since: now, flow, input: 0, output: 2, class: 1, len: 1500, tag: 0 }
}

/// A probe of flow 9 for output 2 in class 1, addressed to that point.
fn probe(now: Time, tag: u16) -> Passing {
    Passing { now, flow: 9, output: 2, class: 1, tag, value: 0 }
}

fn own_tag() -> u16 {
    tag_of(number(FIRST_PORT + 2, 1))
}

/// Frames until the point says something.
fn until_told(point: &mut Point, view: &Still) -> (u32, Notice) {
    for frames in 1..100_000 {
        if let Request::Notify(notice) = point.on_output(&frame(Time::ZERO, 9), view) {
            return (frames, notice);
        }
    }
    panic!("nothing is said")
}

#[test]
fn qcn_of_2007_samples_one_to_ten_percent_of_frames() {
    let mut point = attached("qcn-2007", &of_point("qcn-2007"));
    assert!(point.notifies());
    // The most is 24000 (1 + 2 * 2) = 120000. An unchanging queue of 24000, 84000 or 144000 and more has none, half
    // and all of it: one, five and a half and ten percent.
    for (length, percent, feedback) in [(26_000, 1.15, 1), (84_000, 5.5, 31), (144_000, 10.0, 63), (300_000, 10.0, 63)]
    {
        until_told(&mut point, &queue(length));
        let samples = 20_000;
        let frames: u64 = (0..samples)
            .map(|_| {
                let (frames, notice) = until_told(&mut point, &queue(length));
                assert_eq!((notice.feedback, notice.growth, notice.offset), (feedback, 0, 24_000 - length as i32));
                assert_eq!((notice.port, notice.class, notice.guidance), (2, 1, None));
                u64::from(frames)
            })
            .sum();
        let found = samples as f64 / frames as f64 * 100.0;
        // Four deviations of the mean of geometric gaps: 4 / sqrt(20000).
        assert!((found / percent - 1.0).abs() < 0.0283, "{length}: {found} for {percent}");
    }
    // Nothing is said below the set point.
    let calm = |point: &mut Point| {
        (0..5_000).all(|_| point.on_output(&frame(Time::ZERO, 9), &queue(20_000)) == Request::Nothing)
    };
    assert!(calm(&mut point));
}

#[test]
fn points_of_e2cm_send_only_what_is_negative_above_the_set_point() {
    let every = |name: &str| of_point(name).with("sample_base", Value::Size(units::Bytes::new(1)));
    for name in ["e2cm", "e2cm-p"] {
        let mut point = attached(name, &every(name).with("jitter", Value::Number(0.0)));
        let mut see =
            |length: u32, tag: u16| match point.on_output(&Passage { tag, ..frame(Time::ZERO, 9) }, &queue(length)) {
                Request::Notify(notice) => Some((notice.feedback, notice.offset, notice.growth)),
                _ => None,
            };
        // Feedback: -66000; 0; 5000, above; 14000 and -5000, below; a tag makes no difference. Then BCN(0,0).
        assert_eq!(see(30_000, 0), Some((0, -6_000, 30_000)));
        assert_eq!([see(28_000, 0), see(25_000, own_tag()), see(20_000, own_tag()), see(23_000, 0)], [None; 4]);
        assert_eq!(see(102_401, 0), Some((1, 0, 0)));
        assert_eq!(see(102_400, 0), Some((0, -78_400, -1)));
    }
}

#[test]
fn points_answer_probes_that_are_for_them_if_there_is_room_for_more() {
    for name in ["e2cm", "e2cm-p", "qcn-p", "qcn-2007", "ecm"] {
        let mut point = attached(name, &of_point(name));
        // Of another output, another class, another switch, or of nobody: it passes.
        for tag in [0, tag_of(number(FIRST_PORT + 1, 1)), tag_of(number(FIRST_PORT + 2, 0)), tag_of(number(2, 1))] {
            assert_eq!(point.on_path_probe(&mut probe(Time::ZERO, tag), &queue(0)), Fate::Pass);
        }
        // No sample yet: an empty queue at the last. 24000 - 4000 - 2 * 4000 = 12000, and 24000 - 8000 - 2 * 8000 = 0.
        let Fate::Reply(reply) = point.on_path_probe(&mut probe(Time::ZERO, own_tag()), &queue(4_000)) else {
            panic!("{name}")
        };
        assert_eq!((reply.flow, reply.feedback, reply.offset, reply.growth), (9, 0, 20_000, 4_000));
        assert_eq!((reply.port, reply.class, reply.guidance), (2, 1, None));
        // The probe was no sample: the growth is still that since the start.
        assert_eq!(point.on_path_probe(&mut probe(Time::ZERO, own_tag()), &queue(8_000)), Fate::End);
    }
}

#[test]
fn points_that_answer_all_probes_ask_for_less_where_there_is_no_room() {
    // 16000 - 24000 + 2 * 16000 = 24000 of 120000: a fifth of 63. E2CM sends offset and growth alone.
    for (name, feedback) in [("e2cm-p", 0), ("e2cm-pr", 0), ("qcn-p", 12), ("qcn-pr", 12)] {
        let mut point = attached(name, &of_point(name).with("probe_answers", choice("both")));
        let Fate::Reply(reply) = point.on_path_probe(&mut probe(Time::ZERO, own_tag()), &queue(16_000)) else {
            panic!("{name}")
        };
        assert_eq!((reply.feedback, reply.offset, reply.growth), (feedback, 8_000, 16_000), "{name}");
        let mut usual = attached(name, &of_point(name));
        assert_eq!(usual.on_path_probe(&mut probe(Time::ZERO, own_tag()), &queue(16_000)), Fate::End, "{name}");
    }
}

#[test]
fn guidance_shares_the_link_among_the_flows_of_the_last_millisecond() {
    let suggest = |point: &mut Point, now: Time, stopped: bool| {
        let fate = point.on_path_probe(&mut probe(now, own_tag()), &Still { queue: 0, stopped });
        let Fate::Reply(Notice { guidance: Some(Guidance { suggested, most }), .. }) = fate else { panic!("{fate:?}") };
        [suggested, most].map(|rate| rate.as_bits_per_sec() / 1_000_000)
    };
    for name in ["e2cm-pr", "qcn-pr"] {
        let mut point = attached(name, &of_point(name));
        assert_eq!(suggest(&mut point, Time::ZERO, false), [10_000, 10_000]);
        // Flows 1 to 4, flow 1 again and again, one of another output.
        for (micros, flow) in [(100, 1), (200, 2), (300, 3), (400, 4), (500, 1), (600, 1)] {
            point.on_output(&frame(time(micros), flow), &queue(0));
        }
        point.on_output(&Passage { output: 1, ..frame(time(600), 7) }, &queue(0));
        assert_eq!(suggest(&mut point, time(600), false), [2_500, 10_000]);
        // A millisecond after 200 us flow 2 still counts, later it does not; then 3; then 4; then 1 is alone.
        assert_eq!(suggest(&mut point, time(1_200), false), [2_500, 10_000]);
        assert_eq!(suggest(&mut point, time(1_201), false)[0], 3_333);
        assert_eq!(suggest(&mut point, time(1_301), false)[0], 5_000);
        assert_eq!(suggest(&mut point, time(1_600), false)[0], 10_000);
        assert_eq!(suggest(&mut point, time(1_601), false)[0], 10_000);
        // Of eight frames of a millisecond two found the port stopped: three quarters are there to be shared.
        let mut paused = attached(name, &of_point(name).with("capacity", choice("unpaused")));
        for n in 0..8 {
            paused.on_output(&frame(time(100 * n), n as u32 % 2), &Still { queue: 0, stopped: n % 4 == 0 });
        }
        assert_eq!(suggest(&mut paused, time(999), false), [5_000, 10_000]);
        assert_eq!(suggest(&mut paused, time(1_000), false), [3_750, 7_500]);
    }
}

#[test]
fn guidance_by_the_law_of_fecn_starts_at_the_link_and_adapts() {
    let mut point = attached("e2cm-pr", &of_point("e2cm-pr").with("guidance", choice("fecn")));
    // Twice the capacity in a millisecond, at the set point: from 10 to halfway between 10 and 5 Gb/s.
    let (frames, bits) = (1_667, 1_667.0 * 12_000.0);
    for n in 0..frames {
        point.on_output(&frame(Time::ZERO + Span::from_nanos(599 * n), n as u32), &queue(24_000));
    }
    let fate = point.on_path_probe(&mut probe(time(1_000), own_tag()), &Still { queue: 24_000, stopped: false });
    assert_eq!(fate, Fate::End);
    let fate = point.on_path_probe(&mut probe(time(1_001), own_tag()), &queue(0));
    let Fate::Reply(Notice { guidance: Some(guidance), .. }) = fate else { panic!("{fate:?}") };
    let expected = 0.5 * 1e10 * 1e10 / (bits / 1e-3) + 0.5e10;
    assert!((guidance.suggested.as_bits_per_sec() as f64 - expected).abs() < 2.0, "{guidance:?} {expected}");
    assert_eq!(guidance.most, Rate::from_gigabits(10));
}

#[test]
fn ecm_may_sample_as_flexibly_as_qcn_did() {
    let values = of_point("ecm").with("sampling", choice("flexible"));
    let mut point = attached("ecm", &values);
    for (length, percent) in [(25_000, 1.075), (84_000, 5.5)] {
        until_told(&mut point, &queue(length));
        let samples = 10_000;
        let frames: u64 = (0..samples).map(|_| u64::from(until_told(&mut point, &queue(length)).0)).sum();
        let found = samples as f64 / frames as f64 * 100.0;
        assert!((found / percent - 1.0).abs() < 0.04, "{length}: {found} for {percent}");
    }
}

#[test]
fn fecn_b_sends_bcn_00_where_the_queue_is_long() {
    let values = of_point("fecn-b").with("jitter", Value::Number(0.0));
    let mut point = attached("fecn-b", &values);
    assert!(point.notifies() && !attached("fecn", &of_point("fecn")).notifies());
    // One in a hundred frames of 1500 bytes.
    let (frames, notice) = until_told(&mut point, &queue(120_001));
    assert_eq!((frames, notice.flow, notice.feedback, notice.offset, notice.growth), (100, 9, 1, 0, 0));
    assert!((0..1_000).all(|_| point.on_output(&frame(Time::ZERO, 9), &queue(120_000)) == Request::Nothing));
    // Its rate for probes is that of FECN: 10 Gb/s over ten flows at the start.
    let mut passing = Passing { value: 10_000_000_000, ..probe(Time::ZERO, 0) };
    assert_eq!((point.on_path_probe(&mut passing, &queue(0)), passing.value), (Fate::Pass, 1_000_000_000));
}

#[test]
fn presets_change_what_the_second_runs_changed() {
    let read = |name: &str, preset: &str, parameter: &str| {
        let info = POINTS.iter().find(|info| info.name == name).unwrap();
        let preset = info.presets.iter().find(|of| of.name == preset).unwrap();
        let values = Values::preset(info.parameters, preset);
        values.maybe_size(parameter).map(|size| size.get() as f64).or(values.maybe_number(parameter)).unwrap()
    };
    for name in ["ecm", "e2cm", "e2cm-p", "e2cm-pr"] {
        assert_eq!(["run-1", "run-2"].map(|run| read(name, run, "sample_base")), [150_000.0, 75_000.0]);
    }
    for name in ["qcn-2007", "qcn-p", "qcn-pr"] {
        assert_eq!(["run-1", "run-2"].map(|run| read(name, run, "base_probability")), [0.01, 0.02]);
    }
}
