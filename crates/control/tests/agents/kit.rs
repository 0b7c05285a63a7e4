//! What the tests share: settings in few words, and a line between two agents that may lose and delay.

use control::{Agent, LARGEST_FRAME, Settings, Timers};
use units::{Span, Time};
use wire::Address;
use wire::lldp::ieee::{EtsTable, Selection};

pub const fn seconds(seconds: u64) -> Time {
    Time::from_picos(seconds * 1_000_000_000_000)
}

pub fn address(number: u8) -> Address {
    Address([2, 0, 0, 0, 0, number])
}

/// Priorities 0 to 7 in classes, and shares.
pub fn table(classes: [u8; 8], shares: [u8; 8]) -> EtsTable {
    let selection = shares.map(|share| if share > 0 { Selection::Share } else { Selection::Strict });
    EtsTable { classes: classes.map(Some), shares, selection }
}

/// Priority 3 is lossless and has a class of its own with 40 %.
pub fn storage() -> EtsTable {
    table([0, 0, 0, 1, 0, 0, 0, 0], [60, 40, 0, 0, 0, 0, 0, 0])
}

pub fn pfc(willing: bool, priorities: u8) -> Settings {
    let mut settings = Settings::default();
    (settings.pfc.willing, settings.pfc.priorities) = (willing, priorities);
    settings
}

/// One that configures others: not willing, recommends what it does.
pub fn core() -> Settings {
    let mut settings = pfc(false, 1 << 3);
    settings.ets.willing = false;
    settings.ets.table = storage();
    settings.ets.recommendation = Some(storage());
    settings
}

pub fn agent(number: u8, settings: Settings) -> Agent {
    Agent::new(Time::ZERO, address(number), address(number), settings, Timers::default())
}

/// The next frame of an agent.
pub fn frame(agent: &mut Agent, now: Time) -> Option<Vec<u8>> {
    let mut buffer = [0; LARGEST_FRAME];
    let length = agent.poll_transmit(now, &mut buffer)?;
    Some(buffer[..length].to_vec())
}

/// Two agents and the frames on their way: when they arrive, at which end, in which order they were sent.
pub struct Line {
    pub ends: [Agent; 2],
    pub now: Time,
    under_way: Vec<(Time, u64, usize, Vec<u8>)>,
    sent: u64,
}

impl Line {
    pub fn new(a: Settings, b: Settings) -> Line {
        Line { ends: [agent(1, a), agent(2, b)], now: Time::ZERO, under_way: Vec::new(), sent: 0 }
    }

    /// Runs until then; `fate` says of each frame how long it takes, or that it is lost.
    pub fn run(&mut self, until: Time, mut fate: impl FnMut(u64) -> Option<Span>) {
        loop {
            let timers = self.ends.iter().filter_map(Agent::poll_at).min();
            let arrival = self.under_way.iter().map(|&(at, ..)| at).min();
            let next = timers.into_iter().chain(arrival).min().unwrap_or(Time::MAX).max(self.now);
            if next > until {
                self.now = until;
                return;
            }
            self.now = next;
            self.under_way.sort_by_key(|&(at, number, ..)| (at, number));
            while self.under_way.first().is_some_and(|&(at, ..)| at <= self.now) {
                let (_, _, end, bytes) = self.under_way.remove(0);
                self.ends[end].handle_frame(self.now, &bytes);
            }
            for end in 0..2 {
                while let Some(bytes) = frame(&mut self.ends[end], self.now) {
                    if let Some(delay) = fate(self.sent) {
                        self.under_way.push((self.now + delay, self.sent, 1 - end, bytes));
                    }
                    self.sent += 1;
                }
            }
        }
    }

    pub fn run_well(&mut self, until: Time) {
        self.run(until, |_| Some(Span::from_micros(1)));
    }

    pub fn pfc(&self) -> [u8; 2] {
        [0, 1].map(|end| self.ends[end].operating().pfc.value)
    }
}
