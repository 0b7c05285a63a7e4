//! Simulations that a probe of a test observes.
//!
//! A network is compiled anew for every type of probe, which takes long. So here all of them are behind one type.

use fabric::spec::NetworkSpec;
use fabric::{BuildErrors, BuildOptions, DropCause, Frame, Notice, Probe, QueueSample, Simulation, SourceState};
use std::any::Any;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use units::{Span, Time};

/// Any probe.
pub struct AnyProbe(Box<dyn Observer>);

trait Observer: Probe + Any {}

impl<P: Probe + Any> Observer for P {}

/// A simulation with probes of that type.
pub struct Observed<P> {
    simulation: Simulation<AnyProbe>,
    probes: PhantomData<P>,
}

impl<P: Probe + 'static> Observed<P> {
    pub fn build(
        spec: &NetworkSpec,
        options: &BuildOptions,
        mut probe: impl FnMut(usize) -> P,
    ) -> Result<Observed<P>, BuildErrors> {
        let simulation = Simulation::build_with(spec, options, |shard| AnyProbe(Box::new(probe(shard))))?;
        Ok(Observed { simulation, probes: PhantomData })
    }

    pub fn probes_mut(&mut self) -> impl Iterator<Item = &mut P> {
        self.simulation.probes_mut().map(|AnyProbe(probe)| {
            let probe: &mut dyn Any = &mut **probe;
            probe.downcast_mut().expect("it was built with this type")
        })
    }
}

impl<P> Deref for Observed<P> {
    type Target = Simulation<AnyProbe>;
    fn deref(&self) -> &Simulation<AnyProbe> {
        &self.simulation
    }
}

impl<P> DerefMut for Observed<P> {
    fn deref_mut(&mut self) -> &mut Simulation<AnyProbe> {
        &mut self.simulation
    }
}

impl Probe for AnyProbe {
    fn is_full(&self) -> bool {
        self.0.is_full()
    }
    fn sample_every(&self) -> Option<Span> {
        self.0.sample_every()
    }
    fn wants_rates(&self) -> bool {
        self.0.wants_rates()
    }
    fn wants_attachments(&self) -> bool {
        self.0.wants_attachments()
    }
    fn on_attachments(&mut self, stamps: &[congestion::Stamp], blocks: &[(u32, u32)]) {
        self.0.on_attachments(stamps, blocks);
    }
    fn on_transmit(&mut self, now: Time, port: u32, frame: &Frame, waited: Span, busy: Span) {
        self.0.on_transmit(now, port, frame, waited, busy);
    }
    fn on_deliver(&mut self, now: Time, host: u32, frame: &Frame) {
        self.0.on_deliver(now, host, frame);
    }
    fn on_complete(&mut self, now: Time, flow: u32) {
        self.0.on_complete(now, flow);
    }
    fn on_drop(&mut self, now: Time, port: u32, frame: &Frame, cause: DropCause) {
        self.0.on_drop(now, port, frame, cause);
    }
    fn on_pause(&mut self, now: Time, port: u32, classes: u8, paused: bool) {
        self.0.on_pause(now, port, classes, paused);
    }
    fn wants_starving(&self) -> bool {
        self.0.wants_starving()
    }
    fn on_starve(&mut self, now: Time, port: u32, classes: u8, still: bool) {
        self.0.on_starve(now, port, classes, still);
    }
    fn on_credits(&mut self, now: Time, port: u32, classes: u8) {
        self.0.on_credits(now, port, classes);
    }
    fn on_notice(&mut self, now: Time, flow: u32, notice: &Notice) {
        self.0.on_notice(now, flow, notice);
    }
    fn wants_causes(&self) -> bool {
        self.0.wants_causes()
    }
    fn on_join(&mut self, now: Time, input: u32, output: u32, frame: &Frame) {
        self.0.on_join(now, input, output, frame);
    }
    fn on_leave(&mut self, now: Time, input: u32, output: u32, frame: &Frame, crossed: bool) {
        self.0.on_leave(now, input, output, frame, crossed);
    }
    fn on_receive(&mut self, now: Time, port: u32, frame: &Frame) {
        self.0.on_receive(now, port, frame);
    }
    fn on_discard(&mut self, now: Time, host: u32, frame: &Frame) {
        self.0.on_discard(now, host, frame);
    }
    fn on_source(&mut self, now: Time, port: u32, flow: u32, state: SourceState) {
        self.0.on_source(now, port, flow, state);
    }
    fn on_mark(&mut self, now: Time, port: u32, frame: &Frame) {
        self.0.on_mark(now, port, frame);
    }
    fn on_cable(&mut self, now: Time, port: u32, up: bool) {
        self.0.on_cable(now, port, up);
    }
    fn on_queue(&mut self, now: Time, sample: QueueSample) {
        self.0.on_queue(now, sample);
    }
    fn on_occupancy(&mut self, now: Time, port: u32, class: u8, held: &[(u32, u32)]) {
        self.0.on_occupancy(now, port, class, held);
    }
    fn on_rate(&mut self, now: Time, flow: u32, rate: Option<u64>, window: Option<u64>) {
        self.0.on_rate(now, flow, rate, window);
    }
}
