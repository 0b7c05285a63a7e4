//! The source's side of InfiniBand congestion control: BECN, the congestion control table and its index (InfiniBand
//! Architecture Specification volume 1, annex A10).
//!
//! Each BECN raises the index, each expiry of a timer lowers it by one. The table's entry at the index says how long the
//! adapter waits between packets, in packet times: so it is a rate, whatever the packets' sizes.

use crate::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Values};
use crate::{Adapter, Allowance, Feedback, Pacing, ProtocolInfo, Reaction, ReactionPoint};
use units::{Bytes, Rate, Span, Time};

/// Entries of a congestion control table come in blocks of 64; two blocks are usual.
const ENTRIES: u64 = 128;

pub(crate) const INFO: ProtocolInfo = ProtocolInfo {
    name: "infiniband-cc",
    summary: "InfiniBand congestion control: BECN moves an index into a table of injection delays",
    parameters: &[
        Parameter {
            name: "increase",
            kind: ParameterKind::Count(1, 255),
            default: ParameterDefault::Value("1", "our choice: the smallest step"),
            meaning: "What each BECN adds to the index (CCTI_Increase).",
        },
        Parameter {
            name: "limit",
            kind: ParameterKind::Count(1, ENTRIES - 1),
            default: ParameterDefault::Value("127", "our choice: all of a table of 128 entries"),
            meaning: "The index never exceeds this (CCTI_Limit).",
        },
        Parameter {
            name: "least",
            kind: ParameterKind::Count(0, ENTRIES - 1),
            default: ParameterDefault::Value("0", "our choice: full speed without congestion"),
            meaning: "The index never falls below this (CCTI_Min).",
        },
        Parameter {
            name: "timer",
            kind: ParameterKind::Count(1, 65_535),
            default: ParameterDefault::Value("150", "our choice, as published experiments with hardware have it"),
            meaning: "Each so many units of 1.024 us lower the index by one (CCTI_Timer).",
        },
        Parameter {
            name: "slope",
            kind: ParameterKind::Number(0.001, 128.0),
            default: ParameterDefault::Value("1", "our choice: at index n one packet goes in 1 + n packet times"),
            meaning: "Packet times that each step of the index adds to the delay: entry n of the table is n times this, in the table's 2-bit shift and 14-bit multiplier.",
        },
        Parameter {
            name: "scope",
            kind: ParameterKind::Choice(&[
                ("qp", "each flow has an index of its own"),
                ("sl", "the flows of a host in one class share one"),
            ]),
            default: ParameterDefault::Value("qp", "our choice: the finer of the two that the specification allows"),
            meaning: "What an index belongs to.",
        },
    ],
    presets: &[],
    acknowledged: true,
    build: CongestionTable::build,
};

/// A table entry: delay in packet times = multiplier / 2^shift.
fn entry(packet_times: f64) -> (u32, u32) {
    const MOST: f64 = 16_383.0;
    let shift = (0..=3u32).rev().find(|&shift| packet_times * f64::from(1 << shift) <= MOST).unwrap_or(0);
    let multiplier = (packet_times * f64::from(1 << shift) + 0.5).min(MOST) as u32;
    (shift, multiplier)
}

/// A reaction point with an index into a congestion control table.
#[derive(Clone, Copy, Debug)]
pub struct CongestionTable {
    increase: u32,
    limit: u32,
    least: u32,
    period: Span,
    slope: f64,
    shared: bool,
    link: u64,
    index: u32,
    expires: Option<Time>,
}

impl CongestionTable {
    /// From its parameters.
    ///
    /// # Errors
    /// If the least index is above the limit.
    pub fn build(values: &Values) -> Result<Reaction, Invalid> {
        let (least, limit) = (values.count("least") as u32, values.count("limit") as u32);
        if least > limit {
            let message = format!("the least index, {least}, is above the limit, {limit}");
            return Err(Invalid::new("least", message, "give a smaller one, or raise `limit`"));
        }
        Ok(Reaction::CongestionTable(CongestionTable {
            increase: values.count("increase") as u32,
            limit,
            least,
            period: Span::from_nanos(1024) * values.count("timer"),
            slope: values.number("slope"),
            shared: values.choice("scope") == "sl",
            link: 0,
            index: least,
            expires: None,
        }))
    }

    /// The index.
    #[must_use]
    pub fn index(&self) -> u32 {
        self.index
    }
}

