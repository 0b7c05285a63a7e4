//! Several processes that are one run: `mpirun -n 4 tailback run FILE`.
//!
//! A program that was built with the feature `mpi` joins the other processes that mpirun has started. One that was not
//! refuses to be one of several, which would all run the same and write to the same place. The first process speaks for
//! all; the others are silent, and tell it what went wrong with them.

#[cfg(feature = "mpi")]
mod world;

use super::arguments::Command;
use super::console;
use super::exit::Exit;
use engine::{Alone, Encode, Ranks};

/// What the launchers of MPI set to the number of processes: Open MPI, MPICH and its kin (Slurm's PMI too), MVAPICH.
const SIZES: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"];

/// What they set to the number of this process.
#[cfg(not(feature = "mpi"))]
const RANKS: [&str; 3] = ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK"];

/// What they set to the number of processes on this machine.
const LOCAL_SIZES: [&str; 3] = ["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE"];

fn variable(names: &[&str]) -> Option<usize> {
    names.iter().find_map(|name| std::env::var(name).ok()?.parse().ok())
}

/// How many processes a launcher of MPI has started, if one has started this one.
pub fn started() -> Option<usize> {
    variable(&SIZES)
}

/// Processes of the run that share this machine.
pub fn on_this_machine() -> usize {
    variable(&LOCAL_SIZES).unwrap_or(1).max(1)
}

/// Joins the other processes of the run, if there are any and the command can be one of several.
pub fn join(command: &Command) -> Result<Box<dyn Ranks>, Exit> {
    let Some(started) = started() else { return Ok(Box::new(Alone)) };
    let ranks = connect(started)?;
    if ranks.rank() > 0 {
        console::be_silent();
    }
    if ranks.count() > 1 && !matches!(command, Command::Run(_) | Command::Check(_)) {
        console::error(&format!(
            "mpirun started {} processes, and this command runs in one\n  start it without mpirun; 'run' and 'check' can \
             be started with it",
            ranks.count()
        ));
        return Err(Exit::BadInput);
    }
    Ok(ranks)
}

#[cfg(feature = "mpi")]
fn connect(_started: usize) -> Result<Box<dyn Ranks>, Exit> {
    match world::World::join() {
        Some(world) => Ok(Box::new(world)),
        None => {
            console::error("MPI cannot be initialised");
            Err(Exit::Failure)
        }
    }
}

#[cfg(not(feature = "mpi"))]
fn connect(started: usize) -> Result<Box<dyn Ranks>, Exit> {
    if started < 2 {
        return Ok(Box::new(Alone));
    }
    if variable(&RANKS).unwrap_or(0) == 0 {
        console::error(&format!(
            "mpirun started {started} processes, but this tailback was built without MPI: each would run the whole \
             scenario\n  start it without mpirun, or build it with MPI: cargo install --path crates/tailback --features mpi"
        ));
    }
    Err(Exit::BadInput)
}

/// What each rank has to say before a run begins: the digest of what it has loaded, or why it cannot. All ranks end if one
/// of them cannot begin, or has loaded something else than the first.
pub fn agree(ranks: &mut dyn Ranks, own: &Result<String, String>) -> Result<(), Exit> {
    let said = match own {
        Ok(digest) => (true, digest.clone()),
        Err(reason) => (false, reason.clone()),
    };
    let all = ranks.share(said.to_bytes());
    let all: Vec<(bool, String)> = all.iter().map(|bytes| Encode::from_bytes(bytes)).collect();
    // The first rank has said what is wrong with its own.
    if !all[0].0 {
        return Err(Exit::BadInput);
    }
    for (rank, (loaded, text)) in all.iter().enumerate().skip(1) {
        let reason = match loaded {
            true if *text == all[0].1 => continue,
            true => "it has loaded other files than rank 0\n  give all machines the same scenario and the same files",
            false => text,
        };
        console::error(&format!("rank {rank}: {reason}"));
        return Err(Exit::BadInput);
    }
    Ok(())
}
