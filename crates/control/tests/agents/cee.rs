//! Peers that speak the DCBX before IEEE's: its decision table by hand, its numbers, and who falls back on it.

use crate::kit::{Line, core, frame, pfc, seconds, storage, table};
use control::{Applications, Origin, Settings, Version};
use units::{Span, Time};
use wire::Priority;
use wire::ethernet::Frame;
use wire::lldp::{self, ieee::Application};

fn cee(settings: Settings) -> Settings {
    Settings { version: Version::Cee, ..settings }
}

fn names(line: &Line, end: usize) -> Vec<&'static str> {
    line.ends[end].mismatches().map(|mismatch| mismatch.name()).collect()
}

/// Willing and priorities of each end, then what each operates on; whether both speak CEE from the beginning or one falls
/// back on it.
#[test]
fn pfc_by_the_table() {
    let rows = [
        ((true, 0x08), (false, 0x10), [0x10, 0x10]),
        ((false, 0x08), (true, 0x10), [0x08, 0x08]),
        ((false, 0x08), (false, 0x08), [0x08, 0x08]),
        ((true, 0x08), (true, 0x08), [0x08, 0x08]),
        // Unlike IEEE's there is no tie-break, and who does not agree has none.
        ((true, 0x08), (true, 0x10), [0, 0]),
        ((false, 0x08), (false, 0x10), [0, 0]),
    ];
    for (a, b, expected) in rows {
        for falls_back in [false, true] {
            let first = if falls_back { pfc(a.0, a.1) } else { cee(pfc(a.0, a.1)) };
            let mut line = Line::new(first, cee(pfc(b.0, b.1)));
            line.run_well(seconds(10));
            assert_eq!(line.pfc(), expected, "{a:?} {b:?} {falls_back}");
            for end in [0, 1] {
                let off = names(&line, end).contains(&"cee-off");
                assert_eq!(off, expected == [0, 0], "{:?}", names(&line, end));
            }
        }
    }
}

#[test]
fn groups_and_applications_are_learned_from_who_is_not_willing() {
    let fcoe = Application { priority: Priority::low_bits(3), selector: 1, protocol: 0x8906 };
    let mut teacher = core();
    teacher.applications.willing = false;
    teacher.applications.table = Applications::new([fcoe]).expect("one");
    // With a strict class above the two that share.
    let mut strict = teacher;
    strict.ets.table = table([0, 0, 0, 1, 0, 0, 0, 7], [60, 40, 0, 0, 0, 0, 0, 0]);
    for (teacher, learned) in [(teacher, storage()), (strict, strict.ets.table)] {
        let mut line = Line::new(Settings::default(), cee(teacher));
        line.run_well(seconds(10));
        let operating = line.ends[0].operating();
        assert_eq!((operating.ets.value, operating.ets.from), (learned, Origin::Peer));
        assert_eq!((operating.apps.value.priority(1, 0x8906), operating.apps.from), (Some(3), Origin::Peer));
        assert_eq!(line.ends[1].operating().ets.value, learned);
        assert_eq!((names(&line, 0), names(&line, 1)), (vec![], vec![]));
    }
}

/// The CEE part of the last frame an agent would send.
fn control(line: &mut Line, end: usize) -> wire::lldp::cee::Control {
    line.ends[end].configure(line.now, *line.ends[end].settings());
    let mut now = line.now;
    let bytes = loop {
        now = line.ends[end].poll_at().unwrap_or(now).max(now);
        if let Some(bytes) = frame(&mut line.ends[end], now) {
            break bytes;
        }
    };
    let frame = Frame::new(&bytes).expect("a frame");
    let (unit, _) = lldp::Repr::parse(frame.payload()).expect("LLDP");
    unit.cee.expect("CEE").control
}

