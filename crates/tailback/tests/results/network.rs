//! A small network to run, and a place to write to.

use fabric::graph::{HostId, LinkSpec};
use fabric::record::{FlowRow, Recorder, RecorderSpec, drain, drain_before, finish, flow_rows, port_rows};
use fabric::spec::{
    AdapterSpec, Buffer, ClassBuffer, ClassSpec, CongestionPointSpec, Egress, FlowControl, Forwarding, NetworkSpec,
    PauseSpec, Queueing, SwitchSpec,
};
use fabric::topology::{self, Links};
use fabric::workload::{self, FlowSpec};
use fabric::{BuildOptions, Limit, Partition, RunLimits, RunSummary, Simulation};
use results::{Manifest, ResultWriter, ResultsError, name_flows, write_ending};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use units::{Bytes, Rate, Span, Time};

/// Eight hosts behind one switch send to one host behind another, under PFC.
pub fn incast() -> NetworkSpec {
    let link = LinkSpec { rate: Rate::from_gigabits(10), latency: Span::from_micros(1), bit_error_rate: 0.0 };
    let graph = topology::two_switches(1, 8, 1, Links::same(link)).expect("two switches");
    let buffer = ClassBuffer::lossless(Bytes::new(60_000), Bytes::new(30_000), Bytes::new(25_000));
    let switch = SwitchSpec {
        queueing: Queueing::Output,
        buffer: Buffer::Static(vec![buffer]),
        flow_control: FlowControl::Pfc(PauseSpec::default()),
        crossbar: None,
        egress: Egress::Strict,
        forwarding: Forwarding::StoreAndForward,
        pipeline: Span::ZERO,
        order: fabric::spec::Order::Arrival,
        pfc_watchdog: None,
        // It tells sources of congestion, which do not listen: rows for the tables.
        congestion_point: Some(CongestionPointSpec { occupancy: true, ..CongestionPointSpec::point(qcn()) }),
    };
    let class = ClassSpec { name: "storage".into(), lossless: true };
    let mut spec = NetworkSpec::uniform(graph, switch, AdapterSpec::default(), class);
    let hosts: Vec<HostId> = (0..9).map(HostId).collect();
    let template = FlowSpec { size: Some(Bytes::new(600_000)), ..FlowSpec::greedy(HostId(1), HostId(0)) };
    spec.flows = workload::incast(&hosts, HostId(0), &template, Span::from_micros(100), 1).into();
    spec
}

/// QCN's congestion point with its defaults.
fn qcn() -> congestion::Point {
    let info = congestion::POINTS.iter().find(|info| info.name == "qcn").expect("it is in the catalogue");
    (info.build)(&congestion::parameter::Values::defaults(info.parameters)).expect("defaults are sound")
}

/// Everything, often.
pub fn everything() -> RecorderSpec {
    RecorderSpec { sample_every: Some(Span::from_micros(5)), waits: true, levels: true, ..RecorderSpec::default() }
}

/// How to run.
pub struct How {
    pub shards: usize,
    pub until: Span,
    pub recorder: RecorderSpec,
}

/// A run whose rows have all been written.
pub struct Recorded {
    /// Summary of the run.
    pub report: RunSummary,
    /// Results of each flow, as written.
    pub flows: Vec<FlowRow>,
}

/// Runs a simulation and writes its tables. The caller writes the manifest and commits the result. `names` contains the
/// names of the flows in order.
fn record_run(
    spec: &NetworkSpec,
    simulation: &mut Simulation<Recorder>,
    limits: &RunLimits<'_>,
    names: &[String],
    writer: &mut ResultWriter,
) -> Result<Recorded, ResultsError> {
    writer.write(&port_rows(&spec.graph))?;
    let mut failed = None;
    let mut report = simulation.run_supervised(limits, |seen, probes| {
        let rows = if seen.inspection { drain(probes) } else { drain_before(probes, seen.now) };
        match writer.append(&rows) {
            Ok(()) => ControlFlow::Continue(()),
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
    let names = || names.iter().map(|name| (name.as_str(), f64::NAN, f64::NAN));
    write_ending(spec, simulation.flows(), &ending, report.now, names(), writer)?;
    let rows = flow_rows(spec, simulation.flows(), &ending.deliveries, report.now);
    Ok(Recorded { report, flows: name_flows(rows, names()).collect() })
}

/// Runs a network and writes its result.
pub fn run(spec: &NetworkSpec, how: &How, out: &Path) -> Result<Recorded, ResultsError> {
    let options = BuildOptions { partition: Partition::Natural, shards: how.shards, shuffle: None };
    let mut simulation =
        Simulation::build_with(spec, &options, |_| Recorder::new(how.recorder.clone())).expect("a sound network");
    let limits = RunLimits { threads: how.shards, ..RunLimits::until(Time::ZERO + how.until) };
    let mut writer = ResultWriter::create(out, false, &how.recorder)?;
    let names: Vec<String> = (0..spec.flows.len()).map(|flow| format!("sender {flow}")).collect();
    let recorded = record_run(spec, &mut simulation, &limits, &names, &mut writer)?;
    let sample_every = how.recorder.sample_every.map(Span::as_picos);
    let manifest = Manifest { name: "incast".into(), seed: spec.seed, sample_every, ..Manifest::of(&recorded.report) };
    writer.commit(manifest)?;
    Ok(recorded)
}

/// A directory of a test's own, removed when the test is over.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("tailback-results-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("the temporary directory can be written to");
        Scratch(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
