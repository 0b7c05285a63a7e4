//! lldpad as a live peer: an unmodified Debian binary at the other end of a virtual cable, in a network namespace of its
//! own. Its kernel has no Data Center Bridging on such a cable, so a library of ours answers in the kernel's place.

use crate::peers::{are_installed, make_namespaces, output, path, succeeds};
use crate::program::{Scratch, wait_until};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Two namespaces with a cable between them, lldpad in the second. All of it goes when it is dropped.
struct Cable {
    near: String,
    far: String,
    lldpad: Option<Child>,
}

impl Drop for Cable {
    fn drop(&mut self) {
        if let Some(lldpad) = &mut self.lldpad {
            let _ = lldpad.kill();
            let _ = lldpad.wait();
        }
        for namespace in [&self.near, &self.far] {
            let _ = output(&["ip", "netns", "del", namespace]);
        }
    }
}

impl Cable {
    /// `None` where it cannot be tried, which is said.
    fn new(name: &str, near_address: &str) -> Option<Cable> {
        if !are_installed(&["ip", "unshare", "gcc", "lldpad", "lldptool"], "lldpad") {
            return None;
        }
        let namespace = |end: &str| format!("tailback-{name}-{end}-{}", std::process::id());
        let cable = Cable { near: namespace("near"), far: namespace("far"), lldpad: None };
        if !make_namespaces(&[&cable.near, &cable.far]) {
            return None;
        }
        let (near, far) = (cable.near.as_str(), cable.far.as_str());
        let peer = ["peer", "name", "far", "netns", far, "address", "02:00:00:00:0b:01"];
        let add = ["ip", "link", "add", "near", "netns", near, "address", near_address, "type", "veth"];
        if !succeeds(&[&add[..], &peer].concat()) {
            println!("SKIPPED: virtual cables cannot be made here");
            return None;
        }
        for (namespace, interface) in [(near, "near"), (far, "far"), (far, "lo")] {
            assert!(succeeds(&["ip", "-n", namespace, "link", "set", interface, "up"]));
        }
        Some(cable)
    }

