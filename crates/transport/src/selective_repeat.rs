//! Selective repeat as IRN does it (Mittal et al., "Revisiting network support for RDMA", SIGCOMM 2018).
//!
//! The receiver keeps frames in any order and answers each that is out of order by a NACK with the cumulative number
//! and that of the frame. The sender keeps a bitmap of what has arrived. A NACK starts a recovery: frames that are
//! overtaken by one that has arrived are retransmitted, once each, then fresh ones; it ends when everything sent before
//! it is acknowledged. A retransmission that is lost waits for the timeout: a short one while few frames are in flight,
//! a long one otherwise. After a timeout every frame that is not known to have arrived counts as lost, as in RFC 6675,
//! section 5.1. At most one bandwidth-delay product of frames is in flight (BDP-FC): the bitmaps never grow beyond.
//!
//! Left out: RDMA's operations and their completion in order, NACKs for other reasons, read responses.

use crate::reordering::{EarlyReply, ReorderingReceiver};
use crate::scoreboard::Scoreboard;
use crate::{LossSignal, Meaning, Next, Progress, Receiving, Recovery, RecoveryInfo, Reply, Sender, Sending};
use congestion::Adapter;
use congestion::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Preset, Values};
use units::{Bytes, Span, Time};

pub(crate) const INFO: RecoveryInfo = RecoveryInfo {
    name: "selective-repeat",
    summary: "Selective repeat with NACKs, two timeouts and at most one BDP in flight: IRN",
    parameters: &[
        Parameter {
            name: "timeout_low",
            kind: ParameterKind::Time,
            default: ParameterDefault::Value("100us", "RTO_low of IRN as public simulators configure it"),
            meaning: "Time without progress before retransmission while fewer than `few` frames are in flight.",
        },
        Parameter {
            name: "timeout_high",
            kind: ParameterKind::Time,
            default: ParameterDefault::Value("320us", "RTO_high of IRN as public simulators configure it"),
            meaning: "Time without progress before retransmission otherwise.",
        },
        Parameter {
            name: "few",
            kind: ParameterKind::Count(0, 1_000_000),
            default: ParameterDefault::Value(
                "3",
                "our choice: fewer frames than cause three duplicate acknowledgements",
            ),
            meaning: "Frames in flight from which on `timeout_high` applies.",
        },
        Parameter {
            name: "window",
            kind: ParameterKind::Size(1, 1 << 40),
            default: ParameterDefault::Absent(
                "link rate x round trip on the unloaded path, rounded up to whole frames",
            ),
            meaning: "Bytes of frames sent beyond the last cumulative acknowledgement, at most (IRN's BDP-FC).",
        },
        Parameter {
            name: "threshold",
            kind: ParameterKind::Count(1, 1_000_000),
            default: ParameterDefault::Value("1", "IRN: the first NACK starts the recovery"),
            meaning: "Frames that must have overtaken a missing frame before it counts as lost. IRN, section on \
                 discussion and related work: more than one tolerates reordering.",
        },
    ],
    presets: &[Preset {
        name: "tlt",
        meaning: "The timeouts of the simulator of TLT (EuroSys 2021), which compares itself with IRN.",
        values: &[
            ("timeout_low", "454us", "kaist-ina/ns3-tlt-rdma-public: IrnRtoLow"),
            ("timeout_high", "1350us", "kaist-ina/ns3-tlt-rdma-public: IrnRtoHigh"),
        ],
    }],
    build,
};

fn build(values: &Values) -> Result<Recovery, Invalid> {
    let (low, high) = (values.time("timeout_low"), values.time("timeout_high"));
    if low == Span::ZERO || high < low {
        let message = format!("timeout_high, {high}, is shorter than timeout_low, {low}, or both are zero");
        return Err(Invalid::new("timeout_high", message, "give a longer one"));
    }
    let sender = SelectiveRepeatSender {
        timeout_low: low,
        timeout_high: high,
        few: values.count("few"),
        window: values.maybe_size("window"),
        threshold: values.count("threshold") as u32,
        most: u64::MAX,
        board: Scoreboard::default(),
        recovery: None,
        since: None,
    };
    Ok(Recovery {
        sender: Some(Sending::SelectiveRepeat(sender)),
        receiver: Receiving::Reordering(ReorderingReceiver::new(EarlyReply::Negative)),
    })
}

