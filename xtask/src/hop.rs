//! What a packet-hop costs in instructions: two runs of different length under callgrind, and their difference.
//!
//! Counting instructions is repeatable where counting time is not, and the difference leaves out all that does not
//! grow with the number of hops.

use std::process::Command;

const SHORT: &str = "60";
const LONG: &str = "160";
/// The kinds of flows of the benchmark in its order, and how many instructions a hop may take; none is without a limit.
const KINDS: [(&str, Option<f64>); 8] = [
    ("plain flows", Some(680.0)),
    ("an acknowledgement per frame", None),
    ("a window", None),
    ("marked by InfiniBand switches", None),
    ("marked by InfiniBand switches, acknowledged, controlled", None),
    ("go-back-N with an acknowledgement per frame", Some(1000.0)),
    ("DCQCN with ECN and an acknowledgement per frame", Some(1000.0)),
    ("HPCC with telemetry", Some(1300.0)),
];

/// Prints instructions per packet-hop on the k = 8 fat-tree. Fails if a kind of flows takes more than its limit.
pub fn report() -> Result<(), String> {
    crate::run("cargo", &["build", "--release", "--locked", "-p", "tailback-bench"])?;
    let mut exceeded = Vec::new();
    for (kind, (name, limit)) in KINDS.iter().enumerate() {
        let (short, long) = (count(SHORT, kind)?, count(LONG, kind)?);
        let hops = long.0 - short.0;
        let each = (long.1 - short.1) as f64 / hops as f64;
        let limited = limit.map_or(String::new(), |limit| format!(", limit {limit:.0}"));
        println!(
            "{each:.0} instructions per packet-hop{limited} (k = 8 fat-tree with PFC, {name}, {SHORT} to {LONG} us, {hops} hops)"
        );
        if limit.is_some_and(|limit| each > limit) {
            exceeded.push(*name);
        }
    }
    match exceeded.is_empty() {
        true => Ok(()),
        false => Err(format!("a hop takes more instructions than its limit: {}", exceeded.join("; "))),
    }
}

/// Hops and instructions of one run.
fn count(micros: &str, kind: usize) -> Result<(u64, u64), String> {
    let kind = kind.to_string();
    let program = ["target/release/bench", "hop", "8", micros, &kind];
    let arguments = [["--tool=callgrind", "--callgrind-out-file=/dev/null"].as_slice(), &program].concat();
    let output = Command::new("valgrind")
        .args(arguments)
        .output()
        .map_err(|error| format!("valgrind: {error}; install it with 'apt-get install valgrind'"))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let hops = printed.split(' ').next().and_then(|word| word.parse().ok()).ok_or("the benchmark printed no count")?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let collected = said.lines().find_map(|line| line.split("Collected : ").nth(1));
    let instructions = collected.and_then(|text| text.trim().parse().ok()).ok_or("callgrind printed no count")?;
    Ok((hops, instructions))
}
