//! `dcbx --interface` and `spb --interface` with neighbours of all kinds: what they say when they leave, whom they believe, and
//! that neither a flood nor a reader who does not read is in their way. Both ends of a virtual cable are in a network
//! namespace of the test's own.

#![allow(clippy::disallowed_methods)] // It speaks with programs, which go by the clock on the wall.

use crate::peers::{are_installed, make_namespaces, output, path, succeeds};
use crate::program::{Scratch, wait_until};
use control::LARGEST_FRAME;
use control::isis::{Settings, System, Timers};
use interface::{Interface, Wanted};
use nix::sched::{CloneFlags, setns};
use serde_json::Value;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use units::Time;
use wire::isis::tlv::State;
use wire::isis::{LinkState, Pdu, Repr};
use wire::lldp::ieee::{FlowControl, Ieee};
use wire::lldp::{self, Identifier};
use wire::{Address, Writer};

const NEAR: [u8; 6] = [2, 0, 0, 0, 0x0A, 1];
const FAR: [u8; 6] = [2, 0, 0, 0, 0x0B, 1];
const EVERYTHING: [Wanted; 3] = [Wanted::Lldp, Wanted::IsIsHellos, Wanted::IsIsOthers];

/// A namespace with a cable from `near` to `far`, which goes when it is dropped.
struct Cable(String);

impl Drop for Cable {
    fn drop(&mut self) {
        let _ = output(&["ip", "netns", "del", &self.0]);
    }
}

impl Cable {
    /// `None` where it cannot be tried, which is said.
    fn new(name: &str) -> Option<Cable> {
        if !are_installed(&["ip", "kill"], "iproute2") {
            return None;
        }
        let cable = Cable(format!("tailback-{name}-{}", std::process::id()));
        if !make_namespaces(&[&cable.0]) {
            return None;
        }
        let [near, far] = [NEAR, FAR].map(|address| Address(address).to_string());
        let add = ["ip", "-n", &cable.0, "link", "add", "near", "address", &near, "type", "veth"];
        if !succeeds(&[&add[..], &["peer", "name", "far", "address", &far]].concat()) {
            println!("SKIPPED: virtual cables cannot be made here");
            return None;
        }
        for end in ["near", "far"] {
            assert!(succeeds(&["ip", "-n", &cable.0, "link", "set", end, "up"]));
        }
        Some(cable)
    }

    /// The far end.
    fn open(&self) -> Interface {
        let namespace = File::open(format!("/run/netns/{}", self.0)).expect("it was made");
        // A thread of its own enters the namespace; the sockets stay there.
        let opened = std::thread::spawn(move || {
            setns(namespace, CloneFlags::CLONE_NEWNET).expect("whoever made it may enter it");
            Interface::open("far", &EVERYTHING)
        });
        opened.join().expect("no panic").expect("it is there")
    }

    /// Our program at the near end.
    fn start(&self, arguments: &[&str], says: impl Into<Stdio>) -> Child {
        // Tests that nohup started ignore SIGHUP, and so would what they start.
        let child = Command::new("ip")
            .args(["netns", "exec", &self.0, "env", "--default-signal=HUP", env!("CARGO_BIN_EXE_tailback")])
            .args(arguments)
            .args(["--interface", "near"])
            .env("PATH", path())
            .stdout(says)
            .stderr(Stdio::null())
            .spawn();
        child.expect("ip is there")
    }
}

fn signal(child: &Child, name: &str) {
    assert!(succeeds(&["kill", &format!("-{name}"), &child.id().to_string()]));
}

/// How it ends, in time.
fn ending(child: &mut Child) -> Option<i32> {
    wait_until("it ends", || child.try_wait().expect("it can be asked").is_some());
    child.wait().expect("it has ended").code()
}

/// What was last said in a file, whole lines alone.
fn last(says: &Path) -> Value {
    let text = std::fs::read_to_string(says).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    serde_json::from_str(whole.lines().last().unwrap_or("null")).expect("JSON")
}

