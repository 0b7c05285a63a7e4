//! Safe reading, atomic writing and safe printing of files.
//!
//! This crate knows nothing about networks. [`output`] writes files and directories atomically; [`text`] makes
//! untrusted names safe to print; the functions in this module read files that are named by a user or by another file.
//!
//! File names are untrusted: a scenario names its base and its distributions, and a results directory may contain
//! links. Only regular files are therefore read, only up to a stated size, and opening a pipe without a writer never
//! blocks. [`inside`] confines a name to a directory: neither `..` nor a symbolic link can escape it. Files that
//! Tailback itself names in a results directory are neither written nor read through links: see [`plain`] and
//! [`no_links`].
//!
//! ```
//! use tailback_files::output::write_file;
//! use tailback_files::text::for_terminal;
//! use tailback_files::{inside, read_text};
//!
//! let folder = std::env::temp_dir().join(format!("tailback-files-{}", std::process::id()));
//! std::fs::create_dir_all(&folder)?;
//! // The file appears whole or not at all.
//! write_file(&folder.join("name.txt"), "red \u{1b}[31m")?;
//! // No name leads out of the folder, and no content reaches the terminal as a command.
//! assert!(inside(&folder, "../name.txt").is_err());
//! let text = read_text(&inside(&folder, "name.txt")?, 1000)?;
//! assert_eq!(for_terminal(&text), "red \\u001b[31m");
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod output;
pub mod text;

use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

/// Maximum size in bytes of a scenario or a `paper.toml`.
pub const LARGEST_SCENARIO: u64 = 16 << 20;

/// Maximum size in bytes of a data file that a scenario names: a distribution, or a list of flows.
pub const LARGEST_DATA: u64 = 256 << 20;

/// Maximum size in bytes of a JSON or text file among results. Tables are read in parts and may be larger.
pub const LARGEST_RESULT: u64 = 256 << 20;

/// The reason for refusing a file that the system would allow.
#[derive(Debug)]
struct Strange(String);

impl std::fmt::Display for Strange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Strange {}

/// Returns whether an error means that a file was refused for its type or location: a link, a pipe, a device, or a path
/// that leads out of its directory.
#[must_use]
pub fn is_strange(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Strange>())
}

/// Returns the name of the type of a file that is not regular.
fn kind_of(found: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if found.is_fifo() {
            return "a pipe";
        }
        if found.is_socket() {
            return "a socket";
        }
        if found.is_char_device() || found.is_block_device() {
            return "a device";
        }
    }
    match found {
        found if found.is_dir() => "a directory",
        found if found.is_symlink() => "a symbolic link",
        _ => "a special file",
    }
}

fn regular(found: FileType) -> io::Result<()> {
    if found.is_file() {
        return Ok(());
    }
    let kind = if found.is_dir() { ErrorKind::IsADirectory } else { ErrorKind::InvalidInput };
    Err(io::Error::new(kind, Strange(format!("it is {}, not a regular file", kind_of(found)))))
}

