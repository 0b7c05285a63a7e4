//! Everything that is written is whole, and replaces nothing that is not ours.

use crate::program::{SOUND, Said, Scratch};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// An expectation, so that there are verdicts to keep.
const EXPECTS: &str =
    "\n[[expectations]]\nname = \"each\"\nmetric = \"throughput\"\nof = \"w\"\nvalue = \"4.9Gb/s\"\ntolerance = 0.1\n";

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).expect("it is there")
}

/// Writes files of the user's.
fn put(scratch: &Scratch, names: &[&str]) {
    for name in names {
        scratch.file(name, "precious");
    }
}

/// That a result is there with every file that its manifest lists.
#[track_caller]
fn is_whole(result: &Path, names: &[&str]) {
    let manifest: serde_json::Value = serde_json::from_slice(&read(&result.join("manifest.json"))).expect("JSON");
    let files = manifest["files"].as_array().expect("a list");
    let listed: Vec<&str> = files.iter().map(|file| file["path"].as_str().expect("a path")).collect();
    for name in names {
        assert!(listed.contains(name), "{name} in {listed:?}");
    }
    for file in files {
        let bytes = read(&result.join(file["path"].as_str().expect("a path")));
        assert_eq!(Some(bytes.len() as u64), file["bytes"].as_u64());
        let hash: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(file["hash"], format!("sha256:{hash}"), "{file}");
    }
    assert!(!result.join("INCOMPLETE").exists());
}

#[test]
fn a_run_killed_at_any_moment_leaves_its_result_with_everything_in_it_or_none() {
    let scratch = Scratch::new("whole-killed");
    scratch.file("a.toml", format!("{SOUND}{EXPECTS}"));
    let run = ["run", "a.toml", "--out", "r", "--overwrite", "--csv", "--plot", "--pcap", "sw0->h2"];
    let names =
        ["csv/links.csv", "plots/throughput.svg", "plots/throughput.png", "expectations.json", "capture.pcapng"];
    let mut left = 0;
    for delay in [3, 150, 60, 220, 20, 100] {
        let mut child = scratch.start(&run);
        std::thread::sleep(Duration::from_millis(delay));
        child.kill().expect("it is ours");
        child.wait().expect("it ends");
        left += usize::from(scratch.names("").len() > 1);
        if scratch.path("r").exists() {
            is_whole(&scratch.path("r"), &names);
        }
    }
    assert!(left > 0, "it takes longer than that");
    scratch.run(&run).ends(0);
    is_whole(&scratch.path("r"), &names);
    assert_eq!(scratch.names(""), ["a.toml", "r"]);
}

/// A limit on the size of files stands in for a disk that fills up: writing fails half way in both.
#[cfg(unix)]
fn short_of_room(scratch: &Scratch, blocks: u32, arguments: &str) -> Said {
    let line = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" {arguments}");
    let mut command = Command::new("sh");
    command.args(["-c", &line, env!("CARGO_BIN_EXE_tailback")]).current_dir(scratch.path(""));
    Said::new(&command.output().expect("there is a shell"))
}

#[test]
#[cfg(unix)]
fn a_full_disk_leaves_no_file_cut_short() {
    let scratch = Scratch::new("whole-full");
    scratch.file("a.toml", SOUND).run(&["run", "a.toml", "-q", "--out", "r"]).ends(0);
    for (command, words) in [("csv r", "csv/"), ("plot r", "plots/")] {
        let said = short_of_room(&scratch, 1, command).ends(1);
        assert!(said.err.contains("cannot write r/") && said.err.contains(words), "{}", said.err);
    }
    let said = short_of_room(&scratch, 1, "pcap a.toml 'sw0->h2' -o a.pcapng").ends(1);
    assert!(said.err.contains("cannot write a.pcapng"), "{}", said.err);
    short_of_room(&scratch, 1, "init new.toml").ends(1);
    // Without a shell that ignores the signal, the program survives it and says what the limit is.
    let line = "ulimit -f 1; exec \"$0\" csv r";
    let mut command = Command::new("sh");
    command.args(["-c", line, env!("CARGO_BIN_EXE_tailback")]).current_dir(scratch.path(""));
    let said = Said::new(&command.output().expect("there is a shell")).ends(1);
    assert!(said.err.contains("ulimit -f") && !said.err.contains("regular"), "{}", said.err);
    let said = scratch.run(&["report", "r", "-o", "r"]).ends(2);
    assert!(said.err.contains("name a file"), "{}", said.err);
    assert_eq!(scratch.names(""), ["a.toml", "r"]);
    for folder in ["r/csv", "r/plots"] {
        for name in scratch.names(folder) {
            assert!(!name.contains("partial"), "{name}");
            assert!(std::fs::metadata(scratch.path(folder).join(&name)).expect("it is there").len() <= 1024, "{name}");
        }
    }
    // What was there before stays as it was.
    scratch.run(&["csv", "r"]).ends(0);
    let before = read(&scratch.path("r/csv/links.csv"));
    short_of_room(&scratch, 1, "csv r").ends(1);
    assert!(read(&scratch.path("r/csv/links.csv")) == before);
    // The tables of a run outlive its CSV.
    let duration = "--set run.duration=20ms --set probes.sample_every=20us";
    let said = short_of_room(&scratch, 256, &format!("run a.toml {duration} --out big --csv")).ends(1);
    assert!(said.err.contains("the tables are complete and were kept in big"), "{}", said.err);
    is_whole(&scratch.path("big"), &["plan.toml.txt"]);
    assert!(!scratch.path("big/csv").exists());
}

