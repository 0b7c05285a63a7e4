//! Any octets as a history of an agent: frames, time and commands in any order. Also the fuzz target `agent`.

use control::{Agent, LARGEST_FRAME, Settings, Timers};
use units::{Span, Time};
use wire::Address;

/// An LLDP frame to the nearest bridge from one of two neighbours, with whatever TLVs.
fn from_neighbour(number: u8, tlvs: &[u8]) -> Vec<u8> {
    let source = [2, 0, 0, 0, 0, 8 | number & 1];
    let mut bytes = Address::NEAREST_BRIDGE.0.to_vec();
    bytes.extend(source);
    bytes.extend([0x88, 0xCC, 0x02, 7, 4]);
    bytes.extend(source);
    bytes.extend([0x04, 7, 3]);
    bytes.extend(source);
    bytes.extend([0x06, 2, 0, number]);
    bytes.extend(tlvs);
    bytes
}

/// Lives through a history, and checks what must hold at every moment of it.
pub fn survive(mut history: &[u8]) {
    let address = Address([2, 0, 0, 0, 0, 1]);
    let mut now = Time::ZERO;
    let mut agent = Agent::new(now, address, address, Settings::default(), Timers::default());
    let mut listener = Agent::new(now, Address::default(), Address::default(), Settings::default(), Timers::default());
    let mut buffer = [0; LARGEST_FRAME];
    while let [what, count, rest @ ..] = history {
        let (octets, after) = rest.split_at(rest.len().min(usize::from(*count)));
        history = after;
        match what % 8 {
            0 => agent.handle_frame(now, octets),
            1..=3 => agent.handle_frame(now, &from_neighbour(*what, octets)),
            4 => now = now.saturating_add(Span::from_millis(100) * u64::from(*count)),
            5 => agent.shut_down(),
            6 => agent.start(now),
            _ => {
                let mut settings = Settings { congestion: *count, ..Settings::default() };
                (settings.pfc.willing, settings.pfc.priorities) = (count & 1 == 1, *what);
                agent.configure(now, settings);
            }
        }
        agent.handle_timeout(now);
        let mut sent = 0;
        while let Some(length) = agent.poll_transmit(now, &mut buffer) {
            let before = *listener.counters();
            listener.handle_frame(now, &buffer[..length]);
            let after = listener.counters();
            assert_eq!(
                (after.received, after.malformed),
                (before.received + 1, before.malformed),
                "what we say is sound"
            );
            sent += 1;
        }
        assert!(sent <= 6, "no more at once than credit and a shutdown");
        assert!(agent.others() <= 5 && agent.peer().is_none_or(|peer| peer.until() > now));
        assert!(agent.poll_at().is_none_or(|at| at > now), "whatever was due was done");
        let willing = agent.settings().pfc.willing;
        assert!(willing || agent.operating().pfc.value == agent.settings().pfc.priorities);
        assert!(agent.mismatches().all(|mismatch| !mismatch.to_string().is_empty()));
    }
}
