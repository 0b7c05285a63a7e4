//! Names of unfinished files and directories, and detection of their writers.
//!
//! The future `NAME` is written as `NAME.partial-TOKEN-NUMBER`. For its whole life, the writer holds an exclusive lock
//! of the operating system on it, or on a file in it. The kernel releases the lock however the process ends, and the
//! lock works across containers. Process IDs are not used: two containers may have the same ones.
//!
//! A lock does not reveal a process on another machine if the file system does not propagate locks. The token therefore
//! identifies the current boot of this kernel and the mounted file system, for which a lock is reliable. A file is
//! removed only if it carries our own token and its lock is free; all others are kept and reported to the user.

use crate::text::hexadecimal;
use sha2::{Digest, Sha256};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

const INFIX: &str = ".partial-";

/// Token of a location for which locks are not known to be reliable.
const UNCERTAIN: &str = "unknown";

/// Returns the directory that contains a path.
pub fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."))
}

/// Returns digits that identify the current boot of this kernel and the file system of a directory.
fn token(directory: &Path) -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
    match boot.zip(device(directory)) {
        Some((boot, device)) => hexadecimal(&Sha256::digest(format!("{} {device}", boot.trim()))[..4]),
        None => UNCERTAIN.to_owned(),
    }
}

#[cfg(unix)]
fn device(directory: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(directory).ok().map(|found| found.dev())
}

#[cfg(not(unix))]
fn device(_: &Path) -> Option<u64> {
    None
}

/// Returns whether a path still refers to an open file.
#[cfg(unix)]
fn leads_to(path: &Path, file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    let key = |found: fs::Metadata| (found.dev(), found.ino());
    fs::symlink_metadata(path).ok().map(key) == file.metadata().ok().map(key)
}

#[cfg(not(unix))]
fn leads_to(path: &Path, _: &File) -> bool {
    path.exists()
}

/// Maximum length of a target's name in the names of its unfinished files; longer names are cut.
const LONGEST: usize = 200;

/// Returns the prefix that a target's name gives to the names of its unfinished files.
fn start_of(name: &OsStr) -> OsString {
    if name.len() <= LONGEST {
        return name.to_owned();
    }
    let hash = Sha256::digest(name.as_encoded_bytes());
    let start: String = name.to_string_lossy().chars().take(LONGEST / 8).collect();
    format!("{start}-{}", hexadecimal(&hash[..4])).into()
}

/// Returns candidate names for an unfinished file that will become `place`, in order.
pub fn names(place: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let mut start = start_of(place.file_name().unwrap_or_default());
    start.push(format!("{INFIX}{}-", token(parent(place))));
    let place = place.to_owned();
    (0u32..).map(move |number| {
        let mut name: OsString = start.clone();
        name.push(number.to_string());
        place.with_file_name(name)
    })
}

/// Creates and locks a file. Returns `None` if a concurrent cleanup removed it before it was locked; the caller then
/// tries another name.
pub fn create_locked(path: &Path) -> io::Result<Option<File>> {
    let file = match File::options().write(true).create_new(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
        Err(error) => return Err(error),
    };
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Ok(None),
        // A file system without locks: others cannot take one either, and keep their hands off.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(leads_to(path, &file).then_some(file)),
    }
}

/// Returns the name of an unfinished directory next to a path that any process may continue.
pub fn name_beside(place: &Path, what: &str) -> OsString {
    let mut name = start_of(place.file_name().unwrap_or_default());
    name.push(format!("{INFIX}{what}"));
    name
}

/// Opens or creates a file and locks it. Returns `None` if another process holds the lock. Where a file system has no
/// locks, nobody holds one.
pub fn lock(path: &Path) -> io::Result<Option<File>> {
    loop {
        crate::plain(path)?;
        let file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(None),
            Ok(()) | Err(TryLockError::Error(_)) if leads_to(path, &file) => return Ok(Some(file)),
            // Its last holder removed it in between.
            _ => {}
        }
    }
}

/// State of the writer of an unfinished file.
#[derive(Debug)]
pub enum Writer {
    /// It has no writer, and none can appear while this lock is held.
    Gone(File),
    /// It has a writer.
    Busy,
    /// It may have a writer on another machine.
    Unknown,
}

