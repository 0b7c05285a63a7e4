//! The rate that a port advertises to its flows in FECN and in the rate guidance of E2CM-PR and QCN-PR. Every period,
//! the rate is multiplied by the ratio of the capacity to the arrival rate and by a factor that falls as the queue
//! grows.

use crate::parameter::{Parameter, ParameterDefault, ParameterKind, Values};
use units::Span;

const BAKE_OFF: &str = "802.1au bake-off, table of parameters";

pub(crate) const CAPACITY: Parameter = Parameter {
    name: "capacity",
    kind: ParameterKind::Choice(&[
        ("link", "the link rate"),
        ("unpaused", "the link rate, less the fraction of the period during which the link was paused"),
    ]),
    default: ParameterDefault::Value("link", "our reading: the slides say capacity"),
    meaning: "Capacity that the flows share.",
};

/// The parameters of the law, in the order of the tables.
pub(crate) const LAW: [Parameter; 4] = [
    Parameter {
        name: "gain_below",
        kind: ParameterKind::Number(1.0, 100.0),
        default: ParameterDefault::Value("1.1", BAKE_OFF),
        meaning: "Rate factor at an empty queue (a).",
    },
    Parameter {
        name: "gain_above",
        kind: ParameterKind::Number(1.0, 100.0),
        default: ParameterDefault::Value("1.002", BAKE_OFF),
        meaning: "Slope of the rate factor above the set point (b).",
    },
    Parameter {
        name: "least_factor",
        kind: ParameterKind::Number(0.0, 1.0),
        default: ParameterDefault::Value("0.1", BAKE_OFF),
        meaning: "Smallest rate factor (c).",
    },
    Parameter {
        name: "smoothing",
        kind: ParameterKind::Number(0.0, 1.0),
        default: ParameterDefault::Value("0.5", BAKE_OFF),
        meaning: "Smoothing: weight of the newly computed rate; the old rate has the rest (alpha).",
    },
];

/// The law by which a port adapts its rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AdvertisementLaw {
    pub(crate) set_point: f64,
    below: f64,
    above: f64,
    least: f64,
    smoothing: f64,
    /// No rate is less.
    pub(crate) min_rate: f64,
    /// Time in which a port is stopped does not count.
    pub(crate) unpaused: bool,
}

impl AdvertisementLaw {
    pub(crate) fn read(values: &Values) -> AdvertisementLaw {
        AdvertisementLaw {
            set_point: values.size("set_point").get() as f64,
            below: values.number("gain_below"),
            above: values.number("gain_above"),
            least: values.number("least_factor"),
            smoothing: values.number("smoothing"),
            min_rate: values.rate("min_rate").as_bits_per_sec() as f64,
            unpaused: values.choice("capacity") == "unpaused",
        }
    }

    /// The factor of a queue.
    pub(crate) fn factor(&self, queue: f64) -> f64 {
        let hyperbola = |gain: f64| gain * self.set_point / ((gain - 1.0) * queue + self.set_point);
        if queue <= self.set_point { hyperbola(self.below) } else { hyperbola(self.above).max(self.least) }
    }
}

/// Observations of a port in one period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Bits that have come.
    pub(crate) arrived: u64,
    /// Number of observations, and of those at which it could not send.
    looks: u32,
    stopped: u32,
}

units::encoded!(struct Seen { arrived, looks, stopped });

impl Seen {
    pub(crate) fn see(&mut self, len: u16, blocked: bool) {
        self.arrived += u64::from(len) * 8;
        self.looks += 1;
        self.stopped += u32::from(blocked);
    }

    /// The part of the period in which it could send, as far as arrivals saw.
    pub(crate) fn unpaused(&self) -> f64 {
        1.0 - f64::from(self.stopped) / f64::from(self.looks.max(1))
    }
}

/// The rate after a period.
pub(crate) fn adapted(law: &AdvertisementLaw, rate: f64, capacity: f64, queue: f64, seen: &Seen, period: Span) -> f64 {
    let unpaused = if law.unpaused { seen.unpaused() } else { 1.0 };
    let demand = seen.arrived as f64 / period.as_secs_f64();
    let wanted = if demand > 0.0 { rate * law.factor(queue) * capacity * unpaused / demand } else { capacity };
    let rate = law.smoothing * wanted + (1.0 - law.smoothing) * rate;
    rate.min(capacity).max(law.min_rate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fecn::POINT;

    fn law() -> AdvertisementLaw {
        AdvertisementLaw::read(&Values::defaults(POINT.parameters))
    }

    #[test]
    fn the_factor_is_one_at_the_set_point_and_falls() {
        let law = law();
        assert!((law.factor(0.0) - 1.1).abs() < 1e-12);
        assert!((law.factor(24_000.0) - 1.0).abs() < 1e-12);
        assert!(law.factor(24_001.0) < 1.0);
        assert!((law.factor(1e12) - 0.1).abs() < 1e-12);
        // a Qeq / ((a-1) q + Qeq) at half the set point: 1.1 * 24000 / (0.1 * 12000 + 24000).
        assert!((law.factor(12_000.0) - 26_400.0 / 25_200.0).abs() < 1e-12);
    }

    #[test]
    fn a_period_halves_the_way_to_the_fair_rate() {
        let period = Span::from_millis(1);
        // 20 Mbit in 1 ms are twice the capacity; at the set point the rate of 1 Gb/s should be half of it.
        let seen = Seen { arrived: 20_000_000, ..Seen::default() };
        let rate = adapted(&law(), 1e9, 1e10, 24_000.0, &seen, period);
        assert!((rate - 0.75e9).abs() < 1.0, "{rate}");
        // Without arrivals it goes to the capacity.
        let rate = adapted(&law(), rate, 1e10, 0.0, &Seen::default(), period);
        assert!((rate - 5.375e9).abs() < 1.0);
    }

    #[test]
    fn what_is_stopped_is_not_shared_out() {
        let mut seen = Seen::default();
        (0..4).for_each(|n| seen.see(1500, n == 0));
        assert_eq!((seen.arrived, seen.unpaused()), (48_000, 0.75));
        assert_eq!(Seen::default().unpaused(), 1.0);
        // 48000 bits in 4.8 us are 10 Gb/s, the capacity; three quarters of it are shared out: 1 Gb/s becomes .875.
        let law = AdvertisementLaw { unpaused: true, ..law() };
        let rate = adapted(&law, 1e9, 1e10, 24_000.0, &seen, Span::from_nanos(4_800));
        assert!((rate - 0.875e9).abs() < 1.0, "{rate}");
    }
}
