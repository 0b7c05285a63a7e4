//! Routes compared with InfiniBand tools: ibdmchk checks our tables; opensm loads them into a fabric simulated by ibsim and
//! computes its own.

use crate::program::Scratch;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// All routings of one port per destination, and whether traffic between all hosts can deadlock on a ring of five.
const ROUTINGS: [(&str, bool); 5] =
    [("shortest", true), ("up-down", false), ("lash", false), ("dfsssp", false), ("spanning-tree", false)];

const FORMATS: [&str; 7] = ["ibnetdiscover", "subnet", "fdbs", "lfts", "guid2lid", "path-sl", "sl2vl"];

const PRELOAD: [&str; 3] = [
    "/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so",
    "/usr/lib/aarch64-linux-gnu/umad2sim/libumad2sim.so",
    "/usr/lib64/umad2sim/libumad2sim.so",
];

fn scenario(topology: &str) -> String {
    format!(
        r#"schema_version = 1
name = "exported"
[network]
{topology}
link = {{ rate = "10Gb/s", latency = "1us" }}
[[switches]]
flow_control = "pfc"
buffers = {{ capacity = "100KB" }}
[[workloads]]
kind = "all-to-all"
[run]
duration = "1ms"
"#
    )
}

/// Whether a program is there. Where it is not, that is said; on a machine that calls itself CI it is a failure.
fn installed(programs: &[&str]) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<_> = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]).collect();
    let missing: Vec<&&str> =
        programs.iter().filter(|program| !folders.iter().any(|folder| folder.join(program).exists())).collect();
    if missing.is_empty() {
        return true;
    }
    let ci = std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false");
    assert!(!ci, "{missing:?} are not installed; `cargo xtask oracles` installs them");
    println!("SKIPPED: {missing:?} are not installed; `cargo xtask oracles` installs them where it can");
    false
}

/// Writes all files of a routing into a folder of that name.
fn export(scratch: &Scratch, routing: &str) {
    let set = format!("network.routing={routing}");
    for format in FORMATS {
        let said = scratch.run(&["routes", "a.toml", "--set", &set, "--format", format]);
        assert_eq!(said.code, Some(0), "{}", said.err);
        scratch.file(&format!("{routing}/{format}"), said.out);
    }
    scratch.file(&format!("{routing}/none"), "");
}

