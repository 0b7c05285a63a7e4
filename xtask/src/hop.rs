//! What a packet-hop costs in instructions: two runs of different length under callgrind, and their difference.
//!
//! Counting instructions is repeatable where counting time is not, and the difference leaves out all that does not
//! grow with the number of hops.

use std::process::Command;

const SHORT: &str = "60";
const LONG: &str = "160";
/// Positions among the kinds of flows of the benchmark, and their names.
const KINDS: [(&str, &str); 4] = [
    ("0", "plain flows"),
    ("5", "go-back-N with an acknowledgement per frame"),
    ("6", "DCQCN with ECN and an acknowledgement per frame"),
    ("7", "HPCC with telemetry"),
];

/// Prints instructions per packet-hop on the k = 8 fat-tree.
pub fn report() -> Result<(), String> {
    crate::run("cargo", &["build", "--release", "--locked", "-p", "tailback-bench"])?;
    for (kind, name) in KINDS {
        let (short, long) = (count(SHORT, kind)?, count(LONG, kind)?);
        let hops = long.0 - short.0;
        let each = (long.1 - short.1) as f64 / hops as f64;
        println!(
            "{each:.0} instructions per packet-hop (k = 8 fat-tree with PFC, {name}, {SHORT} to {LONG} us, {hops} hops)"
        );
    }
    Ok(())
}

/// Hops and instructions of one run.
fn count(micros: &str, kind: &str) -> Result<(u64, u64), String> {
    let program = ["target/release/bench", "hop", "8", micros, kind];
    let arguments = [["--tool=callgrind", "--callgrind-out-file=/dev/null"].as_slice(), &program].concat();
    let output = Command::new("valgrind")
        .args(arguments)
        .output()
        .map_err(|error| format!("valgrind: {error}; install it with 'apt-get install valgrind'"))?;
    let hops = String::from_utf8_lossy(&output.stdout).trim().parse().map_err(|_| "the benchmark printed no count")?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let collected = said.lines().find_map(|line| line.split("Collected : ").nth(1));
    let instructions = collected.and_then(|text| text.trim().parse().ok()).ok_or("callgrind printed no count")?;
    Ok((hops, instructions))
}
