//! Group numbers by (row, host), in little memory: hosts that are reached alike share a column.
//!
//! Hosts on one switch differ in their last hop only, so a fat-tree of 65 536 hosts has 2048 columns. The entry at a
//! host's own switch lies apart from its column. A host whose table is changed gets a column of its own.

/// No row.
const NONE: u32 = u32::MAX;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    rows: usize,
    /// The column of each host.
    of: Vec<u32>,
    /// How many hosts have each column.
    hosts: Vec<u32>,
    /// Column by column, `rows` group numbers each.
    entries: Vec<u16>,
    /// Of each host the row of its own switch, if that has an entry of its own, and the entry.
    last: Vec<(u32, u16)>,
}

impl Columns {
    /// No group for anybody.
    pub(super) fn empty(rows: usize, hosts: usize) -> Columns {
        Columns {
            rows,
            of: vec![0; hosts],
            hosts: vec![hosts as u32],
            entries: vec![0; rows],
            last: vec![(NONE, 0); hosts],
        }
    }

    /// `entries` has `rows` group numbers for each column; a host without a column has no group anywhere.
    pub(super) fn shared(rows: usize, columns: &[Option<usize>], entries: &[u16]) -> Columns {
        let mut made = Columns::empty(rows, columns.len());
        made.entries.extend_from_slice(entries);
        made.hosts.resize(1 + entries.len().checked_div(rows).unwrap_or(0), 0);
        for (host, column) in columns.iter().enumerate() {
            let column = column.map_or(0, |column| column + 1);
            made.of[host] = column as u32;
            made.hosts[0] -= 1;
            made.hosts[column] += 1;
        }
        made
    }

    #[inline]
    pub(super) fn get(&self, row: usize, host: usize) -> u16 {
        match self.last[host] {
            (own, group) if own as usize == row => group,
            _ => self.entries[self.of[host] as usize * self.rows + row],
        }
    }

    /// Which column a host has, and the group numbers in it.
    pub(super) fn column(&self, host: usize) -> (u32, &[u16]) {
        let column = self.of[host] as usize;
        (column as u32, &self.entries[column * self.rows..(column + 1) * self.rows])
    }

    /// The row of a host's own switch and the entry there, if it lies apart.
    pub(super) fn last(&self, host: usize) -> Option<(usize, u16)> {
        let (row, group) = self.last[host];
        (row != NONE).then_some((row as usize, group))
    }

    /// Sets the entry at a host's own switch.
    pub(super) fn set_last(&mut self, row: usize, host: usize, group: u16) {
        self.last[host] = (row as u32, group);
    }

    pub(super) fn set(&mut self, row: usize, host: usize, group: u16) {
        if self.last[host].0 as usize == row {
            self.last[host].1 = group;
            return;
        }
        let mut column = self.of[host] as usize;
        if self.entries[column * self.rows + row] == group {
            return;
        }
        if self.hosts[column] > 1 {
            self.hosts[column] -= 1;
            self.entries.extend_from_within(column * self.rows..(column + 1) * self.rows);
            column = self.hosts.len();
            self.hosts.push(1);
            self.of[host] = column as u32;
        }
        self.entries[column * self.rows + row] = group;
    }

    /// Lets `change` renumber the groups of a row.
    pub(super) fn renumber(&mut self, row: usize, change: impl FnOnce(&mut [u16])) {
        let rows = self.rows;
        let own = |last: &&mut (u32, u16)| last.0 as usize == row;
        let mut numbers: Vec<u16> = self.entries.iter().skip(row).step_by(rows.max(1)).copied().collect();
        numbers.extend(self.last.iter_mut().filter(own).map(|last| last.1));
        change(&mut numbers);
        let places = self.entries.iter_mut().skip(row).step_by(rows.max(1));
        let places = places.chain(self.last.iter_mut().filter(own).map(|last| &mut last.1));
        places.zip(numbers).for_each(|(place, number)| *place = number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a plain table.
        #[test]
        fn behaves_like_a_table(changes in prop::collection::vec((0_usize..4, 0_usize..6, 0_u16..5, 0_u8..8), 0..80)) {
            let homes = [Some(0), Some(0), Some(1), None, Some(1), Some(0)];
            let entries = [1, 2, 3, 0, 4, 4, 0, 1];
            let mut columns = Columns::shared(4, &homes, &entries);
            let start = |row: usize, host: usize| homes[host].map_or(0, |column: usize| entries[column * 4 + row]);
            let mut table: Vec<Vec<u16>> = (0..4).map(|row| (0..6).map(|host| start(row, host)).collect()).collect();
            for (row, host, group, how) in changes {
                match how {
                    0 => {
                        columns.renumber(row, |groups| groups.iter_mut().for_each(|group| *group = (*group + 1) % 5));
                        table[row].iter_mut().for_each(|group| *group = (*group + 1) % 5);
                    }
                    1 if columns.last(host).is_none() => {
                        columns.set_last(row, host, group);
                        table[row][host] = group;
                    }
                    _ => {
                        columns.set(row, host, group);
                        table[row][host] = group;
                    }
                }
                for (row, groups) in table.iter().enumerate() {
                    for (host, &group) in groups.iter().enumerate() {
                        prop_assert_eq!(columns.get(row, host), group);
                    }
                }
            }
            prop_assert!(columns.hosts.iter().sum::<u32>() == 6);
        }
    }
}
