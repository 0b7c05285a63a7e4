//! Tests of routings in scenarios: their results and refusals.

use super::super::*;
use fabric::graph::{HostId, NodeId};
use fabric::routing::Routing;
use units::{Span, Time};

const RING: &str = r#"schema_version = 1
[network]
topology = "ring"
switches = 5
hosts_per_switch = 1
link = { rate = "10Gb/s", latency = "1us" }
[[switches]]
flow_control = "pfc"
buffers = { capacity = "100KB" }
[[workloads]]
name = "w"
kind = "all-to-all"
acknowledge = {}
[run]
duration = "1ms"
"#;

fn load(text: &str, overrides: &[&str]) -> Result<Plan, Errors> {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    load_str("a.toml", text, &overrides, &NoFiles, Limits::default())
}

fn plan(overrides: &[&str]) -> Plan {
    load(RING, overrides).unwrap_or_else(|errors| panic!("{errors}"))
}

/// What is said of a change that is refused.
fn refused(text: &str, overrides: &[&str], words: &str) {
    let Err(errors) = load(text, overrides) else { panic!("it is not refused: {words}") };
    let said = errors.to_string();
    assert!(said.contains(words), "{said}");
}

#[test]
fn a_layered_routing_makes_lanes_of_a_class() {
    for routing in ["lash", "dfsssp"] {
        let plan = plan(&[&format!("network.routing={routing}")]);
        let names: Vec<&str> = plan.spec.classes.iter().map(|class| class.name.as_str()).collect();
        assert_eq!(names, ["data.0", "data.1"]);
        for flow in &plan.spec.flows {
            let fabric::workload::Destination::Host(to) = flow.destination else { panic!("one destination") };
            let home = |host: HostId| NodeId(2 * host.0 + 1);
            assert_eq!(flow.class, plan.spec.routes.lane(home(flow.source), to));
            let back = flow.acknowledge.expect("acknowledged").class;
            assert_eq!(back, plan.spec.routes.lane(home(to), flow.source));
        }
        assert!(plan.spec.flows.iter().any(|flow| flow.class == 1), "{routing}");
        assert!(!check(&plan).iter().any(|finding| finding.message.contains("can deadlock")));
    }
    assert_eq!(plan(&["network.routing=up-down"]).spec.classes.len(), 1);
    let exempt = plan(&["network.routing=lash", "classes[0].name=data", "classes[0].layered=false"]);
    assert_eq!(exempt.spec.classes.len(), 1);
    assert!(check(&exempt).iter().any(|finding| finding.message.contains("can deadlock")));
}

#[test]
fn what_goes_outside_the_lanes_is_judged_too() {
    let control = "[[classes]]\nname = \"data\"\n[[classes]]\nname = \"control\"\nlayered = false\n[run]";
    let text = RING.replace("[run]", control);
    let told = |text: &str, overrides: &[&str], words: &str| {
        let plan =
            load(text, &[&["network.routing=lash"], overrides].concat()).unwrap_or_else(|errors| panic!("{errors}"));
        let found: Vec<String> = check(&plan).into_iter().map(|finding| finding.message).collect();
        assert!(found.iter().any(|message| message.contains(words)), "{words}: {found:#?}");
    };
    // Nobody uses it yet; then acknowledgements do; then notices, which come from the switches.
    told(&text, &[], "no flows of this scenario close the cycle");
    told(&text.replace("acknowledge = {}", "acknowledge = { class = \"control\" }"), &[], "in class control");
    let notices = ["congestion_point.name=qcn", "protocol.name=qcn", "switches[0].notice_class=control"];
    told(&text, &notices, "in class control");
    let lossy = text.replace("layered = false", "lossless = false");
    let plan = load(&lossy, &["network.routing=lash"]).unwrap_or_else(|errors| panic!("{errors}"));
    assert!(!check(&plan).iter().any(|finding| finding.message.contains("can deadlock")));
}

#[test]
fn roots_and_trees_are_what_the_scenario_says() {
    let roots = |overrides: &[&str]| match plan(overrides).routing {
        Some(Routing::UpDown { roots } | Routing::SpanningTrees { roots, .. }) => roots,
        other => panic!("{other:?}"),
    };
    // Nodes are h0, sw0, h1, sw1 and so on.
    assert_eq!(roots(&["network.routing=up-down"]), [NodeId(1)]);
    assert_eq!(roots(&["network.routing=up-down", "network.roots=sw3"]), [NodeId(7)]);
    assert_eq!(roots(&["network.routing=spanning-tree"]), [NodeId(1)]);
    assert_eq!(roots(&["network.routing=multiple-spanning-tree"]).len(), 5);
    assert_eq!(roots(&["network.routing=multiple-spanning-tree", "network.roots=[\"sw4\", \"sw1\"]"]).len(), 2);
    assert_eq!(plan(&["network.routing=spb"]).spec.routes.trees(), 16);
    assert_eq!(plan(&["network.routing=spb", "network.trees=4"]).spec.routes.trees(), 4);
    assert_eq!(plan(&["network.routing=spb", "workloads[0].tree=5"]).spec.flows[0].tree, Some(5));
}

