//! Data on standard output, everything else on standard error; colours only where they are wanted.

use crate::program::{SOUND, Scratch};
use std::io::Read;
use std::process::{Command, Stdio};

#[test]
fn with_json_standard_output_holds_nothing_else() {
    let scratch = Scratch::new("only-json");
    scratch.file("a.toml", SOUND);
    for arguments in [
        &["run", "a.toml", "--json", "--out", "r", "--plot", "--set", "run.replications=2"][..],
        &["check", "a.toml", "--json"],
        &["sweep", "a.toml", "--json", "--axis", "run.duration=1ms,2ms"],
        &["compare", "a.toml", "--json", "--vary", "run.duration=1ms,2ms"],
        &["schema"],
    ] {
        scratch.run(arguments).ends(0).json();
    }
    let said = scratch.run(&["run", "a.toml", "--json", "--out", "s"]).ends(0);
    assert!(said.err.contains("results in s"), "notes go to standard error: {}", said.err);
}

#[test]
fn quiet_says_nothing() {
    let scratch = Scratch::new("quiet");
    let said = scratch.file("a.toml", SOUND).run(&["run", "a.toml", "-q"]).ends(0);
    assert_eq!((said.out.as_str(), said.err.as_str()), ("", ""));
    scratch.run(&["run", "a.toml", "-q", "--json", "--out", "r"]).ends(0).json();
    let said = scratch.run(&["run", "a.toml", "-q", "--out", "r"]).ends(2);
    assert!(said.err.contains("earlier run"), "errors are said all the same: {}", said.err);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let scratch = Scratch::new("head");
    scratch.file("a.toml", SOUND);
    for arguments in [
        &["schema"][..],
        &["reference"],
        &["completions", "bash"],
        &["explain", "a.toml"],
        &["--help"],
        &["run", "a.toml", "--plot", "--out", "r"],
    ] {
        let mut child = scratch.start(arguments);
        drop(child.stdout.take());
        let mut err = String::new();
        child.stderr.take().expect("it is piped").read_to_string(&mut err).expect("UTF-8");
        let ended = child.wait().expect("it ends");
        assert!(ended.success() && !err.contains("panicked"), "{arguments:?}: {ended} {err}");
    }
    assert!(scratch.path("r/plots/throughput.svg").exists(), "the work is done all the same");
}

#[test]
fn a_standard_error_that_goes_away_does_not_matter() {
    let scratch = Scratch::new("no-stderr");
    scratch.file("a.toml", "nonsense");
    for arguments in [&["check", "a.toml"][..], &["run", "a.toml", "--threads", "x"], &["plot", "missing"]] {
        let mut child = scratch.start(arguments);
        drop(child.stderr.take());
        assert_eq!(child.wait().expect("it ends").code(), Some(2), "{arguments:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn data_that_cannot_be_written_is_an_error() {
    let scratch = Scratch::new("stdout-full");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let output = scratch.command(&["schema"]).stdout(full).stderr(Stdio::piped()).output().expect("it starts");
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("cannot write to standard output"), "{said}");
}

/// The program on a terminal that `script` makes.
fn on_a_terminal(scratch: &Scratch, no_color: Option<&str>) -> Option<String> {
    let line = format!("'{}' check a.toml", env!("CARGO_BIN_EXE_tailback"));
    let mut command = Command::new("script");
    command.args(["-q", "-e", "-c", &line, "/dev/null"]).current_dir(scratch.path("")).stdin(Stdio::null());
    command.env_remove("NO_COLOR").env("TERM", "xterm");
    if let Some(value) = no_color {
        command.env("NO_COLOR", value);
    }
    let output = command.output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn colours_are_for_terminals_and_for_those_who_want_them() {
    let scratch = Scratch::new("colour");
    scratch.file("a.toml", "nonsense");
    let said = scratch.run(&["check", "a.toml"]).ends(2);
    assert!(!said.err.contains('\u{1b}'), "a pipe is no terminal: {}", said.err);
    let Some(colored) = on_a_terminal(&scratch, None) else {
        println!("there is no 'script' here to make a terminal: only the pipe was tried");
        return;
    };
    assert!(colored.contains("\u{1b}["), "{colored}");
    let plain = on_a_terminal(&scratch, Some("1")).expect("script was there");
    assert!(plain.contains("error") && !plain.contains('\u{1b}'), "{plain}");
}
