//! Places and paths: two writers, users' files beside ours, a full disk, paths that are no files, sizes that fit nowhere.

use crate::corrupt::SCENARIO;
use crate::kind::{Setting, Tally};
use crate::program::Program;
use crate::runs::same_files;
use std::path::Path;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(30);
/// What a stranger would like to see.
const SECRET: &str = "root:$6$torture$secret:19000:0:99999:7:::";

type Attack = fn(&Program, &Path) -> Result<(), String>;

/// The attacks by name.
const ATTACKS: [(&str, Attack); 12] = [
    ("two writers at one place", two_writers),
    ("two runs at the default place", default_place),
    ("overwrite beside a user's files", users_files),
    ("a folder with a copied manifest", copied_manifest),
    ("report over a user's file", report_over),
    ("a base that is no file", odd_bases),
    ("a base that is a secret", secret_base),
    ("a manifest that names a secret", secret_manifest),
    ("a full disk", full_disk),
    ("odd names", odd_names),
    ("sizes that fit nowhere", absurd_sizes),
    ("a result of links", links),
];

/// How many attacks there are: their numbers go round.
pub const COUNT: u64 = ATTACKS.len() as u64;

pub(crate) fn attack(setting: &Setting, number: u64, folder: &Path, tally: &mut Tally) -> Result<(), String> {
    let (name, attack) = ATTACKS[(number % COUNT) as usize];
    std::fs::write(folder.join("s.toml"), SCENARIO).map_err(|error| error.to_string())?;
    tally.count(name, 1);
    attack(&setting.program, folder).map_err(|what| format!("{name}: {what}"))
}

fn io(error: std::io::Error) -> String {
    error.to_string()
}

/// Runs it, and returns the code and what was said.
fn go(program: &Program, at: &Path, arguments: &[&str]) -> Result<(i32, String), String> {
    let said = program.run(at, arguments, LIMIT)?;
    let code = said.clean().map_err(|what| format!("tailback {}: {what}", arguments.join(" ")))?;
    Ok((code, format!("{}{}", said.out, said.err)))
}

fn expect(program: &Program, at: &Path, arguments: &[&str], codes: &[i32]) -> Result<String, String> {
    let (code, said) = go(program, at, arguments)?;
    match codes.contains(&code) {
        true => Ok(said),
        false => Err(format!("tailback {} ends with {code}, not {codes:?}: {said}", arguments.join(" "))),
    }
}

/// The same command three times at once, and how each ended.
fn three(program: &Program, at: &Path, arguments: &[&str]) -> Result<Vec<Option<i32>>, String> {
    let mut writers = Vec::new();
    for _ in 0..3 {
        writers.push(program.start(at, arguments)?);
    }
    // All are waited for, so that none is left behind.
    let ended: Vec<_> = writers.iter_mut().map(|writer| program.end(writer, LIMIT)).collect();
    ended.into_iter().map(|ended| Ok(ended?.0.code())).collect()
}

fn two_writers(program: &Program, at: &Path) -> Result<(), String> {
    expect(program, at, &["run", "s.toml", "--out", "sound", "--quiet"], &[0])?;
    for more in [&[][..], &["--overwrite"]] {
        let arguments = [&["run", "s.toml", "--out", "out", "--quiet"], more].concat();
        let mut succeeded = 0;
        for code in three(program, at, &arguments)? {
            match code {
                Some(0) => succeeded += 1,
                Some(1 | 2) => {}
                code => return Err(format!("a writer ended with {code:?}")),
            }
        }
        if succeeded == 0 {
            return Err("of three writers none succeeded".into());
        }
        same_files(&at.join("sound"), &at.join("out"))?;
    }
    no_partials(at)
}

fn no_partials(at: &Path) -> Result<(), String> {
    let left: Vec<String> =
        crate::names(at).into_iter().filter(|name| name.contains(".partial") || name.contains(".replaced")).collect();
    if left.is_empty() { Ok(()) } else { Err(format!("{left:?} are left")) }
}

fn default_place(program: &Program, at: &Path) -> Result<(), String> {
    for code in three(program, at, &["run", "s.toml", "--quiet"])? {
        if code != Some(0) {
            return Err(format!("a run at the default place ended with {code:?}"));
        }
    }
    let results = crate::names(&at.join("results"))
        .into_iter()
        .filter(|name| at.join("results").join(name).join("manifest.json").exists())
        .count();
    if results == 3 { Ok(()) } else { Err(format!("three runs left {results} results")) }
}