    /// Starts lldpad with shared memory and folders of its own.
    fn start_lldpad(&mut self, scratch: &Scratch) {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/lldpad/dcbnl.c");
        let library = scratch.path("dcbnl.so");
        let library = library.to_str().expect("plain");
        let gcc = output(&["gcc", "-Wall", "-Werror", "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"]);
        let gcc = gcc.expect("it is there");
        assert!(gcc.status.success(), "{}", String::from_utf8_lossy(&gcc.stderr));
        let file = scratch.path("lldpad.conf");
        let script = format!(
            "mount -t tmpfs none /dev/shm && mount -t tmpfs none /run && LD_PRELOAD={library} exec lldpad -f {}",
            file.to_str().expect("plain")
        );
        let lldpad = Command::new("ip")
            .args(["netns", "exec", &self.far, "unshare", "-i", "-m", "sh", "-c", &script])
            .env("PATH", path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.lldpad = Some(lldpad.expect("ip is there"));
        wait_until("lldpad answers", || self.lldptool(&["-L", "adminStatus=rxtx"]).is_some());
    }

    /// What lldptool says, if it succeeds.
    fn lldptool(&self, arguments: &[&str]) -> Option<String> {
        let (action, rest) = arguments.split_first()?;
        let output = Command::new("ip")
            .args(["netns", "exec", &self.far, "lldptool", action, "-i", "far"])
            .args(rest)
            .env("PATH", path())
            .output()
            .ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn set(&self, tlv: &str, values: &[&str]) {
        let arguments = [&["-T", "-V", tlv][..], values].concat();
        assert!(self.lldptool(&arguments).is_some(), "lldptool {arguments:?}");
    }

    /// Speaks with it for some seconds: what we operate on at the end, and what lldpad says before we leave.
    fn converse(&self, scratch: &Scratch) -> (serde_json::Value, String) {
        let ours = Command::new("ip")
            .args(["netns", "exec", &self.near, env!("CARGO_BIN_EXE_tailback"), "dcbx"])
            .args(["a.toml", "--node", "h0", "--interface", "near", "--seconds", "9", "--json"])
            .current_dir(scratch.path(""))
            .env("PATH", path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("ip is there");
        std::thread::sleep(Duration::from_secs(7));
        let theirs = self.lldptool(&["-t"]).expect("it answers");
        let ours = ours.wait_with_output().expect("it ends");
        assert!(ours.status.success());
        let text = String::from_utf8_lossy(&ours.stdout).into_owned();
        let last = text.lines().last().expect("some");
        (serde_json::from_str(last).expect(last), theirs)
    }
}

/// A scenario that serves for its settings of h0.
fn scenario(dcb: &str) -> String {
    format!(
        "schema_version = 1\n[network]\ntopology = \"single-switch\"\nhosts = 2\n\
         link = {{ rate = \"10Gb/s\", latency = \"1us\" }}\n[[switches]]\nbuffers = {{ capacity = \"200KB\" }}\n\
         [run]\nduration = \"1ms\"\n[[dcb]]\nmatch = \"h0\"\n{dcb}\n"
    )
}

/// The lines of an lldptool listing that belong to a TLV.
fn tlv<'a>(listing: &'a str, title: &str) -> Vec<&'a str> {
    let lines = listing.lines().skip_while(|line| !line.contains(title)).skip(1);
    lines.take_while(|line| line.starts_with('\t')).map(str::trim).collect()
}

#[test]
fn lldpad_learns_from_us_and_forgets_us() {
    let Some(mut cable) = Cable::new("teach", "02:00:00:00:0a:01") else { return };
    let scratch = Scratch::new("live-teach");
    let dcb = "pfc = [3]\nets = [{ priorities = [0], share = 60 }, { priorities = [3], share = 40 }]\n\
               applications = [{ priority = 3, kind = \"ether-type\", protocol = 35078 }]";
    scratch.file("a.toml", scenario(dcb));
    cable.start_lldpad(&scratch);
    cable.set("ETS-CFG", &["enableTx=yes", "willing=yes"]);
    cable.set("PFC", &["enableTx=yes", "willing=yes", "enabled=none"]);
    cable.set("APP", &["enableTx=yes"]);
    let (ours, theirs) = cable.converse(&scratch);
    assert_eq!(ours["pfc"]["priorities"], serde_json::json!([3]));
    assert_eq!((&ours["peer"], &ours["findings"]), (&"02:00:00:00:0b:01".into(), &serde_json::json!([])));
    assert!(tlv(&theirs, "PFC TLV").contains(&"PFC enabled: 3"), "{theirs}");
    let shared = tlv(&theirs, "ETS Configuration TLV");
    assert!(shared.contains(&"PRIO_MAP: 0:0 1:0 2:0 3:1 4:0 5:0 6:0 7:0"), "{theirs}");
    assert!(shared.contains(&"TC Bandwidth: 60% 40% 0% 0% 0% 0% 0% 0%"), "{theirs}");
    // We have left, and said so: lldpad operates on its own again, within a few of its seconds.
    wait_until("lldpad forgets us", || {
        let theirs = cable.lldptool(&["-t"]).expect("it answers");
        tlv(&theirs, "PFC TLV").contains(&"PFC enabled: none")
    });
}

#[test]
fn we_learn_from_lldpad() {
    let Some(mut cable) = Cable::new("learn", "02:00:00:00:0a:01") else { return };
    let scratch = Scratch::new("live-learn");
    scratch.file("a.toml", scenario("willing = true\npfc = [1]"));
    cable.start_lldpad(&scratch);
    let tsa = "tsa=0:ets,1:ets,2:strict,3:strict,4:strict,5:strict,6:strict,7:strict";
    let map = "up2tc=0:0,1:0,2:1,3:1,4:2,5:0,6:0,7:0";
    cable.set("ETS-CFG", &["enableTx=yes", "willing=no", tsa, map, "tcbw=60,40,0,0,0,0,0,0"]);
    cable.set("ETS-REC", &["enableTx=yes", tsa, map, "tcbw=70,30,0,0,0,0,0,0"]);
    cable.set("PFC", &["enableTx=yes", "willing=no", "enabled=3,4"]);
    let (ours, theirs) = cable.converse(&scratch);
    assert_eq!(ours["pfc"], serde_json::json!({ "priorities": [3, 4], "from": "peer" }));
    let classes = serde_json::json!([
        { "class": 0, "priorities": [0, 1, 5, 6, 7], "share": 70 },
        { "class": 1, "priorities": [2, 3], "share": 30 },
        { "class": 2, "priorities": [4], "share": null },
    ]);
    assert_eq!(ours["ets"], serde_json::json!({ "classes": classes, "from": "peer" }));
    assert!(tlv(&theirs, "PFC TLV").contains(&"PFC enabled: 3 4"), "{theirs}");
    // lldpad shares its own direction otherwise, and puts a paused priority with an unpaused one; both are named.
    let names: Vec<_> = ours["findings"].as_array().expect("a list").iter().map(|it| it["name"].clone()).collect();
    assert_eq!(names, ["lossless-in-lossy-class", "ets-differs"]);
}

/// Both are willing and differ: the one with the lower address takes the other's, whichever it is.
fn tie(name: &str, address: &str, expected: (&str, &[u8])) {
    let Some(mut cable) = Cable::new(name, address) else { return };
    let scratch = Scratch::new(&format!("live-{name}"));
    scratch.file("a.toml", scenario("willing = true\npfc = [1]"));
    cable.start_lldpad(&scratch);
    cable.set("PFC", &["enableTx=yes", "willing=yes", "enabled=3,4"]);
    let (ours, theirs) = cable.converse(&scratch);
    assert_eq!(ours["pfc"]["priorities"], serde_json::json!(expected.1), "{theirs}");
    assert!(tlv(&theirs, "PFC TLV").contains(&expected.0), "{theirs}");
}

#[test]
fn the_lower_address_yields_to_lldpad() {
    tie("lower", "02:00:00:00:0a:01", ("PFC enabled: 3 4", &[3, 4]));
}

#[test]
fn lldpad_with_the_lower_address_yields() {
    tie("higher", "02:00:00:00:0c:01", ("PFC enabled: 1", &[1]));
}
