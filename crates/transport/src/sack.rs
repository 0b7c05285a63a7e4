//! Loss recovery of TCP: the retransmission timer of RFC 6298, fast retransmit after three duplicate acknowledgements,
//! and the scoreboard of RFC 6675 or, without selective acknowledgements, NewReno (RFC 5681 and RFC 6582).
//!
//! Numbers are those of frames, so a segment is always of full size. Round trips are measured by time stamps (RFC 7323).
//! The congestion window is not here: a device compares [`in_flight`](Sender::in_flight), the `pipe` of RFC 6675, with
//! the window of the flow's reaction point, which hears of the loss that begins a recovery and of timeouts. Without
//! selective acknowledgements each duplicate one takes a frame out of flight, which has the effect of the inflated
//! window of RFC 5681.
//!
//! Left out: D-SACK, F-RTO and Eifel (undo of spurious timeouts), RACK and tail loss probes (RFC 8985), reneging by a
//! receiver, persist and keep-alive timers, the giving up of a connection.

use crate::reordering::{EarlyReply, ReorderingReceiver};
use crate::retransmission_timer::RetransmissionTimer;
use crate::scoreboard::Scoreboard;
use crate::{LossSignal, Meaning, Next, Progress, Receiving, Recovery, RecoveryInfo, Reply, Sender, Sending};
use congestion::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Preset, Values};
use units::{Span, Time};

pub(crate) const INFO: RecoveryInfo = RecoveryInfo {
    name: "sack",
    summary: "TCP: cumulative and selective acknowledgements, fast retransmit, adaptive timeout (RFC 6298, 6675)",
    parameters: &[
        Parameter {
            name: "selective",
            kind: ParameterKind::Flag,
            default: ParameterDefault::Value("true", "RFC 6675: recovery by selective acknowledgements"),
            meaning: "Whether acknowledgements carry blocks of frames that have arrived (RFC 2018). Without them, NewReno \
                 (RFC 6582) retransmits one frame per round trip.",
        },
        Parameter {
            name: "threshold",
            kind: ParameterKind::Count(1, 1_000_000),
            default: ParameterDefault::Value("3", "RFC 5681, section 3.2, and RFC 6675, section 2: DupThresh"),
            meaning: "Duplicate acknowledgements, or frames known to have overtaken another, that indicate a loss.",
        },
        Parameter {
            name: "limited_transmit",
            kind: ParameterKind::Flag,
            default: ParameterDefault::Value("false", "our choice: RFC 5681 without RFC 3042"),
            meaning: "Whether each of the first two duplicate acknowledgements releases a fresh frame (RFC 3042).",
        },
        Parameter {
            name: "initial_timeout",
            kind: ParameterKind::Time,
            default: ParameterDefault::Value("1s", "RFC 6298, rule 2.1"),
            meaning: "Timeout before the first round trip is measured.",
        },
        Parameter {
            name: "min_timeout",
            kind: ParameterKind::Time,
            default: ParameterDefault::Value("1s", "RFC 6298, rule 2.4"),
            meaning: "Smallest timeout.",
        },
        Parameter {
            name: "max_timeout",
            kind: ParameterKind::Time,
            default: ParameterDefault::Value("60s", "RFC 6298, rule 2.5: at least 60 s"),
            meaning: "Largest timeout.",
        },
        Parameter {
            name: "granularity",
            kind: ParameterKind::Time,
            default: ParameterDefault::Value("0s", "our choice: simulated clocks are exact"),
            meaning: "Clock granularity: least addition to the smoothed round trip (G of RFC 6298).",
        },
    ],
    presets: &[
        Preset {
            name: "linux",
            meaning: "Limits of the timeout in Linux.",
            values: &[
                ("min_timeout", "200ms", "include/net/tcp.h: TCP_RTO_MIN is HZ / 5"),
                ("max_timeout", "120s", "include/net/tcp.h: TCP_RTO_MAX is 120 HZ"),
                ("initial_timeout", "1s", "include/net/tcp.h: TCP_TIMEOUT_INIT is HZ"),
            ],
        },
        Preset {
            name: "data-centre",
            meaning: "Timeouts for round trips of some tens of microseconds.",
            values: &[
                ("min_timeout", "1ms", "our choice: many round trips of a data centre"),
                ("initial_timeout", "1ms", "our choice: the smallest timeout"),
                ("max_timeout", "1s", "our choice"),
            ],
        },
    ],
    build,
};

