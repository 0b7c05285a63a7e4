//! Atomic writing of one file.

use super::unfinished::{create_locked, names, parent, remove_dead_files};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file that replaces its target when it is committed. If it is dropped before, the target is unchanged. `-` is
/// standard output.
///
/// For a path named by a user, symbolic links are followed: the target of the link is replaced, not the link. Anything
/// that is not a regular file (a pipe, a device, standard output) is written to directly. For a path named by Tailback,
/// all of these are refused; otherwise the creator of the directory could redirect the output.
#[derive(Debug)]
pub struct OutputFile {
    file: File,
    /// Temporary path and final path; `None` if the output is written to directly.
    places: Option<(PathBuf, PathBuf)>,
}

/// Maximum number of symbolic links that are followed.
const MOST_LINKS: usize = 40;

/// Returns whether a path refers to a standard stream of this process, whatever the stream is connected to.
pub(super) fn is_stream(path: &Path) -> bool {
    path == Path::new("-")
        || ["/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/proc"].iter().any(|start| path.starts_with(start))
}

/// Returns whether writing to a path would replace a file.
#[must_use]
pub fn is_replaced(path: &Path) -> bool {
    !is_stream(path) && fs::metadata(path).is_ok_and(|found| found.is_file())
}

/// Opens a file that is written to directly.
fn stream(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    if ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|own| path == Path::new(own)) {
        // A socket could not be opened again.
        use std::os::fd::AsFd;
        return Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?));
    }
    File::options().append(true).open(path)
}