fn users_files(program: &Program, at: &Path) -> Result<(), String> {
    expect(program, at, &["run", "s.toml", "--out", "out", "--csv", "--quiet"], &[0])?;
    let notes = [at.join("out/notes.txt"), at.join("out/mine/thesis.tex"), at.join("out/csv/mine.csv")];
    for note in &notes {
        std::fs::create_dir_all(note.parent().unwrap_or(at)).map_err(io)?;
        std::fs::write(note, "mine").map_err(io)?;
    }
    expect(program, at, &["run", "s.toml", "--seed", "5", "--out", "out", "--overwrite", "--quiet"], &[0, 1, 2])?;
    match notes.iter().find(|note| std::fs::read_to_string(note).ok().as_deref() != Some("mine")) {
        Some(gone) => Err(format!("{} is gone", gone.display())),
        None => Ok(()),
    }
}

fn copied_manifest(program: &Program, at: &Path) -> Result<(), String> {
    expect(program, at, &["run", "s.toml", "--out", "out", "--quiet"], &[0])?;
    let mine = at.join("mine");
    std::fs::create_dir_all(&mine).map_err(io)?;
    std::fs::copy(at.join("out/manifest.json"), mine.join("manifest.json")).map_err(io)?;
    std::fs::write(mine.join("thesis.tex"), "mine").map_err(io)?;
    go(program, at, &["run", "s.toml", "--out", "mine", "--overwrite", "--quiet"])?;
    let kept = std::fs::read_to_string(mine.join("thesis.tex")).ok();
    if kept.as_deref() == Some("mine") { Ok(()) } else { Err("a user's file is gone".into()) }
}

fn report_over(program: &Program, at: &Path) -> Result<(), String> {
    expect(program, at, &["run", "s.toml", "--out", "out", "--quiet"], &[0])?;
    for name in ["thesis.html", "thesis.tex"] {
        std::fs::write(at.join(name), "mine").map_err(io)?;
        expect(program, at, &["report", "out", "-o", name], &[1, 2])?;
        if std::fs::read_to_string(at.join(name)).ok().as_deref() != Some("mine") {
            return Err(format!("{name} was replaced without asking"));
        }
    }
    std::fs::write(at.join("f.pcapng"), "mine").map_err(io)?;
    expect(program, at, &["pcap", "s.toml", "h0->sw0", "-o", "f.pcapng"], &[1, 2])?;
    let kept = std::fs::read_to_string(at.join("f.pcapng")).ok();
    if kept.as_deref() == Some("mine") { Ok(()) } else { Err("a capture was replaced without asking".into()) }
}

/// Scenario files whose base or distribution is no file.
fn odd_bases(program: &Program, at: &Path) -> Result<(), String> {
    let fifo = at.join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().is_ok_and(|status| status.success());
    std::fs::create_dir_all(at.join("folder")).map_err(io)?;
    let paths = ["folder", "/dev/zero", "/dev/random", "/dev/tty", "/proc/self/mem", "missing", "", "\\u0000", "fifo"];
    for path in &paths[..paths.len() - usize::from(!made)] {
        std::fs::write(at.join("b.toml"), format!("schema_version = 1\nbase = \"{path}\"\n{}", &SCENARIO[19..]))
            .map_err(io)?;
        expect(program, at, &["check", "b.toml"], &[2])?;
        let cdf = format!(
            "{SCENARIO}[[workloads]]\nkind = \"poisson-flows\"\nload = 0.1\nsizes = \"empirical\"\ncdf = \"{path}\"\n"
        );
        std::fs::write(at.join("c.toml"), cdf).map_err(io)?;
        expect(program, at, &["check", "c.toml"], &[2])?;
        if !path.is_empty() && !path.contains('\\') {
            expect(program, at, &["check", path], &[1, 2])?;
            expect(program, at, &["csv", path], &[1, 2])?;
            expect(program, at, &["report", path], &[1, 2])?;
        }
    }
    Ok(())
}

fn silent(said: &str, what: &str) -> Result<(), String> {
    if said.contains("torture$secret") { Err(format!("{what} quotes the secret: {said}")) } else { Ok(()) }
}

fn secret_base(program: &Program, at: &Path) -> Result<(), String> {
    std::fs::write(at.join("shadow"), format!("{SECRET}\n")).map_err(io)?;
    std::fs::write(at.join("b.toml"), "schema_version = 1\nbase = \"shadow\"\n").map_err(io)?;
    silent(&expect(program, at, &["check", "b.toml"], &[2])?, "check of a base")?;
    silent(&expect(program, at, &["run", "b.toml", "--no-record"], &[2])?, "run of a base")?;
    let cdf = format!(
        "{SCENARIO}[[workloads]]\nkind = \"poisson-flows\"\nload = 0.1\nsizes = \"empirical\"\ncdf = \"shadow\"\n"
    );
    std::fs::write(at.join("c.toml"), cdf).map_err(io)?;
    silent(&expect(program, at, &["check", "c.toml"], &[2])?, "check of a distribution")
}

