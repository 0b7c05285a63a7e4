//! Size limit of a report's data, regardless of the number of runs.
//!
//! The series drawn in figures are added first, then all series of as many runs as fit. The longest series of a run is
//! repeatedly merged over twice the time until all fit; series that still do not fit are omitted. The report states the
//! treatment of every table.

use super::page::Blocks;
use super::run::{About, Sought, about};
use super::series::{Gathered, Packed, gather};
use results::{Results, ResultsError, deflated};
use serde_json::{Map, Value, json};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Default size of a report's data in bytes.
pub const MOST_BYTES: u64 = 15_000_000;

/// Minimum share in bytes of a run that can be explored; runs that need it and do not get it are omitted.
pub(super) const LEAST_BYTES: u64 = 200_000;

/// Maximum size in bytes of the deflated list of a run's series.
const LIST_BYTES: u64 = 2_000;

/// Options for writing a report.
pub struct Making<'a> {
    /// Maximum size of its data in bytes.
    pub size: u64,
    /// Number of threads. It does not affect the result.
    pub threads: usize,
    /// Called with the number of finished parts and of all parts.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
}

impl Making<'_> {
    /// Returns the defaults: all cores, no progress output.
    #[must_use]
    pub fn usual() -> Making<'static> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Making { size: MOST_BYTES, threads, progress: &|_, _| () }
    }
}

/// Executes jobs on several threads and returns their results in order.
fn each<T: Send>(jobs: usize, threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let done: Mutex<Vec<(usize, T)>> = Mutex::new(Vec::with_capacity(jobs));
    let next = AtomicUsize::new(0);
    let worker = || {
        loop {
            let job = next.fetch_add(1, Ordering::Relaxed);
            if job >= jobs {
                return;
            }
            let made = work(job);
            if let Ok(mut done) = done.lock() {
                done.push((job, made));
            }
        }
    };
    std::thread::scope(|scope| {
        (1..threads.min(jobs)).for_each(|_| drop(scope.spawn(worker)));
        worker();
    });
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_unstable_by_key(|(job, _)| *job);
    done.into_iter().map(|(_, made)| made).collect()
}

/// A stage of the work, in percent.
struct Stage<'a> {
    making: &'a Making<'a>,
    from: u64,
    to: u64,
    of: u64,
    done: AtomicU64,
}

impl<'a> Stage<'a> {
    fn new(making: &'a Making<'a>, from: u64, to: u64, of: u64) -> Stage<'a> {
        Stage { making, from, to, of: of.max(1), done: AtomicU64::new(0) }
    }

    fn did(&self, amount: u64) {
        let done = self.done.fetch_add(amount, Ordering::Relaxed) + amount;
        let parts = self.from + (self.to - self.from) * done.min(self.of) / self.of;
        (self.making.progress)(usize::try_from(parts).unwrap_or(100), 100);
    }
}

fn size_of(packed: &[Packed]) -> u64 {
    packed.iter().map(|one| one.text.len() as u64).sum()
}

/// Returns the largest equal share such that all together fit; unused parts of a share are available to the others.
fn most_for_each(room: u64, mut needs: Vec<u64>) -> u64 {
    needs.sort_unstable();
    let mut room = room;
    for (place, &need) in needs.iter().enumerate() {
        let share = room / (needs.len() - place) as u64;
        if need > share {
            return share;
        }
        room -= need;
    }
    u64::MAX
}

/// Merges series until they fit into `share` bytes, and returns them with the names of those that do not fit. The input
/// is not merged.
fn fitted(mut all: Vec<Gathered>, mut packed: Vec<Packed>, share: u64) -> (Vec<Packed>, Vec<&'static str>) {
    let mut left_out = Vec::new();
    let mut done = vec![false; all.len()];
    loop {
        if size_of(&packed) <= share {
            return (packed, left_out);
        }
        let longest = (0..all.len()).filter(|&at| !done[at]).max_by_key(|&at| (packed[at].text.len(), at));
        if let Some(at) = longest {
            done[at] = !all[at].shorten_well();
            if !done[at] {
                packed[at] = all[at].packed();
            }
        } else if let Some(at) = (0..all.len()).max_by_key(|&at| (packed[at].text.len(), at)) {
            left_out.push(packed.remove(at).name);
            all.remove(at);
            done.remove(at);
        }
    }
}

/// A run to be added to the report.
struct Run {
    results: Results,
    drawn: Vec<Gathered>,
    whole: Vec<Gathered>,
}

