//! The neighbours on a link: one peer is known in full; of the others, only their presence and expiry.

use units::Time;
use wire::lldp::Identifier;

/// Octets of two identifiers with their subtypes and lengths.
const LONGEST: usize = 2 * (2 + 255);
/// Neighbours that can be identified.
const APART: usize = 4;

/// Chassis and port of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    octets: [u8; LONGEST],
}

impl Identity {
    pub(crate) fn new(chassis: &Identifier, port: &Identifier) -> Identity {
        let mut octets = [0; LONGEST];
        let (first, second) = octets.split_at_mut(LONGEST / 2);
        for (room, identifier) in [(first, chassis), (second, port)] {
            let value = identifier.value();
            // An identifier has at most 255 octets, so both always fit.
            if let [subtype, length, rest @ ..] = room
                && let Some(rest) = rest.get_mut(..value.len())
            {
                (*subtype, *length) = (identifier.subtype(), value.len() as u8);
                rest.copy_from_slice(value);
            }
        }
        Identity { octets }
    }

    /// FNV-1a: sufficient to distinguish a few neighbours.
    fn digest(&self) -> u64 {
        self.octets
            .iter()
            .fold(0xCBF2_9CE4_8422_2325, |hash, &octet| (hash ^ u64::from(octet)).wrapping_mul(0x0000_0100_0000_01B3))
    }
}

/// Neighbours beside the one that is known.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Others {
    known: [Option<(u64, Time)>; APART],
    /// Until when there are neighbours that could not be identified.
    beyond: Option<Time>,
}

impl Others {
    /// Another was heard, and is to be believed until then.
    pub(crate) fn hear(&mut self, identity: &Identity, until: Time) {
        let digest = identity.digest();
        let place = self.known.iter().position(|entry| entry.is_some_and(|(known, _)| known == digest));
        match place.or_else(|| self.known.iter().position(Option::is_none)) {
            Some(place) => self.known[place] = Some((digest, until)),
            None => self.beyond = self.beyond.max(Some(until)),
        }
    }

    /// One has left, or is the known one now.
    pub(crate) fn forget(&mut self, identity: &Identity) {
        let digest = identity.digest();
        self.known.iter_mut().filter(|entry| entry.is_some_and(|(known, _)| known == digest)).for_each(|it| *it = None);
    }

    /// Forgets those that have been silent for too long.
    pub(crate) fn age(&mut self, now: Time) {
        self.known.iter_mut().filter(|entry| entry.is_some_and(|(_, until)| until <= now)).for_each(|it| *it = None);
        self.beyond = self.beyond.filter(|&until| until > now);
    }

    /// Returns the minimum number of other neighbours.
    pub(crate) fn count(&self) -> usize {
        self.known.iter().flatten().count() + usize::from(self.beyond.is_some())
    }

    /// Returns the time at which the first of them expires.
    pub(crate) fn due(&self) -> Option<Time> {
        self.known.iter().flatten().map(|&(_, until)| until).chain(self.beyond).min()
    }
}
