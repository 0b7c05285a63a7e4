//! Flows that wait for other flows.
//!
//! A host knows only what happens at itself. So a flow may wait for flows that end at its source, which are complete there
//! with their last byte, and for flows that start at its source, which are complete there when the source knows: when the
//! last acknowledgement is back or, without acknowledgements, when the last frame has left. No message is needed, and no
//! result depends on the partitioning.

use super::{Destination, FlowSpec};
use std::ops::Range;
use units::Span;

/// Which flows wait, for which others, and how long after them. Flows without dependencies take no room here.
///
/// A flow may have several entries, with delays of their own: it starts when all of them are met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependencies {
    waits: Vec<Wait>,
    /// The awaited flows of all `waits`, one after the other.
    awaited: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wait {
    flow: u32,
    /// End of its part of `awaited`, which begins where the one before ends.
    end: u32,
    delay: Span,
    /// Flows that start here are awaited until their last frame has left, acknowledged or not.
    in_order: bool,
}

/// What a host sees of an awaited flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Milestone {
    /// The last frame has left its source.
    Sent,
    /// The last acknowledgement is back at its source.
    Acknowledged,
    /// The last byte has been consumed at its destination.
    Delivered,
}

/// An entry of [`Dependencies`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency<'a> {
    /// The flow that waits.
    pub flow: u32,
    /// The flows that it waits for.
    pub awaited: &'a [u32],
    /// The time after the last of them.
    pub delay: Span,
    /// Whether flows that start at the same host are awaited until their last frame has left only, even if they are
    /// acknowledged: that keeps the order of sending.
    pub in_order: bool,
}

/// Why a flow cannot wait as it is told to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DependencyError {
    /// The waiting flows are not in ascending order, or one of them does not exist.
    Order {
        /// The flow that waits.
        flow: u32,
    },
    /// There is no such flow.
    Unknown {
        /// The flow that waits.
        flow: u32,
        /// The missing one.
        awaited: u32,
    },
    /// A flow without a size never completes.
    Endless {
        /// The flow that waits.
        flow: u32,
        /// The one without a size.
        awaited: u32,
    },
    /// The awaited flow neither starts nor ends at the source of the waiting one.
    Elsewhere {
        /// The flow that waits.
        flow: u32,
        /// The one that is elsewhere.
        awaited: u32,
    },
    /// Each waits for the next, and the last for the first.
    Cycle(Vec<u32>),
}

/// The most flows of a cycle that a message names.
const MOST_NAMED: usize = 8;

impl DependencyError {
    /// The flow that waits.
    #[must_use]
    pub fn flow(&self) -> u32 {
        match self {
            DependencyError::Order { flow }
            | DependencyError::Unknown { flow, .. }
            | DependencyError::Endless { flow, .. }
            | DependencyError::Elsewhere { flow, .. } => *flow,
            DependencyError::Cycle(flows) => flows.first().copied().unwrap_or_default(),
        }
    }

    /// Says what is wrong, and what to do, with flows named by `name`.
    pub fn describe(&self, name: impl Fn(u32) -> String) -> (String, &'static str) {
        match self {
            DependencyError::Order { .. } => {
                ("it is listed twice, or out of order, among the flows that wait".into(), "list each once, ascending")
            }
            DependencyError::Unknown { awaited, .. } => {
                (format!("it waits for flow {awaited}, which does not exist"), "name an existing flow")
            }
            DependencyError::Endless { awaited, .. } => {
                (format!("it waits for {}, which never completes", name(*awaited)), "give that flow a size")
            }
            DependencyError::Elsewhere { awaited, .. } => (
                format!("it waits for {}, which neither starts nor ends at its source", name(*awaited)),
                "a host observes only its own flows: wait for a flow that ends there, such as a short message from the \
                 other host",
            ),
            DependencyError::Cycle(flows) => {
                let mut names: Vec<String> = flows.iter().take(MOST_NAMED).map(|&flow| name(flow)).collect();
                if flows.len() > MOST_NAMED {
                    names.push(format!("{} more", flows.len() - MOST_NAMED));
                }
                names.extend(flows.first().map(|&flow| name(flow)));
                let names = names.join(" waits for ");
                (format!("flows wait for each other: {names}"), "remove one of these dependencies")
            }
        }
    }
}

