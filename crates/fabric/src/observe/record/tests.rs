//! Whole runs under a recorder.

use super::*;
use crate::describe::graph::{HostId, LinkSpec};
use crate::describe::spec::{
    AdapterSpec, Buffer, ClassBuffer, ClassSpec, CreditReturn, CreditSpec, CreditUnit, Egress, FlowControl, Forwarding,
    NetworkSpec, PauseSpec, Queueing, SwitchSpec,
};
use crate::describe::topology::{self, Links};
use crate::describe::workload::{self, Destination, FlowSpec, Gaps, Pattern};
use crate::{BuildOptions, Partition, RunLimits, Simulation};
use std::ops::ControlFlow;
use units::{Bytes, Rate};

/// Eight hosts on four switches in a row, everybody to host 0 and one flow to anybody, under PFC.
fn network(lossless: bool) -> NetworkSpec {
    let link = LinkSpec { rate: Rate::from_gigabits(10), latency: Span::from_micros(1), bit_error_rate: 0.0 };
    let graph = topology::chain(4, 2, Links::same(link)).expect("a chain");
    let buffer = if lossless {
        ClassBuffer::lossless(Bytes::new(60_000), Bytes::new(20_000), Bytes::new(15_000))
    } else {
        ClassBuffer::drop_tail(Bytes::new(20_000))
    };
    let switch = SwitchSpec {
        queueing: Queueing::Output,
        buffer: Buffer::Static(vec![buffer]),
        flow_control: if lossless { FlowControl::Pfc(PauseSpec::default()) } else { FlowControl::None },
        crossbar: None,
        egress: Egress::Strict,
        forwarding: Forwarding::StoreAndForward,
        pipeline: Span::ZERO,
        order: crate::describe::spec::Order::Arrival,
        congestion_point: None,
        pfc_watchdog: None,
    };
    let class = ClassSpec { name: "storage".into(), lossless };
    let mut spec = NetworkSpec::uniform(graph, switch, AdapterSpec::default(), class);
    let hosts: Vec<HostId> = (0..8).map(HostId).collect();
    let template = FlowSpec { size: Some(Bytes::new(150_000)), ..FlowSpec::greedy(HostId(1), HostId(0)) };
    spec.flows = workload::incast(&hosts, HostId(0), &template, Span::from_micros(5), 1).into();
    let mut scattered = workload::uniform_frames(
        &hosts,
        Rate::from_gigabits(1),
        Gaps::Exponential,
        &FlowSpec { size: None, ..template },
    );
    spec.flows.push(scattered.remove(3));
    assert!(matches!(spec.flows[7].destination, Destination::Uniform));
    spec
}

/// The same with credits of four frames, and flows without end.
fn credited() -> NetworkSpec {
    let mut spec = network(true);
    let give_back = CreditReturn::Signal { delay: Span::from_nanos(1500) };
    spec.switches[0].flow_control = FlowControl::Credits(CreditSpec { unit: CreditUnit::Frame, give_back });
    spec.switches[0].buffer = Buffer::Static(vec![ClassBuffer::drop_tail(Bytes::new(4))]);
    spec.flows.iter_mut().for_each(|flow| flow.size = None);
    spec
}

fn everything() -> RecorderSpec {
    let frames = Selection::All;
    RecorderSpec { sample_every: Some(Span::from_micros(7)), waits: true, frames, ..RecorderSpec::default() }
}

/// All rows of a run, drained at every inspection.
fn record(spec: &NetworkSpec, recorder: &RecorderSpec, shards: usize, inspect_every: Span) -> (Ending, Vec<FlowRow>) {
    let (ending, flows, _) = record_holding(spec, recorder, shards, inspect_every, usize::MAX);
    (ending, flows)
}

