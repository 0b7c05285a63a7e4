//! The configuration file: keys and their values.

use super::super::Work;
use super::super::words::{Word, Words, number, rate, span};
use crate::key::near;
use crate::source::Place;
use std::collections::BTreeMap;
use units::{Rate, Span};

/// How many values a key has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arity {
    /// So many.
    Exactly(usize),
    /// A number of pairs, then the pairs.
    Pairs,
}

/// The keys of the simulator, with the number of their values. Of a key without a counterpart, what that means.
const KEYS: &[(&str, Arity, &str)] = &[
    ("ENABLE_QCN", Arity::Exactly(1), ""),
    (
        "USE_DYNAMIC_PFC_THRESHOLD",
        Arity::Exactly(1),
        "has no effect in the simulator: the threshold is dynamic in any case",
    ),
    ("CLAMP_TARGET_RATE", Arity::Exactly(1), ""),
    ("PAUSE_TIME", Arity::Exactly(1), "has no effect in the simulator: a pause lasts until it is lifted, as here"),
    ("DATA_RATE", Arity::Exactly(1), "has no effect in the simulator: the topology file gives the rates"),
    ("LINK_DELAY", Arity::Exactly(1), "has no effect in the simulator: the topology file gives the delays"),
    ("PACKET_PAYLOAD_SIZE", Arity::Exactly(1), ""),
    ("L2_CHUNK_SIZE", Arity::Exactly(1), "matters with L2_BACK_TO_ZERO 1 only"),
    ("L2_ACK_INTERVAL", Arity::Exactly(1), ""),
    ("L2_BACK_TO_ZERO", Arity::Exactly(1), ""),
    ("TOPOLOGY_FILE", Arity::Exactly(1), "the topology is the file that was given to this command"),
    ("FLOW_FILE", Arity::Exactly(1), "the flows are those of the file that was given to this command"),
    ("TRACE_FILE", Arity::Exactly(1), "`tailback pcap` captures the frames of links"),
    ("TRACE_OUTPUT_FILE", Arity::Exactly(1), "`tailback pcap` captures the frames of links"),
    ("SIMULATOR_STOP_TIME", Arity::Exactly(1), ""),
    ("ALPHA_RESUME_INTERVAL", Arity::Exactly(1), ""),
    ("RP_TIMER", Arity::Exactly(1), ""),
    ("EWMA_GAIN", Arity::Exactly(1), ""),
    ("FAST_RECOVERY_TIMES", Arity::Exactly(1), ""),
    ("RATE_AI", Arity::Exactly(1), ""),
    ("RATE_HAI", Arity::Exactly(1), ""),
    ("ERROR_RATE_PER_LINK", Arity::Exactly(1), ""),
    ("CC_MODE", Arity::Exactly(1), ""),
    ("RATE_DECREASE_INTERVAL", Arity::Exactly(1), ""),
    ("MIN_RATE", Arity::Exactly(1), ""),
    ("FCT_OUTPUT_FILE", Arity::Exactly(1), "completion times are columns of the table `flows`"),
    ("HAS_WIN", Arity::Exactly(1), ""),
    ("GLOBAL_T", Arity::Exactly(1), ""),
    ("MI_THRESH", Arity::Exactly(1), ""),
    ("VAR_WIN", Arity::Exactly(1), ""),
    ("FAST_REACT", Arity::Exactly(1), ""),
    ("U_TARGET", Arity::Exactly(1), ""),
    ("INT_MULTI", Arity::Exactly(1), ""),
    ("RATE_BOUND", Arity::Exactly(1), ""),
    ("ACK_HIGH_PRIO", Arity::Exactly(1), ""),
    ("DCTCP_RATE_AI", Arity::Exactly(1), ""),
    ("PFC_OUTPUT_FILE", Arity::Exactly(1), "pauses are in the table `pauses`"),
    ("LINK_DOWN", Arity::Exactly(3), ""),
    ("ENABLE_TRACE", Arity::Exactly(1), "`tailback pcap` captures the frames of links"),
    ("KMAX_MAP", Arity::Pairs, ""),
    ("KMIN_MAP", Arity::Pairs, ""),
    ("PMAX_MAP", Arity::Pairs, ""),
    ("BUFFER_SIZE", Arity::Exactly(1), ""),
    ("QLEN_MON_FILE", Arity::Exactly(1), "queues are in the table `queues`"),
    ("QLEN_MON_START", Arity::Exactly(1), "queues are recorded for the whole run"),
    ("QLEN_MON_END", Arity::Exactly(1), "queues are recorded for the whole run"),
    ("QLEN_MON_INTERVAL", Arity::Exactly(1), "`probes.sample_every` sets the time between two samples of queues"),
    ("QLEN_DUMP_INTERVAL", Arity::Exactly(1), "queues are in the table `queues`"),
    ("MULTI_RATE", Arity::Exactly(1), ""),
    ("SAMPLE_FEEDBACK", Arity::Exactly(1), ""),
    ("PINT_LOG_BASE", Arity::Exactly(1), "matters with CC_MODE 10 only"),
    ("PINT_PROB", Arity::Exactly(1), "matters with CC_MODE 10 only"),
];

