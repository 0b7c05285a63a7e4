//! What htsim's programs add to its files: the congestion control, packets and queues, by their defaults or options.
//!
//! Read from the public sources: `main_ndp.cpp`, `main_eqds.cpp`, `main_hpcc.cpp`, `hpcc.cpp` and `compositequeue.cpp` of
//! csg-htsim, `main_uec.cpp` and `uec.cpp` of the Ultra Ethernet Consortium's version. Every line of the scenario that is
//! a default names its source.

use super::options::{Settings, Strategy};
use super::topology::Topology;
use std::fmt::Write as _;
use units::{Rate, Span};

/// A program of htsim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Program {
    Ndp,
    Eqds,
    Hpcc,
    Nscc,
    Rccc,
}

const NAMED: [(&str, Program); 5] = [
    ("ndp", Program::Ndp),
    ("eqds", Program::Eqds),
    ("hpcc", Program::Hpcc),
    ("nscc", Program::Nscc),
    ("rccc", Program::Rccc),
];

/// Names that [`Options::control`](super::Options::control) may be.
#[must_use]
pub fn controls() -> Vec<&'static str> {
    NAMED.iter().map(|(name, _)| *name).collect()
}

/// Header of a packet, and size of acknowledgements, pulls and trimmed packets.
const HEADER: u64 = 64;
/// Packets of `main_ndp` and `main_hpcc`, without their header.
const LARGE: u64 = 9000;
/// Packets of `main_eqds` and `main_uec`, with their header.
const SMALL: u64 = 4150;
/// Room beyond the threshold of a lossless input, which has no limit in htsim.
const BEYOND: u64 = 3_865_000;

impl Program {
    pub(super) fn named(name: &str) -> Option<Program> {
        NAMED.iter().find(|(known, _)| *known == name).map(|(_, program)| *program)
    }

    /// Packets of a window, and of a queue, that `-cwnd` and `-q` replace.
    fn usual(self) -> (u64, u64) {
        match self {
            Program::Ndp | Program::Hpcc => (15, 15),
            Program::Eqds | Program::Nscc | Program::Rccc => (50, 35),
        }
    }
}

/// A program and its options.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run<'a> {
    pub(super) program: Program,
    pub(super) settings: &'a Settings,
}

