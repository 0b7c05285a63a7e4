//! A bridge that speaks IS-IS on interfaces.

use super::outlet::Outlet;
use super::shown::{Links, Shown, summary};
use super::{NAP, now, open};
use crate::cli::arguments::Spb as Arguments;
use crate::cli::exit::Exit;
use crate::cli::{INTERRUPT, console};
use control::LARGEST_FRAME;
use control::isis::{Port, Settings, System, Timers};
use interface::{Interface, Wanted, wait};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use units::Time;

/// Frames that are taken from an interface before it is the others' turn: fewer than a PDU can acknowledge.
const MOST_AT_ONCE: usize = 64;

/// Speaks on interfaces until interrupted, or for so many seconds, and takes its leave.
pub fn speak(arguments: &Arguments) -> Exit {
    let names = &arguments.interface;
    if let Some(twice) = (1..names.len()).find(|&at| names[..at].contains(&names[at])) {
        console::error(&format!("the interface '{}' is named twice", names[twice]));
        return Exit::BadInput;
    }
    if arguments.ipv4.len() > names.len() {
        console::error(
            "there are more addresses than interfaces; give one --ipv4 for each --interface, in the same order",
        );
        return Exit::BadInput;
    }
    let mut interfaces = Vec::new();
    for name in names {
        // Hellos have a queue of their own: whatever else a neighbour sends, it is known to be there.
        match open(name, &[Wanted::IsIsHellos, Wanted::IsIsOthers]) {
            Ok(interface) => interfaces.push(interface),
            Err(exit) => return exit,
        }
    }
    match converse(&mut interfaces, arguments) {
        Ok(()) => Exit::Success,
        Err(problem) => {
            console::error(&format!("{}: {problem}", names.join(", ")));
            Exit::Failure
        }
    }
}

fn converse(interfaces: &mut [Interface], arguments: &Arguments) -> std::io::Result<()> {
    let start = Instant::now();
    let own = interfaces.first().map_or([0; 6], |first| first.address().0);
    let settings = Settings { area: arguments.area, ..Settings::new(arguments.system.unwrap_or(own)) };
    let ports = interfaces.iter().enumerate().map(|(at, interface)| Port {
        address: interface.address(),
        metric: arguments.metric,
        ipv4: arguments.ipv4.get(at).map(std::net::Ipv4Addr::octets),
    });
    let mut system = System::new(now(start), settings, ports, Timers::default());
    let mut links = Links::new(interfaces.len());
    let mut outlet = Outlet::new(std::io::stdout());
    let mut told: Option<Shown> = None;
    let over = |at: Time| arguments.seconds.is_some_and(|seconds| at.as_secs_f64() >= seconds as f64);
    let mut ended = Ok(());
    while ended.is_ok() && !INTERRUPT.load(Ordering::Relaxed) && !over(now(start)) {
        links.look(interfaces, &mut system, start);
        send_all(interfaces, &mut system, start);
        let shown = Shown::of(&system, &links);
        if told.as_ref() != Some(&shown) && outlet.is_ready(Instant::now()) {
            outlet.put(Instant::now(), shown.record(&system, interfaces, now(start), arguments.json));
            told = Some(shown);
        }
        let due = system.poll_at().unwrap_or(Time::MAX).saturating_since(now(start));
        let patience = Duration::from_nanos(due.as_picos() / 1000 + 1).min(NAP);
        ended = outlet.problem().map_or(Ok(()), Err).and_then(|()| wait(interfaces, patience)).and_then(|()| {
            // However much comes, it goes on speaking.
            let take = |(port, interface): (usize, &mut Interface)| {
                interface.take(MOST_AT_ONCE, |frame| system.handle_frame(now(start), port, frame))
            };
            interfaces.iter_mut().enumerate().try_for_each(take)
        });
    }
    let (end, shown) = (now(start), Shown::of(&system, &links));
    let mut last = String::new();
    if arguments.json || told.as_ref() != Some(&shown) {
        last.push_str(&shown.record(&system, interfaces, end, arguments.json));
    }
    if !arguments.json {
        last.push_str(&summary(&system, interfaces, end));
    }
    system.shut_down(now(start));
    send_all(interfaces, &mut system, start);
    ended.and(outlet.close(last))
}

/// Sends what is due. A link that is down loses it, as a cable would.
fn send_all(interfaces: &[Interface], system: &mut System, start: Instant) {
    let mut buffer = [0; LARGEST_FRAME];
    while let Some((port, length)) = system.poll_transmit(now(start), &mut buffer) {
        let _ = interfaces[port].send(&buffer[..length]);
    }
}
