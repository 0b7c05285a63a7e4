//! Wrong scenarios: every mistake is met with its place, what is wrong and what to do, and never with a panic.

use crate::program::{SOUND, Scratch};

/// A name, what to replace in the sound scenario, and by what.
const CHANGES: [(&str, &str, &str); 21] = [
    ("unknown-key", "duration", "duratoin"),
    ("unknown-section", "[[workloads]]", "[[workload]]"),
    ("wrong-unit", "\"1us\"", "\"1 parsec\""),
    ("unit-of-another-quantity", "\"10Gb/s\"", "\"10KB\""),
    ("no-unit", "\"100KB\"", "100000"),
    ("missing-node", "to = \"h2\"", "to = \"h7\""),
    ("missing-class", "to = \"h2\"", "to = \"h2\"\nclass = \"storage\""),
    ("unknown-topology", "single-switch", "singel-switch"),
    ("parameter-of-another-topology", "hosts = 3", "hosts = 3\nk = 4"),
    ("impossible-combination", "\"pfc\"", "\"none\""),
    ("contradiction", "xoff = \"60KB\"", "xoff = \"200KB\""),
    ("to-itself", "[\"h0\", \"h1\"]", "\"h2\""),
    ("syntax", "hosts = 3", "hosts = = 3"),
    ("unclosed", "name = \"w\"", "name = \"w"),
    ("key-twice", "hosts = 3", "hosts = 3\nhosts = 4"),
    ("huge-number", "hosts = 3", "hosts = 99999999999"),
    ("beyond-64-bits", "hosts = 3", "hosts = 99999999999999999999999"),
    ("negative", "hosts = 3", "hosts = -3"),
    ("negative-time", "\"1ms\"", "\"-1ms\""),
    ("no-time", "\"1ms\"", "\"0s\""),
    ("other-version", "schema_version = 1", "schema_version = 7"),
];

#[test]
fn mistakes_are_told_with_place_and_remedy() {
    let scratch = Scratch::new("mistakes");
    for (name, from, to) in CHANGES {
        assert!(SOUND.contains(from), "{name}");
        let said = scratch.file("a.toml", SOUND.replacen(from, to, 1)).run(&["run", "a.toml"]).ends(2);
        assert!(said.err.contains("--> a.toml:") && said.err.contains('^'), "{name}: {}", said.err);
        assert!(said.err.ends_with("error\n") || said.err.ends_with("errors\n"), "{name}: {}", said.err);
        said.matches(&format!("bad-{name}"));
    }
    assert_eq!(scratch.names(""), ["a.toml"], "nothing was run");
}

#[test]
fn all_mistakes_are_told_at_once() {
    let scratch = Scratch::new("several");
    let mut text = SOUND.to_owned();
    for (from, to) in [("hosts", "hots"), ("\"1us\"", "\"1 us s\""), ("greedy", "gready"), ("60KB", "60Kb")] {
        text = text.replacen(from, to, 1);
    }
    let said = scratch.file("a.toml", text).run(&["check", "a.toml"]).ends(2);
    for place in ["a.toml:5:1", "a.toml:6:", "a.toml:9:", "a.toml:12:"] {
        assert!(said.err.contains(place), "{place}: {}", said.err);
    }
    said.matches("bad-several");
}

#[test]
fn what_is_no_scenario_file_is_said_to_be_none() {
    let scratch = Scratch::new("no-scenario");
    scratch.run(&["run", "missing.toml"]).ends(2).matches("bad-missing-file");
    std::fs::create_dir(scratch.path("folder")).expect("there is room");
    scratch.run(&["run", "folder"]).ends(2).matches("bad-directory");
    scratch.file("picture.toml", b"\x89PNG\r\n\x1a\n\xff\xfe\x00\x01").run(&["run", "picture.toml"]).ends(2);
    scratch.run(&["check", "picture.toml"]).ends(2).matches("bad-binary");
    scratch
        .file("nul.toml", "a = \"\u{0}\"\n\u{1b}[31m = 3\n")
        .run(&["run", "nul.toml"])
        .ends(2)
        .matches("bad-control");
    scratch.file("empty.toml", "").run(&["run", "empty.toml"]).ends(2).matches("bad-empty");
}

