//! The commands. Data goes to standard output, everything else to standard error.

mod arguments;
mod capture;
mod check;
mod compare;
mod console;
mod count;
mod dcbx;
mod deadline;
mod exit;
mod faults;
mod figure;
mod import;
mod import_arguments;
mod listing;
mod live;
mod picture;
mod ranks;
mod report;
mod reproduce;
mod result_arguments;
mod resume;
mod routes;
mod run;
mod serve;
mod slurm;
mod spb;
mod stability;
mod study_arguments;
mod sweep;
mod tune;
mod what_if;
mod why;

use arguments::{Arguments, Command};
use clap::Parser;
use exit::Exit;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set by the first interrupt; the second ends the program at once.
static INTERRUPT: AtomicBool = AtomicBool::new(false);

/// Without a handler an interrupt just kills the program, which leaves nothing half-written either.
fn heed_interrupt() {
    let _ = ctrlc::set_handler(|| {
        if INTERRUPT.swap(true, Ordering::Relaxed) || deadline::is_setting_up() {
            std::process::exit(i32::from(Exit::Interrupted.code()));
        }
        console::note(match ranks::started() {
            // mpirun ends all ranks when a person interrupts it and when one of them has died.
            Some(2..) => "\nreceived SIGTERM: finishing the run, if all ranks are alive",
            _ => "\ninterrupted: finishing (press Ctrl-C again to stop at once)",
        });
    });
}

/// A file that grows beyond `ulimit -f` is an error of its writer like a full disk, not the end of the program. To be
/// called before any other thread is there, since threads inherit it.
#[cfg(target_os = "linux")]
fn heed_file_limit() {
    use nix::sys::signal::{SigSet, Signal};
    // Where it cannot be, the system ends the program, and what is unfinished says so itself.
    let _ = SigSet::from(Signal::SIGXFSZ).thread_block();
}

#[cfg(not(target_os = "linux"))]
fn heed_file_limit() {}

/// The program.
pub fn main() -> ExitCode {
    heed_file_limit();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let help = !error.use_stderr();
            let _ = error.print();
            return if help { ExitCode::SUCCESS } else { Exit::BadInput.into() };
        }
    };
    if let Err(reason) = scenario::memory::said() {
        console::error(&reason);
        return Exit::BadInput.into();
    }
    let mut ranks = match ranks::join(&arguments.command) {
        Ok(ranks) => ranks,
        Err(exit) => return exit.into(),
    };
    if arguments.command.is_live() {
        live::heed_signals();
    } else {
        heed_interrupt();
    }
    let exit = match arguments.command {
        Command::Run(arguments) => run::run(&arguments, &mut *ranks),
        Command::Resume(arguments) => resume::resume(&arguments),
        Command::WhatIf(arguments) => what_if::what_if(&arguments),
        // What one process finds, all would.
        Command::Check(_) if ranks.rank() > 0 => Exit::Success,
        Command::Check(arguments) => check::check(&arguments),
        Command::Routes(arguments) => routes::routes(&arguments),
        Command::Dcbx(arguments) => dcbx::dcbx(&arguments),
        Command::Spb(arguments) => spb::spb(&arguments),
        Command::Explain(arguments) => check::explain(&arguments),
        Command::Compare(arguments) => compare::compare(&arguments),
        Command::Sweep(arguments) => sweep::sweep(&arguments),
        Command::Tune(arguments) => tune::tune(&arguments),
        Command::Faults(arguments) => faults::faults(&arguments),
        Command::Reproduce(arguments) => reproduce::reproduce(&arguments),
        Command::Stability(arguments) => stability::stability(&arguments),
        Command::Pcap(arguments) => capture::pcap(&arguments),
        Command::Why(arguments) => why::why(&arguments),
        Command::Report(arguments) => report::report(&arguments),
        Command::Lab(arguments) => report::lab(&arguments),
        Command::Serve(arguments) => serve::serve(&arguments),
        Command::Plot(arguments) => picture::plot(&arguments),
        Command::Diff(arguments) => picture::diff(&arguments),
        Command::Csv(arguments) => picture::csv(&arguments),
        Command::Protocols(arguments) => listing::protocols(&arguments),
        Command::Topologies => listing::topologies(),
        Command::Schema => listing::schema(),
        Command::Reference => listing::reference(),
        Command::Tables => listing::tables(),
        Command::Init(arguments) => listing::init(&arguments),
        Command::Import(arguments) => match (import::import(&arguments), import::to_run(&arguments)) {
            (Exit::Success, Some(arguments)) => run::run(&arguments, &mut *ranks),
            (exit, _) => exit,
        },
        Command::Export(arguments) => import::export(&arguments),
        Command::Completions(arguments) => listing::completions(&arguments),
    };
    exit.into()
}
