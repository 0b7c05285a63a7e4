//! A process that is killed leaves the old result, or none.

use crate::network::{How, Scratch, everything, incast, run};
use results::{ResultWriter, Results};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;
use units::Span;

const OUT: &str = "TAILBACK_TEST_KILLED_OUT";

/// Not a test by itself: the process that is killed. It runs for hours unless it is.
#[test]
fn child() {
    let Some(out) = std::env::var_os(OUT).map(PathBuf::from) else { return };
    let mut spec = incast();
    spec.flows.iter_mut().for_each(|flow| flow.size = None);
    let how = How { shards: 1, until: Span::from_secs(3600), recorder: everything() };
    run(&spec, &how, &out).expect("it is killed before it fails");
}

#[test]
fn a_killed_run_leaves_nothing_that_looks_whole() {
    let scratch = Scratch::new("killed");
    let out = scratch.path("run");
    let mut child = Command::new(std::env::current_exe().expect("this test is a program"))
        .args(["--exact", "killed::child"])
        .env(OUT, &out)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it can be started again");
    let partial = || {
        let entries = std::fs::read_dir(scratch.path("")).expect("it is there").flatten();
        entries.map(|entry| entry.path()).find(|path| path.to_string_lossy().contains("run.partial-"))
    };
    let grown = (0..1200).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        let table = partial().map(|partial| std::fs::metadata(partial.join("result/links.parquet")));
        table.is_some_and(|table| table.is_ok_and(|file| file.len() > 10_000))
    });
    let partial = partial().expect("it has begun");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert!(grown, "tables are written while the run goes");
    assert!(!out.exists());
    assert!(Results::open(&out).is_err());
    assert!(Results::open(&partial).expect_err("it is not whole").to_string().contains("no manifest.json"));
    assert!(partial.join("INCOMPLETE").exists());
    let how = How { shards: 1, until: Span::from_millis(1), recorder: everything() };
    run(&incast(), &how, &out).expect("nothing is in the way");
    assert!(!partial.exists(), "the next run cleans up");
    let writer = ResultWriter::create(&out, true, &how.recorder).expect("it may be replaced");
    assert!(writer.leftovers().is_empty());
}
