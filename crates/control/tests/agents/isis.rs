//! Bridges find each other and agree, whatever the lines do.

use crate::fabric::{Fabric, id, port_address};
use control::isis::{Settings, System, Timers};
use proptest::prelude::*;
use units::{Span, Time};
use wire::isis::tlv::{self, Neighbour, State};
use wire::isis::{LinkState, Repr, spb};
use wire::{Address, Writer};

const FIVE: [(usize, usize, u32); 6] = [(0, 1, 10), (1, 2, 20), (2, 3, 30), (3, 4, 40), (0, 4, 50), (1, 3, 60)];

fn expected(lines: &[(usize, usize, u32)]) -> Vec<(usize, usize, u32)> {
    let mut edges: Vec<_> = lines.iter().map(|&(a, b, metric)| (a.min(b), a.max(b), metric)).collect();
    edges.sort_unstable();
    edges
}

fn seconds(count: u64) -> Span {
    Span::from_secs(count)
}

#[test]
fn two_agree_within_two_seconds_and_know_it() {
    let mut fabric = Fabric::new(2, &[(0, 1, 7)], 1, 0);
    fabric.run(seconds(2));
    assert_eq!(fabric.agreed(), [(0, 1, 7)]);
    for (node, system) in fabric.systems.iter().enumerate() {
        let adjacency = system.adjacency(0).expect("a neighbour");
        assert_eq!((adjacency.state, adjacency.neighbour), (State::Up, id(1 - node)));
        assert!(adjacency.same_vlans);
        assert_eq!(system.counters().refused + system.counters().malformed + system.counters().mismatched, 0);
    }
    fabric.run(seconds(10));
    assert!(fabric.systems.iter().all(|system| system.adjacency(0).is_some_and(|it| it.same_view)));
}

/// A cable that fails is withdrawn as fast as frames travel; told to nobody, after the holding time.
#[test]
fn a_failed_line_is_withdrawn_everywhere_and_comes_back() {
    for told in [true, false] {
        let mut fabric = Fabric::new(5, &FIVE, 2, 0);
        fabric.run(seconds(10));
        assert_eq!(fabric.agreed(), expected(&FIVE));
        let failed = fabric.now;
        fabric.set(2, false, told);
        fabric.run(if told { Span::from_millis(100) } else { seconds(29) });
        let rest: Vec<_> = FIVE.iter().copied().filter(|&(a, _, _)| a != 2).collect();
        if !told {
            let before: Vec<_> = fabric.systems.iter().map(System::changed_at).collect();
            assert!(before.iter().all(|&at| at < failed), "nobody could know");
            fabric.run(seconds(3));
        }
        assert_eq!(fabric.agreed(), expected(&rest), "told {told}");
        fabric.set(2, true, told);
        fabric.run(seconds(10));
        assert_eq!(fabric.agreed(), expected(&FIVE), "told {told}");
    }
}

#[test]
fn parallel_lines_are_two_edges_and_a_cut_off_half_is_forgotten_with_age() {
    let mut fabric = Fabric::new(3, &[(0, 1, 5), (0, 1, 9), (1, 2, 3)], 3, 0);
    fabric.run(seconds(10));
    assert_eq!(fabric.agreed(), [(0, 1, 5), (0, 1, 9), (1, 2, 3)]);
    fabric.set(2, false, true);
    fabric.run(seconds(10));
    let ids = |node: usize| fabric.systems[node].entries(fabric.now).map(|it| it.id[5]).collect::<Vec<_>>();
    assert_eq!((ids(0), ids(2)), (vec![1, 2, 3], vec![1, 2, 3]), "databases keep what may come back");
    assert_eq!(fabric.systems[0].topology().edges().count(), 2);
    fabric.run(seconds(1200 + 60));
    assert_eq!(fabric.systems[0].topology().nodes.len(), 2);
    assert_eq!(fabric.systems[2].entries(fabric.now).count(), 1);
    assert!(fabric.systems[0].counters().generated >= 2, "what is alive is refreshed");
}

/// A bridge that starts again finds its former link state in others' hands and outdoes it.
#[test]
fn a_former_life_is_outdone() {
    let mut fabric = Fabric::new(3, &[(0, 1, 5), (1, 2, 3)], 4, 0);
    fabric.run(seconds(10));
    for _ in 0..3 {
        fabric.set(0, false, true);
        fabric.run(seconds(2));
        fabric.set(0, true, true);
        fabric.run(seconds(5));
    }
    let old = sequence(&fabric.systems[2], 0);
    assert!(old > 3);
    fabric.systems[0] = System::new(fabric.now, Settings::new(id(0)), [(port_address(0, 0), 6)], Timers::default());
    fabric.run(seconds(40));
    assert!(sequence(&fabric.systems[2], 0) > old);
    assert_eq!(fabric.agreed(), [(0, 1, 6), (1, 2, 3)], "the greater metric");
}

