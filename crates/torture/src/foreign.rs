//! Mutated files of other simulators, and lists of flows: converted, loaded and run for a moment, or refused in words.

use crate::kind::{Setting, Tally};
use crate::mutate::{PATIENCE, in_words, number, scramble, survive};
use crate::random::Random;
use crate::scenario::{Files, NAME};
use scenario::Errors;
use scenario::import::chakra::{self, NamedBytes};
use scenario::import::{Imported, NamedText, goal, hpcc, htsim};
use std::path::Path;

const FLOWS: &str = "out.flows.csv";

const HPCC: [(&str, &str); 3] = [
    ("topology.txt", "4 1 3\n3\n0 3 25Gbps 1us 0\n1 3 25000000000.0 0.001ms 0\n2 3 25Gbps 1us 0\n"),
    ("flow.txt", "2\n0 2 3 100 100000 2\n1 2 3 100 100000 2.00001\nsrc dst\n"),
    (
        "config.txt",
        "CC_MODE 8\nEWMA_GAIN 0.0625\nDCTCP_RATE_AI 615Mb/s\nL2_ACK_INTERVAL 1\nVAR_WIN 1\nRATE_BOUND 0\nKMAX_MAP 1 \
         25000000000 75\nKMIN_MAP 1 25000000000 75\nPMAX_MAP 1 25000000000 1.0\nBUFFER_SIZE 16\nLINK_DOWN 0 0 0\n",
    ),
];
const HTSIM: [(&str, &str); 2] = [
    (
        "a.cm",
        "Nodes 16\nConnections 3\nTriggers 1\n0->13 id 1 start 0 size 20000\n13->0 id 2 start 1000 size 1000 \
         send_done_trigger 1\n0->5 id 3 trigger 1 size 5000\ntrigger id 1 oneshot\n",
    ),
    (
        "a.topo",
        "Nodes 32\nTiers 2\nPodsize 32\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 8\nRadix_Up 2\nDownlink_Latency_ns \
         1000\nSwitch_Latency_ns 50\nOversubscribed 4\nTier 1\nDownlink_speed_Gbps 100\nRadix_Down 4\nDownlink_Latency_ns \
         2000\n",
    ),
];
const GOAL: &str = "num_ranks 4\nrank 0 {\nl1: send 1024b to 1 tag 7\nl2: calc 100\nl3: send 10b to 2\nl2 requires l1\nl3 \
                    requires l2\n}\n/* the others\nanswer */\nrank 1 {\nl1: recv 1024b from 0 tag 7 // first\nc: calc 50 cpu \
                    1\nl2: send 2048b to 3 tag 1 cpu 0 nic 0\nc requires l1\nl2 requires c\n}\nrank 2 {\na: recv 10b from \
                    0\n}\nrank 3 { l9: recv 2048b from -1 tag -1; s: send 1b to 0 tag 9\ns irequires l9\n}\n";
const GROUPS: &str = "{\"0\": [0, 1, 2], \"1\": [1, 2]}\n";

/// Words that are extreme, odd, or have a meaning in one of the formats.
const WORDS: [&str; 30] = [
    "0",
    "-1",
    "1",
    "4294967296",
    "18446744073709551615",
    "1e308",
    "nan",
    "inf",
    "0.1",
    "x",
    "{",
    "}",
    "->",
    "0->0",
    ":",
    ";",
    "//",
    "/*",
    "\"",
    ",",
    "[",
    "\u{1b}[2J",
    "\0",
    "=1+1",
    "requires",
    "irequires",
    "trigger",
    "rank",
    "99999999b",
    "1Gbps",
];

/// One file, damaged.
fn damaged(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..random.below(4) {
        if lines.is_empty() {
            break;
        }
        let (at, other) = (random.index(lines.len()), random.index(lines.len()));
        match random.below(8) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[other].clone()),
            2 => lines.swap(at, other),
            3 => lines.truncate(at),
            4 | 5 => lines[at] = number(&lines[at], random),
            _ => {
                let mut words: Vec<&str> = lines[at].split(' ').collect();
                let place = random.index(words.len());
                words[place] = *random.of(&WORDS);
                lines[at] = words.join(if random.percent(90) { " " } else { "\t" });
            }
        }
    }
    lines.join("\n") + "\n"
}

/// A trace of Chakra: an all-reduce of 3000 B, and another after it and some computation.
fn trace() -> Vec<u8> {
    let attribute = |name: &[u8; 9], value: &[u8]| {
        let content = [&[0x0a, 9][..], name, &[0x48], value].concat();
        [&[0x52, content.len() as u8], &content[..]].concat()
    };
    let all_reduce = [attribute(b"comm_type", &[0]), attribute(b"comm_size", &[0xb8, 0x17])].concat();
    let first = [&[0x08, 1, 0x18, 7][..], &all_reduce].concat();
    let compute = vec![0x08, 2, 0x18, 4, 0x20, 1, 0x38, 5];
    let second = [&[0x08, 3, 0x18, 7, 0x20, 2][..], &all_reduce].concat();
    let messages = [vec![0x0a, 5, b'0', b'.', b'0', b'.', b'4'], first, compute, second];
    messages.iter().flat_map(|message| [&[message.len() as u8], &message[..]].concat()).collect()
}

/// A conversion: the files, the words of the command that converts them, and what it came to here.
struct Conversion {
    files: Vec<(String, Vec<u8>)>,
    command: Vec<String>,
    result: Result<Imported, Errors>,
}

