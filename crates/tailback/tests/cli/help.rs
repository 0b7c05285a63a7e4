//! What explains itself: help, lists, schema, completions, the starter.

use crate::program::Scratch;

const COMMANDS: [&str; 32] = [
    "run",
    "resume",
    "what-if",
    "check",
    "routes",
    "dcbx",
    "spb",
    "explain",
    "compare",
    "sweep",
    "tune",
    "faults",
    "reproduce",
    "stability",
    "pcap",
    "why",
    "report",
    "lab",
    "serve",
    "plot",
    "diff",
    "csv",
    "protocols",
    "topologies",
    "schema",
    "reference",
    "tables",
    "init",
    "import",
    "export",
    "completions",
    "help",
];

#[test]
fn help_is_as_it_was() {
    let scratch = Scratch::new("help");
    scratch.run(&["--help"]).ends(0).matches("help");
    scratch.run(&["help"]).ends(0).matches("help");
    for command in COMMANDS.into_iter().filter(|command| *command != "help") {
        scratch.run(&["help", command]).ends(0).matches(&format!("help-{command}"));
        scratch.run(&[command, "--help"]).ends(0).matches(&format!("help-{command}"));
    }
}

#[test]
fn help_names_every_command_and_exit_code() {
    let said = Scratch::new("help-names").run(&["--help"]).ends(0);
    let listed = said.out.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("a list");
    let names: Vec<&str> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, COMMANDS, "the tests know all commands");
    for code in ["0 success", "1 system", "2 bad", "3 loss", "4 deadlock", "5", "6 dis", "130 interrupted"] {
        assert!(said.out.contains(code), "{code}");
    }
}

#[test]
fn lists_are_as_they_were() {
    let scratch = Scratch::new("lists");
    scratch.run(&["protocols"]).ends(0).matches("protocols");
    scratch.run(&["protocols", "qcn"]).ends(0).matches("protocols-qcn");
    scratch.run(&["protocols", "qnc"]).ends(2).matches("protocols-wrong");
    let said = scratch.run(&["protocols", "foo"]).ends(2);
    assert!(!said.err.contains("did you mean") && said.err.contains("lists all"), "{}", said.err);
    scratch.run(&["topologies"]).ends(0).matches("topologies");
}

#[test]
fn a_listed_topology_loads_as_it_is_written() {
    let scratch = Scratch::new("topologies");
    let said = scratch.run(&["topologies"]).ends(0);
    let mut seen = 0;
    for block in said.out.split("\n\n").filter(|block| block.contains("\n    ")) {
        let (name, rest) = block.split_once(':').expect("a name");
        let numbers: Vec<&str> = rest
            .lines()
            .filter(|line| line.contains(" = "))
            .filter_map(|line| line.trim().split("  ").next())
            .collect();
        let text = format!(
            "schema_version = 1\n[network]\ntopology = \"{name}\"\n{}\nlink = {{ rate = \"10Gb/s\", latency = \"1us\" }}\n\
             [[switches]]\nbuffers = {{ capacity = \"100KB\" }}\n[run]\nduration = \"1ms\"\n",
            numbers.join("\n")
        );
        scratch.file("t.toml", text).run(&["check", "t.toml"]).ends(0);
        seen += 1;
    }
    assert!(seen >= 11, "{seen}");
}

#[test]
fn the_schema_and_the_references_are_whole() {
    let scratch = Scratch::new("schema");
    let schema = scratch.run(&["schema"]).ends(0).json();
    for section in ["network", "switches", "workloads", "run", "expectations", "sweep"] {
        assert!(schema["properties"][section]["description"].is_string(), "{section}");
    }
    assert!(scratch.run(&["reference"]).ends(0).out.contains("throughput_window"));
    assert!(scratch.run(&["tables"]).ends(0).out.contains("flow_samples"));
}

#[test]
fn completions_know_the_commands() {
    let scratch = Scratch::new("completions");
    for shell in ["bash", "zsh", "fish"] {
        let text = scratch.run(&["completions", shell]).ends(0).out;
        for word in COMMANDS.iter().chain(&["time-limit", "overwrite"]) {
            assert!(text.contains(word), "{shell}: {word}");
        }
    }
    let bash = scratch.run(&["completions", "bash"]).ends(0).out;
    assert!(bash.contains("complete -F _tailback"));
    scratch.run(&["completions", "cmd"]).ends(2);
}

#[test]
fn init_writes_a_scenario_that_runs_and_never_overwrites() {
    let scratch = Scratch::new("init");
    scratch.run(&["init"]).ends(0).matches("init");
    scratch.run(&["run", "scenario.toml"]).ends(0);
    scratch.file("scenario.toml", "mine");
    scratch.run(&["init"]).ends(2).matches("init-again");
    assert_eq!(std::fs::read_to_string(scratch.path("scenario.toml")).expect("it is there"), "mine");
    scratch.run(&["init", "other.toml"]).ends(0);
    scratch.run(&["init", "no/such/folder.toml"]).ends(2).matches("init-nowhere");
}

#[test]
fn templates_run_and_agree_with_what_they_state() {
    let scratch = Scratch::new("templates");
    for (name, shorter) in
        [("incast", "3ms"), ("infiniband-hotspot", "7ms"), ("ring-allreduce", "50ms"), ("roce-websearch", "25ms")]
    {
        let file = format!("{name}.toml");
        scratch.run(&["init", &file, "--template", name]).ends(0);
        scratch.run(&["check", &file]).ends(0);
        let set = format!("run.duration={shorter}");
        scratch.run(&["run", &file, "--no-record", "--set", &set]).ends(0);
    }
    scratch.run(&["init", "none.toml", "--template", "inca"]).ends(2);
    assert!(!scratch.path("none.toml").exists());
}
