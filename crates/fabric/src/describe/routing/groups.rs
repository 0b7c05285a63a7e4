//! The distinct port lists of one switch, each kept once.

/// Port lists of a switch, numbered from 0; number 0 is the empty list.
///
/// Lists lie end to end in one vector, so the simulator can copy them with two moves.
#[derive(Clone, Debug)]
pub struct Groups {
    port_count: u16,
    /// Where each list ends in `lists`. Empty until something is interned, and then number 0 ends at 0.
    ends: Vec<u32>,
    lists: Vec<u16>,
    /// Group numbers in the order of their lists, for search.
    sorted: Vec<u16>,
}

impl Groups {
    /// Nothing yet, for a switch of that many ports.
    pub(super) const fn new(port_count: u16) -> Groups {
        Groups { port_count, ends: Vec::new(), lists: Vec::new(), sorted: Vec::new() }
    }

    /// How many ports the switch has.
    #[must_use]
    pub fn port_count(&self) -> u16 {
        self.port_count
    }

    /// How many lists there are; the empty one counts once any other is there.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no list but the empty one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// The ports of that group, ascending or one for each tree; empty for a number that stands for nothing.
    #[inline]
    #[must_use]
    pub fn ports(&self, group: u16) -> &[u16] {
        let group = usize::from(group);
        match self.ends.get(group) {
            // Number 0 is the empty list, so there is one before every other.
            Some(&end) if group > 0 => &self.lists[self.ends[group - 1] as usize..end as usize],
            _ => &[],
        }
    }

    /// All lists in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &[u16]> {
        (0..=u16::MAX).take(self.len()).map(|group| self.ports(group))
    }

    /// The number of that list, which is new if need be; `None` if all numbers are taken.
    pub(super) fn intern(&mut self, ports: &[u16]) -> Option<u16> {
        if ports.is_empty() {
            return Some(0);
        }
        match self.sorted.binary_search_by(|&group| self.ports(group).cmp(ports)) {
            Ok(place) => Some(self.sorted[place]),
            Err(place) => {
                if self.ends.is_empty() {
                    self.ends.push(0);
                }
                let group = u16::try_from(self.ends.len()).ok()?;
                let end = u32::try_from(self.lists.len() + ports.len()).ok()?;
                self.lists.extend_from_slice(ports);
                self.ends.push(end);
                self.sorted.insert(place, group);
                Some(group)
            }
        }
    }

    /// Drops the lists that no entry uses and renumbers the entries.
    pub(super) fn compact(&mut self, entries: &mut [u16]) {
        let old = std::mem::replace(self, Groups::new(self.port_count));
        for entry in entries {
            *entry = self.intern(old.ports(*entry)).expect("no more groups than before");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_lists_share_a_number() {
        let mut groups = Groups::new(4);
        assert_eq!(groups.intern(&[]), Some(0));
        assert_eq!(groups.intern(&[2, 3]), Some(1));
        assert_eq!(groups.intern(&[1]), Some(2));
        assert_eq!(groups.intern(&[2, 3]), Some(1));
        assert_eq!(groups.len(), 3);
        assert_eq!(groups.iter().collect::<Vec<_>>(), [&[][..], &[2, 3], &[1]]);
        assert_eq!(groups.ports(9), []);
    }

    #[test]
    fn a_full_switch_gives_up_what_nobody_uses() {
        let mut groups = Groups::new(u16::MAX);
        let mut made: u32 = 1;
        'fill: for a in 0..u16::MAX {
            for b in a + 1..u16::MAX {
                if groups.intern(&[a, b]).is_none() {
                    break 'fill;
                }
                made += 1;
            }
        }
        assert_eq!(made, 65_536);
        let mut entries = [0, 700, 65_535, 700];
        let kept: Vec<Vec<u16>> = entries.iter().map(|&group| groups.ports(group).to_vec()).collect();
        groups.compact(&mut entries);
        assert_eq!(groups.len(), 3);
        assert_eq!(entries.map(|group| groups.ports(group).to_vec()).to_vec(), kept);
    }
}
