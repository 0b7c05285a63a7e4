//! Resolution of names and patterns to indices, with a remedy for unknown names.

use crate::key::near;
use crate::pattern::{Pattern, Unmatched};
use crate::resolve::Gathered;
use crate::source::Place;
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

/// Names that are indexed when the first is sought.
pub(crate) type LazyNames<'a> = LazyCell<Names<'a>, Box<dyn FnOnce() -> Names<'a> + 'a>>;

/// All names of one kind, in the order of their indices.
pub(crate) struct Names<'a> {
    what: &'static str,
    all: Vec<&'a str>,
    index: BTreeMap<&'a str, u32>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(what: &'static str, names: impl Iterator<Item = &'a str>) -> Names<'a> {
        let all: Vec<&str> = names.collect();
        let index = (0..).zip(&all).map(|(number, name)| (*name, number)).collect();
        Names { what, all, index }
    }

    /// Returns the number of names.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn name(&self, number: u32) -> &'a str {
        self.all.get(number as usize).copied().unwrap_or("?")
    }

    /// Returns the index of a name; reports nothing if there is none.
    pub(crate) fn find(&self, name: &str) -> Option<u32> {
        self.index.get(name).copied()
    }

    /// Returns the index of a name. The name of a default has no position; that of its section is used.
    pub(crate) fn one(&self, gathered: &mut Gathered<'_>, name: &str, place: Place) -> Option<u32> {
        let found = self.index.get(name).copied();
        if found.is_none() {
            gathered.refuse(place, format!("there is no {} `{name}`", self.what), self.remedy(name));
        }
        found
    }

    /// Returns the indices that match a pattern, in ascending order; reports nothing if there are none.
    pub(crate) fn matching(&self, pattern: &Pattern) -> Vec<u32> {
        match pattern.literal() {
            Some(name) => self.index.get(name).copied().into_iter().collect(),
            None => (0..).zip(&self.all).filter(|(_, name)| pattern.matches(name)).map(|(number, _)| number).collect(),
        }
    }

    /// Returns the indices that match the patterns, in the order of the patterns, each once.
    pub(crate) fn select(
        &self,
        gathered: &mut Gathered<'_>,
        patterns: &[(String, Place)],
        fallback: Place,
    ) -> Option<Vec<u32>> {
        let (mut chosen, mut seen, mut good) = (Vec::new(), BTreeSet::new(), true);
        for (text, place) in patterns {
            let place = if place.source == u32::MAX { fallback } else { *place };
            match self.pattern(gathered, text, place) {
                Some(found) => chosen.extend(found.into_iter().filter(|&number| seen.insert(number))),
                None => good = false,
            }
        }
        good.then_some(chosen)
    }

    fn pattern(&self, gathered: &mut Gathered<'_>, text: &str, place: Place) -> Option<Vec<u32>> {
        let pattern = match Pattern::parse(text) {
            Ok(pattern) => pattern,
            Err(reason) => {
                gathered.refuse(place, reason, "");
                return None;
            }
        };
        let found = self.matching(&pattern);
        if found.is_empty() {
            match pattern.literal() {
                Some(name) => gathered.refuse(place, format!("there is no {} `{name}`", self.what), self.remedy(name)),
                None => gathered.refuse(place, format!("`{text}` matches no {}", self.what), self.known()),
            }
            return None;
        }
        // Whoever counts on 183 senders should not get 24 of them.
        if let Some(Unmatched { first, missing, all }) = pattern.unmatched(found.iter().map(|&n| self.name(n))) {
            let message = format!("`{text}` includes {} `{first}`, which does not exist", self.what);
            let help = format!("{missing} of its {all} names do not exist; {}", self.known());
            gathered.refuse(place, message, help);
            return None;
        }
        Some(found)
    }

    fn remedy(&self, name: &str) -> String {
        // Comparing with very many names is not worth the time.
        let like = if self.all.len() <= 5000 { near(name, self.all.iter().copied()) } else { None };
        // Where only the number is wrong, no other number is likelier than the rest.
        let stem = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
        match like.filter(|like| stem(like) != stem(name)) {
            Some(like) => format!("did you mean `{like}`?"),
            None => self.known(),
        }
    }

    fn known(&self) -> String {
        match self.all.as_slice() {
            [] => format!("the scenario has no {}", self.what),
            [only] => format!("the only one is {only}"),
            few if few.len() <= 8 => format!("there are {}", few.join(", ")),
            [first, second, .., last] => format!("there are {first}, {second}, ... {last}"),
            _ => String::new(),
        }
    }
}
