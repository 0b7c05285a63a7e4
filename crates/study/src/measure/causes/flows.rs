//! Flows: what they do at their sources, and their frames on their way.

use super::chain::Chain;
use super::ledger::{Cause, Key, NONE};
use super::ports::Waiter;
use super::stage::{Stage, received};
use super::{Causes, FlowCauses, Moment, Signals};
use fabric::SourceState;
use fabric::record::{Event, FOLLOWED};
use std::collections::VecDeque;

/// A frame that looks for another output.
#[derive(Debug)]
struct Moving {
    /// The port by which it came.
    input: u32,
    /// Since when.
    since: u64,
    /// The chain up to then, if it waited.
    chain: Option<Chain>,
    /// The cause of its time on a wire.
    cause: Cause,
}

/// A flow that has started and is not complete.
#[derive(Debug)]
pub(super) struct Source {
    /// When its time began to count.
    from: u64,
    /// Length of the intervals of its time.
    width: u64,
    pub(super) state: SourceState,
    /// Charged up to then, in any state but [`SourceState::Ready`].
    pub(super) since: u64,
    class: u8,
    resend: bool,
    /// The source itself; its port is the one at which it waits if it is ready.
    pub(super) own: Stage,
    /// The others, in the order in which frames first came to them; none of a flow without a size.
    stages: Vec<Stage>,
    /// Ports on which its data started.
    pub(super) ports: Vec<u32>,
    /// Frames that look for another output.
    moving: VecDeque<Moving>,
    /// Where its last mark, notice or loss was: the output that sets its rate or window.
    pub(super) signalled: u32,
    /// Where its last loss was, and the flow with the most bytes in that queue.
    lost: (u32, u32),
    /// Outputs for which its frames wait, in the order in which the first one came there, and how many; only of a flow
    /// with a constant window.
    pub(super) queued: Vec<(u32, u32)>,
    pub(super) signals: Signals,
}

impl Source {
    /// The stage at a port behind the source.
    pub(super) fn stage(&mut self, port: u32) -> &mut Stage {
        match self.stages.iter().position(|stage| stage.port == port) {
            Some(place) => &mut self.stages[place],
            None => {
                self.stages.push(Stage::new(port, Chain::new(self.from, self.width)));
                self.stages.last_mut().expect("it was pushed")
            }
        }
    }

    /// The frame that came by a port and looks for another output, if there is one: its chain up to now, and the cause of
    /// its time on a wire.
    fn moved(&mut self, now: u64, port: u32) -> Option<(Option<Chain>, Cause)> {
        let place = self.moving.iter().position(|moving| moving.input == port)?;
        let Moving { since, mut chain, cause, .. } = self.moving.remove(place)?;
        if let Some(chain) = &mut chain {
            chain.add(since, Key::own(Cause::Path), now - since);
        }
        Some((chain, cause))
    }
}

impl Causes {
    pub(super) fn source(&mut self, flow: u32) -> Option<&mut Source> {
        self.sources.get_mut(flow as usize)?.as_deref_mut()
    }

    /// Charges time of a flow at a stage of it.
    pub(super) fn charge(&mut self, waiter: &Waiter, port: u32, from: u64, key: Key, span: u64) {
        let Some(source) = self.source(waiter.flow) else { return };
        match waiter.at_source {
            true => source.own.add(from, key, span),
            false => source.stage(port).add(from, key, span),
        }
    }

    /// Until when frames of a flow are on the wire of a stage.
    pub(super) fn free(&mut self, waiter: &Waiter, port: u32) -> u64 {
        let Some(source) = self.source(waiter.flow) else { return 0 };
        if waiter.at_source { source.own.free() } else { source.stage(port).free() }
    }

