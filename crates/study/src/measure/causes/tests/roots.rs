//! Known roots: scenarios of which it is certain who is to blame.

use super::super::Marking;
use super::super::ledger::Key;
use super::*;

#[test]
fn the_victim_loses_its_time_to_one_root_that_it_does_not_use() {
    let run = run(file("victim"));
    run.assert_conserved();
    let (root, trunk) = (run.port("sw1 -> h6"), run.port("sw0 -> sw1"));
    let victim = run.of("victim");
    assert!(!victim.ports.contains(&root) && victim.ports.contains(&trunk));
    let blocked = victim.share(|key| matches!(key.cause, Cause::Blocking(_)));
    let at_root =
        victim.share(|key| key.cause == Cause::Blocking(Root::Output) && key.port == root && key.via == trunk);
    assert!(blocked > 0.5 && at_root > 0.9 * blocked, "{blocked} {at_root} {victim:#?}");
    // Each of the four flows to the root has its part in it.
    for flow in run.causes.iter().filter(|flow| flow.flow != victim.flow) {
        let part = victim.share(|key| key.port == root && key.by == flow.flow);
        assert!(part > 0.1 * at_root, "{}: {part} of {at_root}", run.name(flow.flow));
    }
}

#[test]
fn a_bystander_loses_its_time_to_the_slow_receiver() {
    let run = run(file("slow-receiver"));
    run.assert_conserved();
    let root = run.port("sw1 -> h4");
    let (bystander, sick) = (run.of("bystander"), run.of("to-slow-host"));
    let blocked = bystander.share(|key| matches!(key.cause, Cause::Blocking(_)));
    let charged = |key: &Key| key.cause == Cause::Blocking(Root::Receiver) && key.port == root;
    let at_root = bystander.share(|key| charged(key) && key.by == sick.flow);
    assert!(blocked > 0.2 && at_root > 0.9 * blocked, "{blocked} {at_root} {bystander:#?}");
    assert!(sick.share(charged) > 0.2);
}

#[test]
fn the_cause_of_a_deadlock_is_its_cycle() {
    let run = run(file("ring-deadlock"));
    run.assert_conserved();
    assert!(matches!(run.summary.outcome, Outcome::Deadlock(_)), "{:?}", run.summary.outcome);
    for flow in &run.causes {
        let cycle = flow.share(|key| key.cause == Cause::Blocking(Root::Cycle));
        let blocked = flow.share(|key| matches!(key.cause, Cause::Blocking(_)));
        assert!(cycle > 0.5 * blocked && blocked > 0.3, "{cycle} of {blocked}: {flow:#?}");
    }
}

/// A switch that marks whatever waits in a long queue marks victims, too; the queues of the root hold culprits only.
#[test]
fn marks_are_right_if_they_go_to_flows_that_the_root_limits() {
    let marked = |switches: &str| {
        let text = std::fs::read_to_string(format!("{}/../../scenarios/victim.toml", env!("CARGO_MANIFEST_DIR")));
        let text = text.expect("it is there").replace("[[switches]]", switches);
        let plan = plan(&text);
        let fair = scenario::fair_phases(&plan).expect("the shares are unique");
        let run = run(plan);
        let marking = Marking::new(&run.plan, &run.causes, &fair);
        (marking.precision(), marking.recall(), run.of("victim").signals.values().sum::<u64>())
    };
    let ecn = "congestion_point = { name = \"ecn\", kmin = \"20KB\", kmax = \"20KB\" }\n";
    let (precision, recall, of_victim) = marked(&format!("[[switches]]\n{ecn}"));
    let precision = precision.expect("there are marks");
    assert!(of_victim > 0 && (0.5..0.99).contains(&precision), "{precision}, {of_victim} marks of the victim");
    assert!(recall.is_some_and(|recall| recall > 0.95), "{recall:?}");
    // Only sw1, at whose outputs the roots are.
    let (precision, recall, of_victim) = marked(&format!(
        "[[switches]]\nflow_control = \"pfc\"\nbuffers = {{ capacity = \"150KB\", xoff = \"100KB\", xon = \"97KB\" }}\n\
         [[switches]]\nmatch = \"sw1\"\n{ecn}"
    ));
    assert_eq!((precision, of_victim), (Some(1.0), 0));
    assert!(recall.is_some_and(|recall| recall > 0.95), "{recall:?}");
    assert_eq!(marked("[[switches]]"), (None, Some(0.0), 0));
}

