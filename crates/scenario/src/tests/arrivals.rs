//! Flows that arrive at random: what their load is a fraction of, and where they go.

use crate::{Limits, NoFiles, Plan, load_str};
use fabric::workload::Destination;

/// Two leaves with two hosts each, 10 Gb/s below and a spine at 5 Gb/s above, and another pair of leaves.
fn plan(workload: &str) -> Result<Plan, String> {
    plan_within(workload, Limits::default())
}

fn plan_within(workload: &str, limits: Limits) -> Result<Plan, String> {
    let text = format!(
        "schema_version = 1\n[network]\nlink = {{ rate = \"10Gb/s\", latency = \"1us\" }}\noverhead = \"0B\"\n\
         nodes = [{{ names = \"h{{0..7}}\", role = \"host\" }}, {{ names = \"l{{0..3}}\", role = \"switch\" }}, \
         {{ names = \"s\", role = \"switch\" }}]\n\
         links = [{{ between = [\"h{{0..1}}\", \"l0\"] }}, {{ between = [\"h{{2..3}}\", \"l1\"] }}, \
         {{ between = [\"h{{4..5}}\", \"l2\"] }}, {{ between = [\"h{{6..7}}\", \"l3\"] }}, \
         {{ between = [\"l{{0..3}}\", \"s\"], rate = \"5Gb/s\" }}]\n\
         [[switches]]\nbuffers = {{ capacity = \"200KB\" }}\n[run]\nduration = \"20ms\"\n\
         [[workloads]]\nkind = \"poisson-flows\"\nflow_size = \"1000B\"\n{workload}"
    );
    load_str("test.toml", &text, &[], &NoFiles, limits).map_err(|errors| errors.render(false))
}

/// Bits per second that all flows offer, and the shares of those that leave their rack and their half.
fn offered(workload: &str) -> (f64, f64, f64) {
    let plan = plan(workload).unwrap_or_else(|errors| panic!("{errors}"));
    let flows = &plan.spec.flows;
    let ends = |flow: &fabric::workload::FlowSpec| match flow.destination {
        Destination::Host(to) => (flow.source.0, to.0),
        Destination::Uniform => panic!("a host"),
    };
    let share = |leaves: fn((u32, u32)) -> bool| {
        flows.iter().filter(|flow| leaves(ends(flow))).count() as f64 / flows.len() as f64
    };
    let bits = flows.len() as f64 * 8000.0 / 0.02;
    (bits, share(|(from, to)| from / 2 != to / 2), share(|(from, to)| from / 4 != to / 4))
}

fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 0.03 * expected, "{value} is not {expected}");
}

#[test]
fn load_is_a_fraction_of_what_load_of_names() {
    near(offered("load = 0.5").0, 40e9);
    // Four links of 5 Gb/s up from the leaves; six of seven destinations are in other racks.
    let (bits, leave, _) = offered("load = 0.5\nload_of = \"racks\"");
    near(bits * leave, 10e9);
    near(leave, 6.0 / 7.0);
    // Two leaves on each side: 10 Gb/s each way.
    let (bits, _, cross) = offered("load = 0.5\nload_of = \"bisection\"");
    near(bits * cross, 10e9);
    // With a locality, and bursts that do not change the mean.
    let burst = "load = 0.5\nlocality = 0.4\narrivals = \"log-normal\"\nsigma = 1";
    let (bits, leave, _) = offered(&format!("{burst}\nload_of = \"racks\""));
    near(bits * leave, 10e9);
    near(leave, 0.6);
    near(offered(burst).0, 40e9);
}

#[test]
fn loads_that_nothing_carries_are_refused() {
    let refused = |workload: &str, part: &str| {
        let errors = plan(workload).expect_err(workload);
        assert!(errors.contains(part), "{errors}");
    };
    refused("load = 0.5\nload_of = \"racks\"\nfrom = \"h0\"\nto = \"h1\"", "no flow leaves its rack");
    refused("load = 0.5\nload_of = \"bisection\"\nfrom = \"h0\"\nto = \"h2\"", "no flow crosses");
    refused("load = 0.5\nlocality = 0.5\nfrom = \"h0\"\nto = \"h2\"", "behind its own switch");
    refused("load = 0.5\narrivals = \"log-normal\"", "sigma");
    refused("load = 0.5\nsigma = 1", "sigma");
}

#[test]
fn bursts_without_end_are_refused_before_they_fill_the_memory() {
    // The median of the gaps is e^-50 of their mean: nearly all flows start at the same instant.
    let workload = "mean_gap = \"1us\"\narrivals = \"log-normal\"\nsigma = 10";
    let refused = |limits: Limits, part: &str| {
        let errors = plan_within(workload, limits).expect_err("flows without end");
        assert!(errors.contains(part), "{errors}");
    };
    refused(Limits { flows: 100_000, ..Limits::default() }, "flows; at most 100,000 more are possible");
    refused(Limits { memory: 50_000_000, ..Limits::default() }, "of memory");
}
