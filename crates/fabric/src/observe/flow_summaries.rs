//! What became of all flows of a run, in a few bytes for each.
//!
//! Millions of flows end in a run, and most of them did no more than their description says: each frame was sent once, all
//! arrived, nothing was marked. Of these there are three times: until the flow was complete, until its source knew that, and
//! how long it takes alone. All else follows from the description. Of a flow that did something else, its differences from
//! that are kept. So a summary is exact, and takes 8 bytes for a short flow instead of 240.

use super::flow_summary::{FlowSummary, WORDS};
use crate::build::column::Column;
use crate::describe::workload::FlowList;
use std::collections::BTreeMap;
use std::ops::Range;
use units::{Encode, Span, Time};

/// In the column of courses: the flow never started.
const IDLE: u64 = 0;
/// Its source has sent all of it, and nothing has arrived.
const SENT: u64 = 1;
/// It was complete that many picoseconds, less this number, after its start.
const COMPLETE: u64 = 2;

/// What became of each flow of a run, in the order of the description.
///
/// ```
/// use tailback_fabric::{FlowSummaries, FlowSummary};
/// use tailback_fabric::units::Time;
///
/// let ended = FlowSummary { received_bytes: 1000, ended: Some(Time::from_picos(7)), ..FlowSummary::default() };
/// let flows = FlowSummaries::from(vec![ended, FlowSummary::default()]);
/// assert_eq!((flows.len(), flows.get(0), flows.get(2)), (2, Some(ended), None));
/// ```
#[derive(Clone, Debug, Default)]
pub struct FlowSummaries {
    count: usize,
    /// The descriptions, or nothing if they are not known.
    flows: FlowList,
    smallest_frame: u16,
    courses: Column,
    /// Picoseconds, and one, from its start until its source knew that it was complete.
    known: Column,
    /// Picoseconds that it takes alone; 0 if that is not known.
    alone: Column,
    /// Differences of some flows from what follows from the columns.
    differences: BTreeMap<u32, Box<[u8]>>,
}

impl FlowSummaries {
    /// Of flows of which nothing is known yet.
    pub(crate) fn unknown(flows: FlowList, smallest_frame: u16) -> FlowSummaries {
        let count = flows.len();
        let [courses, known, alone] = [(); 3].map(|()| Column::zeros(count));
        FlowSummaries { count, flows, smallest_frame, courses, known, alone, differences: BTreeMap::new() }
    }

    /// Number of flows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are no flows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes that it takes, without the descriptions of flows.
    #[must_use]
    pub fn memory(&self) -> usize {
        let columns = [&self.courses, &self.known, &self.alone].map(Column::memory);
        let differences = self.differences.values().map(|bytes| bytes.len() + size_of::<(u32, Box<[u8]>)>());
        columns.iter().sum::<usize>() + differences.sum::<usize>()
    }

    /// What became of a flow; `None` if there is no such flow.
    #[must_use]
    pub fn get(&self, flow: usize) -> Option<FlowSummary> {
        if flow >= self.count {
            return None;
        }
        let [course, known, alone] = [&self.courses, &self.known, &self.alone].map(|column| column.get(flow));
        let usual = self.usual(flow, course, known, alone);
        let differences = if self.differences.is_empty() { None } else { self.differences.get(&(flow as u32)) };
        Some(differences.map_or(usual, |bytes| differing(&usual, bytes)))
    }

