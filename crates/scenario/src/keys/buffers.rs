//! Keys of the buffers of switches and adapters.

use crate::key::{Default, Key, Kind, Section, key};

/// The largest buffer that the fabric counts.
pub(crate) const LARGEST_BUFFER: u64 = (u32::MAX / 2) as u64;
const CONTROLLED: &[&str] = &["pause", "pfc"];

fn classes_key() -> Key {
    key("classes", Kind::Names, Default::Value("*", "our choice: all classes alike"), "The classes, by name.")
}

fn frames_key() -> Key {
    key(
        "frames",
        Kind::Count(1, LARGEST_BUFFER),
        Default::Absent("capacity gives the size"),
        "Buffer size in frames, for credits that are worth a frame.",
    )
    .only("flow_control", &["credits"])
}

fn queue_frames_key() -> Key {
    key(
        "frames",
        Kind::Count(1, LARGEST_BUFFER),
        Default::Absent("capacity alone limits the queue"),
        "Maximum number of frames in the queue of a lossy class, with the one on the wire, as a second limit. Output \
         queueing only.",
    )
    .only("flow_control", &["none", "pause", "pfc"])
}

fn xoff_key() -> Key {
    key(
        "xoff",
        Kind::size(0, LARGEST_BUFFER),
        Default::Computed(
            "capacity less the headroom of the longest link",
            "IEEE 802.1Q-2014 Annex N (802.1Qbb Annex O): buffer requirements",
        ),
        "Threshold above which the sender is paused.",
    )
    .only("flow_control", CONTROLLED)
}

fn xon_key() -> Key {
    key(
        "xon",
        Kind::size(0, LARGEST_BUFFER),
        Default::Computed(
            "two maximum-size frames below xoff",
            "Zhu et al., SIGCOMM 2015, section 4: RESUME two MTU below the threshold",
        ),
        "Threshold at or below which the sender may resume.",
    )
    .only("flow_control", CONTROLLED)
}

fn capacity_key() -> Key {
    key(
        "capacity",
        Kind::size(0, LARGEST_BUFFER),
        Default::Absent("required, unless credits are worth a frame and frames is given"),
        "Buffer size in bytes: per input for a lossless class, per queue for a lossy class.",
    )
}

pub(super) fn switch_buffers() -> Section {
    let fixed = &["static"];
    let shared = &["shared"];
    Section {
        about: "Buffer sizes and thresholds of some classes, per port.",
        keys: vec![
            classes_key(),
            capacity_key().only("buffer", fixed),
            key(
                "capacity",
                Kind::size(0, LARGEST_BUFFER),
                Default::Value("0B", "our choice: the shared pool only"),
                "Memory guaranteed to each port.",
            )
            .only("buffer", shared),
            frames_key().only("buffer", fixed),
            queue_frames_key(),
            xoff_key().only("buffer", fixed),
            xon_key().only("buffer", fixed),
            key(
                "xon",
                Kind::size(0, LARGEST_BUFFER),
                Default::Computed(
                    "two maximum-size frames",
                    "Zhu et al., SIGCOMM 2015, section 4: RESUME two MTU below the threshold",
                ),
                "How far below the dynamic threshold the sender may resume.",
            )
            .only("flow_control", CONTROLLED)
            .only("buffer", shared),
            key(
                "resume",
                Kind::size(0, LARGEST_BUFFER),
                Default::Value("0B", "our choice: xon alone, and an empty input"),
                "Occupancy of an input at or below which the sender may resume, whatever the threshold: `xon` of a buffer \
                 profile in SONiC.",
            )
            .only("flow_control", CONTROLLED)
            .only("buffer", shared),
            key(
                "profile_size",
                Kind::size(0, LARGEST_BUFFER),
                Default::Absent("capacity and headroom together"),
                "Field `size` of the buffer profile in SONiC, which includes the headroom on some platforms. It has no effect on a \
                 run; `tailback export sonic` writes it.",
            )
            .only("buffer", shared),
            key(
                "headroom",
                Kind::size(0, LARGEST_BUFFER),
                Default::Computed(
                    "enough for the longest link",
                    "IEEE 802.1Q-2014 Annex N (802.1Qbb Annex O): buffer requirements",
                ),
                "Memory reserved for frames that arrive after XOFF was sent.",
            )
            .only("flow_control", CONTROLLED)
            .only("buffer", shared),
            key(
                "alpha",
                Kind::Ratio,
                Default::Absent("the alpha of the switch"),
                "Dynamic threshold of these classes: one queue may use this fraction of the free memory.",
            )
            .only("buffer", shared),
            key(
                "limit",
                Kind::size(0, LARGEST_BUFFER),
                Default::Absent("the dynamic threshold alone"),
                "Static threshold: the most that one queue may use of the shared pool.",
            )
            .only("buffer", shared),
        ],
    }
}

/// Those of ports, which have none with credits.
pub(super) fn port_buffers() -> Section {
    let mut section = switch_buffers();
    let is_credit = |key: &Key| key.only.iter().any(|only| only.key == "flow_control" && only.values == ["credits"]);
    section.keys.retain(|key| !is_credit(key));
    section
}

pub(super) fn adapter_buffers() -> Section {
    Section {
        about: "Buffer sizes and thresholds of some classes.",
        keys: vec![classes_key(), capacity_key(), frames_key(), xoff_key(), xon_key()],
    }
}
