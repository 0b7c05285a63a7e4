//! Tests of directories that appear atomically.

use super::super::manifest::tests::sample;
use super::super::reader::Results;
use super::super::stage::MARK;
use super::*;
use fabric::record::{RateRow, schema};
use files::output::unfinished;
use units::Time;

pub(crate) fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .expect("it is there")
        .map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

pub(crate) fn write(out: &Path, overwrite: bool, rate: u64) -> Result<PathBuf, ResultsError> {
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
    let scratch = tempfile::tempdir().expect("there is room");
    let out = scratch.path().join("deep/run");
    write(&out, false, 7).expect("it can be written");
    assert_eq!(names(&scratch.path().join("deep")), ["run"]);
    assert_eq!(rate(&out), 7);
    let manifest = Manifest::read(&out).expect("it is sound");
    assert_eq!(
        manifest.not_recorded,
        ["waits", "wait_buckets", "delays", "queue_levels", "causes", "cause_samples", "roots", "trees"]
    );
    let rates = manifest.tables.iter().find(|table| table.name == "rates").expect("it was recorded");
    assert_eq!(rates.rows, 1);
    assert!(!names(&out).contains(&MARK.to_owned()));
    assert!(!out.join("result").exists());
}

#[test]
fn an_old_result_is_replaced_only_when_asked_for() {
    let scratch = tempfile::tempdir().expect("there is room");
    let out = scratch.path().join("run");
    write(&out, false, 1).expect("it can be written");
    assert!(matches!(write(&out, false, 2), Err(ResultsError::Exists { .. })));
    assert_eq!(rate(&out), 1);
    let writer = ResultWriter::create(&out, true, &RecorderSpec::default()).expect("it may be replaced");
    assert_eq!(rate(&out), 1, "it stays until the new one is whole");
    drop(writer);
    assert_eq!(rate(&out), 1);
    write(&out, true, 3).expect("it may be replaced");
    assert_eq!(rate(&out), 3);
    assert_eq!(names(scratch.path()), ["run"]);
}

#[test]
fn what_is_not_a_result_is_never_replaced() {
    let scratch = tempfile::tempdir().expect("there is room");
    let out = scratch.path().join("thesis");
    fs::create_dir(&out).expect("there is room");
    fs::write(out.join("chapter1.tex"), "precious").expect("there is room");
    fs::write(scratch.path().join("file"), "precious").expect("there is room");
    for path in [out.clone(), scratch.path().join("file")] {
        assert!(matches!(write(&path, true, 1), Err(ResultsError::NotOurs { .. })));
    }
    assert_eq!(names(scratch.path()), ["file", "thesis"]);
    assert!(matches!(write(Path::new("/"), true, 1), Err(ResultsError::NotOurs { .. })));
    fs::create_dir(scratch.path().join("empty")).expect("there is room");
    write(&scratch.path().join("empty"), false, 1).expect("an empty directory is no loss");
}

#[test]
fn a_result_that_appears_meanwhile_loses_neither() {
    let scratch = tempfile::tempdir().expect("there is room");
    let out = scratch.path().join("run");
    let first = ResultWriter::create(&out, false, &RecorderSpec::default()).expect("nothing is there");
    let second = ResultWriter::create(&out, false, &RecorderSpec::default()).expect("nothing is there");
    let stage = first.partial().parent().expect("it is in a stage").to_owned();
    assert_eq!(second.leftovers(), [Leftover::Busy(stage)]);
    first.commit(sample()).expect("it is the first");
    let Err(ResultsError::Appeared { kept, .. }) = second.commit(sample()) else { panic!("it is the second") };
    Results::open(&out).expect("the first is whole");
    Results::open(&kept).expect("the second is whole");
    write(&scratch.path().join("other"), false, 1).expect("it can be written");
    assert_eq!(names(scratch.path()), ["other", "run", "run-2"]);
}

#[test]
fn results_that_may_take_the_next_name_do() {
    let scratch = tempfile::tempdir().expect("there is room");
    let out = scratch.path().join("run");
    let start = || ResultWriter::create_numbered(&out, &RecorderSpec::default()).expect("there is room");
    let three = [start(), start(), start()];
    fs::write(scratch.path().join("run-2"), "precious").expect("there is room");
    let places = three.map(|writer| writer.commit(sample()).expect("a name is free"));
    assert_eq!(places, ["run", "run-3", "run-4"].map(|name| scratch.path().join(name)));
    places.iter().for_each(|place| assert!(Results::open(place).is_ok()));
    assert_eq!(names(scratch.path()), ["run", "run-2", "run-3", "run-4"]);
}