/// The same with recorders that are full with so many rows; and the most rows that were drained at once.
fn record_holding(
    spec: &NetworkSpec,
    recorder: &RecorderSpec,
    shards: usize,
    inspect_every: Span,
    holding: usize,
) -> (Ending, Vec<FlowRow>, usize) {
    let options = BuildOptions { partition: Partition::Natural, shards, shuffle: None };
    let mut simulation = Simulation::build_with(spec, &options, |_| Recorder::new(recorder.clone()).holding(holding))
        .expect("a sound network");
    assert_eq!(simulation.shards(), shards);
    let until = Time::ZERO + Span::from_micros(1000);
    let limits = RunLimits { threads: shards, inspect_every, ..RunLimits::until(until) };
    let mut all = Vec::new();
    let report = simulation.run_supervised(&limits, |seen, probes| {
        all.push(if seen.inspection { drain(probes) } else { drain_before(probes, seen.now) });
        ControlFlow::Continue(())
    });
    let mut probes: Vec<&mut Recorder> = simulation.probes_mut().collect();
    let mut ending = finish(&mut probes, report.now);
    all.push(std::mem::take(&mut ending.rows));
    let most = all.iter().map(Rows::len).max().unwrap_or(0);
    let mut joined = Rows::default();
    for rows in all {
        joined.flow_samples.extend(rows.flow_samples);
        joined.links.extend(rows.links);
        joined.starved.extend(rows.starved);
        joined.queues.extend(rows.queues);
        joined.rates.extend(rows.rates);
        joined.pauses.extend(rows.pauses);
        joined.drops.extend(rows.drops);
        joined.notices.extend(rows.notices);
        joined.occupancy.extend(rows.occupancy);
        joined.frames.extend(rows.frames);
    }
    ending.rows = joined;
    let flows = flow_rows(spec, simulation.flows(), &ending.deliveries, report.now).collect();
    (ending, flows, most)
}

#[test]
fn a_full_recorder_is_emptied_between_inspections_and_rows_are_the_same() {
    let second = Span::from_millis(1000);
    // Serial runs look at it after some thousands of alarms, so the recorder must have much to tell.
    let often = RecorderSpec { sample_every: Some(Span::from_nanos(50)), ..everything() };
    for lossless in [true, false] {
        let spec = network(lossless);
        let (whole, flows, all) = record_holding(&spec, &often, 1, second, usize::MAX);
        assert!(all > 30_000, "{all} rows between two inspections");
        for (shards, holding) in [(1, 1000), (3, 100)] {
            let (several, same, most) = record_holding(&spec, &often, shards, second, holding);
            assert!(several.rows == whole.rows, "{shards} shards that hold {holding}");
            assert_eq!(same, flows);
            assert!(most < all / 2, "{most} rows at once of {all}");
        }
    }
}

#[test]
fn rows_depend_neither_on_shards_nor_on_inspections() {
    for lossless in [true, false] {
        let spec = network(lossless);
        let (one, flows) = record(&spec, &everything(), 1, Span::from_micros(100));
        assert!(one.rows.links.len() > 100 && one.rows.queues.len() > 100 && one.rows.rates.len() == 8);
        assert_eq!(one.rows.pauses.is_empty(), !lossless);
        assert_eq!(one.rows.drops.is_empty(), lossless);
        for (shards, micros) in [(2, 100), (3, 33), (4, 1000)] {
            let (several, same) = record(&spec, &everything(), shards, Span::from_micros(micros));
            assert_eq!(several.rows, one.rows, "{shards} shards");
            assert_eq!(several.waits, one.waits);
            assert_eq!(same, flows);
        }
    }
}

#[test]
fn a_source_that_always_has_frames_sends_or_starves() {
    let spec = credited();
    let (one, _) = record(&spec, &everything(), 1, Span::from_micros(100));
    for shards in [2, 4] {
        let (several, _) = record(&spec, &everything(), shards, Span::from_micros(70));
        assert_eq!(several.rows.links, one.rows.links, "{shards} shards");
        assert_eq!(several.rows.starved, one.rows.starved, "{shards} shards");
    }
    assert!(one.rows.pauses.is_empty() && one.rows.drops.is_empty());
    // The farthest source of the incast, once it has started: its wire is never free without a reason.
    let source = spec.flows.iter().position(|flow| flow.source == HostId(7)).expect("a source");
    let start = spec.flows[source].start.max(Time::ZERO + Span::from_micros(50));
    let name = &spec.graph.nodes[spec.graph.hosts()[7].0 as usize].name;
    let port = port_rows(&spec.graph).iter().find(|row| row.node == *name).expect("it has a port").port;
    let rows: Vec<_> = one
        .rows
        .links
        .iter()
        .filter(|row| row.port == port && row.time.saturating_since(start) > row.interval)
        .collect();
    assert!(rows.len() > 100, "{}", rows.len());
    for row in &rows {
        assert_eq!(row.busy + row.starved, row.interval, "at {}", row.time);
    }
    assert!(rows.iter().filter(|row| row.starved > row.busy).count() > 50);
    // With one class, it starves exactly while the wire stands still.
    let still =
        one.rows.links.iter().filter(|row| row.starved > Span::ZERO).map(|row| (row.time, row.port, row.starved));
    assert!(one.rows.starved.iter().map(|row| (row.time, row.port, row.starved)).eq(still));
}

