//! Tests of every metric on networks that can be calculated by hand.

use super::measures::measured;
use crate::run::execute::{Execution, Existing, Options, Recording, execute};
use results::Results;
use results::document::Network;
use scenario::{Limits, NoFiles, Plan, load_str};
use std::sync::atomic::AtomicBool;

/// One flow alone, from 400 us on a second one into the same output, under PFC.
const NETWORK: &str = r#"
    schema_version = 1
    [network]
    topology = "single-switch"
    hosts = 3
    link = { rate = "10Gb/s", latency = "500ns" }
    [[switches]]
    flow_control = "pfc"
    buffers = { capacity = "100KB", xoff = "30KB", xon = "28KB" }
    [[workloads]]
    name = "first"
    kind = "greedy"
    from = "h0"
    to = "h2"
    [[workloads]]
    name = "second"
    kind = "greedy"
    from = "h1"
    to = "h2"
    start = "400us"
    [run]
    duration = "1ms"
    warm_up = "500us"
    [probes]
    sample_every = "1us"
"#;

fn plan(expectations: &[&str], overrides: &[&str]) -> Plan {
    let each = |text: &&str| format!("[[expectations]]\n{}\n", text.replace("; ", "\n"));
    let text = format!("{NETWORK}{}", expectations.iter().map(each).collect::<String>());
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    let plan = load_str("test", &text, &overrides, &NoFiles, Limits::default());
    plan.unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

fn run(plan: &Plan, threads: usize, record: Option<&Recording>) -> Execution {
    let interrupt = AtomicBool::new(false);
    execute(plan, &Options { threads, time_up: None, interrupt: &interrupt, record, capture: None }, |_| {}).unwrap()
}

fn values(expectations: &[&str], overrides: &[&str]) -> Vec<Option<f64>> {
    let plan = plan(expectations, overrides);
    let measures = run(&plan, 1, None).measures;
    plan.expectations.iter().map(|expectation| measured(expectation, &measures)).collect()
}

#[test]
fn a_service_rate_counts_overhead_as_the_rate_of_a_cable_does() {
    let slow = "adapters=[{}, { match = \"h2\", service = \"2Gb/s\", flow_control = \"pfc\", buffers = { capacity = \"90KB\" } }]";
    let about = ["raw-throughput", "throughput", "fair-rate"]
        .map(|it| format!("metric = \"{it}\"; of = \"*\"; statistic = \"sum\""));
    let found = values(&about.each_ref().map(String::as_str), &[slow]);
    let near = |found: Option<f64>, wanted: f64| found.is_some_and(|found| (found / wanted - 1.0).abs() < 0.01);
    let frames = 2e9 * 1500.0 / 1520.0;
    assert!(near(found[0], 2e9) && near(found[1], frames) && near(found[2], frames), "{found:?}");
    assert!(scenario::reference().contains("including frame overhead, like the rate of a link"));
}

/// That something measured lies that near to what it should be.
fn near(expectation: &str, expected: f64, fraction: f64) {
    let value = values(&[expectation], &[])[0].unwrap_or(f64::NAN);
    assert!((value - expected).abs() <= fraction * expected.abs(), "{expectation}: {value}, not {expected}");
}

#[test]
fn throughput_before_and_after_the_second_flow_begins() {
    near("metric = 'raw-throughput'; of = 'first'; between = ['100us', '300us']", 10e9, 0.01);
    near("metric = 'throughput'; of = 'first'; between = ['100us', '300us']", 10e9 * 1500.0 / 1520.0, 0.01);
    near("metric = 'raw-throughput'; of = 'first'; between = ['600us', '900us']", 5e9, 0.02);
    near("metric = 'raw-throughput'; of = 'second'", 5e9, 0.02);
    near(
        "metric = 'delivered'; of = 'first'; between = ['100us', '300us']",
        200e-6 * 10e9 / 8.0 * 1500.0 / 1520.0,
        0.01,
    );
    let before_it_began = "metric = 'throughput'; of = 'second'; between = ['100us', '300us']";
    assert_eq!(values(&[before_it_began], &[]), [None]);
}

#[test]
fn windows_add_up_to_the_run() {
    let all = values(
        &[
            "metric = 'delivered'; of = 'first'",
            "metric = 'delivered'; of = 'first'; between = ['0s', '437us']",
            "metric = 'delivered'; of = 'first'; between = ['437us', '1ms']",
            "metric = 'pause-frames'",
            "metric = 'pause-frames'; between = ['0s', '400us']",
            "metric = 'pause-frames'; between = ['400us', '700us']",
            "metric = 'pause-frames'; between = ['700us', '1ms']",
        ],
        &[],
    );
    let all: Vec<f64> = all.into_iter().flatten().collect();
    assert_eq!(all[0], all[1] + all[2]);
    assert_eq!(all[3], all[4] + all[5] + all[6]);
    assert!(all[4] == 0.0 && all[5] > 0.0 && all[6] > 0.0, "{all:?}");
}

#[test]
fn ratios_and_fairness() {
    near("metric = 'throughput'; of = 'first'; over = 'second'; between = ['600us', '900us']", 1.0, 0.02);
    near(
        "metric = 'throughput'; of = '*'; statistic = 'sum'; over = 'second'; between = ['600us', '900us']",
        2.0,
        0.02,
    );
    near("metric = 'fairness'; between = ['600us', '900us']", 1.0, 0.001);
    // Nothing has been delivered of the second: there is no ratio.
    let none = "metric = 'delivered'; of = 'first'; over = 'second'; between = ['100us', '300us']";
    assert_eq!(values(&[none], &[]), [None]);
}

#[test]
fn wires_are_busy_or_idle() {
    near("metric = 'utilisation'; of = 'sw0->h2'; between = ['100us', '300us']", 1.0, 1e-9);
    near("metric = 'utilisation'; of = 'sw0->h2'", 1.0, 1e-9);
    near("metric = 'utilisation'; of = 'h1 -> sw0'; between = ['0s', '400us']", 0.0, 0.0);
    near("metric = 'utilisation'; of = 'h{0..1}->sw0'; between = ['100us', '300us']", 0.5, 1e-9);
    near("metric = 'utilisation'; of = 'h{0..1}->sw0'; statistic = 'sum'; between = ['600us', '900us']", 1.0, 0.02);
    near("metric = 'utilisation'; of = 'h0->sw0'; between = ['600us', '900us']", 0.5, 0.03);
}

#[test]
fn a_link_is_used_by_what_its_flows_deliver_of_their_fair_shares() {
    near("metric = 'fair-use'; of = 'sw0->h2'; between = ['100us', '300us']", 1.0, 0.01);
    near("metric = 'fair-use'; of = 'sw0->h2'; between = ['600us', '900us']", 1.0, 0.02);
    near("metric = 'fair-use'; of = ['sw0->h2', 'h0->sw0']; between = ['600us', '900us']", 1.0, 0.02);
    // Nobody crosses it: there is no share of nothing.
    assert_eq!(values(&["metric = 'fair-use'; of = 'sw0->h1'"], &[]), [None]);
}

#[test]
fn ports_are_measured_one_by_one() {
    let of =
        |rest: &str| format!("metric = 'queue'; of = 'sw0'; statistic = 'mean'; between = ['600us', '1ms']; {rest}");
    let texts = ["", "across = 'fullest'", "across = 'mean'", "across = 'least'"].map(of);
    let found = values(&texts.each_ref().map(String::as_str), &[]);
    let found: Vec<f64> = found.into_iter().flatten().collect();
    // Of three ports one has a queue.
    assert!(found[0] > 40e3 && found[0] == found[1], "{found:?}");
    assert!((found[2] - found[0] / 3.0).abs() < 1e-6 * found[0] && found[3] == 0.0, "{found:?}");
}

#[test]
fn a_sender_is_paused_when_it_does_not_send() {
    near("metric = 'paused'; of = 'h0->sw0'; between = ['0s', '400us']", 0.0, 0.0);
    near("metric = 'pause-phase'; of = 'h0->sw0'; between = ['0s', '400us']", 0.0, 0.0);
    let found = values(
        &[
            "metric = 'paused'; of = 'h0->sw0'; between = ['600us', '900us']",
            "metric = 'utilisation'; of = 'h0->sw0'; between = ['600us', '900us']",
            "metric = 'pause-phase'; of = 'h0->sw0'; between = ['400us', '1ms']",
            "metric = 'pause-phase'; of = 'h0->sw0'; between = ['400us', '1ms']; quiet = '1us'",
        ],
        &[],
    );
    let found: Vec<f64> = found.into_iter().flatten().collect();
    // It sends or is paused; only the frame that is on its way when the pause comes counts twice.
    assert!((0.48..0.62).contains(&found[0]) && found[0] + found[1] >= 1.0, "{found:?}");
    // 30 KB fill the buffer at 5 Gb/s in 48 us; from then on pause follows pause. A phase of its own lasts less.
    assert!((540e-6..600e-6).contains(&found[2]), "{found:?}");
    assert!(found[3] > 1e-6 && found[3] < 50e-6, "{found:?}");
}

#[test]
fn buffers_fill_to_their_threshold_and_queues_hold_what_came_in() {
    let found = values(
        &[
            "metric = 'buffer'; of = 'h0->sw0'; between = ['600us', '1ms']",
            "metric = 'buffer'; of = 'h0->sw0'; between = ['600us', '1ms']; statistic = 'mean'",
            "metric = 'buffer'; of = 'h0->sw0'; between = ['600us', '1ms']; statistic = 'least'",
            "metric = 'buffer'; of = 'sw0'; between = ['600us', '1ms']; statistic = 'mean'",
            "metric = 'queue'; of = 'sw0->h2'; between = ['600us', '1ms']; statistic = 'mean'",
            "metric = 'buffer'; of = 'sw0'; between = ['100us', '300us']",
            "metric = 'queue'; of = 'sw0'",
        ],
        &[],
    );
    let found: Vec<f64> = found.into_iter().flatten().collect();
    // Full at XOFF and what arrives after it, drained to XON and what leaves before the sender is back.
    assert!((30e3..36e3).contains(&found[0]), "{found:?}");
    assert!((24e3..28e3).contains(&found[2]) && found[1] > found[2] && found[1] < found[0], "{found:?}");
    // Both inputs, which are alike; the frame on the wire is held and does not wait.
    assert!((found[3] / found[1] - 2.0).abs() < 0.1, "{found:?}");
    assert!((found[3] - found[4] - 1500.0).abs() < 1e-6, "{found:?}");
    // Alone, a frame leaves as it comes.
    assert!(found[5] <= 3000.0, "{found:?}");
    assert!(found[6] > 50e3 && found[6] < 2.0 * 36e3, "{found:?}");
}

#[test]
fn a_rate_limit_is_what_the_protocol_allows_or_the_link() {
    let both = ["metric = 'rate-limit'; of = 'first'", "metric = 'settling-time'; of = 'first'"];
    assert_eq!(values(&both, &[]), [Some(10e9), Some(0.0)]);
    assert_eq!(values(&both, &["protocol.rate=1Gb/s"]), [Some(1e9), Some(0.0)]);
    assert_eq!(values(&["metric = 'rate-limit'; of = '*'; statistic = 'sum'"], &[]), [Some(20e9)]);
    // Over time: one flow for four tenths of the run, then two.
    let total = |rest: &str| values(&[&format!("metric = 'total-rate'; between = ['0s', '1ms']; {rest}")], &[])[0];
    let mean = total("statistic = 'mean'").expect("a mean");
    assert!((mean / 16e9 - 1.0).abs() < 0.01, "{mean}");
    assert!((total("statistic = 'deviation'").expect("a deviation") / 0.24_f64.sqrt() / 10e9 - 1.0).abs() < 0.01);
    let around = total("statistic = 'deviation'; around = '20Gb/s'").expect("a deviation");
    assert!((around / 0.4_f64.sqrt() / 10e9 - 1.0).abs() < 0.01, "{around}");
    // Before a flow begins it has no limit and no settling.
    assert_eq!(values(&["metric = 'rate-limit'; of = 'second'; between = ['0s', '400us']"], &[]), [None]);
}

/// One of everything.
const EVERYTHING: &[&str] = &[
    "metric = 'throughput'; of = 'first'; between = ['123456ns', '654321ns']",
    "metric = 'throughput'; of = 'first'; over = 'second'",
    "metric = 'fairness'; between = ['450us', '500us']",
    "metric = 'queue'; of = 'sw0'; statistic = 'mean'",
    "metric = 'buffer'; of = ['h0->sw0', 'sw0']; statistic = 'least'; between = ['777777ns', '888888ns']",
    "metric = 'utilisation'; of = '*->sw0'; between = ['333333ns', '933333ns']",
    "metric = 'paused'; of = '*->sw0'",
    "metric = 'pause-phase'; of = 'h0->sw0'; quiet = '20us'",
    "metric = 'queue'; of = 'sw0->h2'; statistic = 'deviation'; around = '20KB'",
    "metric = 'rate-limit'",
    "metric = 'total-rate'; statistic = 'variation'; around = '9Gb/s'",
    "metric = 'settling-time'",
    "metric = 'pause-frames'; between = ['450us', '950us']",
];

/// Two flows share an output under PFC: each waits half of its 500 us for that output, which both use.
#[test]
fn time_is_measured_by_its_cause() {
    near("metric = \"lost-time\"; of = \"first\"", 250e-6, 0.03);
    near("metric = \"blocked-time\"; of = \"*\"; statistic = \"sum\"", 500e-6, 0.03);
    near("metric = \"blame\"; of = \"sw0->h2\"", 500e-6, 0.05);
    let none = ["victim-time", "contention-time", "limited-time", "repair-time"];
    let none = none.map(|metric| format!("metric = \"{metric}\"; of = \"*\"; statistic = \"most\""));
    assert_eq!(values(&none.each_ref().map(String::as_str), &[]), [Some(0.0); 4]);
    let path = format!("{}/../../scenarios/victim.toml", env!("CARGO_MANIFEST_DIR"));
    let expect = r#"expectations=[{metric="victim-time",of="victim"},{metric="lost-time",of="victim"},{metric="victim-time",of="hot",statistic="most"}]"#;
    let plan = scenario::load(std::path::Path::new(&path), &[expect.to_owned()]);
    let plan = plan.unwrap_or_else(|errors| panic!("{}", errors.render(false)));
    let measures = run(&plan, 1, None).measures;
    let (victim, lost) = (measures.values[0].unwrap(), measures.values[1].unwrap());
    assert!(victim > 0.97 * lost && lost > 3.2e-3 && lost < 4e-3, "{victim} of {lost}");
    // Now and then the output of the victim has a backlog, too.
    assert!(measures.values[2].is_some_and(|time| time < 0.01 * lost), "{:?}", measures.values[2]);
}

#[test]
fn measuring_changes_nothing_and_threads_and_recording_change_no_measurement() {
    let alone = run(&plan(&[], &[]), 1, None).report;
    let plan = plan(EVERYTHING, &["probes.record=[\"drops\"]", "probes.nodes=h2"]);
    let out = std::env::temp_dir().join(format!("tailback-measure-{}", std::process::id()));
    let recording = Recording { out: out.clone(), existing: Existing::Replace };
    let first = run(&plan, 1, None);
    assert_eq!((first.report.fingerprint, first.report.totals), (alone.fingerprint, alone.totals));
    assert!(first.measures.values.iter().all(Option::is_some), "{:?}", first.measures.values);
    for (threads, record) in [(3, None), (1, Some(&recording)), (3, Some(&recording))] {
        let other = run(&plan, threads, record);
        assert_eq!((other.report.fingerprint, other.report.now), (first.report.fingerprint, first.report.now));
        assert_eq!(other.measures.values, first.measures.values, "{threads} threads");
    }
    std::fs::remove_dir_all(&out).unwrap();
}

#[test]
fn a_sender_without_credits_starves_while_its_wire_is_idle() {
    let credits = ["switches[0].flow_control=\"credits\"", "switches[0].buffers={capacity=\"30KB\"}"];
    let alone = "metric = 'starved'; of = 'h0->sw0'; between = ['100us', '300us']";
    let shared = "metric = 'starved'; of = 'h0->sw0'; between = ['600us', '900us']";
    let busy = "metric = 'utilisation'; of = 'h0->sw0'; between = ['600us', '900us']";
    let found = values(&[alone, shared, busy], &credits);
    let [Some(alone), Some(shared), Some(busy)] = found[..] else { panic!("{found:?}") };
    assert_eq!(alone, 0.0);
    // The other half of the link: frames always wait.
    assert!((shared - 0.5).abs() < 0.02 && (shared + busy - 1.0).abs() < 0.01, "{found:?}");
}

#[test]
fn the_marked_share_is_of_what_arrived_in_the_window() {
    let point = ["congestion_point={name=\"infiniband-fecn\",queue=\"20KB\",marking_rate=0}"];
    let share = |of: &str, between: &str| format!("metric = 'marked-share'; of = '{of}'; between = [{between}]");
    let asked = [
        share("first", "'100us', '300us'"),
        share("first", "'600us', '900us'"),
        share("second", "'600us', '900us'"),
        share("second", "'100us', '300us'"),
        format!("{}; over = 'second'", share("first", "'600us', '900us'")),
    ];
    let found = values(&asked.each_ref().map(String::as_str), &point);
    assert_eq!(found, [Some(0.0), Some(1.0), Some(1.0), None, Some(1.0)]);
}

#[test]
fn windows_do_not_move_the_end_of_a_run() {
    // A run that ends early does so at the same inspection, wherever windows begin and end.
    let limit = ["run.max_events=2500"];
    let ends = |expectations: &[&str]| {
        let report = run(&plan(expectations, &limit), 1, None).report;
        (report.now, report.events, report.fingerprint, format!("{:?}", report.outcome))
    };
    let one = ends(&[]);
    assert!(one.0 > units::Time::ZERO + units::Span::from_micros(100), "{one:?}");
    let windows: Vec<String> =
        (1..9).map(|n| format!("metric = 'delivered'; between = ['{n}00us', '{n}50123ns']")).collect();
    assert_eq!(ends(&windows.iter().map(String::as_str).collect::<Vec<_>>()), one);
    let late = "metric = 'throughput'; of = 'first'; between = ['800us', '900us']";
    let cut = "metric = 'raw-throughput'; of = 'first'; between = ['100us', '900us']";
    let found = values(&[late, cut, "metric = 'buffer'; of = 'sw0'; between = ['800us', '900us']"], &limit);
    assert_eq!((found[0], found[2]), (None, None));
    assert!(found[1].is_some_and(|rate| (rate / 10e9 - 1.0).abs() < 0.3), "{found:?}");
}

#[test]
fn parallel_cables_are_averaged() {
    let text = r#"
        schema_version = 1
        [network]
        link = { rate = "10Gb/s", latency = "500ns" }
        [[network.nodes]]
        names = ["h0", "h1"]
        role = "host"
        [[network.nodes]]
        names = ["a", "b"]
        role = "switch"
        [[network.links]]
        between = ["h0", "a"]
        [[network.links]]
        between = ["a", "b"]
        count = 2
        [[network.links]]
        between = ["b", "h1"]
        [[switches]]
        buffers = { capacity = "100KB" }
        [[workloads]]
        kind = "greedy"
        from = "h0"
        to = "h1"
        [run]
        duration = "1ms"
        warm_up = "100us"
        [[expectations]]
        metric = "utilisation"
        of = "a->b"
        [[expectations]]
        metric = "utilisation"
        of = "a->b"
        statistic = "most"
        [[expectations]]
        metric = "utilisation"
        of = "b->a"
    "#;
    let plan = load_str("test", text, &[], &NoFiles, Limits::default());
    let plan = plan.unwrap_or_else(|errors| panic!("{}", errors.render(false)));
    let values = run(&plan, 1, None).measures.values;
    assert_eq!(values, [Some(0.5), Some(1.0), Some(0.0)]);
}

/// Figure 3 of Neeser et al. 2012 with K = 6, and an arbiter that passes over busy inputs.
const HOTSPOT: &str = r#"
    schema_version = 1
    [network]
    topology = "single-switch"
    hosts = 7
    overhead = "20B"
    link = { rate = "10Gb/s", latency = "50ns" }
    [[switches]]
    queueing = "combined"
    output_buffer = "150KB"
    speedup = 2
    arbitration = "round-robin"
    flow_control = "pfc"
    buffers = { capacity = "150KB", xoff = "110KB", xon = "44KB" }
    occupancy = true
    [[workloads]]
    name = "victim"
    kind = "paced"
    rate = "5Gb/s"
    gaps = "jittered"
    jitter = 0.5
    from = "h0"
    to = "h5"
    frame = "1522B"
    backlog = 16
    overflow = "stall"
    [[workloads]]
    name = "culprit"
    kind = "paced"
    rate = "5Gb/s"
    gaps = "jittered"
    jitter = 0.5
    from = "h0"
    to = "h6"
    frame = "1522B"
    backlog = 16
    overflow = "stall"
    [[workloads]]
    name = "hot"
    kind = "greedy"
    from = "h{1..4}"
    to = "h6"
    frame = "1522B"
    [run]
    duration = "20ms"
    warm_up = "5ms"
    [probes]
    sample_every = "50us"
    [[expectations]]
    metric = "raw-throughput"
    of = "victim"
    [[expectations]]
    metric = "occupancy"
    of = "victim"
    [[expectations]]
    metric = "occupancy"
    of = "culprit"
    [[expectations]]
    metric = "buffer"
    of = "h0->sw0"
    statistic = "mean"
    between = ["5ms", "20ms"]
    [[expectations]]
    metric = "limit-share"
    of = "victim"
"#;

#[test]
fn frames_meet_as_the_pause_loop_has_it() {
    let measured_with = |overrides: &[&str]| -> Vec<f64> {
        let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
        let plan = load_str("test", HOTSPOT, &overrides, &NoFiles, Limits::default());
        let plan = plan.unwrap_or_else(|errors| panic!("{}", errors.render(false)));
        let measures = run(&plan, 1, None).measures;
        plan.expectations.iter().map(|expectation| measured(expectation, &measures).unwrap_or(f64::NAN)).collect()
    };
    let victim = |overrides: &[&str]| measured_with(overrides)[0] / 1e9;
    // Obeyed at once, each pause ends where the victim is in the culprit's way; 614.4 ns later it is not.
    let (at_once, later) = (victim(&[]), victim(&["switches[0].pause.response=614.4ns"]));
    assert!((at_once - 1.46).abs() < 0.05, "{at_once}");
    assert!((later - 2.0).abs() < 0.04, "{later}");
    // Drawn for each pause it is now the one, now the other, and other seeds draw otherwise.
    let drawn = ["switches[0].pause.response_jitter=1233.6ns", "run.seed=2"]
        .map(|more| victim(&["switches[0].pause.response_jitter=1233.6ns", more]));
    assert!(drawn.iter().all(|victim| (1.55..1.9).contains(victim)) && drawn[0] != drawn[1], "{drawn:?}");
    // What the two hold is what the buffer holds; nothing limits the victim but its link.
    let all = measured_with(&[]);
    assert!(all[2] > 10.0 * all[1] && (all[1] + all[2] - all[3]).abs() < 1.0, "{all:?}");
    assert!((all[4] * 10e9 / all[0] - 1.0).abs() < 1e-9, "{all:?}");
}

/// One flow that is stopped while its frames wait in a switch, one that completes, one that begins before the warm-up is
/// over and one after it: each alone in its workload.
const LIVES: &str = r#"
    schema_version = 1
    [network]
    topology = "single-switch"
    hosts = 6
    link = { rate = "10Gb/s", latency = "500ns" }
    [[switches]]
    flow_control = "pfc"
    buffers = { capacity = "400KB", xoff = "300KB", xon = "297KB" }
    [[workloads]]
    name = "stopped"
    kind = "greedy"
    from = "h0"
    to = "h4"
    start = "300us"
    stop = "700us"
    [[workloads]]
    name = "lasting"
    kind = "greedy"
    from = "h1"
    to = "h4"
    start = "300us"
    [[workloads]]
    name = "complete"
    kind = "greedy"
    from = "h2"
    to = "h5"
    size = "500KB"
    start = "400us"
    [[workloads]]
    name = "late"
    kind = "greedy"
    from = "h3"
    to = "h5"
    start = "850us"
    size = "10MB"
    [run]
    duration = "1ms"
    warm_up = "500us"
    [[expectations]]
    metric = "throughput"
    of = "stopped"
    [[expectations]]
    metric = "throughput"
    of = "lasting"
    [[expectations]]
    metric = "throughput"
    of = "complete"
    [[expectations]]
    metric = "throughput"
    of = "late"
    [[expectations]]
    metric = "fair-share"
    of = "complete"
    [[expectations]]
    metric = "fair-share"
    of = "late"
"#;

#[test]
fn the_summary_the_tables_and_expectations_state_one_throughput() {
    use fabric::record::schema;
    let plan = load_str("test", LIVES, &[], &NoFiles, Limits::default())
        .unwrap_or_else(|errors| panic!("{}", errors.render(false)));
    let out = std::env::temp_dir().join(format!("tailback-one-throughput-{}", std::process::id()));
    let execution = run(&plan, 1, Some(&Recording { out: out.clone(), existing: Existing::Replace }));
    let measures = &execution.measures;
    let results = results::Results::open(&out).unwrap();
    let flows = results.read(&schema::FLOWS).unwrap();
    let lines = measures.workloads(&plan);
    for (flow, name) in ["stopped", "lasting", "complete", "late"].iter().enumerate() {
        let rate = measures.flows.get(flow).expect("a flow").throughput;
        assert_eq!(flows.reals("throughput")[flow], rate, "{name}: the table flows");
        assert_eq!(measured(&plan.expectations[flow], measures), Some(rate), "{name}: the expectation");
        assert_eq!(lines[flow].throughput, Some((rate, rate, rate)), "{name}: the summary");
    }
    // And it is the one that docs/verdicts.md states. What was in the switch when the first was stopped is not counted.
    let line = 10e9 * 1500.0 / 1520.0;
    let completed = flows.integers("completed")[2] as f64 / 1e12;
    let samples = results.read(&schema::FLOW_SAMPLES).unwrap();
    let bytes = |flow: i64, from: i64, to: i64| {
        let rows = samples.integers("flow").iter().zip(samples.integers("time")).zip(samples.integers("bytes"));
        let inside = rows.filter(|((number, time), _)| **number == flow && **time > from && **time <= to);
        inside.map(|(_, bytes)| *bytes).sum::<i64>() as f64
    };
    let micros = |micros: i64| micros * 1_000_000;
    let expected = [
        bytes(0, micros(500), micros(700)) * 8.0 / 200e-6,
        bytes(1, micros(500), micros(1000)) * 8.0 / 500e-6,
        bytes(2, micros(500), micros(1000)) * 8.0 / (completed - 500e-6),
        bytes(3, 0, micros(1000)) * 8.0 / 150e-6,
    ];
    for (flow, expected) in expected.iter().enumerate() {
        let rate = measures.flows.get(flow).expect("a flow").throughput;
        assert!((rate / expected - 1.0).abs() < 1e-9, "flow {flow}: {rate}, not {expected}");
        // A window that ends with an arrival counts the frame whole.
        assert!(rate < line * 1.01 && rate > line * 0.45, "flow {flow}: {rate}");
    }
    assert!(bytes(0, micros(700), micros(1000)) > 100_000.0, "its frames went on arriving");
    // Neither of the last two ever shared a link with the other, although both have the same receiver.
    for place in [4, 5] {
        let share = measured(&plan.expectations[place], measures).expect("a share");
        assert!((share - 1.0).abs() < 0.02, "{share}");
    }
    let network = Results::open(&out).unwrap().document::<Network>().unwrap().expect("it was written");
    for flow in [2, 3] {
        let share = network.flows.fair_share.get(flow).copied().flatten().expect("a share");
        assert!((share / line - 1.0).abs() < 1e-6, "flow {flow}: {share}");
    }
    std::fs::remove_dir_all(&out).unwrap();
}

#[test]
fn a_flow_that_lost_a_frame_is_said_to_never_complete() {
    let text = LIVES
        .replace("[[switches]]", "[[classes]]\nname = \"data\"\nlossless = false\n[[switches]]")
        .replace("flow_control = \"pfc\"", "")
        .replace("capacity = \"400KB\", xoff = \"300KB\", xon = \"297KB\"", "capacity = \"30KB\"");
    let text = text.replace("start = \"850us\"", "start = \"450us\"").replace("size = \"10MB\"", "size = \"100KB\"");
    let plan = load_str("test", &text, &[], &NoFiles, Limits::default())
        .unwrap_or_else(|errors| panic!("{}", errors.render(false)));
    let execution = run(&plan, 1, None);
    let lines = execution.measures.workloads(&plan);
    let told: Vec<(usize, usize, usize)> =
        lines[2..].iter().map(|line| (line.completed.0, line.completed.1, line.never)).collect();
    assert!(execution.report.totals.dropped_frames > 0);
    assert_eq!(told, [(0, 1, 1), (0, 1, 1)]);
    // It is over when nothing of it is left: divided by the rest of the run, what it got would be a tenth of this.
    let late = lines[3].throughput.unwrap().0;
    assert!(late > 1.5e9, "{late}");
}

#[test]
fn a_time_within_a_window_is_at_most_as_long() {
    let more = "[[expectations]]\nmetric = \"pause-phase\"\nof = \"h0->sw0\"\nbetween = [\"300us\", \"700us\"]\n";
    let plan = load_str("test", &format!("{LIVES}{more}"), &[], &NoFiles, Limits::default())
        .unwrap_or_else(|errors| panic!("{}", errors.render(false)));
    assert_eq!(plan.expectations.last().unwrap().bounds(), (0.0, 400e-6));
}

/// Five senders trim each other's frames; what is retransmitted too soon arrives twice, the last of it after the flow is
/// complete.
const TRIMMED: &str = r#"
    schema_version = 1
    [network]
    topology = "single-switch"
    hosts = 6
    link = { rate = "10Gb/s", latency = "1us" }
    [[classes]]
    name = "data"
    lossless = false
    [[classes]]
    name = "headers"
    lossless = false
    [[switches]]
    flow_control = "none"
    buffers = { capacity = "100KB" }
    congestion_points = [{ name = "trim", classes = ["data"] }]
    [[workloads]]
    name = "incast"
    kind = "incast"
    from = "h{1..5}"
    to = "h0"
    size = "150KB"
    class = "data"
    recovery = { name = "sack", min_timeout = "20us", initial_timeout = "20us" }
    [run]
    duration = "3ms"
    [probes]
    sample_every = "10us"
"#;

#[test]
fn throughput_ends_with_the_flow_and_discarded_frames_are_counted() {
    let expectation = |line: &str| format!("[[expectations]]\n{}\n", line.replace("; ", "\n"));
    let metrics = ["out-of-order-frames", "duplicate-frames", "rejected-frames", "naks"];
    let of_flows =
        metrics.map(|name| format!("metric = '{name}'; of = 'incast'; statistic = 'sum'; op = '>='; value = 0"));
    let of_run =
        ["trimmed-frames", "lost-control-frames"].map(|name| format!("metric = '{name}'; op = '>='; value = 0"));
    let expectations: String = of_flows.iter().chain(&of_run).map(|line| expectation(line)).collect();
    let plan = load_str("test", &format!("{TRIMMED}{expectations}"), &[], &NoFiles, Limits::default())
        .unwrap_or_else(|errors| panic!("{}", errors.render(false)));
    let execution = run(&plan, 1, None);
    let (measures, totals) = (&execution.measures, &execution.report.totals);
    assert!(totals.duplicate_frames > 20 && totals.trimmed_frames > 100, "{totals:?}");
    for flow in 0..5 {
        let measured = measures.flows.get(flow).expect("a flow");
        let goodput = measured.delivered as f64 * 8.0 / measured.completion.expect("complete");
        assert!((measured.goodput / goodput - 1.0).abs() < 1e-9, "{flow}");
        assert!(measured.throughput >= goodput && measured.raw_throughput <= 10e9, "{flow}: {measures:?}");
    }
    let values: Vec<u64> = measures.values.iter().map(|value| value.expect("a count") as u64).collect();
    let counted = [
        totals.out_of_order_frames,
        totals.duplicate_frames,
        totals.rejected_frames,
        totals.negative_acknowledgements,
        totals.trimmed_frames,
        totals.lost_control,
    ];
    assert_eq!(values, counted);
}

#[test]
fn the_simulated_time_does_not_depend_on_recording() {
    let plan = load_str("test", TRIMMED, &[], &NoFiles, Limits::default()).unwrap();
    let out = std::env::temp_dir().join(format!("tailback-simulated-{}", std::process::id()));
    let recording = Recording { out: out.clone(), existing: Existing::Replace };
    let (with, without) = (run(&plan, 1, Some(&recording)), run(&plan, 1, None));
    let _ = std::fs::remove_dir_all(out);
    assert_eq!(with.report.now, without.report.now);
    assert_eq!(with.report.now.as_picos(), 3_000_000_000, "nothing happens in the last of it");
}
