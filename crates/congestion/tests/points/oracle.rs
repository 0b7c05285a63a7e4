//! The marking policies as the paper words them, by scanning, against those that never scan.

use crate::model::{Model, Room, Watched, point, text};
use congestion::parameter::Value;
use congestion::point::View;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use units::{Span, Time};

#[derive(Clone, Copy, Debug)]
struct Setting {
    /// 0 naive, 1 input-triggered, 2 input-output-triggered.
    policy: u8,
    threshold: u32,
    late: bool,
    skip_blocked: bool,
    recently: Option<u64>,
    full_at: f64,
    room: Room,
    classes: u8,
}

impl Setting {
    fn watched(&self) -> Watched {
        let name = ["naive", "input-triggered", "input-output-triggered"][usize::from(self.policy)];
        let mut given = vec![
            ("full_at", Value::Number(self.full_at)),
            ("trigger", text(if self.late { "settled" } else { "arrival" })),
            ("skip_blocked", Value::Flag(self.skip_blocked)),
        ];
        given.extend(self.recently.map(|span| ("recently_blocked", Value::Time(Span::from_picos(span)))));
        if self.policy == 2 {
            given.push(("threshold", Value::Count(u64::from(self.threshold))));
        }
        Watched::new(Model::new(4, self.classes, self.room), point(name, &given))
    }
}

/// One instant, in the order in which a switch goes through it.
#[derive(Clone, Debug)]
struct Step {
    /// Picoseconds since the last one, in thousands.
    gap: u64,
    /// Outputs whose frame has left by now.
    finished: Vec<u16>,
    /// Output, class, and whether it may send.
    gate: Option<(u16, u8, bool)>,
    /// Input, output, class, length.
    arrivals: Vec<(u16, u16, u8, u16)>,
    /// Output, and which of what waits for it.
    starts: Vec<(u16, usize)>,
}

fn step() -> impl Strategy<Value = Step> {
    let gate = prop::option::weighted(0.2, (0u16..4, 0u8..2, any::<bool>()));
    // Output 0 is popular.
    let output = prop_oneof![2 => Just(0u16), 1 => 0u16..4];
    let arrivals = prop::collection::vec((0u16..4, output, 0u8..2, 50u16..=100), 0..5);
    let starts = prop::collection::vec((0u16..4, 0usize..8), 0..4);
    let finished = prop::collection::vec(0u16..4, 0..3);
    (0u64..3, finished, gate, arrivals, starts).prop_map(|(gap, finished, gate, arrivals, starts)| Step {
        gap,
        finished,
        gate,
        arrivals,
        starts,
    })
}

fn setting() -> impl Strategy<Value = Setting> {
    let room = prop_oneof![(1u32..6).prop_map(Room::Slots), (100u32..500).prop_map(|bytes| Room::Bytes(bytes, 100)),];
    let full_at = prop_oneof![3 => Just(1.0), 1 => Just(0.01), 1 => 0.01f64..1.0];
    let times = (any::<bool>(), any::<bool>(), prop::option::weighted(0.3, 0u64..6_000));
    (0u8..3, 1u32..6, times, full_at, room, 1u8..=2).prop_map(
        |(policy, threshold, (late, skip_blocked, recently), full_at, room, classes)| Setting {
            policy,
            threshold,
            late,
            skip_blocked,
            recently,
            full_at,
            room,
            classes,
        },
    )
}

/// What is to be marked, found by looking at every frame.
struct Oracle {
    setting: Setting,
    /// Naive: the frames themselves.
    due: BTreeSet<u32>,
    /// The others: how many of the next frames of an output.
    owed: BTreeMap<(u16, u8), usize>,
    filled: Vec<(u16, u8)>,
    exceeded: Vec<(u16, u8)>,
}

