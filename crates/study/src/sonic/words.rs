//! Issues of a fabric in words, with remedies in the tables of SONiC.

use super::audit::{Issue, What};
use scenario::{Finding, Severity};

/// Ports that are named before the rest is counted.
const NAMED: usize = 4;

impl Issue {
    /// Name of what it is, for programs.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match &self.what {
            What::Headroom { .. } => "headroom",
            What::NoHeadroom { .. } => "no-headroom",
            What::NoProfile { .. } => "no-profile",
            What::UnusedHeadroom { .. } => "unused-headroom",
            What::OneEnd { .. } => "lossless-at-one-end",
            What::WrongQueue { .. } => "pause-stops-wrong-queue",
            What::Lengths { .. } => "cable-lengths",
            What::Mtus { .. } => "mtus",
            What::ProfileOfAnother { .. } => "profile-of-another-port",
            What::MarksAfterPause { .. } => "marks-after-pause",
            What::EarlyDrops { .. } => "early-drops",
            What::QueueLimit { .. } => "queue-limit",
            What::MapDiffers { .. } => "map-differs",
            What::SmallShare { .. } => "small-share",
            What::StrictLossless => "strict-lossless",
            What::Strict => "strict-priority",
            What::SharedHeadroom { .. } => "shared-headroom",
            What::NoWatchdog => "no-watchdog",
        }
    }

    /// The issue in words.
    #[must_use]
    pub fn finding(&self) -> Finding {
        let (severity, message, remedy) = self.words();
        Finding { severity, subject: self.subject(), message, remedy }
    }

    fn subject(&self) -> String {
        let mut text = self.switch.clone();
        if !self.ports.is_empty() {
            let named: Vec<&str> = self.ports.iter().take(NAMED).map(String::as_str).collect();
            text.push(' ');
            text.push_str(&named.join(", "));
            if self.ports.len() > NAMED {
                text.push_str(&format!(" and {} more", self.ports.len() - NAMED));
            }
        }
        if !self.classes.is_empty() {
            let classes: Vec<String> = self.classes.iter().map(|tc| format!("tc{tc}")).collect();
            text.push_str(&format!(" {}", classes.join(", ")));
        }
        text
    }

    fn words(&self) -> (Severity, String, String) {
        match &self.what {
            What::Headroom { profile, have, exact, hardware, driver, rate, metres } => {
                let link = format!("at {rate} over {metres} m");
                let set = format!("set `xoff` of BUFFER_PROFILE|{profile} to {} or more", hardware.get());
                if have < exact {
                    let message = format!(
                        "loses frames: {have} of headroom, but {exact} arrive after XOFF {link} even if nothing takes time to respond; hardware needs up to {hardware}"
                    );
                    (Severity::Error, message, set)
                } else if have < hardware {
                    let message = format!(
                        "may lose frames: {have} of headroom; hardware with the delays that IEEE 802.1Qbb and 802.3 allow needs up to {hardware} {link}, and {exact} without any"
                    );
                    (Severity::Warning, message, set)
                } else {
                    // Drivers and chips that count cells reserve more than the standards ask for.
                    let condition = match have < driver {
                        true => {
                            format!(", by the delays of the standards; the Linux driver mlx5 would reserve {driver}")
                        }
                        false => String::new(),
                    };
                    let message = format!(
                        "enough headroom: {have}, up to {hardware} needed {link} (profile {profile}){condition}"
                    );
                    (Severity::Note, message, String::new())
                }
            }
            What::NoHeadroom { group, profile } => (
                Severity::Error,
                format!("loses frames: PFC is on, but priority group {group} has profile {profile} without headroom"),
                format!(
                    "give BUFFER_PG|...|{group} a lossless profile, with `xoff`, or remove the priority from pfc_enable"
                ),
            ),
            What::NoProfile { is_exception, exact, hardware, rate, metres } => {
                let need = format!("up to {hardware} needed at {rate} over {metres} m, and {exact} without any delay");
                match is_exception {
                    true => (
                        Severity::Warning,
                        format!(
                            "may lose frames: PFC is on, but BUFFER_PG has no profile, as other ports have; {need}"
                        ),
                        "add a row to BUFFER_PG with a lossless profile, or remove the priority from pfc_enable".into(),
                    ),
                    false => (
                        Severity::Note,
                        format!("headroom is not in the configuration, because the switch computes it: {need}"),
                        "compare it with `show buffer information` of the switch".into(),
                    ),
                }
            }
            What::UnusedHeadroom { profile } => (
                Severity::Warning,
                format!("profile {profile} reserves headroom, but PFC is off for the class: frames are dropped"),
                "add the priority to `pfc_enable` of PORT_QOS_MAP, or use a lossy profile".into(),
            ),
            What::OneEnd { far } => (
                Severity::Error,
                format!(
                    "lossless here, but not at the other end, {far}: pauses are not sent or not obeyed, and frames are lost"
                ),
                "enable PFC for the same priorities at both ends (`pfc_enable` of PORT_QOS_MAP)".into(),
            ),
            What::WrongQueue { far, priority, stops, queue } => (
                Severity::Error,
                format!(
                    "pauses priority {priority}, by which {far} stops queue {stops}; the class is in queue {queue} there, so it is not stopped"
                ),
                "make TC_TO_PRIORITY_GROUP_MAP, MAP_PFC_PRIORITY_TO_QUEUE and TC_TO_QUEUE_MAP agree".into(),
            ),
            What::Lengths { far, metres: [here, there] } => (
                Severity::Warning,
                format!("the cable has {here} m here and {there} m at {far}; the longer one counts"),
                "correct CABLE_LENGTH at one end".into(),
            ),
            What::Mtus { far, bytes: [here, there] } => (
                Severity::Warning,
                format!("the MTU is {here} here and {there} at {far}: larger packets are dropped at the smaller one"),
                "set the same `mtu` in PORT at both ends".into(),
            ),
            What::ProfileOfAnother { profile, named, actual } => (
                Severity::Warning,
                format!(
                    "profile {profile} is for {} and {} m; the port has {} and {} m",
                    named.0, named.1, actual.0, actual.1
                ),
                "assign the profile of the port's speed and cable in BUFFER_PG".into(),
            ),
            What::MarksAfterPause { wred, least, pause, inputs } => {
                let set = format!(
                    "lower green_min_threshold of WRED_PROFILE|{wred}, or raise dynamic_th of the lossless profile"
                );
                match inputs {
                    1 => (
                        Severity::Warning,
                        format!("pauses before it marks: marks begin at {least}, but an input is paused at {pause}"),
                        set,
                    ),
                    inputs => (
                        Severity::Note,
                        format!(
                            "from {inputs} full inputs on, pauses come before marks, which begin at {least}; a single input is paused at {pause}"
                        ),
                        set,
                    ),
                }
            }
            What::EarlyDrops { wred } => (
                Severity::Error,
                format!(
                    "loses frames: WRED_PROFILE|{wred} drops frames of a lossless class early, because `ecn` does not include green"
                ),
                format!("set `ecn` of WRED_PROFILE|{wred} to ecn_all"),
            ),
            What::QueueLimit { profile, limit, pool } => (
                Severity::Warning,
                format!(
                    "the queue is limited to {limit} by profile {profile}, but inputs may hold {pool}: frames beyond it are dropped"
                ),
                format!("set `static_th` of BUFFER_PROFILE|{profile} to the size of the memory"),
            ),
            What::MapDiffers { table, entry: (from, here, elsewhere) } => (
                Severity::Warning,
                format!(
                    "{table} differs from that of most ports: {from} is mapped to {here} here, and to {elsewhere} elsewhere"
                ),
                "use the same map at all switches".into(),
            ),
            What::SmallShare { share } => (
                Severity::Warning,
                format!("may starve: its weight is {:.1} % of those of all classes", share * 100.0),
                "raise the weight of its SCHEDULER".into(),
            ),
            What::StrictLossless => (
                Severity::Warning,
                "a lossless class with strict priority can starve all others".into(),
                "give its queue a DWRR scheduler".into(),
            ),
            What::Strict => (
                Severity::Note,
                "strict priority without a limit of the rate: it starves classes with weights while it is busy".into(),
                "limit it by `pir` of its SCHEDULER, or give its queue a DWRR scheduler".into(),
            ),
            What::SharedHeadroom { pool, have, all, users } => (
                Severity::Note,
                format!(
                    "BUFFER_POOL|{pool} has {have} of headroom for {all} in all profiles: enough for any {users} ports and classes at once"
                ),
                String::new(),
            ),
            What::NoWatchdog => (
                Severity::Note,
                "no PFC watchdog: a storm of pauses lasts until its cause ends".into(),
                "add the ports to PFC_WD".into(),
            ),
        }
    }
}