fn secret_manifest(program: &Program, at: &Path) -> Result<(), String> {
    expect(program, at, &["run", "s.toml", "--out", "out", "--quiet"], &[0])?;
    let outside = at.join("shadow");
    std::fs::write(&outside, format!("{SECRET}\n")).map_err(io)?;
    let path = at.join("out/manifest.json");
    let text = std::fs::read_to_string(&path).map_err(io)?;
    for target in [outside.to_string_lossy().as_ref(), "../shadow", "/dev/zero"] {
        let named = text.replace("\"s.toml\"", &format!("\"{target}\""));
        for manifest in [named.clone(), unhashed(&named)] {
            std::fs::write(&path, manifest).map_err(io)?;
            let (code, said) = go(program, at, &["pcap", "out", "h0->sw0", "-o", "f.pcapng"])?;
            silent(&said, "pcap of a stranger's result")?;
            if code == 0 {
                return Err(format!("pcap of a result whose scenario is {target} succeeds"));
            }
        }
    }
    Ok(())
}

/// A manifest as it was written before there were hashes and copies of inputs.
fn unhashed(manifest: &str) -> String {
    let (before, tables) = manifest.split_once("\"tables\":").unwrap_or((manifest, ""));
    let without = |text: &str, words: &[&str]| -> String {
        let kept = text.lines().filter(|line| !words.iter().any(|word| line.starts_with(word)));
        kept.map(|line| format!("{line}\n")).collect()
    };
    let before = without(before, &["  \"hash\": \"", "      \"copy\": \""]);
    format!("{}\"tables\":{}", before.trim_end_matches('\n'), without(tables, &["      \"hash\": \""]))
}