/// Host 0 is overloaded in the first class; one flow of the second shares its trunk and has all the credits it needs.
#[test]
fn a_class_starves_while_another_uses_the_wire() {
    let mut spec = credited();
    spec.classes.push(ClassSpec { name: "other".into(), lossless: true });
    spec.switches[0].buffer =
        Buffer::Static(vec![ClassBuffer::drop_tail(Bytes::new(4)), ClassBuffer::drop_tail(Bytes::new(400))]);
    spec.adapters[0].buffer = vec![ClassBuffer::UNLIMITED; 2];
    spec.flows.truncate(7);
    // From the last switch to the first, but to the other host, at a rate that leaves most of the trunk to the others.
    let pattern = Pattern::Paced { rate: Rate::from_gigabits(3), gaps: Gaps::Constant, backlog: None };
    spec.flows.push(FlowSpec { class: 1, ..FlowSpec::greedy(HostId(7), HostId(1)) }.with(|it| {
        it.pattern = pattern;
    }));
    let (ending, flows) = record(&spec, &everything(), 2, Span::from_micros(100));
    let ports = port_rows(&spec.graph);
    let trunk = ports.iter().find(|row| row.node == "sw1" && row.peer == "sw0").expect("a trunk").port;
    let at_trunk = |class: u8| ending.rows.starved.iter().filter(move |row| (row.port, row.class) == (trunk, class));
    let part = |class: u8| at_trunk(class).map(|row| row.starved.as_picos()).sum::<u64>() as f64 / 1e9;
    // Host 1 has half of the link to host 0, so the trunk sends that class half of the time at most.
    assert!(part(0) > 0.4 && part(0) < 0.6, "{}", part(0));
    assert!(part(1) < 0.02, "{}", part(1));
    assert!(at_trunk(0).all(|row| row.starved <= row.interval));
    // The wire itself stands still for less: the second class uses it meanwhile.
    let links = ending.rows.links.iter().filter(|row| row.port == trunk);
    let still = links.map(|row| row.starved.as_picos()).sum::<u64>() as f64 / 1e9;
    assert!(still < part(0) - 0.1, "{still} of {}", part(0));
    assert!(flows[7].report.received_bytes * 8 > 2_800_000, "{}", flows[7].report.received_bytes);
}

#[test]
fn a_finite_flow_that_lost_a_frame_is_over_without_being_complete() {
    let (ending, flows) = record(&network(false), &everything(), 3, Span::from_micros(100));
    for flow in &flows[..7] {
        let drops = || ending.rows.drops.iter().filter(|row| row.flow == Some(flow.flow));
        assert_eq!(flow.report.lost_frames, drops().count() as u64, "{}", flow.name);
        assert_eq!(flow.report.completed.is_some(), flow.report.lost_frames == 0);
        let last = drops().map(|row| row.time).max().unwrap_or_default().max(flow.report.last_received);
        assert_eq!(flow.ended, Some(last), "{}", flow.name);
    }
    assert!(flows[..7].iter().filter(|flow| flow.report.lost_frames > 0).count() > 3);
    // The eighth has no end.
    assert_eq!(flows[7].ended, None);
}

#[test]
fn drained_rows_are_already_in_the_order_of_their_tables() {
    let (ending, _) = record(&network(true), &everything(), 3, Span::from_micros(50));
    let sorted = Rows::merge([ending.rows.clone()]);
    assert_eq!(sorted, ending.rows);
}

#[test]
fn samples_add_up_to_the_totals() {
    let (ending, flows) = record(&network(true), &everything(), 2, Span::from_micros(100));
    for flow in &flows {
        let samples = ending.rows.flow_samples.iter().filter(|row| row.flow == flow.flow);
        assert_eq!(samples.map(|row| row.bytes).sum::<u64>(), flow.report.received_bytes);
        assert_eq!(flow.delivery.frames, flow.report.received_frames);
    }
    for port in 0..8 {
        let rows: Vec<_> = ending.rows.links.iter().filter(|row| row.port == port).collect();
        let Some(last) = rows.last() else { continue };
        assert_eq!(rows.iter().map(|row| row.bytes).sum::<u64>(), last.total_bytes);
        assert!(rows.iter().all(|row| row.busy <= row.interval));
    }
    let finite: Vec<_> = flows.iter().filter(|flow| flow.size.is_some()).collect();
    assert!(finite.iter().all(|flow| flow.report.completed.is_some() && flow.ended == flow.report.completed));
}

