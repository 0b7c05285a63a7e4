//! Files of a result that were changed after the run: found before anything is made of them.

use crate::network::{How, Scratch, everything, incast, run};
use results::{Results, ResultsError, export_csv};
use std::path::{Path, PathBuf};
use units::Span;

/// Bits that are flipped in each file.
const FLIPS: usize = 20;

fn recorded(scratch: &Scratch, name: &str, micros: u64) -> PathBuf {
    let how = How { shards: 1, until: Span::from_micros(micros), recorder: everything() };
    run(&incast(), &how, &scratch.path(name)).expect("it can be written");
    scratch.path(name)
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).expect("a result");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be read").path()).collect();
    files.sort();
    files
}

fn verified(result: &Path) -> Result<(), ResultsError> {
    Results::open(result)?.verify()
}

/// All tables as text.
fn exported(result: &Path, scratch: &Scratch) -> Result<Vec<String>, ResultsError> {
    let written = export_csv(&Results::open(result)?, &scratch.path("csv"), false)?;
    Ok(written.iter().map(|file| std::fs::read_to_string(file).expect("it was written")).collect())
}

#[test]
fn a_flipped_bit_is_found_or_changes_nothing() {
    let scratch = Scratch::new("flipped");
    let result = recorded(&scratch, "run", 200);
    let before = (Results::open(&result).expect("a result").manifest, exported(&result, &scratch).expect("readable"));
    let (mut flips, mut found) = (0, 0);
    for file in files(&result) {
        let whole = std::fs::read(&file).expect("it is there");
        for flip in 0..FLIPS {
            let place = (flip * whole.len() / FLIPS + flip * 7) % whole.len();
            let mut damaged = whole.clone();
            damaged[place] ^= 1 << (flip % 8);
            std::fs::write(&file, &damaged).expect("there is room");
            flips += 1;
            // One flip in each file goes all the way to a command's output.
            let read = if flip == 0 { exported(&result, &scratch).map(|_| ()) } else { verified(&result) };
            match read {
                Err(error) => {
                    found += 1;
                    let text = error.to_string();
                    let name = file.file_name().expect("it has a name").to_string_lossy().into_owned();
                    assert!(text.contains(&name) && text.lines().count() == 2, "{text}");
                }
                Ok(()) => {
                    let manifest = Results::open(&result).expect("it was just read").manifest;
                    let text = exported(&result, &scratch).expect("it was just read");
                    assert!((manifest, text) == before, "bit {} of byte {place} of {}", flip % 8, file.display());
                }
            }
        }
        std::fs::write(&file, &whole).expect("there is room");
    }
    assert_eq!(found, flips, "every bit is under a hash");
    assert_eq!(exported(&result, &scratch).expect("it is whole again"), before.1);
}

#[test]
fn a_table_that_is_cut_missing_or_of_another_run_is_named() {
    let scratch = Scratch::new("not-as-written");
    let (result, other) = (recorded(&scratch, "run", 200), recorded(&scratch, "other", 100));
    let links = result.join("links.parquet");
    let whole = std::fs::read(&links).expect("it is there");
    let refused = |reason: &str| {
        let error = verified(&result).expect_err("it was changed");
        let text = error.to_string();
        assert!(text.contains("links.parquet") && text.contains(reason), "{text}");
    };
    std::fs::write(&links, &whole[..whole.len() / 2]).expect("there is room");
    refused("truncated");
    std::fs::copy(other.join("links.parquet"), &links).expect("there is room");
    refused("it has");
    let mut same_size = whole.clone();
    same_size[whole.len() / 2] ^= 1;
    std::fs::write(&links, &same_size).expect("there is room");
    refused("taken from another run");
    std::fs::remove_file(&links).expect("it is there");
    refused("it is missing");
    std::fs::write(&links, &whole).expect("there is room");
    verified(&result).expect("it is whole again");
    // The manifest of another run, too.
    std::fs::copy(other.join("manifest.json"), result.join("manifest.json")).expect("there is room");
    let error = verified(&result).expect_err("not its own");
    assert!(error.to_string().contains("has changed since the run wrote it"), "{error}");
}

#[test]
fn results_without_hashes_are_read_unverified() {
    let scratch = Scratch::new("old");
    let result = recorded(&scratch, "run", 200);
    let before = exported(&result, &scratch).expect("readable");
    let manifest = result.join("manifest.json");
    let text = std::fs::read_to_string(&manifest).expect("it is there");
    let mut json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    json.as_object_mut().expect("an object").remove("hash").expect("it states its hash");
    // Only the line of the manifest's own hash is gone: it was changed.
    std::fs::write(&manifest, json.to_string()).expect("there is room");
    let error = Results::open(&result).expect_err("its tables have hashes");
    assert!(error.to_string().contains("does not state its own SHA-256"), "{error}");
    for table in json["tables"].as_array_mut().expect("tables") {
        table.as_object_mut().expect("an object").remove("hash").expect("it has a hash");
    }
    std::fs::write(&manifest, json.to_string()).expect("there is room");
    assert!(!Results::open(&result).expect("an old result").manifest.has_hashes());
    assert_eq!(exported(&result, &scratch).expect("readable"), before);
}