/// A disk of few octets, where this machine lets us have one.
fn full_disk(program: &Program, at: &Path) -> Result<(), String> {
    let disk = at.join("disk");
    std::fs::create_dir_all(&disk).map_err(io)?;
    let mount = |size: &str| {
        let options = format!("size={size}");
        let mut command = std::process::Command::new("mount");
        command.args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(&disk).stderr(std::process::Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    for size in ["16k", "64k", "128k", "300k", "400k"] {
        if !mount(size) {
            return Ok(());
        }
        let done = on_full_disk(program, at, &disk);
        let _ = std::process::Command::new("umount").arg(&disk).status();
        done.map_err(|what| format!("with {size}: {what}"))?;
    }
    Ok(())
}

fn on_full_disk(program: &Program, at: &Path, disk: &Path) -> Result<(), String> {
    let place = disk.join("out");
    let out = place.to_string_lossy().into_owned();
    for more in [&[][..], &["--csv"], &["--plot"], &["--pcap", "h0->sw0"]] {
        let arguments = [&["run", "s.toml", "--out", &out, "--quiet"], more].concat();
        let (code, said) = go(program, at, &arguments)?;
        if code != 0 && said.is_empty() {
            return Err(format!("tailback {} ends with {code} and says nothing", arguments.join(" ")));
        }
        let sound = [&["run", "s.toml", "--out", "sound", "--quiet", "--overwrite"], more].concat();
        if place.exists() {
            expect(program, at, &sound, &[0])?;
            // Where there is room for the tables but not for pictures or CSV, the tables are kept, and they are whole; the
            // manifest lists less.
            let kept = crate::names(&place).into_iter().filter(|name| code == 0 || name != "manifest.json");
            let same = |name: String| crate::kill::whole(&at.join("sound").join(&name), &place.join(&name));
            kept.map(same)
                .collect::<Result<Vec<()>, String>>()
                .map_err(|what| format!("tailback {} ends with {code}: {what}", arguments.join(" ")))?;
        }
        for name in crate::names(disk) {
            let _ = std::fs::remove_dir_all(disk.join(name));
        }
    }
    let report = disk.join("r.html").to_string_lossy().into_owned();
    expect(program, at, &["run", "s.toml", "--out", "for-report", "--overwrite", "--quiet"], &[0])?;
    let (code, _) = go(program, at, &["report", "for-report", "-o", &report])?;
    let there = std::fs::metadata(&report).map(|file| file.len()).ok();
    match (code, there) {
        (0, Some(1..)) | (_, None) => Ok(()),
        (code, there) => Err(format!("report ends with {code} and leaves {there:?} octets")),
    }
}

fn odd_names(program: &Program, at: &Path) -> Result<(), String> {
    let long = "n".repeat(300);
    let names = [
        "a\\u001b[31mred\\u0007",
        "=cmd|'/c calc'!A1",
        "@SUM(1)",
        long.as_str(),
        "../../escape",
        "-rf",
        "con\\nfused",
        "\\u202egpj",
    ];
    for (number, name) in names.iter().enumerate() {
        let text = SCENARIO
            .replace("name = \"damaged\"", &format!("name = \"{name}\""))
            .replace("name = \"many\"", &format!("name = \"{name}\""));
        let text = text.replace("of = \"many\"\n", "");
        std::fs::write(at.join("n.toml"), text).map_err(io)?;
        let out = format!("out{number}");
        for arguments in [
            &["check", "n.toml"][..],
            &["explain", "n.toml"],
            &["run", "n.toml", "--out", &out, "--csv"],
            &["run", "n.toml"],
        ] {
            let (code, said) = go(program, at, arguments)?;
            if ![0, 2].contains(&code) {
                return Err(format!(
                    "tailback {} with the name {name:?} ends with {code}: {said}",
                    arguments.join(" ")
                ));
            }
            if said.contains(['\u{1b}', '\u{7}', '\u{202e}']) {
                return Err(format!(
                    "tailback {} with the name {name:?} sends control characters to the terminal",
                    arguments.join(" ")
                ));
            }
        }
        let flows = std::fs::read_to_string(at.join(&out).join("csv/flows.csv")).unwrap_or_default();
        let formula = |cell: &str| cell.trim_start_matches('"').starts_with(['=', '@']);
        if flows.lines().any(|line| line.split(',').any(formula)) {
            return Err(format!("the name {name:?} is a formula in flows.csv"));
        }
        if at.join("../../escape").exists() {
            return Err("a name leads out of the results".into());
        }
    }
    Ok(())
}

fn absurd_sizes(program: &Program, at: &Path) -> Result<(), String> {
    let grid: Vec<String> = (0..8)
        .map(|axis| {
            format!(
                "workloads[0].{}={}",
                ["start", "stop", "frame", "size", "start_jitter", "stagger", "requeue_oracle", "class"][axis],
                (1..31).map(|it| it.to_string()).collect::<Vec<_>>().join(",")
            )
        })
        .collect();
    let mut sweep = vec!["sweep", "s.toml", "--out", "w"];
    for axis in &grid {
        sweep.extend(["--axis", axis.as_str()]);
    }
    let (code, said) = go(program, at, &sweep)
        .map_err(|what| what.chars().rev().take(300).collect::<Vec<_>>().into_iter().rev().collect::<String>())?;
    if code != 2 {
        return Err(format!("a sweep of 30 to the power of 8 runs ends with {code}: {said}"));
    }
    let all = "workloads=[{kind=\"all-to-all\"}]";
    for sets in [
        &["network.hosts=3162", all][..],
        &["network.hosts=99999999"],
        &["network={topology=\"torus\",dims=[1000,1000],link={rate=\"10Gb/s\",latency=\"1us\"}}", all],
        &["probes.sample_every=1ps", "run.duration=1s"],
    ] {
        for command in [&["check", "s.toml"][..], &["run", "s.toml", "--out", "a", "--time-limit", "3"]] {
            let mut arguments = command.to_vec();
            sets.iter().for_each(|set| arguments.extend(["--set", *set]));
            let (code, said) = go(program, at, &arguments)?;
            if ![0, 2, 5].contains(&code) {
                return Err(format!("tailback {} ends with {code}: {said}", arguments.join(" ")));
            }
        }
    }
    Ok(())
}

/// Results whose files are links to elsewhere.
fn links(program: &Program, at: &Path) -> Result<(), String> {
    expect(program, at, &["run", "s.toml", "--out", "out", "--quiet"], &[0])?;
    std::fs::write(at.join("shadow"), format!("{SECRET}\n")).map_err(io)?;
    for name in crate::names(&at.join("out")) {
        let path = at.join("out").join(&name);
        if !path.is_file() {
            continue;
        }
        let kept = std::fs::read(&path).map_err(io)?;
        for target in [at.join("shadow").to_string_lossy().as_ref(), "/dev/zero"] {
            std::fs::remove_file(&path).map_err(io)?;
            link(target, &path).map_err(io)?;
            for arguments in [&["csv", "out", "--out", "c"][..], &["report", "out", "-o", "r.html"]] {
                let (_, said) = go(program, at, arguments)?;
                silent(&said, "a reader of links")?;
                let _ = (std::fs::remove_dir_all(at.join("c")), std::fs::remove_file(at.join("r.html")));
            }
        }
        std::fs::remove_file(&path).map_err(io)?;
        std::fs::write(&path, kept).map_err(io)?;
    }
    Ok(())
}

#[cfg(unix)]
pub(crate) fn link(target: &str, path: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(not(unix))]
pub(crate) fn link(_: &str, path: &Path) -> std::io::Result<()> {
    std::fs::write(path, "")
}