/// The source's half.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectiveRepeatSender {
    timeout_low: Span,
    timeout_high: Span,
    few: u64,
    window: Option<Bytes>,
    threshold: u32,
    /// Frames that may be sent beyond the cumulative acknowledgement.
    most: u64,
    board: Scoreboard,
    /// During a recovery: the number below which everything must be acknowledged for it to end.
    recovery: Option<u64>,
    /// When the timer was started.
    since: Option<Time>,
}

units::state!(struct SelectiveRepeatSender { fixed: timeout_low, timeout_high, few, window, threshold, most; plain: board, recovery, since; });

impl SelectiveRepeatSender {
    /// Begins a recovery, unless one is under way; returns whether it began.
    fn begin(&mut self) -> bool {
        if self.recovery.is_some() {
            return false;
        }
        self.recovery = Some(self.board.sent());
        self.board.begin();
        true
    }
}

impl Sender for SelectiveRepeatSender {
    fn attach(&mut self, adapter: &Adapter) -> Result<(), Invalid> {
        let frame = (adapter.frame + adapter.overhead).get().max(1);
        self.most = match self.window {
            Some(window) => (window.get() / adapter.frame.get().max(1)).max(1),
            None => {
                let bits = u128::from(adapter.link.as_bits_per_sec()) * u128::from(adapter.round_trip.as_picos());
                u64::try_from(bits.div_ceil(8_000_000_000_000 * u128::from(frame))).unwrap_or(u64::MAX).max(1)
            }
        };
        Ok(())
    }

    fn window(&self) -> Option<u64> {
        Some(self.most)
    }

    #[inline]
    fn next(&self, fresh: bool) -> Next {
        if let Some(number) = self.board.next_lost() {
            return Next::Again { number, windowed: true };
        }
        if fresh && self.board.outstanding() < self.most { Next::Fresh } else { Next::Nothing }
    }

    #[inline]
    fn on_sent(&mut self, now: Time, number: u64) {
        self.board.on_sent(number);
        self.since.get_or_insert(now);
    }

    #[inline]
    fn on_reply(&mut self, now: Time, reply: &Reply) -> Progress {
        let mut progress = Progress { round_trip: Some(now.saturating_since(reply.stamp)), ..Progress::default() };
        let cumulative = self.board.on_cumulative(reply.cumulative.min(self.board.sent()));
        progress.arrived = cumulative;
        match reply.meaning {
            Meaning::Trimmed => {
                self.board.on_trimmed(reply.number);
                if self.board.next_lost().is_some() && self.begin() {
                    progress.loss = Some(LossSignal::Detected);
                }
            }
            _ if reply.number < reply.cumulative => {}
            _ => {
                progress.arrived += self.board.on_arrived(reply.number, reply.number + 1);
                self.board.lose_overtaken(self.threshold);
                if self.board.first_is_lost() && self.begin() {
                    progress.loss = Some(LossSignal::Detected);
                }
            }
        }
        if cumulative > 0 {
            self.since = (self.board.outstanding() > 0).then_some(now);
            if self.recovery.is_some_and(|end| self.board.acknowledged() >= end) {
                self.recovery = None;
            }
        }
        progress
    }

    #[inline]
    fn deadline(&self) -> Option<Time> {
        let timeout = if self.board.outstanding() < self.few { self.timeout_low } else { self.timeout_high };
        self.since.map(|since| since.saturating_add(timeout))
    }

    fn on_deadline(&mut self, _now: Time) -> Progress {
        self.recovery = Some(self.board.sent());
        self.board.lose_all();
        self.since = None;
        Progress { loss: Some(LossSignal::Timeout), ..Progress::default() }
    }

    #[inline]
    fn acknowledged(&self) -> u64 {
        self.board.acknowledged()
    }

    #[inline]
    fn sent(&self) -> u64 {
        self.board.sent()
    }