impl Dependencies {
    /// Whether no flow waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waits.is_empty()
    }

    /// Lets a flow wait until others are complete, and then for `delay`; its own start is the earliest. Flows are added in
    /// ascending order. Nothing happens if there are no others.
    pub fn add(&mut self, flow: u32, after: &[u32], delay: Span) {
        self.push(Dependency { flow, awaited: after, delay, in_order: false });
    }

    /// Lets a flow wait until other flows of the same source have left it.
    pub fn add_in_order(&mut self, flow: u32, behind: &[u32]) {
        self.push(Dependency { flow, awaited: behind, delay: Span::ZERO, in_order: true });
    }

    /// Adds an entry, whose flow is not before those added so far. Nothing happens if it awaits no other.
    pub fn push(&mut self, Dependency { flow, awaited, delay, in_order }: Dependency<'_>) {
        if !awaited.is_empty() {
            self.awaited.extend_from_slice(awaited);
            self.waits.push(Wait { flow, end: self.awaited.len() as u32, delay, in_order });
        }
    }

    /// Adds the dependencies of flows that are numbered from `first` here.
    pub fn append(&mut self, other: &Dependencies, first: u32) {
        let mut after = Vec::new();
        for entry in other.iter() {
            after.clear();
            after.extend(entry.awaited.iter().map(|&flow| flow + first));
            self.push(Dependency { flow: entry.flow + first, awaited: &after, ..entry });
        }
    }

    /// All entries, ascending by flow.
    pub fn iter(&self) -> impl Iterator<Item = Dependency<'_>> {
        (0..self.waits.len()).map(|place| {
            let Wait { flow, delay, in_order, .. } = self.waits[place];
            Dependency { flow, awaited: &self.awaited[self.part(place..place + 1)], delay, in_order }
        })
    }

    /// The number of pairs of a flow and one that it waits for.
    #[must_use]
    pub fn pairs(&self) -> usize {
        self.awaited.len()
    }

    /// The entries of a flow.
    fn entries(&self, flow: u32) -> Range<usize> {
        let first = self.waits.partition_point(|wait| wait.flow < flow);
        first..first + self.waits[first..].iter().take_while(|wait| wait.flow == flow).count()
    }

    /// The part of `awaited` of some entries.
    fn part(&self, entries: Range<usize>) -> Range<usize> {
        let end = |place: usize| place.checked_sub(1).map_or(0, |last| self.waits[last].end as usize);
        end(entries.start)..end(entries.end)
    }

    /// The flows that a flow waits for.
    #[must_use]
    pub fn of(&self, flow: u32) -> &[u32] {
        &self.awaited[self.part(self.entries(flow))]
    }

    /// Whether a flow waits.
    #[must_use]
    pub fn waits(&self, flow: u32) -> bool {
        self.waits.binary_search_by_key(&flow, |wait| wait.flow).is_ok()
    }

    /// What the source of a flow sees of another that it waits for; `None` if it cannot know of that.
    #[must_use]
    pub fn milestone(waiting: &FlowSpec, awaited: &FlowSpec, in_order: bool) -> Option<Milestone> {
        match awaited.destination {
            Destination::Host(host) if host == waiting.source => Some(Milestone::Delivered),
            _ if awaited.source != waiting.source => None,
            _ if in_order || awaited.acknowledge.is_none() => Some(Milestone::Sent),
            _ => Some(Milestone::Acknowledged),
        }
    }

    /// All that is wrong with the dependencies among these flows.
    #[must_use]
    pub fn errors(&self, flows: &[FlowSpec]) -> Vec<DependencyError> {
        let mut errors = Vec::new();
        let mut last = None;
        for Dependency { flow, awaited, in_order, .. } in self.iter() {
            let Some(waiting) = flows.get(flow as usize).filter(|_| last.is_none_or(|last| last <= flow)) else {
                errors.push(DependencyError::Order { flow });
                continue;
            };
            last = Some(flow);
            for &awaited in awaited {
                match flows.get(awaited as usize) {
                    None => errors.push(DependencyError::Unknown { flow, awaited }),
                    Some(_) if awaited == flow => errors.push(DependencyError::Cycle(vec![flow])),
                    Some(other) if other.size.is_none() => errors.push(DependencyError::Endless { flow, awaited }),
                    Some(other) if Dependencies::milestone(waiting, other, in_order).is_none() => {
                        errors.push(DependencyError::Elsewhere { flow, awaited });
                    }
                    Some(_) => {}
                }
            }
        }
        if errors.is_empty() {
            errors.extend(self.cycle().map(DependencyError::Cycle));
        }
        errors
    }

    /// Flows of which each waits for the next and the last for the first, if there are any.
    fn cycle(&self) -> Option<Vec<u32>> {
        // Walks along awaited flows; a flow whose walk has ended cannot be in a cycle.
        const NEW: u8 = 0;
        const ON_WALK: u8 = 1;
        const ENDED: u8 = 2;
        let mut state = vec![NEW; self.waits.len()];
        for start in 0..self.waits.len() {
            let mut walk: Vec<(usize, Range<usize>)> = Vec::new();
            let mut next = Some(self.waits[start].flow);
            while next.is_some() || !walk.is_empty() {
                if let Some(entries) = next.take().map(|flow| self.entries(flow)).filter(|entries| !entries.is_empty())
                {
                    match state[entries.start] {
                        NEW => {
                            state[entries.start] = ON_WALK;
                            walk.push((entries.start, self.part(entries)));
                        }
                        ON_WALK => {
                            let first = walk.iter().position(|(on, _)| *on == entries.start)?;
                            return Some(walk[first..].iter().map(|(on, _)| self.waits[*on].flow).collect());
                        }
                        _ => {}
                    }
                }
                if let Some((here, left)) = walk.last_mut() {
                    next = left.next().map(|place| self.awaited[place]);
                    if next.is_none() {
                        state[*here] = ENDED;
                        walk.pop();
                    }
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::graph::HostId;
    use units::Bytes;

    fn flow(from: u32, to: u32) -> FlowSpec {
        FlowSpec { size: Some(Bytes::new(1000)), ..FlowSpec::greedy(HostId(from), HostId(to)) }
    }

    fn waits(of: &[(u32, &[u32])]) -> Dependencies {
        let mut dependencies = Dependencies::default();
        of.iter().for_each(|&(flow, after)| dependencies.add(flow, after, Span::from_nanos(u64::from(flow))));
        dependencies
    }

    #[test]
    fn what_was_added_is_found() {
        let mut all = waits(&[(1, &[0]), (2, &[]), (4, &[1, 0, 3])]);
        all.add_in_order(4, &[2]);
        assert_eq!((all.pairs(), all.waits(1), all.waits(2)), (5, true, false));
        assert_eq!((all.of(1), all.of(3), all.of(4)), (&[0][..], &[][..], &[1, 0, 3, 2][..]));
        all.append(&waits(&[(1, &[0])]), 10);
        assert_eq!(all.of(11), [10]);
        let entries: Vec<_> = all.iter().map(|entry| (entry.flow, entry.delay.as_picos(), entry.in_order)).collect();
        assert_eq!(entries, [(1, 1000, false), (4, 4000, false), (4, 0, true), (11, 1000, false)]);
        assert!(Dependencies::default().is_empty());
    }

    #[test]
    fn a_host_can_only_wait_for_its_own_flows() {
        let flows = [flow(0, 1), flow(1, 2), flow(1, 0), flow(2, 0), FlowSpec { size: None, ..flow(0, 1) }];
        assert!(waits(&[(1, &[0]), (2, &[0, 1])]).errors(&flows).is_empty());
        assert_eq!(waits(&[(1, &[3])]).errors(&flows), [DependencyError::Elsewhere { flow: 1, awaited: 3 }]);
        assert_eq!(waits(&[(1, &[4])]).errors(&flows), [DependencyError::Endless { flow: 1, awaited: 4 }]);
        assert_eq!(waits(&[(1, &[9])]).errors(&flows), [DependencyError::Unknown { flow: 1, awaited: 9 }]);
        assert_eq!(waits(&[(9, &[1])]).errors(&flows), [DependencyError::Order { flow: 9 }]);
        assert_eq!(waits(&[(2, &[1]), (1, &[0])]).errors(&flows), [DependencyError::Order { flow: 1 }]);
    }

    #[test]
    fn a_cycle_is_named() {
        let flows = [flow(0, 1), flow(1, 2), flow(2, 0), flow(0, 1)];
        let cycle = waits(&[(0, &[2]), (1, &[0]), (2, &[1]), (3, &[0])]).errors(&flows);
        assert_eq!(cycle, [DependencyError::Cycle(vec![0, 2, 1])]);
        let (text, _) = cycle[0].describe(|flow| format!("f{flow}"));
        assert_eq!(text, "flows wait for each other: f0 waits for f2 waits for f1 waits for f0");
        assert_eq!(waits(&[(0, &[0])]).errors(&flows), [DependencyError::Cycle(vec![0])]);
        // A flow that several wait for is no cycle.
        assert!(waits(&[(1, &[0]), (2, &[1]), (3, &[2, 0])]).errors(&flows).is_empty());
    }
}
