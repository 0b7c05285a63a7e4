//! The configuration identifier by which bridges compare their mapping of VLANs to trees (802.1Q 13.8): a name, a
//! revision, and a digest of the table, in 51 octets: selector (1), name (32), revision (2), digest (16).

use crate::bytes::{array, at_least, be8, be16};
use crate::{Error, Writer, md5};

/// The standard key (802.1Q table 13-1).
const KEY: [u8; 16] = [0x13, 0xAC, 0x06, 0xA6, 0x2E, 0x47, 0xFD, 0x51, 0xF9, 0x5D, 0x2B, 0xA2, 0x43, 0xCD, 0x03, 0x46];

/// The identifier of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mcid {
    /// Name, padded with zeros.
    pub name: [u8; 32],
    /// Revision.
    pub revision: u16,
    /// Digest of the table; see [`digest`].
    pub digest: [u8; 16],
}

impl Mcid {
    /// Length in octets.
    pub const LENGTH: usize = 51;

    /// Parses an identifier.
    pub fn parse(bytes: &[u8]) -> Result<Mcid, Error> {
        at_least(bytes, Mcid::LENGTH, "MCID")?;
        match be8(bytes, 0) {
            0 => Ok(Mcid { name: array(bytes, 1), revision: be16(bytes, 33), digest: array(bytes, 35) }),
            selector => Err(Error::Field { what: "MCID", field: "selector", value: u64::from(selector) }),
        }
    }

    /// Writes the identifier.
    pub fn emit(&self, out: &mut Writer) {
        out.u8(0);
        out.bytes(&self.name);
        out.u16(self.revision);
        out.bytes(&self.digest);
    }
}

/// Returns the digest of a table of 4096 trees by VLAN.
#[must_use]
pub fn digest(tree_of: impl Fn(u16) -> u16) -> [u8; 16] {
    let mut octets = [0; 8192];
    for (vlan, pair) in (0u16..).zip(octets.chunks_mut(2)) {
        pair.copy_from_slice(&tree_of(vlan).to_be_bytes());
    }
    md5::hmac(&KEY, [&octets[..]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_vlans_in_tree_zero_give_the_digest_of_802_1q() {
        let known = [0xAC, 0x36, 0x17, 0x7F, 0x50, 0x28, 0x3C, 0xD4, 0xB8, 0x38, 0x21, 0xD8, 0xAB, 0x26, 0xDE, 0x62];
        assert_eq!(digest(|_| 0), known);
    }

    /// 802.1Q table 13-2: all VLANs in tree 1, and VLAN n in tree n modulo 32 plus 1.
    #[test]
    fn the_other_two_digests_of_802_1q() {
        let first = [0xE1, 0x3A, 0x80, 0xF1, 0x1E, 0xD0, 0x85, 0x6A, 0xCD, 0x4E, 0xE3, 0x47, 0x69, 0x41, 0xC7, 0x3B];
        let second = [0x9D, 0x14, 0x5C, 0x26, 0x7D, 0xBE, 0x9F, 0xB5, 0xD8, 0x93, 0x44, 0x1B, 0xE3, 0xBA, 0x08, 0xCE];
        let none = |vlan: u16| vlan == 0 || vlan == 4095;
        assert_eq!(digest(|vlan| if none(vlan) { 0 } else { 1 }), first);
        assert_eq!(digest(|vlan| if none(vlan) { 0 } else { vlan % 32 + 1 }), second);
    }
}
