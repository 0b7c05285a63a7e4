//! Options of htsim's programs, as on their command lines: `-cwnd 30 -q 20 -strat ecmp_host -paths 128`.
//!
//! Read from `main_ndp.cpp`, `main_eqds.cpp` and `main_hpcc.cpp` of csg-htsim. Options about logs and files have no effect on
//! results; of the others, those without a counterpart are reported.

use super::super::Work;
use super::super::words::{Word, Words, number, span};
use super::control::Program;
use units::{Rate, Span};

/// What options set.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Settings {
    /// `-mtu`: bytes of a packet, without its header in NDP and HPCC.
    pub(super) mtu: Option<u64>,
    /// `-q`: packets of a queue.
    pub(super) queue: Option<u64>,
    /// `-cwnd`: packets of the first window.
    pub(super) window: Option<u64>,
    /// `-linkspeed`.
    pub(super) rate: Option<Rate>,
    /// `-hop_latency` and `-switch_latency`.
    pub(super) latency: Option<Span>,
    pub(super) switch_latency: Option<Span>,
    /// `-tiers`.
    pub(super) tiers: Option<u64>,
    /// `-strat`, if it is one with a counterpart.
    pub(super) strategy: Option<Strategy>,
    /// `-paths`.
    pub(super) paths: Option<u64>,
    /// `-pfc_thresholds`: packets of an input at which it resumes and pauses its sender.
    pub(super) thresholds: Option<[u64; 2]>,
    /// `-end`.
    pub(super) end: Option<Span>,
}

/// How packets choose among equal paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strategy {
    /// `single`: a path for each flow.
    Single,
    /// `perm`: packets use all paths in turn.
    Permute,
    /// `rand`: each packet takes a random path.
    Random,
    /// `ecmp_host`, `ecmp`: switches hash the entropy of each packet, one of `-paths` values.
    Hash,
}

/// Options about logs, files and seeds, with the number of their values.
const WITHOUT_EFFECT: [(&str, usize); 8] =
    [("-o", 1), ("-log", 1), ("-logtime", 1), ("-debug", 0), ("-conns", 1), ("-tm", 1), ("-topo", 1), ("-seed", 1)];
/// Other options without a counterpart, with the number of their values.
const UNKNOWN_HERE: [(&str, usize); 10] = [
    ("-oversubscribed_cc", 0),
    ("-rts", 0),
    ("-queue_type", 1),
    ("-host_queue_type", 1),
    ("-ecn_thresh", 1),
    ("-path_burst", 1),
    ("-ar_sticky_delta", 1),
    ("-ar_granularity", 1),
    ("-ar_method", 1),
    ("-start_delta", 1),
];
/// The most packets of a queue or a window, and the most paths.
const MOST: u64 = 16_000;

/// Reads the options of a program for so many nodes.
pub(super) fn read(work: &mut Work, source: u32, text: &str, program: Program, nodes: u64) -> Option<Settings> {
    let mut words = Words::new(source, text);
    let mut settings = Settings::default();
    while let Some(word) = words.next() {
        if let Some((_, values)) = WITHOUT_EFFECT.iter().find(|(name, _)| *name == word.text) {
            words.by_ref().take(*values).for_each(drop);
            continue;
        }
        if let Some((name, values)) = UNKNOWN_HERE.iter().find(|(name, _)| *name == word.text) {
            words.by_ref().take(*values).for_each(drop);
            work.note(name, "has no counterpart; ignored");
            continue;
        }
        option(work, &mut words, word, program, nodes, &mut settings)?;
    }
    drop_unused(work, program, &mut settings);
    Some(settings)
}

/// Reports options that the program has no use for.
fn drop_unused(work: &mut Work, program: Program, settings: &mut Settings) {
    let mut unused = |name: &str, is_unused: bool| {
        if is_unused {
            work.note(name, "has no effect with this program");
        }
        is_unused
    };
    if unused("-paths", settings.paths.is_some() && program != Program::Ndp) {
        settings.paths = None;
    }
    if unused("-cwnd", settings.window.is_some() && !matches!(program, Program::Ndp | Program::Eqds)) {
        settings.window = None;
    }
    if unused("-q", settings.queue.is_some() && program == Program::Hpcc) {
        settings.queue = None;
    }
    if unused("-pfc_thresholds", settings.thresholds.is_some() && program != Program::Hpcc) {
        settings.thresholds = None;
    }
    let fixed = !matches!(program, Program::Ndp | Program::Hpcc);
    if unused("-strat", fixed && settings.strategy.is_some_and(|strategy| strategy != Strategy::Hash)) {
        settings.strategy = None;
    }
}

