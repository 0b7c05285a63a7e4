//! Devices in a row and in a ring: what the core says reaches the edge, and is forgotten when the core is gone.

use crate::kit::{core, seconds, storage};
use control::{Bridge, HOLD_DOWN, LARGEST_FRAME, Origin, Settings, Timers};
use units::{Span, Time};
use wire::Address;

const DELAY: Span = Span::from_micros(5);

/// Devices with four ports, and cables between ports of them.
struct Devices {
    bridges: Vec<Bridge>,
    cables: Vec<[(usize, usize); 2]>,
    now: Time,
    under_way: Vec<(Time, usize, usize, Vec<u8>)>,
}

impl Devices {
    fn new(settings: &[Settings], cables: &[[(usize, usize); 2]]) -> Devices {
        let bridge = |(number, &settings): (usize, &Settings)| {
            let chassis = Address([2, 0, 0, 0, number as u8, 0]);
            // The last port leads to hosts.
            let ports = (0..4).map(|port| (Address([2, 0, 0, 0, number as u8, port + 1]), port != 3));
            Bridge::new(Time::ZERO, chassis, ports, settings, Timers::default())
        };
        let bridges = settings.iter().enumerate().map(bridge).collect();
        Devices { bridges, cables: cables.to_vec(), now: Time::ZERO, under_way: Vec::new() }
    }

    fn far(&self, end: (usize, usize)) -> Option<(usize, usize)> {
        let cable = self.cables.iter().find(|cable| cable.contains(&end))?;
        Some(if cable[0] == end { cable[1] } else { cable[0] })
    }

    fn run(&mut self, until: Time) {
        let mut buffer = [0; LARGEST_FRAME];
        loop {
            let due = self.bridges.iter().filter_map(Bridge::poll_at).chain(self.under_way.iter().map(|it| it.0));
            let next = due.min().unwrap_or(Time::MAX).max(self.now);
            if next > until {
                self.now = until;
                return;
            }
            self.now = next;
            self.under_way.sort_by_key(|&(at, device, port, _)| (at, device, port));
            while self.under_way.first().is_some_and(|&(at, ..)| at <= self.now) {
                let (_, device, port, bytes) = self.under_way.remove(0);
                self.bridges[device].handle_frame(self.now, port, &bytes);
            }
            for device in 0..self.bridges.len() {
                while let Some((port, length)) = self.bridges[device].poll_transmit(self.now, &mut buffer) {
                    if let Some((device, port)) = self.far((device, port)) {
                        self.under_way.push((self.now + DELAY, device, port, buffer[..length].to_vec()));
                    }
                }
            }
        }
    }

    fn pfc(&self, device: usize) -> Vec<u8> {
        let used = |port: &usize| self.far((device, *port)).is_some();
        (0..4).filter(used).map(|port| self.bridges[device].agents()[port].operating().pfc.value).collect()
    }
}

#[test]
fn the_core_configures_a_row() {
    let willing = Settings::default();
    let cables = [[(0, 1), (1, 0)], [(1, 1), (2, 0)], [(2, 1), (3, 0)]];
    let mut row = Devices::new(&[core(), willing, willing, willing], &cables);
    row.run(seconds(1));
    for device in 1..4 {
        assert!(row.pfc(device).iter().all(|&paused| paused == 8), "device {device}");
        assert_eq!(row.bridges[device].source(), Some(0));
        assert_eq!(row.bridges[device].agents()[0].operating().ets.value, storage());
        let mismatches = row.bridges[device].agents()[0].mismatches().count();
        assert_eq!(mismatches, 0);
    }
    let changed = row.bridges.iter().flat_map(Bridge::agents).map(control::Agent::changed_at).max();
    // One cable after the other; the first frames of all cross at the same time.
    assert_eq!(changed, Some(Time::ZERO + DELAY * 3));

    // Another core, other settings: they follow.
    let mut other = core();
    other.pfc.priorities = 0x30;
    row.bridges[0].configure(seconds(1), other);
    row.run(seconds(20));
    assert_eq!(row.pfc(3), [0x30]);
}

