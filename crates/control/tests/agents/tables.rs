//! The decision tables of the standard, row by row, worked out by hand.

use crate::kit::{Line, address, agent, core, frame, pfc, seconds, storage, table};
use control::{Applications, Defence, Mismatch, Origin, Settings, TieBreak};
use units::Time;
use wire::Priority;
use wire::lldp::ieee::Application;

fn names(line: &Line, end: usize) -> Vec<&'static str> {
    line.ends[end].mismatches().map(|mismatch| mismatch.name()).collect()
}

/// End 0 has the lower address.
#[test]
fn pfc_is_symmetric() {
    let rows = [
        // willing and priorities of each end, then what each operates on
        ((false, 0x08), (false, 0x10), [0x08, 0x10]),
        ((true, 0x08), (false, 0x10), [0x10, 0x10]),
        ((false, 0x08), (true, 0x10), [0x08, 0x08]),
        ((true, 0x08), (true, 0x10), [0x10, 0x10]),
        ((false, 0x08), (false, 0x08), [0x08, 0x08]),
    ];
    for (a, b, expected) in rows {
        let mut line = Line::new(pfc(a.0, a.1), pfc(b.0, b.1));
        line.run_well(seconds(10));
        assert_eq!(line.pfc(), expected, "{a:?} {b:?}");
        let named: Vec<_> = [0, 1].into_iter().flat_map(|end| names(&line, end)).collect();
        let differs = named.iter().filter(|&&name| name == "pfc-differs").count();
        assert_eq!(differs, if expected[0] == expected[1] { 0 } else { 2 }, "{named:?}");
    }
}

#[test]
fn the_tie_break_is_a_choice() {
    let with = |tie_break, priorities| Settings { tie_break, ..pfc(true, priorities) };
    for (tie_break, expected) in [(TieBreak::LowerYields, 0x10), (TieBreak::LowerWins, 0x08)] {
        let mut line = Line::new(with(tie_break, 0x08), with(tie_break, 0x10));
        line.run_well(seconds(10));
        assert_eq!(line.pfc(), [expected; 2], "{tie_break:?}");
    }
    assert!(!TieBreak::LowerYields.yields(address(1), address(1)));
}

#[test]
fn ets_is_asymmetric() {
    let mine = table([0; 8], [100, 0, 0, 0, 0, 0, 0, 0]);
    for willing in [false, true] {
        for recommends in [false, true] {
            let mut taught = Settings::default();
            (taught.ets.willing, taught.ets.table) = (willing, mine);
            let mut teacher = core();
            teacher.ets.table = table([0, 0, 0, 1, 0, 0, 0, 0], [50, 50, 0, 0, 0, 0, 0, 0]);
            teacher.ets.recommendation = recommends.then(storage);
            let mut line = Line::new(taught, teacher);
            line.run_well(seconds(10));
            let ets = line.ends[0].operating().ets;
            let learned = willing && recommends;
            assert_eq!(ets.value, if learned { storage() } else { mine }, "{willing} {recommends}");
            assert_eq!(ets.from, if learned { Origin::Peer } else { Origin::Local });
            // The teacher keeps its own: the two directions of a link may differ, and it is said.
            assert_eq!(line.ends[1].operating().ets.from, Origin::Local);
            assert!(names(&line, 0).contains(&"ets-differs") && names(&line, 1).contains(&"ets-differs"));
        }
    }
}

#[test]
fn applications_come_from_one_that_is_not_willing() {
    let entry = |priority, protocol| Application { priority: Priority::low_bits(priority), selector: 1, protocol };
    let of = |entries: &[Application]| Applications::new(entries.iter().copied()).expect("few");
    let mut teacher = core();
    teacher.applications.table = of(&[entry(3, 0x8906), entry(4, 0x8915)]);
    let mut taught = Settings::default();
    taught.applications.table = of(&[entry(5, 0x8906)]);
    let mut line = Line::new(taught, teacher);
    line.run_well(seconds(10));
    let apps = line.ends[0].operating().apps;
    assert_eq!(
        (apps.value.priority(1, 0x8906), apps.value.priority(1, 0x8915), apps.from),
        (Some(3), Some(4), Origin::Peer)
    );
    // It still says what it was configured with, and the teacher sees it.
    let expected = Mismatch::ApplicationDiffers { selector: 1, protocol: 0x8906, ours: 3, theirs: 5 };
    assert!(line.ends[1].mismatches().any(|mismatch| mismatch == expected));

    // Two that would both learn keep their own.
    let (mut one, mut other) = (Settings::default(), Settings::default());
    one.applications.table = of(&[entry(5, 0x8906)]);
    other.applications.table = of(&[entry(6, 0x8906)]);
    let mut line = Line::new(one, other);
    line.run_well(seconds(10));
    assert_eq!([0, 1].map(|end| line.ends[end].operating().apps.value.priority(1, 0x8906)), [Some(5), Some(6)]);
    assert_eq!(names(&line, 0), ["application-differs"]);
}

#[test]
fn congestion_notification_knows_its_edge() {
    let with = |congestion| Settings { congestion, ..Settings::default() };
    let mut line = Line::new(with(0b0011_0000), with(0b0010_0000));
    assert_eq!(line.ends[0].operating().cn[4], Defence::Edge);
    line.run_well(seconds(10));
    let cn = line.ends[0].operating().cn;
    assert_eq!((cn[3], cn[4], cn[5]), (Defence::Disabled, Defence::Edge, Defence::InteriorReady));
    let edge = Mismatch::CongestionEdge { priorities: 0b0001_0000 };
    assert!(line.ends[0].mismatches().eq([edge]));
}

