//! Times by cause, and their exact division.

/// No port, or no flow.
pub(crate) const NONE: u32 = u32::MAX;

/// Maximum number of entries of a ledger that name flows. Further flows of a cause are added up without a name.
const MOST_ENTRIES: usize = 1024;

/// What is at the end of a chain of blocked links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Root {
    /// An output that is not blocked: more is sent to it than its link carries.
    Output,
    /// A host that consumes more slowly than its link.
    Receiver,
    /// A failed link.
    Link,
    /// The chain leads back to itself.
    Cycle,
    /// The buffer is empty: its size does not cover the time that credits take to return.
    Credits,
    /// The buffer is empty: the sender has not resumed yet.
    Resume,
}

impl Root {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Root::Output => "output",
            Root::Receiver => "receiver",
            Root::Link => "link",
            Root::Cycle => "cycle",
            Root::Credits => "credits",
            Root::Resume => "resume",
        }
    }
}

/// Why a flow did not advance at an instant, or that it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cause {
    /// Its frames are sent and propagate.
    Path,
    /// Another flow's frame is on the wire that it waits for.
    Contention,
    /// The link that it waits for is paused or lacks credits.
    Blocking(Root),
    /// A frame in front of it, or another frame of its input, goes to another output.
    HeadOfLine(Root),
    /// It waits inside a switch for another reason.
    Crossbar,
    /// A PAUSE, PFC or credit frame is on the wire.
    Signals,
    /// The link that it waits for has failed.
    Link,
    /// Its rate limit.
    Rate,
    /// Its window.
    Window,
    /// A frame is retransmitted.
    Retransmission,
    /// The source waits for acknowledgements or a timeout.
    Recovery,
    /// Its application has nothing to send.
    Application,
    /// Its destination consumes slowly.
    Receiver,
    /// All frames are sent, and some are lost or have not arrived.
    Delivery,
}

impl Cause {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Cause::Path => "path",
            Cause::Contention => "contention",
            Cause::Blocking(_) => "blocking",
            Cause::HeadOfLine(_) => "head-of-line",
            Cause::Crossbar => "crossbar",
            Cause::Signals => "signals",
            Cause::Link => "link-down",
            Cause::Rate => "rate",
            Cause::Window => "window",
            Cause::Retransmission => "retransmission",
            Cause::Recovery => "recovery",
            Cause::Application => "application",
            Cause::Receiver => "receiver",
            Cause::Delivery => "delivery",
        }
    }

    /// The root of blocked time.
    pub(crate) const fn root(self) -> Option<Root> {
        match self {
            Cause::Blocking(root) | Cause::HeadOfLine(root) => Some(root),
            _ => None,
        }
    }
}

/// A cause, where it is, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) cause: Cause,
    /// The output at which it lies; the root of blocked time.
    pub(crate) port: u32,
    /// Of blocked time: the blocked link at whose far end frames wait for the root. Otherwise the output at which the flow
    /// waited.
    pub(crate) via: u32,
    /// The flow whose frames are the cause.
    pub(crate) by: u32,
}

impl Key {
    /// A cause that lies with the flow itself.
    pub(crate) const fn own(cause: Cause) -> Key {
        Key { cause, port: NONE, via: NONE, by: NONE }
    }

    /// A cause at an output of the flow's path.
    pub(crate) const fn at(cause: Cause, port: u32, by: u32) -> Key {
        Key { cause, port, via: port, by }
    }
}

/// Picoseconds by cause, in order of causes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Ledger(Vec<(Key, u64)>);

impl Clone for Ledger {
    fn clone(&self) -> Ledger {
        Ledger(self.0.clone())
    }

    /// Ledgers are copied often: memory is used again.
    fn clone_from(&mut self, other: &Ledger) {
        self.0.clone_from(&other.0);
    }
}

impl Ledger {
    fn find(&self, key: Key) -> Result<usize, usize> {
        self.0.binary_search_by(|(known, _)| known.cmp(&key))
    }

    pub(crate) fn add(&mut self, key: Key, span: u64) {
        if span == 0 {
            return;
        }
        match self.find(key) {
            Ok(place) => self.0[place].1 += span,
            Err(place) if self.0.len() < MOST_ENTRIES || key.by == NONE => self.0.insert(place, (key, span)),
            Err(_) => self.add(Key { by: NONE, ..key }, span),
        }
    }

    /// Takes back what was added.
    pub(crate) fn take_back(&mut self, key: Key, span: u64) {
        let place = self.find(key).or_else(|_| self.find(Key { by: NONE, ..key }));
        if let Ok(place) = place {
            let sum = &mut self.0[place].1;
            *sum = sum.saturating_sub(span);
            if *sum == 0 {
                self.0.remove(place);
            }
        }
    }

    pub(crate) fn total(&self) -> u64 {
        self.0.iter().map(|(_, span)| span).sum()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Key, u64)> + '_ {
        self.0.iter().copied()
    }
}

/// Divides a span in proportion to weights, to the last picosecond: what rounding leaves goes to the first part.
pub(crate) fn split<T: Copy>(span: u64, parts: &[(T, u64)], mut give: impl FnMut(T, u64)) {
    let all: u128 = parts.iter().map(|part| u128::from(part.1)).sum();
    let Some(&(first, _)) = parts.first() else { return };
    let mut left = span;
    for &(part, weight) in &parts[1..] {
        let share = (u128::from(span) * u128::from(weight)).checked_div(all).unwrap_or(0) as u64;
        left -= share;
        if share > 0 {
            give(part, share);
        }
    }
    give(first, left);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_divided_without_a_rest() {
        let divided = |span, parts: &[(u32, u64)]| {
            let mut all = Vec::new();
            split(span, parts, |part, share| all.push((part, share)));
            all.sort_unstable();
            all
        };
        assert_eq!(divided(100, &[(0, 1), (1, 1), (2, 1)]), [(0, 34), (1, 33), (2, 33)]);
        assert_eq!(divided(u64::MAX, &[(0, u64::MAX), (1, 0)]), [(0, u64::MAX)]);
        assert_eq!(divided(7, &[(0, 0), (1, 0)]), [(0, 7)]);
        assert_eq!(divided(7, &[]), []);
    }

    #[test]
    fn a_ledger_keeps_its_total_when_it_stops_naming_flows() {
        let mut ledger = Ledger::default();
        for by in 0..2000 {
            ledger.add(Key::at(Cause::Contention, 3, by), 10);
        }
        assert_eq!((ledger.total(), ledger.iter().count()), (20_000, MOST_ENTRIES + 1));
        for by in 0..2000 {
            ledger.take_back(Key::at(Cause::Contention, 3, by), 10);
        }
        assert_eq!(ledger, Ledger::default());
    }
}