    /// Charges the state of a flow at its source up to now.
    fn close_state(&mut self, flow: u32) {
        let now = self.now;
        let Some(source) = self.source(flow) else { return };
        if source.state == SourceState::Ready {
            let port = source.own.port;
            return self.settle(port);
        }
        self.settle_window(flow);
        let Some(source) = self.source(flow) else { return };
        let from = source.since.max(source.own.free());
        source.since = now;
        let (cause, (port, by)) = match source.state {
            SourceState::Rate => (Cause::Rate, (source.signalled, NONE)),
            SourceState::Window => (Cause::Window, (source.signalled, NONE)),
            SourceState::Recovery => (Cause::Recovery, source.lost),
            SourceState::Sent => (Cause::Delivery, source.lost),
            SourceState::Application | SourceState::Ready | SourceState::Resend | SourceState::Timeout => {
                (Cause::Application, (NONE, NONE))
            }
        };
        source.own.add(from, Key { port, by, ..Key::own(cause) }, now.saturating_sub(from));
    }

    /// A congestion point at an output has told a flow.
    pub(super) fn on_signal(&mut self, flow: u32, port: u32) {
        if self.source(flow).is_some_and(|source| source.signalled != port) {
            self.close_state(flow);
            if let Some(source) = self.source(flow) {
                source.signalled = port;
            }
        }
    }

    /// A data frame was dropped or lost.
    pub(super) fn on_drop(&mut self, event: &Event) {
        let output = self.map.sibling(event.port, event.other & !FOLLOWED);
        let at = output.unwrap_or_else(|| self.map.peer(event.port));
        let lost = (at, output.map_or(NONE, |output| self.fullest(output, event.class)));
        if self.source(event.flow).is_some_and(|source| source.lost != lost) {
            self.close_state(event.flow);
        }
        self.on_signal(event.flow, at);
        if let Some(source) = self.source(event.flow) {
            source.lost = lost;
        }
        if self.map.finite[event.flow as usize] {
            self.on_stage_drop(event);
        }
    }

    /// A flow is in another state at its source.
    pub(super) fn on_source(&mut self, event: &Event) {
        let (flow, state, now, width) = (event.flow, event.state(), self.now, self.width);
        if self.ended[flow as usize] {
            return;
        }
        if self.sources[flow as usize].is_none() {
            self.sources[flow as usize] = Some(Box::new(Source {
                from: now,
                width,
                state: SourceState::Application,
                since: now,
                class: self.class_of[flow as usize],
                resend: false,
                own: Stage::new(event.port, Chain::new(now, width)),
                stages: Vec::new(),
                ports: Vec::new(),
                moving: VecDeque::new(),
                signalled: NONE,
                lost: (NONE, NONE),
                queued: Vec::new(),
                signals: Signals::new(),
            }));
        }
        self.close_state(flow);
        let Some(source) = self.source(flow) else { return };
        if state == SourceState::Resend {
            source.resend = true;
            return;
        }
        if state == SourceState::Timeout {
            // The window was full of frames that were lost, or of which the acknowledgements were.
            let (port, by) = source.lost;
            source.own.recharge(Cause::Window, Key { port, by, ..Key::own(Cause::Recovery) });
            return;
        }
        let (was, at, class) = (source.state, source.own.port, source.class);
        (source.state, source.own.port, source.since) = (state, event.port, now);
        match state {
            SourceState::Window if was != SourceState::Window => source.own.mark(now),
            SourceState::Window => {}
            _ => source.own.unmark(now),
        }
        if was == SourceState::Ready {
            self.leave(at, flow, true);
        }
        if state == SourceState::Ready {
            self.join(event.port, Waiter { flow, class, input: NONE, at_source: true });
        }
    }

    /// A flow is stopped: its time ends, unless all of its frames are sent and may still arrive.
    pub(super) fn stop(&mut self, flow: u32) {
        let finite = self.map.finite[flow as usize];
        let sent = |source: &Source| matches!(source.state, SourceState::Sent | SourceState::Recovery);
        if self.sources[flow as usize].as_ref().is_some_and(|source| !(finite && sent(source))) {
            self.finish_flow(flow, None);
        }
    }

    /// A frame of a flow starts on the wire of its host.
    pub(super) fn on_source_start(&mut self, event: &Event) {
        let (now, tells) = (self.now, self.is_flight(event));
        self.close_state(event.flow);
        let Some(source) = self.source(event.flow) else { return };
        let cause = if std::mem::take(&mut source.resend) { Cause::Retransmission } else { Cause::Path };
        source.own.start(now, event.amount, cause, tells);
    }

