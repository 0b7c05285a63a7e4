//! A run that is recorded as it goes.

use super::directory::ResultWriter;
use super::error::ResultsError;
use fabric::record::{Ending, FlowRow, Recorder, drain, drain_before, finish, flow_rows, port_rows};
use fabric::spec::NetworkSpec;
use fabric::{FlowSummary, Limit, Progress, RunLimits, RunSummary, Simulation};
use std::ops::ControlFlow;
use units::Time;

/// A run whose rows are all written.
pub struct Recorded {
    /// How it went.
    pub report: RunSummary,
    /// What became of each flow, as it was written.
    pub flows: Vec<FlowRow>,
}

/// Runs a simulation and writes its tables; the manifest and the commit are the caller's. `names` gives flows names in
/// order; a flow without one is called after its hosts. `progress` is asked at every inspection.
///
/// # Errors
/// If a table cannot be written. The run ends at the next inspection then.
pub fn record_run(
    spec: &NetworkSpec,
    simulation: &mut Simulation<Recorder>,
    limits: &RunLimits<'_>,
    names: &[String],
    writer: &mut ResultWriter,
    mut progress: impl FnMut(Progress) -> ControlFlow<Limit> + Send,
) -> Result<Recorded, ResultsError> {
    writer.write(&port_rows(&spec.graph))?;
    let mut failed = None;
    let mut report = simulation.run_supervised(limits, |seen, probes| {
        let rows = if seen.inspection { drain(probes) } else { drain_before(probes, seen.now) };
        match writer.append(&rows) {
            Ok(()) if !seen.inspection => ControlFlow::Continue(()),
            Ok(()) => progress(seen),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(Limit::WallClock)
            }
        }
    });
    if let Some(error) = failed {
        return Err(error);
    }
    let mut probes: Vec<&mut Recorder> = simulation.probes_mut().collect();
    let ending = finish(&mut probes, report.now);
    // A run in which nothing is left to do ends at the last inspection, which may lie before the last frame.
    report.now = ending.end;
    let names: Vec<(&str, f64)> = names.iter().map(|name| (name.as_str(), f64::NAN)).collect();
    let flows = write_ending(spec, &simulation.flows(), &ending, report.now, &names, writer)?;
    Ok(Recorded { report, flows })
}

/// Writes what is left when a run has ended, and what became of each flow. `known` gives flows in order their names and
/// throughputs; a throughput that is not a number was not measured.
///
/// # Errors
/// If a table cannot be written.
pub fn write_ending(
    spec: &NetworkSpec,
    reports: &[FlowSummary],
    ending: &Ending,
    now: Time,
    known: &[(&str, f64)],
    writer: &mut ResultWriter,
) -> Result<Vec<FlowRow>, ResultsError> {
    writer.end(ending)?;
    let mut flows = flow_rows(spec, reports, &ending.deliveries, now);
    for (flow, &(name, throughput)) in flows.iter_mut().zip(known) {
        name.clone_into(&mut flow.name);
        flow.throughput = Some(throughput).filter(|rate| !rate.is_nan());
    }
    writer.write(&flows)?;
    Ok(flows)
}
