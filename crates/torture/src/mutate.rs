//! Mutated inputs: scenarios, the files they name, papers, files of other simulators, configurations of switches and frames.
//! They are refused in words, or survived.

use crate::effort::Effort;
use crate::kind::{Setting, Tally};
use crate::random::Random;
use crate::scenario::{Files, NAME, SMALL, quoted, targets};
use fabric::{BuildOptions, RunLimits, Simulation};
use scenario::{FileReader, check, explain, load_paper, load_str};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;
use units::{Span, Time};

// The tests of these crates, and the fuzzer, put the same through the same.
#[path = "../../control/tests/agents/survive.rs"]
mod agents;
#[path = "../../control/tests/agents/survive_isis.rs"]
mod bridges;
#[path = "../../wire/tests/frames/everything.rs"]
mod frames;

/// A small input that takes longer is a finding.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// One mutated input.
pub(crate) fn attack(setting: &Setting, number: u64, folder: &Path, tally: &mut Tally) -> Result<(), String> {
    let mut random = Random::new(setting.seed, number, "mutation");
    let effort = Effort::of_this_thread();
    let done = catch_unwind(AssertUnwindSafe(|| match random.below(20) {
        0 => octets(setting, &mut random, tally),
        1 => distribution(&mut random, tally),
        2 => paper(setting, &mut random, folder, tally),
        3 => crate::configurations::attack(&setting.project, &mut random, tally, in_words),
        4 | 5 => crate::foreign::attack(setting, &mut random, folder, tally),
        _ => text(setting, number, &mut random, folder, tally),
    }));
    match done {
        Ok(Ok(())) if effort.exceeds(PATIENCE) => Err(format!("took {:.0} s", effort.elapsed().as_secs_f64())),
        Ok(done) => done,
        Err(panic) => Err(format!("panicked: {}", crate::words_of(&*panic))),
    }
}

/// Frames, and histories of agents and bridges.
fn octets(setting: &Setting, random: &mut Random, tally: &mut Tally) -> Result<(), String> {
    let seeds = setting.project.join("fuzz/seeds/frame");
    let names = crate::names(&seeds);
    for _ in 0..200 {
        let mut octets = match random.percent(70) && !names.is_empty() {
            true => std::fs::read(seeds.join(random.of(&names))).map_err(|error| error.to_string())?,
            false => (0..random.below(300)).map(|_| random.below(256) as u8).collect(),
        };
        scramble(&mut octets, random);
        frames::survive(&octets);
        agents::survive(&octets);
        bridges::survive(&octets);
        tally.count("frames", 1);
    }
    Ok(())
}

/// Damages some octets.
pub(crate) fn scramble(octets: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..1 + random.below(6) {
        match (random.below(4), octets.len()) {
            (_, 0) => octets.push(0),
            (0, length) => octets.truncate(random.index(length)),
            (1, length) => octets.insert(random.index(length), random.below(256) as u8),
            (2, length) => octets[random.index(length)] ^= 1 << random.below(8),
            (_, length) => octets[random.index(length)] = *random.of(&[0, 1, 0x7F, 0x80, 0xFF]),
        }
    }
}

/// A CDF file.
fn distribution(random: &mut Random, tally: &mut Tally) -> Result<(), String> {
    let words =
        ["0", "1", "-1", "1e300", "nan", "inf", "#", "0.5", "1e15", "1e16", "\u{fc}", "\0", "x", "1500", " ", "\t"];
    let mut cdf = String::from("100 0.1\n1500 0.6\n60000 1.0\n");
    for _ in 0..1 + random.below(8) {
        let at = (0..=cdf.len()).filter(|&at| cdf.is_char_boundary(at)).nth(random.index(cdf.len())).unwrap_or(0);
        cdf.insert_str(at, words[random.index(words.len())]);
    }
    let mut files = Files::default();
    files.0.insert("sizes.cdf".into(), cdf);
    files.0.insert(
        NAME.into(),
        "schema_version = 1\n[network]\ntopology = \"single-switch\"\nhosts = 3\nlink = { rate = \"10Gb/s\", latency = \"1us\" }\n\
         [[switches]]\nbuffers = { capacity = \"100KB\" }\n[[workloads]]\nkind = \"poisson-flows\"\nmean_gap = \"1us\"\n\
         sizes = \"empirical\"\ncdf = \"sizes.cdf\"\n[run]\nduration = \"20us\"\n"
            .into(),
    );
    survive(&files, tally)
}

/// A paper.toml.
fn paper(setting: &Setting, random: &mut Random, folder: &Path, tally: &mut Tally) -> Result<(), String> {
    let papers = setting.project.join("papers");
    let names = crate::names(&papers);
    let Some(name) = pick(&names, random) else { return Ok(()) };
    let Ok(mut text) = std::fs::read_to_string(papers.join(name).join("paper.toml")) else { return Ok(()) };
    damage(&mut text, random);
    let place = folder.join("paper.toml");
    std::fs::write(&place, &text).map_err(|error| error.to_string())?;
    tally.count("papers", 1);
    match load_paper(&place) {
        Ok(_) => tally.count("accepted", 1),
        Err(errors) => {
            tally.count("rejected", 1);
            in_words(&errors)?;
        }
    }
    Ok(())
}

