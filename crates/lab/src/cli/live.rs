//! `dcbx --interface`: an agent among real ones. What it has in common with `spb --interface` is here too.

use super::exit::Exit;
use control::{Settings, Timers};

#[cfg(not(target_os = "linux"))]
pub fn speak(_: &str, _: Settings, _: Timers, _: Option<u64>, _: bool) -> Exit {
    super::console::error("raw sockets of an interface are for Linux only");
    Exit::Failure
}

#[cfg(target_os = "linux")]
pub use linux::{NAP, now, open, speak};

#[cfg(target_os = "linux")]
mod linux {
    use super::{Exit, Settings, Timers};
    use crate::cli::dcbx::{columns, state_json};
    use crate::cli::{INTERRUPT, console};
    use control::{Agent, Finding, LARGEST_FRAME, Operating};
    use lab::interface::Interface;
    use std::sync::atomic::Ordering;
    use std::time::{Duration, Instant};
    use units::Time;
    use wire::ethernet::ether_type;

    /// Is asked again at least this often, to notice an interrupt.
    pub const NAP: Duration = Duration::from_millis(200);

    /// Speaks on an interface until interrupted, or for so many seconds, and takes its leave.
    pub fn speak(name: &str, settings: Settings, timers: Timers, seconds: Option<u64>, json: bool) -> Exit {
        let interface = match open(name, ether_type::LLDP) {
            Ok(interface) => interface,
            Err(exit) => return exit,
        };
        match converse(&interface, settings, timers, seconds, json) {
            Ok(()) => Exit::Success,
            Err(problem) => {
                console::error(&format!("{name}: {problem}"));
                Exit::Failure
            }
        }
    }

    /// Opens an interface for frames of a kind, or says why not.
    pub fn open(name: &str, kind: u16) -> Result<Interface, Exit> {
        Interface::open(name, kind).map_err(|problem| {
            console::error(&format!("{name}: {problem}"));
            let denied = problem.kind() == std::io::ErrorKind::PermissionDenied;
            console::note(if denied { "a raw socket takes root, or CAP_NET_RAW" } else { "'ip link' lists them" });
            if denied { Exit::Failure } else { Exit::BadInput }
        })
    }

    /// The clock of state machines: since then.
    pub fn now(start: Instant) -> Time {
        let picos = start.elapsed().as_nanos().saturating_mul(1000);
        Time::from_picos(u64::try_from(picos).unwrap_or(u64::MAX))
    }

    fn converse(
        interface: &Interface,
        settings: Settings,
        timers: Timers,
        seconds: Option<u64>,
        json: bool,
    ) -> std::io::Result<()> {
        let start = Instant::now();
        let address = interface.address();
        let mut agent = Agent::new(now(start), address, address, settings, timers);
        let mut buffer = [0; LARGEST_FRAME];
        let mut told: Option<State> = None;
        let over = |at: Time| seconds.is_some_and(|seconds| at.as_secs_f64() >= seconds as f64);
        while !INTERRUPT.load(Ordering::Relaxed) && !over(now(start)) {
            send_all(interface, &mut agent, start);
            let state = State::of(&agent);
            if told.as_ref() != Some(&state) {
                state.tell(now(start), json);
                told = Some(state);
            }
            let due = agent.poll_at().unwrap_or(Time::MAX).saturating_since(now(start));
            let patience = Duration::from_nanos(due.as_picos() / 1000 + 1).min(NAP);
            if let Some(length) = interface.receive(&mut buffer, patience)? {
                agent.handle_frame(now(start), buffer.get(..length).unwrap_or(&buffer));
            }
        }
        agent.shut_down();
        send_all(interface, &mut agent, start);
        Ok(())
    }

    /// Sends what is due. A link that is down loses it, as a cable would.
    fn send_all(interface: &Interface, agent: &mut Agent, start: Instant) {
        let mut buffer = [0; LARGEST_FRAME];
        while let Some(length) = agent.poll_transmit(now(start), &mut buffer) {
            let _ = interface.send(&buffer[..length]);
        }
    }

    /// What is told when it changes.
    #[derive(PartialEq)]
    struct State {
        operating: Operating,
        findings: Vec<Finding>,
        peer: Option<wire::Address>,
        others: usize,
    }

    impl State {
        fn of(agent: &Agent) -> State {
            State {
                operating: *agent.operating(),
                findings: agent.findings().collect(),
                peer: agent.peer().map(control::Peer::address),
                others: agent.others(),
            }
        }

        fn tell(&self, at: Time, json: bool) {
            if json {
                let mut state = state_json(&self.operating, &self.findings);
                if let serde_json::Value::Object(state) = &mut state {
                    state.insert("at_s".into(), at.as_secs_f64().into());
                    state.insert("peer".into(), self.peer.map(|peer| peer.to_string()).into());
                    state.insert("other_peers".into(), self.others.into());
                }
                console::print(&format!("{state}\n"));
                return;
            }
            let [paused, shares, applications] = columns(&self.operating);
            let peer = self.peer.map_or("nobody".to_owned(), |peer| peer.to_string());
            let at = at.as_secs_f64();
            console::print(&format!(
                "{at:9.3} s  peer {peer}  pfc {paused}  ets {shares}  applications {applications}\n"
            ));
            for finding in &self.findings {
                console::print(&format!("             {}: {finding}\n", finding.name()));
            }
        }
    }
}
