//! The source's side of InfiniBand congestion control: BECN, the congestion control table and its index (InfiniBand
//! Architecture Specification volume 1, annex A10).
//!
//! Each BECN raises the index; each expiry of a timer lowers it by one. The table entry at the index is the delay
//! between packets, in packet times, so it determines a rate independent of packet size.

use crate::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Values};
use crate::{Adapter, Allowance, Feedback, Pacing, ProtocolInfo, Reaction, ReactionPoint};
use units::{Bytes, Rate, Span, Time};

/// Entries of a congestion control table come in blocks of 64; two blocks are usual.
const ENTRIES: u64 = 128;

/// The unit of the timer.
const UNIT: Span = Span::from_nanos(1024);

/// Default period of the timer in packet times. With one mark in eleven packets it sustains the indices of up to 27
/// flows of a hotspot; the longer the period, the more link capacity an excess mark costs.
const PACKETS: u64 = 300;

pub(crate) const INFO: ProtocolInfo = ProtocolInfo {
    name: "infiniband-cc",
    summary: "InfiniBand congestion control: BECN moves an index into a table of injection delays",
    parameters: &[
        Parameter {
            name: "increase",
            kind: ParameterKind::Count(1, 255),
            default: ParameterDefault::Value("1", "our choice: the smallest step"),
            meaning: "Increase of the index per BECN (CCTI_Increase).",
        },
        Parameter {
            name: "limit",
            kind: ParameterKind::Count(1, ENTRIES - 1),
            default: ParameterDefault::Value("127", "our choice: the last of 128 table entries"),
            meaning: "Largest index (CCTI_Limit).",
        },
        Parameter {
            name: "least",
            kind: ParameterKind::Count(0, ENTRIES - 1),
            default: ParameterDefault::Value("0", "our choice: full rate without congestion"),
            meaning: "Smallest index (CCTI_Min).",
        },
        Parameter {
            name: "timer",
            kind: ParameterKind::Count(1, 65_535),
            default: ParameterDefault::Absent(
                "300 packet times of the flow on its link, at least 1: 150 at 32 Gb/s with packets of 2 KiB, as in \
                 published hardware experiments",
            ),
            meaning: "Interval of the timer that decreases the index by one, in units of 1.024 us (CCTI_Timer).",
        },
        Parameter {
            name: "slope",
            kind: ParameterKind::Number(0.001, 128.0),
            default: ParameterDefault::Value("0.125", "our choice: the smallest delay that an entry can express"),
            meaning: "Delay of entry 1, in packet times.",
        },
        Parameter {
            name: "table",
            kind: ParameterKind::Choice(&[
                ("geometric", "each index step lowers the rate by the same factor: entry n is (1 + slope)^n - 1"),
                ("linear", "each index step adds the same delay: entry n is n times slope"),
            ]),
            default: ParameterDefault::Value(
                "geometric",
                "our choice: fine steps for few flows, and rates low enough for many",
            ),
            meaning: "Growth of the delays with the index. Each delay is rounded to the 2-bit shift and 14-bit \
                 multiplier of a table entry.",
        },
        Parameter {
            name: "scope",
            kind: ParameterKind::Choice(&[
                ("qp", "each flow has its own index"),
                ("sl", "the flows of a host in one class share an index"),
            ]),
            default: ParameterDefault::Value("qp", "our choice: the finer of the two scopes in the specification"),
            meaning: "Which flows share an index.",
        },
    ],
    presets: &[],
    acknowledged: true,
    build: CongestionTable::build,
};

/// A table entry: delay in packet times = multiplier / 2^shift.
fn entry(packet_times: f64) -> (u8, u16) {
    const MOST: f64 = 16_383.0;
    let shift = (0..=3u8).rev().find(|&shift| packet_times * f64::from(1u8 << shift) <= MOST).unwrap_or(0);
    let multiplier = (packet_times * f64::from(1u8 << shift) + 0.5).min(MOST) as u16;
    (shift, multiplier)
}

/// A reaction point with an index into a congestion control table.
#[derive(Clone, Copy, Debug)]
pub struct CongestionTable {
    increase: u32,
    limit: u32,
    least: u32,
    /// Period of the timer; zero until the link is known, if the period is derived from it.
    period: Span,
    slope: f64,
    geometric: bool,
    shared: bool,
    link: u64,
    index: u32,
    /// Its entry: shift and multiplier.
    entry: (u8, u16),
    expires: Option<Time>,
}

units::state!(struct CongestionTable { fixed: increase, limit, least, period, slope, geometric, shared, link; plain: index, entry, expires; });

