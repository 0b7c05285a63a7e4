//! Keys of `[[dcb]]` and `[dcbx]`.

use crate::key::{Default, Kind, Section, key};

/// Defaults of LLDP's timers.
const LLDPAD: &str = "lldpad 1.1: its default";

pub(super) fn dcb() -> Section {
    let tables = |section: Section| Kind::Tables(Box::new(section));
    Section {
        about: "Settings of some nodes. Priority n is class n, counted from 0.",
        keys: vec![
            key("match", Kind::Names, Default::Value("*", "our choice: all nodes"), "The nodes, by name."),
            key(
                "at",
                Kind::Time(units::Span::from_secs(3600)),
                Default::Value("0s", "our choice: configured before the agents start"),
                "When the settings take effect, in simulated time; the run begins once the agents have agreed. \
                 `tailback dcbx` shows the effect of later entries; runs use the settings agreed at the start.",
            ),
            key(
                "willing",
                Kind::Flag,
                Default::Value("false", "our choice: configured settings apply"),
                "Whether the nodes accept their neighbours' settings instead. A switch accepts none from hosts.",
            ),
            key(
                "version",
                Kind::choice(&[
                    ("ieee", "IEEE DCBX, or CEE with a neighbour that supports nothing else"),
                    ("cee", "only the DCBX of Converged Enhanced Ethernet (CEE), version 1.01"),
                ]),
                Default::Value("ieee", "lldpad 1.1: its default"),
                "DCBX version of the nodes.",
            ),
            key(
                "pfc",
                Kind::Counts(0, 7),
                Default::Absent("none"),
                "Priorities with PFC enabled, which makes them \
                 lossless.",
            ),
            key(
                "pfc_capability",
                Kind::Count(1, 8),
                Default::Value("8", "our choice: PFC on every priority"),
                "Number of priorities on which the nodes can enable PFC at the same time.",
            ),
            key(
                "ets",
                tables(ets()),
                Default::Absent("one strict traffic class with all priorities"),
                "ETS traffic classes; the first is class 0. Of strict classes, the last one is served first.",
            ),
            key(
                "recommend",
                Kind::Flag,
                Default::Computed(
                    "true unless willing",
                    "our choice: nodes that are not willing configure the \
                     others",
                ),
                "Whether the nodes recommend their traffic classes to their neighbours.",
            ),
            key("applications", tables(applications()), Default::Absent("none"), "Application priorities."),
            key(
                "congestion_notification",
                Kind::Counts(0, 7),
                Default::Absent("none"),
                "Priorities of the congestion notification domain.",
            ),
        ],
    }
}

fn ets() -> Section {
    Section {
        about: "An ETS traffic class.",
        keys: vec![
            key(
                "priorities",
                Kind::Counts(0, 7),
                Default::Required,
                "Priorities of the class. Priorities that no class lists belong to the first one.",
            ),
            key(
                "share",
                Kind::Count(1, 100),
                Default::Absent("strict: served before all shares"),
                "Percentage of the bandwidth that strict classes leave. All shares add up to 100.",
            ),
        ],
    }
}

fn applications() -> Section {
    Section {
        about: "The priority of an application.",
        keys: vec![
            key("priority", Kind::Count(0, 7), Default::Required, "The priority."),
            key(
                "kind",
                Kind::choice(&[
                    ("ether-type", "an EtherType"),
                    ("tcp", "a TCP port"),
                    ("udp", "a UDP port"),
                    ("port", "a TCP or UDP port"),
                    ("dscp", "a differentiated services code point"),
                ]),
                Default::Required,
                "How `protocol` identifies the application.",
            ),
            key("protocol", Kind::Count(0, 65_535), Default::Required, "EtherType, port number or code point."),
        ],
    }
}

pub(super) fn dcbx() -> Section {
    let seconds = || Kind::Time(units::Span::from_secs(3600));
    Section {
        about: "LLDP agents at every port. They exchange the settings of [[dcb]] before the run begins.",
        keys: vec![
            key(
                "apply",
                Kind::Flag,
                Default::Value("false", "our choice: the run uses the settings of switches and adapters"),
                "Whether the run takes its lossless classes and bandwidth shares from the result of the exchange.",
            ),
            key(
                "tie_break",
                Kind::choice(&[
                    ("lower-yields", "the end with the lower MAC address accepts the other's"),
                    ("lower-wins", "the end with the higher MAC address accepts the other's"),
                ]),
                Default::Value("lower-yields", LLDPAD),
                "Whose PFC priorities apply if both ends are willing.",
            ),
            key(
                "link_down",
                Kind::choice(&[
                    ("forget", "the agent forgets its neighbour at once"),
                    (
                        "keep",
                        "the agent keeps the neighbour's settings until their time to live expires or the link \
                         recovers",
                    ),
                ]),
                Default::Value(
                    "forget",
                    "lldpad 1.1: its DCBX; the receive machines of IEEE 802.1AB and of lldpad keep them",
                ),
                "What an agent does when its link fails ([[faults]]).",
            ),
            key(
                "spread",
                seconds(),
                Default::Value("0s", "our choice: all nodes start together"),
                "Nodes start at random times within this span, drawn from the run's seed.",
            ),
            key("interval", seconds(), Default::Value("30s", LLDPAD), "Time between two regular transmissions."),
            key(
                "hold",
                Kind::Count(1, 100),
                Default::Value("4", LLDPAD),
                "Time to live of the settings, in \
                 intervals.",
            ),
            key("fast_interval", seconds(), Default::Value("1s", LLDPAD), "Time between two fast transmissions."),
            key(
                "fast_count",
                Kind::Count(0, 8),
                Default::Value("4", LLDPAD),
                "Number of fast transmissions after a new neighbour appears.",
            ),
            key(
                "credit",
                Kind::Count(1, 10),
                Default::Value("5", LLDPAD),
                "Maximum number of transmissions in a burst; the credit grows by one per second.",
            ),
        ],
    }
}
