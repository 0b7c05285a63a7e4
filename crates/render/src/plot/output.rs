//! Writing several pictures: all paths are checked before the first file is written.

use super::canvas::Canvas;
use super::png::to_png;
use super::svg::to_svg;
use results::{FileRecord, Kind, ResultsError, sealed_markup, sealed_png};
use std::path::{Path, PathBuf};

/// Pictures that are drawn but not yet written.
#[derive(Clone, Debug, Default)]
pub struct Drawn {
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl Drawn {
    /// Adds a canvas as `NAME.svg` and `NAME.png`, with that number of pixels per point.
    pub fn add(&mut self, canvas: &Canvas, (out, name): (&Path, &str), scale: f64) {
        let path = |ending: &str| out.join(format!("{name}.{ending}"));
        self.files.push((path("svg"), sealed_markup(to_svg(canvas)).into_bytes()));
        self.files.extend(to_png(canvas, scale).map(|png| (path("png"), sealed_png(png))));
    }

    /// Adds the pictures of another collection.
    pub fn append(&mut self, mut other: Drawn) {
        self.files.append(&mut other.files);
    }

    /// Returns whether there is no picture.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns the records of the files, with paths relative to a directory.
    #[must_use]
    pub fn records(&self, directory: &Path) -> Vec<FileRecord> {
        let inside = |path: &Path| path.strip_prefix(directory).unwrap_or(path).to_string_lossy().into_owned();
        self.files.iter().map(|(path, contents)| FileRecord::new(&inside(path), contents)).collect()
    }

    /// Checks that all pictures may be written.
    ///
    /// # Errors
    /// Returns an error if a file exists that Tailback did not write or that was edited since, and `overwrite` is false.
    pub fn check(&self, overwrite: bool) -> Result<(), ResultsError> {
        self.files.iter().try_for_each(|(path, _)| Kind::Picture.may_go_to(path, overwrite))
    }

    /// Writes all pictures, and returns their paths.
    ///
    /// # Errors
    /// Returns the errors of [`Drawn::check`], in which case nothing is written, or an error if a system call fails.
    pub fn write(self, overwrite: bool) -> Result<Vec<PathBuf>, ResultsError> {
        self.check(overwrite)?;
        for (path, contents) in &self.files {
            let folder = path.parent().unwrap_or(Path::new(""));
            std::fs::create_dir_all(folder).map_err(|source| ResultsError::io("create", folder, source))?;
            Kind::Picture.write(path, overwrite, contents)?;
        }
        Ok(self.files.into_iter().map(|(path, _)| path).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_the_way_of_the_last_picture_stops_the_first() {
        let scratch = tempfile::tempdir().expect("there is room");
        let canvas = Canvas::new(40.0, 30.0, "t");
        let mut drawn = Drawn::default();
        for name in ["a", "b", "c"] {
            drawn.add(&canvas, (&scratch.path().join(name), name), 1.0);
        }
        assert_eq!(drawn.records(scratch.path())[0].path, "a/a.svg");
        std::fs::create_dir(scratch.path().join("c")).expect("there is room");
        std::fs::write(scratch.path().join("c/c.png"), "precious").expect("there is room");
        assert!(matches!(drawn.clone().write(false), Err(ResultsError::Foreign { .. })));
        assert!(!scratch.path().join("a").exists());
        assert_eq!(drawn.write(true).expect("it is told to").len(), 6);
    }
}
