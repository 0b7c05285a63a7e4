//! Rate guidance: with its feedback, a congestion point sends a source a suggested rate and a maximum rate (E2CM-PR and
//! QCN-PR of the 802.1au bake-off).
//!
//! The number of flows is counted exactly, without a search: each queue has a list of its flows ordered by their last
//! arrival, and an index from flow to list entry. Both grow only when a new flow arrives.

use crate::advertised::{AdvertisementLaw, LAW, Seen, adapted};
use crate::increase::lasting;
use crate::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Values};
use crate::point::{Guidance, Passage, Surroundings, View};
use units::{Rate, Span, Time};

pub(crate) const GUIDANCE: Parameter = Parameter {
    name: "guidance",
    kind: ParameterKind::Choice(&[
        ("flows", "the capacity divided by the number of flows in the last `guidance_period`"),
        ("fecn", "the rate of the FECN law, updated every `guidance_period`, starting at the capacity"),
        ("none", "no suggestion"),
    ]),
    default: ParameterDefault::Value("flows", "our reading: the 802.1au bake-off slides do not state how"),
    meaning: "Rate that notices and probe replies suggest to a source.",
};
pub(crate) const GUIDANCE_PERIOD: Parameter = Parameter {
    name: "guidance_period",
    kind: ParameterKind::Time,
    default: ParameterDefault::Value("1ms", "802.1au bake-off slides: rateTimer and rateT 1 ms"),
    meaning: "Averaging time of the suggested rate.",
};
pub(crate) const MOST: Parameter = Parameter {
    name: "capacity",
    kind: ParameterKind::Choice(&[
        ("link", "the link rate"),
        (
            "unpaused",
            "the link rate, less the fraction of the last `guidance_period` during which the link was \
             paused",
        ),
    ]),
    default: ParameterDefault::Value("link", "802.1au bake-off slides: for example CP link speed"),
    meaning: "Maximum rate of a source, and the capacity that sources share.",
};
pub(crate) const MIN_RATE: Parameter = Parameter {
    name: "min_rate",
    kind: ParameterKind::Rate,
    default: ParameterDefault::Value("10Mb/s", "802.1au bake-off, table of parameters: that of FECN"),
    meaning: "Minimum suggested rate, with the FECN law.",
};

/// The keys of guidance, in the order of the tables.
pub(crate) const PARAMETERS: [Parameter; 8] =
    [GUIDANCE, GUIDANCE_PERIOD, MOST, MIN_RATE, LAW[0], LAW[1], LAW[2], LAW[3]];

/// The weight of a suggestion at a source.
pub(crate) const WEIGHT: Parameter = Parameter {
    name: "guidance_weight",
    kind: ParameterKind::Number(0.0, 1.0),
    default: ParameterDefault::Value("0.02", "802.1au bake-off slides: switchRateWeight 0.02"),
    meaning: "How far each message moves the rate of a source towards the suggested rate, as a fraction.",
};

/// A source's rate after a message with guidance: a fraction of the way to the suggested rate, and at most the maximum.
pub(crate) fn guided(rate: f64, weight: f64, guidance: Guidance) -> f64 {
    let [suggested, most] = [guidance.suggested, guidance.most].map(|rate| rate.as_bits_per_sec() as f64);
    (rate + weight * (suggested - rate)).min(most)
}

/// No list entry.
const NIL: u32 = u32::MAX;

/// A flow in the list of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Member {
    seen: Time,
    before: u32,
    after: u32,
}

units::encoded!(struct Member { seen, before, after });

/// The flows of a queue that were seen recently, least recent first.
#[derive(Clone, Debug, Default, PartialEq)]
struct Recent {
    /// By flow number; flows that are not in the list keep their last time.
    members: Vec<Option<Member>>,
    first: Option<u32>,
    last: u32,
    count: u32,
}

units::encoded!(struct Recent { members, first, last, count });

impl Recent {
    fn see(&mut self, now: Time, flow: u32) {
        let place = flow as usize;
        if self.members.len() <= place {
            self.members.resize(place + 1, None);
        }
        self.remove(flow);
        let before = if self.first.is_some() { self.last } else { NIL };
        self.members[place] = Some(Member { seen: now, before, after: NIL });
        match self.members.get_mut(before as usize) {
            Some(Some(before)) => before.after = flow,
            _ => self.first = Some(flow),
        }
        self.last = flow;
        self.count += 1;
    }

    fn remove(&mut self, flow: u32) {
        let Some(Member { before, after, .. }) = self.members[flow as usize].take() else { return };
        self.count -= 1;
        match self.members.get_mut(before as usize) {
            Some(Some(before)) => before.after = after,
            _ => self.first = (after != NIL).then_some(after),
        }
        match self.members.get_mut(after as usize) {
            Some(Some(after)) => after.before = before,
            _ => self.last = before,
        }
    }

    /// Returns the number of flows seen within that period.
    fn within(&mut self, now: Time, period: Span) -> u32 {
        while let Some(flow) = self.first
            && self.members[flow as usize].is_some_and(|member| now.saturating_since(member.seen) > period)
        {
            self.remove(flow);
        }
        self.count
    }
}

