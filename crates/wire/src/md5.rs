//! MD5 (RFC 1321) and its keyed form HMAC (RFC 2104), by which bridges compare their VLAN tables (802.1Q 13.8). Not for
//! security.

/// Length of a digest in octets.
pub const LENGTH: usize = 16;
const BLOCK: usize = 64;

const SHIFTS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// floor(2^32 |sin n|) for n from 1 to 64 (RFC 1321 3.4).
#[rustfmt::skip]
const SINES: [u32; 64] = [
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
];

/// An incremental digest.
#[derive(Clone, Debug)]
pub struct Md5 {
    state: [u32; 4],
    block: [u8; BLOCK],
    length: u64,
}

impl Default for Md5 {
    fn default() -> Md5 {
        Md5 { state: [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476], block: [0; BLOCK], length: 0 }
    }
}

impl Md5 {
    /// Adds octets.
    pub fn update(&mut self, bytes: &[u8]) {
        for &octet in bytes {
            let place = (self.length % BLOCK as u64) as usize;
            self.block[place] = octet;
            self.length = self.length.wrapping_add(1);
            if place == BLOCK - 1 {
                self.compress();
            }
        }
    }

    /// Returns the digest of all octets added.
    #[must_use]
    pub fn digest(mut self) -> [u8; LENGTH] {
        let bits = self.length.wrapping_mul(8);
        self.update(&[0x80]);
        while self.length % BLOCK as u64 != 56 {
            self.update(&[0]);
        }
        self.update(&bits.to_le_bytes());
        let mut digest = [0; LENGTH];
        for (octets, word) in digest.chunks_mut(4).zip(self.state) {
            octets.copy_from_slice(&word.to_le_bytes());
        }
        digest
    }

    fn compress(&mut self) {
        let [mut a, mut b, mut c, mut d] = self.state;
        for step in 0..64 {
            let (mix, word) = match step / 16 {
                0 => (b & c | !b & d, step),
                1 => (d & b | !d & c, 5 * step + 1),
                2 => (b ^ c ^ d, 3 * step + 5),
                _ => (c ^ (b | !d), 7 * step),
            };
            let word = u32::from_le_bytes(crate::bytes::array(&self.block, word % 16 * 4));
            let sum = a.wrapping_add(mix).wrapping_add(SINES[step]).wrapping_add(word);
            (a, d, c) = (d, c, b);
            b = b.wrapping_add(sum.rotate_left(SHIFTS[step / 16][step % 4]));
        }
        for (word, more) in self.state.iter_mut().zip([a, b, c, d]) {
            *word = word.wrapping_add(more);
        }
    }
}

/// Returns the HMAC of octets given in pieces, with a key of at most 64 octets (longer keys are truncated).
#[must_use]
pub fn hmac<'a>(key: &[u8], pieces: impl IntoIterator<Item = &'a [u8]>) -> [u8; LENGTH] {
    let pad = |mask: u8| {
        let mut block = [mask; BLOCK];
        block.iter_mut().zip(key).for_each(|(octet, key)| *octet ^= key);
        let mut md5 = Md5::default();
        md5.update(&block);
        md5
    };
    let mut inner = pad(0x36);
    pieces.into_iter().for_each(|piece| inner.update(piece));
    let mut outer = pad(0x5c);
    outer.update(&inner.digest());
    outer.digest()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn md5(bytes: &[u8]) -> String {
        let mut md5 = Md5::default();
        md5.update(bytes);
        hex(md5.digest())
    }

    fn hex(digest: [u8; LENGTH]) -> String {
        digest.iter().map(|octet| format!("{octet:02x}")).collect()
    }

    #[test]
    fn the_vectors_of_rfc_1321() {
        assert_eq!(md5(b""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(md5(b"a"), "0cc175b9c0f1b6a831c399e269772661");
        assert_eq!(md5(b"abc"), "900150983cd24fb0d6963f7d28e17f72");
        assert_eq!(md5(b"message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
        assert_eq!(md5(b"abcdefghijklmnopqrstuvwxyz"), "c3fcd3d76192e4007dfb496cca67e13b");
        let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        assert_eq!(md5(letters), "d174ab98d277d9f5a5611c2c9f419d9f");
        let digits = "1234567890".repeat(8);
        assert_eq!(md5(digits.as_bytes()), "57edf4a22be3c955ac49da2e2107b67a");
    }

    #[test]
    fn the_vectors_of_rfc_2202() {
        assert_eq!(hex(hmac(&[0x0b; 16], [&b"Hi There"[..]])), "9294727a3638bb1c13f48ef8158bfc9d");
        let question = [&b"what do ya want "[..], &b"for nothing?"[..]];
        assert_eq!(hex(hmac(b"Jefe", question)), "750c783e6ab0b503eaa86e310a5db738");
        assert_eq!(hex(hmac(&[0xaa; 16], [&[0xdd; 50][..]])), "56be34521d144c88dbb8c733f0e8b3f6");
    }
}
