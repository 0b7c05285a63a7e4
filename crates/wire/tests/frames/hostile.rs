//! Frames of nobody: noise, and the golden captures damaged.

use crate::everything::survive;
use crate::kit::{ALL, frames};
use proptest::prelude::*;
use std::collections::BTreeSet;
use wire::lldp;

/// How many of each; PROPTEST_CASES asks for more.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(2000)
}

fn any_golden() -> impl Strategy<Value = Vec<u8>> {
    let all: Vec<Vec<u8>> = ALL.iter().flat_map(|name| frames(name)).collect();
    proptest::sample::select(all)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn noise_is_survived(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        survive(&bytes);
    }

    #[test]
    fn damaged_frames_are_survived(
        frame in any_golden(),
        hits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
        whole in any::<bool>(),
    ) {
        let mut frame = frame;
        for (place, value) in hits {
            let place = place.index(frame.len());
            frame[place] = value;
        }
        if !whole {
            frame.truncate(cut.index(frame.len()));
        }
        survive(&frame);
    }

    /// As noise behind a plausible beginning of each kind.
    #[test]
    fn noise_behind_a_header_is_survived(
        which in 0usize..6,
        bytes in proptest::collection::vec(any::<u8>(), 0..120),
    ) {
        let beginnings: [&[u8]; 6] = [
            &[2, 7, 4, 2, 0, 0, 0, 0, 1, 4, 7, 3, 2, 0, 0, 0, 0, 1, 6, 2, 0, 120, 0xFE, 25, 0, 0x80, 0xC2, 9],
            &[2, 7, 4, 2, 0, 0, 0, 0, 1, 4, 7, 3, 2, 0, 0, 0, 0, 1, 6, 2, 0, 120, 0xFE, 60, 0, 0x1B, 0x21, 2],
            &[0x83, 20, 1, 0, 17, 1, 0, 0, 1, 1, 2, 3, 4, 5, 6, 0, 30, 0, 80, 1, 143, 50, 0, 0],
            &[0x83, 27, 1, 0, 18, 1, 0, 0, 0, 90, 4, 0, 1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 1, 0, 0, 1, 144, 60, 0, 0],
            &[0x83, 17, 1, 0, 26, 1, 0, 0, 0, 70, 1, 2, 3, 4, 5, 6, 0, 9, 32],
            &[0, 0, 4, 2, 0x3C],
        ];
        survive(&[beginnings[which], &bytes].concat());
    }
}

#[test]
fn golden_frames_are_survived() {
    ALL.iter().flat_map(|name| frames(name)).for_each(|frame| survive(&frame));
}

/// Not by chance: every golden frame cut at every length, and with every single bit turned over.
#[test]
fn every_cut_and_every_turned_bit_is_survived() {
    // Most of them come again and again.
    let different: BTreeSet<Vec<u8>> = ALL.iter().flat_map(|name| frames(name)).collect();
    for mut frame in different {
        (0..frame.len()).for_each(|length| survive(&frame[..length]));
        for bit in 0..frame.len() * 8 {
            frame[bit / 8] ^= 1 << (bit % 8);
            survive(&frame);
            frame[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

/// 1500 octets of TLVs of one or two kinds leave no more than one well-formed one leaves.
#[test]
fn a_neighbour_cannot_make_anything_grow() {
    let mut unit = vec![2, 2, 7, b'c', 4, 2, 7, b'p', 6, 2, 0, 120];
    while unit.len() < 1480 {
        unit.extend([0xFE, 6, 0x00, 0x80, 0xC2, 0x0B, 0x88, 0x08]);
        unit.extend([0xFE, 5, 0x00, 0x80, 0xC2, 0x0B, 0x88]);
    }
    let (repr, discarded) = lldp::Repr::parse(&unit).expect("its beginning is right");
    let pairs = (unit.len() - 12) / 15;
    assert_eq!(repr.ieee.flow_control.map(|it| it.priorities), Some(8));
    assert_eq!((usize::from(discarded.repeated), usize::from(discarded.malformed)), (pairs - 1, pairs));
    // It is all in a value of fixed size that borrows the frame.
    assert!(size_of::<lldp::Repr>() < 300, "{}", size_of::<lldp::Repr>());
}

#[test]
fn a_data_unit_without_its_beginning_is_refused() {
    let refused = |bytes: &[u8]| lldp::Repr::parse(bytes).expect_err("it is not whole").to_string();
    assert_eq!(refused(&[]), "LLDP: chassis is missing or out of place");
    assert_eq!(refused(&[4, 2, 7, b'p', 2, 2, 7, b'c', 6, 2, 0, 120]), "LLDP: chassis is missing or out of place");
    assert_eq!(refused(&[2, 2, 7, b'c', 4, 2, 7, b'p', 0, 0]), "LLDP: time to live is missing or out of place");
    assert_eq!(refused(&[2, 1, 7, 4, 2, 7, b'p']), "LLDP chassis: 1 octets where 2 are needed");
}

/// Chassis, port and time to live are there once and of their own lengths, and the end holds nothing.
#[test]
fn a_data_unit_with_a_second_beginning_is_refused() {
    let unit = |chassis: usize, port: usize, time: &[u8], rest: &[u8]| {
        let identifier = |kind: u16, octets: usize| {
            let mut tlv = (kind << 9 | octets as u16).to_be_bytes().to_vec();
            tlv.resize(2 + octets, 7);
            tlv
        };
        [identifier(1, chassis), identifier(2, port), vec![6, time.len() as u8], time.to_vec(), rest.to_vec()].concat()
    };
    let judged = |bytes: &[u8]| lldp::Repr::parse(bytes).map(|it| it.1.repeated).map_err(|error| error.to_string());
    let with = |rest: &[u8]| judged(&unit(2, 2, &[0, 120], rest));
    assert_eq!((with(&[]), with(&[0, 0]), with(&[0, 0, 2, 2, 7, 7])), (Ok(0), Ok(0), Ok(0)));
    assert_eq!(with(&[2, 2, 7, 7]), Err("LLDP: chassis is there more than once".into()));
    assert_eq!(with(&[10, 1, b'n', 4, 2, 7, 8]), Err("LLDP: port is there more than once".into()));
    assert_eq!(with(&[6, 2, 0, 120]), Err("LLDP: time to live is there more than once".into()));
    assert_eq!(with(&[0, 1, 0]), Err("LLDP end: length cannot be 1 (0x1)".into()));
    for (octets, right) in [(1, false), (2, true), (256, true), (257, false)] {
        assert_eq!(judged(&unit(octets, 2, &[0, 120], &[])).is_ok(), right, "chassis of {octets}");
        assert_eq!(judged(&unit(2, octets, &[0, 120], &[])).is_ok(), right, "port of {octets}");
    }
    assert_eq!(judged(&unit(2, 2, &[120], &[])), Err("LLDP time to live: 1 octets where 2 are needed".into()));
    assert_eq!(judged(&unit(2, 2, &[0, 120, 0], &[])), Err("LLDP time to live: length cannot be 3 (0x3)".into()));
}
