//! The rows that are known only at the end of a run.

use super::directory::ResultWriter;
use super::error::ResultsError;
use fabric::FlowSummary;
use fabric::record::{Ending, FlowRow, flow_rows};
use fabric::spec::NetworkSpec;
use units::Time;

/// Rows of flows that are in memory at once.
const ROWS_AT_ONCE: usize = 4096;

/// Writes the rows that are known only at the end of a run, and the results of each flow. `known` contains the names,
/// throughputs and goodputs of the flows in order; a rate of NaN was not measured.
///
/// # Errors
/// Returns an error if a table cannot be written.
pub fn write_ending<Name: Into<String>>(
    spec: &NetworkSpec,
    reports: impl IntoIterator<Item = FlowSummary>,
    ending: &Ending,
    now: Time,
    known: impl IntoIterator<Item = (Name, f64, f64)>,
    writer: &mut ResultWriter,
) -> Result<(), ResultsError> {
    writer.end(ending)?;
    let mut flows = name_flows(flow_rows(spec, reports, &ending.deliveries, now), known);
    loop {
        let rows: Vec<FlowRow> = flows.by_ref().take(ROWS_AT_ONCE).collect();
        if rows.is_empty() {
            return Ok(());
        }
        writer.write(&rows)?;
    }
}

/// Sets the names, throughputs and goodputs of flows, in order; a rate of NaN was not measured.
pub fn name_flows<Name: Into<String>>(
    flows: impl Iterator<Item = FlowRow>,
    known: impl IntoIterator<Item = (Name, f64, f64)>,
) -> impl Iterator<Item = FlowRow> {
    let mut known = known.into_iter();
    flows.map(move |mut flow| {
        if let Some((name, throughput, goodput)) = known.next() {
            flow.name = name.into();
            flow.throughput = Some(throughput).filter(|rate| !rate.is_nan());
            flow.goodput = Some(goodput).filter(|rate| !rate.is_nan());
        }
        flow
    })
}