fn convert(random: &mut Random) -> Conversion {
    let text = |(name, text): (&str, &str), random: &mut Random| (name.to_owned(), damaged(text, random));
    fn named((name, text): &(String, String)) -> NamedText<'_> {
        NamedText { name, text }
    }
    let control = *random.of(&[None, Some("ndp"), Some("eqds"), Some("hpcc"), Some("nscc"), Some("rccc")]);
    let topology = random.percent(50).then(|| text(HTSIM[1], random));
    let (name, flows_file) = ("out", FLOWS);
    let (mut files, mut command) = (Vec::new(), Vec::new());
    let result = match random.below(4) {
        0 => {
            let [topology, flows, config] = HPCC.map(|file| text(file, random));
            let options = hpcc::Options { name, flows_file, control: None };
            let result = hpcc::import(named(&topology), named(&flows), Some(named(&config)), &options);
            command.extend(["hpcc", "topology.txt", "flow.txt", "--config", "config.txt"].map(str::to_owned));
            files.extend([topology, flows, config]);
            result
        }
        1 => {
            let matrix = text(HTSIM[0], random);
            let options = htsim::Options { name, flows_file, micros: false, control, options: None };
            let result = htsim::import(named(&matrix), topology.as_ref().map(named), &options);
            command.extend(["htsim", "a.cm"].map(str::to_owned));
            files.push(matrix);
            result
        }
        2 => {
            let schedule = text(("a.goal", GOAL), random);
            let options = goal::Options { name, flows_file, control };
            let result = goal::import(named(&schedule), topology.as_ref().map(named), &options);
            command.extend(["goal", "a.goal"].map(str::to_owned));
            files.push(schedule);
            result
        }
        _ => return convert_trace(random, control, topology),
    };
    let is_htsim = command[0] != "hpcc";
    command
        .extend(control.filter(|_| is_htsim).into_iter().flat_map(|control| ["--control", control]).map(str::to_owned));
    if let Some(topology) = topology.filter(|_| is_htsim) {
        command.extend(["--topo", "a.topo"].map(str::to_owned));
        files.push(topology);
    }
    let files = files.into_iter().map(|(name, text)| (name, text.into_bytes())).collect();
    Conversion { files, command, result }
}

fn convert_trace(random: &mut Random, control: Option<&str>, topology: Option<(String, String)>) -> Conversion {
    let mut files: Vec<(String, Vec<u8>)> = (0..3).map(|rank| (format!("t.{rank}.et"), trace())).collect();
    scramble(&mut files[random.index(3)].1, random);
    let traces: Vec<NamedBytes<'_>> = files.iter().map(|(name, bytes)| NamedBytes { name, bytes }).collect();
    let groups = random.percent(30).then(|| damaged(GROUPS, random));
    let all_reduce = *random.of(&chakra::algorithms());
    let options = chakra::Options { name: "out", flows_file: FLOWS, all_reduce, control };
    let named = |name: &'static str| move |text| NamedText { name, text };
    let result = chakra::import(
        &traces,
        groups.as_deref().map(named("groups.json")),
        topology.as_ref().map(|(_, text)| &**text).map(named("a.topo")),
        &options,
    );
    let mut command: Vec<String> =
        ["chakra", "t.0.et", "t.1.et", "t.2.et", "--all-reduce", all_reduce].map(str::to_owned).into();
    command.extend(control.into_iter().flat_map(|control| ["--control", control]).map(str::to_owned));
    for (option, name, text) in
        [("--groups", "groups.json", groups), ("--topo", "a.topo", topology.map(|(_, text)| text))]
    {
        if let Some(text) = text {
            command.extend([option, name].map(str::to_owned));
            files.push((name.to_owned(), text.into_bytes()));
        }
    }
    Conversion { files, command, result }
}

/// One conversion of mutated files.
pub(crate) fn attack(setting: &Setting, random: &mut Random, folder: &Path, tally: &mut Tally) -> Result<(), String> {
    let Conversion { files, command, result } = convert(random);
    tally.count("conversions", 1);
    let accepted = result.is_ok();
    match result {
        Err(errors) => in_words(&errors)?,
        Ok(imported) => {
            let mut scenario = Files::default();
            scenario.0.insert(NAME.into(), imported.scenario);
            // The list of flows may have been edited.
            let flows = if random.percent(60) { damaged(&imported.flows, random) } else { imported.flows };
            scenario.0.insert(FLOWS.into(), flows);
            survive(&scenario, tally).inspect_err(|_| drop(scenario.store(folder)))?;
        }
    }
    if !random.percent(10) {
        return Ok(());
    }
    for (name, octets) in &files {
        std::fs::write(folder.join(name), octets).map_err(|error| error.to_string())?;
    }
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    let import = [&["import"], &words[..], &["-o", "out.toml"]].concat();
    let said = setting.program.run(folder, &import, PATIENCE)?;
    let what = |what: String| format!("tailback {}: {what}", import.join(" "));
    tally.count("by the program", 1);
    match said.clean().map_err(what)? {
        // A scenario that the conversion here allows may be too large.
        2 => Ok(()),
        0 if accepted => {
            let said = setting.program.run(folder, &["check", "out.toml"], PATIENCE)?;
            said.clean().map(drop).map_err(|what| format!("tailback check of what was imported: {what}"))
        }
        code => Err(what(format!("exit code {code}: {}", said.err))),
    }
}
