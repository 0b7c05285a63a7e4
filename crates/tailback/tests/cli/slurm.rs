//! Sweeps on a cluster: a slurmctld and a slurmd of our own, unmodified Debian binaries, with a munged of their own. All
//! they have is in the test's directory; ports and the socket are theirs alone.

use crate::peers::{are_installed, output, path};
use crate::program::{SOUND, Said, Scratch, wait_until};
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A cluster of one node. Its jobs and daemons go when it is dropped.
struct Cluster {
    scratch: Scratch,
    daemons: Vec<Child>,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // First the jobs: whatever runs them would outlive the daemons.
        self.slurm(&["scancel", "--user", "root"]);
        for _ in 0..100 {
            if self.live().is_empty() {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        // Asked, they end their own children as well.
        for daemon in self.daemons.iter_mut().rev() {
            let _ = Command::new("kill").arg(daemon.id().to_string()).status();
            for _ in 0..100 {
                if daemon.try_wait().is_ok_and(|status| status.is_some()) {
                    break;
                }
                std::thread::sleep(Duration::from_millis(50));
            }
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
        if std::thread::panicking() {
            for name in ["munged.out", "slurmctld.out", "slurmd.out"] {
                println!("{name}:\n{}", fs::read_to_string(self.scratch.path(name)).unwrap_or_default());
            }
        }
    }
}

impl Cluster {
    /// `None` where it cannot be tried, which is said.
    fn new() -> Option<Cluster> {
        let programs = ["munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo"];
        if !are_installed(&programs, "slurm-wlm and munge") {
            return None;
        }
        let text = |command: &[&str]| {
            let output = output(command).expect("a usual command");
            String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
        };
        let (host, user) = (text(&["uname", "-n"]), text(&["id", "-un"]));
        if user != "root" {
            println!("SKIPPED: slurmd takes root");
            return None;
        }
        let host = host.split('.').next().unwrap_or_default();
        let scratch = Scratch::new("slurm");
        let place = |name: &str| scratch.path(name).display().to_string();
        // Bound together, so that they differ; free again when the daemons start.
        let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port"));
        let [control, node] = listeners.map(|it| it.local_addr().expect("it is bound").port());
        scratch.file("state/.keep", "").file("spool/.keep", "").file("munge.key", "only for this test ".repeat(8));
        let only_ours = |name: &str, mode: u32| {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(scratch.path(name), fs::Permissions::from_mode(mode)).expect("it is ours");
        };
        only_ours("munge.key", 0o600);
        let configuration = format!(
            "ClusterName=tailback\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser=root\nSlurmdUser=root\n\
             AuthType=auth/munge\nAuthInfo=socket={}\nCredType=cred/munge\nMpiDefault=none\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nJobAcctGatherType=jobacct_gather/none\n\
             AccountingStorageType=accounting_storage/none\nSelectType=select/cons_tres\n\
             SelectTypeParameters=CR_Core\nReturnToService=2\nSlurmdParameters=config_overrides\n\
             SlurmctldPort={control}\nSlurmdPort={node}\nSlurmctldPidFile={}\nSlurmdPidFile={}\n\
             StateSaveLocation={}\nSlurmdSpoolDir={}\nKillWait=2\n\
             SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0\n\
             NodeName={host} NodeAddr=127.0.0.1 CPUs=4 RealMemory=1000 State=UNKNOWN\n\
             PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n",
            place("munge.sock"),
            place("slurmctld.pid"),
            place("slurmd.pid"),
            place("state"),
            place("spool"),
        );
        scratch.file("slurm.conf", configuration);
        let munge = ["socket", "key-file", "pid-file", "log-file", "seed-file"].map(|what| {
            format!("--{what}={}", place(&what.replace("socket", "munge.sock").replace("key-file", "munge.key")))
        });
        let mut cluster = Cluster { scratch, daemons: Vec::new() };
        let munge: Vec<&str> =
            ["--foreground", "--force"].into_iter().chain(munge.iter().map(String::as_str)).collect();
        cluster.start("munged", &munge);
        wait_until("munged has a socket", || cluster.scratch.path("munge.sock").exists());
        cluster.start("slurmctld", &["-D", "-c"]);
        cluster.start("slurmd", &["-D", "-c"]);
        wait_until("the node is idle", || cluster.slurm(&["sinfo", "--noheader", "--format=%T"]).trim() == "idle");
        Some(cluster)
    }

    fn start(&mut self, program: &str, arguments: &[&str]) {
        let log = fs::File::create(self.scratch.path(&format!("{program}.out"))).expect("there is room");
        let mut command = Command::new(program);
        command.args(arguments).env("PATH", path()).env("SLURM_CONF", self.scratch.path("slurm.conf"));
        command.stdin(Stdio::null()).stdout(log.try_clone().expect("a file")).stderr(log);
        self.daemons.push(command.spawn().expect("it is installed"));
    }

    /// What a command of Slurm prints.
    fn slurm(&self, command: &[&str]) -> String {
        let mut started = Command::new(command[0]);
        started.args(&command[1..]).env("SLURM_CONF", self.scratch.path("slurm.conf")).stdin(Stdio::null());
        let output = started.output().expect("it is installed");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// The tasks that are pending or running, each with its state.
    fn live(&self) -> Vec<(String, String)> {
        let text = self.slurm(&["squeue", "--noheader", "--array", "--format=%i %T"]);
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        lines.map(|(task, state)| (task.to_owned(), state.to_owned())).collect()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.scratch.command(arguments);
        command.env("SLURM_CONF", self.scratch.path("slurm.conf"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Said {
        Said::new(&self.command(arguments).output().expect("the program starts"))
    }

    fn background(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
    }

    /// Waits until a task with that index runs, and returns its name.
    fn running(&self, index: usize) -> String {
        let mut task = String::new();
        let suffix = format!("_{index}");
        wait_until("the task runs", || {
            let found = self.live().into_iter().find(|(task, state)| task.ends_with(&suffix) && state == "RUNNING");
            task = found.map(|(task, _)| task).unwrap_or_default();
            !task.is_empty()
        });
        task
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.scratch.path(name)).expect("it is there")
    }

    /// That a directory has the tables of another, byte for byte.
    fn same_tables(&self, some: &str, other: &str) {
        for name in ["table.csv", "table.json"] {
            assert_eq!(self.read(&format!("{some}/{name}")), self.read(&format!("{other}/{name}")));
        }
    }

    /// The names of the logs of a sweep's tasks.
    fn logs(&self, out: &str) -> Vec<String> {
        let names = self.scratch.names(&format!("{out}/slurm"));
        names.into_iter().filter(|name| name.ends_with(".log")).collect()
    }
}

fn ended(child: Child) -> Said {
    Said::new(&child.wait_with_output().expect("it ends"))
}

fn interrupt(child: &Child) {
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(status.is_ok_and(|status| status.success()));
}

/// One cluster for all: it takes seconds to start.
#[test]
fn a_sweep_on_a_cluster_is_the_sweep_of_one_machine() {
    let Some(cluster) = Cluster::new() else { return };
    cluster.scratch.scenario("ring-routing.toml");
    a_killed_task_is_done_again(&cluster);
    an_interrupted_sweep_is_continued(&cluster);
    what_fails_is_described(&cluster);
    figures_are_reproduced(&cluster);
    assert!(cluster.live().is_empty(), "nothing is left in the queue");
}

/// Two commands wait for the same sweep, of which a cell deadlocks and a running task is killed.
fn a_killed_task_is_done_again(cluster: &Cluster) {
    let sweep = ["sweep", "ring-routing.toml", "--axis", "variant=shortest,up-down", "--set", "run.duration=1500ms"];
    let to = |more: &[&'static str]| [&sweep[..], more].concat();
    let first = cluster.background(&to(&["--out", "cluster", "--slurm", "--slurm-option", "time=10"]));
    let task = cluster.running(2);
    let second = cluster.background(&to(&["--out", "cluster", "--slurm", "--slurm-tasks", "2"]));
    cluster.slurm(&["scancel", "--signal=KILL", "--full", &task]);
    let local = cluster.run(&to(&["--out", "local"])).ends(0);
    let (first, second) = (ended(first).ends(0), ended(second).ends(0));
    assert!(local.out.contains("deadlock 1") && local.out.contains("finished 1"), "{}", local.out);
    assert_eq!((&first.out, &second.out), (&local.out, &local.out));
    cluster.same_tables("cluster", "local");
    let said = [first.err, second.err].concat();
    assert!(said.contains("2 tasks") && said.contains("submitted again (repetition 1)"), "{said}");
    assert!(said.contains("task 2 of job "), "{said}");
    // The task that was killed twice, the other one once.
    assert_eq!(cluster.logs("cluster").len(), 3, "{said}");
    // All is done.
    let again = cluster.run(&to(&["--out", "cluster", "--slurm"])).ends(0);
    assert_eq!(again.out, local.out);
    assert!(!again.err.contains("submitted"), "{}", again.err);
    cluster.run(&["report", "cluster", "-o", "r.html"]).ends(0);
}

/// An interrupted command cancels what it has submitted; a killed one does not, and the next one waits for it.
fn an_interrupted_sweep_is_continued(cluster: &Cluster) {
    let sweep = ["sweep", "ring-routing.toml", "--slurm", "--out", "again"];
    let held = [&sweep[..], &["--slurm-option", "--hold", "--slurm-tasks", "3"]].concat();
    let command = cluster.background(&held);
    wait_until("three tasks are held", || cluster.live().len() == 3);
    interrupt(&command);
    let said = ended(command).ends(130);
    assert!(
        said.err.contains("interrupted after 0 of 6 runs; job ") && said.err.contains("was cancelled"),
        "{}",
        said.err
    );
    wait_until("they are cancelled", || cluster.live().is_empty());
    let detached = cluster.run(&[&held[..], &["--slurm-detach"]].concat()).ends(0);
    assert!(detached.out.is_empty() && detached.err.contains("in the queue"), "{}", detached.err);
    // One that only waits for the jobs of others leaves them alone.
    let mut command = cluster.background(&sweep);
    let mut said = BufReader::new(command.stderr.take().expect("a pipe")).lines().map(|line| line.expect("UTF-8"));
    assert!(said.any(|line| line.contains("is already in the queue")));
    interrupt(&command);
    let said = said.collect::<Vec<_>>().join("\n");
    assert!(said.contains("goes on ('scancel "), "{said}");
    ended(command).ends(130);
    assert_eq!(cluster.live().len(), 3);
    let jobs: Vec<String> =
        cluster.live().iter().filter_map(|(task, _)| Some(task.split_once('_')?.0.into())).collect();
    cluster.slurm(&["scontrol", "release", &jobs[0]]);
    let said = cluster.run(&sweep).ends(0);
    assert!(!said.err.contains("submitted job"), "{}", said.err);
    cluster.run(&["sweep", "ring-routing.toml", "--out", "whole"]).ends(0);
    cluster.same_tables("again", "whole");
}

fn what_fails_is_described(cluster: &Cluster) {
    let sweep = ["sweep", "ring-routing.toml", "--out", "failing", "--set", "run.duration=1500ms", "--slurm"];
    let with = |more: &[&'static str]| cluster.run(&[&sweep[..], more].concat());
    let said = with(&["--slurm-option", "partition=nowhere"]).ends(1);
    assert!(said.err.contains("refused") && said.err.contains("Invalid partition name"), "{}", said.err);
    let said = with(&["--slurm-option", "array=1-3"]).ends(2);
    assert!(said.err.contains("--array is set by tailback"), "{}", said.err);
    let said = Said::new(&cluster.command(&sweep).env("PATH", "/nonexistent").output().expect("it starts")).ends(2);
    assert!(said.err.contains("sbatch is not on the PATH"), "{}", said.err);
    with(&["--part", "1/2"]).ends(2);
    let once = ["--axis", "variant=up-down,lash", "--slurm-tasks", "1", "--slurm-repeats", "0"];
    // Long enough that no task is done before it is cancelled.
    let sweep = ["sweep", "ring-routing.toml", "--out", "killed", "--set", "run.duration=60s", "--slurm"];
    let command = cluster.background(&[&sweep[..], &once].concat());
    let task = cluster.running(1);
    cluster.slurm(&["scancel", &task]);
    let said = ended(command).ends(1);
    for wanted in ["1 task did not finish", "CANCELLED", "_1.log", "same command again"] {
        assert!(said.err.contains(wanted), "{wanted} in\n{}", said.err);
    }
    // The end of its log: the last words of the task, or those of Slurm if it was stopped before it could speak.
    assert!(said.err.contains("interrupted after 0 of 2 runs") || said.err.contains("CANCELLED AT"), "{}", said.err);
}

/// The figures of a paper are one array job, and the verdicts those of one machine.
fn figures_are_reproduced(cluster: &Cluster) {
    let expected =
        "[[expectations]]\nname = \"drops\"\nmetric = \"dropped-frames\"\nvalue = 0\nsource = \"section 1\"\n";
    for figure in ["one", "two"] {
        cluster.scratch.file(&format!("papers/small/{figure}.toml"), format!("{SOUND}replications = 3\n{expected}"));
    }
    let paper = ["reproduce", "small", "--out"];
    let local = cluster.run(&[&paper[..], &["papers-local"]].concat()).ends(0);
    let remote = cluster.run(&[&paper[..], &["papers-cluster", "--slurm"]].concat()).ends(0);
    assert_eq!(remote.out, local.out, "{}", remote.err);
    assert!(remote.err.contains("3 tasks"), "{}", remote.err);
    cluster.run(&["report", "papers-cluster/small", "-o", "p.html"]).ends(0);
    assert!(cluster.run(&["reproduce", "--slurm"]).ends(2).err.contains("PAPER"));
}
