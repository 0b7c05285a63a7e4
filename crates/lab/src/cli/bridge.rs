//! `spb --interface`: a bridge among real ones, or among routers.

#[cfg(not(target_os = "linux"))]
pub fn speak(_: &super::arguments::Spb) -> super::exit::Exit {
    super::console::error("raw sockets of an interface are for Linux only");
    super::exit::Exit::Failure
}

#[cfg(target_os = "linux")]
pub use linux::speak;

#[cfg(target_os = "linux")]
mod linux {
    use crate::cli::arguments::Spb as Arguments;
    use crate::cli::exit::Exit;
    use crate::cli::live::{NAP, now, open};
    use crate::cli::{INTERRUPT, console};
    use control::LARGEST_FRAME;
    use control::isis::{Adjacency, Port, Settings, System, Timers, Topology};
    use lab::interface::{Interface, LLC, wait};
    use serde_json::{Value, json};
    use std::sync::atomic::Ordering;
    use std::time::{Duration, Instant};
    use units::Time;
    use wire::isis::tlv::{Entry, State};
    use wire::isis::{LspId, SystemId};

    /// Frames that are taken from an interface before it is the others' turn.
    const MOST_AT_ONCE: usize = 64;

    /// Speaks on interfaces until interrupted, or for so many seconds, and takes its leave.
    pub fn speak(arguments: &Arguments) -> Exit {
        let names = &arguments.interface;
        if let Some(twice) = (1..names.len()).find(|&at| names[..at].contains(&names[at])) {
            console::error(&format!("the interface '{}' is named twice", names[twice]));
            return Exit::BadInput;
        }
        if arguments.ipv4.len() > names.len() {
            console::error("there are more addresses than interfaces: one --ipv4 for each --interface, in their order");
            return Exit::BadInput;
        }
        let mut interfaces = Vec::new();
        for name in names {
            match open(name, LLC) {
                Ok(interface) => interfaces.push(interface),
                Err(exit) => return exit,
            }
        }
        match converse(&interfaces, arguments) {
            Ok(()) => Exit::Success,
            Err(problem) => {
                console::error(&format!("{}: {problem}", names.join(", ")));
                Exit::Failure
            }
        }
    }

    fn converse(interfaces: &[Interface], arguments: &Arguments) -> std::io::Result<()> {
        let start = Instant::now();
        let own = interfaces.first().map_or([0; 6], |first| first.address().0);
        let settings = Settings { area: arguments.area, ..Settings::new(arguments.system.unwrap_or(own)) };
        let ports = interfaces.iter().enumerate().map(|(at, interface)| Port {
            address: interface.address(),
            metric: arguments.metric,
            ipv4: arguments.ipv4.get(at).map(std::net::Ipv4Addr::octets),
        });
        let mut system = System::new(now(start), settings, ports, Timers::default());
        let mut links = Links { up: vec![true; interfaces.len()], seen: None };
        let mut told: Option<Shown> = None;
        let mut buffer = [0; 2048];
        let over = |at: Time| arguments.seconds.is_some_and(|seconds| at.as_secs_f64() >= seconds as f64);
        while !INTERRUPT.load(Ordering::Relaxed) && !over(now(start)) {
            links.look(interfaces, &mut system, start);
            send_all(interfaces, &mut system, start);
            let shown = Shown::of(&system, &links, now(start));
            if told.as_ref() != Some(&shown) {
                shown.tell(&system, interfaces, now(start), arguments.json);
                told = Some(shown);
            }
            let due = system.poll_at().unwrap_or(Time::MAX).saturating_since(now(start));
            wait(interfaces, Duration::from_nanos(due.as_picos() / 1000 + 1).min(NAP))?;
            for (port, interface) in interfaces.iter().enumerate() {
                // However much comes, it goes on speaking.
                for _ in 0..MOST_AT_ONCE {
                    let Some(length) = interface.try_receive(&mut buffer)? else { break };
                    system.handle_frame(now(start), port, buffer.get(..length).unwrap_or(&buffer));
                }
            }
        }
        let end = now(start);
        if arguments.json {
            Shown::of(&system, &links, end).tell(&system, interfaces, end, true);
        } else {
            let it = system.counters();
            let (hellos, link_states, numbers) = (it.hellos, it.link_states, it.sequence_numbers);
            console::print(&format!(
                "{:9.3} s  sent {hellos} hellos, {link_states} link states, {numbers} sequence numbers; received {}, \
                 refused {}, unfitting {}\n",
                end.as_secs_f64(),
                it.received,
                it.refused + it.malformed,
                it.mismatched + it.from_others
            ));
        }
        system.shut_down(now(start));
        send_all(interfaces, &mut system, start);
        Ok(())
    }

    /// Sends what is due. A link that is down loses it, as a cable would.
    fn send_all(interfaces: &[Interface], system: &mut System, start: Instant) {
        let mut buffer = [0; LARGEST_FRAME];
        while let Some((port, length)) = system.poll_transmit(now(start), &mut buffer) {
            let _ = interfaces[port].send(&buffer[..length]);
        }
    }

    /// Which links are there, looked at now and then.
    struct Links {
        up: Vec<bool>,
        seen: Option<Instant>,
    }

    impl Links {
        fn look(&mut self, interfaces: &[Interface], system: &mut System, start: Instant) {
            if self.seen.is_some_and(|seen| seen.elapsed() < NAP) {
                return;
            }
            self.seen = Some(Instant::now());
            for (port, interface) in interfaces.iter().enumerate() {
                let up = interface.is_up();
                match (self.up[port], up) {
                    (true, false) => system.handle_link_down(now(start), port),
                    (false, true) => system.handle_link_up(now(start), port),
                    _ => {}
                }
                self.up[port] = up;
            }
        }
    }

