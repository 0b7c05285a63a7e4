//! What the tests share: the golden captures, and frames of every kind we emit.

use std::path::PathBuf;

/// A file beside the tests.
pub fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// The frames of a classic capture file of little-endian numbers.
pub fn frames(name: &str) -> Vec<Vec<u8>> {
    let bytes = std::fs::read(golden(name)).expect("it is in the repository");
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four"));
    assert_eq!((number(0), number(20)), (0xA1B2_C3D4, 1), "{name}: microseconds, Ethernet");
    let (mut at, mut frames) = (24, Vec::new());
    while at < bytes.len() {
        let length = number(at + 8) as usize;
        frames.push(bytes[at + 16..at + 16 + length].to_vec());
        at += 16 + length;
    }
    frames
}

/// All golden captures.
pub const ALL: [&str; 7] = [
    "dcb_ets.pcap",
    "dcb_pfc.pcap",
    "dcb_qcn.pcap",
    "frr_isis_hello.pcap",
    "lldpad_dcbx.pcap",
    "spb.pcap",
    "spb_bpduv4.pcap",
];
