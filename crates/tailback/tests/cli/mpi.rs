//! One run on several processes: `mpirun -n 4 tailback run FILE` is the run of one process, and ends as one.

use crate::peers::are_installed;
use crate::program::{SOUND, Said, Scratch, names, wait_until};
use results::{OutcomeRecord, Results};
use std::process::{Child, Command, Output, Stdio};

fn has_mpi() -> bool {
    are_installed(&["mpirun"], "openmpi-bin")
}

/// The program on so many ranks of this machine, which may have fewer cores.
fn mpirun(scratch: &Scratch, ranks: u32, arguments: &[&str]) -> Command {
    let mut command = Command::new("mpirun");
    // Who waits lets others run.
    command.args(["--oversubscribe", "--allow-run-as-root", "--mca", "mpi_yield_when_idle", "1"]);
    command.args(["-n", &ranks.to_string()]);
    command.arg(env!("CARGO_BIN_EXE_tailback")).args(arguments);
    command.current_dir(scratch.path("")).stdin(Stdio::null()).env("COLUMNS", "100").env("NO_COLOR", "1");
    command
}

fn on_ranks(scratch: &Scratch, ranks: u32, arguments: &[&str]) -> Said {
    Said::new(&mpirun(scratch, ranks, arguments).output().expect("mpirun starts"))
}

fn start_run(scratch: &Scratch, ranks: u32, arguments: &[&str]) -> Child {
    let mut command = mpirun(scratch, ranks, arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("mpirun starts")
}

/// The processes of a run, in the order in which they were started.
fn ranks_of(mpirun: u32) -> Vec<u32> {
    let children = std::fs::read_to_string(format!("/proc/{mpirun}/task/{mpirun}/children")).unwrap_or_default();
    let is_ours =
        |pid: &u32| std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "tailback");
    children.split_whitespace().filter_map(|pid| pid.parse().ok()).filter(is_ours).collect()
}

fn signal(name: &str, pid: u32) {
    let status = Command::new("kill").args([name, &pid.to_string()]).status().expect("kill starts");
    assert!(status.success());
}

/// A network of many switches in which nearly everything happens that is recorded.
const BUSY: &str = r#"schema_version = 1
name = "busy"
[network]
topology = "fat-tree"
k = 4
link = { rate = "10Gb/s", latency = "2us" }
[[switches]]
flow_control = "pfc"
buffers = { capacity = "60KB", xoff = "30KB", xon = "20KB" }
[congestion_point]
name = "qcn"
[protocol]
name = "qcn"
[[workloads]]
name = "mix"
kind = "poisson-flows"
load = 0.6
sizes = "pareto"
shape = 1.3
flow_size = "30KB"
frame = "1000B"
[[workloads]]
name = "incast"
kind = "incast"
from = "h{1..15}"
to = "h0"
[[workloads]]
name = "noise"
kind = "uniform-random"
rate = "500Mb/s"
[probes]
sample_every = "5us"
[run]
duration = "300us"
warm_up = "50us"
[[expectations]]
metric = "utilisation"
of = "edge0->h0"
op = ">"
value = 0.5
"#;

/// Losses, recoveries, trimmed frames, telemetry and paths that follow queues.
const LOSSY: &str = r#"schema_version = 1
name = "lossy"
[network]
topology = "fat-tree"
k = 4
multipath = "adaptive"
link = { rate = "10Gb/s", latency = "1us" }
[[classes]]
name = "data"
lossless = false
[[classes]]
name = "tcp"
lossless = false
[[classes]]
name = "headers"
lossless = false
[[switches]]
flow_control = "none"
buffers = [{ capacity = "40KB" }]
congestion_points = [{ name = "trim", classes = ["data"] }, { name = "red", classes = ["tcp"] }]
[[workloads]]
name = "incast"
kind = "incast"
from = "h{1..12}"
to = "h0"
size = "100KB"
class = "data"
acknowledge = { class = "headers" }
recovery = { name = "selective-repeat", timeout_low = "50us", timeout_high = "100us" }
protocol = { name = "hpcc" }
[[workloads]]
name = "storage"
kind = "permutation"
size = "60KB"
class = "data"
acknowledge = { class = "headers", every = 2, delay = "3us" }
recovery = { name = "go-back-n", timeout = "80us" }
protocol = { name = "dcqcn" }
notify = { class = "headers", interval = "5us" }
[[workloads]]
name = "transfers"
kind = "poisson-flows"
load = 0.2
sizes = "pareto"
shape = 1.3
flow_size = "20KB"
class = "tcp"
recovery = { name = "sack", preset = "data-centre", initial_timeout = "100us", min_timeout = "50us" }
protocol = { name = "newreno" }
[probes]
sample_every = "5us"
[run]
duration = "250us"
[[expectations]]
metric = "retransmitted-frames"
of = ["incast", "storage", "transfers"]
statistic = "sum"
op = ">"
value = 10
"#;

#[test]
fn tables_are_those_of_one_process_byte_for_byte() {
    if has_mpi() {
        same_tables("busy", BUSY, "pauses.parquet", &[(2, "2"), (4, "1")]);
    }
}

