//! Keys of `[[network.subnet]]`: identifiers of an InfiniBand subnet.

use crate::key::{Default, Kind, Section, key};

pub(super) fn subnet() -> Section {
    Section {
        about: "The identifiers of a node in an InfiniBand subnet. They have no effect on a run; `tailback routes --format` writes them.",
        keys: vec![
            key("node", Kind::Names, Default::Required, "The node, by name."),
            key(
                "guid",
                Kind::Text,
                Default::Required,
                "GUID of the device, in hexadecimal. Hosts with the same GUID are ports of one adapter.",
            ),
            key(
                "port_guid",
                Kind::Text,
                Default::Absent("the GUID; of a host, the next one"),
                "GUID of the port of a host, or of port 0 of a switch.",
            ),
            key(
                "system_guid",
                Kind::Text,
                Default::Absent("not written"),
                "GUID of the system that the device is part of.",
            ),
            key("vendor", Kind::Text, Default::Absent("not written"), "Vendor, in hexadecimal."),
            key("device", Kind::Text, Default::Absent("not written"), "Kind of device of the vendor, in hexadecimal."),
            key("description", Kind::Text, Default::Absent("the name of the node"), "Node description."),
            key(
                "router",
                Kind::Flag,
                Default::Value("false", "most nodes that are no switches are channel adapters"),
                "Whether a host is a router to other subnets.",
            ),
            key(
                "enhanced_port_0",
                Kind::Flag,
                Default::Value("true", "our choice, as of current switches"),
                "Whether port 0 of a switch is an enhanced one.",
            ),
            key("lid", Kind::Count(1, 0xBFFF), Default::Required, "Local identifier."),
            key(
                "lmc",
                Kind::Count(0, 7),
                Default::Value("0", "opensm(8): one local identifier per port"),
                "Local identifier mask: two to this power is the number of local identifiers.",
            ),
            key(
                "size",
                Kind::Count(1, 254),
                Default::Absent("the number of its links"),
                "Number of ports of the device, connected or not.",
            ),
            key(
                "ports",
                Kind::Counts(1, 254),
                Default::Absent("1, 2, and so on"),
                "Port number of each link of the node, in the order of links.",
            ),
            key(
                "speeds",
                Kind::Names,
                Default::Absent("the width and speed that is nearest to the rate of each link"),
                "Width and speed of all its links, or of each in the order of links, such as 4xHDR. They are written where they \
                 have the rate of the link.",
            ),
            key(
                "forwarding",
                Kind::Text,
                Default::Absent("the switch itself has port 0"),
                "Forwarding entries of a switch for local identifiers that are no host's first one, such as those of other \
                 switches: for each port, after a colon, identifiers and ranges of them. Ports are separated by semicolons.",
            ),
        ],
    }
}