/// One file that is not ours, whichever of them: no other file is written.
#[test]
fn a_refusal_leaves_the_directory_as_it_was() {
    let scratch = Scratch::new("whole-refusal");
    scratch.file("a.toml", SOUND).run(&["run", "a.toml", "-q", "--out", "r"]).ends(0);
    scratch.scenario("bcn-stability.toml");
    let stability: &[&str] = &["stability", "bcn-stability.toml", "--trajectory", "--out"];
    for (command, name) in [
        (&["csv", "r", "--out"][..], "rates.csv"),
        (&["csv", "r", "--out"], "columns.csv"),
        (&["plot", "r", "--out"], "pauses.png"),
        (&["plot", "r", "--out"], "throughput.svg"),
        (stability, "fluid-rate.png"),
        (stability, "stability.json"),
    ] {
        let place = format!("{}-{name}", command[0]);
        put(&scratch, &[&format!("{place}/{name}")]);
        scratch.run(&[command, &[&place]].concat()).ends(2);
        assert_eq!(scratch.names(&place), [name]);
        assert_eq!(read(&scratch.path(&format!("{place}/{name}"))), b"precious");
    }
    // A sweep draws after its runs; a file in the way of its last picture stops the first.
    let sweep = ["sweep", "a.toml", "--axis", "run.duration=1ms,2ms", "--out", "s"];
    scratch.run(&sweep).ends(0);
    let last = scratch.names("s/plots").pop().expect("pictures");
    std::fs::remove_dir_all(scratch.path("s/plots")).expect("it is ours");
    put(&scratch, &[&format!("s/plots/{last}")]);
    scratch.run(&sweep).ends(2);
    assert_eq!(scratch.names("s/plots"), [last]);
}

#[test]
fn an_exported_table_that_was_edited_is_its_users() {
    let scratch = Scratch::new("whole-edited");
    scratch.file("a.toml", SOUND).run(&["run", "a.toml", "-q", "--out", "r"]).ends(0);
    let overwrite = ["run", "a.toml", "-q", "--out", "r", "--overwrite"];
    scratch.run(&["csv", "r"]).ends(0);
    let edited = String::from_utf8(read(&scratch.path("r/csv/flows.csv"))).expect("text") + "my own line\n";
    scratch.file("r/csv/flows.csv", &edited);
    let said = scratch.run(&["csv", "r"]).ends(2);
    assert!(said.err.contains("r/csv/flows.csv was edited"), "{}", said.err);
    let said = scratch.run(&overwrite).ends(2);
    assert!(said.err.contains("csv/flows.csv has been edited"), "{}", said.err);
    assert_eq!(read(&scratch.path("r/csv/flows.csv")), edited.as_bytes());
    // As it was written, it goes with its result.
    scratch.run(&["csv", "r", "--overwrite"]).ends(0);
    scratch.run(&overwrite).ends(0);
    assert!(!scratch.path("r/csv").exists());
    // The same of tables that the run itself has exported.
    scratch.run(&[&overwrite[..], &["--csv"]].concat()).ends(0);
    scratch.run(&["csv", "r"]).ends(0);
    scratch.run(&overwrite).ends(0);
    scratch.run(&[&overwrite[..], &["--csv"]].concat()).ends(0);
    scratch.file("r/csv/flows.csv", &edited);
    for command in [&["csv", "r"][..], &overwrite] {
        scratch.run(command).ends(2);
        assert_eq!(read(&scratch.path("r/csv/flows.csv")), edited.as_bytes());
    }
}

