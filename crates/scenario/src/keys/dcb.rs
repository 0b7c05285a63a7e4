//! Keys of `[[dcb]]` and `[dcbx]`.

use crate::key::{Default, Kind, Section, key};

/// Defaults of LLDP's timers.
const LLDPAD: &str = "lldpad 1.1: what it does unless told otherwise";

pub(super) fn dcb() -> Section {
    let tables = |section: Section| Kind::Tables(Box::new(section));
    Section {
        about: "What is configured at nodes. Priority n is class n, from 0.",
        keys: vec![
            key("match", Kind::Names, Default::Value("*", "our choice: all alike"), "The nodes, by name."),
            key(
                "at",
                Kind::Time(units::Span::from_secs(3600)),
                Default::Value("0s", "our choice: configured before anything is switched on"),
                "From when on, in the time of the run, which begins when the agents have agreed; `tailback dcbx` shows \
                 what comes of it. Runs take what was agreed on before.",
            ),
            key(
                "willing",
                Kind::Flag,
                Default::Value("false", "our choice: what is configured is meant"),
                "Whether the nodes take what their neighbours say instead. A switch takes nothing from hosts.",
            ),
            key(
                "version",
                Kind::choice(&[
                    ("ieee", "IEEE's, and CEE's with a neighbour that speaks nothing else"),
                    ("cee", "that of Converged Enhanced Ethernet alone, version 1.01"),
                ]),
                Default::Value("ieee", "lldpad 1.1: what it does unless told otherwise"),
                "Which DCBX the nodes speak.",
            ),
            key("pfc", Kind::Counts(0, 7), Default::Absent("none"), "The priorities that are paused, and so lossless."),
            key(
                "pfc_capability",
                Kind::Count(1, 8),
                Default::Value("8", "our choice: a device that can pause every priority"),
                "How many priorities the nodes can pause at a time.",
            ),
            key(
                "ets",
                tables(ets()),
                Default::Absent("one strict class of all priorities"),
                "Traffic classes, the first is class 0. Of strict ones the last goes first.",
            ),
            key(
                "recommend",
                Kind::Flag,
                Default::Computed("true, unless willing", "our choice: who is not willing configures others"),
                "Whether the nodes recommend their traffic classes to their neighbours.",
            ),
            key(
                "applications",
                tables(applications()),
                Default::Absent("none"),
                "Which application uses which priority.",
            ),
            key(
                "congestion_notification",
                Kind::Counts(0, 7),
                Default::Absent("none"),
                "The priorities of the congestion notification domain.",
            ),
        ],
    }
}

fn ets() -> Section {
    Section {
        about: "A traffic class.",
        keys: vec![
            key(
                "priorities",
                Kind::Counts(0, 7),
                Default::Required,
                "Its priorities. Those of no class are in the first one.",
            ),
            key(
                "share",
                Kind::Count(1, 100),
                Default::Absent("strict: before all that share"),
                "Its percentage of what strict classes leave. The shares make 100.",
            ),
        ],
    }
}

fn applications() -> Section {
    Section {
        about: "An application's priority.",
        keys: vec![
            key("priority", Kind::Count(0, 7), Default::Required, "The priority."),
            key(
                "kind",
                Kind::choice(&[
                    ("ether-type", "an Ethernet type"),
                    ("tcp", "a TCP port"),
                    ("udp", "a UDP port"),
                    ("port", "a port of either"),
                    ("dscp", "a differentiated services code point"),
                ]),
                Default::Required,
                "What `protocol` is.",
            ),
            key("protocol", Kind::Count(0, 65_535), Default::Required, "The application's number."),
        ],
    }
}

pub(super) fn dcbx() -> Section {
    let seconds = || Kind::Time(units::Span::from_secs(3600));
    Section {
        about: "LLDP agents at every port, which exchange what is configured before a run begins.",
        keys: vec![
            key(
                "apply",
                Kind::Flag,
                Default::Value("false", "our choice: a run is as its switches and adapters say"),
                "Whether a run takes its lossless classes and its shares from what the agents come to.",
            ),
            key(
                "tie_break",
                Kind::choice(&[
                    ("lower-yields", "the end with the lower address takes the other's"),
                    ("lower-wins", "the other way round"),
                ]),
                Default::Value("lower-yields", LLDPAD),
                "Whose priorities are paused where both ends are willing.",
            ),
            key(
                "link_down",
                Kind::choice(&[
                    ("forget", "forgets its peer at once"),
                    ("keep", "believes what it heard for its time to live, or until the link is up again"),
                ]),
                Default::Value(
                    "forget",
                    "lldpad 1.1: its DCBX; the receive machine of IEEE 802.1AB, and lldpad's, keeps",
                ),
                "What an agent does when its link fails ([[faults]]).",
            ),
            key(
                "spread",
                seconds(),
                Default::Value("0s", "our choice: everything is switched on at once"),
                "Nodes start at random within that time, by the run's seed.",
            ),
            key("interval", seconds(), Default::Value("30s", LLDPAD), "Between regular transmissions."),
            key("hold", Kind::Count(1, 100), Default::Value("4", LLDPAD), "Intervals that what was said is believed."),
            key("fast_interval", seconds(), Default::Value("1s", LLDPAD), "Between quick transmissions."),
            key(
                "fast_count",
                Kind::Count(0, 8),
                Default::Value("4", LLDPAD),
                "Quick transmissions after a new neighbour.",
            ),
            key(
                "credit",
                Kind::Count(1, 10),
                Default::Value("5", LLDPAD),
                "Transmissions in a row; one more each second.",
            ),
        ],
    }
}
