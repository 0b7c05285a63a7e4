//! Captures: what `run --pcap` and `pcap` write, and what tshark reads of it.

use crate::program::{SOUND, Scratch, snapshot};
use std::path::Path;
use std::process::Command;

/// What tshark says of every frame: these fields and, always, the check sequence and its complaints. `None` without
/// tshark, which is a failure in CI.
fn tshark(capture: &Path, fields: &[&str]) -> Option<Vec<Vec<String>>> {
    // Most people have no dissector for our header, and nothing may look wrong to them either.
    let alone = tshark_with(capture, &[], false)?;
    assert!(alone.iter().all(|row| row[1..3] == ["", ""]), "without our dissector tshark complains");
    tshark_with(capture, fields, true)
}

/// Wireshark counts the comment of a packet among its messages: that its headers need more octets than were simulated.
fn without_comment(messages: &str) -> &str {
    let comment = messages.strip_prefix("simulated with ").and_then(|rest| rest.split_once("than its headers need"));
    comment.map_or(messages, |(_, rest)| rest.trim_start_matches(','))
}

fn tshark_with(capture: &Path, fields: &[&str], ours: bool) -> Option<Vec<Vec<String>>> {
    let dissector = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../share/wireshark/tailback.lua");
    let always = ["eth.fcs.status", "_ws.malformed", "_ws.expert.message"];
    let mut command = Command::new("tshark");
    command.args(["-n", "-r"]).arg(capture).args([
        "-T",
        "fields",
        "-o",
        "eth.check_fcs:TRUE",
        "-o",
        "ip.check_checksum:TRUE",
    ]);
    // The same segment on two links of a capture looks sent again; its sums are checked all the same.
    command.args(["-o", "tcp.check_checksum:TRUE", "-o", "tcp.analyze_sequence_numbers:FALSE"]);
    if ours {
        command.arg("-X").arg(format!("lua_script:{}", dissector.display()));
    }
    for field in always.iter().chain(fields) {
        command.args(["-e", field]);
    }
    match command.output() {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let said = String::from_utf8_lossy(&output.stdout);
            let row = |line: &str| {
                let mut row: Vec<String> = line.split('\t').map(str::to_owned).collect();
                row[2] = without_comment(&row[2]).to_owned();
                row
            };
            Some(said.lines().map(row).collect())
        }
        Err(error) => {
            let ci = std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false");
            assert!(!ci, "tshark: {error}; 'cargo xtask oracles' installs it");
            eprintln!("SKIPPED: tshark: {error}; 'cargo xtask oracles' installs it, and in CI this is a failure");
            None
        }
    }
}

/// The number of frames that a note speaks of.
fn told(err: &str) -> usize {
    let words: Vec<&str> = err.split_whitespace().collect();
    let place =
        words.windows(3).position(|it| it[1..] == ["frames", "captured"]).unwrap_or_else(|| panic!("no note: {err}"));
    words[place].replace(',', "").parse().expect("a number")
}

#[test]
fn a_run_captures_the_links_it_is_told() {
    let scratch = Scratch::new("pcap-run");
    scratch.file("small.toml", SOUND);
    let said = scratch.run(&["run", "small.toml", "--out", "r", "--pcap", "sw0->h{0..1}", "--pcap", "h0->sw0"]).ends(0);
    let count = told(&said.err);
    let fields = ["frame.interface_name", "macc.opcode", "macc.cbfc.pause_time.c0", "tailback.name", "frame.len"];
    let Some(rows) = tshark(&scratch.path("r/capture.pcapng"), &fields) else { return };
    assert_eq!(rows.len(), count);
    assert!(rows.iter().all(|row| row[..3] == ["1", "", ""]), "no check sequence is bad, and nobody complains");
    let of = |name: &str| rows.iter().filter(|row| row[3] == name).collect::<Vec<_>>();
    let (pauses, data) = (of("sw0->h0"), of("h0->sw0"));
    // The switch sends nothing but PFC to a sender; it stops it and lets it go.
    assert!(pauses.len() > 10 && pauses.iter().all(|row| row[4] == "0x0101" && row[7] == "64"));
    assert!(pauses.iter().any(|row| row[5] == "65535") && pauses.iter().any(|row| row[5] == "0"));
    assert!(data.len() > 300 && data.iter().all(|row| row[6] == "w[0]" || row[6].contains('w')), "{:?}", data[0]);
    assert_eq!(pauses.len() + data.len() + of("sw0->h1").len(), count);
}