    /// What became of each flow.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = FlowSummary> + Clone {
        (0..self.count).map(|flow| self.get(flow).unwrap_or_default())
    }

    /// What became of some flows; `None` if there are fewer flows.
    #[must_use]
    pub fn range(&self, flows: Range<usize>) -> Option<impl ExactSizeIterator<Item = FlowSummary> + Clone> {
        let there = flows.start <= flows.end && flows.end <= self.count;
        there.then(|| flows.map(|flow| self.get(flow).unwrap_or_default()))
    }

    /// The flow did what its description says.
    fn usual(&self, flow: usize, course: u64, known: u64, alone: u64) -> FlowSummary {
        let Some(spec) = self.flows.get(flow) else { return FlowSummary::default() };
        let after = |picos: u64| Time::from_picos(spec.start.as_picos().saturating_add(picos));
        let mut summary = FlowSummary {
            alone: (alone > 0).then(|| Span::from_picos(alone)),
            acknowledged: known.checked_sub(1).map(after),
            until_known: spec.is_reliable(),
            ..FlowSummary::default()
        };
        if course == IDLE {
            return summary;
        }
        let frames = spec.frames().unwrap_or(0);
        (summary.started, summary.made_frames) = (Some(spec.start), frames);
        if let Some(picos) = course.checked_sub(COMPLETE) {
            let completed = after(picos);
            summary.received_bytes = spec.padded_size(self.smallest_frame).unwrap_or(0);
            (summary.received_frames, summary.last_received) = (frames, completed);
            (summary.completed, summary.ended) = (Some(completed), Some(completed));
        }
        summary
    }

    /// Replaces what became of a flow.
    pub(crate) fn set(&mut self, flow: usize, summary: &FlowSummary) {
        let start = self.flows.get(flow).map_or(Time::ZERO, |spec| spec.start);
        let since = |at: Time| at.as_picos().checked_sub(start.as_picos());
        let course = match (summary.started, summary.completed.and_then(since)) {
            (None, _) => IDLE,
            (Some(_), None) => SENT,
            (Some(_), Some(picos)) => picos.saturating_add(COMPLETE),
        };
        let known = summary.acknowledged.and_then(since).map_or(0, |picos| picos.saturating_add(1));
        let alone = summary.alone.map_or(0, Span::as_picos);
        self.courses.set(flow, course);
        self.known.set(flow, known);
        self.alone.set(flow, alone);
        let usual = self.usual(flow, course, known, alone);
        if usual != *summary {
            self.differences.insert(flow as u32, differences(&usual, summary));
        } else if !self.differences.is_empty() {
            self.differences.remove(&(flow as u32));
        }
    }
}

/// How a summary differs from the usual one: the numbers that differ, as bits, and their differences, in groups of 7 bits.
fn differences(usual: &FlowSummary, summary: &FlowSummary) -> Box<[u8]> {
    let (mut bits, mut bytes) = (0_u32, vec![0; 4]);
    for (place, (usual, number)) in usual.words().into_iter().zip(summary.words()).enumerate() {
        let mut rest = number.wrapping_sub(usual);
        bits |= u32::from(rest != 0) << place;
        while rest != 0 {
            bytes.push(rest as u8 & 0x7F | if rest > 0x7F { 0x80 } else { 0 });
            rest >>= 7;
        }
    }
    bytes[..4].copy_from_slice(&bits.to_le_bytes());
    bytes.into()
}

/// The summary with such differences.
fn differing(usual: &FlowSummary, differences: &[u8]) -> FlowSummary {
    let (mut words, mut bytes) = (usual.words(), differences.iter());
    let mut next = || bytes.next().copied().unwrap_or(0);
    let bits = u32::from_le_bytes([next(), next(), next(), next()]);
    for place in (0..WORDS).filter(|place| bits >> place & 1 == 1) {
        let mut shift = 0;
        loop {
            let byte = next();
            words[place] = words[place].wrapping_add(u64::from(byte & 0x7F) << shift);
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
        }
    }
    FlowSummary::of_words(&words)
}

/// Summaries without the descriptions of their flows.
impl From<Vec<FlowSummary>> for FlowSummaries {
    fn from(summaries: Vec<FlowSummary>) -> FlowSummaries {
        let zeros = || Column::zeros(summaries.len());
        let (courses, known, alone) = (zeros(), zeros(), zeros());
        let mut all = FlowSummaries { count: summaries.len(), courses, known, alone, ..FlowSummaries::default() };
        summaries.iter().enumerate().for_each(|(flow, summary)| all.set(flow, summary));
        all
    }
}

/// As a list of summaries.
impl Encode for FlowSummaries {
    fn encode(&self, out: &mut Vec<u8>) {
        (self.count as u64).encode(out);
        self.iter().for_each(|summary| summary.encode(out));
    }