fn option(
    work: &mut Work,
    words: &mut Words<'_>,
    word: Word<'_>,
    program: Program,
    nodes: u64,
    settings: &mut Settings,
) -> Option<()> {
    match word.text {
        "-nodes" => {
            let place = word.place;
            let stated = whole(work, words.next(), word, 1 << 18)?;
            if stated != nodes {
                let message = format!("-nodes is {stated}, but the connection matrix has {nodes}");
                work.refuse(place, message, "leave -nodes out, or give the matrix that belongs to it");
            }
        }
        // A packet of 64 B would be a header.
        "-mtu" => {
            let place = word.place;
            let mtu = whole(work, words.next(), word, 60_000)?;
            if mtu <= 64 {
                work.refuse(place, "packets of 64 B and less", "give -mtu a number above 64");
            }
            settings.mtu = Some(mtu.max(65));
        }
        "-q" => settings.queue = Some(whole(work, words.next(), word, MOST)?.max(2)),
        "-cwnd" => settings.window = Some(whole(work, words.next(), word, MOST)?.max(1)),
        "-paths" => settings.paths = Some(whole(work, words.next(), word, MOST)?.max(1)),
        "-linkspeed" => {
            let place = word.place;
            let megabits = whole(work, words.next(), word, 1_000_000_000)?;
            if megabits == 0 {
                work.refuse(place, "links without speed", "give -linkspeed in Mb/s, such as -linkspeed 100000");
            }
            settings.rate = Some(Rate::from_megabits(megabits.max(1)));
        }
        "-hop_latency" => settings.latency = Some(micros(work, words.next(), word)?),
        "-switch_latency" => settings.switch_latency = Some(micros(work, words.next(), word)?),
        "-end" => settings.end = Some(micros(work, words.next(), word)?),
        "-tiers" => {
            let place = word.place;
            let tiers = whole(work, words.next(), word, 100)?;
            if !(2..=3).contains(&tiers) {
                work.refuse(place, format!("{tiers} tiers"), "htsim builds fat-trees of 2 or 3 tiers");
            }
            settings.tiers = Some(tiers);
        }
        "-pfc_thresholds" => {
            let place = word.place;
            let (low, high) = (whole(work, words.next(), word, MOST)?, whole(work, words.next(), word, MOST)?);
            if low == 0 || low >= high {
                work.refuse(place, format!("thresholds {low} and {high}"), "give the lower one first, such as 12 15");
            }
            settings.thresholds = Some([low, high]);
        }
        "-strat" => {
            let strategy = words.next();
            settings.strategy = match strategy.map(|word| word.text) {
                Some("single") => Some(Strategy::Single),
                Some("perm" | "pull") => Some(Strategy::Permute),
                Some("rand") => Some(Strategy::Random),
                Some("ecmp_host" | "ecmp") => Some(Strategy::Hash),
                Some(_) => {
                    work.note("-strat", "has no counterpart; paths are those of the program's default here");
                    None
                }
                None => {
                    work.refuse(word.place, "-strat without a value", "give a strategy, such as -strat perm");
                    return None;
                }
            };
            if program == Program::Hpcc && matches!(settings.strategy, Some(Strategy::Permute | Strategy::Random)) {
                work.refuse(word.place, "htsim_hpcc does not run with this strategy", "give single or ecmp_host");
            }
        }
        _ => {
            let help = "give options of htsim's programs, such as --options \"-q 20 -cwnd 30\"";
            work.refuse(word.place, "not an option of htsim that this command knows", help);
            words.skip_line();
        }
    }
    Some(())
}

fn whole(work: &mut Work, value: Option<Word<'_>>, key: Word<'_>, below: u64) -> Option<u64> {
    let number = value.and_then(|word| word.text.parse::<u64>().ok()).filter(|number| *number < below);
    if number.is_none() {
        let place = value.map_or(key.place, |word| word.place);
        work.refuse(place, format!("{} needs a whole number below {below}", key.text), "correct the value");
    }
    number
}

/// A time in microseconds.
fn micros(work: &mut Work, value: Option<Word<'_>>, key: Word<'_>) -> Option<Span> {
    let time = value.and_then(|word| number(word.text)).and_then(|micros| span(micros, 1e6));
    if time.is_none() {
        let place = value.map_or(key.place, |word| word.place);
        work.refuse(place, format!("{} needs a time in microseconds", key.text), "write a number, such as 1 or 0.5");
    }
    time
}
