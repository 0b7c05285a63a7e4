//! The congestion control: CC_MODE and its parameters.

use super::super::Work;
use super::Options;
use super::config::Config;
use std::fmt::Write as _;
use units::{Rate, Span};

/// The controls that the simulator has and this program has too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Control {
    /// No file says which.
    None,
    Dcqcn,
    Hpcc,
    Timely,
    Dctcp,
    PowerTcp,
    ThetaPowerTcp,
}

/// Names of controls for `--control`, with their meaning.
const NAMED: &[(&str, Control)] = &[
    ("dcqcn", Control::Dcqcn),
    ("hpcc", Control::Hpcc),
    ("timely", Control::Timely),
    ("dctcp", Control::Dctcp),
    ("powertcp", Control::PowerTcp),
    ("theta-powertcp", Control::ThetaPowerTcp),
];

/// Names of controls that [`Options::control`] may be.
#[must_use]
pub fn controls() -> Vec<&'static str> {
    NAMED.iter().map(|(name, _)| *name).collect()
}

impl Control {
    /// The control of a file, or the one that was asked for.
    pub(super) fn read(work: &mut Work, config: Option<&Config<'_>>, options: &Options<'_>) -> Control {
        let named = options.control.and_then(|name| NAMED.iter().find(|(known, _)| *known == name));
        let Some(config) = config else {
            if let Some((name, _)) = named {
                let message = format!("the parameters of {name} are in the configuration file, which is not given");
                work.refuse(crate::source::Place { source: 0, start: 0, end: 0 }, message, "add --config FILE");
            }
            return Control::None;
        };
        if let Some(&(_, control)) = named {
            return control;
        }
        let mode = config.count(work, "CC_MODE", 1);
        match mode {
            1 => Control::Dcqcn,
            3 => Control::Hpcc,
            7 => Control::Timely,
            8 => Control::Dctcp,
            10 => {
                let message = "CC_MODE 10, HPCC-PINT, is not supported";
                let help = "choose another mode, or the control to compare with: --control hpcc";
                work.refuse(config.place("CC_MODE"), message, help);
                Control::None
            }
            _ => {
                let message = format!("CC_MODE {mode} is not a congestion control of the simulator");
                let help = "1 is DCQCN, 3 HPCC, 7 TIMELY, 8 DCTCP; PowerTCP is CC_MODE 3 with --control powertcp";
                work.refuse(config.place("CC_MODE"), message, help);
                Control::None
            }
        }
    }

    pub(super) fn has_telemetry(self) -> bool {
        matches!(self, Control::Hpcc | Control::PowerTcp | Control::ThetaPowerTcp)
    }

    fn name(self) -> &'static str {
        NAMED.iter().find(|(_, control)| *control == self).map_or("none", |(name, _)| name)
    }
}

/// The keys of `[protocol]`, except the base round trip.
pub(super) struct Protocol {
    pub(super) text: String,
    /// Whether the control uses a base round trip.
    pub(super) needs_round_trip: bool,
}

