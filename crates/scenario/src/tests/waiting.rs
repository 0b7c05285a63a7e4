//! Flows that wait for others, and collective operations.

use super::plan;
use crate::{FileReader, Limits, Plan, check, load_str};
use fabric::graph::HostId;
use fabric::workload::Destination;
use std::path::Path;
use units::Span;

struct Csv(&'static str);

impl FileReader for Csv {
    fn read(&self, _path: &Path) -> Result<String, String> {
        Ok(self.0.into())
    }
}

const HEAD: &str = r#"schema_version = 1
[network]
topology = "single-switch"
hosts = 8
link = { rate = "10Gb/s", latency = "1us" }
[[switches]]
buffers = { capacity = "200KB" }
[run]
duration = "1ms"
"#;

fn from_file(csv: &'static str) -> Result<Plan, Vec<(usize, String)>> {
    let text = format!("{HEAD}[[workloads]]\nkind = \"flows\"\nfile = \"list.csv\"\n");
    load_str("a.toml", &text, &[], &Csv(csv), Limits::default())
        .map_err(|errors| errors.complaints().map(|it| (it.line, format!("{}; {}", it.message, it.help))).collect())
}

fn problems(workload: &str) -> String {
    let text = format!("{HEAD}[[workloads]]\n{workload}\n");
    load_str("a.toml", &text, &[], &Csv(""), Limits::default()).map(drop).unwrap_err().render(false)
}

#[test]
fn flows_of_a_file_wait_for_others_by_name_or_row() {
    let csv = "source,destination,bytes,name,after,delay\n# a comment\nh0,h1,1000,request,,\nh1,h0,4000,2,request,20us\n\
               h0,h2,10,,request; 2,\nh0,h3,10,,1,1ns\n";
    let plan = from_file(csv).unwrap();
    let waits: Vec<(u32, Vec<u32>, Span)> =
        plan.spec.dependencies.iter().map(|entry| (entry.flow, entry.awaited.to_vec(), entry.delay)).collect();
    let none = Span::ZERO;
    assert_eq!(waits, [(1, vec![0], Span::from_micros(20)), (2, vec![0, 1], none), (3, vec![0], Span::from_nanos(1))]);
}

#[test]
fn mistakes_of_waiting_flows_are_told_by_row() {
    let wrong = |rows: &str| {
        let csv = String::leak(format!("source,destination,bytes,name,after,delay\n{rows}"));
        from_file(csv).unwrap_err()
    };
    let cases = [
        ("h0,h1,5,a,,\nh1,h2,5,b,x,\n", 3, "`after` names `x`, but there is no such flow"),
        ("h0,h1,5,a,,\nh1,h2,5,b,7,\n", 3, "it waits for flow 7, but there are only 2"),
        ("h0,h1,5,a,,\nh0,h2,5,a,,\nh1,h2,5,b,a,\n", 4, "several flows are named `a`"),
        ("h0,h1,5,a,,\nh2,h3,5,b,a,\n", 3, "it waits for `a`, which neither starts nor ends at its source"),
        ("h0,h1,5,a,b,\nh1,h0,5,b,a,\n", 2, "flows wait for each other: `a` waits for `b` waits for `a`"),
        ("h0,h1,5,a,,5us\n", 2, "`delay` has no effect"),
        ("h0,h1,5,a,,\nh1,h2,5,b,a,soon\n", 3, "`delay` is not a time"),
    ];
    for (rows, line, part) in cases {
        let found = wrong(rows);
        assert!(found.iter().any(|(at, text)| *at == line && text.contains(part)), "{rows}: {found:?}");
    }
}

#[test]
fn flows_of_a_list_wait_for_others() {
    let flows = "[[workloads]]\nkind = \"flows\"\nsize = \"1KB\"\nflows = [{ name = \"a\", from = \"h0\", to = \"h1\" }, \
                 { from = \"h1\", to = \"h2\", after = \"a\", delay = \"2us\" }]";
    let plan = plan("topology = \"single-switch\"\nhosts = 3", flows);
    assert_eq!(plan.spec.dependencies.of(1), [0]);
    // What is active when is a result: no fair share is promised.
    let notes: Vec<String> = check(&plan).into_iter().map(|finding| finding.message).collect();
    assert!(notes.iter().any(|note| note.contains("their fair shares are computed after the run")), "{notes:?}");
    let endless = "kind = \"flows\"\nflows = [{ name = \"a\", from = \"h0\", to = \"h1\" }, { from = \"h1\", to = \"h2\", \
                   after = \"a\" }]";
    assert!(problems(endless).contains("it waits for `a`, which never completes"));
}

#[test]
fn ranks_are_placed_and_grouped() {
    let hosts = |keys: &str| -> Vec<u32> {
        let workload = format!("[[workloads]]\nkind = \"collective\"\nsize = \"80KB\"\n{keys}");
        let plan = plan("topology = \"single-switch\"\nhosts = 8", &workload);
        let collective = &plan.collectives[0];
        let (ranks, groups) = (collective.collective.ranks as usize, collective.groups() as usize);
        assert_eq!(plan.spec.flows.len(), groups * 2 * (ranks - 1) * ranks);
        assert_eq!(collective.flows(collective.groups() - 1, 0).end, plan.spec.flows.len());
        for members in collective.hosts.chunks(ranks) {
            let own = |host: &HostId| members.contains(host);
            let ends = plan.spec.flows.iter().filter(|flow| own(&flow.source));
            assert!(ends.clone().all(|flow| matches!(&flow.destination, Destination::Host(host) if own(host))));
            assert_eq!(ends.count(), 2 * (ranks - 1) * ranks);
        }
        collective.hosts.iter().map(|host| host.0).collect()
    };
    assert_eq!(hosts(""), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(hosts("hosts = [\"h3\", \"h1\"]"), [3, 1]);
    assert_eq!(hosts("placement = \"strided\"\nstride = 4\nranks = 2"), [0, 4, 1, 5, 2, 6, 3, 7]);
    let random = hosts("placement = \"random\"\nranks = 4");
    assert!(random != [0, 1, 2, 3, 4, 5, 6, 7] && random.iter().sum::<u32>() == 28);
}

#[test]
fn impossible_collectives_are_refused_at_their_key() {
    let of = |keys: &str| problems(&format!("kind = \"collective\"\nsize = \"80KB\"\n{keys}"));
    assert!(of("ranks = 3").contains("8 hosts cannot be divided into groups of 3 ranks"));
    assert!(of("placement = \"strided\"\nstride = 3").contains("strides of 3"));
    assert!(of("operation = \"broadcast\"\nalgorithm = \"direct\"").contains("broadcast has no algorithm direct"));
    assert!(of("operation = \"all-to-all\"\nskew = 1.0\nweights = [1, 2]").contains("both `skew` and `weights`"));
    assert!(of("operation = \"all-to-all\"\nweights = [1, 2]").contains("2 weights for the 8 ranks"));
    assert!(of("algorithm = \"hierarchical\"\nlocal_ranks = 3").contains("groups of 3"));
    assert!(of("operation = \"all-to-all\"\nchunk = \"1KB\"").contains("direct passes nothing on in chunks"));
    let metric = "kind = \"greedy\"\nname = \"w\"\nfrom = \"h0\"\nto = \"h1\"\n[[expectations]]\nmetric = \
                  \"bus-bandwidth\"\nof = \"w\"\nop = \">\"\nvalue = \"1Gb/s\"";
    assert!(problems(metric).contains("this is not a collective operation"));
}

#[test]
fn popular_ranks_get_more() {
    let workload = "[[workloads]]\nkind = \"collective\"\noperation = \"all-to-all\"\nskew = 1.0\nsize = \"80KB\"";
    let plan = plan("topology = \"single-switch\"\nhosts = 8", workload);
    let mut received = [0; 8];
    for flow in &plan.spec.flows {
        let Destination::Host(host) = flow.destination else { continue };
        received[host.0 as usize] += flow.size.unwrap().get();
    }
    received.sort_unstable();
    // Shares 1, 1/2, ... 1/8 of 80 kB from seven ranks.
    let share = |place: f64| 7.0 * 80_000.0 / place / (1..=8).map(|n| 1.0 / f64::from(n)).sum::<f64>();
    assert!((received[7] as f64 - share(1.0)).abs() < 8.0 && (received[0] as f64 - share(8.0)).abs() < 8.0);
}