/// The keys of a file and their values.
#[derive(Debug, Default)]
pub(super) struct Config<'a> {
    values: BTreeMap<&'static str, (Place, Vec<Word<'a>>)>,
    /// The end of the file, where missing keys are reported.
    end: Option<Place>,
}

/// Reads the file. Of a key that is given twice, the last value counts, as in the simulator.
pub(super) fn read<'a>(work: &mut Work, source: u32, text: &'a str) -> Config<'a> {
    let mut words = Words::new(source, text);
    let end = words.end();
    let mut config = Config { values: BTreeMap::new(), end: Some(end) };
    while let Some(word) = words.next() {
        if work.is_hopeless() {
            break;
        }
        if word.text.starts_with(['#', '{']) {
            words.skip_line();
            continue;
        }
        let Some(&(key, arity, meaning)) = KEYS.iter().find(|(key, ..)| *key == word.text) else {
            let like = near(word.text, KEYS.iter().map(|(key, ..)| *key));
            let hint = like.map(|like| format!("; did you mean {like}?")).unwrap_or_default();
            let shown: String = word.text.chars().filter(|c| !c.is_control()).take(40).collect();
            work.note(&shown, format!("unknown key; ignored, as the simulator does{hint}"));
            words.skip_line();
            continue;
        };
        let count = match arity {
            Arity::Exactly(count) => Some(count),
            Arity::Pairs => words
                .clone()
                .next()
                .and_then(|word| word.text.parse::<usize>().ok())
                .and_then(|n| n.checked_mul(2)?.checked_add(1)),
        };
        let Some(count) = count.filter(|count| *count < 1000) else {
            work.refuse(
                word.place,
                format!("{key} has no number of pairs"),
                "write the number of pairs, then rate and value of each",
            );
            words.skip_line();
            continue;
        };
        let values: Vec<Word<'a>> = words.by_ref().take(count).collect();
        if values.len() < count {
            work.refuse(word.place, format!("{key} has {} of {count} values", values.len()), "add the missing ones");
            continue;
        }
        if !meaning.is_empty() {
            work.note(key, meaning);
        }
        config.values.insert(key, (word.place, values));
        let (rest, _) = words.skip_line();
        if !rest.is_empty() && !rest.starts_with(['#', '{']) {
            work.note(key, "the text behind its value is ignored");
        }
    }
    config
}

impl<'a> Config<'a> {
    /// Whether the file has the key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    /// Where the key is, or the end of the file.
    pub(super) fn place(&self, key: &str) -> Place {
        let end = self.end.unwrap_or(Place { source: 0, start: 0, end: 0 });
        self.values.get(key).map_or(end, |(place, _)| *place)
    }

