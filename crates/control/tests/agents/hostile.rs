//! Octets of anybody: they change counters, and nothing else unless they are a peer's.

use crate::kit::{Line, agent, core, frame, pfc, seconds};
use control::Agent;
use proptest::prelude::*;
use wire::Address;

/// An LLDP frame's beginning, so that the rest is looked at.
fn framed(body: &[u8]) -> Vec<u8> {
    let mut bytes = Address::NEAREST_BRIDGE.0.to_vec();
    bytes.extend([2, 0, 0, 0, 0, 9, 0x88, 0xCC]);
    bytes.extend(body);
    bytes
}

/// Everything an agent knows, its counters aside.
fn state(agent: &Agent) -> String {
    format!("{:?} {:?} {:?} {}", agent.operating(), agent.peer(), agent.advertised(), agent.others())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// No octets panic, and those without chassis, port and time to live change nothing but counters.
    #[test]
    fn octets_change_only_counters(body in proptest::collection::vec(any::<u8>(), 0..300), whole: bool) {
        let mut line = Line::new(pfc(true, 0), core());
        line.run_well(seconds(10));
        let agent = &mut line.ends[0];
        let (before, counters) = (state(agent), *agent.counters());
        let bytes = if whole { body.clone() } else { framed(&body) };
        agent.handle_frame(seconds(10), &bytes);
        if agent.counters().received == counters.received {
            prop_assert_eq!(state(agent), before);
            prop_assert_ne!(*agent.counters(), counters);
        }
    }

    /// Frames, time and commands in any order; half of them made of TLVs that are almost right.
    #[test]
    fn any_history_is_lived_through(
        steps in proptest::collection::vec((any::<u8>(), proptest::collection::vec(any::<u8>(), 0..40), 8u8..14), 0..60),
    ) {
        let mut history = Vec::new();
        for (what, octets, subtype) in steps {
            let mut tlv = vec![0xFE, 25, 0x00, 0x80, 0xC2, subtype];
            tlv.extend(&octets);
            tlv[1] = (tlv.len() - 2) as u8;
            history.extend([what, tlv.len() as u8]);
            history.extend(tlv);
        }
        crate::survive::survive(&history);
    }

    /// A peer's frame with octets changed: the agent goes on, and agrees again with what the peer says next.
    #[test]
    fn a_damaged_frame_is_healed_by_the_next(at in 0usize..120, octet: u8) {
        let mut line = Line::new(pfc(true, 0), core());
        line.run_well(seconds(10));
        let mut bytes = frame(&mut agent(2, core()), seconds(0)).expect("it is due");
        let at = at % bytes.len();
        bytes[at] = octet;
        line.ends[0].handle_frame(seconds(10), &bytes);
        let _ = line.ends[0].mismatches().map(|mismatch| mismatch.to_string().len()).sum::<usize>();
        // If the damage made a second neighbour with a long life, that has to age first.
        line.run_well(seconds(10 + 65_535 + 60));
        prop_assert_eq!(line.ends[0].operating().pfc.value, 8);
    }
}

/// An agent owns no memory but itself, so nobody can make it grow: a clone of it is a copy of its fixed size.
#[test]
fn memory_is_constant() {
    // Whatever `Agent` holds is `Copy`; were there a list in one of its parts, this would not compile.
    fn copied<T: Copy>(value: &T) -> T {
        *value
    }
    let mut victim = agent(1, pfc(true, 0));
    for number in 0..2000u32 {
        let [_, x, y, z] = number.to_be_bytes();
        let chassis = [4, 2, x, y, z, 1, 1];
        let mut body = vec![0x02, chassis.len() as u8];
        body.extend(chassis);
        body.extend([0x04, 7, 3, 2, x, y, z, 1, 2, 0x06, 2, 0, 120]);
        for _ in 0..10 {
            // The longest table of applications, and again.
            body.extend([0xFF, 0xFC, 0x00, 0x80, 0xC2, 12, 0]);
            body.extend([0x61; 503]);
        }
        victim.handle_frame(seconds(1), &framed(&body));
        let _ = (copied(victim.operating()), copied(victim.advertised()), victim.peer().map(copied));
    }
    assert!(victim.others() <= 5);
    assert_eq!((victim.counters().received, victim.counters().from_others), (2000, 1999));
    assert_eq!(victim.operating().pfc.value, 0);
    assert!(std::mem::size_of::<Agent>() < 5000, "{}", std::mem::size_of::<Agent>());
}