    #[inline]
    fn in_flight(&self) -> u64 {
        self.board.in_flight()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use congestion::parameter::Value;
    use units::Rate;

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    fn sender(frames: u64) -> Sending {
        let values = Values::defaults(INFO.parameters).with("window", Value::Size(Bytes::new(10_000)));
        let mut sender = build(&values).unwrap().sender.unwrap();
        sender.attach(&Adapter::of(Rate::from_gigabits(40), Bytes::new(1000))).unwrap();
        (0..frames).for_each(|number| sender.on_sent(at(0), number));
        sender
    }

    fn nack(cumulative: u64, number: u64) -> Reply {
        Reply { meaning: Meaning::Negative, cumulative, number, ..Reply::default() }
    }

    fn again(number: u64) -> Next {
        Next::Again { number, windowed: true }
    }

    #[test]
    fn only_frames_that_were_overtaken_are_sent_again() {
        let mut sender = sender(8);
        assert_eq!(sender.on_reply(at(5), &nack(1, 2)).loss, Some(LossSignal::Detected));
        assert_eq!(sender.next(true), again(1));
        sender.on_sent(at(5), 1);
        assert_eq!(sender.next(true), Next::Fresh);
        // A second loss in the same recovery is not a new one for congestion control.
        assert_eq!(
            sender.on_reply(at(6), &nack(1, 5)),
            Progress { arrived: 1, loss: None, round_trip: Some(at(6) - at(0)) }
        );
        assert_eq!(sender.next(true), again(3));
        sender.on_sent(at(6), 3);
        assert_eq!(sender.next(true), again(4));
        sender.on_sent(at(6), 4);
        assert_eq!((sender.next(true), sender.in_flight()), (Next::Fresh, 5));
        // A retransmission is not repeated before the timeout.
        sender.on_reply(at(7), &nack(1, 6));
        assert_eq!(sender.next(true), Next::Fresh);
        assert_eq!(sender.deadline(), Some(at(5 + 320)));
    }

    #[test]
    fn the_window_limits_fresh_frames_and_not_retransmissions() {
        let mut sender = sender(10);
        assert_eq!(sender.next(true), Next::Nothing);
        sender.on_reply(at(5), &nack(0, 9));
        assert_eq!(sender.next(true), again(0));
        sender.on_reply(at(6), &Reply { cumulative: 1, number: 0, ..Reply::default() });
        assert_eq!(sender.next(true), again(1));
    }

    #[test]
    fn the_default_window_is_the_bandwidth_delay_product() {
        let mut sender = build(&Values::defaults(INFO.parameters)).unwrap().sender.unwrap();
        // 40 Gb/s x 24 us are 120 kB: 120 frames of 1000 bytes.
        let adapter = Adapter::of(Rate::from_gigabits(40), Bytes::new(1000));
        sender.attach(&Adapter { round_trip: Span::from_micros(24), ..adapter }).unwrap();
        (0..119).for_each(|number| sender.on_sent(at(0), number));
        assert_eq!(sender.next(true), Next::Fresh);
        sender.on_sent(at(0), 119);
        assert_eq!(sender.next(true), Next::Nothing);
    }

    #[test]
    fn few_frames_in_flight_time_out_sooner_and_are_all_sent_again() {
        let mut sender = sender(5);
        assert_eq!(sender.deadline(), Some(at(320)));
        sender.on_reply(at(9), &Reply { cumulative: 3, number: 2, ..Reply::default() });
        assert_eq!(sender.deadline(), Some(at(109)));
        assert_eq!(sender.on_deadline(at(109)).loss, Some(LossSignal::Timeout));
        for number in [3, 4] {
            assert_eq!(sender.next(true), again(number));
            sender.on_sent(at(110), number);
        }
        assert_eq!((sender.next(false), sender.deadline()), (Next::Nothing, Some(at(210))));
    }

    #[test]
    fn a_threshold_tolerates_reordering() {
        let values = Values::defaults(INFO.parameters).with("threshold", Value::Count(3));
        let mut sender = build(&values).unwrap().sender.unwrap();
        (0..8).for_each(|number| sender.on_sent(at(0), number));
        for number in [1, 2] {
            assert_eq!(sender.on_reply(at(5), &nack(0, number)).loss, None);
        }
        assert_eq!(sender.next(true), Next::Fresh);
        assert_eq!(sender.on_reply(at(5), &nack(0, 3)).loss, Some(LossSignal::Detected));
        assert_eq!(sender.next(true), again(0));
    }

    #[test]
    fn a_trimmed_frame_is_sent_again_at_once() {
        let mut sender = sender(4);
        let trimmed = Reply { meaning: Meaning::Trimmed, cumulative: 0, number: 3, ..Reply::default() };
        assert_eq!(sender.on_reply(at(5), &trimmed).loss, Some(LossSignal::Detected));
        assert_eq!(sender.next(true), again(3));
        sender.on_sent(at(5), 3);
        assert_eq!(sender.next(false), Next::Nothing);
    }

    #[test]
    fn timeouts_in_the_wrong_order_are_refused() {
        let values = Values::defaults(INFO.parameters).with("timeout_high", Value::Time(Span::from_micros(1)));
        assert_eq!(build(&values).unwrap_err().parameter, "timeout_high");
    }
}
