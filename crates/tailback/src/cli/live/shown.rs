//! What a bridge on interfaces shows: neighbours, link-state PDUs and the graph, in records of a bounded size.

use super::{NAP, now};
use control::isis::{Adjacency, System};
use files::text::hexadecimal;
use interface::Interface;
use serde_json::{Value, json};
use std::time::Instant;
use units::Time;
use wire::isis::tlv::{Entry, State};
use wire::isis::{LspId, SystemId};

/// Octets of link-state PDUs in a record, and of the graph; what does not fit is counted.
const LINK_STATES: usize = 192 << 10;
const GRAPH: usize = 64 << 10;

/// Which links are there, looked at now and then.
pub struct Links {
    up: Vec<bool>,
    seen: Option<Instant>,
}

impl Links {
    /// So many, taken to be there.
    pub fn new(count: usize) -> Links {
        Links { up: vec![true; count], seen: None }
    }

    /// Looks at them, and tells the bridge what has changed.
    pub fn look(&mut self, interfaces: &[Interface], system: &mut System, start: Instant) {
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
pub struct Shown {
    /// Whether the link is there, the neighbour, and how much it has yet to acknowledge.
    ports: Vec<(bool, Option<Adjacency>, usize)>,
    /// Of the database.
    revision: u64,
}

impl Shown {
    /// What there is to show now.
    pub fn of(system: &System, links: &Links) -> Shown {
        // What only the passing of time or a hello changes is no news.
        let steady = |it: &Adjacency| Adjacency { until: Time::ZERO, ..*it };
        let port = |(port, &up)| (up, system.adjacency(port).map(steady), system.unacknowledged(port));
        Shown { ports: links.up.iter().enumerate().map(port).collect(), revision: system.revision() }
    }

    /// It as text, or as a line of JSON.
    pub fn record(&self, system: &System, interfaces: &[Interface], at: Time, json: bool) -> String {
        if json { format!("{}\n", self.json(system, interfaces, at)) } else { self.text(system, interfaces, at) }
    }

    fn text(&self, system: &System, interfaces: &[Interface], at: Time) -> String {
        let mut text = String::new();
        let mut time = format!("{:9.3} s", at.as_secs_f64());
        for (interface, (up, adjacency, pending)) in interfaces.iter().zip(&self.ports) {
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
            text.push_str(&format!("{time}  {}: {neighbour}{pending}\n", interface.name()));
            time = " ".repeat(11);
        }
        let link_state = |it: Entry| {
            let (id, Entry { sequence, checksum, lifetime, .. }) = (lsp_name(it.id), it);
            format!("{time}    {id}  sequence {sequence:#010x}  checksum {checksum:#06x}  {lifetime} s\n")
        };
        let link = |it: control::isis::Edge| {
            format!("{time}    link {} - {}  cost {}\n", system_name(it.a), system_name(it.b), it.cost)
        };
        let (lines, more) = within(LINK_STATES, system.entries(at), link_state, String::len);
        text.extend(lines);
        text.push_str(&left_out(&time, more, "link-state PDUs"));
        let topology = system.topology();
        let (lines, more) = within(GRAPH, topology.edges(), link, String::len);
        text.extend(lines);
        text.push_str(&left_out(&time, more, "links"));
        text
    }

    fn json(&self, system: &System, interfaces: &[Interface], at: Time) -> Value {
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
        let port = |(interface, (up, neighbour, pending)): (&Interface, &(bool, Option<Adjacency>, usize))| {
            let arrived = interface.arrived();
            json!({
                "interface": interface.name(),
                "link": up,
                "neighbour": neighbour.as_ref().map(adjacency),
                "unacknowledged": pending,
                "frames": { "read": arrived.read, "dropped": arrived.dropped },
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
        let length = |value: &Value| value.to_string().len() + 1;
        let (link_states, link_states_left_out) = within(LINK_STATES, system.entries(at), link_state, length);
        let counters = system.counters();
        json!({
            "at_s": at.as_secs_f64(),
            "system": system_name(system.settings().id),
            "ports": interfaces.iter().zip(&self.ports).map(port).collect::<Vec<_>>(),
            "link_states": link_states,
            "link_states_left_out": link_states_left_out,
            "graph": graph(system),
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

/// What has come and gone, for people.
pub fn summary(system: &System, interfaces: &[Interface], at: Time) -> String {
    let it = system.counters();
    let (hellos, link_states, numbers) = (it.hellos, it.link_states, it.sequence_numbers);
    let read: u64 = interfaces.iter().map(|it| it.arrived().read).sum();
    let dropped: u64 = interfaces.iter().map(|it| it.arrived().dropped).sum();
    format!(
        "{:9.3} s  sent {hellos} hellos, {link_states} link states, {numbers} sequence numbers; received {}, rejected {}, \
         unfitting {}; {read} frames read, {dropped} dropped unread\n",
        at.as_secs_f64(),
        it.received,
        it.refused + it.malformed,
        it.mismatched + it.from_others
    )
}

fn graph(system: &System) -> Value {
    let topology = system.topology();
    let length = |value: &Value| value.to_string().len() + 1;
    let bridge = |it: &control::isis::Node| Value::from(system_name(it.id));
    let link = |it: control::isis::Edge| json!({ "a": system_name(it.a), "b": system_name(it.b), "cost": it.cost });
    let (bridges, bridges_left_out) = within(GRAPH / 2, topology.nodes.iter(), bridge, length);
    let (links, links_left_out) = within(GRAPH / 2, topology.edges(), link, length);
    json!({
        "bridges": bridges,
        "bridges_left_out": bridges_left_out,
        "links": links,
        "links_left_out": links_left_out,
    })
}

/// As many as fit in so many octets, and how many do not.
fn within<T, S>(
    octets: usize,
    items: impl Iterator<Item = T>,
    show: impl Fn(T) -> S,
    length: impl Fn(&S) -> usize,
) -> (Vec<S>, usize) {
    let (mut shown, mut left_out, mut room) = (Vec::new(), 0, octets);
    for item in items {
        // None after the first that does not fit, so that what is shown has no gaps.
        let fits = (left_out == 0).then(|| show(item)).filter(|it| length(it) <= room);
        match fits {
            Some(it) => {
                room -= length(&it);
                shown.push(it);
            }
            None => left_out += 1,
        }
    }
    (shown, left_out)
}

fn left_out(time: &str, count: usize, what: &str) -> String {
    if count == 0 { String::new() } else { format!("{time}    and {count} more {what}\n") }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_counted_and_leaves_no_gap() {
        let words = ["one", "three", "eleven", "two", "ten"];
        assert_eq!(
            within(14, words.into_iter(), str::to_owned, String::len),
            (vec!["one".into(), "three".into(), "eleven".into()], 2)
        );
        assert_eq!(within(10, words.into_iter(), str::to_owned, String::len), (vec!["one".into(), "three".into()], 3));
        assert_eq!(within(99, words.into_iter(), str::to_owned, String::len).1, 0);
    }
}
