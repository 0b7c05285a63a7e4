//! `why`: who made a flow slow.

use crate::program::{SOUND, Scratch};

#[test]
fn why_names_the_root_the_blocked_link_and_the_culprits() {
    let scratch = Scratch::new("why");
    scratch.scenario("victim.toml").run(&["run", "victim.toml", "--quiet", "--why", "--out", "r"]).ends(0);
    let said = scratch.run(&["why", "r", "--flow", "victim"]).ends(0);
    let sentence = said.out.lines().next().expect("a sentence");
    for part in
        ["victim: victim: ", " of 9.87 Gb/s lost, ", " % to sw1 -> h6, which it does not use, through sw0 -> sw1, "]
    {
        assert!(sentence.contains(part), "{sentence}");
    }
    let culprits = sentence.split("culprits ").nth(1).expect("culprits");
    for host in ["h0", "h1", "h3", "h4"] {
        assert!(culprits.contains(host), "{sentence}");
    }
    assert!(!culprits.contains("victim"), "{sentence}");
    let json = scratch.run(&["why", "r", "--json"]).ends(0).json();
    let flows = json["flows"].as_array().expect("flows");
    assert_eq!(flows.len(), 5);
    for flow in flows {
        let causes = flow["causes"].as_array().expect("causes").iter();
        let sum: u64 = causes.map(|cause| cause["picoseconds"].as_u64().expect("a time")).sum();
        assert_eq!((sum, flow["picoseconds"].as_u64()), (4_000_000_000, Some(4_000_000_000)), "{flow}");
        assert_eq!(flow["victim"], flow["flow"] == "victim", "{flow}");
    }
    assert_eq!(
        scratch.run(&["why", "r", "--worst", "2", "--json"]).ends(0).json()["flows"].as_array().map(Vec::len),
        Some(2)
    );
    // Flows that lose nothing there are not shown.
    let said = scratch.run(&["why", "r", "--link", "sw1->h6"]).ends(0);
    assert!(said.out.contains("victim: victim: "), "{}", said.out);
    let said = scratch.run(&["why", "r", "--link", "sw1->h3"]).ends(0);
    assert_eq!(said.out, "no flow lost time there\n");
}

#[test]
fn why_runs_a_scenario_file_and_refuses_what_it_cannot_answer() {
    let scratch = Scratch::new("why-file");
    scratch.file("a.toml", SOUND);
    let said = scratch.run(&["why", "a.toml"]).ends(0);
    assert!(said.err.contains("results in results/") && said.out.contains("cause"), "{}{}", said.out, said.err);
    scratch.run(&["run", "a.toml", "--quiet", "--out", "r"]).ends(0);
    let refused = |arguments: &[&str], reason: &str| {
        let said = scratch.run(arguments).ends(2);
        assert!(said.err.contains(reason) && said.out.is_empty(), "{}", said.err);
    };
    refused(&["why", "r"], "run the scenario with --why");
    refused(&["why", "missing"], "missing");
    refused(&["why", "r", "--set", "run.duration=1ms"], "--set works on scenario files only");
    scratch.run(&["run", "a.toml", "--quiet", "--why", "--out", "w"]).ends(0);
    refused(&["why", "w", "--flow", "nobody"], "no flow `nobody`");
    refused(&["why", "w", "--link", "nowhere"], "is not a link; write sender and receiver");
    refused(&["why", "w", "--link", "h0->nowhere"], "there is no link");
}

#[test]
fn a_comparison_with_causes_has_victims_and_roots_and_none_without() {
    let scratch = Scratch::new("why-compare");
    scratch.scenario("victim.toml");
    let vary = ["compare", "victim.toml", "--vary", "switches[0].buffers[0].xoff=98KB,100KB", "--json"];
    let with = scratch.run(&[&vary[..], &["--why", "--out", "with"]].concat()).ends(0).json();
    let rows = with["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 4);
    for row in rows {
        assert_eq!(row["victims"], u64::from(row["workload"] == "victim"), "{row}");
        assert_eq!(row["root"], "sw1 -> h6", "{row}");
        assert!(row["root_seconds"].as_f64().is_some_and(|time| time > 0.01), "{row}");
    }
    let without = scratch.run(&[&vary[..], &["--out", "without"]].concat()).ends(0).json();
    for row in without["rows"].as_array().expect("rows") {
        assert!(row.get("victims").is_none() && row.get("root").is_none(), "{row}");
    }
    // The runs are those of a comparison without causes.
    let prints = |document: &serde_json::Value| {
        let rows = document["rows"].as_array().cloned().unwrap_or_default();
        rows.iter().map(|row| row["fingerprint"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(prints(&with), prints(&without));
    // Whoever asks about all of a run is told its roots first.
    let said = scratch.run(&["why", "with/98kb", "--worst", "1"]).ends(0);
    assert!(
        said.out.starts_with("Flows lost ") && said.out.contains(" 1 of 5 flows is a victim.\n\nvictim: victim: "),
        "{}",
        said.out
    );
}
