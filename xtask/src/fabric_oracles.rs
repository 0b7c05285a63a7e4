//! Programs of InfiniBand that our routes are held against: ibsim, opensm and ibdmchk, as Debian packages them.
//!
//! Where they cannot be installed the tests that want them say so; on a machine that calls itself CI it is a failure.

use std::process::Command;

const PACKAGES: [&str; 3] = ["ibsim-utils", "opensm", "ibutils"];

/// Installs what is missing, if this machine lets us.
pub fn install() -> Result<(), String> {
    let missing: Vec<&str> = PACKAGES.into_iter().filter(|package| !is_installed(package)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let install = [&["apt-get", "install", "--yes", "--no-install-recommends"], &missing[..]].concat();
    let plain = crate::run(install[0], &install[1..]);
    // Whoever is not root may be allowed to become it without being asked.
    match plain.or_else(|_| crate::run("sudo", &[&["--non-interactive"], &install[..]].concat())) {
        Ok(()) => Ok(()),
        Err(reason) if std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false") => Err(reason),
        Err(reason) => {
            eprintln!("SKIPPED: {} are not installed: {reason}", missing.join(", "));
            eprintln!("         routes are then not held against opensm and ibdmchk; in CI this is a failure");
            Ok(())
        }
    }
}

fn is_installed(package: &str) -> bool {
    let output = Command::new("dpkg-query").args(["--show", "--showformat=${Status}", package]).output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("install ok installed"))
}