impl ReactionPoint for CongestionTable {
    fn attach(&mut self, adapter: &Adapter) -> Result<(), Invalid> {
        self.link = adapter.link.as_bits_per_sec();
        Ok(())
    }

    fn on_sent(&mut self, _now: Time, _len: Bytes) {}

    fn on_feedback(&mut self, now: Time, feedback: &Feedback) {
        if let Feedback::Acknowledgement { marked: true, .. } = feedback {
            self.index = (self.index + self.increase).min(self.limit);
            if self.index > self.least && self.expires.is_none() {
                self.expires = Some(now + self.period);
            }
        }
    }

    fn on_deadline(&mut self, now: Time) {
        self.index -= u32::from(self.index > self.least);
        self.expires = (self.index > self.least).then(|| now + self.period);
    }

    fn deadline(&self) -> Option<Time> {
        self.expires
    }

    fn allowance(&self) -> Allowance {
        if self.index == 0 {
            return Allowance::default();
        }
        let (shift, multiplier) = entry(f64::from(self.index) * self.slope);
        // One packet in 1 + multiplier / 2^shift packet times.
        let rate = (u128::from(self.link) << shift) / ((1 << shift) + u128::from(multiplier));
        Allowance { rate: Some(Rate::from_bits_per_sec((rate as u64).max(1))), window: None }
    }

    fn pacing(&self) -> Pacing {
        Pacing::FromStart
    }

    fn shares_feedback(&self) -> bool {
        self.shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: Feedback = Feedback::Acknowledgement { bytes: Bytes::new(2048), marked: true, round_trip: Span::ZERO };
    const PLAIN: Feedback =
        Feedback::Acknowledgement { bytes: Bytes::new(2048), marked: false, round_trip: Span::ZERO };

    fn point(values: &Values) -> Reaction {
        let mut point = CongestionTable::build(values).unwrap();
        point.attach(&Adapter::of(Rate::from_gigabits(8), Bytes::new(2048))).unwrap();
        point
    }

    #[test]
    fn each_becn_slows_and_each_expiry_quickens() {
        let mut point = point(&Values::defaults(INFO.parameters));
        assert_eq!(point.allowance().rate, None);
        point.on_feedback(Time::ZERO, &MARK);
        point.on_feedback(Time::ZERO, &PLAIN);
        // One packet in two packet times.
        assert_eq!(point.allowance().rate, Some(Rate::from_gigabits(4)));
        point.on_feedback(Time::from_picos(5), &MARK);
        point.on_feedback(Time::from_picos(6), &MARK);
        assert_eq!(point.allowance().rate, Some(Rate::from_gigabits(2)));
        // 150 units of 1.024 us from the first.
        let first = Time::ZERO + Span::from_nanos(153_600);
        assert_eq!(point.deadline(), Some(first));
        point.on_deadline(first);
        assert_eq!(point.allowance().rate, Some(Rate::from_bits_per_sec(8_000_000_000 / 3)));
        point.on_deadline(first + Span::from_nanos(153_600));
        point.on_deadline(first + Span::from_nanos(307_200));
        assert_eq!((point.allowance().rate, point.deadline()), (None, None));
    }

    #[test]
    fn the_index_stays_between_its_ends() {
        use crate::parameter::Value;
        let values = Values::defaults(INFO.parameters).with("least", Value::Count(2)).with("limit", Value::Count(4));
        let mut point = point(&values.clone().with("increase", Value::Count(3)));
        for _ in 0..3 {
            point.on_feedback(Time::ZERO, &MARK);
        }
        assert_eq!(point.allowance().rate, Some(Rate::from_bits_per_sec(8_000_000_000 / 5)));
        for step in 1..10 {
            point.on_deadline(Time::from_picos(step));
        }
        assert_eq!(point.allowance().rate, Some(Rate::from_bits_per_sec(8_000_000_000 / 3)));
        assert!(CongestionTable::build(&values.with("least", Value::Count(5))).is_err());
    }

    #[test]
    fn entries_are_as_fine_as_their_bits_allow() {
        assert_eq!(entry(0.125), (3, 1));
        assert_eq!(entry(1000.0), (3, 8000));
        assert_eq!(entry(4096.0), (1, 8192));
        assert_eq!(entry(1e9), (0, 16_383));
    }
}