impl CongestionTable {
    /// Builds the reaction point from its parameters.
    ///
    /// # Errors
    /// Fails if the least index is above the limit.
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
            period: UNIT * values.maybe_count("timer").unwrap_or(0),
            slope: values.number("slope"),
            geometric: values.choice("table") == "geometric",
            shared: values.choice("scope") == "sl",
            link: 0,
            index: least,
            entry: (0, 0),
            expires: None,
        }))
    }

    /// Returns the delay of the current entry in packet times.
    fn delay(&self) -> f64 {
        match self.geometric {
            true => (0..self.index).fold(1.0, |delay, _| delay * (1.0 + self.slope)) - 1.0,
            false => f64::from(self.index) * self.slope,
        }
    }

    /// Moves the index.
    fn set(&mut self, index: u32) {
        self.index = index;
        self.entry = entry(self.delay());
    }

    /// Returns the index.
    #[must_use]
    pub fn index(&self) -> u32 {
        self.index
    }
}

impl ReactionPoint for CongestionTable {
    fn attach(&mut self, adapter: &Adapter) -> Result<(), Invalid> {
        self.link = adapter.link.as_bits_per_sec();
        let bits = u128::from((adapter.frame + adapter.overhead).bits() * PACKETS);
        let picos = bits * 1_000_000_000_000 / u128::from(self.link.max(1));
        if self.period == Span::ZERO {
            self.period = UNIT * (picos as u64 / UNIT.as_picos()).max(1);
        }
        self.set(self.index);
        Ok(())
    }

    fn on_sent(&mut self, _now: Time, _len: Bytes) {}

    fn on_feedback(&mut self, now: Time, feedback: &Feedback) {
        if let Feedback::Acknowledgement { marked: true, .. } | Feedback::CongestionNotification = feedback {
            self.set((self.index + self.increase).min(self.limit));
            if self.index > self.least && self.expires.is_none() {
                self.expires = Some(now + self.period);
            }
        }
    }

    fn on_deadline(&mut self, now: Time) {
        self.set(self.index - u32::from(self.index > self.least));
        self.expires = (self.index > self.least).then(|| now + self.period);
    }

    fn deadline(&self) -> Option<Time> {
        self.expires
    }

    fn allowance(&self) -> Allowance {
        if self.index == 0 {
            return Allowance::default();
        }
        let (shift, multiplier) = self.entry;
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
    use crate::parameter::Value;

    const MARK: Feedback = acknowledgement(true);
    const PLAIN: Feedback = acknowledgement(false);

    const fn acknowledgement(marked: bool) -> Feedback {
        let (network_round_trip, acknowledged, sent) = (Span::ZERO, Bytes::ZERO, Bytes::ZERO);
        let (host_delay, hops) = (Span::ZERO, 0);
        let path = crate::PathReport { network_round_trip, host_delay, hops, acknowledged, sent };
        Feedback::Acknowledgement { bytes: Bytes::new(2048), marked, round_trip: Span::ZERO, path }
    }

    fn point(values: &Values) -> Reaction {
        let mut point = CongestionTable::build(values).unwrap();
        point.attach(&Adapter::of(Rate::from_gigabits(8), Bytes::new(2048))).unwrap();
        point
    }

    /// A table in which entry n is n packet times, and a timer of 150 units.
    fn coarse() -> Values {
        Values::defaults(INFO.parameters)
            .with("slope", Value::Number(1.0))
            .with("table", Value::Choice("linear".to_owned()))
            .with("timer", Value::Count(150))
    }

    #[test]
    fn each_becn_slows_and_each_expiry_quickens() {
        let mut point = point(&coarse());
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
    fn by_default_a_step_is_an_eighth_of_a_packet_time_and_lasts_300_of_them() {
        for (gigabits, units) in [(8, 600), (32, 150), (100, 48), (200, 24), (3200, 1)] {
            let mut point = CongestionTable::build(&Values::defaults(INFO.parameters)).unwrap();
            point.attach(&Adapter::of(Rate::from_gigabits(gigabits), Bytes::new(2048))).unwrap();
            point.on_feedback(Time::ZERO, &MARK);
            assert_eq!(point.allowance().rate, Some(Rate::from_bits_per_sec(gigabits * 8_000_000_000 / 9)));
            assert_eq!(point.deadline(), Some(Time::ZERO + UNIT * units), "{gigabits} Gb/s");
        }
    }

    #[test]
    fn a_geometric_table_slows_by_the_same_factor_at_every_step() {
        let mut point = point(&Values::defaults(INFO.parameters));
        let mut last = 8e9;
        for index in 1..=127 {
            point.on_feedback(Time::ZERO, &MARK);
            let rate = point.allowance().rate.unwrap().as_bits_per_sec() as f64;
            // Eighths of a packet time are coarse at first, and the multiplier ends at 16383.
            if (12..80).contains(&index) {
                assert!((last / rate / 1.125 - 1.0).abs() < 0.03, "{index}: {rate}");
            }
            assert!(rate <= last);
            last = rate;
        }
        assert!((8e9 / last - 16_384.0).abs() < 1.0, "{last}");
    }

    #[test]
    fn the_index_stays_between_its_ends() {
        let values = coarse().with("least", Value::Count(2)).with("limit", Value::Count(4));
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
