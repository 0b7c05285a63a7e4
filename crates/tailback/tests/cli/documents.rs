//! Documents of sweeps, comparisons, figures and analyses that somebody has edited, damaged or exchanged.

use crate::program::{SOUND, Scratch};
use std::fs;

fn read(scratch: &Scratch, name: &str) -> String {
    fs::read_to_string(scratch.path(name)).expect("it is there")
}

fn edit(scratch: &Scratch, name: &str, edit: impl Fn(&str) -> String) {
    let text = read(scratch, name);
    let changed = edit(&text);
    assert_ne!(text, changed, "{name} was not edited");
    fs::write(scratch.path(name), changed).expect("there is room");
}

/// The first digit behind a key is another one.
fn other_digit(text: &str, key: &str) -> String {
    let at = text.find(key).expect("the key is there") + key.len();
    let digit = at + text[at..].find(|c: char| c.is_ascii_digit()).expect("a number");
    let other = if &text[digit..=digit] == "7" { "8" } else { "7" };
    format!("{}{other}{}", &text[..digit], &text[digit + 1..])
}

/// An edited run of a sweep is made again, and so is one that was exchanged for another; the table is as it was.
#[test]
fn finished_runs_that_were_changed_are_repeated() {
    let scratch = Scratch::new("documents-points");
    scratch.file("a.toml", SOUND);
    let sweep = ["sweep", "a.toml", "--axis", "run.duration=50us,60us", "--replications", "2", "--out", "s"];
    scratch.run(&sweep).ends(0);
    let table = read(&scratch, "s/table.csv");
    let points = scratch.names("s/points");
    assert_eq!(points.len(), 4);
    let point = |number: usize| format!("s/points/{}", points[number]);
    edit(&scratch, &point(0), |text| other_digit(text, "delivered (B)"));
    fs::write(scratch.path(&point(1)), read(&scratch, &point(2))).expect("there is room");
    // Without its hash it would pass for one of before there were any.
    edit(&scratch, &point(3), |text| {
        let kept = text.lines().filter(|line| !line.contains("\"hash\"") && !line.contains("\"format\""));
        other_digit(&kept.collect::<Vec<_>>().join("\n"), "delivered (B)")
    });
    let said = scratch.run(&sweep).ends(0);
    assert!(said.err.contains("2 more files") && said.err.contains("repeated"), "{}", said.err);
    assert_eq!(read(&scratch, "s/table.csv"), table);
    let said = scratch.run(&sweep).ends(0);
    assert!(!said.err.contains("repeated"), "{}", said.err);
}

#[test]
fn reports_refuse_edited_documents() {
    let scratch = Scratch::new("documents-edited");
    scratch.file("a.toml", SOUND);
    scratch.run(&["sweep", "a.toml", "--axis", "run.duration=50us,60us", "--out", "s"]).ends(0);
    scratch.run(&["compare", "a.toml", "--vary", "run.duration=50us,60us", "--out", "c"]).ends(0);
    for (folder, name, key) in
        [("s", "table.json", "mean"), ("s", "sweep.json", "seeds"), ("c", "compare.json", "mean_bits_per_second")]
    {
        scratch.run(&["report", folder, "-o", "r.html", "--overwrite"]).ends(0);
        let file = format!("{folder}/{name}");
        let whole = read(&scratch, &file);
        edit(&scratch, &file, |text| other_digit(text, &format!("\"{key}\"")));
        let said = scratch.run(&["report", folder, "-o", "r.html", "--overwrite"]).ends(2);
        assert!(said.err.contains(name) && said.err.contains("SHA-256"), "{}", said.err);
        fs::write(scratch.path(&file), whole).expect("there is room");
    }
    // A run that is not the one that was compared.
    let runs: Vec<String> =
        scratch.names("c").into_iter().filter(|name| scratch.path(&format!("c/{name}")).is_dir()).collect();
    fs::rename(scratch.path(&format!("c/{}", runs[0])), scratch.path("aside")).expect("it can be moved");
    fs::rename(scratch.path(&format!("c/{}", runs[1])), scratch.path(&format!("c/{}", runs[0]))).expect("moved");
    fs::rename(scratch.path("aside"), scratch.path(&format!("c/{}", runs[1]))).expect("moved");
    let said = scratch.run(&["report", "c", "-o", "r.html", "--overwrite"]).ends(2);
    assert!(said.err.contains("fingerprint"), "{}", said.err);
}

/// Tasks of a batch system make parts of a sweep, in any order and some of them twice; the table is that of one command.
#[test]
fn parts_make_the_same_sweep() {
    let scratch = Scratch::new("documents-parts");
    scratch.file("a.toml", SOUND);
    let sweep = ["sweep", "a.toml", "--axis", "run.duration=50us,60us", "--replications", "2", "--out"];
    let run = |more: &[&str]| scratch.run(&[&sweep[..], more].concat());
    run(&["whole"]).ends(0);
    for part in ["3/3", "1/3", "3/3", "2/3"] {
        let said = run(&["parts", "--part", part]).ends(0);
        assert!(said.out.is_empty() && said.err.contains("of 4 runs"), "{}", said.err);
        assert!(!scratch.path("parts/table.csv").exists());
    }
    assert_eq!(scratch.names("parts/points").len(), 4);
    let written =
        |name: &str| fs::metadata(scratch.path(name)).and_then(|found| found.modified()).expect("it is there");
    let point = format!("parts/points/{}", scratch.names("parts/points")[0]);
    let before = written(&point);
    run(&["parts"]).ends(0);
    assert_eq!(written(&point), before, "it is not made again");
    assert_eq!(read(&scratch, "parts/table.csv"), read(&scratch, "whole/table.csv"));
    // A late task, or the start of another command, leaves the tables listed.
    let listed = read(&scratch, "parts/sweep.json");
    run(&["parts", "--part", "1/3"]).ends(0);
    assert_eq!(read(&scratch, "parts/sweep.json"), listed);
    run(&["parts", "--part", "4/3"]).ends(2);
}