/// Reads the parameters of a control.
pub(super) fn protocol(work: &mut Work, config: &Config<'_>, control: Control) -> Protocol {
    let mut text = format!("name = \"{}\"\n", control.name());
    if control != Control::None {
        text.push_str("preset = \"hpcc-simulator\"\n");
    }
    let mode = control.name();
    let min_rate = config.rate(work, "MIN_RATE", Rate::from_megabits(100));
    let mut key = |name: &str, value: String| {
        let _ = writeln!(text, "{name} = {value}");
    };
    let rate = |rate: Rate| format!("\"{rate}\"");
    match control {
        Control::None => {}
        Control::Dcqcn => {
            key("g", config.needed(work, "EWMA_GAIN", mode).to_string());
            key("alpha_period", time(config.micros(work, "ALPHA_RESUME_INTERVAL", 55.0)));
            key("decrease_period", time(config.micros(work, "RATE_DECREASE_INTERVAL", 4.0)));
            config.needed(work, "RP_TIMER", mode);
            key("time_reset", time(config.micros(work, "RP_TIMER", 0.0)));
            key("threshold", config.count(work, "FAST_RECOVERY_TIMES", 5).to_string());
            key("ai_rate", rate(config.needed_rate(work, "RATE_AI", mode)));
            key("hai_rate", rate(config.needed_rate(work, "RATE_HAI", mode)));
            key("min_rate", rate(min_rate));
            key("clamp_target", config.flag(work, "CLAMP_TARGET_RATE", false).to_string());
        }
        Control::Hpcc => {
            key("eta", config.number(work, "U_TARGET", 0.95).to_string());
            key("max_stage", config.count(work, "MI_THRESH", 5).to_string());
            key("ai_rate", rate(config.needed_rate(work, "RATE_AI", mode)));
            key("min_rate", rate(min_rate));
            key("react", react(config.flag(work, "FAST_REACT", true)));
            key("rate_per_hop", config.flag(work, "MULTI_RATE", true).to_string());
            key("telemetry_unit", config.count(work, "INT_MULTI", 1).to_string());
        }
        Control::Timely => {
            key("ai_rate", rate(config.needed_rate(work, "RATE_AI", mode)));
            key("hai_rate", rate(config.needed_rate(work, "RATE_HAI", mode)));
            key("min_rate", rate(min_rate));
        }
        Control::Dctcp => {
            key("g", config.needed(work, "EWMA_GAIN", mode).to_string());
            key("ai_rate", rate(config.rate(work, "DCTCP_RATE_AI", Rate::from_gigabits(1))));
            key("min_rate", rate(min_rate));
        }
        Control::PowerTcp => {
            key("eta", config.number(work, "U_TARGET", 0.95).to_string());
            key("min_rate", rate(min_rate));
            key("telemetry_unit", config.count(work, "INT_MULTI", 1).to_string());
        }
        Control::ThetaPowerTcp => key("min_rate", rate(min_rate)),
    }
    let has_window = config.flag(work, "HAS_WIN", true);
    let window = match (has_window, config.flag(work, "VAR_WIN", false)) {
        (false, _) => "none",
        (true, false) => "fixed",
        (true, true) => "variable",
    };
    if control != Control::None {
        key("window", format!("\"{window}\""));
    }
    if control == Control::Hpcc && !has_window {
        let message = "HPCC without a window: HAS_WIN is 0";
        work.refuse(config.place("HAS_WIN"), message, "HPCC measures queues by its window; set HAS_WIN 1");
    }
    notes(work, config, control);
    let needs_round_trip = has_window && control != Control::None || control.has_telemetry();
    Protocol { text, needs_round_trip }
}

fn time(span: Span) -> String {
    format!("\"{span}\"")
}

fn react(fast: bool) -> String {
    if fast { "\"per-ack\"".into() } else { "\"per-rtt\"".into() }
}

/// Settings without a counterpart.
fn notes(work: &mut Work, config: &Config<'_>, control: Control) {
    if control.has_telemetry() && config.flag(work, "SAMPLE_FEEDBACK", false) {
        work.note("SAMPLE_FEEDBACK", "1 has no counterpart: telemetry of every acknowledgement is used");
    }
    if !config.flag(work, "RATE_BOUND", true) {
        work.note("RATE_BOUND", "0 has no counterpart: the rate limits a flow besides its window");
    }
    if matches!(control, Control::PowerTcp | Control::ThetaPowerTcp) {
        if !config.flag(work, "FAST_REACT", true) {
            work.note("FAST_REACT", "0 has no counterpart: PowerTCP reacts to every acknowledgement");
        }
        for key in ["RATE_AI", "RATE_HAI", "MI_THRESH", "MULTI_RATE"].into_iter().filter(|key| config.has(key)) {
            work.note(key, "PowerTCP does not use it");
        }
        if config.has("U_TARGET") && control == Control::ThetaPowerTcp {
            work.note("U_TARGET", "theta-PowerTCP does not use it");
        }
    }
    let of_others: &[(&str, &[Control])] = &[
        ("ALPHA_RESUME_INTERVAL", &[Control::Dcqcn]),
        ("RATE_DECREASE_INTERVAL", &[Control::Dcqcn]),
        ("CLAMP_TARGET_RATE", &[Control::Dcqcn]),
        ("RP_TIMER", &[Control::Dcqcn]),
        ("FAST_RECOVERY_TIMES", &[Control::Dcqcn]),
        ("EWMA_GAIN", &[Control::Dcqcn, Control::Dctcp]),
        ("DCTCP_RATE_AI", &[Control::Dctcp]),
    ];
    for (key, used_by) in of_others {
        if config.has(key) && !used_by.contains(&control) {
            work.note(key, format!("{} does not use it", control.name()));
        }
    }
}
