//! `dcbx --interface` and `spb --interface`: an agent and a bridge among real ones.
//!
//! Neither waits for the reader of its output, and both take their leave of their neighbours however they are ended.

#[cfg(target_os = "linux")]
mod agent;
#[cfg(target_os = "linux")]
mod bridge;
#[cfg(target_os = "linux")]
mod outlet;
#[cfg(target_os = "linux")]
mod shown;
#[cfg(target_os = "linux")]
mod signals;

#[cfg(target_os = "linux")]
pub use linux::{NAP, agent, bridge, heed_signals, now, open};

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{agent, bridge, heed_signals};

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use crate::cli::arguments::Spb;
    use crate::cli::console;
    use crate::cli::exit::Exit;
    use control::{Settings, Timers};

    fn refuse() -> Exit {
        console::error("--interface works on Linux only");
        Exit::Failure
    }

    pub fn agent(_: &str, _: Settings, _: Timers, _: Option<u64>, _: bool) -> Exit {
        refuse()
    }

    pub fn bridge(_: &Spb) -> Exit {
        refuse()
    }

    pub fn heed_signals() {}
}

#[cfg(target_os = "linux")]
mod linux {
    pub use super::agent::speak as agent;
    pub use super::bridge::speak as bridge;
    pub use super::signals::heed as heed_signals;

    use crate::cli::console;
    use crate::cli::exit::Exit;
    use interface::{Interface, Wanted};
    use std::time::{Duration, Instant};
    use units::Time;

    /// Is asked again at least this often, to notice a signal.
    pub const NAP: Duration = Duration::from_millis(200);

    /// Opens an interface for frames of these kinds, or says why not.
    pub fn open(name: &str, kinds: &[Wanted]) -> Result<Interface, Exit> {
        Interface::open(name, kinds).map_err(|problem| {
            console::error(&format!("{name}: {problem}"));
            let denied = problem.kind() == std::io::ErrorKind::PermissionDenied;
            console::note(if denied {
                "run it as root, or with CAP_NET_RAW"
            } else {
                "'ip link' lists the interfaces"
            });
            if denied { Exit::Failure } else { Exit::BadInput }
        })
    }

    /// The clock of state machines: since then.
    pub fn now(start: Instant) -> Time {
        let picos = start.elapsed().as_nanos().saturating_mul(1000);
        Time::from_picos(u64::try_from(picos).unwrap_or(u64::MAX))
    }
}
