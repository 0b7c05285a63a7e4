//! Sweeps the XOFF threshold of a switch, as `tailback sweep` does, and prints the throughput of a victim.
//!
//!     cargo run --release -p tailback-study --example thresholds

#![allow(clippy::disallowed_macros)] // An example prints.

use std::sync::atomic::AtomicBool;
use tailback_study::scenario::load;
use tailback_study::{SweepStudy, cores, parse_axis};

/// Two hosts overload h3. The victim goes from h2 to h4 and shares only the trunk with them, which has capacity for all.
const SCENARIO: &str = r#"
    schema_version = 1
    name = "thresholds"
    [network]
    topology = "two-switches"
    left = 3
    right = 2
    link = { rate = "10Gb/s", latency = "500ns" }
    trunk = { rate = "40Gb/s" }
    [[switches]]
    flow_control = "pfc"
    buffers = { capacity = "150KB" }
    [[workloads]]
    name = "hot"
    kind = "greedy"
    from = ["h0", "h1"]
    to = "h3"
    [[workloads]]
    name = "victim"
    kind = "greedy"
    from = "h2"
    to = "h4"
    [run]
    duration = "2ms"
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("tailback-thresholds-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let file = folder.join("thresholds.toml");
    std::fs::write(&file, SCENARIO)?;

    let plan = load(&file, &[]).map_err(|errors| errors.render(false))?;
    let axis = parse_axis("switches[0].buffers[0].xoff=20KB,60KB,100KB")?;
    let study = SweepStudy::new(plan, (&file, &[]), vec![axis], Some(&folder.join("results")))?;
    let table = study.run(cores(), &AtomicBool::new(false), |_, _| {})?;
    print!("{}", table.csv());

    std::fs::remove_dir_all(&folder)?;
    Ok(())
}