/// Returns the metadata of a regular file whose last path component was chosen by Tailback, or `None` if it does not
/// exist.
///
/// # Errors
/// Returns an error if the path is anything else, including a symbolic link, or if the system call fails.
pub fn plain(path: &Path) -> io::Result<Option<Metadata>> {
    match std::fs::symlink_metadata(path) {
        Ok(found) => regular(found.file_type()).map(|()| Some(found)),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Checks that the directories on a path inside a folder, as far as they exist, are directories and not symbolic links.
/// Their names are chosen by Tailback; the folder itself is named by a user and may be a link.
///
/// # Errors
/// Returns an error if one of them is not a directory, or if the system call fails.
pub fn no_links(folder: &Path, inside: impl AsRef<Path>) -> io::Result<()> {
    let mut path = folder.to_owned();
    for part in inside.as_ref().components() {
        path.push(part);
        match std::fs::symlink_metadata(&path) {
            Ok(found) if found.is_dir() => {}
            Ok(found) => {
                let text = format!("{} is {}, not a directory", path.display(), kind_of_any(found.file_type()));
                return Err(io::Error::new(ErrorKind::InvalidInput, Strange(text)));
            }
            Err(error) if is_missing(&error) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn kind_of_any(found: FileType) -> &'static str {
    if found.is_file() { "a file" } else { kind_of(found) }
}

/// Opens a regular file for reading. Never blocks; refuses all other types of files.
///
/// # Errors
/// Returns an error if the file does not exist, is not readable or is not a regular file.
pub fn open(path: &Path) -> io::Result<File> {
    regular(std::fs::metadata(path)?.file_type())?;
    let mut options = OpenOptions::new();
    options.read(true);
    // Another file may have taken its place since: a pipe without a writer would hold up the opening.
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    let file = options.open(path)?;
    regular(file.metadata()?.file_type())?;
    Ok(file)
}

/// Reads a whole regular file of at most `most` bytes.
///
/// # Errors
/// Returns the errors of [`open`], and an error if the file is larger.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    bounded(open(path)?, most)
}

/// Reads a whole regular file of at most `most` bytes as UTF-8 text.
///
/// # Errors
/// Returns the errors of [`read`], and an error if the file is not valid UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    text(read(path, most)?)
}

/// Reads a file named on the command line. In addition to regular files, it accepts files opened by the shell, which
/// may be pipes: `/dev/stdin`, and the `/dev/fd/N` of a process substitution.
///
/// # Errors
/// Returns the errors of [`read_text`].
pub fn read_given(path: &Path, most: u64) -> io::Result<String> {
    let opened = path == Path::new("/dev/stdin") || path.parent() == Some(Path::new("/dev/fd"));
    if !opened {
        return read_text(path, most);
    }
    let file = File::open(path)?;
    let found = file.metadata()?.file_type();
    #[cfg(unix)]
    let pipe = std::os::unix::fs::FileTypeExt::is_fifo(&found);
    #[cfg(not(unix))]
    let pipe = false;
    if !pipe {
        regular(found)?;
    }
    text(bounded(file, most)?)
}

fn bounded(file: File, most: u64) -> io::Result<Vec<u8>> {
    let too_large = || {
        let text = format!("it has more than {most} bytes, the limit for such files");
        io::Error::new(ErrorKind::FileTooLarge, text)
    };
    if file.metadata()?.len() > most {
        return Err(too_large());
    }
    // The length is that of a moment, and of some files it is 0.
    let mut octets = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut octets)?;
    if octets.len() as u64 > most { Err(too_large()) } else { Ok(octets) }
}

fn text(octets: Vec<u8>) -> io::Result<String> {
    String::from_utf8(octets).map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// Returns the path of a file in a folder after checking that neither the name nor a symbolic link leads out of the
/// folder. The folder itself may be a link.
///
/// # Errors
/// Returns an error if the file is outside the folder or does not exist.
pub fn inside(folder: &Path, name: impl AsRef<Path>) -> io::Result<PathBuf> {
    let outside = || {
        let text = format!("it points outside {}; only files inside that directory are read", folder.display());
        io::Error::new(ErrorKind::InvalidInput, Strange(text))
    };
    let name = name.as_ref();
    if !name.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(outside());
    }
    let path = folder.join(name);
    let real = path.canonicalize()?;
    let here = if folder == Path::new("") { Path::new(".") } else { folder };
    if real.starts_with(here.canonicalize()?) { Ok(path) } else { Err(outside()) }
}

/// Reads a text file in a folder of results.
///
/// # Errors
/// Returns the errors of [`inside`] and [`read_text`].
pub fn read_inside(folder: &Path, name: impl AsRef<Path>) -> io::Result<String> {
    read_text(&inside(folder, name)?, LARGEST_RESULT)
}

/// Returns whether the error means that a file does not exist, as opposed to a file that was refused.
#[must_use]
pub fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("tailback-files-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(path.join("r/sub")).expect("there is room");
        path
    }

    #[test]
    fn only_regular_files_of_a_bounded_size_are_read() {
        let scratch = scratch("regular");
        let file = scratch.join("a");
        std::fs::write(&file, "12345").expect("there is room");
        assert_eq!(read_text(&file, 5).expect("it fits"), "12345");
        let refused = |path: &Path, most| read_text(path, most).expect_err("it is refused");
        assert_eq!(refused(&file, 4).kind(), ErrorKind::FileTooLarge);
        assert_eq!(refused(&scratch, 100).kind(), ErrorKind::IsADirectory);
        if cfg!(unix) {
            assert!(refused(Path::new("/dev/zero"), 100).to_string().contains("a device"));
            assert!(read_given(Path::new("/dev/zero"), 100).is_err());
            // Its length is said to be 0.
            if Path::new("/proc/self/maps").exists() {
                assert_eq!(refused(Path::new("/proc/self/maps"), 10).kind(), ErrorKind::FileTooLarge);
            }
        }
        std::fs::remove_dir_all(&scratch).expect("it is there");
    }

    #[test]
    #[cfg(unix)]
    fn nothing_leads_out_of_a_folder() {
        use std::os::unix::fs::symlink;
        let scratch = scratch("inside");
        let folder = scratch.join("r");
        std::fs::write(scratch.join("secret"), "s").expect("there is room");
        std::fs::write(folder.join("sub/file"), "f").expect("there is room");
        symlink("../secret", folder.join("link")).expect("links can be made");
        symlink(&scratch, folder.join("folder")).expect("links can be made");
        symlink("sub/file", folder.join("within")).expect("links can be made");
        symlink("r", scratch.join("also-r")).expect("links can be made");
        for name in ["sub/file", "within"] {
            assert_eq!(read_inside(&folder, name).expect(name), "f");
            assert_eq!(read_inside(&scratch.join("also-r"), name).expect(name), "f");
        }
        let absolute = scratch.join("secret");
        for name in ["../secret", "link", "folder/secret", "sub/../../secret", ".", absolute.to_str().expect("a path")]
        {
            let error = read_inside(&folder, name).expect_err(name);
            assert!(error.to_string().contains("points outside"), "{name}: {error}");
        }
        assert!(is_missing(&inside(&folder, "nothing").expect_err("it is not there")));
        std::fs::remove_dir_all(&scratch).expect("it is there");
    }
}
