//! kill -9 at any instant: every visible file is whole or absent, and the same command again ends where it would have.

use crate::corrupt::copy;
use crate::kind::{Setting, Tally};
use crate::program::Program;
use crate::random::Random;
use crate::runs::{same_files, steady};
use results::document::{Document, Sweep};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(120);
/// Kills before the command is left to end.
const KILLS: u64 = 3;

const SCENARIO: &str = r#"schema_version = 1
name = "killed"
[network]
topology = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 3
link = { rate = "10Gb/s", latency = "500ns" }
[[switches]]
flow_control = "pfc"
buffers = { capacity = "200KB" }
[[workloads]]
name = "w"
kind = "uniform-random"
rate = "6Gb/s"
gaps = "exponential"
backlog = 30
[run]
duration = "600us"
[[expectations]]
name = "t"
metric = "throughput"
of = "w"
"#;

const PAPER: &str = "title = \"A paper\"\n";
const FIGURE: &str = "[[variants]]\nname = \"slow\"\nset = { \"workloads[w].rate\" = \"1Gb/s\" }\n[[variants]]\nname = \"fast\"\n\
                      set = { \"workloads[w].rate\" = \"5Gb/s\" }\n[[trends]]\nquantity = \"t\"\nalong = \"variant\"\nshape = \"rising\"\n";

/// The commands that are killed; each leaves what it makes in `out`.
const COMMANDS: [&[&str]; 11] = [
    &["run", "s.toml", "--out", "out", "--csv", "--plot", "--pcap", "leaf0->h0", "--quiet"],
    &["run", "s.toml", "--out", "out", "--overwrite", "--csv", "--quiet"],
    &[
        "sweep",
        "s.toml",
        "--axis",
        "workloads[w].rate=1Gb/s,3Gb/s,5Gb/s",
        "--replications",
        "2",
        "--out",
        "out",
        "--threads",
        "2",
    ],
    &["compare", "s.toml", "--protocols", "none,qcn", "--out", "out", "--threads", "2"],
    &["compare", "s.toml", "--protocols", "none,qcn", "--out", "out", "--threads", "2", "--overwrite"],
    &["reproduce", "p", "--papers", "papers", "--out", "out", "--threads", "2"],
    &["pcap", "s.toml", "leaf0->h0", "-o", "out"],
    &["report", "r", "-o", "out"],
    &["run", "s.toml", "--save-at", "400us", "--out", "out", "--quiet"],
    &[
        "tune",
        "s.toml",
        "--vary",
        "workloads[w].rate=1Gb/s..6Gb/s",
        "--maximise",
        "w: throughput",
        "--candidates",
        "4",
        "--replications",
        "2",
        "--out",
        "out",
        "--threads",
        "2",
    ],
    &["faults", "s.toml", "--kind", "link-fails", "--among", "leaf0", "--out", "out", "--threads", "2"],
];

fn prepare(folder: &Path, seed: u64) -> std::io::Result<()> {
    let scenario =
        SCENARIO.replace("duration = \"600us\"", &format!("duration = \"600us\"\nseed = {seed}\nreplications = 2"));
    std::fs::write(folder.join("s.toml"), &scenario)?;
    std::fs::create_dir_all(folder.join("papers/p"))?;
    std::fs::write(folder.join("papers/p/paper.toml"), PAPER)?;
    std::fs::write(folder.join("papers/p/fig1.toml"), format!("{scenario}{FIGURE}"))
}

/// Ends a process whatever it is doing.
fn kill_after(program: &Program, folder: &Path, arguments: &[&str], after: Duration) -> Result<bool, String> {
    let mut child = program.start(folder, arguments)?;
    let start = Instant::now();
    while start.elapsed() < after {
        if child.try_wait().map_err(|error| error.to_string())?.is_some() {
            return Ok(false);
        }
        if program.until.is_some_and(|until| Instant::now() > until) {
            break;
        }
        std::thread::sleep(Duration::from_micros(500));
    }
    let killed = child.try_wait().map_err(|error| error.to_string())?.is_none();
    let _ = child.kill();
    child.wait().map_err(|error| error.to_string())?;
    Ok(killed)
}

/// Whether a name is one that says itself that it is not whole.
fn unfinished(name: &str) -> bool {
    name.contains(".partial") || name.contains(".replaced") || name.starts_with('.') || name.ends_with(".lock")
}

/// Every visible file that is there is the one of the undisturbed command.
pub(crate) fn whole(sound: &Path, here: &Path) -> Result<(), String> {
    if here.is_file() {
        return same_file(sound, here);
    }
    for name in crate::names(here).iter().filter(|name| !unfinished(name)) {
        whole(&sound.join(name), &here.join(name))?;
    }
    Ok(())
}

fn same_file(sound: &Path, here: &Path) -> Result<(), String> {
    let read = |path: &Path| std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
    let (left, right) = (read(sound)?, read(here)?);
    let name = here.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match name.ends_with(".json") || left == right {
        // What the clock says differs; a file of JSON must at least be whole.
        true if name.ends_with(".json") => {
            json_whole(&left, &right).map_err(|what| format!("{}: {what}", here.display()))
        }
        true => Ok(()),
        false => Err(format!("{} is not whole: {} octets of {}", here.display(), right.len(), left.len())),
    }
}