impl Oracle {
    /// A frame is in the list. Returns whether it makes an event.
    fn arrival(&mut self, model: &Model, input: u16, output: u16, class: u8) -> bool {
        let full = match model.room {
            Room::Slots(slots) => slots,
            Room::Bytes(bytes, largest) => bytes + 1 - largest,
        };
        let used: u32 = match model.room {
            Room::Slots(_) => model.of_input(input, class).count() as u32,
            Room::Bytes(..) => model.of_input(input, class).map(|frame| u32::from(frame.len)).sum(),
        };
        let level = ((f64::from(full) * self.setting.full_at).floor() as u32).max(1);
        let fills = level <= used;
        let inside = model.frames.iter().filter(|frame| (frame.output, frame.class) == (output, class)).count();
        let exceeds = self.setting.policy == 2 && inside > self.setting.threshold as usize;
        self.filled.extend(fills.then_some((input, class)));
        self.exceeded.extend(exceeds.then_some((output, class)));
        fills || exceeds
    }

    fn events(&mut self, model: &Model) {
        let counts = |output: u16, class: u8| !(self.setting.skip_blocked && model.blocked(output, class));
        for (input, class) in std::mem::take(&mut self.filled) {
            let waiting = model.of_input(input, class).filter(|frame| !frame.leaving);
            for frame in waiting.filter(|frame| counts(frame.output, class)) {
                if self.setting.policy == 0 {
                    self.due.insert(frame.id);
                } else {
                    self.owed.insert((frame.output, class), model.waiting(frame.output, class).count());
                }
            }
        }
        for (output, class) in std::mem::take(&mut self.exceeded) {
            if counts(output, class) {
                self.owed.insert((output, class), model.waiting(output, class).count());
            }
        }
    }

    /// Whether a frame that starts is to be marked.
    fn start(&mut self, model: &Model, id: u32, output: u16, class: u8) -> bool {
        let marked = if self.setting.policy == 0 {
            self.due.remove(&id)
        } else {
            let owed = self.owed.entry((output, class)).or_default();
            let due = *owed > 0;
            *owed = owed.saturating_sub(1);
            due
        };
        let recent = self.setting.recently.is_some_and(|span| {
            let since = |at: Time| model.now.as_picos() - at.as_picos();
            model.last_blocked(output, class).is_some_and(|at| since(at) <= span)
        });
        marked && !recent
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(1000), ..ProptestConfig::default() })]

    #[test]
    fn marking_without_scanning_is_marking_by_scanning(
        setting in setting(),
        steps in prop::collection::vec(step(), 1..120),
    ) {
        let mut switch = setting.watched();
        let mut oracle =
            Oracle { setting, due: BTreeSet::new(), owed: BTreeMap::new(), filled: Vec::new(), exceeded: Vec::new() };
        for step in steps {
            switch.model.now = Time::from_picos(switch.model.now.as_picos() + step.gap * 1000);
            step.finished.iter().for_each(|&output| switch.finish(output));
            if let Some((output, class, open)) = step.gate {
                let was_blocked = switch.model.blocked(output, class);
                if !open {
                    switch.model.blocked.insert((output, class), None);
                } else if was_blocked {
                    switch.model.blocked.insert((output, class), Some(switch.model.now));
                }
            }
            let mut busy = BTreeSet::new();
            for (input, output, class, len) in step.arrivals {
                // A cable brings one frame at a time.
                let class = class % setting.classes;
                if !switch.model.fits(input, class, len) || !busy.insert(input) {
                    continue;
                }
                let (_, asks) = switch.arrive_as(input, output, class, len);
                let event = oracle.arrival(&switch.model, input, output, class);
                prop_assert_eq!(asks, event && setting.late);
                if !setting.late {
                    oracle.events(&switch.model);
                }
            }
            for (output, which) in step.starts {
                let free = !switch.model.frames.iter().any(|frame| frame.output == output && frame.leaving);
                let ready: Vec<(u32, u8)> = switch.model.frames.iter()
                    .filter(|frame| frame.output == output && !switch.model.blocked(output, frame.class))
                    .map(|frame| (frame.id, frame.class))
                    .collect();
                if free && !ready.is_empty() {
                    let (id, class) = ready[which % ready.len()];
                    let marked = switch.start(id);
                    prop_assert_eq!(marked, oracle.start(&switch.model, id, output, class), "frame {}", id);
                }
            }
            oracle.events(&switch.model);
            switch.settle();
        }
    }
}
