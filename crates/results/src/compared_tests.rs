//! Tests of comparisons that are killed, continued and replaced.

use super::super::directory::tests::{names, write};
use super::super::manifest::tests::sample;
use super::*;

fn plan(identity: &str, values: &[&str]) -> ComparisonPlan {
    let run = |value: &&str| ComparedRun { value: (*value).to_owned(), folder: (*value).to_owned() };
    ComparisonPlan { identity: identity.into(), program: "p".into(), runs: values.iter().map(run).collect() }
}

fn finished(value: &str) -> FinishedRun {
    let fingerprint = hex(sample().fingerprint);
    FinishedRun { value: value.into(), outcome: "finished".into(), fingerprint, rows: Vec::new() }
}

/// Makes the first runs of a comparison and commits it if these are all.
fn make(out: &Path, overwrite: bool, plan: &ComparisonPlan, most: usize) -> Result<usize, ResultsError> {
    let mut writer = ComparisonWriter::open(out, overwrite, plan)?;
    let kept = plan.runs.iter().filter(|run| writer.finished(run).is_some()).count();
    for run in plan.runs.iter().take(most) {
        if writer.finished(run).is_none() {
            let (place, replace) = writer.place(run);
            write(&place, replace, 1)?;
            writer.add(finished(&run.value))?;
        }
    }
    if most >= plan.runs.len() {
        writer.commit(("n", "k"), |_| Ok(()), |_| Ok(()))?;
    }
    Ok(kept)
}

#[test]
fn finished_runs_are_kept_if_they_are_unchanged() {
    let scratch = tempfile::tempdir().expect("there is room");
    let out = scratch.path().join("c");
    let three = plan("a", &["x", "y", "z"]);
    assert_eq!(make(&out, false, &three, 0).expect("it can be written"), 0);
    assert_eq!(names(scratch.path()), [""; 0], "nothing was finished, and nothing is left");
    make(&out, false, &three, 2).expect("it can be written");
    assert!(matches!(make(&out, false, &plan("b", &["x"]), 1), Err(ResultsError::Unfinished { .. })));
    let table = out.join("y/rates.parquet");
    let mut bytes = fs::read(&table).expect("it is there");
    bytes[9] ^= 1;
    fs::write(&table, bytes).expect("it is ours");
    assert_eq!(make(&out, false, &three, 2).expect("it is continued"), 1, "y was damaged");
    assert_eq!(make(&out, false, &ComparisonPlan { program: "q".into(), ..three.clone() }, 1).expect("again"), 0);
    make(&out, false, &three, 3).expect("it is continued");
    assert_eq!(names(&out), ["compare.json", "x", "y", "z"]);
    assert!(matches!(make(&out, false, &three, 3), Err(ResultsError::Exists { .. })));
    // The runs of an unfinished one that another one discards.
    let other = scratch.path().join("d");
    make(&other, false, &three, 2).expect("it can be written");
    make(&other, true, &plan("b", &["y"]), 1).expect("it is told to");
    assert_eq!(names(&other), ["compare.json", "y"]);
}

#[test]
fn one_writer_at_a_time_and_the_older_stays_until_the_new_is_complete() {
    let scratch = tempfile::tempdir().expect("there is room");
    let out = scratch.path().join("c");
    make(&out, false, &plan("a", &["x", "y"]), 2).expect("it can be written");
    fs::write(out.join("notes"), "precious").expect("there is room");
    fs::write(out.join("x/notes"), "precious").expect("there is room");
    let before = names(&out);
    let new = plan("b", &["x", "z"]);
    let writer = ComparisonWriter::open(&out, true, &new).expect("it may be replaced");
    assert!(matches!(make(&out, true, &new, 2), Err(ResultsError::Busy { .. })));
    assert!(matches!(make(&out, false, &new, 2), Err(ResultsError::Busy { .. })));
    drop(writer);
    assert_eq!(names(&out), before);
    make(&out, true, &new, 1).expect("it can be written");
    assert_eq!((names(&out), names(scratch.path())), (before, vec!["c".into(), "c.partial-comparison".into()]));
    assert_eq!(make(&out, true, &new, 2).expect("it is continued"), 1);
    assert_eq!(names(&out), ["compare.json", "notes", "x", "z"]);
    assert_eq!(fs::read(out.join("x/notes")).expect("it was moved"), b"precious");
    assert_eq!(names(scratch.path()), ["c"]);
    // A name of the user's that the new one needs.
    fs::write(out.join("w"), "precious").expect("there is room");
    let error = make(&out, true, &plan("c", &["w"]), 1).expect_err("it is in the way");
    assert!(matches!(&error, ResultsError::InTheWay { kept, .. } if kept.ends_with("c-2")), "{error}");
    assert_eq!(names(&out), ["compare.json", "notes", "w", "x", "z"]);
    assert_eq!(names(&scratch.path().join("c-2")), ["compare.json", "w"]);
    assert_eq!(names(scratch.path()), ["c", "c-2"]);
}