    /// What is told when it changes.
    #[derive(PartialEq)]
    struct Shown {
        /// Whether the link is there, the neighbour, and how much it has yet to acknowledge.
        ports: Vec<(bool, Option<Adjacency>, usize)>,
        entries: Vec<Entry>,
    }

    impl Shown {
        fn of(system: &System, links: &Links, at: Time) -> Shown {
            // What only the passing of time or a hello changes is no news.
            let steady = |it: &Adjacency| Adjacency { until: Time::ZERO, ..*it };
            let port = |(port, &up)| (up, system.adjacency(port).map(steady), system.unacknowledged(port));
            let entry = |it: Entry| Entry { lifetime: it.lifetime.min(1), ..it };
            Shown {
                ports: links.up.iter().enumerate().map(port).collect(),
                entries: system.entries(at).map(entry).collect(),
            }
        }

        fn tell(&self, system: &System, interfaces: &[Interface], at: Time, json: bool) {
            let names = interfaces.iter().map(Interface::name);
            let text = if json { format!("{}\n", self.json(system, names, at)) } else { self.text(system, names, at) };
            console::print(&text);
        }

        fn text<'a>(&self, system: &System, names: impl Iterator<Item = &'a str>, at: Time) -> String {
            let mut text = String::new();
            let mut time = format!("{:9.3} s", at.as_secs_f64());
            for (name, (up, adjacency, pending)) in names.zip(&self.ports) {
                let neighbour = match adjacency {
                    _ if !up => "the link is down".to_owned(),
                    None => "nobody".to_owned(),
                    Some(it) => format!(
                        "{} at {} {}{}",
                        system_name(it.neighbour),
                        it.address,
                        state_name(it.state),
                        if it.bridge { "" } else { ", no bridge" }
                    ),
                };
                let pending = if *pending == 0 { String::new() } else { format!(", {pending} to acknowledge") };
                text.push_str(&format!("{time}  {name}: {neighbour}{pending}\n"));
                time = " ".repeat(11);
            }
            for it in system.entries(at) {
                let (id, Entry { sequence, checksum, lifetime, .. }) = (lsp_name(it.id), it);
                text.push_str(&format!(
                    "{time}    {id}  sequence {sequence:#010x}  checksum {checksum:#06x}  {lifetime} s\n"
                ));
            }
            for edge in system.topology().edges() {
                let (a, b) = (system_name(edge.a), system_name(edge.b));
                text.push_str(&format!("{time}    link {a} - {b}  cost {}\n", edge.cost));
            }
            text
        }

        fn json<'a>(&self, system: &System, names: impl Iterator<Item = &'a str>, at: Time) -> Value {
            let adjacency = |it: &Adjacency| {
                json!({
                    "system": system_name(it.neighbour),
                    "address": it.address.to_string(),
                    "state": state_name(it.state),
                    "bridge": it.bridge,
                    "same_vlans": it.same_vlans,
                    "same_view": it.same_view,
                })
            };
            let port = |(name, (up, neighbour, pending)): (&str, &(bool, Option<Adjacency>, usize))| {
                json!({
                    "interface": name,
                    "link": up,
                    "neighbour": neighbour.as_ref().map(adjacency),
                    "unacknowledged": pending,
                })
            };
            let link_state = |it: Entry| {
                json!({
                    "id": lsp_name(it.id),
                    "sequence": it.sequence,
                    "checksum": it.checksum,
                    "lifetime_s": it.lifetime,
                    "octets": hexadecimal(system.octets(&it.id).unwrap_or(&[])),
                })
            };
            let counters = system.counters();
            json!({
                "at_s": at.as_secs_f64(),
                "system": system_name(system.settings().id),
                "ports": names.zip(&self.ports).map(port).collect::<Vec<_>>(),
                "link_states": system.entries(at).map(link_state).collect::<Vec<_>>(),
                "graph": graph(&system.topology()),
                "counters": {
                    "hellos": counters.hellos,
                    "link_states": counters.link_states,
                    "sequence_numbers": counters.sequence_numbers,
                    "received": counters.received,
                    "foreign": counters.foreign,
                    "refused": counters.refused,
                    "reflected": counters.reflected,
                    "mismatched": counters.mismatched,
                    "from_others": counters.from_others,
                    "malformed": counters.malformed,
                    "no_room": counters.no_room,
                    "silent": counters.silent,
                    "aged_out": counters.aged_out,
                    "generated": counters.generated,
                },
            })
        }
    }

    fn graph(topology: &Topology) -> Value {
        let bridges: Vec<String> = topology.nodes.iter().map(|it| system_name(it.id)).collect();
        let link = |it: control::isis::Edge| json!({ "a": system_name(it.a), "b": system_name(it.b), "cost": it.cost });
        json!({ "bridges": bridges, "links": topology.edges().map(link).collect::<Vec<_>>() })
    }

    fn hexadecimal(octets: &[u8]) -> String {
        octets.iter().map(|octet| format!("{octet:02x}")).collect()
    }

    fn state_name(state: State) -> &'static str {
        match state {
            State::Up => "up",
            State::Initializing => "initializing",
            State::Down => "down",
        }
    }

    /// As everybody writes it: 0200.0000.0001.
    fn system_name(id: SystemId) -> String {
        let pairs: Vec<String> = id.chunks(2).map(hexadecimal).collect();
        pairs.join(".")
    }

    /// As everybody writes it: 0200.0000.0001.00-00.
    fn lsp_name(id: LspId) -> String {
        let [system @ .., pseudonode, fragment] = id;
        format!("{}.{pseudonode:02x}-{fragment:02x}", system_name(system))
    }
}