fn build(values: &Values) -> Result<Recovery, Invalid> {
    let (least, most) = (values.time("min_timeout"), values.time("max_timeout"));
    let initial = values.time("initial_timeout");
    if least == Span::ZERO || initial == Span::ZERO {
        let parameter = if least == Span::ZERO { "min_timeout" } else { "initial_timeout" };
        return Err(Invalid::new(parameter, "the timeout is zero", "give one longer than a round trip"));
    }
    if most < least || most < initial {
        let message = format!("the largest timeout, {most}, is below the smallest, {least}, or the initial, {initial}");
        return Err(Invalid::new("max_timeout", message, "give a larger one"));
    }
    let selective = values.flag("selective");
    let sender = SackSender {
        selective,
        limited_transmit: values.flag("limited_transmit"),
        threshold: values.count("threshold") as u32,
        timer: RetransmissionTimer::new(initial, least, most, values.time("granularity")),
        board: Scoreboard::default(),
        recovery: None,
        duplicates: 0,
        at_once: false,
        rescued: None,
        partial: false,
        recovered: 0,
    };
    let report = if selective { EarlyReply::Blocks } else { EarlyReply::Duplicate };
    Ok(Recovery {
        sender: Some(Sending::Sack(sender)),
        receiver: Receiving::Reordering(ReorderingReceiver::new(report)),
    })
}

/// A recovery that is under way; it ends when all frames below the number are acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Episode {
    /// Fast recovery.
    Fast(u64),
    /// After a timeout.
    Timeout(u64),
}

units::encoded!(enum Episode { 0 = Fast(end), 1 = Timeout(end) });

impl Episode {
    fn end(self) -> u64 {
        match self {
            Episode::Fast(end) | Episode::Timeout(end) => end,
        }
    }
}

/// The source's half.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SackSender {
    selective: bool,
    limited_transmit: bool,
    threshold: u32,
    timer: RetransmissionTimer,
    board: Scoreboard,
    recovery: Option<Episode>,
    /// Duplicate acknowledgements since the last that was none.
    duplicates: u64,
    /// The next retransmission is the fast one, which no window delays.
    at_once: bool,
    /// `RescueRxt` of RFC 6675: the end of the recovery in which the last frame was retransmitted.
    rescued: Option<u64>,
    /// NewReno: a partial acknowledgement has restarted the timer in this recovery.
    partial: bool,
    /// Everything sent before the last recovery began; NewReno begins none below (`recover` of RFC 6582).
    recovered: u64,
}

units::state!(struct SackSender { fixed: selective, limited_transmit, threshold; plain: board, recovery, duplicates, at_once, rescued, partial, recovered; parts: timer; });

impl SackSender {
    /// Begins fast recovery (RFC 6675, section 5, step 4; RFC 6582, section 3.2, step 2).
    fn begin(&mut self) -> Option<LossSignal> {
        let allowed = self.selective || self.board.acknowledged() >= self.recovered;
        if self.recovery.is_some() || !allowed {
            return None;
        }
        self.recovered = self.board.sent();
        self.recovery = Some(Episode::Fast(self.recovered));
        self.board.begin();
        if self.board.next_lost().is_none() {
            self.board.lose_below(self.board.acknowledged() + 1);
        }
        (self.at_once, self.partial) = (true, false);
        Some(LossSignal::Detected)
    }

    /// The cumulative number advanced by some frames.
    fn advance(&mut self, now: Time, frames: u64) {
        let outstanding = self.board.outstanding() > 0;
        match self.recovery {
            Some(episode) if self.board.acknowledged() < episode.end() => {
                let newreno = !self.selective && matches!(episode, Episode::Fast(_));
                if newreno {
                    // RFC 6582, step 3, partial acknowledgement: the next frame is lost, too; the window deflates.
                    self.board.lose_below(self.board.acknowledged() + 1);
                    self.at_once = true;
                    self.duplicates = self.duplicates.saturating_sub(frames - 1);
                }
                if !(newreno && std::mem::replace(&mut self.partial, true)) {
                    self.timer.restart(now, outstanding);
                }
            }
            _ => {
                self.recovery = None;
                self.duplicates = 0;
                self.at_once = false;
                self.timer.restart(now, outstanding);
            }
        }
    }

