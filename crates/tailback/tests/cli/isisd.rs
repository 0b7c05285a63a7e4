//! FRR's isisd as a live peer: an unmodified Debian binary between two bridges of ours, which reach each other only through
//! it. Bridges and isisd are in network namespaces of their own, with virtual cables between them.

use crate::peers::{are_installed, make_namespaces, output, path, succeeds};
use crate::program::{Scratch, wait_until};
use serde_json::Value;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const A: &str = "0200.0000.0a01";
const B: &str = "0200.0000.0b01";
const MIDDLE: &str = "0200.0000.00ff";
/// isisd's identifier as octets.
const MIDDLE_OCTETS: &str = "0200000000ff";

/// Cables: which of ours, its interface and that one's address, and isisd's interface.
const CABLES: [(usize, &str, &str, &str); 3] = [
    (0, "near0", "02:00:00:00:0a:01", "west0"),
    (0, "near1", "02:00:00:00:0a:02", "west1"),
    (1, "near0", "02:00:00:00:0b:01", "east0"),
];

/// The IPv4 address of our end of a cable, or of isisd's.
fn ipv4(cable: usize, ours: bool) -> String {
    format!("192.0.2.{}", 4 * cable + if ours { 2 } else { 1 })
}

/// Two namespaces of ours, one of isisd's, and what runs in them. All of it goes when it is dropped.
struct World {
    scratch: Scratch,
    ours: [String; 2],
    middle: String,
    daemons: Vec<Child>,
}

impl Drop for World {
    fn drop(&mut self) {
        for daemon in &mut self.daemons {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
        if std::thread::panicking() {
            for name in ["zebra.log", "isisd.log"] {
                println!("{name}:\n{}", std::fs::read_to_string(self.file(name)).unwrap_or_default());
            }
            println!("{}\n{}", self.vtysh("show isis neighbor"), self.vtysh("show isis database detail"));
        }
        for namespace in self.ours.iter().chain([&self.middle]) {
            let _ = output(&["ip", "netns", "del", namespace]);
        }
    }
}

impl World {
    /// `None` where it cannot be tried, which is said.
    fn new(name: &str) -> Option<World> {
        if !are_installed(&["ip", "chown", "kill", "zebra", "isisd", "vtysh"], "frr") {
            return None;
        }
        let namespace = |end: &str| format!("tailback-{name}-{end}-{}", std::process::id());
        let world = World {
            scratch: Scratch::new(&format!("isisd-{name}")),
            ours: [namespace("a"), namespace("b")],
            middle: namespace("middle"),
            daemons: Vec::new(),
        };
        if !make_namespaces(&[&world.ours[0], &world.ours[1], &world.middle]) {
            return None;
        }
        for (cable, (end, near, address, far)) in CABLES.into_iter().enumerate() {
            let (namespace, middle) = (world.ours[end].as_str(), world.middle.as_str());
            let add = ["ip", "link", "add", near, "netns", namespace, "address", address, "type", "veth"];
            if !succeeds(&[&add[..], &["peer", "name", far, "netns", middle]].concat()) {
                println!("SKIPPED: virtual cables cannot be made here");
                return None;
            }
            let theirs = format!("{}/30", ipv4(cable, false));
            assert!(succeeds(&["ip", "-n", middle, "address", "add", &theirs, "dev", far]));
            for (namespace, interface) in [(namespace, near), (middle, far), (middle, "lo")] {
                assert!(succeeds(&["ip", "-n", namespace, "link", "set", "dev", interface, "up"]));
            }
        }
        Some(world)
    }

    /// A file of isisd's.
    fn file(&self, name: &str) -> String {
        self.scratch.path("frr").join(name).to_str().expect("plain").to_owned()
    }

    /// Starts isisd, and zebra, from which it knows its interfaces, with sockets and files of their own.
    fn start_isisd(&mut self) {
        let interface = |(_, _, _, name): (usize, &str, &str, &str)| {
            format!(
                "interface {name}\n ip router isis test\n isis circuit-type level-1\n isis network point-to-point\n \
                 isis hello-interval 1\n!\n"
            )
        };
        let interfaces: String = CABLES.into_iter().map(interface).collect();
        let router = format!(
            "router isis test\n net 49.0001.{MIDDLE}.00\n is-type level-1\n metric-style wide\n no hostname dynamic\n!\n"
        );
        self.scratch.file("frr/isisd.conf", interfaces + &router).file("frr/zebra.conf", "").file("frr/vtysh.conf", "");
        // They give up root for a user of their own.
        assert!(succeeds(&["chown", "-R", "frr:frr", &self.file("")]));
        for name in ["zebra", "isisd"] {
            let daemon = Command::new("ip")
                .args(["netns", "exec", &self.middle, name, "-P", "0", "--vty_socket", &self.file("")])
                .args(["-z", &self.file("zserv.api"), "-f", &self.file(&format!("{name}.conf"))])
                .args(["-i", &self.file(&format!("{name}.pid"))])
                .args(["--log", &format!("file:{}", self.file(&format!("{name}.log")))])
                .env("PATH", path())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn();
            self.daemons.push(daemon.expect("ip is there"));
            let socket = self.file(if name == "zebra" { "zserv.api" } else { "isisd.vty" });
            wait_until("a daemon of FRR's listens", || std::fs::exists(&socket).is_ok_and(|there| there));
        }
        let up = |listing: &str| listing.lines().filter(|line| line.contains("Up") && line.contains("p2p")).count();
        wait_until("isisd has its interfaces", || up(&self.vtysh("show isis interface")) == CABLES.len());
    }