/// State of one queue.
#[derive(Clone, Debug, PartialEq)]
struct Known {
    recent: Recent,
    /// The rate computed by FECN's law.
    rate: f64,
    /// Start of this period, and its observations.
    since: Time,
    seen: Seen,
    /// The part of the last period in which it could send.
    unpaused: f64,
}

units::state!(struct Known { plain: recent, rate, since, seen, unpaused; });

/// The state from which a congestion point computes guidance.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Guide {
    by_flows: bool,
    period: Span,
    law: AdvertisementLaw,
    capacities: Vec<f64>,
    /// By (output, class).
    queues: Vec<Known>,
    classes: usize,
}

units::state!(struct Guide { fixed: by_flows, period, law, capacities, classes; parts: queues; });

impl Guide {
    /// Reads the guidance parameters; `None` if guidance is off.
    ///
    /// # Errors
    /// Fails if a period is zero.
    pub(crate) fn read(values: &Values) -> Result<Option<Guide>, Invalid> {
        let Some(how) = values.maybe_choice("guidance").filter(|how| how != "none") else { return Ok(None) };
        Ok(Some(Guide {
            by_flows: how == "flows",
            period: lasting("guidance_period", values.time("guidance_period"))?,
            law: AdvertisementLaw::read(values),
            capacities: Vec::new(),
            queues: Vec::new(),
            classes: 0,
        }))
    }

    pub(crate) fn attach(&mut self, surroundings: &Surroundings) {
        self.classes = surroundings.classes;
        self.capacities = surroundings.rates.iter().map(|rate| rate.as_bits_per_sec() as f64).collect();
        let queue = |at: usize| Known {
            recent: Recent::default(),
            rate: self.capacities[at / surroundings.classes],
            since: Time::ZERO,
            seen: Seen::default(),
            unpaused: 1.0,
        };
        self.queues = (0..surroundings.rates.len() * surroundings.classes).map(queue).collect();
    }

    /// Closes a period that has ended, at the first frame or query after its end.
    fn turn(&mut self, now: Time, output: u16, class: u8, view: &impl View) {
        let capacity = self.capacities[usize::from(output)];
        let known = &mut self.queues[usize::from(output) * self.classes + usize::from(class)];
        let passed = now.saturating_since(known.since);
        if passed < self.period {
            return;
        }
        if !self.by_flows {
            let queue = f64::from(view.waiting_bytes(output, class));
            known.rate = adapted(&self.law, known.rate, capacity, queue, &known.seen, passed);
        }
        known.unpaused = known.seen.unpaused();
        (known.since, known.seen) = (now, Seen::default());
    }

    /// Records a frame that joined its output queue or found no room there.
    pub(crate) fn see(&mut self, frame: &Passage, view: &impl View) {
        self.turn(frame.now, frame.output, frame.class, view);
        let known = &mut self.queues[usize::from(frame.output) * self.classes + usize::from(frame.class)];
        known.seen.see(frame.len, view.blocked(frame.output, frame.class));
        if self.by_flows {
            known.recent.see(frame.now, frame.flow);
        }
    }

    /// Returns the guidance for a flow of that queue.
    pub(crate) fn tell(&mut self, now: Time, output: u16, class: u8, view: &impl View) -> Guidance {
        self.turn(now, output, class, view);
        let known = &mut self.queues[usize::from(output) * self.classes + usize::from(class)];
        let unpaused = if self.law.unpaused { known.unpaused } else { 1.0 };
        let most = self.capacities[usize::from(output)] * unpaused;
        let suggested = match self.by_flows {
            true => most / f64::from(known.recent.within(now, self.period).max(1)),
            false => known.rate,
        };
        let rate = |bits: f64| Rate::from_bits_per_sec((bits as u64).max(1));
        Guidance { suggested: rate(suggested), most: rate(most) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_message_goes_part_of_the_way_to_the_suggestion() {
        let rate = Rate::from_megabits;
        let guidance = Guidance { suggested: rate(2_500), most: rate(10_000) };
        // 1000 + .02 * 1500, and 9000 - .02 * 6500.
        assert_eq!(guided(1e9, 0.02, guidance), 1.03e9);
        assert_eq!(guided(9e9, 0.02, guidance), 8.87e9);
        assert_eq!(guided(9e9, 0.02, Guidance { most: rate(4_000), ..guidance }), 4e9);
    }

    proptest! {
        /// The list counts what a search through all that was ever seen counts.
        #[test]
        fn flows_of_late_are_counted_as_a_search_counts_them(
            seen in prop::collection::vec((0..12_u32, 0..400_u64, any::<bool>()), 1..300),
        ) {
            let (mut recent, mut now) = (Recent::default(), Time::ZERO);
            let mut last = [None; 12];
            for (flow, gap, ask) in seen {
                now += Span::from_micros(gap);
                recent.see(now, flow);
                last[flow as usize] = Some(now);
                if ask {
                    let period = Span::from_millis(1);
                    let count = last.iter().flatten().filter(|seen| now - **seen <= period).count();
                    prop_assert_eq!(recent.within(now, period), count as u32);
                }
            }
        }
    }
}