/// What a user puts into a result: beside the tables, in a folder of ours, in folders of their own.
const PRECIOUS: [&str; 5] = ["notes.txt", "plots/sketch.svg", "csv/mine.csv", "notes/deep/a.txt", "report.html"];

fn put_precious(out: &Path) {
    for name in PRECIOUS {
        let path = out.join(name);
        fs::create_dir_all(path.parent().expect("it is in the result")).expect("there is room");
        fs::write(path, format!("precious {name}")).expect("there is room");
    }
    fs::create_dir(out.join("empty")).expect("there is room");
}

fn has_precious(out: &Path) -> bool {
    let kept = |name: &&str| fs::read_to_string(out.join(name)).is_ok_and(|text| text == format!("precious {name}"));
    PRECIOUS.iter().all(kept) && out.join("empty").is_dir()
}

#[test]
fn what_its_user_has_put_into_a_result_outlives_it() {
    let scratch = tempfile::tempdir().expect("there is room");
    let out = scratch.path().join("run");
    write(&out, false, 1).expect("it can be written");
    put_precious(&out);
    // A table without a hash may have been edited.
    fs::write(out.join("csv/rates.csv"), "time,flow,rate,window\n").expect("there is room");
    assert!(matches!(write(&out, true, 2), Err(ResultsError::NotWhole { .. })));
    // Views that were made since are ours, and of the old result.
    let results = Results::open(&out).expect("a result");
    super::super::csv::export_csv(&results, &out.join("csv"), true).expect("there is room");
    let mut writer = ResultWriter::create(&out, true, &RecorderSpec::default()).expect("it may be replaced");
    writer.write(&[RateRow { time: Time::ZERO, flow: 1, rate: Some(2), window: None }]).expect("there is room");
    writer.attach("plan.toml.txt", b"new").expect("there is room");
    writer.commit(sample()).expect("it may be replaced");
    assert_eq!(rate(&out), 2);
    assert!(has_precious(&out));
    assert_eq!(names(&out.join("csv")), ["mine.csv"]);
    assert_eq!(names(scratch.path()), ["run"]);
    // A new file of the same name replaces nothing, and nothing is lost.
    let mut writer = ResultWriter::create(&out, true, &RecorderSpec::default()).expect("it may be replaced");
    writer.attach("notes.txt", b"ours").expect("there is room");
    let Err(ResultsError::InTheWay { path, kept }) = writer.commit(sample()) else { panic!("it is in the way") };
    assert_eq!((path, kept), (out.join("notes.txt"), scratch.path().join("run-2")));
    assert!(rate(&out) == 2 && has_precious(&out));
    assert_eq!(names(scratch.path()), ["run", "run-2"]);
}

#[test]
#[cfg(target_os = "linux")]
fn what_its_user_has_put_into_a_result_outlives_a_killed_exchange() {
    let scratch = tempfile::tempdir().expect("there is room");
    let out = scratch.path().join("run");
    write(&out, false, 1).expect("it can be written");
    put_precious(&out);
    let dead = unfinished::names(&out.join("plots/throughput.svg")).next().expect("a name");
    drop(unfinished::create_locked(&dead).expect("there is room"));
    let writer = ResultWriter::create(&out, true, &RecorderSpec::default()).expect("it may be replaced");
    let finished = writer.finish(sample()).expect("there is room");
    finished.stage.exchange(&out).expect("both are there");
    let result = finished.directory();
    killed(finished, &result);
    assert!(!has_precious(&out));
    write(&out, true, 3).expect("it may be replaced");
    assert!(rate(&out) == 3 && has_precious(&out));
    assert_eq!(names(&out.join("plots")), ["sketch.svg"], "what a killed process has left goes with its result");
    assert_eq!(names(scratch.path()), ["run"]);
}

