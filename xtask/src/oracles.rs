//! External programs that the tests use for comparison: dissectors for our frames, a subnet manager and a checker for our
//! routes, peers for our agents and bridges, a batch system for our sweeps.
//!
//! They are Debian packages. On a machine with apt-get, root installs them; elsewhere, this module prints what is missing,
//! and tests that need it are skipped. On CI (the variable `CI` is set), a missing program is an error.

use std::process::{Command, Stdio};

/// A package, and a command that succeeds where it is installed.
const PACKAGES: [(&str, &[&str]); 13] = [
    ("tshark", &["tshark", "--version"]),
    ("tcpdump", &["tcpdump", "--version"]),
    // For the system's own interpreter, which need not be the first on the path.
    ("python3-scapy", &["/usr/bin/python3", "-c", "import scapy"]),
    ("ibsim-utils", &["dpkg-query", "--status", "ibsim-utils"]),
    ("opensm", &["dpkg-query", "--status", "opensm"]),
    ("ibutils", &["dpkg-query", "--status", "ibutils"]),
    ("lldpad", &["dpkg-query", "--status", "lldpad"]),
    // Its isisd is off unless somebody switches it on in /etc/frr/daemons; the tests start one of their own.
    ("frr", &["dpkg-query", "--status", "frr"]),
    // Without a configuration no daemon of theirs runs; the tests start a cluster of their own.
    ("slurm-wlm", &["dpkg-query", "--status", "slurm-wlm"]),
    ("munge", &["dpkg-query", "--status", "munge"]),
    // One run on several processes.
    ("openmpi-bin", &["mpirun", "--version"]),
    ("libopenmpi-dev", &["mpicc", "--version"]),
    ("libclang-dev", &["dpkg-query", "--status", "libclang-dev"]),
];

/// The features that can be built here: MPI needs the library and its headers.
pub fn features() -> &'static [&'static str] {
    if succeeds(&["mpicc", "--version"]) { &["--features", "tailback/mpi"] } else { &[] }
}

/// Installs what is missing, or says that it cannot.
pub fn install() -> Result<(), String> {
    let missing: Vec<&str> = PACKAGES.iter().filter(|(_, probe)| !succeeds(probe)).map(|(name, _)| *name).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let list = missing.join(" ");
    let tried = install_packages(&missing);
    let in_ci = std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false");
    match tried {
        Ok(()) => Ok(()),
        Err(reason) if in_ci => Err(format!("{list} cannot be installed: {reason}")),
        Err(reason) => {
            eprintln!("SKIPPED: {list} cannot be installed: {reason}");
            eprintln!(
                "         'apt-get install {list}' as root has our frames and routes read by others, and our sweeps run by Slurm; in CI this is a failure"
            );
            Ok(())
        }
    }
}

/// Installs Debian's packages, if this machine lets us.
pub fn install_packages(packages: &[&str]) -> Result<(), String> {
    if !is_root() || !succeeds(&["apt-get", "--version"]) {
        return Err("that takes root and apt-get".to_owned());
    }
    // The lists of packages may be older than the packages. No daemon is started by systemd for having been installed.
    let quiet = ["DEBIAN_FRONTEND=noninteractive", "SYSTEMD_OFFLINE=1", "apt-get", "-qq"];
    crate::run("env", &[&quiet[..], &["update"]].concat())?;
    crate::run("env", &[&quiet[..], &["install", "-y", "--no-install-recommends"], packages].concat())
}

fn succeeds(command: &[&str]) -> bool {
    let [program, arguments @ ..] = command else { return false };
    let status = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}