/// Edits a text file that Tailback wrote, or a picture.
fn edit(scratch: &Scratch, name: &str) -> Vec<u8> {
    let mut bytes = read(&scratch.path(name));
    let place = bytes.len() / 2;
    bytes[place] ^= 1;
    scratch.file(name, &bytes);
    bytes
}

/// A report or a picture that begins as Tailback wrote it and goes on otherwise is its user's, wherever it is.
#[test]
fn a_report_or_picture_that_was_edited_is_its_users() {
    let scratch = Scratch::new("whole-sealed");
    scratch.file("a.toml", SOUND).run(&["run", "a.toml", "-q", "--out", "r"]).ends(0);
    let commands: [(&[&str], &[&str]); 4] = [
        (&["report", "r"], &["r/report.html"]),
        (&["report", "r", "-o", "a.html"], &["a.html"]),
        (&["plot", "r"], &["r/plots/throughput.svg", "r/plots/throughput.png"]),
        (&["plot", "r", "--out", "p"], &["p/throughput.png", "p/queues.svg"]),
    ];
    let overwrite = ["run", "a.toml", "-q", "--out", "r", "--overwrite"];
    for (command, names) in commands {
        scratch.run(command).ends(0);
        scratch.run(command).ends(0);
        for name in names {
            let edited = edit(&scratch, name);
            let said = scratch.run(command).ends(2);
            assert!(
                said.err.contains(&format!("{name} was edited")) && said.err.contains("--overwrite"),
                "{}",
                said.err
            );
            if let Some(inside) = name.strip_prefix("r/") {
                let said = scratch.run(&overwrite).ends(2);
                assert!(said.err.contains(&format!("{inside} has been edited")), "{}", said.err);
            }
            assert!(read(&scratch.path(name)) == edited, "{name}");
            scratch.run(&[command, &["--overwrite"]].concat()).ends(0);
            assert!(read(&scratch.path(name)) != edited, "{name}");
        }
    }
    // As they were written, they go with their result, and so do those of the run itself that were made again.
    scratch.run(&[&overwrite[..], &["--plot", "--report"]].concat()).ends(0);
    assert_eq!(scratch.names("r/csv"), Vec::<String>::new());
    scratch.run(&["report", "r", "--size", "100KB"]).ends(0);
    scratch.run(&overwrite).ends(0);
    assert!(!scratch.path("r/report.html").exists() && !scratch.path("r/plots").exists());
    // Those of the run itself, edited.
    scratch.run(&[&overwrite[..], &["--plot", "--report"]].concat()).ends(0);
    for name in ["r/report.html", "r/plots/queues.png"] {
        let (before, edited) = (read(&scratch.path(name)), edit(&scratch, name));
        let said = scratch.run(&overwrite).ends(2);
        assert!(said.err.contains(&name[2..]), "{}", said.err);
        assert!(read(&scratch.path(name)) == edited, "{name}");
        scratch.file(name, &before);
    }
}

/// The tables, pictures and reports of several runs are their user's as well once they were edited.
#[test]
fn edited_files_of_studies_are_their_users() {
    let scratch = Scratch::new("whole-studies");
    scratch.file("a.toml", SOUND).scenario("bcn-stability.toml");
    let sweep = ["sweep", "a.toml", "--axis", "run.duration=1ms,2ms", "--out", "s", "--report"];
    let compare = ["compare", "a.toml", "--vary", "run.duration=1ms,2ms", "--out", "c", "--report", "--overwrite"];
    let stability = ["stability", "bcn-stability.toml", "--trajectory", "--out", "t", "--report"];
    let studies: [(&[&str], &[&str]); 3] = [
        (&sweep, &["s/table.csv", "s/table.json", "s/report.html"]),
        (&compare, &["c/throughput.svg", "c/throughput.png", "c/report.html"]),
        (&stability, &["t/fluid-queue.svg", "t/fluid-rate.png", "t/report.html", "t/stability.json"]),
    ];
    for (command, names) in studies {
        scratch.run(command).ends(0);
        scratch.run(command).ends(0);
        for name in names {
            let (before, edited) = (read(&scratch.path(name)), edit(&scratch, name));
            let said = scratch.run(command).ends(2);
            assert!(said.err.contains(name), "{}", said.err);
            assert!(read(&scratch.path(name)) == edited, "{name}");
            scratch.file(name, &before);
        }
    }
    // More seeds: the tables are written again, unless they were edited.
    let more = [&sweep[..], &["--replications", "2"]].concat();
    let table = edit(&scratch, "s/table.csv");
    scratch.run(&more).ends(2);
    assert!(read(&scratch.path("s/table.csv")) == table);
    std::fs::remove_file(scratch.path("s/table.csv")).expect("it is there");
    scratch.run(&more).ends(0);
    assert!(read(&scratch.path("s/table.csv")) != table);
    // Moved into a new comparison, an edited report is kept.
    let report = edit(&scratch, "c/report.html");
    let without: Vec<&str> = compare.iter().copied().filter(|word| *word != "--report").collect();
    scratch.run(&without).ends(0);
    assert!(read(&scratch.path("c/report.html")) == report);
}