fn pick<'a>(names: &'a [String], random: &mut Random) -> Option<&'a String> {
    (!names.is_empty()).then(|| random.of(names))
}

/// A scenario of the project, of a paper, or a random one.
fn text(setting: &Setting, number: u64, random: &mut Random, folder: &Path, tally: &mut Tally) -> Result<(), String> {
    let mut files = match random.below(3) {
        0 => crate::kind::scenario_of(setting, number).0.files,
        _ => sample(setting, random)?,
    };
    let mut text = files.text().to_owned();
    for _ in 0..1 + random.below(3) {
        damage(&mut text, random);
    }
    files.0.insert(NAME.into(), text);
    let effort = Effort::of_this_thread();
    let done = catch_unwind(AssertUnwindSafe(|| survive(&files, tally)));
    let done = done.unwrap_or_else(|panic| Err(format!("panicked: {}", crate::words_of(&*panic))));
    if done.is_err() || effort.exceeds(PATIENCE) {
        files.store(folder).map_err(|error| error.to_string())?;
        return done;
    }
    // One in some is given to the program too, which has larger limits and bounded memory.
    if random.percent(4) {
        files.store(folder).map_err(|error| error.to_string())?;
        for arguments in
            [&["check", NAME][..], &["run", NAME, "--out", "r", "--time-limit", "2", "--set", "run.max_events=20000"]]
        {
            let said = setting.program.run(folder, arguments, PATIENCE)?;
            let code = said.clean().map_err(|what| format!("tailback {}: {what}", arguments.join(" ")))?;
            if code == 1 {
                return Err(format!("tailback {}: exit code 1: {}", arguments.join(" "), said.err));
            }
            tally.count("by the program", 1);
        }
    }
    Ok(())
}

fn sample(setting: &Setting, random: &mut Random) -> Result<Files, String> {
    let mut folders = vec![setting.project.join("scenarios")];
    let papers = setting.project.join("papers");
    folders.extend(crate::names(&papers).iter().map(|name| papers.join(name)));
    let folder = random.of(&folders).clone();
    let tomls: Vec<String> =
        crate::names(&folder).into_iter().filter(|name| name.ends_with(".toml") && name != "paper.toml").collect();
    let mut files = Files::default();
    let Some(name) = pick(&tomls, random) else { return Ok(files) };
    let read = |path: PathBuf| std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()));
    for other in &tomls {
        files.0.insert(other.clone(), read(folder.join(other))?);
    }
    files.0.insert(NAME.into(), read(folder.join(name))?);
    Ok(files)
}

/// That a complaint can be acted on.
pub(crate) fn in_words(errors: &scenario::Errors) -> Result<(), String> {
    let rendered = errors.render(true);
    match errors.complaints().find(|it| it.line == 0 || it.message.is_empty() || it.file.is_empty()) {
        _ if errors.count() == 0 || rendered.is_empty() => Err("refused without a word".into()),
        Some(complaint) => Err(format!("a complaint without a place or a word: {complaint:?}")),
        None => Ok(()),
    }
}

/// Loads, checks, explains and runs it for a moment.
pub(crate) fn survive(files: &Files, tally: &mut Tally) -> Result<(), String> {
    match load_str(NAME, files.text(), &[], files as &dyn FileReader, SMALL) {
        Err(errors) => {
            tally.count("rejected", 1);
            in_words(&errors)
        }
        Ok(plan) => {
            tally.count("accepted", 1);
            let _ = check(&plan);
            if explain(&plan).is_empty() {
                return Err("explain has nothing to say".into());
            }
            let mut simulation =
                Simulation::build(&plan.spec, &BuildOptions::default()).map_err(|error| format!("{error:?}"))?;
            let mut limits = RunLimits::until(Time::ZERO + Span::from_micros(5));
            limits.inspect_every = Span::from_micros(1);
            limits.events = Some(5_000);
            simulation.run(&limits);
            Ok(())
        }
    }
}

/// Values that are extreme, odd or of another kind.
const ODD: [&str; 38] = [
    "0",
    "-1",
    "1",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "1e308",
    "-1e308",
    "nan",
    "-nan",
    "inf",
    "0.1",
    "\"0s\"",
    "\"1ps\"",
    "\"3600s\"",
    "\"99999h\"",
    "\"0B\"",
    "\"1B\"",
    "\"2GB\"",
    "\"9TB\"",
    "\"1kb/s\"",
    "\"1Tb/s\"",
    "\"0b/s\"",
    "\"1e9Gb/s\"",
    "true",
    "[]",
    "{}",
    "[[]]",
    "\"\"",
    "\"*\"",
    "\"{0..9}\"",
    "\"h{0..999999999}\"",
    "[\"*\", \"*\"]",
    "1979-05-27T07:32:00Z",
    "\"none\"",
    "\"a\\u001b[31mb\"",
    "\"=cmd|'/c calc'!A1\"",
    "'''\n'''",
];
const UNITS: [&str; 14] = ["ps", "ns", "us", "ms", "s", "min", "h", "B", "KB", "MB", "GB", "Mb/s", "Gb/s", "%"];