    /// The frame of rule 4 of `NextSeg`: once per recovery, the last that is not known to have arrived.
    fn rescue(&self) -> Option<u64> {
        let allowed = self.rescued.is_none_or(|end| self.board.acknowledged() >= end);
        if allowed { self.board.last_unknown() } else { None }
    }
}

impl Sender for SackSender {
    #[inline]
    fn next(&self, fresh: bool) -> Next {
        let Some(episode) = self.recovery else {
            return if fresh { Next::Fresh } else { Next::Nothing };
        };
        if let Some(number) = self.board.next_lost() {
            return Next::Again { number, windowed: !self.at_once };
        }
        if fresh {
            return Next::Fresh;
        }
        if !self.selective || matches!(episode, Episode::Timeout(_)) {
            return Next::Nothing;
        }
        match self.board.next_overtaken().or_else(|| self.rescue()) {
            Some(number) => Next::Again { number, windowed: true },
            None => Next::Nothing,
        }
    }

    #[inline]
    fn on_sent(&mut self, now: Time, number: u64) {
        if number < self.board.sent() {
            self.at_once = false;
            let known = self.board.next_lost() == Some(number) || self.board.next_overtaken() == Some(number);
            if let (false, Some(episode)) = (known, self.recovery) {
                self.rescued = Some(episode.end());
            }
        }
        self.board.on_sent(number);
        self.timer.on_sent(now);
    }

    #[inline]
    fn on_reply(&mut self, now: Time, reply: &Reply) -> Progress {
        let sample = now.saturating_since(reply.stamp);
        let mut progress = Progress { round_trip: Some(sample), ..Progress::default() };
        self.timer.on_sample(sample);
        let old = reply.cumulative < self.board.acknowledged();
        let before = self.board.acknowledged();
        let mut arrived = self.board.on_cumulative(reply.cumulative.min(self.board.sent()));
        let advanced = self.board.acknowledged() - before;
        let mut overtaking = 0;
        for block in reply.blocks.as_slice() {
            overtaking += self.board.on_arrived(block.start, block.end);
        }
        arrived += overtaking;
        progress.arrived = arrived;
        if overtaking > 0 {
            self.board.lose_overtaken(self.threshold);
        }
        if advanced > 0 {
            self.advance(now, advanced);
        }
        if reply.meaning == Meaning::Trimmed {
            self.board.on_trimmed(reply.number);
            if self.board.next_lost().is_some() {
                progress.loss = self.begin();
            }
        } else if advanced == 0 && !old && self.board.outstanding() > 0 && (overtaking > 0 || !self.selective) {
            self.duplicates += 1;
        }
        let lost = self.selective && self.board.first_is_lost();
        if self.recovery.is_none() && (lost || self.duplicates >= u64::from(self.threshold)) {
            progress.loss = self.begin();
        }
        progress
    }

    #[inline]
    fn deadline(&self) -> Option<Time> {
        self.timer.deadline()
    }

    fn on_deadline(&mut self, _now: Time) -> Progress {
        self.recovered = self.board.sent();
        self.recovery = Some(Episode::Timeout(self.recovered));
        self.board.lose_all();
        self.timer.back_off();
        (self.duplicates, self.at_once, self.rescued) = (0, false, None);
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
        match self.recovery {
            None if self.limited_transmit => self.board.outstanding().saturating_sub(self.duplicates.min(2)),
            None => self.board.outstanding(),
            // Each duplicate says that a frame has left the network. After a timeout, frames that are retransmitted may cause
            // them, and the window is not inflated (RFC 5681, section 3.2; RFC 6582).
            Some(Episode::Fast(_)) if !self.selective => self.board.in_flight().saturating_sub(self.duplicates),
            Some(_) => self.board.in_flight(),
        }
    }
}

#[cfg(test)]
#[path = "sack/tests.rs"]
mod tests;