/// A neighbour at the far end: a bridge of ours, which also keeps the times to live that it hears by LLDP.
struct Neighbour {
    interface: Interface,
    bridge: System,
    start: Instant,
    lives: Vec<u16>,
}

impl Neighbour {
    fn new(cable: &Cable) -> Neighbour {
        let bridge = System::new(Time::ZERO, Settings::new(FAR), [(Address(FAR), 7)], Timers::default());
        Neighbour { interface: cable.open(), bridge, start: Instant::now(), lives: Vec::new() }
    }

    /// Hears what has come and says what is due.
    fn go_on(&mut self) {
        let now = Time::from_picos(self.start.elapsed().as_nanos() as u64 * 1000);
        let (bridge, lives) = (&mut self.bridge, &mut self.lives);
        let hear = |frame: &[u8]| match frame[12..14] {
            [0x88, 0xCC] => lives.push(lldp::Repr::parse(&frame[14..]).expect("ours is sound").0.time_to_live),
            _ => bridge.handle_frame(now, 0, frame),
        };
        self.interface.take(64, hear).expect("it can be read");
        let mut buffer = [0; LARGEST_FRAME];
        while let Some((_, length)) = self.bridge.poll_transmit(now, &mut buffer) {
            self.interface.send(&buffer[..length]).expect("the link is up");
        }
    }

    fn is_up(&self) -> bool {
        self.bridge.adjacency(0).is_some_and(|it| it.state == State::Up)
    }

    /// What is left to live to what the near end says of its links.
    fn lifetime(&self) -> Option<u16> {
        self.bridge.entries(Time::ZERO).find(|it| it.id[..6] == NEAR).map(|it| it.lifetime)
    }
}

/// One that is asked to end takes its leave, whatever it is asked by: its link state and what it said by LLDP are taken back.
fn leaves(how: &str) {
    let Some(cable) = Cable::new(&format!("leave-{how}")) else { return };
    let mut neighbour = Neighbour::new(&cable);
    let seconds: &[&str] = if how == "END" { &["--seconds", "1"] } else { &[] };
    let start = |command: &'static str| cable.start(&[&[command], seconds].concat(), Stdio::null());
    let mut children = [start("dcbx"), start("spb")];
    wait_until("both are heard", || {
        neighbour.go_on();
        neighbour.is_up() && neighbour.lifetime().is_some() && !neighbour.lives.is_empty()
    });
    if how != "END" {
        children.iter().for_each(|child| signal(child, how));
    }
    assert_eq!(children.each_mut().map(ending), [Some(0); 2], "{how}");
    wait_until("both have left", || {
        neighbour.go_on();
        neighbour.lives.last() == Some(&0) && neighbour.lifetime() == Some(0)
    });
}

#[test]
fn leave_is_taken_on_every_signal_and_at_the_end() {
    std::thread::scope(|scope| {
        for how in ["INT", "TERM", "HUP", "END"] {
            scope.spawn(move || leaves(how));
        }
    });
}

/// A reader that does not read holds nobody up: neighbours are spoken with and taken leave of. A second signal ends the program
/// at once, which else gives the reader a moment. What nohup ignores is ignored.
#[test]
fn a_reader_that_does_not_read_is_not_in_the_way() {
    let Some(cable) = Cable::new("stuck") else { return };
    let mut neighbour = Neighbour::new(&cable);
    let (reader, mut writer) = std::io::pipe().expect("pipes can be made");
    // As much as a pipe of Linux holds.
    writer.write_all(&[b' '; 65536]).expect("it fits");
    let mut child = cable.start(&["spb", "--json"], writer);
    wait_until("it is a neighbour", || {
        neighbour.go_on();
        neighbour.is_up() && neighbour.lifetime().is_some()
    });
    signal(&child, "TERM");
    wait_until("it has left", || {
        neighbour.go_on();
        neighbour.lifetime() == Some(0)
    });
    signal(&child, "TERM");
    assert_eq!(ending(&mut child), Some(130));
    drop(reader);
}