#[test]
fn overrides_are_held_to_the_same() {
    let scratch = Scratch::new("bad-set");
    scratch.file("a.toml", SOUND);
    for (name, change) in [
        ("key", "run.duratoin=5ms"),
        ("unit", "run.duration=5mx"),
        ("no-value", "run.duration"),
        ("no-path", "=5"),
        ("brackets", "switches[=5"),
        ("place", "switches[9].flow_control=pfc"),
        ("nothing-near", "zebra=5"),
    ] {
        scratch.run(&["run", "a.toml", "--set", change]).ends(2).matches(&format!("bad-set-{name}"));
    }
}

#[test]
fn bases_are_followed_and_circles_found() {
    let scratch = Scratch::new("bases");
    scratch.file("a.toml", "base = \"b.toml\"\n").file("b.toml", "base = \"a.toml\"\n");
    scratch.run(&["run", "a.toml"]).ends(2).matches("bad-base-circle");
    scratch.file("c.toml", "base = \"nowhere.toml\"\n").run(&["run", "c.toml"]).ends(2).matches("bad-base-missing");
    scratch.file("d.toml", "base = \"sound.toml\"\n[run]\nduratoin = \"1ms\"\n").file("sound.toml", SOUND);
    let said = scratch.run(&["run", "d.toml"]).ends(2);
    assert!(said.err.contains("--> d.toml:3:1"), "{}", said.err);
}

#[test]
fn arguments_are_held_to_the_same() {
    let scratch = Scratch::new("bad-arguments");
    scratch.file("a.toml", SOUND);
    for (name, arguments) in [
        ("time-limit", &["run", "a.toml", "--time-limit", "-1"][..]),
        ("time-limit-nan", &["run", "a.toml", "--time-limit", "nan"]),
        ("seed", &["run", "a.toml", "--seed", "-1"]),
        ("command", &["swep", "a.toml"]),
        ("flag", &["run", "a.toml", "--ouput", "r"]),
        ("axis", &["sweep", "a.toml", "--axis", "run.seed"]),
    ] {
        scratch.run(arguments).ends(2).matches(&format!("bad-argument-{name}"));
    }
    assert_eq!(scratch.names(""), ["a.toml"]);
}

#[test]
fn absurd_sizes_are_refused_at_once() {
    let scratch = Scratch::new("absurd");
    for (from, to) in [("hosts = 3", "hosts = 4000000000"), ("\"1ms\"", "\"99999999999999h\"")] {
        scratch.file("a.toml", SOUND.replacen(from, to, 1)).run(&["run", "a.toml"]).ends(2);
    }
}

/// The library that reads them panics at some damage.
#[test]
fn damaged_lists_of_flows_are_refused_without_the_words_of_a_panic() {
    let scratch = Scratch::new("damaged-flows");
    scratch.file("a.toml", SOUND).run(&["run", "a.toml", "-o", "r"]).ends(0);
    let whole = std::fs::read(scratch.path("r/ports.parquet")).unwrap();
    let (network, rest) = SOUND.split_once("[[workloads]]").unwrap();
    let mut text = network.to_owned();
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x80;
        scratch.file(&format!("{at}.parquet"), damaged);
        text.push_str(&format!("[[workloads]]\nname = \"w{at}\"\nkind = \"flows\"\nfile = \"{at}.parquet\"\n"));
    }
    text.push_str(&rest[rest.find("[run]").unwrap()..]);
    let said = scratch.file("b.toml", text).run(&["check", "b.toml"]).ends(2);
    assert!(said.err.contains(".parquet") && !said.err.contains("panicked"), "{}", said.err);
}
