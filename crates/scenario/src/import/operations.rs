//! Operations of ranks that wait for each other, as messages that wait for others.
//!
//! A rank computes, sends and receives. A host of a scenario only sends, so a message waits for everything that its
//! operation waits for: messages that end or start at the same host, and the time that is computed after them. A message
//! starts at the latest of several instants, each a message's completion and a delay.

use super::Work;
use super::write::Message;
use crate::source::Place;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use units::Span;

/// An operation of a rank.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) rank: u32,
    pub(super) kind: Kind,
    pub(super) place: Place,
    /// Name of its message; may be empty.
    pub(super) name: String,
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Takes so long.
    Compute(Span),
    /// Sends a message.
    Send { to: u32, bytes: u64, tag: u64 },
    /// Waits for a message. `None` is any.
    Receive { from: Option<u32>, bytes: u64, tag: Option<u64> },
}

/// Operations and what they wait for.
#[derive(Debug, Default)]
pub(super) struct Operations {
    all: Vec<Operation>,
    /// Of each operation: the others that it waits for, and whether for their start only.
    needs: Vec<Vec<(u32, bool)>>,
}

/// Maximum number of pairs of a message and one that it waits for.
const MOST_PAIRS: usize = 50_000_000;
/// The most operations of a cycle that a message names.
const MOST_NAMED: usize = 8;

/// The instant at which something is possible: the latest of a time, and of messages and a delay after each, which are
/// ascending.
#[derive(Clone, Debug, Default)]
struct Instant {
    from: Span,
    after: Vec<(u32, Span)>,
}

/// The sum of both, bounded.
fn plus(a: Span, b: Span) -> Span {
    Span::from_picos(a.as_picos().saturating_add(b.as_picos()).min(u64::MAX / 4))
}

impl Instant {
    /// The later of both.
    fn join(&mut self, other: &Instant) {
        self.from = self.from.max(other.from);
        if self.after.is_empty() {
            self.after.clone_from(&other.after);
            return;
        }
        for &(message, delay) in &other.after {
            match self.after.binary_search_by_key(&message, |(message, _)| *message) {
                Ok(place) => self.after[place].1 = self.after[place].1.max(delay),
                Err(place) => self.after.insert(place, (message, delay)),
            }
        }
    }

    /// So much later.
    fn later(mut self, span: Span) -> Instant {
        // Behind a message, time zero is no limit.
        if self.after.is_empty() || self.from > Span::ZERO {
            self.from = plus(self.from, span);
        }
        for (_, delay) in &mut self.after {
            *delay = plus(*delay, span);
        }
        self
    }

    /// Leaves out what an awaited message of the same rank has waited for itself.
    fn shorten(&mut self, messages: &[Message], rank: u32) {
        if self.after.len() < 2 {
            return;
        }
        let mut idle = vec![false; self.after.len()];
        for &(message, delay) in &self.after {
            let own = &messages[message as usize];
            if own.source != u64::from(rank) {
                continue;
            }
            for &(earlier, before) in &own.after {
                if let Ok(place) = self.after.binary_search_by_key(&earlier, |(message, _)| *message) {
                    idle[place] |= self.after[place].1 <= plus(before, delay);
                }
            }
        }
        let mut idle = idle.iter();
        self.after.retain(|_| !idle.next().is_some_and(|idle| *idle));
    }
}

impl Operations {
    /// Adds an operation; it may start at time zero.
    pub(super) fn add(&mut self, operation: Operation) -> u32 {
        self.all.push(operation);
        self.needs.push(Vec::new());
        (self.all.len() - 1) as u32
    }