/// The pictures and the report of an older analysis do not stay beside a new one.
#[test]
fn an_analysis_replaces_what_an_older_one_has_listed() {
    let scratch = Scratch::new("whole-stability");
    scratch.scenario("bcn-stability.toml");
    let stability = ["stability", "bcn-stability.toml", "--out", "s"];
    let map = ["--map", "sources=10..50", "--map", "delay=50us..100us", "--points", "3", "--report"];
    scratch.run(&[&stability[..], &map[..]].concat()).ends(0);
    assert_eq!(scratch.names("s"), ["map.png", "map.svg", "report.html", "stability.json"]);
    put(&scratch, &["s/notes.txt", "s/mine.svg"]);
    let edited = String::from_utf8(read(&scratch.path("s/map.svg"))).expect("text") + "<!-- mine -->";
    scratch.file("s/map.svg", &edited);
    let said = scratch.run(&[&stability[..], &["--trajectory"]].concat()).ends(0);
    assert!(said.err.contains("s/map.svg was edited"), "{}", said.err);
    let fluid = ["fluid-queue.png", "fluid-queue.svg", "fluid-rate.png", "fluid-rate.svg"];
    assert_eq!(scratch.names("s"), [&fluid[..], &["map.svg", "mine.svg", "notes.txt", "stability.json"]].concat());
    assert_eq!(read(&scratch.path("s/map.svg")), edited.as_bytes());
}

#[test]
fn files_that_are_not_ours_are_replaced_only_when_told_to() {
    let scratch = Scratch::new("whole-foreign");
    scratch.file("a.toml", SOUND).run(&["run", "a.toml", "-q", "--out", "r"]).ends(0);
    let precious = ["p/throughput.svg", "p/throughput.png", "c/links.csv", "c/columns.csv", "a.html", "a.pcapng"];
    put(&scratch, &precious);
    let commands: [&[&str]; 4] = [
        &["plot", "r", "--out", "p"],
        &["csv", "r", "--out", "c"],
        &["pcap", "a.toml", "sw0->h2", "-o", "a.pcapng"],
        &["report", "r", "-o", "a.html"],
    ];
    for command in commands {
        let said = scratch.run(command);
        assert_eq!(said.code, Some(2), "{}", said.err);
        assert!(said.err.contains("--overwrite"), "{}", said.err);
    }
    for name in precious {
        assert_eq!(read(&scratch.path(name)), b"precious", "{name}");
    }
    for command in &commands[..3] {
        scratch.run(&[command, &["--overwrite"][..]].concat()).ends(0);
    }
    // Ours are made again without a word.
    commands[..2].iter().for_each(|command| drop(scratch.run(command).ends(0)));
    for name in ["p/throughput.svg", "p/throughput.png", "c/links.csv", "c/columns.csv", "a.pcapng"] {
        assert_ne!(read(&scratch.path(name)), b"precious", "{name}");
    }
}