/// Returns the state of the writer of an unfinished file or directory. `locked` is the file that the writer locks.
pub fn writer(unfinished: &Path, locked: &Path) -> Writer {
    let ours = token(parent(unfinished));
    let certain = ours != UNCERTAIN && split(unfinished).is_some_and(|(_, token)| token == ours);
    // Over NFS an exclusive lock takes a file that is open for writing.
    let lock = File::options().read(true).write(true).open(locked).map(|file| (file.try_lock(), file));
    match lock {
        Ok((Ok(()), file)) if certain && leads_to(locked, &file) => Writer::Gone(file),
        Ok((Err(TryLockError::WouldBlock), _)) => Writer::Busy,
        _ => Writer::Unknown,
    }
}

/// Splits the name of an unfinished file into the name of its target and its token; `None` if the name has another
/// form.
fn split(path: &Path) -> Option<(&str, &str)> {
    let (place, rest) = path.file_name()?.to_str()?.rsplit_once(INFIX)?;
    let (token, number) = rest.rsplit_once('-').unwrap_or((rest, "0"));
    (!place.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())).then_some((place, token))
}

/// Lists unfinished files and directories in a directory, sorted by name: those of one target, or all.
pub fn found(directory: &Path, of: Option<&OsStr>) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let of = of.map(start_of);
    let wanted = |path: &PathBuf| split(path).is_some_and(|(place, _)| of.as_ref().is_none_or(|of| of == place));
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(wanted).collect();
    found.sort();
    found
}

/// Returns whether a path is an unfinished file of a killed process.
pub fn is_dead(path: &Path) -> bool {
    split(path).is_some() && matches!(writer(path, path), Writer::Gone(_))
}

/// Removes the unfinished files of killed processes in a directory: those of one target, or all.
pub fn remove_dead_files(directory: &Path, of: Option<&OsStr>) {
    for path in found(directory, of) {
        let is_file = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
        if is_file && let Writer::Gone(_lock) = writer(&path, &path) {
            // What cannot be removed is in nobody's way: every writer takes a name of its own.
            let _ = fs::remove_file(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn only_what_nobody_writes_to_is_removed() {
        let scratch = tempfile::tempdir().expect("there is room");
        let place = scratch.path().join("table.csv");
        let mut taken = names(&place);
        let (dead, alive) = (taken.next().expect("a name"), taken.next().expect("another"));
        drop(create_locked(&dead).expect("there is room").expect("it is new"));
        let lock = create_locked(&alive).expect("there is room").expect("it is new");
        assert!(create_locked(&alive).expect("there is room").is_none(), "a name is taken once");
        // Of another machine, of an earlier version, and no business of ours.
        let others = ["table.csv.partial-00000000-0", "table.csv.partial-4194999", "table.csv.partial-notes"];
        others.iter().for_each(|name| fs::write(scratch.path().join(name), "x").expect("there is room"));
        remove_dead_files(scratch.path(), None);
        assert!(!dead.exists() && alive.exists());
        assert!(others.iter().all(|name| scratch.path().join(name).exists()));
        drop(lock);
        remove_dead_files(scratch.path(), Some(OsStr::new("other.csv")));
        assert!(alive.exists());
        remove_dead_files(scratch.path(), Some(OsStr::new("table.csv")));
        assert!(!alive.exists());
    }

    /// Both ends of the race between making a file and locking it.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_file_that_was_cleaned_away_before_it_was_locked_is_not_written_to() {
        let scratch = tempfile::tempdir().expect("there is room");
        let path = names(&scratch.path().join("a")).next().expect("a name");
        let unlocked = File::create_new(&path).expect("there is room");
        let Writer::Gone(cleaning) = writer(&path, &path) else { panic!("nobody has locked it") };
        assert!(matches!(unlocked.try_lock(), Err(TryLockError::WouldBlock)));
        fs::remove_file(&path).expect("it is there");
        drop(cleaning);
        assert!(unlocked.try_lock().is_ok() && !leads_to(&path, &unlocked));
    }
}