#[test]
fn qcn_is_captured_as_the_standard_has_it() {
    let scratch = Scratch::new("pcap-qcn");
    scratch.scenario("qcn.toml");
    let said = scratch
        .run(&["pcap", "qcn.toml", "*->*", "--set", "run.duration=6ms", "--set", "run.warm_up=0s", "-o", "q.pcapng"])
        .ends(0);
    let fields = ["cntag.flow", "cnm.feedback", "cnm.qoffset", "cnm.qdelta", "cnm.cpid", "tailback.kind"];
    let Some(rows) = tshark(&scratch.path("q.pcapng"), &fields) else { return };
    assert_eq!(rows.len(), told(&said.err));
    assert!(rows.iter().all(|row| row[..3] == ["1", "", ""]));
    let notices: Vec<_> = rows.iter().filter(|row| !row[4].is_empty()).collect();
    assert!(notices.len() > 10, "{} notices", notices.len());
    for notice in notices {
        let number = |place: usize| notice[place].parse::<i32>().expect("a number");
        assert!((1..64).contains(&number(4)) && notice[7].starts_with("0x02"), "{notice:?}");
        // Feedback is a growing queue, or one above its set point.
        assert!(number(5) <= 0 || number(6) >= 0, "{notice:?}");
    }
    // Frames of sources that speak the protocol carry the tag.
    assert!(rows.iter().any(|row| row[8] == "0" && !row[3].is_empty()));
}

#[test]
fn infiniband_is_captured_as_packets_and_credits() {
    let scratch = Scratch::new("pcap-infiniband");
    scratch.scenario("infiniband-credits.toml");
    let arguments = ["pcap", "infiniband-credits.toml", "*->*", "--set", "run.duration=200us", "-o", "i.pcapng"];
    let said = scratch.run(&arguments).ends(0);
    let fields = ["infiniband.bth.opcode", "infiniband.lrh.vl", "infiniband_link.fccl", "frame.time_epoch"];
    let Some(rows) = tshark(&scratch.path("i.pcapng"), &fields) else { return };
    assert_eq!(rows.len(), told(&said.err));
    assert!(rows.iter().all(|row| row[..3] == ["", "", ""]));
    let count = |place: usize| rows.iter().filter(|row| !row[place].is_empty()).count();
    assert!(count(3) > 50 && count(5) > 20 && count(3) + count(5) == rows.len(), "{} {}", count(3), count(5));
    assert!(rows.windows(2).all(|pair| pair[0][6] <= pair[1][6]), "times never go back");
}

/// Every kind of frame that flows and switches make, over both media, and nobody complains.
#[test]
fn tshark_reads_acknowledgements_probes_and_credits() {
    let scratch = Scratch::new("pcap-kinds");
    let with = |control: &str, point: &str, protocol: &str| {
        let switches = format!("flow_control = \"{control}\"\ncongestion_point = {{ name = \"{point}\" }}");
        let workload = format!("to = \"h2\"\nacknowledge = {{}}\nprotocol = {{ name = \"{protocol}\" }}");
        let text = SOUND.replace("flow_control = \"pfc\"", &switches).replace("to = \"h2\"", &workload);
        if control == "pfc" { text } else { text.replace(", xoff = \"60KB\", xon = \"57KB\"", "") }
    };
    scratch.file("credits.toml", with("credits", "infiniband-fecn", "infiniband-cc"));
    scratch.file("fecn.toml", with("pfc", "fecn", "fecn"));
    let fields = ["tailback.kind", "infiniband.bth.opcode", "infiniband_link.vl"];
    let count = |rows: &[Vec<String>], place: usize, value: &str| rows.iter().filter(|row| row[place] == value).count();
    for (name, fcs) in [("credits", ""), ("fecn", "1")] {
        let file = format!("{name}.pcapng");
        let said = scratch.run(&["pcap", &format!("{name}.toml"), "*->*", "-o", &file]).ends(0);
        let Some(rows) = tshark(&scratch.path(&file), &fields) else { return };
        assert_eq!(rows.len(), told(&said.err));
        for row in &rows {
            assert_eq!(row[..3], [fcs, "", ""], "{name}: {row:?}");
        }
        if name == "credits" {
            // Data, acknowledgements, credits.
            assert!(count(&rows, 4, "4") > 100 && count(&rows, 4, "17") > 50 && count(&rows, 5, "0") > 100);
        } else {
            // Data, acknowledgements, probes, answers.
            assert!(["0", "1", "2", "3"].iter().all(|kind| count(&rows, 3, kind) > 0));
        }
    }
}