/// Adds runs to the blocks and returns the document of each, and the number of runs without hashes. The total size is
/// limited by `making`, of which `taken` is already used.
pub(super) fn fit(
    sought: &[Sought],
    making: &Making<'_>,
    taken: u64,
    blocks: &mut Blocks,
) -> Result<(Vec<Value>, usize), ResultsError> {
    let threads = making.threads.max(1);
    let single = sought.len() == 1;
    // What is small.
    let opened = each(sought.len(), threads, |at| -> Result<(Results, [String; 3]), ResultsError> {
        let results = Results::open(&sought[at].path)?;
        let About { own, network, ports } = about(&results, single)?;
        Ok((results, [own, network, ports].map(|part| deflated(part.to_string().as_bytes()))))
    });
    let mut runs = Vec::new();
    let mut told = Vec::new();
    for (one, sought) in opened.into_iter().zip(sought) {
        let (results, [own, network, ports]) = one?;
        let manifest = &results.manifest;
        let label = if sought.label.is_empty() { &manifest.name } else { &sought.label };
        told.push(json!({
            "label": label,
            "manifest": { "simulated_ps": manifest.simulated },
            "whole": sought.wanted.whole,
            "own": blocks.add(own),
            "network": blocks.add(network),
            "ports": blocks.add(ports),
        }));
        runs.push(Run { results, drawn: Vec::new(), whole: Vec::new() });
    }
    let unverified = runs.iter().filter(|run| !run.results.manifest.has_hashes()).count();
    let lists = LIST_BYTES.saturating_mul(runs.len() as u64);
    let room = making.size.saturating_sub(taken).saturating_sub(blocks.size()).saturating_sub(lists);
    let wholes = sought.iter().filter(|run| run.wanted.whole).count() as u64;
    let draws = sought.iter().any(|run| !run.wanted.drawn.is_empty());
    let share = |room: u64, of: u64| room.checked_div(of).unwrap_or(0);
    let drawn_room = match (draws, wholes) {
        (false, _) => 0,
        (true, 0) => room,
        (true, _) => room / 2,
    };
    // A row takes a few bytes; many more rows than will fit need not be kept until the series are fitted.
    let rows = |share: u64| usize::try_from(share).unwrap_or(usize::MAX).max(1000);

    // What grows with time, each table once.
    let jobs: Vec<_> = sought
        .iter()
        .enumerate()
        .flat_map(|(run, one)| one.wishes().into_iter().map(move |wish| (run, wish)))
        .collect();
    let name =
        |(drawn, whole): &(Option<_>, Option<_>)| drawn.as_ref().or(whole.as_ref()).map(super::series::Wish::table);
    let bytes = |run: usize, wish: &(Option<_>, Option<_>)| {
        let tables = runs[run].results.manifest.tables.iter();
        tables.filter(|table| Some(table.name.as_str()) == name(wish)).map(|table| table.bytes).sum::<u64>()
    };
    let reading = Stage::new(making, 0, 30, jobs.iter().map(|(run, wish)| bytes(*run, wish)).sum());
    let gathered = each(jobs.len(), threads, |at| {
        let (run, (drawn, whole)) = &jobs[at];
        let wishes = [
            drawn.clone().map(|wish| (wish, rows(share(drawn_room, runs.len() as u64)))),
            whole.clone().map(|wish| (wish, rows(share(room, wholes)))),
        ];
        let wishes: Vec<_> = wishes.into_iter().flatten().collect();
        let made = gather(&runs[*run].results, &wishes);
        reading.did(bytes(*run, &jobs[at].1));
        made
    });
    for ((run, (drawn, _)), made) in jobs.iter().zip(gathered) {
        let mut made = made?.into_iter();
        if drawn.is_some() {
            runs[*run].drawn.extend(made.next());
        }
        runs[*run].whole.extend(made.next());
    }

    // What is drawn first; what it leaves is for the rest.
    let runs: Vec<Mutex<Run>> = runs.into_iter().map(Mutex::new).collect();
    let take = |at: usize, which: fn(&mut Run) -> &mut Vec<Gathered>| {
        runs[at].lock().map(|mut run| std::mem::take(which(&mut run))).unwrap_or_default()
    };
    let inner = if single { threads } else { 1 };
    let fill = |which: fn(&mut Run) -> &mut Vec<Gathered>, room: u64, from: u64, to: u64| {
        let count = runs.len() as u64;
        let packing = Stage::new(making, from, (from + to) / 2, count);
        let all: Vec<Mutex<(Vec<Gathered>, Vec<Packed>)>> = each(runs.len(), threads, |at| {
            let all = take(at, which);
            let packed = each(all.len(), inner, |at| all[at].packed());
            packing.did(1);
            Mutex::new((all, packed))
        });
        let needs = all.iter().filter_map(|one| one.lock().ok().map(|one| size_of(&one.1))).collect();
        let most = most_for_each(room, needs);
        let joining = Stage::new(making, (from + to) / 2, to, count);
        each(all.len(), threads, |at| {
            let (all, packed) = all[at].lock().map(|mut one| std::mem::take(&mut *one)).unwrap_or_default();
            let made = fitted(all, packed, most);
            joining.did(1);
            made
        })
    };
    let drawn = fill(|run| &mut run.drawn, drawn_room, 30, if wholes > 0 { 50 } else { 100 });
    let used: u64 = drawn.iter().map(|(packed, _)| size_of(packed)).sum();
    let whole = fill(|run| &mut run.whole, room.saturating_sub(used), 50, 100);
    let mut put = |packed: Vec<Packed>| -> Value {
        let mut tables = Map::new();
        for Packed { name, text, mut about } in packed {
            about["block"] = json!(blocks.add(text));
            tables.insert(name.to_owned(), about);
        }
        tables.into()
    };
    let lists: Vec<Value> = drawn
        .into_iter()
        .zip(whole)
        .map(|((drawn, missing), (whole, left_out))| {
            let left_out: Vec<_> = missing.into_iter().chain(left_out).collect();
            json!({ "tables": put(whole), "drawn": put(drawn), "left_out": left_out })
        })
        .collect();
    for (told, list) in told.iter_mut().zip(lists) {
        told["series"] = json!(blocks.add(deflated(list.to_string().as_bytes())));
    }
    Ok((told, unverified))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_come_back_in_their_order() {
        for threads in [1, 3, 50] {
            assert_eq!(each(20, threads, |job| job * job), (0..20).map(|job| job * job).collect::<Vec<_>>());
        }
        assert!(each(0, 4, |job| job).is_empty());
    }

    #[test]
    fn what_one_does_not_need_is_for_the_others() {
        assert_eq!(most_for_each(100, vec![10, 10, 10]), u64::MAX);
        assert_eq!(most_for_each(100, vec![90, 10, 90]), 45);
        assert_eq!(most_for_each(90, vec![90, 90, 90]), 30);
        assert_eq!(most_for_each(0, vec![1]), 0);
        assert_eq!(most_for_each(0, vec![]), u64::MAX);
    }
}