#[test]
fn what_cannot_work_is_named() {
    let mut mixed = pfc(false, 0b0000_1000);
    mixed.ets.table = table([0, 0, 0, 0, 1, 1, 1, 1], [50, 40, 0, 0, 0, 0, 0, 0]);
    mixed.ets.table.classes[7] = None;
    mixed.pfc.priorities = 0b0000_1100;
    mixed.pfc.capability = 1;
    let agent = agent(1, mixed);
    let mismatches: Vec<_> = agent.mismatches().collect();
    assert_eq!(
        mismatches,
        [
            Mismatch::PfcBeyondCapability { paused: 0b1100, capability: 1 },
            Mismatch::EtsShares { sum: 90 },
            Mismatch::LosslessInLossyClass { class: 0, lossless: 2, lossy: 0 },
            Mismatch::NoClass { priority: 7 },
        ]
    );
    let text = mismatches[2].to_string();
    assert_eq!(text, "traffic class 0 mixes priority 2 (with PFC) and priority 0 (without PFC)");
}

/// The peer's own figures contradict each other. Without a stated number there is nothing to contradict.
#[test]
fn a_peer_that_enables_more_than_it_can_is_named() {
    for (capability, named) in [(1, true), (2, false), (0, false), (8, false)] {
        let mut theirs = pfc(false, 0b0000_1100);
        theirs.pfc.capability = capability;
        let mut line = Line::new(pfc(true, 0), theirs);
        line.run_well(seconds(10));
        let mismatches: Vec<_> =
            line.ends[0].mismatches().filter(|it| it.name() == "pfc-peer-beyond-capability").collect();
        let expected = Mismatch::PfcPeerBeyondCapability { paused: 0b1100, capability };
        assert_eq!(mismatches, if named { vec![expected] } else { Vec::new() }, "capability {capability}");
    }
    let text = Mismatch::PfcPeerBeyondCapability { paused: 0b1100, capability: 1 }.to_string();
    assert_eq!(text, "the peer enables PFC for priorities 2,3, but advertises a capability of 1");
}

#[test]
fn silence_means_local_settings() {
    let mut line = Line::new(pfc(true, 0), core());
    line.run_well(seconds(10));
    assert_eq!(line.pfc(), [8, 8]);
    // The line is cut: what was heard is believed for 120 s after it was last said.
    let last = line.ends[0].peer().expect("known").until();
    line.run(Time::from_picos(last.as_picos() - 1), |_| None);
    assert_eq!(line.pfc(), [8, 8]);
    line.run(last, |_| None);
    assert_eq!((line.pfc(), line.ends[0].counters().aged_out), ([0, 8], 1));
    // It works again: the next regular transmission is enough.
    line.run_well(last + units::Span::from_secs(40));
    assert_eq!(line.pfc(), [8, 8]);
}

#[test]
fn a_shutdown_is_believed_at_once() {
    let mut line = Line::new(pfc(true, 0), core());
    line.run_well(seconds(10));
    line.ends[1].shut_down();
    line.run_well(seconds(11));
    assert_eq!((line.pfc(), line.ends[0].counters().aged_out), ([0, 8], 0));
    line.ends[1].start(seconds(11));
    line.run_well(seconds(12));
    assert_eq!(line.pfc(), [0, 8], "not before two seconds have passed");
    line.run_well(seconds(13));
    assert_eq!(line.pfc(), [8, 8]);
}

#[test]
fn a_peer_that_changes_its_mind_is_followed_at_once() {
    let mut line = Line::new(pfc(true, 0), core());
    line.run_well(seconds(100));
    let mut other = core();
    other.pfc.priorities = 0x30;
    line.ends[1].configure(line.now, other);
    line.run_well(line.now + units::Span::from_millis(1));
    assert_eq!(line.pfc(), [0x30, 0x30]);
}

#[test]
fn among_several_nobody_is_followed() {
    let (mut a, mut b, mut c) = (agent(1, pfc(true, 0)), agent(2, core()), agent(3, core()));
    let hear = |a: &mut control::Agent, from: &mut control::Agent, now| {
        let bytes = frame(from, now).expect("it is due");
        a.handle_frame(now, &bytes);
    };
    hear(&mut a, &mut b, seconds(0));
    assert_eq!((a.operating().pfc.value, a.others()), (8, 0));
    hear(&mut a, &mut c, seconds(1));
    assert_eq!((a.operating().pfc.value, a.others()), (0, 1));
    assert!(a.mismatches().any(|mismatch| mismatch == Mismatch::SeveralPeers));
    // The other goes: the first is followed again.
    c.shut_down();
    hear(&mut a, &mut c, seconds(2));
    assert_eq!((a.operating().pfc.value, a.others()), (8, 0));
    // The first goes silent while the other speaks: the other is the peer from then on.
    c.start(seconds(4));
    hear(&mut a, &mut c, seconds(100));
    assert_eq!((a.operating().pfc.value, a.others()), (0, 1));
    a.handle_timeout(seconds(120));
    hear(&mut a, &mut c, seconds(130));
    assert_eq!((a.operating().pfc.value, a.others(), a.peer().map(control::Peer::address)), (8, 0, Some(address(3))));
}

#[test]
fn what_comes_back_is_nobody() {
    let mut a = agent(1, core());
    let bytes = frame(&mut a, seconds(0)).expect("it is due");
    a.handle_frame(seconds(0), &bytes);
    assert_eq!((a.peer().is_none(), a.counters().reflected), (true, 1));
}