    fn decode(input: &mut &[u8]) -> Option<FlowSummaries> {
        Vec::<FlowSummary>::decode(input).map(FlowSummaries::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::graph::HostId;
    use crate::describe::workload::FlowSpec;
    use units::Bytes;

    fn at(picos: u64) -> Time {
        Time::from_picos(picos)
    }

    /// Three flows of 2500 bytes in frames of 1000, of which the last is padded.
    fn flows() -> FlowList {
        let flow = |number: u64| FlowSpec {
            start: at(1_000_000 * number),
            ..FlowSpec::finite(HostId(0), HostId(1), Bytes::new(2010)).with(|it| it.frame = Bytes::new(1000))
        };
        [0, 1, 2].map(flow).into()
    }

    fn complete(start: u64, after: u64) -> FlowSummary {
        FlowSummary {
            started: Some(at(start)),
            made_frames: 3,
            received_frames: 3,
            received_bytes: 2064,
            completed: Some(at(start + after)),
            last_received: at(start + after),
            ended: Some(at(start + after)),
            alone: Some(Span::from_picos(700)),
            ..FlowSummary::default()
        }
    }

    #[test]
    fn a_flow_that_did_as_described_takes_its_columns_alone() {
        let mut all = FlowSummaries::unknown(flows(), 64);
        assert_eq!(all.get(1), Some(FlowSummary::default()));
        let sent = FlowSummary { started: Some(at(1_000_000)), made_frames: 3, ..FlowSummary::default() };
        all.set(1, &sent);
        assert_eq!((all.get(1), all.differences.len()), (Some(sent), 0));
        all.set(1, &complete(1_000_000, 900));
        assert_eq!((all.get(1), all.differences.len()), (Some(complete(1_000_000, 900)), 0));
        assert!(matches!((&all.courses, &all.alone), (Column::Narrow(_), Column::Narrow(_))));
        // A flow that takes longer than 4 ms needs more bits, and so do the others from then on.
        all.set(2, &complete(2_000_000, 5_000_000_000));
        assert!(matches!(all.courses, Column::Wide(_)) && all.differences.is_empty());
        let expected = [FlowSummary::default(), complete(1_000_000, 900), complete(2_000_000, 5_000_000_000)];
        assert_eq!(all.iter().collect::<Vec<_>>(), expected);
        assert_eq!(all.range(1..3).map(|some| some.collect::<Vec<_>>()).as_deref(), Some(&expected[1..]));
        assert!(all.range(1..4).is_none() && all.get(3).is_none());
    }

    #[test]
    fn a_flow_that_did_something_else_is_kept_exactly() {
        let mut all = FlowSummaries::unknown(flows(), 64);
        let usual = complete(0, 800);
        let odd = [
            FlowSummary { marked_frames: 2, notices: 1, ..usual },
            FlowSummary { started: None, made_frames: u64::MAX, ..usual },
            FlowSummary { started: Some(at(5)), completed: Some(at(0)), until_known: true, ..usual },
            FlowSummary { acknowledged: Some(at(1 << 50)), received_bytes: 0, last_received: at(3), ..usual },
            FlowSummary { alone: Some(Span::ZERO), ended: None, ..usual },
        ];
        for one in odd {
            all.set(0, &one);
            assert_eq!((all.get(0), all.differences.len()), (Some(one), 1), "{one:?}");
        }
        assert!(all.differences.values().all(|bytes| bytes.len() < 16));
        let bytes = all.to_bytes();
        assert_eq!(bytes, all.iter().collect::<Vec<_>>().to_bytes());
        let read = FlowSummaries::from_bytes(&bytes);
        assert_eq!(read.iter().collect::<Vec<_>>(), all.iter().collect::<Vec<_>>());
        all.set(0, &usual);
        assert_eq!((all.get(0), all.differences.len()), (Some(usual), 0));
    }

    #[test]
    fn every_number_of_a_summary_is_one_of_its_words() {
        let numbers: [u64; WORDS] = std::array::from_fn(|place| if place == 23 { 1 } else { place as u64 + 2 });
        let summary = FlowSummary::of_words(&numbers);
        assert_eq!(summary.words(), numbers);
        assert_eq!(summary.to_bytes(), FlowSummary::from_bytes(&summary.to_bytes()).to_bytes());
        assert_eq!(FlowSummary::of_words(&[0; WORDS]), FlowSummary::default());
    }
}