/// Resolves the symbolic links of a path, which need not exist.
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = parent(&path).join(target),
            // No link, or nothing there.
            Err(_) => return Ok(path),
        }
        if is_stream(&path) {
            return Ok(path);
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

impl OutputFile {
    /// Begins a file at `path`, whose last component is chosen by Tailback, and removes its unfinished files of killed
    /// processes.
    ///
    /// # Errors
    /// Returns an error if a system call fails, or if the path exists and is not a regular file.
    pub fn create(path: &Path) -> io::Result<OutputFile> {
        crate::plain(path)?;
        OutputFile::begin(path.to_owned(), |target| remove_dead_files(parent(target), target.file_name()))
    }

    /// Begins a file at a path named by a user, which may also be a link, a pipe, a device or standard output.
    ///
    /// # Errors
    /// Returns an error if a system call fails, or if the path is a directory.
    pub fn create_given(path: &Path) -> io::Result<OutputFile> {
        let target = if is_stream(path) { path.to_owned() } else { followed(path)? };
        if is_stream(&target) {
            return Ok(OutputFile { file: stream(&target)?, places: None });
        }
        if fs::metadata(&target).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            return Ok(OutputFile { file: stream(&target)?, places: None });
        }
        OutputFile::begin(target, |target| remove_dead_files(parent(target), target.file_name()))
    }

    fn begin(target: PathBuf, clean: impl FnOnce(&Path)) -> io::Result<OutputFile> {
        let old = match fs::metadata(&target) {
            Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            // It could be renamed over all the same; that is not what whoever protected it wants.
            Ok(found) if found.permissions().readonly() => return Err(io::ErrorKind::PermissionDenied.into()),
            Ok(found) => Some(found),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        clean(&target);
        for temporary in names(&target) {
            let Some(file) = create_locked(&temporary)? else { continue };
            let output = OutputFile { file, places: Some((temporary, target)) };
            if let Some(old) = &old {
                output.file.set_permissions(old.permissions())?;
            }
            return Ok(output);
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Flushes the file to disk and moves it to its final path.
    ///
    /// # Errors
    /// Returns an error if a system call fails; the old file, if any, is then unchanged.
    pub fn commit(mut self) -> io::Result<()> {
        self.file.flush()?;
        let Some((temporary, target)) = &self.places else { return Ok(()) };
        self.file.sync_all()?;
        fs::rename(temporary, target)?;
        self.places = None;
        Ok(())
    }
}

/// Writes a whole file that must not exist yet: of several writers one succeeds.
///
/// # Errors
/// Returns an error of kind `AlreadyExists` if the file exists, or another one if a system call fails.
pub fn write_new(path: &Path, contents: impl AsRef<[u8]>) -> io::Result<()> {
    let mut file = OutputFile::create(path)?;
    file.write_all(contents.as_ref())?;
    file.file.sync_all()?;
    let Some((temporary, target)) = &file.places else { return Ok(()) };
    match fs::hard_link(temporary, target) {
        // A file system without links cannot tell who was first.
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists && !target.exists() => file.commit(),
        linked => linked,
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some((temporary, _)) = &self.places {
            let _ = fs::remove_file(temporary);
        }
    }
}

/// Writes a whole file whose last path component is chosen by Tailback.
///
/// # Errors
/// Returns an error if a system call fails, or if the path exists and is not a regular file. The old file, if any, is
/// then unchanged.
pub fn write_file(path: &Path, contents: impl AsRef<[u8]>) -> io::Result<()> {
    let mut file = OutputFile::create(path)?;
    file.write_all(contents.as_ref())?;
    file.commit()
}

/// Writes a whole file at a path named by a user.
///
/// # Errors
/// Returns an error if a system call fails; the old file, if any, is then unchanged.
pub fn write_given(path: &Path, contents: impl AsRef<[u8]>) -> io::Result<()> {
    let mut file = OutputFile::create_given(path)?;
    file.write_all(contents.as_ref())?;
    file.commit()
}

/// Writes one of many files of a directory whose unfinished files were already removed. Searching for unfinished files
/// before each write would take time quadratic in the number of files.
///
/// # Errors
/// Returns the errors of [`write_file`].
pub fn write_one_of_many(path: &Path, contents: impl AsRef<[u8]>) -> io::Result<()> {
    crate::plain(path)?;
    let mut file = OutputFile::begin(path.to_owned(), |_| {})?;
    file.write_all(contents.as_ref())?;
    file.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_in(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).expect("it is there").flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_there_whole_or_as_it_was() {
        let scratch = tempfile::tempdir().expect("there is room");
        let path = scratch.path().join("a.html");
        write_file(&path, "old").expect("there is room");
        let mut file = OutputFile::create(&path).expect("there is room");
        file.write_all(b"half").expect("there is room");
        assert_eq!(fs::read_to_string(&path).expect("it is there"), "old");
        drop(file);
        assert_eq!(names_in(scratch.path()), ["a.html"]);
        write_file(&path, "new").expect("there is room");
        assert_eq!(fs::read_to_string(&path).expect("it is there"), "new");
        assert_eq!(names_in(scratch.path()), ["a.html"]);
        assert_eq!(write_file(scratch.path(), "x").expect_err("no file").kind(), io::ErrorKind::IsADirectory);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_killed_processes_have_left_of_the_file_is_removed() {
        let scratch = tempfile::tempdir().expect("there is room");
        let path = scratch.path().join("a.html");
        let dead = names(&path).next().expect("a name");
        drop(create_locked(&dead).expect("there is room"));
        let under_way = OutputFile::create(&path).expect("there is room");
        write_file(&path, "new").expect("there is room");
        assert_eq!(names_in(scratch.path()).len(), 2, "the one under way is not touched");
        under_way.commit().expect("it is still there");
        assert_eq!(names_in(scratch.path()), ["a.html"]);
        // A name that is as long as a name may be.
        let long = scratch.path().join("x".repeat(255));
        drop(create_locked(&names(&long).next().expect("a name")).expect("there is room"));
        write_file(&long, "long").expect("there is room");
        assert_eq!(names_in(scratch.path()).len(), 2);
    }

    #[test]
    #[cfg(unix)]
    fn links_are_followed_and_permissions_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let scratch = tempfile::tempdir().expect("there is room");
        fs::create_dir(scratch.path().join("deep")).expect("there is room");
        symlink("deep/b.html", scratch.path().join("link")).expect("there is room");
        write_given(&scratch.path().join("link"), "one").expect("a link to nothing is a place");
        let target = scratch.path().join("deep/b.html");
        fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).expect("it is ours");
        write_given(&scratch.path().join("link"), "two").expect("there is room");
        assert!(fs::symlink_metadata(scratch.path().join("link")).expect("it is there").is_symlink());
        assert_eq!(fs::read_to_string(&target).expect("it is there"), "two");
        assert_eq!(fs::metadata(&target).expect("it is there").permissions().mode() & 0o777, 0o640);
        assert_eq!(names_in(&scratch.path().join("deep")), ["b.html"]);
        symlink("round", scratch.path().join("round")).expect("there is room");
        assert!(write_given(&scratch.path().join("round"), "x").is_err());
        // Where the name is ours nobody else decides where it leads.
        for name in ["link", "round"] {
            assert!(crate::is_strange(&write_file(&scratch.path().join(name), "x").expect_err(name)), "{name}");
            assert!(crate::is_strange(&write_one_of_many(&scratch.path().join(name), "x").expect_err(name)), "{name}");
        }
        assert_eq!(fs::read_to_string(&target).expect("it is there"), "two");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn devices_and_streams_are_written_to_directly() {
        write_given(Path::new("/dev/null"), "x").expect("it takes everything");
        assert_eq!(write_given(Path::new("/dev/full"), "x").expect_err("full").kind(), io::ErrorKind::StorageFull);
        write_given(Path::new("/dev/fd/2"), "").expect("a stream");
        assert!(Path::new("/dev/full").exists());
    }
}