    /// Whether the arrival at the far end of a data frame that starts will be known, and is of interest.
    fn is_flight(&self, event: &Event) -> bool {
        let tells = self.map.tells_arrivals(self.map.peer(event.port)) || event.other & FOLLOWED != 0;
        tells && event.is_data_start() && self.map.finite[event.flow as usize]
    }

    /// A data frame starts on the wire of a switch.
    pub(super) fn on_stage_start(&mut self, event: &Event) {
        let (now, tells, port) = (self.now, self.is_flight(event), event.port);
        let Some(source) = self.source(event.flow) else { return };
        let stage = source.stage(port);
        let Some(cause) = stage.leave() else { return };
        let left = !stage.waits();
        stage.start(now, event.amount, cause, tells);
        if left {
            self.leave(port, event.flow, false);
        }
    }

    /// A data frame arrives by a port of a switch or of a slow receiver, and waits there at a stage.
    pub(super) fn on_stage_join(&mut self, event: &Event, port: u32) {
        let (now, flow) = (self.now, event.flow);
        let sender = self.map.peer(event.port);
        let from_host = self.map.is_host(self.map.node(sender));
        let at_host = self.map.is_host(self.map.node(port));
        let Some(source) = self.source(flow) else { return };
        let fresh = !source.stage(port).is_occupied(now);
        let first = !source.stage(port).waits();
        let (chain, cause) = source.moved(now, event.port).unwrap_or_else(|| match from_host {
            true => source.own.arrive(now, fresh),
            false => source.stage(sender).arrive(now, fresh),
        });
        let stage = source.stage(port);
        if let Some(chain) = chain.filter(|_| fresh) {
            stage.begin(chain);
        }
        stage.join(cause);
        match first {
            true if at_host => stage.wait_from(now),
            true => self.join(port, Waiter { flow, class: event.class, input: event.port, at_source: false }),
            false => {}
        }
    }

    /// A frame that waited for an output looks for another one.
    pub(super) fn on_stage_leave(&mut self, event: &Event) {
        let (flow, port, now) = (event.flow, event.other, self.now);
        self.settle(port);
        let Some(source) = self.source(flow) else { return };
        let stage = source.stage(port);
        let chain = stage.waits().then(|| stage.chain(now));
        let cause = stage.leave().unwrap_or(Cause::Path);
        let left = !stage.waits();
        source.moving.push_back(Moving { input: event.port, since: now, chain, cause });
        if left {
            self.leave(port, flow, false);
        }
    }

    /// A data frame was lost on its way to a port, or dropped there.
    fn on_stage_drop(&mut self, event: &Event) {
        let (now, sender) = (self.now, self.map.peer(event.port));
        if self.map.source[event.flow as usize] == self.map.node(event.port) {
            // Dropped before it was sent.
            return;
        }
        let from_host = self.map.is_host(self.map.node(sender));
        let Some(source) = self.source(event.flow) else { return };
        if source.moved(now, event.port).is_some() {
            return;
        }
        match from_host {
            true => source.own.arrive(now, false),
            false => source.stage(sender).arrive(now, false),
        };
    }

