//! Running a simulation while recording it.

use super::directory::ResultWriter;
use super::error::ResultsError;
use fabric::record::{Ending, FlowRow, Recorder, drain, drain_before, finish, flow_rows, port_rows};
use fabric::spec::NetworkSpec;
use fabric::{FlowSummary, Limit, Progress, RunLimits, RunSummary, Simulation};
use std::ops::ControlFlow;
use units::Time;

/// A run whose rows have all been written.
pub struct Recorded {
    /// Summary of the run.
    pub report: RunSummary,
    /// Results of each flow, as written.
    pub flows: Vec<FlowRow>,
}

/// Runs a simulation and writes its tables. The caller writes the manifest and commits the result. `names` contains the
/// names of the flows in order; a flow without a name is named after its hosts. `progress` is called at every
/// inspection.
///
/// # Errors
/// Returns an error if a table cannot be written; the run then stops at the next inspection.
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

/// Writes the rows that are known only at the end of a run, and the results of each flow. `known` contains the names
/// and throughputs of the flows in order; a throughput of NaN was not measured.
///
/// # Errors
/// Returns an error if a table cannot be written.
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