fn json_whole(sound: &[u8], here: &[u8]) -> Result<(), String> {
    let text = |octets: &[u8]| String::from_utf8_lossy(octets).into_owned();
    let (sound, here) = (text(sound), text(here));
    // A paper is counted when all its figures are done; until then its list says that it is not.
    let uncounted = here.contains("\n  \"count\": null,\n") && here.ends_with("\n}\n");
    // A sweep lists its tables when they are written; until then its list is empty. Its hash tells that it is whole.
    let unlisted = here.contains("\n  \"files\": [],\n") && Sweep::from_text(&here, Path::new(Sweep::FILE)).is_ok();
    if uncounted || unlisted || steady(&sound) == steady(&here) {
        Ok(())
    } else {
        Err("is not whole, or another".into())
    }
}

pub(crate) fn attack(setting: &Setting, number: u64, folder: &Path, tally: &mut Tally) -> Result<(), String> {
    let mut random = Random::new(setting.seed, number, "kill");
    let io = |error: std::io::Error| error.to_string();
    let program = &setting.program;
    let arguments = COMMANDS[(number % COMMANDS.len() as u64) as usize];
    let sound: PathBuf = folder.join("sound");
    let here: PathBuf = folder.join("here");
    for place in [&sound, &here] {
        std::fs::create_dir_all(place).map_err(io)?;
        prepare(place, 1 + number).map_err(io)?;
    }
    if arguments[0] == "report" {
        program.run(&sound, &["run", "s.toml", "--out", "r", "--quiet"], LIMIT)?.clean()?;
        copy(&sound.join("r"), &here.join("r")).map_err(io)?;
    }
    let start = Instant::now();
    let code = program.run(&sound, arguments, LIMIT)?.clean()?;
    let took = start.elapsed();
    if arguments.contains(&"--overwrite") {
        // There is an older result to be replaced.
        let older: &[&str] = match arguments[0] {
            "compare" => &["compare", "s.toml", "--protocols", "none", "--set", "run.seed=77", "--out", "out"],
            _ => &["run", "s.toml", "--out", "out", "--seed", "77", "--quiet"],
        };
        program.run(&here, older, LIMIT)?.clean()?;
        copy(&here.join("out"), &folder.join("old")).map_err(io)?;
    }
    for _ in 0..KILLS {
        let after = took.mul_f64(random.below(1000) as f64 / 1100.0);
        let killed = kill_after(program, &here, arguments, after)?;
        tally.count(if killed { "killed" } else { "ended before" }, 1);
        let what = |error: String| format!("tailback {} killed after {after:?}: {error}", arguments.join(" "));
        let out = here.join("out");
        let old = folder.join("old");
        // An older comparison is locked while it is replaced.
        let _ = std::fs::remove_file(out.join("compare.partial.lock"));
        if old.exists() && same_files(&old, &out).is_ok() {
            continue;
        }
        if old.exists() && !out.exists() {
            // Between two renames; whoever looks next moves the old result back.
            let run = if arguments[0] == "compare" { "out/none" } else { "out" };
            program.run(&here, &["csv", run, "--out", "c"], LIMIT)?.clean().map_err(what)?;
        }
        if !(old.exists() && same_files(&old, &out).is_ok()) {
            whole(&sound.join("out"), &out).map_err(what)?;
        }
        if !killed && !arguments.contains(&"--overwrite") {
            // It is done, and would refuse to be done again: something else must be there to be killed.
            let _ = (std::fs::remove_dir_all(&out), std::fs::remove_file(&out));
        }
    }
    // Again: a run starts over; a sweep goes on, and a comparison that is not complete.
    let mut again = arguments.to_vec();
    if arguments[0] == "report" {
        let _ = std::fs::remove_file(here.join("out"));
    }
    let starts_over = match arguments[0] {
        "run" | "pcap" => true,
        "compare" => here.join("out/compare.json").exists(),
        _ => false,
    };
    if starts_over && !again.contains(&"--overwrite") {
        again.push("--overwrite");
    }
    let last = program.run(&here, &again, LIMIT)?;
    let ended = last.clean().map_err(|what| format!("tailback {} again: {what}", again.join(" ")))?;
    if ended != code {
        return Err(format!("tailback {} again: exit code {ended}, undisturbed {code}: {}", again.join(" "), last.err));
    }
    let (a, b) = (sound.join("out"), here.join("out"));
    if std::fs::read_to_string(b.join("p/paper.json")).is_ok_and(|paper| paper.contains("\"count\": null")) {
        return Err(format!("tailback {} again leaves a paper that is not counted", again.join(" ")));
    }
    whole(&a, &b).and_then(|()| whole(&b, &a)).map_err(|what| format!("tailback {} again: {what}", again.join(" ")))?;
    let left: Vec<String> = leftovers(&here);
    if !left.is_empty() {
        return Err(format!("tailback {} again leaves {left:?}", again.join(" ")));
    }
    tally.count("resumed the same", 1);
    Ok(())
}

/// What is not whole and stays.
fn leftovers(folder: &Path) -> Vec<String> {
    let mut left = Vec::new();
    for name in crate::names(folder) {
        if name.contains(".partial") || name.contains(".replaced") {
            left.push(name.clone());
        }
        left.extend(leftovers(&folder.join(&name)));
    }
    left
}
