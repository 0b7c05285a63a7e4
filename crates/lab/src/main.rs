//! `tailback`: the laboratory at the command line.

#![allow(clippy::disallowed_methods)] // The command reads the clock on the wall; the models do not.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
