//! HPCC as csg-htsim (`hpcc.cpp`) has it: utilisation is an average since the first telemetry of the flow.
//!
//! It differs from the paper in three points. Stamps are compared with the first ones of the path, which are never
//! replaced. The weight of a sample is 0 until a base round trip has passed since then, and 1 from then on. And every
//! acknowledgement divides the present window by the utilisation, not the reference of the last round. So the window of
//! a flow on a full link tends to W_AI / (1 - eta / U), whatever the queue: flow control has to hold what is too much.
//!
//! A queue includes the frame that carries its stamp, and neither the rate nor the window is limited by the link.

use crate::parameter::Values;
use crate::path::{bits, continues, seconds};
use crate::{Adapter, Allowance, Stamp};
use units::{Bytes, Rate, Span};

/// The state of this reading of HPCC.
#[derive(Clone, Debug)]
pub(crate) struct Averages {
    eta: f64,
    max_stage: u32,
    /// Additive increase in bits per second.
    ai_rate: f64,
    link: f64,
    /// Base round trip in seconds.
    round_trip: f64,
    /// Bits of a frame on the wire.
    frame: f64,
    /// The first stamps of the path.
    first: Vec<Stamp>,
    utilisation: f64,
    stage: u32,
    /// Bytes that may be unacknowledged; a whole number.
    window: f64,
}

units::state!(struct Averages { fixed: eta, max_stage, ai_rate, link, round_trip, frame; plain: first, utilisation, stage, window; });

impl Averages {
    /// Reads `eta`, `max_stage` and `ai_rate`.
    pub(crate) fn read(values: &Values) -> Averages {
        let eta = values.number("eta");
        Averages {
            eta,
            max_stage: values.count("max_stage") as u32,
            ai_rate: bits(values.rate("ai_rate")),
            link: 0.0,
            round_trip: 0.0,
            frame: 0.0,
            first: Vec::new(),
            utilisation: eta,
            stage: 0,
            window: 0.0,
        }
    }

    /// Starts with the window of the link.
    pub(crate) fn attach(&mut self, adapter: &Adapter, round_trip: Span) {
        self.link = bits(adapter.link);
        self.round_trip = seconds(round_trip);
        self.frame = (adapter.frame + adapter.overhead).bits() as f64;
        self.window = (self.link * self.round_trip / 8.0).floor();
    }

    /// An acknowledgement with its stamps; `commit` is true for the first one of a round.
    pub(crate) fn on_acknowledgement(&mut self, stamps: &[Stamp], commit: bool) {
        if continues(self.first.iter().copied(), stamps) {
            self.measure(stamps);
        } else {
            self.first.clear();
            self.first.extend_from_slice(stamps);
        }
        let increase = self.ai_rate * self.round_trip / 8.0;
        let load = self.utilisation / self.eta;
        let divides = load >= 1.0 || self.stage >= self.max_stage;
        self.window = (if divides { self.window / load } else { self.window } + increase).floor();
        if commit {
            self.stage = if divides { 0 } else { self.stage + 1 };
        }
    }

    fn measure(&mut self, stamps: &[Stamp]) {
        let (mut highest, mut over) = (0.0, 0.0);
        for (stamp, first) in stamps.iter().zip(&self.first) {
            let interval = seconds(stamp.at - first.at);
            if interval == 0.0 {
                continue;
            }
            let rate = bits(stamp.rate);
            let sent = (stamp.sent - first.sent).bits() as f64 / interval;
            let queue = stamp.queue.min(first.queue).bits() as f64 + self.frame;
            let utilisation = sent / rate + queue / (rate * self.round_trip);
            if utilisation > highest {
                (highest, over) = (utilisation, interval);
            }
        }
        if over >= self.round_trip {
            self.utilisation = highest;
        }
    }

