//! What bridges say to each other under tshark's eyes. `cargo xtask oracles` installs it; without it nothing can be
//! asked, which is said, and on a machine that calls itself CI it is a failure.

use crate::fabric::Fabric;
use std::path::Path;
use std::process::Command;
use units::Span;
use wire::pcapng::{self, Interface, LinkType, Resolution};

#[allow(clippy::disallowed_macros)] // A skipped check says so.
fn tshark(path: &Path, fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let mut command = Command::new("tshark");
    command.args(["-n", "-T", "fields", "-E", "occurrence=a", "-E", "separator=/t", "-r"]).arg(path);
    fields.iter().for_each(|field| _ = command.args(["-e", field]));
    match command.output() {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            Some(said.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect())
        }
        Err(error) => {
            let ci = std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false");
            assert!(!ci, "tshark: {error}; 'cargo xtask oracles' installs it");
            eprintln!("SKIPPED: tshark: {error}; 'cargo xtask oracles' installs it, and in CI this is a failure");
            None
        }
    }
}

/// Everything from the first hello to a withdrawn line and a link state taken back.
#[test]
fn tshark_reads_what_bridges_say() {
    let mut fabric = Fabric::new(3, &[(0, 1, 10), (1, 2, 20), (0, 2, 30)], 1, 0);
    fabric.run(Span::from_secs(20));
    fabric.set(1, false, true);
    fabric.set(2, false, true);
    fabric.run(Span::from_secs(1250));
    let mut bytes = Vec::new();
    pcapng::section(&mut bytes, "tailback", "bridges");
    let link = Interface {
        link_type: LinkType::Ethernet,
        name: "bridges",
        description: "test",
        speed: 10_000_000_000,
        check_length: None,
        resolution: Resolution::Picoseconds,
    };
    pcapng::interface(&mut bytes, &link);
    for (number, frame) in (0..).zip(&fabric.seen) {
        pcapng::packet(&mut bytes, 0, link.resolution, number * 1_000_000, frame);
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bridges.pcapng");
    std::fs::write(&path, bytes).expect("the target directory can be written");
    let fields = [
        "isis.type",
        "_ws.malformed",
        "_ws.expert.message",
        "isis.lsp.checksum.status",
        "isis.lsp.remaining_life",
        "isis.lsp.spb.link_metric",
        "isis.hello.adjacency_state",
        "isis.lsp.mt_cap_spb_instance.number_of_trees",
    ];
    let Some(rows) = tshark(&path, &fields) else { return };
    assert_eq!(rows.len(), fabric.seen.len());
    let of = |kind: &str| rows.iter().filter(|row| row[0] == kind).collect::<Vec<_>>();
    for row in &rows {
        assert_eq!(row[1], "", "{row:?}");
    }
    for row in rows.iter().filter(|row| row[4] != "0") {
        assert_eq!(row[2], "", "{row:?}");
    }
    let alive: Vec<_> = of("18").into_iter().filter(|row| row[4] != "0").collect();
    assert!(alive.iter().all(|row| row[3] == "1" && row[7] == "0x0010"), "{alive:?}");
    assert!(alive.iter().any(|row| row[5] == "0x00000a,0x000014"), "the middle one's two links: {alive:?}");
    assert!(of("18").len() > alive.len(), "one was taken back");
    for state in ["0", "1", "2"] {
        assert!(of("17").iter().any(|row| row[6] == state), "adjacency state {state}");
    }
    assert!(!of("24").is_empty() && !of("26").is_empty());
}