#[test]
fn a_ring_does_not_teach_itself() {
    let willing = Settings::default();
    // The core hangs on device 1; devices 1, 2, 3 are a ring.
    let cables = [[(0, 0), (1, 0)], [(1, 1), (2, 0)], [(2, 1), (3, 0)], [(3, 1), (1, 2)]];
    let mut ring = Devices::new(&[core(), willing, willing, willing], &cables);
    ring.run(seconds(20));
    assert!((1..4).flat_map(|device| ring.pfc(device)).all(|paused| paused == 8));
    // The core is unplugged: nobody may keep what only it said.
    ring.cables.remove(0);
    ring.bridges[1].handle_link_down(seconds(20), 0);
    ring.run(seconds(20) + HOLD_DOWN * 4);
    assert!((1..4).flat_map(|device| ring.pfc(device)).all(|paused| paused == 0));
    assert!(ring.bridges.iter().all(|bridge| bridge.source().is_none()));
}

#[test]
fn two_cores_that_disagree_are_named() {
    let mut other = core();
    other.pfc.priorities = 0x10;
    let mut net = Devices::new(&[core(), Settings::default(), other], &[[(0, 0), (1, 0)], [(1, 1), (2, 0)]]);
    net.run(seconds(20));
    assert_eq!((net.pfc(1), net.bridges[1].source()), (vec![8, 8], Some(0)));
    let agents = net.bridges[1].agents();
    assert_eq!((agents[0].operating().pfc.from, agents[0].mismatches().count()), (Origin::Peer, 0));
    assert!(agents[1].mismatches().any(|mismatch| mismatch.name() == "pfc-differs"));
}

#[test]
fn a_host_configures_nobody() {
    let mut host = core();
    host.pfc.priorities = 0x10;
    // A host that is not willing at the bridge's last port, the core at its first.
    let mut net = Devices::new(&[host, Settings::default(), core()], &[[(0, 0), (1, 3)], [(1, 0), (2, 0)]]);
    net.run(seconds(20));
    assert_eq!((net.pfc(0), net.pfc(1), net.bridges[1].source()), (vec![0x10], vec![8, 8], Some(0)));
    assert!(net.bridges[1].agents()[3].mismatches().any(|mismatch| mismatch.name() == "pfc-differs"));
    // Nor without a core.
    let mut net = Devices::new(&[host, Settings::default()], &[[(0, 0), (1, 3)]]);
    net.run(seconds(20));
    assert_eq!((net.pfc(1), net.bridges[1].source()), (vec![0], None));
}

/// A link fails and comes back: both ends forget, speak at once when it works again, and agree as before.
#[test]
fn a_link_that_comes_back_is_negotiated_anew() {
    let mut row = Devices::new(&[core(), Settings::default()], &[[(0, 0), (1, 0)]]);
    row.run(seconds(20));
    assert_eq!((row.pfc(1), row.bridges[1].source()), (vec![8], Some(0)));
    let cable = row.cables.remove(0);
    row.bridges[0].handle_link_down(seconds(20), 0);
    row.bridges[1].handle_link_down(seconds(20), 0);
    let sent = |row: &Devices| row.bridges.iter().map(|it| it.agents()[0].counters().sent).sum::<u64>();
    let before = sent(&row);
    row.run(seconds(200));
    assert_eq!(row.bridges[1].agents()[0].operating().pfc.value, 0);
    assert_eq!((row.bridges[1].source(), sent(&row)), (None, before));
    row.cables.push(cable);
    row.bridges[0].handle_link_up(seconds(200), 0);
    row.bridges[1].handle_link_up(seconds(200), 0);
    row.run(seconds(200) + DELAY * 2);
    assert_eq!((row.pfc(1), row.bridges[1].source()), (vec![8], Some(0)));
}