    fn vtysh(&self, command: &str) -> String {
        let said = output(&["vtysh", "--vty_socket", &self.file(""), "-c", command]).expect("it is there");
        String::from_utf8_lossy(&said.stdout).into_owned()
    }

    /// The interfaces at which isisd has this neighbour up.
    fn neighbours(&self, system: &str) -> Vec<String> {
        let listing = self.vtysh("show isis neighbor");
        let rows = listing.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let rows = rows.filter(|row| row.first() == Some(&system) && row.get(3) == Some(&"Up"));
        rows.filter_map(|row| row.get(1).map(|&interface| interface.to_owned())).collect()
    }

    /// Sequence number, checksum and lifetime of a link-state PDU that isisd has.
    fn isisd_has(&self, system: &str) -> Option<(u64, u64, String)> {
        let (listing, id) = (self.vtysh("show isis database"), format!("{system}.00-00"));
        let row = listing.lines().find(|line| line.starts_with(&id))?;
        let row: Vec<&str> = row.split_whitespace().filter(|&word| word != "*").collect();
        let number = |at: usize| u64::from_str_radix(row.get(at)?.trim_start_matches("0x"), 16).ok();
        Some((number(2)?, number(3)?, row.get(4)?.to_string()))
    }

    /// Starts a bridge of ours, which says what it sees in a file.
    fn start(&self, end: usize, arguments: &[&str]) -> Bridge {
        let path_to = self.scratch.path(&format!("{end}.json"));
        let child = Command::new("ip")
            .args(["netns", "exec", &self.ours[end], env!("CARGO_BIN_EXE_tailback"), "spb", "--json"])
            .args(arguments)
            .env("PATH", path())
            .stdout(std::fs::File::create(&path_to).expect("there is room"))
            .spawn();
        Bridge { child: child.expect("ip is there"), says: path_to }
    }
}

/// A bridge of ours.
struct Bridge {
    child: Child,
    says: std::path::PathBuf,
}

impl Drop for Bridge {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Bridge {
    /// What it said last.
    fn sees(&self) -> Value {
        let text = std::fs::read_to_string(&self.says).unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        serde_json::from_str(whole.lines().last().unwrap_or("null")).expect("JSON")
    }

    /// Everything it has to say is acknowledged at all its ports, and each has isisd for a neighbour.
    fn is_settled(&self) -> bool {
        let sees = self.sees();
        let settled = |port: &Value| {
            let neighbour = &port["neighbour"];
            (&neighbour["system"], &neighbour["state"]) == (&MIDDLE.into(), &"up".into()) && port["unacknowledged"] == 0
        };
        sees["ports"].as_array().is_some_and(|ports| ports.iter().filter(|port| port["link"] == true).all(settled))
    }

    /// A link-state PDU that it has: sequence number, checksum, and its octets but for the lifetime.
    fn has(&self, system: &str) -> Option<(u64, u64, String)> {
        let (sees, id) = (self.sees(), format!("{system}.00-00"));
        let state = sees["link_states"].as_array()?.iter().find(|it| it["id"] == id.as_str())?;
        if state["lifetime_s"] == 0 {
            return None;
        }
        let octets = state["octets"].as_str()?;
        let steady = format!("{}....{}", &octets[..20], &octets[24..]);
        Some((state["sequence"].as_u64()?, state["checksum"].as_u64()?, steady))
    }

    /// It was told to forget this one's link state, of that version.
    fn has_taken_back(&self, system: &str, sequence: u64) -> bool {
        let (sees, id) = (self.sees(), format!("{system}.00-00"));
        let states = sees["link_states"].as_array().into_iter().flatten();
        let mut states = states.filter(|it| it["id"] == id.as_str());
        states.any(|it| it["lifetime_s"] == 0 && it["sequence"] == sequence)
    }

    /// Nothing that came was refused or did not fit. (isisd may speak before we know that it hears us.)
    fn is_content(&self) -> bool {
        let counters = &self.sees()["counters"];
        ["refused", "malformed", "mismatched", "no_room"].iter().all(|name| counters[name] == 0)
    }

