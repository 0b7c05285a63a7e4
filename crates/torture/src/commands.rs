//! Every command of the program on a random scenario: it ends cleanly, and in time.

use crate::program::Program;
use crate::random::Random;
use crate::scenario::{Files, NAME};
use std::path::Path;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// Runs the commands on a scenario that was accepted, whose run is short.
///
/// # Errors
/// What ended how it should not.
pub fn judge(program: &Program, files: &Files, folder: &Path, random: &mut Random) -> Result<u64, String> {
    files.store(folder).map_err(|error| error.to_string())?;
    let plan = files.load().map_err(|errors| errors.render(false))?;
    let graph = &plan.spec.graph;
    let cable = &graph.cables[random.index(graph.cables.len())];
    let name = |node: fabric::graph::NodeId| graph.nodes[node.0 as usize].name.clone();
    let link = format!("{}->{}", name(cable.a), name(cable.b));
    let most = "run.max_events=60000";
    let (threads, more) =
        (random.of(&["1", "2", "5"]).to_string(), random.of(&["--csv", "--plot", "--json"]).to_string());
    let mut count = 0;
    let mut go = |arguments: &[&str], codes: &[i32]| -> Result<i32, String> {
        count += 1;
        let said = program.run(folder, arguments, LIMIT)?;
        let code = said.clean().map_err(|what| format!("tailback {}: {what}", arguments.join(" ")))?;
        match codes.contains(&code) {
            true => Ok(code),
            false => Err(format!("tailback {}: exit code {code}: {}", arguments.join(" "), said.err)),
        }
    };
    go(&["check", NAME], &[0, 2, 3, 6])?;
    go(&["explain", NAME], &[0])?;
    go(&["routes", NAME], &[0])?;
    go(&["spb", NAME], if graph.multihomed().next().is_some() { &[2] } else { &[0] })?;
    go(&["dcbx", NAME], if plan.dcb.is_some() { &[0, 6] } else { &[2] })?;
    // Half of the runs record why flows took their time, and those whose scenario says so or measures it.
    let why = random.of(&[&[][..], &["--why"]]).to_vec();
    let first = ["run", NAME, "--set", most, "--threads", &threads, "--out", "r", &more];
    let run = go(&[&first[..], &why].concat(), &[0, 2, 3, 4, 5, 6])?;
    // Refused, or ended by a limit of rows that it passed before an inspection: there is no result to read.
    if run == 2 || run == 5 && !folder.join("r").exists() {
        return Ok(count);
    }
    let again = go(&[&["run", NAME, "--set", most, "--out", "r2", "--quiet"], &why[..]].concat(), &[run])?;
    debug_assert_eq!(run, again);
    go(&["diff", "r", "r2"], &[0])?;
    let measured = plan.expectations.iter().any(|expectation| expectation.metric.is_about_causes());
    let known = !why.is_empty() || plan.probes.causes || measured;
    go(&["why", "r"], if known { &[0] } else { &[2] })?;
    go(&["csv", "r", "--out", "c"], &[0])?;
    go(&["plot", "r", "--out", "p"], &[0])?;
    // Without its front-end a program writes no reports.
    go(&["report", "r", "-o", "r.html"], &[0, 1])?;
    go(&["pcap", NAME, &link, "-o", "f.pcapng", "--set", most], &[0, 2, 3, 4, 5])?;
    go(&["run", NAME, "--set", most, "--out", "r", "--overwrite", "--quiet"], &[run])?;
    go(&["stability", NAME, "--out", "s"], &[0, 1, 2, 6])?;
    if random.percent(20) {
        go(
            &["sweep", NAME, "--set", most, "--axis", "run.seed=1,2", "--replications", "1", "--out", "w"],
            &[0, 2, 3, 4, 5, 6],
        )?;
        go(&["compare", NAME, "--set", most, "--vary", "network.overhead=0B,20B", "--out", "m"], &[0, 2, 3, 4, 5, 6])?;
    }
    Ok(count)
}