#[test]
fn the_greater_metric_of_a_cable_counts() {
    let metric = |text: &str| {
        let cables = format!("network.cables=[{{ between = [\"sw0\", \"sw1\"], metric = {text} }}]");
        match plan(&["network.routing=spb", &cables]).routing {
            Some(Routing::Spb { bridges, .. }) => bridges.costs,
            other => panic!("{other:?}"),
        }
    };
    let costs = metric("[7000, 9000]");
    assert_eq!((costs.iter().filter(|&&cost| cost == 2000).count(), costs.iter().max()), (9, Some(&9000)));
    assert_eq!(metric("[3]").iter().min(), Some(&3));
}

const FAULTS: &str = "faults=[{ between = [\"sw0\", \"sw1\"], down = \"100us\", up = \"600us\" }, { between = [\"sw2\", \"*\"], down = \"300us\" }]";

#[test]
fn tables_follow_failing_cables_after_the_stated_time() {
    let at = |micros: u64| Time::ZERO + Span::from_micros(micros);
    for routing in ["shortest", "up-down", "lash", "dfsssp", "spb", "spanning-tree"] {
        let routing = format!("network.routing={routing}");
        let plan = plan(&[&routing, "network.reconverge=50us", FAULTS]);
        let times: Vec<Time> = plan.spec.route_changes.iter().map(|change| change.at).collect();
        assert_eq!(times, [at(150), at(350), at(650)], "{routing}");
        let graph = &plan.spec.graph;
        let way = |change: usize, from: u32, to: u32| {
            let entropy = 1;
            plan.spec.route_changes[change].routes.path(graph, HostId(from), HostId(to), entropy)
        };
        // Round the other way: four trunks instead of one; then nobody reaches what hangs on sw2.
        assert_eq!(way(0, 0, 1).expect("a way").len(), 6, "{routing}");
        assert!(way(1, 0, 2).is_err() && way(1, 0, 1).is_err(), "{routing}");
        assert_eq!(way(2, 0, 1).expect("a way").len(), 3, "{routing}");
    }
    let plan = plan(&["network.switches=4", "network.local_repair=10us", "network.reconverge=50us", FAULTS]);
    let times: Vec<Time> = plan.spec.route_changes.iter().map(|change| change.at).collect();
    // In a ring of four only opposite hosts have two ways, and only the ends of the cable know: once it fails.
    assert!(times.contains(&at(110)) && times.contains(&at(150)), "{times:?}");
}

const ONE_FAULT: &str = "faults=[{ between = [\"sw0\", \"sw1\"], down = \"100us\" }]";

#[test]
fn tables_follow_failing_cables_where_and_when_it_is_learned() {
    for routing in ["shortest", "up-down", "spb"] {
        let routing = format!("network.routing={routing}");
        let times = |more: &[&str]| {
            let plan = plan(&[&[&routing, "network.reconverge=isis", ONE_FAULT], more].concat());
            let stated = plan_with(&routing);
            let [change] = &plan.spec.route_changes[..] else { panic!("one set of tables for all") };
            assert!(change.routes == stated.spec.route_changes[0].routes, "{routing}");
            let of = |name: &str| {
                let mut times = change.times(plan.spec.graph.find(name).expect("a switch"));
                times.next().expect("it learns").saturating_since(Time::ZERO + Span::from_micros(100))
            };
            ["sw0", "sw1", "sw2", "sw3", "sw4"].map(of)
        };
        let alone = times(&[]);
        // The ends at once, their neighbours after one cable, the farthest after two; two paths, alike.
        assert_eq!((alone[0], alone[1]), (Span::ZERO, Span::ZERO));
        assert!(alone[2] == alone[4] && alone[2] > Span::from_micros(1) && alone[3] > alone[2], "{alone:?}");
        assert!(alone[3] < Span::from_micros(4), "{alone:?}");
        let slow = times(&["network.isis.detection=20us", "network.isis.computation=30us"]);
        assert_eq!(slow, alone.map(|time| time + Span::from_micros(50)));
    }
    let told = plan(&["network.reconverge=isis", ONE_FAULT]);
    let learned = told.entries.iter().find(|entry| entry.path == "network.isis.learned").expect("an entry");
    assert!(learned.value.starts_with("sw0 at 100us, sw1 at 100us, sw"), "{learned:?}");
    let found = check(&told);
    let told =
        |finding: &Finding| finding.message.contains("from 100us to 10") && finding.message.contains("as each learns");
    assert!(found.iter().any(told), "{found:#?}");
}

#[test]
fn lanes_that_are_not_dealt_again_are_told() {
    let told = |routing: &str| {
        let plan = plan(&[&format!("network.routing={routing}"), "network.reconverge=50us", ONE_FAULT]);
        check(&plan).iter().any(|finding| finding.message.contains("keep their initial virtual lanes"))
    };
    assert!(told("lash") && told("dfsssp") && !told("up-down"));
}

