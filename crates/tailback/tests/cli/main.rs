//! The command as a user meets it: what it prints and where, how it ends, and what it leaves on the disk.

#![allow(clippy::disallowed_macros)] // A test that cannot try something says so.

mod bad_input;
mod before;
mod capture;
mod documents;
mod drawings;
mod endings;
mod help;
mod hostile;
#[cfg(target_os = "linux")]
mod isisd;
#[cfg(target_os = "linux")]
mod live;
#[cfg(feature = "mpi")]
mod mpi;
#[cfg(target_os = "linux")]
mod peers;
mod program;
mod recipes;
mod recorded;
mod report;
mod reproduce;
mod robust;
mod run;
mod saved;
mod sentences;
#[cfg(target_os = "linux")]
mod slurm;
mod sonic;
mod stability;
#[cfg(target_os = "linux")]
mod strangers;
mod streams;
mod study;
mod subnet;
mod torture;
mod trends;
mod tune;
mod whole;
mod why;
