//! Frames of ours under other people's eyes: tshark, tcpdump and scapy on every kind that we emit.
//!
//! `cargo xtask oracles` installs them. Without them nothing can be asked; that is said, and on a machine that calls
//! itself CI it is a failure.

use crate::samples::{self, Sample};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use wire::pcapng::{self, Interface, LinkType, Resolution};

/// The time of the n-th packet: no two digits of it are there by chance.
fn time(resolution: Resolution, number: usize) -> u64 {
    match resolution {
        Resolution::Picoseconds => number as u64 * 1_000_000_000_000 + 12_345_678_912,
        Resolution::HundredPicoseconds => number as u64 * 1_000_000_000_000 + 912_345_678_912,
    }
}

fn capture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn write(name: &str, link: &Interface, packets: impl Iterator<Item = Vec<u8>>) -> PathBuf {
    let mut bytes = Vec::new();
    pcapng::section(&mut bytes, "tailback", "a frame of every kind");
    pcapng::interface(&mut bytes, link);
    for (number, packet) in packets.enumerate() {
        pcapng::packet(&mut bytes, 0, link.resolution, time(link.resolution, number), &packet);
    }
    let path = capture(name);
    std::fs::write(&path, bytes).expect("the target directory can be written");
    path
}

const LINK: Interface = Interface {
    link_type: LinkType::Ethernet,
    name: "sw0->h1",
    description: "test",
    speed: 10_000_000_000,
    check_length: Some(4),
    resolution: Resolution::Picoseconds,
};

fn ethernet_capture(name: &str, resolution: Resolution) -> PathBuf {
    let link = Interface { resolution, ..LINK };
    write(name, &link, samples::ethernet().into_iter().map(|sample| sample.bytes))
}

/// Runs an external program. Returns `None` if it is not installed, which is a failure in CI.
#[allow(clippy::disallowed_macros)] // A skipped comparison is reported.
fn ask(program: &str, arguments: &[&str]) -> Option<String> {
    match Command::new(program).args(arguments).output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success(), "{program}: {said}{}", String::from_utf8_lossy(&output.stderr));
            Some(said)
        }
        Err(error) => {
            let ci = std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false");
            assert!(!ci, "{program}: {error}; 'cargo xtask oracles' installs it");
            eprintln!("SKIPPED: {program}: {error}; 'cargo xtask oracles' installs it, and in CI this is a failure");
            None
        }
    }
}

/// What tshark says of each packet, by field.
fn dissect(path: &Path, fields: &[&str], options: &[&str]) -> Option<Vec<BTreeMap<String, String>>> {
    let path = path.to_string_lossy();
    let mut arguments = vec!["-n", "-r", &path, "-T", "fields", "-E", "occurrence=a", "-E", "separator=/t"];
    arguments.extend(["-o", "eth.check_fcs:TRUE", "-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"]);
    arguments.extend(options);
    fields.iter().for_each(|field| arguments.extend(["-e", field]));
    let said = ask("tshark", &arguments)?;
    // Later versions write out what is true.
    let said = said.replace("True", "1").replace("False", "0");
    let row = |line: &str| fields.iter().map(|&it| it.to_owned()).zip(line.split('\t').map(str::to_owned)).collect();
    Some(said.lines().map(row).collect())
}

const ALWAYS: [&str; 4] = ["frame.time_epoch", "frame.interface_name", "_ws.malformed", "_ws.expert.message"];

fn fields_of<'a>(samples: impl Iterator<Item = &'a Sample>) -> Vec<&'static str> {
    let mut fields: Vec<&str> = samples.flat_map(|sample| sample.fields.iter().map(|it| it.0)).collect();
    fields.extend(ALWAYS);
    fields.push("eth.fcs.status");
    fields.sort_unstable();
    fields.dedup();
    fields
}

fn compare(sample: &Sample, row: &BTreeMap<String, String>) {
    for (field, value) in sample.fields {
        assert_eq!(row.get(*field).map(String::as_str), Some(*value), "{}: {field}", sample.name);
    }
    for field in ["_ws.malformed", "_ws.expert.message"] {
        assert_eq!(row[field], "", "{}: {field}", sample.name);
    }
}

#[test]
fn tshark_reads_every_frame() {
    let (path, samples) = (ethernet_capture("ethernet.pcapng", Resolution::Picoseconds), samples::ethernet());
    let Some(rows) = dissect(&path, &fields_of(samples.iter()), &[]) else { return };
    assert_eq!(rows.len(), samples.len());
    for (number, (sample, row)) in samples.iter().zip(&rows).enumerate() {
        compare(sample, row);
        assert_eq!(row["eth.fcs.status"], "1", "{}: the check sequence is good", sample.name);
        assert_eq!(row["frame.interface_name"], "sw0->h1");
        // tshark keeps nanoseconds; the picoseconds are in the file.
        assert_eq!(row["frame.time_epoch"], format!("{number}.012345678"), "{}", sample.name);
    }
}