#[test]
fn a_copied_manifest_is_no_result() {
    let scratch = tempfile::tempdir().expect("there is room");
    let (result, thesis) = (scratch.path().join("run"), scratch.path().join("thesis"));
    write(&result, false, 1).expect("it can be written");
    fs::create_dir(&thesis).expect("there is room");
    fs::copy(result.join(FILE), thesis.join(FILE)).expect("there is room");
    fs::write(thesis.join("chapter1.tex"), "precious").expect("there is room");
    let refused = |out: &Path, words: &str| {
        let before = names(out);
        let error = write(out, true, 2).expect_err("it is not as it was written").to_string();
        assert!(error.contains(words), "{error}");
        assert_eq!(names(out), before);
    };
    refused(&thesis, "is missing");
    fs::write(result.join("rates.parquet"), "mine").expect("there is room");
    refused(&result, "rates.parquet has 4 bytes");
    let mut writer =
        ResultWriter::create(&scratch.path().join("other"), false, &RecorderSpec::default()).expect("there is room");
    writer.attach("plan.toml.txt", b"plan").expect("there is room");
    writer.commit(sample()).expect("there is room");
    fs::write(scratch.path().join("other/plan.toml.txt"), "mine").expect("there is room");
    refused(&scratch.path().join("other"), "plan.toml.txt has been changed");
}

/// Without hashes an edited file looks like one that was not.
#[test]
fn a_result_without_hashes_is_not_replaced() {
    let scratch = tempfile::tempdir().expect("there is room");
    for (name, lacks_tables) in [("files", false), ("all", true)] {
        let out = scratch.path().join(name);
        let mut writer = ResultWriter::create(&out, false, &RecorderSpec::default()).expect("there is room");
        writer.attach("plan.toml.txt", b"plan").expect("there is room");
        writer.commit(sample()).expect("there is room");
        let mut manifest = Manifest::read(&out).expect("it is sound");
        manifest.files = None;
        if lacks_tables {
            manifest.tables.iter_mut().for_each(|table| table.hash = None);
        }
        fs::write(out.join(FILE), manifest.to_text()).expect("there is room");
        fs::write(out.join("plan.toml.txt"), "mine").expect("there is room");
        let error = write(&out, true, 2).expect_err("it may have been edited").to_string();
        assert!(error.contains("has no hashes"), "{error}");
        assert_eq!(fs::read_to_string(out.join("plan.toml.txt")).expect("it is there"), "mine");
        // What is removed with a result is known to be ours.
        super::super::ownership::remove_result(&out).expect("it is a result");
        assert_eq!(names(&out), ["plan.toml.txt"]);
    }
}

/// A link to a folder stays where it is, and the new result goes to the next free name.
#[test]
#[cfg(unix)]
fn a_link_in_the_way_is_found_before_anything_is_moved() {
    let scratch = tempfile::tempdir().expect("there is room");
    let (out, mine) = (scratch.path().join("run"), scratch.path().join("mine"));
    write(&out, false, 1).expect("it can be written");
    fs::create_dir(&mine).expect("there is room");
    std::os::unix::fs::symlink(&mine, out.join("csv")).expect("there is room");
    let writer = ResultWriter::create(&out, true, &RecorderSpec::default()).expect("it may be replaced");
    let mut finished = writer.finish(sample()).expect("there is room");
    let add = |directory: &Path| {
        fs::create_dir(directory.join("csv"))?;
        fs::write(directory.join("csv/rates.csv"), "rates")
    };
    finished.add(add).expect("there is room");
    let Err(ResultsError::InTheWay { path, kept }) = finished.commit() else { panic!("it is in the way") };
    assert_eq!((path, kept), (out.join("csv"), scratch.path().join("run-2")));
    assert!(rate(&out) == 1 && fs::symlink_metadata(out.join("csv")).is_ok_and(|found| found.is_symlink()));
    assert_eq!(names(scratch.path()), ["mine", "run", "run-2"]);
    assert!(names(&mine).is_empty());
}

#[test]
fn files_that_cannot_all_be_added_are_not_there() {
    let scratch = tempfile::tempdir().expect("there is room");
    let out = scratch.path().join("run");
    let writer = ResultWriter::create(&out, false, &RecorderSpec::default()).expect("there is room");
    let mut finished = writer.finish(sample()).expect("there is room");
    let failed = finished.add(|directory| {
        Results::open(directory).expect("it can be read already");
        fs::create_dir(directory.join("csv")).expect("there is room");
        fs::write(directory.join("csv/rates.csv"), "half").expect("there is room");
        Err("the disk is full")
    });
    assert_eq!(failed, Err("the disk is full"));
    finished.add(|directory| fs::write(directory.join("note.txt"), "note")).expect("there is room");
    assert!(!out.exists());
    finished.commit().expect("it can be moved");
    let files = Manifest::read(&out).expect("it is sound").files.expect("they are listed");
    assert_eq!(files.iter().map(|file| (file.path.as_str(), file.bytes)).collect::<Vec<_>>(), [("note.txt", 4)]);
    assert!(!out.join("csv").exists());
}