/// Every change has a number of its own, the peer says that it has heard it, and then it is quiet.
#[test]
fn numbers_go_up_with_every_change_and_are_acknowledged() {
    let mut line = Line::new(cee(pfc(false, 0x08)), cee(Settings::default()));
    line.run_well(seconds(10));
    let before = [control(&mut line, 0), control(&mut line, 1)];
    assert_eq!((before[0].acknowledged, before[1].acknowledged), (before[1].sequence, before[0].sequence));
    let mut line = Line::new(cee(pfc(false, 0x08)), cee(Settings::default()));
    line.run_well(seconds(10));
    let settings = Settings { pfc: pfc(false, 0x18).pfc, ..*line.ends[0].settings() };
    line.ends[0].configure(line.now, settings);
    let sent = |line: &Line| line.ends.iter().map(|end| end.counters().sent).sum::<u64>();
    let quiet = sent(&line);
    line.run_well(line.now + Span::from_millis(1));
    assert_eq!(line.pfc(), [0x18, 0x18]);
    assert!(sent(&line) - quiet <= 4, "{}", sent(&line) - quiet);
    let after = [control(&mut line, 0), control(&mut line, 1)];
    assert_eq!(after[0].sequence, before[0].sequence + 1);
    assert_eq!(after[1].acknowledged, after[0].sequence);
}

/// What does not fit is off, said, and on again when somebody gives way.
#[test]
fn an_error_is_withdrawn_when_an_end_gives_way() {
    let mut line = Line::new(cee(pfc(false, 0x08)), cee(pfc(false, 0x10)));
    line.run_well(seconds(10));
    assert_eq!(line.pfc(), [0, 0]);
    let settings = Settings { pfc: pfc(true, 0x10).pfc, ..*line.ends[1].settings() };
    line.ends[1].configure(line.now, settings);
    line.run_well(line.now + Span::from_secs(10));
    assert_eq!(line.pfc(), [0x08, 0x08]);
    assert!([0, 1].into_iter().all(|end| !names(&line, end).contains(&"cee-off")));
}

/// Lost frames do not matter in the end; and an end that leaves takes its settings with it.
#[test]
fn loss_does_not_change_the_end_and_who_leaves_is_forgotten() {
    for lost in 0..12 {
        let mut line = Line::new(Settings::default(), cee(core()));
        line.run(seconds(200), |number| (number % 12 != lost && number != lost).then_some(Span::from_micros(3)));
        assert_eq!(line.pfc(), [0x08, 0x08], "without frame {lost}");
    }
    let mut line = Line::new(Settings::default(), cee(core()));
    line.run_well(seconds(10));
    line.ends[1].shut_down();
    line.run_well(seconds(11));
    assert_eq!(line.ends[0].operating().pfc.value, 0);
    // IEEE's again, to whoever comes.
    let bytes = loop {
        let now = line.ends[0].poll_at().unwrap_or(Time::ZERO).max(line.now);
        if let Some(bytes) = frame(&mut line.ends[0], now) {
            break bytes;
        }
    };
    let frame = Frame::new(&bytes).expect("a frame");
    let (unit, _) = lldp::Repr::parse(frame.payload()).expect("LLDP");
    assert!(unit.cee.is_none() && unit.ieee.flow_control.is_some());
}

/// Every cut and every turned bit of a frame: counted, ignored or believed, and an agent that goes on.
#[test]
fn damaged_frames_change_nothing_but_what_they_say() {
    let mut line = Line::new(Settings::default(), cee(core()));
    line.run_well(seconds(2));
    let good = loop {
        let now = line.ends[1].poll_at().unwrap_or(Time::ZERO).max(line.now);
        if let Some(bytes) = frame(&mut line.ends[1], now) {
            break bytes;
        }
    };
    let sound = line.ends[0].clone();
    for length in 0..good.len() {
        let mut agent = sound.clone();
        agent.handle_frame(line.now, &good[..length]);
        agent.handle_frame(line.now, &good);
        assert!(frame(&mut agent, line.now + Span::from_secs(60)).is_some(), "cut at {length}");
    }
    for bit in 0..good.len() * 8 {
        let (mut agent, mut bytes) = (sound.clone(), good.clone());
        bytes[bit / 8] ^= 1 << (bit % 8);
        agent.handle_frame(line.now, &bytes);
        assert!(frame(&mut agent, line.now + Span::from_secs(60)).is_some(), "bit {bit}");
    }
}
