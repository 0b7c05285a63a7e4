//! The script of a task and the arguments of `sbatch`.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Options of `sbatch` that define the array, its program or its logs.
const OURS: [(&str, &str); 11] = [
    ("array", "a"),
    ("chdir", "D"),
    ("error", "e"),
    ("input", "i"),
    ("job-name", "J"),
    ("output", "o"),
    ("parsable", ""),
    ("test-only", ""),
    ("usage", ""),
    ("wait", "W"),
    ("wrap", ""),
];

/// Returns an option of `sbatch` as an argument: `time=10` and `--time=10` are the same.
///
/// # Errors
/// Returns the reason if the option is one that the study sets itself.
pub fn option(text: &str) -> Result<String, String> {
    let bare = text.trim_start_matches('-');
    let dashes = text.len() - bare.len();
    let name = bare.split(['=', ' ']).next().unwrap_or_default();
    let written = match dashes {
        _ if name.is_empty() => return Err(format!("'{text}' is not an option of sbatch: write NAME=VALUE")),
        0 => format!("--{bare}"),
        _ => text.to_owned(),
    };
    let ours = |(long, short): &&(&str, &str)| match dashes {
        1 => !short.is_empty() && bare.starts_with(short),
        _ => *long == name,
    };
    match OURS.iter().find(ours) {
        Some((long, _)) => Err(format!("sbatch's --{long} is set by tailback and cannot be given")),
        None => Ok(written),
    }
}

/// Quotes a word for a POSIX shell.
fn quoted(word: &OsStr) -> Vec<u8> {
    let octets = word.as_encoded_bytes();
    let plain = |octet: &u8| octet.is_ascii_alphanumeric() || b"-_./=,:+@%".contains(octet);
    if !octets.is_empty() && octets.iter().all(plain) {
        return octets.to_vec();
    }
    let mut text = vec![b'\''];
    for &octet in octets {
        match octet {
            b'\'' => text.extend(b"'\\''"),
            other => text.push(other),
        }
    }
    text.push(b'\'');
    text
}

/// Returns the script of the tasks of an array job: `program` with `arguments`, a command and its arguments, in
/// `directory`, for the part that the index of the task selects. It refuses to run where `witness`, a file next to the results, is not visible.
#[must_use]
pub fn script(program: &Path, arguments: &[OsString], tasks: usize, directory: &Path, witness: &Path) -> Vec<u8> {
    let mut text =
        b"#!/bin/sh\n# A task of an array job; 'tailback --slurm' wrote this file and submitted it.\n".to_vec();
    let witness = quoted(witness.as_os_str());
    let directory = quoted(directory.as_os_str());
    text.extend([b"if ! test -f ".as_slice(), &witness, b"; then\n"].concat());
    text.extend(
        [b"    echo \"error: the results directory is not visible on $(hostname): no \"".as_slice(), &witness].concat(),
    );
    text.extend(b" >&2\n    exit 1\nfi\n");
    text.extend([b"cd ".as_slice(), &directory, b" || exit 1\nexec "].concat());
    text.extend(quoted(program.as_os_str()));
    // Options follow the name of the command, for its last argument may be a file that looks like an option.
    let options = format!(" --threads \"${{SLURM_CPUS_PER_TASK:-1}}\" --part \"$SLURM_ARRAY_TASK_ID/{tasks}\"");
    for (place, word) in arguments.iter().enumerate() {
        text.push(b' ');
        text.extend(quoted(word));
        if place == 0 {
            text.extend(options.bytes());
        }
    }
    text.push(b'\n');
    text
}

/// Returns the path of the log of a task in a folder.
#[must_use]
pub fn log_name(job: u64, number: usize) -> String {
    format!("{job}_{number}.log")
}

/// Returns a folder and the names of logs in it as a pattern of `sbatch`.
#[must_use]
pub fn log_pattern(folder: &Path) -> OsString {
    let mut pattern = OsString::from(folder.to_string_lossy().replace('%', "%%"));
    pattern.push("/%A_%a.log");
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_need_no_dashes() {
        assert_eq!(option("time=00:10:00").as_deref(), Ok("--time=00:10:00"));
        assert_eq!(option("--exclusive").as_deref(), Ok("--exclusive"));
        assert_eq!(option("-pshort").as_deref(), Ok("-pshort"));
        assert_eq!(option("comment=two words").as_deref(), Ok("--comment=two words"));
        for ours in ["array=1-3", "--array", "-a1", "output=x", "--wrap=true", "-o", "job-name=x", "wait"] {
            assert!(option(ours).is_err_and(|reason| reason.contains("set by tailback")), "{ours}");
        }
        for wrong in ["", "--", "=3"] {
            assert!(option(wrong).is_err_and(|reason| reason.contains("NAME=VALUE")), "{wrong}");
        }
    }

    /// A shell reads back what was quoted.
    #[test]
    #[cfg(unix)]
    fn quotes_survive_a_shell() {
        let words = ["plain", "", "two words", "it's", "$HOME `x` \\ \"y\"", "a=['b','c']", "line\nbreak", "ä"];
        let mut line = b"printf '%s\\n'".to_vec();
        for word in words {
            line.push(b' ');
            line.extend(quoted(OsStr::new(word)));
        }
        let line = String::from_utf8(line).expect("all of it is UTF-8");
        let said = std::process::Command::new("sh").args(["-c", &line]).output().expect("a shell").stdout;
        assert_eq!(String::from_utf8(said).expect("UTF-8"), words.map(|word| format!("{word}\n")).concat());
    }

    #[test]
    fn a_script_runs_one_part() {
        let arguments = ["sweep", "my file.toml"].map(OsString::from);
        let text = script(Path::new("/opt/tailback"), &arguments, 8, Path::new("/home/u"), Path::new("/home/u/s/x.sh"));
        let text = String::from_utf8(text).expect("UTF-8");
        assert!(text.ends_with(
            "cd /home/u || exit 1\nexec /opt/tailback sweep --threads \"${SLURM_CPUS_PER_TASK:-1}\" --part \
             \"$SLURM_ARRAY_TASK_ID/8\" 'my file.toml'\n"
        ));
        assert_eq!(log_pattern(Path::new("/a%b")), OsString::from("/a%%b/%A_%a.log"));
    }
}
