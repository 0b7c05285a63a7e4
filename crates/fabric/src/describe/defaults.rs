//! Defaults and constructors of descriptions, so that a literal states only what is special.

use crate::describe::graph::LinkSpec;
use crate::describe::spec::{
    Buffer, ClassBuffer, ClassSpec, CreditReturn, CreditSpec, CreditUnit, Egress, FlowControl, Forwarding, Order,
    PauseSpec, Queueing, SwitchSpec,
};
use crate::describe::workload::{Acknowledge, FlowSpec};
use crate::graph::HostId;
use units::{Bytes, Rate, Span};

impl LinkSpec {
    /// A link without bit errors.
    #[must_use]
    pub const fn new(rate: Rate, latency: Span) -> LinkSpec {
        LinkSpec { rate, latency, bit_error_rate: 0.0 }
    }
}

impl ClassSpec {
    /// A class whose frames may not be dropped for lack of room.
    #[must_use]
    pub fn lossless(name: impl Into<String>) -> ClassSpec {
        ClassSpec { name: name.into(), lossless: true }
    }

    /// A class whose frames may be dropped.
    #[must_use]
    pub fn lossy(name: impl Into<String>) -> ClassSpec {
        ClassSpec { name: name.into(), lossless: false }
    }
}

impl Default for SwitchSpec {
    /// Output queues without limit for one class, no flow control, strict priority, store and forward, no pipeline delay
    /// and no congestion point.
    fn default() -> SwitchSpec {
        SwitchSpec {
            queueing: Queueing::Output,
            buffer: Buffer::Static(vec![ClassBuffer::UNLIMITED]),
            flow_control: FlowControl::None,
            crossbar: None,
            egress: Egress::Strict,
            forwarding: Forwarding::StoreAndForward,
            pipeline: Span::ZERO,
            order: Order::Arrival,
            congestion_point: None,
            pfc_watchdog: None,
        }
    }
}

impl SwitchSpec {
    /// A switch for one lossy class: each output queue holds `capacity` and drops what exceeds it.
    #[must_use]
    pub fn drop_tail(capacity: Bytes) -> SwitchSpec {
        SwitchSpec { buffer: Buffer::Static(vec![ClassBuffer::drop_tail(capacity)]), ..SwitchSpec::default() }
    }

    /// A switch for lossless classes with PFC: one buffer per class at each input, see [`ClassBuffer::lossless`].
    #[must_use]
    pub fn pfc(classes: impl IntoIterator<Item = ClassBuffer>) -> SwitchSpec {
        SwitchSpec {
            buffer: Buffer::Static(classes.into_iter().collect()),
            flow_control: FlowControl::Pfc(PauseSpec::default()),
            ..SwitchSpec::default()
        }
    }

    /// A switch for one lossless class with credits of 64 bytes, as InfiniBand has them: each input holds `capacity`, and
    /// a signal returns freed credits after `delay`.
    #[must_use]
    pub fn credits(capacity: Bytes, delay: Span) -> SwitchSpec {
        let unit = CreditUnit::Block(Bytes::new(64));
        SwitchSpec {
            flow_control: FlowControl::Credits(CreditSpec { unit, give_back: CreditReturn::Signal { delay } }),
            ..SwitchSpec::drop_tail(capacity)
        }
    }
}

impl Default for Acknowledge {
    /// A frame of 64 bytes in class 0 for every data frame.
    fn default() -> Acknowledge {
        Acknowledge { size: Bytes::new(64), class: 0, every: 1, delay: None }
    }
}

impl FlowSpec {
    /// A flow of that many bytes, from time zero, in class 0, with 1500-byte frames.
    #[must_use]
    pub fn finite(source: HostId, destination: HostId, size: Bytes) -> FlowSpec {
        FlowSpec { size: Some(size), ..FlowSpec::greedy(source, destination) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::spec::{AdapterSpec, NetworkSpec};
    use crate::describe::topology;
    use crate::{BuildOptions, Outcome, RunLimits, Simulation};

    #[test]
    fn networks_of_defaults_run_and_deliver_everything() {
        let lossless = ClassBuffer::lossless(Bytes::new(200_000), Bytes::new(50_000), Bytes::new(40_000));
        let switches = [
            (SwitchSpec::default(), ClassSpec::lossy("data")),
            (SwitchSpec::drop_tail(Bytes::new(1_000_000)), ClassSpec::lossy("data")),
            (SwitchSpec::pfc([lossless]), ClassSpec::lossless("data")),
            (SwitchSpec::credits(Bytes::new(32_768), Span::from_nanos(100)), ClassSpec::lossless("data")),
        ];
        for (switch, class) in switches {
            let link = LinkSpec::new(Rate::from_gigabits(10), Span::from_nanos(500));
            let graph = topology::single_switch(4, link).expect("four hosts");
            let flow = |host| {
                FlowSpec::finite(HostId(host), HostId(0), Bytes::new(150_000)).with(|it| {
                    it.acknowledge = Some(Acknowledge::default());
                })
            };
            let flows = (1..4).map(flow).collect();
            let spec = NetworkSpec { flows, ..NetworkSpec::uniform(graph, switch, AdapterSpec::default(), class) };
            let mut simulation = Simulation::build(&spec, &BuildOptions::default()).expect("a sound network");
            assert_eq!(simulation.run(&RunLimits::default()).outcome, Outcome::Finished);
            assert!(simulation.flows().iter().all(|flow| flow.received_bytes == 150_000), "{:?}", simulation.flows());
        }
    }
}
