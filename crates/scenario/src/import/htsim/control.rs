//! What htsim's programs add to its files: the congestion control, packets and queues, by their defaults.
//!
//! Read from the public sources: `main_ndp.cpp`, `main_eqds.cpp`, `main_hpcc.cpp`, `hpcc.cpp` and `compositequeue.cpp` of
//! csg-htsim, `main_uec.cpp` and `uec.cpp` of the Ultra Ethernet Consortium's version. Every line of the scenario that is
//! a default names its source.

use super::topology::Topology;
use std::fmt::Write as _;
use units::Span;

/// A program of htsim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
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

impl Program {
    pub(super) fn named(name: &str) -> Option<Program> {
        NAMED.iter().find(|(known, _)| *known == name).map(|(_, program)| *program)
    }

    /// The program and the options that it stands for.
    pub(super) fn command(self) -> &'static str {
        match self {
            Program::Ndp => "htsim_ndp -strat perm",
            Program::Eqds => "htsim_eqds",
            Program::Hpcc => "htsim_hpcc -strat single",
            Program::Nscc => "htsim_uec -sender_cc_only",
            Program::Rccc => "htsim_uec -receiver_cc_only",
        }
    }

    /// The value of `multipath`, with its reason.
    pub(super) fn multipath(self) -> &'static str {
        match self {
            Program::Ndp => "\"path-number\"  # -strat perm: packets use all paths in turn",
            Program::Hpcc => "\"flow-hash\"    # -strat single: a flow has one path",
            _ => "\"flow-hash\"    # -strat ecmp_host: switches hash the entropy of each packet",
        }
    }

    /// Bytes of a flow as the scenario counts them: of flows that announce what they want to send, frames have no room for
    /// headers of their own, which are then bytes of the flow.
    pub(super) fn bytes(self, bytes: u64) -> u64 {
        match self {
            Program::Eqds | Program::Rccc => {
                bytes.saturating_add(bytes.div_ceil(SMALL - HEADER).saturating_mul(HEADER))
            }
            _ => bytes,
        }
    }

    /// Classes, in front of the switches.
    pub(super) fn classes(self) -> &'static str {
        match self {
            Program::Hpcc => "\n[[classes]]\nname = \"data\"\n\n[[classes]]\nname = \"control\"\n",
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
            let frames = (packets * packet_of_queue(self) / packet).saturating_sub(1).max(1);
            let victim = if self == Program::Ndp { "" } else { ", victim = \"arriving\"" };
            format!(
                "flow_control = \"none\"\n\
                 # CompositeQueue: {why}, of which one is on the wire\n\
                 congestion_points = [{{ name = \"trim\", classes = [\"data\"], frames = {frames}{victim}{marks} }}]\n\
                 trim_class = \"control\"\ntrim_size = \"{HEADER}B\"\n\
                 # CompositeQueue: twice the queue for headers; data is limited by `frames`\n\
                 buffers = [{{ classes = [\"data\"], capacity = \"{}B\" }}, {{ classes = [\"control\"], capacity = \"{}B\" \
                 }}]\n",
                4 * packets * packet,
                2 * packets * packet_of_queue(self),
            )
        };
        match self {
            Program::Ndp => composite(15, LARGE + HEADER, "", "-q 15 of 9000 B"),
            Program::Eqds => composite(35, SMALL, "", "-q 35 of 4150 B"),
            Program::Hpcc => "flow_control = \"pfc\"\nqueueing = \"output\"\n\
                 # LosslessInputQueue: -pfc_thresholds 12 15, in packets of 9000 B; no limit beyond\n\
                 buffers = { capacity = \"4MB\", xoff = \"135000B\", xon = \"108000B\" }\n"
                .to_owned(),
            Program::Nscc | Program::Rccc => {
                let packets = product(topology);
                let marks = match self {
                    Program::Nscc => {
                        let at = |tenths: u64| (packets * tenths).div_ceil(10) * SMALL;
                        format!(", kmin = \"{}B\", kmax = \"{}B\"", at(2), at(8))
                    }
                    _ => String::new(),
                };
                let why =
                    format!("a queue of one bandwidth-delay product, {packets} packets; marks from 0.2 to 0.8 of it");
                composite(packets, SMALL, &marks, &why)
            }
        }
    }

    /// Protocol and recovery.
    pub(super) fn protocol(self, topology: &Topology) -> String {
        let rate = topology.host_rate().as_bits_per_sec().max(1);
        // Six queues, and something.
        let timeout = |micros: u64, packets: u64| {
            let picos = u128::from(packets * SMALL) * 6 * 8 * 1_000_000_000_000 / u128::from(rate);
            let nanos = u64::try_from(picos / 1000).unwrap_or(u64::MAX / 2_000_000);
            Span::from_micros(micros) + Span::from_nanos(nanos)
        };
        let mut text = String::from("\n[protocol]\n");
        let _ = match self {
            Program::Ndp => write!(text, "name = \"ndp\"\npreset = \"htsim\"  # -cwnd 15, pulls at 0.99 of the link\n"),
            Program::Eqds => write!(
                text,
                "name = \"eqds\"\npreset = \"htsim\"  # -cwnd 50; 256 values of entropy\n\
                 timeout = \"{}\"  # main_eqds.cpp: 50 us and six queues\n",
                timeout(50, 35)
            ),
            Program::Hpcc => write!(
                text,
                "name = \"hpcc\"\nbase_rtt = \"12us\"    # hpcc.cpp: _T\neta = 0.95            # _eta\n\
                 max_stage = 5         # _max_stages\nai_rate = \"6Gb/s\"     # _Wai: a packet of 9000 B per _T\n\
                 \n[recovery]\nname = \"go-back-n\"     # hpcc.cpp: processNack\n"
            ),
            Program::Nscc | Program::Rccc => write!(
                text,
                "name = \"{}\"\npaths = 64            # main_uec.cpp: path_entropy_size\n\
                 timeout = \"{}\"  # main_uec.cpp: 15 us and six queues\n",
                if self == Program::Nscc { "nscc" } else { "rccc" },
                timeout(15, product(topology))
            ),
        };
        text
    }

    /// The keys of the workload.
    pub(super) fn workload(self) -> String {
        let replies = format!("acknowledge = {{ class = \"control\", size = \"{HEADER}B\" }}\n");
        let pulls = format!("pull = {{ class = \"control\", size = \"{HEADER}B\" }}\n");
        match self {
            Program::Ndp => {
                format!("class = \"data\"\nframe = \"{LARGE}B\"      # -mtu\nheaders = \"{HEADER}B\"\n{replies}{pulls}")
            }
            Program::Eqds | Program::Rccc => format!(
                "class = \"data\"\nframe = \"{SMALL}B\"      # -mtu, with a header of {HEADER} B: sizes of flows count them\n{replies}{pulls}"
            ),
            Program::Nscc => {
                format!(
                    "class = \"data\"\nframe = \"{}B\"      # -mtu 4150\nheaders = \"{HEADER}B\"\n{replies}",
                    SMALL - HEADER
                )
            }
            Program::Hpcc => format!(
                "class = \"data\"\nframe = \"{LARGE}B\"      # -mtu\n# A header of {HEADER} B, which has room for telemetry in htsim.\n\
                 headers = \"{}B\"\ntelemetry = {{ size = \"1B\" }}\nacknowledge = {{ class = \"control\", size = \"{}B\" }}\n",
                HEADER - 1,
                HEADER - 1
            ),
        }
    }

    /// What the program does and the scenario does not, for the user to know.
    pub(super) fn differences(self) -> &'static str {
        match self {
            Program::Ndp => "main_ndp has no default for -strat: as -strat perm",
            Program::Eqds => "credit in advance for idle sources is left out; sizes of flows include headers",
            Program::Hpcc => {
                "htsim's hpcc.cpp compares every acknowledgement with the first telemetry of a path, not with the last; \
                 here as in the paper"
            }
            Program::Nscc => "paths are used in turn; htsim avoids those with marks (-load_balancing_algo mixed)",
            Program::Rccc => "credit in advance for idle sources is left out; sizes of flows include headers",
        }
    }
}

/// Bytes of a packet as `-q` counts them.
fn packet_of_queue(program: Program) -> u64 {
    match program {
        Program::Ndp | Program::Hpcc => LARGE,
        _ => SMALL,
    }
}

/// Packets of a bandwidth-delay product, as `calculate_bdp_pkt` of `main_uec.cpp` has it.
fn product(topology: &Topology) -> u64 {
    let rate = u128::from(topology.host_rate().as_bits_per_sec().max(1));
    let hops = 2 * topology.height() as u128;
    let wire = u128::from((SMALL + HEADER) * 8) * hops * 1_000_000_000_000 / rate;
    let picos = 2 * u128::from(topology.diameter().as_picos()) + wire;
    let packets = (picos * rate).div_ceil(8_000_000_000_000 * u128::from(SMALL));
    u64::try_from(packets).unwrap_or(u64::MAX / SMALL / 8).clamp(1, 1 << 18)
}