    /// A data frame was taken by its destination, and may complete its flow; or it was discarded there.
    pub(super) fn on_delivery(&mut self, event: &Event, completes: bool) {
        let (flow, now) = (event.flow, self.now);
        let host = self.map.node_of(event.port);
        let inputs = self.map.ports_of(host);
        let senders: Vec<u32> = inputs.clone().map(|port| self.map.peer(port)).collect();
        let slow = self.map.tells_arrivals(inputs.start);
        if !slow && event.other & FOLLOWED == 0 {
            // Nobody waits for its arrival.
            return;
        }
        let Some(source) = self.source(flow) else { return };
        let mut chain = None;
        if slow {
            let waits = |stage: &&mut Stage| inputs.contains(&stage.port) && stage.waits();
            if let Some(stage) = source.stages.iter_mut().find(waits) {
                let from = stage.free();
                stage.add(from, received(senders[(stage.port - inputs.start) as usize]), now.saturating_sub(from));
                stage.wait_from(now);
                stage.leave();
                chain = completes.then(|| stage.chain(now));
            }
        } else {
            // Of several links, the one by which a frame has been on its way longest.
            let own = source.own.oldest().filter(|_| senders.contains(&source.own.port)).map(|start| (start, None));
            let others = source.stages.iter().enumerate().filter(|(_, stage)| senders.contains(&stage.port));
            let others = others.filter_map(|(place, stage)| Some((stage.oldest()?, Some(place))));
            match own.into_iter().chain(others).min() {
                Some((_, Some(place))) => chain = source.stages[place].arrive(now, completes).0,
                Some((_, None)) => chain = source.own.arrive(now, completes).0,
                None => {}
            }
        }
        if completes {
            self.finish_flow(flow, Some(chain));
        }
    }

    /// The time of a flow ends now: it is complete, with that chain if it is known, or stopped, or the run has ended.
    pub(super) fn finish_flow(&mut self, flow: u32, completed: Option<Option<Chain>>) {
        let now = self.now;
        self.close_state(flow);
        let Some(source) = self.source(flow) else { return };
        let ready = (source.state == SourceState::Ready).then_some(source.own.port);
        let waits: Vec<u32> = source.stages.iter().filter(|stage| stage.waits()).map(|stage| stage.port).collect();
        if let Some(port) = ready {
            self.leave(port, flow, true);
        }
        waits.iter().for_each(|&port| self.leave(port, flow, false));
        self.leave_queues(flow);
        let Some(mut source) = self.sources[flow as usize].take() else { return };
        self.ended[flow as usize] = true;
        let complete = completed.is_some();
        let sent = matches!(source.state, SourceState::Sent | SourceState::Recovery);
        let chain = completed.flatten().or_else(|| {
            // What has been sent and is stuck is further on its way than the source.
            let stuck = |stage: &&mut Stage| sent && stage.waits() && waits.contains(&stage.port);
            let stage = source.stages.iter_mut().rev().find(stuck)?;
            let slow = self.map.is_host(self.map.node(stage.port));
            if slow {
                let from = stage.free();
                stage.add(from, received(self.map.peer(stage.port)), now.saturating_sub(from));
            }
            Some(stage.chain(now))
        });
        let (ledger, intervals, width) = chain.unwrap_or_else(|| source.own.chain(now)).finish();
        let course = if self.width == u64::MAX { Vec::new() } else { course(&intervals, width) };
        let Source { from, mut ports, signals, .. } = *source;
        ports.sort_unstable();
        debug_assert_eq!(ledger.total(), now - from, "the causes of flow {flow} do not add up");
        let cycles = Vec::new();
        self.done.push(FlowCauses { flow, from, until: now, complete, ledger, course, ports, cycles, signals });
    }

    /// What flows without a size did so far does not count.
    pub(super) fn end_warm_up(&mut self) {
        let (now, width) = (self.now, self.width);
        for flow in 0..self.sources.len() as u32 {
            self.close_state(flow);
            let endless = !self.map.finite[flow as usize];
            if let Some(source) = self.source(flow).filter(|_| endless) {
                source.own.restart(now, Chain::new(now, width));
                source.from = now;
            }
        }
    }
}

/// The causes over time, of which neither the blocked link nor the flow matters, in intervals of equal length.
fn course(intervals: &[(u64, super::Ledger)], width: u64) -> Vec<Moment> {
    let mut all: Vec<Moment> = Vec::new();
    for (start, ledger) in intervals {
        let until = (start / width + 1) * width;
        let first = all.iter().rposition(|moment| moment.until != until).map_or(0, |place| place + 1);
        for (Key { cause, port, .. }, time) in ledger.iter() {
            match all[first..].iter_mut().find(|moment| (moment.cause, moment.port) == (cause, port)) {
                Some(moment) => moment.time += time,
                None => all.push(Moment { until, width, cause, port, time }),
            }
        }
    }
    all
}