    /// One operation starts when another of its rank is complete or, with `started`, has started.
    pub(super) fn require(&mut self, operation: u32, other: u32, started: bool) {
        self.needs[operation as usize].push((other, started));
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// The messages, in the order of the operations that send them, and the latest start of all if the network took no
    /// time. What is wrong is reported.
    pub(super) fn messages(mut self, work: &mut Work) -> Option<(Vec<Message>, Span)> {
        let partners = self.partners(work)?;
        self.keep_local(work, &partners);
        let mut number = vec![u32::MAX; self.all.len()];
        let mut messages = Vec::new();
        for (at, operation) in self.all.iter().enumerate() {
            if let Kind::Send { to, bytes, .. } = operation.kind {
                number[at] = messages.len() as u32;
                messages.push(Message {
                    source: u64::from(operation.rank),
                    destination: u64::from(to),
                    bytes,
                    start: Span::ZERO,
                    name: operation.name.clone(),
                    after: Vec::new(),
                });
            }
        }
        // A receive is behind the message that it waits for.
        for (at, operation) in self.all.iter().enumerate() {
            if matches!(operation.kind, Kind::Receive { .. }) {
                number[at] = number[partners[at] as usize];
            }
        }
        let latest = self.order(work, &partners, &number, &mut messages)?;
        Some((messages, latest))
    }

    /// Of each send its receive, and the other way round.
    fn partners(&self, work: &mut Work) -> Option<Vec<u32>> {
        let mut partners = vec![u32::MAX; self.all.len()];
        // Sends by source, destination and tag, in order.
        let mut sends: BTreeMap<(u32, u32, u64), VecDeque<u32>> = BTreeMap::new();
        for (at, operation) in (0..).zip(&self.all) {
            if let Kind::Send { to, tag, .. } = operation.kind {
                sends.entry((operation.rank, to, tag)).or_default().push_back(at);
            }
        }
        // Receives that name source and tag choose first, then those that name one of them, then the others.
        let (mut guessed, mut sizes) = (0_u64, 0_u64);
        for open in 0..3 {
            for (at, operation) in (0..).zip(&self.all) {
                let Kind::Receive { from, bytes, tag } = operation.kind else { continue };
                if usize::from(from.is_none()) + usize::from(tag.is_none()) != open {
                    continue;
                }
                let found = match (from, tag) {
                    (Some(from), Some(tag)) => {
                        sends.get_mut(&(from, operation.rank, tag)).and_then(VecDeque::pop_front)
                    }
                    _ => {
                        guessed += 1;
                        let fits = |(source, to, with): &(u32, u32, u64)| {
                            *to == operation.rank
                                && from.is_none_or(|from| from == *source)
                                && tag.is_none_or(|tag| tag == *with)
                        };
                        let queue = sends.iter_mut().filter(|(key, queue)| fits(key) && !queue.is_empty());
                        let first = queue.min_by_key(|(_, queue)| queue.front().copied());
                        first.and_then(|(_, queue)| queue.pop_front())
                    }
                };
                let Some(send) = found else {
                    let help = "add the send of the other rank, or remove this one";
                    work.refuse(operation.place, "no rank sends the message that this operation receives", help);
                    if work.is_hopeless() {
                        return None;
                    }
                    continue;
                };
                if let Kind::Send { bytes: sent, .. } = self.all[send as usize].kind {
                    sizes += u64::from(sent != bytes);
                }
                partners[at as usize] = send;
                partners[send as usize] = at;
            }
        }
        for send in sends.values().flatten() {
            if work.is_hopeless() {
                break;
            }
            let operation = &self.all[*send as usize];
            let help = "add the receive of the other rank, or remove this one";
            work.refuse(operation.place, "no rank receives the message that this operation sends", help);
        }
        if guessed > 0 {
            let meaning = format!(
                "{guessed} receives from any source or with any tag take the messages that are left in the order of the \
                 input; during a run, whichever came first would count"
            );
            work.note("receive", meaning);
        }
        if sizes > 0 {
            work.note(
                "size",
                format!("{sizes} messages are sent and received with different sizes: the sender's counts"),
            );
        }
        work.problems.is_empty().then_some(partners)
    }

    /// Messages of a rank to itself take no time, and empty ones have a byte.
    fn keep_local(&mut self, work: &mut Work, partners: &[u32]) {
        let (mut local, mut empty) = (0_u64, 0_u64);
        for (at, &receive) in partners.iter().enumerate() {
            let rank = self.all[at].rank;
            match &mut self.all[at].kind {
                Kind::Send { to, .. } if *to == rank => {
                    self.require(receive, at as u32, true);
                    self.all[receive as usize].kind = Kind::Compute(Span::ZERO);
                    self.all[at].kind = Kind::Compute(Span::ZERO);
                    local += 1;
                }
                Kind::Send { bytes: bytes @ 0, .. } => {
                    *bytes = 1;
                    empty += 1;
                }
                _ => {}
            }
        }
        if local > 0 {
            work.note("send", format!("{local} messages of a rank to itself take no time"));
        }
        if empty > 0 {
            work.note("send", format!("{empty} messages of 0 bytes have 1 byte here"));
        }
    }

    /// Finds out what each message waits for, one operation after the other.
    fn order(&self, work: &mut Work, partners: &[u32], number: &[u32], messages: &mut [Message]) -> Option<Span> {
        let count = self.all.len();
        let is_receive = |at: usize| matches!(self.all[at].kind, Kind::Receive { .. });
        // Operations that must be known before another one, and how many are not.
        let mut open = vec![0_u32; count];
        let mut next: Vec<Vec<u32>> = vec![Vec::new(); count];
        for (at, needs) in self.needs.iter().enumerate() {
            let sender = Some((partners[at], true)).filter(|_| is_receive(at));
            for (other, _) in needs.iter().copied().chain(sender) {
                next[other as usize].push(at as u32);
                open[at] += 1;
            }
        }
        // When an operation may start and is complete, as long as others want to know.
        let mut known: Vec<Option<(Rc<Instant>, Rc<Instant>)>> = vec![None; count];
        let mut wanted: Vec<u32> = next.iter().map(|next| next.len() as u32).collect();
        let mut ready: VecDeque<u32> = (0..count as u32).filter(|&at| open[at as usize] == 0).collect();
        let (mut done, mut pairs) = (0, 0);
        // Starts of messages if the network took no time.
        let mut starts = vec![Span::ZERO; messages.len()];
        while let Some(at) = ready.pop_front() {
            let at = at as usize;
            done += 1;
            let mut start = Instant::default();
            for &(other, started) in &self.needs[at] {
                if let Some((begin, end)) = &known[other as usize] {
                    start.join(if started { begin } else { end });
                }
            }
            start.shorten(messages, self.all[at].rank);
            let end = match self.all[at].kind {
                Kind::Compute(span) => start.clone().later(span),
                Kind::Send { .. } => {
                    pairs += start.after.len();
                    let message = &mut messages[number[at] as usize];
                    (message.start, message.after) = (start.from, start.after.clone());
                    let after = start.after.iter().map(|&(other, delay)| plus(starts[other as usize], delay));
                    starts[number[at] as usize] = after.fold(start.from, Span::max);
                    Instant { from: Span::ZERO, after: vec![(number[at], Span::ZERO)] }
                }
                Kind::Receive { .. } => {
                    let mut end = start.clone();
                    end.join(&Instant { from: Span::ZERO, after: vec![(number[at], Span::ZERO)] });
                    end
                }
            };
            if pairs > MOST_PAIRS {
                let help = "import a part of the schedule";
                work.refuse(self.all[at].place, "messages wait for more than 50 million others", help);
                return None;
            }
            known[at] = Some((Rc::new(start), Rc::new(end)));
            let sender = Some((partners[at], true)).filter(|_| is_receive(at));
            for (other, _) in self.needs[at].iter().copied().chain(sender) {
                wanted[other as usize] -= 1;
                if wanted[other as usize] == 0 {
                    known[other as usize] = None;
                }
            }
            for &behind in &next[at] {
                open[behind as usize] -= 1;
                if open[behind as usize] == 0 {
                    ready.push_back(behind);
                }
            }
        }
        if done < count {
            self.refuse_cycle(work, partners, &open);
            return None;
        }
        Some(starts.into_iter().max().unwrap_or_default())
    }

    /// Operations wait for each other: says which.
    fn refuse_cycle(&self, work: &mut Work, partners: &[u32], open: &[u32]) {
        let held = |at: u32| open[at as usize] > 0;
        let Some(mut at) = (0..open.len() as u32).find(|&at| held(at)) else { return };
        let mut met = vec![u32::MAX; open.len()];
        let mut walk: Vec<u32> = Vec::new();
        while met[at as usize] == u32::MAX {
            met[at as usize] = walk.len() as u32;
            walk.push(at);
            let receives = matches!(self.all[at as usize].kind, Kind::Receive { .. });
            let needs = self.needs[at as usize].iter().map(|(other, _)| *other);
            let sender = Some(partners[at as usize]).filter(|_| receives);
            match needs.chain(sender).find(|&other| held(other)) {
                Some(other) => at = other,
                None => return,
            }
        }
        let cycle = &walk[met[at as usize] as usize..];
        let name = |at: &u32| {
            let operation = &self.all[*at as usize];
            match operation.name.as_str() {
                "" => format!("an operation of rank {}", operation.rank),
                name => name.to_owned(),
            }
        };
        let mut names: Vec<String> = cycle.iter().take(MOST_NAMED).map(name).collect();
        if cycle.len() > MOST_NAMED {
            names.push(format!("{} more", cycle.len() - MOST_NAMED));
        }
        names.extend(cycle.first().map(name));
        let message = format!("operations wait for each other: {}", names.join(" waits for "));
        work.refuse(self.all[cycle[0] as usize].place, message, "remove one of these dependencies");
    }
}
