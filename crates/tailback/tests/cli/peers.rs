//! What tests with a live peer have in common: other people's programs, and network namespaces to put them in.

use std::path::PathBuf;
use std::process::{Command, Output};

/// Where daemons are found that are not on the path of an ordinary user.
pub fn path() -> String {
    format!("{}:/usr/sbin:/sbin:/usr/lib/frr:/usr/libexec/frr", std::env::var("PATH").unwrap_or_default())
}

pub fn output(command: &[&str]) -> Option<Output> {
    Command::new(command[0]).args(&command[1..]).env("PATH", path()).output().ok()
}

pub fn succeeds(command: &[&str]) -> bool {
    output(command).is_some_and(|output| output.status.success())
}

/// Whether all these programs are there; what is not is said, and where CI is it is a failure.
pub fn are_installed(programs: &[&str], package: &str) -> bool {
    let path = path();
    let is_missing = |program: &&&str| !path.split(':').any(|folder| PathBuf::from(folder).join(program).exists());
    let missing: Vec<&&str> = programs.iter().filter(is_missing).collect();
    if missing.is_empty() {
        return true;
    }
    let ci = std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false");
    assert!(!ci, "{missing:?} are not installed; `cargo xtask oracles` installs {package}");
    println!("SKIPPED: {missing:?} are not installed; `cargo xtask oracles` installs {package} where it can");
    false
}

/// Makes network namespaces, or says that they cannot be made.
pub fn make_namespaces(names: &[&str]) -> bool {
    let made = names.iter().all(|name| succeeds(&["ip", "netns", "add", name]));
    if !made {
        println!("SKIPPED: network namespaces cannot be made here; that takes root and a kernel that allows it");
    }
    made
}
