//! Keys of the buffers of switches and adapters.

use crate::key::{Default, Key, Kind, Section, key};

/// The largest buffer that the fabric counts.
pub(crate) const LARGEST_BUFFER: u64 = (u32::MAX / 2) as u64;
const CONTROLLED: &[&str] = &["pause", "pfc"];

fn classes_key() -> Key {
    key("classes", Kind::Names, Default::Value("*", "our choice: the same for all classes"), "The classes this is for.")
}

fn frames_key() -> Key {
    key(
        "frames",
        Kind::Count(1, LARGEST_BUFFER),
        Default::Absent("capacity says it"),
        "Most frames held, where a credit is a slot for a frame.",
    )
    .only("flow_control", &["credits"])
}

fn xoff_key() -> Key {
    key(
        "xoff",
        Kind::size(0, LARGEST_BUFFER),
        Default::Computed(
            "the highest at which the longest cable's headroom still fits",
            "IEEE 802.1Q-2014 Annex N (802.1Qbb Annex O): buffer requirements",
        ),
        "Ask the sender to stop when more than this is held.",
    )
    .only("flow_control", CONTROLLED)
}

fn xon_key() -> Key {
    key(
        "xon",
        Kind::size(0, LARGEST_BUFFER),
        Default::Computed(
            "two of the largest frames below xoff",
            "Zhu et al., SIGCOMM 2015, section 4: RESUME two MTU below the threshold",
        ),
        "Let it go on when no more than this is held.",
    )
    .only("flow_control", CONTROLLED)
}

fn capacity_key() -> Key {
    key(
        "capacity",
        Kind::size(0, LARGEST_BUFFER),
        Default::Absent("frames says it, where a credit is a frame; else it must be given"),
        "Most bytes held: per input of a lossless class, per queue of a lossy one.",
    )
}

pub(super) fn switch_buffers() -> Section {
    let fixed = &["static"];
    let shared = &["shared"];
    Section {
        about: "A buffer's rules for some classes, at each port.",
        keys: vec![
            classes_key(),
            capacity_key().only("buffer", fixed),
            key(
                "capacity",
                Kind::size(0, LARGEST_BUFFER),
                Default::Value("0B", "our choice: nothing but the shared part"),
                "The part of the memory guaranteed to each port.",
            )
            .only("buffer", shared),
            frames_key().only("buffer", fixed),
            xoff_key().only("buffer", fixed),
            xon_key().only("buffer", fixed),
            key(
                "xon",
                Kind::size(0, LARGEST_BUFFER),
                Default::Computed(
                    "two of the largest frames",
                    "Zhu et al., SIGCOMM 2015, section 4: RESUME two MTU below the threshold",
                ),
                "Let the sender go on that far below the dynamic threshold.",
            )
            .only("flow_control", CONTROLLED)
            .only("buffer", shared),
            key(
                "headroom",
                Kind::size(0, LARGEST_BUFFER),
                Default::Computed(
                    "what the longest cable calls for",
                    "IEEE 802.1Q-2014 Annex N (802.1Qbb Annex O): buffer requirements",
                ),
                "Room kept for what arrives after XOFF.",
            )
            .only("flow_control", CONTROLLED)
            .only("buffer", shared),
        ],
    }
}

pub(super) fn adapter_buffers() -> Section {
    Section {
        about: "A buffer's rules for some classes.",
        keys: vec![classes_key(), capacity_key(), frames_key(), xoff_key(), xon_key()],
    }
}
