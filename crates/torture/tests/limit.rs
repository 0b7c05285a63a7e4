//! The chore ends close to its limit, whatever the program does.

#![cfg(unix)]
#![allow(clippy::disallowed_methods)] // It measures time.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, Instant};

#[test]
fn torture_ends_at_its_limit_while_the_program_hangs() {
    let folder = std::env::temp_dir().join(format!("tailback-torture-limit-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let program = folder.join("hangs");
    std::fs::write(&program, "#!/bin/sh\nexec sleep 100\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    for kind in ["kills", "places"] {
        let start = Instant::now();
        let said = Command::new(env!("CARGO_BIN_EXE_torture"))
            .args(["--only", kind, "--minutes", "0.02", "--jobs", "2"])
            .env("TAILBACK", &program)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&said.stdout);
        assert!(text.contains("cut off 2") && text.contains("nothing found"), "{kind}: {text}");
        // The limit is 1.2 s. A sound machine adds milliseconds, a loaded one seconds.
        assert!(start.elapsed() < Duration::from_secs(15), "{kind}: {:?}", start.elapsed());
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
