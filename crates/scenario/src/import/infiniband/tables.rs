//! Forwarding tables as opensm and dump_lfts write them: a section for each switch, a port for each local identifier.

use super::super::{NamedText, Work};
use crate::source::Place;
use std::collections::BTreeMap;

/// The table of a switch: the port of each local identifier, with the place of the entry.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) guid: u64,
    pub(super) entries: BTreeMap<u32, (u32, Place)>,
    pub(super) place: Place,
}

/// Reads the tables, in the order of the file.
pub(super) fn read(work: &mut Work, file: NamedText<'_>) -> Vec<Table> {
    let source = work.add(file);
    let mut tables: Vec<Table> = Vec::new();
    // Whether the last table has its closing line.
    let mut closed = true;
    let mut at = 0;
    for line in file.text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let text = line.trim();
        if text.is_empty() || text.starts_with('#') || work.is_hopeless() {
            continue;
        }
        let place = Place { source, start: start as u32, end: (start + line.trim_end().len()) as u32 };
        if text.starts_with("Unicast lids") {
            unclosed(work, &tables, closed);
            closed = false;
            let guid = text.split_whitespace().skip_while(|word| *word != "guid").nth(1).and_then(hexadecimal);
            match guid {
                Some(guid) if tables.iter().any(|table| table.guid == guid) => {
                    work.refuse(place, format!("the table of switch 0x{guid:016x} is there twice"), "keep one of them");
                }
                Some(guid) => tables.push(Table { guid, entries: BTreeMap::new(), place }),
                None => work.refuse(place, "the switch of this table has no guid", "give the dump of opensm as it is"),
            }
        } else if text.ends_with("lids dumped") {
            closed = true;
            let stated = text.strip_suffix("valid lids dumped").and_then(|count| count.trim().parse::<usize>().ok());
            let found = tables.last().map_or(0, |table| table.entries.len());
            if let Some(stated) = stated.filter(|stated| *stated != found) {
                let message = format!("this table states {stated} entries, but has {found}");
                work.refuse(place, message, "give the whole dump");
            }
        } else {
            // Some versions say where an identifier leads before the comment, others have a title above the entries.
            let mut words = text.split_whitespace();
            let lid = words.next().filter(|word| word.starts_with("0x")).and_then(hexadecimal);
            let port = words.next().and_then(|word| word.trim_end_matches(':').parse::<u32>().ok());
            match (lid, port, tables.last_mut()) {
                (Some(lid), Some(port), Some(table)) if lid <= 0xBFFF => {
                    table.entries.insert(lid as u32, (port, place));
                }
                (None, _, _) if ["Lid", "Port", "Info"].iter().any(|title| text.starts_with(title)) => {}
                _ => work.refuse(place, "this line is not an entry of a forwarding table", "give the dump as it is"),
            }
        }
    }
    unclosed(work, &tables, closed);
    if tables.is_empty() && work.problems.is_empty() {
        let place = Place { source, start: 0, end: 0 };
        work.refuse(
            place,
            "there are no forwarding tables in this file",
            "give opensm-lfts.dump, or the output of dump_lfts",
        );
    }
    tables
}

fn unclosed(work: &mut Work, tables: &[Table], closed: bool) {
    if let Some(table) = tables.last().filter(|_| !closed) {
        let message = format!("the table of switch 0x{:016x} has no end: the file is truncated", table.guid);
        work.refuse(table.place, message, "give the whole dump");
    }
}

fn hexadecimal(word: &str) -> Option<u64> {
    u64::from_str_radix(word.strip_prefix("0x")?.trim_end_matches(|c: char| !c.is_ascii_hexdigit()), 16).ok()
}
