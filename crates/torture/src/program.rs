//! The program as a process, with a limit on its work and a bound on its memory.

use crate::effort::Effort;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Address space of a process that is attacked, in KiB: it must refuse what would need more, not die of it.
const MEMORY_KIB: u64 = 6 << 20;

/// How the program ends when it ends cleanly.
pub const CLEAN: [i32; 8] = [0, 1, 2, 3, 4, 5, 6, 130];

/// The words of an attack that the end of all attacks cut off: it found nothing, and has no verdict.
pub(crate) const CUT_OFF: &str = "cut off by the end of all attacks";

/// The program to attack.
#[derive(Clone, Debug)]
pub struct Program {
    /// Path of the program.
    pub path: PathBuf,
    /// The instant at which its processes are ended; `None` if they have the time that they need.
    pub until: Option<Instant>,
}

/// What a process said and how it ended.
#[derive(Clone, Debug)]
pub struct Said {
    /// Exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// Standard output, the first megabyte.
    pub out: String,
    /// Standard error, the same.
    pub err: String,
    /// Whether it was ended for taking too long.
    pub slow: bool,
}

impl Said {
    /// Whether it ended as a program should, whatever it was given.
    ///
    /// # Errors
    /// What is wrong.
    pub fn clean(&self) -> Result<i32, String> {
        let tail = |text: &str| text.chars().take(600).collect::<String>();
        if self.slow {
            return Err(format!("it hangs; {}", tail(&self.err)));
        }
        if self.err.contains("panicked")
            || self.err.contains("memory allocation")
            || self.err.contains("overflowed its stack")
        {
            return Err(tail(&self.err));
        }
        match self.code {
            Some(code) if CLEAN.contains(&code) => Ok(code),
            Some(code) => Err(format!("exit code {code}; {}", tail(&self.err))),
            None => Err(format!("ended by a signal; {}", tail(&self.err))),
        }
    }
}

impl Program {
    /// The command in a folder, with bounded memory where there is a shell to set the bound.
    #[must_use]
    pub fn command(&self, folder: &Path, arguments: &[&str]) -> Command {
        let mut command = if cfg!(unix) {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", &format!("ulimit -v {MEMORY_KIB}; exec \"$@\""), "sh"]).arg(&self.path);
            command
        } else {
            Command::new(&self.path)
        };
        command.args(arguments).current_dir(folder).stdin(Stdio::null());
        command.env_remove("RUST_BACKTRACE");
        command
    }

    /// Starts it without listening to it.
    ///
    /// # Errors
    /// If it does not start.
    pub fn start(&self, folder: &Path, arguments: &[&str]) -> Result<Child, String> {
        let mut command = self.command(folder, arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map_err(|error| format!("cannot start {}: {error}", self.path.display()))
    }

    /// Runs it to its end, or to the limit of its work.
    ///
    /// # Errors
    /// If it does not start.
    pub fn run(&self, folder: &Path, arguments: &[&str], limit: Duration) -> Result<Said, String> {
        let said = |error: std::io::Error| format!("cannot run {}: {error}", self.path.display());
        let unique = format!("{}-{:?}", std::process::id(), std::thread::current().id());
        let file = |which: &str| std::env::temp_dir().join(format!("torture-{which}-{unique}"));
        let (out, err) = (file("out"), file("err"));
        let create = |path: &Path| std::fs::File::create(path).map_err(said);
        let mut command = self.command(folder, arguments);
        let mut child = command.stdout(create(&out)?).stderr(create(&err)?).spawn().map_err(said)?;
        let ended = self.end(&mut child, limit);
        let text = |path: &Path| {
            use std::io::Read;
            let mut octets = Vec::new();
            let read = std::fs::File::open(path).and_then(|file| file.take(1 << 20).read_to_end(&mut octets));
            let _ = (read, std::fs::remove_file(path));
            String::from_utf8_lossy(&octets).into_owned()
        };
        let (out, err) = (text(&out), text(&err));
        let (status, slow) = ended?;
        Ok(Said { code: status.code(), out, err, slow })
    }

    /// Waits for the end of a process; past the limit it is killed, and the second value is true.
    ///
    /// # Errors
    /// If all attacks end before it does; it is killed then, too.
    pub(crate) fn end(&self, child: &mut Child, limit: Duration) -> Result<(ExitStatus, bool), String> {
        let said = |error: std::io::Error| format!("cannot wait for {}: {error}", self.path.display());
        let effort = Effort::of(child);
        let mut nap = Duration::from_millis(1);
        loop {
            if let Some(status) = child.try_wait().map_err(said)? {
                return Ok((status, false));
            }
            let (cut_off, slow) = (self.until.is_some_and(|until| Instant::now() > until), effort.exceeds(limit));
            if cut_off || slow {
                child.kill().map_err(said)?;
                let status = child.wait().map_err(said)?;
                return if cut_off { Err(CUT_OFF.to_owned()) } else { Ok((status, true)) };
            }
            std::thread::sleep(nap);
            nap = (nap * 2).min(Duration::from_millis(20));
        }
    }
}