#[test]
fn tables_of_losses_and_their_recovery_are_those_of_one_process() {
    if has_mpi() {
        same_tables("lossy", LOSSY, "drops.parquet", &[(3, "1")]);
    }
}

/// The tables of a scenario, one of which has that name, on numbers of ranks and threads.
fn same_tables(name: &str, scenario: &str, table: &str, cases: &[(u32, &str)]) {
    let scratch = Scratch::new(&format!("mpi-same-{name}"));
    scratch.file("a.toml", scenario);
    let one = scratch.run(&["run", "a.toml", "--out", "one", "--threads", "1"]).ends(0);
    let line =
        |said: &Said| said.out.lines().find_map(|line| line.split_once("fingerprint ").map(|it| it.1.to_owned()));
    let tables = |out: &str| -> Vec<String> {
        let names = names(&scratch.path(out)).into_iter();
        names.filter(|name| name != "manifest.json").collect()
    };
    assert!(tables("one").iter().any(|name| name == table), "{:?}", tables("one"));
    for &(ranks, threads) in cases {
        let out = format!("of-{ranks}");
        let said = on_ranks(&scratch, ranks, &["run", "a.toml", "--out", &out, "--threads", threads]).ends(0);
        assert_eq!(line(&said), line(&one), "{}", said.out);
        assert_eq!(said.out.matches("fingerprint").count(), 1, "one process speaks: {}", said.out);
        assert_eq!(tables(&out), tables("one"));
        for name in tables("one") {
            let read = |out: &str| std::fs::read(scratch.path(out).join(&name)).expect("a file of the results");
            assert!(read(&out) == read("one"), "{name} differs on {ranks} ranks");
        }
        scratch.run(&["diff", "one", &out]).ends(0);
    }
}

#[test]
fn one_process_speaks_for_all() {
    if !has_mpi() {
        return;
    }
    let scratch = Scratch::new("mpi-speaks");
    scratch.file("a.toml", SOUND).file("bad.toml", SOUND.replace("hosts = 3", "hosts = 0"));
    let once = |text: &str, what: &str| assert_eq!(text.matches(what).count(), 1, "{text}");
    let check = on_ranks(&scratch, 2, &["check", "a.toml"]).ends(0);
    assert_eq!(check.out, scratch.run(&["check", "a.toml"]).ends(0).out);
    // Fewer switches than ranks: some ranks have nothing to do.
    let run = on_ranks(&scratch, 3, &["run", "a.toml", "--no-record"]).ends(0);
    once(&run.out, "fingerprint");
    once(&on_ranks(&scratch, 2, &["run", "bad.toml"]).ends(2).err, "1 error");
    once(&on_ranks(&scratch, 2, &["sweep", "a.toml"]).ends(2).err, "this command runs in one");
    // A place that is taken is known to the first rank alone.
    scratch.file("taken/x", "x");
    once(&on_ranks(&scratch, 2, &["run", "a.toml", "--out", "taken"]).ends(2).err, "taken");
}

/// A run without an end that has begun.
fn endless(scratch: &Scratch, ranks: u32) -> Child {
    // Flows that arrive all the time would be too many.
    let start = BUSY.find("[[workloads]]").expect("it has workloads");
    let end = start + BUSY[start + 1..].find("[[workloads]]").expect("it has several") + 1;
    scratch.file("a.toml", format!("{}{}", &BUSY[..start], &BUSY[end..]));
    let set = ["--set", "run.duration=19s", "--set", "probes.max_rows=1000000000000", "--set", "probes.max_size=1TB"];
    let child = start_run(scratch, ranks, &[&["run", "a.toml", "--out", "out"][..], &set].concat());
    wait_until("the run has begun", || scratch.unfinished("out").is_some_and(|partial| partial.exists()));
    child
}

fn ended(child: Child) -> Output {
    child.wait_with_output().expect("mpirun ends")
}

#[test]
fn an_interrupt_of_one_rank_ends_all_and_keeps_the_results() {
    if !has_mpi() {
        return;
    }
    let scratch = Scratch::new("mpi-interrupt");
    let child = endless(&scratch, 2);
    signal("-INT", ranks_of(child.id())[1]);
    Said::new(&ended(child)).ends(130);
    let results = Results::open(&scratch.path("out")).expect("they are whole");
    assert_eq!(results.manifest.outcome, OutcomeRecord::from(&fabric::Outcome::Interrupted));
}

#[test]
fn a_rank_that_dies_ends_all_and_leaves_nothing_that_looks_whole() {
    if !has_mpi() {
        return;
    }
    let scratch = Scratch::new("mpi-killed");
    let child = endless(&scratch, 4);
    let ranks = ranks_of(child.id());
    assert_eq!(ranks.len(), 4);
    signal("-KILL", ranks[2]);
    let output = ended(child);
    assert!(!output.status.success());
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.contains("rank 2") && err.contains("Killed"), "{err}");
    wait_until("all ranks have ended", || {
        ranks.iter().all(|pid| !std::path::Path::new(&format!("/proc/{pid}")).exists())
    });
    assert!(!scratch.path("out").exists());
    let partial = scratch.unfinished("out").expect("what it leaves is marked");
    assert!(partial.parent().expect("a folder").join("INCOMPLETE").exists());
    assert!(Results::open(&partial).is_err());
}
