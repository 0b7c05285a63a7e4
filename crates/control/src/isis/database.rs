//! The link-state PDUs of a system, as received, and their expiry.

use super::Timers;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use units::{Span, Time};
use wire::Writer;
use wire::isis::tlv::Entry;
use wire::isis::{LinkState, LspId, Pdu, Repr, checksum};

/// Maximum length of a PDU that a system creates or forwards (ISO 10589: the size that every link carries).
pub const LARGEST_PDU: usize = 1492;
/// Octets of a link-state PDU without TLVs.
const HEADER: usize = 27;
const LENGTH_AT: usize = 8;
const LIFETIME_AT: usize = 10;

/// A link-state PDU in the database.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    bytes: Vec<u8>,
    sequence: u32,
    checksum: u16,
    /// Expiry: a valid PDU is then purged, a purged one forgotten.
    until: Time,
    dead: bool,
}

/// The order of two versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compared {
    Newer,
    Same,
    Older,
    /// Same sequence number, different content.
    Confused,
}

impl Stored {
    /// Whether it was taken back.
    pub(super) fn is_dead(&self) -> bool {
        self.dead
    }

    /// Returns the octets as received.
    pub(super) fn octets(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the PDU as received.
    pub(super) fn pdu(&self) -> Option<Pdu<'_>> {
        Pdu::parse(&self.bytes).ok()
    }

    fn seconds(&self, now: Time) -> u16 {
        if self.dead {
            return 0;
        }
        let left = self.until.saturating_since(now).as_picos().div_ceil(1_000_000_000_000);
        u16::try_from(left).unwrap_or(u16::MAX).max(1)
    }

    /// Writes the PDU with its remaining lifetime.
    pub(super) fn emit(&self, now: Time, out: &mut Writer) {
        let start = out.position();
        out.bytes(&self.bytes);
        out.patch(start + LIFETIME_AT, &self.seconds(now).to_be_bytes());
    }

    /// Returns its entry in sequence number PDUs.
    pub(super) fn entry(&self, id: LspId, now: Time) -> Entry {
        Entry { lifetime: self.seconds(now), id, sequence: self.sequence, checksum: self.checksum }
    }

    /// Compares it with an entry.
    pub(super) fn compare(&self, entry: &Entry) -> Compared {
        match entry.sequence.cmp(&self.sequence) {
            std::cmp::Ordering::Greater => Compared::Newer,
            std::cmp::Ordering::Less => Compared::Older,
            std::cmp::Ordering::Equal => match (entry.lifetime == 0, self.dead) {
                (true, false) => Compared::Newer,
                (false, true) => Compared::Older,
                (false, false) if entry.checksum != self.checksum => Compared::Confused,
                _ => Compared::Same,
            },
        }
    }
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Database {
    stored: BTreeMap<LspId, Stored>,
    deadlines: BTreeSet<(Time, LspId)>,
    changed: Time,
    /// Grows with every change of content.
    version: u64,
    /// Grows with every change of a stored PDU.
    revision: u64,
}

impl Database {
    /// Returns the time of the last change of content.
    pub(super) fn changed_at(&self) -> Time {
        self.changed
    }

    /// Returns the version of the content.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// Returns the revision of the stored PDUs: a newer version with the same content counts too.
    pub(super) fn revision(&self) -> u64 {
        self.revision
    }

    fn change(&mut self, now: Time) {
        self.changed = now;
        self.version += 1;
    }

    pub(super) fn len(&self) -> usize {
        self.stored.len()
    }

    pub(super) fn get(&self, id: &LspId) -> Option<&Stored> {
        self.stored.get(id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&LspId, &Stored)> {
        self.stored.iter()
    }

    pub(super) fn range(&self, range: RangeInclusive<LspId>) -> impl Iterator<Item = (&LspId, &Stored)> {
        // The map's own range panics where the end is before the start.
        let empty = range.is_empty();
        (!empty).then(|| self.stored.range(range)).into_iter().flatten()
    }

    /// Stores a PDU in place of its former version; of a purge, only the header.
    pub(super) fn store(&mut self, now: Time, state: &LinkState, checksum: u16, bytes: &[u8], timers: &Timers) {
        let dead = state.lifetime == 0;
        let mut bytes = bytes.to_vec();
        let checksum = if dead { cut(&mut bytes) } else { checksum };
        let life = if dead { timers.zero_age } else { Span::from_secs(1) * u64::from(state.lifetime) };
        let until = now.saturating_add(life);
        let meaning = |stored: &Stored| stored.pdu().map(|pdu| meaning(&pdu).to_owned());
        let old = self.take(&state.id);
        let new = Stored { bytes, sequence: state.sequence, checksum, until, dead };
        let alive = |it: &Stored| !it.dead;
        if old.as_ref().filter(|it| alive(it)).and_then(meaning) != Some(&new).filter(|it| alive(it)).and_then(meaning)
        {
            self.change(now);
        }
        self.put(state.id, new);
    }

    /// Takes one back: its header stays for a while, to be flooded.
    pub(super) fn expire(&mut self, now: Time, id: &LspId, timers: &Timers) {
        let Some(mut stored) = self.take(id) else { return };
        if !stored.dead {
            self.change(now);
        }
        stored.dead = true;
        stored.until = now.saturating_add(timers.zero_age);
        stored.checksum = cut(&mut stored.bytes);
        self.put(*id, stored);
    }

    fn put(&mut self, id: LspId, stored: Stored) {
        self.deadlines.insert((stored.until, id));
        self.stored.insert(id, stored);
        self.revision += 1;
    }

    fn take(&mut self, id: &LspId) -> Option<Stored> {
        let stored = self.stored.remove(id)?;
        self.deadlines.remove(&(stored.until, *id));
        self.revision += 1;
        Some(stored)
    }

    /// Returns the time of the next expiry.
    pub(super) fn due(&self) -> Option<Time> {
        self.deadlines.first().map(|&(at, _)| at)
    }

    /// Returns the next expiry by now: forgets a purged PDU; a valid one is returned to be purged.
    pub(super) fn next_end(&mut self, now: Time) -> Option<End> {
        let &(at, id) = self.deadlines.first()?;
        if at > now {
            return None;
        }
        if self.stored.get(&id).is_some_and(|stored| !stored.dead) {
            return Some(End::Aged(id));
        }
        self.take(&id);
        Some(End::Forgotten(id))
    }
}

/// The end of a link-state PDU.
pub(super) enum End {
    /// Its lifetime ended.
    Aged(LspId),
    /// It was purged and is now forgotten.
    Forgotten(LspId),
}

fn write_at(bytes: &mut [u8], at: usize, value: u16) {
    if let Some(place) = bytes.get_mut(at..at + 2) {
        place.copy_from_slice(&value.to_be_bytes());
    }
}

/// Reduces a PDU to its header as a purge, and returns its checksum. A purge needs none, but FRR's isisd rejects a
/// wrong one.
fn cut(bytes: &mut Vec<u8>) -> u16 {
    bytes.truncate(HEADER);
    write_at(bytes, LENGTH_AT, HEADER as u16);
    write_at(bytes, LIFETIME_AT, 0);
    write_at(bytes, checksum::PLACE, 0);
    let sum = checksum::of(bytes);
    write_at(bytes, checksum::PLACE, sum);
    sum
}

/// Returns the content of a PDU without its version: flags and TLVs.
fn meaning<'a>(pdu: &Pdu<'a>) -> &'a [u8] {
    match pdu.repr {
        Repr::LinkState(_) => pdu.bytes().get(HEADER - 1..).unwrap_or(&[]),
        _ => &[],
    }
}