/// RoCEv2 for go-back-N with DCQCN, TCP for selective acknowledgements, with the default sizes of replies: no sum is wrong,
/// and nobody complains.
#[test]
fn tshark_reads_rocev2_and_tcp() {
    let scratch = Scratch::new("pcap-connections");
    scratch.scenario("roce-incast.toml");
    scratch.scenario("mixed-recovery.toml");
    let sums = ["ip.checksum.status", "tcp.checksum.status"];
    let short = ["--set", "run.duration=300us", "--set", "run.warm_up=0s", "-o"];
    let arguments: Vec<&str> =
        ["pcap", "roce-incast.toml", "leaf0->h0", "h0->leaf0"].into_iter().chain(short).chain(["r.pcapng"]).collect();
    let said = scratch.run(&arguments).ends(0);
    let fields = ["ip.dsfield.ecn", "udp.dstport", "infiniband.bth.opcode", "infiniband.aeth.msn", "vlan.priority"];
    let Some(rows) = tshark(&scratch.path("r.pcapng"), &[&fields[..], &sums].concat()) else { return };
    assert_eq!(rows.len(), told(&said.err));
    assert!(rows.iter().all(|row| row[..3] == ["1", "", ""]), "no check sequence is bad, and nobody complains");
    let roce: Vec<_> = rows.iter().filter(|row| row[4] == "4791").collect();
    assert!(roce.iter().all(|row| row[8] == "1" && !row[7].is_empty()));
    let count = |opcode: &str| roce.iter().filter(|row| row[5] == opcode).count();
    // First and middle of messages, acknowledgements with their extended header, congestion notifications.
    assert!(["0", "1", "17", "129"].iter().all(|opcode| count(opcode) > 0), "{:?}", roce.first());
    assert!(roce.iter().all(|row| (row[5] == "17") != row[6].is_empty()));
    assert!(roce.iter().any(|row| row[3] == "3") && roce.iter().any(|row| row[3] == "2"), "marked and not");
    let arguments: Vec<&str> =
        ["pcap", "mixed-recovery.toml", "*->*"].into_iter().chain(short).chain(["t.pcapng"]).collect();
    scratch.run(&arguments).ends(0);
    let Some(rows) = tshark(&scratch.path("t.pcapng"), &[&["tcp.srcport", "tcp.ack_raw"], &sums[..]].concat()) else {
        return;
    };
    let tcp: Vec<_> = rows.iter().filter(|row| !row[3].is_empty()).collect();
    assert!(tcp.len() > 100 && tcp.iter().all(|row| row[5..7] == ["1", "1"]), "{:?}", tcp.first());
}

/// The stamps of telemetry are in data frames and in the acknowledgements that return them, and headers that go back to
/// their source have a name.
#[test]
fn tshark_reads_stamps_and_returned_headers() {
    let scratch = Scratch::new("pcap-stamps");
    scratch.scenario("roce-incast.toml");
    scratch.scenario("ndp-incast.toml");
    let fields = ["infiniband.bth.opcode", "tailback.kind", "tailback.stamp"];
    let controlled = ["--set", "protocol=hpcc", "--set", "run.duration=300us", "--set", "run.warm_up=0s"];
    let arguments = ["pcap", "roce-incast.toml", "leaf0->h0", "h0->leaf0", "-o", "s.pcapng"];
    scratch.run(&[&arguments[..], &controlled].concat()).ends(0);
    let Some(rows) = tshark(&scratch.path("s.pcapng"), &fields) else { return };
    assert!(rows.iter().all(|row| row[..3] == ["1", "", ""]));
    let stamped = |opcode: &str, kind: &str| {
        rows.iter().filter(|row| row[3] == opcode && row[4] == kind && !row[5].is_empty()).count()
    };
    assert!(stamped("1", "0") > 0 && stamped("17", "9") > 0, "{:?}", rows.first());
    let point = "switches[0].congestion_points[0].return_to_sender=true";
    let few = ["--set", "switches[0].buffers[1].capacity=1KB", "--set", point, "--set", "workloads[0].size=50KB"];
    let arguments = ["pcap", "ndp-incast.toml", "*->*", "-o", "n.pcapng"];
    scratch.run(&[&arguments[..], &few].concat()).ends(0);
    let Some(rows) = tshark(&scratch.path("n.pcapng"), &["tailback.kind", "_ws.col.Info"]) else { return };
    let returned: Vec<_> = rows.iter().filter(|row| row[3] == "14").collect();
    assert!(
        !returned.is_empty() && returned.iter().all(|row| row[4].starts_with("header returned to its source of flow"))
    );
}

