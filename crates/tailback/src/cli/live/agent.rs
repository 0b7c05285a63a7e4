//! An agent of LLDP with DCBX on an interface.

use super::outlet::Outlet;
use super::{NAP, now, open};
use crate::cli::dcbx::columns;
use crate::cli::exit::Exit;
use crate::cli::{INTERRUPT, console};
use control::{Agent, LARGEST_FRAME, Mismatch, Operating, Settings, Timers};
use interface::{Interface, Wanted, wait};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use units::Time;

/// Frames that are taken in before it is time to speak.
const MOST_AT_ONCE: usize = 64;

/// Speaks on an interface until interrupted, or for so many seconds, and takes its leave.
pub fn speak(name: &str, settings: Settings, timers: Timers, seconds: Option<u64>, json: bool) -> Exit {
    let mut interface = match open(name, &[Wanted::Lldp]) {
        Ok(interface) => [interface],
        Err(exit) => return exit,
    };
    match converse(&mut interface, settings, timers, seconds, json) {
        Ok(()) => Exit::Success,
        Err(problem) => {
            console::error(&format!("{name}: {problem}"));
            Exit::Failure
        }
    }
}

fn converse(
    interface: &mut [Interface; 1],
    settings: Settings,
    timers: Timers,
    seconds: Option<u64>,
    json: bool,
) -> std::io::Result<()> {
    let start = Instant::now();
    let address = interface[0].address();
    let mut agent = Agent::new(now(start), address, address, settings, timers);
    let mut outlet = Outlet::new(std::io::stdout());
    let mut told: Option<State> = None;
    let over = |at: Time| seconds.is_some_and(|seconds| at.as_secs_f64() >= seconds as f64);
    let mut ended = Ok(());
    while ended.is_ok() && !INTERRUPT.load(Ordering::Relaxed) && !over(now(start)) {
        send_all(&interface[0], &mut agent, start);
        let state = State::of(&agent);
        if told.as_ref() != Some(&state) && outlet.is_ready(Instant::now()) {
            outlet.put(Instant::now(), state.record(&agent, &interface[0], now(start), json));
            told = Some(state);
        }
        let due = agent.poll_at().unwrap_or(Time::MAX).saturating_since(now(start));
        let patience = Duration::from_nanos(due.as_picos() / 1000 + 1).min(NAP);
        ended = outlet.problem().map_or(Ok(()), Err).and_then(|()| wait(interface, patience)).and_then(|()| {
            // However much comes, it goes on speaking.
            interface[0].take(MOST_AT_ONCE, |frame| agent.handle_frame(now(start), frame))
        });
    }
    let (end, state) = (now(start), State::of(&agent));
    let mut last = String::new();
    if json || told.as_ref() != Some(&state) {
        last.push_str(&state.record(&agent, &interface[0], end, json));
    }
    if !json {
        last.push_str(&summary(&agent, &interface[0], end));
    }
    agent.shut_down();
    send_all(&interface[0], &mut agent, start);
    ended.and(outlet.close(last))
}

/// Sends what is due. A link that is down loses it, as a cable would.
fn send_all(interface: &Interface, agent: &mut Agent, start: Instant) {
    let mut buffer = [0; LARGEST_FRAME];
    while let Some(length) = agent.poll_transmit(now(start), &mut buffer) {
        let _ = interface.send(&buffer[..length]);
    }
}

/// What has come and gone, for people.
fn summary(agent: &Agent, interface: &Interface, at: Time) -> String {
    let (it, arrived) = (agent.counters(), interface.arrived());
    format!(
        "{:9.3} s  sent {}, received {}, rejected {}; {} frames read, {} dropped unread\n",
        at.as_secs_f64(),
        it.sent,
        it.received,
        it.refused,
        arrived.read,
        arrived.dropped
    )
}

/// What is told when it changes.
#[derive(PartialEq)]
struct State {
    operating: Operating,
    mismatches: Vec<Mismatch>,
    peer: Option<wire::Address>,
    others: usize,
}

impl State {
    fn of(agent: &Agent) -> State {
        State {
            operating: *agent.operating(),
            mismatches: agent.mismatches().collect(),
            peer: agent.peer().map(control::Peer::address),
            others: agent.others(),
        }
    }

    fn record(&self, agent: &Agent, interface: &Interface, at: Time, json: bool) -> String {
        if json { format!("{}\n", self.json(agent, interface, at)) } else { self.text(at) }
    }

    fn json(&self, agent: &Agent, interface: &Interface, at: Time) -> Value {
        let mut state = json!(study::dcbx_state(&self.operating, &self.mismatches));
        let (it, arrived) = (agent.counters(), interface.arrived());
        if let Value::Object(state) = &mut state {
            state.insert("at_s".into(), at.as_secs_f64().into());
            state.insert("peer".into(), self.peer.map(|peer| peer.to_string()).into());
            state.insert("other_peers".into(), self.others.into());
            state.insert("frames".into(), json!({ "read": arrived.read, "dropped": arrived.dropped }));
            let counters = json!({
                "sent": it.sent,
                "received": it.received,
                "foreign": it.foreign,
                "refused": it.refused,
                "in_error": it.in_error,
                "reflected": it.reflected,
                "malformed": it.malformed,
                "unknown": it.unknown,
                "repeated": it.repeated,
                "from_others": it.from_others,
                "aged_out": it.aged_out,
            });
            state.insert("counters".into(), counters);
        }
        state
    }

    fn text(&self, at: Time) -> String {
        let [paused, shares, applications] = columns(&self.operating);
        let peer = self.peer.map_or("nobody".to_owned(), |peer| peer.to_string());
        let at = at.as_secs_f64();
        let mut text = format!("{at:9.3} s  peer {peer}  pfc {paused}  ets {shares}  applications {applications}\n");
        for mismatch in &self.mismatches {
            text.push_str(&format!("             {}: {mismatch}\n", mismatch.name()));
        }
        text
    }
}