fn sequence(system: &System, of: usize) -> u32 {
    system.entries(Time::ZERO).find(|it| it.id[..6] == id(of)).map_or(0, |it| it.sequence)
}

/// Other areas and other tables of VLANs are not for us.
#[test]
fn who_does_not_fit_is_no_neighbour() {
    let mut fabric = Fabric::new(2, &[(0, 1, 7)], 1, 0);
    let mut settings = Settings::new(id(0));
    settings.mcid.revision = 9;
    fabric.systems[0] = System::new(Time::ZERO, settings, [(port_address(0, 0), 7)], Timers::default());
    fabric.run(seconds(20));
    assert!(fabric.systems.iter().all(|it| it.adjacency(0).is_none() && it.counters().mismatched > 3));
}

#[test]
fn a_settled_fabric_is_quiet() {
    let mut fabric = Fabric::new(5, &FIVE, 5, 0);
    fabric.run(seconds(30));
    let before: u64 = fabric.systems.iter().map(|it| it.counters().link_states).sum();
    fabric.run(seconds(600));
    assert_eq!(fabric.systems.iter().map(|it| it.counters().link_states).sum::<u64>(), before);
    assert!(fabric.systems.iter().all(|it| it.remembered() == (5, 0)));
}

/// A neighbour's link-state frame of somebody who is not there.
fn forged(number: u32, sequence: u32, of: Option<usize>) -> Vec<u8> {
    let [a, b, c, d] = number.to_be_bytes();
    let mut lsp = [9, 9, a, b, c, d, 0, 0];
    if let Some(node) = of {
        lsp[..6].copy_from_slice(&id(node));
    }
    let state = LinkState { lifetime: 1200, id: lsp, sequence, overload: false, attached: 0, level: 1 };
    let mut buffer = [0; 200];
    let mut out = Writer::new(&mut buffer);
    Repr::LinkState(state).emit_frame(port_address(1, 0), &mut out, |out| {
        tlv::emit_neighbours(out, |out| {
            let link = spb::LinkMetric { metric: 1, ports: 1, port: 1 };
            Neighbour::emit(out, [2, 0, 0, 0, 0, 1, 0], 1, |out| link.emit(out));
        });
    });
    let length = out.finish().expect("it fits");
    buffer[..length].to_vec()
}

#[test]
fn a_neighbour_cannot_grow_the_database_beyond_its_limit() {
    let mut fabric = Fabric::with_limit(2, &[(0, 1, 7)], 1, 0, 50);
    fabric.run(seconds(5));
    let edges = fabric.agreed();
    let now = fabric.now;
    let victim = &mut fabric.systems[0];
    for number in 0..1000 {
        victim.handle_frame(now, 0, &forged(number, 1, None));
    }
    let (stored, pending) = victim.remembered();
    assert_eq!(stored, 50);
    assert!(pending <= 50 + 90, "{pending}");
    assert_eq!(victim.counters().no_room, 1000 - 48);
    assert_eq!(victim.topology().edges().count(), edges.len(), "whom nobody else knows has no links");
}

/// Zero is the number of no link state at all: nothing that has it is kept, acknowledged or passed on, whether it is to live
/// or taken back, somebody else's or our own. In a list it still asks for what we have.
#[test]
fn the_number_zero_is_refused_and_in_a_list_it_asks() {
    let mut fabric = Fabric::new(3, &[(0, 1, 7), (0, 2, 8)], 1, 0);
    fabric.run(seconds(5));
    let now = fabric.now;
    let victim = &mut fabric.systems[0];
    let (before, counters) = (victim.entries(now).collect::<Vec<_>>(), *victim.counters());
    for of in [None, Some(0), Some(2)] {
        let mut frame = forged(3, 0, of);
        victim.handle_frame(now, 0, &frame);
        // Behind two addresses, a length, LLC, and ten octets of the PDU is its lifetime.
        frame[27..29].fill(0);
        victim.handle_frame(now, 0, &frame);
    }
    assert_eq!((victim.counters().refused, victim.counters().received), (counters.refused + 6, counters.received));
    assert_eq!((victim.entries(now).collect::<Vec<_>>(), victim.remembered().1), (before.clone(), 0));

    let entry = tlv::Entry { lifetime: 0, id: before[0].id, sequence: 0, checksum: 0 };
    let mut buffer = [0; 200];
    let mut out = Writer::new(&mut buffer);
    let entries = [entry.encode()];
    let source = [2, 0, 0, 0, 0, 2, 0];
    Repr::Partial(wire::isis::Partial { source }).emit_frame(port_address(1, 0), &mut out, |out| {
        tlv::Tlv::Entries(tlv::Entries::new(&entries).expect("one fits")).emit(out);
    });
    let length = out.finish().expect("it fits");
    victim.handle_frame(now, 0, &buffer[..length]);
    assert_eq!(victim.unacknowledged(0), 1);
}