/// An LLDP frame of that chassis: the octets behind its source address.
fn data_unit(chassis: &[u8], flow_control: FlowControl, rest: &[u8]) -> Vec<u8> {
    let ieee = Ieee { flow_control: Some(flow_control), ..Ieee::default() };
    let identifier = Identifier::new(7, chassis).expect("1 to 255 octets");
    let mut buffer = [0; 300];
    let mut out = Writer::new(&mut buffer);
    lldp::Repr { chassis: identifier, port: identifier, time_to_live: 100, ieee, cee: None }.emit(&mut out);
    let length = out.finish().expect("it fits");
    // The last two octets are its end.
    [&[0x88, 0xCC], &buffer[..length - 2], rest, &[0, 0]].concat()
}

fn frame(unit: &[u8]) -> Vec<u8> {
    [&Address::NEAREST_BRIDGE.0[..], &FAR, unit].concat()
}

#[test]
fn lldp_frames_with_tags_or_second_beginnings_are_not_followed() {
    let Some(cable) = Cable::new("lldp") else { return };
    let scratch = Scratch::new("strangers-lldp");
    let (far, says) = (cable.open(), scratch.path("says.json"));
    let mut child = cable.start(&["dcbx", "--json"], File::create(&says).expect("there is room"));
    wait_until("it speaks", || !last(&says).is_null());
    let paused = |priorities, capability| FlowControl { willing: false, bypass: false, capability, priorities };
    let bad = |rest: &[u8]| data_unit(b"bad", paused(0b1111_0000, 8), rest);
    let send = |unit: &[u8]| far.send(&frame(unit)).expect("the link is up");
    // A VLAN, a priority alone, a service VLAN, two tags; also where the VLAN has an interface of its own.
    let tags: [&[u8]; 4] =
        [&[0x81, 0, 0, 5], &[0x81, 0, 0x60, 0], &[0x88, 0xA8, 0, 5], &[0x88, 0xA8, 0, 5, 0x81, 0, 0, 0]];
    tags.iter().for_each(|tag| send(&[tag, &bad(&[])[..]].concat()));
    if succeeds(&["ip", "-n", &cable.0, "link", "add", "link", "near", "near.5", "type", "vlan", "id", "5"]) {
        assert!(succeeds(&["ip", "-n", &cable.0, "link", "set", "near.5", "up"]));
        send(&[tags[0], &bad(&[])[..]].concat());
    } else {
        println!("SKIPPED: interfaces for a VLAN cannot be made here");
    }
    // A second chassis, port and time to live, and a time to live of three octets.
    let long = [&[0x88, 0xCC, 2, 2, 7, b'x', 4, 2, 7, b'x', 6, 3, 0, 100, 0], &bad(&[])[16..]].concat();
    [bad(&[2, 2, 7, b'c']), bad(&[4, 2, 7, b'p']), bad(&[6, 2, 0, 9]), long].iter().for_each(|unit| send(unit));
    // What comes last is sound; but it enables two priorities and can pause one.
    send(&data_unit(b"good", paused(0b0000_1100, 1), &[]));
    wait_until("the sound one is followed", || last(&says)["pfc"]["from"] == "peer");
    signal(&child, "INT");
    assert_eq!(ending(&mut child), Some(0));
    let said = last(&says);
    assert_eq!(said["pfc"]["priorities"], serde_json::json!([2, 3]), "{said}");
    let names: Vec<&str> =
        said["findings"].as_array().expect("a list").iter().filter_map(|it| it["name"].as_str()).collect();
    assert!(names.contains(&"pfc-peer-beyond-capability") && !names.contains(&"several-peers"), "{said}");
    let counters = ["received", "refused", "in_error", "foreign"].map(|name| said["counters"][name].as_u64());
    assert_eq!(counters, [Some(1), Some(4), Some(4), Some(0)], "{said}");
}

