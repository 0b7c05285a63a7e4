//! The rows that are known only at the end of a run.

use super::directory::ResultWriter;
use super::error::ResultsError;
use fabric::FlowSummary;
use fabric::record::{Ending, FlowRow, flow_rows};
use fabric::spec::NetworkSpec;
use units::Time;

/// Writes the rows that are known only at the end of a run, and the results of each flow. `known` contains the names,
/// throughputs and goodputs of the flows in order; a rate of NaN was not measured.
///
/// # Errors
/// Returns an error if a table cannot be written.
pub fn write_ending(
    spec: &NetworkSpec,
    reports: &[FlowSummary],
    ending: &Ending,
    now: Time,
    known: &[(&str, f64, f64)],
    writer: &mut ResultWriter,
) -> Result<Vec<FlowRow>, ResultsError> {
    writer.end(ending)?;
    let mut flows = flow_rows(spec, reports, &ending.deliveries, now);
    name_flows(&mut flows, known.iter().copied());
    writer.write(&flows)?;
    Ok(flows)
}

/// Sets the names, throughputs and goodputs of flows, in order; a rate of NaN was not measured.
pub fn name_flows<'a>(flows: &mut [FlowRow], known: impl IntoIterator<Item = (&'a str, f64, f64)>) {
    for (flow, (name, throughput, goodput)) in flows.iter_mut().zip(known) {
        name.clone_into(&mut flow.name);
        flow.throughput = Some(throughput).filter(|rate| !rate.is_nan());
        flow.goodput = Some(goodput).filter(|rate| !rate.is_nan());
    }
}