/// Finished runs of a sweep of another scenario are not taken for runs of this one, nor are their sweeps mixed.
#[test]
fn runs_of_another_sweep_are_not_taken() {
    let scratch = Scratch::new("documents-foreign");
    scratch.file("a.toml", SOUND).file("b.toml", SOUND.replace("10Gb/s", "5Gb/s"));
    let sweep = |file: &str, out: &str| {
        scratch.run(&["sweep", file, "--axis", "run.duration=50us,60us", "--replications", "2", "--out", out])
    };
    sweep("a.toml", "a").ends(0);
    sweep("b.toml", "b").ends(0);
    let (of_a, of_b) = (read(&scratch, "a/table.csv"), read(&scratch, "b/table.csv"));
    assert_ne!(of_a, of_b);
    let (names, others) = (scratch.names("a/points"), scratch.names("b/points"));
    assert!(names.iter().all(|name| !others.contains(name)));
    for (name, other) in names.iter().zip(&others) {
        let foreign = read(&scratch, &format!("b/points/{other}"));
        fs::write(scratch.path(&format!("a/points/{name}")), foreign).expect("there is room");
    }
    assert!(sweep("a.toml", "a").ends(0).err.contains("repeated"));
    assert_eq!(read(&scratch, "a/table.csv"), of_a);
    // Two at once into one new directory: one of them has it.
    let start = |file: &str| {
        scratch.start(&["sweep", file, "--axis", "run.duration=50us,60us", "--replications", "2", "--out", "both"])
    };
    let (first, second) = (start("a.toml"), start("b.toml"));
    let codes = [first, second].map(|child| child.wait_with_output().expect("it ends").status.code());
    let table = read(&scratch, "both/table.csv");
    match codes {
        [Some(0), Some(2)] => assert_eq!(table, of_a),
        [Some(2), Some(0)] => assert_eq!(table, of_b),
        codes => panic!("{codes:?}"),
    }
}

/// A label of a row is true: the seed of a cell is the one that it sets, and an axis that another one overrides is refused.
#[test]
fn every_axis_of_a_sweep_has_an_effect() {
    let scratch = Scratch::new("documents-axes");
    let random = SOUND.replace("kind = \"greedy\"", "kind = \"poisson-flows\"\nload = 0.5\nflow_size = \"2KB\"");
    scratch.file("a.toml", random).file("b.toml", SOUND);
    let fingerprint = |arguments: &[&str]| {
        let said = scratch.run(arguments).ends(0).json();
        said["fingerprint"].as_str().expect("a fingerprint").to_owned()
    };
    let run = |seed: &str| {
        fingerprint(&["run", "a.toml", "--no-record", "--json", "--set", "run.duration=50us", "--set", seed])
    };
    let alone = [run("run.seed=1"), run("run.seed=7")];
    assert_ne!(alone[0], alone[1]);
    scratch.run(&["sweep", "a.toml", "--set", "run.duration=50us", "--axis", "run.seed=1,7", "--out", "s"]).ends(0);
    let mut swept: Vec<String> = scratch
        .names("s/points")
        .iter()
        .map(|name| {
            let point: serde_json::Value =
                serde_json::from_str(&read(&scratch, &format!("s/points/{name}"))).expect("JSON");
            point["fingerprint"].as_str().expect("a fingerprint").to_owned()
        })
        .collect();
    let mut alone = alone.to_vec();
    swept.sort();
    alone.sort();
    assert_eq!(swept, alone);
    for axes in [
        ["--axis", "run.duration=50us,60us", "--axis", "run.duration=70us"],
        ["--axis", "workloads[0].frame=500B", "--axis", "workloads[w].frame=600B"],
    ] {
        let said = scratch.run(&[&["sweep", "b.toml", "--out", "t"], &axes[..]].concat()).ends(2);
        assert!(said.err.contains("has no effect"), "{}", said.err);
    }
    let said = scratch.run(&["sweep", "b.toml", "--axis", "run.replications=1,3", "--out", "t"]).ends(2);
    assert!(said.err.contains("run.replications"), "{}", said.err);
    assert!(!scratch.path("t").exists());
}

/// A recorded run of a figure that was exchanged for another is refused by a report, and made again by `reproduce`.
#[test]
fn an_exchanged_run_of_a_figure_is_found() {
    let scratch = Scratch::new("documents-figure");
    let figure =
        SOUND.replace("\"1ms\"", "\"50us\"") + "[[expectations]]\nmetric = \"outcome\"\nvalue = \"finished\"\n";
    scratch.file("papers/p/fig1.toml", figure).file("b.toml", SOUND.replace("10Gb/s", "5Gb/s"));
    let reproduce = ["reproduce", "p/fig1", "--quick", "--out", "out"];
    scratch.run(&reproduce).ends(0);
    let report = || scratch.run(&["report", "out/p/fig1-quick", "-o", "r.html", "--overwrite"]);
    report().ends(0);
    fs::remove_dir_all(scratch.path("out/p/fig1-quick/run")).expect("it is there");
    scratch.run(&["run", "b.toml", "-q", "--set", "run.duration=50us", "--out", "out/p/fig1-quick/run"]).ends(0);
    assert!(report().ends(2).err.contains("fingerprint"));
    scratch.run(&reproduce).ends(0);
    report().ends(0);
}
