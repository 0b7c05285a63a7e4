//! Drawings and inventories of networks on the command line.

use crate::program::Scratch;

#[test]
fn drawings_become_scenarios_that_run() {
    let scratch = Scratch::new("drawings");
    scratch.file("a.gv", "graph { leaf0 -- { h0 h1 }; leaf1 -- { h2 h3 }; spine -- { leaf0 leaf1 } [speed=\"400G\"] }");
    scratch.file(
        "a.json",
        r#"{"directed": false, "nodes": [{"id": "s"}, {"id": "a"}, {"id": "b"}], "links": [
            {"source": "s", "target": "a", "speed": "25Gb/s"}, {"source": "b", "target": "s", "speed": "25Gb/s"}]}"#,
    );
    scratch.file(
        "a.yml",
        "topology:\n  nodes:\n    leaf: {kind: sonic-vs}\n    a: {kind: linux}\n    b: {kind: linux}\n  links:\n    \
         - endpoints: [\"leaf:eth1\", \"a:eth1\"]\n    - endpoints: [\"leaf:eth2\", \"b:eth1\"]\n",
    );
    for (kind, file, counts) in [
        ("dot", "a.gv", "4 hosts, 3 switches, 2 flows"),
        ("json", "a.json", "2 hosts, 1 switches, 1 flows"),
        ("containerlab", "a.yml", "2 hosts, 1 switches, 1 flows"),
    ] {
        let scenario = format!("{kind}.toml");
        // A link without speed is refused, and nothing is written.
        if kind != "json" {
            let said = scratch.run(&["import", kind, file, "-o", &scenario]).ends(2);
            assert!(said.err.contains("has no `speed`") && said.err.contains(file), "{}", said.err);
            assert!(!scratch.path(&scenario).exists());
        }
        let said = scratch.run(&["import", kind, file, "--rate", "100Gb/s", "-o", &scenario]).ends(0);
        assert!(said.err.contains(counts), "{}", said.err);
        scratch.run(&["check", &scenario]).ends(0);
        let said = scratch.run(&["run", &scenario, "--no-record"]).ends(0);
        assert!(said.out.contains("finished"), "{}", said.out);
    }
}