#[test]
fn overwriting_a_result_leaves_what_its_user_has_put_there() {
    let scratch = Scratch::new("whole-precious");
    scratch.file("a.toml", SOUND);
    let run = ["run", "a.toml", "-q", "--out", "r", "--plot", "--csv"];
    scratch.run(&run).ends(0);
    scratch.run(&["plot", "r"]).ends(0);
    let precious = ["r/notes.txt", "r/plots/mine.svg", "r/csv/mine.csv", "r/deep/er/x.bin"];
    put(&scratch, &precious);
    scratch.run(&[&run[..5], &["--overwrite"]].concat()).ends(0);
    for name in precious {
        assert_eq!(read(&scratch.path(name)), b"precious", "{name}");
    }
    assert_eq!(scratch.names("r/plots"), ["mine.svg"], "pictures of the old result go with it");
    // A manifest alone makes no result.
    scratch
        .file("thesis/chapter1.tex", "precious")
        .file("thesis/manifest.json", read(&scratch.path("r/manifest.json")));
    let said = scratch.run(&["run", "a.toml", "--out", "thesis", "--overwrite"]).ends(2);
    assert!(said.err.contains("which its manifest lists, is missing"), "{}", said.err);
    assert_eq!(scratch.names("thesis"), ["chapter1.tex", "manifest.json"]);
    assert_eq!(scratch.names(""), ["a.toml", "r", "thesis"]);
}

#[test]
fn a_figure_that_is_run_again_leaves_what_its_user_has_put_there() {
    let scratch = Scratch::new("whole-figure");
    scratch.file("papers/p/paper.toml", "title = \"T\"\nauthors = [\"A\"]\nyear = 2002\n");
    let precious = ["o/p/f-quick/plots/mine.svg", "o/p/f-quick/points/notes.json", "o/p/f-quick/run/notes.txt"];
    for latency in ["1us", "2us"] {
        scratch.file("papers/p/f.toml", format!("{}{EXPECTS}", SOUND.replace("1us", latency)));
        scratch.run(&["reproduce", "p", "--quick", "--out", "o"]).ends(0);
        put(&scratch, &precious);
    }
    scratch.file("papers/p/f.toml", format!("{}{EXPECTS}", SOUND.replace("1us", "3us")));
    scratch.run(&["reproduce", "p", "--quick", "--out", "o"]).ends(0);
    precious.iter().for_each(|name| assert_eq!(read(&scratch.path(name)), b"precious", "{name}"));
    assert_eq!(scratch.names("o/p/f-quick/points").len(), 2, "runs of the old figure are gone");
    // A file in the way of one picture stops all of them, and the verdicts.
    let (verdicts, plots) = ("o/p/f-quick/verdicts.json", "o/p/f-quick/plots");
    std::fs::remove_dir_all(scratch.path(plots)).expect("it is ours");
    std::fs::remove_file(scratch.path(verdicts)).expect("it is there");
    put(&scratch, &["o/p/f-quick/plots/throughput.svg"]);
    scratch.run(&["reproduce", "p", "--quick", "--out", "o"]).ends(2);
    assert_eq!(scratch.names(plots), ["throughput.svg"]);
    assert!(!scratch.path(verdicts).exists());
    scratch.file("o/p/paper.json", "{\"precious\": 1}");
    let said = scratch.run(&["reproduce", "p", "--quick", "--out", "o"]).ends(2);
    assert!(said.err.contains("o/p/paper.json exists and is not"), "{}", said.err);
}

#[test]
#[cfg(unix)]
fn streams_are_written_to_and_not_replaced() {
    let scratch = Scratch::new("whole-streams");
    scratch.file("a.toml", SOUND).run(&["pcap", "a.toml", "sw0->h2", "-q", "-o", "a.pcapng"]).ends(0);
    let whole = read(&scratch.path("a.pcapng"));
    let shell = |line: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", line, env!("CARGO_BIN_EXE_tailback")]).current_dir(scratch.path(""));
        assert!(command.status().expect("there is a shell").success(), "{line}");
    };
    for (place, how) in [("-", "> b"), ("/dev/stdout", "| cat > b"), ("/dev/stdout", "> b"), ("f", "& cat f > b; wait")]
    {
        shell(&format!("rm -f b f; mkfifo f; \"$0\" pcap a.toml 'sw0->h2' -q -o {place} {how}; test -p f"));
        assert!(read(&scratch.path("b")) == whole, "{place} {how}");
    }
    std::os::unix::fs::symlink("a.pcapng", scratch.path("link")).expect("there is room");
    scratch.run(&["pcap", "a.toml", "sw0->h2", "-q", "-o", "link"]).ends(2);
    scratch.run(&["pcap", "a.toml", "sw0->h2", "-q", "-o", "link", "--overwrite"]).ends(0);
    assert!(std::fs::symlink_metadata(scratch.path("link")).expect("it is there").is_symlink());
    assert!(read(&scratch.path("a.pcapng")) == whole);
}
