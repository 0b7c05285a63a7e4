//! `tailback`: the laboratory at the command line.

#![allow(clippy::disallowed_methods, clippy::disallowed_macros)] // The command reads the clock and prints; models do neither.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