/// What ibdmchk says of these files: (has it a credit loop, how many paths and service levels it has looked at).
fn ibdmchk(arguments: &[(&str, &Path)]) -> (bool, String) {
    let mut command = Command::new("ibdmchk");
    arguments.iter().for_each(|(flag, path)| {
        command.arg(flag).arg(path);
    });
    let output = command.stdin(Stdio::null()).output().expect("ibdmchk starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let (loops, free) = (said.contains("-E- credit loops in routing"), said.contains("-I- no credit loops found"));
    assert!(loops != free, "ibdmchk judges: {said}");
    assert!(!said.contains("-E- Unable") && !said.contains("-E- Fail"), "{said}");
    (loops, said)
}

fn judge(scratch: &Scratch, routing: &str) -> (bool, String) {
    let file = |name: &str| scratch.path(&format!("{routing}/{name}"));
    let (subnet, fdbs, none) = (file("subnet"), file("fdbs"), file("none"));
    let (levels, lanes) = (file("path-sl"), file("sl2vl"));
    ibdmchk(&[("-s", &subnet), ("-f", &fdbs), ("-m", &none), ("-c", &levels), ("-d", &lanes)])
}

fn summary(scratch: &Scratch, routing: &str) -> serde_json::Value {
    scratch.run(&["routes", "a.toml", "--set", &format!("network.routing={routing}"), "--json"]).ends(0).json()
}

#[test]
fn ibdmchk_finds_circles_where_we_do() {
    if !installed(&["ibdmchk"]) {
        return;
    }
    let scratch = Scratch::new("ibdmchk");
    scratch.file("a.toml", scenario("topology = \"ring\"\nswitches = 5\nhosts_per_switch = 1"));
    for (routing, can) in ROUTINGS {
        export(&scratch, routing);
        let summary = summary(&scratch, routing);
        assert_eq!(summary["can_deadlock"], can, "{routing}");
        let (loops, said) = judge(&scratch, routing);
        assert_eq!(loops, can, "{routing}: {said}");
        assert!(said.contains("Scanned:20 CA to CA paths"), "{routing}: {said}");
        let lanes = summary["lanes"].as_u64().expect("a number");
        assert_eq!(lanes, if ["lash", "dfsssp"].contains(&routing) { 2 } else { 1 }, "{routing}");
        assert!(said.contains(&format!("Credit Loops {lanes} SLs")), "{routing}: {said}");
    }
    // A grid and a tree as well. Tables of one port each are less than all that `shortest` leaves open: a loop that
    // ibdmchk finds is one of ours.
    let others = [
        "topology = \"torus\"\ndims = [4, 3]\nhosts_per_switch = 2",
        "topology = \"mesh\"\ndims = [3, 3]\nhosts_per_switch = 1",
        "topology = \"fat-tree\"\nk = 4",
    ];
    for topology in others {
        scratch.file("a.toml", scenario(topology));
        for (routing, _) in ROUTINGS {
            export(&scratch, routing);
            let can = summary(&scratch, routing)["can_deadlock"] == true;
            let loops = judge(&scratch, routing).0;
            assert!(can || !loops, "{topology}, {routing}: ibdmchk finds a loop and we do not");
            assert!(routing == "shortest" || loops == can, "{topology}, {routing}");
        }
    }
}

/// opensm on ibsim, in a folder of a routing's own; what it leaves is there, and what ibnetdiscover finds afterwards.
fn opensm(scratch: &Scratch, folder: &str, arguments: &[&str]) {
    let home = scratch.path(folder);
    let preload = PRELOAD.iter().find(|path| Path::new(path).exists()).expect("ibsim's library is beside it");
    let mut ibsim = Command::new("ibsim")
        .arg("-s")
        .arg(home.join("ibnetdiscover"))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("ibsim starts");
    std::thread::sleep(Duration::from_millis(500));
    let first = std::fs::read_to_string(home.join("ibnetdiscover")).expect("it was written");
    let host = first.split("\"H-").nth(1).and_then(|rest| rest.split('"').next()).expect("a host");
    let inside = |program: &str| {
        let mut command = Command::new("/usr/bin/env");
        command
            .args(["timeout", "60", program])
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .env("LD_PRELOAD", preload)
            .env("SIM_HOST", format!("H-{host}"))
            .env("OSM_TMP_DIR", &home)
            .env("OSM_CACHE_DIR", &home)
            .stdin(Stdio::null());
        command
    };
    let mut command = inside("opensm");
    command.args(["-o", "-Q", "-D", "0x43", "-f"]).arg(home.join("osm.log")).args(arguments);
    let output = command.output();
    let discovered = inside("ibnetdiscover").output();
    let _ = ibsim.kill();
    let _ = ibsim.wait();
    let output = output.expect("opensm starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let discovered = discovered.map(|output| output.stdout).unwrap_or_default();
    scratch.file(&format!("{folder}/discovered"), String::from_utf8_lossy(&discovered).into_owned());
}

/// Every format that a scenario is exported as is the same after an import of the first ones, but for lanes.
#[test]
fn an_import_of_an_export_is_exported_as_the_same_bytes() {
    let scratch = Scratch::new("infiniband");
    let networks = [
        "topology = \"ring\"\nswitches = 5\nhosts_per_switch = 2",
        "topology = \"torus\"\ndims = [3, 3]\nhosts_per_switch = 1",
        "topology = \"fat-tree\"\nk = 4",
        "topology = \"leaf-spine\"\nleaves = 3\nspines = 2\nhosts_per_leaf = 3",
    ];
    for topology in networks {
        scratch.file("a.toml", scenario(topology));
        for routing in ["shortest", "up-down", "lash", "spanning-tree"] {
            export(&scratch, routing);
            let (net, lfts) = (format!("{routing}/ibnetdiscover"), format!("{routing}/lfts"));
            let import = ["import", "infiniband", &net, "--lfts", &lfts, "-o", "b.toml", "--overwrite"];
            scratch.run(&import).ends(0);
            for format in FORMATS.into_iter().filter(|format| routing != "lash" || *format != "path-sl") {
                let again = scratch.run(&["routes", "b.toml", "--format", format]).ends(0).out;
                let first = std::fs::read_to_string(scratch.path(&format!("{routing}/{format}"))).expect("an export");
                assert!(again == first, "{topology}, {routing}: {format} differs");
            }
        }
    }
    scratch.run(&["run", "b.toml", "--no-record"]).ends(0);
    // Nothing is written for a file that ends too early.
    let whole = std::fs::read_to_string(scratch.path("lash/ibnetdiscover")).expect("an export");
    let end = whole[..whole.len() / 2].rfind("\n\n").expect("nodes are separated by empty lines");
    scratch.file("half", &whole[..end]);
    let said = scratch.run(&["import", "infiniband", "half", "-o", "c.toml"]).ends(2);
    assert!(said.err.contains("half:") && said.err.contains("give the whole output of ibnetdiscover"), "{}", said.err);
    assert!(!scratch.path("c.toml").exists());
}

/// Lines of a dump of tables that say which port an identifier takes, under the switch they belong to.
fn entries(dump: &str, keep: impl Fn(&str) -> bool) -> Vec<String> {
    let mut switch = "";
    let mut entries = Vec::new();
    for line in dump.lines() {
        if let Some((_, rest)) = line.split_once(" guid ") {
            switch = rest.split_whitespace().next().unwrap_or("");
        } else if line.starts_with("0x") && keep(line) {
            entries.push(format!("{switch} {}", line.split('#').next().unwrap_or("").trim()));
        }
    }
    entries
}

/// One test, because ibsim listens in one place.
#[test]
fn opensm_takes_our_tables_and_computes_lanes_as_we_do() {
    if !installed(&["ibsim", "opensm", "ibdmchk"]) {
        return;
    }
    let scratch = Scratch::new("opensm");
    scratch.file("a.toml", scenario("topology = \"ring\"\nswitches = 5\nhosts_per_switch = 1"));
    let read = |name: &str| std::fs::read_to_string(scratch.path(name)).unwrap_or_default();
    let hosts = |line: &str| line.contains("Channel Adapter");

    // Our tables, loaded by opensm and dumped again.
    export(&scratch, "lash");
    let tables = scratch.path("lash/lfts");
    opensm(&scratch, "lash", &["-R", "file", "-U", &tables.to_string_lossy()]);
    let ours = entries(&read("lash/lfts"), hosts);
    assert_eq!(ours.len(), 25);
    assert_eq!(entries(&read("lash/opensm-lfts.dump"), hosts), ours);

    // What ibnetdiscover and opensm say of it, imported.
    if installed(&["ibnetdiscover"]) {
        let files = ["lash/discovered", "--lfts", "lash/opensm-lfts.dump", "-o", "discovered.toml"];
        let said = scratch.run(&[&["import", "infiniband"], &files[..]].concat()).ends(0);
        assert!(said.err.contains("5 hosts, 5 switches"), "{}", said.err);
        let imported = scratch.run(&["routes", "discovered.toml", "--json"]).ends(0).json();
        let original = summary(&scratch, "lash");
        for key in ["pairs", "mean_hops", "longest", "trunks_used"] {
            assert_eq!(imported[key], original[key], "{key}");
        }
    }

    // Its own engines on the same network.
    let lanes = |log: &str, words: &str| -> u64 {
        let line = log.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("{words}: {log}"));
        let number = line.split(words).nth(1).unwrap_or("");
        number.chars().filter(char::is_ascii_digit).collect::<String>().parse().expect("a number")
    };
    for (engine, words) in [("lash", "Lanes needed:"), ("dfsssp", "Virtual Lanes needed:")] {
        export(&scratch, engine);
        opensm(&scratch, engine, &["-R", engine]);
        let needed = lanes(&read(&format!("{engine}/osm.log")), words);
        assert_eq!(summary(&scratch, engine)["lanes"], needed, "{engine}");
    }
    let verdict = |folder: &str| {
        let file = |name: &str| scratch.path(&format!("{folder}/{name}"));
        let (subnet, fdbs, groups) = (file("opensm-subnet.lst"), file("opensm.fdbs"), file("opensm.mcfdbs"));
        ibdmchk(&[("-s", &subnet), ("-f", &fdbs), ("-m", &groups)]).0
    };
    export(&scratch, "shortest");
    opensm(&scratch, "shortest", &["-R", "minhop"]);
    assert!(verdict("shortest"), "minhop has a loop, as shortest paths have");
    export(&scratch, "up-down");
    // The first switch is node 1.
    scratch.file("up-down/roots", "0x0200000000000200\n");
    opensm(&scratch, "up-down", &["-R", "updn", "-a", &scratch.path("up-down/roots").to_string_lossy()]);
    assert!(!verdict("up-down"), "updn has none");
}