/// A capture that lasts is in the finest unit that tshark reads right to its end.
#[test]
fn tshark_reads_late_times() {
    let path = ethernet_capture("late.pcapng", Resolution::for_span(u64::MAX));
    let Some(rows) = dissect(&path, &["frame.time_epoch"], &[]) else { return };
    for (number, row) in rows.iter().enumerate() {
        assert_eq!(row["frame.time_epoch"], format!("{number}.912345678"));
    }
    assert_eq!(rows.len(), samples::ethernet().len());
}

/// A bad check sequence is seen: the good ones above mean something.
#[test]
fn tshark_sees_damage() {
    let samples = samples::ethernet();
    let damaged = samples.iter().map(|sample| {
        let mut bytes = sample.bytes.clone();
        bytes[11] ^= 1;
        bytes
    });
    let path = write("damaged.pcapng", &LINK, damaged);
    let Some(rows) = dissect(&path, &["eth.fcs.status"], &[]) else { return };
    assert!(rows.len() == samples.len() && rows.iter().all(|row| row["eth.fcs.status"] == "0"));
}

#[test]
fn tshark_reads_infiniband() {
    let samples = samples::infiniband();
    let link = Interface { link_type: LinkType::Erf, name: "hca0->sw0", check_length: None, ..LINK };
    let records = samples.iter().enumerate().map(|(number, (sample, kind))| {
        [&pcapng::erf(*kind, time(link.resolution, number), sample.bytes.len() as u16)[..], &sample.bytes].concat()
    });
    let path = write("infiniband.pcapng", &link, records);
    let mut fields = fields_of(samples.iter().map(|it| &it.0));
    fields.retain(|&field| field != "eth.fcs.status");
    let Some(rows) = dissect(&path, &fields, &[]) else { return };
    assert_eq!(rows.len(), samples.len());
    samples.iter().zip(&rows).for_each(|((sample, _), row)| compare(sample, row));
}

/// With the dissector that ships with us: CN-TAG, CNM, and the header of simulated frames.
#[test]
fn our_dissector_reads_what_tshark_does_not_know() {
    let (path, samples) = (ethernet_capture("dissector.pcapng", Resolution::Picoseconds), samples::ethernet());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../share/wireshark/tailback.lua");
    let option = format!("lua_script:{}", script.display());
    let mut fields: Vec<&str> =
        samples::DISSECTED.iter().flat_map(|(_, fields)| fields.iter().map(|it| it.0)).collect();
    fields.extend(["_ws.malformed", "_ws.expert.message", "eth.fcs.status"]);
    let Some(rows) = dissect(&path, &fields, &["-X", &option]) else { return };
    assert_eq!(rows.len(), samples.len());
    for (name, fields) in samples::DISSECTED {
        let place = samples.iter().position(|sample| sample.name == *name).expect("there is one");
        for (field, value) in *fields {
            assert_eq!(rows[place][*field], *value, "{name}: {field}");
        }
    }
    for (sample, row) in samples.iter().zip(&rows) {
        let said = [&row["_ws.malformed"], &row["_ws.expert.message"], &row["eth.fcs.status"]];
        assert_eq!(said, ["", "", "1"], "{}", sample.name);
    }
}

#[test]
fn tcpdump_reads_every_frame() {
    let (path, samples) = (ethernet_capture("tcpdump.pcapng", Resolution::Picoseconds), samples::ethernet());
    let Some(said) = ask("tcpdump", &["-r", &path.to_string_lossy(), "-n", "-e", "-vv"]) else { return };
    // A frame's lines begin at the margin.
    let mut frames: Vec<String> = Vec::new();
    for line in said.lines() {
        match frames.last_mut() {
            Some(frame) if line.starts_with(char::is_whitespace) => frame.push_str(line),
            _ => frames.push(line.to_owned()),
        }
    }
    assert_eq!(frames.len(), samples.len(), "{said}");
    for (sample, frame) in samples.iter().zip(&frames) {
        for words in sample.says {
            assert!(frame.contains(words), "{}: '{words}' is not in: {frame}", sample.name);
        }
        for complaint in ["[|", "invalid", "bad ", "incorrect", "truncated"] {
            assert!(!frame.contains(complaint), "{}: {frame}", sample.name);
        }
    }
}

#[test]
fn scapy_reads_every_frame() {
    let path = ethernet_capture("scapy.pcapng", Resolution::Picoseconds);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/frames/scapy_reads.py");
    // The package of the system is for the interpreter of the system, which need not be the first on the path.
    let python = ["/usr/bin/python3", "python3"].into_iter().find(|python| {
        Command::new(python).args(["-c", "import scapy"]).output().is_ok_and(|output| output.status.success())
    });
    let Some(python) = python else {
        ask("scapy for python3", &[]);
        return;
    };
    if let Some(said) = ask(python, &[&script.to_string_lossy(), &path.to_string_lossy()]) {
        assert_eq!(said.trim_end(), format!("{} frames agree", samples::ethernet().len()));
    }
}