    pub(crate) fn allowance(&self) -> Allowance {
        let rate = self.window * 8.0 / self.round_trip;
        let rate = (rate < self.link).then(|| Rate::from_bits_per_sec((rate as u64).max(1)));
        Allowance { rate, window: Some(Bytes::new(self.window as u64)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hpcc::INFO;
    use crate::{Feedback, PathReport, Reaction, ReactionPoint};
    use units::Time;

    fn built() -> Reaction {
        let preset = INFO.presets.iter().find(|preset| preset.name == "htsim").unwrap();
        let mut source = (INFO.build)(&Values::preset(INFO.parameters, preset)).unwrap();
        source.attach(&Adapter::of(Rate::from_gigabits(100), Bytes::new(9064))).unwrap();
        source
    }

    fn stamp(micros: u64, queue: u64, sent: u64) -> Stamp {
        let at = Time::ZERO + Span::from_micros(micros);
        Stamp { at, queue: Bytes::new(queue), sent: Bytes::new(sent), rate: Rate::from_gigabits(100) }
    }

    fn acknowledge(source: &mut Reaction, stamps: &[Stamp], acknowledged: u64, sent: u64) -> u64 {
        let path =
            PathReport { acknowledged: Bytes::new(acknowledged), sent: Bytes::new(sent), ..PathReport::default() };
        source.on_telemetry(Time::ZERO, stamps);
        let round_trip = Span::from_micros(12);
        let feedback = Feedback::Acknowledgement { bytes: Bytes::new(9000), marked: false, round_trip, path };
        source.on_feedback(Time::ZERO, &feedback);
        source.allowance().window.unwrap().get()
    }

    #[test]
    fn for_a_base_round_trip_every_acknowledgement_adds_a_packet() {
        let mut source = built();
        assert_eq!(source.allowance(), Allowance { rate: None, window: Some(Bytes::new(150_000)) });
        assert_eq!(acknowledge(&mut source, &[stamp(0, 50_000, 0)], 9000, 150_000), 159_000);
        // A full link with a long queue, but for less than 12 us.
        assert_eq!(acknowledge(&mut source, &[stamp(11, 500_000, 137_500)], 18_000, 200_000), 168_000);
    }

    #[test]
    fn the_window_is_divided_by_the_average_since_the_first_stamps_at_every_acknowledgement() {
        let mut source = built();
        acknowledge(&mut source, &[stamp(0, 20_936, 0)], 9000, 150_000);
        // Link full; 20936 B and the frame itself are 0.2 of 150000 B, so 1.2 in all. Of one round, each divides.
        let mut window = 159_000.0;
        for at in [12, 13, 14] {
            let next = acknowledge(&mut source, &[stamp(at, 100_000, at * 12_500)], 9000, 200_000);
            window = f64::floor(window / (1.2 / 0.95) + 9000.0);
            assert_eq!(next as f64, window);
        }
        // Towards W_AI / (1 - eta / U): below the link's window the rate is limited, too.
        let mut last = 0;
        for at in 15..200 {
            last = acknowledge(&mut source, &[stamp(at, 100_000, at * 12_500)], 9000, 200_000);
        }
        assert!((last as f64 - 9000.0 / (1.0 - 0.95 / 1.2)).abs() < 5.0, "{last}");
        let rate = source.allowance().rate.unwrap().as_bits_per_sec() as f64;
        assert!((rate - last as f64 * 8.0 / 12e-6).abs() < 1.0);
    }

    #[test]
    fn a_path_that_is_not_full_lets_the_window_grow_beyond_the_link() {
        let mut source = built();
        acknowledge(&mut source, &[stamp(0, 0, 0)], 9000, 150_000);
        let mut last = 159_000;
        for round in 1..=5_u64 {
            // Half the link, and 9064 B of 150000 B.
            let at = 12 * round;
            let next = acknowledge(&mut source, &[stamp(at, 0, at * 6250)], 150_000 * round + 1, 150_000 * (round + 1));
            assert_eq!(next, last + 9000, "round {round}");
            last = next;
        }
        let next = acknowledge(&mut source, &[stamp(72, 0, 72 * 6250)], 900_001, 1_000_000);
        let load = (0.5 + 9064.0 / 150_000.0) / 0.95;
        assert_eq!(next as f64, f64::floor(last as f64 / load + 9000.0));
        assert_eq!(source.allowance().rate, None);
    }
}