/// One piece of damage that keeps to lines of keys and tables, most of the time.
pub(crate) fn damage(text: &mut String, random: &mut Random) {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let pairs: Vec<usize> = (0..lines.len()).filter(|&at| is_pair(&lines[at])).collect();
    let headers: Vec<usize> = (0..lines.len()).filter(|&at| lines[at].starts_with('[')).collect();
    let key = |line: &str| line.split('=').next().unwrap_or("x").trim_end().to_owned();
    let value = |line: &str| line.split_once('=').map_or(String::new(), |(_, value)| value.trim().to_owned());
    let table = |at: usize| at..headers.iter().copied().find(|&next| next > at).unwrap_or(lines.len());
    if pairs.is_empty() {
        text.push_str(["=", "[x", "\u{feff}", "a = 1\n", "[[switches]]\n"][random.index(5)]);
        return;
    }
    let (at, other) = (*random.of(&pairs), *random.of(&pairs));
    match random.below(16) {
        0 => lines[at] = format!("{} = {}", key(&lines[at]), value(&lines[other])),
        1 | 2 => lines[at] = format!("{} = {}", key(&lines[at]), random.of(&ODD)),
        3 => lines[at] = unit(&lines[at], random),
        4 | 5 => lines[at] = number(&lines[at], random),
        6 if !headers.is_empty() => drop(lines.drain(table(*random.of(&headers))).collect::<Vec<_>>()),
        7 if !headers.is_empty() => {
            let part: Vec<String> = lines[table(*random.of(&headers))].to_vec();
            lines.extend(part);
        }
        8 => lines.insert(at, lines[other].clone()),
        9 => {
            let all = targets();
            let name = random.of(&all).path.rsplit('.').next().unwrap_or("x").to_owned();
            lines[at] = format!("{name} = {}", value(&lines[at]));
        }
        10 => {
            let all = targets();
            let names: Vec<&String> = all.iter().filter_map(|target| target.value.as_ref()).collect();
            lines[at] = format!("{} = {}", key(&lines[at]), quoted(random.of(&names)));
        }
        11 => {
            let long = random.of(&["x", "\u{1F980}", "a.b", "../", "\u{202e}"]).repeat(1 << random.below(14));
            lines[at] = format!("{} = {}", key(&lines[at]), quoted(&long));
        }
        12 => {
            let depth = 1 << random.below(13);
            let (open, close) = *random.of(&[("[", "]"), ("{a=", "}"), ("[{a=", "}]")]);
            lines[at] = format!("{} = {}1{}", key(&lines[at]), open.repeat(depth), close.repeat(depth));
        }
        13 => drop(lines.remove(at)),
        14 => lines.insert(
            at,
            format!("base = {}", quoted(random.of(&["scenario.toml", "../scenario.toml", "/dev/null", "."]))),
        ),
        _ => {
            let whole = &mut lines[at];
            let place =
                (0..=whole.len()).filter(|&it| whole.is_char_boundary(it)).nth(random.index(whole.len())).unwrap_or(0);
            whole.insert(place, *random.of(&['"', '[', '\0', '=', '\u{fc}', '#', '\\', '\u{1b}']));
        }
    }
    *text = lines.join("\n");
    text.push('\n');
}

fn is_pair(line: &str) -> bool {
    line.contains('=') && !line.starts_with('#') && !line.starts_with('[')
}

/// The first unit on a line becomes another.
fn unit(line: &str, random: &mut Random) -> String {
    let Some(digit) = line.rfind(|letter: char| letter.is_ascii_digit()) else { return line.to_owned() };
    let end = line[digit + 1..].find('"').map_or(line.len(), |at| digit + 1 + at);
    format!("{}{}{}", &line[..=digit], random.of(&UNITS), &line[end..])
}

/// A number on a line becomes another.
pub(crate) fn number(line: &str, random: &mut Random) -> String {
    let Some(start) = line.find(|letter: char| letter.is_ascii_digit()) else { return line.to_owned() };
    let end = line[start..].find(|letter: char| !letter.is_ascii_digit()).map_or(line.len(), |at| start + at);
    let number = match random.below(3) {
        0 => random.scaled(0, 1 << 20),
        1 => random.scaled(0, u64::MAX),
        _ => line[start..end].parse::<u64>().unwrap_or(1).wrapping_add(random.below(3)).wrapping_sub(1),
    };
    format!("{}{number}{}", &line[..start], &line[end..])
}
