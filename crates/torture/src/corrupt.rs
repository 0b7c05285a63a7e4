//! Damaged results: every reader fails cleanly, or gives what it gives for the whole ones.

use crate::kind::{Setting, Tally};
use crate::program::{Program, Said};
use crate::random::Random;
use std::path::{Path, PathBuf};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(30);

/// A run with every table and every attachment that a run has.
pub(crate) const SCENARIO: &str = r#"schema_version = 1
name = "damaged"
[network]
topology = "single-switch"
hosts = 4
link = { rate = "10Gb/s", latency = "500ns", bit_error_rate = 1e-6 }
[[switches]]
flow_control = "pfc"
occupancy = true
buffers = { capacity = "120KB" }
[protocol]
name = "qcn"
[congestion_point]
name = "qcn"
[[workloads]]
name = "many"
kind = "greedy"
from = ["h0", "h1", "h2"]
to = "h3"
[[workloads]]
name = "few"
kind = "paced"
rate = "1Gb/s"
gaps = "exponential"
backlog = 20
from = "h3"
to = "h0"
[run]
duration = "300us"
[[expectations]]
name = "share"
metric = "throughput"
of = "many"
value = "3Gb/s"
tolerance = 0.9
"#;

/// What a reader gives.
type Given = Result<Vec<(String, Vec<u8>)>, i32>;

struct Reader {
    name: &'static str,
    read: fn(&Program, &Path, &Path) -> Result<Given, String>,
}

const READERS: [Reader; 5] = [
    Reader { name: "csv", read: |program, at, out| given(program, at, &["csv", "r", "--out", "out"], out) },
    Reader { name: "plot", read: |program, at, out| given(program, at, &["plot", "r", "--out", "out"], out) },
    Reader { name: "report", read: |program, at, out| given(program, at, &["report", "r", "-o", "out"], out) },
    Reader { name: "why", read: |program, at, out| given(program, at, &["why", "r"], out) },
    Reader { name: "diff", read: |program, at, out| given(program, at, &["diff", "whole", "r"], out) },
];

fn files(path: &Path) -> Vec<(String, Vec<u8>)> {
    if path.is_file() {
        return vec![("out".into(), std::fs::read(path).unwrap_or_default())];
    }
    crate::names(path)
        .into_iter()
        .map(|name| (name.clone(), std::fs::read(path.join(&name)).unwrap_or_default()))
        .collect()
}

fn given(program: &Program, at: &Path, arguments: &[&str], out: &Path) -> Result<Given, String> {
    let clear = || {
        let _ = std::fs::remove_dir_all(out);
        let _ = std::fs::remove_file(out);
    };
    clear();
    let said: Said = program.run(at, arguments, LIMIT)?;
    let code = said.clean().map_err(|what| format!("tailback {}: {what}", arguments.join(" ")))?;
    let mut files = files(out);
    clear();
    files.push(("standard output".into(), said.out.into_bytes()));
    Ok(if code == 0 { Ok(files) } else { Err(code) })
}

pub(crate) fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for name in crate::names(from) {
        let (from, to) = (from.join(&name), to.join(&name));
        if from.is_dir() {
            copy(&from, &to)?;
        } else {
            std::fs::copy(&from, &to)?;
        }
    }
    Ok(())
}

/// Damages one file, in one of several ways, and says how.
fn damage(result: &Path, random: &mut Random) -> std::io::Result<(String, String)> {
    let all: Vec<String> = crate::names(result).into_iter().filter(|name| result.join(name).is_file()).collect();
    let tables: Vec<String> = all.iter().filter(|name| name.ends_with(".parquet")).cloned().collect();
    let name = if random.percent(75) { random.of(&tables) } else { random.of(&all) }.clone();
    let path: PathBuf = result.join(&name);
    let mut octets = std::fs::read(&path)?;
    let how = match random.below(10) {
        0 => {
            octets.truncate(random.index(octets.len()));
            format!("truncated to {} octets", octets.len())
        }
        1 => {
            let from = random.index(octets.len());
            let until = (from + 1 + random.index(64)).min(octets.len());
            octets[from..until].fill(0);
            format!("octets {from} to {until} zeroed")
        }
        2 => {
            let other = random.of(&tables).clone();
            octets = std::fs::read(result.join(&other))?;
            format!("replaced by {other}")
        }
        3 => {
            octets.extend(b"more");
            "four octets more".into()
        }
        _ => {
            let at = random.index(octets.len());
            let bit = random.below(8);
            octets[at] ^= 1 << bit;
            format!("bit {bit} of octet {at} flipped")
        }
    };
    std::fs::write(&path, octets)?;
    Ok((name, how))
}

/// One result, damaged several times.
pub(crate) fn attack(setting: &Setting, number: u64, folder: &Path, tally: &mut Tally) -> Result<(), String> {
    let mut random = Random::new(setting.seed, number, "corruption");
    let io = |error: std::io::Error| error.to_string();
    let program = &setting.program;
    std::fs::write(folder.join("scenario.toml"), SCENARIO).map_err(io)?;
    let seed = number.to_string();
    let run = ["run", "scenario.toml", "--seed", &seed, "--out", "whole", "--why", "--quiet"];
    program.run(folder, &run, LIMIT)?.clean()?;
    let (whole, result, out) = (folder.join("whole"), folder.join("r"), folder.join("out"));
    copy(&whole, &result).map_err(io)?;
    let mut sound = Vec::new();
    for reader in &READERS {
        sound.push((reader.read)(program, folder, &out)?);
    }
    for _ in 0..6 {
        std::fs::remove_dir_all(&result).map_err(io)?;
        copy(&whole, &result).map_err(io)?;
        let (name, how) = damage(&result, &mut random).map_err(io)?;
        tally.count("damages", 1);
        let unchanged =
            std::fs::read(result.join(&name)).map_err(io)? == std::fs::read(whole.join(&name)).map_err(io)?;
        for (reader, sound) in READERS.iter().zip(&sound) {
            let what = |words: &str| format!("{name}, {how}: {} {words}", reader.name);
            let given = (reader.read)(program, folder, &out).map_err(|error| what(&error))?;
            match (&given, sound) {
                (Ok(given), Ok(sound)) if given == sound => {
                    tally.count("read the same", 1);
                    if reader.name == "diff" && name.ends_with(".parquet") && !unchanged {
                        return Err(what("finds no difference"));
                    }
                }
                (Ok(_), Ok(_)) => return Err(what("ends with 0 and gives something else")),
                (Err(_), _) => tally.count("refused", 1),
                (Ok(_), Err(_)) => return Err(what("succeeds on a damaged result alone")),
            }
        }
    }
    Ok(())
}