impl Run<'_> {
    /// The program and the options that it stands for.
    pub(super) fn command(self) -> &'static str {
        match self.program {
            Program::Ndp => "htsim_ndp -strat perm",
            Program::Eqds => "htsim_eqds",
            Program::Hpcc => "htsim_hpcc -strat single",
            Program::Nscc => "htsim_uec -sender_cc_only",
            Program::Rccc => "htsim_uec -receiver_cc_only",
        }
    }

    /// `-mtu`: a packet without its header in NDP and HPCC, with it in the others.
    fn mtu(self) -> u64 {
        self.settings.mtu.unwrap_or(packet_of_queue(self.program))
    }

    /// `-q`.
    fn queue(self) -> u64 {
        self.settings.queue.unwrap_or(self.program.usual().1)
    }

    fn strategy(self) -> Strategy {
        self.settings.strategy.unwrap_or(match self.program {
            Program::Ndp => Strategy::Permute,
            Program::Hpcc => Strategy::Single,
            _ => Strategy::Hash,
        })
    }

    /// The value of `multipath`, with its reason.
    pub(super) fn multipath(self) -> &'static str {
        match self.strategy() {
            Strategy::Permute => "\"path-number\"  # -strat perm: packets use all paths in turn",
            Strategy::Single => "\"flow-hash\"    # -strat single: a flow has one path",
            Strategy::Random => "\"flow-hash\"    # -strat rand: each packet takes a random path",
            Strategy::Hash if self.program == Program::Hpcc => {
                "\"flow-hash\"    # -strat ecmp_host: switches hash the flow, which has one path"
            }
            Strategy::Hash => "\"flow-hash\"    # -strat ecmp_host: switches hash the entropy of each packet",
        }
    }

    /// Bytes of a flow as the scenario counts them. NDP and HPCC send full packets only. Of flows that announce what they
    /// want to send, frames have no room for headers of their own, which are then bytes of the flow.
    pub(super) fn bytes(self, bytes: u64) -> u64 {
        match self.program {
            Program::Ndp | Program::Hpcc => bytes.div_ceil(self.mtu()).saturating_mul(self.mtu()),
            Program::Eqds | Program::Rccc => {
                bytes.saturating_add(bytes.div_ceil(self.mtu() - HEADER).saturating_mul(HEADER))
            }
            Program::Nscc => bytes,
        }
    }

    /// Classes, in front of the switches.
    pub(super) fn classes(self) -> &'static str {
        match self.program {
            Program::Hpcc => "\n[[classes]]\nname = \"data\"  # acknowledgements wait in the same queues\n",
            _ => {
                "\n[[classes]]\nname = \"data\"\nlossless = false\n\n[[classes]]\nname = \"control\"  # headers, \
                 acknowledgements and pulls, before data\nlossless = false\n"
            }
        }
    }

    /// The keys of switches, but for their latency.
    pub(super) fn switch(self, topology: &Topology) -> String {
        let composite = |packets: u64, packet: u64, marks: &str, why: &str| {
            // What waits, without the packet on the wire, which htsim counts.
            let frames = (packets * self.mtu() / packet).saturating_sub(1).max(1);
            let victim = if self.program == Program::Ndp { "" } else { ", victim = \"arriving\"" };
            format!(
                "flow_control = \"none\"\n\
                 # CompositeQueue: {why}, of which one is on the wire\n\
                 congestion_points = [{{ name = \"trim\", classes = [\"data\"], frames = {frames}{victim}{marks} }}]\n\
                 trim_class = \"control\"\ntrim_size = \"{HEADER}B\"\n\
                 # CompositeQueue: twice the queue for headers; data is limited by `frames`\n\
                 buffers = [{{ classes = [\"data\"], capacity = \"{}B\" }}, {{ classes = [\"control\"], capacity = \"{}B\" \
                 }}]\n",
                4 * packets * packet,
                2 * packets * self.mtu(),
            )
        };
        let (mtu, queue) = (self.mtu(), self.queue());
        let given = format!("-q {queue} of {mtu} B");
        match self.program {
            Program::Ndp => composite(queue, mtu + HEADER, "", &given),
            Program::Eqds => composite(queue, mtu, "", &given),
            Program::Hpcc => {
                let [low, high] = self.settings.thresholds.unwrap_or([12, 15]);
                let (xon, xoff) = (low * mtu, high * mtu);
                format!(
                    "flow_control = \"pfc\"\nqueueing = \"output\"\n\
                     # LosslessInputQueue: -pfc_thresholds {low} {high}, in packets of {mtu} B; no limit beyond\n\
                     buffers = {{ capacity = \"{}B\", xoff = \"{xoff}B\", xon = \"{xon}B\" }}\n",
                    xoff + BEYOND.max(400 * mtu),
                )
            }
            Program::Nscc | Program::Rccc => {
                let packets = self.settings.queue.unwrap_or_else(|| self.product(topology));
                let marks = match self.program {
                    Program::Nscc => {
                        let at = |tenths: u64| (packets * tenths).div_ceil(10) * mtu;
                        format!(", kmin = \"{}B\", kmax = \"{}B\"", at(2), at(8))
                    }
                    _ => String::new(),
                };
                let why = match self.settings.queue {
                    Some(_) => given,
                    None => format!(
                        "a queue of one bandwidth-delay product, {packets} packets; marks from 0.2 to 0.8 of it"
                    ),
                };
                composite(packets, mtu, &marks, &why)
            }
        }
    }

    /// Protocol and recovery.
    pub(super) fn protocol(self, topology: &Topology) -> String {
        let rate = topology.host_rate().as_bits_per_sec().max(1);
        // Six queues, and something.
        let timeout = |micros: u64, packets: u64| {
            let picos = u128::from(packets * self.mtu()) * 6 * 8 * 1_000_000_000_000 / u128::from(rate);
            let nanos = u64::try_from(picos / 1000).unwrap_or(u64::MAX / 2_000_000);
            Span::from_micros(micros) + Span::from_nanos(nanos)
        };
        let window = match self.settings.window {
            Some(window) => format!("first_window = {window}  # -cwnd\n"),
            None => String::new(),
        };
        let cwnd = self.program.usual().0;
        let mut text = String::from("\n[protocol]\n");
        let _ = match self.program {
            Program::Ndp => {
                let paths = match self.strategy() {
                    Strategy::Single => "paths = 1  # -strat single\n".to_owned(),
                    Strategy::Hash => {
                        self.settings.paths.map(|paths| format!("paths = {paths}  # -paths\n")).unwrap_or_default()
                    }
                    Strategy::Permute | Strategy::Random => String::new(),
                };
                write!(
                    text,
                    "name = \"ndp\"\npreset = \"htsim\"  # -cwnd {cwnd}, pulls at 0.99 of the link\n{window}{paths}"
                )
            }
            Program::Eqds => write!(
                text,
                "name = \"eqds\"\npreset = \"htsim\"  # -cwnd {cwnd}; 256 values of entropy\n{window}\
                 timeout = \"{}\"  # main_eqds.cpp: 50 us and six queues\n",
                timeout(50, self.queue())
            ),
            Program::Hpcc => {
                // A packet per 12 us.
                let increase = match self.settings.mtu {
                    Some(mtu) => {
                        let rate = Rate::from_bits_per_sec(mtu * 8 * 1_000_000 / 12);
                        format!("ai_rate = \"{rate}\"  # _Wai: a packet per _T\n")
                    }
                    None => String::new(),
                };
                write!(
                    text,
                    "name = \"hpcc\"\npreset = \"htsim\"  # T 12 us, eta 0.95, 5 stages, W_AI of a packet\n{increase}\
                     \n[recovery]\nname = \"go-back-n\"     # hpcc.cpp: processNack\n"
                )
            }
            Program::Nscc | Program::Rccc => write!(
                text,
                "name = \"{}\"\npaths = 64            # main_uec.cpp: path_entropy_size\n\
                 timeout = \"{}\"  # main_uec.cpp: 15 us and six queues\n",
                if self.program == Program::Nscc { "nscc" } else { "rccc" },
                timeout(15, self.settings.queue.unwrap_or_else(|| self.product(topology)))
            ),
        };
        text
    }

    /// The keys of the workload.
    pub(super) fn workload(self) -> String {
        let replies = format!("acknowledge = {{ class = \"control\", size = \"{HEADER}B\" }}\n");
        let pulls = format!("pull = {{ class = \"control\", size = \"{HEADER}B\" }}\n");
        let mtu = self.mtu();
        match self.program {
            Program::Ndp => {
                format!("class = \"data\"\nframe = \"{mtu}B\"      # -mtu\nheaders = \"{HEADER}B\"\n{replies}{pulls}")
            }
            Program::Eqds | Program::Rccc => format!(
                "class = \"data\"\nframe = \"{mtu}B\"      # -mtu, with a header of {HEADER} B: sizes of flows count them\n{replies}{pulls}"
            ),
            Program::Nscc => {
                format!(
                    "class = \"data\"\nframe = \"{}B\"      # -mtu {mtu}\nheaders = \"{HEADER}B\"\n{replies}",
                    mtu - HEADER
                )
            }
            Program::Hpcc => format!(
                "class = \"data\"\nframe = \"{mtu}B\"      # -mtu\n# A header of {HEADER} B, which has room for telemetry in htsim.\n\
                 headers = \"{}B\"\ntelemetry = {{ size = \"1B\" }}\nacknowledge = {{ size = \"{}B\" }}\n",
                HEADER - 1,
                HEADER - 1
            ),
        }
    }

    /// What the program does and the scenario does not, for the user to know.
    pub(super) fn differences(self) -> &'static str {
        match self.program {
            Program::Ndp => {
                "main_ndp has no default for -strat: as -strat perm; all packets are full, so sizes of flows are whole packets"
            }
            Program::Eqds => "sizes of flows include headers",
            Program::Hpcc => {
                "main_hpcc has no default for -strat: as -strat single; all packets are full, so sizes of flows are whole \
                 packets. htsim's hpcc.cpp starts all flows at time 0 whatever the file says; here they start as it says"
            }
            Program::Nscc => "paths are used in turn; htsim avoids those with marks (-load_balancing_algo mixed)",
            Program::Rccc => "credit in advance for idle sources is left out; sizes of flows include headers",
        }
    }

    /// Packets of a bandwidth-delay product, as `calculate_bdp_pkt` of `main_uec.cpp` has it.
    fn product(self, topology: &Topology) -> u64 {
        let mtu = self.mtu();
        let rate = u128::from(topology.host_rate().as_bits_per_sec().max(1));
        let hops = 2 * topology.height() as u128;
        let wire = u128::from((mtu + HEADER) * 8) * hops * 1_000_000_000_000 / rate;
        let picos = 2 * u128::from(topology.diameter().as_picos()) + wire;
        let packets = (picos * rate).div_ceil(8_000_000_000_000 * u128::from(mtu));
        u64::try_from(packets).unwrap_or(u64::MAX / mtu / 8).clamp(1, 1 << 18)
    }
}

/// Bytes of a packet as `-q` counts them, without `-mtu`.
fn packet_of_queue(program: Program) -> u64 {
    match program {
        Program::Ndp | Program::Hpcc => LARGE,
        _ => SMALL,
    }
}
