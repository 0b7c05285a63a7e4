//! Directories that appear whole or not at all.

use super::super::manifest::tests::sample;
use super::super::reader::Results;
use super::super::stage::MARK;
use super::*;
use fabric::record::RateRow;
use fabric::record::schema;
use units::Time;

/// A directory of a test's own, removed when the test is over.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn directory(&self) -> &Path {
        &self.0
    }
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn scratch(name: &str) -> Scratch {
    let path = std::env::temp_dir().join(format!("tailback-test-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("the temporary directory can be written to");
    Scratch(path)
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .expect("it is there")
        .map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn write(out: &Path, overwrite: bool, rate: u64) -> Result<PathBuf, ResultsError> {
    let mut writer = ResultWriter::create(out, overwrite, &RecorderSpec::default())?;
    writer.write(&[RateRow { time: Time::ZERO, flow: 1, rate: Some(rate), window: None }])?;
    writer.commit(sample())
}

fn rate(out: &Path) -> i64 {
    let results = Results::open(out).expect("a result");
    results.read(&schema::RATES).expect("rates").integers("rate")[0]
}

#[test]
fn a_result_appears_whole_and_alone() {
    let scratch = scratch("whole");
    let out = scratch.path("deep/run");
    write(&out, false, 7).expect("it can be written");
    assert_eq!(names(&scratch.path("deep")), ["run"]);
    assert_eq!(rate(&out), 7);
    let manifest = Manifest::read(&out).expect("it is sound");
    assert_eq!(manifest.not_recorded, ["waits", "wait_buckets"]);
    let rates = manifest.tables.iter().find(|table| table.name == "rates").expect("it was recorded");
    assert_eq!(rates.rows, 1);
    assert!(!names(&out).contains(&MARK.to_owned()));
    assert!(!out.join("result").exists());
}

#[test]
fn an_old_result_is_replaced_only_when_asked_for() {
    let scratch = scratch("replace");
    let out = scratch.path("run");
    write(&out, false, 1).expect("it can be written");
    assert!(matches!(write(&out, false, 2), Err(ResultsError::Exists { .. })));
    assert_eq!(rate(&out), 1);
    let writer = ResultWriter::create(&out, true, &RecorderSpec::default()).expect("it may be replaced");
    assert_eq!(rate(&out), 1, "it stays until the new one is whole");
    drop(writer);
    assert_eq!(rate(&out), 1);
    write(&out, true, 3).expect("it may be replaced");
    assert_eq!(rate(&out), 3);
    assert_eq!(names(scratch.directory()), ["run"]);
}

#[test]
fn what_is_not_a_result_is_never_replaced() {
    let scratch = scratch("not-ours");
    let out = scratch.path("thesis");
    fs::create_dir(&out).expect("there is room");
    fs::write(out.join("chapter1.tex"), "precious").expect("there is room");
    fs::write(scratch.path("file"), "precious").expect("there is room");
    for path in [out.clone(), scratch.path("file")] {
        assert!(matches!(write(&path, true, 1), Err(ResultsError::NotOurs { .. })));
    }
    assert_eq!(names(scratch.directory()), ["file", "thesis"]);
    assert!(matches!(write(Path::new("/"), true, 1), Err(ResultsError::NotOurs { .. })));
    fs::create_dir(scratch.path("empty")).expect("there is room");
    write(&scratch.path("empty"), false, 1).expect("an empty directory is no loss");
}

#[test]
fn a_result_that_appears_meanwhile_loses_neither() {
    let scratch = scratch("meanwhile");
    let out = scratch.path("run");
    let first = ResultWriter::create(&out, false, &RecorderSpec::default()).expect("nothing is there");
    let second = ResultWriter::create(&out, false, &RecorderSpec::default()).expect("nothing is there");
    let stage = first.partial().parent().expect("it is in a stage").to_owned();
    assert_eq!(second.leftovers(), [Leftover::Busy(stage)]);
    first.commit(sample()).expect("it is the first");
    let Err(ResultsError::Appeared { kept, .. }) = second.commit(sample()) else { panic!("it is the second") };
    Results::open(&out).expect("the first is whole");
    Results::open(&kept).expect("the second is whole");
    write(&scratch.path("other"), false, 1).expect("it can be written");
    assert_eq!(names(scratch.directory()), ["other", "run", "run-2"]);
}

#[test]
fn results_that_may_take_the_next_name_do() {
    let scratch = scratch("numbered");
    let out = scratch.path("run");
    let start = || ResultWriter::create_numbered(&out, &RecorderSpec::default()).expect("there is room");
    let three = [start(), start(), start()];
    fs::write(scratch.path("run-2"), "precious").expect("there is room");
    let places = three.map(|writer| writer.commit(sample()).expect("a name is free"));
    assert_eq!(places, ["run", "run-3", "run-4"].map(|name| scratch.path(name)));
    places.iter().for_each(|place| assert!(Results::open(place).is_ok()));
    assert_eq!(names(scratch.directory()), ["run", "run-2", "run-3", "run-4"]);
}

/// As a killed process leaves it: nothing is removed, and the lock is free.
fn killed(mut writer: ResultWriter) -> PathBuf {
    writer.tables.clear();
    let stage = writer.partial().parent().expect("it is in a stage").to_owned();
    let copy = stage.with_file_name("aside");
    fs::rename(&stage, &copy).expect("it is there");
    drop(writer);
    fs::rename(&copy, &stage).expect("it is there");
    stage
}

#[test]
#[cfg(target_os = "linux")]
fn what_a_killed_run_has_left_is_removed_and_what_it_had_moved_is_moved_back() {
    let scratch = scratch("killed");
    let out = scratch.path("run");
    let start = || ResultWriter::create(&out, true, &RecorderSpec::default()).expect("it may be replaced");
    write(&scratch.path("old"), false, 5).expect("it can be written");
    let stale = killed(start());
    // Killed where a file system cannot exchange directories.
    fs::rename(scratch.path("old"), stale.join("replaced")).expect("it is there");
    assert_eq!(rate(&out), 5, "opening it moves it back");
    // Made, and not yet marked.
    let empty = scratch.path("run.partial-00000000-1");
    fs::create_dir(&empty).expect("there is room");
    // Without the mark, of an earlier version, and of another machine.
    let strange =
        ["run.partial-0000aaaa-0", "run.partial-0000bbbb-0", "run.partial-4194999"].map(|it| scratch.path(it));
    for (path, file) in strange.iter().zip(["precious", MARK, MARK]) {
        fs::create_dir(path).expect("there is room");
        fs::write(path.join(file), "").expect("there is room");
    }
    let writer = start();
    assert_eq!(writer.leftovers(), strange.clone().map(Leftover::Unknown), "not ours to remove");
    assert!(writer.leftovers()[0].to_string().contains("rm -r '"), "{}", writer.leftovers()[0]);
    assert!(!empty.exists() && strange.iter().all(|path| path.exists()));
    assert_eq!(writer.partial().parent(), Some(stale.as_path()), "its name is free again");
}

#[test]
fn a_killed_exchange_leaves_the_old_result_or_the_new_one() {
    let scratch = scratch("killed-exchange");
    let out = scratch.path("run");
    write(&out, false, 1).expect("it can be written");
    let writer = ResultWriter::create(&out, true, &RecorderSpec::default()).expect("it may be replaced");
    let stage = killed(writer);
    // Between the two renames of an exchange, and after it.
    fs::rename(stage.join("result"), stage.join("replaced")).expect("it is there");
    assert_eq!(rate(&out), 1);
    write(&out, true, 2).expect("it may be replaced");
    assert_eq!((rate(&out), names(scratch.directory())), (2, vec!["run".to_owned()]));
}

#[test]
#[cfg(target_os = "linux")]
fn a_disk_that_fills_up_leaves_the_old_result_and_nothing_else() {
    let scratch = scratch("full");
    let out = scratch.path("run");
    write(&out, false, 1).expect("it can be written");
    let mut writer = ResultWriter::create(&out, true, &RecorderSpec::default()).expect("it may be replaced");
    let place = writer.tables.iter().position(|table| table.table().name == "rates").expect("it is recorded");
    writer.tables[place] = TableWriter::create(Path::new("/dev/full"), &schema::RATES).expect("it opens");
    let error = writer.commit(sample()).expect_err("nothing fits");
    assert!(error.is_full_disk());
    assert_eq!(rate(&out), 1);
    assert_eq!(names(scratch.directory()), ["run"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_place_that_cannot_be_written_to_is_named() {
    let error = ResultWriter::create(Path::new("/proc/run"), false, &RecorderSpec::default()).err().expect("no");
    let text = error.to_string();
    assert!(text.contains("cannot create /proc/run.partial-"), "{text}");
    assert_eq!(text.lines().count(), 2);
}
