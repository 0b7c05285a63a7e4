//! Frames of two lldpads that negotiated, replayed into an agent: it operates on what lldpad did.

use crate::kit::{seconds, table};
use control::{Agent, Applications, Origin, Settings, Timers};
use units::Time;
use wire::lldp::ieee::Application;
use wire::{Address, Priority};

/// Source, time after the first, and octets of the frames of the capture.
fn frames() -> Vec<(Address, Time, Vec<u8>)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../wire/tests/golden/lldpad_dcbx.pcap");
    let bytes = std::fs::read(path).expect("it is in the repository");
    let number = |at: usize| u64::from(u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four")));
    let micros = |at: usize| number(at) * 1_000_000 + number(at + 4);
    let (mut at, mut frames) = (24, Vec::new());
    while at < bytes.len() {
        let length = number(at + 8) as usize;
        let octets = bytes[at + 16..at + 16 + length].to_vec();
        let source = Address(octets[6..12].try_into().expect("six"));
        frames.push((source, Time::from_picos((micros(at) - micros(24)) * 1_000_000), octets));
        at += 16 + length;
    }
    frames
}

const A: Address = Address([2, 0, 0, 0, 0x0A, 1]);
const B: Address = Address([2, 0, 0, 0, 0x0B, 1]);

fn fcoe() -> Applications {
    let entry = Application { priority: Priority::low_bits(3), selector: 1, protocol: 0x8906 };
    Applications::new([entry]).expect("one")
}

/// What lldpad B was configured with: willing, everything in one class.
fn b_settings() -> Settings {
    let mut settings = Settings::default();
    settings.ets.recommendation = Some(settings.ets.table);
    settings.pfc.priorities = 0x18;
    settings.applications.table = fcoe();
    settings
}

/// What lldpad A was configured with: not willing, 60 and 40 for itself, 70 and 30 for others.
fn a_settings() -> Settings {
    let classes = [0, 0, 1, 1, 2, 0, 0, 0];
    let mut settings = Settings::default();
    (settings.ets.willing, settings.pfc.willing, settings.applications.willing) = (false, false, false);
    settings.ets.table = table(classes, [60, 40, 0, 0, 0, 0, 0, 0]);
    settings.ets.recommendation = Some(table(classes, [70, 30, 0, 0, 0, 0, 0, 0]));
    settings.pfc.priorities = 0x18;
    settings.applications.table = fcoe();
    settings
}

/// In the place of B, we hear what A said, and say octet for octet what B said after it had heard it.
#[test]
fn in_the_place_of_the_willing_end() {
    let all = frames();
    let mut agent = Agent::new(Time::ZERO, B, B, b_settings(), Timers::default());
    let mut ours = [0; 200];
    let said = |from| all.iter().filter(move |(source, ..)| *source == from);
    let length = agent.poll_transmit(Time::ZERO, &mut ours).expect("at once");
    assert_eq!(ours[..length], said(B).next().expect("some").2[..length], "before anything is heard");
    for (_, at, octets) in said(A) {
        agent.handle_frame(*at, octets);
    }
    let ets = agent.operating().ets;
    assert_eq!((ets.value.shares, ets.from), ([70, 30, 0, 0, 0, 0, 0, 0], Origin::Peer));
    assert_eq!((agent.operating().pfc.value, agent.operating().pfc.from), (0x18, Origin::Peer));
    assert_eq!(agent.operating().apps.value.priority(1, 0x8906), Some(3));
    let length = agent.poll_transmit(seconds(7), &mut ours).expect("there was a change");
    assert_eq!(ours[..length], said(B).next_back().expect("some").2[..length], "after it");
    let counters = agent.counters();
    assert_eq!((counters.received, counters.malformed, counters.unknown), (7, 0, 0));
}

/// In the place of A, which is not willing, nothing that B says changes anything.
#[test]
fn in_the_place_of_the_other_end() {
    let mut agent = Agent::new(Time::ZERO, A, A, a_settings(), Timers::default());
    let before = *agent.operating();
    for (source, at, octets) in frames() {
        if source == B {
            agent.handle_frame(at, &octets);
        } else {
            let mut ours = [0; 200];
            if let Some(length) = agent.poll_transmit(at, &mut ours) {
                assert_eq!(ours[..length], octets[..length]);
            }
        }
    }
    assert_eq!(*agent.operating(), before);
    // B operates on what was recommended to it, which is not what A does: the two directions differ, as configured.
    assert_eq!(agent.mismatches().map(|it| it.name()).collect::<Vec<_>>(), ["lossless-in-lossy-class", "ets-differs"]);
}