/// Every frame of a captured port, of whatever kind, and no other.
#[test]
fn captured_frames_are_what_the_links_carried() {
    let (all, _) = record(&network(true), &everything(), 2, Span::from_micros(100));
    for port in [0, 1, 9] {
        let recorder = RecorderSpec { frames: Selection::only([port]), ..everything() };
        let (some, _) = record(&network(true), &recorder, 1, Span::from_micros(100));
        let of_port: Vec<_> = all.rows.frames.iter().filter(|row| row.port == port).cloned().collect();
        assert_eq!(some.rows.frames, of_port);
        let carried: u64 = all.rows.links.iter().filter(|row| row.port == port).map(|row| row.frames).sum();
        assert_eq!(of_port.len() as u64, carried, "port {port}");
    }
    let kinds = |kind| all.rows.frames.iter().filter(|row| row.frame.kind == kind).count();
    assert!(kinds(Kind::Data) > 1000 && kinds(Kind::Pause) > 10);
}

#[test]
fn an_idle_network_leaves_no_rows() {
    let mut spec = network(true);
    spec.flows.truncate(1);
    let (ending, _) = record(&spec, &everything(), 1, Span::from_micros(100));
    let finished = Time::ZERO + Span::from_micros(200);
    assert!(ending.rows.links.iter().all(|row| row.time < finished));
    assert!(ending.rows.queues.iter().all(|row| row.time < finished));
    assert_eq!(ending.rows.rates.len(), 1);
}

#[test]
fn only_what_is_selected_is_recorded() {
    let recorder = RecorderSpec { ports: Selection::only([0]), flows: Selection::only([2, 70]), ..everything() };
    let (ending, _) = record(&network(true), &recorder, 2, Span::from_micros(100));
    assert!(ending.rows.links.iter().all(|row| row.port == 0));
    assert!(ending.rows.queues.iter().all(|row| row.queue.port == 0));
    assert!(ending.rows.flow_samples.iter().all(|row| row.flow == 2));
    assert!(!ending.rows.flow_samples.is_empty());
    let (nothing, _) = record(&network(true), &RecorderSpec::nothing(), 1, Span::from_micros(100));
    assert!(nothing.rows.is_empty() && nothing.waits.is_empty() && nothing.deliveries.is_empty());
}

#[test]
fn without_sampling_links_have_one_row_for_the_whole_run() {
    let recorder = RecorderSpec { sample_every: None, ..everything() };
    let (ending, _) = record(&network(true), &recorder, 2, Span::from_micros(100));
    let (sampled, _) = record(&network(true), &everything(), 1, Span::from_micros(100));
    assert!(ending.rows.queues.is_empty() && ending.rows.rates.is_empty());
    assert_eq!(ending.rows.pauses, sampled.rows.pauses);
    let once = &ending.rows.links[0];
    let last = sampled.rows.links.iter().rfind(|row| row.port == once.port).expect("it has sent");
    assert_eq!(once.bytes, last.total_bytes);
}

#[test]
fn a_pause_that_lasts_is_cut_off_at_the_end() {
    let mut recorder = Recorder::new(RecorderSpec::default());
    recorder.on_pause(Time::from_picos(5), 1, 0b101, true);
    recorder.on_pause(Time::from_picos(7), 1, 0b101, true);
    recorder.on_pause(Time::from_picos(9), 1, 0b001, false);
    recorder.on_pause(Time::from_picos(9), 2, 0b001, false);
    let ending = finish(&mut [&mut recorder], Time::from_picos(8));
    let row = |end, class, cut_off| PauseRow {
        start: Time::from_picos(5),
        end: Time::from_picos(end),
        port: 1,
        class,
        cut_off,
    };
    assert_eq!(ending.rows.pauses, [row(9, 0, false), row(9, 2, true)]);
    assert_eq!(ending.end, Time::from_picos(9));
}
