//! Starts the program in a directory of its own and compares what it says with what it said before.
//!
//! `UPDATE_SNAPSHOTS=1 cargo test -p tailback --test cli` writes the snapshots again; look at the difference.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// Three hosts, two of which send to the third.
pub const SOUND: &str = r#"schema_version = 1
name = "small"
[network]
topology = "single-switch"
hosts = 3
link = { rate = "10Gb/s", latency = "1us" }
[[switches]]
flow_control = "pfc"
buffers = { capacity = "100KB", xoff = "60KB", xon = "57KB" }
[[workloads]]
name = "w"
kind = "greedy"
from = ["h0", "h1"]
to = "h2"
[run]
duration = "1ms"
"#;

/// A directory of a test's own, removed when the test is over. The program runs in it.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("tailback-cli-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("the temporary directory can be written to");
        Scratch(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file, and the folders above it.
    pub fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> &Scratch {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("it is in the scratch")).expect("there is room");
        std::fs::write(path, contents).expect("there is room");
        self
    }

    /// Copies a scenario of the project here.
    pub fn scenario(&self, name: &str) -> &Scratch {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(name);
        self.file(name, std::fs::read(path).expect("a scenario"))
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tailback"));
        command.args(arguments).current_dir(&self.0).stdin(Stdio::null());
        command.env("COLUMNS", "100").env_remove("NO_COLOR");
        command
    }

    /// Runs the program to its end.
    pub fn run(&self, arguments: &[&str]) -> Said {
        Said::new(&self.command(arguments).output().expect("the program starts"))
    }

    /// Starts the program and lets it go.
    pub fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
    }

    /// Where a result that will be there is put together, once it is.
    pub fn unfinished(&self, out: &str) -> Option<PathBuf> {
        let start = format!("{out}.partial-");
        let name = self.names("").into_iter().find(|name| name.starts_with(&start))?;
        Some(self.path(&name).join("result"))
    }

    /// The names in a directory here, sorted.
    pub fn names(&self, directory: &str) -> Vec<String> {
        names(&self.path(directory))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The names in a directory, sorted; none if it is not there.
pub fn names(directory: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Waits until something is so, a minute at most.
pub fn wait_until(what: &str, mut so: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("a minute has passed, and not: {what}");
}

/// What a program that has ended said, and its exit code.
pub struct Said {
    pub out: String,
    pub err: String,
    pub code: Option<i32>,
}

impl Said {
    pub fn new(output: &Output) -> Said {
        let text = |octets: &[u8]| String::from_utf8(octets.to_vec()).expect("the program speaks UTF-8");
        let said = Said { out: text(&output.stdout), err: text(&output.stderr), code: output.status.code() };
        assert!(!said.err.contains("panicked"), "{}", said.err);
        said
    }

    /// That it ended with that code.
    #[track_caller]
    pub fn ends(self, code: i32) -> Said {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error} in:\n{}", self.out))
    }

    /// That all of it is as it was before.
    #[track_caller]
    pub fn matches(&self, name: &str) {
        let text = format!(
            "exit {}\n--- stdout\n{}--- stderr\n{}",
            self.code.map_or("by a signal".into(), |code| code.to_string()),
            steady(&self.out),
            steady(&self.err),
        );
        snapshot(name, &text);
    }
}

/// Text without what differs from run to run: the time it took.
fn steady(text: &str) -> String {
    let mut steady = String::new();
    for line in text.lines() {
        let parts = line.strip_prefix("simulated ").and_then(|rest| {
            let (simulated, rest) = rest.split_once(" in ")?;
            let (_, rest) = rest.split_once(": ")?;
            let (frames, rest) = rest.split_once(" (")?;
            let (_, rest) = rest.split_once("), ")?;
            Some(format!("simulated {simulated} in TIME: {frames} (SPEED), {rest}"))
        });
        steady.push_str(&parts.unwrap_or_else(|| line.to_owned()));
        steady.push('\n');
    }
    steady
}

/// That a text is as it was before.
#[track_caller]
pub fn snapshot(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/snapshots").join(format!("{name}.txt"));
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, text).expect("the snapshots can be written");
        return;
    }
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = |(a, b): (&str, &str)| a != b;
    let line = before.lines().zip(text.lines()).position(differs).unwrap_or(0) + 1;
    assert!(
        before == text,
        "{} differs, first in line {line}; UPDATE_SNAPSHOTS=1 accepts this:\n{text}",
        path.display()
    );
}