/// As a killed process leaves it: nothing is removed, and the lock is free.
fn killed<T>(writer: T, result: &Path) -> PathBuf {
    let stage = result.parent().expect("it is in a stage").to_owned();
    let aside = stage.with_file_name("aside");
    fs::rename(&stage, &aside).expect("it is there");
    drop(writer);
    fs::rename(&aside, &stage).expect("it is there");
    stage
}

#[test]
#[cfg(target_os = "linux")]
fn what_a_killed_run_has_left_is_removed_and_what_it_had_moved_is_moved_back() {
    let scratch = tempfile::tempdir().expect("there is room");
    let out = scratch.path().join("run");
    let start = || ResultWriter::create(&out, true, &RecorderSpec::default()).expect("it may be replaced");
    write(&scratch.path().join("old"), false, 5).expect("it can be written");
    let writer = start();
    let result = writer.partial();
    let stale = killed(writer, &result);
    // Killed where a file system cannot exchange directories.
    fs::rename(scratch.path().join("old"), stale.join("replaced")).expect("it is there");
    assert_eq!(rate(&out), 5, "opening it moves it back");
    // Made, and not yet marked.
    let empty = scratch.path().join("run.partial-00000000-1");
    fs::create_dir(&empty).expect("there is room");
    // Without the mark, of an earlier version, and of another machine.
    let strange =
        ["run.partial-0000aaaa-0", "run.partial-0000bbbb-0", "run.partial-4194999"].map(|it| scratch.path().join(it));
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
    let scratch = tempfile::tempdir().expect("there is room");
    let out = scratch.path().join("run");
    write(&out, false, 1).expect("it can be written");
    let writer = ResultWriter::create(&out, true, &RecorderSpec::default()).expect("it may be replaced");
    let finished = writer.finish(sample()).expect("there is room");
    let result = finished.directory();
    let stage = killed(finished, &result);
    // Before the two are exchanged.
    fs::rename(stage.join("result"), stage.join("replaced")).expect("it is there");
    assert_eq!(rate(&out), 1);
    write(&out, true, 2).expect("it may be replaced");
    assert_eq!((rate(&out), names(scratch.path())), (2, vec!["run".to_owned()]));
    // After it, while what was replaced is removed.
    let writer = ResultWriter::create(&out, true, &RecorderSpec::default()).expect("it may be replaced");
    let finished = writer.finish(sample()).expect("there is room");
    finished.stage.exchange(&out).expect("both are there");
    assert!(finished.stage.settle());
    let result = finished.directory();
    fs::remove_file(result.join(FILE)).expect("it is there");
    killed(finished, &result);
    write(&out, true, 3).expect("it may be replaced");
    assert_eq!((rate(&out), names(scratch.path())), (3, vec!["run".to_owned()]));
}

#[test]
#[cfg(target_os = "linux")]
fn a_disk_that_fills_up_leaves_the_old_result_and_nothing_else() {
    let scratch = tempfile::tempdir().expect("there is room");
    let out = scratch.path().join("run");
    write(&out, false, 1).expect("it can be written");
    let mut writer = ResultWriter::create(&out, true, &RecorderSpec::default()).expect("it may be replaced");
    let place = writer.tables.iter().position(|table| table.table().name == "rates").expect("it is recorded");
    writer.tables[place] = TableWriter::create(Path::new("/dev/full"), &schema::RATES).expect("it opens");
    let error = writer.commit(sample()).expect_err("nothing fits");
    assert!(error.is_full_disk());
    assert_eq!(rate(&out), 1);
    assert_eq!(names(scratch.path()), ["run"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_place_that_cannot_be_written_to_is_named() {
    let error = ResultWriter::create(Path::new("/proc/run"), false, &RecorderSpec::default()).err().expect("no");
    let text = error.to_string();
    assert!(text.contains("cannot create /proc/run.partial-"), "{text}");
    assert_eq!(text.lines().count(), 2);
}