    /// Interrupted, it takes its leave.
    fn leave(&mut self) {
        assert!(succeeds(&["kill", "-INT", &self.child.id().to_string()]));
        assert_eq!(self.child.wait().expect("it ends").code(), Some(0));
    }
}

/// How many links to isisd a link-state PDU names.
fn links(octets: &str) -> usize {
    octets.matches(MIDDLE_OCTETS).count()
}

#[test]
fn isisd_passes_on_what_our_bridges_say() {
    let Some(mut world) = World::new("pass") else { return };
    world.start_isisd();

    // Without IPv4 neither takes the other for a neighbour.
    let mut stranger = world.start(0, &["--interface", "near0", "--seconds", "4"]);
    assert!(stranger.child.wait().expect("it ends").success());
    assert_eq!(stranger.sees()["ports"][0]["neighbour"], Value::Null);
    assert!(stranger.sees()["counters"]["mismatched"].as_u64() >= Some(2), "{}", stranger.sees());
    assert_eq!(world.neighbours(A), [""; 0]);
    drop(stranger);

    let addresses = [ipv4(0, true), ipv4(1, true)];
    let arguments = ["--interface", "near0", "--ipv4", &addresses[0], "--interface", "near1", "--ipv4", &addresses[1]];
    let a = world.start(0, &arguments);
    let mut b = world.start(1, &["--interface", "near0", "--ipv4", &ipv4(2, true)]);
    let two_links = |a: &Bridge| a.has(A).is_some_and(|(_, _, octets)| links(&octets) == 2);
    let settled =
        |a: &Bridge, b: &Bridge| a.is_settled() && b.is_settled() && b.has(A).is_some() && b.has(A) == a.has(A);
    wait_until("A's link state is at B", || two_links(&a) && settled(&a, &b));
    assert_eq!(world.neighbours(A), ["west0", "west1"]);
    assert_eq!(world.neighbours(B), ["east0"]);

    // Octet for octet what A said, all of it understood, and isisd knows it by the same number; so the other way round.
    assert_eq!(a.has(B), b.has(B));
    assert_eq!(b.sees()["graph"]["bridges"], serde_json::json!([A, B]));
    assert_eq!(a.has(MIDDLE), b.has(MIDDLE));
    for (bridge, system) in [(&a, A), (&b, B), (&a, MIDDLE)] {
        let (sequence, checksum, _) = bridge.has(system).expect("it has it");
        let theirs = world.isisd_has(system).expect("isisd has it");
        assert_eq!((theirs.0, theirs.1), (sequence, checksum), "{system}");
    }
    assert!(a.is_content() && b.is_content(), "{}\n{}", a.sees(), b.sees());

    // For longer than anything waits before it is sent again: what is acknowledged is not.
    std::thread::sleep(Duration::from_secs(7));
    let sent = |bridge: &Bridge| bridge.sees()["counters"]["link_states"].as_u64().expect("a number");
    let (before, first) = (sent(&a), a.has(A).expect("its own"));

    // A link goes: a new version, with one neighbour less, reaches B through the other link.
    assert!(succeeds(&["ip", "-n", &world.ours[0], "link", "set", "dev", "near1", "down"]));
    wait_until("A sees its link go", || a.sees()["ports"][1]["link"] == false);
    wait_until("A says so and B hears it", || {
        a.has(A).is_some_and(|(sequence, _, octets)| sequence > first.0 && links(&octets) == 1) && settled(&a, &b)
    });
    let text = std::fs::read_to_string(&a.says).expect("it is there");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let mut without = lines.filter(|line| line["ports"][1]["link"] == false);
    let after = without.next().and_then(|line| line["counters"]["link_states"].as_u64()).expect("a number");
    assert!(after - before <= 1, "only the new version may have been sent meanwhile, not {}", after - before);
    let second = a.has(A).expect("its own");
    wait_until("isisd sees it go", || world.neighbours(A) == ["west0"]);
    assert_eq!(world.isisd_has(A).map(|it| (it.0, it.1)), Some((second.0, second.1)));

    // It comes back.
    assert!(succeeds(&["ip", "-n", &world.ours[0], "link", "set", "dev", "near1", "up"]));
    wait_until("A's link is back at B", || two_links(&a) && settled(&a, &b));
    let last = a.has(A).expect("its own");
    assert!(last.0 > second.0);

    // A dies without a word and starts again: its former link state, which isisd kept, is outdone.
    drop(a);
    let mut a = world.start(0, &arguments);
    wait_until("A's new life is at B", || {
        a.has(A).is_some_and(|(sequence, _, octets)| sequence > last.0 && links(&octets) == 2) && settled(&a, &b)
    });
    let last = a.has(A).expect("its own");

    // A takes its leave: its link state is taken back, isisd believes it and tells B.
    a.leave();
    wait_until("B has forgotten A", || b.has_taken_back(A, last.0));
    wait_until("isisd has lost A", || world.neighbours(A).is_empty());
    assert_eq!(b.sees()["graph"]["bridges"], serde_json::json!([B]));
    let remembered = world.isisd_has(A);
    assert!(remembered.as_ref().is_none_or(|it| it.0 == last.0 && it.2.contains('(')), "{remembered:?}");
    assert!(b.is_content(), "{}", b.sees());
    b.leave();
}