    fn word(&self, key: &str) -> Option<Word<'a>> {
        self.values.get(key).and_then(|(_, values)| values.first()).copied()
    }

    fn value<T>(&self, work: &mut Work, key: &str, default: T, help: &str, read: impl FnOnce(&str) -> Option<T>) -> T {
        let Some(word) = self.word(key) else { return default };
        match read(word.text) {
            Some(value) => value,
            None => {
                work.refuse(word.place, format!("this is not a value of {key}"), help);
                default
            }
        }
    }

    /// A number that is not negative.
    pub(super) fn number(&self, work: &mut Work, key: &str, default: f64) -> f64 {
        self.value(work, key, default, "write a number that is not negative", number)
    }

    /// A number that the simulator needs for this control.
    pub(super) fn needed(&self, work: &mut Work, key: &str, needed: &str) -> f64 {
        self.require(work, key, needed);
        self.number(work, key, 0.0)
    }

    /// A rate that the simulator needs for this control.
    pub(super) fn needed_rate(&self, work: &mut Work, key: &str, needed: &str) -> Rate {
        self.require(work, key, needed);
        self.rate(work, key, Rate::from_megabits(1))
    }

    fn require(&self, work: &mut Work, key: &str, needed: &str) {
        if !self.has(key) {
            work.refuse(
                self.place(key),
                format!("{needed} needs {key}, which the file does not have"),
                format!("add {key}"),
            );
        }
    }

    /// A whole number.
    pub(super) fn count(&self, work: &mut Work, key: &str, default: u64) -> u64 {
        self.value(work, key, default, "write a whole number", |text| text.parse().ok())
    }

    /// 0 or another number.
    pub(super) fn flag(&self, work: &mut Work, key: &str, default: bool) -> bool {
        self.count(work, key, u64::from(default)) != 0
    }

    pub(super) fn rate(&self, work: &mut Work, key: &str, default: Rate) -> Rate {
        self.value(work, key, default, "write a rate with its unit, such as 50Mb/s", rate)
    }

    /// A time in microseconds.
    pub(super) fn micros(&self, work: &mut Work, key: &str, default: f64) -> Span {
        let micros = self.number(work, key, default);
        span(micros, 1e6).unwrap_or(Span::ZERO)
    }

    /// The three values of LINK_DOWN: microseconds and two nodes.
    pub(super) fn link_down(&self, work: &mut Work, nodes: u64) -> Option<(Span, [u32; 2])> {
        let (_, values) = self.values.get("LINK_DOWN")?;
        let mut numbers = [0; 3];
        for (number, word) in numbers.iter_mut().zip(values) {
            match word.text.parse::<u64>() {
                Ok(value) => *number = value,
                Err(_) => {
                    work.refuse(
                        word.place,
                        "LINK_DOWN has a value that is not a number",
                        "write microseconds and two nodes",
                    );
                    return None;
                }
            }
        }
        let [micros, a, b] = numbers;
        if micros == 0 {
            return None;
        }
        if a >= nodes || b >= nodes {
            work.refuse(self.place("LINK_DOWN"), "LINK_DOWN names a node that is not there", "name two linked nodes");
            return None;
        }
        Some((span(micros as f64, 1e6)?, [a as u32, b as u32]))
    }

    /// A map from the rate of a link to a number.
    pub(super) fn map(&self, work: &mut Work, key: &str) -> BTreeMap<Rate, f64> {
        let mut map = BTreeMap::new();
        let Some((_, values)) = self.values.get(key) else { return map };
        for pair in values[1..].chunks_exact(2) {
            match (rate(pair[0].text), number(pair[1].text)) {
                (Some(rate), Some(value)) => {
                    map.insert(rate, value);
                }
                _ => work.refuse(
                    pair[0].place,
                    format!("this is not a pair of {key}"),
                    "write a rate in bits per second and a number",
                ),
            }
        }
        map
    }
}