#[test]
fn a_process_killed_while_it_replaced_a_comparison_loses_nothing() {
    let scratch = tempfile::tempdir().expect("there is room");
    let out = scratch.path().join("c");
    let (old, new) = (plan("a", &["x"]), plan("b", &["y"]));
    // Killed after the exchange: the old one is still beside the new one, with a file of its user.
    make(&out, false, &new, 1).expect("it can be written");
    let beside = scratch.path().join("c.partial-comparison");
    make(&beside, false, &old, 1).expect("it can be written");
    fs::write(beside.join("notes"), "precious").expect("there is room");
    assert!(matches!(make(&out, false, &new, 1), Err(ResultsError::Exists { .. })));
    assert_eq!(
        (names(&out), names(scratch.path())),
        (vec!["compare.json".into(), "notes".into(), "y".into()], vec!["c".into()])
    );
    // Killed between two renames, where directories cannot be exchanged.
    fs::rename(&out, scratch.path().join("c.partial-replaced")).expect("it is ours");
    assert!(matches!(make(&out, false, &new, 1), Err(ResultsError::Exists { .. })));
    assert_eq!(names(scratch.path()), ["c"]);
    // Killed before the exchange: all runs are finished, and only that is left to do.
    make(&beside, false, &old, 1).expect("it can be written");
    let document = UnfinishedComparison {
        identity: "a".into(),
        program: "p".into(),
        runs: old.runs.clone(),
        finished: vec![finished("x")],
    };
    document.write(&beside).expect("there is room");
    assert_eq!(make(&out, true, &old, 1).expect("it is continued"), 1);
    assert_eq!(names(&out), ["compare.json", "notes", "x"]);
}

#[test]
fn the_next_free_name_is_taken_unless_the_same_comparison_waits_there() {
    let scratch = tempfile::tempdir().expect("there is room");
    let out = scratch.path().join("results/c");
    let (one, two) = (plan("a", &["x", "y"]), plan("b", &["x"]));
    let first = ComparisonWriter::open_numbered(&out, &one).expect("it can be written");
    let second = ComparisonWriter::open_numbered(&out, &one).expect("it can be written");
    assert_eq!((first.out.clone(), second.out.clone()), (out.clone(), out.with_file_name("c-2")));
    drop((first, second));
    make(&out, false, &one, 1).expect("it can be written");
    assert_eq!(ComparisonWriter::open_numbered(&out, &two).expect("it can be written").out, out.with_file_name("c-2"));
    assert_eq!(ComparisonWriter::open_numbered(&out, &one).expect("it is continued").out, out);
}

#[test]
fn a_document_that_names_folders_elsewhere_is_refused() {
    let scratch = tempfile::tempdir().expect("there is room");
    write(&scratch.path().join("mine"), false, 1).expect("it can be written");
    let runs = vec![ComparedRun { value: "x".into(), folder: "../mine".into() }];
    let strange = Comparison { name: "n".into(), key: "k".into(), runs, rows: Vec::new() };
    strange.write(&scratch.path().join("c")).expect("there is room");
    let error = make(&scratch.path().join("c"), true, &plan("a", &["x"]), 1).expect_err("it leads out");
    assert!(error.to_string().contains("not inside"), "{error}");
    assert!(scratch.path().join("mine/manifest.json").exists());
}