/// A link-state PDU of an unheard-of bridge.
fn link_state(number: u32) -> Vec<u8> {
    let [a, b, c, d] = number.to_be_bytes();
    let id = [9, 9, a, b, c, d, 0, 0];
    let state = LinkState { lifetime: 1200, id, sequence: 1, overload: false, attached: 0, level: 1 };
    let mut buffer = [0; 200];
    let mut out = Writer::new(&mut buffer);
    Repr::LinkState(state)
        .emit_frame(Address(FAR), &mut out, |out| out.bytes(&[137, 8, b'f', b'l', b'o', b'o', b'd', b'e', b'r', b's']));
    let length = out.finish().expect("it fits");
    assert!(Pdu::parse(&buffer[17..length - 4]).is_ok_and(|pdu| pdu.is_intact()));
    // The kernel adds the check sequence.
    buffer[..length - 4].to_vec()
}

/// Octets that may be said in a time: docs/cli.md.
fn allowance(time: Duration) -> u64 {
    (time.as_secs_f64() * 65536.0) as u64 + 2 * (256 << 10)
}

/// `TAILBACK_FLOOD=100000` makes it the flood of a large attack.
#[test]
fn a_flood_is_read_and_shown_within_bounds() {
    let Some(cable) = Cable::new("flood") else { return };
    let scratch = Scratch::new("strangers-flood");
    let count: u32 = std::env::var("TAILBACK_FLOOD").ok().and_then(|it| it.parse().ok()).unwrap_or(20_000);
    let [spb, dcbx] = ["spb", "dcbx"].map(|command| scratch.path(command));
    let mut neighbour = Neighbour::new(&cable);
    let start = Instant::now();
    let mut children = [("spb", &spb), ("dcbx", &dcbx)]
        .map(|(command, says)| cable.start(&[command, "--json"], File::create(says).expect("there is room")));
    wait_until("both are heard", || {
        neighbour.go_on();
        neighbour.is_up() && !neighbour.lives.is_empty()
    });
    let frames: Vec<[Vec<u8>; 2]> = (0..count)
        .map(|number| {
            // Settings that change with every frame, of neighbours that nobody has heard of.
            let paused = FlowControl { willing: false, bypass: false, capability: 8, priorities: number as u8 };
            [link_state(number), frame(&data_unit(&number.to_be_bytes(), paused, &[]))]
        })
        .collect();
    let flood = Instant::now();
    for (number, both) in frames.iter().enumerate() {
        for frame in both {
            // As fast as the cable takes it.
            while neighbour.interface.send(frame).is_err() {
                std::thread::yield_now();
            }
        }
        if number % 64 == 0 {
            neighbour.go_on();
        }
    }
    let flooded = flood.elapsed();
    let read = |says: &Path| {
        let arrived = if says == spb { &last(says)["ports"][0]["frames"] } else { &last(says)["frames"] };
        (arrived["read"].as_u64().unwrap_or(0), arrived["dropped"].as_u64().unwrap_or(0))
    };
    // Its own hellos it sends as ever, and it is a neighbour still.
    neighbour.go_on();
    assert!(neighbour.is_up());
    std::thread::sleep(Duration::from_millis(300));
    children.iter().for_each(|child| signal(child, "TERM"));
    assert_eq!(children.each_mut().map(ending), [Some(0); 2]);
    let took = start.elapsed();
    for says in [&spb, &dcbx] {
        let (octets, (read, dropped)) = (std::fs::metadata(says).expect("it is there").len(), read(says));
        let share = 100.0 * read as f64 / f64::from(count);
        println!(
            "{count} frames in {flooded:?}: {read} read ({share:.1} %), {dropped} dropped, {octets} octets in {took:?}"
        );
        assert!(read >= u64::from(count) * 9 / 10, "only {share:.1} % of the frames were read");
        assert!(octets <= allowance(took), "{octets} octets in {took:?}");
    }
    let bridge = last(&spb);
    assert_eq!(bridge["ports"][0]["neighbour"]["state"], "up", "{}", bridge["ports"]);
    assert_eq!(bridge["counters"]["silent"], 0);
    let kept = bridge["link_states"].as_array().map_or(0, Vec::len) as u64
        + bridge["link_states_left_out"].as_u64().unwrap_or(0);
    assert_eq!(kept, 4096);
    assert!(last(&dcbx)["other_peers"].as_u64().is_some_and(|count| (1..=5).contains(&count)));
}
