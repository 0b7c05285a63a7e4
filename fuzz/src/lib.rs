//! What any text is put through: loaded, checked, explained and run for a moment. It may be refused, but in words.

use fabric::{BuildOptions, RunLimits, Simulation};
use scenario::{Limits, NoFiles, Plan, check, explain, load_str};
use units::{Span, Time};

/// Small enough that a wild number costs no time.
const SMALL: Limits = Limits { nodes: 300, cables: 1000, routes: 40_000, flows: 500, memory: 1 << 28 };

/// Puts a scenario with overrides through everything that happens to one.
pub fn survive(text: &str, overrides: &[String]) {
    match load_str("any.toml", text, overrides, &NoFiles, SMALL) {
        Ok(plan) => {
            let _ = check(&plan);
            assert!(!explain(&plan).is_empty());
            run_briefly(&plan);
        }
        Err(errors) => {
            assert!(errors.count() > 0);
            assert!(!errors.render(true).is_empty());
            assert!(errors.complaints().all(|complaint| complaint.line > 0 && !complaint.message.is_empty()));
        }
    }
}

fn run_briefly(plan: &Plan) {
    let mut simulation = Simulation::build(&plan.spec, &BuildOptions::default()).expect("it was built before");
    let mut limits = RunLimits::until(Time::ZERO + Span::from_micros(5));
    limits.inspect_every = Span::from_micros(1);
    limits.events = Some(5_000);
    simulation.run(&limits);
}