/// Ninety acknowledgements fill a PDU, which then does not wait for more; what follows waits for its own time.
#[test]
fn a_full_list_of_acknowledgements_goes_at_once() {
    let mut fabric = Fabric::new(2, &[(0, 1, 7)], 1, 0);
    fabric.run(seconds(5));
    let now = fabric.now;
    let victim = &mut fabric.systems[0];
    let before = victim.counters().sequence_numbers;
    let mut buffer = [0; control::LARGEST_FRAME];
    for number in 0..200 {
        victim.handle_frame(now, 0, &forged(number, 1, None));
        while victim.poll_transmit(now, &mut buffer).is_some() {}
    }
    assert_eq!(victim.counters().sequence_numbers, before + 2);
    assert_eq!(victim.remembered(), (202, 20));
}

/// A forged link state of the highest number is taken back, and after the wait of the standard life goes on.
#[test]
fn used_up_numbers_are_survived() {
    let mut fabric = Fabric::new(3, &[(0, 1, 7), (1, 2, 8)], 1, 0);
    fabric.run(seconds(5));
    let now = fabric.now;
    fabric.systems[0].handle_frame(now, 0, &forged(0, u32::MAX, Some(0)));
    fabric.run(seconds(5));
    assert_eq!(fabric.agreed(), [(1, 2, 8)]);
    fabric.run(seconds(1270));
    assert_eq!(fabric.agreed(), [(0, 1, 7), (1, 2, 8)]);
}

fn framed(body: &[u8], link_states: bool) -> Vec<u8> {
    let destination = if link_states { Address::ALL_L1_SYSTEMS } else { Address::ALL_INTERMEDIATE_SYSTEMS };
    let mut bytes = [destination.0, port_address(1, 0).0].concat();
    bytes.extend((body.len() as u16 + 3).to_be_bytes());
    bytes.extend([0xFE, 0xFE, 3]);
    bytes.extend(body);
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Delay and loss do not change where it ends.
    #[test]
    fn five_on_bad_lines_agree(seed: u64, loss in 0u64..40, failed in 0usize..6) {
        let mut fabric = Fabric::new(5, &FIVE, seed, loss);
        fabric.run(seconds(60));
        fabric.set(failed, false, true);
        fabric.run(seconds(60));
        fabric.loss = 0;
        fabric.run(seconds(60));
        let rest: Vec<_> = (0..).zip(FIVE).filter(|&(at, _)| at != failed).map(|it| it.1).collect();
        prop_assert_eq!(fabric.agreed(), expected(&rest));
    }

    /// Octets of anybody are counted; what is whole and a neighbour's is at most believed, within bounds.
    #[test]
    fn octets_are_counted(body in proptest::collection::vec(any::<u8>(), 0..200), kind in 0usize..5, up: bool) {
        let mut fabric = Fabric::new(2, &[(0, 1, 7)], 1, 0);
        fabric.run(seconds(5));
        let now = fabric.now;
        let victim = &mut fabric.systems[0];
        let (before, counters) = (victim.topology(), *victim.counters());
        let mut body = body;
        // A right beginning, so that the rest is looked at.
        if let Some(&(kind, header)) = [(17, 20), (18, 27), (24, 33), (26, 17)].get(kind) {
            body.resize(body.len().max(header), 0);
            let length = (body.len() as u16).to_be_bytes();
            body[..8].copy_from_slice(&[0x83, header as u8, 1, 0, kind, 1, 0, 0]);
            let at = if kind == 17 { 17 } else { 8 };
            body[at..at + 2].copy_from_slice(&length);
        }
        victim.handle_frame(now, 0, &framed(&body, up));
        prop_assert_ne!(*victim.counters(), counters);
        prop_assert_eq!(victim.topology(), before);
        prop_assert!(victim.remembered().0 <= 3);
        let mut buffer = [0; control::LARGEST_FRAME];
        let mut count = 0;
        while victim.poll_transmit(now, &mut buffer).is_some() {
            count += 1;
            prop_assert!(count < 100);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Frames of a neighbour and of strangers, time and links in any order; every octet of them drawn, the beginnings right.
    #[test]
    fn any_history_is_lived_through(
        steps in proptest::collection::vec((any::<u8>(), proptest::collection::vec(any::<u8>(), 0..60)), 0..120),
    ) {
        let mut history = Vec::new();
        for (what, octets) in steps {
            history.extend([what, octets.len() as u8]);
            history.extend(octets);
        }
        crate::survive_isis::survive(&history);
    }
}
