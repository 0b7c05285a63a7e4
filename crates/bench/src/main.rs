//! Benchmarks, not tests: what a hop costs, how the engine scales, what memory a network takes.
//!
//! `cargo run --release -p tailback-bench -- help` lists them.

#![allow(clippy::disallowed_methods, clippy::disallowed_macros)] // A benchmark reads the clock and prints.

mod alarms;
mod networks;

use std::process::ExitCode;

const HELP: &str = "\
usage: bench WHAT [OPTIONS]

  alarms                       hold model: the wheel against a plain 4-ary heap
  fat-tree [K] [MICROS] [THREADS] [SHARDS]
                               permutation, 100 Gb/s, 1 us links, 1000 B frames, PFC        (8 200 1 0: as chosen)
  sizes [MICROS]               k = 8, 16 and 32 on one thread, as ratios to k = 8           (2000)
  kinds [K] [MICROS]           plain, acknowledged, windowed, marked and reliable flows, as ratios    (8 200)
  incast [SENDERS] [MICROS]    SENDERS to 1 on one switch, the same links and frames        (64 2000)
  build [K]                    time and memory to build a fat-tree                          (32)
  hop [K] [MICROS] [KIND]      exactly one fat-tree run and nothing else, for callgrind     (8 50 0: plain)
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize, default: u64| match arguments.get(place) {
        Some(text) => text.parse().unwrap_or_else(|_| {
            eprintln!("bench: '{text}' is not a whole number");
            std::process::exit(2)
        }),
        None => default,
    };
    match arguments.first().map(String::as_str) {
        Some("alarms") => alarms::report(),
        Some("fat-tree") => {
            networks::fat_tree(number(1, 8) as u32, number(2, 200), number(3, 1) as usize, number(4, 0) as usize);
        }
        Some("sizes") => networks::sizes(number(1, 2000)),
        Some("kinds") => networks::kinds(number(1, 8) as u32, number(2, 200)),
        Some("incast") => networks::incast(number(1, 64) as u32, number(2, 2000)),
        Some("build") => networks::build(number(1, 32) as u32),
        Some("hop") => networks::hop(number(1, 8) as u32, number(2, 50), number(3, 0) as usize),
        _ => {
            print!("{HELP}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
