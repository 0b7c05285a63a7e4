//! The plan of recorded results.

use files::LARGEST_DATA;
use results::{Results, hash_of};
use scenario::{Disk, Errors, FileReader, Plan, load_with, unread};
use std::path::{Path, PathBuf};

/// Loads the plan of recorded results from their copies of its input files or, if `outside` is true, from the original
/// files named in the manifest. The overrides are those of the manifest; the seed is the scenario's.
///
/// # Errors
/// Returns all problems found, including input files that differ from those of the run.
pub fn load_recorded(results: &Results, overrides: &[String], outside: bool) -> Result<Plan, Errors> {
    let reader = Recorded { results, outside };
    let Some(first) = results.manifest.inputs.first() else {
        let name = results.directory().to_string_lossy().into_owned();
        return Err(unread(name, "it does not name its scenario", "run the scenario itself"));
    };
    reader.copies_are_sound()?;
    load_with(&first.path, overrides, &reader, "run the scenario itself")
}

/// Returns the input files of recorded results, the scenario first, with the paths that the manifest names them by. Results
/// without copies of them have none.
///
/// # Errors
/// Returns an error if a copy differs from the file of the run.
pub fn recorded_texts(results: &Results) -> Result<Vec<(String, String)>, Errors> {
    let reader = Recorded { results, outside: false };
    reader.copies_are_sound()?;
    let inputs = results.manifest.inputs.iter();
    Ok(inputs.map_while(|it| Some((it.path.clone(), reader.read(Path::new(&it.path)).ok()?))).collect())
}

/// A loader of the input files of a recorded run.
struct Recorded<'a> {
    results: &'a Results,
    outside: bool,
}

impl Recorded<'_> {
    /// That the copies among the results are those that were run; an error names the copy, not the file it is of.
    fn copies_are_sound(&self) -> Result<(), Errors> {
        let directory = self.results.directory();
        for (input, copy) in self.results.manifest.inputs.iter().filter_map(|it| Some((it, it.copy.as_ref()?))) {
            let read = files::inside(directory, copy).and_then(|path| files::read_text(&path, LARGEST_DATA));
            let reason = match read {
                Ok(text) if hash_of(text.as_bytes()) == input.hash => continue,
                Ok(_) => "its SHA-256 differs from the one in manifest.json: it was damaged or edited".to_owned(),
                Err(error) => error.to_string(),
            };
            let name = directory.join(copy).to_string_lossy().into_owned();
            return Err(unread(name, &reason, "restore it from a copy of the results, or run the scenario again"));
        }
        Ok(())
    }
}

impl FileReader for Recorded<'_> {
    fn read(&self, path: &Path) -> Result<String, String> {
        let directory = self.results.directory();
        let found = self.results.manifest.inputs.iter().find(|input| Path::new(&input.path) == path);
        let Some(input) = found else { return Err("it is not among the files of the recorded run".into()) };
        let text = match &input.copy {
            Some(copy) => files::inside(directory, copy)
                .and_then(|path| files::read_text(&path, LARGEST_DATA))
                .map_err(|error| format!("its copy in {}: {error}", directory.display()))?,
            None if self.outside => Disk.read_data(path)?,
            None => return Err("it is not among the results; --inputs reads the files that a manifest names".into()),
        };
        if hash_of(text.as_bytes()) == input.hash {
            Ok(text)
        } else {
            Err("it has changed since it was run; run it again".into())
        }
    }

    fn identity(&self, path: &Path) -> PathBuf {
        if self.outside { Disk.identity(path) } else { path.to_path_buf() }
    }
}