/// What was recorded is run again, and must come out the same.
#[test]
fn results_are_run_again_for_their_frames() {
    let scratch = Scratch::new("pcap-results");
    scratch.file("small.toml", SOUND);
    let change = ["--set", "run.duration=200us", "--seed", "7"];
    scratch.run(&[&["run", "small.toml", "--out", "r", "--quiet", "--pcap", "h0->sw0"], &change[..]].concat()).ends(0);
    scratch.run(&["pcap", "r", "h0->sw0", "-o", "again.pcapng", "--quiet", "--threads", "2"]).ends(0);
    let read = |name: &str| std::fs::read(scratch.path(name)).expect("it is there");
    assert!(read("r/capture.pcapng") == read("again.pcapng"));
    scratch.run(&["pcap", "r", "h0->sw0", "-o", "again.pcapng"]).ends(2).matches("pcap-exists");
    scratch.run(&["pcap", "r", "h0->sw0", "-o", "again.pcapng", "--overwrite", "--quiet"]).ends(0);
    scratch.run(&["pcap", "r", "h0->sw0", "--seed", "8"]).ends(2).matches("pcap-seed");
    scratch.run(&["pcap", "r", "h0->h1"]).ends(2).matches("pcap-no-link");
    scratch.run(&["pcap", "r", "h0"]).ends(2).matches("pcap-no-direction");
    // From the copy among the results, whatever has become of the file.
    scratch.file("small.toml", SOUND.replace("60KB", "61KB"));
    scratch.run(&["pcap", "r", "h0->sw0", "-o", "again.pcapng", "--overwrite", "--quiet"]).ends(0);
    assert!(read("r/capture.pcapng") == read("again.pcapng"));
    scratch.file("r/input-0.toml", SOUND.replace("60KB", "61KB"));
    scratch.run(&["pcap", "r", "h0->sw0", "-o", "changed.pcapng"]).ends(2).matches("pcap-changed");
    assert_eq!(scratch.names("."), ["again.pcapng", "r", "small.toml"]);
}

#[test]
fn a_capture_needs_a_place() {
    let scratch = Scratch::new("pcap-place");
    scratch.file("small.toml", SOUND);
    scratch.run(&["run", "small.toml", "--no-record", "--pcap", "sw0->h0"]).ends(2);
    let said = scratch.run(&["pcap", "small.toml", "sw0->h0", "-o", "nowhere/x.pcapng"]).ends(2);
    snapshot("pcap-nowhere", &said.err);
}

/// The copy of a list of flows may be larger than a scenario.
#[test]
fn a_run_of_a_long_list_is_run_again() {
    let scratch = Scratch::new("capture-list");
    let listed = SOUND.replace("kind = \"greedy\"", "kind = \"flows\"\nfile = \"list.csv\"");
    let listed = listed.replace("from = [\"h0\", \"h1\"]\nto = \"h2\"\n", "");
    let lines = "\n".repeat(files::LARGEST_SCENARIO as usize);
    scratch.file("list.csv", format!("source,destination,bytes,start\nh0,h2,3000,0s\n{lines}")).file("a.toml", listed);
    scratch.run(&["run", "a.toml", "-q", "--out", "r"]).ends(0);
    scratch.run(&["pcap", "r", "sw0->h2", "-q", "-o", "a.pcapng"]).ends(0);
}