/// Figure 2 of Santos et al. (2002): twenty flows to one endpoint, and a victim that shares a link with ten of them.
#[test]
fn the_whole_loss_of_the_victim_of_figure_2_has_one_root() {
    let path = format!("{}/../../papers/infiniband-ecn-2002/fig2.toml", env!("CARGO_MANIFEST_DIR"));
    let short = [("run.duration", "60ms")].map(|(key, value)| format!("{key}={value}"));
    let plan = scenario::load(std::path::Path::new(&path), &short);
    let run = run(plan.unwrap_or_else(|errors| panic!("{}", errors.render(false))));
    run.assert_conserved();
    let (root, trunk) = (run.port("b -> bc"), run.port("a -> b"));
    let victim = run.of("victim");
    assert!(!victim.uses(root) && victim.uses(trunk));
    let lost = victim.share(|key| key.cause != Cause::Path);
    let at_root = victim.share(|key| key.cause.root() == Some(Root::Output) && key.port == root);
    assert!(lost > 0.9 && at_root > 0.9 * lost, "{lost} {at_root} {victim:#?}");
}

/// A host that stops consuming is the root, not the link to it, whatever else goes over the links that it blocks.
#[test]
fn the_cause_of_a_pfc_storm_is_the_storming_host() {
    let text = r#"
        schema_version = 1
        [network]
        topology = "leaf-spine"
        leaves = 3
        spines = 2
        hosts_per_leaf = 3
        link = { rate = "10Gb/s", latency = "500ns" }
        [[switches]]
        flow_control = "pfc"
        buffers = { capacity = "80KB", xoff = "40KB", xon = "37KB" }
        [[adapters]]
        [[adapters]]
        match = "h8"
        flow_control = "pfc"
        service = "10Gb/s"
        service_changes = [{ at = "200us", rate = "0b/s" }]
        buffers = { capacity = "60KB", xoff = "20KB", xon = "17KB" }
        [[workloads]]
        name = "to-storm"
        kind = "greedy"
        from = ["h0", "h3", "h6"]
        to = "h8"
        [[workloads]]
        name = "others"
        kind = "permutation"
        hosts = "h{0..7}"
        [run]
        duration = "3ms"
        warm_up = "1ms"
    "#;
    let run = run(plan(text));
    run.assert_conserved();
    let root = run.port("leaf2 -> h8");
    let mut stopped = 0;
    for flow in &run.causes {
        let blocked = flow.share(|key| matches!(key.cause, Cause::Blocking(_)));
        let stormed = flow.share(|key| key.cause == Cause::Blocking(Root::Receiver) && key.port == root);
        if blocked > 0.5 {
            stopped += 1;
            assert!(stormed > 0.98 * blocked, "{}: {stormed} of {blocked}: {flow:#?}", run.name(flow.flow));
        }
    }
    // The three flows to the host, and others behind them.
    assert!(stopped > 5, "{stopped} flows are blocked");
}

/// A ring in which all traffic between switches goes clockwise, and a flow between two hosts of one switch: it uses no link of the
/// cycle, but its frames stand behind those that wait for it.
#[test]
fn a_cycle_is_on_the_path_of_those_that_use_one_of_its_links_and_of_nobody_else() {
    let mut routes = String::new();
    for switch in 0..4 {
        let (next, own) = ((switch + 1) % 4, [2 * switch, 2 * switch + 1]);
        routes.push_str(&format!("{{ at = \"sw{switch}\", to = \"h*\", via = \"sw{next}\" }},\n"));
        own.iter().for_each(|host| {
            routes.push_str(&format!("{{ at = \"sw{switch}\", to = \"h{host}\", via = \"h{host}\" }},\n"));
        });
    }
    let text = format!(
        "schema_version = 1\n[network]\ntopology = \"ring\"\nswitches = 4\nhosts_per_switch = 2\n\
         link = {{ rate = \"10Gb/s\", latency = \"1us\" }}\nrouting = \"explicit\"\nroutes = [\n{routes}]\n[[switches]]\n\
         flow_control = \"pfc\"\nbuffers = {{ capacity = \"50KB\", xoff = \"30KB\", xon = \"27KB\" }}\n[[workloads]]\n\
         name = \"clockwise\"\nkind = \"greedy\"\npairing = \"in-order\"\nfrom = [\"h0\", \"h2\", \"h4\", \"h6\"]\n\
         to = [\"h4\", \"h6\", \"h0\", \"h2\"]\n[[workloads]]\nname = \"local\"\nkind = \"greedy\"\nfrom = \"h0\"\nto = \"h1\"\n\
         size = \"5MB\"\n[run]\nduration = \"20ms\"\n"
    );
    let run = run(plan(&text));
    run.assert_conserved();
    assert!(matches!(run.summary.outcome, Outcome::Deadlock { .. }), "{:?}", run.summary.outcome);
    let cycle = |flow: &FlowCauses, met: bool| {
        let keys = flow.ledger.iter().filter(|(key, _)| key.cause.root() == Some(Root::Cycle));
        keys.filter(|(key, _)| flow.meets(key) == met).map(|(_, span)| span).sum::<u64>()
    };
    for flow in &run.causes {
        let is_local = run.name(flow.flow) == "local";
        assert!(cycle(flow, !is_local) > 0 && cycle(flow, is_local) == 0, "{flow:#?}");
    }
}
