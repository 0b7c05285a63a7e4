//! Choices among equal paths other than by a hash of the flow: queue lengths, numbers of paths and flowlets.
//!
//! Each looks at its own switch only, so that results do not depend on the partitioning.

use crate::describe::routing::pick;
use crate::describe::spec::{FlowletChoice, FlowletSpec, Multipath};
use crate::machine::network::Network;
use crate::machine::port::DOWN;
use crate::observe::probe::Probe;
use units::{State, Stream, Time};

/// How a switch chooses among equal paths.
#[derive(Clone, Debug)]
pub(crate) enum PathChoice {
    /// The shortest queue, for every frame.
    Adaptive,
    /// The entropy of the frame is the number of its path.
    Numbered,
    /// A path per flowlet.
    Flowlets(Flowlets),
}

impl State for PathChoice {
    fn save(&self, out: &mut Vec<u8>) {
        if let PathChoice::Flowlets(flowlets) = self {
            flowlets.save(out);
        }
    }

    fn load(&mut self, input: &mut &[u8]) -> Option<()> {
        match self {
            PathChoice::Flowlets(flowlets) => flowlets.load(input),
            PathChoice::Adaptive | PathChoice::Numbered => Some(()),
        }
    }
}

/// The table of flowlets of a switch.
#[derive(Clone, Debug)]
pub(crate) struct Flowlets {
    spec: FlowletSpec,
    /// When the last frame of each entry came, and the output that it took.
    table: Vec<Option<(Time, u16)>>,
    stream: Stream,
}

units::state!(struct Flowlets { fixed: spec; plain: stream; lists: table; });

impl PathChoice {
    /// The choice of the switch with that number; `None` if the hash alone decides.
    pub(crate) fn new(multipath: Multipath, seed: u64, node: u32) -> Option<Box<PathChoice>> {
        match multipath {
            Multipath::FlowHash | Multipath::Spray => None,
            Multipath::Adaptive => Some(Box::new(PathChoice::Adaptive)),
            Multipath::Numbered => Some(Box::new(PathChoice::Numbered)),
            Multipath::Flowlet(spec) => Some(Box::new(PathChoice::Flowlets(Flowlets {
                spec,
                table: vec![None; spec.entries as usize],
                stream: Stream::new(seed, u64::from(node), "flowlets"),
            }))),
        }
    }
}

impl<P: Probe> Network<P> {
    /// Chooses the output of a frame that has arrived at a switch with a choice of its own. Returns its port.
    #[inline(never)]
    pub(crate) fn choose_output(&mut self, now: Time, switch: u32, place: u32) -> u32 {
        let mut paths = self.switches[switch as usize].paths.take();
        let state = &self.switches[switch as usize];
        let (frame, first_port, salt) = (&self.pool[place], state.first_port, state.salt);
        let outputs = self.plan.tables[state.tables as usize].outputs(state.row, frame.dst);
        let (mut output, mut entropy) = (frame.output, frame.entropy);
        if outputs.len() > 1 {
            match paths.as_deref_mut() {
                Some(PathChoice::Adaptive) => output = self.shortest(outputs, first_port, frame.entropy, salt),
                Some(PathChoice::Numbered) => {
                    let choices = outputs.len() as u32;
                    (output, entropy) = (outputs[(entropy % choices) as usize], entropy / choices);
                }
                Some(PathChoice::Flowlets(Flowlets { spec, table, stream })) => {
                    // Another salt than that of the choice among outputs, so that entries and outputs are independent.
                    let entry = &mut table[pick(frame.entropy, !salt, spec.entries as usize)];
                    output = match *entry {
                        Some((last, output)) if now - last <= spec.gap && outputs.contains(&output) => output,
                        _ => match spec.choice {
                            FlowletChoice::Random => outputs[stream.below(outputs.len() as u64) as usize],
                            FlowletChoice::Shortest => self.shortest(outputs, first_port, frame.entropy, salt),
                        },
                    };
                    *entry = Some((now, output));
                }
                None => {}
            }
        }
        self.switches[switch as usize].paths = paths;
        (self.pool[place].output, self.pool[place].entropy) = (output, entropy);
        first_port + u32::from(output)
    }

    /// The output for which the fewest bytes wait, in all classes, with the frame on the wire; among equal ones, by the
    /// hash of the flow. Outputs whose cable has failed come last.
    fn shortest(&self, outputs: &[u16], first_port: u32, entropy: u32, salt: u32) -> u16 {
        let queue = |output: u16| {
            let port = first_port + u32::from(output);
            let lanes = port as usize * self.classes..(port as usize + 1) * self.classes;
            let waiting: u64 = self.lanes[lanes].iter().map(|lane| u64::from(lane.bytes)).sum();
            let port = &self.ports[port as usize];
            (port.flags & DOWN != 0, waiting + u64::from(port.leaving_len))
        };
        let least = outputs.iter().map(|&output| queue(output)).min();
        let equal = || outputs.iter().copied().filter(|&output| Some(queue(output)) == least);
        equal().nth(pick(entropy, salt, equal().count())).unwrap_or(outputs[0])
    }
}