fn plan_with(routing: &str) -> Plan {
    plan(&[routing, "network.reconverge=50us", ONE_FAULT])
}

/// Local repair changes the ends of the cable alone, and not when they have learned better.
#[test]
fn local_repair_comes_before_what_is_learned() {
    let repaired = |repair: &str| {
        let isis = ["network.switches=4", "network.reconverge=isis", "network.isis.computation=20us", ONE_FAULT];
        let plan = plan(&[&isis[..], &[&format!("network.local_repair={repair}")]].concat());
        let changes = plan.spec.route_changes.into_iter().skip(1);
        changes.map(|change| (change.at, change.switches.len())).collect::<Vec<_>>()
    };
    assert_eq!(repaired("10us"), [(Time::ZERO + Span::from_micros(110), 2)]);
    assert_eq!(repaired("20us"), []);
}

#[test]
fn what_makes_no_sense_is_refused_with_the_reason() {
    let cables = "network.cables=[{ between = [\"sw0\", \"sw1\"], metric = [1] }]";
    refused(RING, &[cables], "which counts hops");
    let three = "network.cables=[{ between = [\"sw0\", \"sw1\"], metric = [1, 2, 3] }]";
    refused(RING, &["network.routing=spb", three], "3 metrics");
    refused(RING, &["network.routing=spanning-tree", "network.roots=sw*"], "5 roots are given for one tree");
    refused(RING, &["network.routing=up-down", "network.roots=sw9"], "there is no switch");
    refused(RING, &["network.routing=up-down", "network.roots=[\"sw0\", \"sw2\"]"], "name a single root");
    refused(RING, &["network.roots=sw0"], "roots");
    refused(RING, &["network.routing=spb", "network.trees=17"], "16");
    refused(RING, &["workloads[0].tree=0"], "there is no tree 0: the routing does not use trees");
    refused(RING, &["network.routing=spb", "network.local_repair=1us"], "local_repair");
    refused(RING, &["network.local_repair=9us", "network.reconverge=9us"], "all switches have new tables by then");
    for routing in ["lash", "spanning-tree"] {
        refused(
            RING,
            &[&format!("network.routing={routing}"), "network.reconverge=isis"],
            "do not compute their own tables",
        );
    }
    refused(RING, &["network.reconverge=is-is"], "did you mean \"isis\"");
    refused(RING, &["network.reconverge=5 parsecs"], "parsecs");
    refused(RING, &["network.reconverge=9us", "network.isis.detection=1us"], "has no effect with reconverge = \"9us\"");
    refused(RING, &["network.isis.detection=1us"], "has no effect without `reconverge`");
    let wide = ["network.switches=1000", "network.hosts_per_switch=1", "network.reconverge=isis"];
    refused(&RING.replace("all-to-all", "permutation"), &wide, "the limit is");
    let bridges = |text: &str| format!("network.bridges=[{text}]");
    let service = |text: &str| format!("network.services=[{text}]");
    for (set, words) in [
        (bridges("{ names = \"sw*\", address = \"02-00-00\" }"), "is not an address"),
        (bridges("{ names = \"sw*\", address = \"+2-00-00-00-00-00\" }"), "is not an address"),
        (bridges("{ names = \"sw*\", address = \"01-00-00-00-00-00\" }"), "is a group address"),
        (bridges("{ names = \"sw0\", address = \"00-00-00-00-00-04\" }"), "have the same address"),
        (service("{ transmit = \"sw0\" }"), "either an `isid` or a `group`"),
        (service("{ isid = 1, group = \"03-00-00-00-00-01\", transmit = \"sw0\" }"), "either an `isid` or a `group`"),
        (service("{ isid = 4095, transmit = \"sw0\" }"), "reserved for the bridges"),
        (service("{ group = \"02-00-00-00-00-01\", transmit = \"sw0\" }"), "is not a group address"),
        (service("{ isid = 1, tree = 15, transmit = \"sw0\" }"), "there is no tree 15; there are 2"),
        (service("{ isid = 1, transmit = \"h0\" }"), "there is no switch"),
    ] {
        refused(RING, &["network.routing=spb", "network.trees=2", &set], words);
    }
    refused(RING, &[&service("{ isid = 1, transmit = \"sw0\" }")], "services");
    let later = "network.reroutes=[{ at = \"1us\" }]";
    refused(RING, &["network.reconverge=9us", later], "keep one");
    let random = RING.replace("all-to-all", "uniform-random");
    refused(&random, &["network.routing=lash"], "sends to many hosts");
    let many = (0..5).map(|n| format!("[[classes]]\nname = \"c{n}\"\n")).collect::<String>();
    refused(&RING.replace("[run]", &format!("{many}[run]")), &["network.routing=lash"], "10 classes in total");
    let wide = ["network.routing=lash", "network.switches=600", "network.hosts_per_switch=20"];
    refused(RING, &wide, "computes every path");
    let written = "network.routes=[{ at = \"*\", to = \"*\", ports = [0] }]";
    refused(RING, &["network.routing=explicit", written, "network.reconverge=1us"], "cannot be recomputed");
}
